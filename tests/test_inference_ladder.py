"""The levers on inference: what each changes, when it is refused, every order of them, and the
chapter's headline.
"""

import math
from dataclasses import replace
from functools import reduce
from itertools import permutations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.decisions.inference_ladder import inference_ladder, rungs_of_source
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import Service, chips, fleet_chips, groups, whole_groups
from scaleright.inference.formats import quality_loss
from scaleright.inference.lengths import Load, Speculation
from scaleright.inference.levers import LEVERS, by_order, climb
from scaleright.inference.nodes import engines_like, fastest
from scaleright.inference.splits import reads_apart

NAMES = [name for names in rungs_of_source().values() for name in names]


def service(model="Llama-3.1-8B", chip="H100 SXM", precision="BF16", **given) -> Service:
    deployment = Deployment(
        catalog.model(model),
        catalog.accelerator(chip),
        precision,
        software="vLLM 0.17.0",
        kv_precision="BF16",
    )
    usual = {
        "load": Load(1150, 210, input_cv=1.0, output_cv=1.0),
        "requests_per_s": 100.0,
        "peak_to_mean": 3.0,
        "together": 0.3,
    }
    return Service(
        deployment,
        **usual | {"services": 4, "variants": 2, "prefix_share": 0.5, "tpot_s": 0.05} | given,
    )


def fleet(of: Service) -> float:
    return chips(of, *groups(of))


def test_every_lever_of_the_table_is_computed():
    assert set(catalog.table("levers")["lever"]) == set(LEVERS)
    assert set(catalog.table("lever_quality")["lever"]) <= set(LEVERS)


def test_a_group_serves_more_the_better_it_batches():
    alone, static, continuous = (
        dict(zip(*groups(service(batch=batch, tpot_s=None)), strict=True)) for batch in (1, 8, None)
    )
    assert [*alone] == [*static] == [*continuous] and len(alone) == 3
    for size in alone:
        assert alone[size] < static[size] < continuous[size]


def test_a_batch_of_answers_of_one_length_waits_for_nobody():
    alike, spread = (service(batch=8, load=Load(1150, 210, output_cv=cv)) for cv in (0.0, 1.5))
    assert groups(alike)[1][0] > 1.5 * groups(spread)[1][0]


@pytest.mark.parametrize("streams", [1, 4, 16])
def test_pooling_saves_what_does_not_peak_together(streams):
    cases = (0.0, 1, streams), (0.0, streams, 1), (1.0, streams, 1)
    alone, pooled, lockstep = (fleet_chips(1000.0, 0.01, 1.0, 4.0, *case) for case in cases)
    assert pooled == pytest.approx(alone * (1 + 3 / streams**0.5) / 4, rel=1e-3)
    assert lockstep == pytest.approx(alone, rel=1e-3)


@hypothesis.given(
    demand=st.floats(0, 1e7),
    speed=st.floats(0.1, 1e7),
    group=st.sampled_from([1.0, 2.0, 8.0]),
    other=st.floats(0.1, 1e7),
)
def test_a_fleet_meets_the_demand_and_a_group_less_would_not(demand, speed, group, other):
    fleet = whole_groups([(group, speed * group), (4.0, 4 * other)], demand)
    size, of, served = map(float, fleet)
    assert size * served / of >= demand * (1 - 1e-6)
    assert size == of or (size - of) * served / of < demand
    assert size <= whole_groups([(group, speed * group)], demand).chips


def test_a_fleet_is_never_less_than_a_group_for_each_pool():
    assert fleet_chips(1e-6, 10.0, 8.0, 1.0, 0.0, 1, 5) == 40.0


def test_groups_that_share_chips_take_a_whole_number_of_them_together():
    assert fleet_chips(3.0, 1.0, 17.4, 1.0, 0.0, 1, 2) == 2 * math.ceil(2 * 17.4)
    assert fleet_chips(2.0, 1.0, 8.0, 1.0, 0.0, 1, 1) == 16.0


def test_prompts_of_a_rack_are_read_apart_in_a_fleet_as_in_the_price_of_a_token():
    of = service("DeepSeek-V3", "GB300", "NVFP4")
    found = engines_like(of.deployment)
    sizes, served = groups(of)
    assert len(sizes) == len(found) and fleet(of) % 1 == 0
    for d, size, most, one in zip(found, sizes, served, curves(found), strict=True):
        best = fastest([one], of.load, of.tpot_s)
        assert (size > d.chips) == (best.chips > d.chips) == reads_apart(d)
        # the numbers of sequences at which a fleet is tried lie a factor of 1.4 apart
        assert 1 / 1.4 < most / size / (best.tokens_per_s / of.load.output_tokens) < 1.05
    apart = groups(replace(of, split=True))
    assert apart[1][-1] == pytest.approx(served[-1]) and apart[0][0] > sizes[0]


def test_the_ladder_never_adds_chips_and_keeps_within_the_allowed_loss():
    for chip in ("A100 SXM 80GB", "H100 SXM", "B200", "MI300X", "RTX PRO 6000"):
        for batch in (8, None):
            for allowed in (0.0, 0.01, 0.05):
                rungs = climb(service(chip=chip, batch=batch), NAMES, allowed)
                counts = [rung.chips for rung in rungs]
                assert counts == sorted(counts, reverse=True)
                assert rungs[-1].loss <= allowed + 1e-9


@pytest.mark.parametrize(
    "given, lever, said",
    [
        ({"chip": "A100 SXM 80GB"}, "8-bit KV cache", "needs a chip that multiplies in FP8"),
        ({"chip": "MI300X"}, "2:4 pruning", "needs a dense model, an NVIDIA chip"),
        ({"model": "Mixtral-8x7B"}, "2:4 pruning", "needs a dense model"),
        ({"variants": 1}, "LoRA adapters", "needs several fine-tuned variants"),
        ({"services": 1}, "pooling", "needs services whose peaks"),
        ({"prefix_share": 0.0}, "prefix caching", "needs prompts that begin alike"),
        ({}, "continuous batching", "changes nothing"),
        ({"precision": "FP8"}, "8-bit weights", "changes nothing"),
        ({}, "speculative decoding", "needs a draft"),
        ({}, "smaller model", "needs a smaller model"),
        ({"smaller": "Llama-3.2-3B"}, "smaller model", "published loss of 17 %"),
        ({}, "4-bit weights", "published loss of 2.5 %"),
    ],
)
def test_a_lever_whose_conditions_do_not_hold_says_why(given, lever, said):
    if "smaller" in given:
        given = given | {"smaller": catalog.model(given["smaller"])}
    _, rung = climb(service(**given), [lever])
    assert said in rung.why


def test_a_chip_takes_the_eight_bits_that_it_multiplies():
    wanted = {"A100 SXM 80GB": "INT8", "H100 SXM": "FP8", "MI300X": "FP8"}
    rungs = {
        chip: climb(service(chip=chip, requests_per_s=2000.0), ["8-bit weights"], 0.1)[1]
        for chip in wanted
    }
    assert {chip: rung.service.deployment.precision for chip, rung in rungs.items()} == wanted


def test_the_loss_of_four_bits_takes_the_place_of_that_of_eight():
    rungs = climb(service("Llama-3.1-70B", batch=8), ["8-bit weights", "4-bit weights"], 0.1)
    assert list(rungs[-1].losses) == ["4-bit weights"]
    assert quality_loss("4-bit weights", "INT4", 7e10) < quality_loss("4-bit weights", "INT4", 8e9)


def test_every_order_is_walked_and_credits_add_up():
    of, names = (
        service(batch=8),
        ["8-bit weights", "LoRA adapters", "continuous batching", "pooling"],
    )
    size = np.empty((2,) * len(names))
    for picked in np.ndindex(size.shape):
        taken = [LEVERS[name] for name, takes in zip(names, picked, strict=True) if takes]
        size[picked] = fleet(reduce(lambda now, take: take(now), taken, of))
    found = by_order(names, size)
    saved = {name: [] for name in names}
    for order in permutations(names):
        now, before = of, fleet(of)
        for name in order:
            now = LEVERS[name](now)
            saved[name].append(1 - fleet(now) / before)
            before = fleet(now)
    for name in names:
        assert found.loc[name, ["least", "most"]].to_list() == pytest.approx(
            [min(saved[name]), max(saved[name])]
        )
        assert found.loc[name, "first"] == pytest.approx(1 - fleet(LEVERS[name](of)) / fleet(of))
    assert found["credit"].sum() == pytest.approx(1.0)
    logs = [np.mean(-np.log1p(-np.array(saved[name]))) for name in names]
    assert found["credit"].to_list() == pytest.approx(list(np.array(logs) / sum(logs)))


def test_a_draft_is_taken_only_where_it_pays():
    drafts = [
        climb(service(draft=Speculation(4, acceptance)), ["speculative decoding"])[1].why
        for acceptance in (0.05, 0.9)
    ]
    assert drafts[0] != "" and drafts[1] == ""


def test_prompts_on_groups_of_their_own_pay_at_a_tight_pace_alone():
    """Prompts beside the tokens of others stretch the gaps, which matters only where gaps are
    limited.
    """
    gains = []
    for pace in (0.03, 0.5):
        together = service(
            "Llama-3.1-70B",
            precision="FP8",
            load=Load(4000, 200),
            tpot_s=pace,
            requests_per_s=1000.0,
        )
        gains.append(1 - fleet(replace(together, split=True)) / fleet(together))
    assert gains[0] > 0.05 > gains[1]


def test_the_verdict_adds_up():
    verdict = inference_ladder(service("Llama-3.1-70B"))
    assert verdict.numbers["saving"][0] == pytest.approx(
        1 - verdict.numbers["chips then"][0] / verdict.numbers["chips today"][0]
    )
    assert not verdict.agrees and verdict.rule == "30 to 40 % together"


def test_what_cannot_be_served_is_refused_with_the_best_there_is():
    with pytest.raises(ValueError, match=r"needs .* at least"):
        groups(service("Llama-3.1-70B", tpot_s=0.001))
    with pytest.raises(ValueError, match="fits beside the weights"):
        groups(service("DeepSeek-V3", "A100 SXM 80GB"))
    with pytest.raises(LookupError, match="8-bit weights"):
        climb(service(), ["8 bit weights"])
