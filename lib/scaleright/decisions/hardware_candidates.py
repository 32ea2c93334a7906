"""The chips among which to choose: what each can do, what an hour of it costs rented or owned, and
who offers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import accelerators, shared
from scaleright.costs.owned_hours import OwnedHour
from scaleright.market import PaidHour, matmul_chips, recent_hour, spread
from scaleright.names import one_of
from scaleright.ops import where
from scaleright.order import name_of_greatest
from scaleright.units import figure

ENDS = ("usd", "low", "high")


@dataclass(frozen=True)
class ChipHour:
    """Price of one chip for every hour of a service [USD/h].

    usd, low, high : what it is, and the ends of it: of an owned one as of `OwnedHour`; a rent
        has none, since whom to pay is chosen
    apart : standard deviation of the logarithm of its ratio to another chip's, see
        `OwnedHour.apart`; 0 of a rent [1]
    there : whether it has one [truth value]
    age : of which days it is, in words
    listed_usd : what its hour costs on demand, or owned
    """

    usd: Any
    low: Any
    high: Any
    apart: Any
    there: Any
    age: Any
    listed_usd: Any

    @classmethod
    def of(cls, chip: Mapping[str, Any], paid: PaidHour, owned: OwnedHour, own: Any) -> Self:
        """That of owning it, or of what is paid for its rent.

        Parameters
        ----------
        chip : a row of `candidates`
        own : whether it is bought
        """
        return cls(
            **{end: where(own, getattr(owned, end), paid.usd) for end in ENDS},
            apart=where(own, owned.apart, 0.0),
            there=where(own, True, paid.there),
            age=where(own, chip["sold"] + " (price of a chip)", paid.age + " (rents)"),
            listed_usd=where(own, owned.usd, chip["rent_usd_per_hour"]),
        )


def candidates(vendor: str = "all", segment: str = "any", least_providers: int = 1) -> pd.DataFrame:
    """Chips with a recent rent and all that the roofline needs, by name.

    Parameters
    ----------
    vendor : one vendor, or "all"
    segment : "data center", "consumer" ..., or "any"
    least_providers : how many must list a chip [1]

    Columns: vendor, segment, those of `market.matmul_chips`, scale_up_bytes_per_s (0 if unknown),
    joined (chips that this fabric joins), measured (whether a matmul was), watts, rent_usd_per_hour
    on demand, providers that list it; as_of and sold, in words of which days its rent and its price
    are; bought (whether the catalog has a price and a power of it).

    Raises
    ------
    LookupError : no such vendor or segment among the chips with a recent rent, or nothing that so
        many providers list.

    >>> bool((candidates(vendor="AMD")["vendor"] == "AMD").all())
    True
    """
    every = frame = _candidates()
    for column, wanted, everything in (("vendor", vendor, "all"), ("segment", segment, "any")):
        if wanted != everything:
            one_of(
                wanted,
                [everything, *sorted(set(every[column]))],
                f"{column} of chips with a recent rent",
            )
            frame = frame[frame[column] == wanted]
    if frame.empty:
        has = ", ".join(sorted(set(every[every["vendor"] == vendor]["segment"])))
        raise LookupError(f"no {vendor} {segment} chip has a recent rent; {vendor} has: {has}")
    listed = frame[frame["providers"] >= least_providers]
    if listed.empty:
        most = frame["providers"].max()
        raise LookupError(
            f"no such chip is listed by {least_providers} providers or more;"
            f" {name_of_greatest(frame['providers'])} is by {most}"
        )
    return listed.copy()


def offered(vendor: str, segment: str, least_providers: int) -> pd.DataFrame:
    """`candidates` of a vendor and a kind; all of them where there are none.

    >>> len(offered("AMD", "workstation", 1)) == len(candidates())
    True
    """
    try:
        return candidates(vendor, segment, least_providers)
    except LookupError:
        return candidates()


def named() -> pd.DataFrame:
    """Every candidate by name; columns: chip, vendor, segment.

    >>> named().set_index("chip").loc["H100 SXM", "vendor"]
    'NVIDIA'
    """
    return candidates().rename_axis("chip").reset_index()[["chip", "vendor", "segment"]]


def considered(chip: Mapping[str, Any], vendor: Any, segment: Any, least: Any, own: Any) -> Any:
    """Whether a chip is among those to choose from: a quantity, as its arguments may be.

    Parameters
    ----------
    chip : a row of `candidates`
    vendor, segment, least : as in `candidates`
    own : whether it is bought, so that it has to be for sale

    >>> from scaleright.quantity import choose, given
    >>> chip = choose(candidate_rows(), given("chip", "H100 SXM"))
    >>> considered(chip, given("vendor", "AMD"), "any", 1, False).value
    False
    """
    kind = ((vendor == "all") | (chip["vendor"] == vendor)) & (
        (segment == "any") | (chip["segment"] == segment)
    )
    return kind & (chip["providers"] >= least) & (where(own, chip["bought"], 1) > 0)


@shared
def candidate_rows() -> dict[str, dict[str, Any]]:
    """`candidates` by name, for `choose`.

    >>> candidate_rows()["H100 SXM"]["vendor"]
    'NVIDIA'
    """
    found = candidates()
    return found.assign(bought=found["bought"].astype(int)).to_dict("index")


SLOTS = 8.0
"""PCIe cards that a server takes."""


@shared
def _candidates() -> pd.DataFrame:
    """Every candidate."""
    catalog, providers = accelerators(), spread().groupby("accelerator").size()
    rows = {}
    for name, spec in matmul_chips().items():
        if not (listed := recent_hour(name)):
            continue
        chip = catalog[name]
        rows[name] = (
            {"vendor": chip.vendor, "segment": chip.segment}
            | spec
            | {
                "scale_up_bytes_per_s": chip.scale_up_bytes_per_s or 0.0,
                "joined": chip.scale_up_chips or (SLOTS if chip.form == "PCIe" else 1.0),
                "measured": "bf16" in chip.measured,
                "watts": chip.tdp_watts,
                "rent_usd_per_hour": listed.usd,
                "providers": int(providers.get(name, 1)),
                "as_of": listed.age,
                "sold": chip.purchase_age or "none",
                "bought": bool(chip.purchase_usd and chip.tdp_watts),
            }
        )
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("accelerator")
    numbers = frame.select_dtypes(float)
    return frame.assign(**numbers.map(figure))
