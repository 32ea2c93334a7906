"""What one round of reinforcement learning after pretraining takes, and what a run of them costs.

A round writes answers (serving), scores them (forward passes), updates the policy and its critic
(training) and brings the new weights back to the engines. Supervised tuning and tuning on
preferences have the update alone.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    Domain,
    closed_form,
)
from scaleright.ops import INFINITY, maximum, minimum, where
from scaleright.units import SECONDS_PER_HOUR

OVER = Domain(1.0, INFINITY, (1.0, 5.0))
"""A time over a shorter one [1]."""


@dataclass(frozen=True)
class RolloutSeconds(Breakdown):
    """What an engine takes to write its answers [s].

    reading_s : its prompts
    writing_s : the answers, as if all were as long as the mean
    tail_s : waiting for the longest, while few or none of the others still run
    """

    reading_s: Any
    writing_s: Any
    tail_s: Any


@closed_form(answers=COUNT, slots=COUNT, mean_tokens=COUNT, longest_tokens=COUNT)
def engine_steps(answers, slots, mean_tokens, longest_tokens):
    """Steps in which an engine writes so many answers, each a token a step, until the longest ends.

    Parameters
    ----------
    answers : of the engine, all waiting from the start [1]
    slots : that run together at most [1]
    mean_tokens, longest_tokens : of an answer [token]

    Notes
    -----
    Where all run at once it is the longest; where they do not, slots stay full for the rounds
    before, and the last answers to begin are as long as others: within 15 % of what is counted out,
    as a test holds.

    >>> engine_steps(64.0, 256.0, 500.0, 1500.0), engine_steps(512.0, 256.0, 500.0, 1500.0)
    (1500.0, 2000.0)
    """
    return maximum(answers / slots - 1, 0.0) * mean_tokens + maximum(longest_tokens, mean_tokens)


@closed_form(
    answers=COUNT,
    slots=COUNT,
    mean_tokens=COUNT,
    longest_tokens=COUNT,
    reading_s=NON_NEGATIVE,
    alone_s=POSITIVE,
    full_s=POSITIVE,
)
def rollout_seconds(
    answers, slots, mean_tokens, longest_tokens, reading_s, alone_s, full_s
) -> RolloutSeconds:
    """What an engine takes to write its answers, by parts.

    A step takes the longer the more answers run, on a straight line from one to all that run
    together; over a whole rollout the mean is then exact however they thin out.

    Parameters
    ----------
    answers, slots, mean_tokens, longest_tokens : see `engine_steps`
    reading_s : reading the prompts [s]
    alone_s, full_s : a step with one answer, and with as many as run together [s]

    >>> found = rollout_seconds(64.0, 256.0, 500.0, 1500.0, 2.0, 0.01, 0.02)
    >>> round(found.writing_s, 2), round(found.tail_s, 2)
    (10.0, 9.84)
    """
    running = minimum(answers, slots)
    each_s = maximum(full_s - alone_s, 0.0) / maximum(running - 1, 1.0)
    steps = engine_steps(answers, slots, mean_tokens, longest_tokens)
    even = engine_steps(answers, slots, mean_tokens, mean_tokens)
    tokens = answers * mean_tokens
    writing_s = even * (alone_s - each_s) + tokens * each_s
    return RolloutSeconds(reading_s, writing_s, (steps - even) * maximum(alone_s - each_s, 0.0))


@closed_form(weight_bytes=NON_NEGATIVE, engine_chips=COUNT, bytes_per_s=POSITIVE)
def sync_seconds(weight_bytes, engine_chips, bytes_per_s):
    """Bringing new weights to the engines, each of whose chips takes its part of them [s].

    All chips receive at once, so that only the part of one counts; the others pass it on.

    >>> sync_seconds(16e9, 2.0, 40e9)
    0.2
    """
    return weight_bytes / engine_chips / bytes_per_s


@dataclass(frozen=True)
class Round(Breakdown):
    """Seconds of one round by phases, each on the chips that do it."""

    reading_s: Any
    writing_s: Any
    tail_s: Any
    scoring_s: Any
    policy_s: Any
    critic_s: Any
    sync_s: Any

    @property
    def rollout_s(self) -> Any:
        """Those in which engines write [s]."""
        return self.reading_s + self.writing_s + self.tail_s

    @property
    def training_s(self) -> Any:
        """Those in which answers are scored and learned from [s]."""
        return self.scoring_s + self.policy_s + self.critic_s


@closed_form(rollout_s=NON_NEGATIVE, training_s=NON_NEGATIVE, sync_s=NON_NEGATIVE, behind=COUNT)
def round_seconds(rollout_s, training_s, sync_s, behind):
    """What a round takes from one to the next [s].

    Parameters
    ----------
    rollout_s, training_s, sync_s : of its phases [s]
    behind : 1 where the next answers wait for the update, 2 where they are written meanwhile, with
        weights that are one step old

    >>> round_seconds(60.0, 30.0, 2.0, 1.0), round_seconds(60.0, 30.0, 2.0, 2.0)
    (92.0, 62.0)
    """
    both, longer = rollout_s + training_s, maximum(rollout_s, training_s)
    return sync_s + both + (longer - both) * minimum(behind - 1, 1.0)


@dataclass(frozen=True)
class PostTrainingCost(Breakdown):
    """What a run costs [USD], by what its chips do, and by what is paid beside them.

    reading_usd, writing_usd, tail_usd, scoring_usd, policy_usd, critic_usd, sync_usd : as in
        `Round`
    waiting_usd : of chips that one phase leaves idle
    beyond_usd : by which published runs took longer than their phases
    reward_model_usd : training the model of people's preferences
    labels_usd : paid to people
    """

    reading_usd: Any
    writing_usd: Any
    tail_usd: Any
    scoring_usd: Any
    policy_usd: Any
    critic_usd: Any
    sync_usd: Any
    waiting_usd: Any
    beyond_usd: Any
    reward_model_usd: Any
    labels_usd: Any

    @property
    def rollout_usd(self) -> Any:
        """Writing answers, with the wait for the longest [USD]."""
        return self.reading_usd + self.writing_usd + self.tail_usd

    @property
    def machine_usd(self) -> Any:
        """All but labels [USD]."""
        return self.total - self.labels_usd


@closed_form(
    reading_s=NON_NEGATIVE,
    writing_s=NON_NEGATIVE,
    tail_s=NON_NEGATIVE,
    scoring_s=NON_NEGATIVE,
    policy_s=NON_NEGATIVE,
    critic_s=NON_NEGATIVE,
    sync_s=NON_NEGATIVE,
    behind=COUNT,
    writers=COUNT,
    learners=COUNT,
    chips=COUNT,
    rounds=NON_NEGATIVE,
    usd_per_hour=NON_NEGATIVE,
    beyond=OVER,
    reward_model_hours=NON_NEGATIVE,
    labels_usd=NON_NEGATIVE,
)
def post_training_usd(
    reading_s,
    writing_s,
    tail_s,
    scoring_s,
    policy_s,
    critic_s,
    sync_s,
    behind,
    writers,
    learners,
    chips,
    rounds,
    usd_per_hour,
    beyond=1.0,
    reward_model_hours=0.0,
    labels_usd=0.0,
) -> PostTrainingCost:
    """Dollars of a run, by parts.

    Parameters
    ----------
    reading_s ... sync_s : phases of a round, see `Round` [s]
    behind : see `round_seconds` [1]
    writers, learners, chips : accelerators that write, that score and learn, that are paid for [1]
    rounds, usd_per_hour : of the run [1], of one accelerator [USD/h]
    beyond : time of real runs over that of their phases [1]
    reward_model_hours : accelerator-hours of training the reward model, without what is beyond [h]
    labels_usd : paid to people [USD]

    >>> phases = 1.0, 50.0, 9.0, 10.0, 20.0, 0.0, 2.0
    >>> one = post_training_usd(*phases, 1.0, 8.0, 8.0, 8.0, 100.0, 2.0, 1.5, 10.0, 500.0)
    >>> round(one.rollout_usd, 1), round(one.waiting_usd, 9), round(one.total)
    (26.7, 0.0, 591)
    """
    hour = rounds * usd_per_hour / SECONDS_PER_HOUR
    write, learn = writers * hour, learners * hour
    phases = {
        "reading_usd": write * reading_s,
        "writing_usd": write * writing_s,
        "tail_usd": write * tail_s,
        "scoring_usd": learn * scoring_s,
        "policy_usd": learn * policy_s,
        "critic_usd": learn * critic_s,
        "sync_usd": chips * hour * sync_s,
    }
    first, *others = phases.values()
    reward = reward_model_hours * usd_per_hour
    writes, learns = reading_s + writing_s + tail_s, scoring_s + policy_s + critic_s
    beside = where(behind > 1, 1.0, 0.0)  # what the others do meanwhile
    idle = write * maximum(learns - beside * writes, 0.0)
    idle = idle + learn * maximum(writes - beside * learns, 0.0)
    idle = where(chips > writers, idle, 0.0)
    return PostTrainingCost(
        **phases,
        waiting_usd=idle,
        beyond_usd=(beyond - 1) * (sum(others, first) + idle + reward),
        reward_model_usd=reward,
        labels_usd=labels_usd,
    )
