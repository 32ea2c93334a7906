"""Live controls: the chapter's parameters as sliders whose expressions run the library's own
formulas.

`controls(case)` reads the declaration of the parameters cell (name, type, meaning, unit, bounds)
and offers each parameter as a Vega expression. A formula called with it returns an expression; a
chart that contains the expression recomputes in the reader's browser. The page's script draws one
strip of controls for the whole page and keeps all charts and all live numbers on the same values.
"""

import difflib
import functools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

from altair.expr.core import ConstExpression

from scaleright.charts.words import say, unit_words
from scaleright.units import DIGITS, figure

_WIDE = 50
"""A slider whose ends differ by this factor or more moves in ratios instead of steps."""


@dataclass(frozen=True)
class LiveNumber:
    """A number in a sentence that follows the controls: `text` is its value at the chapter's
    parameters.

    `kind` is how it is said; a word has none, and no value.
    """

    name: str
    text: str
    value: float
    kind: str = ""

    def __str__(self) -> str:
        return self.text

    def __html__(self) -> str:
        return f'<span class="sr-live" data-sr-signal="{self.name}">{self.text}</span>'


class Controls:
    """The parameters of a chapter as expressions, and the names derived from them.

    Attributes are the parameters; see `controls`.
    """

    def __init__(self, case: Any):
        self._case = case
        self._parameters = {parameter.name: parameter for parameter in case.parameters}
        self._defined: dict[str, dict] = {}
        self._follow: dict[str, dict] = {}
        self._options: dict[str, list] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._defined or (name in self._parameters and self.describe(name)):
            return ConstExpression(name)
        if name in self._parameters:
            return getattr(self._case, name)
        near = difflib.get_close_matches(name, [*self._parameters, *self._defined], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise AttributeError(
            f"controls: no parameter {name!r}; the chapter declares"
            f" {', '.join(self._parameters)}{hint}"
        )

    def __dir__(self) -> Iterable[str]:
        return [*self._parameters, *self._defined, *super().__dir__()]

    def describe(self, name: str) -> dict | None:
        """What the page needs to draw one control; None for a parameter that no control can set."""
        parameter, value = self._parameters[name], getattr(self._case, name)
        # A label is what comes before the first comma; the rest explains and shows on hover.
        label, _, more = str(parameter.meaning).partition(",")
        unit = str(parameter.unit or "")
        entry = {"name": name, "label": label, "unit": unit_words(unit), "value": value} | (
            {"help": more.strip()} if more else {}
        )
        if isinstance(value, bool):
            return entry | {"kind": "flag"}
        if parameter.choices:
            return entry | {
                "kind": "choice",
                "choices": self._options.get(name, list(parameter.choices)),
            }
        if (
            isinstance(value, (int, float))
            and parameter.low is not None
            and parameter.high is not None
        ):
            low, high = parameter.low, parameter.high
            span = {"low": low, "high": high, "whole": parameter.type in (int, "int")}
            span["log"] = bool(low > 0 and high / low >= _WIDE)
            span["percent"] = unit == "1" and not span["whole"] and high <= 1
            return entry | {"kind": "number"} | span
        return None

    def define(self, name: str, expression: Any, value: Any = None) -> Any:
        """Name an expression, so that charts compute it once and formulas stay short; returns the
        name to use.
        """
        if name in self._parameters:
            raise ValueError(
                f"controls.define: {name!r} is already a parameter of the chapter; choose another"
                " name"
            )
        self._defined[name] = {"name": name, "expr": _expression(expression)}
        return ConstExpression(name)

    def named(self, prefix: str, parts: Any) -> Any:
        """The same dataclass with its long expressions named, so that a page carries each of them
        once.
        """
        return type(parts)(
            **{key: self.define(f"{prefix}_{key}", value) for key, value in vars(parts).items()}
        )

    def record(self, choice: str, table: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
        """Figures that depend on a choice, as expressions by name: the row of `table` that is
        chosen.

        The table travels to the page once for each chart, as rows of numbers; the control offers
        only its options. `choice` may also be a name that was defined, such as that of the cheapest
        chip.

        Raises
        ------
        ValueError : the table lacks the option now chosen.

        >>> from types import SimpleNamespace as N
        >>> chip = N(name="chip", type=str, default="A", meaning="chip", unit="", low=None,
        ...     high=None, choices=("A", "B"))
        >>> live = controls(N(parameters=[chip], chip="A"))
        >>> live.record("chip",
        ...     {"A": {"watts": 700, "price": 3e4}, "B": {"watts": 300, "price": 1e4}})["price"] * 2
        (chip_row[1] * 2)
        """
        self._offer(choice, table)
        names = list(next(iter(table.values())))
        rows = {option: [_shortest(row[name]) for name in names] for option, row in table.items()}
        self.define(
            f"{choice}_row",
            ConstExpression(f"({json.dumps(rows, separators=(',', ':'))})[{choice}]"),
        )
        return {name: ConstExpression(f"{choice}_row[{index}]") for index, name in enumerate(names)}

    def choose_text(self, choice: str, table: Mapping[str, str]) -> Any:
        """The words of the option now chosen, for `words`: `{"H100 SXM": "2026-09-29", "B300":
        "2026-11-02"}`.

        >>> from types import SimpleNamespace as N
        >>> chip = N(name="chip", type=str, default="A", meaning="chip", unit="", low=None,
        ...     high=None, choices=("A", "B"))
        >>> controls(N(parameters=[chip], chip="A")).choose_text("chip",
        ...     {"A": "today", "B": "in May"})
        ({"A":"today","B":"in May"})[chip]
        """
        self._offer(choice, table)
        return ConstExpression(f"({json.dumps(dict(table), separators=(',', ':'))})[{choice}]")

    def least(self, name: str, values: Iterable[Any], words: Any) -> tuple[Any, Any]:
        """The least of several expressions, and the word that stands at its place in an expression
        of a list of words.

        >>> from types import SimpleNamespace as N
        >>> price = N(name="price", type=float, default=2.0, meaning="rent", unit="", low=1,
        ...     high=10, choices=None)
        >>> live = controls(N(parameters=[price], price=2.0))
        >>> live.least("bill", [live.price * 2, live.price + 3],
        ...     ConstExpression("['first', 'second']"))
        (bill, ['first', 'second'][indexof(bill_all,bill)])
        """
        self.define(f"{name}_all", ConstExpression(f"[{', '.join(map(_expression, values))}]"))
        least = self.define(name, ConstExpression(f"extent({name}_all)[0]"))
        return least, ConstExpression(f"{_expression(words)}[indexof({name}_all,{name})]")

    def _offer(self, choice: str, table: Mapping) -> None:
        """Let a choice offer only the options for which every table has a row; a name that was
        defined offers nothing.
        """
        if choice in self._defined:
            return
        if getattr(self._case, choice) not in table:
            there = ", ".join(map(str, table))
            raise ValueError(
                f"controls: no row for {choice} = {getattr(self._case, choice)!r}; there are"
                f" {there}"
            )
        self._options[choice] = [
            option for option in self._options.get(choice, table) if option in table
        ]

    def follow(self, choice: str, table: dict[str, dict[str, Any]]) -> Self:
        """Let other controls follow a choice: `{"RTX 4090": {"purchase_usd": 1600}}` sets the price
        with the chip.
        """
        missing = [
            n
            for n in [choice, *(key for row in table.values() for key in row)]
            if n not in self._parameters
        ]
        if missing:
            raise ValueError(
                f"controls.follow: {missing[0]!r} is no parameter; declared:"
                f" {', '.join(self._parameters)}"
            )
        self._follow[choice] = {option: dict(row) for option, row in table.items()}
        return self

    def number(self, name: str, expression: Any, value: float, kind: str = "number") -> LiveNumber:
        """A number for a sentence: its Vega expression, its value at the chapter's parameters, how
        to say it.

        The page computes two signals of it: `name`, the number, and `name_text`, its words.
        """
        self.define(name, expression)
        self.define(f"{name}_text", say(ConstExpression(name), kind))
        return LiveNumber(name, say(float(value), kind), float(value), kind)

    def words(self, name: str, expression: Any, text: str) -> LiveNumber:
        """A word in a sentence that follows the controls: the expression gives a string, `text` is
        its value here.
        """
        self.define(f"{name}_text", expression)
        return LiveNumber(name, text, float("nan"))

    def used_in(self, *expressions: str) -> tuple[list[str], list[str]]:
        """Names of the parameters and of the definitions on which expressions depend, in declared
        order.
        """
        words, defined, queue = set(), [], list(expressions)
        while queue:
            found = _names(queue.pop())
            words |= found
            for name in self._defined:
                if name in found and name not in defined:
                    defined.append(name)
                    queue.append(self._defined[name]["expr"])
        chosen = {name for name in self._parameters if name in words and self.describe(name)}
        leaders = {
            name
            for name, rows in self._follow.items()
            if any(key in chosen for row in rows.values() for key in row)
        }
        return [name for name in self._parameters if name in chosen | leaders], [
            name for name in self._defined if name in defined
        ]

    def payload(self, names: Iterable[str], defined: Iterable[str]) -> dict:
        """The description that travels with a chart or a card in the page."""
        names = list(names)
        return {
            "controls": [self.describe(name) for name in names],
            "defined": [self._defined[name] for name in defined],
            "follow": {name: table for name, table in self._follow.items() if name in names},
        }

    def attach(self, spec: dict) -> dict:
        """Add to a Vega-Lite specification the parameters, bound to inputs, that its expressions
        use.
        """
        names, defined = self.used_in(
            *_expressions(
                {key: spec[key] for key in spec if key not in ("config", "data", "datasets")}
            )
        )
        params = [
            {"name": name, "value": entry["value"], "bind": _bound(entry)}
            for name in names
            if (entry := self.describe(name))
        ]
        params += [self._defined[name] for name in defined]
        taken = {entry["name"] for entry in params}
        params += [entry for entry in spec.get("params", []) if entry.get("name") not in taken]
        told = self.payload(names, ()) | {
            "defined": defined
        }  # by name: a definition stands among the parameters
        usermeta = spec.get("usermeta", {}) | {"scaleright": told}
        return spec | ({"params": params} if params else {}) | {"usermeta": usermeta}


def _bound(entry: dict) -> dict:
    """The input that Vega binds to a parameter, as `Controls.describe` says it."""
    label = f"{entry['label']} [{entry['unit']}] " if entry["unit"] else f"{entry['label']} "
    if entry["kind"] == "flag":
        return {"input": "checkbox", "name": label}
    if entry["kind"] == "choice":
        return {"input": "select", "options": entry["choices"], "name": label}
    step = 1 if entry["whole"] else (entry["high"] - entry["low"]) / 200
    return {
        "input": "range",
        "min": entry["low"],
        "max": entry["high"],
        "step": step,
        "name": label,
    }


def _shortest(value: float) -> float:
    """A figure as JSON writes it shortest: 700 rather than 700.0; an integer is exact."""
    value = int(value) if isinstance(value, Integral) else figure(value)
    return int(value) if value == value // 1 and abs(value) < 1e15 else value


_LITERALS = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
    r"|(?<![\w.])\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)"
)
"""Texts of an expression, which stay as they are, and its numbers that are no integers."""


@functools.cache  # a definition stands on many charts
def settled(expression: str) -> str:
    """An expression with the digits that its numbers mean: a page is the same from every processor.

    >>> settled("datum.x > 2.1118776821760172 ? 'v0.123456789' : rows_1[0] * 85899345920")
    "datum.x > 2.111878 ? 'v0.123456789' : rows_1[0] * 85899345920"
    """
    return _LITERALS.sub(_settled, expression)


def _settled(found: re.Match) -> str:
    text = found[0]
    if text[0] in "'\"" or len(text) <= DIGITS:
        return text
    value = figure(float(text))
    return text if value == float(text) else repr(value)


HOLD_EXPRESSIONS = ("calculate", "filter", "expr", "test", "labelExpr")


def _expressions(spec: Any) -> list[str]:
    """All Vega expressions of a specification."""
    if isinstance(spec, list):
        return [text for item in spec for text in _expressions(item)]
    if not isinstance(spec, dict):
        return []
    own = [
        value for key, value in spec.items() if key in HOLD_EXPRESSIONS and isinstance(value, str)
    ]
    return own + [text for value in spec.values() for text in _expressions(value)]


@functools.cache
def _names(expression: str) -> frozenset[str]:
    """Names that an expression reads: neither words in its texts nor fields of a row.

    >>> sorted(_names("datum.price * rent + ({'own': [1, 2]})[chip][0]"))
    ['chip', 'datum', 'rent']
    """
    bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "''", expression)
    return frozenset(re.findall(r"(?<![.\w])[A-Za-z_]\w*", bare))


def _expression(expression: Any) -> str:
    return settled(
        expression._to_expr() if hasattr(expression, "_to_expr") else json.dumps(expression)
    )


def controls(case: Any) -> Controls:
    """The parameters of the chapter's case as live expressions.

    Parameters
    ----------
    case : has `.parameters` (each with name, type, default, meaning, unit, low, high, choices) and
        the current values as attributes; `scaleright.press.parameters.case()` gives it.

    >>> from types import SimpleNamespace as N
    >>> price = N(name="price", type=float, default=2.0, meaning="rent", unit="USD/h", low=0.1,
    ...     high=10, choices=None)
    >>> live = controls(N(parameters=[price], price=2.0))
    >>> live.price * 24
    (price * 24)
    >>> live.number("day", live.price * 24, 48.0, "usd").text
    '$48.00'
    >>> live.describe("price")["unit"], live.used_in("datum.x * day")
    ('USD per hour', (['price'], ['day']))
    >>> live.prise
    Traceback (most recent call last):
    AttributeError: controls: no parameter 'prise'; the chapter declares price; did you mean price?
    """
    return Controls(case)
