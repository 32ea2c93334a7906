"""Energy of serving: the draw and speed of an accelerator in the least hungry published
configuration, and where nobody measured it the speed that is predicted.

The measurements cover the accelerators alone, at steady state, on one set of chat prompts whose
length is not stated; host, network and building come on top (`scaleright.footprint`).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.collectives import network
from scaleright.formulas import lookup, search
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.formats import (
    FORMATS,
    USUAL,
    either,
    nearest_format,
    offered,
    resolved,
    usual_format,
)
from scaleright.inference.lengths import Load
from scaleright.inference.power import interval
from scaleright.inference.serving import slots
from scaleright.inference.splits import server
from scaleright.names import one_of
from scaleright.order import noiseless, ordered
from scaleright.power import serving_share
from scaleright.units import figure

TASK = "chat"
"""The task whose prompts all models of the newest measurements share."""
PROMPTS = (256, 362, 512, 724, 1024)
"""Tokens of a prompt of those chats that are tried, since nobody states them."""
PROMPT_TOKENS = 512
"""The one of these with which half of what was measured takes more energy than is predicted, and
half less, as nearly as can be.
"""


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


@search
@catalog.remembered
def energy_server(model: str, accelerator: str, precision: str = USUAL) -> Deployment:
    """The server that is predicted where nobody measured the energy of a model on a chip: the
    fewest chips of a node that hold it in a format; of the usual one, if no node holds it so, in
    the nearest in which one does.

    Raises
    ------
    LookupError, ValueError : the catalog lacks a figure of the chip, the chip lacks the format, or
        no node holds the model.

    >>> energy_server("Llama-3.1-70B", "H200 SXM").precision
    'FP8'
    >>> energy_server("Llama-3.1-70B", "A10").precision
    'INT8'
    """
    shape, chip = catalog.model(model), catalog.accelerator(accelerator)
    chip.require("tdp_watts")
    chip.require("memory_bytes")
    network(chip)
    if not offered(shape, chip):
        raise ValueError(f"{chip.name} computes in none of the formats that serve {shape.name}")
    form = resolved(shape, chip, precision)
    if precision == USUAL and not server(shape, chip, form):
        lean = tuple(of for of in offered(shape, chip) if server(shape, chip, of))
        form = nearest_format(form, lean) if lean else form
    if not (found := server(shape, chip, form)):
        raise ValueError(f"no node of {chip.name} holds {shape.name} in {form}")
    return found


@search
def energy_format(model: str, accelerator: str, precision: str = USUAL) -> str:
    """The format in which the energy of a model on a chip is told: that of the measured run, else
    that of the server that is predicted.

    Raises
    ------
    LookupError, ValueError : as `energy_server`.

    >>> [energy_format("Llama-3.1-70B", "H100 SXM", of) for of in ("usual", "FP8")]
    ['BF16', 'FP8']
    """
    known = measured_formats(model, accelerator)
    if precision in known or (precision == USUAL and known):
        return measured_format(model, accelerator, precision)
    return energy_server(model, accelerator, precision).precision


@search
def predicted_speed(d: Deployment, batches: Iterable[int]) -> tuple[float, list[float]]:
    """How many sequences a server that nobody measured holds of such chats, and the tokens a second
    of one of its accelerators at each of so many, or as many as it holds [token/s].

    >>> room, speeds = predicted_speed(energy_server("Llama-3.1-70B", "H200 SXM"), [8, 64])
    >>> room > 64, 4 * speeds[0] < speeds[1] < 8 * speeds[0]
    (True, True)
    """
    load, (engine,) = chat_load(d.model.name), curves([d])
    room = figure(float(slots(d, load)))
    at_work = engine.at(np.minimum([*batches], room), load)
    rates = at_work.requests_per_s * load.output_tokens / d.chips
    return room, [figure(float(rate), 4) for rate in rates]


@lookup
@catalog.remembered
def chat_load(model: str) -> Load:
    """A chat as the measured runs had it: the median of their answers to a model's."""
    seen = chat_energy()
    answers = seen.loc[seen["model"] == catalog.model(model).name, "output_tokens"]
    return Load(PROMPT_TOKENS, figure(float(answers.median())))


@search
@catalog.shared
def predicted_within() -> tuple[float, float]:
    """Between which ratios to the predicted energy of a token nine of ten measured ones lie [1]:
    each at its own batch and number of chips, with the draw of all chips in serving, and with the
    prompts that the measurements of other models ask for.

    >>> low, high = predicted_within()
    >>> 0.5 < low < 1 < high < 2
    True
    """
    ratios = _over_predicted()
    left_out = [
        of[_even(ratios.drop(model))] for model, of in ratios.groupby(level="model", sort=False)
    ]
    low, high = np.quantile(pd.concat(left_out), (0.05, 0.95))
    return figure(float(low)), figure(float(high))


def _over_predicted() -> pd.DataFrame:
    """The measured energy of a token over what is predicted for each of `PROMPTS`, by model [1]."""
    ratios, models = [], []
    for of in chat_energy().itertuples():
        chips, chip = int(of.accelerators), catalog.accelerator(of.accelerator)
        d = server(catalog.model(of.model), chip, of.precision, chips) if chips <= 8 else None
        if d:
            load = replace(chat_load(of.model), input_tokens=np.array(PROMPTS, float))
            at_work = curves([d])[0].at(np.minimum(of.batch, slots(d, load)), load)
            watts = serving_share("") * chip.require("tdp_watts")
            tokens_per_s = at_work.requests_per_s * load.output_tokens / d.chips
            ratios.append(of.joules_per_token * tokens_per_s / watts)
            models.append(of.model)
    return pd.DataFrame(ratios, pd.Index(models, name="model"), PROMPTS)


def _even(ratios: pd.DataFrame) -> int:
    """The prompts with which the median of ratios comes nearest to 1 [token]."""
    return PROMPTS[np.argmin(noiseless(np.log(ratios.median()).abs()))]


@lookup
def predicted_ends(d: Deployment) -> tuple[float, float]:
    """Bounds of measured over predicted energy of a token of a server that nobody measured [1]: the
    wider of `predicted_within` and of what runs whose model no fit saw had (`power.interval`).
    """
    (low, high), (least, most) = predicted_within(), interval(d)
    return min(low, least), max(high, most)
