"""Loss as a function of parameters, tokens and repeats, and the model that a budget should buy, as
closed forms.

Symbols are those of [hoffmann2022]: loss L in nats a token, N parameters, D training tokens, C
training FLOP, the floor E that no model goes below, A / N^alpha for what a finite model misses and
B / D^beta for what finite data do not teach.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.catalog import table
from scaleright.formulas import (
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Breakdown,
    Domain,
    closed_form,
    lookup,
)
from scaleright.names import one_of
from scaleright.ops import exp, log, maximum, minimum, sqrt, where
from scaleright.transformer.flops import inference_flop, training_flop

_FREE = float("inf")
SIZE = Domain(0.0, _FREE, (1e7, 1e13), open_low=True)
TOKENS = Domain(0.0, _FREE, (1e8, 1e15), open_low=True)
FLOP = Domain(0.0, _FREE, (1e17, 1e28), open_low=True)
FACTOR = Domain(0.0, _FREE, (10.0, 1e4), open_low=True)
EXPONENT = Domain(0.0, _FREE, (0.1, 0.8), open_low=True)
_LOG_TOKENS = Domain(0.0, _FREE, (20.0, 34.0))
LOSS = Domain(0.0, _FREE, (2.0, 4.0), open_low=True)
FLOOR = Domain(0.0, _FREE, (0.5, 1.9))
_DATA_TERMS = {"B": FACTOR, "alpha": EXPONENT, "beta": EXPONENT}
_TERMS = {"A": FACTOR} | _DATA_TERMS
PAYS = 0.005
"""Share of what a model costs over its life from which another one saves something [1]."""
Z90 = 1.644854
"""Standard deviations from the middle of a normal distribution to its 5th or 95th percentile."""


@dataclass(frozen=True)
class Law:
    """A parametric law of the loss: E + A / N^alpha + B / D^beta [nat/token]; fields are numbers or
    arrays of draws.
    """

    E: Any
    A: Any
    B: Any
    alpha: Any
    beta: Any

    @property
    def terms(self) -> dict[str, Any]:
        """What decides the split of a budget: everything but the floor."""
        return {name: getattr(self, name) for name in _TERMS}

    @property
    def size_exponent(self):
        """How the compute-optimal size grows with compute, a in N ~ C^a; tokens grow with 1 - a.

        >>> round(published("Besiroglu 2024").size_exponent, 4)
        0.5126
        """
        return self.beta / (self.alpha + self.beta)


@lookup
def figures(law: str) -> dict[str, float]:
    """The published figures of a law, by quantity, in the unit that the table `scaling_laws`
    states.

    Raises LookupError for an unknown law; the nearest names are offered.

    >>> figures("Hoffmann 2022, approach 2")["size_exponent"]
    0.49
    """
    rows = table("scaling_laws").set_index("law")
    return dict(
        rows.loc[[one_of(law, list(rows.index), "scaling law")], ["quantity", "value"]].itertuples(
            index=False
        )
    )


@lookup
def published(law: str) -> Law:
    """A published parametric law: "Hoffmann 2022, approach 3", "Besiroglu 2024" or "Muennighoff
    2023".

    Raises LookupError for an unknown law, or one that is not parametric.
    """
    found = figures(law)
    return Law(*(found[one_of(name, found, f"figure of {law}")] for name in ("E", *_TERMS)))


@closed_form(parameters=SIZE, tokens=TOKENS, E=FLOOR, **_TERMS)
def loss(parameters, tokens, E, A, B, alpha, beta):
    """Loss after training once over so many tokens [nat/token]. Source: [hoffmann2022, equation 2].

    >>> round(loss(70e9, 1.4e12, E=1.8172, A=482.01, B=2085.43, alpha=0.3478, beta=0.3658), 3)
    1.974
    """
    return E + A / parameters**alpha + B / tokens**beta


@closed_form(flop=FLOP, **_TERMS)
def compute_optimal_parameters(flop, A, B, alpha, beta):
    """Parameters of the model with the least loss that so much training arithmetic can buy.

    Source: [hoffmann2022, equation 4]; C = 6 N D.

    >>> round(compute_optimal_parameters(5.76e23, A=482.01, B=2085.43, alpha=0.3478,
    ...     beta=0.3658) / 1e9)
    72
    """
    return (alpha * A / (beta * B) * (flop / training_flop(1.0, 1.0)) ** beta) ** (
        1 / (alpha + beta)
    )


@closed_form(parameters=SIZE, **_TERMS)
def compute_optimal_tokens(parameters, A, B, alpha, beta):
    """Training tokens of which a model of this size is the compute-optimal one.

    Source: [hoffmann2022, equation 4], alpha A N^-alpha = beta B D^-beta.

    >>> round(compute_optimal_tokens(70e9, 482.01, 2085.43, 0.3478, 0.3658) / 1e12, 1)
    1.3
    """
    return (beta * B / (alpha * A) * parameters**alpha) ** (1 / beta)


@closed_form(flop=FLOP, parameters=SIZE)
def tokens_for_compute(flop, parameters):
    """Tokens on which so much arithmetic trains a model of this size.

    >>> tokens_for_compute(6e23, 100e9)
    1000000000000.0
    """
    return flop / training_flop(parameters, 1.0)


@closed_form(loss=LOSS, parameters=SIZE, E=FLOOR, **_TERMS)
def tokens_for_loss(loss, parameters, E, A, B, alpha, beta):
    """Tokens after which a model of this size has this loss; infinite for a model too small to
    reach it.

    >>> f"{tokens_for_loss(1.974, 70e9, 1.8172, 482.01, 2085.43, 0.3478, 0.3658):.1e}"
    '1.4e+12'
    >>> tokens_for_loss(1.974, 1e9, 1.8172, 482.01, 2085.43, 0.3478, 0.3658)
    inf
    """
    left = loss - E - A / parameters**alpha
    return where(left > 0, (B / maximum(left, 1e-9)) ** (1 / beta), _FREE)


@closed_form(loss=LOSS, tokens=TOKENS, E=FLOOR, **_TERMS)
def parameters_for_loss(loss, tokens, E, A, B, alpha, beta):
    """Size that has this loss after so many tokens; infinite where they are too few for any.

    >>> f"{parameters_for_loss(1.974, 1.4e12, 1.8172, 482.01, 2085.43, 0.3478, 0.3658):.1e}"
    '7.0e+10'
    """
    left = loss - E - B / tokens**beta
    return where(left > 0, (A / maximum(left, 1e-9)) ** (1 / alpha), _FREE)


@closed_form(flop=FLOP, parameters=SIZE, at_flop=FLOP, size_exponent=EXPONENT)
def power_law_parameters(flop, parameters, at_flop, size_exponent):
    """Compute-optimal size by a power law through one published point, as approaches 1 and 2 and
    the older law give it.

    Source: [hoffmann2022, table 2, and its projections of table 3 and A3]; [kaplan2020, table 6].

    >>> round(power_law_parameters(5.76e23, 1e9, 1.21e20, 0.50) / 1e9)
    69
    """
    return parameters * (flop / at_flop) ** size_exponent


@closed_form(amount=TOKENS, unique=TOKENS, decay=POSITIVE)
def effective(amount, unique, decay):
    """What repeated tokens, or parameters beyond what the data can fill, are worth in fresh ones.

    Parameters
    ----------
    amount, unique : in all and without repeats; what lies within `unique` counts in full
    decay : R*, the number of repeats after which another one is worth 1/e of fresh data

    Source: [muennighoff2023, equations 5 and 6].

    >>> effective(4e9, 1e9, 15.387756) / 4e9 > 0.93, effective(1e9, 2e9, 15.387756)
    (True, 1000000000.0)
    """
    own = minimum(unique, amount)
    return own + own * decay * (1 - exp((1 - amount / own) / decay))


@closed_form(
    parameters=SIZE,
    tokens=TOKENS,
    unique_tokens=TOKENS,
    E=FLOOR,
    **_TERMS,
    data_decay=POSITIVE,
    size_decay=POSITIVE,
)
def repeated_loss(parameters, tokens, unique_tokens, E, A, B, alpha, beta, data_decay, size_decay):
    """Loss where only so many different tokens exist and the rest are repeats [nat/token].

    Source: [muennighoff2023, section 3.1, equation 7 and appendix A].

    >>> fresh, repeated = (repeated_loss(1e9, 1e11, u, 1.87, 521, 1488, 0.353, 0.353, 15.4, 5.31)
    ...     for u in (1e11, 1e9))
    >>> fresh < repeated
    True
    """
    own = minimum(unique_tokens, tokens)
    filled = balanced_parameters(own, 0.0, A, B, alpha, beta)
    return loss(
        effective(parameters, filled, size_decay),
        effective(tokens, own, data_decay),
        E,
        A,
        B,
        alpha,
        beta,
    )


@closed_form(lifetime_tokens=NON_NEGATIVE, price_ratio=POSITIVE)
def equivalent_tokens(lifetime_tokens, price_ratio=1.0):
    """Training tokens that cost as much as reading and writing so many tokens in service.

    Parameters
    ----------
    price_ratio : price of a FLOP in service over that of a FLOP in training, which has the better
        utilization [1]

    Source: [sardana2024, equations 2 and 6]: 2 N a token in service, 6 N in training.

    >>> equivalent_tokens(3e12)
    1000000000000.0
    """
    return lifetime_tokens * price_ratio * inference_flop(1.0, 1.0) / training_flop(1.0, 1.0)


@closed_form(tokens=TOKENS, served=NON_NEGATIVE, **_TERMS)
def balanced_parameters(tokens, served, A, B, alpha, beta):
    """Size for which no other split of training and service has the same loss for less.

    Parameters
    ----------
    tokens : of training
    served : tokens in service as training tokens of the same price, see `equivalent_tokens`; 0
        gives the compute-optimal size

    Source: first-order condition of [sardana2024, equation 3], alpha A N^-alpha = beta B D^-beta (1
    + served / D).

    >>> balanced_parameters(1e12, 1e12, 482.01, 2085.43, 0.3478, 0.3658) < balanced_parameters(1e12,
    ...     0, 482.01, 2085.43, 0.3478, 0.3658)
    True
    """
    return (alpha * A / (beta * B) * tokens**beta / (1 + served / tokens)) ** (1 / alpha)


@closed_form(loss=LOSS, E=FLOOR, **_DATA_TERMS)
def tokens_for_optimal_loss(loss, E, B, alpha, beta):
    """Tokens of the compute-optimal model that reaches a loss; infinite at or below the floor.
    Source: [hoffmann2022, equation 4].

    >>> f"{tokens_for_optimal_loss(1.974, 1.8172, 2085.43, 0.3478, 0.3658):.1e}"
    '1.3e+12'
    """
    return where(loss > E, (B * (1 + beta / alpha) / maximum(loss - E, 1e-9)) ** (1 / beta), _FREE)


@closed_form(log_tokens=_LOG_TOKENS, loss=LOSS, served=NON_NEGATIVE, E=FLOOR, **_DATA_TERMS)
def balance_step(log_tokens, loss, served, E, B, alpha, beta):
    """One Newton step towards the training tokens of the cheapest model of this loss over its life.

    Solves beta log D = log B - log(L - E) + log(1 + (beta / alpha)(1 + served / D)) for log D; the
    function is convex, so that steps from the compute-optimal tokens (those of no service) never
    overshoot.

    Source: [sardana2024, section 2, which solves the same by Newton's method].

    >>> balance_step(27.0, 2.0, 0.0, 1.8172, 2085.43, 0.3478, 0.3658) > 27.0
    True
    """
    ratio = beta / alpha
    weight = ratio * served * exp(-log_tokens)
    gap = log(B / (loss - E)) - beta * log_tokens + log(1 + ratio + weight)
    return log_tokens + gap / (beta + weight / (1 + ratio + weight))


@closed_form(parameters=SIZE, tokens=TOKENS, price_ratio=POSITIVE, **_TERMS)
def implied_lifetime_tokens(parameters, tokens, A, B, alpha, beta, price_ratio=1.0):
    """Tokens in service for which this size and training would be the cheapest; below 0 for a model
    larger than compute-optimal.

    >>> implied_lifetime_tokens(8e9, 15e12, 482.01, 2085.43, 0.3478, 0.3658) > 15e12
    True
    """
    return (
        tokens
        * (alpha * A / parameters**alpha * tokens**beta / (beta * B) - 1)
        * training_flop(1.0, 1.0)
        / (inference_flop(1.0, 1.0) * price_ratio)
    )


@closed_form(parameters=SIZE, tokens=TOKENS, smaller=SIZE, longer=TOKENS, price_ratio=POSITIVE)
def even_lifetime_tokens(parameters, tokens, smaller, longer, price_ratio=1.0):
    """Tokens in service from which a smaller model that was trained for longer costs less than
    another over its life.

    Parameters
    ----------
    parameters, tokens : of the larger model
    smaller, longer : parameters and tokens of the other
    price_ratio : see `equivalent_tokens` [1]

    Source: [sardana2024, equation 2], equal for both.

    >>> f"{even_lifetime_tokens(70e9, 1.4e12, 35e9, 3.0e12):.3g}"
    '6e+11'
    """
    more = training_flop(smaller, longer) - training_flop(parameters, tokens)
    less = inference_flop(parameters, 1.0) - inference_flop(smaller, 1.0)
    return more / (less * price_ratio)


@dataclass(frozen=True)
class Lifetime(Breakdown):
    """What a model costs over its life [USD, or FLOP at prices of 1]."""

    training_usd: Any
    service_usd: Any


@closed_form(
    parameters=SIZE,
    tokens=TOKENS,
    lifetime_tokens=NON_NEGATIVE,
    training_usd_per_flop=NON_NEGATIVE,
    service_usd_per_flop=NON_NEGATIVE,
)
def lifetime(
    parameters, tokens, lifetime_tokens, training_usd_per_flop=1.0, service_usd_per_flop=1.0
):
    """Training and service of a model. Source: [sardana2024, equation 2, and with prices section
    4].

    >>> lifetime(1e9, 20e9, 60e9).parts()
    {'training_usd': 1.2e+20, 'service_usd': 1.2e+20}
    """
    served = maximum(lifetime_tokens, 1e-300)
    return Lifetime(
        training_flop(parameters, tokens) * training_usd_per_flop,
        inference_flop(parameters, served) * service_usd_per_flop,
    )


@closed_form(usd=POSITIVE, instead_of_usd=POSITIVE)
def saved_share(usd, instead_of_usd):
    """What a model saves of what another costs over its life [1]; 0 below `PAYS`.

    >>> saved_share(80.0, 100.0), saved_share(99.9, 100.0)
    (0.2, 0.0)
    """
    less = usd < (1 - PAYS) * instead_of_usd
    return where(less, (instead_of_usd - usd) / instead_of_usd, 0.0)


@closed_form(flop=FLOP, center_flop=FLOP, level=SHARE, slope=SHARE)
def range_factor(flop, center_flop, level, slope):
    """How many times the compute-optimal size may be off, up or down (90 %).

    Parameters
    ----------
    center_flop : compute at which the size is known best
    level, slope : standard deviations of the logarithm of the size there, and of its growth with
        the logarithm of compute

    >>> round(range_factor(1e24, 1e20, 0.02, 0.02), 2)
    1.36
    """
    return exp(Z90 * sqrt(level**2 + (slope * log(flop / center_flop)) ** 2))


@closed_form(runs=POSITIVE, width=POSITIVE, claimed_width=POSITIVE)
def runs_for_width(runs, width, claimed_width):
    """Training runs that would narrow an interval from one width to another, since widths shrink
    with the root of the runs.

    Source: [besiroglu2024, section 3.2].

    >>> runs_for_width(240, 0.046, 0.001)
    507840.0
    """
    return runs * (width / claimed_width) ** 2
