"""What a case of a vendor's claim pays: an hour of the newer and of the older chip, and what an API
asks for the tokens that a rack sells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from scaleright.chapters.vendor_claims.evidence import release
from scaleright.market import Hosts, Hours, PaidHour, PaidTokens
from scaleright.ops import where
from scaleright.quantity import look_up


@dataclass(frozen=True)
class VendorPaid:
    """Prices of a case.

    newer, older : an hour of either chip, under the contract from the seller, or the reader's own
    seller, instead : from whom both are rented, see `Hours.seller_of_all`
    asked : the tokens of the model at the API's host, or at prices of the reader's own
    """

    newer: PaidHour
    older: PaidHour
    asked: PaidTokens
    seller: Any
    instead: Any

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
        pair, own = (case.newer, case.older), (case.newer_usd_per_hour, case.older_usd_per_hour)
        seller, instead = self.hours.seller_of_all(pair, case.contract, case.seller, own)
        newer, older = (
            self.hours.paid(name, case.contract, seller, usd)
            for name, usd in zip(pair, own, strict=True)
        )
        asked = {kind: getattr(case, f"api_{kind}") for kind in ("input", "output")}
        return VendorPaid(
            newer,
            older,
            self.hosts.asked(
                look_up(self.releases, case.model),
                case.api_host,
                asked | {"cached": asked["input"]},  # no prompt is in a cache here
            ),
            seller,
            instead,
        )
