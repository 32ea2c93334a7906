"""Andreessen Horowitz's two lost tables of April 2023, rebuilt: clouds beside each other, and GPUs
with what they cost; each under the words that head a table.
"""

import pandas as pd

from scaleright.market.compare import price_ends
from scaleright.market.history import LEAST_PROVIDERS, cloud_table
from scaleright.market.listed import in_words
from scaleright.market.purchases import hardware_table
from scaleright.market.rentals import CHIP_ALONE, spread
from scaleright.order import ordered
from scaleright.outputs import Sheet

DAY, WITHIN_DAYS = "2023-04-07", 60
"""The day of the table of clouds, and how far from it a rate card may have been saved."""

_PHYSICS = {"memory": "si B", "bandwidth": "si B/s", "compute": "si FLOP/s", "power [W]": "whole"}
"""How columns of `gpus_sheet` are said."""


def clouds_sheet() -> Sheet:
    """Clouds by chips on demand [USD/h], those chips that two or more clouds listed; a cloud that
    priced the chip without its host says so.

    >>> "CoreWeave, chip alone" in set(clouds_sheet().rows["provider"])
    True
    """
    then = cloud_table(DAY, WITHIN_DAYS)
    bare = then["basis"] == CHIP_ALONE
    then = then.assign(provider=then["provider"].mask(bare, then["provider"] + ", chip alone"))
    often = then.groupby("accelerator").size().pipe(ordered, ascending=False)
    wide = then.pivot(index="provider", columns="accelerator", values="usd_per_accelerator_hour")
    wide = wide[often.index[often >= 2]].dropna(how="all")
    rows = wide.rename_axis(columns=None).reset_index()
    words = (
        f"Clouds and chips as of {DAY}, on demand [USD per accelerator-hour]; a dash where no card"
        " of those weeks was found"
    )
    formats = dict.fromkeys(wide.columns, "usd")
    return Sheet(rows, words, f"The table again: {len(rows)} clouds", formats)


def chip_alone_then() -> tuple[str, str]:
    """Who priced the chip without its host on that day, and why, as Andreessen Horowitz's notes
    say.

    >>> chip_alone_then()
    ('CoreWeave', 'vCPUs and memory are billed apart')
    """
    then = cloud_table(DAY, WITHIN_DAYS)
    bare = then[then["basis"] == CHIP_ALONE]
    why = bare["note"].str.partition(";")[0].mode().iloc[0]
    return " and ".join(bare["provider"].unique()), why


def then_and_now_sheet() -> Sheet:
    """Ends of chips of which three clouds or more listed whole instances then and now.

    >>> then_and_now_sheet().rows["when"].tolist()[:2]
    ['then', 'now']
    """
    ends = {"then": price_ends(cloud_table(DAY, WITHIN_DAYS)), "now": price_ends(spread())}
    enough = [
        set(found.loc[found["providers"] >= LEAST_PROVIDERS, "accelerator"])
        for found in ends.values()
    ]
    both = pd.concat([found.assign(when=when) for when, found in ends.items()])
    both = both[both["accelerator"].isin(set.intersection(*enough))]
    both = ordered(both, ["accelerator", "when"], ascending=[True, False])
    columns = ["accelerator", "when", "providers", "apart", "median", "low", "low_at", "high"]
    words = (
        "Chips of which three clouds or more listed whole instances then and now,"
        f" {ends['now']['date'].max():%Y-%m-%d}"
    )
    rows = in_words(both[[*columns, "high_at"]])
    told = "The same chips then and now"
    return Sheet(rows, words, formats={"times apart": "number 3"}, summary=told)


def gpus_sheet() -> Sheet:
    """GPUs with the price of one, the median rent over clouds, and their physics."""
    found = ordered(hardware_table(DAY), "rent_usd_per_hour", ascending=False)
    month = found["purchase_date"].map(lambda d: "" if pd.isna(d) else f" {d:%Y-%m}")
    found = found.assign(bought=found["purchase_kind"].fillna("") + month)
    words = {
        "accelerator": "accelerator",
        "usd_per_accelerator": "price [USD]",
        "bought": "kind and month",
        "rent_usd_per_hour": "rent [USD/h]",
        "clouds": "clouds",
        "memory_bytes": "memory",
        "memory_bytes_per_s": "bandwidth",
        "dense_16bit_flops": "compute",
        "tdp_watts": "power [W]",
    }
    said = (
        f"Accelerators as of {DAY}: price of one, median rent over clouds, dense 16-bit peak; a"
        " dash where nobody published it"
    )
    rows = found[[*words]].rename(columns=words)
    return Sheet(rows, said, f"{len(rows)} accelerators of April 2023", _PHYSICS)
