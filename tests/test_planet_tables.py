"""The committed tables of grids, regions, embodied carbon, footprints and pictures."""

import pandas as pd
import pytest
from scaleright import catalog
from scaleright.chapters.scaling_math.evidence import decode_floor


def _value(table: str, column: str = "value", **where) -> float:
    rows = catalog.table(table)
    for name, wanted in where.items():
        rows = rows[rows[name] == wanted]
    assert len(rows) == 1, (table, where, len(rows))
    return float(rows[column].iloc[0])


@pytest.mark.parametrize(
    "zone, year, quantity, value",
    [
        ("USA", 2024, "carbon_lifecycle", 0.38355),
        ("USA", 2020, "carbon_lifecycle", 0.411698),
        ("WORLD", 2024, "carbon_lifecycle", 0.47301),
        ("WORLD", 2018, "carbon_direct", 0.475),
        ("FRA", 2024, "carbon_lifecycle", 0.04418),
        ("FRA", 2024, "water_consumption", 3.6737),
        ("US-RI", 2016, "carbon_direct", 870.822 * 0.45359237e-3),
        ("US-CAL-CISO", 2019, "carbon_lifecycle", 0.25117),
        ("AU-NSW", 2019, "carbon_lifecycle", 0.72468),
    ],
)
def test_well_known_grids(zone, year, quantity, value):
    assert _value("grids", zone=zone, year=year, quantity=quantity) == pytest.approx(
        value, rel=2e-4
    )


@pytest.mark.parametrize(
    "provider, region, year, quantity, method, value",
    [
        ("AWS", "us-east-1", 2023, "pue", None, 1.15),
        ("AWS", "us-east-1", 2024, "wue_site", None, 0.12),
        ("Microsoft Azure", "southeastasia", 2022, "wue_site", None, 2.06),
        ("Microsoft Azure", "westus2", 2022, "pue", None, 1.156),
        ("Google Cloud", "us-central1", 2024, "carbon_free_share", None, 0.87),
        ("Google Cloud", "us-central1", 2024, "carbon_average", "direct", 0.41272),
        ("Google Cloud", "europe-north1", 2019, "carbon_average", "lifecycle", 0.181),
        ("AWS", "eu-north-1", 2023, "carbon_marginal", "direct", 0.79126),
    ],
)
def test_well_known_regions(provider, region, year, quantity, method, value):
    rows = catalog.table("cloud_regions")
    rows = rows[rows["method"].isna() if method is None else rows["method"] == method]
    rows = rows[
        (
            rows[["provider", "region", "year", "quantity"]] == [provider, region, year, quantity]
        ).all(axis=1)
    ]
    assert len(rows) == 1 and float(rows["value"].iloc[0]) == pytest.approx(value)


def test_no_figure_is_beyond_what_can_be_or_given_twice():
    for table, keys in (
        ("grids", ["zone", "year", "quantity"]),
        ("cloud_regions", ["provider", "region", "year", "quantity", "method"]),
    ):
        rows = catalog.table(table)
        assert not rows.duplicated(keys).any()
        assert rows["flags"].isna().all()
        carbons = rows[rows["quantity"].str.startswith("carbon_") & (rows["unit"] == "kg/kWh")][
            "value"
        ]
        assert carbons.between(0, 1.5).all() and 0.2 < carbons.median() < 0.6
    pues = catalog.table("cloud_regions").query("quantity == 'pue'")["value"]
    assert pues.between(1, 2).all() and 1.1 < pues.median() < 1.25
    fuels = catalog.table("generation").set_index(["fuel", "quantity"])["typical"]
    assert fuels["natural gas", "carbon_lifecycle"] == 0.49
    assert fuels["coal", "carbon_lifecycle"] == 0.82
    assert fuels["coal", "water_consumption"] == pytest.approx(687 * 3.785411784e-3, rel=1e-3)


def test_a_country_has_one_vintage_and_a_marginal_plant_is_dirtier_than_a_clean_grid():
    usa = (
        catalog.table("grids")
        .query("zone == 'USA' and quantity == 'carbon_lifecycle'")
        .sort_values("year")
    )
    assert list(usa["year"]) == list(range(2018, 2025)) and usa["value"].diff().abs().max() < 0.03
    sweden = (
        catalog.table("cloud_regions")
        .query("region == 'eu-north-1' and year == 2023")
        .set_index("quantity")["value"]
    )
    assert sweden["carbon_marginal"] > 10 * sweden["carbon_average"]


def test_embodied_carbon_is_the_vendors_where_he_says_it():
    rows = catalog.table("embodied").set_index("component")
    assert rows.loc["HGX H100 baseboard", "typical_kg_co2e"] == 1312
    assert rows.loc["HGX B200 baseboard", "typical_kg_co2e"] == 2274
    assert rows.loc["H100 SXM", "low_kg_co2e"] == 1312 / 8
    assert rows.loc["B200", "low_kg_co2e"] == 2274 / 8
    ends = ["low_kg_co2e", "typical_kg_co2e", "high_kg_co2e"]
    for chip, ratio in {"H200 SXM": 364 / 273, "B200": 2274 / 1312}.items():  # by one assessor
        found = rows.loc[chip, ends] / rows.loc["H100 SXM", ends]
        assert found.tolist() == pytest.approx([ratio] * 3, rel=2e-3)
    assert rows.loc["server of BLOOM's cluster, without accelerators", "typical_kg_co2e"] == 2500
    die = rows.loc["die of H100"]
    assert die["unit"] == "piece" and die["typical_kg_co2e"] == pytest.approx(8.14 * 1.8, rel=1e-3)
    assert not set(rows["source"]) & {"boavizta2025"}
    assert set(catalog.table("embodied_boavizta")["source"]) == {"boavizta2025"}


@pytest.mark.parametrize(
    "run, kwh, kg",
    [
        ("patterson-2021/GPT-3", 1_287_000, 552_100),
        ("patterson-2021/T5", 85_700, 46_700),
        ("patterson-2021/Meena", 232_000, 96_400),
        ("patterson-2021/GShard", 24_100, 4_800),
        ("patterson-2021/Switch", 179_000, 72_200),
        ("mlcarbon/XLM", 94_400, 39_000),
        ("bloom-2022/dynamic", 433_196, 24_690),
        ("llama-1/LLaMA-65B", 449_000, 173_000),
        ("meta/Llama 2 70B", None, 291_420),
        ("meta/Llama 3.1 405B", None, 8_930_000),
        ("meta/Llama 4 Scout", None, 1_354_000),
        ("palm-2022", None, 271_430),
    ],
)
def test_published_footprints_and_their_own_arithmetic(run, kwh, kg):
    """Chip-hours x watts x PUE x intensity as published give the published total, to its digits."""
    row = catalog.table("measured/footprint").set_index("run").loc[run]
    assert kwh is None or row["measured_kwh"] == kwh
    assert row["measured_kg_co2e"] == kg
    pue = 1.1 if pd.isna(row["pue"]) else row["pue"]
    # Meta prints neither: those of its LLaMA paper
    intensity = 0.385 if pd.isna(row["kg_co2e_per_kwh"]) else row["kg_co2e_per_kwh"]
    chips_kwh = row["accelerator_hours"] * row["watts_per_accelerator"] / 1e3
    made = {"accelerator": chips_kwh, "facility": chips_kwh * pue}
    assert kwh is None or made[row["boundary"]] == pytest.approx(kwh, rel=0.01)
    assert made[row["carbon_boundary"]] * intensity == pytest.approx(
        kg, rel=0.1 if "Llama 4" in run else 0.03
    )


def test_footprints_say_what_they_are_for_and_where_they_ran():
    rows = catalog.table("measured/footprint")
    assert len(rows) >= 50 and set(rows["zone"].dropna()) <= set(catalog.table("grids")["zone"])
    training = rows[rows["activity"] == "training"]
    assert (training["per"] == "run").all()
    assert not (rows[rows["activity"] == "inference"]["per"] == "run").any()
    scoreable = training[
        training["accelerator_hours"].notna()
        & (training["measured_kwh"].notna() | training["measured_kg_co2e"].notna())
    ]
    assert len(scoreable) >= 30
    assert (
        rows["watts_per_accelerator"].notna()
        | (rows["basis"] != "design power")
        | rows["note"].str.contains("not scored")
    ).all()


def test_other_workloads_do_not_move_what_is_said_of_chat():
    rows = catalog.table("measured/energy")
    chat = rows[rows["task"] == "chat"]
    assert len(chat) == 243 and len(rows) > 650
    pd.testing.assert_frame_equal(decode_floor(rows), decode_floor(chat))


def test_energy_of_pictures():
    rows = catalog.table("measured/images")
    large = rows[
        (rows["model"].str.contains("Stable Diffusion 3.5 Large"))
        & (rows["accelerators"] == 1)
        & (rows["batch"] == 1)
    ]
    assert large.set_index("accelerator")["measured_joules_per_output"].between(500, 20_000).all()
    assert len(large) >= 2
    video = rows[rows["task"] == "text-to-video"]["measured_joules_per_output"]
    assert (
        video.median()
        > 20 * rows[rows["task"] == "text-to-image"]["measured_joules_per_output"].median()
    )
    watts = rows[rows["measured_watts"].notna()]
    joules = watts["measured_watts"] * watts["measured_latency_s"] / watts["batch"]
    assert (joules / watts["measured_joules_per_output"]).between(0.9, 1.1).mean() > 0.95
