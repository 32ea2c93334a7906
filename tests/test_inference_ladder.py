"""The levers on inference: what each changes, when it is refused, every order of them, and the
fleets that they leave.
"""

import math
from itertools import permutations
from statistics import NormalDist

import hypothesis
import numpy as np
import pytest
from cases import defaults, quantities
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.decisions import inference_ladder as source
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import fleet_chips, groups_at_pace, whole_groups
from scaleright.inference.formats import quality_loss, resolved
from scaleright.inference.ladder import CHANGES, SOFTWARE, Fleet, Ladder, by_order
from scaleright.inference.lengths import Load, Speculation
from scaleright.inference.nodes import continuous_rate, engines_like, fastest, static_rate
from scaleright.inference.slowdowns import slowdowns
from scaleright.inference.splits import reads_apart
from scaleright.quantity import Quantity, evaluate
from scaleright.rules import RULES

MODELS = ("Llama-3.1-70B", "Llama-3.1-8B", "Mixtral-8x7B")
CHIPS = ("H100 SXM", "A100 SXM 80GB", "B200", "MI300X")
CASE = defaults("inference_ladder") | {"accelerator": "H100 SXM", "requests_per_s": 1000.0}
LEVERS = source.levers_of_source()["lever"].to_list()
CHAT = Load(1150, 210, input_cv=1.0, output_cv=1.0)


def fleet(**other) -> Fleet:
    return Fleet.of(quantities(CASE | other))


@pytest.fixture(scope="module")
def ladder() -> Ladder:
    return Ladder(fleet(), MODELS, CHIPS, LEVERS)


def climbed(names: list[str], **other) -> Ladder:
    """The ladder of some levers at one case."""
    case = CASE | other
    models = [*dict.fromkeys((case["model"], case["smaller"]))]
    return Ladder(fleet(**other), models, [case["accelerator"]], names, fixed=True)


def at(wanted, **other) -> list:
    """Values at another case; what is known anyway stays."""
    found = iter(evaluate([of for of in wanted if isinstance(of, Quantity)], other, strangers=True))
    return [next(found) if isinstance(of, Quantity) else of for of in wanted]


def chips_of(ladder: Ladder, **other) -> list[float]:
    """Chips of each step at another case."""
    return at([step.chips for step in ladder.steps], **other)


def engine(model="Llama-3.1-8B", chip="H100 SXM", precision="BF16", **other) -> Deployment:
    known = catalog.model(model), catalog.accelerator(chip), precision
    return Deployment(*known, software=SOFTWARE, kv_precision="BF16", **other)


def test_every_lever_of_the_table_is_computed():
    beyond = {"speculative decoding", "disaggregation"}
    assert set(catalog.table("levers")["lever"]) == {*CHANGES, "cost dashboard"} | beyond
    assert set(catalog.table("lever_quality")["lever"]) <= {*CHANGES}


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
def test_the_ladder_never_adds_chips_and_keeps_within_the_allowed_loss(ladder, other):
    found, allowed = np.array(chips_of(ladder, **other)), (CASE | other)["allowed_loss"]
    assert (np.diff(found) <= 0).all() and found[-1] < found[0]
    assert at([ladder.steps[-1].loss], **other)[0] <= allowed + 1e-9


@pytest.mark.parametrize("other", CASES[:8], ids=str)
def test_groups_serve_what_the_steps_of_their_engines_do(ladder, other):
    """As the steps themselves have it, which are tried at batches half an octave apart, where a
    curve meets the pace.
    """
    case, today = CASE | other, ladder.steps[0]
    shape, chip = catalog.model(case["model"]), catalog.accelerator(case["accelerator"])
    one = engine(shape.name, chip.name, resolved(shape, chip, case["precision"]))
    spreads = at([ladder.fleet.load.input_cv, ladder.fleet.load.output_cv], **other)
    load = Load(case["input_tokens"], case["output_tokens"], 0.0, *spreads)
    exact = sorted(groups_at_pace(one, case["tpot_ms"] / 1e3, slowdowns(one), load))
    found = (at(of, **other, ttft_s=30.0) for of in today.served)
    found = sorted(of for of in found if of[1] > 0)
    for (chips, rate), (n, most) in zip(found, exact, strict=True):
        assert chips == pytest.approx(n, rel=0.05) and 0.97 <= rate / most <= 2**0.5


@pytest.mark.parametrize("other", [{}, {"precision": "FP8"}, CASES[4], CASES[7]], ids=str)
def test_the_lever_to_take_first_is_the_one_that_alone_leaves_the_smallest_fleet(ladder, other):
    best = source.first_lever(ladder, error=0.2)
    alone = {name: at([climbed([name], **other).steps[-1].chips])[0] for name in LEVERS}
    choice = best.choice
    first, second, cost, next_cost, sure, loss, trial = evaluate(
        [
            *(best.first, best.second, choice.cost, choice.other, choice.sureness),
            *(choice.expected_loss, best.trial),
        ],
        other,
    )
    assert alone[first] == min(alone.values()) and first != second
    assert alone[second] == min(chips for name, chips in alone.items() if name != first)
    # two gains, each off by a fifth as nine of ten are: the ratio by so many standard deviations
    off = math.log(1.2) * math.sqrt(2) / NormalDist().inv_cdf(0.95)
    assert sure == pytest.approx(NormalDist().cdf(math.log(next_cost / cost) / off), abs=1e-3)
    assert 0 <= trial <= loss < 0.1 * cost


def test_where_no_lever_saves_anything_none_comes_first(ladder):
    best = source.first_lever(ladder, error=0.2)
    nothing = CASES[5] | {"allowed_loss": 0.0}
    first, saving = evaluate([best.first, best.saving], nothing)
    assert first == "" and math.isnan(saving)


@pytest.mark.parametrize(
    "other, lever, why",
    [
        ({"accelerator": "A100 SXM 80GB"}, "8-bit KV cache", "can"),
        ({"accelerator": "MI300X"}, "2:4 pruning", "can"),
        ({"model": "Mixtral-8x7B"}, "2:4 pruning", "can"),
        ({"variants": 1}, "LoRA adapters", "can"),
        ({"services": 1}, "pooling", "can"),
        ({"prefix_share": 0.0}, "prefix caching", "can"),
        ({"repeated_share": 0.0}, "answer caching", "can"),
        ({}, "continuous batching", "same"),
        ({"precision": "FP8"}, "8-bit weights", "same"),
        ({"model": "Llama-3.1-8B"}, "smaller model", "same"),
        ({}, "smaller model", "harmful"),
        ({"model": "Llama-3.1-8B"}, "4-bit weights", "harmful"),
    ],
)
def test_a_lever_whose_conditions_do_not_hold_is_not_taken_and_says_why(ladder, other, lever, why):
    step = next(step for step in ladder.steps if step.name == lever)
    taken, *found = at([step.taken, step.can, step.same, step.harmful], **other)
    assert not taken
    can, same, harmful = found
    assert {"can": not can, "same": can and same, "harmful": can and not same and harmful}[why]


def test_a_chip_takes_the_eight_bits_that_it_multiplies():
    wanted = {"A100 SXM 80GB": "INT8", "H100 SXM": "FP8", "MI300X": "FP8"}
    for chip, form in wanted.items():
        last = climbed(["8-bit weights"], accelerator=chip, allowed_loss=0.1).steps[-1]
        assert last.state["form"] == form


def test_the_loss_of_four_bits_takes_the_place_of_that_of_eight():
    more = {"batching": "static", "allowed_loss": 0.1}
    last = climbed(["8-bit weights", "4-bit weights"], **more).steps[-1]
    losses = dict(zip(last.losses, at(last.losses.values()), strict=True))
    assert losses["8-bit weights"] == 0.0 < losses["4-bit weights"]
    assert quality_loss("4-bit weights", "INT4", 7e10) < quality_loss("4-bit weights", "INT4", 8e9)


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
        assert all(map(math.isnan, chips_of(ladder, **other)))
    assert 0.005 < ladder.quickest_s.value < 0.03
    assert math.isnan(evaluate([ladder.quickest_s], no_such_products)[0])


@pytest.mark.parametrize(
    "other, said",
    [
        ({"tpot_ms": 1.0}, "needs 10.8"),
        ({"model": "DeepSeek-V3", "accelerator": "A100 SXM 80GB"}, "fits beside the weights"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_best_there_is(other, said):
    of = ("model", "accelerator", "precision", "batching", "static_batch", "input_tokens")
    asked = [(CASE | other)[name] for name in (*of, "output_tokens", "traffic", "tpot_ms")]
    with pytest.raises(ValueError, match=said):
        RULES["grouped"](*asked)


@hypothesis.given(size=st.lists(st.floats(1, 1e6), min_size=16, max_size=16))
def test_every_order_is_walked_and_credits_add_up(size):
    names, fleets = list("abcd"), np.reshape(size, (2,) * 4)
    fleets[-1, -1, -1, -1] = fleets.flat[0] / 2  # together they save something
    found, saved = by_order(names, fleets), {name: [] for name in names}
    for order in permutations(range(len(names))):
        at = [0] * len(names)
        for axis in order:
            before = fleets[tuple(at)]
            at[axis] = 1
            saved[names[axis]].append(1 - fleets[tuple(at)] / before)
    for name in names:
        wanted = [min(saved[name]), max(saved[name])]
        assert found.loc[name, ["least", "most"]].to_list() == pytest.approx(wanted)
    assert found["credit"].sum() == pytest.approx(1.0)
    logs = [np.mean(-np.log1p(-np.array(saved[name]))) for name in names]
    assert found["credit"].to_list() == pytest.approx(list(np.array(logs) / sum(logs)), abs=1e-9)


def test_credits_of_all_orders_add_up_to_the_ladder(ladder):
    names = ladder.taken
    orders = ladder.orders(names)
    assert orders["credit"].sum() == pytest.approx(1.0)
    assert orders.loc[names[0], "first"] == pytest.approx(ladder.steps[2].saving.value)


def test_rungs_of_the_source_multiply_to_the_whole(ladder):
    kept = np.prod([1 - share.value for share in source.saved_by_rung(ladder).values()])
    assert kept == pytest.approx(ladder.steps[-1].chips.value / ladder.steps[0].chips.value)


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
    late = at([step.late & step.taken for step in ladder.steps[1:]], ttft_s=0.5)
    assert not any(late)


# Groups of chips, and the fleets that they make


def test_a_group_serves_more_the_better_it_batches():
    for one in curves(engines_like(engine())):
        alone, static = (static_rate(one, CHAT, batch, 1e3)[0] for batch in (1, 8))
        assert alone < static < continuous_rate(one, CHAT, 1e3)[1]


def test_a_batch_of_answers_of_one_length_waits_for_nobody():
    one = curves(engines_like(engine()))[0]
    alike, spread = (static_rate(one, Load(1150, 210, output_cv=cv), 8, 1e3)[0] for cv in (0, 1.5))
    assert alike > 1.5 * spread


@pytest.mark.parametrize("streams", [1, 4, 16])
def test_pooling_saves_what_does_not_peak_together(streams):
    cases = (0.0, 1, streams), (0.0, streams, 1), (1.0, streams, 1)
    alone, pooled, lockstep = (fleet_chips(1000.0, 0.01, 1.0, 4.0, *case) for case in cases)
    assert pooled == pytest.approx(alone * (1 + 3 / streams**0.5) / 4, rel=1e-3)
    assert lockstep == pytest.approx(alone, rel=1e-3)


@hypothesis.given(
    demand=st.floats(0, 1e7),
    speed=st.floats(0.1, 1e7),
    group=st.sampled_from([1.0, 2.0, 8.0]),
    other=st.floats(0.1, 1e7),
)
def test_a_fleet_meets_the_demand_and_a_group_less_would_not(demand, speed, group, other):
    fleet = whole_groups([(group, speed * group), (4.0, 4 * other)], demand)
    size, of, served = map(float, fleet)
    assert size * served / of >= demand * (1 - 1e-6)
    assert size == of or (size - of) * served / of < demand
    assert size <= whole_groups([(group, speed * group)], demand).chips


@pytest.mark.parametrize(
    "asked, chips",
    [
        ((1e-6, 10.0, 8.0, 1.0, 0.0, 1, 5), 40.0),  # a group for each pool
        ((3.0, 1.0, 17.4, 1.0, 0.0, 1, 2), 2 * math.ceil(2 * 17.4)),  # shared chips are whole
        ((2.0, 1.0, 8.0, 1.0, 0.0, 1, 1), 16.0),
    ],
)
def test_a_fleet_is_of_whole_groups_and_whole_chips(asked, chips):
    assert fleet_chips(*asked) == chips


def test_prompts_of_a_rack_are_read_apart_in_a_fleet_as_in_the_price_of_a_token():
    of = engine("DeepSeek-V3", "GB300", "NVFP4")
    found, asked = engines_like(of), (of, 0.05, slowdowns(of), CHAT)
    groups = groups_at_pace(*asked)
    assert len(groups) == len(found)
    for d, one, (size, most) in zip(found, curves(found), groups, strict=True):
        best = fastest([one], CHAT, 0.05)
        assert (size > d.chips) == (best.chips > d.chips) == reads_apart(d)
        # the numbers of sequences at which a fleet is tried lie a factor of 1.4 apart
        rate = best.tokens_per_s / CHAT.output_tokens
        assert 1 / 1.4 < most / size / rate < 1.05
    apart = groups_at_pace(*asked, apart=True)
    assert apart[-1][1] == pytest.approx(groups[-1][1]) and apart[0][0] > groups[0][0]


# Beyond the ladder


def most_per_chip(of: Deployment, load: Load, tpot_s: float = 0.05, **more) -> float:
    return max(rate / n for n, rate in groups_at_pace(of, tpot_s, slowdowns(of), load, **more))


def test_a_draft_pays_only_where_it_guesses_well():
    plain, poor, good = (
        most_per_chip(engine(), Load(1150, 210, speculation=draft))
        for draft in (None, Speculation(4, 0.05), Speculation(4, 0.9))
    )
    assert poor < plain < good


def test_prompts_on_groups_of_their_own_pay_at_a_tight_pace_alone():
    """Prompts beside the tokens of others stretch the gaps, which matters only where gaps are
    limited.
    """
    of, load = engine("Llama-3.1-70B", precision="FP8"), Load(4000, 200)
    tight, loose = (
        most_per_chip(of, load, pace, apart=True) / most_per_chip(of, load, pace)
        for pace in (0.03, 0.5)
    )
    assert tight > 1.05 > loose


def test_two_more_levers_say_what_they_save_or_why_they_are_left(ladder):
    found = source.beyond_the_ladder(ladder, (20, 1))
    assert found["20 ms a token"].str.endswith(" %").all()
    assert (found["1 ms a token"] == "out of reach").all()
