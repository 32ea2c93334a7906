"""What one accelerator with its share of server and network draws, by what it does: the one model
behind every owned hour, run, token and fleet.

At work it draws what meters saw: in training a share of what its server draws at most, in serving
the share of its design power that chips drew at full load, and of the rest of its server what is
left of the draw of whole servers; the computer around a card at home draws what such computers do
under load. Vacant it draws what it draws with nothing loaded. What a site must provide for it,
`most_watts`, is a bound beside these: the limits of chip, server and network, all at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from scaleright.catalog import Accelerator, accelerator, accelerators, remembered, shared, table
from scaleright.formulas import lookup
from scaleright.market import cost_factor
from scaleright.names import one_of
from scaleright.order import ordered
from scaleright.power.formulas import mean_watts
from scaleright.units import figures

ENDS = ("low", "best", "high")
WORK = ("training", "serving")
"""What a chip may do at work."""
SETTINGS = ("home", "colocation", "data center")
BORROWED = {"colocation": "data center"}
"""A setting whose own figure is missing from the table takes that of this one: the machines are the
same.
"""
TASK = "chat"
"""The task that all models of the newest measurements of serving share."""
TAILS = {"low": 0.05, "best": 0.5, "high": 0.95}
PORT_BYTES_PER_S = 50e9
"""The network's power of the tables is that of a port of 400 Gb/s."""
BOARD, CARD, MODULE = "board", "card", "module"
CLASSES = {"PCIe": CARD, "superchip": MODULE, "socket": MODULE}
"""Class of the server around a chip by its form: cards in slots, modules that bring their processor
along (most in racks); all others are boards of eight or so in a server of their own.
"""


@dataclass(frozen=True)
class Draw:
    """What one accelerator and its share of server and network draw at work and vacant [W];
    numbers, arrays or quantities.
    """

    chip_watts: Any
    chip_idle_watts: Any
    host_watts: Any
    host_idle_watts: Any
    network_watts: Any

    @property
    def busy_watts(self) -> Any:
        """All of it at work [W]."""
        return self.chip_watts + self.host_watts + self.network_watts

    @property
    def idle_watts(self) -> Any:
        """All of it vacant [W]: switches draw the same whatever they carry."""
        return self.chip_idle_watts + self.host_idle_watts + self.network_watts

    def watts(self, utilization: Any) -> Any:
        """The mean of hours of which a share is worked [W]."""
        return mean_watts(utilization, self.busy_watts, self.idle_watts)


def _setting(chip: Accelerator, setting: str | None) -> str:
    """Where it stands: a consumer's card at home, others in a data center, if nothing is said."""
    if setting is None:
        return "home" if chip.segment == "consumer" else "data center"
    return one_of(setting, SETTINGS, "setting")


def _class(chip: Accelerator) -> str:
    return CLASSES.get(chip.form or "", BOARD)


@remembered
def _host_over_chip(kind: str) -> float:
    """What a server of a class draws at most beside its chips, over their design power: the median
    of those that are published [1].
    """
    return median(
        of.server_watts / of.tdp_watts - 1
        for of in accelerators().values()
        if _class(of) == kind and of.server_watts and of.tdp_watts
    )


def _most_of_host(chip: Accelerator, setting: str, end: str) -> float:
    """Most that a chip's share of its server draws [W]: of its maker's server, else in proportion
    to its design power as in others of its class; at home that of the computer around the card.
    """
    if setting == "home":
        return getattr(cost_factor("home_pc_watts", setting), end)
    tdp = chip.require("tdp_watts")
    return chip.server_watts - tdp if chip.server_watts else tdp * _host_over_chip(_class(chip))


def _network_watts(chip: Accelerator, setting: str, end: str) -> float:
    """A chip's share of switches and optics [W]: in proportion to its port."""
    if setting == "home" or (chip.scale_out_bytes_per_s is None and _class(chip) != CARD):
        return getattr(cost_factor("network_watts_per_chip", setting), end)
    if chip.scale_out_bytes_per_s is None:
        return getattr(cost_factor("network_watts_per_card", setting), end)
    port = getattr(cost_factor("network_watts_per_chip", setting), end)
    return port * chip.scale_out_bytes_per_s / PORT_BYTES_PER_S


@shared
def _served() -> Mapping[str, Mapping[str, float]]:
    """Draw over design power of chips that serve at full load, by chip and of all (""): over the
    models that were measured, each in its least hungry configuration, the median and the ends of
    nine in ten [1].

    Measurements before the newest are of engines that left chips waiting: the same H100 drew half
    as much.
    """
    runs = table("measured/energy")
    runs = runs[(runs["task"] == TASK) & (runs["boundary"] == "accelerator")]
    runs = ordered(runs, "measured_joules_per_token").drop_duplicates(["model", "accelerator"])
    tdp = runs["accelerator"].map({name: of.tdp_watts for name, of in accelerators().items()})
    shares = runs["measured_watts"] / runs["accelerators"].astype(float) / tdp.astype(float)
    groups = {name: shares[runs["accelerator"] == name] for name in runs["accelerator"].unique()}
    return {
        name: figures({end: float(of.quantile(tail)) for end, tail in TAILS.items()})
        for name, of in (groups | {"": shares}).items()
    }


@lookup
def serving_share(name: str, end: str = "best") -> float:
    """Share of its design power that a chip draws while it serves at full load [1]: its own where
    it was measured, else that of all that were, as of "".

    >>> serving_share("A100 SXM 80GB") == serving_share("L4"), 0.8 < serving_share("H100 SXM") < 0.9
    (True, True)
    """
    shares = _served()
    own = shares.get(name and accelerator(name).name, shares[""])
    return own[one_of(end, ENDS, "end of a range")]


def _at_work(chip: Accelerator, work: str, end: str) -> tuple[float, float]:
    """Share of its design power that a chip draws at work, and of the most that the rest of its
    server draws, that rest [1]. In training only their sum was measured, so that both are the same.
    """
    if work == "serving":
        rest = getattr(cost_factor("serving_share_of_host", "data center"), end)
        return serving_share(chip.name, end), rest
    whole = getattr(cost_factor("training_share_of_server_watts", "data center"), end)
    return whole, whole


def _tpu_watts(chip: Accelerator, end: str) -> tuple[float, float, float]:
    """What a TPU draws at work, and its share of a host at work and vacant [W]: what Google
    measured in production, else the share of design power that this is for TPU v3.
    """
    share, host, idle = (
        getattr(cost_factor(name, "data center"), end)
        for name in ("tpu_busy_share_of_tdp", "host_watts_per_tpu", "host_idle_watts_per_tpu")
    )
    known = chip.busy_watts
    return known[ENDS.index(end)] if known else share * chip.require("tdp_watts"), host, idle


def _server_watts(
    chip: Accelerator, work: str, setting: str, end: str
) -> tuple[float, float, float]:
    """What a chip of a server or of a home draws at work, and its share of the host at work and
    vacant [W].
    """
    of_chip, of_host = _at_work(chip, work, end)
    at_work, most = of_chip * chip.require("tdp_watts"), _most_of_host(chip, setting, end)
    if setting == "home":  # the table has the computer under load, no server's share of a plate
        return at_work, most, getattr(cost_factor("home_pc_idle_watts", setting), end)
    idle = getattr(cost_factor("idle_share_of_host", "data center"), end)
    return at_work, of_host * most, idle * most


@lookup
@remembered
def draw(
    name: str,
    work: str,
    setting: str | None = None,
    end: str = "best",
    chip_watts: float | None = None,
) -> Draw:
    """What an accelerator with its share of server and network draws.

    Where no source has a chip's server, it is in proportion to design power as in others of its
    class. TPUs draw far less than their design power, at any work.

    Parameters
    ----------
    name : accelerator
    work : what it does at work, one of `WORK`
    setting : "home", "colocation" or "data center"; by default at home for a consumer's card, else
        in a data center
    end : "low", "best" or "high" end of what is uncertain
    chip_watts : what the accelerator draws at work where it was measured [W]

    Raises
    ------
    LookupError : unknown accelerator, work, setting or end.
    DataError : the catalog has no power of it.

    >>> drawn = draw("H100 SXM", "training")
    >>> round(drawn.chip_watts), round(drawn.host_watts), round(drawn.busy_watts)
    (532, 437, 1039)
    >>> drawn.busy_watts > draw("H100 SXM", "serving").busy_watts > 2 * drawn.idle_watts
    True
    """
    one_of(end, ENDS, "end of a range")
    one_of(work, WORK, "work")
    chip = accelerator(name)
    tdp, place = chip.require("tdp_watts"), _setting(chip, setting)
    tpu = chip.kind == "TPU"
    at_work, host, host_idle = (
        _tpu_watts(chip, end) if tpu else _server_watts(chip, work, place, end)
    )
    row = cost_factor("idle_share_of_tdp", BORROWED.get(place, place))
    vacant = getattr(row, end) * tdp
    found = {
        "chip_watts": at_work if chip_watts is None else chip_watts,
        "chip_idle_watts": vacant if chip.idle_watts is None else chip.idle_watts,
        "host_watts": host,
        "host_idle_watts": host_idle,
        "network_watts": _network_watts(chip, place, end),
    }
    return Draw(**figures(found))


@lookup
@remembered
def most_watts(name: str, setting: str | None = None, end: str = "best") -> float:
    """What a site must provide for an accelerator with its share of server and network [W]: the
    limits of all of them. A bound: nothing draws as much for long.

    Raises as `draw`.

    >>> most_watts("H100 SXM"), most_watts("H100 SXM") > draw("H100 SXM", "training").busy_watts
    (1345.0, True)
    """
    one_of(end, ENDS, "end of a range")
    chip = accelerator(name)
    place = _setting(chip, setting)
    if chip.kind == "TPU":
        host = getattr(cost_factor("host_watts_per_tpu", "data center"), end)
    else:
        host = _most_of_host(chip, place, end)
    return chip.require("tdp_watts") + host + _network_watts(chip, place, end)


@lookup
def owned_draw(name: str, setting: str, work: str, end: str = "best") -> dict[str, float]:
    """What of a chip's draw an owner pays for: busy_watts and idle_watts, of energy, and
    most_watts, of the site [W].

    Raises as `draw`.

    >>> sorted(owned_draw("H100 SXM", "data center", "serving"))
    ['busy_watts', 'idle_watts', 'most_watts']
    """
    drawn = draw(name, work, setting, end)
    most = {"most_watts": most_watts(name, setting, end)}
    return figures({"busy_watts": drawn.busy_watts, "idle_watts": drawn.idle_watts} | most)


@lookup
def owned_draws(names: Iterable[str], work: str) -> dict[tuple[str, str], dict[str, float]]:
    """`owned_draw` of chips in every setting: a table to choose from.

    >>> len(owned_draws(["H100 SXM", "L4"], "serving"))
    6
    """
    return {(name, of): owned_draw(name, of, work) for name in names for of in SETTINGS}
