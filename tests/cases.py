"""Cases of chapters, as their cells have them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from scaleright.press.texts import declared
from scaleright.quantity import given


def defaults(chapter: str) -> dict[str, Any]:
    """What a chapter's parameters are where nobody sets them, but for those that are none."""
    return {of.name: of.default for of in declared(chapter) if of.default is not None}


def quantities(values: Mapping[str, Any]) -> SimpleNamespace:
    """A case whose values a reader may change."""
    return SimpleNamespace(**{name: given(name, value) for name, value in values.items()})
