"""The parametric law fitted to training runs: a robust fit from a grid of starts, and how far
resampling moves it.

Coefficients are log A, log B, log E, alpha and beta. Searches are broadcasts over many fits at
once; L-BFGS settles the last one.
"""

import itertools

import numpy as np
import pandas as pd

from scaleright.catalog import shared, table
from scaleright.formulas import lookup, search, simulation
from scaleright.scaling_laws.laws import Law, tokens_for_compute
from scaleright.units import figure

DELTA = 1e-3
"""Where the Huber loss turns from square to absolute, in the logarithm of the loss. Source:
[hoffmann2022, section 3.3].
"""
_LARGE, _SMALL = (0, 5, 10, 15, 20, 25), (0, 0.5, 1, 1.5, 2)
STARTS = np.array(
    list(itertools.product(_LARGE, _LARGE, (-1, -0.5, 0, 0.5, 1), _SMALL, _SMALL)), dtype=float
).T
"""Starts of log A, log B, log E, alpha and beta, shape (5, 4500). Source: [hoffmann2022, section
D.2].
"""
_TRIED, _STEPS, _SEED = 100, 40, 20240415
COLUMNS = ("parameters", "tokens", "loss")


@lookup
def points(outliers: bool = False) -> pd.DataFrame:
    """The training runs of [hoffmann2022, figure 4] as digitized by [besiroglu2024]: parameters,
    tokens, loss [nat/token].

    outliers : keep the runs that the replication leaves out, the five with the fewest tokens a
        parameter

    >>> len(points()), len(points(outliers=True))
    (240, 245)
    """
    rows = table("chinchilla_points")
    rows = rows.assign(
        tokens=tokens_for_compute(rows["flop"].to_numpy(), rows["parameters"].to_numpy())
    )
    return rows.loc[outliers | ~rows["outlier"].astype(bool), list(COLUMNS)].reset_index(drop=True)


def _logs(runs: pd.DataFrame) -> np.ndarray:
    """Logarithms of parameters, tokens and loss, shape (3, runs), after a look at the table."""
    if missing := [name for name in COLUMNS if name not in runs]:
        raise ValueError(f"runs: no column {missing[0]!r}; needed: {', '.join(COLUMNS)}")
    values = runs[list(COLUMNS)].to_numpy(dtype=float).T
    for name, column in zip(COLUMNS, values, strict=True):
        if len(bad := column[~((column > 0) & (column < np.inf))]):
            raise ValueError(f"runs: {name} = {bad[0]:g}; allowed: above 0 and finite in every run")
    if (different := len(runs.drop_duplicates(list(COLUMNS)))) < 6:
        raise ValueError(
            f"runs: {different} that differ cannot settle 5 coefficients; allowed: 6 or more"
        )
    return np.log(values)


def _residuals(coefficients: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predicted less observed log loss by log-sum-exp, and its five derivatives, of one fit or of
    many in one broadcast.

    Parameters
    ----------
    coefficients : log A, log B, log E, alpha, beta, shape (5, 1), or (5, fits, 1) for a residual of
        shape (fits, runs)
    logs : of parameters, tokens and loss, shape (3, runs)
    """
    (a, b, e, alpha, beta), (x, y, observed) = coefficients, logs
    terms = np.stack(np.broadcast_arrays(a - alpha * x, b - beta * y, e))
    top = terms.max(axis=0)
    shares = np.exp(terms - top)
    total = shares.sum(axis=0)
    shares /= total
    return top + np.log(total) - observed, np.stack([*shares, -shares[0] * x, -shares[1] * y])


def _huber(residual: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The sum over runs of the Huber loss. Source: [hoffmann2022, equation 3]."""
    near = np.clip(residual, -DELTA, DELTA)
    return (weights * near * (residual - near / 2)).sum(axis=-1)


def _objective(
    coefficients: np.ndarray, logs: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """The sum of Huber losses of one fit and its gradient, as SciPy asks for them."""
    residual, slopes = _residuals(coefficients[:, None], logs)
    slope = (slopes * (weights * np.clip(residual, -DELTA, DELTA))).sum(axis=-1)
    return float(_huber(residual, weights)), slope


def _descend(
    found: np.ndarray, logs: np.ndarray, weights: np.ndarray, steps: int = _STEPS
) -> np.ndarray:
    """Levenberg-Marquardt steps of many fits at once, shape (5, fits), each to its own weights,
    shape (fits, runs).

    The Huber loss is a sum of squares with weights that follow the residuals.
    """
    damping = np.full(len(weights), 1e-3)
    residual, slopes = _residuals(found[..., None], logs)
    for _ in range(steps):
        pull = weights * np.minimum(1.0, DELTA / np.maximum(np.abs(residual), 1e-300))
        jacobian = slopes.transpose(1, 0, 2)
        curvature = (jacobian * pull[:, None]) @ jacobian.transpose(0, 2, 1)
        held = curvature * (1 + damping[:, None, None] * np.eye(5)) + 1e-18 * np.eye(5)
        tried = found - np.linalg.solve(held, jacobian @ (pull * residual)[..., None])[..., 0].T
        there, leaning = _residuals(tried[..., None], logs)
        better = _huber(there, weights) < _huber(residual, weights)
        found, slopes = np.where(better, tried, found), np.where(better[:, None], leaning, slopes)
        residual = np.where(better[:, None], there, residual)
        damping = np.clip(np.where(better, damping / 5, damping * 5), 1e-12, 1e6)
    return found


def _law(coefficients: np.ndarray) -> Law:
    """The law of coefficients, or of many, shape (5,) or (5, draws); five digits are kept, the same
    on every machine, since the search stops within a few parts in a billion.
    """
    a, b, e = np.exp(coefficients[:3])
    kept = (
        np.array([figure(value, 5) for value in np.ravel(values)]).reshape(np.shape(values))
        for values in (e, a, b, *coefficients[3:])
    )
    return Law(*(values if values.ndim else values.item() for values in kept))


def _start(law: Law) -> np.ndarray:
    return np.array([*np.log([law.A, law.B, law.E]), law.alpha, law.beta])


def _resampled(runs: int, draws: int) -> np.ndarray:
    """How often each run is drawn, shape (draws, runs)."""
    if draws < 2:
        raise ValueError(f"bootstrap: draws = {draws} shows no spread; allowed: 2 or more")
    return (
        np.random.default_rng(_SEED)
        .multinomial(runs, np.full(runs, 1 / runs), size=draws)
        .astype(float)
    )


@search
@shared
def fit(runs: pd.DataFrame) -> Law:
    """The law that fits runs best: the least sum of Huber losses, searched from the paper's grid of
    starts.

    All 4,500 starts are compared in broadcasts, a hundred at a time, which stay in the processor's
    cache; the best hundred are followed together, and L-BFGS settles the best of them.

    Parameters
    ----------
    runs : columns parameters, tokens and loss [nat/token]

    Raises
    ------
    ValueError : a missing column, a value that is not above 0, fewer than six runs.

    Source: [hoffmann2022, sections 3.3 and D.2]; [besiroglu2024, section 3].

    >>> round(float(fit(points()).E), 3)
    1.817
    """
    from scipy.optimize import minimize

    logs, weights = _logs(runs), np.ones(len(runs))
    value = np.concatenate(
        [
            _huber(_residuals(some[..., None], logs)[0], weights)
            for some in np.split(STARTS, 45, axis=1)
        ]
    )
    near = _descend(
        STARTS[:, np.argsort(value, kind="stable")[:_TRIED]], logs, np.tile(weights, (_TRIED, 1))
    )
    best = near[:, [np.argmin(_huber(_residuals(near[..., None], logs)[0], weights))]]
    near = _descend(best, logs, weights[None], 5 * _STEPS)[:, 0]
    return _law(
        minimize(
            _objective,
            near,
            (logs, weights),
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10},
        ).x
    )


@simulation
@shared
def bootstrap(runs: pd.DataFrame, law: Law, draws: int = 400) -> Law:
    """The same fit to runs drawn again and again with replacement: a law whose fields have shape
    (draws,).

    Every draw is searched from the fit to all runs until it converges, all of them in one
    broadcast.

    Raises
    ------
    ValueError : as `fit`; fewer than 2 draws.

    >>> from scaleright.scaling_laws.laws import published
    >>> bootstrap(points(), published("Besiroglu 2024"), draws=3).alpha.shape
    (3,)
    """
    return _law(
        _descend(np.tile(_start(law)[:, None], draws), _logs(runs), _resampled(len(runs), draws))
    )


@simulation
@shared
def stalled_bootstrap(runs: pd.DataFrame, law: Law, draws: int = 50) -> Law:
    """A bootstrap that does not move: the mean in place of the sum, at the solver's default
    tolerance, started from a law.

    The mean of the Huber losses is no larger than the tolerance, so that the solver stops within a
    few steps of its start whatever was drawn. An author of the original fit named this as the cause
    of its narrow intervals.

    Source: [besiroglu2024, section 3.2].

    >>> from scaleright.scaling_laws.laws import published
    >>> float(stalled_bootstrap(points(), published("Besiroglu 2024"), draws=4).size_exponent.std(
    ...     )) < 2e-3
    True
    """
    from scipy.optimize import minimize

    logs = _logs(runs)
    means = _resampled(len(runs), draws) / len(runs)
    return _law(
        np.array(
            [
                minimize(_objective, _start(law), (logs, weights), jac=True, method="L-BFGS-B").x
                for weights in means
            ]
        ).T
    )
