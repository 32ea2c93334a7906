"""Total orders: by figures, and by names where those are equal, so that every processor orders and
chooses alike.

The last digits of a computed number belong to the processor, and so does the order in which its
vector instructions leave equal elements of a sort. What differs in those digits only is a tie here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scaleright.units import figure


def noiseless(values: Any) -> np.ndarray:
    """Numbers to compare, with the digits that they mean: 24 bits, which are about seven digits.

    >>> float(noiseless(0.1 + 0.2)) == float(noiseless(0.3)), noiseless([np.inf, 2.0]).tolist()
    (True, [inf, 2.0])
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=float))
    return np.ldexp(np.round(mantissa * 2.0**24), exponent - 24)


def ordered(
    rows: pd.DataFrame | pd.Series,
    by: str | Sequence[str] = (),
    ascending: bool | Sequence[bool] = True,
    ignore_index: bool = False,
) -> Any:
    """Rows by columns, or a series by its values; equal ones by their texts from left to right, by
    what indexes them, and at last as they stood.

    >>> rows = pd.DataFrame({"chip": ["B", "A", "C"], "usd": [0.3, 0.1 + 0.2, 0.1]})
    >>> ordered(rows, "usd", ascending=False)["chip"].tolist()
    ['A', 'B', 'C']
    >>> ordered(pd.Series({"B": 1.0, "A": 1.0, "C": 0.0})).index.tolist()
    ['C', 'A', 'B']
    """
    if isinstance(rows, pd.Series):
        frame, keyed = rows.rename(0).to_frame(), [0]
    else:
        frame, keyed = rows, [by] if isinstance(by, str) else list(by)
    texts = [name for name in frame if name not in keyed and _is_text(frame[name])]
    keys = [_key(frame[name]) for name in keyed] + [frame[name].map(str) for name in texts]
    if not isinstance(frame.index, pd.RangeIndex):
        levels = (frame.index.get_level_values(i) for i in range(frame.index.nlevels))
        keys += [pd.Series(level) for level in levels if _is_text(level)]
    sides = [ascending] * len(keyed) if isinstance(ascending, bool) else list(ascending)
    table = pd.DataFrame({place: key.to_numpy() for place, key in enumerate(keys)})
    order = table.sort_values(
        list(table), ascending=sides + [True] * (len(keys) - len(keyed)), kind="stable"
    ).index
    found = rows.iloc[order.to_numpy()]
    return found.reset_index(drop=True) if ignore_index else found


def _is_text(column: Any) -> bool:
    return pd.api.types.is_object_dtype(column) or isinstance(column.dtype, pd.StringDtype)


def _key(column: pd.Series) -> pd.Series:
    return pd.Series(noiseless(column)) if pd.api.types.is_float_dtype(column) else column


def names_by(values: Mapping[Any, float] | pd.Series, largest_first: bool = False) -> list:
    """Names by their values; those of equal values by themselves.

    >>> names_by({"B": 0.3, "A": 0.1 + 0.2, "C": 0.1}), names_by({"B": 1, "C": 2},
    ...     largest_first=True)
    (['C', 'A', 'B'], ['C', 'B'])
    """
    sign = -1 if largest_first else 1
    return sorted(values.keys(), key=lambda name: (sign * figure(values[name]), str(name)))


def name_of_least(values: Mapping[Any, float] | pd.Series) -> Any:
    """The name of the least value; the first by name of several.

    >>> name_of_least({"B": 0.3, "A": 0.1 + 0.2})
    'A'
    """
    return min(values.keys(), key=lambda name: (figure(values[name]), str(name)))


def name_of_greatest(values: Mapping[Any, float] | pd.Series) -> Any:
    """The name of the greatest value; the first by name of several.

    >>> name_of_greatest({"B": 0.3, "A": 0.1 + 0.2})
    'A'
    """
    return min(values.keys(), key=lambda name: (-figure(values[name]), str(name)))


def first_greatest(values: Iterable[float]) -> int:
    """The first place of the greatest value.

    >>> first_greatest([0.1, 0.3, 0.1 + 0.2])
    1
    """
    return int(np.argmax(noiseless(list(values))))
