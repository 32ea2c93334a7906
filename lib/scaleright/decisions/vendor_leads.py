"""How far the newer of two chips leads the older one in a case, as quantities that follow it, and
where over the speeds per user a claim on the lead holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scaleright.ops import where
from scaleright.quantity import at, least
from scaleright.quantity.graph import parameter


@dataclass(frozen=True)
class Lead:
    """Tokens of the newer chip over those of the older one, at one speed per user.

    tokens_per_s : of the newer chip [token/s]; NaN where it is not as fast
    per_chip, per_dollar, per_megawatt : times as many for the same use [1]; NaN where one of the
        two is not as fast
    """

    tokens_per_s: Any
    per_chip: Any
    per_dollar: Any
    per_megawatt: Any


@dataclass(frozen=True)
class OverSpeeds:
    """A lead over the speeds per user that both chips reach, as quantities that follow it.

    slow, slow_at : what it is at the slowest speed [1], and that speed [token/s]
    most, most_at : the most that it comes to [1], and the slowest speed at which it does [token/s]
    first, last : ends of the speeds at which a claim on it holds [token/s]; NaN if at none
    fastest : the fastest speed that both chips reach [token/s]
    """

    slow: Any
    slow_at: float
    most: Any
    most_at: Any
    first: Any
    last: Any
    fastest: Any


def over_speeds(lead: Any, speed: Any, speeds: Sequence[float], claimed: Any) -> OverSpeeds:
    """Where a lead that depends on the speed per user is greatest, and where a claim on it holds.

    Parameters
    ----------
    lead, speed : quantities, a lead [1] and the parameter on which it depends [token/s]
    speeds : to look at, the slowest first [token/s]
    claimed : how many times better the new chip is said to be [1]

    >>> from scaleright.quantity import given
    >>> speed = given("speed", 10.0)
    >>> found = over_speeds(speed / 2, speed, [10.0, 20.0, 80.0, 100.0], 10.0)
    >>> found.slow, found.most.value, found.most_at.value
    (5.0, 50.0, 100.0)
    >>> found.first.value, found.last.value
    (20.0, 100.0)
    """
    leads = {each: at(lead, **{parameter(speed) or "": each}) for each in speeds}

    def ends(least_lead: Any) -> tuple[Any, Any]:
        there = {each: where(of >= least_lead, each, np.nan) for each, of in leads.items()}
        _, slowest = least({f"{each}": found for each, found in there.items()})
        _, behind = least({f"{each}": -found for each, found in there.items()})
        return slowest, -behind

    _, behind = least({f"{each}": -of for each, of in leads.items()})
    slow, most = leads[speeds[0]], -behind
    return OverSpeeds(slow, speeds[0], most, ends(most)[0], *ends(claimed), ends(0.0)[1])
