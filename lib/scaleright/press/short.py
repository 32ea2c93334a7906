"""What a page's scripts say, written short: `charts.js` makes it whole again.

Most of a page is formulas: a list of hundreds, each with the names of its parts, full of the same
few words; and tables of places, most of them of one digit. Nothing is left out or rounded.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

ELSEWHERE = "sr-shared"
"""Names what the page tells once, see `pages`."""
ROWS, TEXTS, WITH = "sr-rows", "of", "with"
"""Names of the parts, the texts of all rows, and the signs in them that stand for more."""
SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "@": "datum.",
        "~": '","',
        "#": ",0],[",
        "`": "(round(exp(0.00045*parseInt(slice(",
        "^": ",36)+6.9))/1e9)",
    }
)
PLACES = "§"
"""Stands at both ends of a list of whole numbers: how many digits each has, then all of these."""
_FORMULAS = ("expr", "calculate")
_PARTS = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'| [*/<>=!&|?:+-]+ (?![-+])""")
_NUMBER = r"(?:0/0|0|[1-9]\d{0,3})"
_WHOLE = re.compile(rf"\[({_NUMBER}(?:,{_NUMBER}){{30,}})\]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def tight(formula: str) -> str:
    """A formula without the spaces around its operators; texts in it keep theirs.

    >>> tight("((a + 1) >= b ? ' is ' : -1 - -x)")
    "((a+1)>=b?' is ' : -1 - -x)"
    """
    return _PARTS.sub(lambda part: part[0] if part[0][0] in "\"'" else part[0].strip(), formula)


def _in_base(number: int, digits: int) -> str:
    found = ""
    for _ in range(digits):
        number, digit = divmod(number, len(_DIGITS))
        found = _DIGITS[digit] + found
    return found


def _places(found: re.Match) -> str:
    every = found[1].split(",")
    most = max((int(one) for one in every if one != "0/0"), default=0)
    digits = next(d for d in range(1, 4) if most < len(_DIGITS) ** d)
    told = ("-" * digits if one == "0/0" else _in_base(int(one), digits) for one in every)
    return f"{PLACES}{digits}{''.join(told)}{PLACES}"


def short(part: Any) -> Any:
    """A part of a script in which lists of objects that all have the same names, and texts alone,
    are written short.

    >>> short([{"as": "a", "calculate": "datum.x + 1"}, {"as": "b", "calculate": "datum.y"}])
    {'sr-rows': ['as', 'calculate'], 'of': ['a', '@x+1', 'b', '@y'], 'with': '@~#`^'}
    """
    if isinstance(part, dict):
        return {name: short(item) for name, item in part.items()}
    if not isinstance(part, list):
        return part
    if not _alike(part):
        return [short(item) for item in part]
    texts = [
        _WHOLE.sub(_places, tight(text)) if name in _FORMULAS else text
        for row in part
        for name, text in row.items()
    ]
    signs = "".join(sign for sign in SIGNS if not any(sign in text for text in texts))
    for sign in signs:
        texts = [text.replace(SIGNS[sign], sign) for text in texts]
    return {ROWS: [*part[0]], TEXTS: texts, WITH: signs}


def _alike(rows: list) -> bool:
    """Whether rows are objects of the same names and of texts alone, more than one of them, that
    do not stand for what the page tells elsewhere.
    """
    if len(rows) < 2 or not all(isinstance(row, dict) for row in rows):
        return False
    names = [*rows[0]]
    texts = (isinstance(text, str) and PLACES not in text for row in rows for text in row.values())
    return names not in ([], [ELSEWHERE]) and all([*row] == names for row in rows) and all(texts)
