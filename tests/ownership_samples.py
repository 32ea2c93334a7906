"""A card that tests own."""

from scaleright.costs.ownership import Ownership

CARD = Ownership(
    price_usd=2200.0,
    resale_share=0.27,
    years=2.0,
    cost_of_capital=0.05,
    busy_watts=550.0,
    idle_watts=50.0,
    most_watts=550.0,
    pue=1.0,
    usd_per_kwh=0.16,
)
