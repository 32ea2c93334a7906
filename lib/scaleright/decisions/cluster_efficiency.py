"""How many chips a training run should take: the utilization efficiency curve and its optimum.

Every number of chips is weighed with every batch. More chips finish sooner; what they add to the
bill is communication that steps no longer hide, failures, and the tokens that a batch beyond the
critical one takes. The next chips stop paying where the day that they save costs more than it is
worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from scaleright.catalog import model, remembered
from scaleright.costs.cluster_grid import CLUSTERS, WAYS, Grid, chips_at, grid_of, steps_of
from scaleright.costs.fastest_steps import seconds_to_loss
from scaleright.costs.platforms import BATCHES, FREE, goodput, mtbf_hours
from scaleright.costs.pretraining import (
    RELIABILITY,
    cluster_chip,
    pretraining_usd,
    reliability,
    run_chip_hours,
)
from scaleright.costs.pretraining_run import LEAST_KEPT, Hour, Run, kept_share
from scaleright.costs.whole_runs import factors
from scaleright.formulas import COUNT, NON_NEGATIVE, Domain, closed_form, lookup
from scaleright.ops import first_case, floor, item, maximum, minimum, sqrt, where
from scaleright.quantity import choose, evaluate, given, look_up, over
from scaleright.quantity.graph import apply
from scaleright.quantity.lists import LIST, place_of_least
from scaleright.scaling_laws.batches import CRITICAL, published_batch, tokens_over_least
from scaleright.training.goodput import best_checkpoint_interval_s
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

# Waiting for chips of a cluster that others use as well


@closed_form(
    chips=COUNT,
    shared_chips=COUNT,
    load=Domain(0.0, 0.99, (0.01, 0.95)),
    job_days=NON_NEGATIVE,
)
def waiting_days(chips, shared_chips, load, job_days):
    """Days that a job waits on average until so many chips of a shared cluster are free [d].

    The cluster is taken for as many servers as jobs of this size fit on it, whose jobs arrive at
    random and take times that vary as those of a memoryless one: the larger the job, the fewer
    servers, and the longer the queue at the same load.

    Parameters
    ----------
    chips : of the job; a job larger than the cluster waits as one that takes all of it
    shared_chips : of the cluster
    load : share of the cluster that is busy [1]; 0 is no queue
    job_days : mean time for which a job holds its chips [d]

    Source: [sakasegawa1977], W = S rho^(sqrt(2(c + 1)) - 1) / (c (1 - rho)), exact for one server.

    >>> waiting_days(1024, 1024, 0.5, 3.0), round(waiting_days(64, 1024, 0.5, 3.0), 4)
    (3.0, 0.0132)
    >>> waiting_days(64, 1024, 0.0, 3.0)
    0.0
    """
    servers = maximum(floor(shared_chips / chips), 1.0)
    return job_days * load ** (sqrt(2 * (servers + 1)) - 1) / (servers * (1 - load))


LATE = 1e15
"""What is added to a way that misses the deadline, so that it is taken only where all do [USD]."""
NEVER = float("inf")
_MANY = len(BATCHES)
LAWS = ("Zhang 2024", "Step Law 2025", "DeepSeek 2024")
"""Laws of the batch that agree with how runs of today are made; they bound what nobody knows."""
SECONDS_PER_MINUTE = 60.0


@closed_form(
    usd=Domain(0.0, NEVER, (1e4, 1e8)),
    days=Domain(0.0, NEVER, (1.0, 1e3)),
    usd_per_day=Domain(0.0, NEVER, (1e2, 1e6)),
)
def cost_with_time(usd, days, usd_per_day):
    """What a run costs with the days that it takes [USD].

    Parameters
    ----------
    usd : of its chips [USD]
    days : until it is done [d]
    usd_per_day : what a day earlier is worth [USD/d]

    >>> cost_with_time(1e6, 30.0, 10_000.0)
    1300000.0
    """
    return usd + days * usd_per_day


@closed_form(
    usd=Domain(0.0, NEVER, (1e4, 1e8)),
    days=Domain(0.0, NEVER, (1.0, 1e3)),
    more_usd=Domain(0.0, NEVER, (1e4, 1e8)),
    fewer_days=Domain(0.0, NEVER, (1.0, 1e3)),
)
def usd_per_day_saved(usd, days, more_usd, fewer_days):
    """What each day costs that a larger cluster saves [USD/d]; below 0 where it also costs less,
    infinite where it saves none.

    Parameters
    ----------
    usd, days : of the run on fewer chips [USD], [d]
    more_usd, fewer_days : of the run on more [USD], [d]

    >>> usd_per_day_saved(1e6, 60.0, 1.1e6, 40.0), usd_per_day_saved(1e6, 60.0, 2e6, 60.0)
    (5000.0, inf)
    """
    saved = days - fewer_days
    some = saved > 0
    return where(some, (more_usd - usd) / where(some, saved, 1.0), NEVER)


@closed_form(
    chip_hours=Domain(0.0, NEVER, (1e4, 1e8)),
    chips=Domain(1.0, NEVER, (8.0, 1e5)),
    waits=Domain(0.0, NEVER, (0.0, 1e2)),
    usd_per_day=Domain(0.0, NEVER, (1e2, 1e6)),
    usd_per_hour=Domain(0.0, NEVER, (0.5, 20.0), open_low=True),
    more=Domain(1.0, NEVER, (1.0, 2.0)),
    unit=Domain(1.0, NEVER, (1.0, 2.0)),
)
def hours_with_time(chip_hours, chips, waits, usd_per_day, usd_per_hour, more=1.0, unit=1.0):
    """What a run costs with its days, in hours of a chip that take `unit` times the tokens [h].

    It is `cost_with_time` over the price of these hours. In the ratio of two runs with one `unit`
    a price that both pay, and tokens that both take, cancel to the last digit: days that are worth
    nothing leave no price in it, and the same `more` as `unit` no tokens.

    Parameters
    ----------
    chip_hours : of the run, if it took as many tokens as at a small batch [h]
    chips, waits : of the run [1], days until it has them [d]
    usd_per_day, usd_per_hour : worth of a day [USD/d], price of a chip with its power [USD/h]
    more : tokens that it takes over those at a small batch [1]; unit : those of an hour counted

    >>> hours_with_time(24_000.0, 100.0, 0.0, 2400.0, 1.0)  # ten days, worth as much as the chips
    48000.0
    """
    day_hours = usd_per_day / usd_per_hour
    each = 1 + day_hours / (chips * HOURS_PER_DAY)
    return more / unit * chip_hours * each + waits * day_hours / unit


@dataclass(frozen=True)
class Plan:
    """A run on so many chips at a batch.

    run : as `pretraining_run` has it
    small_hours : chip-hours on the tokens of the case [h]
    more : tokens that the batch takes to the same loss over those at a small one [1]
    extra : what of this the run does not read [1]
    kept : goodput [1]
    waits : days in the queue of a shared cluster [d]
    suits : whether the batch is the one with which as many chips come to the same loss soonest
    allowed : whether the case leaves it this batch and this many chips, a layout fits, and failures
        leave it time
    """

    run: Run
    small_hours: Any
    more: Any
    extra: Any
    kept: Any
    waits: Any
    suits: Any
    allowed: Any

    @property
    def days(self) -> Any:
        """Until it is done, with the wait for its chips [d]."""
        return self.run.days + self.waits

    @property
    def usd(self) -> Any:
        """What its chips cost [USD]."""
        return self.run.usd

    @property
    def to_loss_usd(self) -> Any:
        """What its chips would cost to the loss of a small batch, which takes more tokens [USD]."""
        return self.usd * self.extra

    @property
    def to_loss_days(self) -> Any:
        """Until it would be done to that loss [d]."""
        return self.run.days * self.extra + self.waits

    def with_time(self, usd_per_day: Any) -> Any:
        """What it costs to that loss with its days [USD]."""
        return cost_with_time(self.to_loss_usd, self.to_loss_days, usd_per_day)

    def in_hours(self, usd_per_day: Any, usd_per_hour: Any, unit: Any) -> Any:
        """The same in hours of a chip, see `hours_with_time` [h]."""
        run = self.run
        price = usd_per_day, usd_per_hour
        return hours_with_time(self.small_hours, run.chips, self.waits, *price, self.more, unit)

    @property
    def used(self) -> Any:
        """Share of the dense peak of all paid time that goes into tokens that a small batch would
        take as well [1].
        """
        steps = self.run.hours.least / self.run.hours.total
        return self.run.step.mfu * steps / self.more

    @property
    def batch(self) -> Any:
        """Tokens of a step."""
        return self.run.step.tokens


@dataclass(frozen=True)
class Setting:
    """What a case's plans have in common: the steps, an hour of a chip, the critical batch [token].

    case : quantities, as the chapter declares them
    same_loss : whether a run reads what its batch takes more than a small one to the same loss; if
        not it reads the case's tokens
    """

    case: Any
    grid: Grid
    hour: Hour
    critical: Any
    same_loss: bool = False

    @classmethod
    def of(cls, case: Any, grid: Grid, same_loss: bool = False) -> Self:
        """That of a case of quantities."""
        hour = Hour.of(case, case.accelerator)
        return cls(case, grid, hour, critical_batch(case, grid), same_loss)

    def plan(
        self,
        way: Any,
        price: Any = 1.0,
        pace: Any = 1.0,
        luck: Any = "usual",
        batches: Any = 1.0,
    ) -> Plan:
        """The run at one of `WAYS`.

        price, pace, luck : as in `pretraining_run`; batches : the critical batch over what it is
            thought to be [1]
        """
        case, step, chips = self.case, self.grid.step(self.case, way), chips_at(way)
        more = tokens_over_least(step.tokens, self.critical * batches)
        often = case.checkpoint_minutes * SECONDS_PER_MINUTE
        kept = kept_share(case, chips, luck, often)
        parts = {**step.at(pace), "goodput": kept, **factors(case.tuning)}
        read = case.tokens * more if self.same_loss else case.tokens
        hours = run_chip_hours(read, step.tokens, chips, **parts)
        small = run_chip_hours(case.tokens, step.tokens, chips, **parts).total
        cost = pretraining_usd(**hours.parts(), **self.hour.at(price))
        waits = waiting_days(chips, case.shared_chips, case.shared_load, case.job_days)
        asked = look_up([FREE, *BATCHES], case.batch) - 1  # -1 leaves it free
        batch = item(tuple(range(_MANY)) * len(CLUSTERS), way)
        suits = True if self.same_loss else self._suits(way, batch)
        free = (asked < 0) & suits  # to one loss the best is the cheapest
        allowed = (free | (asked == batch)) & step.fits & (hours.total > 0)
        allowed = allowed & ((case.shared_load == 0) | (chips <= case.shared_chips))
        run = Run(chips, step, self.hour, hours, cost)
        extra = 1.0 if self.same_loss else more
        return Plan(run, small, more, extra, kept, waits, suits, allowed)

    def _suits(self, way: Any, batch: Any) -> Any:
        """Whether a batch, by its place, is that with which as many chips come to the same loss
        soonest, as in the chapter on what a run costs.
        """
        worth = []
        for place, tokens in enumerate(BATCHES.values()):
            step_s = sum(self.grid.step(self.case, way - batch + place).parts.values())
            there = where(step_s > 0, step_s, NEVER)
            worth.append(seconds_to_loss(there, float(tokens), self.critical))
        mine = first_case([(batch == n, of) for n, of in enumerate(worth)], NEVER)
        return mine <= reduce(minimum, worth)


@lookup
def critical_batch(case: Any, grid: Grid) -> Any:
    """Batch at which a run takes a fifth more tokens: the reader's, or that of a law [token].

    case : quantities `model`, `tokens`, `law` and `critical_batch`, 0 for the law
    """
    size = choose(grid.models, case.model).parameters
    by_law = [(case.law == law, published_batch(law, size, case.tokens)) for law in CRITICAL]
    return where(case.critical_batch > 0, case.critical_batch, first_case(by_law[1:], by_law[0][1]))


@lookup
def ends_of_batches(case: Any, grid: Grid) -> tuple[Any, Any]:
    """The ends between which the critical batch lies, over what it is thought to be [1]: those of
    the laws that agree with runs of today, none where the reader has set it.
    """
    size, here = choose(grid.models, case.model).parameters, critical_batch(case, grid)
    known = [published_batch(law, size, case.tokens) / here for law in LAWS]
    low, high = reduce(minimum, known, 1.0), reduce(maximum, known, 1.0)
    own = case.critical_batch > 0
    return where(own, 1.0, low), where(own, 1.0, high)


@dataclass(frozen=True)
class Best:
    """The best of several ways by an aim: its place among `WAYS`, whether there is one, its number
    of chips, batch [token], days [d] and cost [USD]; and that to the loss of a small batch [USD].
    """

    way: Any
    there: Any
    chips: Any
    batch: Any
    days: Any
    usd: Any
    to_loss_usd: Any


@dataclass(frozen=True)
class Efficiency:
    """How many chips a run should take.

    setting : the case with its steps and prices
    sizes : for each of `CLUSTERS` the best batch, in time if one is: fields of `FIELDS`
    cheapest, in_time, worth : the best by cost alone, by cost within the deadline, and by cost with
        the value of time without a deadline, each to the same loss
    best : that within the deadline, by cost with the value of time
    place : its place among `CLUSTERS`
    soonest, any_batch : the fastest, and the fastest if the batch were free
    """

    setting: Setting
    sizes: Mapping[str, list[Any]]
    cheapest: Best
    in_time: Best
    worth: Best
    best: Best
    place: Any
    soonest: Best
    any_batch: Best

    @classmethod
    def of(cls, case: Any, grid: Grid) -> Self:
        """That of a case of quantities."""
        setting, way = Setting.of(case, grid), given("way", 0)
        plan = setting.plan(way)
        usd, days, none = plan.usd, plan.days, float("nan")
        worth = plan.with_time(case.value_usd_per_day)
        late = days > case.deadline_days
        done = plan.run.step.fits & (plan.run.hours.total > 0)
        wanted = {
            "chips": chips_at(way),
            "batch": plan.batch,
            "usd": usd,
            "days": days,
            "worth": worth,
            "to_loss_usd": plan.to_loss_usd,
            "to_loss_days": plan.to_loss_days,
            "mfu": plan.run.step.mfu,
            "used": plan.used,
            "kept": plan.kept,
            "more": plan.more,
            "by_cost": where(plan.allowed, plan.to_loss_usd, none),
            "by_time": where(plan.allowed & ~late, plan.to_loss_usd, none),
            "by_worth": where(plan.allowed, worth, none),
            "by_days": where(plan.allowed, days, none),
            "any_days": where(done & plan.suits, days, none),
            "key": where(plan.allowed & (worth >= 0), worth + where(late, LATE, 0.0), NEVER),
        }
        rows = over("ways", {way: range(len(WAYS))}, wanted)
        sizes = _by_size(rows)
        key = reduce(minimum, sizes["key"])
        place = place_of_least(apply(LIST, *sizes["key"]))
        best = _best(rows, item(apply(LIST, *sizes["way"]), place), key < LATE)
        cheapest, in_time, free, soonest, any_batch = (
            _best(rows, place_of_least(rows[aim])) for aim in AIMS
        )
        return cls(setting, sizes, cheapest, in_time, free, best, place, soonest, any_batch)

    def along(self, field: str, place: Any) -> Any:
        """A field of the best batch at each of `CLUSTERS`, by the place of a number of chips."""
        return item(apply(LIST, *self.sizes[field]), place)

    @property
    def best_worth(self) -> Any:
        """What the best costs with the value of its days [USD]."""
        return reduce(minimum, self.sizes["key"])

    @property
    def next_day_usd(self) -> Any:
        """What each day costs that twice as many chips as the best would save [USD/d]; infinite
        where they save none, or nobody weighs so many.
        """
        return self.day_usd(self.place)

    def day_usd(self, place: Any) -> Any:
        """The same for any number of chips, by its place among `CLUSTERS` [USD/d]."""
        usd, days = ([*self.sizes[name], float("nan")] for name in TO_LOSS)
        here = (item(apply(LIST, *of), place) for of in (usd, days))
        then = (item(apply(LIST, *of), place + 1) for of in (usd, days))
        return usd_per_day_saved(*here, *then)

    def near(self, tolerance: Any, by: str = "key", least: Any = None) -> tuple[Any, Any]:
        """The fewest and the most chips on which the run costs at most so much more than the least
        [1]; 0 where there is none.

        by : "key", with the value of time and in time; or "to_loss_usd", of the chips alone
        """
        values = self.sizes[by]
        least = reduce(minimum, values) if least is None else least
        within = [(value <= (1 + tolerance) * least) & (value < LATE) for value in values]
        pairs = [*zip(within, map(float, CLUSTERS), strict=True)]
        return first_case(pairs, 0.0), first_case(pairs[::-1], 0.0)


AIMS = ("by_cost", "by_time", "by_worth", "by_days", "any_days")
TO_LOSS, SHARES = ("to_loss_usd", "to_loss_days"), ("mfu", "used", "kept", "more")
FIELDS = ("way", "key", "chips", "batch", "usd", "days", "worth", *TO_LOSS, *SHARES)


def _by_size(rows: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The best batch of each number of chips, by its fields."""
    found: dict[str, list[Any]] = {field: [] for field in FIELDS}
    for size in range(len(CLUSTERS)):
        first = size * _MANY
        keys = [item(rows["key"], first + batch) for batch in range(_MANY)]
        way = first + place_of_least(apply(LIST, *keys))
        there = reduce(minimum, keys) < NEVER
        found["way"].append(way)
        found["key"].append(item(rows["key"], way))
        for field in FIELDS[2:]:
            found[field].append(where(there, item(rows[field], way), float("nan")))
    return found


def _best(rows: Mapping[str, Any], place: Any, there: Any = None) -> Best:
    """The way at a place, -1 where there is none."""
    there = place >= 0 if there is None else there
    way = where(place >= 0, place, 0)
    fields = (where(there, item(rows[name], way), float("nan")) for name in _SHOWN)
    return Best(way, there, *fields)


_SHOWN = ("chips", "batch", "days", "usd", "to_loss_usd")


# What no number of chips can do, each with what it would take instead: hold a model, keep work
# between failures, meet a deadline


MINUTES_PER_HOUR = 60.0


@lookup
def require_fit(
    model_name: str, accelerator_name: str, chips: int, batch: str, precision: str = "BF16"
) -> None:
    """Refuse a cluster on which no layout of a model fits.

    batch : one of `cluster_grid.BATCHES`, or `FREE` for any

    Raises
    ------
    ValueError : none fits; the fewest chips on which one does are named.

    >>> require_fit("Llama-3.1-405B", "H100 SXM", 64, "16M")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: no layout of Llama-3.1-405B fits in 64 H100 SXM with a batch of 16M tokens; ...
    """
    name, chip = model(model_name).name, cluster_chip(accelerator_name).name
    times = np.array(steps_of(name, precision, chip)[chip]["compute_s"])
    asked = [batch in (FREE, known) for known in BATCHES]
    found = np.isfinite(times).reshape(len(CLUSTERS), -1)
    fits = [bool(size[asked].any()) for size in found]
    if fits[CLUSTERS.index(chips)]:
        return
    by = "" if batch == FREE else f" with a batch of {batch} tokens"
    enough = [size for size, there in zip(CLUSTERS, fits, strict=True) if there and size > chips]
    fewer = [size for size, there in zip(CLUSTERS, fits, strict=True) if there and size < chips]
    hint = "no size that is weighed holds it; take a smaller model or a larger chip"
    hint = f"the most that such a batch keeps busy are {fewer[-1]:,}" if fewer else hint
    hint = f"the fewest on which one does are {enough[0]:,}" if enough else hint
    raise ValueError(f"no layout of {name} fits in {chips:,} {chip}{by}; {hint}")


@lookup
def require_checkpoints(
    chips: int, failures: Sequence[float | None], checkpoint_minutes: float
) -> None:
    """Refuse a job that is stopped, on average, before it has written a checkpoint, or that keeps
    less than `LEAST_KEPT` of its time.

    failures : each of `RELIABILITY`, None for the usual; checkpoint_minutes : 0 for the best

    Raises
    ------
    ValueError : with the best interval, or the most chips that keep more.

    >>> require_checkpoints(16384, (None, None, None), 240.0)  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    ValueError: a checkpoint every 240 minutes on a job that is interrupted every 186 minutes: most
    work would be lost; write one every 7.8 minutes, the best
    """
    case = _failing(failures)
    between = float(mtbf_hours(chips, case["chip_hours_per_interruption"])) * MINUTES_PER_HOUR
    if checkpoint_minutes > between:
        seconds = between * SECONDS_PER_HOUR / MINUTES_PER_HOUR
        best = best_checkpoint_interval_s(case["checkpoint_stall_s"], seconds)
        best = best * MINUTES_PER_HOUR / SECONDS_PER_HOUR
        raise ValueError(
            f"a checkpoint every {checkpoint_minutes:.3g} minutes on a job that is interrupted"
            f" every {between:.3g} minutes: most work would be lost; write one every {best:.2g}"
            " minutes, the best"
        )
    every_s = checkpoint_minutes * SECONDS_PER_HOUR / MINUTES_PER_HOUR
    if goodput(chips, **case, checkpoint_interval_s=every_s) >= LEAST_KEPT:
        return
    sizes = [n for n in CLUSTERS if goodput(n, **case, checkpoint_interval_s=every_s) >= LEAST_KEPT]
    instead = f"; {max(sizes):,} chips keep more" if sizes else ""
    raise ValueError(
        f"interrupted every {between:.2g} minutes it keeps less than {100 * LEAST_KEPT:g} % of its"
        f" time{instead}"
    )


def _failing(failures: Sequence[float | None]) -> dict[str, float]:
    named = zip(RELIABILITY, failures, strict=True)
    return reliability() | {name: value for name, value in named if value is not None}


@lookup
def case_of(
    model_name: str,
    accelerator_name: str,
    batch: str,
    failures: Sequence[float | None],
    checkpoint_minutes: float,
    terms: Mapping[str, Any],
) -> SimpleNamespace:
    """A case in numbers as the time of its run asks for it, whatever is paid.

    terms : tokens, precision, tuning, law, critical_batch, and those of a shared cluster
    """
    rent = {"paid": "rent", "contract": "on demand", "seller": "median", "rent_usd_per_hour": 1.0}
    return SimpleNamespace(
        model=model(model_name).name,
        accelerator=cluster_chip(accelerator_name).name,
        batch=batch,
        checkpoint_minutes=checkpoint_minutes,
        **_failing(failures),
        **terms,
        **rent,
    )


@dataclass(frozen=True)
class Soonest:
    """The fastest way: days, chips and tokens of a batch; infinite days where there is none."""

    days: float
    chips: int
    tokens: int


@lookup
def soonest(case: Any) -> tuple[Soonest, ...]:
    """The fastest way of a case in numbers, and the fastest if its batch were free."""
    return tuple(
        _soonest(**vars(case) | {"batch": batch})  # a deadline is moved: the same is asked again
        for batch in (case.batch, FREE)
    )


@remembered
def _soonest(**case: Any) -> Soonest:
    of, way = SimpleNamespace(**case), given("way", 0)
    plan = Setting.of(of, grid_of(of.model, of.precision, of.accelerator)).plan(way)
    ways = np.arange(len(WAYS), dtype=float)
    days, allowed = evaluate([plan.days, plan.allowed], {"way": ways})
    days = np.where(allowed, days, np.inf)
    best = int(np.argmin(days))
    return Soonest(float(days[best]), *WAYS[best])


@lookup
def require_in_time(case: Any, deadline_days: float) -> None:
    """Refuse a deadline that no number of chips meets.

    Raises
    ------
    ValueError : the soonest is named, and which constraint breaks: the batch, or all of them.
    """
    here, free = soonest(case)
    if here.days <= deadline_days:
        return
    if not np.isfinite(here.days):
        raise ValueError("no number of chips that is weighed gets the run done")
    unit = "day" if deadline_days == 1 else "days"
    said = (
        f"no number of chips finishes in {deadline_days:g} {unit}; the soonest is"
        f" {_days(here.days)} days on {here.chips:,} chips with a batch of {_tokens(here.tokens)}"
        " tokens"
    )
    if free.days <= deadline_days:
        raise ValueError(
            f"{said}: such a batch keeps no more chips busy; one of {_tokens(free.tokens)} tokens"
            f" on {free.chips:,} chips takes {_days(free.days)} days"
        )
    why = "a larger batch takes more tokens than it saves steps, and more chips fail more often"
    raise ValueError(f"{said}: {why}; allow so many days, or train on fewer tokens")


def _days(days: float) -> str:
    """Days rounded up, so that a deadline of so many is met."""
    digits = max(0, 2 - int(np.floor(np.log10(days))))
    return f"{np.ceil(days * 10**digits) / 10**digits:,.{digits}f}"


def _tokens(tokens: int) -> str:
    return next(name for name, size in BATCHES.items() if size == tokens)
