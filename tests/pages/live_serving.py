"""What the live numbers of chapters on serving are by the library."""

from __future__ import annotations

from dataclasses import replace

from scaleright import catalog
from scaleright.decisions.inference_ladder import rungs_of_source
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import Service
from scaleright.inference.fleet import chips as fleet_size
from scaleright.inference.lengths import Load
from scaleright.inference.levers import climb


def saved_by_levers(values: dict) -> float:
    """Share of the fleet that the controls of `inference_ladder` save, with the levers that its
    case takes.
    """
    deployment = Deployment(
        catalog.model("Llama-3.1-70B"),
        catalog.accelerator(values["accelerator"]),
        software="vLLM 0.17.0",
        kv_precision="BF16",
    )
    load = Load(1150.0, 210.0, input_cv=1.0, output_cv=1.0)
    usual = {
        "peak_to_mean": 3.0,
        "together": 0.3,
        "services": 4,
        "variants": 2,
        "prefix_share": 0.5,
        "repeated_share": 0.05,
        "tpot_s": 0.05,
    }
    rungs = climb(
        Service(deployment, load, 100.0, **usual),
        [name for names in rungs_of_source().values() for name in names],
    )
    moved = {
        name: values[name]
        for name in (
            "requests_per_s",
            "peak_to_mean",
            "together",
            "services",
            "variants",
            "repeated_share",
        )
    }
    first, last = (
        fleet_size(replace(rung.service, **moved), rung.sizes, rung.served)
        for rung in (rungs[0], rungs[-1])
    )
    return 1 - last / first


LADDER = "notebooks/inference_ladder.html"
BUSY_SERVICES = {
    "accelerator": "B200",
    "requests_per_s": 400.0,
    "services": 10,
    "together": 0.1,
    "repeated_share": 0.2,
}


LIVE = [
    *((LADDER, case, {"saving": saved_by_levers}) for case in ({}, BUSY_SERVICES)),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
