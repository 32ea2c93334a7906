"""How fast serving is estimated: run by hand with `make bench`; never part of the tests.

Estimates a second on one core: engine steps over batches and contexts and over layouts, and whole
operating points (steady state: two kinds of step, TTFT, TPOT, throughput); beside them how many
times faster that is than one at a time. `data/other_tools.csv` holds what other estimators reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scaleright import catalog
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.phases import step_seconds
from scaleright.inference.serving import steady

SIZE, BLOCK, LOOP = 262_144, 16_384, 100
"""Estimates of a measurement, those worked out in one call (their numbers stay in the processor's
cache), and calls of one each.
"""
CASES = [
    ("Llama-3.1-70B", "H100 SXM", {"precision": "FP8", "tensor": 8}),
    ("DeepSeek-V3", "H200 SXM", {"precision": "FP8", "attention_data": 8, "expert": 8}),
    ("gpt-oss-120b", "B200", {"precision": "MXFP4", "tensor": 2}),
]


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of a few runs: that of one core."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def compare(name: str, whole: Callable[[slice], object], one: Callable[[int], object]) -> None:
    """Print the estimates a second in blocks, and how many times faster that is than one at a time."""
    together = SIZE / seconds(lambda: [whole(slice(i, i + BLOCK)) for i in range(0, SIZE, BLOCK)])
    apart = LOOP / seconds(lambda: [one(i) for i in range(LOOP)])
    print(f"{name:<52} {together:>12,.0f} a second {together / apart:6.0f} x a loop")


def main() -> None:
    """Measure every case."""
    draw = np.random.default_rng(0).integers
    batch, context, prompt = (draw(1, high, SIZE).astype(float) for high in (1024, 8192, 2048))
    tensor, concurrency = 2.0 ** draw(0, 4, SIZE), draw(1, 512, SIZE).astype(float)
    for model, chip, layout in CASES:
        d, load = (
            Deployment(catalog.model(model), catalog.accelerator(chip), **layout),
            Load(1000, 500),
        )
        name = f"{model} on {chip}"
        compare(
            f"{name}: steps by load",
            lambda at: step_seconds(d, batch[at], context[at], prompt[at], 500.0),
            lambda i: step_seconds(d, batch[i], context[i], prompt[i], 500.0),
        )
        compare(
            f"{name}: steps by layout",
            lambda at: step_seconds(
                Deployment(d.model, d.chip, d.precision, tensor[at]), batch[at], context[at]
            ),
            lambda i: step_seconds(
                Deployment(d.model, d.chip, d.precision, tensor[i]), batch[i], context[i]
            ),
        )
        compare(
            f"{name}: operating points",
            lambda at: steady(d, load, concurrency[at]),
            lambda i: steady(d, load, concurrency[i]),
        )


if __name__ == "__main__":
    main()
