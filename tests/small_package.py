"""A data folder for tests that write a few rows of some tables."""

import json
import shutil
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"


def write_package(folder: Path, *names: str) -> Path:
    """A folder with the data package and some of its tables, for raw files of a few rows: without
    what only the whole tables can keep (floors, rows that the library reads, neighbors).
    """
    folder.mkdir()
    package = json.loads((DATA / "datapackage.json").read_text(encoding="utf-8"))
    for entry in package["resources"]:
        entry["min_rows"] = 0
        for whole in ("required_rows", "plausible"):
            entry.pop(whole, None)
    (folder / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    for name in names:
        shutil.copy(DATA / f"{name}.csv", folder)
    return folder
