"""Add measurements to a table and set a third of them aside: `python -m refresh.sealing NAME FILE`.

What nobody has looked at can still test what is built later, once. So new rows of a measured table
come with this tool: it adds the rows of a CSV file of the same columns and seals every third of
their groups, in the order of a hash of the group's name, which knows nothing of what was measured.
`measured/sealed` names the runs; the library hides them (`catalog.sealed`), and no fit, chapter or
validation sees them unless somebody asks for them by name. A run once sealed stays so.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

from scaleright import catalog
from scaleright.catalog.tables import SEALED

from refresh.tables import RefreshError, Row, read_table, table_text

THIRD = 3
GROUP = ("source", "model", "accelerator")
"""What the runs of a group share: they are sealed together or not at all."""


def group(row: Row) -> str:
    """The name of a row's group."""
    return " | ".join(row[name] for name in GROUP)


def sealed_groups(groups: Iterable[str]) -> set[str]:
    """Every third of the groups, in the order of the SHA-256 of their names.

    >>> sorted(sealed_groups(["a", "b", "c", "d", "e", "f"]))
    ['a', 'c']
    """
    ordered = sorted(set(groups), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return set(ordered[THIRD - 1 :: THIRD])


def seal(data: Path, name: str, rows: list[Row]) -> tuple[int, int]:
    """Add rows to a table of a data folder, and those of the sealed groups to the list.

    Returns
    -------
    Rows added, and how many of them are sealed.

    Raises
    ------
    RefreshError : a run that the table has already.
    """
    tables = {of: read_table(data / f"{of}.csv") for of in (name, SEALED)}
    if known := {row["run"] for row in tables[name]} & {row["run"] for row in rows}:
        raise RefreshError(f"{name} has these runs already: {', '.join(sorted(known))}")
    groups = sealed_groups(map(group, rows))
    apart = [
        {"table": name, "run": row["run"], "source": row["source"]}
        for row in rows
        if group(row) in groups
    ]
    for of, more in ((name, rows), (SEALED, apart)):
        text = table_text(tables[of] + more, catalog.package(data)[of]["schema"])
        (data / f"{of}.csv").write_text(text, encoding="utf-8")
    return len(rows), len(apart)


def digest(data: Path) -> str:
    """The SHA-256 of the list of sealed runs, which CONTRIBUTING.md repeats."""
    return hashlib.sha256((data / f"{SEALED}.csv").read_bytes()).hexdigest()


def main(name: str, file: str) -> None:
    """Add the rows of a file to a table, and say how many of them are sealed."""
    data = catalog.data_dir()
    added, apart = seal(data, name, read_table(Path(file)))
    sys.stdout.write(f"{added} rows added to {name}, {apart} of them sealed; {digest(data)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
