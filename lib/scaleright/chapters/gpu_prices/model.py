"""Cloud comparison (F17): where so many of a chip are cheapest, with the data moved out and
commitments counted in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright.catalog import DataError, remembered, table
from scaleright.costs.break_even import cloud_usd_per_month, egress_usd_per_year
from scaleright.costs.commitment import (
    committed_usd_per_used_hour,
    mean_price_over_first,
    renewed_price_over_first,
)
from scaleright.costs.serving import load_and_rent
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import lookup
from scaleright.information import Choice
from scaleright.market import (
    CONTRACTS,
    Hours,
    cheapest,
    commitment_ratio,
    contracts,
    cost_factor,
    paired_ratios,
)
from scaleright.market.compare import price_ends
from scaleright.market.history import LEAST_PROVIDERS, cloud_table, discount, publishing
from scaleright.market.listed import ANYWHERE, REGION_OF, cards, in_words, listed_chips
from scaleright.market.paid import BINDING
from scaleright.market.purchases import hardware_table
from scaleright.market.rentals import CHIP_ALONE, EVERYWHERE, spread
from scaleright.names import one_of
from scaleright.ops import item, where
from scaleright.order import ordered
from scaleright.outputs import Sheet
from scaleright.quantity import Quantity, apply, choose, given, look_up
from scaleright.quantity.graph import ELEMENT
from scaleright.quantity.lists import LIST, place_of_least, word_at
from scaleright.quantity.rows import Row
from scaleright.units import MONTHS_PER_YEAR, usd

# What clouds deliver beside the price (F17): availability, delivery, interconnect and support


UNKNOWN = "not stated"


@lookup
def cloud_terms() -> pd.DataFrame:
    """What each cloud delivers, and what it lists.

    Columns: provider; delivery, between nodes, rating (words, `UNKNOWN` where no source says);
    chips listed, as many kinds of accelerator under any contract [1], and the latest day of these
    listings.

    >>> found = cloud_terms().set_index("provider")
    >>> found.loc["CoreWeave", "delivery"], found.loc["Vast.ai", "delivery"]
    ('bare metal', 'container')
    """
    frame, sold = table("clouds"), cards()
    sold = sold[sold["provider"].isin(frame["provider"])].groupby("provider")
    kinds, day = sold["accelerator"].nunique(), sold["day"].max()
    between = [_between(*row) for row in frame[["interconnect", "gbit_per_s_per_chip"]].to_numpy()]
    return pd.DataFrame(
        {
            "provider": frame["provider"],
            "delivery": frame["delivery"].fillna(UNKNOWN),
            "between nodes": between,
            "rating": frame["rating"].fillna(UNKNOWN),
            "chips listed": [int(kinds.get(name, 0)) for name in frame["provider"]],
            "latest": [str(day.get(name, UNKNOWN)) for name in frame["provider"]],
        }
    )


def _between(kind: Any, gbit_per_s: Any) -> str:
    if pd.isna(kind):
        return UNKNOWN
    return str(kind) if pd.isna(gbit_per_s) else f"{kind}, {gbit_per_s:.0f} Gbit/s a chip"


@lookup
def asked_by(case: Any, providers: Sequence[str]) -> list[Any]:
    """What each provider asks for an hour of the case's accelerator under its contract [USD/h];
    NaN where it lists none.
    """
    hours = Hours(listed_chips())
    return [hours.paid(case.accelerator, case.contract, name).usd for name in providers]


# Andreessen Horowitz's two lost tables of April 2023, rebuilt: clouds beside each other, and GPUs
# with what they cost; each under the words that head a table


DAY, WITHIN_DAYS = "2023-04-07", 60
"""The day of the table of clouds, and how far from it a rate card may have been saved."""

_PHYSICS = {"memory": "si B", "bandwidth": "si B/s", "compute": "si FLOP/s", "power [W]": "whole"}
"""How columns of `gpus_sheet` are said."""


def clouds_sheet() -> Sheet:
    """Clouds by chips on demand [USD/h], those chips that two or more clouds listed; a cloud that
    priced the chip without its host says so.

    >>> "CoreWeave, chip alone" in set(clouds_sheet().rows["provider"])
    True
    """
    then = cloud_table(DAY, WITHIN_DAYS)
    bare = then["basis"] == CHIP_ALONE
    then = then.assign(provider=then["provider"].mask(bare, then["provider"] + ", chip alone"))
    often = then.groupby("accelerator").size().pipe(ordered, ascending=False)
    wide = then.pivot(index="provider", columns="accelerator", values="usd_per_accelerator_hour")
    wide = wide[often.index[often >= 2]].dropna(how="all")
    rows = wide.rename_axis(columns=None).reset_index()
    words = (
        f"Clouds and chips as of {DAY}, on demand [USD per accelerator-hour]; a dash where no card"
        " of those weeks was found"
    )
    formats = dict.fromkeys(wide.columns, "usd")
    return Sheet(rows, words, f"The table again: {len(rows)} clouds", formats)


def chip_alone_then() -> tuple[str, str]:
    """Who priced the chip without its host on that day, and why, as Andreessen Horowitz's notes
    say.

    >>> chip_alone_then()
    ('CoreWeave', 'vCPUs and memory are billed apart')
    """
    then = cloud_table(DAY, WITHIN_DAYS)
    bare = then[then["basis"] == CHIP_ALONE]
    why = bare["note"].str.partition(";")[0].mode().iloc[0]
    return " and ".join(bare["provider"].unique()), why


def then_and_now_sheet() -> Sheet:
    """Ends of chips of which three clouds or more listed whole instances then and now.

    >>> then_and_now_sheet().rows["when"].tolist()[:2]
    ['then', 'now']
    """
    ends = {"then": price_ends(cloud_table(DAY, WITHIN_DAYS)), "now": price_ends(spread())}
    enough = [
        set(found.loc[found["providers"] >= LEAST_PROVIDERS, "accelerator"])
        for found in ends.values()
    ]
    both = pd.concat([found.assign(when=when) for when, found in ends.items()])
    both = both[both["accelerator"].isin(set.intersection(*enough))]
    both = ordered(both, ["accelerator", "when"], ascending=[True, False])
    columns = ["accelerator", "when", "providers", "apart", "median", "low", "low_at", "high"]
    words = (
        "Chips of which three clouds or more listed whole instances then and now,"
        f" {ends['now']['date'].max():%Y-%m-%d}"
    )
    rows = in_words(both[[*columns, "high_at"]])
    told = "The same chips then and now"
    return Sheet(rows, words, formats={"times apart": "number 3"}, summary=told)


def gpus_sheet() -> Sheet:
    """GPUs with the price of one, the median rent over clouds, and their physics."""
    found = ordered(hardware_table(DAY), "rent_usd_per_hour", ascending=False)
    month = found["purchase_date"].map(lambda d: "" if pd.isna(d) else f" {d:%Y-%m}")
    found = found.assign(bought=found["purchase_kind"].fillna("") + month)
    words = {
        "accelerator": "accelerator",
        "usd_per_accelerator": "price [USD]",
        "bought": "kind and month",
        "rent_usd_per_hour": "rent [USD/h]",
        "clouds": "clouds",
        "memory_bytes": "memory",
        "memory_bytes_per_s": "bandwidth",
        "dense_16bit_flops": "compute",
        "tdp_watts": "power [W]",
    }
    said = (
        f"Accelerators as of {DAY}: price of one, median rent over clouds, dense 16-bit peak; a"
        " dash where nobody published it"
    )
    rows = found[[*words]].rename(columns=words)
    return Sheet(rows, said, f"{len(rows)} accelerators of April 2023", _PHYSICS)


# Every offer of every chip beside each other (F17), as candidates that a page weighs: by the
# hour, and committed for a term


WEIGHED = (
    "usd_per_accelerator_hour",
    "per_instance",
    "usd_per_gb",
    "ratio",
    "committed",
    "first",
    "listed_in",
    "everywhere",
)
"""Columns of `cloud_offers` of which a month's bill is made."""


@remembered
def cloud_offers() -> pd.DataFrame:
    """Every way to rent each listed chip: each provider's cheapest listing by size of the instance
    and region, on spot and on demand; on demand with the discount for each contract that binds; and
    among those on demand, with the discounts for a commitment that the provider states.

    Columns: accelerator, contract, option (its name), segment, those `WEIGHED`:
    usd_per_accelerator_hour [USD/h], per_instance [1], usd_per_gb (of data moved out) [USD/GB],
    ratio (of the price to that on demand) [1], committed (1 where all hours are paid), first (1 for
    the provider's cheapest region), listed_in (a region), everywhere (1 for a listing that holds in
    all regions); large (1 for a large public cloud), and stated (1 for a commitment among the
    offers on demand).

    >>> offers = cloud_offers()
    >>> h100 = offers[(offers["accelerator"] == "H100 SXM") & (offers["contract"] == "on demand")]
    >>> h100.loc[h100["usd_per_accelerator_hour"].idxmin(), "option"]
    'RunPod Community Cloud'
    """
    loose = [
        _listings(chip, of)
        for chip in listed_chips()
        for of in contracts(chip)
        if of not in BINDING
    ]
    loose = pd.concat(loose, ignore_index=True).assign(ratio=1.0, committed=0, stated=0)
    plain = loose[loose["contract"] == "on demand"]
    sellers = list(zip(plain["provider"], plain["segment"], strict=True))
    bound = [
        plain.assign(
            contract=of,
            ratio=[discount(*seller, CONTRACTS[of]).best for seller in sellers],
            committed=1,
        )
        for of in BINDING
    ]
    committed = [
        plain[plain["provider"] == provider].assign(
            ratio=ratio,
            committed=1,
            stated=1,
            option=lambda f, y=years: f["option"] + f", {y} year{'s' * (y > 1)} committed",
        )
        for provider, terms in commitments().items()
        for years, ratio in terms.items()
    ]
    columns = ["accelerator", "contract", "option", "segment", *WEIGHED, "large", "stated"]
    return pd.concat([loose, *bound, *committed], ignore_index=True)[columns]


def listed_offers() -> pd.DataFrame:
    """Those under their own contract alone."""
    offers = cloud_offers()
    return offers[offers["stated"] == 0]


def _listings(chip: str, contract: str) -> pd.DataFrame:
    """The listings of a chip under a contract, each provider's cheapest of a size and region."""
    rows = cheapest(chip, pricing=CONTRACTS[contract]).rename(
        columns={"accelerators": "per_instance"}
    )
    rows = rows.sort_values("usd_per_accelerator_hour", kind="stable")
    rows = rows.drop_duplicates(["provider", "per_instance", "region"])
    several = rows.groupby("provider")["per_instance"].transform("nunique") > 1
    size = rows["per_instance"].map(lambda n: f", {n} a node" if n > 1 else ", singly")
    return rows.assign(
        accelerator=chip,
        contract=contract,
        option=rows["provider"] + size.where(several, ""),
        usd_per_gb=rows["segment"].map(egress_by_segment()),
        first=(~rows.duplicated(["provider", "per_instance"])).astype(int),
        listed_in=rows["region"].replace(REGION_OF),
        everywhere=rows["region"].isin(EVERYWHERE).astype(int),
        large=(rows["segment"] == "hyperscaler").astype(int),
    )


def month_usd(case: Any, offer: Any, ahead: Any = 1.0) -> Quantity:
    """A month at an offer [USD/month]; NaN where it does not hold in the region that is asked for.

    Parameters
    ----------
    case : accelerators, used_share, moved_gb_per_month, region
    offer : has the fields `WEIGHED`, quantities
    ahead : what an hour that no contract fixes costs, over today's price [1]
    """
    there = (offer.listed_in == case.region) | (offer.everywhere > 0)
    listed = where(case.region == ANYWHERE, offer.first > 0, there)
    hour = where(listed, offer.usd_per_accelerator_hour, np.nan)
    committed = committed_usd_per_used_hour(hour, offer.ratio, case.used_share)
    hour = where(offer.committed > 0, committed, hour * ahead)
    bought = case.accelerators, offer.per_instance, case.used_share, case.moved_gb_per_month
    return cloud_usd_per_month(hour, *bought, offer.usd_per_gb)


class Month(NamedTuple):
    """The cheapest month among some offers: its name and its bill [USD/month], no word and NaN
    where there is none; and its place among all of them.
    """

    name: Quantity
    usd: Quantity
    place: Quantity


@dataclass(frozen=True)
class CloudMonths:
    """The cheapest month of a case: under its contract, with commitments that are stated beside,
    and the latter at large public clouds and at others.

    offers : the columns of all offers of the chip under the contract
    dearest_usd : the dearest month under the contract [USD/month]
    """

    case: Any
    offers: Row
    listed: Month
    dearest_usd: Quantity
    any_way: Month
    large: Month
    others: Month

    @classmethod
    def of(cls, case: Any) -> Self:
        """Of a chip and a contract that are chosen; `case` as in `month_usd`, with both."""
        table, many = _columns()
        chosen = choose(table, case.accelerator, case.contract, otherwise="not listed")
        months = [(offer, month_usd(case, offer)) for offer in _each(chosen, many)]

        def listed(condition: Any, sign: float = 1.0) -> Quantity:
            return apply(LIST, *(where(condition(of), sign * usd, np.nan) for of, usd in months))

        def least(condition: Any = lambda offer: True) -> Month:
            place = place_of_least(bills := listed(condition))
            return Month(word_at(chosen.option, place), apply(ELEMENT, bills, place), place)

        def unstated(offer: Any) -> Any:
            return offer.stated == 0

        return cls(
            case,
            chosen,
            least(unstated),
            apply(ELEMENT, listed(unstated), place_of_least(listed(unstated, -1.0))),
            least(),
            least(lambda offer: offer.large > 0),
            least(lambda offer: offer.large == 0),
        )

    def choice(self) -> Choice:
        """The cheapest large public cloud or the cheapest other one, by what a month costs
        [USD/month]. Nobody knows how much will be used, nor what an hour will cost in the year
        ahead that no contract fixes: that moves both alike where neither is committed.
        """
        ahead, ends = load_and_rent(self.case.used_share, True)
        large, others = (
            month_usd(self.case, self._offer(of.place), ahead) for of in (self.large, self.others)
        )
        return Choice.of(large, others, ends, rent_ahead=1.0)

    def _offer(self, place: Quantity) -> SimpleNamespace:
        """The offer at a place; where that is none, one without a price."""
        there = place >= 0
        found = {name: item(self.offers[name], where(there, place, 0)) for name in WEIGHED}
        usd = WEIGHED[0]
        return SimpleNamespace(**found | {usd: where(there, found[usd], np.nan)})


@remembered
def _columns() -> tuple[dict[tuple[str, str], dict[str, list]], int]:
    """The offers of each chip and contract as lists by column, and how many the most are."""
    groups = cloud_offers().groupby(["accelerator", "contract"], sort=False)
    columns = ["option", "large", "stated", *WEIGHED]
    table = {key: rows[columns].to_dict("list") for key, rows in groups}
    return table, max(map(len, groups.groups.values()))


def _each(chosen: Any, many: int) -> Iterator[SimpleNamespace]:
    """The offers of a row whose columns are lists, one after the other."""
    for place in range(many):
        yield SimpleNamespace(
            **{name: chosen[name][place] for name in ("large", "stated", *WEIGHED)}
        )


def offer_of_a_row() -> SimpleNamespace:
    """An offer whose fields are the columns of a chart's or a table's rows."""
    first = cloud_offers().iloc[0]
    return SimpleNamespace(**{name: given(name, first[name]) for name in WEIGHED})


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
