"""Which accelerator: the cheapest chip that does the work, and what the rule's criteria say."""

from types import SimpleNamespace

import cases
import numpy as np
import pandas as pd
import pytest
from chapter_cells import cells
from scaleright import quantity as quantities
from scaleright.chapters.hardware_compare.model import (
    LAST_LISTED,
    SAID,
    TO_WIN,
    criteria,
    criteria_tested,
    left_out_ways,
    measured_choice,
    ordered_pairs,
    published_speeds,
)
from scaleright.costs.fastest_steps import SIZES
from scaleright.costs.serving import LOAD, RENT, load_spread
from scaleright.decisions import hardware_candidates as hardware_tables
from scaleright.decisions import hardware_choice as hw
from scaleright.decisions.hardware_candidates import (
    HardwareTables,
    candidate_rows,
    candidates,
    considered,
    require_pace,
    serves,
    serving_chips,
    training_rows,
)
from scaleright.decisions.two_chips import PRICE, SPEED, ChipDoubts, spread_apart
from scaleright.inference.lengths import Load
from scaleright.market import contracts, hour
from scaleright.validation.in_common import error_in_common

MODELS = ("Llama-3.1-8B", "Llama-3.3-70B", "gpt-oss-120b")
CASE = cases.defaults("hardware_compare") | {
    "tokens_per_s": 20000.0,
    "utilization": 0.4,
    "paid": "rent",
    "contract": "on demand",
    "training_precision": "BF16",
    "peak_to_mean": 1.4,
}


@pytest.fixture(scope="module")
def given() -> SimpleNamespace:
    """`CASE` as quantities."""
    return cases.quantities(CASE)


@pytest.fixture(scope="module")
def any_chip(given) -> hw.Priced:
    """The workload of `CASE` on any chip, as the chapter has it."""
    case = given
    tables, chip = HardwareTables.of(MODELS), quantities.given("chip", "H100 SXM")
    return hw.Priced.of(case, tables, chip)


TRAINING = {"task": "training", **hw.usual()["training"]}


def test_those_that_serve_it_are_those_with_an_engine_that_keeps_the_pace(any_chip):
    for model, pace in (("Llama-3.3-70B", 30.0), ("gpt-oss-120b", 120.0), ("Llama-3.1-8B", 5.0)):
        rows = any_chip.at(model=model, pace_tokens_per_s=pace)
        load = Load(CASE["input_tokens"], CASE["output_tokens"])
        keeping = {chip for chip in serving_chips() if serves(model, chip, "usual", load, pace)}
        assert set(rows.index) == keeping
        assert rows["usd"].is_monotonic_increasing and (rows["least"] <= rows["group"]).all()


def test_the_model_of_serving_knows_what_is_no_tpu(monkeypatch):
    """A chip that it does not know stays a candidate, with the reason that it serves none."""
    rows = candidate_rows()
    monkeypatch.setattr(
        hardware_tables,
        "candidate_rows",
        lambda: dict.fromkeys(("H100 SXM", "TPU v4"), rows["H100 SXM"]),
    )
    assert serving_chips() == ("H100 SXM",)
    engines = hardware_tables.candidate_engines(("Llama-3.1-8B",)).rows
    assert engines.row("Llama-3.1-8B", "TPU v4", "usual").why.value == "no engine of it is known"
    assert engines.row("Llama-3.1-8B", "H100 SXM", "usual")["chips 0"].value == 1


def test_a_quicker_answer_and_half_the_utilization_cost_more(any_chip):
    here, quick, idle = (
        any_chip.at(**given)["usd"]
        for given in ({}, {"pace_tokens_per_s": 60}, {"utilization": 0.2})
    )
    assert (quick >= here[quick.index] * (1 - 1e-9)).all() and len(quick) <= len(here)
    assert idle[here.index].to_numpy() == pytest.approx(2 * here.to_numpy())


def test_whole_groups_cost_more_than_the_chips_at_work_and_little_more_for_a_large_demand(any_chip):
    small, large = any_chip.at(tokens_per_s=100.0), any_chip.at(tokens_per_s=1e7)
    assert (small["whole_usd"] >= small["usd"] * (1 - 1e-6)).all()
    ends = [end for group in any_chip.speed.groups for end in group]
    found = quantities.evaluate(ends, {"tokens_per_s": 100.0, "chip": small.index.to_numpy()})
    size, most = (
        np.array([np.broadcast_to(of, len(small)) for of in found[at::2]]) for at in (0, 1)
    )
    assert (small["chips"] == np.nanmin(size * np.ceil(100 / most), axis=0)).all()
    best = small["group"] * np.ceil(100 / (small["tokens_per_s"] * small["group"]))
    assert (small["chips"] < best).any()  # another engine than that of a large demand takes fewer
    assert large["whole_usd"].to_numpy() == pytest.approx(large["usd"].to_numpy(), rel=1e-2)
    assert small["bill_usd"].to_numpy() == pytest.approx(small["chips"] * small["hour_usd"])


def test_owning_changes_the_price_and_leaves_out_what_is_not_sold(any_chip):
    rented, owned = any_chip.at(**TRAINING), any_chip.at(**TRAINING, paid="own")
    assert set(owned.index) <= set(rented.index)
    assert all(candidate_rows()[name]["bought"] for name in owned.index)
    assert owned.loc["B200", "usd"] != rented.loc["B200", "usd"]


@pytest.mark.parametrize(
    "case", [{}, {"model": "Llama-3.1-8B"}, TRAINING, {"pace_tokens_per_s": 1e4}]
)
def test_the_cheapest_and_the_next_are_the_first_rows(any_chip, case):
    best, rows = hw.Cheapest.among(any_chip), any_chip.at(**case)
    names = ["chip", "usd", "next_chip", "next_usd", "seen", "whole", "whole_usd"]
    found = dict(
        zip(names, quantities.evaluate([getattr(best, of) for of in names], case), strict=True)
    )
    if rows.empty:
        assert found["chip"] == found["next_chip"] == "" and np.isnan(found["usd"])
        return
    assert (found["chip"], found["next_chip"]) == tuple(rows.index[:2])
    assert (found["usd"], found["next_usd"]) == pytest.approx(tuple(rows["usd"].iloc[:2]))
    assert found["seen"] == rows[rows["fitted"] > 0].index[0]
    assert found["whole_usd"] == pytest.approx(rows["whole_usd"].min())
    of = ["group", "tokens_per_s", "chips"]  # the last depends on the demand of each case
    figures = quantities.evaluate([best.of[name] for name in of], case)
    assert figures == pytest.approx(rows.iloc[0][of].tolist())


def test_a_range_holds_the_price_and_what_is_chosen_has_no_spread(any_chip, given):
    best = hw.Cheapest.among(any_chip)
    found = ChipDoubts.of(given, best, HardwareTables.of(MODELS))
    spreads = found.choice.spreads
    asked = [best.usd, found.low, found.high, *spreads.values()]

    def at_case(**case):
        usd, low, high, *rest = quantities.evaluate(asked, case)
        assert low < usd < high
        return (low / usd, high / usd), dict(zip(spreads, rest, strict=True))

    loose, moving = at_case()
    fixed, bound = at_case(contract="reserved")
    _, owned = at_case(paid="own")
    _, trained = at_case(**TRAINING)
    assert moving[RENT] > 0 and moving[LOAD] == moving[PRICE] == 0  # the load is the same on both
    assert bound[RENT] == bound[LOAD] == bound[PRICE] == 0 < bound[SPEED]
    assert owned[RENT] == 0 < owned[PRICE] and owned[LOAD] > 0  # power follows it
    assert trained[LOAD] == 0
    for case, of in (({}, moving), (TRAINING, trained)):  # each task has errors of its own
        off, other = any_chip.at(**case)["off"].iloc[:2]
        common = error_in_common(case.get("task", CASE["task"]), "dense")
        assert 0 < of[SPEED] == pytest.approx(spread_apart(off, other, common), rel=1e-3)
    assert loose[0] < fixed[0] < 1 < fixed[1] < loose[1]
    assert fixed[1] > load_spread()  # utilization is in


def test_the_probability_is_that_of_the_first_rows_and_none_without_a_second(any_chip, given):
    best, tables = hw.Cheapest.among(any_chip), HardwareTables.of(MODELS)
    choice = ChipDoubts.of(given, best, tables).choice
    asked = [choice.probability, choice.expected_loss, *choice.worth().values()]
    for case in ({}, TRAINING, {"model": "gpt-oss-120b", "contract": "reserved"}):
        probability, loss, *worth = quantities.evaluate(asked, case)
        _, second = any_chip.at(**case)["usd"].iloc[:2]
        assert 0.5 <= probability <= 1 and 0 <= loss < second
        assert all(0 <= of <= loss * (1 + 1e-9) for of in worth)
    nowhere = quantities.evaluate(asked[:2], {"pace_tokens_per_s": 1e4})
    assert np.isnan(nowhere).all()


TRAFFIC = {"traffic": "conversation", "peak_to_mean": 1.4}


def test_known_traffic_gives_every_chip_a_utilization_of_its_own(any_chip):
    few, many = (any_chip.at(**TRAFFIC, requests_per_day=of) for of in (1e3, 1e8))
    same = any_chip.at(**TRAFFIC, requests_per_day=1e8, utilization=0.9, tokens_per_s=10.0)
    assert few["load"].max() < 0.2 and many["load"].between(0.3, 0.95).all()
    assert many["usd"].equals(same["usd"])  # what was set before counts no more
    assert few["usd"].equals(few["whole_usd"])
    assert (many["idle_usd"] > many["usd"]).all() and (many["busy_usd"] < many["usd"]).all()
    best = hw.Cheapest.among(any_chip)
    for rows, requests in ((few, 1e3), (many, 1e8)):
        case = TRAFFIC | {"requests_per_day": requests}
        chip, usd = quantities.evaluate([best.chip, best.usd], case)
        assert (chip, usd) == (rows.index[0], pytest.approx(rows["usd"].iloc[0]))
    assert few.index[0] != many.index[0]  # one engine on few chips wins where it stands idle
    assert few["chips"].min() == few["group"].min()


def test_the_bill_of_known_traffic_is_that_of_its_whole_engines(any_chip):
    rows = any_chip.at(**TRAFFIC, requests_per_day=3e5, contract="reserved")
    a_day = 3e5 * 500 / 1e6
    assert (24 * rows["bill_usd"] / a_day).to_numpy() == pytest.approx(rows["usd"].to_numpy())


def test_training_has_no_traffic(any_chip):
    plain, asked = any_chip.at(**TRAINING), any_chip.at(**TRAINING | TRAFFIC)
    assert plain["usd"].equals(asked["usd"]) and (plain["load"] == 1).all()


def test_a_contract_prices_the_chips_that_are_sold_under_it(any_chip):
    here, steady, spot = (any_chip.at(contract=of) for of in ("on demand", "reserved", "spot"))
    assert set(steady.index) == set(here.index)  # discounted where nobody lists it
    assert set(spot.index) == {of for of in here.index if "spot" in contracts(of)} < set(here.index)
    for name in here.index:
        ratio = hour(name, "reserved").usd / hour(name).usd
        assert steady.loc[name, "usd"] == pytest.approx(here.loc[name, "usd"] * ratio, rel=1e-5)
    best = hw.Cheapest.among(any_chip)
    listed, chip, age = quantities.evaluate(
        [best.listed, best.chip, best.age], {"contract": "reserved"}
    )
    assert (listed, chip) == (here.index[0], steady.index[0])
    assert age == f"{hour(chip, 'reserved').age} (rents)"


def test_training_takes_the_smallest_cluster_that_keeps_the_pace_and_no_card_without_one(any_chip):
    slow, quick = (any_chip.at(**TRAINING | {"tokens_per_s": pace}) for pace in (1e5, 2e6))
    assert not {"RTX 4090", "H100 NVL", "L40S"} & set(slow.index) and set(quick.index)
    both = slow.index.intersection(quick.index)
    assert (slow.loc[both, "group"] <= quick.loc[both, "group"]).all()
    assert (slow["chips"] == slow["group"]).all() and set(slow["group"]) <= set(SIZES)
    assert (slow["tokens_per_s"] * slow["chips"] >= 1e5).all()
    assert ((slow["low"] < slow["high"]) & (slow["low"] < 1)).all()
    assert set(slow[slow["fitted"] < 1].index) == {
        name for name in slow.index if candidate_rows()[name]["vendor"] != "NVIDIA"
    }


def test_models_without_layouts_are_not_trained_on_the_page_unless_asked_for(any_chip):
    assert any_chip.at(**TRAINING, model="gpt-oss-120b").empty
    rows = training_rows(("gpt-oss-20b",), "gpt-oss-20b")
    assert rows["gpt-oss-20b", "BF16", "H100 SXM"]["typical at 256"] > 0


def test_a_pace_of_training_that_no_cluster_keeps_is_refused_with_the_fastest():
    with pytest.raises(ValueError, match=r"tokens_per_s = 1e\+12: .* nearest: [\d,]+, on 16,384 B"):
        require_pace("Llama-3.1-8B", "BF16", ["H100 SXM", "B200"], 1e12)
    with pytest.raises(ValueError, match="no cluster of these chips trains Llama"):
        require_pace("Llama-3.1-8B", "BF16", ["RTX 4090", "H100 NVL"], 1e3)


def test_candidates_are_the_chips_of_the_tables():
    every, few = candidates(), candidates(least_providers=4)
    assert set(few.index) < set(every.index) and (few["providers"] >= 4).all()
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
    assert ordered_pairs(price, speed, speed) == (66, 66)
    assert ordered_pairs(price, price**2 / speed, speed)[0] == 0


def test_a_criterion_is_judged_by_what_was_measured():
    """Two workloads of two chips: on the first the dear one gives more tokens per dollar, on the
    second the cheap one.
    """
    chips = {
        "rent_usd_per_hour": [1.0, 2.0],
        "memory_bytes_per_s": [1.0, 3.0],
        "memory_bytes": [3.0, 1.0],
        "bf16_flops": [1.0, 4.0],
        "predicted_tokens_per_s": [1.0, 1.0],
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
    tested = criteria_tested(rows).set_index("criterion")
    assert tested["right"].to_dict() == {
        "$ per TB/s of bandwidth": 1,
        "$ per PFLOP/s reached": 1,
        "$ per GB of memory": 1,
        "rent alone": 1,
        "$ per token by the model of serving": 1,
    }
    assert (tested["pairs"] == 2).all() and (tested["best"] == 1).all()


def test_published_speeds_stand_beside_those_computed():
    rows = measured_choice(candidates())
    found = published_speeds(rows, "Llama-3.3-70B", (2000, 500))
    assert found["accelerator"].is_unique and (found["computed"] > 0).all()
    assert found[["prompt", "answer"]].drop_duplicates().shape[0] == 1
    assert found["measured over computed"].between(0.5, 2.5).all()
    assert published_speeds(rows, "GPT-2", (2000, 500)).empty


def test_the_model_of_serving_orders_chips_better_than_any_figure_of_a_datasheet():
    tested = criteria_tested(measured_choice(candidates()))
    first, second = tested.iloc[0], tested.iloc[1]
    assert first["criterion"] == "$ per token by the model of serving"
    assert first["of pairs"] > second["of pairs"] + 0.05


def test_every_criterion_of_the_source_is_computed(any_chip):
    rows = criteria(any_chip, any_chip.at()).set_index("criterion")
    assert list(rows.index) == list(SAID)
    assert "NVIDIA: " in rows.loc["support"].iloc[1] and "AMD: " in rows.loc["support"].iloc[1]
    assert "trained on: " in rows.iloc[0, 1]
    assert criteria(any_chip, any_chip.at(pace_tokens_per_s=1e4)).empty


def test_the_page_considers_the_chips_that_the_library_lists():
    chip = quantities.given("chip", "")
    spec = quantities.choose(candidate_rows(), chip, otherwise="not listed")
    every = candidates().index.to_numpy()
    for asked in (("AMD", "any", 1), ("all", "consumer", 2), ("NVIDIA", "data center", 5)):
        (kept,) = quantities.evaluate([considered(spec, *asked, False)], {"chip": every})
        assert set(every[kept]) == set(candidates(*asked).index)


def test_a_rule_is_followed_by_its_chips_alone():
    rule, chip = quantities.given("rule", "A100"), quantities.given("chip", "A100 SXM 80GB")
    says = quantities.evaluate(
        [hw.agrees(rule, chip)],
        {"rule": np.array(["A100", "smaller card", "A100 or H100", "high-end"])},
    )
    assert says[0].tolist() == [True, False, True, True]


def test_a_chip_that_nobody_lists_costs_as_much_as_the_best_at_the_hour_that_is_told():
    rows = left_out_ways(SimpleNamespace(**CASE), 0.5).set_index("accelerator")
    usd = float(rows.loc["MI355X", TO_WIN])
    there = cells("token_cost", "rented", accelerator="MI355X", rent_usd_per_hour=usd)
    assert quantities.evaluate([there.rented], {})[0] == pytest.approx(0.5, rel=1e-6)
    tpu = rows.loc["TPU v6e"]
    assert tpu[LAST_LISTED] == hour("TPU v6e").usd and np.isnan(tpu[TO_WIN])
    assert not set(rows.index) & set(candidate_rows())
