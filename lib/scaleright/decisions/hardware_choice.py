"""GPU comparison and selection criteria (F18): the chip on which a workload is cheapest, and what
decides it.

Andreessen Horowitz lists what to look at (training or inference, memory, support, latency, spikes)
and leaves the choice to the reader. Here each chip's speed gives its price: in serving that of the
library's one model of serving (`inference.node_speed`), in training that of its one model of a step
(`hardware_candidates`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd

from scaleright.costs.fastest_steps import format_taken
from scaleright.costs.owned_hours import OwnedHour
from scaleright.costs.serving import load_spread
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.decisions.hardware_candidates import (
    ChipHour,
    TrainingSpeed,
    candidate_rows,
    considered,
    training_speed,
)
from scaleright.inference.demand import Busy, requests_of
from scaleright.inference.fleet import whole_groups
from scaleright.inference.node_speed import NodeSpeed, node_speed
from scaleright.information import spread_between
from scaleright.market import BEST, TERM_YEARS, unfixed
from scaleright.ops import first_case, item, minimum, where
from scaleright.order import noiseless
from scaleright.quantity import Quantity, at, choose, evaluate, least, over, place_after
from scaleright.quantity.lists import place_of_least, word_at
from scaleright.ranges import Ends
from scaleright.units import HOURS_PER_DAY

SMALLER_CARD_BYTES = 48e9 * 1.1
"""Memory of the largest of the smaller cards that Andreessen Horowitz names (A40, A6000): 48 GB, as
marketed or in GiB.
"""
A100_FLOPS, A100_BYTES_PER_S = 312e12, 1.5e12
"""What an A100 has; a chip with as much of both is high-end in Andreessen Horowitz's sense."""
WAITING_PACE = 5.0
"""Tokens a second from which somebody reads along, about the pace of reading; slower answers are
for work that can wait.
"""
NAN = float("nan")


def usual() -> dict[str, dict[str, Any]]:
    """What a task comes with unless a reader says otherwise: demand at its peak, utilization.

    >>> usual()["training"]["utilization"]
    1.0
    """
    return {
        "inference": {"tokens_per_s": 2e4, "utilization": 0.4},
        "training": {"tokens_per_s": 2e5, "utilization": 1.0},
    }


@dataclass(frozen=True)
class Speed:
    """What one chip of a kind does for a workload, whatever its task.

    tokens_per_s : written, or trained on [token/s]
    group, least : chips that share a copy of the model, and the fewest that hold one; in training
        those of the cluster [1]
    runs : whether it can run the workload [truth value]
    low, high : bounds of measured over predicted speed [1]
    off : standard deviation of the logarithm of measured over predicted speed, by the model alone
    fitted : 1 where runs on such chips were fitted, else 0
    batch : answers at once, 0 in training
    tpot_s, ttft_s : time of a further token and of the first [s], 0 in training
    groups : of which a fleet may be made: chips of each [1], and what it does [token/s]
    """

    tokens_per_s: Any
    group: Any
    least: Any
    runs: Any
    low: Any
    high: Any
    off: Any
    fitted: Any
    batch: Any
    tpot_s: Any
    ttft_s: Any
    groups: Sequence[tuple[Any, Any]]

    @classmethod
    def of(cls, training: Any, served: NodeSpeed, trained: TrainingSpeed, least: Any) -> Self:
        """That of the task.

        least : chips of the smallest engine that serves the model [1]
        """

        def either(learns: Any, serves: Any) -> Any:
            return where(training, learns, serves)

        return cls(
            tokens_per_s=either(trained.tokens_per_s, served.tokens_per_s),
            group=either(trained.group, served.chips),
            least=either(trained.group, least),
            runs=either(trained.runs, served.served),
            low=either(trained.low, served.low),
            high=either(trained.high, served.high),
            off=either(trained.off, spread_between(served.low, served.high)),
            fitted=either(trained.fitted, where(served.fitted, 1, 0)),
            batch=either(0, served.batch),
            tpot_s=either(0.0, served.tpot_s),
            ttft_s=either(0.0, served.ttft_s),
            groups=[
                (
                    either(trained.group, chips),
                    either(trained.group * trained.tokens_per_s, most),
                )
                for chips, most in served.groups
            ],
        )


@dataclass(frozen=True)
class Priced:
    """A workload on any one chip; quantities that depend on which.

    chip : its name
    own, contract : whether it is owned, and under which contract it would be rented: as asked, or
        each the cheaper
    considered : whether it is among those to choose from [truth value]
    speed, hour, busy : what it does, what an hour of it costs, and its load
    form : format of the weights, where it serves
    rented_usd, owned_usd : price of a million tokens each way [USD], as `usd`
    owned : an hour of an owned one
    usd : price of a million tokens at the utilization [USD], nan where it cannot run the workload,
        is not considered or has no price
    idle_usd, busy_usd : the same at the ends of the utilization that comes, see `Busy.ends` [USD]
    listed_usd : the same on demand, or owned [USD]
    chips, bill_usd : whole groups for the demand at its peak [1], and what they cost [USD/h]
    whole_usd : price of a million tokens where whole groups are paid for [USD]
    load : utilization, which differs by chip where it follows from traffic [1]
    """

    chip: Quantity
    own: Any
    contract: Any
    considered: Any
    speed: Speed
    hour: ChipHour
    busy: Busy
    form: Any
    rented_usd: Any
    owned_usd: Any
    owned: OwnedHour
    usd: Any
    idle_usd: Any
    busy_usd: Any
    listed_usd: Any
    chips: Any
    bill_usd: Any
    whole_usd: Any
    load: Any

    @classmethod
    def of(
        cls, case: Any, tables: Any, chip: Quantity, trained: TrainingSpeed | None = None
    ) -> Self:
        """That of a case of quantities, as the chapter has them.

        Parameters
        ----------
        case : its demand at the peak and its utilization count where no traffic is known; `paid`
            and `contract` may be `market.BEST`
        tables : a `hardware_candidates.HardwareTables`
        trained : speed in training, of a task that is not to train
        """
        training = case.task == "training"
        load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
        node, spec = (case.model, chip, case.precision), choose(tables.chips, chip)
        there = {"accelerator": chip, "rent_usd_per_hour": 0.0, "seller": case.seller}
        asked = SimpleNamespace(**there, contract=case.contract)
        contract, _ = tables.hours.contract(asked, HOURS_PER_DAY, TERM_YEARS)
        demand, own = tables.demand(case, contract), case.paid == "own"
        served = node_speed(tables.engines, *node, load, case.pace_tokens_per_s, demand)
        busy = demand.busy(served.seated, load, case.utilization)
        trained = trained or training_speed(
            tables.trained,
            case.model,
            chip,
            format_taken(case.training_precision, case.model, tables.models),
            case.tokens_per_s,
            case.tuning,
        )
        speed = Speed.of(training, served, trained, tables.least(*node))
        paid = tables.hours.paid(chip, contract, case.seller)
        owned = tables.owned_hour(chip, case.setting, training, busy.standing)
        dearer = where(paid.there, paid.usd / busy.share > owned.usd / busy.standing, True)
        own = where(case.paid == BEST, (spec["bought"] > 0) & dearer, own)
        some = considered(spec, case.vendor, case.segment, case.least_providers, own)
        ways = {
            "rented_usd": (paid.usd, busy.share, paid.there),
            "owned_usd": (owned.usd, busy.standing, spec["bought"] > 0),
        }
        found = {
            name: where(
                some & speed.runs & there, usd_per_million_tokens(usd, speed.tokens_per_s, of), NAN
            )
            for name, (usd, of, there) in ways.items()
        }
        found |= {"chip": chip, "own": own, "contract": contract, "considered": some}
        found |= {"form": where(training, "", served.precision), "owned": owned}
        load = where(own, busy.standing, busy.share)
        hour = ChipHour.of(spec, paid, owned, own)
        return cls._priced(found, speed, hour, busy, load, case.tokens_per_s)

    @classmethod
    def _priced(
        cls,
        found: Mapping[str, Any],
        speed: Speed,
        hour: ChipHour,
        busy: Busy,
        load: Any,
        tokens_per_s: Any,
    ) -> Self:
        """That at a utilization, and at a demand at its peak where no traffic is known [token/s]:
        of whole engines where it is.

        found : the other fields, but prices
        """
        known, factor = busy.demand.known, load_spread()
        engines = busy.fleet.peak * busy.fleet.engine.chips
        chips = where(known, engines, whole_groups(speed.groups, tokens_per_s).chips)
        bill, runs = chips * hour.usd, found["considered"] & speed.runs

        def price(usd_per_hour: Any, rate: Any, there: Any) -> Any:
            usd = usd_per_million_tokens(usd_per_hour, rate, load)
            return where(runs & there, usd, NAN)

        usd, share = price(hour.usd, speed.tokens_per_s, hour.there), busy.share
        ends = busy.ends(Ends(share, share / factor, minimum(share * factor, 1.0)))
        idle, most = (at(usd, load=end) for end in (ends.low, ends.high))
        return cls(
            **found,
            speed=speed,
            hour=hour,
            busy=busy,
            usd=usd,
            idle_usd=idle,
            busy_usd=most,
            listed_usd=price(hour.listed_usd, speed.tokens_per_s, True),
            chips=chips,
            bill_usd=bill,
            whole_usd=where(known, usd, price(bill, tokens_per_s, hour.there)),
            load=load,
        )

    @property
    def figures(self) -> dict[str, Any]:
        """Its numbers by name, those of its speed, and those of its hour, their names after
        hour_.
        """
        names = ("usd", "idle_usd", "busy_usd", "chips", "bill_usd", "whole_usd", "load")
        own = {name: getattr(self, name) for name in names}
        loose = where(self.own, False, unfixed(self.contract, 0.0))
        own |= {"own": where(self.own, 1, 0), "loose": where(loose, 1, 0)}
        hour = {
            f"hour_{name}": getattr(self.hour, name) for name in ("usd", "low", "high", "apart")
        }
        rest = {name: of for name, of in vars(self.speed).items() if name not in ("runs", "groups")}
        return own | hour | rest

    def at(self, **case: Any) -> pd.DataFrame:
        """The `figures` of every candidate at a case, the cheapest first; a row each of those that
        run it.
        """
        names = np.array(list(candidate_rows()))
        found = evaluate(self.figures.values(), case | {self.chip_name: names})
        columns = dict(zip(self.figures, found, strict=True))
        frame = pd.DataFrame(columns, index=names).dropna(subset="usd")
        return frame.sort_values("usd", key=noiseless, kind="stable")

    @property
    def chip_name(self) -> str:
        """The name under which its quantities depend on the chip."""
        return "chip"


@dataclass(frozen=True)
class Cheapest:
    """The cheapest chip for a workload and what it does, and the next; no name and nan where none
    can run it.

    usd, next_usd : price of a million tokens [USD]
    seen, seen_usd : the cheapest of chips of which runs were fitted
    listed, listed_usd : the cheapest on demand, or owned
    whole, whole_usd : the cheapest where whole groups are paid for
    of, next_of : figures of both, see `Priced.figures`
    contract : under which it is rented, if it is
    rented, rented_usd, owned, owned_usd : the cheapest to rent and to own
    age : of which days its price is, in words
    """

    chip: Any
    usd: Any
    next_chip: Any
    next_usd: Any
    seen: Any
    seen_usd: Any
    listed: Any
    listed_usd: Any
    whole: Any
    whole_usd: Any
    of: Mapping[str, Any]
    next_of: Mapping[str, Any]
    contract: Any
    rented: Any
    rented_usd: Any
    owned: Any
    owned_usd: Any
    age: Any

    @classmethod
    def among(cls, priced: Priced) -> Self:
        """That of all candidates."""
        names = list(candidate_rows())
        wanted = priced.figures | {
            "seen": where(priced.speed.fitted > 0, priced.usd, NAN),
            "listed": priced.listed_usd,
            "rented_usd": priced.rented_usd,
            "owned_usd": priced.owned_usd,
            "contract": priced.contract,
            "age": priced.hour.age,
        }
        rows = over("chips", {priced.chip: names}, wanted)

        def each(field: str) -> dict[str, Any]:
            return {name: item(rows[field], at) for at, name in enumerate(names)}

        chip, usd = least(each("usd"))
        rented, owned = least(each("rented_usd")), least(each("owned_usd"))
        place, then = place_of_least(rows["usd"]), place_after(each("usd"), chip)
        return cls(
            chip,
            usd,
            *least(each("usd"), after=chip),
            *least(each("seen")),
            *least(each("listed")),
            *least(each("whole_usd")),
            of={name: item(rows[name], place) for name in priced.figures},
            next_of={name: item(rows[name], then) for name in priced.figures},
            contract=word_at(rows["contract"], place),
            rented=rented[0],
            rented_usd=rented[1],
            owned=owned[0],
            owned_usd=owned[1],
            age=word_at(rows["age"], place),
        )


def source_rule(training: Any, stored_bytes: Any, interactive: Any):
    """The kind of chip that Andreessen Horowitz names: for training, for a model beyond its smaller
    cards, for users who wait, or else.

    The document gives no order; a model that does not fit comes before users who wait. Arguments
    may be quantities.

    >>> source_rule(True, 1e12, False), source_rule(False, 140e9, True), source_rule(False, 16e9,
    ...     True), source_rule(False, 16e9, False)
    ('A100', 'A100 or H100', 'high-end', 'smaller card')
    """
    smaller = where(interactive, "high-end", "smaller card")
    fits = where(stored_bytes > SMALLER_CARD_BYTES, "A100 or H100", smaller)
    return where(training, "A100", fits)


def follows_rule(rule: str, name: str, chip: Mapping[str, Any]) -> bool:
    """Whether a chip is of the kind that the rule names.

    >>> l4 = {"bf16_flops": 121e12, "memory_bytes_per_s": 0.3e12}
    >>> follows_rule("A100 or H100", "A100 SXM 80GB", {}), follows_rule("high-end", "L4", l4)
    (True, False)
    """
    if rule.startswith("A100"):
        return any(name.startswith(kind) for kind in rule.split(" or "))
    fast = chip["bf16_flops"] >= A100_FLOPS
    high_end = fast and chip["memory_bytes_per_s"] >= A100_BYTES_PER_S
    return bool(high_end) == (rule == "high-end")


def why_none(training: Any) -> Any:
    """Why no chip can run a workload, and what would help, in words; quantities.

    >>> why_none(True)[:41]
    'none of the chips considered can run it: '
    """
    return where(
        training,
        "none of the chips considered can run it: ask for fewer tokens a second, admit other chips"
        " or fewer clouds, or name the model on the command line, which looks for its layouts",
        "none of the chips considered can run it: allow a slower pace, shorter requests, other"
        " chips or fewer clouds",
    )


RULES = ("A100", "A100 or H100", "high-end", "smaller card")
"""The kinds of chips that `source_rule` names."""


def agrees(rule: Any, name: Any) -> Any:
    """Whether a chip is of the kind that the rule names: quantities.

    >>> from scaleright.quantity import given
    >>> agrees(given("rule", "A100"), given("chip", "H100 SXM")).value
    False
    """
    kinds = {
        name: {rule: follows_rule(rule, name, chip) for rule in RULES}
        for name, chip in candidate_rows().items()
    }
    kind = choose(kinds, name, otherwise="not listed")
    return first_case([(rule == of, kind[of]) for of in RULES], False)
