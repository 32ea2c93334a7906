"""What a cache of prefixes keeps: the import of the table, and what an engine's memory holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.chapters.load_of_a_day.evidence import kept
from scaleright.costs.day_choices import fitting
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.prefix_cache import kept_by_time, kept_share, stays_s
from scaleright.inference.traffic import hour_of, load_of

from refresh import prefix_cache
from refresh.prefix_cache import Prompt, blocks_of, hits


def test_a_prompt_shares_the_blocks_of_the_one_that_it_goes_on_from():
    first = Prompt(0.0, 1100, 100, 3, 0, 2)  # blocks 0, 1 and a part, 2
    other = Prompt(1.0, 1100, 900, 3, 0, 4)  # begins alike: 0, 3, 4
    more = Prompt(90.0, 1700, 50, 4, 0, 6)  # two shared, too short to hold the other's answer
    same = Prompt(99.0, 1700, 50, 4, 0, 6)  # nothing new
    ids, _ = blocks_of([first, other, more, same])
    assert ids == [[0, 1, 2], [0, 3, 4], [0, 1, 5, 6], [0, 1, 5, 6]]


@given(st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=6, unique=True), min_size=1))
def test_a_larger_cache_never_holds_less(every):
    paths = [sorted(ids) for ids in every]
    found = [hits(paths, size) for size in (1, 4, 16, 64)]
    assert found == sorted(found) and found[0] >= 0 and found[-1] < 1


def test_a_cache_of_everything_holds_what_the_trace_shares():
    rows = catalog.table("prefix_cache").sort_values("blocks")
    assert rows["hit_share"].is_monotonic_increasing
    shared = hour_of("long conversation").cached_share
    assert rows["hit_share"].iloc[-1] == pytest.approx(shared, abs=0.01)
    assert list(rows["blocks"]) == list(prefix_cache.SIZES)


@given(st.floats(0.01, 1e5), st.floats(1, 10))
def test_what_stays_longer_is_found_more_often(stays, more):
    assert kept_by_time()[2][0] <= kept_share(stays) <= kept_share(stays * more) <= 1


def test_an_engine_with_more_memory_left_keeps_more():
    load = load_of("long conversation")
    one, two = engines_in("Llama-3.3-70B", "H100 SXM")[1][:2]
    assert stays_s(one, load, 5.0, 0.5) > stays_s(one, load, 8.0, 0.5)
    assert stays_s(two, load, 5.0, 0.5) > stays_s(one, load, 5.0, 0.5)
    assert stays_s(one, load, 1e6, 0.5) == 0
    name = "Llama-3.3-70B", "long conversation"
    of = [fitting(name[0], chip, name[1]) for chip in ("H100 SXM", "H200 SXM")]
    assert 0.1 < of[0] < of[1] < 1


def test_simulated_fleets_keep_their_promise():
    found = kept().set_index("trace")
    for calm in ("conversation", "code completion"):
        assert found.loc[calm, "kept"] == found.loc[calm, "fleets"] >= 60
    assert found.loc["long conversation", "kept"] >= 0.8 * found.loc["long conversation", "fleets"]
