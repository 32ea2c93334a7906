"""Measured serving against predicted throughput and latency, each predicted by constants fitted without its own group.

The constants of `inference.slowdowns` are fitted at once to throughput under maximum load, throughput and median inter-token latency
at a given batch, and time per output token at a given concurrency. They are refitted for every group that is left out: runs of one model
on one number of chips with one release of the software (the headline), and more strictly all runs of a model, a release or a chip.
"""

import math
from typing import Any, Iterable

import numpy as np
import pandas as pd

from scaleright import catalog, pooling
from scaleright.inference.phases import KINDS
from scaleright.inference.serving import steady
from scaleright.inference.slowdowns import PLAIN, TIES, chip_family, interval, spread_class
from scaleright.roofline import PEAK_NAMES
from scaleright.transformer.flops import forward_flop
from scaleright.transformer.memory import bytes_per_parameter, decode_bytes_per_step, sequence_kv_bytes
from scaleright.units import si
from scaleright.validation.counts import SHAPE_TYPES
from scaleright.validation.left_out import TAILS, bounds, groups, held_out, left_out, median_and_p90, ranges, strangers
from scaleright.validation.report import Kind
from scaleright.validation.serving_cases import FIGURES, Case, cases, serving_row

MODES = {"": ("model", "accelerators", "software"), "model": ("model",), "release": ("software",), "chip": ("accelerator",)}
"""What a group shares that is left out of the fit when one of its runs is predicted; the first is the headline."""
FITTED = ("throughput", "TPOT", "ITL")
"""Figures that take part in fits; TTFT, mostly waiting, is set beside them by its factor."""
PROMPTED = ("chat", "code completion", "chat 2024", "code 2024")
"""Tasks of which nobody published how long their prompts are: one fitted constant each."""
LENGTHS = (120.0, 180.0, 270.0, 400.0, 600.0, 900.0, 1300.0, 1900.0, 2800.0)
"""Lengths among which that of a task is looked for [token]."""


def constants(of: Iterable[Case]) -> dict[tuple[str, str], float]:
    """The constants fitted to cases."""
    shares, named = zip(*((one.shares, one.names) for one in of))
    return pooling.fit(np.array(shares), np.array(named), PLAIN, TIES)


def factors(one: Case, by: dict[tuple[str, str], float]) -> dict[str, float]:
    """A case's slowdowns by kind of work, of fitted constants."""
    return {kind: pooling.kin_constant(by, name, kind)[0] for kind, name in one.families.items()}


def predicted(one: Case, by: dict[tuple[str, str], float]) -> float:
    """A case's figure by fitted constants, in its own unit."""
    slow = factors(one, by)
    if one.figure == "TTFT":
        return float(steady(one.deployment, one.load, **one.asked, slowdowns=slow).ttft_s)
    seconds = float(one.seconds @ list(slow.values()))
    return 1 / seconds if one.figure == "throughput" else seconds


def roofline(one: Case) -> float:
    """A case's figure by the datasheet: the longer of all weights touched and the cache over the bandwidth, and FLOP over the peak."""
    d, load, point = one.deployment, one.load, one.point
    batch, peak = float(point.batch), d.chips * d.chip.peak_flops(PEAK_NAMES.get(d.compute_format("experts"), d.compute_format("experts").lower()))
    moved = decode_bytes_per_step(d.model, batch, d.precision) + sequence_kv_bytes(d.model, load.context, batch, bytes_per_parameter(d.cache_format))
    each, prompt = (float(forward_flop(d.model, *of).total) for of in ((load.context, False, True), (load.input_tokens,)))
    if one.figure == "TTFT":
        return load.input_tokens * prompt / peak
    step_s = max(float(moved) / (d.chips * d.chip.require("memory_bytes_per_s")), batch * each / peak)
    if one.figure == "ITL":
        return step_s
    step_s += batch / load.output_tokens * load.input_tokens * prompt / peak
    return batch / step_s / d.chips if one.figure == "throughput" else step_s


def prompts() -> dict[str, float]:
    """Fitted tokens of a prompt by task of which nobody published them [token]."""
    rows = catalog.table("serving_constants")
    return rows[rows["constant"] == "prompt"].set_index("family")["value"].to_dict()


def _energy_rows(lengths: dict[str, float]) -> pd.DataFrame:
    """Measurements of energy that ask for text, in the columns of those of serving."""
    energy = catalog.table("measured/energy")
    text = energy[energy["task"].isin([*PROMPTED, "gpqa"])].to_dict("records")
    return pd.DataFrame([dict.fromkeys(catalog.table(KIND.table)) | serving_row(row, lengths) for row in text])


def book(lengths: dict[str, float] | None = None) -> tuple[pd.DataFrame, list[Case], np.ndarray]:
    """The book's figures, as rows and as cases, and which of them take part in fits."""
    energy = _energy_rows(prompts() if lengths is None else lengths)
    rows, every = cases(pd.concat([catalog.table(KIND.table), energy], ignore_index=True), KIND.table, False)
    return rows, every, np.array([not one.why and one.figure in FITTED for one in every]) & ~held_out(rows)


def fit_prompts(start: dict[str, float]) -> dict[str, float]:
    """Lengths of prompts that the measured figures agree with best, each task in turn, of `LENGTHS` [token]."""
    best, (rows, every, fitted) = dict(start), book(start)
    for task in PROMPTED:
        others = [one for one, use, of in zip(every, fitted, rows["task"]) if use and of != task]
        errors = {}
        for length in LENGTHS:
            energy = _energy_rows({task: length})
            of = others + [one for one in cases(energy[energy["task"] == task], task, False)[1] if not one.why]
            by = constants(of)
            errors[length] = np.mean([abs(math.log(predicted(one, by) / one.value)) for one in of])
        best[task] = min(errors, key=errors.get)
    return best


def refit(lengths: dict[str, float] | None = None) -> pd.DataFrame:
    """The table `serving_constants`, fitted anew to the book's measured runs.

    lengths : tokens of a prompt by task; by default the stored ones, which `fit_prompts` moves

    low, high : of a constant, over fits that leave one model out; of an "interval", what holds nine of ten measured over predicted
    figures of models (borrowed: and chips) that no run of the fit has
    """
    lengths = prompts() if lengths is None else lengths
    table, every, fitted = book(lengths)
    of, table = [one for one, use in zip(every, fitted) if use], table[fitted]
    models = groups(table, MODES["model"])
    without = [constants(one for one, its in zip(of, models) if its != model) for model in dict.fromkeys(models)]
    rows = []
    for name, kind, *span in ranges(constants(of), without):
        place = KINDS.index(kind)
        seen = sum(one.seconds[place] > 0.002 * one.measured_s and name == one.families[kind] for one in of)
        rows.append((name, kind, *span, seen, "fit" if seen else "assumed"))
    measured, classes = np.array([one.value for one in of]), np.array([spread_class(one.deployment, one.figure) for one in of])
    for suffix, columns in (("", MODES["model"]), (", borrowed", (*MODES["model"], *MODES["chip"]))):
        ratios = measured / strangers(of, table, columns, constants, predicted)
        for name in dict.fromkeys(classes):
            mine = ratios[classes == name]
            low, middle, high = np.quantile(mine, [TAILS[0], 0.5, TAILS[1]])
            rows.append((name + suffix, "interval", middle, low, high, len(mine), "quantile"))
    rows += [(task, "prompt", *[length] * 3, (table["task"] == task).sum(), "fit") for task, length in lengths.items()]
    rows += [(chip, "runs", *[count] * 4, "count") for chip, count in table.groupby("accelerator").size().items()]
    columns = ["family", "constant", "value", "low", "high", "rows", "basis"]
    return pd.DataFrame(rows, columns=columns).assign(source="scalerightserving", note="").round(4)


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    own = label != KIND.table
    table, every, fitted = book()
    rows, of = cases(rows.reset_index(drop=True), label, True) if own else (table, every)
    fits = [one for one, use in zip(every, fitted) if use]
    known = [one if one.point else None for one in of]
    values = np.array([one.value for one in of])
    judged = rows.assign(published=values, why=[_why(one) for one in of], scored=[not _why(one) for one in of])
    for mode, columns in MODES.items():
        its, name = groups(rows, columns), f" {mode} left out" if mode else ""
        found = left_out(known, its, fits, groups(table[fitted], columns), constants, predicted)
        judged["predicted"] = judged.get("predicted", found)
        judged[f"error_percent{name}"] = 100 * (found / values - 1)
    judged["baseline_error_percent"] = 100 * (np.array([roofline(one) if one.point else math.nan for one in of]) / values - 1)
    classes = np.array([spread_class(one.deployment, one.figure) if one.point else "" for one in of])
    span = bounds(np.where(judged["scored"] & ~held_out(rows), values / judged["predicted"], math.nan), classes, judged["model"].to_numpy(str))
    for place in np.flatnonzero(own | held_out(rows)):  # what the fit never sees gets the range that a reader's run gets
        one = of[place]
        span[place] = interval(one.deployment, one.figure) if one.point and one.figure in FITTED else math.nan
    low, high = (judged["predicted"] * span[:, side] for side in (0, 1))
    return judged.assign(
        kind=["" if one.point is None else "experts" if one.deployment.model.experts else "dense" for one in of],
        low=low, high=high, within_range=(low <= values) & (values <= high), width_percent=100 * (high - low) / judged["predicted"],
        family=["" if one.point is None else chip_family(one.deployment) for one in of],
    )  # fmt: skip


def _why(one: Case) -> str:
    """Why a case is not scored."""
    return one.why or ("" if one.figure in FITTED else "mostly waiting, which the run's start decides: judged by its factor")


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors by source, figure and family of chips: ours and the baseline's, how often and how widely the range holds; then as more is left out."""
    scored = rows[rows["scored"]]
    name = scored["source"] + " " + scored["figure"] + np.where(held_out(scored), ", never fitted", "")
    by = {"source and figure": name, "family of chips and kind of model": scored["family"] + ", " + scored["kind"]}
    found = {}
    for title, key in by.items():
        each = scored.groupby(key)
        order = each.size().sort_values(ascending=False, kind="stable").index
        errors = {words: each[f"error_percent{mode}"].agg(median_and_p90) for words, mode in (
            ("ours", ""), ("model out", " model left out"), ("release out", " release left out"), ("chip out", " chip left out"))}  # fmt: skip
        found[f"by {title}, median / p90 of the absolute error [%]; left out: the row's own group (ours), all of its model, release or chip"] = pd.DataFrame({
            "rows": each.size(), **errors, "roofline": each["baseline_error_percent"].agg(median_and_p90),
            "in range %": (100 * each["within_range"].mean()).round(0), "width %": each["width_percent"].median().round(0),
        }).loc[order]  # fmt: skip
    first = rows[(rows["figure"] == "TTFT") & rows["predicted"].notna()]
    if len(first):
        factor = np.exp(np.abs(np.log(first["predicted"] / first["published"]))).groupby(first["source"])
        found["TTFT, factor between predicted and measured"] = pd.DataFrame({
            "rows": factor.size(), "median": factor.median().round(2), "within 2 %": (100 * (factor.agg(lambda f: (f <= 2).mean()))).round(0),
        })  # fmt: skip
    return found


def _fill(rows: pd.DataFrame) -> dict[str, Any]:
    """What a reader's own file may leave out: by default all chips share each layer, at maximum load."""
    ones = ("pipeline_parallel", "expert_parallel", "attention_data_parallel")
    numbers = {"run": [f"line {line}" for line in range(2, len(rows) + 2)], "tensor_parallel": rows["accelerators"]}
    return dict.fromkeys(ones, 1) | numbers | {"mode": "aggregated", "scenario": "maximum load", "held_out": False}


def _line(row: Any) -> str:
    unit = "" if row.figure == "throughput" else "s"
    published, found = ("" if math.isnan(value) else si(value, unit) for value in (row.published, row.predicted))
    return f"{row.run:<58.58} {row.figure:<11}{published:>9}{found:>9}"


KIND = Kind(
    table="measured/serving",
    required=("model", "accelerator", "accelerators", "precision", "input_tokens", "output_tokens"),
    also=SHAPE_TYPES,
    fill=_fill,
    judge=_judge,
    line=_line,
    why=lambda row: row.why,
    shows="measured and predicted: tokens per second of a chip, or seconds",
    tables=_tables,
    fitted_constants=lambda: int((catalog.table("serving_constants")["basis"] == "fit").sum()),
    baseline="roofline of the datasheet: weights touched and cache over bandwidth, FLOP over peak",
    rule="throughput per chip, time per output token and median inter-token latency are predicted from configuration alone, with constants "
    "fitted without any run of the same model on as many chips with the same release; a row is scored if it states lengths, format and "
    "layout, and a load, if one pool of chips serves both phases, if no tokens are drafted, and if nothing marks it as beyond what "
    "datasheets allow; a run of so many requests is predicted as such",
)
