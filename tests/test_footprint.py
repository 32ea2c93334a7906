"""What must be true of footprints: parts sum, they move the right way, bad places are refused."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.chapters.sustainability import efficiency as eco
from scaleright.costs.serving import LOAD
from scaleright.footprint import (
    Footprint,
    Machine,
    Place,
    busy_hours,
    grid,
    machine,
    machines,
    place,
    region,
    regions,
    usual,
)
from scaleright.inference.energy import (
    PROMPT_TOKENS,
    _even,
    _over_predicted,
    chat_energy,
    chat_energy_at,
    energy_server,
    predicted_speed,
    predicted_within,
)
from scaleright.ops import where
from scaleright.power import serving_share
from scaleright.quantity import Quantity, choose, evaluate
from scaleright.quantity import given as parameter
from scaleright.ranges import interval_of
from scaleright.validation import kinds

shares, hours = st.floats(0.01, 1), st.floats(0.01, 1e7)

machines_drawn = st.builds(
    Machine,
    chip_watts=st.floats(100, 2000),
    chip_idle_watts=st.floats(0, 100),
    host_watts=st.floats(100, 1000),
    host_idle_watts=st.floats(0, 100),
    network_watts=st.floats(0, 100),
    machine_kg=st.floats(1, 2000),
    life_years=st.floats(0.5, 12),
)

water = {"site_liters_per_kwh": st.floats(0, 3), "plant_liters_per_kwh": st.floats(0, 18)}
sites = st.builds(Place, pue=st.floats(1, 3), kg_co2e_per_kwh=st.floats(0.01, 1.2), **water)
HERE = Place(1.2, 0.4, 0.2, 3.0)


@given(of=machines_drawn, busy=hours, use=shares, where=sites)
def test_parts_add_up_and_energy_becomes_carbon_and_water(of, busy, use, where):
    made = Footprint.of(of, busy, use, where)
    for part in (made.energy, made.carbon, made.water):
        assert part.total == pytest.approx(math.fsum(part.parts().values()))
    assert made.energy.total == pytest.approx(made.energy.machines_kwh * where.pue)
    assert made.carbon.total - made.carbon.embodied_kg == pytest.approx(
        made.energy.total * where.kg_co2e_per_kwh
    )
    assert made.water.total == pytest.approx(
        made.energy.total * (where.site_liters_per_kwh / where.pue + where.plant_liters_per_kwh)
    )


@given(of=machines_drawn, busy=hours, use=st.floats(0.01, 0.5), where=sites)
def test_more_use_costs_less_and_the_work_itself_remains(of, busy, use, where):
    idle, busier, full = (Footprint.of(of, busy, share, where) for share in (use, 2 * use, 1.0))
    assert idle.carbon.total > busier.carbon.total >= full.carbon.total
    assert idle.carbon.embodied_kg == pytest.approx(2 * busier.carbon.embodied_kg)
    assert full.energy.chips_kwh == pytest.approx(busy * of.chip_watts / 1e3)
    # busy hours do not shrink, so doubling the use saves less than half
    assert idle.energy.total <= busier.energy.total * 2 * (1 + 1e-9)


@given(of=machines_drawn, busy=hours, use=shares, where=sites)
def test_a_longer_life_saves_making_alone_and_a_worse_building_adds_electricity_alone(
    of, busy, use, where
):
    made = Footprint.of(of, busy, use, where)
    lasting = Footprint.of(replace(of, life_years=2 * of.life_years), busy, use, where)
    assert lasting.carbon.embodied_kg == pytest.approx(made.carbon.embodied_kg / 2)
    assert lasting.energy == made.energy
    worse = Footprint.of(of, busy, use, replace(where, pue=where.pue + 0.5))
    assert worse.energy.machines_kwh == made.energy.machines_kwh
    assert worse.carbon.total > made.carbon.total
    assert worse.carbon.embodied_kg == made.carbon.embodied_kg


def test_gpt3_by_hand():
    """10,000 V100 for 14.8 days: 76 % of a DGX-1's 3,500 W over eight chips, PUE 1.10."""
    kwh = 10_000 * 14.8 * 24 * 0.76 * 3.5 / 8 * 1.10
    found = (
        kinds.validate("footprint")
        .rows.set_index(["run", "quantity"])
        .loc[("patterson-2021/GPT-3", "energy")]
    )
    assert found["predicted"] == pytest.approx(kwh, rel=1e-9) and found["published"] == 1_287_000
    assert abs(found["error_percent"]) < 4


def test_bloom_by_hand():
    """1,082,990 chip-hours of A100: design power gives the published dynamic part, a server's share
    of 6,500 W the whole.
    """
    rows = kinds.validate("footprint").rows.set_index(["run", "quantity"])
    assert rows.loc[("bloom-2022/dynamic", "energy"), "predicted"] == pytest.approx(
        1_082_990 * 0.4, rel=1e-9
    )
    whole = rows.loc[("bloom-2022/with idle", "energy")]
    assert whole["predicted"] == pytest.approx(1_082_990 * 0.76 * 6.5 / 8 * 1.2, rel=1e-9)
    assert not whole["scored"] and whole["low"] < whole["published"] < whole["high"]


def test_tpus_by_hand():
    """Google's mean of 220 W a TPU v3, that share of the 280 W of a TPU v2, and a quarter of what
    is left of a server of 384 W.
    """
    rows = kinds.validate("footprint").rows.set_index(["run", "quantity"])
    host = (384 - 4 * 40) / 4
    assert rows.loc[("patterson-2021/Meena", "energy"), "predicted"] == pytest.approx(
        737_280 * (220 + host) / 1e3 * 1.09, rel=1e-9
    )
    searched = rows.loc[("patterson-2021/Evolved Transformer NAS", "energy"), "predicted"]
    assert searched == pytest.approx(32_640 * (280 * 220 / 450 + host) / 1e3 * 1.10, rel=1e-3)


def test_the_carbon_of_a_grid_is_uncertain_too():
    """Two sources differ on a grid: the range of carbon is wider than that of its energy."""
    found = kinds.validate("footprint").rows.set_index(["run", "quantity"])
    of = found.loc["patterson-2021/GPT-3"]
    assert (
        of.loc["carbon", "high"] / of.loc["carbon", "predicted"]
        > of.loc["energy", "high"] / of.loc["energy", "predicted"]
    )
    own = found.loc[("sdxl-image-2024", "carbon")]
    assert own["low"] < own["predicted"] < own["high"]


def test_a_measured_token_is_its_joules():
    row = chat_energy_at("Llama-3.1-70B", "H100 SXM", 64)
    of = replace(
        machine("H100 SXM", "serving", chip_watts=row["chip_watts"]),
        network_watts=0.0,
        host_watts=0.0,
        host_idle_watts=0.0,
    )
    made = Footprint.of(of, busy_hours(1e6, row["tokens_per_s"]), 1.0, replace(HERE, pue=1.0))
    assert made.energy.total * 3.6 == pytest.approx(row["joules_per_token"], rel=1e-3)


def test_places_are_looked_up_by_code_name_and_region():
    assert grid("usa") == grid("United States")
    assert grid("Georgia").zone == "GEO"
    assert grid("US-GA").zone == "US-GA"
    old = grid("France", 1990)
    assert old.carbon.year > 1990 and str(old.carbon) == f"{old.carbon.year}, nearest to 1990"
    assert grid("WORLD").kg_co2e_per_kwh > grid("Sweden").kg_co2e_per_kwh > 0
    virginia = region("AWS", "us-east-1")
    assert virginia.zone == "USA" and place("AWS us-east-1").pue == virginia.pue.value
    assert place("aws us-east-1") == place("AWS us-east-1")


def test_a_region_with_direct_carbon_alone_takes_its_country():
    """Direct figures leave fuel supply out, so that they would put a region before its equals."""
    rows = catalog.table("cloud_regions")
    carbon = rows[rows["quantity"] == "carbon_average"]
    direct = carbon.groupby(["provider", "region"])["method"].agg(set)
    for provider, name in direct[direct == {"direct"}].index:
        of = region(provider, name)
        assert of.basis == "lifecycle" and of.carbon == grid(of.zone).carbon


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: grid("Frnace"), LookupError, "nearest: France"),
        (lambda: region("Amazon", "us-east-1"), LookupError, "AWS, Google Cloud, Microsoft Azure"),
        (lambda: region("AWS", "us-eest-1"), LookupError, "nearest: .*us-east-1"),
        (lambda: place("AWS mars-1"), LookupError, "region of AWS 'mars-1'"),
        (
            lambda: place("Singapore"),
            catalog.DataError,
            "no source states the water of the power plants of Singapore",
        ),
        (
            lambda: chat_energy_at("Llama-4-Maverick", "B200", 64),
            LookupError,
            "measured on: H100 SXM",
        ),
        (
            lambda: chat_energy_at("GPT-3 175B", "B200", 64),
            LookupError,
            "model with measured energy",
        ),
        (
            lambda: eco.expected("Llama-3.1-70B", "T4", "BF16", 1, 0.5, HERE),
            catalog.DataError,
            "141 GB of weights do not fit",
        ),
    ],
)
def test_unknown_places_and_pairs_are_refused_with_what_is_known(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


BATCHES = (8, 64, 512, 1024)
POINTS, CHIPS = eco.measured(BATCHES), eco.chips()


def deployed(task="serving", model="Llama-3.1-70B", chip="H100 SXM", batch=64, **changes):
    """A deployment made as a chapter makes it, of quantities."""
    training = parameter("task", task) == "training"
    tried = (parameter("model", model), parameter("chip", chip), parameter("batch", batch), "usual")
    point = choose(POINTS, *tried, otherwise="not measured")
    usual = Machine(**choose(machines(CHIPS), tried[1], task))
    drawn = replace(usual, chip_watts=where(training, usual.chip_watts, point.chip_watts))
    hours = where(training, 1e6, busy_hours(eco.TOKENS, point.tokens_per_s))
    of = eco.Deployment(drawn, hours, 0.4, HERE, choose(CHIPS, tried[1]), point, training)
    return replace(of, **changes)


def values(column):
    return [cell.value if isinstance(cell, Quantity) else cell for cell in column]


def test_a_deployment_is_what_the_library_computes_of_numbers():
    of = deployed()
    made = eco.serving("Llama-3.1-70B", "H100 SXM", 64, 0.4, HERE)
    assert of.served.value and of.known.value
    for part in ("energy", "carbon", "water"):
        assert getattr(of.footprint, part).total.value == pytest.approx(
            getattr(made, part).total, rel=1e-6
        )
    run = deployed("training", "Llama-4-Scout", "A100 SXM 80GB")
    assert run.known.value and not run.served.value
    unknown = deployed(model="Llama-4-Scout", chip="B200")
    assert not unknown.known.value and math.isnan(unknown.footprint.carbon.total.value)


def test_what_nobody_measured_is_predicted_as_well_as_what_was():
    """The middle of what was measured, and the range that a predicted point tells."""
    seen, ratios = chat_energy(), []
    for of in seen[seen["precision"].isin(["BF16", "FP8"])].itertuples():
        d = energy_server(of.model, of.accelerator, of.precision)
        speed = predicted_speed(d, [of.batch])[1][0]
        drawn = serving_share("") * catalog.accelerator(of.accelerator).tdp_watts
        ratios.append(of.joules_per_token * speed / drawn)
    low, high = predicted_within()
    assert _even(_over_predicted()) == PROMPT_TOKENS
    assert len(ratios) > 150 and 0.85 < np.median(ratios) < 1.2, np.median(ratios)
    assert 0.8 < np.mean([low <= of <= high for of in ratios]) <= 1
    case = {"task": "serving", "model": "Llama-3.1-70B", "accelerator": "T4"}
    point = eco.Point(
        SimpleNamespace(**{k: parameter(k, v) for k, v in (case | REST).items()}), BATCHES, 60.0
    )
    of = replace(deployed(), point=point)
    assert point.predicted.value and point.there.value and point.precision.value == "INT8"
    less, more = eco.uncertain(replace(of, busy_hours=50.0))[-1]
    assert more.value / less.value > high / low
    assert evaluate([point.predicted, point.there], {"accelerator": "H100 SXM"}) == [False, True]
    assert evaluate([point.there], {"accelerator": "P100 PCIe"}) == [False]


REST = {"batch": 64, "precision": "usual"}


def test_scores_run_from_poor_to_good():
    rated = eco.scorecard(deployed()).set_index("axis")
    assert list(rated.index) == ["utilization", "hardware", "model size", "energy"]
    assert all(0 <= score <= 1 for score in values(rated["score"]))
    better = eco.scorecard(deployed(utilization=0.8)).set_index("axis")
    more, less = values(of.loc["utilization", "score"] for of in (better, rated))
    assert more > less
    run = eco.scorecard(deployed("training"))
    assert np.isnan(values(run["score"])).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "model, chip, batch, use, says, rule, agrees",
    [
        ("Llama-3.1-405B", "H100 SXM", 8, 0.1, "scores poorly", "scores poorly", True),
        # no small chip needed: a full batch does it
        ("Llama-3.1-8B", "H100 SXM", 512, 0.8, "scores high", "scores in between", False),
        ("Llama-3.1-70B", "B200", 64, 0.8, "scores in between", "scores in between", True),
        ("Qwen3-235B-A22B", "B200", 1024, 0.5, "scores in between", "scores poorly", False),
    ],
)
def test_each_class_is_reached_by_energy_whatever_the_rule_says(
    model, chip, batch, use, says, rule, agrees
):
    of = deployed("serving", model, chip, batch, utilization=use)
    grade = eco.eco_efficiency(of)
    assert values([grade.says, grade.rule, grade.agrees]) == [says, rule, agrees]


def test_levers_are_footprints_computed_anew():
    of, places = deployed(), usual(["Sweden", "Poland"])
    found = eco.levers(of, places).set_index("change")
    moved = replace(of, place=replace(place("Sweden"), pue=of.place.pue))
    carbon = dict(zip(found.index, values(found["carbon"]), strict=True))
    assert carbon["a move to Sweden"] == pytest.approx(moved.footprint.carbon.total.value)
    fuller = eco.serving("Llama-3.1-70B", "H100 SXM", 768, 0.4, HERE)
    assert carbon["fuller batches of sequences"] == pytest.approx(fuller.carbon.total, rel=1e-6)
    other = eco.serving("Llama-3.1-70B", "B200", 64, 0.4, HERE)
    assert carbon["another chip"] == pytest.approx(other.carbon.total, rel=1e-6)
    assert eco.levers(deployed(utilization=0.9), places)["saved"].map(lambda q: q.value).min() >= 0
    run = eco.levers(deployed("training"), places).set_index("change")["carbon"]
    measured = {name for name, kg in run.items() if not math.isnan(kg.value)}
    assert measured == {"a move to Sweden", "more use", "a longer life"}


def test_the_first_change_is_the_best_one_and_as_sure_as_what_tells_it_from_the_next():
    places = usual(["Sweden", "Poland"])
    of = deployed(batch=1024, utilization=0.5)
    rows = eco.levers(of, places).dropna(subset="carbon").set_index("change")["carbon"]
    order = pd.Series(values(rows), rows.index).dropna().sort_values()
    best = eco.first_change(of, places)
    assert values([best.first, best.second]) == order.index[:2].tolist()
    assert best.first.value == "a move to Sweden"
    assert values([best.choice.cost, best.choice.other]) == pytest.approx(order.iloc[:2].tolist())
    spreads = {name: spread.value for name, spread in best.choice.spreads.items()}
    assert spreads["carbon of the grid"] > 0 < spreads["carbon of the other grid"]
    assert 0.5 < best.choice.sureness.value < 1 and best.choice.expected_loss.value > 0
    # a grid that the reader has set has no spread, the one that nobody set keeps its own
    told = eco.first_change(of, places, own_grid=True).choice.spreads
    assert told["carbon of the grid"].value == 0 < told["carbon of the other grid"].value
    # of two changes that stay where they are, neither grid tells one from the other but by making
    here = replace(of, place=replace(place("Sweden"), pue=of.place.pue))
    stays = eco.first_change(here, places)
    assert "a move to Sweden" not in values([stays.first, stays.second])
    apart = stays.choice.spreads
    assert apart["carbon of the other grid"].value == 0
    assert apart["carbon of the grid"].value < spreads["carbon of the grid"] / 2


def test_what_is_uncertain_lies_around_the_carbon():
    carbon, ends, (low, high) = eco.uncertain(deployed())
    assert low.value < carbon.value < high.value
    sides = {name: tuple(values([end.low, end.high])) for name, end in ends.items()}
    assert sides.pop("predicted speed") == (1.0, 1.0)  # since it was measured
    assert all(low < 1 < high for low, high in sides.values())
    known, _, (set_low, set_high) = eco.uncertain(deployed(), own_grid=True, own_making=True)
    assert low.value < set_low.value < known.value < set_high.value < high.value
    # nobody measured the chip of a training run: its power is uncertain as well, its load is not
    _, of_run, (less, more) = eco.uncertain(deployed("training"))
    rest = [of for name, of in ends.items() if name != LOAD]
    narrow_low, narrow_high = interval_of(carbon, rest)
    assert more.value / less.value > narrow_high.value / narrow_low.value
    assert of_run[LOAD].low.value == of_run[LOAD].high.value == 1
    assert high.value / low.value > narrow_high.value / narrow_low.value


def test_the_source_says_93_percent_and_hardware_two_thirds():
    saved = eco.savings(deployed()).set_index("what").map(lambda q: q.value)
    assert saved.loc["hardware worn out"].tolist() == pytest.approx([2 / 3, 8 / 9])
    energy = saved.loc["energy"]
    assert energy["same life"] == pytest.approx(energy["longer life"])
    assert energy["same life"] < 2 / 3
    assert saved.to_numpy().max() < 0.93


def test_regions_are_in_the_order_of_their_carbon_whatever_runs_there():
    rows = regions()
    of = deployed(utilization=0.9)
    columns = ["pue", "grams_per_kwh", "site_liters_per_kwh", "plant_liters_per_kwh"]
    kg = [
        replace(of, place=Place(pue, grams / 1e3, *water)).footprint.carbon.total.value
        for pue, grams, *water in rows[columns].itertuples(index=False)
    ]
    assert len(rows) > 80 and kg == sorted(kg)


def test_an_answer_stands_above_the_published_ones_if_somebody_measured_it():
    found = eco.beside_answers(deployed(), "mine", "all").iloc[0]
    served = deployed().footprint.carbon.total.value
    assert found["carbon"].value == pytest.approx(served * eco.ANSWER_TOKENS / eco.TOKENS)
    run = eco.beside_answers(deployed("training"), "mine", "all")
    assert np.isnan(values(run.loc[0, ["energy", "carbon", "water"]])).all()
    assert run["energy"][1:].notna().any()


def test_whoever_published_nothing_is_told_where_there_is_something():
    name = parameter("model", "Qwen2.5-0.5B")
    assert eco.nobody_published(name, "H100 SXM", "usual").value.endswith(
        "H100 SXM, nor on any other chip, and this page does not predict it"
    )
