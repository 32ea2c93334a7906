"""How large the house is: `make size` prints code lines by room.

A code line is one with anything but blanks, comments and docstrings, at the formatter's width.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOUSE = {"library": "lib", "tests": "tests"}
_SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(node: ast.AST) -> range:
    """The lines of a statement."""
    return range(node.lineno, node.end_lineno + 1)


def counted(source: str) -> tuple[int, int]:
    r"""Code lines of a module, and how many of them import.

    >>> counted("import os  # why\n\n\ndef f():\n    'Gives 1.'\n    return 1")
    (3, 1)
    """
    nodes = [*ast.walk(ast.parse(source))]
    said = {line for node in nodes for line in _docstring(node)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {
        line
        for token in tokens
        if token.type not in _SILENT
        for line in range(token.start[0], token.end[0] + 1)
    }
    imports = (node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return len(code - said), len({line for node in imports for line in lines_of(node)})


def _docstring(node: ast.AST) -> range:
    if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        return lines_of(node.body[0])
    return range(0)


def sizes(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Code lines, imports and modules of each room of a folder, the largest first; chapters are
    one room.
    """
    lines, imports, modules = Counter[str](), Counter[str](), Counter[str]()
    for path in folder.rglob("*.py"):
        code, imported = counted(path.read_text(encoding="utf-8"))
        room = re.sub("(?<=/chapters)/.*", "", path.relative_to(folder).parent.as_posix())
        lines[room] += code
        imports[room] += imported
        modules[room] += 1
    return {room: (code, imports[room], modules[room]) for room, code in lines.most_common()}


def main() -> None:
    """Print every room, and the whole."""
    for name, folder in HOUSE.items():
        rooms = sizes(ROOT / folder)
        whole = tuple(map(sum, zip(*rooms.values(), strict=True)))
        print(f"{name:40}{'lines':>8}{'imports':>9}{'modules':>9}")
        for room, numbers in [*rooms.items(), ("", whole)]:
            print(f"  {room:38}" + "{:8,}{:9,}{:9,}".format(*numbers))


if __name__ == "__main__":
    sys.exit(main())
