"""Draw of serving chips: parts sum, the limit holds, unknown chips get the physics from their
datasheet.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.catalog import DataError
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import step_seconds
from scaleright.inference.power import (
    KINDS,
    LIMIT,
    borrowed,
    chip_draws,
    interval,
    step_joules,
    step_work,
)
from scaleright.inference.slowdowns import slowdowns

H100 = catalog.accelerator("H100 SXM")
LLAMA = Deployment(catalog.model("Llama-3.1-70B"), H100, tensor=4)


def test_parts_add_up_to_the_total():
    step = step_joules(LLAMA, 0.025, np.array([1.0, 64.0]), 600, 100.0, 100.0)
    assert np.allclose(sum(step.parts().values()), step.total)
    assert set(step.parts()) == {f"{kind}_j" for kind in KINDS}


def test_an_idle_step_draws_the_static_share():
    """A step that lasts a minute has next to nothing else to pay for."""
    share = step_joules(LLAMA, 60.0, 1, 100).total / (60 * 4 * 700)
    assert share == pytest.approx(chip_draws(H100)["static"][0], abs=0.005)


@given(
    seconds=st.floats(1e-4, 10.0),
    batch=st.floats(1.0, 4096.0),
    context=st.floats(1.0, 1e5),
    prompt=st.floats(0.0, 8192.0),
)
def test_no_chip_draws_more_than_its_limit(seconds, batch, context, prompt):
    watts = step_joules(LLAMA, seconds, batch, context, prompt, prompt / 2).total / seconds / 4
    assert 0 < watts <= LIMIT * 700 * (1 + 1e-9)


def test_energy_is_linear_in_the_draws_below_the_limit():
    once = step_joules(LLAMA, 1.0, 8, 100, draws=dict.fromkeys(KINDS, 0.1)).total
    assert step_joules(LLAMA, 1.0, 8, 100, draws=dict.fromkeys(KINDS, 0.2)).total == pytest.approx(
        2 * once
    )


def test_work_counts_each_weight_once_a_step_and_each_cache_once():
    work = [step_work(LLAMA, 1.0, batch, 1000.0) for batch in (1.0, 2.0, 3.0)]
    memory = [one["memory"] for one in work]
    # the cache of one more sequence
    assert memory[2] - memory[1] == pytest.approx(memory[1] - memory[0], rel=1e-6)
    cache = memory[1] - memory[0]
    # 320 KiB a token [Llama-3.1-70B], four chips
    assert cache == pytest.approx(327_680 * 1000 / 4 / (0.88 * 3.35e12), rel=0.05)
    assert memory[0] - cache == pytest.approx(2 * 69.5e9 / 4 / (0.88 * 3.35e12), rel=0.02)
    assert work[1]["compute"] == pytest.approx(2 * work[0]["compute"])


def test_replicas_of_attention_and_stages_read_their_own_weights():
    moe = catalog.model("DeepSeek-V3")
    split, copies = (
        Deployment(
            moe, catalog.accelerator("B200"), "FP8", tensor=tp, attention_data=8 // tp, expert=8
        )
        for tp in (8, 1)
    )
    assert step_work(copies, 1.0, 64, 1.0)["memory"] > step_work(split, 1.0, 64, 1.0)["memory"]
    one, two = (Deployment(LLAMA.model, H100, tensor=4, pipeline=stages) for stages in (1, 2))
    assert step_work(two, 1.0, 1.0, 1.0)["memory"] == pytest.approx(
        step_work(one, 1.0, 1.0, 1.0)["memory"], rel=0.01
    )


def test_fewer_bits_take_less_energy():
    eight = Deployment(LLAMA.model, H100, "FP8", tensor=4)
    assert step_joules(eight, 0.02, 64, 600).total < step_joules(LLAMA, 0.02, 64, 600).total


@pytest.mark.parametrize(
    "name", ["MI300X", "L40S", "A100 SXM 80GB", "B200", "H20", "RTX PRO 6000", "Gaudi 3", "L4"]
)
def test_every_chip_gets_the_physics_from_its_datasheet(name):
    chip = catalog.accelerator(name)
    d = Deployment(catalog.model("Llama-3.1-8B"), chip)
    busy, idle = (
        step_joules(d, seconds, 32, 500).total / seconds / chip.tdp_watts for seconds in (0.01, 1.0)
    )
    assert 0.15 < idle < 0.35 < busy <= LIMIT * (1 + 1e-9)
    seen = name.startswith(("A100", "B200", "H20"))
    assert bool(borrowed(chip)) != seen
    low, high = interval(d)
    assert low < 1 < high


def test_a_chip_without_design_power_is_refused():
    with pytest.raises(DataError, match="no tdp_watts for TPU v6e"):
        step_joules(
            Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("TPU v6e")), 0.01, 1, 100
        )


@pytest.mark.parametrize(
    "name, tensor", [("H100 SXM", 4), ("A100 SXM 80GB", 4), ("B200", 2), ("MI300X", 2)]
)
def test_reading_draws_more_than_writing_and_writing_more_than_waiting(name, tensor):
    """Prompts are bound by arithmetic, decoding by memory, and more sequences draw more."""
    d = Deployment(LLAMA.model, catalog.accelerator(name), tensor=tensor)

    def watts(*step):
        seconds = step_seconds(d, *step, slowdowns=slowdowns(d)).total
        return step_joules(d, seconds, *step).total / seconds / d.chips

    few, many = (watts(batch, 1000, 0.0, 0.0) for batch in (1, 256))
    waiting = chip_draws(d.chip)["static"][0] * d.chip.tdp_watts
    assert waiting < few < many <= watts(0.0, 1.0, 4000, 2000) * 1.15
