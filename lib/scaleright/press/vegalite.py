"""Whether what a chapter shows is sound Vega-Lite, by the schema that comes with Altair.

Every finished chart is checked, with its data and controls. Altair's own check, in Python and of
its part alone, took a fifteenth of a build; it is asked for its words where a chart fails.
"""

from __future__ import annotations

import functools
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema_rs

_SCHEMA = "vegalite/v6/schema/vega-lite-schema.json"


@functools.cache
def _validator() -> jsonschema_rs.Draft7Validator:
    altair = find_spec("altair")  # not imported: that takes half a second
    assert altair and altair.origin
    schema = json.loads((Path(altair.origin).parent / _SCHEMA).read_text(encoding="utf-8"))
    return jsonschema_rs.Draft7Validator(_quoted(schema))


def _quoted(schema: Any) -> Any:
    """A schema whose references are URIs: its definitions have names such as `Dict<number>`."""
    if isinstance(schema, list):
        return [_quoted(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: f"#{quote(part[1:])}" if key == "$ref" and isinstance(part, str) else _quoted(part)
        for key, part in schema.items()
    }


def fault(spec: dict) -> str | None:
    """What is wrong with a chart; None if nothing is.

    >>> bars = {"mark": "bar", "data": {"values": []}}
    >>> fault(bars), fault(bars | {"mark": "barr"}) is None
    (None, False)
    """
    if _validator().is_valid(spec):
        return None
    import jsonschema
    from altair.vegalite.v6.schema.core import Root

    try:
        Root.validate(spec)
    except jsonschema.ValidationError as error:
        return f"{error.json_path}: {error.message}"
    return next(_validator().iter_errors(spec)).message
