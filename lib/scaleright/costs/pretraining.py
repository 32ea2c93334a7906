"""What pretraining a model costs on each platform: the best layout, its step by parts, then
chip-hours, days and dollars.

A run is so many optimizer steps. Each step is arithmetic, arithmetic done twice to save memory,
communication that nothing hides, and waiting of pipeline stages; a layout that is not the fastest,
interruptions, and what published runs took beyond come on top (see `whole_runs`).
Experiments and people are charged as multiples and years that the tables state as ranges.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scaleright.catalog import (
    Accelerator,
    accelerator,
    model,
    models,
    remembered,
    shared,
    table,
)
from scaleright.costs.platforms import SETTING, cluster_chips
from scaleright.formulas import (
    COUNT,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    Domain,
    closed_form,
    lookup,
    search,
)
from scaleright.market import cost_factor
from scaleright.names import one_of
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import TrainingRun
from scaleright.training.step import model_flop
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR, figure

RELIABILITY = ("chip_hours_per_interruption", "checkpoint_stall_s", "restart_s")
"""Cost factors behind the goodput of a run."""
OVER = Domain(1.0, 10.0, (1.0, 2.0))
"""A time over a shorter one [1]."""
STEP_PARTS = {
    "compute_s": NON_NEGATIVE,
    "recompute_s": NON_NEGATIVE,
    "communication_s": NON_NEGATIVE,
    "bubble_s": NON_NEGATIVE,
}


@dataclass(frozen=True)
class ChipHours(Breakdown):
    """Accelerator-hours of a run by what they go into [h]: steps in the fastest layout by their
    parts, `layout_hours` by which the layout that is used is slower, `failures_hours` of
    checkpoints, lost work and restarts, and `beyond_hours` that runs take beside (see
    `whole_runs`).
    """

    compute_hours: Any
    recompute_hours: Any
    communication_hours: Any
    bubble_hours: Any
    layout_hours: Any
    failures_hours: Any
    beyond_hours: Any

    @property
    def least(self) -> Any:
        """Those of steps in the fastest layout that nothing stops: a bound from below [h]."""
        arithmetic_hours = self.compute_hours + self.recompute_hours
        return arithmetic_hours + self.communication_hours + self.bubble_hours


@closed_form(
    tokens=POSITIVE,
    batch_tokens=COUNT,
    chips=COUNT,
    **STEP_PARTS,
    goodput=FRACTION,
    layout=OVER,
    beyond=OVER,
)
def run_chip_hours(
    tokens,
    batch_tokens,
    chips,
    compute_s,
    recompute_s,
    communication_s,
    bubble_s,
    goodput=1.0,
    layout=1.0,
    beyond=1.0,
) -> ChipHours:
    """Accelerator-hours of a whole run, by parts.

    Parameters
    ----------
    tokens : tokens trained on [token]
    batch_tokens : tokens of one optimizer step [token]
    chips : accelerators of the job [1]
    compute_s, recompute_s, communication_s, bubble_s : parts of one step in the fastest layout [s]
    goodput : share of the time that goes into work which is kept [1]
    layout : time of a step in the layout that is used over that in the fastest [1]
    beyond : hours of the run over those of such steps and of failures [1]

    Source: definition.

    >>> run_chip_hours(3.6e9, 1e6, 100, 0.6, 0.0, 0.3, 0.1, 0.8).total
    125.0
    >>> hours = run_chip_hours(3.6e9, 1e6, 100, 0.6, 0.0, 0.3, 0.1, 0.8, 1.2, 1.5)
    >>> round(hours.total, 9), round(hours.least, 9), round(hours.beyond_hours, 9)
    (225.0, 100.0, 75.0)
    """
    hours, used = tokens / batch_tokens * chips / SECONDS_PER_HOUR, layout / goodput
    step_s = compute_s + recompute_s + communication_s + bubble_s
    slower, lost = step_s * (layout - 1), step_s * (used - layout)
    parts = compute_s, recompute_s, communication_s, bubble_s, slower, lost
    return ChipHours(*(hours * part for part in (*parts, step_s * used * (beyond - 1))))


@dataclass(frozen=True)
class PretrainingCost(Breakdown):
    """What a run costs [USD]: hours of the chips by what they go into, power where it is not in
    their price, the rest of the project.
    """

    compute_usd: Any
    recompute_usd: Any
    communication_usd: Any
    bubble_usd: Any
    layout_usd: Any
    failures_usd: Any
    beyond_usd: Any
    power_usd: Any
    experiments_usd: Any
    people_usd: Any

    @property
    def run_usd(self) -> Any:
        """The final run alone, without experiments and people [USD]."""
        return self.total - self.experiments_usd - self.people_usd


@closed_form(
    compute_hours=NON_NEGATIVE,
    recompute_hours=NON_NEGATIVE,
    communication_hours=NON_NEGATIVE,
    bubble_hours=NON_NEGATIVE,
    layout_hours=NON_NEGATIVE,
    failures_hours=NON_NEGATIVE,
    beyond_hours=NON_NEGATIVE,
    usd_per_hour=NON_NEGATIVE,
    power_usd_per_hour=NON_NEGATIVE,
    experiments=NON_NEGATIVE,
    people_usd=NON_NEGATIVE,
)
def pretraining_usd(
    compute_hours,
    recompute_hours,
    communication_hours,
    bubble_hours,
    layout_hours,
    failures_hours,
    beyond_hours,
    usd_per_hour,
    power_usd_per_hour=0.0,
    experiments=0.0,
    people_usd=0.0,
) -> PretrainingCost:
    """Dollars of a run and of the project around it, by parts.

    Parameters
    ----------
    compute_hours ... beyond_hours : accelerator-hours, see `run_chip_hours` [h]
    usd_per_hour : rent of one accelerator, or what an owned one costs without power [USD/h]
    power_usd_per_hour : electricity of one accelerator; 0 where rent includes it [USD/h]
    experiments : compute of experiments and failed runs over that of the final run [1]
    people_usd : pay of those who build the model [USD]

    Source: definition.

    >>> hours = 80.0, 0.0, 5.0, 3.0, 2.0, 5.0, 5.0
    >>> bill = pretraining_usd(*hours, 2.0, experiments=0.5, people_usd=100.0)
    >>> bill.run_usd, bill.experiments_usd, bill.total
    (200.0, 100.0, 400.0)
    """
    steps = compute_hours, recompute_hours, communication_hours, bubble_hours
    hours = *steps, layout_hours, failures_hours, beyond_hours
    power = sum(hours[1:], hours[0]) * power_usd_per_hour
    paid = [part * usd_per_hour for part in hours]
    tries = (sum(paid[1:], paid[0]) + power) * experiments
    return PretrainingCost(*paid, power_usd=power, experiments_usd=tries, people_usd=people_usd)


@closed_form(chip_hours=NON_NEGATIVE, chips=COUNT)
def run_days(chip_hours, chips):
    """Days that so many accelerator-hours take on so many chips at once [d].

    >>> run_days(24_000.0, 100)
    10.0
    """
    return chip_hours / chips / HOURS_PER_DAY


@closed_form(person_years=NON_NEGATIVE, pay_usd_per_year=NON_NEGATIVE)
def people_usd(person_years, pay_usd_per_year):
    """Pay of those who build a model [USD].

    >>> people_usd(4.0, 280_000.0)
    1120000.0
    """
    return person_years * pay_usd_per_year


@lookup
@remembered
def reliability(end: str = "best") -> Mapping[str, float]:
    """The arguments of `goodput` beside the number of chips, at the "low", "best" or "high" end of
    each cost factor.
    """
    found = {name: getattr(cost_factor(name, SETTING), end) for name in RELIABILITY}
    return MappingProxyType(found)


PROJECT = {
    "experiments": "experiments_over_run",
    "person_years": "training_person_years",
    "pay_usd_per_year": "training_pay_usd_per_year",
}
"""Cost factors of what stands around a run, by the parameter that each is."""


@lookup
def project(end: str = "best") -> dict[str, float]:
    """What stands around a run, at the "low", "best" or "high" end of each cost factor."""
    return {name: getattr(cost_factor(of, SETTING), end) for name, of in PROJECT.items()}


@lookup
def cluster_chip(name: str) -> Accelerator:
    """One of `cluster_chips` by name or alias.

    Raises
    ------
    LookupError : unknown, or no such chip; the nearest names are offered.
    """
    return cluster_chips()[
        one_of(
            accelerator(name).name,
            cluster_chips(),
            "accelerator of a cluster that is listed for rent",
        )
    ]


@search
def best_published_mfu(
    model_name: str, chip_name: str, precision: str = "BF16"
) -> dict[str, Any] | None:
    """The published pretraining step that used most of a chip's dense peak, of models with experts
    or without as the one named.

    Returns
    -------
    mfu (from tokens and shape, counted as in `best_step` [1]), model, accelerators, source; None
    where no such step is published

    >>> best = best_published_mfu("GPT-3 175B", "A100 SXM 80GB")
    >>> best["model"], round(best["mfu"], 2), best_published_mfu("GPT-3 175B", "TPU v5p")
    ('MPT-3B', 0.63, None)
    """
    experts, chip = bool(model(model_name).experts), accelerator(chip_name)
    best = _most_published_mfu().get((experts, chip.name, precision))
    return dict(best) if best else None


@shared
def _most_published_mfu() -> Mapping[tuple[bool, str, str], Mapping[str, Any]]:
    """What `best_published_mfu` returns, by whether the model has experts, chip and format."""
    rows, known = table("measured/training"), models(own=False)
    rows = rows[rows["model"].isin(known)].query(
        "task == 'pretrain' and sequence > 0 and routing != 'token drop'"
    )
    best: dict[tuple[bool, str, str], dict[str, Any]] = {}
    for row in rows.to_dict("records"):
        shape, chip, precision = (
            known[row["model"]],
            accelerator(row["accelerator"]),
            row["precision"],
        )
        sequence, rate = int(row["sequence"]), row["measured_tokens_per_s_per_accelerator"]
        step_s = (
            sequence / rate
            if rate > 0
            else row["measured_step_s"] * row["accelerators"] / row["global_batch"]
        )
        run = TrainingRun(shape, chip, 1, sequence, 1, precision)
        reached = model_flop(run) / (step_s * chip.peak_flops(PEAK_NAMES[precision]))
        key = bool(shape.experts), chip.name, precision
        if reached > 0 and (key not in best or figure(reached) > figure(best[key]["mfu"])):
            best[key] = {"mfu": reached} | {
                name: row[name] for name in ("model", "accelerators", "source")
            }
    return MappingProxyType(best)
