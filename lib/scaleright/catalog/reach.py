"""The best matrix product of a chip: as somebody measured it, or as its nearest kin's measurement
and its own power limit let one expect.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import median

from scaleright.catalog.memory import of_chip
from scaleright.catalog.package import data_dir
from scaleright.catalog.specs import Accelerator, accelerators
from scaleright.catalog.tables import kept, unnoted

ARCHITECTURES = {
    "A100": "Ampere",
    "A800": "Ampere",
    "H20": "Hopper",
    "H100": "Hopper",
    "H200": "Hopper",
    "H800": "Hopper",
    "GH200": "Hopper",
    "B200": "Blackwell",
    "GB200": "Blackwell",
    "B300": "Blackwell Ultra",
    "GB300": "Blackwell Ultra",
    "MI300A": "CDNA 3",
    "MI300X": "CDNA 3",
    "MI325X": "CDNA 3",
    "MI350X": "CDNA 4",
    "MI355X": "CDNA 4",
}
"""Chips, by the first word of their names, that are cut from the same silicon."""
POWER_EXPONENT = 0.6
"""How the rate of a chip that is held back by its power limit grows with that limit: as this power
of it. Fitted on pairs of cards of the same silicon in MLPerf training, where neither memory nor
network sets them apart: 11 pairs, 0.41 to 0.68.
"""
LIKE = {"fp16": "bf16", "int8": "bf16", "fp4": "fp8"}
"""Formats of which nobody published a table of kernels, and the one whose share of the peak they
take.
"""


def word(chip: Accelerator) -> str:
    """The first word of a chip's name: that of the product, whatever its form.

    >>> from scaleright.catalog import accelerator
    >>> word(accelerator("H100 PCIe"))
    'H100'
    """
    return chip.name.split()[0]


def architecture(chip: Accelerator) -> str:
    """The silicon that a chip is cut from, "" where no other chip of it is known.

    >>> from scaleright.catalog import accelerator
    >>> architecture(accelerator("H100 NVL")), architecture(accelerator("L4"))
    ('Hopper', '')
    """
    return ARCHITECTURES.get(word(chip), "")


def of_kin(chip: Accelerator, figure: Callable[[Accelerator], float | None]) -> tuple[float, str]:
    """Median figure of the nearest kin that have one, and who they are: same chip and form, same
    chip, same vendor, any.

    >>> from scaleright.catalog import accelerator
    >>> of_kin(accelerator("H100 PCIe"), lambda other: other.compute_units)
    (123.0, 'H100')
    """
    known = [(other, found) for other in accelerators().values() if (found := figure(other))]
    name = word(chip)
    kin = (
        (name, lambda other: word(other) == name and other.form == chip.form),
        (name, lambda other: word(other) == name),
        (chip.vendor, lambda other: other.vendor == chip.vendor),
        ("all chips", lambda other: True),
    )
    near = ((who, [value for other, value in known if related(other)]) for who, related in kin)
    return next((median(values), who) for who, values in near if values)


@kept
def _trained(folder: Path) -> frozenset[str]:
    """Chips of which training runs were published."""
    return frozenset(unnoted("measured/training")["accelerator"])


def _sibling(chip: Accelerator, form: str) -> Accelerator | None:
    """The chip of the same silicon whose matrix products were measured: of the same product before
    others, then that of the nearest power limit.
    """

    def near(other: Accelerator) -> tuple[bool, float, str]:
        limits = [one.tdp_watts or 0.0 for one in (chip, other)]
        return word(other) != word(chip), max(limits) - min(limits), other.name

    silicon = architecture(chip)
    alike = [of for of in accelerators().values() if silicon and architecture(of) == silicon]
    return min((of for of in alike if form in of.measured), key=near, default=None)


@of_chip
def held_back(chip: Accelerator) -> tuple[float, str]:
    """How much of its best matrix product its power limit leaves a chip, if it reached the share of
    the peak that the same silicon reaches [1], and at which of whose watts; 1 where nothing says
    that it does.

    At half the limit the same silicon is slower by the factor 0.66 (`POWER_EXPONENT`), whatever the
    datasheet's peak. A chip of which training runs were published is spared, because constants were
    fitted to them.

    >>> from scaleright.catalog import accelerator
    >>> held_back(accelerator("H100 SXM")), round(held_back(accelerator("H100 NVL"))[0], 2)
    ((1.0, ''), 0.85)
    """
    other, form = _sibling(chip, "bf16"), "bf16"
    if form in chip.measured or other is None or not chip.tdp_watts or not other.tdp_watts:
        return 1.0, ""
    faster = chip.peak_flops(form) / other.peak_flops(form)
    left = (chip.tdp_watts / other.tdp_watts) ** POWER_EXPONENT / faster
    if left >= 1 or chip.name in _trained(data_dir()):
        return 1.0, ""
    return left, f" at {chip.tdp_watts:g} of the {other.tdp_watts:g} W of {other.name}"


@of_chip
def best_matmul(chip: Accelerator, form: str) -> tuple[float, str]:
    """The best matrix product of a chip in a format, and whose measurement that is.

    Parameters
    ----------
    form : as in `Accelerator.dense`

    Returns
    -------
    rate [FLOP/s] : measured; or the share of the dense peak that a chip of the same silicon
        reaches, or else its nearest kin (`of_kin`), of which the chip's power limit leaves so much
        (`held_back`)

    Raises
    ------
    LookupError : the chip lacks the format.

    >>> from scaleright.catalog import accelerator
    >>> best_matmul(accelerator("H100 SXM"), "bf16")[1]
    'measured'
    >>> best_matmul(accelerator("H100 NVL"), "bf16")[1]
    'bf16 share of H100 SXM at 400 of the 700 W of H100 SXM'
    """
    peak, like = chip.peak_flops(form), LIKE.get(form, form)
    if form in chip.measured:
        return chip.measured[form], "measured"
    if other := _sibling(chip, like):
        share, who = other.measured[like] / other.dense[like], other.name
    else:
        share, who = of_kin(chip, lambda kin: kin.measured.get(like, 0) / kin.dense.get(like, 1))
    left, watts = held_back(chip)
    return left * share * peak, f"{like} share of {who}{watts}"
