"""How fast the search of layouts is: run by hand with `make bench`; never part of the tests.

Seconds of a whole search (every layout that keeps the rules, its memory, its time), layouts a
second, and how many times faster that is than weighing the same layouts one at a time.
`data/other_tools.csv` holds what other estimators take.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from scaleright import catalog
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import training_memory
from scaleright.training.rules import FIELDS
from scaleright.training.search import layouts, pick, search
from scaleright.training.step import step_time

LOOP = 100
RUNS = [
    ("Llama-3.1-405B", "H100 SXM", 16_384, 8192, 2048, "BF16"),
    ("GPT-3 175B (Megatron)", "A100 SXM 80GB", 1024, 2048, 1536, "BF16"),
    ("Llama-3.1-70B", "H100 SXM", 256, 8192, 512, "BF16"),
    ("DeepSeek-V3", "H100 SXM", 2048, 4096, 15_360, "FP8"),
]


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of a few runs: that of one core."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Search every run."""
    for model, chip, chips, sequence, batch, precision in RUNS:
        run = TrainingRun(
            catalog.model(model), catalog.accelerator(chip), chips, sequence, batch, precision
        )
        every = layouts(run)
        size = every.tensor.size
        some = [pick(every, index) for index in range(0, size, max(size // LOOP, 1))][:LOOP]
        single = [Layout(**{name: int(getattr(one, name)) for name in FIELDS}) for one in some]
        whole = seconds(lambda: search(run))
        apart = (
            seconds(lambda: [(training_memory(run, one), step_time(run, one)) for one in single], 1)
            * size
            / len(single)
        )
        name = f"{model} on {chips:,} {chip}"
        print(
            f"{name:<44} {size:>8,} layouts {whole:6.3f} s {size / whole:>10,.0f} a second"
            f" {apart / whole:6.0f} x a loop"
        )


if __name__ == "__main__":
    main()
