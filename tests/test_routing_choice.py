"""Tiers of models as a reader chooses them: prices, rates, the best way, what is refused, and what
is said where nothing is good enough.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from cases import defaults, quantities
from chapter_cells import computed
from scaleright.chapters.model_routing import evidence
from scaleright.chapters.model_routing.model import best_way, model_names, shortfall
from scaleright.costs.tokens import request_usd
from scaleright.decisions import routing_tiers as of_tiers
from scaleright.decisions.routing import Check, Tier, Traffic, Way, frontier
from scaleright.decisions.routing_tiers import LEVELS, NAMES, STEPS, Tiers, success_rates, ways_of
from scaleright.market import api_price, asked_tokens, closed_models, hour
from scaleright.quantity import evaluate, given
from scaleright.rules import RULES

SMALL, LARGE = "Llama-3.1-8B", "gpt-4.1"
RATES = [[0.73, 0.48, 0.32], [0.86, 0.69, 0.51], [0.9, 0.82, 0.66]]
TRAFFIC = Traffic([0.6, 0.3, 0.1], RATES, 0.3)
TIERS = [Tier(0.0004, 5.5), Tier(0.0018, 8.8), Tier(0.008, 8.8)]
CHECK, ROUTER = Check(0.8, 0.2, 0.0004, 0.5), Check(0.55, 0.45, 0.0, 0.0)
WAYS = ways_of(TRAFFIC, TIERS, CHECK, ROUTER)


def case_of(**more) -> SimpleNamespace:
    """A case of quantities, as the chapter's."""
    usual = dict(easy_share=0.6, hard_share=0.25, caught=0.8, false_alarm=0.2, peak_to_mean=1.4)
    usual |= dict(zip(NAMES, (SMALL, "Llama-3.3-70B", LARGE), strict=True))
    usual |= {f"{tier}_{of}": it for tier in NAMES for of, it in (("on", "API"), ("pace", 60.0))}
    usual |= {"accelerator": "H100 SXM", "contract": "reserved"}
    return quantities(defaults("model_routing") | usual | more)


@pytest.fixture(scope="module")
def tables():
    return Tiers.of([SMALL, "Llama-3.3-70B", LARGE], ["H100 SXM"])


def test_scores_are_shares_of_every_level_and_fall_with_difficulty():
    for rates in success_rates().values():
        assert [*rates] == [*LEVELS]
        assert 1 > rates["easy"] > rates["medium"] > rates["hard"] > 0


def test_every_scored_model_has_a_price():
    for model in success_rates():
        asked = asked_tokens(model)
        assert 0 < asked["input"] < asked["output"] or model.startswith("Llama"), model


def test_an_open_model_costs_what_its_hosts_ask_at_the_median():
    price = api_price(SMALL)
    assert (asked_tokens(SMALL)["input"], asked_tokens(SMALL)["output"]) == (
        price.input.best,
        price.output.best,
    )
    assert SMALL not in closed_models()


def test_nobody_lists_a_model_that_there_is_not():
    with pytest.raises(LookupError, match="Llama"):
        asked_tokens("Llama-9.9-8B")


def test_a_tier_at_the_api_costs_its_tokens(tables):
    served = tables.served(case_of(), "large")
    asked = asked_tokens(LARGE)
    prices = asked["input"], asked["output"], asked["input"]
    assert served.tier.usd.value == pytest.approx(request_usd(2000, 500, 0, *prices).total)
    assert served.tier.seconds.value == pytest.approx(0.5 + 500 / 60)
    assert (served.there.value, served.why.value) == (True, "")


def test_a_rented_tier_costs_its_seconds_of_the_one_price_of_an_hour(tables):
    case = case_of(small_on="rented")
    served = tables.served(case, "small")
    double = tables.served(case_of(small_on="rented", utilization=0.2), "small")
    assert double.tier.usd.value == pytest.approx(2 * served.tier.usd.value)
    assert tables.hour(case).usd.value == hour("H100 SXM", "reserved").usd
    assert served.there.value


@pytest.mark.parametrize(
    "more, said",
    [
        ({"large_on": "rented"}, "gpt-4.1: its maker alone serves it, so it cannot be rented"),
        ({"small_on": "rented", "small_pace": 5000.0}, "Llama-3.1-8B: too slow for this pace"),
        ({"small_on": "rented", "contract": "one year"}, SMALL),
    ],
)
def test_a_tier_that_is_not_served_says_why(tables, more, said):
    case = case_of(**more)
    tier = "large" if "large_on" in more else "small"
    served = tables.served(case, tier)
    if served.there.value:  # the contract may be listed one day
        return
    assert served.why.value.startswith(said)


def test_own_rates_are_met_over_the_mix_and_keep_the_order_of_levels(tables):
    case = case_of(small_right=0.8)
    traffic = tables.traffic(case)
    assert traffic.right(0).value == pytest.approx(0.8)
    easy, medium, hard = (rate.value for rate in traffic.rates[0])
    assert easy > medium > hard
    published = tables.traffic(case_of())
    assert [rate.value for rate in published.rates[0]] == [*success_rates()[SMALL].values()]


def test_there_are_fifteen_ways_and_each_has_words():
    assert len(WAYS) == 3 + 3 * len(STEPS)
    case = SimpleNamespace(small="A", medium="B", large="C")
    words = {name: model_names(name, case) for name in WAYS}
    assert "none" not in words.values()
    assert len({*words.values()}) == len(words)
    assert words["all, one by one"] == "A first, and B and then C where the check flags its answer"


def test_the_best_way_costs_least_of_those_that_are_good_enough():
    error = given("error", 0.05)
    best = best_way(WAYS, error, 0.0, 60.0)
    totals = {name: way.total_usd(0.05) for name, way in WAYS.items()}
    assert best.name.value == min(totals, key=totals.get)
    assert best.total_usd.value == pytest.approx(min(totals.values()))
    assert best.right.value == pytest.approx(WAYS[best.name.value].right)
    quick = best_way(WAYS, error, 0.0, 9.0)
    assert WAYS[quick.name.value].late_s <= 9.0
    right = best_way(WAYS, error, 0.87, 60.0)
    assert right.name.value == "medium, then large"


@pytest.mark.parametrize(
    "cost, name", [(0.0001, "small alone"), (0.05, "all, one by one"), (1.0, "medium, then large")]
)
def test_what_an_error_costs_decides(cost, name):
    assert best_way(WAYS, given("error", cost), 0.0, 60.0).name.value == name


def test_where_none_is_good_enough_it_says_which_limit_breaks_and_what_can_be_had():
    error = given("error", 0.05)
    assert best_way(WAYS, error, 0.99, 60.0).name.value == ""
    short = shortfall(WAYS, given("least", 0.99))
    assert short.too_wrong.value
    assert short.rightest.value == "medium, then large"
    assert short.right.value == pytest.approx(max(way.right for way in WAYS.values()))
    assert best_way(WAYS, error, 0.87, 5.0).name.value == ""
    slow = shortfall(WAYS, given("least", 0.87))
    assert not slow.too_wrong.value
    assert (slow.quickest.value, slow.late_s.value) == ("medium + large", pytest.approx(9.3))


def test_nothing_on_the_frontier_is_beaten_and_all_else_is():
    for timed in (True, False):
        kept = frontier(WAYS, timed)
        for name, way in WAYS.items():
            beaten = any(
                other.usd <= way.usd
                and other.right >= way.right
                and (not timed or other.seconds <= way.seconds)
                and (other.usd, other.right) != (way.usd, way.right)
                for of, other in WAYS.items()
                if of != name
            )
            assert kept[name] != beaten, name
    assert sum(frontier(WAYS, timed=False).values()) < len(WAYS)


def test_equal_ways_beat_neither():
    way = Way(1.0, 0.9, 1.0, 1.0, (1.0,))
    assert frontier({"one": way, "other": way}) == {"one": True, "other": True}


CASES = {  # a column a case: the usual, a short wait, many right, cheap and dear errors
    "error_usd": np.array([0.05, 0.05, 0.05, 1e-4, 1.0]),
    "most_s": np.array([60.0, 9.0, 60.0, 60.0, 60.0]),
    "least_right": np.array([0.0, 0.0, 0.86, 0.0, 0.0]),
}


def test_the_number_its_range_and_its_probability_are_of_the_best_way():
    page = computed("model_routing", "doubts")
    best, of = page["best"], page["doubts"]
    total, cost, other, low, high, sure = evaluate(
        [1e3 * best.total_usd, of.choice.cost, of.choice.other, *of.total, of.choice.sureness],
        CASES,
    )
    assert np.minimum(cost, other) == pytest.approx(total)
    assert (low < total).all()
    assert (total < high).all()
    assert (sure >= 0.5).all()
    small, asked = page["served"]["small"], asked_tokens(SMALL)  # at its cheapest host
    median = (2000 * asked["input"] + 500 * asked["output"]) / 1e6
    assert high[3] - cost[3] > 1e3 * (median - small.tier.usd.value)  # another may have to answer


@pytest.mark.parametrize(
    "rule, values, said",
    [
        ("better_than_chance", (0.2, 0.2), "no better than chance"),
        (
            "rising",
            (SMALL, "Llama-3.3-70B", "Llama-3.1-405B", 0.6, 0.25, 0.0, 0.0, 0.0),
            "fall with size: of hard requests the medium tier gets 50.5 % right and the large",
        ),
        ("rising", (SMALL, "Llama-3.3-70B", LARGE, 0.6, 0.25, 0.9, 0.0, 0.0), "choose another"),
        (
            "tier_served",
            (LARGE, "rented", "H100 SXM", "reserved", 0.0, 30.0, 2000, 500, "unknown"),
            "its maker alone serves it",
        ),
        (
            "tier_served",
            (SMALL, "rented", "H100 SXM", "reserved", 0.0, 3000.0, 2000, 500, "unknown"),
            "no server of one node",
        ),
    ],
)
def test_what_cannot_be_is_refused(rule, values, said):
    with pytest.raises(ValueError, match=said):
        RULES[rule](*values)


def test_what_can_be_is_accepted():
    RULES["better_than_chance"](0.8, 0.2)
    RULES["rising"](SMALL, "Llama-3.3-70B", LARGE, 0.6, 0.25, 0.0, 0.0, 0.0)
    RULES["rising"](SMALL, "Llama-3.3-70B", LARGE, 1.0, 0.0, 0.7, 0.8, 0.9)
    RULES["tier_served"](LARGE, "API", "H100 SXM", "reserved", 0.0, 30.0, 2000, 500, "unknown")
    RULES["tier_served"](SMALL, "rented", "H100 SXM", "reserved", 0.0, 30.0, 2000, 500, "unknown")


def test_levels_add_up():
    assert sum(of_tiers.level_shares(0.3, 0.4)) == pytest.approx(1.0)


def test_a_published_router_is_read_back_from_its_own_point():
    found = evidence.routers()
    for row in found.itertuples():
        assert 0 < row.odds < 3
    coin = evidence.recovered(1.0, 0.6, 0.8, 0.3)
    assert coin.calls_at(0.8) == pytest.approx(0.8)
    assert coin.mean_gap == pytest.approx(0.5)


def test_predictions_of_routers_are_told_with_their_errors():
    found = evidence.judged()
    assert {name: of.rows for name, of in found.items()} == {
        "requests at the large model": 16,
        "mean share of the gap": 16,
        "saving": 4,
    }
    assert found["requests at the large model"].error < 0.03
    assert found["mean share of the gap"].error < 0.02
    assert found["saving"].error < 0.4  # routers among specialists save more than two tiers do


def test_what_is_not_told_is_not_predicted():
    found = evidence.savings().set_index("study")
    assert found.loc["FrugalGPT", "predicted"].isna().all()
    assert (found["at most at the large model"] == 1 - found["published"]).all()
    assert not math.isnan(found["published"].sum())


def test_counts_of_failures_add_up():
    found = evidence.failures()
    assert (found["questions"] == 100).all()
    apart = found["large right"] - found["small right"]
    gained = found["large right of small's failures"] * (1 - found["small right"])
    assert np.allclose(gained - found["only small right"], apart)


MEDIUM = "Llama-3.3-70B"
OWN = {"medium_on": "rented", "medium_pace": 30.0, "traffic": "conversation"}


def priced(tables, tier: str = "medium", share: float = 1.0, **more: object) -> float:
    """What an answer of a tier costs that such a share of requests reaches."""
    case = case_of(**OWN | more)
    of = tables.served(case, tier).own
    return of.at(given("share", share) * 1.0 if share < 1 else 1.0).usd.value


@pytest.mark.parametrize("contract", ["reserved", "on demand"])
def test_one_tier_costs_what_the_chapter_on_tokens_says(tables, contract):
    of = {"traffic": "conversation", "requests_per_day": 3e5, "peak_to_mean": 1.4}
    there = {"accelerator": "H100 SXM", "model": MEDIUM, "contract": contract}
    page = computed("token_cost", "rented", **there, **of)
    here = priced(tables, contract=contract, **of)
    assert here == pytest.approx(page["rented"].value * 500 / 1e6, rel=1e-6)


def test_an_own_tier_is_dearer_than_the_api_at_few_requests_and_not_at_many(tables):
    """Than the median of hosts; the cheapest of them stays cheaper."""
    asked = asked_tokens(MEDIUM)
    at_api = (2000 * asked["input"] + 500 * asked["output"]) / 1e6
    prices = [priced(tables, requests_per_day=10.0**power) for power in range(3, 9)]
    assert priced(tables, medium_on="API") < at_api
    assert prices == sorted(prices, reverse=True)
    assert prices[0] > 10 * at_api
    assert prices[-1] < 1.5 * at_api


def test_fewer_requests_make_each_answer_of_an_own_tier_dearer_and_none_at_an_api(tables):
    assert priced(tables, share=0.05) > 2 * priced(tables)
    assert priced(tables, share=0.05, medium_on="API") == priced(tables, medium_on="API")
    assert priced(tables, share=0.05, traffic="unknown") == priced(tables, traffic="unknown")


def test_a_whole_engine_stands_for_the_few_requests_that_reach_a_tier(tables):
    case = case_of(**OWN | {"requests_per_day": 1000.0})
    of = tables.served(case, "medium").own
    some = of.busy(given("share", 0.05) * 1.0)
    assert some.fleet.peak.value == of.busy().fleet.peak.value == 1
    assert some.share.value == pytest.approx(0.05 * of.busy().share.value)
    assert of.at(given("share", 0.0) * 1.0).usd.value < math.inf


def test_idle_engines_change_which_way_is_cheapest(tables):
    found = {}
    for requests in (1e3, 1e8):
        case = case_of(**OWN | {"medium_pace": 60.0, "requests_per_day": requests})
        tiers = [tables.served(case, name).own for name in NAMES]
        check = Check(case.caught, case.false_alarm, 0.0004, 0.5)
        ways = ways_of(tables.traffic(case), tiers, check, ROUTER)
        found[requests] = {name: way.usd.value for name, way in ways.items()}
        best = best_way(ways, given("error", 0.05), 0.0, 60.0).name.value
        without = {*ways} - {name for name in ways if "medium" in name}
        without -= {"all, one by one", "all at once", "router of all"}
        assert (best in without) == (requests < 1e6)
    few, many = (found[of]["small, then medium"] / found[of]["large alone"] for of in (1e3, 1e8))
    assert few > 1 > many


def test_a_tier_is_served_where_it_costs_less_for_each_share_of_requests():
    chips = ["H100 SXM", "B200"]
    medium = "Llama-3.1-70B"  # whose cheapest host asks more than such chips cost
    tables = Tiers.of([SMALL, medium, LARGE], chips)
    traffic = {"traffic": "conversation", "requests_per_day": 1e6, "accelerator": "cheapest"}
    traffic["medium"] = medium
    case = case_of(medium_on="cheapest", contract="cheapest", medium_pace=30.0, **traffic)
    of = tables.served(case, "medium").own
    every = [tables.own(case, "medium", chip).on_engines(1.0).usd.value for chip in chips]
    assert min(every) < of.at_api.usd.value
    assert of.at(1.0).usd.value == pytest.approx(min(every))
    assert of.accelerator.value == chips[every.index(min(every))] and of.many.value == 2
    few = given("share", 1e-3) * 1.0  # an engine for so few costs more than the API
    assert of.on_engines(few).usd.value > of.at(few).usd.value == of.at_api.usd.value
    closed = tables.served(case_of(large_on="cheapest", **traffic), "large")
    assert closed.there.value and closed.own.asks(1.0).value
