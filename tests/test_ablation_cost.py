"""What experiments cost and decide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.costs import experiments
from scaleright.costs.experiment_steps import experiment_steps, widths
from scaleright.decisions import ablation_study
from scaleright.decisions.ablation_evidence import (
    agreement,
    judged,
    per_tenfold,
    published,
    transfers,
)

cuts = st.integers(0, 4).map(float)
shares = st.floats(0.1, 0.9)
reuse = st.floats(0, 1)


@given(shares, cuts, reuse)
def test_rungs_add_up_to_the_share_that_halving_trains(survive, halvings, reused):
    rungs = (
        survive**k * experiments.rung_share(float(k), survive, halvings, reused) for k in range(5)
    )
    assert sum(rungs) == pytest.approx(experiments.halving_share(survive, halvings, reused))


@given(shares, cuts)
def test_halving_never_trains_more_and_continuing_saves(survive, halvings):
    continued, anew = (experiments.halving_share(survive, halvings, of) for of in (1.0, 0.0))
    assert continued <= 1 + 1e-12
    assert continued <= anew + 1e-12


@given(st.integers(1, 500), st.integers(1, 10), shares, cuts, st.integers(1, 200))
def test_a_study_holds_its_places_at_least_as_long_as_it_trains(v, seeds, survive, cut, places):
    turns = experiments.whole_runs_in_turn(v, seeds, survive, cut, 1.0, 0.1, float(places))
    trained = experiments.whole_runs_trained(v, seeds, survive, cut, 1.0)
    assert turns * places >= trained * (1 - 1e-9)
    assert trained <= v * seeds * (1 + 1e-9)


def test_rounding_makes_no_run():
    assert experiments.rung_runs(30, 1, 1.0, 0.1) == 3
    assert experiments.slots(8, widths()["1/7 chip"]) == 56
    assert experiments.slots(8, 16.0) == 0


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 2e4))
def test_hours_that_are_paid_are_those_of_the_cluster(failed, evaluation, idle, term):
    turns = experiments.whole_runs_in_turn(10, 3, 0.5, 1.0, 1.0, failed, 16.0)
    trained = experiments.whole_runs_trained(10, 3, 0.5, 1.0, 1.0)
    hours = experiments.study_hours(
        trained, turns, 5.0, 1.0, 16, failed, evaluation, 0.02, idle, term
    )
    days = experiments.study_days(turns, 5.0, evaluation, 0.02, idle)
    assert hours.total == pytest.approx(16 * max(24 * days, term))
    assert all(part >= 0 for part in hours.parts().values())


def test_people_cost_by_time_and_machines_by_the_hour():
    slow = experiments.study_usd(100.0, 0, 0, 0, 0, 0, 0, 2.0, 0.0, 40.0, 1.0, 200_000.0)
    quick = experiments.study_usd(100.0, 0, 0, 0, 0, 0, 0, 2.0, 0.0, 10.0, 1.0, 200_000.0)
    assert slow.machines_usd == quick.machines_usd == 200.0
    assert slow.waiting_usd == pytest.approx(4 * quick.waiting_usd)


@given(st.floats(0.1, 5), st.floats(0.1, 5), st.sampled_from(["80 %", "90 %", "95 %"]))
def test_the_seeds_needed_reach_the_power_asked(difference, noise, power):
    level = ablation_study.two_sided()["95 %"]
    seeds = ablation_study.seeds_needed(difference, noise, level, ablation_study.one_sided()[power])
    if 1 <= seeds < 1e5:
        asked = float(power.split()[0]) / 100
        assert ablation_study.power_reached(difference, noise, seeds, level) == pytest.approx(
            asked, abs=1e-6
        )


def test_fewer_than_one_seed_is_refused():
    with pytest.raises(ValueError, match=r"seeds = 0 .* allowed: 1 or more"):
        experiments.whole_runs_in_turn(10, 0, 0.5, 0.0, 1.0, 0.0, 8.0)


@given(st.floats(0.5, 1), st.floats(0, 0.5))
def test_a_poor_proxy_never_helps(seen, wrong):
    assert 0.5 - 1e-12 <= ablation_study.decided_right(seen, wrong) <= seen + 1e-12


def test_no_proxy_is_worse_than_a_coin():
    assert ablation_study.misordered(1.0, 1e30, 0.2) == 0.5
    assert ablation_study.misordered(1e21, 1e21, 0.2) == 0.0
    assert ablation_study.better_seen(1.0, 1.0, 1) < ablation_study.better_seen(1.0, 1.0, 9)


def test_a_correlation_becomes_pairs():
    assert agreement("correlation", 0.5) == pytest.approx(2 / 3)
    assert agreement("rank correlation", 1.0) == pytest.approx(1.0)


def test_studies_agree_on_how_order_is_lost_within_a_factor_of_two():
    found = per_tenfold()
    assert found.high / found.low < 2
    rows = transfers()
    known = rows[~rows["foreseen"].map(math.isnan)]
    assert (known["foreseen"] - known["agree"]).abs().median() < 0.15


def test_published_hours_are_predicted_without_having_been_seen():
    found = judged()
    assert found.rows >= 15
    assert found.studies >= 6
    assert found.median < 0.25
    assert published()["predicted"].gt(published()["fastest"]).all()


def test_a_part_of_a_chip_is_slower_and_wider_is_faster():
    found = experiment_steps("Pythia-160M", "BF16")
    seconds = [found["H100 SXM", of]["compute_s"] for of in widths()]
    assert seconds == sorted(seconds, reverse=True)


@given(st.integers(2, 500).map(float), shares, cuts, st.floats(0, 0.25))
def test_cuts_drop_the_best_no_less_often_where_more_pairs_are_misordered(many, left, cut, per):
    kept = ablation_study.best_kept(many, left, cut, per)
    assert 0 <= kept <= 1 and ablation_study.best_kept(many, left, 0.0, per) == 1
    assert ablation_study.best_kept(many, left, cut, 0.0) == pytest.approx(1, abs=1e-12)
    assert ablation_study.best_kept(many, left, cut, per + 0.05) <= kept + 0.01


def _simulated(many: int, left: float, cut: int, per: float) -> float:
    """How often halving keeps the best of normal variants whose order at each rung is as far from
    the last as `misordered` says.
    """
    draw = np.random.default_rng(0).standard_normal
    tokens = [left ** (cut - rung) for rung in range(cut)]
    right = [math.cos(math.pi * ablation_study.misordered(share, 1.0, per)) for share in tokens]
    final = later = draw((4000, many))
    seen, known = [], 1.0
    for here in reversed(right):
        along = here / known
        later = along * later + math.sqrt(1 - along**2) * draw(later.shape)
        seen, known = [later, *seen], here
    there = np.ones(final.shape, bool)
    for rung, scores in enumerate(seen):
        stays = math.ceil(many * left ** (rung + 1) - 1e-9)
        last = np.sort(np.where(there, scores, -np.inf))[:, many - stays]
        there &= scores >= last[:, None]
    return float(there[np.arange(len(final)), final.argmax(axis=1)].mean())


def test_how_often_cuts_keep_the_best_is_what_a_simulation_finds():
    cases = [
        (many, left, cut, per)
        for many in (4, 8, 24, 100)
        for left in (0.25, 0.5, 0.7)
        for cut in (1, 2, 3)
        for per in (0.03, 0.1, 0.15)
    ]
    off = [
        abs(ablation_study.best_kept(float(n), s, float(h), w) - _simulated(n, s, h, w))
        for n, s, h, w in cases
    ]
    assert np.mean(off) < 0.02
    assert max(off) < 0.16
