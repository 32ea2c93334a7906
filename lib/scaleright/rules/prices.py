"""Rules about prices and who asks them."""

from collections.abc import Iterable, Mapping, Sequence

from scaleright import units
from scaleright.names import brief, one_of, suggestion


def listed(accelerator: str) -> None:
    """A chip of which somebody lists an hour on demand."""
    from scaleright.market.listed import listed_chips

    one_of(accelerator, listed_chips(), "accelerator that somebody rents out")


def plausible_rent(accelerator: str, usd_per_hour: float | None) -> None:
    """A rent that is one chip's; 0 and None are none."""
    from scaleright import market

    if usd_per_hour:
        market.check_rent(usd_per_hour, accelerator)


def priced(
    accelerator: str,
    contract: str,
    seller: str,
    rent_usd_per_hour: float,
    paid: str = "rent",
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """An hour that somebody sells, or a rent of the reader's own that is one chip's; 0 is none. Who
    owns the chip asks for neither, and who asks for the cheapest contract for any that lasts. The
    cheapest chip is sought among the choices: it has no rent of the reader's own.
    """
    from scaleright import market

    if accelerator == market.BEST:
        _nothing_of_ones_own("rent", rent_usd_per_hour)
        asked = market.LASTING if contract == market.BEST else [contract]
        _sold_by(seller, asked, (choices or {}).get("accelerator", ()))
    elif rent_usd_per_hour:
        market.check_rent(rent_usd_per_hour, accelerator)
    elif paid != "own":
        if not market.contracts(accelerator):
            raise ValueError(
                f"no recent price of {accelerator} under any contract: give rent_usd_per_hour"
                " [USD/h]"
            )
        if contract == market.BEST:
            sold = (of for of in market.LASTING if seller in market.sellers(accelerator, of))
            contract = next(sold, market.LASTING[0])
        market.hour(accelerator, contract, seller)


def priced_if_rented(
    accelerator: str, contract: str, seller: str, rent_usd_per_hour: float
) -> None:
    """A chip as `priced`, or one that nobody rents out at all, which leaves owning it."""
    from scaleright import market

    if rent_usd_per_hour or market.contracts(accelerator):
        priced(accelerator, contract, seller, rent_usd_per_hour)


def rented_or_owned(
    accelerator: str,
    contract: str,
    seller: str,
    rent_usd_per_hour: float,
    chip_usd: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """A chip as `priced`, or one that nobody rents out and that has a price to buy it."""
    from scaleright import catalog, market

    known = accelerator == market.BEST or rent_usd_per_hour or market.contracts(accelerator)
    if known or not (chip_usd or catalog.accelerator(accelerator).purchase_usd):
        priced(accelerator, contract, seller, rent_usd_per_hour, choices=choices)


def both_rented(
    first: str, second: str, contract: str, seller: str, first_usd: float, second_usd: float
) -> None:
    """Two chips as `priced`, at one seller's prices: at all sellers' where that one does not rent
    both out so.
    """
    from scaleright import market

    rents = {first: first_usd, second: second_usd}
    if not all(usd or seller in market.sellers(name, contract) for name, usd in rents.items()):
        seller = market.GROUPS[0]
    for name, usd in rents.items():
        priced(name, contract, seller, usd)


def for_sale(accelerator: str, chip_usd: float | None) -> None:
    """A chip with a price, the catalog's or the reader's; 0 or None is none. The cheapest chip has
    the catalog's.
    """
    from scaleright import market

    if accelerator == market.BEST:
        _nothing_of_ones_own("price", chip_usd)
    else:
        market.sold_chips(accelerator, chip_usd or None)


def owned_at(accelerator: str, chip_usd: float | None) -> None:
    """A chip as `for_sale`, or without any price, which leaves renting it."""
    from scaleright import catalog, market

    if chip_usd or accelerator == market.BEST or catalog.accelerator(accelerator).purchase_usd:
        for_sale(accelerator, chip_usd)


def _sold_by(seller: str, contracts: Sequence[str], names: Iterable[str]) -> None:
    """A seller that rents one of some chips out under one of these contracts."""
    from scaleright import market

    chips = [name for name in names if name != market.BEST]
    if not any(seller in market.sellers(name, of) for of in contracts for name in chips):
        raise ValueError(f"{seller} rents none of the accelerators out {' or '.join(contracts)}")


def _nothing_of_ones_own(what: str, usd: float | None) -> None:
    """No rent or price of the reader's own, which is that of one chip."""
    from scaleright import market

    if usd:
        raise ValueError(
            f"a {what} of your own is that of one accelerator: name it, for accelerator ="
            f" {market.BEST} names none"
        )


def hosted(model: str, api_host: str, *own_usd: float) -> None:
    """A model that a host sells, or prices of the reader's own; 0 is none. Of the reader's own
    model nobody lists a price, and the chapter says so.
    """
    from scaleright import catalog, market

    if all(own_usd) or model in catalog.own_models():
        return
    known = market.hosts(model)
    if api_host not in (market.BEST, *known):
        other = market.api_price(model)
        read, written = (units.usd(of.best) for of in (other.input, other.output))
        raise LookupError(
            f"{brief(api_host)} hosts no {model}; at the median of {other.companies} it costs"
            f" {read} a million tokens read and {written} written; {suggestion(api_host, known)}"
        )


def sold_as(shape: str, api_host: str, *own_usd: float) -> None:
    """A model of the catalog as `hosted`, by the release that hosts sell of it."""
    from scaleright.chapters.vendor_claims.evidence import release

    hosted(release(shape), api_host, *own_usd)


def on_the_market(
    accelerator: str, accelerators: int, contract: str, seller: str, region: str
) -> None:
    """A chip that is listed on demand, and under a contract by a seller and in a region."""
    from scaleright import market
    from scaleright.market.listed import require_listed

    require_listed(accelerator, accelerators, contract, region)
    market.hour(accelerator, contract, seller)


def committed(accelerator: str, commit_with: str | None) -> None:
    """A chip that the provider of a commitment lists."""
    from scaleright.chapters.gpu_prices.model import require_commitment

    require_commitment(accelerator, commit_with)
