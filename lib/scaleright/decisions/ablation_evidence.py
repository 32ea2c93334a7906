"""Published experiments: their hours beside those predicted, how many runs studies make, and how
far the order of small runs was that of large ones.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import remembered, table
from scaleright.costs.whole_runs import whole_runs
from scaleright.decisions.ablation_study import BY_CHANCE
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.validation.whole_runs import fastest_hours

BENCHMARKS = "benchmarks"


@lookup
@remembered
def published() -> pd.DataFrame:
    """Published experiments with their hours as predicted: steps in the fastest layout and what
    whole runs of clusters take beyond, which none of these rows helped to find.

    Returns
    -------
    the columns of the table `experiments`, `predicted` and `fastest` [h], `error` of the first [1],
    `within` (whether the hours lie in the stated range)
    """
    rows, usual = table("experiments"), whole_runs()
    fastest = np.array(
        [
            fastest_hours(
                row["model"],
                row["accelerator"],
                int(row["accelerators"]),
                float(row["tokens"]),
                int(row["sequence"]),
                int(row["batch_tokens"]) // int(row["sequence"]),
                row["precision"],
            )
            for row in rows.to_dict("records")
        ]
    )
    predicted = fastest * usual.over_fastest
    ratio = rows["chip_hours"] / predicted
    found = rows.assign(fastest=fastest, predicted=predicted, error=1 / ratio - 1)
    return found.assign(within=(ratio >= usual.low) & (ratio <= usual.high))


@dataclass(frozen=True)
class Judged:
    """How far predicted hours were from published ones.

    rows, studies : how many [1]
    median, worst : absolute error [1]
    fastest : median absolute error of the fastest layout alone [1]
    covered : share of the rows in the stated range [1]
    """

    rows: int
    studies: int
    median: float
    worst: float
    fastest: float
    covered: float


@lookup
@remembered
def judged() -> Judged:
    """The errors over all rows of `published`.

    >>> judged().rows >= 15, judged().median < judged().fastest
    (True, True)
    """
    rows = published()
    alone = (rows["fastest"] / rows["chip_hours"] - 1).abs()
    return Judged(
        rows=len(rows),
        studies=rows["study"].nunique(),
        median=float(rows["error"].abs().median()),
        worst=float(rows["error"].abs().max()),
        fastest=float(alone.median()),
        covered=float(rows["within"].mean()),
    )


@lookup
def agreement(figure: str, value: float) -> float:
    """Share of pairs in the same order, of what a study reports [1]: the share itself, or a
    correlation of normal variables, r, of which 1/2 + arcsin(r) / pi pairs agree.

    figure : "pairs", "correlation" or "rank correlation"

    Source: [sheppard1899]; the correlation behind one of ranks is 2 sin(pi r / 6).

    >>> agreement("pairs", 0.8), agreement("correlation", 0.0), agreement("correlation", 1.0)
    (0.8, 0.5, 1.0)
    """
    if figure == "pairs":
        return value
    r = 2 * math.sin(math.pi * value / 6) if figure == "rank correlation" else value
    return 0.5 + math.asin(min(r, 1.0)) / math.pi


@lookup
@remembered
def transfers() -> pd.DataFrame:
    """Published agreements of small and large scale.

    Returns
    -------
    the columns of the table `proxy_transfer`, `tenfolds` (of less arithmetic), `agree` and `wrong`
    (shares of pairs), `per_tenfold` (the latter over the first), `foreseen` (pairs that agree by
    the other studies of the same measure; NaN where there is none)
    """
    rows = table("proxy_transfer")
    agree = [agreement(*of) for of in zip(rows["figure"], rows["value"], strict=True)]
    rows = rows.assign(
        tenfolds=np.log10(rows["target_flop"] / rows["proxy_flop"]), agree=agree
    ).assign(wrong=lambda of: 1 - of["agree"])
    rows = rows.assign(per_tenfold=rows["wrong"] / rows["tenfolds"])

    def of_others(row: pd.Series) -> float:
        others = rows[(rows["measure"] == row["measure"]) & (rows["study"] != row["study"])]
        each = others.groupby("study")["per_tenfold"].median()
        return 1 - min(float(each.mean()) * row["tenfolds"], BY_CHANCE) if len(each) else math.nan

    return rows.assign(foreseen=rows.apply(of_others, axis=1))


@dataclass(frozen=True)
class PerTenfold:
    """Pairs in the wrong order for each tenfold less arithmetic [1], of studies that compare by
    benchmarks: their mean, the lowest, the highest, and the most tenfolds that one spanned.
    """

    best: float
    low: float
    high: float
    furthest: float


@lookup
@remembered
def per_tenfold() -> PerTenfold:
    """What `decisions.ablation_study.misordered` takes of published studies.

    >>> 0.05 < per_tenfold().low < per_tenfold().best < per_tenfold().high < 0.2
    True
    """
    rows = transfers()
    rows = rows[rows["measure"] == BENCHMARKS]
    each = rows.groupby("study")["per_tenfold"].median()
    return PerTenfold(
        best=round(float(each.mean()), 3),
        low=round(float(rows["per_tenfold"].min()), 3),
        high=round(float(rows["per_tenfold"].max()), 3),
        furthest=float(rows["tenfolds"].max()),
    )


@lookup
def campaigns() -> pd.DataFrame:
    """Published studies, those of the most runs first."""
    return ordered(table("campaigns").fillna({"runs": 0}), "runs", ascending=False)


@lookup
def order_lines() -> pd.DataFrame:
    """Pairs in the wrong order against the ratio of arithmetic, by the highest, the mean and the
    lowest of published studies: ratio, study and wrong.
    """
    per, tenfolds = per_tenfold(), np.linspace(0.2, 5.0, 25)
    slopes = {"highest": per.high, "mean": per.best, "lowest": per.low}
    lines = {name: np.minimum(of * tenfolds, BY_CHANCE).round(6) for name, of in slopes.items()}
    frame = pd.DataFrame({"ratio": (10**tenfolds).round(4)} | lines)
    return frame.melt("ratio", var_name="study", value_name="wrong")


@lookup
def order_dots() -> pd.DataFrame:
    """Published agreements as dots: ratio, wrong and name, which tells those by likelihood."""
    rows = transfers()
    marks = rows["measure"].where(rows["measure"] != BENCHMARKS, "").radd(", ").replace(", ", "")
    names = rows["study"] + " " + rows["proxy"] + marks
    return rows.assign(name=names, ratio=(10 ** rows["tenfolds"]).round(4))


@lookup
def in_words() -> pd.DataFrame:
    """Published experiments beside their predictions, as a table of them is headed."""
    rows = published()
    return pd.DataFrame(
        {
            "run": rows["run"],
            "chip": rows["accelerator"],
            "chips": rows["accelerators"],
            "tokens": rows["tokens"],
            "published [h]": rows["chip_hours"],
            "predicted [h]": rows["predicted"].round(),
            "error": rows["error"].round(4),
            "basis": rows["basis"],
            "source": rows["source"],
        }
    )
