"""Rows of one table that cannot both be right, found by what its entry says of them.

- `agree`: rows that are `like` each other in some columns and hold on one day may not differ in
  `fields` by more than the factor `within`. A row holds from the day in the column `from` until the
  one in the column `until`, for good where that is blank; without such columns all rows do.
- `ascending`: of the rows `where` a column says so, those named in `order` by the column `by` rise
  in `field`, since each thing has all that the one before it has (`why`).

Sources that disagree are settled where they are imported, with a reason; these rules refuse a table
into which both went.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import pandas as pd

Text = Mapping[str, Sequence[str]]
Found = Iterator[tuple[int | None, str | None, str]]
"""Place of the row in the frame, field, message."""
_OPEN = "9999"
"""Sorts after every date."""


def disagreeing(frame: pd.DataFrame, text: Text, entry: dict) -> Found:
    """Rows of one thing and one day that say different things of it."""
    for rule in entry.get("agree", ()):
        values = {field: frame[field].to_numpy(float, na_value=np.nan) for field in rule["fields"]}
        groups: dict[tuple, list[int]] = {}
        for place, key in enumerate(zip(*(text[name] for name in rule["like"]), strict=True)):
            groups.setdefault(key, []).append(place)
        for key, places in groups.items():
            alike = ", ".join(f"{n} {k}" for n, k in zip(rule["like"], key, strict=True))
            for one, other in combinations(places, 2):
                if not _meet(text, rule, one, other):
                    continue
                for field, column in values.items():
                    here, there = column[other], column[one]
                    if abs(here - there) > (rule["within"] - 1) * min(here, there):
                        told = f"{here:.12g} contradicts row {one + 2}, which says {there:.12g} of"
                        yield other, field, f"{told} {alike} for the same days"


def _meet(text: Text, rule: dict, one: int, other: int) -> bool:
    """Whether two rows hold on one day."""
    begin = text[rule["from"]] if "from" in rule else None
    end = text[rule["until"]] if "until" in rule else None
    if begin is None:
        return True
    if end is None:
        return begin[one] == begin[other]
    return begin[one] < (end[other] or _OPEN) and begin[other] < (end[one] or _OPEN)


def falling(frame: pd.DataFrame, text: Text, entry: dict) -> Found:
    """Rows of things that have all that another has, and less of a field than it."""
    for rule in entry.get("ascending", ()):
        names, values = text[rule["by"]], frame[rule["field"]].to_numpy(float, na_value=np.nan)
        chosen = {
            names[place]: place
            for place in range(len(frame))
            if names[place] in rule["order"]
            and not np.isnan(values[place])
            and all(text[column][place] == cell for column, cell in rule.get("where", {}).items())
        }
        known = [chosen[name] for name in rule["order"] if name in chosen]
        for lower, upper in pairwise(known):
            if values[upper] < values[lower]:
                told = f"{values[upper]:.12g} of {names[upper]} contradicts row {lower + 2}, which"
                told += f" says {values[lower]:.12g} of {names[lower]}: {rule['why']}"
                yield upper, rule["field"], told
