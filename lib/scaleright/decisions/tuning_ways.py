"""Every way to pay for the tuning of a model, as quantities: which accelerator, how many of it, and
rented, bought or there already. The command looks at all at once, a page under its controls.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import accelerator, remembered
from scaleright.costs.owned_hours import OwnedHour, owned_terms
from scaleright.costs.platforms import CARDS
from scaleright.decisions.build_buy import arrival_days, bought_as
from scaleright.decisions.plan_runs import (
    BUY,
    LONGEST,
    SERVER_CHIPS,
    SPOT,
    USUAL,
    bought_for,
    installed_price,
    running_share,
    signed,
    spread_of_luck,
)
from scaleright.decisions.plan_workload import STAYS
from scaleright.decisions.post_training import Tables
from scaleright.decisions.post_training_choice import OFFERED, Bill
from scaleright.decisions.post_training_evidence import real_runs
from scaleright.decisions.two_chips import errors_in_common, spread_apart
from scaleright.formulas import lookup
from scaleright.information import spread_between
from scaleright.ops import exp, first_case, item, maximum, minimum, normal_quantile, sqrt, where
from scaleright.quantity import choose, given, look_up, over, pick
from scaleright.quantity.lists import place_of_least
from scaleright.training.slowdowns import architecture_fitted
from scaleright.units import HOURS_PER_DAY, figure

PLATFORMS = (
    "A100 SXM 80GB",
    "H100 SXM",
    "H200 SXM",
    "B200",
    "B300",
    "GB300",
    "MI300X",
    "MI325X",
    "MI350X",
    *CARDS,
)
"""Accelerators that the chapter `rlhf_cost` compares."""
OWN, DEMAND = "own", USUAL["contract"]
HOWS = (OWN, BUY, DEMAND, SPOT)
"""How chips are paid: they are there already, are bought, or rented until further notice or until
somebody pays more.
"""
SHORTEST_HOURS = 1.0
"""Of a run on more chips than the fewest that hold it: nobody takes them for minutes [h]."""
NAN = float("nan")


@lookup
def hour_of_own(chip: str, chips: int, buys: bool) -> float:
    """What an hour of a chip of one's own costs [USD/h]: with its part of the price where it is
    bought, and that of those which are bought beside it; else what running it does.

    >>> 0 < hour_of_own("H100 SXM", 8, False) < hour_of_own("H100 SXM", 8, True) < 4
    True
    """
    share = bought_for(chip, chips) / chips if buys else running_share(chip)
    return figure(_whole_hour(chip) * share, 4)


@remembered
def _whole_hour(chip: str) -> float:
    return OwnedHour.of(owned_terms(chip, "home"), training=True).usd


@lookup
@remembered
def _terms() -> dict[tuple[str, int], dict[str, float]]:
    """What so many of a chip cost that are one's own, and how luck spreads their time on spot."""
    often = signed(SPOT)["chip_hours_per_interruption"]
    return {
        (chip, chips): {
            "run_usd_per_hour": hour_of_own(chip, chips, buys=False),
            "buy_usd_per_hour": hour_of_own(chip, chips, buys=True),
            "bought": float(bought_for(chip, chips)),
            "price": installed_price(chip),
            "luck": spread_of_luck(max(chips, SERVER_CHIPS), often),
        }
        for chip, chips in product(PLATFORMS, OFFERED)
    }


@dataclass(frozen=True)
class PaidTuning:
    """A run that tunes a model, as it is paid.

    usd, days : what machines cost [USD], of chips that are there already what running them does,
        and how long it takes [d]; NaN where it does not run so, or for longer than `LONGEST`
    spread : standard deviation of the logarithm of its time [1]
    cash, bought : what a budget has to pay, with people's labels and the whole price of chips that
        are bought [USD]; how many these are, 0 where none is [1]
    bill : of the chapter
    """

    usd: Any
    days: Any
    spread: Any
    cash: Any
    bought: Any
    bill: Bill

    @classmethod
    def of(cls, tables: Tables, case: Any, chip: Any, how: Any) -> Self:
        """That of a case on a platform; how : one of `HOWS`."""
        own, buys = choose(_terms(), chip, case.chips), how == BUY
        rent = where(how == OWN, own.run_usd_per_hour, 0.0)
        hours = {
            "accelerator": chip,
            "contract": where(how == SPOT, SPOT, DEMAND),
            "rent_usd_per_hour": where(buys, own.buy_usd_per_hour, rent),
        }
        bill = Bill.of(tables, SimpleNamespace(**vars(case) | hours), chip)
        days = where(bill.days <= LONGEST, bill.days, NAN)
        usd = where(bill.done & (days > 0), bill.cost.machine_usd, NAN)
        bought = where(buys, own.bought, 0.0)
        cash = where(buys, maximum(bought * own.price, usd), usd) + bill.cost.labels_usd
        real = real_runs()
        luck = where(how == SPOT, own.luck, 0.0)
        spread = sqrt(spread_between(real.low, real.high) ** 2 + luck**2)
        return cls(usd, days, spread, cash, bought, bill)


def apart(tables: Tables, case: Any, chips: tuple[Any, Any], how: Any) -> Any:
    """Spread of the ratio of the costs of a run on two platforms, as the chapter has it; of chips
    that are bought, of their prices [1].
    """
    form = case.rollout_precision
    trusts = [tables.engines.rows.row(case.model, chip, form) for chip in chips]
    mine, other = (spread_between(of.low, of.high) for of in trusts)
    shared = {kind: of["common"] for (_, kind), of in errors_in_common(("inference",)).items()}
    common = look_up({name: shared[kind] for name, kind in tables.kinds.items()}, case.model)
    spreads = {name: bought_as(name)["price_spread"] for name in PLATFORMS}
    priced = (look_up(spreads, chip) ** 2 for chip in chips)
    return where(how == BUY, sqrt(sum(priced)), spread_apart(mine, other, common))


@dataclass(frozen=True)
class TuningWays:
    """Every way to tune a model, the one that is taken and what is beside it.

    place, there : of the one that is taken; whether any keeps the limits
    how, chip, chips : how its chips are paid, one of `HOWS`, which they are and how many learn
    usd, cash, days, spread : of the one that is taken, see `PaidTuning`
    case, paid : the case on it, and what it costs
    platforms : how many run it at all
    each : what has to be paid for the cheapest of each of `HOWS`, NaN where none is open [USD]
    beside : others, by what they are, see `_beside`
    change : what would have to change where none keeps the limits
    """

    place: Any
    there: Any
    how: Any
    chip: Any
    chips: Any
    usd: Any
    cash: Any
    days: Any
    spread: Any
    case: SimpleNamespace
    paid: PaidTuning
    platforms: Any
    each: Mapping[str, Any]
    beside: Mapping[str, "Other"]
    change: "Changes"

    @classmethod
    def of(cls, tables: Tables, case: Any, limits: Any) -> Self:
        """Those of a case.

        case : as of `decisions.post_training.job`, but for the chips and how they are paid
        limits : `deadline_days`, `deadline_chance`, `budget_usd`, `data`, `owned`, `owned_chips`
        """
        hows, names, sizes = zip(*product(HOWS, PLATFORMS, OFFERED), strict=True)
        stays = limits.data == STAYS
        figures = _figures(tables, case, limits, (hows, names, sizes))
        fewest = _fewest(figures["days"])
        at = given("tuning_at", 0)
        own = {
            at: list(range(len(hows))),
            given("tuned_chip", PLATFORMS[0]): list(names),
            given("tuned_chips", OFFERED[0]): list(sizes),
            given("tuned_how", DEMAND): list(hows),
            given("tuned_seen", True): [architecture_fitted(accelerator(name)) for name in names],
        }
        row = SimpleNamespace(**dict(zip(("at", "chip", "chips", "how", "seen"), own, strict=True)))
        row.few = row.chips == pick(fewest, row.chip)
        for name, of in figures.items():
            setattr(row, name, item(of, at))
        kept = over("tunings_kept", own, _kept(row, limits), limits.weighed)
        mine, every = place_of_least(kept["own"]), place_of_least(kept["within"])
        found = where(stays & (mine >= 0), mine, every)
        spare = place_of_least(kept["cash"])
        place = where(found >= 0, found, maximum(spare, 0))
        how, chip, chips = (item(of, place) for of in (hows, names, sizes))
        taken = SimpleNamespace(place=place, how=how, chip=chip, chips=chips)
        usd, cash, days, spread = (item(figures[of], place) for of in _FIGURES[:4])
        on_it = SimpleNamespace(**vars(case) | {"chips": chips})
        runs = sum(where(of > 0, 1, 0) for of in fewest.values())
        each = {of: _cheapest(kept[f"cash_{name}"], figures) for of, name in _NAMES.items()}
        return cls(
            place,
            found >= 0,
            how,
            chip,
            chips,
            usd,
            cash,
            days,
            spread,
            on_it,
            PaidTuning.of(tables, on_it, chip, how),
            where(how == OWN, 1, runs),
            each,
            _beside(row, own, kept, taken, figures, limits.weighed),
            Changes.of(kept, figures),
        )


_NAMES = {OWN: "own", BUY: "buy", DEMAND: "demand", SPOT: "spot"}
"""Of `HOWS`, as a column."""
_FIGURES = ("usd", "cash", "days", "spread", "least_share", "hours")


def _figures(tables: Tables, case: Any, limits: Any, rows: tuple) -> dict[str, Any]:
    """What each way costs and takes, as lists over ways."""
    how, chip, chips = (
        given(name, first)
        for name, first in zip(
            ("tuning_how", "tuning_chip", "tuning_chips"),
            (DEMAND, PLATFORMS[0], OFFERED[0]),
            strict=True,
        )
    )
    mine = (limits.owned == chip) & (chips <= limits.owned_chips)
    there = mine | (how != OWN)
    one = PaidTuning.of(tables, SimpleNamespace(**vars(case) | {"chips": chips}), chip, how)
    share = _possible_share(case, one, limits, how)
    wanted = {"usd": where(there, one.usd, NAN), "cash": one.cash, "days": one.days}
    wanted |= {"spread": one.spread, "least_share": share, "hours": one.bill.chip_hours}
    return over(
        "tunings",
        dict(zip((how, chip, chips), map(list, rows), strict=True)),
        wanted,
        limits.weighed,
    )


def _possible_share(case: Any, one: PaidTuning, limits: Any, how: Any) -> Any:
    """How much of the work a way does within the limits [1], 0 or less where none."""
    bill, judged = one.bill, (case.method == "grpo") | (case.method == "ppo")
    per_day = bill.job.chips * HOURS_PER_DAY / bill.beyond
    before = bill.job.reward_hours / per_day
    before_usd = bill.cost.reward_model_usd * bill.beyond
    labels_usd = where(judged, bill.cost.labels_usd, 0.0)
    z = normal_quantile(limits.deadline_chance)
    left = (limits.deadline_days - where(how == BUY, arrival_days(z), 0.0)) / exp(z * one.spread)
    soon = (left - before) / maximum(one.days - before, 1e-12)
    fixed = before_usd + labels_usd
    paid = (limits.budget_usd - fixed) / maximum(one.cash - fixed, 1e-12)
    bought = where(one.cash <= limits.budget_usd, soon, 0.0)
    return minimum(where(how == BUY, bought, minimum(soon, paid)), 1.0)


def _fewest(days: Any) -> dict[str, Any]:
    """The fewest chips of each platform on which a run gets done, 0 where there are none."""
    first = HOWS.index(DEMAND) * len(PLATFORMS) * len(OFFERED)
    found = {}
    for number, name in enumerate(PLATFORMS):
        here = first + number * len(OFFERED)
        cases = [(item(days, here + place) > 0, size) for place, size in enumerate(OFFERED)]
        found[name] = first_case(cases, 0)
    return found


def _kept(row: Any, limits: Any) -> dict[str, Any]:
    """Costs of a way under the limits, NaN where it does not keep them, as `costs` compares them in
    `plan.limits`: with what has to be paid where chips would have to be bought.
    """
    z = normal_quantile(limits.deadline_chance)
    lasts = row.few | (row.days * HOURS_PER_DAY >= SHORTEST_HOURS) | (row.how == BUY)
    rents, stays = (row.how == DEMAND) | (row.how == SPOT), limits.data == STAYS
    could = (row.usd > 0) & lasts
    there = could & where(rents, ~stays, where(row.how == BUY, stays, row.usd > 0))
    wait = where(row.how == BUY, arrival_days(z), 0.0)
    sure_days = wait + row.days * exp(z * row.spread)
    soon, paid = sure_days <= limits.deadline_days, row.cash <= limits.budget_usd
    cost = row.usd + where(row.how == BUY, row.cash, 0.0)
    trusted = there & (row.seen | (row.how == OWN))
    within = where(trusted & soon & paid, cost, NAN)
    found = {
        "within": within,
        "own": where(row.how == OWN, within, NAN),
        "leaves": where(could & row.seen & rents & soon & paid, row.usd, NAN),
        "unseen": where(there & ~row.seen & soon & paid & (row.how != OWN), cost, NAN),
        "cash": where(trusted, row.cash, NAN),
        "sure_days": where(trusted & paid, sure_days, NAN),
        "cash_soon": where(trusted & soon, row.cash, NAN),
        "work": where(trusted, -1.0 * row.least_share, NAN),
        "quickest": where(trusted, sure_days, NAN),
    }
    unsold = (row.how == SPOT) & ~(row.usd > 0) & lasts & ~stays & row.seen & soon
    found["unsold_hours"] = where(unsold, row.hours, NAN)
    for how, name in _NAMES.items():
        found[f"cash_{name}"] = where(row.how == how, where(trusted & soon, row.cash, NAN), NAN)
    for days in SOONER:
        sooner = trusted & (sure_days - wait <= days)
        found[f"within_{days}"] = where(sooner, row.usd, NAN)
    return found


SOONER = (1, 7)
"""Days within which the answer is looked at again [d]."""


def _cheapest(values: Any, figures: Mapping[str, Any]) -> Any:
    """What has to be paid for the least of some ways [USD]; NaN where there is none."""
    place = place_of_least(values)
    return where(place >= 0, item(figures["cash"], maximum(place, 0)), NAN)


@dataclass(frozen=True)
class Other:
    """Another way: whether there is one, how its chips are paid, which, how many, what it costs
    [USD], as the plan compares it and machines alone, and how long it takes [d].
    """

    there: Any
    how: Any
    chip: Any
    chips: Any
    cost: Any
    usd: Any
    cash: Any
    days: Any

    @classmethod
    def of(cls, values: Any, figures: Mapping[str, Any]) -> Self:
        """The least of some."""
        hows, names, sizes = zip(*product(HOWS, PLATFORMS, OFFERED), strict=True)
        place = place_of_least(values)
        at = maximum(place, 0)
        told = (item(of, at) for of in (hows, names, sizes, values))
        figures_ = (item(figures[of], at) for of in ("usd", "cash", "days"))
        return cls(place >= 0, *told, *figures_)


def _beside(
    row: Any,
    own: Mapping,
    kept: Mapping,
    taken: Any,
    figures: Mapping,
    when: Any,
) -> dict[str, Other]:
    """Ways beside the one that is taken: the cheapest on another platform within the limits, half
    and twice the chips, one that no published run was on, one within days, and on demand; and that
    on spot with the fewest chip-hours, its cost, which nobody lists for its chip.
    """
    alike = (row.how == OWN) == (taken.how == OWN)
    here = alike & (row.chip == taken.chip)
    within = item(kept["within"], row.at)
    wanted = {
        "rival": where(alike & (row.chip != taken.chip), within, NAN),
        "half": where(here & (2 * row.chips == taken.chips), row.usd, NAN),
        "twice": where(here & (row.chips == 2 * taken.chips), row.usd, NAN),
        "steady": where(row.how == DEMAND, within, NAN),
    }
    for days in SOONER:
        wanted[f"within_{days}"] = where(alike, item(kept[f"within_{days}"], row.at), NAN)
    found = over("tunings_beside", own, wanted, when)
    lists = {name: found[name] for name in wanted} | {"unseen": kept["unseen"]}
    lists["unsold_hours"] = kept["unsold_hours"]
    return {name: Other.of(of, figures) for name, of in lists.items()}


@dataclass(frozen=True)
class Changes:
    """What would have to change where no way keeps the limits.

    cheapest : the way that costs least, whatever its time
    quickest, quickest_days : that which is done soonest, whatever its cost, as surely as asked [d]
    longer, longer_days : the way within the budget, and the days that it needs [d]
    dearer : the way within the deadline
    fewer, share : the way that does the most of the work within both, and how much of it [1]
    leaves : the cheapest that is rented, if the data might leave
    """

    cheapest: Other
    quickest: Other
    quickest_days: Any
    longer: Other
    longer_days: Any
    dearer: Other
    fewer: Other
    share: Any
    leaves: Other

    @classmethod
    def of(cls, kept: Mapping, figures: Mapping) -> Self:
        """Those of ways under limits."""
        quickest = Other.of(kept["quickest"], figures)
        longer = Other.of(kept["sure_days"], figures)
        fewer = Other.of(kept["work"], figures)
        return cls(
            Other.of(kept["cash"], figures),
            quickest,
            quickest.cost,
            longer,
            longer.cost,
            Other.of(kept["cash_soon"], figures),
            fewer,
            -1.0 * fewer.cost,
            Other.of(kept["leaves"], figures),
        )
