"""Which modules stand behind which: the imports of the library, those inside of functions too."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from pathlib import Path

from scaleright.press.used import PACKAGE

LIBRARY = Path(__file__).resolve().parents[2]
"""The folder that holds the package."""
_CODE = re.compile(r"^```\{code-cell\}[^\n]*\n(?:[:][^\n]*\n)*((?:.*\n)*?)```$", re.MULTILINE)


@functools.cache
def _graph():
    import grimp

    return grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)


def modules() -> list[str]:
    """Every module of the library."""
    return sorted(_graph().modules)


@functools.cache
def _imported(module: str) -> frozenset[str]:
    """What a module imports itself, and the packages that it lies in, which are imported first."""
    parts = module.split(".")
    packages = (".".join(parts[:n]) for n in range(1, len(parts)))
    return frozenset(packages) | _graph().find_modules_directly_imported_by(module)


def behind(of: Iterable[str]) -> frozenset[str]:
    """These modules and all that they import, at whatever depth and whenever."""
    found, ahead = set[str](), _graph().modules.intersection(of)
    while ahead:
        found |= ahead
        ahead = set[str]().union(*map(_imported, ahead)) - found
    return frozenset(found)


def file_of(module: str) -> Path:
    """Where a module of the library stands."""
    path = LIBRARY.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def asked_by(text: str) -> frozenset[str]:
    """The modules of the library that the code cells of a chapter's text import."""
    found = frozenset[str]().union(*map(imported_by, _CODE.findall(text)))
    return frozenset(name for name in found if name.partition(".")[0] == PACKAGE)


def imported_by(code: str) -> frozenset[str]:
    """What Python code imports, inside of functions too, and the names that it takes from there,
    which may be modules.
    """
    try:
        nodes = ast.walk(ast.parse(code))
    except SyntaxError:  # a magic of IPython's; the run says what is wrong with others
        return frozenset()
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {of.name for of in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{of.name}" for of in node.names)}
    return frozenset(found)
