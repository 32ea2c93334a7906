"""A build from its checks to its site: what is wrong is said first, then what changed is run, and
what is whole is published.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaleright.catalog.memory import REMEMBERED
from scaleright.press import Book, PressError, notebooks, site
from scaleright.press.execute import Job, run_all
from scaleright.press.staleness import Inputs

Say = Callable[[str], object]
"""Takes a line for the person who waits."""


def publish(book: Book, jobs: int | None, force: bool, say: Say) -> None:
    """Run changed chapters and scenarios, all if `force`, and bring the site in `_build/html` up to
    date; `jobs` of them at once, by default one per core.

    Raises
    ------
    PressError : something is missing, malformed or failed; the last good site is as it was.
    """
    with book.locked():
        site.recover(book)
        inputs = Inputs(book)
        with _remembering(inputs, anew=force):
            stale = _stale(inputs, force, cases=True)
            current = not force and not stale and site.current(book)
            if not current:
                _check(inputs, stale)
                _run(inputs, stale, jobs, say, "chapters and scenarios")
            if changed := force or not (current or site.current(book)):
                say("rendering the site ...")
                site.build(book, anew=force)
            elif stale:
                site.note_runs(book)
        if outdated := notebooks.outdated(book):
            say(f"stored notebooks out of date: {', '.join(outdated)} (make notebooks)")
        done = "built" if stale or changed else "nothing changed"
        say(f"{done}: {book.build / 'html' / 'index.html'}")


def store(book: Book, jobs: int | None, check: bool, say: Say) -> None:
    """Run changed chapters and store them, with their outputs, in `notebooks/`; or only `check`
    that what is stored is what they give.

    Raises
    ------
    PressError : a chapter failed, or a stored notebook is out of date when it is checked.
    """
    with book.locked():
        inputs = Inputs(book)
        with _remembering(inputs):
            stale = _stale(inputs, force=False)
            _check(inputs, stale)
            _run(inputs, stale, jobs, say, "chapters")
        if check and (outdated := notebooks.outdated(book)):
            raise PressError(
                f"stored notebooks out of date: {', '.join(outdated)} (make notebooks)"
            )
        stored = [] if check else notebooks.store(book)
    say(f"stored: {', '.join(stored)}" if stored else "stored notebooks are up to date")


@contextmanager
def _remembering(inputs: Inputs, anew: bool = False) -> Iterator[None]:
    """Let the processes of this build, and later builds of the same library and tables, have what
    one of them found in the tables; what was found in others goes, or everything if `anew`.
    """
    folder = inputs.remembered()
    for other in folder.parent.glob("*"):
        if anew or other != folder:
            shutil.rmtree(other, ignore_errors=True)
    before = os.environ.get(REMEMBERED)
    os.environ[REMEMBERED] = str(folder)
    try:
        yield
    finally:
        del os.environ[REMEMBERED]
        if before is not None:
            os.environ[REMEMBERED] = before


def _stale(inputs: Inputs, force: bool, cases: bool = False) -> list[Job]:
    """The runs to make: of chapters, and if asked for `cases`, of scenarios."""
    chapters = inputs.book.chapters() if force else inputs.stale()
    scenarios = inputs.scenarios if force else inputs.stale_scenarios()
    if not cases or not scenarios:
        return [Job(chapter) for chapter in chapters]
    from scaleright.press.scenarios import jobs

    pages = {scenario.page for scenario in scenarios}
    every = zip(inputs.scenarios, jobs(inputs.book, inputs.scenarios), strict=True)
    return [
        *(Job(chapter) for chapter in chapters),
        *(job for scenario, job in every if scenario.page in pages),
    ]


def _check(inputs: Inputs, stale: list[Job]) -> None:
    from scaleright.press import checks

    checks.check(inputs.book, sorted({job.chapter for job in stale}))


def _run(inputs: Inputs, stale: list[Job], jobs: int | None, say: Say, what: str) -> None:
    if not stale:
        return
    known = len(inputs.book.chapters())
    if "scenarios" in what:
        known, what = known + len(inputs.scenarios), what if inputs.scenarios else "chapters"
    say(f"running {len(stale)} of {known} {what}: {', '.join(job.label for job in stale)}")
    order = inputs.longest_first(stale)
    run_all(inputs.book, order, jobs or os.cpu_count() or 1, inputs.keep)
