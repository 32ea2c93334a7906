"""The speed of a node as quantities is that of the engines it is looked up from."""

import math

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog
from scaleright.inference import nodes
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_tables import writing_seconds
from scaleright.inference.formats import offered, usual_format
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.inference.nodes import engines, fastest
from scaleright.inference.splits import SOFTWARE
from scaleright.quantity import evaluate, given
from scaleright.transformer import decode_step

MODELS = ("Llama-3.1-8B", "Llama-3.1-405B", "gpt-oss-120b", "Kimi-K2.5")
CHIPS = ("H100 SXM", "MI300X", "RTX 5090")
CASES = (
    {"reads": 2000, "writes": 500, "kept": 0.0, "pace": 30.0},
    {"reads": 100000, "writes": 32000, "kept": 0.5, "pace": 4.0},
    {"reads": 500, "writes": 4000, "kept": 0.9, "pace": 90.0},
)


@pytest.fixture(scope="module")
def speed():
    """Of any of the models on any of the chips."""
    now = {name: given(name, value) for name, value in CASES[0].items()}
    model, chip, form = given("model", MODELS[0]), given("chip", CHIPS[0]), given("form", "usual")
    load = Load(now["reads"], now["writes"], now["kept"])
    return node_speed(Engines.of(MODELS, CHIPS), model, chip, form, load, now["pace"])


@pytest.mark.parametrize("form", ["usual", "INT4", "NVFP4"])
@pytest.mark.parametrize("case", CASES)
def test_each_pair_has_the_speed_of_its_fastest_engine(speed, case, form):
    pairs = [(model, chip) for model in MODELS for chip in CHIPS]
    at = dict(zip(("model", "chip"), map(np.array, zip(*pairs, strict=True)), strict=True))
    wanted = speed.tokens_per_s, speed.ttft_s, speed.chips, speed.served, speed.why_not
    found = zip(*evaluate(wanted, case | at | {"form": form}), strict=True)
    load = Load(case["reads"], case["writes"], case["kept"])
    for (model, chip), (*numbers, served, why) in zip(pairs, found, strict=True):
        pair = catalog.model(model), catalog.accelerator(chip)
        if form not in ("usual", *offered(*pair)):
            assert not served and why == "not served in this format"
            with pytest.raises(ValueError, match=r"nearest: (MXFP4|INT4)"):
                engines(*pair, form)
            continue
        of = engines(*pair, form)
        best = fastest(curves(of), load, 1 / case["pace"]) if of else None
        if best and best.kept:
            assert numbers == pytest.approx([best.tokens_per_s, best.ttft_s, best.chips], rel=1e-6)
            assert served and why == ""
            continue
        assert not served and all(map(math.isnan, numbers))
        fits = best and any(one.slots(load) >= 1 for one in curves(of))
        assert why == (
            "too slow for this pace"
            if fits
            else "too long for its memory"
            if best
            else "no node holds the model"
        )


def test_bounds_and_lent_constants_are_those_of_the_pair(speed):
    wanted = speed.low, speed.high, speed.lent, speed.fitted, speed.weights.precision
    low, high, lent, fitted, form = evaluate(wanted, {"model": "gpt-oss-120b", "chip": "RTX 5090"})
    assert low < 1 < high and form == "MXFP4" and fitted == (lent == "")


def test_a_format_in_which_no_run_was_fitted_is_less_sure_and_says_so(speed):
    at = {"model": "Llama-3.1-8B", "chip": "H100 SXM"}
    wanted = speed.low, speed.high, speed.lent
    low, high, lent = evaluate(wanted, at | {"form": "FP8"})
    assert lent == "no run of dense models with vLLM on Hopper chips was fitted"
    wide_low, wide_high, why = evaluate(wanted, at | {"form": "INT4"})
    assert wide_high / wide_low > high / low
    assert why == f"{lent}; no run in INT4 on Hopper chips was fitted"


def test_a_step_takes_longer_than_its_floor_and_the_longer_the_more_it_has_to_do():
    """The bound of scaling_math, and the model of serving at the same step."""
    name, chip, form = "Llama-3.1-70B", "H100 SXM", "BF16"
    shape, of = catalog.model(name), catalog.accelerator(chip)
    for chips, batch in ((4, 8), (8, 64), (4, 256)):
        step = decode_step(
            shape, 2048, batch, form, chips, of.peak_flops("bf16"), of.memory_bytes_per_s, 1.0, 1.0
        )
        assert step.seconds < writing_seconds(name, chip, form, chips, batch, 2048)
    times = [writing_seconds(name, chip, form, 8, batch, 2048) for batch in (1, 64, 512)]
    assert times == sorted(times)
    with pytest.raises(ValueError, match="does not divide"):
        writing_seconds(name, chip, form, 7, 8, 2048)


def test_four_bits_are_multiplied_in_the_sixteen_that_a_chip_has():
    shape = catalog.model("Llama-3.1-8B")
    formats = [
        Deployment(shape, catalog.accelerator(chip), "INT4").compute_format("dense")
        for chip in ("T4", "L4")
    ]
    assert formats == ["FP16", "BF16"]


def _kind(tensor, pipeline, expert, apart):
    """How a mixture of experts is split over several chips, in a word."""
    if pipeline > 1:
        return "stages"
    if apart > 1:
        return "together and apart" if tensor > 1 else "apart"
    return "whole experts" if expert > 1 else "every expert"


def test_mixtures_are_split_as_two_publishers_at_least_have_measured():
    """And no other way, so that no engine is an answer that nobody publishes."""
    rows = catalog.table("measured/serving")
    degrees = ("tensor_parallel", "pipeline_parallel", "expert_parallel", "attention_data_parallel")
    rows = rows[rows["tensor_parallel"].notna() & (rows["mode"] == "aggregated")]
    mixtures = {name for name in set(rows["model"]) if catalog.model(name).experts}
    rows = rows[rows["model"].isin(mixtures) & rows["accelerators"].isin((2, 4, 8))]
    split = rows[[*degrees]].fillna(1).astype(int)
    kinds = pd.Series([_kind(*row) for row in split.to_numpy()], rows.index)
    published = rows.groupby(kinds)["source"].nunique()
    tried = {
        _kind(d.tensor, 1, d.expert, d.attention_data)
        for name in ("gpt-oss-120b", "Qwen3-235B-A22B", "DeepSeek-V3")
        for chip in ("H100 SXM", "H200 SXM", "B300", "GB300")
        for d in engines(catalog.model(name), catalog.accelerator(chip))
        if d.chips > 1
    }
    assert tried == {"every expert", "whole experts", "apart"}
    assert min(published[kind] for kind in tried) >= 2
    assert published.get("together and apart", 0) < 2


def test_experts_in_blocks_of_eight_bits_are_not_split_within_a_block():
    """As vLLM refuses Qwen3-235B in FP8 on eight chips that share every expert."""
    shape, chip = catalog.model("Qwen3-235B-A22B"), catalog.accelerator("H100 SXM")
    for form, allowed in (("FP8", False), ("BF16", True)):
        eight = [d for d in nodes.splits(Deployment(shape, chip, form)) if d.tensor == 8]
        assert {d.expert for d in eight} == ({1, 8} if allowed else {8})


RATES = Load(
    *np.array(
        [(3000, 300, 0.0), (500, 2000, 0.0), (12000, 900, 0.5), (1500, 4000, 0.2), (40000, 700, 0)]
    ).T
)
"""Requests for which no engine was chosen."""


@pytest.mark.parametrize("chip", ["H100 SXM", "H200 SXM", "B300", "A100 SXM 80GB", "L40S"])
@pytest.mark.parametrize("name", ["Llama-3.3-70B", "gpt-oss-120b", "Qwen3-235B-A22B"])
def test_the_few_engines_write_nearly_as_much_as_the_best_of_all_published_splits(name, chip):
    shape, of = catalog.model(name), catalog.accelerator(chip)
    every = nodes.splits(Deployment(shape, of, usual_format(shape, of), software=SOFTWARE))
    shares = []
    for pace in (12.0, 40.0, 70.0):
        few, all_of = (
            np.nan_to_num(
                np.where((best := fastest(found, RATES, 1 / pace)).kept > 0, best.tokens_per_s, 0.0)
            )
            for found in (curves(engines(shape, of)), curves(every))
        )
        assert ((few > 0) == (all_of > 0)).mean() >= 0.8
        shares += (few[all_of > 0] / all_of[all_of > 0]).tolist()
    assert len(shares) > 4 and np.mean(shares) > 0.9
