"""The site: sources and executed notebooks are staged, rendered by jupyter-book, and swapped in whole.

`_build/html` is always a complete site. A build that fails, is interrupted or runs out of disk leaves the last
one as it was; one that is killed between the two renames of the swap is put right by the next start.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scaleright.press import Book, PressError, children_ended, write_whole
from scaleright.press.staleness import digest

_FIRST_HEADING = re.compile(r"^# +(.+)$|^title: *(.+)$|^ *\"# (.+?)(?:\\n)?\",?$", re.MULTILINE)


def sources(book: Book) -> dict[str, Path]:
    """What the site is made from: path in the stage, and the file that goes there."""
    wanted = {"_config.yml": book.root / "_config.yml"}
    for path in (book.root / "book").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            wanted[path.relative_to(book.root).as_posix()] = path
    for chapter in book.chapters():
        wanted[f"notebooks/{chapter}.ipynb"] = book.executed(chapter)
    return wanted


def key(book: Book) -> str:
    """Hash of all that the site is made from."""
    return f"{_machinery(book)} {digest(sources(book).values(), book.root)}"


def _machinery(book: Book) -> str:
    """Hash of what makes the site: the press and the pinned environment."""
    press = Path(__file__).parent
    return digest(press.glob("*.py"), press) + digest([book.root / "requirements.txt"], book.root)


def stage(book: Book) -> Path:
    """Bring the stage in line with the sources; files that did not change keep their dates, so Sphinx skips them."""
    wanted = sources(book)
    target = book.build / "stage"
    for path in list(target.rglob("*")):
        if path.is_file() and path.relative_to(target).as_posix() not in wanted:
            path.unlink()
    for name, source in wanted.items():
        if not source.is_file():
            raise PressError(f"{source.relative_to(book.root)} is missing: the site needs it")
        write_whole(target / name, source.read_bytes())
    return target


def frame(book: Book) -> str:
    """Hash of what shows on every page (settings, contents with titles, styles, citations).

    Sphinx renders only pages whose own source changed, so a change of these needs all pages anew.
    """
    titles = []
    for name, source in sorted(sources(book).items()):
        if name.endswith((".md", ".ipynb")):
            heading = _FIRST_HEADING.search(source.read_text(encoding="utf-8"))
            titles.append(f"{name}\t{heading.group(0) if heading else ''}")
    every = [source for name, source in sources(book).items() if not name.endswith((".md", ".ipynb"))]
    return hashlib.sha256("\n".join([*titles, _machinery(book), digest(every, book.root)]).encode()).hexdigest()


def render(book: Book) -> Path:
    """Run jupyter-book on the stage; every warning is an error.

    Raises
    ------
    PressError : it failed; what it said follows.
    """
    now, source = frame(book), stage(book)
    output, stamp = book.build / "render", book.build / "render" / ".frame"
    if not stamp.is_file() or stamp.read_text() != now:
        shutil.rmtree(output, ignore_errors=True)
    stamp.unlink(missing_ok=True)  # without it the next build starts afresh, whatever this one leaves behind
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(source),
               "--toc", str(source / "book" / "_toc.yml"), "--path-output", str(output), "-W", "--keep-going", "-q"]
    with children_ended():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise PressError(f"jupyter-book failed with exit code {done.returncode}; it said:\n{done.stdout.strip()}")
    write_whole(stamp, now)
    return output / "_build" / "html"


def recover(book: Book) -> None:
    """Put right what a build that was killed left behind."""
    html, previous = book.build / "html", book.build / "html.previous"
    if previous.exists() and not html.exists():
        os.rename(previous, html)
    for leftover in (previous, book.build / "html.next"):
        shutil.rmtree(leftover, ignore_errors=True)
    for part in (book.build, book.root / "notebooks"):
        for path in part.rglob(".*.part"):
            path.unlink()


def swap(book: Book, rendered: Path, stamp: str) -> None:
    """Make a rendered site the one in `_build/html`: copy it beside, then rename twice."""
    html, previous, following = (book.build / name for name in ("html", "html.previous", "html.next"))
    shutil.rmtree(following, ignore_errors=True)
    try:
        for source in filter(Path.is_file, rendered.rglob("*")):  # copytree would go on through a full disk
            target = following / source.relative_to(rendered)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        write_whole(following / ".key", stamp)
    except BaseException:
        shutil.rmtree(following, ignore_errors=True)
        raise
    if html.exists():
        os.rename(html, previous)
    os.rename(following, html)
    shutil.rmtree(previous, ignore_errors=True)


def current(book: Book) -> bool:
    """Whether the site stands for the sources as they are now."""
    stamp = book.build / "html" / ".key"
    return stamp.is_file() and stamp.read_text() == key(book)


def build(book: Book, anew: bool = False) -> None:
    """Render the site from sources and executed notebooks and swap it in; `anew` renders every page.

    Raises
    ------
    PressError : a source is missing or jupyter-book failed; the last good site is as it was.
    """
    stamp = key(book)
    if anew:
        shutil.rmtree(book.build / "render", ignore_errors=True)
    swap(book, render(book), stamp)
