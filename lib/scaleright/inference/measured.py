"""Published operating points: the throughput of a system at a shape of request, a prompt of so many
tokens and an answer of so many.
"""

import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.names import one_of

SPEED = "measured_output_tokens_per_s_per_accelerator"
SYSTEM = (
    "model",
    "accelerator",
    "accelerators",
    "precision",
    "tensor_parallel",
    "pipeline_parallel",
    "attention_data_parallel",
    "software",
)
"""What must be the same for two shapes to be of one system."""


@lookup
@catalog.shared
def operating_points(model: str | None = None, accelerator: str | None = None) -> pd.DataFrame:
    """Measured throughput, of one model's shape if given, one row a system and shape of request;
    `flag` says what is odd.

    Columns: SYSTEM, input_tokens, output_tokens, tokens_per_s [token/s] of one accelerator, flag,
    run, source.

    Raises
    ------
    LookupError : an unknown name, or one whose throughput nobody measured; the nearest names that
        have one are offered.

    >>> points = operating_points("Llama-3.1-8B", "H100")
    >>> int(
    ...     points[
    ...     (points.input_tokens == 1000) & (points.output_tokens == 1000)].tokens_per_s.iloc[0])
    15220
    """
    runs = catalog.table("measured/serving").dropna(subset=SPEED)
    runs = runs[(runs["scenario"] == "maximum load") & runs["held_out"].isna()]
    if model is not None:
        runs = runs[
            runs["model"]
            == one_of(catalog.model(model).name, runs["model"], "model with measured throughput")
        ]
    if accelerator is not None:
        chips, runs = (
            sorted(set(runs["accelerator"])),
            runs[runs["accelerator"] == catalog.accelerator(accelerator).name],
        )
        if runs.empty:
            raise LookupError(
                f"nobody measured the throughput of {model or 'a model'} on {accelerator}; measured"
                f" on: {', '.join(chips)}"
            )
    flag = runs["note"].str.extract(r"(anomaly: .*)")[0].fillna("")
    points = runs.assign(flag=flag).rename(columns={SPEED: "tokens_per_s"})
    return points[
        [*SYSTEM, "input_tokens", "output_tokens", "tokens_per_s", "flag", "run", "source"]
    ].reset_index(drop=True)
