"""Requests of published traces, one a row: when each came, how long its prompt and its answer were,
and how much of the prompt a cache of prefixes would have held.

Azure's traces say nothing of what prompts share. Mooncake's names the blocks of 512 tokens that a
prompt consists of, in the raw file by their count and the last of their ids: ids are given in the
order in which blocks are first seen, so that a prompt's new blocks are those beyond the greatest id
so far, and all others were there before.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from refresh.rules import read_csv
from refresh.tables import Items, RefreshError

FILES = {
    "azure_code": "traces/azure_llm_2023_code.csv",
    "azure_conversation": "traces/azure_llm_2023_conv.csv",
    "mooncake_conversation": "traces/mooncake_conversation_trace.csv",
}
SOURCES = frozenset({"azurellm2023", "mooncake2025"})
BLOCK = 512
"""Tokens of a block of Mooncake's trace [mooncake2025, section 4]."""


def rows(raw: Path, table: str) -> Items:
    """Rows of a table `traces/...`.

    Raises
    ------
    RefreshError : a time before that of the row above, or a prompt or answer without a token; names
        the row.
    """
    file, seen, last_s = FILES[table], -1, 0.0
    source = "azurellm2023" if table.startswith("azure") else "mooncake2025"
    start: datetime | None = None
    for number, row in enumerate(read_csv(raw, file), start=1):
        if source == "azurellm2023":
            now = datetime.fromisoformat(row["TIMESTAMP"][:26])
            start = start or now
            came_s, reads, writes = (
                (now - start).total_seconds(),
                int(row["ContextTokens"]),
                int(row["GeneratedTokens"]),
            )
            cached = 0
        else:
            came_s = int(row["timestamp_ms"]) / 1000
            reads, writes = int(row["input_length"]), int(row["output_length"])
            blocks, newest = int(row["n_hash_blocks"]), int(row["last_hash_id"])
            cached = max(min(BLOCK * (blocks - max(newest - seen, 0)), reads - 1), 0)
            seen = max(seen, newest)
        _check(file, number, came_s, last_s, reads, writes)
        last_s = came_s
        yield {
            "request": number,
            "arrival_s": round(came_s, 3),
            "input_tokens": reads,
            "output_tokens": writes,
            "cached_tokens": cached,
            "source": source,
        }


def _check(file: str, number: int, came_s: float, last_s: float, reads: int, writes: int) -> None:
    if came_s < last_s:
        raise RefreshError(
            f"{file}, request {number}: comes {last_s - came_s:g} s before the one above it;"
            " sort the trace by time"
        )
    if min(reads, writes) < 1:
        raise RefreshError(
            f"{file}, request {number}: a prompt of {reads} and an answer of {writes} tokens;"
            " allowed: 1 or more of each; leave out requests that were not answered"
        )
