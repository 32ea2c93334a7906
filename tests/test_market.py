"""Prices of the market: what is a price, what only history, one figure per provider."""

import math
from datetime import date

import pandas as pd
import pytest
from scaleright import market
from scaleright.catalog import accelerators, table
from scaleright.market import history
from scaleright.market.rentals import CHIP_ALONE, RAW
from scaleright.quantity import evaluate, given

CARDS = ["accelerator", "provider"]


@pytest.fixture
def listings(monkeypatch):
    """Stand-in rental prices: one row a tuple (date, provider, chip, count, region, pricing,
    price[, basis]).
    """

    def put(*rows):
        names = [
            "date",
            "provider",
            "accelerator",
            "accelerators",
            "region",
            "pricing",
            "usd_per_accelerator_hour",
            "basis",
        ]
        frame = pd.DataFrame([(*row, "list")[:8] for row in rows], columns=names)
        frame["date"], frame["accelerators"] = (
            pd.to_datetime(frame["date"]),
            frame["accelerators"].astype("Int64"),
        )
        frame = frame.assign(segment="neocloud", sku="x", source="s", note=None)
        monkeypatch.setattr("scaleright.catalog.memory._FOUND", {})
        monkeypatch.setattr(
            "scaleright.market.rentals.table",
            lambda name: frame.copy() if name == "rental_prices" else table(name),
        )

    return put


def test_no_price_to_decide_on_comes_from_an_index_or_a_scaled_value():
    bases = table("rental_prices").groupby("basis").size()
    assert bases["index"] > 500 and bases["normalized"] > 500
    for frame in (
        market.rental_prices(),
        market.spread(),
        market.cheapest("H100 SXM"),
        market.cloud_table("2026-09-01", 60),
    ):
        assert set(frame["basis"]) <= set(RAW)
    assert "Median of rate cards" not in set(market.spread()["provider"])


def test_the_price_of_a_chip_without_its_host_is_none_to_decide_on():
    assert table("rental_prices")["basis"].eq(CHIP_ALONE).sum() == 6
    for frame in (
        market.rental_prices(),
        market.spread("2023-06-01"),
        market.cheapest("A100 SXM 80GB", day="2023-06-01"),
    ):
        assert CHIP_ALONE not in set(frame["basis"])
        assert "CoreWeave" not in set(frame.query("date < '2024'")["provider"])


@pytest.mark.parametrize(
    "chip, day, low, high",
    [("H100 SXM", "2024-12-01", 2.9, 12.3), ("A100 SXM 80GB", "2025-04-01", 1.5, 5.2)],
)
def test_the_price_of_a_past_day_is_read_from_cards_of_the_year_before_it(chip, day, low, high):
    rows = market.cheapest(chip, day=day)
    assert len(set(rows["provider"])) >= 4 and rows["age_days"].between(0, 366).all()
    assert rows["usd_per_accelerator_hour"].between(low, high).all()


def test_a_price_changes_with_raw_listings_alone(listings):
    real = [
        ("2026-10-01", "A", "H100 SXM", 8, "global", "on_demand", 3.0),
        ("2026-10-01", "B", "H100 SXM", 8, "global", "on_demand", 5.0),
    ]
    listings(*real)
    before = market.hour("H100 SXM")
    listings(
        *real,
        ("2026-10-02", "C", "H100 SXM", 8, "global", "on_demand", 99.0, "index"),
        ("2026-10-02", "D", "H100 SXM", 8, "x", "on_demand", 0.5, "normalized"),
    )
    assert market.hour("H100 SXM") == before
    assert (before.low, before.usd, before.high, before.listings) == (3.0, 4.0, 5.0, 2)


def test_of_each_provider_the_newest_card_of_a_year_counts(listings):
    listings(
        ("2026-10-01", "A", "L4", 1, "global", "on_demand", 0.8),
        ("2026-01-01", "A", "L4", 1, "global", "on_demand", 0.4),
        ("2025-11-01", "B", "L4", 1, "global", "on_demand", 0.6),
        ("2025-09-01", "C", "L4", 1, "global", "on_demand", 0.1),
    )
    price = market.hour("L4")
    assert (price.low, price.high, price.listings, price.until) == (0.6, 0.8, 2, date(2026, 10, 1))


@pytest.mark.parametrize(
    "pricing, day",
    [
        ("on_demand", None),
        ("on_demand", "2023-12-01"),
        ("on_demand", "2026-09-29"),
        ("spot", None),
        ("reserved_1y", None),
        ("reserved_3y", "2023-12-01"),
    ],
)
def test_the_spread_has_one_figure_for_each_chip_and_provider(pricing, day):
    rows = market.spread(day, pricing)
    assert not rows.empty and rows.groupby(CARDS).size().max() == 1
    end = pd.Timestamp(day) if day else market.rental_prices(pricing=pricing)["date"].max()
    assert rows["date"].between(end - pd.DateOffset(months=12), end).all()
    assert rows[["source", "region", "segment"]].notna().all().all()


def test_one_provider_with_many_regions_does_not_outvote_the_others(listings):
    listings(
        *(("2026-10-01", "Big", "L4", 1, f"r{i}", "on_demand", 9.0 + i) for i in range(9)),
        ("2026-10-01", "Small", "L4", 1, "global", "on_demand", 1.0),
    )
    rows = market.spread().set_index("provider")
    assert rows.loc["Big", "usd_per_accelerator_hour"] == 13
    assert rows.loc["Big", "region"] == "9 regions"
    assert market.hour("L4").usd == 7


def test_the_spread_says_who_asks_the_lowest_median_and_highest_price_of_the_newest_year():
    every = market.spread().groupby("accelerator")
    for chip in ("H100 SXM", "A100 SXM 80GB", "RTX 4090", "MI325X"):
        price, rows = market.hour(chip), every.get_group(chip)
        usd = rows["usd_per_accelerator_hour"]
        assert (usd.min(), usd.max()) == (price.low, price.high)
        assert usd.median() == pytest.approx(price.usd)
        assert rows["source"].str.len().min() > 3 and rows["date"].max().date() == price.until


def test_the_cheapest_is_ranked_by_the_whole_bill(listings):
    listings(
        ("2026-10-01", "Node", "H100 SXM", 8, "global", "on_demand", 2.0),
        ("2026-10-01", "Single", "H100 SXM", 1, "us", "on_demand", 3.0),
        ("2026-10-03", "Late", "H100 SXM", 1, "eu", "on_demand", 2.5),
    )
    one, nine = market.cheapest("H100 SXM"), market.cheapest("H100 SXM", 9)
    assert list(one["provider"]) == ["Late", "Single", "Node"]
    assert list(one["usd_per_hour"]) == [2.5, 3, 16]
    assert list(nine["provider"]) == ["Late", "Single", "Node"]
    assert list(nine["instances"]) == [9, 9, 2]
    assert nine.iloc[2]["accelerators"] == 16
    assert list(market.cheapest("H100 SXM", 8)["usd_per_hour"]) == [16, 20, 24]
    assert list(market.cheapest("H100 SXM", region="us")["provider"]) == ["Single", "Node"]
    assert list(market.cheapest("H100 SXM", provider="Node")["provider"]) == ["Node"]
    # who lists one price for everywhere
    assert list(market.cheapest("H100 SXM", region="us", provider="Node")["provider"]) == ["Node"]
    with pytest.raises(
        LookupError, match="Single lists no H100 SXM in 'eu'; regions where it does: us"
    ):
        market.cheapest("H100 SXM", region="eu", provider="Single")
    assert list(market.cheapest("H100 SXM", day="2026-10-02")["provider"]) == ["Single", "Node"]
    assert list(one["age_days"]) == [0, 2, 2]


@pytest.mark.parametrize("chip", ["H100 SXM", "A100 SXM 80GB", "H200 SXM", "B200"])
def test_a_history_never_mixes_bases(chip):
    history = market.price_history(chip)
    assert history.groupby(["basis", "date"]).size().max() == 1
    assert set(history["basis"]) == {"raw", "normalized"}
    assert (history["providers"] >= 3).all()
    assert (history["date"].dt.day == 1).all()
    assert history["median"].gt(0).all()
    scaled = history[history["basis"] == "normalized"]
    assert (scaled["low"] <= scaled["median"]).all() and (scaled["median"] <= scaled["high"]).all()
    assert history.loc[history["basis"] == "raw", ["low", "high"]].isna().all().all()


def test_the_median_of_scaled_cards_is_the_index_that_the_source_prints():
    rows = table("rental_prices")
    printed = rows[rows["provider"] == "Median of scaled cards"].set_index(["accelerator", "date"])[
        "usd_per_accelerator_hour"
    ]
    computed = (
        rows[rows["basis"] == "normalized"]
        .groupby(["accelerator", "date"])["usd_per_accelerator_hour"]
        .median()
    )
    apart = (computed.reindex(printed.index) / printed - 1).abs()
    assert len(printed) > 90 and apart.max() < 0.0005


def test_scaled_rents_rose_more_than_listed_ones():
    scaled, listed = market.price_change("H100 SXM", 11), market.price_change("H100 SXM", 11, "raw")
    assert scaled.first == date(2025, 10, 1) and scaled.last == date(2026, 9, 1)
    assert scaled.ratio == pytest.approx(3.7890 / 2.7293, rel=2e-4)
    assert listed.ratio == pytest.approx(3.85 / 2.99)
    with pytest.raises(
        LookupError, match="no median of H100 SXM for 2023-08; months with one: 2023-09"
    ):
        market.price_change("H100 SXM", 37)


def test_the_clouds_of_april_2023():
    rows = market.cloud_table("2023-04-07", 60)
    assert rows.groupby(CARDS).size().max() == 1 and rows["days_apart"].abs().max() <= 60
    big = rows[rows["accelerator"] == "A100 SXM 40GB"].set_index("provider")[
        "usd_per_accelerator_hour"
    ]
    assert big["AWS"] == 4.1
    assert big["Lambda"] == 1.1
    assert big["AWS"] / big["Lambda"] == pytest.approx(3.7, abs=0.05)
    alone = rows[rows["basis"] == CHIP_ALONE]
    assert set(alone["provider"]) == {"CoreWeave"}
    assert alone["note"].str.contains("billed apart").all()
    wider = market.cloud_table("2023-04-07", 240)
    assert len(wider) > len(rows)
    assert {"Oracle Cloud", "FluidStack"} <= set(wider["provider"]) - set(rows["provider"])


def test_the_hardware_of_april_2023_leaves_empty_what_nobody_published():
    rows = market.hardware_table("2023-04-07").set_index("accelerator")
    assert {"A100 SXM 80GB", "V100 SXM 16GB", "A10G", "T4", "H100 PCIe"} <= set(rows.index)
    assert {"RTX 3090", "RTX 4090", "RTX 3080 Ti"} <= set(rows.index)
    assert "H200 SXM" not in rows.index
    assert "L20" not in rows.index
    rented = rows[rows["clouds"] > 0]
    assert (rows["purchase_date"].dropna() <= pd.Timestamp("2023-04-07")).all()
    assert (rented["rent_low"] <= rented["rent_high"]).all()
    assert rented["days_apart"].between(0, 240).all()
    with_host = market.cloud_table("2023-04-07", 240).query(
        "basis == 'list' and accelerator == 'H100 PCIe'"
    )["usd_per_accelerator_hour"]
    # CoreWeave's 4.25 buys no host
    assert rows.loc["H100 PCIe", "rent_usd_per_hour"] == with_host.median() == 2.4
    assert rows.loc["RTX 3090", "clouds"] == 0
    assert pd.isna(rows.loc["RTX 3090", "rent_usd_per_hour"])
    assert rows.loc["A100 SXM 80GB", "purchase_kind"] == "list"
    assert pd.isna(rows.loc["T4", "usd_per_accelerator"])


def test_a_pair_is_one_product_of_one_day():
    pairs = market.paired_ratios()
    assert len(pairs) > 20
    assert {"AWS", "Microsoft Azure", "Google Cloud"} <= set(pairs["provider"])
    assert set(pairs["term_years"]) == {1, 3}
    assert (pairs["committed"] < pairs["on_demand"]).all()
    terms = (
        pairs.groupby(["provider", "accelerator", "date", "sku", "term_years"])["price_ratio"]
        .median()
        .unstack()
        .dropna()
    )
    assert len(terms) > 3 and (terms[3] < terms[1]).all()


def test_a_commitment_costs_what_pairs_say_and_no_less_than_the_headline():
    for provider in ("AWS", "Google Cloud"):
        for years in (1, 3):
            headline = (
                table("commitment_ratios")
                .set_index(["provider", "term_years"])
                .loc[(provider, years), "price_ratio"]
            )
            ratio = market.commitment_ratio(provider, years)
            assert 0 < ratio.low <= min(ratio.best, headline) and ratio.high < 1
    assert market.commitment_ratio("Microsoft Azure", 1).best == pytest.approx(0.83, abs=0.01)


def test_purchase_prices_say_their_kind():
    sold = table("purchase_prices")
    assert {"launch", "list", "street", "system share", "estimate", "used"} == set(sold["kind"])
    assert {"system share", "estimate", "street"} <= set(
        sold.loc[sold["accelerator"].str.startswith("H100"), "kind"]
    )
    assert (sold.loc[sold["kind"] == "launch", "accelerators"] == 1).all()


CHIPS = ("H100 SXM", "A100 SXM 80GB", "B200", "MI300X", "L40S", "RTX 4090", "TPU v5e")


@pytest.mark.parametrize("chip", CHIPS)
def test_every_offer_of_an_hour_has_rows_behind_its_price_and_its_age(chip):
    for contract in market.contracts(chip):
        for seller in market.sellers(chip, contract):
            hour = market.hour(chip, contract, seller)
            usd = hour.rows["usd_per_accelerator_hour"]
            assert hour.usd == pytest.approx(usd.median()) and len(usd) == hour.providers
            assert hour.low <= usd.min() <= hour.usd <= usd.max() <= hour.high
            dates = hour.rows["date"].dt.date
            assert (dates.min(), dates.max()) == (hour.since, hour.until)
            assert f"{hour.since}" in hour.age


def test_sellers_are_parts_of_all_who_sell():
    every, cheap, large = (market.hour("H100 SXM", seller=of) for of in market.GROUPS)
    assert cheap.providers == -(-every.providers // 4) and cheap.high < every.usd < large.low
    named = market.sellers("H100 SXM")[len(market.GROUPS) :]
    assert sorted(named) == sorted(every.rows["provider"])
    lambda_ = market.hour("H100 SXM", seller="Lambda")
    assert lambda_.providers == 1 and lambda_.low < lambda_.usd < lambda_.high  # of its own card


LARGE = ("AWS", "Google Cloud", "Microsoft Azure", "Oracle Cloud")


def test_a_reserved_hour_is_the_median_of_rate_cards_where_there_is_one():
    hour = market.hour("H100 SXM", "reserved")
    assert set(hour.rows["basis"]) == {"index"} and hour.low == hour.usd == hour.high
    assert hour.of_on_demand == 1 and "of on demand" not in hour.counted


def test_whoever_rents_a_chip_on_demand_sells_it_under_every_contract_that_binds():
    rented = [chip for chip in accelerators() if market.listed_hour(chip)]
    assert len(rented) > 20
    for chip in rented:
        everyone = set(market.sellers(chip))
        assert all(everyone == set(market.sellers(chip, of)) for of in market.BINDING), chip


@pytest.mark.parametrize("chip", ["H100 SXM", "B300", "RTX 4090"])
def test_the_longer_it_binds_the_less_an_hour_costs(chip):
    for seller in market.sellers(chip):
        plain, one, three = (
            market.hour(chip, of, seller) for of in ("on demand", "one year", "three years")
        )
        assert plain.usd > one.usd > three.usd > 0
        for of in (one, three):
            assert of.low < of.usd < of.high
            assert of.usd == pytest.approx(of.of_on_demand * plain.usd)
            assert f"at {of.of_on_demand:.2g} of on demand" in of.counted


def test_a_discount_is_the_sellers_own_or_that_of_its_kind():
    share = {name: market.hour("H100 SXM", "one year", name).of_on_demand for name in LARGE}
    for name in set(LARGE) - {"Oracle Cloud"}:
        assert share[name] == pytest.approx(market.commitment_ratio(name, 1).best)
    assert share["Oracle Cloud"] == pytest.approx(sorted(share.values())[1])  # of three others


def test_an_hour_of_a_past_day_knows_no_later_listing():
    then = market.hour("H100 SXM", day="2024-12-01")
    assert then.until <= date(2024, 12, 1) and then.usd != market.hour("H100 SXM").usd
    assert market.hour("A10G", day="2023-12-01").until.year == 2023
    assert market.recent_hour("A10G") is None  # too old by now


def test_a_chip_that_nobody_lists_anew_has_the_price_of_its_old_cards_in_a_wider_range():
    old, new = market.hour("TPU v5e"), market.hour("A10")
    assert old.until == date(2025, 3, 3) and "so its range is wider" in old.age
    assert old.least == old.low < old.usd / 1.3 and old.most == old.high > old.usd * 1.3
    assert market.recent_hour("TPU v5e") is None and new.least == new.usd == new.most
    lent = market.hour("TPU v5p", "three years")  # at Google's ratio for chips that it lists so
    assert lent.of_on_demand == market.commitment_ratio("Google Cloud", 3).best
    terms = [market.hour("TPU v6e", of).usd for of in ("on demand", "one year", "three years")]
    assert terms == sorted(terms, reverse=True)
    assert not market.contracts("GB200") and not market.contracts("MI355X")
    # where a chip has recent prices, an older one beside them would not fit
    assert "spot" not in market.contracts("V100 SXM 16GB")
    assert len(market.rental_prices("V100 SXM 16GB", "spot"))


@pytest.mark.parametrize("group", ["provider", "accelerator"])
def test_nine_of_ten_cards_of_a_group_that_is_left_out_move_no_further_than_said(group):
    moved, kept = history.cards_apart(), 0
    for _, mine in moved.groupby(group):
        rest = moved.drop(mine.index)["apart"].quantile(0.9)
        kept += int((mine["apart"] <= rest).sum())
    assert len(moved) > 100 and 0.85 < kept / len(moved) < 0.97
    assert history.aged_apart() == moved["apart"].quantile(0.9)


def test_a_case_pays_what_is_listed_or_its_own_rent_or_is_told_why_not():
    hours = market.Hours(CHIPS)
    case = {"chip": CHIPS[0], "contract": "on demand", "seller": "median", "own": 0.0}
    paid = hours.paid(*(given(name, value) for name, value in case.items()))
    for chip in CHIPS:
        for contract in market.CONTRACTS:
            for seller in (*market.GROUPS, "Lambda"):
                there = case | {"chip": chip, "contract": contract, "seller": seller}
                sold = seller in market.sellers(chip, contract)
                listed = market.hour(chip, contract, seller) if sold else None
                usd, low, why, known = evaluate([paid.usd, paid.low, paid.why, paid.there], there)
                assert known == (listed is not None) == (why == "")
                if listed:
                    assert (usd, low) == pytest.approx((listed.usd, listed.low), rel=1e-6)
                else:
                    words = market.sellers(chip, contract) or market.contracts(chip)
                    assert why.endswith(", ".join(words)) and chip in why and math.isnan(usd)
                mine = evaluate([paid.usd, paid.low, paid.high, paid.why], there | {"own": 2.5})
                assert mine == [2.5, 2.5, 2.5, ""]
