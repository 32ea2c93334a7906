"""Cells of a table that follow the controls: quantities, or the same quantity at the case of each
row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from scaleright.charts.axes import Along, fields_along
from scaleright.charts.displays import live_model, row_model
from scaleright.charts.live import LiveNumber, page
from scaleright.charts.words import say
from scaleright.quantity import Quantity, Rows
from scaleright.quantity.graph import parameter, value_of
from scaleright.quantity.readings import evaluate_rows


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
