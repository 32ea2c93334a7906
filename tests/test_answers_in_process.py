"""The answer that `scaleright run` gives without a kernel: that of the notebook, word for word."""

import shutil
from textwrap import dedent

import pytest
from built import BOOK
from scaleright import REMEMBERED, catalog
from scaleright.catalog import tables
from scaleright.parameters import Case, case, supplied
from scaleright.press import execute
from scaleright.press.evaluate import answer, run_cells, to_answer
from scaleright.press.execute import ChapterError
from scaleright.press.staleness import tables_read
from scaleright.press.texts import chapter_notebook, code_cells, declared


@pytest.mark.long
@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_an_answer_is_that_of_the_stored_notebook(chapter):
    content = BOOK.notebook(chapter).read_bytes()
    with catalog.reading() as read:
        said = answer(BOOK, chapter, declared(chapter, BOOK), {})
    assert said == execute.answer(content) != ""
    assert set(catalog.DataRecord(read).names) <= set(tables_read(content) or ())


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_code_is_read_as_the_notebook_has_it(chapter):
    cells = [of for of in chapter_notebook(BOOK.text(chapter)).cells if of.cell_type == "code"]
    found = code_cells(BOOK.text(chapter))
    assert [of.source for of in found] == [of.source for of in cells]
    assert [list(of.tags) for of in found] == [of.metadata.get("tags", []) for of in cells]
    assert [of.number for of in found] == [*range(1, len(cells) + 1)]


@pytest.mark.parametrize(
    "options",
    [
        ":tags: [answer, hide-input]",
        "---\ntags: [answer, hide-input]\nother: {more: 1}\n---",
        "---\ntags:\n- answer\n- hide-input\n---",
        ':tags: ["answer", "hide-input"]',
    ],
)
def test_tags_are_read_in_all_ways_of_writing_them(options, tmp_path):
    (text := tmp_path / "one.md").write_text(f"```{{code-cell}}\n{options}\n\nx = 1\n\n\nx\n```\n")
    (read,) = code_cells(text)
    (cell,) = chapter_notebook(text).cells
    assert (read.source, [*read.tags]) == (cell.source, cell.metadata["tags"])
    assert read.tags == ("answer", "hide-input")


@pytest.fixture
def said(book):
    """The answer of the small book's chapter with this cell for its answer."""

    def ask(source: str, **values) -> str:
        text = book.text("tiny").read_text()
        first, last = text.index("class Answer:"), text.index("Answer()\n") + len("Answer()\n")
        book.text("tiny").write_text(text[:first] + dedent(source) + text[last:])
        return answer(book, "tiny", declared("tiny", book), values)

    return ask


def test_names_are_the_readers_values_and_the_rest_as_declared(said):
    assert (
        said('print(hours, plan, case.hours, case["hours"].default)\n', hours=20) == "20 spot 20 10"
    )


@pytest.mark.parametrize(
    "source, shown",
    [
        ('print("a"); print("b")\n"c"\n', "a\nb\n\n'c'"),
        ('display("first")\n"then"\n', "'first'\n'then'"),
        ("from IPython.display import Markdown\n\nMarkdown('**so**')\n", "**so**"),
        ("{'usd': 2.5}\n", "{'usd': 2.5}"),
    ],
)
def test_what_is_shown_is_said_as_a_notebook_would(said, source, shown):
    assert said(source) == shown


@pytest.mark.parametrize(
    "source, wrong",
    [
        ("1 / 0\n", "code cell 3 ('1 / 0'): ZeroDivisionError: division by zero"),
        ("hours = 3\n", "code cell 3 ('hours = 3') is tagged as the answer and shows nothing"),
        ("import sys\nprint('odd', file=sys.stderr)\n1\n", "wrote to stderr: odd"),
    ],
)
def test_a_cell_that_fails_is_named(said, source, wrong):
    with pytest.raises(ChapterError) as caught:
        said(source)
    assert str(caught.value).startswith("tiny: code cell 3 (") and wrong in str(caught.value)


def test_a_chapter_without_an_answer_says_nothing(book):
    text = book.text("tiny")
    text.write_text(text.read_text().replace(":tags: [answer]\n", ""))
    assert to_answer(book, "tiny") == ()
    assert answer(book, "tiny", declared("tiny", book), {}) == ""


def test_what_is_shown_above_the_answer_is_not_computed(book):
    cells = code_cells(book.text("tiny"))
    given, shown = declared("tiny", book), []
    at = Case(given, {of.name: of.default for of in given})
    run_cells(cells[:2], at)
    run_cells(cells[:2], at, shown.append)
    assert shown == [at]


def test_a_case_is_supplied_only_within():
    outer, inner = (Case((), {"hours": hours}) for hours in (8, 9))
    with supplied(outer):
        with supplied(inner):
            assert case() is inner
        assert case() is outer
    with pytest.raises(RuntimeError, match="inside a notebook"):
        case()


def test_tables_read_within_are_told_apart_and_noted_around():
    with catalog.reading() as outer:
        catalog.fact("gpt3_prompt_tokens")
        with catalog.reading() as inner:
            catalog.table("models")
        assert inner == {"models"}
    assert outer == {"models", "reference_facts"}


def test_a_table_is_examined_once_for_all_runs_and_again_when_it_changes(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    shutil.copytree(catalog.data_dir(), folder)
    monkeypatch.setenv("SCALERIGHT_DATA", str(folder))
    monkeypatch.setenv(REMEMBERED, str(tmp_path / "remembered"))
    catalog.forget()
    before = catalog.table("models")
    with monkeypatch.context() as patched:
        patched.setattr(tables, "_examined", lambda *_: pytest.fail("examined again"))
        catalog.forget()
        assert catalog.table("models").equals(before)
    path = folder / "models.csv"
    path.write_text("\n".join([*path.read_text().splitlines(), "broken"]) + "\n")
    catalog.forget()
    with pytest.raises(catalog.DataError, match="table models"):
        catalog.table("models")
    monkeypatch.undo()
    catalog.forget()
