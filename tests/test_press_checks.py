"""What is missing or malformed is said before any work: file, line, what is wrong, what to do."""

from __future__ import annotations

import shutil

import pytest
from scaleright.files import FileError
from scaleright.press import PressError, contents, pool, site

TOC = "format: jb-book\nroot: book/index\nchapters:\n- file: notebooks/tiny\n"
BIB = "@misc{one,\n title={One},\n author={A. Ut}\n}\n"


def refusal(book, *chapters: str) -> str:
    with pytest.raises((PressError, FileError)) as caught:
        contents.check(book, chapters)
    return str(caught.value)


def test_a_sound_book_passes(book):
    (book.root / "book" / "references.bib").write_text(BIB, encoding="utf-8")
    with (book.root / "book" / "index.md").open("a", encoding="utf-8") as page:
        page.write("\nBy {cite:t}`one` and {cite}`one, one`.\n")
    contents.check(book, ["tiny"])


@pytest.mark.parametrize(
    "old, new, says",
    [
        (
            "notebooks/tiny",
            "notebooks/tinny",
            "line 4: there is no page 'notebooks/tinny'; nearest: notebooks/tiny",
        ),
        (
            "notebooks/tiny",
            "notebooks/tiny.md",
            "line 4: there is no page 'notebooks/tiny.md'; write notebooks/tiny",
        ),
        (
            "notebooks/tiny\n",
            "notebooks/tiny\n- file: notebooks/tiny\n",
            "line 5: notebooks/tiny stands there twice, first on line 4",
        ),
        (
            "chapters:\n- file: notebooks/tiny\n",
            "",
            "lacks the chapter tiny: add `- file: notebooks/tiny`",
        ),
        ("root: book/index", "root: notebooks/tiny", "stands there twice"),
        ("root: book/index\n", "", "line 1: 'root' key not found"),
        ("chapters", "chapter", "line 3: unknown key 'chapter'; nearest: chapters"),
        ("- file: notebooks/tiny", "- notebooks/tiny", "line 4: entry not a mapping"),
        ("- file: notebooks/tiny", "- title: Tiny", "line 4: entry does not contain one of"),
        (
            "chapters:\n- file: notebooks/tiny",
            "chapters: notebooks/tiny",
            "line 3: entry not a mapping",
        ),
        ("- file: notebooks/tiny", "- file: [notebooks/tiny]", ""),
        ("jb-book", "jb-bok", "'jb-bok'"),
        ("- file", "- [file", "line 5: not valid YAML"),
        ("- file", "\t- file", "line 4: not valid YAML"),
        (TOC, "just words\n", "line 1: expected `root: PAGE`"),
        (TOC, "", "line 1: expected `root: PAGE`"),
        (TOC, "- a\n- b\n", "line 1: expected `root: PAGE`"),
    ],
)
def test_a_wrong_table_of_contents_is_named_with_its_line(book, old, new, says):
    assert old in TOC
    (book.root / "book" / "_toc.yml").write_text(TOC.replace(old, new, 1), encoding="utf-8")
    said = refusal(book)
    assert said.startswith("book/_toc.yml") and says in said, said


def test_a_page_that_the_contents_lack_is_named(book):
    (book.root / "book" / "left_out.md").write_text("# Left out\n", encoding="utf-8")
    shutil.copy(book.text("tiny"), book.text("another"))
    said = refusal(book).splitlines()
    assert "lacks the chapter another" in said[0] and "lacks the page left_out" in said[1]


@pytest.mark.parametrize(
    "text, says",
    [
        ("@misc{one, title={x}\n", "line 2: syntax error: premature end of file"),
        (BIB + BIB, "line 5: repeated bibliography entry: one"),
        (BIB.replace("{One}", "One"), "line 2: undefined string: One"),
        ("@misc{two,\n title={x},\n title={z}}\n", "line 1: entry with key two has a duplicate"),
        ("@misc{c,\n author={A, B, C, D}}\n", "line 2: Too many commas in 'A, B, C, D'"),
    ],
)
def test_a_malformed_bibliography_is_named_with_its_line(book, text, says):
    (book.root / "book" / "references.bib").write_text(text, encoding="utf-8")
    assert refusal(book).startswith(f"book/references.bib, {says}")


def test_a_missing_or_unreadable_bibliography_and_an_unknown_key_are_named(book):
    bibliography = book.root / "book" / "references.bib"
    bibliography.write_text(BIB, encoding="utf-8")
    with book.text("tiny").open("a", encoding="utf-8") as text:
        text.write("\nBy {cite:p}`onne`.\n")
    line = len(book.text("tiny").read_text(encoding="utf-8").splitlines())
    assert refusal(book) == f"notebooks/text/tiny.md, line {line}: no source 'onne'; nearest: one"
    bibliography.write_bytes(b"\xff\xfe")
    assert refusal(book).startswith("book/references.bib: is UTF-16")
    bibliography.unlink()
    assert "no such file" in refusal(book)


@pytest.mark.parametrize(
    "text, says",
    [
        ('{"resources": [\n', "datapackage.json, line 2: not valid JSON"),
        ("{}", "datapackage.json: it needs"),
        ('{"resources": [{"name": "a"}]}', "datapackage.json: resource a needs a path"),
        (
            (
                '{"resources": [{"path": "gone.csv", "schema": {"fields": [{"name": "a", "type":'
                ' "string"}]}}]}'
            ),
            "data/datapackage.json: there is no file gone.csv",
        ),
    ],
)
def test_a_malformed_data_package_is_named(book, text, says):
    (book.data / "datapackage.json").write_text(text, encoding="utf-8")
    assert refusal(book).startswith(says)


@pytest.mark.parametrize(
    "text, says",
    [
        ("title: [A\n", "_config.yml, line 2: not valid YAML"),
        ("words", "_config.yml: expected settings"),
        ("repository: here\n", "_config.yml: repository = 'here': expected `name: value`"),
        ("bibtex_bibfiles: a.bib\n", "_config.yml: bibtex_bibfiles = 'a.bib': expected a list"),
    ],
)
def test_malformed_settings_are_named(book, text, says):
    (book.root / "_config.yml").write_text(text, encoding="utf-8")
    assert refusal(book).startswith(says)


@pytest.mark.parametrize(
    "old, new, says",
    [
        (":tags: [answer]\n\n", "", "notebooks/text/tiny.md: no code cell is tagged as the answer"),
        ("(0.01..1)", "", "tiny, parameters cell, line 2:"),
        ("format_name: myst", "format_name: [myst", "notebooks/text/tiny.md: cannot be read:"),
    ],
)
def test_a_chapter_that_cannot_answer_is_refused_before_it_runs(book, monkeypatch, old, new, says):
    text = book.text("tiny").read_text(encoding="utf-8")
    assert old in text
    book.text("tiny").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(pool, "_Process", pytest.fail)
    with pytest.raises(PressError) as caught:
        site.publish(book, 1, False, print)
    assert str(caught.value).startswith(says)


def test_a_text_that_is_not_utf8_is_named(book):
    book.text("tiny").write_bytes("# Größe\n".encode("latin-1"))
    assert refusal(book, "tiny").startswith(
        "notebooks/text/tiny.md, line 1: byte 0xf6 is not UTF-8"
    )
