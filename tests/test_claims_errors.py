"""The error that a recomputation by a model carries: of a ratio it is what pairs of published runs
say.
"""

from __future__ import annotations

import pandas as pd
import pytest
from scaleright.claims import errors


def runs(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_a_ratio_errs_by_what_two_runs_err_apart_both_ways():
    found = errors.of_pairs(
        runs(model=["a", "a", "b"], chips=[8, 16, 16], off=[1.0, 1.25, 9.0]), ["chips"], ["model"]
    )
    assert found == (0.8, 1.25)  # the run of another model makes no pair


def test_what_two_runs_do_not_state_is_no_difference():
    pairs = runs(model=["a", "a"], tensor=[None, None], off=[1.0, 3.0])
    with pytest.raises(ValueError, match="no two runs differ in tensor alone"):
        errors.of_pairs(pairs, ["tensor"], ["model"])


def test_errors_that_two_runs_share_cancel():
    """Twice the time on every run of a model is none of its ratios' errors."""
    alike = runs(model=["a", "a"], chips=[8, 16], off=[2.0, 2.0])
    assert errors.of_pairs(alike, ["chips"], ["model"]) == (1.0, 1.0)


@pytest.mark.parametrize("differ", errors.STEPS)
def test_two_steps_err_less_apart_than_each_for_itself(differ):
    low, high = errors.of_two_steps(differ)
    assert low * high == pytest.approx(1.0, rel=1e-3) and 1.02 < high < 1.309 / 0.9097


def test_an_unknown_difference_offers_the_nearest():
    with pytest.raises(LookupError, match="layout"):
        errors.of_two_steps("layouts")
