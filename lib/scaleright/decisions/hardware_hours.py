"""What an hour of each chip sells: arithmetic, bandwidth, memory and energy, by datasheets and as
measured; and consumer cards beside data-center chips.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scaleright.catalog import accelerator
from scaleright.costs.price_performance import (
    joules_per_tflop,
    usd_per_effective_pflop_hour,
    usd_per_gb_hour,
    usd_per_pflop_hour,
    usd_per_tb_per_s_hour,
)
from scaleright.decisions.hardware_candidates import candidates
from scaleright.order import ordered
from scaleright.power import energy_kwh_per_year
from scaleright.units import figure

ARITHMETIC = "arithmetic reached [USD/h per PFLOP/s]"
BANDWIDTH = "bandwidth [USD/h per TB/s]"
MEMORY = "memory [USD/h per GB]"
ENERGY = "energy [J/TFLOP]"
PRICED = ("rent_usd_per_hour", "bf16_flops", "compute_efficiency")


def joules_reached(chip: Mapping[str, Any]) -> Any:
    """Energy of arithmetic in BF16 at the power limit, as far as matrix products reach [J/TFLOP].

    Parameters
    ----------
    chip : a row of `candidates`, or all of them

    >>> round(float(joules_reached(candidates().loc["H100 SXM"])), 2)
    0.88
    """
    return joules_per_tflop(chip["watts"], chip["bf16_flops"], chip["compute_efficiency"])


def sold_by_the_hour() -> pd.DataFrame:
    """What an hour of each candidate sells at its median rent, BF16; the cheapest bandwidth first.

    Columns: accelerator, rent [USD/h], prices of arithmetic, bandwidth and memory, the energy of
    arithmetic at the power limit (nan where none is published), listed by, as of.

    >>> bool(sold_by_the_hour()["bandwidth [USD/h per TB/s]"].is_monotonic_increasing)
    True
    """
    chips = candidates()
    rent, flops, reached = (chips[column] for column in PRICED)
    limited = chips[chips["watts"].notna()]
    found = {
        "rent [USD/h]": rent,
        ARITHMETIC: usd_per_effective_pflop_hour(rent, flops, reached),
        BANDWIDTH: usd_per_tb_per_s_hour(rent, chips["memory_bytes_per_s"]),
        MEMORY: usd_per_gb_hour(rent, chips["memory_bytes"]),
        ENERGY: joules_reached(limited).reindex(chips.index),
        "listed by": chips["providers"],
        "as of": chips["as_of"],
    }
    return ordered(pd.DataFrame(found).reset_index(), BANDWIDTH, ignore_index=True)


def sold_by_vendor(listed: pd.DataFrame) -> pd.DataFrame:
    """`sold_by_the_hour` of some chips, with their vendor.

    Parameters
    ----------
    listed : rows of `candidates`

    >>> "vendor" in sold_by_vendor(candidates(vendor="AMD"))
    True
    """
    return sold_by_the_hour().merge(listed[["vendor"]].reset_index())


def peaks_reached() -> pd.DataFrame:
    """Dense BF16 of the chips whose best matrix product somebody measured, the fullest first.

    Columns: accelerator, peak and measured [FLOP/s], share [1], and the price of arithmetic at
    either.

    >>> bool((peaks_reached()["measured"] < peaks_reached()["peak"]).all())
    True
    """
    chips = candidates()
    known = ordered(chips[chips["measured"]], "compute_efficiency", ascending=False)
    rent, peak, share = (known[column] for column in PRICED)
    found = {
        "peak": peak,
        "measured": (peak * share).map(figure),
        "share": share,
        "at its peak [USD/h per PFLOP/s]": usd_per_pflop_hour(rent, peak),
        "as measured [USD/h per PFLOP/s]": usd_per_effective_pflop_hour(rent, peak, share),
    }
    return pd.DataFrame(found).reset_index()


PAIRS = [("RTX 3080 Ti", 2), ("A100 PCIe 80GB", 1), ("RTX 5090", 5), ("H100 SXM", 1)]
"""Andreessen Horowitz's pair of consumer cards beside its data-center chip, and as many cards as
match an H100.
"""
KWH_USD, YEARS = 0.10, 3
LIMIT_W = "power limit [W]"
"""What Andreessen Horowitz multiplies by hours: a bound, not what they draw."""


def cards_beside_chips() -> pd.DataFrame:
    """The `PAIRS`, for `YEARS` at their power limits at `KWH_USD`, as Andreessen Horowitz counts.

    Columns: what, FP16, FP32 sums [FLOP/s], bandwidth [B/s], power limit [W], energy [kWh], its
    price [USD], chips [USD].

    >>> round(float(cards_beside_chips().iloc[0][LIMIT_W]))
    700
    """
    rows = []
    for name, many in PAIRS:
        card = accelerator(name)
        watts = many * card.require("tdp_watts")
        kwh = YEARS * energy_kwh_per_year(24.0, watts, 0.0, 1.0)
        rows.append(
            {
                "what": f"{many} x {card.name}",
                "FP16, FP32 sums": many * card.peak_flops("fp16"),
                "bandwidth": many * card.require("memory_bytes_per_s"),
                LIMIT_W: watts,
                "energy [kWh]": kwh,
                "its price [USD]": KWH_USD * kwh,
                "chips [USD]": many * card.purchase_mid_usd,
            }
        )
    return pd.DataFrame(rows)


def pair_over_chip() -> list[float]:
    """What Andreessen Horowitz's pair of cards draws more than its chip in three years [kWh], what
    that costs, and what the pair costs more [USD].

    >>> round(pair_over_chip()[0])
    10519
    """
    columns = ["energy [kWh]", "its price [USD]", "chips [USD]"]
    pair, chip = (row for _, row in cards_beside_chips()[columns].head(2).iterrows())
    return (pair - chip).tolist()
