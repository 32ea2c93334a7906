"""Accelerators that a comparison leaves out, with the reason."""

from collections.abc import Iterable, Mapping

from scaleright.catalog import Accelerator, accelerators
from scaleright.decisions.hardware_candidates import one_seller, served_on
from scaleright.formulas import lookup
from scaleright.market import contracts, hour, recent_hour
from scaleright.units import usd

SINCE = 2023
"""Year of release from which on a chip that is left out is named."""
WEIGHED_SINCE = 2024
"""Year of release from which on a plan weighs one that nobody lists."""
NAMED = 2
"""How many that are left out for one reason are named; the others are counted."""
NO_ENGINE = ", and no engine of it is known"
NO_PROMISE = "pace and first token are not kept by"
NO_ROOM = "the model fits no node of"
NO_DAY = "a day of a service is not known on it"
ON_SPOT = " on spot"
ONE_SELLER = "a card in slots that one seller lists"


@lookup
def newer() -> dict[str, Accelerator]:
    """Accelerators for data centers that ship and were released since `SINCE`.

    >>> "GB200" in newer(), "V100 SXM 32GB" in newer()
    (True, False)
    """
    return {
        name: chip
        for name, chip in accelerators().items()
        if chip.released and chip.released.year >= SINCE
        if chip.segment == "data center" and chip.status == "shipping"
    }


@lookup
def unpriced(name: str) -> str:
    """Why no hour of a chip has a price that counts, in words; empty where one has.

    >>> unpriced("GB200"), unpriced("H100 SXM")
    ('nobody lists an hour of it', '')
    """
    if recent_hour(name):
        return ""
    if "on demand" in contracts(name):
        return f"no price of an hour since {hour(name).until}"
    return "nobody lists an hour of it"


@lookup
def unsold(contract: str, names: Iterable[str]) -> tuple[str, ...]:
    """Chips that nobody lists under a contract.

    >>> unsold("spot", ["GB300", "B300"])
    ('GB300',)
    """
    return tuple(name for name in names if contract not in contracts(name))


@lookup
def no_engine(chip: Accelerator) -> bool:
    """Whether no engine of a chip is known, whatever an hour of it costs."""
    return chip.kind != "GPU" or not (chip.memory_bytes and chip.scale_up_bytes_per_s)


@lookup
def unlisted() -> tuple[str, ...]:
    """Accelerators that would be weighed if somebody listed an hour of them.

    >>> unlisted()
    ('GB200', 'MI355X')
    """
    return tuple(
        name
        for name, chip in newer().items()
        if chip.released.year >= WEIGHED_SINCE and unpriced(name) and not no_engine(chip)
        if chip.scale_out_bytes_per_s
    )


@lookup
def of_services() -> dict[str, str]:
    """Why plans of a service leave chips of `newer` out, by name."""
    found, known = {}, served_on()
    for name, chip in newer().items():
        if name not in known:
            thin = ONE_SELLER if not unpriced(name) and one_seller(name) else NO_DAY
            found[name] = (unpriced(name) or thin) + NO_ENGINE * no_engine(chip)
    return found


@lookup
def of_trainings() -> dict[str, str]:
    """The same of plans that train."""
    from scaleright.costs.training_fleet import left_out

    known = left_out()
    return {name: unpriced(name) or known[name] for name in newer() if name in known}


@lookup
def of_tunings() -> dict[str, str]:
    """The same of plans that tune a model."""
    from scaleright.decisions.tuning_ways import PLATFORMS

    found = {name: of for name, of in of_trainings().items() if name not in PLATFORMS}
    few = {name for name in found if not unpriced(name) and one_seller(name)}
    return found | dict.fromkeys(few, ONE_SELLER)


@lookup
def told(why: Mapping[str, str]) -> str:
    """Chips that are left out by their reason, in words, the newest of each named.

    >>> told({"GB200": "nobody lists an hour of it"})
    'left out: GB200 (nobody lists an hour of it)'
    """
    groups: dict[str, list[str]] = {}
    age = {name: (-newer()[name].released.toordinal(), name) for name in why}
    for name in sorted(why, key=age.__getitem__):
        groups.setdefault(why[name], []).append(name)
    said = []
    for of, names in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        said.append(f"{', '.join(names[:NAMED])}{more} ({of})")
    return f"left out: {', '.join(said)}"


WINS = (
    "nobody lists the {name}{contract}: {{chips:whole}} of them would win below {{price:usd}} an"
    " hour each"
)
"""At which price of an hour so many chips would win that nobody lists so, as a page fills it in."""


@lookup
def wins(chips: int, name: str, usd_per_hour: float, contract: str = ON_SPOT) -> str:
    """The same in words.

    >>> wins(16, "GB300", 4.5)
    'nobody lists the GB300 on spot: 16 of them would win below $4.50 an hour each'
    """
    said = WINS.format(name=name, contract=contract)
    return said.replace("{chips:whole}", f"{chips:,}").replace("{price:usd}", usd(usd_per_hour))
