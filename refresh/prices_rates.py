"""Rental prices from the raw rate cards: one listing a row, USD per accelerator and hour, known
faults dropped.
"""

from __future__ import annotations

import re
from pathlib import Path

from refresh.rules import quantities, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, read_json, sift, to_float

SOURCES = frozenset({"ewyluda2026", "skypilot2026", "gpuhunt2026", "vantage2023", "epochprices"})

EWYLUDA = "gpu_prices/ewyluda_ratecards_2026-09-29_selected.csv"
SKYPILOT = "gpu_prices/skypilot_catalog_extract.csv"
GPUHUNT = "gpu_prices/gpuhunt_tpu_pricing.json"
VANTAGE = "gpu_prices/aws_ec2_accelerator_instances_vantage.csv"
EPOCH = "epoch/hardware_prices.csv"
_EPOCH_SINCE = "2022-08-01"
_SIZE_IN_NOTES = re.compile(r"(?:number of GPUs: |for )(\d+)x?", re.IGNORECASE)
"""How notes say how many accelerators an instance has, or a quoted bill is for."""
STALE_USD = 0.5
NONE_TO_RENT = "RunPod shows 0.50 where it has none to rent"
STALE = f"a stale listing: {NONE_TO_RENT}"


def rows(raw: Path) -> Items:
    """Listings for `rental_prices`, old ones too: what a chip rented for on a past day is read from
    the cards of then.
    """
    found, dropped = sift(
        item for importer in (_ewyluda, _skypilot, _gpuhunt, _vantage) for item in importer(raw)
    )
    yield from found
    yield from dropped
    covered = {(row["date"], row["provider"], row["accelerator"], row["pricing"]) for row in found}
    yield from _epoch(raw, covered)


def listing(
    source, date, provider, segment, chip, count, region, pricing, price, sku, note="", basis="list"
) -> Row:
    """A row of `rental_prices`; RefreshError for a price that nobody can ask."""
    if price <= 0:
        raise RefreshError(
            f"{source}: {provider} {sku} {chip}: a price of {price:g} USD/h; allowed: above 0"
        )
    return {
        "date": date,
        "provider": provider,
        "segment": segment,
        "accelerator": chip,
        "accelerators": count,
        "region": region,
        "pricing": pricing,
        "usd_per_accelerator_hour": round(price, 6),
        "basis": basis,
        "sku": sku,
        "source": source,
        "note": note,
    }


def _ewyluda(raw: Path) -> Items:
    for row in read_csv(raw, EWYLUDA):
        label = (
            f"{row['provider']} {row['gpu_model']} {row['sku']} {row['region']}"
            f" {row['usd_per_gpu_hour']}"
        )
        action, chip, reason = rule(EWYLUDA, "accelerator", row["gpu_model"])
        price, whole = (
            to_float(row[c], EWYLUDA, label, c) for c in ("usd_per_gpu_hour", "usd_per_hour")
        )
        count = int(to_float(row["gpu_count"], EWYLUDA, label, "gpu_count") or 0)
        if action == "drop":
            yield Dropped(label, reason)
        elif row["provider"].startswith("RunPod") and price == STALE_USD:
            yield Dropped(label, STALE)
        elif count < 1 or abs(whole / count - price) > 0.01 * abs(price):
            yield Dropped(
                label, f"price of the node ({whole:g}) and per GPU ({price:g} x {count}) disagree"
            )
        else:
            vast = row["sku"].startswith("median-offer")
            note = (
                "form factor not stated by the marketplace"
                if vast and chip.startswith("A100 SXM")
                else ""
            )
            yield listing(
                "ewyluda2026",
                row["date"],
                row["provider"],
                row["segment"],
                chip,
                count,
                row["region"],
                row["pricing"],
                price,
                row["sku"],
                note,
                "median offer" if vast else "list",
            )


def _skypilot(raw: Path) -> Items:
    for row in read_csv(raw, SKYPILOT):
        (action, chip, reason), count = (
            rule(SKYPILOT, "accelerator", row["accelerator"]),
            int(row["count"]),
        )
        if action == "drop":
            yield Dropped(f"{row['cloud']} {row['accelerator']}", reason)
            continue
        sku = f"{row['accelerator']} x{count}, {row['vcpus']} vCPU, {row['mem_gib']} GiB"
        for pricing, price, note in quantities(row, SKYPILOT, row["accelerator"]):
            yield listing(
                "skypilot2026",
                "2025-07-31",
                row["cloud"].capitalize(),
                "neocloud",
                chip,
                count,
                row["region"],
                pricing,
                price / count,
                sku,
                note,
            )


def _gpuhunt(raw: Path) -> Items:
    versions = read_json(raw / GPUHUNT)
    note = "per chip; dated by Google's page of this day, whose v5e, v6e and v4 prices are the same"
    for version, regions in versions.items():
        chip = version.removesuffix(" pod").removesuffix(" device")
        for region, entry in regions.items():
            if unknown := sorted(set(entry) - {"Location", "On Demand (USD)", "Spot (USD)"}):
                raise RefreshError(f"{GPUHUNT}: {version} / {region}: unknown field {unknown[0]!r}")
            base, spot = entry["On Demand (USD)"], entry["Spot (USD)"]
            common = ("gpuhunt2026", "2025-03-03", "Google Cloud", "hyperscaler", chip, 1, region)
            yield listing(*common, "on_demand", base, version, note)
            if spot < base:
                yield listing(*common, "spot", spot, version, note)
            else:
                yield Dropped(
                    f"{version} {region} spot {spot:g}", f"above the on-demand price of {base:g}"
                )


def _vantage(raw: Path) -> Items:
    smallest = set()

    def cost(row: Row, column: str) -> float | None:
        return to_float(row[column], VANTAGE, row["API Name"], column)

    for row in sorted(read_csv(raw, VANTAGE), key=lambda row: cost(row, "On Demand")):
        sku, count = row["API Name"], int(row["GPUs"])
        family = sku.split(".")[0]
        action, chip, reason = rule(VANTAGE, "instance family", family)
        if action == "drop" or (family, count) in smallest:
            why = (
                f"{row['GPU model']} {reason}"
                if action == "drop"
                else "the same chips with a larger host"
            )
            yield Dropped(f"AWS {sku}", why)
            continue
        smallest.add((family, count))
        common = ("vantage2023", "2023-11-16", "AWS", "hyperscaler", chip, count, "us-east-1")
        for pricing, price, note in quantities(row, VANTAGE, sku):
            yield listing(*common, pricing, price / count, sku, note)
        low, high = (cost(row, f"Linux Spot {end} cost") for end in ("Minimum", "Maximum"))
        if low and high:
            note = f"middle of {low / count:.4g} to {high / count:.4g} over the region's zones"
            yield listing(*common, "spot", (low + high) / 2 / count, sku, note)


def _epoch(raw: Path, covered: set[tuple]) -> Items:
    cheapest: dict[tuple, Row] = {}
    for row in read_csv(raw, EPOCH):
        model, date, vendor = row["Hardware model"], row["Price date"], row["Vendor"]
        label = f"{vendor} {model} {date}"
        variant = (
            f"{model} | {vendor} | {row['Notes']} {row['Cloud GPU description']}".strip()
        )  # the name in rules.csv
        chip, provider = rule(EPOCH, "accelerator rented", variant), rule(EPOCH, "provider", vendor)
        prices, left_out = list(quantities(row, EPOCH, label)), chip.reason or provider.reason
        if prices and (
            date < _EPOCH_SINCE or left_out
        ):  # Databricks states a cost to train, no rent
            yield Dropped(label, f"before {_EPOCH_SINCE}" if date < _EPOCH_SINCE else left_out)
            continue
        words = (
            row["Cloud GPU description"].split("\n")[0].partition("http")[0]
            or row["Notes"].partition("instance ")[2]
        )
        product, region = (
            words.partition("number of GPUs")[0][:40].strip(" ;,") or model,
            row["Location"] or "not stated",
        )
        sku = (
            row["Notes"] if "the-full-stack" in row["Price source"] and row["Notes"] else product
        )  # it notes the instance
        count = row["Number of GPUs"] or next(iter(_SIZE_IN_NOTES.findall(row["Notes"])), "")
        note = "" if count else "size of the instance not stated"
        seller, segment = provider.ours or vendor, rule(EPOCH, "segment", vendor).ours
        common = (seller, segment, chip.ours, int(float(count or 1)), region)
        for pricing, price, _ in prices:
            if (date, seller, chip.ours, pricing) in covered:
                yield Dropped(
                    f"{label} {pricing}",
                    "another source holds the same provider's card of this day, by region",
                )
                continue
            found = listing("epochprices", date, *common, pricing, price, sku, note)
            kept = cheapest.setdefault((date, *common, pricing, product), found)
            if kept is not found:
                cheapest[date, *common, pricing, product], dearer = sorted((kept, found), key=_usd)
                yield Dropped(
                    f"{label} {pricing} {_usd(dearer):g}", "the same chips with a larger host"
                )
    yield from cheapest.values()


def _usd(row: Row) -> float:
    return row["usd_per_accelerator_hour"]
