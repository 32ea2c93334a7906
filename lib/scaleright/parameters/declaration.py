"""What a chapter declares: the lines of its parameters cell, what each parameter takes, and what
their values must be together.

A line that does not follow the form is told what is wrong with it. Rules, in the lines `# check:
rule(parameter, other)`, name functions of `scaleright.rules`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from scaleright.names import brief, one_of, suggestion
from scaleright.numerals import finite, meant
from scaleright.parameters import own_models
from scaleright.units import MINUS

_OTHER_MONEY = re.compile(r"[€£¥₹]|\b(EUR|GBP|JPY|CNY|CHF|INR|CAD|AUD)\b", re.IGNORECASE)
_PER_CHIP = re.compile(r"(/\s*|\bper |\bof one |\bof an? )(gpu|accelerator|chip)\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SPOKEN = {
    "$": "USD",
    "dollar": "USD",
    "hour": "h",
    "hr": "h",
    "second": "s",
    "sec": "s",
    "watt": "W",
    "gram": "g",
    "liter": "L",
    "yr": "year",
}
"""Words for units, as people say them."""
CATALOG = {"accelerators": "accelerator", "models": "model"}
"""Tables whose names may be choices, and the function of `catalog` that looks one up."""
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_KINDS = {
    "float": "a finite number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
}


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: `low` and `high` bound a number, `choices` are the names allowed
    else.

    `catalog` is the table ("accelerators" or "models") from which the choices come but for the
    `words` before them; aliases count as well. `own` is whether a model of the reader's own is
    taken; `more`, of what any other is taken that a page cannot choose: "model" (one that writes)
    or "accelerator". `days` are the first
    and the last day of a date, the last as "today" where it is that of the reader.
    """

    name: str
    type: str
    default: Any
    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple = ()
    catalog: str = ""
    words: tuple[str, ...] = ()
    optional: bool = False
    days: tuple[str, str] | None = None
    own: bool = False
    more: str = ""

    @property
    def allowed(self) -> str:
        """What may be given, in words."""
        if self.low is not None:
            text = f"{show(self.low)} to {show(self.high)}"
        elif self.days:
            text = f"a day from {self.days[0]} to {self.days[1]}"
        elif self.catalog:
            many = len(self.choices) - len(self.words)
            text = ", ".join([*self.words, f"any of {many} {self.catalog}"])
        else:
            text = ", ".join(map(str, self.choices)) or {"bool": "true, false"}.get(
                self.type, "any text"
            )
        text += f", or another {self.more}" if self.more else ""
        text += ", or a config.json" if self.own else ""
        return text + (", or none" if self.optional else "")

    def accept(self, given: Any) -> Any:
        """The value in its type, a catalog name in its full form.

        Raises
        ------
        ValueError : the value is not allowed; says what is, and what was probably meant.

        >>> load = Parameter("load", "float", 0.4, "share of paid hours", "1", 0.01, 1.0)
        >>> load.accept("0.5")
        0.5
        >>> load.accept(40)
        Traceback (most recent call last):
        ValueError: load = 40: outside 0.01 to 1; did you mean 0.4 (40 %)?
        """
        if given is None or (self.optional and str(given).strip().casefold() in ("none", "")):
            if self.optional:
                return None
            raise ValueError(f"{self.name} = None: needs a value, {self.allowed}")
        value = self._typed(given)
        if not self._within(value):
            unit = "" if self.unit in ("", "1") else f" {self.unit}"
            hint = "" if "%" in str(given) else self._slip(value)
            raise ValueError(
                f"{self.name} = {show(value)}: outside {show(self.low)} to"
                f" {show(self.high)}{unit}{hint}"
            )
        if self.days:
            return self._day(value, *self.days)
        if own_models.is_file(self, value):
            return own_models.accepted(self, value)
        if self.catalog and value not in self.words:
            from scaleright import catalog

            try:
                return getattr(catalog, CATALOG[self.catalog])(value).name
            except LookupError as error:
                said = brief(value)
                reason = error.args[0].replace(f" {said}", "", 1)
                raise ValueError(f"{self.name} = {said}: {reason}{self._or_own()}") from None
        if self.choices and value not in self.choices:
            if self.own and own_models.known(value):
                return value
            if self.more and (named := _OTHERS[self.more](value)):
                return named
            raise ValueError(
                f"{self.name} = {brief(value)}: not among the choices;"
                f" {suggestion(value, self.choices)}{self._or_own()}"
            )
        return value

    def _or_own(self) -> str:
        return "; or the path of a config.json" if self.own else ""

    def _within(self, value: Any) -> bool:
        return self.low is None or self.high is None or self.low <= value <= self.high

    def _typed(self, given: Any) -> Any:
        text = str(given).strip()
        try:
            if self.type == "str" and isinstance(given, (str, date) if self.days else str):
                return str(given)
            if self.type == "bool":
                return _TRUTH[text.casefold()]
            if self.type in ("int", "float") and not isinstance(given, bool):
                return self._whole_or_not(self._number(text))
        except (ValueError, KeyError):
            pass
        allowed = f"; allowed: {self.allowed}" if self.type not in ("str", "bool") else ""
        raise ValueError(
            f"{self.name} = {brief(given)}: needs {_KINDS[self.type]}{allowed}"
            f"{self._plain(text) if self.type in ('int', 'float') else ''}"
        )

    def _whole_or_not(self, number: float) -> float | int:
        """A number in the parameter's type; raises ValueError where it has none."""
        if self.type == "float":
            return number
        if number != int(number):
            raise ValueError
        return int(number)

    def _number(self, text: str) -> float:
        """A finite number as the page's own fields write it: dollars, groups of thousands, the
        percent of a share, print's minus. Digits are those of ASCII.
        """
        text = text.replace(MINUS, "-")
        if self.unit.startswith("USD"):
            text = text.removeprefix("$").lstrip()
        if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
            text = text.replace(",", "")
        if text.endswith("%") and self._is_share():
            return finite(text[:-1]) / 100
        return finite(text)

    def _is_share(self) -> bool:
        return (
            self.unit == "1" and self.type == "float" and self.high is not None and self.high <= 1
        )

    def _plain(self, text: str) -> str:
        """What to say of a number that was given with its unit, another currency or a decimal
        comma, or in thousands; nothing where what was meant is not sure.
        """
        if _OTHER_MONEY.search(text):
            return (
                "; prices are in US dollars (USD), so convert it first"
                if "USD" in self.unit
                else ""
            )
        number, written = meant(text) or (None, "")
        if number is None or (written and not self._means(written)):
            return ""
        try:
            value = self._whole_or_not(number)
        except ValueError:
            return ""
        if not self._within(value) or (self.choices and value not in self.choices):
            return ""
        unit = f" in {self.unit}" if self.unit not in ("", "1") else ""
        return f"; write the plain number{unit}: {value:.12g}"

    def _means(self, unit: str) -> bool:
        """Whether a unit as people write it is the parameter's own."""

        def words(text: str) -> list[str]:
            found = (word.rstrip("s") or word for word in re.findall(r"[A-Za-z]+|\$", text))
            return [_SPOKEN.get(word.casefold(), word).casefold() for word in found]

        own, said = words(self.unit or self.meaning), words(unit)
        return bool(said) and (said == own[: len(said)] if self.unit else set(said) <= set(own))

    def _day(self, given: str, first: str, last: str) -> str:
        try:
            if not _DAY.fullmatch(given.strip()):
                raise ValueError
            day = date.fromisoformat(given.strip())
        except ValueError:
            raise ValueError(
                f"{self.name} = {brief(given)}: needs a date written YYYY-MM-DD; allowed:"
                f" {self.allowed}"
            ) from None
        if day > date.today():
            raise ValueError(
                f"{self.name} = {given!r}: lies in the future; allowed: {self.allowed}"
            )
        if not first <= day.isoformat() <= (last if last != "today" else day.isoformat()):
            raise ValueError(f"{self.name} = {given!r}: outside {first} to {last}")
        return day.isoformat()

    def _slip(self, value: float) -> str:
        low, high = self.low, self.high
        assert low is not None and high is not None
        if self.unit in ("1", "share") and high <= 1 < value <= 100 and low <= value / 100 <= high:
            return f"; did you mean {show(value / 100)} ({show(value)} %)?"
        if (
            value > high
            and low <= value / 8 <= high
            and _PER_CHIP.search(f"{self.meaning} {self.unit}")
        ):
            return f"; looks like the price of an 8-GPU node: per GPU {value / 8:.2f}"
        return ""


def _chip(name: str) -> str:
    """An accelerator of the catalog by its name or an alias; empty where there is none."""
    from scaleright import catalog

    try:
        return catalog.accelerator(name).name
    except LookupError:
        return ""


_OTHERS = {"model": own_models.decoder, "accelerator": _chip}
"""What is taken beside the choices where `Parameter.more` says so."""


def show(value: Any) -> str:
    """Write a value for a reader.

    >>> show(1e9), show(0.4), show(True), show(None)
    ('1,000,000,000', '0.4', 'true', 'none')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:,.12g}" if isinstance(value, (int, float)) else str(value)


# ---- what values must be together

BOOK_OF_RULES = "scaleright.rules"
"""What is above this room, since rules know chips, engines and prices: it is found by its name, and
of it the one module that a rule stands in.
"""
MOST_NAMED = 3
"""Values that a refusal names even where they are as declared."""


@dataclass(frozen=True)
class Rule:
    """A rule and the parameters whose values it is about."""

    name: str
    parameters: tuple[str, ...]

    def refusal(
        self,
        case: Mapping[str, Any],
        declared: Mapping[str, Any],
        choices: Mapping[str, tuple] | None = None,
    ) -> str:
        """What the rule says against a case, beginning with the values that it is about: of many
        those that are not as declared. Empty if it has nothing to say.

        choices : what parameters may be, for a rule that takes `choices`
        """
        rule, values = known_rules()[self.name], [case[name] for name in self.parameters]
        more = {"choices": choices} if "choices" in inspect.signature(rule).parameters else {}
        try:
            rule(*values, **more)
        except (KeyError, IndexError):
            raise  # bugs, not wrong input
        except (ValueError, LookupError) as error:
            few = len(values) <= MOST_NAMED
            said = [
                f"{name} = {brief(value) if isinstance(value, str) else show(value)}"
                for name, value in zip(self.parameters, values, strict=True)
                if value is not None and (few or value != declared[name])
            ]
            return ": ".join([", ".join(said), str(error)] if said else [str(error)])
        return ""


def known_rules() -> Mapping[str, Callable[..., None]]:
    """Every rule by its name."""
    return importlib.import_module(BOOK_OF_RULES).RULES


def read_rules(check: str, names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that a line names: calls with names of parameters, separated by commas.

    Raises
    ------
    ValueError, LookupError : not of that form, or an unknown rule or parameter.

    >>> read_rules("different(bet, rival)", ["bet", "rival"])
    (Rule(name='different', parameters=('bet', 'rival')),)
    """
    try:
        found: Any = ast.parse(f"[{check}]", mode="eval").body
        rules = [Rule(call.func.id, tuple(name.id for name in call.args)) for call in found.elts]
    except (SyntaxError, AttributeError):
        rules = []
    if not rules:
        raise ValueError("expected rule(parameter, other), rule(parameter), ...")
    for rule in rules:
        one_of(rule.name, known_rules(), "rule")
        for name in rule.parameters:
            one_of(name, names, "parameter")
    return tuple(rules)


# ---- lines

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
_ALLOWED = re.compile(
    r"\s*(?:(?P<low>\S+?)\s*\.\.\s*(?P<high>\S+)"
    r"|date\s+(?P<first>\d{4}-\d\d-\d\d)\s*\.\.\s*(?P<last>today|\d{4}-\d\d-\d\d)"
    r"|(?P<words>.*?)"
    r"(?:\s*,\s+or\s+another\s+(?P<more>model|accelerator))?"
    r"(?P<own>\s*,\s+or\s+a\s+config\.json)?)\s*",
    re.DOTALL,
)
"""What the parenthesis at the end of a line allows: bounds, days, or choices and what else."""
_CHECK = re.compile(r"#\s*check:(.*)", re.DOTALL)
_RESERVED = {"filled", "parameters", "table", "values"}


class DeclarationError(ValueError):
    """A parameters cell that does not follow the form."""


class Declared(tuple[Parameter, ...]):  # noqa: SLOT001, its rules stand beside it
    """The parameters of a chapter in their order, and the rules that their values keep together."""

    rules: tuple[Rule, ...] = ()


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
            declared.rules += read_rules(check, found)
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
    found, number = _ALLOWED.fullmatch(allowed or ""), kind in ("float", "int")
    assert found is not None, "choices may be anything"
    if number and found["low"]:
        low, high = float(found["low"]), float(found["high"])
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"expected finite bounds low..high, not {allowed}")
        return {"low": low, "high": high}
    if kind == "str" and found["first"]:
        days = (found["first"], found["last"])
        for day in days:
            day == "today" or date.fromisoformat(day)
        return {"days": days}
    if kind == "str":
        beside = {"own": bool(found["own"]), "more": found["more"] or ""}
        text = found["words"] if found["words"] is not None else allowed or ""
    else:
        beside, text = {}, allowed or ""
    words = [word.strip() for word in text.split("|")]
    if kind == "str" and words[-1] in CATALOG:
        from scaleright import catalog

        *before, table = words
        choices = (*before, *getattr(catalog, table)())
        return {"choices": choices, "catalog": table, "words": tuple(before), **beside}
    if kind != "bool" and len(words) > 1:
        typed = {"float": float, "int": int, "str": str}[kind]
        return {"choices": tuple(map(typed, words)), **beside}
    if allowed is not None or number:
        forms = (
            "(low..high)" if number else "(a | b), (accelerators), (models) or (date first..last)"
        )
        raise ValueError(f"expected {forms} at the end")
    return {}


def looks_declared(source: str) -> bool:
    """Whether a cell's source is a parameters cell."""
    lines = [line for _, line in _declarations(source) if not _CHECK.fullmatch(line)]
    return all(map(_ANNOTATED.match, lines)) and any(map(_LINE.fullmatch, lines))
