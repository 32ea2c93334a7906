"""What the chips of a server draw: joules of an engine step from what it computes and moves, and
how long it takes.

A chip draws a static share of its design power whatever happens (leakage, clocks, memory kept
refreshed), and spends energy on every floating-point operation, every byte from its memory and
every byte that moves between the small kernels of a step. All of it is counted in seconds at full
rate: a constant of 1 means that doing nothing else at full rate takes the chip's whole design power
(TDP), so that constants compare between chips, and a chip that no fit has seen gets its energies
from its TDP and the speeds that it reaches. No chip draws more than its power limit for long; at
the limit its clock falls, and the step takes as long as the slowdowns say.

The figures cover the accelerators alone; host, network and building come on top
(`scaleright.power`, which takes for an hour of serving the median of what was measured).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaleright import catalog
from scaleright.catalog import Accelerator
from scaleright.formulas import Breakdown, lookup, search
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import chip_speeds, step_parts
from scaleright.ops import maximum, minimum
from scaleright.pooling import constant
from scaleright.training.slowdowns import family
from scaleright.transformer.flops import forward_flop
from scaleright.transformer.memory import bytes_per_parameter, decode_bytes_per_step

KINDS = ("static", "compute", "memory", "activations", "unpacking")
"""Kinds of draw, each with its own constant, as a share of the design power.

static: whatever happens. compute: matrix products, in seconds at the best that was measured in
their format. memory: weights and cache, in seconds at the bandwidth that streaming reaches.
activations: norms, activations, routing and logits, in seconds at that bandwidth. unpacking:
experts in fewer than 16 bits whose scales the tensor cores do not apply: their kernels keep the
chip's other units busy with them, and with padding, for as long as a step takes.
"""
SCALED = ("MXFP8", "NVFP4")
"""Formats of products whose scales tensor cores apply themselves."""
PRIOR = {"static": 0.25, "compute": 0.8, "memory": 0.7, "activations": 5.0, "unpacking": 0.2}
"""Where the fit starts from: H100s that wait with their clocks up draw about a fifth, products at
full rate about the limit.
"""
POOLED = ("static", "unpacking")
"""Kinds whose constant all chips share."""
LIMIT = 0.98
"""Most of the design power that a chip was measured to draw in the mean of a run (0.98 for H100,
0.97 for B200) [mlenergy2026].
"""


@dataclass(frozen=True)
class StepJoules(Breakdown):
    """Energy of one engine step over all chips, by kind (`KINDS`); the parts add up to `total`.

    static_j : drawn whatever happens [J]
    compute_j : matrix products [J]
    memory_j : weights and cache from memory [J]
    activations_j : small kernels [J]
    unpacking_j : scales of experts in fewer than 16 bits [J]
    """

    static_j: Any
    compute_j: Any
    memory_j: Any
    activations_j: Any
    unpacking_j: Any


@search
def step_work(
    d: Deployment,
    seconds: Any,
    batch: Any,
    context: Any,
    prefill_tokens: Any = 0.0,
    prefill_context: Any = 0.0,
    query_tokens: Any = 1.0,
) -> dict[str, Any]:
    """What a step takes of each chip, by `KINDS`, in seconds at full rate.

    Parameters
    ----------
    d : the deployment; its degrees may be arrays
    seconds : time of the step in practice [s]
    batch, context, prefill_tokens, prefill_context, query_tokens : as in `phases.step_parts`

    >>> d = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    >>> work = step_work(d, 0.02, 64, 500)
    >>> work["static"], 0.004 < work["memory"] < 0.008
    (0.02, True)
    """
    t, pp, adp = d.model, d.pipeline, d.attention_data
    rate = {part: chip_speeds(d, part).matmul_flops for part in d.formats}
    prompt = forward_flop(t, maximum(2 * prefill_context, 1.0))
    of_prompts = _products_s(prompt, rate) - prompt.head_flop / rate["head"]
    answer = forward_flop(t, maximum(context, 1.0), causal=False, absorbed=True)
    computed = batch * query_tokens * _products_s(answer, rate) + prefill_tokens * of_prompts
    formats = d.formats["dense"], d.formats["experts"]
    tokens = maximum((batch * query_tokens + prefill_tokens) / pp, 1.0)
    read = pp * (
        decode_bytes_per_step(t, tokens, *formats)
        + (adp - 1) * decode_bytes_per_step(t, 0.0, *formats)
    )
    parts = step_parts(d, batch, context, prefill_tokens, prefill_context, query_tokens)
    low = (
        t.experts > 0
        and bytes_per_parameter(d.formats["experts"]) < 2
        and d.compute_format("experts") not in SCALED
    )
    return {
        "static": seconds,
        "compute": computed / d.chips,
        "memory": read / d.chips / chip_speeds(d, "head").memory_bytes_per_s + parts["cache"],
        "activations": parts["elementwise"],
        "unpacking": seconds * float(low),
    }


def _products_s(flop: Any, rate: Mapping[str, float]) -> Any:
    """The products of a forward pass at the rates of the model's parts [s]."""
    plain = (
        flop.embedding_flop
        + flop.head_flop
        + flop.router_flop
        + flop.scores_and_values_flop
        + flop.index_scores_flop
    )
    dense = flop.ffn_flop + flop.shared_experts_flop
    return (
        plain / rate["head"]
        + flop.projections_flop / rate["attention"]
        + dense / rate["dense"]
        + flop.experts_flop / rate["experts"]
    )


@search
def step_joules(
    d: Deployment,
    seconds: Any,
    batch: Any,
    context: Any,
    prefill_tokens: Any = 0.0,
    prefill_context: Any = 0.0,
    query_tokens: Any = 1.0,
    draws: Mapping[str, float] | None = None,
) -> StepJoules:
    """Energy of one engine step over all chips, at most their power limit times its duration.

    Parameters
    ----------
    seconds : time of the step in practice [s]
    draws : share of the design power by `KINDS` [1]; by default the stored ones of the chip's
        family
    d, batch, context, prefill_tokens, prefill_context, query_tokens : as in `phases.step_parts`

    Raises
    ------
    DataError : the catalog has no design power of the chip.

    >>> d = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    >>> 400 < step_joules(d, 0.0148, 64, 500).total / 0.0148 < 690  # W
    True
    """
    shares = draws or {kind: share for kind, (share, _) in chip_draws(d.chip).items()}
    full = {
        kind: shares[kind] * work
        for kind, work in step_work(
            d, seconds, batch, context, prefill_tokens, prefill_context, query_tokens
        ).items()
    }
    kept = minimum(LIMIT * seconds / sum(full.values()), 1.0)
    scale = d.chips * d.chip.require("tdp_watts")
    return StepJoules(**{f"{kind}_j": value * kept * scale for kind, value in full.items()})


@lookup
def families(chip: Accelerator) -> dict[str, str]:
    """Whose constants a chip has, by kind of draw: its architecture's, or those that all chips
    share.
    """
    return {kind: "any" if kind in POOLED else family(chip) for kind in KINDS}


@lookup
def chip_draws(chip: Accelerator) -> dict[str, tuple[float, bool]]:
    """Share of the design power by kind of draw [1], and whether it is borrowed from all chips
    (`data/energy_constants.csv`).

    >>> chip_draws(catalog.accelerator("H100 SXM"))["compute"][1], chip_draws(
    ...     catalog.accelerator("MI300X"))["compute"][1]
    (False, True)
    """
    known = {key: value for key, (value, _, _) in catalog.fitted("energy_constants").items()}
    return {kind: constant(known, [name], kind) for kind, name in families(chip).items()}


@lookup
def borrowed(chip: Accelerator) -> str:
    """Whose energies a chip borrows, in words; empty where runs on chips of its architecture were
    fitted.
    """
    lent = [kind for kind, (_, other) in chip_draws(chip).items() if other]
    return (
        f"no measured power of the architecture of {chip.name} was fitted: {', '.join(lent)} as the"
        " mean of all chips, by its TDP"
        if lent
        else ""
    )


@lookup
def interval(d: Deployment) -> tuple[float, float]:
    """Bounds of measured over predicted energy per token that hold nine of ten runs whose model and
    number of chips no fit saw [1].

    Wider for mixtures of experts, and where a chip borrows its constants.
    """
    kind = ("experts" if d.model.experts else "dense") + (", borrowed" if borrowed(d.chip) else "")
    return catalog.fitted("energy_constants")[kind, "interval"][1:]
