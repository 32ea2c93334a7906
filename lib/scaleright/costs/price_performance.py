"""What an hour of a chip buys: arithmetic, memory, bandwidth, each at a price, and the energy of
arithmetic.

A workload pays for the one that binds it. A chip that is cheap by one of these is rarely cheap by
all.
"""

import pandas as pd

from scaleright import catalog, market
from scaleright.formulas import FRACTION, POSITIVE, closed_form, lookup
from scaleright.market.compare import price_ends
from scaleright.order import ordered
from scaleright.outputs import Sheet

GIGA, TERA, PETA = 1e9, 1e12, 1e15


@closed_form(usd_per_hour=POSITIVE, dense_flops=POSITIVE)
def usd_per_pflop_hour(usd_per_hour, dense_flops):
    """Price of 1e15 FLOP/s at the dense peak for an hour, that is of 3.6e18 FLOP [USD / (PFLOP/s
    h)].

    Parameters
    ----------
    usd_per_hour : price of one chip [USD/h]
    dense_flops : its dense peak at the precision of the work [FLOP/s]

    Source: definition.

    >>> usd_per_pflop_hour(2.0, 1e15)
    2.0
    """
    return usd_per_hour / (dense_flops / PETA)


@closed_form(usd_per_hour=POSITIVE, dense_flops=POSITIVE, achieved_share=FRACTION)
def usd_per_effective_pflop_hour(usd_per_hour, dense_flops, achieved_share):
    """Price of 1e15 FLOP/s that are really done, for an hour [USD / (PFLOP/s h)].

    Parameters
    ----------
    achieved_share : share of the dense peak that the work achieves: that of a measured matmul, or
        an MFU [1]

    >>> usd_per_effective_pflop_hour(2.0, 1e15, 0.5)
    4.0
    """
    return usd_per_pflop_hour(usd_per_hour, dense_flops * achieved_share)


@closed_form(usd_per_hour=POSITIVE, memory_bytes=POSITIVE)
def usd_per_gb_hour(usd_per_hour, memory_bytes):
    """Price of holding 1e9 bytes next to the chip for an hour [USD / (GB h)].

    >>> usd_per_gb_hour(2.0, 80e9)
    0.025
    """
    return usd_per_hour / (memory_bytes / GIGA)


@closed_form(usd_per_hour=POSITIVE, memory_bytes_per_s=POSITIVE)
def usd_per_tb_per_s_hour(usd_per_hour, memory_bytes_per_s):
    """Price of moving 1e12 bytes a second for an hour at the peak bandwidth, that is 3.6e15 bytes
    [USD / (TB/s h)].

    >>> usd_per_tb_per_s_hour(2.0, 4e12)
    0.5
    """
    return usd_per_hour / (memory_bytes_per_s / TERA)


@closed_form(watts=POSITIVE, dense_flops=POSITIVE, achieved_share=FRACTION)
def joules_per_tflop(watts, dense_flops, achieved_share=1.0):
    """Energy of 1e12 FLOP on a chip at its power limit [J / TFLOP].

    Parameters
    ----------
    watts : power of the chip at work [W]
    dense_flops : its dense peak [FLOP/s]
    achieved_share : share of that peak [1]

    >>> joules_per_tflop(700.0, 1e15, 0.5)
    1.4
    """
    return watts / (dense_flops * achieved_share / TERA)


@lookup
def what_an_hour_buys() -> Sheet:
    """What an hour of each chip buys at the dense BF16 peak and at the peak of its memory, at the
    median of its on-demand listings, by price of arithmetic.

    >>> bool(what_an_hour_buys().rows["USD/h per PFLOP/s"].is_monotonic_increasing)
    True
    """
    physics = market.matmul_chips()
    rows = []
    for row in price_ends(market.spread()).itertuples():
        if row.accelerator not in physics:
            continue
        chip, per_hour = physics[row.accelerator], row.median
        spec = catalog.accelerator(row.accelerator)
        rows.append(
            {
                "accelerator": row.accelerator,
                "providers": row.providers,
                "vendor": spec.vendor,
                "USD/h": per_hour,
                "USD/h per PFLOP/s": usd_per_pflop_hour(per_hour, chip["bf16_flops"]),
                "USD/h per TB/s": usd_per_tb_per_s_hour(per_hour, chip["memory_bytes_per_s"]),
                "USD/h per GB": usd_per_gb_hour(per_hour, chip["memory_bytes"]),
                "J per TFLOP at TDP": joules_per_tflop(
                    spec.tdp_watts or float("nan"), chip["bf16_flops"]
                ),
            }
        )
    found = ordered(pd.DataFrame(rows), "USD/h per PFLOP/s", ignore_index=True)
    words = (
        "What an hour buys at the dense BF16 peak and at that of the memory, by price of arithmetic"
    )
    formats = {"J per TFLOP at TDP": "number 3"}
    return Sheet(found, words, "All chips by what an hour of them buys", formats)
