"""Predictions by constants that were fitted without the row they predict: what judges of fitted
models share.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

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


def groups(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """What a row shares with those that are left out together with it."""
    return [
        "|".join(values)
        for values in zip(*(rows[column].astype(str).fillna("") for column in columns), strict=True)
    ]


def left_out(
    of: Sequence[Any],
    its: Sequence[str],
    book: Sequence[Any],
    books: Sequence[str],
    fit: Fit,
    predict: Callable[[Any, Constants], float],
) -> np.ndarray:
    """Each case's prediction by constants fitted to the book's cases outside its group; NaN for a
    case that is None.

    Parameters
    ----------
    of, its : cases to predict, and their groups
    book, books : cases of the book, and theirs
    predict : prediction of a case by constants
    """
    known = set(books)
    left = [
        "" if one is None or group not in known else group
        for one, group in zip(of, its, strict=True)
    ]
    distinct = np.unique(left)
    fits = dict(zip(distinct, fit(book, np.array(books) != distinct[:, None]), strict=True))
    return np.array(
        [
            math.nan if one is None else predict(one, fits[group])
            for one, group in zip(of, left, strict=True)
        ]
    )


def strangers(
    of: Sequence[Any],
    rows: pd.DataFrame,
    columns: Iterable[str],
    fit: Fit,
    predict: Callable[[Any, Constants], float],
) -> np.ndarray:
    """Each case's prediction by constants fitted only to cases that share none of these columns
    with it.
    """
    keys = rows[list(columns)].astype(str).to_numpy(str)
    distinct, places = np.unique(keys, axis=0, return_inverse=True)
    fits = fit(of, (keys != distinct[:, None]).all(axis=2))
    return np.array(
        [predict(one, fits[place]) for one, place in zip(of, places.ravel(), strict=True)]
    )


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


def constant_rows(
    of: Sequence[Any],
    rows: pd.DataFrame,
    fit: Fit,
    shows: Callable[[Any, str, str], bool],
    fixed: Iterable[str] = (),
) -> list[tuple]:
    """Rows of a table of constants: family, kind, value, lowest and highest over fits that leave
    one model out, cases that show it, basis.

    shows : whether a case shows the constant of a family and kind
    fixed : kinds that are assumed; so are constants that no case shows
    """
    models, found = np.array(groups(rows, ("model",))), []
    every, *without = fit(of, models != np.append("", np.unique(models))[:, None])
    for (name, kind), value in every.items():
        span, seen = (
            [value, *(others.get((name, kind), value) for others in without)],
            sum(shows(one, name, kind) for one in of),
        )
        found.append(
            (
                name,
                kind,
                value,
                min(span),
                max(span),
                seen,
                "fit" if seen and kind not in fixed else "assumed",
            )
        )
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
            lent = [
                end * math.exp(side * (math.sqrt(out**2 + further) - out))
                for side, end, out, further in zip(SIDES, both, _outward(both), more, strict=True)
            ]
            for suffix, span in (("", both), (", borrowed", lent)):
                rows = (name + suffix + without, "interval", middle, *span, rest.sum(), "quantile")
                found.append(rows)
    return found


def constants_table(rows: list[tuple], runs: pd.DataFrame, source: str) -> pd.DataFrame:
    """A table of constants from its rows, with how many runs of each chip were fitted."""
    counts = [
        (chip, "runs", *[count] * 4, "count")
        for chip, count in runs.groupby("accelerator").size().items()
    ]
    columns = ["family", "constant", "value", "low", "high", "rows", "basis"]
    return pd.DataFrame(rows + counts, columns=columns).assign(source=source, note="").round(4)


def with_ranges(
    judged: pd.DataFrame,
    kinds: np.ndarray,
    counted: np.ndarray,
    unseen: np.ndarray,
    interval: Callable[[int], tuple[float, float]],
) -> pd.DataFrame:
    """Judged rows with the range of each prediction, its width, and whether what was measured lies
    inside.

    Parameters
    ----------
    judged : columns published, predicted, model
    kinds : whose range a row has
    counted : rows whose ratio of published to predicted widens the range of other models
    unseen : rows that no fit sees; they get the range that a reader's run gets
    interval : that range of the row at a place
    """
    published, predicted = judged["published"], judged["predicted"]
    span = bounds(
        np.where(counted, published / predicted, math.nan), kinds, judged["model"].to_numpy(str)
    )
    for place in np.flatnonzero(unseen):
        span[place] = interval(int(place))
    low, high = (predicted * span[:, side] for side in (0, 1))
    inside = (low <= published) & (published <= high)
    return judged.assign(
        kind=kinds,
        low=low,
        high=high,
        within_range=inside,
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
    inside, width = (
        (100 * each["within_range"].mean()).round(0),
        each["width_percent"].median().round(0),
    )
    order = columns["rows"].sort_values(ascending=False, kind="stable").index
    return pd.DataFrame(columns | {"in range %": inside, "width %": width}).loc[order]
