"""Offers as candidates of a page: the same least month as by listing after listing."""

from pathlib import Path

import numpy as np
import pytest
from cases import quantities
from scaleright import market
from scaleright.chapters.gpu_prices.model import (
    CloudMonths,
    cloud_offers,
    cloud_options,
    egress_by_segment,
)
from scaleright.costs.break_even import cloud_usd_per_month
from scaleright.costs.serving import LOAD, RENT
from scaleright.press import Book
from scaleright.press.texts import declared
from scaleright.quantity import evaluate

USUAL = {
    "accelerator": "H100 SXM",
    "contract": "on demand",
    "region": "any",
    "accelerators": 8,
    "used_share": 0.6,
    "moved_gb_per_month": 500.0,
}
ONE = {"accelerator": "A100 SXM 80GB", "accelerators": 1, "used_share": 0.05}


@pytest.fixture(scope="module")
def months() -> CloudMonths:
    return CloudMonths.of(quantities(USUAL))


def listings(case: dict):
    return market.cheapest(
        case["accelerator"],
        case["accelerators"],
        region=None if case["region"] == "any" else case["region"],
        pricing=market.CONTRACTS[case["contract"]],
    )


@pytest.mark.parametrize("changed", [{}, ONE, {"region": "us-east-1"}, {"contract": "spot"}])
def test_the_cheapest_by_the_hour_is_that_of_the_listings(months, changed):
    case, egress = USUAL | changed, egress_by_segment()
    use = case["used_share"], case["moved_gb_per_month"]
    bills = [
        cloud_usd_per_month(row.usd_per_accelerator_hour, row.accelerators, 1, *use, egress[of])
        for row, of in ((row, row.segment) for row in listings(case).itertuples())
    ]
    assert evaluate(months.listed, case)[1] == pytest.approx(min(bills))


@pytest.mark.parametrize("changed", [{}, ONE, {"accelerator": "B200", "used_share": 1.0}])
def test_with_commitments_it_is_the_first_of_all_ways_to_pay(months, changed):
    case = USUAL | changed
    ways = cloud_options(listings(case), case["used_share"], case["moved_gb_per_month"], years=3.0)
    large = ways["segment"] == "hyperscaler"
    for found, rows in ((months.any_way, ways), (months.large, ways[large])):
        assert evaluate(found, case)[1] == pytest.approx(rows["usd_per_month"].min())


def test_what_nobody_lists_has_no_cheapest(months):
    name, bill, _ = evaluate(months.listed, {"accelerator": "RTX 3090", "contract": "spot"})
    assert name == "" and np.isnan(bill)


def test_every_region_of_a_listing_can_be_chosen():
    offers, book = cloud_offers(), Book(Path(__file__).resolve().parents[1])
    (region,) = (p for p in declared("gpu_prices", book) if p.name == "region")
    assert {*offers["listed_in"]} - {*region.choices} <= {"global", "all", "not stated"}


@pytest.mark.parametrize("contract", market.BINDING)
def test_a_month_of_a_commitment_pays_all_hours_at_a_discount(months, contract):
    case = USUAL | {"contract": contract, "moved_gb_per_month": 0.0}
    discounted = market.hour("H100 SXM", contract, "RunPod Community Cloud").usd
    for used in (0.2, 0.9):
        name, bill, _ = evaluate(months.listed, case | {"used_share": used})
        assert name == "RunPod Community Cloud"
        assert bill == pytest.approx(discounted * 8 * 730.5, rel=1e-6)


def test_how_sure_a_cloud_is_follows_what_moves_one_of_both_alone(months):
    """Rents move both alike, so they decide nothing between two that are paid by the hour."""
    case = USUAL | {"moved_gb_per_month": 0.0}
    sure = months.choice()
    asked = [sure.cost, sure.other, sure.probability, sure.spreads[RENT], sure.spreads[LOAD]]
    kinds = [months.large.usd, months.others.usd, months.large.name, months.others.name]
    for used, bound in ((0.1, False), (1.0, True)):
        large, others, likely, rents, load = evaluate(asked, case | {"used_share": used})
        *bills, large_name, other_name = evaluate(kinds, case | {"used_share": used})
        assert [large, others] == pytest.approx(bills)
        both = [name.endswith("committed") for name in (large_name, other_name)]
        assert any(both) == bound
        assert (likely > 0.5) == (large < others)
        differ = both[0] != both[1]
        assert (rents > 0.01) == differ and (load > 0.01) == differ
    nobody = {"accelerator": "RTX 3090", "contract": "spot"}
    assert np.isnan(evaluate(asked[:2], nobody)).all()
