"""The format in which a published configuration says that its weights are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scaleright.names import brief, suggestion

_FORMATS = {
    "bfloat16": "BF16",
    "float16": "FP16",
    "half": "FP16",
    "float32": "FP32",
    "float8_e4m3fn": "FP8",
}


PRECISIONS = ("FP32", "FP16", "BF16", "FP8", "FP8-block", "INT8", "INT4", "NVFP4", "MXFP4")
"""What a shape in a few numbers may say of its weights."""


class ConfigError(ValueError):
    """A configuration that cannot be read; names the file or model and every reason.

    problems : the reasons, one by one, without that name
    """

    def __init__(self, said: str, problems: Iterable[str] = ()):
        super().__init__(said)
        self.problems = tuple(problems) or (said,)


class UnsupportedArchitectureError(ConfigError):
    """A configuration of a model that no `Transformer` tells, as one with state-space layers."""


def weights_format(config: Mapping[str, Any]) -> str:
    """Format of the weights that a configuration names; empty where it names none.

    Raises
    ------
    ConfigError : it names one that is not known.

    >>> weights_format({"torch_dtype": "bfloat16"}), weights_format({})
    ('BF16', '')
    >>> weights_format({"quantization_config": {"quant_method": "gptq", "bits": 4}})
    'INT4'
    """
    quantized = config.get("quantization_config") or config.get("compression_config")
    if not quantized:
        kind = config.get("torch_dtype") or config.get("dtype") or ""
        kind = str(kind).removeprefix("torch.")
        if kind and kind not in _FORMATS:
            raise ConfigError(f"dtype = {brief(kind)}: {suggestion(kind, _FORMATS)}")
        return _FORMATS.get(kind, "")
    method = str(quantized.get("quant_method", ""))
    groups: Any = quantized.get("config_groups")
    first: Any = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights: Any = first.get("weights") if isinstance(first, dict) else None
    weights = weights if isinstance(weights, dict) else {}
    bits = quantized.get("bits") or weights.get("num_bits")
    blocks = "FP8-block" if quantized.get("weight_block_size") else "FP8"
    whole, floating = ("INT8", "FP8") if bits == 8 else ("INT4", "NVFP4") if bits == 4 else ("", "")
    algorithm = str(quantized.get("quant_algo", "")).upper()
    known = {
        "fp8": blocks,
        "mxfp4": "MXFP4",
        "gptq": whole,
        "awq": whole,
        "compressed-tensors": floating if weights.get("type") == "float" else whole,
        "modelopt": algorithm if algorithm in ("FP8", "NVFP4") else "",
    }
    if not known.get(method):
        raise ConfigError(
            f"quantization_config: {brief(method)} with {bits} bits is not known"
            f" ({suggestion(method, known)}); leave it out and choose the format yourself"
        )
    return known[method]
