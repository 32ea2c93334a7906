"""What a quick run leaves out: tests that have passed and of whose inputs none has changed."""

import json
from types import SimpleNamespace

import pytest
import selection
from selection import NOTED, ROOT, Selection

FILE = "tests/test_collectives.py"
MODULE = "lib/scaleright/names.py"
"""Some imports behind that file, and with doctests of its own."""


@pytest.fixture
def plugin(monkeypatch, tmp_path):
    """Makes the plugin anew, as the next session does; what files hold is as they say."""
    monkeypatch.setattr(selection, "RECORD", tmp_path / "green.json")
    known: dict[str, str] = {}
    monkeypatch.setattr(selection, "_digest", lambda name: known.get(name, "as it was"))

    def make(options: dict | None = None, **changed: str) -> Selection:
        known.clear()
        known.update({name.replace("__", "/") + ".py": of for name, of in changed.items()})
        option = {"keyword": "", "deselect": None, "lf": False, "markexpr": "not long"}
        option |= {"changed": True, "args": ["tests"], **(options or {})}
        config = SimpleNamespace(option=SimpleNamespace(**option), args=option["args"])
        return Selection(SimpleNamespace(**vars(config), getoption=option.get))

    return make


def session(plugin: Selection, *files: str, failed: str = "", status: int = 0, **told) -> None:
    for file in files:
        properties = [(NOTED, ["data/prices.csv"])]
        report = SimpleNamespace(
            nodeid=f"{file}::test", user_properties=properties, failed=file == failed
        )
        plugin.pytest_runtest_logreport(report)
    plugin.pytest_sessionfinish(SimpleNamespace(shouldstop=False, **told), status)


def left_out(plugin: Selection, file: str) -> bool:
    return bool(plugin.pytest_ignore_collect(ROOT / file))


def test_what_passed_is_left_out_until_an_import_changes(plugin):
    assert not left_out(plugin(), FILE)
    session(plugin(), FILE, MODULE)
    assert left_out(plugin(), FILE) and left_out(plugin(), MODULE)
    assert not left_out(plugin(lib__scaleright__names="new"), FILE)
    assert not left_out(plugin(lib__scaleright__names="new"), MODULE)
    deeper = plugin(lib__scaleright__units="new")  # which that module imports
    assert not left_out(deeper, FILE) and left_out(deeper, MODULE), "doctests are of one module"
    assert not left_out(plugin(tests__conftest="new"), FILE)
    assert left_out(plugin(lib__scaleright__press__site="new"), FILE)


@pytest.mark.parametrize(
    "test, changed",
    [
        ("claims", "lib__scaleright__claims__s3"),
        ("claims_listing", "lib__scaleright__costs__break_even"),  # which that imports
        ("rules", "lib__scaleright__rules__prices"),
        ("one_answer", "lib__scaleright__chapters__token_cost__page"),
        ("one_answer", "lib__scaleright__rules__serving"),
    ],
)
def test_what_is_found_by_its_name_counts(plugin, test, changed):
    file = f"tests/test_{test}.py"
    session(plugin(), file)
    assert left_out(plugin(), file)
    assert not left_out(plugin(**{changed: "new"}), file)


def test_a_table_that_a_test_read_counts(plugin, monkeypatch):
    session(plugin(), FILE)
    again = plugin()
    monkeypatch.setattr(
        selection, "_digest", lambda name: "new" if name == "data/prices.csv" else "as it was"
    )
    assert not left_out(again, FILE)


@pytest.mark.parametrize("how", [{"failed": FILE, "status": 1}, {"status": 2}])
def test_what_failed_and_a_session_that_was_cut_short_are_not_kept(plugin, how):
    session(plugin(), FILE, **how)
    assert not left_out(plugin(), FILE)


@pytest.mark.parametrize(
    "options", [{"keyword": "x"}, {"lf": True}, {"args": [f"{FILE}::x"]}, {"changed": False}]
)
def test_what_ran_in_part_is_not_kept(plugin, options):
    session(plugin(options), FILE)
    assert not left_out(plugin(), FILE)


def test_a_whole_session_keeps_what_passes_and_leaves_nothing_out(plugin):
    every = {"changed": False, "markexpr": ""}
    session(plugin(every), FILE, "notebooks/plan.ipynb")
    assert left_out(plugin(), FILE) and not left_out(plugin(every), FILE)
    assert json.loads(selection.RECORD.read_text()).keys() == {FILE}


def test_a_failure_takes_back_what_passed_before_and_leaves_the_rest(plugin):
    session(plugin(), FILE, MODULE)
    session(plugin(), FILE, failed=FILE, status=1)
    assert not left_out(plugin(), FILE) and left_out(plugin(), MODULE)


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', '{"a": ["b"]}', "\\xff"])
def test_a_damaged_record_says_so_and_leaves_nothing_out(plugin, text, capsys):
    selection.RECORD.write_text(text)
    assert not left_out(plugin(), FILE)
    assert "green.json is damaged" in capsys.readouterr().err


def test_what_is_left_out_by_its_marks_is_not_collected_again(plugin):
    first = plugin()
    first.pytest_deselected([SimpleNamespace(nodeid=f"{FILE}::test")])
    session(first)
    assert left_out(plugin(), FILE)
    assert json.loads(selection.RECORD.read_text()).keys() == {FILE}
