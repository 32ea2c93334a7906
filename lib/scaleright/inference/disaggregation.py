"""Prefill and decode on groups of chips of their own: the ratio that balances them, the cache that moves between, and what it brings.

Decoding then meets no prompts, so that every gap between tokens is a step that decodes alone; in exchange, the cache of each
prompt crosses a network before its second token [distserve2024].
"""

from dataclasses import dataclass, replace
from typing import Any, Mapping

import numpy as np

from scaleright.collectives import network, send_recv_seconds
from scaleright.formulas import search
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.phases import StepSeconds
from scaleright.inference.power import step_joules
from scaleright.inference.serving import checked_slots, engine_step
from scaleright.ops import maximum, minimum, where
from scaleright.transformer.memory import bytes_per_parameter, sequence_kv_bytes

GRID = 400


@dataclass(frozen=True)
class Disaggregated:
    """One group that decodes and the groups that read prompts for it.

    Attributes
    ----------
    prefill, decode, load : what serves what
    ratio : groups that prefill for each group that decodes [1]
    balance : the ratio at which both are busy all the time [1]
    concurrency : requests in the system [1]
    batch : sequences that decode [1]
    prompt_step : a step of the groups that prefill, full of prompts
    step : a step of the group that decodes
    prompt_s, transfer_s : computing a prompt, and moving its cache [s]
    queue_s : waiting for prefill [s]
    """

    prefill: Deployment
    decode: Deployment
    load: Load
    ratio: Any
    balance: Any
    concurrency: Any
    batch: Any
    prompt_step: StepSeconds
    step: StepSeconds
    prompt_s: Any
    transfer_s: Any
    queue_s: Any

    @property
    def chips(self) -> Any:
        """Chips of the group that decodes and of its share of those that prefill [1]."""
        return self.decode.chips + self.ratio * self.prefill.chips

    @property
    def tpot_s(self) -> Any:
        """Time per token after the first [s]."""
        return self.step.total / self.load.tokens_per_step

    @property
    def ttft_s(self) -> Any:
        """Time until the first token is where decoding goes on [s]."""
        return self.queue_s + self.prompt_s + self.transfer_s

    @property
    def itl_s(self) -> Any:
        """Gap between two steps [s]."""
        return self.step.total

    @property
    def interactivity(self) -> Any:
        """Tokens that a user sees in a second once the answer has begun [token/s]."""
        return 1 / self.tpot_s

    @property
    def output_tokens_per_s(self) -> Any:
        """Output tokens in a second [token/s]; the first of each answer comes from prefill."""
        return self.batch / self.tpot_s * self.load.output_tokens / maximum(self.load.output_tokens - 1, 1.0)

    @property
    def output_tokens_per_s_per_chip(self) -> Any:
        """Output tokens of one chip of both kinds in a second [token/s]."""
        return self.output_tokens_per_s / self.chips

    @property
    def watts_per_chip(self) -> Any:
        """Mean draw of one chip of both kinds while they are in balance, without host and building [W]."""
        load, budget = self.load, _budget(self.prefill)
        decoding = step_joules(self.decode, self.step.total, self.batch, load.context, query_tokens=load.queries).total / self.step.total
        reading = step_joules(self.prefill, self.prompt_step.total, 0.0, 1.0, budget, load.prompt_context).total / self.prompt_step.total
        return (decoding + minimum(self.ratio, self.balance) * reading) / self.chips


def _budget(d: Deployment) -> Any:
    """Tokens of prompts in a full step of a group."""
    return d.chunk_tokens * d.attention_data * d.pipeline


@search
def transfer_seconds(prefill: Deployment, decode: Deployment, tokens: Any) -> Any:
    """Moving the cache of a prompt from the chips of one attention group to those of another, all chips at once [s].

    Over the fabric where both groups fit into one and their chips are alike, else over the network between nodes; none of it
    hides behind prefill.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8", tensor=4)
    >>> transfer_seconds(one, one, 8192) < transfer_seconds(replace(one, tensor=8), one, 8192)
    True
    """
    up, out = network(prefill.chip)
    near = (prefill.chips + decode.chips <= up.chips) * (prefill.chip.name == decode.chip.name)
    slower = min(out.pair_bytes_per_s, network(decode.chip).out.pair_bytes_per_s)
    pairs = minimum(prefill.tensor * prefill.pipeline, decode.tensor * decode.pipeline)
    payload = sequence_kv_bytes(prefill.model, tokens, 1, bytes_per_parameter(decode.cache_format)) / pairs
    return where(near, send_recv_seconds(payload, up.latency_s, up.pair_bytes_per_s), send_recv_seconds(payload, out.latency_s, slower))


@search
def disaggregated(
    prefill: Deployment, decode: Deployment, load: Load, concurrency: float | None = None, ratio: float | None = None,
    batch: Any = None, slowdowns: Mapping | None = None,
) -> Disaggregated:  # fmt: skip
    """Throughput and latency of a server whose prompts are read by groups of their own.

    Parameters
    ----------
    prefill, decode : one group of each kind, of the same model; the degrees of `decode` may be arrays
    load : the mix of requests
    concurrency : requests in the system for each group that decodes; None for as many as keep `batch` sequences decoding
    ratio : groups that prefill for each one that decodes; None for the one that balances them
    batch : sequences that decode, where no concurrency is given; None for as many as fit
    slowdowns : as in `steady`, for both kinds

    Raises
    ------
    ValueError : as `steady` of either group; the two serve different models.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), "FP8", tensor=4)
    >>> pair = disaggregated(one, one, Load(8000, 200), batch=16, slowdowns={})
    >>> pair.ratio > 1, pair.ratio == pair.balance, pair.queue_s
    (True, True, 0.0)
    """
    if prefill.model != decode.model:
        raise ValueError(f"disaggregated: prefill serves {prefill.model.name}, decode {decode.model.name}; allowed: one model")
    checked_slots(prefill, replace(load, output_tokens=1, output_cv=0.0))
    most, full = checked_slots(decode, load), _budget(prefill)
    prompt_step = engine_step(prefill, load, 0.0, slowdowns, prefill_tokens=full, prefill_context=load.prompt_context)
    capacity = full / load.new_tokens / prompt_step.total
    prompt_s, transfer_s = prompt_step.total * maximum(load.new_tokens / full, 1.0), transfer_seconds(prefill, decode, load.input_tokens)
    further = maximum((load.output_tokens - 1) / load.tokens_per_step, 1.0)

    def rate(running: Any) -> tuple[StepSeconds, Any]:
        step = engine_step(decode, load, running, slowdowns)
        return step, running / (further * step.total)

    if concurrency is not None or ratio is not None:
        tried = most ** np.linspace(0.0, 1.0, GRID)
        rates = np.maximum.accumulate(rate(tried)[1])
        asked = np.inf if concurrency is None else concurrency
        batch = min(float(np.interp(asked, tried + rates * (prompt_s + transfer_s), tried)), most)
        batch = batch if ratio is None else min(batch, float(np.interp(ratio * capacity, rates, tried)))
    else:
        batch = most if batch is None else minimum(batch, most)
    step, served = rate(batch)
    inside = batch + served * (prompt_s + transfer_s)
    asked = inside if concurrency is None else maximum(concurrency, inside)
    balance = served / capacity
    return Disaggregated(
        prefill, decode, load, balance if ratio is None else ratio, balance, asked, batch, prompt_step, step, prompt_s, transfer_s,
        queue_s=(asked - inside) / served,
    )
