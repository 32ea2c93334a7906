"""Measured energy of serving: the draw and speed of an accelerator in the least hungry published
configuration.

The measurements cover the accelerators alone, at steady state, on one set of chat prompts whose
length is not stated; host, network and building come on top (`scaleright.footprint`).
"""

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.formats import FORMATS, USUAL, either, nearest_format, usual_format
from scaleright.names import one_of
from scaleright.order import noiseless, ordered
from scaleright.units import figure

TASK = "chat"
"""The task whose prompts all models of the newest measurements share."""


def _least_hungry(runs: pd.DataFrame, joules: str, *variant: str) -> pd.DataFrame:
    """Of each model, chip and variant the row of `runs` with the least of the column `joules`."""
    kind = ["model", "accelerator", *variant]
    least = ordered(runs, joules).drop_duplicates(kind)
    return least.sort_values(kind, ignore_index=True)


@lookup
@catalog.shared
def chat_energy() -> pd.DataFrame:
    """The least hungry published configuration of each model, chip, format of the weights and
    number of sequences that run together.

    Columns: model, accelerator, batch (the engine's limit on sequences) [sequence], accelerators
    that share the model, precision, output_tokens of an answer [token], chip_watts [W] and
    tokens_per_s [token/s] of one accelerator, joules_per_token of all of them [J/token], run,
    source.

    >>> rows = chat_energy()
    >>> bool(np.allclose(rows["chip_watts"] / rows["tokens_per_s"], rows["joules_per_token"],
    ...     rtol=1e-3))
    True
    """
    runs = catalog.table("measured/energy")
    runs = runs[
        (runs["task"] == TASK) & (runs["boundary"] == "accelerator") & runs["max_sequences"].notna()
    ]
    least = _least_hungry(runs, "measured_joules_per_token", "precision", "max_sequences")
    count = least["accelerators"].astype(float)
    found = least.assign(
        batch=least["max_sequences"].astype(int),
        chip_watts=(least["measured_watts"] / count).map(figure),
        tokens_per_s=(least["measured_output_tokens_per_s"] / count).map(figure),
        joules_per_token=least["measured_joules_per_token"],
    )
    return found[
        [
            "model",
            "accelerator",
            "batch",
            "accelerators",
            "precision",
            "output_tokens",
            "chip_watts",
            "tokens_per_s",
            "joules_per_token",
            "run",
            "source",
        ]
    ]


@lookup
def newest_measured() -> pd.Timestamp:
    """The day on which the newest of these measurements was released."""
    return catalog.table("measured/energy")["released"].max()


@lookup
@catalog.shared
def image_energy() -> pd.DataFrame:
    """The least hungry published configuration of each image generator and chip, at full speed.

    Columns: model, accelerator, side (of the picture) [pixel], steps, chip_watts [W] and
    images_per_s [image/s] of one accelerator, joules_per_image, run, source.

    >>> rows = image_energy()
    >>> bool((rows["joules_per_image"] > 0).all())
    True
    """
    runs = catalog.table("measured/images")
    runs = runs[(runs["task"] == "text-to-image") & runs["measured_outputs_per_s"].notna()]
    least = _least_hungry(runs, "measured_joules_per_output", "task")
    per_s = least["measured_outputs_per_s"] / least["accelerators"].astype(float)
    joules = least["measured_joules_per_output"]
    found = least.assign(
        side=least["height"], chip_watts=joules * per_s, images_per_s=per_s, joules_per_image=joules
    )
    return found[
        [
            "model",
            "accelerator",
            "side",
            "steps",
            "chip_watts",
            "images_per_s",
            "joules_per_image",
            "run",
            "source",
        ]
    ]


@lookup
def measured_formats(model: str, accelerator: str) -> tuple[str, ...]:
    """The formats of the weights in which a model's energy was measured on a chip, the widest
    first; none where nobody measured it there.

    >>> measured_formats("Qwen3-235B-A22B", "B200"), measured_formats("Llama-3.1-70B", "B200")
    (('BF16', 'FP8'), ('BF16',))
    """
    pair = catalog.model(model).name, catalog.accelerator(accelerator).name
    return tuple(form for form in FORMATS if (*pair, form) in _chat_energy_by_kind())


@lookup
def measured_format(model: str, accelerator: str, precision: str = USUAL) -> str:
    """The format of the measured runs of a model on a chip: the one that is asked for; of the usual
    one, if nobody measured it, the nearest.

    Raises
    ------
    LookupError : nobody measured the model, or the model on this chip, or in this format; what was
        measured is named.

    >>> measured_format("Llama-3.1-70B", "H100 SXM"), measured_format("Qwen3-235B-A22B", "H100 SXM")
    ('BF16', 'FP8')
    """
    shape, chip = catalog.model(model), catalog.accelerator(accelerator)
    known = measured_formats(model, accelerator)
    if not known:
        seen = chat_energy()
        seen = seen[
            seen["model"] == one_of(shape.name, seen["model"], "model with measured energy")
        ]
        raise LookupError(
            f"nobody measured the energy of {shape.name} on {chip.name}; measured on:"
            f" {', '.join(sorted(set(seen['accelerator'])))}"
        )
    asked = usual_format(shape, chip) if precision == USUAL else precision
    if asked in known or precision == USUAL:
        return asked if asked in known else nearest_format(asked, known)
    raise LookupError(
        f"nobody measured the energy of {shape.name} on {chip.name} in {precision}; nearest:"
        f" {nearest_format(precision, known)}; measured in {either(known)}"
    )


@lookup
def chat_energy_at(model: str, accelerator: str, batch: float, precision: str = USUAL) -> pd.Series:
    """The row of `chat_energy` in a format whose number of sequences comes nearest, as a ratio, to
    the one asked.

    Raises
    ------
    LookupError : as of `measured_format`.

    >>> int(chat_energy_at("Llama-3.1-70B", "H100 SXM", 70)["batch"])
    64
    """
    form = measured_format(model, accelerator, precision)
    kind = catalog.model(model).name, catalog.accelerator(accelerator).name, form
    rows = _chat_energy_by_kind()[kind]
    return rows.iloc[np.argmin(noiseless(np.abs(np.log(rows["batch"] / batch))))]


@catalog.remembered
def _chat_energy_by_kind() -> dict[tuple[str, str, str], pd.DataFrame]:
    """The rows of `chat_energy` by model, accelerator and format."""
    return dict(iter(chat_energy().groupby(["model", "accelerator", "precision"], sort=False)))
