"""Footprints predicted beside published ones, and a reader's own runs."""

from __future__ import annotations

import pytest
from scaleright import catalog
from scaleright.inference.energy import chat_energy
from scaleright.validation import kinds


@pytest.fixture(scope="module")
def report():
    return kinds.validate("footprint")


def test_published_footprints_are_met_better_than_by_design_power(report):
    summary = report.summary
    assert (
        summary.rows >= 14 and summary.median_absolute_percent < 8 and abs(summary.bias_percent) < 3
    )
    assert summary.median_absolute_percent < summary.baseline_median_absolute_percent / 4
    assert summary.p90_absolute_percent < summary.baseline_p90_absolute_percent / 2
    assert summary.within_range >= 0.9 * summary.rows and summary.within_rounding is None


def test_rows_are_scored_by_the_stated_rule(report):
    runs = catalog.table("measured/footprint").set_index("run")
    scored = report.rows[report.rows["scored"]]
    assert (
        set(runs.loc[scored["run"], "basis"]) == {"measured"}
        and runs.loc[scored["run"], "accelerator_hours"].notna().all()
    )
    assert set(runs.loc[scored.loc[scored["quantity"] == "carbon", "run"], "method"]) == {
        "location"
    }
    apart = report.rows[~report.rows["scored"]]
    assert (apart["why"] != "").all()
    assert apart[apart["run"].str.startswith("meta/")]["why"].str.startswith("design power").all()


def test_a_product_of_design_power_is_met_but_for_grid_and_building(report):
    """Its own factors on both sides: what is left is what its publication does not print."""
    llama = report.rows[
        report.rows["run"].str.startswith("llama-1/") & (report.rows["quantity"] == "energy")
    ]
    assert len(llama) == 6 and llama["error_percent"].abs().max() < 1


def test_the_report_says_the_caveat(report):
    text, document = report.to_text(), report.to_json()
    assert (
        "caveat: Meta's figures for Llama are design power x hours: an upper bound" in text
        and "upper bound" in document
    )
    assert "not predicted" in text and "nan" not in text and '"by_accelerator"' in document


def test_a_reader_checks_a_run_of_their_own(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "run,accelerator,accelerator_hours,pue,measured_kwh\nmine,H100 SXM,1000,1.1,1100\n"
    )
    row = kinds.validate("footprint", path).rows.iloc[0]
    assert row["scored"] and row["predicted"] == pytest.approx(1000 * 0.76 * 1.275 * 1.1)


def test_a_file_without_a_scored_row_says_so(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("run,accelerator,accelerator_hours,measured_kg_co2e\nmine,H100 SXM,1000,1\n")
    text = kinds.validate("footprint", path).to_text()
    assert (
        "no row determines its answer" in text and "states no place" in text and "nan" not in text
    )


def test_every_measured_pair_has_positive_figures():
    assert (chat_energy()[["chip_watts", "tokens_per_s", "joules_per_token"]] > 0).all().all()
