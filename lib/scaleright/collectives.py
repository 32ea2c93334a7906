"""Time of a collective over a network of two levels: the fabric that joins the chips of a node, and the one between nodes.

Bandwidths are of one chip in one direction, in decimal bytes. A `payload` is the full, unsharded size of what is gathered,
reduced or scattered; *algorithm* bandwidth is payload over time, *bus* bandwidth is what each link then carries:
(g - 1) / g of the payload for all-gather and reduce-scatter, twice that for all-reduce.

Groups that span nodes: rings pass through every chip of a node and leave it through each member's own link, so that
`per_node` links of the slower network work side by side; the bus bandwidth is the smaller of the fast fabric's and
`per_node` times a link of the slow one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scaleright.catalog import Accelerator
from scaleright.formulas import COUNT, FLAG, NON_NEGATIVE, POSITIVE, SHARE, closed_form, lookup
from scaleright.ops import ceil, log, maximum, minimum, where

UP_SHARE, OUT_SHARE = 0.81, 0.95
UP_LATENCY_S, OUT_LATENCY_S, START_S = 3.4e-6, 14e-6, 8e-6
DEFAULT_OUT_BYTES_PER_S = 50e9
_LINKS = {
    "group": COUNT, "per_node": COUNT, "up_latency_s": NON_NEGATIVE, "up_bytes_per_s": POSITIVE, "out_latency_s": NON_NEGATIVE,
    "out_bytes_per_s": POSITIVE, "start_s": NON_NEGATIVE,
}  # fmt: skip


@dataclass(frozen=True)
class Network:
    """One level of a network: latency of a hop [s], bytes per second that a chip achieves in one direction, chips that it joins."""

    latency_s: float
    bytes_per_s: float
    chips: float
    basis: str = ""


class Links(NamedTuple):
    """The two networks of a chip; unpacks as `up, out`; `terms` are the arguments that every collective takes."""

    up: Network
    out: Network

    @property
    def terms(self) -> dict[str, float]:
        """Latencies and bandwidths by the names of the formulas' arguments."""
        return {
            "up_latency_s": self.up.latency_s, "up_bytes_per_s": self.up.bytes_per_s,
            "out_latency_s": self.out.latency_s, "out_bytes_per_s": self.out.bytes_per_s,
        }  # fmt: skip


def _inside(group, per_node):
    """Members of the group in one node, and nodes that it spans."""
    inside = minimum(per_node, group)
    return inside, ceil(group / inside)


def _bus(inside, nodes, up_bytes_per_s, out_bytes_per_s):
    """Bus bandwidth of rings through all members."""
    across = inside * out_bytes_per_s
    return where(nodes > 1, where(inside > 1, minimum(up_bytes_per_s, across), across), up_bytes_per_s)


@closed_form(payload_bytes=NON_NEGATIVE, **_LINKS)
def all_gather_seconds(payload_bytes, group, per_node, up_latency_s, up_bytes_per_s, out_latency_s, out_bytes_per_s, start_s=START_S):
    """Time until each member of a group has the whole payload, of which each held an equal part.

    Parameters
    ----------
    payload_bytes : the whole, unsharded size [B]
    group : members [1]
    per_node : members that share a scale-up domain [1]; more than the group means all of it
    up_latency_s, out_latency_s : latency of a hop inside a node and between nodes [s]
    up_bytes_per_s, out_bytes_per_s : what a chip achieves in one direction inside and between nodes [B/s]
    start_s : launch and first synchronization [s]

    >>> round(all_gather_seconds(1e9, 8, 8, 3e-6, 365e9, 14e-6, 47e9) * 1e6)
    2426
    """
    inside, nodes = _inside(group, per_node)
    latency_s = start_s + (group - nodes) * up_latency_s + (nodes - 1) * out_latency_s
    wire_s = payload_bytes * (group - 1) / group / _bus(inside, nodes, up_bytes_per_s, out_bytes_per_s)
    return where(group > 1, latency_s + wire_s, 0.0)


@closed_form(payload_bytes=NON_NEGATIVE, **_LINKS)
def reduce_scatter_seconds(payload_bytes, group, per_node, up_latency_s, up_bytes_per_s, out_latency_s, out_bytes_per_s, start_s=START_S):
    """Time until each member has its equal part of the sum of all members' payloads; the mirror image of an all-gather."""
    return all_gather_seconds(payload_bytes, group, per_node, up_latency_s, up_bytes_per_s, out_latency_s, out_bytes_per_s, start_s)


@closed_form(payload_bytes=NON_NEGATIVE, in_network=FLAG, **_LINKS)
def all_reduce_seconds(
    payload_bytes, group, per_node, up_latency_s, up_bytes_per_s, out_latency_s, out_bytes_per_s, start_s=START_S, in_network=0,
):  # fmt: skip
    """Time until each member has the sum of all members' payloads.

    in_network : 1 where the switches of a node add up (NVLink SHARP, NVLS); for groups inside one node
    """
    inside, nodes = _inside(group, per_node)
    ring_s = 2 * ((group - nodes) * up_latency_s + (nodes - 1) * out_latency_s)
    tree_s = 2 * ((inside - 1) * up_latency_s + ceil(log(nodes) / log(2.0) - 1e-9) * out_latency_s)
    wire_s = 2 * payload_bytes * (group - 1) / group / _bus(inside, nodes, up_bytes_per_s, out_bytes_per_s)
    switch_s = payload_bytes * (group + 1) / group / (NVLS_SHARE * up_bytes_per_s)
    whole_s = start_s + minimum(ring_s, tree_s) + where(in_network * (nodes <= 1) > 0, minimum(wire_s, switch_s), wire_s)
    return where(group > 1, whole_s, 0.0)


NVLS_SHARE = 0.82


@closed_form(payload_bytes=NON_NEGATIVE, **_LINKS)
def all_to_all_seconds(payload_bytes, group, per_node, up_latency_s, up_bytes_per_s, out_latency_s, out_bytes_per_s, start_s=START_S):
    """Time until each member has exchanged an equal part of its payload with each other one (dispatch or combine of experts).

    payload_bytes : what one member sends in all, the part that it keeps included [B]
    """
    inside, nodes = _inside(group, per_node)
    up_s = payload_bytes * (inside - 1) / group / up_bytes_per_s
    out_s = payload_bytes * (group - inside) / group / out_bytes_per_s
    latency_s = start_s + where(nodes > 1, out_latency_s, up_latency_s)
    return where(group > 1, latency_s + maximum(up_s, out_s), 0.0)


@closed_form(payload_bytes=NON_NEGATIVE, latency_s=NON_NEGATIVE, bytes_per_s=POSITIVE, start_s=NON_NEGATIVE)
def send_recv_seconds(payload_bytes, latency_s, bytes_per_s, start_s=START_S):
    """Time of one message from chip to chip over the network given (inside or between nodes).

    >>> round(send_recv_seconds(64e6, 14e-6, 47e9) * 1e6)
    1384
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


@lookup
def network(chip: Accelerator) -> Links:
    """The networks of a chip at achieved bandwidths: `up, out = network(chip)`.

    Raises
    ------
    DataError : the catalog has no scale-up bandwidth of the chip.

    >>> from scaleright.catalog import accelerator
    >>> network(accelerator("H100 SXM")).up.chips
    8.0
    """
    up = Network(UP_LATENCY_S, UP_SHARE * chip.require("scale_up_bytes_per_s"), chip.scale_up_chips or 1.0)
    given = chip.scale_out_bytes_per_s
    return Links(up, Network(OUT_LATENCY_S, OUT_SHARE * (given or DEFAULT_OUT_BYTES_PER_S), float("inf"), "" if given else "default"))
