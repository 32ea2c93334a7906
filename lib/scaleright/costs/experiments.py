"""What a study of many small training runs costs: how many are trained to which end, how long a
cluster takes for them in whole waves, and what its hours go into.

Everything is a closed form of the hours of one run, which the book's one model of training gives.
"""

from dataclasses import dataclass
from typing import Any

from scaleright.formulas import (
    COUNT,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    Breakdown,
    Domain,
    closed_form,
    lookup,
    unchecked,
)
from scaleright.ops import ceil, floor, maximum, where
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_DAY

MOST_HALVINGS = 4
"""Times that runs are sorted out at most."""
SURVIVE = Domain(0.0, 1.0, (0.1, 0.9), open_low=True)
"""Share of the variants that goes on."""
HALVINGS = Domain(0.0, MOST_HALVINGS, (0.0, MOST_HALVINGS))
LOST = Domain(0.0, 0.9, (0.0, 0.5))
"""Share of something that is lost, which is never all of it."""
WIDTH = Domain(0.0, float("inf"), (0.1, 32.0), open_low=True)
"""Chips that one run takes."""
_NEARLY = 1e-9
"""How far above a whole number a count may lie by rounding alone."""


@lookup
def whole_above(count: Any) -> Any:
    """The smallest whole number not below a count, of which rounding is no part.

    >>> whole_above(30 * 0.1), whole_above(3.2)
    (3.0, 4.0)
    """
    return ceil(count - _NEARLY)


@closed_form(survive=SURVIVE, halvings=HALVINGS, reused=SHARE)
def halving_share(survive, halvings, reused=1.0):
    """Training of a study that sorts out the worse runs early, over that of one that trains all to
    the end [1].

    Each time, so many go on and train as many times longer, so that the first cut comes when a run
    has had `survive` to the power of the cuts of its tokens.

    Parameters
    ----------
    survive : share of the runs that goes on at each cut [1]
    halvings : cuts [1]
    reused : share of the training before a cut that those which go on need not repeat: 1 where
        they continue, 0 where they start anew because the learning rate had decayed [1]

    Source: successive halving with equal budgets a rung [jamieson2016, algorithm 1;
    li2018hyperband, section 3].

    >>> halving_share(0.5, 0.0), halving_share(0.5, 2.0), halving_share(0.5, 2.0, 0.0)
    (1.0, 0.5, 0.75)
    """
    return survive**halvings * (1 + halvings * (1 - survive * reused))


@closed_form(rung=HALVINGS, survive=SURVIVE, halvings=HALVINGS, reused=SHARE)
def rung_share(rung, survive, halvings, reused=1.0):
    """Share of a whole run that each run of a rung trains, the first being 0 [1]; 0 beyond the
    last cut.

    >>> [rung_share(float(k), 0.5, 2.0) for k in range(4)]
    [0.25, 0.25, 0.5, 0.0]
    """
    until = survive ** maximum(halvings - rung, 0.0)
    before = where(rung > 0, survive * reused, 0.0)
    return where(rung <= halvings, until * (1 - before), 0.0)


@closed_form(variants=COUNT, seeds=COUNT, rung=HALVINGS, survive=SURVIVE)
def rung_runs(variants, seeds, rung, survive):
    """Runs of a rung: of the variants that are left, each with all its seeds [1].

    >>> rung_runs(24, 3, 0.0, 0.5), rung_runs(24, 3, 2.0, 0.5), rung_runs(5, 1, 1.0, 0.5)
    (72.0, 18.0, 3.0)
    """
    return whole_above(variants * survive**rung) * seeds


# Arguments are checked once, by what takes all rungs.
_runs, _share = unchecked(rung_runs), unchecked(rung_share)


@closed_form(chips=COUNT, width=WIDTH)
def slots(chips, width):
    """Runs that so many chips hold at once, each on so many of them [1].

    >>> slots(16, 8.0), slots(8, 16.0), slots(8, 1 / 7)
    (2.0, 0.0, 56.0)
    """
    return floor(chips / width + _NEARLY)


@closed_form(
    variants=COUNT,
    seeds=COUNT,
    survive=SURVIVE,
    halvings=HALVINGS,
    reused=SHARE,
    failed=LOST,
    places=COUNT,
)
def whole_runs_in_turn(variants, seeds, survive, halvings, reused, failed, places):
    """How many times as long as one run a study takes on so many places: whole waves of each rung,
    which waits for the one before [1].

    Parameters
    ----------
    variants, seeds : configurations, and runs of each [1]
    survive, halvings, reused : see `halving_share` [1]
    failed : share of the runs that fail and are made again [1]
    places : runs at once, see `slots` [1]

    >>> whole_runs_in_turn(24, 2, 0.5, 0.0, 1.0, 0.0, 16.0)
    3.0
    >>> whole_runs_in_turn(24, 2, 0.5, 1.0, 1.0, 0.0, 16.0)  # three waves, then two, of half a run
    2.5
    """
    turns = 0.0
    for rung in range(MOST_HALVINGS + 1):
        share = _share(rung, survive, halvings, reused)
        if isinstance(share, float) and share == 0:
            continue  # known to be beyond the last cut
        runs = _runs(variants, seeds, rung, survive) / (1 - failed)
        turns = turns + whole_above(runs / places) * share
    return turns


@closed_form(variants=COUNT, seeds=COUNT, survive=SURVIVE, halvings=HALVINGS, reused=SHARE)
def whole_runs_trained(variants, seeds, survive, halvings, reused):
    """As many whole runs as a study trains, with those that are cut counted by what they had [1].

    >>> whole_runs_trained(24, 2, 0.5, 0.0, 1.0), whole_runs_trained(24, 2, 0.5, 1.0, 1.0)
    (48.0, 36.0)
    """
    trained = 0.0
    for rung in range(MOST_HALVINGS + 1):
        share = _share(rung, survive, halvings, reused)
        if isinstance(share, float) and share == 0:
            continue  # known to be beyond the last cut
        trained = trained + _runs(variants, seeds, rung, survive) * share
    return trained


@dataclass(frozen=True)
class StudyHours(Breakdown):
    """Chip-hours that are paid for a study, by what they go into [h].

    training : runs that count
    failures : runs that failed and were made again
    evaluation, loading : of both, on the same chips
    empty : places without a run: the last wave, and chips that no run fits on
    idle : between jobs
    term : the rest of a contract that binds, where nobody else uses it
    """

    training_hours: Any
    failures_hours: Any
    evaluation_hours: Any
    loading_hours: Any
    empty_hours: Any
    idle_hours: Any
    term_hours: Any


@closed_form(
    trained=COUNT,
    turns=POSITIVE,
    run_hours=POSITIVE,
    width=WIDTH,
    chips=COUNT,
    failed=LOST,
    evaluation=NON_NEGATIVE,
    loading=NON_NEGATIVE,
    idle=LOST,
    term_hours=NON_NEGATIVE,
)
def study_hours(
    trained, turns, run_hours, width, chips, failed, evaluation, loading, idle, term_hours=0.0
) -> StudyHours:
    """Chip-hours of a study on a cluster of its own, by parts.

    Parameters
    ----------
    trained, turns : see `whole_runs_trained` and `whole_runs_in_turn` [1]
    run_hours : of training of one whole run [h]
    width : chips of a run [1]
    chips : of the cluster, whole nodes [1]
    failed : share of the runs that fail and are made again [1]
    evaluation, loading : time of evaluating, and of waiting for data, over that of training [1]
    idle : share of the cluster's time between jobs [1]
    term_hours : how long the cluster is paid for at least [h]

    >>> hours = study_hours(48, 3.0, 10.0, 1.0, 16, 0.0, 0.1, 0.0, 0.0)
    >>> hours.training_hours, round(hours.evaluation_hours, 9), round(hours.total, 9)
    (480.0, 48.0, 528.0)
    """
    training = trained * run_hours * width
    failures = training * failed / (1 - failed)
    busy, each = training + failures, 1 + evaluation + loading
    held = turns * run_hours * each * chips
    between = held * idle / (1 - idle)
    return StudyHours(
        training_hours=training,
        failures_hours=failures,
        evaluation_hours=busy * evaluation,
        loading_hours=busy * loading,
        empty_hours=maximum(held - busy * each, 0.0),
        idle_hours=between,
        term_hours=maximum(term_hours * chips - held - between, 0.0),
    )


@closed_form(
    turns=POSITIVE, run_hours=POSITIVE, evaluation=NON_NEGATIVE, loading=NON_NEGATIVE, idle=LOST
)
def study_days(turns, run_hours, evaluation, loading, idle):
    """How long a study takes [d]; arguments as in `study_hours`.

    >>> round(study_days(2.0, 10.0, 0.1, 0.1, 0.0), 9)
    1.0
    """
    return turns * run_hours * (1 + evaluation + loading) / (1 - idle) / HOURS_PER_DAY


@dataclass(frozen=True)
class StudyCost(Breakdown):
    """What a study costs [USD]: hours of the chips by what they go into, storage, and people who
    wait.
    """

    training_usd: Any
    failures_usd: Any
    evaluation_usd: Any
    loading_usd: Any
    empty_usd: Any
    idle_usd: Any
    term_usd: Any
    storage_usd: Any
    waiting_usd: Any

    @property
    def machines_usd(self) -> Any:
        """Without the people [USD]."""
        return self.total - self.waiting_usd


@closed_form(
    training_hours=NON_NEGATIVE,
    failures_hours=NON_NEGATIVE,
    evaluation_hours=NON_NEGATIVE,
    loading_hours=NON_NEGATIVE,
    empty_hours=NON_NEGATIVE,
    idle_hours=NON_NEGATIVE,
    term_hours=NON_NEGATIVE,
    usd_per_hour=NON_NEGATIVE,
    storage=NON_NEGATIVE,
    days=NON_NEGATIVE,
    waiting=NON_NEGATIVE,
    pay_usd_per_year=NON_NEGATIVE,
)
def study_usd(
    training_hours,
    failures_hours,
    evaluation_hours,
    loading_hours,
    empty_hours,
    idle_hours,
    term_hours,
    usd_per_hour,
    storage=0.0,
    days=0.0,
    waiting=0.0,
    pay_usd_per_year=0.0,
) -> StudyCost:
    """Dollars of a study, by parts.

    Parameters
    ----------
    training_hours ... term_hours : chip-hours, see `study_hours` [h]
    usd_per_hour : price of an hour of a chip, with its power [USD/h]
    storage : cost of data and checkpoints over that of the chips [1]
    days : how long the study takes [d]
    waiting : people whose time it takes until it is done [1]
    pay_usd_per_year : of one of them [USD/year]

    >>> bill = study_usd(80.0, 5.0, 5.0, 0.0, 5.0, 5.0, 0.0, 2.0, 0.1, 36.525, 0.5, 100_000.0)
    >>> bill.training_usd, round(bill.storage_usd, 9), round(bill.waiting_usd, 6)
    (160.0, 20.0, 5000.0)
    """
    hours = (
        training_hours,
        failures_hours,
        evaluation_hours,
        loading_hours,
        empty_hours,
        idle_hours,
        term_hours,
    )
    paid = [part * usd_per_hour for part in hours]
    return StudyCost(
        *paid,
        storage_usd=sum(paid[1:], paid[0]) * storage,
        waiting_usd=days / DAYS_PER_YEAR * waiting * pay_usd_per_year,
    )
