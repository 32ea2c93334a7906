"""What work costs the planet: energy, carbon, water, and the making of the machines.

`parts`: closed forms, each a sum of named parts. `machines`: an accelerator that draws what
`scaleright.power` says, and what making it emitted. `places`: grids by zone and year, cloud
regions. A `Footprint` puts them together.
"""

from scaleright.footprint.machines import (
    Footprint,
    Machine,
    machine,
    machine_ends,
    machines,
)
from scaleright.footprint.parts import (
    Carbon,
    Energy,
    Water,
    busy_hours,
    carbon_kg,
    embodied_kg,
    energy_kwh,
    water_liters,
)
from scaleright.footprint.places import (
    Figure,
    Grid,
    Place,
    Region,
    carbon_years,
    grid,
    intensity_spread,
    locate,
    place,
    region,
    regions,
    usual,
)
