"""Every offer of every chip beside each other (F17), as candidates that a page weighs: by the hour,
and committed for a term.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright.catalog import remembered
from scaleright.chapters.gpu_prices.choice import commitments, egress_by_segment
from scaleright.costs.commitment import committed_usd_per_used_hour
from scaleright.costs.rent import cloud_usd_per_month
from scaleright.costs.serving_doubts import load_and_rent
from scaleright.information import Choice
from scaleright.market import CONTRACTS, cheapest, contracts
from scaleright.market.history import discount
from scaleright.market.listed import ANYWHERE, REGION_OF, listed_chips
from scaleright.market.paid import BINDING
from scaleright.market.rentals import EVERYWHERE
from scaleright.ops import item, where
from scaleright.quantity import Quantity, apply, choose, given
from scaleright.quantity.graph import ELEMENT
from scaleright.quantity.lists import LIST, place_of_least, word_at
from scaleright.quantity.rows import Row

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
