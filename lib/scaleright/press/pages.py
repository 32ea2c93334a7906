"""Pages of chapters and scenarios: the executed notebook, with what only the site adds, and what a
reader can take along of each.

A page drops what machines read, gets links to each table's files, a notice that appears when the
data behind it is old, and the way between a chapter and its scenarios. What its scripts say is
compressed, and `charts.js` reads it by the browser's DecompressionStream: most of a page is
formulas, full of the same few words, so that it is a third as long or less, however it is served.

To take along there are the executed notebook, and each of its tables as CSV and as JSON, with the
raw numbers that the notebook carries beside each table, not those rounded for reading.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from typing import Any

from scaleright.outputs import (
    ANSWER_MIME,
    PAGE_MIME,
    SPEC_SCRIPT,
    TABLE_MIME,
    TABLES_MIME,
    VEGALITE_MIME,
    page_json,
)
from scaleright.parameters import show
from scaleright.press import Book, diagrams, pictures
from scaleright.press.execute import answer, carried
from scaleright.press.scenarios import Scenario

DOWNLOADS = "downloads"
GLOSSARY = "book/glossary"
"""The page whose words the others explain."""
REFERENCES = "book/references"


def notebook_file(page: str) -> str:
    """Where the executed notebook of a page lies in the site.

    >>> notebook_file("notebooks/buy_or_rent/all_day")
    'downloads/buy_or_rent-all_day.ipynb'
    """
    return f"{DOWNLOADS}/{page.removeprefix('notebooks/').replace('/', '-')}.ipynb"


def table_file(page: str, name: str) -> str:
    """Where a table of a page lies in the site, without its suffix."""
    return f"{notebook_file(page).removesuffix('.ipynb')}-{name}"


LOOKED_UP = {GLOSSARY, REFERENCES, "book/ledger", "book/status"}
"""Pages that nobody reads from end to end."""


PACKED = "application/gzip;base64"
"""The type of a script that is compressed."""


def packed(part: Any) -> str:
    """A part of a script as JSON, compressed.

    >>> unpacked(packed({"name": "q1", "expr": "(a < b)"}))
    {'name': 'q1', 'expr': '(a < b)'}
    """
    text = json.dumps(part, separators=(",", ":"), ensure_ascii=False)
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def unpacked(text: str) -> Any:
    """What a compressed script says."""
    return json.loads(gzip.decompress(b64decode(text)))


def tables(notebook: Mapping[str, Any]) -> Iterator[tuple[dict, dict]]:
    """Each output that carries a table, and the table as a data resource, its name made unique
    within the notebook.
    """
    seen: Counter[str] = Counter()
    for output in carried(notebook, TABLE_MIME):
        resource = output["data"][TABLE_MIME]
        seen[name := resource["name"]] += 1
        yield output, resource if seen[name] == 1 else resource | {"name": f"{name}-{seen[name]}"}


def to_csv(resource: Mapping[str, Any]) -> str:
    """A data resource as CSV: units in the header, numbers unformatted, nothing for an empty cell.

    >>> rent = {"name": "rent", "type": "number", "unit": "USD/h"}
    >>> schema = {"fields": [{"name": "chip", "type": "string"}, rent]}
    >>> rows = [{"chip": "A", "rent": 2.5}, {"chip": "B", "rent": None}]
    >>> print(to_csv({"schema": schema, "data": rows}), end="")
    chip,rent [USD/h]
    A,2.5
    B,
    """
    fields, text = resource["schema"]["fields"], io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            f"{f['name']} [{f['unit']}]" if "unit" in f and "[" not in f["name"] else f["name"]
            for f in fields
        ]
    )
    for row in resource["data"]:
        cells = (row[field["name"]] for field in fields)
        writer.writerow(
            [
                "" if cell is None else str(cell).lower() if isinstance(cell, bool) else cell
                for cell in cells
            ]
        )
    return text.getvalue()


def files(book: Book, scenarios: list[Scenario]) -> dict[str, bytes]:
    """Every file to download: path in the site, and content."""
    pages = {f"notebooks/{chapter}": book.executed(chapter) for chapter in book.chapters()}
    pages |= {
        scenario.page: book.executed(scenario.chapter, scenario.name) for scenario in scenarios
    }
    found = {}
    for page, executed in pages.items():
        content = executed.read_bytes()
        found[notebook_file(page)] = content
        for _, resource in tables(json.loads(content)):
            stem = table_file(page, resource["name"])
            found[f"{stem}.csv"] = to_csv(resource).encode()
            found[f"{stem}.json"] = (
                json.dumps(resource, ensure_ascii=False, separators=(",", ":")) + "\n"
            ).encode()
    return found


CASE = "## Your case"
"""The heading under which a chapter says what its parameters are."""


@dataclass(frozen=True)
class Dated:
    """A table's date and the days for which it counts as fresh."""

    title: str
    as_of: date
    stale_after_days: int

    @property
    def fresh_until(self) -> date:
        """The last day on which it counts as fresh."""
        return self.as_of + timedelta(days=self.stale_after_days)


def dated(entry: Mapping[str, Any]) -> Dated:
    """What a data record or the data package says of a table's date."""
    return Dated(entry["title"], date.fromisoformat(entry["as_of"]), int(entry["stale_after_days"]))


def old(tables: Iterable[Dated], today: date | None = None) -> list[str]:
    """What the notice of a page says of these tables on a day, a line each, the most overdue first.

    >>> old([Dated("Rents", date(2026, 10, 10), 45)], date(2026, 12, 1))
    ['Rents (2026-10-10): 52 days old, fresh for 45']
    """
    today = today or date.today()
    overdue = (table for table in _overdue_first(tables) if table.fresh_until < today)
    return [
        f"{t.title} ({t.as_of}): {(today - t.as_of).days:,} days old, fresh for"
        f" {t.stale_after_days:,}"
        for t in overdue
    ]


def _overdue_first(tables: Iterable[Dated]) -> list[Dated]:
    return sorted(tables, key=lambda table: (table.fresh_until, table.title))


def notice(tables: Iterable[Dated]) -> str:
    """The notice of old data: empty and hidden, for the page's script to judge on the reader's day.

    The day of the build is not in it, so that two builds of the same sources are the same.
    """
    facts = [
        {"title": t.title, "as_of": t.as_of.isoformat(), "days": t.stale_after_days}
        for t in _overdue_first(tables)
    ]
    data = escape(json.dumps(facts, ensure_ascii=False, separators=(",", ":")), quote=True)
    return (
        '<aside class="sr-stale" role="note" aria-label="Old data"'
        f' data-sr-tables="{data}" hidden><p>Some data behind this page is old:</p><ul></ul>'
        "</aside>"
    )


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _title(notebook: Mapping[str, Any]) -> tuple[dict, list[str], int]:
    """The cell with the title, its lines, and which of them is the title."""
    for cell in notebook["cells"]:
        lines = _source(cell).split("\n") if cell["cell_type"] == "markdown" else []
        for number, line in enumerate(lines):
            if line.startswith("# "):
                return cell, lines, number
    cell = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Untitled"}
    notebook["cells"].insert(0, cell)
    return cell, ["# Untitled"], 0


def title(notebook: Mapping[str, Any]) -> str:
    """The question that a chapter answers."""
    _, lines, number = _title(notebook)
    return lines[number].removeprefix("# ").strip()


def _files(page: str, table: Mapping[str, Any]) -> str:
    """Links to the files of a table, under it."""
    stem, title = (
        "../" * page.count("/") + table_file(page, table["name"]),
        escape(table["title"], quote=True),
    )
    links = (
        f'<a href="{stem}.{kind}" download aria-label="{kind.upper()} of the table:'
        f' {title}">{kind.upper()}</a>'
        for kind in ("csv", "json")
    )
    follows = any("live" in field for field in table["schema"]["fields"])
    mark = " data-sr-follows" * follows
    return f'<p class="sr-files"{mark}>{" · ".join(links)}</p>'


def _tidy(notebook: dict, page: str) -> None:
    """Leave what a page shows: no injected cell, no MIME type that only machines read, links under
    the tables.
    """
    for output, table in tables(notebook):
        markup = "".join(output["data"]["text/html"])
        head, end, tail = markup.rpartition("</table></div>")
        output["data"]["text/html"] = head + end + _files(page, table) + tail
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if "injected-parameters" not in cell["metadata"].get("tags", ())
    ]
    _answer_first(notebook["cells"])
    _parameters_at_case(notebook["cells"])
    for output in carried(notebook, PAGE_MIME):
        output["data"]["text/html"] = output["data"][PAGE_MIME]
    for output in carried(notebook, "text/html"):
        markup = "".join(output["data"]["text/html"])
        if spec := output["data"].get(VEGALITE_MIME):
            markup = pictures.beside(markup, page)
            markup = markup.replace(SPEC_SCRIPT, SPEC_SCRIPT + page_json(spec), 1)
        markup = markup.replace('href="../book/', f'href="{"../" * page.count("/")}book/')
        output["data"] = {"text/html": markup}
    _share(notebook)


def _answer_first(cells: list[dict]) -> None:
    """Let the answer stand before the folded cells that compute it, which show nothing else."""
    tags = [cell["metadata"].get("tags", ()) for cell in cells]
    place = next((i for i, tagged in enumerate(tags) if "answer" in tagged), 0)
    first = place
    while first and "hide-input" in tags[first - 1] and not cells[first - 1].get("outputs"):
        first -= 1
    cells.insert(first, cells.pop(place))


def _case_at(cells: Sequence[dict]) -> int | None:
    """Which cell holds the heading of the reader's case; words before it share its cell."""
    prose = (i for i, cell in enumerate(cells) if cell["cell_type"] == "markdown")
    return next((i for i in prose if "\n" + CASE in "\n" + _source(cells[i])), None)


def _parameters_at_case(cells: list[dict]) -> None:
    """Let the cell of parameters, which a notebook begins with, stand under the heading of the
    reader's case, after the table of what they mean.
    """
    tags = [cell["metadata"].get("tags", ()) for cell in cells]
    own = next((i for i, tagged in enumerate(tags) if "parameters" in tagged), None)
    case = _case_at(cells)
    if own is not None and case is not None:
        codes = (i for i in range(case, len(cells)) if cells[i]["cell_type"] == "code")
        cells.insert(next(codes, case), cells.pop(own))  # which shifts the others up by one


ELSEWHERE = "sr-shared"
"""Names what the page tells once."""
_SCRIPT = re.compile(r'<script type="application/json" class="sr-(spec|model)">([^<]*)')
_NAME = re.compile(r"[A-Za-z_]\w*")
_LONG = 1000
"""Characters from which on a part of a script is told once."""
_CONTROL = {"name", "label", "kind"}
"""Parts of what a script tells of a control."""


def _may_be_long(part: Any) -> bool:
    """Whether a part is long, or may hold what is; a text may be if all its characters are
    escaped.
    """
    return isinstance(part, (list, dict)) or (isinstance(part, str) and 6 * len(part) + 2 > _LONG)


def _key(part: Any) -> str:
    """What names a long text or list, or a control; empty for anything else."""
    control = isinstance(part, dict) and part.keys() >= _CONTROL
    text = page_json(part) if control or isinstance(part, (str, list)) else ""
    told = control or len(text) > _LONG
    return hashlib.sha256(text.encode()).hexdigest()[:12] if told else ""


def _long(part: Any) -> Iterator[tuple[int, str]]:
    """All long texts and lists in a part of a script: the identity and the key of each."""
    if key := _key(part):
        yield id(part), key
    items = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for item in filter(_may_be_long, items):
        yield from _long(item)


def _define_once(scripts: Iterable[dict]) -> None:
    """Leave of definitions that a chart carries and a sentence has told the names of those that it
    reads itself: the page's script has them, and what they read, from there.
    """
    told = {d["name"]: d for script in scripts for d in script.get("defined", ())}
    for script in scripts:
        if params := script.pop("params", None):
            own = [param for param in params if told.get(param["name"]) != param]
            names = {param["name"] for param in own}
            known = script.get("usermeta", {}).get("scaleright", {})
            if "defined" in known:
                # what reads rows stands there whole, since a chart alone has but its value
                known["defined"] = [
                    one
                    for one in known["defined"]
                    if (one["name"] not in told if isinstance(one, dict) else one in names)
                ]
            read = {*_NAME.findall(json.dumps([script, own]))}  # as the page reads it, unescaped
            script["params"] = [
                param if param["name"] in names else param["name"]
                for param in params
                if param["name"] in names | read
            ]


def _share(notebook: dict) -> None:
    """Tell data and definitions once that several outputs of a page carry; they refer to it, and
    `charts.js` looks it up.

    In the notebook each output holds all that it needs, so that it can be run, read and compared
    alone.
    """
    outputs = [
        output["data"]
        for output in carried(notebook, "text/html")
        if _SCRIPT.search("".join(output["data"]["text/html"]))
    ]
    texts = [data["text/html"] for data in outputs]
    scripts = [json.loads(script[2]) for text in texts for script in _SCRIPT.finditer(text)]
    _define_once(scripts)
    found = [pair for script in scripts for pair in _long(script)]
    keys, counts = dict(found), Counter(key for _, key in found)
    shared: dict[str, Any] = {}

    def lean(part: Any) -> Any:
        if not _may_be_long(part):
            return part
        if counts[key := keys.get(id(part), "")] > 1:
            shared[key] = part
            return {ELSEWHERE: key}
        if isinstance(part, dict):
            return {name: lean(item) for name, item in part.items()}
        return [lean(item) for item in part] if isinstance(part, list) else part

    rest = iter(scripts)
    for data, text in zip(outputs, texts, strict=True):
        data["text/html"] = _SCRIPT.sub(lambda found: _packed(found[1], lean(next(rest))), text)
    if shared:
        told_once = f"{_packed('shared', shared)}</script>"
        outputs[0]["text/html"] = told_once + outputs[0]["text/html"]


def _packed(kind: str, part: Any) -> str:
    """A script of a page up to its end, compressed."""
    return f'<script type="{PACKED}" class="sr-{kind}">{packed(part)}'


def dates(notebook: Mapping[str, Any]) -> list[Dated]:
    """The dates that a notebook's data records name."""
    records = (
        output["data"][TABLES_MIME].get("dates", {}) for output in carried(notebook, TABLES_MIME)
    )
    return [
        dated(entry)
        for name, entry in sorted(
            {name: entry for record in records for name, entry in record.items()}.items()
        )
    ]


def sentence(content: bytes) -> str:
    """The answer of an executed notebook as one sentence."""
    texts = (
        output["data"][ANSWER_MIME]["text"] for output in carried(json.loads(content), ANSWER_MIME)
    )
    return next(texts, None) or answer(content)


def _cases(scenarios: Iterable[tuple[Scenario, bytes]], level: str) -> dict:
    """A cell that lists the scenarios of a chapter with their answers, under a heading of this
    level.
    """
    items = "".join(
        f'<li><a href="{s.page.removeprefix("notebooks/")}.html">{escape(s.title)}</a>'
        f" {escape(sentence(content))}</li>"
        for s, content in scenarios
    )
    return {
        "cell_type": "markdown",
        "id": "cases",
        "metadata": {},
        "source": f'{level} Worked cases\n\n<ul class="sr-cases">{items}</ul>',
    }


def chapter_page(
    chapter: str, content: bytes, scenarios: Sequence[tuple[Scenario, bytes]]
) -> bytes:
    """The page of a chapter: its notice, and its scenarios with their results at the end of the
    section on the reader's case.
    """
    notebook = json.loads(content)
    cell, lines, number = _title(notebook)
    lines.insert(number + 1, f"\n{notice(dates(notebook))}\n")
    cell["source"] = "\n".join(lines)
    _tidy(notebook, f"notebooks/{chapter}")
    diagrams.place(notebook["cells"], chapter)
    if scenarios:
        heads = [
            i
            for i, c in enumerate(notebook["cells"])
            if c["cell_type"] == "markdown" and _source(c).startswith("## ")
        ]
        own = _case_at(notebook["cells"])
        place = next((i for i in heads if own is not None and i > own), len(notebook["cells"]))
        notebook["cells"].insert(place, _cases(scenarios, "##" if own is None else "###"))
    return json.dumps(notebook, ensure_ascii=False).encode()


def scenario_page(scenario: Scenario, content: bytes) -> bytes:
    """The page of a scenario: its own title, what it is for, and the way back to its chapter."""
    notebook = json.loads(content)
    cell, lines, number = _title(notebook)
    question = escape(title(notebook))
    values = ", ".join(
        f"<code>{escape(name)} = {escape(show(value))}</code>"
        for name, value in scenario.parameters.items()
    )
    case = (
        f'<p class="sr-case">{escape(scenario.why)} The chapter <a'
        f' href="../{scenario.chapter}.html">{question}</a> with {values}.</p>'
    )
    lines[number] = f"# {scenario.title}\n\n{notice(dates(notebook))}\n\n{case}\n"
    cell["source"] = "\n".join(lines)
    _tidy(notebook, scenario.page)
    return json.dumps(notebook, ensure_ascii=False).encode()
