"""Memory of a training step: the mistakes of other tools are not made here."""

from dataclasses import fields, replace

import numpy as np
import pytest
from memory_cases import A100, GPT3, H100, bill, gpt3_on_1024, run_of
from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.quantity import given as of
from scaleright.quantity.readings import compiled
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import FSDP, MEGATRON, MEGATRON_2022, training_memory
from scaleright.transformer import parameters


def test_tensor_and_pipeline_divide_gradients_and_optimizer():
    whole, parted = (
        gpt3_on_1024(),
        training_memory(TrainingRun(GPT3, A100, 1024, 2048, 1536), Layout(data=1024, zero=0)),
    )
    for part in ("gradients_bytes", "optimizer_bytes"):
        # the token table keeps it from 64
        assert getattr(parted, part) / getattr(whole, part) == pytest.approx(64, rel=0.04)


def test_micro_batches_in_flight_are_counted():
    """1.3 GB is what one micro-batch of a stage keeps; the first stage of eight holds eight."""
    one = training_memory(
        TrainingRun(GPT3, A100, 1024, 2048, 16),
        Layout(8, 8, data=16, zero=0, recompute=1),
        software=MEGATRON_2022,
    )
    assert one.activations_bytes == pytest.approx(1.28e9, rel=0.01)
    assert gpt3_on_1024().activations_bytes == pytest.approx(8 * one.activations_bytes)


def test_interleaving_keeps_more_in_flight():
    plain, interleaved = (gpt3_on_1024(virtual=v).activations_bytes for v in (1, 3))
    assert interleaved / plain == pytest.approx(1 + 7 / 24)


def test_heads_need_not_fill_the_hidden_width():
    narrow = catalog.model("Llama-3.1-8B")
    wide = replace(narrow, head_dim=256, v_head_dim=256)
    at = lambda shape: (
        training_memory(TrainingRun(shape, H100, 8, 4096, 8), Layout(data=8)).activations_bytes
    )
    extra = 2 * 128 * (2 * narrow.heads + 2 * narrow.kv_heads)
    assert at(wide) - at(narrow) == 4096 * narrow.layers * extra


def test_gated_and_plain_feed_forward_differ():
    shape = catalog.model("Llama-3.1-8B")
    gated, plain = (
        training_memory(
            TrainingRun(replace(shape, gated_ffn=g), H100, 8, 4096, 8), Layout(data=8)
        ).activations_bytes
        for g in (True, False)
    )
    assert gated - plain == 4096 * shape.layers * 2 * shape.ffn


def test_mixtures_sit_only_where_the_model_has_them():
    """DeepSeek-V3 keeps three dense layers, and only 37 of its 671 billion parameters work on a
    token.
    """
    shape = catalog.model("DeepSeek-V3")
    everywhere = replace(shape, moe_layers=61)
    at = lambda s: training_memory(
        TrainingRun(s, H100, 2048, 4096, 8192), Layout(pipeline=1, expert=64, data=2048)
    )
    assert at(everywhere).weights_bytes - at(shape).weights_bytes == pytest.approx(
        2
        * 3
        * (
            parameters(shape).experts / 58 / 64
            + parameters(shape).shared_experts / 58
            + 7168 * 256
            - parameters(shape).ffn / 3
        ),
        rel=1e-3,
    )
    visited = 8 * (3 * 2 * 2048 + 2 * 2 * 7168) + 3 * 2 * 2048 + 4 * 256
    assert at(everywhere).activations_bytes - at(shape).activations_bytes == 4096 * 3 * (
        visited - 3 * 2 * 18432
    )


def test_scores_are_kept_only_without_flash_attention():
    run, layout = run_of("Llama-3.1-8B", 8, 8192, 8), Layout(data=8)
    flash, unfused = (
        training_memory(run, layout, software=s).activations_bytes
        for s in (MEGATRON, replace(MEGATRON, flash=False))
    )
    assert unfused - flash == 8192 * 32 * 32 * (2 * 8192 - 4)


def test_adapters_need_no_gradients_of_the_model():
    full, adapters = (bill("Llama-3.1-8B", run={"task": task}, data=8) for task in ("sft", "lora"))
    assert adapters.gradients_bytes + adapters.optimizer_bytes < 0.02 * (
        full.gradients_bytes + full.optimizer_bytes
    )
    assert adapters.weights_bytes == full.weights_bytes


def test_what_does_not_fit_is_said_to():
    run = run_of("LLaMA-13B", 8)
    assert not training_memory(run, Layout(data=8, zero=0)).fits(run)
    assert training_memory(run, Layout(data=8, zero=3, recompute=2)).fits(run)
    assert training_memory(run, Layout(data=8, zero=np.arange(4), recompute=2)).fits(
        run
    ).tolist() == [False, False, True, True]


@pytest.mark.parametrize("wrong", [{"optimizer": "adam"}, {"run": {"precision": "FP9"}}])
def test_an_unknown_name_is_refused_with_the_nearest(wrong):
    with pytest.raises(LookupError, match=r"nearest|allowed"):
        bill(**wrong)


def test_every_field_of_a_shape_may_be_live():
    one = catalog.model("DeepSeek-V3")
    shape = Transformer(
        "live",
        **{field.name: of(field.name, getattr(one, field.name)) for field in fields(one)[1:]},
    )
    live, plain = (
        training_memory(
            TrainingRun(model, None, 8, 4096, 8, task=task), Layout(data=8, zero=3), software=FSDP
        )
        for model, task in ((shape, of("task", "sft")), (one, "sft"))
    )
    assert live.total.value == pytest.approx(plain.total)
    assert len("".join(compiled({"total": live.total}).signals.values())) < 40_000
