"""The blocks of the start page that no hand writes: figures of the day and how data moved each,
workloads that are planned, how wrong the book is, what is new, and every question with its answer.

`python -m refresh.headlines` asks the chapters again at the prices before the newest ones, with the
same sellers, and keeps both figures in `data/headlines.csv`: what moves between them is data alone.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from scaleright.outputs import PAGE_MIME, SPEC_SCRIPT, VEGALITE_MIME, page_json
from scaleright.press import Book, PressError, contents, pictures, plans
from scaleright.press.about import spoken
from scaleright.press.prose import Pages, plain

HEADLINE_TABLE = "headlines"
ITSELF = ""
"""In place of a parameter: the figure is that rent."""
UNMOVED = 0.005
"""A change below this share is none."""


@dataclass(frozen=True)
class Headline:
    """A figure of a chapter's answer at its defaults.

    label : what it is of, for somebody who reads nothing else
    low, high : quantities of the same answer, its range
    rents : the chapter's parameters for a rent, each with the chip and the contract that is paid;
        where there is none, no price of an hour moves the figure
    """

    chapter: str
    quantity: str
    label: str
    low: str = "range_low"
    high: str = "range_high"
    rents: Mapping[str, tuple[str, str]] = field(default_factory=dict)


_H100 = "H100 SXM"
HEADLINES = (
    Headline(
        "gpu_prices",
        "here_usd",
        "for an hour of one H100, rented by the hour",
        "low",
        "high",
        {ITSELF: (_H100, "on demand")},
    ),
    Headline(
        "token_cost",
        "usd_per_million",
        "for a million tokens (pieces of words) written by a 70B model, the cheapest way compared",
    ),
    Headline(
        "pretraining_cost",
        "run_usd",
        "to train a 7B model from nothing on 2 trillion tokens, on the cheapest chips compared",
    ),
    Headline(
        "buy_or_rent",
        "break_even_hours",
        "of use a day: above that, owning an H100 costs less than renting one by the hour",
        "break_even_hours_low",
        "break_even_hours_high",
        rents={"rent_usd_per_hour": (_H100, "on demand")},
    ),
    Headline(
        "vendor_claims",
        "times_cheaper",
        "as many tokens for a dollar on a GB300 as on an H200; its maker announced 35",
        rents={
            "newer_usd_per_hour": ("GB300", "on demand"),
            "older_usd_per_hour": ("H200 SXM", "on demand"),
        },
    ),
    Headline(
        "sustainability",
        "carbon_kg",
        "of greenhouse gas (CO2e) for a million tokens of a 70B model, making the chips included",
    ),
)


@dataclass(frozen=True)
class Edition:
    """A headline at the prices of a day: the newest listing that counts."""

    day: date
    value: float
    sellers: int


def editions(data: Path) -> dict[tuple[str, str], list[Edition]]:
    """What the table keeps of each figure, the oldest first; none if there is no table."""
    path, found = data / f"{HEADLINE_TABLE}.csv", dict[tuple[str, str], list[Edition]]()
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                edition = Edition(
                    date.fromisoformat(row["date"]), float(row["value"]), int(row["sellers"])
                )
                found.setdefault((row["chapter"], row["quantity"]), []).append(edition)
    return {key: sorted(of, key=lambda edition: edition.day) for key, of in found.items()}


def moved(of: list[Edition]) -> str:
    """How data moved a figure since the day before the last, in words.

    >>> moved([Edition(date(2026, 10, 5), 4.0, 7), Edition(date(2026, 10, 10), 4.2, 7)])
    'up 5 % since October 5, 2026, at the same 7 sellers'
    >>> moved([Edition(date(2026, 8, 1), 2.0, 1), Edition(date(2026, 9, 1), 2.0, 1)])
    'unchanged since August 1, 2026'
    >>> moved([])
    'first edition of this figure'
    """
    if len(of) < 2:
        return "first edition of this figure"
    before, now = of[-2:]
    change = now.value / before.value - 1
    since = f"since {spoken(before.day.isoformat())}"
    if abs(change) < UNMOVED:
        return f"unchanged {since}"
    same = f", at the same {now.sellers} sellers" if now.sellers > 1 else ""
    return f"{'up' if change > 0 else 'down'} {100 * abs(change):.2g} % {since}{same}"


def tiles(pages: Pages) -> str:
    """The figures of the day as HTML, each a link to its chapter."""
    kept, shown = editions(pages.book.data), []
    for of in HEADLINES:
        value, low, high = (pages.said(of.chapter, q) for q in (of.quantity, of.low, of.high))
        why = moved(kept.get((of.chapter, of.quantity), []))
        shown.append(
            f'<li><a href="../notebooks/{of.chapter}.html"><strong>{escape(value)}</strong>'
            f" <span>{escape(of.label)}</span>"
            f" <small>{escape(low)} to {escape(high)}; {escape(why)}</small></a></li>"
        )
    return f'<ul class="sr-tiles">{"".join(shown)}</ul>'


NEWS = "CHANGELOG.md"
_FOR_READERS = re.compile(r"^### For readers\n\n((?:- .*\n(?:  .*\n)*)+)", re.MULTILINE)
_SHOWN = 6
"""Lines of news that are shown."""


def news(pages: Pages) -> str:
    """The newest lines of the changes that are told in readers' words."""
    path = pages.book.root / NEWS
    found = _FOR_READERS.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    if not found:
        raise PressError(f"{NEWS} has no list under `### For readers`")
    items = re.split(r"^- ", found[1], flags=re.MULTILINE)[1:]
    shown = (" ".join(item.split()).replace("$", r"\$") for item in items[:_SHOWN])  # no formulas
    return "\n".join(f"- {item}" for item in shown)


def presets(pages: Pages) -> str:
    """The workloads that `plan` knows, as links to its chapter with each filled in; those that only
    the command takes, as commands.
    """
    from scaleright.chapters.plan.page import MENU

    words, linked, typed = {name: words for words, name in MENU.items()}, [], []
    for name, of in plans.presets(pages.book).items():
        if name in words:
            case = urlencode({"workload": words[name]})
            linked.append(f"- {pages.link(f'{of.title} <{plans.CHAPTER}?{case}>')}")
        else:
            typed.append(f"- {plain(of.title)}: `scaleright plan {name}`")
    if not typed:
        return "\n".join(linked)
    more = f"<details><summary>{len(typed)} more, on the command line</summary>"
    return "\n".join([*linked, "", more, "", *typed, "", "</details>"])


def questions(pages: Pages) -> str:
    """Every chapter by part, its question as a card with its answer, in the order of the
    contents.
    """
    toc = contents.read(pages.book)
    shown = []
    for part in toc.get("parts", ()):
        files = [entry["file"] for entry in part["chapters"]]
        if chapters := [f.removeprefix("notebooks/") for f in files if f.startswith("notebooks/")]:
            cards = [_card(pages, chapter) for chapter in chapters]
            grid = "::::{grid} 1 1 2 2\n:gutter: 3\n:class-container: sr-questions\n"
            shown.append("\n".join([f"### {part['caption']}\n", grid, *cards, "::::\n"]))
    return "\n".join(shown)


def _card(pages: Pages, chapter: str) -> str:
    head = f":::{{grid-item-card}} {plain(pages.question(chapter))}"
    link = f":link: ../notebooks/{chapter}\n:link-type: doc\n"
    return f"{head}\n{link}\n{plain(first_sentences(pages.answer(chapter)))}\n:::\n"


def first_sentences(answer: str, most: int = 2) -> str:
    """The decision and its number, without how sure and why.

    >>> first_sentences("Rent it. $3.03 a million tokens. Likely. The API asks more.")
    'Rent it. $3.03 a million tokens.'
    """
    return " ".join(re.split(r"(?<=[.?!]) (?=[A-Z$0-9])", answer)[:most])


def accuracy(data: Path) -> list[dict[str, Any]]:
    """How far off each kind of estimate is: predicted over published, by `refresh.accuracy`."""
    with (data / "accuracy.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        row
        | {name: float(row[name]) for name in ("low", "median", "high")}
        | {"rows": int(row["rows"])}
        for row in rows
    ]


@functools.cache
def _chart(data: Path, _changed: int) -> Any:
    import altair as alt

    from scaleright import charts
    from scaleright.charts.intervals import intervals

    rows, title = accuracy(data), "predicted over published figure, nine of ten predictions"
    ends = ["low", "median", "high"]
    named = [row | {"told": f"{row['low']:.2f} to {row['high']:.2f}"} for row in rows]
    spans = intervals(named, "what", ends, "number 2", title, label=alt.datum["told"], sort=False)
    drawn = spans + charts.rule(1.0, title, "right", log=True)
    worst = max(rows, key=lambda row: row["high"] / row["low"])
    said = "; ".join(f"{row['what']} {row['low']:.2f} to {row['high']:.2f}" for row in rows)
    return charts.show(
        drawn,
        name="accuracy",
        alt=f"Predicted over published for {len(rows)} kinds of estimates, nine of ten of"
        f" each: {said}. The widest is {worst['what']}.",
    )


def chart(book: Book) -> Any:
    """The chart of how wrong the book is."""
    path = book.data / "accuracy.csv"
    return _chart(book.data, path.stat().st_mtime_ns)


def how_wrong(pages: Pages) -> str:
    """The same as a page shows it, and in words."""
    bundle, rows = chart(pages.book).bundle, accuracy(pages.book.data)
    markup = pictures.beside(bundle[PAGE_MIME], "book/index")
    markup = markup.replace(SPEC_SCRIPT, SPEC_SCRIPT + page_json(bundle[VEGALITE_MIME]), 1)
    by_chapter = {row["chapter"]: pages.link(row["chapter"]) for row in rows}
    total = sum(row["rows"] for row in rows)
    words = (
        f"This book predicts {total:,} figures that others published. Each line holds nine of ten"
        " of these predictions, over what was published; the dot is the middle one, and 1 is right."
        f" More in {'; '.join(by_chapter.values())}."
    )
    return f"```{{raw}} html\n{markup}\n```\n\n{words}"


def pictured(book: Book) -> dict[str, dict]:
    """The specification of the chart by the name of its picture."""
    if not (book.data / "accuracy.csv").is_file():
        return {}
    bundle = chart(book).bundle
    return pictures.named(bundle[PAGE_MIME], bundle[VEGALITE_MIME])


BLOCKS: Mapping[str, Callable[[Pages], str]] = {
    "headlines": tiles,
    "presets": presets,
    "questions": questions,
    "how_wrong": how_wrong,
    "news": news,
}
