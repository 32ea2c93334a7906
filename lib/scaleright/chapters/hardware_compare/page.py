"""What the chapter on the accelerator for a workload shows: the answer, the ranking, and what tells
chips apart.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.chapters.hardware_compare.model import OWNED, TO_WIN, left_out_ways
from scaleright.charts import ranking as draw
from scaleright.charts.busy import utilization_source
from scaleright.charts.displays import Display
from scaleright.charts.live import Controls
from scaleright.charts.market import scatter
from scaleright.costs.fastest_steps import format_taken
from scaleright.costs.training_fleet import left_out
from scaleright.costs.whole_runs import as_tuned
from scaleright.decisions import hardware_choice as choice
from scaleright.decisions import hardware_hours
from scaleright.decisions.hardware_candidates import HardwareTables, named
from scaleright.decisions.two_chips import ChipDoubts
from scaleright.inference.demand import Busy, usual_peaks
from scaleright.market import BEST
from scaleright.ops import where
from scaleright.quantity import Quantity, choose, given

MILLION = "USD per million tokens"
"""Axis of the charts: tokens written, with their prompts, or trained on."""
NOTHING = "None of the chips considered can run it."


def controls(case: Any) -> tuple[Controls, HardwareTables]:
    """The controls of the page, and the rows of what they choose; demand follows the task."""
    live = charts.controls(case).follow("task", choice.usual())
    live.follow("traffic", usual_peaks())
    own = case.model in catalog.own_models()  # a page cannot choose it: found for this run alone
    trained = case.model if case.task == "training" or own else ""
    return live, HardwareTables.of(case["model"].choices, trained)


def answer(
    case: SimpleNamespace,
    best: choice.Cheapest,
    doubts: ChipDoubts,
    tables: HardwareTables,
    busy: Busy,
) -> Display:
    """The cheapest chip for the workload, the next, and how sure that is."""
    low, high, sure = doubts.low, doubts.high, doubts.choice
    winner, cost, runner_up, next_cost = best.chip, best.usd, best.next_chip, best.next_usd
    take = _take(case, best)
    training, there = case.task == "training", best.chip != ""
    refusal, verb = choice.why_none(training), where(training, "train", "serve")
    work = _work(case, tables.engines.weights(case.model, winner, case.precision))
    tokens = where(training, "tokens", "output tokens with their prompts")
    then = charts.phrase("Next comes the {runner_up} at {next_cost:usd}.")
    then = where(runner_up == "", "No other chip considered runs it.", then) + _other_way(
        case, best
    )
    seen, seen_cost, listed, listed_cost = best.seen, best.seen_usd, best.listed, best.listed_usd
    guess = charts.phrase(
        " No run on it was fitted; of chips with such runs the {seen} is cheapest, at"
        " {seen_cost:usd}."
    )
    guess = where((best.of["fitted"] > 0) | (seen == ""), "", guess)
    wider = charts.phrase(
        " On demand, as more chips are sold, the {listed} is cheapest, at {listed_cost:usd}."
    )
    elsewhere = (best.of["own"] < 1) & (case.contract == "spot") & (listed != "")
    wider, terms = where(elsewhere, wider, ""), _terms(case)
    judged, as_of = _judged(case, best, tables), where(there, best.age, "none")
    span = where(there, charts.phrase("{low:usd} to {high:usd} per million tokens (90 %)"), "none")
    ways = "the " + winner, " per million", "the " + runner_up
    load, source = best.of["load"], utilization_source(busy)
    likely, known = charts.odds(sure, runner_up != "", *ways)
    return charts.answer_card(
        "{take} the {winner} to {verb} {case.model}.",
        "{cost:usd}",
        "per million {tokens}",
        "{likely}",
        "It is the cheapest of the chips {terms}. {then}",
        "That is for {work} at {load:percent 2} utilization, {source}.{guess}{wider}{known}",
        provided=there,
        otherwise="For {work} {refusal}.{wider}",
        range="{span}",
        as_of="{as_of}",
        model_error="{judged}",
        headline="usd_per_million",
        quantities={
            "usd_per_million": (cost, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "next_usd_per_million": (next_cost, "usd"),
            "cheaper_than_next_probability": (sure.probability, "percent"),
            "expected_loss_usd_per_million": (sure.expected_loss, "usd"),
        },
    )


def _work(case: SimpleNamespace, weights: Any) -> Any:
    """What the chips are to do, in words."""
    serving = charts.phrase(
        "serving {case.model} in {weights.precision}, each reader getting"
        " {case.pace_tokens_per_s:number 2} tokens a second or more,"
    )
    return where(case.task == "training", charts.phrase("training {case.model}"), serving)


def _take(case: SimpleNamespace, best: choice.Cheapest) -> Any:
    """What to do with the chip, in words."""
    free = (case.paid == BEST) | (case.contract == BEST)
    rented = where(free, charts.phrase("Rent ({best.contract})"), "Rent")
    return where(best.of["own"] > 0, "Own", rented)


def _other_way(case: SimpleNamespace, best: choice.Cheapest) -> Any:
    """What the cheapest chip costs that is had the other way, in words; empty where the reader has
    chosen how.
    """
    rented = charts.phrase(" Rented, the {best.rented} is cheapest, at {best.rented_usd:usd}.")
    rented = where(best.rented_usd > 0, rented, " Nobody rents out one that runs it.")
    owned = charts.phrase(" Owned, the {best.owned} is cheapest, at {best.owned_usd:usd}.")
    owned = where(best.owned_usd > 0, owned, " None that runs it has a price to buy.")
    return where(case.paid == BEST, where(best.of["own"] > 0, rented, owned), "")


def _terms(case: SimpleNamespace) -> Any:
    """How chips are paid, and where owned ones stand, in words."""
    at_home = "owned (cards at home, chips made for servers in a data center)"
    owned = where(case.setting == "home", at_home, charts.phrase("owned in a {case.setting}"))
    any_contract = "that are rented, each under its cheapest contract of a year at most"
    rented = charts.phrase("that are rented {case.contract}")
    rented = where(case.contract == BEST, any_contract, rented)
    either = charts.phrase("{rented}, or {owned}")
    return where(case.paid == BEST, either, where(case.paid == "own", owned, rented))


def _judged(case: SimpleNamespace, best: choice.Cheapest, tables: HardwareTables) -> Any:
    """How well the speed of runs that no fit had seen was predicted."""
    lent = tables.engines.rows.row(case.model, best.chip, case.precision).lent
    serving = charts.predicted_within(best.of["low"], best.of["high"], lent)
    form = format_taken(case.training_precision, case.model, tables.models)
    learns = case.model, form, best.chip
    trained = choose(tables.trained, *learns, otherwise="none")
    judged = trained.basis + "; " + as_tuned(case.tuning, lambda runs: runs.basis)
    judged = where(case.task == "training", judged, serving)
    return where(best.chip == "", "none, since nothing is predicted", judged)


def ranking(case: SimpleNamespace, best: choice.Cheapest, any_chip: choice.Priced) -> Any:
    """The price of a million tokens on each chip, as a chart [USD], how it is paid where that is
    open, and the format of its weights.
    """
    speed, form = any_chip.speed, any_chip.form
    form = where(form == "", "", charts.phrase(" in {form}"))
    how = charts.phrase(", rented {any_chip.contract}")
    how = where(case.paid == BEST, where(any_chip.own, ", owned", how), "")
    group = charts.say(speed.group, "whole chips")
    star = where(speed.fitted > 0, "", " *")
    return charts.show(
        draw.ranking(
            named(),
            "chip",
            any_chip.usd,
            "usd",
            MILLION,
            color="vendor",
            words=charts.phrase("{group}{form}{how}{star}"),
            otherwise="cannot run it",
            along=any_chip.chip,
        ),
        name="ranking",
        alt="Cost of a million tokens by chip, the cheapest on top, with the chips that share a"
        " copy of the model and its format; no run was fitted on one with an asterisk. {best.chip}"
        " at {best.usd:usd}.",
    )


def untrained() -> Display:
    """Chips that no training is priced on, and why, folded."""
    why = left_out()
    rows = [(name, why[name]) for name in named()["chip"] if name in why]
    told = charts.table(
        pd.DataFrame(rows, columns=["accelerator", "why"]),
        "Chips of the ranking that no cluster is built of",
        name="untrained",
    )
    return charts.folded(told, f"{len(rows)} chips that no training is priced on, and why")


def unpriced(case: Any, any_chip: choice.Priced, usd_per_million: float) -> Display:
    """Chips that no recent listing makes a candidate, and what an hour of each would have to cost
    to be as cheap as the cheapest of those [USD / 1e6 token], folded.
    """
    if case.task == "training" or not usd_per_million > 0:
        return charts.at_defaults(charts.sentence("No chip is left out for its price here."))
    rows = left_out_ways(case, usd_per_million)
    beats = rows[rows[OWNED] <= rows[TO_WIN]]["accelerator"]
    bought = (
        f" Bought at its middle price, one would win: {', '.join(beats)}." if len(beats) else ""
    )
    told = charts.table(
        rows,
        "Chips for data centers that nobody has listed for a year, beside what an hour of each"
        f" would have to cost to win; a dash where nothing public tells.{bought}",
        name="unpriced",
    )
    told = charts.at_defaults(told, any_chip.usd)
    return charts.folded(told, f"{len(rows)} chips that are left out for want of a price, and why")


def plane(case: SimpleNamespace, best: choice.Cheapest, listed: pd.DataFrame) -> Any:
    """The price of arithmetic against that of bandwidth, a dot for each chip that is listed."""
    across, up = hardware_hours.ARITHMETIC, hardware_hours.BANDWIDTH
    titles = ["USD an hour per PFLOP/s reached", "USD an hour per TB/s"]
    dots, money = hardware_hours.sold_by_vendor(listed), ["usd", "usd"]
    shown = charts.show(
        scatter(
            dots, across, up, "accelerator", money, titles, "vendor", chosen=best.chip, log=False
        ),
        name="plane",
        alt="Price of arithmetic against price of bandwidth, a dot for each chip at its median"
        " rent, with a staircase through those that nothing beats on both; a ring marks"
        " {best.chip}.",
    )
    return charts.at_defaults(shown, case.vendor, case.segment, case.least_providers)


def sold() -> Display:
    """What an hour of each chip sells, folded."""
    rows = hardware_hours.sold_by_the_hour()
    caption = (
        "What an hour of each chip sells, at its median rent, BF16; the cheapest bandwidth first; a"
        " dash where no power limit is published"
    )
    told = charts.table(
        rows, caption, {hardware_hours.ENERGY: "number 2"}, name="price-performance"
    )
    return charts.folded(told, f"All {len(rows)} chips with a recent rent, by what they sell")


def peaks() -> Display:
    """Dense BF16 by datasheets and as measured."""
    return charts.table(
        hardware_hours.peaks_reached(),
        "Dense BF16: the datasheet, the best measured matrix product, and the on-demand rent of a"
        " PFLOP/s by each",
        formats=dict.fromkeys(("peak", "measured"), "si FLOP/s") | {"share": "percent"},
        name="peak-and-measured",
    )


def price_of_pace(case: SimpleNamespace, any_chip: choice.Priced, leaders: Sequence[str]) -> Any:
    """The price of a million tokens against the pace of an answer, a line for each of these chips
    [USD].
    """
    if not len(leaders):
        return charts.at_defaults(charts.sentence(NOTHING), any_chip.usd)
    paces = [round(3 * 1.18**step, 2) for step in range(26)]
    grid = pd.MultiIndex.from_product([leaders, paces], names=["chip", "pace_tokens_per_s"])
    return charts.show(
        charts.lines(
            grid.to_frame(index=False),
            "pace_tokens_per_s",
            "chip",
            "usd",
            "tokens a second for each reader, at least",
            MILLION,
            value=any_chip.usd,
            log_x=True,
            log_y=True,
            along=(any_chip.chip, case.pace_tokens_per_s),
        ),
        name="pace",
        alt="Price of a million tokens against the pace of an answer, a line for each chip: the"
        " quicker, the dearer, and it ends where no node keeps the pace.",
    )


def energy(joules: Any, most: int) -> Any:
    """The energy of arithmetic on so many chips at most, as a chart [J/TFLOP]."""
    up, along = "joules per TFLOP of BF16 at the power limit", given("chip", "H100 SXM")
    return charts.show(
        draw.ranking(named(), "chip", joules, "number 2", up, "segment", most=most, along=along),
        name="energy",
        alt="Energy of a TFLOP by chip at its power limit, the least on top.",
    )


def cards() -> Display:
    """Consumer cards beside data-center chips."""
    return charts.table(
        hardware_hours.cards_beside_chips(),
        "Andreessen Horowitz's pair, and five cards that match an H100 in arithmetic: three years"
        " at their limits at $0.10 per kWh",
        formats={"FP16, FP32 sums": "si FLOP/s", "bandwidth": "si B/s"}
        | dict.fromkeys((hardware_hours.LIMIT_W, "energy [kWh]"), "whole"),
        name="power",
    )


def criteria(rows: pd.DataFrame, price: Quantity) -> Display:
    """What Andreessen Horowitz says to look at, beside what it comes to:
    `model.criteria`; the controls of the price are those that they would depend on.
    """
    if rows.empty:
        return charts.at_defaults(charts.sentence(NOTHING), price)
    told = charts.table(rows, "Selection criteria, computed", name="criteria")
    return charts.at_defaults(charts.folded(told, "Its criteria one by one, computed"), price)


def orders(tested: pd.DataFrame) -> Display:
    """How well prices by the datasheet order chips, from `model.criteria_tested`."""
    return charts.table(
        tested,
        "Pairs of chips that each criterion puts in the measured order, and workloads for which it"
        " names the best chip",
        formats=dict.fromkeys(("of pairs", "of workloads"), "percent"),
        headers={"right": "pairs in order", "best": "best named"},
        name="ranking-tested",
    )


def speeds(rows: pd.DataFrame, model: str, price: Quantity) -> Display:
    """Published speeds of a model beside those computed.

    Parameters
    ----------
    rows : of `model.published_speeds`
    price : on whose controls they would depend
    """
    if rows.empty:
        words = f"Nobody published the throughput of {model} on several chips."
        return charts.at_defaults(charts.sentence(words), price)
    told = charts.table(
        rows,
        f"Tokens per second of one chip: {model}, published and computed",
        formats=dict.fromkeys(("prompt", "answer", "measured", "computed"), "whole")
        | {"measured over computed": "number 2"},
        name="speeds",
    )
    return charts.at_defaults(told, price)


def worth_of_knowing(
    best: choice.Cheapest, doubts: ChipDoubts, worth: Mapping[str, Any]
) -> Display:
    """A chart of what it would save a month to know each input before one of both is taken."""
    ways = charts.phrase("the {best.chip} and the {best.next_chip}")
    return charts.worth_of_knowing(worth, "a month", doubts.choice, ways)
