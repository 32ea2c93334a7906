"""What APIs ask for tokens: the offers of a model, and the price of an open one over the companies
that host it.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright.catalog import own_models, remembered, resource, shared, table
from scaleright.market.hours import CHEAPEST, MEDIAN
from scaleright.market.paid import BEST
from scaleright.market.rentals import as_day
from scaleright.names import nearest, one_of
from scaleright.ops import maximum, where
from scaleright.quantity import least_of, look_up
from scaleright.quantity.rows import Row, Table
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
    offers = api_prices(model) if _sellers(model) else None
    if offers is None:
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


class Kinds(NamedTuple):
    """A price of each kind of tokens [USD / 1e6 token]."""

    input: Any
    cached: Any
    output: Any


@dataclass(frozen=True)
class PaidTokens:
    """What tokens cost at an API in a case of quantities [USD / 1e6 token].

    input, cached, output : those of the host, all three the same where the reader gives a price of
        their own; of the cheapest host up to the median of all, of one that alone sells the model
        as far as hosts lie apart (`hosts_apart`); NaN where the host does not sell the model
    counted, age : in words, whose prices and of which days they are
    best : whether it is the cheapest host for the request [truth value]
    many : of how many hosts, of a request that they take; 1 of one by name or of a group [1]
    median : the prices at the median of all hosts
    why, there : why there is no price, empty where there is one; whether there is
    """

    input: Span
    cached: Span
    output: Span
    counted: Any
    age: Any
    best: Any
    many: Any
    median: Kinds
    why: Any
    there: Any


class Hosts:
    """The `api_price` of some open models at each of their hosts, for quantities, and at the one
    that is cheapest for a request.

    >>> from scaleright.quantity import evaluate, given
    >>> some, model = Hosts(["Llama-3.3-70B"]), given("model", "Llama-3.3-70B")
    >>> asked = some.asked(model, given("host", "x"))
    >>> asked.there.value, asked.why.value[:43]
    (False, 'no such host sells Llama-3.3-70B; it is sol')
    >>> cheap = some.asked(model, "cheapest", bill=lambda read, wrote, kept: 4 * read + wrote)
    >>> cheap.output.usd.value < cheap.median.output.value, "the cheapest of" in cheap.counted.value
    (True, True)
    """

    def __init__(self, models: Iterable[str]):
        models = tuple(models)
        rows = {key: row for name in models for key, row in _rows(name).items()}
        self._prices = Table(rows or {("", MEDIAN): _UNSOLD}, otherwise="none")
        rows = {name: _ways(name) for name in models}
        self._hosts = Table(rows)
        self._most = max((len(of["at"]) for of in rows.values()), default=0)
        self._sizes = max((len(of["alike"]) for of in rows.values()), default=0)

    def asked(
        self,
        model: Any,
        host: Any,
        own: Mapping[str, Any] | None = None,
        bill: Callable[[Any, Any, Any], Any] | None = None,
        tokens: Any = 0.0,
        bits: Any = 0.0,
    ) -> PaidTokens:
        """What a case pays.

        own : prices of the reader's own for "input", "cached" and "output", 0 for those of the
            host; cached input of a model that nobody hosts costs as much as input unless given
        bill : a request by the prices of input, output and cached input, where `host` may be `BEST`
        tokens, bits : of a request and of a weight, which the cheapest host has to take [1]
        """
        of, mine = self._hosts.row(model), dict(own or {})
        best, counted, many = host == BEST, None, 1.0
        if bill is not None:
            name, counted, many = self._cheapest(of, bill, tokens, bits)
            host = where(best, name, host)
        row, middle = (self._prices.row(model, one) for one in (host, MEDIAN))
        if mine:
            as_input = (of.words == "") & (mine["cached"] == 0)
            mine["cached"] = where(as_input, mine["input"], mine["cached"])
        spans, every, sole = {}, True, best & (of.companies == 1)
        for kind in _KINDS:
            given, usd = mine.get(kind, 0.0) > 0, row[kind]
            low, high = (where(sole, middle[kind + e], row[kind + e]) for e in ("_low", "_high"))
            high = where(best, maximum(high, middle[kind]), high)
            listed = Span(low, usd, high)
            spans[kind] = Span(*(where(given, mine[kind], of) for of in listed)) if mine else listed
            every = given & every
        known = every | row.there
        why = "no such host sells " + model + "; it is sold at " + of.words
        long = "no host of " + model + " takes such long requests in such a format"
        nobody = "nobody lists an API price of " + model + "; give your own"
        why = where(of.words == "", nobody, where(best, long, why))
        said = row.counted if counted is None else where(best, counted, row.counted)
        return PaidTokens(
            **spans,
            counted=where(every, "your own prices", said),
            age=where(every, "yours", where(row.there, row.age, "none")),
            best=best & ~every,
            many=where(best & ~every, many, 1.0),
            median=Kinds(*(middle[kind] for kind in _KINDS)),
            why=where(known, "", why),
            there=known,
        )

    def _cheapest(self, of: Row, bill: Callable[..., Any], tokens: Any, bits: Any) -> Any:
        """The cheapest host of a model for a request, in words of how many and how many are left
        out, and of how many.
        """
        usd = [
            where(
                (of.context[at] >= tokens) & (of.bits[at] >= bits),
                bill(*(of[kind][at] for kind in ("input", "output", "cached"))),
                math.nan,
            )
            for at in range(self._most)
        ]
        short: Any = 0.0
        for at in range(self._sizes):
            small = (of.least_context[at] < tokens) | (of.least_bits[at] < bits)
            short = short + where(small, of.alike[at], 0.0)
        name, many = least_of(of.at, usd)[0], of.companies - short
        among, left = name + ", the cheapest of " + _digits(many) + " hosts", _digits(short)
        reason = where(bits > 0, "for a shorter context or fewer bits: ", "for a shorter context: ")
        among = among + where(short > 0, " (left out " + reason + left + ")", "")
        return name, where(of.companies == 1, name + ", its one host", among), many


def _digits(many: Any) -> Any:
    """A number of hosts as a word."""
    return look_up({str(of): str(of) for of in range(MOST_HOSTS + 1)}, many)


MOST_HOSTS = 60
"""More companies than host any model."""
_BITS = {"FP8": 8.0}
"""Bits of a weight where a host says so; else those in which models are published."""
_WHOLE, _LONG = 16.0, 1e9
"""Bits of a weight, and tokens of a context, where a host states none."""


@shared
def _ways(model: str) -> dict[str, Any]:
    """How a model's hosts compare, as a row: who they are in words, how many, and lists of those
    that no other one undercuts in every price with as long a context and as many bits.

    Columns: words, companies; at, input, cached, output [USD / 1e6 token], context [token], bits;
    and of hosts alike, least_context, least_bits, alike [1].
    """
    who = _sellers(model)
    found: dict[str, Any] = {"words": ", ".join(who), "companies": 0.0, "at": [""]}
    lists = (*_KINDS, "context", "bits")
    if not who:
        nothing = ("least_context", "least_bits", "alike")
        return found | {of: [math.nan] for of in (*lists, *nothing)}
    offers = api_prices(model)
    offers = offers.assign(
        context=offers["context_tokens"].astype(float).fillna(_LONG),
        bits=offers["format"].map(_BITS).astype(float).fillna(_WHOLE),
    )
    each = _by_company(offers).droplevel(["release", "model"])
    each = each.join(offers.groupby("company")[["context", "bits"]].max()).sort_index()
    columns = [f"{of}_usd_per_million" for of in _KINDS.values()]
    worth = each[columns].join(-each[["context", "bits"]])
    cheap = worth.to_numpy()
    under = (cheap[:, None] <= cheap).all(axis=2)  # of each pair, whether the first is no worse
    first = np.arange(len(cheap))
    beaten = (under & ~(under.T & (first[:, None] >= first))).any(axis=0)
    kept = each[~beaten]
    alike = each.groupby(["context", "bits"]).size()
    found |= {"companies": float(len(each)), "at": kept.index.tolist()}
    found |= dict(
        zip(lists, (kept[of].tolist() for of in (*columns, "context", "bits")), strict=True)
    )
    least = {f"least_{of}": alike.index.get_level_values(of).tolist() for of in ("context", "bits")}
    return found | least | {"alike": alike.astype(float).tolist()}


@remembered
def hosts_apart() -> tuple[float, float]:
    """What a host asks for output over the median of all hosts of a model, ends of nine in ten, of
    models with five hosts or more [1].

    >>> hosts_apart()[0] < 1 < hosts_apart()[1]
    True
    """
    each = _by_company(api_prices().dropna(subset="release"))["output_usd_per_million"]
    by_model = each.groupby(["release", "model"])
    over = (each / by_model.transform("median"))[by_model.transform("size") >= FEW_HOSTS]
    return float(over.quantile(0.05)), float(over.quantile(0.95))


FEW_HOSTS = 5
"""Below so many, hosts of a model say little of how far they lie apart."""


_KINDS = {"input": "input", "cached": "cache_read", "output": "output"}
_UNSOLD: dict[str, Any] = {
    **{f"{kind}{end}": float("nan") for kind in _KINDS for end in ("", "_low", "_high")},
    "counted": "",
    "age": "",
}
"""The columns of a row where no model is sold."""


@shared
def _rows(model: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of `Hosts` of a model."""
    rows = {}
    for host in _sellers(model)[:2]:
        price = api_price(model, host)
        spans = {kind: getattr(price, of) for kind, of in _KINDS.items()}
        many = price.companies
        group = f"the {host}, " * (host == CHEAPEST)
        counted = f"{group}median of {many} hosts" if many > 1 else "its one host"
        if many == 1:  # of a single row nobody knows the next
            apart = hosts_apart()
            spans = {
                k: Range(of.best * apart[0], of.best, of.best * apart[1]) for k, of in spans.items()
            }
        rows[model, host] = _as_row(spans, counted, price.since, price.as_of)
    for host, offers in _filled(api_prices(model)).groupby("company") if rows else ():
        ends = offers[_PRICES].quantile([0, 0.5, 1])
        spans = {kind: Range(*ends[f"{of}_usd_per_million"]) for kind, of in _KINDS.items()}
        days = offers["date"].dt.date
        rows[model, str(host)] = _as_row(spans, str(host), days.min(), days.max())
    return rows


def _as_row(spans: Mapping[str, Range], counted: str, since: date, until: date) -> dict[str, Any]:
    """A row of `Hosts`."""
    found: dict[str, Any] = {}
    for kind, span in spans.items():
        ends = {"": span.best, "_low": span.low, "_high": span.high}
        found |= {kind + end: float(usd) for end, usd in ends.items()}
    days = dict.fromkeys((f"{since}", f"{until}"))
    return found | {"counted": counted, "age": " to ".join(days)}
