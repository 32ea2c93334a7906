"""What the live numbers of chapters on the choice of hardware are by the library."""

from __future__ import annotations

import math

import pandas as pd
from scaleright import catalog, mlperf
from scaleright.costs.regret import switch_probability
from scaleright.decisions import architecture_bets as bets
from scaleright.decisions import hardware_choice as hardware
from scaleright.decisions import hardware_radar as map_of_hardware
from scaleright.decisions.hardware_candidates import candidates


def choice(values: dict) -> pd.Series:
    """The cheapest chip for the workload that the controls of `hardware_compare` describe."""
    training, wait = values["task"] == "training", values["latency_ms"]
    terms = hardware.Terms(
        values["tokens_per_s"],
        values["utilization"],
        values["slowdown"],
        catalog.fact("memory_bandwidth_efficiency"),
        values["memory_share"],
        wait / 1e3 if wait > 0 and not training else math.inf,
        values["most_chips"],
        values["fabric_gb_per_s"] * 1e9,
        training,
    )
    work = hardware.work(
        catalog.model(values["model"]),
        training,
        values["context"],
        values["batch"],
        values["precision"],
    )
    chips = candidates(values["vendor"], values["segment"], int(values["least_providers"]))
    return hardware.compare(work, chips, terms, values["paid"] == "own").iloc[0]


def hardware_bet(values: dict) -> tuple[pd.DataFrame, pd.Series]:
    """Costs of the bets that the controls of `architecture_bets` describe, and the rates of the
    pair by kind of model.
    """
    rents, pair = bets.rents(), [values["bet"], values["rival"]]
    rates = {
        kind: bets.matched_rates(
            *pair, values[kind], "Offline" if kind == "images" else values["scenario"]
        )
        for kind in bets.ARCHITECTURES
    }
    prices = (
        rents["usd_per_hour"]
        .where((rents["listings"] > 0) | bool(values["unlisted"]) | rents.index.isin(pair))
        .dropna()
    )
    prices[pair[0]], prices[pair[1]] = values["bet_usd_per_hour"], values["rival_usd_per_hour"]
    return bets.payoffs(rates, prices), pd.Series(
        {kind: of[pair[0]] / of[pair[1]] for kind, of in rates.items()}
    )


def regret(values: dict) -> float:
    """What the best of them costs more than knowing in advance."""
    verdict = bets.architecture_bets(
        hardware_bet(values)[0],
        values["mixture_probability"],
        values["image_share"],
        values["committed_ratio"],
    )
    return (
        min(number for name, (number, _) in verdict.numbers.items() if name.endswith(", expected"))
        - 1
    )


def switch(values: dict) -> float:
    costs = hardware_bet(values)[0]
    return switch_probability(
        values["image_share"], *costs.loc[values["bet"]], *costs.loc[values["rival"]]
    )


def leader(values: dict) -> float:
    """The score of the chip that leads by the controls of `hardware_radar`."""
    weights = [values[f"weight_{axis}"] for axis in map_of_hardware.AXES]
    known = map_of_hardware.figures(
        values["benchmark"], values["scenario"], values["paid"] == "own", values["stand_ins"]
    )
    return float(
        map_of_hardware.standings(map_of_hardware.scores(known, values["span"]), weights)[
            "low"
        ].iloc[0]
    )


TRAINING = {
    "task": "training",
    "model": "Llama-3.1-8B",
    "context": 8192,
    "precision": "BF16",
    "tokens_per_s": 2e5,
    "slowdown": 2.0,
}
OWN_CARD = {
    "model": "Llama-3.1-8B",
    "precision": "INT4",
    "paid": "own",
    "segment": "consumer",
    "least_providers": 1,
    "tokens_per_s": 500,
}
RADAR = "notebooks/hardware_radar.html"
FRUGAL = {
    "benchmark": "stable-diffusion-xl",
    "weight_speed": 0.0,
    "weight_energy": 3.0,
    "span": 4.0,
    "stand_ins": True,
}
OWNED = {"benchmark": "gpt-oss-120b", "scenario": "Server", "paid": "own", "weight_cost": 2.5}
BETS = "notebooks/architecture_bets.html"
IN_A_HURRY = {
    "scenario": "Interactive",
    "mixture_probability": 0.8,
    "image_share": 0.2,
    "bet_usd_per_hour": 30.0,
}
OTHER_MAKER = {
    "bet": "MI355X",
    "dense": "llama2-70b",
    "mixture": "gpt-oss-120b",
    "unlisted": True,
    "mixture_probability": 0.3,
}


LIVE = [
    *(
        (
            "notebooks/hardware_compare.html",
            case,
            {name: lambda v, name=name: choice(v)[name] for name in ("usd_per_million", "chips")},
        )
        for case in ({}, TRAINING, OWN_CARD)
    ),
    *(
        (
            BETS,
            case,
            {"regret": regret, "flip": switch}
            | {
                f"range_{kind}_{end}": lambda v, kind=kind, end=end: getattr(
                    mlperf.gain(v["bet"], v["rival"], v[kind], v["scenario"]), end
                )
                for kind in ("dense", "mixture")
                for end in ("low", "high")
            },
        )
        for case in ({}, IN_A_HURRY, OTHER_MAKER)
    ),
    *(
        (
            BETS,
            case,
            {
                f"gain_{kind}": lambda v, kind=kind: hardware_bet(v)[1][kind]
                for kind in ("dense", "mixture")
            },
        )
        for case in ({}, OTHER_MAKER)
    ),
    *((RADAR, case, {"points": leader}) for case in ({}, FRUGAL, OWNED)),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
