"""Accelerator facts from the raw spec tables.

Order of trust: a fact entered by hand from a datasheet, then aiconfigurator's per-system files,
then Epoch's hardware sheet, then llm-analysis and the tool tables (mostly a cross-check). Figures
from ml-engineering are CC BY-SA and go into a table of their own, with only what no other source
gives.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from refresh.rules import header, kept, quantities, read_csv, rule, without_wrong
from refresh.tables import Dropped, Items, RefreshError, Row, read_text, read_yaml, to_float

SOURCES = frozenset(
    {"aiconfigurator", "epochhardware", "epochprices", "epochchips", "llmanalysis", "tooltables"}
)
STAS_SOURCES = frozenset({"bekman2026"})

SYSTEMS = "accelerator_specs/aiconfigurator_systems"
QUOTES = "epoch/hardware_prices.csv"
YEARLY = "epoch/ai_chip_counts/Nvidia_annual_prices.csv"
STAS = tuple(
    f"accelerator_specs/stas_{stem}.csv"
    for stem in (
        "mamf_measured_bf16",
        "mamf_measured_fp8",
        "dense_tflops_shipping",
        "memory_bw_shipping",
        "dense_tflops_announced",
        "memory_bw_announced",
        "power_spec",
    )
)
_RECENT = "2024-01-01"
_SERVER = r"DGX|HGX|not a real sale|/ ?8|8x? GPU"


def _fact(accelerator: str, quantity: str, value: float, source: str, note: str = "") -> Row:
    return {
        "accelerator": accelerator,
        "quantity": quantity,
        "value": value,
        "source": source,
        "note": note,
    }


def rows(raw: Path) -> Items:
    """Facts for `accelerator_specs` from every raw file, most trusted first, known-wrong ones
    dropped.
    """
    epoch = _table(raw, "epoch/ml_hardware_ai_accelerators.csv", "epochhardware")
    for items in (
        _aiconfigurator(raw),
        epoch,
        _llm_analysis(raw),
        _tool_tables(raw),
        _purchases(raw),
    ):
        yield from without_wrong(items)


def _aiconfigurator(raw: Path) -> Items:
    for stem, chip in kept(SYSTEMS, "accelerator").items():
        file = f"{SYSTEMS}/{stem}.yaml"
        data = read_yaml(raw / file)
        if missing := [k for k in ("gpu", "node") if not isinstance(data.get(k), dict)]:
            raise RefreshError(f"aiconfigurator_systems/{stem}.yaml: no mapping {missing[0]!r}")
        if unknown := sorted(set(data["gpu"]) - set(header(file))):
            raise RefreshError(
                f"aiconfigurator_systems/{stem}.yaml: unknown field {unknown[0]!r} under gpu"
            )
        for quantity, value, note in quantities(data["gpu"], file, chip):
            yield _fact(chip, quantity, value, "aiconfigurator", note)
        node = data["node"]
        over_pcie = node["intra_node_bw"] < 250e9
        note = "over PCIe, no direct link between chips" if over_pcie else ""
        yield _fact(chip, "scale_up_bytes_per_s", node["intra_node_bw"], "aiconfigurator", note)
        if over_pcie:  # the node and its network are the tool's guess, not a product
            label = f"{chip} / scale_out_bytes_per_s (aiconfigurator)"
            yield Dropped(label, "a placeholder: PCIe cards have no reference node")
            continue
        chips = node.get("num_gpus_per_rack", node["num_gpus_per_node"])
        network = node.get("inter_rack_bw", node["inter_node_bw"])
        yield _fact(chip, "scale_up_chips", chips, "aiconfigurator")
        yield _fact(chip, "scale_out_bytes_per_s", network, "aiconfigurator")


def _table(raw: Path, file: str, source: str, prefix: str = "") -> Items:
    """Facts of a table with one chip a row, named in the first of its columns; `prefix` tells rows
    apart in reports.
    """
    for row in read_csv(raw, file):
        name = row[header(file)[0]]
        label = f"{row[prefix].split()[0] + ' ' if prefix else ''}{name} ({source})"
        action, chip, reason = rule(file, "accelerator", name)
        if row.get("dense_or_sparse", "").startswith("SPARSE"):
            yield Dropped(label, f"throughput with 2:4 sparsity: {row['dense_or_sparse']}")
        elif action == "drop":
            yield Dropped(label, reason)
        elif action == "keep":  # a figure of 0 stands for none
            yield from (
                _fact(chip, q, value, source, note)
                for q, value, note in quantities(row, file, label)
                if value
            )


def _llm_analysis(raw: Path) -> Items:
    reason = "assumed as multiples of FP16; CDNA 2 runs INT8 at the FP16 rate"
    for item in _table(raw, "accelerator_specs/llm_analysis_gpu_configs.csv", "llmanalysis"):
        rate = (
            not isinstance(item, Dropped)
            and item["accelerator"].startswith("MI")
            and item["quantity"]
        )
        if rate == "dense_int8_ops":
            yield Dropped(f"{item['accelerator']} / integer rates (llmanalysis)", reason)
        elif rate != "dense_int4_ops":
            yield item


def _tool_tables(raw: Path) -> Items:
    for item in _table(
        raw, "accelerator_specs/tool_spec_tables_compared.csv", "tooltables", "source"
    ):
        if not isinstance(item, Dropped) and item["accelerator"].startswith(
            "V100"
        ):  # headline rate: it has no BF16
            item["quantity"] = item["quantity"].replace("bf16", "fp16")
        yield item


def _purchases(raw: Path) -> Items:
    """Lowest and highest price of a card or module: recent single-unit quotes, and Epoch's yearly
    chip prices.
    """
    offers: dict[str, list[tuple[float, str, str, str]]] = {}
    for row in read_csv(raw, QUOTES):
        text, model, date = (
            row["Price (hardware purchase)"],
            row["Hardware model"],
            row["Price date"],
        )
        action, chip, reason = rule(QUOTES, "accelerator bought", model)
        label = f"{model} {date} {text} (epochprices)"
        if not text or action == "skip":
            continue
        board = re.search(r"baseboard|-oam-ubb", row["Price source"])
        if date < _RECENT:
            yield Dropped(label, f"quoted before {_RECENT[:4]}")
        elif not board and (row["Number of GPUs"] == "8" or re.search(_SERVER, row["Notes"])):
            yield Dropped(label, "a whole server divided by its GPUs: carries host and margin")
        elif action == "drop":
            yield Dropped(label, reason)
        else:
            chip = "H100 NVL" if "94" in row["Cloud GPU description"] else chip
            note = f"{'share of a board of eight' if board else 'single-unit quote'}, {date}"
            offers.setdefault(chip, []).append(
                (to_float(text, QUOTES, model, "price"), note, "epochprices", date)
            )
    for chip, price, year in _yearly(raw):
        offers.setdefault(chip, []).append(
            (price, f"estimated average price, {year}", "epochchips", year)
        )
    for chip, quotes in offers.items():
        for quantity, (price, note, source, dated) in (
            ("purchase_low_usd", min(quotes)),
            ("purchase_high_usd", max(quotes)),
        ):
            yield _fact(chip, quantity, price, source, note) | {"dated": dated}


def _yearly(raw: Path) -> Iterator[tuple[str, float, str]]:
    """Low and high (chip, price, year) of Epoch's latest NVIDIA prices; the header repeats names:
    read by position.
    """
    lines = [line for line in csv.reader(read_text(raw / YEARLY).splitlines()) if line]
    names, last = lines[0], max(lines[1:], key=lambda cells: cells[0])
    for family, chips in kept(YEARLY, "accelerator").items():
        try:
            places = [names.index(f"{family} {end}") for end in ("low", "high")]
        except ValueError:
            raise RefreshError(
                f"{YEARLY}: missing column '{family} low' or '{family} high'"
            ) from None
        for chip in chips.split(";"):
            yield from (
                (chip, to_float(last[i], YEARLY, last[0], names[i]), last[0]) for i in places
            )


def stas_rows(raw: Path, main: list[Row]) -> Items:
    """Figures of ml-engineering (CC BY-SA) that the main table lacks, with its matmul measurements.

    The others serve as a cross-check: each is reported as dropped, with whether it agrees.
    """
    known = {(row["accelerator"], row["quantity"]): row for row in main}
    found: dict[tuple[str, str], Row] = {}  # of several figures the first counts
    for fact in (fact for file in STAS for fact in _table(raw, file, "bekman2026")):
        found.setdefault((fact["accelerator"], fact["quantity"]), fact)
        if "H200 is the same" in fact["note"]:
            same = {
                "accelerator": "H200 SXM",
                "note": f"as H100 SXM, says the source; {fact['note']}",
            }
            found.setdefault(("H200 SXM", fact["quantity"]), fact | same)
    yield from without_wrong(_unless_known(fact, known.get(key)) for key, fact in found.items())


def _unless_known(fact: Row, winner: Row | None) -> Row | Dropped:
    if winner is None:
        return fact
    value, other = float(winner["value"]), fact["value"]
    verdict = (
        "agrees" if abs(value - other) <= 5e-3 * other else f"differs: {value:.4g}, not {other:.4g}"
    )
    label = f"{fact['accelerator']} / {fact['quantity']} (bekman2026)"
    return Dropped(label, f"the main table has it from {winner['source']}, which {verdict}")
