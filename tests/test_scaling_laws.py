"""Scaling laws: the fit reproduces the published replication, optima are minima, bad input is
refused.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, transformer
from scaleright import scaling_laws as sl
from scaleright.scaling_laws.fit import STARTS, _logs, _objective, _resampled, _residuals, _start

REPLICATION = sl.published("Besiroglu 2024")


@pytest.fixture(scope="module")
def law():
    return sl.fit(sl.points())


@pytest.fixture(scope="module")
def draws(law):
    return sl.bootstrap(sl.points(), law, 400)


def test_the_fit_is_the_published_replication_within_a_tenth_of_its_standard_errors(law):
    rows = catalog.table("scaling_laws").set_index(["law", "quantity"]).loc["Besiroglu 2024"]
    for name in ("E", "A", "B", "alpha", "beta", "size_exponent"):
        assert abs(getattr(law, name) - rows.value[name]) < 0.1 * rows.standard_error[name]


def test_the_fit_is_no_worse_than_the_published_replication(law):
    logs, weights = _logs(sl.points()), np.ones(240)
    ours, theirs, original = (
        _objective(_start(x), logs, weights)[0]
        for x in (law, REPLICATION, sl.published("Hoffmann 2022, approach 3"))
    )
    assert ours <= theirs < 1.006 * ours < 1.2 * ours < original


def centered_search(start, logs, weights):
    """L-BFGS from a start, in logarithms less their means, where it converges in tens of steps; the
    least objective.
    """
    from scipy.optimize import minimize

    middle = np.array([*logs[:2].mean(axis=1), 0.0])
    shifted = np.array([*(start[:2] - start[3:] * middle[:2]), *start[2:]])
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500}
    return minimize(
        _objective,
        shifted,
        (logs - middle[:, None], weights),
        jac=True,
        method="L-BFGS-B",
        options=options,
    ).fun


def test_no_start_of_the_grid_leads_lower(law):
    """Ten starts drawn from the 4,500, each followed to its end."""
    logs, weights = _logs(sl.points()), np.ones(240)
    drawn = np.random.default_rng(1).choice(STARTS.shape[1], 10, replace=False)
    least = min(centered_search(start, logs, weights) for start in STARTS[:, drawn].T)
    assert _objective(_start(law), logs, weights)[0] == pytest.approx(least, rel=1e-5)


def test_the_gradient_is_that_of_the_objective():
    from scipy.optimize import check_grad

    logs, weights = _logs(sl.points()), np.ones(240)
    at = np.array([6.0, 7.5, 0.6, 0.34, 0.36])
    assert check_grad(*(lambda x, i=i: _objective(x, logs, weights)[i] for i in (0, 1)), at) < 1e-4


def test_many_fits_in_one_broadcast_are_each_of_them_alone():
    logs = _logs(sl.points())
    many = np.random.default_rng(0).uniform(0.1, 2.0, (5, 7))
    together = _residuals(many[..., None], logs)
    for k in range(7):
        alone = _residuals(many[:, k, None], logs)
        assert np.array_equal(together[0][k], alone[0])
        assert np.array_equal(together[1][:, k], alone[1])


def test_the_bootstrap_spreads_as_published(draws):
    """Its 400 draws know a standard deviation to 4 %; the paper prints some to one digit."""
    rows = catalog.table("scaling_laws").set_index(["law", "quantity"]).loc["Besiroglu 2024"]
    for name, tolerance in (
        ("E", 0.2),
        ("A", 0.2),
        ("B", 0.2),
        ("alpha", 0.3),
        ("beta", 0.2),
        ("size_exponent", 0.15),
    ):
        assert getattr(draws, name).std() == pytest.approx(rows.standard_error[name], rel=tolerance)


def test_the_bootstrap_finds_what_l_bfgs_finds(draws):
    logs, weights = _logs(sl.points()), _resampled(240, 400)
    for k in range(0, 400, 80):
        start = _start(sl.Law(**{name: value[k] for name, value in vars(draws).items()}))
        assert _objective(start, logs, weights[k])[0] == pytest.approx(
            centered_search(start, logs, weights[k]), rel=1e-3
        )


def test_the_published_interval_would_take_hundreds_of_thousands_of_runs(draws):
    original = (
        catalog.table("scaling_laws")
        .set_index(["law", "quantity"])
        .loc[("Hoffmann 2022, approach 3", "size_exponent")]
    )
    low, high = np.percentile(draws.size_exponent, [10, 90])
    needed = sl.runs_for_width(240.0, high - low, original.high - original.low)
    assert 4e5 < needed < 7e5
    stalled = sl.stalled_bootstrap(sl.points(), sl.published("Hoffmann 2022, approach 3"), 100)
    narrow = np.percentile(stalled.size_exponent, [10, 90])
    assert narrow[1] - narrow[0] < 0.005
    assert narrow[0] - 0.005 < original.low < original.high < narrow[1] + 0.005


def test_chinchilla_was_about_compute_optimal_and_gpt_3_was_not(law):
    budget = transformer.training_flop(70e9, 1.4e12)
    size = sl.compute_optimal_parameters(budget, **law.terms)
    assert 0.7 < size / 70e9 < 1.4
    gpt3 = sl.compute_optimal_parameters(transformer.training_flop(175e9, 300e9), **law.terms)
    assert gpt3 < 70e9


@pytest.mark.parametrize(
    "approach, sizes",
    [
        (1, {10e9: 1.23e22, 175e9: 3.85e24, 1e12: 1.27e26}),
        (2, {10e9: 1.32e22, 175e9: 4.54e24, 1e12: 1.59e26}),
    ],
)
def test_the_first_two_approaches_give_their_published_projections(approach, sizes):
    found = sl.figures(f"Hoffmann 2022, approach {approach}")
    for size, flop in sizes.items():
        assert sl.power_law_parameters(
            flop, found["parameters"], found["flop"], found["size_exponent"]
        ) == pytest.approx(size, rel=0.06)


@pytest.mark.parametrize(
    "size, flop", [(400e6, 2.21e19), (1e9, 1.62e20), (10e9, 2.46e22), (67e9, 1.71e24)]
)
def test_the_third_approach_gives_its_published_projections(size, flop):
    """Table A3, from the unrounded coefficients."""
    original = sl.published("Hoffmann 2022, approach 3")
    assert sl.compute_optimal_parameters(flop, **original.terms) == pytest.approx(size, rel=0.06)


def test_the_example_of_the_inference_aware_law():
    """13B against 7B with 2T tokens in service: 1.7e22 FLOP or 17 % saved."""
    given_, original = sl.figures("Sardana 2024"), sl.published("Hoffmann 2022, approach 3")
    size, served = given_["example_parameters"], given_["example_lifetime_tokens"]
    tokens = (
        original.beta * original.B / (original.alpha * original.A) * size**original.alpha
    ) ** (1 / original.beta)
    target = sl.loss(size, tokens, original.E, **original.terms)
    more = sl.tokens_for_loss(target, given_["example_smaller"], original.E, **original.terms)
    bill, less = (
        sl.lifetime(size, tokens, served).total,
        sl.lifetime(given_["example_smaller"], more, served).total,
    )
    assert bill - less == pytest.approx(given_["example_saved_flop"], rel=0.15)
    assert 1 - less / bill == pytest.approx(given_["example_saved_share"], abs=0.02)


# properties

budgets, served_tokens = st.floats(1e19, 1e27), st.floats(0, 1e16)


@given(flop=budgets, off=st.floats(0.2, 5.0))
def test_no_other_split_of_a_budget_has_a_lower_loss(flop, off):
    best = sl.compute_optimal_parameters(flop, **REPLICATION.terms)
    losses = [
        sl.loss(n, sl.tokens_for_compute(flop, n), REPLICATION.E, **REPLICATION.terms)
        for n in (best, best * off)
    ]
    assert losses[0] <= losses[1] * (1 + 1e-12)


@given(loss=st.floats(1.85, 3.0), served=served_tokens, off=st.floats(0.2, 5.0))
def test_no_other_model_of_a_loss_costs_less_over_its_life(loss, served, off):
    size, tokens = sl.cheapest_for_life(loss, served, REPLICATION)
    assert sl.loss(size, tokens, REPLICATION.E, **REPLICATION.terms) == pytest.approx(
        loss, rel=1e-9
    )
    other = sl.tokens_for_loss(loss, size * off, REPLICATION.E, **REPLICATION.terms)
    bill = sl.lifetime(size, tokens, 3 * served).total
    assert other == float("inf") or bill <= sl.lifetime(size * off, other, 3 * served).total * (
        1 + 1e-9
    )


@given(loss=st.floats(1.85, 3.0), served=st.floats(1e9, 1e15))
def test_the_more_a_model_serves_the_smaller_and_longer_trained_it_should_be(loss, served):
    (size, tokens), (smaller, longer) = (
        sl.cheapest_for_life(loss, s, REPLICATION) for s in (served, 2 * served)
    )
    assert smaller < size and longer > tokens


@given(loss=st.floats(1.85, 3.0), served=st.floats(1e9, 1e15))
def test_a_plan_implies_the_service_it_was_made_for(loss, served):
    size, tokens = sl.cheapest_for_life(loss, sl.equivalent_tokens(served, 2.0), REPLICATION)
    assert sl.implied_lifetime_tokens(
        size, tokens, **REPLICATION.terms, price_ratio=2.0
    ) == pytest.approx(served, rel=1e-5, abs=1e-4 * tokens)


@given(flop=budgets)
def test_the_tokens_of_a_compute_optimal_size_are_those_of_its_compute(flop):
    size = sl.compute_optimal_parameters(flop, **REPLICATION.terms)
    assert sl.compute_optimal_tokens(size, **REPLICATION.terms) == pytest.approx(
        sl.tokens_for_compute(flop, size), rel=1e-9
    )


@given(flop=budgets)
def test_a_compute_optimal_model_is_the_cheapest_of_its_loss_without_service(flop):
    size = sl.compute_optimal_parameters(flop, **REPLICATION.terms)
    tokens = sl.tokens_for_compute(flop, size)
    reached = sl.loss(size, tokens, REPLICATION.E, **REPLICATION.terms)
    assert sl.cheapest_for_life(reached, 0.0, REPLICATION) == pytest.approx(
        (size, tokens), rel=1e-6
    )


@given(tokens=st.floats(1e9, 1e13), epochs=st.floats(1.0, 100.0), decay=st.floats(1.0, 50.0))
def test_repeats_are_worth_less_than_fresh_tokens_and_more_than_nothing(tokens, epochs, decay):
    worth = sl.effective(tokens * epochs, tokens, decay)
    assert tokens * (1 - 1e-12) <= worth <= tokens * epochs * (1 + 1e-12)
    assert worth <= tokens * (1 + decay) * (1 + 1e-12)


def test_four_epochs_are_nearly_as_good_as_fresh_data_and_forty_are_not():
    """The findings that the paper's abstract states."""
    decay = sl.figures("Muennighoff 2023")["data_decay"]
    assert sl.effective(4e9, 1e9, decay) / 4e9 > 0.9 and sl.effective(40e9, 1e9, decay) / 40e9 < 0.4


@pytest.mark.parametrize("unique", [1e9, 1e10, 1e13])
def test_the_data_constrained_model_is_the_minimum_of_its_grid_and_of_plain_law_where_data_abound(
    unique,
):
    law, decays = (
        sl.published("Muennighoff 2023"),
        {k: sl.figures("Muennighoff 2023")[k] for k in ("data_decay", "size_decay")},
    )
    size, tokens = sl.data_constrained(1e22, unique, law, **decays)
    assert transformer.training_flop(size, tokens) == pytest.approx(1e22)
    if unique == 1e13:
        assert size == pytest.approx(sl.compute_optimal_parameters(1e22, **law.terms), rel=0.01)


def test_the_stated_range_covers_nine_draws_in_ten(draws, law):
    spread = sl.spread(draws)
    for flop in (1e20, 1e22, 1e24, 1e26):
        ratios = sl.compute_optimal_parameters(flop, **draws.terms) / sl.compute_optimal_parameters(
            flop, **law.terms
        )
        factor = sl.range_factor(flop, **spread)
        assert 0.84 < ((ratios > 1 / factor) & (ratios < factor)).mean() < 0.96


# bad input


@pytest.mark.parametrize(
    "call, words",
    [
        (
            lambda: sl.cheapest_for_life(1.5, 0.0, REPLICATION),
            ("loss = 1.5", "above the law's floor of 1.817"),
        ),
        (lambda: sl.bootstrap(sl.points(), REPLICATION, 0), ("draws = 0", "2 or more")),
        (
            lambda: sl.fit(sl.points().drop(columns="loss")),
            ("no column 'loss'", "parameters, tokens, loss"),
        ),
        (lambda: sl.fit(sl.points().assign(tokens=0.0)), ("tokens = 0", "above 0")),
        (lambda: sl.fit(sl.points().assign(tokens=np.inf)), ("tokens = inf", "finite")),
        (lambda: sl.fit(sl.points().iloc[[0] * 9]), ("1 that differ", "6 or more")),
        (lambda: sl.fit(sl.points().head(5)), ("5 that differ cannot settle", "6 or more")),
        (lambda: sl.bootstrap(sl.points(), REPLICATION, 1), ("draws = 1", "2 or more")),
    ],
)
def test_a_value_out_of_its_domain_is_refused(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert all(word in str(refused.value) for word in words)


def test_an_unknown_law_is_refused_with_the_nearest():
    with pytest.raises(LookupError, match="Besiroglu 2024"):
        sl.published("Besiroglu 2023")
    with pytest.raises(LookupError, match="figure of Kaplan 2020"):
        sl.published("Kaplan 2020")


# the importer


def _raw(folder, text):
    (folder / "epoch").mkdir()
    (folder / "epoch/chinchilla_svg_extracted_data.csv").write_text(
        "x,y,color,Model Size,Training FLOP,hex_color,loss\n" + text
    )
    return folder


def test_the_five_runs_with_the_fewest_tokens_a_parameter_are_marked(tmp_path):
    from refresh import chinchilla

    rows = list(
        chinchilla.rows(
            _raw(tmp_path, "".join(f"0,0,#fff,{n}e9,6e20,#fff,2.{n}\n" for n in range(1, 9)))
        )
    )
    assert [row["outlier"] for row in rows] == [False] * 3 + [True] * 5 and rows[0]["run"] == "001"


@pytest.mark.parametrize(
    "bad, words",
    [
        ("0,0,#fff,-1e9,6e20,#fff,2.5\n", "parameters must be above 0"),
        ("0,0,#fff,1e9,6e20,#fff,2.5\n" * 2, "given twice"),
        ("0,0,#fff,1e9,x,#fff,2.5\n", "not a number"),
    ],
)
def test_raw_runs_that_make_no_sense_are_refused(tmp_path, bad, words):
    from refresh import chinchilla
    from refresh.tables import RefreshError

    with pytest.raises(RefreshError, match=words):
        list(chinchilla.rows(_raw(tmp_path, bad)))


@pytest.mark.parametrize("size, lifetime", [(60e9, 1e13), (5e9, 1e12), (60e9, 1e11)])
def test_how_sure_the_fit_is_of_the_tokens_of_a_smaller_model(law, draws, size, lifetime):
    """To first order, against the tokens that each resampled fit asks for."""
    best = sl.Model(size, sl.compute_optimal_tokens(size, **law.terms))
    loss = sl.loss(*best, law.E, **law.terms)
    smaller = sl.cheapest_for_life(loss, sl.equivalent_tokens(lifetime, 3.0), law)
    of_each = sl.loss(*best, law.E, **draws.terms)
    asked = sl.tokens_for_loss(of_each, smaller.size, law.E, **draws.terms)
    low, high = np.quantile(np.log(asked), [0.05, 0.95])
    found = sl.tokens_doubt(best, smaller, law, draws)
    assert found == pytest.approx((high - low) / (2 * 1.645), rel=0.25)
