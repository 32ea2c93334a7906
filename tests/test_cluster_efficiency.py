"""How many chips a run takes: the batch, failures and the queue, what must be true of any optimum,
each aim, published clusters, and what is refused.
"""

from pathlib import Path

import numpy as np
import pytest
from cases import defaults, quantities
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, quantity
from scaleright.chapters.cluster_efficiency.evidence import judged, judged_clusters
from scaleright.chapters.cluster_efficiency.model import LEVEL, ClusterDoubts, Curve
from scaleright.costs.cluster_grid import BATCHES, CLUSTERS, WAYS, grid_of
from scaleright.costs.platforms import FREE, goodput, mtbf_hours
from scaleright.costs.pretraining import reliability, run_chip_hours
from scaleright.costs.whole_runs import whole_runs
from scaleright.decisions import cluster_efficiency
from scaleright.quantity import evaluate
from scaleright.scaling_laws.batches import MORE, laws, published_batch, tokens_over_least

from refresh import reliability as importer
from refresh.tables import RefreshError, sift

MODEL, CHIP = "Llama-3.1-70B", "H100 SXM"
tokens = st.floats(1e9, 1e14)
batches = st.floats(1e5, 1e9)
shares = st.floats(0.01, 0.95)
CASE = defaults("cluster_efficiency") | {
    "batch": FREE,
    "precision": "BF16",
    "rent_usd_per_hour": 2.5,
}


@pytest.fixture(scope="module")
def case():
    values = CASE | reliability()
    return quantities(values)


@pytest.fixture(scope="module")
def found(case):
    return cluster_efficiency.Efficiency.of(case, grid_of(MODEL))


# The batch


@given(batch=batches, critical=batches)
def test_a_larger_batch_never_takes_fewer_tokens(batch, critical):
    assert 1 < tokens_over_least(batch, critical) < tokens_over_least(2 * batch, critical)


def test_at_the_critical_batch_a_run_takes_a_fifth_more_tokens():
    assert tokens_over_least(8e6, 8e6) == pytest.approx(1 + MORE)


def test_of_the_laws_of_the_batch_three_agree_and_the_oldest_does_not():
    by_law = {name: published_batch(name, 70e9, 15e12) for name in laws()}
    oldest = by_law.pop("Kaplan 2020")
    assert max(by_law.values()) < 2.5 * min(by_law.values())
    assert oldest < min(by_law.values()) / 5


def test_the_critical_batch_of_kaplan_takes_twice_the_tokens_as_published():
    published = 2e8 / 2.0 ** (1 / 0.21)
    row = laws()["Kaplan 2020"]
    at_loss = row["coefficient"] * 2.0 ** row["exponent"]
    assert at_loss == pytest.approx(published, rel=1e-4)
    assert tokens_over_least(at_loss, at_loss * MORE / row["more_tokens"]) == pytest.approx(2.0)


@pytest.mark.parametrize("parameters, fitted", [(302e6, 621.341), (151e6, 621.341)])
def test_zhang_by_tokens_agrees_with_zhang_by_size(parameters, fitted):
    by_size = 512 * fitted * (parameters / 1e6) ** 0.087
    assert published_batch("Zhang 2024", parameters, 3.07e9) == pytest.approx(by_size, rel=0.06)


def test_an_unknown_law_is_refused_with_the_nearest():
    with pytest.raises(LookupError, match="Kaplan 2020"):
        published_batch("Kaplan 2021", 1e9, 1e12)


# Failures and the queue


@given(chips=st.integers(8, 65536), minutes=st.floats(1.0, 1440.0))
def test_no_interval_keeps_more_than_the_best(chips, minutes):
    best = goodput(chips, **reliability())
    assert goodput(chips, **reliability(), checkpoint_interval_s=60 * minutes) <= best + 1e-9


@given(chips=st.integers(8, 30000))
def test_twice_the_chips_are_stopped_twice_as_often(chips):
    assert mtbf_hours(chips, 50_700.0) == pytest.approx(2 * mtbf_hours(2 * chips, 50_700.0))


@given(load=shares, days=st.floats(0.01, 100.0), power=st.integers(3, 15))
def test_a_larger_job_waits_longer_and_none_without_load(load, days, power):
    waits = [
        cluster_efficiency.waiting_days(2.0**of, 65536.0, load, days) for of in (power, power + 1)
    ]
    assert waits[0] <= waits[1]
    assert cluster_efficiency.waiting_days(2.0**power, 65536.0, 0.0, days) == 0


def test_one_server_waits_as_queueing_theory_has_it():
    load = np.array([0.2, 0.5, 0.9])
    assert cluster_efficiency.waiting_days(64.0, 64.0, load, 2.0) == pytest.approx(
        2.0 * load / (1 - load)
    )


# The optimum


@given(usd=st.floats(1e4, 1e8), days=st.floats(1, 1e3), worth=st.floats(0, 1e6))
def test_the_next_chips_pay_exactly_where_a_day_costs_less_than_it_is_worth(usd, days, worth):
    more, fewer = 1.2 * usd, days / 2
    pays = cluster_efficiency.cost_with_time(
        more, fewer, worth
    ) < cluster_efficiency.cost_with_time(usd, days, worth)
    price = cluster_efficiency.usd_per_day_saved(usd, days, more, fewer)
    assert pays == (price < worth) or price == pytest.approx(worth)


@given(
    hours=st.floats(1e3, 1e8),
    chips=st.integers(8, 65536),
    waits=st.floats(0, 100),
    worth=st.floats(0, 1e6),
    price=st.floats(0.1, 20),
    more=st.floats(1, 2),
)
def test_hours_of_a_chip_are_dollars_over_its_price(hours, chips, waits, worth, price, more):
    counted = cluster_efficiency.hours_with_time(hours, chips, waits, worth, price, more, 1.0)
    paid = hours * more
    usd = cluster_efficiency.cost_with_time(paid * price, paid / chips / 24 + waits, worth)
    assert counted * price == pytest.approx(usd, rel=1e-12)


def test_chips_that_save_no_day_have_no_price():
    assert cluster_efficiency.usd_per_day_saved(1.0, 2.0, 3.0, 2.0) == float("inf")


def test_each_aim_is_met_by_its_best(found):
    plan, case = found.setting, found.setting.case
    way = quantity.given("way", 0)
    of = plan.plan(way)
    wanted = [of.to_loss_usd, of.days, of.with_time(case.value_usd_per_day), of.allowed]
    usd, days, worth, allowed = evaluate(wanted, {"way": np.arange(len(WAYS))})
    usd, days, worth = (np.where(allowed, each, np.inf) for each in (usd, days, worth))
    assert found.cheapest.to_loss_usd.value == pytest.approx(usd.min())
    assert found.soonest.days.value == pytest.approx(days.min())
    in_time = days <= CASE["deadline_days"]
    assert found.in_time.to_loss_usd.value == pytest.approx(usd[in_time].min())
    assert found.best_worth.value == pytest.approx(worth[in_time].min())


def test_a_run_costs_what_the_cost_of_pretraining_says(found):
    setting = found.setting
    way = WAYS.index((2048, BATCHES["16M"]))
    plan = setting.plan(quantity.given("way", way))
    step = plan.run.step
    parts = {name: of.value for name, of in step.parts.items()}
    kept = goodput(2048, **reliability())
    hours = run_chip_hours(
        CASE["tokens"], BATCHES["16M"], 2048, **parts, goodput=kept, **whole_runs().factors
    )
    assert plan.run.hours.total.value == pytest.approx(hours.total, rel=1e-6)
    assert plan.usd.value == pytest.approx(hours.total * CASE["rent_usd_per_hour"], rel=1e-6)


def test_a_day_that_is_worth_more_takes_more_chips(found):
    values = np.array([0.0, 1e4, 1e5, 1e6, 1e7])
    chips = evaluate([found.worth.chips], {"value_usd_per_day": values})[0]
    assert (np.diff(chips) >= 0).all() and chips[-1] > chips[0]


def test_an_earlier_deadline_never_costs_less(found):
    days = np.array([15.0, 40.0, 120.0, 1000.0])
    usd = evaluate([found.in_time.usd], {"deadline_days": days})[0]
    assert (np.diff(usd) <= 0).all()


def test_the_best_lies_where_it_hardly_matters(found):
    fewest, most = found.near(0.05)
    assert fewest.value <= found.best.chips.value <= most.value
    wider = [of.value for of in found.near(0.25)]
    assert wider[0] <= fewest.value and wider[1] >= most.value


@pytest.mark.parametrize("batch", ["1M", "16M", "64M"])
def test_a_fixed_batch_is_kept(found, batch):
    here = {"batch": batch, "deadline_days": 5000.0}
    there, tokens_ = evaluate([found.best.there, found.best.batch], here)
    assert there and tokens_ == BATCHES[batch]


def test_a_deadline_that_nothing_meets_has_no_best(found):
    there, soon = evaluate([found.best.there, found.soonest.there], {"deadline_days": 1.0})
    assert not there and soon


def test_a_shared_cluster_bounds_the_chips_and_adds_a_wait(found):
    shared = {"shared_load": 0.8, "shared_chips": 4096.0}
    chips, days = evaluate([found.soonest.chips, found.soonest.days], shared)
    assert chips <= 4096 and days > found.soonest.days.value


def test_the_curve_does_not_rise_once_the_model_fits_well(found):
    curve = Curve.of(found)
    used = [of.value for of in found.sizes["used"] if of.value > 0]
    assert curve.top.value == pytest.approx(max(used))
    assert curve.at_last.value == used[-1] < (1 - LEVEL) * curve.top.value
    assert curve.first.value <= curve.most.value <= curve.level.value < curve.last.value


def test_a_batch_of_the_readers_own_has_no_spread(case):
    ends = cluster_efficiency.ends_of_batches(case, grid_of(MODEL))
    assert ends[0].value < 1 < ends[1].value
    assert evaluate([*ends], {"critical_batch": 1e7}) == [1.0, 1.0]


def test_the_best_two_are_compared_and_the_range_holds_the_best(found):
    sure = ClusterDoubts.of(found, (0.8, 1.25))
    assert sure.rival.value in CLUSTERS and sure.rival.value != found.best.chips.value
    assert 0.5 < sure.choice.probability.value < 1
    assert sure.low_days.value < found.best.days.value < sure.high_days.value
    assert sure.low_usd.value < found.best.usd.value < sure.high_usd.value


def test_a_price_that_nothing_is_weighed_against_and_tokens_of_one_batch_cancel(found):
    spreads = ClusterDoubts.of(found, (0.8, 1.25)).choice.spreads
    names = "price of an hour", "critical batch"
    weighed = {"batch": "4M", "rent_usd_per_hour": 0.0, "value_usd_per_day": 50_000.0}
    both = [spreads[name] for name in names]
    assert evaluate(both, weighed | {"value_usd_per_day": 0.0}) == [0.0, 0.0]
    price, batch = evaluate(both, weighed)
    assert price > 1e-6
    assert batch == 0  # both numbers of chips take the same batch, and nobody waits
    queue = {"shared_load": 0.8, "shared_chips": 1e5, "job_days": 30.0}
    assert evaluate([spreads["critical batch"]], weighed | queue)[0] > 1e-6


# Published clusters


def test_only_rows_that_set_nothing_judge():
    rows = judged_clusters().set_index("run")
    assert not rows.loc["llama3-2024/16384", ["scored_hours", "scored_kept"]].any()
    assert not rows[rows["role"] != "judges"]["scored_hours"].any()
    assert rows["scored_hours"].sum() == judged().rows


def test_no_operator_predicts_itself_and_projections_predict_nothing():
    rows = judged_clusters().set_index("run")
    assert rows.loc["bloom-2022/384", "others_hours"] > 0
    assert rows.loc[rows["role"] == "projected", "others_hours"].isna().all()
    stops = rows[(rows["counts"] == "stops") & rows["others_hours"].notna()]
    assert set(stops["operator"]) == {"Meta", "Meta, research clusters"}
    alone = rows.loc["llama3-2024/16384", "others_hours"] * 16384
    both = rows.loc[["kokolis-2024/8", "kokolis-2024/1024"]]
    rate = both["published_hours"] * both["accelerators"].astype(float)
    assert alone == pytest.approx(float(rate.prod()) ** 0.5)


def test_llama_3_sets_the_rate_that_predicts_it():
    row = judged_clusters().set_index("run").loc["llama3-2024/16384"]
    assert row["predicted_hours"] == pytest.approx(row["published_hours"], rel=0.01)
    assert row["predicted_kept"] > row["kept_share"]


def test_the_interruptions_of_llama_3_add_up_and_the_printed_shares_do_not():
    rows = catalog.table("interruptions")
    assert rows["interruptions"].sum() == catalog.fact("llama3_unexpected_interruptions")
    assert rows["printed_share"].sum() == pytest.approx(0.949, abs=0.001)


HEAD = "component,category,count,pct_as_printed\n"


def _raw(folder: Path, lines: str) -> Path:
    (folder / "reliability").mkdir()
    (folder / importer.TABLE).write_text(HEAD + lines)
    return folder


def test_interruptions_are_read_and_their_total_is_checked(tmp_path):
    rows, dropped = sift(importer.rows(_raw(tmp_path, "A,GPU,400,95.0\nB,Host,19,5.0\n")))
    assert [row["interruptions"] for row in rows] == [400, 19] and not dropped
    assert rows[0]["printed_share"] == 0.95


@pytest.mark.parametrize("lines", ["A,GPU,400,95.0\n", "A,GPU,419.5,95.0\n", "A,GPU,0,95.0\n"])
def test_interruptions_that_cannot_be_are_refused(tmp_path, lines):
    with pytest.raises(RefreshError, match="row"):
        list(importer.rows(_raw(tmp_path, lines)))


# What is refused


def _case(**changed):
    values = {
        "tokens": 15e12,
        "precision": "BF16",
        "tuning": "typical",
        "law": "Zhang 2024",
        "critical_batch": 0.0,
    }
    values |= {"shared_load": 0.0, "shared_chips": 65536, "job_days": 3.0}
    batch = changed.pop("batch", FREE)
    return cluster_efficiency.case_of(MODEL, CHIP, batch, (None,) * 3, 0.0, values | changed)


def test_a_deadline_that_a_larger_batch_would_meet_is_said_to_be_bound_by_the_batch():
    with pytest.raises(ValueError, match=r"keeps no more chips busy; one of 64M tokens"):
        cluster_efficiency.require_in_time(_case(batch="1M"), 60.0)


def test_a_deadline_that_nothing_meets_says_what_it_would_take():
    case = _case()
    with pytest.raises(ValueError, match="allow so many days, or train on fewer tokens") as refused:
        cluster_efficiency.require_in_time(case, 1.0)
    days = float(str(refused.value).split("the soonest is ")[1].split(" days")[0])
    cluster_efficiency.require_in_time(case, days)


def test_a_cluster_too_small_for_the_model_names_the_fewest_chips_that_hold_it():
    with pytest.raises(ValueError, match="the fewest on which one does are 16"):
        cluster_efficiency.require_fit(MODEL, CHIP, 8, FREE)
    cluster_efficiency.require_fit(MODEL, CHIP, 16, FREE)


def test_a_batch_too_small_for_the_cluster_names_the_most_chips_it_keeps_busy():
    with pytest.raises(ValueError, match="the most that such a batch keeps busy are"):
        cluster_efficiency.require_fit(MODEL, CHIP, 65536, "1M")


def test_a_checkpoint_rarer_than_failures_is_refused_with_the_best_interval():
    with pytest.raises(ValueError, match=r"write one every .* minutes, the best"):
        cluster_efficiency.require_checkpoints(65536, (None,) * 3, 120.0)
    cluster_efficiency.require_checkpoints(65536, (None,) * 3, 0.0)


def test_a_job_that_keeps_nothing_names_the_most_chips_that_keep_more():
    with pytest.raises(ValueError, match="chips keep more"):
        cluster_efficiency.require_checkpoints(65536, (500.0, 1800.0, 7200.0), 0.0)
