"""What a day of a service costs: the ways to pay for its engines, and the bills of a month and a
year that grow with demand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from scaleright.costs.commitment import CHANGE, mean_price_over_first
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.serving import load_spread
from scaleright.costs.tokens import MILLION
from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form, lookup
from scaleright.inference.day import DayFleet
from scaleright.inference.traffic import FILL
from scaleright.information import Choice
from scaleright.market import BEST, CheapestAccelerator, Rents, unfixed, yearly_drift
from scaleright.ops import exp, log, maximum, minimum, sqrt, where
from scaleright.quantity import given, least, pick
from scaleright.ranges import Ends
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, MONTHS_PER_YEAR

FIXED, SCALED, BASE = "fixed", "autoscaled", "base and bursts"
"""Ways to run a fleet: as many engines as the busiest time takes, all day; as many as each hour
takes; those of the quietest hour under the contract, and the others by the hour.
"""
LOW_PEAK, HIGH_PEAK = 1.2, 2.3
"""Busiest time over the mean between which published services lie [azurellm2024]."""
GROWTH = Domain(-0.2, 0.2, (-0.1, 0.1))


@closed_form(growth_per_month=GROWTH, price_change_per_year=CHANGE)
def bill_change_per_year(growth_per_month, price_change_per_year):
    """Yearly change of a bill whose demand grows every month and whose price changes every year
    [1/year].

    >>> round(bill_change_per_year(0.05, -0.2), 3)
    0.437
    """
    return (1 + growth_per_month) ** MONTHS_PER_YEAR * (1 + price_change_per_year) - 1


@closed_form(usd_per_day=NON_NEGATIVE, change_per_year=CHANGE, days=POSITIVE)
def spent_usd(usd_per_day, change_per_year, days):
    """What is spent in so many days if the bill of the first day changes evenly in ratio [USD].

    >>> spent_usd(100.0, 0.0, 365.25), round(spent_usd(100.0, 1.0, 365.25))
    (36525.0, 52694)
    """
    return usd_per_day * days * mean_price_over_first(change_per_year, days / DAYS_PER_YEAR)


@closed_form(usd_per_day=POSITIVE, change_per_year=CHANGE, budget_usd=NON_NEGATIVE)
def days_until_spent(usd_per_day, change_per_year, budget_usd):
    """Days until a budget is spent by a bill that changes evenly in ratio [day]; infinite where a
    falling bill never spends it.

    Source: the inverse of `spent_usd`.

    >>> days_until_spent(100.0, 0.0, 36525.0), round(days_until_spent(100.0, 1.0, 52694.0), 1)
    (365.25, 365.2)
    """
    rate = log(1 + change_per_year) / DAYS_PER_YEAR
    flat = (rate < 1e-7) & (rate > -1e-7)
    even = budget_usd / usd_per_day
    change = where(flat, 0.0, rate) * even
    grown = log(maximum(1 + change, 1e-12)) / where(flat, 1.0, rate)
    grown = where((change < 1e-7) & (change > -1e-7), even * (1 - change / 2), grown)  # no digits
    return where(1 + change > 0, grown, float("inf"))


class Plan(NamedTuple):
    """A way to run a fleet.

    usd_per_day : of all engines [USD/day]
    engine_hours : that are paid in a day [h/day]
    loose_usd : of the bill, what no contract holds at its price [USD/day]
    least, most : the bill at the ends of what its hours may cost, see `PaidHour` [USD/day]
    """

    usd_per_day: Any
    engine_hours: Any
    loose_usd: Any
    least: Any
    most: Any


@dataclass(frozen=True)
class DayBill:
    """What the day of a fleet costs.

    fleet : the engines
    plans : by name
    chosen : the one that the reader has chosen
    best : name of the cheapest, and its bill [USD/day]
    spare_usd : of that, what the engines cost that stand by [USD/day]
    """

    fleet: DayFleet
    plans: Mapping[str, Plan]
    chosen: Plan
    best: tuple[Any, Any]
    spare_usd: Any

    @property
    def utilization(self) -> Any:
        """Tokens of the day over those that its paid hours could write [1]."""
        return self.fleet.utilization(self.chosen.engine_hours)

    @property
    def output_tokens(self) -> Any:
        """That a day writes [token]."""
        return self.fleet.traffic.requests_per_day * self.fleet.traffic.load.output_tokens

    def usd_per_million(self, plan: Plan | None = None) -> Any:
        """A million output tokens with their prompts [USD]."""
        return (plan or self.chosen).usd_per_day / self.output_tokens * MILLION

    @property
    def usd_per_request(self) -> Any:
        """One request [USD]."""
        return self.chosen.usd_per_day / self.fleet.traffic.requests_per_day

    @property
    def saving(self) -> Any:
        """What autoscaling saves of the bill of a fixed fleet [1]; below zero it costs more."""
        return 1 - self.plans[SCALED].usd_per_day / self.plans[FIXED].usd_per_day

    @property
    def idle_tokens(self) -> Any:
        """Output tokens that the paid hours of a day could write besides, with requests like these
        [token].
        """
        of = self.fleet
        full = self.chosen.engine_hours * of.engine.chips * of.full_tokens_per_s * 3600 * FILL
        more = full - self.output_tokens
        return where(more > 1e-9 * full, more, 0.0)  # hours that are all full leave noise

    @property
    def cheapest(self) -> Plan:
        """The plan that costs least."""
        name, (fixed, scaled, based) = self.best[0], self.plans.values()
        of = zip(fixed, scaled, based, strict=True)
        return Plan(*(where(name == FIXED, a, where(name == SCALED, b, c)) for a, b, c in of))

    def ends(self, plan: Plan | None = None) -> tuple[Any, Any]:
        """Low and high end of the bill of a day (90 %): the speed in practice, what its hours may
        cost where nobody lists that anew, and the rent of the year ahead where nothing fixes it
        [USD/day].
        """
        low, high = self.fleet.low, self.fleet.high
        drift, of = yearly_drift().mean_over(1.0), plan or self.chosen
        part, usd = of.loose_usd / of.usd_per_day, of.usd_per_day
        rent = tuple(1 + part * (end - 1) for end in drift)
        paid = of.least / usd, of.most / usd
        down = sqrt(log(maximum(high, 1.0)) ** 2 + log(rent[0]) ** 2 + log(paid[0]) ** 2)
        up = sqrt(log(minimum(low, 1.0)) ** 2 + log(rent[1]) ** 2 + log(paid[1]) ** 2)
        return usd * exp(-down), usd * exp(up)


@lookup
def day_bill(fleet: DayFleet, rents: Rents, case: Any) -> DayBill:
    """The bill of a fleet's day under each plan.

    A fleet that never changes is paid under the contract, and so are the engines that always run;
    others are paid by the hour, since a contract that binds takes back no hour.

    Parameters
    ----------
    rents : of one accelerator
    case : scaling, the plan that is chosen; contract, rent_usd_per_hour
    """
    hour, loose = (rent.usd * fleet.engine.chips for rent in (rents.hour, rents.by_the_hour))
    scaled, lowest = fleet.scaled_hours, fleet.hourly[0]
    for one in fleet.hourly[1:]:
        lowest = minimum(lowest, one)
    always = HOURS_PER_DAY * lowest
    bursts = (scaled - always) * loose
    free = unfixed(case.contract, case.rent_usd_per_hour)
    under, moves = where(free, 1.0, 0.0), where(case.rent_usd_per_hour > 0, 0.0, 1.0)
    every = fleet.fixed_hours
    based = where(hour == loose, scaled * loose, always * hour + bursts)

    def ends(held: Any, free_usd: Any) -> list[Any]:
        """A bill under the contract and by the hour, at the ends of both."""
        paid = (held, rents.hour), (free_usd, rents.by_the_hour)
        return [
            sum(usd * getattr(of, end) / of.usd for usd, of in paid) for end in ("least", "most")
        ]

    plans = {
        FIXED: Plan(every * hour, every, under * every * hour, *ends(every * hour, 0.0)),
        SCALED: Plan(scaled * loose, scaled, moves * scaled * loose, *ends(0.0, scaled * loose)),
        BASE: Plan(
            based, scaled, moves * bursts + under * always * hour, *ends(based - bursts, bursts)
        ),
    }
    best = least({name: of.usd_per_day for name, of in plans.items()})
    chosen = (pick({name: of[at] for name, of in plans.items()}, case.scaling) for at in range(5))
    spare_hours = HOURS_PER_DAY * fleet.spare_engines
    spare_usd = spare_hours * where(best[0] == SCALED, loose, hour)
    return DayBill(fleet, plans, Plan(*chosen), best, spare_usd)


@dataclass(frozen=True)
class CheapestDay:
    """A case of a day on the accelerator that it names, or on the one on which the day costs least.

    case : on it, under the contract that is taken
    fleet, rents, bill : there
    many : accelerators that serve the day at a price, of which it is the cheapest [1]
    nameless : whether a rent of the reader's own is that of no accelerator that is named
    """

    case: SimpleNamespace
    fleet: DayFleet
    rents: Rents
    bill: DayBill
    many: Any
    nameless: Any

    @classmethod
    def of(cls, case: Any, tables: DayChoices) -> Self:
        """That of a case of quantities, whose accelerator and contract may be `market.BEST`."""
        names, any_of = tables.hours.names, case.accelerator == BEST
        chip = given("chip", names[0])
        _, fleet, rents, bill = cls._on(case, tables, chip)
        there = fleet.served & rents.hour.there & rents.by_the_hour.there
        usd = where(there, bill.best[1], float("nan"))
        taken, many = CheapestAccelerator.of(case.accelerator, chip, names, usd, "days")
        nameless = any_of & (case.rent_usd_per_hour > 0)
        return cls(*cls._on(case, tables, taken), many, nameless)

    @staticmethod
    def _on(case: Any, tables: DayChoices, chip: Any) -> tuple[Any, DayFleet, Rents, DayBill]:
        """A case on an accelerator, with the fleet, the rents and the bill of its day."""
        there = tables.hours.on(case, chip)
        fleet, rents = tables.fleet(there), tables.hours.rents(there)
        return there, fleet, rents, day_bill(fleet, rents, there)


@lookup
def plan_choice(fleet: DayFleet, bill: DayBill, case: Any) -> Choice:
    """A fleet that follows the day, or a fixed one, by what a day costs [USD/day]; nobody knows the
    rents of the year ahead where no contract holds them, how fast engines are in practice, how high
    the busiest time is, and how many requests come.

    Faster engines are as many requests fewer.
    """
    ahead, drift = given("rents_ahead", 1.0), yearly_drift().mean_over(1.0)
    usd = {name: of.usd_per_day + of.loose_usd * (ahead - 1) for name, of in bill.plans.items()}
    size, peak, factor = case.requests_per_day, case.peak_to_mean, load_spread()
    ends = {
        "rents of the year ahead": Ends(ahead, drift[0], drift[1]),
        "speed in practice": Ends(size, size / fleet.high, size / fleet.low),
        "busiest time over the mean": Ends(peak, LOW_PEAK, HIGH_PEAK),
        "requests a day": Ends(size, size / factor, size * factor),
    }
    return Choice.of(minimum(usd[SCALED], usd[BASE]), usd[FIXED], ends, rents_ahead=1.0)


@dataclass(frozen=True)
class YearAhead:
    """A year of a bill along the time axis.

    usd_per_day : of its first day [USD/day]
    change_per_year : of demand and price together, at best and at both ends of what prices did in
        a year on record [1/year]
    budget_usd : of the year, 0 for none [USD]
    """

    usd_per_day: Any
    change_per_year: Any
    low: Any
    high: Any
    budget_usd: Any

    @classmethod
    def of(cls, plan: Plan, case: Any) -> "YearAhead":
        """That of a plan in a case: growth_per_month, price_change_per_year, budget_usd_per_year.
        What a contract holds at its price does not change.
        """
        drift, change = yearly_drift(), case.price_change_per_year
        part = plan.loose_usd / plan.usd_per_day
        ends = ((1 + change) * of / drift.middle - 1 for of in (drift.low, drift.high))
        middle, low, high = (
            bill_change_per_year(case.growth_per_month, part * of) for of in (change, *ends)
        )
        return cls(plan.usd_per_day, middle, low, high, case.budget_usd_per_year)

    def spent(self, days: Any) -> dict[str, Any]:
        """What is spent by a day: as expected, and if prices fall or rise as they did [USD]."""
        changes = {
            "expected": self.change_per_year,
            "if prices fall": self.low,
            "if prices rise": self.high,
        }
        return {name: spent_usd(self.usd_per_day, of, days) for name, of in changes.items()}

    def passed(self) -> tuple[Any, Any, Any]:
        """Days until the budget is spent: as expected, and the earliest and latest [day]."""
        of = self.usd_per_day
        return tuple(
            days_until_spent(of, change, self.budget_usd)
            for change in (self.change_per_year, self.high, self.low)
        )
