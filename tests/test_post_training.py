"""Post-training: rounds by their phases, how chips are shared, what must be held, and what was
published.
"""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import defaults
from hypothesis import given
from hypothesis import strategies as st
from scaleright.catalog import accelerators, model, table
from scaleright.costs import post_training
from scaleright.costs.platforms import CARDS, in_server
from scaleright.decisions.post_training import APART, BEHIND, LORA, METHODS, TURNS, Tables, job
from scaleright.decisions.post_training_choice import first_fit
from scaleright.decisions.post_training_evidence import flop_beside, judged_runs, real_runs, refit
from scaleright.market import recent_hour
from scaleright.order_statistics import longest_over_mean
from scaleright.quantity.graph import value_of
from scaleright.rules import RULES
from scaleright.training.layout import TrainingRun
from scaleright.training.search import search

CHIP = "H100 SXM"
CASE = defaults("rlhf_cost") | {"sharing": TURNS, "rounds": 100, "minibatches": 4, "labels": 30_000}


@pytest.fixture(scope="module")
def tables():
    return Tables.of(["Llama-3.1-8B", "Llama-3.1-70B"], [8, 16, 64], [CHIP], ("BF16",))


def run(tables, **changes):
    return job(tables, SimpleNamespace(**CASE | changes), CHIP)


def number(of) -> float:
    return float(value_of(of))


def test_an_answer_alone_takes_its_steps_and_no_tail():
    found = post_training.rollout_seconds(1.0, 8.0, 100.0, 100.0, 0.5, 0.01, 0.01)
    assert found.total == pytest.approx(1.5)
    assert found.tail_s == 0


@pytest.mark.parametrize("variation", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_steps_of_an_engine_are_those_that_are_counted_out(variation, rounds):
    slots, mean, ends = 128, 400.0, []
    variance = math.log(1 + variation**2)
    for order in range(40):
        draws = np.random.default_rng(order).normal(size=slots * rounds)
        free = np.zeros(slots)
        for length in mean * np.exp(math.sqrt(variance) * draws - variance / 2):
            free[free.argmin()] += length
        ends.append(free.max())
    longest = mean * longest_over_mean(float(slots), variation)
    steps = post_training.engine_steps(float(slots * rounds), float(slots), mean, longest)
    assert steps == pytest.approx(np.mean(ends), rel=0.15)


@given(spread=st.floats(0.0, 1.5), more=st.floats(0.01, 0.5), count=st.floats(2, 1e4))
def test_wider_lengths_have_a_longer_longest(spread, more, count):
    few = longest_over_mean(count, min(spread, 0.9))
    assert longest_over_mean(4 * count, min(spread, 0.9)) >= few - 1e-12


@given(write=st.floats(0.1, 1e3), learn=st.floats(0.1, 1e3), sync=st.floats(0.0, 10.0))
def test_one_step_behind_takes_the_longer_of_both_and_never_more(write, learn, sync):
    after = post_training.round_seconds(write, learn, sync, 1.0)
    behind = post_training.round_seconds(write, learn, sync, 2.0)
    assert after == pytest.approx(write + learn + sync)
    assert behind == pytest.approx(max(write, learn) + sync)


@given(
    parts=st.lists(st.floats(0.0, 100.0), min_size=7, max_size=7),
    beyond=st.floats(1.0, 3.0),
    behind=st.sampled_from([1.0, 2.0]),
    writers=st.integers(1, 64),
    learners=st.integers(1, 64),
)
def test_parts_of_the_bill_are_hours_times_price(parts, beyond, behind, writers, learners):
    one = post_training.Round(*parts)
    for chips, write, learn, late in (
        (learners, learners, learners, 1.0),
        (writers + learners, writers, learners, behind),
    ):
        round_s = post_training.round_seconds(one.rollout_s, one.training_s, one.sync_s, late)
        bill = post_training.post_training_usd(
            *parts, late, write, learn, chips, 10, 3.6, beyond, 0.0, 7.0
        )
        assert bill.total == pytest.approx(7.0 + beyond * round_s * chips * 10 * 3.6 / 3600)
        assert bill.waiting_usd >= 0


def test_the_parts_of_a_round_are_those_of_its_method(tables):
    for name, what in METHODS.items():
        one = run(tables, method=name).one
        assert (number(one.rollout_s) > 0) == bool(what["rollout"]), name
        assert (number(one.critic_s) > 0) == bool(what["critic"]), name
        assert (number(one.scoring_s) > 0) == bool(what["own"] + what["reference"]), name


def test_grpo_holds_and_takes_less_than_ppo_and_a_checker_less_than_both(tables):
    ppo, grpo, rlvr = (run(tables, method=of) for of in ("ppo", "grpo", "rlvr"))
    held = [number(of.held.beside) for of in (ppo, grpo, rlvr)]
    seconds = [number(of.round_s) for of in (ppo, grpo, rlvr)]
    assert held == sorted(held, reverse=True) and len(set(held)) == 3
    assert seconds == sorted(seconds, reverse=True)


def test_adapters_learn_faster_hold_less_and_send_less(tables):
    every, adapters = run(tables), run(tables, trained=LORA)
    assert number(adapters.one.policy_s) < number(every.one.policy_s)
    assert number(adapters.held.total) < number(every.held.total)
    assert number(adapters.one.sync_s) < number(every.one.sync_s) / 20
    assert number(adapters.one.writing_s) == number(every.one.writing_s)


def test_apart_costs_more_chips_and_one_step_behind_is_sooner_done(tables):
    turns, apart, behind = (run(tables, sharing=of) for of in (TURNS, APART, BEHIND))
    assert number(apart.chips) == 2 * number(turns.chips)
    assert number(behind.round_s) < number(apart.round_s)
    assert number(apart.round_s) == pytest.approx(number(turns.round_s), rel=0.02)


def test_more_answers_take_longer_but_less_each(tables):
    few, many = run(tables, answers_each=4), run(tables, answers_each=16)
    assert 1 < number(many.one.rollout_s) / number(few.one.rollout_s) < 4


def test_what_does_not_fit_says_on_how_many_chips_it_would(tables):
    case = SimpleNamespace(**CASE | {"model": "Llama-3.1-70B", "chips": 8})
    assert not bool(value_of(job(tables, case, CHIP).fits))
    assert int(value_of(first_fit(tables, case, CHIP))) == 64


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"method": "grpo", "answers_each": 1}, "no other to compare"),
        ({"answer_tokens": 2000, "most_tokens": 1000}, "allow longer"),
        ({"most_tokens": 131_072}, "cut answers sooner"),
        ({"trained": LORA, "lora_rank": 8192}, "lower rank"),
    ],
)
def test_a_case_that_makes_no_sense_is_refused(changes, words):
    names = ("model", "method", "trained", "lora_rank", "answers_each", "prompt_tokens")
    case = CASE | changes
    with pytest.raises(ValueError, match=words):
        RULES["tunable"](*(case[of] for of in (*names, "answer_tokens", "most_tokens")))


def test_a_case_that_no_chips_hold_is_refused():
    names = ("model", "reward_model", "method", "trained")
    rest = ("chips", "sharing", "rollout_chips", "rollout_precision", "prompts", "answers_each")
    rest += ("prompt_tokens", "answer_tokens", "length_spread", "most_tokens")

    def refused(**changes):
        case = CASE | changes
        RULES["tunes"](*(case[of] for of in names), CHIP, *(case[of] for of in rest))

    refused()
    with pytest.raises(ValueError, match="nearest that fits: chips = "):
        refused(model="Llama-3.1-70B", chips=16)
    with pytest.raises(ValueError, match="no engine of one node"):
        refused(model="Llama-3.1-405B", chips=256)
    with pytest.raises(ValueError, match="take more of them"):
        refused(model="Llama-3.1-70B", chips=64, sharing=APART, rollout_chips=1)


def test_published_rounds_take_longer_than_their_phases_and_are_predicted_by_other_models():
    rows, real = judged_runs(), real_runs()
    mine = rows[rows["engine"] == "vLLM"]
    assert real.runs == len(mine) >= 25 and real.models >= 6
    assert real.error < real.phases_error < 0.6
    for name, of in mine.groupby("model"):
        others = mine[mine["model"] != name].groupby("model")["ratio"].median().median()
        assert np.allclose(of["predicted"] / of["phases"], others)


def test_the_phases_that_are_stored_are_those_of_the_model():
    stored, anew = table("post_training_phases").fillna({"why": ""}), refit()
    pd.testing.assert_frame_equal(stored, anew, check_dtype=False)


def test_work_of_instructgpt_is_counted_within_a_tenth():
    found = flop_beside()
    assert (found["error"].abs() < 0.1).all()
    assert not math.isnan(found["counted"].sum())


def test_cards_that_tune_are_those_without_a_fabric_that_two_providers_list():
    cards = [name for name, chip in accelerators().items() if not chip.scale_up_chips]
    listed = {name: recent_hour(name) for name in cards if "bf16" in accelerators()[name].dense}
    assert {name for name, hour in listed.items() if hour and hour.providers > 1} == {*CARDS}


def test_a_tuning_on_cards_that_no_fit_saw_took_about_as_long_as_is_predicted():
    rows = table("mlperf_training")
    rows = rows[(rows["accelerator"] == "L40S") & (rows["benchmark"] == "llama2_70b_lora")]
    assert len(rows) >= 2
    for row in rows.to_dict("records"):
        batch, size = int(row["global_batch"]), int(row["accelerators"])
        run = (model("Llama-2-70B"), in_server("L40S"), size, int(row["sequence"]), batch)
        predicted = search(TrainingRun(*run, task="lora"), limit=1)["step_s"].iloc[0]
        assert 0.8 < batch / row["logged_throughput"] / predicted < 1.25
