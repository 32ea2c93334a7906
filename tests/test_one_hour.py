"""An hour of a chip under a contract from a seller costs the same in every chapter that pays for
it, and what follows from it follows the contract.
"""

import math
from types import SimpleNamespace

import pytest
from answer_cases import PAID, Paid, choices
from chapter_cells import cells
from scaleright import market
from scaleright.mlperf import training
from scaleright.parameters import refusal
from scaleright.press.texts import declared
from scaleright.quantity import at, evaluate, given

ANSWERED = {  # by chapter, what is computed by the time that an hour is paid
    "buy_or_rent": "rents",
    "gpu_prices": "asked",
    "hardware_radar": "prices",
    "mlperf": "found",
    "pretraining_records": "spent",
    "parallelism": "day",
    "architecture_bets": "prices",
    "scaling_laws": "train",
    "scaling_math": "run_usd",
}
BESIDE = {"parallelism", "scaling_math"}
"""Chapters whose answer needs no price."""
OF_ALL = {"architecture_bets", "pretraining_records"}
"""Chapters in which all sellers count where one does not rent a chip out."""


@pytest.fixture(scope="module")
def pages() -> dict[str, SimpleNamespace]:
    """What the cells of each chapter compute until it pays for an hour."""
    return {name: cells(name, until) for name, until in ANSWERED.items()}


def record_on(chip: str) -> dict[str, str]:
    """A record on such chips: a benchmark, its round and its measure; none where there is none."""
    keys = (
        key
        for key, run in training.best_runs().items()
        if run["priced_as"] == chip and key[2] in training.LEAST
    )
    return dict(zip(("benchmark", "round", "measure"), next(keys, ()), strict=False))


def asked(pages: dict, case: Paid) -> dict[str, tuple]:
    """What each chapter says that can answer: the hour, something that is paid by it and how many
    hours that is, and the case in the names of the chapter.
    """
    paid = {"contract": case.contract, "seller": case.seller}
    chip = paid | {"accelerator": case.chip}
    found = {}
    of = pages["buy_or_rent"]
    yearly = of.rents.hour.paid_hours(of.case.contract, of.case.hours_per_day) * 365.25
    found["buy_or_rent"] = (of.rents.hour.usd, of.rented, yearly, chip)
    of = pages["gpu_prices"]
    found["gpu_prices"] = (of.asked.here.usd, of.asked.here.usd, 1.0, chip)
    of = pages["hardware_radar"]
    hour = of.prices.hour(given("chip", "H100 SXM"), of.case).usd
    found["hardware_radar"] = (hour, hour, 1.0, paid | {"chip": case.chip})
    of = pages["mlperf"]
    if case.chip in choices("mlperf")["new_chip"]:
        old = "H100 PCIe" if case.chip == "H100 SXM" else "H100 SXM"
        pair = paid | {"new_chip": case.chip, "old_chip": old, "rent_old": 2.0, "metric": "dollar"}
        per_chip = at(of.found.value, metric="chip")
        if evaluate([per_chip, of.found.value], pair)[0] > 0:  # they meet
            found["mlperf"] = (of.found.hour.usd, 2.0 * per_chip / of.found.value, 1.0, pair)
    of = pages["pretraining_records"]
    if market.listed_hour(*case) and (record := record_on(case.chip)):  # else all sellers count
        paid_share = of.rent / of.case.rent_share
        found["pretraining_records"] = (of.hour.usd, paid_share, of.chip_hours, paid | record)
    of = pages["parallelism"]
    if case.chip in of.terms:
        found["parallelism"] = (of.hour.usd, of.day, of.case.chips * 24.0, chip)
    of = pages["architecture_bets"]
    if case.chip in of.hours and market.listed_hour(*case):
        paid = paid | {"bet": case.chip, "rival": case.chip}  # whom both are rented from
        found["architecture_bets"] = (of.hours[case.chip].usd, of.prices[case.chip], 1.0, paid)
    of = pages["scaling_laws"]
    if case.chip in of.chips:
        hour_flop = of.chip.bf16_flops * of.trained * 3600.0
        found["scaling_laws"] = (of.hour.usd, of.train * hour_flop, 1.0, chip)
    of = pages["scaling_math"]
    run_hours = of.run_flop / (of.chip.bf16_flops * of.case.utilization * 3600.0)
    found["scaling_math"] = (of.hour.usd, of.run_usd, run_hours, chip)
    return found


@pytest.mark.parametrize("case", PAID, ids=" ".join)
def test_an_hour_costs_the_same_wherever_it_is_paid_for(pages, case):
    listed = market.listed_hour(*case)
    answers = asked(pages, case)
    assert len(answers) >= 4
    for chapter, (hour, paid, hours, here) in answers.items():
        usd, bill, many = evaluate([hour, paid + 0 * hour, 1.0 * hours + 0 * hour], here)
        if listed is None:
            assert math.isnan(usd), chapter
            continue
        assert usd == pytest.approx(listed.usd, rel=1e-6), chapter
        assert bill == pytest.approx(usd * many, rel=1e-6), chapter


def test_each_chapter_is_asked_several_of_them(pages):
    counts = {name: sum(name in asked(pages, case) for case in PAID) for name in ANSWERED}
    assert min(counts.values()) >= 6, counts


@pytest.mark.parametrize("chapter", [name for name in ANSWERED if name not in BESIDE | OF_ALL])
def test_an_hour_that_nobody_sells_is_refused_with_a_contract_that_is_sold(pages, chapter):
    """Where the answer is what an hour costs; a layout has an answer without a price."""
    unsold = Paid("H200 SXM", "spot", "Lambda")
    *_, here = asked(pages, unsold)[chapter]
    names = {of.name for of in declared(chapter)}
    if chapter == "hardware_radar":  # refused where its reference chip has no price
        here = {"contract": "spot", "seller": "Lambda"}
    said = refusal(declared(chapter), {k: v for k, v in here.items() if k in names})
    assert "nearest" in said and "Lambda" in said, said


def test_without_a_price_a_step_has_its_floor_all_the_same(pages):
    of, unsold = pages["scaling_math"], {"accelerator": "MI325X", "contract": "spot"}
    seconds, run, why = evaluate([of.least_seconds, of.run_usd, of.hour.why], unsold)
    assert seconds > 0 and math.isnan(run)
    assert why.startswith("no spot price of MI325X is listed; it has prices on demand, reserved")


def test_without_a_price_a_way_to_split_is_said_all_the_same(pages):
    of, unsold = (
        pages["parallelism"],
        {"accelerator": "H200 SXM", "contract": "spot", "seller": "Lambda"},
    )
    seconds, day, why = evaluate([of.seconds, of.day, of.hour.why], unsold)
    assert seconds > 0 and math.isnan(day)
    assert why.startswith("no such seller has a price spot of H200 SXM; it has those of median")
    (own,) = evaluate([of.day], unsold | {"rent_usd_per_hour": 3.0})
    assert own == pytest.approx(of.case.chips.value * 72.0)


@pytest.mark.parametrize("hours", [0.5, 6.0, 12.0, 18.0, 24.0])
@pytest.mark.parametrize("chip", ["H100 SXM", "B200", "RTX 4090"])
def test_by_default_renting_is_held_to_the_contract_that_costs_least(pages, chip, hours):
    of, here = pages["buy_or_rent"], {"accelerator": chip, "hours_per_day": hours}
    assert of.declared.contract == market.BEST
    named = [evaluate([of.rented], here | {"contract": name})[0] for name in market.LASTING]
    best, contract, many = evaluate([of.rented, of.contract, of.of], here)
    assert best == pytest.approx(min(named))
    assert (contract, many) == (market.LASTING[named.index(min(named))], len(market.LASTING))


def test_the_less_a_chip_is_used_the_worse_owning_looks(pages):
    of = pages["buy_or_rent"]
    rented, owned = (
        [evaluate([bill], {"accelerator": "B200", "hours_per_day": h})[0] for h in (1, 2, 8, 24)]
        for bill in (of.rented, of.bill.total)
    )
    saved = [rent - own for rent, own in zip(rented, owned, strict=True)]
    assert saved == sorted(saved) and saved[1] < 0 < saved[-1]
