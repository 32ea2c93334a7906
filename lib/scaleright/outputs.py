"""What an output of a cell carries, by MIME type, and the markup that charts and press both write.
Imports nothing heavy: a build reads outputs without tables and charts.
"""

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ANSWER_MIME = "application/vnd.scaleright.answer+json"
TABLE_MIME = "application/vnd.dataresource+json"
TABLES_MIME = "application/vnd.scaleright.tables+json"
VEGALITE_MIME = "application/vnd.vegalite.v5+json"
"""By which JupyterLab and VS Code know what they can draw; they know no newer name of it, and what
charts use has the same meaning in Vega-Lite 5 and 6.
"""
PAGE_MIME = "application/vnd.scaleright.page"
"""What a page of the book shows, as HTML, where a notebook is to show something else: a chart's
specification, which it would not draw if there were HTML; the one of two sentences that holds.
"""
SPEC_SCRIPT = '<script type="application/json" class="sr-spec">'
"""Where the press puts the specification of a chart, which an output carries once, beside this."""


@dataclass(frozen=True)
class Sheet:
    """A table as a room of the library hands it to a page.

    rows : a frame, its columns under the words that head them
    caption : what it holds
    summary : what opens it, if it is long; it stands open otherwise
    formats : how columns are said, as `charts.table` takes it
    """

    rows: Any
    caption: str
    summary: str = ""
    formats: Mapping[str, Any] = field(default_factory=dict)


def page_json(value: Any) -> str:
    """Compact JSON that is safe inside a script element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def table_box(caption: str, head: str, body: str, keys: bool) -> str:
    """A table's markup around its cells; with `keys`, for short names, the first column stays in
    view.
    """
    box = (
        f'<div class="sr-table" role="region" aria-label="{html.escape(caption, quote=True)}"'
        ' tabindex="0">'
    )
    box += '<table class="sr-keys">' if keys else "<table>"
    box += f"<caption><span>{html.escape(caption)}</span></caption><thead><tr>{head}</tr></thead>"
    return f"{box}\n<tbody>\n{body}</tbody></table></div>"
