"""Predicted against measured: every kind of evidence, one report.

A kind names a table of `data/measured/`, how to predict its rows from their configuration alone, and the dumbest
honest baseline beside it. `validate` hands out the rows with their signed errors and what sums them up. A row whose
configuration cannot determine the answer is shown and not scored; a stated rule decides, never a list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS, Transformer, stacked
from scaleright.market import matmul_chips
from scaleright.names import nearest
from scaleright.transformer import bytes_per_parameter, counts, decode_step, rule_of_thumb_parameters
from scaleright.units import significant

_SHAPE_TYPES = {name: "boolean" if kind == "bool" else "integer" for name, kind in Transformer.__annotations__.items() if name != "name"}


@dataclass(frozen=True)
class Kind:
    """How one kind of measurement is read and predicted.

    table : its table of the data package
    required : columns that a reader's file needs; others of the schema may be left out
    judge : adds family, predicted, baseline, scored, within_rounding to the rows, given the model of each row
    baseline, rule : what the baseline is and which rows are scored, in words
    fitted_constants : constants fitted to measurements
    """

    table: str
    required: tuple[str, ...]
    judge: Callable[[pd.DataFrame, list[Transformer]], pd.DataFrame]
    baseline: str
    rule: str
    fitted_constants: int = 0


@dataclass(frozen=True)
class Summary:
    """Errors of the scored rows, in percent: median and 90th percentile of the absolute, mean of the signed."""

    rows: int
    median_absolute_percent: float
    p90_absolute_percent: float
    bias_percent: float
    within_rounding: int
    baseline_median_absolute_percent: float
    baseline_p90_absolute_percent: float


def summarize(rows: pd.DataFrame) -> Summary:
    """Sum up the scored rows of a judged table.

    >>> rows = pd.DataFrame({"scored": True, "error_percent": [1.0, -3.0], "baseline_error_percent": [9.0, 11.0],
    ...                      "within_rounding": [True, False]})
    >>> summarize(rows).median_absolute_percent, summarize(rows).bias_percent
    (2.0, -1.0)
    """
    scored = rows[rows["scored"]]
    size = scored[["error_percent", "baseline_error_percent"]].abs().astype(float)
    (median, baseline_median), (p90, baseline_p90) = size.quantile([0.5, 0.9]).to_numpy().tolist()
    return Summary(
        rows=len(scored),
        median_absolute_percent=median,
        p90_absolute_percent=p90,
        bias_percent=float(scored["error_percent"].mean()),
        within_rounding=int(scored["within_rounding"].sum()),
        baseline_median_absolute_percent=baseline_median,
        baseline_p90_absolute_percent=baseline_p90,
    )


def _plain(value: Any) -> Any:
    return None if pd.isna(value) else round(value, 6) if isinstance(value, float) else value


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{name: _plain(value) for name, value in row.items()} for row in frame.astype(object).to_dict("records")]


@dataclass(frozen=True)
class Validation:
    """A judged table: one row a measurement, with the rule by which rows were scored."""

    kind: str
    definition: Kind
    rows: pd.DataFrame

    @property
    def summary(self) -> Summary:
        """Errors over all scored rows."""
        return summarize(self.rows)

    def by(self, column: str) -> pd.DataFrame:
        """Errors of the scored rows by source, family or any other column, most rows first."""
        if column not in self.rows:
            nearest(column, self.rows.columns, "column")
        groups = {key: vars(summarize(group)) for key, group in self.rows[self.rows["scored"]].groupby(column)}
        return pd.DataFrame.from_dict(groups, orient="index").rename_axis(column).sort_values("rows", ascending=False, kind="stable")

    def to_json(self) -> str:
        """Everything as JSON: summary, groups and rows; numbers rounded to what a reader can use, the bytes stable."""
        document = {
            "kind": self.kind,
            "rule": self.definition.rule,
            "baseline": self.definition.baseline,
            "fitted_constants": self.definition.fitted_constants,
            "summary": {name: _plain(value) for name, value in vars(self.summary).items()},
            "by_source": _records(self.by("source").reset_index()),
            "by_family": _records(self.by("family").reset_index()),
            "rows": _records(self.rows),
        }
        return json.dumps(document, indent=1, ensure_ascii=False)

    def to_text(self, worst: int = 12) -> str:
        """The report for a terminal: summary, baseline, families, the rows furthest off, the rows not scored."""
        s, of, scored, apart = self.summary, self.definition, self.rows[self.rows["scored"]], self.rows[~self.rows["scored"]]
        lines = [
            f"{self.kind}: {s.rows} rows scored, {len(apart)} shown and not scored; fitted constants: {of.fitted_constants}",
            f"  absolute error: median {s.median_absolute_percent:.3f} %, p90 {s.p90_absolute_percent:.2f} %; "
            f"bias {s.bias_percent:+.2f} %; {s.within_rounding} within the rounding of the published digits",
            f"  baseline ({of.baseline}): median {s.baseline_median_absolute_percent:.1f} %, p90 {s.baseline_p90_absolute_percent:.1f} %",
            f"  rule: {of.rule}",
        ]
        if s.rows:
            lines += ["", f"  {'family':<14}{'rows':>5}{'median %':>10}{'p90 %':>8}{'bias %':>8}"]
            lines += [
                f"  {g.family:<14}{g.rows:>5}{g.median_absolute_percent:>10.3f}{g.p90_absolute_percent:>8.2f}{g.bias_percent:>8.2f}"
                for g in self.by("family").reset_index().itertuples()
            ]
            furthest = scored.sort_values("error_percent", key=abs, ascending=False, kind="stable").head(worst).itertuples()
            lines += ["", f"  furthest off of {s.rows} (published, predicted to the same digits):", *map(self._line, furthest)]
        if len(apart):
            lines += ["", "  not scored:", *(f"{self._line(row)}  ({row.scope})" for row in apart.itertuples())]
        return "\n".join(lines)

    def _line(self, row) -> str:
        published, predicted = (significant(value, int(row.digits)) for value in (row.published, row.predicted))
        return f"  {row.model:<24}{row.quantity:<36}{published:>20}{predicted:>20}{row.error_percent:>+9.3f} %  [{row.source}]"


def _counts(rows: pd.DataFrame, models: list[Transformer]) -> pd.DataFrame:
    counted = counts(models)
    predicted = np.array([counted[quantity].iloc[i] for i, quantity in enumerate(rows["quantity"])], dtype=float)
    published = rows["published"].to_numpy(dtype=float)
    digits = rows["digits"].to_numpy(dtype=float)
    half_unit = 0.5 * 10.0 ** (np.floor(np.log10(published)) - digits + 1)
    rough = np.array([float(rule_of_thumb_parameters(m.layers, m.hidden)) for m in models])
    return rows.assign(
        predicted=predicted,
        error_percent=100 * (predicted / published - 1),
        within_rounding=np.abs(predicted - published) <= half_unit,
        baseline_error_percent=100 * (rough / published - 1),
        scored=(rows["scope"] == "language model").to_numpy(),
    )


KINDS: dict[str, Kind] = {
    "counts": Kind(
        table="measured/counts",
        required=("model", "quantity", "published"),
        judge=_counts,
        baseline="12 L h^2",
        rule="a row is scored if its publication counts the language model alone (scope `language model`): "
        "a shape says nothing about a vision encoder or a module for multi-token prediction",
    ),
}


def validate(kind: str, file: str | Path | None = None) -> Validation:
    """Predict every row of a kind of measurement from its configuration alone and compare.

    Parameters
    ----------
    kind : "counts" (published parameter counts)
    file : a CSV file of the same schema instead of the book's table. Columns that are not required may be left out; a
        model that the catalog does not know may be given by the columns of `Transformer` instead.

    Raises
    ------
    LookupError : unknown kind, or a kind without a predictor; unknown model (line and nearest name).
    DataError : the file does not fit the schema: which line, which column, what is allowed.

    >>> validate("counts").summary.median_absolute_percent < 0.2
    True
    >>> validate("training")
    Traceback (most recent call last):
    LookupError: validate: nothing predicts 'training' in this version; kinds that work: counts (schema: data/measured/training.csv)
    """
    if kind not in KINDS:
        tables = [path.stem for path in sorted((catalog.data_dir() / "measured").glob("*.csv"))]
        if kind in tables:
            works = f"kinds that work: {', '.join(KINDS)} (schema: data/measured/{kind}.csv)"
            raise LookupError(f"validate: nothing predicts {kind!r} in this version; {works}")
        nearest(kind, KINDS, "kind of measurement")
    definition = KINDS[kind]
    rows = catalog.table(definition.table) if file is None else _own_rows(Path(file), definition)
    label = definition.table if file is None else Path(file).name
    models = [_model(row, f"{label}, line {i + 2}") for i, row in enumerate(rows.to_dict("records"))]
    families = dict(zip(*(catalog.table("models")[c] for c in ("name", "family"))))
    rows = rows.drop(columns=[c for c in rows if c in _SHAPE_TYPES])
    judged = definition.judge(rows.assign(family=[families.get(m.name, "given by shape") for m in models]), models)
    return Validation(kind, definition, judged)


def _own_rows(path: Path, definition: Kind) -> pd.DataFrame:
    """A reader's file, typed and checked against the kind's schema, with shape columns allowed."""
    schema = {field["name"]: field for field in catalog.resource(definition.table)["schema"]["fields"]}
    known = schema | {name: {"name": name, "type": kind} for name, kind in _SHAPE_TYPES.items()}
    try:
        header = list(pd.read_csv(path, nrows=0).columns)
    except FileNotFoundError:
        raise catalog.DataError(f"{path.name}: no such file") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise catalog.DataError(f"{path.name}: not a CSV file: {str(error).strip()}") from None
    for column in header:
        if column not in known:
            nearest(column, known, f"column of {path.name}")
    if missing := [c for c in definition.required if c not in header]:
        raise catalog.DataError(f"{path.name}: column {missing[0]} is missing; needed: {', '.join(definition.required)}")
    rows = catalog.read_csv(path, {"fields": [known[column] for column in header]}, path.name)
    if rows.empty:
        raise catalog.DataError(f"{path.name}: has a header and no row to validate")
    for column in header:
        _check(rows[column], known[column].get("constraints", {}), path.name, column)
    printed = rows["published"].map(lambda value: len(str(value).rstrip("0")))
    optional = {"digits": printed, "scope": "language model", "source": path.name, "note": None}
    return rows.assign(**{column: value for column, value in optional.items() if column not in rows})


def _check(column: pd.Series, constraints: dict, label: str, name: str) -> None:
    for index, value in column.dropna().items():
        where = f"{label}, line {index + 2}, column {name}"
        if "enum" in constraints and value not in constraints["enum"]:
            nearest(value, constraints["enum"], f"value in {where}")
        if "minimum" in constraints and value < constraints["minimum"]:
            raise catalog.DataError(f"{where}: {value} is below {constraints['minimum']}")
        if "maximum" in constraints and value > constraints["maximum"]:
            raise catalog.DataError(f"{where}: {value} is above {constraints['maximum']}")


def _model(row: dict, where: str) -> Transformer:
    """The model of a row: by its shape columns if they are filled, else by name."""
    shape = {c: row[c] for c in SHAPE_FIELDS[1:] if c in row and not pd.isna(row[c])}
    try:
        return Transformer(name=row["model"], **shape) if shape else catalog.model(row["model"])
    except LookupError as error:
        raise LookupError(f"{where}: {error}; or give its shape in columns layers, hidden, heads, ...") from None
    except (TypeError, ValueError) as error:
        raise catalog.DataError(f"{where}: shape of {row['model']!r}: {str(error).removeprefix('Transformer.__init__() ')}") from None


def decode_floor(measured: pd.DataFrame) -> pd.DataFrame:
    """Measured decode steps beside their roofline floor, from each row's own configuration.

    Arithmetic runs at the chip's best measured share of its peak in the format of the weights, memory at the share of
    the datasheet bandwidth that kernels reach (`market.matmul_chips`, reference fact `memory_bandwidth_efficiency`).

    Parameters
    ----------
    measured : rows of `measured/energy` with a batch and a time between tokens

    Returns
    -------
    the rows with `predicted` [s] and `ratio`, measured over predicted. Where the prompt length is not stated the
    floor counts the cache of half the answer alone. Rows whose batch is spread over copies of the model
    (attention data parallel) are left out, since the batch of one copy is not stated.

    >>> bool((decode_floor(catalog.table("measured/energy")).ratio > 0.9).all())
    True
    """
    rows = measured[measured["measured_itl_s"].notna() & measured["batch"].notna() & (measured["data_parallel"] == 1)].copy()
    known = matmul_chips()
    chips = pd.DataFrame([known[name] for name in rows["accelerator"]])
    given = {name: rows[name].to_numpy(float, na_value=np.nan) for name in ("input_tokens", "output_tokens", "batch", "accelerators")}
    step = decode_step(
        stacked(catalog.model(name) for name in rows["model"]),
        context=np.maximum(np.nan_to_num(given["input_tokens"]) + given["output_tokens"] / 2, 1.0),
        batch=given["batch"],
        precision=np.array([bytes_per_parameter(name) for name in rows["precision"]]),
        accelerators=given["accelerators"],
        peak_flops=np.where(rows["precision"] == "FP8", chips["fp8_flops"], chips["bf16_flops"]),
        bytes_per_s=chips["memory_bytes_per_s"].to_numpy(),
        compute_efficiency=chips["compute_efficiency"].to_numpy(),
        bandwidth_efficiency=catalog.fact("memory_bandwidth_efficiency"),
    )
    return rows.assign(predicted=step.seconds, ratio=rows["measured_itl_s"] / step.seconds)
