"""Deployment Decision Tree (F10): the branch a case takes in S2's tree, with the computed money of each branch."""

from __future__ import annotations

from scaleright.costs.ownership import Ownership
from scaleright.costs.rent import rent_usd_per_year
from scaleright.decisions.capex_opex import source_rule
from scaleright.decisions.verdict import Verdict
from scaleright.units import MONTHS_PER_YEAR, usd

SOURCE = "S2, Deployment Decision Tree"


def source_branch(hours_per_day: float, months: float, accelerators: int, sensitive_data: bool, many_regions: bool) -> str:
    """The branch that S2's tree takes; data that must not leave comes first, then regions, then size, then hours.

    The document gives no order; this one puts what forbids before what merely costs. Arguments as in `deployment`,
    and the months for which the accelerators are needed.

    >>> source_branch(3, 24, 1, False, False), source_branch(5, 24, 1, True, False)
    ('rent', 'on premises')
    """
    if sensitive_data:
        return "on premises"
    if many_regions:
        return "multi-cloud"
    return source_rule(hours_per_day, months, accelerators)


def deployment(
    ownership: Ownership, rents_usd_per_hour: list[float], hours_per_day: float, accelerators: int = 1,
    sensitive_data: bool = False, many_regions: bool = False,
) -> Verdict:
    """Where to run: rented at the middle listing, arbitraged over clouds, or on premises, by yearly money.

    Parameters
    ----------
    ownership : terms of buying one accelerator
    rents_usd_per_hour : what different clouds ask for one accelerator [USD/h]; the spread is what arbitrage earns
    hours_per_day : mean hours of use a day [h/day]
    accelerators : how many are needed [1]
    sensitive_data : the data must not leave the house: every rented branch is ruled out
    many_regions : the load must run in several regions: on premises is ruled out

    Raises
    ------
    ValueError : no rent is given, or the two constraints exclude every branch.

    >>> deployment(Ownership.typical("RTX 4090", "home"), [0.18, 0.35], hours_per_day=1.0).what
    'multi-cloud'
    """
    if not rents_usd_per_hour:
        raise ValueError("deployment: rents_usd_per_hour is empty; give at least one listing in USD/h")
    if sensitive_data and many_regions:
        raise ValueError("deployment: sensitive_data rules out every cloud and many_regions rules out on premises; relax one")
    ordered = sorted(rents_usd_per_hour)
    middle = ordered[len(ordered) // 2]
    bills = {
        "rent": rent_usd_per_year(middle, hours_per_day) * accelerators,
        "multi-cloud": rent_usd_per_year(ordered[0], hours_per_day) * accelerators,
        "on premises": ownership.owned_usd_per_year(hours_per_day).total * accelerators,
    }
    excluded = {"rent", "multi-cloud"} if sensitive_data else {"on premises"} if many_regions else set()
    what = min((name for name in bills if name not in excluded), key=bills.get)
    branch = source_branch(hours_per_day, ownership.years * MONTHS_PER_YEAR, accelerators, sensitive_data, many_regions)
    agrees = what == branch or {what, branch} == {"on premises", "buy"} or {what, branch} == {"rent", "multi-cloud"}
    cheapest_first = sorted(bills, key=bills.get)
    reasons = [f"{name}: {usd(bills[name])} a year{' (ruled out)' if name in excluded else ''}" for name in cheapest_first]
    if sensitive_data:
        extra = bills["on premises"] - bills["multi-cloud"]
        reasons.append(f"keeping the data in the house costs {usd(extra)} a year over the cheapest cloud")
    if len(ordered) > 1:
        reasons.append(f"clouds differ by a factor of {ordered[-1] / ordered[0]:.1f} for the same accelerator")
    numbers = {name: (bill, "USD/year") for name, bill in bills.items()}
    return Verdict("Where should it run?", what, tuple(reasons), numbers, SOURCE, branch, agrees)
