"""Platforms side by side, the cheapest first, those whose architecture no fit has seen marked."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.ops import where
from scaleright.order import names_by
from scaleright.quantity.graph import value_of

UNSEEN = "* No run on this architecture was fitted: its efficiency is taken from all others."
"""What the asterisk means, for a caption."""


def star(seen: Any) -> Any:
    """The mark behind what a run costs on a platform.

    seen : whether the fit has seen runs on its architecture

    >>> star(False).strip(), star(True)
    ('*', '')
    """
    return where(seen, "", " *")


def cheapest_first(on_all: Mapping[str, Any], column: str = "platform") -> pd.DataFrame:
    """The platforms as rows of a chart, the cheapest first; those that have no cost, last.

    on_all : by platform what a run costs, or what has that as its `usd` [USD]

    >>> cheapest_first({"A": float("nan"), "B": 2.0, "C": 1.0})["platform"].tolist()
    ['C', 'B', 'A']
    """
    costs = {name: float(value_of(getattr(of, "usd", of))) for name, of in on_all.items()}
    last = {name: 1e99 for name, of in costs.items() if not of > 0}  # does not run, or no price
    return pd.DataFrame({column: names_by(costs | last)})


def unseen(guess: Any) -> Display:
    """The cheapest of the platforms whose architecture no fit has seen.

    guess : its platform and usd [USD]
    """
    return sentence(
        "Platforms with an asterisk are a guess: if their software is as efficient as that of the"
        " others, the <strong>{guess.platform}</strong> is the cheapest of them, at"
        " {guess.usd:usd}.",
        provided=guess.usd > 0,
        otherwise="No platform with an asterisk runs it.",
    )
