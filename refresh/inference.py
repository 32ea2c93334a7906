"""Inference beyond the pages of engines: MLPerf's language models as operating points, and lengths
of requests from traces.

MLPerf states chips, format and speed, but neither layout nor batch, and its benchmarks no length of
prompts: such rows are shown beside predictions and not scored.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import fmean
from statistics import quantiles as cut

from refresh.rules import quantities, read_csv
from refresh.tables import Items, Row

MLPERF_SOURCES = frozenset(
    {"mlcommons2024cm", "mlcommons2025v51", "mlcommons2026v60", "mlcommons2026v61"}
)
LENGTH_SOURCES = frozenset({"azurellm2023", "mooncake2025"})
TRACES = {
    "azure code": "traces/azure_llm_2023_code.csv",
    "azure conversation": "traces/azure_llm_2023_conv.csv",
    "mooncake conversation": "traces/mooncake_conversation_trace.csv",
    "mooncake synthetic": "traces/mooncake_synthetic_trace.csv",
}
_ODD = {"duplicate_accuracy", "cpu_only", "heterogeneous", "virtualized", "preview"}
"""Flags of results that are no further operating point of chips one can have."""
_POWER = {
    "power_run": "clocked down for a run with power",
    "power_capped": "below the chip's usual power",
    "raised_power": "above the chip's usual power",
}


def mlperf_rows(done: dict[str, list[Row]]) -> Items:
    """Rows of `measured/serving`: of each benchmark, scenario, chip, number of chips and format the
    fastest result of all rounds.
    """
    best: dict[tuple, Row] = {}
    for row in _results(done):
        same = tuple(
            row[name]
            for name in ("benchmark", "scenario", "accelerator", "accelerators", "precision")
        )
        if not row["system_watts"] and (
            same not in best or float(best[same]["value"]) < float(row["value"])
        ):
            best[same] = row
    for row in best.values():
        each = float(row["value"]) / int(row["accelerators"])
        yield _point(row) | {
            "run": f"mlperf-{row['id']}",
            "mode": "aggregated",
            "scenario": row["scenario"],
            "measured_output_tokens_per_s_per_accelerator": float(f"{each:.6g}"),
        }


def mlperf_power_rows(done: dict[str, list[Row]]) -> Items:
    """Rows of `measured/energy`: results of language models with the power of the whole system at
    the wall.
    """
    for row in _results(done):
        if row["system_watts"]:
            watts, speed = float(row["system_watts"]), float(row["value"])
            yield _point(row) | {
                "run": f"mlperf-{row['id']}",
                "task": f"MLPerf {row['scenario']}",
                "boundary": "server",
                "measured_watts": watts,
                "measured_output_tokens_per_s": speed,
                "measured_joules_per_token": float(f"{watts / speed:.6g}"),
            }


def _results(done: dict[str, list[Row]]) -> list[Row]:
    """Results in output tokens a second of models whose shape is known, on one kind of chip whose
    memory is known.
    """
    chips = {
        row["accelerator"] for row in done["accelerator_specs"] if row["quantity"] == "memory_bytes"
    }
    known, benchmarks = (
        {row["name"] for row in done["models"]},
        {(row["benchmark"], row["scenario"]): row for row in done["mlperf_benchmarks"]},
    )
    found = []
    for row in done["mlperf_inference"]:
        about = benchmarks.get((row["benchmark"], row["scenario"]), {})
        if (
            row["unit"] == "tokens/s"
            and row["accelerator"] in chips
            and about.get("model") in known
            and not _ODD & {*row["flags"].split(";")}
        ):
            found.append(row | {"model": about["model"], "tokens": about["tokens_per_sample"]})
    return found


def _point(row: Row) -> Row:
    """What an operating point has in both tables; formats are named by their bits alone, which the
    chip and the maker settle.
    """
    narrow, amd = (row["precision"] or "").partition("+")[0], row["accelerator"].startswith("MI")
    notes = [
        f"round {row['round']}, {row['submitter']}; states neither layout nor batch",
        *(words for flag, words in _POWER.items() if flag in row["flags"]),
    ]
    return {
        "model": row["model"],
        "accelerator": row["accelerator"],
        "accelerators": int(row["accelerators"]),
        "precision": {"FP4": "MXFP4" if amd or row["model"].startswith("gpt-oss") else "NVFP4"}.get(
            narrow, narrow
        ),
        "output_tokens": float(row["tokens"]) if row["tokens"] else None,
        "software": row["software"],
        "source": row["source"],
        "note": "; ".join(notes),
    }


def length_rows(raw: Path) -> Items:
    """Rows of `request_lengths`: means, spread and quantiles of a trace's prompts and answers, of
    requests that were answered.
    """
    for trace, file in TRACES.items():
        pairs = [
            tuple(value for _, value, _ in quantities(row, file, trace))
            for row in read_csv(raw, file)
        ]
        reads, writes = zip(
            *(pair for pair in pairs if len(pair) == 2 and min(pair) > 0), strict=True
        )
        mean_read, mean_write = fmean(reads), fmean(writes)
        figures = {
            "requests": len(reads),
            "mean input_tokens": mean_read,
            "mean output_tokens": mean_write,
            "variation of input_tokens": _deviation(reads) / mean_read,
            "variation of output_tokens": _deviation(writes) / mean_write,
            # What a decoded token looks back on, on average over the tokens written: E[O (I + O /
            # 2)] / E[O].
            "mean context_tokens": fmean(
                w * (r + w / 2) for r, w in zip(reads, writes, strict=True)
            )
            / mean_write,
            # What a prompt's token looks back on, on average over the tokens read: E[I I / 2] /
            # E[I].
            "mean prefill_context_tokens": fmean(r * r / 2 for r in reads) / mean_read,
        }
        for quantity, values in (("input_tokens", reads), ("output_tokens", writes)):
            figures |= {
                f"p{share} {quantity}": value
                for share, value in zip(range(1, 100), cut(values, n=100), strict=True)
                if share in _SHOWN
            }
        source = "azurellm2023" if trace.startswith("azure") else "mooncake2025"
        yield from (
            {
                "trace": trace,
                "quantity": quantity,
                "value": float(f"{value:.6g}"),
                "unit": _unit(quantity),
                "source": source,
                "note": "",
            }
            for quantity, value in figures.items()
        )


_SHOWN = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)


def _deviation(values: tuple[float, ...]) -> float:
    mean = fmean(values)
    return sqrt(fmean((value - mean) ** 2 for value in values))


def _unit(quantity: str) -> str:
    return (
        "request"
        if quantity == "requests"
        else "1"
        if quantity.startswith("variation")
        else "token"
    )
