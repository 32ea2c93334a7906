"""The shared end of every decision: what to do, why, the numbers, and a document's rule beside
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Verdict:
    """A decision that can be argued with.

    question : what was asked.
    what : what to do, as a person would say it.
    reasons : why, the weightiest first.
    numbers : value and unit by name, as computed.
    source : the document and framework that states a rule for this question.
    rule : what that rule says in this case; where it is said elsewhere, nothing.
    agrees : whether the computed answer and the rule say the same.

    >>> Verdict("Buy?", "rent", ("cheaper",), {"rent": (1.0, "USD/h")}, "S2", "rent", True).agrees
    True
    """

    question: str
    what: str
    reasons: tuple[str, ...]
    numbers: Mapping[str, tuple[float, str]]
    source: str
    rule: str
    agrees: bool

    def text(self) -> str:
        """The verdict as plain text: the answer first."""
        rule = f"{self.source} says: {self.rule} ({'agrees' if self.agrees else 'differs'})."
        lines = [f"{self.question} {self.what}.", *(f"- {reason}" for reason in self.reasons)]
        return "\n".join([*lines, rule] if self.rule else lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        word = f"The computed answer {'agrees' if self.agrees else 'differs'}."
        rule = (
            f'<p class="sr-rule">{escape(self.source)} says: {escape(self.rule)}.'
            f" <strong>{word}</strong></p>"
        )
        rule = rule if self.rule else ""
        html = (
            f'<div class="sr-verdict"><p><span class="sr-question">{escape(self.question)}</span> '
            f"<strong>{escape(self.what)}</strong></p><ol>{reasons}</ol>{rule}</div>"
        )
        return {"text/html": html, "text/plain": self.text()}
