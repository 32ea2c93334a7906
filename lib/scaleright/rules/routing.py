"""Rules about tiers of models."""

from collections.abc import Mapping, Sequence


def better_than_chance(caught: float, false_alarm: float) -> None:
    """A check that flags more of the wrong answers than of the right ones."""
    if caught <= false_alarm:
        raise ValueError(
            "a check that flags no more of the wrong answers than of the right ones is no better"
            " than chance: sending requests on at random costs as much and needs no check; give one"
            " that catches more than it flags in vain"
        )


def rising(
    small: str, medium: str, large: str, easy_share: float, hard_share: float, *own: float
) -> None:
    """Tiers of which a larger one is no less often right at any level of difficulty; own : rates of
    the reader's, 0 for published ones.
    """
    from scaleright.decisions import routing_tiers as tiers

    shares, found = tiers.level_shares(easy_share, hard_share), []
    for model, rate in zip((small, medium, large), own, strict=True):
        published = [*tiers.success_rates()[model].values()]
        found.append(tiers.scaled_rates(published, shares, rate))
    tiers.require_rising(found)


def tier_served(
    model: str,
    served_on: str,
    accelerator: str,
    contract: str,
    rent_usd_per_hour: float,
    pace_tokens_per_s: float,
    input_tokens: int,
    output_tokens: int,
    traffic: str,
    choices: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """A tier at the API, or one whose weights somebody else may serve, on accelerators that are
    rented out so and keep its pace. The cheapest accelerator is sought among the choices.
    """
    from scaleright import market
    from scaleright.rules.prices import priced
    from scaleright.rules.serving import keeps_pace

    if served_on == "API":
        return
    if served_on == market.BEST:
        if accelerator == market.BEST:
            priced(accelerator, contract, "median", rent_usd_per_hour, choices=choices)
        return
    if model in market.closed_models():
        raise ValueError("its maker alone serves it, so it cannot be rented; choose API")
    priced(accelerator, contract, "median", rent_usd_per_hour, choices=choices)
    load = input_tokens, output_tokens, 0.0, traffic
    keeps_pace(model, accelerator, "usual", pace_tokens_per_s, *load, choices=choices)
