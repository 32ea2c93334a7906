"""The levers on the bill of a service, those that apply to how it is served: of a fleet by the
chapters `load_of_a_day` and `inference_ladder`, of an API by `token_cost`.
"""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from scaleright.catalog import model as shape
from scaleright.chapters.plan.fleets import SMALL, Fleets
from scaleright.chapters.plan.service_changes import QUARTER, SPOT, WAITING
from scaleright.decisions import inference_ladder as source
from scaleright.decisions.build_buy import CONTRACTS
from scaleright.decisions.plan_parts import Asked, Step, percent
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import Workload, right_share
from scaleright.formulas import search
from scaleright.inference import ladder
from scaleright.quantity import given
from scaleright.units import figure

LADDER_MODELS = ("Llama-3.1-8B", "Qwen3-32B", "Llama-3.1-70B")
LADDER_CHIPS = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200", "MI300X")
"""What the chapter `inference_ladder` offers of what is served here."""
LEAST = 0.01
"""A saving that is worth a line [1]."""
_WAITS = {WAITING: {"waiting_share": 0.3}}
_RENTED = {
    SPOT: {"contract": "spot"},
    QUARTER: {"seller": "cheapest quarter"},
}


class Lever(NamedTuple):
    """A lever: what it saves of the bill [1], what is done, what it needs, and the chapter."""

    saving: float
    words: str
    needs: str
    asked: Asked


@search
def levers(of: Workload, fleets: Fleets, row: Mapping[str, Any], way: str) -> Step:
    """The sixth step of a plan: the levers, that which saves most first.

    Parameters
    ----------
    row : the case of the fleet
    way : what is done with it
    """
    if way == "call an API":
        found = _of_an_api(of, fleets, str(row["accelerator"]))
    else:
        found = _of_a_fleet(of, fleets, row, way) + _climbed(of, fleets, row)
    found = sorted(found, key=lambda one: (-figure(one.saving, 3), one.words))
    if not found:
        return Step("None that was tried saves any: the bill is about as small as it can be.")
    told = [f"{one.words}: {percent(one.saving)} less; {one.needs}" for one in found]
    asked = {one.asked.command: one.asked for one in found}
    says = f"First {found[0].words}: {percent(found[0].saving)} less."
    return Step(says, told, [*asked.values()])


def _of_a_fleet(of: Workload, fleets: Fleets, row: Mapping[str, Any], way: str) -> list[Lever]:
    """Those of the chapter on the load of a day; of a fleet of one's own those that save chips."""
    one = fleets.ways.one
    wanted = {"usd": one.bill.best[1], "best": one.bill.best[0]}
    wanted["chips"] = one.fleet.peak * one.fleet.engine.chips
    now, found = fleets.at(wanted, row), []
    slower = max(of.pace_tokens_per_s / 2, 5.0)
    changes = _WAITS | {f"promise {slower:g} tokens a second": {"pace_tokens_per_s": slower}}
    changes |= _RENTED if way == "rent" else {}
    words_of = {WAITING: "needs work that nobody waits for, such as summaries at night"}
    counted = "usd" if way == "rent" else "chips"
    for words, change in changes.items():
        there = fleets.at(wanted, row, **change)
        saved = 1 - float(there[counted]) / float(now[counted])
        if saved > LEAST:
            read = {"usd": "bill.chosen.usd_per_day", "chips": "fleet.peak"}[counted]
            figures = {read: float(there["usd"])} if counted == "usd" else {}
            asked = fleets.asked({**row, **change, "scaling": str(there["best"])}, figures)
            needs = words_of.get(
                words,
                "the price is that of the promise"
                if "promise" in words
                else "the contract has to hold",
            )
            found.append(Lever(saved, words, needs, asked))
    return found


def _of_an_api(of: Workload, fleets: Fleets, chip: str) -> list[Lever]:
    """Those on what an API asks."""
    found, now = [], fleets.at_api(chip)
    tried = {
        "keep the first half of prompts the same, so that it is cached": (
            fleets.at_api(chip, cached=0.5),
            "needs prompts that begin alike: system prompts and conversations",
        ),
    }
    right = right_share(SMALL) or 0.0
    if of.served != SMALL and right >= (of.quality or 0.0):
        tried[f"call {SMALL} where it is good enough"] = (
            fleets.at_api(chip, SMALL),
            f"it is right on {percent(right)} of usual requests",
        )
    for words, (there, needs) in tried.items():
        saved = 1 - there.usd_per_million / now.usd_per_million
        if saved > LEAST:
            found.append(Lever(saved, words, needs, there.asked))
    return found


def _climbed(of: Workload, fleets: Fleets, row: Mapping[str, Any]) -> list[Lever]:
    """The levers of the chapter on the ladder that are taken, with what each saves of chips."""
    name, chip = shape(str(row.get("model", of.served))).name, row["accelerator"]
    if name not in LADDER_MODELS or chip not in LADDER_CHIPS:
        return []
    values = _ladder_case(of, fleets, name, str(chip))
    usual = {"batching": "continuous", "static_batch": 8, "together": 0.3}
    usual |= {"prefix_share": 0.5, "repeated_share": 0.05, "allowed_loss": 0.01, "smaller": SMALL}
    case = SimpleNamespace(**{name: given(name, it) for name, it in (values | usual).items()})
    words = source.levers_of_source()
    models = [*dict.fromkeys((name, SMALL))]
    fleet, levers_ = ladder.Fleet.of(case), words["lever"]
    climb = ladder.Ladder(fleet, models, [str(chip)], levers_, fixed=True)
    needs = words.set_index("lever")["needs"]
    parts = {
        f"{n} {part}": getattr(step, part)
        for n, step in enumerate(climb.steps)
        for part in ("taken", "chips", "before")
    }
    at = parts | read_at({key: it for key, it in parts.items() if hasattr(it, "value")}, {})
    last = float(at[f"{len(climb.steps) - 1} chips"])
    asked = Asked("inference_ladder", values, {"end.chips": last} if last > 0 else {})
    found = []
    for n, step in enumerate(climb.steps[1:], 1):
        saved = 1 - float(at[f"{n} chips"]) / float(at[f"{n} before"])
        if at[f"{n} taken"] and saved > LEAST:
            found.append(Lever(saved, step.name, f"needs {needs[step.name]}", asked))
    return found


def _ladder_case(of: Workload, fleets: Fleets, name: str, chip: str) -> dict[str, Any]:
    """The parameters of the chapter on the ladder for a service."""
    reads, writes = fleets.lengths
    return {
        "model": name,
        "accelerator": chip,
        "contract": CONTRACTS[0],
        "precision": "usual",
        "requests_per_s": max(figure(float(of.requests_per_day or 0) / 86_400, 6), 0.1),
        "input_tokens": figure(reads, 6),
        "output_tokens": figure(writes, 6),
        "traffic": of.trace,
        "peak_to_mean": of.peak_to_mean,
        "tpot_ms": figure(1e3 / of.pace_tokens_per_s, 6),
        "ttft_s": max(of.ttft_s, 0.2),
        "services": 1,
        "variants": 1,
    }
