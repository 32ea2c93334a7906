"""The market: what accelerators rent and sell for, what tokens and power cost, and what owning
hardware takes, from the tables.

Rooms: `rentals` (listings), `history` (rents as they were, and what a term takes off them), `hours`
(the one price of an hour, by chip, contract and seller), `paid` (that of a case of quantities),
`quotes` (where to rent so many, and whether a rent can be right), `compare` (prices beside each
other), `purchases` (what chips sold for), `offers` (what one sells for), `inputs` (power, facility,
people), `tokens` (what APIs ask), `asked` (the same, for models that only their makers sell too).
"""

from scaleright.market.asked import asked_tokens, closed_models
from scaleright.market.history import (
    PriceChange,
    cloud_table,
    commitment_ratio,
    drift_apart,
    paired_ratios,
    price_change,
    price_history,
    yearly_drift,
)
from scaleright.market.hours import (
    CHEAPEST,
    CONTRACTS,
    GROUPS,
    HYPERSCALERS,
    STEADY,
    Hour,
    contracts,
    hour,
    listed_hour,
    offered,
    recent_hour,
    sellers,
)
from scaleright.market.inputs import cost_factor, electricity_price, matmul_chips
from scaleright.market.offers import (
    rent_or_buy_market,
    sale_terms,
    sold_chips,
)
from scaleright.market.paid import (
    BEST,
    BINDING,
    LASTING,
    TERM_YEARS,
    CheapestAccelerator,
    Hours,
    PaidHour,
    Rents,
    fixed_years,
    rents_apart,
    taken_accelerator,
    unfixed,
)
from scaleright.market.purchases import hardware_table
from scaleright.market.quotes import cheapest, check_rent, paid_accelerators
from scaleright.market.rentals import (
    rental_prices,
    spread,
)
from scaleright.market.tokens import (
    Hosts,
    PaidTokens,
    TokenPrice,
    api_price,
    api_prices,
    api_terms,
    hosts,
    open_models,
    sold_release,
)
