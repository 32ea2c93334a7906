"""How a model is served: the model, the chips that share it, the formats of its parts, and the
rules that a split must keep.

A `Deployment` is one engine: `tensor` chips share every layer, `pipeline` stages share the layers,
and `attention_data` groups of `tensor` chips attend to sequences of their own while all of a
stage's chips share its experts. Degrees may be arrays of layouts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import counting, lookup
from scaleright.names import one_of, suggestion
from scaleright.training.rules import Rule, divisors, nearest_of, refuse_first, wanted, whole

NEEDS = {
    "BF16": "bf16",
    "FP16": "fp16",
    "FP8": "fp8",
    "MXFP8": "fp4",
    "INT8": "int8",
    "NVFP4": "fp4",
    "INT4": "bf16",
    "MXFP4": "bf16",
}
"""The dense peak that a chip must have for each format of weights. Formats whose values share a
scale in small blocks came with the tensor cores that know FP4; INT4 and MXFP4 weights are expanded
to 16 bit where a chip cannot multiply them: any chip serves them.
"""
_OF_NVIDIA = ("NVFP4",)
CACHE_FORMATS = ("BF16", "FP16", "FP8", "INT8", "NVFP4")
DEGREES = ("tensor", "pipeline", "expert", "attention_data")
CHUNK_TOKENS = 8192
"""Tokens that one step of an engine takes in at most, prompts cut to fit: the default of vLLM on
data center GPUs and of TensorRT-LLM.
"""
MEMORY_SHARE = 0.9
"""Share of a chip's memory that an engine takes: the default of vLLM (`gpu_memory_utilization`),
nearly that of TensorRT-LLM, which takes 0.9 of what the weights leave (`free_gpu_memory_fraction`).
"""


@lookup
def formats_of(chip: Accelerator) -> tuple[str, ...]:
    """The formats of `NEEDS` in which a chip serves a model; NVFP4 is NVIDIA's own.

    >>> from scaleright import catalog
    >>> formats_of(catalog.accelerator("MI355X"))
    ('BF16', 'FP16', 'FP8', 'MXFP8', 'INT8', 'INT4', 'MXFP4')
    """
    nvidia = chip.vendor == "NVIDIA"
    return tuple(
        form
        for form, peak in NEEDS.items()
        if peak in chip.dense and (nvidia or form not in _OF_NVIDIA)
    )


@lookup
def generation(software: str) -> str:
    """The engine of a software, and which generation of vLLM; "any" where none is named.

    vLLM was rewritten (V1, the engine from release 0.8 of 2025 on); from release 0.14 of 2026 on it
    counts as another generation again.

    >>> generation("vLLM 0.5.4"), generation("vLLM 0.11.1"), generation("vLLM 0.17.0"), generation(
    ...     "")
    ('vLLM V0', 'vLLM V1', 'vLLM', 'any')
    """
    release = re.match(r"vLLM 0\.(\d+)", software)
    age = int(release[1]) if release else 14
    return "vLLM V0" if age < 8 else "vLLM V1" if age < 14 else (software.split() or ["any"])[0]


@lookup
def sixteen_bits_of(chip: Accelerator) -> str:
    """A chip's format of 16 bits: FP16 where it is older than BF16."""
    return "FP16" if "bf16" not in chip.dense and "fp16" in chip.dense else "BF16"


@lookup
def computed_in(precision: str, chip: Accelerator) -> str:
    """The format in which a chip multiplies weights of a format: their own; 16 bit for INT4, and
    for MXFP4 on a chip without FP4, else MXFP8.

    >>> from scaleright import catalog
    >>> [computed_in("MXFP4", catalog.accelerator(of)) for of in ("H100 SXM", "B200")]
    ['BF16', 'MXFP8']
    """
    plain = sixteen_bits_of(chip)
    other = {"MXFP4": "MXFP8" if "fp4" in chip.dense else plain, "INT4": plain}
    return other.get(precision, precision)


@dataclass(frozen=True)
class Deployment:
    """A model on a group of chips that serve it as one engine.

    Attributes
    ----------
    model : the shape
    chip : the accelerator
    precision : format of the weights: "BF16", "FP16", "FP8", "INT8", "MXFP8", "NVFP4", "INT4",
        "MXFP4"; `formats` says of which parts
    tensor, pipeline, attention_data : parallel degrees; chips = tensor * pipeline * attention_data
        [1]
    expert : ranks that the routed experts are spread over, of the tensor * attention_data chips of
        a stage; each expert is split over the others: 1 splits every expert over all of them [1]
    redundant : routed experts that are held twice, so that the ranks share busy ones and need not
        divide the model's own number [1]
    kv_precision : format of the cache; by default `cache_format`
    software : engine and version, such as "vLLM 0.17.0"; the first word is the engine
    max_sequences : most sequences that the engine runs at once, over the whole group; None is no
        limit but memory [1]
    memory_share : share of a chip's memory that the engine may take [1]
    chunk_tokens : most tokens of one step, for each attention group and micro-batch; longer prompts
        are cut (chunked prefill) [token]

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("gpt-oss-120b"), catalog.accelerator("H100 SXM"), "MXFP4",
    ...     tensor=2, software="vLLM 0.17.0")
    >>> one.chips, one.engine, one.formats["experts"], one.formats["attention"], one.compute_format(
    ...     "experts")
    (2, 'vLLM', 'MXFP4', 'BF16', 'BF16')
    """

    model: Transformer
    chip: Accelerator
    precision: str = "BF16"
    tensor: Any = 1
    pipeline: Any = 1
    expert: Any = 1
    attention_data: Any = 1
    kv_precision: str | None = None
    software: str = ""
    max_sequences: Any = None
    memory_share: Any = MEMORY_SHARE
    chunk_tokens: Any = CHUNK_TOKENS
    redundant: Any = 0

    @property
    def held_experts(self) -> Any:
        """Routed experts that the ranks hold of each layer, those held twice counted twice [1]."""
        return self.model.experts + self.redundant

    @property
    def ranks(self) -> Any:
        """Chips of one pipeline stage [1]."""
        return self.tensor * self.attention_data

    @property
    def chips(self) -> Any:
        """Chips of the engine [1]."""
        return self.ranks * self.pipeline

    @property
    def expert_tensor(self) -> Any:
        """Chips that share one routed expert [1]."""
        return self.ranks / self.expert

    @property
    def engine(self) -> str:
        """The first word of the software: "TensorRT-LLM", "vLLM", "SGLang", or "" where none is
        named.
        """
        return self.software.split()[0] if self.software.strip() else ""

    @property
    def first_of_vllm(self) -> bool:
        """Whether it runs the first engine of vLLM, which launches every kernel from the host and
        reads prompts in steps of their own.
        """
        return generation(self.software) == "vLLM V0"

    @property
    def cache_format(self) -> str:
        """Format of the cache: the one given; else FP8 where TensorRT-LLM serves a quantized model
        [tensorrtllm2025], 16 bit elsewhere.
        """
        low = (
            self.engine == "TensorRT-LLM"
            and self.precision in ("FP8", "NVFP4", "MXFP8")
            and "fp8" in self.chip.dense
        )
        return self.kv_precision or ("FP8" if low else "BF16")

    @property
    def formats(self) -> dict[str, str]:
        """Format of each part of the weights.

        Token table, output head, router and norms stay in 16 bit. MXFP4 is the format of routed
        experts alone where the model has any [gptoss]; NVFP4 leaves latent attention in 16 bit, as
        the published checkpoints of DeepSeek-R1 do.
        """
        plain = "FP16" if self.precision == "FP16" else self.sixteen_bits
        mixture = self.precision == "MXFP4" and np.any(self.model.experts)
        spared = mixture or (self.precision == "NVFP4" and np.any(self.model.kv_lora_rank))
        return {
            "attention": plain if spared else self.precision,
            "dense": plain if mixture else self.precision,
            "experts": self.precision,
            "head": plain,
        }

    @property
    def sixteen_bits(self) -> str:
        """The chip's format of 16 bits: FP16 where it is older than BF16."""
        return sixteen_bits_of(self.chip)

    def compute_format(self, part: str) -> str:
        """Format in which a part's products are computed: its own; 16 bit for INT4, and for MXFP4
        on a chip without FP4, else MXFP8.
        """
        formats = self.compute_formats
        return formats[one_of(part, formats, "part of a model")]

    @property
    def compute_formats(self) -> dict[str, str]:
        """Format in which each part's products are computed, see `compute_format`."""
        return {part: computed_in(form, self.chip) for part, form in self.formats.items()}


@lookup
def shared_by(d: Deployment, chips: Any) -> Deployment:
    """The same on so many chips that share every layer, with whole experts spread over them.

    >>> from scaleright import catalog
    >>> one = Deployment(catalog.model("gpt-oss-120b"), catalog.accelerator("H100 SXM"), "MXFP4")
    >>> shared_by(one, 8).tensor, shared_by(one, 8).expert
    (8, 8)
    """
    return replace(d, tensor=chips, expert=chips if d.model.experts else 1)


def _rules(d: Deployment) -> Iterator[Rule]:
    """Every rule; a later one may rely on those before it."""
    t = d.model
    yield from _format_rules(d)
    yield t.causal, lambda _: f"{t.name} is an encoder: it writes no tokens; allowed: decoders"
    share = np.asarray(d.memory_share, dtype=float)
    yield (
        (share > 0) & (share <= 1),
        lambda one: f"memory_share = {one.memory_share:g}, allowed: above 0 to 1",
    )
    for name in _numbers(d)[1:]:
        fits = whole(getattr(d, name), 1, np.inf)
        yield fits, lambda one, name=name: wanted(name, getattr(one, name), 1, np.inf)
    yield from _degree_rules(d)


def _format_rules(d: Deployment) -> Iterator[Rule]:
    """Formats are known, and the chip has that of the weights."""
    chip = d.chip
    for name, value, known in (
        ("precision", d.precision, tuple(NEEDS)),
        ("kv_precision", d.cache_format, CACHE_FORMATS),
    ):
        yield (
            value in known,
            lambda _, of=(name, value, known): (
                f"unknown {of[0]} {of[1]!r}; {suggestion(of[1], of[2])}"
            ),
        )
    able = ", ".join(formats_of(chip)) or "no format of the catalog"
    needed, has = NEEDS.get(d.precision), ", ".join(chip.dense)
    wants = (
        f"precision {d.precision} needs a chip with dense {needed}; {chip.name} has {has}, so it"
        f" serves {able}"
    )
    yield d.precision in formats_of(chip), lambda _: wants


def _degree_rules(d: Deployment) -> Iterator[Rule]:
    """Degrees divide what they split."""
    t, twice = d.model, np.asarray(d.redundant)
    heads = divisors(t.heads)
    kept = [n for n in heads if t.kv_lora_rank or t.kv_heads % n == 0 or n % t.kv_heads == 0]
    yield (
        np.isin(d.tensor, heads),
        lambda one: (
            f"tensor = {one.tensor} does not divide heads = {t.heads};"
            f" {nearest_of(one.tensor, heads)}"
        ),
    )
    yield (
        np.isin(d.tensor, kept),
        lambda one: (
            f"tensor = {one.tensor} neither divides kv_heads = {t.kv_heads} nor is a multiple;"
            f" {nearest_of(one.tensor, kept)}"
        ),
    )
    fits = np.asarray(d.pipeline) <= t.layers
    yield (
        fits,
        lambda one: (
            f"pipeline = {one.pipeline} exceeds layers = {t.layers};"
            f" {nearest_of(one.pipeline, [t.layers])}"
        ),
    )
    yield (
        (twice >= 0) & (twice == np.floor(twice)) & (twice <= t.experts),
        lambda one: (
            f"redundant = {one.redundant:g}; {_nearest_whole(one.redundant, t.experts)} (each of"
            f" the {t.experts} routed experts is held twice at most)"
        ),
    )
    ranks = np.maximum(d.expert, 1)
    yield (
        (np.maximum(d.held_experts, 1) % ranks == 0) & (np.asarray(d.ranks) % ranks == 0),
        lambda one: (
            f"expert = {one.expert} does not divide experts = {_told(one)} and the"
            f" {one.ranks} chips of a stage; "
            + nearest_of(
                one.expert,
                [n for n in divisors(max(int(one.held_experts), 1)) if one.ranks % n == 0],
            )
        ),
    )


def _nearest_whole(value: float, most: int) -> str:
    """The whole number nearest to a value, of those from nothing to the most, in words."""
    return f"allowed: 0 to {most}; nearest: {min(max(round(float(value)), 0), most)}"


def _told(d: Deployment) -> str:
    """The experts of a layer, with those held twice, in words."""
    return f"{d.model.experts}" + (f" + {d.redundant:g} redundant" if d.redundant else "")


def _numbers(d: Deployment) -> list[str]:
    """Fields that are numbers; no limit on sequences is none."""
    return [
        "memory_share",
        *DEGREES,
        "chunk_tokens",
        *(["max_sequences"] if d.max_sequences is not None else []),
    ]


@counting
def check(d: Deployment) -> None:
    """Raise ValueError on the first rule that a deployment breaks, with the nearest value that
    keeps it.

    Of degrees in arrays the message is about the first element that breaks it. The rules: formats
    that exist and that the chip can serve; a decoder; positive whole degrees; tensor divides heads,
    and divides or multiplies key/value heads; no more stages than layers; expert divides the
    experts, redundant ones counted, and the chips of a stage. Whether the weights fit in memory is
    asked of `memory.largest_batch`.

    >>> from scaleright import catalog
    >>> check(Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("A100 SXM 80GB"),
    ...     "FP8", tensor=8))
    Traceback (most recent call last):
    ValueError: Llama-3.1-70B on A100 SXM 80GB: precision FP8 needs a chip with dense fp8; A100 SXM
    80GB has bf16, fp16, fp32, int4, int8, tf32, so it serves BF16, FP16, INT8, INT4, MXFP4
    >>> check(Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"), tensor=6))
    Traceback (most recent call last):
    ValueError: Llama-3.1-70B on H100 SXM: tensor = 6 does not divide heads = 64; nearest: 4 or 8
    """
    refuse_first(f"{d.model.name} on {d.chip.name}", _rules(d), d, _numbers(d))


@counting
def valid(d: Deployment) -> np.ndarray:
    """Where a deployment keeps every rule that `check` checks; a boolean for each element.

    >>> from scaleright import catalog
    >>> valid(Deployment(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"),
    ...     tensor=np.array([3, 4, 8])))
    array([False,  True,  True])
    """
    return reduce(np.logical_and, (holds for holds, _ in _rules(d)))
