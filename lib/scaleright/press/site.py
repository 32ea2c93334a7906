"""The site: sources and executed notebooks are staged, rendered by jupyter-book, and swapped in whole.

`_build/html` is always a complete site. A build that fails, is interrupted or runs out of disk leaves the last
one as it was; one that is killed between the two renames of the swap is put right by the next start.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scaleright.press import Book, PressError, children_ended, write_whole
from scaleright.press.staleness import digest

_VENDOR_PACKAGES = ("vl-convert-python", "sphinx-mathjax-offline")
_MATHJAX_FILES = ("tex-chtml.js", "input/tex/extensions/*.js", "output/chtml/fonts/woff-v2/*.woff")
_FIRST_HEADING = re.compile(r"^# +(.+)$|^title: *(.+)$|^ *\"# (.+?)(?:\\n)?\",?$", re.MULTILINE)


def vendor(folder: Path) -> None:
    """Fill a folder with the scripts that pages load: Vega with Vega-Lite and Vega-Embed, and MathJax.

    They come from pinned packages and are served by the site itself, so that no page asks another host. The Vega
    bundle is wrapped in a function because its `_` would collide with the theme's.
    """
    stamp = " ".join(f"{name}={importlib.metadata.version(name)}" for name in _VENDOR_PACKAGES)
    if (folder / ".versions").is_file() and (folder / ".versions").read_text() == stamp:
        return
    import vl_convert

    shutil.rmtree(folder, ignore_errors=True)
    write_whole(folder / "vega.js", f"(function () {{{vl_convert.javascript_bundle()}}})();\n")
    mathjax = Path(importlib.metadata.distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax"))
    for pattern in _MATHJAX_FILES:
        for source in mathjax.glob(pattern):
            write_whole(folder / "mathjax" / source.relative_to(mathjax), source.read_bytes())
    write_whole(folder / ".versions", stamp)


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
    own = digest([book.root / "requirements.txt", *sources(book).values()], book.root)
    return hashlib.sha256(f"{own} {digest([Path(__file__)], Path(__file__).parent)}".encode()).hexdigest()


def stage(book: Book) -> Path:
    """Bring the stage in line with the sources; files that did not change keep their dates, so Sphinx skips them."""
    vendor(book.build / "vendor")
    wanted = sources(book)
    for path in (book.build / "vendor").rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            wanted[f"book/_static/vendor/{path.relative_to(book.build / 'vendor').as_posix()}"] = path
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
    return hashlib.sha256("\n".join([*titles, digest([book.root / "requirements.txt", *every], book.root)]).encode()).hexdigest()


def render(book: Book) -> Path:
    """Run jupyter-book on the stage; every warning is an error.

    Raises
    ------
    PressError : it failed; what it said follows.
    """
    source, output, stamp = stage(book), book.build / "render", book.build / "render" / ".frame"
    if not stamp.is_file() or stamp.read_text() != frame(book):
        shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(source),
               "--toc", str(source / "book" / "_toc.yml"), "--path-output", str(output), "-W", "--keep-going", "-q"]
    with children_ended():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        shutil.rmtree(output, ignore_errors=True)  # Sphinx does not repeat the warnings of pages it has read once
        raise PressError(f"jupyter-book failed with exit code {done.returncode}; it said:\n{done.stdout.strip()}")
    write_whole(stamp, frame(book))
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
        shutil.copytree(rendered, following)
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
