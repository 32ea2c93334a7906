"""What an hour costs in a case of quantities: the price of `hours` under a contract that is chosen,
or a rent of the reader's own.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from scaleright.catalog import shared
from scaleright.formulas import lookup
from scaleright.information import spread_between
from scaleright.market.history import drift_apart, yearly_drift
from scaleright.market.hours import COMMITTED, MEDIAN, contracts, hour, recent_hour, sellers
from scaleright.ops import first_case, item, where
from scaleright.quantity import Quantity, derived, least, over
from scaleright.quantity.lists import place_of_least, word_at
from scaleright.quantity.rows import Table
from scaleright.ranges import Ends
from scaleright.units import HOURS_PER_DAY

BINDING = dict(zip(COMMITTED, (1.0, 1.0, 3.0), strict=True))
"""Contracts of which every hour is paid, used or not, with the years for which they fix the price:
of "reserved" the shortest that is sold, since its sources state no term.
"""


BEST = "cheapest"
"""What stands for the accelerator on which a case costs least, and for the contract under which its
hours do.
"""
LASTING = ("on demand", *BINDING)
"""Contracts under which nobody takes an hour away: those among which `BEST` is."""

TERM_YEARS = 1.0
"""For how long a contract may bind that is taken as the cheapest where hours are used year after
year: as far ahead as rents are looked at.
"""


def taken_accelerator(asked: Any, cheapest: Any, otherwise: str, name: str = "taken") -> Quantity:
    """The accelerator that is asked for, or if that is `BEST` the cheapest; the same all along a
    chart, whose rows would ask for others.

    cheapest : the one on which a case costs least, "" where it runs on none
    otherwise : what stands for it there
    name : of the quantity, one of several in a case

    >>> from scaleright.quantity import given
    >>> taken_accelerator("cheapest", given("found", "B300"), "H100 SXM").value
    'B300'
    """
    found = where(cheapest == "", otherwise, cheapest)
    return derived(name, where(asked == BEST, found, asked), held=True)


class CheapestAccelerator(NamedTuple):
    """The one that a case asks for, or if that is `BEST` the one on which it costs least, and of
    how many with a price it is that [1].
    """

    name: Quantity
    many: Any

    @classmethod
    def of(
        cls, asked: Any, chip: Quantity, names: Sequence[str], usd: Any, rows: str, **taken: str
    ) -> Self:
        """That among some.

        chip : an input of its own, which stands for each of them
        usd : what the case costs on it; NaN where it has no price there
        rows : what a page calls them
        taken : see `taken_accelerator`

        >>> from scaleright.quantity import evaluate, given, look_up
        >>> chip, asked = given("chip", "A"), given("asked", "cheapest")
        >>> usd = look_up({"A": 2.0, "B": 1.0}, chip)
        >>> found = CheapestAccelerator.of(asked, chip, ["A", "B"], usd, "two")
        >>> evaluate(found, {}), evaluate(found, {"asked": "A"})
        (['B', 2.0], ['A', 1.0])
        """
        usd = where((asked == BEST) | (asked == chip), usd, math.nan)
        each = over(rows, {chip: [*names]}, {"usd": usd})["usd"]
        place = place_of_least(each)
        found = where(place < 0, "", word_at([*names], place))
        many = sum(where(item(each, at) > 0, 1, 0) for at in range(len(names)))
        return cls(taken_accelerator(asked, found, names[0], **taken), many)


def binds(contract: Any) -> Any:
    """Whether every hour of a contract is paid, used or not.

    >>> binds("one year"), binds("spot")
    (True, False)
    """
    return functools.reduce(lambda found, of: (contract == of) | found, BINDING, False)


def fixed_years(contract: Any) -> Any:
    """For how long a contract fixes what an hour costs [years]; 0 where it may be another tomorrow.

    >>> fixed_years("three years"), fixed_years("on demand")
    (3.0, 0.0)
    """
    return first_case([(contract == of, years) for of, years in BINDING.items()], 0.0)


def unfixed(contract: Any, own: Any) -> Any:
    """Whether neither a contract nor the reader fixes what an hour will cost [truth value].

    own : the reader's own rent, 0 for none [USD/h]

    >>> unfixed("spot", 0.0), unfixed("one year", 0.0), unfixed("spot", 2.0)
    (True, False, False)
    """
    return where(binds(contract), False, own == 0)


@lookup
def rents_apart(loose: Any, other: Any) -> Any:
    """Standard deviation that the rents of two chips in the year ahead give the logarithm of the
    ratio of their prices [1]: rents move together in part.

    loose, other : whether that of either may move [truth value]

    >>> rents_apart(False, False), rents_apart(True, True) < 2**0.5 * rents_apart(True, False)
    (0.0, True)
    """
    apart, alone = (spread_between(*of.mean_over(1.0)) for of in (drift_apart(), yearly_drift()))
    return where(loose & other, apart, where(loose | other, alone, 0.0))


@dataclass(frozen=True)
class PaidHour:
    """What an hour costs in a case of quantities.

    usd, low, high : as of an `Hour`, all the same where the reader gives a rent of their own; NaN
        where nobody sells the chip so [USD/h]
    least, most : what the price may be where one on demand was discounted; else the same [USD/h]
    counted, age : in words, whose price and of which days it is
    why : why there is no price, in words; empty where there is one
    there : whether there is one
    """

    usd: Any
    low: Any
    high: Any
    least: Any
    most: Any
    counted: Any
    age: Any
    why: Any
    there: Any

    def paid_hours(self, contract: Any, hours_per_day: Any) -> Any:
        """Hours a day that are paid for so many hours of use [h/day]: all of them under a contract
        that binds.

        >>> hour = Hours(["H100 SXM"]).paid("H100 SXM")
        >>> hour.paid_hours("one year", 5.0), hour.paid_hours("spot", 5.0)
        (24.0, 5.0)
        """
        return where(binds(contract), HOURS_PER_DAY, hours_per_day)

    def ends(self, own: Quantity) -> Ends:
        """Its ends, as those of the reader's own rent: the parameter that overrides it."""
        return Ends(own, self.low, self.high)


class Rents(NamedTuple):
    """An hour under a case's contract, and one that may be given back at any time: under the same
    contract if it binds nobody, else on demand.
    """

    hour: PaidHour
    by_the_hour: PaidHour


@shared
def _sold(name: str) -> tuple[dict, dict, dict]:
    """What an hour of a chip costs, under each contract and from each seller; and in words its
    contracts, and the sellers under each of them.
    """
    columns = ("usd", "low", "high", "least", "most", "counted", "age")
    sold = {of: sellers(name, of) for of in contracts(name)}
    found = [hour(name, contract, who) for contract, of in sold.items() for who in of]
    return (
        {(name, of.contract, of.seller): {c: getattr(of, c) for c in columns} for of in found},
        {name: {"words": ", ".join(sold)}} if sold else {},
        {(name, contract): {"words": ", ".join(of)} for contract, of in sold.items()},
    )


class Hours:
    """The `hour` of some chips under every contract and from every seller, for quantities.

    >>> from scaleright.quantity import evaluate, given
    >>> rents = Hours(["H100 SXM", "MI300X"])
    >>> chip, own = given("chip", "H100 SXM"), given("own", 0.0)
    >>> found = rents.paid(chip, "reserved", "median", own)
    >>> found.usd.value == hour("H100 SXM", "reserved").usd, evaluate([found.usd], {"own": 3.0})
    (True, [3.0])
    >>> evaluate([Hours(["H100 SXM", "A40"]).paid(chip, "spot").why], {"chip": "A40"})
    ['no spot price of A40 is listed; it has prices on demand, reserved, one year, three years']
    """

    def __init__(self, names: Sequence[str], old: bool = True):
        """Old : whether chips count that nobody has listed anew, see `hours.recent_hour`"""
        self.names = tuple(names)
        prices, contracts_of, sellers_of = dict[Any, dict](), dict[Any, dict](), dict[Any, dict]()
        for name in self.names:
            if not (old or recent_hour(name)):
                continue
            for known, of in zip((prices, contracts_of, sellers_of), _sold(name), strict=True):
                known |= of
        self._prices = Table(prices, otherwise="none")
        self._contracts = Table(contracts_of, "none")
        self._sellers = Table(sellers_of, "none")

    def paid(
        self,
        accelerator_name: Any,
        contract: Any = "on demand",
        seller: Any = MEDIAN,
        own: Any = 0.0,
    ) -> PaidHour:
        """The hour that a case pays for.

        own : a rent of the reader's own, 0 for the price as it is listed [USD/h]
        """
        listed = self._prices.row(accelerator_name, contract, seller)
        given, chip = own > 0, accelerator_name
        who = self._sellers.row(chip, contract).words
        has = self._contracts.row(chip).words
        never = "no recent price of " + chip + " is listed"
        unsold = "no " + contract + " price of " + chip + " is listed; it has prices "
        other = "no such seller has a price " + contract + " of " + chip + "; it has those of "
        unsold = where(has == "", never, unsold + has)
        why = where(who == "", unsold, other + who)
        return PaidHour(
            usd=where(given, own, listed.usd),
            low=where(given, own, listed.low),
            high=where(given, own, listed.high),
            least=where(given, own, listed.least),
            most=where(given, own, listed.most),
            counted=where(given, "your own rent", listed.counted),
            age=where(given, "yours", where(listed.there, listed.age, "none")),
            why=where(given | listed.there, "", why),
            there=given | listed.there,
        )

    def unlisted(self, name: Any) -> Any:
        """Whether nobody rents a chip out under any contract [truth value].

        >>> Hours(["H100 SXM", "GB200"]).unlisted("GB200").value
        True
        """
        return self._contracts.row(name).words == ""

    def seller_of_all(
        self, names: Sequence[Any], contract: Any, seller: Any, own: Sequence[Any]
    ) -> tuple[Any, Any]:
        """The seller at whose prices one or two chips are told: the one asked for if all are rented
        out so, or the reader has rents of their own [USD/h], else all sellers; and that it is not
        the one asked for, a sentence after a blank.

        >>> asked = ["GB300", "B300"], "on demand", "AWS", [0.0, 0.0]
        >>> [of.value for of in Hours(["B300", "GB300"]).seller_of_all(*asked)]
        ['median', ' AWS does not rent both out so: all sellers count.']
        """
        there = True
        for name, usd in zip(names, own, strict=True):
            there = there & ((usd > 0) | self._prices.row(name, contract, seller).there)
        them = "both" if len(names) > 1 else "it"
        told = " " + seller + f" does not rent {them} out so: all sellers count."
        return where(there, seller, MEDIAN), where(there, "", told)

    def contract(self, case: Any, hours_per_day: Any, years: Any) -> tuple[Quantity, Quantity]:
        """The contract of a case, or if that is `BEST` the one of `LASTING` under which so many
        hours of use a day cost least, the loosest of equals, and of those that nobody sells; and of
        how many that are sold it is the best, 0 if it was asked for by name or at the reader's own
        rent.

        case : as of `rents`
        years : for how long one may bind at most [years]

        >>> from types import SimpleNamespace as N
        >>> from scaleright.quantity import evaluate, given
        >>> case = N(accelerator="H100 SXM", contract=BEST, seller="median", rent_usd_per_hour=0.0)
        >>> taken = Hours(["H100 SXM"]).contract(case, given("hours", 24.0), given("years", 3.0))
        >>> evaluate(taken, {}), evaluate(taken, {"hours": 8.0}), evaluate(taken, {"years": 2.0})
        (['three years', 4.0], ['on demand', 4.0], ['reserved', 3.0])
        """
        of = case.accelerator, case.seller, case.rent_usd_per_hour
        paid = {name: self.paid(of[0], name, *of[1:]) for name in LASTING}
        binds_for = {name: fixed_years(name) <= years for name in paid}
        bills = {
            name: where(binds_for[name], hour.usd * hour.paid_hours(name, hours_per_day), math.nan)
            for name, hour in paid.items()
        }
        name, _ = least(bills)
        there = (where(binds_for[name] & of.there, 1, 0) for name, of in paid.items())
        best, sold = case.contract == BEST, sum(there)
        name = where(best, where(name == "", LASTING[0], name), case.contract)
        return name, where(best & (of[2] == 0), sold, 0)

    def taken(self, case: Any) -> SimpleNamespace:
        """A case under the contract that it names, or if that is `BEST` the one of `TERM_YEARS` at
        most under which hours around the clock cost least.

        case : as of `rents`
        """
        name, _ = self.contract(case, HOURS_PER_DAY, TERM_YEARS)
        return SimpleNamespace(**vars(case) | {"contract": name})

    def on(self, case: Any, accelerator_name: Any) -> SimpleNamespace:
        """A case on an accelerator, `taken`; a rent of the reader's own is that of the one that it
        names.
        """
        rent = where(case.accelerator == accelerator_name, case.rent_usd_per_hour, 0.0)
        own = {"accelerator": accelerator_name, "rent_usd_per_hour": rent}
        return self.taken(SimpleNamespace(**vars(case) | own))

    def rents(self, case: Any) -> Rents:
        """The hours of a case: its accelerator, contract, seller and rent_usd_per_hour.

        >>> from types import SimpleNamespace as N
        >>> case = N(accelerator="H100 SXM", contract="reserved", seller="median")
        >>> case.rent_usd_per_hour = 0.0
        >>> found = Hours(["H100 SXM"]).rents(case)
        >>> found.by_the_hour.usd.value > found.hour.usd.value
        True
        """
        of, own = (case.accelerator, case.seller), case.rent_usd_per_hour
        loose = where(binds(case.contract), "on demand", case.contract)
        by_the_hour = self.paid(of[0], loose, of[1], own)
        return Rents(self.paid(of[0], case.contract, of[1], own), by_the_hour)

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        """Those of the chips among these that are sold at all."""
        return cls([name for name in names if contracts(name)])
