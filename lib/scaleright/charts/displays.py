"""What a cell shows, as MIME types, and what the page's script needs to compute of it."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any

from scaleright.charts.live import Controls, LiveNumber, page
from scaleright.charts.machine import rounded
from scaleright.charts.row_sets import row_set
from scaleright.outputs import PAGE_MIME, page_json


class Display:
    """An output of a cell as a bundle of MIME types."""

    def __init__(self, bundle: dict[str, Any]):
        self.bundle = bundle

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        return self.bundle

    def _repr_html_(self) -> str | None:
        return self.bundle.get("text/html")

    @property
    def markup(self) -> str:
        """What a page of the book shows."""
        return self.bundle[self._home]

    def marked(self, markup: str) -> "Display":
        """The same with other markup."""
        return Display(self.bundle | {self._home: markup})

    @property
    def _home(self) -> str:
        return PAGE_MIME if PAGE_MIME in self.bundle else "text/html"

    def __repr__(self) -> str:
        return self.bundle["text/plain"]

    __str__ = __repr__


def page_model(
    controls: Controls, names: Iterable[str], defined: Iterable[str] = (), **more: Any
) -> str:
    """What the page's script needs to draw these controls and to compute these definitions, but for
    what an earlier output of the page has told.
    """
    defined = list(defined)
    if rows := [*more.pop("rows", ()), *controls.sets.untold(defined)]:
        more["rows"] = rows
    model = controls.payload(names, controls.untold(defined)) | more
    return f'<script type="application/json" class="sr-model">{page_json(rounded(model))}</script>'


def live_model(numbers: Iterable[Any]) -> str:
    """What the page's script needs to compute those that are live numbers, if any is."""
    words = [f"{number.name}_text" for number in numbers if isinstance(number, LiveNumber)]
    return page_model(page(), *page().used_in(*words)) if words else ""


def row_model(controls: Controls, name: str) -> str:
    """What the page's script needs to compute rows, see `Signals.add`."""
    rows = row_set(controls, name)
    used = controls.used_in(*(formula["expr"] for formula in rows["formulas"]))
    return page_model(controls, *used, rows=[rows])


def plain_text(text: str) -> str:
    """HTML as plain text."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text))).strip()


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """HTML with each `{name}` replaced by its live number, or by its escaped words."""
    return text.format(
        **{
            k: v.__html__() if hasattr(v, "__html__") else html.escape(str(v))
            for k, v in numbers.items()
        }
    )
