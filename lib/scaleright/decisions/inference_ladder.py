"""Inference Efficiency Ladder (F7): what S2's rungs save together for one service, against its 30
to 40 %.
"""

from scaleright import catalog
from scaleright.decisions.verdict import Verdict
from scaleright.inference.fleet import Service
from scaleright.inference.levers import Rung, climb

SOURCE = "S2, Inference Efficiency Ladder"
SOURCE_SAVING = (0.30, 0.40)
"""What the document says that all rungs save together."""


def rungs_of_source() -> dict[str, list[str]]:
    """The levers on each rung of S2's ladder, in its order.

    >>> list(rungs_of_source())
    ['quantize and prune', 'LoRA fine-tuning', 'dynamic batching and caching',
     'GPU pooling and scheduling']
    """
    rows = catalog.table("levers").dropna(subset=["rung", "item"])
    rows = rows[rows["rung"] != "before the ladder"]
    return rows.groupby("rung", sort=False)["lever"].apply(list).to_dict()


def taken(rungs: list[Rung]) -> list[str]:
    """Names of the levers that were taken on the way up."""
    return [rung.name for rung in rungs[1:] if not rung.why]


def inference_ladder(service: Service, allowed_loss: float = 0.01) -> Verdict:
    """What the ladder saves for a service, rung by rung, and which rungs it cannot take.

    Parameters
    ----------
    service : as it is served today
    allowed_loss : most that published losses of quality may add up to [1]; S2 says 1 %

    Raises
    ------
    ValueError : no fleet of this kind can serve the load (see `inference.fleet.groups`).

    >>> from scaleright.inference.deployment import Deployment
    >>> from scaleright.inference.lengths import Load
    >>> chip, model = catalog.accelerator("H100 SXM"), catalog.model("Llama-3.1-8B")
    >>> service = Service(Deployment(model, chip, software="vLLM 0.17.0"), Load(1000, 200), 50.0,
    ...     peak_to_mean=2.0)
    >>> inference_ladder(service).source
    'S2, Inference Efficiency Ladder'
    """
    by_rung = rungs_of_source()
    rungs = climb(service, [name for names in by_rung.values() for name in names], allowed_loss)
    at = {rung.name: rung for rung in rungs}
    start, end, before = rungs[0].chips, rungs[-1].chips, rungs[0].chips
    saving, reasons, numbers = 1 - end / start, [], {}
    for title, names in by_rung.items():
        after = at[names[-1]].chips
        reasons.append(
            f"{title}: {_percent(1 - after / before)}"
            + "".join(f"; {name}: {at[name].why}" for name in names if at[name].why)
        )
        numbers[title], before = (1 - after / before, "1"), after
    numbers |= {
        "saving": (saving, "1"),
        "chips today": (start, "chip"),
        "chips then": (end, "chip"),
    }
    what = (
        f"{_percent(saving)} of the fleet: {start:,.0f} {service.deployment.chip.name} become"
        f" {end:,.0f}"
    )
    low, high = SOURCE_SAVING
    agrees = low - 0.005 <= saving <= high + 0.005
    return Verdict(
        "What does the ladder save?",
        what,
        tuple(reasons),
        numbers,
        SOURCE,
        f"{100 * low:.0f} to {_percent(high)} together",
        agrees,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
