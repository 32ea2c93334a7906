"""Build, buy or call an API (F16) with the Deployment Decision Tree (F10): four ways to serve one
workload, by what a year costs, and from which spend a site of one's own pays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import accelerator, fact
from scaleright.costs import uncertainty
from scaleright.costs.day_bills import DayBill, day_bill
from scaleright.costs.day_choices import DayChoices
from scaleright.costs.ownership import Ownership
from scaleright.costs.regional_power import REGIONS, power_price
from scaleright.costs.rent import egress_usd_per_year
from scaleright.costs.tokens import MILLION, mix_usd_per_million
from scaleright.decisions.capex_opex import source_rule
from scaleright.decisions.plan_workload import IN_REGION, STAYS
from scaleright.formulas import NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.inference.day import DayFleet
from scaleright.information import probability_cheaper, spread_between
from scaleright.market import Hosts, Rents, cost_factor, yearly_drift
from scaleright.ops import INFINITY, ceil, maximum, minimum, sqrt, where
from scaleright.quantity import choose, least, pick
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY, HOURS_PER_YEAR, MONTHS_PER_YEAR

API, RENT = "call an API", "rent"
COLOCATION, SITE = "own chips in a colocation", "own chips on your own site"
WAYS = (API, RENT, COLOCATION, SITE)
ON_PREMISES, MULTI_CLOUD = "on premises", "multi-cloud"
SEVERAL = "several"
BYTES_PER_TOKEN, BYTES_PER_GB = 4.0, 1e9
"""Of text that leaves a cloud: about four characters a token."""
_FIXED = {
    "scaling": "base and bursts",
    "startup_minutes": 10.0,
    "least_engines": 1,
    "waiting_share": 0.0,
    "interruptions_per_day": 1.0,
    "prefixes": "what fits",
}
"""What a service is given where nothing else is asked, as the chapter on a day's load has it."""


@closed_form(
    crew_usd_per_year=NON_NEGATIVE, rent_usd_per_hour=POSITIVE, owned_usd_per_hour=NON_NEGATIVE
)
def own_site_usd_per_year(crew_usd_per_year, rent_usd_per_hour, owned_usd_per_hour):
    """Rent a year above which a site of one's own is cheaper: what owning saves of it pays the
    crew; infinite where an owned hour costs as much as a rented one [USD/year].

    Parameters
    ----------
    crew_usd_per_year : of the people who run a site, which it takes whatever its size [USD/year]
    rent_usd_per_hour, owned_usd_per_hour : of an hour of use; the owned one without people [USD/h]

    >>> own_site_usd_per_year(1e6, 2.0, 1.5), own_site_usd_per_year(1e6, 1.0, 1.5)
    (4000000.0, inf)
    """
    saved = 1 - owned_usd_per_hour / rent_usd_per_hour
    return where(saved > 0, crew_usd_per_year / where(saved > 0, saved, 1.0), INFINITY)


@lookup
def crew_usd_per_year() -> float:
    """What the crew of the smallest site of one's own costs a year: the middle of published crews
    at the usual pay [USD/year].

    >>> 1e6 < crew_usd_per_year() < 3e6
    True
    """
    people = (fact("data_center_crew_low") + fact("data_center_crew_high")) / 2
    return people * cost_factor("staff_usd_per_year", "data center").best


@lookup
def source_branch(hours_per_day: Any, months: Any, chips: Any, sensitive: Any, several: Any) -> Any:
    """The branch that Clarifai's tree takes, as `deployment.source_branch`, of quantities.

    >>> str(source_branch(20.0, 36.0, 8, False, False)), str(source_branch(5, 24, 1, False, True))
    ('rent', 'multi-cloud')
    """
    one = where(chips > 1, "rent", source_rule(hours_per_day, months))
    cloud = where(several, MULTI_CLOUD, one)
    return where(sensitive, ON_PREMISES, cloud)


@dataclass(frozen=True)
class FourWays:
    """Four ways to serve a case of quantities.

    fleet, bill, rents : the fleet of its day, as the chapter on a day's load has it
    usd : a year of each way, what may not be done included [USD/year]
    open : which may be done [truth value]
    chips : that are bought, in whole servers [1]
    hours : of use a day of each [h/day]
    threshold : rent a year above which a site of one's own pays [USD/year]
    multi_cloud : a year of following the cheapest seller, with the data moved out [USD/year]
    says : the branch that Clarifai's tree takes
    """

    fleet: DayFleet
    bill: DayBill
    rents: Rents
    usd: Mapping[str, Any]
    open: Mapping[str, Any]
    chips: Any
    hours: Any
    threshold: Any
    multi_cloud: Any
    says: Any

    @classmethod
    def of(cls, case: Any, tables: DayChoices, chips: Sequence[str], hosts: Hosts) -> Self:
        """Those of a case: model, accelerator, trace, requests_per_day, peak_to_mean,
        pace_tokens_per_s, ttft_s, contract, data, regions, region.
        """
        row = choose(tables.traces, case.trace)
        more = _FIXED | {"cached_share": row.cached_share, "rent_usd_per_hour": 0.0}
        case = SimpleNamespace(**vars(case) | {"seller": "median"} | more)
        rents, fleet = tables.hours.rents(case), tables.fleet(case)
        bill = day_bill(fleet, rents, case)
        each = choose({of: _server(of) for of in chips}, case.accelerator).chips
        used = fleet.peak * fleet.engine.chips
        bought = ceil(used / each) * each
        full = fleet.utilization(HOURS_PER_DAY * fleet.peak)
        hours = minimum(maximum(HOURS_PER_DAY * full * used / bought, 0.1), HOURS_PER_DAY)
        housed, alone = (_terms(case, chips, of) for of in ("colocation", "data center"))
        alone = replace(alone, people_usd_per_year=0.0)
        crew, whole = crew_usd_per_year(), alone.owned_usd_per_year(hours).total
        tokens = case.requests_per_day * DAYS_PER_YEAR
        asked = hosts.asked(case.model, "median", dict.fromkeys(("input", "cached", "output"), 0.0))
        request = row.input_tokens, row.output_tokens, fleet.traffic.load.cached_share
        price = mix_usd_per_million(*request, asked.input.usd, asked.output.usd, asked.cached.usd)
        rented = bill.best[1] * DAYS_PER_YEAR
        usd = {
            API: price * tokens * row.output_tokens / MILLION,
            RENT: rented,
            COLOCATION: bought * housed.owned_usd_per_year(hours).total,
            SITE: bought * whole + crew,
        }
        stays, region, several = (
            case.data == STAYS,
            case.data == IN_REGION,
            case.regions == SEVERAL,
        )
        open_ = {
            API: ~(stays | region) & (asked.why == ""),
            RENT: ~stays & ~several & rents.hour.there,
            COLOCATION: ~several,
            SITE: ~several,
            MULTI_CLOUD: ~stays & several & rents.hour.there,
        }
        gigabytes = tokens * row.output_tokens * BYTES_PER_TOKEN / BYTES_PER_GB / MONTHS_PER_YEAR
        moved = egress_usd_per_year(gigabytes, cost_factor("egress_usd_per_gb", "cloud").best)
        cheapest = minimum(rents.hour.low / rents.hour.usd, 1.0)
        # an owned hour beside a rented one of the same use: a contract that binds pays all hours
        owned_hour = alone.owned_usd_per_year(HOURS_PER_DAY).total / HOURS_PER_YEAR
        return cls(
            fleet,
            bill,
            rents,
            usd,
            open_,
            bought,
            hours,
            own_site_usd_per_year(crew, rents.hour.usd, owned_hour),
            rented * cheapest + moved,
            source_branch(hours, housed.years * MONTHS_PER_YEAR, used, stays, several),
        )

    @property
    def bills(self) -> dict[str, Any]:
        """A year of each way and of several clouds; infinite where it is ruled out [USD/year]."""
        found = {of: where(self.open[of], usd, INFINITY) for of, usd in self.usd.items()}
        cloud = where(self.open[MULTI_CLOUD], self.multi_cloud, INFINITY)
        return found | {MULTI_CLOUD: cloud}

    @property
    def best(self) -> tuple[Any, Any]:
        """The cheapest way that may be taken, and its year [USD/year]."""
        return least(self.bills)

    @property
    def runner_up(self) -> tuple[Any, Any]:
        """The next cheapest way that may be taken, and its year; infinite where there is none."""
        name, _ = self.best
        return least({of: where(name == of, INFINITY, usd) for of, usd in self.bills.items()})

    @property
    def sureness(self) -> Any:
        """Probability that the cheapest way is cheaper than the next [1]: how fast engines are in
        practice, and what rents do in a year.
        """
        speed, drift = (
            spread_between(*ends)
            for ends in ((self.fleet.low, self.fleet.high), yearly_drift().mean_over(1.0))
        )
        usd, other = self.best[1], self.runner_up[1]
        return probability_cheaper(usd, minimum(other, 1e3 * usd), sqrt(speed**2 + drift**2))

    @property
    def on_premises(self) -> Any:
        """The cheaper of the two ways to own [USD/year]."""
        return minimum(self.usd[COLOCATION], self.usd[SITE])

    @property
    def of_the_tree(self) -> Any:
        """What a year of the branch costs that Clarifai's tree takes [USD/year]."""
        branches = {"rent": self.usd[RENT], MULTI_CLOUD: self.multi_cloud}
        owned = {"buy": self.on_premises, ON_PREMISES: self.on_premises}
        return pick(branches | owned, self.says)


def _server(name: str) -> dict[str, float]:
    """How many of a chip a server has."""
    return {"chips": float(accelerator(name).scale_up_chips or 1)}


def _terms(case: Any, chips: Sequence[str], setting: str) -> Ownership:
    """Of owning the chip of a case in a setting, on the usual terms there."""
    chip = choose({name: uncertainty.chip_terms(name) for name in chips}, case.accelerator)
    prices = {of: {"usd_per_kwh": power_price(of, setting).usd_per_kwh} for of in REGIONS}
    usual = uncertainty.usual_terms()[setting] | dict(choose(prices, case.region))
    there = SimpleNamespace(
        accelerator=case.accelerator, setting=setting, chip_usd=chip["chip_usd"], **usual
    )
    return uncertainty.chosen_terms(uncertainty.housed(there, chip), chip)
