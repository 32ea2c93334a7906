"""Build, buy or call an API: four ways to serve a workload, and the tree's branch."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from scaleright.costs.day_choices import DayChoices
from scaleright.decisions import plan_fleets
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    MULTI_CLOUD,
    RENT,
    SITE,
    FourWays,
    crew_usd_per_year,
    own_site_usd_per_year,
    source_branch,
)
from scaleright.decisions.deployment import source_branch as of_the_document
from scaleright.decisions.plan_workload import Workload
from scaleright.market import Hosts
from scaleright.parameters import validate
from scaleright.press import Book
from scaleright.press.texts import declared
from scaleright.quantity import evaluate, given

BOOK = Book(Path(__file__).resolve().parents[1])
MODELS, CHIPS = ["Llama-3.3-70B", "Llama-3.1-8B"], ["B200", "H100 SXM", "MI325X"]
CASE = {
    "model": MODELS[0],
    "accelerator": CHIPS[0],
    "trace": "conversation",
    "requests_per_day": 1e6,
    "peak_to_mean": 1.4,
    "pace_tokens_per_s": 30.0,
    "ttft_s": 2.0,
    "contract": "reserved",
    "data": "may leave",
    "regions": "one",
    "region": "United States",
}


@pytest.fixture(scope="module")
def four() -> FourWays:
    case = SimpleNamespace(**{name: given(name, value) for name, value in CASE.items()})
    return FourWays.of(case, DayChoices.of(MODELS, CHIPS), CHIPS, Hosts(MODELS))


def decided(four: FourWays, **other) -> tuple[str, float]:
    name, usd = evaluate([*four.best], other)
    return str(name), float(usd)


@pytest.mark.parametrize(
    "other, way",
    [
        ({"requests_per_day": 2000.0}, API),
        ({}, RENT),
        ({"contract": "spot", "accelerator": "MI325X"}, COLOCATION),  # nobody sells it so
        ({"data": "may not leave"}, COLOCATION),
        ({"regions": "several"}, MULTI_CLOUD),
        ({"regions": "several", "data": "stays in the region"}, MULTI_CLOUD),
        ({"requests_per_day": 5e8, "data": "may not leave"}, SITE),
    ],
)
def test_the_cheapest_way_that_may_be_taken(four, other, way):
    assert decided(four, **other)[0] == way


def test_what_is_ruled_out_costs_more(four):
    free, kept = decided(four)[1], decided(four, data="may not leave")[1]
    assert kept >= free


def test_renting_costs_what_the_plan_and_the_day_say(four):
    of = Workload(model=MODELS[0], requests_per_day=1e6, accelerator=CHIPS[0])
    fleets = plan_fleets.Fleets.of(of, MODELS[0], (CHIPS[0],))
    there = fleets.along({"usd": fleets.bill.best[1]}, fleets.rows(1e6))["usd"][0]
    assert evaluate([four.usd[RENT]], {})[0] == pytest.approx(365.25 * there)
    api = plan_fleets.at_api(of, MODELS[0], CHIPS[0], fleets.lengths, 0.0).usd_per_day
    assert evaluate([four.usd[API]], {})[0] == pytest.approx(365.25 * api, rel=0.002)


def test_owned_chips_pay_the_power_of_their_region_and_cost_what_the_plan_says(four):
    of = Workload(model=MODELS[0], requests_per_day=1e6, accelerator=CHIPS[0], region="Germany")
    fleets = plan_fleets.Fleets.of(of, MODELS[0], (CHIPS[0],))
    chips, hours, dear = evaluate(
        [four.chips, four.hours, four.usd[COLOCATION]], {"region": "Germany"}
    )
    each = evaluate([fleets.owned[0]], {"hours_per_day": hours})[0]
    assert dear == pytest.approx(chips * each)
    for way in (COLOCATION, SITE):
        cheap, dear = (evaluate([four.usd[way]], {"region": of})[0] for of in ("Sweden", "Germany"))
        assert cheap < dear


@drawn(st.floats(1e5, 1e7), st.floats(0.5, 10.0), st.floats(0.1, 10.0))
def test_a_site_pays_later_the_less_it_saves(crew, rent, owned):
    usd = float(own_site_usd_per_year(crew, rent, owned))
    assert usd == float("inf") or usd >= crew
    assert float(own_site_usd_per_year(crew, 2 * rent, owned)) <= usd


def test_at_the_threshold_a_site_saves_its_crew():
    crew, rent, owned = crew_usd_per_year(), 2.5, 1.5
    usd = float(own_site_usd_per_year(crew, rent, owned))
    assert usd * (1 - owned / rent) == pytest.approx(crew)


@pytest.mark.parametrize("hours", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("chips", [1, 8])
@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_the_branch_is_that_of_the_document(hours, chips, sensitive, several):
    case = (hours, 36.0, chips, sensitive, several)
    live = given("hours", hours), 36.0, given("chips", chips), given("kept", sensitive), several
    assert str(source_branch(*live).value) == of_the_document(*case)


@pytest.mark.parametrize(
    "values, match",
    [
        ({"data": "may not leave", "regions": "several"}, "rule out"),
        ({"data": "never"}, "may not leave"),
        ({"budget_usd": 0.0}, "budget_usd"),
        ({"workload": "chat_70b"}, "a hospital"),
        ({"pace_tokens_per_s": 150.0, "model": "Llama-3.1-405B"}, "tokens a second"),
    ],
)
def test_bad_input_of_the_page_is_refused_before_work(values, match):
    with pytest.raises(ValueError, match=match):
        validate(declared("plan", BOOK), values)
