"""How fast one kind of chip trains a model at the pace that is asked for, by the steps with which
the cost of pretraining is counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scaleright.catalog import model, shared
from scaleright.costs.fastest_steps import MODELS, PRECISIONS, SIZES
from scaleright.costs.platform_terms import trust
from scaleright.costs.training_fleet import kept_on_all, left_out
from scaleright.costs.whole_runs import BEST_QUARTER, TUNINGS, TYPICAL, as_tuned
from scaleright.decisions.hardware_candidates import candidate_rows
from scaleright.formulas import lookup, search
from scaleright.information import spread_between
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import choose
from scaleright.training.layout import training_format
from scaleright.units import figure

NOT_FOUND = "no layout of it was found beforehand: ask for it on the command line"
"""Why a model has no row: a search cannot follow the controls of a page."""
NAN = float("nan")
Rows = Mapping[tuple[str, str, str], Mapping[str, Any] | str]


@shared
def training_rows(models: tuple[str, ...], own: str = "") -> Rows:
    """What a chip of each candidate trains on in a second of a whole run, in a cluster of each of
    `SIZES` and by how well it is tuned (`typical at 256`) [token/s], by model, format and chip, for
    `choose`; why there is none on chips that no cluster is built of. The batch is that with which
    so many come to the same loss for least in a run of `training_fleet.TOKENS`.

    Models that do not have the shape of one of `fastest_steps.MODELS` are left out, but `own`.

    Returns
    -------
    beside the speeds: off : standard deviation of the logarithm of measured over predicted time of
    steps; quick, slow : that, nine of ten [1]; seen : whether runs of the chip's architecture were
    measured; basis : of both, in words

    >>> rows = training_rows(("Llama-3.1-8B",))
    >>> rows["Llama-3.1-8B", "BF16", "H100 NVL"]
    'how its servers are joined is not in the tables'
    """
    rows: dict[tuple[str, str, str], Mapping[str, Any] | str] = {}
    why, trusted = left_out(), trust()
    for name in models:
        shape = model(name)
        if shape.name not in MODELS and name != own:
            continue
        kind = "experts" if shape.experts else "dense"
        for form in PRECISIONS:
            found = {of: kept_on_all(shape.name, form, of) for of in TUNINGS}
            for chip in candidate_rows():
                if chip in why:
                    rows[name, form, chip] = why[chip]
                    continue
                of = trusted[kind, chip, form]
                rows[name, form, chip] = {
                    f"{of} at {n}": figure(speeds.get((chip, n), NAN), 6)
                    for of, speeds in found.items()
                    for n in SIZES
                } | {
                    "off": figure(spread_between(of["error_low"], of["error_high"])),
                    "quick": figure(of["error_low"]),
                    "slow": figure(of["error_high"]),
                    "seen": of["seen"],
                    "basis": of["basis"],
                }
    return rows


@dataclass(frozen=True)
class TrainingSpeed:
    """A model's training on one kind of chip.

    tokens_per_s : trained on by one chip, over a whole run [token/s]
    group : chips of the smallest cluster that keeps the pace; 1 where none does
    runs : whether one does [truth value]
    low, high : bounds of real over counted speed [1]
    off : see `training_rows`; what whole runs take beyond is alike on every chip
    fitted : 1 where runs of the chip's architecture were fitted, else 0
    basis : of the bounds, in words
    """

    tokens_per_s: Any
    group: Any
    runs: Any
    low: Any
    high: Any
    off: Any
    fitted: Any
    basis: Any


@lookup
def training_speed(
    rows: Rows, name: Any, chip: Any, precision: Any, tokens_per_s: Any, tuning: Any = TYPICAL
) -> TrainingSpeed:
    """A model's training on a kind of chip in the smallest cluster that trains on so many tokens a
    second, of `SIZES`; quantities.

    Parameters
    ----------
    rows : of `training_rows`

    >>> rows = training_rows(("Llama-3.1-8B",))
    >>> int(training_speed(rows, "Llama-3.1-8B", "H100 SXM", "BF16", 2e5).group.value)
    64
    """
    row = choose(rows, name, precision, chip, otherwise=NOT_FOUND)
    speeds = {
        n: where(tuning == BEST_QUARTER, *(row[f"{of} at {n}"] for of in (BEST_QUARTER, TYPICAL)))
        for n in SIZES
    }
    quick = {n: speed * n >= tokens_per_s for n, speed in speeds.items()}
    pace = first_case([(quick[n], speed) for n, speed in speeds.items()], NAN)
    return TrainingSpeed(
        tokens_per_s=pace,
        group=first_case([(keeps, n) for n, keeps in quick.items()], 1),
        runs=pace > 0,
        low=1 / maximum(row.slow, as_tuned(tuning, lambda runs: runs.high)),
        high=1 / minimum(row.quick, as_tuned(tuning, lambda runs: runs.low)),
        off=row.off,
        fitted=where(row.seen, 1, 0),
        basis=row.basis,
    )


@search
def require_pace(
    name: str, precision: str, chips: Iterable[str], tokens_per_s: float, tuning: str = TYPICAL
) -> None:
    """Refuse a pace that no cluster of some chips trains a model at.

    Raises
    ------
    ValueError : with the fastest, or that none of the chips makes a cluster.

    >>> require_pace("Llama-3.1-8B", "BF16", ["H100 SXM"], 1e5)
    """
    rows, form = training_rows((name,), name), training_format(model(name), precision)
    clusters = [(chip, rows[name, form, chip]) for chip in chips]
    paces = {
        (chip, n): n * row[f"{tuning} at {n}"]
        for chip, row in clusters
        if not isinstance(row, str)
        for n in SIZES
        if row[f"{tuning} at {n}"] > 0
    }
    if not paces:
        raise ValueError(f"no cluster of these chips trains {name}; admit other chips")
    (chip, n), most = max(paces.items(), key=lambda of: of[1])
    if most < tokens_per_s:
        raise ValueError(
            f"tokens_per_s = {tokens_per_s:g}: no cluster of these chips trains {name} so fast;"
            f" nearest: {most:,.0f}, on {n:,} {chip}"
        )
