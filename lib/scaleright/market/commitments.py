"""What a commitment takes off the price on demand: published discounts of providers, of their kind,
and of reservations whose term is not stated.
"""

import pandas as pd

from scaleright.catalog import shared, table
from scaleright.market.rentals import WINDOW_MONTHS, in_window, rental_prices
from scaleright.names import one_of
from scaleright.outputs import Sheet
from scaleright.ranges import Range

TERMS = {"reserved_1y": 1, "reserved_3y": 3}
"""Years of each committed kind of pricing."""
COMPUTED = "Median of rate cards"
"""The provider of a row that stands for many: their median, of which the source gives no ends."""


@shared
def paired_ratios() -> pd.DataFrame:
    """Committed over on-demand price [1] of the same product: provider, chip, size, region, date
    and SKU alike.

    Columns: provider, accelerator, accelerators, region, date, sku, term_years, on_demand,
    committed [USD/h], price_ratio, source.

    >>> bool(paired_ratios()["price_ratio"].between(0.2, 1).all())
    True
    """
    keys = ["provider", "accelerator", "accelerators", "region", "date", "sku", "source"]
    wide = {
        pricing: rental_prices(pricing=pricing)[[*keys, "usd_per_accelerator_hour"]]
        for pricing in ("on_demand", *TERMS)
    }
    listed = wide["on_demand"].rename(columns={"usd_per_accelerator_hour": "on_demand"})
    pairs = [
        listed.merge(
            wide[pricing].rename(columns={"usd_per_accelerator_hour": "committed"}), on=keys
        ).assign(term_years=years)
        for pricing, years in TERMS.items()
    ]
    rows = pd.concat(pairs, ignore_index=True)
    rows["price_ratio"] = rows["committed"] / rows["on_demand"]
    columns = [*keys[:-1], "term_years", "on_demand", "committed", "price_ratio", "source"]
    return rows.sort_values([*keys, "term_years"], ignore_index=True)[columns]


def discounts_sheet() -> Sheet:
    """How deep discounts for commitments are, the vendor's headline beside its price lists; empty
    where the vendor states no headline or lists no pair.

    >>> float(discounts_sheet().rows.set_index(["provider", "years"]).loc[("AWS", 3), "headline"])
    0.4
    """
    keys = ["provider", "term_years"]
    said = table("commitment_ratios").set_index(keys)["price_ratio"].rename("headline")
    pairs = paired_ratios().groupby(keys)
    listed = pairs["price_ratio"].agg(["min", "median", "max", "size"])
    listed["newest pair"] = pairs["date"].max().dt.strftime("%Y-%m")
    found = pd.concat([said, listed], axis=1).sort_index().reset_index()
    found = found.fillna({"newest pair": "", "size": 0}).astype({"size": int})
    words = {end: f"{word} listed" for end, word in _ENDS.items()}
    rows = found.rename(columns=words | {"term_years": "years", "size": "pairs"})
    said = "Committed over on-demand price; a dash where the vendor states or lists none"
    shares = dict.fromkeys(("headline", *words.values()), "percent")
    return Sheet(rows, said, f"Discounts of {rows['provider'].nunique()} providers", shares)


_ENDS = {"min": "lowest", "median": "median", "max": "highest"}


@shared
def commitment_ratio(provider: str, term_years: int) -> Range:
    """What a commitment costs at a provider, as a share of its on-demand price [1].

    The best figure is the median over chips of `paired_ratios`, the ends their lowest and highest;
    the vendor's headline, which is its best case, can lower the low end, and stands alone where no
    pair is listed.

    Raises
    ------
    LookupError : a provider without a ratio, or a term that it lacks; the nearest names are
        offered.

    >>> commitment_ratio("AWS", 3).best < commitment_ratio("AWS", 1).best < 1
    True
    """
    headlines, pairs = table("commitment_ratios"), paired_ratios()
    one_of(
        provider,
        sorted({*headlines["provider"], *pairs["provider"]}),
        "provider with a commitment ratio",
    )
    headlines, pairs = (rows[rows["provider"] == provider] for rows in (headlines, pairs))
    terms = sorted({*map(int, headlines["term_years"]), *map(int, pairs["term_years"])})
    one_of(term_years, terms, f"term of {provider} [years]")
    said = headlines.loc[headlines["term_years"] == term_years, "price_ratio"].tolist()
    chips = (
        pairs[pairs["term_years"] == term_years]
        .groupby("accelerator")["price_ratio"]
        .median()
        .tolist()
    )
    best = float(pd.Series(chips or said).median())
    return Range(float(min(said + chips)), best, float(max(chips or said)))


@shared
def reserved_ratio() -> Range:
    """What a reservation of a term that is not stated costs, as a share of the price on demand [1].

    Of each chip the median over the newest year of the ratio between the monthly medians of rate
    cards, reserved and on demand; of the chips their median and ends.

    >>> ratio = reserved_ratio()
    >>> ratio.low < ratio.best < ratio.high < 1
    True
    """
    price, keys = "usd_per_accelerator_hour", ["accelerator", "date"]
    reserved, plain = (
        rows[rows["provider"] == COMPUTED].set_index(keys)[price]
        for rows in (
            rental_prices(pricing=of, basis=("index",)) for of in ("reserved", "on_demand")
        )
    )
    ratios = (reserved / plain).dropna().rename("ratio").reset_index()
    recent = in_window(ratios, ratios["date"].max(), WINDOW_MONTHS)
    chips = recent.groupby("accelerator")["ratio"].median()
    return Range(float(chips.min()), float(chips.median()), float(chips.max()))


@shared
def kind_ratio(segment: str, term_years: int) -> Range:
    """What a commitment costs at a provider that publishes no discount, as a share of its price on
    demand [1]: the median of the providers of its kind that do, or of all if none does; its ends
    are those of all, since a kind has few.

    >>> kind_ratio("marketplace", 3).best < kind_ratio("marketplace", 1).best < 1
    True
    """
    kinds = table("rental_prices").drop_duplicates("provider").set_index("provider")["segment"]
    known = {name: commitment_ratio(name, term_years) for name in _publishing(term_years)}
    alike = [ratio.best for name, ratio in known.items() if kinds.get(name) == segment]
    best = float(pd.Series(alike or [ratio.best for ratio in known.values()]).median())
    low, high = min(of.low for of in known.values()), max(of.high for of in known.values())
    return Range(low, best, high)


def _publishing(term_years: int) -> list[str]:
    """Providers that publish a discount for a term, by name."""
    both = (table("commitment_ratios"), paired_ratios())
    return sorted(
        {name for of in both for name in of.loc[of["term_years"] == term_years, "provider"]}
    )


@shared
def discount(provider: str, segment: str, pricing: str) -> Range:
    """What an hour costs at a provider under a contract that binds, as a share of its price on
    demand [1].

    Parameters
    ----------
    segment : the provider's kind, whose discounts stand for one that publishes none
    pricing : "reserved_1y", "reserved_3y", or "reserved" for a term that is not stated

    >>> discount("Oracle Cloud", "hyperscaler", "reserved_1y").best < 1
    True
    """
    if pricing == "reserved":
        return reserved_ratio()
    years = TERMS[pricing]
    published = provider in _publishing(years)
    return commitment_ratio(provider, years) if published else kind_ratio(segment, years)
