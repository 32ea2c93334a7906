"""Other ways to pay for an hour: committed for a term, or spot that may be taken away at any time.

A commitment pays for every hour of its term at a share of the on-demand price of its first day. It
wins if enough of the hours are used, and loses if on-demand prices fall under it meanwhile.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.costs.serving import RENT, load_and_rent
from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.information import Choice
from scaleright.market import yearly_drift
from scaleright.ops import INFINITY, ceil, exp, log, where
from scaleright.ranges import Ends
from scaleright.training.goodput import SPAN, available_share, useful_share
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR

RATIO = Domain(0.0, 3.0, (0.1, 1.5), open_low=True)
"""A price over the on-demand price: 0.6 is 40 % off; above 1 the other price is the dearer one."""
SPOT_RATIO = Domain(0.0, float("inf"), (0.1, 1.5), open_low=True)
"""A spot over an on-demand price. Not bounded above: the two may be of different providers, and one
that is dearer has a plain answer.
"""
CHANGE = Domain(-1.0, 10.0, (-0.8, 1.0), open_low=True)
"""A yearly change of prices: -0.2 is a fall of 20 % a year."""
TERM = Domain(0.0, 10.0, (0.1, 5.0), open_low=True)
RATE = Domain(0.0, float("inf"), (0.0, 3.0))
"""Interruptions an hour."""


@closed_form(price_change_per_year=CHANGE, years=TERM)
def mean_price_over_first(price_change_per_year, years):
    """Mean of a price over so many years, over the price of the first day [1], if it changes evenly
    in ratio.

    Source: the integral of (1 + g)^t over the term, divided by it.

    >>> mean_price_over_first(0.0, 1.0), round(mean_price_over_first(-0.3, 1.0), 3)
    (1.0, 0.841)
    """
    growth = years * log(1 + price_change_per_year)
    flat = (growth < 1e-4) & (growth > -1e-4)
    return where(
        flat, 1 + growth / 2 + growth * growth / 6, (exp(growth) - 1) / where(flat, 1.0, growth)
    )


@closed_form(price_change_per_year=CHANGE, years=TERM, term_years=TERM)
def renewed_price_over_first(price_change_per_year, years, term_years):
    """What is paid for so many years by whoever renews a commitment at the price of the day, over
    years at the first price [1].

    Parameters
    ----------
    price_change_per_year : yearly change of prices [1/year]
    years : years of need; of the last term all is paid [years]
    term_years : years for which each commitment keeps its price [years]

    Source: the sum of the geometric series of the prices at which it is renewed.

    >>> renewed_price_over_first(-0.5, 3.0, 1.0) == (1 + 0.5 + 0.25) / 3, renewed_price_over_first(
    ...     -0.5, 3.0, 3.0)
    (True, 1.0)
    """
    terms, factor = ceil(years / term_years - 1e-9), (1 + price_change_per_year) ** term_years
    flat = (factor > 1 - 1e-6) & (factor < 1 + 1e-6)
    geometric = (1 - factor**terms) / where(flat, 1.0, 1 - factor)
    return (
        where(flat, terms + terms * (terms - 1) / 2 * (factor - 1), geometric) * term_years / years
    )


@closed_form(on_demand_usd_per_hour=POSITIVE, price_ratio=RATIO, used_share=FRACTION)
def committed_usd_per_used_hour(on_demand_usd_per_hour, price_ratio, used_share):
    """What an hour of use costs under a commitment that is paid in all hours [USD/h].

    Parameters
    ----------
    on_demand_usd_per_hour : price without commitment [USD/h]
    price_ratio : committed over on-demand price [1]
    used_share : share of the hours of the term that are used [1]

    Source: definition.

    >>> committed_usd_per_used_hour(4.0, 0.5, 0.8)
    2.5
    """
    return on_demand_usd_per_hour * price_ratio / used_share


@closed_form(price_ratio=RATIO, price_change_per_year=CHANGE, years=TERM)
def break_even_used_share(price_ratio, price_change_per_year=0.0, years=1.0):
    """Share of the hours that must be used for a commitment to pay [1]; above 1 it never does.

    Parameters
    ----------
    price_ratio : committed over on-demand price on the first day [1]
    price_change_per_year : yearly change of on-demand prices during the term [1/year]
    years : term [years]

    >>> break_even_used_share(0.6), round(break_even_used_share(0.6, -0.3), 3)
    (0.6, 0.713)
    """
    return price_ratio / mean_price_over_first(price_change_per_year, years)


@closed_form(
    on_demand_usd_per_hour=POSITIVE,
    price_ratio=RATIO,
    used_share=FRACTION,
    price_change_per_year=CHANGE,
    years=TERM,
)
def commitment_value_usd(
    on_demand_usd_per_hour, price_ratio, used_share, price_change_per_year=0.0, years=1.0
):
    """What a commitment saves over its term against paying on demand for the hours used, per
    accelerator [USD].

    Negative where it loses. Hours paid as they pass; a payment in advance is worth its interest
    more. Arguments as in `committed_usd_per_used_hour` and `break_even_used_share`.

    >>> round(commitment_value_usd(4.0, 0.6, 0.8)), round(commitment_value_usd(4.0, 0.6, 0.8, -0.5))
    (7013, -804)
    """
    gap = used_share * mean_price_over_first(price_change_per_year, years) - price_ratio
    return on_demand_usd_per_hour * gap * years * HOURS_PER_YEAR


@dataclass(frozen=True)
class Commitment:
    """An offer to pay for every hour of a term at a share of the on-demand price of its first day.

    price_ratio : committed over on-demand price [1]
    years : term [years]
    """

    price_ratio: Any
    years: float

    def usd_per_used_hour(self, on_demand_usd_per_hour: Any, used_share: Any) -> Any:
        """As `committed_usd_per_used_hour`."""
        return committed_usd_per_used_hour(on_demand_usd_per_hour, self.price_ratio, used_share)

    def break_even_used_share(self, price_change_per_year: Any) -> Any:
        """As the function of this name."""
        return break_even_used_share(self.price_ratio, price_change_per_year, self.years)

    def value_usd(self, on_demand_usd_per_hour: Any, used_share: Any, change: Any) -> Any:
        """As `commitment_value_usd`.

        >>> round(Commitment(0.6, 1.0).value_usd(4.0, 0.8, -0.5))
        -804
        """
        listed = on_demand_usd_per_hour, self.price_ratio, used_share
        return commitment_value_usd(*listed, change, self.years)

    def choice(
        self, on_demand_usd_per_hour: Any, used_share: Any, change: Any, loose: Any
    ) -> Choice:
        """To commit, or to pay on demand for the hours used, by what the term costs an accelerator
        [USD]. Nobody knows how much it will be used, nor by how much prices on demand will miss the
        change that is expected.

        loose : whether they may [truth value]

        >>> from scaleright.quantity import given
        >>> sure = Commitment(0.6, 1.0).choice(given("price", 4.0), given("load", 0.8), 0.0, True)
        >>> round(sure.other.value - sure.cost.value), 0.5 < sure.probability.value < 1
        (7013, True)
        """
        ahead, ends = load_and_rent(used_share, loose)
        drift = yearly_drift().mean_over(self.years)
        ends |= {RENT: Ends(ahead, *(where(loose, end, 1.0) for end in drift))}
        hours = self.years * HOURS_PER_YEAR
        committed = on_demand_usd_per_hour * self.price_ratio * hours
        mean = on_demand_usd_per_hour * mean_price_over_first(change, self.years) * ahead
        return Choice.of(committed, mean * used_share * hours, ends, rent_ahead=1.0)


def _mtbf_s(interruptions_per_hour):
    """Mean time between interruptions [s]; infinite where there are none."""
    some = interruptions_per_hour > 0
    return where(some, SECONDS_PER_HOUR / where(some, interruptions_per_hour, 1.0), INFINITY)


def _over(price, share):
    """A price over a share; infinite where nothing is left of it."""
    return where(share > 0, price / where(share > 0, share, 1.0), INFINITY)


@closed_form(
    spot_usd_per_hour=POSITIVE,
    interruptions_per_hour=RATE,
    checkpoint_s=NON_NEGATIVE,
    interval_s=SPAN,
    restart_s=NON_NEGATIVE,
)
def spot_usd_per_useful_hour(
    spot_usd_per_hour, interruptions_per_hour, checkpoint_s, interval_s, restart_s
):
    """What an hour of work that is kept costs on spot capacity, for a job that checkpoints [USD/h].

    Parameters
    ----------
    spot_usd_per_hour : price while it runs [USD/h]
    interruptions_per_hour : mean rate at which the capacity of the job is taken away [1/h]
    checkpoint_s, interval_s : see `training.goodput.useful_share` [s]
    restart_s : paid time from new capacity until work goes on; waiting for capacity costs time, not
        money [s]

    >>> spot_usd_per_useful_hour(1.0, 0.0, 0.0, 1800.0,
    ...     300.0), round(spot_usd_per_useful_hour(1.0, 0.1, 60.0, 1800.0, 300.0), 3)
    (1.0, 1.069)
    """
    return _over(
        spot_usd_per_hour,
        useful_share(interval_s, checkpoint_s, restart_s, _mtbf_s(interruptions_per_hour)),
    )


@closed_form(spot_usd_per_hour=POSITIVE, interruptions_per_hour=RATE, restart_s=NON_NEGATIVE)
def spot_usd_per_serving_hour(spot_usd_per_hour, interruptions_per_hour, restart_s):
    """What an hour of serving costs on spot capacity, for a service that keeps no state and only
    restarts [USD/h].

    >>> round(spot_usd_per_serving_hour(1.0, 0.5, 600.0), 3)
    1.087
    """
    return _over(spot_usd_per_hour, available_share(restart_s, _mtbf_s(interruptions_per_hour)))


@closed_form(price_ratio=SPOT_RATIO, restart_s=POSITIVE)
def break_even_interruptions(price_ratio, restart_s):
    """Interruptions an hour above which a service without state is cheaper on demand than on spot
    [1/h].

    Parameters
    ----------
    price_ratio : spot over on-demand price [1]
    restart_s : paid time to restart [s]

    0 where spot is not cheaper to begin with.

    >>> round(break_even_interruptions(0.5, 600.0), 2), break_even_interruptions(4000.0, 600.0)
    (4.16, 0.0)
    """
    return where(price_ratio < 1, -log(price_ratio) * SECONDS_PER_HOUR / restart_s, 0.0)
