"""A case of post-training on each platform: what it costs, the cheapest, and how sure that is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

from scaleright.catalog import accelerator
from scaleright.costs import pretraining
from scaleright.costs.platform_terms import rents_to_tune
from scaleright.costs.post_training import PostTrainingCost
from scaleright.costs.pretraining_run import Cheapest, kept_share
from scaleright.decisions.plan_runs import SERVER_CHIPS, SPOT, signed
from scaleright.decisions.post_training import Job, Tables, job
from scaleright.decisions.post_training_evidence import real_runs
from scaleright.decisions.two_chips import RENT, SPEED, spread_apart
from scaleright.formulas import lookup
from scaleright.information import Choice, spread_between
from scaleright.market import PaidHour, rents_apart, unfixed, yearly_drift
from scaleright.ops import first_case, item, maximum, where
from scaleright.quantity import at, given, least, look_up, over, place_after
from scaleright.quantity.lists import place_of_least
from scaleright.ranges import Ends, interval_of
from scaleright.training.slowdowns import architecture_fitted
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR
from scaleright.validation.in_common import KINDS, error_in_common

OFFERED = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Numbers of chips that learn, as the chapter offers them."""
ROLLOUT = ("writing", "longest answers")
"""Parts of a bill that are one rollout."""
NAN = float("nan")


@lookup
def kept_on(contract: Any, chips: Any) -> Any:
    """Share of its time that a run on so many chips keeps [1]: on spot, servers are taken away, or
    parts of one as often, and it goes on from its last checkpoint; what stops other runs is in the
    time of real ones.

    >>> 0.5 < kept_on("spot", 64) < kept_on("spot", 8) < 1
    True
    """
    case = SimpleNamespace(**pretraining.reliability() | signed(SPOT))
    return where(contract == SPOT, kept_share(case, maximum(chips, SERVER_CHIPS)), 1.0)


@dataclass(frozen=True)
class Bill:
    """What a case costs on a platform.

    job, hour : the run; an hour of one chip
    cost : by parts [USD]; NaN where it does not run at a price
    beyond : time of real runs over that of their phases, on spot with what interruptions cost [1]
    """

    job: Job
    hour: PaidHour
    cost: PostTrainingCost
    beyond: Any

    @classmethod
    def of(cls, tables: Tables, case: Any, chip: Any, pace: Any = 1.0, price: Any = 1.0) -> Self:
        """That of a case on a platform, at the case's own rent if that is its platform.

        pace, price : time and price of an hour over what they are thought to be [1]
        """
        mine = where(chip == case.accelerator, case.rent_usd_per_hour, 0.0)
        hour = rents_to_tune().paid(chip, case.contract, case.seller, mine)
        found = job(tables, case, chip)
        beyond = real_runs().beyond * pace / kept_on(case.contract, found.chips)
        labels = where(case.method == "rlvr", 0.0, case.labels * case.usd_per_label)
        usd = where(found.there & hour.there, hour.usd * price, NAN)
        return cls(found, hour, found.usd(usd, beyond, labels), beyond)

    @property
    def days(self) -> Any:
        """From start to end [d]; NaN where it does not run."""
        return where(self.job.there, self.job.hours(self.beyond) / HOURS_PER_DAY, NAN)

    @property
    def seconds(self) -> Any:
        """The same [s]."""
        return self.days * HOURS_PER_DAY * SECONDS_PER_HOUR

    @property
    def chip_hours(self) -> Any:
        """Of all chips that are paid for [h]."""
        return self.days * HOURS_PER_DAY * self.job.chips

    @property
    def done(self) -> Any:
        """Whether it runs at a price [truth value]."""
        return self.job.there & self.hour.there

    def labeled(self) -> dict[str, Any]:
        """Parts of what machines cost as a chart names them [USD]."""
        of = self.cost
        return {
            "writing": of.reading_usd + of.writing_usd,
            "longest answers": of.tail_usd,
            "scoring": of.scoring_usd,
            "learning": of.policy_usd + of.critic_usd + of.reward_model_usd,
            "waiting": of.waiting_usd + of.sync_usd,
            "beyond": of.beyond_usd,
        }

    def named(self) -> dict[str, Any]:
        """The same with all of a rollout as one part [USD]."""
        whole = {"writing answers, with the wait for the longest": self.cost.rollout_usd}
        return whole | {name: of for name, of in self.labeled().items() if name not in ROLLOUT}


@lookup
def largest(parts: Mapping[str, Any]) -> tuple[Any, Any]:
    """The greatest part but what is beyond, and its share of all others [1].

    >>> name, share = largest({"writing": 3.0, "beyond": 6.0, "scoring": 1.0})
    >>> name.value, share.value
    ('writing', 0.75)
    """
    kept = {name: -1.0 * of for name, of in parts.items() if name != "beyond"}
    name, found = least(kept)
    return name, found / sum(kept.values())


@lookup
def first_fit(tables: Tables, case: Any, chip: Any) -> Any:
    """The fewest chips of those offered on which a case learns, 0 where there are none."""

    def fits(size: int) -> Any:
        there = SimpleNamespace(**vars(case) | {"chips": size})
        return job(tables, there, chip).fits

    return first_case([(fits(size), size) for size in tables.updates.sizes], 0)


@lookup
def seen_on(names: Iterable[str], platform: Any) -> Any:
    """Whether the fit of training has seen runs on the architecture of one of some platforms.

    >>> from scaleright.quantity.graph import value_of
    >>> names = "H100 SXM", "MI325X"
    >>> [bool(value_of(seen_on(names, name))) for name in names]
    [True, False]
    """
    seen = {name: float(architecture_fitted(accelerator(name))) for name in names}
    return look_up(seen, platform) > 0


@dataclass(frozen=True)
class Best:
    """The cheapest platform that runs a case, of those whose architecture the fit of training has
    seen, and how sure that is.

    found : of machines alone, since people cost the same anywhere
    case : on the accelerator that it names, or if it asks for the cheapest on that
    other : what it is compared with: the case's own, or the next where that is the cheapest
    choice : between both
    on_all : machines alone, by platform [USD]
    guess : the cheapest of the others, whose architecture the fit has not seen
    """

    found: Cheapest
    case: SimpleNamespace
    other: Any
    choice: Choice
    on_all: Mapping[str, Any]
    guess: Cheapest

    @classmethod
    def of(cls, tables: Tables, case: Any, platform: Any, there: Bill) -> Self:
        """That of a case as it is asked; `there` : its bill on `platform`, any of them."""
        names = list(tables.updates.names)
        trust = tables.engines.rows.row(case.model, platform, case.rollout_precision)
        off = spread_between(trust.low, trust.high)
        every = there.cost.machine_usd
        usd = where(seen_on(names, platform), every, NAN)
        wanted = {"usd": usd, "every": every, "off": off}
        rows = over("platforms", {platform: names}, wanted)
        each = {name: item(rows["usd"], place) for place, name in enumerate(names)}
        on_all = {name: item(rows["every"], place) for place, name in enumerate(names)}
        unseen = {name: where(each[name] > 0, NAN, of) for name, of in on_all.items()}
        found = Cheapest.of(each)
        name, case = found.platform, found.taken(case, on_all)
        after, then = least(each, after=name)
        mine = name == case.accelerator
        own = item(rows["every"], look_up(names, case.accelerator))
        other, other_usd = where(mine, after, case.accelerator), where(mine, then, own)
        place = place_of_least(rows["usd"])
        second = where(mine, place_after(each, name), look_up(names, case.accelerator))
        loose, common = unfixed(case.contract, 0.0), _common(tables, case)
        spreads = {
            SPEED: spread_apart(item(rows["off"], place), item(rows["off"], second), common),
            RENT: rents_apart(loose, loose),
        }
        between = Choice(found.usd, other_usd, spreads)
        return cls(found, case, other, between, on_all, Cheapest.of(unseen))

    def seen(self, platform: Any) -> Any:
        """Whether the fit has seen the architecture of one of the platforms."""
        return seen_on(self.on_all, platform)


def _common(tables: Tables, case: Any) -> Any:
    """Correlation of the errors of two chips' speeds [1]."""
    found = {kind: round(error_in_common("inference", kind), 4) for kind in KINDS}
    return look_up(found, look_up(tables.kinds, case.model))


@dataclass(frozen=True)
class Doubts:
    """What nobody knows of a run, and where the cost of its machines may lie (90 %) [USD].

    ends, moving : between which each unknown moves, and the bill that they move
    """

    low: Any
    high: Any
    ends: Mapping[str, Ends]
    moving: Bill

    @classmethod
    def of(cls, tables: Tables, case: Any, chip: Any) -> Self:
        """Those of a case: how long real runs take, and the price of an hour where nothing fixes
        it.
        """
        real, drift = real_runs(), yearly_drift().mean_over(1.0)
        pace, price = given("pace", 1.0), given("price", 1.0)
        loose = unfixed(case.contract, case.rent_usd_per_hour)
        ends = {
            "time of real runs": Ends(pace, real.low, real.high),
            "price of an hour": Ends(price, *(where(loose, of, 1.0) for of in drift)),
        }
        moving = Bill.of(tables, case, chip, pace, price)
        found = interval_of(moving.cost.machine_usd, [*ends.values()])
        low, high = (at(of, pace=1.0, price=1.0) for of in found)
        return cls(low, high, ends, moving)
