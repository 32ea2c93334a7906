"""Every branch of a decision is reached by its computed money, with cases where the source's rule
differs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog, market
from scaleright.costs.ownership import Ownership
from scaleright.decisions import cloud_choice as cc
from scaleright.decisions import hardware_choice as hw
from scaleright.decisions import hardware_ranking as ranking
from scaleright.decisions import unit_economics as ue
from scaleright.decisions.capex_opex import capex_opex, cheapest_plan, fleet_bills, source_rule
from scaleright.decisions.deployment import deployment, source_branch
from scaleright.decisions.hardware_candidates import candidates

CARD = Ownership(
    price_usd=2200.0,
    resale_share=0.27,
    years=2.0,
    cost_of_capital=0.05,
    busy_watts=550.0,
    idle_watts=50.0,
    pue=1.0,
    usd_per_kwh=0.16,
)


@pytest.mark.parametrize(
    ("rent", "hours", "accelerators", "what", "rule"),
    [
        (2.0, 12.0, 1, "buy", "buy"),
        (0.18, 3.0, 1, "rent", "rent"),
        (
            0.18,
            5.0,
            1,
            "rent",
            "buy",
        ),  # the source's own example: its rule says buy, its money says rent
        (
            3.0,
            20.0,
            8,
            "buy",
            "rent",
        ),  # several cards around the clock: the rule says rent whatever it costs
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
    ("rent", "burst_hours", "what"), [(0.09, 4.0, "rent"), (0.5, 4.0, "hybrid"), (2.0, 20.0, "buy")]
)
def test_each_mix_of_a_fleet_wins_somewhere(rent, burst_hours, what):
    bills = fleet_bills(CARD, rent, 2, 6, burst_hours)
    assert cheapest_plan(bills) == what and bills[what] == min(bills.values())
    # The owned part of the best mix works more than the break-even hours.
    assert what != "hybrid" or burst_hours < CARD.break_even_hours_per_day(rent) < 24.0


@pytest.mark.parametrize(
    ("case", "what", "branch"),
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
    assert (
        source_rule(3, 24) == "rent"
        and source_rule(5, 24) == "buy"
        and source_rule(5, 12) == "rent"
    )
    assert (
        source_rule(12, 24, bursts=True) == "hybrid"
        and source_rule(12, 24, accelerators=4) == "rent"
    )
    assert source_branch(5, 24, 1, False, False) == "buy"


def test_a_verdict_shows_answer_reasons_and_rule():
    bundle = capex_opex(CARD, 0.18, 5.0)._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Rent or buy? rent.")
    assert "differs" in bundle["text/plain"] and "<ol>" in bundle["text/html"]


# API, rent or own


@pytest.mark.parametrize(
    ("size", "rent", "speed", "load", "api", "what", "rule"),
    [
        (7e9, 0.5, 2000.0, 0.2, 0.05, "API", "API"),
        (
            7e9,
            0.08,
            2000.0,
            0.2,
            0.5,
            "rent",
            "API",
        ),  # the source asks a 7B model for 50 %; this rent and speed ask for 2 %
        (
            13e9,
            2.0,
            500.0,
            0.12,
            0.3,
            "API",
            "rent",
        ),  # and a 13B model for 10 %, where these ask for more than full load
        (13e9, 0.3, 1000.0, 0.12, 1.0, "own", "rent"),
        (13e9, 2.0, 1000.0, 0.9, 1.0, "own", "own"),
        (13e9, 0.04, 1000.0, 0.12, 1.0, "rent", "rent"),
    ],
)
def test_the_cheapest_token_wins_whatever_the_rule_says(size, rent, speed, load, api, what, rule):
    verdict = ue.unit_economics(size, rent, speed, load, api, CARD)
    assert (verdict.what, verdict.rule, verdict.agrees) == (what, rule, what == rule)
    prices = {name: verdict.numbers[name][0] for name in ("API", "rent", "own")}
    assert min(prices, key=prices.get) == what
    for name, word in (("rent", "rented"), ("own", "owned")):
        assert (verdict.numbers[f"break-even load, {word}"][0] < load) == (prices[name] < api)


def test_without_terms_of_ownership_owning_is_left_out():
    verdict = ue.unit_economics(13e9, 0.3, 1000.0, 0.9, 1.0)
    assert verdict.what == "rent" and "own" not in verdict.numbers
    assert not any("owned" in reason for reason in verdict.reasons)


def test_hardware_that_never_beats_the_api_says_so():
    assert any(
        "even at full load" in reason
        for reason in ue.unit_economics(7e9, 5.0, 100.0, 0.9, 0.1, CARD).reasons
    )


# which accelerator

LLAMA_8B, LLAMA_70B = catalog.model("Llama-3.1-8B"), catalog.model("Llama-3.1-70B")


def chip(flops, bandwidth, memory, rent, joined=8.0, fabric=400e9, **more) -> dict:
    """A chip by arithmetic [TFLOP/s], bandwidth [TB/s], memory [GB] and rent; as fast in FP8 as in
    BF16, owned for half the rent.
    """
    owned = {f"fixed_usd_per_year{end}": 0.5 * rent * 8766 for end in ("", "_low", "_high")}
    return (
        {
            "bf16_flops": flops * 1e12,
            "fp8_flops": flops * 1e12,
            "memory_bytes_per_s": bandwidth * 1e12,
            "memory_bytes": memory * 1e9,
            "compute_efficiency": 1.0,
            "rent_usd_per_hour": rent,
            "joined": joined,
            "scale_up_bytes_per_s": fabric,
            "providers": 3,
            "bought": True,
            "busy_watts": 0.0,
            "idle_watts": 0.0,
            "pue": 1.0,
            "usd_per_kwh": 0.0,
        }
        | owned
        | more
    )


CHIPS = pd.DataFrame(
    {
        "A100 SXM 80GB": chip(312, 2.0, 80, 2.0),
        "calculator": chip(2000, 2.0, 80, 4.0),
        "reader": chip(150, 4.0, 80, 1.0),
        "holder": chip(150, 1.0, 400, 1.2),
        "card": chip(150, 1.0, 24, 0.3, joined=2.0, fabric=32e9),
    }
).T.infer_objects()
TERMS = hw.Terms(1000.0, fabric_bytes_per_s=100e9)


def terms(**given) -> hw.Terms:
    return hw.Terms(**vars(TERMS) | given)


@pytest.mark.parametrize(
    ("of", "given", "what", "binds", "rule"),
    [
        # weights read for few sequences: bandwidth is what counts, which the reader sells cheapest
        (
            hw.work(LLAMA_70B, False, 2048, 4, "BF16"),
            {},
            "reader",
            "memory bandwidth",
            "A100 or H100",
        ),
        # thousands of sequences share the reading of the weights
        (
            hw.work(LLAMA_70B, False, 16, 4096, "BF16"),
            {"tokens_per_s": 1e6},
            "calculator",
            "arithmetic",
            "A100 or H100",
        ),
        # a trickle of tokens from a model that must be held all the same
        (
            hw.work(LLAMA_70B, False, 2048, 1, "BF16"),
            {"tokens_per_s": 1.0},
            "holder",
            "one chip",
            "A100 or H100",
        ),
        (
            hw.work(LLAMA_70B, False, 131072, 16, "BF16"),
            {"tokens_per_s": 1.0},
            "holder",
            "memory capacity",
            "A100 or H100",
        ),
        (
            hw.work(LLAMA_70B, False, 2048, 1, "BF16"),
            {"tokens_per_s": 1.0, "limit_s": 0.012},
            "reader",
            "latency",
            "A100 or H100",
        ),
        # a small model fits the small card, in one piece
        (
            hw.work(LLAMA_8B, False, 2048, 1, "BF16"),
            {"tokens_per_s": 1.0},
            "card",
            "one chip",
            "smaller card",
        ),
        (
            hw.work(LLAMA_8B, False, 2048, 1, "BF16"),
            {"tokens_per_s": 1.0, "limit_s": 0.01},
            "reader",
            "one chip",
            "high-end",
        ),
    ],
)
def test_the_cheapest_chip_is_the_one_that_sells_what_binds(of, given, what, binds, rule):
    verdict = hw.hardware_choice(of, CHIPS, terms(**given))
    ranked = hw.compare(of, CHIPS, terms(**given))
    assert (verdict.what, ranked.loc[what, "binds"], verdict.rule) == (what, binds, rule)
    assert verdict.numbers["price"][0] == ranked["usd_per_million"].min()
    assert verdict.agrees == (what == "card" and rule == "smaller card")


def test_training_goes_by_arithmetic_and_where_the_a100_sells_it_cheapest_the_rule_holds():
    of = hw.work(LLAMA_70B, True, 4096, 16, "BF16")
    full = terms(across_servers=True, tokens_per_s=1e5)
    verdict = hw.hardware_choice(of, CHIPS, full, training=True)
    assert (verdict.what, verdict.rule, verdict.agrees) == ("calculator", "A100", False)
    without = hw.hardware_choice(
        of, CHIPS.drop(["calculator", "reader", "holder"]), full, training=True
    )
    assert (without.what, without.agrees) == ("A100 SXM 80GB", True)
    assert not hw.compare(of, CHIPS, full).loc[
        "card", "runs"
    ]  # two cards on a bridge are no building block of a cluster


def test_owning_changes_the_price_and_leaves_out_what_is_not_sold():
    of = hw.work(LLAMA_70B, False, 2048, 4, "BF16")
    rented, owned = hw.compare(of, CHIPS, TERMS), hw.compare(of, CHIPS, TERMS, own=True)
    assert owned.loc["reader", "usd_per_million"] == pytest.approx(
        0.5 * rented.loc["reader", "usd_per_million"]
    )
    sold = CHIPS.assign(bought=CHIPS.index != "reader")
    assert hw.hardware_choice(of, sold, TERMS, own=True).what != "reader"
    with pytest.raises(catalog.DataError, match="no purchase price"):
        hw.hardware_choice(of, CHIPS.assign(bought=False), TERMS, own=True)


def test_a_limit_on_latency_has_a_price():
    """S3: without it less powerful chips do at a third or a quarter of the cost."""
    of = hw.work(LLAMA_8B, False, 2048, 1, "BF16")
    verdict = hw.hardware_choice(of, CHIPS, terms(tokens_per_s=1.0, limit_s=0.01))
    assert "without the limit on latency card would do at $83.33, 3.3 times less" in verdict.reasons
    assert (
        "a limit on latency changes nothing here"
        in hw.hardware_choice(of, CHIPS, terms(tokens_per_s=1.0, limit_s=1.0)).reasons
    )


def test_what_no_server_holds_is_refused_with_what_it_would_take():
    with pytest.raises(
        catalog.DataError,
        match=r"no server of up to 8 of these chips joined by 1000 GB/s holds 184 GB",
    ):
        hw.hardware_choice(
            hw.work(LLAMA_70B, False, 131072, 64, "BF16"),
            CHIPS.drop("holder"),
            terms(fabric_bytes_per_s=1e12),
        )


def test_half_the_utilization_doubles_the_price_of_rented_tokens_and_a_slower_step_takes_more_chips():
    of = hw.work(LLAMA_70B, False, 2048, 4, "BF16")
    full, half, slow = (
        hw.compare(of, CHIPS, terms(**given)).loc["reader"]
        for given in ({}, {"utilization": 0.5}, {"slowdown": 3.0})
    )
    assert half["usd_per_million"] == pytest.approx(2 * full["usd_per_million"])
    assert (
        slow["step_s"] * slow["group"] == pytest.approx(3 * full["step_s"] * full["group"])
        and slow["chips"] > full["chips"]
    )


def test_a_chip_works_on_as_many_sequences_as_its_servers_hold_in_time():
    of = hw.work(LLAMA_70B, False, 8192, 512, "BF16")
    loose, tight = (hw.compare(of, CHIPS, terms(**given)) for given in ({}, {"limit_s": 0.015}))
    assert (
        loose.loc["holder", "batch"]
        == 512
        > loose.loc["reader", "batch"]
        > tight.loc["reader", "batch"]
        >= 1
    )
    assert tight.loc["reader", "step_s"] <= 0.015
    room = 8 * 80e9 * 0.9 - of.held_bytes
    assert loose.loc["reader", "batch"] == room // of.sequence_bytes


def test_candidates_are_the_chips_of_the_tables():
    every, few = candidates(), candidates(least_providers=4)
    assert set(few.index) < set(every.index) and (few["providers"] >= 4).all()
    assert (every["rent_usd_per_hour_low"] < every["rent_usd_per_hour"]).all()
    assert set(candidates(segment="consumer")["segment"]) == {"consumer"}
    wrong = {
        "vendor": ("NVIDA", "nearest: NVIDIA"),
        "segment": ("datacenter", "nearest: data center"),
        "least_providers": (999, "by 999"),
    }
    for name, (value, words) in wrong.items():
        with pytest.raises(LookupError, match=words):
            candidates(**{name: value})
    with pytest.raises(
        LookupError, match="no AMD consumer chip has a recent rent; AMD has: data center"
    ):
        candidates(vendor="AMD", segment="consumer")


def test_pairs_are_counted_in_order():
    generator = np.random.default_rng(3)
    speed, price = generator.uniform(1, 9, 12), generator.uniform(1, 3, 12)
    assert ranking.ordered_pairs(price, speed, speed) == (66, 66)
    assert ranking.ordered_pairs(price, price**2 / speed, speed)[0] == 0


def test_a_criterion_is_judged_by_what_was_measured():
    """Two workloads of two chips: on the first the dear one gives more tokens per dollar, on the
    second the cheap one.
    """
    chips = {
        "rent_usd_per_hour": [1.0, 2.0],
        "memory_bytes_per_s": [1.0, 3.0],
        "memory_bytes": [3.0, 1.0],
        "bf16_flops": [1.0, 4.0],
    }
    workload = {
        "model": "m",
        "input_tokens": 1,
        "output_tokens": 1,
        "accelerator": ["a", "b"],
        "tokens_per_s": [10.0, 40.0],
    }
    pair = pd.DataFrame(chips | workload | {"compute_efficiency": 1.0})
    rows = pd.concat([pair, pair.assign(output_tokens=2, tokens_per_s=[10.0, 15.0])])
    tested = ranking.criteria_tested(rows).set_index("criterion")
    assert tested["right"].to_dict() == {
        "$ per TB/s of bandwidth": 1,
        "$ per PFLOP/s reached": 1,
        "$ per GB of memory": 1,
        "rent alone": 1,
    }
    assert (tested["pairs"] == 2).all() and (tested["best"] == 1).all()


# which cloud

LISTED = pd.DataFrame(
    [
        ("Big Cloud", "hyperscaler", 40.0),
        ("Small Cloud", "neocloud", 20.0),
        ("Small Cloud", "neocloud", 24.0),
        ("Market", "marketplace", 16.0),
    ],
    columns=["provider", "segment", "usd_per_hour"],
).assign(
    date=pd.Timestamp("2026-10-01"),
    pricing="on_demand",
    accelerators=4,
    usd_per_accelerator_hour=lambda rows: rows["usd_per_hour"] / 4,
)
EGRESS, RATIOS = (
    {"hyperscaler": 0.1, "neocloud": 0.0, "marketplace": 0.2},
    {"Big Cloud": {1: 0.6, 3: 0.3}},
)


@pytest.mark.parametrize(
    ("given", "what", "agrees"),
    [
        ({}, "Market, on demand", True),
        (
            {"moved_gb_per_month": 50_000.0},
            "Small Cloud, on demand",
            True,
        ),  # 10,000 USD of data at the market, none at the neocloud
        (
            {"years": 3.0},
            "Big Cloud, 3 years committed",
            False,
        ),  # 12 USD an hour: the specialized clouds are not the cheapest
        (
            {"years": 3.0, "used_share": 0.5},
            "Market, on demand",
            True,
        ),  # which is paid in unused hours as well
        (
            {"years": 3.0, "price_change_per_year": -0.3},
            "Market, on demand",
            True,
        ),  # and loses where rents fall under it
    ],
)
def test_the_cheapest_way_to_pay_wins_with_all_that_it_costs(given, what, agrees):
    verdict = cc.cloud_choice(LISTED, egress=EGRESS, ratios=RATIOS, **given)
    options = cc.cloud_options(LISTED, egress=EGRESS, ratios=RATIOS, **given)
    assert (verdict.what, verdict.agrees) == (what, agrees)
    assert (
        options["usd_per_month"].iloc[0]
        == options["usd_per_month"].min()
        == verdict.numbers[what][0]
    )
    assert verdict.numbers["spread"][0] == pytest.approx(40 / 16)


def test_a_month_by_hand():
    options = cc.cloud_options(
        LISTED, used_share=0.25, moved_gb_per_month=100.0, egress=EGRESS, ratios=RATIOS
    )
    row = options.set_index(["provider", "option"])
    assert row.loc[("Big Cloud", "on demand"), "usd_per_month"] == pytest.approx(
        40 * 730.5 / 4 + 10
    )
    assert row.loc[("Big Cloud", "1 year committed"), "usd_per_month"] == pytest.approx(
        40 * 0.6 * 730.5 + 10
    )
    assert ("Big Cloud", "3 years committed") not in row.index  # needed for a year only
    assert row.loc[("Small Cloud", "on demand"), "usd_per_month"] == pytest.approx(
        20 * 730.5 / 4
    )  # its cheaper card
    assert row.loc[
        ("Big Cloud", "on demand"), ["usd_per_used_hour", "egress_usd"]
    ].tolist() == pytest.approx([40, 10])


def test_a_commitment_that_is_renewed_follows_the_price_of_its_day():
    """Rents halve each year: a commitment of a year costs 1, 1/2 and 1/4 of its first price, one of
    three years stays.
    """
    options = cc.cloud_options(
        LISTED, years=3.0, price_change_per_year=-0.5, egress=EGRESS, ratios=RATIOS
    ).set_index(["provider", "option"])
    hours = options.loc["Big Cloud", "usd_per_used_hour"]
    assert hours["1 year committed"] == pytest.approx(40 * 0.6 * (1 + 0.5 + 0.25) / 3)
    assert hours["3 years committed"] == pytest.approx(40 * 0.3)
    assert hours["on demand"] == pytest.approx(40 * (0.125 - 1) / (3 * np.log(0.5)))


def test_spot_is_called_so_and_has_no_commitments():
    options = cc.cloud_options(
        LISTED.assign(pricing="spot"), years=3.0, egress=EGRESS, ratios=RATIOS
    )
    assert set(options["option"]) == {"spot"} and len(options) == 3
    verdict = cc.cloud_choice(market.cheapest("H100 SXM", pricing="spot"), years=3.0)
    assert verdict.what.endswith(", spot") and any(
        reason.startswith("spot the dearest") for reason in verdict.reasons
    )


def test_clouds_of_the_tables_are_ranked_and_no_listing_is_refused():
    verdict = cc.cloud_choice(market.cheapest("A100 SXM 80GB", 8))
    assert verdict.agrees and verdict.numbers["spread"][0] > 1
    with pytest.raises(catalog.DataError, match="no listing"):
        cc.cloud_choice(LISTED.head(0))
