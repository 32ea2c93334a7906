"""What the chapter `architecture_bets` shows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.architecture_bets import bets
from scaleright.chapters.architecture_bets import evidence as bets_served
from scaleright.chapters.architecture_bets import evidence as chip_gains
from scaleright.chapters.architecture_bets.bets import Bets
from scaleright.charts import Controls, Display
from scaleright.charts.market import spread
from scaleright.information import Choice
from scaleright.market import PaidHour
from scaleright.mlperf import drift
from scaleright.ops import first_case, where
from scaleright.quantity import Quantity, look_up

NO_DEARER = 5e-4
"""A regret that is said to be none [1]."""


HURRIES = {"Offline": "no limit", "Server": "a loose limit", "Interactive": "a tight limit"}
"""What each scenario of MLPerf limits latency to, in words."""


def controls(declared: Any) -> Controls:
    """The controls of the page."""
    return charts.controls(declared).follow("term", bets.terms(), committed_ratio="committed_ratio")


def _refusal(case: Any, found: Bets) -> Any:
    """Why there is no bet to compute."""
    apart = charts.phrase(
        "on one kind of model no MLPerf round has both the {case.bet} and the {case.rival};"
        " choose other chips or a looser limit on latency"
    )
    same = case.bet == case.rival, "choose two different chips"
    return first_case([same, (~found.priced, found.unpriced)], apart)


def answer(
    case: Any,
    found: Bets,
    sure: Choice,
    best: Quantity,
    regret: Quantity,
    too_dear: Quantity,
    flip: Quantity,
) -> Display:
    """The answer card: whether a chip is cheapest throughout, and the best bet.

    sure : which of the two is the better bet [USD/year]
    regret, too_dear : of the best bet, and of the safest at worst [1]
    flip : odds of mixtures at which the two chips cost the same [1]
    """
    mixture, dense, images = (found.common_rounds[kind] for kind in ("mixture", "dense", "images"))
    on_mixture, on_dense, on_images = map(found.compared_on, ("mixture", "dense", "images"))
    premium, either = found.premium, " (either may be cheaper)"
    pictures = where(images.compared, charts.phrase(" and {images.gain:number} on {on_images}"), "")
    mixture_open, dense_open = (
        where(found.either(kind), either, "") for kind in ("mixture", "dense")
    )
    both = sure.cost + sure.other > 0
    likely, known = charts.odds(sure, both, "the " + found.cheaper.now, " a year")
    unmeasured = " One of them was not measured on all that may come."
    known = where(both, known, unmeasured) + bets.seller(case)[1]
    spread = charts.phrase(
        " Nine times in ten the work is {mixture.low:number} to {mixture.high:times}{mixture_open}"
        " and {dense.low:number} to {dense.high:times}{dense_open}."
    )
    some, hurry = where(too_dear > 1e-9, "No", "One"), look_up(HURRIES, case.scenario)
    dearer = where(regret < NO_DEARER, "0 %", charts.say(regret, "percent"))
    refusal, (bet_hour, rival_hour) = _refusal(case, found), found.paid
    unserved, instead = bets_served.refusal(case)
    return charts.answer_card(
        "At {case.mixture_probability:percent} odds of mixtures of experts, bet on the {best}.",
        "{dearer}",
        "dearer than if you knew which models will come",
        "{likely}",
        "{some} chip is cheapest on every kind of model that may come.",
        "With {hurry} on latency, one {case.bet} does {mixture.gain:number} times the work of one"
        " {case.rival} on {on_mixture}, {dense.gain:number} on {on_dense}{pictures}, for"
        " {premium:number} times the price.{spread}{known}",
        provided=found.possible,
        otherwise="There is no bet to compute: {refusal}.",
        as_of="MLPerf {mixture.in_round} and {dense.in_round}; {bet_hour.age} (rent of the"
        " {case.bet}), {rival_hour.age} (of the {case.rival})",
        model_error="from round to round the ratio of two chips moves by up to a factor of"
        f" {drift('mixture of experts'):.2f} (90 %)",
        headline="regret",
        quantities={"regret": (regret, "percent"), "flip": (flip, "percent")}
        | {"bet_cheaper_probability": (sure.probability, "percent")}
        | {"expected_loss_usd_per_year": (sure.expected_loss, "usd")}
        | {"best_bet": (best.value, "")}
        | {name: (value, "number") for name, value in found.figures.items()},
        besides=[(~unserved, "{instead}")],
    )


def regrets(case: Any, found: Bets) -> Display:
    """A chart of what each bet costs more than knowing in advance against the odds, beneath the
    controls of the answer.
    """
    odds, dear = "odds of mixtures, over dense models", "dearer than knowing in advance"
    chances, now = {"odds": [k / 20 for k in range(21)]}, case.mixture_probability
    look = {"x_kind": "percent", "along": now}
    shown = charts.show(
        charts.lines(chances, "odds", found.regrets, "percent", odds, dear, **look)
        + charts.rule(now, odds, "your odds", foot=True),
        name="regret",
        alt="What each bet costs more than knowing in advance, against the odds of mixtures of"
        " experts.",
    )
    return charts.beneath_strip(shown, *[*vars(case)][:12])


def thesis(racks: pd.DataFrame, rack_premium: Quantity) -> Display:
    """A chart of gains of a rack's chip over its sibling in a server, with what it costs more.

    racks, rack_premium : `thesis`, and the rent of one over that of the other [1]
    """
    title = "work of a chip in an NVL72 over its sibling in a server of eight"
    dots = {"color": "scenario", "name": "pair", "tips": {"range": "range", "chips": "chips"}}
    priced = charts.phrase("price: {rack_premium:number} times")
    return charts.show(
        spread(racks[chip_gains.SEEN], "name", "gain", "number", title, log=True, **dots)
        + charts.rule(rack_premium, title, priced, log=True),
        name="thesis",
        alt="Gains of a chip in an NVL72 over the same chip in a server of eight, a row for each"
        " model.",
    )


def racks_summary() -> Display:
    """A table of those gains by limit on latency and kind of model."""
    gains = chip_gains.rack_summary().rename(columns={"hurry": "latency limit"})
    limits = {"in a hurry": "tight", "without": "loose or none"}
    return charts.table(
        gains.assign(**{"latency limit": gains["latency limit"].map(limits)}),
        "Work of a rack's chip over its sibling's in a server, by limit on latency",
        name="racks",
    )


def thresholds(racks: pd.DataFrame, rack_premium: Quantity) -> Display:
    """A folded table of the prices at which racks lose; arguments as for `thesis`."""
    words = "Price of a rack's chip over its sibling's at which the rack loses"
    losing = charts.table(chip_gains.thresholds(rack_premium), words, name="thresholds")
    return charts.folded(losing, f"All {len(racks)} thresholds")


def payoffs(found: Bets) -> Display:
    """The payoff matrix."""
    return charts.table(
        found.table(),
        "What the work costs over the cheapest chip, on the models of the answer. A dash: not"
        " submitted in the round that has both of your chips, or without a listed price",
        name="payoffs",
    )


def commitment(
    case: Any, found: Bets, regret: Quantity, money: Quantity, cost: Quantity, costs: Quantity
) -> Display:
    """Whether to commit, beneath the controls of a commitment.

    regret, money : what the best bet is expected to cost more than knowing in advance [1], [USD]
    cost, costs : what freedom to switch is worth and what it costs, over a committed hour [1]
    """
    extra = where(regret < NO_DEARER, "no more", charts.phrase("{money:usd} more"))
    commit = where(found.flexible, "do not commit", "commit")
    said = charts.sentence(
        "Over {case.term} the best bet is expected to cost {extra} than if you knew which models"
        " will come. An hour that you can give back is worth at most {cost:number} times a"
        " committed hour and costs {costs:number} times as much: {commit}.",
        provided=found.possible,
        otherwise="An hour that you can give back costs {costs:number} times a committed hour.",
    )
    return charts.beneath_strip(said, "term", "committed_ratio", "spend_usd_per_year")


def listed_rents(hours: Mapping[str, PaidHour]) -> Display:
    """A folded table of the rents."""
    words = "An hour of each chip under your contract from your seller"
    paid = charts.table(bets.rent_table(hours), words, name="rents")
    return charts.folded(paid, "Where the rents come from")


def generations(case: Any, every: pd.DataFrame) -> Display:
    """A chart of the gains of each chip over the one before, beneath the controls of it."""
    up = "times as much as the chip before"
    dots = {"color": "kind", "name": "benchmark", "tips": {"range": "range"}, "log": True}
    of = chip_gains.per_metric(case)
    rows = {"only": of.drawn, "along": of.along}
    shown = charts.show(
        spread(every, "pair", of.gain, "number", up, **dots, **rows, most=8),
        name="generations",
        alt="Gain of each chip over the one before per {case.metric}, {case.scenario}, a dot for"
        " each model.",
    )
    return charts.beneath_strip(shown, "metric", "scenario", "contract", "seller")


def resources(held: pd.DataFrame, within: int, many: int) -> Display:
    """A table of what each chip has more of than the one before, and what it did more.

    within, many : gains between what it has more of, and all
    """
    shown = charts.table(
        held,
        "What the chip has more of (arithmetic in the smallest format of each, chips in one"
        f" domain), and what it did more, over all scenarios: {within} of {many} gains lie between"
        " bandwidth and arithmetic, within what ratios move from round to round",
        formats=dict.fromkeys(held.columns[1:5], "number 2"),
        name="resources",
    )
    return charts.folded(shown, "What each chip has more of, and what it gained")


def domains(case: Any, limit: Quantity, share: Mapping[str, Quantity], even: Quantity) -> Display:
    """A chart of what one chip does over the other against the time of a token, beneath the
    controls of the requests.

    limit, share : most time of a token [ms], and by kind of model the rival's work over the bet's
    even : the share at which both cost the same [1]
    """
    of, pace = "rival's chip over the bet's", "time per token, at most [ms]"
    paces = {"ms": [round(2 * 1.09**step, 3) for step in range(59)]}
    shown = charts.show(
        charts.lines(paces, "ms", share, "number 2", pace, of, log_x=True, along=limit)
        + charts.rule(even, of, "as much for its price", horizontal=True),
        name="domains",
        alt="By the model of serving, the work of a {case.rival} over that of a {case.bet} against"
        " the time a token may take, for {case.mixture} and {case.dense}.",
    )
    return charts.beneath_strip(shown, "precision", "input_tokens", "output_tokens")


def served(within_20_ms: pd.DataFrame) -> Display:
    """A table of what each of the two does with each model within 20 ms a token, see
    `model.served_table`.
    """
    shown = charts.table(
        within_20_ms,
        "What one chip does within 20 ms a token by the model of serving, at your rents with every"
        " paid hour used",
        {"price of a million": "usd", "chips of an engine": "whole"},
        name="served",
    )
    return charts.folded(
        shown, "Both chips at 20 ms a token, and what their formats cost in quality"
    )


def worth_of_knowing(case: Any, sure: Choice) -> Display:
    """A chart of what it would save a year to know each gain before one of the two is taken."""
    ways = charts.phrase("the {case.bet} and the {case.rival}")
    return charts.worth_of_knowing(sure.worth(), "a year", sure, ways)


def beside_measured(case: Any, seen: pd.DataFrame, times_off: pd.Series) -> Display:
    """A chart of gains by the model of serving against measured ones, at the chapter's defaults.

    seen, times_off : the gains, and the factors from `times_off_by`
    """
    off = times_off.map("{:.2f}".format)
    dots = seen[["name", "gain", "served"]], "gain", "served", "name", "times as much per chip"
    compared = charts.show(
        charts.predicted_vs_measured(*dots, name_worst=1),
        name="measured",
        alt="Gains by the model of serving against measured gains per chip: most lie near one, new"
        " generations below what was measured, racks under a tight limit far above one.",
        caption=f"In the median of {len(seen)} gains, the model of serving is off by a factor of"
        f" {off.served} (of racks over servers {off.racks}), the ratio of bandwidths by"
        f" {off.bandwidth}, the ratio of arithmetic by {off.arithmetic}, and no gain at all by"
        f" {off.none}.",
    )
    return charts.at_defaults(compared, case.input_tokens, case.output_tokens)


def switches(odds: pd.DataFrame) -> Display:
    """Solution 1: a table of the odds at which each chip costs as much as the bet."""
    words = "Odds at which each chip costs as much as your bet"
    return charts.table(odds, words, {"odds of mixtures": "percent"}, name="switches")


def within_20_ms(case: Any, shares: pd.DataFrame) -> Display:
    """Solution 3: a table of what a server's chip does over a rack's, on each model, at the
    chapter's defaults.
    """
    words = "Work of a chip over that of another within 20 ms a token, by the model of serving"
    shown = charts.table(shares, words, name="quick")
    return charts.at_defaults(shown, case.input_tokens, case.output_tokens)
