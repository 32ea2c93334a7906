"""Layouts that a page weighs: at its own case the best of all, elsewhere close to it."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from cases import defaults, quantities
from scaleright import catalog
from scaleright.architecture import chosen
from scaleright.chapters.parallelism import model as shortlists
from scaleright.chapters.parallelism.model import (
    ACCEPTS,
    accepts,
    choose,
    chosen_machine,
    machines,
    parallelism_selector,
    source_rule,
)
from scaleright.chapters.parallelism.tables import networks_of, run_of, without_pipeline
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.quantity import evaluate, given
from scaleright.training.layout import TrainingRun
from scaleright.training.memory import training_memory
from scaleright.training.step import step_time

CASE = defaults("parallelism") | {"sequence": 8192, "precision": "BF16"} | networks_of("H100 SXM")
CHIPS = ("H100 SXM", "A100 SXM 80GB", "B200")


def run_at(**other) -> TrainingRun:
    return run_of(SimpleNamespace(**CASE | other))


@pytest.fixture(scope="module")
def weighed():
    """Strategy, time and words of the best candidate, as quantities."""
    case = quantities(CASE)
    models = {name: catalog.model(name) for name in ("Llama-3.1-70B", "Llama-3.1-8B")}
    shortlist = shortlists.Shortlist.of(run_at(), models, (64, 256))
    chips = [catalog.accelerator(name) for name in CHIPS]
    of = chosen_machine(machines(chips, ("BF16", "FP8"), CASE["model"]), case)
    size = case.chips, case.sequence, case.global_batch
    shape = chosen(models, case.model)
    run = TrainingRun(shape, None, *size, case.precision, case.task)
    place = given("place", 0)
    layout, kind, which = shortlist.at(case, place)
    memory, step = training_memory(run, layout), step_time(run, layout, of.slow, of.machine)
    fits = of.there & shortlists.divides(run, layout, of.domain) & (memory.total <= of.memory_bytes)
    ways = shortlists.best_ways(shortlist, place, fits, kind, which, step, memory.total)
    what, best = shortlists.simplest(ways)
    return what, best.seconds, shortlists.words_of(shortlist, best.which)


def test_the_own_case_is_that_of_the_whole_search(weighed):
    verdict = parallelism_selector(run_at())
    what, seconds, said = (one.value for one in weighed)
    assert f"{what} parallelism" == verdict.what and said in verdict.reasons[0]
    assert seconds == pytest.approx(verdict.numbers[what][0], rel=1e-6)


@pytest.mark.parametrize(
    "other",
    [
        {"model": "Llama-3.1-8B", "chips": 64},
        {"accelerator": "B200", "precision": "FP8"} | networks_of("B200"),
        {"accelerator": "A100 SXM 80GB", "sequence": 4096} | networks_of("A100 SXM 80GB"),
        {"network_gb_per_s": 5.0},
        {"task": "lora", "chips": 64},
        {"global_batch": 128, "sequence": 16384},
    ],
)
def test_another_case_is_close_to_that_of_the_whole_search(weighed, other):
    every = contenders(run_at(**other))
    times = {name: float(of[2].total) for name, of in every.items() if of[2] is not None}
    (seconds,) = evaluate(weighed[1:2], other)
    assert 0.999 < seconds / times[choose(times)] < 1.12


@pytest.mark.parametrize(
    "other", [{"accelerator": "A100 SXM 80GB", "precision": "FP8"}, {"global_batch": 7}]
)
def test_where_nothing_is_weighed_there_is_no_answer(weighed, other):
    what, seconds, said = evaluate(weighed, other)
    assert (what, said) == ("", "none") and math.isnan(seconds)


def test_a_model_of_another_kind_is_offered_alone():
    assert list(shortlists.offered("DeepSeek-V3")) == ["DeepSeek-V3"]
    assert list(shortlists.offered("Qwen3-32B"))[:2] == ["Qwen3-32B", "Llama-3.2-1B"]


def test_answers_of_the_rule_mean_their_strategies():
    assert accepts("pipeline or hybrid", "hybrid") and not accepts("data parallelism", "hybrid")
    assert source_rule(replace(run_at(), task="sft", global_batch=8)) == "model parallelism"
    assert set(ACCEPTS) >= {source_rule(run_at())}


def test_what_a_pipeline_saves():
    flat, longer = without_pipeline(run_at())
    assert " PP" not in flat and 0 < longer < 0.2


def test_the_way_taken_is_compared_with_the_fastest_other_that_fits():
    """Errors that two layouts share cancel; without another way nothing can be said."""
    none = math.nan
    tensor, hybrid = given("tensor_s", 10.0), given("hybrid_s", 11.0)
    seconds = {"data": given("data_s", none), "tensor": tensor, "hybrid": hybrid}
    ways = {name: shortlists.Way(of, {}, 0.0, 0) for name, of in seconds.items()}
    taken = given("way", "tensor")
    other, sure = shortlists.rival(ways, taken, ways["tensor"], (0.9, 1.1))
    asked = [other, sure.probability, sure.expected_loss]
    then, likely, loss = evaluate(asked, {})
    assert then == "hybrid" and 0.5 < likely < 1 and 0 < loss < 1
    assert evaluate(asked[1:2], {"hybrid_s": 9.0})[0] < 0.5
    trials = shortlists.trials(ways, taken, ways["tensor"], (0.9, 1.1))
    saved, its_own, unfit = evaluate([trials[of] for of in ("hybrid", "tensor", "data")], {})
    assert saved == pytest.approx(loss) and math.isnan(its_own) and math.isnan(unfit)
    assert evaluate([trials["hybrid"]], {"hybrid_s": 14.0})[0] < saved
    alone = evaluate(asked, {"hybrid_s": none})
    assert alone[0] == "" and math.isnan(alone[1]) and math.isnan(alone[2])
