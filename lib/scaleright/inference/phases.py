"""Time of one engine step, prefill and decode together, by kind of work, at the speeds that a chip
was measured to reach.

One step gives each of `batch` sequences its next token and reads `prefill_tokens` of new prompts
beside them (chunked prefill): decoding alone is a step without prefill tokens, prefill alone one
without a batch. Matrix products see both kinds of token together, attention each in its own way: a
prompt computes, a decoding sequence reads its cache once.

The busiest chip of the group sets the pace. With a pipeline of p stages the batch is cut into p
micro-batches that fill it: a step, in which every sequence gets one token, then takes p times the
busiest stage's time for one micro-batch, which is also the latency of a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scaleright.architecture import Transformer
from scaleright.collectives import (
    all_gather_seconds,
    all_reduce_seconds,
    network,
    send_recv_seconds,
)
from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    closed_form,
    lookup,
    search,
    unchecked,
)
from scaleright.inference.deployment import Deployment
from scaleright.ops import ceil, log, maximum, minimum, sqrt, where
from scaleright.roofline import TILE, Speeds, mean_matmul_seconds, speeds
from scaleright.training.parts import EXPOSED_SOFTMAX, exchange_seconds
from scaleright.transformer.flops import attended_positions
from scaleright.transformer.memory import bytes_per_parameter, experts_touched

# What a step waits for: the busiest of some groups, the slowest of some processes


SUM_KERNELS = 2
"""Launches of a sum over ranks outside a graph: the copy to where peers read, and the sum."""


@closed_form(mean_tokens=NON_NEGATIVE, length=NON_NEGATIVE, groups=COUNT, chunk_tokens=COUNT)
def busiest_prompt(mean_tokens, length, groups, chunk_tokens):
    """Tokens of prompts on the busiest of the attention groups that wait for each other at the
    experts, in one micro-batch [token].

    Prompts are not cut over groups and fall on them at random: of r groups with n prompts each in
    the mean, the busiest has about n + sqrt(2 n ln r), at most all of them or a full step.

    mean_tokens : of a group [token]; length : of a prompt [token]; groups : that wait for each
        other, 1 where none do [1]
    chunk_tokens : most tokens of a step [token]

    >>> busiest_prompt(500.0, 2000.0, 1, 8192), round(busiest_prompt(500.0, 2000.0, 8, 8192))
    (500.0, 2539)
    """
    most = minimum(mean_tokens * groups, maximum(chunk_tokens, mean_tokens))
    return minimum(mean_tokens + sqrt(2 * log(groups) * mean_tokens * length), most)


@closed_form(kernels=NON_NEGATIVE, ranks=COUNT)
def waited_kernels(kernels, ranks):
    """Kernels of a layer whose launches take as long as those of the slowest of some processes,
    where each launches them one by one outside a graph [1].

    A layer has two sums over its ranks, each of two kernels (a copy to where peers read, the sum),
    and each ends when the slowest process has launched what is before it, half of the kernels. The
    time of a launch varies as much as it takes (as waits for an interpreter and its locks do, an
    exponential distribution), so that n / 2 of them vary by sqrt(n / 2) launches; the slowest of r
    processes is about 0.75 ln r of that above the mean.

    kernels : of a layer without its sums [1]; ranks : chips that share it [1]

    Source: derived, without a fitted constant. The bias of runs of the first engine of vLLM on 1,
    2, 4 and 8 A100s was -2, +11, +24 and +34 % without, and is +3, 0, +13 and +9 % [mlenergy2024].

    >>> waited_kernels(10.0, 1), round(waited_kernels(10.0, 8), 1)
    (10.0, 22.3)
    """
    summed = kernels + where(ranks > 1, 2 * SUM_KERNELS, 0)
    return summed + 2 * sqrt(summed / 2) * 0.75 * log(ranks)


# What the kernels and the network of an engine's chips reach: products in each part's format, and
# sums of small payloads


QUICK_S, QUICK_PEER_S, QUICK_SHARE = 3.5e-6, 0.3e-6, 0.15
"""All-reduce by peers' own loads and stores, without NCCL: start, each further chip, and share of
the link's bandwidth, on payloads from 512 B to 1 MB among 2, 4 and 8 H100s [sglang2904].
"""
LIBRARY_START_S = 12e-6
"""Start of a collective of the library between kernels of a captured graph: of the 19 us of the
shortest all-reduce among 8 H100s what its hops do not take [tritondistributed57].
"""
FINE_TILE = 16
"""Rows of the tiles of experts' products and of products with expanded weights, whose kernels are
made for few rows: those of the matrix units' instruction [frantar2024marlin].
"""
GROUPED_SHARE, EXPANDED_SHARE = 0.6, 0.6
"""Shares of a plain product's rate that compute-bound products reach. Experts' on an H100: 0.4 to
0.75 of it, before and after tuning [liger1294]. Those whose weights are expanded on the way to 16
bit: 0.6 on an A100 [vllm2497], and with experts 0.36 on an H100 [sglang38884], the product of the
two.
"""
CASTS = 2
"""Kernels of each block that turn 16-bit activations into 8- or 4-bit operands, one before each
product.
"""

# A deployment is checked once, by `deployment.check`.
_matmul, _reduce = unchecked(mean_matmul_seconds), unchecked(all_reduce_seconds)


@lookup
def chip_speeds(d: Deployment, part: str) -> Speeds:
    """What the chip achieves in the format in which a part's products are computed."""
    return speeds(d.chip, d.compute_format(part))


class Machine:
    """The achieved speeds of a deployment's chip by part of the model, its networks, and the
    products of the model.
    """

    def __init__(self, d: Deployment):
        formats, computed, links = d.formats, d.compute_formats, network(d.chip)
        self.plain = speeds(d.chip, formats["head"])
        self.links, self.domain, self.bandwidth = (
            links.terms,
            links.up.chips,
            self.plain.memory_bytes_per_s,
        )
        # Switches that add up (NVLink SHARP) join eight chips or more of Hopper and what came after
        # it, the chips that know FP8.
        self.switches_add = int(
            d.chip.vendor == "NVIDIA" and self.domain >= 8 and "fp8" in d.chip.dense
        )
        known = {form: speeds(d.chip, form) for form in {*computed.values()}}
        self.speeds = {part: known[form] for part, form in computed.items()}
        self.weight_bytes = {part: bytes_per_parameter(form) for part, form in formats.items()}
        self.input_bytes = {part: bytes_per_parameter(form) for part, form in computed.items()}
        self.casts = {part: CASTS * (size < 2) for part, size in self.input_bytes.items()}

    def product(self, part: str, rows, columns, inner, count=1.0):
        """Seconds of the product of activations (rows x inner) with weights (inner x columns) of a
        part's format.
        """
        of, expanded = self.speeds[part], self.weight_bytes[part] < 2 == self.input_bytes[part]
        share = (EXPANDED_SHARE if expanded else 1.0) * (
            GROUPED_SHARE if part == "experts" else 1.0
        )
        tile = FINE_TILE if share < 1 else TILE
        return _matmul(
            rows,
            columns,
            inner,
            share * of.matmul_flops,
            self.bandwidth,
            self.weight_bytes[part],
            of.units,
            count,
            tile,
            self.input_bytes[part],
        )

    def feed_forward(self, t: Transformer, part: str, rows, width, count=1.0):
        """Both products of feed-forward blocks of an inner width."""
        return self.product(part, rows, (1 + t.gated_ffn) * width, t.hidden, count) + self.product(
            part, rows, t.hidden, width, count
        )


@closed_form(payload_bytes=NON_NEGATIVE, group=COUNT, link_bytes_per_s=POSITIVE)
def quick_all_reduce_seconds(payload_bytes, group, link_bytes_per_s):
    """All-reduce of a small payload by kernels that read their peers' memory: one barrier each way
    and 2 (g - 1) / g of the payload [s].

    payload_bytes : the whole size of what is added up [B]
    group : chips [1]
    link_bytes_per_s : the datasheet's bandwidth of a chip in one direction [B/s]

    Source: fitted on [sglang2904].

    >>> round(quick_all_reduce_seconds(262144, 8, 450e9) * 1e6, 1)  # measured: 16.7
    12.7
    """
    return (
        QUICK_S
        + QUICK_PEER_S * group
        + 2 * (group - 1) / group * payload_bytes / (QUICK_SHARE * link_bytes_per_s)
    )


@search
def sum_seconds(d: Deployment, of: Machine, payload_bytes):
    """All-reduce among the tensor-parallel chips: by quick kernels inside a node, or by the
    collective library where that is sooner.
    """
    node = minimum(d.tensor, of.domain)
    library = _reduce(
        payload_bytes,
        d.tensor,
        node,
        start_s=LIBRARY_START_S,
        in_network=of.switches_add,
        **of.links,
    )
    quick = quick_all_reduce_seconds(
        payload_bytes, d.tensor, d.chip.require("scale_up_bytes_per_s")
    )
    return minimum(library, where(d.tensor <= of.domain, quick, library))


KINDS = (
    "matmul",
    "grouped",
    "attention",
    "cache",
    "elementwise",
    "tensor",
    "expert",
    "pipeline",
    "launch",
    "host",
    "sequences",
)
"""Kinds of work, each with its own slowdown.

matmul: products with weights that all tokens visit, the output head included. grouped: those of
routed experts. attention: of prompts. cache: attention of decoding sequences. elementwise: norms,
rotations, activations, moving tokens to experts on a chip, logits. tensor, expert, pipeline:
communication. launch: the least time of each kernel. host: scheduling a step. sequences: host work
for each sequence.
"""
CHIP = ("matmul", "grouped", "attention", "cache", "elementwise")
"""Kinds that keep the chip's arithmetic or memory busy."""

KERNEL_S, EAGER_S, HOST_S, SEQUENCE_S = 2e-6, 6e-6, 1e-3, 1e-5
"""Least time of a kernel inside a captured graph (start, first bytes, drain) and outside one, where
the host launches it, as in steps that read prompts; scheduling a step; and host work for one
sequence in it. Round units: each engine's own figures are its fitted slowdowns.
"""
HIDDEN = 0.15
"""Of the time that the chip is busy, what hides launches of the host, both at measured peaks:
launches take up to four times as long in practice, of which a busy second hides no more than one.
Of 0 to 1 the errors of fitted runs are least at 0.1 to 0.2.
"""
LOGIT_BYTES = 16.0
"""Bytes moved for each logit: written in 16 bit, gathered, copied to FP32, and read for the softmax
and the choice.
"""
GATHERING = 8
"""Chips up to which engines gather the tokens of all attention groups instead of sending each to
its experts: vLLM's default [vllm2026expert], and TensorRT-LLM's unless the ranks outnumber the
experts of a token [tensorrtllm8950].
"""
KERNELS = {"attention": 6, "latent": 6, "ffn": 4, "experts": 9, "shared": 3}
"""Kernels of a layer by block: norms, products, rotation, attention and its reduction, routing and
sorting.
"""
# A deployment is checked once, by `deployment.check`.
_gather, _send = unchecked(all_gather_seconds), unchecked(send_recv_seconds)
_attended, _touched = unchecked(attended_positions), unchecked(experts_touched)
_busiest, _waited = unchecked(busiest_prompt), unchecked(waited_kernels)


def _longer(a, b):
    """Time of two kinds of work that hide each other in part, as `roofline.matmul_seconds` joins
    arithmetic and memory traffic.
    """
    return (a * a * a + b * b * b) ** (1 / 3)


def _seen(t: Transformer, context, causal):
    """Positions that a token attends to in a mean layer: the mean over a prompt, or those of a
    decoding sequence.
    """
    context, local = maximum(context, 1.0), t.window_layers / t.layers
    near = _attended(context, t.window, causal, t.chunked_window)
    if t.chunked_window and not causal:
        near = minimum(context, t.window / 2)  # a sequence is anywhere in its block
    return (1 - local) * _attended(context, t.selected_tokens, causal) + local * near


def _attention(
    d: Deployment, of: Machine, rows, decoding, context, queries, prompt, prompt_context
) -> dict[str, Any]:
    """One layer's attention on one chip: products, attention of prompts, and attention of decoding
    sequences.
    """
    t, flops = d.model, of.plain.matmul_flops
    heads, groups, asked = (
        t.heads / d.tensor,
        maximum(t.kv_heads / d.tensor, 1.0),
        decoding * queries,
    )
    elements, per_score, products = (
        groups * (t.head_dim + t.v_head_dim),
        2 * (t.head_dim + t.v_head_dim),
        0.0,
    )
    shapes = [(heads * t.head_dim + elements, t.hidden), (t.hidden, heads * t.v_head_dim)]
    scores = prompt * _seen(t, 2 * prompt_context, 1) * heads
    reads = scores * per_score / flops + EXPOSED_SOFTMAX * scores / of.plain.exponentials_per_s
    if (
        t.kv_lora_rank
    ):  # latents are expanded for a prompt; a decoding sequence takes its queries to them instead
        rest, rank, rope = t.head_dim - t.qk_rope_head_dim, t.kv_lora_rank, t.qk_rope_head_dim
        shapes[:1] = (
            (t.q_lora_rank + rank + rope, t.hidden),
            (heads * t.head_dim, t.q_lora_rank or t.hidden),
        )
        expanded = of.product(
            "attention", maximum(prompt, 1.0), heads * (rest + t.v_head_dim), rank
        )
        absorbed = sum(
            of.product("attention", maximum(asked, 1.0), *shape, count=heads)
            for shape in ((rank, rest), (t.v_head_dim, rank))
        )
        products = where(prompt > 0, expanded, 0.0) + where(asked > 0, absorbed, 0.0)
        elements, groups, per_score = rank + rope, 1.0, 2 * (2 * rank + rope)
    products = products + sum(of.product("attention", rows, *shape) for shape in shapes)
    looked, cached = (
        decoding * _seen(t, context, 0),
        bytes_per_parameter(d.cache_format) / of.bandwidth,
    )
    cache = _longer(
        looked * elements * cached,
        looked * groups * maximum(heads / groups * queries, TILE) * per_score / flops,
    )
    if t.index_heads:
        width = 2 * t.index_heads * t.index_head_dim / flops
        cache = cache + _longer(
            decoding * context * t.index_head_dim * cached, asked * context * width
        )
        reads = reads + prompt * prompt_context * width
    return {"matmul": products, "attention": reads, "cache": cache}


def _experts(d: Deployment, of: Machine, tokens, rows) -> dict[str, Any]:
    """One layer's routed experts on the busiest chip: products, memory-bound work, and moving
    tokens between chips.

    tokens : of all attention groups; rows : of one of them

    Ranks draw experts at random: the busiest of r ranks has sqrt(2 ln r) standard deviations above
    the mean, of tokens and of experts touched alike. Tokens of several attention
    groups meet at the experts: all ranks gather them and scatter the sums; beyond a node each is
    sent to the ranks that hold its experts where that is sooner.
    """
    t, ep, width, low = (
        d.model,
        d.expert,
        d.model.expert_ffn / d.expert_tensor,
        of.input_bytes["experts"],
    )
    copies, chosen, spread = d.held_experts, t.experts_per_token, sqrt(2 * log(ep))
    held, routed = copies / ep, tokens * chosen / ep
    touched = _touched(copies, chosen, tokens) / ep  # copies share the tokens of their expert
    most = minimum(tokens * minimum(chosen, held), routed + spread * sqrt(routed * (1 - 1 / ep)))
    busiest = minimum(held, touched + spread * sqrt(touched * maximum(1 - touched / held, 0.0)))
    busiest = maximum(minimum(busiest, most), 1.0)
    moved = most * (2 * (2 + t.gated_ffn) * width + (4 + low) * t.hidden) + rows * t.experts * 12
    sent = exchange_seconds(t, of.links, of.domain, rows / d.tensor, ep) * (1 + low / 2)
    near = maximum(minimum(d.attention_data, of.domain / d.tensor), 1.0)
    gathered = 2 * _gather(
        tokens * t.hidden * 2.0, d.attention_data, near, start_s=LIBRARY_START_S, **of.links
    )
    return {
        "matmul": of.product("head", rows, t.experts, t.hidden),
        "elementwise": moved / of.bandwidth,
        "grouped": of.feed_forward(t, "experts", maximum(most / busiest, 1.0), width, busiest),
        "expert": where((d.ranks > GATHERING) & (ep > 1), minimum(sent, gathered), gathered),
    }


@search
def step_parts(
    d: Deployment,
    batch: Any,
    context: Any,
    prefill_tokens: Any = 0.0,
    prefill_context: Any = 0.0,
    query_tokens: Any = 1.0,
    prefill_length: Any = None,
) -> dict[str, Any]:
    """Seconds of one engine step by kind of work, at measured peaks.

    Parameters
    ----------
    d : the deployment; its degrees may be arrays. Not checked here: see `deployment.check`
    batch : sequences that decode in the step, over all attention groups and micro-batches [1]; 0
        for prefill alone
    context : tokens that each of them looks back on, in the mean [token]
    prefill_tokens : tokens of prompts read in the step, over all attention groups and micro-batches
        [token]
    prefill_context : tokens that each of these attends to, in the mean: half the prompt where it is
        read from its start [token]
    query_tokens : tokens that each decoding sequence puts through the step: 1, or 1 + the tokens of
        a draft to verify [1]
    prefill_length : tokens that a prompt adds to one group, those in a cache left out; by default
        twice the `prefill_context`, a prompt without any [token]

    Returns
    -------
    seconds by `KINDS`, of the broadcast shape or a number where nothing depends on arrays; linear
    parts of the time of a step.

    Source: shapes of products and traffic as in [pope2022, section 3]; absorbed latent attention
    [deepseekv2, section 2.1.2].

    >>> from scaleright import catalog
    >>> d = Deployment(catalog.model("Llama-2-70B"), catalog.accelerator("H100 SXM"), tensor=8)
    >>> 0.007 < sum(step_parts(d, 1, 2048).values()) < 0.013
    True
    """
    t, of, pp = d.model, Machine(d), d.pipeline
    groups = d.attention_data * pp
    # of the busiest group, in one micro-batch
    decoding = maximum(batch / groups, minimum(batch, 1.0))
    waiting = d.attention_data if t.experts else 1.0
    length = 2 * prefill_context if prefill_length is None else prefill_length
    prompt = _busiest(prefill_tokens / groups, length, waiting, d.chunk_tokens)
    asked = maximum(decoding * query_tokens, 1.0)
    rows = maximum(decoding * query_tokens + prompt, 1.0)
    tokens = maximum((batch * query_tokens + prefill_tokens) / pp, 1.0)
    layer = dict.fromkeys(KINDS, 0.0) | _attention(
        d, of, rows, decoding, context, query_tokens, prompt, prefill_context
    )
    layer, kernels = _blocks(d, of, layer, tokens, rows)
    layer["tensor"] = 2 * sum_seconds(d, of, rows * t.hidden * 2.0)
    layer["launch"] = _launches(d, layer, kernels, prompt)
    # p micro-batches pass the busiest stage
    step = {kind: ceil(t.layers / pp) * pp * value for kind, value in layer.items()}
    step |= {kind: step[kind] + value for kind, value in _head(d, of, asked).items()}
    step["pipeline"] = where(pp > 1, pp * _handed_on(d, of, rows), 0.0)
    return step | {"host": HOST_S * pp, "sequences": SEQUENCE_S * pp * decoding}


def _launches(d: Deployment, layer: dict[str, Any], kernels, prompt):
    """Seconds in which the kernels of one layer are launched: as one captured graph, or one by one
    by the host, in steps with prompts or, in the first engine of vLLM, in all.
    """
    eager = _waited(kernels, d.tensor) * EAGER_S
    if not d.first_of_vllm:
        eager = where(prompt > 0, eager - HIDDEN * sum(layer[kind] for kind in CHIP), 0.0)
    return maximum(eager, kernels * KERNEL_S)


def _blocks(d: Deployment, of: Machine, layer: dict[str, Any], tokens, rows):
    """The seconds of one layer with its feed-forward blocks and experts added to its attention, and
    its kernels.
    """
    t, moe = d.model, d.model.moe_layers / d.model.layers
    heads = t.heads / d.tensor + maximum(t.kv_heads / d.tensor, 1.0)
    layer["elementwise"] = (
        rows * (16 * t.hidden + heads * (4 * t.head_dim + 2 * t.v_head_dim)) / of.bandwidth
    )
    kernels = (
        KERNELS["attention"] + (t.kv_lora_rank > 0) * KERNELS["latent"] + of.casts["attention"]
    )
    blocks = [
        ("ffn", (1 - moe) * (t.ffn > 0), t.ffn),
        ("shared", moe * (t.shared_ffn > 0), t.shared_ffn),
    ]
    for name, share, width in (
        (name, share, width / d.tensor) for name, share, width in blocks if share
    ):
        layer["matmul"] = layer["matmul"] + share * of.feed_forward(t, "dense", rows, width)
        layer["elementwise"] = (
            layer["elementwise"] + share * rows * 2 * (2 + t.gated_ffn) * width / of.bandwidth
        )
        kernels = kernels + share * (KERNELS[name] + of.casts["dense"])
    if moe:
        layer |= {
            kind: layer[kind] + moe * value for kind, value in _experts(d, of, tokens, rows).items()
        }
        kernels = kernels + moe * (KERNELS["experts"] + of.casts["experts"])
    return layer, kernels


def _handed_on(d: Deployment, of: Machine, rows):
    """Seconds in which a stage sends its tokens to the next one."""
    message, links = rows * d.model.hidden * 2.0 / d.tensor, of.links
    near, far = (
        _send(message, links[f"{way}_latency_s"], links[f"{way}_bytes_per_s"])
        for way in ("up", "out")
    )
    return where(d.chips <= of.domain, near, far)


def _head(d: Deployment, of: Machine, asked) -> dict[str, Any]:
    """The output head of a step: product, logits, and gathering them."""
    t, pp = d.model, d.pipeline
    gathered = _gather(
        asked * t.vocab * 2.0,
        d.tensor,
        minimum(d.tensor, of.domain),
        start_s=LIBRARY_START_S,
        **of.links,
    )
    return {
        "matmul": pp * of.product("head", asked, t.vocab / d.tensor, t.hidden),
        "elementwise": pp * asked * t.vocab * LOGIT_BYTES / of.bandwidth,
        "tensor": pp * gathered,
    }


@dataclass(frozen=True)
class StepSeconds(Breakdown):
    """Seconds of one engine step by kind of work (`KINDS`); they add up to `total`.

    matmul_s : products with weights that all tokens visit
    grouped_s : products of routed experts
    attention_s : attention of prompts
    cache_s : attention of decoding sequences, which read their cache
    elementwise_s : memory-bound work and logits
    tensor_s, expert_s, pipeline_s : communication of each kind of parallelism
    launch_s : least time of kernels
    host_s : scheduling
    sequences_s : host work for each sequence
    """

    matmul_s: Any
    grouped_s: Any
    attention_s: Any
    cache_s: Any
    elementwise_s: Any
    tensor_s: Any
    expert_s: Any
    pipeline_s: Any
    launch_s: Any
    host_s: Any
    sequences_s: Any


@search
def step_seconds(
    d: Deployment,
    batch: Any,
    context: Any,
    prefill_tokens: Any = 0.0,
    prefill_context: Any = 0.0,
    query_tokens: Any = 1.0,
    slowdowns: Mapping[str, Any] | None = None,
    prefill_length: Any = None,
) -> StepSeconds:
    """Seconds of one engine step in practice: each part of `step_parts`, whose arguments it takes,
    times the slowdown of its kind.

    slowdowns : time in practice over time at measured peaks by kind [1]; 1 for a kind that is
        missing, 1 for all where None

    >>> from scaleright import catalog
    >>> d = Deployment(catalog.model("Llama-2-70B"), catalog.accelerator("H100 SXM"), tensor=8)
    >>> one, two = (step_seconds(d, 1, 2048, slowdowns={"matmul": factor}) for factor in (1.0, 2.0))
    >>> two.matmul_s == 2 * one.matmul_s, two.cache_s == one.cache_s
    (True, True)
    """
    parts, factors = (
        step_parts(
            d, batch, context, prefill_tokens, prefill_context, query_tokens, prefill_length
        ),
        slowdowns or {},
    )
    return StepSeconds(**{f"{kind}_s": factors.get(kind, 1.0) * parts[kind] for kind in KINDS})
