"""The evidence that the chapter `token_cost` shows: Clarifai's two sizes of model, how far listings
lie apart, and published throughput.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from scaleright import catalog, charts, market
from scaleright.chapters.token_cost.model import compare_sizes
from scaleright.charts import Display
from scaleright.claims import stored
from scaleright.costs.token_offers import Paid, ServingChoices, price_spans
from scaleright.formulas import lookup
from scaleright.validation.serving import beside_predictions

# Published throughput of one model, beside what the model of serving says of each run


SOURCE = "tensorrtllm2025"
"""Who ran each model on many chips at full load."""


_HEADS = {
    "accelerator": "accelerator",
    "accelerators": "chips",
    "precision": "format",
    "input_tokens": "in",
    "output_tokens": "out",
    "software": "software",
}


class Throughput(NamedTuple):
    """Published runs of a model, and its name."""

    model: str
    runs: pd.DataFrame

    def within(self, share: float) -> float:
        """How far from measured the prediction of this share of the runs is at most [1]."""
        return self.runs["off by"].abs().quantile(share)


@lookup
def published_throughput(model: str, else_of: str = "Llama-3.1-70B") -> Throughput:
    """Runs of a model at full load, or of another where none of it was published.

    Columns: accelerator, chips, format, in, out [token], software, measured, predicted [token/s of
    one accelerator], off by [1], and a label of two lines.

    >>> name, runs = published_throughput("Llama-3.3-70B")
    >>> name, bool(runs["off by"].abs().median() < 0.2)
    ('Llama-3.1-70B', True)
    """
    rows, shape = catalog.table("measured/serving"), catalog.model(model).name
    rows = rows[rows["source"] == SOURCE].assign(measured_itl_s=None)
    near = shape if shape in set(rows["model"]) else else_of
    rows = rows[rows["model"] == near].reset_index(drop=True)
    found = beside_predictions(rows, "measured/serving", "throughput")
    words = found[["input_tokens", "output_tokens", "accelerators"]].astype(int).astype(str)
    sizes = words["input_tokens"] + " in, " + words["output_tokens"] + " out\n"
    label = sizes + words["accelerators"] + " x " + found["accelerator"]
    found = found[[*_HEADS, "measured", "predicted"]].rename(columns=_HEADS)
    error = found["predicted"] / found["measured"] - 1
    return Throughput(near, found.assign(**{"off by": error, "label": label}))


def sizes(compared: pd.DataFrame, asked: Any, contract: Any) -> Display:
    """A table of models of about Clarifai's sizes, and from which load each beats an API.

    asked : the case as its controls have it
    contract : the one under which they are rented
    """
    pace = asked.pace_tokens_per_s
    table = charts.table(
        compared,
        f"Rented H100, {contract.value}: the utilization from which it beats an API, at its median,"
        " dearest and cheapest prices; 1,000 tokens in and out at"
        f" {pace.value:g} tokens a second for each",
        formats=dict.fromkeys(("median", "dearest", "cheapest"), "load")
        | {"parameters": "billions", "tokens/s": "whole", "in": "usd", "out": "usd"},
    )
    shown = charts.folded(table, "Four models of about these sizes")
    return charts.at_defaults(shown, pace, asked.contract)


def eight_and_fourteen(compared: pd.DataFrame, asked: Any) -> Display:
    """Two of these models side by side, and who stands for Clarifai's 13B; see `sizes`."""
    of = compare_sizes(compared, "Qwen3-8B", "Qwen3-14B")
    hosts = market.api_price("Mistral-NeMo-12B").companies
    said = charts.sentence(
        "On the same chip renting the 8B pays <strong>{of.small_load:load}</strong>, the 14B"
        " <strong>{of.large_load:load}</strong>: the larger model writes at {of.speed:percent} of"
        " the speed, and its hosts charge {of.price:number 2} times as much for output. For"
        " Clarifai's 13B the claims below take Mistral-NeMo-12B ({hosts:whole} companies host it)."
    )
    return charts.at_defaults(said, asked.pace_tokens_per_s, asked.contract)


def source_loads() -> Display:
    """Clarifai's claims on loads."""
    found = stored.table("S2-7b-load", "S2-13b-load", "S2-13b-over-7b")
    shown = charts.table(found, "Clarifai's two loads at every measured shape of request")
    return charts.folded(shown, "Clarifai's two loads, checked at every measured shape of request")


def spans(case: Any, paid: Paid, tables: ServingChoices) -> Display:
    """A table of how far listings of the accelerator and of the model's tokens lie apart."""
    what, listed = "rent of " + case.accelerator, tables.hours.paid(case.accelerator)
    rents = {what + " on demand": listed, what + " as you pay it": paid.hour}
    return charts.table(
        price_spans(rents, tables.hosts.asked(case.model, "median")),
        "How far listings lie apart: one figure a provider of rents and a company of tokens",
        formats=dict.fromkeys(("lowest", "median", "highest"), "usd")
        | {"highest over lowest": "number 2"},
        name="how-far-listings-lie-apart",
    )


def published(case: Any, tested: Throughput) -> Display:
    """A chart of published throughput beside what the model of serving says of each run."""
    runs, unit = tested.runs, "output tokens per second and accelerator"
    shown = charts.show(
        charts.predicted_vs_measured(runs, "measured", "predicted", "label", unit),
        name="published",
        alt=f"Measured against predicted throughput of {tested.model} in {len(runs)} published runs"
        f" on {runs['accelerator'].nunique()} accelerators: half of them lie within"
        f" {100 * tested.within(0.5):.0f} percent of the diagonal, nine of ten within"
        f" {100 * tested.within(0.9):.0f}.",
    )
    return charts.at_defaults(shown, case.model)


def tested_within(case: Any, tested: Throughput) -> Display:
    """How far those predictions are off."""
    runs, half, nine = len(tested.runs), tested.within(0.5), tested.within(0.9)
    said = charts.sentence(
        "Half of these {runs:whole} runs lie within <strong>{half:percent}</strong> of the"
        " prediction and nine of ten within {nine:percent}. They ran at full load, with all"
        " requests queued: as cheap as it gets, and slower for each user than you may want."
    )
    return charts.at_defaults(said, case.model)
