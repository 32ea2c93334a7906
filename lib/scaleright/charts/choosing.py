"""How sure a choice is, in words, and what it is worth to find out more, as a chart."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.marks import bars
from scaleright.charts.render import show
from scaleright.charts.templates import phrase
from scaleright.charts.words import say
from scaleright.information import Choice
from scaleright.ops import maximum, minimum, where
from scaleright.quantity import Quantity, least

NEXT_TO_NOTHING = 1e-3
"""Share of the cost below which an expected loss is not told in dollars [1]."""


def how_sure(
    choice: Choice,
    taken: Any,
    per: str = "",
    than: Any = "",
    kind: str = "usd",
    does: str = "is cheaper",
) -> Any:
    """With what probability the way that seems cheaper is so, and what taking it is expected to
    cost, in words.

    Parameters
    ----------
    taken : that way, as the subject of a sentence
    per : what the costs are of, such as " per million"
    than : the other way, where it is to be named
    kind, does : how `say` says the costs, and what the better way does

    >>> from scaleright.quantity import given
    >>> sure = Choice(given("rent", 1.0), 2.0, {"rent": 0.5})
    >>> how_sure(sure, "renting", " a year").value
    'renting is cheaper with 92 % probability; the risk of being wrong costs $0.0261 a year on
    average'
    """
    return (
        _better(taken, does, than)
        + " with "
        + say(choice.sureness, "chance")
        + " probability; the "
        + _loss(choice, per, kind)
    )


def _better(taken: Any, does: str, than: Any) -> Any:
    """The statement that the way taken is the better one, as `how_sure` has it."""
    other = "" if isinstance(than, str) and not than else " than " + than
    return taken + f" {does}" + other


def _loss(choice: Choice, per: str, kind: str) -> Any:
    """What taking the better way costs too much on average, as `how_sure` has it."""
    little = choice.expected_loss < NEXT_TO_NOTHING * minimum(choice.cost, choice.other)
    lost = where(little, "less than a thousandth", say(choice.expected_loss, kind) + per)
    return "risk of being wrong costs " + lost + " on average"


CONFIDENCE = (
    (0.99, "Virtually certain"),
    (0.9, "Very likely"),
    (0.66, "Likely"),
    (0.0, "Could go either way"),
)
"""Words for the probability that the way taken is the better one, from so much on: the scale of the
IPCC [mastrandrea2010, table 1], with the words people use for its "about as likely as not" and
"more likely than not"."""


def confidence(probability: Any, that: Any) -> Any:
    """How sure the better of two ways is, in words, and what is that sure.

    probability : that the way that seems better is so, 0.5 to 1 [1]
    that : the statement of which this is the probability, such as "owning is cheaper"

    >>> confidence(0.57, "owning is cheaper")
    'Could go either way, 57 %: owning is cheaper.'
    """
    words: Any = ""
    for lowest, said in reversed(CONFIDENCE):
        words = where(probability >= lowest, said, words)
    return words + ", " + say(probability, "chance") + ": " + that + "."


def odds(
    choice: Choice,
    there: Any,
    taken: Any,
    per: str = "",
    than: Any = "",
    kind: str = "usd",
    does: str = "is cheaper",
) -> tuple[Any, Any]:
    """How sure a choice is, as a card says it, and what being wrong is expected to cost, a sentence
    after a blank.

    there : whether there is a choice; both are empty otherwise
    taken, per, than, kind, does : as of `how_sure`

    >>> from scaleright.quantity import given
    >>> likely, loss = odds(Choice(given("rent", 1.0), 2.0, {"rent": 0.5}), True, "renting")
    >>> likely.value, loss.value[:34]
    ('Very likely, 92 %: renting is cheaper.', ' The risk of being wrong costs $0.')
    """
    likely = confidence(choice.sureness, _better(taken, does, than))
    return where(there, likely, ""), where(there, " The " + _loss(choice, per, kind) + ".", "")


def predicted_within(low: Any, high: Any, lent: Any) -> Any:
    """How well the speed of models that no fit had seen was predicted, in words.

    Parameters
    ----------
    low, high : measured over predicted speed of nine of ten published runs [1]
    lent : whose constants the speed is by, if not its own; empty if its own

    >>> predicted_within(0.734, 1.2, "")[-44:]
    'en wrote 0.73 to 1.2 of the predicted tokens'
    """
    return (
        "of published runs of models that no fit had seen, nine of ten wrote "
        + say(low, "number 2")
        + " to "
        + say(high, "number 2")
        + " of the predicted tokens"
        + where(lent == "", "", "; " + lent)
    )


def worth_of_knowing(
    worth: Mapping[str, Any],
    per: str,
    choice: Choice,
    ways: Any,
    kind: str = "usd",
    unit: str = "USD",
    cost: Any = None,
) -> Display:
    """A chart of what it would save in expectation to know each input before choosing, under one
    sentence: what is worth most to know, or that all is next to nothing.

    Parameters
    ----------
    worth : of each input, see `Choice.worth`
    per : what the costs are of: "a month", "per million tokens"
    ways : between which somebody chooses, in words
    kind, unit : how `say` says the costs, and in what they are
    cost : in that unit, of the way taken; of the choice itself unless told
    """
    right = phrase("the choice is right with {choice.sureness:chance} as it is")
    right = where(choice.sureness > 0, right, "there is no choice to be right with")
    shown = show(
        bars(worth, "input", "worth", kind, f"{unit} {per} that knowing it would save"),
        name="worth_of_knowing",
        alt="What it is worth to know an input before choosing between {ways}; {right}.",
    )
    whole = minimum(choice.cost, choice.other) if cost is None else cost
    idle = reduce(maximum, worth.values()) < NEXT_TO_NOTHING * whole
    if not isinstance(idle, Quantity):
        return shown
    first, none = least({name: -1.0 * of for name, of in worth.items()})
    words = _said(idle, first, -1.0 * none, ", ".join(worth), (kind, per))
    told = {"text/plain": words.bundle["text/plain"]} if idle.value else {}
    return Display(shown.bundle | told).marked(words.markup + shown.markup)


def _said(
    idle: Quantity, first_to_know: Any, most_saved: Any, known: str, of: tuple[str, str]
) -> Display:
    """Whether finding out pays, and what most.

    idle : whether it hardly does
    first_to_know, most_saved : what is worth most to know, and how much
    known : all that could be known
    of : how `say` says what is saved, and what it is of
    """
    kind, per = of
    would_save = phrase(
        f"Worth most to know: {{first_to_know}}. Knowing it would save {{most_saved:{kind}}} {per}"
        " on average."
    )
    would_save = where(most_saved > 0, would_save, "There is no choice to find out more about.")
    return sentence(
        "It hardly pays to find out more: {known} are each worth less than a thousandth of the"
        " cost.",
        provided=idle,
        otherwise="{would_save}",
    )
