"""The training runs behind Chinchilla's parametric fit, as a replication read them off a figure of
the paper.

The figure gives parameters and training FLOP by position and the loss by color, so that the loss
comes in steps of the color map. The replication leaves out five runs; they are those with the
fewest tokens a parameter (FLOP over 6 N squared), which is the rule here. They stay in the table,
marked.
"""

from __future__ import annotations

from pathlib import Path

from scaleright.units import figure

from refresh.rules import read_csv
from refresh.tables import Items, RefreshError, to_float

SOURCES = frozenset({"besiroglu2024"})
POINTS = "epoch/chinchilla_svg_extracted_data.csv"
OUTLIERS = 5
_COLUMNS = {"parameters": "Model Size", "flop": "Training FLOP", "loss": "loss"}


def rows(raw: Path) -> Items:
    """Rows of `chinchilla_points` in the order of the raw file, figures to eight digits.

    Raises
    ------
    RefreshError : a value that is no number above 0; a run that is given twice.
    """
    found, seen = [], set()
    for number, row in enumerate(read_csv(raw, POINTS), start=1):
        values = {
            ours: to_float(row[theirs], POINTS, str(number), theirs)
            for ours, theirs in _COLUMNS.items()
        }
        bad = [name for name, value in values.items() if value is None or not value > 0]
        if bad or tuple(values.values()) in seen:
            raise RefreshError(
                f"{POINTS}: run {number}: {bad[0]} must be above 0"
                if bad
                else f"{POINTS}: run {number} is given twice"
            )
        seen.add(tuple(values.values()))
        found.append(
            {
                "run": f"{number:03}",
                **{name: float(f"{value:.8g}") for name, value in values.items()},
            }
        )
    few = sorted(found, key=lambda row: figure(row["flop"] / row["parameters"] ** 2))[:OUTLIERS]
    for row in found:
        yield row | {"outlier": row in few, "source": "besiroglu2024"}
