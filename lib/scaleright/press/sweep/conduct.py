"""A sweep from its values to its table and its chart."""

from __future__ import annotations

import functools
import hashlib
import itertools
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaleright.names import one_of
from scaleright.press import Book, PressError
from scaleright.press.sweep import cluster, grid, picture, results, scenario


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: how many scenarios it has, the errors of those that failed, and the
    quantity drawn, if any.
    """

    scenarios: int
    errors: tuple[str, ...]
    drawn: str | None


def _program(book: Book, chapter: str, own: str) -> scenario.Program:
    """The chapter's code up to its parameters, and from there to its answer; what comes after, no
    scenario needs. Code that makes the reader's own models known goes before it.
    """
    from scaleright.outputs import ANSWER_MIME
    from scaleright.press.execute import CELL_TIMEOUT_S, load
    from scaleright.press.texts import tagged

    cells = [cell for cell in load(book.text(chapter)).cells if cell.cell_type == "code"]
    first, last = (
        cells.index(found) if (found := tagged(cells, tag)) else -1
        for tag in ("parameters", "answer")
    )
    if last <= first:
        raise PressError(
            f"{chapter} has no cell tagged answer after its parameters, so there is nothing to"
            " collect"
        )
    before, after = (
        tuple(cell.source for cell in part)
        for part in (cells[: first + 1], cells[first + 1 : last + 1])
    )
    before = (own, *before) if own else before
    return scenario.Program(
        uuid.uuid4().hex, before, after, ANSWER_MIME, str(book.kernels), CELL_TIMEOUT_S
    )


def sweep(
    book: Book,
    chapter: str,
    assignments: Iterable[tuple[str, str]],
    out: Path,
    scheduler: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
    shown: str | None = None,
    say: Callable[[str], None] = print,
) -> Sweep:
    """Run a chapter over a grid of its parameters, or go on where an earlier run of the same sweep
    ended.

    Parameters
    ----------
    assignments : (name, values separated by commas), see `grid.read_grid`.
    out : folder of the journal, the table and the chart.
    scheduler : address of a Dask scheduler; a cluster of this machine's own if None.
    workers : processes on this machine, by default one per CPU core; of another cluster, how many
        to wait for.
    fresh : begin anew even if the folder holds an earlier sweep.
    shown : the quantity to draw, by default the first that the scenarios move.
    say : takes a line for the person who waits.

    Raises
    ------
    ParameterError, PressError : wrong input, before any work; a cluster that is lost, with what was
        finished kept.
    LookupError : the answer has no quantity `shown`.
    """
    from scaleright.press.texts import declared

    parameters = declared(chapter, book)
    swept = grid.read_grid(parameters, assignments)
    scenarios = [
        dict(zip(swept, values, strict=True)) for values in itertools.product(*swept.values())
    ]
    refused = grid.impossible(parameters, scenarios)
    own = _own_models(swept, say)
    program = _program(book, chapter, own)
    if scheduler is not None:
        cluster.check_address(scheduler)
    identity = {
        "chapter": chapter,
        "grid": swept,
        "text": hashlib.sha256(book.text(chapter).read_bytes()).hexdigest(),
    } | ({"own models": own} if own else {})
    with results.Journal(out, identity | scenario.fingerprint(), fresh) as journal:
        keep = functools.partial(_tabulate, out, scenarios, journal, parameters, chapter)
        todo = _todo(scenarios, refused, journal, shown, say)
        with _kept_when_cut_off(out, scenarios, journal, keep, say):
            if todo:
                _run(program, todo, journal, shown, scheduler, workers, say)
        frame, kinds = keep()
        moved = [p for name in swept for p in parameters if p.name == name]
        drawn = picture.draw(out, frame, kinds, moved, chapter, shown)
        return Sweep(len(scenarios), tuple(frame["error"].dropna()), drawn)


def _own_models(swept: dict[str, list[Any]], say: Callable[[str], None]) -> str:
    """Code that makes models of the reader's own known, each said as it was read."""
    from scaleright.catalog import retold
    from scaleright.parameters.own_models import read_as

    for line in read_as():
        say(line)
    return retold(value for values in swept.values() for value in values)


def _todo(
    scenarios: list[dict[str, Any]],
    refused: list[str],
    journal: results.Journal,
    shown: str | None,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """The scenarios that wait for their answer. Of an impossible one the journal keeps what was
    refused in place of its outcome.
    """
    bad = [(values, said) for values, said in zip(scenarios, refused, strict=True) if said]
    for values, said in bad:
        if journal.outcome(values) != {"values": values, "error": said}:
            journal.add(values, {"error": said})
    if bad:
        say(f"{len(bad)} of {len(scenarios)} scenarios are impossible and not run")
    done = [values for values in scenarios if journal.answered(values)]
    if done:
        say(f"{len(done)} of {len(scenarios)} scenarios done before")
        _check_shown(shown, journal, done[0])
    ready = (values for values, said in zip(scenarios, refused, strict=True) if not said)
    return [values for values in ready if not journal.answered(values)]


@contextmanager
def _kept_when_cut_off(
    out: Path,
    scenarios: list[dict[str, Any]],
    journal: results.Journal,
    keep: Callable[[], Any],
    say: Callable[[str], None],
) -> Iterator[None]:
    """Write the table of what is finished, and say how to go on, if the work is cut off."""
    try:
        yield
    except BaseException:
        if kept := sum(map(journal.answered, scenarios)):
            say(
                f"{kept} of {len(scenarios)} scenarios are done and kept in {out}; the same"
                " command goes on from there"
            )
            # The journal has it all; a full disk may be what has brought us here.
            with suppress(OSError):
                keep()
        raise


def _tabulate(
    out: Path,
    scenarios: list[dict[str, Any]],
    journal: results.Journal,
    parameters: Iterable[Any],
    chapter: str,
) -> tuple[Any, dict[str, str]]:
    """Write the table of what is finished; the table and how its quantities are said."""
    frame, kinds = results.table(scenarios, journal)
    results.write(out, frame, kinds, parameters, f"A sweep of {chapter}")
    return frame, kinds


def _run(
    program: scenario.Program,
    todo: list[dict[str, Any]],
    journal: results.Journal,
    shown: str | None,
    scheduler: str | None,
    workers: int | None,
    say: Callable[[str], None],
) -> None:
    """Run scenarios and keep each as it ends."""
    from papermill.translators import translate_parameters
    from tqdm import tqdm

    injected = [translate_parameters("python3", "python", values, "Parameters") for values in todo]
    with cluster.connected(scheduler, workers, len(todo), say) as client:
        bar = tqdm(total=len(todo), unit="scenario", disable=None, leave=False)
        with bar, closing(cluster.outcomes(client, program, injected)) as finished:
            for index, outcome in finished:
                journal.add(todo[index], outcome)
                bar.update()
                _check_shown(shown, journal, todo[index])


def _check_shown(shown: str | None, journal: results.Journal, values: dict[str, Any]) -> None:
    """Refuse to draw what the answer does not have, which is known with the first answer."""
    outcome = journal.outcome(values)
    if shown is not None and outcome is not None and "error" not in outcome:
        one_of(shown, results.quantities(outcome), "quantity of the answer")
