"""The fastest step of a model on every number of chips and at every batch: what a page looks up of
the search of layouts, to find how many chips a run should take.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaleright.catalog import accelerator, model, remembered, shared
from scaleright.costs.clusters import cluster_chips, format_on
from scaleright.costs.fastest_steps import COLUMNS, Step, fastest_at
from scaleright.costs.platform_terms import trust
from scaleright.costs.platforms import BATCHES
from scaleright.formulas import lookup, search
from scaleright.ops import item
from scaleright.quantity import Table, choose, look_up
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import TrainingRun, usual_sequence
from scaleright.training.step import model_flop
from scaleright.transformer.parameters import active_parameters
from scaleright.units import figure

CLUSTERS = tuple(2**power for power in range(3, 17))
"""Numbers of chips that are weighed: from one node to four times the largest published job."""
MODELS = ("Llama-3.1-8B", "Llama-3.1-70B", "Llama-3.1-405B", "DeepSeek-V3")
"""Models that the page offers, beside that of its own case."""
PRECISION = "BF16"
"""The format in which a page's runs train."""
WAYS = tuple((chips, tokens) for chips in CLUSTERS for tokens in BATCHES.values())
"""Every number of chips with every batch, of `BATCHES`, in this order."""
TIMES = COLUMNS[:-1]


@search
@shared
def steps_of(
    model_name: str, precision: str = PRECISION, only: str = ""
) -> dict[str, dict[str, list[float]]]:
    """The parts of the fastest step at each of `WAYS` on each chip that clusters are built of, or
    on `only` one [s]; NaN where no layout fits.
    """
    asked = model_name, CLUSTERS
    found = {size: fastest_at(*asked, size, precision, only) for size in BATCHES.values()}
    return {
        name: {
            part: [
                figure(found[size].get((name, chips), {}).get(part, np.nan), 5)
                for chips, size in WAYS
            ]
            for part in TIMES
        }
        for name in ([only] if only else cluster_chips())
    }


@dataclass(frozen=True)
class Grid:
    """The fastest steps of several models, as tables of which a page looks one up.

    steps : by model and accelerator: lists over `WAYS`
    models : by name: model FLOP of a token, parameters that it uses, kind ("dense" or "experts")
    peaks : dense peak in the format by accelerator [FLOP/s]
    trust : how far the times are to be trusted, see `platform_terms`
    precision : the format, or BF16 where a chip lacks it
    """

    steps: Table
    models: dict[str, dict[str, Any]]
    peaks: dict[str, float]
    trust: Table
    precision: str = PRECISION

    @classmethod
    def of(
        cls, models: Iterable[str] = MODELS, precision: str = PRECISION, only: str = ""
    ) -> "Grid":
        """That of several models, on all chips or on `only` one."""
        names = [*dict.fromkeys(models)]
        steps = {name: steps_of(name, precision, only) for name in names}
        rows = {(name, chip): of for name in names for chip, of in steps[name].items()}
        known = {name: _figures_of(name) for name in names}
        peaks = {
            name: chip.peak_flops(PEAK_NAMES[format_on(name, precision)])
            for name, chip in cluster_chips().items()
        }
        return cls(Table(rows), known, peaks, Table(trust()), precision)

    def step(self, case: Any, way: Any) -> Step:
        """The step of a case at one of `WAYS`.

        case : quantities `model` and `accelerator`; way : its place
        """
        row = self.steps.row(case.model, case.accelerator)
        parts = {name: item(row[name], way) for name in TIMES}
        tokens = item(tuple(float(tokens) for _, tokens in WAYS), way)
        step_s = sum(parts.values())
        flop = choose(self.models, case.model).flop_per_token * tokens
        chips, peak = chips_at(way), look_up(self.peaks, case.accelerator)
        kind = choose(self.models, case.model).kind
        trusted = self.trust.row(kind, case.accelerator, self.precision)
        return Step(tokens, parts, flop / (step_s * chips * peak), "", step_s > 0, trusted)


@search
@remembered
def grid_of(model_name: str, precision: str = PRECISION, only: str = "") -> Grid:
    """The grid of one model, on all chips or on `only` one."""
    return Grid.of((model_name,), precision, only)


def _figures_of(name: str) -> dict[str, Any]:
    shape = model(name)
    sequence = usual_sequence(shape)
    run = TrainingRun(shape, accelerator("H100 SXM"), 1, sequence, 1, PRECISION)
    return {
        "flop_per_token": figure(model_flop(run) / sequence),
        "parameters": float(active_parameters(shape).total),
        "kind": "experts" if shape.experts else "dense",
    }


@lookup
def chips_at(way: Any) -> Any:
    """The number of chips at one of `WAYS` [1]."""
    return item(tuple(float(chips) for chips, _ in WAYS), way)


@lookup
def way_of(chips: Any) -> Any:
    """The place of a number of chips among `CLUSTERS`."""
    return look_up({size: place for place, size in enumerate(CLUSTERS)}, chips)
