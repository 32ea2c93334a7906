"""Every kind of evidence, and one way to judge the rows of each."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scaleright import catalog
from scaleright.names import nearest
from scaleright.validation import counts, energy, footprint, memory, serving, training, whole_runs
from scaleright.validation.checks import own_rows
from scaleright.validation.report import Kind, Validation, judged

KINDS: dict[str, Kind] = {
    "counts": counts.KIND,
    "footprint": footprint.KIND,
    "memory": memory.KIND,
    "training": training.KIND,
    "pretraining": whole_runs.KIND,
    "serving": serving.KIND,
    "energy": energy.KIND,
}


def validate(kind: str, file: str | Path | None = None, sealed: bool = False) -> Validation:
    """Predict every row of a kind of measurement from its configuration alone and compare.

    Parameters
    ----------
    kind : "counts" (published parameter counts), "footprint" (energy and carbon of training runs),
        "memory" (what a chip holds in training), "training" (time of a step), "pretraining"
        (chip-hours of whole runs), "serving" (throughput and latency) or "energy" (of an output
        token)
    file : a CSV file of the same schema instead of the book's table. Columns that are not required
        may be left out; a model that the catalog does not know may be given by the columns of
        `Transformer` instead.
    sealed : predict the rows that are set aside for a last test (`measured/sealed`), which nothing
        else looks at: whoever asks ends their use as a test of what is built later

    Raises
    ------
    LookupError : unknown kind, or a kind without a predictor or sealed rows; unknown model (line
        and nearest name).
    FileError : the file cannot be read.
    DataError : the file does not fit the schema: which line, which column, what is allowed.

    >>> validate("counts").summary.median_absolute_percent < 0.2
    True
    >>> validate("kernels")
    Traceback (most recent call last):
    LookupError: validate: nothing predicts 'kernels' in this version; kinds that work: counts,
    footprint, memory, training, pretraining, serving,
    energy (schema: data/measured/kernels.csv)
    """
    if kind not in KINDS:
        tables = [path.stem for path in sorted((catalog.data_dir() / "measured").glob("*.csv"))]
        if kind in tables:
            works = f"kinds that work: {', '.join(KINDS)} (schema: data/measured/{kind}.csv)"
            raise LookupError(f"validate: nothing predicts {kind!r} in this version; {works}")
        nearest(kind, KINDS, "kind of measurement")
    definition = KINDS[kind]
    if sealed:
        return Validation(kind, definition, _sealed(definition, file))
    if file is None:
        return judged(definition)
    rows, unlike = own_rows(Path(file), definition)
    found = definition.judge(rows, Path(file).name)
    if len(unlike):
        aside = unlike.assign(scored=False).reindex(columns=found.columns)
        found = pd.concat([found, aside], ignore_index=True)
    return Validation(kind, definition, found)


def own_columns(kind: str) -> pd.DataFrame:
    """The columns of a reader's own file of a kind: whether each is needed, and what it means.

    >>> own_columns("training").iloc[[0, -1]][["column", "needed"]].values.tolist()
    [['model', 'yes'], ['measured_tokens_per_s_per_accelerator', 'if known']]
    """
    definition = KINDS[kind]
    fields = {of["name"]: of for of in catalog.resource(definition.table)["schema"]["fields"]}
    names = [*definition.required, *definition.often]
    needed = ["yes" if name in definition.required else "if known" for name in names]
    meanings = [fields[name]["description"] for name in names]
    return pd.DataFrame({"column": names, "needed": needed, "meaning": meanings})


def _sealed(definition: Kind, file: str | Path | None) -> pd.DataFrame:
    """The book's sealed rows of a kind, judged like its other rows."""
    if file is not None:
        raise ValueError("validate: the sealed rows are the book's own; a file has none")
    rows = catalog.sealed(definition.table)
    if rows.empty:
        raise LookupError(f"validate: no row of {definition.table} is sealed")
    return definition.judge(rows, f"{definition.table}, sealed")
