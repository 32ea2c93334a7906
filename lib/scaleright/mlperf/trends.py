"""One chip with itself on MLPerf Inference: over rounds, scenarios, sizes of system, and per watt
measured.

Every figure per accelerator is derived, not an official MLPerf metric.
"""

import pandas as pd

from scaleright.catalog import accelerators, shared
from scaleright.mlperf.compare import CELL, QUESTION, submissions, summarize, summary
from scaleright.mlperf.gains import power_runs

SYSTEM = [
    "round",
    "submitter",
    "system",
    "accelerator",
    "accelerators",
    "benchmark",
    "accuracy_target",
    "architecture",
]


@shared
def software_gains() -> pd.DataFrame:
    """The same chip on the same question in one round and in the next in which it stands: what
    software brought.

    Benchmarks whose unit changed in between are not compared. Precision and accuracy target are
    those that submitters chose; a change of precision is part of what software brought, and is
    shown.

    Columns: accelerator, benchmark, accuracy_target, scenario, unit, architecture, since, round,
    best, median (ratios of the later round over the earlier), precision_before, precision,
    submissions_before, submissions, preview_before (the earlier ones were previews only).

    >>> bool((software_gains()["best"] > 0).all())
    True
    """
    rows = summary().sort_values("round", kind="stable")
    said = ["round", "best", "median", "precision", "submissions", "preview"]
    before = rows.groupby(["accelerator", *QUESTION])[said].shift().add_suffix("_before")
    rows = rows.join(before).dropna(subset="round_before")
    rows = rows.assign(
        best=rows["best"] / rows["best_before"],
        median=rows["median"] / rows["median_before"],
        since=rows["round_before"],
    )
    first = ["accelerator", *QUESTION, "architecture", "since", "round", "best", "median"]
    return rows[
        [
            *first,
            "precision_before",
            "precision",
            "submissions_before",
            "submissions",
            "preview_before",
        ]
    ].reset_index(drop=True)


@shared
def power_efficiency() -> pd.DataFrame:
    """Runs with measured power: rate per watt of the whole system, and what that system draws
    beside its chips' limits.

    The watts of a run belong to that run: runs clocked down are slower than the same system's
    others, by `slower`.

    Columns: accelerator, benchmark, accuracy_target, scenario, unit, round, submitter, system,
    accelerators, id, kind (clocked down or full clocks), per_watt [unit/s per W, that is unit/J],
    watts_per_accelerator [W], of_limit (that over the chip's power limit), slower (rate per
    accelerator over the best one of runs without a power measurement in the same round; empty where
    there is none).

    >>> found = power_efficiency()
    >>> bool((found["watts_per_accelerator"] > 0).all())
    True
    """
    rows = power_runs().rename(columns={"per_accelerator": "per_watt"})
    limit = {name: chip.tdp_watts for name, chip in accelerators().items()}
    watts = rows["system_watts"] / rows["accelerators"].astype(float)
    of_limit = watts / rows["accelerator"].map(limit)
    rows = rows.join(
        summary().set_index(["accelerator", *CELL])["best"].rename("plain"),
        on=["accelerator", *CELL],
    )
    rows = rows.assign(
        watts_per_accelerator=watts, of_limit=of_limit, slower=rows["per_chip"] / rows["plain"]
    )
    run = ["submitter", "system", "accelerators", "id", "kind"]
    return rows[
        ["accelerator", *CELL, *run, "per_watt", "watts_per_accelerator", "of_limit", "slower"]
    ].reset_index(drop=True)


@shared
def server_to_offline() -> pd.DataFrame:
    """What a system keeps of its Offline rate once requests arrive at random and must be answered
    in time.

    Server and Offline of one and the same system in one round, so that chips, count and tuning team
    are the same.

    Columns: round, accelerator, benchmark, accuracy_target, architecture, systems, lowest, median,
    highest (Server over Offline).

    >>> found = server_to_offline()
    >>> bool(found["median"].median() < 1)
    True
    """
    both = submissions().pivot_table(
        index=SYSTEM, columns="scenario", values="per_accelerator", aggfunc="max"
    )
    ratio = (both["Server"] / both["Offline"]).dropna().rename("ratio").reset_index()
    each = ratio.groupby(["round", "accelerator", "benchmark", "accuracy_target", "architecture"])[
        "ratio"
    ]
    return each.agg(systems="size", lowest="min", median="median", highest="max").reset_index()


@shared
def size_scaling() -> pd.DataFrame:
    """The best rate per accelerator of a chip by size of system, where one round has several sizes:
    does more together cost?

    Columns: accelerator, benchmark, accuracy_target, scenario, unit, round, accelerators (in the
    system), per_accelerator, kept (over that of the smallest system in the round), submissions,
    best_id.

    >>> found = size_scaling()
    >>> bool(
    ...     (found.groupby(["accelerator", "benchmark", "accuracy_target", "scenario", "round"])[
    ...     "kept"].first() == 1).all())
    True
    """
    key = ["accelerator", *CELL]
    rows = summarize(
        submissions().assign(size=lambda f: f["accelerators"].astype(int)), [*key, "size"]
    ).sort_values([*key, "size"])
    rows = rows[rows.groupby(key)["size"].transform("nunique") > 1]
    kept = rows["best"] / rows.groupby(key)["best"].transform("first")
    rows = rows.assign(kept=kept).rename(
        columns={"best": "per_accelerator", "size": "accelerators"}
    )
    return rows[
        [*key, "accelerators", "per_accelerator", "kept", "submissions", "best_id"]
    ].reset_index(drop=True)
