"""What the chapter `plan` shows of a study of the reader's own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from scaleright import charts
from scaleright.chapters.plan.limits import rounded
from scaleright.chapters.plan.page import (
    NAN,
    STUDY,
    Change,
    OwnPlan,
    Question,
    gives,
    now,
    reached,
    weighed,
)
from scaleright.chapters.plan.study_live import CHANGES, StudyWays
from scaleright.chapters.plan.study_ways import RENT, TARGET, USUAL
from scaleright.chapters.plan.training import compute_optimal_tokens
from scaleright.chapters.plan.training_ways import NONE
from scaleright.costs.experiment_steps import ExperimentSteps
from scaleright.costs.ownership import REGIONS
from scaleright.costs.platforms import cluster_chips
from scaleright.costs.whole_runs import TYPICAL
from scaleright.decisions import left_out
from scaleright.decisions.ablation_study import NODE_CHIPS
from scaleright.decisions.build_buy import arrives
from scaleright.decisions.plan_parts import FREE, in_words, limited
from scaleright.decisions.plan_runs import BUY, SPOT, to_own
from scaleright.decisions.plan_workload import LEAVES, PROXIES, STAYS, Workload
from scaleright.footprint import Footprint, machine, place
from scaleright.footprint.machines import Machine
from scaleright.footprint.places import Place
from scaleright.formulas import search
from scaleright.ops import ceil, first_case, floor, maximum, minimum, normal_cdf, where
from scaleright.quantity import choose, given, least
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
LEVERS = {
    "halvings": "stop the worse half early, twice",
    "precision": "train in FP8",
    "seller": "rent from the cheapest quarter of sellers",
    "idle": "keep the cluster busy between jobs",
}
"""Levers in words, by their names in `study_live.CHANGES`."""
BARS = {
    "rented": "rent on demand",
    "on_spot": "rent on spot",
    "bought": "buy",
    "own": "use what you own",
    "beside": "use what you own, and others beside",
}
LARGEST_TOKENS, LARGEST_USD = 1e12, 1e8
"""The most tokens of a run, and the largest budget, that the chapter takes [USD]."""
WORTH = 0.005
"""The least that a lever saves that is told [1]."""
FIRST = "First the noise between seeds: train one variant three times before the other runs"
SURE = "As sure as the model: experiments were predicted within a third in the median."
LOWEST = {"variants": 2.0, "tokens": 1e8}
"""The least study that is offered where a limit has to give."""


def ways(case: Any, models: Sequence[str]) -> StudyWays:
    """The ways to do a study of a case, whose runs may be of these models."""
    case = SimpleNamespace(**vars(weighed(case, STUDY)), tuning=TYPICAL)
    return StudyWays.of(case, ExperimentSteps.of(models, [TARGET]))


@search
def asked_ways(of: Workload) -> StudyWays:
    """The ways to do the study of a workload."""
    model = of.model or PROXIES[0]
    follow = {
        "proxy_model": model,
        "tokens": of.tokens or compute_optimal_tokens(model),
        "variants": of.variants,
        "seeds": of.seeds,
        "deadline_chance": of.deadline_chance,
        "data": of.data,
        "region": of.region,
    }
    limits = {"deadline_days": of.deadline_days, "budget_usd": of.budget_usd}
    owned = {"owned": of.owned, "owned_chips": of.owned_chips}
    follow |= {name: it for name, it in (limits | owned).items() if it}
    fixed = dict.fromkeys(limits, FREE) | {"owned": NONE, "owned_chips": 0, "tuning": of.tuning}
    case = fixed | {name: given(name, it) for name, it in follow.items()} | {"weighed": True}
    return StudyWays.of(
        SimpleNamespace(**case), ExperimentSteps.of([model], [TARGET]), of.accelerator
    )


def own_plan(of: StudyWays) -> OwnPlan:
    """The plan of the reader's own study."""
    case, there = of.case, of.there
    runs, tokens, buys = case.variants * case.seeds, case.tokens, of.weighed.bought > 0
    breaks, changes, decision = _breaks(of), _changes(of), _decision(of)
    steps, asked = _steps(of, decision), _asked(of)
    return OwnPlan(
        work=charts.phrase(
            "Compare {case.variants:whole} variants of {case.proxy_model}, {runs:whole} runs of"
            " {tokens:count} tokens"
        ),
        decision=where(there, decision, "This cannot be done as asked"),
        usd=where(there, of.cash, of.bill.least("cash")[1]),
        per=where(buys, "to buy them", "for the study"),
        because=where(there, _because(of), "No cluster that is tried keeps it."),
        sure=where(there, _sure(of), SURE),
        helps=where(there, "Nothing has to give.", gives(breaks, changes)),
        met=there,
        there=True,
        otherwise="",
        bars={words: of.bill.least(name)[1] for name, words in BARS.items()},
        steps=reached(there, steps),
        questions=_questions(of, asked),
        breaks=breaks,
        changes=changes,
        asked=asked,
        figures=_figures(of),
    )


def _figures(of: StudyWays) -> dict[str, Any]:
    """What a machine reads of the study."""
    mine = where(of.owns, where(of.mixed, of.part.study.chips, of.weighed.study.chips), 0.0)
    return {
        "usd": of.usd,
        "cash_usd": of.cash,
        "low_usd": of.span[0],
        "high_usd": of.span[1],
        "days": of.days,
        "kept": of.kept,
        "chips": of.chips,
        "accelerator": of.taken["chip"],
        "contract": of.taken["contract"],
        "owned_chips_used": mine,
        "usd_per_run": of.usd / (of.case.variants * of.case.seeds),
    }


def _decision(of: StudyWays) -> Any:
    """What to do: chips that are owned first."""
    chip, used, bought = of.taken["chip"], of.weighed.study.chips, of.weighed.bought
    owned, mine, days = of.owned.chip, of.part.study.chips, of.days * DAY_S
    some = where(bought > used, charts.phrase(" and use {used:whole} of them"), "")
    spot = where(of.taken["contract"] == SPOT, " on spot", "")
    width, variants, whole = of.taken["width"], of.variants, of.case.variants
    buys = charts.phrase("uy {bought:whole} {chip}{some}")
    rents = charts.phrase("ent {used:whole} {chip}{spot}")
    first, beside = (
        where(bought > 0, buy + buys, rent + rents) for buy, rent in (("B", "R"), ("b", "r"))
    )
    use = charts.phrase("Use {used:whole} {chip} that you own")
    parts = charts.phrase(
        "Use {mine:whole} {owned} that you own, and beside them {beside} for {variants:whole} of"
        " {whole:whole} variants:"
    )
    alone = where(of.owns, use, first) + " for"
    return where(of.mixed, parts, alone) + charts.phrase(" {days:duration}, a run on {width}")


def _because(of: StudyWays) -> Any:
    """Why that, in sentences."""
    case, on, usd = of.case, of.weighed.study, of.usd
    each, hours, price, later = (
        usd / (case.variants * case.seeds),
        on.hours.total,
        _price(of),
        arrives(),
    )
    parts = where(
        of.mixed, "Your own chips do what they can do in time for least, and beside them ", ""
    )
    idle = (case.owned != NONE) & (case.owned_chips > 0) & ~of.owns
    unused = charts.phrase(
        "; the {case.owned_chips:whole} {case.owned} that you own would not, or not for less"
    )
    unused = where(idle, unused, "")
    life = charts.phrase(
        " The study takes {usd:usd} of their life; {later}, and their wait is counted in the"
        " deadline."
    )
    return charts.phrase(
        "{parts}{hours:whole} chip-hours at {price:usd} are the least of the platforms whose"
        " architecture the fit has seen, in time{unused}. A run costs {each:usd}."
    ) + where(of.weighed.bought > 0, life, "")


def _price(of: StudyWays) -> Any:
    """What an hour of the chips that are taken costs, of owned ones what running them does
    [USD/h].
    """
    running = where(of.owns & ~of.mixed, to_own(of.taken["chip"]).running, 1.0)
    return of.weighed.study.hour.total * running


def _sure(of: StudyWays) -> Any:
    """How sure the study is to keep its limits, and what such studies cost."""
    (low, high), case = of.span, of.case
    in_time, paid = in_words(of.kept), in_words(of.within)
    time = charts.phrase(
        "Time: {in_time} to be done in {case.deadline_days:days} ({of.kept:chance}). "
    )
    within = charts.phrase("{paid} to stay within {case.budget_usd:usd} ({of.within:chance}); ")
    return (
        (time if limited(case.deadline_days) else "")
        + "Money: "
        + (within if limited(case.budget_usd) else "")
        + charts.phrase("nine of ten such studies would cost {low:usd} to {high:usd}.")
    )


def _named(of: StudyWays, place: Any) -> Any:
    """The chips of a study, in words."""
    own, other, _ = of.bill.split(place, of.case.variants)
    mine, its = of.owned.cluster(own), of.bill.other(other)
    owned, chip = mine["chip"], its["chip"]
    held, chips = NODE_CHIPS * mine["nodes"], NODE_CHIPS * its["nodes"]
    spot = where(its["contract"] == SPOT, " on spot", "")
    end = where(its["paid"] == BUY, " bought for it", spot)
    owns = charts.phrase("{held:whole} {owned} that you own")
    others = charts.phrase("{chips:whole} {chip}{end}")
    both = owns + where(other >= 0, " and " + others, "")
    return where(own >= 0, both, others)


def _at(of: StudyWays, column: str) -> tuple[Any, Any]:
    """The study with the least of a column, in words, and its value there."""
    found, value = of.bill.least(column)
    return _named(of, found), value


def _breaks(of: StudyWays) -> Any:
    """Which limits no study keeps, and by how much."""
    bill, case = of.bill, of.case
    (quick, half), (cheap, cash) = bill.least("quick"), _at(of, "cash")
    fast, days = _named(of, quick), bill.value("days", quick)
    over_days, over_usd = days / case.deadline_days, cash / case.budget_usd
    slow, later, stays = days * DAY_S, arrives(), case.data == STAYS
    costs, late = where(stays, "takes", "costs"), half > case.deadline_days
    comes = charts.phrase("{later}, and the quickest, on {fast}, then takes {slow:duration}")
    takes = charts.phrase(
        "the quickest, on {fast}, takes {slow:duration}, {over_days:number} times as long"
    )
    buys = stays & (bill.split(quick, case.variants)[1] >= 0)
    said = where(buys, comes, takes)
    time = charts.phrase("the deadline of {case.deadline_days:days}: {said}")
    money = charts.phrase(
        "the budget of {case.budget_usd:usd}: the cheapest, on {cheap}, {costs} {cash:usd},"
        " {over_usd:number} times as much"
    )
    surest, by = _at(of, "late")
    kept, asked = normal_cdf(-by), case.deadline_chance
    unsure = charts.phrase(
        "the deadline of {case.deadline_days:days}: the surest within the budget, {surest},"
        " keeps it with a chance of {kept:chance}, not {asked:chance}"
    )
    dear = cash > case.budget_usd
    told = where(late, where(dear, time + " and " + money, time), where(dear, money, unsure))
    if of.named is None:
        return told
    sells = where(stays, "sells", "rents out")
    nobody = charts.phrase("the platform: nobody {sells} {of.named} for it")
    unknown = f"the platform: no cluster is built of {of.named}"
    nowhere = nobody if of.named in of.steps.names else unknown
    return where(of.bill.least("quick")[0] >= 0, told, nowhere)


def _changes(of: StudyWays) -> dict[str, Change]:
    """Changes with which the limits are kept."""
    case, bill = of.case, of.bill
    timed, paid = limited(case.deadline_days), limited(case.budget_usd)
    dear, cash = _at(of, "dear")
    (near, cost), (_, sure) = _at(of, "near"), bill.least("sure")
    days = rounded(bill.value("sure_days", bill.least("near")[0]), up=True)
    budget = rounded(cash, up=True)
    both, over = _at(of, "both")
    place = bill.least("both")[0]
    wait = maximum(rounded(bill.value("sure_days", place), up=True), case.deadline_days)
    pay = maximum(rounded(bill.value("cash", place), up=True), case.budget_usd)
    more = maximum(wait / case.deadline_days, pay / case.budget_usd) - 1
    surest, late = _at(of, "late")
    chance = floor(100 * normal_cdf(-late)) / 100
    other, usd = _at(of, "other")
    neither = where(sure > 0, False, where(cash > 0, False, over > 0))
    surely = charts.phrase(
        "be {chance:chance} sure of the deadline instead of {case.deadline_chance:chance}: {surest}"
    )
    return (
        _freed(of)
        | _fewer(of)
        | {
            "budget_usd": Change(
                charts.phrase("spend {budget:usd}: {dear}"),
                budget / case.budget_usd - 1,
                (cash > 0) & paid,
                budget,
            ),
            "data": Change(
                charts.phrase("let the data leave: {other} for {usd:usd}"), 1.0, usd > 0, LEAVES
            ),
            "deadline_chance": Change(
                surely,
                1 - chance / case.deadline_chance,
                (chance >= 0.5) & (chance < case.deadline_chance) & timed,
                chance,
            ),
            "deadline_days": Change(
                charts.phrase("wait {days:days}: {near} for {cost:usd}"),
                days / case.deadline_days - 1,
                (sure > 0) & timed,
                days,
            ),
            "both": Change(
                charts.phrase("wait {wait:days} and spend {pay:usd}: {both}"),
                more,
                neither & (timed and paid),
                wait,
                "deadline_days",
                {"budget_usd": pay},
            ),
        }
    )


def _fewer(of: StudyWays) -> dict[str, Change]:
    """Fewer variants, or fewer tokens of each."""
    case, bill = of.case, of.bill
    fewer, share = -bill.least("fewer")[1], -bill.least("share")[1]
    tokens = rounded(maximum(case.tokens * share, 1.0), up=False)
    return {
        "tokens": Change(
            charts.phrase("train each run on {tokens:count} tokens instead of {case.tokens:count}"),
            case.tokens / tokens - 1,
            case.tokens * share >= LOWEST["tokens"],
            tokens,
        ),
        "variants": Change(
            charts.phrase("compare {fewer:whole} variants instead of {case.variants:whole}"),
            case.variants / maximum(fewer, 1.0) - 1,
            fewer >= LOWEST["variants"],
            fewer,
        ),
    }


def _freed(of: StudyWays) -> dict[str, Change]:
    """What it would help to take any accelerator, where it may be but one and that will not do."""
    if of.named is None or now(of.there):
        return {}
    free = StudyWays.of(of.case, of.steps)
    named = _named(free, free.bill.least("best")[0])
    says = charts.phrase("leave the accelerator open: {named} for {free.cash:usd}")
    return {"accelerator": Change(says, 1.0, free.there, None)}


def _steps(of: StudyWays, decision: Any) -> dict[int, tuple[Any, list[Any]]]:
    """What to do and why, by number of the step."""
    case, on, chip, width = of.case, of.weighed.study, of.taken["chip"], of.taken["width"]
    runs, region, each = case.variants * case.seeds, case.region, on.run_hours
    drawn, carbon = _footprint(of, region)
    cleaner = _footprint(of, "Sweden")[1]
    quickest = of.quickest_days * DAY_S
    first = [
        "whether a difference is real hangs on it, and no table has yours",
        charts.phrase("then one run whole: it should take {each:hours}"),
        "then how many runs fail: the plan counts one in twenty",
    ]
    return {
        1: (
            charts.phrase("{runs:whole runs}, each {each:hours} on {width}"),
            [
                charts.phrase("{case.variants:whole} variants with {case.seeds:whole seeds} each"),
                charts.phrase("{case.tokens:count} tokens a run"),
                "one run in twenty fails and is made again",
                "evaluation, loading and idle time count",
            ],
        ),
        2: _supply(of, decision),
        3: _size(of),
        4: (_hardware(of), _rivals(of)),
        5: (
            _layout(of),
            ["small models need no splitting: more runs side by side beat larger runs in turn"],
        ),
        6: _levers(of),
        7: (FIRST, first),
        8: (
            charts.phrase("{drawn:si Wh} of electricity and {carbon:mass} of CO2e in {region}"),
            [charts.phrase("in Sweden it would be {cleaner:mass}")],
        ),
        9: (
            _turns(of),
            [
                _seeds(of),
                charts.phrase("the largest cluster that is tried would take {quickest:duration}"),
            ],
        ),
    }


def _hardware(of: StudyWays) -> Any:
    """The chips of the study."""
    chip, chips, owned, held = (
        of.taken["chip"],
        of.weighed.study.chips,
        of.owned.chip,
        of.part.study.chips,
    )
    beside = where(of.mixed, charts.phrase("{held:whole} {owned} and "), "")
    return beside + charts.phrase("{chips:whole} {chip}")


def _layout(of: StudyWays) -> Any:
    """What a run is put on, and how many there are at once."""
    chips, places, width = of.weighed.study.chips, of.weighed.study.places, of.taken["width"]
    nodes = chips / NODE_CHIPS
    some = charts.phrase("{chips:whole} chips of a server")
    held = where(nodes < 1, some, charts.phrase("{nodes:whole nodes} of eight"))
    return charts.phrase("{held}, {places:whole runs} at once, each on {width}")


def _size(of: StudyWays) -> tuple[Any, list[Any]]:
    """How often a decision is right, and how many seeds tell variants apart."""
    case, right, power = of.case, of.decision.right, of.decision.power
    needed = maximum(ceil(of.decision.needed - 1e-9), 1.0)
    return (
        charts.phrase(
            "A decision between two variants is right about the large run in {right:percent}"
        ),
        [
            charts.phrase(
                "with {case.seeds:whole seeds} a difference of one point is found in"
                " {power:percent} of cases, where seeds differ by half a point; {needed:whole}"
                " seeds find it in 80 %"
            ),
            "a larger proxy is right more often, and costs in proportion to its parameters",
        ],
    )


def _supply(of: StudyWays, decision: Any) -> tuple[Any, list[Any]]:
    """The way that is taken, each with its cost, and why that one."""
    alone, hour = of.owns & ~of.mixed, _price(of)
    buy = charts.phrase(
        "Buy them: your data may not leave. An hour of one costs {hour:usd} with its price"
    )
    use = charts.phrase("Use the chips that you own: running one costs {hour:usd} an hour")
    rent = charts.phrase("{decision}, at {hour:usd} an hour of a chip")
    usd, spot, buys = of.usd, of.taken["contract"] == SPOT, of.weighed.bought > 0
    said: Any = ""
    for name, words in BARS.items():
        cost = of.bill.least(name)[1]
        here = words + " " + charts.say(cost, "usd")
        said = where(cost > 0, where(said == "", here, said + "; " + here), said)
    price, lasts = of.weighed.study.hour.total, of.part.days * DAY_S
    paid = charts.phrase(
        "what they cost to buy is paid already; with it an hour would cost {price:usd}"
    )
    whole = "a budget has to pay the whole price; the study takes a part of their life"
    pauses = (
        "a server on spot is taken away about once a day (an assumption of this book), and its run"
        " goes on from the last checkpoint: hours and days count that"
    )
    done = of.case.variants - of.variants
    beside = charts.phrase("those that you own take {done:whole} variants, and {lasts:duration}")
    each = where(of.mixed, " for each part", "")
    return first_case([(buys, buy), (alone, use)], rent), [
        said,
        first_case(
            [(buys, whole), (alone, paid)],
            "a study of days binds nobody for a year",
        ),
        where(spot, pauses, ""),
        where(of.mixed, beside, ""),
        "no API trains variants",
        charts.phrase("the study takes {usd:usd}, half a person who waits{each} included"),
    ]


def _rivals(of: StudyWays) -> list[Any]:
    """What the study costs on the other platforms, and which are left out."""
    told = []
    for name, cost in of.rivals():
        new = where(of.seen(name), "", " (no published run was on its architecture)")
        told.append(where(name == "", "", name + ": " + charts.say(cost, "usd") + new))
    told[0] = where(told[0] == "", "no other platform does it in time", told[0])
    if of.named is not None:
        return told
    chip, chips, price = of.unsold
    wins = charts.phrase(left_out.WINS.format(name="{chip}", contract=left_out.ON_SPOT))
    return [*told, left_out.told(left_out.of_trainings()), where(price > 0, wins, "")]


def _levers(of: StudyWays) -> tuple[Any, list[Any]]:
    """Levers by what they save here, the best first."""
    usd, rents = of.usd, of.taken["paid"] == RENT
    costs = {name: of.changed[name] for name in LEVERS}
    costs["seller"] = where(rents, costs["seller"], NAN)
    left = {name: where(1 - cost > WORTH, cost, NAN) for name, cost in costs.items()}
    first, told = "None of the levers tried makes the study cheaper", list[Any]()
    for _ in LEVERS:
        name, cost = least(left)
        words = first_case([(name == of, it) for of, it in LEVERS.items()], "")
        saved, there = 1 - cost, usd * cost
        here = charts.phrase("{words}: {saved:percent} less, {there:usd}")
        if not told:
            first = where(name == "", first, charts.phrase("First {words}: {saved:percent} less"))
        told.append(where(name == "", "", here))
        left = {of: where(name == of, NAN, it) for of, it in left.items()}
    return first, told


def _turns(of: StudyWays) -> Any:
    """At which price another platform is cheaper."""
    chip, usd = of.taken["chip"], of.usd
    seen = {name: where(of.seen(name), cost, NAN) for name, cost in of.on.items()}
    other, cost = least(
        {name: where((chip == name) | (it <= usd), NAN, it) for name, it in seen.items()}
    )
    gap = cost / usd - 1
    dearer = charts.phrase(
        "A price of the {chip} that is {gap:percent} higher makes the {other} cheaper"
    )
    same = "Twice the variants cost twice as much; the platform stays the same"
    return where(of.owns, same, where(cost > 0, dearer, same))


def _seeds(of: StudyWays) -> Any:
    """What other numbers of seeds cost."""
    usd, said = of.usd, ""
    for seeds, name in ((1, "one"), (2, "two"), (4, "four")):
        cost, words = usd * of.changed[name], f"{seeds} seed{'s' * (seeds > 1)} each: "
        here = words + charts.say(cost, "usd")
        more = where(said == "", here, said + "; " + here)
        said = where(of.case.seeds == seeds, said, more)
    return said


def _footprint(of: StudyWays, where_: Any) -> tuple[Any, Any]:
    """Electricity [Wh] and emissions [kg CO2e] of the study in a region."""
    chips = {name: vars(machine(name, "training")) for name in cluster_chips()}
    grid = choose({name: vars(place(name)) for name in dict.fromkeys((*REGIONS, "Sweden"))}, where_)
    there = Place(**{name: getattr(grid, name) for name in Place.__dataclass_fields__})

    def made(name: Any, hours: Any) -> tuple[Any, Any]:
        chip = choose(chips, name)
        drawn = Machine(**{name: getattr(chip, name) for name in Machine.__dataclass_fields__})
        it = Footprint.of(drawn, hours, 1.0, there)
        return it.energy.watt_hours, it.carbon.total

    last = made(of.taken["chip"], of.weighed.study.hours.total)
    part = made(of.owned.chip, of.part.study.hours.total)
    drawn, carbon = (one + where(of.mixed, more, 0.0) for one, more in zip(last, part, strict=True))
    return drawn, carbon


def _asked(of: StudyWays) -> dict[int, list[Question]]:
    """The questions to the chapters that take all of it, by step: to that on studies, and to that
    on energy.
    """
    case, taken, on, days = of.case, of.taken, of.weighed.study, maximum(of.deadline_days, 0.5)
    rents, alone = taken["paid"] == RENT, of.there & ~of.mixed
    there = alone & of.likewise & (case.tokens <= LARGEST_TOKENS) & (days <= of.deadline_days)
    study = {
        "model": case.proxy_model,
        "tokens": case.tokens,
        "variants": case.variants,
        "seeds": case.seeds,
        "tuning": case.tuning,
        "budget_usd": minimum(case.budget_usd, LARGEST_USD),
        "deadline_days": days,
        "accelerator": taken["chip"],
        "run_on": taken["width"],
        "paid": where(rents, "rent", "own"),
        "contract": taken["contract"],
        "idle": of.idle,
    }

    def asked(figures: Mapping[str, Any], **change: Any) -> Question:
        return Question("ablation_cost", study | change, figures, there)

    (low, high), drawn = (end / of.usd * on.usd for end in of.span), _footprint(of, case.region)
    planet = {
        "task": "training",
        "accelerator": taken["chip"],
        "chip_hours": on.hours.total,
        "utilization": 1.0,
        "place": case.region,
    }
    figures = {"made.energy.watt_hours": drawn[0], "made.carbon.total": drawn[1]}
    levers = {name: {"study.usd": of.changed[name] * on.usd} for name in LEVERS}
    saves = {name: there & rents & (1 - of.changed[name] > WORTH) for name in LEVERS}
    idle = 1 - (1 - CHANGES["idle"]["idle"]) * (1 - of.idle) / (1 - USUAL["idle"])
    changes = {**CHANGES, "idle": {"idle": idle}}
    return {
        1: [asked({"study.run_hours": on.run_hours})],
        2: [asked({"study.usd": on.usd})],
        3: [asked({"decision.right": of.decision.right})],
        4: [asked({"study.chips": on.chips})],
        5: [asked({"study.places": on.places})],
        6: [replace(asked(levers[of], **changes[of]), there=saves[of]) for of in LEVERS],
        7: [asked({"span.low_usd": low, "span.high_usd": high})],
        8: [Question("sustainability", planet, figures, alone)],
        9: [asked({"mine.quickest": of.quickest_days})],
    }


def _questions(of: StudyWays, asked: Mapping[int, Sequence[Question]]) -> dict[int, Any]:
    """The commands that put the reader's own study to the chapters, by step; where none takes it,
    that which plans it.
    """
    case = of.case
    whole = charts.phrase(
        'scaleright plan -p work=study -p model="{case.proxy_model}" -p tokens={case.tokens:typed}'
        " -p variants={case.variants:typed} -p seeds={case.seeds:typed}"
        " -p budget_usd={case.budget_usd:typed} -p deadline_days={case.deadline_days:typed}"
        ' -p deadline_chance={case.deadline_chance:typed} -p data="{case.data}"'
    )
    owned = charts.phrase(' -p owned="{case.owned}" -p owned_chips={case.owned_chips:typed}')
    whole = whole + where((case.owned != NONE) & (case.owned_chips > 0), owned, "")
    study, planet = (where(it.there, it.command, whole) for it in (asked[1][0], asked[8][0]))
    return dict.fromkeys(range(1, 10), study) | {8: planet}
