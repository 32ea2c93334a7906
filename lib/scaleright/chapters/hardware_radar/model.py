"""Hardware Selection Radar (F12): chips on five axes, weighed by the reader, without a guess where
nobody measured.

Clarifai sorts whole technologies by feel. Here a chip is placed on each axis by how many times
better it is than one and the same reference chip, so that no third chip can change the order of
two. What is not known stays open: a chip with a missing axis gets the range that the axis could
make of its score, and cannot win while it weighs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, shared, table
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.formulas import POSITIVE, Domain, closed_form, lookup, simulation
from scaleright.market import Hours, PaidHour, matmul_chips, rental_prices, spread
from scaleright.mlperf import ROUNDS, comparable, drift, power_efficiency, results, summary
from scaleright.mlperf.comparison import power_runs
from scaleright.mlperf.head_to_head import vendor
from scaleright.names import nearest, one_of
from scaleright.ops import INFINITY, first_case, log, sqrt, where
from scaleright.order import ordered
from scaleright.quantity import Table, apply, at, choose, given, least, look_up, over
from scaleright.quantity.lists import LIST, how_often, most_of, place_of_least
from scaleright.quantity.rows import Row
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
    support, today = table("hardware_maturity"), rental_prices()["date"].max()
    clouds = spread().groupby("accelerator").size()
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
            found = row.criterion, value, SUPPORT[value], row.source, row.note
            rows.append((name, platform, *found))
        years = (today - pd.Timestamp(chip.released)).days / DAYS_PER_YEAR
        counts = int(submitters.get(name, 0)), int(clouds.get(name, 0)), years
        for (criterion, (half, whole)), count in zip(COUNTED.items(), counts, strict=True):
            points = 0.5 * (count >= half) + 0.5 * (count >= whole)
            rule = f"half a point from {half}, a whole one from {whole}"
            rows.append((name, platform, criterion, f"{count:.3g}", points, "counted", rule))
    columns = ["accelerator", "platform", "criterion", "value", "points", "source", "note"]
    return pd.DataFrame(rows, columns=columns)


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
    chips = matmul_chips().items()
    return {name: spec["bf16_flops"] * spec["compute_efficiency"] for name, spec in chips}


@shared
def measured_efficiency() -> pd.DataFrame:
    """Rate per watt of whole systems, measured, over that of the reference chip in the same round
    and at the same clocks.

    Index: benchmark, scenario, accelerator. Columns: ratio [1], said (clocks and round), of the
    newest round in which both stand.

    >>> bool(measured_efficiency().loc[("resnet50", "Offline", "Cloud AI 100 Ultra"), "ratio"] > 1)
    True
    """
    chip, same = [*WORKLOAD, "accelerator"], [*WORKLOAD, "round", "kind"]
    best = power_runs().groupby([*same, "accelerator"])["per_accelerator"].max().reset_index()
    best = best.merge(best_rates()[[*WORKLOAD, "reference"]].drop_duplicates())
    is_base = best["accelerator"] == best["reference"]
    both = best[~is_base].merge(best[is_base], on=same, suffixes=("", "_of"))
    both = both.sort_values("round", kind="stable").drop_duplicates(chip, keep="last")
    ratio = both["per_accelerator"] / both["per_accelerator_of"]
    both = both.assign(ratio=ratio, said=both["kind"] + ", " + both["round"])
    return both.set_index(chip)[["ratio", "said"]]


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


# Any chip on any workload of MLPerf Inference beside its reference chip, as quantities: what the
# radar's axes are computed from; and who leads by the reader's weights


UNKNOWN, NONE = "not known", float("nan")


@dataclass(frozen=True)
class Workload:
    """A benchmark in a scenario.

    place : its reference chip, its unit, and the chips that were measured (`workload_rows`)
    drift : by what factor one round's software moves two chips' speeds over each other (`drifts`)
    """

    benchmark: Any
    scenario: Any
    place: Row
    drift: Any


@lookup
def workload(benchmark: Any, scenario: Any) -> Workload:
    """A benchmark in a scenario: words, quantities or not.

    >>> workload("llama2-70b", "Offline").place.reference.value
    'H100 SXM'
    """
    found = choose(workload_rows(), benchmark, scenario, otherwise=UNKNOWN)
    return Workload(benchmark, scenario, found, look_up(drifts(), benchmark))


class ChipHour(NamedTuple):
    """An hour of a chip, rented and owned, and as it is paid [USD/h]; nan where it has no price."""

    rent: PaidHour
    owned: OwnedHour
    usd: Any


@dataclass(frozen=True)
class Prices:
    """What an hour of each chip that may be placed costs, rented and owned."""

    hours: Hours
    owned: Table

    @classmethod
    def of(cls, chips: Sequence[str]) -> Self:
        """Those of some chips."""
        return cls(Hours(chips, old=False), Table(owned_rows(tuple(chips)), UNKNOWN))

    def hour(self, chip: Any, case: Any, utilization: Any = 1.0) -> ChipHour:
        """That of a chip, as a case pays for it.

        case : paid, contract, seller and setting
        """
        rent = self.hours.paid(chip, case.contract, case.seller)
        owned = OwnedHour.of(self.owned.row(chip, case.setting), False, utilization)
        return ChipHour(rent, owned, where(case.paid == "own", owned.usd, rent.usd))


@dataclass(frozen=True)
class Placed:
    """A chip on a workload; nan where nothing is known.

    spec : what the tables say of it (`chip_rows`)
    hour, base_hour : an hour of it around the clock, and of the reference chip
    measured : its rate there [unit/s]
    of, than : what counts of it and of the reference chip, see `times_better`; and its maturity
    power, submission, base_submission : see `power_rows`, and `submission_rows` of both chips
    """

    spec: Row
    hour: ChipHour
    base_hour: ChipHour
    measured: Any
    of: Mapping[str, Any]
    than: Mapping[str, Any]
    power: Row
    submission: Row
    base_submission: Row


@lookup
def placed(chip: Any, work: Workload, prices: Prices, case: Any) -> Placed:
    """A chip on a workload, by what was measured, or by datasheets where these stand in.

    Parameters
    ----------
    chip : its name, a word or a quantity; of a chip that is not placed nothing is known
    case : paid, contract, seller, setting, and stand_ins: whether shipping chips that nobody
        submitted are placed by their datasheets: their speed is then the BF16 arithmetic that
        matrix products reach over that of the reference chip

    >>> case = SimpleNamespace(paid="rent", contract="on demand", seller="median", stand_ins=False)
    >>> case.setting = "data center"
    >>> work, prices = workload("llama2-70b", "Offline"), Prices.of(["B200", "H100 SXM"])
    >>> b200 = placed("B200", work, prices, case)
    >>> round(times_better(b200.of, b200.than, b200.power.efficiency)["speed"].value, 2)
    3.35
    """
    facts = {name: chip_rows()[name] for name in placeable()["chip"]}
    names = chip, work.place.reference
    spec, base = (choose(facts, name, otherwise=UNKNOWN) for name in names)
    hour, base_hour = (prices.hour(name, case) for name in names)
    on = work.benchmark, work.scenario
    measured, rate = (choose(rate_rows(), *on, name, otherwise=UNKNOWN).rate for name in names)
    by_datasheet = where(case.stand_ins, rate * spec.reached_flops / base.reached_flops, NONE)
    known = where(measured > 0, measured, by_datasheet)
    there = {part: where(known > 0, spec[part], NONE) for part in ("memory_bytes", "maturity")}
    submission, base_submission = (
        choose(submission_rows(), *on, name, otherwise="") for name in names
    )
    return Placed(
        spec,
        hour,
        base_hour,
        measured,
        {**spec, **there, "rate": known, "usd_per_hour": hour.usd},
        {**base, "rate": rate, "usd_per_hour": base_hour.usd},
        choose(power_rows(), *on, chip, otherwise=UNKNOWN),
        submission,
        base_submission,
    )


def why_none(work: Workload, on: Placed, weights: Sequence[Any]) -> Any:
    """Why no chip leads, and what would help, in words.

    Parameters
    ----------
    on : any chip there
    weights : of each of the `AXES`
    """
    reference, hour = work.place.reference, on.base_hour
    nobody = (
        "no chip has figures on all axes that weigh: give another axis weight, or choose another"
        " benchmark or scenario"
    )
    unpriced = (
        reference + ", the reference chip, has no such price (" + hour.rent.why + "), so that none"
        " has a cost: choose another contract or seller, or give cost no weight"
    )
    unplaced = (
        f"neither the {' nor the '.join(REFERENCES)} was submitted, so nothing can be compared:"
        " choose "
    )
    return first_case(
        [
            (sum(weights) <= 0, "no axis has weight: give one of them some"),
            (work.place.there & (weights[0] > 0) & ~(hour.usd > 0), unpriced),
            (work.place.there, nobody),
        ],
        unplaced + look_up(scenarios(), work.benchmark),
    )


OVER_SPEED = ("cost", "speed", "energy")
"""The axes on which a faster chip gains: prices and watts count over its speed."""


def weights(case: SimpleNamespace) -> list[Any]:
    """The weight of each of the `AXES`, from the controls `weight_cost` and so on.

    >>> weights(SimpleNamespace(**{f"weight_{axis}": 1.0 for axis in AXES}))
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    return [getattr(case, f"weight_{axis}") for axis in AXES]


def share(axes: Sequence[str], of: Sequence[Any]) -> Any:
    """The share that some axes have of all weights [1].

    >>> share(OVER_SPEED, [1.0, 1.0, 1.0, 1.0, 1.0])
    0.6
    """
    return weighted([1.0 if axis in axes else 0.0 for axis in AXES], of)


@dataclass(frozen=True)
class Lead:
    """The chip with the most points, and the next; no name and nan where there is none."""

    chip: Any
    points: Any
    next_chip: Any
    next_points: Any

    @property
    def gap(self) -> Any:
        """How many points lie between the two."""
        return self.points - self.next_points


def leading(points: Mapping[str, Any]) -> Lead:
    """Who leads among chips with these points: quantities, nan where nothing is known.

    >>> lead = leading({"A": 6.0, "B": float("nan"), "C": 7.5})
    >>> lead.chip.value, lead.points.value, lead.next_chip.value, lead.gap.value
    ('C', 7.5, 'A', 1.5)
    """
    lost = {chip: -of for chip, of in points.items()}
    chip, least_lost = least(lost)
    next_chip, next_lost = least(lost, after=chip)
    return Lead(chip, -least_lost, next_chip, -next_lost)


@dataclass(frozen=True)
class Won:
    """Who wins how many of all weightings of the axes.

    there : whether some chip is known on all axes
    shares : chips that win most, the first of them first, each with its share [1]
    placed, never : chips that are known on all axes, and those of them that win none
    """

    there: Any
    shares: Sequence[tuple[Any, Any]]
    placed: Any
    never: Any


NAMED = 6
"""Chips that are named with the share of weightings that they win."""


def wins(points: Mapping[str, Any], chips: Sequence[str]) -> Won:
    """Who wins how many of all weightings (`weightings`), of chips that are known on all axes.

    Parameters
    ----------
    points : on each of the `AXES`, quantities of any `chip`, nan where nothing is known
    """
    weights = {axis: given(f"w_{axis}", 1 / len(AXES)) for axis in AXES}
    each = [[at(points[axis], chip=name) for axis in AXES] for name in chips]
    lost = [-sum(w * p for w, p in zip(weights.values(), of, strict=True)) for of in each]
    drawn = {weights[axis]: of for axis, of in zip(AXES, weightings().T.round(4), strict=True)}
    winner = over("weightings", drawn, {"winner": place_of_least(apply(LIST, *lost))})["winner"]
    counts = dict(zip(chips, how_often(winner, len(chips)), strict=True))
    placed = sum(where(sum(of) > -INFINITY, 1, 0) for of in each)
    shares = [(name, count / WEIGHTINGS) for name, count in most_of(counts, NAMED)]
    some = sum(where(count > 0, 1, 0) for count in counts.values())
    return Won(placed > 0, shares, placed, placed - some)


AXES = ("cost", "speed", "energy", "memory", "maturity")
FULL = 10.0
"""Points at the rim of the radar."""
SPAN = 10.0
"""How many times better than the reference chip the rim is, and how many times worse the middle."""


@closed_form(ratio=POSITIVE, span=Domain(1.0, float("inf"), (2.0, 100.0), open_low=True))
def points(ratio, span=SPAN):
    """Points of a chip on an axis: 5 for the reference chip, 10 for one `span` times better, 0 for
    one `span` times worse.

    The scale is even in ratios, and beyond its ends it goes on: nothing is cut off.

    Parameters
    ----------
    ratio : how many times better than the reference chip [1]
    span : as above [1]

    >>> points(1.0), points(10.0), round(points(2.0), 2)
    (5.0, 10.0, 6.51)
    """
    return FULL / 2 * (1 + log(ratio) / log(span))


def weighted(scores: Sequence[Any], weights: Sequence[Any]) -> Any:
    """The mean of points, by weight; nan where one that has weight is not known; numbers, arrays or
    quantities.

    >>> weighted([4.0, 8.0], [3.0, 1.0])
    5.0
    """
    pairs = zip(scores, weights, strict=True)
    return sum(where(weight > 0, score * weight, 0.0) for score, weight in pairs) / sum(weights)


def ends(scores: Sequence[Any], weights: Sequence[Any]) -> tuple[Any, Any]:
    """The score if each axis of which nothing is known (nan) had no point, and if it had all of
    them: the same where no such axis has weight.

    >>> ends([4.0, float("nan")], [1.0, 1.0]), ends([4.0, float("nan")], [1.0, 0.0])
    ((2.0, 7.0), (4.0, 4.0))
    """
    low, high = (
        weighted([where(score > -INFINITY, score, end) for score in scores], weights)
        for end in (0.0, FULL)
    )
    return low, high


def shift(ratio: Any, weights: Sequence[Any], axes: Sequence[str], span: Any = SPAN) -> Any:
    """Points that a score gains where a chip becomes `ratio` times better on some of the `AXES`;
    numbers or quantities.

    A chip that becomes faster gains on cost, speed and energy: prices and watts count over its
    speed.

    >>> shift(10.0, (1, 1, 1, 1, 1), ("cost", "speed", "energy"))
    3.0
    """
    gained = points(ratio, span) - points(1.0, span)
    return weighted([gained if axis in axes else 0.0 for axis in AXES], weights)


WEIGHTINGS = 512
"""How many ways to weigh the axes are looked at: a page weighs all chips by each."""


@simulation
@functools.cache
def weightings(many: int = WEIGHTINGS, seed: int = 20261120) -> np.ndarray:
    """Weights of the axes, spread evenly over all ways to weigh them: a row each, of sum 1.

    Source: the gaps between sorted points that are drawn evenly from 0 to 1 are even among all
    weights that add up to 1 (a Dirichlet distribution of ones); a Sobol sequence draws them.

    >>> bool(np.allclose(weightings().sum(axis=1), 1)), weightings().mean(axis=0).round(2).tolist()
    (True, [0.2, 0.2, 0.2, 0.2, 0.2])
    """
    from scipy.stats import qmc  # heavy, and one chapter needs it

    drawn = np.sort(qmc.Sobol(len(AXES) - 1, scramble=True, rng=seed).random(many), axis=1)
    return np.diff(drawn, axis=1, prepend=0.0, append=1.0)


def source_rule(weights: Sequence[Any]) -> Any:
    """The technology that Clarifai's radar points to: GPUs for speed and maturity, TPUs for cost
    and energy, by the larger weight.

    The document sorts by feel and gives no rule for a tie; the reading here is GPU. Weights may be
    quantities.

    >>> source_rule([1, 1, 1, 1, 1]), source_rule([3, 1, 1, 0, 1])
    ('GPU', 'TPU')
    """
    cost, speed, energy, _, mature = weights
    return where(speed + mature >= cost + energy, "GPU", "TPU")
