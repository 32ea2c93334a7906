"""Measured training runs against the predicted time of their steps, each predicted by constants
fitted without its own group.

The constants of `training.slowdowns` are refitted for every group that is left out: runs of one
model on one number of chips with one release of the software (the headline), and more strictly all
runs of a model, a release, a number of chips or a chip.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog, pooling
from scaleright.roofline import PEAK_NAMES
from scaleright.training.machine import COMPUTE
from scaleright.training.parts import KINDS
from scaleright.training.slowdowns import FIXED, PRIOR, borrowed, constant, family, fit, interval
from scaleright.units import si
from scaleright.validation import cases, checks, cross_validation
from scaleright.validation.report import FIRST_LINE, Kind, Problem, each

MODES = {
    "": ("model", "accelerators", "software"),
    "model": ("model",),
    "release": ("software",),
    "cluster size": ("accelerators",),
    "chip": ("accelerator",),
}
"""What a group shares that is left out of the fit when one of its runs is predicted; the first is
the headline.
"""

FLOP_COUNTS = 3.0
"""Ratio of two ways to count the FLOP of a step (up to 2)."""
TURNS = 4
"""Turns of fitting and hiding after which no prediction moves by more than a thousandth."""


def _slow(one: cases.Case, by: pooling.Constants) -> dict[str, float]:
    """A case's slowdowns, of fitted constants."""
    return {kind: constant(by, name, kind)[0] for kind, name in one.families.items()}


def _slow_in_each(
    found: Sequence[pooling.Constants], names: Sequence[str]
) -> dict[str, np.ndarray]:
    """The slowdowns of a case of these families, by each of several fits."""
    return {
        kind: np.array([constant(by, name, kind)[0] for by in found])
        for kind, name in zip(KINDS, names, strict=True)
    }


def _shares(one: cases.Case, slow: Mapping[str, Any]) -> np.ndarray:
    """What each kind of work of a case shows at measured peaks, over the measured time."""
    return one.seconds(slow) / one.measured_s


@lru_cache(maxsize=2)
def _unfitted(of: tuple[cases.Case, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The cases' shares where no constant is known yet, (cases, kinds), and which of them depend on
    the constants: those in which less computing hides less.
    """
    shown, less, more = (
        np.array([_shares(one, PRIOR | {kind: by * PRIOR[kind] for kind in COMPUTE}) for one in of])
        for by in (1.0, 0.5, 2.0)
    )
    return shown, np.any(np.abs(more - less) > 1e-9, axis=1)


def constants(of: Sequence[cases.Case], among: np.ndarray) -> list[pooling.Constants]:
    """The constants fitted to cases, as `cross_validation.Fit`.

    What hides depends on the constants and they on what shows: each fit finds both in turns, from
    what is known before any case is seen.
    """
    shares, moves = _unfitted(tuple(of))
    named = np.array([list(one.families.values()) for one in of])
    aim = np.ones(among.shape)
    found = fit(shares, named, among)
    for _ in range(TURNS):
        slowed = {
            names: _slow_in_each(found, names) for names in sorted({tuple(row) for row in named})
        }
        for place, one in enumerate(of):
            if not moves[place]:
                continue
            slow = slowed[tuple(named[place])]
            moved = _shares(one, slow) - shares[place, :, None]
            aim[:, place] = 1 - sum(slow[kind] * by for kind, by in zip(KINDS, moved, strict=True))
        found = fit(shares, named, among, aim)
    return found


def _predicted(one: cases.Case, by: pooling.Constants) -> float:
    """A case's step time [s] by fitted constants."""
    slow = _slow(one, by)
    return float(one.seconds(slow) @ list(slow.values()))


def _ideal(one: cases.Case) -> float:
    """Time of a step at the datasheet's dense peak."""
    return one.flop / one.run.chips / one.run.chip.peak_flops(PEAK_NAMES[one.run.precision])


def _class(one: cases.Case) -> tuple[str, str, str]:
    """What the look-up looks up: chip, format, and whether the model has experts."""
    return one.run.chip.name, one.run.precision, "experts" if one.run.model.experts else "dense"


def _features(one: cases.Case) -> list[float]:
    """What the regression knows of a run: eight numbers."""
    run, layout = one.run, one.layout
    sizes = run.model.hidden, run.model.layers, run.sequence, run.chips, layout.micro_batch
    peak = run.chip.peak_flops(PEAK_NAMES[run.precision])
    return [1.0, *map(math.log, sizes), float(layout.recompute), math.log(peak)]


def _baselines(
    of: Sequence[cases.Case], rows: pd.DataFrame, columns: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Step times by the dumb look-up (median MFU by chip, format and kind of model) and by a
    regression of log MFU a chip, both without the runs that share these columns with a case.
    """
    book, table = _book().fits()
    its, keys = cross_validation.groups(rows, columns), cross_validation.groups(table, columns)
    ideal, features, classes = (
        np.array([known(one) for one in book]) for known in (_ideal, _features, _class)
    )
    rates, among = ideal / [one.measured_s for one in book], set(keys)
    looked, regressed = np.full(len(of), math.nan), np.full(len(of), math.nan)
    known: dict[tuple, tuple[float, np.ndarray]] = {}
    for place, (one, group) in enumerate(zip(of, its, strict=True)):
        if one.run is None:
            continue
        alike = (group if group in among else "", *_class(one))
        if alike not in known:
            rest, same = keys != group, classes == np.array(_class(one))
            known[alike] = _median_and_line(rest, same, rates, features)
        median, weights = known[alike]
        looked[place] = _ideal(one) / median
        regressed[place] = _ideal(one) / math.exp(
            np.clip(np.array(_features(one)) @ weights, -4, 0)
        )
    return looked, regressed


def _median_and_line(
    rest: np.ndarray, same: np.ndarray, rates: np.ndarray, features: np.ndarray
) -> tuple[float, np.ndarray]:
    """The median MFU of the rest of the book's runs that are most like a run, and the weights of
    the logarithm of MFU on its chip.

    rest : runs of the book outside the run's group
    same : whether chip, format and kind of model are the run's, (runs, 3)
    """
    narrower = (rest & same[:, :last].all(axis=1) for last in (3, 2, 1))
    known = next((found for found in (*narrower, rest & same[:, 1]) if found.any()), rest)
    line = rest & same[:, 0]
    line = line if line.sum() > len(features[0]) else rest
    weights = np.linalg.lstsq(features[line], np.log(rates[line]), rcond=1e-6)[0]
    return float(np.median(rates[known])), weights


@catalog.remembered
def _book() -> cross_validation.Book:
    table = catalog.table(KIND.table)
    every = cases.cases(table)
    return cross_validation.Book(
        table, every, np.array([not one.why for one in every]) & ~cross_validation.held_out(table)
    )


def _software(row: Mapping[str, Any]) -> str | None:
    return cases.given(row, "software", None)


SUBJECT = cross_validation.Subject(
    book=_book,
    modes=MODES,
    fit=constants,
    predict=_predicted,
    value=lambda one: one.measured_s,
    kind=lambda one: _class(one)[-1] if one.run else "",
    interval=lambda one, row: interval(one.run, _software(row), row["source"]),
    table="training_constants",
    source="scalerighttraining",
    alone=lambda one, row: not borrowed(one.run, _software(row)),
    fixed=FIXED,
)


def refit() -> pd.DataFrame:
    """The table `training_constants`, fitted anew to the book's measured runs.

    low, high : of a constant, over fits that leave one model out; of an "interval", what holds nine
        of ten measured over predicted times of runs that share neither model, number of chips nor
        release (for chips that borrow: nor chip) with any run of the fit, those of sources that no
        fit sees among them
    """
    of, table = _book().fits()
    found = SUBJECT.whole_fit(of)
    shares = {one: _shares(one, _slow(one, found)) for one in of}

    def shows(one: cases.Case, name: str, kind: str) -> bool:
        return shares[one][KINDS.index(kind)] > 0.005 and name in ("any", one.families[kind])

    near, far = (
        cross_validation.leave_group_out(SUBJECT, of, table, columns, apart=True)
        for columns in (MODES[""], (*MODES[""], *MODES["chip"]))
    )
    return cross_validation.refitted(SUBJECT, shows, near, far)


@catalog.shared
def steps_left_out(mode: str = "") -> pd.DataFrame:
    """The book's scored rows with `error_percent`, each predicted without what one of `MODES`
    leaves out, rounded to what a fit gives alike on every machine: what `validate` finds for all
    modes and baselines, which takes five times as long.
    """
    table, every, _ = _book()
    predicted = cross_validation.leave_group_out(SUBJECT, _determined(every), table, MODES[mode])
    off = 100 * (predicted / np.array([one.measured_s for one in every]) - 1)
    return table.assign(error_percent=off.round(4))[[not one.why for one in every]]


def _determined(of: Sequence[cases.Case]) -> list[cases.Case | None]:
    """The cases that can be predicted; None for the others."""
    return [None if one.run is None else one for one in of]


def _unrunnable(rows: pd.DataFrame) -> Iterator[Problem]:
    """Layouts that cannot run."""
    names = cases.configuring(rows)
    return each(rows, names, cases.once(cases.configuration, names, keep=True))


def _impossible(rows: pd.DataFrame) -> Iterator[Problem]:
    """Figures that contradict each other or that no chips reach."""
    step, rate = (
        checks.floats(rows, f"measured_{of}") for of in ("step_s", "tokens_per_s_per_accelerator")
    )
    batch, sequence, chips = (
        rows[name].astype(float) for name in ("global_batch", "sequence", "accelerators")
    )
    yield from checks.apart(
        rows,
        step * rate * chips / (batch * sequence),
        "measured_tokens_per_s_per_accelerator",
        "contradicts measured_step_s: it takes tokens of a step over its time",
    )
    ran = cases.configured(rows, cases.configuration, "checking", keep=True)
    for line, (row, of) in zip(rows.index, ran, strict=True):
        if (
            not of.why
            and (seconds := cases.step_s(row)) > 0
            and (said := _beyond(row, of, seconds))
        ):
            yield Problem(int(line) + FIRST_LINE, "", said)


def _beyond(row: dict[str, Any], of: cases.Configuration, seconds: float) -> str:
    """What the peak of its chips or the FLOP of its model say against a step, if anything."""
    peak = of.run.chip.peak_flops(PEAK_NAMES[of.run.precision])
    least_s, counted = (
        of.flop / of.run.chips / peak,
        cases.measured(row, "model_flops_per_accelerator"),
    )
    if seconds < least_s:
        return f"a step of {seconds:.3g} s is faster than the chips' peak, {least_s:.3g} s"
    if counted > peak:
        return f"{counted:.3g} FLOP/s of a chip is above its peak of {peak:.3g}"
    times = counted * seconds * of.run.chips / of.flop
    if counted > 0 and not 1 / FLOP_COUNTS < times < FLOP_COUNTS:
        return f"the FLOP of a step that it states are {times:.3g} times those of the model"
    return ""


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    own = not label.startswith(KIND.table)
    rows = rows.reset_index(drop=True)
    of = _book().cases if label == KIND.table else cases.cases(rows, own)
    judged = rows.assign(
        published=[one.measured_s for one in of],
        scored=[not one.why for one in of],
        why=[one.why for one in of],
    )

    def predictions(columns: Sequence[str]) -> dict[str, np.ndarray]:
        looked, regressed = _baselines(of, rows, columns)
        ours = cross_validation.leave_group_out(SUBJECT, _determined(of), rows, columns)
        return {"": ours, "baseline_": looked, "regression_": regressed}

    families = {name: family(catalog.accelerator(name)) for name in set(rows["accelerator"])}
    families = rows["accelerator"].map(families)
    return cross_validation.cross_validated(SUBJECT, judged, of, own, predictions, family=families)


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors by source: ours and both baselines, how often and how widely the range holds; then
    ours as ever more is left out.
    """
    scored = rows[rows["scored"]]
    few = (scored["source"] == "llmfoundry") & (
        scored["precision"] == "FP8"
    )  # seven, of another format than all others there
    words = (
        (scored["kind"] == "experts", ", experts"),
        (few, ", FP8"),
        (cross_validation.held_out(scored), ", never fitted"),
    )
    key = sum((np.where(of, word, "").astype(object) for of, word in words), start=scored["source"])
    modes = {
        f"{mode} out": f"error_percent {mode} left out"
        for mode in ("model", "release", "cluster size", "chip")
    }
    baselines = {"look-up": "baseline_error_percent", "regression": "regression_error_percent"}
    every = cross_validation.errors_by(scored, key, {"ours": "error_percent"} | modes | baselines)
    stricter = list(modes)[1:]
    return {
        "by source, median / p90 of the absolute error [%]; left out: the row's own group (ours),"
        " its whole model (model out)": every.drop(columns=stricter),
        "the same for ours, with all runs of its release, cluster size or chip left out": (
            every[stricter]
        ),
    }


KIND = Kind(
    table="measured/training",
    required=("model", "accelerator", "accelerators", "precision", "sequence", "global_batch"),
    often=(
        "tensor_parallel",
        "pipeline_parallel",
        "context_parallel",
        "expert_parallel",
        "virtual_pipeline",
        "micro_batch",
        "sharding",
        "recompute",
        "software",
        "measured_step_s",
        "measured_tokens_per_s_per_accelerator",
    ),
    also=cases.SHAPE_TYPES,
    # all is data parallel, one sequence at a time, in today's Megatron
    fill={
        "micro_batch": 1,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "context_parallel": 1,
        "expert_parallel": 1,
        "virtual_pipeline": 1,
        "task": "pretrain",
        "routing": "balanced",
    },
    check=checks.staged(checks.basics, _unrunnable, _impossible),
    judge=_judge,
    columns={"run": 64, "accelerator": 13},
    figure=lambda _, value: si(value, "s"),
    shows="measured and predicted time of a step",
    tables=_tables,
    fitted=SUBJECT.table,
    baseline="median measured MFU of the chip, format and kind of model, the same runs left out",
    rule=(
        "the time of a step is predicted from configuration alone, with constants fitted without"
        " any run of the same model on as many chips with the same release; a row is scored if it"
        " states sequence, batches and layout, if its model's shape is published, if no tokens are"
        " dropped and no expert is split, and if its layout as printed can run and fits; where"
        " recomputation is not stated there is none"
    ),
    caveat=(
        "a mixture of experts unlike the fitted ones can be far off: gpt-oss-120b, which no fit has"
        " seen, is predicted a fifth too fast, though what its biased, clamped experts read and"
        " write one operation at a time is counted"
    ),
)
