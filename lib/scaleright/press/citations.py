"""How sources are written and sorted: titles as they are, by author, each under the key by which
tables name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pybtex.plugin
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.template import field, sentence

NAME = "scaleright"


class Keys(BaseLabelStyle):
    """A source is called by its key."""

    def format_labels(self, sorted_entries: Iterable) -> Iterator[str]:
        """The keys of entries."""
        return (entry.key for entry in sorted_entries)


class Style(Plain):
    """Sorted by author and year; titles keep their capitals, which other styles take away."""

    default_label_style = Keys

    def format_title(self, e, which_field, as_sentence=True):  # noqa: D102  of the style above
        title = field(which_field)
        return sentence[title] if as_sentence else title


def register() -> None:
    """Make the style known to Sphinx by its name."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", NAME, Style)
