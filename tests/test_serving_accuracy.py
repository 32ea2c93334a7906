"""The chapter on how far off serving estimates are: its numbers are the library's, and other tools'
as they were run.
"""

import json
import math
from functools import cache

import pandas as pd
import pytest
from paths import ROOT
from scaleright import catalog
from scaleright.chapters.serving_accuracy.evidence import (
    REASONS,
    errors,
    errors_by_chip,
    figures_of,
)
from scaleright.inference.phases import KINDS
from scaleright.inference.slowdowns import slowdowns
from scaleright.parameters import ParameterError, validate
from scaleright.press.texts import declared
from scaleright.validation import cross_validation, serving

STORED = ROOT / "notebooks" / "serving_accuracy.ipynb"


@cache
def judged() -> pd.DataFrame:
    return catalog.table("serving_errors")


def test_stored_errors_are_those_that_the_library_finds_now():
    """Of rows that no fit sees, predicted by the stored constants but where a fitted run of the
    same group was left out: `python -m refresh.judged` writes them anew.
    """
    rows = catalog.table("measured/serving")
    book, _, fitted = serving.book()
    told = set(cross_validation.groups(book[fitted], serving.MODES[""]))
    table, cases = serving.cases(
        rows[rows["held_out"].fillna(False).astype(bool)], "measured/serving", False
    )
    stored = (
        judged()
        .set_index(["run", "figure"])
        .reindex(list(zip(table["run"], table["figure"], strict=True)))
    )
    now = [
        one
        for one, group in zip(
            zip(cases, stored.itertuples(), strict=True),
            cross_validation.groups(table, serving.MODES[""]),
            strict=True,
        )
        if not one[0].why and one[0].figure != "TTFT" and group not in told
    ]
    assert len(now) > 800 and all(row.scored for _, row in now)
    ratios = [_predicted(one) / row.predicted for one, row in now]
    assert max(abs(math.log(ratio)) for ratio in ratios) < 0.02


def _predicted(one: serving.Case) -> float:
    slow = slowdowns(one.deployment)
    seconds = sum(part * slow.get(kind, 1.0) for part, kind in zip(one.seconds, KINDS, strict=True))
    return 1 / seconds if one.figure == "throughput" else seconds


def test_every_measurement_of_serving_is_judged_or_shown():
    assert set(judged()["run"]) >= set(catalog.table("measured/serving")["run"])
    energy = catalog.table("measured/energy")
    assert set(judged()[judged()["figure"] == "energy"]["run"]) <= set(energy["run"])
    assert (judged()["scored"] == judged()["why"].isna()).all()


def test_the_stored_answer_is_the_tables():
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
    scored = judged()[judged()["scored"]]
    of = scored[scored["figure"] == "throughput"]
    size = of["error_percent"].abs() / 100
    assert figures["rows"] == len(of) > 1000
    assert [figures["median"], figures["p90"]] == pytest.approx(
        [size.median(), size.quantile(0.9)], rel=1e-6
    )
    assert figures["roofline_median"] == pytest.approx(
        (of["roofline_percent"].abs() / 100).median(), rel=1e-6
    )


def test_a_choice_of_figures_lies_in_its_ranges_as_often_as_its_rows_do():
    of = judged()[judged()["scored"] & (judged()["figure"] == "throughput")]
    inside = (of["low"] <= of["published"]) & (of["published"] <= of["high"])
    found = errors(["all"], ["throughput"])["all", "throughput", "group"]
    assert found["rows"] == len(of) and found["inside"] == pytest.approx(inside.mean(), rel=1e-12)


def test_what_no_fit_has_seen_is_predicted_far_better_than_by_a_roofline():
    rows = judged()[
        judged()["scored"]
        & judged()["held_out"].fillna(False)
        & (judged()["figure"] == "throughput")
    ]
    assert len(rows) > 600 and rows["accelerator"].nunique() >= 8
    assert rows["error_percent"].abs().median() < 25 < rows["roofline_percent"].abs().median()


def test_other_tools_answers_are_as_they_were_run():
    tools = catalog.table("other_tools")
    cases = tools[tools["case"].str.startswith("llama2-70b")].set_index(
        ["tool", "case", "quantity"]
    )["value"]
    assert len(cases) == 24
    assert cases["AIConfigurator", "llama2-70b/8-h100/batch 128", "decode step"] == 0.02036
    assert (
        tools[tools["case"] == "serving speed"].set_index("tool")["value"]["llm-analysis"] == 4800
    )


def test_a_reason_is_looked_for_by_runs_that_exist():
    """Every pattern names runs of the tables, so that none is left over from an older one."""
    runs = judged()["run"] + " gap"
    assert len(REASONS) >= 5
    assert all(runs.str.contains(pattern.replace("(", "(?:")).any() for pattern in REASONS)


def test_a_publication_without_a_figure_says_which_it_has():
    found = errors(["ML.ENERGY 2024"], ["throughput", "time per token", "energy"])
    assert {figure for _, figure, _ in found} == {"throughput", "energy"}
    assert figures_of("ML.ENERGY 2024") == "throughput or energy"


def test_errors_by_chip_are_those_of_their_rows():
    found = errors_by_chip(["all"], ["energy"])
    rows = judged()
    rows = rows[rows["scored"] & (rows["figure"] == "energy")]
    sizes = {chip: of["rows"] for (chip, _, _, mode), of in found.items() if mode == "model"}
    assert sizes == rows["accelerator"].value_counts().to_dict()
    of = rows.loc[rows["accelerator"] == "B200", "model_out_percent"]
    assert found["B200", "all", "energy", "model"]["off"] == pytest.approx(of.abs().median() / 100)


WRONG = [
    ("source", "TensorRT", "TensorRT-LLM"),
    ("figure", "troughput", "throughput"),
    ("left_out", "models", "model"),
]


@pytest.mark.parametrize("name, value, near", WRONG)
def test_a_wrong_choice_names_what_is_allowed(name, value, near):
    with pytest.raises(ParameterError, match=near):
        validate(declared("serving_accuracy"), {name: value})
