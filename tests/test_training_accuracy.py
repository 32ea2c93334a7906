"""The chapter on how far off training estimates are: its numbers are the library's, and other
tools' as they were run.
"""

import json
import re

import pandas as pd
import pytest
from paths import ROOT
from scaleright import catalog
from scaleright.chapters.training_accuracy.evidence import (
    REASONS,
    TOOLS,
    Searches,
    largest_runs,
    parts_by_tools,
    worst_runs,
)
from scaleright.parameters import ParameterError, validate
from scaleright.press.texts import declared
from scaleright.quantity import evaluate, given
from scaleright.validation import kinds, published
from scaleright.validation import training_errors as errors

STORED = ROOT / "notebooks" / "training_accuracy.ipynb"


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    rows = kinds.validate("training").rows
    return rows[rows["scored"]]


def test_the_stored_answer_is_the_librarys(judged):
    outputs = [
        out for cell in json.loads(STORED.read_text())["cells"] for out in cell.get("outputs", [])
    ]
    (card,) = [
        bundle
        for out in outputs
        for name, bundle in out.get("data", {}).items()
        if "answer" in name
    ]
    figures = {name: entry["value"] for name, entry in card["quantities"].items()}
    size = judged["error_percent"].round(4).abs() / 100
    assert figures["rows"] == len(judged) > 500
    assert [figures["median"], figures["p90"]] == pytest.approx(
        [size.median(), size.quantile(0.9)], rel=1e-6
    )
    assert figures["coverage"] == pytest.approx(judged["within_range"].mean(), rel=1e-6)


@pytest.mark.parametrize(
    "tool, off", [("calculon", 3.7), ("mlsysim", 17.3), ("llm-analysis", 11.4)]
)
def test_other_tools_are_as_far_off_as_their_runs_were(tool, off):
    tools = catalog.table("other_tools")
    steps = (
        tools[(tools["tool"] == tool) & tools["case"].str.startswith("korthikanti2022")]
        .set_index("case")["value"]
        .astype(float)
    )
    measured = (
        catalog.table("measured/training")
        .set_index("run")
        .loc[steps.index, "measured_step_s"]
        .astype(float)
    )
    mean = 100 * (steps / measured - 1).abs().mean()  # of answers that were kept to two digits
    assert len(steps) == 8 and mean == pytest.approx(off, abs=0.2)


def test_the_model_is_nearer_on_the_same_steps_without_having_seen_them(judged):
    ours = judged[judged["source"] == "korthikanti2022"]["error_percent"].abs()
    assert len(ours) == 8 and ours.mean() < 5


def test_a_reason_is_looked_for_by_runs_that_exist():
    """Every pattern of the chapter's reasons names runs of the table, so that none is left over
    from an older one.
    """
    runs = catalog.table("measured/training")["run"]
    assert len(REASONS) > 10
    for pattern in REASONS:
        assert any(re.search(pattern, run) for run in runs), pattern


def test_the_worst_runs_are_named_once_each_with_a_reason(judged):
    found = worst_runs()
    assert found["error"].abs().is_monotonic_decreasing and len(found) == 12
    assert found["error"].abs().max() == pytest.approx(
        judged["error_percent"].abs().max() / 100, rel=1e-4
    )
    assert (found["likely why"] != "not explained").sum() >= 10
    assert not found["likely why"].str.contains("{", regex=False).any()


@pytest.mark.parametrize("mode", errors.LEFT_OUT)
def test_figures_of_a_choice_are_those_of_its_runs(judged, mode):
    experts = judged[(judged["kind"] == "experts") & judged["held_out"].fillna(False).astype(bool)]
    sizes = experts[errors.column("ours", mode)].round(4).abs() / 100
    known = errors.figures()["held out", "experts", mode]
    assert known["rows"] == len(experts)
    assert [known["median"], known["p90"]] == pytest.approx(
        [sizes.median(), sizes.quantile(0.9)], rel=1e-6
    )
    assert ("llm-foundry", "experts", mode) not in errors.figures()


def test_tables_of_errors_follow_what_is_left_out():
    left_out = given("left_out", "group")
    sources, sizes = errors.by_source(left_out), errors.by_size(left_out)
    assert sources["rows"].sum() == sizes["runs"].sum() == len(errors.scored_runs())
    for mode in errors.LEFT_OUT:
        case = {"left_out": mode}
        said = evaluate(sources["ours"], case)
        alone = [cell.value for cell in errors.by_source(mode)["ours"]]
        assert said == alone
        foundry = errors.scored_runs("llm-foundry")
        foundry = foundry[foundry["precision"] == "FP8"]
        (median,) = evaluate([errors.by_precision("llm-foundry", left_out)["median"][1]], case)
        assert median == pytest.approx(errors.errors(foundry, "ours", mode)[0], rel=1e-6)


def test_parts_of_a_step_and_of_a_chips_memory_stand_beside_those_of_other_tools():
    parts = parts_by_tools().set_index("part")
    assert list(parts.columns) == ["this model", *TOOLS] and len(parts) == 9
    assert float(parts.loc["step [s]", "this model"]) > float(parts.loc["tensor [s]", "this model"])
    assert published.speeds("speed")["tool"][0] == "Scale Right"
    assert Searches.run().calculon > Searches.run().ours
    assert largest_runs()["error"].abs().max() < 0.25


WRONG = [
    ("source", "llm-foundri", "llm-foundry"),
    ("left_out", "models", "model"),
    ("kind", "moe", "dense"),
]


@pytest.mark.parametrize("name, value, near", WRONG)
def test_a_wrong_choice_names_what_is_allowed(name, value, near):
    with pytest.raises(ParameterError, match=near):
        validate(declared("training_accuracy"), {name: value})
