"""How fast the search of layouts is: a whole search against weighing the same layouts one by one.

A search weighs every layout that keeps the rules: its memory and its time. `data/other_tools.csv`
holds what other estimators take.
"""

from __future__ import annotations

from scaleright import catalog
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import training_memory
from scaleright.training.rules import FIELDS
from scaleright.training.search import layouts, pick, search
from scaleright.training.step import step_time

from benchmarks.timing import line, quick, seconds

RUNS = [
    ("Llama-3.1-70B", "H100 SXM", 256, 8192, 512, "BF16"),
    ("GPT-3 175B (Megatron)", "A100 SXM 80GB", 1024, 2048, 1536, "BF16"),
    ("DeepSeek-V3", "H100 SXM", 2048, 4096, 15_360, "FP8"),
    ("Llama-3.1-405B", "H100 SXM", 16_384, 8192, 2048, "BF16"),
]


def main(arguments: list[str] | None = None) -> None:
    """Search every run."""
    small = quick(__doc__, arguments)
    loop = 3 if small else 100
    for model, chip, chips, sequence, batch, precision in RUNS[: 1 if small else None]:
        run = TrainingRun(
            catalog.model(model), catalog.accelerator(chip), chips, sequence, batch, precision
        )
        every = layouts(run)
        size = every.tensor.size
        some = [pick(every, index) for index in range(0, size, max(size // loop, 1))][:loop]
        single = [Layout(**{name: int(getattr(one, name)) for name in FIELDS}) for one in some]
        whole = seconds(lambda run=run: search(run), 1 if small else 3)
        apart = seconds(
            lambda run=run, of=single: [
                (training_memory(run, one), step_time(run, one)) for one in of
            ],
            1,
        )
        times = apart / len(single) * size / whole
        line(f"{model} on {chips:,} {chip}: {size:,} layouts", f"{whole:.3f} s", times)


if __name__ == "__main__":
    main()
