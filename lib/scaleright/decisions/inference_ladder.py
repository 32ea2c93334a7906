"""Inference Efficiency Ladder (F7): what Clarifai's rungs save together for one service, against
its 30 to 40 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.formulas import search
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import groups_at_pace
from scaleright.inference.ladder import CHANGES, DENSE, SOFTWARE, Fleet, Ladder, sparse_slowdowns
from scaleright.inference.lengths import Speculation
from scaleright.inference.slowdowns import slowdowns
from scaleright.information import Choice, spread_between
from scaleright.market import BEST, CheapestAccelerator, Hours, PaidHour
from scaleright.ops import first_case, where
from scaleright.quantity import Quantity, evaluate, given, least, over
from scaleright.quantity.graph import parameter, value_of

SOURCE = "Clarifai's Inference Efficiency Ladder"
SOURCE_SAVING = (0.30, 0.40)
"""What the document says that all rungs save together."""


def rungs_of_source() -> dict[str, list[str]]:
    """The levers on each rung of Clarifai's ladder, in its order.

    >>> list(rungs_of_source())
    ['quantize and prune', 'LoRA fine-tuning', 'dynamic batching and caching',
     'GPU pooling and scheduling']
    """
    rows = catalog.table("levers").dropna(subset=["rung", "item"])
    rows = rows[rows["rung"] != "before the ladder"]
    return rows.groupby("rung", sort=False)["lever"].apply(list).to_dict()


def levers_of_source() -> pd.DataFrame:
    """The levers of Clarifai's checklist in its order, with what each needs, risks, and what to
    measure, in words.
    """
    words = catalog.table("levers").dropna(subset="item")
    return words[["lever", "needs", "risk", "measure"]].reset_index(drop=True)


def as_promised(saving: Any) -> Any:
    """Whether a saving rounds to one that the document promises; a number or a quantity [1].

    >>> as_promised(0.404), as_promised(0.41)
    (True, False)
    """
    low, high = SOURCE_SAVING
    return (saving >= low - 0.005) & (saving <= high + 0.005)


@dataclass(frozen=True)
class CheapestLadder:
    """A service on the accelerator that it names, or on the one on which its fleet costs least once
    the levers are taken.

    case : on it, under the contract that is taken
    climb, hour : the levers there, and an hour of one accelerator
    many : accelerators that serve it at a price, of which it is the cheapest [1]
    nameless : whether a rent of the reader's own is that of no accelerator that is named
    """

    case: SimpleNamespace
    climb: Ladder
    hour: PaidHour
    many: Any
    nameless: Any

    @classmethod
    def of(cls, case: Any, models: Sequence[str], hours: Hours, levers: Sequence[str]) -> Self:
        """That of a case of quantities, whose accelerator and contract may be `market.BEST`.

        models : that may be chosen, the smaller models among them
        """

        def on(name: Any) -> tuple[SimpleNamespace, Ladder, PaidHour]:
            there = hours.on(case, name)
            return (
                there,
                Ladder(Fleet.of(there), models, hours.names, levers),
                hours.rents(there).hour,
            )

        chip = given("chip", hours.names[0])
        _, climb, hour = on(chip)
        usd = climb.steps[-1].chips * hour.usd
        taken, many = CheapestAccelerator.of(case.accelerator, chip, hours.names, usd, "fleets")
        nameless = (case.accelerator == BEST) & (case.rent_usd_per_hour > 0)
        return cls(*on(taken), many, nameless)

    def usd(self, chips: Any) -> Any:
        """A million output tokens by the accelerators of the fleet [USD]."""
        written = self.case.requests_per_s * self.case.output_tokens  # tokens a second
        return usd_per_million_tokens(chips * self.hour.usd, written, 1.0)


@dataclass(frozen=True)
class Saved:
    """What a ladder saves together.

    saving, range_low, range_high : share of the fleet, and its range [1]
    checked : published speedups whose errors make the range [1]
    dear, cheap : a million output tokens before and after [USD]
    """

    saving: Any
    range_low: Any
    range_high: Any
    checked: int
    dear: Any
    cheap: Any


@dataclass(frozen=True)
class FirstLever:
    """The lever that saves most if it alone is taken, against the one that comes next.

    first, second : in words, empty where no lever saves anything, or no other one
    saving : share of the fleet that the first saves alone [1]
    choice : between the two, by the accelerators of the fleet after either [1]
    trial : what it is worth to try one of the two before, in accelerators [1]
    """

    first: Any
    second: Any
    saving: Any
    choice: Choice
    trial: Any


def first_lever(ladder: Ladder, error: float) -> FirstLever:
    """Which lever to take first, and how sure that is.

    error : the factor, less 1, within which nine of ten gains of one lever lie of the computed ones
        [1]; of each lever by itself
    """
    today, names = ladder.steps[0].chips, [step.name for step in ladder.steps[1:]]
    lever = given("lever_alone", "")
    left = over("levers_alone", {lever: names}, {"chips": _alone(ladder, names, lever)})["chips"]
    fleets = {name: left[place] for place, name in enumerate(names)}
    first, fewest = least(fleets)
    second, next_fewest = least(fleets, after=first)
    gains = ("gain of the first", "gain of the second")
    spreads = dict.fromkeys(gains, spread_between(1 / (1 + error), 1 + error))
    choice = Choice(fewest, next_fewest, spreads)
    return FirstLever(first, second, 1 - fewest / today, choice, choice.worth()[gains[0]])


def _alone(ladder: Ladder, names: Sequence[str], lever: Quantity) -> Any:
    """Chips of the fleet if one lever alone is taken; NaN where it saves none."""
    changes = {name: ladder.levers.change(name, ladder.today) for name in names}
    state = dict(ladder.today)
    for name in names:
        if key := CHANGES.get(name):
            state[key] = where(lever == name, changes[name][2], state[key])

    def of_lever(figures: Mapping[str, Any], otherwise: Any) -> Any:
        return first_case([(lever == name, of) for name, of in figures.items()], otherwise)

    can = of_lever({name: can for name, (can, _, _) in changes.items()}, False)
    same = of_lever({name: same for name, (_, same, _) in changes.items()}, False)
    lost = of_lever({name: ladder.levers.loss(name, state) for name in names}, 0.0)
    (served, kept), today = ladder.groups.at(state), ladder.steps[0]
    chips = ladder.fleet.chips(served, state)
    barred = (lost > ladder.fleet.allowed_loss + 1e-9) | where(kept, False, today.kept)
    fewer = where(barred, False, chips < today.chips)
    return where(can, where(same, np.nan, where(fewer, chips, np.nan)), np.nan)


def saved_by_rung(ladder: Ladder) -> dict[str, Any]:
    """What each rung of Clarifai's ladder saves of the fleet before it [1]."""
    by_name = {step.name: step for step in ladder.steps}
    return {
        rung: 1 - by_name[names[-1]].chips / by_name[names[0]].before
        for rung, names in rungs_of_source().items()
    }


def by_start(
    saving: Quantity, batching: Sequence[str], accelerators: Sequence[str]
) -> pd.DataFrame:
    """What a ladder saves by how requests share a group today and by accelerator [1]."""
    rows, columns = len(batching), len(accelerators)
    every = {"batching": np.repeat(batching, columns), "accelerator": np.tile(accelerators, rows)}
    (found,) = evaluate([saving], every)
    shares = np.broadcast_to(found, rows * columns).reshape(rows, columns)
    return pd.DataFrame(shares, batching, accelerators).rename_axis("today").reset_index()


def by_allowed_loss(ladder: Ladder, allowed: Sequence[float]) -> pd.DataFrame:
    """The levers of a ladder that are taken where more loss of quality is allowed, their loss and
    what they save [1].
    """
    (today, *steps, end), losses = ladder.steps, np.array(allowed)  # the last is the dashboard
    wanted = [end.loss, 1 - end.chips / today.chips, *(step.taken for step in steps)]
    on = ladder.fleet.accelerator  # which stays, though another might cost less then
    there = {"allowed_loss": losses, parameter(on) or "": on.value}
    loss, saved, *picked = evaluate(wanted, there)
    names, there = [step.name for step in steps], np.broadcast_arrays(*picked, losses)[:-1]
    lists = [
        ", ".join(name for name, one in zip(names, row, strict=True) if one)
        for row in zip(*there, strict=True)
    ]
    return pd.DataFrame({"allowed loss": losses, "levers": lists, "loss": loss, "saved": saved})


@search
def beyond_the_ladder(ladder: Ladder, paces_ms: Sequence[float] = (20, 50, 200)) -> pd.DataFrame:
    """What two levers that Clarifai leaves out save on top of its ladder, at ten times the
    requests of the case.

    paces_ms : most time between two tokens, a column each [ms]

    Columns: lever, and for each pace the share of the fleet that it saves [1], or why it is not
    taken.
    """
    state = {of: value_of(it) for of, it in ladder.steps[-1].state.items()}
    fleet = replace(ladder.fleet, **_known(ladder.fleet))
    fleet = replace(fleet, requests_per_s=10 * fleet.requests_per_s)
    load = replace(fleet.load, **_known(fleet.load) | {"cached_share": state["cached"]})
    engine = Deployment(
        catalog.model(state["model"]),
        catalog.accelerator(fleet.accelerator),
        state["form"],
        software=SOFTWARE,
        kv_precision=state["cache"],
    )
    slow = slowdowns(engine) if state["products"] == DENSE else sparse_slowdowns(engine)
    guessed = replace(load, speculation=Speculation(3, 0.6))
    changed = {"speculative decoding": (guessed, False), "disaggregation": (load, True)}
    rows = [{"lever": name} for name in changed]
    for pace in paces_ms:
        shared = engine, pace / 1e3, slow
        before = groups_at_pace(*shared, load)
        for row, (asked, apart) in zip(rows, changed.values(), strict=True):
            after = groups_at_pace(*shared, asked, apart) if before else []
            left = [fleet.chips(groups, state) for groups in (before, after) if groups]
            row[f"{pace:g} ms a token"] = _saved(*left) if after else "out of reach"
    return pd.DataFrame(rows)


def _known(of: Any) -> dict[str, Any]:
    """The fields of a dataclass of quantities at the case."""
    return {field.name: value_of(getattr(of, field.name)) for field in fields(of)}


def _saved(before: float, after: float) -> str:
    if after < before:
        return f"{100 * (1 - after / before):.2g} %"
    if after == before:
        return "saves nothing here"
    return f"takes {100 * (after / before - 1):.0f} % more chips here"
