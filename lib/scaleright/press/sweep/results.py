"""What a sweep keeps: every finished scenario at once and for good, and a table of all of them at
the end.

The journal is a file of JSON lines, the first of which says what the sweep is of. Each finished
scenario is a line, on the disk before the next one is taken; a line that a crash has torn is
dropped.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from scaleright.files import require_writable, write_whole
from scaleright.press import PressError

JOURNAL, TABLE, TWIN = "scenarios.jsonl", "sweep.csv", "sweep.json"
PAGE, PICTURE = "sweep.html", "sweep.svg"
"""The files of a sweep, the last two its chart."""


def _key(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


class Journal:
    """The finished scenarios of a sweep, in its folder.

    Parameters
    ----------
    folder : where the sweep's files go; made if need be, and held until `close`, so that no other
        sweep writes there.
    identity : what the answers depend on. A folder that holds a sweep of anything else is refused.
    fresh : drop what the folder holds of an earlier sweep.

    Raises
    ------
    PressError : the folder cannot be made or written, belongs to another sweep, or one is at work
        in it; says what to do.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], fresh: bool = False):
        self._path, self._outcomes = folder / JOURNAL, {}
        for name in (JOURNAL, TABLE, TWIN, PAGE, PICTURE):
            require_writable(folder / name, "--out")
        self._folder = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not fresh and self._path.exists():
                self._resume(folder, identity)
            elif not fresh and (folder / TABLE).exists():
                raise PressError(
                    f"{folder} has a {TABLE} that no sweep has left; give another --out, or --fresh"
                    " to replace it"
                )
            else:
                write_whole(self._path, _head(identity))
            self._file = self._path.open("ab")
        except BlockingIOError:
            os.close(self._folder)
            raise PressError(
                f"another sweep is writing into {folder}; wait for it or give another --out"
            ) from None
        except BaseException:
            os.close(self._folder)
            raise

    def _resume(self, folder: Path, identity: Mapping[str, Any]) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
            os.truncate(self._path, sum(map(len, lines)))
        before, *found = map(_parsed, lines or [b""])
        if "sweep" not in before:
            raise PressError(
                f"{self._path} is no sweep's; give another --out, or --fresh to replace it"
            )
        before, found = before["sweep"], [line for line in found if "values" in line]
        if not found:  # nothing to lose
            write_whole(self._path, _head(identity))
        elif changed := [
            name for name in before | identity if before.get(name) != identity.get(name)
        ]:
            raise PressError(
                f"{folder} holds a sweep of {before.get('chapter')} with another"
                f" {', another '.join(changed)}, so its answers are not this sweep's; give another"
                " --out, or --fresh to start anew"
            )
        self._outcomes = {_key(line["values"]): line for line in found}

    def outcome(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """How a scenario ended: `text` and `quantities`, or `error`; None if it has not."""
        return self._outcomes.get(_key(values))

    def answered(self, values: Mapping[str, Any]) -> bool:
        """Whether a scenario has its answer; one that failed has none and runs again."""
        return "error" not in (self.outcome(values) or {"error": None})

    def add(self, values: Mapping[str, Any], outcome: Mapping[str, Any]) -> None:
        """Keep a finished scenario."""
        line = {"values": values, **outcome}
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._outcomes[_key(values)] = line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what a full disk refused stays in the buffer
            self._file.close()
        os.close(self._folder)


def _head(identity: Mapping[str, Any]) -> str:
    return json.dumps({"sweep": identity}) + "\n"


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def quantities(outcome: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The quantities of a kept answer by column: one with the name of a swept parameter goes by
    `answer_NAME`.
    """
    return {
        f"answer_{name}" if name in outcome["values"] else name: found
        for name, found in outcome.get("quantities", {}).items()
    }


def table(scenarios: Iterable[Mapping[str, Any]], journal: Journal):
    """A row for each finished scenario, in the grid's order: its parameters, the quantities of its
    answer, the answer, the error.

    Returns
    -------
    the DataFrame, and quantity -> how it is said (a kind of `charts.say`).
    """
    import pandas as pd

    ended = [outcome for values in scenarios if (outcome := journal.outcome(values))]
    kinds = {
        name: found["unit"] for outcome in ended for name, found in quantities(outcome).items()
    }
    rows = [
        outcome["values"]
        | {name: found["value"] for name, found in quantities(outcome).items()}
        | {"answer": outcome.get("text"), "error": outcome.get("error")}
        for outcome in ended
    ]
    # As objects, so that a missing number among whole ones does not make 4 into 4.0.
    frame = pd.DataFrame(
        rows,
        columns=[*(ended[0]["values"] if ended else ()), *kinds, "answer", "error"],
        dtype=object,
    )
    return frame, kinds


def write(
    folder: Path, frame: Any, kinds: Mapping[str, str], parameters: Iterable[Any], title: str
) -> None:
    """Write the table as CSV, and as JSON with the type and unit of each column."""
    from scaleright.charts.machine import resource

    units = {
        parameter.name: parameter.unit for parameter in parameters if parameter.name in frame
    } | dict(kinds)
    write_whole(folder / TABLE, frame.to_csv(index=False))
    write_whole(
        folder / TWIN,
        json.dumps(resource(frame, title, "sweep", units), indent=1, ensure_ascii=False) + "\n",
    )
