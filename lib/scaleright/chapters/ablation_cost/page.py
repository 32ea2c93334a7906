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
from scaleright.costs.whole_runs import as_tuned
from scaleright.decisions.ablation_evidence import (
    judged,
    order_dots,
    order_lines,
    per_tenfold,
    transfers,
)
from scaleright.decisions.ablation_study import BY_CHANCE, NODES, Cluster, Decision, Range, Study
from scaleright.decisions.two_chips import PlatformDoubts
from scaleright.market import BEST
from scaleright.ops import ceil, maximum, where
from scaleright.quantity import at, least

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


def blackwell(on_all: Mapping[str, Study], unseen: Cheapest) -> Display:
    """Whether Blackwell is the cheapest, and what it would save against the H100."""
    _, cheapest_new = least({name: on_all[name].usd for name in BLACKWELL})
    hopper = on_all["H100 SXM"].usd
    saved = 1 - cheapest_new / hopper
    less = where(saved > 0, charts.phrase("{saved:percent} less"), "no less")
    promising = charts.phrase(
        ", and on the {unseen.platform}, if its software is as good, {unseen.usd:usd}"
    )
    promising = where(unseen.usd > 0, promising, "")
    return charts.sentence(
        "Token Cost Analysis says that Blackwell minimizes the cost of experiments. On the"
        " cheapest Blackwell platform your study costs {cheapest_new:usd},"
        " <strong>{less}</strong> than on the H100 ({hopper:usd}){promising}.",
        provided=(cheapest_new > 0) & (hopper > 0),
        otherwise="Token Cost Analysis says that Blackwell minimizes the cost of experiments;"
        " under your contract the two are not both rented out.",
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


def one_run(case: Any, study: Study) -> Display:
    """How long one run takes, how many run at once, and what the bill holds beyond training."""
    each, places = study.run_hours, study.places
    beyond = as_tuned(case.tuning, lambda runs: runs.over_fastest) - 1
    multiple, unfilled = study.usd / study.cost.training_usd, study.cost.empty_usd / study.usd
    return charts.sentence(
        "One run on {case.run_on} of {case.accelerator} trains for"
        " <strong>{each:hours 3}</strong>, and the cluster holds {places:whole} at once. The"
        " model's fastest layout takes less; we add {beyond:percent}, because published runs took"
        " that much longer. Your deadline is {case.deadline_days:days}. In all, the study costs"
        " {multiple:times} the training that counts;"
        " {unfilled:percent} of the bill is for idle slots, where no run is. If the contract runs"
        " on after the study, its rest is {case.rest_of_term}.",
        provided=study.usd > 0,
        otherwise="Without a price for the study there is no bill.",
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


def kept(case: Any, decision: Decision) -> Display:
    """How often the cuts keep the best variant, and what that does to a decision."""
    first = 100 * case.survive**case.halvings
    return charts.sentence(
        "Your {case.halvings:whole} cuts, the first after {first:number 2} % of the tokens, keep"
        " the best of {case.variants:whole} variants in"
        " <strong>{decision.kept:percent}</strong> of cases.",
        provided=case.halvings > 0,
        otherwise="Without cuts, no variant is dropped before its run ends.",
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


def needed(case: Any, decision: Decision, enough_usd: Any) -> Display:
    """How many seeds tell the variants apart, and what a decision with them costs [USD]."""
    whole = maximum(ceil(decision.needed - 1e-9), 1.0)
    return charts.sentence(
        "If seeds differ by {case.noise:number} points, a difference of {case.difference:number}"
        " points takes <strong>{whole:whole} seeds</strong> of each variant, at the {case.level}"
        " level with {case.power} power. Your {case.seeds:whole} find it in"
        " {decision.power:percent} of cases. A decision with enough seeds costs {enough_usd:usd}.",
        provided=enough_usd > 0,
        otherwise="That difference takes {whole:whole} seeds of each variant.",
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


def transferred(decision: Decision) -> Display:
    """What the proxy does to a decision."""
    per, found = per_tenfold(), transfers()
    missed = (found["foreseen"] - found["agree"]).abs().median()
    count, larger = len(found), decision.larger
    far = where(
        larger > 10**per.furthest,
        " No study that compared by benchmarks reached that far.",
        "",
    )
    return charts.sentence(
        "Your large run takes {larger:times} the arithmetic of an experiment, so about"
        " <strong>{decision.wrong:percent}</strong> of the pairs change order, and a decision is"
        " right in {decision.right:percent} of cases instead of {decision.seen:percent}.{far}"
        " We predicted each of {count:whole} published results from the other studies of its kind;"
        " the median miss was {missed:percent} of the pairs.",
        provided=larger > 1,
        otherwise="Your experiments are as large as the run they stand for: no pair changes order.",
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


def fewer(now: float, cut: float, share: float, best: float) -> Display:
    """The solution of the first exercise: two costs [USD], the training that is left, and how often
    the best variant is [1].
    """
    return charts.sentence(
        "The study falls from {now:usd} to {cut:usd}. {share:percent} of the training is left, but"
        " each stage waits for the one before, and costs other than training stay. The best"
        " variant is kept in {best:percent} of cases."
    )


def likelihood(right: Any, better: Any) -> Display:
    """The solution of the second exercise: right decisions with either measure [1]."""
    return charts.sentence(
        "{better:percent} of decisions would be right instead of {right:percent}, at the same cost:"
        " what you measure matters as much as the size of the proxy."
    )
