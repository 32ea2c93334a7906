"""What nobody knows of a model that a budget trains and that then serves: rents until then, the
time of real runs, the load and the speed of the service, and the fit of the law; and how sure it
leaves the choice of a smaller model.

What the reader has set, or chooses (a contract, a seller, a format), has no spread here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from scaleright.costs import serving as serving_doubts
from scaleright.costs.training_fleet import InService
from scaleright.costs.whole_runs import whole_runs
from scaleright.formulas import lookup
from scaleright.information import Choice
from scaleright.market import unfixed
from scaleright.ops import where
from scaleright.quantity import Quantity, at, given
from scaleright.ranges import Ends, interval_of
from scaleright.scaling_laws import (
    Model,
    compute_optimal_parameters,
    lifetime,
    range_factor,
    saved_share,
    spread,
    tokens_doubt,
)
from scaleright.scaling_laws.laws import Law

PACE, FIT = "time of real runs", "the fit"
"""What the inputs are called in a chart, beside those of `costs.serving`."""
BEST = serving_doubts.BEST | {"run_pace": 1.0}
"""Inputs that no control gives, at their best estimates; of a run its time over the predicted."""


@dataclass(frozen=True)
class Life:
    """Two models of one loss, and what a FLOP of each kind costs.

    case : lifetime_tokens, mfu (0 for the usual), serving_mfu (0 for that of `service`),
        utilization, contract and rent_usd_per_hour
    best, cheapest : the compute-optimal model, and the cheapest over its life
    train, serve : a FLOP in training and in service [USD]
    service : what a chip keeps in service
    """

    case: Any
    best: Model
    cheapest: Model
    train: Any
    serve: Any
    service: InService

    @property
    def training_usd(self) -> Any:
        """What training the cheapest over its life costs [USD]: more than the budget, which is what
        the compute-optimal model of the same loss takes.
        """
        of = self.case.lifetime_tokens
        return lifetime(*self.cheapest, of, self.train, self.serve).training_usd

    def ends(self) -> dict[str, Ends]:
        """Between which the inputs lie that nobody knows."""
        own = self.case.serving_mfu > 0
        known = (where(own, 1.0, end) for end in (self.service.low, self.service.high))
        _, _, ends = serving_doubts.unknowns(self.case, *known)
        return ends | {PACE: run_pace(self.case.mfu == 0)}

    def choice(self, law: Law, draws: Law) -> Choice:
        """The cheapest over its life or the compute-optimal one, by what each costs [USD]; both the
        same where it saves next to nothing.

        law, draws : the fit, and resampled ones
        """
        inputs = {name: given(name, value) for name, value in BEST.items()}
        speed, ahead, pace = inputs.values()
        per_flop = self.train * pace, self.serve * ahead / speed
        of = self.case.lifetime_tokens
        less, bill = (lifetime(*model, of, *per_flop) for model in (self.cheapest, self.best))
        pays = at(saved_share(less.total, bill.total) > 0, **BEST)
        choice = Choice.of(where(pays, less.total, bill.total), bill.total, self.ends(), **BEST)
        trained = at(less.training_usd / less.total, **BEST)
        off = trained * tokens_doubt(self.best, self.cheapest, law, draws)
        return replace(choice, spreads={**choice.spreads, FIT: off})


@lookup
def run_pace(loose: Any) -> Ends:
    """The ends of the time of real runs over the predicted (nine of ten), as an input of its own,
    see `BEST`.

    loose : whether the reader has left the share of the peak to the book [truth value]
    """
    real = whole_runs()
    short, long = (where(loose, end, 1.0) for end in (real.low, real.high))
    return Ends(given("run_pace", 1.0), short, long)


@dataclass(frozen=True)
class SizeDoubts:
    """How sure a compute-optimal size is.

    size : as it follows from all that moves it
    ends : of each input
    between : low and high end of the size (90 %)
    """

    size: Quantity
    ends: dict[str, Ends]
    between: tuple[Any, Any]

    @classmethod
    def of(cls, flop: Quantity, case: Any, law: Law, draws: Law) -> Self:
        """Of a budget: rents until the run is made, the pace of real runs, and the fit.

        Parameters
        ----------
        flop : that the budget buys [FLOP]
        case : as of `Life`
        law, draws : the fit, and resampled ones
        """
        off = range_factor(flop, **spread(draws))
        loose = unfixed(case.contract, case.rent_usd_per_hour)
        ahead, ends = serving_doubts.load_and_rent(case.utilization, loose)
        pace, fit = run_pace(case.mfu == 0), given("fit", 1.0)
        bought = flop / (ahead * pace.parameter)
        moving = compute_optimal_parameters(bought, **law.terms) * fit
        of = {serving_doubts.RENT: ends[serving_doubts.RENT], PACE: pace}
        of[FIT] = Ends(fit, 1 / off, off)
        low, high = (
            at(end, rent_ahead=1.0, run_pace=1.0, fit=1.0)
            for end in interval_of(moving, of.values())
        )
        return cls(moving, of, (low, high))
