"""The comparisons of MLPerf Inference that a chapter shows, as frames with the words for their
columns.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import pandas as pd

from scaleright.mlperf.comparison import (
    CELL,
    METRICS,
    drift,
    entry,
    gain_ratio,
    generation_gains,
    power_efficiency,
    range_test,
    server_to_offline,
    size_scaling,
    software_gains,
    submissions,
    summary,
)
from scaleright.mlperf.head_to_head import MAIN_KINDS, vendor
from scaleright.mlperf.results import comparable, submission
from scaleright.order import ordered
from scaleright.units import significant

HAND_CHECKED = (
    "5.1-0071/deepseek-r1/Offline",
    "5.1-0069/deepseek-r1/Offline",
    "5.1-0015/llama3.1-405b/Offline",
    "5.1-0075/llama3.1-405b/Offline",
)
PAIRS = (
    ("H100 SXM", "A100 SXM 80GB"),
    ("H200 SXM", "H100 SXM"),
    ("B200", "H200 SXM"),
    ("B300", "B200"),
    ("GB200", "B200"),
    ("GB300", "B300"),
    ("Rubin", "GB300"),
    ("MI325X", "MI300X"),
    ("MI355X", "MI325X"),
    ("MI355X", "B200"),
)
"""Generations of chips, (new, old)."""
RACKS = MappingProxyType({"GB200": "B200", "GB300": "B300"})
"""Chips of a rack of 72, each beside the one of a box of 8."""
RACK_BENCHMARKS = ("deepseek-r1", "llama3.1-405b", "gpt-oss-120b")
RACK_SIZE = 64
"""Systems of so many chips are racks; smaller ones with the same chip are not."""


def _kind(architectures: pd.Series) -> pd.Series:
    return architectures.map(MAIN_KINDS).fillna("other")


def hand_checked() -> pd.DataFrame:
    """Figures to check by hand: id, submitter, chip, value, unit, chips, per chip."""
    columns = ["id", "submitter", "accelerator", "value", "unit", "accelerators", "per_accelerator"]
    rows = pd.DataFrame([submission(name) for name in HAND_CHECKED])[columns]
    named = {"accelerator": "chip", "accelerators": "chips", "per_accelerator": "per chip"}
    return rows.rename(columns=named)


def averages_apart(count: int = 5) -> pd.DataFrame:
    """Where the mean of ratios and the ratio of sums lie furthest apart, of three submissions or
    more: accelerator, question, sizes, best, median, mean of ratios, ratio of sums.
    """
    rows = summary().query("submissions >= 3")
    apart = (rows["ratio_of_sums"] / rows["mean_of_ratios"] - 1).abs()
    rows = rows.assign(apart=apart).pipe(ordered, "apart", ascending=False).head(count)
    sizes = rows["least_chips"].astype(str) + " to " + rows["most_chips"].astype(str)
    question = rows["benchmark"] + " " + rows["scenario"] + " " + rows["round"]
    averages = {"mean of ratios": rows["mean_of_ratios"], "ratio of sums": rows["ratio_of_sums"]}
    first = rows[["accelerator"]].assign(question=question, sizes=sizes)
    return first.assign(best=rows["best"], median=rows["median"], **averages)


def generations(
    metric: str = "chip", contract: str = "on demand", seller: str = "median"
) -> pd.DataFrame:
    """The gains of `PAIRS` on each benchmark and scenario where they meet, in their newest round:
    pair, gain, kind (of model), question.

    contract, seller : of what a dollar rents
    """
    found = generation_gains(metric, pairs=PAIRS, contract=contract, seller=seller)
    sides = (found[f"accelerator_{side}"] for side in ("new", "old"))
    new, old = (of.str.removesuffix(" 80GB").str.removesuffix(" SXM") for of in sides)
    question = found["benchmark"] + ", " + found["scenario"] + ", " + found["round"]
    named = {"pair": new + " / " + old, "gain": found["value"], "question": question}
    return pd.DataFrame(named | {"kind": _kind(found["architecture_new"])})


def generation_spans(contract: str = "on demand", seller: str = "median") -> pd.DataFrame:
    """The gains of `PAIRS` in words, a row for each pair and metric, a column for each kind of
    model: median, lowest, highest, and of how many.

    contract, seller : of what a dollar rents
    """

    def span(gains: pd.Series) -> str:
        ends = gains.median(), gains.min(), gains.max()
        middle, low, high = (significant(of, 2) for of in ends)
        return f"{middle} ({low} to {high}) of {len(gains)}"

    metrics = [name for name in METRICS if name != "measured watt"]
    found = [generations(name, contract, seller).assign(per=METRICS[name]) for name in metrics]
    every = pd.concat(found)
    told = every.groupby(["pair", "per", "kind"], sort=False)["gain"].agg(span).unstack("kind")
    kinds = [kind for kind in (*MAIN_KINDS.values(), "other") if kind in told]
    return told[kinds].reset_index().fillna("–")


def rack_gains() -> pd.DataFrame:
    """A chip in a rack of 72 over its sibling in a box of 8, in every round: rack, benchmark,
    scenario, round, its best, the box's best, times, by means, submissions (rack / box).
    """
    rows = comparable()
    rows = rows[~rows["accelerator"].isin([*RACKS]) | (rows["accelerators"] >= RACK_SIZE)]
    found = generation_gains(pairs=[*RACKS.items()], every_round=True, rows=rows)
    found = found[found["benchmark"].isin(RACK_BENCHMARKS)]
    counts = found[["submissions_new", "submissions_old"]]
    columns = {
        "rack": found["accelerator_new"],
        **{name: found[name] for name in ("benchmark", "scenario", "round")},
        "its best": found["best_new"],
        "the box's best": found["best_old"],
        "times": found["value"],
        "by means": gain_ratio(found["mean_of_ratios_new"], found["mean_of_ratios_old"]),
        "submissions": counts.astype(str).agg(" / ".join, axis=1),
    }
    return pd.DataFrame(columns)


def racks_apart() -> tuple[pd.DataFrame, pd.DataFrame]:
    """`rack_gains` of the rack and the benchmarks that the MLPerf blog post judges, and all others.

    >>> judged, others = racks_apart()
    >>> sorted(set(judged["benchmark"])), "GB300" in set(others["rack"])
    (['deepseek-r1', 'llama3.1-405b'], True)
    """
    rows = rack_gains()
    judged = (rows["rack"] == "GB200") & (rows["benchmark"] != "gpt-oss-120b")
    return rows[judged].drop(columns="rack"), rows[~judged]


@dataclass(frozen=True)
class Spread:
    """Lowest, middle and highest of some figures, and how many they are."""

    low: float
    middle: float
    high: float
    count: int

    @classmethod
    def of(cls, values: pd.Series) -> Self:
        """That of all values."""
        return cls(values.min(), values.median(), values.max(), len(values))


@dataclass(frozen=True)
class RackSummary:
    """What `rack_gains` come to: where there is no hurry, where there is, and there on the dense
    model.

    single : gains in a hurry that set one system against one
    slower : what the one box of the dense model in v6.0 does less than its like the round before
    """

    calm: Spread
    tight: Spread
    dense: Spread
    single: int
    slower: float


def rack_summary() -> RackSummary:
    """Racks of 72 against boxes of 8, in short."""
    rows, dense = rack_gains(), "llama3.1-405b"
    hurry = rows["scenario"] == "Interactive"
    asked = (hurry, ~hurry, hurry & (rows["benchmark"] == dense))
    tight, calm, own = (Spread.of(rows[of]["times"]) for of in asked)
    before = software_gains().query(
        "accelerator == 'B200' and benchmark == @dense and round == 'v6.0'"
    )
    single = int((rows[hurry]["submissions"] == "1 / 1").sum())
    return RackSummary(calm, tight, own, single, 1 - before["best"].min())


def software_by_kind() -> pd.DataFrame:
    """What software brought from round to round: kind of model, pairs of rounds, median, nine in
    ten below, largest.
    """
    rows = software_gains()
    best = rows["best"].groupby(_kind(rows["architecture"]).rename("kind of model"))
    columns = {
        "pairs of rounds": best.size(),
        "median": best.median(),
        "nine in ten below": best.quantile(0.9),
        "largest": best.max(),
    }
    return pd.DataFrame(columns).reset_index()


def software_largest(count: int = 8) -> pd.DataFrame:
    """The largest gains by software, one for each chip and benchmark."""
    columns = ["accelerator", "benchmark", "scenario", "since", "round", "best", "median"]
    rows = software_gains().pipe(ordered, "best", ascending=False)
    rows = rows.drop_duplicates(["accelerator", "benchmark"]).head(count)
    named = {"precision_before": "precision before"}
    return rows[[*columns, *named, "precision"]].rename(columns=named)


def server_kept() -> pd.DataFrame:
    """What chips keep of their Offline rate in Server, of the kinds of models that are told apart
    at their strictest target: benchmark, round, question, chip, vendor, kept, newest (whether the
    round is the benchmark's last).
    """
    rows = server_to_offline()
    rows = rows[rows["architecture"].isin(MAIN_KINDS) & (rows["accuracy_target"] != "99")]
    newest = rows["round"] == rows.groupby("benchmark")["round"].transform("max")
    rows = rows.assign(question=rows["benchmark"] + ", " + rows["round"], newest=newest)
    rows = rows.assign(vendor=rows["accelerator"].map(vendor))
    rows = rows.rename(columns={"accelerator": "chip", "median": "kept"})
    return rows[["benchmark", "round", "question", "chip", "vendor", "kept", "newest"]]


def power_by_chip() -> pd.DataFrame:
    """Measured power by chip and round, medians: accelerator, round, clocks, runs, watts of the
    system per accelerator, of the limit, rate kept.
    """
    rows = power_efficiency().replace(
        {"kind": {"lowered clocks": "lowered", "full clocks": "full"}}
    )
    each = rows.rename(columns={"kind": "clocks"}).groupby(["accelerator", "round", "clocks"])
    columns = {
        "runs": each.size(),
        "system power per accelerator [W]": each["watts_per_accelerator"].median(),
        "of the limit": each["of_limit"].median(),
        "rate kept": each["slower"].median(),
    }
    return pd.DataFrame(columns).reset_index()


def rack_sizes() -> pd.DataFrame:
    """The best by size of system where there are racks: accelerator, benchmark, scenario, round,
    accelerators, per accelerator, kept (of the smallest system's).
    """
    rows = size_scaling()
    largest = rows.groupby(["accelerator", *CELL])["accelerators"].transform("max")
    rows = rows[rows["benchmark"].isin(RACK_BENCHMARKS) & (largest >= RACK_SIZE)]
    columns = ["accelerator", "benchmark", "scenario", "round", "accelerators"]
    rows = rows.rename(columns={"per_accelerator": "per accelerator"})
    return rows[[*columns, "per accelerator", "kept"]]


def teams(benchmark: str, scenario: str, in_round: str) -> pd.DataFrame:
    """Every submission on a question in a round: accelerator, vendor, submitter, per accelerator,
    chips, id.
    """
    rows = submissions()
    asked = (
        (entry(rows) == benchmark) & (rows["scenario"] == scenario) & (rows["round"] == in_round)
    )
    rows = rows[asked]
    rows = rows.assign(vendor=rows["accelerator"].map(vendor), chips=rows["accelerators"])
    columns = ["accelerator", "vendor", "submitter", "per_accelerator", "chips", "id"]
    return rows[columns].astype({"chips": int})


def team_spread() -> pd.DataFrame:
    """How far submissions of one chip on one question lie apart, of three or more: above (best over
    median, less one) and apart (best over slowest).
    """
    rows = summary().query("submissions >= 3")
    above, apart = rows["best"] / rows["median"] - 1, rows["best"] / rows["lowest"]
    return pd.DataFrame({"above": above, "apart": apart})


def range_outcome() -> pd.DataFrame:
    """How often a range held the next ratio, by kind of model, and by what ratios move."""
    kinds = {
        True: ("language models and diffusion", "diffusion"),
        False: ("vision, speech, encoders, recommenders", "vision"),
    }
    tested, found = range_test(), []
    for generative, (name, kind) in kinds.items():
        inside = tested.loc[tested["generative"] == generative, "inside"]
        found.append((name, len(inside), inside.mean(), drift(kind, 0.5), drift(kind, 0.9)))
    moves = ["half move less than [times]", "nine in ten less than [times]"]
    return pd.DataFrame(found, columns=["kind", "ratios", "inside", *moves])
