"""Rules about training runs: what fits on how many chips, and what they get done."""

from collections.abc import Iterable, Mapping
from functools import partial


def splits(
    model: str,
    accelerator: str,
    chips: int,
    sequence: int | None,
    batch: int,
    precision: str | None,
    task: str = "pretrain",
) -> None:
    """A training run that some layout splits over its chips and that fits in their memory; what is
    left open is as in pretraining: sequences that long, a format of 16 bits.
    """
    from scaleright import catalog
    from scaleright.roofline import plain_format
    from scaleright.training.layout import TrainingRun, usual_sequence
    from scaleright.training.search import require_layout

    chip, shape = catalog.accelerator(accelerator), catalog.model(model)
    sequence = usual_sequence(shape) if sequence is None else sequence
    precision = precision or plain_format(chip)
    require_layout(TrainingRun(shape, chip, chips, sequence, batch, precision, task))


def pretrains(
    model: str,
    accelerator: str,
    chips: int,
    batch: str,
    precision: str,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """A pretraining run as `splits`, of a batch that is free with any; a chip without the format
    runs in BF16.
    """
    from scaleright import catalog
    from scaleright.costs.platforms import BATCHES, FREE, format_on
    from scaleright.rules.left_open import any_of, on_one
    from scaleright.training.layout import TrainingRun, training_format, usual_sequence
    from scaleright.training.search import require_layout

    shape = catalog.model(model)
    sequence = usual_sequence(shape)

    def fits(name: str) -> None:
        asked = training_format(shape, precision)
        chip, form = catalog.accelerator(name), format_on(name, asked)
        tokens = BATCHES.values() if batch == FREE else [BATCHES[batch]]
        runs = (TrainingRun(shape, chip, chips, sequence, of // sequence, form) for of in tokens)
        any_of(runs, partial(require_layout, context=1))

    try:
        on_one(accelerator, choices, fits)
    except ValueError as error:  # the chapter has no such parameters
        said = str(error).replace(", context = 1", "").replace("global_batch", "sequences a step")
        raise ValueError(said) from None


def holds(model: str, accelerator: str, chips: int, batch: str, precision: str) -> None:
    """A cluster on which some layout of the model fits, with this batch or, where it is free, with
    any.
    """
    from scaleright import catalog
    from scaleright.decisions import cluster_efficiency as cluster_limits
    from scaleright.training.layout import training_format

    form = training_format(catalog.model(model), precision)
    cluster_limits.require_fit(model, accelerator, chips, batch, form)


def gets_done(
    chips: int,
    chip_hours_per_interruption: float | None,
    checkpoint_stall_s: float | None,
    restart_s: float | None,
) -> None:
    """A job that keeps some of its time; None is the usual."""
    from scaleright.costs.pretraining_run import require_kept

    failures = chip_hours_per_interruption, checkpoint_stall_s, restart_s
    require_kept(chips, *failures)


def keeps_work(
    chips: int,
    chip_hours_per_interruption: float | None,
    checkpoint_stall_s: float | None,
    restart_s: float | None,
    checkpoint_minutes: float,
) -> None:
    """A job that is not stopped more often than it writes checkpoints, and keeps some of its time;
    None is the usual, and 0 minutes the best interval.
    """
    from scaleright.decisions import cluster_efficiency as cluster_limits

    failures = chip_hours_per_interruption, checkpoint_stall_s, restart_s
    cluster_limits.require_checkpoints(chips, failures, checkpoint_minutes)


def shared_by(chips: int, shared_chips: int, shared_load: float) -> None:
    """A job that is no larger than the cluster that it shares; a load of 0 is no such cluster."""
    if shared_load > 0 and chips > shared_chips:
        raise ValueError(f"the shared cluster has {shared_chips:,} chips, {chips:,} do not fit")


def meets_deadline(
    model: str,
    accelerator: str,
    tokens: float,
    batch: str,
    deadline_days: float,
    chip_hours_per_interruption: float | None,
    checkpoint_stall_s: float | None,
    restart_s: float | None,
    checkpoint_minutes: float,
    law: str,
    critical_batch: float,
    shared_load: float,
    shared_chips: int,
    job_days: float,
    precision: str,
    tuning: str,
) -> None:
    """A run that some number of chips finishes in time; None is the usual."""
    from scaleright import catalog
    from scaleright.decisions import cluster_efficiency as cluster_limits
    from scaleright.training.layout import training_format

    failures = chip_hours_per_interruption, checkpoint_stall_s, restart_s
    queue = {"shared_load": shared_load, "shared_chips": shared_chips, "job_days": job_days}
    terms = {"tokens": tokens, "law": law, "critical_batch": critical_batch, **queue}
    form = training_format(catalog.model(model), precision)
    terms |= {"precision": form, "tuning": tuning}
    case = cluster_limits.case_of(model, accelerator, batch, failures, checkpoint_minutes, terms)
    cluster_limits.require_in_time(case, deadline_days)
