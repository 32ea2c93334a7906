"""Recomputations on the load of a day: how far it rises, and what scaling with it leaves idle.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright.catalog import fact
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.costs.day_choices import idle_share

WEEK = [
    f"azure_week_{service}_{of}_peak_to_trough"
    for service in ("code", "conversation")
    for of in ("weekday", "weekend")
]
MODEL, CHIP, REQUESTS = "Llama-3.3-70B", "H100 SXM", 1e6


def s3_spike() -> Recomputed:
    seen = sorted(fact(name) for name in WEEK)
    return span(seen[0], seen[-1], Condition("code completion on weekdays", seen[-1]))


def s2_autoscale_idle() -> Recomputed:
    calm, wild = (
        100 * idle_share(MODEL, CHIP, trace, REQUESTS)
        for trace in ("conversation", "code completion")
    )
    return point(wild, Condition("calm traffic, as conversation", calm))
