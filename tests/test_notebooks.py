"""Stored notebooks: executed, in step with their text, and of the book's skeleton.

That every output is still what the code gives is nbval's part, in kernels that start from nothing:
`make test` collects notebooks/*.ipynb with it in the same session (`pytest --nbval
--nbval-current-env`), see `nbval_kernels`; and, in warm kernels, that of `test_site_is_built`.
"""

import functools
import re

import nbformat
import pytest
from built import BOOK
from scaleright.press.execute import answer, load, normalize
from scaleright.press.staleness import tables_read
from scaleright.press.texts import declared, tagged

SKELETON = ["Your case", "Why", "How sure", "What this does not resolve", "Try it", "Sources"]

pytestmark = pytest.mark.parametrize("chapter", BOOK.chapters())


@functools.cache
def stored(chapter):
    return nbformat.read(BOOK.notebook(chapter), as_version=4)


@pytest.fixture
def notebook(chapter):
    assert BOOK.notebook(chapter).is_file(), f"{chapter} is not stored: make notebooks"
    return stored(chapter)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_text_and_notebook_are_twins(chapter, notebook):
    text = load(BOOK.text(chapter))
    assert [(c.cell_type, c.source) for c in notebook.cells] == [
        (c.cell_type, c.source) for c in text.cells
    ], "make notebooks"


def test_dollars_in_prose_are_escaped(chapter):
    prose = "\n".join(c.source for c in load(BOOK.text(chapter)).cells if c.cell_type == "markdown")
    spans = re.findall(r"(?<![\\$])\$(?!\$)([^$\n]+?)(?<!\\)\$(?!\$)", prose)
    # TeX puts words into \\text{} or \\mathrm{}, or beneath as an index
    words = [re.sub(r"\\[a-z]+\{[^}]*\}|\\[a-zA-Z]+|_\{?\w+\}?", "", span) for span in spans]
    assert not [s for s, left in zip(spans, words, strict=True) if re.search(r"[a-z]{2,} ", left)]


def test_every_cell_was_executed_in_order_without_error(chapter, notebook):
    assert [cell.execution_count for cell in code_cells(notebook)] == list(
        range(1, len(code_cells(notebook)) + 1)
    )
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


def test_nothing_of_the_run_or_the_machine_is_stored(chapter, notebook):
    content = BOOK.notebook(chapter).read_bytes()
    assert normalize(nbformat.reads(content.decode(), as_version=4)) == content
    assert str(BOOK.root).encode() not in content and len(content) < 5_000_000


def test_a_chapter_declares_its_parameters_answers_and_names_its_tables(chapter, notebook):
    assert tagged(notebook.cells, "parameters") and declared(chapter, BOOK)
    content = BOOK.notebook(chapter).read_bytes()
    assert any(digit in answer(content) for digit in "0123456789"), (
        "the answer is a sentence with a number"
    )
    assert tables_read(content), "the last cell shows the data record"


def test_a_chapter_follows_the_skeleton(chapter, notebook):
    lines = [
        line
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
    ]
    headings = [line.lstrip("# ").strip() for line in lines if line.startswith("## ")]
    assert [heading for heading in headings if heading in SKELETON] == SKELETON
    titles = [line for line in lines if line.startswith("# ")]
    assert len(titles) == 1 and titles[0].endswith("?"), "the title is the question"
