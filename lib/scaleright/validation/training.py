"""Measured training runs against the predicted time of their steps, each predicted by constants fitted without its own group.

The constants of `training.slowdowns` are refitted for every group that is left out: runs of one model on one number of chips with
one release of the software (the headline), and more strictly all runs of a model, a release, a number of chips or a chip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Iterable

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.architecture import stacked
from scaleright.roofline import PEAK_NAMES
from scaleright.training.layout import RECOMPUTE, Layout, TrainingRun
from scaleright.training.memory import FSDP_FUSED_LOSS, MEGATRON, training_memory
from scaleright.training.parts import KINDS, Machine, Mode, machine, physical_parts
from scaleright.training.rules import check
from scaleright.training.slowdowns import FIXED, Stack, constant, families, family, fit, interval, stack
from scaleright.training.step import model_flop
from scaleright.units import si
from scaleright.validation.counts import SHAPE_TYPES, model_of
from scaleright.validation.report import Kind

MODES = {
    "": ("model", "accelerators", "software"), "model": ("model",), "release": ("software",), "cluster size": ("accelerators",),
    "chip": ("accelerator",),
}  # fmt: skip
"""What a group shares that is left out of the fit when one of its runs is predicted; the first is the headline."""
COVERAGE = 0.9
_LAYOUT = {
    "tensor": "tensor_parallel", "pipeline": "pipeline_parallel", "context": "context_parallel", "expert": "expert_parallel",
    "virtual": "virtual_pipeline", "micro_batch": "micro_batch",
}  # fmt: skip
_STATED = ("sequence", "global_batch", "micro_batch", "tensor_parallel", "pipeline_parallel", "context_parallel")


@dataclass(frozen=True)
class Case:
    """A row as the model sees it: what was run and how, by which stack, and how long a step took; `why` it is not scored."""

    run: TrainingRun | None
    layout: Layout | None
    stack: Stack
    measured_s: float
    why: str
    flop: float = math.nan
    """Model FLOP of a step as its publisher counts them, ours (causal) where it does not say."""
    seconds: np.ndarray | None = None
    """Time of each kind of work at measured peaks [s]."""
    families: dict[str, str] | None = None
    """The family of each kind's constant."""


def _given(row: dict[str, Any], column: str, default: Any) -> Any:
    return default if pd.isna(row[column]) else row[column]


def _too_large(run: TrainingRun, layout: dict[str, Any], of: Stack) -> bool:
    """Whether a layout cannot fit, even where every layer is recomputed."""
    return not training_memory(run, Layout(**layout, recompute=2), software=FSDP_FUSED_LOSS if of.native else MEGATRON).fits(run)


def _case(row: dict[str, Any], where: str, own: bool) -> Case:
    of = stack(_given(row, "software", None), _given(row, "compiled", None))

    def apart(why: str) -> Case:
        return Case(None, None, of, math.nan, why)

    if not own and row["model"] not in catalog.models():
        return apart("its model's shape is not published")
    model = model_of(row, where)
    try:
        chip = catalog.accelerator(row["accelerator"])
        if network := _given(row, "scale_out_bytes_per_s", None):
            chip = replace(chip, scale_out_bytes_per_s=network)
    except LookupError as error:
        raise LookupError(f"{where}, column accelerator: {error}") from None
    if lacking := [column for column in _STATED if pd.isna(row[column])]:
        return apart(f"does not state {', '.join(lacking)}")
    if row["routing"] == "token drop":
        return apart("drops tokens, so that its work is not that of its tokens")
    if model.experts and pd.isna(row["expert_parallel"]):
        return apart("does not state expert_parallel")
    if row["pipeline_parallel"] > 1 and pd.isna(row["virtual_pipeline"]):
        return apart("does not state virtual_pipeline")
    run = TrainingRun(model, chip, int(row["accelerators"]), int(row["sequence"]), int(row["global_batch"]), row["precision"], row["task"],
                      int(_given(row, "mtp_modules", 0)))  # fmt: skip
    degrees = {field: int(_given(row, column, 1)) for field, column in _LAYOUT.items()}
    split = degrees["tensor"] * degrees["pipeline"] * degrees["context"]
    if own and pd.isna(row["data_parallel"]) and run.chips % split:
        degree = " x ".join(_LAYOUT[field] for field in ("tensor", "pipeline", "context"))
        raise catalog.DataError(f"{where}: {degree} = {split} does not divide accelerators = {run.chips}")
    layout = degrees | {
        "data": _given(row, "data_parallel", run.chips / split), "zero": int(_given(row, "sharding", 3 if of.native else 1)),
        "sequence_parallel": int(_given(row, "sequence_parallel", degrees["tensor"] > 1)),
    }  # fmt: skip
    try:
        check(run, Layout(**layout))
    except ValueError as error:
        if own:
            raise catalog.DataError(f"{where}: {error}") from None
        return apart(f"its layout as printed cannot run: {error}")
    stated = _given(row, "recompute", None)
    again = RECOMPUTE.index(stated or "none")
    if not stated and _too_large(run, layout, of):
        return apart("its layout as printed does not fit in memory")
    measured = _given(row, "measured_step_s", None)
    measured = measured or run.global_batch * run.sequence / run.chips / _given(row, "measured_tokens_per_s_per_accelerator", math.nan)
    rate = _given(row, "measured_model_flops_per_accelerator", None)
    flop = float(rate * run.chips * measured) if rate and measured > 0 else float(model_flop(run))
    return Case(run, Layout(**layout, recompute=again), of, float(measured), "" if measured > 0 else "states no time of a step", flop)


def _stack_numbers(objects: list[Any]) -> Any:
    """Many frozen objects of numbers as one whose fields are arrays."""
    return type(objects[0])(**{field.name: np.array([float(getattr(one, field.name)) for one in objects]) for field in fields(objects[0])})


def _timed(of: list[Case]) -> list[Case]:
    """Cases with the time of each kind of work, all found in one broadcast call."""
    ready = [case for case in of if case.run is not None]
    if not ready:
        return of
    machines = [machine(case.run.chip, case.run.precision) for case in ready]
    links = {name: np.array([one.links[name] for one in machines]) for name in machines[0].links}
    numbers = {field.name: np.array([float(getattr(one, field.name)) for one in machines]) for field in fields(Machine) if field.name != "links"}
    flags = np.array([[case.run.task == "lora", case.run.mtp_modules, case.stack.fused_attention, case.stack.by_op, case.stack.low_gather]
                      for case in ready], dtype=float)
    parts = physical_parts(
        stacked(case.run.model for case in ready), Machine(**numbers, links=links), np.array([float(case.run.sequence) for case in ready]),
        np.array([float(case.run.global_batch) for case in ready]), _stack_numbers([case.layout for case in ready]), Mode(*flags.T),
    )  # fmt: skip
    seconds = np.array([np.broadcast_to(sum(parts.seconds(kind)), len(ready)) for kind in KINDS]).T
    found = iter(seconds)
    return [case if case.run is None else replace(case, seconds=next(found), families=families(case.run, case.stack)) for case in of]


def cases(rows: pd.DataFrame, label: str, own: bool) -> list[Case]:
    """Every row as a case.

    Raises
    ------
    LookupError, DataError : a value of a reader's own file that cannot be used: which line, which column, what is allowed.
    """
    return _timed([_case(row, f"{label}, line {line}", own) for line, row in enumerate(rows.to_dict("records"), 2)])


def constants(of: Iterable[Case]) -> dict[tuple[str, str], float]:
    """The constants fitted to cases."""
    of = list(of)
    return fit(np.array([case.seconds / case.measured_s for case in of]), np.array([list(case.families.values()) for case in of], dtype=object))


def _predict(case: Case, fitted: dict[tuple[str, str], float]) -> float:
    return float(case.seconds @ [constant(fitted, name, kind)[0] for kind, name in case.families.items()])


def _groups(rows: pd.DataFrame, columns: tuple[str, ...]) -> list[tuple]:
    return list(rows[list(columns)].astype(str).fillna("").itertuples(index=False, name=None))


def _left_out(of: list[Case], groups: list[tuple], book: list[Case], book_groups: list[tuple]) -> np.ndarray:
    """Each case's step time by constants fitted to the book's cases outside its group."""
    predicted, fits = np.full(len(of), math.nan), {}
    for place, (case, group) in enumerate(zip(of, groups)):
        if case.run is None:
            continue
        if group not in fits:
            fits[group] = constants(other for other, its in zip(book, book_groups) if its != group)
        predicted[place] = _predict(case, fits[group])
    return predicted


def _features(case: Case) -> list[float]:
    """What the regression of the second baseline knows of a run: eight numbers."""
    run, lay = case.run, case.layout
    return [
        1.0, math.log(run.model.hidden), math.log(run.model.layers), math.log(run.sequence), math.log(run.chips),
        math.log(lay.micro_batch), float(lay.recompute), math.log(run.chip.peak_flops(PEAK_NAMES[run.precision])),
    ]  # fmt: skip


def _ideal(case: Case) -> float:
    """Time of a step at the datasheet's dense peak."""
    return case.flop / case.run.chips / case.run.chip.peak_flops(PEAK_NAMES[case.run.precision])


def _class(case: Case) -> tuple[str, str, str]:
    """What the look-up looks up: chip, format, and whether the model has experts."""
    return case.run.chip.name, case.run.precision, "experts" if case.run.model.experts else "dense"


def _baselines(of: list[Case], groups: list[tuple], book: list[Case], book_groups: list[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """Step times by the dumb look-up (median MFU by chip, format and kind of model) and by a regression of log MFU a chip, groups left out alike."""

    ideal, features, classes = (np.array([known(case) for case in book]) for known in (_ideal, _features, _class))
    rates, keys = ideal / [case.measured_s for case in book], np.array(["|".join(group) for group in book_groups])
    looked, regressed = np.full(len(of), math.nan), np.full(len(of), math.nan)
    for place, (case, group) in enumerate(zip(of, groups)):
        if case.run is None:
            continue
        rest, same = keys != "|".join(group), classes == np.array(_class(case))
        narrower = (rest & same[:, :last].all(axis=1) for last in (3, 2, 1))
        known = next((found for found in (*narrower, rest & same[:, 1]) if found.any()), rest)
        looked[place] = _ideal(case) / np.median(rates[known])
        line = rest & same[:, 0]
        line = line if line.sum() > len(features[0]) else rest
        weights = np.linalg.lstsq(features[line], np.log(rates[line]), rcond=1e-6)[0]
        regressed[place] = _ideal(case) / math.exp(np.clip(np.array(_features(case)) @ weights, -4, 0))
    return looked, regressed


def _bounds(ratios: np.ndarray, kinds: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Bounds of measured over predicted time of each case, from the cases of its kind of other models."""
    bounds = np.full((len(ratios), 2), math.nan)
    tails = [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2]
    for model, kind in set(zip(models, kinds)):
        others = ratios[(kinds == kind) & (models != model) & np.isfinite(ratios)]
        if len(others) > 10:
            bounds[(models == model) & (kinds == kind)] = np.quantile(others, tails)
    return bounds


def _book() -> tuple[pd.DataFrame, list[Case], np.ndarray]:
    """The book's table, its cases, and which of them take part in fits."""
    table = catalog.table(KIND.table)
    every = cases(table, KIND.table, False)
    apart = table["held_out"].eq(True).to_numpy(bool, na_value=False)
    return table, every, np.array([not case.why for case in every]) & ~apart


def refit() -> pd.DataFrame:
    """The table `training_constants`, fitted anew to the book's measured runs.

    low, high : of a constant, over fits that leave one model out; of an "interval", what holds nine of ten measured over predicted
    times of models and of releases (for chips that borrow: of chips) which the fit has not seen
    """
    table, every, fitted = _book()
    book = [case for case, use in zip(every, fitted) if use]
    shares = np.array([case.seconds / case.measured_s for case in book])
    named = [case.families for case in book]
    whole = constants(book)
    models = _groups(table[fitted], MODES["model"])
    without = [constants(case for case, its in zip(book, models) if its != model) for model in dict.fromkeys(models)]
    rows = []
    for (name, kind), value in whole.items():
        others = [found.get((name, kind), value) for found in without]
        place = KINDS.index(kind)
        seen = sum(share[place] > 0.005 and name in ("any", its[kind]) for share, its in zip(shares, named))
        rows.append({"family": name, "constant": kind, "value": value, "low": min(*others, value), "high": max(*others, value), "rows": seen,
                     "basis": "assumed" if kind in FIXED else "fit"})  # fmt: skip
    measured = np.array([case.measured_s for case in book])
    experts = np.array([bool(case.run.model.experts) for case in book])
    ratios = {mode: measured / _left_out(book, groups, book, groups) for mode in MODES for groups in [_groups(table[fitted], MODES[mode])]}
    for suffix, modes in (("", ("model", "release")), (", borrowed", ("chip",))):
        for kind, mine in (("dense", ~experts), ("experts", experts)):
            unseen = np.concatenate([ratios[mode][mine] for mode in modes])
            low, middle, high = np.quantile(unseen, [(1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2])
            rows.append({"family": kind + suffix, "constant": "interval", "value": middle, "low": low, "high": high, "rows": mine.sum(),
                         "basis": "quantile"})  # fmt: skip
    for chip, count in table[fitted].groupby("accelerator").size().items():
        rows.append({"family": chip, "constant": "runs", "value": count, "low": count, "high": count, "rows": count, "basis": "count"})
    return pd.DataFrame(rows).assign(source="scalerighttraining", note="").round(4)


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    own = label != KIND.table
    rows = rows.reset_index(drop=True)
    table, every, fitted = _book()
    of = cases(rows, label, own) if own else every
    book = [case for case, use in zip(every, fitted) if use]
    measured = np.array([case.measured_s for case in of])
    judged = rows.assign(published=measured, scored=[not case.why for case in of], why=[case.why for case in of])
    for mode, columns in MODES.items():
        groups, book_groups = _groups(rows, columns), [g for g, use in zip(_groups(table, columns), fitted) if use]
        name = f" {mode} left out" if mode else ""
        predicted = _left_out(of, groups, book, book_groups)
        looked, regressed = _baselines(of, groups, book, book_groups)
        judged[f"error_percent{name}"] = 100 * (predicted / measured - 1)
        judged[f"baseline_error_percent{name}"] = 100 * (looked / measured - 1)
        judged[f"regression_error_percent{name}"] = 100 * (regressed / measured - 1)
        if not mode:
            judged["predicted"] = predicted
    kinds = np.array(["" if case.run is None else "experts" if case.run.model.experts else "dense" for case in of])
    software = [_given(row, "software", None) for row in rows.to_dict("records")]
    bounds = (
        np.array([interval(case.run, name) if case.run else (math.nan,) * 2 for case, name in zip(of, software)]) if own
        else _bounds(np.where(judged["scored"], measured / judged["predicted"], math.nan), kinds, judged["model"].to_numpy(str))
    )  # fmt: skip
    low, high = (judged["predicted"] * bounds[:, side] for side in (0, 1))
    return judged.assign(
        kind=kinds, low=low, high=high, within_range=(low <= measured) & (measured <= high),
        width_percent=100 * (high - low) / judged["predicted"], family=[family(catalog.accelerator(name)) for name in rows["accelerator"]],
        source=judged["source"],
    )  # fmt: skip


def _fill(rows: pd.DataFrame) -> dict[str, Any]:
    return {
        "run": [f"line {line}" for line in range(2, len(rows) + 2)], "task": "pretrain", "micro_batch": 1, "tensor_parallel": 1,
        "pipeline_parallel": 1, "context_parallel": 1, "expert_parallel": 1, "virtual_pipeline": 1, "routing": "balanced", "software": None,
    }  # fmt: skip


def _line(row: Any) -> str:
    def say(value: float) -> str:
        return "" if math.isnan(value) else si(value, "s")

    return f"{row.run:<64.64}{row.accelerator:<14}{say(row.published):>10}{say(row.predicted):>10}"


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors by source: ours and both baselines, how often and how widely the range holds; then ours as ever more is left out."""
    scored = rows[rows["scored"]]
    apart = np.where(scored["held_out"].eq(True).to_numpy(bool, na_value=False), ", never fitted", "")
    groups = scored.groupby(scored["source"] + np.where(scored["kind"] == "experts", ", experts", "") + apart)
    order = groups.size().sort_values(ascending=False, kind="stable").index

    def errors(column: str) -> pd.Series:
        return groups[column].agg(_median_and_p90)

    beside = pd.DataFrame({
        "rows": groups.size(), "ours": errors("error_percent"), "model out": errors("error_percent model left out"),
        "look-up": errors("baseline_error_percent"), "regression": errors("regression_error_percent"),
        "in range %": (100 * groups["within_range"].mean()).round(0), "width %": groups["width_percent"].median().round(0),
    }).loc[order]  # fmt: skip
    strict = pd.DataFrame({f"{mode} out": errors(f"error_percent {mode} left out") for mode in MODES if mode not in ("", "model")}).loc[order]
    return {
        "by source, median / p90 of the absolute error [%]; left out of the fit: the row's own group (ours), its whole model (model out)": beside,
        "the same for ours, with all runs of its release, cluster size or chip left out": strict,
    }


def _median_and_p90(errors: pd.Series) -> str:
    middle, far = errors.abs().quantile([0.5, 0.9])
    return f"{middle:.1f} / {far:.0f}"


KIND = Kind(
    table="measured/training",
    required=("model", "accelerator", "accelerators", "precision", "sequence", "global_batch"),
    also=SHAPE_TYPES,
    fill=_fill,
    judge=_judge,
    line=_line,
    why=lambda row: row.why,
    shows="measured and predicted time of a step",
    group="family",
    tables=_tables,
    fitted_constants=lambda: int((catalog.table("training_constants")["basis"] == "fit").sum()),
    baseline="median measured MFU of the chip, format and kind of model, the same runs left out",
    rule="the time of a step is predicted from configuration alone, with constants fitted without any run of the same model on as many chips "
    "with the same release; a row is scored if it states sequence, batches and layout, if its model's shape is published, if no tokens are "
    "dropped, and if its layout as printed can run and fits; where recomputation is not stated there is none",
)
