"""Which cloud: every way to pay, with all that it costs."""

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog, market
from scaleright.chapters.gpu_prices.model import cloud_choice, cloud_options

LISTED = pd.DataFrame(
    [
        ("Big Cloud", "hyperscaler", 40.0),
        ("Small Cloud", "neocloud", 20.0),
        ("Small Cloud", "neocloud", 24.0),
        ("Market", "marketplace", 16.0),
    ],
    columns=["provider", "segment", "usd_per_hour"],
).assign(
    date=pd.Timestamp("2026-10-01"),
    pricing="on_demand",
    accelerators=4,
    usd_per_accelerator_hour=lambda rows: rows["usd_per_hour"] / 4,
)

EGRESS, RATIOS = (
    {"hyperscaler": 0.1, "neocloud": 0.0, "marketplace": 0.2},
    {"Big Cloud": {1: 0.6, 3: 0.3}},
)


@pytest.mark.parametrize(
    "given, what, agrees",
    [
        ({}, "Market, on demand", True),
        # 10,000 USD of data at the market, none at the neocloud
        ({"moved_gb_per_month": 50_000.0}, "Small Cloud, on demand", True),
        # 12 USD an hour: the specialized clouds are not the cheapest
        ({"years": 3.0}, "Big Cloud, 3 years committed", False),
        # which is paid in unused hours as well
        ({"years": 3.0, "used_share": 0.5}, "Market, on demand", True),
        # and loses where rents fall under it
        ({"years": 3.0, "price_change_per_year": -0.3}, "Market, on demand", True),
    ],
)
def test_the_cheapest_way_to_pay_wins_with_all_that_it_costs(given, what, agrees):
    verdict = cloud_choice(LISTED, egress=EGRESS, ratios=RATIOS, **given)
    options = cloud_options(LISTED, egress=EGRESS, ratios=RATIOS, **given)
    assert (verdict.what, verdict.agrees) == (what, agrees)
    assert (
        options["usd_per_month"].iloc[0]
        == options["usd_per_month"].min()
        == verdict.numbers[what][0]
    )
    assert verdict.numbers["spread"][0] == pytest.approx(40 / 16)


def test_a_month_by_hand():
    options = cloud_options(
        LISTED, used_share=0.25, moved_gb_per_month=100.0, egress=EGRESS, ratios=RATIOS
    )
    row = options.set_index(["provider", "option"])
    assert row.loc[("Big Cloud", "on demand"), "usd_per_month"] == pytest.approx(
        40 * 730.5 / 4 + 10
    )
    assert row.loc[("Big Cloud", "1 year committed"), "usd_per_month"] == pytest.approx(
        40 * 0.6 * 730.5 + 10
    )
    assert ("Big Cloud", "3 years committed") not in row.index  # needed for a year only
    # its cheaper card
    assert row.loc[("Small Cloud", "on demand"), "usd_per_month"] == pytest.approx(20 * 730.5 / 4)
    assert row.loc[
        ("Big Cloud", "on demand"), ["usd_per_used_hour", "egress_usd"]
    ].tolist() == pytest.approx([40, 10])


def test_a_commitment_that_is_renewed_follows_the_price_of_its_day():
    """Rents halve each year: a commitment of a year costs 1, 1/2 and 1/4 of its first price, one of
    three years stays.
    """
    options = cloud_options(
        LISTED, years=3.0, price_change_per_year=-0.5, egress=EGRESS, ratios=RATIOS
    ).set_index(["provider", "option"])
    hours = options.loc["Big Cloud", "usd_per_used_hour"]
    assert hours["1 year committed"] == pytest.approx(40 * 0.6 * (1 + 0.5 + 0.25) / 3)
    assert hours["3 years committed"] == pytest.approx(40 * 0.3)
    assert hours["on demand"] == pytest.approx(40 * (0.125 - 1) / (3 * np.log(0.5)))


def test_spot_is_called_so_and_has_no_commitments():
    options = cloud_options(LISTED.assign(pricing="spot"), years=3.0, egress=EGRESS, ratios=RATIOS)
    assert set(options["option"]) == {"spot"} and len(options) == 3
    verdict = cloud_choice(market.cheapest("H100 SXM", pricing="spot"), years=3.0)
    assert verdict.what.endswith(", spot")
    assert any(reason.startswith("spot the dearest") for reason in verdict.reasons)


def test_clouds_of_the_tables_are_ranked_and_no_listing_is_refused():
    verdict = cloud_choice(market.cheapest("A100 SXM 80GB", 8))
    assert verdict.agrees and verdict.numbers["spread"][0] > 1
    with pytest.raises(catalog.DataError, match="no listing"):
        cloud_choice(LISTED.head(0))
