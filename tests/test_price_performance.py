"""What must be true of the price of arithmetic, memory, bandwidth and energy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright import catalog
from scaleright.costs import price_performance as pp
from scaleright.costs.break_even import compute_usd

price, flops, shares = st.floats(0.05, 50), st.floats(1e12, 1e16), st.floats(0.01, 1)


@given(rent=price, peak=flops, share=shares, hours=st.floats(1, 1e4))
def test_a_price_of_arithmetic_is_the_bill_over_the_work(rent, peak, share, hours):
    work = peak * share * 3600 * hours
    assert pp.usd_per_effective_pflop_hour(rent, peak, share) * work / 3.6e18 == pytest.approx(
        compute_usd(work, peak, share, rent)
    )


@given(rent=price, peak=flops, share=shares)
def test_half_the_achieved_share_doubles_the_price_and_the_energy(rent, peak, share):
    assert pp.usd_per_effective_pflop_hour(rent, peak, share / 2) == pytest.approx(
        2 * pp.usd_per_effective_pflop_hour(rent, peak, share)
    )
    assert pp.joules_per_tflop(rent, peak, share / 2) == pytest.approx(
        2 * pp.joules_per_tflop(rent, peak, share)
    )
    assert pp.usd_per_effective_pflop_hour(rent, peak, 1.0) == pp.usd_per_pflop_hour(rent, peak)


def test_an_h100_by_hand():
    """2 USD/h, 989.4 TFLOP/s, 80 GB, 3.35 TB/s, 700 W."""
    assert pp.usd_per_pflop_hour(2.0, 989.4e12) == pytest.approx(2.0214, rel=1e-4)
    assert pp.usd_per_gb_hour(2.0, 80e9) == pytest.approx(0.025)
    assert pp.usd_per_tb_per_s_hour(2.0, 3.35e12) == pytest.approx(0.59701, rel=1e-4)
    assert pp.joules_per_tflop(700.0, 989.4e12) == pytest.approx(0.70750, rel=1e-4)


def test_every_chip_of_the_catalog_is_priced_in_one_call():
    chips = [chip for chip in catalog.accelerators().values() if "bf16" in chip.dense]
    every = pp.usd_per_pflop_hour(2.0, np.array([chip.dense["bf16"] for chip in chips]))
    assert every.shape == (len(chips),)
    assert every[[chip.name for chip in chips].index("H100 SXM")] == pytest.approx(2.0214, rel=1e-3)
