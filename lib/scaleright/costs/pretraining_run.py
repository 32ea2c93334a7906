"""A pretraining run on so many chips of a platform, as a case pays for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from scaleright.costs.fastest_steps import Step
from scaleright.costs.platform_terms import rents, terms
from scaleright.costs.pretraining import ChipHours, PretrainingCost, run_days
from scaleright.formulas import lookup
from scaleright.market import PaidHour, taken_accelerator, unfixed, yearly_drift
from scaleright.ops import where
from scaleright.quantity import choose, least
from scaleright.quantity.rows import Row


@dataclass(frozen=True)
class Hour:
    """An hour of one chip [USD/h].

    usd, power_usd : rent, or what an owned chip costs without power; its power
    rented : what it is rented for, whether it is or not
    owned : whether it is one's own: what nobody sells is rented
    loose : whether its rent may be another when the run is made
    prices : of an owned one, a row of `platform_terms.terms`
    """

    usd: Any
    power_usd: Any
    rented: PaidHour
    owned: Any
    loose: Any
    prices: Row

    @classmethod
    def of(cls, case: Any, accelerator_name: Any) -> Self:
        """As a case pays for its chips, at its own rent if the accelerator is the case's.

        case : quantities `accelerator`, `paid`, `contract`, `seller` and `rent_usd_per_hour`, 0 for
            the price as it is listed
        """
        prices, own = choose(terms(), accelerator_name), case.paid == "own"
        owned = own & (prices.owned > 0)
        mine = where(accelerator_name == case.accelerator, case.rent_usd_per_hour, 0.0)
        rented = rents().paid(accelerator_name, case.contract, case.seller, mine)
        usd, power = where(owned, prices.owned, rented.usd), where(owned, prices.power, 0.0)
        return cls(usd, power, rented, owned, unfixed(case.contract, mine), prices)

    @property
    def there(self) -> Any:
        """Whether it has a price."""
        return self.owned | self.rented.there

    @property
    def ends(self) -> tuple[Any, Any]:
        """The ends of its price over the price [1]: of a rent those of the year ahead, unless a
        contract or the reader fixes it.
        """
        low, high = yearly_drift().mean_over(1.0)
        return (
            where(self.owned, self.prices.owned_low / self.usd, where(self.loose, low, 1.0)),
            where(self.owned, self.prices.owned_high / self.usd, where(self.loose, high, 1.0)),
        )

    def at(self, price: Any) -> dict[str, Any]:
        """What `pretraining_usd` takes of it, where all costs so many times as much."""
        return {"usd_per_hour": self.usd * price, "power_usd_per_hour": self.power_usd * price}

    @property
    def total(self) -> Any:
        """With power [USD/h]."""
        return self.usd + self.power_usd


@dataclass(frozen=True)
class Paid:
    """Work on so many chips: its step, an hour of a chip, chip-hours and dollars."""

    chips: Any
    step: Any
    hour: Hour
    hours: Any
    cost: Any

    @property
    def done(self) -> Any:
        """Whether it gets done: it fits there, and what stops it leaves it time."""
        return self.hours.total > 0


@dataclass(frozen=True)
class Run(Paid):
    """A run on so many chips."""

    step: Step
    hours: ChipHours
    cost: PretrainingCost

    @property
    def usd(self) -> Any:
        """The run alone, without experiments and people [USD]."""
        return self.cost.run_usd

    @property
    def days(self) -> Any:
        """How long it takes [d]."""
        return run_days(self.hours.total, self.chips)

    @property
    def least_days(self) -> Any:
        """What steps in the fastest layout alone take, if nothing stops them: a bound [d]."""
        return run_days(self.hours.least, self.chips)

    @property
    def least_usd(self) -> Any:
        """What these cost [USD]."""
        return self.hours.least * self.hour_usd

    @property
    def hour_usd(self) -> Any:
        """What an hour of a chip costs, with its power [USD/h]."""
        return self.usd / self.hours.total


class Cheapest(NamedTuple):
    """The cheapest of several runs: the platform, what the run costs [USD], and of how many that
    get done at a price [1].
    """

    platform: Any
    usd: Any
    many: Any

    @classmethod
    def of(cls, usd: Mapping[str, Any], after: Any = None) -> Self:
        """That of what runs cost by platform; no platform ("") and NaN where none gets done.

        after : a platform to leave out, such as the cheapest of all
        """
        return cls(*least(usd, after), sum(where(of > 0, 1, 0) for of in usd.values()))

    def taken(self, asked: Any, runs: Mapping[str, Any]) -> SimpleNamespace:
        """A case on the accelerator that it names, or if it asks for the cheapest on that."""
        name = taken_accelerator(asked.accelerator, self.platform, next(iter(runs)))
        return SimpleNamespace(**vars(asked) | {"accelerator": name})


@lookup
def cheapest(runs: Mapping[str, Run], seen: bool = True, after: Any = None) -> Cheapest:
    """The cheapest of runs by platform, of those whose architecture the fit has seen, or else of
    all others; no platform ("") and NaN where none gets done.

    after : a platform to leave out, such as the cheapest of all
    """
    none = float("nan")

    def counted(run: Run) -> Any:
        here, there = (run.usd, none) if seen else (none, run.usd)
        return where(run.step.trust.seen, here, there)

    return Cheapest.of({name: counted(run) for name, run in runs.items()}, after)
