"""Store how far off each kind of estimate is: `python -m refresh.accuracy` writes
`data/accuracy.csv`, what `scaleright validate` finds, by kind, for the start page.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scaleright.press import Book
from scaleright.validation import kinds

TABLE = "accuracy"
SOURCE = "scalerightaccuracy"
DIGITS = 3
"""Significant digits of a share."""
KINDS = {
    "counts": ("size of a model", "scaling_math"),
    "memory": ("memory in training", "memory_wall"),
    "training": ("time of a step", "training_accuracy"),
    "pretraining": ("hours of a whole run", "pretraining_cost"),
    "footprint": ("energy of a run", "sustainability"),
    "energy": ("energy of a token", "serving_accuracy"),
    "throughput": ("tokens a second", "serving_accuracy"),
    "TPOT": ("time of a token", "serving_accuracy"),
    "ITL": ("gap between tokens", "serving_accuracy"),
}
"""Kinds of estimates, with what each is of, and the chapter that tells more."""


def judged() -> Iterator[tuple[str, pd.Series]]:
    """The signed errors of each kind [%], of rows that can be predicted; of serving by figure."""
    for kind in ("counts", "memory", "training", "pretraining", "footprint", "energy", "serving"):
        rows = kinds.validate(kind).rows
        rows = rows[rows["scored"].astype(bool) & rows["error_percent"].notna()]
        if kind != "serving":
            yield kind, rows["error_percent"]
            continue
        for figure, of in rows.groupby("figure"):
            yield str(figure), of["error_percent"]


def lines() -> list[dict[str, Any]]:
    """The table: predicted over published, its 5th, 50th and 95th percentile."""
    found = {kind: 1 + errors.to_numpy() / 100 for kind, errors in judged()}
    return [
        {"kind": kind, "what": what, "chapter": chapter, "rows": len(found[kind])}
        | {
            name: f"{np.quantile(found[kind], share):.{DIGITS}g}"
            for name, share in (("low", 0.05), ("median", 0.5), ("high", 0.95))
        }
        | {"source": SOURCE}
        for kind, (what, chapter) in KINDS.items()
    ]


def text() -> str:
    """The table as its file holds it."""
    out, found = io.StringIO(), lines()
    writer = csv.DictWriter(out, list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def main() -> None:
    """Write the table."""
    path = Book.find().data / f"{TABLE}.csv"
    path.write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
