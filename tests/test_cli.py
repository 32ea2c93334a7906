"""The command line: one clear message on stderr and a telling exit code for everything that can be
wrong.
"""

import errno
import signal
import subprocess
import sys
from datetime import date, timedelta
from types import SimpleNamespace

import pytest
from scaleright import catalog, cli, press
from scaleright.press import datacheck, site, status
from scaleright.press.pool import Pool
from scaleright.validation import kinds


@pytest.fixture
def scaleright(book, monkeypatch, capsys):
    """Call the command in the small book: (exit code, stdout, stderr)."""
    monkeypatch.chdir(book.root)
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            cli.main(list(arguments))
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def nothing_runs(monkeypatch):
    """Fail the test if a chapter is run: the input is wrong and must be refused before any work."""
    monkeypatch.setattr(Pool, "run", lambda *_: pytest.fail("a chapter ran"))
    monkeypatch.setattr(Pool, "get_ready", lambda *_: None)


@pytest.mark.processes
def test_help_imports_nothing_that_takes_time():
    code = """if True:
        import sys
        from scaleright.cli import main
        try:
            main(["--help"])
        finally:
            print(*sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Commands:" in done.stdout
    heavy = {"pandas", "numpy", "altair", "IPython", "jupytext", "psutil"}
    assert not heavy & set(done.stdout.split())


@pytest.mark.processes
def test_what_a_build_begins_and_renders_with_imports_no_tables_and_no_charts():
    modules = "pages, site, status, worker"
    code = f"import sys; from scaleright.press import {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "altair"} & set(done.stdout.split())


@pytest.mark.usefixtures("nothing_runs")
def test_run_prints_the_answer_of_ones_own_case_and_starts_no_kernel(scaleright, book):
    code, out, err = scaleright("run", "tiny", "-p", "hours=20", "-p", "utilization=0.5")
    assert (code, out, err) == (0, "20 useful hours cost $96.00.\n", "")
    assert not book.build.exists()


@pytest.mark.processes
def test_run_writes_the_notebook_where_it_is_told(scaleright, tmp_path):
    code, out, _ = scaleright("run", "tiny", "--out", str(tmp_path / "mine.ipynb"))
    assert code == 0 and (tmp_path / "mine.ipynb").is_file()
    assert out.endswith(f"10 useful hours cost $60.00.\nnotebook: {tmp_path / 'mine.ipynb'}\n")


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    "arguments, code, says",
    [
        (["run", "tinny"], 1, "unknown chapter 'tinny'; nearest: tiny"),
        (["run", "tiny", "-p", "hour=3"], 1, "hour: no such parameter; nearest: hours"),
        (["run", "tiny", "-p", "hours=many"], 1, "hours = 'many': needs a whole number"),
        (["run", "tiny", "-p", "hours=0"], 1, "hours = 0: outside 1 to 1,000 h"),
        (["run", "tiny", "-p", "utilization=40"], 1, "did you mean 0.4 (40 %)?"),
        (["run", "tiny", "-p", "usd_per_hour=24"], 1, "8-GPU node: per GPU 3.00"),
        (["run", "tiny", "-p", "usd_per_hour=€2"], 1, "prices are in US dollars (USD)"),
        (["run", "tiny", "-p", "hours"], 2, "expected NAME=VALUE"),
        (["run", "tiny", "-p", "hours=3", "-p", "hours=9"], 2, "hours is given twice, as '3' and"),
        (["run", "tiny", "-p", "hours=3", "-p", " hours =9"], 2, "hours is given twice"),
        (["run", "tiny", "--out", "a", "--out", "b"], 2, "--out is given 2 times"),
        (["run", "tiny", "--out", ""], 2, "--out is empty"),
        (["run", "tiny", "--out", "/proc/x.ipynb"], 1, "--out '/proc/x.ipynb' cannot be written"),
        (["run", "tiny", "--out", "notebooks/text/tiny.md/x"], 1, "written: Not a directory"),
        (["run", "tiny", "--out", "n" * 300], 1, "... (300 characters) cannot be written"),
        (["sweep", "tiny", "-p", "hours=3", "--out", "/proc/x"], 1, "cannot be written"),
        (["run"], 2, "Missing argument 'CHAPTER'"),
        (["rum", "tiny"], 2, "No such command 'rum'; nearest: run"),
        (["data", "chek"], 2, "No such command 'chek'; nearest: check"),
        (["claims", "--jsn"], 2, "'--csv', '--json'?"),
        (["book", "--jobs", "0"], 2, "0 is not in the range"),
        (["data", "refresh", "--from", "nowhere"], 2, "'nowhere' does not exist"),
        (["validate", "counts", "nowhere.csv"], 1, "nowhere.csv: no such file"),
    ],
)
def test_wrong_input_is_refused_before_any_work(scaleright, arguments, code, says):
    got, out, err = scaleright(*arguments)
    assert (got, out) == (code, "") and says in err and "Traceback" not in err


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    "arguments",
    [
        ["{}"],
        ["run", "{}"],
        ["run", "tiny", "{}"],
        ["run", "tiny", "-p", "{}"],
        ["run", "tiny", "-p", "{}=1"],
        ["run", "tiny", "-p", "hours={}"],
        ["run", "tiny", "-p", "plan={}"],
        ["run", "tiny", "-p", "hours=1", "-p", "hours={}"],
        ["run", "tiny", "--out", "{}"],
        ["sweep", "tiny", "-p", "plan={}", "--out", "o"],
        ["sweep", "tiny", "-p", "hours=1", "--out", "o", "--scheduler", "{}"],
        ["parameters", "{}"],
        ["validate", "{}"],
        ["validate", "counts", "{}"],
        ["book", "--jobs", "{}"],
        ["data", "refresh", "--from", "{}"],
    ],
)
def test_a_huge_value_is_said_back_by_its_beginning_and_length(scaleright, arguments):
    code, out, err = scaleright(*(text.format("x" * 100_000) for text in arguments))
    assert code in (1, 2) and not out and len(err) < 1500 and "characters)" in err


@pytest.mark.usefixtures("nothing_runs")
def test_a_wrong_scenario_is_refused_before_any_chapter_runs(scaleright, book):
    entry = (
        "- {chapter: tiny, name: busy, title: Busy, why: Why not., parameters: {hours: 0, plan:"
        " spt}}\n"
    )
    (book.root / "book" / "scenarios.yml").write_text(entry)
    code, out, err = scaleright("book")
    assert (code, out) == (1, "")
    assert "book/scenarios.yml, line 1, scenario busy: hours = 0: outside 1 to 1,000 h" in err
    assert "nearest: spot" in err


def test_parameters_are_listed_with_bounds_and_meaning(scaleright):
    code, out, _ = scaleright("parameters", "tiny")
    assert code == 0
    assert out.splitlines()[0].split() == ["parameter", "default", "unit", "allowed", "meaning"]
    assert "utilization   0.4      " in out
    assert "spot, on demand" in out
    assert "share of paid hours at work" in out


def test_outside_a_book_the_checkouts_own_is_used(scaleright, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    code, _, err = scaleright("run", "no_such_chapter")
    assert code == 1 and "unknown chapter 'no_such_chapter'" in err


@pytest.mark.usefixtures("nothing_runs")
def test_an_installed_package_is_read_and_what_is_built_goes_where_one_is(
    scaleright, book, monkeypatch, tmp_path_factory
):
    (book.root / "book" / "_toc.yml").unlink()
    monkeypatch.setattr(press, "_PACKAGE", book.root)
    monkeypatch.chdir(here := tmp_path_factory.mktemp("elsewhere"))
    found = press.Book.find()
    assert found.root == book.root and found.chapters() == ["tiny"]
    assert (found.build, found.workdir) == (here / "_build", here)
    assert scaleright("parameters", "tiny")[0] == 0
    for command in (["book"], ["notebooks"], ["pdf"], ["data", "refresh", "--from", "."]):
        code, out, err = scaleright(*command)
        assert (code, out) == (1, "") and "no checkout of the book here" in err
    (book.root / "notebooks" / "text" / "tiny.md").unlink()
    assert scaleright("parameters", "tiny")[0] == 1


def test_a_full_disk_is_said_in_one_line(scaleright, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "html.next/index.html")

    monkeypatch.setattr(site, "_run", lambda *_: None)
    monkeypatch.setattr(site, "build", full)
    code, _, err = scaleright("book")
    assert code == 1
    assert (
        err
        == "scaleright: the disk is full (html.next/index.html); the last good site is as it was\n"
    )


def test_an_interruption_ends_with_its_own_exit_code(scaleright, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(site, "_run", interrupted)
    code, _, err = scaleright("book")
    assert code == 130 and "interrupted; the last good site is as it was" in err


def test_debug_shows_where_an_error_arose(book, monkeypatch):
    monkeypatch.chdir(book.root)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(cli.PressError, match="unknown chapter"):
        cli.main(["--debug", "run", "tinny"])


def test_data_commands_hand_over_to_the_importer_and_the_check(
    scaleright, monkeypatch, book, tmp_path
):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "refresh", raising=False)
    code, _, err = scaleright("data", "refresh", "--from", str(tmp_path))
    assert code == 1 and f"{book.root} has no refresh/; use a checkout" in err
    (book.root / "refresh").mkdir()
    importers = (
        "def refresh(raw, data, allow_flagged, allow_fewer):\n"
        '    return [f"{raw.name} -> {data} {allow_flagged}"]\n'
    )
    (book.root / "refresh" / "__init__.py").write_text(importers)
    assert (
        scaleright("data", "refresh", "--from", str(tmp_path))[1]
        == f"{tmp_path.name} -> {book.data} False\n"
    )
    assert (
        scaleright("data", "refresh", "--from", str(tmp_path), "--allow-flagged")[1]
        == f"{tmp_path.name} -> {book.data} True\n"
    )

    problems = [datacheck.Problem("prices", None, None, "is older than a year", notice=True)]
    monkeypatch.setattr(datacheck, "check", lambda data: problems)
    assert scaleright("data", "check")[:2] == (
        0,
        "notice: table prices: is older than a year\nthe data is sound\n",
    )
    problems.append(datacheck.Problem("prices", 2, "source", "has no source"))
    code, _, err = scaleright("data", "check")
    assert code == 1
    assert "error: table prices, row 2, column source: has no source" in err
    assert "1 error in the data" in err


def test_reports_come_as_text_or_json(scaleright, monkeypatch):
    report = SimpleNamespace(to_text=lambda: "text", to_json=lambda: "{}")
    monkeypatch.setattr(kinds, "validate", lambda kind, file, sealed: report)
    said = {None: "text", "json": "{}"}
    monkeypatch.setattr(status, "listed_claims", lambda form, asked: (said[form], []))
    for command in (["validate", "counts"], ["claims"]):
        assert scaleright(*command)[1] == "text\n"
        assert scaleright(*command, "--json")[1] == "{}\n"


def test_an_answer_comes_with_a_word_on_old_data_as_on_its_page(scaleright, monkeypatch):
    report = SimpleNamespace(to_text=lambda: "text")
    monkeypatch.setattr(kinds, "validate", lambda *_: report)
    monkeypatch.setattr(catalog, "data_record", lambda: SimpleNamespace(dated=["new", "old"]))
    dates = {"new": date.today(), "old": date.today() - timedelta(days=1_000)}
    monkeypatch.setattr(
        catalog,
        "resource",
        lambda name: {"title": name, "as_of": f"{dates[name]}", "stale_after_days": 30},
    )
    code, out, err = scaleright("validate", "counts")
    assert (code, out) == (0, "text\n")
    assert err == f"old data: old ({dates['old']}): 1,000 days old, fresh for 30\n"
