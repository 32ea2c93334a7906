"""What an experiment can decide: how many seeds tell two variants apart, how far the order at a
small scale is that at a large one, and what a decision costs.
"""

from statistics import NormalDist

from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, SHARE, Domain, closed_form, lookup
from scaleright.ops import log10, maximum, minimum, normal_cdf, sqrt

LEVELS = ("80 %", "90 %", "95 %", "99 %")
"""How rarely a difference is to be seen where there is none."""
POWERS = ("50 %", "80 %", "90 %", "95 %")
"""How often one that is there is to be found."""
QUANTILE = Domain(0.0, 6.0, (0.0, 3.0))
TENFOLDS = Domain(0.0, 1.0, (0.0, 0.3))
BY_CHANCE = 0.5
"""Share of pairs that are in the wrong order where a proxy tells nothing [1]."""
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


@closed_form(experiment_usd=NON_NEGATIVE, seeds=COUNT)
def decision_usd(experiment_usd, seeds):
    """What it costs to decide between two variants, each with so many seeds [USD].

    >>> decision_usd(100.0, 4)
    800.0
    """
    return 2 * seeds * experiment_usd
