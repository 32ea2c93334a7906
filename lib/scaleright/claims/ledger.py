"""The claims of `data/claims.csv`, recomputed and judged, as tables and as text."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from types import MappingProxyType, ModuleType

import pandas as pd

from scaleright import catalog
from scaleright.claims.documents import documents, named
from scaleright.claims.verdicts import (
    HOLD,
    MEANINGS,
    VERDICTS,
    Claim,
    Finding,
    Recomputed,
    judge,
)
from scaleright.names import one_of
from scaleright.units import si, significant, usd


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
def _recomputed(claim_id: str) -> Recomputed | None:
    """What a claim is found to be; None where nothing recomputes it."""
    known = recomputations()
    return known[claim_id]() if claim_id in known else None


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
    written = [judge(c, _recomputed(c.id)) for c in chosen]
    return written if chapter or ids else [*written, *generated()]


def _tail(unit: str) -> str:
    """What stands behind a value in this unit."""
    if unit.startswith("USD"):
        return unit.removeprefix("USD").replace("/", " a ").replace(" a h", " an hour")
    return {"FLOP": "", "FLOP/s": "", "B": "", "parameters": " billion parameters"}.get(
        unit, f" {unit}"
    )


def _said(value: float, unit: str) -> str:
    """A claimed or recomputed value in the words of its unit."""
    if unit.startswith("USD"):
        return usd(value) + _tail(unit)
    if unit in ("FLOP", "FLOP/s", "B"):
        return si(value, unit)
    return (significant(value / 1e9) if unit == "parameters" else _number(value)) + _tail(unit)


def _number(value: float) -> str:
    return (
        si(value, "").strip()
        if abs(value) >= 1e7
        else f"{value:.3g}"
        if abs(value) < 1000
        else significant(value)
    )


def interval(low: float, high: float, unit: str) -> str:
    """An interval as a person says it; an infinite end is "more than" or "less than".

    >>> interval(4, 6, "h/day"), interval(1e12, math.inf, "B"), interval(0.18, 0.35, "USD/h")
    ('4 to 6 h/day', 'more than 1.00 TB', '$0.18 to $0.35 an hour')
    """
    if math.isinf(high):
        return f"more than {_said(low, unit)}"
    if math.isinf(low):
        return f"less than {_said(high, unit)}"
    first, last = _said(low, unit), _said(high, unit)
    return last if first == last else f"{first.removesuffix(_tail(unit))} to {last}"


def _off(finding: Finding) -> str:
    if finding.factor is None or finding.verdict in HOLD:
        return ""
    high = finding.factor > 1
    ratio = finding.factor if high else 1 / finding.factor if finding.factor else math.inf
    return (
        f", {significant(ratio, 2)} times too {'high' if high else 'low'}" if ratio >= 1.05 else ""
    )


def table(
    chapter: str | None = None, ids: tuple[str, ...] = (), reproduced: bool | None = None
) -> pd.DataFrame:
    """The judged claims as a reader's table: those of a chapter, those named, those that hold or
    the others.
    """
    chosen = [f for f in findings(chapter, ids) if reproduced in (None, f.verdict in HOLD)]
    return pd.DataFrame(
        [
            {
                "claim": f"{documents()[f.claim.source].short}: {f.claim.statement}",
                "claimed": interval(f.claim.low, f.claim.high, f.claim.unit),
                "recomputed": (
                    interval(f.recomputed.low, f.recomputed.high, f.claim.unit)
                    if f.recomputed
                    else ""
                ),
                "verdict": f"{f.verdict}{_off(f)}",
                "why": f.line(),
            }
            for f in chosen
        ]
    )


def counts(found: list[Finding]) -> dict[str, int]:
    """How many claims have each verdict, in the order of `VERDICTS`."""
    return {v: n for v in VERDICTS if (n := sum(f.verdict == v for f in found))}


def report(as_json: bool = False) -> str:
    """The whole ledger as text, or as JSON with calls and inputs."""
    found = findings()
    if as_json:
        rows = [asdict(f) | {"why": f.line()} for f in found]
        finite = lambda v: None if isinstance(v, float) and not math.isfinite(v) else v
        clean = lambda o: (
            {k: clean(v) for k, v in o.items()}
            if isinstance(o, dict)
            else [clean(v) for v in o]
            if isinstance(o, (list, tuple))
            else finite(o)
        )
        return json.dumps(
            {"verdicts": counts(found), "claims": clean(rows)},
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )
    lines = [
        f"{f.claim.id}: {f.claim.statement}\n    claimed"
        f" {interval(f.claim.low, f.claim.high, f.claim.unit)}"
        + (
            f", {'published' if f.recomputed.traced else 'recomputed'}"
            f" {interval(f.recomputed.low, f.recomputed.high, f.claim.unit)}"
            if f.recomputed
            else ""
        )
        + f"\n    {f.verdict}{_off(f)}: {f.line()}"
        for f in found
    ]
    counted = (f"{n:4d} {v}: {MEANINGS[v]}" for v, n in counts(found).items())
    return "\n".join([*lines, "", *counted, f"{len(found):4d} claims"])
