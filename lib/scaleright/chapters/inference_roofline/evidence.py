"""Published times between the tokens of one model at many batches, beside what the model of serving
and a plain roofline say of each run.
"""

import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.order import ordered
from scaleright.validation.serving import asked_rows, beside_predictions, prompts

SOURCE, TASKS = "mlenergy2026", ("chat", "gpqa")
"""Who timed each model at many batches, and in which tasks."""
SYSTEM = ["model", "accelerator", "accelerators", "precision", "task"]
"""What a run shares with those of its sweep."""
FIGURES = ["measured", "predicted", "roofline"]


@lookup
def published_gaps(model: str, else_of: str = "Llama-3.1-70B") -> pd.DataFrame:
    """Runs of a model, or of another where none of it was timed.

    Columns: those of `SYSTEM`, batch [1], and the median time between two tokens: measured,
    predicted, and by the plain roofline [s].

    >>> runs = published_gaps("Llama-3.1-70B")
    >>> len(runs) > 10, bool((runs["roofline"] < runs["measured"]).all())
    (True, True)
    """
    timed, shape = catalog.table("measured/energy"), catalog.model(model).name
    timed = timed[(timed["source"] == SOURCE) & timed["task"].isin(TASKS)]
    timed = timed[timed["measured_itl_s"].notna()]
    timed = timed[timed["model"] == (shape if shape in set(timed["model"]) else else_of)]
    rows = beside_predictions(asked_rows(timed, prompts()), "measured/energy", "ITL")
    return rows[[*SYSTEM, "batch", *FIGURES]]


@lookup
def longest_sweep(runs: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The system of which most batches were timed, in words, and its runs with a row for each of
    `FIGURES` (`what`, `seconds`).

    >>> system, rows = longest_sweep(published_gaps("Llama-3.1-70B"))
    >>> system, list(rows.columns)
    ('Llama-3.1-70B on 4 H100 SXM in BF16', ['batch', 'what', 'seconds'])
    """
    key = runs.groupby(SYSTEM).size().idxmax()
    rows = ordered(runs[(runs[SYSTEM] == list(key)).all(axis=1)], "batch")
    model, chip, chips, form, _ = key
    rows = rows.astype({"batch": float}).melt("batch", FIGURES, "what", "seconds")
    return f"{model} on {int(chips)} {chip} in {form}", rows


def off(runs: pd.DataFrame, figure: str) -> pd.Series:
    """How far predictions of a figure, one of `FIGURES`, are from what was measured [1].

    >>> off(pd.DataFrame({"measured": [2.0], "predicted": [1.5]}), "predicted").tolist()
    [0.25]
    """
    return (runs[figure] / runs["measured"] - 1).abs()
