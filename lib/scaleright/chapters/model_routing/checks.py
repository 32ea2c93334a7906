"""How good published checks of answers are, and what published cascades got right for their bill
beside what the model of routing says.

A check is one number, its odds (`routing.check_odds`). Those of language models and of trained
scorers are read from published rates. Those of a cascade that tells no rates are fitted to the
cascades of the *other* benchmarks, and its own points are then a prediction.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd

from scaleright.catalog import remembered, shared, table
from scaleright.chapters.model_routing.evidence import nested_mean
from scaleright.decisions.routing import caught_at, check_odds, gained_share, lost_share
from scaleright.formulas import lookup, search

LARGE_MODEL = "large model"
"""The kind of check whose rates the chapter starts from: a model of about 70B and more that answers
without long thinking.
"""
LEVEL_OF = {"GSM8K": "easy", "MATH": "medium", "OlympiadBench": "hard", "Omni-MATH": "hard"}
"""The level of difficulty that each benchmark of checks stands for."""
MIX = {"easy": 0.6, "medium": 0.3, "hard": 0.1}
"""Requests of each level in the chapter's default mix [1]."""
_ALARMS = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 400)])
_ODDS = np.geomspace(1.0, 32.0, 61).round(3)


@lookup
def balanced_rate(odds: float) -> float:
    """Wrong answers that a check of such odds flags [1] where it passes as many right ones.

    >>> balanced_rate(16.0)
    0.8
    """
    return odds**0.5 / (1 + odds**0.5)


@remembered
def checks() -> pd.DataFrame:
    """Published checks by kind and benchmark: their rates, odds, and rate at a balanced threshold
    [1].

    >>> bool((checks()["odds"] > 0).all())
    True
    """
    rows = table("check_rates")
    caught, alarm = rows["caught"] / 100, rows["false_alarm"] / 100
    odds = check_odds(caught.to_numpy(), alarm.to_numpy())
    return rows[["kind", "checker", "benchmark"]].assign(
        level=rows["benchmark"].map(LEVEL_OF),
        caught=caught,
        false_alarm=alarm,
        odds=odds,
        balanced=[balanced_rate(of) for of in odds],
    )


@remembered
def checkers() -> pd.DataFrame:
    """Each checker at a balanced threshold by level of difficulty, and over the default mix [1].

    Columns: kind, checker, easy, medium, hard, mix, odds (over the mix).
    """
    means = checks().groupby(["kind", "checker", "level"], sort=False)["balanced"].mean().unstack()
    found = means[[*MIX]].reset_index()
    found["mix"] = sum(share * found[level] for level, share in MIX.items())
    return found.assign(odds=(found["mix"] / (1 - found["mix"])) ** 2)


class Usual(NamedTuple):
    """Odds of checks of one kind over the default mix [1]: the median of its checkers, the worst
    and the best.
    """

    odds: float
    low: float
    high: float


@lookup
def usual_check(kind: str = LARGE_MODEL) -> Usual:
    """How good published checks of a kind are.

    >>> found = usual_check()
    >>> found.low < found.odds < found.high
    True
    """
    found = checkers()
    odds = found.loc[found["kind"] == kind, "odds"]
    return Usual(float(odds.median()), float(odds.min()), float(odds.max()))


@remembered
def kinds() -> pd.DataFrame:
    """Kinds of checks: how many checkers, and the rate of the median, the worst and the best of
    them at a balanced threshold over the default mix; the median by level [1].
    """
    grouped = checkers().groupby("kind")
    found = (
        grouped[[*MIX, "mix"]]
        .median()
        .assign(worst=grouped["mix"].min(), best=grouped["mix"].max(), checkers=grouped.size())
    )
    return found.sort_values("mix", ascending=False).reset_index()


class Reached(NamedTuple):
    """Cascades of two at every threshold: what a thousand requests cost [USD] and the share of
    answers that are right [1].
    """

    usd: np.ndarray
    right: np.ndarray

    def right_at(self, usd: float) -> float:
        """The most that is right for such a bill [1]."""
        return float(self.right[self.usd <= usd * (1 + 1e-9)].max())


@search
def reached(
    right: np.ndarray, usd: np.ndarray, odds: float, nested: float, whole: bool = True
) -> Reached:
    """What one model, or one and then a dearer one after a check of such odds, gets right for its
    bill; the check costs nothing.

    Parameters
    ----------
    right, usd : of each model, the share that it gets right [1] and its bill
    odds : of the check, see `routing.check_odds`
    nested : share of requests whose failures are nested [1]
    whole : whether cascades count, or single models alone

    >>> pair = np.array([0.6, 0.8]), np.array([1.0, 10.0])
    >>> round(reached(*pair, 16.0, 0.0).right_at(10.0), 2)
    0.84
    >>> reached(*pair, 16.0, 0.0, whole=False).right_at(9.0)
    0.6
    """
    bills, shares = [usd], [right]
    for small, large in permutations(range(len(usd)), 2):
        if whole and usd[small] < usd[large]:
            rates = right[small], right[large], nested
            caught = caught_at(_ALARMS, odds)
            flagged = right[small] * _ALARMS + (1 - right[small]) * caught
            bills.append(usd[small] + flagged * usd[large])
            shares.append(
                right[small] + caught * gained_share(*rates) - _ALARMS * lost_share(*rates)
            )
    return Reached(np.concatenate(bills), np.concatenate(shares))


@remembered
def _studied() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Models and published cascades of each benchmark."""
    rows = table("cascade_results")
    parts = dict(iter(rows.groupby("benchmark", sort=False)))
    return {n: (of[of["kind"] == "model"], of[of["kind"] == "cascade"]) for n, of in parts.items()}


def _at_bills(benchmark: str, odds: float, whole: bool = True) -> np.ndarray:
    """What the model of routing gets right for the bills of a benchmark's cascades [1]."""
    models, cascades = _studied()[benchmark]
    right, usd = models["right"].to_numpy() / 100, models["usd_per_thousand"].to_numpy()
    found = reached(right, usd, odds, nested_mean(), whole)
    return np.array([found.right_at(bill) for bill in cascades["usd_per_thousand"]])


@shared
def _errors() -> pd.DataFrame:
    """Errors of the share of right answers by odds and benchmark [1], a row a published cascade."""
    found = []
    for name, (_, cascades) in _studied().items():
        published = cascades["right"].to_numpy() / 100
        for odds in _ODDS:
            off = _at_bills(name, odds) - published
            found += [{"benchmark": name, "odds": odds, "error": abs(of)} for of in off]
    return pd.DataFrame(found)


@lookup
def cascade_odds(without: str = "") -> float:
    """Odds of the check of published cascades that tell no rates [1]: those at which half of their
    points are met best; without : a benchmark that is to be predicted, which does not count.

    >>> 1 < cascade_odds("SCIQ") < 8
    True
    """
    rows = _errors()
    errors = rows[rows["benchmark"] != without].groupby("odds")["error"].median().round(6)
    return float(errors.idxmin())


@shared
def cascades() -> pd.DataFrame:
    """Published cascades beside what the odds of the other benchmarks' cascades predict.

    Columns: benchmark, cascade, USD a thousand, odds, published, predicted, one model (the best
    that costs no more) [1].

    >>> len(cascades()) > 20
    True
    """
    found = []
    for name, (_, of) in _studied().items():
        odds = cascade_odds(name)
        found.append(
            pd.DataFrame(
                {
                    "benchmark": name,
                    "cascade": of["model"].to_numpy(),
                    "USD a thousand": of["usd_per_thousand"].to_numpy(),
                    "odds": odds,
                    "published": of["right"].to_numpy() / 100,
                    "predicted": _at_bills(name, odds),
                    "one model": _at_bills(name, odds, whole=False),
                }
            )
        )
    return pd.concat(found, ignore_index=True)


class Scored(NamedTuple):
    """Median errors of the share of right answers [1] of so many published cascades: of the
    prediction, of the best single model for the same bill, and of the odds of published checks.
    """

    error: float
    one_model: float
    published_checks: float
    rows: int


@lookup
def scored() -> Scored:
    """How far predictions of cascades lie from what was published.

    >>> found = scored()
    >>> found.error < found.one_model
    True
    """
    rows = cascades()
    off = lambda of: float((of - rows["published"]).abs().median())
    usual = np.concatenate([_at_bills(name, usual_check().odds) for name in _studied()])
    return Scored(off(rows["predicted"]), off(rows["one model"]), off(usual), len(rows))
