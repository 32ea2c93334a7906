"""A run of post-training on some chips: its rounds by parts, its memory, and its dollars.

Rollouts are serving, by the one model of an engine (`inference.curves`), with as many answers at
once as a round gives it and no pace to keep. Updates are training, by the one model of a step
(`costs.update_steps`), and a forward pass is half of a step that trains adapters alone. An hour is
that of the one market.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self

from scaleright.catalog import model
from scaleright.collectives import network
from scaleright.costs.platforms import cluster_chips, in_server
from scaleright.costs.post_training import (
    PostTrainingCost,
    RolloutSeconds,
    Round,
    post_training_usd,
    rollout_seconds,
    round_seconds,
    sync_seconds,
)
from scaleright.costs.update_steps import Update, Updates
from scaleright.formulas import lookup, search
from scaleright.inference.curves import Curve
from scaleright.inference.engine_tables import curve_at
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.ops import floor, maximum, minimum, where
from scaleright.order_statistics import longest_over_mean
from scaleright.quantity import Table, choose
from scaleright.training.memory import FULL_BYTES, HALF_BYTES, OPTIMIZER_BYTES, adapter_parameters
from scaleright.transformer.parameters import parameters
from scaleright.units import SECONDS_PER_HOUR, figure
from scaleright.validation.in_common import KINDS

# Answers that a round of post-training has written, and the engines that write them


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


METHODS = {
    "sft": {"rollout": 0, "own": 0, "reference": 0, "reward": 0, "critic": 0, "each": 1},
    "dpo": {"rollout": 0, "own": 0, "reference": 1, "reward": 0, "critic": 0, "each": 2},
    "ppo": {"rollout": 1, "own": 1, "reference": 1, "reward": 1, "critic": 1, "each": 1},
    "grpo": {"rollout": 1, "own": 1, "reference": 1, "reward": 1, "critic": 0, "each": 1},
    "rlvr": {"rollout": 1, "own": 1, "reference": 1, "reward": 0, "critic": 0, "each": 1},
}
"""What each method has [1]: answers that it writes; passes of the policy itself, of the frozen
reference, of a reward model and of a critic over each answer; sequences of an example. A critic
learns as well. An answer of `rlvr` is checked by a program.
"""
TURNS, APART, BEHIND = "in turns", "apart", "apart, one step behind"
SHARINGS = (TURNS, APART, BEHIND)
"""How chips are shared between writing and learning."""
ALL, LORA = "all weights", "LoRA"
STATE_BYTES = HALF_BYTES + FULL_BYTES + OPTIMIZER_BYTES["adamw"]
"""Of each weight that is trained: itself, its gradient and Adam's state [B]."""
FORWARD = 0.5
"""Share of a step of adapters alone that is its forward pass [1]: as much runs backward, since
frozen weights have no gradient.
"""


@lookup
def untunable(case: Any) -> str:
    """Why a case, in plain values, is none: groups have answers to compare, answers are no longer
    than they may be, and adapters no wider than the model; empty where it is one.
    """
    name, method = case.model, case.method
    rl = METHODS[method]["rollout"]
    if method in ("grpo", "rlvr") and case.answers_each < 2:
        return (
            f"a group of {case.answers_each} answer has no other to compare it with; allowed for"
            f" {method}: answers_each of 2 or more; ppo, whose critic needs no group, takes 1"
        )
    if rl and case.answer_tokens > case.most_tokens:
        return (
            f"answers of {case.answer_tokens:,} tokens in the mean are longer than the"
            f" {case.most_tokens:,} at which they are cut; allow longer ones"
        )
    shape = model(name)
    hidden, context = shape.hidden, shape.max_context or 0
    longest = case.most_tokens if rl else case.answer_tokens
    if 0 < context < case.prompt_tokens + longest:
        said = f"answers of up to {longest:,}" if rl else f"an answer of {longest:,}"
        return (
            f"a prompt of {case.prompt_tokens:,} and {said} tokens are longer than the"
            f" {context:,} that {name} was made for; cut answers sooner"
        )
    if case.trained == LORA and case.lora_rank > hidden:
        return (
            f"adapters of rank {case.lora_rank:,} are wider than the {hidden:,} of {name} itself;"
            " take a lower rank, or train all weights"
        )
    return ""


@dataclass(frozen=True)
class Tables:
    """What a case may choose from.

    engines, updates : of the models on the platforms
    chips : memory_bytes, domain (chips of a fabric), up and out (what a chip receives) [B/s]
    models : parameters, adapter (of rank 1), hidden and context, by name
    kinds : of the models, by name, as `validation.in_common` calls them
    """

    engines: Engines
    updates: Updates
    chips: Table
    models: Table
    kinds: Mapping[str, str]

    @classmethod
    def of(
        cls,
        models: Iterable[str],
        sizes: Iterable[int],
        names: Iterable[str] | None = None,
        formats: Iterable[str] = ("BF16", "FP8"),
    ) -> Self:
        """Those of some models, numbers of chips and platforms.

        >>> some = Tables.of(["Llama-3.1-8B"], [8], ["H100 SXM"])
        >>> round(some.models.row("Llama-3.1-8B").parameters.value / 1e9, 2)
        8.03
        """
        models, names = tuple(dict.fromkeys(models)), tuple(names or cluster_chips())
        chips = {}
        for name in names:
            chip = in_server(name)
            up, out = network(chip)
            chips[name] = {
                "memory_bytes": chip.require("memory_bytes"),
                "domain": up.chips,
                "up": figure(up.bytes_per_s, 4),
                "out": figure(out.bytes_per_s, 4),
            }
        shapes = {name: model(name) for name in models}
        facts = {
            name: {
                "parameters": float(parameters(shape).total),
                "adapter": float(adapter_parameters(shape, 1)),
                "hidden": float(shape.hidden),
                "context": float(shape.max_context or 0),
            }
            for name, shape in shapes.items()
        }
        return cls(
            Engines.of(models, names, tuple(formats)),
            Updates.of(models, sizes, names),
            Table(chips),
            Table(facts),
            {name: KINDS[bool(shape.experts)] for name, shape in shapes.items()},
        )


@dataclass(frozen=True)
class Held:
    """Bytes of one learning chip [B]: the policy in its layout, and the models beside it."""

    policy_bytes: Any
    reference_bytes: Any
    reward_bytes: Any
    critic_bytes: Any

    @property
    def beside(self) -> Any:
        """Those of the models beside the policy [B]."""
        return self.reference_bytes + self.reward_bytes + self.critic_bytes

    @property
    def total(self) -> Any:
        """All of them [B]."""
        return self.policy_bytes + self.beside


@dataclass(frozen=True)
class Job:
    """A run on a platform.

    one : seconds of a round by phases; round_s : from one to the next [s]
    behind : see `round_seconds` [1]
    rounds : of the run [1]; reward_hours : accelerator-hours of the reward model [h]
    writers, learners, chips : that write, that learn, and that are paid for [1]
    rollout, policy, held : the engine, the update of the policy, and what a chip holds
    wrote, fits : whether engines hold model and answers, and whether learning fits in memory
    there : whether it runs; memory_bytes : of a chip [B]
    """

    one: Round
    round_s: Any
    behind: Any
    rounds: Any
    reward_hours: Any
    writers: Any
    learners: Any
    chips: Any
    rollout: Rollout
    policy: Update
    held: Held
    wrote: Any
    fits: Any
    there: Any
    memory_bytes: Any

    def usd(self, usd_per_hour: Any, beyond: Any, labels_usd: Any) -> PostTrainingCost:
        """What it costs [USD], see `post_training_usd`."""
        phases = {field.name: getattr(self.one, field.name) for field in fields(Round)}
        return post_training_usd(
            **phases,
            behind=self.behind,
            writers=self.writers,
            learners=self.learners,
            chips=self.chips,
            rounds=self.rounds,
            usd_per_hour=usd_per_hour,
            beyond=beyond,
            reward_model_hours=self.reward_hours,
            labels_usd=labels_usd,
        )

    def hours(self, beyond: Any) -> Any:
        """Hours from start to end, the reward model first [h]."""
        alone = self.rounds * self.round_s / SECONDS_PER_HOUR
        return beyond * (alone + self.reward_hours / self.chips)


def _held(case: Any, what: Mapping, policy: Any, judge: Any, chips: Any) -> tuple[Any, Any, Any]:
    """Bytes of a chip that reference, reward model and critic take, shared by all chips [B]."""
    frozen = HALF_BYTES / chips
    adapters = case.trained == LORA
    reference = where(adapters, 0.0, what["reference"] * policy.parameters * frozen)
    reward = what["reward"] * judge.parameters * frozen
    state = where(adapters, HALF_BYTES, STATE_BYTES)
    return reference, reward, what["critic"] * judge.parameters * state / chips


def _updates(
    tables: Tables, case: Any, chip: Any, tokens: Any, rooms: tuple[Any, Any, Any]
) -> tuple[Update, Update, Any, Any, Update]:
    """Updates of the policy and of its critic, seconds of a chip for a token that each model reads,
    and updates of a reward model.

    rooms : memory that is free for them: beside the policy, beside its critic, and of a chip [B]
    """
    policy_room, critic_room, whole = rooms
    size = case.chips, tokens
    update = tables.updates.on(case.model, case.trained, chip, *size, policy_room)
    second = tables.updates.on(case.reward_model, case.trained, chip, *size, critic_room)
    read = tables.updates.on(case.model, LORA, chip, *size, whole).token_chip_s
    judged = tables.updates.on(case.reward_model, LORA, chip, *size, whole).token_chip_s
    return (
        update,
        second,
        read,
        judged,
        tables.updates.on(case.reward_model, ALL, chip, *size, whole),
    )


def _round(
    case: Any, rl: Any, answers: Answers, rollout: Any, models: tuple, writing: Any, learning: Any
) -> Round:
    """Phases of a round but for bringing weights to where answers are written.

    models : update of the policy, whether a critic learns too and its update, seconds of a chip in
        which all models that score read a token
    writing, learning : as in `job`
    """
    update, critic, second, forward = models
    tokens, passes = answers.many * answers.tokens, where(rl, case.passes, 1.0)
    steps = where(rl, passes * case.minibatches, 1.0)

    def learned(of: Update) -> Any:
        return learning * (passes * tokens * of.token_chip_s / case.chips + steps * of.step_s)

    wrote = (where(rl, writing * part, 0.0) for part in rollout.seconds.parts().values())
    return Round(
        *wrote,
        scoring_s=FORWARD * tokens * forward / case.chips,
        policy_s=learned(update),
        critic_s=where(critic, learned(second), 0.0),
        sync_s=0.0,
    )


@search
def job(tables: Tables, case: Any, chip: Any, writing: Any = 1.0, learning: Any = 1.0) -> Job:
    """A case's run on a platform.

    Parameters
    ----------
    case : `model`, `reward_model`, `method`, `trained`, `lora_rank`, `chips`, `sharing`,
        `rollout_chips`, `rollout_precision`, `rounds`, `prompts`, `answers_each`, `passes`,
        `minibatches`, `prompt_tokens`, `answer_tokens`, `length_spread`, `most_tokens`, `labels`;
        quantities or not
    writing, learning : time in practice over the predicted one, of rollouts and of all else [1]
    """
    what = choose(METHODS, case.method)
    answers = Answers.of(case, what)
    policy, judge = tables.models.row(case.model), tables.models.row(case.reward_model)
    facts, learners = tables.chips.row(chip), case.chips
    rl, adapters = what.rollout > 0, case.trained == LORA
    apart = rl & (case.sharing != TURNS)
    writers = where(apart, case.rollout_chips, learners)
    chips = where(apart, learners + writers, learners)

    row = tables.engines.rows.row(case.model, chip, case.rollout_precision)
    many = sum(name.startswith("chips ") for name in row)
    rollout = rollout_of([curve_at(row, place) for place in range(many)], answers, writers)

    beside = _held(case, what, policy, judge, learners)
    states = where(adapters, HALF_BYTES, STATE_BYTES) * policy.parameters / learners
    rooms = facts.memory_bytes - sum(beside[1:], beside[0]), facts.memory_bytes - states
    rooms = rooms[0], rooms[1] - beside[0] - beside[1], facts.memory_bytes
    update, second, read, judged, taught = _updates(tables, case, chip, answers.tokens, rooms)

    link = where(chips <= facts.domain, facts.up, facts.out)
    tuned = where(adapters, case.lora_rank * policy.adapter, policy.parameters)
    wrote = where(rl, rollout.there, True)
    forward = (what.own + what.reference) * read + (what.reward + what.critic) * judged
    models = update, what.critic > 0, second, forward * learning
    one = _round(case, rl, answers, rollout, models, writing, learning)
    one = replace(one, sync_s=where(rl, sync_seconds(tuned * HALF_BYTES, rollout.chips, link), 0.0))
    behind = where(rl & (case.sharing == BEHIND), 2.0, 1.0)
    round_s = round_seconds(one.rollout_s, one.training_s, one.sync_s, behind)
    rounds = where(rl, case.rounds, case.labels * case.passes / case.prompts)
    taught_s = 2 * case.labels * answers.tokens * taught.token_chip_s
    reward_hours = where(what.reward > 0, learning * taught_s / SECONDS_PER_HOUR, 0.0)
    others = where(what.critic > 0, second.fits, True) & where(what.reward > 0, taught.fits, True)
    return Job(
        one,
        round_s,
        behind,
        rounds,
        reward_hours,
        writers,
        learners,
        chips,
        rollout,
        update,
        Held(update.memory_bytes, *beside),
        wrote,
        update.fits & others,
        wrote & update.fits & others,
        facts.memory_bytes,
    )
