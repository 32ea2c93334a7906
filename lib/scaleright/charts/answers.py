"""The answer card, sentences whose numbers follow the controls, and the strip of controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scaleright.charts.displays import Display, fill, live_model, page_model, plain_text
from scaleright.charts.live import LiveNumber, page
from scaleright.charts.machine import answer
from scaleright.charts.templates import callers_names, filled, slots
from scaleright.names import nearest
from scaleright.ops import where
from scaleright.outputs import ANSWER_MIME, PAGE_MIME
from scaleright.quantity import Quantity
from scaleright.quantity.graph import value_of
from scaleright.quantity.readings import literal

ALSO = "Also"
"""What stands beneath an answer without a label."""

ERROR = "Model error"
"""The longest text of that line, which shows once it is unfolded."""


def sentence(text: str, provided: Any = None, otherwise: str = "") -> Display:
    """A paragraph of the chapter whose numbers and words follow the controls.

    Parameters
    ----------
    text : HTML, a template that names the chapter's quantities (see `templates`).
    provided, otherwise : whether the template holds, and the one that is said where it does not.

    >>> from types import SimpleNamespace as N
    >>> from scaleright.charts.live import controls
    >>> live, cost = controls(N(parameters=())), 2.0
    >>> sentence("Rent is <b>{cost:usd}</b> &amp; more.")
    Rent is $2.00 & more.
    """
    return paragraph(text, provided, otherwise, callers_names())


def paragraph(text: str, provided: Any, otherwise: str, names: Mapping[str, Any]) -> Display:
    """The same of given names."""
    if not (provided is None or isinstance(provided, Quantity)):
        text, provided = text if provided else otherwise, None  # no control moves it
    found = said(text, provided, otherwise, names)
    markup, now = (f'<p class="sr-said">{of}</p>' for of in (found.markup, found.now))
    shown = _both(f"{markup}{live_model(found.numbers)}", now, provided)
    return Display({"text/plain": plain_text(found.now)} | shown)


def _both(markup: str, now: str, provided: Quantity | None) -> dict[str, str]:
    """What a page shows and what a notebook does, which has no script to hide the one of two
    sentences that does not hold.
    """
    if provided is None:
        return {"text/html": markup}
    return {"text/html": now, PAGE_MIME: markup}


@dataclass(frozen=True)
class Said:
    """A template, or the one that is said instead, filled with quantities.

    markup : of both, of which the page shows one
    now : that of the chapter's case
    slots : what fills it, by name
    numbers : all that the page has to compute
    """

    markup: str
    now: str
    slots: Mapping[str, LiveNumber]
    numbers: Sequence[LiveNumber]


def said(text: str, when: Any, otherwise: str, names: Mapping[str, Any]) -> Said:
    """A template filled, or another one where a condition does not hold."""
    plain, filled = slots({"": text}, names)
    now = markup = fill(plain[""], filled)
    if when is None:
        return Said(markup, now, filled, [*filled.values()])
    plain, others = slots({"": otherwise}, names)
    other, name = fill(plain[""], others), page().signal(when)
    parts = zip(("", "!"), (now, other), (not when.value, when.value), strict=True)
    markup = "".join(
        f'<span data-sr-when="{sign}{name}"{" hidden" * hidden}>{part}</span>'
        for sign, part, hidden in parts
    )
    numbers = [*filled.values(), *others.values(), page().words(name, when)]
    if when.value:
        return Said(markup, now, filled, numbers)
    return Said(markup, other, others, numbers)


def answer_card(
    decision: str,
    figure: str = "",
    figure_of: str = "",
    sure: str = "",
    because: str = "",
    also: str = "",
    range: str | None = None,
    as_of: str | None = None,
    model_error: str | None = None,
    quantities: Mapping[str, tuple[Any, str]] | None = None,
    headline: str | None = None,
    provided: Quantity | None = None,
    otherwise: str = "",
    always: bool = False,
    besides: Sequence[tuple[Quantity, str]] = (),
) -> Display:
    """The answer, first on the page: the decision, its one number set large, how sure it is and
    why; range, date of the data and error of the model in a quiet line that unfolds.

    All texts are HTML, templates that name the chapter's quantities (see `templates`).

    Parameters
    ----------
    decision : what to do, in about a dozen words.
    figure, figure_of : the one number, and what it is of.
    sure, because : how sure that is, in the words of `charts.confidence`, and why in one sentence.
    also : what else belongs to the answer, shown when the line beneath is unfolded.
    range, as_of, model_error : short texts of that line; left out if None.
    quantities : numbers that the card says only within words, for machines: name -> (value, kind of
        `say`), above all the ends of the range.
    headline : which number, of the templates and `quantities`, a sweep draws unless told another.
    provided, otherwise : as in `sentence`; where a choice would lead to `otherwise`, the page grays
        it out and says why.
    always : whether `otherwise` is an answer as well, and rules out no choice.
    besides : whether other answers of the page are there, and why not; grays choices out as well.

    >>> from types import SimpleNamespace as N
    >>> from scaleright.charts.live import controls
    >>> live, low, cost = controls(N(parameters=())), 1.0, 2.0
    >>> answer_card("Rent it.", "{cost:usd}", "an hour", range="{low:usd} to $3", as_of="2026-11")
    Rent it. $2.00 an hour. Range: $1.00 to $3. Data as of 2026-11.
    """
    facts = {ALSO: also or None, "Range": range, "Data as of": as_of, ERROR: model_error}
    names, unsaid = callers_names(), _unsaid(quantities or {})
    found = said(_parts(decision, figure, figure_of, sure, because), provided, otherwise, names)
    texts, told = slots({of: text for of, text in facts.items() if text is not None}, names)
    texts = {label: fill(text, told) for label, text in texts.items()}
    judged = [(provided, plain_text(otherwise))] if provided is not None and not always else []
    model = live_model([*found.numbers, *told.values(), *unsaid])
    model += _judge([*judged, *besides], names) if judged or besides else ""
    now = plain_text(found.now)
    others = {name: (value_of(value), kind) for name, (value, kind) in (quantities or {}).items()}
    machine = answer(now, {**found.slots, **told}, others, headline)
    named = f' data-sr-headline="{headline}"' if headline else ""
    beneath, here = _with_answer((_folded if figure else _facts)(texts), judged)
    cards = _card(found.markup, beneath, model, named), _card(found.now, here, "", named)
    spoken = _spoken(texts) if here else []
    told_so = {"text/plain": " ".join([now, *spoken]), ANSWER_MIME: machine}
    return Display(told_so | _both(*cards, provided))


def _with_answer(beneath: str, judged: Sequence[tuple[Quantity, str]]) -> tuple[str, str]:
    """What stands beneath an answer on a page, which hides it where there is no answer, and in a
    notebook.
    """
    if not judged:
        return beneath, beneath
    ((provided, _),) = judged
    when = f'data-sr-when="{page().signal(provided)}"{"" if provided.value else " hidden"}'
    return f'<div class="sr-beneath" {when}>{beneath}</div>', beneath if provided.value else ""


def _parts(decision: str, figure: str, figure_of: str, sure: str, because: str) -> str:
    """The parts of an answer as one template; of one that has no figure, the sentence."""
    if not figure:
        return decision
    shown = {
        "decision": decision,
        "figure": f"<strong>{figure}</strong> <span>{figure_of}</span><i>.</i>",
        "because": " ".join(filter(None, [sure and f"<b>{sure}</b>", because])),
    }
    return " ".join(f'<span class="sr-{name}">{text}</span>' for name, text in shown.items())


def _judge(answers: Sequence[tuple[Quantity, str]], names: Mapping[str, Any]) -> str:
    """What the page's script needs to ask of each option of a choice whether there are these
    answers with it, and why the first that is missing is not there.
    """
    controls, there, why = page(), True, ""
    for one, otherwise in reversed(answers):
        why = where(one, why, filled(otherwise, names))
        there = one & there
    asked = {
        name: controls.signal(of) if isinstance(of, Quantity) else literal(of)
        for name, of in (("there", there), ("why", why))
    }
    return page_model(controls, *controls.used_in(*asked.values()), judge=asked)


def _spoken(facts: Mapping[str, str]) -> list[str]:
    """The line beneath the answer as text."""
    return [
        f"{label}{'' if label == 'Data as of' else ':'} {plain_text(text)}."
        if label != ALSO
        else plain_text(text)
        for label, text in facts.items()
    ]


def _card(sentence: str, beneath: str, model: str, named: str) -> str:
    """The answer as a card."""
    return (
        f'<section class="sr-answer" aria-label="The answer"{named}><p class="sr-sentence"'
        f' aria-live="polite">{sentence}</p>{beneath}{model}</section>'
    )


def _unsaid(quantities: Mapping[str, tuple[Any, str]]) -> list[LiveNumber]:
    """What a card tells machines alone, as live numbers of the page."""
    return [
        page().words(name, quantity)
        if isinstance(quantity.value, str)
        else page().number(name, quantity, kind=kind)
        for name, (quantity, kind) in quantities.items()
        if isinstance(quantity, Quantity)
    ]


def _facts(texts: Mapping[str, str]) -> str:
    """The line beneath the answer. What no control moves is said to be of the defaults, once the
    reader has moved one.
    """
    items = "".join(f"<div><dt>{label}</dt><dd>{text}</dd></div>" for label, text in texts.items())
    return f"<dl{_note(texts)}>{items}</dl>"


def _folded(texts: Mapping[str, str]) -> str:
    """The same in one line, which shows all of it when it is unfolded, and what has no label."""
    labeled = [(label, text) for label, text in texts.items() if label != ALSO]
    last = {ERROR: ' class="sr-error"'}
    items = " ".join(
        f"<span{last.get(label, '')}><b>{label}</b> {text}</span>" for label, text in labeled
    )
    more = f"<p>{texts[ALSO]}</p>" if ALSO in texts else ""
    return (
        f'<details class="sr-facts"><summary{_note(texts)}><span>{items}</span></summary>{more}'
        "</details>"
    )


def _note(texts: Mapping[str, str]) -> str:
    """What is said of those that no control moves, as an attribute; empty if there are none."""
    fixed = [
        label.lower()
        for label in ("Range", ERROR)
        if label in texts and "data-sr-signal" not in texts[label]
    ]
    is_are = "are" if len(fixed) > 1 else "is"
    return (
        f' data-sr-note="Your case. The {" and ".join(fixed)} {is_are} of the chapter\'s defaults."'
        if fixed
        else ""
    )


def beneath_strip(display: Display, *names: str) -> Display:
    """A display beneath a strip of some of the controls, those that move it; a page without any
    strip puts one of all above its first live chart. All strips of a page move together.

    Raises
    ------
    LookupError : no control of this name; the nearest is offered.
    """
    controls = page()
    there = [name for name in vars(controls.given) if controls.describe(name)]
    for name in names:
        if name not in there:
            nearest(name, there, "control of this chapter")
    box = (
        '<div class="sr-controls"'
        f' data-sr-names="{" ".join(names)}">{page_model(controls, names)}</div>'
    )
    return display.marked(box + display.markup)
