"""Live controls: the chapter's parameters as sliders whose expressions run the library's own
formulas.

`controls(case)` reads the declaration of the parameters cell (name, type, meaning, unit, bounds)
and offers each parameter as a Vega expression. A formula called with it returns an expression; a
chart that contains the expression recomputes in the reader's browser. The page's script draws one
strip of controls for the whole page and keeps all charts and all live numbers on the same values.
"""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from types import SimpleNamespace
from typing import Any, Self

from altair.expr.core import ConstExpression

from scaleright.charts.expressions import names_of, settled, written
from scaleright.charts.inputs import described
from scaleright.charts.row_sets import RowSets
from scaleright.charts.words import NONE, say, unit_said, unit_words
from scaleright.quantity import Quantity, Signals, given
from scaleright.quantity.graph import in_order, parameter
from scaleright.quantity.rows import table_of
from scaleright.units import figure


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
        self.signals = Signals()
        self._kinds: dict[str, str] = {}
        self._told: dict[str, str] = {}
        self._learned: set[Quantity] = set()
        self.sets = RowSets(self)

    @property
    def case(self) -> Any:
        """The chapter's case, with what it leaves open as `follow` fills it."""
        return self._case

    @property
    def given(self) -> SimpleNamespace:
        """The parameters as quantities, of which formulas make all others."""
        found = {name: given(name, getattr(self._case, name)) for name in self._parameters}
        for name, declared in self._parameters.items():
            found[name].unit = unit_words(declared.unit)
        return SimpleNamespace(**found)

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
        return described(self._parameters[name], getattr(self._case, name), self._options.get(name))

    def define(self, name: str, expression: Any, value: Any = None) -> Any:
        """Name an expression, so that charts compute it once and formulas stay short; returns the
        name to use.
        """
        if name in self._parameters:
            raise ValueError(
                f"controls.define: {name!r} is already a parameter of the chapter; choose another"
                " name"
            )
        self._defined[name] = {"name": name, "expr": written(expression)}
        return ConstExpression(name)

    def signal(self, quantity: Quantity, name: str = "") -> str:
        """What the page calls a quantity: by this name as well, if one is given."""
        found = self.signals.name(quantity, "" if name == parameter(quantity) else name)
        self._learn([quantity])
        return found

    def formulas(
        self, wanted: Mapping[str, Quantity], along: Mapping[Quantity, str]
    ) -> dict[str, str]:
        """The expressions of a chart's rows that compute quantities: fields by name, in order.

        Parameters
        ----------
        along : parameters that the rows give, with the field of each
        """
        fields = {parameter(q) or "": field for q, field in along.items()}
        found = self.signals.formulas(wanted, fields)
        self._learn(wanted.values())
        return {name: settled(expression) for name, expression in found.items()}

    def _learn(self, quantities: Iterable[Quantity]) -> None:
        """Take over what the page has to compute, and offer only what the tables have."""
        for node in in_order(quantities, self._learned):
            self._learned.add(node)
            self.sets.learn(node)
            if table := table_of(node):
                self._offer(parameter(node.inputs[-1]) or "", table)
        for name, expression in self.signals.expressions.items():
            if name in self._parameters:
                raise ValueError(
                    f"a quantity is called {name!r}, as a parameter of the chapter: call it"
                    " otherwise"
                )
            if name not in self._defined:
                self._defined[name] = {"name": name, "expr": settled(expression)}

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
        self.define(f"{name}_all", ConstExpression(f"[{', '.join(map(written, values))}]"))
        least = self.define(name, ConstExpression(f"extent({name}_all)[0]"))
        return least, ConstExpression(f"{written(words)}[indexof({name}_all,{name})]")

    def _offer(self, choice: str, table: Mapping) -> None:
        """Let a parameter offer only the options for which every table has a row; other choices,
        such as those of a chart's rows, offer nothing.
        """
        if choice in self._defined or choice not in self._parameters:
            return
        now = getattr(self._case, choice)
        options = [*map(type(now), table)]  # which a table may call by words
        if now not in options:
            there = ", ".join(map(str, table))
            raise ValueError(f"controls: no row for {choice} = {now!r}; there are {there}")
        before = self._options.get(choice)
        allowed = before or self._parameters[choice].choices or options
        self._options[choice] = [o for o in before or options if o in options and o in allowed]

    def follow(self, choice: str, table: Mapping[str, Mapping[str, Any]], **columns: str) -> Self:
        """Let other controls follow a choice: `{"RTX 4090": {"purchase_usd": 1600}}` sets the price
        with the chip; one that the case leaves open is that of its choice.

        columns : parameter -> column of the table, where it holds more than parameters
        """
        rows = {
            option: {name: row[column] for name, column in columns.items()} if columns else {**row}
            for option, row in table.items()
        }
        for name in [choice, *(name for row in rows.values() for name in row)]:
            if name not in self._parameters:
                raise ValueError(
                    f"controls.follow: {name!r} is no parameter; declared:"
                    f" {', '.join(self._parameters)}"
                )
        self._follow[choice] = rows
        left_open = rows.get(getattr(self._case, choice), {})
        if any(getattr(self._case, name) is None for name in left_open):
            self._case = self._case.filled(**left_open)
        return self

    def number(
        self, name: str, expression: Any, value: float = math.nan, kind: str = "number"
    ) -> LiveNumber:
        """A number for a sentence: a quantity, or its Vega expression and its value at the
        chapter's parameters, and how to say it.

        The page computes two signals of it: `name`, the number, and `name_text`, its words.
        """
        words = written(say(ConstExpression(name), kind))
        if isinstance(expression, Quantity):
            value, _ = expression.value, self.signal(expression, name)
            expression.unit = expression.unit or unit_said(kind).strip("1")
            words = f"(isValid({name}) ? {words} : '{NONE}')"
        else:
            self.define(name, expression)
        self.define(f"{name}_text", ConstExpression(words))
        text = NONE if math.isnan(value) else say(float(value), kind)
        return LiveNumber(name, text, float(value), kind)

    def slot(self, name: str, kind: str) -> str:
        """What a quantity of this name is called in sentences where it is said in this way."""
        while self._kinds.setdefault(name, kind) != kind:
            name += "_as"
        return name

    def words(self, name: str, expression: Any, text: str = "") -> LiveNumber:
        """A word in a sentence that follows the controls: a quantity, or an expression of a string
        and its value here.
        """
        if isinstance(expression, Quantity):
            text = str(expression.value)
            expression = ConstExpression(self.signal(expression))
        self.define(f"{name}_text", expression)
        return LiveNumber(name, text, float("nan"))

    def used_in(self, *expressions: str) -> tuple[list[str], list[str]]:
        """Names of the parameters and of the definitions on which expressions depend, in declared
        order.
        """
        words, defined, queue = set[str](), set[str](), list(expressions)
        behind = self.sets.behind()
        while queue:
            text = queue.pop()
            queue += behind(text)
            found = names_of(text) - words
            words |= found
            new = found & self._defined.keys()
            defined |= new
            queue += [self._defined[name]["expr"] for name in new]
        chosen = {name for name in self._parameters if name in words and self.describe(name)}
        leaders = {
            name
            for name, rows in self._follow.items()
            if any(key in chosen for row in rows.values() for key in row)
        }
        return [name for name in self._parameters if name in chosen | leaders], [
            name for name in self._defined if name in defined
        ]

    def untold(self, defined: Iterable[str]) -> list[str]:
        """Those definitions that no output of the page has told as they are now."""
        told = {name: self._defined[name]["expr"] for name in defined}
        new = [name for name, expression in told.items() if self._told.get(name) != expression]
        self._told |= told
        return new

    def payload(self, names: Iterable[str], defined: Iterable[str]) -> dict:
        """The description that travels with a chart or a card in the page."""
        names = list(names)
        return {
            "controls": [self.describe(name) for name in names],
            "defined": [self._defined[name] for name in defined],
            "follow": {name: table for name, table in self._follow.items() if name in names},
        }


def _shortest(value: float) -> float:
    """A figure as JSON writes it shortest: 700 rather than 700.0; an integer is exact."""
    value = int(value) if isinstance(value, Integral) else figure(value)
    return int(value) if value == value // 1 and abs(value) < 1e15 else value


def controls(case: Any) -> Controls:
    """The parameters of the chapter's case as live expressions.

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
    _PAGE[:] = [Controls(case)]
    return _PAGE[0]


_PAGE: list[Controls] = []
"""The controls of the page that this process computes: a kernel runs one chapter."""


def current() -> Controls | None:
    """The controls of this chapter's page, if there are any."""
    return _PAGE[0] if _PAGE else None


def page() -> Controls:
    """The controls of this chapter's page.

    Raises
    ------
    LookupError : there are none yet.
    """
    if not _PAGE:
        raise LookupError("no controls yet: `charts.controls(case)` makes those of a chapter")
    return _PAGE[0]
