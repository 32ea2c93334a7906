"""Prices beside each other, checked by hand, and the month's bill of one cloud against that of the
ranking.
"""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market
from scaleright.chapters.gpu_prices.model import ON_DEMAND, cloud_options, egress_by_segment
from scaleright.costs.break_even import cloud_usd_per_month
from scaleright.market.compare import index_agreement, price_ends, require_card

CARDS = pd.DataFrame(
    {
        "accelerator": ["A", "A", "A", "B"],
        "provider": ["dear", "cheap", "middle", "only"],
        "usd_per_accelerator_hour": [9.0, 2.0, 4.0, 1.5],
        "date": pd.to_datetime(["2026-01-01", "2026-03-01", "2026-02-01", "2026-01-05"]),
        "basis": "list",
    }
)


def test_the_ends_of_listings_name_who_asks_them():
    a, b = price_ends(CARDS).to_dict("records")
    assert (a["low"], a["low_at"], a["median"], a["high"], a["high_at"]) == (
        2.0,
        "cheap",
        4.0,
        9.0,
        "dear",
    )
    assert a["apart"] == 4.5 and a["providers"] == 3 and a["date"] == pd.Timestamp("2026-03-01")
    assert b["low_at"] == b["high_at"] == "only" and b["apart"] == 1.0


def test_a_chip_without_its_host_is_no_end():
    """CoreWeave's card of 2023 bills processors and memory apart: in the table of clouds, and in no
    comparison of instances.
    """
    alone = CARDS.iloc[[0]].assign(
        usd_per_accelerator_hour=1.0, provider="bare", basis="chip alone"
    )
    assert price_ends(pd.concat([CARDS, alone])).equals(price_ends(CARDS))
    clouds = market.cloud_table("2023-04-07", 60)
    then = price_ends(clouds).set_index("accelerator")["providers"]
    assert "CoreWeave" in set(clouds["provider"])
    assert (then["A100 PCIe 80GB"], then["A100 SXM 40GB"], then["A100 SXM 80GB"]) == (3, 6, 9)
    # on which the claims on that table rest
    assert "CoreWeave" not in set(market.spread("2023-04-07")["provider"])


def test_a_chip_without_a_current_card_is_refused_with_a_day_on_which_it_had_one():
    with pytest.raises(
        LookupError, match=r"no on_demand card of T4 in the year to .*; last listed "
    ) as refused:
        require_card("T4", market.spread())
    require_card("T4", market.spread(str(refused.value).rpartition(" ")[2]))
    with pytest.raises(
        LookupError,
        match=r"no on_demand card of B200 in the year to 2023-.*; none was listed before",
    ):
        require_card("B200", market.spread("2023-04-30"))
    with pytest.raises(LookupError, match="no on_demand card of T4 by then; last listed"):
        require_card("T4", market.spread()[:0])


def test_no_listing_has_no_ends():
    assert price_ends(CARDS[:0]).empty and "median" in price_ends(CARDS[:0])


def test_the_a100_of_april_2023_was_nearly_four_times_as_dear_at_one_cloud_as_at_another():
    ends = (
        price_ends(market.cloud_table("2023-04-07", 60))
        .set_index("accelerator")
        .loc["A100 SXM 40GB"]
    )
    assert (ends["low"], ends["high"], ends["high_at"]) == (1.10, 4.10, "AWS")
    assert ends["apart"] == pytest.approx(3.727, abs=1e-3)


def test_an_index_is_held_against_the_range_of_another_maker_only():
    found = index_agreement()
    makers = [
        found[side].str.rstrip("0123456789").str.removesuffix("october")
        for side in ("source", "index_source")
    ]
    assert not (makers[0].str.slice(0, 5) == makers[1].str.slice(0, 5)).any()
    assert found["providers"].min() >= 3 and 0 < found["inside"].mean() < 1


def test_one_comparison_by_hand():
    # The monthly cards of H100 of June 2026, scaled: 2.020 to 6.155, median 3.317; the daily index
    # of that month 2.73.
    row = (
        index_agreement()
        .query("accelerator == 'H100 SXM' and month == '2026-06' and index_source == 'mckee2026'")
        .iloc[0]
    )
    assert (row["low"], row["median"], row["high"], row["providers"]) == pytest.approx(
        (2.02, 3.317, 6.155, 7), abs=1e-3
    )
    assert row["index_usd_per_hour"] == pytest.approx(2.73) and row["inside"]


@given(st.integers(1, 1024), st.sampled_from([1, 2, 4, 8, 72]))
def test_instances_are_whole_and_no_more_than_needed(wanted, size):
    paid = market.paid_accelerators(wanted, size)
    assert paid % size == 0 and wanted <= paid < wanted + size


@pytest.mark.parametrize("wanted", [1, 8, 12])
def test_the_bill_of_a_cloud_is_that_of_the_ranking(wanted):
    egress = egress_by_segment()
    options = cloud_options(
        market.cheapest("H100 SXM", wanted), used_share=0.3, moved_gb_per_month=2000.0, ratios={}
    )
    singly = market.cheapest("H100 SXM")
    for row in options[options["option"] == ON_DEMAND].itertuples():
        cards = singly[singly["provider"] == row.provider]
        bills = [
            cloud_usd_per_month(
                c.usd_per_accelerator_hour, wanted, c.accelerators, 0.3, 2000.0, egress[c.segment]
            )
            for c in cards.itertuples()
        ]
        assert min(bills) == pytest.approx(row.usd_per_month, rel=1e-12)
