"""Measured energy of serving against the joules of predicted steps, each predicted by constants
fitted without its own group.

Two sets of constants are left out together: those of time (`inference.slowdowns`, fitted to speeds
of serving), and the draws of `inference.power`, fitted to measured power at measured speed. So the
energy of a token is predicted from configuration alone, and its error falls apart into that of the
speed and that of the watts.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog, pooling
from scaleright.inference.power import KINDS, LIMIT, PRIOR, families, interval, step_work
from scaleright.inference.serving import OperatingPoint
from scaleright.power import draw
from scaleright.units import si
from scaleright.validation import checks, cross_validation, serving
from scaleright.validation.cases import SHAPE_TYPES, UNDETERMINED, given
from scaleright.validation.report import Kind, Problem, where

MODES = {"": ("model", "accelerators", "software"), "model": ("model",), "chip": ("accelerator",)}
"""What a group shares that is left out of both fits when one of its runs is predicted; the first is
the headline.
"""
LASTING = ("static", "unpacking")
"""Kinds of draw that last as long as a step does."""


@dataclass(frozen=True, eq=False)  # a fit knows its cases by themselves
class Case:
    """A measured energy of an output token, or why its configuration does not determine it.

    timed : its throughput as a case of serving
    work : chip-seconds of an output token by kind of draw at full rate; of kinds that last as long
        as the token does, per second of it
    joules : measured energy of an output token within the boundary [J]
    design_watts : design power of a chip [W]
    host_watts : of a chip's share of the server, where the meter covered it [W]
    """

    why: str
    timed: serving.Case = serving.Case("throughput")
    work: np.ndarray = UNDETERMINED
    joules: float = math.nan
    design_watts: float = math.nan
    host_watts: float = 0.0

    @property
    def known(self) -> bool:
        """Whether the configuration determines the work."""
        return self.work is not None

    @property
    def kind(self) -> str:
        """Whose range it has: "dense" or "experts"."""
        kind = "experts" if self.known and self.timed.deployment.model.experts else "dense"
        return kind if self.known else ""

    @property
    def chip(self) -> catalog.Accelerator:
        """The accelerator."""
        return self.timed.deployment.chip

    def full_s(self, token_s: float) -> np.ndarray:
        """Chip-seconds at full rate by kind of draw, of an output token that takes so many
        chip-seconds [s].
        """
        return self.work * [token_s if kind in LASTING else 1.0 for kind in KINDS]

    def predict(self, shares: Iterable[float], token_s: float) -> float:
        """Energy of an output token by shares of the design power and chip-seconds [J]."""
        drawn = float(np.dot(list(shares), self.full_s(token_s)))
        return self.design_watts * min(drawn, LIMIT * token_s) + self.host_watts * token_s


def _work(point: OperatingPoint) -> np.ndarray:
    """Chip-seconds at full rate of an output token, by kind of draw."""
    d, load, beat = point.deployment, point.load, point.rhythm
    plain = step_work(d, 1.0, point.batch, load.context, query_tokens=load.queries)
    mixed = step_work(
        d, 1.0, beat.beside, load.context, beat.chunk, load.prompt_context, load.queries
    )
    mean = np.array(
        [float((1 - beat.carrying) * plain[kind] + beat.carrying * mixed[kind]) for kind in KINDS]
    )
    tokens = float(beat.requests * load.output_tokens)
    return mean * [1.0 if kind in LASTING else d.chips / tokens for kind in KINDS]


def case(row: dict[str, Any], timed: serving.Case | None) -> Case:
    """A row as a case, given its throughput as a case of serving where it states enough for
    that.
    """
    if timed is None:
        return Case("the length of its prompts, its layout or its batch is not stated")
    if timed.point is None:
        return Case(timed.why)
    if row["boundary"] == "facility":
        return Case("its building's share of the energy is not stated")
    chip = timed.deployment.chip
    host = draw(chip.name, "serving").host_watts if row["boundary"] == "server" else 0.0
    drawn = row["measured_watts"] / row["measured_output_tokens_per_s"]
    joules = given(row, "measured_joules_per_token", drawn)
    why = timed.why or ("" if joules > 0 else "states neither energy nor power")
    return Case(why, timed, _work(timed.point), joules, chip.require("tdp_watts"), host)


def own_cases(rows: pd.DataFrame, label: str) -> list[Case]:
    """A reader's rows as cases; errors as `serving.cases` raises them."""
    asked = serving.asked_rows(rows)
    timed = serving.cases(asked, label, True, ["throughput"])[1]
    return [case(*both) for both in zip(rows.to_dict("records"), timed, strict=True)]


@catalog.shared
def book() -> cross_validation.Book:
    """The book's energy; its rows share their throughput with those of serving."""
    table, (timed_rows, timed, _) = catalog.table(KIND.table), serving.book()
    by_run = {
        run: one
        for run, one in zip(timed_rows["run"], timed, strict=True)
        if one.figure == "throughput"
    }
    every = [case(row, by_run.get(row["run"])) for row in table.to_dict("records")]
    fitted = np.array([not one.why and not one.host_watts for one in every])
    return cross_validation.Book(table, every, fitted & ~cross_validation.held_out(table))


def constants(of: Sequence[Case], among: np.ndarray) -> list[pooling.Constants]:
    """The draws fitted to cases at their measured speeds, as `cross_validation.Fit`."""
    shares = np.array(
        [one.full_s(one.timed.measured_s) * one.design_watts / one.joules for one in of]
    )
    named = np.array([list(families(one.chip).values()) for one in of])
    return pooling.fit_pooled(shares, named, PRIOR, among)


def predicted(of: tuple[Case, float], draws: pooling.Constants) -> float:
    """Energy of an output token of a case at a speed [token/s of a chip], by fitted draws [J]."""
    one, speed = of
    return one.predict(
        (pooling.constant(draws, (name,), kind)[0] for kind, name in families(one.chip).items()),
        1 / speed,
    )


SUBJECT = cross_validation.Subject(
    book=book,
    modes=MODES,
    fit=constants,
    predict=predicted,
    value=lambda one: one.joules,
    kind=lambda one: one.kind,
    interval=lambda one, row: interval(one.timed.deployment),
    table="energy_constants",
    source="scalerightenergy",
)


def _predictions(
    of: Sequence[Case], by: Callable[[cross_validation.Subject, Sequence[Any]], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speeds [token/s of a chip], energies of an output token [J], and these at the measured
    speeds.

    by : predictions of a subject's cases
    """
    speeds = by(serving.SUBJECT, [one.timed if one.known else None for one in of])
    energies, metered = (
        by(SUBJECT, [(one, at) if one.known else None for one, at in zip(of, ends, strict=True)])
        for ends in (speeds, [one.timed.value for one in of])
    )
    return speeds, energies, metered


def _without(
    of: Sequence[Case], rows: pd.DataFrame, columns: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by constants without a case's group."""
    return _predictions(
        of, lambda subject, part: cross_validation.leave_group_out(subject, part, rows, columns)
    )


def refit() -> pd.DataFrame:
    """The table `energy_constants`, fitted anew to the book's measured energy.

    low, high : of a constant, over fits that leave one model out; of an "interval", what holds nine
        of ten measured over predicted energies of runs whose model (for chips that borrow: whose
        chip) neither fit saw
    """

    def shows(one: Case, name: str, kind: str) -> bool:
        return one.work[KINDS.index(kind)] > 0 and name in ("any", families(one.chip)[kind])

    of, table = book().fits()
    near, far = (_without(of, table, MODES[mode])[1] for mode in ("model", "chip"))
    return cross_validation.refitted(SUBJECT, shows, near, far)


def _impossible(rows: pd.DataFrame) -> Iterator[Problem]:
    """Figures that contradict each other or that no chips reach."""
    names = ("joules_per_token", "joules_per_request", "watts", "output_tokens_per_s", "itl_s")
    joules, asked, watts, speed, gap_s = (checks.floats(rows, f"measured_{of}") for of in names)
    yield from checks.apart(
        rows,
        watts / speed / joules,
        "measured_joules_per_token",
        "contradicts measured_watts over measured_output_tokens_per_s",
    )
    yield from checks.apart(
        rows,
        asked / joules / checks.floats(rows, "output_tokens"),
        "measured_joules_per_request",
        "contradicts measured_joules_per_token for output_tokens",
    )
    yield from checks.one_stream(rows, speed, gap_s, "batch", 1.5)
    most = rows["boundary"].map(checks.OVER_DESIGN_POWER).astype(float) * checks.design_watts(rows)
    yield from where(
        rows,
        watts / checks.floats(rows, "accelerators") > most,
        "measured_watts",
        lambda row: (
            f"{row.measured_watts:g} W is more than {row.accelerators} {row.accelerator} can draw,"
            f" {most[row.Index] * row.accelerators:,.0f} W"
        ),
    )
    yield from checks.below_peak(rows, "measured_output_tokens_per_s", rows["accelerators"])


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    own, rows = label != KIND.table, rows.reset_index(drop=True)
    of = own_cases(rows, label) if own else book().cases
    measured = np.array([one.joules for one in of])
    over = measured / [one.timed.value for one in of]

    def predictions(columns: Sequence[str]) -> dict[str, np.ndarray]:
        rate, found, metered = (
            _predictions(of, cross_validation.Subject.stored)
            if own
            else _without(of, rows, columns)
        )
        return {"": found, "speed_": rate * over, "watts_": metered}

    floor = np.array(
        [one.design_watts / serving.roofline(one.timed) if one.known else math.nan for one in of]
    )
    return cross_validation.cross_validated(
        SUBJECT,
        rows.assign(
            published=measured,
            scored=[not one.why for one in of],
            why=[one.why for one in of],
            kind=[one.kind for one in of],
        ),
        of,
        own,
        predictions,
        baseline_error_percent=100 * (floor / measured - 1),
        family=rows["accelerator"] + ", " + rows["software"].fillna("engine not stated"),
    )


def _tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Errors by chip and engine: of the energy of a token, and of the speed and the watts that it
    comes from.
    """
    errors = {
        "energy": "error_percent",
        "speed": "speed_error_percent",
        "watts at measured speed": "watts_error_percent",
        "model out": "error_percent model left out",
        "chip out": "error_percent chip left out",
        "roofline": "baseline_error_percent",
    }
    title = (
        "by chip and engine, median / p90 of the absolute error [%]; left out: the row's own group,"
        " its model, its chip"
    )
    return {
        title: (
            cross_validation.errors_by(rows[rows["scored"]], "family", errors)
            .drop(columns="width %")
            .sort_index()
        )
    }


KIND = Kind(
    table="measured/energy",
    required=(
        "model",
        "accelerator",
        "accelerators",
        "precision",
        "batch",
        "input_tokens",
        "output_tokens",
        "measured_watts",
        "measured_output_tokens_per_s",
    ),
    also=SHAPE_TYPES,
    # all chips share the model by tensor parallelism, and the meter covered them alone
    fill={
        "tensor_parallel": lambda rows: rows["accelerators"],
        "expert_parallel": 1,
        "data_parallel": 1,
        "task": "chat",
        "boundary": "accelerator",
    },
    check=checks.staged(
        checks.basics,
        checks.of_each_run(lambda row: serving.checked(serving.asked(row))),
        _impossible,
    ),
    judge=_judge,
    columns={"run": 80, "accelerator": 13},
    figure=lambda _, value: si(value, "J"),
    shows="measured and predicted energy of an output token",
    tables=_tables,
    fitted=SUBJECT.table,
    baseline=(
        "a roofline: weights touched and cache over the bandwidth or FLOP over the peak, at the"
        " design power"
    ),
    rule=(
        "the energy of an output token is predicted from configuration alone: time by slowdowns and"
        " watts by draws that were fitted without any run of the same model on as many chips with"
        " the same engine; a row is scored if it states layout, batch and lengths (or its task's"
        " prompts have a fitted length), if its model's shape is published, and if no lesser chip"
        " is faster with all else the same (such rows are bound by the host); where the meter"
        " covered the server, the host's draw is added, and the row takes part in no fit"
    ),
    caveat=(
        "the two engine generations differ in prompts and scheduling, so that their rows are not to"
        " be compared with each other"
    ),
)
