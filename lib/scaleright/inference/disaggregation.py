"""Prefill and decode on groups of chips of their own: the ratio that balances them, the cache that
moves between, and what it brings.

Decoding then meets no prompts, so that every gap between tokens is a step that decodes alone; in
exchange, the cache of each prompt crosses a network before its second token [distserve2024].
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scaleright.collectives import network, send_recv_seconds
from scaleright.formulas import search
from scaleright.inference.deployment import DEGREES, Deployment
from scaleright.inference.first_token import Rhythm, front_s
from scaleright.inference.lengths import Load
from scaleright.inference.phases import StepSeconds
from scaleright.inference.power import step_joules
from scaleright.inference.serving import OperatingPoint, engine_step, room
from scaleright.ops import maximum, minimum, where
from scaleright.order import noiseless
from scaleright.transformer.memory import bytes_per_parameter, sequence_kv_bytes


@dataclass(frozen=True)
class Disaggregated(OperatingPoint):
    """One group that decodes, as an operating point of its own, and the groups that read prompts
    for it.

    Attributes
    ----------
    prefill : one group that reads prompts
    ratio : such groups for each one that decodes, so that neither waits for the other [1]
    prompt_step : a step of theirs, full of prompts
    transfer_s : moving the cache of a prompt, a part of TTFT [s]
    """

    prefill: Deployment
    ratio: Any
    prompt_step: StepSeconds
    transfer_s: Any

    @property
    def chips(self) -> Any:
        """Chips of the group that decodes and of its share of those that prefill [1]."""
        return self.deployment.chips + self.ratio * self.prefill.chips

    @property
    def joules_per_token(self) -> Any:
        """Energy of an output token over all chips, prompts included [J/token]."""
        load, prompts, step_s = self.load, _budget(self.prefill), self.prompt_step.total
        decoding = step_joules(
            self.deployment, self.step.total, self.batch, load.context, query_tokens=load.queries
        ).total
        reading = (
            step_joules(self.prefill, step_s, 0.0, 1.0, prompts, load.prompt_context).total
            * load.new_tokens
            / prompts
        )
        return (decoding / self.rhythm.requests + reading) / load.output_tokens


def _budget(d: Deployment) -> Any:
    """Tokens of prompts in a full step of a group."""
    return d.chunk_tokens * d.attention_data * d.pipeline


@search
def transfer_seconds(prefill: Deployment, decode: Deployment, tokens: Any) -> Any:
    """Moving the cache of a prompt from the chips of one attention group to those of another, all
    chips at once [s].

    Over the fabric where both groups fit into one and their chips are alike, else over the network
    between nodes; none of it hides behind prefill.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8",
    ...     tensor=4)
    >>> transfer_seconds(one, one, 8192) < transfer_seconds(replace(one, tensor=8), one, 8192)
    True
    """
    up, out = network(prefill.chip)
    near = (prefill.chips + decode.chips <= up.chips) * (prefill.chip.name == decode.chip.name)
    slower = min(out.pair_bytes_per_s, network(decode.chip).out.pair_bytes_per_s)
    pairs = minimum(prefill.tensor * prefill.pipeline, decode.tensor * decode.pipeline)
    payload = (
        sequence_kv_bytes(prefill.model, tokens, 1, bytes_per_parameter(decode.cache_format))
        / pairs
    )
    return where(
        near,
        send_recv_seconds(payload, up.latency_s, up.pair_bytes_per_s),
        send_recv_seconds(payload, out.latency_s, slower),
    )


@search
def reader(found: Deployment, load: Load, slowdowns: Mapping | None = None) -> Deployment:
    """Of the layouts of an array the one whose chips read prompts fastest."""
    step = engine_step(
        found,
        load,
        0.0,
        slowdowns,
        prefill_tokens=_budget(found),
        prefill_context=load.prompt_context,
    )
    best = int(np.argmax(noiseless(_budget(found) / step.total / found.chips)))
    return replace(found, **{name: getattr(found, name)[best] for name in DEGREES})


@search
def disaggregated(
    prefill: Deployment,
    decode: Deployment,
    load: Load,
    batch: Any = None,
    slowdowns: Mapping | None = None,
) -> Disaggregated:
    """Throughput and latency of a server whose prompts are read by groups of their own, as many as
    keep pace with the decoding.

    Parameters
    ----------
    prefill, decode : one group of each kind, of the same model; the degrees of `decode` may be
        arrays
    load : the mix of requests
    batch : sequences that decode in a group; None for as many as fit
    slowdowns : as in `steady`, for both kinds

    Raises
    ------
    ValueError : as `steady` of either group; the two serve different models.

    Notes
    -----
    Prompts are read in full steps, so that one waits half a step, is read, and moves; TTFT ends
    where decoding goes on.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8",
    ...     tensor=4)
    >>> long, short = (disaggregated(one, one, Load(*tokens), 16, {})
    ...     for tokens in ((8000, 200), (200, 8000)))
    >>> long.ratio > 1 > short.ratio > 0
    True
    """
    if prefill.model != decode.model:
        raise ValueError(
            f"disaggregated: prefill serves {prefill.model.name}, decode {decode.model.name};"
            " allowed: one model"
        )
    room(prefill, replace(load, output_tokens=1, output_cv=0.0))
    most, full = room(decode, load), _budget(prefill)
    batch = most if batch is None else minimum(batch, most)
    step = engine_step(decode, load, batch, slowdowns)
    prompt_step = engine_step(
        prefill, load, 0.0, slowdowns, prefill_tokens=full, prefill_context=load.prompt_context
    )
    rhythm = Rhythm.alone(batch, (load.output_tokens - 1) / load.tokens_per_step)
    transfer_s = transfer_seconds(prefill, decode, load.input_tokens)
    front = front_s(load.input_tokens, batch, step.total)
    ttft_s = prompt_step.total * (maximum(load.new_tokens / full, 1.0) + 0.5) + transfer_s + front
    served = rhythm.requests / step.total
    steps, tpot_s = (step,) * 4, step.total / load.tokens_per_step
    ratio = served * load.new_tokens / full * prompt_step.total
    there = (decode, load, batch + served * ttft_s, most, batch, *steps, rhythm, 0.0)
    took = (ttft_s, tpot_s, slowdowns)
    return Disaggregated(*there, *took, prefill, ratio, prompt_step, transfer_s)
