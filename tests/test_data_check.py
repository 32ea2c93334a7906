"""What goes wrong in a table, and what the check must say about it."""

import json
import shutil
from datetime import date, timedelta

import pandas as pd
import pytest
from paths import DATA, ROOT
from scaleright.press import datacheck
from scaleright.press.datacheck import check


@pytest.fixture
def quick(monkeypatch):
    """Leave out frictionless, which takes most of the time and is asked once above."""
    monkeypatch.setattr(datacheck, "_second_opinion", lambda *_: ())


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
            "accelerator_specs",
            "B300,purchase_high_usd,45000,",
            "B300,purchase_high_usd,45001,",
            "which says 45001 of B300: the same or a later GPU with more memory",
        ),
        (
            "accelerator_specs",
            "RTX 4090,purchase_low_usd,1599,2022,",
            "RTX 4090,purchase_low_usd,1599,,",
            "column dated: a price without the day, month or year of which it is",
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
    [("purchase_prices", "usd_per_accelerator"), ("rental_prices", "usd_per_accelerator_hour")],
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


@pytest.mark.parametrize(
    "cells, refused",
    [
        ({"date": "2026-08-05"}, True),
        ({"date": "2026-08-05", "output_usd_per_million": "8.05"}, False),  # rounded
        ({"date": "2026-08-05", "model_id": "o3-other"}, False),
        ({"date": "2026-06-01", "until": "2026-07-02"}, False),  # another price before
    ],
)
def test_two_prices_of_one_offer_for_the_same_days_contradict_each_other(few, cells, refused):
    path = few / "api_prices.csv"
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    o3 = rows.iloc[0].to_dict() | {"date": "2026-07-02", "provider": "OpenAI", "model_id": "o3"}
    o3 |= {"input_usd_per_million": "2", "output_usd_per_million": "8", "until": ""}
    other = o3 | {"output_usd_per_million": "40"} | cells
    pd.concat([rows, pd.DataFrame([o3, other])]).to_csv(path, index=False, lineterminator="\n")
    message = (
        f"table api_prices, row {len(rows) + 3}, column output_usd_per_million: 40 contradicts row"
        f" {len(rows) + 2}, which says 8 of provider OpenAI, model_id o3 for the same days"
    )
    assert any(message in line for line in _failures(few)) == refused


def test_every_price_has_a_least_value_that_the_check_enforces():
    for entry in json.loads((DATA / "datapackage.json").read_text())["resources"]:
        for field in entry["schema"]["fields"]:
            if "usd" in field["name"] or field.get("unit", "").startswith("USD"):
                least = field.get("constraints", {}).get("minimum")
                assert least is not None, f"{entry['name']}: {field['name']}"
                assert least > 0 or "zero_only" in entry, f"{entry['name']}: {field['name']}"


def test_old_facts_are_a_notice_and_no_failure(quick, monkeypatch):
    monkeypatch.setattr(datacheck.catalog, "examine", lambda *_: (None, []))  # the ages alone
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
    assert len(problems) == len(entries)
    assert all(problem.notice and "old data" in problem.message for problem in problems)


def test_a_row_that_the_library_reads_by_name_is_missed(few):
    table = few / "cost_factors.csv"
    rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [row for row in rows if not row.startswith("pue,home")]
    table.write_text("".join(kept), encoding="utf-8")
    assert any("no row with factor 'pue', setting 'home'" in line for line in _failures(few))
