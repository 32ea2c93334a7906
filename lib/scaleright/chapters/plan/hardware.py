"""Every accelerator beside those whose day a plan of a service knows, by the graph of the chapter
`hardware_compare`: what a million output tokens costs on each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from scaleright.catalog import model
from scaleright.costs.owned_hours import owned_rows
from scaleright.decisions import hardware_candidates as candidates
from scaleright.decisions import hardware_choice as choice
from scaleright.decisions.build_buy import COLOCATION, ROOM, SETTINGS, SITE
from scaleright.decisions.hardware_tables import HardwareTables, candidate_engines
from scaleright.decisions.hardware_training import TrainingSpeed
from scaleright.decisions.plan_parts import Asked
from scaleright.decisions.plan_runs import read_at
from scaleright.decisions.plan_workload import Workload
from scaleright.formulas import lookup, search
from scaleright.inference.formats import USUAL
from scaleright.market import Hours
from scaleright.quantity import given
from scaleright.units import figure, usd

CHAPTER = "hardware_compare"
_REST = {
    "precision": USUAL,
    "setting": SETTINGS[COLOCATION],
    "seller": "median",
    "vendor": "all",
    "segment": "data center",
    "least_providers": 2,
}
"""What the chapter is asked beside the workload: chips that stand in a data center."""
_UNTRAINED = TrainingSpeed(float("nan"), 1.0, False, 1.0, 1.0, 0.0, 0, "")
"""The training of a model that is served."""


@dataclass(frozen=True)
class Compared:
    """The cheapest of all accelerators for a service, and the one that a plan takes.

    asked : the question to the chapter
    chip, usd, chips : the cheapest, a million output tokens on it [USD], how many of it at the
        busiest time; no name where none serves it
    own_usd, own_chips : the same of the accelerator that is taken, nan where it has no such price
    """

    asked: Asked
    chip: str
    usd: float
    chips: float
    own_usd: float
    own_chips: float

    def sized(self, taken: str, chips: float) -> str:
        """Why it takes another number of the accelerator than a plan does without those that stand
        by, in words; empty where it takes as many.
        """
        if not self.own_chips > 0 or self.own_chips == chips:
            return ""
        return (
            f"the comparison takes {self.own_chips:,.0f} {taken} for {chips:,.0f} here: its"
            " requests have your mean lengths, these are those of the published hour at the pace of"
            " yours, and keep what fits of their prefixes"
        )

    def says(self, taken: str, known: tuple[str, ...]) -> str:
        """What the comparison adds to a plan that takes an accelerator, in words."""
        if not self.chip:
            return "the comparison of all accelerators finds none whose hours are sold so"
        price = f"{usd(self.usd)} a million output tokens"
        if self.chip == taken:
            return (
                f"of all accelerators the cheapest as well: {price}, its hours paid day and night"
            )
        own = f", the {taken} {usd(self.own_usd)}" if self.own_usd > 0 else ""
        why = (
            "a day of a service is not known on it"
            if self.chip not in known
            else "by hours paid day and night, and without whole servers"
        )
        return f"of all accelerators the {self.chip} costs least, {price}{own}: {why}"


@search
def compared(
    of: Workload, name: str, row: Mapping[str, Any], request: tuple[int, int, float], house: str
) -> Compared:
    """The comparison for a service.

    row : its case, with accelerator and contract
    request : tokens of a prompt and of an answer, and the share of the prompt that is cached [1]
    house : the way to own it if it is bought, see `build_buy`; empty if it is not
    """
    names = ("input_tokens", "output_tokens", "cached_share")
    values = dict(zip(names, request, strict=True)) | {
        "model": name,
        "traffic": of.trace,
        "requests_per_day": float(of.requests_per_day or 0.0),
        "peak_to_mean": of.peak_to_mean,
        "pace_tokens_per_s": of.pace_tokens_per_s,
        "ttft_s": of.ttft_s,
        "paid": "own" if house else "rent",
        "contract": row["contract"],
        "segment": _REST["segment"],
    }
    if house:
        values |= {"setting": SETTINGS[COLOCATION if house == SITE else house]}
    if house == ROOM:
        values["segment"] = "any"
    priced, best = _graph(values)
    wanted = {"usd": best.usd, "chip": best.chip, "chips": best.of["chips"]}
    found = read_at(wanted, {})
    there = {"chip": row["accelerator"]}
    mine = read_at({"usd": priced.usd, "chips": priced.chips}, there)
    figures = {}
    if found["chip"]:
        figures = {"best.usd": float(found["usd"]), "best.of['chips']": float(found["chips"])}
    return Compared(
        Asked(CHAPTER, values, figures),
        str(found["chip"]),
        *(float(found[name]) for name in ("usd", "chips")),
        *(float(mine[name]) for name in ("usd", "chips")),
    )


@lookup
def whole_request(lengths: tuple[float, float], cached: float) -> tuple[int, int, float]:
    """Requests in whole tokens, as chapters take them.

    >>> whole_request((1154.7, 0.2), 0.12345)
    (1155, 1, 0.1235)
    """
    return round(lengths[0]), max(round(lengths[1]), 1), figure(cached, 4)


def _graph(values: Mapping[str, Any]) -> tuple[choice.Priced, choice.Cheapest]:
    """Any chip, and the cheapest, as the chapter makes them."""
    task = {"task": "inference", **choice.usual()["inference"]}
    case = SimpleNamespace(
        **{of: given(of, it) for of, it in (task | _REST | dict(values)).items()}
    )
    tables, chip = _tables(values["model"]), given("chip", "H100 SXM")
    priced = choice.Priced.of(case, tables, chip, _UNTRAINED)
    return priced, choice.Cheapest.among(priced)


def _tables(name: str) -> HardwareTables:
    """The rows of one model that is served in its usual format, and not trained."""
    chips = candidates.candidate_rows()
    owned, shapes = owned_rows(tuple(chips)), {name: model(name)}
    return HardwareTables(candidate_engines((name,), ()), chips, {}, Hours([*chips]), owned, shapes)
