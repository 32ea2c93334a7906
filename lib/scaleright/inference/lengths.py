"""What is asked of a server: lengths of prompts and answers, by their means and how widely they
spread.

A sequence takes a step for each token of its answer, so long answers are seen more often than they
are asked for: what a step meets is an average weighted by residence. For any distribution it
follows from means, coefficients of variation and the correlation of the two lengths alone. For a
prompt of I and an answer of O tokens, E is the mean over requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.formulas import COUNT, NON_NEGATIVE, SHARE, Domain, closed_form, lookup
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import StepSeconds, step_seconds
from scaleright.names import one_of
from scaleright.ops import maximum, where

# Speculative decoding and multi-token prediction: a cheap draft guesses tokens ahead, the model
# checks them all in one step


DRAFTS = Domain(0.0, 64.0, (0.0, 16.0))


@closed_form(draft_tokens=DRAFTS, acceptance=SHARE)
def tokens_per_step(draft_tokens, acceptance):
    """Tokens that a step of checking yields on average [token]: the accepted guesses and the
    model's own next token.

    Parameters
    ----------
    draft_tokens : tokens guessed ahead, k [token]
    acceptance : chance that a guess is kept if all before it were, a [1]

    Source: (1 - a^(k+1)) / (1 - a), [leviathan2023, equation 1].

    >>> tokens_per_step(1, 0.75), tokens_per_step(4, 1.0), tokens_per_step(0, 0.5)
    (1.75, 5.0, 1.0)
    """
    return where(
        acceptance < 1,
        (1 - acceptance ** (draft_tokens + 1)) / maximum(1 - acceptance, 1e-12),
        draft_tokens + 1.0,
    )


@dataclass(frozen=True)
class Speculation:
    """A draft and how well it guesses the texts of a load.

    Attributes
    ----------
    draft_tokens : tokens guessed ahead in each step [token]
    acceptance : chance that a guess is kept if all before it were [1]; a property of draft and text
        together
    draft : the model that guesses, on the chips that serve and in the same format; None for
        multi-token prediction, whose module is one more layer and the output head [deepseekv3,
        section 2.2]

    Raises
    ------
    ValueError : a number outside its domain.
    """

    draft_tokens: Any = 1
    acceptance: Any = 0.8
    draft: Transformer | None = None

    def __post_init__(self) -> None:
        DRAFTS.check("Speculation", "draft_tokens", self.draft_tokens)
        SHARE.check("Speculation", "acceptance", self.acceptance)

    @property
    def tokens_per_step(self) -> Any:
        """Tokens that a step yields on average [token]."""
        return tokens_per_step(self.draft_tokens, self.acceptance)

    def guess(
        self, deployment: Deployment, batch: Any, context: Any, slowdowns: Mapping | None = None
    ) -> StepSeconds:
        """One guess for each of so many sequences, by parts; the engine's host has no part in
        it.
        """
        model = deployment.model
        module = replace(
            model, layers=1, moe_layers=min(model.moe_layers, 1), window=0, window_layers=0
        )
        step = step_seconds(
            replace(deployment, model=self.draft or module), batch, context, slowdowns=slowdowns
        )
        return replace(step, host_s=0.0 * step.host_s, sequences_s=0.0 * step.sequences_s)


_DOMAINS = {
    "input_tokens": COUNT,
    "output_tokens": COUNT,
    "cached_share": SHARE,
    "input_cv": NON_NEGATIVE,
    "output_cv": NON_NEGATIVE,
    "correlation": Domain(-1.0, 1.0, (-1.0, 1.0)),
}


@dataclass(frozen=True)
class Load:
    """A mix of requests; numbers or arrays.

    Attributes
    ----------
    input_tokens, output_tokens : mean lengths of prompt and answer [token]
    cached_share : share of a prompt found in a cache of prefixes; it is looked back on and kept,
        but not computed again [1]
    input_cv, output_cv : standard deviation of the lengths over their means, 0 where all are alike
        [1]
    correlation : of the two lengths [1]
    speculation : a draft that guesses tokens ahead, if there is one

    Raises
    ------
    ValueError : a number outside its domain.

    >>> Load(2000, 500).context, Load(2000, 500, cached_share=0.75).new_tokens
    (2250.0, 500.0)
    >>> Load(2000, 0)
    Traceback (most recent call last):
    ValueError: Load: output_tokens = 0 is outside its domain, allowed: 1 or more
    """

    input_tokens: Any
    output_tokens: Any
    cached_share: Any = 0.0
    input_cv: Any = 0.0
    output_cv: Any = 0.0
    correlation: Any = 0.0
    speculation: Speculation | None = None

    def __post_init__(self) -> None:
        for name, domain in _DOMAINS.items():
            domain.check("Load", name, getattr(self, name))

    @property
    def new_tokens(self) -> Any:
        """Tokens of a prompt that are computed; the last one always is, since it gives the answer's
        first [token].
        """
        return maximum(self.input_tokens * (1 - self.cached_share), 1.0)

    @property
    def _prompt(self) -> Any:
        """Tokens of the prompt of a running sequence, over all steps: E[O I] / E[O] [token]."""
        return self.input_tokens * (1 + self.correlation * self.input_cv * self.output_cv)

    @property
    def context(self) -> Any:
        """Tokens that a running sequence looks back on, over all steps: E[O (I + O/2)] / E[O]
        [token].
        """
        return self._prompt + self.output_tokens * (1 + self.output_cv**2) / 2

    @property
    def length(self) -> Any:
        """Tokens that a running sequence will hold at its end, over all steps: E[O (I + O)] / E[O]
        [token].
        """
        return self._prompt + self.output_tokens * (1 + self.output_cv**2)

    @property
    def prompt_context(self) -> Any:
        """Tokens that a computed token of a prompt looks back on, c being the cached share: E[I^2]
        (1 + c) / (2 E[I]) [token].
        """
        return self.input_tokens * (1 + self.input_cv**2) * (1 + self.cached_share) / 2

    @property
    def tokens_per_step(self) -> Any:
        """Tokens of its answer that a running sequence gains in a step [token]."""
        return self.speculation.tokens_per_step if self.speculation else 1.0

    @property
    def queries(self) -> Any:
        """Tokens that a running sequence puts through a step: its next, and a draft's guesses
        [token].
        """
        return 1 + self.speculation.draft_tokens if self.speculation else 1


@lookup
@catalog.shared
def trace(name: str) -> Load:
    """The lengths of the requests of a published trace.

    Raises
    ------
    LookupError : no such trace; the nearest names are offered.

    >>> code = trace("azure code")
    >>> round(code.input_tokens), round(code.output_tokens), bool(code.output_cv > 1)
    (2048, 28, True)
    """
    rows = catalog.table("request_lengths")
    of = rows[rows["trace"] == one_of(name, rows["trace"], "trace of requests")].set_index(
        "quantity"
    )["value"]
    apart = Load(
        of["mean input_tokens"],
        of["mean output_tokens"],
        0.0,
        of["variation of input_tokens"],
        of["variation of output_tokens"],
    )
    return replace(
        apart,
        correlation=(of["mean context_tokens"] - apart.context)
        / (apart.input_tokens * apart.input_cv * apart.output_cv),
    )


@lookup
def patterns() -> list[dict[str, Any]]:
    """Requests that differ more than chips do, two of published traces and two of round lengths:
    `requests`, what they are, and the numbers of a `Load`.

    >>> [(of["requests"], round(of["input_tokens"])) for of in patterns()][:2]
    [('code completion', 2048), ('conversation', 1155)]
    """
    found = {
        "code completion": trace("azure code"),
        "conversation": trace("azure conversation"),
        "long documents": Load(20000.0, 500.0),
        "reasoning": Load(1000.0, 8000.0),
    }
    return [
        {"requests": words} | {name: getattr(of, name) for name in _DOMAINS}
        for words, of in found.items()
    ]
