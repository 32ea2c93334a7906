"""The chips among which to choose: what each can do, what an hour of it costs rented or owned, and
who offers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import Accelerator, accelerators, shared
from scaleright.costs.break_even import break_even_usd_per_hour
from scaleright.costs.own import POWER
from scaleright.costs.ownership import (
    Ownership,
    setting_factors,
    setting_usd_per_kwh,
    years_since_release,
)
from scaleright.market import PaidHour, listed_hour, matmul_chips, spread
from scaleright.names import one_of
from scaleright.ops import where
from scaleright.order import name_of_greatest
from scaleright.units import HOURS_PER_DAY, figure


def hour_usd(chip: Mapping[str, Any], own: Any, utilization: Any, end: str = ""):
    """Price of one chip for every hour of a service: its rent, or what owning it costs at that
    utilization [USD/h].

    Parameters
    ----------
    chip : a row of `candidates`
    own : whether it is bought
    utilization : mean over peak demand; power follows it [1]
    end : "", or "_low" or "_high" for an end of the listings or of the purchase price

    >>> row = candidates().loc["H100 SXM"]
    >>> bool(hour_usd(row, False, 0.5) == row["rent_usd_per_hour"])
    True
    """
    owned = owned_hour_usd(chip, utilization, end)
    return where(own, owned, chip[f"rent_usd_per_hour{end}"])


def owned_hour_usd(chip: Mapping[str, Any], utilization: Any, end: str = "") -> Any:
    """What owning a chip costs for every hour of a service [USD/h]; arguments as in `hour_usd`.

    >>> row = candidates().loc["H100 SXM"]
    >>> bool(owned_hour_usd(row, 0.1) < owned_hour_usd(row, 0.9))
    True
    """
    busy_hour = break_even_usd_per_hour(
        HOURS_PER_DAY * utilization,
        chip[f"fixed_usd_per_year{end}"],
        *(chip[name] for name in POWER),
    )
    return busy_hour * utilization


@dataclass(frozen=True)
class ChipHour:
    """Price of one chip for every hour of a service [USD/h].

    usd, low, high : what it is, and its ends
    there : whether it has one [truth value]
    age : of which days it is, in words
    listed_usd : what its hour costs on demand, or owned
    """

    usd: Any
    low: Any
    high: Any
    there: Any
    age: Any
    listed_usd: Any

    @classmethod
    def of(cls, chip: Mapping[str, Any], paid: PaidHour, own: Any, utilization: Any) -> Self:
        """That of owning it, or of what is paid for its rent.

        Parameters
        ----------
        chip : a row of `candidates`
        own, utilization : as in `hour_usd`
        """
        ends = {"usd": "", "low": "_low", "high": "_high"}
        return cls(
            **{
                name: where(own, owned_hour_usd(chip, utilization, end), getattr(paid, name))
                for name, end in ends.items()
            },
            there=where(own, True, paid.there),
            age=where(own, chip["sold"] + " (price of a chip)", paid.age + " (rents)"),
            listed_usd=hour_usd(chip, own, utilization),
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
    with _low and _high, providers that list it; as_of and sold, in words of which days its rent and
    its price are; bought (whether the catalog has a price), fixed_usd_per_year with _low and _high
    and the `POWER` of owning it: consumer cards at home, others in a data center. Where fewer than
    `ENOUGH` list a chip, _low and _high are as far off as they are for the other chips.

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


ENOUGH = 3
"""Providers that make a range of listings."""
SLOTS = 8.0
"""PCIe cards that a server takes."""


@shared
def _candidates() -> pd.DataFrame:
    """Every candidate."""
    catalog, providers = accelerators(), spread().groupby("accelerator").size()
    factors = {
        setting: (setting_factors(setting), setting_usd_per_kwh(setting))
        for setting in ("home", "data center")
    }
    rows = {}
    for name, spec in matmul_chips().items():
        if not (listed := listed_hour(name)):
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
                "rent_usd_per_hour_low": listed.low,
                "rent_usd_per_hour_high": listed.high,
                "providers": int(providers.get(name, 1)),
                "as_of": listed.age,
                "sold": chip.purchase_age or "none",
            }
            | _owning(chip, *factors["home" if chip.segment == "consumer" else "data center"])
        )
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("accelerator")
    few = frame["providers"] < ENOUGH
    for end in ("_low", "_high"):
        usual = (frame[f"rent_usd_per_hour{end}"] / frame["rent_usd_per_hour"])[~few].median()
        frame.loc[few, f"rent_usd_per_hour{end}"] = usual * frame["rent_usd_per_hour"][few]
    numbers = frame.select_dtypes(float)
    return frame.assign(**numbers.map(figure))


def _owning(chip: Accelerator, factors: Mapping[str, float], usd_per_kwh: float) -> dict[str, Any]:
    """What owning a chip costs a year by the ends of its price, and its power; nothing where it is
    not sold.
    """
    ends = chip.purchase_usd if chip.tdp_watts else None
    low, high = ends or (1.0, 1.0)
    prices = {"": chip.purchase_mid_usd if ends else 1.0, "_low": low, "_high": high}
    age = years_since_release(chip.name)
    terms = {
        end: Ownership.build(price, chip.tdp_watts or 1.0, age, usd_per_kwh, factors)
        for end, price in prices.items()
    }
    return (
        {"bought": bool(ends)}
        | {f"fixed_usd_per_year{end}": of.fixed_usd_per_year for end, of in terms.items()}
        | terms[""].power
    )
