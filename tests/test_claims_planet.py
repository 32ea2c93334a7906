"""What S2 says of energy, carbon and materials, recomputed by hand."""

from __future__ import annotations

import pytest
from scaleright import catalog
from scaleright.claims import ledger, verdicts
from scaleright.power import serving_share

T4_WATTS, H100_WATTS = 70 * serving_share("T4"), 700 * serving_share("H100 SXM")
HOUSEHOLDS_TWH = 131_434_000 * 10_791 / 1e9


@pytest.mark.parametrize(
    "claim_id, verdict, low, high",
    [
        ("S2-ai-twh-low", verdicts.OFF, 0.6 * 165, 0.7 * 165),
        ("S2-ai-twh-high", verdicts.OFF, 0.6 * 326, 0.7 * 326),
        (
            "S2-households",
            verdicts.CONDITIONAL,
            100 * 165 / HOUSEHOLDS_TWH,
            100 * 165 / HOUSEHOLDS_TWH,
        ),
        ("S2-training-mwh", verdicts.TRACED, 1287, 50_000),
        ("S2-toxic", verdicts.TRACED, 7, 7),
        ("S2-93-study", verdicts.OFF, 100 * (1 - 1174 / 8800), 100 * (1 - 1174 / 8800)),
        (
            "S2-small-chip",  # on the smaller chip a model of an eighth to a ninth of the size
            verdicts.REPRODUCED,
            100 * (3350 / 320) * T4_WATTS / H100_WATTS * 8.03 / 70.55,
            100 * (1979 / 130) * T4_WATTS / H100_WATTS * 8.03 / 70.55,
        ),
    ],
)
def test_energy_claims_computed_by_hand(claim_id, verdict, low, high):
    (found,) = ledger.findings(ids=(claim_id,))
    assert found.verdict == verdict
    assert (found.recomputed.low, found.recomputed.high) == (
        pytest.approx(low, rel=2e-3),
        pytest.approx(high, rel=2e-3),
    )


def test_better_use_saves_less_carbon_than_gpus():
    (found,) = ledger.findings(ids=("S2-93-carbon",))
    assert found.verdict == verdicts.REPRODUCED and found.recomputed.high < 100 * (1 - 0.2 / 0.6)


def test_a_thousand_images_are_less_than_a_mile_on_a_newer_chip():
    (found,) = ledger.findings(ids=("S2-images-miles",))
    assert found.verdict == verdicts.OFF and "2023" in found.origin
    # 738 to 969 J an image on the chip alone, at 0.39 kg a mile: host, building and making come on
    # top.
    assert found.recomputed.low > 0.7376 / 3.6 * 0.35 / 0.393 and found.recomputed.high < 1.0


def test_the_energy_rows_stand_in_the_chapter_on_sustainability():
    assert len(ledger.findings("sustainability")) == 14


def test_fewer_bits_save_energy_only_with_many_sequences():
    (found,) = ledger.findings(ids=("S2-quantized-energy",))
    assert found.verdict == verdicts.CONDITIONAL
    assert found.recomputed.low < 100 < found.recomputed.high and "64 sequences" in found.holds
    runs = catalog.table("measured/energy").set_index("run")["measured_joules_per_token"]
    pair = [
        runs[f"mlenergy-v3-chat/Qwen3-235B-A22B-Instruct-2507{name}/H100x8/tp1-ep8-dp1/8"]
        for name in ("-FP8", "")
    ]
    assert found.recomputed.low <= 100 * pair[0] / pair[1] <= found.recomputed.high


def test_a_chip_that_waits_for_its_host_takes_more_energy_than_two():
    """70 GB of layers beyond what fits, over 64 GB/s, at more than a fifth of 700 W: over 150 J a
    step, which two chips write in 50 ms.
    """
    (found,) = ledger.findings(ids=("S2-offload-energy",))
    assert found.verdict == verdicts.OFF and found.recomputed.low > 300


def test_electricity_is_a_small_part_of_rent():
    (found,) = ledger.findings(ids=("S2-watts-matter",))
    assert found.verdict == verdicts.OFF and found.recomputed.high < 20
