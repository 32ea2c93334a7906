"""What a reader can take along: the executed notebook of a page, and each of its tables as CSV and
as JSON.

The numbers are the raw ones that the notebook carries beside each table, not those rounded for
reading. `addresses` says where the files lie.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from scaleright.outputs import TABLE_MIME
from scaleright.press import Book
from scaleright.press.addresses import notebook_file, table_file
from scaleright.press.execute import carried
from scaleright.press.scenarios import Scenario


def tables(notebook: Mapping[str, Any]) -> Iterator[tuple[dict, dict]]:
    """Each output that carries a table, and the table as a data resource, its name made unique
    within the notebook.
    """
    seen: Counter[str] = Counter()
    for output in carried(notebook, TABLE_MIME):
        resource = output["data"][TABLE_MIME]
        seen[name := resource["name"]] += 1
        yield output, resource if seen[name] == 1 else resource | {"name": f"{name}-{seen[name]}"}


def to_csv(resource: Mapping[str, Any]) -> str:
    """A data resource as CSV: units in the header, numbers unformatted, nothing for an empty cell.

    >>> rent = {"name": "rent", "type": "number", "unit": "USD/h"}
    >>> schema = {"fields": [{"name": "chip", "type": "string"}, rent]}
    >>> rows = [{"chip": "A", "rent": 2.5}, {"chip": "B", "rent": None}]
    >>> print(to_csv({"schema": schema, "data": rows}), end="")
    chip,rent [USD/h]
    A,2.5
    B,
    """
    fields, text = resource["schema"]["fields"], io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            f"{f['name']} [{f['unit']}]" if "unit" in f and "[" not in f["name"] else f["name"]
            for f in fields
        ]
    )
    for row in resource["data"]:
        cells = (row[field["name"]] for field in fields)
        writer.writerow(
            [
                "" if cell is None else str(cell).lower() if isinstance(cell, bool) else cell
                for cell in cells
            ]
        )
    return text.getvalue()


def files(book: Book, scenarios: list[Scenario]) -> dict[str, bytes]:
    """Every file to download: path in the site, and content."""
    pages = {f"notebooks/{chapter}": book.executed(chapter) for chapter in book.chapters()}
    pages |= {
        scenario.page: book.executed(scenario.chapter, scenario.name) for scenario in scenarios
    }
    found = {}
    for page, executed in pages.items():
        content = executed.read_bytes()
        found[notebook_file(page)] = content
        for _, resource in tables(json.loads(content)):
            stem = table_file(page, resource["name"])
            found[f"{stem}.csv"] = to_csv(resource).encode()
            found[f"{stem}.json"] = (
                json.dumps(resource, ensure_ascii=False, separators=(",", ":")) + "\n"
            ).encode()
    return found
