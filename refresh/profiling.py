"""Timed kernels and collectives, thinned: Vidur's profiles of A100 and H100, and the all-reduces of
the ml-engineering book.

Of thousands of sizes a few are kept, so that each table stays one to read; sizes timed twice count
once, by their median. The figures of the ml-engineering book are share-alike and go into a table of
their own.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

from scaleright.units import figure

from refresh.rules import kept, quantities, read_csv, rule
from refresh.tables import Dropped, Items, RefreshError, Row, to_float

SOURCES = frozenset({"vidur2024"})
STAS_SOURCES = frozenset({"bekman2026"})
KERNELS, COLLECTIVES, STAS = (
    "profiling/vidur_mlp_{}.csv",
    "profiling/vidur_{}.csv",
    "network_measured/stas_allreduce_{}.csv",
)
_ROWS = (1, 32, 128, 384, 1024, 1536, 2048, 3072, 4096, 16384)
_STREAMED = (64, 512, 2048, 4096, 16384)
_PAYLOADS = tuple(2**power for power in (*range(11, 27, 2), 26))
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_LEAST = 0.1
"""Bandwidths below this are printed to one digit [GB/s]."""
_ELEMENT = 2
"""Bytes of an element: the kernels ran in half precision."""


def kernel_rows(raw: Path) -> Items:
    """Rows of `measured/kernels`: products of few and many rows, and what streams through memory
    beside them.
    """
    for name, ours in kept(KERNELS.format("*"), "accelerator;model").items():
        file, (accelerator, model) = KERNELS.format(name), ours.split(";")
        times: dict[tuple, list[float]] = defaultdict(list)
        for row in read_csv(raw, file):
            tokens, tensor = int(row["num_tokens"]), int(row["num_tensor_parallel_workers"])
            for operation, seconds, _ in quantities(row, file, f"{tokens} tokens"):
                shape = _shape(row, operation, tensor)
                if tokens in (_ROWS if "moved" not in shape else _STREAMED if tensor == 1 else ()):
                    times[operation, tensor, tokens, *shape.items()].append(seconds)
        for (operation, tensor, tokens, *shape), seconds in times.items():
            sizes = dict(shape)
            yield {
                "accelerator": accelerator,
                "model": model,
                "operation": operation,
                "tensor_parallel": tensor,
                "tokens": tokens,
                "columns": sizes.get("columns"),
                "inner": sizes.get("inner"),
                "moved_bytes": sizes["moved"] * tokens if "moved" in sizes else None,
                "measured_s": _rounded(median(seconds)),
                "source": "vidur2024",
            }


def _shape(row: Row, operation: str, tensor: int) -> dict[str, int]:
    """Columns and inner width of a product of one rank, or the bytes that another operation moves
    for one token.
    """
    hidden, heads, keys, ffn = (
        int(row[name]) for name in ("n_embd", "n_head", "n_kv_head", "n_expanded_embd")
    )
    width, gates = hidden // heads, 2 if row["use_gated_mlp"] == "True" else 1
    queries, values = heads // tensor * width, max(keys // tensor, 1) * width
    products = {
        "query key value": (queries + 2 * values, hidden),
        "attention output": (hidden, queries),
        "feed-forward up": (gates * ffn // tensor, hidden),
        "feed-forward down": (hidden, ffn // tensor),
    }
    if operation in products:
        return dict(zip(("columns", "inner"), products[operation], strict=True))
    elements = {
        "norm": 2 * hidden,
        "activation": (gates + 1) * ffn // tensor,
        "add": 3 * hidden,
        "rotation": 2 * (queries + values),
        "embedding": 2 * hidden,
    }
    return {"moved": _ELEMENT * elements[operation]}


def collective_rows(raw: Path) -> Items:
    """Rows of `measured/collectives`: all-reduces and messages at a few payloads, for every group
    that was timed.
    """
    for name, ours in kept(COLLECTIVES.format("*"), "accelerator;collective").items():
        file, (accelerator, collective) = COLLECTIVES.format(name), ours.split(";")
        times: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in read_csv(raw, file):
            size = int(row["size"])
            for _, seconds, _ in quantities(row, file, f"{size} bytes"):
                times[int(row["num_workers"]), int(row["devices_per_node"])][size].append(seconds)
        for (chips, per_node), timed in times.items():
            for size in sorted(
                {
                    min(timed, key=lambda size: (figure(abs(math.log(size / wanted))), size))
                    for wanted in _PAYLOADS
                }
            ):
                yield {
                    "accelerator": accelerator,
                    "collective": collective,
                    "chips": chips,
                    "per_node": per_node,
                    "payload_bytes": size,
                    "algorithm": "as chosen",
                    "measured_s": _rounded(median(timed[size])),
                    "source": "vidur2024",
                }


def stas_rows(raw: Path) -> Items:
    """Rows of `measured/collectives_stas`: bus bandwidth of all-reduces by payload, by generation
    and by group.
    """
    for name in kept(STAS.format("*"), "columns"):
        file = STAS.format(name)
        for row in read_csv(raw, file):
            for column, ours in kept(file, "column").items():
                accelerator, chips, payload, algorithm = (
                    part if part[:1] != "=" else row[part[1:]] for part in ours.split(";")
                )
                if file.endswith("by_node.csv"):
                    accelerator, algorithm = rule(file, "node", row["node"]).ours.split(";")
                bus = to_float(row[column].removesuffix("GBps"), file, payload, column)
                if bus < _LEAST:
                    yield Dropped(
                        f"{file}: {payload} of {chips} chips",
                        f"{bus:g} GB/s is printed to one digit",
                    )
                    continue
                yield {
                    "accelerator": accelerator,
                    "collective": "all-reduce",
                    "chips": int(chips),
                    "per_node": min(int(chips), 8),
                    "payload_bytes": _bytes(payload, file),
                    "algorithm": algorithm.lower() if algorithm != "NVLS" else algorithm,
                    "measured_bus_bytes_per_s": _rounded(bus * 1e9),
                    "source": "bekman2026",
                }


def _bytes(text: str, file: str) -> int:
    match = re.fullmatch(r"(\d+)(KiB|MiB|GiB)", text)
    if not match:
        raise RefreshError(f"{file}: {text!r} is no payload; expected such as 16MiB")
    return int(match[1]) * _UNITS[match[2]]


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
