"""Fleets sized by the closed form of a day, and whether they keep their promise when simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.catalog import fact, shared
from scaleright.chapters.load_of_a_day.simulated import DayCase, Peak, Rules, peak_with, simulated
from scaleright.costs.day_choices import fitting
from scaleright.formulas import lookup, simulation
from scaleright.inference.curves import curves
from scaleright.inference.day import Traffic, day_fleet
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_events import Request, Steps
from scaleright.inference.formats import USUAL
from scaleright.inference.node_speed import Engines
from scaleright.inference.serving import drawn
from scaleright.inference.traffic import TRACES, load_at, load_of, peak_to_mean_of, trace_terms
from scaleright.ops import sqrt
from scaleright.quantity import given
from scaleright.quantity.graph import value_of

# Published days against what the model says of them: their shape, and what scaling with them
# saved


SERVICES = {
    "code, weekday": "code_weekday",
    "code, weekend": "code_weekend",
    "conversation, weekday": "conversation_weekday",
    "conversation, weekend": "conversation_weekend",
}
"""Days of a published week [azurellm2024], by service."""


@lookup
def shapes() -> pd.DataFrame:
    """Days of which the peak over the quietest hour is published, and how much their hours vary:
    as published, and as predicted from the former alone.

    Columns: day, peak_to_trough, peak_to_mean, published, predicted, error [1].

    >>> found = shapes()
    >>> len(found), bool(found["error"].abs().median() < 0.4)
    (4, True)
    """
    rows = []
    for day, key in SERVICES.items():
        ratio, seen = (fact(f"azure_week_{key}_{of}") for of in ("peak_to_trough", "variation"))
        peak = peak_to_mean_of(ratio)
        loads = [load_at(float(hour), peak) for hour in range(24)]
        varies = sqrt(sum((load - 1) ** 2 for load in loads) / len(loads))
        rows.append((day, ratio, peak, seen, varies, varies / seen - 1))
    names = ("day", "peak_to_trough", "peak_to_mean", "published", "predicted", "error")
    return pd.DataFrame(rows, columns=list(names))


def shapes_sheet() -> pd.DataFrame:
    """`shapes`, by the words of a table."""
    words = {
        "peak_to_trough": "busiest over quietest hour",
        "peak_to_mean": "busiest over mean",
        "published": "variation of the hours, published",
    }
    return shapes().rename(columns=words)


@lookup
def scaling_savings() -> pd.DataFrame:
    """What scaling a fleet with its day saved, as published, and what the shape of a conversation's
    weekday says with engines as small as one likes.

    Columns: what, published, predicted [1].

    >>> scaling_savings()["published"].round(2).tolist()
    [0.18, 0.25]
    """
    usual = 1 - 1 / peak_to_mean_of(fact("azure_week_conversation_weekday_peak_to_trough"))
    deepseek = 1 - fact("deepseek_day_gpus") / fact("deepseek_day_peak_gpus")
    most = fact("sageserve_scaling_saving") / 100
    rows = [
        ("DeepSeek, 27 February 2025: nodes of the day under those of its peak", deepseek, usual),
        ("Microsoft Office 365, scaled ahead of a forecast, at most", most, usual),
    ]
    return pd.DataFrame(rows, columns=["what", "published", "predicted"])


# Published serving at a rate of requests against the simulation of the same engine


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


SERVED = (
    ("Llama-3.3-70B", "H100 SXM"),
    ("Llama-3.1-8B", "L40S"),
    ("Qwen3-32B", "H200 SXM"),
)
SIZES, PACES = (5e4, 2e5, 1e6), (20.0, 40.0)
"""Requests a day, and tokens a second of an answer."""
PROMISES_S = {"long conversation": (3.0, 5.0, 8.0, 16.0)}
SOURCES = {"long conversation": "mooncake2025"}
"""Publication of a trace, if it is not of Azure's."""
USUAL_PROMISES_S = (0.5, 1.0, 2.0, 4.0)
"""First tokens that are promised [s]."""
PEAK_TO_MEAN = 1.4


@simulation
def fleets() -> Iterator[dict[str, Any]]:
    """Every fleet of the grid that an engine serves, as a row of the table `day_fleets`."""
    played: dict[tuple, Peak | None] = {}
    for trace, (model, chip) in product(TRACES, SERVED):
        kinds = Engines.of((model,), (chip,), ())
        terms, load = trace_terms(trace), load_of(trace)
        share = load.cached_share * fitting(model, chip, trace)
        promises = PROMISES_S.get(trace, USUAL_PROMISES_S)
        asked = replace(load, cached_share=share)
        for size, pace, promise_s in product(SIZES, PACES, promises):
            of = asked, terms["long_tokens"], terms["bunching"]
            day = Traffic(size, 0.0, PEAK_TO_MEAN, *of, given("pace", pace), promise_s)
            fleet = day_fleet(kinds, (model, chip, USUAL), day, 600.0)
            if not value_of(fleet.served):
                continue
            engine, many = fleet.engine, int(value_of(fleet.peak))
            key = trace, model, size, value_of(engine.chips), value_of(engine.seats), many
            if key not in played:
                played[key] = peak_with(DayCase(model, chip, trace, share, fleet), many)
            seen = played[key]
            if seen is None:
                continue
            yield {
                "trace": trace,
                "model": model,
                "accelerator": chip,
                "requests_per_day": size,
                "pace_tokens_per_s": pace,
                "promised_s": promise_s,
                "engines": many,
                "ttft_p50_s": float(f"{seen.ttft_s:.3g}"),
                "ttft_p95_s": float(f"{seen.late_ttft_s:.3g}"),
                "utilization": round(seen.busy, 3),
                "source": SOURCES.get(trace, "azurellm2023"),
            }


@lookup
def simulated_in_words() -> dict[str, str]:
    """How many of them kept their promise, by trace, for a card.

    >>> [*simulated_in_words()]
    ['code completion', 'conversation', 'long conversation']
    """
    return {
        of.trace: f"{of.kept} of {of.fleets} simulated fleets of this trace gave nineteen of twenty"
        " their first token as promised"
        for of in kept().itertuples()
    }


@lookup
def kept() -> pd.DataFrame:
    """How many of the simulated fleets of `day_fleets` gave nineteen of twenty their first token as
    promised.

    Columns: trace, fleets, kept [1].

    >>> found = kept()
    >>> len(found), bool((found["kept"] <= found["fleets"]).all())
    (3, True)
    """
    rows = catalog.table("day_fleets")
    rows = rows.assign(kept=rows["ttft_p95_s"] <= rows["promised_s"])
    found = rows.groupby("trace", sort=True)["kept"].agg(["size", "sum"]).reset_index()
    return found.rename(columns={"size": "fleets", "sum": "kept"})
