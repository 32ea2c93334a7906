"""Tiers of models as a reader chooses them: how often each is right by published scores, what an
answer costs at an API or on rented accelerators, and how long it takes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

from scaleright.catalog import fact, remembered, table
from scaleright.costs.token_offers import median_over, paid_tokens
from scaleright.costs.tokens import MILLION, request_usd, usd_per_million_tokens
from scaleright.decisions.routing import Check, Reached, Tier, Traffic, Way, alone, cascade, routed
from scaleright.formulas import lookup
from scaleright.inference.demand import SOME_HOURS, Busy, Demand, requests_of
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import AtPace, Engines, NodeSpeed, at_pace, node_speed
from scaleright.inference.traffic import HOURS
from scaleright.market import (
    BEST,
    CheapestAccelerator,
    Hosts,
    Hours,
    PaidHour,
    asked_tokens,
    closed_models,
)
from scaleright.market.hours import MEDIAN
from scaleright.ops import first_case, maximum, where
from scaleright.quantity import Quantity, Table, given

NAMES = ("small", "medium", "large")
LEVELS = ("easy", "medium", "hard")
API, RENTED = "API", "rented"
VERDICT_TOKENS = 10.0
"""Tokens in which a check says whether an answer is right."""
STEPS = (("small", "medium"), ("small", "large"), ("medium", "large"), NAMES)
"""The cascades of three tiers."""


@remembered
def success_rates() -> Mapping[str, Mapping[str, float]]:
    """Success rate of each scored model at each level of difficulty [1].

    >>> rates = success_rates()["Llama-3.1-8B"]
    >>> rates["easy"] > rates["medium"] > rates["hard"]
    True
    """
    scores = table("model_scores").set_index(["model", "level"])["score"] / 100
    return {of: {level: round(float(scores[of, level]), 4) for level in LEVELS} for of in _scored()}


def _scored() -> list[str]:
    return [*dict.fromkeys(table("model_scores")["model"])]


@remembered
def benchmarks() -> Mapping[str, str]:
    """The benchmark of each level of difficulty."""
    return dict(table("model_scores")[["level", "benchmark"]].drop_duplicates("level").to_numpy())


@lookup
def level_shares(easy: Any, hard: Any) -> list[Any]:
    """Shares of easy, medium and hard requests [1].

    hard : share of hard ones among those that are not easy [1]

    >>> level_shares(0.6, 0.25)
    [0.6, 0.30000000000000004, 0.1]
    """
    others = 1 - easy
    return [easy, others - others * hard, others * hard]


@lookup
def scaled_rates(published: Sequence[Any], shares: Sequence[Any], own: Any) -> list[Any]:
    """Success rates of a tier by level, of which the reader may have measured the mean: then its
    published failures are all scaled by one factor.

    own : share of all requests that it gets right, 0 for what the published rates give [1]

    >>> scaled_rates([0.8, 0.4], [0.5, 0.5], 0.8)
    [0.9, 0.7]
    """
    mean = sum((share * rate for share, rate in zip(shares, published, strict=True)), 0.0)
    factor = where(own > 0, (1 - own) / (1 - mean), 1.0)
    scaled = [maximum(1 - factor * (1 - rate), 0.0) for rate in published]
    return [where(own > 0, of, rate) for of, rate in zip(scaled, published, strict=True)]


def require_rising(rates: Sequence[Sequence[float]]) -> None:
    """Refuse tiers of which a larger one is less often right.

    Parameters
    ----------
    rates : of each tier by level [1]

    Raises
    ------
    ValueError : with the level, both rates and what would work.
    """
    for place, of in enumerate(LEVELS):
        for small in range(len(rates) - 1):
            below, above = rates[small][place], rates[small + 1][place]
            if above < below:
                raise ValueError(
                    f"success rates fall with size: of {of} requests the {NAMES[small]} tier"
                    f" gets {100 * below:.3g} % right and the {NAMES[small + 1]} one"
                    f" {100 * above:.3g} %;"
                    " a request must not be sent on to a model that fails it more often, so choose"
                    " another model for one of them or give your own rates"
                )


LEAST_SHARE = 1e-6
"""Share of requests that is taken to reach a tier which none does, where it costs nothing [1]."""


@dataclass(frozen=True)
class OwnTier:
    """A tier at an API, on rented accelerators, or wherever it costs less.

    at_api : the tier at the API
    api, rented : whether it is to be there, or on rented ones; wherever it is cheaper if neither
        [truth value]
    accelerator, contract, hour : that would be rented, under which contract, and its price
    many : accelerators of which this one is the cheapest for the tier [1]
    able : whether it can be rented at all [truth value]
    engines, served : of the models and accelerators, and the tier's model and accelerator
    load, pace : requests, and tokens a second that each reader gets [token/s]
    demand : the traffic, if it is known
    as_set : utilization where it is not [1]
    """

    at_api: Tier
    api: Any
    rented: Any
    accelerator: Any
    contract: Any
    hour: PaidHour
    able: Any
    engines: Engines
    served: tuple[Any, Any]
    load: Load
    pace: Any
    demand: Demand
    as_set: Any
    many: Any = 1

    def speed(self, share: Any = 1.0) -> NodeSpeed:
        """The engine that serves such a share of all requests."""
        part, at = self.demand.part(share), self._at_pace
        return node_speed(self.engines, *self.served, "usual", self.load, self.pace, part, at)

    @cached_property
    def _at_pace(self) -> AtPace:
        """Those that keep the pace, of which traffic takes one."""
        row = self.engines.rows.row(*self.served, "usual")
        return at_pace(row, self.load, self.pace, self.demand)

    def busy(self, share: Any = 1.0, speed: NodeSpeed | None = None) -> Busy:
        """How busy the engines are that serve such a share of all requests; of a part by some
        hours of the day.

        speed : of these engines, where it is known
        """
        hours = SOME_HOURS if isinstance(share, Quantity) else HOURS
        engine = (speed or self.speed(share)).seated
        return self.demand.part(share).busy(engine, self.load, self.as_set, hours)

    def on_engines(self, share: Any) -> Tier:
        """The tier on rented accelerators, where such a share of all requests reaches it; NaN where
        it cannot be there.
        """
        some = maximum(share, LEAST_SHARE)
        speed, answer = self.speed(some), self.load.output_tokens
        busy = self.busy(some, speed)
        usd = usd_per_million_tokens(self.hour.usd, speed.tokens_per_s, busy.share)
        return Tier(
            where(self.able, usd * answer / MILLION, float("nan")),
            speed.ttft_s + answer * speed.tpot_s,
        )

    def asks(self, share: Any, own: Tier | None = None) -> Any:
        """Whether the API answers such a share of all requests [truth value].

        own : the tier `on_engines`, where it is known
        """
        own = own or self.on_engines(share)
        return where(self.rented, False, self.api | ~(own.usd < self.at_api.usd))

    def at(self, share: Any) -> Tier:
        """The tier where such a share of all requests reaches it."""
        own = self.on_engines(share)
        asks = self.asks(share, own)
        return Tier(*(where(asks, of, it) for of, it in zip(self.at_api, own, strict=True)))


class AskedTier(NamedTuple):
    """What the API of a tier asks [USD / 1e6 token], of the cheapest host of open weights for its
    requests, whose prices that is and of which days, in words, whether its maker alone serves it,
    and what the median of its hosts asks over that [1].
    """

    input: Any
    output: Any
    counted: Any
    age: Any
    closed: Any
    median_over: Any


class Served(NamedTuple):
    """How a tier is served: what an answer costs and takes if all requests reach it, the tier for
    any share of them, what it costs to have the model read a
    prompt and an answer at the API [USD], whether and why not it can be served so, and its row of
    what APIs ask.
    """

    tier: Tier
    own: OwnTier
    reading_usd: Any
    there: Any
    why: Any
    asked: AskedTier


@dataclass(frozen=True)
class Tiers:
    """What tiers may be chosen from.

    listed : by model, see `market.asked_tokens`, and whether its maker alone serves it (closed)
    hosts : what each host of the others asks
    rates : success rates by model, see `success_rates`
    engines : of the models on the accelerators; a model that its maker alone serves has those of
        another, which nobody reads
    hours : what an hour of each accelerator costs
    """

    listed: Table
    hosts: Hosts
    rates: Table
    engines: Engines
    hours: Hours

    @classmethod
    def of(cls, models: Iterable[str], accelerators: Sequence[str]) -> Self:
        """Those of some models, one of them with open weights, on some accelerators.

        >>> some = Tiers.of(["gpt-4.1", "Llama-3.1-8B"], ["H100 SXM"])
        >>> [some.listed.row(model).closed.value for model in ("gpt-4.1", "Llama-3.1-8B")]
        [True, False]
        """
        every = [*dict.fromkeys(models)]
        closed = {model: model in closed_models() for model in every}
        stand_in = next(model for model in every if not closed[model])
        shapes = {model: stand_in if closed[model] else model for model in every}
        return cls(
            Table({model: asked_tokens(model) | {"closed": closed[model]} for model in every}),
            Hosts(every),
            Table({model: success_rates()[model] for model in every}),
            Engines.of(shapes, accelerators, formats=()),
            Hours(accelerators),
        )

    def traffic(self, case: Any) -> Traffic:
        """How hard the requests of a case are, and how often each tier is right."""
        shares = level_shares(case.easy_share, case.hard_share)
        found = []
        for tier in NAMES:
            row = self.rates.row(getattr(case, tier))
            own = getattr(case, f"{tier}_right")
            found.append(scaled_rates([row[level] for level in LEVELS], shares, own))
        return Traffic(shares, found, case.nested)

    def asked(self, case: Any, model: Any) -> AskedTier:
        """What the API of a model asks for a case's requests: its maker, or the host that is
        cheapest for them; the median of hosts where none says that it takes requests so long.
        """
        row, request = self.listed.row(model), (case.input_tokens, case.output_tokens, 0.0)
        at = paid_tokens(self.hosts, model, BEST, request)
        found = at.input.usd, at.output.usd, at.counted, at.age
        listed = row.input, row.output, row.counted, row.age
        chosen = at.there & ~row.closed
        usd = [where(chosen, *pair) for pair in zip(found, listed, strict=True)]
        over = where(chosen, median_over(at, request), 1.0)
        return AskedTier(*usd, closed=row.closed, median_over=over)

    def hour(self, case: Any) -> PaidHour:
        """What an hour of the case's accelerator costs, at the median of all who rent it out so."""
        of = case.accelerator, case.contract, MEDIAN
        return self.hours.paid(*of, case.rent_usd_per_hour)

    def own(self, case: Any, tier: str, accelerator: Any) -> OwnTier:
        """A tier of a case that may be served on an accelerator, under the cheapest contract if the
        case leaves it open.
        """
        model, on, pace = (getattr(case, f"{tier}{of}") for of in ("", "_on", "_pace"))
        tokens, asked = (case.input_tokens, case.output_tokens), self.asked(case, model)
        here = {"accelerator": accelerator, "seller": MEDIAN}
        case = self.hours.taken(SimpleNamespace(**vars(case) | here))
        hour = self.hour(case)
        usd = request_usd(*tokens, 0.0, asked.input, asked.output, asked.input).total
        return OwnTier(
            Tier(usd, case.first_token_s + case.output_tokens / pace),
            on == API,
            on == RENTED,
            accelerator,
            case.contract,
            hour,
            where(asked.closed, False, hour.why == ""),
            self.engines,
            (model, accelerator),
            requests_of(case.traffic, *tokens),
            pace,
            Demand.of(case, case.contract),
            case.utilization,
        )

    def cheapest(self, case: Any, tier: str) -> OwnTier:
        """A tier of a case on the accelerator that it names, or if that is `BEST` on the one on
        which the tier costs least if all requests reach it.
        """
        names, chip = self.hours.names, given("chip", self.hours.names[0])
        usd = self.own(case, tier, chip).on_engines(1.0).usd
        of = case.accelerator, chip, names, usd, f"{tier}_rented"
        taken, many = CheapestAccelerator.of(*of, name=f"{tier}_accelerator")
        return replace(self.own(case, tier, taken), many=many)

    def served(self, case: Any, tier: str) -> Served:
        """A tier of a case: at the API, on rented accelerators that keep its pace, or where it is
        cheaper.
        """
        own, model = self.cheapest(case, tier), getattr(case, tier)
        asked = self.asked(case, model)
        tokens = case.input_tokens + case.output_tokens
        unserved = [
            (~own.rented, ""),
            (asked.closed, "its maker alone serves it, so it cannot be rented"),
            (own.hour.why != "", own.hour.why),
        ]
        why = first_case(unserved, own.speed().why_not)
        return Served(
            own.at(1.0),
            own,
            request_usd(tokens, VERDICT_TOKENS, 0.0, asked.input, asked.output, asked.input).total,
            why == "",
            where(why == "", "", model + ": " + why),
            asked,
        )


@lookup
def ways_of(
    traffic: Traffic,
    tiers: Sequence[Reached] | Mapping[str, Mapping[int, Reached]],
    check: Check,
    router: Check,
) -> dict[str, Way]:
    """Every way through three tiers by its name: each alone, each cascade one after another and at
    once, and each choice of a router.

    tiers : by their places; or those of each way, by its name

    >>> traffic, tier = Traffic([1.0], [[0.5], [0.6], [0.7]], 0.0), Tier(1.0, 1.0)
    >>> check = Check(0.8, 0.2, 0.0, 0.0)
    >>> len(ways_of(traffic, [tier] * 3, check, check))
    15
    """
    found = {}
    for name, (said, places) in _ways().items():
        some = tiers[name] if isinstance(tiers, Mapping) else tiers
        of = {place: some[place] for place in places}
        if said is None:
            found[name] = alone(traffic, *places, of[places[0]])
        elif said is by_router:
            found[name] = routed(traffic, of, router)
        else:
            found[name] = cascade(traffic, of, check, at_once=said is together)
    return found


@lookup
def places_of(name: str) -> tuple[int, ...]:
    """The places of the tiers of a way.

    >>> places_of("small, then large"), places_of("all at once")
    ((0, 2), (0, 1, 2))
    """
    return _ways()[name][1]


def _ways() -> dict[str, tuple[Callable[[Sequence[str]], str] | None, tuple[int, ...]]]:
    """The ways by name: what words each kind, None for a tier alone, and the places of tiers."""
    found: dict[str, Any] = {f"{of} alone": (None, (place,)) for place, of in enumerate(NAMES)}
    for said in (one_by_one, together, by_router):
        found |= {said(of): (said, tuple(map(NAMES.index, of))) for of in STEPS}
    return found


@lookup
def one_by_one(steps: Sequence[str]) -> str:
    """What a cascade of tiers is called.

    >>> one_by_one(("small", "large")), together(("small", "large")), by_router(NAMES)
    ('small, then large', 'small + large', 'router of all')
    """
    return "all, one by one" if len(steps) == len(NAMES) else ", then ".join(steps)


@lookup
def together(steps: Sequence[str]) -> str:
    """What tiers that start at once are called."""
    return "all at once" if len(steps) == len(NAMES) else " + ".join(steps)


@lookup
def by_router(steps: Sequence[str]) -> str:
    """What a router's choice among tiers is called."""
    return "router of all" if len(steps) == len(NAMES) else "router " + "/".join(steps)


@lookup
def router_of(accuracy: Any) -> Check:
    """A router that is right about so many requests [1], at a published price and in no time."""
    price = fact("router_usd_per_million_requests") / MILLION
    return Check(accuracy, 1 - accuracy, price, 0.0)
