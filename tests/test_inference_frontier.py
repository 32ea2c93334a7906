"""Fronts of throughput and interactivity, and split serving."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engine_cases import LLAMA as FOUR
from scaleright import catalog
from scaleright.chapters.vendor_claims.model import ENGINE, frontier, layouts
from scaleright.inference.deployment import Deployment
from scaleright.inference.disaggregation import disaggregated, transfer_seconds
from scaleright.inference.lengths import Load, trace
from scaleright.inference.serving import offline, steady

LLAMA, DEEPSEEK = catalog.model("Llama-3.1-70B"), catalog.model("DeepSeek-V3")
H100, GB200 = catalog.accelerator("H100 SXM"), catalog.accelerator("GB200")
CHAT = Load(1000, 300)


@pytest.fixture(scope="module")
def front():
    chips = map(catalog.accelerator, ("H100 SXM", "H200 SXM", "B200"))
    return pd.concat([frontier(LLAMA, CHAT, chip) for chip in chips])


def test_no_point_of_a_front_beats_another_in_both(front):
    for _, points in front.groupby("accelerator"):
        assert (np.diff(points["interactivity"]) < 0).all() and (
            np.diff(points["tokens_per_s"]) > 0
        ).all()


def test_each_point_of_a_front_is_an_operating_point(front):
    for row in front.iloc[:: len(front) // 7].to_dict("records"):
        degrees = {name: row[name] for name in ("tensor", "pipeline", "expert", "attention_data")}
        point = steady(
            Deployment(
                LLAMA,
                catalog.accelerator(row["accelerator"]),
                row["precision"],
                software=ENGINE,
                **degrees,
            ),
            CHAT,
            row["concurrency"],
        )
        assert point.tpot_s == pytest.approx(row["tpot_s"]) and point.ttft_s == pytest.approx(
            row["ttft_s"]
        )
        assert point.output_tokens_per_s_per_chip == pytest.approx(row["tokens_per_s"])
        assert point.joules_per_token == pytest.approx(row["joules_per_token"])


def test_a_front_is_above_every_layout(front):
    reached = front[front["accelerator"] == "H100 SXM"]
    points = steady(replace(FOUR, software=ENGINE), CHAT, np.array([1.0, 10.0, 100.0, 300.0]))
    for speed, pace in zip(points.output_tokens_per_s_per_chip, points.interactivity, strict=True):
        assert (
            reached.loc[reached["interactivity"] >= 0.93 * pace, "tokens_per_s"].max()
            >= 0.93 * speed
        )  # between grid points


def test_tensor_parallelism_stays_in_a_fabric_and_experts_spread():
    found = layouts(DEEPSEEK, H100, "FP8", CHAT)
    assert found.tensor.max() == 8 and (found.tensor * found.attention_data <= 64).all()
    assert ((found.expert == 1) | (found.expert == found.tensor * found.attention_data)).all()


def test_what_no_layout_holds_is_refused():
    with pytest.raises(ValueError, match="precision FP8 needs a chip with dense fp8"):
        frontier(LLAMA, CHAT, catalog.accelerator("A100 SXM"), "FP8")
    with pytest.raises(ValueError, match="no layout of up to 2 chips keeps the rules"):
        layouts(DEEPSEEK, H100, "FP8", CHAT, most_chips=2)
    with pytest.raises(LookupError, match="azure code"):
        trace("azure cod")


def test_waves_of_a_finite_run():
    load = Load(128, 512)
    full = offline(FOUR, load, 1000, 500)
    assert full.requests_per_s == pytest.approx(offline(FOUR, load, 500, 500).requests_per_s)
    # a wave for one request
    assert offline(FOUR, load, 501, 500).requests_per_s < 0.85 * full.requests_per_s
    assert offline(FOUR, load, 100_000, 500).requests_per_s == pytest.approx(
        full.requests_per_s, rel=1e-9
    )
    with pytest.raises(ValueError, match="offline: requests = 0"):
        offline(FOUR, load, 0)


def test_a_start_with_all_requests_delays_first_tokens():
    lone, begun = (steady(FOUR, CHAT, 64, requests=requests) for requests in (math.inf, 640))
    assert begun.ttft_s > 1.3 * lone.ttft_s and begun.tpot_s == lone.tpot_s
    assert steady(FOUR, CHAT, 1, requests=10).ttft_s == pytest.approx(steady(FOUR, CHAT, 1).ttft_s)


def test_split_serving_balances_and_adds_up():
    pair = disaggregated(FOUR, replace(FOUR, tensor=8), Load(4000, 400), 64)
    reads = FOUR.chunk_tokens / pair.prompt_step.total
    assert pair.ratio * reads == pytest.approx(pair.requests_per_s * 4000)
    assert pair.chips == 8 + 4 * pair.ratio
    assert pair.output_tokens_per_s == pytest.approx(pair.requests_per_s * 400)
    assert pair.requests_per_s * (pair.ttft_s + 399 * pair.tpot_s) == pytest.approx(
        pair.concurrency
    )
    assert pair.itl_s == pair.tpot_s < steady(replace(FOUR, tensor=8), Load(4000, 400), 64).tpot_s
    assert 100 < pair.watts_per_chip < 700


def test_the_cache_moves_slower_between_nodes_and_faster_over_more_links():
    near, far = Deployment(LLAMA, GB200, "FP8", tensor=4), FOUR
    assert transfer_seconds(near, near, 8000) < transfer_seconds(far, replace(far, tensor=8), 8000)
    kv = 8000 * 2 * 80 * 8 * 128 * 2
    assert transfer_seconds(far, replace(far, tensor=8), 8000) == pytest.approx(
        kv / 4 / 47e9, rel=0.1
    )
    with pytest.raises(
        ValueError, match=r"prefill serves Llama-3.1-70B, decode Llama-3.1-8B; allowed: one model"
    ):
        disaggregated(FOUR, replace(FOUR, model=catalog.model("Llama-3.1-8B")), CHAT)


def test_split_serving_pays_where_tokens_must_keep_their_pace():
    """On four decoding layouts of a rack, with the prompts read by groups of eight; a batch of each
    that gives a token in 20 ms at most.
    """
    group = np.array([8, 16, 32, 64])[:, None]
    decode, prefill = (
        Deployment(DEEPSEEK, GB200, "NVFP4", expert=size, attention_data=size)
        for size in (group, 8)
    )
    load, batch = Load(8000, 1000), np.geomspace(8, 4096, 60)
    best = [
        np.max(np.where(point.tpot_s <= 0.02, point.output_tokens_per_s_per_chip, 0.0))
        for point in (steady(decode, load, batch), disaggregated(prefill, decode, load, batch))
    ]
    assert best[1] > 1.2 * best[0] > 0


def test_a_front_of_split_serving_reaches_further():
    joint, split = (
        frontier(DEEPSEEK, Load(8000, 1000), GB200, split=by).query("tpot_s <= 0.02")
        for by in (False, True)
    )
    assert split["tokens_per_s"].max() > 1.2 * joint["tokens_per_s"].max()


def test_traces_are_loads():
    chat, code = trace("azure conversation"), trace("azure code")
    rows = catalog.table("request_lengths").set_index(["trace", "quantity"])["value"]
    assert code.context == pytest.approx(rows["azure code", "mean context_tokens"], rel=1e-6)
    assert code.prompt_context == pytest.approx(
        rows["azure code", "mean prefill_context_tokens"], rel=1e-3
    )
    assert steady(FOUR, code).output_tokens_per_s < steady(FOUR, chat).output_tokens_per_s
