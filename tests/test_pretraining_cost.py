"""What pretraining costs: parts that sum, published figures, what must be true of any run, and what
is refused.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, claims, quantity
from scaleright.claims import verdicts
from scaleright.costs import (
    fastest_steps,
    platforms,
    pretraining,
    pretraining_doubts,
    pretraining_run,
)
from scaleright.costs.pretraining import (
    goodput,
    pretraining_usd,
    reliability,
    run_chip_hours,
    run_days,
)
from scaleright.costs.pretraining_run import Hour, cheapest
from scaleright.market import cost_factor

SEVEN = ("Llama-2-7B", 256, 4096, 1024)
"""The chapter's run: model, chips, sequence, batch."""


@pytest.fixture(scope="module")
def every_platform():
    return platforms.platforms(*SEVEN)


@pytest.fixture(scope="module")
def published():
    return pretraining.published_runs()


def test_goodput_of_llama_3_agrees_with_what_meta_reports():
    chips, days, stops = (
        catalog.fact(f"llama3_{name}")
        for name in ("snapshot_chips", "snapshot_days", "unexpected_interruptions")
    )
    assert cost_factor("chip_hours_per_interruption", "data center").best == pytest.approx(
        24 * days * chips / stops, rel=1e-3
    )
    assert 0.90 < goodput(chips, **reliability()) < 0.95
    assert reliability("low")["chip_hours_per_interruption"] == pytest.approx(7.9 * 1024, rel=1e-3)


def test_low_and_high_ends_of_reliability_are_those_of_the_table():
    assert set(reliability()) == set(pretraining.RELIABILITY)
    assert all(
        reliability("low")[name] < reliability()[name] < reliability("high")[name]
        for name in reliability()
    )


shares, seconds = st.floats(0.05, 1.0), st.floats(0.0, 1e3)


@given(
    tokens=st.floats(1e6, 1e14),
    parts=st.tuples(st.floats(1e-3, 1e3), seconds, seconds, seconds),
    share=shares,
)
def test_twice_the_tokens_take_twice_the_hours_and_parts_sum(tokens, parts, share):
    hours = run_chip_hours(tokens, 4e6, 256, *parts, share)
    assert sum(hours.parts().values()) == pytest.approx(hours.total)
    assert run_chip_hours(2 * tokens, 4e6, 256, *parts, share).total == pytest.approx(
        2 * hours.total
    )
    assert hours.total == pytest.approx(tokens / 4e6 * 256 * sum(parts) / 3600 / share)


@given(usd=st.floats(0.01, 40), experiments=st.floats(0, 10), people=st.floats(0, 1e8))
def test_a_bill_sums_and_experiments_follow_the_run(usd, experiments, people):
    cost = pretraining_usd(80.0, 1.0, 10.0, 5.0, 4.0, usd, 0.1, experiments, people)
    assert cost.total == pytest.approx(sum(cost.parts().values()))
    assert cost.run_usd == pytest.approx(100 * (usd + 0.1), rel=1e-6, abs=1e-6 * cost.total)
    assert cost.experiments_usd == pytest.approx(experiments * 100 * (usd + 0.1))


def test_larger_clusters_lose_more_of_their_time():
    chips = np.array([8.0, 64.0, 512.0, 4096.0, 32768.0])
    assert (np.diff(goodput(chips, **reliability())) < 0).all()
    assert run_days(24.0 * 256 * 10, 256) == 10.0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: goodput(0, **reliability()), "chips = 0 is outside its domain"),
        (lambda: goodput(256, -1.0, 10.0, 600.0), "chip_hours_per_interruption = -1"),
        (
            lambda: run_chip_hours(1e9, 4e6, 256, 1.0, 0.0, 0.0, 0.0, 1.5),
            "goodput = 1.5 is outside its domain",
        ),
        (lambda: run_chip_hours(-1e9, 4e6, 256, 1.0, 0.0, 0.0, 0.0), "tokens = -1e"),
        (
            lambda: platforms.best_step("Llama-3.1-405B", "H100 SXM", 8, 8192, 1024),
            "nearest that fits: chips",
        ),
        (
            lambda: platforms.best_step("Llama-2-7B", "A100 SXM 80GB", 256, 4096, 1024, "FP8"),
            "FP8",
        ),
        (lambda: platforms.best_step("Llama-2-7B", "H100 SXM", 0, 4096, 1024), "chips = 0"),
    ],
)
def test_what_cannot_run_is_refused_and_says_why(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "name, message", [("H10", "nearest: H100"), ("RTX 4090", "accelerator of a cluster")]
)
def test_a_chip_that_no_cluster_is_built_of_is_refused(name, message):
    with pytest.raises(LookupError, match=message):
        pretraining.cluster_chip(name)


def test_all_platforms_are_compared_at_once(every_platform):
    assert {"NVIDIA", "AMD"} <= set(every_platform["vendor"]) and len(every_platform) >= 10
    assert every_platform["accelerator"].is_unique and (every_platform["why"] == "").sum() >= 10
    fits = every_platform[every_platform["why"] == ""].set_index("accelerator")
    parts = fits[list(pretraining.STEP_PARTS)].sum(axis=1)
    assert (
        parts.to_numpy() == pytest.approx(fits["step_s"].to_numpy())
        and (fits["compute_s"] > 0).all()
    )
    assert (
        fits.loc["B200", "step_s"]
        < fits.loc["H100 SXM", "step_s"]
        < fits.loc["A100 SXM 80GB", "step_s"]
    )


def test_a_platform_without_the_format_trains_in_bf16():
    rows = platforms.platforms("Llama-2-7B", 64, 4096, 1024, "FP8").set_index("accelerator")
    assert (
        rows.loc["H100 SXM", "precision"] == "FP8"
        and rows.loc["A100 SXM 80GB", "precision"] == "BF16"
    )


def test_a_platform_that_holds_no_such_model_says_so():
    rows = platforms.platforms("Llama-3.1-405B", 64, 8192, 1024).set_index("accelerator")
    assert "GB" in rows.loc["A100 SXM 40GB", "why"]


def test_published_runs_took_longer_than_predicted_but_not_much(published):
    alone = published[published["covers"] == "pretraining"]["ratio"]
    assert len(published) >= 19 and len(alone) >= 10
    assert (
        0.9 < alone.median() < 1.4
    )  # the fastest layout bounds real runs from below, on the whole
    assert published["ratio"].between(0.6, 3.5).all()
    by_run = published.set_index("run")
    assert (
        by_run.loc["llama-2-7b", "chip_hours"] == 184_320
        and by_run.loc["deepseek-v3", "chip_hours"] == 2_664_000
    )


def test_runs_that_the_pace_has_not_seen_took_longer_than_the_fastest_layout_too(published):
    unseen = pretraining.published_runs(unseen=True)
    assert len(unseen) >= 15 and not set(unseen["run"]) & set(published["run"])
    alone = unseen[unseen["covers"] == "pretraining"]["ratio"]
    assert 1.3 < alone.median() < 2.1 and alone.between(0.9, 2.6).all()


@pytest.mark.parametrize(
    "chip, precision", [("H100 SXM", "BF16"), ("A100 SXM 80GB", "BF16"), ("H100 SXM", "FP8")]
)
def test_the_fastest_layout_takes_no_more_of_the_peak_than_a_published_step_by_far(chip, precision):
    best = pretraining.best_published_mfu("Llama-2-7B", chip, precision)
    assert 0.3 < best["mfu"] < 0.7 and not catalog.model(best["model"]).experts
    assert platforms.best_step(SEVEN[0], chip, *SEVEN[1:], precision)["mfu"] < 1.1 * best["mfu"]


def test_a_step_is_published_for_the_kind_of_model_or_not_at_all():
    assert (
        pretraining.best_published_mfu("DeepSeek-V3", "H800 SXM", "FP8")["source"] == "deepseekv3"
    )
    assert pretraining.best_published_mfu("Llama-2-7B", "H800 SXM", "FP8") is None


def test_the_words_of_a_layout_name_its_interleaving():
    step = platforms.best_step("Llama-3.1-405B", "H100 SXM", 16384, 8192, 2048)
    assert " VP" in step["layout"] and " PP" in step["layout"]


def test_the_claims_of_the_chapter_are_judged():
    found = {finding.claim.id: finding.verdict for finding in claims.findings("pretraining_cost")}
    assert len([name for name in found if name.startswith("S1-")]) == 7
    assert (
        found["S1-nvlink"] == verdicts.TRACED
        and found["S1-4x-training"] == verdicts.OFF
        and found["S1-5x-training"] == verdicts.OFF
    )
    assert found["S2-six-months"] == verdicts.REPRODUCED


@pytest.mark.parametrize("name, chips", [("Llama-2-7B", 512), ("Mixtral-8x7B", 256)])
def test_what_a_page_looks_up_is_the_fastest_layout_or_close_to_it(name, chips):
    found = fastest_steps.fastest_steps(name, (64, chips), "16M", "FP8")
    sequence = platforms.usual_sequence(catalog.model(name))
    batch, exact = platforms.BATCHES["16M"] // sequence, 0
    for chip in ("H100 SXM", "B200", "MI350X", "A100 SXM 80GB", "GB300"):
        form, quick = platforms.format_on(chip, "FP8"), found[chip, chips]
        best = platforms.best_step(name, chip, chips, sequence, batch, form)
        slower = sum(quick[part] for part in pretraining.STEP_PARTS) / best["step_s"] - 1
        assert -1e-6 < slower < 0.03
        exact += quick["layout"] == best["layout"]
    assert exact >= 3


def test_a_model_that_no_layout_fits_has_no_step_there():
    assert ("A100 SXM 40GB", 64) not in fastest_steps.fastest_steps(
        "Llama-3.1-405B", (64,), "4M", "BF16"
    )


def test_a_job_that_fails_all_the_time_keeps_nothing():
    usual = SimpleNamespace(**reliability())
    assert pretraining_doubts.kept_share(usual, 16384) == goodput(16384, **reliability())
    often = SimpleNamespace(
        **reliability() | {"chip_hours_per_interruption": 500, "restart_s": 7200}
    )
    assert np.isnan(pretraining_doubts.kept_share(often, 16384))


@pytest.mark.parametrize("owned", [True, False])
def test_an_owned_hour_of_a_chip_that_nobody_sells_is_rented(monkeypatch, owned):
    name, usual = "H100 SXM", pretraining_run.terms()
    row = usual[name] | ({} if owned else {"owned": 0.0, "power": 0.0})
    monkeypatch.setattr(pretraining_run, "terms", lambda: {**usual, name: row})
    case = SimpleNamespace(
        accelerator=name,
        paid=quantity.given("paid", "own"),
        contract="on demand",
        seller="median",
        rent_usd_per_hour=3.0,
    )
    hour = Hour.of(case, name)
    rented = quantity.at(hour.total, paid="rent")
    assert hour.owned.value == owned and rented.value == 3.0
    assert (hour.total.value == 3.0) != owned


def test_the_cheapest_run_is_told_of_platforms_that_the_fit_has_seen_and_of_others_apart():
    def run(usd: float, seen: bool) -> SimpleNamespace:
        return SimpleNamespace(usd=usd, step=SimpleNamespace(trust=SimpleNamespace(seen=seen)))

    runs = {"A": run(3.0, True), "B": run(2.0, True), "C": run(1.0, False)}
    best, guess = cheapest(runs), cheapest(runs, seen=False)
    assert (best.platform.value, best.usd.value) == ("B", 2.0)
    assert (guess.platform.value, guess.usd.value) == ("C", 1.0)
    assert cheapest({"A": runs["A"]}, seen=False).platform.value == ""
