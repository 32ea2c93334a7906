"""What is known of each chip on a benchmark of MLPerf Inference: its rate, price, power, memory and
maturity, each beside those of one and the same reference chip.
"""

from typing import NoReturn

import numpy as np
import pandas as pd

from scaleright.catalog import Accelerator, accelerator, accelerators, remembered, shared
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_maturity import maturity
from scaleright.market import matmul_chips, recent_rental_price
from scaleright.mlperf import summary
from scaleright.mlperf.gains import power_runs
from scaleright.names import nearest, one_of
from scaleright.units import HOURS_PER_DAY, figure

REFERENCES = ("H100 SXM", "B200")
"""The reference chip of a benchmark: the first of these that was measured on it."""
WORKLOAD = ["benchmark", "scenario"]
MEASURED, STAND_IN, SYSTEM, LIMIT = "measured", "datasheet", "measured system power", "power limit"
"""What a figure rests on: MLPerf or a datasheet; the power of the whole system, measured, or the
limit of the chip.
"""


@shared
def best_rates() -> pd.DataFrame:
    """The best rate per accelerator that each chip reached on each benchmark, in any round;
    derived, not an official MLPerf metric.

    Columns: benchmark, scenario, accelerator, rate, unit, round, id, submitters, reference (the
    workload's reference chip, empty if none was measured). Where a benchmark changed its unit, only
    rounds with the newest one count.

    >>> set(REFERENCES) >= set(best_rates()["reference"]) - {""}
    True
    """
    rows = summary().sort_values("round", kind="stable")
    rows = rows[rows["unit"] == rows.groupby(WORKLOAD)["unit"].transform("last")].sort_values(
        ["best", "round"], kind="stable"
    )
    best = rows.drop_duplicates([*WORKLOAD, "accelerator"], keep="last").rename(
        columns={"best": "rate", "best_id": "id"}
    )
    reference = best.groupby(WORKLOAD)["accelerator"].agg(
        lambda chips: next((name for name in REFERENCES if name in set(chips)), "")
    )
    best = best.join(reference.rename("reference"), on=WORKLOAD)
    return best[
        [*WORKLOAD, "accelerator", "rate", "unit", "round", "id", "submitters", "reference"]
    ]


def workloads() -> pd.DataFrame:
    """Benchmarks and scenarios on which a radar can stand: those with a reference chip and another.
    Columns: benchmark, scenario, chips.

    >>> ("llama2-70b", "Offline") in set(zip(workloads()["benchmark"], workloads()["scenario"]))
    True
    """
    rates = best_rates()
    chips = rates[rates["reference"] != ""].groupby(WORKLOAD).size()
    return chips[chips > 1].rename("chips").reset_index()


def chip_hour_usd(chip: Accelerator, own: bool = False, utilization: float = 1.0) -> float:
    """Price of a chip for every hour of a service: the median rent, or owning at that utilization
    [USD/h]; nan where there is none.

    >>> chip_hour_usd(accelerator("MI355X"), own=True) > 0
    True
    """
    if not own:
        return listed.median if (listed := recent_rental_price(chip.name)) else np.nan
    if not (chip.purchase_usd and chip.tdp_watts):
        return np.nan
    terms = Ownership.typical(chip.name, "home" if chip.segment == "consumer" else "data center")
    return terms.break_even_usd_per_hour(HOURS_PER_DAY * utilization) * utilization


@shared
def chip_facts(own: bool = False, utilization: float = 1.0) -> pd.DataFrame:
    """Of every chip: vendor, kind, usd_per_hour (`chip_hour_usd`), watts, memory_bytes,
    memory_bytes_per_s, maturity; nan where not known.

    >>> float(chip_facts().loc["H100 SXM", "watts"])
    700.0
    """
    figures_of = ["usd_per_hour", "watts", "memory_bytes", "memory_bytes_per_s"]
    rows = {
        name: (
            chip.vendor,
            chip.kind,
            chip_hour_usd(chip, own, utilization),
            chip.tdp_watts,
            chip.memory_bytes,
            chip.memory_bytes_per_s,
        )
        for name, chip in accelerators().items()
    }
    facts = pd.DataFrame.from_dict(rows, orient="index", columns=["vendor", "kind", *figures_of])
    return facts.astype(dict.fromkeys(figures_of, float)).assign(
        maturity=maturity().reindex(facts.index)
    )


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


@shared
def every_figure(own: bool = False, stand_ins: bool = False) -> pd.DataFrame:
    """The figures of every workload with a reference chip, see `figures`; benchmark, scenario,
    accelerator and reference lead.
    """
    rates = best_rates().assign(basis=MEASURED)
    rates = rates[rates["reference"] != ""]
    if stand_ins:
        reached = reached_flops()
        chips = pd.DataFrame(
            {"accelerator": [name for name in reached if accelerator(name).status == "shipping"]}
        )
        more = rates[rates["accelerator"] == rates["reference"]][
            [*WORKLOAD, "reference", "rate"]
        ].merge(chips, how="cross")
        more["rate"] = (
            more["rate"] * more["accelerator"].map(reached) / more["reference"].map(reached)
        )
        rates = pd.concat([rates, more.assign(basis=STAND_IN)]).drop_duplicates(
            [*WORKLOAD, "accelerator"]
        )
    known = rates.join(chip_facts(own), on="accelerator").reset_index(drop=True)
    known["usd_per_million"] = usd_per_million_tokens(
        known["usd_per_hour"].fillna(1.0).to_numpy(), known["rate"].to_numpy(), 1.0
    )
    known["usd_per_million"] = known["usd_per_million"].where(known["usd_per_hour"].notna())
    known["joules"] = known["watts"] / known["rate"]
    over = known[WORKLOAD].join(
        known[known["accelerator"] == known["reference"]].set_index(WORKLOAD), on=WORKLOAD
    )
    known["cost"], known["speed"] = (
        over["usd_per_million"] / known["usd_per_million"],
        known["rate"] / over["rate"],
    )
    known["memory"] = np.sqrt(
        known["memory_bytes"]
        / over["memory_bytes"]
        * known["memory_bytes_per_s"]
        / over["memory_bytes_per_s"]
    )
    known = known.join(measured_efficiency(), on=[*WORKLOAD, "accelerator"])
    known["energy"] = known["ratio"].fillna(over["joules"] / known["joules"])
    known["power"] = (SYSTEM + ", " + known["said"]).fillna(LIMIT)
    ratios = known[["cost", "speed", "energy", "memory"]].map(figure)
    known = known.assign(**ratios)
    return known.drop(columns=["ratio", "said"])


def figures(
    benchmark: str, scenario: str, own: bool = False, stand_ins: bool = False
) -> pd.DataFrame:
    """What is known of each chip on a benchmark, and how many times better than the reference chip
    it is on each axis.

    Parameters
    ----------
    benchmark, scenario : of MLPerf Inference, see `workloads`
    own : whether the chips are bought; rented otherwise
    stand_ins : whether shipping chips that nobody submitted are placed by their datasheets: their
        speed is then the BF16 arithmetic that matrix products reach over that of the reference
        chip, and cost and energy follow from it

    Columns: vendor, kind, rate, unit, round, id, submitters, basis (of the speed), usd_per_hour,
    usd_per_million (of units, at full load), joules (of a unit, at the chip's power limit), power
    (what the energy axis rests on), memory_bytes, memory_bytes_per_s; then the axes of the radar:
    ratios over the reference chip, for maturity its points. nan where nothing is known.
    `attrs["reference"]` names the reference chip.

    Raises
    ------
    LookupError : no such benchmark or scenario with a rate, or none with a reference chip; the
        nearest are offered.

    >>> known = figures("llama2-70b", "Offline")
    >>> known.attrs["reference"], float(known.loc["H100 SXM", "speed"])
    ('H100 SXM', 1.0)
    """
    found = _by_workload(own, stand_ins).get((benchmark, scenario))
    if found is None:
        _refuse(benchmark, scenario)
    return found.copy()


@remembered
def _by_workload(own: bool, stand_ins: bool) -> dict[tuple[str, str], pd.DataFrame]:
    """`figures` by benchmark and scenario."""
    found = {}
    for place, known in every_figure(own, stand_ins).groupby(WORKLOAD, sort=False):
        reference = known["reference"].iloc[0]
        found[place] = known.set_index("accelerator").drop(columns=[*WORKLOAD, "reference"])
        found[place].attrs["reference"] = reference
    return found


def _refuse(benchmark: str, scenario: str) -> NoReturn:
    """Refuse a workload on which nothing can be compared; says what is nearest."""
    rates = best_rates()
    for column, wanted, what in (
        ("benchmark", benchmark, "benchmark"),
        ("scenario", scenario, f"scenario of {benchmark}"),
    ):
        one_of(wanted, sorted(set(rates[column])), f"{what} with a rate per accelerator")
        rates = rates[rates[column] == wanted]
    places = list(workloads()["benchmark"] + " " + workloads()["scenario"])
    nearest(f"{benchmark} {scenario}", places, "workload with a reference chip")
