"""The step of a small training run on a part of a chip, on one chip or on a few, of each platform:
what a page looks up of a search that cannot follow its controls.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from scaleright.catalog import Accelerator, accelerator, model, remembered, shared, table
from scaleright.costs.fastest_steps import COLUMNS, PRECISIONS, alike, fastest_on_all
from scaleright.costs.platform_terms import trust
from scaleright.costs.platforms import cluster_chips
from scaleright.formulas import lookup, search
from scaleright.ops import item
from scaleright.quantity import Table, look_up
from scaleright.quantity.rows import Row
from scaleright.training.layout import TrainingRun, usual_sequence
from scaleright.transformer import active_parameters
from scaleright.units import figure

BATCH_TOKENS = 2**19
"""Tokens of an optimizer step of an experiment: half a million, as for GPT-3's smaller models."""
LONGEST = 4096
"""Tokens of a sequence of an experiment at most [token]."""
WIDTHS = {f"{chips} chip{'s' * (chips > 1)}": float(chips) for chips in (1, 2, 4, 8, 16, 32)}
"""Whole chips that a run is put on, by what they are called."""


@lookup
@remembered
def widths() -> dict[str, float]:
    """Chips that a run takes, by what they are called, the fewest first.

    >>> list(widths())[:4], widths()["1/2 chip"]
    (['1/7 chip', '1/3 chip', '1/2 chip', '1 chip'], 0.5)
    """
    rows = table("chip_slices").sort_values("runs_per_chip", ascending=False)
    names, runs = rows["slice"], rows["runs_per_chip"]
    return {name: 1 / int(each) for name, each in zip(names, runs, strict=True)} | WIDTHS


@lookup
def sliced(chip: Accelerator, compute_share: float, memory_share: float) -> Accelerator:
    """A part of a chip that computes and remembers by itself: of its arithmetic one share, of its
    memory and the bandwidth of that another.
    """

    def part(rates: Mapping[str, float]) -> dict[str, float]:
        return {name: rate * compute_share for name, rate in rates.items()}

    units, exponentials = chip.compute_units, chip.exponentials_per_s
    return replace(
        chip,
        dense=part(chip.dense),
        measured=part(chip.measured),
        compute_units=units and float(round(units * compute_share)),
        exponentials_per_s=exponentials and exponentials * compute_share,
        memory_bytes=chip.require("memory_bytes") * memory_share,
        memory_bytes_per_s=chip.require("memory_bytes_per_s") * memory_share,
    )


@search
@shared
def experiment_steps(model_name: str, precision: str) -> Mapping[tuple[str, str], dict[str, Any]]:
    """The fastest step of an experiment by platform and by what a run is put on, see
    `fastest_on_all`; what it does not fit on is left out.

    >>> found = experiment_steps("Pythia-160M", "BF16")
    >>> whole, half = (found["H100 SXM", of]["compute_s"] for of in ("1 chip", "1/2 chip"))
    >>> 1 < half / whole < 3
    True
    """
    shape, names = model(model_name), {int(chips): name for name, chips in WIDTHS.items()}
    sequence = min(usual_sequence(shape), LONGEST)
    slices = table("chip_slices").to_dict("records")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for form, chips in alike(precision):
        run = TrainingRun(shape, chips[0], 1, sequence, BATCH_TOKENS // sequence, form)
        for (chip, size), step in fastest_on_all(run, chips, names).items():
            found[chip, names[size]] = step
        for row in slices:
            parts = [sliced(chip, row["compute_share"], row["memory_share"]) for chip in chips]
            steps = fastest_on_all(replace(run, chip=parts[0]), parts, [1])
            found |= {(chip, row["slice"]): step for (chip, _), step in steps.items()}
    return found


@search
def require_fits(
    model_name: str, accelerator_name: str, run_on: str, precision: str
) -> Mapping[str, Any]:
    """The step of an experiment on what it is put on, see `experiment_steps`.

    Raises
    ------
    ValueError : it does not fit there; names the least on which it does.

    >>> require_fits("OLMo-2-7B", "H100 SXM", "1/7 chip", "BF16")
    Traceback (most recent call last):
    ValueError: OLMo-2-7B does not fit on 1/7 chip of H100 SXM; the least on which it does: 2 chips
    """
    chip = accelerator(accelerator_name).name
    found = experiment_steps(model_name, precision)
    if step := found.get((chip, run_on)):
        return step
    least = next((width for width in widths() if (chip, width) in found), "none that is offered")
    raise ValueError(
        f"{model_name} does not fit on {run_on} of {chip}; the least on which it does: {least}"
    )


@dataclass(frozen=True)
class ExperimentStep:
    """An optimizer step of an experiment in its fastest layout.

    seconds : how long it takes [s]
    fits : whether the run fits there
    layout : in words
    trust : how far the time is to be trusted, a row of `platform_terms.trust`
    """

    seconds: Any
    fits: Any
    trust: Row


@dataclass(frozen=True)
class ExperimentSteps:
    """The steps of several models on all that a run may be put on, as a table of which a page looks
    one up.

    table : by model, width and format: the seconds of all platforms
    names : of the platforms, in the order of these figures
    kinds : of the models, "dense" or "experts"
    parameters : of the models, active for a token [1]
    trust : how far their times are to be trusted, see `platform_terms`
    """

    table: Table
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    parameters: Mapping[str, float]
    trust: Table

    @classmethod
    def of(cls, models: Iterable[str], others: Iterable[str] = ()) -> Self:
        """Those of several models.

        others : models of which only the parameters are asked
        """
        models, names = [*dict.fromkeys(models)], tuple(cluster_chips())
        rows = dict[tuple, Mapping[str, Any]]()
        for name in models:
            for form in PRECISIONS:
                found = experiment_steps(name, form)
                for width in widths():
                    steps = [found.get((of, width), {}) for of in names]
                    seconds = [
                        figure(sum(step.get(part, np.nan) for part in COLUMNS[:-1]), 6)
                        for step in steps
                    ]
                    rows[name, width, form] = {"seconds": seconds}
        every = [*dict.fromkeys([*models, *others])]
        sizes = {name: float(active_parameters(model(name)).total) for name in every}
        kinds = {name: "experts" if model(name).experts else "dense" for name in models}
        return cls(Table(rows), names, kinds, sizes, Table(trust()))

    def on(self, accelerator_name: Any, case: Any, width: Any) -> ExperimentStep:
        """The step of a case on so much of an accelerator.

        case : quantities `model` and `precision`
        width : one of `widths`
        """
        row = self.table.row(case.model, width, case.precision)
        seconds = item(row.seconds, look_up(self.names, accelerator_name))
        kind = look_up(self.kinds, case.model)
        trusted = self.trust.row(kind, accelerator_name, case.precision)
        return ExperimentStep(seconds, seconds > 0, trusted)
