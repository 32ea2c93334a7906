"""Few constants from many measurements: a robust fit in which families with few rows stay near all
others (partial pooling).

A measured time is predicted as the sum of physical parts, one a kind of work, each multiplied by a
constant; the constant of a kind belongs to a family (of chips, of software). Steps of training,
steps of serving and the energy of serving are all fitted so.
"""

from collections.abc import Mapping, Sequence
from statistics import median

import numpy as np

from scaleright.formulas import lookup, search

Constants = Mapping[tuple[str, str], float]
"""Constants by family and kind of work."""
ANY = "any"
"""The family of what all rows share: the mean of all families of a kind."""
SHRINKAGE, POOLING, POOLED_ROWS, FIRM, TOLERANCE = 1e-3, 2e-4, 2.0, 1e3, 0.03
"""Ties of the fit: of the mean of all families to the prior and of a family to that mean, as
weights per row; a family counts two further rows that show the mean; fixed kinds are held. Relative
error up to which a row counts in full, beyond which its weight falls.
"""


@lookup
def interval_bounds(
    fitted: Mapping[tuple[str, str], tuple[float, float, float]], family: str, apart: str = ""
) -> tuple[float, float]:
    """Bounds of measured over predicted values of a family in a table of constants [1].

    fitted : value, low and high by family and constant
    apart : a source whose own rows are to have no say in them

    >>> ends = {"dense": (1.0, 0.5, 2.0), "dense without them": (1.0, 0.8, 1.2)}
    >>> table = {(family, "interval"): values for family, values in ends.items()}
    >>> interval_bounds(table, "dense"), interval_bounds(table, "dense", "them")
    ((0.5, 2.0), (0.8, 1.2))
    """
    whole = fitted[family, "interval"]
    _, low, high = fitted.get((f"{family} without {apart}", "interval"), whole)
    return low, high


def _non_negative(curvature: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """The non-negative factors of least squares, from the normal equations of each fit.

    Without a bound they are one solution away, and it holds where none is below zero, as in most
    fits; only else is there a search, of the equations' root, with as many rows as factors.
    """
    factors = np.linalg.solve(curvature, pull[..., None])[..., 0]
    for fit in np.flatnonzero(factors.min(axis=1) < 0):
        from scipy.optimize import nnls

        root = np.linalg.cholesky(curvature[fit])
        factors[fit] = nnls(root.T, np.linalg.solve(root, pull[fit]))[0]
    return factors


def _robust(
    shares: np.ndarray,
    places: np.ndarray,
    prior: np.ndarray,
    ties: np.ndarray,
    among: np.ndarray,
    aim: np.ndarray | float,
    rounds: int = 8,
) -> np.ndarray:
    """Non-negative factors that bring the shares' sums near an aim, tied to a prior; large errors,
    and factors beyond twice the prior, count less (IRLS). As prior and ties, (fits, factors).

    shares, places : what a row shows of each kind, and which factor that is of, (kinds, rows)
    among : the rows that each fit is of, (fits, rows)
    """
    from scipy.sparse import csr_array  # adds one by one, and so in one order on every processor

    (kinds, rows), (fits, many) = shares.shape, prior.shape
    each = np.broadcast_to(np.arange(rows), shares.shape)
    shown = csr_array((shares.ravel(), (each.ravel(), places.ravel())), (rows, many))
    # of what a row shows of two kinds, each pair of kinds once, and where it shows both
    first, second = np.triu_indices(kinds)
    products = (shares[first] * shares[second]).ravel()
    both = np.flatnonzero(products)
    pairs = (places[first] * many + places[second]).ravel()
    curved = csr_array((products[both], (pairs[both], both % rows)), (many * many, rows))
    weights, factors, own = among.astype(float), prior, np.arange(many)
    for _ in range(rounds):
        held = ties / np.maximum(np.abs(factors / prior - 1), 1.0)
        half = (curved @ weights.T).T.reshape(fits, many, many)
        curvature = half + half.transpose(0, 2, 1)
        curvature[:, own, own] = half[:, own, own] + held / prior**2
        factors = _non_negative(curvature, (shown.T @ (weights * aim).T).T + held / prior)
        error = np.abs((shown @ factors.T).T - aim)
        weights = among * TOLERANCE / np.maximum(error, TOLERANCE)
    return factors


def _families(
    shares: np.ndarray,
    named: np.ndarray,
    kinds: Sequence[str],
    mean: np.ndarray,
    ties: np.ndarray,
    among: np.ndarray,
    aim: np.ndarray | float = 1.0,
) -> list[Constants]:
    """One constant a family and kind, tied to the mean of all families, (fits, kinds), by so many
    rows.
    """
    seen = shares > 1e-4
    typical = [
        (shares[rows] ** 2 * seen[rows]).sum(axis=0) / np.maximum(seen[rows].sum(axis=0), 1)
        for rows in among
    ]
    tied = ties * among.sum(axis=1, keepdims=True) + POOLED_ROWS * np.array(typical)
    keys, of, columns = [], [], []
    for place, (kind, column) in enumerate(zip(kinds, named.T, strict=True)):
        names, codes = np.unique(column.astype(str), return_inverse=True)
        columns.append(len(keys) + codes)
        keys += [(str(name), kind) for name in names]
        of += [place] * len(names)
    places = np.array(columns)
    own = _robust(shares.T, places, mean[:, of], tied[:, of], among, aim, rounds=10)
    return [
        {(ANY, kind): float(value) for kind, value in zip(kinds, means, strict=True)}
        | dict(sorted((keys[at], float(found[at])) for at in np.unique(places[:, rows])))
        for means, found, rows in zip(mean, own, among, strict=True)
    ]


@search
def fit(
    shares: np.ndarray,
    named: np.ndarray,
    mean: Mapping[str, float],
    ties: Mapping[str, float],
    among: np.ndarray,
) -> list[Constants]:
    """Constants from measurements, by (family, kind of work), each tied to a known mean of all
    families; of many fits at once, each to some of the rows.

    Parameters
    ----------
    shares : what each kind of work adds to the prediction at a constant of 1, over the measured
        value, (rows, kinds)
    named : family of each kind of each row, of the same shape
    mean : constant of family "any" by kind, in the order of the columns
    ties : how alike families are known to be, by kind, as a weight per row
    among : whether a fit is of a row, (fits, rows)

    Notes
    -----
    Robust least squares on the relative error of the prediction, which is linear in the constants.
    A family with few rows stays near all others (partial pooling); one without has no constant.

    >>> (found,) = fit(np.array([[0.5]] * 90), np.full((90, 1), "Hopper"), {"matmul": 1.0},
    ...     {"matmul": 1e-4}, np.ones((1, 90), bool))
    >>> found["any", "matmul"], found["Hopper", "matmul"] > 1.8
    (1.0, True)
    """
    means = np.tile([mean[kind] for kind in mean], (len(among), 1))
    return _families(
        shares, named, list(mean), means, np.array([ties[kind] for kind in mean]), among
    )


@search
def fit_pooled(
    shares: np.ndarray,
    named: np.ndarray,
    prior: Mapping[str, float],
    among: np.ndarray,
    fixed: Sequence[str] = (),
    aim: np.ndarray | float = 1.0,
) -> list[Constants]:
    """Constants from measurements as `fit` finds them, the mean of all families fitted first, tied
    to a prior.

    prior : where the fits start from, by kind, in the order of the columns
    fixed : kinds that are held at the prior
    aim : what the shares times the constants are to come to, 1 or (fits, rows)

    >>> (found,) = fit_pooled(np.array([[0.5]] * 20), np.full((20, 1), "any"), {"matmul": 1.0},
    ...     np.ones((1, 20), bool))
    >>> found["any", "matmul"] > 1.9
    True
    """
    held = np.array([kind in fixed for kind in prior])
    pooled = _robust(
        shares.T,
        np.broadcast_to(np.arange(len(prior))[:, None], shares.T.shape),
        np.tile(list(prior.values()), (len(among), 1)),
        np.where(held, FIRM, SHRINKAGE) * among.sum(axis=1, keepdims=True),
        among,
        aim,
    )
    ties = np.where(held, FIRM, POOLING)
    return _families(shares, named, list(prior), np.maximum(pooled, 0.05), ties, among, aim)


@lookup
def constant(constants: Constants, names: Sequence[str], kind: str) -> tuple[float, bool]:
    """The constant of the first of these families that has one of a kind of work, and whether it is
    borrowed from all families.

    >>> constant({("any", "matmul"): 1.2}, ["Hopper"], "matmul")
    (1.2, True)
    """
    for known in names:
        if (known, kind) in constants:
            return constants[known, kind], False
    return constants[ANY, kind], True


@lookup
def kin_constant(constants: Constants, name: str, kind: str) -> tuple[float, bool]:
    """The constant of a family, and whether it is borrowed: from those that share what its name
    says before the comma, else from all.

    >>> known = {("any", "host"): 1.0, ("vLLM, Hopper", "host"): 2.0}
    >>> kin_constant(known, "vLLM, Hopper", "host"), kin_constant(known, "vLLM, Ampere",
    ...     "host"), kin_constant(known, "SGLang, Ampere", "host")
    ((2.0, False), (2.0, True), (1.0, True))
    """
    found, lent = constant(constants, (name,), kind)
    if not lent:
        return found, False
    parent = f"{name.partition(', ')[0]}, "
    kin = [
        value for (other, of), value in constants.items() if of == kind and other.startswith(parent)
    ]
    return (median(kin) if kin else found), True
