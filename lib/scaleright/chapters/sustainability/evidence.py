"""Footprints that a chapter sets beside its case: small chips and idle large ones, images, answers
whose footprint was published.
"""

from __future__ import annotations

from math import nan
from typing import Any

import pandas as pd

from scaleright.catalog import DataError, accelerator, model, table
from scaleright.chapters.sustainability.model import TOKENS, Deployment, held_bytes
from scaleright.footprint import Footprint, Place, busy_hours, machine, place
from scaleright.formulas import lookup
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment as Server
from scaleright.inference.energy import chat_energy_at, image_energy
from scaleright.ops import where
from scaleright.order import ordered
from scaleright.units import si

CONTEXT = 512
"""Tokens in view while a chat is answered."""
ANSWERS = ("gemini-prompt-2025", "mistral-large-2/answer", "chatgpt-query-2025")
"""Runs whose footprint of one answer was published."""
ANSWER_TOKENS = 400
"""Tokens of the answer that stands beside them."""
IMAGES = 1e3


def serving(name: str, chip: str, batch: float, utilization: float, here: Place) -> Footprint:
    """A million tokens of a model, as measured on a chip at the number of sequences nearest to the
    one asked.

    Raises
    ------
    LookupError : nobody measured the model, or the model on this chip.

    >>> from scaleright.footprint import place
    >>> serving("Llama-3.1-8B", "H100 SXM", 64, 0.4, place("France")).energy.total < 1
    True
    """
    row = chat_energy_at(name, chip, batch)
    of = machine(row["accelerator"], "serving", chip_watts=float(row["chip_watts"]))
    return Footprint.of(of, float(busy_hours(TOKENS, row["tokens_per_s"])), utilization, here)


def expected(
    name: str, chip: str, precision: str, batch: float, utilization: float, here: Place
) -> Footprint:
    """A million tokens on a chip that nobody measured, at the speed that the model of serving gives
    it.

    The chip draws what chips do in serving. One chip holds the model; its prompts are not counted,
    its context is short.

    Raises
    ------
    DataError : the weights do not fit into its memory.

    >>> from scaleright.footprint import place
    >>> expected("Llama-3.1-8B", "L4", "INT4", 8, 0.8, place("France")).energy.total < 1
    True
    """
    of, held = accelerator(chip), held_bytes(name, precision)
    if held > of.require("memory_bytes"):
        raise DataError(
            f"{si(held, 'B')} of weights do not fit into the {si(of.memory_bytes, 'B')} of"
            f" {of.name}"
        )
    (engine,) = curves([Server(model(name), of, precision)])
    tokens_per_s = batch / (engine.writing_s(batch) + engine.looking_s(batch, CONTEXT))
    hours = float(busy_hours(TOKENS, tokens_per_s))
    return Footprint.of(machine(chip, "serving"), hours, utilization, here)


@lookup
def small_chips() -> pd.DataFrame:
    """A million tokens in the United States, of large and small models on idle, full and small
    chips.

    Columns: deployment, energy [Wh], carbon and of it making [kg CO2e].

    >>> small_chips().shape
    (6, 4)
    """
    here = place("United States")
    made = {
        f"{size}B on H100, {batch} together, {100 * use:.0f} %{said} (measured)": serving(
            f"Llama-3.1-{size}B", "H100 SXM", batch, use, here
        )
        for size, batch, use, said in (
            (70, 8, 0.2, " in use"),
            (70, 512, 0.6, ""),
            (8, 8, 0.2, ""),
            (8, 512, 0.6, ""),
        )
    } | {
        f"8B in 4 bits on {chip}, 8 together, 80 % (expected)": expected(
            "Llama-3.1-8B", chip, "INT4", 8, 0.8, here
        )
        for chip in ("T4", "L4")
    }
    rows = [
        (name, of.energy.watt_hours, of.carbon.total, of.carbon.embodied_kg)
        for name, of in made.items()
    ]
    return pd.DataFrame(rows, columns=["deployment", "energy", "carbon", "of it making"])


@lookup
def images() -> pd.DataFrame:
    """A thousand images of each generator on an H100 that never waits, in the United States.

    Columns: model, side [pixel], steps, chip [J/image], energy [Wh], carbon [kg CO2e] and miles,
    those of an average car.

    >>> images()["carbon"].is_monotonic_decreasing
    True
    """
    rows = image_energy()
    rows = ordered(rows[rows["accelerator"] == "H100 SXM"], "joules_per_image", ascending=False)
    made = [
        Footprint.of(
            machine(row.accelerator, "serving", chip_watts=row.chip_watts),
            busy_hours(IMAGES, row.images_per_s),
            1.0,
            place("United States"),
        )
        for row in rows.itertuples()
    ]
    rows = rows.rename(columns={"joules_per_image": "chip [J/image]"})
    return rows[["model", "side", "steps", "chip [J/image]"]].assign(
        energy=[of.energy.watt_hours for of in made],
        carbon=[of.carbon.total for of in made],
        miles=[of.carbon.car_miles for of in made],
    )


@lookup
def published_answers() -> pd.DataFrame:
    """Answers whose footprint was published.

    Columns: answer, energy [Wh], carbon [kg CO2e], water [L], counted (in words).

    >>> len(published_answers())
    3
    """
    runs = table("measured/footprint")
    runs = runs[runs["run"].isin(ANSWERS)]
    return pd.DataFrame(
        {
            "answer": runs["model"] + ", per " + runs["per"],
            "energy": 1e3 * runs["measured_kwh"],
            "carbon": runs["measured_kg_co2e"],
            "water": runs["measured_liters"],
            "counted": runs["note"],
        }
    )


def beside_answers(of: Deployment, name: Any, counted: Any) -> pd.DataFrame:
    """An answer of a deployment above the `published_answers`, of `ANSWER_TOKENS`; no numbers where
    it serves no tokens that somebody measured.

    name, counted : its words in the columns answer and counted
    """
    made, share = of.footprint, where(of.served, ANSWER_TOKENS / TOKENS, nan)
    one = {
        "answer": name,
        "energy": made.energy.watt_hours * share,
        "carbon": made.carbon.total * share,
        "water": made.water.total * share,
        "counted": counted,
    }
    return pd.concat([pd.DataFrame([one]), published_answers()], ignore_index=True)
