"""Eco-Efficiency Scorecard (F11): a deployment rated on Clarifai's four axes against stated
reference points; what would help most is of `model`.

Clarifai rates utilization, model size, hardware and energy in words. Here each axis runs between
two published figures, a poor and a good one.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import fact
from scaleright.chapters.sustainability.evidence import (
    ANSWER_TOKENS,
    beside_answers,
    expected,
    images,
    serving,
    small_chips,
)
from scaleright.chapters.sustainability.model import (
    GOOD_UTILIZATION,
    TOKENS,
    USUAL_UTILIZATION,
    Deployment,
    FirstChange,
    Point,
    busy,
    chips,
    first_change,
    held_bytes,
    levers,
    measured,
    nobody_published,
    tflop_joules,
    uncertain,
    weights,
)
from scaleright.decisions.hardware_choice import SMALLER_CARD_BYTES
from scaleright.inference.energy import chat_energy
from scaleright.ops import first_case, log, maximum, minimum, where
from scaleright.order import ordered
from scaleright.units import JOULES_PER_KWH

__all__ = [
    "ANSWER_TOKENS",
    "GOOD_UTILIZATION",
    "LOW_UTILIZATION",
    "PERCENTILES",
    "SOURCE",
    "TOKENS",
    "USUAL_UTILIZATION",
    "Deployment",
    "FirstChange",
    "Grade",
    "Point",
    "beside_answers",
    "busy",
    "chips",
    "eco_efficiency",
    "expected",
    "first_change",
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
    "weights",
]

SOURCE = "Clarifai's Eco-Efficiency Scorecard"
LOW_UTILIZATION = 0.6
"""The use that Clarifai says to reach; below it a chip is underused."""
PERCENTILES = (0.1, 0.9)
"""Reference points of energy: those of all published operating points."""
HIGH, POORLY, BETWEEN = "scores high", "scores poorly", "scores in between"


def score(value: Any, poor: float, good: float) -> Any:
    """Where a figure stands between a poor (0) and a good one (1), as a ratio; beyond either it
    scores that end.

    >>> score(0.2, 0.1, 0.4), score(400.0, 1600.0, 100.0), score(0.9, 0.1, 0.4)
    (0.5, 0.5, 1.0)
    """
    return minimum(maximum(log(value / poor) / log(good / poor), 0.0), 1.0)


def scorecard(of: Deployment) -> pd.DataFrame:
    """The deployment on each of Clarifai's axes: its figure, the poor and the good reference point,
    how these are said, the score, and where they come from.

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


def savings(
    of: Deployment, before: float = 0.2, after: float = 0.6, life: float = 1.0, longer: float = 3.0
) -> pd.DataFrame:
    """What goes away when the same work runs at a higher utilization, with and without a longer
    life of the hardware.

    Columns: what, same life, longer life [1]. The defaults are Clarifai's example: 20 to 60 %, one
    year and three.
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


def source_rule(utilization: Any, held_bytes: Any, high_end: Any) -> Any:
    """What Clarifai's scorecard says: a small model on a mid-tier chip in use scores high, a large
    one on an underused high-end chip poorly.

    Clarifai gives no figure for small: here, what fits the smaller cards that Andreessen Horowitz
    names.

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
    rule : that of Clarifai
    """

    joules: Any
    poor: float
    good: float
    says: Any
    rule: Any

    @property
    def agrees(self) -> Any:
        """Whether Clarifai's rule says what is computed."""
        return self.says == self.rule


def eco_efficiency(of: Deployment) -> Grade:
    """How a deployment that serves tokens scores by its energy."""
    energy = scorecard(of).set_index("axis").loc["energy"]
    joules = JOULES_PER_KWH * of.footprint.energy.chips_kwh / TOKENS
    grade = score(joules, energy["poor"], energy["good"])
    says = first_case([(grade >= 2 / 3, HIGH), (grade <= 1 / 3, POORLY)], BETWEEN)
    rule = source_rule(of.utilization, of.point.weight_bytes, of.chip.high_end)
    return Grade(joules, energy["poor"], energy["good"], says, rule)
