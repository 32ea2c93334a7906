"""Importers of chips and prices on a small raw folder: what they take, what they drop and why."""

import pytest
from raw_files import quote, write_csv, write_raw

from refresh import (
    RefreshError,
    accelerators,
    prices,
    prices_history,
    prices_purchases,
    prices_rates,
)
from refresh.rules import header
from refresh.tables import sift


@pytest.fixture
def raw(tmp_path):
    return write_raw(tmp_path / "raw")


def _specs(found) -> dict:
    return {(row["accelerator"], row["quantity"]): row["value"] for row in found}


def _reasons(dropped, row: str) -> str:
    return "; ".join(drop.reason for drop in dropped if row in drop.row)


def test_known_wrong_specs_are_dropped_with_their_reason(raw):
    found, dropped = sift(accelerators.rows(raw))
    facts = _specs(found)
    for fact, words in {
        ("A10", "memory_bytes"): "28 GB is wrong",
        ("V100 SXM 16GB", "memory_bytes"): "32 GB is wrong",
        ("RTX 4090", "dense_bf16_flops"): "accumulates in FP16",
        ("RTX 4090", "memory_bytes"): "marketed decimal GB",
        ("B200", "scale_out_bytes_per_s"): "twice the 400 Gb/s",
        ("H100 SXM", "dense_int4_ops"): "no INT4",
        ("Gaudi 3", "dense_bf16_flops"): "early marketing",
        ("L4", "scale_out_bytes_per_s"): "placeholder",
        ("Arc Pro B60", "dense_fp8_flops"): "no FP8",
    }.items():
        assert fact not in facts, fact
        assert words in _reasons(dropped, " / ".join(fact)), fact
    assert ("MI250X", "dense_int8_ops") not in facts
    assert "FP16 rate" in _reasons(dropped, "MI250X / integer")
    assert "2:4 sparsity" in _reasons(dropped, "GH200")
    assert _reasons(dropped, "Apple M3") and facts["L40", "dense_bf16_flops"] == 181e12
    assert facts["A10", "memory_bytes_per_s"] == 600e9 and facts["B200", "scale_up_chips"] == 8


def test_purchase_prices_leave_out_old_quotes_and_whole_servers(raw):
    found, dropped = sift(accelerators.rows(raw))
    facts = _specs(found)
    assert (
        facts["H100 PCIe", "purchase_low_usd"] == facts["H100 PCIe", "purchase_high_usd"] == 24500
    )
    assert (facts["H100 SXM", "purchase_low_usd"], facts["H100 SXM", "purchase_high_usd"]) == (
        20000,
        27000,
    )
    assert "whole server" in _reasons(dropped, "46875")
    assert "before 2024" in _reasons(dropped, "2019")


def test_share_alike_facts_only_fill_gaps(raw):
    known = [
        {
            "accelerator": "Gaudi 3",
            "quantity": "memory_bytes_per_s",
            "value": "3.7e12",
            "source": "datasheet",
        }
    ]
    found, dropped = sift(accelerators.stas_rows(raw, known))
    facts = _specs(found)
    assert (
        facts["H100 SXM", "measured_bf16_matmul_flops"]
        == facts["H200 SXM", "measured_bf16_matmul_flops"]
        == 794.5e12
    )
    assert facts["Gaudi 3", "memory_bytes"] == 128 * 2**30
    assert facts["GB300", "dense_fp32_flops"] == 80e12
    assert ("GB300", "dense_int8_ops") not in facts and "cuts INT8" in _reasons(dropped, "GB300")
    assert "agrees" in _reasons(dropped, "Gaudi 3")


def test_rental_listings_are_per_accelerator_and_faults_are_dropped(raw):
    found, dropped = sift(prices_rates.rows(raw))
    price = {
        (row["provider"], row["accelerator"], row["pricing"]): row["usd_per_accelerator_hour"]
        for row in found
    }
    assert price["AWS", "H100 SXM", "on_demand"] == 6.88
    assert price["Nebius", "H100 SXM", "on_demand"] == 2.95
    assert price["Nebius", "H100 SXM", "spot"] == 1.25
    assert price["AWS", "T4", "on_demand"] == 0.526
    assert price["AWS", "T4", "spot"] == pytest.approx(0.2)
    assert price["Salad", "RTX 4090", "on_demand"] == 0.20
    # older than other cards of the chip: what it rented for on that day
    assert price["RunPod", "H100 SXM", "on_demand"] == 2.99
    assert "stale listing" in _reasons(dropped, "MI300X")
    assert "disagree" in _reasons(dropped, "Node Cloud")
    assert ("Google Cloud", "TPU v4", "spot") not in price
    assert "above the on-demand" in _reasons(dropped, "TPU v4 pod")
    assert "larger host" in _reasons(dropped, "g4dn.2xlarge")
    assert "not a chip" in _reasons(dropped, "g3.xlarge")
    assert {row["basis"] for row in found if row["provider"] == "Vast.ai"} == {"median offer"}


def _rented(vendor, model, date, price, **cells):
    return quote(model, date, Vendor=vendor, **{"Price per chip-hour (on-demand)": price}, **cells)


def _write_old_quotes(raw) -> None:
    stack = {
        "Price source": "https://github.com/the-full-stack/website",
        "Cloud GPU description": "T4 (16 GB)",
        "Number of GPUs": "1",
    }
    t4, large, small = ("Amazon Web Services", "NVIDIA Tesla T4"), "g4dn.8xlarge", "g4dn.xlarge"
    v100, h100 = ({"Cloud GPU description": said} for said in ("16 GB HBM2", "94GB"))
    pair = "instance NC12s v2 number of GPUs: 2X"
    write_csv(
        raw / prices_rates.EPOCH,
        header(prices_rates.EPOCH),
        _rented(*t4, "2022-08-05", "2.18", Notes=large, **stack),
        _rented(*t4, "2022-08-05", "0.53", Notes=small, **stack),
        _rented(*t4, "2023-08-05", "0.53", Notes=small, **stack),
        _rented("Google Cloud", "NVIDIA A100 SXM4 40 GB", "2022-12-12", "2.93"),
        _rented("Google Cloud", "NVIDIA V100", "2025-03-03", "2.48", **v100),
        _rented("Google Cloud", "Google TPU v4", "2025-03-03", "3.22"),
        _rented("Google Cloud", "Google TPU v4", "2024-08-26", "3.22"),
        _rented("Microsoft Azure", "NVIDIA P100", "2024-01-29", "2.07", Notes=pair),
        _rented("Datacrunch", "NVIDIA RTX A6000", "2022-08-08", "1.25", **{"Number of GPUs": "8"}),
        _rented("Cudo Compute", "NVIDIA H100 PCIe", "2025-03-03", "2.45", **h100),
    )


def test_old_quotes_stay_with_the_size_of_their_instance_and_the_smallest_host(tmp_path):
    """Of one day and product the smallest host counts; without the host, or where a fuller card of
    that day is held, no price.
    """
    _write_old_quotes(tmp_path)
    found, dropped = sift(
        prices_rates._epoch(tmp_path, {("2025-03-03", "Google Cloud", "TPU v4", "on_demand")})
    )
    kept = {(row["provider"], row["accelerator"], row["date"][:4]): row for row in found}
    assert set(kept) == {
        ("AWS", "T4", "2022"),
        ("AWS", "T4", "2023"),
        ("Google Cloud", "TPU v4", "2024"),
        ("Microsoft Azure", "P100 PCIe", "2024"),
        ("DataCrunch", "RTX A6000", "2022"),
        ("Cudo Compute", "H100 NVL", "2025"),
    }
    assert (
        kept["AWS", "T4", "2022"]["usd_per_accelerator_hour"],
        kept["AWS", "T4", "2022"]["sku"],
    ) == (0.53, "g4dn.xlarge")
    azure = kept["Microsoft Azure", "P100 PCIe", "2024"]
    assert (azure["accelerators"], azure["sku"], azure["note"]) == (2, "NC12s v2", "")
    assert kept["Google Cloud", "TPU v4", "2024"]["note"] == "size of the instance not stated"
    assert kept["DataCrunch", "RTX A6000", "2022"]["accelerators"] == 8
    assert "2.18" in str(dropped)
    assert "larger host" in _reasons(dropped, "T4")
    assert "another source" in _reasons(dropped, "TPU v4")
    assert sum("host is billed apart" in drop.reason for drop in dropped) == 2 and len(dropped) == 4


def _figures(found) -> dict:
    return {
        (row["date"], row["provider"], row["segment"], row["pricing"], row["sku"]): row[
            "usd_per_accelerator_hour"
        ]
        for row in found
    }


def test_histories_carry_a_basis_of_their_own_and_keep_series_apart(raw):
    found, _dropped = sift(prices_history.rows(raw))
    figures = _figures(found)
    assert {row["basis"] for row in found} == {"normalized", "index"}
    assert {row["provider"] for row in found if row["basis"] == "normalized"} == {
        "Lambda",
        "Nebius",
        "RunPod Secure Cloud",
    }
    assert (
        figures[
            "2026-01-01", "Median of scaled cards", "index", "on_demand", prices_history.CONTRACT
        ]
        == 3.5
    )
    assert figures["2026-01-01", "Median of rate cards", "index", "on_demand", "as listed"] == 3.6
    assert "above the on-demand median" in next(
        row["note"] for row in found if row["pricing"] == "reserved"
    )
    assert {row["segment"] for row in found if row["provider"] == "GPU rental index"} == {
        "hyperscaler",
        "neocloud",
    }


def test_faults_of_histories_are_dropped_by_rule(raw):
    _found, dropped = sift(prices_history.rows(raw))
    assert "RunPod shows 0.50" in _reasons(dropped, "monthly 2026-01 H200 spot median")
    assert not _reasons(dropped, "monthly 2026-02")
    assert "misread" in _reasons(dropped, "2026-04-20 neocloud/A100")
    assert "blank" in _reasons(dropped, "2026-07-16")
    assert _reasons(dropped, "2026-03-13 neocloud/B200") == "repeats the column to its left"
    assert "a third away" in _reasons(dropped, "2026-09-29 B300 index 4.2")
    assert not _reasons(dropped, "2026-09-29 H100 marketplace")
    assert "stale listing" in _reasons(dropped, "MI300X marketplace")
    assert "not a chip" in _reasons(dropped, "Z9")


def test_every_figure_of_the_histories_is_taken_or_left_out_with_its_reason(raw):
    # a blank day counts as one
    figures = {"MONTHLY": 3 + 4 + 1 + 2, "GIX": 2, "MCKEE": 18 + 1, "WYLUDA": 12}
    found, dropped = sift(prices_history.rows(raw))
    assert len(found) + len(dropped) == sum(figures.values())
    assert all(drop.reason for drop in dropped)


def test_purchase_prices_keep_kinds_apart_and_none_goes_before_its_chip(raw):
    found, dropped = sift(
        prices_purchases.rows(
            raw,
            [
                {"name": "H100 SXM", "released": "2022-09-20"},
                {"name": "GB300", "released": "2025-03-18"},
            ],
        )
    )
    kinds = {
        (row["accelerator"], row["date"], row["kind"]): row["usd_per_accelerator"] for row in found
    }
    assert kinds["H100 SXM", "2025-03-03", "system share"] == 46875
    assert kinds["H100 PCIe", "2025-03-03", "street"] == 24500
    assert ("H100 SXM", "2025-07-01", "estimate") in kinds
    assert "before the chip was released in 2025" in _reasons(dropped, "GB300 2024")
    assert [row["price_ratio"] for row in prices_purchases.commitment_rows(raw)] == [0.45]


def test_a_price_that_nobody_can_ask_and_a_ratio_that_none_can_be_are_refused(raw):
    card = raw / prices_rates.EWYLUDA
    card.write_text(card.read_text().replace("55.04,6.88", "-55.04,-6.88"))
    with pytest.raises(RefreshError, match=r"a price of -6.88 USD/h; allowed: above 0"):
        list(prices.rows(raw))
    ratios = raw / prices_purchases.RATIOS
    ratios.write_text(ratios.read_text().replace("0.45", "1.45"))
    with pytest.raises(RefreshError, match=r"price_ratio '1.45' is not in 0..1"):
        list(prices_purchases.commitment_rows(raw))
