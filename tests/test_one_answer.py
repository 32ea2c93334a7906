"""One question about serving, asked of every chapter and command that can answer, gets one answer
to the digits shown.

Each chapter's own cells are run, as a reader runs them, and the quantities that they make are
evaluated at the case; nothing is computed here. Where a chapter takes an input that the others
leave to the reader, its page says so (`test_a_page_says_what_it_takes_otherwise`).
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from answer_askers import ASKERS, Answer, at, by_token_cost
from answer_cases import REQUESTS, SERVING, Serving, page_text
from chapter_cells import BOOK, Run, cells, shared
from scaleright import catalog, charts
from scaleright.market import BEST
from scaleright.parameters import validate
from scaleright.press.texts import declared
from scaleright.quantity import evaluate
from scaleright.transformer.parameters import parameters

asked = pytest.mark.parametrize("case", SERVING, ids=lambda case: " ".join(map(str, case)))


@pytest.fixture(scope="session")
def pages() -> dict[str, SimpleNamespace]:
    """What the cells of each chapter make."""
    return {
        "token_cost": cells("token_cost"),
        "hardware_compare": cells("hardware_compare"),
        "inference_roofline": cells("inference_roofline"),
        "inference_ladder": cells("inference_ladder"),
        "architecture_bets": cells("architecture_bets", "within_20_ms"),
        "vendor_claims": cells("vendor_claims"),
        "scaling_laws": cells("scaling_laws"),
    }


KINDS = {"usd": "usd", "tokens_per_s": "number", "group": "whole", "fleet": "whole"}
KINDS |= {"whole_usd": "usd"}


@pytest.fixture(scope="session")
def answers(pages) -> dict[Serving, dict[str, Answer]]:
    """What each chapter says that can answer, of each case."""
    found = {}
    for case in SERVING:
        every = {name: asker(pages, case) for name, asker in ASKERS.items()}
        found[case] = {name: answer for name, answer in every.items() if answer}
    return found


@asked
def test_every_chapter_that_can_answer_says_the_same(answers, case):
    assert len(answers[case]) >= 2
    for figure, kind in KINDS.items():
        said = {
            name: charts.say(value, kind)
            for name, answer in answers[case].items()
            if (value := getattr(answer, figure)) is not None
        }
        assert len(set(said.values())) <= 1, (figure, said)


def test_some_cases_have_a_price_and_some_have_none(answers):
    prices = [found["hardware_compare"].usd for found in answers.values()]
    assert sum(map(math.isnan, prices)) in range(4, 7)


def test_each_chapter_is_asked_several_of_them(answers):
    """And every figure is given by two chapters at least, of five cases or more."""
    every = [*answers.values()]
    asked_of = {name: sum(name in found for found in every) for name in ASKERS}
    assert min(asked_of.values()) >= 4, asked_of
    for figure in KINDS:
        said = [
            sum(getattr(answer, figure) is not None for answer in found.values()) for found in every
        ]
        assert sum(count >= 2 for count in said) >= 5, figure


SAID = {
    "token_cost": "the engine that costs least, of one node, in the format that you chose or, by"
    " default, in the one in which the model is usually served there",
    "hardware_compare": "the speed of the fastest engine that keeps your pace on one node, or in"
    " the rack of a GB300",
    "inference_roofline": "the fewest chips that leave room for 128 requests",
    "inference_ladder": "The smallest fleet counts",
    "architecture_bets": "each in the best engine of its node or rack",
    "vendor_claims": "the best of all layouts of up to 64 chips",
    "scaling_math": "the floor is a bound, not an answer",
}
"""What each page says of how its answer comes about, where others do otherwise."""


@pytest.mark.parametrize("chapter, words", SAID.items(), ids=SAID)
def test_a_page_says_what_it_takes_otherwise(chapter, words):
    assert words in page_text(chapter)


def test_what_a_display_takes_otherwise_is_beside_its_answer(pages):
    of = pages["architecture_bets"]
    with shared("architecture_bets").aside():
        table = of.page.served(of.within_20_ms)._repr_mimebundle_()["text/plain"]
    assert "every paid hour used" in table and "by the model of serving" in table
    words = page_text("vendor_claims")
    assert "fastest layout of up to 64 chips" in words and "without speculative decoding" in words
    assert "usual engines of one node or rack, by which other chapters price a token" in words


STEPS = [
    # model, accelerator, format, chips, batch, tokens in view
    ("Llama-3.1-70B", "H100 SXM", "BF16", 8, 8, 2048),
    ("Llama-3.1-8B", "A100 SXM 80GB", "BF16", 8, 64, 1000),
    ("DeepSeek-V3", "H200 SXM", "FP8", 8, 32, 4096),
    ("Llama-3.1-70B", "H200 SXM", "INT4", 8, 16, 4096),
    ("Llama-3.1-70B", "B200", "usual", 8, 16, 2048),
]


@pytest.mark.parametrize("case", STEPS, ids=lambda case: " ".join(map(str, case)))
def test_beside_its_floor_a_step_takes_as_long_as_where_tokens_are_priced(pages, case):
    names = "model", "accelerator", "precision", "accelerators", "batch", "context"
    run = shared("scaling_math", **dict(zip(names, case, strict=True)))
    floor = SimpleNamespace(**run.until())
    shown = floor.live.case, floor.weights, floor.step.seconds, floor.needed
    with run.aside():
        said = floor.page.in_practice(*shown)._repr_mimebundle_()["text/plain"]
    curve = pages["inference_roofline"].server.curve
    name, chip, form, _, batch, context = case
    step_s = curve.writing_s(float(batch)) + curve.looking_s(float(batch), float(context))
    there = {"model": name, "accelerator": chip, "precision": form, "chips": "8"}
    (seconds,) = at(there, step_s)
    assert seconds > floor.step.seconds.value
    assert f"it says {charts.say(seconds, 'duration')}," in said


IN_SERVICE = [
    # chip, contract, format, load
    ("H100 SXM", "on demand", "usual", 0.4),
    ("H100 SXM", "reserved", "BF16", 1.0),
    ("B200", "on demand", "FP8", 0.4),
    ("MI300X", "spot", "usual", 0.7),
    ("A100 SXM 80GB", "three years", "INT8", 0.1),
]


@pytest.mark.parametrize("case", IN_SERVICE, ids=lambda case: " ".join(map(str, case)))
def test_a_token_in_service_costs_scaling_laws_what_it_costs_elsewhere(pages, case):
    """By the share of peak of the chip and format: of an 8B, with all its tokens counted."""
    chip, paid, form, load = case
    of = Serving("Llama-3.1-8B", chip, "chat", 30.0, load, paid, form)
    prompt, answer, _ = REQUESTS[of.request]
    here = {"accelerator": chip, "contract": paid, "precision": form, "utilization": load}
    flop = 2 * parameters(catalog.model(of.model)).total * (prompt + answer) / answer
    (usd,) = at(here, pages["scaling_laws"].serve)
    assert usd * flop * 1e6 == pytest.approx(by_token_cost(pages, of).usd, rel=1e-3)


def test_the_cheapest_of_the_chips_that_both_offer_is_the_same(pages):
    one, other = pages["token_cost"], pages["hardware_compare"]
    chips = [*one.tables.chips]
    for model in one.tables.models:
        terms = {"model": model, "contract": "on demand"}
        here = terms | {"accelerator": np.array(chips)}
        (listed,) = evaluate([one.price.rented], here)
        there = terms | {"chip": np.array(chips), "least_providers": 1, "paid": "rent"}
        (asked,) = evaluate([other.any_chip.usd], there)
        assert listed == pytest.approx(asked, rel=1e-6, nan_ok=True)
        assert chips[np.nanargmin(listed)] == chips[np.nanargmin(asked)]


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"model": "DeepSeek-V3.1", "pace_tokens_per_s": 20.0},
        {"model": "Llama-3.1-8B", "input_tokens": 500},
        {"traffic": "conversation", "requests_per_day": 3000.0},
        {"contract": "on demand", "seller": "cheapest quarter"},
    ],
)
def test_where_all_is_open_both_take_the_same_chip_at_the_same_price(pages, case):
    """Rented under its cheapest contract or owned, of the chips that both offer."""
    one, other = pages["token_cost"], pages["hardware_compare"]
    chips = [*one.tables.chips]
    (there,) = evaluate(
        [other.any_chip.usd], case | {"chip": np.array(chips), "least_providers": 1}
    )
    ways = [one.options.kinds[kind] for kind in ("renting", "owning")]
    wanted = [of for way in ways for of in (way.usd, way.accelerator)]
    found = evaluate(wanted, case | {"accelerator": BEST})
    usd = dict(zip(found[::2], map(str, found[1::2]), strict=True))
    assert min(usd) == pytest.approx(np.nanmin(there), rel=1e-6)
    assert usd[min(usd)] == chips[np.nanargmin(there)]


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"model": "Llama-3.1-8B", "pace_tokens_per_s": 60.0},
        {"traffic": "conversation", "requests_per_day": 3e6, "contract": "on demand"},
    ],
)
def test_where_the_chip_is_open_so_many_at_once_take_that_of_a_token(pages, case):
    """As many as there, on an engine that both have."""
    one, other = pages["token_cost"], pages["inference_roofline"]
    models = {"Llama-3.3-70B": "Llama-3.1-70B"}
    chips = np.array([of for of in one.tables.chips if of in other.tables.hours.names])
    (usd,) = evaluate([one.price.rented], case | {"accelerator": chips})
    chip = str(chips[np.nanargmin(usd)])
    speed = one.speed
    wanted = one.price.rented, speed.tokens_per_s, speed.chips, speed.batch
    usd, rate, group, batch = at(case | {"accelerator": chip}, *wanted)
    model = case.get("model", "Llama-3.3-70B")
    there = case | {"accelerator": BEST, "batch": batch, "model": models.get(model, model)}
    many = other.many
    wanted = other.case.accelerator, many.usd_per_million, many.tokens_per_s, many.server.chips
    name, *found = evaluate(wanted, there)
    assert (name, found[2]) == (chip, group)
    assert found[:2] == pytest.approx([usd, rate * group], rel=1e-3)


def test_known_traffic_costs_the_same_on_each_chip(pages):
    one, other = pages["token_cost"], pages["hardware_compare"]
    traffic = {"traffic": "conversation", "requests_per_day": 3e5, "peak_to_mean": 1.4}
    for terms in ({"contract": "on demand"}, {"contract": "reserved", "model": "Llama-3.1-8B"}):
        for chip in ("H100 SXM", "B200", "L40S"):
            (listed,) = evaluate([one.price.rented], traffic | terms | {"accelerator": chip})
            there = traffic | terms | {"chip": chip, "least_providers": 1, "paid": "rent"}
            (asked,) = evaluate([other.any_chip.usd], there)
            assert listed == pytest.approx(asked, rel=1e-6, nan_ok=True)


def test_both_say_the_same_of_how_sure_a_speed_is(pages):
    one, other = pages["token_cost"], pages["hardware_compare"]
    for chip in one.tables.chips:
        bounds = evaluate([one.speed.low, one.speed.high], {"accelerator": chip})
        there = [other.any_chip.speed.low, other.any_chip.speed.high]
        assert bounds == pytest.approx(evaluate(there, {"chip": chip}))


@pytest.mark.parametrize("model", ["Llama-3.3-70B", "gpt-oss-120b"])
@pytest.mark.parametrize("chip", ["H100 SXM", "MI300X"])
def test_a_run_at_a_case_says_what_the_page_says(pages, model, chip):
    """As the command line and a sweep run the cells."""
    given = {"model": model, "accelerator": chip, "contract": "on demand"}
    run = Run("token_cost", validate(declared("token_cost", BOOK), given))
    run.until()
    usd = by_token_cost(pages, Serving(model, chip, "chat", 30.0, 0.4, "on demand")).usd
    told = run.answer["quantities"]["rented_usd_per_million"]["value"]
    assert told == pytest.approx(usd, rel=1e-6)
