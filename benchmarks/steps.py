"""Steps of training on one chip, by model, batch, compiler and recomputation.

Each case yields a row in the columns of the table `measured/training`, and prints what the library
predicts.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import FSDP, training_memory
from scaleright.training.slowdowns import TABLE, Slowdowns, constant, families, stack
from scaleright.training.step import step_time

from benchmarks.device import Bench, Meter
from benchmarks.trainer import Case, trainer

WARM_UP, STEPS, LEAST_S = 3, 8, 2.0
"""Steps before any is timed; steps that are timed, at least, and what they take together [s]: the
meter needs a while to see the draw.
"""
NOTE = (
    "random weights and tokens; weights, gradients and AdamW's moments (fused) in FP32, weights"
    " cast to BF16 for each layer; loss of FP32 logits by PyTorch's own operations; memory as"
    " PyTorch's allocator counts it"
)

FULL = (  # on 80 GB; pairs differ in one thing
    Case("Llama-3.2-1B", 2048, 1),
    Case("Llama-3.2-1B", 2048, 8),
    Case("Llama-3.2-1B", 2048, 8, compiled=True),
    Case("Llama-3.2-3B", 2048, 1),
    Case("Llama-3.2-1B", 8192, 1),
    Case("Llama-3.2-1B", 2048, 8, recompute="full"),
    Case("Llama-3.2-3B", 2048, 4, recompute="full"),
    Case("TinyLlama-1.1B", 2048, 8),
    Case("SmolLM2-1.7B", 2048, 4),
    Case("Llama-3.2-1B", 2048, 1, compiled=True),
    Case("Llama-3.2-3B", 2048, 2, compiled=True),
    Case("Llama-3.2-1B", 8192, 2, compiled=True),
    Case("Llama-3.2-3B", 8192, 1, compiled=True, recompute="full"),
    Case("SmolLM2-1.7B", 2048, 16, compiled=True, recompute="full"),
)
_SHAPE = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16, "ffn": 256}
_TINY = Transformer("tiny", **_SHAPE, gated_ffn=True, vocab=1000, tied_embeddings=True)
_UNTIED = Transformer("tiny untied", **_SHAPE, gated_ffn=True, vocab=1000, tied_embeddings=False)
SMALL = (
    Case(_TINY, 64, 1),
    Case(_UNTIED, 64, 2, recompute="full"),
    Case(_TINY, 64, 2, compiled=True),
    Case(_UNTIED, 64, 2, compiled=True, recompute="full"),
)


def _marked(bench: Bench, step: Callable[[], Any], count: int) -> float:
    """Median seconds of so many steps one after another, for which the host never waits."""
    if bench.device != "cuda":
        marks = [time.perf_counter(), *((step(), time.perf_counter())[1] for _ in range(count))]
        return median(after - before for before, after in pairwise(marks))
    events = [bench.torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    bench.wait()
    return median(before.elapsed_time(after) / 1e3 for before, after in pairwise(events))


def timed(bench: Bench, case: Case) -> tuple[float, int | None, float | None]:
    """Seconds of a step, bytes that PyTorch holds at its peak, and watts; the latter two None where
    nothing says so.
    """
    step = trainer(bench, case)
    took = LEAST_S
    for _ in range(WARM_UP):
        start = time.perf_counter()
        step(), bench.wait()
        took = time.perf_counter() - start
    cuda = bench.torch.cuda if bench.device == "cuda" else None
    if cuda:
        cuda.reset_peak_memory_stats()
    with Meter(bench.device) as meter:
        seconds = _marked(bench, step, max(STEPS, int(LEAST_S / took) if cuda else 0))
    return seconds, cuda.max_memory_allocated() if cuda else None, meter.watts


def expected(case: Case, chip: catalog.Accelerator, software: str) -> tuple[float, float]:
    """Seconds and bytes of a step by the library, without what the driver takes and what lies idle
    between tensors.
    """
    run = TrainingRun(case.shape, chip, 1, case.sequence, case.micro_batch)
    layout = Layout(
        micro_batch=case.micro_batch,
        zero=0,
        recompute=RECOMPUTE.index(case.recompute),
        sequence_parallel=0,
    )
    of = stack(software, case.compiled)
    fitted = {key: value for key, (value, _, _) in catalog.fitted(TABLE).items()}
    slow = {kind: constant(fitted, name, kind)[0] for kind, name in families(run, of).items()}
    memory = training_memory(run, layout, software=FSDP)
    seconds = step_time(run, layout, Slowdowns(slow, of)).total
    return float(seconds), float(memory.total - memory.reserve_bytes)


def common(software: str) -> dict[str, Any]:
    """What all rows share."""
    layout = ("tensor", "pipeline", "context", "data")
    return {f"{name}_parallel": 1 for name in layout} | {
        "accelerators": 1,
        "precision": "BF16",
        "task": "pretrain",
        "sharding": 0,
        "sequence_parallel": False,
        "software": software,
        "released": datetime.now().astimezone().date(),
        "basis": "printed",
    }


def row(case: Case, seconds: float, held: int | None, watts: float | None) -> dict[str, Any]:
    """A row of the table of training, without what all share."""
    return {
        "run": case.name,
        "model": case.shape.name,
        "sequence": case.sequence,
        "global_batch": case.micro_batch,
        "micro_batch": case.micro_batch,
        "recompute": case.recompute,
        "compiled": case.compiled,
        "measured_step_s": seconds,
        "measured_tokens_per_s_per_accelerator": case.micro_batch * case.sequence / seconds,
        "measured_memory_bytes": held,
        "note": NOTE + (f"; {watts:.0f} W by nvidia-smi" if watts else ""),
    }


def training(
    bench: Bench, chip: catalog.Accelerator | None, cases: tuple[Case, ...], software: str
) -> Iterator[dict]:
    """Rows of the table of training, one a case; one that does not run is said and left out."""
    for case in cases:
        bench.torch.compiler.reset()
        gc.collect()  # what the last one held
        if bench.device == "cuda":
            bench.torch.cuda.empty_cache()
        try:
            seconds, held, watts = timed(bench, case)
        except bench.torch.OutOfMemoryError:
            print(f"{case.name}: does not fit")
            continue
        except RuntimeError as error:  # a compiler's, say: the other cases may run
            print(f"{case.name}: {type(error).__name__}: {str(error).strip()[:160]}")
            continue
        found = row(case, seconds, held, watts)
        speed = found["measured_tokens_per_s_per_accelerator"]
        say = f"{case.name}: {seconds * 1e3:.1f} ms, {speed:,.0f} tokens/s"
        say += (f", {held / 1e9:.1f} GB" if held else "") + (f", {watts:.0f} W" if watts else "")
        if chip:
            predicted, taken = expected(case, chip, software)
            say += f", the library says {predicted * 1e3:.1f} ms, {taken / 1e9:.1f} GB"
        print(say, flush=True)
        yield found
