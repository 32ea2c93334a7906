"""S4's tables: parsed by code, a claim for each printed figure, and a reason that is found by
trying, not typed.
"""

from __future__ import annotations

import contextvars
import random

import pytest
from scaleright import catalog
from scaleright.claims import ledger, s4, stored, verdicts

ROWS = list(catalog.table("s4_results").itertuples())
MOST = 15


@pytest.fixture(scope="module")
def cells() -> tuple[s4.Cell, ...]:
    return s4.judged()


@pytest.fixture(scope="module")
def by_id(cells) -> dict[str, s4.Cell]:
    return {cell.finding.claim.id: cell for cell in cells}


def row(benchmark: str, accelerator: str, scenario: str, **changes):
    found = next(
        r
        for r in ROWS
        if (r.benchmark, r.accelerator, r.scenario, r.virtualized)
        == (benchmark, accelerator, scenario, False)
    )
    return found._replace(**changes)


def again(changed) -> dict[str, s4.Cell]:
    return {cell.figure: cell for cell in s4._result_cells(changed, s4.at_hand(changed), MOST)}


def test_every_printed_figure_has_a_claim(cells, by_id):
    assert len(catalog.table("s4_specifications")) == 14 and len(ROWS) == 76
    assert len(s4.specifications()) == 41 and len(s4.cells()) == 3 * 76 == 228
    assert len(by_id) == len(cells) == 269
    rows = {
        "gptj": 20,
        "llama2-70b": 22,
        "stable-diffusion-xl": 20,
        "deepseek-r1": 4,
        "llama3.1-405b": 10,
    }
    assert {name: len(s4.cells(name)) / 3 for name in rows} == rows


def test_the_generated_claims_stand_in_the_ledger_and_in_no_chapters_table(cells, by_id):
    assert {cell.finding for cell in cells} <= set(ledger.generated())  # as the ledger ends
    assert not {f.claim.id for f in ledger.findings("mlperf")} & by_id.keys()


def test_other_chapters_read_no_benchmark():
    def read() -> list[str]:
        catalog.tables._READ.set(set())
        stored.taught("token_cost")
        return catalog.data_record().names

    assert not [
        name for name in contextvars.copy_context().run(read) if name.startswith(("mlperf", "s4"))
    ]


@pytest.mark.parametrize(
    "claim_id, verdict, reason, recomputed",
    [
        ("S4-deepseek-r1-Offline-GB200-per-chip", verdicts.SLIP, s4.NODE, 289712 / 72),
        ("S4-deepseek-r1-Server-GB200-per-chip", verdicts.SLIP, s4.NODE, 167578 / 72),
        ("S4-deepseek-r1-Offline-B200-per-chip", verdicts.REPRODUCED, s4.AGREES, 31486.6 / 8),
        ("S4-llama3.1-405b-Offline-H100-SXM-per-chip", verdicts.SLIP, s4.NODE, 48.872),
        ("S4-llama3.1-405b-Offline-H100-SXM-total", verdicts.ABSENT, s4.UNSEEN, 1172.35),
        ("S4-gptj-Offline-H100-SXM-per-chip", verdicts.SLIP, s4.MIXED, 2468.82),
        ("S4-gptj-Offline-H200-NVL-per-chip", verdicts.ABSENT, s4.UNSEEN, None),
        ("S4-gptj-Offline-A100-SXM-80GB-per-chip", verdicts.REPRODUCED, s4.AGREES, 27.1314 / 8),
        ("S4-gptj-Offline-GH200-per-chip", verdicts.CONDITIONAL, s4.OLD_UNIT, 2683.758),
        ("S4-llama2-70b-Server-GH200-per-chip", verdicts.CONDITIONAL, s4.PART, 3500.97),
        (
            "S4-llama2-70b-Offline-virtualized-H200-SXM-total",
            verdicts.TRACED,  # one submission, whose total is read
            s4.AGREES,
            34485.7,
        ),
        ("S4-FP16-peak-of-H100-SXM", verdicts.SLIP, s4.SPARSE, 989.0),
        ("S4-memory-bandwidth-of-H100-NVL", verdicts.SLIP, s4.PAIR, 3900.0),
        ("S4-power-limit-of-GB200", verdicts.OFF, s4.OTHER, 1200.0),
    ],
)
def test_cells_computed_by_hand(by_id, claim_id, verdict, reason, recomputed):
    cell = by_id[claim_id]
    assert (cell.finding.verdict, cell.reason) == (verdict, reason)
    assert cell.recomputed == (
        recomputed if recomputed is None else pytest.approx(recomputed, rel=1e-4)
    )


def test_the_slip_of_gb200_is_seventy_two_chips_over_four(by_id):
    assert by_id["S4-deepseek-r1-Offline-GB200-per-chip"].finding.factor == pytest.approx(18)
    assert by_id["S4-llama3.1-405b-Offline-H100-SXM-per-chip"].finding.factor == pytest.approx(
        2.0, rel=0.01
    )


def test_a_reason_is_that_of_its_verdict(cells):
    expected = dict.fromkeys(
        (s4.NODE, s4.MIXED, s4.SPARSE, s4.PAIR), verdicts.SLIP
    ) | dict.fromkeys((s4.PART, s4.OLD_UNIT), verdicts.CONDITIONAL)
    expected |= {
        s4.OTHER: verdicts.OFF,
        s4.UNSEEN: verdicts.ABSENT,
        s4.UNEXPLAINED: verdicts.OFF,
    }
    assert all(
        cell.finding.verdict == expected.get(cell.reason, cell.finding.verdict) for cell in cells
    )
    assert {c.finding.verdict for c in cells if c.reason == s4.AGREES} == set(verdicts.HOLD)
    assert s4.reasons()["cells"].sum() == len(cells)
    assert [cell for cell in cells if cell.benchmark and cell.reason == s4.UNEXPLAINED] == []


def test_only_what_one_submission_says_is_traced(cells):
    for cell in cells:
        if cell.benchmark and cell.finding.verdict == verdicts.TRACED:
            assert cell.figure != "per chip" and "of 1 submission " in cell.finding.claim.why


@pytest.mark.parametrize("figure", s4.FIGURES)
def test_a_perturbed_figure_changes_its_verdict(figure):
    """The account of a row does not bend to what is printed: one figure three times as large is
    explained by nothing.
    """
    column = s4.FIGURES[figure][0]
    known = [row for row in random.Random(4).sample(ROWS, 25) if not s4.at_hand(row).empty]
    assert len(known) > 15
    for printed in known:
        found = again(printed._replace(**{column: 3 * getattr(printed, column)}))[figure]
        assert (found.finding.verdict, found.reason) == (verdicts.OFF, s4.UNEXPLAINED), printed


def test_a_planted_mistake_is_found_by_its_name():
    mixed = s4.averages(s4.at_hand(row("gptj", "L40S", "Offline")))
    columns = [column for column, _ in s4.FIGURES.values()]
    found = again(row("gptj", "L40S", "Offline", **dict(zip(columns, mixed, strict=True))))
    assert found["per chip"].reason == found["total"].reason == s4.MIXED
    several = row("llama2-70b", "H100 SXM", "Offline")
    of_node = again(
        several._replace(
            **dict(
                zip(columns, s4.averages(s4.at_hand(several), "accelerators_per_node"), strict=True)
            )
        )
    )
    assert (
        of_node["per chip"].reason == s4.NODE
        and of_node["total"].reason == of_node["chips"].reason == s4.AGREES
    )
    right = again(
        several._replace(**dict(zip(columns, s4.averages(s4.at_hand(several)), strict=True)))
    )
    assert {cell.reason for cell in right.values()} == {s4.AGREES}


def test_an_unseen_round_saves_no_rate_that_the_chip_never_had():
    """Whatever v5.0 held, GB200 at 18 times the rate of the rounds at hand is a wrong count, and
    H100 in one unit a mixture.
    """
    for benchmark, chip in (("llama3.1-405b", "GB200"), ("gptj", "H100 SXM")):
        for account in s4.accounts(
            found := row(benchmark, chip, "Offline"), s4.at_hand(found), 100
        ):
            assert account.mistakes and account.unseen


def test_an_unknown_benchmark_offers_the_nearest():
    with pytest.raises(LookupError, match="llama2-70b"):
        s4.cells("llama-2-70b")


# S4's prose


@pytest.mark.parametrize(
    "claim_id, verdict, inside, factor",
    [
        ("S4-r1-tenfold", verdicts.REPRODUCED, 289712 / 31486.6, 1.0),
        ("S4-405b-gap", verdicts.REPRODUCED, 6233.13 / 1613.16, 1.0),
        ("S4-nvl72-nodes", verdicts.TRACED, 72.0, 1.0),
        ("S4-r1-chip", verdicts.SLIP, (289712 / 72) / (31486.6 / 8), 18.4 / 1.0426),
        ("S4-r1-definition", verdicts.INCONSISTENT, 289712 / 72, 18.0),
        ("S4-405b-h200", verdicts.SLIP, 68.5775 / 48.872375, 0.77 / 1.3962),
        ("S4-405b-b200", verdicts.SLIP, 205.182 / 48.872375, 2 / 4.0605),
        ("S4-405b-chip", verdicts.SLIP, (6233.13 / 31.2) / (1613.16 / 8), 7.73 / 1.0307),
        ("S4-h200-gbps", verdicts.SLIP, 4800.0, 0.001),
        ("S4-h200-30-self", verdicts.INCONSISTENT, 100 * (4379.04 / 3748.26 - 1), 30 / 21.6931),
        ("S4-sxm-pcie-self", verdicts.INCONSISTENT, 100 * 1001.95 / 1089.08, 100 / 92.0),
        ("S4-virtual-self", verdicts.INCONSISTENT, 100 * (1 - 68.41 / 76.27), 5 / 10.3055),
        ("S4-virtual-offline", verdicts.REPRODUCED, 100 * 34485.7 / 8 / 4414.5875, 1.0),
        ("S4-two-dies", verdicts.CONDITIONAL, 2250 / 989, 2.5 / 2.275),
        ("S4-return", verdicts.CONDITIONAL, 14.0, 15 / 14),
        ("S4-sdxl-2x", verdicts.REPRODUCED, 1.669, 1.0),
        ("S4-coupling", verdicts.SLIP, 1.0, 1.8 / 1.3287),
    ],
)
def test_prose_computed_by_hand(claim_id, verdict, inside, factor):
    found = next(f for f in ledger.findings(ids=(claim_id,)))
    assert found.verdict == verdict
    assert found.recomputed.low * (1 - 1e-3) <= inside <= found.recomputed.high * (1 + 1e-3)
    assert found.factor == pytest.approx(factor, rel=2e-3)
