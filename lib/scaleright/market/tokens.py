"""What APIs ask for tokens: the offers of a model, and the price of an open one over the companies
that host it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from scaleright.catalog import own_models, remembered, resource, shared, table
from scaleright.market.hours import CHEAPEST, MEDIAN
from scaleright.market.rentals import as_day
from scaleright.names import nearest, one_of
from scaleright.ops import where
from scaleright.quantity.rows import Table
from scaleright.ranges import Range

PAID = ("first_party", "reseller")
"""Offers with a price to decide on; what is free or part of a subscription has none, and a gateway
passes on others'.
"""
PRICED = (*PAID, "gateway")
"""Offers with a price to show."""
_PRICES = ["input_usd_per_million", "cache_read_usd_per_million", "output_usd_per_million"]


def _release(name: str) -> str:
    """The published weights of this name, upper or lower case; other weights of one shape are other
    offers.
    """
    known, folded = _releases(), name.strip().casefold()
    return (
        known[folded]
        if folded in known
        else nearest(name, [*known.values()], "open model with an API price")
    )


@remembered
def _releases() -> Mapping[str, str]:
    """All published weights by their names in lower case."""
    known = table("api_prices")["release"].dropna().unique()
    return MappingProxyType({str(release).casefold(): str(release) for release in known})


def api_prices(
    model: str | None = None, offers: tuple[str, ...] = PAID, day: date | str | None = None
) -> pd.DataFrame:
    """Offers that hold on a day, the newest of each provider and name; see the data package for the
    columns.

    Parameters
    ----------
    model : published weights such as "Llama-3.3-70B"; all models if None; of the reader's own
        nobody lists a price
    offers : kinds of offer, of "first_party", "reseller", "gateway", "free" and "subscription"
    day : by default the day of the table

    Raises
    ------
    LookupError : weights that nobody lists, or an unknown kind of offer; the nearest names are
        offered.
    ValueError : no date, a day in the future, or one before the first price.

    >>> bool((api_prices("DeepSeek-R1", day="2026-07-15")["output_usd_per_million"] > 0).all())
    True
    """
    prices = _offers(tuple(offers), day)
    if model is None:
        return prices
    if model in own_models():
        return prices.iloc[:0]
    return prices[prices["release"] == _release(model)]


@shared
def _offers(offers: tuple[str, ...], day: date | str | None) -> pd.DataFrame:
    """The `api_prices` of all models."""
    prices = table("api_prices")
    for offer in offers:
        one_of(offer, sorted(prices["offer"].unique()), "kind of offer")
    at = as_day(resource("api_prices")["as_of"] if day is None else day, prices)
    prices = prices[
        (prices["date"] <= at) & ~(prices["until"] <= at) & prices["offer"].isin(offers)
    ]
    prices = prices.sort_values("date", kind="stable").drop_duplicates(
        ["provider", "model_id"], keep="last"
    )
    return prices.sort_values(["provider", "model_id"], kind="stable")


@dataclass(frozen=True)
class TokenPrice:
    """What an open model's tokens cost at a host [USD / 1e6 token]: lowest, median and highest of
    its companies, kind by kind; of a single company those of its offers.

    cache_read : price of cached input; an offer without one asks its input price
    companies : how many sell it [1]
    since, as_of : days of the oldest and of the newest of their lists
    """

    input: Range
    cache_read: Range
    output: Range
    companies: int
    since: date
    as_of: date


@shared
def api_price(model: str, host: str = MEDIAN, day: date | str | None = None) -> TokenPrice:
    """Lowest, median and highest paid price of an open model, one figure a company for each kind.

    A company with several offers of the same weights, on two sites or under two names, counts once
    with their median, as a rate card of rents does; gateways do not count. The three kinds are
    ranked apart: the lowest input price need not come from who has the lowest output price.

    Parameters
    ----------
    model : published weights
    host : all companies ("median"), the cheapest quarter of them, or one by name
    day : by default the day of the table

    Raises
    ------
    LookupError : nobody lists these weights, or no host, or not this one, sells them for money on
        that day.

    >>> price, cheap = (api_price("llama-3.3-70b", host) for host in ("median", "cheapest quarter"))
    >>> price.output.low < price.output.best < price.output.high
    True
    >>> price.cache_read.best <= price.input.best, cheap.output.high < price.output.best
    (True, True)
    """
    offers = api_prices(model, day=day)
    if offers.empty:
        missing = (
            f"no paid offer of {model!r} on {day or resource('api_prices')['as_of']} by a host"
        )
        raise LookupError(
            f"{missing}; free and subscribed ones have no price, gateways pass on that of a host"
        )
    each = _by_company(offers)
    companies = each.index.get_level_values("company")
    one_of(host, _hosts(companies), f"host of {model}")
    if host in companies:
        offers = offers[offers["company"] == host]
        each = _filled(offers)[_PRICES]
    few = -(-len(companies) // 4) if host == CHEAPEST else len(each)
    kept = (each[name].sort_values().head(few) for name in _PRICES)
    spans = [Range(*map(float, of.quantile([0, 0.5, 1]))) for of in kept]
    many, dates = 1 if host in companies else few, offers["date"].dt.date
    return TokenPrice(*spans, companies=many, since=dates.min(), as_of=dates.max())


def _hosts(companies: Iterable[str]) -> tuple[str, ...]:
    """What may be chosen of companies: all, the cheapest quarter, or one by name."""
    return (MEDIAN, CHEAPEST, *sorted(set(companies)))


@remembered
def hosts(model: str) -> tuple[str, ...]:
    """Who sells an open model's tokens, as `api_price` takes it.

    >>> hosts("Llama-3.3-70B")[:2]
    ('median', 'cheapest quarter')
    """
    offers = api_prices(model)
    return _hosts(offers["company"]) if len(offers) else ()


def _sellers(model: str) -> tuple[str, ...]:
    """The `hosts` of weights, none of those that nobody lists."""
    try:
        return hosts(model)
    except LookupError:
        return ()


@remembered
def sold_release(name: str) -> str:
    """The release that hosts sell under a name; of a shape that which most of them do. Empty where
    nobody sells one.

    >>> sold_release("qwen3-32b"), sold_release("GPT-3 175B")
    ('Qwen3-32B', '')
    """
    every = open_models()
    for column in ("release", "model"):
        found = every["release"][every[column].str.casefold() == name.strip().casefold()]
        if len(found):
            return str(found.iloc[0])
    return ""


def _filled(offers: pd.DataFrame) -> pd.DataFrame:
    """Offers whose cached input costs as much as input where they give no price for it."""
    cached = offers["cache_read_usd_per_million"].fillna(offers["input_usd_per_million"])
    return offers.assign(cache_read_usd_per_million=cached)


def _by_company(offers: pd.DataFrame) -> pd.DataFrame:
    """The median price of each kind that a company asks for some weights."""
    return _filled(offers).groupby(["release", "model", "company"])[_PRICES].median()


@remembered
def open_models() -> pd.DataFrame:
    """Open models that a host sells for money, those of most companies first.

    Columns: release, model (key of its shape), input_usd_per_million, output_usd_per_million
    (medians over companies), companies.

    >>> open_models()["release"].is_unique
    True
    """
    each = _by_company(api_prices().dropna(subset="release")).groupby(["release", "model"])
    models = (
        each.median()[["input_usd_per_million", "output_usd_per_million"]]
        .assign(companies=each.size())
        .reset_index()
    )
    return models.sort_values(["companies", "release"], ascending=[False, True], ignore_index=True)


@remembered
def api_terms(model: str) -> Mapping[str, Any]:
    """How an open model's tokens are sold, as a row for `choose`.

    Returns
    -------
    companies : how many host it [1]
    offers, discounted, discount : paid offers, those whose cached input costs less [1], and the
        median of what it costs there over input [1]

    >>> terms = api_terms("Llama-3.3-70B")
    >>> terms["discounted"] <= terms["offers"]
    True
    """
    offers = api_prices(model)
    if offers.empty:
        none = dict.fromkeys(("companies", "offers", "discounted"), 0)
        return MappingProxyType(none | {"discount": float("nan")})
    asked = offers["input_usd_per_million"]
    share = (offers["cache_read_usd_per_million"] / asked)[lambda ratio: ratio < 1]
    found = {"companies": api_price(model).companies, "offers": len(offers)}
    return MappingProxyType(found | {"discounted": len(share), "discount": float(share.median())})


class Span(NamedTuple):
    """The cheapest, the median and the dearest of some prices."""

    low: Any
    usd: Any
    high: Any


@dataclass(frozen=True)
class PaidTokens:
    """What tokens cost at an API in a case of quantities [USD / 1e6 token].

    input, cached, output : those of the host, all three the same where the reader gives a price of
        their own; NaN where the host does not sell the model
    counted, age : in words, whose prices and of which days they are
    why, there : why there is no price, empty where there is one; whether there is
    """

    input: Span
    cached: Span
    output: Span
    counted: Any
    age: Any
    why: Any
    there: Any


class Hosts:
    """The `api_price` of some open models at each of their hosts, for quantities.

    >>> from scaleright.quantity import evaluate, given
    >>> asked = Hosts(["Llama-3.3-70B"]).asked(given("model", "Llama-3.3-70B"), given("host", "x"))
    >>> asked.there.value, asked.why.value[:43]
    (False, 'no such host sells Llama-3.3-70B; it is sol')
    """

    def __init__(self, models: Iterable[str]):
        models = tuple(models)
        rows = {(name, host): _row(name, host) for name in models for host in _sellers(name)}
        self._prices = Table(rows or {("", MEDIAN): _UNSOLD}, otherwise="none")
        self._hosts = Table({name: {"words": ", ".join(_sellers(name))} for name in models})

    def asked(self, model: Any, host: Any, own: Mapping[str, Any] | None = None) -> PaidTokens:
        """What a case pays.

        own : prices of the reader's own for "input", "cached" and "output", 0 for those of the
            host; cached input of a model that nobody hosts costs as much as input unless given
        """
        row, spans, every = self._prices.row(model, host), {}, True
        sold = self._hosts.row(model).words
        mine = dict(own or {})
        if mine:
            as_input = (sold == "") & (mine["cached"] == 0)
            mine["cached"] = where(as_input, mine["input"], mine["cached"])
        for kind in _KINDS:
            given = mine.get(kind, 0.0) > 0
            listed = Span(*(row[kind + end] for end in ("_low", "", "_high")))
            spans[kind] = Span(*(where(given, mine[kind], of) for of in listed)) if mine else listed
            every = given & every
        known = every | row.there
        why = "no such host sells " + model + "; it is sold at " + sold
        nobody = "nobody lists an API price of " + model + "; give your own"
        why = where(sold == "", nobody, why)
        return PaidTokens(
            **spans,
            counted=where(every, "your own prices", row.counted),
            age=where(every, "yours", where(row.there, row.age, "none")),
            why=where(known, "", why),
            there=known,
        )


_KINDS = {"input": "input", "cached": "cache_read", "output": "output"}
_UNSOLD: dict[str, Any] = {
    **{f"{kind}{end}": float("nan") for kind in _KINDS for end in ("", "_low", "_high")},
    "counted": "",
    "age": "",
}
"""The columns of a row where no model is sold."""


def _row(model: str, host: str) -> dict[str, Any]:
    """A row of `Hosts`."""
    price = api_price(model, host)
    found: dict[str, Any] = {}
    for kind, of in _KINDS.items():
        span = getattr(price, of)
        found |= {kind: span.best, f"{kind}_low": span.low, f"{kind}_high": span.high}
    group = f"the {host}, " * (host == CHEAPEST)
    counted = f"{group}median of {price.companies} hosts" if host in (MEDIAN, CHEAPEST) else host
    days = dict.fromkeys((f"{price.since}", f"{price.as_of}"))
    return found | {"counted": counted, "age": " to ".join(days)}
