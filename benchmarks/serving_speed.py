"""How fast serving is estimated: estimates in blocks against one at a time, on one core.

Engine steps over batches and contexts and over layouts, and whole operating points (steady state:
two kinds of step, TTFT, TPOT, throughput). `data/other_tools.csv` holds what other estimators
reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scaleright import catalog
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.phases import step_seconds
from scaleright.inference.serving import steady

from benchmarks.timing import line, quick, seconds

BLOCK = 16_384
"""Estimates worked out in one call: their numbers stay in the processor's cache."""
CASES = [
    ("Llama-3.1-70B", "H100 SXM", {"precision": "FP8", "tensor": 8}),
    ("DeepSeek-V3", "H200 SXM", {"precision": "FP8", "attention_data": 8, "expert": 8}),
    ("gpt-oss-120b", "B200", {"precision": "MXFP4", "tensor": 2}),
]
Estimate = Callable[[int | slice], object]


def estimates(d: Deployment, size: int) -> Iterator[tuple[str, Estimate]]:
    """What is estimated of a deployment, by name, at one of the drawn loads or at many."""
    draw = np.random.default_rng(0).integers
    batch, context, prompt = (draw(1, high, size).astype(float) for high in (1024, 8192, 2048))
    tensor, concurrency = 2.0 ** draw(0, 4, size), draw(1, 512, size).astype(float)

    def laid_out(i: int | slice) -> object:
        return step_seconds(
            Deployment(d.model, d.chip, d.precision, tensor[i]), batch[i], context[i]
        )

    load = Load(1000, 500)
    yield "steps by load", lambda i: step_seconds(d, batch[i], context[i], prompt[i], 500.0)
    yield "steps by layout", laid_out
    yield "operating points", lambda i: steady(d, load, concurrency[i])


def main(arguments: list[str] | None = None) -> None:
    """Measure every case."""
    small = quick(__doc__, arguments)
    size, loop = (64, 2) if small else (262_144, 100)
    for model, chip, layout in CASES[: 1 if small else None]:
        d = Deployment(catalog.model(model), catalog.accelerator(chip), **layout)
        for what, of in estimates(d, size):
            blocks = [slice(at, at + BLOCK) for at in range(0, size, BLOCK)]
            together = seconds(lambda of=of, blocks=blocks: [of(at) for at in blocks]) / size
            apart = seconds(lambda of=of: [of(i) for i in range(loop)]) / loop
            figure = f"{1 / together:,.0f} a second"
            line(f"{model} on {chip}: {what}", figure, apart / together)


if __name__ == "__main__":
    main()
