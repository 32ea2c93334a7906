"""The library's imports go one way, as the contract in pyproject.toml draws its layers."""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import pytest
from paths import ROOT


def test_a_module_imports_only_from_the_layers_below_it(capsys):
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def drawn() -> list[list[str]]:
    """The rooms of each line of the drawing in CONTRIBUTING.md, and the stops of its number."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split("## The house")[1].split("\n## ")[0]
    lines = re.findall(r"^(?:\| (`.*?) \||\d+\. (.*))", text, re.MULTILINE)
    return [re.findall(r"`([\w/.]+)`", room or stop) for room, stop in lines]


def test_the_drawing_of_the_house_is_the_contract_of_its_imports():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]["layers"]
    floors = [sorted(re.findall(r"\w+", floor)) for floor in contract]
    assert [sorted(rooms) for rooms in drawn() if "." not in rooms[0]] == floors
    assert {room for rooms in floors for room in rooms} == {
        path.stem for path in (ROOT / "lib" / "scaleright").iterdir() if path.stem[0] != "_"
    }


def test_the_way_of_one_number_is_a_way_of_imports():
    """Each stop rests on one before it."""
    import grimp

    graph = grimp.build_graph("scaleright", cache_dir=None)
    stops = [name for names in drawn() for name in names if name.endswith(".py")]
    modules = ["scaleright." + stop.removesuffix(".py").replace("/", ".") for stop in stops]
    assert len(modules) >= 10
    for place, module in enumerate(modules[2:], 2):
        before = modules[:place]
        assert any(graph.chain_exists(importer=module, imported=of) for of in before), module


# What is read must be small enough to be read: after formatting, which nothing may evade.

LONGEST_MODULE, LONGEST_FUNCTION = 800, 60
UNFORMATTED = re.compile(r"#\s*(fmt|yapf):\s*(off|on|skip|disable|enable)\b")
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?:.*\n)*?)```$", re.MULTILINE)


def python_files() -> list[Path]:
    """Every Python file of the checkout: its own folders, no environment, nothing built."""
    folders = [p for p in ROOT.iterdir() if p.is_dir() and p.name[0] not in "._"] + [ROOT / ".ci"]
    found = [path for folder in folders for path in folder.rglob("*.py")]
    return sorted([*ROOT.glob("*.py"), *(p for p in found if "node_modules" not in p.parts)])


def cells() -> dict[str, str]:
    """The code cells of all chapters, without their options, by chapter and number."""
    found = {}
    for path in sorted((ROOT / "notebooks" / "text").glob("*.md")):
        for number, source in enumerate(CELL.findall(path.read_text()), 1):
            code = re.sub(r"\A(:.*\n)+\n?", "", source)
            if not code.startswith("%%say"):
                found[f"{path.name}, cell {number}"] = code
    return found


def too_long(source: str) -> dict[str, int]:
    """The functions of a module that are too long, with their lines."""
    found, blocks = {}, [ast.parse(source)] if source.count("\n") >= LONGEST_FUNCTION else []
    while blocks:
        for node in ast.iter_child_nodes(blocks.pop()):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):  # none within is longer
                found[node.name] = node.end_lineno - node.lineno + 1
            elif isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
                blocks.append(node)
    return {name: count for name, count in found.items() if count > LONGEST_FUNCTION}


def unformatted(source: str) -> list[str]:
    """The comments that would keep a line from being formatted."""
    if not UNFORMATTED.search(source):
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT and UNFORMATTED.search(t.string)]


def test_modules_stay_short():
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for path in python_files()
    }
    assert len(lengths) > 200
    assert {path: count for path, count in lengths.items() if count > LONGEST_MODULE} == {}


@pytest.mark.parametrize("fault", [too_long, unformatted])
def test_functions_stay_short_and_every_line_is_formatted(fault):
    sources = {path.relative_to(ROOT).as_posix(): path.read_text() for path in python_files()}
    assert len(cells()) > 400
    found = {name: fault(source) for name, source in (sources | cells()).items()}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_a_long_function_and_an_unformatted_line_are_found():
    body = "\n".join(["    pass"] * LONGEST_FUNCTION)
    source = f"class A:\n  async def long():\n{body}\n\ndef short():\n    'fmt: skip'\n    return 1"
    assert too_long(source) == {"long": LONGEST_FUNCTION + 1}
    assert unformatted(source) == []
    assert unformatted("a = 1  #fmt:skip\nb = 2  # yapf: disable") == [
        "#fmt:skip",
        "# yapf: disable",
    ]


@pytest.mark.processes
def test_importing_the_library_reads_no_table_and_nothing_of_the_importers():
    """What a chapter's data record names is what the chapter asked for, not what some module looks
    up as it is imported.
    """
    code = """if True:
        import importlib, pkgutil, sys, scaleright
        from scaleright import catalog
        for module in pkgutil.walk_packages(scaleright.__path__, "scaleright."):
            importlib.import_module(module.name)
        assert catalog.data_record().names == [], catalog.data_record().names
        assert "refresh" not in sys.modules
    """
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_the_library_names_the_importers_in_one_command_alone():
    named = [
        path
        for path in (ROOT / "lib").rglob("*.py")
        if re.search(r"^\s*(from|import) refresh\b", path.read_text(), re.MULTILINE)
    ]
    assert [path.name for path in named] == ["cli.py"]
