"""What the radar rests on: bills of chips, what is public beyond the usual GPU, and how far a
datasheet is from a measurement.
"""

from collections.abc import Mapping
from fnmatch import fnmatch
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator, accelerators, fact, shared, table
from scaleright.chapters.hardware_radar.model import (
    SPAN,
    WORKLOAD,
    Prices,
    best_rates,
    chip_rows,
    measured_efficiency,
    placed,
    points,
    rate_rows,
    reached_flops,
    submission_rows,
    times_better,
    workload,
)
from scaleright.costs.price_performance import GIGA, joules_per_tflop
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.scale_up import times_off
from scaleright.market import recent_hour, rental_prices
from scaleright.mlperf import ROUNDS, results
from scaleright.quantity import evaluate, given
from scaleright.units import HOURS_PER_YEAR, MONTHS_PER_YEAR, si


@shared
def alternatives() -> pd.DataFrame:
    """What else could do the work, with what is public about it, counted from the tables of
    measurements and prices.

    Columns: those of `hardware_alternatives`, and inference (results of its chips in MLPerf
    Inference), rounds (those with one), training (results in MLPerf Training), serving (rows of
    measured serving), prices (rental listings of its chips, or by it).

    >>> rows = alternatives().set_index("product")
    >>> int(rows.loc["Sohu", "inference"]), bool(rows.loc["Instinct MI300X to MI355X",
    ...     "inference"] > 100)
    (0, True)
    """
    known, cards, tested = accelerators(), rental_prices(), results()
    served = table("measured/serving").query("not source.str.startswith('mlcommons')")
    trained = table("mlperf_training")

    def counts(row: pd.Series) -> pd.Series:
        patterns = [] if pd.isna(row["chips"]) else row["chips"].split(";")
        chips = {name for name in known if any(fnmatch(name, pattern) for pattern in patterns)}
        rows = tested[tested["accelerator"].isin(chips)]
        listed = cards["accelerator"].isin(chips) | (cards["provider"] == row["product"])
        rounds = [name for name in ROUNDS if name in set(rows["round"])]
        span = rounds[0] if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}" if rounds else ""
        found = {"inference": len(rows), "rounds": span}
        for key, runs in (("training", trained), ("serving", served)):
            found[key] = int(runs["accelerator"].isin(chips).sum())
        return pd.Series(found | {"prices": int(listed.sum())})

    rows = table("hardware_alternatives")
    return rows.join(rows.apply(counts, axis=1))


@shared
def datasheet_test() -> pd.DataFrame:
    """Speed by datasheet arithmetic and energy by power limits beside what was measured, over the
    reference chip of each workload.

    Columns: what ("speed" or "energy"), benchmark, scenario, accelerator, predicted, measured
    (ratios over the reference chip) and off (see `scale_up.times_off`) [1].

    >>> set(datasheet_test()["what"]) == {"speed", "energy"}
    True
    """
    rates, reached = best_rates(), pd.Series(reached_flops())
    others = rates[rates["accelerator"] != rates["reference"]].set_index([*WORKLOAD, "accelerator"])
    names = others.index.get_level_values("accelerator")
    watts = pd.Series({name: of["watts"] for name, of in chip_rows().items()})
    pairs = {
        "speed": (names.map(reached) / others["reference"].map(reached), others["speed"]),
        "energy": (
            others["speed"] * others["reference"].map(watts) / names.map(watts),
            measured_efficiency()["ratio"].reindex(others.index),
        ),
    }
    found = [
        pd.DataFrame({"predicted": predicted, "measured": measured}).assign(what=what)
        for what, (predicted, measured) in pairs.items()
    ]
    rows = pd.concat(found).dropna().reset_index()
    return rows.assign(off=times_off(rows["predicted"], rows["measured"]))


def prices_of_use(
    chip: Mapping[str, Any],
    rent: Any,
    owned: Any,
    rate: Any,
    system_joules: Any,
    utilization: Any,
) -> dict[str, Any]:
    """What a chip costs to use, rented and owned, by the million, the joule, the month and the
    gigabyte; quantities, nan where nothing is known.

    Parameters
    ----------
    chip : a row of `model.chip_rows`
    rent, owned : an hour of it, used or not [USD/h]
    rate : of the chip at full load [unit/s]
    system_joules : the least that a whole system was measured to take [J/unit]
    utilization : share of the time at full load [1]; a rented chip is paid all the time

    >>> from scaleright.chapters.hardware_radar.model import chip_rows
    >>> bill = prices_of_use(chip_rows()["H100 SXM"], 2.0, 1.5, 1000.0, float("nan"), 0.5)
    >>> bill["owned [USD per million]"] < bill["rented [USD per million]"]
    True
    """
    months, gigabytes = HOURS_PER_YEAR / MONTHS_PER_YEAR, chip["memory_bytes"] / GIGA
    return {
        "rented [USD per million]": usd_per_million_tokens(rent, rate, utilization),
        "owned [USD per million]": usd_per_million_tokens(owned, rate, utilization),
        "energy at the chip's limit [J each]": chip["watts"] / rate,
        "energy of a system, measured [J each]": system_joules,
        "rent [USD/month]": rent * months,
        "owning [USD/month]": owned * months,
        "memory, bought [USD/GB]": chip["purchase_usd"] / gigabytes,
        "memory, rented [USD/GB/month]": rent * months / gigabytes,
    }


_FACTORS = ["median factor", "nine of ten within", "worst"]
_STOOD_IN = {
    "energy": "power limits for measured system power",
    "speed": "datasheet arithmetic for measured speed",
}


def stand_in_errors() -> pd.DataFrame:
    """By how much what stands in is off where both are known, by what it stands in for.

    Columns: what stands in, pairs, and factors off at the median, at nine of ten, and at most [1].

    >>> stand_in_errors().columns[0]
    'what stands in'
    """
    of = datasheet_test().groupby("what")["off"]
    found = pd.concat([of.size(), of.quantile(0.5), of.quantile(0.9), of.max()], axis=1)
    found = found.set_axis(["pairs", *_FACTORS], axis=1).rename(index=_STOOD_IN)
    return found.rename_axis("what stands in").reset_index()


def power_tested() -> list[str]:
    """The chips on which power limits could be tested as stand-ins.

    >>> "L40S" in power_tested()
    True
    """
    rows = datasheet_test()
    return sorted(set(rows.loc[rows["what"] == "energy", "accelerator"]))


def alternatives_counted() -> pd.DataFrame:
    """`alternatives` with how many public figures there are of each, under the heads of a table.

    >>> bool((alternatives_counted()["price listings"] >= 0).all())
    True
    """
    heads = {
        "evidence": "best public evidence",
        "inference": "MLPerf Inference",
        "training": "MLPerf Training",
        "serving": "serving runs",
        "prices": "price listings",
    }
    found = alternatives().replace({"evidence": {"none": "no public measurement"}})
    return found[["product", "technology", "status", *heads]].rename(columns=heads)


def alternatives_in_words() -> pd.DataFrame:
    """`alternatives` with what was measured of each, where, and what to know about it.

    >>> "measurement" in alternatives_in_words()
    True
    """
    found = alternatives()
    values = [
        si(of.value, "op/s") if of.unit == "op/s" else f"{of.value:,.4g} {of.unit}"
        for of in found.itertuples()
    ]
    said = [
        f"{what}: {value}" if isinstance(what, str) else ""
        for what, value in zip(found["measurement"], values, strict=True)
    ]
    found = found.assign(measurement=said, note=found["note"].fillna(""))
    found = found.assign(rounds=found["rounds"].where(found["rounds"] != "", "none"))
    heads = {"rounds": "rounds of MLPerf Inference"}
    columns = ["product", "vendor", "rounds", "measurement", "note", "source"]
    return found[columns].rename(columns=heads)


_IMAGES = "stable-diffusion-xl", "Offline"
_SAID = pd.DataFrame(
    {
        "cost": ("medium", "high"),
        "speed": ("high", "–"),
        "energy": ("medium", "high"),
        "memory": ("–", "–"),
        "maturity": ("high", "lower"),
    },
    index=["Clarifai on GPUs", "Clarifai on TPUs"],
)
"""Where Clarifai's radar puts GPUs and TPUs on each axis."""
TPUS = ["TPU v5e", "TPU v6e"]


def source_words(span: float = SPAN) -> pd.DataFrame:
    """What Clarifai's radar says of GPUs and of TPUs on each axis, beside the points of those that
    were measured on images: of the GPU in the middle, and of each TPU.

    >>> source_words().set_index("axis").loc["maturity", "Clarifai on TPUs"]
    'lower'
    """
    chip, names = given("chip", ""), [of for *work, of in rate_rows() if work == [*_IMAGES]]
    usual = {"paid": "rent", "contract": "on demand", "seller": "median", "setting": "data center"}
    case = SimpleNamespace(**usual, stand_ins=False)
    on = placed(chip, workload(*_IMAGES), Prices.of(names), case)
    better = times_better(on.of, on.than, on.power.efficiency)
    axes = {axis: points(times, span) for axis, times in better.items()}
    axes |= {"maturity": on.of["maturity"]}
    found = evaluate(axes.values(), {"chip": names})
    each = pd.DataFrame(dict(zip(axes, found, strict=True)), index=names)
    gpus = [name for name in names if chip_rows()[name]["kind"] == "GPU"]
    middle = each.loc[gpus].median().rename("median GPU")
    found = pd.concat([_SAID.T, middle, each.loc[TPUS].T], axis=1).rename_axis("axis").reset_index()
    return found[["axis", _SAID.index[0], middle.name, _SAID.index[1], *TPUS]]


def tpus_ahead(words: pd.DataFrame) -> str:
    """Where TPUs come out better than the GPU in the middle on cost or energy, and what that rests
    on.

    Parameters
    ----------
    words : from `source_words`

    >>> tpus_ahead(source_words()).split()[0]
    'On'
    """
    by_axis, listed = words.set_index("axis"), recent_hour(TPUS[-1])
    rounds = {submission_rows()[(*_IMAGES, of)]["round"] for of in TPUS}
    better = [
        f"{chip} on {axis}"
        for chip in TPUS
        for axis in ("cost", "energy")
        if by_axis.loc[axis, chip] > by_axis.loc[axis, "median GPU"]
    ]
    none = (
        "On neither cost nor energy does a TPU come out better"
        if listed
        else "On energy no TPU comes out better"
    )
    rents = (
        f", with TPU rents of {listed.until}"
        if listed
        else "; no TPU has a recent rent, so cost is not compared"
    )
    return (
        f"Better than the median GPU: {', '.join(better)}."
        if better
        else f"{none} than the median GPU."
    ) + (
        f" That is one benchmark, from round {' and '.join(sorted(rounds))}{rents}. No later TPU"
        " was submitted, and the power of a v6e is not known here."
    )


def joules_by_light() -> tuple[float, float]:
    """What a trillion operations take on the photonic processor of which figures exist, and on an
    H100 at the speed that matrix products reach [J].

    >>> [round(joules, 2) for joules in joules_by_light()]
    [1.22, 0.88]
    """
    rows, gpu = alternatives(), accelerator("H100 SXM")
    light = joules_per_tflop(
        fact("photonic_processor_watts"),
        rows.set_index("product").loc["photonic processor", "value"],
    )
    reached = reached_flops()["H100 SXM"] / gpu.peak_flops()
    joules = joules_per_tflop(gpu.require("tdp_watts"), gpu.peak_flops(), reached)
    return float(light), joules
