"""How sure it is which of two chips is the better bet: what a ratio of two chips in MLPerf leaves
open, at odds of kinds of models that are the reader's own.
"""

from typing import Any

from scaleright.chapters.architecture_bets.bets import KINDS, Bets, costs_of, odds_of, of_chip
from scaleright.chapters.architecture_bets.regret import expected_cost
from scaleright.formulas import lookup
from scaleright.information import Choice, spread_between
from scaleright.ops import INFINITY, where
from scaleright.quantity import pick

NAN = float("nan")


@lookup
def bet_or_rival(found: Bets) -> Choice:
    """The bet or its rival, by what a year of the work is expected to cost [USD/year]; NaN where
    one of them was not measured on a kind of model that may come.

    Rents are those of a commitment, odds the reader's: neither has a spread.
    """
    case, odds = found.case, odds_of(found.case)

    def ratio(kind: str, end: str) -> Any:
        moved = costs_of(case, found.prices, found.meetings[kind], end)
        both = (of_chip({**found.costs, kind: moved}, chip) for chip in (case.bet, case.rival))
        bet, rival = (expected_cost(*odds, *costs) for costs in both)
        return bet / rival

    spreads = {
        f"gain on {words}": abs(spread_between(ratio(kind, "low"), ratio(kind, "high")))
        for kind, words in KINDS.items()
    }
    yearly = [pick(found.expected, chip) for chip in (case.bet, case.rival)]
    bet, rival = (where(of < INFINITY, case.spend_usd_per_year * of, NAN) for of in yearly)
    return Choice(bet, rival, spreads)
