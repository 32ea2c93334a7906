"""The ladder as quantities: what the page climbs is what the library climbs."""

import math
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from cases import defaults, quantities
from scaleright.decisions import inference_ladder as source
from scaleright.inference.ladder import Fleet, Ladder
from scaleright.inference.levers import climb
from scaleright.quantity import evaluate

MODELS = ("Llama-3.1-70B", "Llama-3.1-8B", "Mixtral-8x7B")
CHIPS = ("H100 SXM", "A100 SXM 80GB", "B200", "MI300X")
CASE = defaults("inference_ladder") | {"accelerator": "H100 SXM", "requests_per_s": 1000.0}
LEVERS = source.levers_of_source()["lever"].to_list()


@pytest.fixture(scope="module")
def ladder() -> Ladder:
    case = quantities(CASE)
    return Ladder(Fleet.of(case), MODELS, CHIPS, LEVERS)


def fleets(ladder: Ladder, **other) -> list[float]:
    """Chips of each step at another case."""
    return evaluate([step.chips for step in ladder.steps], other)


CASES = [
    {},
    {"model": "Llama-3.1-8B", "requests_per_s": 5000.0},
    {"model": "Mixtral-8x7B", "accelerator": "MI300X"},
    {"accelerator": "B200", "tpot_ms": 20.0},
    {"accelerator": "A100 SXM 80GB", "allowed_loss": 0.2},
    {"services": 1, "variants": 1, "prefix_share": 0.0, "repeated_share": 0.0},
    {"precision": "FP8", "input_tokens": 6000.0, "traffic": "code completion"},
    {"precision": "INT4", "accelerator": "A100 SXM 80GB"},
    {"batching": "static", "static_batch": 16},
    {"batching": "one at a time", "model": "Llama-3.1-8B"},
]


@pytest.mark.parametrize("other", CASES, ids=str)
def test_the_graph_climbs_as_the_library_does(ladder, other):
    """Fleets are as the search finds them, or a tenth smaller: it tries batches half an octave
    apart, and the graph meets the pace.
    """
    rungs = climb(
        source.service_of(SimpleNamespace(**CASE | other)), LEVERS, (CASE | other)["allowed_loss"]
    )
    found = np.array(fleets(ladder, **other))
    searched = np.array([rung.chips for rung in rungs])
    assert (found <= 1.03 * searched).all() and (found >= 0.85 * searched).all(), searched
    assert (np.diff(found) <= 0).all()


@pytest.mark.parametrize("other", [{}, {"precision": "FP8"}, CASES[4], CASES[7]], ids=str)
def test_the_lever_to_take_first_is_the_one_that_alone_leaves_the_smallest_fleet(ladder, other):
    best = source.first_lever(ladder, error=0.2)
    service = source.service_of(SimpleNamespace(**CASE | other))
    allowed = (CASE | other)["allowed_loss"]
    alone = {name: climb(service, [name], allowed)[-1].chips for name in LEVERS}
    choice = best.choice
    first, second, cost, next_cost, sure, loss, trial = evaluate(
        [
            *(best.first, best.second, choice.cost, choice.other, choice.sureness),
            *(choice.expected_loss, best.trial),
        ],
        other,
    )
    assert alone[first] <= 1.03 * min(alone.values()) and first != second
    rest = min(chips for name, chips in alone.items() if name != first)
    assert alone[second] <= 1.03 * rest
    # two gains, each off by a fifth as nine of ten are: the ratio by so many standard deviations
    off = math.log(1.2) * math.sqrt(2) / NormalDist().inv_cdf(0.95)
    assert sure == pytest.approx(NormalDist().cdf(math.log(next_cost / cost) / off), abs=1e-3)
    assert 0 <= trial <= loss < 0.1 * cost


def test_where_no_lever_saves_anything_none_comes_first(ladder):
    best = source.first_lever(ladder, error=0.2)
    nothing = CASES[5] | {"allowed_loss": 0.0}
    first, saving = evaluate([best.first, best.saving], nothing)
    assert first == "" and math.isnan(saving)


def test_batches_that_wait_are_those_of_the_library(ladder):
    for batching in ("static", "one at a time"):
        case = SimpleNamespace(**CASE | {"batching": batching})
        assert fleets(ladder, batching=batching)[0] == pytest.approx(
            climb(source.service_of(case), [])[0].chips, rel=0.02
        )


def test_the_taken_levers_keep_within_the_allowed_loss(ladder):
    found = source.by_allowed_loss(ladder, [0.0, 0.005, 0.01, 0.2])
    assert (found["loss"] <= found["allowed loss"] + 1e-9).all()
    assert found["loss"].iloc[-1] > found["loss"].iloc[0] == 0.0
    assert found["levers"].iloc[2].split(", ") == ladder.taken
    assert "smaller model" in found["levers"].iloc[3]


def test_who_starts_lower_saves_more(ladder):
    saving = 1 - ladder.steps[-1].chips / ladder.steps[0].chips
    found = source.by_start(saving, ["one at a time", "continuous"], CHIPS[:3]).set_index("today")
    assert found.loc["continuous", "H100 SXM"] == saving.value
    assert (found.loc["one at a time"] > found.loc["continuous"]).all()


def test_what_cannot_be_served_has_no_fleet_and_says_how_fast_it_would_be(ladder):
    no_such_products = {"accelerator": "A100 SXM 80GB", "precision": "FP8"}
    for other in ({"tpot_ms": 5.0}, {"input_tokens": 1e7}, no_such_products):
        assert all(map(math.isnan, fleets(ladder, **other)))
    assert 0.005 < ladder.quickest_s.value < 0.03
    assert math.isnan(evaluate([ladder.quickest_s], no_such_products)[0])


def test_credits_of_all_orders_add_up_to_the_ladder(ladder):
    names = ladder.taken
    orders = ladder.orders(names)
    assert orders["credit"].sum() == pytest.approx(1.0)
    assert orders.loc[names[0], "first"] == pytest.approx(ladder.steps[2].saving.value)
    assert (orders["least"] <= orders["first"]).all() and (orders["first"] <= orders["most"]).all()


def test_rungs_of_the_source_multiply_to_the_whole(ladder):
    kept = np.prod([1 - share.value for share in source.saved_by_rung(ladder).values()])
    assert kept == pytest.approx(ladder.steps[-1].chips.value / ladder.steps[0].chips.value)


def test_sparse_products_are_for_dense_models_on_chips_that_have_them(ladder):
    step = next(step for step in ladder.steps if step.name == "2:4 pruning")
    cases = {"model": np.array(["Llama-3.1-8B", "Mixtral-8x7B", "Llama-3.1-8B"])}
    cases["accelerator"] = np.array(["H100 SXM", "H100 SXM", "MI300X"])
    assert evaluate([step.can], cases)[0].tolist() == [True, False, False]


def test_two_more_levers_say_what_they_save_or_why_they_are_left():
    service = source.service_of(SimpleNamespace(**CASE | {"requests_per_s": 100.0}))
    found = source.beyond_the_ladder(service, 0.01, (20, 1))
    assert found["20 ms a token"].str.endswith(" %").all()
    assert (found["1 ms a token"] == "out of reach").all()


def test_a_first_token_is_promised_as_long_as_any_group_keeps_it(ladder):
    """Groups that are late are left out, and so is a lever that leaves none in time."""
    today, end = ladder.steps[0], ladder.steps[-1]
    wanted = [today.kept, end.kept, today.chips]
    patience = {"ttft_s": np.array([0.2, 0.5, 2.0, 30.0])}
    kept, then, chips = evaluate(wanted, patience)
    assert kept.tolist() == sorted(kept) and kept[-1] and (then >= kept).all()
    assert (np.diff(chips[kept]) <= 0).all()
    waits = [evaluate(wanted[:2], {"batching": of}) for of in ("static", "one at a time")]
    assert waits == [[False, True]] * 2  # for the end of the batch before
    late = evaluate([step.late & step.taken for step in ladder.steps[1:]], {"ttft_s": 0.5})
    assert not any(late)
