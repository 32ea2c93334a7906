"""One question about power, asked of every chapter that can answer, gets one answer to the digits
shown: the watts of an owned hour, the energy of a run, that of a million tokens; in a format it is
that of the measured run in it.

What a site must provide is a bound beside them, and named so.
"""

from dataclasses import fields
from statistics import median
from types import SimpleNamespace

import pytest
from answer_cases import (
    METERED,
    POWERED,
    REQUESTS,
    SERVING,
    TRAINING,
    Powered,
    Serving,
    choices,
    page_text,
)
from chapter_cells import cells
from scaleright import catalog, charts
from scaleright.costs.owned_hours import owned_terms
from scaleright.costs.ownership import Ownership, made_for_servers, stands
from scaleright.footprint import Footprint, busy_hours, machine, place
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines
from scaleright.inference.serving import steady
from scaleright.power import ENDS, SETTINGS, WORK, Draw, draw, most_watts, serving_share
from scaleright.quantity import evaluate
from scaleright.units import HOURS_PER_YEAR

asked = pytest.mark.parametrize("case", POWERED, ids=lambda case: " ".join(map(str, case)))
HOME = "United States"


@pytest.fixture(scope="session")
def pages() -> dict[str, SimpleNamespace]:
    """What the cells of each chapter make."""
    return {
        "token_cost": cells("token_cost"),
        "hardware_compare": cells("hardware_compare"),
        "hardware_radar": cells("hardware_radar", "used"),
        "buy_or_rent": cells("buy_or_rent"),
        "pretraining_cost": cells("pretraining_cost", "made"),
        "pretraining_records": cells("pretraining_records"),
        "sustainability": cells("sustainability"),
    }


def at(case: dict, *wanted) -> list[float]:
    return [float(value) for value in evaluate(wanted, case)]


def watts_of(usd_per_hour: float, case: Powered) -> float:
    """What an hour draws that costs so much power where the chip stands [W]."""
    terms = owned_terms(case.chip, case.setting)
    return 1000 * usd_per_hour / (terms["pue"] * terms["usd_per_kwh"])


def by_token_cost(pages: dict, case: Powered) -> float | None:
    of = pages["token_cost"]
    if case.work != "serving" or case.chip not in of.tables.chips:
        return None
    here = {"accelerator": case.chip, "setting": case.setting}
    busy, idle = at(here, of.terms.busy_watts, of.terms.idle_watts)
    return idle + (busy - idle) * case.load


def by_hardware_compare(pages: dict, case: Powered) -> float | None:
    of = pages["hardware_compare"]
    if case.chip not in of.tables.chips or not catalog.accelerator(case.chip).purchase_usd:
        return None
    task = "training" if case.work == "training" else "inference"
    here = {"chip": case.chip, "setting": case.setting, "utilization": case.load, "task": task}
    return watts_of(*at(here, of.any_chip.owned.power), case)


def by_hardware_radar(pages: dict, case: Powered) -> float | None:
    of = pages["hardware_radar"]
    if case.work != "serving" or case.chip not in of.chips:
        return None
    here = {"chip": case.chip, "setting": case.setting, "utilization": case.load}
    return watts_of(*at(here, of.used.owned.power), case)


def by_buy_or_rent(pages: dict, case: Powered) -> float | None:
    of = pages["buy_or_rent"]
    if case.work != "serving" or case.chip not in of.prices:
        return None
    here = {"accelerator": case.chip, "setting": case.setting}
    pue, usd_per_kwh = at(here | {"usd_per_kwh": 0.1}, of.terms.pue, of.terms.usd_per_kwh)
    here |= {"hours_per_day": 24 * case.load, "usd_per_kwh": 0.1}
    return 1000 * at(here, of.bill.power_usd)[0] / HOURS_PER_YEAR / (pue * usd_per_kwh)


def by_pretraining_cost(pages: dict, case: Powered) -> float | None:
    of = pages["pretraining_cost"]
    here = Powered(case.chip, "data center", "training", 1.0)
    if case != here or case.chip not in of.steps.names:
        return None
    return watts_of(*at({"accelerator": case.chip, "paid": "own"}, of.run.hour.power_usd), case)


def by_pretraining_records(pages: dict, case: Powered) -> float | None:
    of = pages["pretraining_records"]
    if case != Powered(case.chip, "data center", "training", 1.0):
        return None
    newest = {"round": "all", "measure": "time"}
    for benchmark in choices("pretraining_records")["benchmark"]:
        there = newest | {"benchmark": benchmark}
        if evaluate([of.run.chip], there)[0] == case.chip:
            return at(there, of.watts)[0]
    return None


def by_sustainability(pages: dict, case: Powered) -> float | None:
    """Of serving it takes the chip that was measured with the model; all around it is the same."""
    of = pages["sustainability"]
    home = catalog.accelerator(case.chip).segment == "consumer"
    stand = stands(case.setting, made_for_servers(case.chip))
    if stand != ("home" if home else "data center") or case.load == 0:
        return None
    here = {"task": case.work, "accelerator": case.chip}
    if case.work == "training":
        here |= {"chip_hours": 1e3, "utilization": case.load, "pue": 1.0}
        return at(here, of.energy.total)[0] * case.load
    around = [part.name for part in fields(Draw)][1:]
    (*hosted, network) = (getattr(of.machine, part) for part in around)
    drawn = [*at(here, *hosted), *at({"accelerator": case.chip}, network)]
    return Draw(draw(case.chip, "serving").chip_watts, *drawn).watts(case.load)


ASKERS = {
    "token_cost": by_token_cost,
    "hardware_compare": by_hardware_compare,
    "hardware_radar": by_hardware_radar,
    "buy_or_rent": by_buy_or_rent,
    "pretraining_cost": by_pretraining_cost,
    "pretraining_records": by_pretraining_records,
    "sustainability": by_sustainability,
}


@pytest.fixture(scope="session")
def answers(pages) -> dict[Powered, dict[str, float]]:
    """What every chapter says of every case, if it can."""
    said = {case: {name: ask(pages, case) for name, ask in ASKERS.items()} for case in POWERED}
    return {
        case: {name: watts for name, watts in found.items() if watts is not None}
        for case, found in said.items()
    }


@asked
def test_all_say_the_same_of_the_watts_of_an_hour(answers, case):
    found = answers[case]
    stand = stands(case.setting, made_for_servers(case.chip))
    drawn = draw(case.chip, case.work, stand).watts(case.load)
    assert found, "nobody answers"
    assert dict.fromkeys(found, charts.say(drawn, "whole")) == {
        name: charts.say(watts, "whole") for name, watts in found.items()
    }
    assert drawn < most_watts(case.chip, stand)


def test_each_chapter_is_asked_several_of_them(answers):
    asked_of = {name: sum(name in found for found in answers.values()) for name in ASKERS}
    assert min(asked_of.values()) >= 1 and sum(asked_of.values()) >= 50, asked_of
    assert sum(len(found) >= 3 for found in answers.values()) >= 10


@pytest.mark.parametrize("of", TRAINING[:8], ids=lambda of: f"{of[0]} on {of[2]} {of[1]}")
def test_what_a_run_is_billed_for_power_is_what_it_takes_of_the_grid(pages, of):
    """Of chips that are owned, and by the chapter on the planet at as many chip-hours."""
    run, made = pages["pretraining_cost"].run, pages["pretraining_cost"].made
    case = dict(zip(("model", "accelerator", "chips", "batch", "precision"), of, strict=True))
    hours, kwh, usd = at(
        case | {"paid": "own"}, run.hours.total, made.energy.total, run.hour.power_usd
    )
    assert usd * hours / owned_terms(of[1], "data center")["usd_per_kwh"] == pytest.approx(
        kwh, rel=1e-5
    )
    there = pages["sustainability"].energy.total
    planet = {"task": "training", "accelerator": of[1], "chip_hours": hours, "utilization": 1.0}
    (same,) = at(planet | {"pue": place(HOME).pue}, there)
    assert charts.say(same, "kWh") == charts.say(kwh, "kWh")


SPEED = (
    *("model", "accelerator", "precision", "pace_tokens_per_s"),
    *("input_tokens", "output_tokens", "cached_share"),
)
TOKENS = [case for case in SERVING if case.paid == "own"]


@pytest.mark.parametrize("case", TOKENS, ids=lambda case: " ".join(map(str, case)))
def test_a_million_tokens_cost_the_power_that_the_planet_pays_for(pages, case: Serving):
    of, form = pages["token_cost"], {"model": case.model, "precision": case.form}
    chip = of.tables.chips[case.chip]
    here = {"accelerator": case.chip, "setting": "data center"}
    (pue,) = at(here, of.terms.pue)
    asked = form | here | {"utilization": case.load, "chip_usd": chip["chip_usd"]}
    names = "input_tokens", "output_tokens", "cached_share"
    asked |= dict(zip(names, map(float, REQUESTS[case.request]), strict=True))
    asked |= {"pace_tokens_per_s": case.pace}
    low, high = (at(asked | {"usd_per_kwh": usd}, of.price.owned)[0] for usd in (0.0, 1.0))
    (tokens_per_s,) = at(
        {name: value for name, value in asked.items() if name in SPEED}, of.speed.tokens_per_s
    )
    made = Footprint.of(
        machine(case.chip, "serving"), busy_hours(1e6, tokens_per_s), case.load, place(HOME)
    )
    assert pue == place(HOME).pue
    assert charts.say(1000 * (high - low), "si Wh") == charts.say(made.energy.watt_hours, "si Wh")


def test_a_chip_draws_in_serving_what_its_usual_engines_are_predicted_to():
    """The share that owned hours take beside the model of watts that is fitted to the same meters:
    in the middle of the cheapest engines of all cases the two agree, and nine in ten lie within.
    """
    ratios, within = [], []
    for case in SERVING:
        chip, load = catalog.accelerator(case.chip), Load(*REQUESTS[case.request])
        for d in engines(catalog.model(case.model), chip)[:1]:  # the fewest chips, all slots taken
            drawn = float(steady(d, load).watts_per_chip) / chip.require("tdp_watts")
            low, best, high = (serving_share(case.chip, end) for end in ENDS)
            ratios.append(drawn / best)
            within.append(low <= drawn <= 1.03 * high)
    assert len(ratios) > 30 and 0.9 < median(ratios) < 1.15, median(ratios)
    assert sum(within) >= 0.9 * len(within)


def test_whole_servers_draw_in_serving_what_was_metered():
    """B200 at full speed; others were clocked down for their runs with a meter, and draw less."""
    runs = catalog.table("measured/energy")
    runs = runs[runs["boundary"] == "server"]
    each = runs["measured_watts"] / runs["accelerators"].astype(float)
    for chip, watts in each.groupby(runs["accelerator"]):
        drawn = draw(chip, "serving")
        server = drawn.chip_watts + drawn.host_watts
        assert watts.median() < 1.05 * server, chip
        if chip == "B200":
            assert watts.median() > 0.95 * server


SAID = {
    "buy_or_rent": "The power of a busy chip is that measured in serving",
    "sustainability": "Serving uses measured power and speed of the chips",
    "pretraining_records": "Energy at the power limits is an upper bound for the chips alone",
}
"""What each page says of its watts where others have reason to take others."""


@pytest.mark.parametrize("chapter, words", SAID.items(), ids=SAID)
def test_a_page_says_what_it_counts(chapter, words):
    assert words in page_text(chapter)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("end", ENDS)
def test_nothing_draws_less_at_work_than_vacant_nor_more_than_its_limits(setting, work, end):
    for name, chip in catalog.accelerators().items():
        if not chip.tdp_watts:
            continue
        drawn = draw(name, work, setting, end)
        assert drawn.chip_watts >= drawn.chip_idle_watts, name
        assert drawn.host_watts >= drawn.host_idle_watts, name
        assert drawn.busy_watts <= most_watts(name, setting, end) * (1 + 1e-6), name


@pytest.mark.parametrize("chip", ["H100 SXM", "B200", "GB300", "MI300X", "L40S", "L4"])
def test_a_building_is_paid_for_by_the_limits_and_electricity_by_what_is_drawn(chip):
    terms = Ownership.typical(chip, "data center")
    assert terms.most_watts == pytest.approx(most_watts(chip, "data center"))
    assert terms.most_watts > terms.busy_watts
    assert 0.05 < terms.idle_watts / terms.busy_watts < 0.5


@pytest.mark.parametrize("case", METERED, ids=lambda case: " ".join(map(str, case)))
def test_a_token_takes_the_energy_of_the_run_in_its_format(pages, case):
    """As published, of the least hungry configuration with as many sequences together."""
    metered = pages["sustainability"]
    here = {"model": case.model, "accelerator": case.chip}
    here |= {"batch": case.batch, "precision": case.form}
    joules, form, known, nobody = evaluate(
        [metered.of.joules_per_token, metered.point.precision, metered.known, metered.nobody], here
    )
    assert bool(known) == bool(case.run) and form == case.run
    if not known:
        assert f"on the {case.chip} in {case.form}, only in BF16" in nobody
        return
    runs = catalog.table("measured/energy").query(
        "task == 'chat' and boundary == 'accelerator' and model == @case.model"
        " and accelerator == @case.chip and precision == @case.run"
        " and max_sequences == @case.batch"
    )
    assert joules == pytest.approx(runs["measured_joules_per_token"].min(), rel=2e-3)
