"""Results of MLPerf Inference that cannot be right are found by their neighbors."""

import pytest
from scaleright.catalog import table

from refresh.plausibility import suspects
from refresh.rules import facts

ACCEPTED = {line["value"] for line in facts("mlperf_rules.csv") if line["effect"] == "plausible"}


@pytest.fixture
def rows():
    return table("mlperf_inference")


def _found(rows) -> set[str]:
    return set(suspects(rows)["id"])


def test_false_alarms_are_few_and_each_is_explained(rows):
    assert _found(rows) == ACCEPTED and len(ACCEPTED) <= 0.003 * len(rows)


@pytest.mark.parametrize("factor", [1 / 294, 1 / 69, 69, 294])
def test_a_planted_wrong_unit_is_found(factor, rows):
    planted = {
        "5.1-0069/llama2-70b-99.9/Offline",
        "4.1/3d8303139b574e63",
        "6.0-0090/whisper/Offline",
    }
    rows.loc[rows["id"].isin(planted), "value"] *= factor
    assert planted <= _found(rows) - ACCEPTED


def test_nodes_counted_as_chips_are_found(rows):
    planted = {
        "6.0-0078/deepseek-r1/Offline",
        "6.0-0081/gpt-oss-120b/Server",
        "6.1/Crusoe/512xMI355X_Crusoe_GPT/gpt-oss-120b/Server",
    }
    here = rows["id"].isin(planted)
    rows.loc[here, "accelerators"] = rows["nodes"]
    assert planted <= _found(rows) - ACCEPTED  # the rows contradict themselves
    rows.loc[here, "accelerators_per_node"] = 1
    assert planted <= _found(rows) - ACCEPTED  # by their values alone


def test_without_the_correction_all_server_results_in_queries_are_found(rows):
    wrong = rows["flags"].fillna("").str.contains("corrected_unit")
    rows.loc[wrong, "value"] /= 293.14
    assert wrong.sum() == 22 and set(rows["id"][wrong]) <= _found(rows)


def test_without_the_correction_all_gptj_results_in_tokens_are_found(rows):
    wrong = (rows["benchmark"] == "gptj") & (rows["round"] == "v4.1")
    rows.loc[wrong, "unit"] = rows["scenario"].map({"Offline": "samples/s", "Server": "queries/s"})
    chips = wrong & (rows["accelerators"] > 0)
    assert chips.sum() == 118 and set(rows["id"][chips]) <= _found(rows)


def test_latencies_in_milliseconds_for_seconds_are_found(rows):
    late = list(rows["id"][rows["unit"].isin(["s", "ms"]) & (rows["accelerators"] > 0)])
    late = late[::20]  # each is judged with all others right
    found = [
        id
        for id in late
        if id
        in _found(rows.assign(value=rows["value"].where(rows["id"] != id, rows["value"] * 1000)))
    ]
    assert len(found) >= 0.95 * len(late)


def test_a_named_chip_that_nobody_counted_is_found(rows):
    here = rows["id"] == "5.1-0069/deepseek-r1/Offline"
    assert (
        "5.1-0069/deepseek-r1/Offline"
        in _found(rows.assign(accelerators=rows["accelerators"].where(~here, 0))) - ACCEPTED
    )


def test_slices_and_mixed_systems_are_not_judged(rows):
    flags = rows["flags"].fillna("")
    judged = _found(
        rows.assign(
            value=rows["value"]
            * (1 + 1e6 * flags.str.contains("mig_slices|heterogeneous|cpu_only"))
        )
    )
    assert judged == ACCEPTED
