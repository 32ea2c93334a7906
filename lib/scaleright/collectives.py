"""Time of a collective over a network of two levels: the fabric that joins the chips of a node, and
the one between nodes.

Bandwidths are of one chip in one direction, in decimal bytes. A `payload` is the full, unsharded
size of what is gathered, reduced or scattered; *algorithm* bandwidth is payload over time, *bus*
bandwidth is what each link then carries: (g - 1) / g of the payload for all-gather and
reduce-scatter, twice that for all-reduce.

Groups that span nodes: rings pass through every chip of a node and leave it through each member's
own link, so that `per_node` links of the slower network work side by side; the bus bandwidth is the
smaller of the fast fabric's and `per_node` times a link of the slow one. Latency is that of every
hop of the ring. Inside a node a second protocol sends small payloads sooner at a quarter of the
bandwidth; between nodes an all-reduce may take a tree instead of the ring.

Latencies of a hop and what the protocols cost are NCCL's own [nccl2026]; the start, the hop between
nodes and the achieved shares of the links are measured [vidur2024] [bekman2026] [deepep2025]; the
tests compare with each of those tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType
from typing import NamedTuple

from scaleright.catalog import Accelerator, accelerator, accelerators, of_chip, shared, table
from scaleright.formulas import COUNT, FLAG, NON_NEGATIVE, POSITIVE, SHARE, closed_form, lookup
from scaleright.ops import INFINITY, ceil, log2, maximum, minimum, where
from scaleright.order import ordered
from scaleright.units import figure

START_S = 30e-6
"""Launch and synchronization of a collective, fitted on all-reduces inside a node of four kinds of
chip.
"""
SEND_START_S = 6.6e-6
"""Launch of a single message."""
UP_LATENCY_S = 3.4e-6
OUT_LATENCY_S = 25e-6
"""A hop between nodes: the middle of 12 and 22 us (messages) and of 27 and 35 us (all-reduces) on
three clusters.
"""
QUICK_LATENCY, QUICK_BANDWIDTH = figure(0.6 / 3.4), 1 / 4
"""The protocol for small payloads inside a node (LL): latency of a hop and bandwidth, as shares of
the one for large ones.
"""
TREE_HOP_S, TREE_BANDWIDTH = 28e-6, 0.92
NVLS_SHARE = 0.82
"""Share of a ring's bandwidth at which switches that add up are fed and read: 0.84 on H200, 0.80 on
B200 [bekman2026].
"""
NVLS_LATENCY_S = 23e-6
_LINKS = {
    "group": COUNT,
    "per_node": COUNT,
    "up_latency_s": NON_NEGATIVE,
    "up_bytes_per_s": POSITIVE,
    "out_latency_s": NON_NEGATIVE,
    "out_bytes_per_s": POSITIVE,
    "start_s": NON_NEGATIVE,
    "pair_bytes_per_s": POSITIVE,
}


@dataclass(frozen=True)
class Network:
    """One level of a network.

    Attributes
    ----------
    latency_s : of one hop [s]
    bytes_per_s : what one chip achieves in one direction [B/s]
    chips : chips that it joins [1]
    basis : where the figures come from
    pair_bytes_per_s : what it achieves between one pair of chips, for single messages and small
        groups [B/s]
    """

    latency_s: float
    bytes_per_s: float
    chips: float
    basis: str
    pair_bytes_per_s: float


class Links(NamedTuple):
    """The two networks of a chip; unpacks as `up, out`; `terms` are the arguments that every
    collective takes.
    """

    up: Network
    out: Network

    @property
    def terms(self) -> dict[str, float]:
        """Latencies and bandwidths by the names of the formulas' arguments."""
        return {
            "up_latency_s": self.up.latency_s,
            "up_bytes_per_s": self.up.bytes_per_s,
            "out_latency_s": self.out.latency_s,
            "out_bytes_per_s": self.out.bytes_per_s,
            "pair_bytes_per_s": self.up.pair_bytes_per_s,
        }


def _spread(group, per_node, up_bytes_per_s, pair_bytes_per_s):
    """Members of the group in one node, nodes that it spans, and what a member reaches inside a
    node.
    """
    inside = minimum(per_node, group)
    return (
        inside,
        ceil(group / inside),
        minimum(up_bytes_per_s, maximum(inside - 1, 1) * pair_bytes_per_s),
    )


def _ring(
    passes, payload_bytes, group, inside, nodes, fast, up_latency_s, out_latency_s, out_bytes_per_s
):
    """Seconds of latency and on the wire when the payload goes around the ring once or twice."""
    across = inside * out_bytes_per_s
    bus = where(nodes > 1, where(inside > 1, minimum(fast, across), across), fast)
    hops_s = (group - nodes) * up_latency_s + (nodes - 1) * out_latency_s
    return passes * hops_s, passes * payload_bytes * (group - 1) / group / bus


def _sooner(nodes, hops_s, wire_s):
    """The quicker protocol, of which a node offers two."""
    return where(
        nodes > 1,
        hops_s + wire_s,
        minimum(hops_s + wire_s, QUICK_LATENCY * hops_s + wire_s / QUICK_BANDWIDTH),
    )


@closed_form(payload_bytes=NON_NEGATIVE, **_LINKS)
def all_gather_seconds(
    payload_bytes,
    group,
    per_node,
    up_latency_s,
    up_bytes_per_s,
    out_latency_s,
    out_bytes_per_s,
    start_s=START_S,
    pair_bytes_per_s=INFINITY,
):
    """Time until each member of a group has the whole payload, of which each held an equal part.

    Parameters
    ----------
    payload_bytes : the whole, unsharded size [B]
    group : members [1]
    per_node : members that share a scale-up domain [1]; more than the group means all of it
    up_latency_s, out_latency_s : latency of a hop inside a node and between nodes [s]
    up_bytes_per_s, out_bytes_per_s : what a chip achieves in one direction inside and between nodes
        [B/s]
    start_s : launch and synchronization [s]
    pair_bytes_per_s : what one pair of a node achieves, where each pair has a link of its own (a
        mesh) [B/s]

    Returns
    -------
    [s]; 0 for a group of one.

    Source: ring of g - 1 steps, [thakur2005, section 4]; latencies by link and protocol [nccl2026].

    >>> round(all_gather_seconds(1e9, 8, 8, 3.4e-6, 368e9, 25e-6, 47e9) * 1e6), all_gather_seconds(
    ...     1e9, 1, 8, 3.4e-6, 368e9, 25e-6, 47e9)
    (2432, 0.0)
    """
    inside, nodes, fast = _spread(group, per_node, up_bytes_per_s, pair_bytes_per_s)
    hops_s, wire_s = _ring(
        1, payload_bytes, group, inside, nodes, fast, up_latency_s, out_latency_s, out_bytes_per_s
    )
    return where(group > 1, start_s + _sooner(nodes, hops_s, wire_s), 0.0)


reduce_scatter_seconds = all_gather_seconds
"""Time until each member has its equal part of the sum of all payloads: an all-gather run backward,
as long as one [thakur2005, section 4].
"""


@closed_form(payload_bytes=NON_NEGATIVE, in_network=FLAG, **_LINKS)
def all_reduce_seconds(
    payload_bytes,
    group,
    per_node,
    up_latency_s,
    up_bytes_per_s,
    out_latency_s,
    out_bytes_per_s,
    start_s=START_S,
    pair_bytes_per_s=INFINITY,
    in_network=0,
):
    """Time until each member has the sum of all members' payloads: the sooner of ring and tree.

    in_network : 1 where the switches of a node add up (NVLink SHARP, NVLS), for groups inside one
        node. Each chip then sends the payload once and receives (1 + 1/g) of it in all, not twice
        (g - 1) / g; the bus bandwidth by the usual count can so exceed the link's. NCCL takes the
        ring where that is sooner (four chips or fewer).

    Source: ring and tree as [nccl2026] models them; switches [bekman2026, all-reduce with SHARP].

    >>> ring, switch = (all_reduce_seconds(1e9, 8, 8, 3.4e-6, 368e9, 25e-6, 47e9, in_network=flag)
    ...     for flag in (0, 1))
    >>> round(ring / switch, 2)
    1.28
    """
    inside, nodes, fast = _spread(group, per_node, up_bytes_per_s, pair_bytes_per_s)
    hops_s, wire_s = _ring(
        2, payload_bytes, group, inside, nodes, fast, up_latency_s, out_latency_s, out_bytes_per_s
    )
    levels = inside - 1 + ceil(log2(nodes) - 1e-9)
    tree_s = 2 * levels * TREE_HOP_S + wire_s * group / (group - 1 + (group <= 1)) / TREE_BANDWIDTH
    switch_s = NVLS_LATENCY_S + payload_bytes * (1 + 1 / group) / (NVLS_SHARE * fast)
    ring_s = _sooner(nodes, hops_s, wire_s)
    return where(
        group > 1,
        start_s
        + minimum(ring_s, where(nodes > 1, tree_s, where(in_network > 0, switch_s, ring_s))),
        0.0,
    )


@closed_form(payload_bytes=NON_NEGATIVE, **_LINKS)
def all_to_all_seconds(
    payload_bytes,
    group,
    per_node,
    up_latency_s,
    up_bytes_per_s,
    out_latency_s,
    out_bytes_per_s,
    start_s=START_S,
    pair_bytes_per_s=INFINITY,
):
    """Time until each member has exchanged an equal part of its payload with each other one
    (dispatch or combine of experts).

    payload_bytes : what one member sends in all, the part that it keeps included [B]

    What stays in the node and what leaves it travel at the same time, the latter over the member's
    own link.

    Source: definition; achieved bandwidths as [deepep2025] measured them (see the tests).

    >>> all_to_all_seconds(1e9, 16, 8, 0, 350e9, 0, 50e9, 0)
    0.01
    """
    inside, nodes, fast = _spread(group, per_node, up_bytes_per_s, pair_bytes_per_s)
    up_s = payload_bytes * (inside - 1) / group / fast
    out_s = payload_bytes * (group - inside) / group / out_bytes_per_s
    latency_s = start_s + where(nodes > 1, out_latency_s, up_latency_s)
    return where(group > 1, latency_s + maximum(up_s, out_s), 0.0)


@closed_form(
    payload_bytes=NON_NEGATIVE, latency_s=NON_NEGATIVE, bytes_per_s=POSITIVE, start_s=NON_NEGATIVE
)
def send_recv_seconds(payload_bytes, latency_s, bytes_per_s, start_s=SEND_START_S):
    """Time of one message from chip to chip over the network given: `latency_s` and
    `pair_bytes_per_s` of a `Network`.

    >>> round(send_recv_seconds(64e6, 25e-6, 47e9) * 1e6)
    1393
    """
    return start_s + latency_s + payload_bytes / bytes_per_s


@closed_form(communication_s=NON_NEGATIVE, compute_s=NON_NEGATIVE, overlap_share=SHARE)
def exposed(communication_s, compute_s, overlap_share):
    """Communication that computing does not hide.

    Parameters
    ----------
    communication_s : the whole communication [s]
    compute_s : computing that could run meanwhile [s]
    overlap_share : share of the communication that is issued beside computing [1]

    Returns
    -------
    [s]. What is issued beside computing hides behind it as far as the computing lasts.

    >>> exposed(3.0, 1.0, 1.0), exposed(3.0, 10.0, 0.5)
    (2.0, 1.5)
    """
    return communication_s - minimum(overlap_share * communication_s, compute_s)


@shared
def _achieved() -> tuple[Mapping[float, float], float]:
    """Shares of the datasheet's bandwidth that the largest all-reduces achieve: of a node's link
    [B/s], by rings, and of an adapter.
    """
    rows = table("measured/collectives_stas")
    links = {
        row.accelerator: accelerator(row.accelerator)
        for row in rows.drop_duplicates("accelerator").itertuples()
    }
    ring = (
        rows[rows["algorithm"] == "ring"].groupby("accelerator")["measured_bus_bytes_per_s"].max()
    )
    far = rows[rows["chips"] > rows["per_node"]]
    far = ordered(far, "measured_bus_bytes_per_s", ascending=False).iloc[0]
    adapter = far["measured_bus_bytes_per_s"] / (
        far["per_node"] * links[far["accelerator"]].require("scale_out_bytes_per_s")
    )
    fast = {name: links[name].require("scale_up_bytes_per_s") for name in ring.index}
    return MappingProxyType(
        {fast[name]: float(bus) / fast[name] for name, bus in ring.items()}
    ), float(adapter)


@lookup
@of_chip
def network(chip: Accelerator) -> Links:
    """The networks of a chip at achieved bandwidths: `up, out = network(chip)`.

    The share of a link that rings achieve is that of the same link where someone measured it, else
    the middle of those measured (`measured/collectives_stas`: the largest payloads); that of an
    adapter is what four nodes of B200 achieve. A chip whose catalog entry has no network between
    nodes gets the median of those that have one, at most its own fabric's bandwidth: `basis` says
    so.

    Raises
    ------
    DataError : the catalog has no scale-up bandwidth of the chip.

    >>> from scaleright.catalog import accelerator
    >>> up, out = network(accelerator("H100 SXM"))
    >>> up.chips, round(up.bytes_per_s / 1e9), round(out.bytes_per_s / 1e9,
    ...     1), network(accelerator("L40S")).out.basis
    (8.0, 368, 47.7, 'median of the catalog')
    """
    fast = chip.require("scale_up_bytes_per_s")
    shares, adapter_share = _achieved()
    listed = (
        accelerators().get(chip.name, chip).scale_up_bytes_per_s
    )  # a chip with other links, or live ones, keeps its share
    share = shares.get(listed, median(shares.values()))
    basis = "measured" if listed in shares and chip.vendor == "NVIDIA" else "share of NVLink"
    pair = share * minimum(fast, chip.scale_up_pair_bytes_per_s or fast)
    up = Network(UP_LATENCY_S, share * fast, chip.scale_up_chips or 1.0, basis, pair)
    given = chip.scale_out_bytes_per_s
    slow = adapter_share * (
        given
        or min(
            fast,
            median(
                filter(None, (other.scale_out_bytes_per_s for other in accelerators().values()))
            ),
        )
    )
    return Links(
        up,
        Network(
            OUT_LATENCY_S, slow, INFINITY, "catalog" if given else "median of the catalog", slow
        ),
    )
