"""One question, one answer: chapters that are asked the same case say the same.

Each chapter's own cells are run, as a reader runs them, and the quantities that they make are
evaluated at the case; nothing is computed here.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scaleright import charts
from scaleright.costs.ownership import ELECTRICITY
from scaleright.quantity import evaluate
from test_pages_quantities import computed_here

CHAPTERS = ("token_cost", "hardware_compare", "inference_roofline")
REQUESTS = {
    "chat": (2000, 500, 0.0),
    "document": (30000, 300, 0.0),
    "reasoning": (1000, 8000, 0.0),
    "agent": (8000, 400, 0.8),
}
SERVING = [
    # model, accelerator, request, pace, utilization, a contract or where an owned one would stand
    ("Llama-3.3-70B", "A100 SXM 80GB", "chat", 30.0, 0.4, "on demand"),
    ("Llama-3.3-70B", "H100 SXM", "chat", 30.0, 0.4, "on demand"),
    ("Llama-3.3-70B", "H200 SXM", "chat", 30.0, 0.4, "reserved"),
    ("Llama-3.3-70B", "B200", "chat", 30.0, 0.4, "on demand"),
    ("Llama-3.3-70B", "MI300X", "chat", 30.0, 0.4, "on demand"),
    ("Llama-3.3-70B", "H100 SXM", "chat", 30.0, 0.4, "data center"),
    ("Llama-3.1-8B", "L40S", "chat", 30.0, 0.4, "on demand"),
    ("Llama-3.1-8B", "RTX PRO 6000", "agent", 60.0, 0.2, "on demand"),
    ("Llama-3.1-8B", "L40S", "document", 10.0, 0.9, "data center"),
    ("Mistral-NeMo-12B", "A100 SXM 80GB", "reasoning", 20.0, 0.6, "three years"),
    ("Gemma-3-27B", "H200 SXM", "document", 15.0, 0.3, "on demand"),
    ("Qwen3-32B", "B300", "reasoning", 50.0, 0.5, "data center"),
    ("Llama-3.1-405B", "H200 SXM", "chat", 20.0, 0.4, "on demand"),
    ("Llama-3.1-405B", "H100 SXM", "chat", 120.0, 0.4, "on demand"),  # none keeps such a pace
    ("gpt-oss-120b", "B200", "chat", 30.0, 0.4, "on demand"),
    ("gpt-oss-120b", "MI300X", "chat", 30.0, 0.4, "spot"),
    ("gpt-oss-120b", "MI300X", "chat", 30.0, 0.4, "one year"),
    ("gpt-oss-20b", "RTX 5090", "agent", 100.0, 0.1, "on demand"),
    ("gpt-oss-20b", "RTX 5090", "agent", 100.0, 0.1, "data center"),
    ("gpt-oss-20b", "RTX 5090", "agent", 100.0, 0.1, "home"),
    ("Llama-3.1-8B", "H100 SXM", "chat", 30.0, 0.4, "home"),  # no home houses it
    ("Llama-3.1-8B", "RTX PRO 6000", "chat", 30.0, 0.4, "colocation"),
    ("Qwen3-30B-A3B-Instruct-2507", "H100 SXM", "agent", 80.0, 0.7, "on demand"),
    ("Qwen3-235B-A22B-Instruct-2507", "MI325X", "reasoning", 25.0, 0.4, "data center"),
    ("Llama-4-Scout", "L40S", "chat", 10.0, 0.4, "on demand"),
    ("Llama-4-Maverick", "B200", "document", 40.0, 0.4, "on demand"),
    ("DeepSeek-V3.1", "H200 SXM", "chat", 30.0, 0.4, "on demand"),
    ("DeepSeek-R1-0528", "B300", "reasoning", 30.0, 0.7, "spot"),
    ("MiniMax-M2.5", "MI300X", "agent", 30.0, 0.4, "data center"),
    ("Kimi-K2.5", "L40S", "chat", 30.0, 0.4, "on demand"),  # no node holds it
]


@pytest.fixture(scope="module")
def cells() -> dict[str, SimpleNamespace]:
    """What the cells of each chapter make."""
    found = {}
    with pytest.MonkeyPatch.context() as patched:
        for chapter in CHAPTERS:
            names: dict = {}
            computed_here(chapter, patched, names=names)
            found[chapter] = SimpleNamespace(**names)
    return found


def request_of(case: tuple) -> dict:
    model, _, request, pace, utilization, _ = case
    names = ("input_tokens", "output_tokens", "cached_share")
    of = dict(zip(names, map(float, REQUESTS[request]), strict=True))
    return of | {"model": model, "pace_tokens_per_s": pace, "utilization": utilization}


def by_token_cost(cells: dict, case: tuple) -> tuple[float, float, float]:
    """Price and speed of the chapter's answer, and its group."""
    of, chip, paid = cells["token_cost"], case[1], case[-1]
    here = request_of(case) | {"accelerator": chip}
    owned = paid in ELECTRICITY
    if owned:
        here |= {"chip_usd": of.tables.chips[chip]["chip_usd"], "setting": paid}
        here |= {"usd_per_kwh": of.tables.settings[paid]["usd_per_kwh"]}
    else:
        here |= {"contract": paid}
    price = of.price.owned if owned else of.price.rented
    return at(here, price, of.speed.tokens_per_s, of.speed.chips)


def by_hardware_compare(cells: dict, case: tuple) -> tuple[float, float, float]:
    chip, paid = case[1], case[-1]
    owned = {"paid": "own", "setting": paid}
    terms = owned if paid in ELECTRICITY else {"paid": "rent", "contract": paid}
    here = request_of(case) | terms | {"chip": chip, "least_providers": 1}
    of = cells["hardware_compare"].any_chip
    return at(here, of.usd, of.speed.tokens_per_s, of.speed.group)


def at(case: dict, *wanted) -> tuple:
    """Quantities at a case; names on which none of them depends say nothing of them."""
    return tuple(float(value) for value in evaluate(wanted, case))


@pytest.mark.parametrize("case", SERVING, ids=lambda case: " ".join(map(str, case)))
def test_a_million_tokens_cost_the_same_in_both_chapters(cells, case):
    one, other = (
        by_token_cost(cells, case),
        by_hardware_compare(cells, case),
    )
    assert charts.say(one[0], "usd") == charts.say(other[0], "usd")
    assert one == pytest.approx(other, rel=1e-6, nan_ok=True)


SERVED_SO = [
    # model there, the same here, accelerator, format, chips
    ("Llama-3.3-70B", "Llama-3.1-70B", "A100 SXM 80GB", "BF16", "8"),
    ("Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B", "H100 SXM", "FP8", "fewest"),
    ("Llama-3.1-8B", "Llama-3.1-8B", "B200", "FP8", "fewest"),
    ("Qwen3-32B", "Qwen3-32B", "H200 SXM", "FP8", "fewest"),
    ("gpt-oss-120b", "gpt-oss-120b", "B200", "MXFP4", "fewest"),
    ("Llama-3.1-405B", "Llama-3.1-405B", "H200 SXM", "FP8", "8"),
]


@pytest.mark.parametrize("case", SERVED_SO, ids=" ".join)
def test_the_engine_that_token_cost_finds_costs_the_same_where_its_batch_is_given(cells, case):
    model, name, chip, form, chips = case
    asked = (model, chip, "chat", 20.0, 0.4, "on demand")
    price, _, group = by_token_cost(cells, asked)
    here = request_of(asked) | {"accelerator": chip}
    (batch,) = at(
        {k: v for k, v in here.items() if k != "utilization"}, cells["token_cost"].speed.batch
    )
    roofline = cells["inference_roofline"]
    there = {k: v for k, v in here.items() if k != "pace_tokens_per_s"}
    there |= {"model": name, "precision": form, "chips": chips, "batch": batch}
    there |= {"contract": "on demand"}
    of = roofline.many
    found, many = at(there, of.usd_per_million, of.server.chips)
    assert many == group
    assert charts.say(found, "usd") == charts.say(price, "usd")


def test_some_cases_have_a_price_and_some_have_none(cells):
    prices = [by_hardware_compare(cells, case)[0] for case in SERVING]
    assert sum(map(math.isnan, prices)) in range(3, 6)


def test_the_cheapest_of_the_chips_that_both_offer_is_the_same(cells):
    one, other = (cells[chapter] for chapter in CHAPTERS[:2])
    chips = [*one.tables.chips]
    for model in one.tables.models:
        terms = {"model": model, "contract": "on demand"}
        here = terms | {"accelerator": np.array(chips)}
        (listed,) = evaluate([one.price.rented], here)
        there = terms | {"chip": np.array(chips), "least_providers": 1}
        (asked,) = evaluate([other.any_chip.usd], there)
        assert listed == pytest.approx(asked, rel=1e-6, nan_ok=True)
        assert chips[np.nanargmin(listed)] == chips[np.nanargmin(asked)]


def test_both_say_the_same_of_how_sure_a_speed_is(cells):
    one, other = (cells[chapter] for chapter in CHAPTERS[:2])
    for chip in one.tables.chips:
        bounds = evaluate([one.speed.low, one.speed.high], {"accelerator": chip})
        there = [other.any_chip.speed.low, other.any_chip.speed.high]
        assert bounds == pytest.approx(evaluate(there, {"chip": chip}))
