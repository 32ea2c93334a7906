"""FLOPs of any Transformer from its shape, and the rules of thumb beside them.

Convention of the field: a multiply and an add are 2 FLOP; only matrix products count (norms,
softmax, activation functions and rotations are under one percent); an embedding look-up is free.

Causal convention: the token at position i attends to i positions, and a figure per token is the
mean over the positions 1 ... s of its context, so (s + 1) / 2 in a full layer. Non-causal figures
charge all s positions to each token; that is what an encoder does, what some published "model FLOP"
do, and what the last token of a context, hence a decode step, really costs.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import (
    COUNT,
    FLAG,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    closed_form,
    counting,
)
from scaleright.ops import floor, maximum, minimum, where
from scaleright.transformer.parameters import (
    adapter_weights,
    feed_forward_weights,
    indexer_weights,
    projection_weights,
)


@closed_form(context=COUNT, window=NON_NEGATIVE, causal=FLAG, chunked=FLAG)
def attended_positions(context, window=0, causal=1, chunked=0):
    """Positions that a token attends to: the mean over a causal context, or all of them.

    Parameters
    ----------
    context : tokens of the sequence [token]
    window : most positions that a local layer sees [token]; 0 is no bound
    causal : 1 for the mean over positions 1 ... context, 0 for every position (encoder, or one
        decode step)
    chunked : 1 where the context is cut into blocks of `window` instead of a window that slides

    Returns
    -------
    [token]. Sliding: mean of min(i, window). Chunked: the mean over whole blocks and the rest.

    Source: arithmetic series.

    >>> attended_positions(8192), attended_positions(8192, causal=0), attended_positions(8192, 1024)
    (4096.5, 8192, 960.0625)
    """
    bound = where(window > 0, minimum(window, context), context)
    sliding = (bound * (bound + 1) / 2 + (context - bound) * bound) / context
    blocks = floor(context / bound)
    rest = context - blocks * bound
    in_blocks = (blocks * bound * (bound + 1) / 2 + rest * (rest + 1) / 2) / context
    return where(causal > 0, where(chunked > 0, in_blocks, sliding), bound)


@dataclass(frozen=True)
class ForwardFlop(Breakdown):
    """FLOP of the forward pass for one token, by part; the parts add up to `total`."""

    embedding_flop: Any
    projections_flop: Any
    scores_and_values_flop: Any
    index_scores_flop: Any
    ffn_flop: Any
    experts_flop: Any
    shared_experts_flop: Any
    router_flop: Any
    head_flop: Any

    def grouped(self) -> dict[str, Any]:
        """The parts in four groups that every model has, for charts; they add up to the total."""
        return {
            "attention projections": self.projections_flop,
            "attention to context": self.scores_and_values_flop + self.index_scores_flop,
            "feed-forward": (
                self.ffn_flop + self.experts_flop + self.shared_experts_flop + self.router_flop
            ),
            "output head": self.embedding_flop + self.head_flop,
        }


@counting
def forward_flop(
    t: Transformer, context, causal: bool = True, absorbed: bool = False
) -> ForwardFlop:
    """FLOP of one forward pass, per token.

    Parameters
    ----------
    t : the model
    context : tokens of the sequence, shape () or broadcasting against the model's fields
    causal : the mean over all positions of the context, or (False) a token that attends to all of
        it
    absorbed : MLA as decoded: scores and values are computed in the latent space, which saves
        expanding every cached token and costs more per attended position [deepseekv2, section
        2.1.2]

    Notes
    -----
    Projections of relative positions (Transformer-XL) are shared by a batch and not counted.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> forward_flop(tiny, 128).total - forward_flop(tiny, 128,
    ...     causal=False).total == -2 * 4 * 64 * 63.5
    True
    """
    in_full = where(
        t.selected_tokens > 0,
        attended_positions(context, t.selected_tokens, causal),
        attended_positions(context, 0, causal),
    )
    in_window = attended_positions(context, t.window, causal, t.chunked_window)
    per_position = _attention_flop_per_position(t, absorbed)
    indexed = t.layers * 2 * t.index_heads * t.index_head_dim
    return ForwardFlop(
        embedding_flop=2 * adapter_weights(t),
        projections_flop=2 * t.layers * (projection_weights(t) + indexer_weights(t)),
        scores_and_values_flop=per_position
        * ((t.layers - t.window_layers) * in_full + t.window_layers * in_window),
        index_scores_flop=indexed * attended_positions(context, 0, causal),
        ffn_flop=2 * (t.layers - t.moe_layers) * feed_forward_weights(t, t.ffn),
        experts_flop=2 * t.moe_layers * t.experts_per_token * feed_forward_weights(t, t.expert_ffn),
        shared_experts_flop=2 * t.moe_layers * feed_forward_weights(t, t.shared_ffn),
        router_flop=2 * t.moe_layers * t.hidden * t.experts,
        head_flop=2 * (t.vocab * t.embedding_width + adapter_weights(t)),
    )


def _attention_flop_per_position(t: Transformer, absorbed: bool):
    """Scores and weighted values of one layer for one query and one position."""
    latent = 2 * t.heads * (2 * t.kv_lora_rank + t.qk_rope_head_dim)
    plain = 2 * t.heads * (t.head_dim + t.v_head_dim)
    return where(t.kv_lora_rank > 0, latent, plain) if absorbed else plain


@closed_form(forward_flop=POSITIVE, recomputed_flop=NON_NEGATIVE, frozen_flop=NON_NEGATIVE)
def training_flop_per_token(forward_flop, recomputed_flop=0, frozen_flop=0):
    """FLOP of training on one token: forward once, backward twice, plus what is recomputed, less
    what frozen weights save.

    Parameters
    ----------
    forward_flop : FLOP of the forward pass per token
    recomputed_flop : FLOP of the part of it that runs again: 0 for model FLOP; the layers (all but
        the head) under full recomputation and `scores_and_values_flop` under selective
        recomputation for hardware FLOP
    frozen_flop : FLOP of the part of it in products with weights that are not trained: half of
        their backward pass, the gradient of the weights, is left out, so that they take 4 FLOP per
        weight instead of 6. With adapters (LoRA) on every layer that is all but
        `scores_and_values_flop`; the adapters' own products, a thousandth, are not counted

    Source: [kaplan2020, section 2.1]; recomputation [korthikanti2022, section 5]; no gradient of
    frozen weights [hu2022, section 4.2].

    >>> training_flop_per_token(2.0), training_flop_per_token(2.0, 2.0), training_flop_per_token(
    ...     2.0, frozen_flop=2.0)
    (6.0, 8.0, 4.0)
    """
    return 3 * forward_flop + recomputed_flop - frozen_flop


@closed_form(parameters=POSITIVE, tokens=POSITIVE)
def training_flop(parameters, tokens):
    """FLOP of a training run by the rule of thumb, 6 p n; for a mixture of experts p is the active
    count.

    Source: [kaplan2020, section 2.1, equation 2.2 times 3].

    >>> f"{training_flop(175e9, 300e9):.3g}"
    '3.15e+23'
    """
    return 6 * parameters * tokens


@closed_form(parameters=POSITIVE, tokens=POSITIVE)
def inference_flop(parameters, tokens):
    """FLOP of reading or writing tokens by the rule of thumb, 2 p n.

    >>> inference_flop(175e9, 1)
    350000000000.0
    """
    return 2 * parameters * tokens


@closed_form(batch=COUNT, sequence=COUNT, layers=COUNT, hidden=COUNT, vocab=COUNT)
def megatron_batch_flop(batch, sequence, layers, hidden, vocab):
    """Model FLOP of one training step as Megatron counts it: 72 B s L h^2 (1 + s / 6h + V / 12 L
    h), non-causal.

    Parameters
    ----------
    batch : sequences of the step
    sequence : tokens of each [token]
    layers, hidden, vocab : shape of a GPT with an ungated feed-forward of 4 h and as many key as
        query heads

    Source: [korthikanti2022, appendix A, equation 7].

    >>> f"{megatron_batch_flop(1536, 2048, 96, 12288, 51200):.4e}"
    '3.3862e+18'
    """
    return (
        72.0
        * batch
        * sequence
        * layers
        * hidden
        * hidden
        * (1 + sequence / (6 * hidden) + vocab / (12 * layers * hidden))
    )


@closed_form(
    batch=COUNT, sequence=COUNT, layers=COUNT, hidden=COUNT, vocab=COUNT, full_recompute=FLAG
)
def megatron_hardware_flop(batch, sequence, layers, hidden, vocab, full_recompute=1):
    """Hardware FLOP of one step as Megatron prints them: with full or with selective recomputation.

    Full recomputation runs the forward pass of the layers again: 4/3 of the layer part. For
    selective recomputation the paper prints s / 3h in place of s / 6h, which charges the attention
    core a whole second forward and backward pass; its reported hardware utilization follows that
    formula, though one forward pass more would be 2 s / 9h.

    Source: [narayanan2021, section 5.1, equation 3] full; [korthikanti2022, appendix A, equation 8]
    selective.

    >>> round(megatron_hardware_flop(64, 2048, 96, 12288, 51200, 0) / megatron_batch_flop(64, 2048,
    ...     96, 12288, 51200), 3)
    1.027
    """
    layer, core, head = (
        72.0 * batch * sequence * layers * hidden * hidden,
        sequence / (6 * hidden),
        vocab / (12 * layers * hidden),
    )
    return layer * where(full_recompute > 0, 4 * (1 + core) / 3 + head, 1 + 2 * core + head)


@closed_form(flop=NON_NEGATIVE, peak_flops=POSITIVE, efficiency=FRACTION)
def compute_seconds(flop, peak_flops, efficiency):
    """Time of arithmetic at a share of the dense peak.

    Parameters
    ----------
    flop : work [FLOP]
    peak_flops : dense peak of the chip or the group [FLOP/s]
    efficiency : share of the peak that such work achieves [1]

    >>> compute_seconds(350e12, 312e12, 1.0) > 1
    True
    """
    return flop / (peak_flops * efficiency)


@closed_form(bytes_moved=NON_NEGATIVE, bytes_per_s=POSITIVE, efficiency=FRACTION)
def memory_seconds(bytes_moved, bytes_per_s, efficiency):
    """Time of moving bytes at a share of the memory bandwidth.

    >>> memory_seconds(3.35e12, 3.35e12, 0.5)
    2.0
    """
    return bytes_moved / (bytes_per_s * efficiency)


@closed_form(compute_s=NON_NEGATIVE, memory_s=NON_NEGATIVE)
def token_seconds(compute_s, memory_s):
    """Time of a step whose arithmetic and memory traffic overlap perfectly: the longer of the two
    (roofline).

    A lower bound: launch floors and, on several chips, the latency of all-reduces come on top.

    Source: [williams2009].

    >>> token_seconds(0.001, 0.004)
    0.004
    """
    return maximum(compute_s, memory_s)
