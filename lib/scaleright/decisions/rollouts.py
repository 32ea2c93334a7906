"""Answers that a round of post-training has written, and the engines that write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from scaleright.costs.post_training import RolloutSeconds, rollout_seconds
from scaleright.formulas import search
from scaleright.inference.curves import Curve
from scaleright.inference.lengths import Load
from scaleright.ops import floor, maximum, minimum, where
from scaleright.order_statistics import longest_over_mean


class Rollout(NamedTuple):
    """The engine that is soonest done: its parts of a round, its chips, answers that it runs at
    once [1], and whether there is one.
    """

    seconds: RolloutSeconds
    chips: Any
    running: Any
    there: Any


class Answers(NamedTuple):
    """The answers of a round: how many, of one prompt, tokens of a prompt and of an answer, the
    longest of all, and how widely lengths spread [1].
    """

    many: Any
    group: Any
    prompt: Any
    mean: Any
    longest: Any
    spread: Any

    @classmethod
    def of(cls, case: Any, what: Mapping[str, Any]) -> Self:
        """Those of a case: the longest is cut where the case cuts it."""
        each = where(what["rollout"] > 0, case.answers_each, what["each"])
        many = case.prompts * each
        stretch = longest_over_mean(many, case.length_spread)
        longest = maximum(minimum(case.answer_tokens * stretch, case.most_tokens), 1.0)
        return cls(many, each, case.prompt_tokens, case.answer_tokens, longest, case.length_spread)

    @property
    def tokens(self) -> Any:
        """Of one sequence [token]."""
        return self.prompt + self.mean


@search
def rollout_of(curves: Iterable[Curve], answers: Answers, writers: Any) -> Rollout:
    """What the engines of so many chips take to write a round's answers, by the one that is soonest
    done; NaN where none holds them.

    >>> from scaleright import catalog
    >>> from scaleright.inference.curves import curves
    >>> from scaleright.inference.deployment import Deployment
    >>> one, = curves([Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))])
    >>> found = rollout_of([one], Answers(512.0, 1.0, 500.0, 300.0, 900.0, 0.5), 8.0)
    >>> round(float(found.running)), 5 < found.seconds.total < 30
    (64, True)
    """
    load, best = Load(answers.prompt, answers.mean, output_cv=answers.spread), None
    for one in curves:
        mine = maximum(answers.many * one.chips / writers, 1.0)
        slots = floor(one.slots(load))
        usable = (slots >= 1) & (one.chips <= writers)
        slots = maximum(slots, 1.0)
        prompts = mine / minimum(answers.group, mine) * answers.prompt
        piece = minimum(maximum(prompts, 1.0), one.budget)
        read = one.mixed_s(0.0, piece, answers.prompt / 2, answers.prompt)
        running = minimum(mine, slots)

        def step(many: Any, one: Curve = one) -> Any:
            return one.writing_s(many) + one.looking_s(many, load.context)

        parts = rollout_seconds(
            mine,
            slots,
            maximum(answers.mean, 1.0),
            answers.longest,
            prompts / piece * read,
            step(1.0),
            step(running),
        )
        found = [*parts.parts().values(), one.chips, running]
        score = where(usable, parts.total, 1e15)
        if best is None:
            best = [score, *found]
        else:
            sooner = score < best[0]
            best = [where(sooner, a, b) for a, b in zip([score, *found], best, strict=True)]
    if best is None:
        none = float("nan")
        return Rollout(RolloutSeconds(none, none, none), 1.0, 1.0, False)
    there = best[0] < 1e14
    return Rollout(
        RolloutSeconds(*(where(there, part, float("nan")) for part in best[1:4])),
        best[4],
        best[5],
        there,
    )
