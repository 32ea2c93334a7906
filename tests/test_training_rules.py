"""What breaks a layout of a training run: each rule once, for one layout with a message and for
many as a mask.
"""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.rules import check, check_run, divisors, valid

GPT3 = TrainingRun(
    catalog.model("GPT-3 175B"), catalog.accelerator("A100 SXM 80GB"), 1024, 2048, 1536
)
LLAMA = TrainingRun(
    catalog.model("Llama-3.1-405B"), catalog.accelerator("H100 SXM"), 16_384, 8192, 2048
)
DEEPSEEK = TrainingRun(
    catalog.model("DeepSeek-V3"), catalog.accelerator("H100 SXM"), 1024, 4096, 8192
)
GOOD = Layout(tensor=8, pipeline=8, data=16)

# (what is changed in a good layout, what the message must say: the constraint and the nearest value
# that keeps it)
BROKEN = [
    ({"tensor": 5}, "tensor = 5 does not divide heads = 96; nearest: 4 or 6"),
    ({"pipeline": 5}, "pipeline x virtual = 5 x 1 does not divide layers = 96; nearest: 4 or 6"),
    ({"virtual": 5}, "pipeline x virtual = 8 x 5 does not divide layers = 96; nearest: 33 or 48"),
    ({"data": 8}, "the layout takes 512, the cluster has 1,024; nearest: data = 16"),
    ({"data": 32}, "the layout takes 2,048, the cluster has 1,024; nearest: data = 16"),
    ({"pipeline": 1, "data": 128, "virtual": 2}, "virtual = 2 needs pipeline > 1"),
    (
        {"micro_batch": 32, "virtual": 3},
        "virtual = 3 needs micro-batches in whole rounds of pipeline = 8, a copy has 3",
    ),
    ({"expert": 2}, "expert = 2 does not divide experts = 0"),
    (
        {"micro_batch": 5},
        "micro_batch = 5 does not divide global_batch / data = 96; nearest: 4 or 6",
    ),
    ({"zero": 3}, "zero = 3 goes without a pipeline, but pipeline = 8"),
    ({"zero": 4}, "zero = 4, allowed: 0 to 3; nearest: 3"),
    ({"replicas": 3}, "replicas = 3 does not divide data x context = 16; nearest: 2 or 4"),
    ({"replicas": 2, "zero": 0}, "replicas = 2 needs something that is shared out, but zero = 0"),
    ({"recompute": -1}, "recompute = -1, allowed: 0 to 2; nearest: 0"),
    ({"sequence_parallel": 2}, "sequence_parallel = 2, allowed: 0 to 1"),
    *(
        ({name: value}, f"{name} = {value}, allowed: whole numbers from 1")
        for name in ("tensor", "pipeline", "data", "micro_batch", "replicas")
        for value in (0, -1, 2.5)
    ),
    ({"tensor": float("nan")}, "tensor = nan, allowed: whole numbers from 1; nearest: 1"),
]


@pytest.mark.parametrize("changed, message", BROKEN, ids=[str(changed) for changed, _ in BROKEN])
def test_a_broken_layout_is_refused_with_the_constraint_and_the_nearest_value(changed, message):
    broken = replace(GOOD, **changed)
    with pytest.raises(ValueError) as error:
        check(GPT3, broken)
    assert message in str(error.value)
    assert str(error.value).startswith("GPT-3 175B on A100 SXM 80GB: ")
    assert not valid(GPT3, broken) and valid(GPT3, GOOD)


RUNS = [
    ({"chips": 0}, "chips = 0, allowed: whole numbers from 1"),
    ({"chips": 1.5}, "chips = 1.5"),
    (
        {"sequence": 10**9},
        "sequence = 1,000,000,000, allowed: 2 to 16,777,216; nearest: 16,777,216",
    ),
    ({"sequence": -2048}, "sequence = -2,048"),
    ({"global_batch": 0}, "global_batch = 0"),
    ({"precision": "FP8"}, "precision FP8 needs a chip with dense fp8; A100 SXM 80GB has bf16"),
    ({"precision": "bf61"}, "unknown precision 'bf61'; nearest: BF16"),
    ({"task": "pretraining"}, "unknown task 'pretraining'; nearest: pretrain"),
]


@pytest.mark.parametrize("changed, message", RUNS, ids=[str(changed) for changed, _ in RUNS])
def test_an_impossible_run_is_refused_before_any_layout_is_looked_at(changed, message):
    with pytest.raises(ValueError, match="GPT-3 175B") as error:
        check_run(replace(GPT3, **changed))
    assert message in str(error.value)
    assert not valid(replace(GPT3, **changed), GOOD)


def test_block_scaled_formats_need_tensor_cores_that_know_them():
    for precision in ("MXFP8", "NVFP4"):
        check_run(replace(LLAMA, chip=catalog.accelerator("B200"), precision=precision))
        with pytest.raises(ValueError, match="needs a chip with dense fp4; H100 SXM has"):
            check_run(replace(LLAMA, precision=precision))


def test_pipelines_may_count_embedding_head_and_a_further_module_as_layers():
    check(LLAMA, Layout(tensor=8, pipeline=16, data=128))  # 126 layers and two modules [llama3]
    check(DEEPSEEK, Layout(tensor=2, pipeline=16, expert=64, data=32))  # 61 layers and three
    with pytest.raises(ValueError, match="pipeline x virtual = 5 x 1 does not divide layers = 61"):
        check(DEEPSEEK, Layout(tensor=2, pipeline=5, data=32))


def test_experts_are_spread_over_ranks_that_a_stage_has():
    with pytest.raises(
        ValueError,
        match=(
            "expert = 48 does not divide experts = 256 and the 64 chips of a stage; nearest: 32"
            " or 64"
        ),
    ):
        check(DEEPSEEK, Layout(tensor=2, pipeline=16, expert=48, data=32))


def test_tensor_parallelism_splits_or_repeats_key_value_heads():
    seven = replace(LLAMA.model, heads=84, kv_heads=12)
    with pytest.raises(
        ValueError,
        match="tensor = 7 neither divides kv_heads = 12 nor is a multiple; nearest: 6 or 12",
    ):
        check(replace(LLAMA, model=seven, chips=7), Layout(tensor=7))
    check(replace(LLAMA, chips=16), Layout(tensor=16))  # 8 heads, each on two ranks


def test_a_sequence_splits_over_context_and_tensor_ranks():
    with pytest.raises(ValueError, match="sequence = 8,190 does not split into 4 parts"):
        check(replace(LLAMA, chips=16, sequence=8190), Layout(tensor=8, context=2))
    check(replace(LLAMA, chips=8, sequence=8190), Layout(tensor=8, sequence_parallel=0))


@given(
    st.lists(st.tuples(*(st.integers(-1, 17) for _ in fields(Layout))), min_size=1, max_size=6),
    st.sampled_from([GPT3, LLAMA, DEEPSEEK]),
)
def test_the_mask_over_many_says_what_the_check_of_each_says(rows, run):
    names = [field.name for field in fields(Layout)]
    mask = valid(run, Layout(**dict(zip(names, np.array(rows).T, strict=True))))
    for row, kept in zip(rows, np.broadcast_to(mask, len(rows)), strict=True):
        one = Layout(**dict(zip(names, row, strict=True)))
        if kept:
            check(run, one)
        else:
            with pytest.raises(ValueError):
                check(run, one)


OPTIONAL = {
    "expert": "expert_parallel",
    "virtual": "virtual_pipeline",
    "micro_batch": "micro_batch",
}


@pytest.mark.parametrize("name", ["measured/training", "measured/layouts"])
def test_published_layouts_keep_every_rule(name):
    """Over 400 layouts that ran or were recommended; the one that cannot be is a misprint: 64 ranks
    of experts on 32 chips.
    """
    rows = catalog.table(name).dropna(
        subset=[
            "sequence",
            "global_batch",
            "micro_batch",
            "tensor_parallel",
            "pipeline_parallel",
            "context_parallel",
        ]
    )
    rows = rows[rows["model"].isin(catalog.models())]
    broken = []
    for row in rows.itertuples():
        sizes = (int(row.accelerators), int(row.sequence), int(row.global_batch))
        run = TrainingRun(
            catalog.model(row.model),
            catalog.accelerator(row.accelerator),
            *sizes,
            row.precision,
            row.task,
        )
        degrees = {
            short: int(getattr(row, f"{short}_parallel"))
            for short in ("tensor", "pipeline", "context")
        }
        further = {
            short: int(getattr(row, name))
            for short, name in OPTIONAL.items()
            if not pd.isna(getattr(row, name))
        }
        layout = Layout(
            **degrees, **further, data=run.chips // int(np.prod(list(degrees.values())))
        )
        if not valid(run, layout):
            broken.append(row.run)
    assert len(rows) > 100 and len(broken) <= (name == "measured/training"), broken


def test_divisors():
    assert divisors(1) == [1] and divisors(36) == [1, 2, 3, 4, 6, 9, 12, 18, 36]
