"""The tables of S4, read from its text by code."""

import pytest
from scaleright import catalog

from refresh import RefreshError, documents
from refresh.tables import Dropped, read_table, sift

TEXT = """4.4. DeepSeek-R1 Model
Accelerator Scenario Avg Total Result (Samples/s) Result per Accelerator Avg Accelerators
NVIDIA GB200 Offline 289712.00 72428.00 72.0

NVIDIA GB200 Offline 1.00 1.00 1.0
"""


def parsed(tmp_path, text: str):
    (tmp_path / "sources").mkdir(exist_ok=True)
    (tmp_path / "sources" / "004_abc.txt").write_text(text)
    return sift(documents.result_rows(tmp_path / "data", []))[0]


def test_a_table_ends_at_a_blank_line(tmp_path):
    assert parsed(tmp_path, TEXT) == [
        {
            "benchmark": "deepseek-r1",
            "accuracy_target": None,
            "chip": "NVIDIA GB200",
            "accelerator": "GB200",
            "virtualized": False,
            "scenario": "Offline",
            "average_total": 289712.0,
            "average_per_accelerator": 72428.0,
            "average_accelerators": 72.0,
            "source": "S4",
        }
    ]


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "NVIDIA GB200 Offline 289712.00",
            "NVIDIA GB201 Offline 289712.00",
            "unknown accelerator 'NVIDIA GB201'",
        ),
        ("289712.00", "many", "line 3 is no row of this table: 'NVIDIA GB200 Offline many"),
        ("Avg Accelerators", "Avg Nodes", "line 2: an unknown heading of results"),
        ("DeepSeek-R1 Model", "DeepSeek-R2 Model", "unknown benchmark 'DeepSeek-R2'"),
        ("Accelerator Scenario", "Chip Scenario", "no table found"),
    ],
)
def test_a_document_laid_out_anew_is_refused(tmp_path, old, new, message):
    with pytest.raises(RefreshError, match=message):
        parsed(tmp_path, TEXT.replace(old, new, 1))


def test_without_the_document_the_tables_stay_and_the_report_says_so(tmp_path):
    committed = read_table(catalog.data_dir() / "s4_results.csv")
    by_hand = dict(committed[0], source="other")
    kept, dropped = sift(documents.result_rows(tmp_path / "data", [*committed, by_hand]))
    assert kept == committed
    assert dropped == [
        Dropped(
            documents.FILE, "the document is not beside the raw folder; the table stays as it is"
        )
    ]
    (tmp_path / "sources").mkdir()
    for name in ("004_a.txt", "004_b.txt"):
        (tmp_path / "sources" / name).write_text(TEXT)
    with pytest.raises(
        RefreshError, match=r"2 files beside data: 004_a.txt, 004_b.txt; expected one"
    ):
        sift(documents.result_rows(tmp_path / "data", []))
