"""Deployment Decision Tree (F10): the branch a case takes in Clarifai's tree, with the computed
money of each branch.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from scaleright.costs.break_even import rent_usd_per_year
from scaleright.costs.ownership import Ownership
from scaleright.decisions.capex_opex import source_rule
from scaleright.decisions.verdict import Verdict
from scaleright.ops import where
from scaleright.order import names_by
from scaleright.quantity import least
from scaleright.units import MONTHS_PER_YEAR, usd

SOURCE = "Clarifai's Deployment Decision Tree"


def source_branch(
    hours_per_day: float, months: float, accelerators: int, sensitive_data: bool, many_regions: bool
) -> str:
    """The branch that Clarifai's tree takes; data that must not leave comes first, then regions,
    then size, then hours.

    The document gives no order; this one puts what forbids before what merely costs. Arguments as
    in `deployment`, and the months for which the accelerators are needed.

    >>> source_branch(3, 24, 1, False, False), source_branch(5, 24, 1, True, False)
    ('rent', 'on premises')
    """
    if sensitive_data:
        return "on premises"
    if many_regions:
        return "multi-cloud"
    return source_rule(hours_per_day, months, accelerators)


def _ruled_out(sensitive_data: bool, many_regions: bool) -> set[str]:
    """The branches that a constraint excludes.

    Raises
    ------
    ValueError : the two constraints exclude every branch.
    """
    if sensitive_data and many_regions:
        raise ValueError(
            "deployment: sensitive_data rules out every cloud and many_regions rules out on"
            " premises; relax one"
        )
    if sensitive_data:
        return {"rent", "multi-cloud"}
    return {"on premises", "rent"} if many_regions else set()


def _reasons(bills: dict[str, float], excluded: set[str], sensitive_data: bool) -> list[str]:
    """What each branch costs, the cheapest first, and what keeping the data in the house does."""
    reasons = [
        f"{name}: {usd(bills[name])} a year{' (ruled out)' if name in excluded else ''}"
        for name in names_by(bills)
    ]
    if sensitive_data:
        extra = bills["on premises"] - min(bills["rent"], bills["multi-cloud"])
        reasons.append(
            f"keeping the data in the house costs {usd(extra)} a year over the cheapest cloud"
        )
    return reasons


def _agree(computed: Any, says: Any) -> Any:
    """Whether the computed branch is the document's, whose word for owning one machine is buy."""
    return computed == where(says == "buy", "on premises", says)


def branch_bills(
    ownership: Ownership,
    usd_per_hour: Any,
    cheapest_usd_per_hour: Any,
    hours_per_day: Any,
    moving_usd_per_year: Any,
    accelerators: Any = 1,
) -> dict[str, Any]:
    """A year of each branch [USD/year]; arguments as in `deployment`, quantities or numbers."""
    return {
        "rent": rent_usd_per_year(usd_per_hour, hours_per_day) * accelerators,
        "multi-cloud": rent_usd_per_year(cheapest_usd_per_hour, hours_per_day) * accelerators
        + moving_usd_per_year,
        "on premises": ownership.owned_usd_per_year(hours_per_day).total * accelerators,
    }


QUESTIONS: dict[str, dict[str, Any]] = {
    "nothing special": {},
    "data must stay in the house": {"sensitive_data": True},
    "several regions": {"many_regions": True},
    "eight accelerators": {"accelerators": 8},
    "all day": {"hours_per_day": 24.0},
    "an hour a day": {"hours_per_day": 1.0},
}
"""What Clarifai's tree asks about, one at a time."""


def tree(
    ownership: Ownership,
    usd_per_hour: Any,
    cheapest_usd_per_hour: Any,
    hours_per_day: Any,
    moving_usd_per_year: Any,
) -> pd.DataFrame:
    """The tree, question by question: the branch of the least bill and what the document says.

    Arguments as in `deployment`, quantities or numbers; the data that one accelerator moves.

    Returns
    -------
    case, computed, the tree says, agree, and a year of each branch [USD/year]; quantities but for
    the first
    """
    rows = []
    for question, change in QUESTIONS.items():
        of: dict[str, Any] = {"hours_per_day": hours_per_day, "accelerators": 1} | change
        limits = of.get("sensitive_data", False), of.get("many_regions", False)
        bills = branch_bills(
            ownership,
            usd_per_hour,
            cheapest_usd_per_hour,
            of["hours_per_day"],
            moving_usd_per_year * of["accelerators"],
            of["accelerators"],
        )
        excluded = _ruled_out(*limits)
        computed, _ = least({name: bills[name] for name in bills if name not in excluded})
        months = ownership.years * MONTHS_PER_YEAR
        says = source_branch(of["hours_per_day"], months, of["accelerators"], *limits)
        rows.append(
            {
                "case": question,
                "computed": computed,
                "the tree says": says,
                "agree": where(_agree(computed, says), "yes", "no"),
            }
            | bills
        )
    return pd.DataFrame(rows)


def deployment(
    ownership: Ownership,
    usd_per_hour: float,
    cheapest_usd_per_hour: float,
    hours_per_day: float,
    moving_usd_per_year: float,
    accelerators: int = 1,
    sensitive_data: bool = False,
    many_regions: bool = False,
) -> Verdict:
    """Where to run: rented in one place, chased to the cheapest cloud, or on premises, by yearly
    money.

    Parameters
    ----------
    ownership : terms of buying one accelerator
    usd_per_hour : rent of one accelerator where you are [USD/h]
    cheapest_usd_per_hour : the lowest rent that any cloud asks for it [USD/h]
    hours_per_day : mean hours of use a day [h/day]
    moving_usd_per_year : what following the cheapest cloud costs in data moved out [USD/year]
    accelerators : how many are needed [1]
    sensitive_data : the data must not leave the house: every rented branch is ruled out
    many_regions : the load must run in several regions: on premises and a single cloud are ruled
        out

    Raises
    ------
    ValueError : the two constraints exclude every branch.

    >>> deployment(Ownership.typical("RTX 4090", "home"), 0.35, 0.18, 1.0,
    ...     moving_usd_per_year=500.0).what
    'rent'
    """
    excluded = _ruled_out(sensitive_data, many_regions)
    bills = branch_bills(
        ownership,
        usd_per_hour,
        cheapest_usd_per_hour,
        hours_per_day,
        moving_usd_per_year,
        accelerators,
    )
    what = next(name for name in names_by(bills) if name not in excluded)
    branch = source_branch(
        hours_per_day, ownership.years * MONTHS_PER_YEAR, accelerators, sensitive_data, many_regions
    )
    agrees = _agree(what, branch)
    reasons = _reasons(bills, excluded, sensitive_data)
    reasons.append(
        f"the cheapest cloud asks {usd_per_hour / cheapest_usd_per_hour:.1f} times less; following"
        f" it costs {usd(moving_usd_per_year)} a year"
    )
    numbers = {name: (bill, "USD/year") for name, bill in bills.items()}
    return Verdict("Where should it run?", what, tuple(reasons), numbers, SOURCE, branch, agrees)
