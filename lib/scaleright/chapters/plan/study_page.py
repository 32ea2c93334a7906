"""What the chapter `plan` shows of a study of the reader's own."""

from collections.abc import Sequence
from typing import Any

from scaleright import charts
from scaleright.chapters.plan.limits import rounded
from scaleright.chapters.plan.page import NAN, STUDY, OwnPlan, weighed
from scaleright.chapters.plan.study import LOWEST, SURE
from scaleright.chapters.plan.study_live import StudyWays
from scaleright.chapters.plan.study_ways import RENT, TARGET
from scaleright.chapters.plan.training_ways import NONE
from scaleright.costs.experiment_steps import ExperimentSteps
from scaleright.costs.ownership import REGIONS
from scaleright.costs.platforms import cluster_chips
from scaleright.decisions import left_out
from scaleright.decisions.ablation_study import NODE_CHIPS
from scaleright.decisions.build_buy import arrives
from scaleright.decisions.plan_runs import BUY, SPOT, to_own
from scaleright.decisions.plan_workload import STAYS
from scaleright.footprint import Footprint, machine, place
from scaleright.footprint.machines import Machine
from scaleright.footprint.places import Place
from scaleright.ops import ceil, first_case, floor, log10, maximum, normal_cdf, where
from scaleright.quantity import choose, least
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
LARGEST_TOKENS = 1e12
"""The most tokens of a run that the chapter takes."""
FIRST = "First the noise between seeds: train one variant three times before the other runs"
NOT_REACHED = "Not reached: one of the limits has to give first."


def ways(case: Any, models: Sequence[str]) -> StudyWays:
    """The ways to do a study of a case, whose runs may be of these models."""
    return StudyWays.of(weighed(case, STUDY), ExperimentSteps.of(models, [TARGET]))


def own_plan(of: StudyWays) -> OwnPlan:
    """The plan of the reader's own study."""
    case, there = of.case, of.there
    runs, tokens, buys = case.variants * case.seeds, case.tokens, of.weighed.bought > 0
    broken, helps, decision = _broken(of), _helps(of), _decision(of)
    steps = _steps(of, decision)
    return OwnPlan(
        work=charts.phrase(
            "Compare {case.variants:whole} variants of {case.proxy_model}, {runs:whole} runs of"
            " {tokens:count} tokens"
        ),
        decision=where(there, decision, "This cannot be done as asked"),
        usd=where(there, of.cash, of.bill.least("cash")[1]),
        per=where(buys, "to buy them", "for the study"),
        because=where(there, _because(of), "No cluster that is tried keeps it."),
        sure=where(there, _sure(of), SURE[0].upper() + SURE[1:] + "."),
        helps=where(there, "Nothing has to give.", broken + " " + helps),
        met=there,
        there=True,
        otherwise="",
        bars={words: of.bill.least(name)[1] for name, words in BARS.items()},
        steps={
            number: (where(there, do, NOT_REACHED), where(there, why, "the limits break before it"))
            for number, (do, why) in steps.items()
        },
        questions=_questions(of),
    )


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


def _likely(probability: Any) -> Any:
    """How sure something is, in words that people use."""
    said: Any = "it could go either way"
    for least_, words in (
        (0.6, "more likely than not"),
        (0.75, "likely"),
        (0.95, "almost certain"),
    ):
        said = where(probability >= least_, words, said)
    return said


def _sure(of: StudyWays) -> Any:
    """How sure the study is to keep its limits, and what such studies cost."""
    (low, high), case = of.span, of.case
    in_time, paid = _likely(of.kept), _likely(of.within)
    return charts.phrase(
        "Time: {in_time} to be done in {case.deadline_days:days} ({of.kept:chance})."
        " Money: {paid} to stay within {case.budget_usd:usd} ({of.within:chance}); nine of ten such"
        " studies would cost {low:usd} to {high:usd}."
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


def _broken(of: StudyWays) -> Any:
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
    return charts.phrase("What breaks: {told}.")


def _helps(of: StudyWays) -> Any:
    """What would help, the least change first."""
    changes = _changes(of)
    left = {name: where(there, _three(share), NAN) for name, (_, share, there) in changes.items()}
    said: Any = ""
    for _ in changes:
        name, share = least(left)
        words = first_case([(name == of, it[0]) for of, it in changes.items()], "")
        more = where(said == "", words, said + "; or " + words)
        said = where(share >= 0, more, said)
        left = {of: where(name == of, NAN, share) for of, share in left.items()}
    none = charts.phrase("Nothing that is tried would.")
    return where(said == "", none, charts.phrase("What would help: {said}."))


def _three(share: Any) -> Any:
    """A share in three digits, by which changes are put in order."""
    share = maximum(share, 1e-6)
    step = 10.0 ** (floor(log10(share)) - 2)
    return floor(share / step + 0.5) * step


def _changes(of: StudyWays) -> dict[str, tuple[Any, Any, Any]]:
    """Changes with which the limits are kept: in words, how much each changes over what was asked,
    and whether it helps; of equal ones the first by the name of its parameter comes first.
    """
    case, bill = of.case, of.bill
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
    fewer, share = -bill.least("fewer")[1], -bill.least("share")[1]
    tokens = rounded(maximum(case.tokens * share, 1.0), up=False)
    other, usd = _at(of, "other")
    return {
        "budget_usd": (
            charts.phrase("spend {budget:usd}: {dear}"),
            budget / case.budget_usd - 1,
            cash > 0,
        ),
        "data": (
            charts.phrase("let the data leave: {other} for {usd:usd}"),
            1.0,
            usd > 0,
        ),
        "deadline_chance": (
            charts.phrase(
                "be {chance:chance} sure of the deadline instead of {case.deadline_chance:chance}:"
                " {surest}"
            ),
            1 - chance / case.deadline_chance,
            (chance >= 0.5) & (chance < case.deadline_chance),
        ),
        "deadline_days": (
            charts.phrase("wait {days:days}: {near} for {cost:usd}"),
            days / case.deadline_days - 1,
            sure > 0,
        ),
        "both": (
            charts.phrase("wait {wait:days} and spend {pay:usd}: {both}"),
            more,
            where(sure > 0, False, where(cash > 0, False, over > 0)),
        ),
        "tokens": (
            charts.phrase("train each run on {tokens:count} tokens instead of {case.tokens:count}"),
            case.tokens / tokens - 1,
            case.tokens * share >= LOWEST["tokens"],
        ),
        "variants": (
            charts.phrase("compare {fewer:whole} variants instead of {case.variants:whole}"),
            case.variants / maximum(fewer, 1.0) - 1,
            fewer >= LOWEST["variants"],
        ),
    }


def _steps(of: StudyWays, decision: Any) -> dict[int, tuple[Any, Any]]:
    """What to do and why, by number of the step."""
    case, on, chip, width = of.case, of.weighed.study, of.taken["chip"], of.taken["width"]
    runs, region, buys = case.variants * case.seeds, case.region, of.weighed.bought > 0
    each, price, alone = on.run_hours, _price(of), of.owns & ~of.mixed
    drawn, carbon = _footprint(of, region)
    cleaner = _footprint(of, "Sweden")[1]
    quickest = of.quickest_days * DAY_S
    first = charts.phrase(
        "whether a difference is real hangs on it, and no table has yours; then one run whole: it"
        " should take {each:hours}; then how many runs fail: the plan counts one in twenty"
    )
    return {
        1: (
            charts.phrase("{runs:whole runs}, each {each:hours} on {width}"),
            charts.phrase(
                "{case.variants:whole} variants with {case.seeds:whole seeds} each;"
                " {case.tokens:count} tokens a run; one run in twenty fails and is made again;"
                " evaluation, loading and idle time count"
            ),
        ),
        2: (
            first_case(
                [
                    (
                        buys,
                        charts.phrase(
                            "Buy them: your data may not leave. An hour of one costs {price:usd}"
                            " with its price"
                        ),
                    ),
                    (
                        alone,
                        charts.phrase(
                            "Use the chips that you own: running one costs {price:usd} an hour"
                        ),
                    ),
                ],
                charts.phrase("{decision}, at {price:usd} an hour of a chip"),
            ),
            _supply(of),
        ),
        3: _size(of),
        4: (_hardware(of), _rivals(of)),
        5: (
            _layout(of),
            "small models need no splitting: more runs side by side beat larger runs in turn",
        ),
        6: _levers(of),
        7: (FIRST, first),
        8: (
            charts.phrase("{drawn:si Wh} of electricity and {carbon:mass} of CO2e in {region}"),
            charts.phrase("in Sweden it would be {cleaner:mass}"),
        ),
        9: (
            _turns(of),
            _seeds(of)
            + charts.phrase("; the largest cluster that is tried would take {quickest:duration}"),
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


def _size(of: StudyWays) -> tuple[Any, Any]:
    """How often a decision is right, and how many seeds tell variants apart."""
    case, right, power = of.case, of.decision.right, of.decision.power
    needed = maximum(ceil(of.decision.needed - 1e-9), 1.0)
    return (
        charts.phrase(
            "A decision between two variants is right about the large run in {right:percent}"
        ),
        charts.phrase(
            "with {case.seeds:whole seeds} a difference of one point is found in"
            " {power:percent} of cases, where seeds differ by half a point; {needed:whole}"
            " seeds find it in 80 %; a larger proxy is right more often, and costs in"
            " proportion to its parameters"
        ),
    )


def _supply(of: StudyWays) -> Any:
    """Each way with its cost, and why the one that is taken."""
    usd, spot, buys = of.usd, of.taken["contract"] == SPOT, of.weighed.bought > 0
    pauses = where(
        spot,
        "; a server on spot is taken away about once a day (an assumption of this book), and its"
        " run goes on from the last checkpoint: hours and days count that",
        "",
    )
    said: Any = ""
    for name, words in BARS.items():
        cost = of.bill.least(name)[1]
        here = words + " " + charts.say(cost, "usd")
        said = where(cost > 0, where(said == "", here, said + "; " + here), said)
    binds = charts.phrase("{said}; a study of days binds nobody for a year{pauses}")
    pays = charts.phrase(
        "{said}; a budget has to pay the whole price; the study takes a part of their life"
    )
    price, lasts = of.weighed.study.hour.total, of.part.days * DAY_S
    paid = charts.phrase(
        "{said}; what they cost to buy is paid already; with it an hour would cost {price:usd}"
    )
    done = of.case.variants - of.variants
    beside = charts.phrase("; those that you own take {done:whole} variants, and {lasts:duration}")
    each = where(of.mixed, " for each part", "")
    return (
        where(buys, pays, where(of.owns & ~of.mixed, paid, binds))
        + where(of.mixed, beside, "")
        + charts.phrase(
            "; no API trains variants; the study takes {usd:usd}, half a person who waits{each}"
            " included"
        )
    )


def _rivals(of: StudyWays) -> Any:
    """What the study costs on the other platforms."""
    said: Any = ""
    for name, cost in of.rivals():
        new = where(of.seen(name), "", " (no published run was on its architecture)")
        here = name + ": " + charts.say(cost, "usd") + new
        said = where(name == "", said, where(said == "", here, said + "; " + here))
    chip, chips, price = of.unsold
    wins = charts.phrase("; " + left_out.WINS.format(name="{chip}", contract=left_out.ON_SPOT))
    told = "; " + left_out.told(left_out.of_trainings()) + where(price > 0, wins, "")
    return where(said == "", "no other platform does it in time", said) + told


def _levers(of: StudyWays) -> tuple[Any, Any]:
    """Levers by what they save here, the best first."""
    usd, rents = of.usd, of.taken["paid"] == RENT
    costs = {name: of.changed[name] for name in LEVERS}
    costs["seller"] = where(rents, costs["seller"], NAN)
    left = {name: where(1 - cost > 0.005, cost, NAN) for name, cost in costs.items()}
    first, said = "", ""
    for _ in LEVERS:
        name, cost = least(left)
        words = first_case([(name == of, it) for of, it in LEVERS.items()], "")
        saved, there = 1 - cost, usd * cost
        here = charts.phrase("{words}: {saved:percent} less, {there:usd}")
        begins = charts.phrase("First {words}: {saved:percent} less")
        first = where(name == "", first, where(first == "", begins, first))
        said = where(name == "", said, where(said == "", here, said + "; " + here))
        left = {of: where(name == of, NAN, it) for of, it in left.items()}
    none = "None of the levers tried makes the study cheaper"
    return where(first == "", none, first), said


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


def _questions(of: StudyWays) -> dict[int, Any]:
    """The commands that put the reader's own study to the chapters, by step."""
    case, chip, width = of.case, of.taken["chip"], of.taken["width"]
    contract, buys = of.taken["contract"], of.weighed.bought > 0
    days, hours = maximum(of.deadline_days, 0.5), of.weighed.study.hours.total
    paid = where(buys, "-p paid=own", charts.phrase('-p paid=rent -p contract="{contract}"'))
    study = charts.phrase(
        'scaleright run ablation_cost -p model="{case.proxy_model}" -p tokens={case.tokens:typed}'
        " -p variants={case.variants:typed} -p seeds={case.seeds:typed}"
        " -p budget_usd={case.budget_usd:typed} -p deadline_days={days:typed}"
        ' -p accelerator="{chip}" -p run_on="{width}" {paid} -p idle={of.idle:typed}'
    )
    planet = charts.phrase(
        'scaleright run sustainability -p task=training -p accelerator="{chip}"'
        ' -p chip_hours={hours:typed} -p utilization=1 -p place="{case.region}"'
    )
    whole = charts.phrase(
        'scaleright plan -p work=study -p model="{case.proxy_model}" -p tokens={case.tokens:typed}'
        " -p variants={case.variants:typed} -p seeds={case.seeds:typed}"
        " -p budget_usd={case.budget_usd:typed} -p deadline_days={case.deadline_days:typed}"
        ' -p deadline_chance={case.deadline_chance:typed} -p data="{case.data}"'
    )
    owned = charts.phrase(' -p owned="{case.owned}" -p owned_chips={case.owned_chips:typed}')
    whole = whole + where((case.owned != NONE) & (case.owned_chips > 0), owned, "")
    taken = of.there & ~of.owns & (case.tokens <= LARGEST_TOKENS) & (days <= of.deadline_days)
    study, planet = where(taken, study, whole), where(of.there & ~of.mixed, planet, whole)
    return dict.fromkeys(range(1, 10), study) | {8: planet}
