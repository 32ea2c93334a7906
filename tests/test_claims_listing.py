"""The ledger as it is listed: at once, as the library finds it now, filtered as a person asks."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scaleright.claims import entries, ledger, listing
from scaleright.claims.verdicts import MEANINGS, VERDICTS
from scaleright.press import Book
from scaleright.press.status import listed_claims

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(scope="module")
def lines() -> list[listing.Entry]:
    return listing.entries(DATA)


def test_the_ledger_keeps_what_the_library_finds(lines):
    again = "run `python -m refresh.ledger`"
    found = {finding.claim.id: finding for finding in ledger.findings()}
    kept = {line.claim.id: line.finding for line in lines}
    assert list(kept) == list(found), again
    for key, now in found.items():
        then = kept[key]
        assert then.claim == now.claim, f"{key}: {again}"
        assert then.verdict == now.verdict and then.line() == now.line(), f"{key}: {again}"
        assert (then.recomputed is None) == (now.recomputed is None), f"{key}: {again}"
        if now.recomputed and then.recomputed:
            for end in ("low", "high"):
                at = getattr(now.recomputed, end)
                assert getattr(then.recomputed, end) == pytest.approx(at, rel=1e-4), key
        if now.factor is not None and math.isfinite(now.factor):
            assert then.factor == pytest.approx(now.factor, rel=1e-4), key


def test_a_claim_is_read_alike_by_those_who_list_and_those_who_recompute(lines):
    written = [line.claim for line in lines if line.claim.id in {c.id for c in ledger.claims()}]
    assert written == list(ledger.claims())


def test_a_claim_that_has_changed_is_judged_anew(tmp_path):
    for name in (listing.TABLE, listing.CLAIMS, listing.DOCUMENTS, listing.WORDS):
        shutil.copy(DATA / name, tmp_path)
    table = tmp_path / listing.TABLE
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))))
    rows[0]["claimed_high"] = "3.0"  # as if it had been stored before the claim was corrected
    rows[0]["verdict"] = VERDICTS[-1]
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row for row in rows if row["id"] != "S2-ladder")
    found = {line.claim.id: line.finding for line in listing.entries(tmp_path)}
    for key in (rows[0]["id"], "S2-ladder"):  # changed, and not stored at all
        (now,) = ledger.findings(ids=(key,))
        assert found[key].verdict == now.verdict
    assert found[rows[0]["id"]].claim.high == 2.0


def test_each_filter_leaves_its_own_lines_and_all_of_them(lines):
    for what, value in (
        ("document", lambda line: line.document.short),
        ("subject", lambda line: line.subject),
        ("verdict", lambda line: line.finding.verdict),
        ("chapter", lambda line: line.claim.chapter),
    ):
        total = 0
        for name in {value(line) for line in lines}:
            left = listing.chosen(lines, **{what: name})
            assert left and {value(line) for line in left} == {name}
            total += len(left)
        assert total == len(lines)


@pytest.mark.parametrize(
    "asked, same",
    [
        ({"document": "S2"}, {"document": "Clarifai"}),
        ({"document": "clarifai"}, {"document": "Clarifai"}),
        ({"document": "horowitz"}, {"document": "Andreessen Horowitz"}),
        ({"verdict": "off"}, {"verdict": "off by a factor"}),
        ({"verdict": "Unit-or-count-error"}, {"verdict": "unit or count error"}),
        ({"subject": "vendors announcements"}, {"subject": "vendors' announcements"}),
        ({"verdict": "reproduced"}, {"verdict": VERDICTS[0]}),
        ({"chapter": "token cost"}, {"chapter": "token_cost"}),
        ({"words": "PHOTONIC chips"}, {"words": "chips photonic"}),
    ],
)
def test_names_are_taken_as_people_type_them(lines, asked, same):
    found = listing.chosen(lines, **asked)
    assert found == listing.chosen(lines, **same) and 0 < len(found) < len(lines)


@pytest.mark.parametrize(
    "asked, says",
    [
        ({"document": "Clarify"}, "unknown document 'Clarify'; nearest: Clarifai"),
        ({"subject": "servng"}, "unknown subject 'servng'; nearest: serving"),
        ({"verdict": "wrong"}, "unknown verdict 'wrong'; "),
        ({"verdict": "re"}, "unknown verdict 're'; "),
        ({"chapter": "tokencost"}, "unknown chapter 'tokencost'; nearest: token_cost"),
        ({"words": "photonik"}, "no claim has the word 'photonik'; nearest: photonic"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(lines, asked, says):
    with pytest.raises(LookupError) as refused:
        listing.chosen(lines, **asked)
    assert says in str(refused.value)


def test_filters_that_share_no_line_leave_none(lines):
    assert listing.chosen(lines, document="S0", chapter="mlperf") == []
    assert listing.as_text([]).endswith("   0 claims") and listing.as_csv([]) == "id\n"


def test_text_json_and_csv_tell_of_the_same_lines(lines):
    few = listing.chosen(lines, document="S2", subject="serving")
    text, told = listing.as_text(few), json.loads(listing.as_json(few))
    rows = list(csv.DictReader(io.StringIO(listing.as_csv(few))))
    assert f"{len(few):4d} claims" in text
    assert [row["id"] for row in rows] == [row["id"] for row in told["claims"]]
    assert [row["id"] for row in rows] == [line.claim.id for line in few]
    assert sum(told["verdicts"].values()) == len(few)
    assert [document["short"] for document in told["documents"]] == ["Clarifai"]
    assert all(f": {MEANINGS[verdict]}" in text for verdict in told["verdicts"])
    for line in few:
        assert f"{line.claim.id} (Clarifai, 2026): {line.claim.statement}" in text


def test_every_written_claim_is_quoted_and_every_chapter_keeps_two_or_three(lines):
    written = {claim.id for claim in ledger.claims()}
    quoted = [line for line in lines if line.words]
    assert {line.claim.id for line in quoted} <= written
    assert len(quoted) >= 0.8 * len(written)
    assert all(len(line.words.split()) <= 34 for line in quoted)
    kept = [line.claim.chapter for line in lines if line.taught]
    assert all(2 <= kept.count(chapter) <= 3 for chapter in set(kept))
    assert set(kept) <= {line.claim.chapter for line in lines}


def test_every_chapter_with_claims_belongs_to_one_subject(lines):
    chapters = [chapter for known in entries.SUBJECTS.values() for chapter in known]
    assert len(chapters) == len(set(chapters))
    assert entries.subject_of("a_new_chapter") == "a new chapter"
    assert {line.subject for line in lines} >= {"serving", "training", "chips"}


def test_a_list_comes_with_the_tables_behind_it(monkeypatch):
    monkeypatch.setattr("scaleright.press.status.folder", lambda: DATA)
    text, tables = listed_claims(None, {"words": "OpenAI asks"})
    assert text.count("\n    claimed") == 1
    _, all_of_them = listed_claims("json", {})
    assert len(all_of_them) > len(tables)


@pytest.mark.processes
def test_a_list_needs_no_frames_of_tables():
    code = (
        "import sys; from scaleright.press.status import listed_claims; listed_claims(None, {});"
        " print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Book.find().root,
    )
    heavy = {"pandas", "altair", "scipy"} & set(done.stdout.split())
    assert not heavy, "a claim has changed since: run `python -m refresh.ledger`"
