"""Predictions by constants that were fitted without the row they predict: what judges of fitted models share."""

import math
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

Constants = Mapping[tuple[str, str], float]
COVERAGE = 0.9
"""Share of measurements that a stated range is to hold."""
TAILS = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]


def groups(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """What a row shares with those that are left out together with it."""
    return ["|".join(values) for values in zip(*(rows[column].astype(str).fillna("") for column in columns))]


def left_out(
    of: Sequence[Any], its: Sequence[str], book: Sequence[Any], books: Sequence[str],
    fit: Callable[[list[Any]], Constants], predict: Callable[[Any, Constants], float],
) -> np.ndarray:  # fmt: skip
    """Each case's prediction by constants fitted to the book's cases outside its group; NaN for a case that is None.

    Parameters
    ----------
    of, its : cases to predict, and their groups
    book, books : cases of the book, and theirs
    fit : constants of cases
    predict : prediction of a case by constants
    """
    known, fits = set(books), {}
    for group in dict.fromkeys(group if group in known else "" for one, group in zip(of, its) if one is not None):
        fits[group] = fit([other for other, where in zip(book, books) if where != group])
    return np.array([math.nan if one is None else predict(one, fits[group if group in known else ""]) for one, group in zip(of, its)])


def strangers(
    of: Sequence[Any], rows: pd.DataFrame, columns: Iterable[str],
    fit: Callable[[list[Any]], Constants], predict: Callable[[Any, Constants], float],
) -> np.ndarray:  # fmt: skip
    """Each case's prediction by constants fitted only to cases that share none of these columns with it."""
    keys = rows[list(columns)].astype(str).to_numpy(str)
    distinct, places = np.unique(keys, axis=0, return_inverse=True)
    fits = [fit([one for one, strange in zip(of, (keys != group).all(axis=1)) if strange]) for group in distinct]
    return np.array([predict(one, fits[place]) for one, place in zip(of, places.ravel())])


def bounds(ratios: np.ndarray, kinds: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Bounds of measured over predicted value of each case, from the cases of its kind of other models, (cases, 2)."""
    found = np.full((len(ratios), 2), math.nan)
    for model, kind in set(zip(models, kinds)):
        others = ratios[(kinds == kind) & (models != model) & np.isfinite(ratios)]
        if len(others) > 10:
            found[(models == model) & (kinds == kind)] = np.quantile(others, TAILS)
    return found


def held_out(rows: pd.DataFrame) -> np.ndarray:
    """Which rows no fit sees."""
    return rows["held_out"].eq(True).to_numpy(bool, na_value=False)


def ranges(constants: Constants, without: Sequence[Constants]) -> list[tuple[str, str, float, float, float]]:
    """Each constant with its lowest and highest over the fits that leave one model out."""
    spans = ((key, value, [value, *(found.get(key, value) for found in without)]) for key, value in constants.items())
    return [(*key, value, min(others), max(others)) for key, value, others in spans]


def median_and_p90(errors: pd.Series) -> str:
    """Two figures of the absolute errors [%] as a report prints them."""
    middle, far = errors.abs().quantile([0.5, 0.9])
    return f"{middle:.1f} / {far:.0f}"
