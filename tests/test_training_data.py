"""Measured training runs and recommended layouts: consistent with themselves, and read from raw
tables as documented.
"""

import csv
import json
import os
from pathlib import Path

import pandas as pd
import pytest
from paths import DATA
from scaleright import catalog
from scaleright.transformer.parameters import active_parameters

import refresh as package
from refresh import megatron_bridge, training
from refresh.rules import header
from refresh.tables import RefreshError, sift, table_text

RAW = os.environ.get("SCALERIGHT_RAW")
DEGREES = ["tensor_parallel", "pipeline_parallel", "context_parallel", "data_parallel"]
SHAPELESS = {"Nemotron-3-Nano", "Nemotron-3-Super", "Modalities-28B"} | {
    f"MaxText {size}B" for size in (16, 22, 32, 52, 64, 128, 256, 512, 1024)
}

UNSTATED = ("deepseekv3", "moemodelzoo2026", "dgxcqwen2026", "tpurecipesironwood2026")
"""Sources that need not say how their experts' tokens are balanced."""


@pytest.fixture(scope="module")
def runs():
    return pd.read_csv(DATA / "measured" / "training.csv")


@pytest.fixture(scope="module")
def layouts():
    return pd.read_csv(DATA / "measured" / "layouts.csv")


# the committed tables


@pytest.mark.parametrize("table", ["runs", "layouts"])
def test_degrees_fill_the_chips_and_batches_divide(table, request):
    rows = request.getfixturevalue(table).dropna(subset=DEGREES[:3])
    assert len(rows) > 100 and (rows[DEGREES].prod(axis=1) == rows["accelerators"]).all()
    rows = rows.dropna(subset=["global_batch", "micro_batch"])
    assert (rows["global_batch"] % (rows["data_parallel"] * rows["micro_batch"]) == 0).all()
    interleaved = rows[rows["virtual_pipeline"] > 1]
    steps = interleaved["global_batch"] / (
        interleaved["data_parallel"] * interleaved["micro_batch"]
    )
    assert (steps % interleaved["pipeline_parallel"] == 0).all()
    assert (interleaved["pipeline_parallel"] > 1).all()


def test_a_step_and_a_throughput_of_one_row_agree(runs):
    both = runs.dropna(subset=["measured_step_s", "measured_tokens_per_s_per_accelerator"])
    tokens = (
        both["global_batch"] * both["sequence"] / both["accelerators"] / both["measured_step_s"]
    )
    assert len(both) > 10
    assert (tokens / both["measured_tokens_per_s_per_accelerator"]).between(0.995, 1.005).all()


def test_flop_per_token_of_the_publications_are_near_those_of_the_shapes(runs):
    """The printed FLOP/s by the printed tokens/s: a wrong model, chip count or unit would be off by
    far more than conventions.
    """
    known = catalog.models()
    rows = runs.dropna(
        subset=["measured_model_flops_per_accelerator", "measured_tokens_per_s_per_accelerator"]
    )
    rows = rows[
        rows["model"].isin(known) & (rows["task"] == "pretrain") & (rows["sequence"] <= 8192)
    ]
    active = rows["model"].map(
        {name: active_parameters(known[name]).total for name in rows["model"].unique()}
    )
    printed = (
        rows["measured_model_flops_per_accelerator"] / rows["measured_tokens_per_s_per_accelerator"]
    )
    ratio = (printed / (6 * active))[active > 1e9]
    assert len(ratio) > 200, rows.assign(ratio=ratio)[~ratio.between(0.75, 2.0)][["run", "ratio"]]
    assert ratio.between(0.75, 2.0).all(), rows.assign(ratio=ratio)[~ratio.between(0.75, 2.0)][
        ["run", "ratio"]
    ]


def test_models_have_shapes_but_for_hybrids_and_unprinted_ones(runs, layouts):
    known = set(catalog.models())
    assert set(runs["model"]) - known == SHAPELESS and set(layouts["model"]) <= known
    hybrid = runs["model"].isin(["Nemotron-3-Nano", "Nemotron-3-Super"])
    of_experts = (
        runs["model"].map(lambda name: name in known and catalog.model(name).experts > 0) | hybrid
    )
    stated = runs["routing"].notna()
    silent = runs["source"].isin(UNSTATED)
    assert not (stated & ~of_experts).any() and (stated | silent | ~of_experts).all()


def test_held_out_rows_come_from_publications_of_their_own(runs):
    held = runs[runs["held_out"].eq(True)]
    assert len(held) >= 50
    assert not set(held["source"]) & set(runs[runs["held_out"].isna()]["source"])


@pytest.mark.parametrize(
    "run, column, value",
    [
        ("korthikanti2022/175B/selective", "measured_step_s", 13.75),
        ("korthikanti2022/1T/full", "measured_step_s", 94.42),
        ("nemo-performance/Llama-3.1-70B/64", "measured_tokens_per_s_per_accelerator", 1524),
        ("llama3-table4/16384/131072", "data_parallel", 8),
        ("bloom/176B/384", "measured_step_s", 105.22),
        ("megatron-bridge-25.09/pretrain/LLAMA3_70B/GB200/64/FP8-MX/128", "micro_batch", 1),
        (
            "megatron-bridge-25.09/pretrain/LLAMA3.1_405B/GB200/128/FP8-MX/64",
            "measured_tokens_per_s_per_accelerator",
            578,
        ),
        ("megatron-bridge-25.09/pretrain/LLAMA3.1_405B/GB200/128/FP8/64", "sharding", 3),
        ("maxtext/TPU-v5p/MaxText-1024B/2xv5p-4096", "accelerators", 4096),
        ("torchtitan/Llama-3.1-70B/256/FSDP32-TP8+compile/LBS16/FP8", "global_batch", 512),
    ],
)
def test_well_known_runs(runs, run, column, value):
    assert runs.set_index("run").loc[run, column] == value


def test_narayanan_steps_give_the_aggregate_that_the_paper_prints(runs):
    """502 petaFLOP/s for a trillion parameters on 3,072 chips: 163 TFLOP/s each, whose step the
    table holds.
    """
    row = runs.set_index("run").loc["narayanan2021/1008B"]
    batch, layers, width = 3072, 128, 25600
    flop = (
        96
        * batch
        * 2048
        * layers
        * width**2
        * (1 + 2048 / (6 * width) + 51200 / (16 * layers * width))
    )
    assert flop / row["measured_step_s"] / 1e15 == pytest.approx(502.0, rel=3e-3)


# raw tables of a few rows


def _raw(tmp_path: Path, file: str, *rows: dict) -> Path:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, header(file), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


BRIDGE = {
    "container": "25.09 NeMo Container",
    "task": "pretrain",
    "model": "LLAMA3_70B",
    "system": "DGX-GB200",
    "gpus": "64",
    "precision": "FP8-CS (FP8-MX)",
    "gbs": "128",
    "mbs": "2",
    "seq_len": "8192",
    "fsdp": "64 (0)",
    "tp": "1 (2)",
    "pp": "1 (4)",
    "cp": "1",
    "vp": "1 (5)",
    "ep": "1.0",
    "ga": "1 (16)",
    "tokens_per_s_per_gpu": "3986",
    "model_tflops_per_gpu": "1791[^note]",
    "tokens_per_s_per_gpu_alt": "3546.0",
    "model_tflops_per_gpu_alt": "1593.0",
}


def test_a_cell_with_brackets_is_two_runs(tmp_path):
    first, second = megatron_bridge.rows(_raw(tmp_path, megatron_bridge.FILE, BRIDGE))
    assert (
        first["precision"],
        first["sharding"],
        first["data_parallel"],
        first["micro_batch"],
    ) == ("FP8", 3, 64, 2)
    assert (
        second["precision"],
        second["sharding"],
        second["data_parallel"],
        second["micro_batch"],
    ) == ("MXFP8", 1, 8, 1)
    assert (second["tensor_parallel"], second["pipeline_parallel"], second["virtual_pipeline"]) == (
        2,
        4,
        5,
    )
    assert first["measured_model_flops_per_accelerator"] == 1791e12
    assert second["measured_tokens_per_s_per_accelerator"] == 3546
    assert "printed as FP8-MX" in second["note"] and "16 accumulation steps" in second["note"]


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"model": "LLAMA5_9T"},
            "unknown model 'LLAMA5_9T'; add a line for it to refresh/rules.csv",
        ),
        ({"gpus": "63"}, "63 chips are no multiple of the 8"),
        ({"tp": "two"}, "'two' is not a whole number"),
        ({"precision": "FP6"}, "unknown precision 'FP6'"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(tmp_path, change, message):
    with pytest.raises(RefreshError, match=message):
        list(megatron_bridge.rows(_raw(tmp_path, megatron_bridge.FILE, BRIDGE | change)))


def test_dropped_tokens_and_prediction_modules_are_told(tmp_path):
    alone = BRIDGE | {"tokens_per_s_per_gpu_alt": "", "model_tflops_per_gpu_alt": "9"}
    rows = [
        alone | {"model": model} for model in ("DeepSeekV3 (tokendrop)", "DeepSeekV3 (w/o MTP)")
    ]
    found, dropped = sift(megatron_bridge.rows(_raw(tmp_path, megatron_bridge.FILE, *rows)))
    assert [(row["routing"], row["mtp_modules"]) for row in found] == [
        ("token drop", 1),
        ("balanced", 0),
    ]
    assert [drop.reason for drop in dropped] == ["FLOP/s without a throughput"] * 2


def test_a_batch_that_is_not_its_parts_is_refused(tmp_path):
    row = dict(zip(header(training.FOUNDRY), [""] * 99, strict=False)) | {
        "Model": "7b",
        "SeqLen (T)": "2048",
        "# GPUs": "8",
        "GPU": "h100_80gb",
        "MicroBatchSize": "6",
        "GradAccum": "2",
        "GlobalBatchSize": "48",
        "GlobalBatchSize (T)": "98304",
        "Precision": "amp_bf16",
        "MP Mode": "DEFAULT",
        "Sharding Strategy": "FULL_SHARD",
        "Activation Checkpointing": "False",
        "Activation CPUOffload": "False",
    }
    with pytest.raises(RefreshError, match="a global batch of 48 is not 6 x 2 x 8"):
        list(training._foundry(_raw(tmp_path, training.FOUNDRY, row)))


def test_slices_count_chips(tmp_path):
    row = {
        "hardware": "TPU v4",
        "model": "22B model",
        "slices": "2",
        "slice_type": "v4-128",
        "chips": "256",
        "tflops_per_chip": "152",
        "mfu_pct": "55.2",
    }
    with pytest.raises(RefreshError, match="256 chips are not 2 slices of 64"):
        list(training._maxtext(_raw(tmp_path, training.MAXTEXT, row)))
    (good,) = training._maxtext(_raw(tmp_path, training.MAXTEXT, row | {"chips": "128"}))
    assert (good["accelerators"], good["slices"], good["measured_mfu"]) == (128, 2, 0.552)


def test_the_tokens_of_a_batch_settle_the_copies(tmp_path):
    row = {
        "gpus": "16384",
        "tp": "8",
        "cp": "16",
        "pp": "16",
        "dp": "4",
        "seq_len": "131072",
        "batch_per_dp": "16",
        "tokens_per_batch": "16M",
        "tflops_per_gpu": "380",
        "bf16_mfu_pct": "38",
    }
    (found,) = training._llama(_raw(tmp_path, training.LLAMA, row))
    assert found["data_parallel"] == 8
    assert found["global_batch"] == 128
    assert "printed with 4" in found["note"]
    with pytest.raises(RefreshError, match="64 sequences of 131072 tokens are not 16777216"):
        list(training._llama(_raw(tmp_path, training.LLAMA, row | {"batch_per_dp": "8"})))


if RAW:  # defined only where there is raw material, so that nobody takes a skip for a pass

    def test_every_raw_row_is_a_run_or_left_out_for_a_reason():
        found, dropped = sift(training.rows(Path(RAW)))
        assert len(found) == 180 + 229 + 51 + 18 + 4 + 3 and len(dropped) == 1
        found, dropped = sift(package.layouts.rows(Path(RAW)))
        assert (len(found), len(dropped)) == (104, 28) and all(drop.reason for drop in dropped)

    def test_both_tables_come_out_as_committed():
        schemas = {
            entry["path"]: entry["schema"]
            for entry in json.loads((DATA / "datapackage.json").read_text())["resources"]
        }
        for table in ("measured/training", "measured/layouts"):
            importer, sources = package.IMPORTERS[table]
            existing = package.read_table(DATA / f"{table}.csv")
            found, _ = sift(importer(Path(RAW), {}))
            rows, _ = package.merge(existing, found, ["run"], sources)
            assert table_text(rows, schemas[f"{table}.csv"]) == (DATA / f"{table}.csv").read_text()
