"""Rows of measured serving as the model sees them: what was served, on what, at which load, and the
figure that was measured.

A row may state several figures (throughput, TPOT, ITL, TTFT): each is a case of its own. All but
TTFT are linear in the slowdowns.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.inference.deployment import MEMORY_SHARE, Deployment
from scaleright.inference.lengths import Load, trace
from scaleright.inference.phases import KINDS, StepSeconds
from scaleright.inference.serving import EVEN, OperatingPoint, offline, room, steady
from scaleright.inference.slowdowns import families
from scaleright.names import one_of
from scaleright.validation.cases import UNDETERMINED, configuring, given, model_of, once
from scaleright.validation.report import FIRST_LINE, bar

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
        return (
            _parts(point.step)
            * point.deployment.chips
            / float(point.rhythm.requests * point.load.output_tokens)
        )
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
    return (
        "does not state its concurrency"
        if latency and pd.isna(row["batch"]) and pd.isna(row["concurrency"])
        else ""
    )


def _asked(row: Mapping[str, Any], deployment: Deployment, load: Load) -> dict[str, float]:
    """The concurrency or batch that a row states; a batch that does not fit is a mean that counts
    those who wait.
    """
    if given(row, "concurrency", 0):
        return {"concurrency": float(row["concurrency"])}
    return (
        {"batch": min(float(row["batch"]), float(room(deployment, load)))}
        if given(row, "batch", 0)
        else {}
    )


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
    return {
        "deployment": deployment,
        "load": load,
        "asked": asked,
        "point": point,
        "families": families(deployment),
    }


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
