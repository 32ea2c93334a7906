"""What the radar rests on: bills of chips, what is public beyond the usual GPU, and how far a
datasheet is from a measurement.
"""

from fnmatch import fnmatch

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared, table
from scaleright.costs.price_performance import GIGA
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_figures import (
    WORKLOAD,
    chip_facts,
    every_figure,
    figures,
    measured_efficiency,
    reached_flops,
)
from scaleright.decisions.scale_up import times_off
from scaleright.market import rental_prices
from scaleright.mlperf import ROUNDS, power_efficiency, results
from scaleright.units import HOURS_PER_YEAR, MONTHS_PER_YEAR


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
    known, cards, served, tested, trained = (
        accelerators(),
        rental_prices(),
        table("measured/serving").query("not source.str.startswith('mlcommons')"),
        results(),
        table("mlperf_training"),
    )

    def counts(row: pd.Series) -> pd.Series:
        patterns = [] if pd.isna(row["chips"]) else row["chips"].split(";")
        chips = {name for name in known if any(fnmatch(name, pattern) for pattern in patterns)}
        rows, listed = (
            tested[tested["accelerator"].isin(chips)],
            cards["accelerator"].isin(chips) | (cards["provider"] == row["product"]),
        )
        rounds = [name for name in ROUNDS if name in set(rows["round"])]
        span = rounds[0] if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}" if rounds else ""
        found = {
            key: int(rows["accelerator"].isin(chips).sum())
            for key, rows in (("training", trained), ("serving", served))
        }
        return pd.Series(
            {"inference": len(rows), "rounds": span} | found | {"prices": int(listed.sum())}
        )

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
    known, reached = every_figure(), reached_flops()
    others = known[known["accelerator"] != known["reference"]].set_index([*WORKLOAD, "accelerator"])
    reference = (
        known[known["accelerator"] == known["reference"]]
        .set_index(WORKLOAD)["joules"]
        .reindex(others.index.droplevel("accelerator"))
    )
    names, ratio = (
        others.index.get_level_values("accelerator"),
        measured_efficiency()["ratio"].reindex(others.index),
    )
    pairs = {
        "speed": (names.map(reached) / others["reference"].map(reached), others["speed"]),
        "energy": (reference.to_numpy() / others["joules"], ratio),
    }
    found = [
        pd.DataFrame({"predicted": predicted, "measured": measured}).assign(what=what)
        for what, (predicted, measured) in pairs.items()
    ]
    rows = pd.concat(found).dropna().reset_index()
    return rows.assign(off=times_off(rows["predicted"], rows["measured"]))


def ownership_table(benchmark: str, scenario: str, utilization: float = 1.0) -> pd.DataFrame:
    """What each chip costs to use, rented and owned, by the month, by the million and by the
    gigabyte; nan where nothing is known.

    Parameters
    ----------
    benchmark, scenario : as in `figures`; only chips measured on it
    utilization : share of the time at full load [1]; a rented chip is paid all the time

    Columns: rate, unit, rent_month, own_month [USD/month], rent_million, own_million [USD / 1e6
    unit], joules (of a unit, at the chip's power limit), system_joules (the least that a whole
    system was measured to take), purchase_gb [USD/GB], rent_gb_month [USD/GB/month].

    >>> rows = ownership_table("llama2-70b", "Offline", 0.5)
    >>> bool(rows.loc["H100 SXM", "own_million"] < rows.loc["H100 SXM", "rent_million"])
    True
    """
    known, hours, power = (
        figures(benchmark, scenario),
        HOURS_PER_YEAR / MONTHS_PER_YEAR,
        power_efficiency(),
    )
    power = (
        power[(power["benchmark"] == benchmark) & (power["scenario"] == scenario)]
        .groupby("accelerator")["per_watt"]
        .max()
    )
    rows = known[["rate", "unit", "joules"]].assign(system_joules=1 / power.reindex(known.index))
    chips, gigabytes = (
        {name: accelerator(name) for name in known.index},
        known["memory_bytes"] / GIGA,
    )
    for end, own in (("rent", False), ("own", True)):
        hour = chip_facts(own, utilization)["usd_per_hour"].reindex(known.index)
        rows[f"{end}_month"] = hour * hours
        rows[f"{end}_million"] = usd_per_million_tokens(
            hour.fillna(1.0), known["rate"], utilization
        ).where(hour.notna())
    price = pd.Series(
        {
            name: chip.purchase_mid_usd if chip.purchase_usd else np.nan
            for name, chip in chips.items()
        }
    )
    return rows.assign(purchase_gb=price / gigabytes, rent_gb_month=rows["rent_month"] / gigabytes)
