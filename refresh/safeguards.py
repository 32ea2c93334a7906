"""What a refresh must not do: lose rows unnoticed, write what the package forbids, fail without
naming the file.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from scaleright import catalog
from scaleright import transformer as _transformer  # noqa: F401 (judges shapes by parameters)

from refresh.tables import RefreshError, Row, last_read

MOST_LOST = 0.1
"""Share of a source's rows that may go from one edition of a raw file to the next: publishers
correct some rows; who loses more has been cut, or has changed what it means.
"""
_SHOWN = 5


def lost(table: str, before: Iterable[Row], after: Iterable[Row], sources: Iterable[str]) -> str:
    """What a table lost of its imported sources, in words; empty if that is little.

    >>> rows = [{"source": "a"}] * 10
    >>> lost("prices", rows, rows[:3], {"a"})
    'prices: 3 rows from a, where the committed table has 10'
    """
    counts = [Counter(row["source"] for row in rows) for rows in (before, after)]
    return "; ".join(
        f"{table}: {counts[1][source]} rows from {source}, where the committed table has"
        f" {counts[0][source]}"
        for source in sorted(sources)
        if counts[1][source] < (1 - MOST_LOST) * counts[0][source]
    )


@contextmanager
def named(table: str) -> Iterator[None]:
    """Name the table and the raw file that was read last in whatever goes wrong with it."""
    last_read.clear()
    try:
        yield
    except RefreshError:
        raise
    except Exception as error:
        files = f"raw file {last_read[-1]}" if last_read else "its importer"
        told = f"{type(error).__name__}: {error}"
        raise RefreshError(
            f"table {table}: {files} is not laid out as documented: {told}"
        ) from error


def judge(data: Path, texts: dict[str, str]) -> None:
    """Hold new tables against the data package, beside those that stay, before any is written.

    Raises
    ------
    RefreshError : a new table breaks the package's constraints or is not plausible.
    """
    with TemporaryDirectory(prefix="refresh-") as folder:
        staged = Path(folder)
        shutil.copy(data / "datapackage.json", staged)
        for name in catalog.package(staged):
            new, old = staged / f"{name}.csv", data / f"{name}.csv"
            new.parent.mkdir(parents=True, exist_ok=True)
            if name in texts:
                new.write_text(texts[name], encoding="utf-8", newline="\n")
            elif old.exists():
                shutil.copy(old, new)
        found = [
            str(problem)
            for name in catalog.package(staged)
            if (staged / f"{name}.csv").exists()
            for problem in catalog.examine(staged, name)[1]
        ]
    catalog.forget()
    if found:
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise RefreshError(
            "\n  ".join(["the new tables break the data package:", *found[:_SHOWN], *more])
        )
