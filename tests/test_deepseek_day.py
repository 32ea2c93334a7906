"""DeepSeek's published day: what it says of itself, what is predicted of it, and the layouts with
experts held twice that it needs.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.catalog import fact
from scaleright.chapters.serving_accuracy import evidence as day
from scaleright.inference.deployment import check, valid
from scaleright.inference.lengths import Load
from scaleright.inference.memory import weights_per_chip
from scaleright.inference.serving import engine_step


def test_the_published_figures_agree_with_each_other():
    """Nodes that prefill and nodes that decode, by the tokens of the day, are those published."""
    tokens = (fact(f"deepseek_day_{name}_tokens") / 86400 for name in ("input", "output"))
    paces = (fact(f"deepseek_day_{pool}_tokens_per_s") for pool in ("prefill", "decode"))
    nodes = sum(of / pace for of, pace in zip(tokens, paces, strict=True))
    assert nodes == pytest.approx(fact("deepseek_day_gpus") / 8, rel=0.01)


def test_the_day_is_predicted_within_a_quarter_by_what_nobody_fitted_to_it():
    found = day.figures().set_index("figure")["error"]
    prefill, decode, nodes = found
    assert abs(prefill) < 0.15 and -0.25 < decode < 0.1 and abs(nodes) < 0.2
    of = day.predicted()
    assert of.decode == pytest.approx(8 * of.batch * fact("deepseek_day_user_tokens_per_s"))
    assert 0.2 < of.exchange < 0.5


def test_experts_held_twice_let_ranks_share_that_do_not_divide_them():
    pool = day.pool(144)
    assert pool.held_experts == 288 and bool(valid(pool))
    with pytest.raises(ValueError, match="expert = 144 does not divide experts = 256"):
        check(replace(pool, redundant=0))
    with pytest.raises(ValueError, match="experts = 256 \\+ 31 redundant"):
        check(replace(pool, redundant=31))
    for wrong, near in ((-1, 0), (1.5, 2), (300, 256)):
        with pytest.raises(ValueError, match=f"redundant = {wrong}.*nearest: {near}"):
            check(replace(pool, redundant=wrong))


@given(twice=st.integers(0, 8), each=st.floats(1, 200), ranks=st.sampled_from([8, 16, 32]))
def test_experts_held_twice_take_memory_and_never_save_a_step(twice, each, ranks):
    """Their weights are read as well where tokens reach them; balance of busy ones is not
    modeled."""
    plain = replace(day.pool(32), expert=ranks, attention_data=ranks, redundant=0)
    more, load = replace(plain, redundant=ranks * twice), Load(2000, 500)
    assert weights_per_chip(more) >= weights_per_chip(plain)
    steps = [engine_step(of, load, each * ranks, {}).total for of in (plain, more)]
    assert steps[1] >= steps[0] * (1 - 1e-3)


def test_without_experts_held_twice_everything_is_as_it_was():
    plain, both = (replace(day.pool(32), redundant=np.array(of)) for of in ([0], [0, 32]))
    alone, pair = (engine_step(of, Load(2000, 500), 3200.0).total for of in (plain, both))
    assert pair[0] == alone[0] != pair[1]
