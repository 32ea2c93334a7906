"""Measure a chip of your own as the book's tables do: matrix products by shape and format,
streaming, decoding of a model, watts.

    python benchmarks/calibrate_chip.py --accelerator "H100 SXM" --model Llama-3.1-8B --out
    calibration

It needs PyTorch and the library, and takes minutes. Into the folder come rows in the columns of the
book's own tables, each beside what the library predicts on the screen: `kernels.csv`
(measured/kernels), `accelerator_specs.csv` (best product of each format, bandwidth), `serving.csv`
and `energy.csv` (measured/serving, measured/energy: decoding with random weights, the chip alone).
Hand the latter two to `scaleright validate serving FILE` and `scaleright validate energy FILE`.
Weights and inputs are random: their size is what is timed. Without PyTorch and without arguments it
says so and stops (`make bench` runs every script of this folder).
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pandas as pd
from scaleright import catalog
from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import step_seconds
from scaleright.roofline import matmul_seconds, speeds

TOKENS = (1, 8, 64, 512, 4096)
BATCHES = (1, 8, 32, 128)
CONTEXT, STEPS = 1024, 64
"""Tokens in the cache of each sequence, and steps that are timed together."""
CACHE_BYTES = 512e6
"""Weights of one product are copied until they exceed any cache on the chip, and used in turn."""


class Meter:
    """Mean draw of the chip while a block runs, by nvidia-smi every 50 ms; None where there is no
    such tool or the device is no GPU.
    """

    def __init__(self, device: str):
        self.device, self.watts = device, None

    def __enter__(self) -> Meter:
        command = [
            "nvidia-smi",
            "--id=0",
            "--query-gpu=power.draw",
            "--format=csv,noheader,nounits",
            "--loop-ms=50",
        ]
        try:
            self.process = (
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                if self.device == "cuda"
                else None
            )
        except FileNotFoundError:
            self.process = None
        self.seen: list[float] = []
        if self.process:
            threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        return self

    def _read(self, lines) -> None:
        for line in lines:
            self.seen.append(float(line))

    def __exit__(self, *_) -> None:
        if self.process:
            self.process.terminate()
        self.watts = (
            fmean(self.seen[len(self.seen) // 4 :]) if len(self.seen) > 7 else None
        )  # the first quarter still rises


class Bench:
    """A device of PyTorch and how work on it is timed."""

    def __init__(self, device: str):
        import torch

        self.torch, self.device = torch, device

    def wait(self) -> None:
        """Until the device has done all that it was given."""
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def seconds(self, work: Callable[[], object], least_s: float = 0.05) -> float:
        """Median of five timings of as many runs each as take `least_s`."""
        work(), self.wait()
        start = time.perf_counter()
        work(), self.wait()
        runs = max(1, int(least_s / max(time.perf_counter() - start, 1e-6)))
        found = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(runs):
                work()
            self.wait()
            found.append((time.perf_counter() - start) / runs)
        return median(found)

    def captured(self, work: Callable[[], object]) -> Callable[[], object]:
        """The work as one CUDA graph, as engines decode; itself on another device."""
        if self.device != "cuda":
            return work
        work(), self.wait()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            work()
        return graph.replay

    def random(self, *shape: int, dtype: Any = None):
        """A tensor of small random numbers."""
        return (self.torch.randn(*shape, device=self.device) * 0.02).to(
            dtype or self.torch.bfloat16
        )

    def product(self, precision: str, m: int, n: int, k: int) -> float:
        """Seconds of a product of activations (m x k) with weights (k x n), whose copies exceed the
        chip's caches.
        """
        torch, copies = (
            self.torch,
            max(1, int(CACHE_BYTES / (2 * n * k)) if self.device == "cuda" else 1),
        )
        a, weights = self.random(m, k), [self.random(n, k) for _ in range(copies)]
        if precision in ("BF16", "FP16"):
            kind = torch.bfloat16 if precision == "BF16" else torch.float16
            a, weights = a.to(kind), [w.to(kind).t() for w in weights]
            each = [lambda w=w: a @ w for w in weights]
        elif precision == "FP8":
            a, weights, one = (
                a.to(torch.float8_e4m3fn),
                [w.to(torch.float8_e4m3fn).t() for w in weights],
                torch.ones((), device=self.device),
            )
            each = [
                lambda w=w: torch._scaled_mm(
                    a, w, scale_a=one, scale_b=one, out_dtype=torch.bfloat16
                )
                for w in weights
            ]
        else:  # INT8
            a, weights = a.to(torch.int8), [w.to(torch.int8).t() for w in weights]
            each = [lambda w=w: torch._int_mm(a, w) for w in weights]
        together = self.captured(lambda: [work() for work in each])
        return self.seconds(together) / copies


def shapes(model) -> dict[str, tuple[int, int]]:
    """Columns and inner width of the products of one layer on one chip, by the names of the table
    of kernels.
    """
    keys = model.kv_heads * (model.head_dim + model.v_head_dim)
    return {
        "query key value": (model.heads * model.head_dim + keys, model.hidden),
        "attention output": (model.hidden, model.heads * model.v_head_dim),
        "feed-forward up": ((1 + model.gated_ffn) * model.ffn, model.hidden),
        "feed-forward down": (model.hidden, model.ffn),
    }


def products(bench: Bench, model, chip, tokens: tuple[int, ...]) -> Iterator[dict]:
    """Rows of the table of kernels: each product of a layer in BF16 at several numbers of tokens."""
    of = speeds(chip) if chip else None
    for operation, (columns, inner) in shapes(model).items():
        for m in tokens:
            seconds = bench.product("BF16", m, columns, inner)
            say = f"{operation:<18} {m:>5} x {columns:>6} x {inner:>6}: {seconds * 1e6:10.1f} us"
            if of:
                predicted = matmul_seconds(
                    m, columns, inner, of.matmul_flops, of.memory_bytes_per_s, units=of.units
                )
                say += f", the library says {predicted * 1e6:10.1f} us"
            print(say)
            yield {
                "operation": operation,
                "tokens": m,
                "columns": columns,
                "inner": inner,
                "measured_s": seconds,
            }


def streams(bench: Bench, model, tokens: int) -> Iterator[dict]:
    """Rows of the table of kernels: memory-bound operations."""
    torch = bench.torch
    x, y, gates = (
        bench.random(tokens, model.hidden),
        bench.random(tokens, model.hidden),
        bench.random(tokens, 2, model.ffn),
    )
    works = {
        "add": (lambda: torch.add(x, y), 6 * x.numel()),
        "norm": (lambda: torch.nn.functional.rms_norm(x, (model.hidden,)), 4 * x.numel()),
        "activation": (
            lambda: torch.nn.functional.silu(gates[:, 0]) * gates[:, 1],
            10 * tokens * model.ffn,
        ),
    }
    for operation, (work, moved) in works.items():
        seconds = bench.seconds(bench.captured(work))
        print(f"{operation:<18} {moved / seconds / 1e9:10.0f} GB/s")
        yield {
            "operation": operation,
            "tokens": tokens,
            "moved_bytes": moved,
            "measured_s": seconds,
        }


def peaks(bench: Bench, chip, sides: tuple[int, ...], copied_bytes: int) -> Iterator[dict]:
    """Rows of the table of specifications: the best product of each format, and what copying
    reaches.
    """
    for precision in ("BF16", "FP16", "FP8", "INT8"):
        try:
            tried = ((m, n, sides[0]) for m in sides for n in sides)
            best = max(
                (2.0 * m * n * k / bench.product(precision, m, n, k), (m, n, k))
                for m, n, k in tried
            )
        except (RuntimeError, NotImplementedError) as error:
            print(f"{precision}: not on this device ({str(error).splitlines()[0][:80]})")
            continue
        dense = chip.dense.get(precision.lower()) if chip else None
        print(
            f"{precision}: {best[0] / 1e12:.1f} TFLOP/s"
            + (f", {best[0] / dense:.0%} of the datasheet's" if dense else "")
        )
        yield {
            "quantity": f"measured_{precision.lower()}_matmul_flops",
            "value": best[0],
            "note": f"best shape {'x'.join(map(str, best[1]))}",
        }
    x = bench.random(copied_bytes // 2)
    y = bench.torch.empty_like(x)
    reached = 2 * copied_bytes / bench.seconds(lambda: y.copy_(x))
    print(
        f"copying: {reached / 1e9:.0f} GB/s"
        + (f", {reached / chip.memory_bytes_per_s:.0%} of the datasheet's" if chip else "")
    )
    yield {"quantity": "measured_copy_bytes_per_s", "value": reached, "note": "read and written"}


def decoder(bench: Bench, model, batch: int, context: int) -> Callable[[], object]:
    """One step of decoding: a token for each of `batch` sequences that look back on `context`
    tokens.
    """
    torch, head, norm = bench.torch, model.head_dim, bench.torch.nn.functional.rms_norm
    layers = [
        {name: bench.random(inner, columns) for name, (columns, inner) in shapes(model).items()}
        for _ in range(model.layers)
    ]
    caches = [
        [bench.random(batch, model.kv_heads, context, width) for width in (head, model.v_head_dim)]
        for _ in range(model.layers)
    ]
    table, output = bench.random(model.vocab, model.hidden), bench.random(model.hidden, model.vocab)
    tokens = torch.zeros(batch, dtype=torch.long, device=bench.device)
    widths = (model.heads * head, model.kv_heads * head, model.kv_heads * model.v_head_dim)

    def step() -> None:
        x = table[tokens]
        for weights, (keys, values) in zip(layers, caches):
            query, key, value = (norm(x, (model.hidden,)) @ weights["query key value"]).split(
                widths, dim=-1
            )
            keys[:, :, -1], values[:, :, -1] = (
                key.view(batch, model.kv_heads, head),
                value.view(batch, model.kv_heads, model.v_head_dim),
            )
            seen = torch.nn.functional.scaled_dot_product_attention(
                query.view(batch, model.heads, 1, head), keys, values, enable_gqa=True
            )
            x = x + seen.reshape(batch, -1) @ weights["attention output"]
            up = norm(x, (model.hidden,)) @ weights["feed-forward up"]
            gate, inner = up.chunk(2, dim=-1)
            x = x + (torch.nn.functional.silu(gate) * inner) @ weights["feed-forward down"]
        tokens.copy_((norm(x, (model.hidden,)) @ output).argmax(dim=-1))

    return step


def decoding(
    bench: Bench, model, chip, batches: tuple[int, ...], context: int, steps: int
) -> Iterator[dict]:
    """Seconds and watts of decoding by batch, beside the library's step without an engine's host
    work.
    """
    for batch in batches:
        try:
            with bench.torch.inference_mode():
                step = bench.captured(decoder(bench, model, batch, context))
                with Meter(bench.device) as meter:
                    seconds = bench.seconds(step, least_s=steps * 0.02)
        except bench.torch.OutOfMemoryError:
            print(f"batch {batch}: does not fit")
            break
        say = f"decoding, batch {batch:>4}: {seconds * 1e3:8.2f} ms a token" + (
            f", {meter.watts:.0f} W" if meter.watts else ""
        )
        if chip:
            predicted = step_seconds(
                Deployment(model, chip), batch, context, slowdowns={"host": 0.0, "sequences": 0.0}
            ).total
            say += f", the library says {predicted * 1e3:8.2f} ms"
        print(say)
        yield {"batch": batch, "seconds": seconds, "watts": meter.watts}


def write(folder: Path, table: str, rows: list[dict], common: dict) -> None:
    """Write rows in the columns of one of the book's tables, and read them back as its schema types
    them.
    """
    schema = catalog.resource(table)["schema"]
    names, path = (
        [field["name"] for field in schema["fields"]],
        folder / f"{table.rsplit('/', maxsplit=1)[-1]}.csv",
    )
    frame = pd.DataFrame(
        [{name: (common | row).get(name) for name in names} for row in rows], columns=names
    )
    whole = [field["name"] for field in schema["fields"] if field["type"] == "integer"]
    frame = frame.astype(dict.fromkeys(whole, "Int64"))
    frame.to_csv(path, index=False, lineterminator="\n")
    catalog.read_csv(path, schema, table)
    print(f"{path}: {len(frame)} rows")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--accelerator",
        required=len(sys.argv) > 1,
        help="its name; a name of the catalog puts predictions beside",
    )
    parser.add_argument(
        "--model",
        default="Llama-3.1-8B",
        help="a dense model of the catalog with gated feed-forward layers",
    )
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--out", type=Path, default=Path("calibration"))
    parser.add_argument(
        "--quick", action="store_true", help="few and small shapes: whether it runs at all"
    )
    given = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("calibrate_chip needs PyTorch; without it there is nothing to measure")
        sys.exit(1 if given.accelerator else 0)
    bench, model = Bench(given.device), catalog.model(given.model)
    if given.device == "cuda" and not bench.torch.cuda.is_available():
        print("calibrate_chip: PyTorch sees no GPU; --device cpu only shows that the script runs")
        sys.exit(1 if given.accelerator else 0)
    if not given.accelerator:
        parser.error("--accelerator: name the chip")
    if model.experts or model.kv_lora_rank or not model.gated_ffn:
        parser.error(
            f"--model: {model.name} is none of the dense models with gated feed-forward layers,"
            " such as Llama-3.1-8B"
        )
    chip = next(
        (
            chip
            for name, chip in catalog.accelerators().items()
            if name.casefold() == given.accelerator.casefold()
        ),
        None,
    )
    name = chip.name if chip else given.accelerator
    given.out.mkdir(parents=True, exist_ok=True)
    tokens, sides = (TOKENS[:3], (256,)) if given.quick else (TOKENS, (4096, 8192, 16384))
    common = {
        "accelerator": name,
        "model": model.name,
        "tensor_parallel": 1,
        "source": f"own measurement {date.today()}",
    }
    write(
        given.out,
        "accelerator_specs",
        list(peaks(bench, chip, sides, 2**26 if given.quick else 2**32)),
        common,
    )
    kernels = [*products(bench, model, chip, tokens), *streams(bench, model, tokens[-1])]
    write(given.out, "measured/kernels", kernels, common)
    batches, context, steps = (BATCHES[:2], 64, 2) if given.quick else (BATCHES, CONTEXT, STEPS)
    found = list(decoding(bench, model, chip, batches, context, steps))
    common |= {
        "accelerators": 1,
        "precision": "BF16",
        "pipeline_parallel": 1,
        "expert_parallel": 1,
        "attention_data_parallel": 1,
        "data_parallel": 1,
        "mode": "aggregated",
        "scenario": "one batch",
        "task": "chat",
        "boundary": "accelerator",
        "input_tokens": context - 1,
        "output_tokens": 2,
        "software": f"PyTorch {bench.torch.__version__}",
        "note": "random weights, decoding alone, one CUDA graph a step",
    }
    rows = [
        {
            "run": f"decode/{row['batch']}",
            "batch": row["batch"],
            "concurrency": row["batch"],
            "measured_tpot_s": row["seconds"],
            "measured_itl_s": row["seconds"],
            "measured_output_tokens_per_s": row["batch"] / row["seconds"],
            "measured_watts": row["watts"],
            "measured_joules_per_token": (
                row["watts"] and row["watts"] * row["seconds"] / row["batch"]
            ),
        }
        for row in found
    ]
    write(given.out, "measured/serving", rows, common)
    write(given.out, "measured/energy", [row for row in rows if row["measured_watts"]], common)


if __name__ == "__main__":
    main()
