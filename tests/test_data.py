"""The committed tables: valid, sourced, and right where the facts are well known."""

import statistics

import pandas as pd
import pytest
from paths import DATA
from scaleright.press.datacheck import check

GIB = 2**30


@pytest.fixture(scope="module")
def chips():
    return pd.read_csv(DATA / "accelerators.csv", keep_default_na=False).set_index("name")


@pytest.fixture(scope="module")
def specs():
    tables = [
        pd.read_csv(DATA / f"{name}.csv")
        for name in ("accelerator_specs", "accelerator_specs_stas")
    ]
    return pd.concat(tables).pivot(index="accelerator", columns="quantity", values="value")


@pytest.fixture(scope="module")
def rentals():
    return pd.read_csv(DATA / "rental_prices.csv", parse_dates=["date"])


def test_every_table_is_valid():
    assert [str(problem) for problem in check(DATA) if not problem.notice] == []


@pytest.mark.parametrize(
    "accelerator, quantity, value",
    [
        ("H100 SXM", "dense_bf16_flops", 989e12),
        ("H100 SXM", "dense_fp8_flops", 1979e12),
        ("H100 SXM", "memory_bytes_per_s", 3.35e12),
        ("H100 SXM", "memory_bytes", 80 * GIB),
        ("H100 SXM", "tdp_watts", 700),
        ("H100 SXM", "scale_up_bytes_per_s", 450e9),
        ("A100 SXM 80GB", "dense_bf16_flops", 312e12),
        ("A100 SXM 80GB", "memory_bytes_per_s", 2.039e12),
        ("A100 SXM 40GB", "memory_bytes_per_s", 1.555e12),
        ("A10", "memory_bytes", 23028 * 2**20),
        ("V100 SXM 16GB", "dense_fp16_flops", 125e12),
        ("V100 SXM 16GB", "memory_bytes", 16 * GIB),
        ("T4", "dense_fp16_flops", 65e12),
        ("L4", "dense_bf16_flops", 121e12),
        ("H200 SXM", "memory_bytes_per_s", 4.8e12),
        ("B200", "dense_bf16_flops", 2.25e15),
        ("B200", "scale_out_bytes_per_s", 50e9),
        ("B300", "dense_int8_ops", 153.5e12),
        ("GB300", "dense_fp4_flops", 15e15),
        ("RTX 4090", "dense_bf16_flops", 165.2e12),
        ("RTX 3080 Ti", "dense_fp16_flops", 68.2e12),
        ("RTX 5090", "memory_bytes_per_s", 1.792e12),
        ("MI300X", "dense_bf16_flops", 1307.4e12),
        ("MI250X", "dense_bf16_flops", 383e12),
        ("TPU v5e", "dense_bf16_flops", 197e12),
        ("TPU v5p", "scale_up_bytes_per_s", 600e9),
        ("TPU v7", "dense_fp8_flops", 4614e12),
        ("Trainium2", "dense_bf16_flops", 667e12),
        ("Gaudi 3", "dense_bf16_flops", 1678e12),
    ],
)
def test_well_known_facts(specs, accelerator, quantity, value):
    assert specs.loc[accelerator, quantity] == pytest.approx(value, rel=1e-3)


def test_share_alike_figures_stay_in_their_own_table():
    assert "bekman2026" not in set(pd.read_csv(DATA / "accelerator_specs.csv")["source"])
    assert set(pd.read_csv(DATA / "accelerator_specs_stas.csv")["source"]) == {"bekman2026"}


def test_no_fact_stands_in_both_spec_tables():
    tables = [
        pd.read_csv(DATA / f"{name}.csv")
        for name in ("accelerator_specs", "accelerator_specs_stas")
    ]
    assert not pd.concat(tables).duplicated(["accelerator", "quantity"]).any()


@pytest.fixture(scope="module")
def benchmarked(specs):
    """Chips without a memory size that stand in the tables of MLPerf alone: nobody sells, rents or
    measures them here.
    """
    columns = {
        path.relative_to(DATA).as_posix(): pd.read_csv(
            path, usecols=lambda name: name == "accelerator"
        )
        for path in DATA.rglob("*.csv")
        if "specs" not in path.name
    }
    used = {
        mlperf: {
            chip
            for path, frame in columns.items()
            if path.startswith("mlperf") == mlperf and len(frame.columns)
            for chip in frame["accelerator"].dropna()
        }
        for mlperf in (True, False)
    }
    return used[True] - used[False] - set(specs.index[specs["memory_bytes"].notna()])


def test_every_chip_can_be_computed_with(chips, specs, benchmarked):
    for name in set(chips.index) - benchmarked:
        row = specs.loc[name].dropna()
        assert {"memory_bytes", "memory_bytes_per_s"} <= set(row.index), name
        assert any(q.startswith("dense_") for q in row.index), name


def test_what_is_sold_has_a_price_and_what_is_not_has_none(chips, specs, benchmarked):
    for name, chip in chips.drop(list(benchmarked)).iterrows():
        priced = pd.notna(specs.loc[name, "purchase_low_usd"])
        rented_only = (
            chip["vendor"] in ("Google", "AWS")
            or chip["status"] == "announced"
            or name in ("A10G", "H100 SXM 96GB", "H100 SXM 64GB")
        )
        assert priced != rented_only, name


def test_figures_are_consistent_with_each_other(specs):
    assert (specs["purchase_low_usd"].dropna() <= specs["purchase_high_usd"].dropna()).all()
    both = specs.dropna(subset=["dense_bf16_flops", "dense_fp8_flops"])
    assert (both["dense_fp8_flops"] >= both["dense_bf16_flops"]).all()
    for kind in ("bf16", "fp8"):
        measured = specs.dropna(subset=[f"measured_{kind}_matmul_flops"])
        efficiency = measured[f"measured_{kind}_matmul_flops"] / measured[f"dense_{kind}_flops"]
        assert efficiency.between(0.4, 1.0).all()
    assert (specs["idle_watts"] < specs["tdp_watts"]).where(specs["idle_watts"].notna(), True).all()
    # whole KiB: nobody's decimal gigabytes slipped in
    assert specs["memory_bytes"].dropna().mod(2**10).eq(0).all()
    assert specs["scale_up_bytes_per_s"].dropna().le(1.5e12).all()  # one direction


def test_no_listing_is_the_price_of_a_whole_node(rentals):
    for key, group in rentals.groupby([rentals["date"].dt.year, "accelerator", "pricing"]):
        middle = statistics.median(group["usd_per_accelerator_hour"])
        assert group["usd_per_accelerator_hour"].between(middle / 6, middle * 6).all(), key


def test_chips_that_the_chapters_compare_can_be_rented(rentals):
    wanted = {
        "RTX 4090",
        "RTX 3080 Ti",
        "RTX 3090",
        "RTX A6000",
        "T4",
        "A10",
        "A10G",
        "L4",
        "L40S",
        "A100 SXM 80GB",
        "H100 SXM",
        "H200 SXM",
        "B200",
        "B300",
        "MI300X",
        "TPU v5e",
        "TPU v6e",
        "V100 SXM 16GB",
        "Trainium1",
        "Inferentia2",
    }
    assert wanted <= set(rentals[rentals["pricing"] == "on_demand"]["accelerator"])


def test_the_stale_listing_is_gone(rentals):
    runpod = rentals[rentals["provider"].str.startswith("RunPod")]
    assert not (runpod["usd_per_accelerator_hour"] == 0.5).any()
