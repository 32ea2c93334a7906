"""The package where a reader installs it: on Colab, on Binder, from a wheel; with what it declares
and no checkout around.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from absent import absent
from environments import ROOT, Environment, declared, installing
from scaleright.press import Book, repository
from scaleright.press.execute import load

pytestmark = pytest.mark.processes
BOOK = Book(ROOT)
HOSTED = repository.stored(ROOT)

CELLS = """if True:
    import json, sys
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    for cell in json.load(sys.stdin):
        shell.run_cell(cell, store_history=True).raise_error()
    import scaleright
    from scaleright import catalog
    print(json.dumps([scaleright.__file__, str(catalog.data_dir())]))
"""
"""Runs cells as a notebook does, and says where the library and its tables lie."""

COMMANDS = """if True:
    import contextlib, io, json, sys
    from scaleright.cli import main
    for arguments in json.load(sys.stdin):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(arguments)
            except SystemExit as end:
                code = end.code or 0
            except BaseException as error:
                code = repr(error)
        print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""
"""Runs commands: exit code, or the error that would be a traceback, and what they say."""


def code_cells(chapter: str) -> list[str]:
    """The code of a chapter as its notebook holds it."""
    return [cell.source for cell in load(BOOK.text(chapter)).cells if cell.cell_type == "code"]


def hosted(folder: Path) -> dict[str, str]:
    """What has git find in a folder what the hosting repository would hold if this checkout were
    there: on the branch that is named, which need not be the one that git takes unasked.
    """
    if not shutil.which("git"):
        absent("git", "git")
    of_git = {"GIT_DIR": str(folder), "GIT_WORK_TREE": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull}
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    parts = ("pyproject.toml", "README.md", "lib", "data", "book", "notebooks/text")
    who = ("-c", "user.name=Reader", "-c", "user.email=reader@book.example")
    for command in (
        ("init", "--quiet", "--initial-branch", "default"),
        (*who, "commit", "--quiet", "--allow-empty", "--message", "Of another branch"),
        ("symbolic-ref", "HEAD", f"refs/heads/{HOSTED.branch}"),
        ("add", *parts),
        (*who, "commit", "--quiet", "--message", "As it is"),
        ("symbolic-ref", "HEAD", "refs/heads/default"),
    ):
        subprocess.run(["git", *command], cwd=ROOT, env=own | of_git, check=True)
    told = {"COUNT": "1", "KEY_0": f"url.{folder.as_uri()}.insteadOf", "VALUE_0": HOSTED.url}
    return {f"GIT_CONFIG_{name}": value for name, value in told.items()}


@pytest.fixture(scope="module")
def colab(tmp_path_factory) -> Environment:
    """What the first cell of a notebook installs where there is no library."""
    folder = tmp_path_factory.mktemp("colab")
    there = Environment.of(folder, declared())
    (setup, *_) = code_cells("token_cost")
    options = installing(folder) | hosted(folder / "hosted")
    where = json.loads(there.run("python", "-c", CELLS, given=[setup], **options).splitlines()[-1])
    home = there.packages / "scaleright"
    assert list(map(Path, where)) == [home / "__init__.py", home / "data"]
    return there


ANSWERED = [
    ("parameters token_cost", "api_input"),
    ("plan --list", "start_up"),
    ("plan start_up", " a day, "),
    ("validate counts", "parameters"),
    ("claims --words electricity", " claims"),
    ("data check", "the data is sound"),
    ("run token_cost", "million output tokens"),
]
"""Commands that need nothing else, and a word of what they say."""
REFUSED = [
    ("sweep memory_wall -p accelerators=1,2 --out swept", "pip install 'scaleright[sweep]'"),
    ("run token_cost --out x.ipynb", "pip install 'scaleright[book]'"),
    ("parameters tokn_cost", "nearest: token_cost"),
    ("plan startup", "nearest: start_up"),
    *(
        (command, "no checkout of the book here")
        for command in ("book", "notebooks", "pdf", "data refresh --from .")
    ),
]


@pytest.fixture(scope="module")
def said(colab) -> dict[str, tuple[int | str, str, str]]:
    """What each command ends with and says."""
    commands = [command for command, _ in (*ANSWERED, *REFUSED)]
    lines = colab.run(
        "python", "-c", COMMANDS, given=[each.split() for each in commands]
    ).splitlines()
    return {each: tuple(json.loads(line)) for each, line in zip(commands, lines, strict=True)}


@pytest.mark.parametrize("command, word", ANSWERED)
def test_a_command_answers_where_there_is_no_checkout(said, command, word):
    code, out, err = said[command]
    assert code == 0 and word in out, err
    assert all(line.startswith("old data: ") for line in err.splitlines())


@pytest.mark.parametrize("command, word", REFUSED)
def test_a_command_that_lacks_something_says_so_in_a_line(said, command, word):
    code, out, err = said[command]
    assert (code, out) == (1, "") and err.startswith("scaleright: ") and word in err
    assert err.count("\n") == 1


def test_the_command_is_installed_and_nothing_is_written_beside_the_library(colab, said):
    assert colab.run("scaleright", "--version").startswith("scaleright, version ")
    home = colab.packages / "scaleright"
    files = {path.relative_to(home) for path in home.rglob("*") if path.is_file()}
    found = {path.as_posix() for path in files if path.suffix != ".pyc"}
    library = {
        path.relative_to(ROOT / "lib" / "scaleright").as_posix()
        for path in (ROOT / "lib" / "scaleright").rglob("*.py")
    }
    texts = {f"notebooks/text/{chapter}.md" for chapter in BOOK.chapters()}
    tables = {path.relative_to(ROOT).as_posix() for path in (ROOT / "data").rglob("*.*")}
    own = {f"book/{name}" for name in ("plans.yml", "references.bib", "scenarios.yml")}
    assert found - library == texts | tables | own and library <= found
    assert said and not (colab.elsewhere / "swept").exists(), "refused before any work"


NOTEBOOK = """if True:
    import json, sys, time
    from contextlib import redirect_stdout
    from io import StringIO
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    for name, cells in json.load(sys.stdin).items():
        start, failed = time.process_time(), None
        shell.reset()
        with redirect_stdout(StringIO()) as shown:
            for cell in cells:
                failed = failed or shell.run_cell(cell, store_history=True).error_in_exec
        seconds = time.process_time() - start
        print(json.dumps([name, failed and repr(failed), len(shown.getvalue()), seconds]))
"""
"""Runs the cells of chapters, each from an empty namespace: its error, the length of what it shows,
and the seconds of the processor that it took.
"""
CHEAP = ("buy_or_rent", "memory_wall")


def notebooks(there: Environment, chapters: list[str]) -> dict[str, tuple[str | None, int, float]]:
    cells = {chapter: code_cells(chapter) for chapter in chapters}
    lines = there.run(
        "python", "-c", NOTEBOOK, given=cells, SCALERIGHT_CHARTS="altair"
    ).splitlines()
    return {name: tuple(rest) for name, *rest in map(json.loads, lines)}


def test_a_notebook_runs_there(colab):
    for chapter, (error, shown, _) in notebooks(colab, list(CHEAP)).items():
        assert error is None and shown > 1000, f"{chapter}: {error}"


@pytest.mark.nightly
def test_every_other_notebook_runs_there(colab):
    rest = [chapter for chapter in BOOK.chapters() if chapter not in CHEAP]
    found = notebooks(colab, rest)
    assert list(found) == rest
    for chapter, (error, shown, _) in found.items():
        assert error is None and shown > 1000, f"{chapter}: {error}"


def with_extras(colab: Environment, folder: Path, *extras: str) -> Environment:
    """The same with the packages of extras."""
    there = Environment.of(folder, declared(*extras))
    for path in colab.packages.glob("scaleright*"):
        (there.packages / path.name).symlink_to(path)
    return there


@pytest.mark.nightly
@pytest.mark.parametrize(
    "extra, command, made",
    [
        ("sweep", "sweep memory_wall -p accelerators=1,2 --out swept", "swept/sweep.svg"),
        ("book", "run token_cost --out run.ipynb", "run.ipynb"),
    ],
)
def test_a_command_runs_with_its_extra(colab, tmp_path, extra, command, made):
    there = with_extras(colab, tmp_path, extra)
    main = "import sys; from scaleright.cli import main; main()"
    assert there.run("python", "-c", main, *command.split())
    assert len(list(there.elsewhere.glob(made))) == 1


def test_binder_runs_a_notebook_on_the_tables_of_its_checkout(tmp_path):
    there = Environment.of(tmp_path, declared())
    recipe = ROOT / ".binder"
    there.run(str(recipe / "postBuild"), cwd=ROOT, **installing(tmp_path))
    cells = code_cells("buy_or_rent")[:3]
    start = (str(recipe / "start"), "python", "-c")
    charts = "import os; print(os.environ['SCALERIGHT_CHARTS'])"
    assert there.run(*start, charts) == "altair\n"
    where = there.run(*start, CELLS, given=cells).splitlines()[-1]
    assert list(map(Path, json.loads(where))) == [
        ROOT / "lib" / "scaleright" / "__init__.py",
        ROOT / "data",
    ]
