"""Tables of measured inference beyond the engines' own pages: MLPerf's language models, rows held
out, lengths of requests.
"""

import csv

import pytest
from scaleright import catalog
from scaleright.inference.measured import SPEED, operating_points

from refresh import inference
from refresh.tables import sift

BENCHMARK = {
    "benchmark": "llama2-70b",
    "scenario": "Offline",
    "model": "Llama-2-70B",
    "tokens_per_sample": "294.45",
}
RESULT = {
    "id": "5.1/x",
    "round": "v5.1",
    "submitter": "Dell",
    "accelerator": "H200 SXM",
    "accelerators": 8,
    "benchmark": "llama2-70b",
    "scenario": "Offline",
    "value": 34000.0,
    "unit": "tokens/s",
    "precision": "FP8",
    "software": "TensorRT 10.8",
    "system_watts": None,
    "flags": "",
    "source": "mlcommons2025v51",
}


def _done(*results: dict) -> dict[str, list[dict]]:
    specs = [{"accelerator": "H200 SXM", "quantity": "memory_bytes", "value": "1.4e11"}]
    return {
        "models": [{"name": "Llama-2-70B"}],
        "accelerator_specs": specs,
        "mlperf_benchmarks": [BENCHMARK],
        "mlperf_inference": [RESULT | row for row in results],
    }


def test_of_equal_systems_the_fastest_result_is_the_operating_point():
    odd = (
        {"flags": "duplicate_accuracy", "value": 9e4},
        {"accelerator": "Rubin", "value": 9e4},
        {"unit": "samples/s", "value": 9e4},
    )
    (row,) = inference.mlperf_rows(_done({}, {"id": "6.0/y", "value": 36000.0}, *odd))
    assert (row["run"], row[SPEED], row["output_tokens"]) == ("mlperf-6.0/y", 4500.0, 294.45)
    assert "tensor_parallel" not in row and "states neither layout nor batch" in row["note"]


def test_results_with_power_are_rows_of_energy_and_no_others():
    done = _done({}, {"id": "5.1/z", "system_watts": 6800.0, "flags": "power_run"})
    (row,) = inference.mlperf_power_rows(done)
    assert (row["boundary"], row["measured_joules_per_token"]) == ("server", 0.2)
    assert "clocked down" in row["note"]
    assert len(list(inference.mlperf_rows(done))) == 1


@pytest.mark.parametrize(
    "chip, model, ours",
    [
        ("H200 SXM", "Llama-2-70B", "NVFP4"),
        ("MI355X", "Llama-2-70B", "MXFP4"),
        ("H200 SXM", "gpt-oss-120b", "MXFP4"),
    ],
)
def test_four_bits_are_the_makers_format(chip, model, ours):
    row = RESULT | {"accelerator": chip, "model": model, "precision": "FP4", "tokens": ""}
    assert inference._point(row)["precision"] == ours


def test_lengths_of_a_trace(tmp_path):
    for file, head in {
        inference.TRACES[name]: "TIMESTAMP,ContextTokens,GeneratedTokens"
        for name in ("azure code", "azure conversation")
    }.items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        with path.open("w", newline="") as out:
            csv.writer(out).writerows(
                [head.split(","), ["t", 100, 10], ["t", 300, 30], ["t", 50, 0]]
            )
    for name in ("mooncake conversation", "mooncake synthetic"):
        (tmp_path / inference.TRACES[name]).write_text(
            "timestamp_ms,input_length,output_length,n_hash_blocks,first_hash_id,last_hash_id\n"
            "0,100,10,1,0,0\n0,300,30,1,0,0\n"
        )
    found, _ = sift(inference.length_rows(tmp_path))
    figures = {row["quantity"]: row["value"] for row in found if row["trace"] == "azure code"}
    assert figures["requests"] == 2
    assert figures["mean input_tokens"] == 200
    assert figures["variation of output_tokens"] == 0.5
    assert figures["mean context_tokens"] == pytest.approx((10 * 105 + 30 * 315) / 40)
    assert figures["mean prefill_context_tokens"] == pytest.approx((100**2 + 300**2) / 2 / 400)


def test_rows_held_out_are_of_sources_that_no_fit_reads():
    rows = catalog.table("measured/serving")
    held = rows["held_out"].fillna(False).astype(bool)
    assert held.sum() > 600 and not set(rows[held]["source"]) & set(rows[~held]["source"])
    assert {"MI300X", "MI355X", "L40S", "A100 SXM 80GB"} <= set(rows[held]["accelerator"]) - set(
        operating_points()["accelerator"]
    )


def test_what_is_held_out_reads_as_published():
    rows = catalog.table("measured/serving").set_index("run")
    page = rows.loc["trtllm-0.17/Llama-3.1-70B/A100-SXM-80GBx8/TP8/FP16/500-2000"]
    assert page[SPEED] * 8 == pytest.approx(4445.37) and page["requests"] == 3000
    batch = rows.loc["rocm-vllm-0.10/Llama-3.1-405B/MI300Xx8/TP8/FP8/128-2048/batch64"]
    assert batch[SPEED] * 8 == pytest.approx(64 * 2048 / 88.631, rel=1e-4)
    assert batch["scenario"] == "one batch"


def test_mixtures_of_the_engines_page_run_attention_data_parallel():
    rows = catalog.table("measured/serving").query(
        "source == 'tensorrtllm2025' and accelerators > 1"
    )
    mixtures = rows[
        rows["model"].map(lambda name: catalog.model(name).experts > 0)
        & (rows["pipeline_parallel"] == 1)
    ]
    assert (mixtures["attention_data_parallel"] == mixtures["accelerators"]).all()
    assert (mixtures["expert_parallel"] == mixtures["accelerators"]).all()
    assert rows["requests"].notna().all()


def test_traces_say_what_their_publishers_do():
    lengths = catalog.table("request_lengths").set_index(["trace", "quantity"])["value"]
    assert lengths[("azure code", "p50 input_tokens")] == 1469
    assert lengths[("azure conversation", "p50 output_tokens")] == 129
    assert lengths[("mooncake conversation", "requests")] == 12031
    assert lengths[("mooncake conversation", "p50 output_tokens")] == 350


def test_power_at_the_wall_is_above_what_the_chips_draw():
    rows = catalog.table("measured/energy").query("boundary == 'server'")
    watts = rows["measured_watts"] / rows["accelerators"]
    assert len(rows) >= 10 and watts.between(500, 1500).all()
    assert (
        (
            rows["measured_joules_per_token"]
            * rows["measured_output_tokens_per_s"]
            / rows["measured_watts"]
        )
        .between(0.999, 1.001)
        .all()
    )
