"""How sources are written and sorted: titles as they are, by author, each under the key by which
tables name it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

import pybtex.plugin
from pybtex.database import Entry
from pybtex.style import FormattedEntry
from pybtex.style.formatting.plain import Style as Plain
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.template import FieldIsMissing, field, sentence

from scaleright.catalog import shared

NAME = "scaleright"


class Keys(BaseLabelStyle):
    """A source is called by its key."""

    def format_labels(self, sorted_entries: Iterable) -> Iterator[str]:
        """The keys of entries."""
        return (entry.key for entry in sorted_entries)


class Style(Plain):
    """Sorted by author and year; titles keep their capitals, which other styles take away."""

    default_label_style = Keys
    _written: Mapping[str, FormattedEntry] = MappingProxyType({})

    def __init__(self, **given):
        super().__init__(**given)
        self._in_order, self.sort = self.sort, self._sort

    def _sort(self, entries: Iterable[Entry]) -> list[Entry]:
        """In their order: Sphinx, which asks for all of them, then asks for each of them twice."""
        found = self._in_order(entries)
        self._written = _written(found)
        return found

    def format_entry(self, label, entry, bib_data=None) -> FormattedEntry:  # noqa: D102  of the style above
        return self._written.get(label) or super().format_entry(label, entry, bib_data)

    def format_title(self, e, which_field, as_sentence=True):  # noqa: D102  of the style above
        title = field(which_field)
        return sentence[title] if as_sentence else title


@shared
def _written(entries: list[Entry]) -> Mapping[str, FormattedEntry]:
    """All sources as the book writes them, by key, but for those that lack a field."""
    style, found = Style(), {}
    for entry in entries:
        with suppress(FieldIsMissing):
            found[entry.key] = style.format_entry(entry.key, entry)
    return MappingProxyType(found)


def register() -> None:
    """Make the style known to Sphinx by its name."""
    pybtex.plugin.register_plugin("pybtex.style.formatting", NAME, Style)
