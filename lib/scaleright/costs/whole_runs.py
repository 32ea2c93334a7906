"""What whole pretraining runs take beyond steps in the fastest layout that nothing stops.

Three things, in this order: the layout that is used instead of the fastest, by published layouts
and the model of a step; checkpoints, lost work and restarts, by the size of the cluster; and what
published chip-hours hold beyond both. Of that nobody publishes the parts (evaluation, the ramp of
the batch, stragglers, software of the day, work that was done twice), so that it is one factor,
found in published hours, with the range in which hours of other publishers lay.

All three at two levels: as a typical run goes, and as one of the best quarter does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scaleright.catalog import fitted, remembered, table
from scaleright.formulas import lookup
from scaleright.quantity import look_up

TABLE = "pretraining_constants"
TYPICAL, BEST_QUARTER = "typical", "best quarter"
TUNINGS = {TYPICAL: "any", BEST_QUARTER: BEST_QUARTER}
"""How well a run is tuned to its chips, and the family of its constants: as the middle of all
published runs, or of their best quarter.
"""

PACES = {
    TYPICAL: "runs go that were published",
    BEST_QUARTER: "the best quarter of published runs goes",
}
"""How a run goes, by how well it is tuned, after "as"."""


@dataclass(frozen=True)
class WholeRuns:
    """How whole runs go, found in published ones.

    tuning : one of `TUNINGS`
    layout : time of a step in layouts that are used over that in the fastest [1]
    beyond : hours of a run over those of such steps and of failures [1]
    low, high : real over predicted hours of nine in ten runs of a publisher that no fit saw [1]
    layouts, runs, publishers : how many were looked at
    """

    tuning: str
    layout: float
    beyond: float
    low: float
    high: float
    layouts: int
    runs: int
    publishers: int

    @property
    def factors(self) -> dict[str, float]:
        """What `pretraining.run_chip_hours` takes of it."""
        return {"layout": self.layout, "beyond": self.beyond}

    @property
    def basis(self) -> str:
        """How well whole runs are predicted, in words."""
        best = " among the best quarter" if self.tuning == BEST_QUARTER else ""
        return (
            f"nine of ten whole runs{best} of a publisher that no fit saw took {self.low:.2g} to"
            f" {self.high:.2g} of the predicted hours ({self.runs} runs of {self.publishers})"
        )

    @property
    def over_fastest(self) -> float:
        """Hours of a run over those of steps in the fastest layout and of failures [1]."""
        return self.layout * self.beyond


@lookup
@remembered
def whole_runs(tuning: str = TYPICAL) -> WholeRuns:
    """How whole runs go, as stored by `validation.whole_runs.refit`.

    >>> usual, best = whole_runs(), whole_runs("best quarter")
    >>> 1 < usual.layout < usual.over_fastest < 2, usual.low < 1 < usual.high
    (True, True)
    >>> 1 < best.over_fastest < usual.over_fastest
    True
    """
    family, found, rows = TUNINGS[tuning], fitted(TABLE), table(TABLE)
    rows = rows[rows["family"] == family].set_index("constant")
    _, low, high = found[family, "interval"]
    return WholeRuns(
        tuning=tuning,
        layout=found[family, "layout"][0],
        beyond=found[family, "beyond"][0],
        low=low,
        high=high,
        layouts=int(rows.loc["layout", "rows"]),
        runs=int(rows.loc["beyond", "rows"]),
        publishers=int(rows.loc["beyond", "groups"]),
    )


@lookup
def as_tuned(tuning: Any, of: Callable[[WholeRuns], Any]) -> Any:
    """Something of `whole_runs` at a level of tuning, which may be a quantity.

    >>> as_tuned("typical", lambda runs: runs.layout).value == whole_runs().layout
    True
    """
    return look_up({name: of(whole_runs(name)) for name in TUNINGS}, tuning)


@lookup
def factors(tuning: Any) -> dict[str, Any]:
    """`WholeRuns.factors` at a level of tuning, which may be a quantity."""
    return {name: as_tuned(tuning, lambda runs, of=name: getattr(runs, of)) for name in FACTORS}


FACTORS = ("layout", "beyond")
