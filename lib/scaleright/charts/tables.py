"""Tables of a page: text, HTML that scrolls inside itself, and raw numbers for machines."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from scaleright.charts.axes import Along, fields_along
from scaleright.charts.displays import Display, live_model, row_model
from scaleright.charts.live import LiveNumber, page
from scaleright.charts.machine import file_name, resource, rounded
from scaleright.charts.words import NONE, say
from scaleright.outputs import PAGE_MIME, TABLE_MIME, Sheet, table_box
from scaleright.quantity import Quantity, Rows
from scaleright.quantity.graph import control, in_order, parameter, value_of
from scaleright.quantity.readings import evaluate_rows
from scaleright.units import figure

# Cells of a table that follow the controls: quantities, or the same quantity at the case of each
# row


@dataclass(frozen=True)
class Moving:
    """A table whose cells may follow the controls.

    rows : their values at the chapter's case
    cells : markup of those that follow, by column and row
    formats : how the cells of each column are said
    model : what the page's script needs to compute them
    live : where the page has the raw values, by column: signals, or a field of rows, and of which
    """

    rows: pd.DataFrame
    cells: Mapping[tuple[Any, int], str]
    formats: Mapping[str, Any]
    model: str = ""
    live: Mapping[Any, dict] = field(default_factory=dict)


def moving(
    rows: pd.DataFrame,
    formats: Mapping[str, Any],
    along: Along | None,
    across: str | None = None,
) -> Moving:
    """The cells of a table that are quantities.

    along, across : as of `tables.table`
    """
    if along is not None:
        found = _along(rows, formats, fields_along(along))
        return found if across is None else _spread_out(found, across)
    found = {}
    for column in (c for c in rows.columns if pd.api.types.is_object_dtype(rows[c])):
        for index, value in enumerate(rows[column]):
            if isinstance(value, Quantity):
                found[column, index] = _live(value, formats.get(column))
    if not found:
        return Moving(rows, {}, formats)
    cells = {place: number.__html__() for place, number in found.items()}
    places = range(len(rows))
    plain = rows.map(value_of).infer_objects()
    live = {
        column: {
            "signals": [found[column, i].name if (column, i) in found else None for i in places]
        }
        for column in dict.fromkeys(column for column, _ in found)
    }
    return Moving(plain, cells, formats, live_model(found.values()), live)


def _live(quantity: Quantity, kind: Any) -> LiveNumber:
    name = page().signal(quantity)
    if isinstance(quantity.value, str):
        return page().words(name, quantity)
    kind = kind or "number"
    return page().number(page().slot(name, kind), quantity, kind=kind)


def _along(
    rows: pd.DataFrame, formats: Mapping[str, Any], fields: Mapping[Quantity, str]
) -> Moving:
    rows = rows.reset_index(drop=True)
    shown = [column for column in rows.columns if column not in fields.values()]
    wanted = {c: rows[c][0] for c in shown if isinstance(rows[c][0], Quantity)}
    given = {parameter(of) or "": rows[column].to_numpy() for of, column in fields.items()}
    values = evaluate_rows(wanted.values(), given)
    plain = rows[shown].assign(**dict(zip(wanted, values, strict=True)))
    words = {f"_{at}": _in_words(q, formats.get(c)) for at, (c, q) in enumerate(wanted.items())}
    numbers = {f"{at}_raw": q for at, q in zip(words, wanted.values(), strict=True)}
    numbers = {at: q for at, q in numbers.items() if not isinstance(q.value, str)}
    name = page().signals.add(Rows(given, numbers | words))
    texts = evaluate_rows(words.values(), given)
    cells = {
        (column, index): f'<span data-sr-cell="{name} {index} {at}">{said}</span>'
        for column, at, told in zip(wanted, words, texts, strict=True)
        for index, said in enumerate(told)
    }
    live = {
        column: {"rows": name, "field": f"{at}_raw" if f"{at}_raw" in numbers else at}
        for column, at in zip(wanted, words, strict=True)
    }
    return Moving(plain, cells, formats, row_model(page(), name), live)


def _spread_out(found: Moving, across: str) -> Moving:
    """A table of names, of `across` and of one column more, with a column for each value of
    `across` in place of both.
    """
    name, value = (column for column in found.rows.columns if column != across)
    rows, columns = (list(dict.fromkeys(found.rows[of])) for of in (name, across))
    wide = found.rows.pivot(index=name, columns=across, values=value).loc[rows, columns]
    places = list(zip(found.rows[across], map(rows.index, found.rows[name]), strict=True))
    cells = {places[index]: markup for (_, index), markup in found.cells.items()}
    return Moving(
        wide.reset_index().rename_axis(columns=None),
        cells,
        dict.fromkeys(columns, found.formats.get(value)),
        found.model,
        {
            of: found.live[value]
            | {"places": [places.index((of, row)) for row in range(len(rows))]}
            for of in columns
        },
    )


def _in_words(quantity: Quantity, kind: Any) -> Quantity:
    """What a cell says of a quantity."""
    if isinstance(quantity.value, str):
        return quantity
    return say(quantity, kind or "number")


def _cell(value: Any, how: Any) -> str:
    if (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or value is pd.NaT
        or value is pd.NA
    ):
        return NONE
    if callable(how):
        return str(how(value))
    if how is not None:
        return say(float(value), how)
    if isinstance(value, (float, np.floating)):
        return say(float(value), "number") if value else "0"
    return str(value)


def table(
    rows: pd.DataFrame,
    caption: str,
    formats: Mapping[str, Any] | None = None,
    link: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    name: str | None = None,
    along: Along | None = None,
    across: str | None = None,
    beneath: Collection[str] = (),
) -> Display:
    """An accessible table that scrolls inside itself on a phone; the first column heads its row.

    Parameters
    ----------
    rows : the columns to show, in order; cells that are quantities follow the controls.
    caption : what the table holds.
    formats : column -> a kind of `say` or a function of the value; what is in USD by its head is
        said so without one.
    link : column -> the column that holds its address, which is not shown itself.
    headers : column -> the words in its head; underscores become spaces otherwise.
    name : what its files are called when a reader downloads them; made from the caption otherwise.
    along : parameters that the rows give in columns of their names or in others, which are not
        shown: a quantity in another column is that of the case of each row.
    across : column whose values head a column each, of what the one column that is left holds.
    beneath : columns of long texts that get a line of their own beneath a row.

    >>> table(pd.DataFrame({"chip": ["A"], "price": [1600.0]}), "Prices", {"price": "usd"})
    Prices
    chip   price
    A     $1,600
    """
    formats, link, headers = dict(formats or {}), dict(link or {}), dict(headers or {})
    for column in (*formats, *link, *link.values(), *headers, *beneath):
        if column not in rows.columns:
            raise KeyError(
                f"table: no column {column!r}; there are {', '.join(map(str, rows.columns))}"
            )
    formats = _in_dollars(rows, headers) | formats
    found = moving(rows, formats, along, across)
    rows, formats = found.rows, found.formats
    columns = [column for column in rows.columns if column not in link.values()]
    sheet = _Sheet(
        columns,
        words={c: headers.get(c, str(c).replace("_", " ")) for c in columns},
        texts={c: [_cell(value, formats.get(c)) for value in rows[c]] for c in columns},
        numeric={c for c in columns if _of_numbers(rows[c])},
        addresses={c: rows[of].tolist() for c, of in link.items()},
        moving=found.cells,
        asked=frozenset(beneath),
    )
    keys = max(map(len, sheet.texts[columns[0]]), default=0) <= 26
    return Display(
        {
            "text/plain": "\n".join([caption, *sheet.lines()]),
            "text/html": table_box(caption, sheet.head(), sheet.body(len(rows)), keys)
            + found.model,
            TABLE_MIME: _for_machines(found, caption, name or file_name(caption)),
        }
    )


def _for_machines(found: Moving, caption: str, name: str) -> dict[str, Any]:
    """A table as a resource that says where the page has the values of what follows."""
    told = resource(found.rows, caption, name, found.formats)
    for entry, column in zip(told["schema"]["fields"], found.rows.columns, strict=True):
        entry |= {"live": found.live[column]} if column in found.live else {}
    return told


def _of_numbers(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _in_dollars(rows: pd.DataFrame, headers: Mapping[str, str]) -> dict[Any, str]:
    """How columns of numbers are said whose heads name USD."""
    money = (c for c in rows.columns if re.search(r"\bUSD\b", headers.get(c, str(c))))
    return {c: "usd" for c in money if not any(isinstance(value_of(v), str) for v in rows[c])}


@dataclass(frozen=True)
class _Sheet:
    """A table's cells as texts, by column; the first column heads its rows.

    words : of the heads; addresses : what the cells of a column link to; moving : markup of cells
    that follow the controls, by column and row; asked : columns that stand beneath
    """

    columns: list
    words: Mapping[Any, str]
    texts: Mapping[Any, list[str]]
    numeric: set
    addresses: Mapping[Any, list]
    moving: Mapping[tuple[Any, int], str]
    asked: frozenset[str]

    @property
    def below(self) -> list:
        """Columns of long texts of a wide table: they get a line of their own beneath a row."""
        return [
            c
            for c in self.columns[1:]
            if c in self.asked
            or (
                len(self.columns) >= 5
                and c not in self.numeric
                and max(map(len, self.texts[c]), default=0) > 60
            )
        ]

    @property
    def beside(self) -> list:
        """The other columns."""
        return [c for c in self.columns if c not in self.below]

    def side(self, column: Any) -> str:
        """Numbers stand to the right, dates on one line."""
        if column in self.numeric:
            return ' class="sr-num"'
        dates = all(re.fullmatch(r"\d{4}-\d\d-\d\d", text) for text in self.texts[column])
        return ' class="sr-date"' if dates and self.texts[column] else ""

    def head(self) -> str:
        """The cells of the head."""
        return "".join(
            f'<th scope="col"{self.side(c)}>{html.escape(self.words[c])}</th>' for c in self.beside
        )

    def body(self, count: int) -> str:
        """So many rows, each with its long texts beneath it."""
        beside, below = self.beside, self.below
        return "".join(
            f"<tr{self._unseen(index)}>{''.join(self._entry(c, index) for c in beside)}</tr>\n"
            + self._notes(below, index, len(beside))
            for index in range(count)
        )

    def empty(self, index: int) -> bool:
        """Whether nothing heads a row that follows the controls: it is not shown."""
        head = self.columns[0]
        return (head, index) in self.moving and not self.texts[head][index]

    def _unseen(self, index: int) -> str:
        return " hidden" if self.empty(index) else ""

    def _words(self, column: Any, index: int) -> str:
        if (column, index) in self.moving:
            return self.moving[column, index]
        text = html.escape(self.texts[column][index])
        # names of parameters may break there
        return text.replace("_", "_<wbr>") if column == self.columns[0] else text

    def _entry(self, column: Any, index: int) -> str:
        text = self._words(column, index)
        address = self.addresses[column][index] if column in self.addresses else None
        if isinstance(address, str) and address:
            text = f'<a href="{html.escape(address, quote=True)}">{text}</a>'
        tag, extra = ("th", ' scope="row"') if column == self.columns[0] else ("td", "")
        return f"<{tag}{extra}{self.side(column)}>{text}</{tag}>"

    def _notes(self, below: list, index: int, width: int) -> str:
        notes = "".join(
            f"<p><span>{html.escape(self.words[c])}:</span> {self._words(c, index)}</p>"
            for c in below
            if self.texts[c][index] or (c, index) in self.moving
        )
        row = f'<tr class="sr-notes"{self._unseen(index)}>'
        return f'{row}<td colspan="{width}">{notes}</td></tr>\n' if notes else ""

    def lines(self) -> list[str]:
        """The table as lines of text, numbers to the right."""
        kept = [i for i in range(len(self.texts[self.columns[0]])) if not self.empty(i)]
        filled = [[self.words[c], *(self.texts[c][i] for i in kept)] for c in self.columns]
        wide = [max(map(len, cells)) for cells in filled]
        sides = [">" if c in self.numeric else "<" for c in self.columns]
        return [
            "  ".join(
                f"{text:{side}{width}}" for text, side, width in zip(line, sides, wide, strict=True)
            ).rstrip()
            for line in zip(*filled, strict=True)
        ]


def parameters_table(case: Any) -> Display:
    """The chapter's parameters: what each means, its value in this case, what is allowed; machines
    get every digit that the reader gave.
    """
    shown = table(case.table(), "Your case: one line of the parameters cell each")
    carried = shown.bundle[TABLE_MIME]
    next(field for field in carried["schema"]["fields"] if field["name"] == "value")["type"] = "any"
    for row in carried["data"]:
        value = case.values[row["parameter"]]
        row["value"] = figure(value, 12) if isinstance(value, float) else rounded(value)
    return shown


def parameters() -> Display:
    """The parameters of this page, folded; see `parameters_table`."""
    case = page().case
    return folded(parameters_table(case), f"The {len(case.parameters)} parameters")


def claims(taught: Any) -> None:
    """Show the two or three published claims on a chapter's question that teach most, beside what
    is computed, and where the others stand.

    taught : what `claims.taught` has of the chapter
    """
    from IPython.display import display

    display(table(taught.rows, "Published claims beside what is computed"))
    count = f"{taught.held} of the {taught.of} claims on this question hold as they stand"
    text = f"{count}: scaleright claims --chapter {taught.chapter}. From {taught.whose}."
    ledger_link = (
        f'<a href="../book/ledger.html?chapter={taught.chapter}">the ledger has all of them</a>'
    )
    paragraph = '<p class="sr-basis">{}. From {}.</p>'
    display(
        Display(
            {
                "text/plain": text,
                "text/html": f'<p class="sr-basis">{html.escape(text)}</p>',
                PAGE_MIME: paragraph.format(f"{count}; {ledger_link}", html.escape(taught.whose)),
            }
        )
    )


def held_out_test(came: Mapping[str, Any], by_source: pd.DataFrame) -> None:
    """Show how runs that had been set aside came out when they were opened, once: in a sentence,
    and by source, folded.

    came, by_source : what `validation.published` has of the kind of runs
    """
    from IPython.display import display

    from scaleright.charts.answers import sentence

    off = {name: say(came[name], "percent") for name in ("median", "p90", "inside")}
    display(
        sentence(
            f"Opened on {came['opened']}: {came['figures']} predictions were {off['median']} off at"
            f" the median, nine in ten within {off['p90']}; {off['inside']} of the runs lay in"
            " the 90 % ranges stated then."
        )
    )
    shown = table(by_source, "The sealed test by source, errors in percent")
    display(folded(shown, "By source"))


def folded(display: Display, summary: str) -> Display:
    """A display that opens on demand, such as a long table.

    >>> folded(table(pd.DataFrame({"chip": ["A"]}), "Chips"), "All chips").bundle["text/html"][:56]
    '<details class="sr-folded"><summary>All chips</summary><'
    """
    markup = (
        f'<details class="sr-folded"><summary>{html.escape(summary)}</summary>'
        f"{display.markup}</details>"
    )
    return display.marked(markup)


def sheet(of: Sheet) -> Display:
    """A table of the library, with its own words; folded if it has a summary.

    >>> sheet(Sheet(pd.DataFrame({"rent [USD/h]": [2.0]}), "Rents"))
    Rents
    rent [USD/h]
           $2.00
    """
    shown = table(of.rows, of.caption, of.formats)
    return folded(shown, of.summary) if of.summary else shown


def at_defaults(display: Display, *depends: Quantity) -> Display:
    """A display that stays at the chapter's defaults, says so, and turns gray as soon as a control
    has moved on which it depends.

    depends : quantities that it is made of

    >>> from scaleright.quantity import given
    >>> shown = at_defaults(table(pd.DataFrame({"chip": ["A"]}), "Chips"), given("chip", "A"))
    >>> shown.bundle["text/html"][:45]
    '<div class="sr-fixed" data-sr-of="chip"><p cl'
    """
    names = dict.fromkeys(filter(None, map(control, in_order(depends))))
    markup = (
        f'<div class="sr-fixed" data-sr-of="{" ".join(names)}">'
        f'<p class="sr-basis">At the chapter\'s defaults.</p>{display.markup}</div>'
    )
    return display.marked(markup)
