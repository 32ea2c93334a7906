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
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from scaleright.charts import theme
from scaleright.charts.live import Controls, LiveNumber, page
from scaleright.charts.machine import ANSWER_MIME, answer, rounded
from scaleright.charts.templates import callers_names, slots
from scaleright.quantity import Quantity
from scaleright.quantity.graph import value_of

VEGALITE = "application/vnd.vegalite.v6+json"


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


def page_json(value: Any) -> str:
    """Compact JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


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
        f'<script type="application/json" class="sr-spec">{text}</script>'
        + (f"<figcaption>{caption}</figcaption></figure>" if caption else "</figure>")
    )
    return Display({"text/plain": alt, "text/html": figure, VEGALITE: spec})


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


def _model(controls: Controls, names: Iterable[str], defined: Iterable[str] = ()) -> str:
    """What the page's script needs to draw these controls and to compute these definitions."""
    return (
        '<script type="application/json"'
        f' class="sr-model">{page_json(rounded(controls.payload(names, defined)))}</script>'
    )


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


def sentence(text: str, controls: Controls | None = None, **numbers: LiveNumber) -> Display:
    """A paragraph of the chapter whose numbers and words follow the controls.

    Parameters
    ----------
    text : HTML with `{name}` for each of `numbers`, or, where there are none, a template that names
        the chapter's quantities (see `templates`).
    controls : the live controls of which the numbers are made (`controls.number`,
        `controls.words`).
    numbers : live numbers, or anything to be written as it is.

    >>> sentence("Rent of <b>{chip}</b> is {cost}.", chip="H100 & co", cost="$2")
    Rent of H100 & co is $2.
    """
    if controls is None and not numbers and "{" in text:
        controls = page()
        plain, numbers = slots({"said": text}, callers_names(), controls)
        text = plain["said"]
    filled = _filled(text, numbers)
    markup = f'<p class="sr-said">{filled}</p>{live_model(controls, numbers.values())}'
    return Display({"text/plain": _plain(filled), "text/html": markup})


def answer_card(
    sentence: str,
    range: str | None = None,
    as_of: Any = None,
    model_error: str | None = None,
    source: str | None = None,
    controls: Controls | None = None,
    quantities: Mapping[str, tuple[Any, str]] | None = None,
    headline: str | None = None,
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
    numbers : live numbers, or anything to be written as it is.

    >>> answer_card("It costs <b>{cost}</b>.", range="{low} to $3", as_of="2026-11", cost="$2",
    ...     low="$1")
    It costs $2. Range: $1 to $3. Data as of 2026-11.
    """
    facts = {"Range": range, "Data as of": as_of, "Model error": model_error, "Source": source}
    facts = {label: value for label, value in facts.items() if value is not None}
    unsaid = _unsaid(quantities or {})
    if controls is None and not numbers and "{" in sentence:
        controls = page()
        plain, numbers = slots({"": sentence} | facts, callers_names(), controls)
        sentence, facts = plain.pop(""), plain
    alone = {f"_{label}": value for label, value in facts.items() if isinstance(value, LiveNumber)}
    texts = {
        label: _filled(f"{{_{label}}}" if f"_{label}" in alone else str(value), numbers | alone)
        for label, value in facts.items()
    }
    filled = _filled(sentence, numbers)
    model = live_model(controls, [*numbers.values(), *alone.values(), *unsaid])
    card = (
        '<section class="sr-answer" aria-label="The answer"><p class="sr-sentence"'
        f' aria-live="polite">{filled}</p>{_facts(texts)}{model}</section>'
    )
    spoken = [
        f"{label}{'' if label == 'Data as of' else ':'} {_plain(text)}."
        for label, text in texts.items()
    ]
    others = {name: (value_of(value), kind) for name, (value, kind) in (quantities or {}).items()}
    machine = answer(_plain(filled), numbers | alone, others, headline)
    return Display(
        {"text/plain": " ".join([_plain(filled), *spoken]), "text/html": card, ANSWER_MIME: machine}
    )


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
