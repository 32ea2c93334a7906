"""GPU Economics Stack (F1): the bill of a month in layers, and which layer is the largest.

What demand takes is seen in how the bill moves with it; dollars go to compute, to what scarce
supply adds to it, and to operations that no price list names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from scaleright.catalog import shared, table
from scaleright.formulas import NON_NEGATIVE, SHARE, Breakdown, Domain, closed_form, lookup
from scaleright.ops import maximum, minimum, where
from scaleright.quantity import least
from scaleright.units import HOURS_PER_YEAR, MONTHS_PER_YEAR

SOURCE = "Clarifai's GPU Economics Stack"
COMPUTE, SUPPLY, HIDDEN = "compute", "supply", "hidden operations"
PARTS = ("compute", "memory", "packaging")
"""Of what making a chip costs, in `data/chip_costs.csv`."""
LAYER_OF = {
    "processors": COMPUTE,
    "servers and network": COMPUTE,
    "memory": SUPPLY,
    "packaging": SUPPLY,
    "margin of the maker": SUPPLY,
    "margin of the seller": SUPPLY,
    "waiting": SUPPLY,
    "idle hours": HIDDEN,
    "power and cooling": HIDDEN,
    "upkeep and insurance": HIDDEN,
    "people": HIDDEN,
    "storage": HIDDEN,
    "data moved out": HIDDEN,
    "compliance": HIDDEN,
}
"""The layer of each part of a bill, both by the words for them."""
_LIFE = Domain(0.0, 50.0, (0.5, 8.0), open_low=True)


@dataclass(frozen=True)
class StackBill(Breakdown):
    """The bill of a month in the parts of the stack [USD/month]; they add up to `total`.

    Compute and supply are those of hours that work; hours that do not are `idle_hours`.
    """

    processors_usd: Any
    servers_and_network_usd: Any
    memory_usd: Any
    packaging_usd: Any
    margin_of_the_maker_usd: Any
    margin_of_the_seller_usd: Any
    waiting_usd: Any
    idle_hours_usd: Any
    power_and_cooling_usd: Any
    upkeep_and_insurance_usd: Any
    people_usd: Any
    storage_usd: Any
    data_moved_out_usd: Any
    compliance_usd: Any

    @property
    def layers(self) -> dict[str, Any]:
        """The three layers by name [USD/month]."""
        compute, supply = (
            reduce(add, (usd for name, usd in self.labeled().items() if LAYER_OF[name] == layer))
            for layer in (COMPUTE, SUPPLY)
        )
        return {COMPUTE: compute, SUPPLY: supply, HIDDEN: self.total - compute - supply}

    @property
    def largest(self) -> tuple[Any, Any]:
        """The layer that takes most, and what it takes [USD/month]."""
        name, usd = least({name: -usd for name, usd in self.layers.items()})
        return name, -usd

    @property
    def second(self) -> Any:
        """What the layer after the largest takes [USD/month]."""
        compute, supply, hidden = self.layers.values()
        most = maximum(maximum(compute, supply), hidden)
        least_ = minimum(minimum(compute, supply), hidden)
        return self.total - most - least_


@closed_form(
    hardware_usd=NON_NEGATIVE,
    purchase_usd=NON_NEGATIVE,
    power_and_cooling_usd=NON_NEGATIVE,
    upkeep_usd=NON_NEGATIVE,
    crew_usd=NON_NEGATIVE,
    utilization=SHARE,
    chip_share=SHARE,
    compute_share=Domain(0.0, 1.0, (0.0, 0.3)),
    memory_share=Domain(0.0, 1.0, (0.0, 0.3)),
    packaging_share=Domain(0.0, 1.0, (0.0, 0.3)),
    waiting_usd=NON_NEGATIVE,
    storage_usd=NON_NEGATIVE,
    egress_usd=NON_NEGATIVE,
    people_usd=NON_NEGATIVE,
    compliance_usd=NON_NEGATIVE,
)
def stack_bill(
    hardware_usd,
    purchase_usd,
    power_and_cooling_usd,
    upkeep_usd,
    crew_usd,
    utilization,
    chip_share,
    compute_share,
    memory_share,
    packaging_share,
    waiting_usd=0.0,
    storage_usd=0.0,
    egress_usd=0.0,
    people_usd=0.0,
    compliance_usd=0.0,
) -> StackBill:
    """What accelerators and all around them cost in a month, in the parts of the stack.

    A rent pays what the same hours cost whoever owns the machine; what it asks above that is the
    seller's margin, and where it asks less every part is paid in part.

    Parameters
    ----------
    hardware_usd : what is paid for the accelerators, rented or owned [USD/month]
    purchase_usd, power_and_cooling_usd, upkeep_usd, crew_usd : what the same accelerators cost who
        owns them: price and capital; power and the place; repairs, insurance and taxes; people
        [USD/month]
    utilization, chip_share : of the paid hours, those that work; of the purchase, the bare chip [1]
    compute_share, memory_share, packaging_share : of the chip's price, what making each part costs
        [1]; what is left is the maker's margin
    waiting_usd, storage_usd, egress_usd, people_usd, compliance_usd : beside the accelerators
        [USD/month]

    >>> bill = stack_bill(100.0, 40.0, 10.0, 5.0, 5.0, 0.5, 0.5, 0.1, 0.2, 0.1)
    >>> bill.total, bill.margin_of_the_seller_usd, bill.idle_hours_usd
    (100.0, 20.0, 40.0)
    """
    owner_usd = purchase_usd + power_and_cooling_usd + upkeep_usd + crew_usd
    paid = minimum(1.0, hardware_usd / where(owner_usd > 0, owner_usd, 1.0))
    margin, working = maximum(hardware_usd - owner_usd, 0.0), purchase_usd * paid * utilization
    chip = working * chip_share
    left = maximum(1 - compute_share - memory_share - packaging_share, 0.0)
    return StackBill(
        processors_usd=chip * compute_share,
        servers_and_network_usd=working * (1 - chip_share),
        memory_usd=chip * memory_share,
        packaging_usd=chip * packaging_share,
        margin_of_the_maker_usd=chip * left,
        margin_of_the_seller_usd=margin * utilization,
        waiting_usd=waiting_usd,
        idle_hours_usd=(purchase_usd * paid + margin) * (1 - utilization),
        power_and_cooling_usd=power_and_cooling_usd * paid,
        upkeep_and_insurance_usd=upkeep_usd * paid,
        people_usd=crew_usd * paid + people_usd,
        storage_usd=storage_usd,
        data_moved_out_usd=egress_usd,
        compliance_usd=compliance_usd,
    )


@closed_form(
    chips=NON_NEGATIVE,
    rent_usd_per_hour=NON_NEGATIVE,
    owned_usd_per_hour=NON_NEGATIVE,
    lead_months=NON_NEGATIVE,
    years=_LIFE,
)
def waiting_usd_per_month(chips, rent_usd_per_hour, owned_usd_per_hour, lead_months, years):
    """What it costs to rent by the hour until one's own accelerators come, beyond what they would
    have cost, spread over the months that they serve [USD/month].

    Parameters
    ----------
    chips : that are waited for [1]
    rent_usd_per_hour, owned_usd_per_hour : of one, until then and afterwards [USD/h]
    lead_months : between order and use [month]
    years : of use [year]

    >>> waiting_usd_per_month(8.0, 3.0, 2.0, 6.0, 4.0)
    730.5
    """
    dearer = maximum(rent_usd_per_hour - owned_usd_per_hour, 0.0)
    return (
        chips * dearer * HOURS_PER_YEAR / MONTHS_PER_YEAR * lead_months / (MONTHS_PER_YEAR * years)
    )


@lookup
@shared
def chip_costs() -> Mapping[str, Mapping[str, float]]:
    """What making a chip costs, by chip and part [USD].

    >>> costs = chip_costs()["B200"]
    >>> costs["memory"] > costs["compute"]
    True
    """
    frame = table("chip_costs")
    found: dict[str, dict[str, float]] = {}
    for chip, part, usd in zip(frame["accelerator"], frame["part"], frame["usd"], strict=True):
        found.setdefault(str(chip), dict.fromkeys(PARTS, 0.0))[str(part)] = float(usd)
    return found
