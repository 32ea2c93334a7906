"""What to train: searches over the laws, and how sure a fitted law is of its compute-optimal
size.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright.formulas import lookup, search, simulation
from scaleright.ops import exp, log, maximum, minimum
from scaleright.quantity import Quantity
from scaleright.quantity.graph import value_of
from scaleright.ranges import Ends
from scaleright.scaling_laws.laws import (
    Law,
    balance_step,
    balanced_parameters,
    compute_optimal_parameters,
    figures,
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


@lookup
def size_ends(
    rent: Quantity,
    rents: tuple[Any, Any],
    mfu: Quantity,
    paces: tuple[float, float],
    fit: Quantity,
    off: Any,
) -> dict[str, Ends]:
    """What may be off in a compute-optimal size: the rent from the lowest to the highest listing,
    the share of peak by what real runs took, and the fit within its range of nine in ten.

    Parameters
    ----------
    rents : lowest and highest listing [USD/h]
    paces : time of the shortest and the longest of nine in ten real runs over what is thought [1]
    fit : factor of the size
    off : how many times it may be off, see `range_factor`

    >>> from scaleright.quantity import given
    >>> rent, mfu, fit = given("rent", 1.0), given("mfu", 0.6), given("fit", 1.0)
    >>> ends = size_ends(rent, (2.0, 4.0), mfu, (1.0, 2.0), fit, 1.1)
    >>> [(float(end.low.value), float(end.high.value)) for end in list(ends.values())[:2]]
    [(1.0, 4.0), (0.3, 0.6)]
    """
    (low, high), (short, long) = rents, paces
    return {
        "rent": Ends(rent, minimum(low, rent), maximum(high, rent)),
        "share of peak": Ends(mfu, mfu / long, mfu / short),
        "the fit": Ends(fit, 1 / off, off),
    }
