"""Collectives beside timed ones, and what must be true of them on any network."""

import numpy as np
import pytest
from scaleright import catalog
from scaleright.collectives import (
    all_gather_seconds,
    all_reduce_seconds,
    all_to_all_seconds,
    exposed,
    network,
    reduce_scatter_seconds,
    send_recv_seconds,
)

PLAIN = dict(
    up_latency_s=0.0, up_bytes_per_s=400e9, out_latency_s=0.0, out_bytes_per_s=50e9, start_s=0.0
)
COLLECTIVES = [all_gather_seconds, reduce_scatter_seconds, all_reduce_seconds, all_to_all_seconds]
LARGE = 4e6
"""Payload from which bandwidth counts more than latency [B]."""


def errors(rows):
    """Relative errors of timed operations; switches add up where NCCL lets them."""
    seconds, timed = [], []
    for row in rows.itertuples():
        links = network(catalog.accelerator(row.accelerator))
        level = links.up if row.per_node >= row.chips else links.out
        if row.collective == "send-recv":
            seconds.append(
                send_recv_seconds(row.payload_bytes, level.latency_s, level.pair_bytes_per_s)
            )
        else:
            switches = (
                row.algorithm != "ring"
                and row.accelerator != "A100 SXM 80GB"
                and 4 < row.chips <= row.per_node
            )
            seconds.append(
                all_reduce_seconds(
                    row.payload_bytes,
                    row.chips,
                    row.per_node,
                    **links.terms,
                    in_network=int(switches),
                )
            )
        wire = 2 * row.payload_bytes * (row.chips - 1) / row.chips
        timed.append(
            row.measured_s
            if row.measured_s == row.measured_s
            else wire / row.measured_bus_bytes_per_s
        )
    return np.array(seconds) / np.array(timed) - 1


@pytest.fixture(scope="module")
def vidur():
    rows = catalog.table("measured/collectives")
    return rows[(rows["source"] == "vidur2024") & (rows["per_node"] >= rows["chips"])]


@pytest.fixture(scope="module")
def stas():
    return catalog.table("measured/collectives_stas")


@pytest.mark.parametrize(
    "accelerator, collective, large, small",
    [
        ("A100 SXM 80GB", "all-reduce", 0.22, 0.42),
        ("H100 SXM", "all-reduce", 0.12, 0.25),
        ("A100 SXM 80GB", "send-recv", 0.20, 0.35),
        ("H100 SXM", "send-recv", 0.02, 0.35),
    ],
)
def test_inside_a_node_large_payloads_are_close_and_small_ones_in_range(
    vidur, accelerator, collective, large, small
):
    rows = vidur[(vidur["accelerator"] == accelerator) & (vidur["collective"] == collective)]
    far, big = np.abs(errors(rows)), rows["payload_bytes"].to_numpy() >= LARGE
    assert np.median(far[big]) < large and np.median(far[~big]) < small


def test_all_reduces_of_three_generations_by_payload(stas):
    rows = stas[stas["payload_bytes"] >= 2**26]
    assert np.median(np.abs(errors(rows))) < 0.03 and np.quantile(np.abs(errors(rows)), 0.9) < 0.20
    across = rows[rows["chips"] > rows["per_node"]]
    assert np.median(np.abs(errors(across))) < 0.10
    alone = stas[(stas["payload_bytes"] < LARGE)]
    assert np.median(np.abs(errors(alone))) < 0.12


def test_switches_that_add_up_gain_what_was_measured(stas):
    rows = stas[(stas["payload_bytes"] == 2**32) & (stas["chips"] <= 8)]
    pairs = rows.pivot_table(
        index=["accelerator", "chips"], columns="algorithm", values="measured_bus_bytes_per_s"
    )
    pairs = pairs.dropna(subset=["NVLS", "ring"])
    assert len(pairs) == 7
    for (name, chips), pair in pairs.iterrows():
        terms = network(catalog.accelerator(name)).terms
        gain = all_reduce_seconds(2**32, chips, 8, **terms) / all_reduce_seconds(
            2**32, chips, 8, **terms, in_network=1
        )
        assert gain == pytest.approx(pair["NVLS"] / pair["ring"], rel=0.06), (name, chips)
    terms = network(catalog.accelerator("H200")).terms
    assert all_reduce_seconds(2**32, 4, 8, **terms, in_network=1) == pytest.approx(
        all_reduce_seconds(2**32, 4, 8, **terms), rel=0.02
    )


def test_expert_exchanges_reach_the_bandwidth_that_was_measured():
    rows = catalog.table("measured/collectives")
    for row in rows[rows["collective"] == "all-to-all"].itertuples():
        up, out = network(catalog.accelerator(row.accelerator))
        used = up if row.chips <= row.per_node else out
        link = used.bytes_per_s
        assert link == pytest.approx(row.measured_bus_bytes_per_s, rel=0.19), row


def test_one_slow_cluster_is_predicted_from_its_own_adapters():
    rows = catalog.table("measured/collectives")
    rows = rows[
        (rows["accelerator"] == "A100 SXM 80GB")
        & (rows["source"] == "vidur2024")
        & (rows["payload_bytes"] >= LARGE)
    ]
    message = (
        rows[(rows["collective"] == "send-recv") & (rows["per_node"] == 1)]
        .nlargest(1, "payload_bytes")
        .iloc[0]
    )
    link = message["payload_bytes"] / message["measured_s"]
    assert link < 0.4 * catalog.accelerator("A100").scale_out_bytes_per_s, (
        "the cluster of this profile has less than an adapter a chip"
    )
    terms = network(catalog.accelerator("A100")).terms | {"out_bytes_per_s": link}
    pair = rows[
        (rows["collective"] == "all-reduce") & (rows["chips"] == 2) & (rows["per_node"] == 1)
    ]
    found = all_reduce_seconds(pair["payload_bytes"].to_numpy(float), 2, 1, **terms)
    assert np.median(np.abs(found / pair["measured_s"] - 1)) < 0.30


# what must be true of any


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_group_of_one_takes_no_time_and_more_bytes_take_longer(collective):
    terms = network(catalog.accelerator("H100")).terms
    assert collective(1e9, 1, 8, **terms) == 0
    groups = np.array([2, 4, 8, 16, 64, 512])
    assert (
        np.diff(collective(np.logspace(3, 10, 50)[:, None], groups, 8, **terms), axis=0) > 0
    ).all()


def test_bus_and_algorithm_bandwidth():
    payload = 8e9
    assert all_gather_seconds(payload, 8, 8, **PLAIN) == pytest.approx(payload * 7 / 8 / 400e9)
    assert all_reduce_seconds(payload, 8, 8, **PLAIN) == pytest.approx(
        2 * all_gather_seconds(payload, 8, 8, **PLAIN)
    )
    assert reduce_scatter_seconds(payload, 8, 8, **PLAIN) == all_gather_seconds(
        payload, 8, 8, **PLAIN
    )
    assert all_to_all_seconds(payload, 8, 8, **PLAIN) == all_gather_seconds(payload, 8, 8, **PLAIN)
    assert send_recv_seconds(payload, 0.0, 50e9, 0.0) == 0.16


@pytest.mark.parametrize("per_node, bus", [(1, 50e9), (2, 100e9), (4, 200e9), (8, 400e9)])
def test_the_slow_network_carries_one_link_for_each_member_of_a_node(per_node, bus):
    assert all_gather_seconds(8e9, 64, per_node, **PLAIN) == pytest.approx(8e9 * 63 / 64 / bus)


def test_a_mesh_gives_a_small_group_few_links():
    terms = network(catalog.accelerator("MI300X")).terms
    pair, all_eight = (all_gather_seconds(8e9, g, 8, **terms) * g / (g - 1) for g in (2, 8))
    assert pair == pytest.approx(7 * all_eight, rel=0.02)
    switched = network(catalog.accelerator("H100"))
    assert switched.up.pair_bytes_per_s == switched.up.bytes_per_s


def test_large_groups_take_trees_for_small_all_reduces():
    terms = network(catalog.accelerator("H100")).terms
    assert all_reduce_seconds(1e6, 4096, 8, **terms) < 0.1 * 2 * all_gather_seconds(
        1e6, 4096, 8, **terms
    )


def test_what_computing_hides():
    assert exposed(np.array([0.0, 1.0, 3.0]), 1.0, 1.0).tolist() == [0.0, 0.0, 2.0]
    assert exposed(3.0, 100.0, 0.0) == 3.0 and exposed(3.0, 0.0, 1.0) == 3.0


def test_every_chip_with_a_fabric_has_two_networks_below_its_datasheet():
    joined = [chip for chip in catalog.accelerators().values() if chip.scale_up_bytes_per_s]
    assert len(joined) > 50
    for chip in joined:
        up, out = network(chip)
        assert 0 < up.pair_bytes_per_s <= up.bytes_per_s < chip.scale_up_bytes_per_s
        assert 0 < out.bytes_per_s < (chip.scale_out_bytes_per_s or chip.scale_up_bytes_per_s)
        assert (out.basis == "catalog") == (chip.scale_out_bytes_per_s is not None)
    with pytest.raises(catalog.DataError, match="no scale_up_bytes_per_s for TPU v2"):
        network(catalog.accelerator("TPU v2"))


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_bad_groups_are_refused(collective):
    with pytest.raises(ValueError, match="group = 0 is outside its domain, allowed: 1 or more"):
        collective(1e6, 0, 8, **PLAIN)
