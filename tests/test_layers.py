"""The library's imports go one way, as the contract in pyproject.toml draws its layers."""

from __future__ import annotations

from pathlib import Path

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parents[1]


def test_a_module_imports_only_from_the_layers_below_it(capsys):
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_modules_stay_small():
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in (ROOT / "lib").rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > 400} == {}
