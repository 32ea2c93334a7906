"""Hardware Selection Radar (F12): chips on five axes, weighed by the reader, without a guess where
nobody measured.

S2 sorts whole technologies by feel. Here a chip is placed on each axis by how many times better it
is than one and the same reference chip, so that no third chip can change the order of two. What is
not known stays open: a chip with a missing axis gets the range that the axis could make of its
score, and cannot win while it weighs.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import Accelerator, DataError, accelerator, accelerators, remembered
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_maturity import maturity
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import POSITIVE, Domain, closed_form, simulation
from scaleright.market import matmul_chips, recent_rental_price
from scaleright.mlperf import summary
from scaleright.mlperf.gains import power_runs
from scaleright.names import nearest, one_of
from scaleright.ops import log, where
from scaleright.order import noiseless, ordered
from scaleright.units import HOURS_PER_DAY

AXES = ("cost", "speed", "energy", "memory", "maturity")
FULL = 10.0
"""Points at the rim of the radar."""
SPAN = 10.0
"""How many times better than the reference chip the rim is, and how many times worse the middle."""
REFERENCES = ("H100 SXM", "B200")
"""The reference chip of a benchmark: the first of these that was measured on it."""
WORKLOAD = ["benchmark", "scenario"]
SOURCE = "S2, Hardware Selection Radar"
MEASURED, STAND_IN, SYSTEM, LIMIT = "measured", "datasheet", "measured system power", "power limit"
"""What a figure rests on: MLPerf or a datasheet; the power of the whole system, measured, or the
limit of the chip.
"""


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
    """The mean of points, by weight; numbers, arrays or live expressions.

    Raises
    ------
    ValueError : a weight below 0, or no weight above 0.

    >>> weighted([4.0, 8.0], [3.0, 1.0])
    5.0
    """
    if all(isinstance(weight, (int, float)) for weight in weights) and not (
        min(weights) >= 0 and sum(weights) > 0
    ):
        raise ValueError(
            f"weights {', '.join(f'{weight:g}' for weight in weights)}: allowed are weights from 0,"
            " one of them above 0"
        )
    return sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights)


def shift(ratio: Any, weights: Sequence[Any], axes: Sequence[str], span: Any = SPAN) -> Any:
    """Points that a score gains where a chip becomes `ratio` times better on some of the `AXES`;
    numbers or live expressions.

    A chip that becomes faster gains on cost, speed and energy: prices and watts count over its
    speed.

    >>> shift(10.0, (1, 1, 1, 1, 1), ("cost", "speed", "energy"))
    3.0
    """
    gained = points(ratio, span) - points(1.0, span)
    return weighted([gained if axis in axes else 0.0 for axis in AXES], weights)


@remembered
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


@remembered
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


@remembered
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


@remembered
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
    (what the energy axis rests on), memory_bytes, memory_bytes_per_s; then `AXES`: ratios over the
    reference chip, for maturity its points. nan where nothing is known. `attrs["reference"]` names
    the reference chip.

    Raises
    ------
    LookupError : no such benchmark or scenario with a rate, or none with a reference chip; the
        nearest are offered.

    >>> known = figures("llama2-70b", "Offline")
    >>> known.attrs["reference"], float(known.loc["H100 SXM", "speed"])
    ('H100 SXM', 1.0)
    """
    known, rates = every_figure(own, stand_ins), best_rates()
    for column, wanted, what in (
        ("benchmark", benchmark, "benchmark"),
        ("scenario", scenario, f"scenario of {benchmark}"),
    ):
        one_of(wanted, sorted(set(rates[column])), f"{what} with a rate per accelerator")
        known, rates = (rows[rows[column] == wanted] for rows in (known, rates))
    if known.empty:
        nearest(
            f"{benchmark} {scenario}",
            list(workloads()["benchmark"] + " " + workloads()["scenario"]),
            "workload with a reference chip",
        )
    reference = known["reference"].iloc[0]
    known = known.set_index("accelerator").drop(columns=[*WORKLOAD, "reference"])
    known.attrs["reference"] = reference
    return known


def scores(known: pd.DataFrame, span: float = SPAN) -> pd.DataFrame:
    """Points of each chip on each of the `AXES`, nan where nothing is known.

    Parameters
    ----------
    known : from `figures`

    >>> float(scores(figures("llama2-70b", "Offline")).loc["H100 SXM", "memory"])
    5.0
    """
    ratios = known[list(AXES[:-1])]
    found = pd.DataFrame(
        points(ratios.fillna(1.0).to_numpy(float), span), index=known.index, columns=ratios.columns
    ).where(ratios.notna())
    return found.assign(maturity=known["maturity"])


def standings(scored: pd.DataFrame, weights: Sequence[float]) -> pd.DataFrame:
    """The score of each chip, the best first; where an axis is missing, the range that it could
    make of the score.

    Parameters
    ----------
    scored : from `scores`
    weights : one for each of `AXES`, from 0; only their ratios count

    Columns: low, high (a missing axis at 0 and at 10 points), complete (no missing axis has
    weight), missing (their names). Complete chips come first.

    Raises
    ------
    ValueError : as `weighted`; or not as many weights as axes.

    >>> found = standings(scores(figures("llama2-70b", "Offline")), [1, 1, 1, 1, 1])
    >>> bool((found["low"] <= found["high"]).all())
    True
    """
    if len(weights) != len(AXES):
        raise ValueError(f"{len(weights)} weights; one is needed for each of {', '.join(AXES)}")
    low, high = (
        weighted([scored[axis].fillna(end) for axis in AXES], weights) for end in (0.0, FULL)
    )
    gaps = scored[list(AXES)].isna() & (np.asarray(weights, float) > 0)
    missing = gaps.apply(lambda row: " and ".join(row.index[row]), axis=1)
    found = pd.DataFrame({"low": low, "high": high, "complete": missing == "", "missing": missing})
    return ordered(found, ["complete", "low"], ascending=False)


@functools.cache
def _weightings(draws: int, seed: int) -> np.ndarray:
    """Weights of the axes, drawn evenly: a row for each draw."""
    return np.random.default_rng(seed).dirichlet(np.ones(len(AXES)), draws)


@simulation
def weight_shares(scored: pd.DataFrame, draws: int = 20_000, seed: int = 20261120) -> pd.Series:
    """The share of all weightings, drawn evenly, in which each chip with all axes wins [1]; the
    rest never do.

    Parameters
    ----------
    scored : from `scores`
    draws, seed : weightings drawn, and the start of the generator

    >>> shares = weight_shares(scores(figures("llama2-70b", "Offline")))
    >>> round(float(shares.sum()), 9)
    1.0
    """
    complete = scored[list(AXES)].dropna()
    points_of = complete.to_numpy()
    # A chip that another one equals or beats on every axis never wins, so that few are left to be
    # weighed.
    able = [
        i
        for i, own in enumerate(points_of)
        if not ((points_of >= own).all(axis=1) & (points_of > own).any(axis=1)).any()
    ]
    wins = np.bincount(
        np.argmax(noiseless(_weightings(draws, seed) @ points_of[able].T), axis=1),
        minlength=len(able),
    )
    return (
        pd.Series(wins / draws, index=complete.index[able])
        .reindex(complete.index, fill_value=0.0)
        .sort_values(ascending=False, kind="stable")
    )


def source_rule(weights: Sequence[Any]) -> Any:
    """The technology that S2's radar points to: GPUs for speed and maturity, TPUs for cost and
    energy, by the larger weight.

    The document sorts by feel and gives no rule for a tie; the reading here is GPU. Weights may be
    live expressions.

    >>> source_rule([1, 1, 1, 1, 1]), source_rule([3, 1, 1, 0, 1])
    ('GPU', 'TPU')
    """
    cost, speed, energy, _, mature = weights
    return where(speed + mature >= cost + energy, "GPU", "TPU")


def hardware_radar(
    benchmark: str,
    scenario: str,
    weights: Sequence[float] = (1, 1, 1, 1, 1),
    own: bool = False,
    stand_ins: bool = False,
    span: float = SPAN,
    among: Sequence[str] | None = None,
) -> Verdict:
    """The chip that leads by the reader's weights, beside the technology that S2's radar points to.

    Parameters
    ----------
    benchmark, scenario, own, stand_ins : as in `figures`
    weights : of `AXES`, as in `standings`
    span : as in `points`
    among : only these chips, by name or alias; all if None

    Raises
    ------
    LookupError : as `figures`; or a chip that is not among those placed on the benchmark.
    ValueError : as `standings`.
    DataError : no chip has all axes that have weight.

    >>> hardware_radar("llama2-70b", "Offline").rule
    'GPU'
    """
    known = figures(benchmark, scenario, own, stand_ins)
    if among is not None:
        chips = [
            one_of(accelerator(name).name, known.index, f"accelerator on {benchmark} {scenario}")
            for name in among
        ]
        known = known.loc[list(dict.fromkeys(chips))]
    scored = scores(known, span)
    ranked = standings(scored, weights)
    if not ranked["complete"].any():
        raise DataError(
            f"hardware_radar: no chip has all axes that have weight on {benchmark} {scenario};"
            " missing: "
            + "; ".join(f"{name} lacks {gaps}" for name, gaps in ranked["missing"].head(4).items())
        )
    name, best = ranked.index[0], ranked.iloc[0]
    chip, open_ = known.loc[name], ranked[~ranked["complete"] & (ranked["high"] > best["low"])]
    named = {other: gaps for other, gaps in open_["missing"].items() if gaps.count(" and ") < 2}
    second = (
        f"; next comes {ranked.index[1]} with {ranked.iloc[1]['low']:.2f}"
        if ranked["complete"].sum() > 1
        else ""
    )
    unweighted = [axis for axis, weight in zip(AXES, weights, strict=True) if not weight]
    best_first = ordered(scored.loc[name].drop(unweighted), ascending=False)
    speed = (
        f"that of MLPerf {chip['round']}"
        if chip["basis"] == MEASURED
        else "its datasheet alone, since nobody submitted it"
    )
    reasons = [
        f"it has {best['low']:.2f} of {FULL:g} points{second}",
        "by axis: " + ", ".join(f"{axis} {score:.1f}" for axis, score in best_first.items()),
        f"its speed is {speed}, its energy that of its {chip['power']}",
    ]
    if len(open_):
        gaps = [f"{other} ({gaps})" for other, gaps in named.items()]
        gaps += [f"{len(open_) - len(named)} with more gaps"] * (len(open_) > len(named))
        reasons.append(f"not ruled out, for want of figures: {', '.join(gaps)}")
    numbers, rule = (
        {
            other: (low, "points")
            for other, low in ranked[ranked["complete"]]["low"].head(4).items()
        },
        source_rule(weights),
    )
    return Verdict(
        "Which hardware should I bet on?",
        name,
        tuple(reasons),
        numbers,
        SOURCE,
        rule,
        chip["kind"] == rule,
    )
