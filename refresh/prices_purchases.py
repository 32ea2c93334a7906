"""What chips sold for over time, each kind of price apart, and what a commitment takes off a
rent.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from refresh.rules import kept, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, read_text, to_float

SOURCES = frozenset({"epochprices", "epochhardware", "epochchips"})
COMMITMENT_SOURCES = frozenset({"zhang2026"})

QUOTES = "epoch/hardware_prices.csv"
SHEET = "epoch/ml_hardware_ai_accelerators.csv"
YEARLY = "epoch/ai_chip_counts/Nvidia_annual_prices.csv"
RATIOS = "gpu_prices/henryzhang_committed_use_ratios.csv"


def rows(raw: Path, chips: list[Row]) -> Items:
    """Dated purchase prices for `purchase_prices`: single quotes, launch prices, yearly estimates;
    none before its chip.
    """
    years = {chip["name"]: chip["released"][:4] for chip in chips}
    for importer in (_quotes, _launches, _yearly):
        for item in importer(raw):
            year = "" if isinstance(item, Dropped) else years.get(item["accelerator"], "")
            if year and item["date"][:4] < year:
                sale = f"{item['accelerator']} {item['date']} {item['usd_per_accelerator']:g}"
                item = Dropped(sale, f"before the chip was released in {year}")
            yield item


def commitment_rows(raw: Path) -> Items:
    """Headline price ratios of one- and three-year commitments for `commitment_ratios`."""
    for row in read_csv(raw, RATIOS):
        label = f"{row['vendor']} {row['tenor_years']} years"
        ratio, years = (
            to_float(row[column], RATIOS, label, column)
            for column in ("price_ratio", "tenor_years")
        )
        if ratio is None or not 0 < ratio <= 1:
            raise RefreshError(
                f"{RATIOS}: {label}: price_ratio {row['price_ratio']!r} is not in 0..1"
            )
        yield {
            "provider": rule(RATIOS, "provider", row["vendor"]).ours,
            "term_years": int(years),
            "price_ratio": ratio,
            "as_of": row["as_of"],
            "basis": "headline",
            "source": "zhang2026",
            "note": row["note"],
        }


def _sale(date, chip, price, count, kind, vendor, source, note="") -> Row:
    if price <= 0:
        raise RefreshError(f"{source}: {chip} {date}: a price of {price:g} USD; allowed: above 0")
    return {
        "date": date,
        "accelerator": chip,
        "usd_per_accelerator": round(price, 2),
        "accelerators": count,
        "kind": kind,
        "vendor": vendor,
        "source": source,
        "note": note,
    }


def _quotes(raw: Path) -> Items:
    seen: set[tuple] = set()
    for row in read_csv(raw, QUOTES):
        text, model, date, notes = (
            row[c] for c in ("Price (hardware purchase)", "Hardware model", "Price date", "Notes")
        )
        if not text:
            continue
        label = f"{model} {date} {text}"
        action, chip, reason = rule(
            QUOTES,
            "accelerator sold",
            f"{model} | {date[:4]} | {notes} {row['Cloud GPU description']}",
        )
        count = int(float(row["Number of GPUs"] or 1))
        price = to_float(text, QUOTES, label, "Price (hardware purchase)")
        if action == "drop":
            yield Dropped(label, reason)
            continue
        kind = rule(QUOTES, "kind of price", f"{count} | {notes} | {row['Price source']}").ours
        note = "converted from EUR by the source" if re.search("euro", notes, re.IGNORECASE) else ""
        if (key := (chip, date, price, kind)) in seen:
            yield Dropped(label, "the same quote twice")
            continue
        seen.add(key)
        yield _sale(
            date, chip, price, count, kind, _vendor(row["Price source"]), "epochprices", note
        )


def _vendor(url: str) -> str:
    """The site a price was read on, behind the archive that kept it.

    >>> _vendor(
    ...     "https://web.archive.org/web/20241217210350/"
    ...     "https://www.deltacomputer.com/nvidia-dgx-b200-1440gb.html")
    'deltacomputer.com'
    """
    site = re.search(
        r"https?://(?:www\.)?([^/]+)", re.sub(r"^https://web\.archive\.org/web/\d+/", "", url)
    )
    return site[1] if site else "not stated"


def _launches(raw: Path) -> Items:
    for row in read_csv(raw, SHEET):
        name, date, text = row["Hardware name"], row["Release date"], row["Release price (USD)"]
        if not text:
            continue
        action, chip, reason = rule(SHEET, "accelerator launched", name)
        if action == "drop":
            yield Dropped(f"{name} launched {date} {text}", reason)
        else:
            price = to_float(text, SHEET, name, "Release price (USD)")
            yield _sale(date, chip, price, 1, "launch", row["Manufacturer"], "epochhardware")


def _yearly(raw: Path) -> Items:
    """Low and high ends of a year's estimated average price; the header repeats names, so columns
    go by position.
    """
    names, *lines = [cells for cells in csv.reader(read_text(raw / YEARLY).splitlines()) if cells]
    for family, chips in kept(YEARLY, "accelerator").items():
        try:
            places = [(end, names.index(f"{family} {end}")) for end in ("low", "high")]
        except ValueError:
            raise RefreshError(
                f"{YEARLY}: missing column '{family} low' or '{family} high'"
            ) from None
        for cells in lines:
            if f"{family} is stub" in " ".join(cells):
                yield Dropped(f"{family} {cells[0]} yearly price", "the source calls it a stub")
                continue
            for end, place in places:
                price = to_float(cells[place], YEARLY, cells[0], names[place])
                for chip in chips.split(";") if price else ():
                    note = f"{end} end of the year's average price"
                    yield _sale(
                        f"{cells[0]}-07-01",
                        chip,
                        price,
                        1,
                        "estimate",
                        "NVIDIA",
                        "epochchips",
                        note,
                    )
