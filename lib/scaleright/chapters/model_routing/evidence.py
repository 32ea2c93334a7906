"""What published routers and cascades saved, beside what the model of routing says from two scores,
two prices and one published point.

A router of two models is one curve, that of `routing.caught_at`: its odds are read from the share
of requests that it sends to the large model where half of the gap between the two is recovered. The
rest of its curve is then a prediction.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from scaleright.catalog import remembered, table
from scaleright.decisions.routing import (
    caught_at,
    gained_share,
    lost_share,
    nested_share,
    routed_saving,
)
from scaleright.formulas import lookup, search

HALF, MOST = 0.5, 0.8
"""Shares of the gap between two models at which routers are compared [1]."""
_ALARMS = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 2000)])
_WIDEST = 1e3
"""Odds between one over which and which a router is looked for [1]."""


class Recovered(NamedTuple):
    """A router at each of its thresholds: requests that it sends to the large model, and the share
    of the gap between the two that it recovers [1].
    """

    calls: np.ndarray
    gap: np.ndarray

    def calls_at(self, gap: float) -> float:
        """Share of requests that it sends to the large model to recover a share of the gap [1]."""
        return float(np.interp(gap, self.gap, self.calls))

    def gap_at(self, calls: float) -> float:
        """Share of the gap recovered where it sends so many requests to the large model [1]."""
        return float(np.interp(calls, self.calls, self.gap))

    @property
    def mean_gap(self) -> float:
        """Share of the gap recovered, on average over all shares of requests [1]."""
        return float(np.trapezoid(self.gap, self.calls))


@search
def recovered(odds: float, small: float, large: float, nested: float) -> Recovered:
    """A router of such odds between two models, see `routing.check_odds` and `routing.lost_share`.

    >>> round(recovered(1.0, 0.6, 0.8, 0.3).calls_at(0.5), 6)
    0.5
    """
    rates = small, large, nested
    gained, lost = gained_share(*rates), lost_share(*rates)
    caught = caught_at(_ALARMS, odds)
    calls = small * _ALARMS + (1 - small) * caught
    return Recovered(calls, (caught * gained - _ALARMS * lost) / (gained - lost))


@search
def router_odds(calls_at_half: float, small: float, large: float, nested: float) -> float:
    """The odds of a router that recovers half of the gap with so many requests at the large model.

    >>> round(router_odds(0.5, 0.6, 0.8, 0.3), 6)
    1.0
    """
    low, high = 1 / _WIDEST, _WIDEST
    for _ in range(50):
        odds = (low * high) ** 0.5
        more = recovered(odds, small, large, nested).gap_at(calls_at_half) < HALF
        low, high = (odds, high) if more else (low, odds)
    return float(odds)


@remembered
def failures() -> pd.DataFrame:
    """Published counts of what two models get right, and the share of requests that they say is
    nested.

    Columns: benchmark, small, large, questions, small right, large right, only small right, large
    right of small's failures, nested [1].

    >>> failures()["nested"].between(0, 1).all()
    np.True_
    """
    rows = table("failure_overlap")
    counts = rows[["both_right", "only_small_right", "only_large_right", "neither_right"]]
    total = counts.sum(axis=1)
    small = (rows["both_right"] + rows["only_small_right"]) / total
    large = (rows["both_right"] + rows["only_large_right"]) / total
    only = rows["only_small_right"] / total
    return rows[["benchmark", "small", "large"]].assign(
        **{
            "questions": total,
            "small right": small,
            "large right": large,
            "only small right": only,
            "large right of small's failures": rows["only_large_right"] / total / (1 - small),
            "nested": nested_share(small.to_numpy(), large.to_numpy(), only.to_numpy()),
        }
    )


@lookup
def nested_mean() -> float:
    """Share of requests whose failures are nested over all published counts [1].

    >>> 0.25 < nested_mean() < 0.35
    True
    """
    found = failures()
    apart = found["small right"] * (1 - found["large right"]) * found["questions"]
    return float(1 - (found["only small right"] * found["questions"]).sum() / apart.sum())


@remembered
def routers() -> pd.DataFrame:
    """Published routers: their odds, read from one point, and two figures that the odds predict.

    Columns: benchmark, router, trained on, calls at half (published), odds, accuracy (of a router
    of these odds that errs as often either way), calls at four fifths and mean gap, published,
    predicted and of a coin [1].

    >>> bool(routers()["odds"].median() < 2)
    True
    """
    found = []
    for row in table("router_results").itertuples():
        rates = row.small_right / 100, row.large_right / 100, nested_mean()
        odds = router_odds(row.calls_at_half / 100, *rates)
        curve = recovered(odds, *rates)
        found.append(
            {
                "benchmark": row.benchmark,
                "router": row.router,
                "trained on": row.trained_on,
                "calls at half": row.calls_at_half / 100,
                "odds": odds,
                "accuracy": odds**0.5 / (1 + odds**0.5),
                "calls, published": row.calls_at_four_fifths / 100,
                "calls, predicted": curve.calls_at(MOST),
                "mean gap, published": row.gap_recovered_mean,
                "mean gap, predicted": curve.mean_gap,
            }
        )
    return pd.DataFrame(found)


TAUGHT = "Arena"
"""What the routers were trained on that had seen no question like those of the test."""


@lookup
def taught_odds(without: str = "") -> pd.Series:
    """Odds of the published routers that were trained on requests like those that they meet [1].

    without : a benchmark that is to be predicted, whose routers do not count

    >>> bool(1.3 < taught_odds("MMLU").median() < 1.7)
    True
    """
    found = routers()
    return found.loc[(found["trained on"] != TAUGHT) & (found["benchmark"] != without), "odds"]


@remembered
def savings() -> pd.DataFrame:
    """Published savings, and what a router of the median of `taught_odds` between the two models
    would have saved at the same score; where a score is not told, nothing is predicted.

    Columns: study, benchmark, gap recovered, requests at the large model at most (by the bill),
    published, predicted, of a coin [1], note, source.

    >>> savings()["predicted"].notna().sum()
    np.int64(4)
    """
    rows, found = table("routing_savings"), []
    for row in rows.itertuples():
        small, large = row.small_right / 100, row.large_right / 100
        gap = (row.reached_right / 100 - small) / (large - small)
        predicted = coin = np.nan
        if np.isfinite(gap) and np.isfinite(row.small_usd):
            prices = row.small_usd, row.large_usd
            curve = recovered(taught_odds(row.benchmark).median(), small, large, nested_mean())
            predicted = routed_saving(curve.calls_at(gap), *prices)
            coin = routed_saving(gap, *prices)
        found.append(
            {
                "study": row.study,
                "benchmark": row.benchmark,
                "gap recovered": gap,
                "at most at the large model": 1 - row.saving / 100,
                "published": row.saving / 100,
                "predicted": predicted,
                "a coin": coin,
                "source": row.source,
            }
        )
    return pd.DataFrame(found)


class Judged(NamedTuple):
    """How far predictions lie from published figures, and how far a coin does: median errors [1] of
    so many rows.
    """

    error: float
    coin: float
    rows: int


@lookup
def judged() -> dict[str, Judged]:
    """The errors of each kind of prediction.

    >>> all(of.error < of.coin for of in judged().values())
    True
    """
    found, saved = routers(), savings().dropna(subset="predicted")
    pairs = {
        "requests at the large model": (
            found["calls, predicted"],
            found["calls, published"],
            MOST,
        ),
        "mean share of the gap": (found["mean gap, predicted"], found["mean gap, published"], HALF),
        "saving": (saved["predicted"], saved["published"], saved["a coin"]),
    }
    return {
        name: Judged(
            float((predicted / published - 1).abs().median()),
            float((coin / published - 1).abs().median()),
            len(published),
        )
        for name, (predicted, published, coin) in pairs.items()
    }
