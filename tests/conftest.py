"""What the tests share: how they are sorted and divided, what they may start, a small book, and
kernels that ignore the user's profile.
"""

import gc
import importlib
import os
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing import forkserver, util
from pathlib import Path

import jupytext  # noqa: F401, asks for pandoc's version when imported, before tests are guarded
import pytest
import selection
from built import findings, site
from hypothesis import HealthCheck, is_hypothesis_test, settings
from paths import ROOT
from scaleright import REMEMBERED, catalog
from scaleright.press import Book
from shares import share
from small_book import small_book
from spoiled import Spoiled
from xdist.scheduler import LoadScopeScheduling

NIGHTLY = os.environ.get("SCALERIGHT_NIGHTLY") == "1"
"""Whether all is run, and more of it, that a pull request need not wait for."""

# Two cores shared with kernels and a browser: limits in seconds would only measure the machine.
# The same examples each time: more of them would find what a change broke hardly more often.
settings.register_profile(
    "project",
    max_examples=100 if NIGHTLY else 25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")


# ---- the session


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--changed",
        action="store_true",
        help="run what has changed since it last passed (see tests/selection.py)",
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all is imported
    config.addinivalue_line(
        "markers", "processes: starts a kernel, a browser or another process; not in `make quick`"
    )
    config.addinivalue_line("markers", "long: computes for seconds; not in `make quick`")
    config.addinivalue_line(
        "markers", "nightly: what a pull request need not wait for; `make nightly` runs it"
    )
    config.pluginmanager.register(WithDoctests())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config))
    selection.note_files()
    config.pluginmanager.register(selection.Selection(config))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in a build
    os.environ.pop("SCALERIGHT_DATA", None)  # the tests are of the tables of this checkout
    if config.getoption("nbval", default=False):
        import nbval_kernels

        nbval_kernels.set_up(config)


@contextmanager
def found_in_builds() -> Iterator[None]:
    """Find what such builds find, unless one, or a neighbor, has found it already; for what
    replaces nothing of the library.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(REMEMBERED, str(findings()))
        yield


@pytest.fixture(scope="session", autouse=True)
def own_dispositions() -> Iterator[None]:
    """Signals end what they should end, whatever the shell has set: its background jobs ignore
    Ctrl-C, and children inherit that.
    """
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, usual)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


# ---- which tests start a process, and what is not marked so must not

_STARTERS = {"html", "browser", "dask"}
"""Fixtures that start one."""

_LONG = (
    "tests/test_validation_training.py",
    "tests/test_validation_serving.py",
    "tests/test_validation_energy.py",
    "tests/test_training_accuracy.py",
    "tests/test_serving_accuracy.py",
    "tests/test_scaling_laws.py::test_no_start_of_the_grid_leads_lower",
    "tests/test_training_search.py::test_the_layouts_are_all_that_keep_the_rules",
    "tests/test_data.py::test_every_table_is_valid",
    "tests/test_hardware_radar_page.py",
    "tests/test_load_of_a_day.py::test_the_closed_form_asks_for_as_many_engines_as_the_simulation",
    "tests/test_own_measurements.py",
    "tests/test_sealed.py",
)
_RUNNING = {"chapter_cells", "scaleright.press.evaluate"}
"""Modules of tests that run chapters."""


def _is_long(item: pytest.Item) -> bool:
    """Whether it refits constants, judges every row, or runs a chapter: no unit."""
    runs = item.nodeid.startswith("tests/") and _RUNNING & selection.imports(item.path)
    return item.nodeid.startswith(_LONG) or bool(runs)


_REPLACING = ("tests/test_own_", "tests/test_serving_properties.py", "tests/test_site_is_built.py")
"""Tests that replace something of the library, or add models to it, without `monkeypatch`."""


def _replaces_nothing(item: pytest.Item) -> bool:
    """Whether a test asks the library as a chapter does, so that what it finds may be kept for
    others: of drawn examples too much would be.
    """
    replaces = item.nodeid.startswith(_REPLACING) or "monkeypatch" in _fixtures(item)
    drawn = is_hypothesis_test(getattr(item, "obj", None))
    return not (replaces or drawn or item.get_closest_marker("processes"))


def _fixtures(item: pytest.Item) -> Collection[str]:
    return getattr(item, "fixturenames", ())


_started_by: list[str] = []
"""The test that is running and must start none, if there is such a test."""


def _guarded(start: Callable) -> Callable:
    def guarded(*arguments, **options):
        if _started_by:
            pytest.fail(f"{_started_by[0]} starts a process and is not marked `processes`")
        return start(*arguments, **options)

    return guarded


# Popen stands for asyncio's processes as well, spawnv_passfds for all of multiprocessing's but
# those of a fork server that an earlier test has started.
subprocess.Popen.__init__ = _guarded(subprocess.Popen.__init__)
util.spawnv_passfds = _guarded(util.spawnv_passfds)
forkserver.connect_to_new_process = _guarded(forkserver.connect_to_new_process)
for _name in ("fork", "forkpty", "posix_spawn", "system"):
    setattr(os, _name, _guarded(getattr(os, _name)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    _started_by[:] = [] if item.get_closest_marker("processes") else [item.nodeid]
    try:
        with found_in_builds() if _replaces_nothing(item) else nullcontext():
            return (yield)
    finally:
        _started_by.clear()


# ---- how tests are sorted, and divided among workers

_FIRST = (
    "tests/test_site_is_built.py",
    "tests/test_processors",
    "tests/test_press",
    "tests/sweep/",
)
"""One test that builds the site, beside it what takes long without it."""

_AFTER = ("tests/test_press_edits.py", "tests/test_notebooks_processor.py", "notebooks/")
"""What waits for that build: units go before, so that no worker stands still for it, and behind it
what runs chapters, which reads what the build has found in the tables.
"""

_LAST = "tests/pages/"
"""The browser's driver leaves an event loop running in its worker, in which no other can be run."""


class Failures:
    """Names each test that fails at once: the summary comes never if the run is ended."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            said = self._config.pluginmanager.get_plugin("terminalreporter")
            said.write_line(f"\nFAILED {report.nodeid} ({report.when})")


class WithDoctests:
    """Imports only those modules for doctests that have some, and none of the conftest.py."""

    @staticmethod
    def pytest_ignore_collect(collection_path: Path) -> bool | None:
        if collection_path.suffix != ".py":
            return None
        if collection_path.is_relative_to(ROOT / "tests"):
            return True if collection_path.name == "conftest.py" else None
        return None if ">>>" in collection_path.read_text("utf-8") else True


class Shares(LoadScopeScheduling):
    """Hands out shares in the order in which they were collected."""

    _split_scope = staticmethod(share)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """With `-n auto`, one more than there are cores: tests of pages, kernels and builds wait."""
    return (os.cpu_count() or 1) + 1 if config.option.numprocesses == "auto" else None


def pytest_xdist_make_scheduler(config: pytest.Config, log) -> Shares:
    config.option.loadscopereorder = False
    return Shares(config, log)


def _rank(item: pytest.Item) -> int:
    starts = item.get_closest_marker("processes")
    places = [rank for rank, name in enumerate(_FIRST) if item.nodeid.startswith(name)]
    if item.nodeid.startswith(_LAST):
        return len(_FIRST) + 4
    if item.nodeid.startswith(_AFTER):
        return len(_FIRST) + 2
    if not starts:
        return len(_FIRST) + (3 if item.get_closest_marker("long") else 1)
    return places[0] if places else len(_FIRST)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is imported stays to the end: the collector need not look through it again and again."""
    if session.config.getoption("nbval", default=False):
        import nbval_kernels

        nbval_kernels.begins(session.items)
    gc.freeze()
    gc.set_threshold(10_000, 50, 50)
    gc.enable()


def _leave_to_the_night(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "nightly" in config.option.markexpr or NIGHTLY:
        return
    config.hook.pytest_deselected(items=[i for i in items if i.get_closest_marker("nightly")])
    items[:] = [item for item in items if not item.get_closest_marker("nightly")]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _leave_to_the_night(config, items)
    for item in items:
        starts = _STARTERS & {*_fixtures(item)}
        if starts or item.path.suffix == ".ipynb":
            item.add_marker("processes")
        if _is_long(item):
            item.add_marker("long")
        if hasattr(item, "output_timeout"):  # nbval waits five seconds for an output
            item.output_timeout = 600
    first = {}
    for item in items:
        first.setdefault(share(item.nodeid), len(first))
    # Of a page, what looks at it on a phone comes last: two openings, not one for each test.
    items.sort(key=lambda i: (_rank(i), first[share(i.nodeid)], "phone" in i.name))


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the site, see `built`."""
    folder, wrong = site()
    if wrong:
        pytest.fail(wrong, pytrace=False)
    return folder


@pytest.fixture
def spoiled(monkeypatch) -> Iterator[Spoiled]:
    """The tables, whose files may be said to hold something else."""
    files = Spoiled(ROOT / "data")
    monkeypatch.setattr(Path, "read_bytes", files.reading(Path.read_bytes))
    for name in ("files", "catalog.reading"):
        module = importlib.import_module(f"scaleright.{name}")
        monkeypatch.setattr(module, "read_bytes", files.reading(module.read_bytes))
    yield files
    monkeypatch.undo()
    catalog.forget()


# ---- a small book, a small case


@pytest.fixture
def book(tmp_path: Path, monkeypatch) -> Book:
    """A book of one page and one chapter, with one table."""
    monkeypatch.delenv("SCALERIGHT_DATA", raising=False)  # or tests would write into that folder
    for name in ("SCALERIGHT_REPOSITORY", "SCALERIGHT_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    return small_book(tmp_path)


@pytest.fixture
def live():
    """The controls of a small case of charts."""
    from chart_samples import small_case

    return small_case()
