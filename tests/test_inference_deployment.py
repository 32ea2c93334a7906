"""What a deployment may be: each rule once, for one layout with a message and for many as a mask;
formats of its parts; its memory.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from scaleright import catalog
from scaleright.inference.deployment import DEGREES, NEEDS, Deployment, check, valid
from scaleright.inference.memory import (
    activation_bytes,
    cache_per_chip,
    largest_batch,
    serving_memory,
    weights_per_chip,
)
from scaleright.transformer import kv_bytes_per_token, model_weight_bytes, parameters

H100, A100, B200 = (catalog.accelerator(name) for name in ("H100 SXM", "A100 SXM 80GB", "B200"))
LLAMA = Deployment(catalog.model("Llama-3.1-70B"), H100, tensor=8)
DEEPSEEK = Deployment(
    catalog.model("DeepSeek-V3"), catalog.accelerator("H200 SXM"), "FP8", tensor=8
)

# What is changed in a good deployment, and what the message must say: the value, what is allowed,
# the nearest that keeps the rule.
FORMATS = "bf16, fp16, fp32, fp8, int8, tf32"
BERT, FALCON, PHI = map(catalog.model, ("BERT-base", "Falcon-7B", "Phi-3-medium"))
OF_A_STAGE = "and the 8 chips of a stage; nearest:"
WHOLE = "allowed: whole numbers from 1"


def broken(message, good=LLAMA, **change):
    return pytest.param(good, change, message)


BROKEN = [
    broken("unknown precision 'FP9'; nearest: FP8", precision="FP9"),
    broken("unknown kv_precision 'INT4'", kv_precision="INT4"),
    broken(
        "precision FP8 needs a chip with dense fp8; A100 SXM 80GB has bf16",
        chip=A100,
        precision="FP8",
    ),
    broken(
        f"precision NVFP4 needs a chip with dense fp4; H100 SXM has {FORMATS}, so it serves BF16",
        precision="NVFP4",
    ),
    broken("BERT-base is an encoder: it writes no tokens; allowed: decoders", model=BERT),
    broken("tensor = 6 does not divide heads = 64; nearest: 4 or 8", tensor=6),
    broken("tensor = 8 does not divide heads = 71; nearest: 1 or 71", model=FALCON, tensor=8),
    broken(
        "tensor = 4 neither divides kv_heads = 10 nor is a multiple; nearest: 2 or 5",
        model=PHI,
        tensor=4,
    ),
    broken("pipeline = 81 exceeds layers = 80; nearest: 80", pipeline=81),
    broken(f"expert = 2 does not divide experts = 0 {OF_A_STAGE} 1", expert=2),
    broken(f"expert = 3 does not divide experts = 256 {OF_A_STAGE} 2 or 4", DEEPSEEK, expert=3),
    broken(f"expert = 16 does not divide experts = 256 {OF_A_STAGE} 8", DEEPSEEK, expert=16),
    broken("memory_share = 1.2, allowed: above 0 to 1", memory_share=1.2),
    broken(f"max_sequences = 0, {WHOLE}; nearest: 1", max_sequences=0),
    *(
        broken(f"{name} = {value}, {WHOLE}", **{name: value})
        for name in (*DEGREES, "chunk_tokens")
        for value in (0, -1, 2.5)
    ),
    broken(f"tensor = nan, {WHOLE}; nearest: 1", tensor=float("nan")),
]


@pytest.mark.parametrize("good, change, message", BROKEN)
def test_what_breaks_a_rule_is_refused_with_the_nearest_that_keeps_it(good, change, message):
    broken = replace(good, **change)
    with pytest.raises(ValueError, match=re.escape(message)):
        check(broken)
    assert not valid(broken).all()


def test_many_layouts_are_judged_as_each_alone_and_the_first_broken_one_is_named():
    tensor, pipeline, expert = (
        np.array(x).ravel() for x in np.meshgrid([1, 2, 3, 8, 12, 16], [1, 7, 61, 62], [1, 2, 5, 8])
    )
    many = replace(DEEPSEEK, tensor=tensor, pipeline=pipeline, expert=expert)
    alone = [
        bool(valid(replace(DEEPSEEK, tensor=t, pipeline=p, expert=e)))
        for t, p, e in zip(tensor, pipeline, expert, strict=True)
    ]
    assert valid(many).tolist() == alone and any(alone) and not all(alone)
    with pytest.raises(
        ValueError, match="tensor = 12 does not divide heads = 128; nearest: 8 or 16"
    ):
        check(replace(DEEPSEEK, tensor=np.array([8, 12, 24])))


@pytest.mark.parametrize(
    "precision, chip, formats, computed",
    [
        ("BF16", A100, "BF16", "BF16"),
        ("INT4", A100, "INT4", "BF16"),
        ("INT8", A100, "INT8", "INT8"),
        ("FP8", H100, "FP8", "FP8"),
        ("NVFP4", B200, "NVFP4", "NVFP4"),
        ("MXFP8", B200, "MXFP8", "MXFP8"),
    ],
)
def test_a_dense_model_has_one_format_but_for_its_ends_and_the_chip_may_have_to_widen_it(
    precision, chip, formats, computed
):
    d = replace(LLAMA, chip=chip, precision=precision)
    assert {d.formats[part] for part in ("attention", "dense", "experts")} == {formats}
    assert d.formats["head"] == "BF16"
    assert d.compute_format("dense") == computed and d.compute_format("head") == "BF16"
    check(d)


def test_published_formats_of_single_parts():
    oss = Deployment(catalog.model("gpt-oss-120b"), H100, "MXFP4")
    assert oss.formats == {"attention": "BF16", "dense": "BF16", "experts": "MXFP4", "head": "BF16"}
    assert oss.compute_format("experts") == "BF16"
    assert replace(oss, chip=B200).compute_format("experts") == "MXFP8"
    r1 = Deployment(catalog.model("DeepSeek-V3"), B200, "NVFP4")
    assert r1.formats["attention"] == "BF16" and r1.formats["experts"] == "NVFP4"
    # nvidia/DeepSeek-R1-FP4: 397 GB of weights
    assert float(weights_per_chip(r1)) == pytest.approx(397e9, rel=0.01)
    assert float(
        weights_per_chip(replace(oss, model=catalog.model("gpt-oss-20b")))
    ) == pytest.approx(13.8e9, rel=0.02)  # its 12.8 GiB [gptoss]


def test_the_cache_is_8_bit_where_tensorrt_llm_serves_a_quantized_model_and_where_one_asks():
    trt = replace(LLAMA, precision="FP8", software="TensorRT-LLM 1.2")
    assert (trt.engine, trt.cache_format) == ("TensorRT-LLM", "FP8")
    others = (
        replace(trt, precision="BF16"),
        replace(trt, software="vLLM 0.17.0"),
        replace(trt, software=""),
        replace(trt, kv_precision="BF16"),
    )
    assert {d.cache_format for d in others} == {"BF16"}
    assert replace(LLAMA, kv_precision="FP8").cache_format == "FP8"
    assert NEEDS.keys() >= {"BF16", "FP16", "FP8", "INT8", "INT4", "MXFP8", "MXFP4", "NVFP4"}


def test_weights_of_all_chips_are_the_models():
    for d in (LLAMA, DEEPSEEK, replace(DEEPSEEK, tensor=1, attention_data=8, expert=8)):
        whole, copies = parameters(d.model), d.attention_data
        experts = whole.experts * (1 if d.precision == "FP8" else 2)
        plain = (
            whole.total - whole.experts - whole.embedding - whole.head - whole.router - whole.norms
        ) * (1 if d.precision == "FP8" else 2)
        everywhere = (  # norms and router are on every chip
            plain * copies
            + experts
            + 2 * (whole.embedding + whole.head) * copies
            + 2 * d.chips * (whole.router + whole.norms)
        )
        assert d.chips * float(weights_per_chip(d)) == pytest.approx(everywhere)
    one = replace(LLAMA, tensor=1)
    assert float(weights_per_chip(one)) == model_weight_bytes(one.model)
    assert float(weights_per_chip(replace(one, pipeline=8))) == pytest.approx(
        model_weight_bytes(one.model) / 8, rel=0.1
    )


def test_a_cache_is_split_over_key_heads_and_latents_are_on_every_chip():
    per_token = kv_bytes_per_token(LLAMA.model)
    for tensor, share in ((1, 1), (4, 4), (8, 8), (16, 8)):
        assert float(cache_per_chip(replace(LLAMA, tensor=tensor), 1000)) == pytest.approx(
            1000 * per_token / share
        )
    assert float(cache_per_chip(DEEPSEEK, 1000)) == 1000 * 61 * 576 * 2
    local = replace(LLAMA, model=catalog.model("gpt-oss-120b"), tensor=1)
    assert float(cache_per_chip(local, 10_000)) == (18 * 10_000 + 18 * 128) * 8 * 128 * 2


def test_parts_of_memory_sum_and_the_largest_batch_just_fits():
    for d in (
        LLAMA,
        DEEPSEEK,
        replace(LLAMA, pipeline=2, tensor=4),
        replace(DEEPSEEK, tensor=1, attention_data=8, expert=8),
    ):
        batch = float(largest_batch(d, 2000))
        memory = serving_memory(d, batch, 2000)
        assert float(memory.total) == pytest.approx(sum(map(float, memory.parts().values())))
        assert memory.fits(d) and not serving_memory(d, batch + d.attention_data, 2000).fits(d)
    assert float(activation_bytes(LLAMA)) > float(
        activation_bytes(replace(LLAMA, chunk_tokens=2048))
    )


def test_tensorrt_llm_takes_its_share_of_what_the_weights_leave():
    vllm, trt = (
        replace(DEEPSEEK, kv_precision="FP8", software=name)
        for name in ("vLLM 0.17.0", "TensorRT-LLM 1.2")
    )
    weights = float(weights_per_chip(vllm))
    assert largest_batch(trt, 1000) / largest_batch(vllm, 1000) == pytest.approx(
        1 + 0.1 * weights / (0.9 * vllm.chip.memory_bytes - weights), rel=0.05
    )
    assert serving_memory(trt, float(largest_batch(trt, 1000)), 1000).fits(trt)


def test_what_does_not_fit_has_no_batch_and_a_limit_on_sequences_holds():
    layouts = replace(LLAMA, tensor=np.array([1, 2, 4, 8]), max_sequences=256)
    batch = largest_batch(layouts, 2048)
    assert batch[0] == 0 < batch[1] < batch[2] < batch[3] == 256
    assert float(largest_batch(replace(LLAMA, tensor=8), 10_000_000)) == 0


def test_the_cache_that_vllm_reports_is_met():
    """Tokens of cache in logs of vLLM: Qwen3-235B in FP8 on four H100 in the version whose profile
    counted twice holds fewer [vllm21348].
    """
    d = Deployment(catalog.model("Qwen3-235B-A22B"), H100, "FP8", tensor=4, software="vLLM 0.9.2")
    sglang = replace(d, software="SGLang 0.4.9", memory_share=0.93)
    assert 178_880 < float(largest_batch(d, 1)) < 400_000
    assert float(largest_batch(sglang, 1)) == pytest.approx(367_404, rel=0.15)
    # 7,191 blocks of 16 tokens [gatewayapi550]
    small = Deployment(catalog.model("Llama-2-7B"), H100, software="vLLM 0.8.1")
    assert float(largest_batch(small, 1)) == pytest.approx(7_191 * 16, rel=0.05)
    assert float(weights_per_chip(small)) == pytest.approx(12.55 * 2**30, rel=0.001)
