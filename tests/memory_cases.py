"""Training runs whose memory is computed, by name and at random."""

from hypothesis import strategies as st
from scaleright import catalog
from scaleright.training import memory
from scaleright.training.layout import Layout, TrainingRun

GIB = 2**30
A100, H100 = catalog.accelerator("A100 SXM 80GB"), catalog.accelerator("H100 SXM")
GPT3 = catalog.model("GPT-3 175B (Megatron)")

NAMES = (
    "LLaMA-13B",
    "Llama-3.1-8B",
    "Mixtral-8x7B",
    "DeepSeek-V3",
    "GPT-3 175B (Megatron)",
    "Gemma-2-9B",
    "Qwen3-30B-A3B",
)

SOFTWARES = (memory.MEGATRON, memory.MEGATRON_2022, memory.FSDP, memory.FSDP_FUSED_LOSS)


def run_of(
    name: str, chips: int = 64, sequence: int = 4096, batch: int = 1024, **more
) -> TrainingRun:
    return TrainingRun(catalog.model(name), H100, chips, sequence, batch, **more)


def bill(
    name: str = "Llama-3.1-8B",
    optimizer: str = "adamw",
    software: memory.Software = memory.MEGATRON,
    run: dict | None = None,
    **layout,
):
    return memory.training_memory(
        run_of(name, **(run or {})), Layout(**layout), optimizer, software
    )


def gpt3_on_1024(**more):
    return memory.training_memory(
        TrainingRun(GPT3, A100, 1024, 2048, 1536),
        Layout(8, 8, data=16, zero=0, recompute=1, **more),
        software=memory.MEGATRON_2022,
    )


@st.composite
def cases(draw) -> tuple[TrainingRun, Layout, memory.Software]:
    run = run_of(
        draw(st.sampled_from(NAMES)),
        sequence=draw(st.sampled_from((512, 4096, 32768))),
        precision=draw(st.sampled_from(("BF16", "FP8", "MXFP8", "NVFP4"))),
        task=draw(st.sampled_from(("pretrain", "sft", "lora"))),
    )
    pipeline = draw(st.sampled_from((1, 2, 4)))
    tensor, context, data = (
        draw(st.sampled_from(degrees)) for degrees in ((1, 2, 8), (1, 2), (1, 8, 64))
    )
    layout = Layout(
        tensor,
        pipeline,
        context,
        expert=draw(st.sampled_from([e for e in (1, 2, 8) if (tensor * context * data) % e == 0])),
        data=data,
        virtual=draw(st.sampled_from((1, 2))) if pipeline > 1 else 1,
        micro_batch=draw(st.sampled_from((1, 2, 4))),
        zero=draw(st.integers(0, 3)),
        recompute=draw(st.integers(0, 2)),
        sequence_parallel=draw(st.integers(0, 1)),
    )
    return run, layout, draw(st.sampled_from(SOFTWARES))
