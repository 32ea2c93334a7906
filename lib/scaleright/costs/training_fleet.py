"""What a chip trains on in a cluster, failures counted, by the steps with which a pretraining run
is costed, and what of its peak it keeps in service; and why a chip is no platform of training.
"""

from collections.abc import Mapping
from typing import Any

from scaleright.catalog import accelerator, accelerators, model, shared
from scaleright.costs.clusters import cluster_chips, goodput
from scaleright.costs.platforms import BATCHES, best_step, usual_sequence
from scaleright.costs.pretraining import STEP_PARTS, cluster_chip, reliability, run_chip_hours
from scaleright.formulas import counting, lookup
from scaleright.inference.curves import fastest
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.lengths import Load
from scaleright.market import listed_hour, matmul_terms
from scaleright.transformer.flops import inference_flop, training_flop
from scaleright.transformer.parameters import parameters
from scaleright.units import SECONDS_PER_HOUR, figure


@counting
def kept_tokens_per_s(step: Mapping[str, Any] | None, chips: float, tokens: float) -> float:
    """What one chip of a cluster trains on in a second, by work that no failure undoes [token/s];
    NaN where there is no step.

    Parameters
    ----------
    step : parts of a step, as `fastest_steps` finds them [s]
    tokens : of a step

    >>> parts = dict.fromkeys(STEP_PARTS, 0.25)
    >>> 0.9e6 < kept_tokens_per_s(parts, 4, 4e6) < 1e6
    True
    """
    if step is None:
        return float("nan")
    parts = {name: figure(step[name], 6) for name in STEP_PARTS}
    kept = goodput(chips, **reliability())
    hours = run_chip_hours(tokens, tokens, chips, **parts, goodput=kept)
    return tokens / (hours.total * SECONDS_PER_HOUR)


MODEL, CHIPS, BATCH = "Llama-3.1-8B", 256, "4M"
"""The run whose share of the peak stands for others where a model has no shape yet."""
REQUEST, PACE = Load(2000, 500), 30.0
"""The request, and the tokens a second for each reader, at which `MODEL` is served likewise."""


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
    speed = kept_tokens_per_s(step, CHIPS, BATCHES[BATCH])
    return figure(training_flop(parameters(shape).total, speed) / chip.peak_flops(), 4)


@lookup
@shared
def served_share_of_peak(accelerator_name: str) -> float:
    """The dense BF16 peak of a chip that goes into 2 FLOP a parameter and token, read or written,
    where the best engine of a node serves `MODEL` at full load [1].

    Raises
    ------
    LookupError : no such chip.

    >>> 0.3 < served_share_of_peak("H100 SXM") < 0.5
    True
    """
    chip, shape = accelerator(accelerator_name), model(MODEL)
    _, known = engines_in(MODEL, chip.name)
    best = fastest(known, REQUEST, 1 / PACE)
    tokens = best.tokens_per_s * (1 + REQUEST.new_tokens / REQUEST.output_tokens)
    return figure(inference_flop(parameters(shape).total, tokens) / chip.peak_flops(), 4)


@lookup
def terms() -> dict[str, dict[str, Any]]:
    """The chips that clusters are built of, as `market.matmul_terms` has them, with the shares of
    the peak that a run and a service keep (`mfu` and `serving_mfu`, see `share_of_peak` and
    `served_share_of_peak`), for `choose`.
    """
    known = matmul_terms()
    return {
        name: known[name] | {"mfu": share_of_peak(name), "serving_mfu": served_share_of_peak(name)}
        for name in cluster_chips()
    }


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
