"""A build from its checks to its site: what is wrong is said first, then what changed is run, and
what is whole is published.

Sources and executed notebooks are staged, rendered by jupyter-book, and swapped in whole:
`_build/html` is always a complete site. A build that fails, is interrupted or runs out of disk
leaves the last one as it was; one that is killed between the two renames of the swap is put right
by the next start.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scaleright import REMEMBERED
from scaleright.files import write_whole
from scaleright.press import Book, PressError, contents
from scaleright.press.execute import Job
from scaleright.press.pages import GLOSSARY
from scaleright.press.pool import pooled
from scaleright.press.processes import environment, sent_to
from scaleright.press.repository import address, hosting
from scaleright.press.scenarios import Scenario, jobs, read
from scaleright.press.scenarios import jobs as checked
from scaleright.press.staleness import Inputs, digest, library, reasons, states


def main() -> None:
    """Run jupyter-book with the arguments that the build sends when the stage is set; what it takes
    to begin is imported meanwhile.
    """
    from scaleright.press.processes import follow

    _, given = follow()
    from jupyter_book.cli.main import main as jupyter_book

    for name in ("jupyter_book.sphinx", "myst_nb.sphinx_ext", "scaleright.press.sphinx_site"):
        import_module(name)
    jupyter_book(next(given), prog_name="jupyter-book")


if TYPE_CHECKING:
    from joblib import Memory

_NAMED = re.compile(r"^(?:#+ .+|title:.+|\(.+\)=)$", re.MULTILINE)
"""What other pages may show of a page: its headings, and what it calls them."""


def sources(book: Book, scenarios: list[Scenario]) -> dict[str, Path]:
    """The files the site is made from, by the path of each in the stage."""
    wanted = {"_config.yml": book.root / "_config.yml"}
    for path in (book.root / "book").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            wanted[path.relative_to(book.root).as_posix()] = path
    wanted |= {f"notebooks/{chapter}.ipynb": book.executed(chapter) for chapter in book.chapters()}
    return wanted | {
        f"{scenario.page}.ipynb": book.executed(scenario.chapter, scenario.name)
        for scenario in scenarios
    }


def key(book: Book) -> str:
    """Hash of all that the site is made from; the status page also tells of the library and the
    data.
    """
    files = [*sources(book, read(book)).values(), book.root / "CHANGELOG.md"]
    hosted = f"{hosting(book.root).url} {address(book.root)}"
    return f"{_computed_by(book)} {digest(files, book.root)} {hosted}"


def _computed_by(book: Book) -> str:
    """Hash of what makes the site, the library, and the data."""
    told = digest([*book.data.rglob("*.csv"), book.data / "datapackage.json"], book.data)
    return f"{_machinery(book)} {library()} {told}"


def _machinery(book: Book) -> str:
    """Hash of what makes the site: the press and the pinned environment."""
    press = Path(__file__).parent
    return digest(press.glob("*.py"), press) + digest([book.root / "requirements.txt"], book.root)


@contextmanager
def _kept_pages(book: Book, most: int) -> Iterator[Memory]:
    """Keeps pages between builds by the same library and data, at most so many."""
    from joblib import Memory

    folder = book.build / "pages"
    state = folder / hashlib.sha256(_computed_by(book).encode()).hexdigest()[:16]
    for other in folder.glob("*"):
        if other != state:
            shutil.rmtree(other, ignore_errors=True)
    kept = Memory(state, verbose=0)
    yield kept
    kept.reduce_size(items_limit=most)


def staged(book: Book) -> dict[str, bytes]:
    """What the stage is to hold: the sources, with each page as the site shows it.

    Raises
    ------
    PressError : a source is missing.
    """
    from scaleright.press import contents, pages, pictures, prose, start, status

    scenarios = read(book)
    scenarios = [
        replace(scenario, parameters=job.values)
        for scenario, job in zip(scenarios, jobs(book, scenarios), strict=True)
    ]
    files = {}
    for name, source in sources(book, scenarios).items():
        if not source.is_file():
            raise PressError(f"{source.relative_to(book.root)} is missing: the site needs it")
        files[name] = source.read_bytes()
    ran = [(scenario, files[f"{scenario.page}.ipynb"]) for scenario in scenarios]
    with _kept_pages(book, 2 * (len(ran) + len(book.chapters()))) as kept:
        of_chapter, of_scenario = kept.cache(pages.chapter_page), kept.cache(pages.scenario_page)
        for chapter in book.chapters():
            page = f"notebooks/{chapter}.ipynb"
            its = [pair for pair in ran if pair[0].chapter == chapter]
            files[page] = of_chapter(chapter, files[page], its)
        files |= {
            f"{scenario.page}.ipynb": of_scenario(scenario, content) for scenario, content in ran
        }
    files[contents.FILE] = contents.filled(files[contents.FILE], scenarios)
    asked = prose.Pages(book, scenarios)
    for name in [name for name in files if name.endswith(".md")]:
        files[name] = prose.filled(name, files[name].decode(), asked, start.BLOCKS).encode()
    files["_config.yml"] = _settings(book, files["_config.yml"])
    if f"file: {contents.STATUS}".encode() in files[contents.FILE]:
        files[f"{contents.STATUS}.md"] = status.status_page(book, scenarios).encode()
    if f"file: {contents.LEDGER}".encode() in files[contents.FILE]:
        files[f"{contents.LEDGER}.md"] = status.ledger_page(book).encode()
    files[pictures.TOLD] = json.dumps(_told(book, files, ran), ensure_ascii=False).encode()
    return _dated(book, files)


def _told(
    book: Book, files: Mapping[str, bytes], ran: list[tuple[Scenario, bytes]]
) -> dict[str, str]:
    """What each page is in a sentence: its answer, or how its text begins."""
    from scaleright.press import pages

    told = {
        f"notebooks/{chapter}": pages.sentence(book.executed(chapter).read_bytes())
        for chapter in book.chapters()
    }
    told |= {scenario.page: pages.sentence(content) for scenario, content in ran}
    for name, content in files.items():
        if name.endswith(".md"):
            first = re.search(r"^# .*\n+(\w.*)$", content.decode(), re.MULTILINE)
            if first:
                told[name.removesuffix(".md")] = re.sub(r"[*`]", "", first[1])
    return told


def _dated(book: Book, files: dict[str, bytes]) -> dict[str, bytes]:
    """The stage with the day on which each page last changed, in the page too: it is rendered anew
    when that moves.
    """
    from scaleright.press import about

    pages = [name.rpartition(".")[0] for name in files if name.endswith((".md", ".ipynb"))]
    days = about.changed(book, pages)
    for page, day in days.items():
        if (name := f"{page}.md") in files:
            files[name] += f"\n% changed on {day}\n".encode()
        else:
            notebook = json.loads(files[f"{page}.ipynb"])
            notebook["metadata"]["changed"] = day
            files[f"{page}.ipynb"] = json.dumps(notebook, ensure_ascii=False).encode()
    return files | {about.CHANGED: json.dumps(days, indent=1).encode()}


def _settings(book: Book, config: bytes) -> bytes:
    """The settings with the address of the repository that hosts this build, and of its site."""
    import yaml

    settings, url, site = yaml.safe_load(config), hosting(book.root).url, address(book.root)
    set_here = {
        "repository": {"url": url} if url else {},
        "html": {"baseurl": site} if site else {},
    }
    found = {name: (settings.get(name) or {}) | values for name, values in set_here.items()}
    if all((settings.get(name) or {}) == values for name, values in found.items()):
        return config
    return yaml.safe_dump(settings | found, sort_keys=False, allow_unicode=True).encode()


def stage(book: Book, files: Mapping[str, bytes]) -> Path:
    """Bring the stage in line with the files; those that did not change keep their dates, so Sphinx
    skips them. Of the others it forgets what it has read, for a clock may have been wrong.
    """
    target, read = book.build / "stage", book.build / "render" / "_build" / ".doctrees"
    for path in list(target.rglob("*")):
        if path.is_file() and path.relative_to(target).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        if write_whole(target / name, content):
            (read / name).with_suffix(".doctree").unlink(missing_ok=True)
    return target


def frame(book: Book, files: Mapping[str, bytes]) -> str:
    """Hash of what may show on every page (settings, contents with headings, styles, citations).

    Sphinx renders only pages whose own source changed, so a change of these needs all pages anew.
    """
    from scaleright.press import about, pictures

    total = hashlib.sha256(_machinery(book).encode())
    for name, content in sorted(files.items()):
        if name in (about.CHANGED, pictures.TOLD):
            continue  # a page bears its own day and answer
        if name.endswith((".md", ".ipynb")) and name != f"{GLOSSARY}.md":
            told = "\n".join(_NAMED.findall(_prose(name, content))).encode()
        else:
            told = content
        total.update(f"{name}\0{len(told)}\0".encode() + told)
    return total.hexdigest()


def _prose(name: str, content: bytes) -> str:
    """The Markdown of a page."""
    if name.endswith(".md"):
        return content.decode()
    cells = json.loads(content)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def render(book: Book) -> Path:
    """Run jupyter-book on the stage; every warning is an error.

    Raises
    ------
    PressError : it failed; what it said follows.
    """
    output, stamp = book.build / "render", book.build / "render" / ".frame"
    with sent_to("scaleright.press.site", failed="jupyter-book failed") as send:
        files = staged(book)
        now, source = frame(book, files), stage(book, files)
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != now:
            shutil.rmtree(output, ignore_errors=True)
        # without it the next build starts afresh, whatever this one leaves behind
        stamp.unlink(missing_ok=True)
        asked = ["build", str(source), "--toc", str(source / "book" / "_toc.yml")]
        send([*asked, "--path-output", str(output), "-W", "--keep-going", "-q"])
    write_whole(stamp, now)
    return output / "_build" / "html"


def recover(book: Book) -> None:
    """Put right what a build that was killed left behind."""
    html, previous = book.build / "html", book.build / "html.previous"
    if previous.exists() and not html.exists():
        previous.rename(html)
    for leftover in (previous, book.build / "html.next"):
        shutil.rmtree(leftover, ignore_errors=True)
    for part in (book.build, book.root / "notebooks"):
        for path in part.rglob(".*.part"):
            path.unlink()


def swap(book: Book, rendered: Path, stamp: str, files: Mapping[str, bytes] | None = None) -> None:
    """Make a rendered site, with further files, the one in `_build/html`: copy it beside, then
    rename twice.
    """
    html, previous, following = (
        book.build / name for name in ("html", "html.previous", "html.next")
    )
    shutil.rmtree(following, ignore_errors=True)
    try:
        for source in filter(
            Path.is_file, rendered.rglob("*")
        ):  # copytree would go on through a full disk
            target = following / source.relative_to(rendered)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for name, content in (files or {}).items():
            write_whole(following / name, content)
        write_whole(following / ".key", stamp)
    except BaseException:
        shutil.rmtree(following, ignore_errors=True)
        raise
    if html.exists():
        html.rename(previous)
    following.rename(html)
    shutil.rmtree(previous, ignore_errors=True)


def current(book: Book) -> bool:
    """Whether the site stands for the sources as they are now."""
    stamp = book.build / "html" / ".key"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == key(book)


def build(book: Book, anew: bool = False) -> None:
    """Render the site from sources and executed notebooks and swap it in; `anew` renders every
    page.

    Raises
    ------
    PressError : a source is missing or jupyter-book failed; the last good site is as it was.
    """
    stamp = key(book)
    if anew:
        shutil.rmtree(book.build / "render", ignore_errors=True)
    from scaleright.press import contents, pages, pictures, start, status

    scenarios = read(book)
    executed = [path for path in sources(book, scenarios).values() if path.suffix == ".ipynb"]
    with pictures.drawn(book, executed, start.pictured(book)) as drawn:
        rendered = render(book)
    files = pages.files(book, scenarios) | _runs(book, scenarios)
    if (rendered / f"{contents.LEDGER}.html").is_file():
        files |= status.ledger_files(book)
    ran = {
        f"notebooks/{chapter}": book.executed(chapter).read_bytes() for chapter in book.chapters()
    }
    cards = {page: (pages.title(json.loads(c)), pages.sentence(c)) for page, c in ran.items()}
    files |= pictures.cards(book, cards)
    swap(book, rendered, stamp, files | drawn)


def note_runs(book: Book) -> None:
    """Bring how long the runs took up to date in a site that is otherwise current."""
    for name, content in _runs(book, read(book)).items():
        write_whole(book.build / "html" / name, content)


def _runs(book: Book, scenarios: list[Scenario]) -> dict[str, bytes]:
    from scaleright.press import status

    return {status.RUNS: status.seconds(book, scenarios).encode()}


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
        recover(book)
        inputs = Inputs(book)
        chapters = book.chapters() if force else inputs.stale()
        scenarios = inputs.scenarios if force else inputs.stale_scenarios()
        stale = [*chapters, *scenarios]
        if changed := force or bool(stale) or not current(book):
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
    if force or not current(inputs.book):
        say("rendering the site ...")
        build(inputs.book, anew=force)
        return True
    note_runs(inputs.book)
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
