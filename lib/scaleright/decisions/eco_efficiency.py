"""Eco-Efficiency Scorecard (F11): a deployment rated on S2's four axes against stated reference
points, and what would help most.

S2 rates utilization, model size, hardware and energy in words. Here each axis runs between two
published figures, a poor and a good one; the levers are footprints computed anew with one thing
changed.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from scaleright.catalog import accelerators, fact, model, table
from scaleright.costs.price_performance import joules_per_tflop
from scaleright.decisions.eco_deployment import TOKENS, Deployment, expected, serving, training
from scaleright.decisions.hardware_choice import SMALLER_CARD_BYTES, follows_rule
from scaleright.decisions.verdict import Verdict
from scaleright.footprint import Place, place, region
from scaleright.inference.energy import chat_energy
from scaleright.market import matmul_chips
from scaleright.order import ordered
from scaleright.transformer import bytes_per_parameter, parameters, weight_bytes
from scaleright.units import MASSES, in_units, significant

__all__ = [
    "GOOD_UTILIZATION",
    "LOW_UTILIZATION",
    "MOST",
    "PERCENTILES",
    "SOURCE",
    "TOKENS",
    "WORDS",
    "Deployment",
    "eco_efficiency",
    "expected",
    "levers",
    "regions",
    "savings",
    "score",
    "scorecard",
    "serving",
    "source_rule",
    "training",
]

SOURCE = "S2, Eco-Efficiency Scorecard"
GOOD_UTILIZATION, LOW_UTILIZATION = 0.8, 0.6
"""S2's example of a high score, and the use that it says to reach; below it a chip is underused."""
MOST = 3
"""Levers that a verdict names."""
PERCENTILES = (0.1, 0.9)
"""Reference points of energy: those of all published operating points."""
WORDS = {"high": "scores high", "poorly": "scores poorly", "between": "scores in between"}


def score(value: float, poor: float, good: float) -> float:
    """Where a figure stands between a poor (0) and a good one (1), as a ratio; beyond either it
    scores that end.

    >>> score(0.2, 0.1, 0.4), score(400.0, 1600.0, 100.0), score(0.9, 0.1, 0.4)
    (0.5, 0.5, 1.0)
    """
    return float(np.clip(np.log(value / poor) / np.log(good / poor), 0.0, 1.0))


def scorecard(of: Deployment) -> pd.DataFrame:
    """The deployment on each of S2's axes: its figure, the poor and the good reference point, the
    score, and where they come from.

    A run of training states no tokens, so that only utilization and hardware are rated.

    >>> from scaleright.footprint import place
    >>> scorecard(training("H100 SXM", 1e6, 0.9, place("France")))["axis"].tolist()
    ['utilization', 'hardware']
    """
    watts = {name: chip.tdp_watts for name, chip in accelerators().items() if chip.tdp_watts}
    known = {
        name: joules_per_tflop(watts[name], spec["bf16_flops"], spec["compute_efficiency"])
        for name, spec in matmul_chips().items()
        if name in watts
    }
    chips = ordered(pd.Series(known))
    rows = [
        (
            "utilization",
            of.utilization,
            fact("alibaba_gpu_utilization_2020") / 100,
            fact("llama3_effective_training_time") / 100,
            "1",
            "mean of Alibaba's cluster; effective training time of Llama 3",
        ),
    ]
    if of.chip in known:
        named = f"{chips.index[-1]} and {chips.index[0]} at full power, BF16"
        rows.append(("hardware", known[of.chip], chips.iloc[-1], chips.iloc[0], "J/TFLOP", named))
    if of.weight_bytes is not None:
        seen = chat_energy()
        kinds = set(zip(seen["model"], seen["precision"], strict=True))
        held = [
            weight_bytes(parameters(model(name)).total, bytes_per_parameter(kind))
            for name, kind in kinds
        ]
        rows.append(
            (
                "model size",
                of.weight_bytes,
                max(held),
                min(held),
                "B",
                "weights of the largest and the smallest model measured",
            )
        )
        low, high = seen["joules_per_token"].quantile(PERCENTILES)
        mine = of.machine.chip_watts * of.busy_hours * 3600 / TOKENS
        named = (
            f"of {len(seen)} published operating points, nine in ten lie below and above;"
            " accelerators alone"
        )
        rows.append(("energy", mine, high, low, "J/token", named))
    frame = pd.DataFrame(rows, columns=["axis", "yours", "poor", "good", "unit", "reference"])
    return frame.assign(score=[score(row.yours, row.poor, row.good) for row in frame.itertuples()])


def levers(of: Deployment, cleaner: Place) -> pd.DataFrame:
    """What one change each would make of the footprint, the largest saving of carbon first.

    Columns: lever, change (in words), energy_kwh, carbon_kg, saving (share of the carbon, negative
    where it harms) [1]. Another chip or model is the least hungry one that was measured at about as
    many sequences together; another model gives other answers.

    Parameters
    ----------
    of : the deployment
    cleaner : the place to move to
    """
    changes = {
        "utilization": (
            f"{100 * of.utilization:.0f} to {100 * GOOD_UTILIZATION:.0f} %",
            replace(of, utilization=GOOD_UTILIZATION),
        ),
        "place": (
            f"{1e3 * of.place.kg_co2e_per_kwh:.0f} to {1e3 * cleaner.kg_co2e_per_kwh:.0f} g/kWh",
            replace(of, place=cleaner),
        ),
        "longer life": (
            f"{of.machine.life_years:g} to {2 * of.machine.life_years:g} years",
            replace(of, machine=replace(of.machine, life_years=2 * of.machine.life_years)),
        ),
    }
    if of.shape is not None:
        seen = chat_energy()
        same_model, same_chip = seen["model"] == of.shape.name, seen["accelerator"] == of.chip
        alike = np.abs(np.log(seen["batch"] / of.batch)) < np.log(1.5)
        for name, rows in (
            ("fuller batches", seen[same_model & same_chip]),
            ("another chip", seen[same_model & ~same_chip & alike]),
            ("another model", seen[same_chip & ~same_model & alike]),
        ):
            for row in ordered(rows, "joules_per_token").head(1).itertuples():
                made = serving(
                    row.model,
                    row.accelerator,
                    row.batch,
                    of.utilization,
                    of.place,
                    of.machine.life_years,
                )
                changes[name] = (
                    f"{row.model} on {row.accelerator}, {row.batch} sequences together",
                    made,
                )
    before = of.footprint.carbon.total
    rows = [
        (name, words, to.footprint.energy.total, to.footprint.carbon.total)
        for name, (words, to) in changes.items()
    ]
    frame = pd.DataFrame(rows, columns=["lever", "change", "energy_kwh", "carbon_kg"])
    frame = frame.assign(saving=1 - frame["carbon_kg"] / before)
    return ordered(frame, "saving", ascending=False, ignore_index=True)


def savings(
    of: Deployment, before: float = 0.2, after: float = 0.6, life: float = 1.0, longer: float = 3.0
) -> pd.DataFrame:
    """What goes away when the same work runs at a higher utilization, with and without a longer
    life of the hardware.

    Columns: what, same life, longer life [1]. The defaults are S2's example: 20 to 60 %, one year
    and three.

    >>> from scaleright.footprint import place
    >>> savings(training("H100 SXM", 1e6, 0.9, place("France"))).set_index("what").loc[
    ...     "hardware worn out", "same life"].round(2)
    np.float64(0.67)
    """

    def parts(utilization: float, years: float) -> np.ndarray:
        made = replace(
            of, utilization=utilization, machine=replace(of.machine, life_years=years)
        ).footprint
        making = made.carbon.embodied_kg
        return np.array([making, made.energy.total, made.carbon.total - making, made.carbon.total])

    first = parts(before, life)
    what = ["hardware worn out", "energy", "carbon of the energy", "carbon, making included"]
    return pd.DataFrame(
        {
            "what": what,
            "same life": 1 - parts(after, life) / first,
            "longer life": 1 - parts(after, longer) / first,
        }
    )


def regions(of: Deployment) -> pd.DataFrame:
    """The same work in every cloud region whose grid is known, carbon and water of its electricity
    both, the cleanest first.

    Columns: place, provider, region, location, those of `Place`, carbon_kg, water_l, and
    marginal_ratio, the carbon of one more kWh over the average (missing where no source states it)
    [1].

    >>> from scaleright.footprint import place
    >>> bool(regions(training("H100 SXM", 1e6, 0.9, place("France")))[
    ...     "carbon_kg"].is_monotonic_increasing)
    True
    """
    rows = []
    for provider, name in (
        table("cloud_regions")[["provider", "region"]].drop_duplicates().itertuples(index=False)
    ):
        found = region(provider, name, None)
        if found.plant_water is None:
            continue
        at = place(f"{provider} {name}")
        made = replace(of, place=at).footprint
        ratio = (
            found.marginal.value / found.kg_co2e_per_kwh
            if found.marginal and found.kg_co2e_per_kwh
            else np.nan
        )
        figures = {
            "carbon_kg": made.carbon.total,
            "water_l": made.water.total,
            "marginal_ratio": ratio,
        }
        rows.append(
            {
                "place": f"{provider} {name}",
                "provider": provider,
                "region": name,
                "location": found.name,
            }
            | vars(at)
            | figures
        )
    return ordered(pd.DataFrame(rows), "carbon_kg", ignore_index=True)


def source_rule(utilization: float, held_bytes: float, high_end: bool) -> str:
    """What S2's scorecard says: a small model on a mid-tier chip in use scores high, a large one on
    an underused high-end chip poorly.

    S2 gives no figure for small: here, what fits the smaller cards that S3 names.

    >>> source_rule(0.8, 16e9, False), source_rule(0.3, 140e9, True), source_rule(0.8, 140e9, True)
    ('high', 'poorly', 'between')
    """
    small = held_bytes <= SMALLER_CARD_BYTES
    if small and not high_end and utilization >= GOOD_UTILIZATION:
        return "high"
    return "poorly" if not small and high_end and utilization < LOW_UTILIZATION else "between"


def eco_efficiency(of: Deployment, cleaner: Place) -> Verdict:
    """How a deployment that serves tokens scores by its energy, and which change would save most.

    The computed class is a third of the scale of energy, from the poor to the good reference point,
    at the meter of the accelerators, their idle hours included.

    Raises
    ------
    ValueError : a training run, whose tokens are not stated.

    >>> from scaleright.footprint import place
    >>> eco_efficiency(serving("Llama-3.1-70B", "H100 SXM", 8, 0.2, place("Poland")),
    ...     place("France")).rule
    'scores poorly'
    """
    if of.weight_bytes is None:
        raise ValueError(
            "eco_efficiency: a training run states no tokens; rate it with `scorecard`"
        )
    made, rated, help_ = of.footprint, scorecard(of).set_index("axis"), levers(of, cleaner)
    energy = rated.loc["energy"]
    joules = 3.6 * made.energy.chips_kwh * 1e6 / TOKENS
    grade = score(joules, energy["poor"], energy["good"])
    computed = "high" if grade >= 2 / 3 else "poorly" if grade <= 1 / 3 else "between"
    spec = matmul_chips()[of.chip]
    rule = source_rule(of.utilization, of.weight_bytes, follows_rule("high-end", of.chip, spec))
    between = (
        f"between {significant(energy['good'])} (good) and {significant(energy['poor'])} (poor)"
    )
    reasons = [
        f"{significant(joules)} J of the accelerators for a token, idle hours included, {between}"
    ]
    reasons += [
        f"{row.lever} ({row.change}) would save {100 * row.saving:.0f} % of the carbon"
        for row in help_[help_["saving"] > 0.005].head(MOST).itertuples()
    ]
    numbers = {
        "energy": (made.energy.total, "kWh / 1e6 token"),
        "carbon": (made.carbon.total, "kg CO2e / 1e6 token"),
        "water": (made.water.total, "L / 1e6 token"),
        "embodied": (made.carbon.embodied_kg, "kg CO2e / 1e6 token"),
    }
    what = f"{WORDS[computed]}: {in_units(made.carbon.total, MASSES)} CO2e for a million tokens"
    return Verdict(
        "How does it score?", what, tuple(reasons), numbers, SOURCE, WORDS[rule], computed == rule
    )
