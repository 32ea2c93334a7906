"""The record of the tables that a chapter has read: source, license and date of each."""

from collections.abc import Iterable
from html import escape
from itertools import zip_longest

import pandas as pd

from scaleright.catalog import tables
from scaleright.catalog.package import resource
from scaleright.outputs import TABLES_MIME

DATED = ("title", "as_of", "stale_after_days")
"""What the data record tells a page of each table, so that it can warn of an old one."""


def html_table(caption: str, rows: pd.DataFrame, below: str | None = None) -> str:
    """A table of texts as HTML, its first column heading its rows; `charts.table` is the one for
    numbers.

    below : a column of long texts, each written on a line of its own beneath its row

    >>> html_table("Chips", pd.DataFrame({"chip": ["A"]}))[-53:]
    '<tr><th scope="row">A</th></tr></tbody></table></div>'
    """
    beside = rows if below is None else rows.drop(columns=below)
    head = "".join(f'<th scope="col">{escape(str(column))}</th>' for column in beside.columns)
    cells = ([escape(str(value)) for value in row] for row in beside.itertuples(index=False))
    lines = [
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>"
        for first, *rest in cells
    ]
    texts = (
        []
        if below is None
        else [f"<p><span>{below}:</span> {escape(str(text))}</p>" for text in rows[below]]
    )
    notes = [
        f'<tr class="sr-notes"><td colspan="{len(beside.columns)}">{text}</td></tr>'
        for text in texts
    ]
    body = "".join(line + note for line, note in zip_longest(lines, notes, fillvalue=""))
    table = (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
    return f'<div class="sr-table">{table}</div>'


class DataRecord:
    """Source, licence and date of the tables a chapter has read; the press learns from it what to
    watch.
    """

    def __init__(self, names: Iterable[str]):
        read = {*names}
        self.dated = sorted(name for name in read if not name.startswith(tables.UNDATED))
        self.names = sorted({name.removeprefix(tables.UNDATED) for name in read})

    def frame(self) -> pd.DataFrame:
        """One row a table: title, sources, licence, as-of date, age after which the page warns."""
        rows = []
        for name in self.names:
            entry = resource(name)
            rows.append(
                {
                    "table": name,
                    "title": entry["title"],
                    "sources": "; ".join(s["title"] for s in entry["sources"]),
                    "license": ", ".join(licence["name"] for licence in entry["licenses"]),
                    "as of": entry["as_of"],
                    "stale after [days]": entry["stale_after_days"],
                }
            )
        return pd.DataFrame(rows)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        frame = self.frame()
        html = (
            '<details class="sr-folded"><summary>The data behind this page, with source, license'
            f" and date ({len(frame)})</summary>"
            f"{html_table('Data record', frame, below='sources')}</details>"
        )
        record = {
            "tables": self.names,
            "dates": {name: {key: resource(name)[key] for key in DATED} for name in self.dated},
        }
        return {TABLES_MIME: record, "text/html": html, "text/plain": frame.to_string(index=False)}


def data_record() -> DataRecord:
    """The record of every table read so far in this process: the last cell of a chapter."""
    return DataRecord(tables._READ.get())
