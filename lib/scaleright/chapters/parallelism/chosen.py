"""A training run whose chip and format are choices: its machine, slowdowns and memory as rows of a
table, so that the time of a step is a quantity.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from scaleright.catalog import Accelerator, model
from scaleright.collectives import OUT_LATENCY_S, UP_LATENCY_S, network
from scaleright.formulas import lookup
from scaleright.ops import minimum
from scaleright.quantity import choose, look_up
from scaleright.roofline import PEAK_NAMES, plain_format, speeds
from scaleright.training.layout import TrainingRun
from scaleright.training.machine import CAST_BYTES, ELEMENT_BYTES, Machine, Stack, fuses_experts
from scaleright.training.rules import peak_needed
from scaleright.training.slowdowns import KINDS, Slowdowns, borrowed, interval, slowdowns

SPEEDS = ("matmul_flops", "memory_bytes_per_s", "units", "exponentials_per_s", "launch_s")
UNLIMITED = 1e15
"""Bandwidth between a pair of chips where nothing but the fabric limits it [B/s]."""


@lookup
def machines(
    chips: Iterable[Accelerator], precisions: Iterable[str], model_name: str
) -> dict[tuple[str, str], dict[str, Any] | str]:
    """What a step depends on of each chip in each format, or why there is nothing: rows to choose.

    model_name : a model of the kind that is trained, with or without experts
    """
    rows, precisions = {}, list(precisions)
    for chip in chips:
        name = chip.name
        for form in precisions:
            if peak_needed(form) not in chip.dense:
                rows[name, form] = f"{name} has no tensor cores for {form}"
                continue
            run = TrainingRun(model(model_name), chip, 1, 1, 1, form)
            fast, plain = speeds(chip, form), speeds(chip, plain_format(chip))
            up, out = network(chip)
            slow, (low, high) = slowdowns(run), interval(run)
            fabric = chip.require("scale_up_bytes_per_s")
            pair = chip.scale_up_pair_bytes_per_s or UNLIMITED
            rows[name, form] = (
                {field: getattr(fast, field) for field in SPEEDS}
                | {f"plain_{field}": getattr(plain, field) for field in SPEEDS}
                | {f"slow_{kind}": slow.by_kind[kind] for kind in KINDS}
                | {
                    "peak_flops": chip.peak_flops(PEAK_NAMES[form]),
                    "memory_bytes": chip.require("memory_bytes"),
                    "domain": up.chips,
                    "fabric": fabric,
                    "network": chip.scale_out_bytes_per_s or fabric,
                    "up_share": up.bytes_per_s / fabric,
                    "out_share": out.bytes_per_s / (chip.scale_out_bytes_per_s or fabric),
                    "pair": pair,
                    "element_bytes": ELEMENT_BYTES[form],
                    "cast_bytes": CAST_BYTES[form],
                    "graphed": fuses_experts(run),
                    "low": low,
                    "high": high,
                    "basis": f"; {borrowed(run)}" if borrowed(run) else "",
                }
            )
    return rows


@dataclass(frozen=True)
class Chosen:
    """The chip and the format of a run, as chosen.

    machine, slow : as `step_time` takes them
    peak_flops : dense, in the format [FLOP/s]
    memory_bytes : of a chip [B]
    domain : chips of a node [1]
    low, high : bounds of measured over predicted time, nine of ten unseen runs [1]
    basis : whose constants are borrowed, in words
    there, why : whether the chip has the format; why it has not
    """

    machine: Machine
    slow: Slowdowns
    peak_flops: Any
    memory_bytes: Any
    domain: Any
    low: Any
    high: Any
    basis: Any
    there: Any
    why: Any


@lookup
def chosen_machine(table: Any, case: Any) -> Chosen:
    """The machine of a case, of a table as `machines` makes it.

    case : `accelerator`, `precision`, `task`, `fabric_gb_per_s` and `network_gb_per_s`
    """
    row = choose(table, case.accelerator, case.precision)
    fabric = 1e9 * case.fabric_gb_per_s
    of_chips = {name: of["domain"] for (name, _), of in table.items() if not isinstance(of, str)}
    domain = look_up(of_chips, case.accelerator)  # whatever the format: the chips that are offered
    links = {
        "up_latency_s": UP_LATENCY_S,
        "up_bytes_per_s": row.up_share * fabric,
        "out_latency_s": OUT_LATENCY_S,
        "out_bytes_per_s": row.out_share * (1e9 * case.network_gb_per_s),
        "pair_bytes_per_s": row.up_share * minimum(fabric, row.pair),
    }
    machine = Machine(
        low=SimpleNamespace(**{field: row[field] for field in SPEEDS}),
        plain=SimpleNamespace(**{field: row[f"plain_{field}"] for field in SPEEDS}),
        links=links,
        domain=domain,
        element_bytes=row.element_bytes,
        cast_bytes=row.cast_bytes,
        trained=case.task != "lora",
        graphed=row.graphed,
    )
    slow = Slowdowns({kind: row[f"slow_{kind}"] for kind in KINDS}, Stack())
    rest = ("peak_flops", "memory_bytes", "low", "high", "basis", "there", "why")
    return Chosen(machine, slow, domain=domain, **{name: getattr(row, name) for name in rest})
