"""Which chapters run again after an edit: in a copy of this book, a file of each kind at a time."""

from __future__ import annotations

import ast
import functools
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from scaleright.press import Book
from scaleright.press.staleness import Inputs
from scaleright.press.texts import SAY

ROOT = Path(__file__).resolve().parents[1]
BOOK = Book(ROOT)
COPIED = ("book", "data", "lib/scaleright", "notebooks/text", "_config.yml", "requirements.txt")


@pytest.fixture(scope="module")
def copy(html, tmp_path_factory) -> Book:
    """A copy of the book as it was built last, with the records of its runs."""
    root = tmp_path_factory.mktemp("copy")
    for name in (*COPIED, "_build/executed"):
        source, target = ROOT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return Book(root)


def run_again(book: Book) -> set[str]:
    inputs = Inputs(book, book.root / "lib")
    cases = {of.chapter for of in inputs.stale_scenarios()}
    assert cases <= {*inputs.stale()}, "a case runs again with its chapter"
    return {*inputs.stale()}


def edited(book: Book, name: str) -> set[str]:
    """The chapters that run again after a line was added to a file, which is then taken back."""
    path = book.root / name
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    try:
        return run_again(book)
    finally:
        path.write_bytes(before)


# What a chapter uses, told in another way than by the library


@functools.cache
def imported(path: Path) -> frozenset[Path]:
    """The files of the library that a module's code names in its imports."""
    return modules_in(path.read_text(encoding="utf-8"))


def modules_in(code: str) -> frozenset[Path]:
    tree = ast.parse(code)
    typed = {id(n) for of in ast.walk(tree) if for_types(of) for n in ast.walk(of)}
    names = set[str]()
    for node in (n for n in ast.walk(tree) if id(n) not in typed):
        if isinstance(node, ast.Import):
            names |= {of.name for of in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{of.name}" for of in node.names}
    return frozenset(path for name in names for path in files(name))


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def files(name: str) -> Iterable[Path]:
    """The file of a module, and those of the packages it lies in."""
    parts = name.split(".")
    for n in range(1, len(parts) + 1):
        path = ROOT.joinpath("lib", *parts[:n])
        yield from (p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())


def users(name: str) -> set[str]:
    """The chapters behind whose cells a module of the library stands."""
    return {chapter for chapter in BOOK.chapters() if ROOT / name in behind(chapter)}


@functools.cache
def behind(chapter: str) -> frozenset[Path]:
    cells = re.findall(
        r"^```\{code-cell\}[^\n]*\n((?:.*\n)*?)```$", BOOK.text(chapter).read_text(), re.MULTILINE
    )
    sources = (re.sub(r"\A(:.*\n)+\n?", "", cell) for cell in cells)
    code = "\n".join(source for source in sources if not source.startswith(SAY))
    found, ahead = set[Path](), set(modules_in(code))
    while ahead:
        found |= ahead
        ahead = set[Path]().union(*map(imported, ahead)) - found
    return frozenset(found)


def readers(table: str) -> set[str]:
    """The chapters whose data record names a table."""
    stored = {chapter: BOOK.notebook(chapter).read_text() for chapter in BOOK.chapters()}
    return {c for c, text in stored.items() if f'"{table}"' in text and has(table, text)}


def has(table: str, notebook: str) -> bool:
    outputs = (o for c in json.loads(notebook)["cells"] for o in c.get("outputs", ()))
    records = (data for o in outputs for data in o.get("data", {}).values())
    return any(isinstance(of, dict) and table in of.get("tables", ()) for of in records)


# Edits


def test_nothing_runs_again_without_an_edit(copy):
    assert run_again(copy) == set()


@pytest.mark.parametrize(
    "name, chapters",
    {
        # what stands beside one chapter's own module, and was once left out of its key
        "lib/scaleright/chapters/token_cost/evidence.py": {"token_cost"},
        "lib/scaleright/chapters/gpu_prices/page.py": {"gpu_prices"},
        "lib/scaleright/chapters/model_routing/page.py": {"model_routing"},
        "lib/scaleright/chapters/load_of_a_day/page.py": {"load_of_a_day"},
        "lib/scaleright/press/plans.py": {"plan"},
        "book/plans.yml": {"plan"},
        # what is a chapter's own
        "notebooks/text/memory_wall.md": {"memory_wall"},
        "lib/scaleright/chapters/memory_wall/page.py": {"memory_wall"},
        # what is of no run
        "book/_static/site.js": set(),
        "book/index.md": set(),
        "book/mentions.yml": set(),
        "book/references.bib": set(),
        "lib/scaleright/press/site.py": set(),
        "lib/scaleright/cli.py": set(),
        # what is of all
        "requirements.txt": set(BOOK.chapters()),
        "lib/scaleright/quantity/graph.py": set(BOOK.chapters()),
        "lib/scaleright/press/worker.py": set(BOOK.chapters()),
    }.items(),
)
def test_an_edit_runs_these_chapters_again_and_no_others(copy, name, chapters):
    assert edited(copy, name) == chapters


@pytest.mark.parametrize(
    "name",
    [
        "lib/scaleright/scaling_laws/optima.py",
        "lib/scaleright/footprint/parts.py",
        "lib/scaleright/collectives.py",  # three imports away from most that use it
        "lib/scaleright/inference/first_token.py",
        "lib/scaleright/mlperf/training.py",
        "lib/scaleright/market/quotes.py",
        "lib/scaleright/decisions/routing_tiers.py",
        "lib/scaleright/claims/stored.py",
        "lib/scaleright/chapters/hardware_radar/page.py",
    ],
)
def test_an_edit_of_a_module_runs_all_again_that_stand_on_it(copy, name):
    assert edited(copy, name) == users(name) != set()


@pytest.mark.parametrize(
    "table", ["check_rates", "measured/training", "claim_words", "purchase_prices"]
)
def test_an_edit_of_a_table_runs_all_again_that_read_it(copy, table):
    found = edited(copy, f"data/{table}.csv")
    assert readers(table) <= found and readers(table)
    assert found < set(BOOK.chapters())


def test_a_changed_case_runs_again_and_its_chapter_does_not(copy):
    path = copy.root / "book" / "scenarios.yml"
    before = path.read_text(encoding="utf-8")
    value = re.search(r"^    (\w+: )(\d+)$", before, re.MULTILINE)
    assert value
    path.write_text(before.replace(value[0], f"    {value[1]}{int(value[2]) + 1}", 1), "utf-8")
    inputs = Inputs(copy, copy.root / "lib")
    path.write_text(before, encoding="utf-8")
    assert inputs.stale() == [] and len(inputs.stale_scenarios()) == 1
