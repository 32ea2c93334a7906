"""Every server, and every engine of a node, with its curve: what a page's controls choose from,
found once a build.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

from scaleright.catalog import accelerator, model, shared
from scaleright.formulas import lookup, search
from scaleright.inference.curves import (
    APART,
    DECODING,
    IN_STEPS,
    READING,
    Curve,
    curves,
    writing_parts,
)
from scaleright.inference.deployment import Deployment, check, shared_by
from scaleright.inference.formats import USUAL, offered, usual_format
from scaleright.inference.nodes import best_engines
from scaleright.inference.phases import KINDS
from scaleright.inference.splits import SOFTWARE, holding


@dataclass(frozen=True)
class Served:
    """A server and its curve, beside two parts of the steps that give answers alone.

    network : what its chips wait for each other, as the table `decoding` of the curve [s]
    engine : all but that and the products with weights: launches, scheduling, sampling and small
        operations, of one answer and of each more [s]
    """

    server: Deployment
    curve: Curve
    network: Sequence[float]
    engine: Sequence[float]


@lookup
def figures(of: Curve, apart: bool = False) -> dict[str, Any]:
    """The numbers of a curve by name, without those of steps with prompts beyond its `budget`; of
    an engine for which others read prompts two of each table, since its steps carry none.

    apart : whether to name chips that read prompts for it, of which there may be none
    """
    needed = 2 if of.reader else sum(tokens < of.budget for tokens in READING) + 1
    told = vars(of) | {name: getattr(of, name)[:needed] for name in ("reading", "grouped")}
    told["reader"] = of.reader or [*IN_STEPS]
    return {name: value for name, value in told.items() if apart or name not in APART}


@lookup
def curve_at(row: Mapping[str, Any], place: int) -> Curve:
    """The curve of the engine at a place of a row, whose numbers have the place in their names."""
    names, there = {name: f"{name} {place}" for name in Curve.__dataclass_fields__}, {*row}
    return Curve(**{name: row[key] for name, key in names.items() if key in there})


@lookup
def apart_places(every: Iterable[Sequence[Curve]]) -> set[int]:
    """Places among the engines of each row of a table where others read prompts for any."""
    return {place for known in every for place, one in enumerate(known) if one.reader}


def _served(found: Sequence[Deployment]) -> list[Served]:
    """Servers that differ in their chips alone."""
    network, products = ("tensor", "expert", "pipeline"), ("matmul", "grouped")
    engine = [kind for kind in KINDS if kind not in (*network, *products)]
    waits, works = writing_parts(found, network, engine)
    steps = DECODING[-1] - DECODING[0]
    line = [(of[0], float(f"{(of[-1] - of[0]) / steps:.3g}")) for of in works]
    return list(map(Served, found, curves(found), waits, line))


@search
@shared
def servers(
    models: tuple[str, ...], accelerators: tuple[str, ...], formats: tuple[str, ...]
) -> Mapping[tuple[str, str, str, str], Served]:
    """The servers of each model on each accelerator in each format on 1, 2, 4 and 8 chips, where
    they have room.

    >>> found = servers(("Llama-3.1-70B",), ("H100 SXM",), ("BF16", "FP8", "NVFP4"))
    >>> ["{2} {3}".format(*key) for key in found]
    ['BF16 4', 'BF16 8', 'FP8 2', 'FP8 4', 'FP8 8']
    """
    rows = {}
    for case in product(models, accelerators, formats):
        held = holding(model(case[0]), accelerator(case[1]), case[2])
        found = [one for one, _ in held]
        for served in _served(found) if found else ():
            rows[*case, str(served.server.chips)] = served
    return MappingProxyType(rows)


@search
@shared
def node_engines(
    name: str, chip: str, precision: str
) -> tuple[tuple[Deployment, ...], tuple[Curve, ...]] | None:
    """The `engines` of a model on an accelerator in a format, and their curves: none where no node
    holds it; None where it is not served in that format there.

    >>> found, known = node_engines("Llama-3.1-70B", "H100 SXM", "FP8")
    >>> [d.chips for d in found], len(known)
    ([2, 4, 8], 3)
    """
    shape, of = model(name), accelerator(chip)
    return best_engines(shape, of, precision) if precision in offered(shape, of) else None


@search
def engines_in(
    name: str, chip: str, precision: str = USUAL
) -> tuple[tuple[Deployment, ...], tuple[Curve, ...]]:
    """Those in one format, or in the usual one; none where the chip does not serve it.

    >>> [len(engines_in("Llama-3.1-8B", "A100 SXM 80GB", of)[0]) for of in ("usual", "FP8")]
    [3, 0]
    """
    shape, of = model(name), accelerator(chip)
    form = usual_format(shape, of) if precision == USUAL else precision
    return node_engines(shape.name, of.name, form) or ((), ())


@search
def writing_seconds(
    name: str, chip: str, precision: str, chips: int, batch: float, context: float
) -> float:
    """A step in which chips that share every layer of a model give each of some sequences a token,
    as `servers` take it [s].

    Parameters
    ----------
    name, chip, precision : the model, the accelerator, the format of the weights
    chips, batch, context : chips and sequences [1], and tokens that each looks back on [token]

    Raises
    ------
    ValueError, LookupError : no such deployment; says why.

    >>> 0.01 < writing_seconds("Llama-3.1-70B", "H100 SXM", "FP8", 2, 8, 2048) < 0.02
    True
    """
    shape = model(name)
    d = shared_by(Deployment(shape, accelerator(chip), precision, software=SOFTWARE), chips)
    check(d)
    (one,) = curves([d])
    return float(one.writing_s(batch) + one.looking_s(batch, context))
