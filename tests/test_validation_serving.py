"""The judge of serving: leave-one-group-out, its targets, its baseline, rows never fitted, readers'
own files.
"""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog
from scaleright.inference.phases import KINDS
from scaleright.validation import cross_validation
from scaleright.validation import serving as judge
from scaleright.validation.kinds import validate


@pytest.fixture(scope="module")
def judged():
    return validate("serving")


def errors(judged, source, figure, chip=None, mode=""):
    rows = judged.rows[
        judged.rows["scored"]
        & (judged.rows["source"] == source)
        & (judged.rows["figure"] == figure)
    ]
    rows = rows[rows["accelerator"] == chip] if chip else rows
    return rows[f"error_percent{mode}"].abs(), rows


@pytest.mark.parametrize("mode, looser", [("", 1.0), (" model left out", 1.35)])
@pytest.mark.parametrize(
    "source, figure, chip, rows, median, p90",
    [
        ("tensorrtllm2025", "throughput", None, 350, 15, 45),
        ("mlenergy2026", "throughput", "H100 SXM", 190, 15, 40),
        ("mlenergy2026", "ITL", "H100 SXM", 190, 15, 40),
        ("mlenergy2026", "ITL", "B200", 190, 20, 60),
        ("mlenergy2024", "throughput", None, 240, 15, 45),
        ("siliconrefs2026", "TPOT", None, 18, 20, 75),
    ],
)
def test_runs_never_seen_are_predicted(
    judged, source, figure, chip, rows, median, p90, mode, looser
):
    size, judged_rows = errors(judged, source, figure, chip, mode)
    assert len(size) >= rows
    assert size.median() < looser * median and size.quantile(0.9) < looser * p90
    assert size.median() < 0.5 * judged_rows["baseline_error_percent"].abs().median()


@pytest.mark.parametrize(
    "source, figure, rows, median, p90",
    [
        ("tensorrtllm017", "throughput", 350, 12, 35),
        ("inferencemax2026", "TPOT", 200, 10, 40),
        ("inferencemax2026", "throughput", 200, 10, 30),
        ("intelgaudi2024", "throughput", 30, 15, 30),
        ("rocmvllm2025", "throughput", 30, 25, 40),
    ],
)
def test_chips_and_models_that_no_fit_has_seen_are_predicted(
    judged, source, figure, rows, median, p90
):
    size, judged_rows = errors(judged, source, figure)
    assert cross_validation.held_out(judged_rows).all() and len(size) >= rows
    assert size.median() < median and size.quantile(0.9) < p90


def test_no_row_that_is_held_out_takes_part_in_a_fit():
    rows, every, fitted = judge.book()
    assert not (fitted & cross_validation.held_out(rows)).any()
    assert fitted.sum() > 1400 and not any(
        one.why for one, use in zip(every, fitted, strict=True) if use
    )


def test_the_range_holds_as_often_as_it_says(judged):
    scored = judged.rows[judged.rows["scored"]]
    assert 0.85 < scored["within_range"].mean() < 0.95
    assert scored["width_percent"].median() < 75


def test_there_is_at_most_one_constant_for_fifteen_rows():
    fitted = catalog.table("serving_constants")
    runs = fitted.loc[fitted["constant"] == "runs", "value"].sum()
    assert (fitted["basis"] == "fit").sum() <= runs / 15


def test_chips_keep_near_their_measured_peaks():
    """The physics stands by itself: few constants of chips leave 0.75 to 1.5."""
    constants = catalog.table("serving_constants")
    chips = constants[constants["constant"].isin(["matmul", "attention", "cache", "tensor"])]
    assert chips["value"].between(0.7, 1.5).all()


def test_stored_constants_are_those_of_the_fit():
    stored, anew = catalog.table("serving_constants"), judge.refit()
    assert (
        stored[["family", "constant", "rows"]].to_numpy().tolist()
        == anew[["family", "constant", "rows"]].to_numpy().tolist()
    )
    assert np.allclose(
        stored[["value", "low", "high"]], anew[["value", "low", "high"]], atol=5e-4, rtol=1e-3
    )


def test_a_row_does_not_take_part_in_its_own_prediction():
    """Halving the measured speed of one group leaves its own predictions as they were, and moves
    others.
    """
    rows, every, fitted = judge.book()
    its = cross_validation.groups(rows, judge.MODES[""])
    first = np.flatnonzero(fitted)[0]
    mine = its == its[first]
    slower = [
        dataclasses.replace(one, value=one.value / 2) if of else one
        for one, of in zip(every, mine, strict=True)
    ]
    place = [first, np.flatnonzero(fitted & ~mine)[0]]

    def predict(cases):
        book = cross_validation.Book(rows, cases, fitted)
        return cross_validation.leave_group_out(
            dataclasses.replace(judge.SUBJECT, book=lambda: book),
            [cases[i] for i in place],
            rows.iloc[place],
            judge.MODES[""],
        )

    before, after = predict(every), predict(slower)
    assert after[0] == pytest.approx(before[0], rel=1e-9)
    assert after[1] != pytest.approx(before[1], rel=1e-6)


def test_rows_whose_configuration_does_not_determine_the_figure_are_shown_and_not_scored(judged):
    apart = judged.rows[~judged.rows["scored"]]
    why = apart["why"]
    assert (why != "").all()
    for words, least in (
        ("anomaly", 40),
        ("pools of their own", 10),
        ("does not state", 250),
        ("waiting", 200),
    ):
        assert why.str.contains(words).sum() >= least, words


def test_time_to_first_token_is_within_its_factor(judged):
    first = judged.rows[(judged.rows["figure"] == "TTFT") & judged.rows["predicted"].notna()]
    factor = np.exp(np.abs(np.log(first["predicted"] / first["published"])))
    close = (factor <= 2).groupby(first["source"]).mean()
    assert close["inferencemax2026"] > 0.95 and close["sglangcookbook2026"] > 0.85
    assert close["siliconrefs2026"] > 0.75 and len(first) > 280
    untold = judged.rows[judged.rows["why"] == judge.UNTOLD]
    assert len(untold) and untold[["concurrency", "predicted"]].isna().all(axis=None)


def test_the_report_prints_and_serializes(judged):
    text, document = judged.to_text(), json.loads(judged.to_json())
    assert "whose median width is" in text and "roofline" in text
    assert document["summary"]["rows"] == judged.summary.rows and len(document["tables"]) == 3


HEAD = (
    "model,accelerator,accelerators,precision,input_tokens,output_tokens,concurrency,software,"
    "measured_output_tokens_per_s_per_accelerator,measured_tpot_s"
)


def own(tmp_path, *lines, head=HEAD):
    path = tmp_path / "own.csv"
    path.write_text("\n".join((head, *lines)) + "\n")
    return path


def test_a_readers_own_runs_are_predicted_by_name_and_by_shape(tmp_path):
    by_name = validate(
        "serving",
        own(tmp_path, "Llama-3.1-8B,H100 SXM,1,FP8,1000,1000,64,TensorRT-LLM 1.2,5000,0.0125"),
    ).rows
    assert by_name["figure"].tolist() == ["throughput", "TPOT"] and by_name["scored"].all()
    assert (by_name["low"] < by_name["predicted"]).all() and (
        by_name["predicted"] < by_name["high"]
    ).all()
    shape = "layers,hidden,heads,kv_heads,head_dim,ffn,gated_ffn,vocab,tied_embeddings"
    line = (
        "mine,H100 SXM,1,FP8,1000,1000,64,TensorRT-LLM"
        " 1.2,5000,0.0125,32,4096,32,8,128,14336,true,128256,false"
    )
    by_shape = validate("serving", own(tmp_path, line, head=f"{HEAD},{shape}")).rows
    assert by_shape["predicted"].to_numpy() == pytest.approx(
        by_name["predicted"].to_numpy(), rel=0.02
    )
    unmeasured = validate(
        "serving", own(tmp_path, "Llama-3.1-8B,H100 SXM,1,FP8,1000,1000,64,TensorRT-LLM 1.2,,")
    ).rows.iloc[0]
    assert (
        unmeasured["predicted"] == pytest.approx(by_name["predicted"].iloc[0])
        and not unmeasured["scored"]
    )


def test_every_kind_of_work_has_a_family():
    _, every, fitted = judge.book()
    assert all(
        list(one.families) == list(KINDS) for one, use in zip(every, fitted, strict=True) if use
    )
    assert (
        pd.Series([len(one.names) for one, use in zip(every, fitted, strict=True) if use])
        .eq(len(KINDS))
        .all()
    )
