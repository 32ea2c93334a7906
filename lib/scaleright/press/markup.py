"""The markup of the site's pages: mended where the tools beneath write what does not validate, with
words that lead elsewhere, and the policy that says what a page may load and run.

The first mention of each word of the glossary leads to it and tells its meaning where it stands,
and chapters that are mentioned ("the chapter on the ladder") become links. `book/glossary.md` holds
the words, in Sphinx's form: lines of names, then indented what they mean; a page carries the
meanings of the words that it mentions, and `hints.js` shows them. `book/mentions.yml` holds the
words for each chapter; a test finds a mention by other words.
"""

from __future__ import annotations

import functools
import hashlib
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from scaleright.files import file_type, parsed, read_text
from scaleright.names import suggestion
from scaleright.press.pages import GLOSSARY, REFERENCES

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


_LISTS = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CITED = re.compile(r"\s*\{cite:[tp]\}`[^`]*`")
_EVERYDAY = {"parameter", "parameters", "kernel", "range", "median", "sensitivity", "spot", "node"}
_EVERYDAY |= {"reserved", "weights", "context", "loss", "engine", "checkpoint", "rack", "benchmark"}
_EVERYDAY |= {"routing"}
"""Words that everybody reads rightly, or that also mean something else in this book."""


def terms(text: str) -> dict[str, str]:
    """The words of a glossary with their meanings, synonyms with the same.

    >>> terms('''```{glossary}
    ... MFU
    ... model FLOPs utilization
    ...   A share {cite:p}`palm`.
    ...   Of the peak.
    ... ```''')
    {'MFU': 'A share. Of the peak.', 'model FLOPs utilization': 'A share. Of the peak.'}
    """
    found: dict[str, str] = {}
    for entry in (e for block in _LISTS.findall(text) for e in re.split(r"\n\s*\n", block)):
        lines = entry.strip("\n").split("\n")
        means = " ".join(line.strip() for line in lines if line.startswith(" "))
        found |= {
            line.strip(): _CITED.sub("", means) for line in lines if line and line[0] not in " :"
        }
    return found


@functools.cache
def _known_terms(source: Path, _changed: int) -> tuple[dict[str, str], re.Pattern[str]]:
    means = terms(source.read_text(encoding="utf-8"))
    names = sorted((n for n in means if n not in _EVERYDAY), key=lambda name: (-len(name), name))
    return means, term_pattern(names)


def term_pattern(names: list[str]) -> re.Pattern[str]:
    """What finds the names in prose, the plural of each too: a name with capitals as it is, another
    also at the start of a sentence.

    >>> term_pattern(["all-reduce", "MFU"]).findall("All-reduces cost MFU, not mfu.")
    ['All-reduce', 'MFU']
    """
    forms = (
        re.escape(n)
        if n != n.lower()
        else f"[{n[0].upper()}{n[0]}]" + re.escape(n[1:]).replace(r"\-", "[- ]")
        for n in names
    )
    return re.compile(rf"(?<![\w/.-])({'|'.join(forms)})(?=s?(?![\w/-]))")


_TOKEN = re.compile(r'(<!--.*?-->|<script.*?</script>|</?[a-zA-Z](?:[^>"]|"[^"]*")*>)', re.DOTALL)
_TAG = re.compile(r"</?([a-zA-Z][\w-]*)")
_PROSE = {"p", "li", "figcaption", "dd"}
_APART = {"a", "code", "pre", "style", "summary", "button", "label", "select", "table", "svg", "dt"}
_APART |= {"noscript", "nav", *(f"h{level}" for level in range(1, 7))}
_APART_AS = re.compile(
    r'class="(?:[^"]* )?'
    r"(?:sr-(?:live|words|view|alt|controls|stale|files|cases?)|math|sd-card|highlight)"
    r'(?: [^"]*)?"| hidden\b'
)
"""What the page writes anew, sets or hides."""
_VOID = {"br", "img", "input", "hr", "wbr", "source", "col"}


def prose(body: str) -> Iterator[tuple[str, bool]]:
    """The parts of a page in their order, and whether each is text in which words are marked.

    >>> [text for text, marked in prose("<h2>MFU</h2><p>An MFU <b>is <code>MFU</code>") if marked]
    ['An MFU ', 'is ', '']
    """
    open_ = list[tuple[str, bool, bool]]()  # the element, whether words in it are marked, or never
    for part in _TOKEN.split(body):
        tag = _TAG.match(part)
        if part.startswith("<script") or not tag:
            text = bool(open_ and open_[-1][1] and not open_[-1][2] and part[:1] != "<")
            yield part, text
            continue
        yield part, False
        name = tag[1].lower()
        if part[1] == "/":
            while open_ and open_.pop()[0] != name:
                pass
        elif name not in _VOID and not part.endswith("/>"):
            _, within, never = open_[-1] if open_ else ("", False, False)
            apart = name in _APART or _APART_AS.search(part) is not None
            open_.append((name, within or name in _PROSE, never or apart))


def mark_terms(
    body: str, find: re.Pattern[str], means: Mapping[str, str], where: Mapping[str, str]
) -> str:
    """A page on which the first mention of each word leads to its address and tells its meaning;
    words that mean the same count as one.

    >>> means, where = {"MFU": "A share."}, {"MFU": "g.html#m"}
    >>> mark_terms("<p>MFU and MFU.</p>", term_pattern(["MFU"]), means, where)
    '<p><a class="sr-term" href="g.html#m" title="A share.">MFU</a> and MFU.</p>'
    """
    by_lower = {name.lower(): name for name in means}
    told = set[str]()

    def link(match: re.Match[str]) -> str:
        plain = match[1].lower()
        name = by_lower.get(plain) or by_lower[plain.replace(" ", "-")]
        if name not in where or means[name] in told:
            return match[1]
        told.add(means[name])
        told_as = escape(means[name], quote=True)
        return f'<a class="sr-term" href="{where[name]}" title="{told_as}">{match[1]}</a>'

    return "".join(find.sub(link, part) if text else part for part, text in prose(body))


def mark_terms_of_page(app, pagename: str, _templatename, context, _doctree) -> None:
    """Mark the words of a page of the site, but for the glossary's own."""
    source = Path(app.srcdir) / f"{GLOSSARY}.md"
    known = GLOSSARY in app.env.found_docs
    if not context.get("body") or not known or pagename in (GLOSSARY, REFERENCES):
        return
    means, find = _known_terms(source, source.stat().st_mtime_ns)
    page = context["pathto"](GLOSSARY)
    labels = app.env.get_domain("std").objects
    where = {
        name: f"{page}#{label}"
        for (kind, name), (_, label) in labels.items()
        if kind == "term" and name in means
    }
    context["body"] = mark_terms(context["body"], find, means, where)


MENTIONS = "book/mentions.yml"
MENTION = re.compile(r"\bchapters?\s+on\s+")
"""What begins a mention."""


def read_mentions(source: Path) -> dict[str, str]:
    """The chapter by each of the words for it; nothing without a file."""
    if not file_type(source):
        return {}
    known = parsed(read_text(source, MENTIONS), "YAML", MENTIONS)
    return {words: chapter for chapter, names in known.items() for words in names}


@functools.cache
def _known_mentions(source: Path, _changed: int) -> tuple[dict[str, str], re.Pattern[str]]:
    of = read_mentions(source)
    return of, mention_pattern(of)


def mention_pattern(of: Mapping[str, str]) -> re.Pattern[str]:
    """What finds mentions in the text of a page, the longest words first.

    >>> mention_pattern({"tokens": "token_cost", "the load of a day": "load"}).findall(
    ...     "As the chapter on tokens says; the chapter on token prices does not.")
    [('chapter on ', 'tokens')]
    """
    words = (
        re.escape(name).replace(r"\ ", r"\s+")
        for name in sorted(of, key=lambda name: (-len(name), name))
    )
    return re.compile(rf"(chapter\s+on\s+)({'|'.join(words)})(?![\w-])")


def mark_mentions(
    body: str, find: re.Pattern[str], of: Mapping[str, str], where: Mapping[str, str]
) -> str:
    """A page on which each mention leads to the address of its chapter, where it has one.

    >>> of, where = {"tokens": "token_cost"}, {"token_cost": "token_cost.html"}
    >>> mark_mentions("<p>See the chapter on tokens.</p>", mention_pattern(of), of, where)
    '<p>See the <a href="token_cost.html">chapter on tokens</a>.</p>'
    """

    def link(match: re.Match[str]) -> str:
        address = where.get(of[" ".join(match[2].split())])
        return f'<a href="{address}">{match[0]}</a>' if address else match[0]

    return "".join(find.sub(link, part) if text else part for part, text in prose(body))


def mark_mentions_of_page(
    app, pagename: str, _templatename: str, context: dict[str, Any], _doctree
) -> None:
    """Link the chapters that a page of the site mentions, but for itself."""
    source = Path(app.srcdir) / MENTIONS
    if not context.get("body") or not source.is_file():
        return
    of, find = _known_mentions(source, source.stat().st_mtime_ns)
    pages = {chapter: f"notebooks/{chapter}" for chapter in set(of.values())}
    where = {
        chapter: context["pathto"](page)
        for chapter, page in pages.items()
        if page in app.env.found_docs and page != pagename
    }
    context["body"] = mark_mentions(context["body"], find, of, where)
