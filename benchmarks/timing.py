"""How the scripts time: processor time of one core, the least of a few runs, and ratios of it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of a few runs [s]: what other programs do counts little."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)  # the clock of a small work may not have moved


def line(name: str, figure: str, times: float, of: str = "a loop") -> None:
    """Print what was measured, its figure on this machine, and how many times faster it is."""
    print(f"{name:<56} {figure:>26} {times:>9,.1f} x {of}")


def quick(doc: str, arguments: list[str] | None) -> bool:
    """Whether the command line asks for a small size: whether it runs, not how fast."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small size: whether it runs at all")
    return parser.parse_args(arguments).quick
