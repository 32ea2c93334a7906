"""Cloud comparison (F17): where so many of a chip are cheapest, with the data moved out and
commitments counted in.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pandas as pd

from scaleright.catalog import DataError, remembered
from scaleright.costs.commitment import (
    committed_usd_per_used_hour,
    mean_price_over_first,
    renewed_price_over_first,
)
from scaleright.costs.rent import cloud_usd_per_month, egress_usd_per_year
from scaleright.decisions.verdict import Verdict
from scaleright.market import commitment_ratio, cost_factor, paired_ratios
from scaleright.market.history import publishing
from scaleright.market.listed import listed_chips
from scaleright.market.rentals import spread
from scaleright.names import one_of
from scaleright.order import ordered
from scaleright.quantity import choose, look_up
from scaleright.quantity.rows import Row
from scaleright.units import MONTHS_PER_YEAR, usd

SOURCE = "Andreessen Horowitz's cloud comparison"
RULE = "a specialized cloud"
"""Andreessen Horowitz: smaller, specialized clouds ask less than the large public ones, before
and after negotiation.
"""
SOURCE_SPREAD = 4.0
"""Andreessen Horowitz: the same chip costs "nearly 4x" as much at one cloud as at another (A100 on
demand, April 2023).
"""
ON_DEMAND = "on demand"
TERM_WORDS = {1: "one_year", 3: "three_years"}
"""What the ratio of a term of so many years is called."""
OPTION = [
    "provider",
    "segment",
    "option",
    "term_years",
    "usd_per_used_hour",
    "egress_usd",
    "usd_per_month",
    "date",
]
"""Columns of `cloud_options`."""


def egress_by_segment() -> dict[str, float]:
    """Typical price of data moved out [USD/GB]: hyperscalers charge it, many of the others do not.

    >>> egress_by_segment()["neocloud"] < egress_by_segment()["hyperscaler"]
    True
    """
    price = cost_factor("egress_usd_per_gb", "cloud")
    return {"hyperscaler": price.best, "neocloud": price.low, "marketplace": price.low}


@remembered
def commitments() -> Mapping[str, Mapping[int, float]]:
    """Committed over on-demand price by provider and term in years, for providers that state or
    list one [1].

    >>> commitments()["AWS"][3] < commitments()["AWS"][1] < 1
    True
    """
    found: dict[str, dict[int, float]] = {}
    for years in TERM_WORDS:
        for provider in publishing(years):
            found.setdefault(provider, {})[years] = commitment_ratio(provider, years).best
    return MappingProxyType({name: MappingProxyType(of) for name, of in sorted(found.items())})


def commitment_terms() -> dict[str, dict[str, float]]:
    """The same of providers with both terms, as rows for `choose`.

    >>> commitment_terms()["AWS"]["three_years"] == commitments()["AWS"][3]
    True
    """
    return {
        name: {word: terms[years] for years, word in TERM_WORDS.items()}
        for name, terms in commitments().items()
        if terms.keys() >= TERM_WORDS.keys()
    }


@remembered
def commits(chip: str) -> tuple[str, ...]:
    """Providers of `commitment_terms` that list a chip now, on demand or committed: a discount on
    what nobody there rents out is none.

    >>> commits("RTX 4090"), "AWS" in commits("H100 SXM")
    ((), True)
    """
    cards, pairs = spread(None, "on_demand"), paired_ratios()
    there = {
        provider
        for rows in (cards, pairs)
        for provider in rows.loc[rows["accelerator"] == chip, "provider"]
    }
    return tuple(name for name in commitment_terms() if name in there)


def require_commitment(chip: str, provider: str | None) -> None:
    """Refuse a commitment at a provider that does not list the chip, where another one does; None
    is any that does.

    Raises
    ------
    LookupError : the provider does not list it; those that do are offered.
    """
    if provider is not None and (sold := commits(chip)):
        one_of(provider, sold, f"provider with a commitment for {chip}")


def committed_ratio(provider: Any, chip: Any) -> Row:
    """Committed over on-demand price of one year and of three at a provider that lists a chip
    [1]; where it does not, why there is none.

    >>> of = committed_ratio("AWS", "H100 SXM")
    >>> of.three_years.value < of.one_year.value, committed_ratio("AWS", "RTX 4090").why.value
    (True, 'does not list the')
    """
    terms = commitment_terms()
    rows = {(name, card): terms[name] for card in listed_chips() for name in commits(card)}
    return choose(rows, provider, chip, otherwise="does not list the")


def uncommitted(chip: Any) -> Any:
    """Whether no provider of `commitment_terms` lists a chip, so that each has as little to offer.

    >>> bool(uncommitted("RTX 4090").value), bool(uncommitted("H100 SXM").value)
    (True, False)
    """
    return look_up({card: not commits(card) for card in listed_chips()}, chip)


def with_commitment(chips: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of chips the provider whose commitment a page starts from, `commit_with`: the first that
    lists the chip, the first of all where none does.

    >>> with_commitment(["H100 NVL", "RTX 4090"])
    {'H100 NVL': {'commit_with': 'Microsoft Azure'}, 'RTX 4090': {'commit_with': 'AWS'}}
    """
    first = next(iter(commitment_terms()))
    return {chip: {"commit_with": next(iter(commits(chip)), first)} for chip in chips}


def _prices(
    listed: float,
    ratios: Mapping[int, float],
    used_share: float,
    price_change_per_year: float,
    years: float,
) -> dict[int, float]:
    """What a used hour costs on average over `years`, without a commitment (0) and for each term
    that fits into them [USD/h].
    """
    prices = {0: listed * mean_price_over_first(price_change_per_year, years)}
    for term, ratio in ratios.items():
        if term <= years:
            mean = listed * renewed_price_over_first(price_change_per_year, years, float(term))
            prices[term] = committed_usd_per_used_hour(mean, ratio, used_share)
    return prices


def cloud_options(
    listings: pd.DataFrame,
    used_share: float = 1.0,
    moved_gb_per_month: float = 0.0,
    price_change_per_year: float = 0.0,
    years: float = 1.0,
    egress: Mapping[str, float] | None = None,
    ratios: Mapping[str, Mapping[int, float]] | None = None,
) -> pd.DataFrame:
    """Every way to pay each provider's cheapest listing, the cheapest first.

    Parameters
    ----------
    listings : from `market.cheapest`; a commitment takes its share off an on-demand price, so of
        other listings there is none
    used_share : share of all hours in which the accelerators are used [1]; on demand only those are
        paid
    moved_gb_per_month : data moved out [GB/month]
    price_change_per_year : yearly change of on-demand prices that is expected [1/year]; a
        commitment keeps its price for its term and is renewed at that of the day
    years : how long the accelerators are needed [years]; commitments for longer are left out
    egress : price of data moved out by segment [USD/GB]; `egress_by_segment` if None
    ratios : committed over on-demand price by provider and term; `commitments` if None

    Columns: provider, segment, option, term_years (0 without a commitment), usd_per_used_hour (of
    all accelerators, without the data), egress_usd, usd_per_month (with it), date.

    Raises
    ------
    DataError : no listing.

    >>> from scaleright import market
    >>> options = cloud_options(market.cheapest("H100 SXM", 8), used_share=0.5)
    >>> bool(options["usd_per_month"].is_monotonic_increasing)
    True
    """
    if listings.empty:
        raise DataError("cloud_options: no listing to choose from")
    egress = egress_by_segment() if egress is None else egress
    ratios = commitments() if ratios is None else ratios
    cheapest = listings.sort_values("usd_per_hour", kind="stable").drop_duplicates("provider")
    rows = []
    for card in cheapest.itertuples():
        plain, data = card.pricing.replace("_", " "), (moved_gb_per_month, egress[card.segment])
        prices = _prices(
            card.usd_per_accelerator_hour,
            ratios.get(card.provider, {}) if plain == ON_DEMAND else {},
            used_share,
            price_change_per_year,
            years,
        )
        for term, price in prices.items():
            option = f"{term} year{'s' if term > 1 else ''} committed" if term else plain
            month = cloud_usd_per_month(price, card.accelerators, 1, used_share, *data)
            hour, moved = price * card.accelerators, egress_usd_per_year(*data) / MONTHS_PER_YEAR
            rows.append((card.provider, card.segment, option, term, hour, moved, month, card.date))
    return ordered(pd.DataFrame(rows, columns=OPTION), "usd_per_month", ignore_index=True)


def cloud_choice(listings: pd.DataFrame, **given) -> Verdict:
    """The cheapest cloud for a chip and load, beside Andreessen Horowitz's rule that it is a
    specialized one; arguments as `cloud_options`.

    >>> from scaleright import market
    >>> cloud_choice(market.cheapest("H100 SXM", 8)).rule
    'a specialized cloud'
    """
    options = cloud_options(listings, **given)
    best, plain = options.iloc[0], options[options["term_years"] == 0]
    bare = plain["usd_per_used_hour"]
    spread = bare.max() / bare.min()
    groups = {
        segment: group.iloc[0]
        for segment, group in options.groupby(options["segment"] == "hyperscaler")
    }
    moved = (
        f", of which {usd(best['egress_usd'])} is for data moved out" if best["egress_usd"] else ""
    )
    reasons = [
        f"it costs {usd(best['usd_per_month'])} a month{moved}",
        (
            f"{plain.iloc[0]['option']} the dearest of {len(plain)} providers asks {spread:.2g}"
            f" times as much as the cheapest; Andreessen Horowitz saw nearly {SOURCE_SPREAD:g}"
            f" times"
        ),
    ]
    if best["term_years"]:
        same, free = plain[plain["provider"] == best["provider"]].iloc[0], plain.iloc[0]
        there, elsewhere = usd(same["usd_per_month"]), usd(free["usd_per_month"])
        reasons.append(
            f"without the commitment it would be {there} there, and {elsewhere} at"
            f" {free['provider']}"
        )
    if len(groups) == 2:
        words = [
            f"{group['provider']} ({group['option']}) at {usd(group['usd_per_month'])}"
            for group in (groups[True], groups[False])
        ]
        reasons.append(
            f"the cheapest large public cloud is {words[0]}, the cheapest other {words[1]}"
        )
    numbers = {
        f"{row.provider}, {row.option}": (row.usd_per_month, "USD/month")
        for row in options.head(5).itertuples()
    }
    numbers["spread"] = (spread, "1")
    if True in groups:
        numbers["large public cloud"] = (groups[True]["usd_per_month"], "USD/month")
    what = f"{best['provider']}, {best['option']}"
    return Verdict(
        "Which cloud?",
        what,
        tuple(reasons),
        numbers,
        SOURCE,
        RULE,
        best["segment"] != "hyperscaler",
    )
