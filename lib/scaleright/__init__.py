"""Scale Right: the economics and physics of AI compute, from a chip's datasheet to the price of a
token.
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
