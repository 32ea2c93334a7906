"""Decisions on renting, owning and where to run: each answer is reached by its computed money,
with cases where the source's rule differs.
"""

import pytest
from ownership_samples import CARD
from scaleright.chapters.buy_or_rent.model import deployment, source_branch
from scaleright.chapters.token_cost.model import unit_economics
from scaleright.decisions.capex_opex import capex_opex, fleet_costs, source_rule


@pytest.mark.parametrize(
    "rent, hours, accelerators, what, rule",
    [
        (2.0, 12.0, 1, "buy", "buy"),
        (0.18, 3.0, 1, "rent", "rent"),
        # the source's own example: its rule says buy, its money says rent
        (0.18, 5.0, 1, "rent", "buy"),
        # several cards around the clock: the rule says rent whatever it costs
        (3.0, 20.0, 8, "buy", "rent"),
    ],
)
def test_rent_or_buy_follows_the_money(rent, hours, accelerators, what, rule):
    verdict = capex_opex(CARD, rent, hours, accelerators)
    owned, rented = (verdict.numbers[name][0] for name in ("owned", "rented"))
    assert (verdict.what, verdict.rule) == (what, rule)
    assert (owned < rented) == (what == "buy")
    assert verdict.agrees == (what == rule)
    assert verdict.reasons


@pytest.mark.parametrize(
    "rent, burst_hours, what",
    [(0.09, 4.0, "rent all"), (0.5, 4.0, "own the baseline"), (2.0, 20.0, "own all")],
)
def test_each_mix_of_a_fleet_wins_somewhere(rent, burst_hours, what):
    costs = fleet_costs(CARD, rent, rent, 2, 6, burst_hours)
    bills = {name: cost.total for name, cost in costs.items()}
    assert bills[what] == min(bills.values())
    # The owned part of the best mix works more than the break-even hours.
    assert what != "own the baseline" or burst_hours < CARD.break_even_hours_per_day(rent) < 24.0


@pytest.mark.parametrize(
    "case, what, branch",
    [
        ({"hours_per_day": 0.5}, "rent", "rent"),
        ({"hours_per_day": 3.0, "cheapest_usd_per_hour": 0.2}, "multi-cloud", "rent"),
        ({"hours_per_day": 20.0}, "on premises", "buy"),
        ({"hours_per_day": 20.0, "accelerators": 8}, "on premises", "rent"),
        ({"hours_per_day": 3.0, "sensitive_data": True}, "on premises", "on premises"),
        ({"hours_per_day": 20.0, "many_regions": True}, "multi-cloud", "multi-cloud"),
    ],
)
def test_each_branch_of_the_deployment_tree(case, what, branch):
    verdict = deployment(
        CARD,
        **{"usd_per_hour": 1.0, "cheapest_usd_per_hour": 0.8, "moving_usd_per_year": 300.0} | case,
    )
    assert (verdict.what, verdict.rule) == (what, branch)
    assert verdict.agrees == (what == branch or (what, branch) == ("on premises", "buy"))


def test_following_the_cheapest_cloud_must_earn_what_moving_costs():
    free, dear = (
        deployment(CARD, 1.0, 0.8, 1.0, moving_usd_per_year=cost).what for cost in (0.0, 1e4)
    )
    assert (free, dear) == ("multi-cloud", "rent")


def test_impossible_questions_are_refused():
    with pytest.raises(ValueError, match="sensitive_data rules out every cloud"):
        deployment(CARD, 1.0, 0.8, 3.0, 100.0, sensitive_data=True, many_regions=True)


def test_the_rule_reads_as_the_document_says():
    assert source_rule(3, 24) == "rent"
    assert source_rule(5, 24) == "buy"
    assert source_rule(5, 12) == "rent"
    assert source_rule(12, 24, bursts=True) == "hybrid"
    assert source_rule(12, 24, accelerators=4) == "rent"
    assert source_branch(5, 24, 1, False, False) == "buy"


def test_a_verdict_shows_answer_reasons_and_rule():
    bundle = capex_opex(CARD, 0.18, 5.0)._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Rent or buy? rent.")
    assert "differs" in bundle["text/plain"] and "<ol>" in bundle["text/html"]


@pytest.mark.parametrize(
    "size, rent, speed, load, api, what, rule",
    [
        (7e9, 0.5, 2000.0, 0.2, 0.05, "API", "API"),
        # the source asks a 7B model for 50 %; this rent and speed ask for 2 %
        (7e9, 0.08, 2000.0, 0.2, 0.5, "rent", "API"),
        # and a 13B model for 10 %, where these ask for more than full load
        (13e9, 2.0, 500.0, 0.12, 0.3, "API", "rent"),
        (13e9, 0.3, 1000.0, 0.12, 1.0, "own", "rent"),
        (13e9, 2.0, 1000.0, 0.9, 1.0, "own", "own"),
        (13e9, 0.04, 1000.0, 0.12, 1.0, "rent", "rent"),
    ],
)
def test_the_cheapest_token_wins_whatever_the_rule_says(size, rent, speed, load, api, what, rule):
    verdict = unit_economics(size, rent, speed, load, api, CARD)
    assert (verdict.what, verdict.rule, verdict.agrees) == (what, rule, what == rule)
    prices = {name: verdict.numbers[name][0] for name in ("API", "rent", "own")}
    assert min(prices, key=prices.get) == what
    for name, word in (("rent", "rented"), ("own", "owned")):
        assert (verdict.numbers[f"break-even load, {word}"][0] < load) == (prices[name] < api)


def test_without_terms_of_ownership_owning_is_left_out():
    verdict = unit_economics(13e9, 0.3, 1000.0, 0.9, 1.0)
    assert verdict.what == "rent" and "own" not in verdict.numbers
    assert not any("owned" in reason for reason in verdict.reasons)


def test_hardware_that_never_beats_the_api_says_so():
    assert any(
        "even at full load" in reason
        for reason in unit_economics(7e9, 5.0, 100.0, 0.9, 0.1, CARD).reasons
    )
