"""Use the Smallest Thing That Works (F9): when starting with a small model and sending on what
fails is cheaper than one large model, in closed form.

A request is right at a tier with that tier's success rate, by the difficulty of the request. Two
tiers fail together for two reasons: hard requests are hard for both, which the levels of difficulty
carry, and within a level one request may be harder than another. For the latter a share `nested` of
requests is ranked by one difficulty that all tiers share (whatever a small tier solves a larger one
solves too); of the rest tiers fail independently. `nested_share` reads it from published outcomes.

A check looks at an answer and flags it: so many wrong ones (`caught`), so many right ones
(`false_alarm`). A flagged answer goes to the next tier; the last tier's answer is kept as it is.
A router decides in the same way, but on the request alone and before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any, NamedTuple, Protocol, Self

from scaleright.formulas import NON_NEGATIVE, POSITIVE, SHARE, Domain, closed_form, lookup
from scaleright.ops import INFINITY, maximum, minimum, sqrt, where

SOURCE = "Clarifai's Use-the-Smallest-Thing-That-Works"
_ODDS = Domain(0.0, INFINITY, (1.1, 50.0), open_low=True)
_OPEN = Domain(0.0, 1.0, (0.05, 0.95))


@closed_form(caught=_OPEN, false_alarm=_OPEN)
def check_odds(caught, false_alarm):
    """How well a check tells wrong from right: the odds that it flags a wrong answer over the odds
    that it flags a right one [1]; 1 is chance.

    Unlike either rate it stays the same where the threshold moves, to the accuracy of a logistic
    curve [moses1993].

    Parameters
    ----------
    caught : share of wrong answers that are flagged [1]
    false_alarm : share of right answers that are flagged [1]

    >>> round(check_odds(0.8, 0.2), 9)
    16.0
    """
    return caught * (1 - false_alarm) / ((1 - caught) * false_alarm)


@closed_form(false_alarm=SHARE, odds=_ODDS)
def caught_at(false_alarm, odds):
    """Share of wrong answers that a check flags at a threshold where it flags so many right ones
    [1]; arguments as in `check_odds`.

    >>> round(caught_at(0.2, 16.0), 9), caught_at(0.0, 16.0), caught_at(1.0, 16.0)
    (0.8, 0.0, 1.0)
    """
    return odds * false_alarm / (1 - false_alarm + odds * false_alarm)


@closed_form(small=SHARE, large=SHARE, nested=SHARE)
def lost_share(small, large, nested):
    """Share of requests of one difficulty that a small tier alone gets right, of two [1].

    Parameters
    ----------
    small, large : success rates [1]
    nested : share of requests of which the better tier solves whatever the other does [1]

    >>> round(lost_share(0.6, 0.8, 0.0), 3), lost_share(0.6, 0.8, 1.0)
    (0.12, 0.0)
    """
    return nested * maximum(small - large, 0.0) + (1 - nested) * small * (1 - large)


@closed_form(small=SHARE, large=SHARE, nested=SHARE)
def gained_share(small, large, nested):
    """Share of requests of one difficulty that the large tier alone gets right [1]; arguments as in
    `lost_share`.

    >>> round(gained_share(0.6, 0.8, 0.0), 3), round(gained_share(0.6, 0.8, 1.0), 3)
    (0.32, 0.2)
    """
    return nested * maximum(large - small, 0.0) + (1 - nested) * (1 - small) * large


@closed_form(small=_OPEN, large=_OPEN, only_small=SHARE)
def nested_share(small, large, only_small):
    """Share of requests whose failures are nested [1], from a published count: below 0 the small
    tier rescues more than independent failures would let it.

    Parameters
    ----------
    small, large : success rates, the small one's the lower [1]
    only_small : share of requests that only the small tier got right [1]

    >>> round(nested_share(0.6, 0.8, 0.06), 9)
    0.5
    """
    return 1 - only_small / (small * (1 - large))


PAIR = dict.fromkeys(("small_usd", "check_usd"), NON_NEGATIVE)
PAIR |= dict.fromkeys(("large_usd", "after_usd"), POSITIVE)
_FLAGS = {"false_alarm": SHARE, "caught": SHARE}


@closed_form(small=SHARE, **_FLAGS)
def kept_share(small, caught, false_alarm):
    """Share of answers of the small tier that a check lets pass [1].

    >>> round(kept_share(0.6, 0.8, 0.2), 9)
    0.56
    """
    return small * (1 - false_alarm) + (1 - small) * (1 - caught)


@closed_form(small=SHARE, **_FLAGS, **PAIR)
def saved_usd(small, caught, false_alarm, small_usd, check_usd, large_usd, after_usd):
    """Money that starting small saves a request over the large tier alone, errors not counted
    [USD]: below 0 one large model is cheaper; at one price of large answers that is where
    (small + check) / large > share kept.

    Parameters
    ----------
    small : success rate of the small tier [1]
    caught, false_alarm : of the check, see `check_odds`
    small_usd, check_usd, large_usd : prices of an answer and of a check [USD]
    after_usd : price of a large answer where only flagged requests reach that tier: dearer than
        `large_usd` on own engines, which then have less to do [USD]

    >>> round(saved_usd(0.6, 0.8, 0.2, 1.0, 0.5, 10.0, 10.0), 9)
    4.1
    >>> round(saved_usd(0.6, 0.8, 0.2, 1.0, 0.5, 10.0, 20.0), 9)
    -0.3
    """
    sent = 1 - kept_share(small, caught, false_alarm)
    return large_usd - small_usd - check_usd - sent * after_usd


@closed_form(gained=SHARE, lost=SHARE, **_FLAGS)
def quality_lost(gained, lost, caught, false_alarm):
    """Share of requests that the large tier alone gets right and the cascade does not, less those
    where it is the other way round [1]; see `gained_share`.

    >>> round(quality_lost(0.3, 0.1, 0.8, 0.2), 9)
    -0.02
    """
    return (1 - caught) * gained - (1 - false_alarm) * lost


@closed_form(gained=SHARE, lost=SHARE, small=SHARE, **_FLAGS, **PAIR)
def error_usd_that_pays(
    gained, lost, small, caught, false_alarm, small_usd, check_usd, large_usd, after_usd
):
    """What a wrong answer may cost until one large model is cheaper than the cascade [USD].

    The cascade wins below it. It is infinite where the cascade is cheaper and no worse, and 0 where
    it is dearer and no better. Arguments as in `saved_usd` and `quality_lost`.

    >>> round(error_usd_that_pays(0.3, 0.05, 0.6, 0.8, 0.2, 1.0, 0.5, 10.0, 10.0), 9)
    205.0
    """
    saved = saved_usd(small, caught, false_alarm, small_usd, check_usd, large_usd, after_usd)
    worse = quality_lost(gained, lost, caught, false_alarm)
    some = where(worse > 0, worse, 1.0)
    return where(worse > 0, maximum(saved / some, 0.0), where(saved >= 0, INFINITY, 0.0 * worse))


@closed_form(
    odds=Domain(1.0, INFINITY, (1.1, 50.0), open_low=True),
    small=SHARE,
    gained=SHARE,
    lost=SHARE,
    large_usd=POSITIVE,
    error_usd=NON_NEGATIVE,
)
def best_false_alarm(odds, small, gained, lost, large_usd, error_usd):
    """Where to set the threshold of a check: the share of right answers that it should flag [1].

    Along the curve of `caught_at` the cost of a request, errors counted, is least where the slope
    of the curve is what a false alarm costs over what a catch brings. 0 is to keep every answer,
    1 to send every request on.

    Parameters
    ----------
    odds : of the check, see `check_odds`
    small : success rate of the small tier [1]
    gained, lost : shares of requests that only the large and only the small tier gets right [1],
        see `gained_share`
    large_usd : price of an answer of the large tier [USD]
    error_usd : what a wrong answer costs [USD]

    >>> round(best_false_alarm(16.0, 0.6, 0.3, 0.05, 0.01, 0.05), 3)
    0.237
    >>> best_false_alarm(16.0, 0.6, 0.3, 0.05, 0.01, 0.0)
    0.0
    """
    brings = error_usd * gained - (1 - small) * large_usd
    costs = small * large_usd + error_usd * lost
    some = where(brings > 0, brings, 1.0)
    best = (sqrt(odds * some / where(costs > 0, costs, 1.0)) - 1) / (odds - 1)
    within = where(costs > 0, minimum(maximum(best, 0.0), 1.0), 1.0)
    return where(brings > 0, within, 0.0 * best)


@closed_form(calls=SHARE, small_usd=POSITIVE, large_usd=POSITIVE)
def routed_saving(calls, small_usd, large_usd):
    """Share of the bill of the large tier alone that a router saves which sends it so many of the
    requests [1]; small_usd, large_usd : price of either [USD].

    >>> round(routed_saving(0.134, 0.24, 24.7), 3)
    0.858
    """
    return 1 - calls - (1 - calls) * small_usd / large_usd


# Ways through tiers of models (F9): what trying them one after another, at once or by a router
# costs, how often it is right and how long it takes, for any number of tiers.
#
# The closed forms of two tiers, and what a check, a router and nested failures are, stand in
# the other half of this module.


RARE = 0.95
"""Share of requests that are through after the time that is told beside the mean [1]."""


class Overlap(NamedTuple):
    """Shares of requests that a small and a large tier get right [1]: only the large one, and only
    the small one.
    """

    gained: Any
    lost: Any


class Stops(NamedTuple):
    """Where requests end.

    shares : of requests whose answer is that of each tier, in their order [1]
    right : share of answers that are right [1]
    """

    shares: tuple[Any, ...]
    right: Any


@lookup
def stops(rights: Sequence[Any], caught: Any, false_alarm: Any) -> Stops:
    """Where requests end that go on when flagged, if tiers are right so often and independently: 0
    or 1 for a request of which it is known.

    >>> [round(share, 3) for share in stops([0.6, 0.8], 0.8, 0.2).shares]
    [0.56, 0.44]
    """
    left: Any = 1.0
    shares, right = [], 0.0
    for rate in rights[:-1]:
        kept_right = left * rate * (1 - false_alarm)
        kept = kept_right + left * (1 - rate) * (1 - caught)
        shares.append(kept)
        right = right + kept_right
        left = left - kept
    return Stops((*shares, left), right + left * rights[-1])


def _mixed(parts: Sequence[tuple[Any, Stops]]) -> Stops:
    """Stops of a mixture of requests, each kind with its share."""
    (first, one), *others = parts
    shares, right = [first * share for share in one.shares], first * one.right
    for share, of in others:
        shares = [before + share * this for before, this in zip(shares, of.shares, strict=True)]
        right = right + share * of.right
    return Stops(tuple(shares), right)


@dataclass(frozen=True)
class Traffic:
    """How hard requests are, and how often each tier is right.

    shares : of requests of each level of difficulty, together 1 [1]
    rates : of each tier, from small to large, its success rate at each level [1]
    nested : share of requests whose failures are nested within a level [1], see
        `routing.lost_share`
    """

    shares: Sequence[Any]
    rates: Sequence[Sequence[Any]]
    nested: Any

    def right(self, tier: int) -> Any:
        """Share of all requests that a tier gets right [1]."""
        pairs = zip(self.shares, self.rates[tier], strict=True)
        return sum((share * rate for share, rate in pairs), 0.0)

    def pair(self, small: int, large: int) -> Overlap:
        """Shares of all requests that only one of two tiers gets right [1]."""
        both = [*zip(self.shares, self.rates[small], self.rates[large], strict=True)]
        return Overlap(
            sum((share * gained_share(*of, self.nested) for share, *of in both), 0.0),
            sum((share * lost_share(*of, self.nested) for share, *of in both), 0.0),
        )

    def rescued(self, small: int, large: int) -> Any:
        """Share of a tier's failures that a larger one gets right [1]."""
        wrong = 1 - self.right(small)
        return self.pair(small, large).gained / where(wrong > 0, wrong, 1.0)

    def stops(self, tiers: Sequence[int], caught: Any, false_alarm: Any) -> Stops:
        """Where requests end that try some tiers in this order.

        >>> traffic = Traffic([1.0], [[0.6], [0.8]], 1.0)
        >>> round(traffic.stops([0, 1], 1.0, 0.0).right, 3)
        0.8
        """
        flags = caught, false_alarm
        rights = [self.right(tier) for tier in tiers]
        edges = [0.0, *rights, 1.0]  # of the requests that the tiers from one on solve
        count = len(tiers)
        ranked = [
            (
                edges[place + 1] - edges[place],
                stops([float(i >= place) for i in range(count)], *flags),
            )
            for place in range(count + 1)
        ]
        apart = [
            (share, stops([self.rates[tier][level] for tier in tiers], *flags))
            for level, share in enumerate(self.shares)
        ]
        return _mixed([(self.nested, _mixed(ranked)), (1 - self.nested, _mixed(apart))])

    def reaching(self, tiers: Sequence[int], caught: Any, false_alarm: Any) -> tuple[Any, ...]:
        """Share of requests that reaches each of some tiers one after another [1]; what goes on
        from the first depends on no other.

        >>> traffic = Traffic([1.0], [[0.6], [0.8], [0.9]], 0.3)
        >>> [round(share, 3) for share in traffic.reaching([0, 1, 2], 0.8, 0.2)]
        [1.0, 0.44, 0.154]
        """
        sent = 1 - kept_share(self.right(tiers[0]), caught, false_alarm)
        later = self.stops(tiers, caught, false_alarm).shares[2:] if tiers[2:] else ()
        return (1.0, sent, *(sum(later[place:], 0.0) for place in range(len(later))))


class Tier(NamedTuple):
    """A tier: the price of an answer [USD] and how long it takes [s]."""

    usd: Any
    seconds: Any

    def at(self, share: Any) -> Self:
        """The same for whatever share of requests reaches it."""
        return self


class Reached(Protocol):
    """A tier of which price and time depend on the share of all requests that reaches it [1]: on
    own hardware whole engines are paid, however few come.
    """

    def at(self, share: Any) -> Tier:
        """It where so large a share does."""
        ...


@dataclass(frozen=True)
class Way:
    """A way to answer requests.

    usd : of a request [USD]
    right : share of requests answered right [1]
    seconds : mean time until the answer that is kept [s]
    late_s : after which 95 of 100 requests have it [s]
    shares : of requests whose answer is that of each of its tiers [1]
    reaching : share of requests that reaches each of them [1]
    """

    usd: Any
    right: Any
    seconds: Any
    late_s: Any
    shares: tuple[Any, ...]
    reaching: tuple[Any, ...] = ()

    def total_usd(self, error_usd: Any) -> Any:
        """Price of a request with what its error costs in expectation [USD].

        error_usd : what a wrong answer costs [USD]
        """
        return self.usd + error_usd * (1 - self.right)


def _way(found: Stops, spent: Sequence[Any], taken: Sequence[Any], reaching: Sequence[Any]) -> Way:
    """The way whose requests end so, having spent and taken so much at each end [USD], [s]."""
    usd, seconds, late = 0.0, 0.0, INFINITY
    for share, paid, waited in zip(found.shares, spent, taken, strict=True):
        usd, seconds = usd + share * paid, seconds + share * waited
        pairs = zip(found.shares, taken, strict=True)
        through = sum((where(other <= waited, of, 0.0) for of, other in pairs), 0.0)
        late = minimum(late, where(through >= RARE - 1e-9, waited, INFINITY))
    return Way(usd, found.right, seconds, late, found.shares, tuple(reaching))


def _so_far(values: Sequence[Any], join: Callable[[Any, Any], Any]) -> list[Any]:
    """Values joined with all before them."""
    found = [values[0]]
    for value in values[1:]:
        found.append(join(found[-1], value))
    return found


@dataclass(frozen=True)
class Check:
    """A check of answers, or a router of requests: see `routing.check_odds`; its price [USD] and
    time [s].
    """

    caught: Any
    false_alarm: Any
    usd: Any
    seconds: Any


@lookup
def alone(traffic: Traffic, tier: int, of: Reached) -> Way:
    """One tier for everything."""
    usd, seconds = of.at(1.0)
    return Way(usd, traffic.right(tier), seconds, seconds, (1.0,), (1.0,))


@lookup
def cascade(
    traffic: Traffic, tiers: Mapping[int, Reached], check: Check, at_once: bool = False
) -> Way:
    """Tiers from small to large, each after the answer of the one before was flagged.

    Parameters
    ----------
    tiers : by their place in the traffic, in their order
    at_once : all of them start together and are paid; the first answer that is not flagged is kept

    >>> traffic = Traffic([1.0], [[0.6], [0.8]], 0.0)
    >>> way = cascade(traffic, {0: Tier(1.0, 1.0), 1: Tier(10.0, 4.0)}, Check(0.8, 0.2, 0.5, 0.5))
    >>> round(way.usd, 3), round(way.right, 3), round(way.seconds, 3), way.late_s
    (5.9, 0.832, 3.26, 5.5)
    """
    flags = check.caught, check.false_alarm
    found, reaching = traffic.stops([*tiers], *flags), traffic.reaching([*tiers], *flags)
    reaching = (1.0,) * len(tiers) if at_once else reaching
    asked = [of.at(share) for of, share in zip(tiers.values(), reaching, strict=True)]
    checked = [Tier(of.usd + check.usd, of.seconds + check.seconds) for of in asked]
    checked[-1] = asked[-1]
    usd, seconds = zip(*checked, strict=True)
    add = lambda before, this: before + this
    spent = _so_far(usd, add)
    if at_once:
        return _way(found, [spent[-1]] * len(spent), _so_far(seconds, maximum), reaching)
    return _way(found, spent, _so_far(seconds, add), reaching)


@lookup
def routed(traffic: Traffic, tiers: Mapping[int, Reached], router: Check) -> Way:
    """A router that sends each request straight to the smallest tier that it trusts.

    >>> traffic = Traffic([1.0], [[0.6], [0.8]], 0.0)
    >>> way = routed(traffic, {0: Tier(1.0, 1.0), 1: Tier(10.0, 4.0)}, Check(0.6, 0.4, 0.0, 0.0))
    >>> round(way.usd, 3), round(way.right, 3)
    (5.32, 0.744)
    """
    flags = router.caught, router.false_alarm
    found, reaching = traffic.stops([*tiers], *flags), traffic.reaching([*tiers], *flags)
    sent = 1 - reaching[1], *found.shares[1:-1], reaching[-1]
    asked = [of.at(share) for of, share in zip(tiers.values(), sent, strict=True)]
    usd, seconds = zip(*asked, strict=True)
    spent, taken = [router.usd + of for of in usd], [router.seconds + of for of in seconds]
    return _way(found, spent, taken, sent)


@lookup
def frontier(ways: Mapping[str, Way], timed: bool = True) -> dict[str, Any]:
    """Whether nothing beats each way: no other is as cheap, as right and as quick, and better in
    one of the three [truth value].

    timed : whether time counts

    >>> best, worse = Way(1.0, 0.9, 1.0, 1.0, (1.0,)), Way(2.0, 0.8, 1.0, 1.0, (1.0,))
    >>> frontier({"best": best, "worse": worse})
    {'best': True, 'worse': False}
    """
    kept: dict[str, Any] = dict.fromkeys(ways, True)
    names = [*ways]
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            one, two = ways[name], ways[other]
            pairs = [(one.usd, two.usd), (two.right, one.right), (one.seconds, two.seconds)]
            ahead = [(left <= right, left >= right) for left, right in pairs[: 2 + timed]]
            no_worse, no_better = (reduce(and_, of) for of in zip(*ahead, strict=True))
            kept[other] = where(no_worse, no_better, True) & kept[other]
            kept[name] = where(no_better, no_worse, True) & kept[name]
    return kept
