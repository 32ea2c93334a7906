"""The shared end of every decision: what to do, why, the numbers, and the source's rule beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Mapping


@dataclass(frozen=True)
class Verdict:
    """A decision that can be argued with.

    question : what was asked.
    what : what to do, as a person would say it.
    reasons : why, the weightiest first.
    numbers : value and unit by name, as computed.
    source : the document and framework that states a rule for this question.
    rule : what that rule says in this case.
    agrees : whether the computed answer and the rule say the same.

    >>> Verdict("Buy?", "rent", ("cheaper",), {"rent": (1.0, "USD/h")}, "S2", "rent", True).agrees
    True
    """

    question: str
    what: str
    reasons: tuple[str, ...]
    numbers: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    source: str = ""
    rule: str = ""
    agrees: bool = True

    def text(self) -> str:
        """The verdict as plain text: the answer first."""
        lines = [f"{self.question} {self.what}.", *(f"- {reason}" for reason in self.reasons)]
        if self.rule:
            lines.append(f"{self.source}'s rule says: {self.rule} ({'agrees' if self.agrees else 'differs'}).")
        return "\n".join(lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        rule = ""
        if self.rule:
            word = "The computed answer agrees." if self.agrees else "The computed answer differs."
            rule = f'<p class="sr-rule">{escape(self.source)} says: {escape(self.rule)}. <strong>{word}</strong></p>'
        html = (
            f'<div class="sr-verdict"><p><span class="sr-question">{escape(self.question)}</span> '
            f"<strong>{escape(self.what)}</strong></p><ol>{reasons}</ol>{rule}</div>"
        )
        return {"text/html": html, "text/plain": self.text()}
