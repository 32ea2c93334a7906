"""What the choice of a chip chooses from: candidates, their engines, and the shapes of models, as
rows for `choose`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

from scaleright import catalog
from scaleright.architecture import Transformer, chosen
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.decisions.hardware_candidates import candidate_rows
from scaleright.decisions.hardware_training import Rows, training_rows
from scaleright.formulas import lookup
from scaleright.inference.demand import Demand, requests_of
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.formats import FORMATS, USUAL, released_in
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.inference.pacing import fastest
from scaleright.market import Hours
from scaleright.ops import where
from scaleright.quantity import choose
from scaleright.transformer import bytes_per_parameter, parameters, weight_bytes


@lookup
def serving_chips() -> tuple[str, ...]:
    """The candidates that the model of serving knows: its engines run on GPUs.

    >>> "H100 SXM" in serving_chips()
    True
    """
    known = catalog.accelerators()
    return tuple(name for name in candidate_rows() if known[name].kind == "GPU")


def candidate_engines(models: Sequence[str], formats: Sequence[str] = FORMATS) -> Engines:
    """The engines of models on every candidate, in the usual format and in some; why there are none
    on those that the model of serving does not know.

    >>> engines = candidate_engines(("Llama-3.1-8B",))
    >>> engines.rows.row("Llama-3.1-8B", "H100 SXM", "usual")["chips 0"].value
    1.0
    """
    chips = serving_chips()
    others = [name for name in candidate_rows() if name not in chips]
    return Engines.of(models, chips, formats, dict.fromkeys(others, "no engine of it is known"))


def serves(model: str, chip: str, precision: str, load: Load, pace: float) -> bool:
    """Whether an engine of one node of a chip gives each reader so many tokens a second.

    >>> serves("Llama-3.3-70B", "H100 SXM", "usual", Load(2000, 500), 30.0)
    True
    """
    _, known = engines_in(model, chip, precision)
    return bool(known) and bool(fastest(known, load, 1 / pace).kept)


@dataclass(frozen=True)
class HardwareTables:
    """Rows by what is chosen.

    engines : by model, candidate and format
    chips : by candidate, see `hardware_candidates.candidates`
    trained : by model, format and candidate, see `hardware_training.training_rows`
    hours : what an hour of each candidate costs under every contract
    owned : what owning it takes, by candidate and setting, see `owned_hours.owned_terms`
    models : shapes by name
    """

    engines: Engines
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
        >>> tables.least("Llama-3.1-8B", "H100 SXM", "usual").value
        1.0
        """
        shapes = {name: catalog.model(name) for name in models}
        chips, rows = candidate_rows(), training_rows(tuple(models), trained)
        return cls(
            candidate_engines(models),
            chips,
            rows,
            Hours([*chips]),
            owned_rows(tuple(chips)),
            shapes,
        )

    def demand(self, case: Any, contract: Any = None) -> Demand:
        """The traffic of a case, of which training has none.

        contract : under which it is rented, the case's by default
        """
        contract = case.contract if contract is None else contract
        found = Demand.of(case, contract, case.paid == "own")
        return replace(found, known=found.known & (case.task != "training"))

    def peak(self, case: Any) -> Any:
        """Tokens in a second of the busiest time [token/s]: of the traffic, or as set."""
        demand = self.demand(case)
        load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
        return where(demand.known, demand.peak_tokens_per_s(load), case.tokens_per_s)

    def mean_over_peak(self, case: Any) -> Any:
        """Tokens of a day over those if all of it were busiest [1]."""
        return where(self.demand(case).known, 1 / case.peak_to_mean, case.utilization)

    def shape(self, model: Any) -> Transformer:
        """The shape of a model, whose fields follow the choice."""
        return chosen(self.models, model)

    def owned_hour(self, chip: Any, setting: Any, training: Any, utilization: Any) -> OwnedHour:
        """What an hour of a chip costs that is bought and stands in a setting."""
        return OwnedHour.of(choose(self.owned, chip, setting), training, utilization)

    def least(self, model: Any, chip: Any, precision: Any) -> Any:
        """Chips of the smallest engine that serves a model in a format [1]."""
        return self.engines.rows.row(model, chip, precision)["chips 0"]

    def weights(self, model: Any, precision: Any) -> Any:
        """Weights of a model in a format [B]; usually in eight bits, or in the four of its
        release.
        """
        sizes = {}
        for (name, shape), form in product(self.models.items(), (USUAL, *FORMATS)):
            stored = form
            if form == USUAL:
                released = released_in(shape)
                stored = "FP8" if released == "BF16" else released
            count = parameters(shape).total
            sizes[name, form] = {"bytes": weight_bytes(count, bytes_per_parameter(stored))}
        return choose(sizes, model, precision).bytes
