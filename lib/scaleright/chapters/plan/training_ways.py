"""Every way to train a model from the start as quantities that follow a page's controls: platforms,
numbers of chips and batches, rented on demand or on spot, bought, or owned already; by the rules by
which `training` chooses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import model, remembered
from scaleright.chapters.plan.limits import rounded
from scaleright.costs import pretraining
from scaleright.costs.cluster_grid import (
    BATCHES,
    CLUSTERS,
    WAYS,
    Grid,
    chips_at,
    layouts_of,
    steps_of,
)
from scaleright.costs.platform_terms import terms
from scaleright.costs.platforms import cluster_chips
from scaleright.decisions.build_buy import arrival_days
from scaleright.decisions.cluster_efficiency import Setting
from scaleright.decisions.plan_parts import limited
from scaleright.decisions.plan_runs import (
    ALONE,
    FREELY,
    NEAR,
    SPOT,
    USUAL,
    PaidRun,
    early,
    most_tokens,
    signed,
    to_own,
    waiting_share,
)
from scaleright.decisions.plan_workload import LEAST_TOKENS, STAYS
from scaleright.decisions.unlisted_runs import seconds_of_page, step_seconds
from scaleright.formulas import lookup
from scaleright.market import BEST
from scaleright.ops import (
    exp,
    first_case,
    floor,
    item,
    maximum,
    minimum,
    normal_cdf,
    normal_quantile,
    where,
)
from scaleright.quantity import Table, given, least, look_up, over
from scaleright.quantity.lists import place_of_least, word_at
from scaleright.training.layout import training_format

NAN = float("nan")
NONE = "none"
"""The word for owning no chips."""
RENT, BUY, OWN = "rent on demand", "buy", "use what you own"
ON_SPOT = "rent on spot"
PAID = (RENT, ON_SPOT, BUY, OWN)
"""How the chips of a run are paid, in the order of its rows."""
DEADLINES = (7.0, 14.0, 30.0, 60.0, 120.0)
"""Deadlines at which the answer is looked at again [d]."""
FP8 = "FP8"


@lookup
def platforms() -> tuple[str, ...]:
    """The chips of which clusters are built."""
    return tuple(cluster_chips())


@lookup
def grid_of_page(models: Sequence[str]) -> Grid:
    """The fastest steps of models in the format that is usual for each, and in FP8."""
    return Grid.of(models, {name: {training_format(model(name)), FP8} for name in models})


@lookup
def layout_of(models: Sequence[str], case: Any, place: "Place") -> Any:
    """The layout of a run of a case in words, whose model is one of these."""
    words, table = _layouts(tuple(models), case.precision)
    return word_at([*words], item(table.row(case.model, place.chip).layout, place.way))


@remembered
def _layouts(models: tuple[str, ...], precision: str) -> tuple[tuple[str, ...], Table]:
    """The layouts of models in words, each once, and the place of each run's by model and chip."""
    found = {
        (name, chip): of
        for name in models
        for chip, of in layouts_of(name, training_format(model(name), precision)).items()
    }
    words = tuple(dict.fromkeys(text for of in found.values() for text in of))
    places = {text: at for at, text in enumerate(words)}
    return words, Table({key: {"layout": [places[it] for it in of]} for key, of in found.items()})


@dataclass(frozen=True)
class Place:
    """A run by its place among all rows.

    at : its place, that of the first where there is none; there : whether there is one
    chip, chips, way, paid : its platform, number of chips, place among `WAYS`, and place in `PAID`
    bought : chips that are bought for it [1]
    """

    at: Any
    there: Any
    chip: Any
    chips: Any
    way: Any
    paid: Any
    bought: Any

    @classmethod
    def of(cls, place: Any, owned: Any) -> Self:
        """That at a place, -1 for none; owned : the platform that is owned already."""
        there, at = place >= 0, where(place >= 0, place, 0)
        names, each = platforms(), len(WAYS)
        paid = minimum(floor(at / (len(names) * each)), len(PAID) - 1.0)
        listed = word_at([*names], floor(at / each) % len(names))
        known = reduce(or_, (owned == name for name in names), False)
        chip = where(paid == PAID.index(OWN), where(known, owned, names[0]), listed)
        way = at % each
        chips, row = chips_at(way), to_own(chip)
        bought = where(paid == PAID.index(BUY), row.bought(chips), 0.0)
        return cls(at, there, chip, chips, way, paid, bought)

    @property
    def spot(self) -> Any:
        """Whether it is on spot."""
        return self.paid == PAID.index(ON_SPOT)

    @property
    def batch(self) -> Any:
        """Its batch, by name."""
        return word_at([*BATCHES], self.way % len(BATCHES))

    def setting(self, case: Any, grid: Grid, precision: Any, **other: Any) -> Setting:
        """What it has in common with others of its platform and way to pay; other : what else is
        set.
        """
        own = self.paid >= PAID.index(BUY)
        often = "chip_hours_per_interruption"
        values = FREELY | ALONE | USUAL | pretraining.reliability() | other
        values |= {"contract": where(self.spot, SPOT, USUAL["contract"]), "tuning": case.tuning}
        values |= {often: where(self.spot, signed(SPOT)[often], values[often])}
        values |= {"model": case.model, "tokens": case.tokens, "accelerator": self.chip}
        values |= {"precision": precision, "paid": where(own, "own", "rent")}
        return Setting.of(SimpleNamespace(**values), grid, same_loss=True)


@dataclass(frozen=True)
class Relief:
    """A change of what is asked with which it can be done.

    share : how much it changes, over what was asked [1]; NaN where it does not help
    value : of what it changes; place : the run that it gives
    holds : whether that keeps the deadline as surely as is asked, and not only in the middle
    """

    share: Any
    value: Any
    place: Place
    holds: Any = True

    def provided(self, it: Any) -> "Relief":
        """It, where that is so."""
        return replace(self, share=where(it & self.place.there, self.share, NAN))


@dataclass(frozen=True)
class TrainingWays:
    """The runs of a case, and which is taken.

    case : quantities model, tokens, deadline_days, deadline_chance, budget_usd, data, trained_on,
        owned and owned_chips
    precision : the format in which its model is trained
    rows : of each run, see `_figures`
    least : of each of `PAID` the cheapest within the limits
    taken : the run that is taken; where there is none, the cheapest that there is
    there : whether there is one within the limits
    beside : of each run, see `_beside`
    """

    case: Any
    grid: Grid
    precision: Any
    rows: Mapping[str, Any]
    least: Mapping[str, Place]
    taken: Place
    there: Any
    beside: Mapping[str, Any]

    @classmethod
    def of(cls, case: Any, grid: Grid) -> Self:
        """Those of a case; a limit of `FREE` binds nothing: without a deadline more chips are taken
        while they hardly cost more.
        """
        names = {name: training_format(model(name), case.precision) for name in grid.models}
        precision, run = look_up(names, case.model), given("run", 0)
        size = len(platforms()) * len(WAYS)
        every = {run: range(3 * size + len(WAYS))}
        when = vars(case).get("weighed", True)
        rows = over("trained", every, _figures(case, grid, precision, run), when)
        key = "key"
        if not limited(case.deadline_days):
            key, rows = "near_key", rows | over("near", every, _near(case, rows, run), when)
        places = {way: place_of_least(rows[f"{key}_{at}"]) for at, way in enumerate(PAID)}
        cheapest = {way: Place.of(place, case.owned) for way, place in places.items()}
        usd = {way: item(rows["cost"], place.at) for way, place in cheapest.items()}
        usd = {way: where(cheapest[way].there, of, float("inf")) for way, of in usd.items()}
        others = minimum(minimum(usd[RENT], usd[ON_SPOT]), usd[BUY])
        mine = cheapest[OWN].there & ((case.data == STAYS) | (usd[OWN] <= others))
        main = [(usd[way] == others, places[way]) for way in (RENT, ON_SPOT, BUY)]
        there = mine | (others < float("inf"))
        found = where(mine, places[OWN], first_case(main, NAN))
        half, dear = (place_of_least(rows[of]) for of in ("half_usd", "all_cash"))
        found = where(there, found, where(half >= 0, half, dear))
        taken = Place.of(found, case.owned)
        beside = over("beside", every, _beside(case, rows, run, taken), when)
        return cls(case, grid, precision, rows, cheapest, taken, there, beside)

    def seconds(self, name: str, place: Place) -> Any:
        """Seconds of a step of a run on an accelerator that nobody lists, see `unlisted_runs`."""
        if len(self.models) > 1:
            return item(seconds_of_page(self.models).row(self.case.model, name).seconds, place.way)
        way = WAYS[int(place.way.value)]  # of one model, which does not follow controls, that alone
        return step_seconds(self.models[0], name, *way, self.case.precision)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of which one is trained."""
        return tuple(self.grid.models)

    def place(self, column: str, beside: bool = False) -> Place:
        """The run with the least of a column."""
        rows = self.beside if beside else self.rows
        return Place.of(place_of_least(rows[column]), self.case.owned)

    def lifted(self, column: str) -> Place:
        """The run that is taken where a restriction is lifted."""
        return self.place(column if limited(self.case.deadline_days) else f"near_{column}")

    def figure(self, column: str, place: Place) -> Any:
        """A figure of a run."""
        return item(self.rows[column], place.at)

    def many(self, name: str, sold: bool) -> float:
        """How many platforms train a model at all, of those that somebody sells or of all [1]."""
        steps = steps_of(name, training_format(model(name), self.case.precision))
        open_ = [chip for chip, of in steps.items() if np.nanmax(of["compute_s"], initial=0.0) > 0]
        return float(sum(not sold or terms()[chip]["owned"] > 0 for chip in open_))

    @property
    def unsure(self) -> Any:
        """Whether runs are within the limits, but none keeps the deadline as surely as is asked."""
        return ~self.there & self.place("half_days").there

    @property
    def sold(self) -> Any:
        """Whether there is any run at all."""
        return self.there | self.place("all_cash").there

    def changes(self) -> dict[str, Relief]:
        """What would help where nothing is within the limits, by what it changes, in the order of
        names; as `limits` and `training` find it.
        """
        case, cash = self.case, lambda place: self.figure("cash", place)
        longer, soon, fewer, fp8 = map(self.place, ("paid_sure", "soon_cash", "fewer", "fp8"))
        alone = ~longer.there & ~soon.there
        longer, both, later = (self.place(of, True) for of in ("longer", "both", "later"))
        wait = rounded(self.figure("sure", longer), up=True)
        spend, tokens = rounded(cash(soon), up=True), -self.figure("fewer", fewer)
        tokens = rounded(tokens, up=False)
        surely = self.place("surely_cash")
        few_surely = -self.figure("surely_fewer", self.place("surely_fewer"))
        days = maximum(rounded(self.figure("sure", both), up=True), case.deadline_days)
        paid = maximum(rounded(cash(both), up=True), case.budget_usd)
        over = maximum(days / case.deadline_days, paid / case.budget_usd) - 1
        kept, quick = self.chance_of(self.place("half_days")), self.place("half_days")
        after = rounded(self.figure("sure", later), up=True)
        broken, unsure = ~self.there & ~self.unsure, self.unsure
        opened, leaves = self.lifted("open"), self.lifted("leaves")
        known = surely.there & (cash(surely) <= spend)
        in_time, payable = case.deadline_days, case.budget_usd
        less = Relief(case.tokens / tokens - 1, tokens, fewer, few_surely >= tokens)
        return {
            "accelerator": Relief(1.0, NAN, opened).provided(broken & (case.trained_on != BEST)),
            "budget": Relief(spend / payable - 1, spend, soon, known).provided(broken),
            "data": Relief(1.0, NAN, leaves).provided(broken & (case.data == STAYS)),
            "chance": Relief(1 - kept / case.deadline_chance, kept, quick).provided(unsure),
            "both": Relief(over, days, both).provided(broken & alone),
            "deadline": Relief(wait / in_time - 1, wait, longer).provided(broken),
            "later": Relief(after / in_time - 1, after, later).provided(unsure),
            "precision": Relief(0.0, NAN, fp8).provided(broken),
            "tokens": less.provided(broken & (tokens >= LEAST_TOKENS)),
        }

    def chance_of(self, place: Place) -> Any:
        """The chance with which a run keeps the deadline, rounded down to the percent [1]."""
        setting = place.setting(self.case, self.grid, self.precision)
        buys = place.paid == PAID.index(BUY)
        paid = PaidRun.of(setting, setting.plan(place.way), buys)
        late = early(paid.days, paid.spread, self.case.deadline_days, buys)
        return floor(100 * normal_cdf(late)) / 100


def _limits(case: Any) -> SimpleNamespace:
    """What a case restricts, as quantities."""
    deviations = normal_quantile(case.deadline_chance)
    known = reduce(or_, (case.owned == name for name in platforms()), False)
    mine = known & (case.owned_chips >= CLUSTERS[0])
    return SimpleNamespace(
        stays=case.data == STAYS,
        free=case.trained_on == BEST,
        mine=mine,
        deviations=deviations,
        wait=arrival_days(deviations),
        wait_half=arrival_days(0.0),
    )


def _figures(case: Any, grid: Grid, precision: Any, run: Any) -> dict[str, Any]:
    """Columns of all runs: usd, cash, days, sure (days with the wait for chips, as surely as is
    asked), alone (without it), cost (by which they are compared); and each figure where a run comes
    into question for something, NaN elsewhere.
    """
    of, here = _limits(case), Place.of(run, case.owned)
    setting = here.setting(case, grid, precision)
    buys, own = here.paid == PAID.index(BUY), here.paid == PAID.index(OWN)
    plan = setting.plan(here.way)
    paid = PaidRun.of(setting, plan, buys)
    alone = paid.days * exp(of.deviations * paid.spread)
    sure = where(buys, of.wait, 0.0) + alone
    left, surely = (case.deadline_days - where(buys, w, 0.0) for w in (of.wait_half, of.wait))
    cost = paid.usd + where(buys, paid.cash * waiting_share(), 0.0)
    there = paid.there & (paid.usd > 0) & (paid.cash > 0)
    rented = here.paid <= PAID.index(ON_SPOT)
    asked = of.free | (case.trained_on == here.chip)
    any_main = where(of.stays, buys & paid.owned, rented)
    main, seen = there & asked & any_main, paid.seen | ~of.free
    any_own = there & own & of.mine & (here.chips <= case.owned_chips) & (paid.owned | ~of.stays)
    mine = any_own & (of.free | (case.trained_on == case.owned))
    soon, half, pays = sure <= case.deadline_days, paid.days <= left, paid.cash <= case.budget_usd
    taken = where(own, mine, main & seen) & soon & pays
    counted = main & seen
    open_any = any_own | (there & any_main & paid.seen)
    leaving = any_own & mine | (there & asked & rented & seen)
    few = case.tokens, plan.more, paid, to_own(here.chip).price
    most = most_tokens(*few, left, case.budget_usd)
    most_surely = most_tokens(*few, surely * exp(-of.deviations * paid.spread), case.budget_usd)
    fp8 = here.setting(case, grid, FP8)
    other = PaidRun.of(fp8, fp8.plan(here.way), buys)
    in_fp8 = counted & (precision != FP8) & other.there & (other.days <= left)
    in_fp8 = in_fp8 & (other.cash <= case.budget_usd)
    return {
        "usd": where(main | mine, paid.usd, NAN),
        "days": paid.days,
        "cash": paid.cash,
        "sure": sure,
        "alone": alone,
        "cost": cost,
        "seen": where(paid.seen, 1.0, 0.0),
        **{f"key_{at}": where(taken & (here.paid == at), cost, NAN) for at in range(len(PAID))},
        "open": where(open_any & soon & pays, cost, NAN),
        "leaves": where(leaving & soon & pays, paid.usd, NAN),
        "unseen": where(main & ~paid.seen & soon & pays, paid.usd, NAN),
        "unsold_hours": _unsold_hours(of, here, setting, paid, soon),
        "half_usd": where(counted & half & pays, paid.usd, NAN),
        "half_days": where(counted & half & pays, paid.days, NAN),
        "half_sure": where(counted & half & pays, sure, NAN),
        "all_days": where(counted, paid.days, NAN),
        "all_cash": where(counted, paid.cash, NAN),
        "paid_sure": where(counted & pays, sure, NAN),
        "soon_cash": where(counted & half, paid.cash, NAN),
        "surely_cash": where(counted & soon, paid.cash, NAN),
        "fewer": where(counted, -most, NAN),
        "surely_fewer": where(counted, -most_surely, NAN),
        "fp8": where(in_fp8, other.usd, NAN),
        "fp8_days": other.days,
        "fp8_cash": other.cash,
    }


def _near(case: Any, rows: Mapping[str, Any], run: Any) -> dict[str, Any]:
    """Of the platform of the cheapest run those that cost at most `NEAR` more, the most chips first
    and of equal numbers the cheapest batch: of chips that are owned already, of all others, and
    where a restriction is lifted.
    """
    here, cost, found = Place.of(run, case.owned), item(rows["cost"], run), {}
    keys = [f"key_{at}" for at in range(len(PAID))]
    for columns in (keys[:-1], keys[-1:], ["open"], ["leaves"]):
        places = {name: place_of_least(rows[name]) for name in columns}
        costs = {
            name: where(at >= 0, item(rows["cost"], maximum(at, 0)), NAN)
            for name, at in places.items()
        }
        first, usd = least(costs)
        place = first_case([(first == name, at) for name, at in places.items()], -1.0)
        best = Place.of(place, case.owned)
        alike = (here.paid == best.paid) & (here.chip == best.chip) & (cost <= (1 + NEAR) * usd)
        for name in columns:
            near = (item(rows[name], run) > 0) & alike
            found[f"near_{name}"] = where(near, cost / (4 * usd) - here.chips, NAN)
    return found


def _unsold_hours(of: Any, here: Place, setting: Setting, paid: PaidRun, soon: Any) -> Any:
    """Chip-hours of a run in time on spot where nobody lists its chip so; NaN elsewhere [h]."""
    there = here.spot & ~setting.hour.there & of.free & ~of.stays & paid.there & paid.seen & soon
    return where(there, paid.hours, NAN)


def _beside(case: Any, rows: Mapping[str, Any], run: Any, taken: Place) -> dict[str, Any]:
    """Columns of all runs beside the one that is taken, or beside the quickest and cheapest."""
    here = Place.of(run, case.owned)
    mine = PAID.index(OWN)
    alike = where(taken.paid == mine, here.paid == mine, here.paid < mine)
    of = {name: item(rows[name], run) for name in ("usd", "cash", "sure", "alone", "seen")}
    keys = [item(rows[f"key_{at}"], run) for at in range(len(PAID))]
    key = first_case([(here.paid == at, it) for at, it in enumerate(keys)], NAN)
    same = alike & (here.chip == taken.chip)
    least = {
        name: item(
            rows[name], where(place_of_least(rows[name]) >= 0, place_of_least(rows[name]), 0)
        )
        for name in ("paid_sure", "half_sure", "all_cash")
    }
    own = {name: item(rows[name], run) for name in least}
    near = {name: own[name] <= (1 + NEAR) * least[name] for name in least}
    known = alike & (of["seen"] > 0)
    return {
        "next": where(known & (here.chip != taken.chip), key, NAN),
        "half": where(same & (here.chips == taken.chips / 2), of["usd"], NAN),
        "twice": where(same & (here.chips == taken.chips * 2), of["usd"], NAN),
        **{
            f"in_{days:g}": where(known & (of["alone"] <= days), of["usd"], NAN)
            for days in DEADLINES
        },
        "longer": where(near["paid_sure"], of["cash"], NAN),
        "later": where(near["half_sure"], of["cash"], NAN),
        "both": where(near["all_cash"], of["sure"], NAN),
    }
