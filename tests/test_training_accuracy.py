"""The chapter on how far off training estimates are: its numbers are the library's, and other
tools' as they were run.
"""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from scaleright import catalog, validation
from scaleright.press.parameters import ParameterError, declared, validate

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "notebooks" / "training_accuracy.ipynb"


@pytest.fixture(scope="module")
def judged(found_as_in_builds) -> pd.DataFrame:
    rows = found_as_in_builds(lambda: validation.validate("training")).rows
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
    text = (ROOT / "notebooks" / "text" / "training_accuracy.md").read_text()
    block = text[text.index("REASONS = [") : text.index("def reason(run)")]
    patterns = re.findall(r'^    \(\s*"(.+?)",\s*f?"', block, re.MULTILINE)
    runs = catalog.table("measured/training")["run"]
    assert len(patterns) > 10 and all(
        any(re.search(pattern, run) for run in runs) for pattern in patterns
    )


WRONG = [
    ("source", "llm-foundri", "llm-foundry"),
    ("left_out", "models", "model"),
    ("kind", "moe", "dense"),
]


@pytest.mark.parametrize("name, value, near", WRONG)
def test_a_wrong_choice_names_what_is_allowed(name, value, near):
    with pytest.raises(ParameterError, match=near):
        validate(declared("training_accuracy"), {name: value})
