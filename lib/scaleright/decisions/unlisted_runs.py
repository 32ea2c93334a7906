"""What a training run takes on accelerators that nobody lists."""

from itertools import product
from types import SimpleNamespace
from typing import Any

from scaleright.catalog import accelerators, model, remembered
from scaleright.costs import pretraining
from scaleright.costs.cluster_grid import TIMES, WAYS
from scaleright.costs.fastest_steps import fastest_on_all
from scaleright.costs.platforms import format_on
from scaleright.costs.pretraining import run_chip_hours
from scaleright.costs.pretraining_run import kept_share
from scaleright.costs.whole_runs import factors
from scaleright.decisions.cluster_efficiency import Setting
from scaleright.decisions.left_out import unlisted
from scaleright.formulas import lookup, search
from scaleright.quantity import Table
from scaleright.scaling_laws.batches import tokens_over_least
from scaleright.training.layout import USUAL_FORMAT, TrainingRun, training_format, usual_sequence
from scaleright.training.slowdowns import architecture_fitted
from scaleright.units import figure

NAN = float("nan")


@search
def step_seconds(
    model_name: str, accelerator: str, chips: int, batch_tokens: int, precision: str = USUAL_FORMAT
) -> float:
    """Time of the fastest step of a model on so many of an accelerator [s]; NaN where no layout
    fits.
    """
    shape = model(model_name)
    chip, sequence = accelerators()[accelerator], usual_sequence(shape)
    form = format_on(accelerator, training_format(shape, precision))
    run = TrainingRun(shape, chip, 1, sequence, batch_tokens // sequence, form)
    found = fastest_on_all(run, [chip], [chips])
    parts = found.get((accelerator, chips), {})
    return figure(sum(parts.get(part, NAN) for part in TIMES), 5)


@remembered
def seconds_of_page(models: tuple[str, ...]) -> Table:
    """These steps at each of `cluster_grid.WAYS`, by model and accelerator of `unlisted`."""
    return Table(
        {
            (name, chip): {"seconds": [step_seconds(name, chip, *way) for way in WAYS]}
            for name, chip in product(models, unlisted())
        }
    )


@lookup
def unlisted_hours(setting: Setting, step_s: Any, chips: Any, batch_tokens: Any) -> Any:
    """Chip-hours of the run of a setting on accelerators that nobody lists, whose step takes so
    long, on demand [h].
    """
    case = SimpleNamespace(**vars(setting.case) | pretraining.reliability())
    read = case.tokens * tokens_over_least(batch_tokens, setting.critical)
    parts = (step_s, 0.0, 0.0, 0.0)
    kept = {"goodput": kept_share(case, chips), **factors(case.tuning)}
    return run_chip_hours(read, batch_tokens, chips, *parts, **kept).total


@lookup
def untested(accelerator: str) -> str:
    """That no run on the architecture of an accelerator was fitted, in words; empty where one was.

    >>> untested("GB200"), untested("MI355X")
    ('', ' (no run on that architecture was fitted)')
    """
    seen = architecture_fitted(accelerators()[accelerator])
    return "" if seen else " (no run on that architecture was fitted)"
