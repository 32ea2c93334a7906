"""What a case of a vendor's claim pays: an hour of the newer and of the older chip, and what an API
asks for the tokens that a rack sells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from scaleright.decisions.vendor_economics import LeadErrors
from scaleright.decisions.vendor_evidence import release
from scaleright.formulas import lookup
from scaleright.market import Hosts, Hours, PaidHour, PaidTokens, unfixed, yearly_drift
from scaleright.ops import where
from scaleright.quantity import at, given, look_up
from scaleright.ranges import Ends

OFF = "lead"
"""Input that holds a chip's lead over the predicted one [1]."""
AHEAD = {"newer": "newer_rent_ahead", "older": "older_rent_ahead"}
"""Inputs that hold the rent of either chip in the year ahead over today's [1]."""


@dataclass(frozen=True)
class VendorPaid:
    """Prices of a case.

    newer, older : an hour of either chip, under the contract from the seller, or the reader's own
    asked : the tokens of the model at the API's host, or at prices of the reader's own
    """

    newer: PaidHour
    older: PaidHour
    asked: PaidTokens

    @property
    def there(self) -> Any:
        """Whether both hours have a price."""
        return self.newer.there & self.older.there

    @property
    def why(self) -> Any:
        """Why one has none; empty where both have."""
        return where(self.newer.there, self.older.why, self.newer.why)

    @property
    def times(self) -> Any:
        """An hour of the newer chip over one of the older [1]."""
        return self.newer.usd / self.older.usd

    @lookup
    def doubts(self, case: Any, lead: Any, errors: LeadErrors) -> tuple[Any, dict[str, Ends]]:
        """A lead in cost in the year ahead [1], and the ends of what moves it: how far off measured
        leads are, and either rent over today's, as if both moved apart, where neither a contract
        nor the reader fixes it.
        """
        off, inputs = given(OFF, 1.0), {which: given(name, 1.0) for which, name in AHEAD.items()}
        low, high = yearly_drift().mean_over(1.0)
        ends = {"lead of a chip": Ends(off, errors.low, errors.high)}
        for which, of in inputs.items():
            loose = unfixed(case.contract, getattr(case, f"{which}_usd_per_hour"))
            between = where(loose, low, 1.0), where(loose, high, 1.0)
            ends[f"rent of the {which} chip, a year ahead"] = Ends(of, *between)
        return lead * off * inputs["older"] / inputs["newer"], ends


@dataclass(frozen=True)
class VendorPrices:
    """What an hour of some chips costs, and the tokens of some models at an API."""

    hours: Hours
    hosts: Hosts
    releases: dict[str, str]

    @classmethod
    def of(cls, chips: Sequence[str], models: Sequence[str]) -> Self:
        """Those of some chips and models."""
        releases = {name: release(name) for name in models}
        return cls(Hours(chips), Hosts([*releases.values()]), releases)

    def paid(self, case: Any) -> VendorPaid:
        """The prices of a case: its own, or those under its contract, from its seller, at its
        host.
        """
        of = case.contract, case.seller
        asked = {kind: getattr(case, f"api_{kind}") for kind in ("input", "output")}
        return VendorPaid(
            self.hours.paid(case.newer, *of, case.newer_usd_per_hour),
            self.hours.paid(case.older, *of, case.older_usd_per_hour),
            self.hosts.asked(
                look_up(self.releases, case.model),
                case.api_host,
                asked | {"cached": asked["input"]},  # no prompt is in a cache here
            ),
        )


def as_predicted(wanted: Any) -> Any:
    """A quantity that depends on doubts, at the rents of today and the lead as predicted."""
    return at(wanted, **dict.fromkeys((OFF, *AHEAD.values()), 1.0))
