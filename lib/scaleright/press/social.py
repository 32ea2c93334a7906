"""What other sites show of a link to a page: a sentence, and a picture of the question and its
answer.

Both are made of the page alone. The picture needs an address of its own, so that only a book whose
site has a known one names it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import textwrap
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from scaleright.files import write_whole
from scaleright.press import Book
from scaleright.press.addresses import SOCIAL

TOLD = "book/told.json"
"""Where the stage says what each page is in a sentence."""
_WIDTH, _HEIGHT = 1200, 630
_LONGEST = 200
"""Characters of a description that search engines and networks show."""


def brief(sentence: str) -> str:
    """A sentence in the length that is shown of it.

    >>> brief("It costs $2.")
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


def name(page: str) -> str:
    """Where the picture of a page lies in the site; a scenario shows that of its chapter.

    >>> name("notebooks/token_cost/at_night")
    'social/token_cost.png'
    """
    parts = page.split("/")
    return f"{SOCIAL}/{parts[1]}.png"


def pictures(book: Book, pages: Mapping[str, tuple[str, str]]) -> dict[str, bytes]:
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
        found[name(page)] = path.read_bytes()
    _forget(home, kept)
    return found


def _forget(home: Path, kept: Iterable[Path]) -> None:
    for path in set(home.parent.glob("*/*.png")) - set(kept):
        path.unlink()


def tell(app, pagename: str, _templatename, context, _doctree) -> None:
    """Tell the theme what a page is in a sentence, and where its picture will lie."""
    known = Path(app.srcdir) / TOLD
    told = json.loads(known.read_text(encoding="utf-8")) if known.is_file() else {}
    if pagename not in told:
        return
    site = (app.config.html_baseurl or "").rstrip("/")
    context["social"] = {"told": brief(told[pagename])}
    if site and pagename.startswith("notebooks/"):
        context["social"] |= {
            "picture": f"{site}/{name(pagename)}",
            "address": f"{site}/{pagename}.html",
        }
