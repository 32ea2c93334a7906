"""What the chapter `memory_wall` shows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scaleright import catalog, charts
from scaleright.chapters.memory_wall import model as memory_tables
from scaleright.charts import Display
from scaleright.ops import first_case, floor, maximum, where
from scaleright.quantity import Quantity, at, least
from scaleright.ranges import Ends
from scaleright.training import memory
from scaleright.training.layout import RECOMPUTE, SHARING
from scaleright.training.memory import TrainingMemory
from scaleright.units import si
from scaleright.validation.memory import (
    Peaks,
    memory_errors,
    memory_groups,
)
from scaleright.validation.report import Validation

EACH, LENGTH = "bytes on each chip", "tokens of a sequence"
"""Axes of the charts."""
LOGS = {"log_x": True, "log_y": True}


def answer(
    case: Any, shape: Any, bill: TrainingMemory, holds: Any, few: Any, possible: Any, peaks: Peaks
) -> Display:
    """The answer card: whether it fits on the chips or on how many, and what each holds."""
    chip_total, (range_low, range_high) = bill.total, peaks.around(bill)
    fits, parts = chip_total <= holds, {name: -part for name, part in bill.labeled().items()}
    largest, least_of_all = least(parts)
    most = -least_of_all
    of, many = charts.phrase("{case.model} on"), charts.say(case.accelerators, "whole")
    here = charts.phrase("Train {of} {many} {case.accelerator}: it fits.")
    more = charts.phrase("Train {of} {few:whole} {case.accelerator}, not on {many}.")
    none = charts.phrase("Change the settings: no number of {case.accelerator} holds {case.model}.")
    advice = first_case([(fits, here), (few < np.inf, more)], none)
    enough = charts.phrase("no fewer than {few:whole} chips hold it")
    some = [(few == 1, "one chip is enough"), (few < np.inf, enough)]
    enough = first_case(some, "no number of chips is enough")
    clear = (range_high <= holds) | (range_low > holds)
    clear = where(clear, "No error found so far would change that.", "Too close to call: try it.")
    span = charts.phrase("{range_low:si B} to {range_high:si B} (all published peaks of such runs)")
    span = where(possible, span, "none for sequences that the model was not made for")
    return charts.answer_card(
        "{advice}",
        "{chip_total:si B}",
        "needed on each chip, which has {holds:si B}",
        "{clear}",
        "The largest part, {most:si B}, is for the {largest}; {enough}.",
        provided=possible,
        otherwise="<strong>{case.model}</strong> was made for up to {shape.max_context:whole}"
        " tokens, not for {case.sequence:whole}. Shorten the sequences or choose another model.",
        range="{span}",
        as_of=catalog.resource("models")["as_of"],
        model_error=peaks.said,
        headline="chip_total",
        quantities={
            "chip_total": (chip_total, "si B"),
            "range_low": (range_low, "si B"),
            "range_high": (range_high, "si B"),
        },
    )


def parts(bill: TrainingMemory, holds: Any) -> Display:
    """A chart of what each chip holds, by parts, and of what it has room for."""
    chip_total = bill.total
    return charts.show(
        charts.stacked_parts(bill.labeled(), "si B", EACH)
        + charts.rule(holds, EACH, "a chip holds"),
        name="parts",
        caption="Logits: scores of all words of the vocabulary. Reserve: driver, buffers of"
        " communication, 2 % for fragmentation.",
        alt="Memory of each chip by parts, which add up to {chip_total:si B}; a line marks the"
        " {holds:si B} that a chip holds.",
    )


def ways_to_keep_states(case: Any, each: Mapping[str, Any]) -> Display:
    """A table of bytes a parameter by what is trained and with which optimizer."""
    return charts.table(
        memory_tables.ways_to_keep_states().assign(**each),
        "Bytes for each parameter of the model without sharding, in mixed precision",
        dict.fromkeys(each, "number 3"),
        along=(case.optimizer, case.task, case.sharding, case.accelerators),
        name="bytes-a-parameter",
    )


def by_sharing(case: Any, chip_total: Quantity, holds: Any) -> Display:
    """A chart of each chip's memory against the number of chips, a line for each ZeRO stage."""
    by_stage = {word: at(chip_total, sharding=word) for word in SHARING}
    ranks, chips = {"chips": [2**k for k in range(11)]}, case.accelerators
    return charts.show(
        charts.lines(ranks, "chips", by_stage, "si B", "chips", EACH, along=chips, **LOGS)
        + charts.rule(holds, EACH, "a chip holds", horizontal=True, log=True),
        name="sharing",
        alt="Memory of each chip against the number of chips, a line for each ZeRO stage: without"
        " sharding it stays flat, fully sharded it falls to activations and gathered layers.",
    )


def by_length(case: Any, bill: TrainingMemory, holds: Any) -> Display:
    """A chart of activations and logits against the length of a sequence."""
    by_level = {word: at(bill.activations_bytes, recompute=word) for word in RECOMPUTE}
    by_level |= {"logits": bill.logits_bytes}
    lengths, tokens = {"tokens": [2**k for k in range(8, 18)]}, case.sequence
    return charts.show(
        charts.lines(lengths, "tokens", by_level, "si B", LENGTH, EACH, along=tokens, **LOGS)
        + charts.rule(holds, EACH, "a chip holds", horizontal=True, log=True),
        name="activations",
        alt="Activations of a chip against the length of a sequence, with nothing, some and"
        " everything computed again, and the logits: all grow in proportion to the tokens.",
    )


def thirteen_billion(kept: Quantity, again: Quantity, room: float) -> Display:
    """A table of what Clarifai's 13B takes on one to eight chips."""
    return charts.table(
        memory_tables.on_few_chips(kept, again, room, f"of {si(room, 'B')}"),
        "LLaMA-13B, all weights, sequences of 2,048, fully sharded: bytes on each chip",
        dict.fromkeys(("everything kept", "all recomputed"), "si B"),
        name="thirteen-billion",
    )


def fewest_chips(case: Any, fewest: Quantity, possible: Any) -> Display:
    """A table of the fewest chips that train all weights, of models by chips."""
    words = "Fewest chips to train all weights"
    return _models_by_chips(case, fewest, possible, words, "fewest-chips")


def fewest_for_adapters(case: Any, fewest: Quantity, possible: Any) -> Display:
    """A folded table of the same for adapters."""
    words = f"Fewest chips to train adapters of rank {memory.LORA_RANK}"
    shown = _models_by_chips(case, fewest, possible, words, "fewest-chips-adapters")
    return charts.folded(shown, "The same for adapters")


def _models_by_chips(case: Any, fewest: Quantity, possible: Any, words: str, name: str) -> Display:
    """A table of numbers of chips by model and chip, of those that are enough."""
    few = where(possible & (fewest < np.inf), fewest, np.nan)
    return charts.table(
        memory_tables.models_by_chips().assign(fewest=few),
        words,
        {"fewest": "whole"},
        along={case.model: "of", case.accelerator: "on"},
        across="chip",
        name=name,
    )


def published(judged: Validation) -> Display:
    """A chart of published memory beside the bill of the same run."""
    columns, found = ("published_bytes", "predicted"), judged.summary
    in_gb = judged.rows.assign(**judged.rows[[*columns]] / 1e9)
    return charts.show(
        charts.predicted_vs_measured(in_gb, *columns, "model", "GB", "published"),
        name="published",
        alt=f"Published against computed memory of {found.rows} runs: the median is"
        f" {found.median_absolute_percent:.1f} percent off.",
    )


def errors(judged: Validation) -> Display:
    """A table of how far the bill is off, by group of runs."""
    found = memory_errors(memory_groups(judged.rows))
    words = "Predicted over published, in percent; below zero the prediction is too low"
    return charts.table(found, words, dict.fromkeys(("least", "median", "greatest"), _signed))


def _signed(percent: float) -> str:
    return f"{percent:+.1f} %".replace("-", "−")


def tornado(case: Any, chip_total: Quantity) -> Display:
    """A chart of what the reader's choices do to the memory of each chip."""
    halved = {
        LENGTH: case.sequence,
        "sequences at once": case.micro_batch,
        "accelerators of the job": case.accelerators,
    }
    ends = {words: Ends(of, maximum(floor(of / 2), 1), of * 2) for words, of in halved.items()}
    ends["loss, fused or not"] = Ends(case.loss, "fused", "plain")
    return charts.show(
        charts.tornado(ends, chip_total, "si B", EACH),
        name="tornado",
        alt="What your choices do to the {chip_total:si B} of each chip: tokens, sequences, chips"
        " or loss.",
    )
