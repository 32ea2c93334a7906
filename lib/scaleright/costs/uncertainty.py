"""Owning or renting in a case of quantities, how far its break-even can be off, and how sure the
choice is: every input that the reader has left at its usual value between its ends.

The tables state a low and a high end for each price and factor. What a reader has set is known and
has none. Rents have those of the years ahead: how far the listings of a chip lie apart is a choice
of the seller, not a doubt.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

from scaleright.catalog import accelerator
from scaleright.costs.break_even import rent_usd_per_year
from scaleright.costs.ownership import (
    ELECTRICITY,
    ENDS,
    Ownership,
    made_for_servers,
    setting_factors,
    setting_usd_per_kwh,
    stands,
    years_since_release,
)
from scaleright.costs.serving import load_spread
from scaleright.formulas import lookup
from scaleright.information import Choice, spread_between
from scaleright.market import PaidHour, electricity_price, fixed_years, yearly_drift
from scaleright.ops import item, minimum, where
from scaleright.power import owned_draw
from scaleright.quantity import Quantity, at, choose, given
from scaleright.ranges import Ends, Range, interval, interval_of, signed_interval_of
from scaleright.units import HOURS_PER_DAY, figures

LONGEST_HOURS = 1e3
"""Break-even hours are cut off here, far beyond a day, so that ratios of results stay finite."""
TYPICAL, USE = "typical", "hours of use"
AROUND = "host, network and storage"
"""What stands around a chip, and what it draws with it."""
TOGETHER = {
    AROUND: ("host_usd", "installation_share"),
    "building and cooling": (
        "facility_usd_per_kw_year",
        "building_usd_per_kw",
        "building_years",
        "pue",
    ),
    "repairs and people": ("maintenance_share_per_year", "people_usd_per_year"),
    "insurance and taxes": ("insurance_and_tax_share_per_year", "sales_tax_share"),
}
"""Factors of a setting that no parameter sets, by the words for those that move together."""
END_OF = {words: f"end_of_{words.replace(', ', '_').replace(' ', '_')}" for words in TOGETHER}
"""The input that holds their end: no control, what moves it are its ends alone."""
OVER_BEST = {
    "price of the chip": "chip_usd",
    "price of power": "usd_per_kwh",
    "years of use": "years",
    "value kept each year": "value_kept_per_year",
    "cost of capital": "cost_of_capital",
}
"""What a reader may set, by the words for it: an input of its own is what it is over that [1]."""
RENT = "rents of the years ahead"
DISCOUNT = "discount of the contract"
"""What a contract takes off the price on demand, where nobody lists what it costs."""
_BEST = (
    dict.fromkeys(END_OF.values(), TYPICAL)
    | {f"{name}_over_best": 1.0 for name in OVER_BEST.values()}
    | {"rent_ahead": 1.0}
)
"""Inputs that no control gives, at their best estimates: ends of groups, the rest over the best."""

_DRAWN = {pair: {"place": place} for place, pair in enumerate(product(ELECTRICITY, ENDS))}
"""Settings and ends between which a chip's draw differs, in order."""


@lookup
def chip_terms(name: str) -> dict[str, Any]:
    """What a chip brings along, as a row for `choose`.

    Returns
    -------
    busy_watts, idle_watts, most_watts : what it draws in serving, vacant and at most, by places of
        `_DRAWN`, see `power.owned_draw` [W]
    age_years : since its release, see `ownership.years_since_release`
    chip_usd : its price [USD]; 0 where none is known
    price_low, price_high : the ends of its price over its middle [1]; 1 where there is no range
    server : whether it is made for servers, so that no home houses it
    sold : of which days, months or years its price is, in words
    """
    chip = accelerator(name)
    low, high = chip.purchase_usd or (1.0, 1.0)
    middle = chip.purchase_mid_usd if chip.purchase_usd else 1.0
    found = {
        "age_years": years_since_release(name),
        "chip_usd": chip.purchase_mid_usd if chip.purchase_usd else 0.0,
        "price_low": low / middle,
        "price_high": high / middle,
    }
    words = {"sold": chip.purchase_age or "none"}
    drawn = [owned_draw(name, setting, "serving", ENDS[end][0]) for setting, end in _DRAWN]
    watts = {of: [one[of] for one in drawn] for of in drawn[0]}
    return figures(found) | watts | {"server": made_for_servers(name)} | words


@lookup
def setting_ends(setting: str) -> dict[str, dict[str, float]]:
    """The factors of a setting and what it pays for power, usd_per_kwh [USD/kWh], by the end of
    their ranges.
    """
    power = electricity_price(*ELECTRICITY[setting])
    return {
        end: setting_factors(setting, end) | {"usd_per_kwh": getattr(power, of)}
        for end, (of, _) in ENDS.items()
    }


@lookup
def usual_terms() -> dict[str, dict[str, float]]:
    """What each setting is taken to pay and to reckon with, where a reader gives nothing else.

    Returns
    -------
    usd_per_kwh [USD/kWh], years from purchase to sale [year], value_kept_per_year [1],
    cost_of_capital a year [1]

    >>> sorted(usual_terms()["home"])
    ['cost_of_capital', 'usd_per_kwh', 'value_kept_per_year', 'years']
    """
    names = {"usd_per_kwh": "usd_per_kwh", "years": "service_years"}
    names |= {name: name for name in ("value_kept_per_year", "cost_of_capital")}
    typical = {setting: setting_ends(setting)[TYPICAL] for setting in ELECTRICITY}
    return {
        setting: figures({name: factors[of] for name, of in names.items()})
        for setting, factors in typical.items()
    }


def _place(case: Any, end: Any) -> Mapping[str, Quantity]:
    """The factors of the case's setting at an end of their ranges."""
    ends = {setting: setting_ends(setting) for setting in ELECTRICITY}
    table = {(setting, end): row for setting, of in ends.items() for end, row in of.items()}
    return choose(table, case.setting, end)


@lookup
def chosen_terms(
    case: Any, chip: Mapping[str, Any], ends: Mapping[str, Any] | None = None
) -> Ownership:
    """Terms of owning the chip of a case, of quantities or not; at work it draws what it does in
    serving.

    Parameters
    ----------
    case : setting, chip_usd, usd_per_kwh, years, value_kept_per_year, cost_of_capital
    chip : its `chip_terms`
    ends : the end of each group of `TOGETHER`, where it is not the typical one
    """
    own = {name: getattr(case, name) for name in ("value_kept_per_year", "cost_of_capital")}
    factors = {**_place(case, TYPICAL), **own, "service_years": case.years}
    for words, end in (ends or {}).items():
        there = _place(case, end)
        factors |= {name: there[name] for name in TOGETHER[words]}
    place = choose(_DRAWN, case.setting, (ends or {}).get(AROUND, TYPICAL)).place
    drawn = {of: item(chip[of], place) for of in ("busy_watts", "idle_watts", "most_watts")}
    return Ownership.build(case.chip_usd, drawn, chip["age_years"], case.usd_per_kwh, factors)


@lookup
def housed(case: Any, chip: Mapping[str, Any]) -> SimpleNamespace:
    """A case whose chip stands where it can: at home one that is made for servers does not, but in
    a data center on its usual terms. Whether it does not stand where it was to is `moved`.
    """
    place = stands(case.setting, chip["server"])
    usual, stays = choose(usual_terms(), place), place == case.setting
    own = {name: where(stays, getattr(case, name), usual[name]) for name in usual}
    return SimpleNamespace(**vars(case) | own | {"setting": place, "moved": ~stays})


class _Open(NamedTuple):
    """Owning and renting with every input that nobody knows as one of its own, see `_BEST`.

    rent : of an hour, over the years [USD/h]
    ends : of each input, by the words for it
    """

    terms: Ownership
    rent: Any
    ends: dict[str, Ends]


@lookup
def _open(case: Any, chip: Mapping[str, Any], hour: PaidHour, fixed: Any) -> _Open:
    """Those of a case that is `housed`; the rest as for `doubts`."""
    groups = {words: given(name, TYPICAL) for words, name in END_OF.items()}
    over = {name: given(f"{name}_over_best", 1.0) for name in OVER_BEST.values()}
    free = {name: getattr(case, name) * of for name, of in over.items()}
    terms = chosen_terms(SimpleNamespace(**vars(case) | free), chip, groups)
    cheap, best, dear = (_place(case, end) for end in ENDS)
    usual = choose(usual_terms(), case.setting)

    def unless_set(name: str, left: Any, low: Any, high: Any) -> Ends:
        open_ = getattr(case, name) == left
        return Ends(over[name], *(where(open_, end, 1.0) for end in (low, high)))

    def of_the_place(name: str, of: str, low: Any = cheap, high: Any = dear) -> Ends:
        return unless_set(name, usual[name], low[of] / best[of], high[of] / best[of])

    kept, most = of_the_place("value_kept_per_year", "value_kept_per_year", dear, cheap), 0.98
    ahead, own = given("rent_ahead", 1.0), case.rent_usd_per_hour > 0
    drift = (where(own, 1.0, of) for of in yearly_drift().mean_over(case.years, fixed))
    ends = (
        unless_set("chip_usd", chip["chip_usd"], chip["price_low"], chip["price_high"]),
        of_the_place("usd_per_kwh", "usd_per_kwh"),
        of_the_place("years", "service_years", dear, cheap),
        Ends(kept.parameter, kept.low, minimum(kept.high, most / case.value_kept_per_year)),
        of_the_place("cost_of_capital", "cost_of_capital"),
    )
    named = {RENT: Ends(ahead, *drift)} | dict(zip(OVER_BEST, ends, strict=True))
    groups_ends = {words: Ends(end, "cheap", "dear") for words, end in groups.items()}
    return _Open(terms, hour.usd * ahead, named | groups_ends)


@lookup
def doubts(
    case: Any, chip: Mapping[str, Any], hour: PaidHour, fixed: Any = 0.0
) -> tuple[Quantity, dict[str, Ends]]:
    """Break-even hours of use a day [h/day], at most `LONGEST_HOURS`, and the ends of each of their
    inputs by the words for it: 1 over its best where the reader has set it; those of a group of
    `TOGETHER` move together.

    case : of quantities, `housed`, with rent_usd_per_hour too, 0 for none of the reader's own
    hour : what it pays for a rented one
    fixed : for how long a contract fixes that, after which it is that of the market [years]
    """
    of = _open(case, chip, hour, fixed)
    return minimum(of.terms.break_even_hours_per_day(of.rent), LONGEST_HOURS), of.ends


@lookup
def break_even_range(
    case: Any, chip: Mapping[str, Any], hour: PaidHour
) -> tuple[Quantity, Quantity]:
    """Low and high end of the break-even hours a day of a case of quantities (90 %) [h/day]."""
    hours, ends = doubts(case, chip, hour)
    low, high = (at(end, **_BEST) for end in interval_of(hours, ends.values()))
    return low, high


@lookup
def owned_hour_range(
    case: Any, chip: Mapping[str, Any], hour: PaidHour
) -> tuple[Quantity, Quantity]:
    """Low and high end of what an hour of use costs owned, at the case's hours a day (90 %)
    [USD/h].
    """
    of = _open(case, chip, hour, 0.0)
    owned = of.terms.break_even_usd_per_hour(case.hours_per_day)
    ends = [end for words, end in of.ends.items() if words != RENT]
    known = {name: best for name, best in _BEST.items() if name != "rent_ahead"}
    low, high = (at(end, **known) for end in interval_of(owned, ends))
    return low, high


@lookup
def buying(
    case: Any, chip: Mapping[str, Any], hour: PaidHour
) -> tuple[Choice, tuple[Quantity, Quantity]]:
    """Owning or renting, by what a year costs [USD/year]; nobody knows either how many hours of use
    there will be, as far as of the load of a service, nor a discount that nobody lists. And the low
    and the high end of what the dearer costs above the cheaper (90 %) [USD/year].

    case : of quantities, as for `doubts`, with hours_per_day and contract too
    """
    of, used = _open(case, chip, hour, fixed_years(case.contract)), case.hours_per_day
    owned = of.terms.owned_usd_per_year(used).total
    discount = given("discount_over_best", 1.0)
    rented = rent_usd_per_year(of.rent * discount, hour.paid_hours(case.contract, used))
    factor, usd = load_spread(), hour.usd
    off = (where(hour.there, end / usd, 1.0) for end in (hour.least, hour.most))
    use = Ends(used, used / factor, minimum(used * factor, HOURS_PER_DAY))
    ends, best = of.ends | {USE: use, DISCOUNT: Ends(discount, *off)}, {"discount_over_best": 1.0}
    choice = Choice.of(owned, rented, ends, **best, **_BEST)
    low, high = (
        at(end, **best, **_BEST) for end in signed_interval_of(rented - owned, ends.values())
    )
    own = choice.cost < choice.other
    return choice, (where(own, low, -high), where(own, high, -low))


@lookup
def owned_fixed_range(name: str, setting: str) -> Range:
    """What owning a chip costs a year on the usual terms of a setting without its power, and the
    ends of it (90 %): price, resale, years, cost of capital and each group of `TOGETHER` between
    their ends [USD/year].

    Raises
    ------
    LookupError : unknown chip or setting.
    DataError : the catalog has no price or power of this chip.

    >>> found = owned_fixed_range("H100 SXM", "data center")
    >>> cheap = Ownership.typical("H100 SXM", "data center", end="cheap")
    >>> cheap.fixed_usd_per_year < found.low < found.best < found.high
    True
    """
    fixed, groups = _fixed(name, setting)
    chip = accelerator(name)
    low, high = chip.require("purchase_usd")
    usual, ends = chip.purchase_mid_usd, dict.fromkeys(groups, ("cheap", TYPICAL, "dear"))
    least, most = interval(fixed, price=(low, usual, high), **ends)
    return Range(least, fixed(usual), most)


@lookup
def owned_price_spread(name: str, setting: str) -> float:
    """Standard deviation of the logarithm of what owning a chip costs a year without its power that
    the chip's own price gives it [1].

    Between two chips the rest hardly counts: what host, people or money cost moves both alike.

    Raises as `owned_fixed_range`.

    >>> 0 < owned_price_spread("B200", "data center") < owned_price_spread("MI300X", "data center")
    True
    """
    fixed, _ = _fixed(name, setting)
    return spread_between(*map(fixed, accelerator(name).require("purchase_usd")))


def _fixed(name: str, setting: str) -> tuple[Callable[..., float], Mapping[str, Iterable[str]]]:
    """What owning a chip costs a year without power by its price and by the end of each group of
    factors [USD/year], and these groups.
    """
    rows = {end: setting_factors(setting, end) for end in ENDS}
    build = partial(
        Ownership.build,
        age_years=years_since_release(name),
        usd_per_kwh=setting_usd_per_kwh(setting),
    )
    drawn = {end: owned_draw(name, setting, "serving", of) for end, (of, *_) in ENDS.items()}
    alone = ("value_kept_per_year", "service_years", "cost_of_capital")
    groups = TOGETHER | {factor: (factor,) for factor in alone}

    def fixed(price: float, **end_of: str) -> float:
        moved = {of: rows[end][of] for group, end in end_of.items() for of in groups[group]}
        here = drawn[end_of.get(AROUND, TYPICAL)]
        return build(price, here, factors=rows[TYPICAL] | moved).fixed_usd_per_year

    return fixed, groups
