"""The hardware radar: each axis and each gap, an order that no third chip changes, maturity by
criteria, evidence for alternatives.
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from chapter_cells import BOOK, shared
from scaleright import catalog, market, mlperf
from scaleright.chapters.hardware_radar import evidence
from scaleright.chapters.hardware_radar import model as hardware
from scaleright.costs.owned_hours import OwnedHour, owned_terms
from scaleright.quantity import evaluate

LLAMA = ("llama2-70b", "Offline")


@pytest.fixture(scope="module")
def cells() -> SimpleNamespace:
    """What the chapter's cells make."""
    return SimpleNamespace(**shared("hardware_radar").whole())


def scored(cells: SimpleNamespace, **case) -> pd.DataFrame:
    """The points of each chip on each axis."""
    found = evaluate(cells.points.values(), {"chip": cells.chips, **case})
    return pd.DataFrame(dict(zip(cells.points, found, strict=True)), index=cells.chips)


def test_a_faster_chip_gains_on_every_axis_that_counts_over_its_speed():
    weights, better = (2, 1, 0.5, 1, 3), {"cost": 1.2, "speed": 3.0, "energy": 2.0, "memory": 1.5}

    def score(times: float) -> float:
        of = {
            name: of * (times if name in hardware.OVER_SPEED else 1) for name, of in better.items()
        }
        return hardware.weighted([*(hardware.points(x, 4.0) for x in of.values()), 8.0], weights)

    gained = hardware.shift(1.5, weights, hardware.OVER_SPEED, 4.0)
    assert score(1.5) - score(1.0) == pytest.approx(gained)


def test_ten_times_better_is_the_rim_and_beyond_it_nothing_is_cut():
    assert hardware.points(3.0, span=3.0) == pytest.approx(10) and hardware.points(
        1 / 3, span=3.0
    ) == pytest.approx(0)
    assert hardware.points(100.0) == pytest.approx(15) and hardware.points(0.001) == pytest.approx(
        -10
    )
    with pytest.raises(ValueError, match="span = 1 is outside its domain"):
        hardware.points(2.0, span=1.0)


def test_the_reference_chip_stands_in_the_middle_of_every_axis_but_maturity(cells):
    for (benchmark, scenario), work in hardware.workload_rows().items():
        case = {"benchmark": benchmark, "scenario": scenario, "chip": work["reference"]}
        found = evaluate([cells.points[axis] for axis in hardware.AXES[:-1]], case)
        assert found == pytest.approx([5.0] * 4), case


def test_a_third_chip_never_changes_the_order_of_two(cells):
    """A chip's score depends on it and the reference chip alone, so that whoever leads some leads
    all fewer of them.
    """
    rng = np.random.default_rng(0)
    for weights in rng.uniform(0, 5, (20, 5)):
        known = scored(cells).dropna() @ weights
        order = [*known.sort_values(ascending=False).index]
        few = [order[i] for i in sorted(rng.choice(len(order), 4, replace=False))]
        lead = hardware.leading({name: float(known[name]) for name in few})
        assert [lead.chip.value, lead.next_chip.value] == few[:2]


def test_a_chip_without_weighty_figures_has_a_range_and_cannot_win(cells):
    low, high = evaluate([cells.low, cells.high], {"chip": "MI355X"})
    points = scored(cells).loc["MI355X"]
    assert points.index[points.isna()].tolist() == ["cost"]
    rest = points.drop("cost")
    assert low == pytest.approx(rest.sum() / 5) and high - low == pytest.approx(10 / 5)
    assert low < rest.mean() < high  # neither zero nor the mean of the others
    assert np.isnan(evaluate([cells.score], {"chip": "MI355X"})[0])
    case = {"chip": "MI355X", "weight_cost": 0.0}
    assert len({round(of, 9) for of in evaluate([cells.score, cells.low, cells.high], case)}) == 1


@pytest.mark.parametrize(
    "work, words",
    [
        (("whisper", "Server"), "scenario of whisper with a rate .* 'Server'; allowed: Offline"),
        (
            ("deepseek-r1", "Interactive"),
            "workload with a reference chip 'deepseek-r1 Interactive'; nearest: deepseek-r1 ",
        ),
    ],
)
def test_a_workload_without_a_reference_chip_is_refused_with_the_nearest(work, words):
    with pytest.raises(LookupError, match=words):
        hardware.reference(*work)


def test_the_rule_of_the_source_weighs_its_own_words():
    assert (
        hardware.source_rule((0, 1, 0, 9, 0)) == "GPU"
        and hardware.source_rule((0, 0, 1, 9, 0)) == "TPU"
    )
    assert hardware.source_rule((2, 0, 1, 0, 0)) == "TPU"


def test_speed_is_the_best_result_of_a_chip_in_the_benchmarks_newest_unit():
    rows = mlperf.summary()
    gptj = rows[(rows["benchmark"] == "gptj") & (rows["scenario"] == "Offline")]
    assert set(gptj["unit"]) == {"tokens/s", "samples/s"}
    assert hardware.workload_rows()["gptj", "Offline"]["unit"] == "tokens/s"
    assert (
        hardware.rate_rows()["gptj", "Offline", "H100 SXM"]["rate"]
        == gptj[(gptj["unit"] == "tokens/s") & (gptj["accelerator"] == "H100 SXM")]["best"].max()
    )


def test_measured_power_counts_only_beside_the_reference_chip_in_one_round_at_one_clock():
    rows, runs = hardware.submission_rows(), mlperf.power_efficiency()
    of = "resnet50", "Offline", "Cloud AI 100 Ultra"
    assert rows[of]["energy from"].startswith("measured system power")
    assert "v4.0" in rows[of]["energy from"] and np.isnan(hardware.chip_rows()[of[-1]]["watts"])
    runs = runs[
        (runs["benchmark"] == "resnet50")
        & (runs["scenario"] == "Offline")
        & (runs["round"] == "v4.0")
    ]
    best = runs.groupby("accelerator")["per_watt"].max()
    measured = hardware.power_rows()[of]["efficiency"]
    assert measured == pytest.approx(best["Cloud AI 100 Ultra"] / best["H100 SXM"])
    assert rows[*LLAMA, "B200"]["energy from"] == hardware.LIMIT
    # its power was measured in a round without an H100


def test_stand_ins_are_asked_for(cells):
    known, more = scored(cells), scored(cells, stand_ins=True)
    assert np.isnan(known.loc["TPU v6e", "speed"]) and np.isnan(more.loc["Rubin", "speed"])
    measured = known["speed"].notna()
    pd.testing.assert_frame_equal(more[measured], known[measured])
    reached = hardware.reached_flops()
    times = reached["TPU v6e"] / reached["H100 SXM"]
    assert more.loc["TPU v6e", "speed"] == pytest.approx(hardware.points(times))


def test_owning_prices_chips_that_nobody_rents_out_and_no_old_rent_counts(cells):
    rented, owned = (
        {
            chip: evaluate([cells.on.hour.usd], {"chip": chip, "paid": paid})[0]
            for chip in cells.chips
        }
        for paid in ("rent", "own")
    )
    assert (
        np.isnan(rented["MI355X"])
        and owned["MI355X"] > 0
        and np.isnan(rented["TPU v6e"])  # its listings are of March 2025
        and np.isnan(owned["TPU v6e"])
    )
    of, rent_of_one = hardware.chip_rows()["B200"], rented["B200"]
    owned_rows = owned_terms("B200", "data center")
    half, full = (
        evidence.prices_of_use(
            of, rent_of_one, OwnedHour.of(owned_rows, False, load).usd, 1000.0, np.nan, load
        )
        for load in (0.5, 1.0)
    )
    rent, own = "rented [USD per million]", "owned [USD per million]"
    assert half[rent] == pytest.approx(2 * full[rent]) and full[own] < half[own] < 2 * full[own]
    month = "rent [USD/month]"
    assert half[month] == full[month] == pytest.approx(rented["B200"] * 730.5)
    assert full["memory, rented [USD/GB/month]"] == pytest.approx(
        full[month] / (catalog.accelerator("B200").memory_bytes / 1e9)
    )


TERMS = (
    ("on demand", "median", "data center"),
    ("reserved", "median", "home"),
    ("on demand", "cheapest quarter", "colocation"),
)


def by_hand(chip: str, own: bool, stand_ins: bool, terms: tuple[str, str, str]) -> dict[str, float]:
    """What counts of a chip on gptj Server, out of the tables."""
    contract, seller, setting = terms
    rates = hardware.rate_rows()
    of = rates.get(("gptj", "Server", chip), {"rate": np.nan}) | hardware.chip_rows()[chip]
    if stand_ins and np.isnan(of["rate"]):
        base = hardware.reached_flops()["H100 SXM"] / rates["gptj", "Server", "H100 SXM"]["rate"]
        of["rate"] = of["reached_flops"] / base
    rent = market.recent_hour(chip, contract, seller)
    rent = rent.usd if rent else np.nan
    owned = OwnedHour.of(owned_terms(chip, setting), training=False).usd
    return of | {"usd_per_hour": owned if own else rent}


def test_every_chip_is_placed_by_what_the_tables_say(cells):
    for own, stand_ins, terms in product((False, True), (False, True), TERMS):
        case = {"benchmark": "gptj", "scenario": "Server", "stand_ins": stand_ins}
        case |= dict(zip(("contract", "seller", "setting"), terms, strict=True))
        case |= {"paid": "own" if own else "rent", "chip": cells.chips}
        found = evaluate(cells.better.values(), case)
        than, wanted = by_hand("H100 SXM", own, False, terms), []
        for chip in cells.chips:
            power = hardware.power_rows().get(("gptj", "Server", chip), {"efficiency": np.nan})
            of = by_hand(chip, own, stand_ins, terms)
            times = hardware.times_better(of, than, power["efficiency"])
            wanted.append([*times.values()] if of["rate"] > 0 else [np.nan] * 4)
        np.testing.assert_allclose(np.transpose(found), wanted, rtol=1e-6)


def test_maturity_counts_ten_criteria():
    rows = hardware.maturity_criteria()
    assert (
        set(rows.groupby("accelerator").size()) == {10} and rows["points"].isin([0, 0.5, 1]).all()
    )
    h100 = rows[rows["accelerator"] == "H100 SXM"].set_index("criterion")
    submitters = (
        mlperf.comparable(hardware.RECENT_ROUNDS)
        .query("accelerator == 'H100 SXM'")["submitter"]
        .nunique()
    )
    assert (
        h100.loc["MLPerf submitters", "value"] == str(submitters)
        and h100["points"].sum() == hardware.maturity()["H100 SXM"]
    )
    assert "Cloud AI 100 Pro" not in set(
        rows["accelerator"]
    )  # no criteria for its platform: missing, not zero


def test_a_program_that_left_an_old_chip_behind_gives_it_no_point():
    rows = hardware.maturity_criteria().set_index(["accelerator", "criterion"])["value"]
    assert (rows["T4", "FlashAttention"], rows["A10", "FlashAttention"]) == ("no", "yes")
    assert (rows["TPU v5e", "SGLang"], rows["TPU v6e", "SGLang"]) == ("no", "apart")


def test_evidence_said_to_be_a_benchmark_has_results_and_none_has_nothing():
    rows = evidence.alternatives()
    assert ((rows["evidence"] == "benchmark") == (rows["inference"] > 0)).all()
    assert (rows.loc[rows["evidence"] == "prices", "prices"] > 0).all()
    nothing = rows[rows["evidence"] == "none"]
    assert (nothing[["inference", "training", "serving"]] == 0).all().all() and nothing[
        "value"
    ].isna().all()
    assert {"TPU", "FPGA", "photonic", "DePIN", "consumer card"} <= set(rows["technology"])


def test_stand_ins_are_judged_against_every_measurement():
    test = evidence.datasheet_test()
    speed, energy = (test[test["what"] == what] for what in ("speed", "energy"))
    assert len(speed) > 200 and len(energy) >= 10
    assert energy["off"].median() < speed["off"].median()


def test_charts_leave_a_missing_axis_open_and_draw_far_points_at_the_edge():
    shown = BOOK.notebook("hardware_radar").read_text()
    assert (
        shown.count("isFinite(datum._value)") > shown.count("max(0, min(10.0, datum._value))") > 0
    )
    assert "datum._to - datum._from < 5.0" in shown
