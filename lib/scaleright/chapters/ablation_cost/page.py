"""What the chapter on the cost of experiments shows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.charts import Controls, Display
from scaleright.charts import platforms as marks
from scaleright.charts.market import dots
from scaleright.costs import pretraining
from scaleright.costs.experiment_steps import ExperimentSteps, widths
from scaleright.costs.experiments import MOST_HALVINGS, halving_share
from scaleright.costs.pretraining_run import Cheapest
from scaleright.decisions.ablation_evidence import (
    judged,
    order_dots,
    order_lines,
    per_tenfold,
)
from scaleright.decisions.ablation_study import BY_CHANCE, NODES, Cluster, Decision, Range, Study
from scaleright.decisions.two_chips import PlatformDoubts
from scaleright.market import BEST
from scaleright.ops import maximum, where
from scaleright.quantity import at

USD_FOR = "USD for the study"
BLACKWELL = ("B200", "B300", "GB300")


def controls(declared: Any) -> tuple[Controls, ExperimentSteps]:
    """The chapter's parameters, what the reader leaves open as the tables have it; and the steps of
    all that they offer.
    """
    pay = pretraining.project()["pay_usd_per_year"]
    filled = declared.filled(pay_usd_per_year=pay, misordered_per_tenfold=per_tenfold().best)
    models, targets = (declared[name].choices for name in ("model", "target"))
    return charts.controls(filled), ExperimentSteps.of(models, targets)


def _why_not(case: Any, mine: Cluster) -> Any:
    """Why the case has no study, as the end of a sentence."""
    study = mine.study
    unfit = charts.phrase(
        "{case.model} does not fit on {case.run_on} of {case.accelerator}; put it on more"
    )
    why = where(study.step.fits, study.hour.rented.why, unfit)
    return charts.phrase("is not to be had: {why}.")


def _broken(case: Any, mine: Cluster) -> Any:
    """Which limits the study does not keep, and what helps; empty where it keeps them."""
    late = charts.phrase(
        " The study ends after the deadline of {case.deadline_days:days}: the largest cluster"
        " tried takes {mine.quickest:days}, so allow that, cut earlier, or put each run on more"
        " chips."
    )
    dear = charts.phrase(
        " The study is above the budget of {case.budget_usd:usd}: take fewer variants or tokens."
    )
    over = mine.study.usd > case.budget_usd
    return where(mine.punctual, "", late) + where(over, dear, "")


def _apart(case: Any, right: Any) -> Any:
    """How far studies are apart on how often a decision is right, where the reader has not set the
    share that they are about, in words.
    """
    per = per_tenfold()
    least, most = (at(right, misordered_per_tenfold=of) for of in (per.high, per.low))
    apart = charts.phrase(", {least:percent} to {most:percent} by the studies that differ most")
    return where(case.misordered_per_tenfold == per.best, apart, "")


def answer(
    asked: Any,
    case: Any,
    mine: Cluster,
    span: Range,
    decision: Decision,
    best: Cheapest,
    doubts: PlatformDoubts,
) -> Display:
    """The answer card: the study, an experiment, a decision, and the cheapest platform.

    asked, case : as the reader asks, and on the accelerator that is taken
    """
    study, right, sure = mine.study, decision.right, doubts.choice
    why, apart = _why_not(case, mine), _apart(case, right)
    usd, days, nodes, runs = study.usd, study.days, study.nodes, case.variants * case.seeds
    low_usd, high_usd, named = span.low_usd, span.high_usd, asked.accelerator != BEST
    other = marks.elsewhere(case.accelerator, best, doubts.other, sure.other, "On")
    many, nameless = marks.of_many(best, named), ~named & (asked.rent_usd_per_hour > 0)
    fails = where(nameless, marks.NAMELESS, where(named, why, marks.NOWHERE))
    broken = _broken(case, mine)
    small = where(decision.larger > 1, "", " Your experiments are as large as what they stand for.")
    ways, compared = ("the " + best.platform, "", "the " + doubts.other), sure.other > 0
    likely, known = charts.odds(sure, (best.usd > 0) & compared, *ways)
    hours, price, trusted, found = study.hours.total, study.hour.total, study.step.trust, judged()
    return charts.answer_card(
        "Run your {case.variants:whole} variants on {nodes:whole} nodes of eight"
        " {case.accelerator}, in {days:days}.",
        "{usd:usd}",
        "for the study, {decision.experiment_usd:usd} an experiment{many}",
        "{likely}",
        "{other}{broken}",
        "Your deadline is {case.deadline_days:days}. A decision between two variants with"
        " {case.seeds:whole} seeds each costs {decision.usd:usd} and is right about the large run"
        " in {right:percent} of cases{apart}. {runs:whole} runs take {hours:count} chip-hours at"
        " {price:usd}.{small} Only platforms that could be tested against published runs are"
        " compared.{known} The range covers prices that no contract fixes, and how far published"
        " runs were from the model.",
        provided=study.done & study.hour.there & ~nameless,
        otherwise="Such a study {fails}",
        range="{low_usd:usd} to {high_usd:usd} (90 %)",
        as_of="{study.hour.rented.age} (rents)",
        model_error=f"hours of {found.rows} published experiments that no fit has seen were"
        f" predicted within {100 * found.median:.0f} % in the median; {{trusted.basis}}",
        headline="study_usd",
        quantities={
            "study_usd": (usd, "usd"),
            "range_low": (low_usd, "usd"),
            "range_high": (high_usd, "usd"),
            "experiment_usd": (decision.experiment_usd, "usd"),
            "decision_usd": (decision.usd, "usd"),
            "decided_right": (right, "percent"),
            "days": (days, "days"),
            "cheapest_usd": (best.usd, "usd"),
            "cheapest_cheaper_probability": (sure.probability, "percent"),
        },
    )


def platforms(on_all: Mapping[str, Study], platform: Any, there: Cluster) -> Display:
    """A bar for each platform: what the study on it costs, by parts."""
    study, star = there.study, marks.star(there.study.step.trust.seen)
    usd, days, nodes = study.usd, study.days, study.nodes
    late = where(there.punctual, "", ", late")
    label = charts.phrase("{usd:usd}{star}: {nodes:whole} nodes, {days:days}{late}")
    unpriced = where(study.done, "no such price is listed", "does not fit")
    label = where(usd > 0, label, unpriced)
    parts = {name.removesuffix("_usd"): usd for name, usd in study.cost.parts().items()}
    parts["data"] = parts.pop("loading") + parts.pop("storage")
    parts["people"] = parts.pop("waiting")
    rows = marks.cheapest_first(on_all)
    return charts.show(
        charts.stacked_parts(parts, "usd", USD_FOR, rows, "platform", along=platform, label=label),
        name="platforms",
        caption="Each platform with the cluster that costs least and meets your deadline; late:"
        " none does. Data: waiting for it, and storage; empty: slots without a run, most in the"
        " last wave; idle: time between jobs; term: the rest of a contract that binds; people:"
        " those who wait."
        f" {marks.UNSEEN}",
        alt="Cost of the study on each platform by parts, the dearest first.",
    )


def bill(study: Study) -> Display:
    """The study's cost as a staircase of its parts."""
    words = {name.replace("_usd", ""): part for name, part in study.cost.parts().items()}
    words["data"], words["people"] = words.pop("loading"), words.pop("waiting")
    return charts.show(
        charts.stacked_parts(words, "usd", "USD"),
        name="bill",
        alt="The cost of the study by parts: training that counts, failures, evaluation, data,"
        " empty places, idle time, term, storage and people.",
    )


def clusters(tried: Any, study: Study, late: Any) -> Display:
    """The study on each number of nodes that is tried."""
    rows = pd.DataFrame({"nodes": [float(n) for n in NODES]})
    empty = study.cost.empty_usd / study.usd
    columns = {
        "runs at once": study.places,
        "days": study.days,
        "the study": study.usd,
        "empty": empty,
        "in time": where(late, "no", "yes"),
    }
    kinds = {"nodes": "whole", "runs at once": "whole", "days": "number", "the study": "usd"}
    return charts.table(
        rows.assign(of=rows["nodes"], **columns),
        "Your study by number of nodes; empty: share of the bill for slots without a run; in time:"
        " by the deadline that you set",
        kinds | {"empty": "percent"},
        along={tried: "of"},
        name="clusters",
    )


def by_width(width: Any, there: Cluster) -> Display:
    """A bar for each width: what the study costs if each run is put on so much."""
    usd, days, nodes = there.study.usd, there.study.days, there.study.nodes
    late = where(there.punctual, "", ", late")
    said = charts.phrase("{usd:usd}: {nodes:whole} nodes, {days:days}{late}")
    said = where(usd > 0, said, where(there.study.done, "no price", "does not fit"))
    rows = pd.DataFrame({"put_on": [*widths()]})
    return charts.show(
        charts.bars(rows, "put_on", usd, "usd", USD_FOR, along={width: "put_on"}, label=said),
        name="widths",
        alt="Cost of the study by what each run is put on, from a seventh of a chip to 32 chips.",
    )


def cuts(case: Any, reused: Any, kept: Any) -> Display:
    """Training of the study, and how often it keeps the best variant, against the number of
    cuts.
    """
    share = halving_share(case.survive, case.halvings, reused)
    rows = {"cuts": [float(n) for n in range(MOST_HALVINGS + 1)]}
    axes = "cuts of the worse variants", "share"
    shares = {"trained": share, "best kept": kept}
    return charts.show(
        charts.rule(case.halvings, axes[0], "you", foot=True)
        + charts.lines(rows, "cuts", shares, "percent", *axes, along=case.halvings),
        name="cuts",
        caption="Trained: of the training without cuts. Best kept: how often no cut drops the"
        " variant that would be best in the end.",
        alt="Share of the training that is left, and probability that the best variant is kept,"
        " against the number of cuts.",
    )


def seeds(case: Any, decision: Decision) -> Display:
    """How often the difference is found against the number of seeds."""
    rows = {"seeds": [float(n) for n in range(1, 21)]}
    axes = "seeds of each variant", "probability"
    found = {"found": decision.power, "better one ahead": decision.seen}
    return charts.show(
        charts.rule(case.seeds, axes[0], "you", foot=True)
        + charts.lines(rows, "seeds", found, "percent", *axes, along=case.seeds),
        name="seeds",
        alt="Probability of finding the difference against seeds, rising.",
    )


def order_kept(decision: Decision) -> Display:
    """Share of pairs whose order changes against the ratio of arithmetic, with published ones."""
    long, rows = order_lines(), order_dots()
    axes = "arithmetic of the large run over that of an experiment", "pairs in the wrong order"
    drawn = {"value": "wrong", "log_x": True, "log_y": True, "x_kind": "si "}
    lines = charts.lines(long, "ratio", "study", "percent", *axes, **drawn)
    ends = ((long["ratio"].min(), long["ratio"].max()), (long["wrong"].min(), BY_CHANCE))
    yours = {"you": (decision.larger, maximum(decision.wrong, 1e-3))}
    points = dots(rows, "ratio", "wrong", "name", axes, ("si ", "percent"), ends, yours)
    return charts.show(
        lines + points,
        name="order",
        caption="Lines: the highest, mean and lowest rate of studies that compared by benchmarks;"
        " those by likelihood are marked so, and change order less.",
        alt="Share of pairs of variants whose order changes between small and large runs, rising"
        " with the ratio of arithmetic, with published studies as dots.",
    )


def proxies(case: Any, there: Cluster, decision: Decision, models: Any) -> Display:
    """Each proxy with what it costs and how often it decides right."""
    rows = pd.DataFrame({"proxy": [*models]})
    usd = there.study.usd
    columns = {
        "the study": usd,
        "a decision": decision.usd,
        "right": decision.right,
        "a right one": decision.usd / decision.right,
    }
    kinds = dict.fromkeys(("the study", "a decision", "a right one"), "usd")
    return charts.table(
        rows.assign(of=rows["proxy"], **columns),
        "Your study with each proxy, on as many tokens",
        kinds | {"right": "percent"},
        along={case.model: "of"},
        name="proxies",
    )


def worth_of_knowing(best: Cheapest, doubts: PlatformDoubts) -> Display:
    """What it would save to know each input before taking one of two platforms."""
    ways = charts.phrase("the {best.platform} and the {doubts.other}")
    return charts.worth_of_knowing(doubts.choice.worth(), "of the study", doubts.choice, ways)
