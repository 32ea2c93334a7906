"""The fastest step of a model on every number of chips and at every batch: what a page looks up of
the search of layouts, to find how many chips a run should take.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scaleright.catalog import accelerator, model, remembered, shared
from scaleright.costs.fastest_steps import (
    COLUMNS,
    PRECISIONS,
    Step,
    fastest_at,
    overlapping,
    table_key,
)
from scaleright.costs.platform_terms import trust
from scaleright.costs.platforms import BATCHES, cluster_chips, format_on
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
WAYS = tuple((chips, tokens) for chips in CLUSTERS for tokens in BATCHES.values())
"""Every number of chips with every batch, of `BATCHES`, in this order."""
TIMES = COLUMNS[:-1]


@search
@shared
def steps_of(
    model_name: str, precision: str = "BF16", only: str = "", overlapped: bool = False
) -> dict[str, dict[str, list[float]]]:
    """The parts of the fastest step at each of `WAYS` on each chip that clusters are built of, or
    on `only` one [s]; NaN where no layout fits; `overlapped` as of `fastest_on_all`.
    """
    asked = model_name, CLUSTERS
    found = {
        size: fastest_at(*asked, size, precision, only, overlapped) for size in BATCHES.values()
    }
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


@search
@shared
def layouts_of(model_name: str, precision: str) -> dict[str, list[str]]:
    """The layouts of these steps in words, empty where none fits."""
    found = {size: fastest_at(model_name, CLUSTERS, size, precision) for size in BATCHES.values()}
    return {
        name: [found[size].get((name, chips), {}).get("layout", "") for chips, size in WAYS]
        for name in cluster_chips()
    }


@dataclass(frozen=True)
class Grid:
    """The fastest steps of several models, as tables of which a page looks one up.

    steps : by model, format and accelerator: lists over `WAYS`; in BF16 where a chip lacks the
        format
    models : by name: model FLOP of a token, parameters that it uses, kind ("dense" or "experts")
    peaks : dense peak in a format by accelerator and format [FLOP/s]
    trust : how far the times are to be trusted, see `platform_terms`
    tuned : by what `steps` has the models in the best quarter of runs, see `overlapping`
    """

    steps: Table
    models: dict[str, dict[str, Any]]
    peaks: Table
    trust: Table
    tuned: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        models: Iterable[str] = MODELS,
        precisions: Iterable[str] | Mapping[str, Iterable[str]] = PRECISIONS,
        only: str = "",
    ) -> "Grid":
        """That of several models in some formats, on all chips or on `only` one; in formats by
        model as typical runs go alone.
        """
        names = [*dict.fromkeys(models)]
        if isinstance(precisions, Mapping):
            better, by = dict[str, str](), {name: sorted(of) for name, of in precisions.items()}
            forms = tuple(dict.fromkeys(form for of in by.values() for form in of))
        else:
            better, forms = overlapping(names), tuple(precisions)
            by = dict.fromkeys(names, forms)
        asked = [
            (name, key, form)
            for name in names
            for key in dict.fromkeys((name, better.get(name, name)))
            for form in by[name]
        ]
        rows = {
            (key, form, chip): of
            for name, key, form in asked
            for chip, of in steps_of(name, form, only, key not in names).items()
        }
        known = {name: _figures_of(name) for name in names}
        peaks = {
            (name, form): {"flops": chip.peak_flops(PEAK_NAMES[format_on(name, form)])}
            for name, chip in cluster_chips().items()
            for form in forms
        }
        return cls(Table(rows), known, Table(peaks), Table(trust()), better)

    def step(self, case: Any, way: Any) -> Step:
        """The step of a case at one of `WAYS`.

        case : quantities `model`, `accelerator`, `precision` and `tuning`; way : its place
        """
        row = self.steps.row(table_key(case, self.tuned), case.precision, case.accelerator)
        parts = {name: item(row[name], way) for name in TIMES}
        tokens = item(tuple(float(tokens) for _, tokens in WAYS), way)
        step_s = sum(parts.values())
        flop = choose(self.models, case.model).flop_per_token * tokens
        chips, peak = chips_at(way), self.peaks.row(case.accelerator, case.precision).flops
        kind = choose(self.models, case.model).kind
        trusted = self.trust.row(kind, case.accelerator, case.precision)
        return Step(tokens, parts, flop / (step_s * chips * peak), "", step_s > 0, trusted)


@search
@remembered
def grid_of(model_name: str, precision: str = "BF16", only: str = "") -> Grid:
    """The grid of one model in one format, on all chips or on `only` one."""
    return Grid.of((model_name,), (precision,), only)


def _figures_of(name: str) -> dict[str, Any]:
    shape = model(name)
    sequence = usual_sequence(shape)
    run = TrainingRun(shape, accelerator("H100 SXM"), 1, sequence, 1)
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
