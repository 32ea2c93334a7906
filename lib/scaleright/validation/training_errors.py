"""How far off predicted training steps are, run by run and by publication, kind of model, and by
what the fit did not see.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pandas as pd

from scaleright import catalog
from scaleright.quantity import look_up
from scaleright.validation import published, training
from scaleright.validation.report import fitted_constants, judged

LEFT_OUT = {
    "group": "of the same model on as many chips with the same release",
    "model": "of the same model",
    "release": "of the same release of the software",
    "cluster size": "on as many chips",
    "chip": "on the same chip",
}
"""Runs that no constant saw when one of them was predicted, the headline first."""
MEASURES = {
    "ours": "error_percent",
    "look-up": "baseline_error_percent",
    "regression": "regression_error_percent",
}
"""Errors of the model and of two baselines."""
KINDS = (published.ALL, "dense", "experts")


def column(measure: str, mode: str) -> str:
    """The column of an error, in percent, where runs were left out of the fit.

    >>> column("ours", "group"), column("look-up", "chip")
    ('error_percent', 'baseline_error_percent chip left out')
    """
    return MEASURES[measure] + ("" if mode == "group" else f" {mode} left out")


@catalog.shared
def judged_runs() -> pd.DataFrame:
    """All published runs with their errors, rounded to what a fit gives alike on every machine.

    Columns beyond those of `validate`: apart (held out of every fit), of (the publication, or
    "held out"), name (that with the kind of model).
    """
    rows = judged(training.KIND).rows
    figures = [name for name in rows if "error_percent" in name]
    apart = rows["held_out"].fillna(False).astype(bool)
    of = rows["source"].map(published.TRAINING).mask(apart, published.HELD_OUT)
    kind = rows["kind"].map({"dense": "", "experts": ", experts"})
    format_ = ((of == "llm-foundry") & (rows["precision"] == "FP8")).map({True: ", FP8", False: ""})
    rows = rows.assign(apart=apart, of=of, name=of + kind + format_)
    return rows.assign(**rows[figures].astype(float).round(4))


def scored_runs(source: str = published.ALL, kind: str = published.ALL) -> pd.DataFrame:
    """The runs that are judged, of a publication and kind of model.

    >>> len(scored_runs("held out")) < len(scored_runs())
    True
    """
    rows = judged_runs()
    rows = rows[rows["scored"]]
    return rows[
        ((source == published.ALL) | (rows["of"] == source))
        & ((kind == published.ALL) | (rows["kind"] == kind))
    ]


def errors(rows: pd.DataFrame, measure: str = "ours", mode: str = "group") -> tuple[float, float]:
    """Median and 90th percentile of the absolute error [1]."""
    sizes = rows[column(measure, mode)].abs() / 100
    return sizes.median(), sizes.quantile(0.9)


@catalog.shared
def figures() -> dict[tuple[str, str, str], dict[str, float]]:
    """Errors by publication, kind of model and what is left out, where there are runs.

    rows (how many), median and p90, look_median and look_p90 (of the look-up), low, high and bias
    (5th and 95th percentile and mean of the signed error), inside (share of the runs in the 90 %
    range stated for them) [1]
    """
    found = {}
    sources = (published.ALL, *dict.fromkeys(published.TRAINING.values()), published.HELD_OUT)
    for source, kind in product(sources, KINDS):
        rows = scored_runs(source, kind)
        for mode in LEFT_OUT if len(rows) else ():
            signed = rows[column("ours", mode)] / 100
            looked = published.spread(rows[column("look-up", mode)] / 100)
            found[source, kind, mode] = (
                {"rows": len(rows)}
                | published.spread(signed)
                | {
                    "look_median": looked["median"],
                    "look_p90": looked["p90"],
                    "bias": signed.mean(),
                    "inside": rows["within_range"].mean(),
                }
            )
    return found


def dots() -> pd.DataFrame:
    """The signed error [1] of each judged run as charts show it.

    Columns: name, of, kind, run, and one for each of `LEFT_OUT`, its name without spaces.
    """
    rows = scored_runs()
    signed = {
        mode.replace(" ", "_"): (rows[column("ours", mode)] / 100).round(4) for mode in LEFT_OUT
    }
    return rows[["name", "of", "kind", "run"]].assign(**signed)


def _by_name() -> list[tuple[str, pd.DataFrame]]:
    return sorted(scored_runs().groupby("name"), key=lambda item: -len(item[1]))


def by_source(left_out: Any) -> pd.DataFrame:
    """Errors of every publication beside both baselines, in words, without the runs that a choice
    leaves out.

    >>> min(by_source("group")["runs of"])
    'DGX Cloud'
    """
    rows = [
        {"runs of": name, "rows": len(group)}
        | {
            measure: look_up(
                {mode: published.pair(group[column(measure, mode)]) for mode in LEFT_OUT}, left_out
            )
            for measure in MEASURES
        }
        for name, group in _by_name()
    ]
    return pd.DataFrame(rows)


def by_mode() -> pd.DataFrame:
    """Errors over all runs as more and more is left out, in words, beside the look-up."""
    sides = [(kind, measure) for kind in KINDS[1:] for measure in ("ours", "look-up")]
    rows = [
        {"left_out": words}
        | {
            f"{kind} {measure}": published.pair(scored_runs(kind=kind)[column(measure, mode)])
            for kind, measure in sides
        }
        for mode, words in LEFT_OUT.items()
    ]
    return pd.DataFrame(rows)


def beaten(left_out: Any) -> Any:
    """On which publications a baseline is nearer in the median, in words; empty if on none."""
    found = {
        mode: ", ".join(
            name
            for name, rows in _by_name()
            if errors(rows, "ours", mode)[0]
            >= min(errors(rows, other, mode)[0] for other in ("look-up", "regression"))
        )
        for mode in LEFT_OUT
    }
    return look_up(found, left_out)


def ranges() -> pd.DataFrame:
    """How many runs lie inside the 90 % range stated for them [1], and how wide the middle one is,
    over the prediction [1].
    """
    groups = {
        "all": scored_runs(),
        "dense": scored_runs(kind="dense"),
        "experts": scored_runs(kind="experts"),
        "held out of every fit": scored_runs(published.HELD_OUT),
    }
    found = pd.DataFrame({"runs": [*groups], "rows": [*map(len, groups.values())]})
    return found.assign(
        inside=[group["within_range"].mean() for group in groups.values()],
        width=[group["width_percent"].median() / 100 for group in groups.values()],
    )


def fitted() -> tuple[int, int]:
    """How many constants are fitted, and to how many runs."""
    return fitted_constants("training_constants"), int((~scored_runs()["apart"]).sum())


def _by(key: str, groups: Iterable[tuple[Any, pd.DataFrame]], left_out: Any) -> pd.DataFrame:
    """How many runs each group has, and their errors without the runs that a choice leaves out."""
    rows = []
    for name, group in groups:
        found = {mode: errors(group, "ours", mode) for mode in LEFT_OUT}
        middle, far = (
            look_up({mode: both[place] for mode, both in found.items()}, left_out)
            for place in (0, 1)
        )
        rows.append({key: str(name), "runs": len(group), "median": middle, "90th percentile": far})
    return pd.DataFrame(rows)


def by_precision(source: str, left_out: Any) -> pd.DataFrame:
    """Median and 90th percentile of the absolute error of a publication's runs, by format [1]."""
    return _by("format", scored_runs(source).groupby("precision"), left_out)


def by_size(left_out: Any) -> pd.DataFrame:
    """The same for all runs by the number of chips.

    >>> sum(by_size("group")["runs"]) == len(scored_runs())
    True
    """
    rows, ends = scored_runs(), [0, 8, 64, 512, float("inf")]
    sizes = pd.cut(rows["accelerators"], ends, labels=["to 8", "9 to 64", "65 to 512", "more"])
    return _by("chips", rows.groupby(sizes, observed=True), left_out)


def unscored() -> pd.DataFrame:
    """Runs that are shown and not scored: how many, and of whom, by the rule that decides."""
    rows = judged_runs()
    short = {r":.*": "", r"does not state .*": "does not state its batch or layout"}
    names = rows["source"].replace(_PAPERS | published.SET_ASIDE | published.TRAINING)
    why = rows["why"].replace(short, regex=True)
    return published.by_reason(rows.assign(why=why, of=names), "of")


_PAPERS = {
    "deepseekv3": "DeepSeek-V3 paper",
    "gaudi2performance": "Intel",
    "mtnlg": "MT-NLG paper",
    "nemoautomodel2025": "NeMo AutoModel",
    "palm": "PaLM paper",
    "touvron2023": "LLaMA paper",
    "tpurecipes2025": "TPU recipes",
}
