"""Andreessen Horowitz's selection criteria, each computed for one workload."""

import pandas as pd

from scaleright.decisions.hardware_candidates import candidates
from scaleright.decisions.hardware_choice import Priced, follows_rule, usual
from scaleright.order import name_of_greatest
from scaleright.units import usd, whole

QUICK, PATIENT = 50.0, 2.0
"""A pace that keeps readers from waiting, and one for work that can wait [token/s]."""

SAID = {
    "training or inference": "the A100 runs most training; the H100 is most cost-effective",
    "memory": "a large model needs an H100 or A100 even for inference",
    "smaller cards": "smaller models run on A10, A40, A6000 or RTX cards",
    "support": "nearly all run on NVIDIA; TPU and Gaudi 2 are tried",
    "latency": "work that can wait costs a third to a quarter",
    "spikes": "low-end chips are easier to get for a rise of ten times in a day",
    "the highest end": "performs best on almost all workloads",
}
"""Andreessen Horowitz's criteria."""


def cheapest(rows: pd.DataFrame) -> str:
    """The cheapest chip with its price, in words.

    rows : of `Priced.at`, or some of them

    >>> cheapest(pd.DataFrame())
    'none runs it'
    """
    return f"{rows.index[0]} at {usd(rows.iloc[0]['usd'])}" if len(rows) else "none runs it"


def criteria(priced: Priced, rows: pd.DataFrame) -> pd.DataFrame:
    """What Andreessen Horowitz says to look at, beside what it comes to for the workload of the
    case; no rows where no chip runs it.

    Parameters
    ----------
    priced, rows : the workload on any chip, and on those that run it, the cheapest first

    Columns: criterion, Andreessen Horowitz, computed for the case [USD / 1e6 token].
    """
    columns = ["criterion", "Andreessen Horowitz", "computed, USD per million tokens"]
    if rows.empty:
        return pd.DataFrame(columns=columns)
    chips = candidates()
    trained = priced.at(task="training", **usual()["training"])
    serving = {"task": "inference", **usual()["inference"]}
    quick, patient = (priced.at(pace_tokens_per_s=pace, **serving) for pace in (QUICK, PATIENT))
    best, alone = rows.iloc[0], rows.index[rows["least"] == 1]
    small = [
        follows_rule("smaller card", name, chip)
        for name, chip in chips.loc[rows.index].to_dict("index").items()
    ]
    makers = chips.loc[rows.index, "vendor"]
    vendors = {maker: cheapest(rows[makers == maker]) for maker in sorted(set(makers))}
    top = name_of_greatest(rows["tokens_per_s"])
    dearer = rows.loc[top, "usd"] / best["usd"]
    on_a100 = trained[trained.index.str.startswith("A100")]
    found = {
        "training or inference": f"trained on: {cheapest(trained)}; on an A100:"
        f" {cheapest(on_a100)}",
        "memory": f"{len(alone)} of the {len(rows)} chips that run it hold it alone",
        "smaller cards": f"cheapest of the smaller ones: {cheapest(rows[small])}",
        "support": "; ".join(f"{vendor}: {words}" for vendor, words in vendors.items()),
        "latency": f"answers at {QUICK:g} tokens a second: {cheapest(quick)}; at {PATIENT:g}:"
        f" {cheapest(patient)}",
        "spikes": f"{chips.loc[rows.index[0], 'providers']} clouds list the {rows.index[0]}; ten"
        f" times its chips for an hour cost {usd(10 * best['bill_usd'])}",
        "the highest end": f"one {top} does most, {whole(rows.loc[top, 'tokens_per_s'])} tokens a"
        f" second, at {dearer:.2g} times the price of the cheapest",
    }
    told = [(criterion, said, found[criterion]) for criterion, said in SAID.items()]
    return pd.DataFrame(told, columns=columns)
