"""How sure a fitted law is: beside its runs, the published fits, its own resamples, and runs that
no fit had seen.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import table
from scaleright.formulas import lookup, simulation
from scaleright.scaling_laws.fit import fit, points, stalled_bootstrap
from scaleright.scaling_laws.laws import (
    Law,
    compute_optimal_parameters,
    figures,
    loss,
    power_law_parameters,
    published,
    runs_for_width,
    tokens_for_compute,
)
from scaleright.transformer.flops import training_flop
from scaleright.units import COUNTS, figure, in_units

ORIGINAL, REPLICATION = "Hoffmann 2022, approach 3", "Besiroglu 2024"
"""Laws of the table `scaling_laws`."""
THIRD = "original, approach 3"
RESAMPLED = "this book: every resample searched until it converges"
STALLED = "the same resamples, the solver stopped by its default tolerance"
"""Ways to an interval."""
SMALL = 3e20
"""Runs below it are fitted where larger ones are to be predicted [FLOP]."""


def _missed(law: Law, runs: pd.DataFrame) -> np.ndarray:
    """How far a law's loss lies from that of runs, as a share."""
    sizes, tokens = runs["parameters"].to_numpy(), runs["tokens"].to_numpy()
    return loss(sizes, tokens, law.E, **law.terms) / runs["loss"].to_numpy() - 1


@lookup
def fitted_runs(law: Law, runs: pd.DataFrame) -> pd.DataFrame:
    """Training runs in words, their loss above the law's floor, published and predicted
    [nat/token], and how far the law's loss lies from the published one [1].

    >>> found = fitted_runs(published(REPLICATION), points())
    >>> round(float(found["missed"].abs().median()), 3)
    0.003
    """
    missed = _missed(law, runs)
    sizes, tokens = (
        [in_units(value, digits=2, scales=COUNTS) for value in runs[column]]
        for column in ("parameters", "tokens")
    )
    above = {
        "loss": runs["loss"] - law.E,
        "predicted": runs["loss"] * (1 + missed) - law.E,
    }
    named = [f"{size} on {count}" for size, count in zip(sizes, tokens, strict=True)]
    return pd.DataFrame({"run": named} | above).round(4).assign(missed=missed)


@dataclass(frozen=True)
class Extrapolation:
    """How well a law that was fitted to small runs predicts the loss of larger ones.

    small, large : runs fitted, and runs predicted
    times : the largest run over the largest that may be fitted
    median, most, bias : of the error of the loss, as shares
    densest : the most tokens a parameter of any run [1]
    """

    small: int
    large: int
    times: float
    median: float
    most: float
    bias: float
    densest: float

    @property
    def largest(self) -> float:
        """Arithmetic of the largest run [FLOP]."""
        return SMALL * self.times


@simulation
def extrapolated(runs: pd.DataFrame) -> Extrapolation:
    """A law fitted to the runs below `SMALL` alone, held against all others.

    >>> found = extrapolated(points())
    >>> found.small, found.large, found.median < 0.012
    (177, 63, True)
    """
    spent = training_flop(runs["parameters"], runs["tokens"])
    small, large = runs[spent < SMALL], runs[spent >= SMALL]
    missed = _missed(fit(small), large)
    off = np.abs(missed)
    return Extrapolation(
        len(small),
        len(large),
        float(spent.max() / SMALL),
        float(np.median(off)),
        float(off.max()),
        float(missed.mean()),
        float((runs["tokens"] / runs["parameters"]).max()),
    )


@simulation
def coefficients(law: Law, draws: Law) -> pd.DataFrame:
    """The coefficients of a law and of its resamples beside the original's and the replication's.

    >>> law = published(REPLICATION)
    >>> found = coefficients(law, Law(*(np.array([v, v]) for v in vars(law).values())))
    >>> float(found["off by [standard errors]"].max())
    0.0
    """
    original, replication = published(ORIGINAL), published(REPLICATION)
    rows = table("scaling_laws").set_index(["law", "quantity"])
    errors = rows.loc[REPLICATION, "standard_error"]
    kept = fit(points(outliers=True))
    symbols = ("E", "A", "B", "alpha", "beta", "size_exponent")
    of = {
        name: np.array([getattr(one, symbol) for symbol in symbols])
        for name, one in (
            ("original", original),
            ("replication", replication),
            ("here", law),
            ("with the outliers", kept),
        )
    }
    error = errors[[*symbols]].to_numpy()
    return pd.DataFrame(
        {
            "figure": [*symbols[:-1], "a, of N ~ C^a"],
            "original": of["original"],
            "replication": of["replication"],
            "its standard error": error,
            "here": of["here"],
            "standard error here": [getattr(draws, symbol).std() for symbol in symbols],
            "off by [standard errors]": np.abs(of["here"] - of["replication"]) / error,
            "with the outliers": of["with the outliers"],
        }
    )


@simulation
def intervals(law: Law, draws: Law, stalled: Law) -> pd.DataFrame:
    """The exponent of the compute-optimal size with its interval from the 10th to the 90th
    percentile: published, of resamples, and of resamples whose search stalled; indexed by how.

    >>> law = published(ORIGINAL)
    >>> still = Law(*(np.array([v, v]) for v in vars(law).values()))
    >>> intervals(law, still, still)["width"].round(3).tolist()
    [0.014, 0.072, 0.001, 0.0, 0.0]
    """
    rows = table("scaling_laws").set_index(["quantity", "law"]).loc["size_exponent"]
    ends = {
        f"original, approach {n}": rows.loc[f"Hoffmann 2022, approach {n}"][
            ["value", "low", "high"]
        ]
        for n in (1, 2, 3)
    }
    ends = {how: tuple(map(float, found)) for how, found in ends.items()}
    for how, value, of in (
        (RESAMPLED, law.size_exponent, draws),
        (STALLED, np.mean(np.percentile(stalled.size_exponent, [10, 90])), stalled),
    ):
        ends[how] = (float(value), *map(float, np.percentile(of.size_exponent, [10, 90])))
    found = pd.DataFrame(ends, index=["value", "low", "high"]).T.rename_axis("how")
    return found.assign(width=found["high"] - found["low"])


@dataclass(frozen=True)
class Narrow:
    """Why the original's interval of the exponent a is too narrow.

    ways : see `intervals`
    needed : runs for such an interval [1]
    moved : how far the original's search moved from where it started, at most [1]
    """

    ways: pd.DataFrame
    needed: float
    moved: float


@simulation
def too_narrow(runs: pd.DataFrame, law: Law, draws: Law) -> Narrow:
    """The original's interval beside that of resamples, and beside those of a search that stalls
    near where it starts, as the original's did.

    Source: [besiroglu2024, sections 3.2 and 4].

    >>> from scaleright.scaling_laws.fit import bootstrap
    >>> law = published(REPLICATION)
    >>> too_narrow(points(), law, bootstrap(points(), law, 20)).needed > 1e5
    True
    """
    original = published(ORIGINAL)
    stalled = stalled_bootstrap(runs, original)
    ways = intervals(law, draws, stalled)
    needed = runs_for_width(float(len(runs)), *ways.loc[[RESAMPLED, THIRD], "width"])
    moved = np.abs(stalled.size_exponent - original.size_exponent).max()
    return Narrow(ways, float(needed), float(moved))


@lookup
def sizes_by_law(law: Law, compute: np.ndarray) -> pd.DataFrame:
    """Compute-optimal size by four laws, a row for each law and budget.

    compute : training budgets [FLOP]

    >>> sizes_by_law(published(REPLICATION), np.array([1e21]))["law"].tolist()
    ['Kaplan 2020', 'approach 1', 'approach 3', 'this book']
    """
    anchors = {"Kaplan 2020": "Kaplan 2020", "approach 1": "Hoffmann 2022, approach 1"}
    points_of = {words: figures(title) for words, title in anchors.items()}
    sized = {
        words: power_law_parameters(compute, at["parameters"], at["flop"], at["size_exponent"])
        for words, at in points_of.items()
    }
    fits = {"approach 3": published(ORIGINAL), "this book": law}
    sized |= {words: compute_optimal_parameters(compute, **of.terms) for words, of in fits.items()}
    return pd.DataFrame(
        [
            {"law": words, "flop": figure(flop, 4), "size": figure(size, 4)}
            for words, sizes in sized.items()
            for flop, size in zip(compute, sizes, strict=True)
        ]
    )


@simulation
def size_ranges(law: Law, draws: Law, compute: np.ndarray) -> pd.DataFrame:
    """Compute-optimal models of training budgets with the ranges that nine of ten resamples give.

    compute : training budgets [FLOP]

    >>> law = published(REPLICATION)
    >>> still = Law(*(np.array([v, v]) for v in vars(law).values()))
    >>> size_ranges(law, still, np.array([1e21])).columns.tolist()[:4]
    ['training', 'parameters', 'from', 'to']
    """
    best = compute_optimal_parameters(compute, **law.terms)
    drawn = np.stack([compute_optimal_parameters(flop, **draws.terms) for flop in compute])
    ratios = tokens_for_compute(compute[:, None], drawn) / drawn
    (low, high), (low_ratio, high_ratio) = (
        np.percentile(of, [5, 95], axis=1) for of in (drawn, ratios)
    )
    return pd.DataFrame(
        {
            "training": compute,
            "parameters": best,
            "from": low,
            "to": high,
            "tokens a parameter": tokens_for_compute(compute, best) / best,
            "at least": low_ratio,
            "at most": high_ratio,
        }
    )
