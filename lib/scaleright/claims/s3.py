"""Recomputations of "Navigating the High Cost of AI Compute" by Andreessen Horowitz: rules of
thumb, time and money of GPT-3, rents, hardware compared, workloads and their machines.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from statistics import median

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model, table
from scaleright.chapters.scaling_math import model as gpt3
from scaleright.chapters.vendor_claims.model import traces
from scaleright.claims import s2_costs as clarifai
from scaleright.claims import s4
from scaleright.claims.ledger import stated
from scaleright.claims.s2_serving import break_even, deployed, speedups
from scaleright.claims.s2_training import largest_trained
from scaleright.claims.verdicts import Condition, Origin, Recomputed, Slip, looked_up, point, span
from scaleright.costs.break_even import compute_usd
from scaleright.decisions.build_buy import own_site_usd_per_year
from scaleright.inference.measured import operating_points
from scaleright.inference.memory import largest_batch, serving_memory
from scaleright.market import api_price, cost_factor, electricity_price, hour, open_models
from scaleright.mlperf.comparison import summary
from scaleright.scaling_laws.laws import published
from scaleright.units import (
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    SECONDS_PER_HOUR,
    SECONDS_PER_YEAR,
    WATTS_PER_KILOWATT,
)

GPT3, A100, H100, CARD = "GPT-3 175B", "A100 SXM 80GB", "H100 SXM", "RTX 3080 Ti"
CARD_LIFE_YEARS, USD_PER_KWH = 3.0, 0.10
CLOUDS = ["AWS", "Google Cloud", "Microsoft Azure"]
"""The three large public clouds that Andreessen Horowitz sets apart."""
WRITTEN = "2023-04-07"
"""Day of Andreessen Horowitz's lost table of clouds."""
QUOTED = {
    "S3-hosted-sales": ("jasper_revenue_usd_2022",),
    "S3-hosted-value": ("jasper_valuation_usd_2022",),
    "S3-clock": ("cpu_clock_ghz_quartile_low", "cpu_clock_ghz_quartile_high"),
    "S3-software": ("vllm_over_tgi", "vllm_over_transformers"),
    "S3-pruning": ("sparse_vllm_throughput", "sparse_throughput_ratio"),
}
"""Claims beside which stands one published figure, or the span of two, from the reference facts."""


# Rules of thumb, and GPT-3


def _size(name: str = GPT3) -> int:
    return transformer.parameters(model(name)).total


def _forward(context: int) -> float:
    return transformer.forward_flop(model(GPT3), context).total


def _peak(precision: str = "bf16", name: str = A100) -> float:
    return accelerator(name).peak_flops(precision)


def _held(of: str = "bytes", name: str = A100) -> float:
    """The memory of a chip [B], or its bandwidth (`bytes_per_s`) [B/s]."""
    return accelerator(name).require(f"memory_{of}")


def _weights(name: str, precision: str = "BF16", numbers: int = 1) -> float:
    """So many numbers for each parameter of a model [B]."""
    return transformer.weight_bytes(
        _size(name), numbers * transformer.bytes_per_parameter(precision)
    )


def _rule(flop) -> Recomputed:
    """Operations per parameter and token, over the contexts of GPT-3."""
    return span(flop(_forward(context)) / _size() for context in (1, 2048))


def _decades() -> Recomputed:
    return span(
        transformer.compute_seconds(gpt3.training_flop(), _peak(), u) / SECONDS_PER_YEAR
        for u in (1.0, fact("gpt3_size_mfu_a100"))
    )


def s3_inference_flop() -> Recomputed:
    tokens = int(fact("gpt3_prompt_tokens"))
    return span(gpt3.prompt_flop(), _forward(tokens) * tokens)


def s3_extra_bytes() -> Recomputed:
    number, fewer = transformer.bytes_per_parameter("FP32"), "an optimizer with one moment, or"
    return point(3 * number, Condition(f"{fewer} gradients not kept", 2 * number))


def s3_cpu_hours() -> Recomputed:
    seconds = transformer.compute_seconds(gpt3.prompt_flop(), fact("cpu_clock_hz"), 1.0)
    return span(of / SECONDS_PER_HOUR for of in (stated("S3-cpu-seconds"), seconds))


def s3_a100_second() -> Recomputed:
    prefill = transformer.compute_seconds(gpt3.prompt_flop(), _peak(), 1.0)
    token = transformer.memory_seconds(gpt3.weights_bytes(), _held("bytes_per_s"), 1.0)
    one_pass = Condition(
        "1,024 prompt tokens in one pass at peak, weights spread over enough GPUs", prefill
    )
    return point(token * fact("gpt3_prompt_tokens"), one_pass)


def s3_llama_more() -> Recomputed:
    small, big = (
        transformer.training_flop(_size(f"LLaMA-{n}"), fact(f"llama_{n.lower()}_training_tokens"))
        / gpt3.training_flop()
        for n in ("13B", "65B")
    )
    return span(small, big, Condition("the one of 65 billion", big))


def _usd_per_thousand(end: int) -> Recomputed:
    """At the lowest (0) or the highest (1) price of the year."""
    flop = transformer.inference_flop(_size(), 1000.0)
    return point(compute_usd(flop, _peak(), 1.0, gpt3.rents_then()[end]))


def s3_train_usd() -> Recomputed:
    ideal = Condition("100 % utilization at $2.00 an hour", gpt3.training_usd(2.0, 1.0))
    return span(
        (gpt3.training_usd(price, fact("gpt3_size_mfu_a100")) for price in gpt3.rents_then()), ideal
    )


def s3_train_usd_low() -> Recomputed:
    usd = fact("mosaic_gpt3_quality_usd")
    smaller = Origin(f"a 30B model, trained until it is as good: ${usd:,.0f}")
    cheapest = min(clarifai.clouds(name, WRITTEN).min() for name in clarifai.A100S)
    return point(gpt3.training_usd(cheapest, fact("gpt3_size_mfu_a100")), smaller)


# Cards, and a site of one's own


def s3_two_3080ti() -> Recomputed:
    ratio = 2 * _peak("fp16", CARD) / _peak("fp16")
    full = "FP16 accumulation, where the card keeps its full rate, within 15 %"
    return point(ratio, Condition(full, 2 * ratio, 1.15 * 2 * ratio))


def _difference_kwh() -> float:
    """What two cards draw more than one A100 over their life [kWh]."""
    kilowatts = (stated("S3-700-watts") - stated("S3-300-watts")) / WATTS_PER_KILOWATT
    return kilowatts * HOURS_PER_YEAR * CARD_LIFE_YEARS


def s3_power_doubles() -> Recomputed:
    ratio = _difference_kwh() * USD_PER_KWH / stated("S3-3080ti-price")
    read = Origin(f"'nearly doubles', of one card with the power of two: {1 + ratio:.2f} times")
    return point(ratio, read, internal=True)


def s3_card_trains() -> Recomputed:
    adapters = largest_trained(CARD, 0, 1, task="lora")
    frozen = Condition("adapters, with the model itself frozen", adapters)
    return point(largest_trained(CARD, 0, 1), frozen)


def s3_own_site() -> Recomputed:
    """Rent a year from which owning saves what a crew costs, at the rent of large buyers, who
    commit; infinite where an owned hour costs more than that. Cheap at full use, dear at 17 hours.
    """
    pay, rent = cost_factor("staff_usd_per_year", "data center"), hour(H100, "reserved").usd
    crew = fact("data_center_crew_low") * pay.low, fact("data_center_crew_high") * pay.high
    owned = (dataclasses.replace(of, people_usd_per_year=0.0) for of in clarifai.data_center_ends())
    return span(
        float(own_site_usd_per_year(usd, rent, of.break_even_usd_per_hour(hours)))
        for usd, of, hours in zip(crew, owned, (HOURS_PER_DAY, 17.0), strict=True)
    )


# Rents of the day on which it was written


def _apart(name: str) -> float:
    found = hour(name, day=WRITTEN)
    return found.high / found.low


def s3_narrower() -> Recomputed:
    def left(name: str) -> float:
        year = clarifai.clouds(name, WRITTEN, "one year").combine_first(
            clarifai.clouds(name, WRITTEN)
        )
        return 100 * float(year.max() / year.min()) / _apart(name)

    return span(map(left, clarifai.A100S))


def s3_small_clouds() -> Recomputed:
    def ratio(name: str) -> float:
        small = clarifai.clouds(name, WRITTEN).drop(CLOUDS, errors="ignore")
        large = clarifai.clouds(name, WRITTEN, "one year")
        return 100 * float(small.median() / large[large.index.isin(CLOUDS)].median())

    return span(map(ratio, clarifai.A100S))


def s3_hosted_cheaper() -> Recomputed:
    """Open models that rented hardware serves dearer than an API at the load of clusters [%]."""
    shapes = set(operating_points(accelerator=H100)["model"])
    loads = [
        load
        for row in open_models().drop_duplicates("model").itertuples()
        if row.model in shapes
        for load in break_even(row.model, api_price(row.release))
    ]
    return span(100 * sum(load > busy for load in loads) / len(loads) for busy in traces())


def s3_weekly_growth() -> Recomputed:
    """From the first count of ChatGPT's users to the second: day 5 to day 62."""
    ratio = fact("chatgpt_users_day_62") / fact("chatgpt_users_day_5")
    return span(0.0, 100 * (ratio ** (7 / 57) - 1))


def s3_spike() -> Recomputed:
    days = product(("code", "conversation"), ("weekday", "weekend"))
    seen = [fact(f"azure_week_{service}_{day}_peak_to_trough") for service, day in days]
    return span(seen, Condition("code completion on weekdays", max(seen)))


# Hardware compared


def _aws(name: str) -> tuple[str, float]:
    """What AWS asked for an hour of a chip when Andreessen Horowitz wrote [USD/h]."""
    return name, hour(name, seller="AWS", day=WRITTEN).usd


def _h100_over_a100(by: int) -> Recomputed:
    """By what a dollar buys, at every cloud that listed both in 2023 [%]; 0 arithmetic,
    1 bandwidth.
    """
    new, old = (clarifai.clouds(name, clarifai.END_OF_2023) for name in (H100, A100))
    both = new.index.intersection(old.index)
    return point(
        100 * median(clarifai.price_ratios(H100, new[of], A100, old[of])[by] for of in both)
    )


def _speedup(name: str, precision: str) -> float:
    dense = accelerator(name).dense
    return dense[precision] / dense["fp16"]


def s3_int4() -> Recomputed:
    older = "the A100 and older cards, whose tensor cores still had INT4"
    return point(_speedup(H100, "int8"), Condition(older, _speedup(A100, "int4")))


# Workloads and their machines: how quality grows with compute, what bounds a word, what it costs
# beside a sorted table, who is fastest, what leaves the data center


def s3_memory_bound() -> Recomputed:
    def over_compute(context: int, batch: int) -> float:
        bytes_per_s = _held("bytes_per_s")
        step = transformer.decode_step(
            model(GPT3), context, batch, "FP16", 8, _peak("fp16"), bytes_per_s, 1.0, 1.0
        )
        return step.memory_s / step.compute_s

    full = Condition("hundreds of short requests at once", over_compute(1, 512))
    return span((over_compute(1024, batch) for batch in (1, 16, 64)), full)


def s3_inference_memory() -> Recomputed:
    engines = [deployed("Llama-3.1-70B", chip, tensor=8) for chip in (H100, "H200 SXM")]

    def share(engine, batch) -> float:
        held = serving_memory(engine, batch, 2048)
        return 100 * float(held.weights_bytes / (held.weights_bytes + held.kv_bytes))

    one = Condition("one short request at a time", [share(of, 1) for of in engines])
    return span((share(of, largest_batch(of, 2048)) for of in engines), one)


def s3_sublinear() -> Recomputed:
    """Power of compute with which the loss falls that more of it can save, with size and data in
    step.
    """
    names = ("Hoffmann 2022, approach 3", "Besiroglu 2024", "Muennighoff 2023")
    return span(law.alpha * law.size_exponent for law in map(published, names))


def s3_sorting() -> Recomputed:
    """Comparisons of a sort of a million rows over operations of a token after 1,024 [%]."""
    return point(100 * 1_000_000 * math.log2(1_000_000) / _forward(1024))


def s3_egress_images() -> Recomputed:
    """Share of the transfer in what a picture of a megapixel in three channels costs [%], packed
    ten to one and not at all.
    """
    rows = summary()
    rows = rows[(rows["benchmark"] == "stable-diffusion-xl") & (rows["accelerator"] == H100)]
    rate = rows[(rows["scenario"] == "Offline")]["best"].max()
    made = hour(H100).usd / SECONDS_PER_HOUR / rate
    usd_per_gb = cost_factor("egress_usd_per_gb", "cloud").best
    sent = (usd_per_gb * 1024 * 1024 * 3 / packed / 1e9 for packed in (10.0, 1.0))
    return span(100 * usd / (usd + made) for usd in sent)


def s3_highest_end() -> Recomputed:
    """Contests of MLPerf Inference, each the best of its chips, that the newest generation wins
    [%], where it and an older one took part.
    """
    rows = summary()
    rows = rows[rows["round"] == "v5.1"]
    won = []
    for _, of in rows.groupby(["benchmark", "accuracy_target", "scenario", "unit"]):
        new = of["accelerator"].isin(("B200", "B300", "GB200", "GB300"))
        if new.any() and not new.all():
            won.append(of.loc[new, "best"].max() > of.loc[~new, "best"].max())
    return point(100 * sum(won) / len(won))


def s3_nvidia_share() -> Recomputed:
    """Results of MLPerf Inference on NVIDIA's chips [%], by round."""
    makers, rows = table("accelerators").set_index("name")["vendor"], table("mlperf_inference")
    own = rows["accelerator"].map(makers) == "NVIDIA"
    return span(100 * own.groupby(rows["round"]).mean())


def s3_several_cards() -> Recomputed:
    """Weights of a large model over the memory of the largest chip on sale [times]."""
    most = _held(name="B300")
    large, small = (_weights(f"Llama-3.1-{size}") / most for size in ("405B", "70B"))
    return point(large, Condition("a model of 70 billion parameters", small))


RECOMPUTED = {
    claim: lambda facts=facts: looked_up(map(fact, facts)) for claim, facts in QUOTED.items()
} | {
    **dict.fromkeys(
        ("S3-rule-inference", "S2-rule-inference"), lambda: _rule(lambda forward: forward)
    ),
    **dict.fromkeys(
        ("S3-rule-training", "S2-rule-training"), lambda: _rule(transformer.training_flop_per_token)
    ),
    "S3-training-flop": lambda: point(gpt3.training_flop()),
    "S3-weights-fp32": lambda: point(_weights(GPT3, "FP32")),
    "S3-weights-fit": lambda: looked_up(_held()),
    "S3-training-memory": lambda: point(_weights(GPT3, "FP32", 4)),
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
    "S3-billion-times": lambda: point(gpt3.training_flop() / gpt3.prompt_flop()),
    **dict.fromkeys(("S3-decades", "S2-gpt3-decades"), _decades),
    "S3-speed-bits": lambda: point(
        _peak() / _peak("fp32"),
        Condition(
            "both on tensor cores (TF32 to BF16), or bound by memory", _peak() / _peak("tf32")
        ),
    ),
    "S3-usd-low": lambda: _usd_per_thousand(0),
    "S3-usd-high": lambda: _usd_per_thousand(1),
    "S3-usd-spread": lambda: point(stated("S3-usd-high") / stated("S3-usd-low"), internal=True),
    "S3-train-usd-top": lambda: looked_up(
        compute_usd(
            gpt3.training_flop(),
            fact("gpt3_v100_assumed_flops"),
            1.0,
            fact("gpt3_v100_usd_per_hour"),
        )
    ),
    "S3-700-watts": lambda: point(2 * accelerator(CARD).require("tdp_watts")),
    "S3-300-watts": lambda: looked_up(
        accelerator(A100).require("tdp_watts"),
        Condition("the PCIe card", accelerator("A100 PCIe 80GB").require("tdp_watts")),
    ),
    "S3-3500-kwh": lambda: point(
        _difference_kwh(), Slip("one year's energy given for three", CARD_LIFE_YEARS), internal=True
    ),
    "S3-power-usd": lambda: point(stated("S3-3500-kwh") * USD_PER_KWH, internal=True),
    "S3-3080ti-price": lambda: looked_up(accelerator(CARD).require("purchase_usd")),
    "S3-kwh": lambda: looked_up(
        electricity_price("United States", sector).best for sector in ("data center", "commercial")
    ),
    "S3-a100-spread": lambda: span(map(_apart, clarifai.A100S)),
    "S3-commitment-years": lambda: looked_up(table("commitment_ratios")["term_years"]),
    "S3-openai-price": lambda: looked_up(
        fact("davinci_usd_per_1000"), Origin("gpt-3.5-turbo, whose size was never published")
    ),
    "S3-a10-price": lambda: point(_aws(clarifai.A100S[0])[1] / _aws("A10G")[1]),
    "S3-a10-work": lambda: span(clarifai.price_ratios(*_aws(clarifai.A100S[0]), *_aws("A10G"))[:2]),
    "S3-h100-training": lambda: _h100_over_a100(0),
    "S3-h100-generation": lambda: _h100_over_a100(1),
    "S3-int8": lambda: span(_speedup(name, "int8") for name in (A100, H100)),
    "S3-int2": lambda: span(_speedup(H100, "int8"), _speedup(A100, "int4")),
    "S3-bits-served": lambda: span(speedups("FP8")),
    "S3-virtualization": lambda: point(s4.virtual_overhead()),
}
