"""The answer card, sentences whose numbers follow the controls, and the strip of controls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scaleright.charts.displays import Display, fill, live_model, page_model, plain_text
from scaleright.charts.live import Controls, LiveNumber, page
from scaleright.charts.machine import answer
from scaleright.charts.templates import callers_names, slots
from scaleright.outputs import ANSWER_MIME, PAGE_MIME
from scaleright.quantity import Quantity
from scaleright.quantity.graph import value_of


def sentence(
    text: str,
    controls: Controls | None = None,
    provided: Quantity | None = None,
    otherwise: str = "",
    **numbers: LiveNumber,
) -> Display:
    """A paragraph of the chapter whose numbers and words follow the controls.

    Parameters
    ----------
    text : HTML with `{name}` for each of `numbers`, or, where there are none, a template that names
        the chapter's quantities (see `templates`).
    controls : the live controls of which the numbers are made (`controls.number`,
        `controls.words`).
    provided, otherwise : whether the template holds, and the one that is said where it does not.
    numbers : live numbers, or anything to be written as it is.

    >>> sentence("Rent of <b>{chip}</b> is {cost}.", chip="H100 & co", cost="$2")
    Rent of H100 & co is $2.
    """
    if controls is None and not numbers and "{" in text:
        found = said(text, provided, otherwise, callers_names())
        model, now = live_model(page(), found.numbers), f'<p class="sr-said">{found.now}</p>'
        return Display(
            {"text/plain": plain_text(found.now)}
            | _both(f'<p class="sr-said">{found.markup}</p>{model}', now, provided)
        )
    filled = fill(text, numbers)
    markup = f'<p class="sr-said">{filled}</p>{live_model(controls, numbers.values())}'
    return Display({"text/plain": plain_text(filled), "text/html": markup})


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
    controls = page()
    plain, filled = slots({"": text}, names, controls)
    now = markup = fill(plain[""], filled)
    if when is None:
        return Said(markup, now, filled, [*filled.values()])
    plain, others = slots({"": otherwise}, names, controls)
    other, name = fill(plain[""], others), controls.signal(when)
    parts = zip(("", "!"), (now, other), (not when.value, when.value), strict=True)
    markup = "".join(
        f'<span data-sr-when="{sign}{name}"{" hidden" * hidden}>{part}</span>'
        for sign, part, hidden in parts
    )
    numbers = [*filled.values(), *others.values(), controls.words(name, when)]
    if when.value:
        return Said(markup, now, filled, numbers)
    return Said(markup, other, others, numbers)


def answer_card(
    sentence: str,
    range: str | None = None,
    as_of: Any = None,
    model_error: str | None = None,
    source: str | None = None,
    controls: Controls | None = None,
    quantities: Mapping[str, tuple[Any, str]] | None = None,
    headline: str | None = None,
    provided: Quantity | None = None,
    otherwise: str = "",
    **numbers: LiveNumber,
) -> Display:
    """The answer, first on the page: one sentence with the number, its range, its data's date, the
    model's error.

    Parameters
    ----------
    sentence : HTML with `{name}` for each of `numbers`, or, where there are none, a template that
        names the chapter's quantities (see `templates`).
    range, as_of, model_error, source : short texts for the line beneath, with `{name}` as in the
        sentence, or a live number or word each; left out if None.
    controls : the live controls of which the numbers are made (`controls.number`).
    quantities : numbers that the card says only within words, for machines: name -> (value, kind of
        `say`), above all the ends of the range.
    headline : the number, among `numbers` and `quantities`, that a sweep draws unless it is told
        another.
    provided, otherwise : as in `sentence`.
    numbers : live numbers, or anything to be written as it is.

    >>> answer_card("It costs <b>{cost}</b>.", range="{low} to $3", as_of="2026-11", cost="$2",
    ...     low="$1")
    It costs $2. Range: $1 to $3. Data as of 2026-11.
    """
    facts = {"Range": range, "Data as of": as_of, "Model error": model_error, "Source": source}
    facts = {label: value for label, value in facts.items() if value is not None}
    unsaid = _unsaid(quantities or {})
    filled, live = None, list[LiveNumber]()
    if controls is None and not numbers and "{" in sentence:
        controls, names = page(), callers_names()
        found = said(sentence, provided, otherwise, names)
        filled, sentence, live = found.markup, found.now, [*found.numbers]
        facts, told = slots(facts, names, controls)
        numbers = {**found.slots, **told}
    alone = {f"_{label}": value for label, value in facts.items() if isinstance(value, LiveNumber)}
    texts = {
        label: fill(f"{{_{label}}}" if f"_{label}" in alone else str(value), numbers | alone)
        for label, value in facts.items()
    }
    if filled is None:
        filled = sentence = fill(sentence, numbers)
    model = live_model(controls, [*live, *numbers.values(), *alone.values(), *unsaid])
    others = {name: (value_of(value), kind) for name, (value, kind) in (quantities or {}).items()}
    machine = answer(plain_text(sentence), numbers | alone, others, headline)
    words = " ".join([plain_text(sentence), *_spoken(texts)])
    named = f' data-sr-headline="{headline}"' if headline else ""
    card, now = _card(filled, texts, model, named), _card(sentence, texts, "", named)
    shown = _both(card, now, provided)
    return Display({"text/plain": words, ANSWER_MIME: machine} | shown)


def _spoken(facts: Mapping[str, str]) -> list[str]:
    """The line beneath the answer as text."""
    return [
        f"{label}{'' if label == 'Data as of' else ':'} {plain_text(text)}."
        for label, text in facts.items()
    ]


def _card(sentence: str, facts: Mapping[str, str], model: str, named: str) -> str:
    """The answer as a card."""
    return (
        f'<section class="sr-answer" aria-label="The answer"{named}><p class="sr-sentence"'
        f' aria-live="polite">{sentence}</p>{_facts(facts)}{model}</section>'
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
    fixed = [
        label.lower()
        for label in ("Range", "Model error")
        if label in texts and "data-sr-signal" not in texts[label]
    ]
    is_are = "are" if len(fixed) > 1 else "is"
    note = (
        f' data-sr-note="Your case. The {" and ".join(fixed)} {is_are} of the chapter\'s defaults."'
        if fixed
        else ""
    )
    return f"<dl{note}>{items}</dl>"


def strip(controls: Controls, *names: str) -> Display:
    """The strip of controls, where the author wants it; without one, the page puts it above the
    first live chart.

    With names, only those: a second strip near a later chart. All strips of a page move together.
    """
    names = names or tuple(name for name in controls._parameters if controls.describe(name))
    for name in names:
        getattr(controls, name)  # refuses one that is no parameter
    box = (
        '<div class="sr-controls"'
        f' data-sr-names="{" ".join(names)}">{page_model(controls, names)}</div>'
    )
    return Display({"text/plain": f"Controls: {', '.join(names)}", "text/html": box})
