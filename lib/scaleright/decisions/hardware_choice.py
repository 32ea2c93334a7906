"""GPU comparison and selection criteria (F18): the chip on which a workload is cheapest, and what
decides it.

S3 lists what to look at (training or inference, memory, support, latency, spikes) and leaves the
choice to the reader. Here each criterion is computed for one workload, see `hardware_fit`, for
numbers, for all chips at once, or live.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer
from scaleright.catalog import DataError, fact, shared, table
from scaleright.decisions.hardware_candidates import candidate_rows, hour_usd
from scaleright.decisions.hardware_fit import (
    TRAINING_BYTES,
    Fit,
    Terms,
    Work,
    at_the_case,
    fit,
    usd_per_million_at,
    work,
)
from scaleright.decisions.verdict import Verdict
from scaleright.ops import INFINITY, first_case, where
from scaleright.order import noiseless
from scaleright.quantity import at, choose, least
from scaleright.transformer import bytes_per_parameter
from scaleright.units import duration, si, usd, whole
from scaleright.validation import decode_floor

__all__ = [
    "A100_BYTES_PER_S",
    "A100_FLOPS",
    "FORMATS",
    "RULES",
    "SMALLER_CARD_BYTES",
    "SOURCE",
    "TRAINING_BYTES",
    "Cheapest",
    "Fit",
    "Terms",
    "Work",
    "agrees",
    "cheapest_chip",
    "compare",
    "fit",
    "follows_rule",
    "hardware_choice",
    "slowdowns",
    "source_rule",
    "terms_of",
    "usd_per_million_at",
    "usual",
    "why_none",
    "within",
    "work",
]

SOURCE = "S3, GPU comparison"
SMALLER_CARD_BYTES = 48e9 * 1.1
"""Memory of the largest of the smaller cards that S3 names (A40, A6000): 48 GB, as marketed or in
GiB.
"""
A100_FLOPS, A100_BYTES_PER_S = 312e12, 1.5e12
"""What an A100 has; a chip with as much of both is high-end in S3's sense."""


FORMATS = {
    name: {"bytes": bytes_per_parameter(name), "fp8": name == "FP8"}
    for name in ("BF16", "FP8", "INT4")
}
"""Number formats of the weights, for `choose`: bytes a weight, and whether arithmetic is in FP8."""


@shared
def slowdowns() -> dict[str, dict[str, Any]]:
    """The time of a step over its floor by the roofline, for `choose`: low, middle and high end of
    what was published, by task, and what that is, in words (judged).

    >>> middle = slowdowns()["inference"]
    >>> middle["low"] < middle["middle"] < middle["high"]
    True
    """
    chips = candidate_rows()
    matmul = chips["H100 SXM"]["compute_efficiency"]
    a100 = chips["A100 SXM 80GB"]["compute_efficiency"] / fact("gpt3_size_mfu_a100")
    llama = (matmul / fact(f"llama3_405b_mfu_h100{end}") for end in ("", "_low"))
    floors = decode_floor(table("measured/energy")).ratio
    ends = {"inference": floors.quantile([0.05, 0.5, 0.95]), "training": (a100, *llama)}
    words = {
        "inference": f"in {len(floors)} measured runs a step of decoding took {{}} to {{}} times"
        " its floor (90 %)",
        "training": "published runs took {} to {} times the floor of their arithmetic",
    }
    return {
        task: {"low": low, "middle": middle, "high": high}
        | {"judged": words[task].format(f"{low:.1f}", f"{high:.1f}")}
        for task, (low, middle, high) in ends.items()
    }


def usual() -> dict[str, dict[str, Any]]:
    """What a task comes with unless a reader says otherwise: format, demand, utilization, slowdown.

    >>> usual()["training"]["precision"]
    'BF16'
    """
    found = {
        "inference": {"precision": "FP8", "tokens_per_s": 2e4, "utilization": 0.4},
        "training": {"precision": "BF16", "tokens_per_s": 2e5, "utilization": 0.95},
    }
    middles = {task: round(of["middle"], 2) for task, of in slowdowns().items()}
    return {task: of | {"slowdown": middles[task]} for task, of in found.items()}


def terms_of(case: SimpleNamespace) -> Terms:
    """How the controls of a chapter say that a workload is run: in bytes and seconds, and without a
    limit on time where the task is training.

    >>> case = {"task": "training", "tokens_per_s": 2e5, "utilization": 1.0, "slowdown": 2.0}
    >>> case |= {"memory_share": 0.9, "latency_ms": 50, "most_chips": 8, "fabric_gb_per_s": 100}
    >>> terms_of(SimpleNamespace(**case)).limit_s
    inf
    """
    training = case.task == "training"
    return Terms(
        case.tokens_per_s,
        case.utilization,
        case.slowdown,
        fact("memory_bandwidth_efficiency"),
        case.memory_share,
        where(training | (case.latency_ms <= 0), INFINITY, case.latency_ms / 1e3),
        case.most_chips,
        case.fabric_gb_per_s * 1e9,
        across_servers=training,
    )


@dataclass(frozen=True)
class Cheapest:
    """The cheapest chip for a workload, and the next; no name and nan where none can run it.

    usd, next_usd : price of a million tokens [USD]
    fit : how the cheapest one runs it
    as_of : date of its rent
    """

    chip: Any
    usd: Any
    fit: Fit
    as_of: Any
    next_chip: Any
    next_usd: Any


def cheapest_chip(prices: Mapping[str, Any], fit: Fit, as_of: Any) -> Cheapest:
    """The cheapest of chips with these prices; quantities.

    Parameters
    ----------
    prices : of each chip, nan where it cannot run the workload
    fit, as_of : of any of them, the quantity `chip`
    """
    chip, usd = least(prices)
    next_chip, next_usd = least(prices, after=chip)
    return Cheapest(chip, usd, fit.at(chip=chip), at(as_of, chip=chip), next_chip, next_usd)


def source_rule(training: Any, stored_bytes: Any, interactive: Any):
    """The kind of chip that S3 names: for training, for a model beyond its smaller cards, for users
    who wait, or else.

    The document gives no order; a model that does not fit comes before users who wait. Arguments
    may be quantities.

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


def within(shape: Transformer, context: Any) -> Any:
    """Whether a model was made for so many tokens in view, as far as its maker says [truth value].

    >>> from scaleright import catalog
    >>> within(catalog.model("Llama-2-13B"), 100_000)
    False
    """
    return (shape.max_context == 0) | (context <= shape.max_context)


def why_none(shape: Transformer, context: Any) -> Any:
    """Why no chip can run a workload, and what would help, in words; quantities.

    >>> from scaleright import catalog
    >>> why_none(catalog.model("Llama-2-13B"), 2048)[:41]
    'none of the chips considered can run it: '
    """
    return where(
        within(shape, context),
        "none of the chips considered can run it: allow more chips, a slower fabric, a smaller"
        " format or fewer clouds",
        "the model was not made for so many tokens in view: shorten them",
    )


RULES = ("A100", "A100 or H100", "high-end", "smaller card")
"""The kinds of chips that `source_rule` names."""


def agrees(rule: Any, name: Any) -> Any:
    """Whether a chip is of the kind that the rule names: quantities.

    >>> from scaleright.quantity import given
    >>> agrees(given("rule", "A100"), given("chip", "H100 SXM")).value
    False
    """
    kinds = {
        name: {rule: follows_rule(rule, name, chip) for rule in RULES}
        for name, chip in candidate_rows().items()
    }
    kind = choose(kinds, name, otherwise="not listed")
    return first_case([(rule == of, kind[of]) for of in RULES], False)


def compare(of: Work, chips: pd.DataFrame, terms: Terms, own: bool = False) -> pd.DataFrame:
    """The `Fit` of a workload, at its case, on every candidate, the cheapest first; those that can
    not run it last, at an infinite price.

    >>> from scaleright import catalog
    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> ranked = compare(work(catalog.model("Llama-3.1-8B"), False, 2048, 8, "BF16"), candidates(),
    ...     Terms(1000.0))
    >>> bool(ranked["usd_per_million"].is_monotonic_increasing)
    True
    """
    of, terms = at_the_case(of), at_the_case(terms)
    columns = {name: chips[name].to_numpy() for name in chips.columns}
    result = fit(of, columns, np.maximum(hour_usd(columns, own, terms.utilization), 1e-9), terms)
    frame = pd.DataFrame(
        {name: np.broadcast_to(value, len(chips)) for name, value in vars(result).items()},
        index=chips.index,
    )
    runs = frame["runs"] & (columns["bought"] if own else True)
    frame = frame.assign(runs=runs, usd_per_million=frame["usd_per_million"].where(runs, INFINITY))
    return frame.sort_values("usd_per_million", key=noiseless, kind="stable")


def _refusal(of: Work, chips: pd.DataFrame, terms: Terms, own: bool) -> DataError:
    """Why no chip can run a workload, and what would help."""
    if own and not chips["bought"].any():
        return DataError("hardware_choice: the catalog has no purchase price of these chips")
    return DataError(
        f"hardware_choice: no server of up to {terms.most_chips:g} of these chips joined by"
        f" {terms.fabric_bytes_per_s / 1e9:g} GB/s holds"
        f" {si(of.least_bytes, 'B')} within the limits; allow more chips, a"
        " slower fabric, more time, a smaller format or a shorter context"
    )


def _reasons(running: pd.DataFrame, chip: pd.Series, training: bool) -> list[str]:
    """Why the first of the chips that can run a workload is chosen; `chip` is its candidate."""
    best = running.iloc[0]
    second = (
        f"; next comes {running.index[1]} at {usd(running.iloc[1]['usd_per_million'])}"
        if len(running) > 1
        else ""
    )
    together = f"{whole(best['batch'])} sequence{'s' if best['batch'] > 1 else ''}"
    return [
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


def _effect_of_limit(best_usd: float, unlimited: pd.DataFrame) -> str:
    """What a limit on latency changes, given the ranking without it."""
    cheapest = unlimited.iloc[0]["usd_per_million"]
    times = best_usd / cheapest
    return (
        f"without the limit on latency {unlimited.index[0]} would do at"
        f" {usd(cheapest)}, {times:.2g} times less"
        if times > 1.005
        else "a limit on latency changes nothing here"
    )


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
        raise _refusal(of, chips, terms, own)
    name, best = running.index[0], running.iloc[0]
    chip, limited = chips.loc[name], terms.limit_s < INFINITY
    rule = source_rule(training, of.least_bytes, limited)
    reasons = _reasons(running, chip, training)
    if not training and limited:
        unlimited = compare(of, chips, replace(terms, limit_s=INFINITY), own)
        reasons.append(_effect_of_limit(best["usd_per_million"], unlimited))
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
