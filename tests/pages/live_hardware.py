"""What the live numbers of chapters on the choice of hardware are by the library."""

from __future__ import annotations

import math

import pandas as pd
from scaleright import catalog
from scaleright.decisions import hardware_choice as hardware
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


LIVE = [
    *(
        (
            "notebooks/hardware_compare.html",
            case,
            {name: lambda v, name=name: choice(v)[name] for name in ("usd_per_million", "chips")},
        )
        for case in ({}, TRAINING, OWN_CARD)
    ),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
