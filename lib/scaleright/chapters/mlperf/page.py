"""What the chapter on MLPerf Inference, chip against chip, shows."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scaleright import catalog, charts, mlperf
from scaleright.chapters.mlperf import model as tables
from scaleright.charts import Display, say
from scaleright.charts.intervals import intervals
from scaleright.charts.market import spread
from scaleright.claims import s4
from scaleright.mlperf import Bench, HeadToHead
from scaleright.mlperf.comparison import METRICS
from scaleright.ops import where
from scaleright.quantity import Quantity, look_up

_TIMES = f"times the work of the old chip ({mlperf.LABEL})"


def answer(case: Any, found: HeadToHead, why_not: Quantity, tested: pd.Series) -> Display:
    """The answer: how many times the work of the old chip the new one does.

    tested : whether each earlier ratio's range held, see `mlperf.range_test`
    """
    gain, low, high, per = found.value, found.low, found.high, look_up(METRICS, case.metric)
    reliable, known = say(tested.mean(), "percent"), why_not == ""
    hour, hour_old, dollar = found.hour, found.hour_old, case.metric == "dollar"
    rents = charts.phrase(" Rents: {hour.usd:usd} an hour ({hour.counted}) and {hour_old.usd:usd}")
    rents = where(dollar & known, rents + charts.phrase(" ({hour_old.counted})."), "")
    age, old_age = hour.age, hour_old.age
    ages = where(age == old_age, age, charts.phrase("{age} and {old_age}"))
    listed = where(dollar & known, charts.phrase(", {ages} (rents)"), "")
    sure, ahead = found.choice, where(gain >= 1, case.new_chip, case.old_chip)
    likely, odds = charts.odds(sure, known, "the " + ahead, kind="percent", does="does more")
    more, behind = where(gain >= 1, gain, 1 / gain), where(gain >= 1, case.old_chip, case.new_chip)
    least, most = where(gain >= 1, low, 1 / high), where(gain >= 1, high, 1 / low)
    span = where(known, charts.phrase("{least:number} to {most:times}"), "none")
    new, old, result = found.rate_new, found.rate_old, found.new.unit
    over = {"chip": "", "watt": ", before power limits", "dollar": ", before rents"}
    over = look_up(over, case.metric)
    against = charts.phrase(
        "{case.new_chip} {new:number} {result} and {case.old_chip} {old:number}"
    )
    return charts.answer_card(
        "On {case.benchmark}, {case.scenario}, take the {ahead} over the {behind}.",
        "{more:times}",
        "the work of the {behind}, {per}",
        "{likely}",
        "The {case.statistic} submissions of round {found.in_round}: {against} per"
        " accelerator{over}.",
        "{odds}{rents}",
        provided=known,
        otherwise="On {case.benchmark}, {case.scenario}, one <strong>{case.new_chip}</strong>"
        " cannot be compared with one <strong>{case.old_chip}</strong> {per}: {why_not}.",
        range="{span}",
        as_of=f"{catalog.resource('mlperf_inference')['as_of']}{{listed}}",
        model_error=f"of {len(tested)} ratios of two chips that were seen again in a later round,"
        f" {reliable} lay in the range that the earlier one gave",
        headline="gain",
        quantities={
            "gain": (gain, "times"),
            "range_low": (low, "times"),
            "range_high": (high, "times"),
            "round": (found.in_round, ""),
            "new_ahead_probability": (sure.probability, "percent"),
            "expected_loss": (sure.expected_loss, "percent"),
        },
    )


def _ranged(rows: Any, by: str, of: HeadToHead, **look: Any) -> Any:
    """A row for each case in which the two meet, with the range of the gain there."""
    found = intervals(rows, by, (of.low, of.value, of.high), "number", _TIMES, **look)
    return charts.rule(1.0, _TIMES, "as much", log=True) + found


def chips(case: Any, bench: Bench, chip: Quantity, each: HeadToHead) -> Display:
    """Every chip over the old one, in the round of the answer.

    chip, each : one of them, and what it does
    """
    per = look_up(METRICS, case.metric)
    many = where(each.new.submissions > 1, "submissions", "submission")
    told = charts.phrase("{each.value:times}, {each.new.submissions:whole} {many}")
    look = {"along": chip, "label": told, "most": 13, "color": "vendor"}
    return charts.show(
        _ranged(mlperf.vendors(bench.watts), "chip", each, **look),
        name="chips",
        alt="Every chip over one {case.old_chip} on {case.benchmark}, {case.scenario}, {per}, with"
        " the range of each and the number of its submissions.",
    )


def rate(case: Any, of: Any, value: Quantity) -> Quantity:
    """A rate per accelerator, and how it came about, in words."""
    preview = where(of.preview, " of a preview", "")
    stated = where(of.precision == "not stated", "precision not stated", "in " + of.precision)
    return charts.phrase(
        "{value:number} (the {case.statistic} of {of.submissions:whole}{preview}, {stated})"
    )


def kinds(
    case: Any, bench: Bench, found: HeadToHead, benchmark: Quantity, benchmarks: Sequence[str]
) -> Display:
    """The gain on every benchmark on which both chips meet.

    benchmark : the parameter that the rows give
    """
    kind = look_up(bench.kinds, case.benchmark)
    told = charts.phrase("{found.value:times}, {kind}, {found.in_round}")
    look = {"along": benchmark, "label": told, "most": 11}
    return charts.show(
        _ranged({"benchmark": benchmarks}, "benchmark", found, **look),
        name="kinds",
        alt="One {case.new_chip} over one {case.old_chip} on every benchmark on which they meet,"
        " {case.scenario}, each with the kind of its model and its round.",
    )


def rounds(case: Any, found: HeadToHead) -> Display:
    """The gain in every scenario and round that has both chips."""
    against = charts.phrase(
        "{found.new.submissions:whole} v. {found.old.submissions:whole} submissions"
    )
    told = charts.phrase("{found.value:times}, {against}")
    along = {case.scenario: "scenario", case.in_round: "round"}
    look = {"along": along, "label": told, "most": 9, "sort": False}
    return charts.show(
        _ranged(mlperf.questions(), "question", found, **look),
        name="rounds",
        alt="One {case.new_chip} over one {case.old_chip} on {case.benchmark} in every scenario and"
        " round that has both, with the submissions of each.",
    )


def cleaning() -> Display:
    """What leaves of the rows, and why."""
    words = "Rows of MLPerf Inference, closed division, data center, v3.0 to v6.1"
    shown = charts.table(mlperf.cleaning_report(), words, {"rows": "whole"})
    return charts.folded(shown, "Which rows are left out, and why")


def by_hand() -> Display:
    """Figures per accelerator that a reader can check."""
    exact = dict.fromkeys(("value", "per chip"), "number 6")
    words = "Figures to check by hand: value over accelerators"
    return charts.folded(charts.table(tables.hand_checked(), words, exact, name="by-hand"), words)


def averages() -> Display:
    """Where the mean of ratios and the ratio of sums differ most."""
    words = "Where the two averages lie furthest apart, per accelerator"
    return charts.folded(charts.table(tables.averages_apart(), words, name="averages"), words)


def generations() -> Display:
    """Gains from chip to chip."""
    look = {"color": "kind", "name": "question", "log": True}
    return charts.show(
        spread(tables.generations(), "pair", "gain", "number", _TIMES, **look),
        name="generations",
        alt="Gain per accelerator from chip to chip, a dot for each benchmark and scenario.",
    )


def generation_spans(case: Any) -> Display:
    """Gains from chip to chip by each metric, folded."""
    paid = case.contract, case.seller
    contract, seller = (of.value for of in paid)
    words = "Median, lowest and highest gain, and of how many; a dollar rents"
    rows = tables.generation_spans(contract, seller)
    spans = charts.table(rows, f"{words} {contract} ({seller})", name="generations")
    return charts.at_defaults(charts.folded(spans, "The same per watt and per dollar"), *paid)


_BEST = "tokens/s per accelerator, best of each"


def racks() -> Display:
    """The rack that the MLPerf blog post judges against boxes of 8, per chip."""
    rows, _ = tables.racks_apart()
    return charts.table(rows, f"GB200 NVL72 against B200: {_BEST}", name="nvl72")


def other_racks() -> Display:
    """Other racks and questions, folded."""
    _, rows = tables.racks_apart()
    rest = charts.table(rows, f"Racks of 72 against boxes of 8: {_BEST}", name="nvl72-others")
    return charts.folded(rest, "GB200 on gpt-oss-120b, and GB300 NVL72 against B300")


def software() -> Display:
    """What software alone brought, by kind of model."""
    words = "Best of a round over best of the round before, same chip"
    return charts.table(tables.software_by_kind(), words, name="software")


def software_largest() -> Display:
    """The most that software alone brought, folded."""
    words = "The largest gains by software"
    most = charts.table(tables.software_largest(), words, name="software-largest")
    return charts.folded(most, "The largest gains by software")


def server(kept: pd.DataFrame) -> Display:
    """What systems keep of their Offline rate.

    kept : see `tables.server_kept`
    """
    newest, words = kept[kept["newest"]], "Server over Offline of the same system"
    return charts.show(
        spread(newest, "question", "kept", "percent", words, color="vendor", name="chip"),
        name="server",
        alt="What systems keep of their Offline rate in Server, by benchmark in its newest round.",
    )


def power() -> Display:
    """Measured power by chip."""
    words = "Measured power: the whole system over its accelerators, over their limits; medians"
    formats = dict.fromkeys(("of the limit", "rate kept"), "percent")
    formats |= {"system power per accelerator [W]": "whole"}
    shown = charts.table(tables.power_by_chip(), words, formats, name="power")
    return charts.folded(shown, "Measured power by chip")


def sizes(rows: pd.DataFrame) -> Display:
    """The best by size of system, folded."""
    words = "The best by size of system, per accelerator"
    shown = charts.table(rows, words, {"kept": "percent"}, name="sizes")
    return charts.folded(shown, "Results by size of system")


def teams(case: Any, found: HeadToHead) -> Display:
    """Every submission on the defaults' question, by chip."""
    benchmark, scenario, met = case.benchmark.value, case.scenario.value, found.in_round.value
    rate = f"{found.new.unit.value} per accelerator"
    look = {"color": "vendor", "name": "submitter", "log": True}
    same, tips = tables.teams(benchmark, scenario, met), {"chips": "chips", "id": "id"}
    shown = charts.show(
        spread(same, "accelerator", "per_accelerator", "number", rate, tips=tips, **look),
        name="teams",
        alt=f"Every submission on {benchmark}, {scenario}, in {met}, per accelerator, by chip.",
    )
    return charts.at_defaults(shown, found.in_round)


def ranges() -> Display:
    """How often the range of an earlier ratio held the later one."""
    words = "Ratios of two chips, seen again in the next round in which both stand"
    return charts.table(tables.range_outcome(), words, {"inside": "percent"}, name="ranges")


def worth_of_knowing(case: Any, found: HeadToHead) -> Display:
    """A chart of what it would save to know each doubt before one of both chips is taken."""
    ways, choice = charts.phrase("the {case.new_chip} and the {case.old_chip}"), found.choice
    saved = "of the old chip's time, watts or dollars for as much work"
    look = {"kind": "percent", "unit": "share"}
    return charts.worth_of_knowing(choice.worth(), saved, choice, ways, **look)


def s4_reasons() -> Display:
    """Why the MLPerf blog post's cells differ from the rows."""
    words = "The cells of the MLPerf blog post's two tables, by why they differ"
    return charts.folded(charts.table(s4.reasons(), words), words)


def s4_results() -> Display:
    """The MLPerf blog post's table of results, recomputed; folded."""
    columns = ["benchmark", "chip", "scenario", "figure", "printed", "recomputed", "reason"]
    digits = dict.fromkeys(("printed", "recomputed"), "number 6")
    cells = charts.table(
        s4.cells()[columns], "The MLPerf blog post's table of results", digits, name="s4-results"
    )
    return charts.folded(
        cells, f"All {len(s4.cells())} cells of the MLPerf blog post's table of results"
    )


def s4_specifications() -> Display:
    """The MLPerf blog post's table of specifications, checked; folded."""
    columns = ["chip", "figure", "printed", "recomputed", "unit", "reason"]
    digits = dict.fromkeys(("printed", "recomputed"), "number 5")
    rows, words = s4.specifications()[columns], "The MLPerf blog post's table of specifications"
    return charts.folded(charts.table(rows, words, digits, name="s4-specifications"), words)
