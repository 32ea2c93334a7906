"""Curves: the few numbers of a deployment give its steady state, in Python and in the reader's
browser alike.
"""

import numpy as np
import pytest
from scaleright import catalog
from scaleright.inference.curves import IN_STEPS, curves
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.disaggregation import disaggregated
from scaleright.inference.engine_tables import curve_at, figures
from scaleright.inference.formats import usual_format
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines, fastest
from scaleright.inference.serving import slots, steady
from scaleright.inference.splits import reader_like, reads_apart

LOADS = [
    Load(1000, 1000),
    Load(2000, 500),
    Load(8000, 300, 0.8),
    Load(500, 4000),
    Load(20000, 1000),
]


def served(
    model: str, chip: str, precision: str, software: str = "vLLM 0.17.0", **degrees: int
) -> Deployment:
    return Deployment(
        catalog.model(model), catalog.accelerator(chip), precision, software=software, **degrees
    )


# The deployment, and how far its curve may lie off (more where groups wait for each other, a window
# moves in chunks, an expert gets few rows).
DEPLOYMENTS = [
    (served("Llama-3.1-8B", "H100 SXM", "BF16"), 0.03),
    (served("Llama-3.1-70B", "H100 SXM", "FP8", tensor=4), 0.03),
    (served("Llama-3.1-405B", "B200", "NVFP4", "TensorRT-LLM 1.2", tensor=8), 0.03),
    (served("Gemma-3-27B", "A100 SXM 80GB", "BF16", tensor=2), 0.03),
    (served("Llama-3.1-70B", "L40S", "FP8", pipeline=4), 0.03),
    (served("Qwen3-235B-A22B", "H200 SXM", "FP8", attention_data=4, expert=4), 0.09),
    (served("DeepSeek-V3.2", "B200", "FP8", tensor=8, expert=8), 0.05),
    (served("Qwen3-30B-A3B", "MI300X", "FP8"), 0.05),
    (served("gpt-oss-120b", "H100 SXM", "MXFP4", tensor=2), 0.08),
    (served("Llama-4-Maverick", "H200 SXM", "FP8", tensor=8), 0.08),
]


@pytest.mark.parametrize(
    "d, limit",
    DEPLOYMENTS,
    ids=lambda value: (
        f"{value.model.name} on {value.chip.name}" if isinstance(value, Deployment) else ""
    ),
)
def test_a_curve_is_the_deployment(d, limit):
    (one,) = curves([d])
    off = []
    for load in LOADS:
        room = float(slots(d, load))
        for batch in (1.0, 3.0, 16.0, 50.0, 200.0, 1000.0):
            if batch > room:
                continue
            true, found = steady(d, load, batch=batch), one.at(batch, load)
            off += [found.step_s / true.step.total - 1, found.tpot_s / true.tpot_s - 1]
            assert found.ttft_s == pytest.approx(true.ttft_s, rel=2 * limit)
            assert found.beat.requests == pytest.approx(true.rhythm.requests, rel=1e-9)
            assert 0 < found.looking_s + found.reading_s < found.step_s
    assert np.median(np.abs(off)) < limit / 3 and max(np.abs(off)) < limit


RACKS = [
    (served("DeepSeek-V3", "H200 SXM", "FP8", attention_data=8, expert=8), 0.09),
    (served("DeepSeek-V3", "GB300", "NVFP4", attention_data=64, expert=64), 0.09),
    (served("DeepSeek-V3", "GB200", "FP8", attention_data=16, expert=16), 0.09),
    (served("gpt-oss-120b", "GB300", "MXFP4", attention_data=16, expert=16), 0.03),
    (served("Qwen3-235B-A22B", "GB200", "FP8", attention_data=64, expert=64), 0.03),
]
"""Engines for which other groups read prompts, and how far their curves may lie off."""


@pytest.mark.parametrize("d, limit", RACKS, ids=lambda value: getattr(value, "cache_format", ""))
def test_the_curve_of_a_rack_is_that_of_prompts_and_answers_on_groups_of_their_own(d, limit):
    (one,), reader, off = curves([d]), reader_like(d), []
    assert reads_apart(d) and reader.chips <= 8 and reader.kv_precision == d.kv_precision
    for load in LOADS:
        for batch in (1.0, 16.0, 64.0, 200.0, 1000.0, 4000.0, 12000.0, 24000.0):
            if batch > slots(d, load):
                continue
            true, found = disaggregated(reader, d, load, batch), one.at(batch, load)
            chips = one.chips + one.reading_chips(found.requests_per_s, load)
            off += [found.tpot_s / true.tpot_s - 1, chips / true.chips - 1]
            assert found.ttft_s == pytest.approx(true.ttft_s, rel=limit)
            assert found.requests_per_s == pytest.approx(true.requests_per_s, rel=limit)
            assert found.reading_s == 0 < found.looking_s < found.step_s
    assert len(off) > 40 and np.median(np.abs(off)) < limit / 3 and max(np.abs(off)) < limit


def test_longer_prompts_are_never_cheaper_nor_sooner_on_a_rack():
    """Nor does a quicker pace write more on each of all chips."""
    known, tokens = curves([d for d, _ in RACKS[1:2]]), np.array([100.0, 1500.0, 8000.0, 30000.0])
    assert known[0].reader is not None
    for cached in (0.0, 0.8):
        found = fastest(known, Load(tokens, 500.0, cached), 1 / 40)
        assert np.all(found.kept > 0) and np.all(np.diff(found.tokens_per_s) < 0)
        assert np.all(np.diff(found.ttft_s) >= 0) and np.all(found.chips > known[0].chips)
        assert np.all((found.reading > 0) & (found.reading + found.looking < 1))
    paces = fastest(known, LOADS[1], 1 / np.array([5.0, 12.0, 30.0, 60.0, 90.0]))
    assert np.all(np.diff(paces.tokens_per_s) <= 1e-9)


def test_a_curve_beside_one_of_a_rack_is_the_same_as_alone():
    """With chips of its own for prompts named, of which there are none."""
    (one,), load = curves([DEPLOYMENTS[5][0]]), LOADS[1]
    beside = curve_at({f"{name} 0": of for name, of in figures(one, apart=True).items()}, 0)
    assert beside.reader == [*IN_STEPS] and one.reader is None
    assert vars(fastest([beside], load, 0.03)) == vars(fastest([one], load, 0.03))


def test_curves_of_some_kinds_of_work_add_up_to_that_of_all():
    d = served("Llama-3.1-70B", "H100 SXM", "FP8", tensor=4)
    (whole,), parts = (
        curves([d]),
        [
            curves([d], kinds=kinds)[0]
            for kinds in (
                ("matmul", "grouped", "attention", "cache", "elementwise"),
                ("tensor", "expert", "pipeline", "launch", "host", "sequences"),
            )
        ],
    )
    assert sum(np.array(part.decoding) for part in parts) == pytest.approx(
        np.array(whole.decoding), rel=2e-3
    )


def test_curves_of_several_engines_are_those_of_each():
    found = engines(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM"))
    assert curves(found) == [curves([d])[0] for d in found]


@pytest.mark.parametrize("pace", [10.0, 25.0, 60.0])
@pytest.mark.parametrize(
    "d, limit",
    DEPLOYMENTS[:2] + DEPLOYMENTS[5:8],
    ids=lambda value: value.model.name if isinstance(value, Deployment) else "",
)
def test_the_batch_of_a_pace_keeps_it_and_hardly_more_would(d, limit, pace):
    (one,), load = curves([d]), Load(2000, 500)
    batch = one.batch_at(1 / pace, load)
    if batch == 0:
        assert one.at(1.0, load).tpot_s > 1 / pace
    else:
        assert one.at(batch, load).tpot_s < 1.08 / pace
        assert (
            batch == pytest.approx(one.slots(load))
            or one.at(1.25 * batch + 1, load).tpot_s > 1 / pace
        )


def test_faster_is_dearer_and_a_pace_beyond_all_is_said():
    options = curves(engines(catalog.model("Llama-3.1-70B"), catalog.accelerator("H100 SXM")))
    found = fastest(options, Load(2000, 500), 1 / np.array([5.0, 20.0, 40.0, 80.0, 900.0]))
    assert np.all(np.diff(found.tokens_per_s[:4]) <= 0)
    assert found.kept.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert found.chips[3] > found.chips[0] and found.batch[4] == 1.0


def test_engines_fit_and_a_format_that_the_chip_lacks_is_refused():
    model, chip = catalog.model("gpt-oss-120b"), catalog.accelerator("A100 SXM 80GB")
    assert usual_format(model, chip) == "MXFP4"
    assert usual_format(catalog.model("Llama-3.1-8B"), chip) == "BF16"
    assert engines(catalog.model("DeepSeek-V3"), chip) == []  # 1.3 TB of weights on 640 GB
    found = engines(model, chip)
    assert len({d.chips for d in found}) > 1  # small groups for a few readers, large for a pace
    assert all(valid(d) and slots(d, LOADS[0]) >= 1 for d in found)
    with pytest.raises(ValueError, match="in FP8; nearest: MXFP4"):
        engines(model, chip, "FP8")
