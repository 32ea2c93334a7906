"""Few constants from many measurements: a robust fit in which families with few rows stay near all others (partial pooling).

A measured time is predicted as the sum of physical parts, one a kind of work, each multiplied by a constant; the constant of a kind
belongs to a family (of chips, of software). Steps of training, steps of serving and the energy of serving are all fitted so.
"""

from typing import Mapping, Sequence

import numpy as np

from scaleright.formulas import lookup, search

ANY = "any"
"""The family of what all rows share: the mean of all families of a kind."""
SHRINKAGE, POOLING, POOLED_RUNS, FIRM, TOLERANCE = 1e-3, 2e-4, 2.0, 1e3, 0.03
"""Ties of the fit: of the mean of all families to the prior and of a family to that mean, as weights per row; a family counts two
further rows that show the mean; fixed kinds are held. Relative error up to which a row counts in full, beyond which its weight falls."""


def _robust(shares: np.ndarray, prior: np.ndarray, ties: np.ndarray, rounds: int = 8) -> np.ndarray:
    """Non-negative factors that bring the shares' sums near 1, tied to a prior; large errors, and factors beyond twice the prior, count less (IRLS)."""
    from scipy.optimize import nnls

    weights, factors = np.ones(len(shares)), prior
    for _ in range(rounds):
        weighted, held = shares * weights[:, None], ties / np.maximum(np.abs(factors / prior - 1), 1.0)
        root = np.linalg.cholesky(weighted.T @ shares + np.diag(held / prior**2))  # the normal equations' root: as many rows as factors
        factors, _ = nnls(root.T, np.linalg.solve(root, weighted.sum(axis=0) + held / prior))
        weights = TOLERANCE / np.maximum(np.abs(shares @ factors - 1), TOLERANCE)
    return factors


@search
def fit(
    shares: np.ndarray, named: np.ndarray, prior: Mapping[str, float], fixed: Sequence[str] = (), pooling: float = POOLING,
) -> dict[tuple[str, str], float]:  # fmt: skip
    """Constants from measurements, by (family, kind of work); family "any" holds the mean of all.

    Parameters
    ----------
    shares : what each kind of work adds to the prediction at a constant of 1, over the measured value, (rows, kinds)
    named : family of each kind of each row, of the same shape
    prior : where the fit starts from, by kind, in the order of the columns
    fixed : kinds that are held at the prior
    pooling : tie of a family to the mean of all, as a weight per row: how alike families are known to be

    Notes
    -----
    Two robust least squares on the relative error of the prediction, both linear: one constant a kind for all rows, tied to the
    prior; then one a family, tied to the first. A family with few rows so stays near all others (partial pooling).

    >>> fit(np.array([[0.5]] * 20), np.full((20, 1), "any"), {"matmul": 1.0})["any", "matmul"] > 1.9
    True
    """
    runs, kinds, held = len(shares), list(prior), np.array([kind in fixed for kind in prior])
    pooled = _robust(shares, np.array([prior[kind] for kind in kinds]), np.where(held, FIRM, SHRINKAGE) * runs)
    mean = {kind: max(float(value), 0.05) for kind, value in zip(kinds, pooled)}
    seen = shares > 1e-4
    typical = (shares * shares * seen).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    ties = dict(zip(kinds, np.where(held, FIRM, pooling) * runs + POOLED_RUNS * typical))
    found = [np.unique(named[:, place].astype(str), return_inverse=True) for place in range(len(kinds))]
    keys = [(str(name), kind) for kind, (names, _) in zip(kinds, found) for name in names]
    firsts = np.cumsum([0, *(len(names) for names, _ in found)])
    spread = np.zeros((runs, len(keys)))
    for place, (first, (_, codes)) in enumerate(zip(firsts, found)):
        spread[np.arange(runs), first + codes] = shares[:, place]
    own = _robust(spread, np.array([mean[kind] for _, kind in keys]), np.array([ties[kind] for _, kind in keys]), rounds=10)
    return {(ANY, kind): value for kind, value in mean.items()} | dict(sorted(zip(keys, own.tolist())))


@lookup
def constant(constants: Mapping[tuple[str, str], float], names: Sequence[str], kind: str) -> tuple[float, bool]:
    """The constant of the first of these families that has one of a kind of work, and whether it is borrowed from all families.

    >>> constant({("any", "matmul"): 1.2}, ["Hopper"], "matmul")
    (1.2, True)
    """
    for known in names:
        if (known, kind) in constants:
            return constants[known, kind], False
    return constants[ANY, kind], True
