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
) -> None:
    """An engine of one node that keeps the pace and the time to the first token of a trace."""
    from scaleright.costs.day_choices import require_engine

    require_engine(model, accelerator, trace, prefixes, cached_share, pace_tokens_per_s, ttft_s)


def serves_workload(
    model: str,
    accelerator: str,
    trace: str,
    pace_tokens_per_s: float,
    ttft_s: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """An engine of one node that serves so, with the prompts kept that fit in its memory."""

    def serves(name: str) -> None:
        serves_day(model, name, trace, "what fits", None, pace_tokens_per_s, ttft_s)

    on_one(accelerator, choices, serves)


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
) -> None:
    """A budget, if there is one, of at least one accelerator around the clock."""
    from scaleright import market
    from scaleright.units import HOURS_PER_YEAR

    if not budget_usd_per_year:
        return
    usd = rent_usd_per_hour or market.hour(accelerator, contract, seller).usd
    least = usd * HOURS_PER_YEAR
    if budget_usd_per_year < least:
        raise ValueError(
            f"less than one {accelerator} costs in a year, {least:,.0f} USD at {usd:.2f} an hour;"
            " allowed: that or more, or 0 for no budget"
        )
