"""How far off predictions of serving are, as frames: by publication, figure, chip and what was left
out of the fit (`data/serving_errors.csv`, what `scaleright validate serving` and `energy` say).
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.units import significant
from scaleright.validation import published

COLUMNS = {
    "group": "error_percent",
    "model": "model_out_percent",
    "chip": "chip_out_percent",
    "roofline": "roofline_percent",
}
"""Columns of errors by what was left out of the fit, and that of a plain roofline."""
LEFT_OUT = {
    "group": "of the same model on as many chips with the same release",
    "model": "of the same model",
    "chip": "on the same chip",
}
"""Which runs were left out, in words."""
MEANINGS = {
    "throughput": "tokens written in a second",
    "time per token": "time per output token after the first",
    "gap between tokens": "median time between two tokens",
    "energy": "energy of an output token",
}
"""What the figures are, in words."""
UNITS = {"throughput": "token/s", "energy": "J"}
"""Units of the figures; all others are in seconds."""
_CONSTANTS = ("serving_constants", "energy_constants")


@lookup
def every_figure() -> pd.DataFrame:
    """Every published figure beside its prediction: the columns of `serving_errors`, and

    of, figure : publication and figure in words
    apart : held out of every fit
    family : what a page lets choose: the publication, or "held out"
    in range, width of range : whether it lies in its stated range, and how wide that is over the
        prediction [1]
    """
    rows = catalog.table("serving_errors")
    apart, of = rows["held_out"].fillna(False).astype(bool), rows["source"].map(published.SERVING)
    return rows.assign(
        of=of.fillna("MLPerf"),
        apart=apart,
        family=of.fillna("MLPerf").mask(apart, published.HELD_OUT),
        figure=rows["figure"].map(published.FIGURES).fillna("first token"),
        **{
            "in range": rows["published"].between(rows["low"], rows["high"]),
            "width of range": (rows["high"] - rows["low"]) / rows["predicted"],
        },
    )


@lookup
def scored(source: str = published.ALL, figure: str | None = None) -> pd.DataFrame:
    """The figures that are judged, of a publication and of a kind: rows of `every_figure`.

    >>> set(scored("ML.ENERGY", "energy")["of"])
    {'ML.ENERGY'}
    """
    rows = every_figure()
    rows = rows[rows["scored"]]
    rows = rows if source == published.ALL else rows[rows["family"] == source]
    return rows if figure is None else rows[rows["figure"] == figure]


@lookup
def whose(source: str) -> str:
    """Of whom the figures of a choice are, as words after their name.

    >>> whose("ML.ENERGY"), whose("held out"), whose("all")
    (' from ML.ENERGY', ' that no constant was fitted to', '')
    """
    words = {published.ALL: "", published.HELD_OUT: " that no constant was fitted to"}
    return words.get(source, f" from {source}")


@lookup
def figures_of(source: str) -> str:
    """Figures of a publication that are judged, in words.

    >>> figures_of("ML.ENERGY")
    'throughput, gap between tokens or energy'
    """
    *first, last = published.serving_figures(source)
    return " or ".join([", ".join(first), last] if first else [last])


@lookup
def errors(
    sources: Sequence[str], figures: Sequence[str]
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Rows for `choose`, by source, figure and what was left out, where there are such figures:
    rows, median and 90th percentile of the absolute error, the median of the roofline's, the 5th
    and 95th percentile of the signed one, and the share of rows in their stated range [1].

    >>> found = errors(["TensorRT-LLM"], ["throughput", "energy"])
    >>> [key[1:] for key in found], round(found["TensorRT-LLM", "throughput", "model"]["p90"], 2)
    ([('throughput', 'group'), ('throughput', 'model'), ('throughput', 'chip')], 0.34)
    """
    found = {}
    for source, figure in product(sources, figures):
        of = scored(source, figure)
        for mode in LEFT_OUT if len(of) else ():
            signed = of[COLUMNS[mode]] / 100
            middle, far = signed.abs().quantile([0.5, 0.9])
            low, high = signed.quantile([0.05, 0.95])
            found[source, figure, mode] = {
                "rows": float(len(of)),
                "median": middle,
                "p90": far,
                "roofline": of[COLUMNS["roofline"]].abs().median() / 100,
                "low": low,
                "high": high,
                "inside": of["in range"].mean(),
            }
    return found


@lookup
def errors_by_chip(
    sources: Sequence[str], figures: Sequence[str]
) -> dict[tuple[str, str, str, str], dict[str, float]]:
    """Rows for `choose`, by chip and as those of `errors`: rows, median absolute and median signed
    error [1]; the chip with most figures first.
    """
    found, chips = {}, scored()["accelerator"].value_counts(sort=True).index
    for source, figure in product(sources, figures):
        of = scored(source, figure)
        for mode, (chip, group) in product(LEFT_OUT, of.groupby("accelerator")):
            signed = group[COLUMNS[mode]] / 100
            found[chip, source, figure, mode] = {
                "rows": float(len(group)),
                "off": signed.abs().median(),
                "signed": signed.median(),
            }
    place = {chip: at for at, chip in enumerate(chips)}
    return dict(sorted(found.items(), key=lambda item: place[item[0][0]]))


@lookup
def dots(sources: Sequence[str], figures: Sequence[str]) -> pd.DataFrame:
    """A dot for each figure, of predicted over measured: `from`, the publication, with a star where
    it was held out; `source` and `figure`, their places among the choices; `run` and `kind`; and
    the ratio by what was left out [1].
    """
    rows = scored()
    names = rows["of"] + np.where(rows["apart"], " *", "")
    experts = rows["model"].map(lambda name: catalog.model(name).experts > 0)
    runs = rows["model"] + ", " + rows["accelerators"].astype(str) + " " + rows["accelerator"]
    ratios = {mode: (1 + rows[COLUMNS[mode]] / 100).round(2) for mode in LEFT_OUT}
    return pd.DataFrame(
        {
            "from": names,
            "source": rows["family"].map(list(sources).index),
            "figure": rows["figure"].map(list(figures).index),
            "run": runs,
            "kind": np.where(experts, "experts", "dense"),
        }
        | ratios
    )


def _pair(shares: pd.Series) -> str:
    """Median and 90th percentile of errors in percent."""
    return " / ".join(significant(of, 2) for of in shares.abs().quantile([0.5, 0.9]))


@lookup
def by_source() -> pd.DataFrame:
    """Errors of every publication and figure in percent, those in no fit last: median and 90th
    percentile, the share of figures in their stated range, and its width.

    >>> by_source().iloc[0][["figure", "from", "group out"]].tolist()
    ['throughput', 'ML.ENERGY', '11 / 36']
    """
    found, rows = [], scored()
    for figure in MEANINGS:
        groups = rows[rows["figure"] == figure].groupby(["apart", "of"])
        for (apart, name), of in sorted(groups, key=lambda item: (item[0][0], -len(item[1]))):
            pairs = {f"{mode} out": _pair(of[COLUMNS[mode]]) for mode in LEFT_OUT}
            figures = {"in range": of["in range"].mean()}
            figures |= {"width of range": of["width of range"].median()}
            head = {"from": name + " *" * apart, "figure": figure, "rows": len(of)}
            found.append(head | pairs | {"roofline": _pair(of[COLUMNS["roofline"]])} | figures)
    return pd.DataFrame(found)


@lookup
def beaten() -> list[str]:
    """Publications and figures of which a plain roofline is as near or nearer in the median.

    >>> beaten()
    []
    """
    rows = scored()
    middles = rows.groupby(["of", "figure"])[[COLUMNS["group"], COLUMNS["roofline"]]]
    middles = middles.agg(lambda errors: errors.abs().median())
    nearer = middles[COLUMNS["group"]] >= middles[COLUMNS["roofline"]]
    return [f"{name} ({figure})" for name, figure in middles.index[nearer]]


@lookup
def fitted_constants() -> int:
    """Constants of time and power that were fitted."""
    return sum(int((catalog.table(name)["basis"] == "fit").sum()) for name in _CONSTANTS)


@lookup
def fitted_figures() -> int:
    """Figures to which they were fitted."""
    return int((~scored()["apart"]).sum())


@lookup
def held_out_in_range() -> float:
    """Share of the held-out figures that lie in their stated range [1]."""
    rows = scored()
    return rows.loc[rows["apart"], "in range"].mean()


def middles(rows: pd.DataFrame) -> tuple[float, float]:
    """Median absolute errors of some figures [1]: of the predictions, and of a plain roofline.

    >>> middles(pd.DataFrame({"error_percent": [-5.0, 10.0, 20.0], "roofline_percent": -50.0}))
    (0.1, 0.5)
    """
    ours, plain = (float(rows[COLUMNS[of]].abs().median()) for of in ("group", "roofline"))
    return ours / 100, plain / 100


@lookup
def unseen(figure: str = "throughput") -> pd.DataFrame:
    """Held-out figures of chips of which no fit has seen a run.

    >>> "H100 SXM" in set(unseen()["accelerator"])
    False
    """
    every, out = scored(), scored(published.HELD_OUT, figure)
    return out[~out["accelerator"].isin(every.loc[~every["apart"], "accelerator"])]


@lookup
def first_token() -> pd.DataFrame:
    """Time to the first token by publication: predicted over measured in the middle, the factor
    between them [1], and the share within a factor of two.
    """
    rows = every_figure()
    rows = rows[(rows["figure"] == "first token") & (rows["published"] > 0)]
    ratio = (rows["predicted"] / rows["published"]).astype(float)
    rows = rows.assign(ratio=ratio, times=np.exp(np.log(ratio).abs())).dropna(subset="ratio")
    found = rows.groupby("of").agg(
        rows=("run", "size"),
        ratio=("ratio", "median"),
        factor=("times", "median"),
        close=("times", lambda times: (times <= 2).mean()),
    )
    found = ordered(found, "rows", ascending=False).rename_axis("from").reset_index()
    return found.rename(columns={"ratio": "predicted over measured", "close": "within 2"})


@lookup
def by_answer(figure: str = "throughput") -> dict[str, float]:
    """Median absolute error of a figure by the length of answers [1].

    >>> list(by_answer())
    ['up to 256 tokens', 'up to 1,024 tokens', 'up to 4,096 tokens', 'beyond']
    """
    rows = scored(figure=figure)
    ends = {f"up to {most:,} tokens": most for most in (256, 1024, 4096)} | {"beyond": 10**9}
    length = pd.cut(rows["output_tokens"], [0, *ends.values()], labels=[*ends])
    middles = rows["error_percent"].abs().groupby(length, observed=True).median() / 100
    return {str(words): float(middle) for words, middle in middles.items()}
