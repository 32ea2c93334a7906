"""What the live numbers of chapters on training are by the library."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest
from parity import vega_values
from scaleright import catalog
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.decisions.parallelism_selector import parallelism_selector
from scaleright.formulas import Formula
from scaleright.training.layout import TrainingRun
from scaleright.training.step import step_time

SHOWN = (
    ("matmul_s", "attention_s", "elementwise_s", "optimizer_s", "host_s"),
    ("recompute_s",),
    ("tensor_s", "context_s", "expert_s", "pipeline_s", "data_s"),
    ("bubble_s",),
)
"""The parts of a step that the page tells apart: each is written into it with the digits of a
figure.
"""


def linked(fabric: Any, network: Any) -> TrainingRun:
    """The run of `parallelism` on these networks [GB/s]."""
    chip = replace(
        catalog.accelerator("H100 SXM"),
        scale_up_bytes_per_s=fabric * 1e9,
        scale_out_bytes_per_s=network * 1e9,
    )
    return TrainingRun(catalog.model("Llama-3.1-70B"), chip, 256, 8192, 512)


def split(values: dict) -> float:
    """Seconds of a step of the run that the controls of `parallelism` describe, split as the
    library advises.
    """
    networks = [values[f"{name}_gb_per_s"] for name in ("fabric", "network")]
    verdict = parallelism_selector(linked(*networks))
    what = verdict.what.removesuffix(" parallelism")
    layout = contenders(linked(*networks))[what][0]

    def part(fabric, network, names):
        step = step_time(linked(fabric, network), layout)
        return reduce(operator.add, (getattr(step, name) for name in names))

    given = dict(zip(("fabric", "network"), np.array([networks]).T, strict=True))
    parts = (
        vega_values(Formula("part", "closed form", partial(part, names=names), {}), given)
        for names in SHOWN
    )
    seconds = float(sum(found["value"][0] for found in parts))
    assert seconds == pytest.approx(verdict.numbers[what][0], rel=1e-6)
    return seconds


# (page, controls to set, named number, what the library says it is at all values of the page's
# controls)
SPLIT = "notebooks/parallelism.html"
LIVE = [
    *(
        (SPLIT, case, {"seconds": split})
        for case in ({}, {"network_gb_per_s": 10.0}, {"fabric_gb_per_s": 45.0})
    ),
]
"""Page, controls to set, and named numbers with what the library says that each is at all values of
the page's controls.
"""
