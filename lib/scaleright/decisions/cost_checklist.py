"""Cost-Reduction Checklist (F8): S2's items as levers of one service: what each saves, what it
needs, risks, and what to measure.
"""

import itertools

import pandas as pd

from scaleright import catalog
from scaleright.inference.fleet import Service
from scaleright.inference.levers import climb, orders


def cost_checklist(service: Service, allowed_loss: float = 0.01) -> pd.DataFrame:
    """S2's checklist for one service, in its order.

    Parameters
    ----------
    service, allowed_loss : as in `inference_ladder`

    Returns
    -------
    frame indexed by lever: item, why (it is not taken, or ""), chips after it, saving (of the fleet
    before it) and together (of today's) [1], first and last (saving if it is taken first or last,
    empty where it is not taken) [1], loss (published, of quality) [1], and needs, risk, measure in
    words

    >>> from scaleright.inference.deployment import Deployment
    >>> from scaleright.inference.lengths import Load
    >>> chip, model = catalog.accelerator("H100 SXM"), catalog.model("Llama-3.1-8B")
    >>> service = Service(Deployment(model, chip, software="vLLM 0.17.0"), Load(1000, 200), 50.0,
    ...     services=4, peak_to_mean=2.0)
    >>> cost_checklist(service).loc["pooling", "why"]
    ''
    """
    words = catalog.table("levers").dropna(subset="item").set_index("lever")
    rungs = climb(service, list(words.index), allowed_loss)
    rows = {
        rung.name: {
            "why": rung.why,
            "chips": rung.chips,
            "saving": 1 - rung.chips / before.chips,
            "together": 1 - rung.chips / rungs[0].chips,
            "loss": 0.0 if rung.why else rung.losses[rung.name],
        }
        for before, rung in itertools.pairwise(rungs)
    }
    order = orders(service, [rung.name for rung in rungs[1:] if not rung.why], allowed_loss)
    return (
        words[["item"]]
        .join(pd.DataFrame(rows).T)
        .join(order[["first", "last"]])
        .join(words[["needs", "risk", "measure"]])
    )
