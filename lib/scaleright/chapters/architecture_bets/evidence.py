"""How fast the chips of a bet serve the models that it is about, by the one model of serving, as
quantities of a reader's case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, model, remembered, shared, table
from scaleright.chapters.architecture_bets.bets import Bets, hour_of
from scaleright.chapters.architecture_bets.model import (
    ARCHITECTURES,
    BETS,
    GENERATIONS,
    RACKS,
    benchmarks,
)
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.scale_up import explainable, explained, resources, times_off
from scaleright.inference.demand import UNKNOWN, Demand, requests_of
from scaleright.inference.formats import resolved
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.mlperf import comparable, drift, gain, generation_gains, results, submissions
from scaleright.mlperf.comparison import CELL, same_submitter
from scaleright.ops import INFINITY, first_case, where
from scaleright.quantity import choose, evaluate, given
from scaleright.units import duration

# What each chip does over the one before it by kind of model, as measured, and what remains of
# the MLPerf blog post's thesis on racks (F20)


METRICS = ("chip", "watt", "dollar")
"""What gains are per: a chip, a watt of its power limit, a dollar of the case's rent."""
KINDS = {"dense": "dense", "mixture": "mixture of experts", "images": "diffusion"}
"""The kinds of model of `ARCHITECTURES` in few words."""
RACK = 64
"""Chips of the smallest submission that is called a whole rack."""
HURRY = "Interactive"
SEEN = ["name", "gain", "scenario", "pair", "range", "round", "chips"]
"""Columns of `thesis` that a chart shows."""


def gains(metric: str = "chip", pairs: tuple[tuple[str, str], ...] = GENERATIONS) -> pd.DataFrame:
    """How many times as much each chip does as the one before it, on benchmarks of the three kinds
    of model.

    Parameters
    ----------
    metric : see `mlperf.generation_gains`
    pairs : (new, old)

    Columns: pair, new, old, kind, model, those of `comparison.CELL`, gain, low, high, chips (of the
    two best systems), submissions_old, token_s (limit on the time of a token [s]: infinite for
    none, missing where whole queries are limited).

    >>> bool((gains(pairs=RACKS)["gain"] > 0).all())
    True
    """
    found = generation_gains(metric, pairs=pairs).join(benchmarks(), on="benchmark", how="inner")
    size = results().set_index("id")["accelerators"].astype(str)
    rows = found.rename(
        columns={"accelerator_new": "new", "accelerator_old": "old", "value": "gain"}
    )
    sizes = rows["best_id_new"].map(size) + " and " + rows["best_id_old"].map(size)
    rows = rows.assign(pair=rows["new"] + " over " + rows["old"], chips=sizes)
    rows = rows.merge(table("mlperf_limits")[["benchmark", "scenario", "token_s"]], "left")
    rows = rows.assign(token_s=rows["token_s"].where(rows["scenario"] != "Offline", INFINITY))
    columns = ["pair", "new", "old", "kind", "model", *CELL, "gain", "low", "high", "chips"]
    columns += ["submissions_old", "token_s"]
    return rows[columns].sort_values(["pair", "kind", "benchmark", "scenario"], ignore_index=True)


@shared
def gains_by_metric() -> pd.DataFrame:
    """All gains, per chip and watt, as a chart shows them; for the dollar, whose rent is the
    reader's to choose, those per chip, see `per_metric`.

    Columns: pair, new, old, kind (in words), benchmark, scenario, metric (one of `METRICS`), round,
    gain, range (in words).
    """
    of = {name: "chip" if name == "dollar" else name for name in METRICS}
    rows = pd.concat([gains(by).assign(metric=name) for name, by in of.items()], ignore_index=True)
    short = rows["pair"].str.replace(" SXM| 80GB", "", regex=True)
    ranges = np.where(rows["metric"] == "dollar", "per chip ", "") + _ranges(rows)
    rows = rows.assign(pair=short, kind=rows["kind"].map(KINDS), range=ranges)
    names = ["pair", "new", "old", "kind", "benchmark", "scenario", "metric", "round", "gain"]
    return rows[[*names, "range"]]


class OfRow(NamedTuple):
    """A row of `gains_by_metric` as quantities.

    gain : per what the case counts [1]
    drawn : whether it is one of the case's, and known [truth value]
    along : the column that gives each quantity of the row
    """

    gain: Any
    drawn: Any
    along: dict[Any, str]


def per_metric(case: Any) -> OfRow:
    """The gain of a row per chip, watt or dollar of the case's rents; NaN where one of the two has
    no price.

    case : metric, scenario, and what `bets.hour_of` asks for
    """
    numbers = {"gain": 1.0}
    columns = ("gain", "new", "old", "metric", "scenario")
    row = {name: given(f"row_{name}", numbers.get(name, "")) for name in columns}
    new, old = (hour_of(case, row[side]).usd for side in ("new", "old"))
    gain = where(case.metric == "dollar", row["gain"] * old / new, row["gain"])
    asked = (row["metric"] == case.metric) & (row["scenario"] == case.scenario)
    return OfRow(gain, asked & (gain > 0), {row[name]: name for name in columns})


def _ranges(rows: pd.DataFrame) -> pd.Series:
    return rows["low"].map("{:.2f}".format) + " to " + rows["high"].map("{:.2f}".format)


@shared
def thesis() -> pd.DataFrame:
    """What would have to be true for the MLPerf blog post's thesis: gains of a rack's chip over its
    sibling, each the premium at which it loses.

    Columns: those of `gains`, same_submitter (gain as those found it who submitted both, the
    median; missing if nobody did), name (of the model and its kind), range (in words), hurry
    (whether a token has a tight limit), part (whether a few chips of a rack did best).
    """
    both = pd.concat(
        {f"{new} over {old}": same_submitter(submissions(), new, old) for new, old in RACKS},
        names=["pair"],
    )
    rows = gains(pairs=RACKS).join(both, on=["pair", *CELL])
    short = rows["benchmark"].str.replace("-a22b|-t2v-a14b", "", regex=True)
    kind = rows["kind"].map({"dense": "dense", "mixture": "mixture", "images": "video"})
    return rows.assign(
        name=short + " (" + kind + ")",
        range=_ranges(rows),
        hurry=rows["scenario"] == HURRY,
        part=rows["chips"].str.split(" ").str[0].astype(int) < RACK,
    )


def pays(rows: pd.DataFrame, premium: Any) -> list[Any]:
    """Whether a rack's chip earns its price on each row of `thesis`, in words.

    Parameters
    ----------
    premium : price of a rack's chip over its sibling's in a server of eight [1]; a quantity or not

    >>> set(pays(thesis(), 1e9)), set(pays(thesis(), 1e-9))
    ({'loses, surely'}, {'pays, surely'})
    """
    return [
        where(premium < row.gain, "pays", "loses")
        + where((premium < row.low) | (premium > row.high), ", surely", "")
        for row in rows.itertuples()
    ]


def thresholds(premium: Any) -> pd.DataFrame:
    """The premium at which a rack's chip loses, for each row of `thesis`, as a table shows it; see
    `pays`.
    """
    rows = thesis()
    known = {INFINITY: "none"} | {s: duration(s, 2) for s in rows["token_s"] if s < INFINITY}
    return pd.DataFrame(
        {
            "model": rows["name"],
            "pair": rows["pair"],
            "at your rents": pays(rows, premium),
            "loses above": rows["gain"],
            "low": rows["low"],
            "high": rows["high"],
            "found by who submitted both": rows["same_submitter"],
            "scenario": rows["scenario"],
            "limit per token": rows["token_s"].map(known).fillna("whole query"),
            "round": rows["round"],
            "chips": rows["chips"],
        }
    )


def rack_summary() -> pd.DataFrame:
    """The rows of `thesis` by the hurry and the kind of model, as a table shows them."""
    rows = thesis()
    rows = rows.assign(
        hurry=np.where(rows["hurry"], "in a hurry", "without"),
        of=rows["kind"].map(KINDS),
        single=rows["submissions_old"] == 1,
    )
    found = rows.groupby(["hurry", "of"], as_index=False).agg(
        gains=("gain", "size"),
        lowest=("gain", "min"),
        median=("gain", "median"),
        highest=("gain", "max"),
        part=("part", "sum"),
        single=("single", "sum"),
    )
    found = found.sort_values(["hurry", "of"], ascending=[False, True], ignore_index=True)
    names = {"part": "on a few chips of a rack", "single": "against a single submission"}
    return found.rename(columns={"of": "model"} | names)


@dataclass(frozen=True)
class RackEvidence:
    """Evidence on racks beyond the best submissions of both.

    whole_mixture, whole_dense : gain of a whole rack in the round of the MLPerf blog post, on
        DeepSeek-R1 and on Llama-3.1-405B
    same_low, same_high : lowest and highest gain in a hurry as those found it who submitted both
    within_s, beyond_s : limits on a token between which the advantage on mixtures begins [s]
    """

    whole_mixture: float
    whole_dense: float
    same_low: float
    same_high: float
    within_s: float
    beyond_s: float

    @classmethod
    def found(cls) -> Self:
        """From the rows of `thesis`, and whole racks of its own round."""
        rows, whole = thesis(), comparable()
        mixtures, same = rows[rows["kind"] == "mixture"], rows[rows["hurry"]]["same_submitter"]
        whole = whole[(whole["accelerator"] != "GB200") | (whole["accelerators"] >= RACK)]
        first = (
            gain("GB200", "B200", name, "Offline", in_round="v5.1", rows=whole)["value"]
            for name in ("deepseek-r1", "llama3.1-405b")
        )
        return cls(
            *first,
            same_low=same.min(),
            same_high=same.max(),
            within_s=mixtures[mixtures["hurry"]]["token_s"].max(),
            beyond_s=mixtures[mixtures["scenario"] == "Server"]["token_s"].min(),
        )


def explained_gains(load: Load) -> pd.DataFrame:
    """All gains per chip beside what the model of serving makes of them, where it can; see
    `scale_up.explained`.

    name : of the pair, the benchmark and the scenario, on two lines
    """
    rows = explained(gains(), load)
    name = rows["pair"] + "\n" + rows["benchmark"] + " " + rows["scenario"]
    return rows.assign(name=name)[np.isfinite(rows["served"]) & (rows["served"] > 0)]


def times_off_by(rows: pd.DataFrame) -> pd.Series:
    """By what factor each way to say a gain without measuring is off, in the median of gains [1];
    and by the model of serving, of racks over servers alone (`racks`).

    Parameters
    ----------
    rows : from `explained_gains`
    """
    ways = {"served": "served", "bandwidth": "bandwidth", "arithmetic": "arithmetic"}
    found = {way: times_off(rows[column], rows["gain"]) for way, column in ways.items()}
    found["none"] = times_off(np.ones(len(rows)), rows["gain"])
    of_racks = found["served"][rows["domain"] > 1]
    return pd.concat([pd.DataFrame(found).median(), pd.Series({"racks": of_racks.median()})])


def resource_table() -> pd.DataFrame:
    """What each chip has more of than the one before it [1], and what it did more by kind of model,
    in words.
    """
    pairs = {f"{new} over {old}": resources(new, old) for new, old in GENERATIONS}
    seen = gains().groupby(["pair", "kind"])["gain"].agg(["min", "max"])
    ends = [f"{of.min:.2f} to {of.max:.2f}" for of in seen.itertuples()]
    alone = seen["min"] == seen["max"]
    words = pd.Series(ends, seen.index).mask(alone, seen["max"].map("{:.2f}".format))
    held = pd.DataFrame.from_dict(pairs, orient="index")
    held = held.join(words.unstack()[list(ARCHITECTURES)]).rename(columns=KINDS).fillna("–")
    short = held.index.str.replace(" SXM| 80GB", "", regex=True).str.replace(" over ", " / ")
    return held.set_axis(short).rename_axis("pair").reset_index()


def within_resources() -> tuple[int, int]:
    """How many gains per chip lie between what the chip has more of, bandwidth and arithmetic, give
    or take what ratios move from round to round, and how many there are.
    """
    rows = explainable(gains())
    ends, moves = rows[["arithmetic", "bandwidth"]], max(map(drift, ARCHITECTURES.values()))
    inside = rows["gain"].between(ends.min(axis=1) / moves, ends.max(axis=1) * moves)
    return int(inside.sum()), len(rows)


@remembered
def engines() -> Engines:
    """The engines of the language models, by benchmark, on the chips to bet on.

    >>> engines().rows.row("deepseek-r1", "GB300", "usual")["chips 3"].value
    16.0
    """
    return Engines.of(_shapes(), BETS)


def _shapes() -> dict[str, str]:
    """The shapes of the language models, by benchmark."""
    found = benchmarks()["model"]
    return dict(found[found != ""])


@dataclass(frozen=True)
class Served:
    """What the best engine of one node, or of one rack, of the bet and of its rival does with the
    model of a kind that the case names, by the one model of serving.

    within : whether the model was made for such lengths [truth value]
    """

    bet: NodeSpeed
    rival: NodeSpeed
    within: Any

    @classmethod
    def of(cls, kind: str, case: Any, limit_s: Any) -> Self:
        """That of a limit on the time of a token [s]; requests are those of the case."""
        name, demand = getattr(case, kind), Demand.unknown()
        load = requests_of(UNKNOWN, case.input_tokens, case.output_tokens)
        limits = {of: {"tokens": model(shape).max_context} for of, shape in _shapes().items()}
        limit, length = choose(limits, name).tokens, load.input_tokens + load.output_tokens
        within = where(limit > 0, length <= limit, limit == 0)  # 0: not published

        known = engines()

        def speed(chip: Any) -> NodeSpeed:
            return node_speed(known, name, chip, case.precision, load, 1 / limit_s, demand)

        return cls(speed(case.bet), speed(case.rival), within)

    def tokens_per_s(self, side: str) -> Any:
        """Output tokens of a chip of a side [token/s]; NaN where no engine keeps the limit."""
        return where(self.within, getattr(self, side).tokens_per_s, float("nan"))

    @property
    def share(self) -> Any:
        """What a chip of the rival does over one of the bet [1]; 0 where only the bet keeps the
        limit, NaN where it does not.
        """
        of_bet, of_rival = self.tokens_per_s("bet"), self.tokens_per_s("rival")
        either = where(self.rival.served, of_rival / of_bet, 0.0)
        return where(self.within & self.bet.served, either, float("nan"))


def refusal(case: Any) -> tuple[Any, Any]:
    """Whether one of the two does not serve a language model of the case in its format, and which
    and what to choose instead, in words.
    """
    reasons = []
    for kind, side in product(("mixture", "dense"), ("bet", "rival")):
        name, chip = getattr(case, kind), getattr(case, side)
        refused, instead = engines().weights(name, chip, case.precision).refusal
        reasons.append((refused, chip + " and " + name + " in " + case.precision + ": " + instead))
    return reduce(or_, (refused for refused, _ in reasons)), first_case(reasons, "")


def require_served(bet: str, rival: str, mixture: str, dense: str, precision: str) -> None:
    """Refuse a format in which one of two chips does not serve one of two models, by benchmark.

    Raises
    ------
    ValueError : see `formats.resolved`, which names the nearest.

    >>> require_served("GB300", "H200 SXM", "deepseek-r1", "llama3.1-405b", "NVFP4")
    Traceback (most recent call last):
    ValueError: H200 SXM does not serve DeepSeek-V3 in NVFP4; nearest: INT4; it serves it in BF16,
    FP8, INT8 or INT4
    """
    for name, chip in product((mixture, dense), (bet, rival)):
        resolved(model(_shapes()[name]), accelerator(chip), precision)


def served_table(found: Bets, limit_s: float) -> pd.DataFrame:
    """What the best engine of each of the two chips does with each model within a limit on a token
    [s], the price of its output tokens with their prompts, all paid hours used [USD / 1e6 token],
    and what its format costs in quality.
    """
    rows, case = [], found.case
    hours = dict(zip(("bet", "rival"), found.paid, strict=True))
    for kind in ("mixture", "dense"):
        of = Served.of(kind, case, limit_s)
        for side, hour in hours.items():
            rate, engine = of.tokens_per_s(side), getattr(of, side)
            row = {
                "model": getattr(case, kind),
                "chip": getattr(case, side),
                "chips of an engine": where(of.within, engine.chips, float("nan")),
                "tokens/s of a chip": rate,
                "price of a million": usd_per_million_tokens(hour.usd, rate, 1.0),
                "format": where(of.within & engine.held, engine.precision, ""),
                "quality": where(of.within & engine.held, engine.weights.quality, ""),
                "why not": where(of.within, engine.why_not, "too long for the model"),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def shares_on_racks(case: Any, limit_s: float) -> pd.DataFrame:
    """What a chip of a server does over one of a rack within a limit on a token [s], on each model
    with the requests of the case [1].
    """
    rack, server = RACKS[-1]
    shares = {kind: Served.of(kind, case, limit_s).share for kind in ("mixture", "dense")}
    sides, kinds = {"bet": rack, "rival": server}, benchmarks()["kind"]
    found = {
        name: evaluate([shares[kind]], sides | {kind: name})[0]
        for name, kind in kinds.items()
        if kind in shares
    }
    return pd.DataFrame(found.items(), columns=["model", f"{server} over {rack}"])
