"""What pretraining costs: parts that sum, published figures, what must be true of any run, and what
is refused.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from chapter_cells import computed
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, quantity
from scaleright.costs import fastest_steps, platforms, pretraining, pretraining_run
from scaleright.costs import whole_runs as stored_runs
from scaleright.costs.platforms import goodput
from scaleright.costs.pretraining import (
    STEP_PARTS,
    pretraining_usd,
    reliability,
    run_chip_hours,
    run_days,
)
from scaleright.costs.pretraining_run import Hour, cheapest
from scaleright.information import NINETY
from scaleright.market import cost_factor
from scaleright.training.layout import TrainingRun, usual_sequence
from scaleright.validation import kinds, whole_runs

SEVEN = ("Llama-2-7B", 256, 4096, 1024)
"""The chapter's run: model, chips, sequence, batch."""


@pytest.fixture(scope="module")
def every_platform():
    return platforms.platforms(*SEVEN)


@pytest.fixture(scope="module")
def pretraining_page():
    return computed("pretraining_cost")


@pytest.fixture(scope="module")
def published():
    return kinds.validate("pretraining")


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
    more=st.tuples(st.floats(1, 2), st.floats(1, 3)),
)
def test_twice_the_tokens_take_twice_the_hours_and_parts_sum(tokens, parts, share, more):
    hours = run_chip_hours(tokens, 4e6, 256, *parts, share, *more)
    assert sum(hours.parts().values()) == pytest.approx(hours.total)
    assert run_chip_hours(2 * tokens, 4e6, 256, *parts, share, *more).total == pytest.approx(
        2 * hours.total
    )
    assert hours.least == pytest.approx(tokens / 4e6 * 256 * sum(parts) / 3600)
    assert hours.total == pytest.approx(hours.least * more[0] * more[1] / share)


@given(usd=st.floats(0.01, 40), experiments=st.floats(0, 10), people=st.floats(0, 1e8))
def test_a_bill_sums_and_experiments_follow_the_run(usd, experiments, people):
    cost = pretraining_usd(70.0, 1.0, 6.0, 5.0, 4.0, 4.0, 10.0, usd, 0.1, experiments, people)
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
        (
            lambda: platforms.best_step("Llama-3.1-405B", "H100 SXM", 8, 8192, 1024),
            "nearest that fits: chips",
        ),
        (lambda: platforms.best_step("Llama-2-7B", "A100 SXM 80GB", 256, 4096, 1024, "FP8"), "FP8"),
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
    assert parts.to_numpy() == pytest.approx(fits["step_s"].to_numpy())
    assert (fits["compute_s"] > 0).all()
    assert (
        fits.loc["B200", "step_s"]
        < fits.loc["H100 SXM", "step_s"]
        < fits.loc["A100 SXM 80GB", "step_s"]
    )


def test_a_platform_without_the_format_trains_in_bf16():
    rows = platforms.platforms("Llama-2-7B", 64, 4096, 1024, "FP8").set_index("accelerator")
    assert rows.loc["H100 SXM", "precision"] == "FP8"
    assert rows.loc["A100 SXM 80GB", "precision"] == "BF16"


def test_a_platform_that_holds_no_such_model_says_so():
    rows = platforms.platforms("Llama-3.1-405B", 64, 8192, 1024).set_index("accelerator")
    assert "GB" in rows.loc["A100 SXM 40GB", "why"]


def test_whole_runs_of_unseen_publishers_are_predicted_better_than_by_a_look_up(published):
    rows, found = published.rows[published.rows["scored"]], published.summary
    assert len(rows) >= 30 and rows["publisher"].nunique() >= 8
    look_up = found.baseline_median_absolute_percent, found.baseline_p90_absolute_percent
    assert found.median_absolute_percent < 20 and look_up[0] > found.median_absolute_percent
    assert found.p90_absolute_percent < min(50, look_up[1])
    assert 85 <= found.coverage_percent <= 100 and found.median_width_percent < 150
    bound = rows["fastest_error_percent"]
    assert bound.abs().median() > 1.5 * found.median_absolute_percent
    assert (rows["ratio"] > 0.9).all() and (bound < 0).mean() > 0.9  # a bound from below


def test_runs_by_a_teachers_logits_are_shown_and_not_scored(published):
    apart = published.rows[~published.rows["scored"]]
    assert set(apart["covers"]) == {"distillation"} and set(apart["why"]) == {whole_runs.WHY}


def test_what_runs_take_beyond_is_found_in_the_runs_that_a_fit_may_see(monkeypatch):
    """Leaving a publisher out moves it little; a run that is held out does not move it at all."""
    stored = catalog.table("pretraining_constants").query("family == 'any'").set_index("constant")
    row, seen = stored.loc["beyond"], whole_runs._book()
    assert row["low"] < row["value"] < row["high"] < 1.1 * row["low"]
    assert not seen["held_out"].eq(True).any() and row["rows"] == len(seen)
    mean, apart = whole_runs.pooled(seen["log"].to_numpy(), seen["publisher"].to_numpy(str))
    usual = stored_runs.whole_runs()
    assert np.exp(mean) == pytest.approx(usual.over_fastest, rel=1e-4)
    ends = np.exp([-NINETY * apart, NINETY * apart])
    assert ends == pytest.approx([usual.low, usual.high], rel=1e-3)


def test_frontier_runs_come_out_at_their_own_settings_as_the_best_quarter_of_other_runs_goes(
    pretraining_page,
):
    """Found without them, and less than what any typical run takes; the page says the same."""
    runs = whole_runs.frontier()
    assert (runs["best quarter"] / runs["published"] - 1).abs().max() < 0.15
    assert (runs["typical"] / runs["published"] - 1).min() > 0.3
    best, usual = (stored_runs.whole_runs(name) for name in ("best quarter", "typical"))
    seen = whole_runs._book().query("run not in @whole_runs.FRONTIER")
    assert best.runs == len(seen) == usual.runs - len(whole_runs.FRONTIER)
    below = seen["log"].lt(np.log(best.over_fastest * best.high)).mean()
    assert 0.05 < below < 0.4 and best.low * best.over_fastest > 0.8
    case = {"model": "Llama-3.1-405B", "accelerator": "H100 SXM", "chips": 16384, "batch": "16M"}
    case |= {"tokens": 15.6e12, "precision": "BF16", "tuning": "best quarter"}
    (hours,) = quantity.evaluate([pretraining_page["run"].hours.total], case)
    assert hours == pytest.approx(
        runs.set_index("model").at[case["model"], "best quarter"], rel=1e-4
    )


def test_experts_that_overlap_are_faster_where_the_stack_does_not_do_so_unasked():
    shape = catalog.model("DeepSeek-V3")
    for chip, quicker in (("H100 SXM", True), ("B200", False)):
        run = TrainingRun(shape, catalog.accelerator(chip), 512, usual_sequence(shape), 4096, "FP8")
        alone, beside = (
            fastest_steps.fastest_on_all(run, [run.chip], [512], way)[chip, 512]
            for way in (False, True)
        )
        gain = sum(alone[part] - beside[part] for part in STEP_PARTS)
        assert gain > 0 if quicker else gain == 0


@given(shift=st.floats(-2, 2), copies=st.integers(1, 30))
def test_a_publisher_with_many_runs_does_not_outvote_the_others(shift, copies):
    logs, who = np.array([0.3, 0.4, 0.5, 0.6]), np.array([*"abcd"])
    once, _ = whole_runs.pooled(logs, who)
    assert once == pytest.approx(0.45)
    moved, apart = whole_runs.pooled(logs + shift, who)
    assert moved == pytest.approx(once + shift) and apart > 0
    many, _ = whole_runs.pooled(np.append(logs, [1.6] * copies), np.append(who, ["e"] * copies))
    assert many < once + (1.6 - once) / 2


def test_the_bound_of_a_run_is_its_steps_in_the_fastest_layout(pretraining_page):
    run, whole = pretraining_page["run"], stored_runs.whole_runs()
    step_s = sum(part.value for part in run.step.parts.values())
    steps = pretraining_page["case"].tokens.value / run.step.tokens.value
    least = steps * step_s * run.chips.value / 3600
    assert run.hours.least.value == pytest.approx(least, rel=1e-9)
    kept = pretraining_page["kept_share"](pretraining_page["case"], run.chips).value
    assert run.hours.total.value == pytest.approx(least * whole.over_fastest / kept, rel=1e-6)
    assert run.usd.value / run.least_usd.value == pytest.approx(whole.over_fastest / kept, rel=1e-6)
    assert pretraining_page["spread"].low_usd.value < run.usd.value


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


@pytest.mark.parametrize("name, chips", [("Llama-2-7B", 512), ("Mixtral-8x7B", 256)])
def test_what_a_page_looks_up_is_the_fastest_layout_or_close_to_it(name, chips):
    found = fastest_steps.fastest_steps(name, (64, chips), "16M", "FP8")
    sequence = usual_sequence(catalog.model(name))
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
    assert pretraining_run.kept_share(usual, 16384) == goodput(16384, **reliability())
    often = SimpleNamespace(
        **reliability() | {"chip_hours_per_interruption": 500, "restart_s": 7200}
    )
    assert np.isnan(pretraining_run.kept_share(often, 16384))


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
