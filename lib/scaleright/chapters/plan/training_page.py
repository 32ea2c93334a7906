"""What the chapter `plan` shows of a training run of the reader's own."""

from functools import reduce
from types import SimpleNamespace
from typing import Any

from scaleright import charts, footprint
from scaleright import scaling_laws as laws
from scaleright.catalog import model
from scaleright.chapters.plan.limits import SURE, nowhere, rounded
from scaleright.chapters.plan.page import (
    NAN,
    TRAINING,
    Change,
    OwnPlan,
    reached,
    weighed,
)
from scaleright.chapters.plan.training import USUAL_MODEL, compute_optimal_tokens
from scaleright.chapters.plan.training_steps import HOW
from scaleright.chapters.plan.training_taken import (
    WORTH,
    Taken,
    footprint_of,
    levers_of,
    parameters_of,
    project_of,
    questions,
)
from scaleright.chapters.plan.training_ways import (
    BUY,
    DEADLINES,
    FP8,
    NONE,
    ON_SPOT,
    OWN,
    RENT,
    Place,
    Relief,
    TrainingWays,
    grid_of_page,
    layout_of,
    platforms,
)
from scaleright.costs.break_even import usd_per_hour_to_win
from scaleright.costs.cluster_grid import MODELS, Grid
from scaleright.costs.ownership import REGIONS
from scaleright.costs.whole_runs import TYPICAL
from scaleright.decisions import left_out
from scaleright.decisions.build_buy import arrival_days, arrives, bought_as
from scaleright.decisions.cluster_efficiency import ends_of_batches
from scaleright.decisions.plan_parts import FREE, in_words, limited, percent
from scaleright.decisions.plan_runs import NEAR, SPOT, USUAL, early, waiting_share
from scaleright.decisions.plan_workload import IN_REGION, LEAVES, STAYS, Workload
from scaleright.decisions.two_chips import errors_in_common, spread_apart
from scaleright.decisions.unlisted_runs import unlisted_hours, untested
from scaleright.formulas import search
from scaleright.information import expected_loss, probability_cheaper, spread_between
from scaleright.market import BEST
from scaleright.ops import (
    exp,
    first_case,
    item,
    log,
    maximum,
    normal_cdf,
    normal_quantile,
    where,
)
from scaleright.quantity import choose, given, least, look_up
from scaleright.training.layout import USUAL_FORMAT, training_format
from scaleright.transformer import training_flop
from scaleright.transformer.parameters import active_parameters

DAY_S = 86_400.0
BARS = {RENT: "rent", ON_SPOT: "rent on spot", BUY: "buy for it", OWN: "use what you own"}
"""Ways to pay for chips, as bars are called."""


def choices(case: Any) -> TrainingWays:
    """Every way to train the model of a case of quantities."""
    more = {"model": case.trained_model, "tuning": TYPICAL, "precision": USUAL_FORMAT}
    asked = SimpleNamespace(**vars(weighed(case, TRAINING)) | more)
    return TrainingWays.of(asked, grid_of_page(MODELS))


@search
def asked_plan(of: Workload) -> OwnPlan:
    """The plan of the training run of a workload."""
    ways = asked_ways(of)
    return own_plan(ways.case, ways, nowhere(of))


@search
def asked_ways(of: Workload) -> TrainingWays:
    """Every way to train the model of a workload."""
    name = of.model or USUAL_MODEL
    follow = {
        "model": name,
        "tokens": of.tokens or compute_optimal_tokens(name),
        "trained_on": of.accelerator or BEST,
        "deadline_chance": of.deadline_chance,
        "data": of.data,
        "region": of.region,
        "owned": of.owned or NONE,
        "owned_chips": of.owned_chips,
    }
    limits = {"deadline_days": of.deadline_days, "budget_usd": of.budget_usd}
    follow |= {name: it for name, it in limits.items() if it}
    fixed = dict.fromkeys(limits, FREE) | {"tuning": of.tuning, "precision": of.precision}
    case = fixed | {name: given(name, it) for name, it in follow.items()} | {"weighed": True}
    formats = {training_format(model(name), of.precision), FP8}
    grid = Grid.of([name], {name: formats} if of.tuning == TYPICAL else formats)
    return TrainingWays.of(SimpleNamespace(**case), grid)


def own_plan(case: Any, ways: TrainingWays, otherwise: Any = "") -> OwnPlan:
    """The plan of the reader's own training run; otherwise : why there is no run at all."""
    case, of, there = ways.case, Taken.of(ways), ways.there
    place, paid, limits = of.place, of.paid, _limits(case)
    asked = questions(ways, of)
    broken, changes = _broken(ways), _helps(ways)
    kept = charts.phrase("No cluster that is offered keeps {limits}")
    unkept = kept + where(ways.unsure, " so surely.", ".")
    none = charts.phrase(
        "No run of {case.model} on {case.trained_on} is possible so: no layout of it fits, or"
        " nobody sells the chip. Leave the accelerator open, or let the data leave."
    )
    return OwnPlan(
        made=case.model,
        chip=place.chip,
        bought=where(of.buys & there, paid.bought, 0.0),
        work=charts.phrase("Train {case.model} on {case.tokens:count} tokens"),
        per=where(of.buys & there, "to buy them", "for the run"),
        limit=charts.phrase(", of a budget of {case.budget_usd:usd}")
        if limited(case.budget_usd)
        else "",
        met=there,
        there=ways.sold,
        otherwise=otherwise or none,
        bars=_bars(ways),
        decision=where(there, _decision(of), "This cannot be done as asked"),
        usd=where(ways.sold, paid.cash, 0.0),
        because=where(there, _because(ways, of, limits), unkept),
        sure=where(there, _sure(case, of), SURE[0].upper() + SURE[1:] + "."),
        breaks=broken,
        changes=_changes(ways),
        asked=asked,
        figures=_figures(ways, of),
        helps=where(
            there,
            "Nothing has to give.",
            charts.phrase("What breaks: {broken}. What would help: {changes}."),
        ),
        steps=_steps(ways, of),
        questions={
            number: where(there, told[0].command, "scaleright plan -p work=train")
            for number, told in (asked | {6: asked[1]}).items()
        },
    )


def _because(ways: TrainingWays, of: Taken, limits: Any) -> Any:
    """Why that run, in sentences; limits : what binds it, in words."""
    case, place, paid, many, flop = ways.case, of.place, of.paid, _platforms(ways, of), _flop(ways)
    because = charts.phrase(
        "Of {many:whole platforms}, the {place.chip} does the {flop:si FLOP} for least within"
        " {limits}"
    )
    leaving = ways.lifted("leaves")
    rented, instead = _named(leaving), ways.figure("cash", leaving)
    leaves = charts.phrase("; if the data might leave, {rented} for {instead:usd}")
    because = because + where(of.buys & leaving.there, leaves, "")
    mine = (case.owned != NONE) & (case.owned_chips > 0) & ~of.own
    owned = charts.phrase(
        "; the {case.owned_chips:whole} {case.owned} that you own would not, or not for less"
    )
    worn = charts.phrase(
        " The run takes {paid.usd:usd} of their life, and the rest is lost unless they do other"
        " work then or are sold."
    )
    later = arrives()
    wait = charts.phrase(" Their wait is counted in the deadline: {later}.")
    from_then = charts.phrase(" The days count from then: {later}.")
    wait = wait if limited(case.deadline_days) else from_then
    return because + where(mine, owned, "") + "." + where(of.buys, worn + wait, "")


def _limits(case: Any) -> Any:
    """What binds the run, in words."""
    time, money = charts.phrase("{case.deadline_days:days}"), charts.phrase("{case.budget_usd:usd}")
    if limited(case.deadline_days) and limited(case.budget_usd):
        return time + " and " + money
    if limited(case.deadline_days) or limited(case.budget_usd):
        return time if limited(case.deadline_days) else money
    return "no limit of time or money"


def _figures(ways: TrainingWays, of: Taken) -> dict[str, Any]:
    """What a machine reads of the run."""
    contract = where(of.spot, SPOT, USUAL["contract"])
    return {
        "usd": of.paid.usd,
        "cash_usd": of.paid.cash,
        "low_usd": of.low,
        "high_usd": of.high,
        "days": of.paid.days,
        "chips": of.place.chips,
        "bought_chips": where(of.buys, of.paid.bought, 0.0),
        "accelerator": of.place.chip,
        "batch": of.place.batch,
        "tokens": ways.case.tokens * of.plan.more,
        "contract": contract,
    }


def _flop(ways: TrainingWays) -> Any:
    size = {name: float(active_parameters(model(name)).total) for name in ways.models}
    return training_flop(look_up(size, ways.case.model), ways.case.tokens)


def _platforms(ways: TrainingWays, of: Taken) -> Any:
    """How many platforms run it at all, of those that are compared."""
    rented, sold = (
        look_up({name: ways.many(name, sold=it) for name in ways.models}, ways.case.model)
        for it in (False, True)
    )
    alone = of.own | (ways.case.trained_on != BEST)
    return where(alone, 1.0, where(of.buys, sold, rented))


def _named(place: Place) -> Any:
    """The chips of a run, in words."""
    spot = where(place.spot, " on spot", "")
    bought = where(place.bought > place.chips, charts.phrase(" ({place.bought:whole} bought)"), "")
    return charts.phrase("{place.chips:whole} {place.chip}{spot}{bought}")


def _bars(ways: TrainingWays) -> dict[str, Any]:
    """What has to be paid for the cheapest run of each way within the limits [USD]."""
    return {
        BARS[way]: where(of.there, ways.figure("cash", of), NAN) for way, of in ways.least.items()
    }


def _decision(of: Taken) -> Any:
    """What to do."""
    place, lasts = of.place, of.paid.days * DAY_S
    some = charts.phrase("{place.chips:whole} of them")
    used = where(place.bought == place.chips, "them", some)
    return first_case(
        [
            (of.own, charts.phrase("Use {place.chips:whole} {place.chip} that you own for")),
            (
                of.buys,
                charts.phrase("Buy {place.bought:whole} {place.chip} and train on {used} for"),
            ),
            (of.spot, charts.phrase("Rent {place.chips:whole} {place.chip} on spot for")),
        ],
        charts.phrase("Rent {place.chips:whole} {place.chip} for"),
    ) + charts.phrase(" {lasts:duration}")


def _sure(case: Any, of: Taken) -> Any:
    """How sure deadline and budget are, and what such runs cost."""
    price = choose({name: bought_as(name) for name in platforms()}, of.place.chip).price_spread
    paid, spread = of.paid, where(of.buys, price, spread_between(of.low, of.high))
    budget = probability_cheaper(paid.cash, case.budget_usd, spread)
    time = normal_cdf(early(paid.days, paid.spread, case.deadline_days, of.buys))
    done, pays, low, high = in_words(time), in_words(budget), of.low, of.high
    first = first_case(
        [
            (done == "almost certain", "Almost certain"),
            (done == "likely", "Likely"),
            (done == "more likely than not", "More likely than not"),
        ],
        "It could go either way",
    )
    kept = charts.phrase("{first} to be done in {case.deadline_days:days} ({time:chance})")
    within = charts.phrase("{pays} to stay within {case.budget_usd:usd} ({budget:chance})")
    told = [kept] * limited(case.deadline_days) + [within] * limited(case.budget_usd)
    begins = reduce(lambda one, more: one + "; " + more, told) + ". " if told else ""
    return begins + charts.phrase(
        "Nine of ten such runs would cost {low:usd} to {high:usd}, by how far published runs were"
        " from the model."
    )


def _broken(ways: TrainingWays) -> Any:
    """Which limit breaks, and by how much."""
    case, buys, later = ways.case, ways.case.data == STAYS, arrives()
    quick, cheap, soon = (ways.place(of) for of in ("all_days", "all_cash", "soon_cash"))
    half = ways.place("half_days")
    days, cash, paid = ways.figure("days", quick), ways.figure("cash", cheap), case.budget_usd
    lasts, over, dearer = days * DAY_S, days / case.deadline_days, cash / paid
    named, least, likely, in_time = map(_named, (quick, cheap, half, soon))
    kept, there = ways.chance_of(half), ways.figure("cash", soon)
    left = case.deadline_days - where(buys, arrival_days(0.0), 0.0)
    deadline = charts.phrase("the deadline of {case.deadline_days:days}: ")
    waiting = charts.phrase(
        "{later}, and the quickest cluster, {named}, then takes {lasts:duration}"
    )
    slow = charts.phrase(
        "the quickest cluster, {named}, takes {lasts:duration}, {over:number} times as long"
    )
    late = deadline + where(buys, waiting, slow)
    dear = charts.phrase(
        "the budget of {paid:usd}: the cheapest run, on {least}, costs {cash:usd}, {dearer:number}"
        " times as much"
    )
    more = there - paid
    both = charts.phrase(
        "deadline and budget together: in {case.deadline_days:days} the cheapest run, on {in_time},"
        " costs {there:usd}, {more:usd} more than there is"
    )
    unsure = deadline + charts.phrase(
        "the quickest cluster that is within the limits, {likely}, keeps it with a chance of"
        " {kept:chance}, not {case.deadline_chance:chance}"
    )
    is_late, is_dear = days > left, cash > paid
    found = first_case(
        [(is_late & is_dear, late + "; " + dear), (is_late, late), (is_dear, dear)], both
    )
    return where(ways.unsure, unsure, found)


def _helps(ways: TrainingWays) -> Any:
    """The two least changes that would help."""
    changes = ways.changes()
    told = {name: _told(name, change, ways) for name, change in changes.items()}
    shares, said = {name: change.share for name, change in changes.items()}, ""
    for _ in range(2):
        name, share = least(shares)
        here = first_case([(name == of, words) for of, words in told.items()], "")
        said = where(share >= 0, where(said == "", here, said + "; or " + here), said)
        shares = {of: where(name == of, NAN, it) for of, it in shares.items()}
    unseen, some, _ = _unseen(ways)
    said = where(some, where(said == "", unseen, said + "; or " + unseen), said)
    return where(said == "", "nothing that was tried", said)


PARAMETERS = {
    "budget": "budget_usd",
    "chance": "deadline_chance",
    "both": "deadline_days",
    "deadline": "deadline_days",
    "later": "deadline_days",
}
"""What of a workload the changes change that are not called as it is."""


def _changes(ways: TrainingWays) -> dict[str, Change]:
    """All changes that would help, as a command tells them."""
    case, found, values = ways.case, {}, {"accelerator": None, "data": LEAVES, "precision": FP8}
    for name, of in ways.changes().items():
        also = {"deadline_chance": where(of.holds, NAN, 0.5)}
        if name == "both":
            also["budget_usd"] = maximum(
                rounded(ways.figure("cash", of.place), up=True), case.budget_usd
            )
        parameter = PARAMETERS.get(name, name)
        if name in {"both", "deadline", "later", "chance"} and not limited(case.deadline_days):
            continue
        if name in {"both", "budget"} and not limited(case.budget_usd):
            continue
        found[name] = Change(
            _told(name, of, ways),
            of.share,
            of.share >= 0,
            values.get(name, of.value),
            parameter,
            also,
        )
    says, there, chip = _unseen(ways)
    return found | {"unseen": Change(says, 1.0, there, chip, "accelerator")}


def _unseen(ways: TrainingWays) -> tuple[Any, Any, Any]:
    """A chip that would help, but no published run was on: in words, whether it would, which."""
    place = ways.place("unseen")
    named, usd = _named(place), ways.figure("cash", place)
    says = charts.phrase("trust a speed that no published run has shown: {named} for {usd:usd}")
    return says, place.there & (ways.case.trained_on == BEST) & ~ways.unsure, place.chip


def _told(name: str, change: Relief, ways: TrainingWays) -> Any:
    """A change in words."""
    case, place, value = ways.case, _named(change.place), change.value
    cash, asked = ways.figure("cash", change.place), case.deadline_chance
    fp8, lasts = (item(ways.rows[of], change.place.at) for of in ("fp8_cash", "fp8_days"))
    lasts = lasts * DAY_S
    paid = maximum(ways.figure("cash", change.place), case.budget_usd)
    said = {
        "accelerator": "leave the accelerator open: {place} for {cash:usd}",
        "budget": "spend {value:usd} instead of {case.budget_usd:usd}: {place}",
        "data": "let the data leave: {place} for {cash:usd}",
        "chance": "be {value:chance} sure of the deadline instead of {asked:chance}: {place}",
        "both": "wait {value:days} and spend {paid:usd}: {place}",
        "deadline": "wait {value:days} instead of {case.deadline_days:days}: {place} for"
        " {cash:usd}",
        "later": "wait {value:days}: {place}",
        "precision": "train in FP8 on {place}: {fp8:usd} and {lasts:duration}, if the loss allows"
        " it",
        "tokens": "train on {value:count} tokens instead of {case.tokens:count}: {place}",
    }[name]
    half = where(change.holds, "", ", if being half sure of the deadline is enough")
    return charts.phrase(said) + half


def _steps(ways: TrainingWays, of: Taken) -> dict[int, tuple[Any, Any]]:
    """What to do and why, by number of the step."""
    makers = (
        _demand,
        _supply,
        _size,
        _hardware,
        _layout,
        _levers,
        _measure,
        _energy,
        _change,
    )
    found = (make(ways, of) for make in makers)
    return reached(ways.there, dict(enumerate(found, 1)))


def _demand(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    case, plan, place = ways.case, of.plan, of.place
    hours, mfu, flop, size = of.run.hours.total, of.run.step.mfu, _flop(ways), parameters_of(ways)
    each, more, read, batch = (
        case.tokens / size,
        plan.more - 1,
        case.tokens * plan.more,
        place.batch,
    )
    low, high = (more / it for it in reversed(ends_of_batches(of.setting.case, ways.grid)))
    between = charts.between(low, high, "percent")
    return (
        charts.phrase(
            "The run takes {hours:whole} chip-hours of {place.chip}: {flop:si FLOP} at"
            " {mfu:percent} of the peak in the fastest layout, and what real runs take beyond it."
        ),
        [
            charts.phrase(
                "{size:count} parameters and {case.tokens:count} tokens, {each:whole} tokens a"
                " parameter"
            ),
            charts.phrase(
                "batches of {batch} tokens take {more:percent} more tokens than small ones to the"
                " same loss, {read:count} in all; published laws say {between}"
            ),
            "tokens that you have in text of your own; what they cost to collect is not counted",
        ],
    )


def _supply(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    case, run, lasts, later = ways.case, of.run, of.paid.days * DAY_S, arrives()
    hour, usd, cost = run.hour.rented, run.hour.total, project_of(of)
    region = case.region
    rent = charts.phrase("by the hour at {usd:usd} each ({hour.counted}), in {region}.")
    own = charts.phrase("Use chips of your own, which cost {usd:usd} an hour, in {region}.")
    says = where(of.spot, "Rent them on spot at ", "Rent them by the hour at ")
    says = where(
        of.own | of.buys, own, says + charts.phrase("{usd:usd} each ({hour.counted}), in {region}.")
    )
    usual_run = ways.least[RENT]
    dear, slow = ways.figure("usd", usual_run), ways.figure("days", usual_run) * DAY_S
    named = _named(usual_run)
    limits = _limits(case)
    beside = where(
        usual_run.there,
        charts.phrase("on demand {named} would cost {dear:usd} and take {slow:duration}"),
        charts.phrase("on demand none keeps {limits}"),
    )
    spot = charts.phrase(
        "a server on spot is taken away about once a day (an assumption of this book), and the run"
        " goes on from its last checkpoint: its hours and days count that; {beside}"
    )
    usually = charts.phrase("a run of {lasts:duration} binds nobody for a year, and no API trains")
    why = first_case(
        [
            (
                (of.own | of.buys) & (case.data == STAYS),
                "your data may not leave, so that no cloud and no API comes into question",
            ),
            (of.own, "you own them already, so that the bill is what running them costs"),
            (of.spot, spot),
        ],
        usually,
    )
    rented = ~(of.own | of.buys)
    tight = rented & (case.deadline_days < arrival_days(0.0))
    signs = "take a seller that signs for the region, which no table of prices states"
    tries, pay, whole, age = cost.experiments_usd, cost.people_usd, cost.total, hour.age
    return says, [
        why,
        where(tight, charts.phrase("buying them is left out, {later}"), ""),
        where(case.data == IN_REGION, signs, ""),
        charts.phrase(
            "experiments before the run would add {tries:usd}, people {pay:usd}: the whole project"
            " {whole:usd}"
        ),
        charts.phrase("prices of {age}"),
    ]


def _size(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    case, law, size = ways.case, laws.fit(laws.points()), parameters_of(ways)
    flop = training_flop(size, case.tokens)
    best = laws.compute_optimal_parameters(flop, **law.terms)
    ideal = laws.tokens_for_compute(flop, best)
    mine, there = (
        laws.loss(n, d, law.E, **law.terms) for n, d in ((size, case.tokens), (best, ideal))
    )
    far, small, more, flop = size / best, best / size, mine / there - 1, _flop(ways)
    says = first_case(
        [
            (
                far < 0.7,
                charts.phrase(
                    "Keep {case.model} if you will serve it: it is {small:number 2} times smaller"
                    " than this much arithmetic would train best, and cheaper in every answer."
                ),
            ),
            (
                far > 1.4,
                charts.phrase(
                    "Take a smaller model: {case.model} is {far:number 2} times as large as this"
                    " much arithmetic trains best, and dearer in every answer."
                ),
            ),
        ],
        charts.phrase(
            "Keep {case.model}: it is about the size that this much arithmetic trains best."
        ),
    )
    return says, [
        charts.phrase(
            "the law's best for {flop:si FLOP}: {best:count} parameters on {ideal:count} tokens, a"
            " loss of {there:number 4}"
        ),
        charts.phrase("yours: a loss of {mine:number 4}, {more:percent} more"),
    ]


def _hardware(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    place, then = of.place, ways.place("next", True)
    paid, mine, rival = of.paid, ways.figure("cost", of.place), ways.figure("cost", then)
    half, twice = (ways.place(name, True) for name in ("half", "twice"))
    told = []
    for one in (half, twice):
        usd, lasts = ways.figure("usd", one), ways.figure("days", one) * DAY_S
        said = charts.phrase("{one.chips:whole} would take {lasts:duration} and {usd:usd}")
        told.append(where(one.there, said, ""))
    kinds = {name: ways.grid.models[name]["kind"] for name in ways.models}
    kind = look_up(kinds, ways.case.model)
    off, other = (
        spread_between(
            *(ways.grid.trust.row(kind, chip, ways.precision)[f"error_{end}"] for end in ENDS)
        )
        for chip in (place.chip, then.chip)
    )
    spread = spread_apart(off, other, choose(errors_in_common(), "training", kind).common)
    sure = probability_cheaper(mine, rival, spread)
    lost, lasts, words = (
        expected_loss(mine, rival, spread),
        ways.figure("days", then),
        in_words(sure),
    )
    lasts, rival_named, waits = lasts * DAY_S, _named(then), waiting_share()
    next_ = charts.phrase("next: {rival_named}, {rival:usd} and {lasts:duration}")
    how_sure = charts.phrase(
        "how sure that the {place.chip} costs less: {words} ({sure:chance}, at these prices);"
        " taking it loses {lost:usd} in expectation"
    )
    waiting = charts.phrase(
        "compared by the part of their life that the run takes and {waits:percent} of their"
        " price, which is what the money costs until they come"
    )
    guess = ways.place("unseen")
    cheaper, unknown = ways.figure("usd", guess), guess.chip
    unseen = charts.phrase(
        "{guess.chips:whole} {unknown} would cost {cheaper:usd}, but no run on that architecture"
        " was fitted: try it before you sign"
    )
    rash = guess.there & (cheaper < mine) & ~of.own
    near = f"the most that cost at most {percent(NEAR)} more than the cheapest"
    why = "the cheapest in time" if limited(ways.case.deadline_days) else near
    return (
        charts.phrase("{place.chips:whole} {place.chip}."),
        [
            charts.phrase("{place.chips:whole} are ") + why,
            *told,
            where(then.there, next_, "no other platform does it within the limits"),
            where(then.there, how_sure, ""),
            where(of.buys & then.there, waiting, ""),
            where(rash, unseen, ""),
            *_left_out(ways, of),
        ],
    )


def _left_out(ways: TrainingWays, of: Taken) -> list[Any]:
    """What is left out and why, and what a chip would have to cost that nobody lists on spot."""
    place = ways.place("unsold_hours")
    hours, chips, chip = ways.figure("unsold_hours", place), place.chips, place.chip
    price = usd_per_hour_to_win(ways.figure("cost", of.place), hours)
    wins = charts.phrase(left_out.WINS.format(name="{chip}", contract=left_out.ON_SPOT))
    told = [left_out.told(left_out.of_trainings()), where(place.there, wins, "")]
    case, chips, usd = ways.case, of.place.chips, ways.figure("cost", of.place)
    for name in left_out.unlisted() if case.tuning == TYPICAL else ():  # the best overlap more
        step_s = ways.seconds(name, of.place)
        hours = unlisted_hours(of.setting, step_s, chips, of.plan.batch)
        sure = hours / (24.0 * chips) * exp(normal_quantile(case.deadline_chance) * of.paid.spread)
        there = (case.data != STAYS) & (sure <= case.deadline_days)
        price = usd_per_hour_to_win(usd, hours)
        said = charts.phrase(left_out.WINS.format(name=name, contract=""))
        told.append(where(there, said + untested(name), ""))
    free = (ways.case.trained_on == BEST) & ~of.own  # else it is by the reader's own choice
    return [where(free, of, "") for of in told]


ENDS = ("low", "high")


def _layout(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    place, parts = of.place, of.run.step.parts
    waits = (parts["communication_s"] + parts["bubble_s"]) / sum(parts.values())
    words, batch = layout_of(ways.models, ways.case, place), place.batch
    form = ways.grid.trust.row("dense", place.chip, ways.precision)["format"]
    return (
        charts.phrase("{words}, with batches of {batch} tokens in {form}."),
        [
            charts.phrase("of a step, {waits:percent} is waiting for the network and the pipeline"),
            "DP is data, TP tensor, PP pipeline, CP context and EP expert parallelism",
            "of all layouts that fit in memory it is the fastest",
        ],
    )


def _levers(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    usd, tried = of.run.usd, levers_of(ways, of)
    names, saved = [*tried], [1 - it / usd for it in tried.values()]
    worth = [of_ > WORTH for of_ in saved]
    told = [
        name + ": " + charts.say(share, "percent") + " less, " + charts.say(it, "usd")
        for name, it, share in zip(names, tried.values(), saved, strict=True)
    ]
    more = worth[0] & (~worth[1] | (saved[0] >= saved[1]))
    some = where(
        worth[0] | worth[1], where(more, *told), "tried: FP8, and the cheapest quarter of sellers"
    )
    why = [some, where(worth[0] & worth[1], where(more, *reversed(told)), "")]
    best = where(more, *names)
    most = where(best == names[0], *saved)
    return (
        where(
            worth[0] | worth[1],
            charts.phrase("First {best}: {most:percent} less."),
            "No lever that was tried makes the run cheaper.",
        ),
        why,
    )


def _measure(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    sizes = {name: -log(high / low) for name, (low, high) in of.swings.items()}
    first = least(sizes)[0]
    how = first_case([(first == name, said) for name, said in HOW.items()], "")
    told: Any = ""
    for name, (low, high) in of.swings.items():
        said = charts.phrase(name + ": a bill of {low:usd} to {high:usd}")
        told = where(high > low, where(told == "", said, told + "; " + said), told)
    return charts.phrase("The {first}: {how}."), [told]


CLEAN = ("Sweden", "France", "Canada")


def _energy(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    region = ways.case.region
    made = footprint_of(of, region, REGIONS)
    cleanest = min(CLEAN, key=lambda name: footprint.place(name).kg_co2e_per_kwh)
    there = footprint_of(of, cleanest, (cleanest,)).carbon.total
    energy, carbon, share = made.energy.watt_hours, made.carbon.total, made.carbon.embodied_share
    return (
        charts.phrase("{energy:si Wh} of electricity and {carbon:mass} of CO2e in {region}."),
        [
            charts.phrase("in {cleanest} it would be {there:mass}"),
            charts.phrase("{share:percent} of it is from making the hardware"),
        ],
    )


def _change(ways: TrainingWays, of: Taken) -> tuple[Any, list[Any]]:
    place, then = of.place, ways.place("next", True)
    gap, rival = ways.figure("cost", then) / ways.figure("cost", place) - 1, then.chip
    says = charts.phrase(
        "A price of the {place.chip} that is {gap:percent} higher makes the {rival} cheaper; the"
        " deadline changes it as follows."
    )
    alone = "A shorter deadline takes more chips and hardly more money, until failures eat it."
    soon, told = where(of.buys, "once they are there, within", "within"), []
    for days in DEADLINES:
        one = ways.place(f"in_{days:g}", True)
        usd, many = ways.figure("usd", one), one.chips
        said = charts.phrase("{many:whole} {one.chip}, {usd:usd}")
        none = "no cluster that is offered does it"
        told.append(soon + f" {days:g} days: " + where(one.there, said, none))
    return where(then.there, says, alone), told
