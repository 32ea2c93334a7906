"""A quantity is a number, a truth value or a word together with how it was computed.

A chapter's parameters are quantities (`given`); arithmetic, comparisons, `ops` and look-ups in
tables (`choose`) make more of them. Whatever a page shows of one is a reading of the same graph:
its value at the case (`value`), its value at any other case or on a whole grid (`evaluate`), the
same where a parameter is another (`at`), or the expressions by which a page computes it anew
(`compiled`).

>>> hours, price = given("hours", 10.0), given("price", 2.5)
>>> bill = hours * price
>>> bill.value, evaluate([bill], {"hours": 20.0})[0], compiled({"bill": bill}).signals
(25.0, 50.0, {'bill': '(hours * price)'})
"""

from scaleright.quantity.graph import Operation, Quantity, apply, derived, given
from scaleright.quantity.lists import least, least_of, pick, place_after
from scaleright.quantity.over import over
from scaleright.quantity.readings import all_at, at, compiled, evaluate
from scaleright.quantity.rows import Table, choose, look_up
from scaleright.quantity.signals import Rows, Signals

__all__ = [
    "Operation",
    "Quantity",
    "Rows",
    "Signals",
    "Table",
    "all_at",
    "apply",
    "at",
    "choose",
    "compiled",
    "derived",
    "evaluate",
    "given",
    "least",
    "least_of",
    "look_up",
    "over",
    "pick",
    "place_after",
]
