"""In which format a model is served on a chip, whether it is the usual one there, and what it costs
in quality, as quantities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.deployment import computed_in, formats_of
from scaleright.inference.formats import FORMATS, USUAL, either, kin, offered, usual
from scaleright.inference.quality import quality_words
from scaleright.ops import where
from scaleright.quantity import Table, look_up
from scaleright.roofline import INTEGER_PEAK_NAMES, PEAK_NAMES

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
