"""A build from its checks to its site: what is wrong is said first, then what changed is run, and
what is whole is published.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from scaleright import REMEMBERED
from scaleright.files import write_whole
from scaleright.press import Book, PressError, contents, site
from scaleright.press.execute import Job
from scaleright.press.pool import pooled
from scaleright.press.processes import environment
from scaleright.press.scenarios import Scenario
from scaleright.press.scenarios import jobs as checked
from scaleright.press.staleness import Inputs, reasons, states


def outdated(book: Book) -> list[str]:
    """Chapters whose stored notebook is not the one that was last executed, and stored ones without
    a chapter.
    """
    chapters = book.chapters()
    differing = [
        c
        for c in chapters
        if not book.notebook(c).is_file()
        or book.notebook(c).read_bytes() != book.executed(c).read_bytes()
    ]
    return sorted(
        differing
        + [
            path.stem
            for path in (book.root / "notebooks").glob("*.ipynb")
            if path.stem not in chapters
        ]
    )


def store_executed(book: Book) -> list[str]:
    """Store the executed chapters; a stored notebook whose chapter is gone is deleted.

    Returns
    -------
    Names of the notebooks that changed.
    """
    changed = outdated(book)
    for name in changed:
        if name in book.chapters():
            write_whole(book.notebook(name), book.executed(name).read_bytes())
        else:
            book.notebook(name).unlink()
    return changed


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
        chapters = book.chapters() if force else inputs.stale()
        scenarios = inputs.scenarios if force else inputs.stale_scenarios()
        stale = [*chapters, *scenarios]
        if changed := force or bool(stale) or not site.current(book):
            with _remembering(inputs, anew=force):
                changed = _renewed(inputs, chapters, scenarios, jobs, say, force)
        if differing := outdated(book):
            say(f"stored notebooks out of date: {', '.join(differing)} (make notebooks)")
        done = "built" if stale or changed else "nothing changed"
        say(f"{done}: {book.build / 'html' / 'index.html'}")


def _renewed(
    inputs: Inputs,
    chapters: list[str],
    scenarios: list[Scenario],
    jobs: int | None,
    say: Say,
    force: bool,
) -> bool:
    """Run what is stale and render the site where it is not current; whether that was so."""
    _run(inputs, chapters, scenarios, jobs, say)
    if force or not site.current(inputs.book):
        say("rendering the site ...")
        site.build(inputs.book, anew=force)
        return True
    site.note_runs(inputs.book)
    return False


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
            _run(inputs, inputs.stale(), None, jobs, say)
        if check and (differing := outdated(book)):
            raise PressError(
                f"stored notebooks out of date: {', '.join(differing)} (make notebooks)"
            )
        stored = [] if check else store_executed(book)
    say(f"stored: {', '.join(stored)}" if stored else "stored notebooks are up to date")


@contextmanager
def _remembering(inputs: Inputs, anew: bool = False) -> Iterator[None]:
    """Let the processes of this build, and later builds of the same library and tables, have what
    one of them found in the tables; what was found in others goes, or everything if `anew`.
    """
    folder = inputs.remembered()
    modules = states(folder)["modules"]
    kept = set() if anew else {folder, *(folder / state for state in modules.values())}
    for other in (*folder.parent.glob("*"), *folder.glob("*/")):
        if other not in kept:
            shutil.rmtree(other, ignore_errors=True)
    inputs.remembered()
    with environment(**{REMEMBERED: str(folder)}):
        yield


def _run(
    inputs: Inputs,
    chapters: list[str],
    scenarios: list[Scenario] | None,
    jobs: int | None,
    say: Say,
) -> None:
    """Check what these chapters and scenarios need, then run them; None where there is no question
    of scenarios. The workers get ready while the values of scenarios are checked.
    """
    book, known, what = inputs.book, len(inputs.book.chapters()), "chapters"
    if scenarios is not None and inputs.scenarios:
        known, what = known + len(inputs.scenarios), "chapters and scenarios"
    scenarios = scenarios or []
    contents.check(book, sorted({*chapters, *(scenario.chapter for scenario in scenarios)}))
    stale = len(chapters) + len(scenarios)
    why = {Job(of).label: inputs.why(of) for of in chapters}
    why |= {
        Job(of.chapter, scenario=of.name).label: inputs.why(of.chapter, of.name) for of in scenarios
    }
    for line in reasons({name: of for name, of in why.items() if of}):
        say(line)
    with pooled(book, stale, jobs or os.cpu_count() or 1) as pool:
        runs = [Job(chapter) for chapter in chapters]
        if scenarios:  # one that is wrong is reported with all others that are
            wanted = {(scenario.chapter, scenario.name) for scenario in scenarios}
            every = checked(book, inputs.scenarios)
            runs += (job for job in every if (job.chapter, job.scenario) in wanted)
        if stale:
            names = ", ".join(job.label for job in runs)
            say(f"running {stale} of {known} {what}: {names}")
            pool.run(inputs.longest_first(runs), inputs.keep)
