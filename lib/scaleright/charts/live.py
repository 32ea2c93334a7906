"""Live controls: the chapter's parameters as sliders that run the library's own formulas.

`controls(case)` reads the declaration of the parameters cell (name, type, meaning, unit, bounds)
and offers each parameter as a quantity. What formulas make of it recomputes in the reader's
browser. The page's script draws one strip of controls for the whole page and keeps all charts and
all live numbers on the same values.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

from scaleright.charts.expressions import names_of, settled
from scaleright.charts.inputs import described
from scaleright.charts.row_sets import RowSets
from scaleright.charts.words import say, unit_words
from scaleright.quantity import Quantity, Signals, given
from scaleright.quantity.graph import control, in_order, parameter
from scaleright.quantity.rows import table_of


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
        kind = "sr-live" if self.kind else "sr-words"
        if " " in re.sub(r"^(si|whole) | ?\d+$", "", self.kind) and self.kind != "hours a day":
            kind += " sr-phrase"  # too many words for one line of a phone
        return f'<span class="{kind}" data-sr-signal="{self.name}">{self.text}</span>'


class Controls:
    """The parameters of a chapter, and the signals of its page."""

    def __init__(self, case: Any):
        self._case = case
        self._parameters = {parameter.name: parameter for parameter in case.parameters}
        self._defined: dict[str, dict] = {}
        self._follow: dict[str, dict] = {}
        self._options: dict[str, list] = {}
        self._only: dict[str, dict[str, list]] = {}
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

    def describe(self, name: str) -> dict | None:
        """What the page needs to draw one control; None for a parameter that no control can set."""
        options, now = self._options.get(name), getattr(self._case, name)
        entry = described(self._parameters[name], now, options)
        return entry and entry | ({"only": self._only[name]} if name in self._only else {})

    def signal(self, quantity: Quantity, name: str = "") -> str:
        """What the page calls a quantity: by this name as well, if one is given."""
        found = self.signals.name(quantity, "" if name == control(quantity) else name)
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

    def offer(self, choice: str, options: Iterable[Any]) -> Self:
        """Let the page offer only these options of a parameter, beside that of the case: others
        take a run of their own.
        """
        kept = {*options, getattr(self._case, choice)}
        declared = self._parameters[choice].choices or ()
        self._options[choice] = [option for option in declared if option in kept]
        return self

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

    def only(self, choice: str, table: Mapping[str, Iterable[str]]) -> Self:
        """Let other controls be there only where a choice needs them: `{"rent": ["contract"]}`
        shows the contract to those who rent. What no option names is always there.
        """
        for option, names in table.items():
            for name in names:
                if {choice, name} - self._parameters.keys():
                    raise ValueError(f"controls.only: {choice!r} or {name!r} is no parameter")
                self._only.setdefault(name, {}).setdefault(choice, []).append(option)
        return self

    def number(self, name: str, quantity: Quantity, kind: str = "number") -> LiveNumber:
        """A number for a sentence, and how to say it.

        The page computes two signals of it: `name`, the number, and `name_text`, its words.
        """
        said = say(quantity, kind)
        self._tell(name, said.operation.vega(self.signal(quantity, name)))
        return LiveNumber(name, said.value, float(quantity.value), kind)

    def slot(self, name: str, kind: str) -> str:
        """What a quantity of this name is called in sentences where it is said in this way."""
        while self._kinds.setdefault(name, kind) != kind:
            name += "_as"
        return name

    def words(self, name: str, quantity: Quantity) -> LiveNumber:
        """A word in a sentence that follows the controls."""
        self._tell(name, self.signal(quantity))
        return LiveNumber(name, str(quantity.value), float("nan"))

    def _tell(self, name: str, words: str) -> None:
        """Have the page compute what a sentence says under a name."""
        self._defined[f"{name}_text"] = {"name": f"{name}_text", "expr": settled(words)}

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
        leaders |= {leader for name in chosen for leader in self._only.get(name, {})}
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


def controls(case: Any) -> Controls:
    """The controls of the chapter's page, which offer its case as quantities.

    case : has `.parameters` (each with name, type, default, meaning, unit, low, high, choices) and
        the current values as attributes; `scaleright.parameters.case()` gives it.

    >>> from types import SimpleNamespace as N
    >>> price = N(name="price", type=float, default=2.0, meaning="rent", unit="USD/h", low=0.1,
    ...     high=10, choices=None)
    >>> live = controls(N(parameters=[price], price=2.0))
    >>> live.number("day", live.given.price * 24, "usd").text
    '$48.00'
    >>> live.describe("price")["unit"], live.used_in("datum.x * day")
    ('USD per hour', (['price'], ['day']))
    """
    from scaleright.charts.cells import known_to_notebook  # which needs the page

    known_to_notebook()
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
