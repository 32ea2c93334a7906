"""Rental prices from the raw rate cards: one listing a row, USD per accelerator and hour, known faults dropped."""

from __future__ import annotations

import json
from pathlib import Path

from scaleright.press.refresh.accelerators import hardware_prices
from scaleright.press.refresh.tables import Dropped, RefreshError, Row, read_csv, read_text, to_float

SOURCES = frozenset({"ewyluda2026", "skypilot2026", "gpuhunt2026", "vantage2023", "epochprices"})

_EWYLUDA = {
    "A100-40GB": "A100 SXM 40GB", "A100-80GB": "A100 SXM 80GB", "A100-80GB-PCIe": "A100 PCIe 80GB",
    "H100": "H100 SXM", "H100-PCIe": "H100 PCIe", "H100-NVL": "H100 NVL", "H200": "H200 SXM", "B200": "B200",
    "B300": "B300", "L40S": "L40S", "MI300X": "MI300X",
}  # fmt: skip
_SKYPILOT = {"H100-SXM": "H100 SXM", "H200-SXM": "H200 SXM", "B200-SXM": "B200", "V100-16GB": "V100 SXM 16GB",
             "A6000": "RTX A6000", "L40S (AMD host)": "L40S", "L40S (Intel host)": "L40S"}  # fmt: skip
_VANTAGE = {"g4dn": "T4", "g5": "A10G", "inf2": "Inferentia2", "trn1": "Trainium1", "trn1n": "Trainium1",
            "p3": "V100 SXM 16GB", "p3dn": "V100 SXM 32GB", "p4d": "A100 SXM 40GB", "p4de": "A100 SXM 80GB",
            "p5": "H100 SXM"}  # fmt: skip
_EPOCH = {
    "NVIDIA H100 SXM5 80GB": "H100 SXM", "NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA H100 NVL": "H100 NVL",
    "NVIDIA H200 SXM": "H200 SXM", "NVIDIA A100 SXM4 80 GB": "A100 SXM 80GB",
    "NVIDIA A100 SXM4 40 GB": "A100 SXM 40GB", "NVIDIA RTX A6000": "RTX A6000",
    "NVIDIA A40 PCIe": "A40", "NVIDIA L40": "L40", "NVIDIA L40S": "L40S", "NVIDIA L4": "L4", "NVIDIA A30 PCIe": "A30",
    "NVIDIA A10 PCIe": "A10", "NVIDIA GeForce RTX 4090": "RTX 4090", "NVIDIA GeForce RTX 3090": "RTX 3090",
    "NVIDIA GeForce RTX 3080 Ti": "RTX 3080 Ti", "NVIDIA Tesla V100 PCIe 16 GB": "V100 PCIe 16GB",
    "NVIDIA Tesla V100 SXM2 16 GB": "V100 SXM 16GB", "NVIDIA P100": "P100 PCIe", "Google TPU v4": "TPU v4",
    "Google TPU v5e": "TPU v5e", "Google TPU v6e Trillium": "TPU v6e", "NVIDIA Tesla T4": "T4",
}  # fmt: skip
_SEGMENT = {"Amazon Web Services": "hyperscaler", "Microsoft Azure": "hyperscaler", "Google Cloud": "hyperscaler",
            "Oracle Cloud": "hyperscaler", "vast.ai": "marketplace", "Salad": "marketplace"}  # fmt: skip
_PROVIDER = {"Amazon Web Services": "AWS", "vast.ai": "Vast.ai", "Lambda Labs": "Lambda"}
_EPOCH_SINCE = "2023-01-01"
_HISTORY_BEFORE = "2024-01-01"
"""Quotes of 2023 stay beside newer rate cards: they are what S3's prices of April 2023 are checked against."""


def rows(raw: Path) -> tuple[list[Row], list[Dropped]]:
    """Listings for `rental_prices`; an older list only fills in what newer ones lack (chip and kind of pricing)."""
    found, dropped = [], []
    for importer in (_ewyluda, _skypilot, _gpuhunt, _vantage):
        good, bad = importer(raw)
        found += good
        dropped += bad
    covered = {(row["accelerator"], row["pricing"]) for row in found if row["source"] != "vantage2023"}
    good, bad = _epoch(raw, covered)
    return found + good, dropped + bad


def _listing(date, provider, segment, chip, count, region, pricing, price, basis, sku, source, note="") -> Row:
    return {
        "date": date, "provider": provider, "segment": segment, "accelerator": chip, "accelerators": count,
        "region": region, "pricing": pricing, "usd_per_accelerator_hour": round(price, 6), "basis": basis, "sku": sku,
        "source": source, "note": note,
    }  # fmt: skip


def _ewyluda(raw: Path) -> tuple[list[Row], list[Dropped]]:
    path, good, dropped = "gpu_prices/ewyluda_ratecards_2026-09-29_selected.csv", [], []
    columns = ("date", "provider", "segment", "pricing", "gpu_model", "sku", "region", "gpu_count", "usd_per_hour",
               "usd_per_gpu_hour")  # fmt: skip
    for row in read_csv(raw / path, columns):
        label = f"{row['provider']} {row['gpu_model']} {row['sku']} {row['region']} {row['usd_per_gpu_hour']}"
        chip = _EWYLUDA.get(row["gpu_model"])
        price, whole = (to_float(row[c], path, label, c) for c in ("usd_per_gpu_hour", "usd_per_hour"))
        count = int(to_float(row["gpu_count"], path, label, "gpu_count") or 0)
        if chip is None:
            dropped.append(Dropped(label, "not a chip of this book"))
        elif row["provider"].startswith("RunPod") and price == 0.5:
            dropped.append(Dropped(label, "a stale listing: RunPod shows 0.50 where it has none to rent"))
        elif count < 1 or abs(whole / count - price) > 0.01 * price:
            dropped.append(Dropped(label, f"price of the node ({whole:g}) and per GPU ({price:g} x {count}) disagree"))
        else:
            vast = row["sku"].startswith("median-offer")
            note = "form factor not stated by the marketplace" if vast and chip.startswith("A100 SXM") else ""
            common = (row["date"], row["provider"], row["segment"], chip, count, row["region"], row["pricing"], price)
            good.append(_listing(*common, "median offer" if vast else "list", row["sku"], "ewyluda2026", note))
    return good, dropped


def _skypilot(raw: Path) -> tuple[list[Row], list[Dropped]]:
    path, good, dropped = "gpu_prices/skypilot_catalog_extract.csv", [], []
    columns = ("cloud", "catalog", "accelerator", "count", "vcpus", "mem_gib", "price_usd_hr", "spot_usd_hr", "region",
               "usd_per_gpu_hr")  # fmt: skip
    note = "the catalog states no date: placed in the first month in which Nebius listed H100 at 2.95"
    for row in read_csv(raw / path, columns):
        chip, count = _SKYPILOT.get(row["accelerator"]), int(row["count"])
        if chip is None:
            dropped.append(Dropped(f"{row['cloud']} {row['accelerator']}", "not a chip of this book"))
            continue
        for column, pricing in (("price_usd_hr", "on_demand"), ("spot_usd_hr", "spot")):
            price = to_float(row[column], path, row["accelerator"], column)
            if price is not None:
                sku = f"{row['accelerator']} x{count}, {row['vcpus']} vCPU, {row['mem_gib']} GiB"
                common = ("2025-07-31", row["cloud"].capitalize(), "neocloud", chip, count, row["region"], pricing)
                good.append(_listing(*common, price / count, "list", sku, "skypilot2026", note))
    return good, dropped


def _gpuhunt(raw: Path) -> tuple[list[Row], list[Dropped]]:
    path, good, dropped = "gpu_prices/gpuhunt_tpu_pricing.json", [], []
    try:
        versions = json.loads(read_text(raw / path))
    except json.JSONDecodeError as error:
        raise RefreshError(f"{path}: line {error.lineno}: not valid JSON: {error.msg}") from None
    note = "per chip; dated by Google's page of this day, whose v5e, v6e and v4 prices are the same"
    for version, regions in versions.items():
        chip = version.removesuffix(" pod").removesuffix(" device")
        for region, entry in regions.items():
            unknown = sorted(set(entry) - {"Location", "On Demand (USD)", "Spot (USD)"})
            if unknown:
                raise RefreshError(f"{path}: {version} / {region}: unknown field {unknown[0]!r}")
            base, spot = entry["On Demand (USD)"], entry["Spot (USD)"]
            common = ("2025-03-03", "Google Cloud", "hyperscaler", chip, 1, region)
            good.append(_listing(*common, "on_demand", base, "list", version, "gpuhunt2026", note))
            if spot < base:
                good.append(_listing(*common, "spot", spot, "list", version, "gpuhunt2026", note))
            else:
                dropped.append(Dropped(f"{version} {region} spot {spot:g}", f"above the on-demand price of {base:g}"))
    return good, dropped


def _vantage(raw: Path) -> tuple[list[Row], list[Dropped]]:
    path, good, dropped, smallest = "gpu_prices/aws_ec2_accelerator_instances_vantage.csv", [], [], set()
    columns = ("Name", "API Name", "GPUs", "GPU model", "GPU memory", "vCPUs", "Instance Memory", "Network Performance",
               "On Demand", "Linux Reserved cost", "Linux Spot Minimum cost", "Linux Spot Maximum cost")  # fmt: skip

    def price(row: Row, column: str) -> float | None:
        return to_float(row[column].removesuffix(" hourly"), path, row["API Name"], column)

    for row in sorted(read_csv(raw / path, columns), key=lambda r: price(r, "On Demand")):
        sku, count = row["API Name"], int(row["GPUs"])
        family = sku.split(".")[0]
        chip = _VANTAGE.get(family)
        if chip is None:
            dropped.append(Dropped(f"AWS {sku}", f"{row['GPU model']} is not a chip of this book"))
            continue
        if (family, count) in smallest:
            dropped.append(Dropped(f"AWS {sku}", "the same chips with a larger host"))
            continue
        smallest.add((family, count))
        common = ("2023-11-16", "AWS", "hyperscaler", chip, count, "us-east-1")
        good.append(_listing(*common, "on_demand", price(row, "On Demand") / count, "list", sku, "vantage2023"))
        if reserved := price(row, "Linux Reserved cost"):
            note = "one year, no money upfront: the term Vantage shows by default; the file does not name it"
            good.append(_listing(*common, "reserved_1y", reserved / count, "list", sku, "vantage2023", note))
        low, high = (price(row, f"Linux Spot {end} cost") for end in ("Minimum", "Maximum"))
        if low and high:
            note = f"middle of {low / count:.4g} to {high / count:.4g} over the region's zones"
            good.append(_listing(*common, "spot", (low + high) / 2 / count, "list", sku, "vantage2023", note))
    return good, dropped


def _epoch(raw: Path, covered: set[tuple[str, str]]) -> tuple[list[Row], list[Dropped]]:
    path, newest, dropped = "epoch/hardware_prices.csv", {}, []
    kinds = (("Price per chip-hour (on-demand)", "on_demand"), ("Price per chip-hour (1-year CUD)", "reserved_1y"),
             ("Price per chip-hour (3-year CUD)", "reserved_3y"))  # fmt: skip
    for row in hardware_prices(raw):
        model, date, vendor = row["Hardware model"], row["Price date"], row["Vendor"]
        label = f"{vendor} {model} {date}"
        if not any(row[column] for column, _ in kinds):
            continue
        chip = _epoch_chip(row)
        if date < _EPOCH_SINCE:
            dropped.append(Dropped(label, f"before {_EPOCH_SINCE}"))
            continue
        if chip is None or vendor in ("", "Databricks"):  # Databricks states a cost to train, no rent
            dropped.append(Dropped(label, "chip, variant or provider not in this book or not stated"))
            continue
        for column, pricing in kinds:
            price = to_float(row[column], path, label, column)
            if price is None:
                continue
            if (chip, pricing) in covered and date >= _HISTORY_BEFORE:
                dropped.append(Dropped(f"{label} {pricing}", "a newer rate card covers this chip and kind of pricing"))
                continue
            words = row["Cloud GPU description"].split("\n")[0] or row["Notes"].partition("instance ")[2]
            sku = words[:40].strip(" ;,") or model
            region = row["Location"] or "not stated"
            provider, segment = _PROVIDER.get(vendor, vendor), _SEGMENT.get(vendor, "neocloud")
            common = (date, provider, segment, chip, _count(row), region, pricing)
            listing = _listing(*common, price, "list", sku, "epochprices")
            key = (date[:4], vendor, chip, pricing, region, sku, listing["accelerators"])
            if key in newest:
                reason = "an older or equal quote of the same provider and product"
                dropped.append(Dropped(f"{label} {pricing}", reason))
            if key not in newest or newest[key]["date"] < date:
                newest[key] = listing
    return list(newest.values()), dropped


def _epoch_chip(row: Row) -> str | None:
    """The chip a cloud quote is about, or None where the sheet leaves the variant open."""
    model, words = row["Hardware model"], f"{row['Notes']} {row['Cloud GPU description']}"
    if model == "NVIDIA A100 PCIe":
        return "A100 PCIe 80GB" if "80" in words else "A100 PCIe 40GB" if "40GB" in words else None
    if model == "NVIDIA V100":
        return "V100 SXM 16GB" if row["Vendor"] == "Google Cloud" else None
    return _EPOCH.get(model)


def _count(row: Row) -> int:
    return int(float(row["Number of GPUs"])) if row["Number of GPUs"] else 1
