"""Recomputations on the levers of inference: what quantization, sparsity, batching, caching and
pooling save.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from dataclasses import replace
from typing import Any

from scaleright.catalog import accelerator, fact, model
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.decisions.inference_ladder import rungs_of_source
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import Service, groups
from scaleright.inference.lengths import Load
from scaleright.inference.levers import climb, published_losses

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


def _speedups(precision: str, sparse: float = 1.0, batch: int | None = None) -> list[float]:
    """How many times the requests each chip of a group serves in a format, over BF16; alone or at
    full load.
    """

    def each(service: Service) -> float:
        sizes, served = groups(service)
        return float((served / sizes).max())

    found = []
    for service in _services(tpot_s=None, batch=batch):
        quick = replace(
            service,
            matmul_speedup=sparse,
            deployment=replace(service.deployment, precision=precision),
        )
        found.append(each(quick) / each(service))
    return found


def _losses(lever: str, largest: float) -> list[float]:
    rows = published_losses()
    rows = rows[(rows["lever"] == lever) & (rows["parameters"] < largest)]
    return list(100 * rows["loss"])


def s2_ladder() -> Recomputed:
    alone = _savings(services=1, variants=1, prefix_share=0.0)
    quantized = Condition(
        "one service whose engine batches already and whose prompts share nothing: quantization"
        " alone",
        min(alone),
        max(alone),
    )
    return span(*_savings(), *_savings(batch=8), quantized)


def s2_speedup() -> Recomputed:
    published = Condition(
        "one product of 4,096 by 4,096 matrices (hsieh2025fpga)",
        fact("sparse_latency_speedup"),
        fact("sparse_matmul_speedup"),
    )
    sparse = fact("sparse_throughput_ratio")
    return span(*_speedups("INT4", sparse), *_speedups("INT4", sparse, 1), published)


def s2_int4_loss() -> Recomputed:
    large = _losses("4-bit weights", 1e12)
    return span(
        *_losses("4-bit weights", 1e10),
        Condition("models of 70 billion parameters", min(large), sorted(large)[1]),
    )


RECOMPUTED = {
    "S2-int8-loss": lambda: span(*_losses("8-bit weights", 1e12)),
    "S2-sparse-matmul": lambda: point(fact("sparse_matmul_speedup")),
    "S2-sparse-latency": lambda: point(fact("sparse_latency_speedup")),
    "S2-pooling-after": lambda: point(fact("aegaeon_utilization_pooled")),
    "S3-bits-served": lambda: span(*_speedups("FP8"), *_speedups("FP8", batch=1)),
}
