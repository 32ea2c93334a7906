"""The claims of `data/claims.csv`, recomputed and judged."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType

from scaleright import catalog
from scaleright.catalog.findings import state
from scaleright.claims.entries import named
from scaleright.claims.verdicts import (
    VERDICTS,
    Claim,
    Finding,
    Recomputed,
    judge,
)
from scaleright.names import one_of


def _modules() -> list[ModuleType]:
    package = importlib.import_module("scaleright.claims")
    return [
        importlib.import_module(module.name)
        for module in pkgutil.iter_modules(package.__path__, "scaleright.claims.")
    ]


@catalog.remembered
def recomputations() -> Mapping[str, Callable[[], Recomputed]]:
    """Every recomputation by claim id, from the modules beside this one.

    A function has the name of its claim: `s2_lead_time` recomputes S2-lead-time. What fits on a
    line stands in the module's table `RECOMPUTED` instead.

    Raises
    ------
    ValueError : two of them recompute the same claim.
    """
    names = {claim.id.replace("-", "_").lower(): claim.id for claim in claims()}
    found: dict[str, Callable[[], Recomputed]] = {}
    for module in _modules():
        own = {names[name]: value for name, value in vars(module).items() if name in names}
        for more in (own, getattr(module, "RECOMPUTED", {})):
            if twice := found.keys() & more.keys():
                raise ValueError(f"claim {min(twice)} has two recomputations")
            found |= more
    return MappingProxyType(found)


@catalog.shared
def _recomputed(claim_id: str, of: str) -> Recomputed | None:
    """What a claim is found to be; None where nothing recomputes it.

    of : the state of the module that recomputes it, which no import of this one leads to
    """
    known = recomputations()
    return known[claim_id]() if claim_id in known else None


def _state(claim_id: str) -> str:
    known = recomputations()
    return state(known[claim_id].__module__) if claim_id in known else ""


_TOLD = ("statement", "call", "inputs", "why", "missing")
"""What a reader is told of a claim in words."""


@catalog.shared
def claims() -> tuple[Claim, ...]:
    """The rows of `data/claims.csv`; an empty end of an interval is open."""
    rows = catalog.table("claims").rename(columns={"claimed_low": "low", "claimed_high": "high"})
    rows = rows.fillna(
        dict.fromkeys(rows.columns, "") | {"low": -math.inf, "high": math.inf, "digits": 2}
    )
    told = {name: rows[name].map(named) for name in _TOLD}
    return tuple(Claim(**row) for row in rows.assign(**told).to_dict("records"))


def stated_interval(claim_id: str) -> tuple[float, float]:
    """What a source document states itself, for checks of a document against itself.

    Raises
    ------
    LookupError : no such claim.
    """
    by_id = {claim.id: claim for claim in claims()}
    claim = by_id[one_of(claim_id, by_id, "claim")]
    return claim.low, claim.high


def stated(claim_id: str) -> float:
    """The middle of what a source document states itself."""
    low, high = stated_interval(claim_id)
    return (low + high) / 2


def generated() -> list[Finding]:
    """Claims made by code from a document's tables, not written in `data/claims.csv`: `GENERATED`
    of the modules beside this one.
    """
    return [finding for module in _modules() for finding in getattr(module, "GENERATED", tuple)()]


def findings(chapter: str | None = None, ids: tuple[str, ...] = ()) -> list[Finding]:
    """Every claim judged, those generated last; or of the written ones those that a chapter
    explains, or those named.
    """
    chosen = [c for c in claims() if chapter in (None, c.chapter) and (not ids or c.id in ids)]
    written = [judge(c, _recomputed(c.id, _state(c.id))) for c in chosen]
    return written if chapter or ids else [*written, *generated()]


def counts(found: list[Finding]) -> dict[str, int]:
    """How many claims have each verdict, in the order of `VERDICTS`."""
    return {v: n for v in VERDICTS if (n := sum(f.verdict == v for f in found))}
