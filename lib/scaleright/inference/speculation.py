"""Speculative decoding and multi-token prediction: a cheap draft guesses tokens ahead, the model
checks them all in one step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scaleright.architecture import Transformer
from scaleright.formulas import SHARE, Domain, closed_form
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import StepSeconds, step_seconds
from scaleright.ops import maximum, where

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
