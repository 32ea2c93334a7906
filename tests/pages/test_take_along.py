"""What a reader takes along from the built pages: notebooks, tables, numbers."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from browse import CHAPTERS, ROOT, SCENARIOS, beside, links
from owning import owned
from scaleright import catalog, transformer
from scaleright.press import repository


@pytest.mark.parametrize("name", [*CHAPTERS, *SCENARIOS])
def test_the_notebook_of_a_page_can_be_opened_elsewhere_and_taken_along(html, name):
    chapter = SCENARIOS[name].chapter if name in SCENARIOS else Path(name).stem
    found, host = links(html, name, '<nav class="launch"(.*?)</nav>'), repository.hosting(ROOT)
    assert host.slug.count("/") == 1 and (ROOT / "notebooks" / "text" / f"{chapter}.md").is_file()
    assert found["Binder"].endswith(
        f"/v2/gh/{host.slug}/{host.branch}?urlpath=lab/tree/notebooks/{chapter}.ipynb"
    )
    assert found["Colab"].endswith(
        f"/github/{host.slug}/blob/{host.branch}/notebooks/{chapter}.ipynb"
    )
    assert found["Source"] == f"{host.url}/blob/{host.branch}/notebooks/text/{chapter}.md"
    notebook = nbformat.read(beside(html, name, found["Download notebook"]), as_version=4)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", ())]
    assert ("injected-parameters" in tags) == (name in SCENARIOS) and "setup" in tags


@pytest.mark.parametrize("name", [*CHAPTERS, *SCENARIOS])
def test_every_table_can_be_taken_along(html, name):
    text = (html / name).read_text(encoding="utf-8")
    shown = re.findall(
        r'role="region" aria-label="([^"]*)" tabindex="0">(?:(?!</table>).)*</table></div>(<p'
        r' class="sr-files"[^>]*>.*?</p>)?',
        text,
        re.DOTALL,
    )
    assert shown and all(files for _, files in shown)
    for label, files in shown:
        data, sheet = (
            beside(html, name, re.search(f'href="([^"]+[.]{kind})" download', files)[1])
            for kind in ("json", "csv")
        )
        resource, rows = (
            json.loads(data.read_text()),
            pd.read_csv(sheet, keep_default_na=False, na_values=[""]),
        )
        fields = resource["schema"]["fields"]
        assert (
            unescape(label).startswith(resource["title"])  # one told again on the page is numbered
            and len(rows) == len(resource["data"])
            and len(rows.columns) == len(fields)
        )
        for field, column in zip(fields, rows.columns, strict=True):
            assert column.startswith(field["name"]) and (
                "unit" not in field or f"[{field['unit']}]" in column or "[" in field["name"]
            )
            if field["type"] == "number":
                expected = [
                    float("nan") if row[field["name"]] is None else float(row[field["name"]])
                    for row in resource["data"]
                ]
                assert pd.to_numeric(rows[column]).tolist() == pytest.approx(expected, nan_ok=True)


def test_a_downloaded_number_is_the_librarys_own(html):
    sheet = pd.read_csv(html / "downloads" / "scaling_math-all-models.csv").set_index("model")
    assert {
        name: transformer.parameters(catalog.model(name)).total for name in sheet.index
    } == sheet["parameters"].to_dict()
    rule = pd.read_csv(html / "downloads" / "buy_or_rent-the-rule-by-hours.csv")
    case = {
        p["parameter"]: p["value"]
        for p in json.loads((html / "downloads" / "buy_or_rent-your-case.json").read_text())["data"]
    }
    terms = owned(case)
    costs = [terms.break_even_usd_per_hour(hours).value for hours in rule["hours a day"]]
    written = rule["owned hour [USD]"].tolist()  # with the digits of a `figure`
    assert written == pytest.approx(costs, rel=5e-7)
