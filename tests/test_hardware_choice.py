"""Which accelerator: the cheapest chip that does the work, and what the rule's criteria say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog
from scaleright import quantity as quantities
from scaleright.decisions import hardware_choice as hw
from scaleright.decisions import hardware_ranking as ranking
from scaleright.decisions.hardware_candidates import (
    candidate_rows,
    candidates,
    considered,
    hour_usd,
)
from scaleright.decisions.hardware_criteria import SAID, criteria, published_speeds

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
    "of, given, what, binds, rule",
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


def test_half_the_utilization_doubles_the_price_and_a_slower_step_takes_more_chips():
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


def test_published_speeds_stand_beside_none_where_a_chip_cannot_run_the_work():
    of = hw.work(LLAMA_70B, False, 2048, 256, "FP8")
    slow = hw.Terms(2e4, slowdown=2.4, limit_s=0.05, fabric_bytes_per_s=100e9)
    rows = published_speeds(LLAMA_70B, 2048, of, slow).set_index("accelerator")
    assert np.isnan(rows.loc["RTX PRO 6000", "computed"]) and (rows["computed"].dropna() > 0).all()
    assert published_speeds(catalog.model("GPT-2"), 2048, of, slow).empty


def test_every_criterion_of_the_source_is_computed():
    works = [hw.work(LLAMA_8B, task, 2048, 8, "BF16") for task in (False, True)]
    rows = criteria(*works, candidates(least_providers=2), TERMS, False).set_index("criterion")
    assert list(rows.index) == list(SAID)
    fewer = criteria(*works, candidates(vendor="AMD"), TERMS, False).set_index("criterion")
    assert "on an A100: none considered" in fewer.iloc[0, 1]
    assert fewer.loc["support"].iloc[1].startswith("AMD: ")


def test_the_page_considers_the_chips_that_the_library_lists():
    chip = quantities.given("chip", "")
    spec = quantities.choose(candidate_rows(), chip, otherwise="not listed")
    every = candidates().index.to_numpy()
    for asked in (("AMD", "any", 1), ("all", "consumer", 2), ("NVIDIA", "data center", 5)):
        (kept,) = quantities.evaluate([considered(spec, *asked, False)], {"chip": every})
        assert set(every[kept]) == set(candidates(*asked).index)


def test_the_page_prices_every_chip_as_the_frame_does():
    chip = quantities.given("chip", "")
    spec = quantities.choose(candidate_rows(), chip, otherwise="not listed")
    of = hw.work(LLAMA_70B, False, 2048, 64, "FP8")
    there = hw.fit(of, spec, hour_usd(spec, False, 0.4), terms(utilization=0.4, limit_s=0.03))
    ranked = hw.compare(of, candidates(), terms(utilization=0.4, limit_s=0.03))
    asked = [there.usd_per_million, there.chips, there.runs]
    found = quantities.evaluate(asked, {"chip": ranked.index.to_numpy()})
    assert found[2].tolist() == ranked["runs"].tolist()
    for name, values in zip(("usd_per_million", "chips"), found, strict=False):
        np.testing.assert_allclose(values[found[2]], ranked[name][found[2]], rtol=1e-6)


def test_a_rule_is_followed_by_its_chips_alone():
    rule, chip = quantities.given("rule", "A100"), quantities.given("chip", "A100 SXM 80GB")
    says = quantities.evaluate(
        [hw.agrees(rule, chip)],
        {"rule": np.array(["A100", "smaller card", "A100 or H100", "high-end"])},
    )
    assert says[0].tolist() == [True, False, True, True]
