"""Recomputations on the load of a day: how far it rises, and what scaling with it leaves idle.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright.catalog import fact
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.costs.day_choices import engine_hours, idle_share

WEEK = [
    f"azure_week_{service}_{of}_peak_to_trough"
    for service in ("code", "conversation")
    for of in ("weekday", "weekend")
]
MODEL, CHIP, REQUESTS = "Llama-3.3-70B", "H100 SXM", 1e6
FEW = 2e3
"""Requests of a day that leave one engine nearly empty."""


def s3_spike() -> Recomputed:
    seen = sorted(fact(name) for name in WEEK)
    return span(seen[0], seen[-1], Condition("code completion on weekdays", seen[-1]))


def s2_autoscale_idle() -> Recomputed:
    calm, wild = (
        100 * idle_share(MODEL, CHIP, trace, REQUESTS)
        for trace in ("conversation", "code completion")
    )
    return point(wild, Condition("calm traffic, as conversation", calm))


def s0_absorbs() -> Recomputed:
    """Hours of engines for twice the requests over those for the requests [%]: of large fleets and
    of one that is nearly empty.
    """

    def grown(trace: str, requests: float) -> float:
        of = MODEL, CHIP, trace
        return 100 * engine_hours(*of, 2 * requests) / engine_hours(*of, requests)

    large = (grown(trace, REQUESTS) for trace in ("conversation", "code completion"))
    few = Condition("two thousand requests a day", grown("conversation", FEW))
    return span(*large, few)
