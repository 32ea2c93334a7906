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

from scaleright.formulas import (
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Domain,
    closed_form,
)
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
