"""What the values of a chapter's parameters must be together: the lines `# check: rule(parameter,
other)` of a parameters cell, which name functions of `scaleright.rules`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scaleright.names import brief, one_of
from scaleright.parameters.parameter import show

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
        rule, values = known()[self.name], [case[name] for name in self.parameters]
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


def known() -> Mapping[str, Callable[..., None]]:
    """Every rule by its name."""
    return importlib.import_module(BOOK_OF_RULES).RULES


def read(check: str, names: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that a line names: calls with names of parameters, separated by commas.

    Raises
    ------
    ValueError, LookupError : not of that form, or an unknown rule or parameter.

    >>> read("different(bet, rival)", ["bet", "rival"])
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
        one_of(rule.name, known(), "rule")
        for name in rule.parameters:
            one_of(name, names, "parameter")
    return tuple(rules)
