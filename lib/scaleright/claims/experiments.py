"""Recomputations of what Token Cost Analysis says of experiments, which it answers with figures of
serving.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from scaleright.catalog import remembered
from scaleright.claims.errors import of_two_steps, widened
from scaleright.claims.verdicts import Condition, Recomputed, span
from scaleright.costs.experiment_steps import experiment_steps
from scaleright.costs.fastest_steps import COLUMNS
from scaleright.market import hour

MODEL, WIDTH = "Llama-3.2-1B", "8 chips"
"""The chapter's runs."""
BLACKWELL, HOPPER = ("B200", "B300", "GB300"), ("H100 SXM", "H200 SXM")
BLACKWELL_NODES, BLACKWELL_RACKS = ("B300",), ("GB300",)


@remembered
def _usd() -> dict[str, float]:
    """What a step of the chapter's runs costs on each platform, on demand [USD]."""
    found = experiment_steps(MODEL, "BF16")
    return {
        name: sum(step[part] for part in COLUMNS[:-1]) * hour(name).usd
        for (name, width), step in found.items()
        if width == WIDTH
    }


def s0_cheapest_study() -> Recomputed:
    usd = _usd()
    ours = min(usd[name] for name in BLACKWELL)
    others = {name: 100 * of / ours for name, of in usd.items() if name not in BLACKWELL}
    own = [of for name, of in others.items() if name.startswith(("A100", "H100", "H200"))]
    all_, older = (widened([min(of)], of_two_steps("chip")) for of in ([*others.values()], own))
    return span(*all_, Condition("against its maker's own older chips", *older))


def s0_scale_up() -> Recomputed:
    """A run on the chips of a rack over the same on the chips of a node [%]."""
    usd = _usd()
    found = (
        100 * usd[rack] / usd[node]
        for rack, node in zip(BLACKWELL_RACKS, BLACKWELL_NODES, strict=True)
    )
    return span(*widened(found, of_two_steps("chip")))


def s0_35x_study() -> Recomputed:
    usd = _usd()
    leads = [usd[old] / usd["GB300"] for old in HOPPER]
    return span(*widened(leads, of_two_steps("chip")))
