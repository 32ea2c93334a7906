"""The time of kernels beside timed ones: the fitted constants, what is left out of a fit, and what
must be true of any.
"""

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog, roofline
from scaleright.roofline import matmul_seconds, speeds

CONSTANTS = (roofline.SUSTAINED_SHARE, roofline.RAMP_K, roofline.LAUNCH_S, roofline.MEMORY_SHARE)
BF16 = dict(peak_flops=794.5e12, bytes_per_s=2.95e12, units=132)


@pytest.fixture(scope="module")
def kernels():
    """Timed products with what their chip reaches."""
    rows = catalog.table("measured/kernels")
    chips = {name: catalog.accelerator(name) for name in rows["accelerator"].unique()}
    found = {name: speeds(chip) for name, chip in chips.items()}
    return rows.assign(
        peak=rows["accelerator"].map({name: of.matmul_flops for name, of in found.items()}),
        units=rows["accelerator"].map({name: of.units for name, of in found.items()}),
        bandwidth=rows["accelerator"].map(
            {name: chip.memory_bytes_per_s for name, chip in chips.items()}
        ),
    )


@pytest.fixture(scope="module")
def products(kernels):
    return kernels[kernels["columns"].notna()].astype(
        {"columns": float, "inner": float, "tokens": float}
    )


def predicted(rows, constants=CONSTANTS):
    """Seconds of products, by the library's formula with other constants."""
    sustained, ramp, launch, memory = np.abs(constants)
    return matmul_seconds(
        *(rows[name].to_numpy() for name in ("tokens", "columns", "inner")),
        (rows["peak"] * sustained / roofline.SUSTAINED_SHARE).to_numpy(),
        (rows["bandwidth"] * memory).to_numpy(),
        units=rows["units"].to_numpy(),
        ramp_k=ramp,
        launch_s=launch,
    )


def errors(rows, constants=CONSTANTS):
    """Absolute relative errors."""
    return np.abs(predicted(rows, constants) / rows["measured_s"].to_numpy() - 1)


def fitted(rows):
    """Constants of the least mean absolute logarithm."""
    from scipy.optimize import minimize

    scale = np.array(CONSTANTS)
    loss = lambda z: np.mean(
        np.abs(np.log(predicted(rows, z * scale) / rows["measured_s"].to_numpy()))
    )
    return (
        minimize(loss, np.ones(4), method="Nelder-Mead", options={"maxiter": 250, "fatol": 1e-5}).x
        * scale
    )


def test_products_are_predicted_within_a_few_percent(products):
    far, many = errors(products), products["tokens"].to_numpy() >= 512
    assert len(products) > 400
    assert np.median(far) < 0.055 and np.quantile(far, 0.9) < 0.17
    assert np.median(far[many]) < 0.055 and np.quantile(far[many], 0.9) < 0.15
    flop = (
        2 * products["tokens"] * products["columns"] * products["inner"] / products["peak"]
    ).to_numpy()
    fixed = flop * np.median((products["measured_s"] / flop)[many])
    assert np.quantile(np.abs(fixed / products["measured_s"] - 1), 0.9) > 4 * np.quantile(far, 0.9)


def test_the_constants_are_those_of_the_fit(products):
    best = fitted(products)
    assert best == pytest.approx(CONSTANTS, rel=0.25)
    assert errors(products, best).mean() > 0.97 * errors(products).mean()


@pytest.mark.parametrize(
    "left_out, middle, high",
    [("operation", 0.075, 0.28), ("tensor_parallel", 0.075, 0.27), ("accelerator", 0.08, 0.20)],
)
def test_what_a_fit_has_not_seen_is_predicted_too(products, left_out, middle, high):
    for value in products[left_out].unique():
        held = products[left_out] == value
        far = errors(products[held], fitted(products[~held]))
        assert np.median(far) < middle and np.quantile(far, 0.9) < high, value


def test_a_smaller_product_never_takes_longer_and_a_last_tile_costs_a_wave():
    sizes = np.arange(64, 4097, 64)
    assert (np.diff(matmul_seconds(sizes, 4096, 4096, **BF16)) >= 0).all()
    arithmetic = BF16 | {"bytes_per_s": 1e18}
    full = matmul_seconds(64 * 12, 64 * 11, 4096, **arithmetic)
    assert matmul_seconds(64 * 12 + 1, 64 * 11, 4096, **arithmetic) == pytest.approx(2 * full)
    assert matmul_seconds(64 * 11 + 1, 64 * 11, 4096, **arithmetic) == pytest.approx(full)


def test_a_grouped_product_is_the_same_work_in_one_launch():
    one = matmul_seconds(4096, 4096, 4096, **BF16)
    assert matmul_seconds(4096, 4096, 4096, **BF16, count=8) == pytest.approx(8 * one, rel=0.05)
    assert matmul_seconds(16, 2048, 7168, **BF16, count=32) < 32 * matmul_seconds(
        16, 2048, 7168, **BF16, launch_s=3.5e-6
    )


def test_no_product_beats_its_bytes_or_the_best_ever_measured():
    grid = [np.array(x).ravel() for x in np.meshgrid(*[2.0 ** np.arange(0, 16)] * 3)]
    m, n, k = grid
    seconds = matmul_seconds(m, n, k, **BF16)
    assert (seconds >= 2 * m * n * k / BF16["peak_flops"]).all()
    assert (seconds >= 2 * (m * k + k * n + m * n) / BF16["bytes_per_s"]).all()


def test_streaming_operations_reach_the_share_of_bandwidth_that_is_assumed_and_others_less(kernels):
    rows = kernels[kernels["moved_bytes"].notna() & (kernels["tokens"] >= 2048)]
    reached = rows["moved_bytes"] / rows["measured_s"] / rows["bandwidth"]
    share = reached.groupby([rows["operation"], rows["accelerator"]]).median().unstack()
    assert share.loc["add", "A100 SXM 80GB"] == pytest.approx(roofline.MEMORY_SHARE, abs=0.02)
    assert (share.loc["add"] >= share).all(axis=None)
    assert (share["H100 SXM"] >= share["A100 SXM 80GB"]).all()


def test_every_chip_has_speeds_below_its_datasheet_and_says_whose():
    for chip in catalog.accelerators().values():
        for precision, peak in roofline.PEAK_NAMES.items():
            if peak in chip.dense and chip.memory_bytes_per_s:
                found = speeds(chip, precision)
                assert 0 < found.matmul_flops <= found.peak_flops
                assert found.memory_bytes_per_s < chip.memory_bytes_per_s
                assert (found.matmul_basis == "measured") == (peak in chip.measured)
                assert found.units >= 1
                assert found.exponentials_per_s > 0


def test_wrong_formats_and_sizes_are_refused_by_name():
    with pytest.raises(
        LookupError, match=r"unknown format of matrix products 'FP9'; nearest: .*FP8"
    ):
        speeds(catalog.accelerator("H100"), "FP9")
    with pytest.raises(LookupError, match="fp4"):
        speeds(catalog.accelerator("H100"), "NVFP4")
    with pytest.raises(ValueError, match="k = 0 is outside its domain"):
        matmul_seconds(1, 1, 0, **BF16)


def test_a_column_of_measured_kernels_is_in_the_order_of_its_key():
    rows = catalog.table("measured/kernels")
    assert pd.MultiIndex.from_frame(
        rows[["accelerator", "model", "operation", "tensor_parallel", "tokens"]]
    ).is_unique
