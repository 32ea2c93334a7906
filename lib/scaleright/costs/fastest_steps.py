"""The fastest step of a run on many sizes of many platforms: what a page looks up of a search that
cannot follow its controls.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, product
from types import SimpleNamespace
from typing import Any

import numpy as np

from scaleright.catalog import Accelerator, model, shared
from scaleright.costs.platform_terms import trust
from scaleright.costs.platforms import (
    BATCHES,
    FREE,
    cluster_chips,
    format_on,
    layout_words,
    step_parts,
)
from scaleright.costs.whole_runs import BEST_QUARTER
from scaleright.formulas import lookup, search
from scaleright.ops import first_case, item, where
from scaleright.order import noiseless
from scaleright.quantity import Table, least, look_up
from scaleright.quantity.rows import Row
from scaleright.scaling_laws.batches import CRITICAL, published_batch, tokens_over_least
from scaleright.training.layout import (
    USUAL_FORMAT,
    Layout,
    TrainingRun,
    training_format,
    usual_sequence,
)
from scaleright.training.layouts import layouts, pick, slower_twins
from scaleright.training.memory import training_memory
from scaleright.training.rules import FIELDS, check_run
from scaleright.training.slowdowns import slowdowns
from scaleright.training.step import StepTime, mfu, step_time
from scaleright.units import figure

MODELS = (
    "Llama-2-7B",
    "Llama-3.1-8B",
    "Qwen3-32B",
    "Llama-3.1-70B",
    "Llama-3.1-405B",
    "Mixtral-8x7B",
    "DeepSeek-V3",
)
"""Models that the page offers, beside that of its own case."""
SIZES = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384)
"""Numbers of chips that clusters are offered with."""
PRECISIONS = ("BF16", "FP8")
MICRO_BATCHES, MICRO_BATCHES_OF_EXPERTS = (1, 2, 4, 8, 16), (1, 2, 4)
"""Sequences that a copy works on at once, of those layouts that are tried for a page: the fastest
of all layouts is among them, as tests hold.
"""
COLUMNS = ("compute_s", "recompute_s", "communication_s", "bubble_s", "mfu")
NO_LAYOUT = "none that fits"
OVERLAPPED = ", overlapped"
"""Follows the name of a model whose exchange of experts runs beside computing."""

Found = dict[tuple[str, int], dict[str, Any]]
"""Steps by accelerator and number of chips."""


def _joined(many: list[Layout]) -> Layout:
    """Layouts of several runs, one after the other."""
    return Layout(**{name: np.concatenate([getattr(of, name) for of in many]) for name in FIELDS})


_WEIGHED: dict[tuple[Any, ...], tuple[Layout, np.ndarray, np.ndarray]] = {}
_MOST, _LARGE = 24, 30_000
"""Sets of layouts that are kept at most, and layouts of the largest that is kept."""


def _weighed(run: TrainingRun, sizes: tuple[int, ...]) -> tuple[Layout, np.ndarray, np.ndarray]:
    """The layouts of a run that are tried on these numbers of chips, which number each is for, and
    which are slower than the one before: the same in every format, and on all chips with as many to
    a fabric. They are half of a search, and so kept for the next.
    """
    lengths = run.sequence, run.global_batch, run.mtp_modules
    key = run.model, run.chip.scale_up_chips, *lengths, run.task, sizes
    if key in _WEIGHED:
        return _WEIGHED[key]
    tried = MICRO_BATCHES_OF_EXPERTS if run.model.experts else MICRO_BATCHES
    tried = [size for size in tried if run.global_batch % size == 0]
    ways = [
        layouts(replace(run, chips=size), micro_batch=tried, recompute=[0, 2]) for size in sizes
    ]
    every = _joined(ways)
    of_size = np.repeat(np.arange(len(sizes)), [way.tensor.size for way in ways])
    found = every, of_size, slower_twins(every)
    if of_size.size <= _LARGE:
        if len(_WEIGHED) == _MOST:
            _WEIGHED.pop(next(iter(_WEIGHED)))
        _WEIGHED[key] = found
    return found


@search
def alike(precision: str) -> Iterator[tuple[str, list[Accelerator]]]:
    """Chips for which the same layouts of a run are valid and take the same memory: of one format
    and with as many to a fabric.
    """

    def kind(chip: Accelerator) -> tuple[str, float]:
        return format_on(chip.name, precision), chip.scale_up_chips or 1

    chips = sorted(cluster_chips().values(), key=kind)
    for (form, _), group in groupby(chips, kind):
        yield form, list(group)


@search
def fastest_on_all(
    run: TrainingRun,
    chips: Iterable[Accelerator],
    sizes: Iterable[int],
    overlapped: bool = False,
) -> Found:
    """The fastest layout of a run on so many of each chip, for chips of which the same layouts are
    valid: all sizes in one call, and the memory of a layout once for all chips.

    overlapped : whether the exchange of experts runs beside another micro-batch on every chip,
        not only where the recipes of its stack do so unasked

    Returns
    -------
    Steps as those of `pretraining.best_step`; a size on which nothing fits is left out.
    """
    sizes, found = tuple(sizes), Found()
    check_run(replace(run, chips=sizes[0]))
    every, of_size, slower = _weighed(run, sizes)
    taken = training_memory(run, every).total
    for chip in chips:
        held = taken <= chip.require("memory_bytes")
        fits = np.flatnonzero(held & ~(slower & np.roll(held, 1)))
        here = replace(run, chip=chip)
        slow = slowdowns(here).overlapped() if overlapped else None
        step = step_time(here, pick(every, fits), slow)
        order = np.lexsort((noiseless(step.total), of_size[fits]))
        places, first = np.unique(of_size[fits][order], return_index=True)
        chosen = order[first]
        best = StepTime(
            **{of: np.broadcast_to(part, fits.shape)[chosen] for of, part in step.parts().items()}
        )
        many: Any = np.array(sizes)[places]
        used = mfu(replace(here, chips=many), best)
        for at, (place, one) in enumerate(zip(places, chosen, strict=True)):
            layout = {name: int(getattr(every, name)[fits[one]]) for name in FIELDS}
            found[chip.name, sizes[place]] = {
                **step_parts(best.at(at).parts() | {"step_s": float(best.total[at])}),
                "mfu": float(used[at]),
                "layout": layout_words(layout),
                "split": Layout(**layout),
            }
    return found


@search
def fastest_steps(
    model_name: str, sizes: tuple[int, ...], batch: str, precision: str, overlapped: bool = False
) -> Found:
    """`fastest_at` with a batch that goes by a name, one of `BATCHES`."""
    return fastest_at(model_name, sizes, BATCHES[batch], precision, overlapped=overlapped)


@search
@shared
def fastest_at(
    model_name: str,
    sizes: tuple[int, ...],
    batch_tokens: int,
    precision: str,
    only: str = "",
    overlapped: bool = False,
) -> Found:
    """The fastest step of a model on so many of each chip that clusters are built of, or of `only`
    one, see `fastest_on_all`, with its layout (`split`); a chip without the format trains in BF16.
    """
    shape, found = model(model_name), Found()
    sequence = usual_sequence(shape)
    for form, group in alike(precision):
        if not (chips := [chip for chip in group if only in ("", chip.name)]):
            continue
        run = TrainingRun(shape, chips[0], 1, sequence, batch_tokens // sequence, form)
        found |= fastest_on_all(run, chips, sizes, overlapped)
    return found


@lookup
def seconds_to_loss(step_s: Any, batch_tokens: Any, critical_tokens: Any) -> Any:
    """Time of a token that a batch is worth: of two batches the one with less of it comes to the
    same loss sooner on as many chips, since a larger one takes more tokens [s].

    >>> seconds_to_loss(8.0, 8.0, 8.0), seconds_to_loss(5.0, 4.0, 8.0)
    (1.2, 1.375)
    """
    return step_s / batch_tokens * tokens_over_least(batch_tokens, critical_tokens)


@lookup
def batch_taken(asked: Any, step_s: Mapping[str, Any], critical_tokens: Any) -> Any:
    """The batch by its name: the one that is asked for, or where that is `FREE` the one with which
    a number of chips comes to the same loss soonest.

    step_s : of a step by the name of its batch, NaN where it does not run [s]
    critical_tokens : batch at which a run takes a fifth more tokens [token]
    """
    worth = {of: seconds_to_loss(s, BATCHES[of], critical_tokens) for of, s in step_s.items()}
    best, _ = least(worth)
    return where(asked == FREE, where(best == "", next(iter(step_s)), best), asked)


@lookup
def in_format(case: Any, models: Iterable[str]) -> SimpleNamespace:
    """A case in the format that it names, or if it asks for the usual one in that of its model.

    models : those that a page offers
    """
    form = format_taken(case.precision, case.model, models)
    return SimpleNamespace(**vars(case) | {"precision": form})


@lookup
def format_taken(precision: Any, model_name: Any, models: Iterable[str]) -> Any:
    """The format in which one of some models trains where one is asked for, or the usual one."""
    usual = look_up({name: training_format(model(name)) for name in models}, model_name)
    return where(precision == USUAL_FORMAT, usual, precision)


@lookup
def format_there(accelerator_name: Any, precision: Any) -> Any:
    """The format in which an accelerator trains that is asked for one: BF16 where it lacks that."""
    has = {name: format_on(name, "FP8") for name in cluster_chips()}
    return where(precision == "FP8", look_up(has, accelerator_name), precision)


@lookup
def usual_critical(tokens: Any) -> Any:
    """Critical batch of a run where no law is named: by its tokens alone [token]."""
    return published_batch(CRITICAL[0], 1.0, tokens)


@search
def overlapping(models: Iterable[str]) -> dict[str, str]:
    """By what tables have the steps of models in the best quarter of runs, see `OVERLAPPED`."""
    return {name: name + OVERLAPPED * bool(model(name).experts) for name in models}


@lookup
def table_key(case: Any, tuned: Mapping[str, str]) -> Any:
    """By what a table has the steps of a case's model; `tuned` as of `overlapping`, or empty."""
    if not tuned:
        return case.model
    return where(case.tuning == BEST_QUARTER, look_up(tuned, case.model), case.model)


@dataclass(frozen=True)
class Step:
    """An optimizer step in its fastest layout.

    tokens : of its batch
    parts : as `run_chip_hours` takes them, by name [s]
    mfu : share of the dense peak [1]
    layout : in words
    fits : whether any layout does
    trust : how far the time is to be trusted, a row of `platform_terms.trust`
    """

    tokens: Any
    parts: Mapping[str, Any]
    mfu: Any
    layout: Any
    fits: Any
    trust: Row

    def at(self, pace: Any) -> dict[str, Any]:
        """The parts where every one takes so many times as long [s]."""
        return {name: part * pace for name, part in self.parts.items()}


@dataclass(frozen=True)
class Steps:
    """The fastest steps of several models on several numbers of chips, as a table of which a page
    looks one up.

    sizes : numbers of chips that are offered
    table : by model, chips, batch and format: of each column the figures of all platforms
    batches : names of these batches
    names : of the platforms, in the order of these figures
    layouts : in words, each once
    kinds : of the models, "dense" or "experts"
    tuned : where the table has the steps of models in the best quarter of runs, whose exchange of
        experts runs beside computing (see `costs.whole_runs`); empty where it has none
    trust : how far their times are to be trusted, see `platform_terms`
    """

    sizes: tuple[int, ...]
    table: Table
    batches: tuple[str, ...]
    names: tuple[str, ...]
    layouts: tuple[str, ...]
    kinds: Mapping[str, str]
    tuned: Mapping[str, str]
    trust: Table

    @classmethod
    def of(cls, case: Any, models: Iterable[str] = MODELS) -> "Steps":
        """Those of all models, however well a run is tuned.

        case : a reader's, with `model` and `chips`
        """
        return cls.over((case.model, *models), SIZES, case.chips, tuned=True)

    @classmethod
    def over(
        cls,
        models: Iterable[str],
        offered: tuple[int, ...] = SIZES,
        chips: int | None = None,
        batches: Iterable[str] = tuple(BATCHES),
        tuned: bool = False,
    ) -> "Steps":
        """Those of several models on several numbers of chips.

        chips : another number of chips beside those that are offered
        batches : names of `platforms.BATCHES`
        tuned : whether those of the best quarter of runs are among them
        """
        sizes, names = tuple(sorted({*offered, chips or offered[0]})), tuple(cluster_chips())
        words, table = {NO_LAYOUT: 0}, dict[tuple, Mapping[str, Any]]()
        models, batches = [*dict.fromkeys(models)], tuple(batches)
        kinds = {name: "experts" if model(name).experts else "dense" for name in models}
        better = overlapping(models) if tuned else {}
        for key, batch, form in product(
            dict.fromkeys([*models, *better.values()]), batches, PRECISIONS
        ):
            asked = batch, form, key not in kinds
            found = fastest_steps(key.removesuffix(OVERLAPPED), offered, *asked)
            if chips and chips not in offered:
                found = found | fastest_steps(key.removesuffix(OVERLAPPED), (chips,), *asked)
            for size in sizes:
                row = [found.get((of, size), {}) for of in names]
                table[key, size, batch, form] = {
                    column: [figure(step.get(column, np.nan), 6) for step in row]
                    for column in COLUMNS
                } | {
                    "layout": [
                        words.setdefault(step.get("layout", NO_LAYOUT), len(words)) for step in row
                    ]
                }
        rest = names, tuple(words), kinds, better, Table(trust())
        return cls(offered, Table(table), batches, *rest)

    def on(self, accelerator_name: Any, case: Any, chips: Any) -> Step:
        """The step of a case on so many of an accelerator.

        case : quantities `model`, `tokens`, `batch` and `precision`, and `tuning` where steps are
            `tuned`
        """
        place, batch = (
            look_up(self.names, accelerator_name),
            self.batch(accelerator_name, case, chips),
        )
        row = self.table.row(table_key(case, self.tuned), chips, batch, case.precision)
        *parts, mfu_ = (item(row[column], place) for column in COLUMNS)
        layout = item(self.layouts, item(row.layout, place))
        named = dict(zip(COLUMNS, parts, strict=False))
        kind, tokens = look_up(self.kinds, case.model), look_up(BATCHES, batch)
        trusted = self.trust.row(kind, accelerator_name, case.precision)
        return Step(tokens, named, mfu_, layout, parts[0] > 0, trusted)

    def batch(self, accelerator_name: Any, case: Any, chips: Any) -> Any:
        """The batch of a case by its name; if it asks for the best, that with which so many of an
        accelerator come to the same loss in fewest hours: a larger one takes more tokens.
        """
        place, key = look_up(self.names, accelerator_name), table_key(case, self.tuned)

        def seconds(batch: str) -> Any:
            row = self.table.row(key, chips, batch, case.precision)
            return sum(item(row[part], place) for part in COLUMNS[:-1])

        step_s = {batch: seconds(batch) for batch in self.batches}
        return batch_taken(case.batch, step_s, usual_critical(case.tokens))

    def fewest(self, case: Any) -> Any:
        """The smallest size on which a case's model fits, 0 if it fits on none."""
        return first_case([(self.on(case.accelerator, case, n).fits, n) for n in self.sizes], 0)
