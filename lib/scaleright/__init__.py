"""Scale Right: the economics and physics of AI compute, from a chip's datasheet to the price of a
token.

- `catalog`, `market`: the tables: chips, models, facts; what rents, purchases, APIs and power cost
- `transformer`, `scaling_laws`: parameters, FLOP and bytes of a shape; loss by size and tokens
- `roofline`, `collectives`, `power`: the speed of a chip and of a network, and what they draw
- `training`, `inference`: time and memory of a training step; engines, traffic and fleets
- `costs`, `footprint`: dollars of an hour, a token, a run; energy, carbon and water
- `mlperf`, `validation`: MLPerf's results; predictions beside what was measured
- `decisions`: every way to serve, train or tune, which is best, and how sure
- `chapters`, `claims`: what each chapter shows; published claims, recomputed
- `quantity`, `ops`, `ranges`, `formulas`: numbers that a page recomputes, with their ranges
- `charts`, `parameters`, `rules`, `press`, `cli`: cards and controls, the book, the command line

What a million tokens cost on a rented chip, with 64 requests at once and half of its time idle:

>>> from scaleright import catalog
>>> from scaleright.costs.tokens import usd_per_million_tokens
>>> from scaleright.inference.deployment import Deployment
>>> from scaleright.inference.lengths import Load
>>> from scaleright.inference.serving import steady
>>> engine = Deployment(catalog.model("Llama-3.1-8B"), catalog.accelerator("H100 SXM"))
>>> speed = steady(engine, Load(input_tokens=1000, output_tokens=500), 64).output_tokens_per_s
>>> round(usd_per_million_tokens(2.50, speed, 0.5), 2)
0.31
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__version__ = "0.1.0"
REMEMBERED = "SCALERIGHT_REMEMBERED"
"""The variable that names the folder of what a build finds in the tables, see `catalog.memory`;
here, because a build need not import the tables to set it.
"""
MODULES = "modules.json"
"""The file of that folder with the state of each module."""
_FOLDER: ContextVar[Callable[[], str | None]] = ContextVar(
    "folder of findings", default=lambda: None
)


def findings() -> str | None:
    """The folder of what is found in the tables: that of the variable, else of `finding_in`; None
    where nothing is kept.
    """
    return os.environ.get(REMEMBERED) or _FOLDER.get()()


@contextmanager
def finding_in(folder: Callable[[], str | None]) -> Iterator[None]:
    """Keep what is found in the tables in a folder, which is asked for when something is: to tell
    the state of library and tables takes reading all of them.
    """
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)
