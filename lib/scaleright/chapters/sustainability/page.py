"""What the chapter on the footprint of a deployment shows: the answer, what makes it, how it rates,
what would lower it, and how sure it is.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from scaleright import charts
from scaleright.chapters.sustainability import efficiency as eco
from scaleright.chapters.sustainability.efficiency import Deployment, FirstChange
from scaleright.charts.busy import utilization_source
from scaleright.charts.displays import Display
from scaleright.charts.ranking import ranking
from scaleright.claims import stored
from scaleright.footprint import Carbon, Footprint
from scaleright.inference.energy import newest_measured
from scaleright.ops import where
from scaleright.quantity import look_up
from scaleright.ranges import Ends
from scaleright.validation import footprint as checks
from scaleright.validation.report import Summary

SIGNED = {"error": "{:+.0f} %".format}


def answer(
    case: SimpleNamespace,
    of: Deployment,
    made: Footprint,
    years: Mapping[str, str],
    ends: tuple[Any, Any],
    off: Summary,
    nobody: Any,
    best: FirstChange,
) -> Display:
    """Electricity, carbon and water of the work, and what to change first.

    years : by place, of the carbon of its grid
    ends : of the carbon that is likely [kg CO2e]
    off : errors of the published totals that were predicted; nobody : why there is no footprint
    """
    carbon, training, (range_low, range_high) = made.carbon, of.training, ends
    energy_wh, carbon_kg, water_l = made.energy.watt_hours, carbon.total, made.water.total
    embodied_share = carbon.embodied_share
    run = charts.phrase("of CO2e for {case.chip_hours:whole} chip-hours of {case.accelerator}")
    work = where(training, run, "of CO2e for a million tokens of " + case.model)
    ways = best.first, " of CO2e", best.second, "mass", "saves more"
    likely, loss = charts.odds(best.choice, of.known, *ways)
    use, of_use = of.utilization, utilization_source(of.busy)
    used = charts.phrase("Use {use:percent}, {of_use}. Water {water_l:volume}.")
    guessed = of.predicted
    measured = where(training | guessed, "", f"{newest_measured():%Y-%m} (energy), ")
    age = measured + look_up(years, case.place) + " (grid)"
    span = charts.phrase("{range_low:mass} to {range_high:mass} of CO2e (90 %)")
    predicted = where(guessed, " Nobody measured it; the speed is predicted.", "")
    span, odds = where(of.known, span, "none"), where(of.known, used + predicted + loss, "")
    error = where(training, "", _error_of_chips(of)) + (
        f"off by {off.median_absolute_percent:.0f} % in the median of {off.rows} published totals"
        f" of training runs, {off.p90_absolute_percent:.0f} % at the 90th percentile"
    )
    return charts.answer_card(
        "Start with {best.first}: it saves {best.saved:percent} of the carbon.",
        "{carbon_kg:mass}",
        "{work}",
        "{likely}",
        "Making the hardware emits {embodied_share:percent} of it; {energy_wh:si Wh} of electricity"
        " emit the rest.",
        "{odds}",
        provided=of.known,
        otherwise="{nobody}: choose another model, chip or format.",
        range="{span}",
        as_of="{age}",
        model_error="{error}",
        headline="carbon_kg",
        quantities={
            "energy_wh": (energy_wh, "si Wh"),
            "carbon_kg": (carbon_kg, "mass"),
            "water_l": (water_l, "volume"),
            "making_kg": (carbon.embodied_kg, "mass"),
            "range_low": (range_low, "mass"),
            "range_high": (range_high, "mass"),
        },
    )


def _error_of_chips(of: Deployment) -> Any:
    """How far off what the chips draw may be, before what predicts the rest, in words."""
    low, high = of.predicted_within
    chips = charts.phrase(
        "nine of ten measured runs of models that the prediction had not seen took {low:number 2}"
        " to {high:number 2} of the predicted energy of a token; what predicts the rest was "
    )
    return where(of.predicted, chips, "the chips were measured; what predicts the rest was ")


def carbon_by_parts(carbon: Carbon, known: Any) -> Display:
    """Carbon of electricity by where it goes, and of making the hardware [kg CO2e]."""
    carbon_kg = carbon.total
    words = ("chips", "server", "network", "cooling and losses", "making the hardware")
    parts = zip(words, carbon.parts().values(), strict=True)
    parts = {name: where(known, kg, 0) for name, kg in parts}
    return charts.show(
        charts.stacked_parts(parts, "mass", "CO2e"),
        name="parts",
        alt="Carbon by parts: electricity of chips, server, network and building, and the making of"
        " the hardware, add up to {carbon_kg:mass}.",
    )


def scorecard(of: Deployment) -> Display:
    """The deployment on Clarifai's four axes."""
    rated = eco.scorecard(of)
    for column in ("yours", "poor", "good"):
        rated[column] = _said(rated[column], rated["kind"])
    return charts.table(
        rated[["axis", "yours", "poor", "good", "score", "reference"]],
        "Your case between a poor and a good figure; a dash where nobody measured it or, in"
        " training, no tokens are stated",
        formats={"score": "number 2"},
        name="scorecard",
    )


def _said(column: pd.Series, kinds: pd.Series) -> list[Any]:
    """The cells of a column, each said in the way of its row; words as they are."""
    return [charts.say(of, kind) if kind else of for of, kind in zip(column, kinds, strict=True)]


def levers(of: Deployment, places: Mapping[str, Any]) -> Display:
    """What one change each would make of the carbon [kg CO2e]."""
    changes = eco.levers(of, places)
    for column in ("from", "to"):
        changes[column] = _said(changes[column], changes["kind"])
    return charts.table(
        changes.drop(columns="kind"),
        "One change at a time; another chip or model at about as many sequences together, and"
        " another model gives other answers",
        formats={"carbon": "mass", "saved": "percent"},
        headers={"carbon": "carbon left"},
        name="levers",
    )


def by_utilization(case: SimpleNamespace, carbon: Carbon) -> Display:
    """Carbon of the same work against the share of the time at work [kg CO2e]."""
    loads = {"utilization": np.linspace(0.05, 1, 20).round(2)}
    at_load = {"all": carbon.total, "making": carbon.embodied_kg}
    across, look = "utilization", {"x_kind": "percent", "along": case.utilization}
    return charts.show(
        charts.rule(case.utilization, across, "you", foot=True)
        + charts.lines(loads, across, at_load, "mass", across, "CO2e", **look),
        name="utilization",
        alt="Carbon of the same work against utilization: it falls steeply at first and flattens,"
        " since busy hours remain; the making of the hardware falls in proportion.",
    )


def savings(of: Deployment) -> Display:
    """What three times the utilization saves."""
    return charts.table(
        eco.savings(of),
        "What goes away from 20 to 60 % utilization for the same work; the longer life is three"
        " years instead of one",
        formats=dict.fromkeys(("same life", "longer life"), "percent"),
        name="savings",
    )


def the_93_percent() -> Display:
    """Clarifai's 93 %, recomputed."""
    ids = ("S2-93-use", "S2-93-use-and-life", "S2-93-study", "S2-93-carbon")
    found = charts.table(stored.table(*ids), "The 93 % recomputed")
    return charts.folded(found, "Clarifai's 93 %, recomputed in four readings")


def cleanest_regions(
    case: SimpleNamespace, carbon_kg: Any, regions: pd.DataFrame, clean: Any, dirty: Any
) -> Display:
    """Carbon of the same work in the cleanest cloud regions, and the two ends of all [kg CO2e]."""
    cleanest, dirtiest = regions.iloc[0], regions.iloc[-1]
    look = {"color": "provider", "along": _electricity(case), "otherwise": "not known"}
    return charts.show(
        ranking(regions, "name", carbon_kg, "mass", "CO2e", **look),
        name="regions",
        alt=f"Carbon of the same work in the twelve cleanest of {len(regions)} cloud regions, from"
        " {clean:mass} in {cleanest.location}; the dirtiest, {dirtiest.location}, emits"
        " {dirty:mass}.",
    )


def _electricity(case: SimpleNamespace) -> Sequence[Any]:
    """What a region states of its electricity, as the case has it."""
    return case.pue, case.grams_per_kwh, case.site_liters_per_kwh, case.plant_liters_per_kwh


def all_regions(case: SimpleNamespace, made: Footprint, regions: pd.DataFrame) -> Display:
    """Carbon [kg CO2e] and water [L] of the same work in every cloud region."""
    shown = regions.drop(columns=["provider", "name", "liters_per_kwh", "marginal_ratio"])
    shown["g/kWh"], shown["PUE"] = regions["grams_per_kwh"], regions["pue"]
    shown["carbon"], shown["water"] = made.carbon.total, made.water.total
    listed = charts.table(
        shown,
        "Every cloud region, the cleanest first; a PUE or water on site that a provider does not"
        " state is the usual one",
        formats={"g/kWh": "whole", "carbon": "mass", "water": "volume"},
        along=_electricity(case),
        name="regions-all",
    )
    return charts.folded(listed, f"All {len(regions)} regions, with their water")


def small_chips(option: pd.DataFrame) -> Display:
    """Large and small models on idle, full and small chips."""
    said = {"energy": "si Wh", "carbon": "mass", "of it making": "mass"}
    words = "A million tokens in the United States"
    return charts.table(option, words, said, name="small-chip")


def images() -> Display:
    """A thousand images of each generator, folded."""
    pictures = eco.images()
    words = (
        "1,000 images on an H100 that never waits, in the United States, with server, building and"
        " making; the side is not stated in the older rows"
    )
    said = {"energy": "si Wh", "carbon": "mass", "miles": "number 2"}
    said |= dict.fromkeys(("side", "chip [J/image]"), "whole")
    made_of = charts.table(pictures, words, said, name="images")
    fewest, most = (charts.say(of, "number 2") for of in pictures["miles"].agg(["min", "max"]))
    summary = f"{len(pictures)} generators: {fewest} to {most} miles of an average car"
    return charts.folded(made_of, f"1,000 images from {summary}")


def images_and_households() -> Display:
    """What Clarifai says of images, inference and households, recomputed."""
    ids = ("S2-images-miles", "S2-ai-twh-high", "S2-households")
    shown = charts.table(stored.table(*ids), "Images, inference and households, recomputed")
    return charts.folded(shown, "Clarifai on images, inference and households, checked")


def predicted_energies(rows: pd.DataFrame) -> Display:
    """Predicted against published energy of training runs [MWh]."""
    runs, axes = checks.scored_energies(rows), ("published", "predicted", "model", "MWh")
    return charts.show(
        charts.predicted_vs_measured(runs, *axes, said="published"),
        name="validation",
        alt=f"Predicted against published energy of {len(runs)} training runs, close to the"
        " diagonal for most.",
    )


def scored_figures(scored: pd.DataFrame) -> Display:
    """The figures that are scored, folded."""
    said = checks.in_words(scored)
    every = charts.table(said, "Published and predicted", SIGNED, name="validated")
    return charts.folded(every, f"All {len(scored)} scored figures")


def design_power_figures(rows: pd.DataFrame) -> Display:
    """The figures that multiply design power by hours, folded."""
    products = checks.in_words(checks.design_power(rows))
    words = "Design power times hours on both sides: checks arithmetic and grids, not the model"
    return charts.folded(
        charts.table(products, words, SIGNED, name="design-power"),
        f"{len(products)} figures that are design power times hours, Meta's for Llama among them:"
        " an upper bound for the chips that leaves out their servers",
    )


def answers(case: SimpleNamespace, of: Deployment, nobody: Any) -> Display:
    """An answer of the case beside those whose footprint was published, folded."""
    mine = charts.phrase("{case.model}, your case, per answer of {eco.ANSWER_TOKENS:whole} tokens")
    none = where(of.training, "your case is a training run", nobody)
    name, counted = where(of.served, mine, none), where(of.served, "as above", "")
    rows = eco.beside_answers(of, name, counted)
    said = {"energy": "si Wh", "carbon": "mass", "water": "volume"}
    beside = charts.table(rows, "One answer", said, name="answers")
    return charts.folded(beside, f"One answer beside {len(rows) - 1} published ones")


def tornado(carbon_kg: Any, uncertain: Any, ends: Mapping[str, Ends]) -> Display:
    """What moves the carbon, an input at a time [kg CO2e]."""
    return charts.show(
        charts.tornado(ends, carbon_kg, "mass", "CO2e", result=uncertain),
        name="tornado",
        alt="What moves the carbon of your case, an input at a time, most of all first; at its best"
        " it is {carbon_kg:mass}.",
    )
