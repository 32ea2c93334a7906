"""What a token costs: at an API, on rented and on owned hardware, and the load at which these break
even.

Prices are per million tokens, input and output apart, as APIs list them. Hours, speeds and watts
may be those of one accelerator or of a whole group that serves the model, but all of the same one.
Utilization is tokens served over tokens that the hardware could have served in the time it is paid
for.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.costs.break_even import POWER, break_even_hours_per_day
from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, SHARE, Breakdown, closed_form
from scaleright.power import energy_kwh_per_year
from scaleright.units import HOURS_PER_DAY, HOURS_PER_YEAR, SECONDS_PER_HOUR

MILLION = 1e6
"""Tokens for which a price is given."""
PROMPT = {"input_tokens": NON_NEGATIVE, "cached_share": SHARE}
API_PRICES = dict.fromkeys(
    ("input_usd_per_million", "output_usd_per_million", "cache_read_usd_per_million"), NON_NEGATIVE
)
"""Arguments that formulas share, with their domains."""


@closed_form(usd_per_hour=POSITIVE, tokens_per_s=POSITIVE, utilization=FRACTION)
def usd_per_million_tokens(usd_per_hour, tokens_per_s, utilization):
    """Cost of a million tokens on hardware paid by the hour [USD / 1e6 token].

    Parameters
    ----------
    usd_per_hour : price of the hardware [USD/h]
    tokens_per_s : tokens per second of the same hardware at full load [token/s]; output tokens, if
        the price is to be per output token with the prompts that this speed was measured with
    utilization : share of the paid time at that load [1], 0 < utilization <= 1

    Source: definition; Clarifai's Unit-Economics Calculator in one line.

    >>> round(usd_per_million_tokens(2.0, 1000.0, 0.40), 2)
    1.39
    """
    return usd_per_hour * (MILLION / tokens_per_s) / (SECONDS_PER_HOUR * utilization)


@closed_form(tokens_per_s=POSITIVE, usd_per_million=POSITIVE)
def usd_per_full_hour(tokens_per_s, usd_per_million):
    """What the tokens of an hour at full load cost at a price per million [USD/h].

    >>> usd_per_full_hour(1000.0, 0.5)
    1.8
    """
    return tokens_per_s * SECONDS_PER_HOUR * usd_per_million / MILLION


@closed_form(usd_per_hour=POSITIVE, tokens_per_s=POSITIVE, usd_per_million=POSITIVE)
def break_even_utilization(usd_per_hour, tokens_per_s, usd_per_million):
    """Utilization above which hardware paid by the hour is cheaper than an API [1]; above 1 the API
    always is.

    Parameters
    ----------
    usd_per_hour, tokens_per_s : see `usd_per_million_tokens`
    usd_per_million : price of the same tokens at the API [USD / 1e6 token], see
        `mix_usd_per_million`

    Source: definition; Clarifai quotes 50 % for a 7B model and 10 % for a 13B model.

    >>> round(break_even_utilization(2.0, 1000.0, 1.0), 3)
    0.556
    """
    return usd_per_hour / usd_per_full_hour(tokens_per_s, usd_per_million)


@dataclass(frozen=True)
class TokenBill(Breakdown):
    """What tokens cost [USD], by kind: fresh input, input read from a cache, output."""

    input_usd: Any
    cached_usd: Any
    output_usd: Any


@closed_form(output_tokens=NON_NEGATIVE, **PROMPT, **API_PRICES)
def request_usd(
    input_tokens,
    output_tokens,
    cached_share,
    input_usd_per_million,
    output_usd_per_million,
    cache_read_usd_per_million,
) -> TokenBill:
    """Bill of one request, or of any number of tokens, at prices of an API or at one's own [USD].

    Parameters
    ----------
    input_tokens, output_tokens : tokens read and written [token]
    cached_share : share of the input that is found in a cache [1]
    input_usd_per_million, output_usd_per_million : prices [USD / 1e6 token]
    cache_read_usd_per_million : price of cached input [USD / 1e6 token]; the input's own where an
        offer has no cache

    Source: definition.

    >>> request_usd(1e6, 5e5, 0.5, 3.0, 15.0, 0.3)
    TokenBill(input_usd=1.5, cached_usd=0.15, output_usd=7.5)
    """
    return TokenBill(
        input_usd=input_tokens * (1 - cached_share) * input_usd_per_million / MILLION,
        cached_usd=input_tokens * cached_share * cache_read_usd_per_million / MILLION,
        output_usd=output_tokens * output_usd_per_million / MILLION,
    )


@closed_form(output_tokens=POSITIVE, **PROMPT, **API_PRICES)
def mix_usd_per_million(
    input_tokens,
    output_tokens,
    cached_share,
    input_usd_per_million,
    output_usd_per_million,
    cache_read_usd_per_million,
):
    """Price of a million output tokens together with the prompts that they answer [USD / 1e6 output
    token].

    It compares with `usd_per_million_tokens` at a speed in output tokens that was measured with
    such prompts. Arguments as in `request_usd`.

    >>> mix_usd_per_million(4000.0, 1000.0, 0.0, 0.25, 1.0, 0.25)
    2.0
    """
    prices = (input_usd_per_million, output_usd_per_million, cache_read_usd_per_million)
    return (
        request_usd(input_tokens, output_tokens, cached_share, *prices).total
        * MILLION
        / output_tokens
    )


@dataclass(frozen=True)
class OwnedTokenCost(Breakdown):
    """A million tokens on owned hardware [USD / 1e6 token]: what is fixed, power drawn idle, and
    the extra of working.
    """

    fixed_usd: Any
    idle_power_usd: Any
    working_power_usd: Any


@closed_form(fixed_usd_per_year=NON_NEGATIVE, tokens_per_s=POSITIVE, utilization=FRACTION, **POWER)
def owned_usd_per_million_tokens(
    fixed_usd_per_year, tokens_per_s, utilization, busy_watts, idle_watts, pue, usd_per_kwh
) -> OwnedTokenCost:
    """Cost of a million tokens on owned hardware, whose power follows the load, by parts.

    Parameters
    ----------
    fixed_usd_per_year : yearly cost that does not depend on use, see `own.fixed_usd_per_year`
        [USD/year]
    tokens_per_s, utilization : see `usd_per_million_tokens`
    busy_watts, idle_watts, pue, usd_per_kwh : see `power.energy_kwh_per_year`, and the price of
        power [USD/kWh]

    With the terms of an `Ownership`: `owned_usd_per_million_tokens(terms.fixed_usd_per_year, speed,
    load, **terms.power)`, terms and speed both of one accelerator.

    >>> cost = owned_usd_per_million_tokens(8766.0, 1000.0, 0.5, 700.0, 100.0, 1.25, 0.1)
    >>> round(cost.fixed_usd, 3), round(cost.total, 3)
    (0.556, 0.583)
    """
    millions_a_year = tokens_per_s * utilization * HOURS_PER_YEAR * SECONDS_PER_HOUR / MILLION
    idle_kwh = energy_kwh_per_year(0.0, busy_watts, idle_watts, pue)
    kwh = energy_kwh_per_year(HOURS_PER_DAY * utilization, busy_watts, idle_watts, pue)
    return OwnedTokenCost(
        fixed_usd=fixed_usd_per_year / millions_a_year,
        idle_power_usd=idle_kwh * usd_per_kwh / millions_a_year,
        working_power_usd=(kwh - idle_kwh) * usd_per_kwh / millions_a_year,
    )


@closed_form(
    fixed_usd_per_year=NON_NEGATIVE, tokens_per_s=POSITIVE, usd_per_million=POSITIVE, **POWER
)
def owned_break_even_utilization(
    fixed_usd_per_year, tokens_per_s, usd_per_million, busy_watts, idle_watts, pue, usd_per_kwh
):
    """Utilization above which owned hardware is cheaper than an API [1].

    An hour of full load replaces so many dollars of tokens as an hour of rent would: the break-even
    against a rent, as a share of the day. Above 1 the API always wins; infinite where the power of
    working alone costs more. Arguments as in `owned_usd_per_million_tokens` and
    `break_even_utilization`.

    >>> round(owned_break_even_utilization(8766.0, 1000.0, 1.0, 700.0, 100.0, 1.25, 0.1), 3)
    0.287
    """
    hours = break_even_hours_per_day(
        usd_per_full_hour(tokens_per_s, usd_per_million),
        fixed_usd_per_year,
        busy_watts,
        idle_watts,
        pue,
        usd_per_kwh,
    )
    return hours / HOURS_PER_DAY
