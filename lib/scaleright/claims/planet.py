"""Recomputations of what Clarifai says of energy, carbon and materials.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from dataclasses import replace

from scaleright.catalog import accelerator, fact, model, table
from scaleright.claims.verdicts import Condition, Origin, Recomputed, looked_up, point, span
from scaleright.footprint import Footprint, busy_hours, machine, place
from scaleright.power import draw
from scaleright.transformer import parameters

CHIP, SMALL, COUNTRY = "H100 SXM", "T4", "USA"
LARGE, QUICK = "Llama-3.1-70B", "Llama-3.1-8B"
"""A large model, and a smaller one that a T4 holds in INT8."""
IMAGE_MODEL = "stable-diffusion-xl-base-1.0"
BEFORE, AFTER, LIFE_YEARS = 0.2, 0.6, (1.0, 3.0)
"""Clarifai's example of better use: share of its time that a GPU works, years that it serves."""
MOSTLY = 0.9
"""Share of low-carbon power from which a grid counts as renewable or nuclear [1]."""
FORECAST = ("us_ai_twh_2028_low", "us_ai_twh_2028_high")
TRAINED = ("GPT-3 175B", "PaLM-540B")
"""Large models whose makers published the electricity of their training."""


def inference_twh(end: str) -> Recomputed:
    """Of an end of the forecast for all AI, the part that serves models."""
    shares = [
        fact(name) / 100 for name in ("google_inference_share_2021", "meta_inference_share_2021")
    ]
    return span(
        *(share * fact(end) for share in shares),
        Origin("all AI of the United States, training with it (mittr2025)"),
    )


def s2_households() -> Recomputed:
    twh = fact("us_households_2023") * fact("household_kwh_per_year") / 1e9
    low, high = (100 * fact(end) / twh for end in FORECAST)
    return point(low, Condition("the upper end of the forecast alone", high))


def s2_training_mwh() -> Recomputed:
    runs = table("measured/footprint")
    kwh = runs.loc[
        (runs["activity"] == "training") & runs["model"].isin(TRAINED), "measured_kwh"
    ].dropna()
    return looked_up(kwh.min() / 1000, kwh.max() / 1000, fact("gpt4_training_mwh"))


def _image_miles(row) -> float:
    """Miles of a car that emit as much as a thousand images made at a measured power and rate, with
    host, building and making.
    """
    drawn = row.measured_joules_per_output * row.measured_outputs_per_s
    made = machine(row.accelerator, "serving", chip_watts=drawn)
    hours = busy_hours(1000, row.measured_outputs_per_s)
    return Footprint.of(made, hours, 1.0, place(COUNTRY)).carbon.car_miles


def s2_images_miles() -> Recomputed:
    rows = table("measured/images")
    rows = rows[(rows["model"] == IMAGE_MODEL) & (rows["accelerator"] == CHIP)]
    study = fact("sdxl_kg_co2e_per_1000_images") / fact("car_kg_co2e_per_mile")
    return span(
        *map(_image_miles, rows.itertuples()),
        Origin(f"the least efficient model of a study of 2023: {study:.1f} miles (luccioni2024)"),
    )


def s2_93_carbon() -> Recomputed:
    """Carbon that goes away when the same work is done by chips that work three times as much of
    their time [%].
    """

    def saved(end: str, before_years: float, after_years: float) -> float:
        chip, here = machine(CHIP, "serving", end), place(COUNTRY)
        carbon = lambda share, years: (
            Footprint.of(replace(chip, life_years=years), 1.0, share, here).carbon.total
        )
        return 100 * (1 - carbon(AFTER, after_years) / carbon(BEFORE, before_years))

    lives = {end: machine(CHIP, "serving", end).life_years for end in ("low", "high")}
    kept = [saved(end, years, years) for end, years in lives.items()]
    return span(*kept, *(saved(end, *LIFE_YEARS) for end in ("low", "high")))


def s2_small_chip() -> Recomputed:
    """Electricity of a small model on a T4 over that of a large one on an H100, by arithmetic in
    INT8 and by bytes read [%].
    """
    small, large = accelerator(SMALL), accelerator(CHIP)
    times = [
        large.dense["int8"] / small.dense["int8"],
        large.require("memory_bytes_per_s") / small.require("memory_bytes_per_s"),
    ]
    less = float(parameters(model(QUICK)).total / parameters(model(LARGE)).total)
    watts = lambda name: draw(name, "serving").chip_watts
    return span(*(100 * less * hours * watts(SMALL) / watts(CHIP) for hours in times))


RECOMPUTED = {
    "S2-ai-twh-low": lambda: inference_twh(FORECAST[0]),
    "S2-ai-twh-high": lambda: inference_twh(FORECAST[1]),
    "S2-toxic": lambda: looked_up(fact("gpt4_toxic_tonnes")),
    "S2-93-study": lambda: point(100 * (1 - fact("gpt4_a100_low") / fact("gpt4_a100_high"))),
}


def s2_renewable_site() -> Recomputed:
    """Carbon that the same work saves on grids of mostly low-carbon power [%], against the United
    States.
    """
    rows = table("grids")
    clean = rows[(rows["quantity"] == "low_carbon_share") & (rows["value"] > MOSTLY)]["zone"]
    carbon = rows[rows["quantity"] == "carbon_lifecycle"].groupby("zone")["value"].median()
    here = carbon[COUNTRY]
    return point(100 * (1 - float(carbon[carbon.index.isin(clean)].median()) / here))
