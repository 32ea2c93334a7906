"""What a chart's specification carries of the page's controls."""

import math
from typing import Any

from scaleright.charts.expressions import expressions_of
from scaleright.charts.inputs import bound
from scaleright.charts.live import Controls
from scaleright.quantity.graph import value_of


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
