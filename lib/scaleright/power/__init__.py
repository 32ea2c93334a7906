"""Electric power: what an accelerator with its share of server and network draws, by what it does,
and the energy that comes of it.

One home for what money and planet share: `costs` prices these kilowatt-hours, `footprint` turns
them into carbon and water. `formulas`: power over time. `drawn`: the draws, from the tables.
"""

from scaleright.power.drawn import (
    BORROWED,
    ENDS,
    SETTINGS,
    WORK,
    Draw,
    draw,
    most_watts,
    owned_draw,
    owned_draws,
    serving_share,
)
from scaleright.power.formulas import (
    DRAW,
    PUE,
    energy_kwh,
    energy_kwh_per_year,
    mean_watts,
)
