"""Rows that cannot be right, found by their neighbors alone: no list of known mistakes enters here.

Mistakes of unit and count are large: tokens for samples are a factor of 70 to 4,000, nodes counted
as chips one of 4 or 8. True differences are small. Three ranges lie between, each stated where it
is used: a system against itself (Server and Offline), a chip against other submissions of the same
chip, and a chip against all others, by how it fares elsewhere. Where two groups contradict each
other, both are named: neighbors alone do not say which is wrong.
"""

from __future__ import annotations

from statistics import median

import numpy as np
import pandas as pd

SIDES = {"Server": (0.25, 1.3), "Interactive": (0.02, 1.1)}
"""Throughput under a latency bound over that without (Offline) on the same system. Offline bounds
it from above, but for chips that throttle (L40: 1.27). 98 % of Server results lie within 0.55 to
1.06, a tight Interactive bound costs up to a factor of 32; queries for tokens would be 1/69 (GPT-J)
to 1/3,900 (DeepSeek-R1). A wrong count leaves this ratio alone.
"""
PEERS = 3.3
"""Ratio per chip to other submissions of the chip, in the same round and in the nearest other one:
98 % lie within 2.1 and, with what software gained, within 2.9; nodes for chips give 4.
"""
STANDING = 4.5
"""Ratio per chip to what its speed elsewhere and the others' speed here let expect: 98 % lie within
3.5; units give 69 and more.
"""
_WORDS = {
    "nodes": "times what nodes and accelerators per node multiply to",
    "sides": "times the Offline result of the same system",
    "peers": "times other submissions of the chip in the round",
    "rounds": "times submissions of the chip in the nearest other round",
    "standing": "times what the chip's other results and other chips' results here let expect",
    "uncounted": "accelerators, though one is named",
}
_TASK = ["benchmark", "scenario", "unit"]
_CELL = ["accelerator", *_TASK, "power", "chips"]


def suspects(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of MLPerf Inference whose unit or count is probably wrong: id, reason, and the ratio to
    what was expected.

    Judged are accelerators of one kind, no slices; power runs against power runs, and latencies,
    which chips do not share out, against those of as many chips. A count must be that of its nodes,
    unless it is known as corrected. A factor of two is below what neighbors can tell.

    Parameters
    ----------
    frame : rows with the columns of the table `mlperf_inference`

    >>> from scaleright.catalog import table
    >>> rows = table("mlperf_inference")
    >>> tokens = rows["id"] == "5.1-0071/deepseek-r1/Offline"
    >>> rows.loc[tokens, "value"] /= 3886  # as if it were in samples
    >>> suspects(rows).set_index("id").loc["5.1-0071/deepseek-r1/Offline", "reason"]
    '0.000153 times submissions of the chip in the nearest other round'
    """
    flags, known = frame["flags"].fillna("").astype(str), frame["accelerator"].fillna("") != ""
    judged = known & ~flags.str.contains("mig_slices")
    none = frame[judged & ~(frame["accelerators"] > 0)]
    rows = _comparable(frame[judged & (frame["accelerators"] > 0)].reset_index(drop=True))
    bounds = _bounds(rows)
    out = pd.DataFrame({"id": none["id"], "reason": f"0 {_WORDS['uncounted']}", "ratio": 0.0})
    for name, ratio in _ratios(rows).items():
        wrong = ~ratio.between(*bounds[name]) & ratio.notna() & ~rows["id"].isin(out["id"])
        if not wrong.any():
            continue
        told = [f"{value:.3g} {_WORDS[name]}" for value in ratio[wrong]]
        found = pd.DataFrame({"id": rows["id"][wrong], "reason": told, "ratio": ratio[wrong]})
        out = pd.concat([out, found])
    return out.reset_index(drop=True)


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with what they are compared by: whether power was measured, the chips (of latencies
    only), and the logarithm of speed per chip (of latencies, of their inverse).
    """
    late, chips = rows["unit"].isin(["s", "ms"]), rows["accelerators"].astype(float)
    sign, shared = np.where(late, -1, 1), np.log(chips).where(~late, 0.0)
    return rows.assign(
        power=rows["flags"].fillna("").astype(str).str.contains("power_run"),
        chips=chips.where(late, 0.0),
        speed=np.log(rows["value"].astype(float)) * sign - shared,
    )


def _ratios(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """By kind of neighbor, a row's count or speed over what is expected of it."""
    listed = (rows["nodes"] * rows["accelerators_per_node"]).where(
        rows["accelerators_from"] != "corrected", rows["accelerators"]
    )
    expected = {
        "sides": _offline(rows),
        "peers": _others(rows),
        "rounds": _other_rounds(rows),
        "standing": _standing(rows),
    }
    return {
        "nodes": (rows["accelerators"] / listed).astype(float),
        **{name: np.exp(rows["speed"] - speed) for name, speed in expected.items()},
    }


def _bounds(rows: pd.DataFrame) -> dict[str, tuple]:
    """Between what each of the `_ratios` is believed."""
    low, high = (
        rows["scenario"].map({name: ends[i] for name, ends in SIDES.items()}) for i in (0, 1)
    )
    near, standing = (1 / PEERS, PEERS), (1 / STANDING, STANDING)
    return {
        "nodes": (1, 1),
        "sides": (low, high),
        "peers": near,
        "rounds": near,
        "standing": standing,
    }


def _offline(rows: pd.DataFrame) -> pd.Series:
    """What the same system does Offline in the same round; missing for Offline rows."""
    system = [
        "round",
        "submitter",
        "system",
        "accelerators",
        "benchmark",
        "accuracy_target",
        "power",
    ]
    offline = (
        rows[rows["scenario"] == "Offline"]
        .groupby(system, dropna=False)["speed"]
        .median()
        .rename("expected")
        .reset_index()
    )
    return (
        rows[[*system, "scenario"]]
        .merge(offline, on=system, how="left")["expected"]
        .where(rows["scenario"].isin(SIDES))
    )


def _others(rows: pd.DataFrame) -> pd.Series:
    """Median of the other submissions of the chip in the same round, of which the same value twice
    is one.
    """
    expected, speeds, values = (
        np.full(len(rows), np.nan),
        rows["speed"].to_numpy(),
        rows["value"].to_numpy(),
    )
    for places in rows.groupby([*_CELL, "round"]).indices.values():
        speed, value = speeds[places], values[places]
        for own in np.unique(value) if len(places) > 1 else ():
            if (other := value != own).any():
                expected[places[~other]] = median(speed[other].tolist())
    return pd.Series(expected, rows.index)


def _other_rounds(rows: pd.DataFrame) -> pd.Series:
    """Median of the chip in the nearest other round, the earlier of two."""
    cells = rows.groupby([*_CELL, "round"])["speed"].median().reset_index()
    cells["when"] = cells["round"].str.removeprefix("v").astype(float)
    pairs = cells.merge(cells, on=_CELL, suffixes=("", "_other")).query("round != round_other")
    pairs["away"] = (pairs["when"] - pairs["when_other"]).abs()
    nearest = pairs.sort_values(["away", "when_other"], kind="stable").drop_duplicates(
        [*_CELL, "round"]
    )
    return rows[[*_CELL, "round"]].merge(nearest, on=[*_CELL, "round"], how="left")["speed_other"]


def _standing(rows: pd.DataFrame) -> pd.Series:
    """Speed of a chip in a task as the sum of an effect of each, by median polish (Tukey); missing
    where either is alone.
    """
    cells = rows.groupby(_CELL)["speed"].median().reset_index().assign(of_chip=0.0, of_task=0.0)
    for _ in range(20):
        before = cells["of_chip"]
        cells["of_task"] = (
            (cells["speed"] - cells["of_chip"])
            .groupby([cells[name] for name in _TASK])
            .transform("median")
        )
        cells["of_chip"] = (
            (cells["speed"] - cells["of_task"]).groupby(cells["accelerator"]).transform("median")
        )
        if before.equals(cells["of_chip"]):
            break
    enough = (cells.groupby(_TASK)["accelerator"].transform("nunique") > 2) & (
        cells.groupby("accelerator")["speed"].transform("size") > 2
    )
    cells["expected"] = (cells["of_task"] + cells["of_chip"]).where(enough)
    return rows[_CELL].merge(cells[[*_CELL, "expected"]], on=_CELL, how="left")["expected"]
