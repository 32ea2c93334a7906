"""Measured serving against predicted throughput and latency, each predicted by constants fitted
without its own group.

The constants of `inference.slowdowns` are fitted at once to throughput under maximum load,
throughput and median inter-token latency at a given batch, and time per output token at a given
concurrency. They are refitted for every group that is left out: runs of one model on one number of
chips with one release of the software (the headline), and more strictly all runs of a model, a
release or a chip.

A row may state several figures (throughput, TPOT, ITL, TTFT): each is a case of its own. All but
TTFT are linear in the slowdowns.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog, pooling
from scaleright.architecture import Transformer
from scaleright.inference.deployment import MEMORY_SHARE, Deployment
from scaleright.inference.lengths import Load, trace
from scaleright.inference.phases import KINDS, StepSeconds
from scaleright.inference.serving import EVEN, OperatingPoint, offline, room, steady
from scaleright.inference.slowdowns import (
    PLAIN,
    TIES,
    borrowed,
    chip_family,
    evidence,
    families,
    interval,
    spread_class,
)
from scaleright.names import one_of
from scaleright.roofline import PEAK_NAMES
from scaleright.transformer import memory
from scaleright.transformer.flops import forward_flop
from scaleright.transformer.parameters import active_parameters
from scaleright.units import si
from scaleright.validation import checks, cross_validation
from scaleright.validation.cases import (
    SHAPE_TYPES,
    UNDETERMINED,
    configuring,
    given,
    model_of,
    once,
)
from scaleright.validation.report import FIRST_LINE, Kind, Problem, bar, where

# Rows of measured serving as the model sees them: what was served, on what, at which load, and the
# figure that was measured


FIGURES = {
    "throughput": "measured_output_tokens_per_s_per_accelerator",
    "TPOT": "measured_tpot_s",
    "ITL": "measured_itl_s",
    "TTFT": "measured_ttft_s",
}
"""What may be measured, and its column. Throughput is of one chip."""
NO_PROMPTS: Mapping[str, float] = MappingProxyType({})
TRACES = {"chat": "azure conversation", "code": "azure code"}
"""Published traces whose prompts spread as those of a task of people's own words."""
SHAREGPT = "azure conversation"
"""The published trace as whose lengths those of ShareGPT, whose own spread nobody published, are
taken to spread: chats as well.
"""


@dataclass(frozen=True, eq=False)  # a fit knows its cases by themselves
class Case:
    """A figure that its configuration determines; one that it does not says `why`.

    value : the figure measured
    asked : the batch or concurrency of the row, as `steady` takes it; empty for maximum load
    alike : whether all its requests are of one length
    point : the operating point at measured peaks
    seconds : seconds of each kind of work at measured peaks in the time that the figure stands for:
        of a token written by the chip (throughput), or between two tokens of a sequence [s]
    families : the family of each kind's constant
    """

    figure: str
    why: str = ""
    value: float = math.nan
    deployment: Deployment = UNDETERMINED
    load: Load = UNDETERMINED
    asked: Mapping[str, float] = UNDETERMINED
    alike: bool = False
    point: OperatingPoint = UNDETERMINED
    seconds: np.ndarray = UNDETERMINED
    families: dict[str, str] = UNDETERMINED

    @cached_property
    def shares(self) -> np.ndarray:
        """Time of each kind of work at measured peaks over the figure as a time [1]."""
        return self.seconds / self.measured_s

    @cached_property
    def names(self) -> np.ndarray:
        """The family of each kind of work, as an array."""
        return np.array(list(self.families.values()))

    @property
    def measured_s(self) -> float:
        """The figure as a time [s]."""
        return 1 / self.value if self.figure == "throughput" else self.value


def serving_row(row: Mapping[str, Any], prompts: Mapping[str, float]) -> dict[str, Any]:
    """A row of `measured/energy` in the columns of `measured/serving`.

    prompts : tokens of a prompt by task, where the row does not state them [token]

    Of ranks that experts are spread over, each that is not an attention group of its own shares
    attention (vLLM, tensor parallel); what degrees do not fill are stages of a pipeline.
    """
    chips, data = row["accelerators"], int(row["data_parallel"])
    tensor = chips // data if row["expert_parallel"] > 1 else int(row["tensor_parallel"])
    return dict(row) | {
        "tensor_parallel": tensor,
        "attention_data_parallel": data,
        "pipeline_parallel": chips // (tensor * data),
        "input_tokens": given(row, "input_tokens", prompts.get(row["task"], math.nan)),
        "mode": "aggregated",
        "scenario": "concurrency",
        FIGURES["throughput"]: row["measured_output_tokens_per_s"] / chips,
    }


def _parts(step: StepSeconds) -> np.ndarray:
    return np.array([float(np.sum(getattr(step, f"{kind}_s"))) for kind in KINDS])


def _seconds(figure: str, point: OperatingPoint) -> np.ndarray:
    """Seconds by kind of what a figure stands for."""
    if figure == "throughput":
        tokens = float(point.rhythm.requests * point.load.output_tokens)
        return _parts(point.step) * point.deployment.chips / tokens
    if figure == "ITL":
        return _parts(point.median_step)
    return _parts(point.token_step) / point.load.tokens_per_step


def _deployment(row: Mapping[str, Any]) -> Deployment:
    chip = catalog.accelerator(row["accelerator"])
    data = int(given(row, "attention_data_parallel", 1))
    return Deployment(
        model_of(row),
        chip,
        row["precision"],
        int(given(row, "tensor_parallel", 1)),
        int(given(row, "pipeline_parallel", 1)),
        int(given(row, "expert_parallel", 1)),
        data,
        kv_precision=given(row, "kv_precision", None),
        software=given(row, "software", ""),
        max_sequences=given(row, "max_sequences", None),
        memory_share=1.0 if given(row, "batch", 0) else MEMORY_SHARE,
    )


def _undetermined(row: Mapping[str, Any]) -> str:
    """Why a row's configuration does not determine its figures; empty if it does."""
    for column in ("input_tokens", "output_tokens", "tensor_parallel", "precision"):
        if pd.isna(row[column]):
            return f"does not state {column}"
    if row["mode"] != "aggregated":
        return "prefill and decode on pools of their own"
    if given(row, "scenario", "maximum load") not in ("maximum load", "concurrency", "one batch"):
        return f"the load of scenario {row['scenario']} is not stated"
    if given(row, "draft_tokens", 0):
        return "drafts tokens, and does not state how many are accepted"
    latency = any(given(row, FIGURES[name], 0) for name in ("TPOT", "ITL", "TTFT"))
    untold = latency and pd.isna(row["batch"]) and pd.isna(row["concurrency"])
    return "does not state its concurrency" if untold else ""


def _asked(row: Mapping[str, Any], deployment: Deployment, load: Load) -> dict[str, float]:
    """The concurrency or batch that a row states; a batch that does not fit is a mean that counts
    those who wait.
    """
    if given(row, "concurrency", 0):
        return {"concurrency": float(row["concurrency"])}
    if given(row, "batch", 0):
        return {"batch": min(float(row["batch"]), float(room(deployment, load)))}
    return {}


def _whole(row: Mapping[str, Any]) -> tuple[Deployment, Load]:
    """What serves what; raises ValueError where the layout does not make up the chips."""
    deployment = _deployment(row)
    if deployment.chips != row["accelerators"]:
        raise ValueError(
            f"tensor x pipeline x attention_data = {deployment.chips}, allowed: accelerators ="
            f" {row['accelerators']}"
        )
    load = Load(float(row["input_tokens"]), float(row["output_tokens"]))
    return deployment, replace(load, **_spread(row))


def _spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """How widely the lengths of a row spread, as fields of a load."""
    if drawn := given(row, "lengths", ""):
        chats, even = trace(SHAREGPT), Load(1, 1, 0.0, EVEN, EVEN)
        of = {"uniform": even, "ShareGPT": chats}[one_of(drawn, ("uniform", "ShareGPT"), "lengths")]
        return {"input_cv": of.input_cv, "output_cv": of.output_cv}
    like = [of for task, of in TRACES.items() if str(given(row, "task", "")).startswith(task)]
    return {"input_cv": trace(like[0]).input_cv} if like else {}


def checked(row: Mapping[str, Any]) -> None:
    """Refuse a row of which no request could be served, before anything is predicted.

    Raises
    ------
    LookupError, ValueError : an unknown name, a rule that the layout breaks, no room; says what is
        allowed.
    """
    if not _undetermined(row):
        room(*_whole(row))


def _alike(row: Mapping[str, Any]) -> bool:
    return bool(given(row, "same_lengths", False))


def served(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row ran, as fields of a case, at measured peaks."""
    deployment, load = _whole(row)
    asked, requests = _asked(row, deployment, load), given(row, "requests", 0)
    point = (
        offline(deployment, load, requests, **asked, slowdowns={})
        if requests
        else steady(deployment, load, **asked, slowdowns={}, alike=_alike(row))
    )
    ran = {"deployment": deployment, "load": load, "asked": asked, "point": point}
    return ran | {"families": families(deployment)}


def _of_row(
    row: Mapping[str, Any],
    where: str,
    own: bool,
    figures: Sequence[str],
    served_by: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> list[Case]:
    """Each of these figures that a row states as a case; one without any counts as the first.

    Raises
    ------
    LookupError, DataError : a value of a reader's own file that cannot be used: which line, which
        column, what is allowed.
    """
    values = {name: float(given(row, FIGURES[name], math.nan)) for name in figures}
    stated = [name for name, value in values.items() if not math.isnan(value)] or [*figures[:1]]
    why = _undetermined(row) or (
        ""
        if own or row["model"] in catalog.models(own=False)
        else "its model's shape is not published"
    )
    ran: dict[str, Any] = {}
    try:
        ran = {} if why else served_by(row)
    except (ValueError, LookupError) as error:
        why = str(error)
        if own:
            raise type(error)(f"{where}: {why}") from None
    note = given(row, "note", "")
    why = why or ("anomaly: " + note.partition("anomaly: ")[2] if "anomaly: " in note else "")
    return [
        Case(
            name,
            why or ("" if values[name] > 0 else f"states no {name}"),
            values[name],
            **ran,
            alike=_alike(row),
            seconds=_seconds(name, ran["point"]) if ran else UNDETERMINED,
        )
        for name in stated
    ]


def cases(
    rows: pd.DataFrame, label: str, own: bool, figures: Sequence[str] = tuple(FIGURES)
) -> tuple[pd.DataFrame, list[Case]]:
    """Every figure of every row, of these, as a frame of rows with the column `figure` and as
    cases; errors as `_of_row` raises them.
    """
    served_by = once(served, configuring(rows))
    found = [
        _of_row(row, f"{label}, line {line}", own, figures, served_by)
        for line, row in enumerate(bar(rows.to_dict("records"), "predicting"), FIRST_LINE)
    ]
    every = [one for of in found for one in of]
    return (
        rows.iloc[np.repeat(range(len(rows)), list(map(len, found)))]
        .reset_index(drop=True)
        .assign(figure=[one.figure for one in every]),
        every,
    )


def asked(row: Mapping[str, Any], prompts: Mapping[str, float] = NO_PROMPTS) -> dict[str, Any]:
    """A row of energy as one of serving, as `serving_row`, with every column of that table."""
    return dict.fromkeys(_serving_columns()) | serving_row(row, prompts)


def asked_rows(energy: pd.DataFrame, prompts: Mapping[str, float] = NO_PROMPTS) -> pd.DataFrame:
    """Rows of energy as those of serving, as `asked`."""
    return pd.DataFrame([asked(row, prompts) for row in energy.to_dict("records")])


@catalog.remembered
def _serving_columns() -> tuple[str, ...]:
    return tuple(f["name"] for f in catalog.resource("measured/serving")["schema"]["fields"])


# What measured serving is predicted by without a model of it: the roofline of the datasheet, and
# the median of what was measured on the chip


@functools.lru_cache(1000)  # most measure the same models at the same lengths
def _flop(model: Transformer, *of: Any) -> float:
    """FLOP of a token, of what `forward_flop` is asked."""
    return float(forward_flop(model, *of).total)


def roofline(one: Case) -> float:
    """A case's figure by the datasheet: the longer of all weights touched and the cache over the
    bandwidth, and FLOP over the peak.
    """
    d, load, batch = one.deployment, one.load, float(one.point.batch)
    form = d.compute_format("experts")
    peak = d.chips * d.chip.peak_flops(PEAK_NAMES.get(form, form.lower()))
    moved = memory.decode_bytes_per_step(d.model, batch, d.precision) + memory.sequence_kv_bytes(
        d.model, load.context, batch, memory.bytes_per_parameter(d.cache_format)
    )
    each, prompt = _flop(d.model, load.context, False, True), _flop(d.model, load.input_tokens)
    if one.figure == "TTFT":
        return load.input_tokens * prompt / peak
    step_s = max(
        float(moved) / (d.chips * d.chip.require("memory_bytes_per_s")), batch * each / peak
    )
    if one.figure == "ITL":
        return step_s
    step_s += batch / load.output_tokens * load.input_tokens * prompt / peak
    return batch / step_s / d.chips if one.figure == "throughput" else step_s


def _likeness(one: Case) -> tuple:
    """What the look-up looks up, the decisive first: chip, format, and the lengths of requests."""
    lengths = f"{one.load.input_tokens:g}", f"{one.load.output_tokens:g}"
    return one.deployment.chip.name, one.deployment.precision, *lengths


def looked_up(of: Sequence[Case | None], rows: pd.DataFrame) -> np.ndarray:
    """Throughput as any reader could look it up, of other groups: the median of what was measured
    on the chip in the format and at the lengths, as far as anything was, scaled by active
    parameters; NaN for other figures [token/s].
    """
    fits, table = SUBJECT.book().fits()
    speeds = np.array([one.figure == "throughput" for one in fits])
    known = [*compress(fits, speeds)]
    places, its = (
        cross_validation.groups(table[speeds], MODES[""]),
        cross_validation.groups(rows, MODES[""]),
    )
    classes = np.array([_likeness(one) for one in known])
    rates = np.array([one.value * active_parameters(one.deployment.model).total for one in known])
    found = np.full(len(of), math.nan)
    for place, (one, group) in enumerate(zip(of, its, strict=True)):
        if one is None or one.figure != "throughput":
            continue
        rest, same = places != group, classes == np.array(_likeness(one))
        alike = next(
            (mask for last in (4, 2, 1) if (mask := rest & same[:, :last].all(axis=1)).any()), rest
        )
        found[place] = np.median(rates[alike]) / active_parameters(one.deployment.model).total
    return found


MODES = {
    "": ("model", "accelerators", "software"),
    "model": ("model",),
    "release": ("software",),
    "chip": ("accelerator",),
}
"""What a group shares that is left out of the fit when one of its runs is predicted; the first is
the headline.
"""
FITTED = ("throughput", "TPOT", "ITL")
"""Figures that take part in fits; TTFT, mostly waiting, is set beside them by its factor."""
PROMPTED = ("chat", "code completion", "code 2024")
"""Tasks of which nobody published how long their prompts are: one fitted constant each; chats of
2024 count as chats.
"""
LENGTHS = (120.0, 180.0, 270.0, 600.0, 900.0, 1300.0, 1900.0, 2800.0)
"""Lengths among which that of a task is looked for [token]."""

WAITING = "mostly waiting: judged by its factor"
"""Why TTFT is not scored."""
UNTOLD = "does not state its concurrency, and so not what waits"
"""Why a TTFT is not predicted: how many run is known, how many wait is not."""
BENCHMARK_ROUNDS = 10
"""Requests of a run over its concurrency, all clients beginning at once: how InferenceX measures
[inferencemax2026].
"""


def constants(of: Sequence[Case], among: np.ndarray) -> list[pooling.Constants]:
    """The constants fitted to cases, as `cross_validation.Fit`."""
    shares, named = zip(*((one.shares, one.names) for one in of), strict=True)
    return pooling.fit(np.array(shares), np.array(named), PLAIN, TIES, among)


def factors(one: Case, by: pooling.Constants) -> dict[str, float]:
    """A case's slowdowns by kind of work, of fitted constants."""
    return {kind: pooling.kin_constant(by, name, kind)[0] for kind, name in one.families.items()}


def predicted(one: Case, by: pooling.Constants) -> float:
    """A case's figure by fitted constants, in its own unit."""
    slow = factors(one, by)
    if one.figure == "TTFT":
        burst = BENCHMARK_ROUNDS * one.asked.get("concurrency", math.inf)
        run = {"requests": burst, "alike": one.alike, "slowdowns": slow}
        return float(steady(one.deployment, one.load, **one.asked, **run).ttft_s)
    seconds = float(one.seconds @ list(slow.values()))
    return 1 / seconds if one.figure == "throughput" else seconds


def prompts() -> dict[str, float]:
    """Fitted tokens of a prompt by task of which nobody published them [token]."""
    found = {
        name: value
        for (name, constant), (value, _, _) in catalog.fitted("serving_constants").items()
        if constant == "prompt"
    }
    return found | {"chat 2024": found["chat"]}


def _energy_rows(lengths: dict[str, float]) -> pd.DataFrame:
    """Measurements of energy that ask for text, in the columns of those of serving."""
    energy = catalog.table("measured/energy")
    return asked_rows(energy[energy["task"].isin([*PROMPTED, "chat 2024", "gpqa"])], lengths)


def book(lengths: dict[str, float] | None = None) -> cross_validation.Book:
    """The book's figures, with prompts of these lengths, or the stored ones."""
    rows, every = _book(tuple((prompts() if lengths is None else lengths).items()))
    fitted = np.array([not one.why and one.figure in FITTED for one in every])
    return cross_validation.Book(rows.copy(), every, fitted & ~cross_validation.held_out(rows))


@catalog.shared
def _book(lengths: tuple[tuple[str, float], ...]) -> tuple[pd.DataFrame, list[Case]]:
    return cases(
        pd.concat([catalog.table(KIND.table), _energy_rows(dict(lengths))], ignore_index=True),
        KIND.table,
        False,
    )


def fit_prompts(start: dict[str, float]) -> dict[str, float]:
    """Lengths of prompts that the measured figures agree with, each task in turn [token].

    Of `LENGTHS` the shortest with which the mean error of all figures is within a hundredth of the
    least: what prompts take and what hosts take for each sequence stand for each other, and with
    longer ones the arithmetic of prompts would draw less power than it is measured to.
    """
    best, (rows, every, fitted) = dict(start), book(start)
    for task in PROMPTED:
        others = [
            one
            for one, use, of in zip(every, fitted, rows["task"], strict=True)
            if use and not str(of).startswith(task)
        ]
        errors = {}
        for length in LENGTHS:
            energy = _energy_rows({task: length, f"{task} 2024": length})
            mine = [
                one
                for one in cases(energy[energy["task"].str.startswith(task)], task, False)[1]
                if not one.why
            ]
            of = others + mine
            by = SUBJECT.whole_fit(of)
            errors[length] = np.mean([abs(math.log(predicted(one, by) / one.value)) for one in of])
        best[task] = min(
            length for length, error in errors.items() if error <= 1.01 * min(errors.values())
        )
    return best | {"chat 2024": best["chat"]}


def _kind(one: Case) -> str:
    """Whose range a figure has."""
    ranged = one.point is not None and one.figure in FITTED
    return spread_class(one.deployment, one.figure) if ranged else ""


SUBJECT = cross_validation.Subject(
    book=book,
    modes=MODES,
    fit=constants,
    predict=predicted,
    value=lambda one: one.value,
    kind=_kind,
    interval=lambda one, row: interval(one.deployment, one.figure, row["source"]),
    table="serving_constants",
    source="scalerightserving",
    alone=lambda one, row: not borrowed(one.deployment),
)


def beside_predictions(rows: pd.DataFrame, label: str, figure: str) -> pd.DataFrame:
    """Those published rows that determine a figure, with what was measured, what the stored
    constants predict and what the plain roofline says of it: measured, predicted and roofline, in
    the figure's unit.

    label : words for where the rows stand
    """
    found, every = cases(rows, label, False, [figure])
    kept = [not one.why for one in every]
    known = [*compress(every, kept)]
    return found[kept].assign(
        measured=[one.value for one in known],
        predicted=SUBJECT.stored(known),
        roofline=[roofline(one) for one in known],
    )


def refit(lengths: dict[str, float] | None = None) -> pd.DataFrame:
    """The table `serving_constants`, fitted anew to the book's measured runs.

    lengths : tokens of a prompt by task; by default the stored ones, which `fit_prompts` moves

    low, high : of a constant, over fits that leave one model out; of an "interval", what holds nine
        of ten measured over predicted figures of models (borrowed: and chips) that no run of the
        fit has, those of sources that no fit sees among them
    """
    lengths = prompts() if lengths is None else lengths
    subject = replace(SUBJECT, book=lambda: book(lengths))
    of, table = subject.book().fits()

    def shows(one: Case, name: str, kind: str) -> bool:
        return one.families[kind] == name and one.shares[KINDS.index(kind)] > 0.002

    near, far = (
        cross_validation.leave_group_out(subject, of, table, columns, apart=True)
        for columns in (MODES["model"], (*MODES["model"], *MODES["chip"]))
    )
    rows = [
        (task, "prompt", *[lengths[task]] * 3, table["task"].str.startswith(task).sum(), "fit")
        for task in PROMPTED
    ]
    shown = pd.Series([evidence(one.deployment) for one in of]).value_counts(sort=False)
    rows += [(name, "runs", *[count] * 4, "count") for name, count in shown.items()]
    return cross_validation.refitted(subject, shows, near, far, rows)


def _waits(one: Case) -> str:
    """Why a TTFT is not scored."""
    return UNTOLD if _untold(one) else WAITING


def _untold(one: Case) -> bool:
    """Whether a TTFT is measured at a load of which only those that run are known."""
    return one.figure == "TTFT" and one.point is not None and "batch" in one.asked


def _impossible(rows: pd.DataFrame) -> Iterator[Problem]:
    """Figures that contradict each other or that no chips reach."""
    names = FIGURES["throughput"], FIGURES["TPOT"], "measured_tpot_p99_s"
    each, token_s, tail_s = (checks.floats(rows, name) for name in names)
    speed = each * checks.floats(rows, "accelerators")
    yield from checks.one_stream(rows, speed, token_s, "concurrency", 1 + checks.AGREE)
    low = lambda row: "is below measured_tpot_s, its middle"
    yield from where(rows, tail_s < token_s, "measured_tpot_p99_s", low)
    yield from checks.below_peak(rows, FIGURES["throughput"], 1.0)


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    own = not label.startswith(KIND.table)
    rows, of = (
        SUBJECT.book()[:2]
        if label == KIND.table
        else cases(rows.reset_index(drop=True), label, own)
    )
    known = [one if one.point and not _untold(one) else None for one in of]
    values = np.array([one.value for one in of])
    why = [one.why or ("" if one.figure in FITTED else _waits(one)) for one in of]
    flat = np.array([roofline(one) if one.point else math.nan for one in of])
    return cross_validation.cross_validated(
        SUBJECT,
        rows.assign(published=values, why=why, scored=[not reason for reason in why]),
        of,
        own,
        lambda columns: {"": cross_validation.leave_group_out(SUBJECT, known, rows, columns)},
        lookup_error_percent=100 * (looked_up(known, rows) / values - 1),
        baseline_error_percent=100 * (flat / values - 1),
        family=[chip_family(one.deployment) if one.point else "" for one in of],
    )


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors by source and figure and by chip and model: ours, as ever more is left out, and the
    roofline's; then TTFT by its factor.
    """
    scored = rows[rows["scored"]]
    modes = {f"{mode} out": f"error_percent {mode} left out" for mode in MODES if mode}
    baselines = {"look-up": "lookup_error_percent", "roofline": "baseline_error_percent"}
    errors = {"ours": "error_percent"} | modes | baselines
    kind = scored["kind"].str.extract(", (.*)")[0]
    unseen = np.where(cross_validation.held_out(scored), ", never fitted", "")
    by = {
        "source and figure": scored["source"] + " " + scored["figure"] + unseen,
        "family of chips and kind of model": scored["family"] + ", " + kind,
    }
    words = (
        "median / p90 of the absolute error [%]; left out: the row's own group (ours), all of its"
        " model, release or chip"
    )
    found = {
        f"by {title}, {words}": cross_validation.errors_by(scored, key, errors)
        for title, key in by.items()
    }
    first = rows[(rows["figure"] == "TTFT") & rows["predicted"].notna()]
    factor = np.exp(np.abs(np.log(first["predicted"] / first["published"])))
    factor = factor.groupby(first["source"])
    near = 100 * factor.agg(lambda each: (each <= 2).mean())
    if len(first):
        waits = pd.DataFrame({"rows": factor.size(), "median": factor.median().round(2)})
        waits["within a factor of 2, %"] = near.round(0)
        found["time to the first token, factor between predicted and measured"] = waits
    return found


KIND = Kind(
    table="measured/serving",
    required=("model", "accelerator", "accelerators", "precision", "input_tokens", "output_tokens"),
    often=(
        "tensor_parallel",
        "pipeline_parallel",
        "expert_parallel",
        "attention_data_parallel",
        "kv_precision",
        "software",
        "scenario",
        "lengths",
        "requests",
        "concurrency",
        "batch",
        "measured_output_tokens_per_s_per_accelerator",
        "measured_ttft_s",
        "measured_tpot_s",
        "measured_tpot_p99_s",
    ),
    also=SHAPE_TYPES,
    # all chips share each layer, at maximum load
    fill={
        "tensor_parallel": lambda rows: rows["accelerators"],
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "attention_data_parallel": 1,
        "mode": "aggregated",
        "scenario": "maximum load",
        "held_out": False,
    },
    check=checks.staged(checks.basics, checks.of_each_run(checked), _impossible),
    judge=_judge,
    columns={"run": 58, "figure": 10},
    figure=lambda row, value: si(value, "" if row.figure == "throughput" else "s"),
    shows="measured and predicted: tokens per second of a chip, or seconds",
    tables=_tables,
    fitted=SUBJECT.table,
    baseline=(
        "roofline of the datasheet: weights touched and cache over bandwidth, FLOP over peak"
        " (beside it, for throughput, the median measured on the chip in the format, scaled by"
        " active parameters, the same runs left out)"
    ),
    rule=(
        "throughput per chip, time per output token and median inter-token latency are predicted"
        " from configuration alone, with constants fitted without any run of the same model on as"
        " many chips with the same release; a row is scored if it states lengths, format and"
        " layout, and a load, if one pool of chips serves both phases, if no tokens are drafted,"
        " and if nothing marks it as beyond what datasheets allow; a run of so many requests is"
        " predicted as such, to its last answer"
    ),
)
