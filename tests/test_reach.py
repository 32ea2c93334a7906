"""The best matrix product of a chip that nobody measured: from the same silicon, at its own power
limit, held to pairs of cards that MLPerf timed.
"""

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog, market
from scaleright.catalog import reach
from scaleright.roofline import speeds

IMAGES = ("resnet", "retinanet", "ssd", "unet3d")
"""Models whose activations and gradients are small beside their arithmetic: neither memory nor
network tells two cards of the same silicon apart.
"""


def rates() -> pd.DataFrame:
    """What chips train in a second, in the middle of all rounds, by benchmark and number of
    chips.
    """
    runs = catalog.table("mlperf_training").dropna(subset=["logged_throughput"])
    key = ["benchmark", "accelerators", "accelerator"]
    return runs.groupby(key, as_index=False)["logged_throughput"].median()


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    """Two cards of the same silicon at two limits, on the same number of chips."""
    found = []
    for _, alike in rates().groupby(["benchmark", "accelerators"]):
        rows = list(alike.itertuples())
        chips = [catalog.accelerator(row.accelerator) for row in rows]
        for low, row in zip(chips, rows, strict=True):
            for high, other in zip(chips, rows, strict=True):
                same = reach.architecture(low) and reach.architecture(low) == (
                    reach.architecture(high)
                )
                apart = low.memory_bytes_per_s != high.memory_bytes_per_s
                if not same or not reach.best_matmul(low, "bf16")[1].endswith(high.name):
                    continue  # its own matrix products were measured, or another sibling lends its
                if low.tdp_watts >= high.tdp_watts or (apart and row.benchmark not in IMAGES):
                    continue
                expected = [reach.best_matmul(chip, "bf16")[0] for chip in (low, high)]
                found.append(
                    {
                        "chip": low.name,
                        "limit": low.tdp_watts / high.tdp_watts,
                        "measured": row.logged_throughput / other.logged_throughput,
                        "predicted": expected[0] / expected[1],
                        "by_peak": low.dense["bf16"] / high.dense["bf16"],
                    }
                )
    return pd.DataFrame(found)


def test_the_exponent_of_the_power_limit_is_the_median_of_pairs_of_cards(pairs):
    exponents = np.log(pairs["measured"]) / np.log(pairs["limit"])
    assert len(pairs) >= 10 and pairs["chip"].nunique() >= 4
    assert exponents.median() == pytest.approx(reach.POWER_EXPONENT, abs=0.03)
    assert exponents.between(0.4, 0.7).all()


def test_a_card_left_out_of_the_fit_is_predicted_and_better_than_by_its_peak(pairs):
    for name, own in pairs.groupby("chip"):
        rest = pairs[pairs["chip"] != name]
        exponent = (np.log(rest["measured"]) / np.log(rest["limit"])).median()
        assert exponent == pytest.approx(reach.POWER_EXPONENT, abs=0.06), name
        off, off_by_peak = (
            (own[column] / own["measured"] - 1).abs().median()
            for column in ("predicted", "by_peak")
        )
        assert off < 0.09 and off <= off_by_peak + 1e-12, name


@pytest.mark.parametrize("name", ["H100 NVL", "H100 PCIe", "MI350X", "A800 PCIe 80GB"])
def test_no_card_takes_the_share_of_a_sibling_that_draws_more(name):
    chip = catalog.accelerator(name)
    left, watts = reach.held_back(chip)
    assert left < 0.95 and f"{chip.tdp_watts:g} of the" in watts
    for form in {"bf16", "fp8"} & set(chip.dense):
        rate, whose = reach.best_matmul(chip, form)
        assert whose.endswith(watts) and rate < chip.dense[form]
    share = market.matmul_chips()[name]["compute_efficiency"]
    assert share == pytest.approx(speeds(chip).matmul_flops / chip.dense["bf16"])


def test_a_higher_limit_lends_no_more_than_the_share_that_was_measured():
    ultra, hotter = catalog.accelerator("B300"), catalog.accelerator("GB300")
    assert hotter.tdp_watts > ultra.tdp_watts and reach.held_back(hotter) == (1.0, "")
    rate, whose = reach.best_matmul(hotter, "bf16")
    assert whose == "bf16 share of B300"
    assert rate / hotter.dense["bf16"] == pytest.approx(
        ultra.measured["bf16"] / ultra.dense["bf16"]
    )


def test_what_was_measured_and_what_was_trained_on_is_left_as_it_is():
    for name in ("H100 SXM", "MI300X", "A100 PCIe 80GB", "H100 SXM 96GB", "L4"):
        assert reach.held_back(catalog.accelerator(name)) == (1.0, ""), name


def test_a_format_that_a_chip_lacks_is_refused():
    with pytest.raises(LookupError, match=r"unknown precision of A100 SXM 80GB 'fp8'"):
        reach.best_matmul(catalog.accelerator("A100"), "fp8")
