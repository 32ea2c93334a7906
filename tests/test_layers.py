"""The library's imports go one way, as the contract in pyproject.toml draws its layers."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parents[1]


def test_a_module_imports_only_from_the_layers_below_it(capsys):
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize("folder, limit", [("lib", 400), ("refresh", 300)])
def test_modules_stay_small(folder, limit):
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for path in (ROOT / folder).rglob("*.py")
    }
    assert lengths and {path: length for path, length in lengths.items() if length > limit} == {}


def code_lines(source: str) -> int:
    """Lines that hold code: no docstring, comment or blank line, so that explaining is free."""
    texts = (
        n
        for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.Expr)
        and isinstance(n.value, ast.Constant)
        and isinstance(n.value.value, str)
    )
    docstrings = {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}
    layout = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    tokens = (
        t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in layout
    )
    return len({line for t in tokens for line in range(t.start[0], t.end[0] + 1)} - docstrings)


def test_lines_of_code_are_counted_without_their_explanations():
    assert (
        code_lines(
            '"""Text."""\n\n# why\ndef f():\n    """More\n    text."""\n    return [1,\n           '
            " 2]\n"
        )
        == 3
    )


# Four parts, each with a bound of its own. The library, from ground to judgment, is what is read to
# know how a number comes about: it must stay small enough to be read. Validation sets its
# predictions beside what was measured: no number is made there. Charts, press and command line show
# and publish what it says. The claims recompute one statement of the sources each: they grow with
# the sources, not with the library, and each is read alone beside its statement.
VALIDATION, SHOW, CLAIMS = {"validation"}, {"charts", "press", "cli.py"}, {"claims"}


@pytest.mark.parametrize(
    "rooms, limit",
    [(None, 7000), (VALIDATION, 1200), (SHOW, 3400), (CLAIMS, 1400)],
    ids=["library", "validation", "show and press", "claims"],
)
def test_each_part_stays_small(rooms, limit):
    room_of = {
        path: path.relative_to(ROOT / "lib/scaleright").parts[0]
        for path in (ROOT / "lib/scaleright").rglob("*.py")
    }
    chosen = [
        path
        for path, room in room_of.items()
        if (room in rooms if rooms else room not in VALIDATION | SHOW | CLAIMS)
    ]
    assert chosen and sum(code_lines(path.read_text()) for path in chosen) < limit


def test_importing_a_module_reads_no_table():
    """What a chapter's data record names is what the chapter asked for, not what some module looks
    up as it is imported.
    """
    code = """if True:
        import importlib, pkgutil, scaleright
        from scaleright import catalog
        for module in pkgutil.walk_packages(scaleright.__path__, "scaleright."):
            importlib.import_module(module.name)
        assert catalog.data_record().names == [], catalog.data_record().names
    """
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_the_library_knows_nothing_of_the_importers():
    code = (
        "import sys, scaleright.cli, scaleright.press.datacheck; sys.exit('refresh' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
    named = [
        path
        for path in (ROOT / "lib").rglob("*.py")
        if re.search(r"^\s*(from|import) refresh\b", path.read_text(), re.MULTILINE)
    ]
    assert [path.name for path in named] == ["cli.py"]
