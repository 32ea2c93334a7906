"""What plans leave out: below the price that they name it would have won, and above it not."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from scaleright.chapters.plan import study_page, training_page
from scaleright.chapters.plan.hardware import Fleets
from scaleright.chapters.plan.model import plan
from scaleright.chapters.plan.study_live import weighed_on
from scaleright.chapters.plan.study_ways import WIDTHS
from scaleright.chapters.plan.training_ways import ON_SPOT, PAID, Place, platforms
from scaleright.costs.cluster_grid import WAYS as BATCHED
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.platforms import BATCHES
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import RENT, ServiceWays
from scaleright.decisions.hardware_candidates import served_on
from scaleright.decisions.plan_parts import Part
from scaleright.decisions.plan_runs import SPOT, PaidRun, read_at
from scaleright.decisions.plan_tuning import Tunings
from scaleright.decisions.plan_workload import Workload
from scaleright.decisions.unlisted_runs import step_seconds, unlisted_hours
from scaleright.market import Hosts
from scaleright.quantity import given
from scaleright.units import DAYS_PER_YEAR

TRAIN = Workload(work="train", model="Llama-3.1-8B", tokens=1e12, deadline_days=90.0)
TUNE = Workload(work="fine-tune", model="Qwen3-32B", tokens=1e9, deadline_days=30.0)
STUDY = Workload(work="study", variants=24, tokens=2e10, deadline_days=30.0)
SERVE = Workload(requests_per_day=1e6, data="stays in the region")
WINS = re.compile(r"nobody lists the (.+?)( on spot)?: ([\d,]+) of them would win below \$([\d.]+)")
NEAR = (0.98, 1.02)
"""A little less, and a little more."""


def named(part: Part, contract: str) -> tuple[str, float, float]:
    """The accelerator, how many of it, and the price that a plan names [USD/h]."""
    found = WINS.findall("; ".join(part.steps[3].because))
    name, _, chips, price = next(of for of in found if of[1] == contract)
    return name, float(chips.replace(",", "")), float(price)


def train(name: str, chips: float, price: float) -> float:
    ways, costs = training_page.asked_ways(TRAIN), []
    first = (PAID.index(ON_SPOT) * len(platforms()) + platforms().index(name)) * len(BATCHED)
    for at in (n for n, (size, _) in enumerate(BATCHED) if size == chips):
        place = Place.of(float(first + at), ways.case.owned)
        own = {"rent_usd_per_hour": price}
        setting = place.setting(ways.case, ways.grid, ways.precision, **own)
        costs.append(float(PaidRun.of(setting, setting.plan(place.way), False).usd.value))
    return min(costs)


def train_unlisted(name: str, chips: float, price: float) -> float:
    ways = training_page.asked_ways(TRAIN)
    setting = ways.taken.setting(ways.case, ways.grid, ways.precision)
    batch = BATCHES[plan(TRAIN).parts[0].figures["batch"]]
    step_s = step_seconds(TRAIN.model, name, int(chips), batch)
    return price * float(unlisted_hours(setting, step_s, chips, batch).value)


def tune(name: str, chips: float, price: float) -> float:
    runs = Tunings.of(TUNE, "rent", SPOT)
    row = {"accelerator": name, "chips": int(chips), "rent_usd_per_hour": price}
    return runs.more_work(row, 1.0)


def study(name: str, chips: float, price: float) -> float:
    ways = study_page.asked_ways(STUDY)
    on = {"contract": SPOT, "paid": "rent", "nodes": chips / 8, "rent_usd_per_hour": price}
    every = (weighed_on(ways.case, ways.steps, name, width, **on)[0] for width in WIDTHS)
    costs = [float(of.usd.value) for of in every]
    return min(usd for usd in costs if usd > 0)


def serve(name: str, chips: float, price: float) -> float:
    fleets = Fleets.of(SERVE, SERVE.served, served_on())
    tables = DayChoices.of([SERVE.served], [name, "B200"])
    case = SimpleNamespace(**vars(fleets.case) | {"accelerator": given("accelerator", name)})
    case.rent_usd_per_hour = price
    ways = ServiceWays.of(case, tables, [name, "B200"], Hosts([SERVE.served]))
    assert read_at({"chips": ways.taken.fleet.peak * ways.taken.fleet.engine.chips}, {}) == {
        "chips": chips
    }
    return float(ways.usd[RENT].value) / DAYS_PER_YEAR


@pytest.mark.long
@pytest.mark.parametrize(
    "of, contract, bill",
    [
        (TRAIN, " on spot", train),
        (TRAIN, "", train_unlisted),
        (TUNE, " on spot", tune),
        (STUDY, " on spot", study),
        (SERVE, "", serve),
    ],
)
def test_the_price_that_is_named_turns_the_plan(of: Workload, contract: str, bill: Any):
    part = plan(of).parts[0]
    name, chips, price = named(part, contract)
    paid = part.figures.get("usd_per_day") or part.figures["usd"]
    less, more = (bill(name, chips, price * by) for by in NEAR)
    assert less < paid < more


def test_every_chip_that_is_left_out_has_a_reason():
    for why in (left_out.of_services(), left_out.of_trainings(), left_out.of_tunings()):
        assert all(why.values())
        told = left_out.told(why)
        more = sum(int(of) for of in re.findall(r"and (\d+) more", told))
        assert more + sum(name in told for name in why) >= len(why)


def test_no_rent_is_named_where_none_may_be_paid():
    part = plan(Workload(requests_per_day=5e4, data="may not leave")).parts[0]
    told = "; ".join(part.steps[3].because)
    assert "left out: " in told
    assert not WINS.search(told)
