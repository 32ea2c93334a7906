"""A scheduler step by step, with which closed forms of a server are compared."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scaleright.inference.deployment import Deployment
from scaleright.inference.lengths import Load
from scaleright.inference.serving import engine_step


class Simulated(NamedTuple):
    """What a run gave: tokens a second, time to the first token, gaps between tokens [s]."""

    speed: float
    ttft_s: float
    tpot_s: float
    itl_s: float


def simulated(
    engine: Deployment,
    reads: np.ndarray,
    writes: np.ndarray,
    clients: int,
    slots: int | None = None,
    reads_first: bool = False,
    skip: int = 3,
    away_s: float = 0.0,
    to_the_end: bool = False,
) -> Simulated:
    """Each client sends its next request when its last is answered; prompts are read first come,
    first served, beside answers or, `reads_first`, while no answer goes on.

    skip : rounds of all clients that are left out, such as the burst at the start
    away_s : between the end of an answer and the client's next request, up to twice as long [s]
    to_the_end : until the last answer, not until the last request is sent
    """
    slots = slots or clients
    seconds = _steps(engine, Load(reads.mean(), writes.mean()), slots)
    clock, sent, decoding = 0.0, clients, dict[int, float]()
    waiting: list[tuple[float, int, float]] = [(0.0, k, reads[k]) for k in range(clients)]
    begun: set[int] = set()
    first, gaps, ended = list[float](), list[float](), list[float]()
    draw = np.random.default_rng(1)
    while sent < len(reads) or (to_the_end and len(ended) < len(reads)):
        if not decoding and not begun and waiting:
            clock = max(clock, min(arrived for arrived, _, _ in waiting))
        budget, done, left = engine.chunk_tokens - len(decoding), list[Any](), list[Any]()
        for arrived, k, rest in waiting:
            free = k in begun or len(decoding) + len(begun) < slots
            taken = min(rest, budget) if free and arrived <= clock else 0
            begun |= {k} if taken else set()
            budget -= taken
            (left if taken < rest else done).append((arrived, k, rest - taken))
        prompts = sum(rest for _, _, rest in waiting) - sum(rest for _, _, rest in left)
        goes_on = not (reads_first and prompts)
        took = float(seconds((len(decoding) if goes_on else 0, prompts)))
        clock += took
        if goes_on:
            gaps += [took] * len(decoding)
            decoding = {k: rest - 1 for k, rest in decoding.items()}
        over = [k for k, rest in decoding.items() if rest <= 0]
        for arrived, k, _ in done:
            first.append(clock - arrived)
            begun.discard(k)
            decoding[k] = writes[k] - 1
        ended += [clock] * len(over)
        new = range(sent, min(sent + len(over), len(reads)))
        waiting = left + [(clock + away_s * draw.uniform(0, 2), k, reads[k]) for k in new]
        sent += len(over)
        decoding = {k: rest for k, rest in decoding.items() if k not in over}
    apart = skip * clients
    since = ended[apart - 1] if apart else 0.0
    speed = (len(ended) - apart) * writes.mean() / (clock - since)
    middles = float(np.mean(first[apart:])), float(np.mean(gaps)), float(np.median(gaps))
    return Simulated(speed, *middles)


def _steps(engine: Deployment, load: Load, slots: int) -> Callable[[tuple[int, float]], float]:
    """The time of a step by sequences that decode and tokens of prompts that are read [s]."""
    from scipy.interpolate import RegularGridInterpolator

    tokens, running = np.array([0.0, 256, 1024, 2048, 4096, 8192]), np.linspace(0, slots, 5)
    reading = {"prefill_tokens": tokens, "prefill_context": load.input_tokens / 2}
    grid = engine_step(engine, load, running[:, None], **reading)
    return RegularGridInterpolator((running, tokens), grid.total)
