"""The committed tables: valid, sourced, and right where the facts are well known."""

import json
import shutil
import statistics
from contextvars import ContextVar
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest
from scaleright import catalog, market
from scaleright.press import datacheck
from scaleright.press.datacheck import check

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
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
            or name in ("A10G", "H100 SXM 96GB")
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
    assert (
        specs["memory_bytes"].dropna().mod(2**10).eq(0).all()
    )  # whole KiB: nobody's decimal gigabytes slipped in
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


def test_a_row_that_the_library_reads_by_name_is_missed(tmp_path, quick):
    shutil.copytree(DATA, tmp_path / "data")
    table = tmp_path / "data" / "cost_factors.csv"
    table.write_text(
        "".join(
            line for line in table.read_text().splitlines(True) if not line.startswith("pue,home")
        )
    )
    found = [str(p) for p in check(tmp_path / "data", DATA.parent / "book" / "references.bib")]
    assert any("no row with factor 'pue', setting 'home'" in text for text in found)


def test_the_stale_listing_is_gone(rentals):
    runpod = rentals[rentals["provider"].str.startswith("RunPod")]
    assert not (runpod["usd_per_accelerator_hour"] == 0.5).any()


# what goes wrong in a table, and what the check must say about it


@pytest.fixture
def quick(monkeypatch):
    """Leave out frictionless, which takes most of the time and is asked once above."""
    monkeypatch.setattr(datacheck, "_second_opinion", lambda *_: ())


@pytest.fixture
def copy(tmp_path, quick):
    shutil.copytree(DATA, tmp_path / "data")
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book")
    return tmp_path / "data"


@pytest.fixture
def few(tmp_path, quick):
    """A folder of a few tables, of the long ones some rows: a check of all takes seconds."""
    package = json.loads((DATA / "datapackage.json").read_text())
    entries = {entry["name"]: entry for entry in package["resources"]}
    names = ["electricity-prices", "cost-factors", "accelerator-specs", "rental-prices"]
    names += ["purchase-prices", "api-prices"]
    for name in names:  # grows by the tables to which their keys lead
        keys = entries[name]["schema"].get("foreignKeys", [])
        names += {key["reference"]["resource"] for key in keys} - {*names, ""}
    folder = tmp_path / "data"
    folder.mkdir()
    for name in names:
        rows = (DATA / entries[name]["path"]).read_text(encoding="utf-8").splitlines(keepends=True)
        h100s = [rows[0], *(row for row in rows if "H100" in row)]
        kept = {"rental-prices": h100s, "api-prices": rows[:300]}.get(name, rows)
        (folder / entries[name]["path"]).write_text("".join(kept), encoding="utf-8")
    package["resources"] = [entries[name] for name in names]
    (folder / "datapackage.json").write_text(json.dumps(package, indent=1))
    (tmp_path / "book").mkdir()
    shutil.copy(ROOT / "book" / "references.bib", tmp_path / "book")
    return folder


def _failures(folder, **options):
    return [str(problem) for problem in check(folder, **options) if not problem.notice]


@pytest.mark.parametrize(
    "table, old, new, message",
    [
        (
            "electricity_prices",
            ",0.239,",
            ",abc,",
            "table electricity_prices, row 2, column typical_usd_per_kwh: 'abc' is not a number",
        ),
        (
            "cost_factors",
            ",0.09,",
            ",,",
            "column typical: the cell is empty, but a value is required",
        ),
        (
            "cost_factors",
            ",0.09,",
            ",0.5,",
            "column typical: low 0, typical 0.5, high 0.12 do not rise",
        ),
        ("cost_factors", ",USD/GB,", ",USD/GB,extra,", "10 cells, expected 9"),
        ("cost_factors", "typical", "typicl", "row 1: columns are factor, setting, low, typicl"),
        (
            "accelerator_specs",
            "tdp_watts",
            "tdp_wats",
            "column quantity: 'tdp_wats' is not allowed; nearest: tdp_watts",
        ),
        (
            "accelerator_specs",
            "modal2025",
            "modal2052",
            "column source: 'modal2052' is not a key of references.bib",
        ),
        (
            "rental_prices",
            "H100 NVL,",
            "H100 NVX,",
            "column accelerator: 'H100 NVX' is not in column name of table accelerators",
        ),
        (
            "rental_prices",
            ",6.88,",
            ",688,",
            "column usd_per_accelerator_hour: 688 is not allowed: at least 0.01 and at most 100",
        ),
        ("rental_prices", "2026-09-29", "2026-13-29", "column date: '2026-13-29' is not a date"),
        ("rental_prices", "2026-09-29", "2126-09-29", "column date: 2126-09-29 lies in the future"),
        (
            "datapackage",
            '"as_of": "2026-10-10"',
            '"as_of": "2126-09-29"',
            "table rental_prices: as_of 2126-09-29 lies in the future",
        ),
        (
            "datapackage",
            '"title": "Rental prices",',
            "",
            "table rental_prices: its resource lacks title",
        ),
        ("datapackage", '"resources": [', '"resources": ', "not valid JSON"),
    ],
)
def test_a_spoiled_table_is_named_with_row_column_and_value(few, table, old, new, message):
    path = next(few.glob(f"{table}.*"))
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(message in line for line in _failures(few))


def test_a_repeated_row_is_found(few):
    path = few / "accelerators.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines, lines[1]]), encoding="utf-8")
    assert any(
        f"row {len(lines) + 1}, column name: repeats another row" in line for line in _failures(few)
    )


def test_files_that_are_missing_unreadable_or_unknown_are_found(few):
    (few / "rental_prices.csv").unlink()
    (few / "cost_factors.csv").write_bytes(b"\xff\xfe\x00")
    (few / "stranger.csv").write_text("a\n1\n")
    lines = _failures(few)
    assert any("rental_prices.csv cannot be read" in line for line in lines)
    assert any("cost_factors.csv cannot be read" in line for line in lines)
    assert "table stranger: the file is in no resource of datapackage.json" in lines


@pytest.mark.parametrize(
    "table, column",
    [
        ("purchase_prices", "usd_per_accelerator"),
        ("rental_prices", "usd_per_accelerator_hour"),
    ],
)
def test_a_wrong_price_is_refused(few, table, column):
    money = "is not a plain number of US dollars; a table does not mix currencies or units"
    wrong = [
        (column, "2500 EUR", f"'2500 EUR' {money}"),
        (column, "EUR 2.10", f"'EUR 2.10' {money}"),
        (column, "€2500", f"'€2500' {money}"),
        (column, "$2500", f"'$2500' {money}"),
        (column, "-2.5", "-2.5 is not allowed: at least"),
        (column, "0", "0 is not allowed: at least"),
        (column, "cheap", "'cheap' is not a number"),
        ("date", "2126-01-01", "2126-01-01 lies in the future"),
    ]
    rows = pd.read_csv(few / f"{table}.csv", dtype=str, keep_default_na=False)
    for index, (field, cell, _) in enumerate(wrong):
        rows.loc[index, field] = cell
    rows.to_csv(few / f"{table}.csv", index=False, lineterminator="\n")
    found = [line for line in _failures(few) if line.startswith(f"table {table},")]
    for number, (field, _, message) in enumerate(wrong, start=2):
        assert any(
            line.startswith(f"table {table}, row {number}, column {field}: {message}")
            for line in found
        )
    assert len(found) == len(wrong)


def test_only_what_is_given_away_costs_nothing(few):
    rows = pd.read_csv(few / "api_prices.csv", dtype=str, keep_default_na=False)
    assert (rows.loc[rows["offer"] == "free", "input_usd_per_million"].astype(float) == 0).any()
    paid = rows.index[rows["offer"] == "reseller"][0]
    rows.loc[paid, "input_usd_per_million"] = "0.0"
    rows.to_csv(few / "api_prices.csv", index=False, lineterminator="\n")
    wanted = (
        f"table api_prices, row {paid + 2}, column input_usd_per_million: a price of 0 is for offer"
        " free or subscription only"
    )
    assert wanted in _failures(few)


def test_every_price_has_a_least_value_that_the_check_enforces():
    for entry in json.loads((DATA / "datapackage.json").read_text())["resources"]:
        for field in entry["schema"]["fields"]:
            if "usd" in field["name"] or field.get("unit", "").startswith("USD"):
                least = field.get("constraints", {}).get("minimum")
                assert least is not None and (least > 0 or "zero_only" in entry), (
                    f"{entry['name']}: {field['name']}"
                )


def test_old_facts_are_a_notice_and_no_failure(quick):
    entries = {
        entry["path"].removesuffix(".csv"): entry
        for entry in json.loads((DATA / "datapackage.json").read_text())["resources"]
    }
    prices = entries["rental_prices"]
    edge = date.fromisoformat(prices["as_of"]) + timedelta(days=prices["stale_after_days"])
    newest = max(date.fromisoformat(entry["as_of"]) for entry in entries.values())
    today = max(edge, newest)  # none of the tables lies in its future
    for day, expected in ((today, today > edge), (today + timedelta(days=1), True)):
        notices = [str(problem) for problem in check(DATA, today=day)]
        age = (day - date.fromisoformat(prices["as_of"])).days
        wanted = (
            f"table rental_prices: old data: as of {prices['as_of']}, {age} days old, counted as"
            f" fresh for {prices['stale_after_days']}"
        )
        assert (wanted in notices) == expected
    problems = check(DATA, today=date(2100, 1, 1))
    assert len(problems) == len(entries) and all(
        problem.notice and "old data" in problem.message for problem in problems
    )


# what the library remembers of the tables


@pytest.fixture
def read(monkeypatch):
    """The tables read in this test; nothing is remembered of earlier ones."""
    monkeypatch.setattr(catalog.memory, "_FOUND", {})
    monkeypatch.setattr(catalog.tables, "_READ", ContextVar("tables read", default=set()))
    return lambda: catalog.data_record().names


def test_what_is_remembered_is_noted_as_read_each_time(read, monkeypatch):
    market.rental_price("H100 SXM")
    tables = read()
    assert tables == [
        "accelerator_specs",
        "accelerator_specs_stas",
        "accelerators",
        "rental_prices",
    ]
    monkeypatch.setattr(catalog.tables, "_READ", ContextVar("tables read", default=set()))
    market.rental_price("H100 SXM")
    assert read() == tables


def test_an_inner_look_up_remembered_before_counts_for_the_outer_one(read):
    table = catalog.remembered(lambda name: len(catalog.table(name)))
    table("models")
    outer = catalog.remembered(lambda: table("models") + table("cost_factors"))
    assert outer() == outer() and read() == ["cost_factors", "models"]


def test_what_fails_is_noted_and_not_remembered(read):
    calls = []

    @catalog.remembered
    def absent():
        calls.append(catalog.table("models"))
        raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            absent()
    assert len(calls) == 2 and read() == ["models"]


def test_another_folder_has_other_prices_and_a_frame_is_the_callers_own(read, copy, monkeypatch):
    before, changed = market.spread(), market.spread()
    changed["usd_per_accelerator_hour"] = 0.0
    pd.testing.assert_frame_equal(market.spread(), before)
    path = copy / "rental_prices.csv"
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows.assign(
        usd_per_accelerator_hour=(2 * rows["usd_per_accelerator_hour"].astype(float)).map(repr)
    ).to_csv(path, index=False)
    monkeypatch.setenv("SCALERIGHT_DATA", str(copy))
    assert (
        market.spread()["usd_per_accelerator_hour"] == 2 * before["usd_per_accelerator_hour"]
    ).all()
    monkeypatch.delenv("SCALERIGHT_DATA")
    pd.testing.assert_frame_equal(market.spread(), before)
