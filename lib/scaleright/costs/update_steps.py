"""How long a model takes to learn from a token, on so many of each chip: what a page looks up of a
search over layouts that cannot follow its controls.

The time of an optimizer step is a part for each token and a part for each step, by the one model of
training: summing gradients, updating weights and filling a pipeline do not depend on how many
tokens there are. Two layouts are kept of each: the fastest, and the one that leaves most memory to
other models of those that are not much slower.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, product
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from scaleright.catalog import Accelerator, model, remembered, shared
from scaleright.costs.platforms import cluster_chips, in_server
from scaleright.formulas import search
from scaleright.ops import item, maximum, minimum, where
from scaleright.order import noiseless
from scaleright.quantity import Table, look_up
from scaleright.training.layout import TrainingRun
from scaleright.training.layouts import layouts, pick
from scaleright.training.machine import Machine
from scaleright.training.memory import training_memory
from scaleright.training.slowdowns import Slowdowns, slowdowns
from scaleright.training.step import step_time
from scaleright.units import figure

SEQUENCES = (2048, 16_384)
"""Tokens of a sequence between which the time of a token lies on a straight line: attention grows
with its length.
"""
MICRO_BATCHES = (1, 2, 4)
ONCE = ("data_s", "optimizer_s", "bubble_s")
"""Parts of a step that do not grow with its tokens."""
EACH = 8
"""Sequences of a step for each chip, of which a step is timed [1]."""
SLOWER = 1.5
"""Time of a lean layout over the fastest's, at most [1]."""
COLUMNS = ("token", "step", "memory", "lean token", "lean step", "lean memory")
"""Chip-seconds of a token [s], seconds of a step beside [s] and memory of a chip [GB], of the
fastest layout and of a lean one.
"""
TASKS = {"all weights": "sft", "LoRA": "lora"}
"""What is trained, and the task of `TrainingRun` that it is."""


@remembered
def _speeds(model_name: str, task: str, chip_name: str) -> tuple[Slowdowns, Machine]:
    """What the time of a model's step on a chip depends on beside its layout, in 16 bits."""
    run = TrainingRun(model(model_name), in_server(chip_name), 1, SEQUENCES[0], 1, task=task)
    return slowdowns(run), Machine.of(run)


@search
def update_step(run: TrainingRun, chips: Iterable[Accelerator]) -> dict[str, list[float]]:
    """The figures of `COLUMNS` of a run on each of some chips for which the same layouts are valid;
    a chip on which none fits is left out.

    >>> run = TrainingRun(model("Llama-3.1-8B"), in_server("H100 SXM"), 16, 2048, 128, task="sft")
    >>> found = update_step(run, [run.chip])["H100 SXM"]
    >>> 5e-5 < found[0] < 5e-4, found[2] > found[5]
    (True, True)
    """
    ways = layouts(run, micro_batch=[*MICRO_BATCHES], recompute=[0, 2], virtual=1)
    found: dict[str, list[float]] = {}
    if not ways.tensor.size:
        return found
    taken = np.broadcast_to(training_memory(run, ways).total, ways.tensor.shape)
    for chip in chips:
        fits = np.flatnonzero(taken <= chip.require("memory_bytes"))
        if not fits.size:
            continue
        here = replace(run, chip=chip)
        step = step_time(here, pick(ways, fits), *_speeds(run.model.name, run.task, chip.name))
        total = noiseless(np.broadcast_to(step.total, fits.shape))
        held = noiseless(taken[fits])
        lean = np.where(total <= SLOWER * total.min(), held, np.inf)
        figures = []
        for place in (int(total.argmin()), int(lean.argmin())):
            parts = {name: _at(part, place) for name, part in step.parts().items()}
            once = sum(parts[name] for name in ONCE)
            each = (sum(parts.values()) - once) * run.chips / run.tokens
            gb = float(taken[fits][place]) / 1e9
            figures += [figure(each, 4), figure(once, 3), figure(gb, 3)]
        found[chip.name] = figures
    return found


def _at(part: Any, place: int) -> float:
    """One layout's seconds of a part that may be the same for all."""
    return float(np.ravel(part)[place if np.size(part) > 1 else 0])


@search
@remembered
def update_steps(
    model_name: str, task: str, size: int, sequence: int, names: tuple[str, ...]
) -> Mapping[str, list[float]]:
    """The figures of `COLUMNS` of a model on so many of each of some chips, in 16 bits."""

    def kind(chip: Accelerator) -> float:
        return chip.scale_up_chips or 1

    found: dict[str, list[float]] = {}
    chips = sorted(map(in_server, names), key=kind)
    for _, group in groupby(chips, kind):
        alike = list(group)
        shape = model(model_name)
        run = TrainingRun(shape, alike[0], size, sequence, EACH * size, task=task)
        found |= update_step(run, alike)
    return found


@shared
def _rows(
    name: str, sizes: tuple[int, ...], names: tuple[str, ...]
) -> Mapping[tuple[str, str, int, int], Mapping[str, list[float]]]:
    """The rows of `Updates` of a model: those of all sizes are read at once."""
    none, table = [np.nan] * len(COLUMNS), {}
    for words, size, sequence in product(TASKS, sizes, SEQUENCES):
        steps = update_steps(name, TASKS[words], size, sequence, names)
        rows = [steps.get(of, none) for of in names]
        table[name, words, size, sequence] = dict(
            zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)
        )
    return MappingProxyType(table)


@dataclass(frozen=True)
class Update:
    """Learning on so many chips, in a layout that leaves room for what else is held.

    token_chip_s, step_s : chip-seconds of a token, and seconds of a step beside [s]
    memory_bytes : of a chip that the layout takes [B]
    fits : whether there is such a layout
    """

    token_chip_s: Any
    step_s: Any
    memory_bytes: Any
    fits: Any


@dataclass(frozen=True)
class Updates:
    """Those of several models on several numbers of chips, as a table of which a page looks one up.

    names : of the platforms, in the order of the figures
    """

    sizes: tuple[int, ...]
    table: Table
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, models: Iterable[str], sizes: Iterable[int], names: Iterable[str] | None = None
    ) -> Self:
        """Those of some models, trained both ways, on some numbers of chips.

        >>> some = Updates.of(["Llama-3.1-8B"], [8, 64])
        >>> one = some.on("Llama-3.1-8B", "all weights", "H100 SXM", 64, 2000.0, 80e9)
        >>> 5e-5 < one.token_chip_s.value < 5e-4, bool(one.fits.value)
        (True, True)
        """
        names, sizes = tuple(names or cluster_chips()), tuple(sizes)
        rows = [_rows(name, sizes, names) for name in dict.fromkeys(models)]
        return cls(sizes, Table({at: row for of in rows for at, row in of.items()}), names)

    def on(
        self, name: Any, trained: Any, chip: Any, chips: Any, tokens: Any, free_bytes: Any
    ) -> Update:
        """Learning from sequences of so many tokens, in the fastest layout that leaves a chip's
        other models their room.

        tokens : of the mean sequence; free_bytes : of a chip for the layout [B]
        """
        place = look_up(self.names, chip)
        short, long = SEQUENCES
        rows = [self.table.row(name, trained, chips, of) for of in SEQUENCES]
        ends = [[item(row[column], place) for column in COLUMNS] for row in rows]
        near, distant = ends
        far = minimum(maximum((tokens - short) / (long - short), -short / (long - short)), 7.0)

        def between(column: int) -> Any:
            long = where(distant[column] > 0, distant[column], near[column])  # if it fits
            return near[column] + far * (long - near[column])

        memory = [
            near[column] + where(far > 0, far * (distant[column] - near[column]), 0.0)
            for column in (2, 5)
        ]
        roomy, fits = memory[0] * 1e9 <= free_bytes, memory[1] * 1e9 <= free_bytes
        return Update(
            maximum(where(roomy, between(0), between(3)), 1e-12),
            maximum(where(roomy, ends[0][1], ends[0][4]), 0.0),
            1e9 * where(roomy, memory[0], memory[1]),
            fits,
        )
