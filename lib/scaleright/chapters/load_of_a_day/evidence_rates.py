"""Published serving at a rate of requests against the simulation of the same engine."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.catalog import shared
from scaleright.chapters.load_of_a_day.fleet_events import Rules, simulated
from scaleright.formulas import simulation
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_events import Request, Steps
from scaleright.inference.last_requests import drawn

SPREAD = 1.0
"""Variation of both lengths of ShareGPT's conversations, which the reports do not state."""
BLOCK, REQUESTS, SEATS = 16, 2000, 256
"""Tokens of a block of vLLM's cache, requests simulated, and the engine's seats, more than any of
these rates fills."""
FIGURES = {
    "first token, median": "ttft_p50_s",
    "first token, 95th percentile": "ttft_p95_s",
    "further token, median": "tpot_p50_s",
    "further token, 95th percentile": "tpot_p95_s",
}


def _run(of: Mapping[str, Any]) -> dict[str, float]:
    """The quantiles that the simulation of a run has [s]."""
    d = Deployment(
        catalog.model(of["model"]),
        catalog.accelerator(of["accelerator"]),
        of["precision"],
        tensor=of["accelerators"],
        software=of["software"],
        kv_precision=of["kv_precision"],
    )
    (curve,) = curves([d])
    draw = np.random.default_rng(0)
    times = np.cumsum(draw.exponential(1 / of["requests_per_s"], REQUESTS))
    prompts, answers = (
        np.maximum(np.rint(of[name] * draw.permutation(drawn(REQUESTS, SPREAD))), 2).astype(int)
        for name in ("input_tokens", "output_tokens")
    )
    kept = (prompts - 1) // BLOCK * BLOCK if of["repeated"] else np.zeros_like(prompts)
    rows = (times, prompts - kept, kept, answers)
    coming = [Request(*each) for each in zip(*(row.tolist() for row in rows), strict=True)]
    run = simulated(Steps(curve, SEATS), coming, Rules(1))
    return {
        column: run.quantile(f"{column[:4]}_s", float(f"0.{column[6:8]}"))
        for column in FIGURES.values()
    }


@simulation
def first_token_gap() -> tuple[float, float]:
    """Published median time to the first token, in the middle of the rates, and by how much the
    predicted one is longer [s].

    >>> seen_s, gap_s = first_token_gap()
    >>> 0.05 < seen_s < 0.07, 0 < gap_s < 0.02
    (True, True)
    """
    rows = at_rates()
    rows = rows[rows["figure"] == "first token, median"]
    gap_s = rows["predicted"] - rows["published"]
    return float(rows["published"].median()), float(gap_s.median())


@simulation
@shared
def at_rates() -> pd.DataFrame:
    """Every published figure at a rate of requests beside that of the simulation.

    Nothing was set by these rows. Columns: requests_per_s [1/s], figure, published, predicted [s],
    error [1].

    >>> found = at_rates()
    >>> later = found[found["figure"].str.startswith("further")]
    >>> len(found), bool(later["error"].abs().median() < 0.2)
    (32, True)
    """
    found = []
    for row in catalog.table("measured/serving_rates").sort_values("requests_per_s").itertuples():
        told = _run(row._asdict())
        for figure, column in FIGURES.items():
            seen, said = getattr(row, column), told[column]
            found.append((row.requests_per_s, figure, seen, said, said / seen - 1))
    return pd.DataFrame(
        found, columns=["requests_per_s", "figure", "published", "predicted", "error"]
    )
