"""The judge of the energy of serving: leave-one-group-out, its targets, its baseline, readers' own
files.
"""

import dataclasses

import numpy as np
import pytest
from scaleright import catalog
from scaleright.inference.power import KINDS, LIMIT
from scaleright.power import draw
from scaleright.validation import cross_validation
from scaleright.validation import energy as judge
from scaleright.validation.kinds import validate


@pytest.fixture(scope="module")
def judged():
    return validate("energy")


@pytest.mark.parametrize("left_out", ["", " model left out"])
@pytest.mark.parametrize(
    "family, rows, median, p90",
    [
        ("H100 SXM, vLLM 0.11.1", 190, 15, 35),
        ("B200, vLLM 0.11.1", 190, 18, 60),
        ("H100 SXM, vLLM 0.5.4", 115, 12, 30),
        ("A100 SXM 40GB, vLLM 0.5.4", 120, 14, 35),
    ],
)
def test_runs_never_seen_are_predicted(judged, family, rows, median, p90, left_out):
    scored = judged.rows[judged.rows["scored"] & (judged.rows["family"] == family)]
    size = scored[f"error_percent{left_out}"].abs()
    assert len(size) >= rows
    assert size.median() < median + 3 * bool(left_out) and size.quantile(0.9) < p90
    assert size.median() < scored["baseline_error_percent"].abs().median() / 2


def test_the_watts_at_measured_speed_err_less_than_the_energy(judged):
    scored = judged.rows[judged.rows["scored"]]
    watts, energy = (scored[f"{what}error_percent"].abs().median() for what in ("watts_", ""))
    assert watts < 10 and watts < energy


def test_the_range_holds_as_often_as_it_says(judged):
    scored = judged.rows[judged.rows["scored"]]
    assert 0.85 < scored["within_range"].mean() < 0.95
    assert scored["width_percent"].median() < 80


def test_there_is_at_most_one_constant_for_fifteen_rows():
    fitted = catalog.table("energy_constants")
    assert (fitted["basis"] == "fit").sum() <= fitted.loc[
        fitted["constant"] == "runs", "value"
    ].sum() / 15


def test_stored_draws_are_those_of_the_fit():
    stored = catalog.table("energy_constants").set_index(["family", "constant"])["value"]
    anew = judge.SUBJECT.whole_fit(judge.book().fits()[0])
    assert {key: stored[key] for key in anew} == pytest.approx(anew, rel=0.02)


def test_a_row_does_not_take_part_in_its_own_prediction():
    """Doubling the measured energy of one group leaves its own draws as they were."""
    of, table = judge.book().fits()
    groups = cross_validation.groups(table, judge.MODES[""])
    mine = groups == groups[0]
    changed = [
        dataclasses.replace(one, joules=2 * one.joules) if its else one
        for one, its in zip(of, mine, strict=True)
    ]

    def predict(cases):
        book = cross_validation.Book(table, cases, np.ones(len(cases), bool))
        return cross_validation.leave_group_out(
            dataclasses.replace(judge.SUBJECT, book=lambda: book),
            [(one, one.timed.value) for one in cases],
            table,
            judge.MODES[""],
        )

    found, again = predict(of), predict(changed)
    assert np.allclose(found[mine], again[mine], rtol=1e-9) and not np.allclose(
        found[~mine], again[~mine], rtol=1e-6
    )


def test_rows_bound_by_the_host_and_rows_that_state_too_little_are_shown_and_not_scored(judged):
    apart = judged.rows[~judged.rows["scored"]]
    odd = apart[apart["why"].str.startswith("anomaly")]
    assert len(odd) >= 12 and (odd["accelerator"] == "B200").all()
    assert (
        apart.loc[apart["task"] == "image chat", "why"]
        .str.startswith("the length of its prompts")
        .all()
    )
    assert (
        apart.loc[apart["boundary"] == "server", "why"]
        .str.startswith("the length of its prompts")
        .all()
        and (apart["boundary"] == "server").sum() == 17
    )


def test_no_prediction_exceeds_the_limit_of_the_chips():
    one = judge.book().fits()[0][0]
    assert one.predict([9.0] * len(KINDS), 2.0) == pytest.approx(LIMIT * one.design_watts * 2.0)


HEAD = (
    "model,accelerator,accelerators,precision,batch,input_tokens,output_tokens,"
    "measured_watts,measured_output_tokens_per_s"
)


def own(tmp_path, line, head=HEAD):
    path = tmp_path / "mine.csv"
    path.write_text(f"{head}\n{line}\n", encoding="utf-8")
    return path


def test_a_readers_own_runs_are_predicted_and_their_host_counted(tmp_path):
    line = "Llama-3.1-70B,H100 SXM,4,BF16,64,250,400,2100,2500"
    alone = validate("energy", own(tmp_path, line)).rows.iloc[0]
    assert alone["scored"] and alone["published"] == pytest.approx(2100 / 2500)
    assert alone["low"] < alone["predicted"] < alone["high"]
    whole = validate("energy", own(tmp_path, f"{line},server", f"{HEAD},boundary")).rows.iloc[0]
    rate = 2500 / 4 * (1 + whole["speed_error_percent"] / 100)
    assert whole["predicted"] - alone["predicted"] == pytest.approx(
        draw("H100 SXM", "serving").host_watts / rate
    )
    silent = validate(
        "energy", own(tmp_path, "Llama-3.1-70B,H100 SXM,4,BF16,64,250,400,,2500")
    ).rows.iloc[0]
    assert silent["predicted"] == pytest.approx(alone["predicted"]) and not silent["scored"]


def test_a_chip_that_no_fit_has_seen_is_predicted_with_a_wider_range(tmp_path):
    rows = validate(
        "energy",
        own(
            tmp_path,
            "\n".join(
                f"Llama-3.1-8B,{chip},1,BF16,16,500,200,250,800"
                for chip in ("L40S", "H100 SXM", "MI300X")
            ),
        ),
    ).rows
    width = rows["width_percent"].tolist()
    assert rows["predicted"].gt(0).all() and width[0] > width[1] and width[2] > width[1]
