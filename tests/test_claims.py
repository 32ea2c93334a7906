"""The ledger judges by computing: a changed claim changes its verdict."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from statistics import median

import pytest
from scaleright import MODULES, REMEMBERED, catalog
from scaleright.catalog import findings
from scaleright.claims import ledger, s2_costs, verdicts
from scaleright.claims.entries import documents
from scaleright.claims.verdicts import (
    Claim,
    Condition,
    Origin,
    Slip,
    judge,
    looked_up,
    point,
    span,
)
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.measured import operating_points
from scaleright.inference.serving import steady
from scaleright.inference.slowdowns import interval


@pytest.fixture(scope="module")
def found() -> list[verdicts.Finding]:
    return ledger.findings()


@pytest.fixture(scope="module")
def checked(found) -> list[verdicts.Finding]:
    return [finding for finding in found if finding.recomputed]


def claim(
    low: float,
    high: float | None = None,
    digits: int = 2,
    missing: str = "",
    statement: str = "it takes so much",
) -> Claim:
    return Claim(
        "x",
        "S2",
        "c",
        statement,
        low,
        low if high is None else high,
        digits,
        "USD",
        "",
        "",
        "",
        verdicts.ABSENT if missing else "",
        missing,
    )


@pytest.mark.parametrize(
    "stated, recomputed, verdict",
    [
        (claim(350, digits=2), point(354.9), verdicts.REPRODUCED),
        (claim(350, digits=3), point(358), verdicts.OFF),
        (claim(350, digits=3, statement="it takes about so much"), point(366), verdicts.REPRODUCED),
        (claim(350, digits=3, statement="it takes about so much"), point(369), verdicts.OFF),
        (claim(350), span(300, 400), verdicts.REPRODUCED),
        (claim(350), span(200, 400), verdicts.UNDECIDED),
        (claim(350), span(352, 500), verdicts.REPRODUCED),
        (claim(100, 400), span(110, 390), verdicts.REPRODUCED),
        (claim(200, 300), span(220, 320), verdicts.REPRODUCED),
        (claim(200, 300), span(290, 400), verdicts.UNDECIDED),
        (claim(350, math.inf), span(300, 400), verdicts.UNDECIDED),
        (claim(350), looked_up(350), verdicts.TRACED),
        (claim(350), looked_up(300, 400), verdicts.TRACED),
        (claim(350), looked_up(200, 400), verdicts.UNDECIDED),
        (claim(350), looked_up(700, Origin("its own")), verdicts.OFF),
        (claim(350), span(200, 400, Condition("one", 350)), verdicts.CONDITIONAL),
        (claim(350), point(900, Condition("many", 200, 400)), verdicts.OFF),
        (claim(350), point(700, Condition("half of it", 350, 350)), verdicts.CONDITIONAL),
        (claim(350), point(1050, Slip("a third", 3)), verdicts.SLIP),
        (claim(350), point(700, internal=True), verdicts.INCONSISTENT),
        (claim(350), point(700), verdicts.OFF),
        (claim(1e12, math.inf), point(2.8e12), verdicts.REPRODUCED),
        (claim(1e12, math.inf), point(0.5e12), verdicts.OFF),
        (claim(1, missing="a survey"), None, verdicts.ABSENT),
    ],
)
def test_the_verdict_follows_from_the_two_intervals(stated, recomputed, verdict):
    assert judge(stated, recomputed).verdict == verdict


def test_what_is_off_says_what_is_not_excluded_and_whose_figure_it_is():
    found = judge(claim(350), point(900, Condition("many", 200, 400), Origin("another chip")))
    assert (found.holds, found.possible, found.origin) == ("", "many", "another chip")
    assert found.line().endswith(
        "(it may hold for: many; the document's figure is that of: another chip)"
    )
    assert judge(claim(350), point(900, Condition("few", 100, 200))).possible == ""


def test_every_verdict_has_a_meaning():
    assert set(verdicts.MEANINGS) == set(verdicts.VERDICTS) and set(verdicts.HOLD) < set(
        verdicts.VERDICTS
    )


def test_a_claim_needs_exactly_one_of_recomputation_and_missing_data():
    with pytest.raises(ValueError, match="needs either a recomputation"):
        judge(claim(1), None)
    with pytest.raises(ValueError, match="and not both"):
        judge(claim(1, missing="a survey"), point(1))


def perturbed(finding: verdicts.Finding) -> Claim:
    """What a finding's claim would have to be, to be far from what is recomputed."""
    stated = finding.claim
    if math.isinf(stated.high):
        return dataclasses.replace(stated, low=max(finding.recomputed.high, 0) * 100)
    if math.isfinite(stated.low):
        return dataclasses.replace(stated, low=100 * stated.low, high=100 * stated.high)
    return dataclasses.replace(stated, high=finding.recomputed.low / 100)


def test_a_perturbed_claim_no_longer_holds_and_a_corrected_one_does(checked):
    assert 30 < sum(finding.verdict in verdicts.HOLD for finding in checked) < len(checked)
    for finding in checked:
        low, high = finding.recomputed.low, finding.recomputed.high
        if finding.verdict in verdicts.HOLD:
            assert judge(perturbed(finding), finding.recomputed).verdict not in verdicts.HOLD
        corrected = dataclasses.replace(finding.claim, low=low, high=high)
        assert judge(corrected, finding.recomputed).verdict in verdicts.HOLD, finding
        if math.isfinite(high):
            mean = (low + high) / 2
            middle = dataclasses.replace(finding.claim, low=mean, high=mean, digits=4)
            narrow = low == high or 0 < high <= verdicts.WIDEST * low
            assert (judge(middle, finding.recomputed).verdict in verdicts.HOLD) == narrow, finding


def test_the_ledger_ends_with_what_is_generated(found):
    generated = ledger.generated()
    assert generated and found[-len(generated) :] == generated


def test_every_recomputation_belongs_to_a_claim(found):
    ids = {finding.claim.id for finding in found}
    assert set(ledger.recomputations()) <= ids
    named = {
        name for module in ledger._modules() for name in vars(module) if re.match(r"s\d_", name)
    }
    assert named and named <= {claim.replace("-", "_").lower() for claim in ids}


def test_a_claim_with_two_recomputations_is_refused(monkeypatch):
    monkeypatch.setitem(s2_costs.RECOMPUTED, "S3-int8", lambda: point(1.0))
    monkeypatch.setattr(catalog.memory, "_FOUND", {})
    with pytest.raises(ValueError, match="claim S3-int8 has two recomputations"):
        ledger.recomputations()


def test_a_claim_is_recomputed_anew_once_the_module_that_does_has_changed(monkeypatch, tmp_path):
    """No import of the ledger leads there: it looks for recomputations by their names."""
    claim, told = "S2-fourfold-context", tmp_path / MODULES
    monkeypatch.setenv(REMEMBERED, str(tmp_path))
    for state, value in (("before", 1.0), ("before", 2.0), ("after", 3.0)):
        monkeypatch.setattr(s2_costs, "s2_fourfold_context", lambda value=value: point(value))
        s2_costs.s2_fourfold_context.__module__ = s2_costs.__name__
        told.write_text(
            json.dumps({"modules": {ledger.__name__: "same", s2_costs.__name__: state}})
        )
        monkeypatch.setattr(catalog.memory, "_FOUND", {})
        findings._states.cache_clear()
        (finding,) = ledger.findings(ids=(claim,))
        assert finding.recomputed == point(1.0 if state == "before" else value)
    findings._states.cache_clear()


def test_a_range_is_that_of_its_numbers_and_a_condition_may_give_one():
    found = span(3, 1, 2, Condition("else", 5.0))
    assert (found.low, found.high) == (1, 3) and (found.others[0].low, found.others[0].high) == (
        5,
        5,
    )


def test_inputs_name_tables_or_references(checked):
    keys = set(
        re.findall(
            r"^@\w+\{([^,]+),",
            (catalog.data_dir().parent / "book" / "references.bib").read_text(),
            re.MULTILINE,
        )
    )
    known = (
        keys
        | {f"{of.short}{itself}" for of in documents().values() for itself in ("", " itself")}
        | {
            entry["path"].removesuffix(".csv")
            for entry in json.loads((catalog.data_dir() / "datapackage.json").read_text())[
                "resources"
            ]
        }
    )
    for finding in checked:
        named = re.findall(r"[\w ]+", finding.claim.inputs)
        assert (
            any(word.strip() in known for word in named) or "definition" in finding.claim.inputs
        ), finding.claim.id
        assert finding.claim.call and finding.claim.why


def test_the_ledger_holds_what_these_chapters_explain(found):
    assert len(found) >= 112
    assert {finding.claim.chapter for finding in found} == {
        "scaling_math",
        "buy_or_rent",
        "gpu_prices",
        "token_cost",
        "load_of_a_day",
        "hardware_compare",
        "mlperf",
        "architecture_bets",
        "sustainability",
        "pretraining_cost",
        "memory_wall",
        "parallelism",
        "cluster_efficiency",
        "inference_ladder",
        "inference_roofline",
        "vendor_claims",
        "model_routing",
        "rlhf_cost",
        "ablation_cost",
        "economics_stack",
    }
    assert {finding.claim.source for finding in found} == {"S0", "S1", "S2", "S3", "S4"}


def test_known_corrections(found):
    by_id = {finding.claim.id: finding for finding in found}
    assert by_id["S2-4090-rule"].recomputed.low == pytest.approx(23.8, abs=0.1)
    assert by_id["S3-3500-kwh"].verdict == verdicts.SLIP
    assert by_id["S3-training-flop"].recomputed.low == pytest.approx(3.143e23, rel=1e-3)
    assert by_id["S3-train-usd"].verdict == verdicts.CONDITIONAL
    assert by_id["S2-kv-triples"].recomputed.low == 4.0


@pytest.mark.parametrize(
    "claim_id, verdict, low, high",
    [
        ("S2-93-use", verdicts.INCONSISTENT, 100 * (1 - 20 / 60), 100 * (1 - 20 / 60)),
        ("S2-93-use-and-life", verdicts.INCONSISTENT, 100 * (1 - 1 / 9), 100 * (1 - 1 / 9)),
        ("S2-levers", verdicts.INCONSISTENT, 50.0, 81.25),
        (
            "S2-quantization-saving",
            verdicts.CONDITIONAL,
            100 * (1 - 1 / 1.29),
            100 * (1 - 1 / 1.71),
        ),
        ("S2-own-cheaper", verdicts.INCONSISTENT, 100 * 8 / 3.5, 100 * 15 / 2.85),
        ("S2-cluster-self", verdicts.SLIP, 64.0, 120.0),
        (
            "S2-true-cost-low",
            verdicts.INCONSISTENT,
            225_000 / 8 / 17_532 + 2,
            225_000 / 8 / 17_532 + 2,
        ),
        ("S2-lead-time-self", verdicts.REPRODUCED, 26.09, 26.09),
        ("S2-rack", verdicts.REPRODUCED, 32 * 25_000, 32 * 40_000),
        ("S2-market-2024", verdicts.OFF, 102.3e9, 115.2e9),
        (
            "S2-market-2034",
            verdicts.OFF,
            math.log(192.68 / 115.2, 193.7 / 115.2),
            math.log(192.68 / 102.3, 162.3 / 102.3),
        ),
        ("S2-memory-share", verdicts.OFF, 22.0, 22.0),
        ("S2-inference-share", verdicts.UNDECIDED, 200 / 7, 100.0),
        ("S2-h200-4x", verdicts.OFF, 1.0, 4.8 / 3.35),
        ("S2-shrink", verdicts.REPRODUCED, 2 / 0.5625, 2 / (0.5 + 2.5 / 128)),
        (
            "S3-power-doubles",
            verdicts.INCONSISTENT,
            0.4 * 8766 * 3 * 0.1 / 1000,
            0.4 * 8766 * 3 * 0.1 / 1000,
        ),
        ("S3-power-usd", verdicts.INCONSISTENT, 350.0, 350.0),
        ("S3-cpu-hours", verdicts.REPRODUCED, 116_000 / 3600, 2 * 174.6e9 * 1024 / 3e9 / 3600),
        ("S3-inference-flop", verdicts.REPRODUCED, 2 * 174.6e9 * 1024, 360e12),
        ("S3-tensor-cores", verdicts.OFF, 432.0, 432.0),
        ("S2-context-doubling", verdicts.INCONSISTENT, 4.0, 4.0),
        ("S2-fourfold-parameters", verdicts.OFF, 2.0, 2.0),
        ("S2-second-year", verdicts.INCONSISTENT, 1600 / 14.0241, 2200 / 14.0241),
        ("S2-4090-build", verdicts.UNDECIDED, 1599 + 600, 2000 + 2000),
        ("S2-h100-fall", verdicts.OFF, 2.537 / 4.14, 12.29 / 6.88),
        ("S2-h100-rent", verdicts.CONDITIONAL, 2.69, 12.29),
        ("S2-tight", verdicts.REPRODUCED, 100 * 2.24 / 1.99, 100 * 3.85 / 2.99),
        ("S3-weekly-growth", verdicts.UNDECIDED, 0.0, 100 * (100 ** (7 / 57) - 1)),
        ("S3-a100-spread", verdicts.REPRODUCED, 5.12 / 1.5, 4.1 / 1.1),
        (
            "S3-a10-work",
            verdicts.OFF,
            (4.1 / 312) / (1.42 / 70),
            (4.1 / 1.555) / (1.42 / 0.6),
        ),
        ("S3-a10-price", verdicts.REPRODUCED, 4.1 / 1.42, 4.1 / 1.42),
        ("S3-openai-price", verdicts.OFF, 0.02, 0.02),
        ("S3-int4", verdicts.CONDITIONAL, 1979 / 989, 1979 / 989),
    ],
)
def test_market_claims_computed_by_hand(found, claim_id, verdict, low, high):
    finding = next(finding for finding in found if finding.claim.id == claim_id)
    assert finding.verdict == verdict
    assert (finding.recomputed.low, finding.recomputed.high) == (
        pytest.approx(low, rel=2e-3),
        pytest.approx(high, rel=2e-3),
    )


def test_what_cannot_be_checked_stays_the_exception(found, checked):
    assert len(found) - len(checked) <= len(found) / 3


def test_bigger_models_do_not_break_even_earlier(found):
    """S2 has 13B break even at a fifth of the load of 7B; it takes more than twice as much, by hand
    from the rows of each host.
    """
    # USD per million tokens in and out of the nine companies that host Llama-3.1-8B and the ten
    # that host Mistral-NeMo-12B.
    small = (
        median([0.02, 0.025, 0.05, 0.05, 0.152, 0.16, 0.22, 0.22, 0.3]),
        median([0.025, 0.05, 0.08, 0.22, 0.22, 0.25, 0.27, 0.29, 0.61]),
    )
    large = (
        median([0.02, 0.02, 0.0245, 0.038, 0.04, 0.14, 0.15, 0.15, 0.3, 0.49]),
        median([0.04, 0.04, 0.0978, 0.1, 0.14, 0.15, 0.15, 0.17, 0.3, 0.71]),
    )
    by_id = {finding.claim.id: finding.recomputed for finding in found}

    def asked(prices: tuple[float, float], prompt: int, answer: int) -> float:
        return prices[0] * prompt / answer + prices[1]

    rent_per_million = 2.24e6 / 3600  # of a reserved H100, at one token a second
    seven = (
        rent_per_million / 28312 / asked(small, 128, 128),
        rent_per_million / 1351 / asked(small, 20000, 2000),
    )
    assert (by_id["S2-7b-load"].low, by_id["S2-7b-load"].high) == pytest.approx(
        [100 * load for load in seven]
    )
    # Speed of the larger one as predicted, over the measured speed of the smaller, which it has in
    # proportion to its size to a quarter.
    points = operating_points("Llama-3.1-8B", "H100 SXM").set_index(
        ["input_tokens", "output_tokens"]
    )["tokens_per_s"]
    twelve = Deployment(
        catalog.model("Mistral-NeMo-12B"),
        catalog.accelerator("H100 SXM"),
        "FP8",
        software="TensorRT-LLM 1.0",
    )
    slower = {
        shape: points[shape] / steady(twelve, Load(*map(float, shape))).output_tokens_per_s
        for shape in points.index
    }
    assert all(abs(each / (12.2477824e9 / 8.030261248e9) - 1) < 0.25 for each in slower.values())
    ratios = [
        100 * each * asked(small, *shape) / asked(large, *shape) for shape, each in slower.items()
    ]
    slow, fast = interval(twelve, "throughput")  # the model's error of the speed
    assert (by_id["S2-13b-over-7b"].low, by_id["S2-13b-over-7b"].high) == pytest.approx(
        (min(ratios) / fast, max(ratios) / slow)
    )


def test_an_unknown_claim_offers_the_nearest():
    with pytest.raises(LookupError, match="S3-training-flop"):
        ledger.stated("S3-training-flops")
