"""Recomputations of the MLPerf blog post's prose: chips and systems compared on MLPerf, and what it
says of their hardware.

Where the MLPerf blog post compares two chips, both are taken from the same round, so that software
is the same, per accelerator; its own tables (`claims.s4`) stand in for what it says of itself. What
each one computes and why it differs stands in `data/claims.csv`.
"""

from __future__ import annotations

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model, table
from scaleright.claims import s4
from scaleright.claims.s4 import figure_at_hand, printed
from scaleright.claims.verdicts import (
    Condition,
    Origin,
    Recomputed,
    Slip,
    looked_up,
    point,
    saved,
    span,
)
from scaleright.mlperf import comparable, matched, server_to_offline

B200, GB200, H100, H200, NEWEST = "B200", "GB200", "H100 SXM", "H200 SXM", ("v5.1",)
R1, DENSE, IMAGES, LLAMA, GPTJ = (
    "deepseek-r1",
    "llama3.1-405b",
    "stable-diffusion-xl",
    "llama2-70b",
    "gptj",
)
BOTH = ("Offline", "Server")


# Chips in one round


def _ratios(
    new: str, old: str, benchmark: str, *scenarios: str, rounds: tuple[str, ...] = s4.ROUNDS
) -> tuple[float, ...]:
    """One chip over another per accelerator, by best, median and mean submission, in every one of
    the MLPerf blog post's rounds in which both stand.
    """
    met = [matched(new, old, benchmark, scenario) for scenario in scenarios or BOTH]
    return tuple(
        float(ratio)
        for rows in (of[of["round"].isin(rounds)] for of in met)
        for kind in ("best", "median", "mean_of_ratios")
        for ratio in rows[f"{kind}_new"] / rows[f"{kind}_old"]
    )


def _percent(*of: str, **more) -> list[float]:
    return [100 * ratio for ratio in _ratios(*of, **more)]


def _gains(benchmark: str) -> list[float]:
    """What an H200 does more than an H100 [%]."""
    return [100 * (ratio - 1) for ratio in _ratios(H200, H100, benchmark)]


def s4_coupling() -> Recomputed:
    ratios = (
        moe / dense
        for of in BOTH
        for moe, dense in zip(
            *(_ratios(GB200, B200, name, of) for name in (R1, DENSE)), strict=True
        )
    )
    sizes = [_printed_ratio(name, B200, GB200, figure="chips") for name in (R1, DENSE)]
    return span(ratios, Slip("systems of different size", sizes[0] / sizes[1]))


def s4_multimodal() -> Recomputed:
    return span(
        100
        * min(_ratios(B200, H200, IMAGES, s))
        / max(_ratios(B200, H200, LLAMA, s, rounds=NEWEST))
        for s in BOTH
    )


def s4_h200_30() -> Recomputed:
    large = Condition("Llama-2-70B, which fills an H100 to the brim", _gains(LLAMA))
    return span(_gains(GPTJ), _gains(IMAGES), large)


def s4_tpu_a100() -> Recomputed:
    server = _percent("TPU v5e", "A100 SXM 80GB", GPTJ, "Server")[:1]
    cards = (_percent("TPU v5e", f"A100 {of} 80GB", GPTJ, "Offline") for of in ("SXM", "PCIe"))
    return span(cards, Condition("the A100 SXM in Server", server))


def _virtual(benchmark: str, *scenarios: str) -> list[float]:
    """An H200 in a virtual machine over bare ones of the same round, against their mean and their
    best [%].
    """
    rows = comparable(NEWEST, allow=("virtualized",))
    rows = rows[
        (rows["accelerator"] == H200)
        & (rows["benchmark"] == benchmark)
        & (rows["accuracy_target"] != "99")
    ]
    rates = rows.groupby(["scenario", rows["flags"].str.contains("virtualized")])[
        "per_accelerator"
    ].agg(["mean", "max"])
    return [
        100 * rates.loc[(s, True), "mean"] / rates.loc[(s, False), by]
        for s in scenarios or BOTH
        for by in ("mean", "max")
    ]


def virtual_overhead() -> float:
    """The most that a virtual machine costs on any of the document's models [%]."""
    return 100 - min(share for name in (LLAMA, IMAGES, DENSE) for share in _virtual(name))


def s4_virtual_sdxl() -> Recomputed:
    bare = figure_at_hand(IMAGES, H200, "Offline", "per chip")
    older = 100 * printed(IMAGES, f"virtualized {H200}") / bare
    words = "bare metal averaged with rounds of older software"
    return span(_virtual(IMAGES, "Offline"), Condition(words, older))


def s4_nvl72_nodes() -> Recomputed:
    rows = comparable(NEWEST)
    rack = rows[(rows["accelerator"] == GB200) & (rows["benchmark"] == R1)].iloc[0]
    return looked_up(rack["accelerators"])


def s4_r1_server() -> Recomputed:
    kept = server_to_offline()
    of = kept["round"].isin(NEWEST) & kept["accelerator"].isin([B200, GB200])
    kept = kept[of & (kept["benchmark"] == R1)]
    return span(100 * kept["lowest"], 100 * kept["highest"])


# The MLPerf blog post's own tables


def _printed_ratio(benchmark: str, new: str, old: str, *scenario: str, **figure: str) -> float:
    """A printed figure of one chip over that of another."""
    return printed(benchmark, new, *scenario, **figure) / printed(
        benchmark, old, *scenario, **figure
    )


def _in_table(
    benchmark: str, new: str, old: str, text: str, scenario: str = "Offline"
) -> Recomputed:
    """Two chips of the MLPerf blog post's tables, whose rates it had divided by the chips of one
    node: by how much that is off, its own totals over its own numbers of chips say.
    """
    total, chips, rate = (
        _printed_ratio(benchmark, new, old, scenario, figure=of)
        for of in ("total", "chips", "per chip")
    )
    own = total / chips
    return span(_ratios(new, old, benchmark, scenario), own, Slip(text, own / rate))


def s4_gptj_h200() -> Recomputed:
    right = [
        figure_at_hand(GPTJ, chip, "Offline", "per chip") / printed(GPTJ, chip)
        for chip in (H200, H100)
    ]
    return span(_ratios(H200, H100, GPTJ), Slip(s4.MIXED, right[0] / right[1]))


def _memory_types() -> float:
    """Cells of the document's column of memory types that the catalog confirms [% of those
    filled].
    """
    rows = table("s4_specifications").dropna(subset="memory_type")
    known = rows["accelerator"].map(table("accelerators").set_index("name")["memory_type"])
    return 100 * float((rows["memory_type"] == known).mean())


def _samples(benchmark: str) -> Recomputed:
    """Samples a second of an average B200 system, of which the MLPerf blog post prints tokens a
    second.
    """
    rows = table("mlperf_benchmarks").set_index("benchmark")
    tokens = float(rows.loc[benchmark, "tokens_per_sample"].iloc[0])
    return point(
        figure_at_hand(benchmark, B200, "Offline", "total") / tokens,
        Slip("tokens/s printed as samples/s", 1 / tokens),
    )


def _whole_systems(benchmark: str) -> Recomputed:
    """An average GB200 system over an average B200 system, whatever the chips in them: as the
    MLPerf blog post has it, and in the rounds at hand.
    """
    return span(
        total(benchmark, GB200, scenario, "total") / total(benchmark, B200, scenario, "total")
        for total in (printed, figure_at_hand)
        for scenario in BOTH
    )


# Hardware


def s4_two_dies() -> Recomputed:
    b200, gb200, hopper = (accelerator(name).peak_flops("fp16") for name in (B200, GB200, H200))
    return point(b200 / hopper, Condition("GB200, which is allowed more power", gb200 / hopper))


def s4_return() -> Recomputed:
    revenue, investment = fact("nvl72_claimed_revenue_usd"), fact("nvl72_claimed_investment_usd")
    multiple = Condition("revenue called return", revenue / investment)
    return point((revenue - investment) / investment, multiple)


def _bytes_per_s(name: str, unit: float) -> float:
    return accelerator(name).require("memory_bytes_per_s") / unit


def s4_gh200_memory() -> Recomputed:
    low, high = (_bytes_per_s(name, 1e9) for name in ("GH200", "GH200 144GB"))
    own = Origin(f"the GPU's own HBM, by version: {low:,.0f} or {high:,.0f} GB/s")
    return looked_up(fact("gh200_lpddr_bytes_per_s") / 1e9, own)


def _parameters(name: str) -> Recomputed:
    return point(transformer.parameters(model(name)).total)


NODE_OF_4, NODE_OF_8 = "72 chips divided by 4", "16 chips of H100 on average divided by 8"
RECOMPUTED = {
    "S4-rounds": lambda: point(len(s4.ROUNDS) + 1, internal=True),
    "S4-r1-tenfold": lambda: _whole_systems(R1),
    "S4-405b-gap": lambda: _whole_systems(DENSE),
    "S4-sdxl-2x": lambda: span(_ratios(B200, H200, IMAGES)),
    "S4-h200-bandwidth": lambda: looked_up(_bytes_per_s(H200, 1e12)),
    "S4-h100-bandwidth": lambda: looked_up(_bytes_per_s(H100, 1e12)),
    "S4-h200-gbps": lambda: looked_up(_bytes_per_s(H200, 1e9), Slip("GB/s written for TB/s", 1000)),
    "S4-gptj-size": lambda: _parameters("GPT-J-6B"),
    "S4-405b-size": lambda: _parameters("Llama-3.1-405B"),
    "S4-sxm-pcie": lambda: span(_percent(H100, "H100 PCIe", GPTJ)),
    "S4-sxm-pcie-self": lambda: point(100 * _printed_ratio(GPTJ, H100, "H100 PCIe"), internal=True),
    "S4-tpu-hopper": lambda: span(100 / ratio for ratio in _ratios(H100, "TPU v5e", GPTJ)),
    "S4-blackwell-3x": lambda: span(_ratios(B200, H200, LLAMA), _ratios(GB200, H200, LLAMA)),
    "S4-virtual-offline": lambda: span(_virtual(LLAMA, "Offline")),
    "S4-virtual-server": lambda: span(_virtual(LLAMA, "Server")),
    "S4-virtual-overhead": lambda: point(virtual_overhead()),
    "S4-virtual-self": lambda: span(
        saved(_printed_ratio(DENSE, f"virtualized {H200}", H200, s) for s in BOTH), internal=True
    ),
    "S4-h200-30-self": lambda: span(
        (100 * (_printed_ratio(of, H200, H100, s) - 1) for of in (LLAMA, IMAGES) for s in BOTH),
        internal=True,
    ),
    "S4-memory-column": lambda: point(_memory_types()),
    "S4-l40s": lambda: span(_percent("L40S", "H100 PCIe", LLAMA)),
    "S4-sdxl-b200-h100": lambda: span(_ratios(B200, H100, IMAGES)),
    "S4-gh200-h100": lambda: span(_percent("GH200", H100, IMAGES)),
    "S4-r1-chip": lambda: _in_table(R1, GB200, B200, NODE_OF_4),
    "S4-r1-chip-server": lambda: _in_table(R1, GB200, B200, NODE_OF_4, "Server"),
    "S4-r1-definition": lambda: point(
        printed(R1, GB200, figure="total") / printed(R1, GB200, figure="chips"), internal=True
    ),
    "S4-r1-unit": lambda: _samples(R1),
    "S4-405b-unit": lambda: _samples(DENSE),
    "S4-405b-chip": lambda: _in_table(DENSE, GB200, B200, "31 chips on average divided by 4"),
    "S4-405b-h200": lambda: _in_table(DENSE, H200, H100, NODE_OF_8),
    "S4-405b-b200": lambda: _in_table(DENSE, B200, H100, NODE_OF_8),
}
