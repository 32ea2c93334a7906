"""What the library remembers of the tables, and what it notes as read."""

import shutil
from contextvars import ContextVar

import pandas as pd
import pytest
from paths import DATA
from scaleright import catalog, market


@pytest.fixture
def read(monkeypatch):
    """The tables read in this test; nothing is remembered of earlier ones."""
    monkeypatch.setattr(catalog.memory, "_FOUND", {})
    monkeypatch.setattr(catalog.tables, "_READ", ContextVar("tables read", default=set()))
    return lambda: catalog.data_record().names


def test_what_is_remembered_is_noted_as_read_each_time(read, monkeypatch):
    market.hour("H100 SXM")
    tables = read()
    assert tables == [
        "accelerator_specs",
        "accelerator_specs_stas",
        "accelerators",
        "rental_prices",
    ]
    monkeypatch.setattr(catalog.tables, "_READ", ContextVar("tables read", default=set()))
    market.hour("H100 SXM")
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


def test_another_folder_has_other_prices_and_a_frame_is_the_callers_own(
    read, tmp_path, monkeypatch
):
    shutil.copytree(DATA, tmp_path / "data")
    before, changed = market.spread(), market.spread()
    changed["usd_per_accelerator_hour"] = 0.0
    pd.testing.assert_frame_equal(market.spread(), before)
    path = tmp_path / "data" / "rental_prices.csv"
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows.assign(
        usd_per_accelerator_hour=(2 * rows["usd_per_accelerator_hour"].astype(float)).map(repr)
    ).to_csv(path, index=False)
    monkeypatch.setenv("SCALERIGHT_DATA", str(tmp_path / "data"))
    assert (
        market.spread()["usd_per_accelerator_hour"] == 2 * before["usd_per_accelerator_hour"]
    ).all()
    monkeypatch.delenv("SCALERIGHT_DATA")
    pd.testing.assert_frame_equal(market.spread(), before)


def test_a_table_of_which_only_names_are_read_is_watched_and_makes_no_page_old():
    record = catalog.DataRecord(["~api_prices", "models", "~models"])
    assert record.names == ["api_prices", "models"] and record.dated == ["models"]
    told = record._repr_mimebundle_()["application/vnd.scaleright.tables+json"]
    assert told["tables"] == record.names and [*told["dates"]] == ["models"]
