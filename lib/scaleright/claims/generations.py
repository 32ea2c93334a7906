"""Recomputations of S4's prose: chips and systems compared on MLPerf, and what it says of their hardware.

Where S4 compares two chips, both are taken from the same round, so that software is the same, per accelerator; its own tables
(`claims.s4`) stand in for what it says of itself. What each one computes and why it differs stands in `data/claims.csv`.
"""

from __future__ import annotations

from scaleright import transformer
from scaleright.catalog import accelerator, fact, model, table
from scaleright.claims import s4
from scaleright.claims.ledger import Condition, Recomputed, Slip, point, span, stated
from scaleright.mlperf import comparable, matched, server_to_offline

H100, H200, NEWEST = "H100 SXM", "H200 SXM", "v5.1"
R1, DENSE, IMAGES, LLAMA, GPTJ = "deepseek-r1", "llama3.1-405b", "stable-diffusion-xl", "llama2-70b", "gptj"
BOTH = ("Offline", "Server")


def _ratios(new: str, old: str, benchmark: str, *scenarios: str, rounds: tuple[str, ...] = s4.ROUNDS) -> list[float]:
    """One chip over another per accelerator, by best, median and mean submission, in every one of S4's rounds in which both stand."""
    meetings = [matched(new, old, benchmark, scenario, rows=comparable(rounds)) for scenario in scenarios or BOTH]
    return [float(ratio) for m in meetings for by in (m["best"], m["median"], m["mean_of_ratios_new"] / m["mean_of_ratios_old"]) for ratio in by]


def _percent(ratios: list[float]) -> list[float]:
    return [100 * ratio for ratio in ratios]


def _printed(benchmark: str, chip: str, scenario: str, figure: str = "per chip", virtualized: bool = False) -> float:
    """A figure of S4's table of results."""
    rows = table("s4_results").set_index(["benchmark", "accelerator", "scenario", "virtualized"])
    return float(rows.loc[(benchmark, chip, scenario, virtualized), s4.FIGURES[figure][0]])


def _own(benchmark: str, new: str, old: str, scenario: str) -> float:
    """One chip over another by S4's own totals over its own numbers of chips."""
    rates = [_printed(benchmark, chip, scenario, "total") / _printed(benchmark, chip, scenario, "chips") for chip in (new, old)]
    return rates[0] / rates[1]


def _counted(benchmark: str, new: str, old: str, scenario: str = "Offline") -> float:
    """By what factor S4's ratio of two chips is off for dividing each by the chips of one node."""
    return _own(benchmark, new, old, scenario) * _printed(benchmark, old, scenario) / _printed(benchmark, new, scenario)


def _systems(benchmark: str) -> float:
    """Chips of B200 systems over chips of GB200 systems, as S4 has them."""
    return _printed(benchmark, "B200", "Offline", "chips") / _printed(benchmark, "GB200", "Offline", "chips")


def _table_ratio(benchmark: str, new: str, old: str, scenario: str, text: str) -> Recomputed:
    ratios = [*_ratios(new, old, benchmark, scenario), _own(benchmark, new, old, scenario)]
    return span(*ratios, Slip(text, _counted(benchmark, new, old, scenario)))


def coupling() -> Recomputed:
    gains = [[_ratios("GB200", "B200", name, scenario) for name in (R1, DENSE)] for scenario in BOTH]
    return span(*(moe / dense for pair in gains for moe, dense in zip(*pair)), Slip("systems of different size", _systems(R1) / _systems(DENSE)))


def h200_bandwidth_gain() -> Recomputed:
    gains = lambda *names: [100 * (ratio - 1) for name in names for ratio in _ratios(H200, H100, name)]  # noqa: E731
    large = gains(LLAMA)
    return span(*gains(GPTJ, IMAGES), Condition("Llama-2-70B, which fills an H100 to the brim", min(large), max(large)))


def gptj_h200() -> Recomputed:
    right = {cell.chip: cell.at_hand / cell.finding.claim.low for cell in s4.judged()
             if (cell.benchmark, cell.scenario, cell.figure) == (GPTJ, "Offline", "per chip") and cell.chip in (H100, H200)}  # fmt: skip
    return span(*_ratios(H200, H100, GPTJ), Slip(s4.MIXED, right[H200] / right[H100]))


def _virtual(benchmark: str, *scenarios: str) -> list[float]:
    """An H200 behind a hypervisor over bare ones of the same round, against their mean and their best [%]."""
    rows = comparable((NEWEST,), allow=("virtualized",))
    rows = rows[(rows["accelerator"] == H200) & (rows["benchmark"] == benchmark) & (rows["accuracy_target"] != "99")]
    bare = rows["flags"].str.contains("virtualized").map({True: "virtual", False: "bare"})
    rates = rows.groupby(["scenario", bare])["per_accelerator"].agg(["mean", "max"])
    return [100 * rates.loc[(s, "virtual"), "mean"] / rates.loc[(s, "bare"), by] for s in scenarios or BOTH for by in ("mean", "max")]


def virtual_images() -> Recomputed:
    pooled = next(c for c in s4.judged() if (c.benchmark, c.chip, c.scenario, c.figure) == (IMAGES, H200, "Offline", "per chip"))
    older = 100 * _printed(IMAGES, H200, "Offline", virtualized=True) / pooled.at_hand
    return span(*_virtual(IMAGES, "Offline"), Condition("bare metal averaged with rounds of older software", older))


def _tokens(benchmark: str) -> Recomputed:
    """Samples a second of an average B200 system, of which S4 prints tokens a second."""
    rows = table("mlperf_benchmarks")
    tokens = float(rows.loc[rows["benchmark"] == benchmark, "tokens_per_sample"].iloc[0])
    cell = next(c for c in s4.judged() if (c.benchmark, c.chip, c.scenario, c.figure) == (benchmark, "B200", "Offline", "total"))
    return point(cell.at_hand / tokens, Slip("tokens/s printed as samples/s", 1 / tokens))


def nodes() -> Recomputed:
    rows = comparable((NEWEST,))
    rack = rows[(rows["accelerator"] == "GB200") & (rows["benchmark"] == R1)].iloc[0]
    return point(rack["nodes"], Slip("GPUs called nodes", rack["nodes"] / rack["accelerators"]))


def _bandwidth(name: str) -> float:
    return accelerator(name).require("memory_bytes_per_s")


def _tera(quantity: float) -> float:
    return quantity / 1e12


def _server_kept() -> list[float]:
    kept = server_to_offline()
    kept = kept[(kept["benchmark"] == R1) & (kept["round"] == NEWEST) & kept["accelerator"].isin(["B200", "GB200"])]
    return _percent([*kept["lowest"], *kept["highest"]])


RECOMPUTED = {
    "S4-rounds": lambda: point(len(s4.ROUNDS) + 1, internal=True),
    "S4-nvl72-nodes": nodes,
    "S4-r1-tenfold": lambda: span(*_ratios("GB200", "B200", R1), Slip("a system of 72 chips against one of 8", _systems(R1))),
    "S4-405b-gap": lambda: span(*_ratios("GB200", "B200", DENSE), Slip("systems of 31 chips on average against systems of 8", _systems(DENSE))),
    "S4-coupling": coupling,
    "S4-return": lambda: point(
        (fact("nvl72_claimed_revenue_usd") - fact("nvl72_claimed_investment_usd")) / fact("nvl72_claimed_investment_usd"),
        Condition("revenue called return", fact("nvl72_claimed_revenue_usd") / fact("nvl72_claimed_investment_usd"))),
    "S4-sdxl-2x": lambda: span(*_ratios("B200", H200, IMAGES)),
    "S4-two-dies": lambda: point(
        accelerator("B200").peak_flops("fp16") / accelerator(H200).peak_flops("fp16"),
        Condition("GB200, which is allowed more power", accelerator("GB200").peak_flops("fp16") / accelerator(H200).peak_flops("fp16"))),
    "S4-multimodal": lambda: span(*(100 * min(_ratios("B200", H200, IMAGES, s)) / max(_ratios("B200", H200, LLAMA, s, rounds=(NEWEST,))) for s in BOTH)),
    "S4-h200-30": h200_bandwidth_gain,
    "S4-h200-30-self": lambda: span(
        *(100 * (_printed(name, H200, s) / _printed(name, H100, s) - 1) for name in (LLAMA, IMAGES) for s in BOTH), internal=True),
    "S4-h200-bandwidth": lambda: point(_tera(_bandwidth(H200))),
    "S4-h100-bandwidth": lambda: point(_tera(_bandwidth(H100))),
    "S4-h200-gbps": lambda: point(1000 * _tera(_bandwidth(H200)), Slip("GB/s written for TB/s", 1000)),
    "S4-gh200-memory": lambda: point(
        1000 * _tera(fact("gh200_lpddr_bytes_per_s")),
        Condition("the GPU's own HBM, by version", 1000 * _tera(_bandwidth("GH200")), 1000 * _tera(_bandwidth("GH200 144GB")))),
    "S4-gptj-size": lambda: point(transformer.parameters(model("GPT-J-6B")).total),
    "S4-405b-size": lambda: point(transformer.parameters(model("Llama-3.1-405B")).total),
    "S4-gptj-h200": gptj_h200,
    "S4-sxm-pcie": lambda: span(*_percent(_ratios(H100, "H100 PCIe", GPTJ))),
    "S4-sxm-pcie-self": lambda: point(100 * _printed(GPTJ, H100, "Offline") / _printed(GPTJ, "H100 PCIe", "Offline"), internal=True),
    "S4-tpu-a100": lambda: span(
        *_percent([ratio for name in ("A100 SXM 80GB", "A100 PCIe 80GB") for ratio in _ratios("TPU v5e", name, GPTJ, "Offline")]),
        Condition("the A100 SXM in Server", *_percent(_ratios("TPU v5e", "A100 SXM 80GB", GPTJ, "Server")[:1]))),
    "S4-tpu-hopper": lambda: span(*(100 / ratio for ratio in _ratios(H100, "TPU v5e", GPTJ))),
    "S4-blackwell-3x": lambda: span(*_ratios("B200", H200, LLAMA), *_ratios("GB200", H200, LLAMA)),
    "S4-virtual-offline": lambda: span(*_virtual(LLAMA, "Offline")),
    "S4-virtual-server": lambda: span(*_virtual(LLAMA, "Server")),
    "S4-virtual-sdxl": virtual_images,
    "S4-virtual-overhead": lambda: point(100 - min(share for name in (LLAMA, IMAGES, DENSE) for share in _virtual(name))),
    "S4-virtual-self": lambda: span(*(100 * (1 - _printed(DENSE, H200, s, virtualized=True) / _printed(DENSE, H200, s)) for s in BOTH), internal=True),
    "S4-l40s": lambda: span(*_percent(_ratios("L40S", "H100 PCIe", LLAMA))),
    "S4-sdxl-b200-h100": lambda: span(*_ratios("B200", H100, IMAGES)),
    "S4-gh200-h100": lambda: span(*_percent(_ratios("GH200", H100, IMAGES))),
    "S4-r1-chip": lambda: _table_ratio(R1, "GB200", "B200", "Offline", "72 chips divided by 4"),
    "S4-r1-chip-server": lambda: _table_ratio(R1, "GB200", "B200", "Server", "72 chips divided by 4"),
    "S4-r1-definition": lambda: point(_printed(R1, "GB200", "Offline", "total") / _printed(R1, "GB200", "Offline", "chips"), internal=True),
    "S4-r1-server": lambda: span(*_server_kept()),
    "S4-r1-unit": lambda: _tokens(R1),
    "S4-405b-unit": lambda: _tokens(DENSE),
    "S4-405b-chip": lambda: _table_ratio(DENSE, "GB200", "B200", "Offline", "31 chips on average divided by 4"),
    "S4-405b-h200": lambda: _table_ratio(DENSE, H200, H100, "Offline", "16 chips of H100 on average divided by 8"),
    "S4-405b-b200": lambda: _table_ratio(DENSE, "B200", H100, "Offline", "16 chips of H100 on average divided by 8"),
}  # fmt: skip
