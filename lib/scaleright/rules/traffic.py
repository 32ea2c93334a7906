"""Rules about a day of requests."""

from collections.abc import Iterable, Mapping

from scaleright.rules.left_open import on_one


def serves_day(
    model: str,
    accelerator: str,
    trace: str,
    prefixes: str,
    cached_share: float | None,
    pace_tokens_per_s: float,
    ttft_s: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """An engine of one node that keeps the pace and the time to the first token of a trace; if the
    cheapest accelerator is asked for, one of any of the choices.
    """
    from scaleright.costs.day_choices import require_engine

    asked = trace, prefixes, cached_share, pace_tokens_per_s, ttft_s
    on_one(accelerator, choices, lambda name: require_engine(model, name, *asked))


def serves_workload(
    workload: str,
    model: str,
    accelerator: str,
    trace: str,
    pace_tokens_per_s: float,
    ttft_s: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """For a service of the reader's own, an engine of one node that serves so, and keeps the
    prompts that fit in its memory.
    """
    if workload != "your own service":
        return
    asked = trace, "what fits", None, pace_tokens_per_s, ttft_s
    serves_day(model, accelerator, *asked, choices)


def keeps_or_spreads(data: str, regions: str) -> None:
    """Data that stay in the house, or a service in several regions."""
    if data == "may not leave" and regions == "several":
        raise ValueError(
            "data that may not leave rule out every cloud, and several regions rule out one place"
            " of your own; allowed: one region, or data that may leave or stay in the region"
        )


def pays_for_a_node(
    budget_usd_per_year: float,
    accelerator: str,
    contract: str,
    seller: str,
    rent_usd_per_hour: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """A budget, if there is one, of at least one accelerator around the clock, of those that are
    left open the cheapest.
    """
    from scaleright import market
    from scaleright.units import HOURS_PER_YEAR

    if not budget_usd_per_year:
        return
    asked = [accelerator]
    if accelerator == market.BEST:
        asked = [of for of in (choices or {}).get("accelerator", ()) if of != market.BEST]
    under = market.LASTING if contract == market.BEST else [contract]
    prices = {
        market.hour(name, of, seller).usd: name
        for name in asked
        for of in under
        if seller in market.sellers(name, of)
    }
    usd = rent_usd_per_hour or min(prices)
    least = usd * HOURS_PER_YEAR
    if budget_usd_per_year < least:
        raise ValueError(
            f"less than one {prices.get(usd, accelerator)} costs in a year, {least:,.0f} USD at"
            f" {usd:.2f} an hour; allowed: that or more, or 0 for no budget"
        )
