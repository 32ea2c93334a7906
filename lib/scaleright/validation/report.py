"""Predicted against measured: what one kind of evidence is, and its report.

A kind names a table of `data/measured/`, how to predict its rows from their configuration alone,
and the dumbest honest baseline beside it. A row whose configuration cannot determine the answer is
shown and not scored; a stated rule decides, never a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from scaleright import catalog
from scaleright.catalog import DataError
from scaleright.names import one_of
from scaleright.order import noiseless

# What is wrong with a reader's file: all of it at once, each with its line and column


MOST_SHOWN = 20
"""Problems that are printed; the rest are counted."""
FIRST_LINE = 2
"""Line of the first row, below the header."""
LONG = 2_000
"""Rows that take long enough for a bar."""


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, on a line, in a column or in the row as a whole."""

    line: int
    column: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}{f', column {self.column}' if self.column else ''}: {self.message}"


def refuse(label: str, problems: Iterable[Problem]) -> None:
    """Raise DataError with what is wrong with a file, in the order of its lines, if anything is.

    >>> refuse("mine.csv", [Problem(3, "batch", "0 is below 1"), Problem(2, "", "repeats line 5")])
    Traceback (most recent call last):
    scaleright.catalog.package.DataError: mine.csv, line 2: repeats line 5
    mine.csv, line 3, column batch: 0 is below 1
    """
    found = sorted(set(problems))
    if not found:
        return
    said = [f"{label}, {problem}" for problem in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        lines = len({problem.line for problem in found})
        said.append(
            f"{label}: {len(found):,} problems on {lines:,} lines; the first {MOST_SHOWN} are above"
        )
    raise DataError("\n".join(said))


def bar(items: Sequence[Any], what: str) -> Iterable[Any]:
    """Long work with a bar on stderr, where that is a terminal."""
    if len(items) <= LONG:
        return items
    from tqdm import tqdm

    return tqdm(items, what, unit=" rows", leave=False, disable=None)


def each(
    rows: pd.DataFrame,
    columns: Iterable[str],
    check: Callable[[dict[str, Any]], Any],
    column: str = "",
) -> Iterator[Problem]:
    """The problems that a check of a row raises, asked once for all rows that have these columns in
    common.

    column : where they stand, if not in the row as a whole
    """
    known = [column for column in columns if column in rows]
    if not known or rows.empty:
        return
    places, _ = pd.factorize(pd.MultiIndex.from_frame(rows[known].astype(str)))
    found: dict[int, str] = {}
    once = pd.Series(places).drop_duplicates().index
    records = rows.iloc[once].to_dict("records")
    for place, row in enumerate(bar(records, "checking")):
        try:
            check(row)
        except (KeyError, IndexError):
            raise  # bugs, not wrong input
        except (ValueError, LookupError) as error:
            found[place] = str(error)
    for line, place in enumerate(places):
        if place in found:
            yield Problem(int(rows.index[line]) + FIRST_LINE, column, found[place])


def where(rows: pd.DataFrame, bad: pd.Series, column: str, say: Callable[[Any], str]):
    """A problem for each row in which a condition holds; `say` gets the row as a named tuple."""
    holds = bad.fillna(False).to_numpy(bool)
    for row in rows[holds].itertuples() if holds.any() else ():
        yield Problem(row.Index + FIRST_LINE, column, say(row))


def fitted_constants(*tables: str) -> int:
    """How many constants of some tables are fitted to measurements."""
    return sum(int((catalog.table(name)["basis"] == "fit").sum()) for name in tables)


@dataclass(frozen=True)
class Kind:
    """How one kind of measurement is read, predicted and printed.

    table : its table of the data package
    required : columns that a reader's file needs; others of the schema may be left out
    often : of those, the ones that a file should have where they are known
    also : columns that a reader's file may have beyond the schema, with their types
    fill : what stands in columns that a reader's file left out, or what finds it in the file's rows
    judge : turns rows of the table (and the words for where they stand) into judged ones: the
        group, predicted, error_percent, baseline_error_percent, scored, and within_rounding or
        within_range
    columns : those by which a line names a judged row, with their widths
    figure : writes its published and predicted figures; why : says why one is not scored
    shows : what these figures are
    group : column by which errors are summed up, beside the source
    baseline, rule, caveat : what the baseline is, which rows are scored, and what to keep in mind,
        in words
    fitted : the table of its constants, if any are fitted to measurements
    check : yields what is wrong with rows of a reader's file whose cells are sound by themselves
    tables : further tables of judged rows by their titles, for the report
    """

    table: str
    required: tuple[str, ...]
    fill: Mapping[str, Any]
    judge: Callable[[pd.DataFrame, str], pd.DataFrame]
    columns: Mapping[str, int]
    figure: Callable[[Any, float], str]
    shows: str
    baseline: str
    rule: str
    caveat: str = ""
    often: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    why: Callable[[Any], str] = lambda row: row.why
    group: str = "family"
    fitted: str = ""
    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]] = lambda rows: {}
    check: Callable[[pd.DataFrame], Iterable[Problem]] = lambda rows: ()

    @property
    def constants(self) -> int:
        """How many constants were fitted to measurements."""
        return fitted_constants(self.fitted) if self.fitted else 0


WITHIN = {
    "within_rounding": "within the rounding of the published digits",
    "within_range": "within the predicted range",
}
"""What a kind may know of a figure beside its error: whether the prediction meets it as closely as
either is stated.
"""


@dataclass(frozen=True)
class Summary:
    """Errors of the scored rows, in percent: median and 90th percentile of the absolute, mean of
    the signed; of the predicted range, how often it holds and its median width over the predicted.
    """

    rows: int
    median_absolute_percent: float
    p90_absolute_percent: float
    bias_percent: float
    within_rounding: int | None
    within_range: int | None
    baseline_median_absolute_percent: float
    baseline_p90_absolute_percent: float
    coverage_percent: float | None = None
    median_width_percent: float | None = None

    def known(self) -> dict[str, Any]:
        """The figures by name, without those that the kind does not know."""
        return {name: value for name, value in vars(self).items() if value is not None}


def summarize(rows: pd.DataFrame) -> Summary:
    """Sum up the scored rows of a judged table.

    >>> rows = pd.DataFrame({"scored": True, "error_percent": [1.0, -3.0],
    ...     "baseline_error_percent": [9.0, 11.0],
    ...                      "within_rounding": [True, False]})
    >>> summarize(rows).median_absolute_percent, summarize(rows).bias_percent
    (2.0, -1.0)
    """
    scored = rows[rows["scored"]]
    size = scored[["error_percent", "baseline_error_percent"]].abs().astype(float)
    (median, baseline_median), (p90, baseline_p90) = size.quantile([0.5, 0.9]).to_numpy().tolist()
    ranged: dict[str, Any] = {}
    if "width_percent" in scored:
        ranged["coverage_percent"] = 100 * float(scored["within_range"].mean())
        ranged["median_width_percent"] = float(scored["width_percent"].median())
    return Summary(
        rows=len(scored),
        median_absolute_percent=median,
        p90_absolute_percent=p90,
        bias_percent=float(scored["error_percent"].mean()),
        **{name: int(scored[name].sum()) if name in scored else None for name in WITHIN},
        baseline_median_absolute_percent=baseline_median,
        baseline_p90_absolute_percent=baseline_p90,
        **ranged,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, pd.Timestamp):
        value = value.date().isoformat()
    return None if pd.isna(value) else round(value, 6) if isinstance(value, float) else value


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


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
        one_of(column, self.rows.columns, "column")
        groups = {
            key: summarize(group).known()
            for key, group in self.rows[self.rows["scored"]].groupby(column)
        }
        return (
            pd.DataFrame.from_dict(groups, orient="index")
            .rename_axis(column)
            .sort_values("rows", ascending=False, kind="stable")
        )

    def to_json(self) -> str:
        """Everything as JSON: summary, groups and rows; numbers rounded to what a reader can use,
        the bytes stable.
        """
        document = {
            "kind": self.kind,
            "rule": self.definition.rule,
            **({"caveat": self.definition.caveat} if self.definition.caveat else {}),
            "baseline": self.definition.baseline,
            "fitted_constants": self.definition.constants,
            "summary": {name: _plain(value) for name, value in self.summary.known().items()},
            "by_source": _records(self.by("source").reset_index()),
            f"by_{self.definition.group}": _records(self.by(self.definition.group).reset_index()),
            "tables": {
                title: _records(frame.reset_index())
                for title, frame in self.definition.tables(self.rows).items()
            },
            "rows": _records(self.rows),
        }
        return json.dumps(document, indent=1, ensure_ascii=False)

    def to_text(self, worst: int = 12) -> str:
        """The report for a terminal: summary, baseline, families, the rows furthest off, the rows
        not scored.
        """
        s, of, judged = self.summary, self.definition, self.rows["scored"]
        scored, apart = self.rows[judged], self.rows[~judged]
        lines = [
            (
                f"{self.kind}: {s.rows} rows scored, {len(apart)} shown and not scored; fitted"
                f" constants: {of.constants}"
            ),
            *(
                self._errors()
                if s.rows
                else ["  no row determines its answer, so that there is no error to sum up"]
            ),
            f"  rule: {of.rule}",
            *([f"  caveat: {of.caveat}"] if of.caveat else []),
        ]
        if s.rows:
            lines += ["", f"  {of.group:<14}{'rows':>5}{'median %':>10}{'p90 %':>8}{'bias %':>8}"]
            lines += [
                f"  {g.Index:<14}{g.rows:>5}{g.median_absolute_percent:>10.3f}"
                f"{g.p90_absolute_percent:>8.2f}{g.bias_percent:>8.2f}"
                for g in self.by(of.group).itertuples()
            ]
            for title, frame in of.tables(self.rows).items():
                said = (f"  {line}" for line in frame.to_string().splitlines())
                lines += ["", f"  {title}", *said]
            order = (-noiseless(scored["error_percent"].abs())).argsort(kind="stable")
            furthest = scored.iloc[order[:worst]].itertuples()
            lines += ["", f"  furthest off of {s.rows} ({of.shows}):", *map(self._line, furthest)]
        if len(apart):
            lines += [
                "",
                "  not scored:",
                *(f"{self._line(row)}  ({of.why(row)})" for row in apart.itertuples()),
            ]
        return "\n".join(lines)

    def _errors(self) -> list[str]:
        """The summary and the baseline, as lines."""
        s, of = self.summary, self.definition
        met = ", ".join(
            f"{s.known()[name]} {words}" for name, words in WITHIN.items() if name in s.known()
        )
        if s.median_width_percent is not None:
            met += (
                f" ({s.coverage_percent:.1f} %), whose median width is"
                f" {s.median_width_percent:.0f} %"
            )
        return [
            (
                f"  absolute error: median {s.median_absolute_percent:.3f} %, p90"
                f" {s.p90_absolute_percent:.2f} %; bias {s.bias_percent:+.2f} %{met and f'; {met}'}"
            ),
            (
                f"  baseline ({of.baseline}): median {s.baseline_median_absolute_percent:.1f} %,"
                f" p90 {s.baseline_p90_absolute_percent:.1f} %"
            ),
        ]

    def _line(self, row) -> str:
        of = self.definition
        names = "".join(
            f"{getattr(row, name):<{width}.{width}} " for name, width in of.columns.items()
        )
        figures = (
            unknown if pd.isna(at) else of.figure(row, at)
            for at, unknown in ((row.published, ""), (row.predicted, "not predicted"))
        )
        error = "" if pd.isna(row.error_percent) else f"{row.error_percent:+.3f} %"
        return f"  {names}{'{:>14} {:>14}'.format(*figures)}{error:>12}  [{row.source}]"


def judged(kind: Kind) -> Validation:
    """The book's own table of a kind, its rows predicted and compared."""
    return Validation(kind.table.rpartition("/")[2], kind, _judged(kind.judge, kind.table))


@catalog.shared
def _judged(judge: Callable[[pd.DataFrame, str], pd.DataFrame], table: str) -> pd.DataFrame:
    return judge(catalog.table(table), table)
