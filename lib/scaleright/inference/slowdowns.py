"""How much longer the steps of an engine take in practice than at measured peaks: few constants,
fitted to published runs.

A constant belongs to a kind of work (`KINDS`) and to a family: of chips, of engines, of number
formats. What no run of a family has shown is borrowed: from the same engine on other chips, else
work is taken to reach measured peaks ("any"), and that is said.
"""

import math

from scaleright import catalog
from scaleright.catalog import Accelerator
from scaleright.formulas import lookup
from scaleright.inference.deployment import Deployment, generation
from scaleright.inference.phases import KINDS
from scaleright.names import one_of
from scaleright.pooling import interval_bounds, kin_constant
from scaleright.training.slowdowns import family

TABLE = "serving_constants"
PLAIN = dict.fromkeys(KINDS, 1.0)
"""The mean of all families: work at measured peaks. What no run has shown is taken to reach them.
"""
THIN = 20
"""Runs fewer than these do not tell what holds nine of ten."""
TIES = dict.fromkeys(KINDS, 3e-5) | {"grouped": 1e-5, "sequences": 4e-6, "launch": 4e-6}
"""How alike families are, as weights per row: chips keep close to their measured peaks, engines
differ in what their hosts take for launches. What these take for a step and for a sequence is hard
to tell from launches, and goes to zero in some fits where it is free to.
"""
SPREADS = {"throughput": "throughput", "TPOT": "latency", "ITL": "latency"}
"""Figures that share the bounds of what was measured over what is predicted."""


@lookup
def family_of(chip: Accelerator) -> str:
    """The architecture of a chip, whose constants it shares; its vendor where no run of it is
    known.

    Blackwell Ultra counts as Blackwell: the same units and links, of which too few runs were
    published to be told apart.
    """
    of_card = chip.name.startswith("RTX ")
    return "Blackwell GDDR" if of_card else family(chip).removesuffix(" Ultra")


@lookup
def chip_family(d: Deployment) -> str:
    """That of a deployment's chip."""
    return family_of(d.chip)


@lookup
def families(d: Deployment) -> dict[str, str]:
    """The family of each kind of work of a deployment: the first key of its constant."""
    chip, engine = chip_family(d), generation(d.software)
    part = "experts" if d.model.experts else "dense"
    form = d.compute_format(part)
    low = " FP8" if form == "FP8" else ", weight-only" if d.formats[part] != form else ""
    links = "fabric" if d.chip.scale_up_chips else "PCIe"
    studied = engine in ("TensorRT-LLM", "vLLM V1")
    return dict.fromkeys(KINDS, "any") | {
        "matmul": chip,
        "grouped": f"{engine}, {chip}{low}" if studied else chip + low,
        "cache": chip,
        "attention": chip,
        "tensor": links,
        "expert": links,
        "launch": engine + low if engine == "vLLM V1" and d.model.experts else engine,
        "host": f"{engine}, {chip}",
        "sequences": f"{engine}, {chip}",
    }


@catalog.shared
def _constant(name: str, kind: str) -> tuple[float, bool]:
    """A family's stored constant of a kind of work, and whether it is borrowed."""
    return kin_constant(
        {key: value for key, (value, _, _) in catalog.fitted(TABLE).items()}, name, kind
    )


@lookup
def slowdowns(d: Deployment) -> dict[str, float]:
    """The stored slowdowns of a deployment (`data/serving_constants.csv`) by kind of work; what its
    families lack is borrowed from all.

    >>> from scaleright.catalog import accelerator, model
    >>> found = slowdowns(Deployment(model("Llama-3.1-8B"), accelerator("H100 SXM"),
    ...     software="TensorRT-LLM 1.2"))
    >>> 0.5 < found["matmul"] < 2.0
    True
    """
    return {kind: _constant(name, kind)[0] for kind, name in families(d).items()}


@lookup
def evidence(d: Deployment) -> str:
    """Which runs tell how fast a deployment's engine is on its chips: the first key of their count.

    >>> from scaleright.catalog import accelerator, model
    >>> evidence(Deployment(model("Llama-3.1-8B"), accelerator("H100 SXM"), software="vLLM"))
    'vLLM, Hopper, dense'
    """
    kind = "experts" if d.model.experts else "dense"
    return f"{generation(d.software)}, {chip_family(d)}, {kind}"


@catalog.shared
def _fitted_formats() -> frozenset[tuple[str, str]]:
    """Families of chips and formats of the weights of which runs were fitted."""
    seen = set()
    for kind in ("serving", "energy"):
        rows = catalog.table(f"measured/{kind}")
        rows = rows[rows["held_out"].isna()][["accelerator", "precision"]].dropna()
        for chip, form in rows.drop_duplicates().itertuples(index=False):
            seen.add((family_of(catalog.accelerator(chip)), form.replace("FP16", "BF16")))
    return frozenset(seen)


def _runs(d: Deployment) -> int:
    """Fitted runs of a deployment's engine on its family of chips, of models of its kind."""
    return int(catalog.fitted(TABLE).get((evidence(d), "runs"), (0,))[0])


def _strange_chip(d: Deployment) -> bool:
    """Whether no run on a deployment's chip was fitted."""
    return (d.chip.name, "runs") not in catalog.fitted(TABLE)


def _strange_format(d: Deployment) -> bool:
    """Whether no run in a deployment's format on its family of chips was fitted."""
    return (chip_family(d), d.precision.replace("FP16", "BF16")) not in _fitted_formats()


@lookup
def chip_seen(d: Deployment) -> bool:
    """Whether runs on a deployment's chip and in its format, with whatever engine, were fitted."""
    return not (_strange_chip(d) or _strange_format(d))


@lookup
def borrowed(d: Deployment) -> str:
    """What a deployment's speed rests on where it is not on `THIN` fitted runs of its engine on its
    chips with models of its kind, on its chip and in its format, in words.

    >>> from scaleright.catalog import accelerator, model
    >>> borrowed(Deployment(model("gpt-oss-120b"), accelerator("H100 SXM"), "INT4",
    ...     software="vLLM 0.11.1"))
    'no run in INT4 on Hopper chips was fitted'
    >>> borrowed(Deployment(model("gpt-oss-120b"), accelerator("H100 SXM"), "MXFP4",
    ...     software="vLLM"))
    'only 2 runs of mixtures of experts with vLLM on Hopper chips were fitted'
    """
    runs, chips, why = _runs(d), f"{chip_family(d)} chips", []
    if runs < THIN:
        of = "mixtures of experts" if d.model.experts else "dense models"
        engine = f"with {generation(d.software)}" if d.engine else "without a named engine"
        count = {0: "no run", 1: "only 1 run"}.get(runs, f"only {runs} runs")
        why = [f"{count} of {of} {engine} on {chips} {'was' if runs < 2 else 'were'} fitted"]
    elif _strange_chip(d):
        why = [f"no run of {d.chip.name} was fitted: constants of other {chips}"]
    if _strange_format(d):
        why.append(f"no run in {d.precision.replace('FP16', 'BF16')} on {chips} was fitted")
    return "; ".join(why)


@lookup
def interval(d: Deployment, figure: str, apart: str = "") -> tuple[float, float]:
    """Bounds of measured over predicted figure that hold nine of ten runs of a model, or by
    somebody, that no fit saw [1].

    figure : "throughput", "TPOT" or "ITL"
    apart : a source whose runs have no say, since they are judged by these bounds

    Wider for mixtures of experts, and where something is borrowed. A chip that no fit saw adds, in
    squares of logarithms, what leaving chips out of the fit adds; so does a format, and so do too
    few runs of an engine on such chips by as much as they lack of `THIN`.

    >>> from scaleright.catalog import accelerator, model
    >>> of = model("Llama-3.1-8B"), accelerator("H100 SXM")
    >>> known, lent, twice = (interval(Deployment(*of, form, software=software), "throughput")
    ...     for form, software in (("FP8", "vLLM 0.11.1"), ("FP8", "vLLM"), ("INT4", "vLLM")))
    >>> twice[0] < lent[0] < known[0] < 1 < known[1] < lent[1] < twice[1]
    True
    """
    lacking = max(1 - _runs(d) / THIN, float(_strange_chip(d)), 0.0) + _strange_format(d)
    known, lent = (
        interval_bounds(catalog.fitted(TABLE), spread_class(d, figure, other), apart)
        for other in (False, True)
    )

    def end(near: float, far: float) -> float:
        more = max(math.log(far) ** 2 - math.log(near) ** 2, 0.0)
        return math.sqrt(math.log(near) ** 2 + lacking * more)

    low, high = (end(near, far) for near, far in zip(known, lent, strict=True))
    return math.exp(-low), math.exp(high)


@lookup
def spread_class(d: Deployment, figure: str, lent: bool = False) -> str:
    """Which deployments share the bounds of a figure: the first key of an interval."""
    return (
        f"{SPREADS[one_of(figure, SPREADS, 'figure')]}, {'experts' if d.model.experts else 'dense'}"
        + (", borrowed" if lent else "")
    )
