"""Published days against what the model says of them: their shape, and what scaling with them
saved.
"""

import pandas as pd

from scaleright.catalog import fact
from scaleright.formulas import lookup
from scaleright.inference.traffic import load_at, peak_to_mean_of
from scaleright.ops import sqrt

SERVICES = {
    "code, weekday": "code_weekday",
    "code, weekend": "code_weekend",
    "conversation, weekday": "conversation_weekday",
    "conversation, weekend": "conversation_weekend",
}
"""Days of a published week [azurellm2024], by service."""


@lookup
def shapes() -> pd.DataFrame:
    """Days of which the peak over the quietest hour is published, and how much their hours vary:
    as published, and as predicted from the former alone.

    Columns: day, peak_to_trough, peak_to_mean, published, predicted, error [1].

    >>> found = shapes()
    >>> len(found), bool(found["error"].abs().median() < 0.4)
    (4, True)
    """
    rows = []
    for day, key in SERVICES.items():
        ratio, seen = (fact(f"azure_week_{key}_{of}") for of in ("peak_to_trough", "variation"))
        peak = peak_to_mean_of(ratio)
        loads = [load_at(float(hour), peak) for hour in range(24)]
        varies = sqrt(sum((load - 1) ** 2 for load in loads) / len(loads))
        rows.append((day, ratio, peak, seen, varies, varies / seen - 1))
    names = ("day", "peak_to_trough", "peak_to_mean", "published", "predicted", "error")
    return pd.DataFrame(rows, columns=list(names))


def shapes_sheet() -> pd.DataFrame:
    """`shapes`, by the words of a table."""
    words = {
        "peak_to_trough": "busiest over quietest hour",
        "peak_to_mean": "busiest over mean",
        "published": "variation of the hours, published",
    }
    return shapes().rename(columns=words)


@lookup
def scaling_savings() -> pd.DataFrame:
    """What scaling a fleet with its day saved, as published, and what the shape of a conversation's
    weekday says with engines as small as one likes.

    Columns: what, published, predicted [1].

    >>> scaling_savings()["published"].round(2).tolist()
    [0.18, 0.25]
    """
    usual = 1 - 1 / peak_to_mean_of(fact("azure_week_conversation_weekday_peak_to_trough"))
    deepseek = 1 - fact("deepseek_day_gpus") / fact("deepseek_day_peak_gpus")
    most = fact("sageserve_scaling_saving") / 100
    rows = [
        ("DeepSeek, 27 February 2025: nodes of the day under those of its peak", deepseek, usual),
        ("Microsoft Office 365, scaled ahead of a forecast, at most", most, usual),
    ]
    return pd.DataFrame(rows, columns=["what", "published", "predicted"])
