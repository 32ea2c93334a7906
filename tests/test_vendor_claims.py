"""The chapter `vendor_claims` and what it calls: a lead is a ratio of two curves, claims follow
from it, a wrong case is refused.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, cli, market, quantity
from scaleright.chapters.vendor_claims import evidence
from scaleright.chapters.vendor_claims import model as vendor
from scaleright.chapters.vendor_claims.evidence import Lead, LeadDoubts, over_speeds
from scaleright.chapters.vendor_claims.model import (
    advantage,
    best_rate,
    lead,
    published_use,
    returns,
    serving_points,
    vendor_claim,
)
from scaleright.claims import ledger, verdicts
from scaleright.claims import vendor as claimed
from scaleright.costs.serving import RENT
from scaleright.press import Book, execute
from scaleright.press.execute import answer
from scaleright.press.texts import declared

BOOK = Book(Path(__file__).resolve().parents[1])
SHORT = (1024, 1024)
SPEEDS = np.array([10.0, 20.0, 40.0, 75.0, 100.0, 125.0])
positive = st.floats(0.01, 1e4)


def test_the_headline_is_the_librarys():
    said = answer(BOOK.notebook("vendor_claims").read_bytes())
    points = serving_points("gpt-oss-120b", *SHORT)
    rents = [market.listed_hour(chip).usd for chip in ("GB300", "H200 SXM")]
    cheaper = float(advantage(lead(points, "GB300", "H200 SXM", 100.0), *rents))
    assert cheaper >= 1 and f"Take the GB300: its tokens are cheaper. {cheaper:.3g} times" in said
    assert "A claim of 35 times is reached at no speed" in said


@given(ratio=positive, new=positive, old=positive)
def test_twice_the_price_halves_the_lead(ratio, new, old):
    assert advantage(ratio, 2 * new, old) == pytest.approx(advantage(ratio, new, old) / 2)
    assert advantage(ratio, new, new) == pytest.approx(ratio)


def test_the_vendors_own_figures_make_its_35_and_50():
    ratio = catalog.fact("vendor_r1_gb300_tokens_per_s") / catalog.fact(
        "vendor_r1_h200_tokens_per_s"
    )
    new, old = published_use("GB300"), published_use("H200 SXM")
    assert advantage(ratio, new["usd"], old["usd"]) == pytest.approx(35, rel=0.02)
    assert advantage(ratio, new["kw"], old["kw"]) > 50
    assert catalog.fact("vendor_r1_h200_usd_per_million") / catalog.fact(
        "vendor_r1_gb300_usd_per_million"
    ) == pytest.approx(35)
    for chip in ("gb300", "h200"):  # a million tokens at these speeds and prices
        usd = published_use("GB300" if chip == "gb300" else "H200 SXM")["usd"]
        assert usd / catalog.fact(f"vendor_r1_{chip}_tokens_per_s") / 3600 * 1e6 == pytest.approx(
            catalog.fact(f"vendor_r1_{chip}_usd_per_million"), rel=0.05
        )


def test_parts_of_a_return_add_up_and_a_multiple_is_one_more():
    bill = returns(5e6, 720_000, 1.1, 3.0, 1.0, 1e5)
    assert bill.total == pytest.approx(bill.sales_usd + bill.running_usd + bill.investment_usd)
    assert returns(5e6, 720_000, 1.1, 3.0, 1.0).return_on_investment == pytest.approx(
        bill.multiple - 1
    )
    assert bill.return_on_investment == pytest.approx(bill.multiple - 1 - 3e5 / 5e6)


@given(
    rates=st.lists(positive, min_size=1, max_size=8),
    speeds=st.lists(st.floats(1, 300), min_size=8, max_size=8, unique=True),
)
def test_no_speed_has_more_than_a_slower_one_and_each_best_point_is_met(rates, speeds):
    points = pd.DataFrame({"interactivity": speeds[: len(rates)], "tokens_per_s": rates})
    asked = np.sort(np.array([0.5, *speeds, 400.0]))
    found = best_rate(points, asked)
    assert (np.diff(found) <= 1e-9 * found[:-1]).all()
    assert found[0] == pytest.approx(max(rates)) and found[-1] == 0
    assert (
        best_rate(points, points["interactivity"].to_numpy())
        >= points["tokens_per_s"].to_numpy() * (1 - 1e-12)
    ).all()


def test_drafts_on_one_side_make_most_of_a_lead():
    plain, one_sided, both = (
        lead(serving_points("DeepSeek-V3", *SHORT, drafts), "GB300", "H200 SXM", SPEEDS)
        for drafts in vendor.DRAFTS
    )
    assert plain[0] < 5 and one_sided[4] > 35 and one_sided[4] > 2 * both[4]
    small = lead(serving_points("gpt-oss-120b", *SHORT), "GB300", "H200 SXM", SPEEDS)
    assert small.max() < one_sided.max() / 2


def test_a_rack_leads_a_server_of_the_same_chip_where_users_are_fast():
    points = serving_points("DeepSeek-V3", *SHORT, "both", ("B300", "GB300"))
    assert lead(points, "GB300", "B300", 10.0) < 1.35 < lead(points, "GB300", "B300", 150.0)


def test_measured_leads_are_near_the_predicted_ones():
    checked, errors = vendor.checked_leads(), vendor.lead_errors()
    off = checked["measured"] / checked["predicted"]
    assert errors.count == len(checked) >= 60 and errors.greatest / errors.slightest > 5
    assert 0.8 < off.median() < 1.35 and errors.high / errors.low < 2.2
    assert off.between(errors.low, errors.high).mean() == pytest.approx(0.9, abs=0.02)


def test_published_points_of_a_rack_and_a_server_stand_near_the_model():
    both, none = (serving_points("DeepSeek-V3", *SHORT, drafts) for drafts in ("both", "none"))
    rack, server = (
        both.query("accelerator == 'GB300'"),
        serving_points("DeepSeek-V3", *SHORT, "none", ("B200",), "FP8"),
    )
    assert 1 / 2.5 < best_rate(server, 42.0) / (4791.6 / 2) < 2.5
    assert best_rate(none.query("accelerator == 'GB300'"), 184.0) < best_rate(rack, 184.0) / 3
    assert best_rate(rack, 71.0) == pytest.approx(11951.3 / 2, rel=0.25)


def test_a_verdict_says_where_a_claim_holds():
    points = pd.DataFrame(
        {
            "accelerator": ["a", "a", "b", "b"],
            "interactivity": [10.0, 100.0, 10.0, 100.0],
            "tokens_per_s": [90.0, 70.0, 30.0, 1.0],
        }
    )
    held = vendor_claim(points, "a", "b", SPEEDS, 20.0, {"a": 2.0, "b": 1.0})
    assert (
        held.agrees
        and held.what == "from 100 to 100 tokens/s per user"
        and held.numbers["most"][0] == pytest.approx(35)
    )
    assert not vendor_claim(points, "a", "b", SPEEDS, 36.0, {"a": 2.0, "b": 1.0}).agrees
    with pytest.raises(ValueError, match="serve this load at none of 150 to 200"):
        vendor_claim(points, "a", "b", np.array([150.0, 200.0]), 2.0, {"a": 1.0, "b": 1.0})


@pytest.mark.parametrize("claimed", [2.0, 20.0, 36.0])
def test_the_page_judges_a_claim_over_speeds_as_the_verdict_does(claimed):
    points = serving_points("DeepSeek-V3", *SHORT, "new")
    rents = {"GB300": 9.9, "H200 SXM": 5.3}
    verdict = vendor_claim(points, "GB300", "H200 SXM", SPEEDS, claimed, rents)
    ratios = lead(points, "GB300", "H200 SXM", SPEEDS)
    speed = quantity.given("speed", 10.0)
    ratio = quantity.look_up(dict(zip(SPEEDS, ratios, strict=True)), speed)
    found = over_speeds(advantage(ratio, 9.9, 5.3), speed, [*SPEEDS], claimed)
    assert found.most.value == pytest.approx(verdict.numbers["most"][0], rel=1e-6)
    assert bool(found.first.value > 0) == verdict.agrees
    if verdict.agrees:
        first, last = found.first.value, found.last.value
        assert verdict.what == f"from {first:g} to {last:g} tokens/s per user"


def test_wrong_names_offer_the_nearest():
    with pytest.raises(LookupError, match="GB300"):
        published_use("GB30")
    with pytest.raises(LookupError, match="both"):
        serving_points("gpt-oss-120b", *SHORT, "bot")
    with pytest.raises(ValueError, match="utilization"):
        returns(5e6, 1.0, 1.0, 3.0, 40)


VERDICTS = {
    "S0-50x": verdicts.OFF,
    "S0-35x": verdicts.OFF,
    "S0-5m": verdicts.UNDECIDED,
    "S0-75m": verdicts.CONDITIONAL,
    "S0-15x": verdicts.CONDITIONAL,
    "S0-5x": verdicts.OFF,
    "S1-5x-software": verdicts.OFF,
    "S2-one-gpu-latency": verdicts.REPRODUCED,
    "S2-distilled": verdicts.ABSENT,
    "S3-memory-bound": verdicts.REPRODUCED,
    "S3-inference-memory": verdicts.CONDITIONAL,
}
FLIPPED = {
    "S0-50x": 500.0,
    "S0-35x": 350.0,
    "S0-5m": 2e7,
    "S0-75m": 1e9,
    "S0-15x": 30.0,
    "S0-5x": 50.0,
    "S3-memory-bound": 1000.0,
    "S3-inference-memory": 60.0,
}


@pytest.mark.parametrize("claim_id", VERDICTS)
def test_verdicts_follow_from_the_numbers(claim_id):
    finding = ledger.findings(ids=(claim_id,))[0]
    assert finding.verdict == VERDICTS[claim_id]
    if claim_id in FLIPPED:
        moved = replace(
            finding.claim,
            low=FLIPPED[claim_id],
            high=max(FLIPPED[claim_id], finding.claim.high)
            if np.isinf(finding.claim.high)
            else FLIPPED[claim_id],
        )
        assert verdicts.judge(moved, finding.recomputed).verdict == verdicts.OFF


def test_a_lead_on_another_model_is_no_excuse():
    for finding in ledger.findings(ids=("S0-50x", "S0-35x")):
        assert finding.factor > 2
        assert "DeepSeek-R1" in finding.possible and "DeepSeek-R1" in finding.origin


@pytest.mark.parametrize("claim_id, use", [("S0-50x", "kw"), ("S0-35x", "usd")])
def test_a_claim_of_some_speed_is_held_to_every_speed_that_the_page_measures(claim_id, use):
    found = ledger.findings(ids=(claim_id,))[0].recomputed
    speeds = next(of.choices for of in declared("vendor_claims") if of.name == "speed")
    assert tuple(claimed.SPEEDS) == tuple(speeds)
    measured = evidence.measured_leads(speeds)["1K/1K"]
    assert found.low <= measured[f"{use}_low"] and measured[f"{use}_high"] <= found.high


def test_eight_claims_of_the_answer_are_judged():
    assert sum(finding.claim.source == "S0" for finding in ledger.findings("vendor_claims")) == 8


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("model=DeepSeek-V2", "DeepSeek-V3"),
        ("newer=GB20", "GB200"),
        ("older=H10", "H100 SXM"),
        ("speed=1000", "speed"),
        ("drafts=some", "drafts = 'some'"),
        ("utilization=40", "utilization"),
        ("claimed=0", "claimed = 0"),
        ("older_kw=-1", "older_kw"),
    ],
)
def test_a_wrong_case_is_refused_before_anything_runs(wrong, said, capsys, monkeypatch):
    monkeypatch.setattr(execute, "run_all", lambda *_: pytest.fail("a chapter ran"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.chdir(BOOK.root)
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", "vendor_claims", "-p", wrong])
    assert caught.value.code
    assert said in capsys.readouterr().err


def test_how_sure_a_lead_is_leaves_out_what_the_reader_has_set():
    """Neither rents of one's own nor those under a contract move."""
    names = {"claimed": 3.0, "newer_usd_per_hour": 0.0, "older_usd_per_hour": 0.0}
    names |= {"contract": "on demand", "rate": 200.0}
    case = SimpleNamespace(**{name: quantity.given(name, value) for name, value in names.items()})
    ratio = case.rate / 100.0
    paid = SimpleNamespace(newer=SimpleNamespace(usd=5.0))
    errors = vendor.lead_errors()
    found = LeadDoubts.of(case, Lead(case.rate, ratio, ratio, ratio), paid, errors)
    asked = [found.choice.probability, found.claim, found.low, found.high]
    rents = found.choice.spreads[RENT]
    sure, claim, low, high = quantity.evaluate(asked, {})
    assert low < 2 < high and claim < 0.5 < sure < 1 and rents.value > 0
    one, both = (
        {f"{which}_usd_per_hour": 4.0 for which in of} for of in (["newer"], ["newer", "older"])
    )
    assert quantity.evaluate([rents], one)[0] > rents.value  # one rent alone moves more
    for told in (both, {"contract": "one year"}):
        assert quantity.evaluate([rents], told) == [0.0]
        fixed = quantity.evaluate([found.low, found.high], told)
        assert fixed == pytest.approx([2 * errors.low, 2 * errors.high])
    assert quantity.evaluate([found.claim], {"claimed": 1.0}) == [sure]
