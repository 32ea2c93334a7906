"""Pictures of the site: charts for readers without scripts, each at its page's case, as SVG; and
what other sites show of a link to a page, its question and its answer.

A picture is named by its content, so that pages share it and a build draws only new ones. Charts
are drawn beside the rendering of the site, by a process of its own. A picture of a link needs an
address, so that only a book whose site has a known one names it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from scaleright.files import write_whole
from scaleright.outputs import PAGE_MIME, VEGALITE_MIME
from scaleright.press import Book
from scaleright.press.execute import carried
from scaleright.press.processes import follow, sent_to

FOLDER = "charts"
_FIGURE = re.compile(r'<figure class="sr-chart" id="sr-(\w+)"')
_UNSEEN = re.compile(r' (?:aria-[a-z]+|role|class)="[^"]*"')
"""What a picture does not need: its text alternative is the page's."""
_PLACES = re.compile(r'(?<= )(?:d|transform|[xy][12]?|width|height)="[^"]*"')
_LONG = re.compile(r"(\.\d)\d+")
"""A place has no more than a tenth of a pixel."""
_FRAME = re.compile(r'width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2"')
_ASIDE = 26
"""Room at either side [px]: the reader's font may be wider than the one that was measured."""


def _form() -> str:
    """What else than its chart a picture depends on."""
    return f"{importlib.metadata.version('vl-convert-python')}-{_ASIDE}"


def charts(notebook: Mapping[str, Any]) -> dict[str, dict]:
    """The specifications of a notebook's charts, by the names of their pictures."""
    found = {}
    for output in carried(notebook, VEGALITE_MIME):
        found |= named("".join(output["data"].get(PAGE_MIME, "")), output["data"][VEGALITE_MIME])
    return found


def named(markup: str, spec: dict) -> dict[str, dict]:
    """The specification of a chart by the name of its picture, if its markup has one."""
    name = _FIGURE.search(markup)
    return {name[1]: spec} if name else {}


def beside(markup: str, page: str) -> str:
    """The markup of a chart with its picture, which only a reader without scripts loads."""
    if name := _FIGURE.search(markup):
        address = f"{'../' * page.count('/')}{FOLDER}/{name[1]}.svg"
        still = f'<noscript><img class="sr-still" src="{address}" alt="" loading="lazy"></noscript>'
        return markup.replace('<p class="sr-alt">', still + '<p class="sr-alt">', 1)
    return markup


def picture(spec: dict) -> str:
    """A chart as SVG.

    >>> bars = {"mark": "bar", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
    >>> picture(bars)[:4]
    '<svg'
    """
    import vl_convert

    plain = _UNSEEN.sub("", vl_convert.vegalite_to_svg(spec))
    return _FRAME.sub(_roomy, _PLACES.sub(lambda places: _LONG.sub(r"\1", places[0]), plain), 1)


def _roomy(frame: re.Match[str]) -> str:
    width, height = int(frame[1]) + 2 * _ASIDE, frame[2]
    return f'width="{width}" height="{height}" viewBox="{-_ASIDE} 0 {width} {height}"'


@contextmanager
def drawn(
    book: Book, notebooks: Iterable[Path], others: Mapping[str, dict] | None = None
) -> Iterator[dict[str, bytes]]:
    """The pictures of all charts of executed notebooks, and of others by their names, drawn while
    the block runs: files of the site by their paths, complete when it is left.

    Raises
    ------
    PressError : a chart could not be drawn; what was said follows.
    """
    home = book.build / FOLDER / _form()
    wanted = dict(others or {})
    for path in notebooks:
        wanted |= charts(json.loads(path.read_bytes()))
    for other in home.parent.glob("*/*.svg"):
        if other.parent != home or other.stem not in wanted:
            other.unlink()
    missing = {name: spec for name, spec in wanted.items() if not (home / f"{name}.svg").is_file()}
    files: dict[str, bytes] = {}
    if missing:
        with sent_to(__name__, str(home), failed="drawing charts failed") as send:
            send(missing)
            yield files
    else:
        yield files
    files |= {f"{FOLDER}/{name}.svg": (home / f"{name}.svg").read_bytes() for name in wanted}


def main() -> None:
    """Draw what the build sends."""
    _, given = follow()
    for name, spec in next(given).items():
        write_whole(Path(sys.argv[3]) / f"{name}.svg", picture(spec))


SOCIAL = "social"
TOLD = "book/told.json"
"""Where the stage says what each page is in a sentence."""
_WIDTH, _HEIGHT = 1200, 630
_LONGEST = 200
"""Characters of a description that search engines and networks show."""


def shortened(sentence: str) -> str:
    """A sentence in the length that is shown of it.

    >>> shortened("It costs $2.")
    'It costs $2.'
    """
    return textwrap.shorten(sentence, _LONGEST, placeholder=" …")


def card(title: str, sentence: str) -> str:
    """A picture of a question and its answer, as SVG.

    >>> card("Why?", "Because of 2 < 3.").count("<text")
    3
    """
    asked, told = textwrap.wrap(title, 34)[:3], textwrap.wrap(sentence, 58)
    if len(told) > (most := 7 - len(asked)):
        told = [*told[: most - 1], told[most - 1][:54] + " …"]
    lines, y = [], 110
    for text, size, weight, color, step in (
        *((line, 60, 700, "#ffffff", 72) for line in asked),
        *((line, 35, 400, "#dbe7f5", 50) for line in told),
    ):
        y += step if lines else 0
        y += 26 if size == 35 and lines and 'font-size="60"' in lines[-1] else 0
        lines.append(
            f'<text x="70" y="{y}" font-family="DejaVu Sans, Liberation Sans, sans-serif"'
            f' font-size="{size}" font-weight="{weight}" fill="{color}">{escape(text)}</text>'
        )
    brand = (
        '<text x="70" y="582" font-family="DejaVu Sans, Liberation Sans, sans-serif"'
        ' font-size="30" fill="#9fc3ea">Scale Right</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">'
        '<rect width="100%" height="100%" fill="#123458"/>'
        f'<rect width="14" height="100%" fill="#4d9be6"/>{"".join(lines)}{brand}</svg>'
    )


def card_file(page: str) -> str:
    """Where the picture of a page lies in the site; a scenario shows that of its chapter.

    >>> card_file("notebooks/token_cost/at_night")
    'social/token_cost.png'
    """
    parts = page.split("/")
    return f"{SOCIAL}/{parts[1]}.png"


def cards(book: Book, pages: Mapping[str, tuple[str, str]]) -> dict[str, bytes]:
    """The pictures of pages, given their titles and sentences: files of the site by their paths.
    Those that were drawn before are kept.
    """
    import vl_convert

    home = book.build / SOCIAL / importlib.metadata.version("vl-convert-python")
    found, kept = dict[str, bytes](), set[Path]()
    for page, (title, sentence) in sorted(pages.items()):
        svg = card(title, sentence)
        path = home / f"{hashlib.sha256(svg.encode()).hexdigest()[:16]}.png"
        if not path.is_file():
            write_whole(path, vl_convert.svg_to_png(svg))
        kept.add(path)
        found[card_file(page)] = path.read_bytes()
    _forget(home, kept)
    return found


def _forget(home: Path, kept: Iterable[Path]) -> None:
    for path in set(home.parent.glob("*/*.png")) - set(kept):
        path.unlink()


def tell_social(app, pagename: str, _templatename, context, _doctree) -> None:
    """Tell the theme what a page is in a sentence, and where its picture will lie."""
    known = Path(app.srcdir) / TOLD
    told = json.loads(known.read_text(encoding="utf-8")) if known.is_file() else {}
    if pagename not in told:
        return
    site = (app.config.html_baseurl or "").rstrip("/")
    context["social"] = {"told": shortened(told[pagename])}
    if site and pagename.startswith("notebooks/"):
        context["social"] |= {
            "picture": f"{site}/{card_file(pagename)}",
            "address": f"{site}/{pagename}.html",
        }
