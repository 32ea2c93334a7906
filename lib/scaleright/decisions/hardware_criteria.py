"""S3's selection criteria, each computed for one workload, and published speeds beside the computed
ones.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer
from scaleright.decisions.hardware_candidates import candidates
from scaleright.decisions.hardware_choice import compare, follows_rule, usual
from scaleright.decisions.hardware_fit import Terms, Work, at_the_case
from scaleright.decisions.hardware_ranking import measured_choice
from scaleright.ops import INFINITY
from scaleright.order import name_of_least, noiseless, ordered
from scaleright.units import si, usd, whole

QUICK_S = 0.02
"""A limit on the time of a token that keeps readers from waiting [s]."""

SAID = {
    "training or inference": "the A100 runs most training; the H100 is most cost-effective",
    "memory": "a large model needs an H100 or A100 even for inference",
    "smaller cards": "smaller models run on A10, A40, A6000 or RTX cards",
    "support": "nearly all run on NVIDIA; TPU and Gaudi 2 are tried",
    "latency": "work that can wait costs a third to a quarter",
    "spikes": "low-end chips are easier to get for a rise of ten times in a day",
    "the highest end": "performs best on almost all workloads",
}
"""S3's criteria."""


def cheapest(of: Work, chips: pd.DataFrame, terms: Terms, own: bool) -> str:
    """The cheapest chip for a workload with its price, in words.

    >>> cheapest(None, candidates().head(0), Terms(1.0), False)
    'none considered'
    """
    if chips.empty:
        return "none considered"
    found = compare(of, chips, terms, own)
    best = found.iloc[0]
    return f"{found.index[0]} at {usd(best['usd_per_million'])}" if best["runs"] else "none runs it"


def criteria(
    of: Work, training: Work, chips: pd.DataFrame, terms: Terms, own: bool
) -> pd.DataFrame:
    """What S3 says to look at, beside what it comes to for one workload.

    Parameters
    ----------
    of, training : the workload, and training of the same model, at their case
    chips : rows of `candidates`, of which one at least can run it
    terms, own : how it is run, and whether the chips are bought

    Columns: criterion, the source, computed for the chapter's case [USD / 1e6 token].

    >>> from scaleright import catalog
    >>> from scaleright.decisions.hardware_fit import work
    >>> shape = catalog.model("Llama-3.1-8B")
    >>> works = (work(shape, task, 2048, 8, "BF16") for task in (False, True))
    >>> len(criteria(*works, candidates(), Terms(1000.0), False))
    7
    """
    of, terms = at_the_case(of), at_the_case(terms)
    ranked = compare(of, chips, terms, own)
    best, running = ranked.iloc[0], ranked[ranked["runs"]]
    demand = {key: value for key, value in usual()["training"].items() if key != "precision"}
    as_usual = replace(terms, across_servers=True, limit_s=INFINITY, **demand)
    a100 = chips[chips.index.str.startswith("A100")]
    small = chips[[follows_rule("smaller card", n, c) for n, c in chips.to_dict("index").items()]]
    vendors = {vendor: cheapest(of, group, terms, own) for vendor, group in chips.groupby("vendor")}
    quick, patient = (
        cheapest(of, chips, replace(terms, limit_s=limit), own) for limit in (QUICK_S, INFINITY)
    )
    one = of.least_bytes
    hold = int((chips["memory_bytes"] * terms.memory_share >= one).sum())
    listed = chips.loc[ranked.index[0], "providers"]
    shortest = name_of_least(running["step_s"])
    dearer = running.loc[shortest, "usd_per_million"] / best["usd_per_million"]
    trained, on_a100 = (cheapest(training, among, as_usual, own) for among in (chips, a100))
    found = {
        "training or inference": f"trained on: {trained}; on an A100: {on_a100}",
        "memory": f"{si(one, 'B')} for one copy with one sequence:"
        f" {hold} of {len(chips)} chips hold it alone",
        "smaller cards": f"cheapest of the smaller ones: {cheapest(of, small, terms, own)}",
        "support": "; ".join(f"{vendor}: {words}" for vendor, words in vendors.items()),
        "latency": f"within 20 ms a token: {quick}; without a limit: {patient}",
        "spikes": f"{listed} clouds list the {ranked.index[0]}; ten times its chips for an hour"
        f" cost {usd(10 * best['usd_per_hour'])}",
        "the highest end": "the shortest step is on"
        f" {whole(running.loc[shortest, 'group'])} {shortest}, at {dearer:.2g} times the price of"
        " the cheapest",
    }
    columns = {"the source": SAID, "computed, USD per million tokens": found}
    return pd.DataFrame(columns).rename_axis("criterion").reset_index()


def published_speeds(shape: Transformer, context: float, of: Work, terms: Terms) -> pd.DataFrame:
    """The fastest published throughput of a model on several chips, at the request whose tokens in
    view come nearest, beside what is computed; no rows where nobody published it.

    Parameters
    ----------
    shape, context : the model, and tokens in view [token]
    of, terms : decoding with it, and how it is run

    Columns: accelerator, format, prompt and answer [token], measured and computed [token/s of a
    chip], measured over computed [1]; nan where the chip cannot run it as asked.

    >>> from scaleright import catalog
    >>> from scaleright.decisions.hardware_fit import work
    >>> shape = catalog.model("Llama-3.1-70B")
    >>> rows = published_speeds(shape, 2048, work(shape, False, 2048, 256, "FP8"), Terms(2e4))
    >>> bool((rows["measured"] > 0).all())
    True
    """
    chips = candidates()
    rows = measured_choice(chips)
    rows = rows[rows["model"] == shape.name].assign(
        view=lambda f: f["input_tokens"] + f["output_tokens"] / 2
    )
    if len(rows):
        far = (rows["view"] / context).map(lambda ratio: max(ratio, 1 / ratio))
        rows = rows[rows["view"] == rows["view"].iloc[noiseless(far).argmin()]]
    rows = ordered(rows, "tokens_per_s").drop_duplicates("accelerator", keep="last").iloc[::-1]
    fits = compare(of, chips, terms).loc[rows["accelerator"]]
    speeds = (fits["batch"] / fits["step_s"] / fits["group"]).where(fits["runs"], np.nan).to_numpy()
    return pd.DataFrame(
        {
            "accelerator": rows["accelerator"],
            "format": rows["precision"],
            "prompt": rows["input_tokens"],
            "answer": rows["output_tokens"],
            "measured": rows["tokens_per_s"],
            "computed": speeds,
            "measured over computed": rows["tokens_per_s"] / speeds,
        }
    )
