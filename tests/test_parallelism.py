"""How to split a run: each branch is reached by computed time and memory, and the source's rule
stands beside it.
"""

from dataclasses import replace

import pytest
from built import BOOK
from scaleright import catalog, units
from scaleright.chapters.parallelism.model import ACCEPTS, SOURCE, parallelism_selector, source_rule
from scaleright.decisions.parallelism_playbook import (
    SOURCE_WORDS,
    STRATEGIES,
    contenders,
    playbook,
    strategy,
    words,
)
from scaleright.press.execute import answer
from scaleright.training.layout import TrainingRun

H100, MODEL = catalog.accelerator("H100 SXM"), catalog.model
SMALL = TrainingRun(MODEL("MPT-1B"), H100, 8, 2048, 256)
SEVEN = TrainingRun(MODEL("Llama-2-7B"), H100, 64, 4096, 256)
LARGE = TrainingRun(MODEL("Llama-3.1-405B"), H100, 16_384, 8192, 2048)
ONE_SEQUENCE = TrainingRun(MODEL("Llama-3.1-8B"), H100, 8, 512, 1, task="sft")
SLOW_LINKS = replace(
    SEVEN,
    chip=replace(H100, scale_up_bytes_per_s=2e9, scale_out_bytes_per_s=1e9),
    chips=16,
    global_batch=1024,
    sequence=1024,
)

# (run, the computed strategies, what S2's rule says)
BRANCHES = [
    (SMALL, ("data", "sharded data"), "data parallelism"),
    (SEVEN, ("sharded data",), "pipeline or hybrid"),
    (LARGE, ("hybrid",), "pipeline or hybrid"),
    (ONE_SEQUENCE, ("tensor",), "model parallelism"),
    (SLOW_LINKS, ("pipeline",), "pipeline or hybrid"),
]


@pytest.mark.parametrize(
    "run, expected, rule",
    BRANCHES,
    ids=lambda value: getattr(getattr(value, "model", None), "name", None),
)
def test_each_branch_is_reached_by_what_is_computed(run, expected, rule):
    verdict = parallelism_selector(run)
    chosen = verdict.what.removesuffix(" parallelism")
    assert chosen in expected
    assert verdict.rule == rule == source_rule(run)
    assert verdict.source == SOURCE
    times = {name: value for name, (value, unit) in verdict.numbers.items() if unit == "s a step"}
    assert times[chosen] <= 1.02 * min(times.values())
    assert verdict.agrees == (chosen in ACCEPTS[rule])
    assert (
        sum(any(reason.startswith(name) for reason in verdict.reasons) for name in STRATEGIES) >= 4
    )  # every other one is argued with


def test_a_7b_model_on_64_chips_needs_no_model_parallelism_where_the_rule_demands_it():
    verdict = parallelism_selector(SEVEN)
    assert verdict.what == "sharded data parallelism" and not verdict.agrees
    assert any(
        reason.startswith("data does not fit") and "optimizer" in reason
        for reason in verdict.reasons
    )
    assert any(
        reason.startswith("tensor (TP") and "slower, by tensor" in reason
        for reason in verdict.reasons
    )


def test_a_strategy_without_a_layout_says_what_forbids_it():
    reasons = parallelism_selector(LARGE).reasons
    assert any(
        reason.startswith("data has no layout")
        and "data = 16,384 does not divide global_batch = 2,048" in reason
        for reason in reasons
    )


def test_the_rule_reconsiders_where_no_fabric_joins_the_chips():
    assert (
        source_rule(replace(SEVEN, chip=catalog.accelerator("L40S")))
        == "a smaller model or mid-tier chips"
    )
    assert (
        source_rule(replace(SMALL, chip=catalog.accelerator("L40S"), chips=1)) == "data parallelism"
    )


def test_a_slow_network_shows_in_the_reasons():
    assert "a tenth of the bandwidth" in parallelism_selector(SEVEN).reasons[-1]
    assert "a tenth" not in parallelism_selector(SMALL).reasons[-1]  # one node


def test_nothing_fits():
    with pytest.raises(ValueError, match="nearest that fits: chips = 128"):
        parallelism_selector(replace(LARGE, chips=8))


def test_the_playbook_computes_what_the_source_calls_high_and_low():
    table = playbook(SMALL)
    assert list(table.index) == list(STRATEGIES) == list(SOURCE_WORDS.index) and table["fits"].all()
    best = contenders(SMALL)
    for name, row in table.iterrows():
        layout, memory, step, count = best[name]
        assert strategy(layout) == name
        assert row["layout"] == words(layout)
        assert row["layouts"] == count
        assert row["memory_bytes"] == pytest.approx(float(memory.total))
        assert row["latency_s"] <= float(step.total) * 1.01
    assert table["slower_by"].min() == 0 and table["ways"].to_dict()["hybrid"] >= 2
    assert table.loc["pipeline", "slower_by"] > table.loc["data", "slower_by"]


def test_no_time_is_given_for_what_does_not_fit():
    table = playbook(SEVEN)
    assert not table.loc["data", "fits"]
    assert (
        table.loc["data", ["tokens_per_s_per_chip", "mfu", "latency_s", "slower_by"]].isna().all()
    )
    assert (
        table.loc["data", "memory_bytes"]
        > H100.memory_bytes
        > table.loc["sharded data", "memory_bytes"]
    )


def test_one_chip_needs_no_split():
    verdict = parallelism_selector(TrainingRun(MODEL("MPT-125M"), H100, 1, 2048, 64))
    assert verdict.what == "data parallelism" and verdict.agrees


def test_the_headline_of_the_chapter_is_the_librarys():
    said = answer(BOOK.notebook("parallelism").read_bytes())
    verdict = parallelism_selector(TrainingRun(MODEL("Llama-3.1-70B"), H100, 256, 8192, 512))
    seconds = verdict.numbers[verdict.what.removesuffix(" parallelism")][0]
    assert f"over 256 H100 SXM by {verdict.what}. {units.duration(seconds)} a step" in said
    assert f"The layout is {verdict.reasons[0].partition(': ')[0]}." in said
