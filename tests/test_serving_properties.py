"""What must hold for a server whatever it serves, on what and how: better chips and networks are
never slower, more readers never lower what it writes in all, more work is never cheaper.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from properties import NEVER, faster, linked, powers
from scaleright import catalog
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.inference import phases
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment, check, formats_of
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.lengths import Load
from scaleright.inference.phases import Machine, step_seconds
from scaleright.inference.serving import room, steady
from scaleright.inference.slowdowns import slowdowns

MODELS = (
    "Llama-3.1-8B",
    "Llama-3.3-70B",
    "Gemma-3-27B",
    "Qwen3-235B-A22B-Instruct-2507",
    "Llama-4-Maverick",
    "gpt-oss-120b",
    "DeepSeek-V3.1",
    "DeepSeek-V3.2",
)
CHIPS = ("A100 SXM 80GB", "H100 SXM", "B200", "GB200", "MI300X", "L40S", "RTX 5090")
SOFTWARE = ("vLLM", "vLLM 0.11.1", "vLLM 0.5.4", "TensorRT-LLM 1.2", "SGLang 0.5.9", "")


@st.composite
def cases(draw):
    """A deployment that keeps the rules, a load, and numbers of running sequences that fit."""
    model = catalog.model(draw(st.sampled_from(MODELS)))
    chip = catalog.accelerator(draw(st.sampled_from(CHIPS)))
    deployment = Deployment(
        model,
        chip,
        draw(st.sampled_from(formats_of(chip))),
        tensor=draw(powers(3)),
        pipeline=draw(powers(1)),
        expert=draw(powers(6)) if model.experts else 1,
        attention_data=draw(powers(3)) if model.experts else 1,
        software=draw(st.sampled_from(SOFTWARE)),
    )
    load = Load(
        draw(st.floats(30, 20_000)),
        draw(st.floats(16, 8000)),
        draw(st.sampled_from((0.0, 0.5, 0.9))),
        draw(st.sampled_from((0.0, 1.0))),
    )
    try:
        check(deployment)
        most = float(room(deployment, load))
    except ValueError:
        reject()
    of = draw(st.lists(st.floats(1, 2048), min_size=2, max_size=6))
    return deployment, load, np.array(sorted(min(batch, most) for batch in of))


class Better(Machine):
    """A chip with faster units, memory or links."""

    by: dict[str, float]

    def __init__(self, d):
        super().__init__(d)
        units, memory, links = (
            self.by.get(name, 1.0) for name in ("arithmetic", "bandwidth", "network")
        )
        self.plain, self.bandwidth = faster(self.plain, units, memory), self.bandwidth * memory
        self.speeds = {part: faster(of, units, memory) for part, of in self.speeds.items()}
        self.links = linked(self.links, links)


def served(case, load=None, batch=None):
    """The operating point of a case, or of another load or batch."""
    deployment, its, running = case
    return steady(deployment, load or its, batch=running if batch is None else batch)


def never_less(before, after):
    """That no number falls from before to after."""
    return bool(np.all(np.asarray(before) <= np.asarray(after) * NEVER))


@pytest.mark.parametrize("what", ["arithmetic", "bandwidth", "network"])
@given(case=cases(), factor=st.floats(1.01, 4.0))
def test_a_better_chip_is_never_slower(what, case, factor):
    """Nor is the first token later for a reader alone; among many it may be, since whoever is
    answered sooner asks again sooner, and more prompts wait for their turn.
    """
    now, alone = served(case), served(case, batch=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phases, "Machine", type("Faster", (Better,), {"by": {what: factor}}))
        then, sooner = served(case), served(case, batch=1.0)
    assert never_less(now.output_tokens_per_s, then.output_tokens_per_s)
    for figure in ("tpot_s", "itl_s", "request_s"):
        assert never_less(getattr(then, figure), getattr(now, figure))
    assert never_less(sooner.ttft_s, alone.ttft_s)


@given(case=cases())
def test_more_readers_never_lower_what_is_written_in_all(case):
    point, (_, _, batch) = served(case), case
    written = np.broadcast_to(point.output_tokens_per_s, batch.shape)
    assert never_less(written[:-1], written[1:])
    pace = np.broadcast_to(point.tpot_s, batch.shape)
    assert never_less(pace[:-1], pace[1:])


@given(case=cases(), factor=st.floats(1.01, 2.0))
def test_longer_prompts_and_answers_are_never_cheaper(case, factor):
    deployment, load, batch = case
    groups = deployment.attention_data * deployment.pipeline
    # blocks of a chunked window begin anew, and what a prompt leaves of one looks back on less
    assume(not deployment.model.chunked_window)
    # of several groups a prompt above a step's tokens is cut, which is taken to be free
    assume(groups == 1 or factor * load.input_tokens <= deployment.chunk_tokens)
    for longer in (
        replace(load, input_tokens=load.input_tokens * factor),
        replace(load, output_tokens=load.output_tokens * factor),
        replace(load, cached_share=load.cached_share / factor),
    ):
        try:
            most = room(deployment, longer)
        except ValueError:
            continue
        running = np.minimum(batch, most)
        now, then = served(case, batch=running), served(case, longer, running)
        assert never_less(then.requests_per_s, now.requests_per_s)


@given(case=cases(), context=st.floats(1, 100_000), factor=st.floats(1.0, 4.0))
def test_looking_back_further_never_takes_less_time(case, context, factor):
    deployment, _, batch = case
    slow = slowdowns(deployment)
    near, far = (
        step_seconds(deployment, batch, tokens, slowdowns=slow).total
        for tokens in (context, factor * context)
    )
    assert never_less(near, far)


@given(case=cases())
def test_eight_bits_are_slower_only_by_launches_of_casts_and_constants(case):
    """At measured peaks, where no family of constants differs."""
    deployment, load, batch = case
    assume("fp8" in deployment.chip.dense)
    short, plain = (
        step_seconds(
            replace(deployment, precision=form, kv_precision="BF16"), batch, load.context
        ).parts()
        for form in ("FP8", "BF16")
    )
    grown = {name for name, value in short.items() if not never_less(value, plain[name])}
    assert grown <= {"launch_s"}


@given(case=cases())
def test_shares_lie_between_none_and_all(case):
    beat, (_, _, batch) = served(case).rhythm, case
    for share in (beat.share, beat.carrying, beat.beside / batch):
        assert never_less(0, share) and never_less(share, 1)


@given(
    name=st.sampled_from(MODELS),
    chip=st.sampled_from(CHIPS),
    prompt=st.floats(10, 50_000),
    answer=st.floats(16, 10_000),
    batch=st.floats(1, 512),
)
def test_a_pages_curve_is_the_engines_model(name, chip, prompt, answer, batch):
    """Of the engines that the pages offer: within a tenth, and shares between none and all."""
    load, (engines, known) = Load(prompt, answer), engines_in(name, chip)
    for one, of in zip(engines, known, strict=True):
        try:
            running = min(batch, float(room(one, load)))
        except ValueError:
            continue
        at, true = of.at(running, load), steady(one, load, batch=running)
        if prompt + answer > 1000 and one.attention_data == 1:
            assert float(at.requests_per_s / true.requests_per_s) == pytest.approx(1, abs=0.1)
        for share in (at.reading_s / at.step_s, at.looking_s / at.step_s):
            assert -1e-9 <= share <= 1
        more = of.at(np.array([1.0, 2.0, 4.0]) * running, load)
        assert never_less(more.requests_per_s[:-1], more.requests_per_s[1:])


@given(
    hour=st.floats(0.01, 100),
    speed=st.floats(0.1, 1e5),
    load=st.floats(0.01, 0.5),
    more=st.floats(1, 2),
)
def test_a_token_costs_more_per_dollar_of_an_hour_and_less_by_load(hour, speed, load, more):
    now = usd_per_million_tokens(hour, speed, load)
    assert never_less(now, usd_per_million_tokens(hour * more, speed, load))
    assert never_less(usd_per_million_tokens(hour, speed, load * more), now)
    assert never_less(usd_per_million_tokens(hour, speed * more, load), now)


def test_curves_and_steps_of_one_chip_know_each_other():
    """The tables of a curve beside the step that they stand for, at tokens between its points."""
    d = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
    (one,) = curves([d], {})
    batch = np.array([3.0, 70.0, 190.0])
    true = step_seconds(d, batch, 0.0).total
    assert one.writing_s(batch) == pytest.approx(true, rel=0.02)
