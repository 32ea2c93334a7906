"""What is public about hardware beyond the usual GPU, and how far a datasheet is from a measurement where both are known."""

from __future__ import annotations

from fnmatch import fnmatch

import pandas as pd

from scaleright.catalog import accelerators, remembered, table
from scaleright.decisions.hardware_radar import figures, measured_efficiency, reached_flops, workloads
from scaleright.inference.measured import serving_runs
from scaleright.market import rental_prices
from scaleright.mlperf import ROUNDS, results


@remembered
def alternatives() -> pd.DataFrame:
    """What else could do the work, with what is public about it, counted from the tables of measurements and prices.

    Columns: those of `hardware_alternatives`, and inference (results of its chips in MLPerf Inference), rounds (those with
    one), training (results in MLPerf Training), serving (rows of measured serving), prices (rental listings of its chips,
    or by it).

    >>> rows = alternatives().set_index("product")
    >>> int(rows.loc["Sohu", "inference"]), bool(rows.loc["Instinct MI300X to MI355X", "inference"] > 100)
    (0, True)
    """
    known, cards, served, tested, trained = accelerators(), rental_prices(), serving_runs(), results(), table("mlperf_training")

    def counts(row: pd.Series) -> pd.Series:
        patterns = [] if pd.isna(row["chips"]) else row["chips"].split(";")
        chips = {name for name in known if any(fnmatch(name, pattern) for pattern in patterns)}
        rows, listed = tested[tested["accelerator"].isin(chips)], cards["accelerator"].isin(chips) | (cards["provider"] == row["product"])
        rounds = [name for name in ROUNDS if name in set(rows["round"])]
        span = rounds[0] if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}" if rounds else ""
        found = {key: int(rows["accelerator"].isin(chips).sum()) for key, rows in (("training", trained), ("serving", served))}
        return pd.Series({"inference": len(rows), "rounds": span} | found | {"prices": int(listed.sum())})

    rows = table("hardware_alternatives")
    return rows.join(rows.apply(counts, axis=1))


@remembered
def datasheet_test() -> pd.DataFrame:
    """Speed by datasheet arithmetic and energy by power limits beside what was measured, over the reference chip of each workload.

    Columns: what ("speed" or "energy"), benchmark, scenario, accelerator, predicted, measured (ratios over the reference chip)
    and off (predicted over measured) [1].

    >>> set(datasheet_test()["what"]) == {"speed", "energy"}
    True
    """
    rows, reached = [], reached_flops()
    for workload in workloads().itertuples():
        known = figures(workload.benchmark, workload.scenario)
        reference = known.attrs["reference"]
        power = measured_efficiency(workload.benchmark, workload.scenario, reference)["ratio"]
        for name, chip in known.drop(index=reference).iterrows():
            pairs = {"speed": (reached[name] / reached[reference], chip["speed"])} if name in reached else {}
            if name in power.index:
                pairs["energy"] = (known.loc[reference, "joules"] / chip["joules"], power[name])
            rows += [(what, workload.benchmark, workload.scenario, name, *pair) for what, pair in pairs.items()]
    found = pd.DataFrame(rows, columns=["what", "benchmark", "scenario", "accelerator", "predicted", "measured"]).dropna()
    return found.assign(off=found["predicted"] / found["measured"]).reset_index(drop=True)
