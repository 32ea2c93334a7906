"""What the chapter `plan` shows of a fine-tuning or a post-training of the reader's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from scaleright import charts
from scaleright.catalog import accelerator
from scaleright.chapters.plan.page import NAN, POST_TRAINING, TUNING, OwnPlan, weighed
from scaleright.chapters.plan.tuning_steps import BY, PROBED, SPOKEN, right_said, smaller_than
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.ownership import REGIONS
from scaleright.costs.platform_terms import rents_to_tune
from scaleright.costs.platforms import CARDS
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import arrives, bought_as
from scaleright.decisions.plan_runs import BUY, SERVER_CHIPS, SPOT, early
from scaleright.decisions.plan_tuning import MOST_LABELS, USUAL
from scaleright.decisions.plan_workload import IN_REGION, OF_PAIRS, OF_TEXTS, STAYS
from scaleright.decisions.post_training import ALL, LORA, METHODS, Tables
from scaleright.decisions.post_training_choice import OFFERED, seen_on
from scaleright.decisions.post_training_evidence import real_runs
from scaleright.decisions.tuning_ways import (
    DEMAND,
    OWN,
    PLATFORMS,
    SOONER,
    PaidTuning,
    TuningWays,
    apart,
)
from scaleright.footprint import Footprint, Machine, Place, machines, place
from scaleright.information import expected_loss, probability_cheaper, spread_between
from scaleright.market import yearly_drift
from scaleright.ops import first_case, floor, maximum, minimum, normal_cdf, where
from scaleright.quantity import choose, least, look_up
from scaleright.ranges import interval
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
NAMES = {OWN: "own", BUY: "buy", DEMAND: "rent on demand", SPOT: "rent on spot"}
"""Ways to pay, as bars are called."""
CHEAP, CLEAN = "cheapest quarter", "Sweden"
LEFT_OUT = ("contract", "seller", "rent_usd_per_hour")


def tables(models: Iterable[str]) -> Tables:
    """What a tuning may choose from: some models, their reward model, and of each the smaller one
    that is worth a try.
    """
    names = [*models, USUAL["reward_model"]]
    return Tables.of([*names, *filter(None, map(smaller_than, names))], OFFERED, PLATFORMS)


def _asked(case: Any) -> SimpleNamespace:
    """A case of the chapter `rlhf_cost`, of quantities, but for the chips and their price: as the
    command has it (`plan_tuning.chapter_case`).
    """
    texts = case.workload == TUNING
    method = where(texts, OF_TEXTS, case.method)
    writes = where(texts, USUAL["answer_tokens"], case.answer_tokens)
    longest = floor(writes * USUAL["most_tokens"] / USUAL["answer_tokens"] + 0.5)
    each = USUAL["prompt_tokens"] + writes
    examples = maximum(floor(case.tokens / each + 0.5), 1.0)
    free = texts | (method == "rlvr")
    own = {
        "model": case.tuned_model,
        "method": method,
        "trained": case.trained,
        "passes": case.passes,
        "rounds": case.rounds,
        "answers_each": case.answers_each,
        "answer_tokens": writes,
        "most_tokens": minimum(maximum(longest, 16.0), 65536.0),
        "labels": where(texts, examples, case.labels),
        "usd_per_label": where(free, 0.0, case.usd_per_label),
    }
    usual = {name: of for name, of in USUAL.items() if name not in LEFT_OUT}
    return SimpleNamespace(**usual | own, seller=USUAL["seller"])


@dataclass(frozen=True)
class Told:
    """The way that is taken, and what the plan says of it in several places.

    case, asked : of the page and of the chapter `rlhf_cost`
    of, ways : what there is to choose from, and every way
    """

    case: Any
    asked: SimpleNamespace
    of: Tables
    ways: TuningWays

    @cached_property
    def named(self) -> Any:
        """The chips, in words."""
        ways, spot = self.ways, where(self.ways.how == SPOT, " on spot", "")
        return charts.phrase("{ways.chips:whole} {ways.chip}{spot}")

    @cached_property
    def writes(self) -> Any:
        """Whether the model writes the answers that it learns from."""
        return look_up({name: of["rollout"] for name, of in METHODS.items()}, self.asked.method) > 0

    @cached_property
    def range(self) -> tuple[Any, Any]:
        """What machines cost in nine of ten such runs [USD]."""
        real, (low, high) = real_runs(), self.price_ends
        return interval(
            lambda pace, price: self.ways.usd * pace * price,
            pace=(real.low, 1.0, real.high),
            price=(low, 1.0, high),
        )

    @cached_property
    def price_ends(self) -> tuple[Any, Any]:
        """Between which a price that nothing fixes moves, over what it is [1]."""
        loose = (self.ways.how == DEMAND) | (self.ways.how == SPOT)
        low, high = (where(loose, of, 1.0) for of in yearly_drift().mean_over(1.0))
        return low, high

    def with_(self, **change: Any) -> Any:
        """What machines cost with the case changed, on the same chips [USD]."""
        asked = SimpleNamespace(**vars(self.ways.case) | change)
        return PaidTuning.of(self.of, asked, self.ways.chip, self.ways.how).usd


def own_plan(case: Any, of: Tables) -> OwnPlan:
    """The plan of the reader's own fine-tuning or post-training."""
    asked = _asked(case)
    ways = TuningWays.of(of, asked, weighed(case, TUNING, POST_TRAINING))
    told = Told(case, asked, of, ways)
    there = ways.there & (asked.labels <= MOST_LABELS)
    otherwise = _otherwise(told)
    return OwnPlan(
        work=_work(told),
        decision=_decision(told),
        usd=ways.cash,
        per=_per(told),
        because=_because(told),
        sure=where(
            there, _sure(told), f"As sure as the model of post-training: {real_runs().basis}."
        ),
        helps=where(there, "Nothing has to give.", otherwise),
        met=True,
        there=there,
        otherwise=otherwise,
        bars={NAMES[how]: usd for how, usd in ways.each.items()},
        steps=_steps(told),
        questions=_questions(told),
        made=case.tuned_model,
        chip=ways.chip,
        bought=where(there, ways.paid.bought, 0.0),
    )


def _work(told: Told) -> Any:
    """What is done, in words."""
    case, asked = told.case, told.asked
    how = where(asked.trained == ALL, "", " with LoRA")
    passes = where(asked.passes > 1, charts.phrase(", {asked.passes:whole} passes"), "")
    texts = charts.phrase(
        "Fine-tune {asked.model}{how} on {case.tokens:count} tokens of your own{passes}"
    )
    much = charts.phrase("{asked.labels:whole} comparisons")
    much = where(told.writes, charts.phrase("{asked.rounds:whole} rounds"), much)
    method = look_up({name: name.upper() for name in METHODS}, asked.method)
    other = charts.phrase("Post-train {asked.model}{how} by {method}, {much}")
    return where(asked.method == OF_TEXTS, texts, other)


def _decision(told: Told) -> Any:
    """What to do, in words."""
    ways, named = told.ways, told.named
    lasts, bought = ways.days * DAY_S, ways.paid.bought
    them = where(bought == 1, "it", "them")
    some = where(bought == ways.chips, them, charts.phrase("{ways.chips:whole} of them"))
    buy = charts.phrase("Buy {bought:whole} {ways.chip} and train on {some} for {lasts:duration}")
    own = charts.phrase("Use {named} that you own for {lasts:duration}")
    rent = charts.phrase("Rent {named} for {lasts:duration}")
    return first_case([(ways.how == OWN, own), (ways.how == BUY, buy)], rent)


def _per(told: Told) -> Any:
    """Of what the bill is."""
    ways, usd, people = told.ways, told.ways.usd, told.ways.paid.bill.cost.labels_usd
    them = where(where(ways.how == BUY, ways.paid.bought, ways.chips) == 1, "it", "them")
    bought = charts.phrase("to buy {them}, of whose life the run takes {usd:usd}")
    per = where(ways.how == OWN, charts.phrase("to run {them}"), "for the run")
    per = where(ways.how == BUY, bought, per)
    return per + where(people > 0, charts.phrase(", {people:usd} of it for people's labels"), "")


def _because(told: Told) -> Any:
    """Why."""
    ways, case = told.ways, told.case
    why = charts.phrase(
        "Of {ways.platforms:whole platforms}, the {ways.chip} does the work for least within"
        " {case.deadline_days:typed} days and {case.budget_usd:usd}."
    )
    late = f" {arrives()[0].upper()}{arrives()[1:]}, which the deadline counts. The rest of"
    one, more = " its life is lost unless it does", " their life is lost unless they do"
    late += where(ways.paid.bought == 1, one, more) + " other work then or "
    late += where(ways.paid.bought == 1, "is sold.", "are sold.")
    return why + where(ways.how == BUY, late, "")


def _sure(told: Told) -> Any:
    """How sure it is that deadline and budget are kept."""
    case, ways, (low, high) = told.case, told.ways, told.range
    buys, people = ways.how == BUY, ways.paid.bill.cost.labels_usd
    kept = normal_cdf(early(ways.days, ways.spread, case.deadline_days, buys))
    prices = look_up({name: bought_as(name)["price_spread"] for name in PLATFORMS}, ways.chip)
    spread = where(buys, prices, spread_between(low + people, high + people))
    paid = probability_cheaper(ways.cash, case.budget_usd, spread)
    soon = charts.phrase("it is done in {case.deadline_days:typed} days")
    within = charts.phrase("It stays within {case.budget_usd:usd} with a chance of {paid:chance}.")
    said = charts.phrase(" Nine of ten such runs would cost {low:usd} to {high:usd} of machines.")
    new = " No run on this architecture was fitted, so that its own error is not known."
    said = said + where(seen_on(PLATFORMS, ways.chip), "", new)
    return charts.confidence(kept, soon) + " " + within + said


def _otherwise(told: Told) -> Any:
    """What is in the way where nothing keeps the limits, and the least change that helps."""
    case, asked, change = told.case, told.asked, told.ways.change
    cheap, quick = change.cheapest, change.quickest
    many = MOST_LABELS * (USUAL["prompt_tokens"] + USUAL["answer_tokens"]) / 1e9
    long = charts.phrase(
        f"{{case.tokens:count}} tokens are more than is tuned on; take at most {many:.3g} billion."
    )
    never = charts.phrase(
        "{asked.model} does not fit so on any number of chips that is offered; train adapters alone"
        " (LoRA) or take a smaller model."
    )
    dear = charts.phrase(
        "The cheapest run, on {cheap.chips:whole} {cheap.chip}, takes {cheap.cash:usd} of"
        " {case.budget_usd:usd}."
    )
    late = charts.phrase(
        "The quickest run, on {quick.chips:whole} {quick.chip}, is done in"
        " {change.quickest_days:number} days as surely as you ask, not in"
        " {case.deadline_days:typed}."
    )
    both = "Deadline and budget together are too tight."
    wrong = first_case(
        [
            (cheap.cash > case.budget_usd, dear),
            (change.quickest_days > case.deadline_days, late),
        ],
        both,
    )
    much = where(told.writes, "rounds", "comparisons")
    all_ = where(
        told.writes, asked.rounds, where(asked.method == OF_PAIRS, asked.labels, case.tokens)
    )
    share, money, days = change.share, change.dearer.cash, change.longer_days
    fewer, leaves = share * all_, change.leaves
    less = where(
        asked.method == OF_TEXTS,
        charts.phrase("make do with {fewer:count} of the {all_:count} tokens"),
        charts.phrase("make do with {fewer:whole} of the {all_:whole} {much}"),
    )
    changes = {
        charts.phrase("spend {money:usd}"): where(
            change.dearer.there, money / case.budget_usd - 1, NAN
        ),
        charts.phrase("wait {days:number} days"): where(
            change.longer.there, days / case.deadline_days - 1, NAN
        ),
        less: where(share > 1e-4, 1 / share - 1, NAN),
        charts.phrase("let the data leave, and rent for {leaves.cash:usd}"): where(
            leaves.there & (case.data == STAYS), 1.0, NAN
        ),
    }
    first = _least_of(changes)
    helps = where(first == "", "", charts.phrase(" What changes least: {first}."))
    return first_case([(asked.labels > MOST_LABELS, long), (~cheap.there, never)], wrong + helps)


def _least_of(changes: dict[Any, Any]) -> Any:
    """The words of the least of several numbers, none where none is a number."""
    name, _ = least({str(place): of for place, of in enumerate(changes.values())})
    return first_case([(name == str(place), of) for place, of in enumerate(changes)], "")


def _steps(told: Told) -> dict[int, tuple[Any, Any]]:
    """What to do and why, by number of the step."""
    steps = _demand, _supply, _size, _hardware, _layout, _levers, _measure, _energy, _change
    return {number: step(told) for number, step in enumerate(steps, 1)}


def _demand(told: Told) -> tuple[Any, Any]:
    asked, ways, bill = told.asked, told.ways, told.ways.paid.bill
    hours, rounds, each_s = bill.chip_hours, bill.job.rounds, bill.job.round_s
    each = asked.prompt_tokens + asked.answer_tokens
    many = asked.prompts * where(told.writes, asked.answers_each, 1.0)
    kind = look_up(SPOKEN, asked.method)
    step, of = (
        where(told.writes, "rounds", "optimizer steps"),
        where(told.writes, "answers", "examples"),
    )
    share = bill.cost.rollout_usd * bill.beyond / ways.usd
    wrote = where(
        told.writes, charts.phrase(", of which writing answers takes {share:percent}"), ""
    )
    return (
        charts.phrase("{hours:number} chip-hours of {ways.chip}{wrote}"),
        charts.phrase(
            "{kind}: {rounds:whole} {step} of {many:whole} {of} of {each:whole} tokens, each of"
            " {each_s:duration} by its phases; published runs took {bill.beyond:number} times"
            " their phases"
        ),
    )


def _supply(told: Told) -> tuple[Any, Any]:
    ways, hour, case = told.ways, told.ways.paid.bill.hour, told.case
    own = charts.phrase("Use chips of your own at {hour.usd:usd} an hour each, in {case.region}")
    spot = where(ways.how == SPOT, "on spot", "by the hour")
    rent = charts.phrase(
        "Rent them {spot} at {hour.usd:usd} each ({hour.counted}), in {case.region}"
    )
    ours = (ways.how == OWN) | (ways.how == BUY)
    shown: Any = ""
    for how, usd in ways.each.items():
        said = NAMES[how] + ": " + charts.say(usd, "usd")
        shown = where(usd > 0, where(shown == "", said, shown + "; " + said), shown)
    shown = where(shown == "", "no way keeps the limits", shown)
    taken = "; a server on spot is taken away about once a day (an assumption of this book), which"
    taken += " the bill counts"
    signs = "; take a seller that signs for the region, which no table of prices states"
    why = shown + where(ways.how == SPOT, taken, "") + where(case.data == IN_REGION, signs, "")
    walls = "; the data may not leave, so that no cloud comes into question"
    bought = charts.phrase("; {ways.paid.bought:whole chips} to buy, at prices of ") + _age(
        ways.chip
    )
    least_usd = ways.usd / ways.paid.bill.days / HOURS_PER_DAY
    hourly = charts.phrase("; an hour of all of them, to set them up, costs {least_usd:usd}")
    short = where(ours, False, ways.days * HOURS_PER_DAY < 1)
    return where(ours, own, rent), (
        why
        + where(case.data == STAYS, walls, "")
        + where(ways.how == BUY, bought, "")
        + where(short, hourly, "")
    )


def _age(chip: Any) -> Any:
    """Of when the price of a chip is that is bought, in words."""
    return look_up({name: accelerator(name).purchase_age for name in PLATFORMS}, chip)


def _size(told: Told) -> tuple[Any, Any]:
    asked, ways = told.asked, told.ways
    names = list(told.of.kinds)
    smaller = {name: smaller_than(name) for name in names}
    known = {name: of if of in names else name for name, of in smaller.items()}
    other = look_up(known, asked.model)
    judge = where(asked.model == asked.reward_model, other, asked.reward_model)
    usd, now = told.with_(model=other, reward_model=judge), ways.usd
    said = {name: right_said(name) for name in names}
    mine, its = look_up(said, asked.model), look_up(said, other)
    there = (other != asked.model) & (usd > 0)
    keep = charts.phrase("Keep {asked.model}: the page has none that is smaller by a third")
    tried = charts.phrase("Try {other} first, on the same data: {usd:usd} instead of {now:usd}")
    return where(there, tried, keep), where(there, its + "; " + mine, mine)


def _hardware(told: Told) -> tuple[Any, Any]:
    ways, asked = told.ways, told.asked
    rival, mine = ways.beside["rival"], ways.usd + where(ways.how == BUY, ways.cash, 0.0)
    counts: Any = ""
    for name in ("half", "twice"):
        of = ways.beside[name]
        lasts = of.days * DAY_S
        said = charts.phrase("; {of.chips:whole} would take {lasts:duration} and {of.usd:usd}")
        counts = counts + where(of.there, said, "")
    spread = apart(told.of, asked, (ways.chip, rival.chip), ways.how)
    sure = probability_cheaper(mine, rival.cost, spread)
    lost, lasts = expected_loss(mine, rival.cost, spread), rival.days * DAY_S
    next_ = charts.phrase(
        "; next: {rival.chips:whole} {rival.chip}, {rival.cost:usd} and {lasts:duration}; that the"
        " {ways.chip} costs less: {sure:chance}, taking it loses {lost:usd} in expectation"
    )
    none = "; no other platform does it within the limits"
    guess = ways.beside["unseen"]
    age = where(guess.how == BUY, ", at prices of " + _age(guess.chip), "")
    untried = charts.phrase(
        "; {guess.chips:whole} {guess.chip} would cost {guess.cost:usd}{age}, but no run on that"
        " architecture was fitted: try it before you sign"
    )
    untried = where(guess.there & (guess.cost < mine), untried, "")
    least = where(ways.there, "the cheapest in time", "the cheapest, but not within the limits")
    why = least + counts + where(rival.there, next_, none) + untried
    return told.named, why + _left_out(told)


def _left_out(told: Told) -> Any:
    """What is left out and why, and what a chip would have to cost that nobody lists on spot."""
    of = told.ways.beside["unsold_hours"]
    chips, chip, price = of.chips, of.chip, usd_per_hour_to_win(told.ways.usd, of.cost)
    wins = charts.phrase("; " + left_out.WINS.format(name="{chip}", contract=left_out.ON_SPOT))
    said = "; " + left_out.told(left_out.of_tunings()) + where(of.there, wins, "")
    return where(told.ways.how == OWN, "", said)


def _layout(told: Told) -> tuple[Any, Any]:
    ways, job = told.ways, told.ways.paid.bill.job
    held, room = job.held.total / 1e9, job.memory_bytes / 1e9
    engine, running = job.rollout.chips, job.rollout.running
    what = charts.phrase("{told.asked.trained} in 16 bits on {ways.chips:whole chips}")
    wrote = charts.phrase(
        "all chips write and then learn, {told.asked.sharing}: engines of {engine:whole chips}"
        " write {running:whole} answers at once; "
    )
    why = charts.phrase("a chip holds {held:number} of its {room:number} GB")
    return what, where(told.writes, wrote, "") + why


def _levers(told: Told) -> tuple[Any, Any]:
    ways, asked, now = told.ways, told.asked, told.ways.usd
    rented = (ways.how == DEMAND) | (ways.how == SPOT)
    contract = where(ways.how == SPOT, SPOT, DEMAND)
    hour = rents_to_tune().paid(ways.chip, contract, CHEAP)
    cheaper = where(rented & hour.there, hour.usd / ways.paid.bill.hour.usd, NAN)
    usd = {
        "train adapters alone (LoRA)": where(asked.trained == ALL, told.with_(trained=LORA), NAN),
        "write answers in FP8": where(told.writes, told.with_(rollout_precision="FP8"), NAN),
        "rent from the cheapest quarter of sellers": now * cheaper,
    }
    helps = {name: where(of < 0.995 * now, of, NAN) for name, of in usd.items()}
    name, best = least(helps)
    saved = 1 - best / now
    shown: Any = ""
    for words, of in helps.items():
        less = 1 - of / now
        said = words + charts.phrase(": {less:percent} less, {of:usd}")
        shown = where(of > 0, where(shown == "", said, shown + "; " + said), shown)
    none = "No lever that was tried makes the run cheaper"
    return where(best > 0, charts.phrase("First {name}: {saved:percent} less"), none), shown


def _measure(told: Told) -> tuple[Any, Any]:
    real, usd, (low, high) = real_runs(), told.ways.usd, told.price_ends
    quick, slow = usd * real.low, usd * real.high
    cheap, dear = usd * low, usd * high
    how = PROBED["time of real runs"]
    price = charts.phrase("; price of an hour: a bill of {cheap:usd} to {dear:usd}")
    return f"The time of real runs: {how}", charts.phrase(
        "time of real runs: a bill of {quick:usd} to {slow:usd}"
    ) + where(high > low, price, "")


def _energy(told: Told) -> tuple[Any, Any]:
    case, ways = told.case, told.ways
    drawn = Machine(**choose(machines(PLATFORMS), ways.chip, "training"))
    regions = {name: vars(place(name)) for name in REGIONS}
    made = Footprint.of(
        drawn, ways.paid.bill.chip_hours, 1.0, Place(**choose(regions, case.region))
    )
    there = Footprint.of(drawn, ways.paid.bill.chip_hours, 1.0, place(CLEAN))
    energy, carbon, clean = made.energy.watt_hours, made.carbon.total, there.carbon.total
    part = made.carbon.embodied_share
    return (
        charts.phrase("{energy:si Wh} of electricity and {carbon:mass} of CO2e in {case.region}"),
        charts.phrase(
            f"in {CLEAN} it would be {{clean:mass}}; {{part:percent}} of it is from making the"
            " hardware"
        ),
    )


def _change(told: Told) -> tuple[Any, Any]:
    ways, asked, bill = told.ways, told.asked, told.ways.paid.bill
    rival, mine = ways.beside["rival"], ways.usd + where(ways.how == BUY, ways.cash, 0.0)
    gap = rival.cost / mine - 1
    dearer = charts.phrase(
        "A bill on the {ways.chip} that is {gap:percent} higher makes the {rival.chip} cheaper"
    )
    alone = "The amount of work: no other platform does it within limits"
    before = where(told.writes, bill.cost.reward_model_usd * bill.beyond, 0.0)
    noun = where(told.writes, "rounds", where(asked.method == OF_PAIRS, "comparisons", "tokens"))
    shown: Any = ""
    for by in BY:
        usd = before + by * (ways.usd - before)
        shown = shown + ("" if by == BY[0] else "; ")
        shown = shown + charts.phrase(f"{by:g} times the {{noun}}: {{usd:usd}}")
    for days in SOONER:
        of = ways.beside[f"within_{days}"]
        said = charts.phrase(
            f"; within {days} days: {{of.chips:whole}} {{of.chip}}, {{of.usd:usd}}"
        )
        none = f"; within {days} days: no cluster that is offered does it"
        shown = shown + where(ways.days > days, where(of.there, said, none), "")
    return where(rival.there, dearer, alone), shown


def _questions(told: Told) -> dict[int, Any]:
    """The commands that put the case to the chapters behind the steps, by step."""
    case, asked, ways = told.case, told.asked, told.ways
    hours, hour = ways.paid.bill.chip_hours, ways.paid.bill.hour.usd
    rented = (ways.how == DEMAND) | (ways.how == SPOT)
    contract = where(ways.how == SPOT, SPOT, DEMAND)
    price = where(
        rented,
        charts.phrase(' -p contract="{contract}"'),
        charts.phrase(" -p rent_usd_per_hour={hour:typed}"),
    )
    writes = charts.phrase(
        " -p rounds={asked.rounds:typed} -p answers_each={asked.answers_each:typed}"
        " -p most_tokens={asked.most_tokens:typed}"
    )
    learns = charts.phrase(
        " -p labels={asked.labels:typed} -p usd_per_label={asked.usd_per_label:typed}"
    )
    run = charts.phrase(
        'scaleright run rlhf_cost -p model="{asked.model}" -p method={asked.method}'
        ' -p trained="{asked.trained}" -p accelerator="{ways.chip}" -p chips={ways.chips:typed}'
        " -p passes={asked.passes:typed} -p answer_tokens={asked.answer_tokens:typed}"
    )
    run = run + price + where(told.writes, writes, "") + where(asked.method == "rlvr", "", learns)
    task = where(asked.trained == ALL, "sft", "lora")
    batch = 8 * ways.chips
    split = charts.phrase(
        'scaleright run parallelism -p model="{asked.model}" -p accelerator="{ways.chip}"'
        " -p chips={ways.chips:typed} -p sequence=2048 -p global_batch={batch:typed} -p task={task}"
    )
    planet = charts.phrase(
        'scaleright run sustainability -p task=training -p accelerator="{ways.chip}"'
        ' -p chip_hours={hours:typed} -p utilization=1 -p place="{case.region}"'
    )
    planet = where(hours < 1, run, planet)  # that one begins at an hour
    # that chapter splits a server or more, and joins no cards
    card = look_up({name: float(name in CARDS) for name in PLATFORMS}, ways.chip) > 0
    split = where((ways.chips < SERVER_CHIPS) | card, run, split)
    return dict.fromkeys((1, 2, 3, 4, 6, 7, 9), run) | {5: split, 8: planet}
