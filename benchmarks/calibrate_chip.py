"""Measure a chip of your own as the book's tables do: matrix products by shape and format,
streaming, decoding of a model, watts.

    python -m benchmarks.calibrate_chip --accelerator "H100 SXM" --out calibration

It needs PyTorch and the library, and takes minutes. Into the folder come rows in the columns of the
book's own tables, each beside what the library predicts on the screen: `kernels.csv`
(measured/kernels), `accelerator_specs.csv` (best product of each format, bandwidth), `serving.csv`
and `energy.csv` (measured/serving, measured/energy: decoding with random weights, the chip alone),
`training.csv` (measured/training: steps of training on one chip; `--parts` chooses among them).
Hand the latter three to `scaleright validate serving FILE`, `... energy FILE`, `... training FILE`.
Weights and inputs are random: their size is what is timed. Without PyTorch and without arguments it
says so and stops (`make bench` runs every script of this folder).
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
from scaleright import catalog
from scaleright.files import write_whole

from benchmarks import steps
from benchmarks.device import Bench
from benchmarks.works import decoding, peaks, products, streams

FULL = {
    "tokens": (1, 8, 64, 512, 4096),
    "sides": (4096, 8192, 16384),
    "copied_bytes": 2**32,
    "batches": (1, 8, 32, 128),
    "context": 1024,  # tokens in the cache of each sequence
    "steps": 64,  # that are timed together
    "training": steps.FULL,
}
PARTS = ("kernels", "decoding", "training")
SMALL = {
    "tokens": (1, 8, 64),
    "sides": (256,),
    "copied_bytes": 2**26,
    "batches": (1, 8),
    "context": 64,
    "steps": 2,
    "training": steps.SMALL,
}


def write(folder: Path, table: str, rows: list[dict], common: dict, quietly: bool = False) -> None:
    """Write rows in the columns of one of the book's tables, and read them back as its schema types
    them.
    """
    schema = catalog.resource(table)["schema"]
    names, path = (
        [field["name"] for field in schema["fields"]],
        folder / f"{table.rsplit('/', 1)[-1]}.csv",
    )
    frame = pd.DataFrame(
        [{name: (common | row).get(name) for name in names} for row in rows], columns=names
    )
    whole = [field["name"] for field in schema["fields"] if field["type"] == "integer"]
    frame = frame.astype(dict.fromkeys(whole, "Int64"))
    for name in (field["name"] for field in schema["fields"] if field["type"] == "boolean"):
        frame[name] = frame[name].map({True: "true", False: "false"})
    write_whole(path, frame.to_csv(index=False, lineterminator="\n"))
    catalog.read_csv(path, schema, table)
    if not quietly:
        print(f"{path}: {len(frame)} rows")


def _asked(arguments: list[str]) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--accelerator", help="its name; a name of the catalog puts predictions beside"
    )
    parser.add_argument(
        "--model",
        help="a dense model of the catalog with gated feed-forward layers, whose products and"
        " decoding are timed; Llama-3.1-8B, or with --quick Llama-3.2-1B",
    )
    parser.add_argument(
        "--parts", nargs="+", default=PARTS, choices=PARTS, help="what to measure: all unless named"
    )
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--out", type=Path, default=Path("calibration"))
    parser.add_argument(
        "--quick", action="store_true", help="few and small shapes: whether it runs at all"
    )
    given = parser.parse_args(arguments)
    if arguments not in ([], ["--quick"]) and not given.accelerator:
        parser.error("--accelerator: name the chip")
    given.model = given.model or ("Llama-3.2-1B" if given.quick else "Llama-3.1-8B")
    model = catalog.model(given.model)
    if model.experts or model.kv_lora_rank or not model.gated_ffn:
        parser.error(
            f"--model: {model.name} is none of the dense models with gated feed-forward layers,"
            " such as Llama-3.1-8B"
        )
    return given


def _nothing_to_measure(device: str) -> str:
    """Why nothing can be measured here; empty where it can."""
    if importlib.util.find_spec("torch") is None:
        return "calibrate_chip needs PyTorch; without it there is nothing to measure"
    if device == "cuda" and not Bench(device).torch.cuda.is_available():
        return "calibrate_chip: PyTorch sees no GPU; --device cpu only shows that the script runs"
    return ""


def decoded(found: list[dict], software: str, context: int) -> tuple[list[dict], dict[str, Any]]:
    """Rows of the tables of serving and energy from steps of decoding, and what they share."""
    rows = [
        {
            "run": f"decode/{row['batch']}",
            "batch": row["batch"],
            "concurrency": row["batch"],
            "measured_tpot_s": row["seconds"],
            "measured_itl_s": row["seconds"],
            "measured_output_tokens_per_s": row["batch"] / row["seconds"],  # the table of energy
            "measured_output_tokens_per_s_per_accelerator": row["batch"] / row["seconds"],
            "measured_watts": row["watts"],
            "measured_joules_per_token": (
                row["watts"] and row["watts"] * row["seconds"] / row["batch"]
            ),
        }
        for row in found
    ]
    layout = ("pipeline_parallel", "expert_parallel", "attention_data_parallel", "data_parallel")
    common = dict.fromkeys(("accelerators", *layout), 1) | {
        "precision": "BF16",
        "mode": "aggregated",
        "scenario": "one batch",
        "task": "chat",
        "boundary": "accelerator",
        "input_tokens": 1,  # nothing is read: answers so long look back on the context in the mean
        "output_tokens": 2 * context - 1,
        "software": software,
        "note": "random weights, decoding alone, one CUDA graph a step",
    }
    return rows, common


def measure(bench: Bench, given: argparse.Namespace, size: Mapping[str, Any]) -> None:
    """Measure, print and write."""
    named = {name.casefold(): chip for name, chip in catalog.accelerators().items()}
    chip, model = named.get(given.accelerator.casefold()), catalog.model(given.model)
    given.out.mkdir(parents=True, exist_ok=True)
    common: dict[str, Any] = {
        "accelerator": chip.name if chip else given.accelerator,
        "model": model.name,
        "tensor_parallel": 1,
        "source": f"own measurement {datetime.now().astimezone().date()}",
    }
    software = f"PyTorch {bench.torch.__version__}"
    if "kernels" in given.parts:
        best = peaks(bench, chip, size["sides"], size["copied_bytes"])
        write(given.out, "accelerator_specs", list(best), common)
        tokens = size["tokens"]
        kernels = [*products(bench, model, chip, tokens), *streams(bench, model, tokens[-1])]
        write(given.out, "measured/kernels", kernels, common)
    if "decoding" in given.parts:
        found = decoding(bench, model, chip, size["batches"], size["context"], size["steps"])
        rows, shared = decoded(list(found), software, size["context"])
        write(given.out, "measured/serving", rows, common | shared)
        powered = [row for row in rows if row["measured_watts"]]
        write(given.out, "measured/energy", powered, common | shared)
    if "training" in given.parts:
        trained, shared = [], common | steps.common(software)
        for row in steps.training(bench, chip, size["training"], software):
            trained.append(row)
            write(given.out, "measured/training", trained, shared, quietly=True)  # none is lost
        write(given.out, "measured/training", trained, shared)


def main(arguments: list[str] | None = None) -> None:
    """Measure the chip that is named; without one, say whether there is one to measure."""
    given = _asked(sys.argv[1:] if arguments is None else arguments)
    if why := _nothing_to_measure(given.device):
        print(why)
        sys.exit(1 if given.accelerator else 0)
    if not given.accelerator:
        print("calibrate_chip: name your chip to measure it, such as --accelerator 'H100 SXM'")
        return
    measure(Bench(given.device), given, SMALL if given.quick else FULL)


if __name__ == "__main__":
    main()
