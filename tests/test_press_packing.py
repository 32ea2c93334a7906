"""What a page's scripts say, compressed."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st
from scaleright.press.pages import packed, unpacked

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
parts = st.recursive(scalars, lambda of: st.lists(of) | st.dictionaries(st.text(), of))


@given(part=parts)
def test_what_a_script_says_comes_back_as_it_was(part):
    assert unpacked(packed(part)) == part


def test_a_script_says_nothing_that_could_end_it_and_takes_less():
    formulas = [{"name": f"q{at}", "expr": f"(datum.x</script>{at}) * 2"} for at in range(400)]
    told = packed(formulas)
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", told)
    assert len(told) < len(json.dumps(formulas)) / 3
    assert told == packed(formulas)
