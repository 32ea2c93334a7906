"""Charts as a cell shows them: text, HTML and Vega-Lite.

Outputs are byte-stable: numbers have the digits of a `figure`, ids are hashes of what they
name, and nothing refers to another host. In the book the page's own script draws the specification;
a viewer without scripts (GitHub, a terminal) shows the text alternative. On Colab, and where
`SCALERIGHT_CHARTS=altair` is set, as on Binder, Altair draws the charts instead.
"""

from __future__ import annotations

import hashlib
import html
import json
import math
import os
import re
import sys
from typing import Any

from scaleright.charts import theme
from scaleright.charts.displays import Display, live_model
from scaleright.charts.expressions import expressions_of
from scaleright.charts.inputs import bound
from scaleright.charts.lean import alt
from scaleright.charts.live import Controls, LiveNumber, current, page
from scaleright.charts.machine import rounded
from scaleright.charts.templates import callers_names, filled
from scaleright.outputs import PAGE_MIME, SPEC_SCRIPT, VEGALITE_MIME, page_json
from scaleright.quantity import Quantity
from scaleright.quantity.graph import value_of

# What a chart's specification carries of the page's controls


def attached(spec: dict, controls: Controls) -> dict:
    """A Vega-Lite specification with the parameters, bound to inputs, that its expressions use.

    A definition that reads rows of the page stands there with its value: rows are not at hand where
    a chart stands alone.
    """
    names, defined = controls.used_in(
        *expressions_of(
            {key: spec[key] for key in spec if key not in ("config", "data", "datasets")}
        )
    )
    if not names and not defined:
        return spec
    params = [
        {"name": name, "value": entry["value"], "bind": bound(entry)}
        for name in names
        if (entry := controls.describe(name))
    ]
    entries = {name: controls._defined[name] for name in defined}
    of_rows = {name for name, of in entries.items() if controls.sets.reads(of["expr"])}
    params += [
        {"name": name, "value": _plain(controls, name)} if name in of_rows else entry
        for name, entry in entries.items()
    ]
    taken = {entry["name"] for entry in params}
    params += [entry for entry in spec.get("params", []) if entry.get("name") not in taken]
    # by name: a definition stands among the parameters
    told = [entries[name] if name in of_rows else name for name in defined]
    told = controls.payload(names, ()) | {"defined": told}
    if rows := controls.sets.untold(defined):
        told["rows"] = rows
    usermeta = spec.get("usermeta", {}) | {"scaleright": told}
    return spec | ({"params": params} if params else {}) | {"usermeta": usermeta}


def _plain(controls: Controls, name: str) -> Any:
    """The value of a definition at the chapter's case; what is no number is nothing."""
    value = value_of(controls.signals.known[name])
    found = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(found, list):
        return [None if isinstance(x, float) and math.isnan(x) else x for x in found]
    return found


WIDTH = 680
"""Pixels of the book's column, for which a chart is laid out where none are known."""


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
    if "width" not in spec:
        # Labels at the ends of bars reach beyond the plot; fit again whenever a control changes
        # them. The page's script gives such a chart the room that there is.
        fit = {"type": "fit-x", "contains": "padding", "resize": True}
        spec = {"autosize": fit, **spec, "width": WIDTH}
    if controls is not None:
        spec = attached(spec, controls)
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
) -> Display:
    """A chart for the page.

    Parameters
    ----------
    chart : an Altair chart (or a Vega-Lite dict); its width is the column's.
    alt : what the chart shows, in a sentence, for those who do not see it; one that names
        quantities of the chapter (see `templates`) follows the controls.
    name : a short name by which tests and links find it.
    caption : HTML under the chart.

    Raises
    ------
    ValueError : if the text alternative is missing.

    >>> import pandas, altair
    >>> shown = show(altair.Chart(pandas.DataFrame({"x": [1]})).mark_bar().encode(x="x:Q"),
    ...     alt="One bar of length 1.")
    >>> shown, sorted(shown.bundle)
    (One bar of length 1., ['application/vnd.scaleright.page', 'application/vnd.vegalite.v5+json',
    'text/plain'])
    """
    if not alt or len(alt.split()) < 3:
        raise ValueError(
            f"show: alt = {alt!r} does not tell what the chart shows; write a sentence"
        )
    told = filled(alt, callers_names()) if "{" in alt else alt
    alt = str(told.value) if isinstance(told, Quantity) else told
    spec = specification(chart, alt, current())
    if os.environ.get("SCALERIGHT_CHARTS") == "altair" or "google.colab" in sys.modules:
        return Display({"text/plain": alt, "text/html": _drawn_by_altair(spec)})
    text = page_json(spec)
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    label = html.escape(alt, quote=True)
    words = page().words(page().signal(told), told) if isinstance(told, Quantity) else None
    height = spec["height"] if isinstance(spec.get("height"), (int, float)) else 240
    figure = (
        f'<figure class="sr-chart" id="sr-{key}"'
        + (f' data-sr-name="{html.escape(name, quote=True)}"' if name else "")
        + ">"
        f'<div class="sr-view" role="img" aria-label="{label}"{_following(words)}'
        f' style="min-height:{height:g}px"><p class="sr-alt">{label}</p></div>'
        f"{SPEC_SCRIPT}</script>"
        + (f"<figcaption>{caption}</figcaption></figure>" if caption else "</figure>")
        + live_model([words])
    )
    return Display({"text/plain": alt, PAGE_MIME: figure, VEGALITE_MIME: spec})


def _following(words: LiveNumber | None) -> str:
    """The attribute of a view whose text alternative follows the controls."""
    return f' data-sr-label="{words.name}"' if words else ""


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
