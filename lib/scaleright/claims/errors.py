"""How far off recomputations by the models of a training step and of a server may be.

A single prediction carries the range that the model states for runs it has not seen. The ratio of
two predictions is surer, since both share much of their error: how far published ratios lie from
predicted ones is found over all pairs of published runs that differ in one thing alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from scaleright.catalog import shared, table
from scaleright.claims.verdicts import Error
from scaleright.names import one_of

STEPS = {
    "layout": (
        ["tensor_parallel", "pipeline_parallel", "data_parallel", "sharding"],
        ["model", "accelerator", "accelerators", "sequence", "software", "source"],
    ),
    "number of chips": (
        ["accelerators"],
        ["model", "accelerator", "precision", "software", "source"],
    ),
    "chip": (["accelerator"], ["model", "precision", "source"]),
}
"""In what two runs of training differ, and what they share."""
SERVED = ["source", "model", "accelerator", "precision", "software"]
REQUESTS = ["input_tokens", "output_tokens", "concurrency"]
"""What tells servers, and the loads that they carry, apart."""
TAILS = [0.05, 0.95]


def inverse(error: Error) -> Error:
    """The error of what the predicted quantity divides: of a cost by a speed.

    >>> inverse((0.5, 2.0))
    (0.5, 2.0)
    """
    return 1 / error[1], 1 / error[0]


def of_ratio(over: Error, under: Error) -> Error:
    """The error of a quotient whose two sides err each for itself.

    >>> of_ratio((0.5, 2.0), (1.0, 1.0))
    (0.5, 2.0)
    """
    return over[0] / under[1], over[1] / under[0]


def of_pairs(runs: pd.DataFrame, differ: Sequence[str], alike: Sequence[str]) -> Error:
    """How far measured ratios lie from predicted ones, over pairs of runs.

    Parameters
    ----------
    runs : the columns named, and off, measured over predicted [1]
    differ, alike : in which of its columns two runs differ, in one of them at least; which they
        share

    Raises
    ------
    ValueError : no two runs differ so.

    >>> runs = pd.DataFrame({"model": "a", "chips": [8, 16], "off": [1.0, 2.0]})
    >>> of_pairs(runs, ["chips"], ["model"])
    (0.5, 2.0)
    """
    told = runs[list(differ)].map(str)  # what neither run states is no difference
    runs = runs[[*alike, "off"]].join(told)
    pairs = runs.merge(runs, on=list(alike), suffixes=("", " of other"))
    others = pairs[[f"{name} of other" for name in differ]]
    apart = pairs[(pairs[list(differ)].to_numpy() != others.to_numpy()).any(axis=1)]
    if apart.empty:
        raise ValueError(f"no two runs differ in {' or '.join(differ)} alone")
    low, high = (apart["off"] / apart["off of other"]).quantile(TAILS, interpolation="nearest")
    return float(low), float(high)


@shared
def of_two_steps(differ: str) -> Error:
    """Of the ratio of two predicted times of a step.

    differ : what the two differ in, one of `STEPS`

    >>> low, high = of_two_steps("layout")
    >>> 0.5 < low < 1 < high < 2
    True
    """
    from scaleright.validation.training import steps_left_out  # only chapters on training pay

    columns = STEPS[one_of(differ, STEPS, "difference of two steps")]
    runs = steps_left_out()
    return of_pairs(runs.assign(off=1 / (1 + runs["error_percent"] / 100)), *columns)


def _served(figure: str) -> pd.DataFrame:
    """The published runs with a prediction of a figure, and off, measured over predicted."""
    found = table("serving_errors")
    found = found[(found["figure"] == figure) & (found["predicted"] > 0)]
    return found.assign(off=found["published"] / found["predicted"])


@shared
def of_first_token() -> Error:
    """Of a predicted time to the first token, most of which is waiting.

    >>> low, high = of_first_token()
    >>> 0.3 < low < 1 < high < 4
    True
    """
    low, high = _served("TTFT")["off"].quantile(TAILS)
    return float(low), float(high)


@shared
def of_first_token_by_chips() -> Error:
    """Of the ratio of two predicted times to the first token, on more chips and on fewer.

    >>> low, high = of_first_token_by_chips()
    >>> 0.3 < low < 1 < high < 4
    True
    """
    requests = table("measured/serving")[["run", "input_tokens", "concurrency"]]
    runs = _served("TTFT").merge(requests.drop_duplicates("run"), on="run")
    return of_pairs(runs, ["accelerators"], [*SERVED, *REQUESTS])


@shared
def of_lever() -> Error:
    """Of a predicted speedup of a server by a lever.

    >>> low, high = of_lever()
    >>> 0.5 < low < 1 < high < 2
    True
    """
    from scaleright.validation.lever_speedups import lever_error

    most = 1 + lever_error()[0]
    return 1 / most, most
