"""The suite itself: what may start a process, how tests are shared out, what signals do."""

import os
import signal
import subprocess
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import pytest
from shares import share


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run(["true"], check=False),
        lambda: os.system("true"),
        lambda: get_context("spawn").Process(target=print).start(),
        lambda: get_context("forkserver").Process(target=print).start(),
        lambda: get_context("fork").Process(target=print).start(),
    ],
)
def test_a_test_that_is_not_marked_starts_no_process(start):
    with pytest.raises(pytest.fail.Exception, match="starts a process and is not marked"):
        start()


@pytest.mark.parametrize(
    "expression, variable, all_run",
    [("", "", False), ("not long", "", False), ("nightly", "", True), ("", "1", True)],
)
def test_what_is_nightly_waits_unless_it_is_asked_for(
    expression, variable, all_run, pytestconfig, monkeypatch
):
    (suite,) = (
        plugin
        for plugin in pytestconfig.pluginmanager.get_plugins()
        if getattr(plugin, "__file__", None) == str(Path(__file__).with_name("conftest.py"))
    )
    monkeypatch.setattr(suite, "NIGHTLY", variable == "1")
    waits, runs = (
        SimpleNamespace(get_closest_marker={"nightly": mark}.get) for mark in ("a mark", None)
    )
    items, left = [waits, runs], []

    class Hook:
        def pytest_deselected(self, items: list) -> None:
            left.extend(items)

    config = SimpleNamespace(option=SimpleNamespace(markexpr=expression), hook=Hook())
    suite._leave_to_the_night(config, items)
    assert (items, left) == (([waits, runs], []) if all_run else ([runs], [waits]))


@pytest.mark.processes
def test_one_that_is_marked_may_and_its_children_end_at_a_signal():
    """Whatever the shell has set: its background jobs ignore Ctrl-C."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(["sleep", "600"]) as child:
            child.send_signal(number)
        assert child.returncode == -number


def test_the_tests_of_a_page_are_one_share():
    page = "notebooks/token_cost.html"
    assert {
        share(f"tests/pages/test_looks.py::test_every_chart_draws[{page}]"),
        share(f"tests/pages/test_looks.py::test_text_is_legible[{page}-dark]"),
        share(f"tests/pages/test_live.py::test_a_number[{page}-case0]"),
    } == {page}
    assert share("tests/test_cli.py::test_help[a.html]") == "tests/test_cli.py"


def test_the_tests_of_a_chapters_graph_are_one_share_and_those_of_answers_are_one():
    assert {
        share("tests/test_choices.py::test_random_settings[scaling_laws]"),
        share("tests/test_pages_quantities.py::test_the_page[4-scaling_laws]"),
    } == {"chapter scaling_laws"}
    files = ("one_hour", "one_answer", "five_questions", "plan", "plan_service", "routing_choice")
    assert {share(f"tests/test_{name}.py::test_it[a]") for name in files} == {"answers"}
    assert share("tests/test_choices.py::test_random_settings[token_cost]") == "answers"
    assert share("tests/test_planet_data.py::test_it") == "tests/test_planet_data.py"
