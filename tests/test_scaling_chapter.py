"""What the chapter on scaling laws says: its case by hand, runs that no fit had seen, models as
they were trained.
"""

import numpy as np
import pytest
from chapter_cells import cells
from scaleright import catalog, transformer
from scaleright import scaling_laws as sl
from scaleright.chapters.scaling_laws.model import FIT, PACE
from scaleright.quantity import evaluate, given

REPLICATION = sl.published("Besiroglu 2024")


@pytest.fixture(scope="module")
def law():
    return sl.fit(sl.points())


def test_a_million_dollars_by_hand(law):
    """333 ZFLOP: 1e6 USD at 4.275 an hour are 8.4e8 s of an H100 at 40 % of 989.4 TFLOP/s."""
    flop = 1e6 / 4.275 * 3600 * 0.4 * 989.4e12
    size = sl.compute_optimal_parameters(flop, **law.terms)
    tokens = sl.tokens_for_compute(flop, size)
    assert (flop, size, tokens) == pytest.approx((333e21, 55.2e9, 1.01e12), rel=5e-3)
    smaller, longer = sl.cheapest_for_life(
        sl.loss(size, tokens, law.E, **law.terms), sl.equivalent_tokens(1e13, 0.4 / 0.3), law
    )
    assert (smaller, longer) == pytest.approx((22.8e9, 3.71e12), rel=5e-3)
    bill, less = (
        sl.lifetime(n, d, 1e13, 1.0, 4 / 3).total for n, d in ((size, tokens), (smaller, longer))
    )
    assert 1 - less / bill == pytest.approx(0.38, abs=0.005)


def test_larger_runs_are_predicted_from_smaller_ones():
    found = sl.extrapolated(sl.points())
    assert (found.small, found.large) == (177, 63)
    assert found.median < 0.012 and found.most < 0.05 and abs(found.bias) < 0.01


def test_the_evidence_is_that_of_the_same_law(law):
    runs, drawn = sl.points(), sl.bootstrap(sl.points(), law, 20)
    found = sl.coefficients(law, drawn).set_index("figure")
    assert found["here"]["E"] == law.E and found["off by [standard errors]"].max() < 0.1
    assert sl.fitted_runs(law, runs)["missed"].abs().median() < 0.005
    budgets = np.array([1e21, 1e24])
    ranges = sl.size_ranges(law, drawn, budgets)
    assert (ranges["from"] < ranges["parameters"]).all()
    assert (ranges["parameters"] < ranges["to"]).all()
    by_law = sl.sizes_by_law(law, budgets).set_index(["law", "flop"])["size"]
    assert by_law["this book"].to_numpy() == pytest.approx(ranges["parameters"], rel=1e-3)
    assert by_law["Kaplan 2020", 1e24] > 3 * by_law["approach 3", 1e24]


def test_scarce_data_are_repeated_before_the_model_grows():
    found = sl.scarce_data(3e23)
    assert found["passes"].is_monotonic_increasing and found["loss"].is_monotonic_increasing
    assert found["parameters"].is_monotonic_decreasing


def test_the_cheapest_model_follows_quantities():
    loss, served = given("loss", 2.0), given("served", 1e13)
    found = sl.cheapest_for_life(loss, served, REPLICATION)
    there = {"loss": 2.1, "served": 3e12}
    # figures of a graph have seven digits, which its powers magnify
    assert evaluate(found, there) == pytest.approx(
        sl.cheapest_for_life(*there.values(), REPLICATION), rel=1e-5
    )
    with pytest.raises(ValueError, match="above the law's floor"):
        sl.cheapest_for_life(given("loss", 1.5), served, REPLICATION)


def test_models_of_the_table_have_shapes_and_sane_ratios():
    rows = catalog.table("training_tokens")
    ratios = [
        row.tokens / transformer.active_parameters(catalog.model(row.model)).total
        for row in rows.itertuples()
    ]
    assert len(rows) >= 30 and min(ratios) > 0.3 and max(ratios) < 1e5


def test_no_tokens_reach_a_loss_at_or_below_the_floor():
    assert sl.tokens_for_optimal_loss(
        REPLICATION.E - 0.1, REPLICATION.E, REPLICATION.B, REPLICATION.alpha, REPLICATION.beta
    ) == float("inf")


@pytest.fixture(scope="module")
def page():
    return cells("scaling_laws")


def test_the_smaller_model_is_as_sure_as_drawing_all_that_nobody_knows_says(page):
    """Against 4,000 draws of speed, load, rents and pace, and of the fit, of a model that is little
    used, so that the choice is open.
    """
    ends = page.life.ends()
    at = {"lifetime_tokens": 4e11}
    between = {name: evaluate([of.low, of.high], {}) for name, of in ends.items()}
    middle = {"utilization": page.case.utilization.value}
    generator, logs = np.random.default_rng(3), {}
    for name, (low, high) in between.items():
        best = middle.get(name, 1.0)
        logs[name] = generator.normal(np.log(best), np.log(high / low) / (2 * 1.645), 4000)
    speed, load, rent, pace = (
        np.exp(logs[name])
        for name in ("speed in practice", "utilization", "rents of the year ahead", PACE)
    )
    wanted = *page.life.best, page.smaller, page.train, page.serve
    wanted += page.sure.probability, page.sure.expected_loss
    *best, smaller, train, serve, said, lost = evaluate(wanted, at)
    draw = generator.integers(len(page.draws.alpha), size=4000)
    terms = {name: of[draw] for name, of in page.draws.terms.items()}
    law = page.law
    asked = sl.tokens_for_loss(sl.loss(*best, law.E, **terms), smaller, law.E, **terms)
    per_flop = train * pace, serve * rent / speed * middle["utilization"] / load
    less, bill = (sl.lifetime(n, d, 4e11, *per_flop).total for n, d in ((smaller, asked), best))
    assert 0.6 < said < 0.999
    assert said == pytest.approx(np.mean(less < bill), abs=0.06)
    assert lost == pytest.approx(np.mean(np.maximum(less - bill, 0)), rel=0.6)
    drawn = np.quantile(1 - less / bill, [0.05, 0.95])
    assert evaluate(page.sure.saved_between, at) == pytest.approx(drawn, abs=0.05)


def test_what_is_set_leaves_no_doubt(page):
    def spreads(**case):
        return dict(zip(page.sure.spreads, evaluate(page.sure.spreads.values(), case), strict=True))

    assert min(spreads().values()) > 0
    fixed = spreads(serving_mfu=0.3, rent_usd_per_hour=4.0, mfu=0.39)
    assert [name for name, of in fixed.items() if of > 0] == ["utilization", FIT]
    assert spreads(contract="reserved")["rents of the year ahead"] == 0


def test_the_smaller_model_pays_from_the_tokens_that_are_named(page):
    (even,) = evaluate([page.even], {})
    models = [evaluate(of, {}) for of in (page.life.cheapest, page.life.best)]
    prices = evaluate([page.train, page.serve], {})
    less, bill = (sl.lifetime(*model, even, *prices).total for model in models)
    assert less == pytest.approx(bill, rel=1e-4)


def test_unique_tokens_are_passed_over_four_times_at_most_by_a_smaller_model():
    """However long its life is; and fewer of them never make it smaller."""
    page = cells("scaling_laws")
    smaller, passes, freely = page.cheapest.size, page.repeats.passes, page.freely.size
    unique = {"unique_tokens": np.geomspace(1e9, 1e15, 25)}
    size, often, free, least = evaluate([smaller, passes, freely, page.best.tokens], unique)
    assert (np.diff(size) <= 0).all() and (size >= free * (1 - 1e-12)).all()
    held = 4.0 * unique["unique_tokens"] > least
    assert (often[held] <= 4.0 * (1 + 1e-12)).all()
    assert size[-1] == free and size[0] == pytest.approx(page.best.size.value)
    reached = sl.loss(page.cheapest.size, page.cheapest.tokens, page.law.E, **page.law.terms)
    same = np.broadcast_to(evaluate([page.loss], {})[0], size.shape)
    assert evaluate([reached], unique)[0] == pytest.approx(same, rel=1e-7)
