"""Formats of the weights: those in which a model may be served on a chip, and the one in which it
usually is, by what was published.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import lookup
from scaleright.inference.deployment import computed_in, formats_of
from scaleright.inference.slowdowns import family_of
from scaleright.ops import where
from scaleright.order import noiseless
from scaleright.quantity import Table, look_up
from scaleright.roofline import INTEGER_PEAK_NAMES, PEAK_NAMES
from scaleright.transformer import bytes_per_parameter, parameters
from scaleright.units import significant

FORMATS = ("BF16", "FP8", "INT8", "INT4", "NVFP4", "MXFP4")
"""Formats that may be chosen, the widest first; BF16 stands for all of 16 bits."""
USUAL = "usual"
"""The choice of the format in which hosts serve a model on a chip, see `usual_format`."""
ONLY_IN = "MXFP4"
"""Models that were released in this format were published in nothing else; of others AMD published
weights in it, for its chips that multiply four bits.
"""
_FOUR_BITS = ("MXFP4", "INT4")
_NAMED = {"FP8": "fp8", "INT8": "int8|w8a8", "INT4": "int4|awq|gptq|w4a16", "NVFP4": "nvfp4"}
"""What the name of a listing says where it tells the format."""


class Usual(NamedTuple):
    """The format in which a model is usually served on a chip, and by which evidence, in words."""

    precision: str
    why: str


@lookup
def released_in(model: Transformer) -> str:
    """Format of the published weights, by its name in `FORMATS`; "BF16" for wider ones.

    >>> [released_in(catalog.model(of)) for of in ("gpt-oss-120b", "Kimi-K2.5", "DeepSeek-V3")]
    ['MXFP4', 'INT4', 'FP8']
    """
    known = model.name in catalog.models()  # not a shape that is made up
    form = catalog.release_format(model.name).removesuffix("-block") if known else "BF16"
    return form if form in FORMATS else "BF16"


@lookup
def published_in(model: Transformer, chip: Accelerator, precision: str) -> bool:
    """Whether anyone published a model in a format for such a chip."""
    amd = chip.vendor == "AMD" and "fp4" in chip.dense
    return amd or (released_in(model) == ONLY_IN) == (precision == ONLY_IN)


@lookup
def offered(model: Transformer, chip: Accelerator) -> tuple[str, ...]:
    """The `FORMATS` in which a model may be served on a chip: published ones that it multiplies and
    that engines have kernels for.

    Eight-bit integers are served on NVIDIA's chips before Blackwell alone: others have FP8
    [vllm2026quantization].

    >>> chip = catalog.accelerator("A100 SXM 80GB")
    >>> [offered(catalog.model(of), chip) for of in ("Llama-3.1-8B", "gpt-oss-20b")]
    [('BF16', 'INT8', 'INT4'), ('MXFP4',)]
    """
    able = set(formats_of(chip))
    if "fp8" in chip.dense and (chip.vendor == "AMD" or "fp4" in chip.dense):
        able.discard("INT8")
    return tuple(form for form in FORMATS if form in able and published_in(model, chip, form))


def _kin(chip: Accelerator) -> tuple[str, ...]:
    """Chips of one family that serve the same formats."""
    return family_of(chip), *formats_of(chip)


@lookup
def kin(accelerators: Iterable[str]) -> dict[str, str]:
    """For each chip the first of those that serve every model in the same formats, and usually in
    the same one.

    >>> kin(["H100 SXM", "A100 SXM 80GB", "H200 SXM"])["H200 SXM"]
    'H100 SXM'
    """
    first: dict[tuple[str, ...], str] = {}
    chips = {name: catalog.accelerator(name) for name in accelerators}
    return {name: first.setdefault((of.vendor, *_kin(of)), name) for name, of in chips.items()}


@lookup
@catalog.shared
def _publications() -> Mapping[tuple[str, ...], Mapping[str, int]]:
    """Publications that tell the throughput of a model on chips that are kin, by format; of any
    model under the name "".

    What tunes a system for throughput chooses its format; studies of energy run models as they were
    released, so they do not count.
    """
    rows = catalog.table("measured/serving")
    rows = rows[["model", "accelerator", "precision", "source"]].dropna().drop_duplicates()
    seen: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for name, chip, form, source in rows.itertuples(index=False):
        for model in (catalog.model(name).name, ""):
            by_form = seen.setdefault((model, *_kin(catalog.accelerator(chip))), {})
            by_form.setdefault(form.replace("FP16", "BF16"), set()).add(source)
    return {key: {form: len(of) for form, of in found.items()} for key, found in seen.items()}


@lookup
@catalog.shared
def named_in_listings() -> Mapping[str, int]:
    """How many offers of open models at APIs tell a format, by it, the most first.

    >>> next(iter(named_in_listings()))
    'FP8'
    """
    rows = catalog.undated("api_prices")
    found = dict.fromkeys(_NAMED, 0)
    for name, told in zip(rows["model_id"].str.lower(), rows["format"], strict=True):
        for form, words in _NAMED.items():
            found[form] += told == form or bool(re.search(words, name))
    return dict(sorted(found.items(), key=lambda of: -of[1]))


def _most(counts: Mapping[str, int], allowed: tuple[str, ...]) -> str:
    """The format of most publications, of those allowed; the leaner of equals, "" where none is."""
    among = [form for form in allowed if counts.get(form)]
    return max(among, key=lambda form: (counts[form], FORMATS.index(form)), default="")


@lookup
def usual(model: Transformer, chip: Accelerator) -> Usual:
    """The format in which hosts serve a model on a chip, by what they and others publish.

    No host tells chip and format together, so that the first of these decides which tells one: the
    release, where it has four bits; the published runs of the model on chips of the family, by how
    many publications ran it so; the names of listings at APIs, where the chip multiplies what most
    of them name; the published runs of any model on such chips.

    >>> chip = catalog.accelerator
    >>> [usual(catalog.model("Llama-3.3-70B"), chip(of)).precision
    ...     for of in ("A100 SXM 80GB", "H100 SXM", "B200")]
    ['BF16', 'FP8', 'NVFP4']
    >>> usual(catalog.model("Gemma-3-27B"), chip("B200"))[0]
    'FP8'
    """
    allowed, known = offered(model, chip), _publications()
    if (form := released_in(model)) in _FOUR_BITS and form in allowed:
        return Usual(form, "as in its release")
    runs = known.get((model.name, *_kin(chip)), {})
    if form := _most(runs, allowed):
        most, all_of = runs[form], sum(runs.values())
        of = f"{most} of {all_of}" if all_of > most else f"{most}"
        many = "publication" if all_of == 1 else "publications"
        return Usual(form, f"as in its published runs on such chips ({of} {many})")
    named = named_in_listings()
    if (form := next(iter(named))) in allowed:
        told = f"{named[form]} of the {sum(named.values())} listings that name one"
        return Usual(form, f"the one that most hosts name ({told})")
    if form := _most(known.get(("", *_kin(chip)), {}), allowed):
        return Usual(form, "that of published runs of other models on such chips")
    return Usual(allowed[0] if allowed else "BF16", "the widest, since no run was published")


@lookup
def usual_format(model: Transformer, chip: Accelerator) -> str:
    """The format alone, see `usual`."""
    return usual(model, chip).precision


@lookup
def resolved(model: Transformer, chip: Accelerator, precision: str = USUAL) -> str:
    """The format that is asked for.

    Raises
    ------
    ValueError : the chip does not serve it, or nobody published the model in it; the nearest that
        works is named.

    >>> resolved(catalog.model("Llama-3.1-8B"), catalog.accelerator("A100 SXM 80GB"), "NVFP4")
    Traceback (most recent call last):
    ValueError: A100 SXM 80GB does not serve Llama-3.1-8B in NVFP4; nearest: INT4; it serves it in
    BF16, INT8 or INT4
    """
    if precision == USUAL:
        return usual_format(model, chip)
    allowed = offered(model, chip)
    if precision not in allowed:
        raise ValueError(
            f"{chip.name} does not serve {model.name} in {precision}; nearest:"
            f" {nearest_format(precision, allowed)}; it serves it in {either(allowed)}"
        )
    return precision


@lookup
def nearest_format(precision: str, allowed: tuple[str, ...]) -> str:
    """The format nearest in width, of those allowed: of as many bits, else of more.

    >>> nearest_format("NVFP4", ("BF16", "INT8", "INT4")), nearest_format("FP8", ("BF16", "INT4"))
    ('INT4', 'BF16')
    """
    bits = {"BF16": 16, "FP8": 8, "INT8": 8}
    asked = bits.get(precision, 4)

    def apart(form: str) -> tuple[bool, int]:
        wide = bits.get(form, 4)
        return wide < asked, abs(wide - asked)

    return min(allowed, key=apart, default="none")


@lookup
def either(forms: tuple[str, ...]) -> str:
    """Formats in words.

    >>> either(("BF16", "INT8", "INT4"))
    'BF16, INT8 or INT4'
    """
    return " or ".join([", ".join(forms[:-1]), forms[-1]] if forms[1:] else forms) or "none"


# What formats and other levers cost in quality, as published


@lookup
def published_losses() -> pd.DataFrame:
    """Published scores before and after a lever, with `loss`, over the score before [1].

    >>> published_losses()["loss"].between(0, 0.2).all()
    np.True_
    """
    rows = catalog.table("lever_quality")
    return rows.assign(loss=1 - rows["after"] / rows["before"])


def _nearest(rows: pd.DataFrame, size: float) -> pd.DataFrame:
    """The row of the model nearest in size, if there is any."""
    apart = noiseless(np.abs(np.log(rows["parameters"] / size)))
    return rows.iloc[np.argsort(apart, kind="stable")[:1]]


@lookup
@catalog.remembered
def quality_loss(lever: str, precision: str, size: float) -> float:
    """Published loss of a benchmark's score over the score, of the model nearest in size [1]; 0
    where no loss is to be expected.

    Parameters
    ----------
    lever : of `LEVERS`
    precision : format of the weights once it is taken
    size : parameters of the model [1]

    >>> round(quality_loss("4-bit weights", "INT4", 8e9),
    ...     3), round(quality_loss("4-bit weights", "INT4", 70e9), 3)
    (0.025, 0.002)
    """
    rows = published_losses()
    of_form = rows["form"].isna() | (rows["form"] == precision)
    return float(_nearest(rows[(rows["lever"] == lever) & of_form], size)["loss"].sum())


@lookup
@catalog.remembered
def quality_words(name: str, precision: str) -> str:
    """What a format costs a model in quality: a benchmark before and after, the model that it was
    measured on, and who published it.

    Of a model that nobody measured in the format, that of the nearest in size, which is said.

    >>> quality_words("Llama-3.3-70B", "NVFP4")[:59]
    'NVFP4 loses 0.93 % of the score (average of MMLU, GSM8K, He'
    >>> quality_words("gpt-oss-120b", "MXFP4")
    'nothing is lost, since it was released in MXFP4'
    """
    shape = catalog.model(name)
    if precision == "BF16":
        return "nothing is lost in 16 bits"
    released = released_in(shape)
    if precision == released:
        return f"nothing is lost, since it was released in {precision}"
    if bytes_per_parameter(precision) > bytes_per_parameter(released):
        return f"nothing is lost that its release in {released} had"
    rows = published_losses()
    rows = rows[rows["form"] == precision]
    if rows.empty:
        return f"no loss in {precision} was published"
    same = rows[[catalog.model(of).name == shape.name for of in rows["model"]]]
    found = (_nearest(rows, parameters(shape).total) if same.empty else same.iloc[-1:]).iloc[0]
    loss = f"{significant(100 * found['loss'], 2)} % of the score" if found["loss"] > 0 else "none"
    scores = f"{found['before']:g} to {found['after']:g}"
    whose = f"of {found['model']}" if found["model"] != name else ""
    said = f"{precision} loses {loss} ({found['benchmark']}{' ' * bool(whose)}{whose}, {scores};"
    said = f"{said} {found['scored_by']})"
    return f"not measured for this model; nearest: {said}" if same.empty else said


# In which format a model is served on a chip, whether it is the usual one there, and what it
# costs in quality, as quantities


PEAKS = PEAK_NAMES | INTEGER_PEAK_NAMES
"""The dense peak of a chip that products in a format run at."""
NO_FORMAT = "not served in this format"


@dataclass(frozen=True)
class Weights:
    """In which format a model is served on a chip; words.

    precision : the format that is asked for
    usual, why_usual : the format that is usual there, and by which evidence
    formats : those in which the chip serves the model
    quality : what the format costs in quality, as published
    lacking : why no node holds the model in the format; empty where one does
    """

    precision: Any
    usual: Any
    why_usual: Any
    formats: Any
    quality: Any
    lacking: Any

    @property
    def refused(self) -> Any:
        """Whether the chip does not serve the model in the format [truth value]."""
        return self.lacking == NO_FORMAT

    @property
    def refusal(self) -> tuple[Any, Any]:
        """The same, and what to choose instead, in words."""
        said = "the chip does not serve it in this format. Choose " + self.formats + "."
        return self.refused, said


@dataclass(frozen=True)
class AnyFormats:
    """The formats of many models on many accelerators.

    formats : of the models on one chip of each kind that serves the same ones
    kin : that chip of each
    served : by the formats that a chip serves, in words, and by one of them
    peaks : what each chip computes at in a format
    """

    formats: Formats
    kin: Mapping[str, str]
    served: Table
    peaks: Table

    def weights(self, model: Any, accelerator: Any, precision: Any) -> Weights:
        """In which format a model is served on a chip, of what is chosen."""
        like = look_up(self.kin, accelerator)
        in_words = self.formats.told.row(model, like).formats
        there = (precision == USUAL) | self.served.row(in_words, precision).there
        return self.formats.weights(model, like, precision, where(there, "", NO_FORMAT))

    def peak(self, accelerator: Any, precision: Any) -> Any:
        """What a chip computes at with weights in a format [FLOP/s]; NaN where it does not."""
        return self.peaks.row(accelerator, precision).flops


@lookup
@catalog.remembered
def any_formats(models: tuple[str, ...], accelerators: tuple[str, ...]) -> AnyFormats:
    """The formats of some models on some accelerators, all of which have BF16.

    >>> found = any_formats(("Llama-3.3-70B", "gpt-oss-120b"), ("H100 SXM", "H200 SXM", "B200"))
    >>> found.weights("Llama-3.3-70B", "H200 SXM", "usual").precision.value
    'FP8'
    >>> found.weights("gpt-oss-120b", "B200", "NVFP4").refused.value
    True
    >>> found.peak("B200", "NVFP4").value > found.peak("B200", "INT4").value
    True
    """
    like = kin(accelerators)
    pairs = [*product(models, dict.fromkeys(like.values()))]
    chips = {name: catalog.accelerator(name) for name in accelerators}
    every = dict.fromkeys(offered(catalog.model(name), chips[chip]) for name, chip in pairs)
    served = {(either(forms), form): {"as": form} for forms in every for form in forms}
    peaks = {
        (name, form): {"flops": chip.dense[PEAKS[computed_in(form, chip)]]}
        for name, chip in chips.items()
        for form in FORMATS
        if form in formats_of(chip)
    }
    formats = Formats.of({name: name for name in models}, pairs)
    return AnyFormats(formats, like, Table(served, "none"), Table(peaks, "none"))


@catalog.shared
def _told(
    models: tuple[tuple[str, str], ...], pairs: tuple[tuple[str, str], ...]
) -> tuple[dict[tuple[str, str], dict[str, str]], dict[tuple[str, str], dict[str, str]]]:
    """The rows of `Formats`: of models on accelerators, and of models in each format."""
    told, named = {}, dict(models)
    for name, chip in pairs:
        shape, of = catalog.model(named[name]), catalog.accelerator(chip)
        form, why = usual(shape, of)
        words = {"usual": form, "why_usual": why, "formats": either(offered(shape, of))}
        told[name, chip] = words
    quality = {
        (name, form): {"words": quality_words(of, form)} for name, of in models for form in FORMATS
    }
    return told, quality


@dataclass(frozen=True)
class Formats:
    """The formats of some models on some accelerators.

    told : by model and accelerator: the usual format, by which evidence, and all in which the model
        is served there, in words
    quality : by model and format: what it costs in quality, see `quality_words`
    """

    told: Table
    quality: Table

    @classmethod
    def of(cls, models: Mapping[str, str], pairs: Iterable[tuple[str, str]]) -> Self:
        """Those of some models, by what they are called, on some accelerators each.

        >>> formats = Formats.of({"mine": "Llama-3.3-70B"}, [("mine", "H100 SXM")])
        >>> formats.weights("mine", "H100 SXM", "usual", "").precision.value
        'FP8'
        """
        told, quality = _told(tuple(models.items()), tuple(pairs))
        return cls(Table(told, "none"), Table(quality, "none"))

    def weights(self, model: Any, accelerator: Any, precision: Any, lacking: Any) -> Weights:
        """In which format a model is served on a chip, of what is chosen.

        lacking : why it is not, in words; empty where it is
        """
        told = self.told.row(model, accelerator)
        form = where(precision == USUAL, told.usual, precision)
        quality = self.quality.row(model, form).words
        return Weights(form, told.usual, told.why_usual, told.formats, quality, lacking)
