"""Published parameter counts against those counted from the shape of the model."""

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.order import ordered
from scaleright.transformer import counts, rule_of_thumb_parameters
from scaleright.units import significant
from scaleright.validation import checks
from scaleright.validation.cases import SHAPE_TYPES, model_of
from scaleright.validation.report import Kind, Validation


def _judge(rows: pd.DataFrame, label: str) -> pd.DataFrame:
    models = [model_of(row) for row in rows.to_dict("records")]
    families = dict(zip(*(catalog.table("models")[c] for c in ("name", "family")), strict=True))
    rows = rows.drop(columns=[c for c in rows if c in SHAPE_TYPES])
    counted = counts(models)
    predicted = np.array(
        [counted[quantity].iloc[i] for i, quantity in enumerate(rows["quantity"])], dtype=float
    )
    published = rows["published"].to_numpy(dtype=float)
    digits = rows["digits"].to_numpy(dtype=float)
    half_unit = 0.5 * 10.0 ** (np.floor(np.log10(published)) - digits + 1)
    rough = np.array([float(rule_of_thumb_parameters(m.layers, m.hidden)) for m in models])
    return rows.assign(
        family=[families.get(m.name, "given by shape") for m in models],
        predicted=predicted,
        error_percent=100 * (predicted / published - 1),
        within_rounding=np.abs(predicted - published) <= half_unit,
        baseline_error_percent=100 * (rough / published - 1),
        scored=(rows["scope"] == "language model").to_numpy(),
    )


KIND = Kind(
    table="measured/counts",
    required=("model", "quantity", "published"),
    also=SHAPE_TYPES,
    # digits as the file prints them
    fill={
        "digits": lambda rows: rows["published"].map(lambda value: len(str(value).rstrip("0"))),
        "scope": "language model",
    },
    check=checks.basics,
    judge=_judge,
    columns={"model": 24, "quantity": 36},
    figure=lambda row, value: significant(value, int(row.digits)),
    why=lambda row: row.scope,
    shows="published, predicted to the same digits",
    baseline="12 L h^2",
    rule=(
        "a row is scored if its publication counts the language model alone (scope `language"
        " model`): a shape says nothing about a vision encoder or a module for multi-token"
        " prediction"
    ),
)


def worst_families(counted: Validation) -> pd.DataFrame:
    """Errors of the counts by family of models, worst first."""
    families = counted.by("family").drop(columns="bias_percent")
    return ordered(families, "p90_absolute_percent", ascending=False).reset_index()
