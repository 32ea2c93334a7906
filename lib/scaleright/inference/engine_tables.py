"""Every server, and every engine of a node, with its curve: what a page's controls choose from,
found once a build.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from scaleright.catalog import accelerator, model, shared
from scaleright.formulas import search
from scaleright.inference.curves import Curve, curves, engines, writing_parts
from scaleright.inference.deployment import Deployment
from scaleright.inference.server import server


@dataclass(frozen=True)
class Served:
    """A server and its curve, beside the tables of two parts of the steps that give answers alone.

    products : with weights [s]
    network : what its chips wait for each other [s]
    """

    server: Deployment
    curve: Curve
    products: Sequence[float]
    network: Sequence[float]


def _served(one: Deployment) -> Served:
    network = ("tensor", "expert", "pipeline")
    (curve,), parts = curves([one]), writing_parts(one, ("matmul", "grouped"), network)
    return Served(one, curve, *parts)


@search
@shared
def servers(
    models: tuple[str, ...],
    accelerators: tuple[str, ...],
    formats: tuple[str, ...],
    chips: int | None = None,
) -> Mapping[tuple[str, str, str], Served]:
    """The `server` of each model on each accelerator in each format, where there is one.

    >>> found = servers(("Llama-3.1-70B",), ("H100 SXM",), ("BF16", "FP8", "NVFP4"))
    >>> [(key[-1], of.server.chips, of.curve.chips) for key, of in found.items()]
    [('BF16', 4, 4.0), ('FP8', 4, 4.0)]
    """
    found = {
        case: server(model(case[0]), accelerator(case[1]), case[2], chips)
        for case in product(models, accelerators, formats)
    }
    return MappingProxyType({case: _served(one) for case, one in found.items() if one})


@search
@shared
def node_engines(
    models: tuple[str, ...], accelerators: tuple[str, ...]
) -> Mapping[tuple[str, str], tuple[tuple[Deployment, ...], tuple[Curve, ...]]]:
    """The `engines` of each model on each accelerator, and their curves; none where no node holds
    it.

    >>> found, known = node_engines(("Llama-3.1-70B",), ("H100 SXM",))["Llama-3.1-70B", "H100 SXM"]
    >>> [d.chips for d in found], len(known)
    ([2, 4, 8], 3)
    """
    found = {
        pair: tuple(engines(model(pair[0]), accelerator(pair[1])))
        for pair in product(models, accelerators)
    }
    return MappingProxyType(
        {pair: (of, tuple(curves(of)) if of else ()) for pair, of in found.items()}
    )
