"""Published chip-hours of whole pretraining runs against those predicted from what was trained on
what: steps in the fastest layout, the layout used instead, failures, and what runs take beyond.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.costs.fastest_steps import fastest_on_all
from scaleright.costs.platforms import best_step, goodput
from scaleright.costs.pretraining import STEP_PARTS, reliability, run_chip_hours
from scaleright.costs.whole_runs import BEST_QUARTER, TABLE, TUNINGS, TYPICAL, whole_runs
from scaleright.information import NINETY
from scaleright.order import ordered
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import LONGEST_WHOLE_SEQUENCE, TrainingRun
from scaleright.transformer import active_parameters, training_flop
from scaleright.units import SECONDS_PER_HOUR, figure, si
from scaleright.validation import checks
from scaleright.validation.cross_validation import errors_by, held_out
from scaleright.validation.layouts import TABLES, published_layouts, ranks
from scaleright.validation.report import Kind, Problem, each

USUAL_CHIPS, USUAL_BATCH_TOKENS = 1024, 2**22
"""Taken for a published run that states neither: the size at which such clusters are rented, and
the batch of Llama 2.
"""
FEWEST_CHIPS = 64
"""Chips from which a published layout is one of a cluster."""
WHY = "its hours hold those of a teacher"
FRONTIER = ("llama-3.1-405b", "deepseek-v3")
"""Runs with published logs on which the best quarter is tested, so that it is found without them.
"""
_ALL = 0.0, -NINETY, NINETY
_BEST = tuple(map(NormalDist().inv_cdf, (1 / 8, 0.05 / 4, 0.95 / 4)))
"""Middle and ends of nine in ten of all runs, and of their best quarter [standard deviations]."""


@catalog.shared
def fastest_hours(
    model: str,
    accelerator: str,
    chips: int,
    tokens: float,
    sequence: int,
    batch: int,
    precision: str,
) -> float:
    """Chip-hours of a run in the fastest layout, failures counted: what a run that goes as well as
    it can would take [h].

    batch : sequences of a step

    Raises
    ------
    ValueError : no layout keeps all rules and fits in memory.
    """
    step = best_step(model, accelerator, chips, sequence, batch, precision)
    parts, kept = {name: step[name] for name in STEP_PARTS}, goodput(chips, **reliability())
    return float(run_chip_hours(tokens, batch * sequence, chips, **parts, goodput=kept).total)


def _fastest(row: dict[str, Any]) -> float:
    """`fastest_hours` of a row of the table."""
    chips = USUAL_CHIPS if pd.isna(row["accelerators"]) else int(row["accelerators"])
    batch = USUAL_BATCH_TOKENS if pd.isna(row["batch_tokens"]) else int(row["batch_tokens"])
    sequence = int(row["sequence"])
    asked = row["model"], row["accelerator"], chips, float(row["tokens"]), sequence
    return fastest_hours(*asked, max(batch // sequence, 1), row["precision"])


def pooled(logs: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Mean of logarithms of which those of a group are alike, and the standard deviation of one of
    a group that is not among them: of groups, of runs within a group, and of the mean.

    A group with many runs counts little more than one with a few, as far as groups differ (random
    effects, by the method of moments).

    >>> mean, apart = pooled(np.array([0.0, 0.0, 0.0, 1.0, 1.2]), np.array([*"aaabc"]))
    >>> 0.5 < mean < 0.8, apart > 0.5
    (True, True)
    """
    each = [logs[groups == name] for name in np.unique(groups)]
    counts, means = np.array([len(of) for of in each]), np.array([of.mean() for of in each])
    inside = sum(((of - of.mean()) ** 2).sum() for of in each)
    within = max(inside / max(len(logs) - len(each), 1), 1e-12)
    weights = counts / within
    apart = (weights * (means - np.average(means, weights=weights)) ** 2).sum() - len(each) + 1
    scale = weights.sum() - (weights**2).sum() / weights.sum()
    between = max(apart / scale, 0.0) if len(each) > 1 else 0.0
    weights = 1 / (between + within / counts)
    mean = float((weights * means).sum() / weights.sum())
    return mean, math.sqrt(between + within + 1 / weights.sum())


def used_layouts() -> pd.DataFrame:
    """Time of published layouts of clusters over the fastest, by the model of a step: the median
    (`over`) and the number of layouts of each publication.
    """
    found = pd.concat(
        ranks(rows).merge(rows[["run", "source"]], on="run")
        for rows in map(published_layouts, TABLES)
    )
    found = found[(found["task"] == "pretrain") & found["fits"]]
    found = found[found["accelerators"] >= FEWEST_CHIPS]
    slower = found.groupby("source")["slower_by"]
    return pd.DataFrame({"over": 1 + slower.median(), "layouts": slower.size()})


def _book() -> pd.DataFrame:
    """The runs that a fit sees, with their hours in the fastest layout and published over these."""
    rows = catalog.table(KIND.table)
    rows = rows[~held_out(rows) & (rows["covers"] != "distillation")].reset_index(drop=True)
    fastest = np.array([_fastest(row) for row in rows.to_dict("records")])
    return rows.assign(fastest=fastest, log=np.log(rows["chip_hours"] / fastest))


def refit() -> pd.DataFrame:
    """The table `pretraining_constants`, found anew; of published hours only those that are not
    held out.
    """
    layouts, book = used_layouts(), _book()
    over, rest = layouts["over"], book[~book["run"].isin(FRONTIER)]
    many = int(layouts["layouts"].sum()), len(layouts)
    typical = "layout", *over.quantile([0.5, 0.25, 0.75]), *many, "median"
    best = "layout", *over.quantile([1 / 8, 0.0, 0.25]), *many, "quantile"
    kinds = {TYPICAL: (typical, book, _ALL, "fit"), BEST_QUARTER: (best, rest, _BEST, "quantile")}
    columns = ["constant", "value", "low", "high", "rows", "groups", "basis"]
    found = []
    for name, (layout, runs, scores, basis) in kinds.items():
        rows = [layout, *_beyond(runs, float(layout[1]), scores, basis)]
        found.append(pd.DataFrame(rows, columns=columns).assign(family=TUNINGS[name]))
    every = pd.concat(found, ignore_index=True).assign(source="scalerighttraining", note="")
    return every[["family", *columns, "source", "note"]].round(4)


def _beyond(
    book: pd.DataFrame, layout: float, scores: tuple[float, ...], basis: str
) -> list[tuple[Any, ...]]:
    """What runs take beyond a layout that is so much slower than the fastest, and the ends of that.

    scores : middle and ends of those runs, of the distribution of all [standard deviations]
    """
    logs, who = book["log"].to_numpy(float), book["publisher"].to_numpy(str)
    names, (middle, *ends) = np.unique(who), scores
    fits = [pooled(logs[among], who[among]) for among in (who != "", *(who != of for of in names))]
    beyond = np.exp([mean + middle * apart for mean, apart in fits]) / layout
    low, high = np.exp([(end - middle) * fits[0][1] for end in ends])
    many = len(book), len(names)
    return [
        ("beyond", beyond[0], beyond.min(), beyond.max(), *many, basis),
        ("interval", 1.0, low, high, *many, "groups left out"),
    ]


@catalog.shared
def frontier() -> pd.DataFrame:
    """The runs of `FRONTIER`, each at its own chips, sequence, batch and format.

    Returns
    -------
    model, chips, accelerator, hours published, and predicted as of the typical run and of the best
    quarter, found without both (columns `TUNINGS`) [h]
    """
    rows, found = catalog.table(KIND.table).set_index("run"), []
    for row in rows.loc[[*FRONTIER]].to_dict("records"):
        chip, chips = catalog.accelerator(row["accelerator"]), int(row["accelerators"])
        tokens, sequence = int(row["batch_tokens"]), int(row["sequence"])
        shape, batch = catalog.model(row["model"]), tokens // sequence
        run = TrainingRun(shape, chip, chips, sequence, batch, row["precision"])
        of: dict[str, Any] = {"model": shape.name, "chips": chips, "accelerator": chip.name}
        of["published"] = float(row["chip_hours"])
        for tuning in TUNINGS:
            best = fastest_on_all(run, [chip], [chips], tuning == BEST_QUARTER)[chip.name, chips]
            parts = {name: best[name] for name in STEP_PARTS}
            parts |= {"goodput": goodput(chips, **reliability()), **whole_runs(tuning).factors}
            hours = run_chip_hours(float(row["tokens"]), tokens, chips, **parts).total
            of[tuning] = figure(float(hours))
        found.append(of)
    return pd.DataFrame(found)


def _shares(rows: pd.DataFrame) -> np.ndarray:
    """Six FLOP a parameter and token over the dense peak of the published chip-hours [1]."""
    return _flop_hours(rows) / rows["chip_hours"].to_numpy(float)


def _flop_hours(rows: pd.DataFrame) -> np.ndarray:
    """Chip-hours of six FLOP a parameter and token at the dense peak [h]."""
    found = []
    for row in rows.to_dict("records"):
        size = active_parameters(catalog.model(row["model"])).total
        peak = catalog.accelerator(row["accelerator"]).peak_flops(PEAK_NAMES[row["precision"]])
        found.append(training_flop(float(size), float(row["tokens"])) / peak / SECONDS_PER_HOUR)
    return np.array(found, dtype=float)


def _unfit(rows: pd.DataFrame) -> Iterator[Problem]:
    """Runs that fit on no such chips."""
    sizes = "accelerators", "precision", "sequence", "batch_tokens"
    return each(rows, (*KIND.required, *sizes), _fastest)


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    """Each run by what the runs of other publishers took beyond the fastest layout."""
    rows, book = rows.reset_index(drop=True), _book()
    logs, who = book["log"].to_numpy(float), book["publisher"].to_numpy(str)
    shares, found = _shares(book), []
    publishers = rows["publisher"].fillna("").astype(str)
    for row, name in zip(rows.to_dict("records"), publishers, strict=True):
        others, fastest = who != name, _fastest(row)
        mean, apart = pooled(logs[others], who[others])
        hours = fastest * math.exp(mean)
        ends = (hours * math.exp(side * NINETY * apart) for side in (-1, 1))
        shown = zip(("low", "high"), ends, strict=True)
        share = float(np.median(shares[others]))
        found.append({"fastest": fastest, "predicted": hours, **dict(shown), "share": share})
    judged = rows.assign(**pd.DataFrame(found)).assign(published=rows["chip_hours"])
    published = judged["published"].astype(float)
    baseline = _flop_hours(rows) / judged["share"]
    return judged.assign(
        publisher=publishers,
        ratio=published / judged["fastest"],
        scored=published.notna() & (rows["covers"] != "distillation"),
        why=np.where(rows["covers"] == "distillation", WHY, "states no chip-hours"),
        error_percent=100 * (judged["predicted"] / published - 1),
        baseline_error_percent=100 * (baseline / published - 1),
        fastest_error_percent=100 * (judged["fastest"] / published - 1),
        within_range=(judged["low"] <= published) & (published <= judged["high"]),
        width_percent=100 * (judged["high"] - judged["low"]) / judged["predicted"],
    )


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors of the runs that a fit sees and of those that it does not, beside those of the fastest
    layout.
    """
    scored = rows[rows["scored"]]
    errors = {"ours": "error_percent", "look-up": "baseline_error_percent"}
    errors |= {"fastest layout": "fastest_error_percent"}
    key = np.where(held_out(scored), "never fitted", "its publisher left out")
    title = "median / p90 of the absolute error [%]; the fastest layout is a bound from below"
    return {title: errors_by(scored, key, errors)}


KIND = Kind(
    table="measured/pretraining",
    required=("model", "accelerator", "tokens"),
    often=("accelerators", "precision", "sequence", "batch_tokens", "chip_hours", "covers"),
    # a publisher that no fit saw, BF16, sequences as long as models are trained on whole
    fill={
        "publisher": "yours",
        "precision": "BF16",
        "sequence": LONGEST_WHOLE_SEQUENCE,
        "covers": "pretraining",
    },
    check=checks.staged(checks.basics, _unfit),
    judge=_judge,
    columns={"run": 24, "accelerator": 15},
    figure=lambda _, value: si(value, "h"),
    shows="published and predicted chip-hours",
    group="publisher",
    tables=_tables,
    fitted=TABLE,
    baseline=(
        "six FLOP a parameter and token at the median share of peak that runs of other publishers"
        " reached"
    ),
    rule=(
        "chip-hours are those of steps in the fastest layout and of failures, by what the runs of"
        " other publishers took beyond; a row is scored if it states chip-hours and no teacher's"
        " are among them; a run that does not say on how many chips it was trained is predicted on"
        f" {USUAL_CHIPS:,}, one that does not say its batch at four million tokens"
    ),
    caveat=(
        "some hours hold later stages, failed runs or rounding, and seldom is said which; a look-up"
        " by tokens, sizes and chips explains no more of them than one factor for all"
    ),
)


WORDS = {
    "run": "run",
    "publisher": "publisher",
    "accelerator": "chip",
    "accelerators": "chips",
    "tokens": "tokens",
    "published": "published [h]",
    "predicted": "predicted [h]",
    "error_percent": "error",
    "fastest": "fastest layout [h]",
    "ratio": "published / fastest",
    "covers": "hours of",
    "source": "source",
}
"""Columns of judged runs, as a table of them is headed."""


def in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Judged runs, the quickest against the fastest layout first; errors as shares."""
    rows = rows.assign(error_percent=rows["error_percent"] / 100)
    return ordered(rows, "ratio")[[*WORDS]].rename(columns=WORDS)
