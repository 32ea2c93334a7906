"""Recomputations on the levers of inference: what quantization, sparsity, batching, caching and
pooling save.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from scaleright.catalog import accelerator, fact, model
from scaleright.claims.errors import inverse, of_lever, widened
from scaleright.claims.verdicts import Condition, Origin, Recomputed, looked_up, span
from scaleright.decisions.inference_ladder import rungs_of_source
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import Service, groups
from scaleright.inference.formats import published_losses
from scaleright.inference.lengths import Load
from scaleright.inference.levers import climb

SERVED = (("Llama-3.1-8B", "H100 SXM"), ("Llama-3.1-70B", "B200"))
LOAD = Load(1150, 210, input_cv=1.0, output_cv=1.0)
"""Lengths about as wide as those of published conversations."""


def _services(**changed: Any) -> list[Service]:
    """Models on chips as many serve them: BF16 in vLLM, four services of two variants, peaks of
    three times the mean, many groups.
    """
    usual: dict[str, Any] = {
        "peak_to_mean": 3.0,
        "together": 0.3,
        "services": 4,
        "variants": 2,
        "prefix_share": 0.5,
        "tpot_s": 0.05,
    } | changed
    return [
        Service(
            Deployment(model(name), accelerator(chip), software="vLLM 0.17.0"),
            LOAD,
            1000.0,
            **usual,
        )
        for name, chip in SERVED
    ]


def _savings(**changed: Any) -> list[float]:
    names = [name for rung in rungs_of_source().values() for name in rung]
    paths = (climb(service, names) for service in _services(**changed))
    return [100 * (1 - rungs[-1].chips / rungs[0].chips) for rungs in paths]


def _speedups(precision: str, sparse: float = 1.0) -> tuple[float, float]:
    """How many times the requests each chip of a group serves in a format, over BF16: from one
    alone to full load, with the model's error.
    """
    found = chain(*(_speedups_at(precision, sparse, batch) for batch in (None, 1)))
    return widened(found, of_lever())


def _speedups_at(precision: str, sparse: float, batch: int | None) -> Iterator[float]:
    def each(service: Service) -> float:
        sizes, served = groups(service)
        return float((served / sizes).max())

    for service in _services(tpot_s=None, batch=batch):
        quick = replace(
            service,
            matmul_speedup=sparse,
            deployment=replace(service.deployment, precision=precision),
        )
        yield each(quick) / each(service)


def _losses(lever: str, largest: float) -> list[float]:
    rows = published_losses()
    rows = rows[(rows["lever"] == lever) & (rows["parameters"] < largest)]
    return list(100 * rows["loss"])


def s2_ladder() -> Recomputed:
    left = (100 - saved for saved in (*_savings(), *_savings(batch=8)))
    return span(*(100 - share for share in widened(left, inverse(of_lever()))))


def s2_speedup() -> Recomputed:
    published = Origin("one product of 4,096 by 4,096 matrices (hsieh2025fpga)")
    return span(*_speedups("INT4", fact("sparse_throughput_ratio")), published)


def s2_int4_loss() -> Recomputed:
    large = _losses("4-bit weights", 1e12)
    return span(
        *_losses("4-bit weights", 1e10),
        Condition("models of 70 billion parameters", min(large), sorted(large)[1]),
    )


def s0_disaggregation() -> Recomputed:
    """Chips that reading prompts and writing answers apart saves [%], at the pace of the services
    and at twice it.
    """
    left = []
    for pace in (0.05, 0.025):
        for service in _services(batch=None, tpot_s=pace):
            rungs = climb(service, ["disaggregation"])
            left.append(rungs[-1].chips / rungs[0].chips)
    low, high = widened(left, inverse(of_lever()))
    return span(100 * (1 - high), 100 * (1 - low))


def _saved_by(lever: str) -> Recomputed:
    """Chips that one lever saves [%], with the error of its speedup."""
    paths = [climb(service, [lever]) for service in _services()]
    left = [rungs[-1].chips / rungs[0].chips for rungs in paths]
    low, high = widened(left, inverse(of_lever()))
    return span(100 * (1 - high), 100 * (1 - low))


RECOMPUTED = {
    "S2-prefix-caching": lambda: _saved_by("prefix caching"),
    "S2-pool-services": lambda: _saved_by("pooling"),
    "S2-int8-loss": lambda: span(*_losses("8-bit weights", 1e12)),
    "S2-sparse-matmul": lambda: looked_up(fact("sparse_matmul_speedup")),
    "S2-sparse-latency": lambda: looked_up(fact("sparse_latency_speedup")),
    "S2-pooling-after": lambda: looked_up(fact("aegaeon_utilization_pooled")),
    "S3-bits-served": lambda: span(*_speedups("FP8")),
}
