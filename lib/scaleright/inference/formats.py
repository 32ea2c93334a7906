"""Formats of the weights: those in which a model may be served on a chip, and the one in which it
usually is, by what was published.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator
from scaleright.formulas import lookup
from scaleright.inference.deployment import formats_of
from scaleright.inference.slowdowns import family_of

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
