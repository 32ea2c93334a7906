"""Cross-validation of fitted models: each measurement is predicted by constants that were fitted
without its group, and how far off that is sets the range stated for what no fit has seen.

What is cross-validated is a `Subject`; all else is the same for steps of training, for serving and
for its energy.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.pooling import Constants

COVERAGE = 0.9
"""Share of measurements that a stated range is to hold."""
TAILS = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
SIDES = -1, 1
HEARD = 30
"""Rows of a source that tell how far a prediction may be off; of more, each tells less, since rows
of one source err alike. Chosen among 1, 10, 30 and all with the share in range of the sources that
no fit sees in sight, so that this share is no blind test. Weights by the correlation of the errors
of a source (a design effect, nothing chosen) hold as many: 87.2 against 87.5 % of steps, 88.2
against 88.1 % of serving; but the one source whose chips were short of power then sets the end of a
dense step (2.75 in place of 1.45).
"""

Fit = Callable[[Sequence[Any], np.ndarray], list[Constants]]
"""Constants of cases: a fit for each row of (fits, cases), to the cases that are true there."""


class Book(NamedTuple):
    """The book's measurements: as rows, as cases, and which of them take part in fits."""

    rows: pd.DataFrame
    cases: list[Any]
    fitted: np.ndarray

    def fits(self) -> tuple[list[Any], pd.DataFrame]:
        """The cases that take part in fits, and their rows."""
        return [*compress(self.cases, self.fitted)], self.rows[self.fitted]


@dataclass(frozen=True)
class Subject:
    """What one kind of fitted model is cross-validated on.

    book : its measurements
    modes : what a group shares that is left out of the fit when one of its cases is predicted, by
        the words for it; the first, without words, is the headline
    fit : constants of cases
    predict : a case's prediction by constants
    value : what a case measured, in the unit of its prediction
    kind : whose range a case has; empty where it has none
    interval : bounds of measured over predicted [1] of a case that no fit sees, of it and its row
    alone : whether nothing is pooled from other families for such a case, of it and its row
    table, source : of its constants, as they are stored
    fixed : kinds of constants that are assumed
    """

    book: Callable[[], Book]
    modes: Mapping[str, tuple[str, ...]]
    fit: Fit
    predict: Callable[[Any, Constants], float]
    value: Callable[[Any], float]
    kind: Callable[[Any], str]
    interval: Callable[[Any, Mapping[str, Any]], tuple[float, float]]
    table: str
    source: str
    alone: Callable[[Any, Mapping[str, Any]], bool] = lambda one, row: False
    fixed: tuple[str, ...] = ()

    def whole_fit(self, of: Sequence[Any]) -> Constants:
        """The constants fitted to all of these cases."""
        return self.fit(of, np.ones((1, len(of)), bool))[0]

    def stored(self, of: Sequence[Any]) -> np.ndarray:
        """Each case's prediction by the stored constants; NaN for a case that is None."""
        by = {key: value for key, (value, _, _) in catalog.fitted(self.table).items()}
        return np.array([math.nan if one is None else self.predict(one, by) for one in of])


def groups(rows: pd.DataFrame, columns: Iterable[str]) -> np.ndarray:
    """What a row shares with those that are left out together with it."""
    texts = (rows[column].astype(str).fillna("") for column in columns)
    return np.array(["|".join(values) for values in zip(*texts, strict=True)], str)


def leave_group_out(
    subject: Subject,
    of: Sequence[Any],
    rows: pd.DataFrame,
    columns: Sequence[str],
    apart: bool = False,
) -> np.ndarray:
    """Each case's prediction by constants fitted to the book's cases outside its group; NaN for a
    case that is None.

    Parameters
    ----------
    of, rows : cases to predict, and their rows
    columns : what the cases of a group share: all of these, or, `apart`, any of them
    """
    book, table = subject.book().fits()
    each = [[column] for column in columns] if apart else [columns]
    its, books = (np.stack([groups(at, by) for by in each], 1) for at in (rows, table))
    known = np.array([one is not None for one in of]) & np.isin(its, books).all(axis=1)
    distinct, places = np.unique(np.where(known[:, None], its, ""), axis=0, return_inverse=True)
    fits = subject.fit(book, (books != distinct[:, None]).all(axis=2))
    return np.array(
        [
            math.nan if one is None else subject.predict(one, fits[place])
            for one, place in zip(of, places.ravel(), strict=True)
        ]
    )


def cross_validated(
    subject: Subject,
    judged: pd.DataFrame,
    of: Sequence[Any],
    own: bool,
    predictions: Callable[[Sequence[str]], Mapping[str, np.ndarray]],
    **further: Any,
) -> pd.DataFrame:
    """Rows with their predictions, the errors of these by mode [%], and their ranges.

    Parameters
    ----------
    judged : the rows, with published and scored
    of : the same as cases
    own : whether they are a reader's, of which no fit sees any
    predictions : predictions without what these columns say, by what heads their errors
    further : columns that stand behind the errors
    """
    published = judged["published"].to_numpy(float)
    judged = judged.copy()
    for mode, columns in subject.modes.items():
        for what, found in predictions(columns).items():
            if not (what or mode):
                judged["predicted"] = found
            off = 100 * (found / published - 1)
            judged[f"{what}error_percent{f' {mode} left out' if mode else ''}"] = off
    return _with_ranges(subject, judged.assign(**further), of, own | held_out(judged))


def bounds(ratios: np.ndarray, kinds: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Bounds of measured over predicted value of each case, from the cases of its kind of other
    models, (cases, 2).
    """
    found = np.full((len(ratios), 2), math.nan)
    for model, kind in set(zip(models, kinds, strict=True)):
        others = ratios[(kinds == kind) & (models != model) & np.isfinite(ratios)]
        if len(others) > 10:
            found[(models == model) & (kinds == kind)] = np.quantile(others, TAILS)
    return found


def held_out(rows: pd.DataFrame) -> np.ndarray:
    """Which rows no fit sees."""
    return rows["held_out"].eq(True).to_numpy(bool, na_value=False)


def median_and_p90(errors: pd.Series) -> str:
    """Two figures of the absolute errors [%] as a report prints them; a dash where there are
    none.
    """
    middle, far = errors.abs().quantile([0.5, 0.9])
    return "–" if math.isnan(middle) else f"{middle:.1f} / {far:.0f}"


def refitted(
    subject: Subject,
    shows: Callable[[Any, str, str], bool],
    near: np.ndarray,
    far: np.ndarray,
    more: Iterable[tuple] = (),
) -> pd.DataFrame:
    """The table of a subject's constants, fitted anew, with how many runs of each chip were fitted.

    shows : whether a case shows the constant of a family and kind
    near, far : predictions of the fitted cases as what is like them, and as what something is
        pooled for, is left out of the fit
    more : further rows
    """
    book = subject.book()
    of, table = book.fits()
    every, by = book.rows.to_dict("records"), subject.whole_fit(of)
    unseen = [
        at
        for at in np.flatnonzero(held_out(book.rows))
        if not (one := book.cases[at]).why and subject.kind(one) and subject.alone(one, every[at])
    ]
    beyond, measured = [book.cases[at] for at in unseen], np.array([subject.value(o) for o in of])
    rows = _constant_rows(subject, of, table, shows) + interval_rows(
        measured / near,
        measured / far,
        np.array([subject.value(one) / subject.predict(one, by) for one in beyond]),
        np.array([subject.kind(one) for one in (*of, *beyond)]),
        np.append(table["source"], book.rows["source"].iloc[unseen]).astype(str),
    )
    runs = table.groupby("accelerator").size().items()
    counts = [(chip, "runs", *[count] * 4, "count") for chip, count in runs]
    columns = ["family", "constant", "value", "low", "high", "rows", "basis"]
    found = pd.DataFrame([*rows, *more, *counts], columns=columns)
    return found.assign(source=subject.source, note="").round(4)


def _constant_rows(
    subject: Subject,
    of: Sequence[Any],
    rows: pd.DataFrame,
    shows: Callable[[Any, str, str], bool],
) -> list[tuple]:
    """Rows of a table of constants: family, kind, value, lowest and highest over fits that leave
    one model out, cases that show it, and basis: assumed, where the kind is fixed or no case shows
    the constant.
    """
    models, found = groups(rows, ("model",)), []
    every, *without = subject.fit(of, models != np.append("", np.unique(models))[:, None])
    for (name, kind), value in every.items():
        span = [value, *(others.get((name, kind), value) for others in without)]
        seen = sum(shows(one, name, kind) for one in of)
        basis = "fit" if seen and kind not in subject.fixed else "assumed"
        found.append((name, kind, value, min(span), max(span), seen, basis))
    return found


def _ends(ratios: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Median and bounds of ratios of which a source has a say for each of its rows, and at most for
    `HEARD`.
    """
    _, places, counts = np.unique(sources, return_inverse=True, return_counts=True)
    weights = (np.minimum(counts, HEARD) / counts)[places]
    return np.quantile(ratios, [0.5, *TAILS], weights=weights, method="inverted_cdf")


def _outward(ends: Iterable[float]) -> list[float]:
    """How far a low and a high end lie below and above 1, in logarithms; 0 for none."""
    return [max(side * math.log(end), 0.0) for side, end in zip(SIDES, ends, strict=True)]


def interval_rows(
    near: np.ndarray,
    far: np.ndarray,
    beyond: np.ndarray,
    kinds: np.ndarray,
    sources: np.ndarray,
) -> list[tuple]:
    """Rows of a table of constants that hold how far measured and predicted values lie apart, by
    kind of case, and ", borrowed", where something is borrowed; of all cases, and of all but those
    of each source that no fit sees, by which its own are judged.

    near, far : measured over predicted values of the fitted cases, as what is like them, and as
        what borrows, is left out of the fit; in squares of logarithms, borrowing adds what the
        second have more than the first
    beyond : those of cases that no fit sees and that borrow nothing
    kinds, sources : of the fitted cases, then of the others
    """
    found, known = [], len(near)
    ratios, unseen = np.append(near, beyond), set(sources[known:])
    for name in dict.fromkeys(sorted(kinds)):
        mine = kinds == name
        fitted = np.flatnonzero(mine[:known])
        ends = [_ends(of[fitted], sources[fitted]) for of in (near, far)]
        by = zip(*(_outward(of[1:]) for of in ends), strict=True)
        more = [max(there**2 - here**2, 0.0) for here, there in by]
        for source in ("", *sorted(unseen & set(sources[mine]))):
            rest, without = mine & (sources != source), f" without {source}" if source else ""
            middle, *both = _ends(ratios[rest], sources[rest])
            pooled = [
                end * math.exp(side * (math.sqrt(out**2 + further) - out))
                for side, end, out, further in zip(SIDES, both, _outward(both), more, strict=True)
            ]
            for suffix, span in (("", both), (", borrowed", pooled)):
                rows = (name + suffix + without, "interval", middle, *span, rest.sum(), "quantile")
                found.append(rows)
    return found


def _with_ranges(
    subject: Subject, judged: pd.DataFrame, of: Sequence[Any], unseen: np.ndarray
) -> pd.DataFrame:
    """Judged rows with the range of each prediction, its width, and whether what was measured lies
    inside: by the errors of other models, and for rows that no fit sees, by the stated interval.
    """
    published, predicted = judged["published"], judged["predicted"]
    kinds, rows = np.array([subject.kind(one) for one in of], str), judged.to_dict("records")
    counted = judged["scored"] & ~held_out(judged)
    ratios = np.where(counted, published / predicted, math.nan)
    span = bounds(ratios, kinds, judged["model"].to_numpy(str))
    for at in map(int, np.flatnonzero(unseen)):
        span[at] = subject.interval(of[at], rows[at]) if kinds[at] else (math.nan, math.nan)
    low, high = (predicted * span[:, side] for side in (0, 1))
    return judged.assign(
        kind=kinds,
        low=low,
        high=high,
        within_range=(low <= published) & (published <= high),
        width_percent=100 * (high - low) / predicted,
    )


def errors_by(rows: pd.DataFrame, key: Any, errors: Mapping[str, str]) -> pd.DataFrame:
    """Rows by group, the largest first: median and 90th percentile of the absolute errors, how
    often and how widely the range holds.

    errors : column of errors by the words that head it
    """
    each = rows.groupby(key)
    columns = {"rows": each.size()} | {
        words: each[column].agg(median_and_p90) for words, column in errors.items()
    }
    inside = (100 * each["within_range"].mean()).round(0)
    width = each["width_percent"].median().round(0)
    order = columns["rows"].sort_values(ascending=False, kind="stable").index
    return pd.DataFrame(columns | {"in range %": inside, "width %": width}).loc[order]
