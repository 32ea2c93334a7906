"""What the package declares is what it imports."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from environments import PROJECT, ROOT, declared, needed
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from scaleright.press import Book, PressError, commands
from scaleright.press.texts import SAY, code_cells

LIBRARY = ROOT / "lib" / "scaleright"
OWN = {"scaleright", *(path.parent.name for path in ROOT.glob("*/__init__.py"))}
"""The library, and packages of the checkout, which none installs."""
NOT_IMPORTED = {"sphinx-mathjax-offline"}
"""What is read as files."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Modules that code imports, at once or when it needs them; not those for annotations alone."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names)
    if isinstance(tree, ast.ImportFrom) and not tree.level:
        yield tree.module or ""
    for part in ast.iter_child_nodes(tree):
        yield from imported(part)


@cache
def distributions() -> dict[str, set[str]]:
    """Which distributions bring a top-level package."""
    found = packages_distributions().items()
    return {package: set(map(canonicalize_name, names)) for package, names in found}


def outside(code: str) -> set[str]:
    """Top-level packages that code imports and that are neither Python's nor the project's."""
    tops = {name.partition(".")[0] for name in imported(ast.parse(code))}
    return tops - OWN - sys.stdlib_module_names


def names(*which: str) -> set[str]:
    """Distributions that are declared, with those of some extras."""
    return {canonicalize_name(Requirement(line).name) for line in declared(*which)}


def undeclared(code: str, known: set[str]) -> set[str]:
    return {package for package in outside(code) if not distributions().get(package, set()) & known}


MODULES = sorted(path.relative_to(LIBRARY).as_posix() for path in LIBRARY.rglob("*.py"))
EXTRAS = sorted(PROJECT["optional-dependencies"])


def test_imports_are_found_wherever_they_stand():
    code = """if True:
        import one.part, two
        def f():
            from three import x
        if TYPE_CHECKING:
            import four
        from . import five
    """
    assert set(imported(ast.parse(code))) == {"one.part", "two", "three"}


def test_what_a_module_imports_is_declared():
    """By the press among the extras too; else by the package alone."""
    for module in MODULES:
        known = names(*EXTRAS) if module.startswith("press/") else names()
        assert not undeclared((LIBRARY / module).read_text(encoding="utf-8"), known), module


def test_what_is_declared_is_imported():
    used = set[str]()
    for module in MODULES:
        for package in outside((LIBRARY / module).read_text(encoding="utf-8")):
            used |= distributions()[package]
    assert names(*EXTRAS) - used <= NOT_IMPORTED


def test_what_a_chapter_imports_is_declared():
    book = Book(ROOT)
    for chapter in book.chapters():
        cells = [cell.source for cell in code_cells(book.text(chapter))]
        cells = [source for source in cells if not source.startswith(SAY)]
        code = re.sub(r"^( *)%.*", r"\1pass", "\n".join(cells), flags=re.MULTILINE)
        assert "import" in code and not undeclared(code, names()), chapter


def test_what_is_declared_is_pinned_at_a_version_that_does():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    for line in declared(*EXTRAS):
        wanted = Requirement(line)
        assert wanted.specifier.contains(versions[canonicalize_name(wanted.name)]), line
    assert set(needed(declared())) <= set(versions), "Binder installs at the tested versions"


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_that_is_there_is_found(extra):
    commands.require(extra, "command")


def test_a_command_names_what_it_lacks_and_what_installs_it(monkeypatch):
    lines = [
        "numpy>=1",
        'no-such-package>=3; extra == "sweep"',
        'numpy>=999; extra == "sweep"',
        'packaging>=1; extra == "sweep"',
        'another; extra == "book"',
    ]
    monkeypatch.setattr(commands, "requires", lambda name: lines)
    with pytest.raises(PressError) as refused:
        commands.require("sweep", "sweep")
    assert str(refused.value) == (
        "scaleright sweep needs no-such-package>=3, numpy>=999: pip install 'scaleright[sweep]'"
    )


def test_binder_names_what_exists():
    recipe = (ROOT / ".binder" / "postBuild").read_text(encoding="utf-8")
    (named,) = re.findall(r"--constraint (\S+) --editable \.$", recipe, re.MULTILINE)
    assert (ROOT / named).is_file()
    for name in ("postBuild", "start"):
        path = ROOT / ".binder" / name
        assert path.stat().st_mode & 0o111, f"{name} can be executed"
        assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    (version,) = re.fullmatch(
        r"python-(3\.\d+)\n", (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8")
    ).groups()
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)
    ci = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f"python:{version}-" in ci, "the version that is tested"
