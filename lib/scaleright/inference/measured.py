"""Measured serving: published operating points, and the seconds of an accelerator that each kind of token takes.

A benchmark states output tokens per second at one shape of request, a prompt of so many tokens and an answer of so
many. Several shapes of one system tell apart what reading, writing and remembering cost: a request takes
`per_input_s` for each token of its prompt (prefill), `per_output_s` for each token of its answer (its share of a
decode step), and `per_context_s` for each pair of an answer's token and a token that it looks back on (reading the
KV cache, and the room that the cache takes from other requests).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from scaleright import catalog
from scaleright.formulas import NON_NEGATIVE, POSITIVE, SHARE, Breakdown, closed_form, lookup, search
from scaleright.names import one_of

SPEED = "measured_output_tokens_per_s_per_accelerator"
SYSTEM = ("model", "accelerator", "accelerators", "precision", "tensor_parallel", "pipeline_parallel", "attention_data_parallel", "software")
"""What must be the same for two shapes to be of one system."""
LEAST_SHAPES = 4
"""Shapes that a split needs: three figures are fitted, and one shape must be left to check them."""


@dataclass(frozen=True)
class RequestSeconds(Breakdown):
    """Seconds of one accelerator that a request takes: reading the prompt, writing the answer, looking back."""

    input_s: Any
    output_s: Any
    context_s: Any


@closed_form(
    input_tokens=NON_NEGATIVE, output_tokens=POSITIVE, cached_share=SHARE, per_input_s=NON_NEGATIVE, per_output_s=NON_NEGATIVE,
    per_context_s=NON_NEGATIVE,
)
def request_seconds(input_tokens, output_tokens, cached_share, per_input_s, per_output_s, per_context_s) -> RequestSeconds:
    """Seconds of one accelerator that a request takes at full load, by parts [s].

    Parameters
    ----------
    input_tokens, output_tokens : tokens of the prompt and of the answer [token]
    cached_share : share of the prompt found in a cache of prefixes, which is not read again [1]
    per_input_s, per_output_s : seconds per token [s]
    per_context_s : seconds per token of the answer and token in its view, on average the prompt and half the answer [s]

    Source: prefill is linear in the prompt, decoding in the answer, attention in the context [pope2022, section 3].

    >>> request_seconds(1000.0, 1000.0, 0.0, 1e-4, 3e-4, 1e-7).total
    0.55
    """
    return RequestSeconds(
        input_s=input_tokens * (1 - cached_share) * per_input_s,
        output_s=output_tokens * per_output_s,
        context_s=output_tokens * (input_tokens + output_tokens / 2) * per_context_s,
    )


@dataclass(frozen=True)
class TokenSeconds:
    """What one accelerator of a system takes for a token of each kind [s]; arguments of `request_seconds`."""

    per_input_s: Any
    per_output_s: Any
    per_context_s: Any

    def request(self, input_tokens: Any, output_tokens: Any, cached_share: Any = 0.0) -> RequestSeconds:
        """Seconds of one accelerator for a request, by parts [s]."""
        return request_seconds(input_tokens, output_tokens, cached_share, **vars(self))

    def output_tokens_per_s(self, input_tokens: Any, output_tokens: Any, cached_share: Any = 0.0) -> Any:
        """Output tokens per second of one accelerator at full load [token/s].

        >>> round(TokenSeconds(1e-4, 3e-4, 1e-7).output_tokens_per_s(1000.0, 1000.0))
        1818
        """
        return output_tokens / self.request(input_tokens, output_tokens, cached_share).total


@search
def split(input_tokens: np.ndarray, output_tokens: np.ndarray, tokens_per_s: np.ndarray) -> TokenSeconds:
    """Seconds per token of each kind from speeds at several shapes of request: non-negative least squares.

    Relative errors are squared, so that slow shapes do not outvote fast ones.

    Parameters
    ----------
    input_tokens, output_tokens : shapes of the requests [token]
    tokens_per_s : output tokens per second of one accelerator [token/s]

    Raises
    ------
    ValueError : lengths differ, a value that is not positive, or fewer than three different shapes.

    Source: [lawson1974, chapter 23] for the problem.

    >>> shapes = np.array([128.0, 1000.0, 5000.0]), np.array([128.0, 1000.0, 500.0])
    >>> true = TokenSeconds(1e-4, 3e-4, 1e-7)
    >>> round(split(*shapes, true.output_tokens_per_s(*shapes)).per_input_s, 9)
    0.0001
    """
    shapes = np.array([input_tokens, output_tokens, tokens_per_s], dtype=float)
    if not (shapes > 0).all():
        raise ValueError(f"split: tokens and speeds must be above 0, found {shapes[~(shapes > 0)][0]:g}")
    if len(np.unique(shapes[:2], axis=1).T) < 3:
        raise ValueError(f"split: {len(np.unique(shapes[:2], axis=1).T)} different shapes of request, needs 3 or more")
    reads, writes, speeds = shapes
    # The measured seconds of a request are what its answer takes; each column is what one second per token would add.
    columns = np.stack([reads, writes, writes * (reads + writes / 2)], axis=1) * (speeds / writes)[:, None]
    scale = columns.max(axis=0)
    figures, _ = nnls(columns / scale, np.ones(len(speeds)))
    return TokenSeconds(*(float(f"{figure:.7g}") for figure in figures / scale))  # more digits than are measured differ between machines


@lookup
@catalog.remembered
def operating_points(model: str | None = None, accelerator: str | None = None) -> pd.DataFrame:
    """Measured throughput, of one model's shape if given, one row a system and shape of request; `flag` says what is odd.

    Columns: SYSTEM, input_tokens, output_tokens, tokens_per_s [token/s] of one accelerator, flag, run, source.

    Raises
    ------
    LookupError : an unknown name, or one whose throughput nobody measured; the nearest names that have one are offered.

    >>> points = operating_points("Llama-3.1-8B", "H100")
    >>> int(points[(points.input_tokens == 1000) & (points.output_tokens == 1000)].tokens_per_s.iloc[0])
    15220
    """
    runs = catalog.table("measured/serving").dropna(subset=SPEED)
    runs = runs[(runs["scenario"] == "maximum load") & runs["held_out"].isna()]
    if model is not None:
        runs = runs[runs["model"] == one_of(catalog.model(model).name, runs["model"], "model with measured throughput")]
    if accelerator is not None:
        chips, runs = sorted(set(runs["accelerator"])), runs[runs["accelerator"] == catalog.accelerator(accelerator).name]
        if runs.empty:
            raise LookupError(f"nobody measured the throughput of {model or 'a model'} on {accelerator}; measured on: {', '.join(chips)}")
    flag = runs["note"].str.extract(r"(anomaly: .*)")[0].fillna("")
    points = runs.assign(flag=flag).rename(columns={SPEED: "tokens_per_s"})
    return points[[*SYSTEM, "input_tokens", "output_tokens", "tokens_per_s", "flag", "run", "source"]].reset_index(drop=True)


def _systems(points: pd.DataFrame):
    """The systems with enough shapes to split, each with its points."""
    for key, group in points.groupby(list(SYSTEM), dropna=False, sort=True):
        if len(set(zip(group["input_tokens"], group["output_tokens"]))) >= LEAST_SHAPES:
            yield dict(zip(SYSTEM, key)), group


def _columns(points: pd.DataFrame) -> tuple[np.ndarray, ...]:
    return tuple(points[name].to_numpy(float) for name in ("input_tokens", "output_tokens", "tokens_per_s"))


@search
def held_out(points: pd.DataFrame) -> pd.DataFrame:
    """Each point beside what the other shapes of its system say of it, and beside their median speed.

    Returns
    -------
    the points of systems with `LEAST_SHAPES` shapes or more, with predicted and baseline [token/s], error and
    baseline_error (signed, over measured) [1]

    >>> seen = held_out(operating_points("Llama-3.1-8B"))
    >>> bool(seen["error"].abs().median() < seen["baseline_error"].abs().median())
    True
    """
    rows = []
    for _, group in _systems(points):
        reads, writes, speeds = _columns(group)
        for index in range(len(group)):
            others = (reads != reads[index]) | (writes != writes[index])  # every run of this shape is left out
            figures = split(reads[others], writes[others], speeds[others])
            rows.append((group.index[index], figures.output_tokens_per_s(reads[index], writes[index]), float(np.median(speeds[others]))))
    found = pd.DataFrame(rows, columns=["index", "predicted", "baseline"]).set_index("index")
    seen = points.loc[found.index].join(found)
    return seen.assign(error=seen["predicted"] / seen["tokens_per_s"] - 1, baseline_error=seen["baseline"] / seen["tokens_per_s"] - 1)


@search
def token_seconds(model: str, accelerator: str | None = None) -> pd.DataFrame:
    """The split of each system that served a model at four shapes of request or more, most shapes first.

    Columns: SYSTEM, per_input_s, per_output_s, per_context_s [s of one accelerator], shapes, error (of a shape predicted
    from the others, absolute over measured, the median) [1], flagged (shapes with a flag).

    Raises
    ------
    LookupError : as `operating_points`; or no system was measured at enough shapes.

    >>> token_seconds("Llama-3.3-70B", "H100").shape[0]
    1
    """
    points, rows = operating_points(model, accelerator), []
    off = held_out(points)["error"].abs().round(6)
    for system, group in _systems(points):
        errors = off[group.index]
        figures = {"shapes": len(group), "error": round(errors.median(), 6), "flagged": int((group["flag"] != "").sum())}
        rows.append(system | vars(split(*_columns(group))) | figures)
    if not rows:
        where = f" on {accelerator}" if accelerator else ""
        raise LookupError(f"no system served {model}{where} at {LEAST_SHAPES} shapes of request or more; a split needs so many")
    order = ["shapes", "software", "accelerators", "accelerator"]
    return pd.DataFrame(rows).sort_values(order, ascending=[False, False, True, True], kind="stable", ignore_index=True)


@lookup
def fastest_chat(accelerator: str) -> pd.DataFrame:
    """The fastest chat run of each model and format on a chip, from the measurements of energy.

    Columns: model, precision, accelerators, batch, output_tokens, tokens_per_s [token/s] of one accelerator, run, source. The
    source states no prompt length, so these speeds hold for its own prompts alone.

    >>> fastest_chat("H100").set_index("model").loc["Qwen3-14B", "accelerators"]
    np.int64(1)
    """
    runs = catalog.table("measured/energy")
    runs = runs[(runs["accelerator"] == catalog.accelerator(accelerator).name) & (runs["task"] == "chat") & runs["measured_output_tokens_per_s"].notna()]
    runs = runs.assign(tokens_per_s=runs["measured_output_tokens_per_s"] / runs["accelerators"])
    fastest = runs.sort_values("tokens_per_s", ascending=False, kind="stable").drop_duplicates(["model", "precision"])
    return fastest[["model", "precision", "accelerators", "batch", "output_tokens", "tokens_per_s", "run", "source"]].reset_index(drop=True)
