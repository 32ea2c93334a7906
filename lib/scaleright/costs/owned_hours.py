"""The one price of an owned hour: what owning a chip costs for every hour of a service or of a run,
with the ends of all that nobody knows of it. `market.hour` is a rented one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.catalog import accelerator, shared
from scaleright.costs.ownership import ELECTRICITY, Ownership, made_for_servers, stands
from scaleright.costs.uncertainty import owned_fixed_range, owned_price_spread
from scaleright.formulas import lookup
from scaleright.ops import where
from scaleright.power import WORK, draw, energy_kwh, mean_watts
from scaleright.units import HOURS_PER_YEAR, figures

NONE = float("nan")
BUSY = {work: f"{work}_watts" for work in WORK}
"""What a chip draws at each work, by name."""
NO_POWER = dict.fromkeys((*BUSY.values(), "idle_watts", "usd_per_kwh"), 0.0) | {"pue": 1.0}
"""That of a chip which nobody sells, so that its hour has no price for want of a chip alone."""


@lookup
def owned_terms(name: str, setting: str) -> Mapping[str, Any]:
    """What owning a chip takes on the usual terms of a setting, as a row for `choose`; no
    fixed cost (nan) where the catalog has no price or power of it.

    Returns
    -------
    fixed_usd_per_year, with _low and _high : without power, and its ends (90 %), see
        `uncertainty.owned_fixed_range` [USD/year]
    price_spread : what of these ends is the chip's own, see `uncertainty.owned_price_spread` [1]
    training_watts, serving_watts, idle_watts : what it draws at work and vacant, with its share of
        server and network, see `power.draw` [W]; pue, usd_per_kwh : what that costs
    place : where it stands, see `ownership.stands`

    Raises
    ------
    LookupError : unknown chip or setting.

    >>> owned_terms("H100 SXM", "home")["place"], owned_terms("RTX 5090", "home")["place"]
    ('data center', 'home')
    """
    chip = accelerator(name)
    place = stands(setting, made_for_servers(name))
    years = ("fixed_usd_per_year", "fixed_usd_per_year_low", "fixed_usd_per_year_high")
    if not (chip.purchase_usd and chip.tdp_watts):
        return dict.fromkeys((*years, "price_spread"), NONE) | NO_POWER | {"place": place}
    year, paid = owned_fixed_range(name, place), Ownership.typical(name, place).power
    found = dict(zip(years, (year.best, year.low, year.high), strict=True))
    found |= {"price_spread": owned_price_spread(name, place)}
    found |= {of: draw(name, work, place).busy_watts for work, of in BUSY.items()}
    found |= {of: paid[of] for of in NO_POWER if of in paid}
    return figures(found) | {"place": place}


@lookup
@shared
def owned_rows(names: tuple[str, ...]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """`owned_terms` of some chips in every setting, for `choose`.

    >>> sorted({setting for _, setting in owned_rows(("H100 SXM",))})
    ['colocation', 'data center', 'home']
    """
    return {(name, of): owned_terms(name, of) for name in names for of in ELECTRICITY}


@dataclass(frozen=True)
class OwnedHour:
    """An owned hour of one chip, used or not [USD/h]; numbers or quantities.

    fixed, fixed_low, fixed_high : what does not depend on use, and its ends
    power : that of the share of the hour in which it works, and idle power of the rest
    price_spread : see `owned_terms` [1]
    """

    fixed: Any
    fixed_low: Any
    fixed_high: Any
    power: Any
    price_spread: Any

    @classmethod
    def of(cls, terms: Mapping[str, Any], training: Any, utilization: Any = 1.0) -> Self:
        """That of `owned_terms` at a utilization, by default around the clock [1].

        training : whether it trains at work, or serves

        >>> terms = owned_terms("H100 SXM", "data center")
        >>> hour, idle = (OwnedHour.of(terms, False, used) for used in (1.0, 0.1))
        >>> hour.low < hour.usd < hour.high, idle.usd < hour.usd
        (True, True)
        """
        busy = where(training, *(terms[BUSY[work]] for work in ("training", "serving")))
        watts = mean_watts(utilization, busy, terms["idle_watts"])
        return cls(
            terms["fixed_usd_per_year"] / HOURS_PER_YEAR,
            terms["fixed_usd_per_year_low"] / HOURS_PER_YEAR,
            terms["fixed_usd_per_year_high"] / HOURS_PER_YEAR,
            power=energy_kwh(1.0, watts, terms["pue"]) * terms["usd_per_kwh"],
            price_spread=terms["price_spread"],
        )

    @property
    def usd(self) -> Any:
        """All of it."""
        return self.fixed + self.power

    @property
    def apart(self) -> Any:
        """Standard deviation of the logarithm of its ratio to one of a chip whose price is known
        [1].
        """
        return self.price_spread * self.fixed / self.usd

    @property
    def low(self) -> Any:
        """The low end of all of it (90 %)."""
        return self.fixed_low + self.power

    @property
    def high(self) -> Any:
        """The high end of all of it (90 %)."""
        return self.fixed_high + self.power
