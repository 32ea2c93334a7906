"""What whole pretraining runs take beyond steps in the fastest layout that nothing stops.

Three things, in this order: the layout that is used instead of the fastest, by published layouts
and the model of a step; checkpoints, lost work and restarts, by the size of the cluster; and what
published chip-hours hold beyond both. Of that nobody publishes the parts (evaluation, the ramp of
the batch, stragglers, software of the day, work that was done twice), so that it is one factor,
found in published hours, with the range in which hours of other publishers lay.
"""

from dataclasses import dataclass

from scaleright.catalog import fitted, remembered, table
from scaleright.formulas import lookup

TABLE = "pretraining_constants"


@dataclass(frozen=True)
class WholeRuns:
    """How whole runs go, found in published ones.

    layout : time of a step in layouts that are used over that in the fastest [1]
    beyond : hours of a run over those of such steps and of failures [1]
    low, high : real over predicted hours of nine in ten runs of a publisher that no fit saw [1]
    layouts, runs, publishers : how many were looked at
    """

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
        return (
            f"nine of ten whole runs of a publisher that no fit saw took {self.low:.2g} to"
            f" {self.high:.2g} of the predicted hours ({self.runs} runs of {self.publishers})"
        )

    @property
    def over_fastest(self) -> float:
        """Hours of a run over those of steps in the fastest layout and of failures [1]."""
        return self.layout * self.beyond


@lookup
@remembered
def whole_runs() -> WholeRuns:
    """How whole runs go, as stored by `validation.whole_runs.refit`.

    >>> usual = whole_runs()
    >>> 1 < usual.layout < usual.over_fastest < 2, usual.low < 1 < usual.high
    (True, True)
    """
    found = fitted(TABLE)
    rows = table(TABLE).set_index("constant")
    _, low, high = found["any", "interval"]
    return WholeRuns(
        layout=found["any", "layout"][0],
        beyond=found["any", "beyond"][0],
        low=low,
        high=high,
        layouts=int(rows.loc["layout", "rows"]),
        runs=int(rows.loc["beyond", "rows"]),
        publishers=int(rows.loc["beyond", "groups"]),
    )
