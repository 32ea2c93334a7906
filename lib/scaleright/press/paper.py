"""The whole book on paper: all pages of the built site as one document, printed by Chromium.

What a page draws with scripts stands there as its picture, at the page's case; what can only be
moved is left out. Links between pages lead to places of the document.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from scaleright.files import write_whole
from scaleright.press import Book, PressError, repository
from scaleright.press.contents import read as table_of_contents

FILE = "scale-right.pdf"
_PAGE = "http://127.0.0.1/paper.html"
"""The address of the document, at which the browser is answered here: nothing is served."""
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_OFFLINE = (
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_STYLE = """
@page { size: A4; margin: 18mm 16mm 16mm; }
body { background: none; font-size: 9.5pt; line-height: 1.5; }
.paper { break-before: page; } .paper h1 { font-size: 20pt; } h2 { font-size: 14pt; }
h2, h3 { break-after: avoid; } .sr-still { max-height: 210mm; margin: 0 auto; }
.front { padding-top: 55mm; } .front h1 { font-size: 40pt; } .front ol { line-height: 1.9; }
.sr-table { overflow: visible; background: none; } article table { font-size: 7pt !important; }
article table :is(th, td) { min-width: 0 !important; padding: 0.2rem 0.35rem 0.2rem 0; }
article table :is(th, td, .sr-live, .sr-num) { white-space: normal !important; }
a { color: inherit; text-decoration-color: #aaa; } a.headerlink { display: none; }
.sd-card, .sr-tiles li, figure, .sr-answer, tr { break-inside: avoid; }
caption, thead { break-after: avoid; } tbody tr:nth-child(-n+2) { break-before: avoid; }
.sr-view { min-height: 0 !important; } pre { white-space: pre-wrap; }
"""
_FOOT = (
    '<div style="font-size: 8px; width: 100%; text-align: center">'
    '<span class="pageNumber"></span></div>'
)
_LEFT_OUT = (
    r"<script.*?</script>",
    r'<details class="[^"]*\bhide\b[^"]*">.*?</details>',
    r'<p class="sr-files"[^>]*>.*?</p>',
    r'<aside class="sr-stale".*?</aside>',
    r'<p class="sr-alt">.*?</p>',
    r"</?noscript>",
    r' loading="lazy"',
)


def contents(book: Book) -> list[str]:
    """The pages of the book in the order of its contents, without scenarios."""
    toc = table_of_contents(book)
    return [toc["root"], *_named(toc.get("parts") or toc.get("chapters"))]


def _named(entry: Any) -> Iterator[str]:
    if isinstance(entry, dict):
        if "file" in entry:
            yield entry["file"]
        entry = list(entry.values())
    if isinstance(entry, list):
        for part in entry:
            yield from _named(part)


def place(page: str, anchor: str = "") -> str:
    """The name that a place of a page has in the document.

    >>> place("book/index", "why")
    'book-index--why'
    """
    return page.replace("/", "-") + (f"--{anchor}" if anchor else "")


def leaf(text: str, page: str, pages: list[str], site: str) -> str:
    """A page of the site as a part of the document: its article, its names its own, its links
    within the document or to the published site.
    """
    found = re.search(r"<article>(.*)</article>", text, re.DOTALL)
    if not found:
        raise PressError(f"{page}.html has no text to print")
    body = found[1]
    for pattern in _LEFT_OUT:
        body = re.sub(pattern, "", body, flags=re.DOTALL)
    body = body.replace("<details", "<details open")
    body = re.sub(r'(?<= )id="([^"]+)"', lambda m: f'id="{place(page, m[1])}"', body)
    body = re.sub(
        r'(?<= )(aria-labelledby|for)="([^"]+)"',
        lambda m: f'{m[1]}="{place(page, m[2])}"',
        body,
    )
    here = PurePosixPath(page).parent

    def lead(match: re.Match[str]) -> str:
        kind, address = match[1], unescape(match[2])
        if re.match(r"[a-z][a-z0-9+.-]*:", address):
            return match[0]
        path, _, anchor = address.partition("#")
        target = normpath(str(here / path)) if path else page + ".html"
        if kind == "src":
            return f'src="/{escape(target)}"'
        name = target.removesuffix(".html")
        if name in pages:
            return f'href="#{place(name, anchor)}"'
        return f'href="{escape(f"{site}/{target}" if site else "#")}"'

    body = re.sub(r'\b(href|src)="([^"]*)"', lead, body)
    return f'<article class="paper" id="{place(page)}">{body}</article>'


def document(book: Book, pages: list[str]) -> str:
    """The document: a front page with the contents, then the pages.

    Raises
    ------
    PressError : a page of the contents is not in the built site.
    """
    html, settings = book.build / "html", repository.settings(book.root)
    site = repository.address(book.root).rstrip("/")
    title, leaves, listed, styles, maths = str(settings.get("title") or "Book"), [], [], [], ""
    for page in pages:
        path = html / f"{page}.html"
        if not path.is_file():
            raise PressError(f"{page}.html is not in the site: make book")
        text = path.read_text(encoding="utf-8")
        leaves.append(leaf(text, page, pages, site))
        head = re.search(r"<h1>(.*?)<a class", leaves[-1], re.DOTALL)
        listed.append(f'<li><a href="#{place(page)}">{head[1] if head else page}</a></li>')
        styles = styles or re.findall(r'<link rel="stylesheet"[^>]*href="(?:\.\./)*([^"]+)"', text)
        maths = maths or "".join(
            re.findall(
                r"<script>window\.MathJax.*?</script>|<script[^>]*mathjax/[^>]*></script>", text
            )
        )
    links = "".join(f'<link rel="stylesheet" href="/{address}">' for address in styles)
    maths = re.sub(r'src="(?:\.\./)*', 'src="/', maths)
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{links}<style>{_STYLE}</style>{maths}</head><body>"
        f'<article class="front"><h1>{escape(title)}</h1><ol>{"".join(listed)}</ol></article>'
        f"{''.join(leaves)}</body></html>"
    )


def printed(html: Path, text: str) -> bytes:
    """The document as PDF, with an outline and no time in it.

    Raises
    ------
    PressError : there is no Chromium, or a picture of the document is missing.
    """
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if not found:
        raise PressError("the PDF is printed by Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    def answer(route: Any) -> None:
        """Give the document, and beside it the files of the site."""
        file = html / unquote(urlsplit(route.request.url).path).lstrip("/")
        if route.request.url == _PAGE:
            route.fulfill(body=text, content_type="text/html; charset=utf-8")
        elif file.is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(_OFFLINE))
        try:
            page = browser.new_page()
            page.set_default_timeout(600_000)
            page.route("**/*", answer)
            page.goto(_PAGE, wait_until="load")
            page.evaluate("window.MathJax?.startup?.promise")
            missing = page.evaluate(
                "[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
            )
            if missing:
                raise PressError(f"pictures are missing: {', '.join(missing[:5])}")
            content = page.pdf(
                prefer_css_page_size=True,
                outline=True,
                tagged=True,
                display_header_footer=True,
                header_template="<span></span>",
                footer_template=_FOOT,
            )
        finally:
            browser.close()
    return re.sub(rb"(/(?:Creation|Mod)Date \(D:)\d{14}", rb"\g<1>20000101000000", content)


def write(book: Book, pages: list[str] | None = None) -> Path:
    """Print the built site, all pages of its contents or those, into `_build/`.

    Raises
    ------
    PressError : a page or a picture is missing, or there is no Chromium.
    """
    text = document(book, pages or contents(book))
    target = book.build / FILE
    write_whole(target, printed(book.build / "html", text))
    return target
