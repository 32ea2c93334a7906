"""A workload on one kind of chip: what a step of it asks of any chip (`Work`), how it is run
(`Terms`), how many of a kind it takes and what a million tokens then cost (`Fit`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from scaleright.architecture import Transformer
from scaleright.costs.sizing import batch_that_fits, chips_for_demand, group_size
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.ops import INFINITY, maximum, minimum, where
from scaleright.quantity import at
from scaleright.quantity.graph import value_of
from scaleright.transformer import (
    compute_seconds,
    decode_step,
    forward_flop,
    memory_seconds,
    parameters,
    token_seconds,
    training_flop_per_token,
    weight_bytes,
)

TRAINING_BYTES = 16.0
"""Bytes of training state a parameter: BF16 weight and gradient, FP32 master weight and two Adam
moments [zero2020, section 3.1].
"""


@dataclass(frozen=True)
class Work:
    """What a step of a workload asks of the chips that share it, whatever they are.

    flop : arithmetic of one sequence in a step
    read_bytes, held_bytes : weights read in a step, and weights or training state kept in memory
    sequence_bytes : cache of one sequence, kept and read
    sequences : sequences of a step, at most
    tokens : tokens of one sequence that a step writes, or trains on
    fp8 : whether arithmetic may run in FP8
    """

    flop: Any
    read_bytes: Any
    held_bytes: Any
    sequence_bytes: Any
    sequences: Any
    tokens: Any
    fp8: Any

    @property
    def least_bytes(self) -> Any:
        """What one copy of the model and one sequence take of the memory [B]."""
        return self.held_bytes + self.sequence_bytes


def work(
    t: Transformer, training: Any, context: Any, batch: Any, precision: Any, fp8: Any = None
) -> Work:
    """A step of decoding, or of training, from the shape of a model; numbers or quantities.

    Parameters
    ----------
    t : the model
    training : whether the task is training
    context : tokens that a new token attends to, or of a training sequence [token]
    batch : sequences of a step of one copy, at most [1]; the weights that a step reads are those
        that so many touch
    precision : format of the weights by name, or bytes per weight; training keeps its state in
        `TRAINING_BYTES`
    fp8 : whether arithmetic may run in FP8; told by the name of the format if None

    Training reads each weight for many tokens at once, so its memory traffic is left out; its
    activations must fit in the memory that `fit` leaves free, which recomputing them allows.

    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> work(tiny, False, 100, 8, "BF16").tokens, work(tiny, True, 100, 8, "BF16").tokens
    (1, 100)
    """
    step = decode_step(t, context, batch, precision, 1, 1.0, 1.0, 1.0, 1.0)
    return Work(
        flop=where(
            training,
            training_flop_per_token(forward_flop(t, context).total) * context,
            step.flop / batch,
        ),
        read_bytes=where(training, 0.0, step.weight_bytes),
        held_bytes=where(
            training,
            weight_bytes(parameters(t).total, TRAINING_BYTES),
            step.stored_bytes - step.kv_bytes,
        ),
        sequence_bytes=where(training, 0.0, step.kv_bytes / batch),
        sequences=batch,
        tokens=where(training, context, 1),
        fp8=(precision == "FP8") if fp8 is None else fp8,
    )


@dataclass(frozen=True)
class Terms:
    """How a workload is run, the same on every chip.

    tokens_per_s : demand at its peak [token/s]
    utilization : mean over peak demand [1]
    slowdown : time of a step over its floor by the roofline [1]
    bandwidth_efficiency : share of the datasheet bandwidth that kernels reach [1]
    memory_share : share of the memory that weights and cache, or training state, may take [1]
    limit_s : most time of a step [s], infinite for none
    most_chips : accelerators of one server that may share a copy of the model [1]
    fabric_bytes_per_s : least bandwidth of a chip to the others of its server, one way, if they
        share a model [B/s]
    across_servers : whether several full servers may share the model, as in training
    """

    tokens_per_s: Any
    utilization: Any = 1.0
    slowdown: Any = 1.0
    bandwidth_efficiency: Any = 0.8
    memory_share: Any = 0.9
    limit_s: Any = INFINITY
    most_chips: Any = 8.0
    fabric_bytes_per_s: Any = 0.0
    across_servers: Any = False


@dataclass(frozen=True)
class Fit:
    """A workload on one kind of chip.

    batch, group, chips : sequences that a group works on together, chips of a group, and chips in
        all [1]
    step_s : time of a step of a group [s]
    usd_per_hour, usd_per_million : price of all chips [USD/h], and of a million tokens [USD]
    binds : what sets the number of chips, in words
    runs : whether a server of it holds the model and keeps the limits of the terms
    """

    batch: Any
    group: Any
    chips: Any
    step_s: Any
    usd_per_hour: Any
    usd_per_million: Any
    binds: Any
    runs: Any

    def at(self, **case: Any) -> Self:
        """The same at another case, see `quantity.at`."""
        return replace(self, **{name: at(part, **case) for name, part in vars(self).items()})


def at_the_case(of: Any) -> Any:
    """A workload, or its terms, with the value that each quantity has at the case.

    >>> from scaleright.quantity import given
    >>> at_the_case(Terms(given("demand", 5.0))).tokens_per_s
    5.0
    """
    return replace(of, **{name: value_of(part) for name, part in vars(of).items()})


def _reached(of: Work, chip: Mapping[str, Any], terms: Terms) -> tuple[Any, Any]:
    """Arithmetic and memory bandwidth of a chip that a workload reaches [FLOP/s], [B/s]."""
    flops = where(of.fp8, chip["fp8_flops"], chip["bf16_flops"]) * chip["compute_efficiency"]
    return flops, chip["memory_bytes_per_s"] * terms.bandwidth_efficiency


def _step_times(of: Work, sequences: Any, flops: Any, bytes_per_s: Any) -> tuple[Any, Any]:
    """Arithmetic and memory traffic of a step on one chip [s]."""
    arithmetic_s = compute_seconds(of.flop * sequences, flops, 1.0)
    return arithmetic_s, memory_seconds(
        of.read_bytes + of.sequence_bytes * sequences, bytes_per_s, 1.0
    )


def _groups(
    of: Work, chip: Mapping[str, Any], terms: Terms, times: tuple[Any, Any]
) -> tuple[Any, Any, Any]:
    """Chips of a server that may share the model, the fewest that hold all sequences of a step, and
    the fewest that keep the limit on its time, too [1]; `times` are those of the step on one chip.
    """
    kept = of.held_bytes + of.sequence_bytes * of.sequences
    memory = chip["memory_bytes"] * terms.memory_share
    whole_step = terms.slowdown * token_seconds(*times)
    # Chips on a slower fabric share no model: each works alone, on as many sequences as it holds.
    alone = chip["scale_up_bytes_per_s"] < terms.fabric_bytes_per_s
    server = where(alone, 1.0, minimum(chip["joined"], terms.most_chips))
    most = where(terms.across_servers, 1e6, server)
    holds, group = (
        group_size(kept, memory, whole_step, limit, most) for limit in (INFINITY, terms.limit_s)
    )
    return server, holds, group


def _binds(chips: Any, group: Any, holds: Any, arithmetic_s: Any, memory_s: Any) -> Any:
    """What sets the number of chips, in words."""
    slow = where(arithmetic_s >= memory_s, "arithmetic", "memory bandwidth")
    return where(
        chips > group,
        slow,
        where(group > holds, "latency", where(holds > 1, "memory capacity", "one chip")),
    )


def fit(of: Work, chip: Mapping[str, Any], usd_per_hour: Any, terms: Terms) -> Fit:
    """A workload on a kind of chip, or on many kinds at once, by the roofline times a slowdown.

    A group is the smallest that holds all sequences of a step and keeps the limit on its time;
    where a server has no such group, its largest works on as many sequences as it can.

    Parameters
    ----------
    chip : bf16_flops, fp8_flops, memory_bytes_per_s, memory_bytes, compute_efficiency, see
        `market.matmul_chips`, and scale_up_bytes_per_s and joined, see
        `hardware_candidates.candidates`
    usd_per_hour : price of one chip for every hour of the service [USD/h]

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> fit(work(tiny, False, 100, 8, "BF16"), candidates().loc["H100 SXM"], 2.0,
    ...     Terms(tokens_per_s=100.0)).binds
    'one chip'
    """
    flops, bytes_per_s = _reached(of, chip, terms)
    times = _step_times(of, of.sequences, flops, bytes_per_s)
    server, holds, group = _groups(of, chip, terms, times)
    batch = batch_that_fits(
        of.sequences,
        group,
        chip["memory_bytes"] * terms.memory_share,
        of.held_bytes,
        of.sequence_bytes,
        terms.limit_s,
        bytes_per_s / terms.slowdown,
        of.flop,
        flops / terms.slowdown,
    )
    at_work = maximum(batch, 1.0)
    arithmetic_s, memory_s = _step_times(of, at_work, flops, bytes_per_s)
    on_one = terms.slowdown * token_seconds(arithmetic_s, memory_s)
    chips = chips_for_demand(terms.tokens_per_s, of.tokens * at_work, on_one, group)
    bill = chips * usd_per_hour
    return Fit(
        batch=batch,
        group=group,
        chips=chips,
        step_s=on_one / group,
        usd_per_hour=bill,
        usd_per_million=usd_per_million_tokens(bill, terms.tokens_per_s, terms.utilization),
        binds=_binds(chips, group, holds, arithmetic_s, memory_s),
        # Across servers, each is full: a pair of cards with a bridge is no building block of a
        # cluster.
        runs=(batch >= 1) & (minimum(group, terms.most_chips) <= server),
    )


def usd_per_million_at(
    of: Work, chip: Mapping[str, Any], usd_per_hour: Any, terms: Terms, slower: Any
) -> Any:
    """What a million tokens cost if a step takes so many times as long, and the chip works on as
    many sequences all the same [USD / 1e6 token].

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> asked = work(tiny, False, 100, 8, "BF16"), candidates().loc["H100 SXM"], 2.0, Terms(1e8)
    >>> usd_per_million_at(*asked, 2.0) > usd_per_million_at(*asked, 1.0)
    True
    """
    patience = minimum(terms.limit_s, 1e9) * slower
    changed = replace(terms, slowdown=terms.slowdown * slower, limit_s=patience)
    return fit(of, chip, usd_per_hour, changed).usd_per_million
