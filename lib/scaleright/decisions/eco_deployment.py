"""What runs where: a model served or trained on a chip in a place, with its footprint, for
`eco_efficiency` to rate.
"""

from dataclasses import dataclass, replace
from statistics import median

from scaleright.architecture import Transformer
from scaleright.catalog import DataError, accelerator, fact, model, table
from scaleright.footprint import Footprint, Machine, Place, busy_hours, machine
from scaleright.inference.energy import chat_energy_at
from scaleright.market import matmul_chips
from scaleright.transformer import bytes_per_parameter, decode_step, parameters, weight_bytes
from scaleright.units import si
from scaleright.validation import decode_floor

TOKENS = 1e6
"""Footprints of serving are those of a million output tokens."""
CONTEXT = 512
"""Tokens in view while a chat is answered."""


@dataclass(frozen=True)
class Deployment:
    """What runs where: a machine at work for so many hours (for a million tokens, or for a run), in
    a place.

    shape, weight_bytes, batch : the model, its weights, and the sequences it serves together; None
        for a training run
    """

    chip: str
    machine: Machine
    busy_hours: float
    utilization: float
    place: Place
    shape: Transformer | None = None
    weight_bytes: float | None = None
    batch: float | None = None

    @property
    def footprint(self) -> Footprint:
        """Energy, carbon and water of the work."""
        return Footprint.of(self.machine, self.busy_hours, self.utilization, self.place)


def serving(
    name: str,
    chip: str,
    batch: float,
    utilization: float,
    place: Place,
    life_years: float | None = None,
) -> Deployment:
    """A million tokens of a model, as measured on a chip at the number of sequences nearest to the
    one asked.

    Raises
    ------
    LookupError : nobody measured the model, or the model on this chip.

    >>> from scaleright.footprint import place
    >>> serving("Llama-3.1-8B", "H100 SXM", 64, 0.4, place("France")).chip
    'H100 SXM'
    """
    row, shape = chat_energy_at(name, chip, batch), model(name)
    of = machine(row["accelerator"], chip_watts=float(row["chip_watts"]))
    of = of if life_years is None else replace(of, life_years=life_years)
    held = weight_bytes(parameters(shape).total, bytes_per_parameter(row["precision"]))
    return Deployment(
        row["accelerator"],
        of,
        float(busy_hours(TOKENS, row["tokens_per_s"])),
        utilization,
        place,
        shape,
        float(held),
        batch,
    )


def training(chip: str, chip_hours: float, utilization: float, place: Place) -> Deployment:
    """A run that takes so many hours of a chip at work, which is at work for a share of its time.

    >>> from scaleright.footprint import place
    >>> run = training("A100 SXM 80GB", 1e6, 0.9, place("France"))
    >>> round(run.footprint.energy.total / 1e6, 2)
    0.83
    """
    return Deployment(accelerator(chip).name, machine(chip), chip_hours, utilization, place)


def expected(
    name: str, chip: str, precision: str, batch: float, utilization: float, place: Place
) -> Deployment:
    """A million tokens on a chip that nobody measured: its decode step as the roofline has it,
    times what steps measured over that take.

    The chip draws its share of training. One chip holds the model; its prompts are not counted, its
    context is short.

    Raises
    ------
    DataError : the weights do not fit into its memory.

    >>> from scaleright.footprint import place
    >>> expected("Llama-3.1-8B", "L4", "INT4", 8, 0.8, place("France")).busy_hours > 1
    True
    """
    shape, of, machine_ = model(name), accelerator(chip), machine(chip)
    held = float(weight_bytes(parameters(shape).total, bytes_per_parameter(precision)))
    if held > of.require("memory_bytes"):
        raise DataError(
            f"{si(held, 'B')} of weights do not fit into the {si(of.memory_bytes, 'B')} of"
            f" {of.name}"
        )
    floors = decode_floor(table("measured/energy"))
    peak = of.dense.get("bf16") or of.peak_flops("fp16")
    shares = {chip: spec["compute_efficiency"] for chip, spec in matmul_chips().items()}
    reached = shares.get(of.name, median(shares.values()))
    step = decode_step(
        shape,
        CONTEXT,
        batch,
        precision,
        1,
        peak,
        of.memory_bytes_per_s,
        reached,
        fact("memory_bandwidth_efficiency"),
    )
    tokens_per_s = batch / (step.seconds * floors["ratio"].median())
    return Deployment(
        of.name,
        machine_,
        float(busy_hours(TOKENS, tokens_per_s)),
        utilization,
        place,
        shape,
        held,
        batch,
    )
