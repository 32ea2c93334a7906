"""The range stated for a prediction: what sources show counts alike, those that no fit sees among
them, and no source has a say in the range by which it is judged.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.pooling import interval_bounds
from scaleright.validation.cross_validation import HEARD, interval_rows

FITTED = 200


def ranges(near, far, beyond=(), strange="they"):
    """Low and high of each family, of one source that is fitted and one that no fit sees."""
    ratios = np.full(FITTED, near), np.full(FITTED, far), np.array(beyond, float)
    sources = np.array(["we"] * FITTED + [strange] * len(beyond))
    rows = interval_rows(*ratios, np.full(len(sources), "dense"), sources)
    return {(family, constant): values for family, constant, *values, _, _ in rows}


def test_many_rows_of_one_source_outweigh_no_other_source():
    few = ranges(1.0, 1.0, [2.0] * HEARD)
    assert interval_bounds(few, "dense") == (1.0, 2.0)
    thinner = ranges(1.0, 1.0, [2.0])  # one row of 31 that have a say
    assert interval_bounds(thinner, "dense") == (1.0, 1.0)


def test_a_source_has_no_say_in_the_range_by_which_it_is_judged():
    found = ranges(1.1, 1.1, [3.0] * 10)
    assert interval_bounds(found, "dense")[1] == 3.0
    assert interval_bounds(found, "dense", "they") == pytest.approx((1.1, 1.1))
    assert interval_bounds(found, "dense", "unknown") == interval_bounds(found, "dense")


@given(
    near=st.floats(0.5, 2.0),
    more=st.floats(0.5, 2.0),
    beyond=st.lists(st.floats(0.3, 3.0), max_size=60),
)
def test_what_borrows_has_the_wider_range(near, more, beyond):
    found = ranges(near, near * more, beyond)
    (low, high), (lower, higher) = (
        interval_bounds(found, family) for family in ("dense", "dense, borrowed")
    )
    assert lower <= low * (1 + 1e-12) and high <= higher * (1 + 1e-12)


@pytest.mark.parametrize("table", ["training_constants", "serving_constants"])
def test_each_source_that_no_fit_sees_is_judged_without_itself(table):
    families = {family for family, constant in catalog.fitted(table) if constant == "interval"}
    apart = {family.split(" without ")[1] for family in families if " without " in family}
    rows = catalog.table("measured/" + table.removesuffix("_constants"))
    assert apart and apart <= set(rows.loc[rows["held_out"].eq(True).fillna(False), "source"])
