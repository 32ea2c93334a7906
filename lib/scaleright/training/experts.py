"""Routed experts of a layer: their part of a training step, and of the exchange of tokens between
chips.
"""

from collections.abc import Mapping
from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import counting, search
from scaleright.ops import ceil, maximum, minimum, where
from scaleright.training.layout import Layout
from scaleright.training.machine import Machine, Modules, Pair, Stack, absent, added, scaled

BIAS_BYTES = 28.0, 40.0
"""Bytes moved for each output of an expert, forward and backward, to add a bias weighted by the
router's FP32 probability, operation by operation: product written (4); sum of output and product
read and written (10); results of all experts joined (8); cast to 16 bit (6). Backward: cast (6),
cast for the output (6), split (4), and for the gradients of bias and probability a product each,
read, written and summed (24) [megatronexperts2025].
"""
CLAMP_BYTES = 8.0, 10.0
"""Bytes moved for each input of a clamped activation: clamped (4) and joined again (4); backward:
masked (6) and joined (4) [megatronexperts2025].
"""
LAUNCHES_ROUTER, LAUNCHES_ROUTED, LAUNCHES_EXPERT = 135, 135, 150
"""Kernels of a layer with routed experts, forward and backward: of the router, of moving tokens,
and for each expert on the chip. How many of the first 270 are the router's is assumed: half.
"""
START_S = 1e-5
"""Launch and synchronization of an exchange between experts."""


@counting
def share_of_mixtures(t: Transformer) -> Any:
    """Share of the layers that are mixtures of experts [1]."""
    return 0.0 if absent(t.moe_layers) else t.moe_layers / t.layers


def _biased(t: Transformer, of: Machine, stack: Stack, routed: Any) -> Pair:
    """What biased, clamped experts move beyond others where nothing fuses it."""
    if not t.ffn_bias or stack.fused_experts:
        return 0.0, 0.0
    width = (1 + t.gated_ffn) * t.expert_ffn
    moved = (
        bias * t.hidden + clamp * width for bias, clamp in zip(BIAS_BYTES, CLAMP_BYTES, strict=True)
    )
    forward, backward = (routed * each / of.bandwidth for each in moved)
    return forward, backward


@search
def exchange_seconds(
    t: Transformer, links: Mapping[str, float], domain, tokens, ep, dispatcher="deepep"
):
    """Moving tokens to their experts, or back [s].

    links : terms of the chip's networks (`collectives.Links`)
    domain : chips of a node [1]
    tokens : of one rank [token]
    ep : ranks that share the experts [1]
    dispatcher : "deepep" and "hybridep" send a token once to each node and once to each rank,
        however many of its experts are there; "alltoall" a copy for each expert

    Source: dispatch of [deepep2025]; experts are balanced, so that a token misses a node with
    probability (1 - 1 / nodes)^k.
    """
    ranks = minimum(ep, domain)
    nodes = ceil(ep / ranks)
    copies = t.experts_per_token
    if dispatcher == "alltoall":
        abroad, at_home = copies * (1 - 1 / nodes), copies * (ranks - 1) / ep
    else:
        abroad = (nodes - 1) * (1 - (1 - 1 / nodes) ** copies)
        at_home = (ranks - 1) * nodes * (1 - (1 - 1 / ep) ** copies)
    slowest = maximum(abroad / links["out_bytes_per_s"], at_home / links["up_bytes_per_s"])
    return where(ep > 1, START_S + tokens * t.hidden * 2 * slowest, 0.0)


@search
def expert_seconds(
    t: Transformer, of: Machine, stack: Stack, lay: Layout, tokens: Any
) -> tuple[dict[str, Pair], Modules]:
    """One layer's routed experts, as far as layers have them: time by kind, launches whole, and its
    modules.

    tokens : of a rank of context parallelism [token]
    """
    moe, local = share_of_mixtures(t), tokens / lay.tensor
    routed, held = local * t.experts_per_token, maximum(t.experts / lay.expert, 1.0)
    expert = of.feed_forward(t, maximum(routed / held, 1.0), t.expert_ffn, count=held)
    permuted = (routed * t.hidden * 12 + local * t.experts * 24) / of.bandwidth
    exchange = (
        2 * moe * exchange_seconds(t, of.links, of.domain, local, lay.expert, stack.dispatcher)
    )
    moving = added(expert[1], (permuted, 2 * permuted), _biased(t, of, stack, routed))
    router, rest = (stack.launched(scope, of.graphed) for scope in ("moe_router", "moe"))
    kernels = LAUNCHES_ROUTER * router + (LAUNCHES_ROUTED + LAUNCHES_EXPERT * held) * rest
    launched = moe * kernels * of.low.launch_s / 3
    layer = {
        "grouped": scaled(expert[0], moe),
        "routing": scaled(moving, moe),
        "expert": (exchange, exchange),
        "routed_host": (launched, 2 * launched),
    }
    activation = moe * routed * (2 * (1 + t.gated_ffn) + 2) * t.expert_ffn / of.bandwidth
    return layer, {
        "moe_act": {"routing": activation},
        "moe": {kind: pair[0] for kind, pair in layer.items()},
    }
