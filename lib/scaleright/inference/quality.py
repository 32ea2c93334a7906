"""What formats and other levers cost in quality, as published."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.formats import released_in
from scaleright.order import noiseless
from scaleright.transformer import bytes_per_parameter, parameters
from scaleright.units import significant


@lookup
def published_losses() -> pd.DataFrame:
    """Published scores before and after a lever, with `loss`, over the score before [1].

    >>> published_losses()["loss"].between(0, 0.2).all()
    np.True_
    """
    rows = catalog.table("lever_quality")
    return rows.assign(loss=1 - rows["after"] / rows["before"])


def _nearest(rows: pd.DataFrame, size: float) -> pd.DataFrame:
    """The row of the model nearest in size, if there is any."""
    apart = noiseless(np.abs(np.log(rows["parameters"] / size)))
    return rows.iloc[np.argsort(apart, kind="stable")[:1]]


@lookup
@catalog.remembered
def quality_loss(lever: str, precision: str, size: float) -> float:
    """Published loss of a benchmark's score over the score, of the model nearest in size [1]; 0
    where no loss is to be expected.

    Parameters
    ----------
    lever : of `LEVERS`
    precision : format of the weights once it is taken
    size : parameters of the model [1]

    >>> round(quality_loss("4-bit weights", "INT4", 8e9),
    ...     3), round(quality_loss("4-bit weights", "INT4", 70e9), 3)
    (0.025, 0.002)
    """
    rows = published_losses()
    of_form = rows["form"].isna() | (rows["form"] == precision)
    return float(_nearest(rows[(rows["lever"] == lever) & of_form], size)["loss"].sum())


@lookup
@catalog.remembered
def quality_words(name: str, precision: str) -> str:
    """What a format costs a model in quality: a benchmark before and after, the model that it was
    measured on, and who published it.

    Of a model that nobody measured in the format, that of the nearest in size, which is said.

    >>> quality_words("Llama-3.3-70B", "NVFP4")[:59]
    'NVFP4 loses 0.93 % of the score (average of MMLU, GSM8K, He'
    >>> quality_words("gpt-oss-120b", "MXFP4")
    'nothing is lost, since it was released in MXFP4'
    """
    shape = catalog.model(name)
    if precision == "BF16":
        return "nothing is lost in 16 bits"
    released = released_in(shape)
    if precision == released:
        return f"nothing is lost, since it was released in {precision}"
    if bytes_per_parameter(precision) > bytes_per_parameter(released):
        return f"nothing is lost that its release in {released} had"
    rows = published_losses()
    rows = rows[rows["form"] == precision]
    if rows.empty:
        return f"no loss in {precision} was published"
    same = rows[[catalog.model(of).name == shape.name for of in rows["model"]]]
    found = (_nearest(rows, parameters(shape).total) if same.empty else same.iloc[-1:]).iloc[0]
    loss = f"{significant(100 * found['loss'], 2)} % of the score" if found["loss"] > 0 else "none"
    scores = f"{found['before']:g} to {found['after']:g}"
    whose = f"of {found['model']}" if found["model"] != name else ""
    said = f"{precision} loses {loss} ({found['benchmark']}{' ' * bool(whose)}{whose}, {scores};"
    said = f"{said} {found['scored_by']})"
    return f"not measured for this model; nearest: {said}" if same.empty else said
