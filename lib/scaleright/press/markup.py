"""Markup of the site that validates where the tools beneath write other, and the policy that says
what a page may load and run.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path

from scaleright.names import suggestion

_ALLOWED = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",  # MathJax and Vega write style elements of their own
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",  # the search reads the pages it found
    "form-action": "'self'",
    "base-uri": "'none'",
}
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(scripts: Iterable[str]) -> str:
    """The Content-Security-Policy of a page that holds these scripts in itself.

    All else that it loads lies on its own site, and no text becomes a program: Vega evaluates its
    expressions with an interpreter.

    >>> policy([]).split("; ")[1]
    "script-src 'self'"
    >>> policy(["run();"]).split("; ")[1]
    "script-src 'self' 'sha256-vUOElbTHLp1UxxGV/I6teJfpCV5vgaasYjEhPKN2fqQ='"
    """
    hashes = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    own = "".join(f" 'sha256-{value}'" for value in dict.fromkeys(hashes))
    allowed = _ALLOWED | {"script-src": _ALLOWED["script-src"] + own}
    return "; ".join(f"{what} {where}" for what, where in allowed.items())


def inline(template: Path) -> list[str]:
    """The scripts that a template holds in itself."""
    return _INLINE.findall(template.read_text(encoding="utf-8"))


def captions(navigation: str) -> str:
    """The list of chapters, the names of whose parts Sphinx marks as headings of no level; before
    the title of the page there is none.

    >>> captions('<p class="caption" role="heading"><span>Training</span></p>')
    '<p class="caption"><span>Training</span></p>'
    """
    return navigation.replace('<p class="caption" role="heading">', '<p class="caption">')


_FRAME = re.compile(r'<table border="1" class="dataframe">(.*?)(</thead>.*?</table>)', re.DOTALL)
_HEAD = re.compile(r"<th((?: [^>]*)?)>")


def _scoped(rows: str, scope: str, span: str) -> str:
    """Rows of a data frame whose headings say what they head."""

    def say(match: re.Match) -> str:
        given = match[1].replace(' valign="top"', "")
        return f'<th{given} scope="{scope + "group" if span in given else scope}">'

    return _HEAD.sub(say, rows.replace("<th></th>", "<td></td>"))


def plain_citations(body: str) -> str:
    """A page whose sources are items of their list, and of no role that browsers have given up.

    >>> plain_citations('<div class="citation" id="a1" role="doc-biblioentry">')
    '<div class="citation" id="a1" role="listitem">'
    """
    return body.replace('role="doc-biblioentry"', 'role="listitem"')


_CITATION = re.compile(r'<a class="reference internal"( href="[^"]*#id\d+" title=")')


def hinted_citations(body: str) -> str:
    """A page whose citations, the links that tell their source, are marked to show it at a touch.

    >>> hinted_citations('<a class="reference internal" href="r.html#id1" title="A. Ut. One.">')
    '<a class="sr-cited reference internal" href="r.html#id1" title="A. Ut. One.">'
    """
    return _CITATION.sub(r'<a class="sr-cited reference internal"\1', body)


_FIGURE = re.compile(
    r'(<figure class="sr-chart" id="sr-.*?)(?:<figcaption>(.*?)</figcaption>)?(</figure>)',
    re.DOTALL,
)


def numbered_figures(body: str) -> str:
    """A page whose charts are numbered under them.

    >>> numbered_figures('<figure class="sr-chart" id="a">Dots</figure>').partition("<figcap")[2]
    ''
    >>> numbered_figures('<figure class="sr-chart" id="sr-a">Dots</figure>')[-70:]
    '<figcaption><span class="sr-nth">Figure 1</span></figcaption></figure>'
    """
    count = iter(range(1, body.count("<figure") + 1))

    def number(match: re.Match) -> str:
        nth = f'<span class="sr-nth">Figure {next(count)}</span>'
        words = f" {match[2]}" if match[2] else ""
        return f"{match[1]}<figcaption>{nth}{words}</figcaption>{match[3]}"

    return _FIGURE.sub(number, body)


_NAMED_FIGURE = re.compile(
    r'<figure class="sr-chart" id="(sr-\w+)" data-sr-name="([^"]+)">.*?'
    r'<span class="sr-nth">(Figure \d+)</span>',
    re.DOTALL,
)
_TO_FIGURE = re.compile(r'<a href="#chart-([\w-]+)">(.*?)</a>', re.DOTALL)


def figure_links(body: str) -> str:
    """A page on which a link to a chart by its name leads there and says its number.

    >>> figure = '<figure class="sr-chart" id="sr-1" data-sr-name="months"></figure>'
    >>> figure_links(numbered_figures(figure) + '<a href="#chart-months">the chart</a>')[-40:]
    '<a href="#sr-1">the chart (Figure 1)</a>'

    Raises
    ------
    LookupError : no chart of the page has that name; the nearest is named.
    """
    known = {name: (key, nth) for key, name, nth in _NAMED_FIGURE.findall(body)}

    def link(match: re.Match[str]) -> str:
        if match[1] not in known:
            raise LookupError(f"no chart {match[1]!r} here; {suggestion(match[1], known)}")
        key, nth = known[match[1]]
        return f'<a href="#{key}">{match[2]} ({nth})</a>'

    return _TO_FIGURE.sub(link, body)


def numbered_equations(body: str) -> str:
    """A page whose equations on lines of their own are numbered, each an address.

    >>> numbered_equations('<div class="math notranslate nohighlight">x</div>')[:49]
    '<div class="math notranslate nohighlight" id="equ'
    """
    head, *rest = body.split('<div class="math notranslate nohighlight">')
    numbered = (
        f'<div class="math notranslate nohighlight" id="equation-{n}">'
        f'<a class="eqno" href="#equation-{n}" aria-label="Equation {n}">({n})</a>{part}'
        for n, part in enumerate(rest, 1)
    )
    return head + "".join(numbered)


def plain_frames(body: str) -> str:
    """A page whose data frames have headings that say what they head, and none of the styles that
    pandas writes beside each.

    >>> head = '<table border="1" class="dataframe"><th></th><th>a</th></thead>'
    >>> plain_frames("<style scoped>th {}</style>" + head + "<th>1</th></table>")
    '<table class="dataframe"><td></td><th scope="col">a</th></thead><th scope="row">1</th></table>'
    """
    body = re.sub(r"<style scoped>.*?</style>\s*", "", body, flags=re.DOTALL)
    return _FRAME.sub(
        lambda frame: (
            '<table class="dataframe">'
            f"{_scoped(frame[1], 'col', 'colspan')}{_scoped(frame[2], 'row', 'rowspan')}"
        ),
        body,
    )


def distinct_regions(body: str) -> str:
    """A page whose regions have a name each: one that is told again is numbered.

    >>> distinct_regions(2 * '<div role="region" aria-label="Rents">')
    '<div role="region" aria-label="Rents"><div role="region" aria-label="Rents (2)">'
    """
    told = Counter()

    def name(match: re.Match) -> str:
        told[match[2]] += 1
        return f"{match[1]}{match[2]} ({told[match[2]]})" if told[match[2]] > 1 else match[0]

    return re.sub(r'(role="region" aria-label=")([^"]*)', name, body)


def open_fold(self, node) -> None:
    """Begin a folded cell; its own words are its name, and it holds phrases, as a summary must."""
    self.body.append(f'<details class="admonition hide {" ".join(node["classes"])}">\n<summary>')
    for state, words in (("collapsed", node["prompt_show"]), ("expanded", node["prompt_hide"])):
        self.body.append(f'<span class="{state} admonition-title">{escape(words)}</span>')
    self.body.append("</summary>\n")


def close_fold(self, _node) -> None:
    """End a folded cell."""
    self.body.append("</details>\n")
