"""Bytes of any Transformer from its shape: weights by number format, and the key/value cache."""

from types import MappingProxyType

from scaleright.architecture import Transformer
from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form, counting
from scaleright.names import nearest
from scaleright.ops import maximum, minimum, where
from scaleright.transformer.parameters import active_parameters, parameters

BYTES_PER_PARAMETER = MappingProxyType(
    {
        "FP32": 4.0,
        "BF16": 2.0,
        "FP16": 2.0,
        "FP8": 1.0,
        "INT8": 1.0,
        # 128 x 128 blocks with one FP32 scale [deepseekv3, section 3.3.2].
        "FP8-block": 1 + 4 / 128**2,
        # Blocks of 32 elements with one 8-bit scale [ocpmx, section 5.2].
        "MXFP8": 1 + 1 / 32,
        "MXFP6": 0.75 + 1 / 32,
        "MXFP4": 0.5 + 1 / 32,
        # Blocks of 16 elements with one FP8 scale [nvfp4].
        "NVFP4": 0.5 + 1 / 16,
        # Groups of 128 with one FP16 scale and one 4-bit zero point [awq].
        "INT4": 0.5 + 2.5 / 128,
    }
)
"""Bytes of one weight by number format, scales of its block included."""


@counting
def bytes_per_parameter(precision):
    """Bytes of one weight in a number format, given by name; bytes given as a number or expression
    pass through.

    Raises
    ------
    LookupError : unknown format; the nearest is offered.

    >>> bytes_per_parameter("MXFP4"), bytes_per_parameter("NVFP4")
    (0.53125, 0.5625)
    """
    if not isinstance(precision, str):
        return precision
    return (
        BYTES_PER_PARAMETER[precision]
        if precision in BYTES_PER_PARAMETER
        else nearest(precision, BYTES_PER_PARAMETER, "precision")
    )


@counting
def model_weight_bytes(
    t: Transformer, precision: str = "BF16", experts_precision: str | None = None
):
    """Bytes of all weights; experts may have a format of their own (gpt-oss: MXFP4 in a BF16
    model).

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> model_weight_bytes(tiny), model_weight_bytes(tiny, "FP8")
    (374400.0, 187200.0)
    """
    whole = parameters(t)
    experts = whole.experts * bytes_per_parameter(experts_precision or precision)
    return (whole.total - whole.experts) * bytes_per_parameter(precision) + experts


@counting
def decode_bytes_per_step(
    t: Transformer, batch, precision: str = "BF16", experts_precision: str | None = None
):
    """Bytes of weights read by one decode step that serves `batch` sequences at once.

    Every dense weight once, of the routed experts those that some sequence touches (in expectation,
    see `experts_touched`), of the token table one row a sequence.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, False)
    >>> decode_bytes_per_step(tiny, 1) - 2 * (parameters(tiny).total - parameters(tiny).embedding)
    128.0
    """
    used = active_parameters(t, input_embedding=False)
    touched = experts_touched(maximum(t.experts, 1), maximum(t.experts_per_token, 1), batch)
    per_expert = used.experts / maximum(t.experts_per_token, 1)  # 0 in a dense model
    plain = used.total - used.experts + batch * t.embedding_width * (1 - t.tied_embeddings)
    return plain * bytes_per_parameter(precision) + touched * per_expert * bytes_per_parameter(
        experts_precision or precision
    )


@counting
def kv_bytes_per_token(t: Transformer, bytes_per_element=2):
    """Bytes that one more token adds to the cache of one sequence, in every layer (until a window
    is full).

    Heads: key and value of each key/value head. MLA: one latent and one rotary key for all heads.
    Sparse attention: the indexer's key in addition.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> kv_bytes_per_token(tiny)
    256
    """
    return t.layers * _kv_elements(t) * bytes_per_element


def _kv_elements(t: Transformer):
    """Cached values of one token in one layer."""
    heads = where(
        t.kv_lora_rank > 0,
        t.kv_lora_rank + t.qk_rope_head_dim,
        t.kv_heads * (t.head_dim + t.v_head_dim),
    )
    return heads + t.index_head_dim


@counting
def sequence_kv_bytes(t: Transformer, tokens, sequences=1, bytes_per_element=2):
    """Bytes of the cache of `sequences` sequences of `tokens` each; local layers keep no more than
    their window.

    >>> local = Transformer("local", 2, 64, 4, 2, 16, 256, True, 1000, True, window=100,
    ...     window_layers=1)
    >>> sequence_kv_bytes(local, 1000) == 128 * (1000 + 100)
    True
    """
    cached = (t.layers - t.window_layers) * tokens + t.window_layers * minimum(
        tokens, where(t.window > 0, t.window, tokens)
    )
    return cached * _kv_elements(t) * bytes_per_element * sequences


@closed_form(parameters=POSITIVE, bytes_per_parameter=POSITIVE)
def weight_bytes(parameters, bytes_per_parameter):
    """Bytes of the weights.

    >>> weight_bytes(70e9, 2)
    140000000000.0
    """
    return parameters * bytes_per_parameter


@closed_form(
    experts=Domain(1.0, float("inf"), (32.0, 512.0)),
    experts_per_token=Domain(1.0, float("inf"), (1.0, 16.0)),
    batch=NON_NEGATIVE,
)
def experts_touched(experts, experts_per_token, batch):
    """Experts of one layer that at least one of `batch` tokens visits, in expectation: E k B / (E -
    k + k B).

    Some experts are visited far more often than others. Where their popularities are distributed
    as an exponential, of which nothing but the mean is known, an expert's visits are geometric and
    it is missed with probability 1 / (1 + k B / (E - k)). A router that drew all experts alike
    would touch E (1 - (1 - k / E)^B), up to 30 % more.

    Source: Feller, An Introduction to Probability Theory, II.5 (visits that cannot be told apart);
    that routers of large models are uneven: arXiv 2604.23150.

    >>> experts_touched(8, 2, 1), round(experts_touched(256, 8, 32), 1)
    (2.0, 130.0)
    """
    visits = minimum(experts_per_token, experts) * batch
    left = maximum(experts - experts_per_token, 0.0)
    return experts * minimum(visits / maximum(left + visits, 1e-12), 1.0)
