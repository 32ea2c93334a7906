"""Fleets sized by the closed form of a day, and whether they keep their promise when simulated."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from scaleright import catalog
from scaleright.chapters.load_of_a_day.simulated import DayCase, Peak, peak_with
from scaleright.costs.day_choices import fitting
from scaleright.formulas import lookup, simulation
from scaleright.inference.day import Traffic, day_fleet
from scaleright.inference.formats import USUAL
from scaleright.inference.node_speed import Engines
from scaleright.inference.traffic import TRACES, load_of, trace_terms
from scaleright.quantity import given
from scaleright.quantity.graph import value_of

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
