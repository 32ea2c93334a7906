"""What the choice of a chip chooses from: candidates, their engines, and the shapes of models, as
rows for `choose`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

from scaleright import catalog
from scaleright.architecture import Transformer, chosen
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.decisions.hardware_candidates import candidate_rows
from scaleright.decisions.hardware_training import Rows, training_rows
from scaleright.formulas import lookup
from scaleright.inference.curves import fastest
from scaleright.inference.engine_tables import node_engines
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import engine_rows
from scaleright.inference.nodes import RELEASED_IN
from scaleright.market import Hours
from scaleright.quantity import choose, look_up
from scaleright.transformer import bytes_per_parameter, parameters, weight_bytes


@lookup
def serving_chips() -> tuple[str, ...]:
    """The candidates that the model of serving knows: its engines run on GPUs.

    >>> "H100 SXM" in serving_chips()
    True
    """
    known = catalog.accelerators()
    return tuple(name for name in candidate_rows() if known[name].kind == "GPU")


@catalog.shared
def candidate_engines(models: tuple[str, ...]) -> Mapping[tuple[str, str], Any]:
    """`node_speed.engine_rows` of models on every candidate; why there are none on those that the
    model of serving does not know.

    >>> candidate_engines(("Llama-3.1-8B",))["Llama-3.1-8B", "H100 SXM"]["chips 0"]
    1.0
    """
    chips = serving_chips()
    rows = engine_rows(models, chips)
    for name in candidate_rows():
        if name not in chips:
            why = f"no engine of {name} is known to the model of serving"
            rows |= {(of, name): why for of in models}
    return MappingProxyType(rows)


def serves(model: str, chip: str, load: Load, pace: float) -> bool:
    """Whether an engine of one node of a chip gives each reader so many tokens a second.

    >>> serves("Llama-3.3-70B", "H100 SXM", Load(2000, 500), 30.0)
    True
    """
    shape = catalog.model(model).name
    _, known = node_engines((shape,), (chip,))[shape, chip]
    return bool(known) and bool(fastest(known, load, 1 / pace).kept)


@dataclass(frozen=True)
class HardwareTables:
    """Rows by what is chosen.

    engines : by model and candidate, see `candidate_engines`
    chips : by candidate, see `hardware_candidates.candidates`
    trained : by model, format and candidate, see `hardware_training.training_rows`
    hours : what an hour of each candidate costs under every contract
    owned : what owning it takes, by candidate and setting, see `owned_hours.owned_terms`
    models : shapes by name
    """

    engines: Mapping[tuple[str, str], Any]
    chips: Mapping[str, Mapping[str, Any]]
    trained: Rows
    hours: Hours
    owned: Mapping[tuple[str, str], Mapping[str, Any]]
    models: Mapping[str, Transformer]

    @classmethod
    def of(cls, models: Sequence[str], trained: str = "") -> Self:
        """Those of some models.

        trained : one whose training is asked for, see `training_rows`

        >>> tables = HardwareTables.of(("Llama-3.1-8B",))
        >>> tables.least("Llama-3.1-8B", "H100 SXM").value
        1.0
        """
        shapes = {name: catalog.model(name) for name in models}
        chips, rows = candidate_rows(), training_rows(tuple(models), trained)
        return cls(
            candidate_engines(tuple(models)),
            chips,
            rows,
            Hours([*chips]),
            owned_rows(tuple(chips)),
            shapes,
        )

    def shape(self, model: Any) -> Transformer:
        """The shape of a model, whose fields follow the choice."""
        return chosen(self.models, model)

    def owned_hour(self, chip: Any, setting: Any, utilization: Any) -> OwnedHour:
        """What an hour of a chip costs that is bought and stands in a setting."""
        return OwnedHour.of(choose(self.owned, chip, setting), utilization)

    def least(self, model: Any, chip: Any) -> Any:
        """Chips of the smallest engine that serves a model [1]."""
        return choose(self.engines, model, chip)["chips 0"]

    def weights(self, model: Any) -> Any:
        """Weights of a model as it is usually served, in eight bits or in the four of its release
        [B].
        """
        sizes = {
            name: weight_bytes(
                parameters(shape).total, bytes_per_parameter(RELEASED_IN.get(shape.name, "FP8"))
            )
            for name, shape in self.models.items()
        }
        return look_up(sizes, model)
