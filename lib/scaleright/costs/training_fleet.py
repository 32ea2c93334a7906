"""The cluster that trains a model at a pace that is asked for: on each platform the fewest chips
that keep it, and what a million tokens cost there.

The steps are those of `fastest_steps`, hours and dollars those of `pretraining`: the answer is that
of a whole pretraining run on as many chips.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.catalog import accelerators, model, shared
from scaleright.costs.clusters import cluster_chips, goodput
from scaleright.costs.fastest_steps import Step, Steps
from scaleright.costs.platforms import BATCHES, best_step, usual_sequence
from scaleright.costs.pretraining import (
    cluster_chip,
    pretraining_usd,
    reliability,
    run_chip_hours,
)
from scaleright.costs.pretraining_run import Cheapest
from scaleright.formulas import lookup
from scaleright.market import listed_hour, matmul_terms
from scaleright.ops import first_case, where
from scaleright.quantity import least
from scaleright.transformer.flops import training_flop
from scaleright.transformer.parameters import parameters
from scaleright.units import SECONDS_PER_HOUR, figure

MILLION = 1e6


@dataclass(frozen=True)
class Fleet:
    """A cluster that trains at a pace, or faster; NaN where none of those that are offered does.

    chips : the fewest that are offered
    step : its optimizer step, in the fastest layout
    tokens_per_s : that it trains on, failures counted [token/s]
    chip_hours, usd : of a million tokens [h], [USD]
    runs : whether it keeps the pace
    why : why it does not, as a sentence; empty if it does
    """

    chips: Any
    step: Step
    tokens_per_s: Any
    chip_hours: Any
    usd: Any
    runs: Any
    why: Any

    @classmethod
    def on(
        cls, steps: Steps, case: Any, name: Any, chips: Any, usd_per_hour: Any, pace: Any = 0.0
    ) -> Self:
        """The cluster of so many of an accelerator.

        Parameters
        ----------
        case : `model`, `batch` (of `platforms.BATCHES`) and `precision`
        name : of the accelerator
        usd_per_hour : of one chip, power included [USD/h]
        pace : least tokens a second [token/s]
        """
        step = steps.on(name, case, chips)
        kept = goodput(chips, **reliability())
        hours = run_chip_hours(MILLION, step.tokens, chips, **step.at(1.0), goodput=kept)
        usd = pretraining_usd(**hours.parts(), usd_per_hour=usd_per_hour).run_usd
        trained = MILLION * chips / (hours.total * SECONDS_PER_HOUR)
        runs, none = trained >= pace, float("nan")
        slow = where(step.fits, "none of the clusters offered is as fast.", "no layout fits.")
        return cls(
            chips,
            step,
            where(runs, trained, none),
            where(runs, hours.total, none),
            where(runs, usd, none),
            runs,
            where(runs, "", slow),
        )

    @classmethod
    def of(cls, steps: Steps, case: Any, name: Any, usd_per_hour: Any, pace: Any) -> Self:
        """The smallest cluster of an accelerator that trains so many tokens a second; the largest
        that is offered where none does.
        """
        quick = [(cls.on(steps, case, name, n, usd_per_hour, pace).runs, n) for n in steps.sizes]
        chips = first_case(quick, steps.sizes[-1])
        return cls.on(steps, case, name, chips, usd_per_hour, pace)


@lookup
def cheapest_fleet(fleets: Mapping[str, Fleet], seen: bool = True) -> Cheapest:
    """The cheapest of clusters by platform, of those whose architecture the fit has seen, or else
    of all others, as `pretraining_run.cheapest` has it; its `usd` is of a million tokens.
    """
    none = float("nan")

    def counted(fleet: Fleet) -> Any:
        here, there = (fleet.usd, none) if seen else (none, fleet.usd)
        return where(fleet.step.trust.seen, here, there)

    return Cheapest(*least({name: counted(fleet) for name, fleet in fleets.items()}))


MODEL, CHIPS, BATCH = "Llama-3.1-8B", 256, "4M"
"""The run whose share of the peak stands for others where a model has no shape yet."""


@lookup
@shared
def share_of_peak(accelerator_name: str) -> float:
    """The dense BF16 peak of a chip that goes into 6 FLOP a parameter and token of work which is
    kept, in the run of `MODEL` on `CHIPS` [1].

    Raises
    ------
    LookupError : no cluster is built of such chips.

    >>> 0.3 < share_of_peak("H100 SXM") < 0.6
    True
    """
    chip, shape = cluster_chip(accelerator_name), model(MODEL)
    sequence = usual_sequence(shape)
    step = best_step(MODEL, chip.name, CHIPS, sequence, BATCHES[BATCH] // sequence)
    flop = training_flop(parameters(shape).total, BATCHES[BATCH])
    kept_s = step["step_s"] / goodput(CHIPS, **reliability())
    return figure(flop / (kept_s * CHIPS * chip.peak_flops()), 4)


@lookup
def terms() -> dict[str, dict[str, Any]]:
    """The chips that clusters are built of, as `market.matmul_terms` has them, with the share of
    the peak that a run keeps (`mfu`, see `share_of_peak`), for `choose`.
    """
    known = matmul_terms()
    return {name: known[name] | {"mfu": share_of_peak(name)} for name in cluster_chips()}


@lookup
def left_out() -> dict[str, str]:
    """Why an accelerator is no platform of training, by name, as a clause; those that are have
    none.

    >>> left_out()["H100 NVL"]
    'how its servers are joined is not in the tables'
    """
    reasons = {}
    for name, chip in accelerators().items():
        if name in cluster_chips():
            continue
        missing = {
            "its rate in BF16 is not in the tables": "bf16" not in chip.dense,
            "how it is joined within a server is not in the tables": not chip.scale_up_bytes_per_s,
            "how its servers are joined is not in the tables": not chip.scale_out_bytes_per_s,
            "none of its listings is recent": not listed_hour(name),
        }
        reasons[name] = next(why for why, lacks in missing.items() if lacks)
    return reasons
