"""Rules about engines that serve a model in a format, at a pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaleright.inference.lengths import Load


def served_as(model: str, accelerator: str, precision: str) -> None:
    """A model that a chip serves in a format."""
    from scaleright import catalog
    from scaleright.inference.formats import resolved

    resolved(catalog.model(model), catalog.accelerator(accelerator), precision)


def served_in(accelerator: str, precision: str) -> None:
    """A chip that serves the model that stands for others in a format, or the cheapest one."""
    from scaleright import market
    from scaleright.costs.training_fleet import MODEL, compared

    if accelerator != market.BEST:
        return served_as(MODEL, accelerator, precision)
    *others, last = compared()
    for name in others:
        with suppress(LookupError, ValueError):
            return served_as(MODEL, name, precision)
    return served_as(MODEL, last, precision)


def both_serve(bet: str, rival: str, mixture: str, dense: str, precision: str) -> None:
    """Two chips that both serve two models of MLPerf in a format."""
    from scaleright.chapters.architecture_bets.evidence import require_served

    require_served(bet, rival, mixture, dense, precision)


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
    from scaleright.chapters.vendor_claims.evidence import require_speed

    forms = {newer: newer_precision, older: older_precision}
    require_speed(model, request, drafts, forms, speed)


def serves(
    model: str,
    accelerator: str,
    precision: str,
    chips: str,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
    traffic: str,
    contract: str = "",
    seller: str = "",
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """A server that holds the model in a format, and one request beside it; if the cheapest
    accelerator is asked for, one of any of the choices that are rented out so.
    """
    from scaleright import catalog
    from scaleright.chapters.inference_roofline.model import FEWEST
    from scaleright.inference.demand import requests_of
    from scaleright.inference.splits import require_server
    from scaleright.rules.left_open import on_one

    shape, many = catalog.model(model), None if chips == FEWEST else int(chips)
    load = requests_of(traffic, input_tokens, output_tokens, cached_share)

    def serve(name: str) -> None:
        require_server(shape, catalog.accelerator(name), precision, many, load)

    on_one(accelerator, choices, serve, contract, seller)


def grouped(
    model: str,
    accelerator: str,
    precision: str,
    batching: str,
    static_batch: int,
    input_tokens: float,
    output_tokens: float,
    traffic: str,
    tpot_ms: float,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """A service that some group of chips holds and keeps the pace of; if the cheapest accelerator
    is asked for, one of any of the choices.
    """
    from scaleright.inference.demand import requests_of
    from scaleright.rules.left_open import on_one

    load = requests_of(traffic, input_tokens, output_tokens)
    batch = {"one at a time": 1, "static": static_batch}.get(batching)

    def group(name: str) -> None:
        _grouped(model, name, precision, load, batch, tpot_ms / 1e3)

    on_one(accelerator, choices, group)


def _grouped(
    model: str, accelerator: str, precision: str, load: Load, batch: int | None, tpot_s: float
) -> None:
    """`grouped` on one accelerator; batch : None for requests that join and leave alone."""
    import math

    from scaleright import catalog
    from scaleright.inference.curves import curves
    from scaleright.inference.deployment import Deployment, shared_by
    from scaleright.inference.formats import resolved
    from scaleright.inference.ladder import SOFTWARE
    from scaleright.inference.nodes import continuous_rate, engines_like, static_rate
    from scaleright.inference.serving import room

    shape, chip = catalog.model(model), catalog.accelerator(accelerator)
    precision = resolved(shape, chip, precision)
    one = Deployment(shape, chip, precision, software=SOFTWARE, kv_precision="BF16")
    engines = engines_like(one)
    found = [of for of in curves(engines) if of.slots(load) >= 1] if engines else []
    if not found:
        room(shared_by(one, 8), load)  # says why not
        raise ValueError(f"{model}: no engine holds such requests")
    kept = (
        continuous_rate(of, load, tpot_s)[1]
        if batch is None
        else static_rate(of, load, batch, tpot_s)[0]
        for of in found
    )
    if all(map(math.isnan, kept)):
        alone_s = min(of.at(1.0, load).tpot_s for of in found)
        needs = f" {1e3 * alone_s:.3g}" if alone_s > tpot_s else " more"
        raise ValueError(
            f"tpot_ms = {1e3 * tpot_s:g}: {model} in {precision} on {accelerator} needs{needs}"
            " for a token"
        )


def engine_known(accelerator: str) -> None:
    """A chip on which it is known how fast models are served, or the cheapest of those offered."""
    from scaleright import catalog, market

    if accelerator != market.BEST and catalog.accelerator(accelerator).kind != "GPU":
        raise ValueError(
            f"no engine of {accelerator} is known: speeds of serving are known of GPUs alone"
        )


def keeps_pace(
    model: str,
    accelerator: str,
    precision: str,
    pace_tokens_per_s: float,
    input_tokens: int,
    output_tokens: int,
    cached_share: float,
    traffic: str,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """A model that some server of a node writes with in a format at that pace; if the cheapest
    accelerator is asked for, one of any of the choices.
    """
    from scaleright import catalog, market
    from scaleright.inference.curves import curves
    from scaleright.inference.demand import requests_of
    from scaleright.inference.engine_tables import engines_in
    from scaleright.inference.formats import USUAL, offered
    from scaleright.inference.nodes import engines, fastest

    load, known = requests_of(traffic, input_tokens, output_tokens, cached_share), []
    some = (choices or {}).get("accelerator", ()) if accelerator == market.BEST else ()
    names = [of for of in some if of != market.BEST] or [accelerator]
    serving = [
        of
        for of in names
        if precision in (USUAL, *offered(catalog.model(model), catalog.accelerator(of)))
    ]
    if not serving:
        chips = "none of the accelerators serves" if some else f"{accelerator} does not serve"
        raise ValueError(f"{chips} {model} in {precision}")
    for name in serving:
        if some:
            found = engines_in(model, name, precision)[1]
        else:
            found = engines(catalog.model(model), catalog.accelerator(name), precision)
            found = curves(found) if found else []
        if found and fastest(found, load, 1 / pace_tokens_per_s).kept:
            return
        known += [*found]
    alone = [1 / one.at(1.0, load).tpot_s for one in known if one.slots(load) >= 1]
    reason = (
        f"the fastest writes {max(alone):.3g} to one reader alone"
        if alone
        else "such requests do not fit in the memory of 8 chips"
    )
    raise ValueError(f"no server of one node writes so many tokens a second; {reason}")
