"""Build, buy or call an API: every way to serve a workload, and the tree's branch."""

from dataclasses import replace

import numpy as np
import pytest
from cases import defaults, quantities
from hypothesis import given as drawn
from hypothesis import strategies as st
from scaleright.chapters.buy_or_rent.model import source_branch as of_the_document
from scaleright.chapters.plan import service_page as plan_service
from scaleright.chapters.plan.hardware import Fleets
from scaleright.chapters.plan.model import plan
from scaleright.costs.day_choices import DayChoices
from scaleright.decisions.build_buy import (
    API,
    COLOCATION,
    HYBRID,
    MULTI_CLOUD,
    RENT,
    ROOM,
    SITE,
    SPILL,
    OwnedBase,
    ServiceWays,
    bought_as,
    crew_usd_per_year,
    own_site_usd_per_year,
    room_watts,
    source_branch,
)
from scaleright.decisions.hardware_candidates import served_on
from scaleright.decisions.plan_parts import chance
from scaleright.decisions.plan_workload import Workload
from scaleright.market import BEST, Hosts
from scaleright.ops import INFINITY
from scaleright.quantity import evaluate, given

MODELS = ["Llama-3.3-70B", "Llama-3.1-8B"]
CHIPS = ["B200", "H100 SXM", "MI325X", "RTX PRO 6000"]
CASE = defaults("plan") | {"model": MODELS[0], "accelerator": CHIPS[0], "contract": "reserved"}


def ways_of(chips: list[str]) -> ServiceWays:
    case = quantities(CASE)
    return ServiceWays.of(case, DayChoices.of(MODELS, chips), chips, Hosts(MODELS))


@pytest.fixture(scope="module")
def ways() -> ServiceWays:
    return ways_of(CHIPS)


@pytest.fixture(scope="module")
def servers() -> ServiceWays:
    """The ways on every accelerator that servers come with."""
    return ways_of([*served_on()])


def decided(ways: ServiceWays, **other) -> tuple[str, float]:
    name, usd = evaluate([*ways.best], other)
    return str(name), float(usd)


@pytest.mark.parametrize(
    "other, way",
    [
        ({"requests_per_day": 2000.0}, API),
        ({"data": "stays in the region"}, RENT),
        (  # nobody sells it so
            {"contract": "spot", "accelerator": "MI325X", "data": "stays in the region"},
            COLOCATION,
        ),
        ({"data": "may not leave"}, COLOCATION),
        ({"data": "may not leave", "accelerator": BEST, "requests_per_day": 3000.0}, ROOM),
        ({"regions": "several"}, API),
        ({"regions": "several", "data": "stays in the region"}, MULTI_CLOUD),
        ({"requests_per_day": 5e8, "data": "may not leave"}, SITE),
    ],
)
def test_the_cheapest_way_that_may_be_taken(ways, other, way):
    assert decided(ways, **other)[0] == way


@pytest.mark.parametrize("other", [{}, {"requests_per_day": 3000.0}, {"data": "may not leave"}])
def test_what_is_ruled_out_costs_more(ways, other):
    """A reader who names an accelerator or a contract, or keeps data, has fewer ways."""
    free = decided(ways, accelerator=BEST, contract=BEST, **other)[1]
    for told in ({"accelerator": "H100 SXM"}, {"contract": "one year"}, {"data": "may not leave"}):
        kept = decided(ways, **{"accelerator": BEST, "contract": BEST} | other | told)[1]
        assert kept >= free


def test_a_room_bears_a_few_cards_and_nothing_that_is_made_for_servers(ways):
    case = {"accelerator": "RTX PRO 6000"}
    for per_day, usual in ((3000.0, True), (1e7, False)):
        usd = evaluate([ways.usd[ROOM]], case | {"requests_per_day": per_day})[0]
        assert (usd < float("inf")) == usual
    assert evaluate([ways.usd[ROOM]], case | {"accelerator": "B200"})[0] == float("inf")
    assert bought_as("RTX PRO 6000")["each"] == 1.0


def test_renting_costs_what_the_day_says(ways):
    of = Workload(model=MODELS[0], requests_per_day=1e6, accelerator=CHIPS[0])
    fleets = Fleets.of(of, MODELS[0], (CHIPS[0],))
    row = {"accelerator": CHIPS[0], "contract": CASE["contract"]}
    there = fleets.at({"usd": fleets.ways.one.bill.best[1]}, row)["usd"]
    assert evaluate([ways.usd[RENT]], {})[0] == pytest.approx(365.25 * there)


def test_owned_chips_pay_the_power_of_their_region(ways):
    for way, chip in ((COLOCATION, "B200"), (SITE, "B200"), (ROOM, "RTX PRO 6000")):
        case = {"accelerator": chip, "requests_per_day": 3000.0}
        cheap, dear = (
            evaluate([ways.usd[way]], case | {"region": of})[0] for of in ("Sweden", "Germany")
        )
        assert cheap < dear


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"requests_per_day": 3000.0},
        {"requests_per_day": 3000.0, "data": "may not leave"},
        {"requests_per_day": 2e7, "trace": "code completion", "region": "France"},
        {"requests_per_day": 3e8, "data": "may not leave"},
        {"requests_per_day": 2e5, "model": MODELS[1], "pace_tokens_per_s": 60.0},
        {"requests_per_day": 5e4, "data": "stays in the region", "accelerator": "H100 SXM"},
        {"requests_per_day": 3e6, "peak_to_mean": 2.5},
        {"requests_per_day": 5e4, "peak_to_mean": 2.5, "accelerator": "RTX PRO 6000"},
        {"requests_per_day": 5e5, "data": "may not leave", "owned": "H100 SXM", "owned_chips": 8},
        {"requests_per_day": 3e6, "peak_to_mean": 2.5, "owned": "B200", "owned_chips": 4},
    ],
)
def test_the_page_decides_as_the_command_does(servers, other):
    """The same way, on the same accelerator, at the same price."""
    asked = {"accelerator": BEST, "contract": BEST} | other
    case, wanted = CASE | asked, [*servers.best, servers.sureness, servers.taken.case.accelerator]
    name, usd, sure, chip = evaluate(wanted, asked)
    names = ("model", "requests_per_day", "trace", "data", "region", "pace_tokens_per_s")
    names += ("peak_to_mean", "owned", "owned_chips")
    of = {of: case[of] for of in names if of in case and case[of] != "none"}
    named = None if case["accelerator"] == BEST else case["accelerator"]
    part = plan(Workload(**of, accelerator=named)).parts[0]
    own = "use what you own" if chip == case["owned"] else "own"
    said = {API: API, RENT: "rent", HYBRID: HYBRID, SPILL: SPILL}.get(name, own)
    assert part.figures["way"] == said
    assert part.figures["usd_per_year"] == pytest.approx(usd, rel=1e-6)
    assert part.figures["accelerator"] == chip
    assert part.sure.startswith("certain") or f"({chance(sure)})" in part.sure


@pytest.mark.parametrize(
    "other", [{"budget_usd": 20_000.0}, {"budget_usd": 50_000.0, "data": "may not leave"}]
)
def test_the_page_says_what_has_to_give_as_the_command_does(other):
    """The same changes with the same numbers, the least first."""
    asked = CASE | {"accelerator": BEST, "contract": BEST} | other
    case = quantities(asked)
    tables, hosts = DayChoices.of(MODELS, [*served_on()]), Hosts(MODELS)
    ways = ServiceWays.of(case, tables, [*served_on()], hosts)
    own = plan_service.own_plan(case, ways, tables, hosts)
    (part,) = plan(Workload(requests_per_day=1e6, **other)).parts
    changes = [of.says.replace("1.00 million", "1,000,000") for of in part.broken.relaxations]
    assert len(changes) >= 2
    assert not own.met.value and str(own.decision.value).endswith(changes[0])
    assert str(own.helps.value).endswith("What would help: " + "; or ".join(changes) + ".")
    assert sorted(own.steps) == sorted(own.questions) == [*range(1, 10)]


@pytest.mark.parametrize("chip", ["B200", "RTX PRO 6000"])
@pytest.mark.parametrize("spare", [0, 2])
def test_a_base_with_an_api_beyond_it_has_the_size_that_costs_least(chip, spare):
    """And needs no engines that stand by; all in all it costs no more than the API alone does where
    it stands.
    """
    of = Workload(model=MODELS[0], requests_per_day=1.0, peak_to_mean=2.5, accelerator=chip)
    one = Fleets.of(replace(of, spare_engines=spare), MODELS[0], (chip,)).ways.one
    for per_day, asks in ((1e5, 150.0), (3e6, 2900.0), (3e6, 1e6)):
        case = {"chip": chip, "under": "reserved", "requests_per_day": per_day}
        spill = OwnedBase.of(one.own, one.fleet, one.rents, 0.0, asks * 365.25)
        best, peak, spared = evaluate([spill.usd, one.fleet.peak, one.fleet.spare_engines], case)
        sizes = np.arange(1.0, min(peak - spared, 3 if chip == "RTX PRO 6000" else peak))
        tried = OwnedBase.of_so_many(
            given("engines", 1.0), one.own, one.fleet, one.rents, 0.0, asks * 365.25
        )
        usd = evaluate([tried.usd], case | {"engines": sizes})[0] if sizes.size else INFINITY
        others = evaluate([one.own.usd[COLOCATION], one.own.usd[ROOM]], case)
        assert min(best, asks * 365.25, *others) <= np.min(usd) * 1.0005


@pytest.mark.parametrize("chip", ["B200", "H100 SXM", "RTX PRO 6000"])
@pytest.mark.parametrize("owned", [0, 3, 24])
def test_a_base_of_ones_own_has_the_size_that_costs_least(chip, owned):
    """Of all sizes, none and all too; and with one chip more of one's own no way costs more."""
    of = Workload(model=MODELS[0], requests_per_day=1.0, peak_to_mean=2.5, accelerator=chip)
    have = [replace(of, owned=chip, owned_chips=many) for many in (owned, owned + 1)]
    less, more = (Fleets.of(one, MODELS[0], (chip,)).ways.one for one in have)
    tried = OwnedBase.of_so_many(given("engines", 1.0), less.own, less.fleet, less.rents, owned)
    for per_day in (2e5, 3e6):
        case = {"chip": chip, "under": "reserved", "requests_per_day": per_day}
        best, chips, peak = evaluate([less.base.usd, less.base.chips, less.fleet.peak], case)
        sizes = np.arange(1.0, peak)
        if chip == "RTX PRO 6000":  # the room bears no more
            assert chips * 600 <= room_watts() * 1.2
            sizes = sizes[:2]
        usd = evaluate([tried.usd], case | {"engines": sizes})[0] if sizes.size else INFINITY
        ways = (less.bill.best[1] * 365.25, less.own.usd[COLOCATION], less.own.usd[ROOM])
        ways = ways[:2] if chip in {"B200", "H100 SXM"} else ways
        assert min(best, *evaluate([*ways], case)) <= np.min(usd) * 1.0005
        before, after = (evaluate([of.base.usd, *of.own.usd.values()], case) for of in (less, more))
        assert all(b <= a * 1.0005 for a, b in zip(before, after, strict=True))


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
