"""How fast the chips of a bet serve the models that it is about, by the one model of serving, as
quantities of a reader's case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_
from typing import Any, Self

import pandas as pd

from scaleright.catalog import accelerator, model, remembered
from scaleright.chapters.architecture_bets.bets import Bets
from scaleright.chapters.architecture_bets.model import BETS, RACKS, benchmarks
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.inference.demand import UNKNOWN, Demand, requests_of
from scaleright.inference.formats import resolved
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.ops import first_case, where
from scaleright.quantity import choose, evaluate


@remembered
def engines() -> Engines:
    """The engines of the language models, by benchmark, on the chips to bet on.

    >>> engines().rows.row("deepseek-r1", "GB300", "usual")["chips 3"].value
    16.0
    """
    return Engines.of(_shapes(), BETS)


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
        name, demand = getattr(case, kind), Demand.unknown()
        load = requests_of(UNKNOWN, case.input_tokens, case.output_tokens)
        limits = {of: {"tokens": model(shape).max_context} for of, shape in _shapes().items()}
        limit, length = choose(limits, name).tokens, load.input_tokens + load.output_tokens
        within = where(limit > 0, length <= limit, limit == 0)  # 0: not published

        known = engines()

        def speed(chip: Any) -> NodeSpeed:
            return node_speed(known, name, chip, case.precision, load, 1 / limit_s, demand)

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


def refusal(case: Any) -> tuple[Any, Any]:
    """Whether one of the two does not serve a language model of the case in its format, and which
    and what to choose instead, in words.
    """
    reasons = []
    for kind, side in product(("mixture", "dense"), ("bet", "rival")):
        name, chip = getattr(case, kind), getattr(case, side)
        refused, instead = engines().weights(name, chip, case.precision).refusal
        reasons.append((refused, chip + " and " + name + " in " + case.precision + ": " + instead))
    return reduce(or_, (refused for refused, _ in reasons)), first_case(reasons, "")


def require_served(bet: str, rival: str, mixture: str, dense: str, precision: str) -> None:
    """Refuse a format in which one of two chips does not serve one of two models, by benchmark.

    Raises
    ------
    ValueError : see `formats.resolved`, which names the nearest.

    >>> require_served("GB300", "H200 SXM", "deepseek-r1", "llama3.1-405b", "NVFP4")
    Traceback (most recent call last):
    ValueError: H200 SXM does not serve DeepSeek-V3 in NVFP4; nearest: INT4; it serves it in BF16,
    FP8, INT8 or INT4
    """
    for name, chip in product((mixture, dense), (bet, rival)):
        resolved(model(_shapes()[name]), accelerator(chip), precision)


def served_table(found: Bets, limit_s: float) -> pd.DataFrame:
    """What the best engine of each of the two chips does with each model within a limit on a token
    [s], the price of its output tokens with their prompts, all paid hours used [USD / 1e6 token],
    and what its format costs in quality.
    """
    rows, case = [], found.case
    hours = dict(zip(("bet", "rival"), found.paid, strict=True))
    for kind in ("mixture", "dense"):
        of = Served.of(kind, case, limit_s)
        for side, hour in hours.items():
            rate, engine = of.tokens_per_s(side), getattr(of, side)
            row = {
                "model": getattr(case, kind),
                "chip": getattr(case, side),
                "chips of an engine": where(of.within, engine.chips, float("nan")),
                "tokens/s of a chip": rate,
                "price of a million": usd_per_million_tokens(hour.usd, rate, 1.0),
                "format": where(of.within & engine.held, engine.precision, ""),
                "quality": where(of.within & engine.held, engine.weights.quality, ""),
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
