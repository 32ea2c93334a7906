"""The rules that parameters cells name: which values go together.

A rule takes the values of the parameters that it is called with, in their order, and raises where
they do not go together; whose values they are, `rules.Rule.refusal` says. Rules are asked before a
kernel starts, so they look things up and search nothing for long, and import what they need when
called.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from scaleright.press.parameters import (
    catalog_rules,
    cluster_rules,
    evidence_rules,
    format_rules,
    price_rules,
    routing_rules,
    study_rules,
    traffic_rules,
    tuning_rules,
)

_ROOMS = (
    catalog_rules,
    cluster_rules,
    evidence_rules,
    format_rules,
    price_rules,
    routing_rules,
    study_rules,
    traffic_rules,
    tuning_rules,
)
RULES: dict[str, Callable[..., None]] = {of.__name__: of for room in _ROOMS for of in room.RULES}
"""Every rule by its name."""


def _rule(function: Callable[..., None]) -> Callable[..., None]:
    RULES[function.__name__] = function
    return function


@_rule
def different(first: str, second: str) -> None:
    """Two choices that are to be compared."""
    if first == second:
        raise ValueError("the same twice; choose another for one of them")


@_rule
def some_weight(*weights: float) -> None:
    """Weights of which one must count."""
    if not any(weights):
        raise ValueError("nothing has weight; give one of them some")


@_rule
def within_context(model: str, *tokens: int) -> None:
    """Tokens in view, together at most the longest context that the model was published with.

    A release that goes by another name than the shape of the catalog may have a context of its own.
    """
    from scaleright import catalog

    longest = catalog.model(model).max_context
    if catalog.model(model).name == model and 0 < longest < sum(tokens):
        raise ValueError(f"longer than the {longest:,} tokens that {model} was made for")


@_rule
def linked(accelerator: str, fabric_gb_per_s: float | None) -> None:
    """A chip whose fabric is known, or given."""
    from scaleright import catalog

    if fabric_gb_per_s is None and not catalog.accelerator(accelerator).scale_up_bytes_per_s:
        raise ValueError(
            f"the catalog has no fabric between {accelerator}: give fabric_gb_per_s [GB/s]"
        )


@_rule
def splits(
    model: str,
    accelerator: str,
    chips: int,
    sequence: int,
    batch: int,
    precision: str,
    task: str = "pretrain",
) -> None:
    """A training run that some layout splits over its chips and that fits in their memory."""
    from scaleright import catalog
    from scaleright.training.layout import TrainingRun
    from scaleright.training.search import require_layout

    chip = catalog.accelerator(accelerator)
    require_layout(TrainingRun(catalog.model(model), chip, chips, sequence, batch, precision, task))


@_rule
def pretrains(model: str, accelerator: str, chips: int, batch: str, precision: str) -> None:
    """A pretraining run as `splits`; a chip without the format runs in BF16."""
    from scaleright import catalog
    from scaleright.costs.platforms import BATCHES, format_on, usual_sequence
    from scaleright.training.layout import TrainingRun
    from scaleright.training.search import require_layout

    shape, chip = catalog.model(model), catalog.accelerator(accelerator)
    sequence, form = usual_sequence(shape), format_on(accelerator, precision)
    run = TrainingRun(shape, chip, chips, sequence, BATCHES[batch] // sequence, form)
    try:
        require_layout(run, context=1)
    except ValueError as error:  # the chapter has no such parameters
        said = str(error).replace(", context = 1", "").replace("global_batch", "sequences a step")
        raise ValueError(said) from None


@_rule
def ran(benchmark: str, round_: str, measure: str, contract: str, seller: str) -> None:
    """A benchmark of MLPerf Training that a round had, and a best run whose chip is sold so."""
    from scaleright import market, mlperf

    in_round = None if round_ == "all" else round_
    mlperf.record(benchmark, in_round)
    names = {"benchmark": benchmark, "round": round_, "measure": measure}
    best = mlperf.records().best(SimpleNamespace(**names, contract=contract, seller=seller))
    if best.run.there.value:
        market.hour(best.run.priced_as.value, contract, seller)
        return
    known = {of for chip in mlperf.records().chips for of in market.contracts(chip)}
    offered = ", ".join(of for of in market.CONTRACTS if of in known)
    raise LookupError(f"{best.why.value}; contracts that some are sold under: {offered}")


@_rule
def on_radar(benchmark: str, scenario: str, paid: str, contract: str, seller: str) -> None:
    """A workload on which a radar can stand, and whose reference chip has a price."""
    from scaleright import market
    from scaleright.decisions.hardware_radar import figures

    reference = figures(benchmark, scenario).attrs["reference"]
    if paid != "own":
        market.hour(reference, contract, seller)


@_rule
def meet(
    new_chip: str,
    old_chip: str,
    benchmark: str,
    scenario: str,
    metric: str,
    statistic: str,
    in_round: str,
    contract: str,
    seller: str,
    rent_new: float,
    rent_old: float,
) -> None:
    """Two chips that were measured on the same work, by what counts; where that is a dollar, both
    are sold so, or have a rent of the reader's own.
    """
    from scaleright import market, mlperf

    price = None
    if metric == "dollar":
        rents = {new_chip: rent_new, old_chip: rent_old}
        found = [own or market.hour(name, contract, seller).usd for name, own in rents.items()]
        price = found[0], found[-1]
    mlperf.gain(new_chip, old_chip, benchmark, scenario, metric, statistic, in_round, price)


@_rule
def bets_meet(
    bet: str,
    rival: str,
    scenario: str,
    mixture: str,
    dense: str,
    images: str,
    image_share: float,
) -> None:
    """Two chips that were measured together on some model of every kind that is bet on."""
    from scaleright.decisions.meetings import require_meeting

    for kind, benchmark in {"mixture": mixture, "dense": dense}.items():
        require_meeting(kind, benchmark, scenario, bet, rival)
    if image_share > 0:
        require_meeting("images", images, "Offline", bet, rival)


@_rule
def as_fast(
    model: str,
    request: str,
    drafts: str,
    newer: str,
    newer_precision: str,
    older: str,
    older_precision: str,
    speed: int,
) -> None:
    """Two chips that both write at a speed per user, each in its format."""
    from scaleright.decisions.vendor_evidence import require_speed

    forms = {newer: newer_precision, older: older_precision}
    require_speed(model, request, drafts, forms, speed)


@_rule
def serves(
    model: str,
    accelerator: str,
    precision: str,
    chips: str,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
) -> None:
    """A server that holds the model in a format, and one request beside it."""
    from scaleright import catalog
    from scaleright.inference.lengths import Load
    from scaleright.inference.server import require_server
    from scaleright.inference.server_steps import FEWEST

    require_server(
        catalog.model(model),
        catalog.accelerator(accelerator),
        precision,
        None if chips == FEWEST else int(chips),
        Load(input_tokens, output_tokens, cached_share),
    )


@_rule
def grouped(
    model: str,
    accelerator: str,
    precision: str,
    batching: str,
    static_batch: int,
    requests_per_s: float,
    input_tokens: float,
    output_tokens: float,
    length_spread: float,
    tpot_ms: float,
    prefix_share: float,
) -> None:
    """A service that some group of chips holds and keeps the pace of."""
    import math

    from scaleright import catalog
    from scaleright.inference.curves import curves
    from scaleright.inference.deployment import Deployment
    from scaleright.inference.fleet import Service, groups
    from scaleright.inference.formats import resolved
    from scaleright.inference.lengths import Load
    from scaleright.inference.nodes import engines_like
    from scaleright.inference.pacing import continuous_rate, static_rate

    shape, chip = catalog.model(model), catalog.accelerator(accelerator)
    precision, tpot_s = resolved(shape, chip, precision), tpot_ms / 1e3
    deployment = Deployment(shape, chip, precision, software="vLLM 0.17.0", kv_precision="BF16")
    load = Load(input_tokens, output_tokens, input_cv=length_spread, output_cv=length_spread)
    batch = {"one at a time": 1, "static": static_batch}.get(batching)
    limits = {"batch": batch, "tpot_s": tpot_s, "prefix_share": prefix_share}
    groups(Service(deployment, load, requests_per_s, **limits))
    # The page's groups are curves through those engines, which may miss a pace by a hair.
    kept = (
        continuous_rate(one, load, tpot_s)[1]
        if batch is None
        else static_rate(one, load, batch, tpot_s)
        for one in curves(engines_like(deployment))
    )
    if all(map(math.isnan, kept)):
        raise ValueError(
            f"tpot_ms = {tpot_ms:g}: {model} in {precision} on {accelerator} needs more for a token"
        )


@_rule
def keeps_pace(
    model: str,
    accelerator: str,
    precision: str,
    pace_tokens_per_s: float,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
) -> None:
    """A model that some server of a node writes with in a format at that pace."""
    from scaleright import catalog
    from scaleright.inference.curves import curves
    from scaleright.inference.lengths import Load
    from scaleright.inference.nodes import engines
    from scaleright.inference.pacing import fastest

    load = Load(input_tokens, output_tokens, cached_share)
    found = engines(catalog.model(model), catalog.accelerator(accelerator), precision)
    known = curves(found) if found else []
    best = fastest(known, load, 1 / pace_tokens_per_s) if known else None
    if best and best.kept:
        return
    alone = [1 / one.at(1.0, load).tpot_s for one in known if one.slots(load) >= 1]
    reason = (
        f"the fastest writes {max(alone):.3g} to one reader alone"
        if alone
        else "such requests do not fit in the memory of 8 chips"
    )
    raise ValueError(f"no server of one node writes so many tokens a second; {reason}")


@_rule
def runs_somewhere(
    task: str,
    model: str,
    precision: str,
    pace_tokens_per_s: float,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
    paid: str,
    contract: str,
    seller: str,
    vendor: str,
    segment: str,
    least_providers: int,
    tokens_per_s: float | None,
    training_precision: str,
) -> None:
    """A workload that some chip of those that are considered can run."""
    from scaleright import market
    from scaleright.decisions.hardware_candidates import candidates
    from scaleright.decisions.hardware_choice import usual
    from scaleright.decisions.hardware_tables import serves, serving_chips
    from scaleright.decisions.hardware_training import require_pace
    from scaleright.inference.lengths import Load

    listed = candidates(vendor, segment, least_providers)
    if paid == "own":
        sold = listed[listed["bought"]]
        if sold.empty:
            raise ValueError("the catalog has no purchase price of these chips; rent them")
    else:
        asked = [seller in market.sellers(name, contract) for name in listed.index]
        sold = listed[asked]
        if sold.empty:
            known = {of for name in listed.index for of in market.contracts(name)}
            offered = ", ".join(of for of in market.CONTRACTS if of in known)
            raise ValueError(
                f"{seller} sells none of these chips {contract}; contracts that some are sold"
                f" under: {offered}"
            )
    if task == "training":
        asked = tokens_per_s or usual()["training"]["tokens_per_s"]
        require_pace(model, training_precision, sold.index, asked)
        return
    load, known = Load(input_tokens, output_tokens, cached_share), set(serving_chips())
    if not any(
        name in known and serves(model, name, precision, load, pace_tokens_per_s)
        for name in sold.index
    ):
        raise ValueError(
            "no node of these chips serves such requests in that format at that pace: allow another"
            " format, a slower pace, shorter requests, other chips or fewer clouds"
        )


@_rule
def measured_serving(task: str, model: str, accelerator: str, precision: str) -> None:
    """A model whose energy in serving was measured on the chip in the format; training asks for
    none.
    """
    from scaleright.inference.energy import measured_format

    if task == "serving":
        measured_format(model, accelerator, precision)
