"""The library's imports go one way, as the contract in pyproject.toml draws its layers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parents[1]


def test_a_module_imports_only_from_the_layers_below_it(capsys):
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize("folder, limit", [("lib", 400), ("refresh", 300)])
def test_modules_stay_small(folder, limit):
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert lengths and {path: length for path, length in lengths.items() if length > limit} == {}


def test_the_library_knows_nothing_of_the_importers():
    code = "import sys, scaleright.cli, scaleright.press.datacheck; sys.exit('refresh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
    named = [path for path in (ROOT / "lib").rglob("*.py") if re.search(r"^\s*(from|import) refresh\b", path.read_text(), re.M)]
    assert [path.name for path in named] == ["cli.py"]
