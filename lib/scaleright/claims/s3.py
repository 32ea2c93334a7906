"""Recomputations of "Navigating the High Cost of AI Compute" by Andreessen Horowitz: rules of
thumb, time and money of GPT-3.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model
from scaleright.chapters.scaling_math.model import (
    prompt_flop,
    rents_then,
    training_flop,
    training_usd,
    weights_bytes,
)
from scaleright.claims.ledger import stated
from scaleright.claims.verdicts import Condition, Origin, Recomputed, Slip, looked_up, point, span
from scaleright.costs.break_even import compute_usd
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR, SECONDS_PER_YEAR, WATTS_PER_KILOWATT

GPT3, A100 = "GPT-3 175B", "A100 SXM 80GB"
CARD_LIFE_YEARS, USD_PER_KWH = 3.0, 0.10


def _size(name: str = GPT3) -> int:
    return transformer.parameters(model(name)).total


def _forward(context: int) -> float:
    return transformer.forward_flop(model(GPT3), context).total


def _peak(precision: str = "bf16") -> float:
    return accelerator(A100).peak_flops(precision)


def rule_inference() -> Recomputed:
    return span(*(_forward(context) / _size() for context in (1, 2048)))


def rule_training() -> Recomputed:
    return span(
        *(transformer.training_flop_per_token(_forward(context)) / _size() for context in (1, 2048))
    )


def decades() -> Recomputed:
    return span(
        *(
            transformer.compute_seconds(training_flop(), _peak(), u) / SECONDS_PER_YEAR
            for u in (1.0, fact("gpt3_size_mfu_a100"))
        )
    )


def s3_inference_flop() -> Recomputed:
    tokens = int(fact("gpt3_prompt_tokens"))
    return span(prompt_flop(), _forward(tokens) * tokens)


def s3_extra_bytes() -> Recomputed:
    number = transformer.bytes_per_parameter("FP32")
    return point(
        3 * number, Condition("an optimizer with one moment, or gradients not kept", 2 * number)
    )


def s3_cpu_hours() -> Recomputed:
    seconds = transformer.compute_seconds(prompt_flop(), fact("cpu_clock_hz"), 1.0)
    return span(*(of / SECONDS_PER_HOUR for of in (stated("S3-cpu-seconds"), seconds)))


def s3_a100_second() -> Recomputed:
    prefill = transformer.compute_seconds(prompt_flop(), _peak(), 1.0)
    token = transformer.memory_seconds(
        weights_bytes(), accelerator(A100).require("memory_bytes_per_s"), 1.0
    )
    one_pass = Condition(
        "1,024 prompt tokens in one pass at peak, weights spread over enough GPUs", prefill
    )
    return point(token * fact("gpt3_prompt_tokens"), one_pass)


def s3_llama_more() -> Recomputed:
    small, big = (
        transformer.training_flop(_size(f"LLaMA-{n}"), fact(f"llama_{n.lower()}_training_tokens"))
        for n in ("13B", "65B")
    )
    ratio = big / training_flop()
    return span(small / training_flop(), ratio, Condition("the one of 65 billion", ratio))


def usd_per_thousand(end: int) -> Recomputed:
    """At the lowest (0) or the highest (1) price of the year."""
    flop = transformer.inference_flop(_size(), 1000.0)
    return point(compute_usd(flop, _peak(), 1.0, rents_then()[end]))


def s3_train_usd() -> Recomputed:
    ideal = Condition("100 % utilization at $2.00 an hour", training_usd(2.0, 1.0))
    return span(
        *(training_usd(price, fact("gpt3_size_mfu_a100")) for price in rents_then()),
        ideal,
    )


def s3_two_3080ti() -> Recomputed:
    ratio = 2 * accelerator("RTX 3080 Ti").peak_flops("fp16") / _peak("fp16")
    return point(
        ratio,
        Condition(
            "FP16 accumulation, where the card keeps its full rate, within 15 %",
            2 * ratio,
            1.15 * 2 * ratio,
        ),
    )


def _difference_kwh() -> float:
    return (
        (stated("S3-700-watts") - stated("S3-300-watts"))
        / WATTS_PER_KILOWATT
        * HOURS_PER_YEAR
        * CARD_LIFE_YEARS
    )


def difference_usd() -> float:
    """What two cards draw more than one A100 over their life, at Andreessen Horowitz's
    price of power [USD].
    """
    return _difference_kwh() * USD_PER_KWH


RECOMPUTED = {
    **dict.fromkeys(("S3-rule-inference", "S2-rule-inference"), rule_inference),
    **dict.fromkeys(("S3-rule-training", "S2-rule-training"), rule_training),
    "S3-training-flop": lambda: point(training_flop()),
    "S3-weights-fp32": lambda: point(
        transformer.weight_bytes(_size(), transformer.bytes_per_parameter("FP32"))
    ),
    "S3-weights-fit": lambda: looked_up(accelerator(A100).require("memory_bytes")),
    "S3-training-memory": lambda: point(
        transformer.weight_bytes(_size(), 4 * transformer.bytes_per_parameter("FP32"))
    ),
    "S3-small-gpu": lambda: point(
        12e9 / (transformer.bytes_per_parameter("FP32") + stated("S3-extra-bytes")), internal=True
    ),
    "S3-cpu-seconds": lambda: point(
        transformer.compute_seconds(stated("S3-inference-flop"), fact("cpu_clock_hz"), 1.0),
        internal=True,
    ),
    "S3-tensor-cores": lambda: looked_up(
        fact("a100_tensor_cores"),
        Origin(f"the full GA100 die, which is not sold: {fact('ga100_full_tensor_cores'):.0f}"),
    ),
    "S3-tensor-flop": lambda: looked_up(
        fact("a100_tensor_core_flop_per_cycle"),
        Origin(f"the V100, a generation older: {fact('v100_tensor_core_flop_per_cycle'):.0f}"),
    ),
    "S3-tensor-product": lambda: point(
        stated("S3-tensor-cores") * stated("S3-tensor-flop") * fact("a100_boost_clock_hz"),
        internal=True,
    ),
    "S3-a100-peak": lambda: looked_up(_peak()),
    "S3-train-vs-infer": lambda: point(
        transformer.training_flop_per_token(_forward(2048)) / _forward(2048)
    ),
    "S3-dataset-ratio": lambda: point(fact("gpt3_training_tokens") / fact("gpt3_prompt_tokens")),
    "S3-billion-times": lambda: point(training_flop() / prompt_flop()),
    **dict.fromkeys(("S3-decades", "S2-gpt3-decades"), decades),
    "S3-speed-bits": lambda: point(
        _peak() / _peak("fp32"),
        Condition(
            "both on tensor cores (TF32 to BF16), or bound by memory", _peak() / _peak("tf32")
        ),
    ),
    "S3-usd-low": lambda: usd_per_thousand(0),
    "S3-usd-high": lambda: usd_per_thousand(1),
    "S3-usd-spread": lambda: point(stated("S3-usd-high") / stated("S3-usd-low"), internal=True),
    "S3-train-usd-top": lambda: looked_up(
        compute_usd(
            training_flop(), fact("gpt3_v100_assumed_flops"), 1.0, fact("gpt3_v100_usd_per_hour")
        )
    ),
    "S3-700-watts": lambda: point(2 * accelerator("RTX 3080 Ti").require("tdp_watts")),
    "S3-300-watts": lambda: looked_up(
        accelerator(A100).require("tdp_watts"),
        Condition("the PCIe card", accelerator("A100 PCIe 80GB").require("tdp_watts")),
    ),
    "S3-3500-kwh": lambda: point(
        _difference_kwh(), Slip("one year's energy given for three", CARD_LIFE_YEARS), internal=True
    ),
    "S3-power-usd": lambda: point(stated("S3-3500-kwh") * USD_PER_KWH, internal=True),
}
