"""Histories of rents: indexes, and medians of rate cards. Nobody rents at them, so their basis says
index or normalized.

Two series that mean different things differ in provider, segment or sku: an index of hyperscalers
is none of neoclouds, and a value scaled to a standard contract is none of a rate card.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from refresh.prices_rates import NONE_TO_RENT, STALE, STALE_USD, listing
from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, Row, to_float

SOURCES = frozenset({"zhang2026", "mckee2026", "ewyluda2026"})

MONTHLY = "gpu_prices/henryzhang_backfill_ratecards_monthly.csv"
GIX = "gpu_prices/henryzhang_gix_daily.csv"
MCKEE = "gpu_prices/joshhmckee_gpu_rental_index_daily.csv"
WYLUDA = "gpu_prices/ewyluda_index_history_selected.csv"

CONTRACT = "8 x SXM, on demand"
"""The contract that the monthly series scales every card to: one chip of an eight-chip SXM node."""
SPOT_FLOOR = 0.2
"""Least share of the on-demand median that a spot median can be; below it RunPod's 0.50 for 'none
to rent' pulls it down.
"""
FAILED = 1.0
"""What the daily index shows in columns that its page did not fill: that day was read wrongly as a
whole.
"""
DIP, ALIKE = 1 / 3, 0.05
"""A value this far from both neighbors, while these are alike, is a fault of its day and no price.
"""


def rows(raw: Path) -> Items:
    """Every figure of the four histories, or why it is left out."""
    yield from _monthly(raw)
    yield from _without_dips([*_gix(raw)])
    yield from _without_dips([*_mckee(raw)])
    yield from _without_dips([*_wyluda(raw)])


def _history(
    source: str,
    date: str,
    provider: str,
    chip: str,
    price: float,
    sku: str,
    *,
    segment: str = "index",
    pricing: str = "on_demand",
    note: str = "",
    basis: str = "index",
) -> Row:
    count = 8 if sku == CONTRACT else 1
    return listing(
        source, date, provider, segment, chip, count, "not stated", pricing, price, sku, note, basis
    )


def _monthly(raw: Path) -> Items:
    for row in read_csv(raw, MONTHLY):
        date, chip = f"{row['period']}-01", rule(MONTHLY, "accelerator", row["gpu"]).ours
        label, count = f"monthly {row['period']} {row['gpu']}", row["provider_count"]
        for entry in row["provider_values"].split(";"):
            name, _, text = entry.partition("=")
            price, provider = (
                to_float(text, MONTHLY, label, name),
                rule(MONTHLY, "provider", name).ours,
            )
            yield _history(
                "zhang2026",
                date,
                provider,
                chip,
                price,
                CONTRACT,
                segment="neocloud",
                note="scaled from its card to this contract by the source",
                basis="normalized",
            )
        medians = {pricing: price for pricing, price, _ in quantities(row, MONTHLY, label)}
        if index := to_float(row["index_value_usd_per_gpu_hr"], MONTHLY, label, "index"):
            yield _history(
                "zhang2026",
                date,
                "Median of scaled cards",
                chip,
                index,
                CONTRACT,
                note=f"of {count} providers",
            )
        for pricing, price in medians.items():
            if pricing == "spot" and price < SPOT_FLOOR * medians["on_demand"]:
                yield Dropped(
                    f"{label} spot median {price:g}",
                    f"below a fifth of the on-demand median: {NONE_TO_RENT}",
                )
                continue
            above = pricing != "on_demand" and price > medians["on_demand"]
            note = (
                f"of cards as listed, {count} providers on demand"
                + "; above the on-demand median: other cards are in it" * above
            )
            yield _history(
                "zhang2026",
                date,
                "Median of rate cards",
                chip,
                price,
                "as listed",
                pricing=pricing,
                note=note,
            )


def _gix(raw: Path) -> Items:
    for row in read_csv(raw, GIX):
        chip, price = (
            rule(GIX, "accelerator", row["gpu"]).ours,
            to_float(row["usd_per_gpu_hr"], GIX, row["date"], row["gpu"]),
        )
        yield _history(
            "zhang2026", row["date"], "GIX", chip, price, CONTRACT, note="last revision of the day"
        )


def _mckee(raw: Path) -> Items:
    """One figure a day for each kind of provider and chip.

    A column that its page did not fill shows its left neighbor's value or 1.0. A day with a 1.0 was
    misread as a whole; of other days only the repeated value is left out, since the one repeated
    goes on as on the days around.
    """
    for row in read_csv(raw, MCKEE):
        found = list(quantities(row, MCKEE, row["date"]))
        if not found:
            yield Dropped(f"daily index {row['date']}", "blank: no figure that day")
        misread, left = any(price == FAILED for _, price, _ in found), None
        for series, price, _ in found:
            segment, chip = series.split("/")
            if misread or price == left:
                why = (
                    "a 1.0 among the day's columns: its page was misread"
                    if misread
                    else "repeats the column to its left"
                )
                yield Dropped(f"daily index {row['date']} {series} {price:g}", why)
            else:
                yield _history(
                    "mckee2026",
                    row["date"],
                    "GPU rental index",
                    chip,
                    price,
                    f"{segment}s",
                    segment=segment,
                )
            left = price


def _wyluda(raw: Path) -> Items:
    for row in read_csv(raw, WYLUDA):
        action, chip, reason = rule(WYLUDA, "accelerator", row["gpu_model"])
        series, label = (
            row["series"],
            (
                f"daily index {row['date']} {row['gpu_model']} {row['series']}"
                f" {row['usd_per_gpu_hour']}"
            ),
        )
        price = to_float(row["usd_per_gpu_hour"], WYLUDA, label, "usd_per_gpu_hour")
        if action == "drop":
            yield Dropped(label, reason)
        elif price == STALE_USD:
            yield Dropped(label, STALE)
        else:
            segment, pricing = (
                rule(WYLUDA, "segment", series).ours,
                rule(WYLUDA, "pricing", series).ours,
            )
            yield _history(
                "ewyluda2026",
                row["date"],
                "GPU price index",
                chip,
                price,
                series,
                segment=segment,
                pricing=pricing,
            )


def _without_dips(items: Iterable[Row | Dropped]) -> Iterator[Row | Dropped]:
    """The same items, with every value dropped that leaves its series for one day only."""
    series: dict[tuple, list[Row]] = {}
    for item in items:
        if isinstance(item, Dropped):
            yield item
        else:
            series.setdefault((item["accelerator"], item["sku"], item["pricing"]), []).append(item)
    for days in series.values():
        days.sort(key=lambda row: row["date"])
        for i, row in enumerate(days):
            around = [
                days[j]["usd_per_accelerator_hour"] for j in (i - 1, i + 1) if 0 <= j < len(days)
            ]
            if _dips(row["usd_per_accelerator_hour"], around):
                label = (
                    f"daily index {row['date']} {row['accelerator']} {row['sku']}"
                    f" {row['usd_per_accelerator_hour']:g}"
                )
                yield Dropped(
                    label,
                    f"a third away from the days around it, which agree: {around[0]:g} and"
                    f" {around[1]:g}",
                )
            else:
                yield row


def _dips(price: float, around: list[float]) -> bool:
    """Whether a price stands a third away from both neighbors while these agree.

    >>> _dips(4.20, [7.89, 7.89]), _dips(3.14, [2.48, 2.50]), _dips(8.70, [7.89])
    (True, False, False)
    """
    if len(around) < 2:
        return False
    before, after = around
    return abs(before - after) <= ALIKE * after and all(
        abs(price - other) > DIP * other for other in around
    )
