"""The market: what accelerators rent and sell for, what tokens and power cost, and what owning hardware takes, from the tables.

Rooms: `rentals` (listings and the price to decide on), `offers` (one chip, bought or rented), `inputs` (power, facility,
people), `tokens` (what APIs ask).
"""

from scaleright.market.inputs import cost_factor, electricity_price, matmul_chips
from scaleright.market.offers import Offer, offer, rent_or_buy_market
from scaleright.market.rentals import (
    RECENT_YEARS,
    PriceRange,
    check_rent,
    listing_age,
    recent_rental_price,
    rental_price,
    rental_prices,
    rental_span,
)
from scaleright.market.tokens import TokenPrice, api_price, api_prices, open_models

__all__ = [
    "RECENT_YEARS", "Offer", "PriceRange", "TokenPrice", "api_price", "api_prices", "check_rent", "cost_factor", "electricity_price",
    "listing_age", "matmul_chips", "offer", "open_models", "recent_rental_price", "rent_or_buy_market", "rental_price",
    "rental_prices", "rental_span",
]  # fmt: skip
