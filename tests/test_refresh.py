"""Importers on a small synthetic raw folder: what they take, what they drop and why, and that they
fail whole.
"""

import os
import random
import re
import shutil
from pathlib import Path

import pytest
from raw_files import write_raw
from small_package import write_package

import refresh as package
from refresh import RefreshError, prices_history, refresh, traces
from refresh.rules import columns, facts, rule
from refresh.tables import cell_text, merge, number_text, parse_csv, read_table, sift, table_text

DATA = Path(__file__).resolve().parents[1] / "data"
RAW = os.environ.get("SCALERIGHT_RAW")
"""Folder of the raw material, for those who have it."""
TIMED = {"measured/kernels", "measured/collectives", "measured/collectives_stas"}
"""Tables whose raw files test_profiling_data.py writes."""
TRAINED = {
    "measured/training",
    "measured/layouts",
    "measured/memory",
    "chinchilla_points",
    "interruptions",
    "measured/reliability",
}
"""Tables of training, which have tests of their own."""
PLANET = {
    "grids",
    "cloud_regions",
    "embodied",
    "embodied_boavizta",
    "measured/footprint",
    "measured/images",
}
"""Tables whose raw files test_planet_data.py writes."""
BY_HAND = ("accelerators", "grids")
"""Tables that others refer to."""


if RAW:  # defined only where there is raw material, so that nobody takes a skip for a pass

    def test_the_committed_tables_are_what_the_raw_material_gives(tmp_path):
        shutil.copytree(DATA, tmp_path / "data")
        reports = refresh(Path(RAW), tmp_path / "data")
        for path in DATA.rglob("*.csv"):
            assert (tmp_path / "data" / path.relative_to(DATA)).read_bytes() == path.read_bytes(), (
                path.name
            )
        assert sum(len(report.dropped) for report in reports) > 100

    @pytest.mark.parametrize(
        "file, importer, blank",
        [
            (prices_history.MONTHLY, prices_history._monthly, 0),
            (prices_history.GIX, prices_history._gix, 0),
            (prices_history.MCKEE, prices_history._mckee, 39),
            (prices_history.WYLUDA, prices_history._wyluda, 0),
        ],
    )
    def test_every_raw_figure_of_a_history_is_taken_or_left_out(file, importer, blank):
        rows = parse_csv((Path(RAW) / file).read_text(), file)
        figures = [
            cell
            for row in rows
            for column, cell in row.items()
            if cell and re.search("median|index_value|usd_per|^(hyper|neo)", column)
        ]
        figures += [
            entry for row in rows for entry in row.get("provider_values", "").split(";") if entry
        ]
        found, dropped = sift(importer(Path(RAW)))
        assert len(found) + len(dropped) == len(figures) + blank
        assert sum("blank" in drop.reason for drop in dropped) == blank


# the tables beside the importers


def test_every_rule_says_what_becomes_of_a_name_and_every_drop_why():
    lines = facts("rules.csv")
    assert len({(line["file"], line["what"], line["name"]) for line in lines}) == len(lines)
    assert {line["action"] for line in lines} == {"keep", "drop", "skip"}
    for line in lines:
        assert (line["action"] == "keep") != bool(line["reason"]), line
        assert line["action"] == "keep" or not line["ours"], line


def test_names_and_wrong_values_are_of_chips_that_the_tables_hold():
    known = {row["name"] for row in read_table(DATA / "accelerators.csv")}
    ours = {
        chip
        for line in facts("rules.csv")
        if line["what"] in ("accelerator", "instance family")
        for chip in line["ours"].split(";")
    }
    ours |= {line["ours"] for line in facts("rules.csv") if line["what"].startswith("accelerator ")}
    assert ours - {""} - known == set()
    assert {
        line["accelerator"] for line in facts("wrong.csv") if "*" not in line["accelerator"]
    } - known == set()
    owned = {source for _, sources in package.IMPORTERS.values() for source in sources}
    assert {line["source"] for line in facts("wrong.csv")} <= owned
    assert all(line["reason"] for line in facts("wrong.csv"))


def test_a_name_of_its_own_goes_before_a_pattern_and_patterns_in_their_order():
    sheet = "epoch/ml_hardware_ai_accelerators.csv"
    assert rule(sheet, "accelerator", "NVIDIA GeForce RTX 4090").ours == "RTX 4090"
    assert (
        rule(sheet, "accelerator", "NVIDIA GeForce RTX 2080").reason
        == "a variant outside the set of this book"
    )
    assert (
        rule(sheet, "accelerator", "Some chip").reason
        == "the generation is covered by its variants"
    )
    with pytest.raises(
        RefreshError, match=r"unknown precision 'int2'; add a line for it to refresh/rules.csv"
    ):
        rule("ml_energy/v3_2026-02_lm-arena-chat.csv", "precision", "int2")


def test_the_first_filled_column_counts_and_names_its_factor():
    names, ours, line = columns("model_architectures/gpu_poor_hf_configs_selected.csv")[1]
    assert (names, ours, line["scale"]) == (
        ["num_hidden_layers", "n_layer", "num_layers"],
        ["layers"],
        "",
    )
    assert all(line["scale"] == "" or float(line["scale"]) > 0 for line in facts("columns.csv"))


# the whole


@pytest.fixture
def raw(tmp_path):
    return write_raw(tmp_path / "raw")


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = write_package(
        tmp_path / "data", "models", "mlperf_benchmarks", "mlperf_training_benchmarks", *BY_HAND
    )
    others = (
        {"measured/energy", "measured/serving", "request_lengths", "api_prices", "prefix_cache"}
        | {f"traces/{name}" for name in traces.FILES}
        | PLANET
        | TIMED
        | TRAINED
    )
    importers = {
        table: importer for table, importer in package.IMPORTERS.items() if table not in others
    }
    monkeypatch.setattr(package, "IMPORTERS", importers | {"models": package._BY_HAND})
    return folder


def _bytes(folder: Path) -> dict:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_second_refresh_changes_no_byte(raw, data):
    reports = {report.table: report for report in refresh(raw, data)}
    assert reports["rental_prices"].rows_out == 10 + 27
    assert "left out" in str(reports["rental_prices"])
    first = _bytes(data)
    refresh(raw, data)
    assert _bytes(data) == first and not [name for name in first if name.endswith(".new")]


def test_a_fact_entered_by_hand_stays_and_wins(raw, data):
    refresh(raw, data)
    path = data / "accelerator_specs.csv"
    path.write_text(
        path.read_text()
        + "L40,dense_bf16_flops,1.8105e14,,nvidia2022l40,by"
        " hand\nL40,idle_watts,20,,driverreadings,\n".replace("\r", "")
    )
    text = path.read_text().replace("L40,dense_bf16_flops,1.81e14,,epochhardware,\n", "")
    path.write_text(text)
    report = next(r for r in refresh(raw, data) if r.table == "accelerator_specs")
    assert "L40,dense_bf16_flops,1.8105e14,,nvidia2022l40,by hand" in path.read_text()
    assert "L40,idle_watts,20" in path.read_text()
    assert any(
        "by hand from nvidia2022l40, which agrees" in drop.reason
        for drop in report.dropped
        if "L40 / dense_bf16_flops" in drop.row
    )


CARDS, TPUS = "gpu_prices/skypilot_catalog_extract.csv", "gpu_prices/gpuhunt_tpu_pricing.json"
L4 = "accelerator_specs/aiconfigurator_systems/l4.yaml"
BANDWIDTHS = "accelerator_specs/stas_memory_bw_shipping.csv"
ESTIMATES = "epoch/ai_chip_counts/Nvidia_annual_prices.csv"
FORMS = {
    (CARDS, "price_usd_hr", "price_eur_hr"): (
        "unknown column 'price_eur_hr', missing column 'price_usd_hr'"
    ),
    (CARDS, "23.60", "cheap"): "'cheap' is not a number",
    (CARDS, "23.60", "23.60,1"): "line 2 has 11 cells, expected 10",
    (CARDS, None, None): f"raw file {CARDS}: no such file",
    (TPUS, "3.22", "3.22,"): "not valid JSON",
    (TPUS, "Spot (USD)", "Spot (EUR)"): "unknown field 'Spot (EUR)'",
    (L4, "power", "watts"): "unknown field 'watts'",
    (BANDWIDTHS, "Intel Gaudi3", "Intel Gaudi9"): "unknown accelerator 'Intel Gaudi9'",
    (ESTIMATES, "H20 low", "H20 lowest"): "missing column 'H20 low'",
}


@pytest.mark.parametrize("change, message", FORMS.items())
def test_raw_material_that_changed_its_form_stops_all_and_writes_nothing(
    raw, data, change, message
):
    refresh(raw, data)
    path, old, new = change
    before, target = _bytes(data), raw / path
    if old is None:
        target.unlink()
    else:
        target.write_text(target.read_text().replace(old, new, 1))
    with pytest.raises(RefreshError, match=message.replace("(", r"\(").replace(")", r"\)")):
        refresh(raw, data)
    assert _bytes(data) == before


def test_a_folder_that_is_not_there_is_named(data, tmp_path):
    with pytest.raises(RefreshError, match="nowhere does not exist"):
        refresh(tmp_path / "nowhere", data)


def test_numbers_are_the_shortest_text_that_reads_back_the_same():
    draw = random.Random(1)
    values = [draw.uniform(-1, 1) * 10 ** draw.randint(-6, 18) for _ in range(2000)] + [
        0.0,
        1e12,
        989e12,
        2**40,
        85899345920,
        -3.0,
    ]
    for value in values:
        assert float(number_text(value)) == value
    assert [cell_text(x) for x in (None, True, "a", 3, 0.1)] == ["", "true", "a", "3", "0.1"]


def test_rows_are_sorted_by_key_and_unknown_columns_refused():
    schema = {"fields": [{"name": "b"}, {"name": "a"}], "primaryKey": ["a"]}
    assert table_text([{"a": "2", "b": 1.0}, {"a": "1"}], schema) == "b,a\n,1\n1,2\n"
    with pytest.raises(RefreshError, match="columns that the schema lacks: c"):
        table_text([{"a": "1", "c": 1}], schema)


def test_of_two_raw_rows_the_first_stands_and_a_difference_is_told():
    rows, dropped = merge(
        [],
        [{"k": "x", "v": 1.0, "source": "p"}, {"k": "x", "v": 2.0, "source": "q"}],
        ("k",),
        {"p", "q"},
    )
    assert [row["v"] for row in rows] == [1.0]
    assert dropped[0].reason == "already taken from p, which differs in v: 1, not 2"


def test_a_column_given_twice_is_refused():
    with pytest.raises(RefreshError, match=r"demo: missing column 'b'|unknown|twice"):
        parse_csv("a,a\n1,2\n", "demo", ("a", "b"))
