"""How fast the chips of a bet serve the models that it is about, by the one model of serving, as
quantities of a reader's case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from scaleright.catalog import model, remembered
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.architecture_bets import RACKS, benchmarks, rents
from scaleright.inference.formats import USUAL
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.ops import where
from scaleright.quantity import choose, evaluate


@remembered
def engines() -> Engines:
    """The engines of the language models, by benchmark, on the chips that may be chosen.

    >>> engines().rows.row("deepseek-r1", "GB300", "usual")["chips 2"].value
    64.0
    """
    return Engines.of(_shapes(), tuple(rents().index), formats=())


def _shapes() -> dict[str, str]:
    """The shapes of the language models, by benchmark."""
    found = benchmarks()["model"]
    return dict(found[found != ""])


@dataclass(frozen=True)
class Served:
    """What the best engine of one node, or of one rack, of the bet and of its rival does with the
    model of a kind that the case names, by the one model of serving.

    within : whether the model was made for such lengths [truth value]
    """

    bet: NodeSpeed
    rival: NodeSpeed
    within: Any

    @classmethod
    def of(cls, kind: str, case: Any, limit_s: Any) -> Self:
        """That of a limit on the time of a token [s]; requests are those of the case."""
        name, load = getattr(case, kind), Load(case.input_tokens, case.output_tokens)
        limits = {of: {"tokens": model(shape).max_context} for of, shape in _shapes().items()}
        limit, length = choose(limits, name).tokens, load.input_tokens + load.output_tokens
        within = where(limit > 0, length <= limit, limit == 0)  # 0: not published

        known = engines()

        def speed(chip: Any) -> NodeSpeed:
            return node_speed(known, name, chip, USUAL, load, 1 / limit_s)

        return cls(speed(case.bet), speed(case.rival), within)

    def tokens_per_s(self, side: str) -> Any:
        """Output tokens of a chip of a side [token/s]; NaN where no engine keeps the limit."""
        return where(self.within, getattr(self, side).tokens_per_s, float("nan"))

    @property
    def share(self) -> Any:
        """What a chip of the rival does over one of the bet [1]; 0 where only the bet keeps the
        limit, NaN where it does not.
        """
        of_bet, of_rival = self.tokens_per_s("bet"), self.tokens_per_s("rival")
        either = where(self.rival.served, of_rival / of_bet, 0.0)
        return where(self.within & self.bet.served, either, float("nan"))


def served_table(case: Any, limit_s: float) -> pd.DataFrame:
    """What the best engine of each of the two chips does with each model within a limit on a token
    [s], and the price of its output tokens with their prompts, all paid hours used [USD / 1e6
    token].
    """
    rows = []
    for kind in ("mixture", "dense"):
        of = Served.of(kind, case, limit_s)
        for side in ("bet", "rival"):
            rate, engine = of.tokens_per_s(side), getattr(of, side)
            rent = getattr(case, f"{side}_usd_per_hour")
            row = {
                "model": getattr(case, kind),
                "chip": getattr(case, side),
                "chips of an engine": where(of.within, engine.chips, float("nan")),
                "tokens/s of a chip": rate,
                "price of a million": usd_per_million_tokens(rent, rate, 1.0),
                "format": where(of.within & engine.held, engine.precision, ""),
                "why not": where(of.within, engine.why_not, "too long for the model"),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def shares_on_racks(case: Any, limit_s: float) -> pd.DataFrame:
    """What a chip of a server does over one of a rack within a limit on a token [s], on each model
    with the requests of the case [1].
    """
    rack, server = RACKS[-1]
    shares = {kind: Served.of(kind, case, limit_s).share for kind in ("mixture", "dense")}
    sides, kinds = {"bet": rack, "rival": server}, benchmarks()["kind"]
    found = {
        name: evaluate([shares[kind]], sides | {kind: name})[0]
        for name, kind in kinds.items()
        if kind in shares
    }
    return pd.DataFrame(found.items(), columns=["model", f"{server} over {rack}"])
