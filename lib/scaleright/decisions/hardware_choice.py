"""GPU comparison and selection criteria (F18): the chip on which a workload is cheapest, and what
decides it.

S3 lists what to look at (training or inference, memory, support, latency, spikes) and leaves the
choice to the reader. Here each criterion is computed for one workload: what a step of it asks of
any chip (`Work`), how many of a kind it takes and what a million tokens then cost (`Fit`), for
numbers, for all chips at once, or live.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer
from scaleright.catalog import DataError
from scaleright.costs.sizing import batch_that_fits, chips_for_demand, group_size
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_candidates import hour_usd
from scaleright.decisions.verdict import Verdict
from scaleright.ops import INFINITY, Keep, as_it_is, maximum, minimum, where
from scaleright.order import noiseless
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
from scaleright.units import duration, si, usd, whole

SOURCE = "S3, GPU comparison"
TRAINING_BYTES = 16.0
"""Bytes of training state a parameter: BF16 weight and gradient, FP32 master weight and two Adam
moments [zero2020, section 3.1].
"""
SMALLER_CARD_BYTES = 48e9 * 1.1
"""Memory of the largest of the smaller cards that S3 names (A40, A6000): 48 GB, as marketed or in
GiB.
"""
A100_FLOPS, A100_BYTES_PER_S = 312e12, 1.5e12
"""What an A100 has; a chip with as much of both is high-end in S3's sense."""


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


def work(
    t: Transformer, training: Any, context: Any, batch: Any, precision: Any, fp8: Any = None
) -> Work:
    """A step of decoding, or of training, from the shape of a model; numbers or live expressions.

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


def fit(
    of: Work, chip: Mapping[str, Any], usd_per_hour: Any, terms: Terms, keep: Keep = as_it_is
) -> Fit:
    """A workload on a kind of chip, or on many kinds at once, by the roofline times a slowdown.

    A group is the smallest that holds all sequences of a step and keeps the limit on its time;
    where a server has no such group, its largest works on as many sequences as it can.

    Parameters
    ----------
    chip : bf16_flops, fp8_flops, memory_bytes_per_s, memory_bytes, compute_efficiency, see
        `market.matmul_chips`, and scale_up_bytes_per_s and joined, see
        `hardware_candidates.candidates`
    usd_per_hour : price of one chip for every hour of the service [USD/h]
    keep : takes the name and the value of an intermediate result and returns what to go on with; a
        live chart gives each a name of its own there, so that no expression is written out twice

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> tiny = Transformer("tiny", 2, 64, 4, 2, 16, 256, True, 1000, True)
    >>> fit(work(tiny, False, 100, 8, "BF16"), candidates().loc["H100 SXM"], 2.0,
    ...     Terms(tokens_per_s=100.0)).binds
    'one chip'
    """
    flops = keep(
        "flops", where(of.fp8, chip["fp8_flops"], chip["bf16_flops"]) * chip["compute_efficiency"]
    )
    bytes_per_s = keep("bytes_per_s", chip["memory_bytes_per_s"] * terms.bandwidth_efficiency)
    memory = chip["memory_bytes"] * terms.memory_share

    def times(sequences):
        """Arithmetic and memory traffic of a step on one chip [s]."""
        arithmetic_s = compute_seconds(of.flop * sequences, flops, 1.0)
        return arithmetic_s, memory_seconds(
            of.read_bytes + of.sequence_bytes * sequences, bytes_per_s, 1.0
        )

    kept = of.held_bytes + of.sequence_bytes * of.sequences
    whole_step = keep("whole_step", terms.slowdown * token_seconds(*times(of.sequences)))
    # Chips on a slower fabric share no model: each works alone, on as many sequences as it holds.
    alone = chip["scale_up_bytes_per_s"] < terms.fabric_bytes_per_s
    server = keep("server", where(alone, 1.0, minimum(chip["joined"], terms.most_chips)))
    most = where(terms.across_servers, 1e6, server)
    holds, group = (
        keep(name, group_size(kept, memory, whole_step, limit, most))
        for name, limit in (("holds", INFINITY), ("group", terms.limit_s))
    )
    batch = keep(
        "batch",
        batch_that_fits(
            of.sequences,
            group,
            memory,
            of.held_bytes,
            of.sequence_bytes,
            terms.limit_s,
            bytes_per_s / terms.slowdown,
            of.flop,
            flops / terms.slowdown,
        ),
    )
    arithmetic_s, memory_s = (
        keep(name, value)
        for name, value in zip(
            ("arithmetic_s", "memory_s"), times(maximum(batch, 1.0)), strict=True
        )
    )
    on_one = keep("on_one", terms.slowdown * token_seconds(arithmetic_s, memory_s))
    chips = keep(
        "chips",
        chips_for_demand(terms.tokens_per_s, of.tokens * maximum(batch, 1.0), on_one, group),
    )
    slow = where(arithmetic_s >= memory_s, "arithmetic", "memory bandwidth")
    return Fit(
        batch=batch,
        group=group,
        chips=chips,
        step_s=on_one / group,
        usd_per_hour=chips * usd_per_hour,
        usd_per_million=usd_per_million_tokens(
            chips * usd_per_hour, terms.tokens_per_s, terms.utilization
        ),
        binds=where(
            chips > group,
            slow,
            where(group > holds, "latency", where(holds > 1, "memory capacity", "one chip")),
        ),
        # Across servers, each is full: a pair of cards with a bridge is no building block of a
        # cluster.
        runs=(batch >= 1) & (minimum(group, terms.most_chips) <= server),
    )


def source_rule(training: Any, stored_bytes: Any, interactive: Any):
    """The kind of chip that S3 names: for training, for a model beyond its smaller cards, for users
    who wait, or else.

    The document gives no order; a model that does not fit comes before users who wait. Arguments
    may be live.

    >>> source_rule(True, 1e12, False), source_rule(False, 140e9, True), source_rule(False, 16e9,
    ...     True), source_rule(False, 16e9, False)
    ('A100', 'A100 or H100', 'high-end', 'smaller card')
    """
    smaller = where(interactive, "high-end", "smaller card")
    return where(
        training, "A100", where(stored_bytes > SMALLER_CARD_BYTES, "A100 or H100", smaller)
    )


def follows_rule(rule: str, name: str, chip: Mapping[str, Any]) -> bool:
    """Whether a chip is of the kind that the rule names.

    >>> l4 = {"bf16_flops": 121e12, "memory_bytes_per_s": 0.3e12}
    >>> follows_rule("A100 or H100", "A100 SXM 80GB", {}), follows_rule("high-end", "L4", l4)
    (True, False)
    """
    if rule.startswith("A100"):
        return any(name.startswith(kind) for kind in rule.split(" or "))
    high_end = bool(
        chip["bf16_flops"] >= A100_FLOPS and chip["memory_bytes_per_s"] >= A100_BYTES_PER_S
    )
    return high_end == (rule == "high-end")


def compare(of: Work, chips: pd.DataFrame, terms: Terms, own: bool = False) -> pd.DataFrame:
    """The `Fit` of a workload on every candidate, the cheapest first; those that can not run it
    last, at an infinite price.

    >>> from scaleright import catalog
    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> ranked = compare(work(catalog.model("Llama-3.1-8B"), False, 2048, 8, "BF16"), candidates(),
    ...     Terms(1000.0))
    >>> bool(ranked["usd_per_million"].is_monotonic_increasing)
    True
    """
    columns = {name: chips[name].to_numpy() for name in chips.columns}
    result = fit(of, columns, np.maximum(hour_usd(columns, own, terms.utilization), 1e-9), terms)
    frame = pd.DataFrame(
        {name: np.broadcast_to(value, len(chips)) for name, value in vars(result).items()},
        index=chips.index,
    )
    runs = frame["runs"] & (columns["bought"] if own else True)
    frame = frame.assign(runs=runs, usd_per_million=frame["usd_per_million"].where(runs, INFINITY))
    return frame.sort_values("usd_per_million", key=noiseless, kind="stable")


def hardware_choice(
    of: Work, chips: pd.DataFrame, terms: Terms, training: bool = False, own: bool = False
) -> Verdict:
    """The chip on which a workload is cheapest, with the reasons that decide it.

    Parameters
    ----------
    of, terms : the workload, see `work`, and how it is run
    chips : rows of `hardware_candidates.candidates`
    training : whether the task is training
    own : whether the chips are bought

    Raises
    ------
    DataError : no candidate can run it; says what one copy takes.

    >>> from scaleright import catalog
    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> of = work(catalog.model("Llama-3.1-70B"), True, 8192, 16, "BF16")
    >>> hardware_choice(of, candidates(segment="data center"), Terms(1e5, slowdown=2.0),
    ...     training=True).rule
    'A100'
    """
    ranked = compare(of, chips, terms, own)
    running = ranked[ranked["runs"]]
    if running.empty:
        if own and not chips["bought"].any():
            raise DataError("hardware_choice: the catalog has no purchase price of these chips")
        raise DataError(
            f"hardware_choice: no server of up to {terms.most_chips:g} of these chips joined by"
            f" {terms.fabric_bytes_per_s / 1e9:g} GB/s holds"
            f" {si(of.held_bytes + of.sequence_bytes, 'B')} within the limits; allow more chips, a"
            " slower fabric, more time, a smaller format or a shorter context"
        )
    name, best = running.index[0], running.iloc[0]
    chip = chips.loc[name]
    rule = source_rule(training, of.held_bytes + of.sequence_bytes, terms.limit_s < INFINITY)
    second = (
        f"; next comes {running.index[1]} at {usd(running.iloc[1]['usd_per_million'])}"
        if len(running) > 1
        else ""
    )
    together = f"{whole(best['batch'])} sequence{'s' if best['batch'] > 1 else ''}"
    reasons = [
        (
            f"a million tokens cost {usd(best['usd_per_million'])} on {whole(best['chips'])} of"
            f" them{second}"
        ),
        (
            f"{best['binds']} sets the number of chips"
            if best["binds"] != "one chip"
            else "one chip is enough"
        ),
        (
            f"a step of {together} takes {duration(best['step_s'])} on a group of"
            f" {whole(best['group'])}"
            if not training
            else f"the training state takes {whole(best['group'])} or more of them"
        ),
        (
            f"{chip['providers']} provider{'s list' if chip['providers'] > 1 else ' lists'} it, in"
            f" the middle at {usd(chip['rent_usd_per_hour'])} an hour"
        ),
    ]
    if not training and terms.limit_s < INFINITY:
        free = compare(of, chips, replace(terms, limit_s=INFINITY), own)
        times = best["usd_per_million"] / free.iloc[0]["usd_per_million"]
        reasons.append(
            f"without the limit on latency {free.index[0]} would do at"
            f" {usd(free.iloc[0]['usd_per_million'])}, {times:.2g} times less"
            if times > 1.005
            else "a limit on latency changes nothing here"
        )
    numbers = {
        "price": (best["usd_per_million"], "USD / 1e6 token"),
        "chips": (best["chips"], "1"),
        "step": (best["step_s"], "s"),
    }
    numbers |= {
        f"{other} at": (row["usd_per_million"], "USD / 1e6 token")
        for other, row in running.iloc[1:4].iterrows()
    }
    return Verdict(
        "Which accelerator?",
        name,
        tuple(reasons),
        numbers,
        SOURCE,
        rule,
        follows_rule(rule, name, chip),
    )
