"""A reader's own measurements: a file of the same schema, checked before anything is predicted."""

from pathlib import Path

import pandas as pd

from scaleright import catalog
from scaleright.names import one_of
from scaleright.validation.report import Kind


def own_rows(path: Path, definition: Kind) -> pd.DataFrame:
    """A reader's file, typed and checked against the kind's schema, with the kind's further columns
    allowed.
    """
    schema = {
        field["name"]: field for field in catalog.resource(definition.table)["schema"]["fields"]
    }
    known = schema | {name: {"name": name, "type": kind} for name, kind in definition.also.items()}
    try:
        header = list(pd.read_csv(path, nrows=0).columns)
    except FileNotFoundError:
        raise catalog.DataError(f"{path.name}: no such file") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise catalog.DataError(f"{path.name}: not a CSV file: {str(error).strip()}") from None
    for column in header:
        one_of(column, known, f"column of {path.name}")
    if missing := [c for c in definition.required if c not in header]:
        raise catalog.DataError(
            f"{path.name}: column {missing[0]} is missing; needed: {', '.join(definition.required)}"
        )
    rows = catalog.read_csv(path, {"fields": [known[column] for column in header]}, path.name)
    if rows.empty:
        raise catalog.DataError(f"{path.name}: has a header and no row to validate")
    for column in header:
        _check(rows[column], known[column].get("constraints", {}), path.name, column)
    optional = dict.fromkeys(schema) | {"source": path.name} | definition.fill(rows)
    return rows.assign(
        **{column: value for column, value in optional.items() if column not in rows}
    )


def _check(column: pd.Series, constraints: dict, label: str, name: str) -> None:
    for index, value in column.dropna().items():
        where = f"{label}, line {index + 2}, column {name}"
        one_of(value, constraints.get("enum", [value]), f"value in {where}")
        if "minimum" in constraints and value < constraints["minimum"]:
            raise catalog.DataError(f"{where}: {value} is below {constraints['minimum']}")
        if "maximum" in constraints and value > constraints["maximum"]:
            raise catalog.DataError(f"{where}: {value} is above {constraints['maximum']}")
