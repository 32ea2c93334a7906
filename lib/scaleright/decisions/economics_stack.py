"""GPU Economics Stack (F1): the bill of a month in layers, and which layer is the largest.

What demand takes is seen in how the bill moves with it; dollars go to compute, to what scarce
supply adds to it, and to operations that no price list names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import shared, table
from scaleright.costs.break_even import OwnedCost
from scaleright.costs.ownership import Ownership
from scaleright.costs.serving import Month, Serving
from scaleright.costs.token_offers import Paid, ServingChoices
from scaleright.decisions.serving_options import OWN_IT, RENT_IT, ServingOptions
from scaleright.formulas import NON_NEGATIVE, SHARE, Breakdown, Domain, closed_form, lookup
from scaleright.inference.demand import Busy
from scaleright.inference.node_speed import NodeSpeed
from scaleright.market import BEST as CHEAPEST
from scaleright.market import cost_factor, unfixed, yearly_drift
from scaleright.ops import maximum, minimum, where
from scaleright.quantity import at, choose, given, least
from scaleright.quantity.graph import derived, parameter
from scaleright.ranges import Ends, interval_of
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, HOURS_PER_YEAR, MONTHS_PER_YEAR

SOURCE = "Clarifai's GPU Economics Stack"
COMPUTE, SUPPLY, HIDDEN = "compute", "supply", "hidden operations"
PARTS = ("compute", "memory", "packaging")
"""Of what making a chip costs, in `data/chip_costs.csv`."""
LAYER_OF = {
    "processors": COMPUTE,
    "servers and network": COMPUTE,
    "memory": SUPPLY,
    "packaging": SUPPLY,
    "margin of the maker": SUPPLY,
    "margin of the seller": SUPPLY,
    "waiting": SUPPLY,
    "idle hours": HIDDEN,
    "power and cooling": HIDDEN,
    "upkeep and insurance": HIDDEN,
    "people": HIDDEN,
    "storage": HIDDEN,
    "data moved out": HIDDEN,
    "compliance": HIDDEN,
}
"""The layer of each part of a bill, both by the words for them."""
_LIFE = Domain(0.0, 50.0, (0.5, 8.0), open_low=True)


@dataclass(frozen=True)
class StackBill(Breakdown):
    """The bill of a month in the parts of the stack [USD/month]; they add up to `total`.

    Compute and supply are those of hours that work; hours that do not are `idle_hours`.
    """

    processors_usd: Any
    servers_and_network_usd: Any
    memory_usd: Any
    packaging_usd: Any
    margin_of_the_maker_usd: Any
    margin_of_the_seller_usd: Any
    waiting_usd: Any
    idle_hours_usd: Any
    power_and_cooling_usd: Any
    upkeep_and_insurance_usd: Any
    people_usd: Any
    storage_usd: Any
    data_moved_out_usd: Any
    compliance_usd: Any

    @property
    def layers(self) -> dict[str, Any]:
        """The three layers by name [USD/month]."""
        compute, supply = (
            reduce(add, (usd for name, usd in self.labeled().items() if LAYER_OF[name] == layer))
            for layer in (COMPUTE, SUPPLY)
        )
        return {COMPUTE: compute, SUPPLY: supply, HIDDEN: self.total - compute - supply}

    @property
    def largest(self) -> tuple[Any, Any]:
        """The layer that takes most, and what it takes [USD/month]."""
        name, usd = least({name: -usd for name, usd in self.layers.items()})
        return name, -usd

    @property
    def second(self) -> Any:
        """What the layer after the largest takes [USD/month]."""
        compute, supply, hidden = self.layers.values()
        most = maximum(maximum(compute, supply), hidden)
        least_ = minimum(minimum(compute, supply), hidden)
        return self.total - most - least_


@closed_form(
    hardware_usd=NON_NEGATIVE,
    purchase_usd=NON_NEGATIVE,
    power_and_cooling_usd=NON_NEGATIVE,
    upkeep_usd=NON_NEGATIVE,
    crew_usd=NON_NEGATIVE,
    utilization=SHARE,
    chip_share=SHARE,
    compute_share=Domain(0.0, 1.0, (0.0, 0.3)),
    memory_share=Domain(0.0, 1.0, (0.0, 0.3)),
    packaging_share=Domain(0.0, 1.0, (0.0, 0.3)),
    waiting_usd=NON_NEGATIVE,
    storage_usd=NON_NEGATIVE,
    egress_usd=NON_NEGATIVE,
    people_usd=NON_NEGATIVE,
    compliance_usd=NON_NEGATIVE,
)
def stack_bill(
    hardware_usd,
    purchase_usd,
    power_and_cooling_usd,
    upkeep_usd,
    crew_usd,
    utilization,
    chip_share,
    compute_share,
    memory_share,
    packaging_share,
    waiting_usd=0.0,
    storage_usd=0.0,
    egress_usd=0.0,
    people_usd=0.0,
    compliance_usd=0.0,
) -> StackBill:
    """What accelerators and all around them cost in a month, in the parts of the stack.

    A rent pays what the same hours cost whoever owns the machine; what it asks above that is the
    seller's margin, and where it asks less every part is paid in part.

    Parameters
    ----------
    hardware_usd : what is paid for the accelerators, rented or owned [USD/month]
    purchase_usd, power_and_cooling_usd, upkeep_usd, crew_usd : what the same accelerators cost who
        owns them: price and capital; power and the place; repairs, insurance and taxes; people
        [USD/month]
    utilization, chip_share : of the paid hours, those that work; of the purchase, the bare chip [1]
    compute_share, memory_share, packaging_share : of the chip's price, what making each part costs
        [1]; what is left is the maker's margin
    waiting_usd, storage_usd, egress_usd, people_usd, compliance_usd : beside the accelerators
        [USD/month]

    >>> bill = stack_bill(100.0, 40.0, 10.0, 5.0, 5.0, 0.5, 0.5, 0.1, 0.2, 0.1)
    >>> bill.total, bill.margin_of_the_seller_usd, bill.idle_hours_usd
    (100.0, 20.0, 40.0)
    """
    owner_usd = purchase_usd + power_and_cooling_usd + upkeep_usd + crew_usd
    paid = minimum(1.0, hardware_usd / where(owner_usd > 0, owner_usd, 1.0))
    asked = where(hardware_usd > owner_usd + 1e-9 * owner_usd, hardware_usd, owner_usd)
    margin = asked - owner_usd  # exactly none where an owner pays, whose sum may be off by a digit
    working = purchase_usd * paid * utilization
    chip, left = working * chip_share, 1 - compute_share - memory_share - packaging_share
    return StackBill(
        processors_usd=chip * compute_share,
        servers_and_network_usd=working * (1 - chip_share),
        memory_usd=chip * memory_share,
        packaging_usd=chip * packaging_share,
        margin_of_the_maker_usd=chip * maximum(left, 0.0),
        margin_of_the_seller_usd=margin * utilization,
        waiting_usd=waiting_usd,
        idle_hours_usd=(purchase_usd * paid + margin) * (1 - utilization),
        power_and_cooling_usd=power_and_cooling_usd * paid,
        upkeep_and_insurance_usd=upkeep_usd * paid,
        people_usd=crew_usd * paid + people_usd,
        storage_usd=storage_usd,
        data_moved_out_usd=egress_usd,
        compliance_usd=compliance_usd,
    )


@closed_form(
    chips=NON_NEGATIVE,
    rent_usd_per_hour=NON_NEGATIVE,
    owned_usd_per_hour=NON_NEGATIVE,
    lead_months=NON_NEGATIVE,
    years=_LIFE,
)
def waiting_usd_per_month(chips, rent_usd_per_hour, owned_usd_per_hour, lead_months, years):
    """What it costs to rent by the hour until one's own accelerators come, beyond what they would
    have cost, spread over the months that they serve [USD/month].

    Parameters
    ----------
    chips : that are waited for [1]
    rent_usd_per_hour, owned_usd_per_hour : of one, until then and afterwards [USD/h]
    lead_months : between order and use [month]
    years : of use [year]

    >>> waiting_usd_per_month(8.0, 3.0, 2.0, 6.0, 4.0)
    730.5
    """
    dearer = maximum(rent_usd_per_hour - owned_usd_per_hour, 0.0)
    return (
        chips * dearer * HOURS_PER_YEAR / MONTHS_PER_YEAR * lead_months / (MONTHS_PER_YEAR * years)
    )


@lookup
@shared
def chip_costs() -> Mapping[str, Mapping[str, float]]:
    """What making a chip costs, by chip and part [USD].

    >>> costs = chip_costs()["B200"]
    >>> costs["memory"] > costs["compute"]
    True
    """
    frame = table("chip_costs")
    found: dict[str, dict[str, float]] = {}
    for chip, part, usd in zip(frame["accelerator"], frame["part"], frame["usd"], strict=True):
        found.setdefault(str(chip), dict.fromkeys(PARTS, 0.0))[str(part)] = float(usd)
    return found


# The GPU Economics Stack of a service: the fleet of its traffic, and the bill of its month


OWNED = "owned"
GB_PER_TB = 1000
HALF, TWICE = 0.5, 2.0
DRIVERS = {
    "the requests a day": "requests_per_day",
    "the tokens of a prompt": "input_tokens",
    "the tokens of an answer": "output_tokens",
    "the speed for each reader": "pace_tokens_per_s",
    "the busiest time": "peak_to_mean",
    "the price of a chip": "chip_usd",
    "the number of people": "people",
    "the data moved out": "moved_gb_per_month",
    "the data stored": "stored_tb",
    "the cost of compliance": "compliance_usd_per_year",
}
"""What moves the bill, each a parameter of a case, by the words for it."""
RENT = "the rent of an hour"
VOLUME = "the requests a day"
LEADING = (VOLUME, RENT, "the price of a chip", "the number of people", "the data moved out")
"""Volume and prices, which a reader sets against each other first."""
NAMELESS = "a rent or a price of your own is that of one accelerator; name it"
BEST = {"rent_over_listed": 1.0}
"""Inputs that no control gives, at their best estimates."""


@dataclass(frozen=True)
class Served:
    """A service of a case of quantities.

    case : as given, with where its accelerators stand
    speed, busy : of the engine, and how busy the traffic makes it
    paid : for an hour and for tokens at an API
    month : the fleet, and what it costs each way, as the chapter `token_cost` has it [USD/month]
    owner : what a year of one such accelerator costs who owns it [USD/year]
    bill : of the month, by the parts of the stack [USD/month]
    rent : what the rent is over the one that is paid, an input that only ends move [1]
    free_usd : the whole bill at such a rent [USD/month]
    many : accelerators of which this is the cheapest [1]
    nameless : whether a rent or a price of the reader's own is that of no accelerator that is named
    """

    case: Any
    speed: NodeSpeed
    busy: Busy
    paid: Paid
    month: Month
    owner: OwnedCost
    bill: StackBill
    rent: Any
    free_usd: Any
    many: Any
    nameless: Any

    @classmethod
    def of(cls, case: Any, tables: ServingChoices) -> Self:
        """That of a case: model, accelerator, precision, way, contract, seller, rent_usd_per_hour,
        setting, chip_usd, traffic, requests_per_day, peak_to_mean, pace_tokens_per_s, ttft_s,
        spare_engines, input_tokens, output_tokens, cached_share, lead_months, people,
        moved_gb_per_month, stored_tb, compliance_usd_per_year.
        """
        owns = case.way == OWNED
        options = ServingOptions.of(_placed(case, tables), tables, where(owns, OWN_IT, RENT_IT))
        of, rent = options.taken, given("rent_over_listed", 1.0)
        speed, busy, paid, factors = of.speed, of.busy, of.paid, of.factors
        usd = derived("chip_usd_paid", of.case.chip_usd)
        case = SimpleNamespace(**vars(of.case) | {"chip_usd": usd})
        what = usd, factors["drawn"], of.chip["age_years"]
        terms = Ownership.build(*what, factors["usd_per_kwh"], factors)
        month = Serving.of(case, speed, *paid).month(case.requests_per_day, speed, busy, terms)
        owner = terms.owned_usd_per_year(HOURS_PER_DAY * busy.standing)
        loose = tables.hours.rents(case).by_the_hour.usd
        moved = month._replace(usd=month.usd._replace(rented=month.usd.rented * rent))
        here, free = (_bill(case, of, owner, terms, factors, loose) for of in (month, moved))
        found = options.ways, options.nameless
        return cls(case, speed, busy, paid, month, owner, here, rent, free.total, *found)

    @property
    def known(self) -> Any:
        """Whether an engine keeps the pace and its hours have a price."""
        paid = (self.case.way == OWNED) | self.paid.hour.there
        return self.speed.served & paid & ~self.nameless

    @property
    def why_not(self) -> Any:
        """Why there is no bill, in words; empty where there is one."""
        why = where(self.speed.served, self.paid.hour.why, self.speed.why_not)
        return where(self.nameless, NAMELESS, why)

    @property
    def million_tokens(self) -> Any:
        """Output tokens of a month [millions]."""
        a_day = self.case.requests_per_day * self.case.output_tokens
        return a_day * DAYS_PER_YEAR / MONTHS_PER_YEAR / 1e6

    @property
    def over_accelerators(self) -> Any:
        """The whole bill over what the accelerators alone cost [1]."""
        usd = self.month.usd
        return self.bill.total / where(self.case.way == OWNED, usd.owned, usd.rented)

    def interval(self) -> tuple[Any, Any]:
        """Low and high end of the whole bill (90 %): the speed in practice, and the rent of the
        year ahead where nothing fixes it [USD/month].
        """
        size, drift = self.case.requests_per_day, yearly_drift().mean_over(1.0)
        free = unfixed(self.case.contract, self.case.rent_usd_per_hour)
        # faster engines are as many requests fewer
        ends = [
            Ends(size, size / self.speed.high, size / self.speed.low),
            Ends(self.rent, *(where(free, end, 1.0) for end in drift)),
        ]
        low, high = (at(end, **BEST) for end in interval_of(self.free_usd, ends))
        return low, high

    def ends(self) -> dict[str, Ends]:
        """Each driver at half and at twice what it is; no busiest time is below the mean."""
        found = {}
        for name, of in DRIVERS.items():
            here = getattr(self.case, of)
            least = maximum(here * HALF, 1.0) if of == "peak_to_mean" else here * HALF
            found[name] = Ends(here, least, here * TWICE)
        return found | {RENT: Ends(self.rent, HALF, TWICE)}

    def doubled(self) -> dict[str, Any]:
        """How much more the whole bill is with each of `LEADING` doubled [1]."""
        found, ends = {}, self.ends()
        for name in LEADING:
            end = ends[name]
            there = at(self.free_usd, **BEST | {parameter(end.parameter) or "": end.high})
            found[name] = there / self.bill.total - 1
        return found


def _placed(case: Any, tables: ServingChoices) -> SimpleNamespace:
    """A case whose accelerators stand in a data center if they are rented, and are kept day and
    night if they are owned, with the usual price of power there, and the API at its cheapest host
    for such requests.
    """
    owns = case.way == OWNED
    place = where(owns, case.setting, "data center")
    power = choose(tables.settings, place).usd_per_kwh
    contract = where(owns, "reserved", case.contract)
    own: Mapping[str, Any] = {f"api_{kind}": 0.0 for kind in ("input", "cached", "output")}
    more = {"setting": place, "usd_per_kwh": power, "api_host": CHEAPEST, "utilization": 1.0}
    more |= {"contract": contract}
    return SimpleNamespace(**vars(case) | more | own)


def _bill(
    case: Any, month: Month, owner: OwnedCost, terms: Ownership, factors: Any, loose: Any
) -> StackBill:
    """The bill of a month of a case.

    owner : what a year of one accelerator costs who owns it, by parts [USD/year]
    loose : rent of one by the hour [USD/h]
    """
    owns = case.way == OWNED
    # the years of one accelerator that the month takes, by what they cost an owner
    years = month.usd.owned / owner.total
    chip = choose(chip_costs(), case.accelerator)
    price = maximum(case.chip_usd, chip.compute + chip.memory + chip.packaging)
    bare = case.chip_usd * (1 + factors["sales_tax_share"]) / terms.price_usd
    pay = cost_factor("staff_usd_per_year", "data center").best / MONTHS_PER_YEAR
    stored = cost_factor("object_storage_usd_per_gb_month", "cloud").best
    moved = cost_factor("egress_usd_per_gb", "cloud").best
    hour = owner.total / HOURS_PER_YEAR
    waits = waiting_usd_per_month(month.chips, loose, hour, case.lead_months, terms.years)
    return stack_bill(
        where(owns, month.usd.owned, month.usd.rented),
        (owner.depreciation_usd + owner.capital_usd) * years,
        (owner.power_usd + owner.facility_usd) * years,
        (owner.maintenance_usd + owner.insurance_and_tax_usd) * years,
        owner.people_usd * years,
        month.utilization,
        bare,
        chip.compute / price,
        chip.memory / price,
        chip.packaging / price,
        where(owns & (loose > 0), waits, 0.0),
        case.stored_tb * GB_PER_TB * stored,
        where(owns, 0.0, case.moved_gb_per_month * moved),
        case.people * pay,
        case.compliance_usd_per_year / MONTHS_PER_YEAR,
    )
