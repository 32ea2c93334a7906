"""The layouts that a page weighs: those that win for a model on a number of chips, on different
chips and networks, with different batches, sequences, formats and tasks.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from types import SimpleNamespace
from typing import Any

from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator, accelerator, model, shared
from scaleright.collectives import OUT_LATENCY_S, UP_LATENCY_S, network
from scaleright.costs import fastest_steps
from scaleright.decisions.parallelism_playbook import STRATEGIES, contenders, strategy, words
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import Breakdown, lookup
from scaleright.information import Choice, expected_loss, spread_between
from scaleright.ops import first_case, floor, item, minimum, where
from scaleright.order import name_of_greatest, names_by
from scaleright.quantity import Quantity, least, look_up, over
from scaleright.quantity import choose as quantity_choose
from scaleright.quantity.lists import place_of_least
from scaleright.roofline import PEAK_NAMES, plain_format, speeds
from scaleright.training.layout import LONGEST_WHOLE_SEQUENCE, Layout, TrainingRun
from scaleright.training.machine import CAST_BYTES, ELEMENT_BYTES, Machine, Stack, fuses_experts
from scaleright.training.memory import TrainingMemory
from scaleright.training.parts import KINDS
from scaleright.training.rules import FIELDS, check, peak_needed
from scaleright.training.search import candidates
from scaleright.training.slowdowns import Slowdowns, borrowed, interval, slowdowns
from scaleright.training.step import COMMUNICATION, StepTime, mfu, step_time
from scaleright.transformer.parameters import parameters

# A training run whose chip and format are choices: its machine, slowdowns and memory as rows of a
# table, so that the time of a step is a quantity


SPEEDS = ("matmul_flops", "memory_bytes_per_s", "units", "exponentials_per_s", "launch_s")
UNLIMITED = 1e15
"""Bandwidth between a pair of chips where nothing but the fabric limits it [B/s]."""


@lookup
def machines(
    chips: Iterable[Accelerator], precisions: Iterable[str], model_name: str
) -> dict[tuple[str, str], dict[str, Any] | str]:
    """What a step depends on of each chip in each format, or why there is nothing: rows to choose.

    model_name : a model of the kind that is trained, with or without experts
    """
    rows, precisions = {}, list(precisions)
    for chip in chips:
        name = chip.name
        for form in precisions:
            if peak_needed(form) not in chip.dense:
                rows[name, form] = f"{name} has no tensor cores for {form}"
                continue
            run = TrainingRun(model(model_name), chip, 1, 1, 1, form)
            fast, plain = speeds(chip, form), speeds(chip, plain_format(chip))
            up, out = network(chip)
            slow, (low, high) = slowdowns(run), interval(run)
            fabric = chip.require("scale_up_bytes_per_s")
            pair = chip.scale_up_pair_bytes_per_s or UNLIMITED
            rows[name, form] = (
                {field: getattr(fast, field) for field in SPEEDS}
                | {f"plain_{field}": getattr(plain, field) for field in SPEEDS}
                | {f"slow_{kind}": slow.by_kind[kind] for kind in KINDS}
                | {
                    "peak_flops": chip.peak_flops(PEAK_NAMES[form]),
                    "memory_bytes": chip.require("memory_bytes"),
                    "domain": up.chips,
                    "fabric": fabric,
                    "network": chip.scale_out_bytes_per_s or fabric,
                    "up_share": up.bytes_per_s / fabric,
                    "out_share": out.bytes_per_s / (chip.scale_out_bytes_per_s or fabric),
                    "pair": pair,
                    "element_bytes": ELEMENT_BYTES[form],
                    "cast_bytes": CAST_BYTES[form],
                    "graphed": fuses_experts(run),
                    "low": low,
                    "high": high,
                    "basis": f"; {borrowed(run)}" if borrowed(run) else "",
                }
            )
    return rows


@dataclass(frozen=True)
class Chosen:
    """The chip and the format of a run, as chosen.

    machine, slow : as `step_time` takes them
    peak_flops : dense, in the format [FLOP/s]
    memory_bytes : of a chip [B]
    domain : chips of a node [1]
    low, high : bounds of measured over predicted time, nine of ten unseen runs [1]
    basis : whose constants are borrowed, in words
    there, why : whether the chip has the format; why it has not
    """

    machine: Machine
    slow: Slowdowns
    peak_flops: Any
    memory_bytes: Any
    domain: Any
    low: Any
    high: Any
    basis: Any
    there: Any
    why: Any


@lookup
def chosen_machine(table: Any, case: Any) -> Chosen:
    """The machine of a case, of a table as `machines` makes it.

    case : `accelerator`, `precision`, `task`, `fabric_gb_per_s` and `network_gb_per_s`
    """
    row = quantity_choose(table, case.accelerator, case.precision)
    fabric = 1e9 * case.fabric_gb_per_s
    of_chips = {name: of["domain"] for (name, _), of in table.items() if not isinstance(of, str)}
    domain = look_up(of_chips, case.accelerator)  # whatever the format: the chips that are offered
    links = {
        "up_latency_s": UP_LATENCY_S,
        "up_bytes_per_s": row.up_share * fabric,
        "out_latency_s": OUT_LATENCY_S,
        "out_bytes_per_s": row.out_share * (1e9 * case.network_gb_per_s),
        "pair_bytes_per_s": row.up_share * minimum(fabric, row.pair),
    }
    machine = Machine(
        low=SimpleNamespace(**{field: row[field] for field in SPEEDS}),
        plain=SimpleNamespace(**{field: row[f"plain_{field}"] for field in SPEEDS}),
        links=links,
        domain=domain,
        element_bytes=row.element_bytes,
        cast_bytes=row.cast_bytes,
        trained=case.task != "lora",
        graphed=row.graphed,
    )
    slow = Slowdowns({kind: row[f"slow_{kind}"] for kind in KINDS}, Stack())
    rest = ("peak_flops", "memory_bytes", "low", "high", "basis", "there", "why")
    return Chosen(machine, slow, domain=domain, **{name: getattr(row, name) for name in rest})


# Parallelism Selector (F3): how to split a training run, by computed time and memory beside the
# document's rule


SOURCE = "Clarifai's Parallelism Selector"
SOURCE_BYTES_PER_PARAMETER = 16
SIMPLER_WITHIN = 0.02
"""A simpler strategy is taken if it is slower by no more than this share: less than the model of a
step can tell apart.
"""
ACCEPTS = {
    "data parallelism": ("data", "sharded data"),
    "model parallelism": ("tensor", "pipeline"),
    "pipeline or hybrid": ("pipeline", "hybrid"),
    "a smaller model or mid-tier chips": (),
}
"""The strategies that each answer of the rule means."""


def source_rule(run: TrainingRun) -> str:
    """What Clarifai's selector says: one of `ACCEPTS`.

    It asks whether the model exceeds the memory of one chip, at the document's 16 GB per billion
    parameters, and whether the data or batch are large, for which it gives no number; the reading
    here is pretraining, or a sequence or more for each chip. A model that fits needs no splitting
    whatever the batch. Without a fabric between chips it says to reconsider.

    >>> from scaleright import catalog
    >>> source_rule(TrainingRun(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"), 64,
    ...     8192, 256))
    'pipeline or hybrid'
    """
    return rule_of(run, run.chip.scale_up_chips or 1, run.chip.require("memory_bytes"))


def rule_of(run: TrainingRun, domain: Any, memory_bytes: Any) -> Any:
    """`source_rule` of a run, numbers or quantities.

    domain, memory_bytes : chips of a node [1], and memory of a chip [B]
    """
    large = (run.task == "pretrain") | (run.global_batch >= run.chips)
    cases = [
        ((run.chips > 1) & (domain <= 1), "a smaller model or mid-tier chips"),
        (
            SOURCE_BYTES_PER_PARAMETER * parameters(run.model).total <= memory_bytes,
            "data parallelism",
        ),
        (large, "pipeline or hybrid"),
    ]
    return first_case(cases, "model parallelism")


def accepts(rule: Any, what: Any) -> Any:
    """Whether a strategy is one that an answer of the rule means; words or quantities."""
    pairs = [
        (rule == answer) & (what == name) for answer, names in ACCEPTS.items() for name in names
    ]
    return reduce(operator.or_, pairs)


def communication_share(step: StepTime) -> float:
    """Share of a step in which chips wait for data from others [1]."""
    return float(sum(getattr(step, name) for name in COMMUNICATION) / step.total)


def _largest(parts: Breakdown, other: Breakdown) -> str:
    """The two parts that make one breakdown larger than another, in words."""
    more = {name: parts.labeled()[name] - other.labeled()[name] for name in parts.labeled()}
    weightiest = [name for name in names_by(more, largest_first=True) if more[name] > 0][:2]
    return " and ".join(f"{name} (+{more[name]:.2g} s)" for name in weightiest)


def _of_chip(run: TrainingRun, memory: TrainingMemory) -> str:
    return (
        f"{memory.total / 1e9:,.0f} GB of a chip's {run.chip.require('memory_bytes') / 1e9:,.0f} GB"
    )


def _against(run: TrainingRun, name: str, other: tuple, step: StepTime) -> str:
    """Why another strategy loses: its memory, or the parts of its time."""
    layout, memory, theirs, _ = other
    if theirs is None:
        part = name_of_greatest(memory.labeled())
        largest = f"{memory.labeled()[part] / 1e9:,.0f} GB of them {part}"
        return (
            f"{name} does not fit: at its leanest ({words(layout)}) it takes"
            f" {_of_chip(run, memory)}, {largest}"
        )
    over = float(theirs.total / step.total - 1)
    if over <= 0:
        return (
            f"{name} ({words(layout)}) would be {-over:.1%} faster, less than the model can tell,"
            " and takes more to run"
        )
    return f"{name} ({words(layout)}) is {over:.1%} slower, by {_largest(theirs, step)}"


def _refusal(run: TrainingRun) -> str:
    """What forbids a copy of the model on each chip, if anything does."""
    try:
        check(run, Layout(data=run.chips))
    except ValueError as error:
        return f" of its own: {str(error).partition(': ')[2]}"
    return " of its own on this cluster"


def _slower_network(run: TrainingRun, layout: Layout, step: StepTime) -> str:
    """What the answer owes to the network between nodes."""
    share = communication_share(step)
    given = run.chip.scale_out_bytes_per_s
    if not given or run.chips <= (run.chip.scale_up_chips or 1):
        return f"chips wait for each other {share:.1%} of the step"
    slow = step_time(replace(run, chip=replace(run.chip, scale_out_bytes_per_s=given / 10)), layout)
    times = f"{slow.total / step.total:.2f} times as long"
    return (
        f"chips wait for each other {share:.1%} of the step; at a tenth of the bandwidth between"
        f" nodes it would take {times}"
    )


def choose(seconds: Mapping[str, float]) -> str:
    """The strategy to take, of their step times: the simplest of those that the model cannot tell
    from the fastest.

    >>> choose({"hybrid": 0.99, "data": 1.0, "tensor": 1.1})
    'data'
    """
    return next(
        name
        for name in STRATEGIES
        if seconds.get(name, float("inf")) <= min(seconds.values()) * (1 + SIMPLER_WITHIN)
    )


def parallelism_selector(run: TrainingRun, optimizer: str = "adamw") -> Verdict:
    """How to split a run over its chips: the fastest layout that fits, of the simplest strategy
    among equals.

    Raises
    ------
    ValueError : the run is impossible, or nothing fits; names the chips on which it would.

    >>> from scaleright import catalog
    >>> run = TrainingRun(catalog.model("MPT-1B"), catalog.accelerator("H100 SXM"), 8, 2048, 256)
    >>> parallelism_selector(run).agrees
    True
    """
    found = contenders(run, optimizer)
    fitting = {name: step for name, (_, _, step, _) in found.items() if step is not None}
    times = {name: float(step.total) for name, step in fitting.items()}
    if not times:
        candidates(run, optimizer)  # refuses, and says what would fit
    what = choose(times)
    (layout, memory, _, _), step = found[what], fitting[what]
    rule = source_rule(run)
    others = sorted(
        (name for name in found if name != what), key=lambda name: times.get(name, float("inf"))
    )
    reasons = [
        (
            f"{words(layout)}: {step.total:.3g} s a step, MFU {mfu(run, step):.1%},"
            f" {_of_chip(run, memory)}"
        ),
        *(_against(run, name, found[name], step) for name in others),
        *(f"{name} has no layout{_refusal(run)}" for name in STRATEGIES if name not in found),
        _slower_network(run, layout, step),
    ]
    numbers = {name: (seconds, "s a step") for name, seconds in times.items()} | {
        "memory": (float(memory.total), "B")
    }
    question = f"How should {run.model.name} be split over {run.chips:,} x {run.chip.name}?"
    return Verdict(
        question,
        f"{what} parallelism",
        tuple(reasons),
        numbers,
        SOURCE,
        rule,
        what in ACCEPTS[rule],
    )


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
    def of(cls, run: TrainingRun, models: Iterable[str], sizes: Iterable[int]) -> Shortlist:
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
        row = quantity_choose(self.table, case.model, case.chips, otherwise="no layout fits")
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
    speeds : what each accelerator reaches in each format, see `parallelism.model.machines`
    """

    models: Mapping[str, Transformer]
    shortlist: Shortlist
    speeds: Mapping[tuple[str, str], Mapping[str, Any] | str]

    @classmethod
    def of(cls, run: TrainingRun, sizes: Iterable[int], precisions: Iterable[str]) -> Offer:
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
