"""The layouts that a page weighs: those that win for a model on a number of chips, on different
chips and networks, with different batches, sequences, formats and tasks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import Any

from scaleright.architecture import Transformer
from scaleright.catalog import accelerator, model, shared
from scaleright.chapters.parallelism.chosen import machines
from scaleright.chapters.parallelism.selector import SIMPLER_WITHIN
from scaleright.costs import fastest_steps
from scaleright.decisions.parallelism_playbook import STRATEGIES, contenders, strategy, words
from scaleright.information import Choice, expected_loss, spread_between
from scaleright.ops import first_case, floor, item, minimum, where
from scaleright.quantity import Quantity, choose, least, over
from scaleright.quantity.lists import place_of_least
from scaleright.training.layout import LONGEST_WHOLE_SEQUENCE, Layout, TrainingRun
from scaleright.training.rules import FIELDS
from scaleright.training.step import COMMUNICATION, StepTime

MODELS = ("Llama-3.2-1B", "Llama-3.1-8B", "Qwen3-32B", "Llama-3.1-70B", "Llama-3.1-405B")
"""Models that the page offers beside that of its own case: dense ones, whose steps are counted by
the same formulas.
"""
ACCELERATORS = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200", "GB300", "MI300X")
"""Accelerators that it offers beside its own."""
PLAIN = ("experts", "moe_layers", "shared_ffn", "kv_lora_rank", "window", "selected_tokens")
"""What a model must lack to be counted as the dense ones are."""
COSTED = ("4M", "16M")
"""Batches of runs whose layouts are candidates: Llama 2's, and the largest of Llama 3.1."""
LONG = 131_072
"""Tokens of a long sequence, which context parallelism splits."""
MICRO_BATCHES = (1, 2, 4, 8)
"""Sequences that a copy works on at once, of those layouts that are tried for other cases."""
FABRICS, NETWORKS = (0.03, 0.1, 1.0, 4.0), (0.04, 0.2, 1.0, 4.0)
"""Networks on which the page's own case is searched, over those of its chip [1]."""
PARTS = {
    "compute": ("matmul_s", "attention_s", "elementwise_s", "optimizer_s", "host_s"),
    "recompute": ("recompute_s",),
    "communication": COMMUNICATION,
    "idle in the pipeline": ("bubble_s",),
}
"""Parts of a step as a page shows them."""


def offered(own: str) -> dict[str, Transformer]:
    """The models that a page offers, its own first: others only beside a dense one."""
    dense = not any(getattr(model(own), field) for field in PLAIN)
    return {name: model(name) for name in dict.fromkeys((own, *(MODELS if dense else ())))}


def linked(run: TrainingRun, fabric: float = 1.0, network: float = 1.0) -> TrainingRun:
    """A run on networks so much faster than its chip's."""
    chip = run.chip
    up, out = chip.require("scale_up_bytes_per_s"), chip.scale_out_bytes_per_s
    chip = replace(
        chip, scale_up_bytes_per_s=up * fabric, scale_out_bytes_per_s=out and out * network
    )
    return replace(run, chip=chip)


def _settings(shape: Transformer, chips: int) -> Iterator[TrainingRun]:
    """Runs that differ in all that a reader may set beside model and chips."""
    most = min(shape.max_context or LONG, LONG)
    hopper, blackwell = accelerator("H100 SXM"), accelerator("B200")
    usual = TrainingRun(shape, hopper, chips, min(8192, most), 2 * chips)
    short = replace(usual, chip=blackwell, sequence=min(4096, most))
    yield usual
    yield linked(usual, network=NETWORKS[0])
    yield linked(usual, fabric=FABRICS[1])
    yield replace(usual, global_batch=chips)
    yield replace(usual, global_batch=max(chips // 8, 1), sequence=most)
    yield replace(usual, precision="FP8", global_batch=8 * chips, sequence=min(16_384, most))
    yield replace(usual, chip=accelerator("A100 SXM 80GB"), sequence=min(2048, most))
    yield replace(usual, task="lora")
    yield replace(short, global_batch=4 * chips)
    yield replace(short, task="lora", global_batch=chips)
    yield linked(replace(short, precision="FP8"), network=NETWORKS[1])


@shared
def _winners(name: str, chips: int) -> list[tuple[str, Layout]]:
    """The best layouts of each strategy for a model on so many chips, at many settings."""
    return _found(_settings(model(name), chips), micro_batch=MICRO_BATCHES, recompute=(0, 2))


def _costed(name: str, chips: int) -> list[tuple[str, Layout]]:
    """The layouts with which `fastest_steps` costs a run of a model on so many chips, so that both
    give it the same step.
    """
    if name not in fastest_steps.MODELS or chips not in fastest_steps.SIZES:
        return []
    found = [
        fastest_steps.fastest_steps(name, fastest_steps.SIZES, batch, form)
        for batch, form in product(COSTED, fastest_steps.PRECISIONS)
    ]
    splits = [of[on, chips]["split"] for of in found for on in ACCELERATORS if (on, chips) in of]
    return [(str(strategy(split)), split) for split in dict.fromkeys(splits)]


def _found(runs: Iterable[TrainingRun], **fixed: Any) -> list[tuple[str, Layout]]:
    """The best layouts of each strategy of several runs, each once."""
    every = dict[tuple[str, Layout], None]()
    for run in runs:
        try:
            best = contenders(run, **fixed)
        except ValueError:  # the run is impossible on any layout
            continue
        every |= {(kind, of[0]): None for kind, of in best.items() if of[2] is not None}
    return list(every)


@dataclass(frozen=True)
class Shortlist:
    """Candidate layouts of several models on several numbers of chips.

    fields : of each field of a layout the values of all that are candidates anywhere; `strategy` is
        a place in `STRATEGIES`
    texts : words for these layouts
    table : by model and chips, the places of its candidates among them, -1 where there are fewer
    size : candidates of a model on a number of chips, at most [1]
    """

    fields: Mapping[str, tuple[int, ...]]
    texts: tuple[str, ...]
    table: Mapping[tuple[str, int], Mapping[str, list[int]]]
    size: int

    @classmethod
    def of(cls, run: TrainingRun, models: Iterable[str], sizes: Iterable[int]) -> "Shortlist":
        """Those of several models on several numbers of chips; of this run also those that win on
        slower and faster networks.
        """
        own = [linked(run, up, out) for up in (1.0, *FABRICS) for out in (1.0, *NETWORKS)]
        found = {}
        for name in models:
            for chips in sorted({*sizes, run.chips}):
                of = [*dict.fromkeys([*_winners(name, chips), *_costed(name, chips)])]
                if (name, chips) == (run.model.name, run.chips):
                    of = [*dict.fromkeys([*_found(own), *of])]
                if of:
                    found[name, chips] = of
        size = max(map(len, found.values()))
        places = {
            one: i for i, one in enumerate(dict.fromkeys(c for of in found.values() for c in of))
        }
        fields = {
            field: tuple(int(getattr(layout, field)) for _, layout in places) for field in FIELDS
        } | {"strategy": tuple(STRATEGIES.index(kind) for kind, _ in places)}
        table = {
            key: {"candidates": [places[one] for one in of] + [-1] * (size - len(of))}
            for key, of in found.items()
        }
        return cls(fields, tuple(words(layout) for _, layout in places), table, size)

    def at(self, case: Any, place: Any) -> tuple[Layout, Any, Any]:
        """A candidate's layout, its strategy, a place in `STRATEGIES`, and its place in `texts`.

        case : `model` and `chips`
        """
        row = choose(self.table, case.model, case.chips, otherwise="no layout fits")
        which = item(row.candidates, place)
        found = {
            field: item(values, which) if len(set(values)) > 1 else values[0]
            for field, values in self.fields.items()
        }
        return Layout(**{name: found[name] for name in FIELDS}), found["strategy"], which


@dataclass(frozen=True)
class Offer:
    """What a page offers beside its own run, as tables to choose from.

    models : by name
    shortlist : layouts that win somewhere, of each model on each number of chips
    speeds : what each accelerator reaches in each format, see `parallelism.chosen.machines`
    """

    models: Mapping[str, Transformer]
    shortlist: Shortlist
    speeds: Mapping[tuple[str, str], Mapping[str, Any] | str]

    @classmethod
    def of(cls, run: TrainingRun, sizes: Iterable[int], precisions: Iterable[str]) -> "Offer":
        """That of a run, on these numbers of chips and in these formats."""
        models = offered(run.model.name)
        chips = [run.chip, *(accelerator(name) for name in ACCELERATORS if name != run.chip.name)]
        return cls(
            models,
            Shortlist.of(run, models, sizes),
            machines(chips, precisions, run.model.name),
        )


def words_of(among: Shortlist, which: Any) -> Any:
    """A layout of a shortlist in words."""
    there = which >= 0
    return where(there, item(among.texts, where(there, which, 0)), "none")


def within_context(run: TrainingRun) -> Any:
    """Whether the model was made for sequences of this length, or nobody says for which."""
    return (run.model.max_context == 0) | (run.sequence <= run.model.max_context)


def divides(run: TrainingRun, layout: Layout, domain: Any) -> Any:
    """Whether the batch and the sequence divide over a layout that suits the model and the chips,
    its tensor parallelism stays within a node, and no short sequence is split.

    domain : chips of a node [1]
    """
    each = run.global_batch / (layout.data * layout.micro_batch)
    rounds = where(layout.virtual > 1, each / layout.pipeline, each)
    parts = where(layout.context > 1, 2 * layout.context, layout.tensor)
    whole = [(of == floor(of)) & (of >= 1) for of in (each, rounds, run.sequence / parts)]
    on_one = (layout.context == 1) | (run.sequence > LONGEST_WHOLE_SEQUENCE)
    return whole[0] & whole[1] & whole[2] & (layout.tensor <= domain) & on_one


@dataclass(frozen=True)
class Way:
    """The best candidate of a strategy: time of a step [s] and its parts by name, memory of a chip
    [B], its place among the layouts of the shortlist; NaN where none fits.
    """

    seconds: Any
    parts: Mapping[str, Any]
    memory: Any
    which: Any


def best_ways(
    among: Shortlist, place: Quantity, fits: Any, kind: Any, which: Any, step: StepTime, memory: Any
) -> dict[str, Way]:
    """The best candidate of each strategy, of the rows of a shortlist.

    place : of a candidate, on which the rest depends
    fits : whether it keeps the rules and fits in memory
    kind, which : its strategy and its place, as `Shortlist.at` has them
    """
    seconds = {name: sum(getattr(step, part) for part in of) for name, of in PARTS.items()}
    wanted = {f"part_{i}": of for i, of in enumerate(seconds.values())}
    wanted |= {"memory": memory, "which": which}
    for i in range(len(STRATEGIES)):
        wanted[f"of_{i}"] = where(fits & (kind == i), step.total, float("nan"))
    rows = over("layouts", {place: range(among.size)}, wanted)
    ways = {}
    for i, name in enumerate(STRATEGIES):
        at = place_of_least(rows[f"of_{i}"])
        parts = {part: item(rows[f"part_{j}"], at) for j, part in enumerate(PARTS)}
        found = (item(rows[field], at) for field in ("memory", "which"))
        ways[name] = Way(item(rows[f"of_{i}"], at), parts, *found)
    return ways


NEVER = float("inf")


def _times(ways: Mapping[str, Way]) -> dict[str, Any]:
    """Time of a step of each strategy, infinite where none of its layouts fits [s]."""
    return {name: where(way.seconds > 0, way.seconds, NEVER) for name, way in ways.items()}


def fastest_s(ways: Mapping[str, Way]) -> Any:
    """Time of a step of the fastest candidate of all, with which a run is costed; infinite where
    none fits [s].
    """
    return reduce(minimum, _times(ways).values())


def simplest(ways: Mapping[str, Way]) -> tuple[Any, Way]:
    """The simplest strategy of those that the model cannot tell from the fastest, and its best
    candidate; no word, and NaN, where nothing fits.
    """
    times, least = _times(ways), fastest_s(ways)
    within = least * (1 + SIMPLER_WITHIN)
    taken = [(name, (times[name] <= within) & (least < NEVER)) for name in ways]

    def chosen(values: Mapping[str, Any], none: Any) -> Any:
        return first_case([(is_it, values[name]) for name, is_it in taken], none)

    nan = float("nan")
    way = Way(
        chosen({name: of.seconds for name, of in ways.items()}, nan),
        {part: chosen({name: of.parts[part] for name, of in ways.items()}, nan) for part in PARTS},
        chosen({name: of.memory for name, of in ways.items()}, nan),
        chosen({name: of.which for name, of in ways.items()}, nan),
    )
    return chosen({name: name for name in ways}, ""), way


def rival(
    ways: Mapping[str, Way], way: Any, best: Way, error: tuple[float, float]
) -> tuple[Any, Choice]:
    """The fastest of the other strategies, and the choice between that and the one taken, by the
    time of a step [s]; no word and NaN where no other fits.

    error : measured over predicted ratio of two layouts, low and high end of nine of ten [1]
    """
    fits = {name: where(of.seconds > 0, of.seconds, float("nan")) for name, of in ways.items()}
    other, seconds = least(fits, after=way)
    return other, Choice(best.seconds, seconds, {"time of two layouts": spread_between(*error)})


def trials(
    ways: Mapping[str, Way], way: Any, best: Way, error: tuple[float, float]
) -> dict[str, Any]:
    """What trying each other strategy before choosing would save of a step, in expectation [s]; NaN
    for the one that is taken, and where none of its layouts fits.

    A trial tells which of the two is faster; by chance that is the other, see `expected_loss`.

    error : as for `rival`
    """
    spread = spread_between(*error)
    lost = {name: expected_loss(best.seconds, of.seconds, spread) for name, of in ways.items()}
    return {
        name: where((way == name) | ~(ways[name].seconds > 0), float("nan"), of)
        for name, of in lost.items()
    }


@dataclass(frozen=True)
class Split:
    """How to split a run, and what a step is like then; words are empty and numbers NaN where no
    layout fits.

    way : the strategy, of `STRATEGIES`; layout : in words
    seconds, low_s, high_s : time of a step, and its range [s]
    fastest_s : of the fastest layout of all, which may be another by less than the model can tell
        apart [s]
    mfu : model FLOP over those that the chips could do [1]
    waiting : share of a step in which chips wait for data [1]
    memory : of a chip [B]; room : share of a chip's memory that stays free [1]
    """

    way: Any
    layout: Any
    seconds: Any
    low_s: Any
    high_s: Any
    fastest_s: Any
    mfu: Any
    waiting: Any
    memory: Any
    room: Any

    @property
    def fastest_mfu(self) -> Any:
        """That of the fastest layout of all [1]."""
        return self.mfu * self.seconds / self.fastest_s
