"""What S2 says of energy, carbon and materials, recomputed by hand."""

from __future__ import annotations

import pytest
from scaleright import claims
from scaleright.claims import ledger

HOUSEHOLDS_TWH = 131_434_000 * 10_791 / 1e9


@pytest.mark.parametrize(
    ("claim_id", "verdict", "low", "high"),
    [
        ("S2-ai-twh-low", ledger.CONDITIONAL, 0.6 * 165, 0.7 * 165),
        ("S2-ai-twh-high", ledger.CONDITIONAL, 0.6 * 326, 0.7 * 326),
        ("S2-households", ledger.REPRODUCED, 100 * 165 / HOUSEHOLDS_TWH, 100 * 326 / HOUSEHOLDS_TWH),
        ("S2-training-mwh", ledger.REPRODUCED, 1287, 50_000),
        ("S2-toxic", ledger.REPRODUCED, 7 * 1174 / 8800, 7),
        ("S2-93-study", ledger.OFF, 100 * (1 - 1174 / 8800), 100 * (1 - 1174 / 8800)),
        ("S2-small-chip", ledger.CONDITIONAL, 100 * (3350 / 320) * 70 / 700, 100 * (1979 / 130) * 70 / 700),
    ],
)
def test_energy_claims_computed_by_hand(claim_id, verdict, low, high):
    (found,) = claims.findings(ids=(claim_id,))
    assert found.verdict == verdict
    assert (found.recomputed.low, found.recomputed.high) == (pytest.approx(low, rel=2e-3), pytest.approx(high, rel=2e-3))


def test_better_use_saves_less_carbon_than_gpus():
    (found,) = claims.findings(ids=("S2-93-carbon",))
    assert found.verdict == ledger.OFF and found.recomputed.high < 100 * (1 - 0.2 / 0.6)


def test_a_thousand_images_are_less_than_a_mile_on_a_newer_chip():
    (found,) = claims.findings(ids=("S2-images-miles",))
    assert found.verdict == ledger.CONDITIONAL
    # 738 to 969 J an image on the chip alone, at 0.39 kg a mile: host, building and making come on top.
    assert found.recomputed.low > 0.7376 / 3.6 * 0.35 / 0.393 and found.recomputed.high < 1.0


def test_the_energy_rows_stand_in_the_chapter_on_sustainability():
    assert len(claims.table("sustainability")) == 10
