"""Store how data moved the figures of the start page: `python -m refresh.headlines` writes
`data/headlines.csv`.

Each chapter is asked at the prices that were known before the newest listings, and again at the
newest ones. So that no seller who came or went looks like a change, the price before is today's,
moved by the geometric mean over the sellers of both days (a Jevons index).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from scaleright import market
from scaleright.outputs import ANSWER_MIME
from scaleright.parameters import validate
from scaleright.press import Book
from scaleright.press.execute import Job, Run, carried, run_all
from scaleright.press.prose import Pages
from scaleright.press.start import HEADLINE_TABLE, HEADLINES, ITSELF, Headline
from scaleright.press.texts import declared

SOURCE = "scalerightanswers"
DIGITS = 5
"""Significant digits of a figure: those beyond belong to the processor."""


def before(accelerator: str, contract: str, day: date) -> tuple[float, date, int]:
    """The price of an hour as it was known on a day, at the sellers of today [USD/h]; the day of
    the newest listing then, and how many sellers listed it then and now.
    """
    now = market.hour(accelerator, contract)
    then = market.hour(accelerator, contract, day=day)
    price = "usd_per_accelerator_hour"
    both = now.rows.merge(then.rows, on="provider", suffixes=("", "_then"))
    logs = [math.log(a / b) for a, b in zip(both[f"{price}_then"], both[price], strict=True)]
    return now.usd * math.exp(sum(logs) / len(logs)), then.until, len(logs)


def earlier(headline: Headline) -> tuple[dict[str, float], date, date, int] | None:
    """The rents of a headline before the newest listings, as its chapter takes them, with both days
    and the number of sellers; None if no price moves it.
    """
    if not headline.rents:
        return None
    today = max(market.hour(*paid).until for paid in headline.rents.values())
    day = today - timedelta(days=1)
    found = {name: before(*paid, day) for name, paid in headline.rents.items()}
    rents = {name: float(f"{usd:.{DIGITS}g}") for name, (usd, *_) in found.items()}
    _, thens, sellers = zip(*found.values(), strict=True)
    return rents, max(thens), today, max(sellers)


def rows(book: Book, runs: Iterable[Run]) -> list[dict[str, Any]]:
    """The table: two lines for each figure that prices move."""
    pages, then = Pages(book, []), {run.job.chapter: run for run in runs}
    found = []
    for of in HEADLINES:
        if (moved := earlier(of)) is None:
            continue
        rents, day, today, sellers = moved
        values = {day: rents[ITSELF] if ITSELF in rents else _found(then[of.chapter], of)}
        values[today] = pages.quantity(of.chapter, of.quantity)[0]
        for at, value in values.items():
            found.append(
                {
                    "chapter": of.chapter,
                    "quantity": of.quantity,
                    "date": at.isoformat(),
                    "value": f"{value:.{DIGITS}g}",
                    "sellers": sellers,
                    "rents": " ".join(f"{k}={v}" for k, v in rents.items() if k and at == day),
                    "source": SOURCE,
                }
            )
    return found


def _found(run: Run, of: Headline) -> float:
    """The figure in a run of its chapter."""
    told = next(carried(json.loads(run.content), ANSWER_MIME))["data"][ANSWER_MIME]
    return told["quantities"][of.quantity]["value"]


def main() -> None:
    """Run the chapters at the earlier rents and write the table."""
    book, runs = Book.find(), list[Run]()
    asked = {of.chapter: moved[0] for of in HEADLINES if (moved := earlier(of))}
    asked = {chapter: rents for chapter, rents in asked.items() if ITSELF not in rents}
    jobs = [Job(name, validate(declared(name, book), rents)) for name, rents in asked.items()]
    run_all(book, jobs, 2, runs.append)
    lines, out = rows(book, runs), io.StringIO()
    writer = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    (book.data / f"{HEADLINE_TABLE}.csv").write_text(out.getvalue(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
