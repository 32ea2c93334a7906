"""How sure one chip is cheaper than another: what both have in common cancels."""

import numpy as np
import pandas as pd
import pytest
from scaleright.catalog import table
from scaleright.decisions.two_chips import spread_apart
from scaleright.information import NINETY, spread_between
from scaleright.market import drift_apart, yearly_drift
from scaleright.validation import in_common


@pytest.mark.parametrize("common", [0.0, 0.5, 0.9])
def test_the_spread_of_a_ratio_is_that_of_draws(common):
    of = np.random.default_rng(0)
    both = of.multivariate_normal(
        [0, 0], [[0.04, common * 0.06], [common * 0.06, 0.09]], size=200_000
    )
    drawn = (both[:, 0] - both[:, 1]).std()
    assert spread_apart(0.2, 0.3, common) == pytest.approx(drawn, rel=0.01)


@pytest.mark.parametrize(
    "task, kind", [(task, kind) for task in in_common.ALIKE for kind in in_common.KINDS]
)
def test_nine_of_ten_measured_ratios_lie_where_the_correlation_says(task, kind):
    """Ratios of two chips over the predicted ratio, run by run; without the correlation the bounds
    would be wider, unless they are too narrow as it is (mixtures in training).
    """
    runs = in_common.runs_of_chips(task)
    of = in_common.ratios_of_chips(runs[runs["kind"] == kind], in_common.ALIKE[task])
    spreads = of["spread"].to_numpy(), of["spread_of_other"].to_numpy()
    common = in_common.error_in_common(task, kind)
    stated, alone = (spread_apart(*spreads, each) for each in (common, 0.0))
    rounding = 1 + 1e-9  # the ratio that bounds the correlation lies on its own bound
    within, at_most = (
        (of["apart"].abs() <= NINETY * each * rounding).mean() for each in (stated, alone)
    )
    assert min(at_most, 0.9) <= within < 0.98 and at_most > 0.85
    assert (stated < alone).all() if common else at_most < 0.9


def test_two_rents_move_together_in_part():
    apart, alone = (
        spread_between(*of.mean_over(1.0)) / np.sqrt(of_both)
        for of, of_both in ((drift_apart(), 2), (yearly_drift(), 1))
    )
    assert 0 < apart < alone  # independent rents would be as far apart as each moves alone


def test_too_few_pairs_and_unknown_words_are_refused(monkeypatch):
    with pytest.raises(LookupError, match="nearest: inference"):
        in_common.error_in_common("inferrence", "dense")
    with pytest.raises(LookupError, match="dense"):
        in_common.error_in_common("training", "densee")
    few = in_common.runs_of_chips("training").head(3).assign(kind="dense", model="m", source="s")
    monkeypatch.setattr(in_common, "runs_of_chips", lambda task: few)
    with pytest.raises(ValueError, match=r"pairs of chips with like runs of dense models"):
        in_common.error_in_common.__wrapped__("training", "dense")


def test_what_is_stored_is_what_the_judged_runs_say():
    stored, anew = table("errors_in_common"), in_common.refit()
    pd.testing.assert_frame_equal(stored, anew, check_dtype=False, rtol=0, atol=2e-4)
