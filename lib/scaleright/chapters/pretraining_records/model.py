"""The comparisons of MLPerf Training that a chapter shows, as rows to look up and as frames with
the words for their columns.

Times are those of the rules; all else is derived, not an official MLPerf metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright import catalog, market
from scaleright.mlperf.training import (
    ALL_ROUNDS,
    RENT,
    benchmark_results,
    implied_mfu,
    pretraining_share,
    record,
    records,
    run_chip_hours,
    strong_scaling,
    training_gains,
    training_results,
)
from scaleright.order import ordered
from scaleright.quantity import Quantity, given, pick
from scaleright.units import whole

UNITS = MappingProxyType(
    {"time": "minutes", "chip-hours": "chip-hours", "rent": "USD", "energy": "kWh"}
)
"""What a chart of `best_by_size` says of each measure."""
PRETRAINED = MappingProxyType(
    {
        "Llama-3.1-405B": "llama31_405b_training_tokens",
        "Llama-3.1-8B": "llama31_8b_training_tokens",
    }
)
"""Benchmarks of models whose pretraining is published, and the fact that has its tokens."""
FAR_APART = 4
"""Sizes of systems so many times apart tell what scaling costs."""


def usual_overheads() -> dict[str, float]:
    """What a data center adds to its machines as a rule: pue [1]."""
    return {"pue": market.cost_factor("pue", "data center").best}


def best_by_size(digits: int = 4) -> pd.DataFrame:
    """The fastest run of each chip at each size, in each round and in all: benchmark, in_round,
    chip, vendor, who, priced_as (whose rent is its), chips, minutes, hours (chip-hours) and kwh (of
    the chips at their limits), with so many significant digits.
    """
    runs = training_results()
    each = pd.concat(
        [runs.assign(run=runs["round"]), runs.assign(round=ALL_ROUNDS, run=runs["round"])]
    )
    each = each.sort_values("time_to_train_s", kind="stable")
    each = each.drop_duplicates(["title", "round", "accelerator", "accelerators"])
    columns = {
        "benchmark": each["title"],
        "in_round": each["round"],
        "chip": each["accelerator"],
        "vendor": each["vendor"],
        "who": each["submitter"] + ", " + each["run"],
        "priced_as": each["priced_as"].fillna(""),
        "chips": each["accelerators"],
    }
    figures = {
        "minutes": each["time_to_train_s"] / 60,
        "hours": each["chip_hours"],
        "kwh": each["chips_kwh"],
    }
    short = {
        name: of.map(lambda value: float(f"{value:.{digits}g}")) for name, of in figures.items()
    }
    return pd.DataFrame(columns | short).pipe(ordered, ["benchmark", "in_round", "chip", "chips"])


def result_of_rows(case: Any, measure: Any) -> tuple[Any, list[Quantity]]:
    """The result of a row of `best_by_size` in a measure [minutes, h, USD or kWh]; and the
    quantities that stand for the row's columns.

    case : contract, seller and rent_share
    measure : of `MEASURES`

    >>> from types import SimpleNamespace as N
    >>> case = N(contract="on demand", seller="median", rent_share=1.0)
    >>> result, columns = result_of_rows(case, "rent")
    >>> result.value > 0, len(columns)
    (True, 4)
    """
    columns = [given(name, 1.0) for name in ("minutes", "hours", "kwh")]
    minutes, hours, kwh = columns
    chip = given("priced_as", "H100 SXM")
    hour = records().hours.paid(chip, case.contract, case.seller)
    measures = {"time": minutes, "chip-hours": hours, "energy": kwh}
    measures[RENT] = hours * hour.usd * case.rent_share
    return pick(measures, measure), [*columns, chip]


def scaling_lines() -> pd.DataFrame:
    """The strong-scaling efficiency of each chip on each benchmark, by the submitter and round with
    the widest span of sizes, from its smallest system: benchmark, chip, chips, efficiency.
    """
    pairs, key = strong_scaling(), ["title", "accelerator", "round", "submitter"]
    spans = (pairs["chips_large"] / pairs["chips"]).groupby([pairs[of] for of in key]).max()
    widest = spans.rename("span").reset_index().sort_values("span", kind="stable")
    widest = widest.drop_duplicates(["title", "accelerator"], keep="last")
    large = pairs.merge(widest.drop(columns="span"))
    small = large.drop_duplicates(["title", "accelerator"])
    ends = [small.assign(chips_large=small["chips"], efficiency=1.0), large]
    rows = pd.concat(ends)[["title", "accelerator", "chips_large", "efficiency"]]
    rows = rows.set_axis(["benchmark", "chip", "chips", "efficiency"], axis=1)
    return rows.round({"efficiency": 3}).pipe(ordered, ["benchmark", "chip", "chips"])


def scaling_pairs() -> pd.DataFrame:
    """`strong_scaling` with the words for its columns."""
    named = {
        "title": "benchmark",
        "accelerator": "chip",
        "chips_large": "to chips",
        "minutes": "minutes before",
        "minutes_large": "after",
        "batch": "batch before",
        "batch_large": "batch after",
        "throughput_efficiency": "throughput",
        "samples_penalty": "samples",
    }
    return strong_scaling().rename(columns=named)


@dataclass(frozen=True)
class Scaling:
    """Medians over pairs of sizes `FAR_APART` or more whose samples are logged, and their count."""

    efficiency: float
    throughput: float
    samples: float
    pairs: int


def scaling_medians() -> Scaling:
    """What strong scaling keeps in the middle."""
    pairs = strong_scaling().dropna(subset="samples_penalty")
    far = pairs[pairs["chips_large"] >= FAR_APART * pairs["chips"]]
    return Scaling(
        far["efficiency"].median(),
        far["throughput_efficiency"].median(),
        far["samples_penalty"].median(),
        len(far),
    )


def gain_steps(kind: str, least: int = 3) -> pd.DataFrame:
    """Gains at equal numbers of chips by pair of chips ("chip") or of rounds ("software") with so
    many comparisons: step, comparisons, lowest, median, highest.
    """
    gains = training_gains(kind).replace(" SXM$", "", regex=True)  # or names are too long
    step = gains["before"] + " to " + gains["after"]
    step = step if kind == "chip" else gains["accelerator"] + ", " + step
    each = gains["gain"].groupby(step.rename("step"))
    columns = {"comparisons": each.size(), "lowest": each.min()}
    rows = pd.DataFrame(columns | {"median": each.median(), "highest": each.max()}).reset_index()
    return rows[rows["comparisons"] >= least].pipe(ordered, "median", ascending=False)


def all_gain_steps() -> pd.DataFrame:
    """`gain_steps` of both kinds, which is told by the column `what`."""
    both = [gain_steps(kind).assign(what=kind) for kind in ("chip", "software")]
    return pd.concat(both)[["step", "what", "comparisons", "lowest", "median", "highest"]]


@dataclass(frozen=True)
class Software:
    """What newer software gains on the same number of the same chip from round to round.

    middle, lost, count : the gain less one in the median, the share of comparisons in which time
        was lost, and how many there are
    last : the last of a benchmark, with the columns of `training_gains`
    """

    middle: float
    lost: float
    count: int
    last: pd.Series


def software(benchmark: str) -> Software:
    """What newer software gains, and the last gain of a benchmark."""
    gains = training_gains("software")
    middle, lost = gains["gain"].median() - 1, (gains["gain"] < 1).mean()
    return Software(middle, lost, len(gains), training_gains("software", benchmark).iloc[-1])


@catalog.shared
def utilization() -> pd.DataFrame:
    """Every result with what it implies of the utilization of its chips, see `implied_mfu`."""
    runs = training_results()
    implied = [vars(implied_mfu(row)) for _, row in runs.iterrows()]
    return runs.drop(columns="precision").join(pd.DataFrame(implied, index=runs.index))


def busiest() -> pd.DataFrame:
    """The run with the highest MFU of each benchmark, chip and format: trained, chips, by samples
    and as logged (model FLOP/s of a chip), format, MFU, of BF16 peak.
    """
    rows = utilization()
    rows = rows[rows["mfu"].notna()].pipe(ordered, "mfu", ascending=False)
    rows = rows.drop_duplicates(["title", "accelerator", "precision"])
    rows = rows.sort_values("title", kind="stable")
    chips = rows["accelerators"].map(whole) + " " + rows["accelerator"] + ", " + rows["round"]
    columns = {
        "trained": rows["title"],
        "chips": chips,
        "by samples": rows["from_samples_flops"],
        "as logged": rows["from_log_flops"],
        "format": rows["precision"],
        "MFU": rows["mfu"],
        "of BF16 peak": rows["bf16_ratio"],
    }
    return pd.DataFrame(columns)


def silent_reasons() -> pd.Series:
    """Why rows do not determine the utilization of their chips, and how many, most first."""
    rows = utilization()
    silent = rows[rows["mfu"].isna()].groupby("reason").size()
    return silent.pipe(ordered, ascending=False)


def slivers() -> pd.DataFrame:
    """The fastest run of each model that was pretrained, against its whole pretraining: model,
    tokens of the run, tokens of the pretraining, one in, chip-hours at that pace, chip.
    """
    found = []
    for title, fact in PRETRAINED.items():
        run, tokens = record(title), catalog.fact(fact)
        samples, sequence = run["samples_to_converge"], float(run["sequence"])
        share = pretraining_share(samples, sequence, tokens)
        hours = run_chip_hours(run["unscaled_time_s"], run["accelerators"])
        row = {"model": title, "tokens of the run": samples * sequence}
        row |= {"tokens of the pretraining": tokens, "one in": 1 / share}
        found.append(row | {"chip-hours at that pace": hours / share, "chip": run["accelerator"]})
    return pd.DataFrame(found)


def published_minutes() -> pd.DataFrame:
    """Minutes to train as vendors published them and as recomputed from the logs: benchmark, chips,
    chip, published, recomputed.
    """
    facts = catalog.table("reference_facts").set_index("fact")["value"]
    facts = facts[facts.index.str.fullmatch(r"mlperf_v\d\.\d_.*_minutes")]
    found = []
    for name, minutes in facts.items():
        _, in_round, *words, chips, _ = name.split("_")
        rows = benchmark_results("_".join(words), in_round)
        row = rows[rows["accelerators"] == int(chips)].iloc[0]
        seconds, chip = row["time_to_train_s"], row["accelerator"]
        found.append((row["title"], int(chips), chip, minutes, seconds / 60))
    return pd.DataFrame(found, columns=["benchmark", "chips", "chip", "published", "recomputed"])


@dataclass(frozen=True)
class Checks:
    """How the rows were cleaned and what they say beside vendors' words.

    rows, repeated, few, core, unit : how many there are; are runs handed in again, have fewer runs
        than the rules ask for, name TensorCores and hold chips, logged tokens instead of samples
    over : logged throughput over the one that the time implies, less one, in the median
    stated, found : FLOP/s of a GB200 on Llama-3.1-405B in v5.0, by NVIDIA and by the logs at most
    """

    rows: int
    repeated: int
    few: int
    core: int
    unit: int
    over: float
    stated: float
    found: float


def checks() -> Checks:
    """The checks of the results."""
    rows = utilization()
    flags = rows["flags"].str.split(";").explode().value_counts()
    busy = rows[rows["mfu"].notna()]
    asked = (busy["title"] == "Llama-3.1-405B") & (busy["round"] == "v5.0")
    return Checks(
        rows=len(rows),
        repeated=int(flags["repeated"]),
        few=int(flags["fewer_runs"]),
        core=int(flags["core_count"]),
        unit=int(flags["corrected_unit"]),
        over=(busy["from_log_flops"] / busy["from_samples_flops"]).median() - 1,
        stated=catalog.fact("mlperf_v5.0_llama31_405b_flops"),
        found=busy[asked & (busy["accelerator"] == "GB200")]["from_log_flops"].max(),
    )
