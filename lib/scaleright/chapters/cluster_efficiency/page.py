"""What the chapter on the number of chips of a training run shows."""

from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.cluster_efficiency.model import ClusterDoubts
from scaleright.charts import Controls, Display
from scaleright.costs import pretraining
from scaleright.costs.cluster_grid import CLUSTERS, way_of
from scaleright.costs.fastest_steps import format_there
from scaleright.costs.platforms import mtbf_hours
from scaleright.costs.whole_runs import PACES, as_tuned
from scaleright.decisions.cluster_efficiency import LAWS, Best, Efficiency, Plan
from scaleright.ops import first_case, where
from scaleright.quantity import given, look_up
from scaleright.scaling_laws.batches import published_batch
from scaleright.units import SECONDS_PER_HOUR

AXIS = "chips"


def controls(declared: Any) -> Controls:
    """The chapter's parameters; what the reader leaves open is as the tables have it."""
    return charts.controls(declared.filled(**pretraining.reliability()))


def _range(best: Any, sure: ClusterDoubts) -> tuple[Any, Any, Any]:
    """The range of the card, and how sure the best number of chips is, in a word and a sentence."""
    days = charts.phrase("{sure.low_days:days} to {sure.high_days:days}")
    span = days + charts.phrase(", {sure.low_usd:usd} to {sure.high_usd:usd} (90 %)")
    span = where((sure.high_days > 0) & (sure.high_usd > 0), span, _UNDONE)
    said = charts.phrase("{sure.rival:whole} chips")
    taken = charts.phrase("{best.chips:whole} chips")
    there = (sure.rival > 0) & (sure.choice.probability >= 0)
    likely, known = charts.odds(sure.choice, there, taken, than=said, does="cost less")
    known = where(there, known, where(sure.rival > 0, _UNKNOWN, _ALONE))
    return span, likely, known


def answer(case: Any, found: Efficiency, yours: Plan, near: Any, sure: ClusterDoubts) -> Display:
    """The answer card: how many chips, what they take and cost, and what the next ones would.

    near : the fewest and the most chips that cost hardly more, with the value of time
    """
    best, (fewest, most), hour = found.best, near, found.setting.hour
    more = yours.with_time(case.value_usd_per_day) / found.best_worth - 1
    less = -more
    late = where(yours.days > case.deadline_days, ", too late", "")
    counted = charts.phrase("{more:percent} more")
    counted = where(more < 0, charts.phrase("{less:percent} less, but not in time"), counted)
    beside = charts.phrase(
        " Your {case.chips:whole} would take {yours.days:days} and cost {yours.usd:usd}{late};"
        " with the days counted that is {counted}."
    )
    beside = where(case.chips == best.chips, " That is the cluster you have in mind.", beside)
    wide = charts.phrase(
        "Between {fewest:whole} and {most:whole} chips it hardly matters: within"
        " {case.tolerance:percent} of the least cost, days counted"
    )
    alone = charts.phrase("No other number comes within {case.tolerance:percent} of its cost")
    wide = where(fewest < most, wide, alone)
    stop = charts.phrase(
        "There the next chips stop paying: each day that twice as many would save costs"
        " {found.next_day_usd:usd}, and a day is worth {case.value_usd_per_day:usd} to you"
    )
    saves, unweighed = "Twice as many would save no day", "More chips are not weighed"
    none = where(best.chips == CLUSTERS[-1], unweighed, saves)
    stop = where(found.next_day_usd < NOTHING_SAVED, stop, none)
    risk = charts.phrase(" At the slow end of the range it misses your {case.deadline_days:days}.")
    risk = where(sure.high_days > case.deadline_days, risk, "")
    why, basis = why_not(case, found, yours), as_tuned(case.tuning, lambda runs: runs.basis)
    aged, sold = charts.phrase("{hour.rented.age} (rents)"), hour.prices.sold
    aged = where(hour.owned, charts.phrase("{sold} (price of a chip)"), aged)
    how = _how(case, best)
    span, likely, known = _range(best, sure)
    span = where(best.there & hour.there, span, "none: there is no such run")
    return charts.answer_card(
        "Take {best.chips:whole} {case.accelerator} to train {case.model}.",
        "{best.days:days}",
        "and {best.usd:usd} for {case.tokens:count 2} tokens",
        "{likely}",
        "{wide}.{risk}",
        "{stop}. {how}{beside}{known}",
        provided=_possible(case, found, yours),
        otherwise="<strong>{case.model}</strong> on {case.tokens:count 2} tokens: {why}",
        range="{span}",
        as_of="{aged}",
        model_error="{basis}",
        headline="best_chips",
        quantities={
            "best_chips": (best.chips, "whole"),
            "best_days": (best.days, "days"),
            "best_usd": (best.usd, "usd"),
            "range_low": (sure.low_days, "days"),
            "range_high": (sure.high_days, "days"),
            "best_probability": (sure.choice.probability, "percent"),
            "expected_loss_usd": (sure.choice.expected_loss, "usd"),
        },
    )


def _how(case: Any, best: Best) -> Any:
    """With which batch, in which format and how well tuned it runs, and what is compared."""
    pace, form = look_up(PACES, case.tuning), format_there(case.accelerator, case.precision)
    return charts.phrase(
        "That is with batches of {best.batch:count 2} tokens in {form}, as {pace}. Numbers of chips"
        " are compared at the same loss, to which a larger batch takes more tokens."
    )


NOTHING_SAVED = 1e14
"""A price of a day that stands for none saved [USD/d]."""
_UNDONE = "it has no end: where failures are worse than usual, so large a job may not get done"
_UNKNOWN = " How sure the number of chips is cannot be said, since failures may decide it."
_ALONE = " No other number of chips does it in time."


def _possible(case: Any, found: Efficiency, yours: Plan) -> Any:
    """Whether the case has an answer."""
    return (
        found.best.there
        & found.setting.hour.there
        & (yours.allowed & yours.run.done)
        & _written(case)
    )


def _written(case: Any) -> Any:
    """Whether the job gets to write a checkpoint before it is stopped, on average."""
    between = mtbf_hours(case.chips, case.chip_hours_per_interruption)
    return case.checkpoint_minutes * 60 <= between * SECONDS_PER_HOUR


def why_not(case: Any, found: Efficiency, yours: Plan) -> Any:
    """Why a case has no answer, and what it would take, as a sentence."""
    soon, free, hour = found.soonest, found.any_batch, found.setting.hour
    unpriced = charts.phrase("{hour.rented.why}.")
    unfit = charts.phrase(
        "no layout fits in {case.chips:whole} {case.accelerator} with such a batch, or failures"
        " leave it no time, or the shared cluster is smaller. Take another number of chips."
    )
    between = mtbf_hours(case.chips, case.chip_hours_per_interruption) * SECONDS_PER_HOUR
    unwritten = charts.phrase(
        "a job on {case.chips:whole} chips is stopped every {between:duration}, before it writes a"
        " checkpoint. Write them more often."
    )
    none = "no number of chips that is weighed gets the run done."
    late = charts.phrase(
        "no number of chips finishes in {case.deadline_days:days}. The soonest is {soon.days:days},"
        " on {soon.chips:whole} with a batch of {soon.batch:count 2} tokens: "
    )
    batch = charts.phrase(
        "such a batch keeps no more chips busy. One of {free.batch:count 2} tokens on"
        " {free.chips:whole} takes {free.days:days}."
    )
    bound = (
        "a larger batch takes more tokens than it saves steps, and more chips fail more often."
        " Allow as many days, or train on fewer tokens."
    )
    late = late + where(free.days <= case.deadline_days, batch, bound)
    late = where(soon.there, late, none)
    held = yours.allowed & yours.run.done
    cases = [(~hour.there, unpriced), (~_written(case), unwritten), (~held, unfit)]
    return first_case(cases, late)


def costs(case: Any, found: Efficiency) -> Display:
    """What the run costs by the number of chips, alone and with the value of its days [USD]."""
    size, hour, best, yours = _size(case), found.setting.hour, found.best.chips, case.chips
    place = way_of(size)
    aims = {"with the days": "worth", "chips alone": "usd"}
    both = {name: found.along(aim, place) for name, aim in aims.items()}
    words = charts.phrase("best: {best:whole}")
    words = where(found.best.there & hour.there, words, "none in time")
    at = where(found.best.there, best, yours)
    return charts.show(
        charts.rule(yours, AXIS, "you", foot=True, log=True, beside=at)
        + charts.rule(at, AXIS, words, foot=True, log=True, lift=16, beside=yours)
        + _lines(both, size, "usd", "USD for the run", log_y=True),
        name="costs",
        caption="Each number of chips with its best batch, unless you set the batch.",
        alt="What the run costs against the number of chips: the chips alone cost more and more,"
        " and with the days counted at {case.value_usd_per_day:usd} each the cost falls first and"
        " rises later; least at {best:whole} chips.",
    )


def _size(case: Any) -> Any:
    """A number of chips that runs along a chart."""
    return given("size", case.chips.value)


def _lines(series: Any, size: Any, kind: str, title: str, log_y: bool = False) -> Any:
    look = {"log_x": True, "log_y": log_y, "x_kind": "whole", "along": size}
    return charts.lines({AXIS: [*CLUSTERS]}, AXIS, series, kind, AXIS, title, **look)


def optima(case: Any, found: Efficiency) -> Display:
    """The best number of chips by each aim."""
    aims = {
        "the least cost, whenever it is done": found.cheapest,
        "the least cost by the deadline": found.in_time,
        "the least cost with the value of your days": found.worth,
        "both: with the days, by the deadline": found.best,
        "the soonest, whatever it costs": found.soonest,
    }
    parts = {"chips": "chips", "batch": "batch", "days": "days", "cost": "usd"}
    each = {word: [getattr(of, part) for of in aims.values()] for word, part in parts.items()}
    rows = pd.DataFrame({"aim": [*aims], **each})
    formats = {"chips": "whole", "batch": "count 2", "days": "days", "cost": "usd"}
    return charts.table(rows, "The best number of chips by what you want", formats, name="optima")


def by_size(case: Any, found: Efficiency) -> Display:
    """Every number of chips with its batch, days, cost, shares, and what its days cost; folded."""
    size = _size(case)
    place = way_of(size)
    columns = {
        "batch": "batch",
        "days": "days",
        "cost": "usd",
        "with the days": "worth",
        "MFU of the fastest steps": "mfu",
        "goodput": "kept",
        "tokens over those at a small batch": "more",
        "of the peak, in all": "used",
    }
    rows = pd.DataFrame({"of": [*CLUSTERS], "chips": [*CLUSTERS]}).assign(
        **{name: found.along(field, place) for name, field in columns.items()}
    )
    day_usd = found.day_usd(place)
    day_usd = where(day_usd < NOTHING_SAVED, day_usd, float("nan"))
    rows["a day that twice as many save"] = day_usd
    formats = {"chips": "whole", "batch": "count 2", "days": "number", "cost": "usd"}
    formats |= {"with the days": "usd", "a day that twice as many save": "usd"}
    shares = ("MFU of the fastest steps", "goodput", "of the peak, in all")
    formats |= dict.fromkeys(shares, "percent") | {"tokens over those at a small batch": "times"}
    shown = charts.table(
        rows,
        "Every number of chips that is weighed, with the batch that suits it",
        formats,
        along={size: "of"},
        name="sizes",
    )
    return charts.folded(shown, f"All {len(CLUSTERS)} numbers of chips")


def utilization(case: Any, found: Efficiency) -> Display:
    """What is used of the chips against their number."""
    size, best = _size(case), found.best.chips
    place, yours = way_of(size), case.chips
    shares = {
        "goodput": found.along("kept", place),
        "fastest steps": found.along("mfu", place),
        "whole run": found.along("used", place),
    }
    at = where(found.best.there, best, yours)
    return charts.show(
        charts.rule(yours, AXIS, "you", foot=True, log=True, beside=at)
        + charts.rule(at, AXIS, "best", foot=True, log=True, lift=16, beside=yours)
        + _lines(shares, size, "percent", "share"),
        name="utilization",
        caption="Goodput: share of time not lost to failures. Fastest steps: their model FLOP over"
        " the dense peak (MFU). Whole run: the same over all paid time, with failures, extra tokens"
        " and what published runs took beyond.",
        alt="Shares against the number of chips: goodput falls slowly, the MFU of the fastest steps"
        " is level and then falls, and what a whole run uses of the peak lies below and falls"
        " sooner.",
    )


def chip_hours(case: Any, found: Efficiency) -> Display:
    """Chip-hours of the run on each number of chips, by what they go into."""
    size = _size(case)
    hours = found.setting.plan(found.along("way", way_of(size))).run.hours
    total, parts = hours.total, hours.parts().values()
    words = "compute", "recompute", "network", "pipeline", "layout", "failures", "beyond"
    rows = pd.DataFrame({"of": [*CLUSTERS], "chips": [f"{n:,}" for n in CLUSTERS]})
    bars = {name: where(total > 0, of, 0.0) for name, of in zip(words, parts, strict=True)}
    label = where(total > 0, charts.phrase("{total:si h}"), "does not fit")
    look = {"along": {size: "of"}, "label": label, "sort": False}
    return charts.show(
        charts.stacked_parts(bars, "si h", "chip-hours", rows, "chips", **look),
        name="chip_hours",
        caption="Network: waiting for it; pipeline: stages that wait for others; layout: how much"
        " slower layouts in use are than the fastest; failures: checkpoints, lost work, restarts;"
        " beyond: what published runs took in addition.",
        alt="Chip-hours of the run on each number of chips by parts.",
    )


def batches(case: Any, found: Efficiency) -> Display:
    """The batch that published laws give the run."""
    size = look_up({n: of["parameters"] for n, of in found.setting.grid.models.items()}, case.model)
    laws = {law: published_batch(law, size, case.tokens) for law in (*LAWS, "Kaplan 2020")}
    means = ["a fifth more tokens", "least loss", "least loss", "a fifth more tokens"]
    rows = pd.DataFrame({"law": [*laws], "gives the batch of": means, "batch": [*laws.values()]})
    words = "Your run's batch by published laws, tokens of a step"
    return charts.table(rows, words, {"batch": "count 2"}, name="batches")


def worth_of_knowing(sure: ClusterDoubts, best: Best) -> Display:
    """A chart of what it would save to know each input before taking one of two sizes."""
    ways = charts.phrase("{best.chips:whole} and {sure.rival:whole} chips")
    return charts.worth_of_knowing(sure.choice.worth(), "of the run", sure.choice, ways)
