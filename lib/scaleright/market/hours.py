"""The one price of an hour: a chip, under a contract, from a seller, on a day."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import NamedTuple, NoReturn

import numpy as np
import pandas as pd

from scaleright import units
from scaleright.catalog import accelerator, remembered, resource, shared
from scaleright.market.history import MEDIAN_OF_CARDS, aged_apart, discount
from scaleright.market.rentals import (
    RAW,
    WINDOW_MONTHS,
    as_day,
    at_home,
    in_window,
    newest_cards,
    one_each,
    rental_prices,
)
from scaleright.names import brief, one_of, suggestion
from scaleright.units import DAYS_PER_YEAR

CONTRACTS = {
    "spot": "spot",
    "on demand": "on_demand",
    "reserved": "reserved",
    "one year": "reserved_1y",
    "three years": "reserved_3y",
}
"""Contracts as a person says them, the loosest first, with their names in the table of rents.
"Reserved" is for a term that its source does not state.
"""
MEDIAN, CHEAPEST, HYPERSCALERS = GROUPS = ("median", "cheapest quarter", "hyperscalers")
"""Sellers that are none by name: all of them, the cheapest quarter of them, and the large clouds.
Of several the price is the median.
"""
STEADY = "reserved"
"""The contract of what runs around the clock: nobody pays the price of hours that may be given back
at any time for hours that never are. Of those that bind, the one with recent prices.
"""
TERMED = ("one year", "three years")
"""Contracts that state for how long they bind."""
COMMITTED = (STEADY, *TERMED)
"""Contracts that bind. Few sources list them: where a provider has no card of them in the window,
its price is computed from the one on demand.
"""
OLD_MONTHS = 36
"""How old a card may be that prices a chip which nobody has listed since, with ends as wide as
cards of that age turned out to be off (`history.aged_apart`).
"""
DISCOUNTED = "on demand, discounted"
"""Basis of a figure that nobody lists: what a provider asks on demand, at its discount."""


USD = "usd_per_accelerator_hour"


@dataclass(frozen=True)
class Hour:
    """What an hour of one chip costs under a contract from a seller [USD/h].

    usd : the median over the seller's providers, each with one figure
    low, high : of the cheapest and of the dearest of them; of a single provider those of its card;
        of a discounted figure those of the discount, and of an old card those of its age
    least, most : what `usd` may be where prices on demand were discounted or cards are old; else
        itself
    providers, listings : how many sell it so, in how many listings [1]
    of_on_demand : the share that is paid where prices on demand were discounted, else 1 [1]
    since, until : days of the oldest and of the newest listing behind it
    day : the newest day that the table of rents knew of then
    """

    accelerator: str
    contract: str
    seller: str
    usd: float
    low: float
    high: float
    least: float
    most: float
    providers: int
    listings: int
    of_on_demand: float
    since: date
    until: date
    day: date

    @property
    def rows(self) -> pd.DataFrame:
        """What each of the providers asks, cheapest first; columns as of `rentals.spread`.

        >>> hour("H100 SXM", seller="hyperscalers").rows["segment"].unique().tolist()
        ['hyperscaler']
        """
        every = _each(self.contract, str(self.day))
        here = every[every["accelerator"] == self.accelerator]
        sold = _sold(self.accelerator, self.contract, self.seller, str(self.day))
        return here[here["provider"].isin([of.provider for of in sold])]

    @property
    def age(self) -> str:
        """The days of its listings, and how far the oldest lies behind the newest of all chips, in
        words.

        >>> hour("H100 SXM", seller="Lambda").age
        '2026-10-10'
        """
        days = dict.fromkeys((f"{self.since}", f"{self.until}"))
        behind = (self.day - self.since).days
        old = behind > resource("rental_prices")["stale_after_days"]
        said = " to ".join(days) + f", {behind} days behind the newest listings" * old
        return said if self.recent else f"{said}, so its range is wider"

    @property
    def recent(self) -> bool:
        """Whether all of its listings are as recent as those that make a price elsewhere.

        >>> hour("H100 SXM").recent, hour("TPU v5e").recent
        (True, False)
        """
        return _is_recent(self.since, str(self.day))

    @property
    def counted(self) -> str:
        """Of whose prices it is the median, in words.

        >>> hour("H100 SXM", "reserved").counted
        'median of rate cards, reserved'
        """
        if self.providers > 1:
            group = "" if self.seller == MEDIAN else f"{self.seller}, "
            whose = f"{group}median of {self.providers} providers"
        else:
            only = _sold(self.accelerator, self.contract, self.seller, str(self.day))[0]
            whose = only.provider.replace(MEDIAN_OF_CARDS, MEDIAN_OF_CARDS.lower())
        share = f" at {self.of_on_demand:.2g} of on demand" * (self.of_on_demand < 1)
        return f"{whose}, {self.contract}{share}"


@remembered
def hour(
    accelerator_name: str,
    contract: str = "on demand",
    seller: str = MEDIAN,
    day: date | str | None = None,
) -> Hour:
    """What an hour of a chip costs under a contract from a seller.

    Of each provider its newest card counts, if it is less than `WINDOW_MONTHS` older than the day,
    and of a card that names regions the United States (`at_home`). Under a contract that binds, and
    that a provider does not list so, its price on demand is discounted (`history.discount`). A chip
    without any such price has that of its older cards, see `OLD_MONTHS`.

    Parameters
    ----------
    accelerator_name : chip by name or alias
    contract : of `CONTRACTS`
    seller : a provider by name, or one of `GROUPS`
    day : by default that of the table's newest listing

    Raises
    ------
    LookupError : unknown chip, contract or seller, or one that does not sell the chip so; names the
        nearest contract under which it is sold, or who sells it.
    ValueError : a day in the future or before the first listing.

    >>> h100 = hour("H100 SXM")
    >>> h100.low < h100.usd < h100.high, hour("H100 SXM", "reserved").usd < h100.usd
    (True, True)
    >>> hour("A40", "spot")
    Traceback (most recent call last):
    LookupError: no spot price of A40; nearest contract that has one: on demand (all: on demand,
    reserved, one year, three years)
    """
    name = accelerator(accelerator_name).name
    one_of(contract, CONTRACTS, "contract")
    known = _known(day)
    sold = _sold(name, contract, seller, known)
    usd = median(of.usd for of in sold)
    discounted = all(of.discounted for of in sold)
    plain = median(of.on_demand for of in sold) if discounted else usd
    unsure = discounted or not _is_recent(sold[0].date, known)
    return Hour(
        name,
        contract,
        seller,
        usd,
        *_ends(name, sold, contract, known),
        median(of.low for of in sold) if unsure else usd,
        median(of.high for of in sold) if unsure else usd,
        len(sold),
        sum(of.listings for of in sold),
        usd / plain,
        min(of.date for of in sold),
        max(of.date for of in sold),
        date.fromisoformat(known),
    )


@remembered
def listed_hour(
    accelerator_name: str,
    contract: str = "on demand",
    seller: str = MEDIAN,
    day: date | str | None = None,
) -> Hour | None:
    """The `hour`, or None where nobody sells the chip so.

    >>> listed_hour("GB200") is None
    True
    """
    name = accelerator(accelerator_name).name
    one_of(contract, CONTRACTS, "contract")
    known = _known(day)
    found = seller in sellers(name, contract, known)
    return hour(name, contract, seller, known) if found else None


def recent_hour(
    accelerator_name: str, contract: str = "on demand", seller: str = MEDIAN
) -> Hour | None:
    """The `hour`, or None where nobody listed the chip so within `WINDOW_MONTHS`: what makes it one
    of those among which the best is sought.

    >>> recent_hour("P100 PCIe") is None
    True
    """
    found = listed_hour(accelerator_name, contract, seller)
    return found if found and found.recent else None


@remembered
def contracts(accelerator_name: str, day: date | str | None = None) -> tuple[str, ...]:
    """The contracts under which a chip is sold, the loosest first.

    >>> contracts("MI300X")
    ('spot', 'on demand', 'reserved', 'one year', 'three years')
    """
    return tuple(of for of in CONTRACTS if sellers(accelerator_name, of, day))


@remembered
def sellers(
    accelerator_name: str, contract: str = "on demand", day: date | str | None = None
) -> tuple[str, ...]:
    """Who sells a chip under a contract: of `GROUPS` those that do, then providers by name.

    >>> sellers("MI300X", "spot")
    ('median', 'cheapest quarter', 'hyperscalers', 'Microsoft Azure')
    """
    here = _asked(contract, _known(day)).get(accelerator(accelerator_name).name, ())
    if not here:
        return ()
    names = tuple(sorted({of.provider for of in here} - {MEDIAN_OF_CARDS}))
    groups = [MEDIAN, *[CHEAPEST] * bool(names)]
    groups += [HYPERSCALERS] * any(of.segment == "hyperscaler" for of in here)
    return (*groups, *names)


def offered(contract: str) -> pd.DataFrame:
    """What each provider asks for each chip under a contract, one figure each, as `hour` counts
    them; columns as of `rentals.spread`, and low, high and on_demand [USD/h].

    >>> set(offered("three years")["provider"]) >= set(offered("on demand")["provider"])
    True
    """
    one_of(contract, CONTRACTS, "contract")
    return _each(contract, _known()).copy()


@remembered
def _known(day: date | str | None = None) -> str:
    """The day on which a price is asked for, by default that of the newest listing."""
    return str(as_day(day, rental_prices()).date())


@shared
def _cards(contract: str, day: str, months: int = WINDOW_MONTHS) -> pd.DataFrame:
    """The newest card of each provider of each chip under a contract, as of a day."""
    reserved = contract == STEADY
    prices = rental_prices(pricing=CONTRACTS[contract], basis=(*RAW, *["index"] * reserved))
    prices = prices[prices["basis"].isin(RAW) | (prices["provider"] == MEDIAN_OF_CARDS)]
    return at_home(newest_cards(in_window(prices, pd.Timestamp(day), months)))


@shared
def _each(contract: str, day: str) -> pd.DataFrame:
    """What each provider asks for each chip: one figure, the median of its card; under a contract
    that binds, its price on demand discounted if it has no card of that. Older cards price the
    chips that have none of these, nor a recent price on demand beside which they would not fit.
    """
    asked, older = (_priced(contract, day, cards) for cards in (_recent, _aged))
    known = {*asked["accelerator"], *_recent("on demand", day)["accelerator"]}
    asked = pd.concat([asked, older[~older["accelerator"].isin(known)]])
    return asked.sort_values(["accelerator", USD, "provider"], ignore_index=True)


def _priced(contract: str, day: str, cards: Callable[[str, str], pd.DataFrame]) -> pd.DataFrame:
    """`_each` by some cards alone."""
    listed = cards(contract, day)
    if contract not in COMMITTED:
        return listed
    asked = pd.concat([listed, _discounted(contract, cards("on demand", day))])
    return asked.drop_duplicates(["accelerator", "provider"])  # what is listed goes first


def _recent(contract: str, day: str) -> pd.DataFrame:
    """What each provider asks for each chip on its newest card of `WINDOW_MONTHS`."""
    return _exact(one_each(_cards(contract, day)))


def _exact(rows: pd.DataFrame) -> pd.DataFrame:
    """Figures as they are listed, with the ends of each."""
    return rows.assign(low=rows[USD], high=rows[USD], on_demand=rows[USD])


def _aged(contract: str, day: str) -> pd.DataFrame:
    """What each provider asked for each chip on its newest card of `OLD_MONTHS`, with the ends
    between which such a card may have moved since.
    """
    rows = one_each(_cards(contract, day, OLD_MONTHS))
    factor = np.exp(
        aged_apart() * np.sqrt((pd.Timestamp(day) - rows["date"]).dt.days / DAYS_PER_YEAR)
    )
    return rows.assign(low=rows[USD] / factor, high=rows[USD] * factor, on_demand=rows[USD])


def _discounted(contract: str, plain: pd.DataFrame) -> pd.DataFrame:
    """Prices on demand, less what each provider or its kind takes off under a contract."""
    pricing = CONTRACTS[contract]
    off = [discount(*of, pricing) for of in zip(plain["provider"], plain["segment"], strict=True)]
    low, best, high = ([getattr(one, of) for one in off] for of in ("low", "best", "high"))
    return plain.assign(
        **{USD: plain[USD] * best, "low": plain["low"] * low, "high": plain["high"] * high},
        on_demand=plain[USD],
        basis=DISCOUNTED,
    )


@remembered
def _is_recent(since: date, day: str) -> bool:
    """Whether a card is of the months before a day in which it makes a price by itself."""
    return pd.Timestamp(since) > pd.Timestamp(day) - pd.DateOffset(months=WINDOW_MONTHS)


class _Asked(NamedTuple):
    """A row of `_each`: what one provider asks for a chip [USD/h]."""

    provider: str
    segment: str
    usd: float
    low: float
    high: float
    on_demand: float
    listings: int
    discounted: bool
    date: date


@remembered
def _asked(contract: str, day: str) -> Mapping[str, Sequence[_Asked]]:
    """`_each` by chip, cheapest first: asked for a thousand times, and a frame takes a hundred
    times as long to look into.
    """
    every = _each(contract, day)
    plain = every.rename(columns={USD: "usd"}).assign(
        discounted=every["basis"] == DISCOUNTED, date=every["date"].dt.date
    )
    found: dict[str, list[_Asked]] = {}
    columns = (plain[of].tolist() for of in _Asked._fields)
    for chip, *row in zip(plain["accelerator"], *columns, strict=True):
        found.setdefault(chip, []).append(_Asked(*row))
    return found


def _sold(name: str, contract: str, seller: str, day: str) -> Sequence[_Asked]:
    """What each provider of a seller asks for a chip, cheapest first."""
    if seller not in sellers(name, contract, day):
        _refuse(name, contract, seller, day)
    here = _asked(contract, day)[name]
    of_many = [of for of in here if of.provider == MEDIAN_OF_CARDS]
    if seller == MEDIAN:
        return of_many or here
    here = [of for of in here if of.provider != MEDIAN_OF_CARDS]
    if seller == CHEAPEST:
        return here[: -(-len(here) // 4)]
    if seller == HYPERSCALERS:
        return [of for of in here if of.segment == "hyperscaler"]
    return [of for of in here if of.provider == seller]


def _ends(name: str, sold: Sequence[_Asked], contract: str, day: str) -> tuple[float, float]:
    """The lowest and highest of prices: of a single seller that lists several, those of its
    card.
    """
    if len(sold) > 1 or sold[0].listings == 1 or sold[0].low < sold[0].high:
        return min(of.low for of in sold), max(of.high for of in sold)
    return _card_ends(contract, day)[name, sold[0].provider]


@remembered
def _card_ends(contract: str, day: str) -> Mapping[tuple[str, str], tuple[float, float]]:
    """The cheapest and the dearest listing of each card, by chip and provider [USD/h]."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    cards = _cards(contract, day)
    rows = zip(*(cards[of].tolist() for of in ("accelerator", "provider", USD)), strict=True)
    for chip, provider, usd in rows:
        low, high = found.get((chip, provider), (usd, usd))
        found[chip, provider] = min(low, usd), max(high, usd)
    return found


def _refuse(name: str, contract: str, seller: str, day: str) -> NoReturn:
    """Refuse a chip that is not sold so, and say how it is."""
    if (who := sellers(name, contract, day)) and seller not in who:
        other = hour(name, contract, day=day)
        raise LookupError(
            f"{brief(seller)} rents no {name} out {contract}; at the median of {other.providers} it"
            f" costs {units.usd(other.usd)} an hour; {suggestion(seller, who)}"
        )
    found = contracts(name, day)
    if not found:
        chips = sorted(_asked(contract, day))
        raise LookupError(
            f"no recent price of {name} under any contract; chips that are sold {contract}:"
            f" {suggestion(name, chips)}"
        )
    order = [*CONTRACTS]
    near = min(found, key=lambda of: abs(order.index(of) - order.index(contract)))
    raise LookupError(
        f"no {contract} price of {name}; nearest contract that has one: {near}"
        f" (all: {', '.join(found)})"
    )
