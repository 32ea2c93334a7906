"""The five documents whose claims are checked stand under their names wherever a reader meets them,
never as a key or as "the source".
"""

import ast
import re
from pathlib import Path

import pytest
from paths import ROOT
from scaleright.claims import ledger
from scaleright.claims.entries import documents, named

LIBRARY = ROOT / "lib" / "scaleright"
UNNAMED = re.compile(
    r"\bS[0-4]\b(?!-)|\b[Tt]he source\b(?! of\b)|\b[Tt]he source's\b|source documents?"
)
"""What stands for a document without saying which it is."""
CITED = re.compile(r"\{cite(:\w+)?\}`[^`]*`")
ROOMS = ("chapters", "charts", "claims", "costs", "decisions")


def unnamed(text: str) -> list[str]:
    return [line for line in CITED.sub("", text).splitlines() if UNNAMED.search(line)]


@pytest.mark.parametrize("text", ["S2 says", "the source's rule", "what the source documents say"])
def test_a_key_is_found(text):
    assert unnamed(text) == [text]


@pytest.mark.parametrize("text", ["{cite:t}`S2`", "S2-ladder", "Clarifai says", "S30", "SXM4"])
def test_a_name_is_none(text):
    assert unnamed(text) == []


@pytest.mark.parametrize(
    "path",
    sorted(
        [
            *ROOT.glob("notebooks/text/*.md"),
            *ROOT.glob("book/*.md"),
            *ROOT.glob("book/*.yml"),
            ROOT / "README.md",
        ]
    ),
)
def test_no_page_leaves_a_document_unnamed(path):
    assert unnamed(path.read_text(encoding="utf-8")) == []


def said(path: Path) -> list[str]:
    """The texts of a module that a reader may see: its strings that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    strings = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in told
    )
    return [text for node in strings if isinstance(text := node.value, str)]


@pytest.mark.parametrize("room", ROOMS)
def test_no_sentence_of_the_library_leaves_a_document_unnamed(room):
    texts = [text for path in sorted((LIBRARY / room).rglob("*.py")) for text in said(path)]
    assert texts
    assert [text for text in texts if text not in documents() and unnamed(text)] == []


def test_no_claim_leaves_a_document_unnamed():
    for claim in ledger.claims():
        told = (claim.statement, claim.call, claim.inputs, claim.why, claim.missing)
        assert [unnamed(text) for text in told] == [[]] * 5, claim.id


def test_a_key_in_a_table_is_read_as_its_name():
    assert named("price (S2 itself); S2-lead-time") == "price (Clarifai itself); S2-lead-time"
    assert named("SXM, S9") == "SXM, S9"


def test_every_document_has_a_name_of_its_own_and_an_entry_in_the_bibliography():
    known = documents()
    assert {claim.source for claim in ledger.claims()} == set(known)
    assert len({document.short for document in known.values()}) == len(known)
    entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for key, document in known.items():
        (entry,) = re.findall(rf"@misc\{{{key},\n(.*?)\n\}}\n", entries, re.DOTALL)
        plain = entry.replace("{", "").replace("}", "")
        assert f"title = {document.title}," in plain
        assert f"year = {document.year}," in plain
        assert f"url = {document.url}," in plain
