"""What the chapter `plan` shows of a model of the reader's own that is made first and served then,
on the chips that are bought to make it.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from scaleright import charts
from scaleright.chapters.plan.page import NAN, SERVICE, OwnPlan, is_own, weighed
from scaleright.ops import where
from scaleright.quantity.graph import derived

NOTHING = "Nothing has to give."
"""What a plan says that keeps its limits."""


def served(case: Any, works: Mapping[str, OwnPlan]) -> SimpleNamespace:
    """The case of the service: of what a work makes where it is served then, which no host sells,
    with the chips that are bought for it, unless others are owned already.

    case : quantities workload, then_serve, model, owned and owned_chips, among others
    works : their plans, by the words for the works in the menu
    """
    values = {name: vars(case)[name] for name in ("model", "owned", "owned_chips")}
    values["tuned"] = False
    case = weighed(case, SERVICE, also=is_own(case, works) & case.then_serve)
    for words, of in works.items():
        then = (case.workload == words) & case.then_serve
        bought = then & (of.bought > 0) & (case.owned_chips == 0)
        values["model"] = where(then, of.made, values["model"])
        values["tuned"] = where(then, True, values["tuned"])
        values["owned"] = where(bought, of.chip, values["owned"])
        values["owned_chips"] = where(bought, of.bought, values["owned_chips"])
    # each is one quantity, that rows of a service read as it is
    told = {name: derived(f"served_{name}", of) for name, of in values.items()}
    return SimpleNamespace(**vars(case) | told)


def both(first: OwnPlan, then: OwnPlan, serves: Any) -> OwnPlan:
    """The plan of a work and of the service of what it makes, where it is served then: the bill is
    that of the work, and that of the service is said beside it.

    first, then : both plans, the second of the case that `served` gives
    serves : whether it is served then
    """
    usd = where(then.there, then.usd, 0.0)
    does = charts.phrase("To serve it then: {then.decision}, for {usd:usd} a year")
    does = where(then.there, does, "No way is open to serve it so")
    gives = where(first.helps == NOTHING, "", first.helps + " ") + "To serve it then: " + then.helps
    gives = where(then.helps == NOTHING, first.helps, gives)
    beside = {
        "work": ", and serve it then",
        "decision": ". " + does,
        "because": " To serve it then: " + then.because,
        "sure": " To serve it then: " + then.sure,
    }
    told = {name: getattr(first, name) + where(serves, said, "") for name, said in beside.items()}
    steps = dict(first.steps)
    for number, pair in then.steps.items():
        mine = zip(first.steps.get(number, ("", "")), pair, strict=True)
        steps[number] = tuple(
            one + where(serves, where(one == "", "", "; ") + "to serve it then: " + other, "")
            for one, other in mine
        )
    bars = {f"serve it: {way}": where(serves, of, NAN) for way, of in then.bars.items()}
    return replace(
        first,
        **told,
        helps=where(serves, gives, first.helps),
        met=where(serves, first.met & then.met & then.there, first.met),
        bars={**first.bars, **bars},
        steps=steps,
    )
