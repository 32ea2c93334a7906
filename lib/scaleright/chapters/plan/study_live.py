"""A study that follows the controls of a page: every cluster as a row, owned ones and others, alone
and beside each other; what is taken, what it does and costs, and what would help where nothing
keeps the limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from operator import or_
from types import SimpleNamespace
from typing import Any, Self

from scaleright.chapters.plan.study_ways import (
    FEWEST,
    LONGEST_DAYS,
    ON_DEMAND,
    OWN,
    OWN_NODES,
    PARTS,
    RENT,
    USUAL,
    WIDTHS,
    Weighed,
    parted,
    pauses,
)
from scaleright.costs import pretraining
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.experiment_steps import ExperimentSteps
from scaleright.decisions.ablation_evidence import per_tenfold
from scaleright.decisions.ablation_study import NODE_CHIPS, NODES, Decision, Desk, Range
from scaleright.decisions.left_out import unsold
from scaleright.decisions.plan_runs import BUY, NEAR, SPOT, early, to_own
from scaleright.decisions.plan_workload import STAYS
from scaleright.information import probability_cheaper, spread_between
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
from scaleright.quantity import given, least, over
from scaleright.quantity.graph import apply
from scaleright.quantity.lists import LIST, place_of_least, word_at

NAN = float("nan")
BF16 = "BF16"
"""The usual format of every proxy."""
PAID = {(RENT, ON_DEMAND): "rented", (RENT, SPOT): "on_spot", (BUY, ON_DEMAND): "bought"}
"""How chips may be had, by how they are paid and under which contract, as columns."""
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "now": {},
    "halvings": {"halvings": 2.0},
    "precision": {"precision": "FP8"},
    "seller": {"seller": "cheapest quarter"},
    "idle": {"idle": 0.02},
    "one": {"seeds": 1.0},
    "two": {"seeds": 2.0},
    "four": {"seeds": 4.0},
}
"""What is tried of the study that is taken, by a name: the levers of a plan, and other seeds."""


KEPT = 3
"""Studies that are kept of each part: the cheapest in time, the cheapest, and the quickest."""


@dataclass(frozen=True)
class Bill:
    """Whole studies as a page compares them, a row each: on clusters that are rented or bought, on
    owned chips, and on both beside each other.

    names : of the platforms
    kinds : the columns of each kind, lists that follow the controls
    sizes : how many rows each kind has
    pairs : of the last kind the place of its owned cluster and of the other one, and how many
        variants the first takes; lists
    """

    names: tuple[str, ...]
    kinds: tuple[Mapping[str, Any], ...]
    sizes: tuple[int, ...] = (0,)
    pairs: tuple[Any, Any, Any] | None = None

    def least(self, column: str) -> tuple[Any, Any]:
        """The place of the least of a column, -1 where it has none or no kind has it, and its
        value.
        """
        places, values, first = {}, {}, 0
        for n, (kind, size) in enumerate(zip(self.kinds, self.sizes, strict=True)):
            if column in kind:
                place = place_of_least(kind[column])
                values[f"kind {n}"] = _item(kind[column], place)
                places[f"kind {n}"] = first + place
            first += size
        if not values:
            return -1.0, NAN
        if len(values) == 1:
            return place_of_least(self._alone(column)), *values.values()
        name, value = least(values)
        return first_case([(name == of, place) for of, place in places.items()], -1.0), value

    def _alone(self, column: str) -> Any:
        return next(kind[column] for kind in self.kinds if column in kind)

    def value(self, column: str, place: Any) -> Any:
        """A column at a place; NaN at -1."""
        found, first = NAN, 0
        for kind, size in zip(self.kinds, self.sizes, strict=True):
            found = where(place >= first, _item(kind[column], place - first), found)
            first += size
        return found

    def split(self, place: Any, whole: Any) -> tuple[Any, Any, Any]:
        """What a study at a place is made of: the place of its owned cluster and of the other one,
        -1 for none, and how many variants of the whole the latter takes.
        """
        if self.pairs is None:
            return given("own_cluster", -1.0), place, whole
        owned, pair = place - self.sizes[0], place - self.sizes[0] - self.sizes[1]
        mine, its, parts = (item(of, maximum(pair, 0.0)) for of in self.pairs)
        return (
            where(owned < 0, -1.0, where(pair < 0, owned, mine)),
            where(owned < 0, place, where(pair < 0, -1.0, its)),
            where(pair < 0, whole, whole - parts),
        )

    def other(self, place: Any) -> dict[str, Any]:
        """Chip, width, contract, how it is paid, and nodes of a cluster that is rented or bought;
        of the first at -1.
        """
        return _cluster(self.names, maximum(place, 0.0))


def _item(values: Any, place: Any) -> Any:
    return where(place >= 0, item(values, maximum(place, 0.0)), NAN)


def _cluster(names: tuple[str, ...], place: Any) -> dict[str, Any]:
    """What stands at a place among all clusters: by chip, width, how it is had, and nodes."""
    how = floor(place / len(NODES)) % len(PAID)
    width = floor(place / (len(NODES) * len(PAID))) % len(WIDTHS)
    paid, contract = zip(*PAID, strict=True)
    return {
        "chip": word_at([*names], floor(place / (len(NODES) * len(PAID) * len(WIDTHS)))),
        "width": word_at([*WIDTHS], width),
        "contract": word_at([*contract], how),
        "paid": word_at([*paid], how),
        "nodes": item([float(of) for of in NODES], place % len(NODES)),
    }


@dataclass(frozen=True)
class Owned:
    """Chips that are owned already.

    there : whether a study can be done on them
    chip, chips : the platform, any where none is; how many there are [1]
    """

    there: Any
    chip: Any
    chips: Any

    @classmethod
    def of(cls, case: Any, names: tuple[str, ...], named: str | None = None) -> Self:
        """Those of a case; named : the accelerator, if it may be no other."""
        mine = [name for name in names if named in {None, name}]
        known = reduce(or_, (case.owned == name for name in mine), False)
        there = known & (case.owned_chips > 0)
        return cls(there, where(known, case.owned, names[0]), case.owned_chips)

    def cluster(self, place: Any) -> dict[str, Any]:
        """The cluster at a place, of the first at -1: by width, and nodes."""
        place = maximum(place, 0.0)
        return {
            "chip": self.chip,
            "width": word_at([*WIDTHS], floor(place / len(OWN_NODES))),
            "contract": ON_DEMAND,
            "paid": OWN,
            "nodes": item([float(of) for of in OWN_NODES], place % len(OWN_NODES)),
        }


@dataclass(frozen=True)
class StudyWays:
    """A study of a case that follows the controls.

    case, steps : its parameters, and the steps of its runs
    named : the accelerator, if it may be no other
    late : by how many standard deviations a run may be late and is in time
    bill : every study; there : whether one keeps the limits
    owned : the chips that are owned already
    taken : chip, width, contract, how it is paid, and nodes of the cluster of the cheapest study
        that keeps the limits, or of the cheapest of all: beside owned ones the other
    variants, weighed : how many that takes, and the study of these on it [1]
    mine, part : the owned cluster of what is taken, and what of the study is done on it
    owns, mixed : whether that is taken at all, and beside others
    usd, cash, days, chips : of the whole study, as of `Weighed`
    span : low and high end of what it costs, nine of ten [USD]
    decision : what it decides; quickest_days : on the most nodes that are tried [d]
    kept, within : chance to be in time, and to stay within the budget [1]
    deadline_days : by which the chapter has to be done with it in the middle [d]
    changed : what it costs with each of `CHANGES` over what it costs now [1]
    likewise : whether the chapter takes as many nodes, which asks for the cheapest in time
    unsold : the chip that would win on spot, where nobody lists it, at the highest price of an
        hour, how many of it, and that price [USD/h]; NaN where there is none
    """

    case: Any
    steps: ExperimentSteps
    named: str | None
    late: Any
    bill: Bill
    there: Any
    owned: Owned
    taken: Mapping[str, Any]
    variants: Any
    weighed: Weighed
    mine: Mapping[str, Any]
    part: Weighed
    owns: Any
    mixed: Any
    usd: Any
    cash: Any
    days: Any
    chips: Any
    span: tuple[Any, Any]
    decision: Decision
    quickest_days: Any
    kept: Any
    within: Any
    deadline_days: Any
    changed: Mapping[str, Any]
    likewise: Any
    unsold: tuple[Any, Any, Any]

    @classmethod
    def of(cls, case: Any, steps: ExperimentSteps, named: str | None = None) -> Self:
        """Those of a case with quantities `proxy_model`, variants, seeds, tokens, tuning,
        `deadline_days`, `deadline_chance`, data, `budget_usd`, owned and `owned_chips`; a limit of
        `FREE` binds nothing.
        """
        owned = Owned.of(case, steps.names, named)
        limits = Limits(case, normal_quantile(case.deadline_chance), named)
        bill, late = _bill(limits, steps, owned), limits.late
        place, _ = bill.least("best")
        found = where(place >= 0, place, bill.least("cash")[0])
        own, other, variants = bill.split(found, case.variants)
        owns, mixed = own >= 0, (own >= 0) & (other >= 0)
        alone, mine, its = owns & (other < 0), owned.cluster(own), bill.other(other)
        taken = {name: where(alone, mine[name], its[name]) for name in its}
        weighed, desk = weighed_on(case, steps, **taken, variants=variants)
        part, at = weighed_on(case, steps, **mine, variants=_rest(case, variants))

        def both(here: Any, there: Any) -> Any:
            return where(mixed, here, 0.0) + there

        usd, billed = both(part.usd, weighed.usd), both(part.study.usd, weighed.study.usd)
        ends = Range.of(desk, taken["chip"], taken["nodes"], weighed.study)
        more = Range.of(at, mine["chip"], mine["nodes"], part.study)
        low, high = (both(getattr(more, it), getattr(ends, it)) for it in ("low_usd", "high_usd"))
        ends = low * usd / billed, high * usd / billed
        buys = weighed.bought > 0
        soon = early(weighed.days, weighed.spread, case.deadline_days, buys)
        mine_soon = early(part.days, part.spread, case.deadline_days)
        left = case.deadline_days - weighed.wait_days(late)
        deadline = minimum(left * exp(-late * weighed.spread), LONGEST_DAYS)
        price = to_own(taken["chip"]).price_spread
        spread, cash = where(buys, price, spread_between(*ends)), both(part.cash, weighed.cash)
        return cls(
            case,
            steps,
            named,
            late,
            bill,
            place >= 0,
            owned,
            taken,
            variants,
            weighed,
            mine,
            part,
            owns,
            mixed,
            usd,
            cash,
            maximum(weighed.days, where(mixed, part.days, 0.0)),
            both(part.study.chips, weighed.study.chips),
            ends,
            Decision.of(desk.case, steps, weighed.study.usd, desk.plan.started),
            desk.on(taken["chip"], float(NODES[-1])).days,
            normal_cdf(where(mixed, minimum(mine_soon, soon), soon)),
            probability_cheaper(cash, case.budget_usd, spread),
            deadline,
            *_changed(case, steps, (taken, variants), (mine, mixed), deadline),
            _unsold(limits, steps, usd),
        )

    @property
    def idle(self) -> Any:
        """Share of the cluster's time in which no run trains [1]."""
        return pauses().row(self.taken["contract"], self.taken["width"]).idle

    @property
    def on(self) -> dict[str, Any]:
        """The cheapest study on each platform in time [USD]; NaN where there is none."""
        return {name: self.bill.least(_column(name))[1] for name in self.steps.names}

    def takes(self, chip: Any) -> Any:
        """Whether the study is done on a platform, or a part of it."""
        return (self.taken["chip"] == chip) | (self.mixed & (self.owned.chip == chip))

    def seen(self, chip: Any) -> Any:
        """Whether the fit has seen the architecture of a platform."""
        known = {name: _seen(self.steps, name) for name in self.steps.names}
        return first_case([(chip == name, of) for name, of in known.items()], False)

    def rivals(self) -> list[tuple[Any, Any]]:
        """The cheapest study on the next four platforms in time, the cheapest first: chip and cost
        [USD]; no word and NaN where there are no more.
        """
        found: list[tuple[Any, Any]] = []
        left = {of: where(self.takes(of), NAN, usd) for of, usd in self.on.items()}
        for _ in range(4):
            found.append(least(left))
            left = {of: where(found[-1][0] == of, NAN, usd) for of, usd in left.items()}
        return found


def _seen(steps: ExperimentSteps, chip: Any) -> Any:
    return steps.trust.row("dense", chip, BF16).seen


def _column(chip: str) -> str:
    return "on_" + "".join(it for it in chip if it.isalnum())


def _case(case: Any, chip: Any, width: Any, contract: Any, paid: Any, **other: Any) -> Any:
    """A case of the chapter on what an experiment costs."""
    usual = {
        **USUAL,
        "pay_usd_per_year": pretraining.project()["pay_usd_per_year"],
        "misordered_per_tenfold": per_tenfold().best,
        "rent_usd_per_hour": 0.0,
        "precision": BF16,
        "tuning": case.tuning,
        "idle": pauses().row(contract, width).idle,
    }
    asked = {name: getattr(case, name) for name in ("variants", "seeds", "tokens")}
    asked |= {"model": case.proxy_model, "accelerator": chip, "run_on": width}
    asked |= {"contract": contract, "paid": where(paid == RENT, "rent", "own")}
    asked |= {"deadline_days": case.deadline_days}
    return SimpleNamespace(**usual | asked | other)


def weighed_on(
    case: Any,
    steps: ExperimentSteps,
    chip: Any,
    width: Any,
    contract: Any,
    paid: Any,
    nodes: Any,
    **other: Any,
) -> tuple[Weighed, Desk]:
    """A study on a cluster, and the desk that makes it.

    other : parameters of the chapter that are otherwise than a plan has them
    """
    desk = Desk.of(_case(case, chip, width, contract, paid, **other), steps)
    luck = pauses().row(contract, width).luck
    return Weighed.of(desk.on(chip, nodes), chip, paid, luck, case.tuning), desk


def _rest(case: Any, variants: Any) -> Any:
    """The variants that are left of a study, one at least."""
    return maximum(case.variants - variants, 1.0)


@dataclass(frozen=True)
class Limits:
    """What is asked of a study: quantities of a case, by how much it may be late, and the
    accelerator, if it may be no other.
    """

    case: Any
    late: Any
    named: str | None

    def takes(self, cluster: Mapping[str, Any]) -> Any:
        """Whether it may be the accelerator of a cluster."""
        return True if self.named is None else cluster["chip"] == self.named

    @property
    def stays(self) -> Any:
        """Whether data may not leave."""
        return self.case.data == STAYS

    def key(self, of: Any) -> Any:
        """What is to be least: what has to be paid where chips would have to be bought."""
        return where(self.stays, of.cash, of.usd)

    def told(self, of: Weighed) -> SimpleNamespace:
        """What the limits bind of a study on a cluster."""
        names = ("usd", "cash", "days")
        return SimpleNamespace(
            **{name: getattr(of, name) for name in names},
            half=of.sure_days(0.0),
            sure=of.sure_days(self.late),
            early=early(of.days, of.spread, self.case.deadline_days, of.bought > 0),
        )

    def columns(self, of: Any, there: Any) -> dict[str, tuple[Any, Any]]:
        """What a page has to know of a study: when, and which number."""
        deadline, budget = self.case.deadline_days, self.case.budget_usd
        soon, paid, key = of.sure <= deadline, of.cash <= budget, self.key(of)
        return {
            "best": (there & soon & paid, key),
            "quick": (there, of.half),
            "sure": (there & paid, of.sure),
            "dear": (there & soon, of.cash),
            "both": (there, maximum(of.sure / deadline, of.cash / budget)),
            "late": (there & paid, -of.early),
            "sure_days": (there, of.sure),
            "cash": (there, of.cash),
            "days": (there, of.days),
            "soon": (there & soon, key),
        }

    def alone(self, of: Weighed, there: Any) -> dict[str, tuple[Any, Any]]:
        """What keeps the limits of a study on one cluster: how much of the work of each run, and
        how many variants.
        """
        share = of.share_within(self.late, self.case.deadline_days, self.case.budget_usd)
        fewer = of.variants_within(share, self.case.seeds, USUAL["failed"])
        return {"share": (there, -share), "fewer": (there, -fewer)}

    def part(self, of: Weighed, there: Any, number: int) -> dict[str, tuple[Any, Any]]:
        """Of a part of a study, numbered: the cheapest in time, the cheapest, and the quickest."""
        soon, key = of.sure_days(self.late) <= self.case.deadline_days, self.key(of)
        columns = {"soon": (there & soon, key), "ever": (there, key), "quick": (there, of.days)}
        return {f"{name}_{number}": it for name, it in columns.items()}


def _over(name: str, row: Any, many: int, columns: Mapping[str, Any], when: Any) -> dict[str, Any]:
    wanted = {of: where(there, value, NAN) for of, (there, value) in columns.items()}
    return over(name, {row: [*range(many)]}, wanted, when)


def _bill(of: Limits, steps: ExperimentSteps, owned: Owned) -> Bill:
    """Every study, as rows of a page; none on owned chips where a case can have none."""
    case, row = of.case, given("study", 0.0)
    there = _cluster(steps.names, row)
    open_ = where(of.stays, there["paid"] == BUY, there["paid"] == RENT) & of.takes(there)
    columns = _others(of, steps, there, open_, owned)
    sizes = len(steps.names) * len(WIDTHS) * len(PAID) * len(NODES), len(WIDTHS) * len(OWN_NODES)
    if owned.there is False:
        kinds = [_over("studies", row, sizes[0], columns, case.weighed)]
        return _soonest(Bill(steps.names, tuple(kinds), sizes[:1]), [(row, case.weighed)])
    sizes, has = (*sizes, KEPT * len(PARTS)), case.weighed & owned.there
    parts = parted(case.variants)
    rest = dict[str, Any]()
    for n, part in enumerate(parts):
        it, _ = weighed_on(case, steps, **there, variants=_rest(case, part))
        rest |= of.part(it, open_ & (it.usd > 0) & it.seen & (case.variants >= FEWEST), n)
    own = given("own_study", 0.0)
    mine = owned.cluster(own)
    here = NODE_CHIPS * mine["nodes"] <= owned.chips
    it, _ = weighed_on(case, steps, **mine)
    own_columns = of.columns(of.told(it), here & (it.usd > 0))
    own_columns |= of.alone(it, here & (it.usd > 0))
    own_columns["own"] = own_columns["soon"]
    own_parts = dict[str, Any]()
    for n, part in enumerate(parts):
        it, _ = weighed_on(case, steps, **mine, variants=part)
        own_parts |= of.part(it, here & (it.usd > 0), n)
    kinds = [
        _over("studies", row, sizes[0], columns, case.weighed),
        _over("own_studies", own, sizes[1], own_columns | own_parts, has),
    ]
    others = _over("rest_of_studies", row, sizes[0], rest, has)
    mine, its = (apply(LIST, *(place_of_least(of[it]) for it in rest)) for of in (kinds[1], others))
    pairs = mine, its, apply(LIST, *(part for part in parts for _ in range(KEPT)))
    pair = given("pair", 0.0)
    own_at, other_at, variants = (item(it, pair) for it in pairs)
    both = _beside(
        of, steps, owned.cluster(own_at), _cluster(steps.names, maximum(other_at, 0.0)), variants
    )
    columns = of.columns(both, (own_at >= 0) & (other_at >= 0))
    columns["beside"] = columns["soon"]
    kinds.append(_over("pairs", pair, sizes[2], columns, has))
    bill = Bill(steps.names, tuple(kinds), sizes, pairs)
    return _soonest(bill, [(row, case.weighed), (own, has), (pair, has)])


def _soonest(bill: Bill, rows: Sequence[tuple[Any, Any]]) -> Bill:
    """A bill with those that are hardly later than the soonest, as the column `near`.

    rows : of each kind the place, and when it is computed
    """
    most, found = (1 + NEAR) * bill.least("sure")[1], []
    for n, (kind, size, (at, when)) in enumerate(zip(bill.kinds, bill.sizes, rows, strict=True)):
        near = {"near": (item(kind["sure"], at) <= most, item(kind["cash"], at))}
        found.append({**kind, **_over(f"soon_{n}", at, size, near, when)})
    return replace(bill, kinds=tuple(found))


def _others(
    of: Limits, steps: ExperimentSteps, cluster: Mapping[str, Any], open_: Any, owned: Owned
) -> dict[str, tuple[Any, Any]]:
    """What a page has to know of a study on a cluster that is rented or bought."""
    it, _ = weighed_on(of.case, steps, **cluster)
    seen = it.seen
    if of.named in steps.names:  # that one alone, even where no published run was on its kind
        seen = seen | ~(_seen(steps, of.named) | owned.there)
    there = (it.usd > 0) & seen
    told, paid = of.told(it), cluster["paid"]
    columns = of.columns(told, there & open_) | of.alone(it, there & open_)
    in_time, key = columns["soon"]
    within = (told.sure <= of.case.deadline_days) & (told.cash <= of.case.budget_usd)
    other = there & ~open_ & (paid == RENT) & of.takes(cluster)
    columns["other"] = other & within, it.usd
    for (how, under), name in PAID.items():
        columns[name] = in_time & (paid == how) & (cluster["contract"] == under), key
    soon = open_ & (it.usd > 0) & (told.sure <= of.case.deadline_days)
    for name in steps.names:
        columns[_column(name)] = soon & (cluster["chip"] == name), it.usd
    return columns


def _unsold(of: Limits, steps: ExperimentSteps, usd: Any) -> tuple[Any, Any, Any]:
    """What would win on spot, where nobody lists it, as of `StudyWays`; usd : the study [USD]."""
    names, row = unsold(SPOT, steps.names), given("unsold_study", 0.0)
    cluster = _cluster(names, row)
    it, _ = weighed_on(of.case, steps, **cluster, rent_usd_per_hour=1.0)
    soon = it.sure_days(of.late) <= of.case.deadline_days
    hours = it.usd - it.waiting  # at a dollar an hour
    price = usd_per_hour_to_win(usd, hours, it.waiting)
    there = (cluster["contract"] == SPOT) & ~of.stays & it.seen & soon & (price > 0)
    there = there & (of.named is None)
    many = len(names) * len(WIDTHS) * len(PAID) * len(NODES)
    columns = {"price": (there, -1.0 * price)}
    found = _over("unsold_studies", row, many, columns, of.case.weighed)["price"]
    place = place_of_least(found)
    taken = _cluster(names, maximum(place, 0.0))
    return taken["chip"], NODE_CHIPS * taken["nodes"], -1.0 * _item(found, place)


def _beside(
    of: Limits,
    steps: ExperimentSteps,
    mine: Mapping[str, Any],
    other: Mapping[str, Any],
    variants: Any,
) -> SimpleNamespace:
    """What the limits bind of a study of which owned chips do so many variants, and others the
    rest: both at once.
    """
    one, _ = weighed_on(of.case, steps, **mine, variants=variants)
    rest, _ = weighed_on(of.case, steps, **other, variants=_rest(of.case, variants))
    here, there = vars(of.told(one)), vars(of.told(rest))
    found = {name: maximum(here[name], there[name]) for name in ("days", "half", "sure")}
    found |= {name: here[name] + there[name] for name in ("usd", "cash")}
    return SimpleNamespace(**found, early=minimum(here["early"], there["early"]))


def _changed(
    case: Any,
    steps: ExperimentSteps,
    other: tuple[Mapping[str, Any], Any],
    mine: tuple[Mapping[str, Any], Any],
    deadline: Any,
) -> tuple[dict[str, Any], Any]:
    """What the study costs with each of `CHANGES` over what it costs now [1]: a rented one on the
    number of nodes that is best then; and whether as many are best as are taken.

    other : the cluster that is taken, and for how many variants
    mine : the owned one, and whether it does a part of the study beside that
    """
    (taken, variants), (own, mixed) = other, mine
    usual = {"halvings": 0.0, "precision": BF16, "seller": USUAL["seller"]}
    usual |= {"idle": USUAL["idle"], "seeds": 0.0}
    rows = [
        {"change": name, "nodes": float(nodes), **usual, **change}
        for (name, change), nodes in product(CHANGES.items(), (0, *NODES))
    ]
    row = {name: given(f"changed_{name}", of) for name, of in rows[0].items()}
    idle = pauses().row(taken["contract"], taken["width"]).idle
    kept = (1 - idle) / (1 - USUAL["idle"])
    change = {name: row[name] for name in ("halvings", "precision", "seller")}
    change |= {"seeds": where(row["seeds"] > 0, row["seeds"], case.seeds)}
    fixed = row["nodes"] == 0.0
    there = dict(taken) | {"nodes": where(fixed, taken["nodes"], row["nodes"])}
    here = {"idle": 1 - (1 - row["idle"]) * kept, "variants": variants}
    on = weighed_on(case, steps, **there, **change, **here)[0].study
    here = {"idle": row["idle"], "variants": _rest(case, variants)}
    part = weighed_on(case, steps, **own, **change, **here)[0].study
    asked = where(taken["paid"] == RENT, row["nodes"], 1.0 - row["nodes"]) > 0
    soon = where(fixed, True, on.days <= deadline)
    wanted = {}
    for name in CHANGES:
        here = asked & (row["change"] == name)
        wanted[f"{name}_soon"] = where(here & soon, on.usd, NAN)
        wanted[f"{name}_ever"] = where(here, on.usd, NAN)
        wanted[f"{name}_own"] = where(mixed & fixed & (row["change"] == name), part.usd, NAN)
    here = (row["nodes"] > 0) & (row["change"] == "now")
    wanted["nodes_soon"] = where(here & (on.days <= deadline), on.usd, NAN)
    wanted["nodes_ever"] = where(here, on.usd, NAN)
    listed = {row[name]: [of[name] for of in rows] for name in row}
    bill = Bill((), (over("changed_studies", listed, wanted, case.weighed),))

    def usd(name: str) -> Any:
        place, soon = bill.least(f"{name}_soon")
        beside = where(mixed, bill.least(f"{name}_own")[1], 0.0)
        return where(place >= 0, soon, bill.least(f"{name}_ever")[1]) + beside

    now, place = usd("now"), bill.least("nodes_soon")[0]
    place = where(place >= 0, place, bill.least("nodes_ever")[0])
    best = item([float(of["nodes"]) for of in rows], maximum(place, 0.0))
    return {name: usd(name) / now for name in CHANGES}, best == taken["nodes"]
