"""Plans of a service: whose electricity it pays, which bars it has, what its commands carry, and
where another chapter takes fewer chips.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from chapter_cells import computed
from scaleright import catalog
from scaleright.chapters.plan.model import open_row, plan, plan_rows
from scaleright.costs.ownership import power_price
from scaleright.decisions.build_buy import HYBRID, SPILL
from scaleright.decisions.plan_workload import IN_REGION, Workload
from scaleright.market import BEST
from scaleright.parameters.case import accepted
from scaleright.press import Book, plans
from scaleright.press.texts import declared
from scaleright.quantity import evaluate

BOOK = Book(Path(__file__).resolve().parents[1])


def test_chips_of_ones_own_pay_for_power_what_their_region_does():
    """And the chapter on buying is asked at that price."""
    bills = {}
    for region in ("Sweden", "Germany"):
        part = plan(plans.workload(BOOK, "hospital", {"region": region})).parts[0]
        bills[region] = part.figures["usd_per_day"]
        price = power_price(region, "colocation")
        (asked,) = (one for one in part.steps[1].asked if one.chapter == "buy_or_rent")
        assert asked.parameters["usd_per_kwh"] == price.usd_per_kwh
        assert price.said(region) in " ".join(part.steps[1].because)
    assert bills["Sweden"] < bills["Germany"]


def test_a_plan_of_ways_has_no_bar_beside_theirs():
    rows = plan_rows({"start": plans.workload(BOOK, "start_up", {})})
    assert rows["start"]["compared"]
    assert open_row("Serve")["compared"]


SERVED = "your own service"
SERVICE = ("model", "accelerator", "trace", "contract")
"""What the page's controls choose of a service."""


def test_the_questions_of_the_readers_own_service_carry_its_case():
    """As commands that the chapters take, for any model, chip and traffic of the page."""
    questions = computed("plan")["own"][SERVED].questions
    chosen = {of.name: of.choices for of in declared("plan", BOOK)}
    for at in range(8):
        own = {name: chosen[name][at % len(chosen[name])] for name in SERVICE}
        own |= {"requests_per_day": 123456.0, "peak_to_mean": 1.25}
        said = evaluate([*questions.values()], own)
        for command in map(str, said):
            program, run, chapter, *rest = shlex.split(command)
            assert (program, run, rest[::2]) == ("scaleright", "run", ["-p"] * (len(rest) // 2))
            given = dict(one.split("=", 1) for one in rest[1::2])
            case = accepted(declared(chapter, BOOK), given)
            if chapter in {"load_of_a_day", "economics_stack", "hardware_compare"}:
                for name in ("model", "contract", "requests_per_day", "peak_to_mean"):
                    assert own[name] in (case[name], BEST), command
                assert case.get("trace", case.get("traffic")) == own["trace"]
    assert sorted(questions) == [*range(1, 10)]


@pytest.mark.long
def test_the_comparison_takes_as_many_chips_as_the_plan_and_the_bill_of_a_service():
    of = Workload(requests_per_day=1e6, accelerator="B200", spare_engines=2)
    part = plan(of).parts[0]  # those that stand by are no difference
    assert not [one for one in part.steps[3].because if "the comparison takes" in one]
    served = computed("economics_stack")["served"]
    assert evaluate([served.month.chips], {"accelerator": "B200"})[0] == 3


def test_a_model_that_no_node_of_the_chip_holds_is_said_to_be_so():
    of = Workload(model="DeepSeek-V3.1", requests_per_day=36_780.0, accelerator="H100 SXM")
    (part,) = plan(of).parts
    assert "no node of H100 SXM holds it" in part.number
    assert [of.says for of in part.broken.relaxations] == ["leave the accelerator open"]


@pytest.mark.long
def test_a_few_chips_of_ones_own_are_the_base_and_the_rest_is_rented():
    """Where that is cheapest and may be; what is bought is told at the start, and when it comes."""
    busy = {"requests_per_day": 3e6, "peak_to_mean": 2.5, "accelerator": "B200"}
    busy["data"] = IN_REGION  # no API
    buys, uses = (
        plan(Workload(**busy)).parts[0],
        plan(Workload(**busy, owned="B200", owned_chips=4)),
    )
    (uses,), kept = uses.parts, plan(Workload(**busy | {"data": "may not leave"})).parts[0]
    assert buys.decision == "Buy 8 B200, run them in a colocation and rent up to 3 more"
    assert uses.decision == "Use 4 B200 of your own and rent up to 7 more"
    assert (buys.figures["way"], kept.figures["way"]) == (HYBRID, "own")
    assert "purchase_usd" not in uses.figures
    assert kept.figures["purchase_usd"] == pytest.approx(2 * buys.figures["purchase_usd"])
    assert any("months after the order" in why for why in buys.steps[1].because)
    assert uses.figures["usd_per_day"] < buys.figures["usd_per_day"] < kept.figures["usd_per_day"]


@pytest.mark.long
def test_a_base_of_ones_own_may_have_an_api_beyond_it():
    """Where data may leave and a host has the model; what the API takes needs no engine."""
    busy = {"model": "DeepSeek-V3.1", "requests_per_day": 2e7, "peak_to_mean": 2.5}
    busy |= {"accelerator": "B200"}
    mine, spared, kept = (
        plan(Workload(**busy | of)).parts[0]
        for of in ({}, {"spare_engines": 2}, {"data": "stays in the region"})
    )
    assert mine.decision == "Buy 56 B200, run them in a colocation and call an API beyond them"
    bills = {name: it for name, it in mine.figures.items() if name.endswith("_usd_per_day")}
    assert min(bills.values()) == mine.figures["usd_per_day"] == spared.figures["usd_per_day"]
    assert any("call an API until then" in why for why in mine.steps[1].because)
    assert f"{SPILL.replace(' ', '_')}_usd_per_day" not in kept.figures
    assert f"{SPILL}: ruled out, " in " ".join(kept.steps[1].because)


@pytest.mark.long
def test_every_model_that_writes_is_planned_a_config_of_ones_own_too(tmp_path):
    """And its questions are ones that the chapters take; without a host there is no API."""
    mine = tmp_path / "mine.json"
    mine.write_text('{"layers": 40, "hidden": 5120, "heads": 40, "ffn": 13824, "vocab": 32000}')
    barred = "call an API: ruled out, nobody lists an API price of "
    given = {"requests_per_day": "50000", "accelerator": "H100 SXM"}
    try:
        for model, name in (("GPT-2", "GPT-2"), ("qwen3-8b", "Qwen3-8B"), (str(mine), "mine")):
            part = plan(plans.workload(BOOK, None, given | {"model": model})).parts[0]
            assert part.work == f"Serve {name} to 50,000 requests a day"
            assert (barred + name in part.steps[1].because) == (name != "Qwen3-8B")
            for of, asked in ((step, asked) for step in part.steps for asked in step.asked):
                may = {name} | ({"Llama-3.1-8B"} if of is part.steps[5] else set())  # a lever
                said = dict(one.split("=", 1) for one in shlex.split(asked.command)[4::2])
                assert accepted(declared(asked.chapter, BOOK), said).get("model", name) in may
    finally:
        catalog.drop_models()


@pytest.mark.long
def test_what_was_bought_to_tune_a_model_is_compared_to_serve_it_on():
    """For what running it costs, since it is paid for."""
    asked = {"model": "Llama-3.1-8B", "requests_per_day": 2e4, "data": "may not leave"}
    tuned, serves = plan(Workload(work="fine-tune and serve", tokens=5e7, **asked)).parts
    (alone,) = plan(Workload(**asked)).parts
    row = re.compile(rf"{tuned.figures['accelerator']}: \$([\d.]+) a day of your own")
    there, new = (float(row.search("; ".join(of.steps[3].because))[1]) for of in (serves, alone))
    assert serves.figures["usd_per_day"] <= there < 0.6 * new
