"""The facts: tables of `data/` as typed frames and frozen specs, looked up by name.

`table` reads one table with the types its schema declares and notes that it was read; `accelerator`
and `model` hand out typed specs and offer the nearest name when one is unknown. A chapter ends with
`data_record`, which shows source, licence and date of every table it has read.
"""

import functools
import json
import os
import re
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from datetime import date
from html import escape
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable, Iterable, Mapping

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.names import nearest, one_of

_READ: ContextVar[set[str]] = ContextVar("tables read", default=set())
_FOUND: dict[tuple, tuple[Any, set[str]]] = {}
TABLES_MIME = "application/vnd.scaleright.tables+json"
DATED = ("title", "as_of", "stale_after_days")
"""What the data record tells a page of each table, so that it can warn of an old one."""


class DataError(ValueError):
    """A table that is missing, incomplete or does not fit its schema."""


@functools.cache
def _own_data() -> Path:
    package = Path(__file__).resolve().parent
    checkout = package.parents[1] / "data"
    return checkout if (checkout / "datapackage.json").exists() else package / "data"


def data_dir() -> Path:
    """The folder of the tables: `SCALERIGHT_DATA`, else the checkout's `data/`, else the installed
    copy.
    """
    given = os.environ.get("SCALERIGHT_DATA")
    return Path(given) if given else _own_data()


@functools.cache
def _package(folder: Path) -> dict[str, dict]:
    path = folder / "datapackage.json"
    try:
        package = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"no data package at {path}; set SCALERIGHT_DATA to a folder that has one"
        ) from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path.name}: line {error.lineno}: not valid JSON: {error.msg}") from None
    return {resource["path"].removesuffix(".csv"): resource for resource in package["resources"]}


def resource(name: str) -> dict:
    """The data package's entry of a table: title, schema, sources, licence, dates."""
    resources = _package(data_dir())
    return resources[name] if name in resources else nearest(name, resources, "table")


_CONVERT = {
    "integer": lambda column: pd.to_numeric(column, errors="coerce").astype("Int64"),
    "number": lambda column: pd.to_numeric(column, errors="coerce").astype(float),
    "boolean": lambda column: column.map({"true": True, "false": False}).astype("boolean"),
    "date": lambda column: pd.to_datetime(column, format="%Y-%m-%d", errors="coerce"),
}

_ARTICLES = {"integer": "an"}


def read_csv(path: Path, schema: dict, label: str) -> pd.DataFrame:
    """Read a CSV file as its schema types it; an error names table, line, column and value.

    Raises
    ------
    DataError : the file is missing, a column is missing or unknown, a cell does not parse or is
        empty though required.
    """
    try:
        raw = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""], encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"table {label}: no file {path}") from None
    except (pd.errors.ParserError, UnicodeDecodeError, pd.errors.EmptyDataError) as error:
        raise DataError(f"table {label}: {str(error).strip()}") from None
    names = [f["name"] for f in schema["fields"]]
    if list(raw.columns) != names:
        missing, extra = set(names) - set(raw.columns), set(raw.columns) - set(names)
        raise DataError(
            f"table {label}: columns differ from the schema (missing: {sorted(missing)}, unknown:"
            f" {sorted(extra)})"
        )
    typed = {}
    for spec in schema["fields"]:
        name, column = spec["name"], raw[spec["name"]]
        typed[name] = _CONVERT.get(spec["type"], lambda c: c)(column)
        bad = typed[name].isna() & (
            column.notna() | bool(spec.get("constraints", {}).get("required"))
        )
        if bad.any():
            row = int(bad.to_numpy().argmax())
            cell = (
                "the cell is empty, but needs"
                if pd.isna(column[row])
                else f"{column[row]!r} is not"
            )
            raise DataError(
                f"table {label}, line {row + 2}, column {name}: {cell}"
                f" {_ARTICLES.get(spec['type'], 'a')} {spec['type']}"
            )
    return pd.DataFrame(typed)


@functools.cache
def _read(folder: Path, name: str) -> pd.DataFrame:
    return read_csv(folder / f"{name}.csv", resource(name)["schema"], name)


def _noted(name: str) -> pd.DataFrame:
    """The one frame of a table, not to be changed; the read is noted."""
    resource(name)
    _READ.get().add(name)
    return _read(data_dir(), name)


def table(name: str) -> pd.DataFrame:
    """A table of the data package, typed, as a fresh copy; the read is noted for the chapter's data
    record.

    Raises
    ------
    LookupError : no such table (the nearest names are offered).
    DataError : the file is missing or does not fit its schema.

    >>> table("models").set_index("name").loc["GPT-3 175B", "hidden"]
    np.int64(12288)
    """
    return _noted(name).copy()


def remembered(function: Callable) -> Callable:
    """Keep what a function finds in the tables, for each data folder; each call notes the tables
    behind it, as `table` does.

    For functions of names and days: a chapter asks for the same price a hundred times. A frame is
    handed out as a fresh copy; anything else must be what nobody can change.

    >>> most_layers = remembered(lambda: int(table("models")["layers"].max()))
    >>> most_layers() == most_layers() > 100
    True
    """

    @functools.wraps(function)
    def look(*given: Any, **named: Any) -> Any:
        key = (function, data_dir(), given, *named.items())
        if key not in _FOUND:
            outside = _READ.set(read := set())
            try:
                _FOUND[key] = function(*given, **named), read
            finally:
                _READ.reset(outside)
                _READ.get().update(read)
        value, read = _FOUND[key]
        _READ.get().update(read)
        return value.copy() if isinstance(value, pd.DataFrame) else value

    return look


@dataclass(frozen=True)
class Accelerator:
    """One chip as its datasheet and its buyers know it; SI units, per chip, one direction.

    dense : dense FLOP/s (OP/s for integers) by precision, FP32 accumulate.
    measured : best measured matmul FLOP/s by precision, where someone published one.
    server_watts : most that the vendor's own server draws, over its chips.
    scale_up_chips : chips that one fast fabric joins, this one included.
    scale_up_pair_bytes_per_s : what that fabric carries between one pair of chips, where no switch
        lends a pair all links.
    compute_units : units that work on tiles of a matrix product side by side (SMs, CUs).
    exponentials_per_s : exponentials of the special function units, which bound softmax.
    busy_watts : (low, mean, high) that it draws at work, where its vendor published what it
        measured.
    purchase_usd : (low, high) price of one accelerator, or None where it is not sold.
    """

    name: str
    vendor: str
    kind: str
    segment: str
    form: str | None
    status: str
    released: date | None
    memory_bytes: float | None
    memory_bytes_per_s: float | None
    tdp_watts: float | None
    idle_watts: float | None
    server_watts: float | None
    busy_watts: tuple[float, float, float] | None
    scale_up_bytes_per_s: float | None
    scale_up_chips: float | None
    scale_out_bytes_per_s: float | None
    scale_up_pair_bytes_per_s: float | None
    compute_units: float | None
    exponentials_per_s: float | None
    purchase_usd: tuple[float, float] | None
    dense: Mapping[str, float] = field(repr=False)
    measured: Mapping[str, float] = field(repr=False)

    def peak_flops(self, precision: str = "bf16") -> float:
        """Dense peak at a precision; a chip without it is refused with what it has.

        Raises
        ------
        LookupError : the chip has no such precision.
        """
        return self.dense[one_of(precision, self.dense, f"precision of {self.name}")]

    def require(self, quantity: str) -> float:
        """A quantity that a calculation cannot do without.

        Raises
        ------
        DataError : the catalog has no such figure for this chip.
        """
        value = getattr(self, quantity)
        if value is None:
            raise DataError(f"the catalog has no {quantity} for {self.name}")
        return value

    @property
    def purchase_mid_usd(self) -> float:
        """Geometric middle of the purchase price range, the fair middle of a ratio scale."""
        low, high = self.require("purchase_usd")
        return (low * high) ** 0.5


def _by_precision(spec: Mapping[str, float], pattern: str) -> Mapping[str, float]:
    """The figures whose name fits a pattern with one group, by what the group matches."""
    found = ((re.fullmatch(pattern, quantity), value) for quantity, value in spec.items())
    return MappingProxyType({match[1]: value for match, value in found if match})


@functools.cache
def _accelerators(folder: Path) -> dict[str, Accelerator]:
    facts = pd.concat(
        [_read(folder, "accelerator_specs"), _read(folder, "accelerator_specs_stas")],
        ignore_index=True,
    )
    specs = {
        name: dict(zip(rows["quantity"], rows["value"], strict=True))
        for name, rows in facts.groupby("accelerator")
    }
    chips = {}
    for row in _read(folder, "accelerators").itertuples():
        spec = specs.get(row.name, {})
        bounds = [spec[k] for k in ("purchase_low_usd", "purchase_high_usd") if k in spec]
        busy = (
            tuple(spec[f"busy_{end}watts"] for end in ("low_", "", "high_"))
            if "busy_watts" in spec
            else None
        )
        about = {
            "name": row.name,
            "vendor": row.vendor,
            "kind": row.kind,
            "segment": row.segment,
            "status": row.status,
            "form": None if pd.isna(row.form) else row.form,
            "released": None if pd.isna(row.released) else row.released.date(),
            "purchase_usd": (min(bounds), max(bounds)) if bounds else None,
            "busy_watts": busy,
            "dense": _by_precision(spec, "dense_(.+)_(?:flops|ops)"),
            "measured": _by_precision(spec, "measured_(.+)_matmul_flops"),
        }
        chips[row.name] = Accelerator(
            **{quantity.name: spec.get(quantity.name) for quantity in fields(Accelerator)} | about
        )
    return chips


def _lookup(name: str, known: Mapping[str, Any], rows: pd.DataFrame, what: str) -> Any:
    if name in known:
        return known[name]
    spoken = {n: n for n in known}
    for row in rows[rows["aliases"].notna()].itertuples():
        for alias in row.aliases.split(";"):
            spoken.setdefault(alias.strip(), row.name)
    folded = {alias.casefold(): key for alias, key in spoken.items()}
    key = folded.get(str(name).strip().casefold())
    return known[key] if key else nearest(name, spoken, what)


def accelerators() -> dict[str, Accelerator]:
    """Every accelerator of the catalog by name, in the table's order."""
    for name in ("accelerators", "accelerator_specs", "accelerator_specs_stas"):
        _noted(name)
    return dict(_accelerators(data_dir()))


def accelerator(name: str) -> Accelerator:
    """An accelerator by name or alias, upper or lower case.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> accelerator("h100").name
    'H100 SXM'
    """
    return _lookup(name, accelerators(), _read(data_dir(), "accelerators"), "accelerator")


@functools.cache
def _models(folder: Path) -> dict[str, Transformer]:
    rows = _read(folder, "models")[list(SHAPE_FIELDS)].to_dict("records")
    return {
        row["name"]: Transformer(
            **{field: value for field, value in row.items() if not pd.isna(value)}
        )
        for row in rows
    }


def models() -> dict[str, Transformer]:
    """Every model architecture of the catalog by name, in the table's order."""
    _noted("models")
    return dict(_models(data_dir()))


def model(name: str) -> Transformer:
    """A model architecture by name or alias, upper or lower case.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> model("gpt-3 175b").layers
    96
    """
    return _lookup(name, models(), _read(data_dir(), "models"), "model")


def fact(name: str) -> float:
    """A single figure of the table of reference facts, in the unit that its row states.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> fact("gpt3_prompt_tokens")
    1024.0
    """
    facts = _noted("reference_facts").set_index("fact")["value"]
    return (
        float(facts[name]) if name in facts.index else nearest(name, facts.index, "reference fact")
    )


@remembered
def fitted(name: str) -> Mapping[tuple[str, str], tuple[float, float, float]]:
    """Value, low and high of every row of a table of fitted constants, by family and constant.

    >>> fitted("training_constants")["any", "host"]
    (1.0, 1.0, 1.0)
    """
    return {
        (row.family, row.constant): (row.value, row.low, row.high)
        for row in table(name).itertuples()
    }


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
    table = f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="sr-table">{table}</div>'


class DataRecord:
    """Source, licence and date of the tables a chapter has read; the press learns from it what to
    watch.
    """

    def __init__(self, names: Iterable[str]):
        self.names = sorted(names)

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
                    "licence": ", ".join(licence["name"] for licence in entry["licenses"]),
                    "as of": entry["as_of"],
                    "stale after [days]": entry["stale_after_days"],
                }
            )
        return pd.DataFrame(rows)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        frame = self.frame()
        html = html_table("Data record", frame, below="sources")
        record = {
            "tables": self.names,
            "dates": {name: {key: resource(name)[key] for key in DATED} for name in self.names},
        }
        return {TABLES_MIME: record, "text/html": html, "text/plain": frame.to_string(index=False)}


def data_record() -> DataRecord:
    """The record of every table read so far in this process: the last cell of a chapter."""
    return DataRecord(_READ.get())
