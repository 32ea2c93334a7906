"""The command line: every command checks its input before any work and ends with one clear message
if it must.

Exit codes: 0 done, 1 failed (said on stderr), 2 wrong usage, 130 interrupted by Ctrl-C, 143 by a
request to end. Each command imports what it needs when it runs, so that help and a build with
nothing to do stay instant.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scaleright import __version__, finding_in
from scaleright.names import brief, shortened
from scaleright.press import COLLECTED_AFTER, Book, PressError, explained
from scaleright.press.commands import Group

if TYPE_CHECKING:
    from scaleright.catalog import DataRecord
    from scaleright.parameters import Declared
    from scaleright.press.pages import Dated


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="scaleright")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Scale Right: the executable book of AI compute economics."""


_jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Chapters to run at once (default: one per CPU core).",
)
_force = click.option("--force", is_flag=True, help="Run and render everything, changed or not.")


def _checkout(extra: str, command: str) -> Book:
    """The checkout that a command works on, and the packages that it needs.

    Raises
    ------
    PressError : one of them is missing.
    """
    from scaleright.press.commands import require

    place = Book.checkout()
    require(extra, command)
    return place


@cli.command()
@_jobs
@_force
def book(jobs: int | None, force: bool) -> None:
    """Run changed chapters and scenarios and build the site into _build/html."""
    from scaleright.press import site

    site.publish(_checkout("book", "book"), jobs, force, click.echo)


@cli.command("pdf")
def pdf_() -> None:
    """Print the built site as one PDF, `_build/scale-right.pdf`; needs Chromium and Playwright."""
    from scaleright.press import paper

    path = paper.write(_checkout("pdf", "pdf"))
    click.echo(f"printed: {path} ({path.stat().st_size / 1e6:.1f} MB)")


@cli.command("notebooks")
@_jobs
@click.option(
    "--check", is_flag=True, help="Change nothing; exit 1 if a stored notebook is out of date."
)
def notebooks_(jobs: int | None, check: bool) -> None:
    """Run changed chapters and store them, with their outputs, in notebooks/."""
    from scaleright.press import site

    site.store(_checkout("book", "notebooks"), jobs, check, click.echo)


@cli.command()
@click.argument("chapter")
@click.option(
    "-p",
    "--parameter",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of your case; repeat for more.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Write the executed notebook here (runs every cell, which takes longer).",
)
def run(chapter: str, assignments: tuple[str, ...], out: Path | None) -> None:
    """Run CHAPTER on your case and print its answer."""
    from scaleright.parameters import validate
    from scaleright.press.texts import declared

    place = Book.find()
    with finding_in(partial(_findings, place)):
        given = declared(chapter, place)
        values = validate(given, _case(assignments))
        _say_own()
        if out is None:
            said, tables = _evaluated(place, chapter, given, values)
        else:
            said, tables = _written(place, chapter, values, out)
    click.echo(said or f"{chapter} has no cell tagged answer")
    if out is not None:
        click.echo(f"notebook: {out}")
    _warn(tables)


@cache
def _findings(place: Book) -> str | None:
    """The folder of what runs and builds find in the tables of a checkout, None where none can be
    made.
    """
    from scaleright.press.staleness import remembered

    if place.installed:
        return None
    with suppress(OSError):
        return str(remembered(place))
    return None


def _evaluated(
    place: Book, chapter: str, given: Declared, values: dict[str, Any]
) -> tuple[str, list[Dated]]:
    """The answer of a chapter that runs in this process, and the dates of the tables it read."""
    from scaleright.catalog import DataRecord, reading
    from scaleright.press import evaluate

    with reading() as read:
        said = evaluate.answer(place, chapter, given, values)
    return said, _dated(DataRecord(read))


def _written(
    place: Book, chapter: str, values: dict[str, Any], out: Path
) -> tuple[str, list[Dated]]:
    """Run a chapter as a notebook and write it: its answer, and the dates of its tables."""
    import json

    from scaleright.files import require_writable, write_whole
    from scaleright.press.commands import require
    from scaleright.press.execute import Job, answer, run_all
    from scaleright.press.pages import dates

    require("book", "run --out")
    require_writable(out, "--out")
    done = []
    run_all(place, [Job(chapter, values)], 1, done.append)
    write_whole(out, done[0].content)
    return answer(done[0].content), dates(json.loads(done[0].content))


def _say_own() -> list[str]:
    """Say of each model of the reader's own how it was read, and return these lines."""
    from scaleright.parameters.own_models import read_as

    for line in (lines := read_as()):
        click.echo(line)
    return lines


def _warn(tables: Iterable[Dated]) -> None:
    """Say on stderr which of the tables behind an answer are old, as its page does."""
    from scaleright.press.pages import old

    for line in old(tables):
        click.echo(f"old data: {line}", err=True)


def _warn_of_read() -> None:
    """The same of the tables that this process has read."""
    from scaleright.catalog import data_record

    _warn(_dated(data_record()))


def _dated(record: DataRecord) -> list[Dated]:
    from scaleright.catalog import resource
    from scaleright.press.pages import dated

    return [dated(resource(name)) for name in record.dated]


@cli.command()
@click.argument("chapter")
@click.option(
    "-p",
    "--parameter",
    "assignments",
    multiple=True,
    required=True,
    metavar="NAME=A,B,...",
    help=(
        "A parameter and its values; repeat for more of either. A value with a comma in it goes in"
        " double quotes."
    ),
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder of table, chart and journal.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="A Dask scheduler, such as tcp://HOST:8786 (default: this machine).",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes here (default: one per core); with ADDRESS, how many to wait for.",
)
@click.option(
    "--show",
    "shown",
    metavar="QUANTITY",
    help="What the chart draws (default: the first number of the answer that moves).",
)
@click.option("--fresh", is_flag=True, help="Drop what an earlier sweep left in the folder.")
def sweep(chapter: str, assignments: tuple[str, ...], out: Path, **options: Any) -> None:
    """Run CHAPTER on every combination of values; the same command again goes on where it was
    interrupted.
    """
    import json

    from scaleright.press.commands import require
    from scaleright.press.pages import dates
    from scaleright.press.sweep import PAGE, TABLE
    from scaleright.press.sweep import sweep as evaluated

    require("sweep", "sweep")
    place = Book.find()
    try:
        done = evaluated(
            place,
            chapter,
            [_assignment(text) for text in assignments],
            out,
            say=click.echo,
            **options,
        )
    except KeyboardInterrupt:
        sys.exit(130)
    click.echo(f"table of {done.scenarios} scenarios: {out / TABLE}")
    click.echo(
        f"chart of {done.drawn}: {out / PAGE}"
        if done.drawn
        else "no chart: the answer has no number to draw"
    )
    if (stored := place.notebook(chapter)).is_file():  # it names the tables that the chapter reads
        _warn(dates(json.loads(stored.read_bytes())))
    if done.errors:
        first = "\n".join(f"  {error}" for error in list(dict.fromkeys(done.errors))[:3])
        raise PressError(
            f"{len(done.errors)} of {done.scenarios} scenarios failed (column error; run again to"
            f" retry):\n{first}"
        )


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.UsageError(f"-p {brief(text)}: expected NAME=VALUE")
    return name.strip(), value


def _case(assignments: tuple[str, ...]) -> dict[str, str]:
    """Values by name, of which each has one."""
    case: dict[str, str] = {}
    for name, value in map(_assignment, assignments):
        if name in case:
            raise click.UsageError(
                f"-p {brief(name)[1:-1]} is given twice, as {brief(case[name])} and as"
                f" {brief(value)}; give it once (`scaleright sweep` takes several values)"
            )
        case[name] = value
    return case


@cli.command()
@click.argument("preset", required=False)
@click.option(
    "-p",
    "--parameter",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of your workload; repeat for more.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="A log of requests (CSV): timestamp, input_tokens, output_tokens, or as --list has them.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--list", "listed", is_flag=True, help="List presets and parameters.")
def plan(
    preset: str | None,
    assignments: tuple[str, ...],
    trace: Path | None,
    as_json: bool,
    listed: bool,
) -> None:
    """Plan a workload: what to buy, rent or call, in nine steps; a PRESET is where to start."""
    from scaleright.press import plans

    place = Book.find()
    if listed or not (preset or assignments or trace):
        click.echo(plans.offered(place))
        return
    with finding_in(partial(_findings, place)):
        workload = plans.workload(place, preset, _case(assignments), trace)
        from scaleright.chapters.plan.model import plan as planned

        found = planned(workload)
    click.echo(found.json() if as_json else found.text())
    _warn_of_read()


@cli.command()
@click.argument("chapter")
def parameters(chapter: str) -> None:
    """List the parameters of CHAPTER: default, unit, what is allowed, meaning."""
    from scaleright.parameters import table
    from scaleright.press.texts import declared

    click.echo(table(declared(chapter)))


@cli.group()
def data() -> None:
    """Refresh and check the tables of data/."""


@data.command()
@click.option(
    "--from",
    "raw",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the raw files.",
)
@click.option(
    "--allow-flagged",
    is_flag=True,
    help="Keep doubtful rows, marked by flags, instead of refusing them.",
)
@click.option(
    "--allow-fewer",
    is_flag=True,
    help="Let a source lose more than a tenth of its rows.",
)
def refresh(raw: Path, allow_flagged: bool, allow_fewer: bool) -> None:
    """Write the tables of data/ anew from raw public files."""
    place = Book.checkout()
    if not (place.root / "refresh" / "__init__.py").is_file():
        raise PressError(
            f"importers are not installed with the package: {place.root} has no refresh/; use a"
            " checkout"
        )
    sys.path.insert(0, str(place.root))
    import refresh as importers

    for report in importers.refresh(raw, place.data, allow_flagged, allow_fewer):
        click.echo(str(report))


@data.command()
def check() -> None:
    """Check every table against the data package: types, constraints, sources, dates."""
    from scaleright.press import datacheck

    problems = datacheck.check(Book.find().data)
    for problem in problems:
        (
            click.echo(f"notice: {problem}")
            if problem.notice
            else click.echo(f"error: {problem}", err=True)
        )
    if errors := sum(not problem.notice for problem in problems):
        raise PressError(f"{errors} error{'s'[: errors > 1]} in the data")
    click.echo("the data is sound")


@cli.command()
@click.argument("kind")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--sealed", is_flag=True, help="Open the rows set aside for a last test.")
def validate(kind: str, file: Path | None, as_json: bool, sealed: bool) -> None:
    """Predict published measurements of KIND (or those in FILE) and report the error."""
    from scaleright.validation import kinds

    report = kinds.validate(kind, file, sealed)
    click.echo(report.to_json() if as_json else report.to_text())
    _warn_of_read()


@cli.command()
@click.option("--document", help="Only of this document, such as Clarifai or S2.")
@click.option("--subject", help="Only on this subject, such as serving.")
@click.option("--verdict", help="Only with this verdict, such as 'off by a factor'.")
@click.option("--chapter", help="Only those that this chapter explains.")
@click.option("--words", help="Only those that have all of these words.")
@click.option("--json", "form", flag_value="json", help="As JSON.")
@click.option("--csv", "form", flag_value="csv", help="As CSV.")
def claims(form: str | None, **asked: str | None) -> None:
    """List published claims with the recomputed number and the verdict."""
    from scaleright.press import status

    text, tables = status.listed_claims(form, asked)
    click.echo(text)
    _warn(tables)


def main(arguments: list[str] | None = None) -> Any:
    """Entry point of the `scaleright` command."""
    arguments = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(COLLECTED_AFTER)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        cli.main(arguments, prog_name="scaleright", standalone_mode=False)
        sys.exit(0)
    except click.UsageError as error:
        click.UsageError(shortened(error.format_message()), error.ctx).show()
        sys.exit(2)
    except click.Abort:
        click.echo("interrupted; the last good site is as it was", err=True)
        sys.exit(130)
    except (PressError, ValueError, LookupError, OSError) as error:
        if "--debug" in arguments or isinstance(
            error, (KeyError, IndexError)
        ):  # those are bugs, not wrong input
            raise
        click.echo(f"scaleright: {shortened(explained(error))}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
