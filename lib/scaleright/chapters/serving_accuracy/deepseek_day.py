"""One day of DeepSeek's own service, as published, against what the model of a step says of it:
prefill and decode on pools of their own, with experts held twice.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, fact, model, remembered
from scaleright.formulas import lookup
from scaleright.inference.deployment import Deployment, check
from scaleright.inference.engine_steps import engine_step
from scaleright.inference.lengths import Load
from scaleright.inference.serving import room
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

MODEL, CHIP, NODE = "DeepSeek-V3", "H800 SXM", 8
PREFILL_CHIPS, DECODE_CHIPS, REDUNDANT = 32, 144, 32
"""Chips that share the experts of each pool, each an attention group of its own, and routed experts
held twice [deepseekday2025].
"""


def pool(chips: int) -> Deployment:
    """One engine of the service on so many chips, by the mean constants of all engines: its own is
    not public.

    >>> pool(DECODE_CHIPS).held_experts / pool(DECODE_CHIPS).expert
    2.0
    """
    spread = {"expert": chips, "attention_data": chips, "redundant": REDUNDANT}
    found = Deployment(model(MODEL), accelerator(CHIP), "FP8", **spread)
    check(found)
    return found


@lookup
def request() -> Load:
    """A request of the day: prompts and answers in the published ratio, so long that a written
    token looks back on as many as was published.

    >>> 4300 < request().input_tokens < 4500 and round(request().context) == 4989
    True
    """
    read, cached, written = (
        fact(f"deepseek_day_{name}_tokens") for name in ("input", "cached", "output")
    )
    answer = fact("deepseek_day_cache_length") / (read / written + 0.5)
    return Load(answer * read / written, answer, cached_share=cached / read)


@dataclass(frozen=True)
class Day:
    """What the model says of the day.

    prefill, decode : tokens a second of a node of either pool, prompts found in the cache included,
        and at the published pace of a user [token/s]
    nodes : that the day's tokens take at these
    batch : sequences of a chip that decodes [1]
    exchange : share of a step of decoding in which tokens move to experts and back [1]
    """

    prefill: float
    decode: float
    nodes: float
    batch: float
    exchange: float


@lookup
@remembered
def predicted() -> Day:
    """The day as predicted: prefill in full steps, decode with as many sequences as leave each user
    the published pace.
    """
    load, reads, writes = request(), pool(PREFILL_CHIPS), pool(DECODE_CHIPS)
    chunk = reads.chunk_tokens * PREFILL_CHIPS
    full = engine_step(reads, load, 0.0, prefill_tokens=chunk, prefill_context=load.prompt_context)
    prefill = NODE * reads.chunk_tokens / full.total / (load.new_tokens / load.input_tokens)
    each = np.arange(1.0, room(writes, load) / DECODE_CHIPS + 1)
    step = engine_step(writes, load, each * DECODE_CHIPS)
    pace = fact("deepseek_day_user_tokens_per_s")
    batch = float(np.interp(1 / pace, step.total, each))
    exchange = float(np.interp(batch, each, step.expert_s / step.total))
    decode, day_s = NODE * batch * pace, HOURS_PER_DAY * SECONDS_PER_HOUR
    taken = (
        fact("deepseek_day_input_tokens") / prefill + fact("deepseek_day_output_tokens") / decode
    )
    return Day(float(prefill), decode, float(taken / day_s), batch, exchange)


@lookup
def figures() -> pd.DataFrame:
    """The day's figures as published and as predicted, with the error [1]."""
    day, gpus = predicted(), fact("deepseek_day_gpus")
    rows = [
        ("prompts read by a node [token/s]", "deepseek_day_prefill_tokens_per_s", day.prefill),
        ("tokens written by a node [token/s]", "deepseek_day_decode_tokens_per_s", day.decode),
    ]
    found = [(name, fact(of), value) for name, of, value in rows]
    found.append(("nodes of eight for the day", gpus / NODE, day.nodes))
    table = pd.DataFrame(found, columns=["figure", "published", "predicted"])
    return table.assign(error=table["predicted"] / table["published"] - 1)
