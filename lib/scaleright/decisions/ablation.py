"""What an experiment can decide: how many seeds tell two variants apart, how far the order at a
small scale is that at a large one, and what a decision costs.
"""

from math import pi
from statistics import NormalDist

from scaleright.costs.experiments import HALVINGS, MOST_HALVINGS, SURVIVE, whole_above
from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Domain,
    closed_form,
    lookup,
    unchecked,
)
from scaleright.ops import (
    INFINITY,
    cos,
    log10,
    maximum,
    minimum,
    normal_cdf,
    normal_density,
    sin,
    sqrt,
    where,
)
from scaleright.order_statistics import largest_score
from scaleright.units import figure

LEVELS = ("80 %", "90 %", "95 %", "99 %")
"""How rarely a difference is to be seen where there is none."""
POWERS = ("50 %", "80 %", "90 %", "95 %")
"""How often one that is there is to be found."""
QUANTILE = Domain(0.0, 6.0, (0.0, 3.0))
TENFOLDS = Domain(0.0, 1.0, (0.0, 0.3))
BY_CHANCE = 0.5
"""Share of pairs that are in the wrong order where a proxy tells nothing [1]."""
_PI = figure(pi)
_TAIL = tuple(map(figure, (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)))
"""Of the polynomial of `_beyond`, with as many digits as a page is told."""
NEVER_AHEAD = 50
"""Power of the correlation with which the others that a normal variable puts ahead of the best are
taken off: by simulation.
"""
FURTHEST = 4.0
"""Standard deviations beyond which a page's normal distribution has fewer digits."""


@lookup
def two_sided() -> dict[str, float]:
    """Standard deviations that a difference of noise alone exceeds, either way, as rarely as each
    of `LEVELS` says.

    >>> round(two_sided()["95 %"], 2)
    1.96
    """
    of = NormalDist().inv_cdf
    return {level: of((1 + float(level.split()[0]) / 100) / 2) for level in LEVELS}


@lookup
def one_sided() -> dict[str, float]:
    """Standard deviations that noise stays below as often as each of `POWERS` says.

    >>> one_sided()["50 %"], round(one_sided()["80 %"], 2)
    (0.0, 0.84)
    """
    of = NormalDist().inv_cdf
    return {power: of(float(power.split()[0]) / 100) for power in POWERS}


@closed_form(difference=POSITIVE, noise=NON_NEGATIVE, level=QUANTILE, power=QUANTILE)
def seeds_needed(difference, noise, level, power):
    """Runs of each of two variants that tell them apart [1]; not rounded, and below 1 where one is
    more than enough.

    Parameters
    ----------
    difference : between the variants that is to be seen, in points of the benchmark
    noise : standard deviation between seeds of one variant, in the same points
    level, power : see `two_sided` and `one_sided`

    Source: sample size of a comparison of two means, n = 2 (z + z')^2 s^2 / d^2 [cohen1992].

    >>> round(seeds_needed(1.0, 0.5, 1.96, 0.8416), 2)
    3.92
    """
    return 2 * (level + power) ** 2 * noise**2 / difference**2


@closed_form(difference=POSITIVE, noise=POSITIVE, seeds=COUNT, level=QUANTILE)
def power_reached(difference, noise, seeds, level):
    """How often so many seeds find a difference that is there [1]; arguments as in `seeds_needed`.

    >>> round(power_reached(1.0, 0.5, 4, 1.96), 2)
    0.81
    """
    ahead = difference / (noise * sqrt(2 / seeds)) - level
    return normal_cdf(maximum(minimum(ahead, FURTHEST), -FURTHEST))


@closed_form(difference=POSITIVE, noise=POSITIVE, seeds=COUNT)
def better_seen(difference, noise, seeds):
    """Probability that the better of two variants has the better mean over so many seeds [1].

    >>> round(better_seen(1.0, 1.0, 2), 3), better_seen(1.0, 0.01, 1) > 0.999
    (0.841, True)
    """
    ahead = difference / (noise * sqrt(2 / seeds))
    return normal_cdf(minimum(ahead, FURTHEST))


@closed_form(proxy_flop=POSITIVE, target_flop=POSITIVE, per_tenfold=TENFOLDS)
def misordered(proxy_flop, target_flop, per_tenfold):
    """Share of pairs of variants whose order at a small scale is not that at the large one [1].

    Parameters
    ----------
    proxy_flop, target_flop : arithmetic of a run at either scale [FLOP]
    per_tenfold : such pairs for each tenfold less arithmetic [1]

    In published studies it grows about as the logarithm of the ratio; see
    `ablation_evidence.transfers`. A proxy as large as the target misorders none, and none misorders
    more than half.

    >>> round(misordered(1e19, 1e21, 0.1), 9), misordered(1e21, 1e19, 0.1)
    (0.2, 0.0)
    """
    tenfolds = log10(maximum(target_flop / proxy_flop, 1.0))
    return minimum(per_tenfold * tenfolds, BY_CHANCE)


# Arguments are checked once, by what asks about a study.
_misordered = unchecked(misordered)


@closed_form(seen=SHARE, wrong=SHARE)
def decided_right(seen, wrong):
    """Probability that the variant which seems better in small runs is the better one at the large
    scale [1].

    Parameters
    ----------
    seen : that it is the better one at the small scale, see `better_seen` [1]
    wrong : share of pairs whose order changes, see `misordered` [1]

    >>> round(decided_right(0.9, 0.2), 9), decided_right(1.0, 0.0)
    (0.74, 1.0)
    """
    return seen * (1 - wrong) + (1 - seen) * wrong


@closed_form(
    variants=Domain(2.0, INFINITY, (2.0, 1000.0)),
    survive=SURVIVE,
    halvings=HALVINGS,
    per_tenfold=TENFOLDS,
)
def best_kept(variants, survive, halvings, per_tenfold):
    """Probability that no cut drops the variant that would be best at the end of its run [1].

    Parameters
    ----------
    variants : that are compared [1]
    survive, halvings : see `costs.experiments.halving_share` [1]
    per_tenfold : pairs in the wrong order for each tenfold less arithmetic, see `misordered` [1]

    Notes
    -----
    A run that has had a share of its tokens is judged as one of as much arithmetic: early runs
    decide about as well as small ones of the same cost [datadecide2025, section 3]. Qualities are
    normal, and the best lies where the largest of so many does; pairs in the wrong order are a
    correlation of what is seen early with what comes out, r = cos(pi w) [sheppard1899]. How many
    others seem better than the best is taken as geometric, by its mean, of which what a normal
    variable has beyond the best is taken off by `NEVER_AHEAD`; cuts as half independent. All that
    is off a simulation by one point in the mean and by 15 at most, as a test holds.

    >>> best_kept(24.0, 0.5, 0.0, 0.1), round(best_kept(24.0, 0.25, 2.0, 0.1), 2)
    (1.0, 0.96)
    """
    lead = largest_score(variants) * variants / (variants - 1)
    others = maximum(1 - lead * lead / variants, 0.1)
    every, worst = 1.0, 1.0
    for rung in range(MOST_HALVINGS):
        wrong = _misordered(survive ** maximum(halvings - rung, 0.0), 1.0, per_tenfold)
        seen, unseen = cos(_PI * wrong), sin(_PI * wrong)
        apart = sqrt(2 * unseen * unseen + seen * seen * others)
        never = seen**NEVER_AHEAD * _beyond(lead / sqrt(others))
        better = (variants - 1) * maximum(_beyond(seen * lead / apart) - never, 0.0)
        left, stays = (whole_above(variants * survive**by) for by in (rung, rung + 1))
        lost = where(stays < left, (better / (1 + better)) ** stays, 0.0)
        kept = where(rung < halvings, 1 - lost, 1.0)
        every, worst = every * kept, minimum(worst, kept)
    return sqrt(every * worst)


def _beyond(deviations):
    """Probability of more than so many standard deviations above the mean [1], to 7.5e-8; a page's
    own normal distribution has too few digits for the number of variants that it is times here
    [abramowitz1964, equation 26.2.17].
    """
    far = minimum(abs(deviations), FURTHEST)
    t = 1 / (1 + 0.2316419 * far)
    tail = 0.0
    for term in _TAIL:
        tail = t * (term + tail)
    tail = tail * normal_density(far)
    return where(deviations >= 0, tail, 1 - tail)


@closed_form(experiment_usd=NON_NEGATIVE, seeds=COUNT)
def decision_usd(experiment_usd, seeds):
    """What it costs to decide between two variants, each with so many seeds [USD].

    >>> decision_usd(100.0, 4)
    800.0
    """
    return 2 * seeds * experiment_usd
