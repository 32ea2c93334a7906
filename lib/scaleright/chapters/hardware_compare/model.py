"""What measurements say of choosing hardware by a price per unit: does the cheap one by a datasheet
serve the most per dollar?
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, model
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.owned_hours import OwnedHour, owned_terms
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_candidates import candidate_rows, candidates
from scaleright.decisions.hardware_choice import Priced, follows_rule, usual
from scaleright.decisions.left_out import NO_ENGINE, newer, no_engine, unpriced
from scaleright.formulas import search
from scaleright.inference.curves import curves
from scaleright.inference.demand import Demand, requests_of
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.lengths import Load
from scaleright.inference.measured import operating_points
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.inference.nodes import engines, fastest
from scaleright.market import contracts, hour
from scaleright.order import first_greatest, name_of_greatest, noiseless, ordered
from scaleright.quantity import evaluate
from scaleright.units import usd, whole

# Andreessen Horowitz's selection criteria, each computed for one workload


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


WORKLOAD = ["model", "input_tokens", "output_tokens"]
"""What must be the same for two chips to be compared."""
UNHURRIED = 2.0
"""Pace of an answer where all that counts is throughput [token/s]."""


@search
def predicted_speeds(rows: pd.DataFrame) -> pd.Series:
    """What the model of serving says of such requests in such a format: output tokens a second of
    one chip in the best engine of one node; nan where none holds them.

    Parameters
    ----------
    rows : `WORKLOAD`, accelerator, precision

    >>> asked = {"model": "Llama-3.1-8B", "accelerator": "H100 SXM", "precision": "FP8"}
    >>> asked |= {"input_tokens": [100.0, 9000.0], "output_tokens": [1000.0, 1000.0]}
    >>> bool(predicted_speeds(pd.DataFrame(asked)).is_monotonic_decreasing)
    True
    """
    found = pd.Series(np.nan, rows.index)
    for (name, chip, form), asked in rows.groupby(["model", "accelerator", "precision"]):
        if not (held := engines(model(name), accelerator(chip), form)):
            continue
        load = Load(*(asked[column].to_numpy() for column in WORKLOAD[1:]))
        best = fastest(curves(held), load, 1 / UNHURRIED)
        found[asked.index] = np.where(best.kept > 0, best.tokens_per_s, np.nan)
    return found


def measured_choice(chips: pd.DataFrame) -> pd.DataFrame:
    """Published throughput of each chip on one and the same workload, and what a million output
    tokens cost there.

    Of each chip the fastest published configuration; runs whose note flags them as odd are left
    out, and workloads with a single chip.

    Parameters
    ----------
    chips : rows of `hardware_candidates.candidates`

    Columns: model, input_tokens, output_tokens, accelerator, precision, tokens_per_s (of one chip),
    predicted_tokens_per_s (see `predicted_speeds`), and those of `chips`.

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> rows = measured_choice(candidates())
    >>> bool((rows.groupby(WORKLOAD).size() > 1).all())
    True
    """
    points = operating_points()
    points = points[points["accelerator"].isin(chips.index) & (points["flag"] == "")]
    fastest = points.groupby([*WORKLOAD, "accelerator"])["tokens_per_s"].idxmax()
    best = points.loc[fastest, [*WORKLOAD, "accelerator", "precision", "tokens_per_s"]]
    several = best[best.groupby(WORKLOAD)["accelerator"].transform("size") > 1]
    said = several.assign(predicted_tokens_per_s=predicted_speeds(several))
    return said.join(chips, on="accelerator").reset_index(drop=True)


CRITERIA = {
    "$ per token by the model of serving": lambda rows: rows["predicted_tokens_per_s"],
    "rent alone": lambda rows: np.ones(len(rows)),
    "$ per GB of memory": lambda rows: rows["memory_bytes"],
    "$ per PFLOP/s reached": lambda rows: rows["bf16_flops"] * rows["compute_efficiency"],
    "$ per TB/s of bandwidth": lambda rows: rows["memory_bytes_per_s"],
}
"""Ways to rank chips before anything is measured: what their rent is divided by."""


def criteria_tested(rows: pd.DataFrame) -> pd.DataFrame:
    """How well each of the `CRITERIA` orders chips by the tokens per dollar that were measured.

    Parameters
    ----------
    rows : from `measured_choice`

    Columns: criterion, right (pairs in the order of the measurement), pairs, best (workloads whose
    best chip it picks), workloads; and the shares of either [1].

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> tested = criteria_tested(measured_choice(candidates())).set_index("criterion")
    >>> bool(tested.loc["$ per TB/s of bandwidth", "right"] > tested.loc["rent alone", "right"])
    True
    """
    found, workloads = [], [workload for _, workload in rows.groupby(WORKLOAD)]
    for criterion, speed in CRITERIA.items():
        right = pairs = best = 0
        for workload in workloads:
            columns = workload["rent_usd_per_hour"], workload["tokens_per_s"], speed(workload)
            price, measured, predicted = (np.asarray(column, float) for column in columns)
            alike, differing = ordered_pairs(price, predicted, measured)
            right, pairs = right + alike, pairs + differing
            best += int(first_greatest(predicted / price) == first_greatest(measured / price))
        many = len(workloads)
        found.append((criterion, right, pairs, right / pairs, best, many, best / many))
    columns = ["criterion", "right", "pairs", "of pairs", "best", "workloads", "of workloads"]
    return ordered(
        pd.DataFrame(found, columns=columns), "right", ascending=False, ignore_index=True
    )


def ordered_pairs(price: Any, speed: Any, measured: Any) -> tuple[int, int]:
    """Pairs of chips that a price per unit of speed puts in the order of a measurement, and all
    pairs that differ in it.

    Parameters
    ----------
    price, speed : price of each chip and what the order is predicted from, per chip
    measured : measured speed of each chip on one and the same workload

    >>> ordered_pairs([1.0, 2.0, 3.0], [1.0, 3.0, 4.0], [1.0, 3.0, 2.9])
    (2, 3)
    """
    predicted, real = (np.asarray(s, float) / np.asarray(price, float) for s in (speed, measured))
    first, second = np.triu_indices(len(real), 1)
    differ = real[first] != real[second]
    same = np.sign(predicted[first] - predicted[second]) == np.sign(real[first] - real[second])
    return int((same & differ).sum()), int(differ.sum())


def published_speeds(rows: pd.DataFrame, name: str, request: tuple[float, float]) -> pd.DataFrame:
    """The fastest published throughput of a model on several chips, at the request that comes
    nearest, beside what the model of serving says; no rows where nobody published it.

    Parameters
    ----------
    rows : from `measured_choice`
    name, request : the model, and tokens of a prompt and of its answer [token]

    Columns: accelerator, format, prompt and answer [token], measured and computed [token/s of a
    chip], measured over computed [1].

    >>> from scaleright.decisions.hardware_candidates import candidates
    >>> found = published_speeds(measured_choice(candidates()), "Llama-3.1-70B", (2000, 500))
    >>> bool((found["measured"] > 0).all())
    True
    """
    rows = rows[rows["model"] == model(name).name]
    if len(rows):
        far = np.abs(np.log(rows[WORKLOAD[1:]] / np.array(request))).sum(axis=1)
        nearest = rows.iloc[noiseless(far).argmin()]
        rows = rows[(rows[WORKLOAD] == nearest[WORKLOAD]).all(axis=1)]
    rows = ordered(rows, "tokens_per_s", ascending=False)
    heads = {"precision": "format", "input_tokens": "prompt", "output_tokens": "answer"}
    heads |= {"tokens_per_s": "measured", "predicted_tokens_per_s": "computed"}
    found = rows[["accelerator", *heads]].rename(columns=heads)
    return found.assign(**{"measured over computed": found["measured"] / found["computed"]})


@search
def left_out_ways(case: Any, usd_per_million: float) -> pd.DataFrame:
    """Accelerators for data centers, released since `left_out.SINCE`, that no recent listing makes
    a candidate: why, what is known of their price, and what an hour of each would have to cost to
    serve as cheaply as the cheapest candidate; nan where that is unknown.

    Parameters
    ----------
    case : model, precision, request, pace, traffic and setting, as the chapter has them
    usd_per_million : of the cheapest candidate [USD / 1e6 output token]

    Columns: accelerator, why it is left out, `LAST_LISTED`, `OWNED`, `TO_WIN` [USD/h].
    """
    load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
    demand, rows = Demand.of(case), []
    for name, chip in newer().items():
        if name in candidate_rows():
            continue
        last = hour(name) if "on demand" in contracts(name) else None
        why, wins = unpriced(name), np.nan
        if no_engine(chip):
            why += NO_ENGINE
        elif engines_in(case.model, name, case.precision)[1]:
            known = Engines.of([case.model], [name])
            served = case.model, name, case.precision
            speed = node_speed(known, *served, load, case.pace_tokens_per_s, demand)
            busy = demand.busy(speed.seated, load, case.utilization)
            # a million tokens at a dollar an hour: their hours
            at_a_dollar = usd_per_million_tokens(1.0, speed.tokens_per_s, busy.share)
            [hours] = evaluate([at_a_dollar], {})
            wins = float(usd_per_hour_to_win(usd_per_million, hours)) if hours > 0 else wins
        owned = OwnedHour.of(owned_terms(name, case.setting), False, case.utilization)
        rows.append((name, why, last.usd if last else np.nan, float(owned.usd), wins))
    columns = ["accelerator", "why it is left out", LAST_LISTED, OWNED, TO_WIN]
    found = pd.DataFrame(rows, columns=columns)
    return ordered(found, TO_WIN, ascending=False, ignore_index=True)


LAST_LISTED, OWNED, TO_WIN = "last listed [USD/h]", "owned [USD/h]", "to win, at most [USD/h]"
