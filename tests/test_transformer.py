"""Counts against published figures, the mistakes of other tools, and what must be true of any
shape.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parity import vega_values
from scaleright import catalog
from scaleright.architecture import SHAPE_FIELDS, Transformer, stacked
from scaleright.formulas import Formula
from scaleright.transformer import (
    BYTES_PER_PARAMETER,
    active_parameters,
    attended_positions,
    bytes_per_parameter,
    counts,
    decode_bytes_per_step,
    decode_step,
    experts_touched,
    forward_flop,
    kv_bytes_per_token,
    matmul_parameters,
    megatron_batch_flop,
    megatron_hardware_flop,
    model_weight_bytes,
    parameters,
    sequence_kv_bytes,
    training_flop_per_token,
)

MODELS = catalog.models()


@st.composite
def shapes(draw) -> Transformer:
    """Any architecture: dense or mixture, plain or latent attention, with or without local layers
    and biases.
    """
    layers, kv_heads, head_dim = (
        draw(st.integers(1, 40)),
        draw(st.integers(1, 8)),
        8 * draw(st.integers(1, 16)),
    )
    mixture, latent, local = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    experts = draw(st.integers(2, 64))
    flags = {
        name: draw(st.booleans())
        for name in (
            "gated_ffn",
            "tied_embeddings",
            "qkv_bias",
            "out_bias",
            "ffn_bias",
            "sinks",
            "router_bias",
        )
    }
    return Transformer(
        "drawn",
        layers=layers,
        hidden=64 * draw(st.integers(1, 16)),
        heads=kv_heads * draw(st.integers(1, 8)),
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn=64 * draw(st.integers(1, 32)),
        vocab=draw(st.integers(1, 5000)),
        norm_vectors=draw(st.integers(1, 2)),
        window=64 if local else 0,
        window_layers=draw(st.integers(1, layers)) if local else 0,
        kv_lora_rank=32 if latent else 0,
        qk_rope_head_dim=8 if latent else 0,
        q_lora_rank=draw(st.sampled_from([0, 48])) if latent else 0,
        experts=experts if mixture else 0,
        experts_per_token=draw(st.integers(1, experts)) if mixture else 0,
        expert_ffn=32 if mixture else 0,
        moe_layers=draw(st.integers(1, layers)) if mixture else 0,
        shared_ffn=draw(st.sampled_from([0, 32])) if mixture else 0,
        **flags,
    )


@pytest.mark.parametrize(
    "name, total, active, kv_bytes",
    [
        ("GPT-3 175B (Megatron)", "174.6", "174.6", 4_718_592),
        ("Llama-2-70B", "68.977", "68.977", 327_680),
        ("Llama-3.1-405B", "405.853", "405.853", 516_096),
        ("Mixtral-8x7B", "46.703", "12.880", 131_072),
        ("DeepSeek-V3", "671.03", "37.55", 70_272),
    ],
)
def test_counts_match_the_published_digits(name, total, active, kv_bytes):
    shape, digits = MODELS[name], len(total.partition(".")[2])
    assert f"{parameters(shape).total / 1e9:.{digits}f}" == total
    assert f"{active_parameters(shape).total / 1e9:.{len(active.partition('.')[2])}f}" == active
    assert kv_bytes_per_token(shape) == kv_bytes


def test_active_count_without_the_input_embedding():
    # 36.62 B multiply a token's activations; norms and router biases bring the count to 36.626 B.
    assert f"{matmul_parameters(MODELS['DeepSeek-V3']) / 1e9:.2f}" == "36.62"
    assert active_parameters(MODELS["DeepSeek-V3"], input_embedding=False).total == 36_625_618_432


def test_forward_flop_of_405b_causal_and_not():
    shape = MODELS["Llama-3.1-405B"]
    assert f"{forward_flop(shape, 8192).total / 1e9:.1f}" == "841.3"
    assert f"{forward_flop(shape, 8192, causal=False).total / 1e9:.1f}" == "875.1"


def test_megatron_formula_and_the_exact_count_agree():
    assert f"{megatron_batch_flop(1536, 2048, 96, 12288, 51200):.4e}" == "3.3862e+18"
    exact = (
        3 * forward_flop(MODELS["GPT-3 175B (Megatron)"], 2048, causal=False).total * 1536 * 2048
    )
    assert exact == pytest.approx(megatron_batch_flop(1536, 2048, 96, 12288, 51200), rel=1e-12)


def test_full_recompute_is_four_thirds_of_the_layer_part():
    shape = MODELS["GPT-3 175B (Megatron)"]
    forward = forward_flop(shape, 2048, causal=False)
    hardware = (
        training_flop_per_token(forward.total, forward.total - forward.head_flop) * 1536 * 2048
    )
    assert hardware == pytest.approx(
        megatron_hardware_flop(1536, 2048, 96, 12288, 51200), rel=1e-12
    )


@pytest.mark.parametrize(
    "layers, hidden, batch, mfu, hfu",
    [
        (48, 6144, 4, 41.5, 43.7),
        (96, 12288, 64, 51.4, 52.8),
        (105, 20480, 280, 56.0, 57.0),
        (128, 25600, 512, 56.3, 57.0),
    ],
)
def test_selective_recompute_explains_the_published_hardware_utilization(
    layers, hidden, batch, mfu, hfu
):
    ratio = megatron_hardware_flop(batch, 2048, layers, hidden, 51200, 0) / megatron_batch_flop(
        batch, 2048, layers, hidden, 51200
    )
    assert ratio == pytest.approx(hfu / mfu, abs=0.003)


class TestMistakesOfOtherTools:
    def test_head_dim_is_not_hidden_over_heads(self):
        assert (
            MODELS["Qwen3-32B"].head_dim * MODELS["Qwen3-32B"].heads != MODELS["Qwen3-32B"].hidden
        )
        assert sum(m.head_dim * m.heads != m.hidden for m in MODELS.values()) > 20

    def test_llama_has_a_gated_feed_forward_of_no_integer_ratio(self):
        llama = MODELS["Llama-2-7B"]
        assert (llama.ffn, llama.gated_ffn) == (11008, True)
        assert parameters(llama).total == 6_738_415_616

    def test_deepseek_has_dense_first_layers_shared_experts_and_latent_attention(self):
        parts = parameters(MODELS["DeepSeek-V3"])
        assert parts.total == 671_026_419_200
        assert parts.ffn == 3 * 3 * 7168 * 18432
        assert parts.shared_experts == 58 * 3 * 7168 * 2048

    def test_experts_are_not_in_every_layer(self):
        assert MODELS["Llama-4-Maverick"].moe_layers == MODELS["Llama-4-Maverick"].layers // 2

    def test_a_mixture_in_decode_is_neither_dense_nor_top_k(self):
        shape = MODELS["Mixtral-8x7B"]
        one, some, many = (decode_bytes_per_step(shape, batch) for batch in (1, 4, 5_000))
        assert one == pytest.approx(
            2 * active_parameters(shape, input_embedding=False).total, rel=1e-6
        )
        assert one < some < many
        assert many == pytest.approx(
            2 * (parameters(shape).total - parameters(shape).embedding), rel=1e-3
        )

    def test_the_cache_is_shared_by_query_heads_and_bounded_by_windows(self):
        assert kv_bytes_per_token(MODELS["Llama-3.1-70B"]) * 8 == kv_bytes_per_token(
            dataclasses.replace(MODELS["Llama-3.1-70B"], kv_heads=64)
        )
        gemma = MODELS["Gemma-3-27B"]
        assert sequence_kv_bytes(gemma, 131_072) < 0.2 * 131_072 * kv_bytes_per_token(gemma)
        assert sequence_kv_bytes(gemma, 1000) == 1000 * kv_bytes_per_token(gemma)


def test_block_formats_carry_their_scales():
    gpt_oss = MODELS["gpt-oss-120b"]
    # the model card prints 60.8 GiB
    assert 60.5 < model_weight_bytes(gpt_oss, "BF16", "MXFP4") / 2**30 < 61.5
    assert bytes_per_parameter("NVFP4") * 8 == 4.5
    with pytest.raises(LookupError, match="NVFP4"):
        bytes_per_parameter("NVFP")
    assert min(BYTES_PER_PARAMETER.values()) > 0.5


def test_all_models_in_one_call_equal_a_loop():
    table = counts(MODELS.values())
    assert len(table) >= 160
    flops = forward_flop(stacked(MODELS.values()), 4096).total
    step = decode_bytes_per_step(stacked(MODELS.values()), 32)
    for i, (name, shape) in enumerate(MODELS.items()):
        assert table.loc[name, "total_parameters"] == parameters(shape).total, name
        assert table.loc[name, "active_parameters"] == active_parameters(shape).total, name
        assert flops[i] == pytest.approx(forward_flop(shape, 4096).total, rel=1e-12), name
        assert step[i] == pytest.approx(decode_bytes_per_step(shape, 32), rel=1e-12), name


@pytest.mark.parametrize(
    "count",
    [
        parameters,
        active_parameters,
        lambda t: forward_flop(t, 4096),
        lambda t: sequence_kv_bytes(t, 4096),
    ],
)
def test_a_shape_counts_the_same_in_the_reader_s_browser(count):
    table = stacked(list(MODELS.values())[::3])
    columns = {name: np.asarray(getattr(table, name), dtype=float) for name in SHAPE_FIELDS[1:]}
    found = vega_values(
        Formula("", "counting", lambda **shape: count(Transformer("drawn", **shape)), {}), columns
    )
    expected = count(table)
    expected = expected.total if "total" in found else expected
    assert found["total" if "total" in found else "value"] == pytest.approx(
        np.asarray(expected, dtype=float), rel=1e-9
    )


def test_counts_of_one_model_are_exact_integers():
    for shape in MODELS.values():
        assert isinstance(parameters(shape).total, int), shape.name
        assert isinstance(matmul_parameters(shape), int), shape.name


@given(shapes(), st.integers(1, 4096))
def test_parts_add_up(shape, context):
    parts = parameters(shape)
    assert sum(parts.parts().values()) == parts.total
    flop = forward_flop(shape, context)
    assert sum(flop.parts().values()) == pytest.approx(flop.total)
    attention = flop.scores_and_values_flop + flop.index_scores_flop
    assert flop.total - attention == pytest.approx(2 * matmul_parameters(shape), rel=1e-9)


@given(shapes())
def test_doubling_the_layers_doubles_what_is_in_them(shape):
    twice = dataclasses.replace(
        shape,
        layers=2 * shape.layers,
        moe_layers=2 * shape.moe_layers,
        window_layers=2 * shape.window_layers,
    )
    one, two = parameters(shape), parameters(twice)
    assert (two.attention, two.ffn, two.experts, two.router) == tuple(
        2 * part for part in (one.attention, one.ffn, one.experts, one.router)
    )
    assert (two.embedding, two.head) == (one.embedding, one.head)
    assert kv_bytes_per_token(twice) == 2 * kv_bytes_per_token(shape)


@given(shapes())
def test_fewer_key_value_heads_never_grow_cache_or_weights(shape):
    full = dataclasses.replace(shape, kv_heads=shape.heads)
    assert kv_bytes_per_token(shape) <= kv_bytes_per_token(full)
    assert parameters(shape).total <= parameters(full).total


@given(shapes())
def test_active_is_between_nothing_and_everything(shape):
    everything, active = parameters(shape).total, active_parameters(shape).total
    assert active_parameters(shape, input_embedding=False).total <= active <= everything
    assert (active == everything) == (shape.experts == shape.experts_per_token)


@given(shapes(), st.integers(1, 10_000))
def test_causal_attention_costs_at_most_all_positions(shape, context):
    assert forward_flop(shape, context).total <= forward_flop(shape, context, causal=False).total
    assert sequence_kv_bytes(shape, context) <= context * kv_bytes_per_token(shape)


@given(st.integers(1, 512), st.integers(1, 512), st.floats(0, 1e4))
def test_experts_touched_stay_within_bounds(experts, per_token, batch):
    per_token = min(per_token, experts)
    touched = experts_touched(experts, per_token, batch)
    assert 0 <= touched <= experts
    assert experts_touched(experts, per_token, 1) == pytest.approx(per_token)
    assert experts_touched(experts, per_token, batch + 1) >= touched - 1e-9


@given(st.integers(1, 3000), st.integers(0, 3000), st.booleans())
def test_mean_positions_equal_a_loop_over_the_sequence(context, window, chunked):
    bound = window or context
    seen = [(i % bound) + 1 if chunked else min(i + 1, bound) for i in range(context)]
    assert attended_positions(context, window, 1, chunked) == pytest.approx(np.mean(seen))


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("kv_heads", 3, "does not divide"),
        ("layers", 0, "1 or more"),
        ("moe_layers", 1, "set together"),
        ("window", 64, "set together"),
        ("ffn", -1, "0 or more"),
    ],
)
def test_a_shape_that_contradicts_itself_is_refused(field, value, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(MODELS["Llama-2-7B"], **{field: value})


def test_the_table_names_every_model_once():
    frame = catalog.table("models")
    aliases = [a.strip().casefold() for cell in frame["aliases"].dropna() for a in cell.split(";")]
    names = frame["name"].str.casefold().tolist()
    assert len(set(aliases)) == len(aliases)
    assert not set(aliases) & set(names)
    assert set(SHAPE_FIELDS) <= set(frame.columns)
    bib = (catalog.data_dir().parent / "book" / "references.bib").read_text()
    for key in {*frame["source"], *frame["architecture_source"]}:
        assert f"{{{key}," in bib, key
    assert catalog.model("deepseek-r1").name == "DeepSeek-V3"


def test_a_step_says_how_many_chips_it_needs():
    step = decode_step(MODELS["DeepSeek-V3"], 2048, 8, "BF16", 4, 989e12, 3.35e12, 0.8, 0.8)
    assert step.least_accelerators(80 * 2**30) == 16
    assert step.stored_bytes > step.weight_bytes


def test_slower_memory_makes_a_memory_bound_step_slower():
    case = (MODELS["Llama-3.1-70B"], 2048, 1, "BF16", 4, 989e12, 3.35e12)
    step = decode_step(*case, 0.8, 0.8)
    assert decode_step(*case, 0.8, 0.4).seconds == pytest.approx(2 * step.seconds)
    assert decode_step(*case, 0.4, 0.8).seconds == step.seconds
