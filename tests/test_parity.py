"""Every public formula is registered; every closed form gives the same number in Python and in the
reader's browser, and refuses what lies outside its domains.
"""

import importlib
import inspect
import math
import pkgutil
import re
from collections import Counter

import numpy as np
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


@pytest.mark.parametrize("name", sorted(CLOSED))
def test_what_lies_outside_a_domain_is_refused_with_what_is_allowed(name):
    """As a number and as one of many, by the names of the formula and of the argument."""
    formula = CLOSED[name]
    usual = {of: domain.sample[1] for of, domain in formula.domains.items()}
    for of, domain in formula.domains.items():
        beneath = domain.low if domain.open_low else domain.low - 1
        for value in {beneath, domain.high + 1} - {-math.inf, math.inf} | {math.nan}:
            words = f": {of} = {value:g} is outside its domain, allowed: {domain}"
            for wrong in (value, np.array([domain.sample[1], value])):
                with pytest.raises(ValueError, match=re.escape(formula.function.__name__ + words)):
                    formula.function(**usual | {of: wrong})


ALLOWED = {
    "above 0 to 1": [
        "costs.break_even.compute_usd utilization",
        "costs.commitment.committed_usd_per_used_hour used_share",
        "costs.pretraining.run_chip_hours goodput",
        "costs.price_performance.usd_per_effective_pflop_hour achieved_share",
        "costs.tokens.owned_usd_per_million_tokens utilization",
        "costs.tokens.usd_per_million_tokens utilization",
        "footprint.parts.energy_kwh utilization",
    ],
    "0 to 1": ["costs.tokens.request_usd cached_share"],
    "0 to 24": ["costs.break_even.rent_usd_per_year hours_per_day"],
    "1 to 10": ["footprint.parts.energy_kwh pue", "power.formulas.energy_kwh_per_year pue"],
    "1 or more": ["costs.platforms.goodput chips"],
    "0 or more": [
        "costs.break_even.rent_usd_per_year usd_per_hour",
        "costs.commitment.spot_usd_per_useful_hour interruptions_per_hour",
        "costs.tokens.request_usd input_tokens",
        "scaling_laws.laws.lifetime lifetime_tokens",
    ],
    "above 0": [
        "costs.commitment.committed_usd_per_used_hour on_demand_usd_per_hour",
        "costs.platforms.goodput chip_hours_per_interruption",
        "costs.pretraining.run_chip_hours tokens",
        "costs.price_performance.joules_per_tflop watts",
        "costs.price_performance.usd_per_gb_hour usd_per_hour",
        "costs.price_performance.usd_per_pflop_hour usd_per_hour",
        "costs.price_performance.usd_per_tb_per_s_hour memory_bytes_per_s",
        "costs.tokens.break_even_utilization usd_per_million",
        "costs.tokens.mix_usd_per_million output_tokens",
        "costs.tokens.usd_per_million_tokens tokens_per_s",
        "costs.tokens.usd_per_million_tokens usd_per_hour",
        "footprint.parts.busy_hours tokens_per_s",
        "scaling_laws.laws.compute_optimal_parameters flop",
        "scaling_laws.laws.effective unique",
        "scaling_laws.laws.equivalent_tokens price_ratio",
        "scaling_laws.laws.loss parameters",
        "training.goodput.best_checkpoint_interval_s checkpoint_s",
        "training.goodput.useful_share mtbf_s",
    ],
    "above 0 to 3": ["costs.commitment.committed_usd_per_used_hour price_ratio"],
    "above 0 to 50": ["footprint.parts.embodied_kg life_years"],
    "above 0 to 1e+12": ["training.goodput.useful_share interval_s"],
    "above -1 to 10": ["costs.commitment.break_even_used_share price_change_per_year"],
}
"""What some formulas accept, each with an argument."""


@pytest.mark.parametrize("words, of", [(words, of) for words in ALLOWED for of in ALLOWED[words]])
def test_an_argument_accepts_what_it_can_be(words, of):
    name, argument = of.split()
    assert str(CLOSED[name].domains[argument]) == words
