"""What is known of each chip on a benchmark of MLPerf Inference: its rate, price, power, memory and
maturity, each beside those of one and the same reference chip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared, table
from scaleright.market import matmul_chips, rental_prices, spread
from scaleright.mlperf import ROUNDS, comparable, drift, power_efficiency, results, summary
from scaleright.mlperf.gains import power_runs
from scaleright.mlperf.versus import vendor
from scaleright.names import nearest, one_of
from scaleright.ops import sqrt, where
from scaleright.order import ordered
from scaleright.units import DAYS_PER_YEAR, figure

# How far the world around a chip has come, by criteria that a reader can check: ten of them, a
# point each.
#
# Seven ask whether a program that runs models supports the platform (`hardware_maturity`); three
# are counted from the other tables: who submits the chip to MLPerf, how many clouds list it, how
# long it has been sold.


SUPPORT = {"yes": 1.0, "apart": 0.5, "no": 0.0}
"""Points for a program: the platform is supported in its own releases, in a package or repository
apart, or not at all.
"""
COUNTED = {"MLPerf submitters": (1, 3), "clouds": (3, 10), "years on the market": (1, 2)}
"""Criteria that are counted, and from which count on they give half a point and a whole one."""
RECENT_ROUNDS = ROUNDS[-3:]


@shared
def maturity_criteria() -> pd.DataFrame:
    """Every criterion for every chip that ships on a platform of the table.

    Counted are the submitters in the last three rounds of MLPerf Inference, the clouds whose newest
    card is of the last twelve months, and the years from a chip's release to the newest rental
    card. A chip older than the oldest one that a program supports counts as not supported.

    Columns: accelerator, platform, criterion, value (yes, apart, no, or a count), points (0 to 1),
    source, note.

    >>> rows = maturity_criteria().set_index(["accelerator", "criterion"])
    >>> rows.loc[("H100 SXM", "vLLM"), "value"], rows.loc[("P100 PCIe", "vLLM"), "value"]
    ('yes', 'no')
    """
    support, clouds, today = (
        table("hardware_maturity"),
        spread().groupby("accelerator").size(),
        rental_prices()["date"].max(),
    )
    submitters = comparable(RECENT_ROUNDS).groupby("accelerator")["submitter"].nunique()
    rows: list[tuple[Any, ...]] = []
    for name, chip in accelerators().items():
        own = support[(support["vendor"] == chip.vendor) & (support["kind"] == chip.kind)]
        if own.empty or chip.released is None:
            continue
        platform = own["platform"].iloc[0]
        for row in own.itertuples():
            first = row.first_chip
            old = isinstance(first, str) and chip.released < accelerator(first).require("released")
            value = "no" if old else row.value
            rows.append(
                (name, platform, row.criterion, value, SUPPORT[value], row.source, row.note)
            )
        years = (today - pd.Timestamp(chip.released)).days / DAYS_PER_YEAR
        for (criterion, (half, whole)), count in zip(
            COUNTED.items(),
            (int(submitters.get(name, 0)), int(clouds.get(name, 0)), years),
            strict=True,
        ):
            points, rule = (
                0.5 * (count >= half) + 0.5 * (count >= whole),
                f"half a point from {half}, a whole one from {whole}",
            )
            rows.append((name, platform, criterion, f"{count:.3g}", points, "counted", rule))
    return pd.DataFrame(
        rows, columns=["accelerator", "platform", "criterion", "value", "points", "source", "note"]
    )


def maturity() -> pd.Series:
    """Points of each chip, 0 to 10; chips on a platform that the table lacks are left out.

    >>> maturity()[["H100 SXM", "MI300X", "TPU v6e"]].tolist()
    [9.5, 9.5, 3.5]
    """
    return maturity_criteria().groupby("accelerator")["points"].sum()


def maturity_table(chips: Sequence[str]) -> pd.DataFrame:
    """What each criterion finds of some chips, a column each, and their points in the last row.

    >>> maturity_table(["H100 SXM", "TPU v6e"]).iloc[-1].tolist()
    ['points of 10', '9.5', '3.5']
    """
    rows = maturity_criteria()
    found = rows.pivot(index="criterion", columns="accelerator", values="value")[list(chips)]
    found = found.reindex([*dict.fromkeys(rows["criterion"])])
    found.loc["points of 10"] = [f"{maturity()[chip]:g}" for chip in chips]
    return found.rename_axis(columns=None).reset_index()


def counted_in_words() -> str:
    """From which count on the counted criteria give their points.

    >>> counted_in_words()[:63]
    'MLPerf submitters (half a point from 1, a whole one from 3), cl'
    """
    return ", ".join(
        f"{what} (half a point from {half}, a whole one from {whole})"
        for what, (half, whole) in COUNTED.items()
    )


def support_table() -> pd.DataFrame:
    """Support of each platform by each program, with its source and the date of that.

    >>> "platform" in support_table()
    True
    """
    found = table("hardware_maturity")
    found = found.assign(as_of=found["as_of"].dt.strftime("%Y-%m-%d"))
    return found[["criterion", "platform", "value", "note", "source", "as_of"]]


REFERENCES = ("H100 SXM", "B200")
"""The reference chip of a benchmark: the first of these that was measured on it."""
WORKLOAD = ["benchmark", "scenario"]
LIMIT, SYSTEM = "power limit", "measured system power"
"""What energy rests on: the limit of the chip, or the power of whole systems."""


@shared
def best_rates() -> pd.DataFrame:
    """The best rate per accelerator that each chip reached on each benchmark with a reference chip,
    in any round; derived, not an official MLPerf metric.

    Columns: benchmark, scenario, accelerator, rate, unit, round, id, submitters, reference (the
    workload's reference chip), speed (times that of the reference chip) [1]. Where a benchmark
    changed its unit, only rounds with the newest one count.

    >>> set(REFERENCES) >= set(best_rates()["reference"])
    True
    """
    rows = summary().sort_values("round", kind="stable")
    rows = rows[rows["unit"] == rows.groupby(WORKLOAD)["unit"].transform("last")]
    rows = rows.sort_values(["best", "round"], kind="stable")
    best = rows.drop_duplicates([*WORKLOAD, "accelerator"], keep="last")
    best = best.rename(columns={"best": "rate", "best_id": "id"})
    rates = best.set_index([*WORKLOAD, "accelerator"])["rate"].unstack().reindex(columns=REFERENCES)
    known = rates.dropna(how="all")
    of = pd.DataFrame(
        {"reference": known.notna().idxmax(axis=1), "base": known.bfill(axis=1).iloc[:, 0]}
    )
    best = best.join(of, on=WORKLOAD).dropna(subset="reference")
    columns = [*WORKLOAD, "accelerator", "rate", "unit", "round", "id", "submitters", "reference"]
    return best[columns].assign(speed=(best["rate"] / best["base"]).map(figure))


def workloads() -> pd.DataFrame:
    """Benchmarks and scenarios on which a radar can stand: those with a reference chip and another.
    Columns: benchmark, scenario, chips.

    >>> ("llama2-70b", "Offline") in set(zip(workloads()["benchmark"], workloads()["scenario"]))
    True
    """
    chips = best_rates().groupby(WORKLOAD).size()
    return chips[chips > 1].rename("chips").reset_index()


@shared
def chip_rows() -> dict[str, dict[str, Any]]:
    """What the tables say of every chip, for `choose`; nan where nothing is known.

    Columns: vendor, kind, purchase_usd, watts, memory_bytes, memory_bytes_per_s, reached_flops
    (`reached_flops`, of chips that ship), maturity, and sold, of which days its price is, in words.

    >>> chip_rows()["H100 SXM"]["watts"]
    700.0
    """
    reached, mature, rows = reached_flops(), maturity(), dict[str, dict[str, Any]]()
    for name, chip in accelerators().items():
        rows[name] = {
            "vendor": chip.vendor,
            "kind": chip.kind,
            "purchase_usd": chip.purchase_mid_usd if chip.purchase_usd else np.nan,
            "watts": chip.tdp_watts or np.nan,
            "memory_bytes": chip.memory_bytes or np.nan,
            "memory_bytes_per_s": chip.memory_bytes_per_s or np.nan,
            "reached_flops": reached.get(name, np.nan) if chip.status == "shipping" else np.nan,
            "maturity": mature.get(name, np.nan),
            "sold": chip.purchase_age or "none",
        }
    return rows


def reached_flops() -> dict[str, float]:
    """BF16 arithmetic that matrix products reach, by chip [FLOP/s]: what stands in for speed where
    nobody measured it.

    >>> reached_flops()["B200"] > reached_flops()["H100 SXM"]
    True
    """
    return {
        name: spec["bf16_flops"] * spec["compute_efficiency"]
        for name, spec in matmul_chips().items()
    }


@shared
def measured_efficiency() -> pd.DataFrame:
    """Rate per watt of whole systems, measured, over that of the reference chip in the same round
    and at the same clocks.

    Index: benchmark, scenario, accelerator. Columns: ratio [1], said (clocks and round), of the
    newest round in which both stand.

    >>> bool(measured_efficiency().loc[("resnet50", "Offline", "Cloud AI 100 Ultra"), "ratio"] > 1)
    True
    """
    best = (
        power_runs()
        .groupby([*WORKLOAD, "round", "kind", "accelerator"])["per_accelerator"]
        .max()
        .rename("rate")
        .reset_index()
    )
    best = best.merge(best_rates()[[*WORKLOAD, "reference"]].drop_duplicates())
    over = best[best["accelerator"] == best["reference"]].drop(columns="accelerator")
    both = best[best["accelerator"] != best["reference"]].merge(
        over, on=[*WORKLOAD, "round", "kind", "reference"], suffixes=("", "_of")
    )
    both = both.sort_values("round", kind="stable").drop_duplicates(
        [*WORKLOAD, "accelerator"], keep="last"
    )
    both = both.assign(
        ratio=both["rate"] / both["rate_of"], said=both["kind"] + ", " + both["round"]
    )
    return both.set_index([*WORKLOAD, "accelerator"])[["ratio", "said"]]


def times_better(of: Mapping[str, Any], than: Mapping[str, Any], efficiency: Any) -> dict[str, Any]:
    """How many times better a chip is than another on each axis of the radar but maturity; numbers,
    arrays or quantities, nan where something is not known.

    Parameters
    ----------
    of, than : of either chip its rate on the same work, usd_per_hour, watts, memory_bytes and
        memory_bytes_per_s
    efficiency : rate per watt of whole systems with the one over that with the other [1], nan where
        nobody measured both; the powers at which the chips are limited count there

    >>> old = {"rate": 100.0, "usd_per_hour": 2.0, "watts": 700.0, "memory_bytes": 80e9,
    ...     "memory_bytes_per_s": 3e12}
    >>> new = old | {"rate": 300.0, "usd_per_hour": 3.0, "memory_bytes": 320e9}
    >>> times_better(new, old, float("nan"))
    {'cost': 2.0, 'speed': 3.0, 'energy': 3.0, 'memory': 2.0}
    """
    speed = of["rate"] / than["rate"]
    room, bandwidth = (of[part] / than[part] for part in ("memory_bytes", "memory_bytes_per_s"))
    return {
        "cost": speed * than["usd_per_hour"] / of["usd_per_hour"],
        "speed": speed,
        "energy": where(efficiency > 0, efficiency, speed * than["watts"] / of["watts"]),
        "memory": sqrt(room * bandwidth),
    }


Rows = dict[tuple[str, str, str], dict[str, Any]]
"""For `choose`: rows by benchmark, scenario and chip."""


@shared
def rate_rows() -> Rows:
    """The rate of each chip on each workload where it was measured [unit/s].

    >>> rate_rows()["llama2-70b", "Offline", "H100 SXM"]["rate"] > 1000
    True
    """
    return _rows_of(best_rates()[[*WORKLOAD, "accelerator", "rate"]])


@shared
def power_rows() -> Rows:
    """What measured power says, where there is some: efficiency, the rate per watt of whole systems
    over that of the reference chip [1], and joules, the least that one of them took [J/unit].

    >>> power_rows()["resnet50", "Offline", "Cloud AI 100 Ultra"]["efficiency"] > 1
    True
    """
    best = power_efficiency().groupby([*WORKLOAD, "accelerator"])["per_watt"].max()
    both = pd.DataFrame({"efficiency": measured_efficiency()["ratio"], "joules": 1 / best})
    return _rows_of(both.reset_index())


@shared
def submission_rows() -> Rows:
    """What each rate rests on: the round, its submitters and the submission; and the power of the
    energy axis.

    >>> submission_rows()["llama2-70b", "Offline", "H100 SXM"]["energy from"]
    'power limit'
    """
    rows = best_rates().join(measured_efficiency()["said"], on=[*WORKLOAD, "accelerator"])
    rows = rows.rename(columns={"id": "submission"}).astype({"submitters": int})
    rows["energy from"] = (SYSTEM + ", " + rows["said"]).fillna(LIMIT)
    columns = ["round", "submitters", "submission", "energy from"]
    return _rows_of(rows[[*WORKLOAD, "accelerator", *columns]])


def _rows_of(frame: pd.DataFrame) -> Rows:
    by_chip = frame.set_index([*WORKLOAD, "accelerator"])
    return dict(zip(by_chip.index, by_chip.to_dict("records"), strict=True))


def placeable() -> pd.DataFrame:
    """The chips that some radar may place, measured or by their datasheets.

    Columns: chip, vendor ("other" but for the four that most chips are of).

    >>> placeable().set_index("chip").loc["B200", "vendor"]
    'NVIDIA'
    """
    known = set(best_rates()["accelerator"])
    chips = [name for name, of in chip_rows().items() if name in known or of["reached_flops"] > 0]
    return pd.DataFrame({"chip": chips, "vendor": map(vendor, chips)})


def scenarios() -> dict[str, str]:
    """The scenarios of each benchmark on which a radar can stand, in words.

    >>> scenarios()["deepseek-r1"]
    'Offline or Server'
    """
    return workloads().groupby("benchmark")["scenario"].agg(" or ".join).to_dict()


def drifts() -> dict[str, float]:
    """By what factor one round's software moves the speed of two chips over each other (90 %), on
    each benchmark [1]; see `mlperf.drift`.

    >>> drifts()["llama2-70b"] > 1
    True
    """
    of = results().drop_duplicates("benchmark").set_index("benchmark")["architecture"]
    return {benchmark: drift(kind) for benchmark, kind in of.items()}


@shared
def workload_rows() -> dict[tuple[str, str], dict[str, Any]]:
    """Every workload on which a radar can stand, for `choose`: its reference chip, the unit of its
    rates, what is counted (tokens, samples, queries), and the chips that were measured, the
    fastest first, then empty names.

    >>> row = workload_rows()["llama2-70b", "Offline"]
    >>> row["reference"], row["unit"], "B200" in row["chips"]
    ('H100 SXM', 'tokens/s', True)
    """
    groups = ordered(best_rates(), "rate", ascending=False).groupby(WORKLOAD, sort=False)
    most = groups.size().max()
    return {
        (str(benchmark), str(scenario)): {
            "reference": rows["reference"].iloc[0],
            "unit": rows["unit"].iloc[0],
            "counted": rows["unit"].iloc[0].partition("/")[0],
            "chips": [*rows["accelerator"], *[""] * (most - len(rows))],
        }
        for (benchmark, scenario), rows in groups
    }


def reference(benchmark: str, scenario: str) -> str:
    """The reference chip of a workload.

    Raises
    ------
    LookupError : nobody ran the benchmark so, or no reference chip did; the nearest are offered.

    >>> reference("llama2-70b", "Offline")
    'H100 SXM'
    """
    found = workload_rows().get((benchmark, scenario))
    if found is None:
        ran = summary()
        ran = sorted(set(ran.loc[ran["benchmark"] == benchmark, "scenario"]))
        one_of(scenario, ran, f"scenario of {benchmark} with a rate per accelerator")
        places = [*(workloads()["benchmark"] + " " + workloads()["scenario"])]
        nearest(f"{benchmark} {scenario}", places, "workload with a reference chip")
    return found["reference"]
