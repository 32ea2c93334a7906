"""The run of training that a plan takes: what it is, and what the chapters are asked of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright import footprint
from scaleright import scaling_laws as laws
from scaleright.catalog import model
from scaleright.chapters.plan.page import (
    NAN,
    Question,
)
from scaleright.chapters.plan.training_ways import (
    BUY,
    DEADLINES,
    FP8,
    OWN,
    PAID,
    Place,
    TrainingWays,
    platforms,
)
from scaleright.costs.break_even import compute_usd
from scaleright.costs.ownership import REGIONS
from scaleright.costs.platform_terms import rents
from scaleright.costs.platforms import FREE as FREE_BATCH
from scaleright.costs.pretraining import people_usd, pretraining_usd, project
from scaleright.costs.pretraining_run import Doubts, Run
from scaleright.decisions.build_buy import arrival_days
from scaleright.decisions.cluster_efficiency import Plan, Setting
from scaleright.decisions.plan_runs import LONGEST, SPOT, USUAL, PaidRun
from scaleright.footprint import Footprint, Machine
from scaleright.market import matmul_chips
from scaleright.ops import (
    exp,
    maximum,
    minimum,
    normal_quantile,
    where,
)
from scaleright.quantity import at, choose, look_up
from scaleright.training.layout import usual_sequence
from scaleright.transformer import training_flop
from scaleright.transformer.parameters import parameters


@dataclass(frozen=True)
class Taken:
    """The run that is taken, or the one that comes nearest.

    place : which it is; spot, own, buys : how its chips are paid
    setting, plan, run, paid : what it is
    low, high : the ends of what it costs, nine of ten [USD]
    swings : what its chapter has it cost with each doubt at either end [USD]
    """

    place: Place
    spot: Any
    own: Any
    buys: Any
    setting: Setting
    plan: Plan
    run: Run
    paid: PaidRun
    low: Any
    high: Any
    swings: Mapping[str, tuple[Any, Any]]

    @classmethod
    def of(cls, ways: TrainingWays) -> Self:
        """That of the ways of a case."""
        place = ways.taken
        own, buys = place.paid == PAID.index(OWN), place.paid == PAID.index(BUY)
        setting = place.setting(ways.case, ways.grid, ways.precision)
        plan = setting.plan(place.way)
        paid, doubts = PaidRun.of(setting, plan, buys), Doubts.of(plan.run, ways.case.tuning)
        moving = setting.plan(place.way, **doubts.free).run
        spread, part = doubts.spread(moving), paid.usd / paid.billed
        usual = {"price": 1.0, "pace": 1.0, "luck": "usual"}
        swings = {}
        for (name, ends), free in zip(doubts.ends.items(), usual, strict=True):
            pair = (at(moving.usd, **usual | {free: end}) for end in (ends.low, ends.high))
            one, other = pair
            swings[name] = minimum(one, other), maximum(one, other)
        low, high = spread.low_usd * part, spread.high_usd * part
        rest = setting, plan, plan.run, paid, low, high, swings
        return cls(place, place.spot, own, buys, *rest)


def parameters_of(ways: TrainingWays) -> Any:
    size = {name: float(parameters(model(name)).total) for name in ways.models}
    return look_up(size, ways.case.model)


def project_of(of: Taken) -> Any:
    """The run with its experiments and people, as its chapter has it."""
    usual = project()
    people = people_usd(usual["person_years"], usual["pay_usd_per_year"])
    parts = {"experiments": usual["experiments"], "people_usd": people}
    return pretraining_usd(**of.run.hours.parts(), **of.run.hour.at(1.0), **parts)


CHEAP, CHEAPER = "cheapest quarter", "rent from the cheapest quarter of sellers"
WORTH = 0.005
"""The least that a lever saves that is told [1]."""
LARGEST_SPLIT = 4096.0
"""The most chips that the chapter on layouts splits."""


def levers_of(ways: TrainingWays, of: Taken) -> dict[str, Any]:
    """What the run costs with each lever, NaN where it is none [USD]."""
    place, rented = of.place, ~(of.own | of.buys)
    fp8 = place.setting(ways.case, ways.grid, FP8).plan(place.way)
    cheap = place.setting(ways.case, ways.grid, ways.precision, seller=CHEAP).plan(place.way)
    return {
        "train in FP8": where(ways.precision == FP8, NAN, fp8.usd),
        CHEAPER: where(rented, cheap.usd, NAN),
    }


def footprint_of(of: Taken, where_: Any, regions: Any) -> Footprint:
    machine = Machine(**choose(footprint.machines(platforms()), of.place.chip, "training"))
    there = choose({name: vars(footprint.place(name)) for name in regions}, where_)
    return Footprint.of(machine, of.run.hours.total, 1.0, footprint.Place(**there))


def questions(ways: TrainingWays, of: Taken) -> dict[int, list[Question]]:
    """The questions to the chapters that take all of the run, by step."""
    case, place, run, read = ways.case, of.place, of.run, ways.case.tokens * of.plan.more
    form = ways.grid.trust.row("dense", place.chip, ways.precision)["format"]
    shared = {
        "model": case.model,
        "tokens": read,
        "accelerator": place.chip,
        "chips": place.chips,
        "precision": form,
        "tuning": case.tuning,
        "paid": where(of.own | of.buys, "own", "rent"),
        "contract": where(of.spot, SPOT, USUAL["contract"]),
        "seller": USUAL["seller"],
        "chip_hours_per_interruption": of.setting.case.chip_hours_per_interruption,
    }
    cost = shared | {"batch": place.batch}

    def asked(figures: Mapping[str, Any], there: Any = True, **change: Any) -> Question:
        return Question("pretraining_cost", cost | change, figures, there)

    part = of.paid.usd / of.paid.billed
    ends = {"spread.low_usd": of.low / part, "spread.high_usd": of.high / part}
    levers = levers_of(ways, of)
    size = {"train in FP8": {"precision": FP8}, CHEAPER: {"seller": CHEAP}}
    saves = [
        asked({"run.usd": usd}, 1 - usd / run.usd > WORTH, **size[name])
        for name, usd in levers.items()
    ]
    sooner = (_other_asked(ways, cost, ways.place(f"in_{days:g}", True)) for days in DEADLINES)
    return {
        1: [asked({"run.hours.total": run.hours.total})],
        2: [asked({"run.usd": run.usd, "run.cost.total": project_of(of).total})],
        3: [_law_asked(ways, of)],
        4: [
            asked({"run.usd": run.usd, "run.days": of.paid.days}),
            _cluster_asked(ways, of, shared),
            _other_asked(ways, cost, ways.place("next", True)),
        ],
        5: [_split_asked(ways, of, form), asked({"run.step.mfu": run.step.mfu})],
        6: saves,
        7: [asked(ends)],
        8: [_planet_asked(ways, of)],
        9: [asked({"run.usd": run.usd}), *sooner],
    }


def _other_asked(ways: TrainingWays, cost: dict[str, Any], other: Place) -> Question:
    """The question for another run that is rented; cost : that for the one that is taken."""
    setting = other.setting(ways.case, ways.grid, ways.precision)
    own = {
        "tokens": ways.case.tokens * setting.plan(other.way).more,
        "accelerator": other.chip,
        "chips": other.chips,
        "batch": other.batch,
        "paid": "rent",
        "precision": ways.grid.trust.row("dense", other.chip, ways.precision)["format"],
        "contract": where(other.spot, SPOT, USUAL["contract"]),
        "chip_hours_per_interruption": setting.case.chip_hours_per_interruption,
    }
    there = other.there & (other.paid < PAID.index(BUY))
    return Question("pretraining_cost", cost | own, {"run.usd": ways.figure("usd", other)}, there)


def _cluster_asked(ways: TrainingWays, of: Taken, shared: Mapping[str, Any]) -> Question:
    """The run in the chapter on how many chips, its batch left to that and a day worth nothing."""
    case, read = ways.case, ways.case.tokens * of.plan.more
    late = normal_quantile(case.deadline_chance)
    left = case.deadline_days - where(of.buys, arrival_days(late), 0.0)
    soon = minimum(left * exp(-late * of.paid.spread), LONGEST)
    there = (read >= 1e10) & (read <= 1e14) & (soon >= 1.0)
    figures = {"yours.usd": of.run.usd, "yours.days": of.paid.days, "yours.batch": of.plan.batch}
    more = {"deadline_days": soon, "value_usd_per_day": 0.0, "batch": FREE_BATCH}
    return Question("cluster_efficiency", {**shared, **more}, figures, there)


def _split_asked(ways: TrainingWays, of: Taken, form: Any) -> Question:
    sequences = {name: float(usual_sequence(model(name))) for name in ways.models}
    sequence = look_up(sequences, ways.case.model)
    values = {
        "model": ways.case.model,
        "accelerator": of.place.chip,
        "chips": minimum(of.place.chips, LARGEST_SPLIT),
        "precision": form,
        "sequence": sequence,
        "global_batch": of.plan.batch / sequence,
    }
    whole = of.place.chips <= LARGEST_SPLIT
    return Question("parallelism", values, {"split.fastest_mfu": of.run.step.mfu}, whole)


def _law_asked(ways: TrainingWays, of: Taken) -> Question:
    """The size that so much arithmetic trains best: for a budget that buys just that, at the share
    of the peak of the run.
    """
    peaks = choose({name: matmul_chips()[name] for name in platforms()}, of.place.chip)
    flop, mfu = training_flop(parameters_of(ways), ways.case.tokens), of.run.step.mfu
    by_the_hour = rents().paid(of.place.chip, USUAL["contract"], USUAL["seller"], 0.0)
    mfu = minimum(maximum(mfu, 0.05), 0.8)
    values = {
        "accelerator": of.place.chip,
        "budget_usd": compute_usd(flop, peaks.bf16_flops, mfu, by_the_hour.usd),
        "contract": USUAL["contract"],
        "mfu": mfu,
    }
    law = laws.fit(laws.points())
    best = laws.compute_optimal_parameters(flop, **law.terms)
    return Question("scaling_laws", values, {"size": best}, by_the_hour.usd > 0)


def _planet_asked(ways: TrainingWays, of: Taken) -> Question:
    made, hours = footprint_of(of, ways.case.region, REGIONS), of.run.hours.total
    values = {
        "task": "training",
        "accelerator": of.place.chip,
        "chip_hours": hours,
        "utilization": 1.0,
        "place": ways.case.region,
    }
    figures = {
        "made.energy.watt_hours": made.energy.watt_hours,
        "made.carbon.total": made.carbon.total,
        "made.water.total": made.water.total,
    }
    return Question("sustainability", values, figures, hours >= 1)
