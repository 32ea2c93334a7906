"""Shapes held against what was published of them: their parameters, or the size in their name.

A shape that is wrong in one digit has other parameters. This room can count them, so it judges the
table of models for all who compute with it.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer, stacked
from scaleright.catalog import judges
from scaleright.transformer.parameters import active_parameters, parameters

NEAR = 1.15
"""Most that counted and published parameters differ by: 1.11, where a publication counts without
the embedding or rounds upwards.
"""
NAMED = 1.5
"""Most that counted parameters and the size in a model's name differ by: 1.3."""
_SIZE = re.compile(r"(?<![xA\d.])(\d+(?:\.\d+)?)([BMT])\b")
Found = Iterator[tuple[int, str | None, str]]
_UNITS = {"M": 1e6, "B": 1e9, "T": 1e12}


Read = Callable[[str], pd.DataFrame]


class Pair(NamedTuple):
    """A published count beside the one that its model's shape gives, with their rows."""

    of_model: int
    of_count: int
    counted: float
    row: Any

    def message(self) -> str:
        """What is odd about the pair, empty if nothing is."""
        if 1 / NEAR <= self.counted / self.row.published <= NEAR:
            return ""
        words = self.row.quantity.replace("_", " ")
        return (
            f"{self.row.model}: its shape has {self.counted:.4g} {words}, {self.row.source} states"
            f" {self.row.published:.4g}; plausible: within {NEAR - 1:.0%}"
        )


def _counted(models: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Parameters by quantity and model; shapes that contradict themselves are judged elsewhere."""
    shapes = []
    for row in models[list(SHAPE_FIELDS)].to_dict("records"):
        with suppress(ValueError):
            shapes.append(Transformer(**row))
    together = stacked(shapes)
    totals = {
        "total_parameters": parameters(together).total,
        "active_parameters": active_parameters(together).total,
    }
    return {
        quantity: dict(zip(together.name, total, strict=True)) for quantity, total in totals.items()
    }


def _pairs(models: pd.DataFrame, counts: pd.DataFrame) -> Iterator[Pair]:
    """Every published count of a language model alone, whose shape the table of models holds."""
    counted, place = _counted(models), {name: i for i, name in enumerate(models["name"])}
    for j, row in enumerate(counts.itertuples()):
        if row.scope == "language model" and row.model in counted.get(row.quantity, ()):
            yield Pair(place[row.model], j, counted[row.quantity][row.model], row)


@judges("models")
def _unlike_published(frame: pd.DataFrame, read: Read) -> Found:
    told = set()
    for pair in _pairs(frame, read("measured/counts")):
        told.add(pair.of_model)
        if message := pair.message():
            yield pair.of_model, None, message
    total = _counted(frame)["total_parameters"]
    for i, name in enumerate(frame["name"]):
        if i not in told and name in total and (size := _SIZE.search(name)):
            named = float(size[1]) * _UNITS[size[2]]
            if not 1 / NAMED <= total[name] / named <= NAMED:
                why = f"its shape has {total[name]:.4g} parameters, its name says {named:.4g}"
                yield i, None, f"{name}: {why}; plausible: within a factor of {NAMED:g}"


@judges("measured/counts")
def _unlike_shape(frame: pd.DataFrame, read: Read) -> Found:
    for pair in _pairs(read("models"), frame):
        if message := pair.message():
            yield pair.of_count, "published", message
