"""What a page looks up of MLPerf is what the library compares, and its tables hold together."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scaleright import catalog, market, mlperf
from scaleright.chapters.mlperf import model as tables
from scaleright.information import NINETY
from scaleright.mlperf.comparison import common_rounds, entry
from scaleright.mlperf.head_to_head import NEW_TEAM, OLD_TEAM, RENT, ROUND
from scaleright.press.texts import declared
from scaleright.quantity import at, evaluate, given

BENCHMARKS = next(p.choices for p in declared("mlperf") if p.name == "benchmark")
BENCH = mlperf.Bench.of(BENCHMARKS)
PAIR = {"new_chip": "B200", "old_chip": "H200 SXM"}
CASE = SimpleNamespace(
    **{
        name: given(name, value)
        for name, value in {
            "benchmark": "llama2-70b-99.9",
            "scenario": "Offline",
            **PAIR,
            "metric": "chip",
            "in_round": "newest",
            "statistic": "best",
            "contract": "on demand",
            "seller": "median",
            "rent_new": 0.0,
            "rent_old": 0.0,
        }.items()
    }
)
ANSWER = BENCH.head_to_head(CASE)
GAIN = (ANSWER.value, ANSWER.low, ANSWER.high)
METRICS = ("chip", "watt", "dollar")


def test_a_common_round_has_the_gain_that_the_library_finds():
    both = common_rounds(mlperf.summary())
    both = both.assign(benchmark=both["benchmark"], entry=entry(both))
    both = both[both["entry"].isin(BENCHMARKS)].sample(60, random_state=0)
    for number, row in enumerate(both.itertuples()):
        pair = {"new_chip": row.accelerator_new, "old_chip": row.accelerator_old}
        listed = [market.listed_hour(name) for name in pair.values()]
        own = [0.1 if of is None else of.usd for of in listed]
        rents = dict(zip(("rent_new", "rent_old"), own, strict=True))
        metric, statistic = METRICS[number % 3], ("best", "median")[number % 2]
        in_round = ("newest", row.round)[number % 2]
        asked = {"benchmark": row.entry, "scenario": row.scenario, "metric": metric}
        asked |= {"statistic": statistic, "in_round": in_round}
        found = evaluate([*GAIN, ANSWER.in_round], asked | pair | rents)
        price = tuple(rents.values()) if metric == "dollar" else None
        try:
            here = mlperf.gain(*pair.values(), *asked.values(), price)
        except (LookupError, ValueError):
            assert math.isnan(found[0]), (asked, pair)
        else:
            assert found[:3] == pytest.approx([here["value"], here["low"], here["high"]], rel=1e-6)
            assert found[3] == here["round"]


def why(**asked) -> tuple[float, str]:
    gain, words = evaluate([ANSWER.value, BENCH.why_not(CASE, ANSWER.in_round)], asked)
    return gain, words


def test_what_cannot_be_compared_says_why():
    assert why(metric="watt")[1] == ""
    assert why(new_chip="H200 SXM", old_chip="H200 SXM")[1] == "both are the same chip"
    gain, words = why(in_round="v3.0")
    assert math.isnan(gain)
    assert words == "no round that you allow has both"
    unsold = {"metric": "dollar", "contract": "spot", "seller": "Lambda"}
    gain, words = why(**unsold)
    assert math.isnan(gain)
    assert words.startswith("no such seller has a price spot of B200; it has those of median")
    words = why(**unsold, rent_new=4.0)[1]
    assert words.startswith("no such seller has a price spot of H200 SXM; it has those of median")
    limits = BENCH.watts
    both = common_rounds(mlperf.summary())
    both = both[
        (both["accelerator_old"].map(limits) == 0) & (both["accelerator_new"].map(limits) > 0)
    ]
    row = both.assign(entry=entry(both)).query("entry in @BENCHMARKS").iloc[0]
    pair = {"new_chip": row["accelerator_new"], "old_chip": row["accelerator_old"]}
    asked = {"benchmark": row["entry"], "scenario": row["scenario"], "metric": "watt"}
    gain, words = why(**pair, **asked)
    assert math.isnan(gain)
    assert words == "the power limit of one of them is not known"


def test_rents_count_for_the_chips_that_they_are_of():
    dollars = at(ANSWER.value, metric="dollar")
    twice = {"rent_new": 2 * market.hour("B200").usd}
    plain, dear = dollars.value, evaluate([dollars], twice)[0]
    assert dear == pytest.approx(plain / 2)
    other = BENCH.head_to_head(CASE, given("chip", "B200"), ANSWER.in_round)
    at_dollar = at(other.value, metric="dollar")
    dear = twice
    assert evaluate([at_dollar], {"chip": "B200"} | dear)[0] == pytest.approx(plain / 2)
    third = [evaluate([at_dollar], {"chip": "H100 SXM"} | of)[0] for of in ({}, dear)]
    assert third[0] == third[1] > 0
    same = BENCH.head_to_head(CASE, given("chip", "H200 SXM"), ANSWER.in_round)
    assert evaluate([same.value, same.low, same.high], {"chip": "H200 SXM"}) == [1.0, 1.0, 1.0]


def test_a_gain_per_dollar_is_that_of_the_contract_and_the_seller():
    dollars, chips = (at(ANSWER.value, metric=name) for name in ("dollar", "chip"))
    for contract, seller in (("reserved", "median"), ("on demand", "hyperscalers")):
        new, old = (market.hour(PAIR[f"{of}_chip"], contract, seller) for of in ("new", "old"))
        paid, plain = evaluate([dollars, chips], {"contract": contract, "seller": seller})
        assert paid == pytest.approx(plain * old.usd / new.usd)
        price = new.usd, old.usd
        here = mlperf.gain("B200", "H200", "llama2-70b-99.9", "Offline", "dollar", price=price)
        assert paid == pytest.approx(here["value"], rel=1e-6)


def test_each_doubt_is_worth_no_more_to_know_than_all_of_them():
    near = {"benchmark": "deepseek-r1", "new_chip": "B300", "old_chip": "B200", "metric": "dollar"}
    choice = BENCH.head_to_head(CASE).choice
    worth = choice.worth()
    assert list(worth) == [NEW_TEAM, OLD_TEAM, ROUND, RENT]
    all_of_it, *each = evaluate([choice.expected_loss, *worth.values()], near)
    assert 0 < max(each) <= all_of_it and min(each) >= 0
    known = {"rent_new": 5.0, "rent_old": 3.0}
    assert evaluate([worth[RENT]], near | known) == [0.0]
    wide, spread = evaluate([ANSWER.high / ANSWER.low, choice.spread], {"metric": "chip"})
    assert 2 * NINETY * spread == pytest.approx(np.log(wide), rel=0.05)


def test_rents_are_in_doubt_where_no_contract_and_no_reader_fixes_them():
    """And a seller never is."""
    apart = at(ANSWER.spreads[RENT], metric="dollar")
    one, both = {"rent_new": 5.0}, {"rent_new": 5.0, "rent_old": 3.0}
    cases = {}, one, both, {"contract": "reserved"}, {"seller": "hyperscalers"}
    asked = apart, at(ANSWER.value, metric="dollar")
    loose, half, own, fixed, large = (evaluate(asked, case)[0] for case in cases)
    assert loose > 0 and half > 0 and loose == large
    assert own == fixed == 0
    low, high = (at(of, metric="dollar") for of in (ANSWER.low, ANSWER.high))
    wide, narrow = (np.divide(*evaluate([high, low], case)) for case in ({}, both))
    assert wide > narrow and evaluate([ANSWER.spreads[RENT]], {"metric": "chip"}) == [0.0]


def test_a_gain_says_how_likely_the_new_chip_is_ahead():
    sure = ANSWER.choice
    assert 0.5 < sure.probability.value <= 1 and sure.expected_loss.value >= 0
    swapped = {"new_chip": CASE.old_chip.value, "old_chip": CASE.new_chip.value}
    asked = BENCH.head_to_head(CASE, in_round=ANSWER.in_round.value).choice
    back, loss = evaluate([asked.probability, asked.expected_loss], swapped)
    assert back == pytest.approx(1 - sure.probability.value)
    assert 0 <= loss < 1


def test_tables_of_the_chapter_hold_together():
    checked = tables.hand_checked()
    assert np.allclose(checked["per chip"], checked["value"] / checked["chips"])
    racks, short = tables.rack_gains(), tables.rack_summary()
    hurried = racks[racks["scenario"] == "Interactive"]
    assert short.tight.count == len(hurried)
    assert short.tight.high == hurried["times"].max()
    assert short.single == 4
    assert short.calm.low < 1 < short.calm.high < short.tight.high
    steps = tables.generations()
    assert set(steps["pair"]) >= {"B200 / H200", "H100 / A100"}
    assert len(tables.generation_spans()) >= 2 * steps["pair"].nunique()
    kinds = tables.software_by_kind().set_index("kind of model")
    assert kinds["pairs of rounds"].sum() == len(mlperf.software_gains())
    assert kinds["largest"].max() == tables.software_largest()["best"].max()
    kept = tables.server_kept()
    last = kept[kept["newest"]].groupby("benchmark")["round"]
    assert (last.nunique() == 1).all()
    sizes = tables.rack_sizes()
    assert (sizes.groupby(["accelerator", "benchmark"])["accelerators"].max() >= 64).all()
    teams = tables.teams("llama2-70b-99.9", "Offline", "v5.1")
    best = teams.groupby("accelerator")["per_accelerator"].max()
    assert best["B200"] / best["H200 SXM"] == pytest.approx(ANSWER.value.value)
    assert tables.range_outcome()["ratios"].sum() == len(mlperf.range_test())
    assert (tables.team_spread()["apart"] >= 1).all()
    assert tables.power_by_chip()["runs"].sum() == len(mlperf.power_efficiency())
    assert len(tables.averages_apart()) == 5


def open_case(**named):
    asked = {"benchmark": "any", "scenario": "Offline", "new_chip": "newest"}
    asked |= {"old_chip": "predecessor", "in_round": "newest"} | named
    of = mlperf.taken(SimpleNamespace(**asked), BENCHMARKS)
    return tuple(getattr(one, "value", one) for one in (of.benchmark, of.new_chip, of.old_chip))


def test_names_left_open_are_of_chips_that_met_in_their_newest_round():
    """Of one maker, the later one over one before it; whatever one of them is named, they meet."""
    benchmark, new, old = open_case()
    chips = catalog.accelerators()
    assert chips[new].vendor == chips[old].vendor and chips[new].released > chips[old].released
    assert mlperf.gain(new, old, benchmark, "Offline")["round"] == max(mlperf.summary()["round"])
    seen = mlperf.summary()
    alone = [{"benchmark": of} for of in BENCHMARKS if of != "any"]
    alone += [{side: of} for of in set(seen["accelerator"]) for side in ("new_chip", "old_chip")]
    alone += [{"in_round": of} for of in set(seen["round"])]
    for named in alone:
        benchmark, new, old = open_case(**named)
        assert {*named.values()} <= {benchmark, new, old, named.get("in_round")}
        found = mlperf.gain(new, old, benchmark, "Offline", "chip", "best", **in_round(named))
        assert found["value"] > 0, named


def in_round(named: dict[str, str]) -> dict[str, str]:
    return {"in_round": named.get("in_round", "newest")}
