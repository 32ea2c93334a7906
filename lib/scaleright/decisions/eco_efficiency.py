"""Eco-Efficiency Scorecard (F11): a deployment rated on S2's four axes against stated reference
points, and what would help most.

S2 rates utilization, model size, hardware and energy in words. Here each axis runs between two
published figures, a poor and a good one; the levers are footprints computed anew with one thing
changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import fact
from scaleright.costs.serving_doubts import LOAD, load_spread
from scaleright.decisions.eco_deployment import (
    TOKENS,
    USUAL_UTILIZATION,
    Deployment,
    chips,
    held_bytes,
    measured,
    nobody_published,
    tflop_joules,
)
from scaleright.decisions.eco_examples import (
    ANSWER_TOKENS,
    beside_answers,
    expected,
    images,
    serving,
    small_chips,
)
from scaleright.decisions.hardware_choice import SMALLER_CARD_BYTES
from scaleright.footprint import Machine, busy_hours, intensity_spread, machines, place
from scaleright.inference.energy import chat_energy
from scaleright.ops import first_case, log, maximum, minimum, where
from scaleright.order import name_of_least, ordered
from scaleright.quantity import Quantity, at, choose, given, least
from scaleright.ranges import Ends, interval_of

__all__ = [
    "ANSWER_TOKENS",
    "GOOD_UTILIZATION",
    "LOW_UTILIZATION",
    "PERCENTILES",
    "SOURCE",
    "TOKENS",
    "USUAL_UTILIZATION",
    "Deployment",
    "Grade",
    "beside_answers",
    "chips",
    "eco_efficiency",
    "expected",
    "images",
    "levers",
    "measured",
    "nobody_published",
    "savings",
    "score",
    "scorecard",
    "serving",
    "small_chips",
    "source_rule",
    "uncertain",
]

SOURCE = "S2, Eco-Efficiency Scorecard"
GOOD_UTILIZATION, LOW_UTILIZATION = 0.8, 0.6
"""S2's example of a high score, and the use that it says to reach; below it a chip is underused."""
PERCENTILES = (0.1, 0.9)
"""Reference points of energy: those of all published operating points."""
JOULES_PER_KWH = 3.6e6
HIGH, POORLY, BETWEEN = "scores high", "scores poorly", "scores in between"


def score(value: Any, poor: float, good: float) -> Any:
    """Where a figure stands between a poor (0) and a good one (1), as a ratio; beyond either it
    scores that end.

    >>> score(0.2, 0.1, 0.4), score(400.0, 1600.0, 100.0), score(0.9, 0.1, 0.4)
    (0.5, 0.5, 1.0)
    """
    return minimum(maximum(log(value / poor) / log(good / poor), 0.0), 1.0)


def scorecard(of: Deployment) -> pd.DataFrame:
    """The deployment on each of S2's axes: its figure, the poor and the good reference point, how
    these are said, the score, and where they come from.

    A run of training states no tokens, so that its size and energy are not rated, and nobody
    measured what some chips do at full power.
    """
    tflop = ordered(pd.Series(dict(tflop_joules())))
    seen = chat_energy()
    kinds = set(zip(seen["model"], seen["precision"], strict=True))
    held = [held_bytes(*kind) for kind in kinds]
    least_joules, most_joules = seen["joules_per_token"].quantile(PERCENTILES)
    points = f"of {len(seen)} published operating points, nine in ten lie below and above"
    alibaba, llama = fact("alibaba_gpu_utilization_2020"), fact("llama3_effective_training_time")
    yours = {
        "utilization": where(of.known, of.utilization, np.nan),
        "hardware": of.chip.joules_per_tflop,
        "model size": where(of.served, of.point.weight_bytes, np.nan),
        "energy": where(of.served, of.joules_per_token, np.nan),
    }
    references = {  # poor, good, how they are said, and where they come from
        "utilization": (
            *(alibaba / 100, llama / 100, "percent"),
            "mean of Alibaba's cluster; effective training time of Llama 3",
        ),
        "hardware": (
            *(tflop.iloc[-1], tflop.iloc[0], "J/TFLOP"),
            f"{tflop.index[-1]} and {tflop.index[0]} at full power, BF16",
        ),
        "model size": (
            *(max(held), min(held), "si B"),
            "weights of the largest and the smallest model measured",
        ),
        "energy": (most_joules, least_joules, "J/token", f"{points}; accelerators alone"),
    }
    rows = [(axis, value, *references[axis]) for axis, value in yours.items()]
    frame = pd.DataFrame(rows, columns=["axis", "yours", "poor", "good", "kind", "reference"])
    frame["score"] = [score(row.yours, row.poor, row.good) for row in frame.itertuples()]
    return frame


def levers(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """What one change each would make of the footprint; another model gives other answers.

    Columns: change, from, to, kind (how those two are said, none of words), carbon [kg CO2e] and
    saved (share of the carbon, negative where it harms) [1]. Another chip or model is the least
    hungry one that was measured at about as many sequences together.

    Parameters
    ----------
    places : figures by place as of `footprint.usual`; the cleanest is the one to move to
    """
    cleanest = name_of_least({name: row["grams_per_kwh"] for name, row in places.items()})
    grams = 1e3 * of.place.kg_co2e_per_kwh, places[cleanest]["grams_per_kwh"]
    there = replace(place(cleanest), pue=of.place.pue)
    busier = maximum(of.utilization, GOOD_UTILIZATION)
    years = of.machine.life_years, 2 * of.machine.life_years
    rows = [
        (f"a move to {cleanest}", *grams, "g/kWh", replace(of, place=there)),
        *_measured_changes(of),
        (
            "more use",
            of.utilization,
            busier,
            "percent",
            replace(of, utilization=busier),
        ),
        (
            "a longer life",
            *years,
            "years",
            replace(of, machine=replace(of.machine, life_years=years[1])),
        ),
    ]
    before = of.footprint.carbon.total
    then = [where(of.known, to.footprint.carbon.total, np.nan) for *_, to in rows]
    frame = pd.DataFrame([row[:-1] for row in rows], columns=["change", "from", "to", "kind"])
    return frame.assign(carbon=then, saved=[1 - carbon / before for carbon in then])


def _measured_changes(of: Deployment) -> list[tuple]:
    """The rows of `levers` that were measured as well: fuller batches, another chip, another
    model; numbers are NaN where none was.
    """
    point, none = of.point, "none measured"
    other = choose(
        machines(sorted(set(chat_energy()["accelerator"]))), point.chip_to, otherwise=none
    )
    drawn = {
        "fuller": of.machine,
        "chip": replace(Machine(**other), life_years=of.machine.life_years),
        "model": of.machine,
    }
    to = {
        change: replace(
            of,
            machine=replace(machine, chip_watts=point[f"{change}_chip_watts"]),
            busy_hours=where(
                of.served, busy_hours(TOKENS, point[f"{change}_tokens_per_s"]), np.nan
            ),
        )
        for change, machine in drawn.items()
    }
    words = {
        change: where(of.served & (point[f"{change}_to"] != ""), point[f"{change}_to"], none)
        for change in ("chip", "model")
    }
    batches = [where(of.served, batch, np.nan) for batch in (point.batch, point.fuller_to)]
    return [
        ("another model", where(of.served, point.model, none), words["model"], "", to["model"]),
        ("fuller batches of sequences", *batches, "whole", to["fuller"]),
        ("another chip", of.chip.name, words["chip"], "", to["chip"]),
    ]


def savings(
    of: Deployment, before: float = 0.2, after: float = 0.6, life: float = 1.0, longer: float = 3.0
) -> pd.DataFrame:
    """What goes away when the same work runs at a higher utilization, with and without a longer
    life of the hardware.

    Columns: what, same life, longer life [1]. The defaults are S2's example: 20 to 60 %, one year
    and three.
    """

    def parts(utilization: float, years: float) -> list[Any]:
        machine = replace(of.machine, life_years=years)
        made = replace(of, utilization=utilization, machine=machine).footprint
        making = made.carbon.embodied_kg
        return [making, made.energy.total, made.carbon.total - making, made.carbon.total]

    first = parts(before, life)
    what = ["hardware worn out", "energy", "carbon of the energy", "carbon, making included"]
    kept = {"same life": parts(after, life), "longer life": parts(after, longer)}
    gone = {
        name: [1 - then / was for then, was in zip(those, first, strict=True)]
        for name, those in kept.items()
    }
    return pd.DataFrame({"what": what} | gone)


def uncertain(
    of: Deployment, own_grid: Any = False, own_making: Any = False
) -> tuple[Quantity, dict[str, Ends], tuple[Quantity, Quantity]]:
    """Carbon of the work with all that is uncertain as ratios to the best [kg CO2e], the ends of
    these ratios, and the range of the carbon that follows.

    In serving the chip was measured, so that of the power only its host's is uncertain; how busy
    the service will be nobody knows. A training run is as busy as its owner makes it.

    Parameters
    ----------
    own_grid, own_making : whether the reader has set the carbon of the grid, and that of making the
        machine: what is set has no spread
    """
    names = ("power", "network", "grid", "making", "load")
    power, network, grid, making, load = (given(f"uncertain_{name}", 1.0) for name in names)
    chip, machine = of.chip, of.machine
    moved = replace(
        machine,
        chip_watts=machine.chip_watts * where(of.training, power, 1.0),
        host_watts=machine.host_watts * power,
        network_watts=machine.network_watts * network,
        machine_kg=machine.machine_kg * making,
    )
    here = replace(of.place, kg_co2e_per_kwh=of.place.kg_co2e_per_kwh * grid)
    busy = {"utilization": of.utilization * load}
    carbon = replace(of, machine=moved, place=here, **busy).footprint.carbon.total
    power_ends = (
        where(of.training, chip[f"power_{end}"], chip[f"host_{end}"]) for end in ("low", "high")
    )
    grids, makings = intensity_spread(), (chip.making_low, chip.making_high)
    loads = 1 / load_spread(), minimum(load_spread(), 1 / of.utilization)
    ends = {
        "unmeasured power": Ends(power, *power_ends),
        "power of the network": Ends(network, chip.network_low, chip.network_high),
        "carbon of the grid": Ends(grid, *(where(own_grid, 1.0, end) for end in grids)),
        "hardware's making": Ends(making, *(where(own_making, 1.0, end) for end in makings)),
        LOAD: Ends(load, *(where(of.training, 1.0, end) for end in loads)),
    }
    best = {f"uncertain_{name}": 1.0 for name in names}
    low, high = (at(end, **best) for end in interval_of(carbon, ends.values()))
    return carbon, ends, (low, high)


def source_rule(utilization: Any, held_bytes: Any, high_end: Any) -> Any:
    """What S2's scorecard says: a small model on a mid-tier chip in use scores high, a large one on
    an underused high-end chip poorly.

    S2 gives no figure for small: here, what fits the smaller cards that S3 names.

    >>> source_rule(0.8, 16e9, False), source_rule(0.3, 140e9, True), source_rule(0.8, 140e9, True)
    ('scores high', 'scores poorly', 'scores in between')
    """
    small = where(utilization >= GOOD_UTILIZATION, HIGH, BETWEEN)
    large = where(utilization < LOW_UTILIZATION, POORLY, BETWEEN)
    return where(
        held_bytes <= SMALLER_CARD_BYTES,
        where(high_end, BETWEEN, small),
        where(high_end, large, BETWEEN),
    )


@dataclass(frozen=True)
class Grade:
    """How a deployment that serves tokens scores.

    joules : of the accelerators for a token, their idle hours included [J/token]
    poor, good : its reference points
    says : the class that is computed: a third of the scale from the poor to the good point
    rule : that of the source
    lever, saved : the change that saves most of the carbon, and how much [1]
    """

    joules: Any
    poor: float
    good: float
    says: Any
    rule: Any
    lever: Any
    saved: Any

    @property
    def agrees(self) -> Any:
        """Whether the source's rule says what is computed."""
        return self.says == self.rule


def eco_efficiency(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> Grade:
    """How a deployment that serves tokens scores by its energy, and which change would save most.

    Parameters
    ----------
    places : as of `levers`
    """
    energy, changes = scorecard(of).set_index("axis").loc["energy"], levers(of, places)
    joules = JOULES_PER_KWH * of.footprint.energy.chips_kwh / TOKENS
    grade = score(joules, energy["poor"], energy["good"])
    says = first_case([(grade >= 2 / 3, HIGH), (grade <= 1 / 3, POORLY)], BETWEEN)
    rule = source_rule(of.utilization, of.point.weight_bytes, of.chip.high_end)
    lever, carbon = least(dict(zip(changes["change"], changes["carbon"], strict=True)))
    saved = 1 - carbon / of.footprint.carbon.total
    return Grade(joules, energy["poor"], energy["good"], says, rule, lever, saved)
