"""The lines of a parameters cell: what they say, and what is wrong with one that does not follow
the form.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from scaleright.parameters import rules
from scaleright.parameters.parameter import CATALOG, Parameter

FORM = (
    "name: float|int|str|bool [| None] = default  # meaning [unit] "
    "(low..high, or a | b, or accelerators, or models, or date first..last; names may stand before"
    " accelerators and models, as in a | accelerators; models may end in , or another model"
    ", or a config.json, or in both, accelerators in , or another accelerator)"
)
_LINE = re.compile(
    r"(?P<name>[A-Za-z]\w*)\s*:\s*(?P<type>float|int|str|bool)(?P<optional>\s*\|\s*None)?"
    r"\s*=\s*(?P<default>[^#=]+?)\s*"
    r"#\s*(?P<meaning>[^#=]+?)(?:\s*\[(?P<unit>[^\]]+)\])?(?:\s*\((?P<allowed>[^()]*)\))?\s*"
)
_ANNOTATED = re.compile(r"[A-Za-z]\w*\s*:[^=]+=[^=]")
_BOUNDS = re.compile(r"\s*(\S+?)\s*\.\.\s*(\S+)\s*")
_DAYS = re.compile(r"\s*date\s+(\d{4}-\d\d-\d\d)\s*\.\.\s*(today|\d{4}-\d\d-\d\d)\s*")
_CHECK = re.compile(r"#\s*check:(.*)", re.DOTALL)
_OWN = re.compile(r"(.*\S)\s*,\s+or\s+a\s+config\.json\s*", re.DOTALL)
_MORE = re.compile(r"(.*\S)\s*,\s+or\s+another\s+(model|accelerator)\s*", re.DOTALL)
_RESERVED = {"filled", "parameters", "table", "values"}


class DeclarationError(ValueError):
    """A parameters cell that does not follow the form."""


class Declared(tuple[Parameter, ...]):  # noqa: SLOT001, its rules stand beside it
    """The parameters of a chapter in their order, and the rules that their values keep together."""

    rules: tuple[rules.Rule, ...] = ()


def parse(source: str, where: str = "parameters cell", check_defaults: bool = True) -> Declared:
    """The parameters that the source of a parameters cell declares.

    Raises
    ------
    DeclarationError : a line does not follow the form or its default breaks its own bounds; names
        `where` and the line.

    >>> parse("hours: float = 8  # use per day [h/day] (0..24)")[0].high
    24.0
    """
    found: dict[str, Parameter] = {}
    checks: list[tuple[int, str]] = []
    for number, line in _declarations(source):
        if check := _CHECK.fullmatch(line):
            checks.append((number, check[1].strip()))
            continue
        try:
            parameter = _declaration(line)
            if parameter.name in found:
                raise ValueError(f"{parameter.name} is declared twice")
            if check_defaults:
                parameter.accept(parameter.default)
        except ValueError as error:
            raise DeclarationError(f"{where}, line {number}: {line.strip()!r}: {error}") from None
        found[parameter.name] = parameter
    if not found:
        raise DeclarationError(f"{where}: declares nothing; each line is {FORM}")
    declared = Declared(found.values())
    for number, check in checks:
        try:
            declared.rules += rules.read(check, found)
        except (ValueError, LookupError) as error:
            raise DeclarationError(f"{where}, line {number}: check: {check}: {error}") from None
    return _offered(declared)


def _offered(declared: Declared) -> Declared:
    """Parameters that offer of a catalog what the rules about them alone accept: nothing else can
    ever be answered. Who names another entry is told by the rule what it lacks.
    """
    alone = [rule for rule in declared.rules if len(rule.parameters) == 1]
    kept = []
    for of in declared:
        rules_of = [rule for rule in alone if of.catalog and rule.parameters == (of.name,)]
        told = (
            choice
            for choice in of.choices
            if not any(rule.refusal({of.name: choice}, {of.name: None}) for rule in rules_of)
        )
        kept.append(replace(of, choices=tuple(told)) if rules_of else of)
    offered = Declared(kept)
    offered.rules = declared.rules
    return offered


def _declarations(source: str) -> Iterator[tuple[int, str]]:
    """The declarations of a parameters cell, each on one line, with the number of its first."""
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(source.splitlines(), 1):
        if not line.strip():
            continue
        if not line.startswith("#") or _CHECK.match(line):
            lines.append((number, line))
        elif lines:  # a comment above the first declaration belongs to none
            first, declaration = lines[-1]
            lines[-1] = first, f"{declaration} {line.lstrip('# ')}"
    return iter(lines)


def _declaration(line: str) -> Parameter:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"expected {FORM}")
    name, kind = match["name"], match["type"]
    if name in _RESERVED:
        raise ValueError(f"{name} is taken, choose another name")
    try:
        default = ast.literal_eval(match["default"])
    except (ValueError, SyntaxError):
        raise ValueError(f"the default {match['default']} is no plain value") from None
    allowed = _allowed(kind, match["allowed"])
    if kind == "float" and not match["unit"]:
        raise ValueError("expected a [unit]; [1] for a share or a ratio")
    return Parameter(
        name,
        kind,
        default,
        match["meaning"].strip(),
        match["unit"] or "",
        optional=bool(match["optional"]),
        **allowed,
    )


def _allowed(kind: str, allowed: str | None) -> dict[str, Any]:
    """What the parenthesis at the end of a line allows, as fields of the parameter."""
    if kind in ("float", "int") and allowed and (bounds := _BOUNDS.fullmatch(allowed)):
        low, high = float(bounds[1]), float(bounds[2])
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"expected finite bounds low..high, not {allowed}")
        return {"low": low, "high": high}
    if kind == "str" and allowed and (found := _DAYS.fullmatch(allowed)):
        days = (found[1], found[2])
        for day in days:
            day == "today" or date.fromisoformat(day)
        return {"days": days}
    if kind == "str" and allowed and (found := _OWN.fullmatch(allowed)):
        return {**_allowed(kind, found[1]), "own": True}
    if kind == "str" and allowed and (found := _MORE.fullmatch(allowed)):
        return {**_allowed(kind, found[1]), "more": found[2]}
    *words, last = (of.strip() for of in (allowed or "").split("|"))
    if kind == "str" and last in CATALOG:
        from scaleright import catalog

        named = {"catalog": last, "words": tuple(words)}
        return {"choices": (*words, *getattr(catalog, last)()), **named}
    if kind != "bool" and allowed and "|" in allowed:
        typed = {"float": float, "int": int, "str": str}[kind]
        return {"choices": tuple(typed(choice.strip()) for choice in allowed.split("|"))}
    if allowed is not None or kind in ("float", "int"):
        forms = (
            "(low..high)"
            if kind in ("float", "int")
            else "(a | b), (accelerators), (models) or (date first..last)"
        )
        raise ValueError(f"expected {forms} at the end")
    return {}


def looks_declared(source: str) -> bool:
    """Whether a cell's source is a parameters cell."""
    lines = [line for _, line in _declarations(source) if not _CHECK.fullmatch(line)]
    return all(map(_ANNOTATED.match, lines)) and any(map(_LINE.fullmatch, lines))
