"""What pages of prose say of chapters: numbers of their stored answers, their questions as links,
and whole blocks that the press makes. None of it is typed by hand.

In the Markdown of `book/` stand

- `{said}`, with `chapter.quantity` or `chapter/scenario.quantity`: a number of that page's answer;
- `{answer}`, with `chapter` or `chapter/scenario`: the answer in words;
- `{cell}`, with `chapter|table|row|column|kind`: a cell of one of its tables, as `say` says it;
- `{chapter}`, with `chapter?name=value` or `words <chapter?name=value>`: a link to the chapter with
  that case filled in, by default under its question;
- `<!-- press: block -->` on a line of its own: a block of `start`.

A name or value that is not, or no longer, there stops the build with file and line.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode

from scaleright.names import brief, suggestion
from scaleright.outputs import ANSWER_MIME
from scaleright.parameters import ParameterError, validate
from scaleright.press import Book, PressError, pages
from scaleright.press.execute import carried
from scaleright.press.pages import sentence, title
from scaleright.press.scenarios import Scenario
from scaleright.press.texts import declared

_ROLE = re.compile(r"\{(said|answer|cell|chapter)\}`([^`]+)`")
_BLOCK = re.compile(r"^<!-- press: (\w+) -->$", re.MULTILINE)
_MARKS = re.compile(r"([\\`*_\[\]$<>#|~])")


def plain(text: str) -> str:
    r"""Text as Markdown that shows it as it is.

    >>> print(plain("$3 to $4 [90 %]"))
    \$3 to \$4 \[90 %\]
    """
    return _MARKS.sub(r"\\\1", text)


class Pages:
    """The executed chapters and scenarios of a book, as pages of prose ask for them."""

    def __init__(self, book: Book, scenarios: list[Scenario]):
        self.book = book
        self.scenarios = {f"{s.chapter}/{s.name}": s for s in scenarios}
        self.known = [*book.chapters(), *self.scenarios]

    def named(self, name: str) -> str:
        """The name itself if there is such a chapter, or scenario of one."""
        if name not in self.known:
            raise PressError(f"no chapter or case {brief(name)}; {suggestion(name, self.known)}")
        return name

    @functools.cache  # noqa: B019 - one for each build
    def content(self, name: str) -> bytes:
        """The executed notebook of a chapter or `chapter/scenario`."""
        chapter, _, scenario = self.named(name).partition("/")
        return self.book.executed(chapter, scenario).read_bytes()

    @functools.cache  # noqa: B019
    def notebook(self, name: str) -> Mapping[str, Any]:
        """The same, read."""
        return json.loads(self.content(name))

    def question(self, name: str) -> str:
        """What the page is called: the chapter's question, or the title of a scenario."""
        known = self.scenarios.get(self.named(name))
        return known.title if known else title(self.notebook(name))

    def answer(self, name: str) -> str:
        """The answer in words."""
        return sentence(self.content(name))

    def quantity(self, name: str, quantity: str) -> tuple[Any, str]:
        """A number of the answer, and how it is said."""
        known: dict[str, Any] = {}
        for output in carried(self.notebook(name), ANSWER_MIME):
            known = output["data"][ANSWER_MIME]["quantities"] | known
        if quantity not in known:
            raise PressError(f"{name} answers no {brief(quantity)}; {suggestion(quantity, known)}")
        return known[quantity]["value"], known[quantity]["unit"]

    def said(self, name: str, quantity: str) -> str:
        """A number of the answer as the chapter says it.

        A number without a kind of its own is said with three digits.
        """
        from scaleright.charts import say

        value, kind = self.quantity(name, quantity)
        return value if isinstance(value, str) else say(float(value), kind or "number")

    def cell(self, name: str, table: str, row: str, column: str, kind: str) -> str:
        """A cell of a table: of the row whose first cell is called so."""
        from scaleright.charts import say

        tables = {found["name"]: found for _, found in pages.tables(self.notebook(name))}
        if table not in tables:
            raise PressError(f"{name} has no table {brief(table)}; {suggestion(table, tables)}")
        data = tables[table]["data"]
        columns = [field["name"] for field in tables[table]["schema"]["fields"]]
        rows = {str(line[columns[0]]): line for line in data}
        for asked, known in ((row, rows), (column, columns)):
            if asked not in known:
                raise PressError(f"{name}, {table}: no {brief(asked)}; {suggestion(asked, known)}")
        return say(float(rows[row][column]), kind)

    def address(self, asked: str, root: str = "../") -> str:
        """The address of a chapter, with a case filled in if one is asked for (`?name=value&...`),
        whose names and values are checked.
        """
        page, _, query = asked.partition("?")
        name = self.named(page)
        given = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        chapter, _, case = name.partition("/")
        if case and given:
            raise PressError(f"{asked}: {name} is a case already")
        try:
            validate(declared(chapter, self.book), given)
        except ParameterError as error:
            raise PressError(f"{asked}: {error}") from None
        return f"{root}notebooks/{name}.html" + (f"?{urlencode(given)}" if given else "")

    def link(self, asked: str) -> str:
        """A link as HTML: `page?name=value`, or `words <page?name=value>`."""
        words = re.fullmatch(r"(.+?)\s*<(.+)>", asked, re.DOTALL)
        where = words[2] if words else asked
        told = words[1] if words else self.question(where.partition("?")[0])
        return f'<a href="{escape(self.address(where))}">{plain(told)}</a>'


def filled(name: str, text: str, pages: Pages, blocks: Mapping[str, Callable[[Pages], str]]) -> str:
    """A page of prose with all that it says of chapters.

    Raises
    ------
    PressError : a chapter, quantity, table, parameter, value or block that there is not; with the
        file and the line that name it.
    """
    of: dict[str, Callable[[str], str]] = {
        "said": lambda asked: plain(pages.said(*asked.rsplit(".", 1))),
        "answer": lambda asked: plain(pages.answer(asked)),
        "cell": lambda asked: plain(pages.cell(*asked.split("|"))),
        "chapter": pages.link,
    }

    def block(asked: str) -> str:
        if asked not in blocks:
            raise PressError(f"no block {brief(asked)}; {suggestion(asked, blocks)}")
        return blocks[asked](pages)

    def put(match: re.Match[str], make: Callable[[str], str], asked: str) -> str:
        try:
            return make(asked)
        except (PressError, TypeError, ValueError, OSError) as error:
            line = text.count("\n", 0, match.start()) + 1
            raise PressError(f"{name}, line {line}: {match[0]}: {error}") from None

    blocked = {m[1]: put(m, block, m[1]) for m in _BLOCK.finditer(text)}
    told = _ROLE.sub(lambda m: put(m, of[m[1]], m[2]), text)
    return _BLOCK.sub(lambda m: blocked[m[1]], told)
