"""A device of PyTorch: how work on it is timed, and what it draws meanwhile."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from statistics import fmean, median
from typing import Any, Self

CACHE_BYTES = 512e6
"""Weights of one product are copied until they exceed any cache on the chip, and used in turn."""


class Meter:
    """Mean draw of the chip while a block runs, by nvidia-smi every 50 ms; None where there is no
    such tool or the device is no GPU.
    """

    def __init__(self, device: str):
        self.device, self.watts = device, None

    def __enter__(self) -> Self:
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
            scaled = torch._scaled_mm  # noqa: SLF001  # PyTorch has no public name for it
            terms = {"scale_a": one, "scale_b": one, "out_dtype": torch.bfloat16}
            each = [lambda w=w: scaled(a, w, **terms) for w in weights]
        else:  # INT8
            a, weights = a.to(torch.int8), [w.to(torch.int8).t() for w in weights]
            whole = torch._int_mm  # noqa: SLF001  # likewise
            each = [lambda w=w: whole(a, w) for w in weights]
        together = self.captured(lambda: [work() for work in each])
        return self.seconds(together) / copies
