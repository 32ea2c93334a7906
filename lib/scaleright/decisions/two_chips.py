"""How sure one chip is cheaper than another, for serving and for training.

What both have in common cancels: an error of the model of speed that is alike on both
(`validation.in_common`), rents that move together, a load that the same service brings to either,
and all that owning takes but the chip.
What a reader chooses, a contract or a seller, is no doubt.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scaleright.catalog import table
from scaleright.costs.fastest_steps import Steps
from scaleright.costs.pretraining_run import Cheapest as CheapestRun
from scaleright.costs.pretraining_run import Hour, Run, cheapest
from scaleright.costs.serving import LOAD, RENT, usd_per_month
from scaleright.decisions.hardware_candidates import HardwareTables
from scaleright.decisions.hardware_choice import Cheapest
from scaleright.formulas import lookup
from scaleright.information import Choice, spread_between
from scaleright.market import rents_apart, yearly_drift
from scaleright.ops import maximum, sqrt, where
from scaleright.quantity import choose, look_up, pick
from scaleright.ranges import interval
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR
from scaleright.validation.in_common import ALIKE, KINDS

SPEED, PRICE = "ratio of their speeds", "prices of the chips"
"""What inputs are called in a chart, beside those of `costs.serving`."""


def spread_apart(off: Any, other: Any, common: Any) -> Any:
    """Standard deviation of the logarithm of the ratio of two predicted speeds [1].

    Parameters
    ----------
    off, other : that of either, over what is measured [1]
    common : correlation of their errors [1]

    >>> spread_apart(0.3, 0.4, 0.0), spread_apart(0.3, 0.3, 1.0)
    (0.5, 0.0)
    """
    return sqrt(maximum(off**2 + other**2 - 2 * common * off * other, 0.0))


@lookup
def errors_in_common(
    tasks: tuple[str, ...] = tuple(ALIKE),
) -> dict[tuple[str, str], dict[str, float]]:
    """`error_in_common` by task and kind of model, as rows for `choose`, of some tasks; as stored,
    since to find them every judged run is predicted anew.

    >>> sorted(errors_in_common())[0]
    ('inference', 'dense')
    """
    rows = table("errors_in_common").itertuples()
    return {(row.task, row.kind): {"common": row.common} for row in rows if row.task in tasks}


@dataclass(frozen=True)
class ChipDoubts:
    """How sure the cheapest chip for a workload is.

    choice : the cheapest or the next, by their prices [USD / 1e6 token]
    low, high : ends of the price of the cheapest (90 %) [USD / 1e6 token]
    """

    choice: Choice
    low: Any
    high: Any

    @classmethod
    def of(cls, case: Any, best: Cheapest, tables: HardwareTables, known: Any = False) -> Self:
        """Those of a case of quantities.

        Parameters
        ----------
        case : task and model
        best : the cheapest chip and the next; the power of an owned one follows its load, so that
            this is no longer the same on both
        known : whether the traffic is: then each is as busy as its whole engines let it be [truth
            value]
        """
        training = case.task == "training"
        kinds = {name: KINDS[bool(of.experts)] for name, of in tables.models.items()}
        common = choose(errors_in_common(), case.task, look_up(kinds, case.model)).common
        here, there = best.of, best.next_of
        loose, then = here["loose"] > 0, there["loose"] > 0
        mixed = known | (here["own"] > 0) | (there["own"] > 0)
        loads = spread_between(*(here[at] / there[at] for at in ("busy_usd", "idle_usd")))
        spreads = {
            SPEED: spread_apart(here["off"], there["off"], common),
            LOAD: where(mixed & (case.task != "training"), abs(loads), 0.0),
            RENT: rents_apart(loose, then),
            PRICE: spread_apart(here["hour_apart"], there["hour_apart"], 0.0),
        }
        drift, usd = yearly_drift().mean_over(1.0), best.usd
        busy, idle = (where(training, 1.0, here[at] / usd) for at in ("busy_usd", "idle_usd"))
        low, high = interval(
            lambda load, rent, price, speed: usd * load * rent * price / speed,
            load=(busy, 1.0, idle),
            rent=(where(loose, drift[0], 1.0), 1.0, where(loose, drift[1], 1.0)),
            price=(here["hour_low"] / here["hour_usd"], 1.0, here["hour_high"] / here["hour_usd"]),
            speed=(here["low"], 1.0, here["high"]),
        )
        return cls(Choice(best.usd, best.next_usd, spreads), low, high)

    def worth_a_month(self, tokens_per_s: Any, utilization: Any) -> dict[str, Any]:
        """What knowing each input would save in expectation before one of both is taken
        [USD/month].

        tokens_per_s, utilization : the demand at its peak [token/s], and its mean over that [1]
        """
        a_day = tokens_per_s * utilization * SECONDS_PER_HOUR * HOURS_PER_DAY
        return {name: usd_per_month(a_day, usd) for name, usd in self.choice.worth().items()}


@dataclass(frozen=True)
class PlatformDoubts:
    """How sure the platform is on which a run is cheapest.

    choice : that one or another, by what the run costs [USD]
    other : that other platform: the case's own, or the next where that is the cheapest
    """

    choice: Choice
    other: Any

    @classmethod
    def of(cls, case: Any, steps: Steps, on_all: Mapping[str, Run], best: CheapestRun) -> Self:
        """Those of a case.

        How long real runs take, and how often they are stopped, is taken to be alike on both.
        """
        runs = {name: run.usd for name, run in on_all.items()}
        mine, then = best.platform == case.accelerator, cheapest(on_all, after=best.platform)
        other = where(mine, then.platform, case.accelerator)
        usd = where(mine, then.usd, pick(runs, case.accelerator))
        names = (where(name == "", case.accelerator, name) for name in (best.platform, other))
        return cls(Choice(best.usd, usd, _of_runs(case, steps, *names)), other)


def _of_runs(case: Any, steps: Steps, *platforms: Any) -> dict[str, Any]:
    """Spreads of the ratio of what a case's run costs on two platforms [1]."""
    kind = look_up(steps.kinds, case.model)
    trusted = [steps.trust.row(kind, name, case.precision) for name in platforms]
    hours = [Hour.of(case, name) for name in platforms]
    common = choose(errors_in_common(), "training", kind).common
    off, other = (spread_between(of.error_low, of.error_high) for of in trusted)
    price, other_price = (where(of.owned, of.prices.apart, 0.0) for of in hours)
    loose, other_loose = (where(of.owned, False, of.loose) for of in hours)
    return {
        SPEED: spread_apart(off, other, common),
        RENT: rents_apart(loose, other_loose),
        PRICE: spread_apart(price, other_price, 0.0),
    }
