"""What the chapter on splitting a training run shows."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.chapters.parallelism.model import (
    SIMPLER_WITHIN,
    Chosen,
    Split,
    Way,
    within_context,
)
from scaleright.chapters.parallelism.tables import HOURS
from scaleright.charts.market import scatter
from scaleright.costs.whole_runs import whole_runs
from scaleright.decisions.verdict import Verdict
from scaleright.information import Choice
from scaleright.market import PaidHour
from scaleright.ops import first_case, where
from scaleright.quantity import given
from scaleright.quantity.graph import value_of
from scaleright.training.layout import TrainingRun

_PAID = ("contract", "seller", "rent_usd_per_hour")
"""Parameters that no step depends on, only what it costs."""


def answer(
    case: Any, run: TrainingRun, of: Chosen, split: Split, rival: tuple[Any, Choice]
) -> charts.Display:
    """How to split the run, and how long a step takes; or why there is no way.

    rival : the next way to split, and the choice between both [s]
    """
    runs, within, no_format = split.seconds > 0, within_context(run), charts.phrase("{of.why}.")
    too_long = charts.phrase(
        "it was made for sequences of up to {run.model.max_context:whole} tokens."
    )
    none = (
        "of the layouts weighed, none divides the batch over the chips and fits in their memory."
        " Take more chips, or a batch that is a multiple of them."
    )
    why = first_case([(~of.there, no_format), (~within, too_long)], none)
    what, said, tokens = split.way, split.layout, run.tokens
    seconds, low_s, high_s = split.seconds, split.low_s, split.high_s
    mfu, waiting, room = split.mfu, split.waiting, split.room
    fastest = split.fastest_s
    faster = charts.phrase(
        " The fastest layout of all takes {fastest:duration}, less than the model can tell apart;"
        " what pretraining costs is counted from that one, with what runs take beyond."
    )
    faster = where(fastest < 0.9995 * seconds, faster, "")
    span = where(runs, charts.phrase("{low_s:duration} to {high_s:duration} a step (90 %)"), "none")
    likely, known = _how_sure(split, *rival)
    fabric, name = case.fabric_gb_per_s, value_of(case.accelerator)
    guessed = charts.phrase(
        " The catalog has no fabric of {case.accelerator}: {fabric:number} GB/s is counted; left"
        " open, it is as between nodes."
    )
    lacks = not catalog.accelerator(name).scale_up_bytes_per_s
    guessed = where(case.accelerator == name, guessed, "") if lacks else ""
    return charts.answer_card(
        "Split {case.model} over {case.chips:whole} {case.accelerator} by {what} parallelism.",
        "{seconds:duration}",
        "a step of {tokens:si } tokens",
        "{likely}",
        "Of all ways to split that fit it is the fastest: its steps reach {mfu:percent} of the"
        " chips' peak (MFU); whole runs keep less.",
        "The layout is {said}. Chips wait for data {waiting:percent} of a step; beyond a reserve"
        " for fragmentation, {room:percent} of their memory stays free.{faster}{guessed}{known}",
        provided=runs,
        otherwise="<strong>{case.model}</strong> cannot be trained so on {case.chips:whole}"
        " {case.accelerator}: {why}",
        range="{span}",
        as_of=catalog.resource("training_constants")["as_of"],
        model_error="the range holds nine of ten measured runs of models that its constants have"
        " not seen; the winner of a search tends to be slower than estimated{of.basis}",
        headline="seconds",
        quantities={
            "seconds": (seconds, "duration"),
            "memory_bytes": (split.memory, "si B"),
            "range_low": (low_s, "duration"),
            "range_high": (high_s, "duration"),
            "faster_than_next_probability": (rival[1].probability, "percent"),
            "expected_loss_seconds": (rival[1].expected_loss, "duration"),
        },
    )


def _how_sure(split: Split, other: Any, sure: Choice) -> tuple[Any, Any]:
    """How sure the way to split is, in a word and in a sentence."""
    first = where(sure.cost <= sure.other, split.way, other)
    then = where(sure.cost <= sure.other, other, split.way)
    words = {"kind": "duration", "does": "parallelism is faster"}
    likely, known = charts.odds(sure, sure.other > 0, first, " a step", than=then, **words)
    return likely, where(sure.other > 0, known, " No other way to split fits.")


def step(ways: Mapping[str, Way]) -> charts.Display:
    """A step of each way to split, by what chips do in it [s]."""
    bars = {
        name: {part: where(way.seconds > 0, time, 0.0) for part, time in way.parts.items()}
        for name, way in ways.items()
    }
    ends = {
        name: where(way.seconds > 0, charts.say(way.seconds, "duration"), "does not fit")
        for name, way in ways.items()
    }
    return charts.show(
        charts.stacked_parts(bars, "duration", "seconds a step", category="way", label=ends),
        name="step",
        alt="Seconds of a step by compute, recompute, communication and idle stages, for the"
        " fastest layout of each way to split.",
    )


def _of_the_run(shown: charts.Display, case: Any) -> charts.Display:
    """A display of the chapter's own run, which follows no control, or those of its price alone."""
    return charts.at_defaults(shown, *(of for name, of in vars(case).items() if name not in _PAID))


def reasons(case: Any, verdict: Verdict) -> charts.Display:
    """The verdict of the whole search, with why each other way loses; `source_rule` says
    what Clarifai says.
    """
    shown = _of_the_run(charts.Display(replace(verdict, rule="")._repr_mimebundle_()), case)
    return charts.folded(shown, "How the other ways to split compare")


def memory(case: Any, own: TrainingRun, held: pd.DataFrame) -> charts.Display:
    """What a chip holds under each way to split [GB]."""
    parts = {part: part for part in held if part != "strategy"}
    shown = charts.show(
        charts.stacked_parts(parts, "GB", "GB of a chip", held, "strategy"),
        name="memory",
        alt="Memory of a chip by parts, for the fastest layout of each way to split that fits, or"
        f" else its smallest; a chip has {own.chip.require('memory_bytes') / 1e9:.0f} GB.",
    )
    return _of_the_run(shown, case)


def playbook(case: Any, own: TrainingRun, rows: pd.DataFrame) -> charts.Display:
    """Clarifai's playbook with the figures of the run."""
    job = f"{own.model.name} over {own.chips:,} {own.chip.name}"
    shown = charts.table(rows, f"Ways to split {job}", name="playbook")
    return _of_the_run(shown, case)


def searched(case: Any, count: int, front: pd.DataFrame) -> charts.Display:
    """How many layouts were weighed, and what lies between the fastest and the leanest."""
    quickest, leanest = front.iloc[0], front.iloc[-1]
    slower = leanest["step_s"] / quickest["step_s"]
    shown = charts.sentence(
        f"<strong>{count:,} layouts</strong> are possible: tensor parallelism must divide the"
        " heads, stages the layers, copies and micro-batches the batch. The search weighs all of"
        f" them. The fastest takes {charts.say(quickest['step_s'], 'duration')} and leaves"
        f" {charts.say(quickest['headroom'], 'percent')} of a chip's memory free; the one that"
        f" leaves most, {charts.say(leanest['headroom'], 'percent')}, takes"
        f" {charts.say(slower, 'times')} as long."
    )
    return _of_the_run(shown, case)


def time_and_memory(case: Any, front: pd.DataFrame) -> charts.Display:
    """The layouts of which none is both faster and leaner."""
    axes = ["GB", "duration"], ["GB of a chip", "seconds a step"]
    shown = charts.show(
        scatter(front, "memory_gb", "step_s", "layout", *axes, color="way", log=False),
        name="front",
        alt="Layouts of which none is both faster and takes less memory, from the fastest to the"
        " one with the least memory.",
    )
    return _of_the_run(shown, case)


def fastest(case: Any, rows: pd.DataFrame) -> charts.Display:
    """The layouts whose steps are shortest."""
    shares = {"a step": "duration", "MFU": "percent", "memory left": "percent"}
    shown = charts.table(rows, "The fastest layouts", shares, name="fastest")
    return charts.folded(_of_the_run(shown, case), "The fastest layouts")


def network(case: Any, step_s: Mapping[str, Any]) -> charts.Display:
    """A step of each way to split against the bandwidth between nodes [s]."""
    here, title = case.network_gb_per_s, "GB/s of a chip between nodes"
    spans = {"network": [400 ** (k / 24) for k in range(25)]}
    axes = "duration", title, "seconds a step"
    shown = charts.show(
        charts.rule(here, title, "you", foot=True, log=True)
        + charts.lines(spans, "network", step_s, *axes, log_x=True, along=here),
        name="network",
        caption="Layouts of the chapter's defaults, at the speed of your two networks.",
        alt="Seconds of a step against the bandwidth between nodes for each way to split: ways that"
        " send much rise first as the network gets slower.",
    )
    rest = {name: value for name, value in vars(case).items() if "gb_per_s" not in name}
    return _of_the_run(shown, SimpleNamespace(**rest))


def sizes(case: Any, own: TrainingRun, rows: pd.DataFrame, hour: PaidHour) -> charts.Display:
    """The best layout on fewer and on more chips, and what its chip-hours rent for."""
    chip_hours = given("chip_hours", 1.0)
    rent = "rent of a billion tokens [USD]"
    rows.insert(rows.columns.get_loc(HOURS) + 1, rent, chip_hours * hour.usd)
    more = charts.say(whole_runs().over_fastest, "times")
    about = f"The best layout on each number of chips, {own.global_batch:,} sequences a step."
    about += f" Rent covers training steps only; whole runs took {more} as long"
    formats = {"chips": "whole", "a step": "duration", "MFU": "percent"}
    along = {chip_hours: HOURS}
    return _of_the_run(charts.table(rows, about, formats, along=along, name="sizes"), case)


def models_and_clusters(case: Any, own: TrainingRun, rows: pd.DataFrame) -> charts.Display:
    """How to split models of four sizes on clusters of three."""
    near = charts.say(SIMPLER_WITHIN, "percent")
    about = f"The simplest way to split within {near} of the fastest, on {own.chip.name},"
    about += f" {own.sequence:,} tokens a sequence, 1,024 sequences a step"
    return _of_the_run(charts.table(rows, about, name="grid"), case)


def published(summary: pd.DataFrame) -> charts.Display:
    """How published layouts stand among all that fit, by source."""
    about = "Published layouts among all that fit on the same chips"
    return charts.table(summary, about, dict.fromkeys([*summary][2:], "percent"), name="ranks")


def each_published(rows: pd.DataFrame) -> charts.Display:
    """Each published layout among all that fit, folded."""
    formats = {"rank": "whole", "candidates": "whole", "slower by": "percent"}
    every = charts.table(rows, "Each published layout", formats)
    return charts.folded(every, f"All {len(rows)} layouts")


def worth_of_knowing(
    split: Split, rival: tuple[Any, Choice], trials: Mapping[str, Any], day: Any
) -> charts.Display:
    """A chart of what it would save a day to try each other way to split before choosing.

    trials : what that saves of a step [s]; day : what a day of the run costs [USD]
    """
    other, sure = rival
    worth = {f"speed of {name}": day * of / split.seconds for name, of in trials.items()}
    ways = charts.phrase("{split.way} and {other} parallelism")
    return charts.worth_of_knowing(worth, "a day of the run", sure, ways, cost=day)
