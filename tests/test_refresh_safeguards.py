"""What a refresh refuses before it writes: raw files that were cut, packed or laid out otherwise,
and tables that break the data package.
"""

import gzip
import json

import pytest
from raw_files import write_csv, write_raw
from small_package import DATA, write_package

import refresh as package
from refresh import RefreshError, refresh, safeguards
from refresh.tables import parse_csv, read_json, read_table, read_text, read_yaml, to_float

CARDS = "gpu_prices/ewyluda_ratecards_2026-09-29_selected.csv"
CHIP = "accelerator_specs/aiconfigurator_systems/l4.yaml"
TPU = "gpu_prices/gpuhunt_tpu_pricing.json"


@pytest.fixture
def raw(tmp_path):
    return write_raw(tmp_path / "raw")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data folder whose specs and rents come from the raw files."""
    tables = ("accelerators", "accelerator_specs", "accelerator_specs_stas", "rental_prices")
    monkeypatch.setattr(package, "IMPORTERS", {name: package.IMPORTERS[name] for name in tables})
    return write_package(tmp_path / "data", "accelerators")


def _bytes(folder) -> dict:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _refused(raw, data, **options) -> str:
    before = _bytes(data)
    with pytest.raises(RefreshError) as error:
        refresh(raw, data, **options)
    assert _bytes(data) == before  # all or nothing
    return str(error.value)


@pytest.mark.parametrize(
    "file, change, message",
    [
        (CARDS, gzip.compress, f"raw file {CARDS}: is compressed (gzip); unpack it"),
        (
            CARDS,
            lambda b: b.decode().encode("utf-16"),
            f"raw file {CARDS}: is UTF-16; save it as UTF-8",
        ),
        (
            CARDS,
            lambda b: b.decode().encode("utf-16-le"),
            f"raw file {CARDS}, line 1: has a zero byte",
        ),
        (
            CARDS,
            lambda b: b.replace(b"AWS", b"\xc4WS"),
            f"raw file {CARDS}, line 2: byte 0xc4 is not UTF-8",
        ),
        (CARDS, lambda _: b"", f"raw file {CARDS} is empty"),
        (CARDS, lambda b: b.replace(b"AWS", b'"AWS', 1), f"{CARDS}: line 2 has "),
        (CARDS, lambda b: b.replace(b"6.88", b"inf"), "column 'usd_per_gpu_hour': 'inf' is not a"),
        (CARDS, lambda b: b.replace(b"6.88", b"nan"), "column 'usd_per_gpu_hour': 'nan' is not a"),
        (CARDS, lambda b: b.replace(b"date,", b"day,"), f"{CARDS}: unknown column 'day'"),
        (CHIP, lambda _: b"\n", "raw file aiconfigurator_systems/l4.yaml is empty"),
        (CHIP, lambda _: b"# nothing\n", "l4.yaml: expected a mapping of fields, found NoneType"),
        (CHIP, lambda _: b"- 1\n", "l4.yaml: expected a mapping of fields, found list"),
        (CHIP, lambda _: b"gpu: [1\n", "l4.yaml: line 2: not valid YAML"),
        (CHIP, lambda _: b"gpu: {}\n", "l4.yaml: no mapping 'node'"),
        (CHIP, lambda b: b.replace(b"32000000000", b"fast"), "l4.yaml is not laid out as document"),
        (TPU, lambda b: b[:-5], f"{TPU}: line 1: not valid JSON"),
        (TPU, lambda _: b"[1, 2]", f"raw file {TPU} is not laid out as documented"),
        (TPU, lambda b: b.replace(b"On Demand (USD)", b"Spot (USD)", 1), f"raw file {TPU} is not"),
    ],
)
def test_a_raw_file_in_another_form_is_named_and_nothing_is_written(
    raw, data, file, change, message
):
    refresh(raw, data)
    (raw / file).write_bytes(change((raw / file).read_bytes()))
    assert message in _refused(raw, data)


def test_a_raw_file_that_lost_its_rows_is_refused_with_the_numbers(raw, data):
    refresh(raw, data)
    rows = parse_csv((raw / CARDS).read_text(), CARDS)
    write_csv(raw / CARDS, rows[0], *rows[1:])
    said = _refused(raw, data)
    assert "a source lost more than a tenth of its rows (--allow-fewer, if it is meant):" in said
    assert "rental_prices: 6 rows from ewyluda2026, where the committed table has 7" in said
    refresh(raw, data, allow_fewer=True)
    assert refresh(raw, data)  # the smaller table is what the next one is held against


def test_a_table_below_its_floor_is_refused_though_fewer_rows_are_allowed(raw, data):
    path = data / "datapackage.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    next(r for r in entries["resources"] if r["name"] == "rental-prices")["min_rows"] = 1000
    path.write_text(json.dumps(entries), encoding="utf-8")
    said = _refused(raw, data, allow_fewer=True)
    assert "the new tables break the data package:" in said
    assert "table rental_prices: 37 rows, but at least 1000 are known: rows were lost" in said


def test_a_raw_file_cut_to_a_fiftieth_of_the_prices_is_refused():
    rows = read_table(DATA / "api_prices.csv")
    sources = {row["source"] for row in rows}
    told = safeguards.lost("api_prices", rows, rows[: len(rows) // 50], sources)
    assert "where the committed table has" in told
    assert (
        safeguards.lost("api_prices", rows, [row for i, row in enumerate(rows) if i % 100], sources)
        == ""
    )


@pytest.mark.parametrize(
    "file, old, new, message",
    [
        (CARDS, "55.04,6.88", "5504000,688000", "688000 is not allowed: at least 0.01 and at most"),
        (
            CHIP,
            "bfloat16_tc_flops: 900000000000000",
            "bfloat16_tc_flops: 100",
            "L4 has dense_bf16_flops 100 and memory_bytes_per_s 3e+12",
        ),
        (CHIP, "power: 700", "power: -700", "column value: -700 is not allowed: at least 0"),
    ],
)
def test_new_tables_that_break_the_package_are_not_written(raw, data, file, old, new, message):
    refresh(raw, data)
    text = (raw / file).read_text()
    assert old in text
    (raw / file).write_text(text.replace(old, new))
    assert message in _refused(raw, data)


@pytest.mark.parametrize("read", [read_text, read_json, read_yaml])
def test_a_folder_in_place_of_a_file_is_named(tmp_path, read):
    (tmp_path / "prices.csv").mkdir()
    with pytest.raises(RefreshError, match=r"prices\.csv: a folder; allowed: a file"):
        read(tmp_path / "prices.csv")


def test_a_number_is_finite():
    for text in ("inf", "-inf", "nan", "1e999"):
        with pytest.raises(RefreshError, match="is not a number"):
            to_float(text, "p.csv", "x", "y")
