"""What a chip trains on in a cluster over a whole run, as a pretraining run is costed, and what of
its peak it keeps in service; and why a chip is no platform of training.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from scaleright.catalog import accelerator, accelerators, model, remembered, shared
from scaleright.costs.break_even import compute_usd
from scaleright.costs.fastest_steps import SIZES, fastest_steps, seconds_to_loss, usual_critical
from scaleright.costs.platform_terms import trust
from scaleright.costs.platforms import BATCHES, cluster_chips, goodput
from scaleright.costs.pretraining import STEP_PARTS, cluster_chip, reliability, run_chip_hours
from scaleright.costs.pretraining_run import Cheapest
from scaleright.costs.whole_runs import BEST_QUARTER, TYPICAL, whole_runs
from scaleright.formulas import counting, lookup, search
from scaleright.inference.demand import UNKNOWN, Demand, requests_of
from scaleright.inference.formats import FORMATS, USUAL
from scaleright.inference.node_speed import Engines, Weights, node_speed
from scaleright.market import Hours, contracts, matmul_chips, recent_hour
from scaleright.ops import where
from scaleright.quantity import Table, evaluate, given
from scaleright.transformer.flops import inference_flop, training_flop
from scaleright.transformer.parameters import parameters
from scaleright.units import SECONDS_PER_HOUR, figure


@counting
def kept_tokens_per_s(
    step: Mapping[str, Any] | None, chips: float, tokens: float, tuning: str = TYPICAL
) -> float:
    """What one chip of a cluster trains on in a second of a whole run [token/s], see `whole_runs`;
    NaN where there is no step.

    Parameters
    ----------
    step : parts of a step, as `fastest_steps` finds them [s]
    tokens : of a step
    tuning : how well the run is tuned, one of `TUNINGS`

    >>> parts = dict.fromkeys(STEP_PARTS, 0.25)
    >>> 0.6e6 < kept_tokens_per_s(parts, 4, 4e6) < 0.7e6
    True
    """
    if step is None:
        return float("nan")
    parts = {name: figure(step[name], 6) for name in STEP_PARTS}
    kept = goodput(chips, **reliability())
    usual = whole_runs(tuning).factors
    hours = run_chip_hours(tokens, tokens, chips, **parts, goodput=kept, **usual)
    return tokens / (hours.total * SECONDS_PER_HOUR)


TOKENS = 2e12
"""Tokens of a run whose batch is taken where nobody says how long it is: those from which the
chapter on what a run costs starts [token].
"""


@search
def kept_on_all(name: str, form: str, tuning: str = TYPICAL) -> dict[tuple[str, int], float]:
    """`kept_tokens_per_s` of a model in a format by chip and number of chips, of `SIZES`, each with
    the batch with which as many come to the same loss for least in a run of `TOKENS` [token/s].

    >>> kept_on_all("Llama-3.1-8B", "BF16")["H100 SXM", 256] > 5e3
    True
    """
    beside = tuning == BEST_QUARTER and bool(model(name).experts)
    steps = {of: fastest_steps(name, SIZES, of, form, beside) for of in BATCHES}
    critical, found = float(usual_critical(TOKENS)), {}
    for key in dict.fromkeys(key for of in steps.values() for key in of):
        fits = {of: there[key] for of, there in steps.items() if key in there}
        step_s = {
            of: sum(figure(step[part], 6) for part in STEP_PARTS) for of, step in fits.items()
        }
        best = min(fits, key=lambda of: seconds_to_loss(step_s[of], BATCHES[of], critical))
        found[key] = kept_tokens_per_s(fits[best], key[1], BATCHES[best], tuning)
    return found


MODEL, CHIPS = "Llama-3.1-8B", 256
"""The run whose share of the peak stands for others where a model has no shape yet."""
REQUEST, PACE = (2000.0, 500.0), 30.0
"""The tokens of a request and of its answer, and the tokens a second for each reader, at which
`MODEL` is served likewise.
"""


@lookup
@shared
def share_of_peak(accelerator_name: str) -> float:
    """The dense BF16 peak of a chip that goes into 6 FLOP a parameter and token, over the whole run
    of `MODEL` on `CHIPS` [1].

    Raises
    ------
    LookupError : no cluster is built of such chips.

    >>> 0.2 < share_of_peak("H100 SXM") < 0.4
    True
    """
    chip, shape = cluster_chip(accelerator_name), model(MODEL)
    speed = kept_on_all(MODEL, "BF16")[chip.name, CHIPS]
    return figure(training_flop(parameters(shape).total, speed) / chip.peak_flops(), 4)


@dataclass(frozen=True)
class InService:
    """What a chip keeps of its peak where the best engine of a node serves `MODEL` at full load.

    share : of the dense BF16 peak that goes into 2 FLOP a parameter and token, read or written; NaN
        where the chip does not serve the format [1]
    low, high : bounds of measured over predicted speed [1]
    weights : in which format
    """

    share: Any
    low: Any
    high: Any
    weights: Weights


@search
def in_service(accelerator_name: Any, precision: Any) -> InService:
    """What a chip of `cluster_chips` keeps in service with weights in a format, which may be
    "usual"; words, quantities or not.

    >>> usual = in_service("H100 SXM", "usual")
    >>> usual.weights.precision.value, 0.3 < usual.share.value < 0.5
    ('FP8', True)
    """
    engines, shares = _fleet()
    row = shares.row(accelerator_name, precision)
    weights = engines.weights(MODEL, accelerator_name, precision)
    return InService(row.share, row.low, row.high, weights)


@remembered
def _fleet() -> tuple[Engines, Table]:
    """The engines of all chips, and the figures of `InService` by chip and format, of one request
    and pace for all.
    """
    engines = Engines.of((MODEL,), cluster_chips())
    pairs = [*product(cluster_chips(), (USUAL, *FORMATS))]
    chip, form = (given(name, of) for name, of in zip(("chip", "form"), pairs[0], strict=True))
    load = requests_of(UNKNOWN, *REQUEST)
    speed = node_speed(engines, MODEL, chip, form, load, PACE, Demand.unknown())
    there = {"chip": np.array([c for c, _ in pairs]), "form": np.array([f for _, f in pairs])}
    rates, *bounds = evaluate([speed.tokens_per_s, speed.low, speed.high], there)
    peaks = np.array([accelerator(c).peak_flops() for c, _ in pairs])
    each = 1 + load.new_tokens / load.output_tokens  # tokens read or written
    shares = inference_flop(parameters(model(MODEL)).total, each) * rates / peaks
    rows = {
        pair: {"share": figure(float(share), 4), "low": float(low), "high": float(high)}
        for pair, share, low, high in zip(pairs, shares, *bounds, strict=True)
        if share > 0
    }
    return engines, Table(rows, otherwise="not served")


@lookup
def terms() -> dict[str, dict[str, float]]:
    """The chips that clusters are built of, as `market.matmul_chips` has them, with the share of
    the peak that a run keeps (`mfu`, see `share_of_peak`), for `choose`.
    """
    known = matmul_chips()
    return {name: known[name] | {"mfu": share_of_peak(name)} for name in cluster_chips()}


@lookup
def compared() -> tuple[str, ...]:
    """The chips that clusters are built of whose architecture the fit of steps has seen."""
    return tuple(name for name in cluster_chips() if trust()["dense", name, "BF16"]["seen"])


@lookup
def cheapest_compute(asked: Any, hours: Hours) -> Cheapest:
    """The chip on which a FLOP of training costs least [USD], of those that are `compared` and
    serve in the format that is asked for.

    asked : contract, seller, precision, and mfu, 0 for what each chip keeps (`terms`)

    >>> from types import SimpleNamespace
    >>> asked = dict(contract="on demand", seller="median", precision="usual", mfu=0.0)
    >>> found = cheapest_compute(SimpleNamespace(**asked), Hours([*terms()]))
    >>> found.platform.value, 1e-18 < found.usd.value < 1e-17
    ('B300', True)
    """
    usd = {}
    for name in compared():
        chip, hour = terms()[name], hours.paid(name, asked.contract, asked.seller, 0.0)
        kept = where(asked.mfu > 0, asked.mfu, chip["mfu"])
        cost = compute_usd(1.0, chip["bf16_flops"], kept, hour.usd)
        usd[name] = where(in_service(name, asked.precision).share > 0, cost, float("nan"))
    return Cheapest.of(usd)


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
            "nobody lists what an hour of it costs": not contracts(name),
            "none of its listings is recent": not recent_hour(name),
        }
        reasons[name] = next(why for why, lacks in missing.items() if lacks)
    return reasons
