"""Where published layouts of training runs stand among all that the search finds: those that were
measured, and those recommended.
"""

from dataclasses import replace

import pandas as pd

from scaleright import catalog
from scaleright.training.memory import training_memory
from scaleright.training.rules import FIELDS
from scaleright.training.search import candidates, rank
from scaleright.validation.cases import cases

TABLES = ("measured/training", "measured/layouts")
ABOUT = ("run", "model", "accelerator", "accelerators", "precision", "task")
RANK = ("rank", "candidates", "slower_by", "fits")


def published_layouts(name: str) -> pd.DataFrame:
    """A table of `TABLES` with the columns of measured training; layers that are recomputed count
    as full recomputation.

    >>> bool(published_layouts("measured/layouts")["tensor_parallel"].notna().all())
    True
    """
    rows = catalog.table(name)
    if "recompute_layers" in rows:
        rows = rows.assign(
            routing="balanced",
            recompute=(rows["recompute_layers"] > 0).map({True: "full", False: None}),
        )
    fields = catalog.resource("measured/training")["schema"]["fields"]
    return rows.reindex(columns=[field["name"] for field in fields])


@catalog.shared
def ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Rank of each layout, by predicted time, among all that fit on the same chips; rows whose
    layout is not stated are left out.

    A row that does not state what it recomputes is taken to recompute nothing, or everything where
    it would not fit else.

    Parameters
    ----------
    rows : as `published_layouts` gives them, or some of them

    Returns
    -------
    frame: run, model, accelerator, accelerators, precision, task, the fields of its layout, rank (1
    is the fastest), candidates, slower_by (its time over the fastest's, less 1) [1], fits (by the
    memory model).

    >>> found = ranks(published_layouts("measured/layouts").head(2))
    >>> bool((found["rank"] <= found["candidates"]).all())
    True
    """
    searched, found = {}, []
    for row, case in zip(rows.itertuples(), cases(rows), strict=True):
        run, layout = case.run, case.layout
        if run is None:
            continue
        if pd.isna(row.recompute) and not training_memory(run, layout).fits(run):
            layout = replace(layout, recompute=2)
        key = run.model.name, run.chip.name, run.chip.scale_out_bytes_per_s
        key = *key, *(getattr(run, name) for name in RUN)
        if key not in searched:
            try:
                searched[key] = candidates(run)
            except ValueError:  # nothing fits by the memory model
                searched[key] = None
        if searched[key] is None:
            continue
        own = rank(run, layout, among=searched[key])
        told = (row, ABOUT), (layout, FIELDS), (own, RANK)
        found.append({name: getattr(of, name) for of, names in told for name in names})
    return pd.DataFrame(found)


RUN = ("chips", "sequence", "global_batch", "precision", "task", "mtp_modules")
"""What tells runs of one model on one chip apart."""
