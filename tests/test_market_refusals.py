"""Wrong questions about prices, and wrong prices in the tables, are refused by name."""

import pytest
from scaleright import market

FUTURE = "2126-01-01"  # not tomorrow: midnight may pass while the tests run


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda: market.rental_prices("H10O"),
            LookupError,
            "unknown accelerator 'H10O'; nearest: ",
        ),
        (
            lambda: market.rental_prices(pricing="ondemand"),
            LookupError,
            "unknown kind of pricing 'ondemand'; nearest: on_demand",
        ),
        (
            lambda: market.hour("Gaudi 3"),
            LookupError,
            "no recent price of Gaudi 3 under any contract; chips that are sold on demand: ",
        ),
        (
            lambda: market.hour("RTX 4090", "spot"),
            LookupError,
            "no spot price of RTX 4090; nearest contract that has one: on demand .all: ",
        ),
        (
            lambda: market.hour("H100 SXM", "3 years"),
            LookupError,
            "unknown contract '3 years'; nearest: three years",
        ),
        (
            lambda: market.hour("H100 SXM", "spot", "Lambda"),
            LookupError,
            "'Lambda' rents no H100 SXM out spot; at the median of ",
        ),
        (
            lambda: market.hour("H100 SXM", day=FUTURE),
            ValueError,
            f"day {FUTURE} lies in the future",
        ),
        (
            lambda: market.spread(FUTURE),
            ValueError,
            f"day {FUTURE} lies in the future; the newest price is of 20",
        ),
        (
            lambda: market.spread("yesterdayish"),
            ValueError,
            "day 'yesterdayish' is no date; allowed: YYYY-MM-DD from 2022-08-04",
        ),
        (
            lambda: market.cheapest("H100 SXM", day=""),
            ValueError,
            "day '' is no date; allowed: YYYY-MM-DD from 20",
        ),
        (
            lambda: market.spread("2019-01-01"),
            ValueError,
            "lies before the first price, of 2022-08-04",
        ),
        (
            lambda: market.spread("2026-09-29", "reserved_1y"),
            ValueError,
            "no reserved_1y listing in the 12 months up to 2026-09-29; the newest is of 2025",
        ),
        (lambda: market.spread(months=0), ValueError, "months=0; allowed: from 1"),
        (lambda: market.cheapest("H100 SXM", 0), ValueError, "accelerators=0; allowed: from 1"),
        (
            lambda: market.cheapest("H100 SXM", region="us-esat-1"),
            LookupError,
            "unknown region of H100 SXM listings 'us-esat-1'; nearest: us-east-1",
        ),
        (
            lambda: market.cheapest("H100 SXM", provider="Lamda"),
            LookupError,
            "unknown provider of H100 SXM listings 'Lamda'; nearest: Lambda",
        ),
        (lambda: market.cheapest("H100 SXM", day=FUTURE), ValueError, "lies in the future"),
        (
            lambda: market.price_history("T4"),
            LookupError,
            "no on_demand price history of T4; chips with one: A100 SXM 80GB, B200",
        ),
        (
            lambda: market.price_change("H100 SXM", 11, "row"),
            LookupError,
            "unknown basis 'row'; nearest: raw",
        ),
        (
            lambda: market.cloud_table("2023-04-07", -1),
            ValueError,
            "window_days=-1; allowed: from 0",
        ),
        (
            lambda: market.cloud_table("2024-09-20", 0),
            ValueError,
            "no on_demand listing within 0 days of 2024-09-20",
        ),
        (
            lambda: market.commitment_ratio("Amazon", 1),
            LookupError,
            "unknown provider with a commitment ratio 'Amazon'",
        ),
        (
            lambda: market.commitment_ratio("AWS", 2),
            LookupError,
            r"unknown term of AWS \[years\] 2",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("price", [0.0, -1.0, float("nan")])
def test_a_given_price_is_above_zero(price):
    for attempt in (
        lambda: market.check_rent(price, "H100 SXM"),
        lambda: market.sold_chips("H100 SXM", price),
    ):
        with pytest.raises(ValueError, match="a price is above 0"):
            attempt()
