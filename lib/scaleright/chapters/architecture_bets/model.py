"""Hardware and model architecture coupling (F20): what a chip gains on each kind of model, and what
the wrong bet costs.

The MLPerf blog post says that an NVL72 gains nearly tenfold on a mixture of experts and four to
five times on a dense model, so that buying it is betting on mixtures. Here the gain is that of a
chip, from MLPerf results of one round; the bet is its price per unit of work on each kind of model
against the odds of each (`bets` for a reader's case). `evidence` has the gains of all chips,
`scale_up` says which resource a gain is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import pandas as pd

from scaleright.catalog import shared, table
from scaleright.formulas import NON_NEGATIVE, SHARE, Breakdown, Domain, closed_form
from scaleright.ops import INFINITY, maximum, minimum, where

# What a bet on hardware costs when nobody knows which kind of model it will serve.
#
# Costs are those of a unit of work, over those of whichever hardware does that kind cheapest: 1
# is the best that could be had, 1.3 is 30 % more. A bet's regret is what it costs above 1
# [savage1951, section 4].


COST = Domain(0.0, INFINITY, (0.2, 20.0), open_low=True)
"""A cost of work; infinite where a bet cannot do it."""


@dataclass(frozen=True)
class Chances(Breakdown):
    """Shares of the work to come by kind of model; they add up to 1."""

    dense: Any
    mixture: Any
    images: Any


@closed_form(mixture_probability=SHARE, image_share=SHARE)
def chances(mixture_probability, image_share) -> Chances:
    """Shares of the work by kind of model, from two numbers that a reader can state [1].

    Parameters
    ----------
    mixture_probability : of language work, how much mixtures of experts will do; dense models do
        the rest [1]
    image_share : work on images and video, over all work [1]

    >>> chances(0.75, 0.2)
    Chances(dense=0.2, mixture=0.6000000000000001, images=0.2)
    """
    language = 1 - image_share
    return Chances(
        dense=language * (1 - mixture_probability),
        mixture=language * mixture_probability,
        images=image_share,
    )


@closed_form(mixture_probability=SHARE, image_share=SHARE, dense=COST, mixture=COST, images=COST)
def expected_cost(mixture_probability, image_share, dense, mixture, images):
    """Cost of a bet in expectation, over that of knowing in advance [1]; what cannot come costs
    nothing.

    Parameters
    ----------
    mixture_probability, image_share : see `chances` [1]
    dense, mixture, images : cost of the bet's work by kind of model, over the cheapest hardware for
        that kind [1]

    >>> expected_cost(0.5, 0.0, 1.0, 1.5, 9.0)
    1.25
    """
    share = chances(mixture_probability, image_share)
    each = ((share.dense, dense), (share.mixture, mixture), (share.images, images))
    return sum(where(chance > 0, chance * cost, 0.0) for chance, cost in each)


@closed_form(
    image_share=SHARE,
    dense=COST,
    mixture=COST,
    images=COST,
    other_dense=COST,
    other_mixture=COST,
    other_images=COST,
)
def switch_probability(
    image_share, dense, mixture, images, other_dense, other_mixture, other_images
):
    """Probability of mixtures at which a bet costs as much as another [1]; beyond 0 to 1 one of
    them wins throughout.

    Infinite where the odds do not move the difference. Without images it is one regret over the sum
    of two: what the bet on mixtures loses on dense models, over that and what the other bet loses
    on mixtures.

    Arguments as in `expected_cost`, those of the other bet after the first's.

    >>> switch_probability(0.0, 1.5, 1.0, 1.0, 1.0, 2.5, 1.0)
    0.25
    """
    language = 1 - image_share
    slope = language * ((mixture - dense) - (other_mixture - other_dense))
    gap = language * (other_dense - dense) + image_share * (other_images - images)
    flat = slope == 0
    return where(flat, INFINITY, gap / where(flat, 1.0, slope))


@closed_form(spend_usd=NON_NEGATIVE, cost=COST)
def regret_usd(spend_usd, cost):
    """What a bet costs more than the best hardware would have, on work for which the best asks so
    much [USD].

    >>> round(regret_usd(1e6, 1.3))
    300000
    """
    return spend_usd * (cost - 1)


@closed_form(mixture_probability=SHARE, image_share=SHARE, dense=COST, mixture=COST, images=COST)
def worst_cost(mixture_probability, image_share, dense, mixture, images):
    """Cost of a bet in the kind of model that suits it least, of those that may come [1]; arguments
    as in `expected_cost`.

    >>> worst_cost(0.5, 0.0, 1.0, 1.5, 9.0), worst_cost(0.0, 0.0, 1.0, 1.5, 9.0)
    (1.5, 1.0)
    """
    share = chances(mixture_probability, image_share)
    each = ((share.dense, dense), (share.mixture, mixture), (share.images, images))
    first, second, third = (where(chance > 0, cost, 0.0) for chance, cost in each)
    return maximum(maximum(first, second), third)


ARCHITECTURES = {
    "dense": "dense language model",
    "mixture": "mixture of experts",
    "images": "diffusion",
}
"""Kinds of model, as the table of benchmarks names them."""
RACKS = (("GB200", "B200"), ("GB300", "B300"))
"""A chip of an NVL72 rack, where 72 share one fast fabric, and its sibling in a server of eight."""
GENERATIONS = (
    ("H100 SXM", "A100 SXM 80GB"),
    ("H200 SXM", "H100 SXM"),
    ("B200", "H200 SXM"),
    ("B300", "B200"),
    *RACKS,
    ("MI325X", "MI300X"),
    ("MI355X", "MI325X"),
)
"""A chip and the one before it of the same maker, or its sibling in a smaller domain."""
CHIPS = tuple(dict.fromkeys(chip for pair in GENERATIONS for chip in pair))
"""All of them."""
BETS = ("H200 SXM", "B200", "B300", "GB200", "GB300", "MI355X")
"""Those of them to bet on."""
SERVER = 8
"""Chips of a server; the MLPerf blog post takes a larger domain for a bet on mixtures."""


@shared
def benchmarks() -> pd.DataFrame:
    """Benchmarks of the three kinds of model by name: kind (a key of `ARCHITECTURES`), model (of
    the catalog, or empty).
    """
    rows = table("mlperf_benchmarks").drop_duplicates("benchmark").set_index("benchmark")
    kind = rows["architecture"].map({words: name for name, words in ARCHITECTURES.items()})
    return rows.assign(kind=kind)[kind.notna()][["kind", "model"]].fillna("")


def relative_costs(prices: list, rates: list) -> list:
    """Cost of a unit of work on each chip, over that of the cheapest [1]; infinite where a rate
    is 0.

    Parameters
    ----------
    prices, rates : of an hour of each chip [USD/h], and what it does; numbers or quantities

    >>> relative_costs([2.0, 3.0, 1.0], [10.0, 30.0, 0.0])
    [2.0, 1.0, inf]
    """
    costs = [
        where(rate > 0, price / where(rate > 0, rate, 1.0), INFINITY)
        for price, rate in zip(prices, rates, strict=True)
    ]
    cheapest = reduce(minimum, costs)
    return [where(cost < INFINITY, cost / cheapest, INFINITY) for cost in costs]


def source_rule(mixture_probability: Any):
    """What the MLPerf blog post's thesis comes to: the rack if mixtures of experts are here to
    stay, else the server; the odds may be live.

    >>> source_rule(0.7), source_rule(0.2)
    ('NVL72', 'eight-chip server')
    """
    return where(mixture_probability > 0.5, "NVL72", "eight-chip server")
