"""The rules that parameters cells name: which values go together.

A rule takes the values of the parameters that it is called with, in their order, and raises where
they do not go together; whose values they are, `Rule.refusal` of `parameters` says. Rules are
asked before a chapter runs, so they look things up and search nothing for long, and import what
they need when called. `parameters` finds one by its name: the room of a rule that a chapter does
not name is not loaded for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping

ROOMS = {
    "together": "different some_weight",
    "catalog": "decoder computes of_a_cluster within_context trains",
    "energy": "made powered metered energy_told",
    "benchmarks": "submitted ran on_radar have_common_round bets_have_common_rounds",
    "prices": "listed plausible_rent priced priced_if_rented both_rented for_sale hosted sold_as"
    " owned_at rented_or_owned on_the_market committed",
    "training": "splits pretrains holds gets_done keeps_work shared_by meets_deadline",
    "studies": "fits_on smaller_than pays_a_node",
    "tuning": "tunable tunes",
    "serving": "served_as served_in both_serve as_fast serves grouped keeps_pace engine_known",
    "traffic": "serves_day serves_workload keeps_or_spreads pays_for_a_node",
    "routing": "better_than_chance rising tier_served",
    "hardware": "runs_somewhere",
    "evidence": "judged_serving judged_training",
}
"""The names of the rules of each module beside this one: all of its functions."""
_ROOM = {name: room for room, names in ROOMS.items() for name in names.split()}


class _Rules(Mapping[str, Callable[..., None]]):
    """Every rule by its name; its module is imported when it is asked for."""

    def __getitem__(self, name: str) -> Callable[..., None]:
        return getattr(importlib.import_module(f"scaleright.rules.{_ROOM[name]}"), name)

    def __iter__(self) -> Iterator[str]:
        return iter(_ROOM)

    def __len__(self) -> int:
        return len(_ROOM)


RULES = _Rules()
