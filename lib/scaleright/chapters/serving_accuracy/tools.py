"""Estimates of serving by other tools on the same cases, as they were run, and how fast each is."""

import pandas as pd

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import step_seconds
from scaleright.inference.slowdowns import slowdowns
from scaleright.order import ordered

CASE = "llama2-70b/8-h100/batch "
READ, WRITTEN = 2048, 128
"""Tokens of its prompts and answers."""
TOOLS = ["this model", "AIConfigurator", "AIConfigurator (speed of light)", "GenZ", "llm-analysis"]


@lookup
def beside(batches: tuple[int, ...] = (1, 32, 128)) -> pd.DataFrame:
    """Time of a batch's prefill and of a step of decoding by each tool [ms]: Llama-2-70B in BF16 on
    eight H100.

    >>> rows = beside()
    >>> rows["quantity"].tolist()[::3], rows["batch"].tolist()[:3]
    (['prefill', 'decode step'], [1, 32, 128])
    """
    model, chip = catalog.model("Llama-2-70B"), catalog.accelerator("H100 SXM")
    d = Deployment(model, chip, "BF16", 8, software="TensorRT-LLM 1.0")
    slow, rows = slowdowns(d), catalog.table("other_tools")
    ours = []
    for batch in batches:
        steps = {
            "prefill": step_seconds(d, 0, READ, batch * READ, READ / 2, slowdowns=slow),
            "decode step": step_seconds(d, batch, READ + WRITTEN / 2, slowdowns=slow),
        }
        ours += [(batch, name, TOOLS[0], float(of.total)) for name, of in steps.items()]
    rows = rows[rows["case"].str.startswith(CASE)]
    rows = rows.assign(batch=rows["case"].str.removeprefix(CASE).astype(int))
    names = ["batch", "quantity", "tool", "value"]
    every = pd.concat([rows[names], pd.DataFrame(ours, columns=names)])
    every = every.pivot(index=["quantity", "batch"], columns="tool", values="value")
    every = every.sort_index(ascending=[False, True])[TOOLS] * 1000
    return every.rename_axis(columns=None).reset_index()


@lookup
def speeds() -> pd.DataFrame:
    """Estimates of serving in a second by each tool, the fastest first.

    >>> speeds()["tool"].iloc[0]
    'Scale Right'
    """
    rows = catalog.table("other_tools")
    rows = ordered(rows[rows["case"] == "serving speed"], "value", ascending=False)
    rows = rows.rename(columns={"value": "estimates a second"})
    return rows[["tool", "version", "estimates a second", "note"]]
