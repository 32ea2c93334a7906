"""The terms of owning that a page describes, by the library."""

from __future__ import annotations

from types import SimpleNamespace

from scaleright.costs.ownership import Ownership
from scaleright.costs.uncertainty import chip_terms, chosen_terms


def owned(values: dict) -> Ownership:
    """The terms of owning that the controls of `buy_or_rent` describe."""
    return chosen_terms(SimpleNamespace(**values), chip_terms(values["accelerator"]))
