"""What no number of chips can do, each with what it would take instead: hold a model, keep work
between failures, meet a deadline.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from scaleright.catalog import model, remembered
from scaleright.costs.cluster_grid import BATCHES, CLUSTERS, WAYS, grid_of, steps_of
from scaleright.costs.clusters import goodput, mtbf_hours
from scaleright.costs.platforms import FREE
from scaleright.costs.pretraining import RELIABILITY, cluster_chip, reliability
from scaleright.costs.pretraining_doubts import LEAST_KEPT
from scaleright.decisions.cluster_efficiency import Setting
from scaleright.formulas import lookup
from scaleright.quantity import evaluate, given
from scaleright.training.goodput import best_checkpoint_interval_s
from scaleright.units import SECONDS_PER_HOUR

MINUTES_PER_HOUR = 60.0


@lookup
def require_fit(
    model_name: str, accelerator_name: str, chips: int, batch: str, precision: str = "BF16"
) -> None:
    """Refuse a cluster on which no layout of a model fits.

    batch : one of `cluster_grid.BATCHES`, or `FREE` for any

    Raises
    ------
    ValueError : none fits; the fewest chips on which one does are named.

    >>> require_fit("Llama-3.1-405B", "H100 SXM", 64, "16M")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: no layout of Llama-3.1-405B fits in 64 H100 SXM with a batch of 16M tokens; ...
    """
    name, chip = model(model_name).name, cluster_chip(accelerator_name).name
    times = np.array(steps_of(name, precision, chip)[chip]["compute_s"])
    asked = [batch in (FREE, known) for known in BATCHES]
    found = np.isfinite(times).reshape(len(CLUSTERS), -1)
    fits = [bool(size[asked].any()) for size in found]
    if fits[CLUSTERS.index(chips)]:
        return
    by = "" if batch == FREE else f" with a batch of {batch} tokens"
    enough = [size for size, there in zip(CLUSTERS, fits, strict=True) if there and size > chips]
    fewer = [size for size, there in zip(CLUSTERS, fits, strict=True) if there and size < chips]
    hint = "no size that is weighed holds it; take a smaller model or a larger chip"
    hint = f"the most that such a batch keeps busy are {fewer[-1]:,}" if fewer else hint
    hint = f"the fewest on which one does are {enough[0]:,}" if enough else hint
    raise ValueError(f"no layout of {name} fits in {chips:,} {chip}{by}; {hint}")


@lookup
def require_checkpoints(
    chips: int, failures: Sequence[float | None], checkpoint_minutes: float
) -> None:
    """Refuse a job that is stopped, on average, before it has written a checkpoint, or that keeps
    less than `LEAST_KEPT` of its time.

    failures : each of `RELIABILITY`, None for the usual; checkpoint_minutes : 0 for the best

    Raises
    ------
    ValueError : with the best interval, or the most chips that keep more.

    >>> require_checkpoints(16384, (None, None, None), 240.0)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    ValueError: a checkpoint every 240 minutes on a job that is interrupted every 186 minutes: most
    work would be lost; write one every 7.8 minutes, the best
    """
    case = _failing(failures)
    between = float(mtbf_hours(chips, case["chip_hours_per_interruption"])) * MINUTES_PER_HOUR
    if checkpoint_minutes > between:
        seconds = between * SECONDS_PER_HOUR / MINUTES_PER_HOUR
        best = best_checkpoint_interval_s(case["checkpoint_stall_s"], seconds)
        best = best * MINUTES_PER_HOUR / SECONDS_PER_HOUR
        raise ValueError(
            f"a checkpoint every {checkpoint_minutes:.3g} minutes on a job that is interrupted"
            f" every {between:.3g} minutes: most work would be lost; write one every {best:.2g}"
            " minutes, the best"
        )
    every_s = checkpoint_minutes * SECONDS_PER_HOUR / MINUTES_PER_HOUR
    if goodput(chips, **case, checkpoint_interval_s=every_s) >= LEAST_KEPT:
        return
    sizes = [n for n in CLUSTERS if goodput(n, **case, checkpoint_interval_s=every_s) >= LEAST_KEPT]
    instead = f"; {max(sizes):,} chips keep more" if sizes else ""
    raise ValueError(
        f"interrupted every {between:.2g} minutes it keeps less than {100 * LEAST_KEPT:g} % of its"
        f" time{instead}"
    )


def _failing(failures: Sequence[float | None]) -> dict[str, float]:
    named = zip(RELIABILITY, failures, strict=True)
    return reliability() | {name: value for name, value in named if value is not None}


@lookup
def case_of(
    model_name: str,
    accelerator_name: str,
    batch: str,
    failures: Sequence[float | None],
    checkpoint_minutes: float,
    terms: Mapping[str, Any],
) -> SimpleNamespace:
    """A case in numbers as the time of its run asks for it, whatever is paid.

    terms : tokens, precision, tuning, law, critical_batch, and those of a shared cluster
    """
    rent = {"paid": "rent", "contract": "on demand", "seller": "median", "rent_usd_per_hour": 1.0}
    return SimpleNamespace(
        model=model(model_name).name,
        accelerator=cluster_chip(accelerator_name).name,
        batch=batch,
        checkpoint_minutes=checkpoint_minutes,
        **_failing(failures),
        **terms,
        **rent,
    )


@dataclass(frozen=True)
class Soonest:
    """The fastest way: days, chips and tokens of a batch; infinite days where there is none."""

    days: float
    chips: int
    tokens: int


@lookup
def soonest(case: Any) -> tuple[Soonest, ...]:
    """The fastest way of a case in numbers, and the fastest if its batch were free."""
    return tuple(
        _soonest(**vars(case) | {"batch": batch})  # a deadline is moved: the same is asked again
        for batch in (case.batch, FREE)
    )


@remembered
def _soonest(**case: Any) -> Soonest:
    of, way = SimpleNamespace(**case), given("way", 0)
    plan = Setting.of(of, grid_of(of.model, of.precision, of.accelerator)).plan(way)
    ways = np.arange(len(WAYS), dtype=float)
    days, allowed = evaluate([plan.days, plan.allowed], {"way": ways})
    days = np.where(allowed, days, np.inf)
    best = int(np.argmin(days))
    return Soonest(float(days[best]), *WAYS[best])


@lookup
def require_in_time(case: Any, deadline_days: float) -> None:
    """Refuse a deadline that no number of chips meets.

    Raises
    ------
    ValueError : the soonest is named, and which constraint breaks: the batch, or all of them.
    """
    here, free = soonest(case)
    if here.days <= deadline_days:
        return
    if not np.isfinite(here.days):
        raise ValueError("no number of chips that is weighed gets the run done")
    unit = "day" if deadline_days == 1 else "days"
    said = (
        f"no number of chips finishes in {deadline_days:g} {unit}; the soonest is"
        f" {_days(here.days)} days on {here.chips:,} chips with a batch of {_tokens(here.tokens)}"
        " tokens"
    )
    if free.days <= deadline_days:
        raise ValueError(
            f"{said}: such a batch keeps no more chips busy; one of {_tokens(free.tokens)} tokens"
            f" on {free.chips:,} chips takes {_days(free.days)} days"
        )
    why = "a larger batch takes more tokens than it saves steps, and more chips fail more often"
    raise ValueError(f"{said}: {why}; allow so many days, or train on fewer tokens")


def _days(days: float) -> str:
    """Days rounded up, so that a deadline of so many is met."""
    digits = max(0, 2 - int(np.floor(np.log10(days))))
    return f"{np.ceil(days * 10**digits) / 10**digits:,.{digits}f}"


def _tokens(tokens: int) -> str:
    return next(name for name, size in BATCHES.items() if size == tokens)
