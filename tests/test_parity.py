"""Every public formula is registered; every closed form gives the same number in Python and in the
reader's browser.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

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


def formula_modules() -> list:
    """Every module of the physics, systems and money layers."""
    names = [
        m.name
        for m in pkgutil.walk_packages(scaleright.__path__, "scaleright.")
        if m.name.split(".")[1] in FORMULA_ROOMS
    ]
    return [importlib.import_module(name) for name in names]


MODULES = formula_modules()
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


@pytest.mark.parametrize("name", sorted(CLOSED))
def test_python_arrays_and_vega_agree(name):
    assert largest_difference(CLOSED[name], count=40, seed=20261120) < 1e-9
