"""The judge of training: leave-one-group-out, its targets, its baselines, readers' own files."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog
from scaleright.validation import cross_validation
from scaleright.validation import training as judge
from scaleright.validation.kinds import validate


@pytest.fixture(scope="module")
def judged():
    return validate("training")


def errors(judged, source, experts=False, left_out="", precision=None):
    rows = judged.rows[
        judged.rows["scored"]
        & (judged.rows["source"] == source)
        & ((judged.rows["kind"] == "experts") == experts)
    ]
    rows = rows[rows["precision"] == precision] if precision else rows
    return rows[f"error_percent{left_out}"].abs(), rows


@pytest.mark.parametrize("left_out", ["", " model left out"])
@pytest.mark.parametrize(
    "source, experts, precision, rows, median, p90",
    [
        ("llmfoundry", False, "BF16", 173, 4, 12),
        ("megatronbridge2026", False, None, 71, 5, 12),  # 11 more keep activations in host memory
        ("nemoperformance2024", False, None, 20, 5, 12),
        ("megatronbridge2026", True, None, 80, 12, 35),
        ("torchtitan2024", False, None, 12, 10, 25),
        ("dgxcloud2025", False, None, 80, 6, 15),
        ("korthikanti2022", False, None, 8, 5, 10),
    ],
)
def test_runs_never_seen_are_predicted(
    judged, source, experts, precision, rows, median, p90, left_out
):
    size, judged_rows = errors(judged, source, experts, left_out, precision)
    assert len(size) >= rows
    assert size.median() < median and size.quantile(0.9) < p90
    for baseline in ("baseline", "regression"):
        assert size.median() < judged_rows[f"{baseline}_error_percent{left_out}"].abs().median()


def test_the_range_holds_as_often_as_it_says(judged):
    rows = judged.rows
    scored = rows[rows["scored"] & ~cross_validation.held_out(rows)]
    assert 0.85 < scored["within_range"].mean() < 0.95
    assert scored.loc[scored["kind"] == "dense", "width_percent"].median() < 30


def test_there_is_at_most_one_constant_for_fifteen_rows():
    fitted = catalog.table("training_constants")
    runs = fitted.loc[fitted["constant"] == "runs", "value"].sum()
    assert (fitted["basis"] == "fit").sum() <= runs / 15


def test_stored_constants_are_those_of_the_fit():
    stored, anew = catalog.table("training_constants"), judge.refit()
    assert (
        stored[["family", "constant", "rows"]].to_numpy().tolist()
        == anew[["family", "constant", "rows"]].to_numpy().tolist()
    )
    assert np.allclose(stored[["value", "low", "high"]], anew[["value", "low", "high"]], atol=2e-4)


def test_a_row_does_not_take_part_in_its_own_prediction(judged):
    """Halving the measured time of one group leaves its own predictions as they were, and moves
    others.
    """
    table = catalog.table("measured/training").reset_index(drop=True)
    group = (table["model"] == "MPT-7B") & (table["accelerators"] == 8)
    changed = table.copy()
    changed.loc[group, "measured_tokens_per_s_per_accelerator"] *= 2
    every = judge.cases.cases(changed)
    use = np.array([not case.why for case in every]) & ~cross_validation.held_out(table)
    subject = dataclasses.replace(
        judge.SUBJECT, book=lambda: cross_validation.Book(changed, every, use)
    )
    place = [np.flatnonzero(of & use)[0] for of in (group, ~group & (table["model"] == "MPT-3B"))]
    predicted = cross_validation.leave_group_out(
        subject, [every[i] for i in place], changed.iloc[place], judge.MODES[""]
    )
    before = judged.rows["predicted"].to_numpy()[place]
    assert predicted[0] == pytest.approx(before[0], rel=1e-9)
    assert abs(predicted[1] / before[1] - 1) > 1e-3


def test_rows_whose_configuration_does_not_determine_the_time_are_shown_and_not_scored(judged):
    apart = judged.rows[~judged.rows["scored"]]
    why = apart.set_index("run")["why"]
    assert apart["source"].eq("maxtext2025").sum() == 51
    assert why.str.contains("drops tokens").sum() >= 13
    assert why.str.contains("does not fit in memory").sum() >= 1
    assert (why != "").all()


def test_the_report_prints_and_serializes(judged):
    text, document = judged.to_text(), json.loads(judged.to_json())
    assert "whose median width is" in text and "look-up" in text
    assert max(map(len, text.split("furthest off")[0].splitlines()[5:])) <= 140
    assert document["summary"]["rows"] == judged.summary.rows and len(document["tables"]) == 2


HEAD = (
    "model,accelerator,accelerators,precision,sequence,global_batch,micro_batch,tensor_parallel,"
    "sharding,measured_tokens_per_s_per_accelerator"
)


def own(tmp_path, *lines, head=HEAD):
    path = tmp_path / "own.csv"
    path.write_text("\n".join((head, *lines)) + "\n")
    return path


def test_a_readers_own_runs_are_predicted_by_name_and_by_shape(tmp_path):
    by_name = validate(
        "training", own(tmp_path, "Llama-3.1-8B,H100 SXM,64,BF16,8192,256,1,1,3,9000")
    ).rows.iloc[0]
    assert by_name["scored"] and by_name["low"] < by_name["predicted"] < by_name["high"]
    shape = "layers,hidden,heads,kv_heads,head_dim,ffn,gated_ffn,vocab,tied_embeddings"
    line = "mine,H100 SXM,64,BF16,8192,256,1,1,3,9000,32,4096,32,8,128,14336,true,128256,false"
    by_shape = validate("training", own(tmp_path, line, head=f"{HEAD},{shape}")).rows.iloc[0]
    assert by_shape["predicted"] == pytest.approx(by_name["predicted"])
    silent = own(tmp_path, "Llama-3.1-8B,H100 SXM,64,BF16,8192,256,1,1,3,")
    unmeasured = validate("training", silent).rows.iloc[0]
    assert unmeasured["predicted"] == pytest.approx(by_name["predicted"])
    assert not unmeasured["scored"]


def test_a_readers_shards_are_groups(tmp_path):
    """Weights inside a node of eight save gathering over 1,024 chips; a copy has whole groups."""
    line, head = (
        "Llama-2-7B,H100 SXM,1024,BF16,2048,1024,1,1,3,9000,torchtitan,",
        f"{HEAD},software",
    )
    whole, node = (
        validate("training", own(tmp_path, line + shards, head=f"{head},shards")).rows.iloc[0]
        for shards in ("1024", "8")
    )
    assert node["predicted"] < 0.8 * whole["predicted"]


def test_the_second_baseline_is_fitted_a_chip(judged):
    assert (
        pd.Series(judged.rows.loc[judged.rows["scored"], "regression_error_percent"]).notna().all()
    )
