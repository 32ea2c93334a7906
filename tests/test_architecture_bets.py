"""A bet on an architecture: regret, the odds at which it flips, the branches by computed money, and
what MLPerf says of S4's thesis.
"""

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import market, mlperf
from scaleright.chapters.architecture_bets import model as ab
from scaleright.chapters.architecture_bets.bets import Bets, bet_or_rival
from scaleright.chapters.architecture_bets.evidence import (
    Served,
    explained_gains,
    gains_by_metric,
    pays,
    per_metric,
    rack_summary,
    thesis,
    thresholds,
    times_off_by,
)
from scaleright.chapters.architecture_bets.model import (
    chances,
    expected_cost,
    regret_usd,
    switch_probability,
    worst_cost,
)
from scaleright.decisions.scale_up import domain, resources
from scaleright.inference.lengths import Load
from scaleright.press.texts import declared
from scaleright.quantity import evaluate
from scaleright.quantity import given as quantity
from scaleright.quantity.graph import parameter

odds = st.floats(0.0, 1.0)
price = st.floats(0.1, 100.0)
BETS = pd.DataFrame(
    {"dense": [1.3, 1.0, 1.6], "mixture": [1.0, 1.9, 1.5], "images": [1.2, 1.0, 1.0]},
    index=["GB300", "B300", "H200 SXM"],
)


def bets_at(probability: float, images: float, ratio: float, costs: pd.DataFrame = BETS) -> Bets:
    """The bets on chips of these costs by kind of model."""
    case = {"mixture_probability": probability, "image_share": images, "committed_ratio": ratio}
    expected, worst = (
        {name: cost(probability, images, *costs.loc[name]) for name in costs.index}
        for cost in (expected_cost, worst_cost)
    )
    hours = {name: SimpleNamespace(usd=1.0) for name in costs.index}
    return Bets({}, hours, costs.to_dict(), expected, worst, SimpleNamespace(**case))


def value(of):
    return getattr(of, "value", of)


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
        # dense is likelier, yet the rack loses less when it is wrong
        (0.4, 0.0, 0.6, "GB300", "eight-chip server", False),
        # whoever draws images does not care what writes text
        (0.6, 0.9, 0.6, "B300", "NVL72", False),
        # without a discount nobody commits
        (0.3, 0.0, 1.0, "stay flexible", "eight-chip server", False),
    ],
)
def test_each_branch_follows_the_money_whatever_the_rule_says(
    probability, images, ratio, what, rule, agrees
):
    found = bets_at(probability, images, ratio)
    best, cost = found.best
    taken = "stay flexible" if value(found.flexible) else best.value
    assert (taken, value(found.rule), bool(value(found.agrees))) == (what, rule, agrees)
    assert cost.value == pytest.approx(min(found.expected.values()))
    assert what == (best.value if ratio * cost.value <= 1 else "stay flexible")


def test_the_least_worst_regret_need_not_be_the_best_bet():
    found = bets_at(0.05, 0.0, 0.6)
    worst = found.at_worst
    assert found.best[0].value == "B300" and min(worst, key=worst.get) == "GB300"
    assert worst["GB300"] == pytest.approx(1.3)
    assert value(found.switch("B300", "GB300")) == pytest.approx(0.25)


def test_a_chip_that_was_not_measured_is_no_bet_where_that_kind_may_come():
    costs = BETS.assign(images=[1.0, math.inf, 2.0])
    assert bets_at(0.0, 0.0, 0.6, costs).best[0].value == "B300"
    assert bets_at(0.0, 0.1, 0.6, costs).best[0].value == "GB300"
    assert math.isnan(bets_at(0.0, 0.1, 0.6, costs.assign(images=math.inf)).best[1].value)


# what was measured


def test_an_hour_of_each_chip_is_that_of_the_market_and_one_that_nobody_sells_has_no_price():
    case = case_of(contract="spot", rival_usd_per_hour=5.0)
    for chip, paid in Bets.of(case).hours.items():
        listed = market.listed_hour(chip, "spot")
        usd = 5.0 if chip == "B300" else listed.usd if listed else math.nan
        assert paid.usd.value == pytest.approx(usd, rel=1e-6, nan_ok=True), chip
    found = Bets.of(case_of(bet="GB200"))
    assert not found.possible.value and "no recent price of GB200" in found.unpriced.value
    assert found.expected["GB200"].value == math.inf
    assert Bets.of(case_of(bet="GB200", bet_usd_per_hour=9.0)).possible.value


def test_gains_per_dollar_are_those_per_chip_at_the_rents_of_the_case():
    rows = gains_by_metric()
    of = per_metric(case_of(metric="dollar"))
    names = {parameter(given): column for given, column in of.along.items()}
    for row in rows[rows["metric"] == "dollar"].to_dict("records"):
        here = {name: row[column] for name, column in names.items()}
        for contract in ("on demand", "spot"):
            hours = [market.listed_hour(row[side], contract) for side in ("old", "new")]
            usd = [hour.usd if hour else math.nan for hour in hours]
            case = here | {"contract": contract, "scenario": row["scenario"]}
            gain, drawn = evaluate([of.gain, of.drawn], case)
            assert gain == pytest.approx(row["gain"] * usd[0] / usd[1], rel=1e-6, nan_ok=True)
            assert bool(drawn) == all(hours)


def test_the_chapter_offers_the_chips_that_are_served():
    options = {of.name: tuple(of.choices) for of in declared("architecture_bets")}
    assert options["bet"] == options["rival"] == ab.BETS


def test_per_chip_a_rack_gains_where_the_limit_is_tight_and_not_by_architecture_where_it_is_not():
    """S4: nearly tenfold on a mixture, four to five times on a dense model, in Offline and Server;
    per chip it is about one.
    """
    rows = thesis()
    loose, tight = rows[~rows["hurry"]], rows[rows["hurry"]]
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
    earned = pd.Series(pays(rows, 1.1))
    assert (earned.str.startswith("pays") == (rows["gain"] > 1.1)).all()
    assert rows["low"][earned == "pays, surely"].min() > 1.1
    summary = rack_summary().set_index(["hurry", "model"])
    assert summary["gains"].sum() == len(rows) and summary["against a single submission"].sum() >= 1
    assert summary.loc[("in a hurry", "dense"), "median"] == pytest.approx(
        tight[tight["kind"] == "dense"]["gain"].median()
    )


def test_the_verdict_on_thresholds_moves_with_the_premium():
    premium = quantity("premium", 1.1)
    cells = thresholds(premium)["at your rents"]
    for dearer in (0.1, 1.1, 9.0):
        assert evaluate(cells, {"premium": dearer}) == pays(thesis(), dearer)


def test_of_racks_the_model_of_serving_is_nearer_than_a_datasheet():
    off = times_off_by(explained_gains(Load(1500, 500)))
    assert ((off > 1.1) & (off < 1.5)).all()
    assert off["racks"] < off[["bandwidth", "none"]].min()


# a reader's case


def case_of(**moved) -> SimpleNamespace:
    """The parameters of the chapter as quantities."""
    now = {parameter.name: parameter.default for parameter in declared("architecture_bets")}
    now |= {"committed_ratio": 0.354} | moved
    return SimpleNamespace(**{name: quantity(name, value) for name, value in now.items()})


CASES = [
    {},
    {"scenario": "Interactive", "mixture_probability": 0.8, "image_share": 0.2},
    {"bet": "MI355X", "dense": "llama2-70b", "mixture": "gpt-oss-120b", "bet_usd_per_hour": 4.0},
    {"rival": "B200", "mixture_probability": 0.0, "image_share": 0.0, "bet_usd_per_hour": 30.0},
]


@pytest.mark.parametrize("moved", CASES)
def test_the_best_bet_of_a_case_is_expected_to_cost_least(moved):
    case = case_of(**moved)
    found = Bets.of(case)
    odds = case.mixture_probability.value, case.image_share.value
    for chip, cost in found.expected.items():
        of = [kind[chip].value for kind in found.costs.values()]
        assert cost.value == pytest.approx(expected_cost(*odds, *of))
    best, cost = found.best
    assert found.expected[best.value].value == cost.value
    assert cost.value == min(of.value for of in found.expected.values())


@pytest.mark.parametrize("moved", CASES)
def test_two_chips_compare_as_mlperf_does(moved):
    case = case_of(**moved)
    for kind in ("dense", "mixture"):
        asked = case.bet.value, case.rival.value, getattr(case, kind).value, case.scenario.value
        common, known = Bets.of(case).common_rounds[kind], mlperf.gain(*asked)
        assert common.in_round.value == known["round"]
        ends = [getattr(common, end).value for end in ("gain", "low", "high")]
        assert ends == pytest.approx([known[of] for of in ("value", "low", "high")], rel=1e-6)
        rows = mlperf.summary()
        rows = rows[[*map(asked[2:].__eq__, zip(rows["benchmark"], rows["scenario"], strict=True))]]
        rows = rows.set_index(["round", "accuracy_target", "accelerator"])["best"].unstack()
        rates = rows.dropna(subset=[*asked[:2]]).sort_index().iloc[-1].fillna(0.0)
        assert {chip: rate.value for chip, rate in common.rates.items()} == pytest.approx(
            {chip: rates.get(chip, 0.0) for chip in common.rates}, rel=1e-6
        )


def test_two_chips_that_do_not_meet_make_no_bet_and_no_number():
    found = Bets.of(case_of(bet="H100 SXM", rival="B300", dense="gptj"))
    assert not found.possible.value
    assert math.isnan(found.best[1].value)
    assert found.common_rounds["dense"].in_round.value == "none"
    assert found.table()["expected"].map(lambda cost: math.isnan(cost.value)).all()
    assert not Bets.of(case_of(rival="GB300")).possible.value


def test_the_best_bet_at_an_end_of_the_gains_is_that_of_the_gain_moved_there():
    case = case_of()
    low, best, high = (Bets.of(case, end) for end in ("low", "gain", "high"))
    costs = [found.expected["GB300"].value for found in (low, best, high)]
    assert costs[0] > costs[1] >= costs[2]
    assert low.expected["B300"].value < best.expected["B300"].value


def test_at_the_odds_of_a_switch_the_other_chip_costs_the_same_and_is_named():
    found = Bets.of(case_of())
    (row,) = [row for row in found.switches().itertuples() if row.chip == "B300"]
    even = row[2].value
    costs = evaluate(
        [found.expected["GB300"], found.expected["B300"]], {"mixture_probability": even}
    )
    assert costs[0] == pytest.approx(costs[1]) and row[3].value == found.cheaper.above.value


# what the model of serving says


def test_a_rack_leads_on_mixtures_in_a_hurry_and_its_chips_alone_on_dense_models():
    case, limit = case_of(), quantity("limit_ms", 20.0)
    of = {kind: Served.of(kind, case, limit / 1e3) for kind in ("mixture", "dense")}
    server_over_rack = {
        kind: [evaluate([found.share], {"limit_ms": ms})[0] for ms in (20.0, 200.0)]
        for kind, found in of.items()
    }
    in_a_hurry, at_leisure = server_over_rack["mixture"]
    assert in_a_hurry < at_leisure < 1 and in_a_hurry < min(server_over_rack["dense"])
    assert all(share > 0.85 for share in server_over_rack["dense"])
    assert resources("GB300", "B300")["domain"] == domain("GB300") / domain("B300") == 9.0


def test_lengths_for_which_a_model_was_not_made_are_not_served():
    case, limit = case_of(dense="gptj", input_tokens=2000), quantity("limit_ms", 20.0)
    found = Served.of("dense", case, limit / 1e3)
    assert math.isnan(found.share.value) and math.isnan(found.tokens_per_s("bet").value)
    (within,) = evaluate([found.share], {"input_tokens": 1500})
    assert within > 0


def test_how_sure_the_bet_is_against_its_rival_follows_odds_and_gains():
    """A kind of model that cannot come is no doubt; the loss is in dollars of the work."""
    sure = bet_or_rival(Bets.of(case_of()))
    spreads = {name.split()[2]: of for name, of in sure.spreads.items()}
    asked = [sure.cost, sure.other, sure.probability, sure.expected_loss, *spreads.values()]

    def at_case(**case):
        cost, other, likely, loss, *rest = evaluate(asked, case)
        return cost, other, likely, loss, dict(zip(spreads, rest, strict=True))

    cost, other, likely, loss, every = at_case()
    assert 0 < likely < 1 and 0 < loss < min(cost, other) and all(of > 0 for of in every.values())
    assert (likely > 0.5) == (cost < other)
    for odds, none in ((1.0, "dense"), (0.0, "mixtures")):
        rest = at_case(mixture_probability=odds, image_share=0.0)[-1]
        assert rest[none] == rest["images"] == 0 < max(rest.values())
    assert at_case(spend_usd_per_year=2e7)[3] == pytest.approx(2 * loss)
    dear = at_case(bet_usd_per_hour=100.0)
    assert dear[2] < 1e-3 and dear[3] < loss
    nowhere = evaluate(asked[2:4], {"bet": "GB300", "rival": "GB300"})
    assert all(math.isnan(of) for of in nowhere)
