"""Every public formula is registered; every closed form gives the same number in Python and in the
reader's browser.
"""

import importlib
import inspect
import pkgutil
from collections import Counter

import pytest
import scaleright
from parity import largest_difference
from scaleright.formulas import REGISTRY

FORMULA_ROOMS = (
    "transformer",
    "scaling_laws",
    "roofline",
    "collectives",
    "power",
    "training",
    "inference",
    "costs",
    "footprint",
)


JUDGING = ("decisions", "information", "market", "mlperf", "order_statistics")
"""Rooms above and beside them that have closed forms of their own."""


def modules(*rooms: str) -> list:
    """Every module of some rooms of the library."""
    names = (m.name for m in pkgutil.walk_packages(scaleright.__path__, "scaleright."))
    return [importlib.import_module(name) for name in names if name.split(".")[1] in rooms]


MODULES = modules(*FORMULA_ROOMS)
JUDGES = modules(*JUDGING)
CLOSED = {name: formula for name, formula in REGISTRY.items() if formula.kind == "closed form"}


def unregistered(module) -> list[str]:
    """Public functions defined in a module that the registry does not know."""
    registered = {id(formula.function) for formula in REGISTRY.values()}
    return [
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and id(value) not in registered
    ]


def test_every_public_formula_is_registered():
    assert [name for module in MODULES for name in unregistered(module)] == []


def test_an_unregistered_function_is_found():
    module = importlib.import_module("types").ModuleType("sample")
    exec("def loose(x):\n    return x", vars(module))
    assert unregistered(module) == ["sample.loose"]


def test_closed_forms_are_in_all_rooms():
    rooms = Counter(name.split(".")[0] for name in CLOSED)
    assert {*JUDGING} < {*rooms} and rooms["mlperf"] == 4 and len(CLOSED) > 150


@pytest.mark.parametrize("name", sorted(CLOSED))
def test_python_arrays_and_vega_agree(name):
    assert largest_difference(CLOSED[name], count=40, seed=20261120) < 1e-9
