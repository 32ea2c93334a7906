"""What to train: searches over the laws, and how sure a fitted law is of its compute-optimal size
and of the tokens that a smaller model takes.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright.formulas import lookup, search, simulation
from scaleright.ops import exp, log, maximum, minimum, sqrt, where
from scaleright.quantity.graph import value_of
from scaleright.scaling_laws.laws import (
    Law,
    balance_step,
    balanced_parameters,
    compute_optimal_parameters,
    figures,
    parameters_for_loss,
    published,
    repeated_loss,
    tokens_for_compute,
    tokens_for_optimal_loss,
)

NEWTON_STEPS = 6
"""From the compute-optimal tokens this many reach the cheapest model to 1e-9 and better."""


class Model(NamedTuple):
    """A model and its training: parameters and tokens."""

    size: Any
    tokens: Any

    @property
    def ratio(self) -> Any:
        """Tokens a parameter."""
        return self.tokens / self.size


class Repeats(NamedTuple):
    """Passes over unique tokens, and what a token of them is worth of a fresh one [1]."""

    passes: Any
    worth: Any


@search
def cheapest_for_life(loss, served, law: Law) -> Model:
    """The model of a given loss for which training and service together cost least; numbers, arrays
    or quantities.

    Parameters
    ----------
    loss : to be reached [nat/token]
    served : tokens in service as training tokens of the same price, see `equivalent_tokens`; 0
        gives the compute-optimal model

    Raises
    ------
    ValueError : a loss at or below the law's floor, which no model reaches.

    Source: [sardana2024, equation 3].

    >>> from scaleright.scaling_laws.laws import published
    >>> idle, busy = (cheapest_for_life(2.0, served, published("Besiroglu 2024"))
    ...     for served in (0.0, 1e13))
    >>> bool(busy[0] < idle[0] and busy[1] > idle[1])
    True
    """
    wanted = np.asarray(value_of(loss))
    if not np.all(wanted > np.asarray(law.E)):
        raise ValueError(
            f"loss = {wanted.min():.4g} cannot be reached; allowed: above the law's floor of"
            f" {np.max(law.E):.4g}"
        )
    position = log(tokens_for_optimal_loss(loss, law.E, law.B, law.alpha, law.beta))
    for _ in range(NEWTON_STEPS):
        position = balance_step(position, loss, served, law.E, law.B, law.alpha, law.beta)
    tokens = exp(position)
    return Model(balanced_parameters(tokens, served, **law.terms), tokens)


MOST_PASSES = 4.0
"""Over the same tokens, up to which a repeat teaches nearly as much as a fresh one
[muennighoff2023, section 5]."""


@lookup
def within_passes(model: Model, least: Model, loss: Any, unique_tokens: Any, law: Law) -> Model:
    """A model, or the next of its loss that passes over the unique tokens at most `MOST_PASSES`
    times; never on fewer tokens than another of that loss; quantities.

    least : that other one, such as the compute-optimal

    >>> from scaleright.quantity import given
    >>> from scaleright.scaling_laws.laws import published
    >>> of = published("Besiroglu 2024")
    >>> optimal, small = (cheapest_for_life(given("loss", 2.0), n, of) for n in (0.0, 1e14))
    >>> held = within_passes(small, optimal, given("loss", 2.0), given("unique", 5e11), of)
    >>> held.tokens.value == 2e12, small.size.value < held.size.value < optimal.size.value
    (True, True)
    """
    most = maximum(MOST_PASSES * unique_tokens, least.tokens)
    tokens = minimum(model.tokens, most)
    there = parameters_for_loss(loss, tokens, law.E, **law.terms)
    size = where(model.tokens <= most, model.size, where(tokens > least.tokens, there, least.size))
    return Model(size, tokens)


@search
def data_constrained(
    flop: float, unique_tokens: float, law: Law, data_decay: float, size_decay: float
) -> tuple[float, float]:
    """Parameters and tokens with the least loss for a budget when only so many different tokens
    exist, to half a percent.

    Source: [muennighoff2023, section 3.1].

    >>> from scaleright.scaling_laws.laws import published
    >>> scarce, plenty = (data_constrained(1e22, unique, published("Muennighoff 2023"), 15.4, 5.31)
    ...     for unique in (1e9, 1e12))
    >>> scarce[0] < plenty[0]
    True
    """
    sizes = compute_optimal_parameters(flop, **law.terms) * np.geomspace(1e-3, 1e2, 2400)
    tokens = tokens_for_compute(flop, sizes)
    best = int(
        np.argmin(
            repeated_loss(
                sizes,
                tokens,
                unique_tokens,
                law.E,
                **law.terms,
                data_decay=data_decay,
                size_decay=size_decay,
            )
        )
    )
    return float(sizes[best]), float(tokens[best])


@search
def scarce_data(flop: float) -> pd.DataFrame:
    """The best model for a budget when different tokens are scarce, by a law that knows repeats
    ("Muennighoff 2023"): from as many as the compute-optimal model would take down to a hundredth.

    >>> scarce_data(3e23)["passes"].round(1).tolist()[:2]
    [1.0, 4.8]
    """
    law, fitted = published("Muennighoff 2023"), figures("Muennighoff 2023")
    decays = {key: fitted[key] for key in ("data_decay", "size_decay")}
    plenty = tokens_for_compute(flop, compute_optimal_parameters(flop, **law.terms))
    rows = []
    for unique in (plenty * share for share in (1.0, 0.25, 0.1, 0.03, 0.01)):
        size, tokens = data_constrained(flop, unique, law, **decays)
        reached = repeated_loss(size, tokens, unique, law.E, **law.terms, **decays)
        rows.append((unique, size, tokens, tokens / unique, reached))
    columns = ["unique tokens", "parameters", "tokens", "passes", "loss"]
    return pd.DataFrame(rows, columns=columns)


@simulation
def spread(draws: Law) -> dict[str, float]:
    """How sure resampled fits are of the compute-optimal size: center_flop, level and slope for
    `range_factor`.

    >>> spread(Law(1.8, np.array([400.0, 500.0]), 2000.0, 0.35, np.array([0.36, 0.37])))[
    ...     "slope"] > 0
    True
    """
    slope, level = draws.size_exponent, np.log(compute_optimal_parameters(1.0, **draws.terms))
    moments = np.cov(level, slope)
    center = -moments[0, 1] / moments[1, 1]
    found = {
        "center_flop": np.exp(center),
        "level": np.std(level + slope * center),
        "slope": np.std(slope),
    }
    return {name: float(f"{value:.3g}") for name, value in found.items()}


@simulation
def tokens_doubt(best: Model, smaller: Model, law: Law, draws: Law) -> Any:
    """How sure the fit is of the tokens on which a smaller model reaches the loss of a larger one:
    standard deviation of their logarithm [1], to first order in the coefficients.

    Parameters
    ----------
    best, smaller : the models, of one loss by the law; numbers or quantities
    draws : resampled fits, whose coefficients move together

    >>> from scaleright.scaling_laws.laws import published
    >>> law = published("Besiroglu 2024")
    >>> draws = Law(1.8, law.A * np.array([0.9, 1.1, 1.0, 0.8]), law.B * np.array([1.0, 1.1, 0.9,
    ...     1.2]), law.alpha + np.array([0.01, 0, -0.01, 0]), law.beta + np.array([0, 0.01, 0, 0]))
    >>> one = Model(70e9, 1.4e12)
    >>> float(tokens_doubt(one, one, law, draws)) < 1e-9
    True
    """
    moved = np.stack([np.log(draws.A), np.log(draws.B), draws.alpha, draws.beta])
    together = np.linalg.cholesky(np.cov(moved) + 1e-15 * np.eye(len(moved)))
    misses, lacks = law.A / best.size**law.alpha, law.B / best.tokens**law.beta
    short, left = law.A / smaller.size**law.alpha, law.B / smaller.tokens**law.beta
    size, tokens = log(best.size), log(best.tokens)
    slopes = (  # of the tokens by log A, log B, alpha and beta, the loss being what the law says
        (short - misses) / left,
        1 - lacks / left,
        (misses * size - short * log(smaller.size)) / left,
        lacks / left * tokens - log(smaller.tokens),
    )
    parts = (
        sum(slope * float(f"{of:.6g}") for slope, of in zip(slopes, column, strict=True))
        for column in together.T
    )
    return sqrt(sum(part**2 for part in parts)) / law.beta
