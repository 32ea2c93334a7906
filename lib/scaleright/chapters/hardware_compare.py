"""What the chapter on the accelerator for a workload shows: the answer, the ranking, and what tells
chips apart.
"""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.architecture import Transformer
from scaleright.charts.displays import Display
from scaleright.decisions import hardware_choice as choice
from scaleright.decisions import hardware_hours, hardware_ranking
from scaleright.decisions.hardware_candidates import named
from scaleright.ops import where
from scaleright.quantity import Quantity, given
from scaleright.quantity.rows import Row
from scaleright.ranges import Ends, moved


def answer(
    case: SimpleNamespace,
    shape: Transformer,
    best: choice.Cheapest,
    low: Any,
    high: Any,
    slow: Row,
) -> Display:
    """The cheapest chip for the workload, and the next.

    Parameters
    ----------
    low, high : ends of its price [USD per million tokens]
    slow : row of `slowdowns`
    """
    winner, cost, runner_up, next_cost = best.chip, best.usd, best.next_chip, best.next_usd
    chips = where(best.fit.chips == 1, "1 chip", charts.phrase("{best.fit.chips:whole} chips"))
    as_of = where(winner == "", "none", best.as_of + " (rents)")
    then = charts.phrase(" Next comes the {runner_up} at {next_cost:usd}.")
    then = where(runner_up == "", "", then)
    alone = where(best.fit.binds == "one chip", " One chip is enough.", "")
    binds = charts.phrase(" What sets the number of chips: {best.fit.binds}.")
    pace = where(alone == "", binds, alone)
    span = charts.phrase("{low:usd} to {high:usd} per million tokens (90 %)")
    span = where(winner == "", "none", span)
    refusal = choice.why_none(shape, case.context)
    return charts.answer_card(
        "For {case.model} {case.task} at {case.tokens_per_s:whole} tokens a second, the"
        " <strong>{winner}</strong> is cheapest: <strong>{cost:usd}</strong> per million tokens, on"
        " {chips}.{then}{pace}",
        provided=winner != "",
        otherwise="For {case.model} {case.task} at {case.tokens_per_s:whole} tokens a second,"
        " {refusal}.",
        range="{span}",
        as_of="{as_of}",
        model_error="{slow.judged}; the middle is counted in",
        headline="usd_per_million",
        quantities={
            "usd_per_million": (cost, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "step_seconds": (best.fit.step_s, "duration"),
        },
    )


def ranking(best: choice.Cheapest, fit: choice.Fit, price: Any) -> Any:
    """The price of a million tokens on each chip, as a chart [USD]."""
    chips_said = where(fit.chips == 1, "1 chip", charts.phrase("{fit.chips:whole} chips"))
    return charts.show(
        charts.ranking(
            named(),
            "chip",
            price,
            "usd",
            "USD per million tokens",
            color="vendor",
            words=chips_said,
            otherwise="cannot run it",
            along=given("chip", ""),
        ),
        name="ranking",
        alt="Cost of a million tokens by chip, the cheapest on top: {best.chip} at {best.usd:usd}.",
    )


def group(case: SimpleNamespace, work: choice.Work, best: choice.Cheapest) -> Display:
    """What one copy takes, how a group runs it, and what the source says."""
    held, fit = work.least_bytes, best.fit
    group = where(fit.group == 1, "1 chip", charts.phrase("{fit.group:whole} chips"))
    sequences = where(fit.batch == 1, "1 sequence", charts.phrase("{fit.batch:whole} sequences"))
    rule = choice.source_rule(case.task == "training", held, case.latency_ms > 0)
    agrees = where(choice.agrees(rule, best.chip), "agrees", "disagrees")
    return charts.sentence(
        "One copy of the model and one sequence take <strong>{held:si B}</strong> of memory. A"
        " group of <strong>{group}</strong> works on {sequences}, and a step takes"
        " {fit.step_s:duration}. All chips together cost {fit.usd_per_hour:usd} an hour."
        " The source's rule for such a workload is the {rule}, which {agrees} with the computed"
        " answer.",
        provided=best.chip != "",
        otherwise="One copy of the model and one sequence take <strong>{held:si B}</strong> of"
        " memory. The source's rule for such a workload is the {rule}; nothing considered here can"
        " run it.",
    )


def plane(case: SimpleNamespace, best: choice.Cheapest, listed: pd.DataFrame) -> Any:
    """The price of arithmetic against that of bandwidth, a dot for each chip that is listed."""
    across, up = hardware_hours.ARITHMETIC, hardware_hours.BANDWIDTH
    titles = ["USD per PFLOP/s reached and hour", "USD per TB/s and hour"]
    dots, money = hardware_hours.sold_by_vendor(listed), ["usd", "usd"]
    shown = charts.show(
        charts.scatter(
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
        "Dense BF16: the datasheet, the best measured matrix product, and USD per PFLOP/s and hour"
        " by each",
        formats=dict.fromkeys(("peak", "measured"), "si FLOP/s") | {"share": "percent"},
        name="peak-and-measured",
    )


def price_of_latency(case: SimpleNamespace, price: Any, leaders: Iterable[str]) -> Any:
    """The price of a million tokens against the limit on the time of one, a line for each of these
    chips [USD].
    """
    limits = [round(4 * 1.15**step, 2) for step in range(29)]
    grid = pd.MultiIndex.from_product([leaders, limits], names=["chip", "latency_ms"])
    return charts.show(
        charts.lines(
            grid.to_frame(index=False),
            "latency_ms",
            "chip",
            "usd",
            "limit on the time of a token [ms]",
            "USD per million tokens",
            value=price,
            log_x=True,
            log_y=True,
            along=(given("chip", ""), case.latency_ms),
        ),
        name="latency",
        alt="Price of a million tokens against the limit on the time between tokens, a line for"
        " each chip: it falls as the limit is relaxed, and begins where a server keeps it.",
    )


def energy(joules: Any, most: int) -> Any:
    """The energy of arithmetic on so many chips at most, as a chart [J/TFLOP]."""
    up, along = "joules per TFLOP of BF16 at the power limit", given("chip", "")
    return charts.show(
        charts.ranking(named(), "chip", joules, "number 2", up, "segment", most=most, along=along),
        name="energy",
        alt="Energy of a TFLOP by chip at its power limit, the least on top.",
    )


def cards() -> Display:
    """Consumer cards beside data-center chips."""
    return charts.table(
        hardware_hours.cards_beside_chips(),
        "The source's pair, and five cards that match an H100 in arithmetic: three years without a"
        " pause at $0.10 per kWh",
        formats={"FP16, FP32 sums": "si FLOP/s", "bandwidth": "si B/s"}
        | dict.fromkeys(("power [W]", "energy [kWh]"), "whole"),
        name="power",
    )


def cards_in_short() -> Display:
    """The same in a sentence."""
    return charts.sentence(hardware_hours.cards_in_short())


def criteria(rows: pd.DataFrame, price: Quantity) -> Display:
    """What the source says to look at, beside what it comes to.

    Parameters
    ----------
    rows : of `hardware_criteria.criteria`
    price : on whose controls they would depend
    """
    told = charts.table(rows, "Selection criteria, computed", name="criteria")
    return charts.at_defaults(told, price)


def orders(tested: pd.DataFrame) -> Display:
    """How well prices by the datasheet order chips.

    Parameters
    ----------
    tested : from `hardware_ranking.criteria_tested`
    """
    return charts.table(
        tested,
        "Pairs of chips that each criterion puts in the order measured, and workloads whose best"
        " chip it names",
        formats=dict.fromkeys(("of pairs", "of workloads"), "percent"),
        headers={"right": "pairs in order", "best": "best named"},
        name="ranking-tested",
    )


def orders_in_short(tested: pd.DataFrame) -> Display:
    """The same in a sentence."""
    return charts.sentence(hardware_ranking.order_in_short(tested))


def speeds(rows: pd.DataFrame, model: str, price: Quantity) -> Display:
    """Published speeds of a model beside those computed.

    Parameters
    ----------
    rows : of `hardware_criteria.published_speeds`
    price : on whose controls they would depend
    """
    if rows.empty:
        words = f"Nobody published the throughput of {model} on several chips."
        return charts.at_defaults(charts.sentence(words), price)
    told = charts.table(
        rows,
        f"Tokens per second of one chip: {model}, published and computed; a dash where the chip"
        " cannot run it as asked",
        formats=dict.fromkeys(("prompt", "answer", "measured", "computed"), "whole")
        | {"measured over computed": "number 2"},
        name="speeds",
    )
    return charts.at_defaults(told, price)


def swings(ends: Mapping[str, Ends], price: Any, unsure: Any, first: str) -> Any:
    """What moves the price of a million tokens on the chapter's chip.

    Parameters
    ----------
    price, unsure : of a million tokens on this chip, as it is, and with inputs that move [USD]
    """
    most = moved(unsure, ends)[0].name
    return charts.show(
        charts.tornado(ends, price, "usd", f"USD per million tokens on {first}", result=unsure),
        name="tornado",
        alt=f"What moves the price of a million tokens on {first}: most of all {most}.",
    )


def training(who: str, usd: float, many: float, binds: str) -> Display:
    """Which chip would train the model, and why that one."""
    return charts.sentence(
        f"The {who}, for {charts.say(usd, 'usd')} a million tokens on {many:g} chips: {binds} sets"
        " their number, because training reads each weight for thousands of tokens at once, so that"
        " cheap arithmetic wins and bandwidth hardly counts."
    )


def small_model(who: str, usd: float, group: float) -> Display:
    """Which chip a model takes that fits a single one, and why that one."""
    return charts.sentence(
        f"The {who} is cheapest at {charts.say(usd, 'usd')} a million tokens, in groups of"
        f" {group:g}: what fits one card needs no fabric, and cards without one are the cheapest"
        " bandwidth."
    )


def bought(who: str, usd: float, many: float) -> Display:
    """Which chip is cheapest if it is bought, and why the price falls."""
    return charts.sentence(
        f"The {who}, for {charts.say(usd, 'usd')} a million tokens on {many:g} chips: owning takes"
        " the cloud's margin out of every hour, and pays if the chips work for years."
    )
