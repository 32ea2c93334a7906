"""What a cell shows: a chart, the answer card (a table: `tables`); each as text, as HTML and, for
charts, as Vega-Lite.

Outputs are byte-stable: numbers have the digits of a `figure`, ids are hashes of what they
name, and nothing refers to another host. In the book the page's own script draws the specification;
a viewer without scripts (GitHub, a terminal) shows the text alternative. On Colab, and where
`SCALERIGHT_CHARTS=altair` is set, as on Binder, Altair draws the charts instead.
"""

import hashlib
import html
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from scaleright.charts import theme
from scaleright.charts.live import Controls, LiveNumber, page
from scaleright.charts.machine import answer, rounded
from scaleright.charts.templates import callers_names, slots
from scaleright.outputs import ANSWER_MIME, SPEC_SCRIPT, VEGALITE_MIME, page_json
from scaleright.quantity import Quantity, given
from scaleright.quantity.graph import value_of


class Display:
    """An output of a cell as a bundle of MIME types."""

    def __init__(self, bundle: dict[str, Any]):
        self.bundle = bundle

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return self.bundle

    def _repr_html_(self) -> str:
        return self.bundle["text/html"]

    def __repr__(self) -> str:
        return self.bundle["text/plain"]

    __str__ = __repr__


def specification(chart: Any, alt_text: str, controls: Controls | None = None) -> dict:
    """The finished Vega-Lite specification of a chart: theme, live parameters, rounded numbers."""
    if isinstance(chart, dict):
        spec = dict(chart)
    else:
        with alt.theme.enable("none"), alt.data_transformers.enable("default", max_rows=None):
            spec = chart.to_dict(validate=False)  # the press checks what is finished
    spec.pop("$schema", None)
    spec["config"] = theme.config() | spec.get("config", {})
    spec["description"] = alt_text
    spec.setdefault("width", "container")
    if spec["width"] == "container":
        # Labels at the ends of bars reach beyond the plot; fit again whenever a control changes
        # them.
        spec.setdefault("autosize", {"type": "fit-x", "contains": "padding", "resize": True})
    if controls is not None:
        spec = controls.attach(spec)
    return _named_data(rounded(spec))


def _named_data(spec: dict) -> dict:
    """Name data sets by order: Altair's names hash unrounded numbers and would differ between
    machines.
    """
    text = json.dumps(spec)
    for order, name in enumerate(spec.get("datasets", {}), 1):
        text = text.replace(f'"{name}"', f'"rows-{order}"')
    for order, name in enumerate(dict.fromkeys(re.findall(r'"(view_\d+)"', text)), 1):
        text = text.replace(f'"{name}"', f'"view-{order}"')
    return json.loads(text)


def show(
    chart: Any,
    alt: str,
    name: str | None = None,
    caption: str | None = None,
    controls: Controls | None = None,
) -> Display:
    """A chart for the page.

    Parameters
    ----------
    chart : an Altair chart (or a Vega-Lite dict); its width is the column's.
    alt : what the chart shows, in a sentence, for those who do not see it.
    name : a short name by which tests and links find it.
    caption : HTML under the chart.
    controls : the live controls on whose expressions the chart is built; those that it uses are
        found by name.

    Raises
    ------
    ValueError : if the text alternative is missing.

    >>> import pandas, altair
    >>> shown = show(altair.Chart(pandas.DataFrame({"x": [1]})).mark_bar().encode(x="x:Q"),
    ...     alt="One bar of length 1.")
    >>> shown, sorted(shown.bundle)
    (One bar of length 1., ['application/vnd.vegalite.v6+json', 'text/html', 'text/plain'])
    """
    if not alt or len(alt.split()) < 3:
        raise ValueError(
            f"show: alt = {alt!r} does not tell what the chart shows; write a sentence"
        )
    spec = specification(chart, alt, controls)
    if os.environ.get("SCALERIGHT_CHARTS") == "altair" or "google.colab" in sys.modules:
        return Display({"text/plain": alt, "text/html": _drawn_by_altair(spec)})
    text = page_json(spec)
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    label = html.escape(alt, quote=True)
    height = spec["height"] if isinstance(spec.get("height"), (int, float)) else 240
    figure = (
        f'<figure class="sr-chart" id="sr-{key}"'
        + (f' data-sr-name="{html.escape(name, quote=True)}"' if name else "")
        + ">"
        f'<div class="sr-view" role="img" aria-label="{label}" style="min-height:{height:g}px"><p'
        f' class="sr-alt">{label}</p></div>'
        f"{SPEC_SCRIPT}</script>"
        + (f"<figcaption>{caption}</figcaption></figure>" if caption else "</figure>")
    )
    return Display({"text/plain": alt, "text/html": figure, VEGALITE_MIME: spec})


def _drawn_by_altair(spec: dict) -> str:
    """A chart with Altair's own script, for a notebook that was opened far from the book (Binder,
    Colab).
    """
    from altair.utils.html import spec_to_html

    versions = {
        "vega_version": alt.VEGA_VERSION,
        "vegalite_version": alt.VEGALITE_VERSION,
        "vegaembed_version": alt.VEGAEMBED_VERSION,
    }
    place = f"sr-{hashlib.sha256(page_json(spec).encode()).hexdigest()[:12]}"
    return spec_to_html(
        spec, mode="vega-lite", fullhtml=False, template="universal", output_div=place, **versions
    )


def _model(
    controls: Controls, names: Iterable[str], defined: Iterable[str] = (), **more: Any
) -> str:
    """What the page's script needs to draw these controls and to compute these definitions, but for
    what an earlier output of the page has told.
    """
    model = controls.payload(names, controls.untold(defined)) | more
    return f'<script type="application/json" class="sr-model">{page_json(rounded(model))}</script>'


def _plain(text: str) -> str:
    """HTML as plain text."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text))).strip()


def _filled(text: str, numbers: Mapping[str, Any]) -> str:
    """HTML with each `{name}` replaced by its live number, or by its escaped words."""
    return text.format(
        **{
            k: v.__html__() if hasattr(v, "__html__") else html.escape(str(v))
            for k, v in numbers.items()
        }
    )


def live_model(controls: Controls | None, numbers: Iterable[Any]) -> str:
    """What the page's script needs to compute live numbers."""
    if controls is None:
        return ""
    return _model(
        controls,
        *controls.used_in(*(f"{n.name}_text" for n in numbers if isinstance(n, LiveNumber))),
    )


def row_model(controls: Controls, name: str) -> str:
    """What the page's script needs to compute rows, see `Signals.add`."""
    rows = row_set(controls, name)
    used = controls.used_in(*(formula["expr"] for formula in rows["formulas"]))
    return _model(controls, *used, rows=[rows])


def row_set(controls: Controls, name: str) -> dict[str, Any]:
    """Rows as the page computes them: their values, and the formulas of further fields in order."""
    found = controls.signals.rows[name]
    formulas = controls.formulas(found.wanted, {given(field, None): field for field in found.given})
    columns = zip(*(values.tolist() for values in found.given.values()), strict=True)
    return {
        "name": name,
        "values": [dict(zip(found.given, row, strict=True)) for row in columns],
        "formulas": [{"as": field, "expr": text} for field, text in formulas.items()],
    }


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
        return Display(
            {
                "text/plain": _plain(found.now),
                "text/html": f'<p class="sr-said">{found.markup}</p>'
                + live_model(page(), found.numbers),
            }
        )
    filled = _filled(text, numbers)
    markup = f'<p class="sr-said">{filled}</p>{live_model(controls, numbers.values())}'
    return Display({"text/plain": _plain(filled), "text/html": markup})


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
    now = markup = _filled(plain[""], filled)
    if when is None:
        return Said(markup, now, filled, [*filled.values()])
    plain, others = slots({"": otherwise}, names, controls)
    other, name = _filled(plain[""], others), controls.signal(when)
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
        label: _filled(f"{{_{label}}}" if f"_{label}" in alone else str(value), numbers | alone)
        for label, value in facts.items()
    }
    if filled is None:
        filled = sentence = _filled(sentence, numbers)
    model = live_model(controls, [*live, *numbers.values(), *alone.values(), *unsaid])
    others = {name: (value_of(value), kind) for name, (value, kind) in (quantities or {}).items()}
    machine = answer(_plain(sentence), numbers | alone, others, headline)
    return _card(filled, sentence, texts, model, machine)


def _card(
    markup: str, sentence: str, facts: Mapping[str, str], model: str, machine: dict
) -> Display:
    """The answer as a card, as text and for machines."""
    spoken = [
        f"{label}{'' if label == 'Data as of' else ':'} {_plain(text)}."
        for label, text in facts.items()
    ]
    card = (
        '<section class="sr-answer" aria-label="The answer"><p class="sr-sentence"'
        f' aria-live="polite">{markup}</p>{_facts(facts)}{model}</section>'
    )
    plain = " ".join([_plain(sentence), *spoken])
    return Display({"text/plain": plain, "text/html": card, ANSWER_MIME: machine})


def _unsaid(quantities: Mapping[str, tuple[Any, str]]) -> list[LiveNumber]:
    """What a card tells machines alone, as live numbers of the page."""
    return [
        page().number(name, quantity, kind=kind)
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
        f' data-sr-names="{" ".join(names)}">{_model(controls, names)}</div>'
    )
    return Display({"text/plain": f"Controls: {', '.join(names)}", "text/html": box})
