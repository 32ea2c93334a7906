"""Published counts are met, and a reader's own file is checked before anything is predicted."""

from __future__ import annotations

import json

import pytest
from scaleright import catalog
from scaleright.validation.kinds import validate


@pytest.fixture(scope="module")
def report():
    return validate("counts")


def test_published_counts_are_met(report):
    summary = report.summary
    assert summary.rows >= 150
    assert summary.median_absolute_percent < 0.2
    assert summary.p90_absolute_percent < 2.5
    assert abs(summary.bias_percent) < 0.5
    assert summary.within_rounding / summary.rows > 0.75
    assert summary.baseline_median_absolute_percent > 10 * summary.median_absolute_percent


def test_figures_printed_to_the_last_digit_are_met_to_a_few_hundredths_of_a_percent(report):
    exact = report.rows[report.rows["scored"] & (report.rows["digits"] >= 7)]
    assert len(exact) >= 35
    assert exact["error_percent"].abs().max() < 0.05
    assert exact["within_rounding"].mean() > 0.9


def test_no_row_is_off_by_more_than_rounding_a_name_can_explain(report):
    scored = report.rows[report.rows["scored"]]
    assert scored["error_percent"].abs().max() < 11


def test_rows_are_scored_by_scope_alone(report):
    assert set(report.rows.loc[~report.rows["scored"], "scope"]) == {
        "with vision encoder",
        "with multi-token prediction, without embedding and head",
    }
    assert (report.rows.loc[report.rows["scored"], "scope"] == "language model").all()


def test_every_published_figure_has_a_source(report):
    bib = (catalog.data_dir().parent / "book" / "references.bib").read_text()
    for key in set(report.rows["source"]):
        assert f"{{{key}," in bib, key


def test_report_as_text_and_json(report):
    text, document = report.to_text(), json.loads(report.to_json())
    assert "fitted constants: 0" in text and "12 L h^2" in text and "not scored" in text
    assert (
        document["summary"]["rows"]
        == report.summary.rows
        == sum(group["rows"] for group in document["by_source"])
    )
    assert len(document["rows"]) == len(report.rows)
    assert report.by("family")["rows"].sum() == report.summary.rows
    with pytest.raises(LookupError, match="family"):
        report.by("famly")


def own(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    return path


def test_a_reader_gives_rows_by_name_and_by_shape(tmp_path):
    path = own(
        tmp_path,
        "model,quantity,published,layers,hidden,heads,kv_heads,head_dim,ffn,gated_ffn,"
        "vocab,tied_embeddings\n"
        "Llama-2-7B,total_parameters,6738415616,,,,,,,,,\n"
        "mine,total_parameters,6738415616,32,4096,32,32,128,11008,true,32000,false\n",
    )
    report = validate("counts", path)
    assert report.rows["error_percent"].tolist() == [0, 0]
    assert report.rows["within_rounding"].all()
    assert report.rows["family"].tolist() == ["Llama", "given by shape"]


@pytest.mark.parametrize(
    "kind, message",
    [("kernels", "schema: data/measured/kernels.csv"), ("count", "nearest: counts")],
)
def test_kinds_without_a_predictor_say_so(kind, message):
    with pytest.raises(LookupError, match=message):
        validate(kind)


@pytest.mark.parametrize("kind", ["counts", "training", "serving", "energy", "footprint"])
def test_every_schema_is_documented(kind):
    entry = catalog.resource(f"measured/{kind}")
    assert all(field["description"] for field in entry["schema"]["fields"])
    assert list(catalog.table(f"measured/{kind}").columns) == [
        field["name"] for field in entry["schema"]["fields"]
    ]
