"""Recomputations of Clarifai's statements on tiers of models: what the smallest model that works
saves, how few requests reach the largest, and what a chain does to quality and to the wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from scaleright.catalog import fact
from scaleright.chapters.model_routing.evidence import (
    balanced_rate,
    nested_mean,
    recovered,
    taught_odds,
    usual_check,
)
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.costs.tokens import request_usd
from scaleright.decisions.routing import Check, Tier, Traffic, Way, alone, cascade, routed_saving
from scaleright.decisions.routing_tiers import LEVELS, VERDICT_TOKENS, success_rates
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.market import asked_tokens, hour
from scaleright.units import HOURS_PER_DAY

TIERS = ("Llama-3.1-8B", "Llama-3.3-70B", "gpt-4.1")
"""Models of about the document's tiers, of which each is right more often than the one before."""
TOKENS = 2000, 500
QUALITY = 0.95
"""Share of the large model's score that published routers kept [1]."""
CHIP, PACE = "H100 SXM", 30.0
OLD = ("gpt-4o-2024-05-13", "claude-3-5-sonnet-20241022")
"""Large models that a team may have chosen in 2024."""
LARGE, MARGIN = ("gpt-4.1", "claude-sonnet-4-0", "claude-opus-4-0"), 0.02
"""Large models of today, and the document's marginal difference [1]."""
THOUSAND, THOUGHT = 1000.0, 4000
"""Requests of a day, and tokens of an answer that thinks step by step."""


def _usd(model: str, tokens: tuple[float, float] = TOKENS) -> float:
    """Price of a request at the API [USD]."""
    asked = asked_tokens(model)
    return request_usd(*tokens, 0.0, asked["input"], asked["output"], asked["input"]).total


def _level(level: str) -> Traffic:
    """Requests of one difficulty."""
    return Traffic([1.0], [[success_rates()[model][level]] for model in TIERS], nested_mean())


def _checks() -> list[tuple[float, float]]:
    """Shares of wrong and of right answers that published checks flag: the worst, the median and
    the best of the large models that check.
    """
    usual = usual_check()
    rates = [balanced_rate(odds) for odds in (usual.low, usual.odds, usual.high)]
    return [(rate, 1 - rate) for rate in rates]


def _chains() -> Iterator[tuple[str, Way, Way]]:
    """The chain of all tiers beside the largest alone, by difficulty and by check; times are not
    told.
    """
    tiers = {place: Tier(_usd(model), 0.0) for place, model in enumerate(TIERS)}
    reading = _usd(TIERS[1], (sum(TOKENS), VERDICT_TOKENS))
    for level in LEVELS:
        for flags in _checks():
            check = Check(*flags, reading, 0.0)
            of = _level(level)
            yield level, cascade(of, tiers, check), alone(of, len(tiers) - 1, tiers[2])


def s2_smallest_works() -> Recomputed:
    prices = [_usd(model) for model in TIERS]
    return span(*(100 * (1 - small / large) for small, large in pairwise(prices)))


def s2_routing_saves() -> Recomputed:
    prices = _usd(TIERS[0]), _usd(TIERS[-1])
    saved = []
    for level in LEVELS:
        small, large = (success_rates()[model][level] for model in (TIERS[0], TIERS[-1]))
        curve = recovered(taught_odds().median(), small, large, nested_mean())
        gap = (QUALITY * large - small) / (large - small)
        saved.append(100 * routed_saving(curve.calls_at(gap), *prices))
    chat = 100 * routed_saving(
        fact("router_chat_calls") / 100,
        fact("router_chat_small_usd"),
        fact("router_chat_large_usd"),
    )
    return span(*saved, Condition("chat, as another model judges it", chat))


def s2_escalation_saves() -> Recomputed:
    found = [(way, one) for _, way, one in _chains()]
    return span(*(100 * (1 - way.usd / one.usd) for way, one in found))


def s2_few_reach_large() -> Recomputed:
    shares = {level: [] for level in LEVELS}
    for level, way, _ in _chains():
        shares[level].append(100 * way.shares[-1])
    every = [share for of in shares.values() for share in of]
    return span(*every, Condition("easy requests", min(shares["easy"]), max(shares["easy"])))


def s2_same_quality() -> Recomputed:
    return span(*(100 * way.right / one.right for _, way, one in _chains()))


def s2_start_tiny_latency() -> Recomputed:
    """Mean wait of small, then large, over that of the large model alone, where both are served on
    the same chips with one reader each.
    """
    pair = TIERS[:2]
    engines = Engines.of(pair, (CHIP,), formats=())
    speeds = [node_speed(engines, model, CHIP, "usual", Load(*TOKENS), PACE) for model in pair]
    waits = [float((1 / of.best_pace).value) * TOKENS[1] for of in speeds]
    tiers = {place: Tier(1.0, wait) for place, wait in enumerate(waits)}
    found = []
    for level in LEVELS:
        for flags in _checks():
            way = cascade(_level(level), tiers, Check(*flags, 0.0, 0.0))
            found.append(100 * way.seconds / waits[1])
    return span(*found)


def s2_default_model() -> Recomputed:
    """What a large model of 2024 costs more than the cheapest of today's that is right as often at
    every level of difficulty [% of its price].
    """
    rates = success_rates()
    saved = []
    for old in OLD:
        as_good = [
            _usd(name)
            for name, of in rates.items()
            if all(of[level] >= rates[old][level] for level in LEVELS)
        ]
        saved.append(100 * (1 - min(as_good) / _usd(old)))
    return span(*saved)


def s2_marginal_accuracy() -> Recomputed:
    """What the cheapest model within two points of a model's score on the easy benchmark costs
    less [% of its price], of the models of the chapter's large tier.
    """
    rates = success_rates()
    saved = []
    for name in LARGE:
        near = [
            _usd(other)
            for other, of in rates.items()
            if rates[name]["easy"] - MARGIN <= of["easy"] <= rates[name]["easy"]
        ]
        saved.append(100 * (1 - min(near) / _usd(name)))
    return span(*saved)


def s2_serverless_low() -> Recomputed:
    """A day of a thousand requests at an API over a day of one rented accelerator [%]."""
    rented = hour(CHIP).usd * HOURS_PER_DAY
    return span(*(100 * THOUSAND * _usd(name) / rented for name in TIERS[:2]))


def s2_think_steps() -> Recomputed:
    """Price of a request whose answer thinks in 4,000 tokens over one of 500 [times]."""
    return span(*(_usd(name, (TOKENS[0], THOUGHT)) / _usd(name) for name in TIERS))
