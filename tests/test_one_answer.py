"""One question about serving, asked of every chapter and command that can answer, gets one answer
to the digits shown.

Each chapter's own cells are run, as a reader runs them, and the quantities that they make are
evaluated at the case; nothing is computed here. Where a chapter takes an input that the others
leave to the reader, its page says so (`test_a_page_says_what_it_takes_otherwise`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from answer_cases import (
    BOOK,
    REQUESTS,
    SERVING,
    TOKENS_PER_DAY,
    Serving,
    cells,
    choices,
    page_text,
)
from press_cases import scaleright as command
from scaleright import catalog, charts
from scaleright.costs.ownership import Ownership
from scaleright.decisions.architecture_bets import benchmarks
from scaleright.footprint import machine
from scaleright.quantity import evaluate
from scaleright.transformer.parameters import parameters
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

PER_SECOND = TOKENS_PER_DAY / (HOURS_PER_DAY * SECONDS_PER_HOUR)
asked = pytest.mark.parametrize("case", SERVING, ids=lambda case: " ".join(map(str, case)))


class Answer(NamedTuple):
    """What a chapter says of a case; NaN where it cannot, None where it does not say.

    usd : price of a million output tokens with their prompts [USD]
    tokens_per_s : of one chip at full load [token/s]
    group : chips that share a copy of the model [1]
    fleet : chips for `TOKENS_PER_DAY` [1]
    whole_usd : price where whole groups are paid for [USD]
    """

    usd: float | None = None
    tokens_per_s: float | None = None
    group: float | None = None
    fleet: float | None = None
    whole_usd: float | None = None


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
    }


def at(case: dict, *wanted) -> tuple:
    """Quantities at a case; names on which none of them depends say nothing of them."""
    return tuple(float(value) for value in evaluate(wanted, case))


def request_of(case: Serving) -> dict:
    names = ("input_tokens", "output_tokens", "cached_share")
    of = dict(zip(names, map(float, REQUESTS[case.request]), strict=True))
    return of | {
        "model": case.model,
        "precision": case.form,
        "pace_tokens_per_s": case.pace,
        "utilization": case.load,
    }


def like(case: Serving, choices: Iterable[str]) -> str | None:
    """The choice of a chapter that is of the same shape as the model."""
    shape = catalog.model(case.model).name
    return next((name for name in choices if catalog.model(name).name == shape), None)


def by_token_cost(pages: dict, case: Serving) -> Answer | None:
    of = pages["token_cost"]
    if case.chip not in of.tables.chips:
        return None
    here = request_of(case) | {"accelerator": case.chip}
    if case.paid == "own":
        here |= {"chip_usd": of.tables.chips[case.chip]["chip_usd"]}
    else:
        here |= {"contract": case.paid}
    price = of.price.owned if case.paid == "own" else of.price.rented
    speed = of.speed
    fleet = of.service.accelerators(TOKENS_PER_DAY, speed.chips)
    return Answer(*at(here, price, speed.tokens_per_s, speed.chips, fleet))


def chosen_there(case: Serving) -> dict:
    """The case in the names of hardware_compare."""
    paid = {"paid": "own"} if case.paid == "own" else {"paid": "rent", "contract": case.paid}
    demand = {"tokens_per_s": PER_SECOND / case.load}
    return request_of(case) | paid | demand | {"chip": case.chip, "least_providers": 1}


def by_hardware_compare(pages: dict, case: Serving) -> Answer:
    of = pages["hardware_compare"].any_chip
    wanted = of.usd, of.speed.tokens_per_s, of.speed.group, of.chips, of.whole_usd
    return Answer(*at(chosen_there(case), *wanted))


def hour_of(pages: dict, case: Serving) -> float:
    """What the case pays for an hour of a chip [USD/h]."""
    of = pages["hardware_compare"].any_chip
    return at(chosen_there(case), of.hour.usd, of.whole_usd)[0]


def engine_of(pages: dict, case: Serving) -> tuple[str, float, float]:
    """Format, chips and batch of the engine that serves a case."""
    of = pages["token_cost"].speed
    here = {k: v for k, v in request_of(case).items() if k != "utilization"}
    here |= {"accelerator": case.chip}
    form, chips, batch = evaluate([of.precision, of.chips, of.batch], here)
    return str(form), float(chips), float(batch)


def by_inference_roofline(pages: dict, case: Serving) -> Answer | None:
    """At the format, the chips and the batch that the others find."""
    options = choices("inference_roofline")
    name = like(case, options["model"])
    known = case.chip in options["accelerator"] and case.chip in pages["token_cost"].tables.chips
    if not (name and known) or case.paid == "own":
        return None
    form, group, batch = engine_of(pages, case)
    there = request_of(case) | {"accelerator": case.chip, "model": name, "precision": form}
    del there["pace_tokens_per_s"]
    there |= {"batch": batch, "contract": case.paid}
    of = pages["inference_roofline"].many
    mixture = catalog.model(case.model).experts > 0
    for chips in ("fewest", "8"):
        wanted = of.usd_per_million, of.tokens_per_s, of.server.chips
        usd, together, servers = at(there | {"chips": chips}, *wanted)
        if servers == group and not (mixture and group == 8):  # which attend apart, or share all
            return Answer(usd, together / group, group)
    return None


def by_architecture_bets(pages: dict, case: Serving) -> Answer | None:
    """With every paid hour used, as its table says."""
    of, options, shapes = pages["architecture_bets"], choices("architecture_bets"), benchmarks()
    prompt, answer, cached = REQUESTS[case.request]
    shape = catalog.model(case.model).name
    same = [
        (kind, name)
        for kind in ("mixture", "dense")
        for name in options[kind]
        if catalog.model(shapes.loc[name, "model"]).name == shape
    ]
    if not same or case.chip not in options["bet"] or cached or case.form != "usual":
        return None
    ((kind, name),), rent = same, hour_of(pages, case)
    here = {"input_tokens": prompt, "output_tokens": answer, kind: name}
    here |= {"bet": case.chip, "bet_usd_per_hour": rent}
    rows = of.bets_served.served_table(of.case, 1 / case.pace).to_dict("records")
    row = rows[0 if kind == "mixture" else 2]
    columns = "price of a million", "tokens/s of a chip", "chips of an engine"
    usd, speed, group = at(here, *(row[column] for column in columns))
    return Answer(usd / case.load if math.isfinite(rent) else None, speed, group)


def by_vendor_claims(pages: dict, case: Serving) -> Answer | None:
    """By the usual engines, which it names beside the fastest layouts."""
    of, options = pages["vendor_claims"], choices("vendor_claims")
    name = like(case, options["model"])
    side = next((side for side in ("newer", "older") if case.chip in options[side]), None)
    known = name and side and case.request in options["request"] and case.pace in options["speed"]
    if not known or case.paid == "own" or case.form != "usual":
        return None
    usual = of.Usual.of(of.case, of.paid, tuple(of.terms))
    here = {"model": name, "request": case.request, "speed": case.pace, "utilization": case.load}
    here |= {side: case.chip, "contract": case.paid}
    served = getattr(usual, side)
    wanted = getattr(usual, f"{side}_usd"), served.tokens_per_s, served.chips
    return Answer(*at(here, *wanted))


def by_inference_ladder(pages: dict, case: Serving) -> Answer | None:
    """Of one service without levers, at a peak that leaves its chips as idle as the case has them,
    on groups that share every layer: of the size that the others find.
    """
    of, options = pages["inference_ladder"], choices("inference_ladder")
    name = like(case, options["model"])
    known = case.chip in options["accelerator"] and case.chip in pages["token_cost"].tables.chips
    prompt, answer, cached = REQUESTS[case.request]
    if not (name and known) or cached or case.paid == "own":
        return None
    form, group, _ = engine_of(pages, case)
    if form not in options["precision"] or not math.isfinite(group):
        return None
    if catalog.model(case.model).experts and group == 8:  # which attend apart, or share all
        return None
    here = {"model": name, "accelerator": case.chip, "precision": form, "batching": "continuous"}
    here |= {"requests_per_s": PER_SECOND / answer, "input_tokens": prompt, "contract": case.paid}
    here |= {"output_tokens": answer, "length_spread": 0.0, "peak_to_mean": 1 / case.load}
    here |= dict.fromkeys(("services", "variants"), 1)
    here |= {"repeated_share": 0.0, "tpot_ms": 1e3 / case.pace}
    today = of.climb.steps[0]
    *served, fleet, whole_usd = at(here, *today.served, today.chips, of.saved.dear)
    speeds = {2.0**k: rate * answer / 2.0**k for k, rate in enumerate(served)}
    if np.nanmax([*speeds.values()]) > speeds[group]:  # a group that the others do not offer
        return Answer(tokens_per_s=speeds[group], group=group)
    return Answer(None, speeds[group], group, fleet, whole_usd)


ASKERS: dict[str, Callable[[dict, Serving], Answer | None]] = {
    "token_cost": by_token_cost,
    "hardware_compare": by_hardware_compare,
    "inference_roofline": by_inference_roofline,
    "inference_ladder": by_inference_ladder,
    "architecture_bets": by_architecture_bets,
    "vendor_claims": by_vendor_claims,
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
    "buy_or_rent": "Power at work is counted as the most that chip and server may draw",
    "sustainability": "Serving uses measured power and speed of the chips",
    "token_cost": "the engine that costs least, of one node, in the format that you chose or, by"
    " default, in the one in which the model is usually served there",
    "hardware_compare": "that of the engine of one node, or of the rack of a GB300",
    "inference_roofline": "the fewest chips that leave room for 128 requests",
    "inference_ladder": "one, two, four or eight chips that share every layer",
    "architecture_bets": "each by the best engine of its own domain, a node of eight or a rack",
    "vendor_claims": "the best of all layouts of up to 64 chips",
    "scaling_math": "the floor is a bound, not an answer",
}
"""What each page says of how its answer comes about, where others do otherwise."""


@pytest.mark.parametrize("chapter, words", SAID.items(), ids=SAID)
def test_a_page_says_what_it_takes_otherwise(chapter, words):
    assert words in page_text(chapter)


def test_what_owning_counts_as_power_is_no_less_than_what_is_drawn():
    """The input that the pages on buying name, and the one on sustainability has from meters."""
    for name in ("H100 SXM", "A100 SXM 80GB", "B200", "GB300", "MI300X", "L40S"):
        drawn = machine(name)
        at_work = drawn.chip_watts + drawn.host_watts + drawn.network_watts
        assert Ownership.typical(name, "data center").busy_watts >= at_work


def test_what_a_display_takes_otherwise_is_beside_its_answer(pages):
    of = pages["architecture_bets"]
    table = of.page.served(of.within_20_ms)._repr_mimebundle_()["text/plain"]
    assert "every paid hour used" in table and "by the model of serving" in table
    of = pages["vendor_claims"]
    said = of.page.beside_usual(of.case, of.Usual.of(of.case, of.paid, tuple(of.terms)))
    words = said._repr_mimebundle_()["text/plain"]
    assert "a bound for each of the two" in words and "without drafts" in words
    assert "usual engines of one node or rack, by which a token is priced" in words


STEPS = [
    # model, accelerator, format, chips, batch, tokens in view
    ("Llama-3.1-70B", "H100 SXM", "BF16", 8, 8, 2048),
    ("Llama-3.1-8B", "A100 SXM 80GB", "BF16", 8, 64, 1000),
    ("DeepSeek-V3", "H200 SXM", "FP8", 8, 32, 4096),
]


@pytest.mark.parametrize("case", STEPS, ids=lambda case: " ".join(map(str, case)))
def test_beside_its_floor_a_step_takes_as_long_as_where_tokens_are_priced(pages, case):
    names = "model", "accelerator", "weights", "accelerators", "batch", "context"
    floor = cells("scaling_math", **dict(zip(names, case, strict=True)))
    said = floor.page.in_practice(floor.live.case, floor.step.seconds, floor.needed)
    curve = pages["inference_roofline"].server.curve
    name, chip, form, _, batch, context = case
    step_s = curve.writing_s(float(batch)) + curve.looking_s(float(batch), float(context))
    there = {"model": name, "accelerator": chip, "precision": form, "chips": "8"}
    (seconds,) = at(there, step_s)
    assert seconds > floor.step.seconds.value
    assert f"it says {charts.say(seconds, 'duration')}," in said._repr_mimebundle_()["text/plain"]


@pytest.mark.parametrize("chip", ["H100 SXM", "B200", "MI300X", "A100 SXM 80GB"])
def test_a_token_in_service_costs_scaling_laws_what_it_costs_elsewhere(pages, chip):
    """At the share of peak that follows the chip: of an 8B, with all its tokens counted."""
    laws, case = (
        cells("scaling_laws"),
        Serving("Llama-3.1-8B", chip, "chat", 30.0, 1.0, "on demand"),
    )
    prompt, answer, _ = REQUESTS[case.request]
    of, hour = laws.chips[chip], hour_of(pages, case)
    here = {"accelerator": chip, "serving_mfu": of["serving_mfu"], "rent_usd_per_hour": hour}
    flop = 2 * parameters(catalog.model(case.model)).total * (prompt + answer) / answer
    (usd,) = at(here, laws.serve)
    assert usd * flop * 1e6 == pytest.approx(by_token_cost(pages, case).usd, rel=1e-3)


def test_the_cheapest_of_the_chips_that_both_offer_is_the_same(pages):
    one, other = pages["token_cost"], pages["hardware_compare"]
    chips = [*one.tables.chips]
    for model in one.tables.models:
        terms = {"model": model, "contract": "on demand"}
        here = terms | {"accelerator": np.array(chips)}
        (listed,) = evaluate([one.price.rented], here)
        there = terms | {"chip": np.array(chips), "least_providers": 1}
        (asked,) = evaluate([other.any_chip.usd], there)
        assert listed == pytest.approx(asked, rel=1e-6, nan_ok=True)
        assert chips[np.nanargmin(listed)] == chips[np.nanargmin(asked)]


def test_both_say_the_same_of_how_sure_a_speed_is(pages):
    one, other = pages["token_cost"], pages["hardware_compare"]
    for chip in one.tables.chips:
        bounds = evaluate([one.speed.low, one.speed.high], {"accelerator": chip})
        there = [other.any_chip.speed.low, other.any_chip.speed.high]
        assert bounds == pytest.approx(evaluate(there, {"chip": chip}))


@pytest.mark.processes
def test_a_sweep_says_what_the_page_says(pages, tmp_path):
    models, chips = ("Llama-3.3-70B", "gpt-oss-120b"), ("H100 SXM", "MI300X")
    grid = f"model={','.join(models)}", f"accelerator={','.join(chips)}", "contract=on demand"
    given = [word for assigned in grid for word in ("-p", assigned)]
    done = command(BOOK, "sweep", "token_cost", *given, "--out", str(tmp_path), "--workers", "1")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "sweep.csv").set_index(["model", "accelerator"])
    for model in models:
        for chip in chips:
            case = Serving(model, chip, "chat", 30.0, 0.4, "on demand")
            usd = by_token_cost(pages, case).usd
            assert table.loc[(model, chip), "usd_per_million"] == pytest.approx(usd, rel=1e-6)
