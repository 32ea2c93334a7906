"""A bet on an architecture: regret, the odds at which it flips, the branches by computed money, and
what MLPerf says of S4's thesis.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog, mlperf
from scaleright.costs.regret import chances, expected_cost, regret_usd, switch_probability
from scaleright.decisions import architecture_bets as ab
from scaleright.decisions.scale_up import chip_limits, decode_rate, domain, resources, share_of

odds = st.floats(0.0, 1.0)
price = st.floats(0.1, 100.0)
BETS = pd.DataFrame(
    {"dense": [1.3, 1.0, 1.6], "mixture": [1.0, 1.9, 1.5], "images": [1.2, 1.0, 1.0]},
    index=["GB300", "B300", "H200 SXM"],
)


@given(probability=odds, images=odds)
def test_chances_add_up_to_one(probability, images):
    assert chances(probability, images).total == pytest.approx(1.0)
    assert min(chances(probability, images).parts().values()) >= 0


@given(
    prices=st.lists(price, min_size=2, max_size=6),
    rates=st.lists(price, min_size=6, max_size=6),
    probability=odds,
    images=odds,
)
def test_nothing_beats_knowing_in_advance_and_the_cheapest_has_no_regret(
    prices, rates, probability, images
):
    turned = [(rates[shift:] + rates[:shift])[: len(prices)] for shift in range(3)]
    costs = [ab.relative_costs(prices, each) for each in turned]
    for of in costs:
        assert min(of) == 1.0 and regret_usd(1e6, min(of)) == 0.0
    for bet in zip(*costs, strict=True):
        assert expected_cost(probability, images, *bet) >= 1 - 1e-12
        assert min(regret_usd(1e6, cost) for cost in bet) >= 0


@given(costs=st.tuples(*[st.floats(0.5, 20.0)] * 6), images=st.floats(0.0, 0.9))
def test_at_the_odds_of_the_switch_both_bets_cost_the_same(costs, images):
    at = switch_probability(images, *costs)
    if 0 <= at <= 1:
        first, second = (expected_cost(at, images, *bet) for bet in (costs[:3], costs[3:]))
        assert first == pytest.approx(second, rel=1e-9)


def test_the_switch_is_one_regret_over_the_sum_of_two_and_infinite_where_odds_do_not_matter():
    assert switch_probability(0.0, *BETS.loc["GB300"], *BETS.loc["B300"]) == pytest.approx(
        0.3 / (0.3 + 0.9)
    )
    assert (
        switch_probability(0.2, 1.5, 1.0, 1.0, 2.5, 2.0, 1.0)
        == math.inf
        == switch_probability(1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 1.5)
    )


@pytest.mark.parametrize(
    "probability, images, ratio, what, rule, agrees",
    [
        (0.9, 0.0, 0.6, "GB300", "NVL72", True),
        (0.1, 0.0, 0.6, "B300", "eight-chip server", True),
        (
            0.4,
            0.0,
            0.6,
            "GB300",
            "eight-chip server",
            False,
        ),  # dense is likelier, yet the rack loses less when it is wrong
        (
            0.6,
            0.9,
            0.6,
            "B300",
            "NVL72",
            False,
        ),  # whoever draws images does not care what writes text
        (
            0.3,
            0.0,
            1.0,
            "stay flexible",
            "eight-chip server",
            False,
        ),  # without a discount nobody commits
    ],
)
def test_each_branch_follows_the_money_whatever_the_rule_says(
    probability, images, ratio, what, rule, agrees
):
    verdict = ab.architecture_bets(BETS, probability, images, ratio)
    mean = {name: expected_cost(probability, images, *BETS.loc[name]) for name in BETS.index}
    assert (verdict.what, verdict.rule, verdict.agrees) == (what, rule, agrees)
    assert {name: verdict.numbers[f"{name}, expected"][0] for name in mean} == pytest.approx(mean)
    best = min(mean, key=mean.get)
    assert what == (best if ratio * mean[best] <= 1 else "stay flexible")


def test_the_least_worst_regret_need_not_be_the_best_bet():
    verdict = ab.architecture_bets(BETS, 0.05, 0.0, 0.6)
    worst = {name: verdict.numbers[f"{name}, worst regret"][0] for name in BETS.index}
    assert (
        verdict.what == "B300"
        and min(worst, key=worst.get) == "GB300"
        and worst["GB300"] == pytest.approx(0.3)
    )
    assert "above 25 % odds of mixtures GB300 is cheaper" in verdict.reasons


def test_a_chip_that_was_not_measured_is_no_bet_where_that_kind_may_come():
    costs = BETS.assign(images=[1.0, ab.UNMEASURED, 2.0])
    assert ab.architecture_bets(costs, 0.0, 0.0, 0.6).what == "B300"
    assert ab.architecture_bets(costs, 0.0, 0.1, 0.6).what == "GB300"
    with pytest.raises(
        catalog.DataError, match="no chip is measured on dense language model and diffusion alike"
    ):
        ab.architecture_bets(costs.assign(images=ab.UNMEASURED), 0.0, 0.1)


# what was measured


def test_rates_are_of_one_round_and_give_the_gains_that_mlperf_gives():
    for bet, rival, benchmark, scenario in (
        ("GB300", "B300", "llama2-70b", "Server"),
        ("B200", "H200 SXM", "llama3.1-405b", "Offline"),
    ):
        rates, gain = (
            ab.matched_rates(bet, rival, benchmark, scenario),
            mlperf.gain(bet, rival, benchmark, scenario),
        )
        assert (
            rates[bet] / rates[rival] == pytest.approx(gain.value)
            and rates.name[0] == gain.rounds[-1]
        )


def test_what_does_not_meet_is_refused_with_what_does():
    with pytest.raises(
        LookupError, match=r"unknown accelerator in deepseek-r1 Server 'H200 SXM'; nearest: .*B200"
    ):
        ab.matched_rates("B200", "H200 SXM", "deepseek-r1", "Server")
    with pytest.raises(
        LookupError,
        match=r"B300 and H100 SXM meet in no round of llama2-70b Server; B300 meets .*B200, GB200",
    ):
        ab.matched_rates("B300", "H100 SXM", "llama2-70b", "Server")
    with pytest.raises(
        LookupError, match="unknown MLPerf benchmark 'deepseek'; nearest: deepseek-r1"
    ):
        ab.matched_rates("B300", "B200", "deepseek", "Server")


def test_every_chip_has_a_price_and_says_where_it_comes_from():
    rents = ab.rents()
    assert (
        set(rents.index) == {name for pair in ab.GENERATIONS for name in pair}
        and (rents["usd_per_hour"] > 0).all()
    )
    assert set(rents[rents["listings"] == 0].index) == set(ab.STAND_INS)
    usd = rents["usd_per_hour"]
    assert usd["GB200"] == pytest.approx(usd["B200"] * usd["GB300"] / usd["B300"])


def test_per_chip_a_rack_gains_where_the_limit_is_tight_and_not_by_architecture_where_it_is_not():
    """S4: nearly tenfold on a mixture, four to five times on a dense model, in Offline and Server;
    per chip it is about one.
    """
    rows = ab.thesis(1.1)
    loose, tight = rows[rows["scenario"] != "Interactive"], rows[rows["scenario"] == "Interactive"]
    assert loose["gain"].between(0.8, 1.7).all()
    assert (
        abs(
            loose[loose["kind"] == "mixture"]["gain"].median()
            - loose[loose["kind"] == "dense"]["gain"].median()
        )
        < 0.2
    )
    assert (
        tight[tight["kind"] == "mixture"]["gain"].min()
        > tight[tight["kind"] == "dense"]["gain"].max()
        > 1.1
    )
    assert (rows["pays"] == (rows["gain"] > 1.1)).all() and rows[rows["sure"] & rows["pays"]][
        "low"
    ].min() > 1.1


# what a roofline says

DEEPSEEK, LLAMA = catalog.model("DeepSeek-V3"), catalog.model("Llama-2-70B")


@given(limit=st.floats(0.001, 1.0), more=st.floats(1.0, 10.0))
def test_more_time_for_a_token_never_costs_speed_and_a_larger_domain_never_does(limit, more):
    server, rack = chip_limits("B300"), chip_limits("GB300")
    for shape in (DEEPSEEK, LLAMA):
        tight, loose = (decode_rate(shape, rack, 4096, limit * times) for times in (1.0, more))
        assert tight <= loose * (1 + 1e-3)  # whole sequences
        assert decode_rate(shape, server | {"chips": 72.0}, 4096, limit) >= decode_rate(
            shape, server, 4096, limit
        ) * (1 - 1e-3)


def test_a_small_domain_falls_behind_on_much_weight_and_little_time():
    server, rack = chip_limits("B300"), chip_limits("GB300")
    shares = share_of(DEEPSEEK, server, rack, 4096, np.array([0.005, 0.02, 0.1]))
    assert shares[0] == 0.0 < shares[1] < shares[2] < 1.0
    assert (
        share_of(LLAMA, server, rack, 4096, 0.02) > shares[1]
    )  # 70 billion weights instead of 671
    assert resources("GB300", "B300")["domain"] == domain("GB300") / domain("B300") == 9.0
