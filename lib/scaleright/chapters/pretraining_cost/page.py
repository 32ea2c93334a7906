"""What the chapter on the cost of pretraining shows."""

from collections.abc import Mapping
from typing import Any

from scaleright import charts
from scaleright.charts import Controls, Display
from scaleright.charts import platforms as marks
from scaleright.costs import pretraining
from scaleright.costs import pretraining_run as doubts
from scaleright.costs.fastest_steps import SIZES, Steps, format_there
from scaleright.costs.pretraining import PretrainingCost
from scaleright.costs.pretraining_run import Cheapest, Run, Spread
from scaleright.costs.whole_runs import BEST_QUARTER, PACES, TYPICAL, as_tuned, whole_runs
from scaleright.decisions.two_chips import PlatformDoubts
from scaleright.market import BEST
from scaleright.ops import where
from scaleright.order import name_of_greatest
from scaleright.quantity import look_up
from scaleright.validation import whole_runs as checks
from scaleright.validation.cross_validation import held_out
from scaleright.validation.published import held_out_test
from scaleright.validation.report import judged, summarize
from scaleright.validation.whole_runs import in_words

USD_FOR = "USD for the run"


def controls(declared: Any) -> Controls:
    """The chapter's parameters; what the reader leaves open is as the tables have it. Other sizes
    than those of `Steps` take a search of their own.
    """
    filled = declared.filled(**pretraining.reliability(), **pretraining.project())
    return charts.controls(filled).offer("chips", SIZES)


def answer(
    asked: Any,
    case: Any,
    run: Run,
    spread: Spread,
    steps: Steps,
    best: Cheapest,
    doubts: PlatformDoubts,
) -> Display:
    """The answer card: days and dollars of the run, or why it does not run, and the cheapest.

    asked, case : as the reader asks, and on the accelerator that is taken
    doubts : how sure it is that the cheapest costs less than the run, or than the next
    """
    sure, named = doubts.choice, asked.accelerator != BEST
    run_usd, low_usd, high_usd = run.usd, spread.low_usd, spread.high_usd
    hours, cost, hour_usd, mine = run.hours, run.cost, run.hour.total, run.hour.rented
    trusted, real = run.step.trust, as_tuned(asked.tuning, lambda runs: runs.basis)
    trillions, days, pace = case.tokens / 1e12, run.days, look_up(PACES, asked.tuning)
    how = charts.phrase("rent ({mine.counted})")
    how = where(run.hour.owned, "what owned chips cost, busy around the clock", how)
    bought, nameless = run.hour.prices, ~named & (asked.rent_usd_per_hour > 0)
    sold = where(run.hour.owned, charts.phrase(", {bought.sold} (price of a chip)"), "")
    form = format_there(case.accelerator, case.precision)
    compared = (best.usd > 0) & (sure.other > 0)
    span = charts.phrase("{low_usd:usd} to {high_usd:usd} (90 %)")
    none = "none: it does not run, would not if it failed more, or has no price"
    likely, known = charts.odds(sure, compared, "the " + best.platform, than="the " + doubts.other)
    other = marks.elsewhere(case.accelerator, best, doubts.other, sure.other)
    span, many = where(low_usd > 0, span, none), marks.of_many(best, named)
    fails = where(named, _fails(case, run, steps, best), marks.NOWHERE)
    fails = where(nameless, marks.NAMELESS, fails)
    return charts.answer_card(
        "Pretrain {case.model} in {days:days} on {case.chips:whole} {case.accelerator}.",
        "{run_usd:usd}",
        "for {trillions:trillion} tokens{many}",
        "{likely}",
        "{other}",
        "That is {how}: {hours.total:count} chip-hours at {hour_usd:usd}, as {pace},"
        " with batches of {run.step.tokens:count 2} tokens in {form}; with experiments and"
        " people, the project costs {cost.total:usd}. The fastest layout,"
        " never stopped, would take {run.least_days:days} and {run.least_usd:usd}, which few runs"
        " come near. Only platforms that could be tested against published runs are"
        " compared.{known} The range comes from how far published runs were from their"
        " predictions, from failures, and from prices that nothing fixes.",
        provided=run.done & run.hour.there & ~nameless,
        otherwise="Pretraining <strong>{case.model}</strong> {fails}",
        range="{span}",
        as_of="{mine.age} (rents){sold}",
        model_error="{trusted.basis}; {real}",
        headline="run_usd",
        quantities={
            "run_usd": (run_usd, "usd"),
            "range_low": (low_usd, "usd"),
            "range_high": (high_usd, "usd"),
            "fastest_usd": (run.least_usd, "usd"),
            "cheapest_cheaper_probability": (sure.probability, "percent"),
            "expected_loss_usd": (sure.expected_loss, "usd"),
        },
    )


def _fails(case: Any, run: Run, steps: Steps, best: Cheapest) -> Any:
    """That a run does not get done at a price on its platform, why, and where it would."""
    mine = run.hour.rented
    why = where(run.done, charts.phrase("{mine.why}."), _why_not(case, run, steps.fewest(case)))
    fails = where(run.done, "has no price", "does not run")
    nearest = charts.phrase("the {best.platform}, {best.usd:usd}")
    nearest = where(best.usd > 0, nearest, "none: it runs on none that is sold so")
    return charts.phrase(
        "{fails} on {case.chips:whole} {case.accelerator}: {why} On as many chips, the cheapest"
        " platform that could be tested against published runs is {nearest}."
    )


def _why_not(case: Any, run: Run, fewest: Any) -> Any:
    """Why a run does not get done, as a sentence."""
    layout_why = charts.phrase(
        "no layout of the model fits with a batch of {case.batch} tokens. The fewest of the sizes"
        " offered on which one does are {fewest:whole}."
    )
    none_why = "no layout of the model fits on this or on any other size that is offered."
    failing = "it fails so often that less than 1 % of its time goes into work that is kept."
    return where(run.step.fits, failing, where(fewest > 0, layout_why, none_why))


def platforms(case: Any, on_all: Mapping[str, Run], platform: Any, run: Run) -> Display:
    """A bar for each platform: what the run on it costs, by parts."""
    usd, star = run.usd, marks.star(run.step.trust.seen)
    unpriced = where(run.done, "no such price is listed", "does not run")
    label = where(usd > 0, charts.phrase("{usd:usd}{star}"), unpriced)
    words = "compute", "recompute", "network", "pipeline", "layout", "failures", "beyond", "power"
    parts = dict(zip(words, run.cost.parts().values(), strict=False))
    rows = marks.cheapest_first(on_all)
    return charts.show(
        charts.stacked_parts(parts, "usd", USD_FOR, rows, "platform", along=platform, label=label),
        name="platforms",
        caption="Network and pipeline: waiting, in the layout that trains fastest. Layout: how much"
        " slower usual ways are to divide model and batch over the chips. Failures: checkpoints,"
        f" lost work, restarts. Beyond: what else published runs took. {marks.UNSEEN}",
        alt="Cost of the run on {case.chips:whole} chips of each platform by parts.",
    )


def layouts(on_all: Mapping[str, Run], platform: Any, run: Run) -> Display:
    """All platforms with days, chip-hours, prices of an hour and the fastest layout; folded."""
    columns = {
        "platform": platform,
        "the run": run.usd,
        "days": run.days,
        "chip-hours": run.hours.total,
        "rent": run.hour.rented.usd,
        "owned": run.hour.prices.owned,
        "format": run.step.trust.format,
        "fastest layout, a bound": run.least_usd,
        "which is": run.step.layout,
    }
    every = charts.table(
        marks.cheapest_first(on_all, "of").assign(**columns),
        "Your model on as many of each; rent and owned are USD an hour, owned without power, and"
        " missing where nobody sells the chip so",
        dict.fromkeys(("the run", "rent", "owned", "fastest layout, a bound"), "usd")
        | {"days": "number", "chip-hours": "whole"},
        along={platform: "of"},
        name="platforms-table",
    )
    return charts.folded(every, f"All {len(on_all)} platforms with their layouts")


def by_deadline(case: Any, on_all: Mapping[str, Run], platform: Any, run: Run) -> Display:
    """A bar for each platform: what the run costs on its smallest cluster that is fast enough."""
    usd, cluster = run.usd, run.chips
    late = where(run.days > case.deadline_days, ", late", "")
    said = charts.phrase("{usd:usd} on {cluster:whole}{late}")
    unpriced = where(run.done, "no such price is listed", "does not run")
    said = where(run.cost.total > 0, said, unpriced)
    bars = "platform", usd, "usd", USD_FOR
    return charts.show(
        charts.bars(marks.cheapest_first(on_all), *bars, along=platform, label=said),
        name="deadline",
        alt="Cost of the run on the smallest cluster of each platform that finishes within"
        " {case.deadline_days:days}.",
    )


def goodput(chips: Any, kept: Any) -> Display:
    """The share of the time that is kept against chips."""
    jobs, shares = {"chips": [2**power for power in range(5, 18)]}, {"kept": kept}
    return charts.show(
        charts.rule(chips, "chips", "you", log=True, foot=True)
        + charts.lines(
            jobs, "chips", shares, "percent", "chips", "goodput", log_x=True, along=chips
        ),
        name="goodput",
        alt="Share of the time that is kept against chips, falling as the cluster grows.",
    )


def project(cost: PretrainingCost, around: Mapping[str, Any]) -> Display:
    """The run, experiments and people as one bar."""
    whole = charts.phrase("{cost.total:usd} in all")
    whole = where(cost.total > 0, whole, "none without a run that has a price")
    return charts.show(
        charts.stacked_parts(around, "usd", "USD"),
        name="project",
        alt="The project by parts: the run, experiments and people, {whole}.",
    )


def evidence() -> Display:
    """What the tables hold on failures, experiments and people; folded."""
    ranges = dict.fromkeys(("low", "typical", "high"), "number")
    stated = "What the tables hold on failures, experiments and people"
    shown = charts.table(doubts.factors(), stated, ranges, name="factors")
    return charts.folded(shown, "Where these factors come from")


def published() -> Display:
    """Predicted against published chip-hours of whole runs."""
    runs, pair = judged(checks.KIND).rows, ("published", "predicted", "label", "chip-hours")
    runs = runs.assign(label=runs["model"] + "\n" + runs["accelerator"].str.split().str[0])
    return charts.show(
        charts.predicted_vs_measured(runs[runs["scored"]], *pair, said="published", name_worst=0),
        name="published",
        alt=f"Predicted against published chip-hours of {runs['scored'].sum()} runs.",
    )


def pace() -> Display:
    """How far published runs were from what is predicted, and from the fastest layout."""
    found = judged(checks.KIND)
    sums, rows = found.summary, found.rows[found.rows["scored"]]
    unseen = summarize(rows[held_out(rows)])
    fastest = rows["fastest_error_percent"].abs().median()
    sealed, below = held_out_test("pretraining"), int((rows["ratio"] < 1).sum())
    blind, set_aside = sealed["median"], sealed["figures"]
    over = rows["published"] / rows["predicted"]
    worst = rows.loc[name_of_greatest(over)]
    run, ratio = f"{worst['model']} on {worst['accelerator']}", over.max()
    return charts.sentence(
        "Over {sums.rows:whole} runs the error is <strong>{sums.median_absolute_percent:number 2} %"
        "</strong> in the median and below {sums.p90_absolute_percent:number 2} % for nine of ten;"
        " {sums.coverage_percent:number 2} % lie in the stated range. On the {unseen.rows:whole}"
        " that no fit has seen it is {unseen.median_absolute_percent:number 2} %, and it was"
        " {blind:percent} on {set_aside:whole} of them that were set aside until the model was"
        " finished. Hours of the fastest layout alone would be {fastest:number 2} % off, and"
        " {below:whole} runs took fewer: there the predicted step is too slow. Furthest off is"
        " {run}, which took {ratio:times} its predicted hours; these may include later stages and"
        " failed runs."
    )


def tuned() -> Display:
    """What the best quarter of runs takes, and how far off the frontier runs are at their own
    settings, which it was found without.
    """
    whole, best, runs = whole_runs(), whole_runs(BEST_QUARTER), checks.frontier()
    off = runs[BEST_QUARTER] / runs["published"] - 1
    usual = runs[TYPICAL] / runs["published"] - 1
    named = zip(runs.to_dict("records"), off, usual, strict=True)
    each = [
        f"{row['model']} ({charts.say(row['published'], 'whole')} chip-hours on"
        f" {charts.say(row['chips'], 'whole')} {row['accelerator']}) by"
        f" {100 * here:+.0f} % instead of {100 * there:+.0f} %"
        for row, here, there in named
    ]
    said, worst = " and ".join(each), best.over_fastest * best.high
    rows = judged(checks.KIND).rows
    unseen = rows.loc[rows["scored"] & held_out(rows), "ratio"].sort_values()
    quarter = unseen.head(len(unseen) // 4)
    middle, many = float(quarter.median()), len(quarter)
    return charts.sentence(
        "A typical run takes {whole.over_fastest:times} the hours of the fastest layout and of"
        " failures, one in the middle of the best quarter <strong>{best.over_fastest:times}"
        "</strong>, and the last of it {worst:times}. That is the spread of {best.runs:whole} runs"
        f" without two frontier runs. At their own settings it misses {said}."
        " Where a model has experts, their exchange then runs beside computing. Of the"
        " runs that no fit has seen, the best {many:whole} took {middle:times} in the middle."
    )


def runs() -> Display:
    """All published runs beside their predictions; folded."""
    listed = in_words(judged(checks.KIND).rows)
    about = "Published runs, the fewest hours over those of the fastest layout first; no chips: its"
    about += " publisher does not say how many"
    whole = "chips", "published [h]", "predicted [h]", "fastest layout [h]"
    formats = dict.fromkeys(whole, "whole") | {"tokens": "si ", "error": "percent"}
    return charts.folded(
        charts.table(listed, about, formats, name="runs"), f"All {len(listed)} runs"
    )


def worth_of_knowing(best: Cheapest, doubts: PlatformDoubts) -> Display:
    """A chart of what it would save to know each input before taking one of two platforms."""
    choice, ways = doubts.choice, charts.phrase("the {best.platform} and the {doubts.other}")
    return charts.worth_of_knowing(choice.worth(), "a run", choice, ways)
