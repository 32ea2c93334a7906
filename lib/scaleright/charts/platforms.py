"""Platforms side by side, the cheapest first, those whose architecture no fit has seen marked."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.templates import phrase
from scaleright.ops import where
from scaleright.order import names_by
from scaleright.quantity.graph import value_of

NAMELESS = "needs a named accelerator: a rent of your own is that of one."
"""Why a case has no answer that asks for the cheapest accelerator and brings a rent."""
NOWHERE = (
    "does not run at a price on any platform that could be tested against published runs. Take more"
    " chips, or another contract or seller."
)
"""Why one has none that asks for the cheapest accelerator."""
UNSEEN = "* No run on this architecture was fitted: its efficiency is taken from all others."
"""What the asterisk means, for a caption."""


def star(seen: Any) -> Any:
    """The mark behind what a run costs on a platform.

    seen : whether the fit has seen runs on its architecture

    >>> star(False).strip(), star(True)
    ('*', '')
    """
    return where(seen, "", " *")


def of_many(best: Any, named: Any) -> Any:
    """Of how many accelerators the one that is taken is the cheapest, in words; empty where the
    reader has named it.

    best : the cheapest, with of how many it is that
    """
    return where(named, "", phrase(", on the cheapest of {best.many:whole} accelerators compared"))


def elsewhere(taken: Any, best: Any, other: Any, other_usd: Any, on: str = "On as many") -> Any:
    """What the run would cost on the cheapest platform, or where that is taken on the next, in
    words.

    best : the platform and what the run costs there [USD]
    other, other_usd : the next and what it costs there [USD]
    on : how the sentence begins
    """
    cheaper = phrase("{on} {best.platform} it would cost {best.usd:usd}.")
    dearer = phrase("{on} {other}, the next, it would cost {other_usd:usd}.")
    said = where(best.platform == taken, dearer, cheaper)
    none = "No other platform that could be tested against published runs is sold so."
    return where((best.usd > 0) & (other_usd > 0), said, none)


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
