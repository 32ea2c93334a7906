"""Chips against each other on MLPerf Inference, per accelerator, per watt and per dollar of rent,
and one chip with itself over rounds, scenarios and sizes of system. Every figure per accelerator is
derived, not an official MLPerf metric.

Two results are compared only if benchmark, accuracy target, scenario, unit and round are the same:
the same question in the same software era. What then still differs (who tuned it, precision, system
size, previews) stands beside every ratio, and the range of a ratio holds how far submissions of one
and the same chip lie apart and how far ratios move from one round to the next.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared
from scaleright.market import listed_hour
from scaleright.mlperf.results import comparable
from scaleright.names import one_of
from scaleright.ranges import interval
from scaleright.units import figure

LABEL = "derived, not an official MLPerf metric"
"""Stands wherever a figure per accelerator is shown: MLPerf's own results are those of whole
systems.
"""
RATES = ("Offline", "Server", "Interactive")
"""Scenarios whose result is a rate; a latency is that of a system and cannot be divided by its
chips.
"""
STATISTICS = ("best", "median")
QUESTION = ["benchmark", "accuracy_target", "scenario", "unit"]
CELL = [*QUESTION, "round"]
"""What must be the same for two results to be compared."""
TAILS = (0.05, 0.95)
GENERATIVE = ("dense language model", "mixture of experts", "diffusion", "agent")
"""Architectures whose software still moves fast; the others are what MLPerf began with."""


@shared
def submissions(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Results that are rates, one for each system and accuracy target that it meets: the best where
    it ran twice.

    A result at 99.9 % of the reference accuracy also holds at 99 %.

    Parameters
    ----------
    rows : from `results.comparable`; all of them by default

    >>> set(submissions()["scenario"]) == set(RATES)
    True
    """
    rows = comparable() if rows is None else rows
    rows = rows[rows["scenario"].isin(RATES)]
    rows = rows.assign(
        precision=rows["precision"].fillna("not stated"),
        accuracy_target=rows["accuracy_target"].fillna(""),
    )
    rows = pd.concat(
        [rows, rows[rows["accuracy_target"] == "99.9"].assign(accuracy_target="99")],
        ignore_index=True,
    )
    system = [*CELL, "submitter", "system", "accelerator", "accelerators"]
    return rows.sort_values(["per_accelerator", "id"], kind="stable").drop_duplicates(
        system, keep="last", ignore_index=True
    )


def summarize(rows: pd.DataFrame, key: Iterable[str] = ("accelerator", *CELL)) -> pd.DataFrame:
    """What submissions reached, one row for each value of `key`; the columns are those of
    `summary`.
    """
    key = list(key)
    rows = rows.sort_values(["per_accelerator", "id"], kind="stable").assign(
        preview=rows["availability"] == "preview"
    )
    each, top = rows.groupby(key), rows.drop_duplicates(key, keep="last").set_index(key)
    value = each["per_accelerator"]
    formats = rows.drop_duplicates([*key, "precision"]).groupby(key)["precision"]
    found = {
        "best": value.max().map(figure),
        "median": value.median().map(figure),
        "lowest": value.min().map(figure),
        "tail_low": value.quantile(TAILS[0]).map(figure),
        "tail_high": value.quantile(TAILS[1]).map(figure),
        "mean_of_ratios": value.mean().map(figure),
        "ratio_of_sums": (each["value"].sum() / each["accelerators"].sum()).map(figure),
        "submissions": each.size(),
        "submitters": each["submitter"].nunique(),
        "precision": formats.agg(" and ".join),
        "least_chips": each["accelerators"].min(),
        "most_chips": each["accelerators"].max(),
        "architecture": top["architecture"],
        "preview": each["preview"].all(),
        "best_id": top["id"],
    }
    return pd.DataFrame(found).reset_index()


@shared
def summary() -> pd.DataFrame:
    """What the submissions of each chip reached in each round, per accelerator; derived, not an
    official MLPerf metric.

    Two averages stand beside the best and the median. The mean of ratios counts every submission
    once: what a typical system reaches per chip. The ratio of sums counts every chip once: what all
    these chips reach together, which one system of 512 may decide alone. Where sizes differ the
    first is the one to compare chips by, and neither is a best.

    Columns: accelerator, benchmark, accuracy_target, scenario, unit, round, best, median, lowest,
    tail_low, tail_high (5 % and 95 % of the submissions), mean_of_ratios, ratio_of_sums [unit per
    accelerator], submissions, submitters, precision, least_chips, most_chips, architecture, preview
    (nothing but previews), best_id.

    >>> rows = summary()
    >>> bool((rows["lowest"] <= rows["median"]).all() and (rows["median"] <= rows["best"]).all())
    True
    """
    return summarize(submissions())


def entry(rows: pd.DataFrame) -> pd.Series:
    """Benchmark and accuracy target in one name, as MLPerf writes them: "bert-99.9"."""
    return rows["benchmark"].where(
        rows["accuracy_target"] == "", rows["benchmark"] + "-" + rows["accuracy_target"]
    )


def asked(rows: pd.DataFrame, benchmark: str, scenario: str) -> pd.DataFrame:
    """Rows of one benchmark, with or without its accuracy target, and one scenario; an unknown name
    is refused.
    """
    names = entry(rows)
    one_of(benchmark, sorted({*rows["benchmark"], *names}), "MLPerf benchmark")
    one_of(scenario, RATES, "scenario with a rate per accelerator")
    of = rows[(rows["benchmark"] == benchmark) | (names == benchmark)]
    there = [name for name in RATES if name in {*of["scenario"]}]
    return of[of["scenario"] == one_of(scenario, there, f"scenario of {benchmark}")]


def common_rounds(
    found: pd.DataFrame, pairs: Iterable[tuple[str, str]] | None = None, also: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Two chips in one cell, for every cell in which both stand: their rows of `summary` side by
    side (`_new`, `_old`).

    Of several accuracy targets that both reach in a round, the strictest.

    Parameters
    ----------
    found : from `summarize`
    pairs : (new, old); by default every chip against those that were released before it, or with it
    also : columns besides `CELL` that must be the same
    """
    same, chips = [*CELL, *also], ["accelerator_new", "accelerator_old"]
    both = found.merge(found, on=same, suffixes=("_new", "_old"))
    if pairs is None:
        known = accelerators().items()
        day = {name: pd.Timestamp(chip.released or "2100-01-01") for name, chip in known}
        new, old = (both[side] for side in chips)
        both = both[(new != old) & (new.map(day) >= old.map(day))]
    else:
        both = both.merge(pd.DataFrame([*pairs], columns=chips).drop_duplicates())
    once = [*chips, *(name for name in same if name not in ("accuracy_target", "unit"))]
    both = both.sort_values(["accuracy_target", "round"], kind="stable")
    return both.drop_duplicates(once, keep="last")


@shared
def matched(
    new: str,
    old: str,
    benchmark: str,
    scenario: str,
    same_precision: bool = False,
    rows: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Every round in which both chips stand with the same question, oldest first: the ratios, and
    what still differs.

    Parameters
    ----------
    new, old : chips by name or alias
    benchmark : its name, with or without an accuracy target; without one, the strictest that both
        meet
    scenario : one of `RATES`
    same_precision : only submissions of one and the same stated precision (then one row for each)
    rows : from `results.comparable`; all of them by default

    Columns: round, accuracy_target, unit, best, median (ratios, new over old), same_submitter
    (median of the ratios of those who submitted both; empty if nobody did), and for both chips
    (`_new`, `_old`) what `summary` says.

    Raises
    ------
    LookupError : unknown name; no round in which both stand, with the chips or benchmarks that
        would do.
    """
    given = asked(submissions(rows), benchmark, scenario)
    known, what = sorted({*given["accelerator"]}), f"accelerator in {benchmark} {scenario}"
    new, old = pair = [one_of(accelerator(name).name, known, what) for name in (new, old)]
    given = given[given["accelerator"].isin(pair)].assign(format=given["precision"])
    stated = given[given["precision"] != "not stated"] if same_precision else given
    also = ("format",) if same_precision else ()
    both = common_rounds(summarize(stated, ["accelerator", *CELL, *also]), [(new, old)], also)
    if both.empty:
        there = given.groupby("accelerator")["round"].agg(lambda of: ", ".join(sorted({*of})))
        raise LookupError(
            f"{new} and {old} do not meet in one round{' at one stated precision' * same_precision}"
            f" of {benchmark} {scenario}: {new} stands in {there[new]}, {old} in {there[old]}"
        )
    both = both.join(same_submitter(given, new, old), on=CELL).assign(
        best=both["best_new"] / both["best_old"], median=both["median_new"] / both["median_old"]
    )
    first = ["round", "accuracy_target", "unit", "best", "median", "same_submitter"]
    sides = [name for name in both if name.endswith(("_new", "_old"))]
    return both.sort_values("round", kind="stable", ignore_index=True)[[*first, *sides]]


def same_submitter(rows: pd.DataFrame, new: str, old: str) -> pd.Series:
    """The ratio of two chips in each cell as those found it who submitted both: the median over
    teams, each by its best.

    Parameters
    ----------
    rows : from `submissions`
    new, old : names of chips
    """
    tuned = (
        rows[rows["accelerator"].isin([new, old])]
        .groupby([*CELL, "submitter", "accelerator"])["per_accelerator"]
        .max()
        .unstack()
    )
    return (tuned[new] / tuned[old]).dropna().groupby(CELL).median().rename("same_submitter")


@shared
def drift(architecture: str, quantile: float = 0.9) -> float:
    """By what factor ratios of two chips changed from one round to the next in which both stood: a
    quantile of all such changes.

    Software of the two improves at a different pace, above all on generative models, which are
    counted apart.

    Parameters
    ----------
    architecture : of the benchmark's model, as the table has it
    quantile : of the changes' sizes [1]

    >>> drift("vision") < drift("mixture of experts")
    True
    """
    changes = round_changes()
    return moved_by(changes[changes["generative"] == (architecture in GENERATIVE)], quantile)


def moved_by(changes: pd.DataFrame, quantile: float = 0.9) -> float:
    """The factor that a quantile of changes does not exceed, up or down; see `round_changes`."""
    return figure(np.exp(changes["change"].abs().quantile(quantile)))


@shared
def round_changes() -> pd.DataFrame:
    """The ratio of two chips in a round and in the next in which both stood: before, after (best
    over best), change (log).

    Further columns: those of `common_rounds`, and the rates of the earlier round as
    `before_tail_low_new` and so on.
    """
    both = common_rounds(summary()).sort_values("round", kind="stable")
    both = both.assign(after=both["best_new"] / both["best_old"])
    sides = ("new", "old")
    ends = [f"{name}_{side}" for name in ("tail_low", "best", "tail_high") for side in sides]
    same = both.groupby(["accelerator_new", "accelerator_old", *QUESTION])
    earlier = same[["after", *ends]].shift().add_prefix("before_")
    both = both.join(earlier.rename(columns={"before_after": "before"})).dropna(subset="before")
    change = np.log(both["after"] / both["before"])
    generative = both["architecture_new"].isin(GENERATIVE)
    return both.assign(change=change, generative=generative).reset_index(drop=True)


METRICS = {
    "chip": "per accelerator",
    "watt": "per watt of the chips' power limits",
    "measured watt": "per watt of measured system power",
    "dollar": "per dollar of rent",
}
"""What a rate is divided by. Power was measured for few chips, mostly at lowered clocks, so that
`watt` goes by limits.
"""

PAIR = ["accelerator_new", "accelerator_old", "benchmark", "scenario"]


def gain_ratio(new: Any, old: Any, new_price: Any = 1.0, old_price: Any = 1.0) -> Any:
    """How many times as much the new chip does for what it costs: rates over prices; floats, arrays
    and quantities.

    Parameters
    ----------
    new, old : rates per accelerator, in one unit
    new_price, old_price : what each is divided by: 1, power limits [W], rents [USD/h]

    >>> gain_ratio(12.0, 4.0, 2.0, 1.0)
    1.5
    """
    return new / old * (old_price / new_price)


def gain_interval(
    new: tuple,
    old: tuple,
    moves: Any,
    new_price: Any = 1.0,
    old_price: Any = 1.0,
    rents: Any = 1.0,
) -> tuple[Any, Any]:
    """Low and high end of a gain; as polymorphic as the gain itself.

    Parameters
    ----------
    new, old : (5 %, the statistic that is said, 95 %) of the submissions of each chip; a best is
        its own high end
    moves : factor by which a ratio moves from one round to another, see `drift`
    new_price, old_price : see `gain_ratio`
    rents : factor by which the ratio of both may move in the year ahead, 1 where they are fixed

    >>> low, high = gain_interval((8.0, 10.0, 9.9), (5.0, 5.0, 5.0), 1.0)
    >>> round(low, 9), round(high, 9)
    (1.6, 2.0)
    """
    return interval(
        lambda n, o, moved, ahead: gain_ratio(n, o, new_price, old_price) * moved * ahead,
        n=new,
        o=old,
        moved=(1 / moves, 1.0, moves),
        ahead=(1 / rents, 1.0, rents),
    )


def prices(metric: str, contract: str = "on demand", seller: str = "median") -> dict[str, float]:
    """What the rate of each chip is divided by: 1, its power limit [W], or what an hour of it costs
    under a contract from a seller, see `market.hour` [USD/h].

    Chips without the figure are left out. Limits of superchips hold their share of the CPU where
    the maker counts it so.

    Raises
    ------
    LookupError : unknown metric or contract.

    >>> prices("watt")["H100 SXM"]
    700.0
    """
    if one_of(metric, METRICS, "metric") == "watt":
        return {name: chip.tdp_watts for name, chip in accelerators().items() if chip.tdp_watts}
    if metric == "dollar":
        rents = {name: listed_hour(name, contract, seller) for name in accelerators()}
        return {name: rent.usd for name, rent in rents.items() if rent}
    return dict.fromkeys(accelerators(), 1.0)


def power_runs(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Submissions with measured power: `per_accelerator` becomes the rate per watt of the whole
    system [unit/s per W].

    The watts of a run go with the rate of that run alone, kept as `per_chip`; `kind` tells runs at
    clocks lowered for efficiency from runs at full clocks.

    >>> set(power_runs()["kind"])  == {"lowered clocks", "full clocks"}
    True
    """
    rows = submissions(comparable(allow=("power_run",)) if rows is None else rows)
    rows = rows[rows["system_watts"].notna()]
    kind = np.where(rows["flags"].str.contains("power_run"), "lowered clocks", "full clocks")
    return rows.assign(
        per_chip=rows["per_accelerator"],
        per_accelerator=rows["value"] / rows["system_watts"],
        kind=kind,
    )


def _ends(rows: pd.DataFrame, side: str, statistic: str = "best", before: str = "") -> tuple:
    """What `gain_interval` takes of one side of `common_rounds`."""
    names = "tail_low", statistic, "tail_high"
    return tuple(rows[f"{before}{name}_{side}"].to_numpy() for name in names)


def _gains(
    rates: pd.DataFrame, price: Mapping[str, float], metric: str, statistic: str, pairs: Any
) -> pd.DataFrame:
    """Two chips in each of their common rounds with the gain and its range, rounds in order.

    rates : from `summarize`
    """
    also = ("kind",) if metric == "measured watt" else ()
    one_of(statistic, STATISTICS, "statistic")
    both = common_rounds(rates, pairs, also)
    both = both[both["accelerator_new"].isin(price) & both["accelerator_old"].isin(price)]
    new, old = (_ends(both, side, statistic) for side in ("new", "old"))
    paid = [both[f"accelerator_{side}"].map(price).to_numpy(dtype=float) for side in ("new", "old")]
    moves = both["architecture_new"].map(drift).to_numpy(dtype=float)
    low, high = gain_interval(new, old, moves, *paid)
    both = both.assign(metric=metric, value=gain_ratio(new[1], old[1], *paid), low=low, high=high)
    return both.sort_values([*PAIR, "round"], kind="stable", ignore_index=True)


def _rates(metric: str, rows: pd.DataFrame | None) -> pd.DataFrame:
    """What each chip reached in each round, per accelerator or per watt that was measured."""
    if one_of(metric, METRICS, "metric") == "measured watt":
        return summarize(power_runs(rows), ["accelerator", *CELL, "kind"])
    return summary() if rows is None else summarize(submissions(rows))


@shared
def generation_gains(
    metric: str = "chip",
    statistic: str = "best",
    pairs: Iterable[tuple[str, str]] | None = None,
    every_round: bool = False,
    rows: pd.DataFrame | None = None,
    contract: str = "on demand",
    seller: str = "median",
) -> pd.DataFrame:
    """How many times as much each chip does as each older one, for every benchmark and scenario in
    which they meet.

    Parameters
    ----------
    metric : one of `METRICS`
    statistic : "best" or "median" submission of each
    pairs : (new, old) by name; by default every chip against those released before it, or with it
    every_round : all rounds; by default the newest in which both stand
    rows : from `results.comparable`; all of them by default
    contract, seller : of what a dollar rents, see `prices`

    Columns: accelerator_new, accelerator_old, benchmark, accuracy_target, scenario, unit, round,
    metric, value, low, high (see `gain_interval`), and for both chips (`_new`, `_old`) what
    `summary` says, among it architecture and precision.

    Raises
    ------
    LookupError : unknown metric, statistic or chip.

    >>> gains = generation_gains(pairs=[("B200", "H200 SXM")])
    >>> bool((gains["low"] <= gains["value"]).all() and (gains["value"] <= gains["high"]).all())
    True
    """
    if pairs is not None:
        pairs = [(accelerator(new).name, accelerator(old).name) for new, old in pairs]
    price = prices(metric, contract, seller)
    found = _gains(_rates(metric, rows), price, metric, statistic, pairs)
    return found if every_round else found.drop_duplicates(PAIR, keep="last", ignore_index=True)


def gain(
    new: str,
    old: str,
    benchmark: str,
    scenario: str,
    metric: str = "chip",
    statistic: str = "best",
    in_round: str = "newest",
    price: tuple[float, float] | None = None,
    rows: pd.DataFrame | None = None,
) -> pd.Series:
    """How many times as much one chip does as another in a round in which both stand, with its
    range.

    Parameters
    ----------
    new, old : chips by name or alias
    benchmark : its name, with or without an accuracy target; without one, the strictest that both
        meet
    scenario, metric, statistic : see `matched` and `generation_gains`
    in_round : this round, or the newest in which both stand
    price : what the new and the old chip are divided by, instead of `prices`

    Raises
    ------
    LookupError : unknown name; no such round; no power limit, measured power or rent of one of
        them.
    ValueError : a price that is not above 0.

    Returns
    -------
    one row of `generation_gains`

    >>> found = gain("B200", "H200", "llama2-70b-99.9", "Offline")
    >>> bool(found["low"] < found["value"] < found["high"])
    True
    """
    pair = accelerator(new).name, accelerator(old).name
    divisors = prices(metric) | (dict(zip(pair, price, strict=True)) if price else {})
    if none := [name for name in pair if divisors.get(name, 1) <= 0]:
        raise ValueError(
            f"a gain {METRICS[metric]} needs one above 0 for {' and '.join(none)}, given"
            f" {divisors[none[0]]:g}; where nobody lists a rent, set one"
        )
    rates = _rates(metric, rows)
    rates = rates[(rates["benchmark"] == benchmark) | (entry(rates) == benchmark)]
    rates = rates[rates["scenario"] == scenario]
    found = _gains(rates, divisors, metric, statistic, [pair])
    if found.empty:
        matched(*pair, benchmark, scenario, rows=rows)  # refuses two without a common round
        for name in pair:
            one_of(name, divisors, f"accelerator with a figure {METRICS[metric]}")
        raise LookupError(
            f"power of {' and '.join(pair)} was not measured in one round of {benchmark}"
            f" {scenario}; metric 'watt' goes by limits"
        )
    if in_round != "newest":
        what = f"round in which {' and '.join(pair)} meet"
        found = found[found["round"] == one_of(in_round, [*found["round"]], what)]
    return found.iloc[-1]


@shared
def range_test() -> pd.DataFrame:
    """Whether the range of a ratio in one round held the ratio of the next: a test out of sample.

    The drift is taken from the other benchmarks of the same kind only.

    Columns: those of `round_changes`, low, high (of the earlier round), inside.
    """
    changes, found = round_changes(), []
    for (benchmark, generative), rows in changes.groupby(["benchmark", "generative"]):
        others = changes[changes["benchmark"] != benchmark]
        moves = moved_by(others[others["generative"] == generative])
        new, old = (_ends(rows, side, before="before_") for side in ("new", "old"))
        low, high = gain_interval(new, old, moves)
        found.append(rows.assign(low=low, high=high, inside=rows["after"].between(low, high)))
    return pd.concat(found, ignore_index=True)


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
    rows = rows.join(before).dropna(subset="round_before").rename(columns={"round_before": "since"})
    gains = {of: rows[of] / rows[f"{of}_before"] for of in ("best", "median")}
    columns = ["accelerator", *QUESTION, "architecture", "since", "round", *gains]
    columns += ["precision_before", "precision", "submissions_before", "submissions"]
    return rows.assign(**gains)[[*columns, "preview_before"]].reset_index(drop=True)


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
    key = ["accelerator", *CELL]
    rows = power_runs().rename(columns={"per_accelerator": "per_watt"})
    rows = rows.join(summary().set_index(key)["best"].rename("plain"), on=key)
    limit = {name: chip.tdp_watts for name, chip in accelerators().items()}
    watts = rows["system_watts"] / rows["accelerators"].astype(float)
    found = {"watts_per_accelerator": watts, "of_limit": watts / rows["accelerator"].map(limit)}
    found |= {"slower": rows["per_chip"] / rows["plain"]}
    run = ["submitter", "system", "accelerators", "id", "kind", "per_watt"]
    return rows.assign(**found)[[*key, *run, *found]].reset_index(drop=True)


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
    kept = ["round", "accelerator", "benchmark", "accuracy_target", "architecture"]
    both = submissions().pivot_table(
        index=[*kept, "submitter", "system", "accelerators"],
        columns="scenario",
        values="per_accelerator",
        aggfunc="max",
    )
    each = (both["Server"] / both["Offline"]).dropna().groupby(kept)
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
    sizes = submissions().assign(size=lambda of: of["accelerators"].astype(int))
    rows = summarize(sizes, [*key, "size"]).sort_values([*key, "size"])
    rows = rows[rows.groupby(key)["size"].transform("nunique") > 1]
    rows = rows.assign(kept=rows["best"] / rows.groupby(key)["best"].transform("first"))
    rows = rows.rename(columns={"best": "per_accelerator", "size": "accelerators"})
    columns = [*key, "accelerators", "per_accelerator", "kept", "submissions", "best_id"]
    return rows[columns].reset_index(drop=True)
