"""What the chapter `plan` shows: a plan of the reader's own work, or of a preset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import isnan
from operator import or_
from types import SimpleNamespace
from typing import Any

import pandas as pd

from scaleright import catalog, charts
from scaleright.chapters.plan.model import NOT_REACHED, open_row, plan_rows
from scaleright.charts import Display
from scaleright.charts.live import Controls
from scaleright.decisions.build_buy import API, HYBRID, RENT, SPILL
from scaleright.decisions.plan_parts import STEPS, Asked, Broken, Part, Relaxation, Step
from scaleright.decisions.plan_workload import OF_PAIRS, ROLLOUTS
from scaleright.ops import first_case, floor, log10, maximum, where
from scaleright.quantity import least
from scaleright.quantity.graph import derived
from scaleright.units import figure

# What the chapter `plan` shows of a model of the reader's own that is made first and served then,
# on the chips that are bought to make it


NOTHING = "Nothing has to give."
"""What a plan says that keeps its limits."""


def served(case: Any, works: Mapping[str, OwnPlan]) -> SimpleNamespace:
    """The case of the service: of what a work makes where it is served then, which no host sells,
    with the chips that are bought for it, unless others are owned already.

    case : quantities workload, then_serve, model, owned and owned_chips, among others
    works : their plans, by the words for the works in the menu
    """
    values = {name: vars(case)[name] for name in ("model", "owned", "owned_chips")}
    values["tuned"] = False
    case = weighed(case, SERVICE, also=is_own(case, works) & case.then_serve)
    for words, of in works.items():
        then = (case.workload == words) & case.then_serve
        bought = then & (of.bought > 0) & (case.owned_chips == 0)
        values["model"] = where(then, of.made, values["model"])
        values["tuned"] = where(then, True, values["tuned"])
        values["owned"] = where(bought, of.chip, values["owned"])
        values["owned_chips"] = where(bought, of.bought, values["owned_chips"])
    # each is one quantity, that rows of a service read as it is
    told = {name: derived(f"served_{name}", of) for name, of in values.items()}
    return SimpleNamespace(**vars(case) | told)


def both(first: OwnPlan, then: OwnPlan, serves: Any) -> OwnPlan:
    """The plan of a work and of the service of what it makes, where it is served then: the bill is
    that of the work, and that of the service is said beside it.

    first, then : both plans, the second of the case that `served` gives
    serves : whether it is served then
    """
    usd = where(then.there, then.usd, 0.0)
    does = charts.phrase("To serve it then: {then.decision}, for {usd:usd} a year")
    does = where(then.there, does, "No way is open to serve it so")
    gives = where(first.helps == NOTHING, "", first.helps + " ") + "To serve it then: " + then.helps
    gives = where(then.helps == NOTHING, first.helps, gives)
    beside = {
        "work": ", and serve it then",
        "decision": ". " + does,
        "because": " To serve it then: " + then.because,
        "sure": " To serve it then: " + then.sure,
    }
    told = {name: getattr(first, name) + where(serves, said, "") for name, said in beside.items()}
    steps = dict(first.steps)
    for number, pair in then.steps.items():
        mine = zip(first.steps.get(number, ("", "")), pair, strict=True)
        steps[number] = tuple(
            one + where(serves, where(one == "", "", "; ") + "to serve it then: " + other, "")
            for one, other in ((joined(one), joined(other)) for one, other in mine)
        )
    bars = {f"serve it: {way}": where(serves, of, NAN) for way, of in then.bars.items()}
    return replace(
        first,
        **told,
        helps=where(serves, gives, first.helps),
        met=where(serves, first.met & then.met & then.there, first.met),
        bars={**first.bars, **bars},
        steps=steps,
    )


BILL = "USD, a year or the whole run"
SERVICE = "your own service"
TRAINING, STUDY = "your own training run", "your own study"
TUNING, POST_TRAINING = "your own fine-tuning", "your own post-training"
LIMITS = ("deadline_days", "deadline_chance", "owned", "owned_chips", "data", "region")
"""What binds every work but a service."""
SERVED = ("then_serve", "requests_per_day")
"""What a work takes whose model may be served then."""
OWN = {
    SERVICE: (
        "model",
        "requests_per_day",
        "accelerator",
        "trace",
        "data",
        "region",
        "regions",
        "contract",
        "peak_to_mean",
        "pace_tokens_per_s",
        "ttft_s",
        "spare_engines",
        "owned",
        "owned_chips",
    ),
    TRAINING: ("trained_model", "tokens", "trained_on", *SERVED, *LIMITS),
    TUNING: ("tuned_model", "trained", "passes", "tokens", *SERVED, *LIMITS),
    POST_TRAINING: (
        "tuned_model",
        "trained",
        "passes",
        "method",
        "rounds",
        "answers_each",
        "answer_tokens",
        "labels",
        "usd_per_label",
        *SERVED,
        *LIMITS,
    ),
    STUDY: ("proxy_model", "variants", "seeds", "tokens", *LIMITS),
}
"""Works of the reader's own by the words for them in the page's menu, with the parameters that each
takes beside the budget.
"""
JUDGED, WRITTEN = ("labels", "usd_per_label"), ("rounds", "answers_each")
METHODS = {of: WRITTEN if of == "rlvr" else (*WRITTEN, *JUDGED) for of in ROLLOUTS} | {
    OF_PAIRS: JUDGED
}
"""What each way to post-train takes: pairs that people judge, or answers that the model writes."""
TOKENS = {TRAINING: 1e12, STUDY: 2e10, TUNING: 2e7}
"""Tokens from which a work starts [token]; where it takes none, as many."""
MENU = {
    "pretrain a 7B model": "pretrain_7b",
    "serve a 70B chat": "chat_70b",
    "200 ablations of a 1B model": "ablations_1b",
    "fine-tune a 70B on your own texts": "fine_tune_70b",
    "reinforcement learning on an 8B": "rl_8b",
    "a hospital": "hospital",
    "a start-up": "start_up",
    "an impossible training run": "impossible",
}
"""Presets by the words for them in the page's menu."""
NAN = float("nan")


def controls(case: Any) -> Controls:
    """The controls of the page: those that the chosen workload takes."""
    starts = {words: {"tokens": TOKENS.get(words, 1e12)} for words in (*OWN, *MENU)}
    found = charts.controls(case).only("workload", OWN).only("method", METHODS)
    return found.follow("workload", starts)


def rows(offered: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The plan of each workload that is offered, by the words of the menu; those of the reader's
    own follow the controls.
    """
    return {words: open_row(words) for words in OWN} | plan_rows(offered)


@dataclass(frozen=True)
class Change:
    """A change of what is asked with which the limits are kept; every field follows the controls.

    says : in words
    share : how much it changes, over what was asked [1]
    there : whether it helps
    value : what its parameter would have to be
    parameter : of the workload, by default the name under which the change stands
    also : other parameters that have to change with it, by name
    """

    says: Any
    share: Any
    there: Any
    value: Any
    parameter: str = ""
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A question to a chapter, as of `Asked`; parameters and figures follow the controls.

    there : whether the chapter takes it
    """

    chapter: str
    parameters: Mapping[str, Any]
    figures: Mapping[str, Any]
    there: Any = True

    @property
    def command(self) -> Any:
        """The question on the command line."""
        said: Any = f"scaleright run {self.chapter}"
        for name, of in self.parameters.items():
            word = isinstance(now(of), str)
            told = '"' + of + '"' if word else charts.say(of, "typed")
            said = said + f" -p {name}=" + told
        return said

    @property
    def asked(self) -> Asked:
        """The question of the case that its quantities were made of, to seven digits."""
        told = {name: now(of) for name, of in self.parameters.items()}
        told = {name: figure(of) if isinstance(of, float) else of for name, of in told.items()}
        return Asked(self.chapter, told, {name: now(of) for name, of in self.figures.items()})


@dataclass(frozen=True)
class OwnPlan:
    """The plan of a work of the reader's own, in the words of a plan's row; every field follows the
    controls.

    work, decision : what is done, and how, as sentences without their stop
    usd, per, limit : its bill, of what, and what limits it, where a command says that beside [USD]
    because, sure : why, and how sure it is, in sentences
    helps : what has to give, in sentences
    met, there : whether every limit is kept, and whether there is any way at all; otherwise says
        what to change where there is none
    made, chip, bought : the model that it leaves to be served, none of a service or a study; and
        the accelerator and number of chips that are bought to make it [1]
    bars : what each way costs that is compared, NaN where it may not be done [USD]
    steps : what to do and why, by number of the step; why in one text, or in reasons of which those
        without a word are left out, but for the first
    questions : the command that asks a chapter, by number of the step
    breaks, changes : which limit is not kept, and what would help, by name, where a limit breaks
    asked : the questions to chapters, with their figures, by number of the step
    figures : what a machine reads, by name with the unit in it
    """

    work: Any
    decision: Any
    usd: Any
    per: Any
    because: Any
    sure: Any
    helps: Any
    met: Any
    there: Any
    otherwise: Any
    bars: Mapping[str, Any]
    steps: Mapping[int, tuple[Any, Any]]
    questions: Mapping[int, Any]
    made: Any = ""
    chip: Any = ""
    bought: Any = 0.0
    limit: Any = ""
    breaks: Any = ""
    changes: Mapping[str, Change] = field(default_factory=dict)
    asked: Mapping[int, Sequence[Question]] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def part(self) -> Part:
        """The plan of the case that its quantities were made of, as a command gives it."""
        there, met = now(self.there), now(self.met)
        told = {name: now(getattr(self, name)) for name in ("work", "decision", "sure", "because")}
        told["because"] = told["because"][0].lower() + told["because"][1:]
        figures = {name: now(of) for name, of in self.figures.items()}
        if there and met:
            steps = [self._step(number) for number in range(1, len(STEPS) + 1)]
            number = f"{charts.say(now(self.usd), 'usd')} {now(self.per)}{now(self.limit)}"
            return Part(**told, number=number, steps=steps, figures=figures)
        says = now(self.breaks if there else self.otherwise)
        helps = [_relaxation(name, of) for name, of in self.changes.items() if now(of.there)]
        helps.sort(key=lambda of: (figure(of.share, 3), of.parameter))
        first = helps[0] if helps else None
        figures = {"relaxed": first and first.parameter, "relaxed_to": first and first.value}
        figures["usd"] = now(self.usd)
        return Part(**told, number=says, broken=Broken(says, helps), figures=figures)

    def _step(self, number: int) -> Step:
        do, why = self.steps[number]
        reasons = [now(of) for of in (why if isinstance(why, list) else [why])]
        asked = [of.asked for of in self.asked.get(number, ()) if now(of.there)]
        once = {(of.chapter, *of.parameters.items()): of for of in reversed(asked)}
        told = [of for of in reasons if of]
        return Step(now(do).removesuffix(".") + ".", told, [*reversed(once.values())])


def now(of: Any) -> Any:
    """A quantity at the case that it was made of, whole numbers as such.

    >>> now(2.0), now("a"), now(0.5)
    (2, 'a', 0.5)
    """
    value = getattr(of, "value", of)
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _relaxation(name: str, of: Change) -> Relaxation:
    also = {name: now(it) for name, it in of.also.items()}
    also = {name: it for name, it in also.items() if not isnan(it)}  # where that changes too
    return Relaxation(now(of.says), of.parameter or name, now(of.value), now(of.share), also)


def joined(reasons: Any) -> Any:
    """Why, in one text: of a list, the reasons that have a word.

    >>> joined(["a", "", "b"]), joined("a; b")
    ('a; b', 'a; b')
    """
    if not isinstance(reasons, list):
        return reasons
    first, *others = reasons
    for of in others:
        first = first + where(of == "", "", "; " + of)
    return first


def reached(there: Any, steps: Mapping[int, tuple[Any, list[Any]]]) -> dict[int, tuple[Any, Any]]:
    """Steps where the limits are kept, and that they are not reached elsewhere."""
    return {
        number: (
            where(there, do, NOT_REACHED),
            [
                where(there, why[0], "the limits break before it"),
                *(where(there, reason, "") for reason in why[1:]),
            ],
        )
        for number, (do, why) in steps.items()
    }


def gives(breaks: Any, changes: Mapping[str, Change]) -> Any:
    """Which limit breaks, and what would help, the least change first; of equal ones the first by
    name.
    """
    left = {name: where(of.there, _three(of.share), NAN) for name, of in changes.items()}
    said: Any = ""
    for _ in changes:
        name, share = least(left)
        words = first_case([(name == of, it.says) for of, it in changes.items()], "")
        more = where(said == "", words, said + "; or " + words)
        said = where(share >= 0, more, said)
        left = {of: where(name == of, NAN, share) for of, share in left.items()}
    none = charts.phrase("What breaks: {breaks}. Nothing that is tried would.")
    some = charts.phrase("What breaks: {breaks}. What would help: {said}.")
    return where(said == "", none, some)


def _three(share: Any) -> Any:
    """A share in three digits, by which changes are put in order."""
    share = maximum(share, 1e-6)
    step = 10.0 ** (floor(log10(share)) - 2)
    return floor(share / step + 0.5) * step


Own = Mapping[str, OwnPlan]
"""The plans of the works of the reader's own, by the words for them in the menu."""


def taken(case: Any, row: Any, own: Own, field: str) -> Any:
    """A field of the plan that is shown: of the reader's own, or that of a preset."""
    mine = [(case.workload == words, getattr(of, field)) for words, of in own.items()]
    return first_case(mine, row[field])


def is_own(case: Any, own: Iterable[str]) -> Any:
    """Whether one of these works is asked for."""
    return reduce(or_, (case.workload == words for words in own), False)


def weighed(case: Any, *works: str, also: Any = False) -> SimpleNamespace:
    """A case whose ways are weighed only where one of these works is asked for, or something else:
    the rows of the others cost a page nothing.
    """
    return SimpleNamespace(**vars(case) | {"weighed": is_own(case, works) | also})


def answer(case: Any, row: Any, own: Own) -> Display:
    """The answer card: what to do, what it costs, and whether the budget pays for it."""
    usd, decision, sure, because, work, helps, per, met = (
        taken(case, row, own, field)
        for field in ("usd", "decision", "sure", "because", "work", "helps", "per", "met")
    )
    over = usd / case.budget_usd
    dear = charts.phrase(", {over:times} your budget of {case.budget_usd:usd}")
    paid = charts.phrase(", {over:percent} of your budget of {case.budget_usd:usd}")
    beside = where(over > 1, dear, paid)
    least = where(met, "", " is the least that it costs")
    there = [(case.workload == words, of.there) for words, of in own.items()]
    why = first_case([(case.workload == words, of.otherwise) for words, of in own.items()], "")
    return charts.answer_card(
        "{decision}.",
        "{usd:usd}",
        "{per}{least}{beside}",
        sure="{sure}",
        because="{because}",
        also="{work}. {helps}",
        provided=first_case(there, True),
        otherwise="{why}",
        as_of=f"{catalog.resource('rental_prices')['as_of']} (rents),"
        f" {catalog.resource('api_prices')['as_of']} (APIs)",
        model_error="that of the chapters behind the steps, each of which says its own",
        headline="usd",
        quantities={"over_budget": (over, "times")},
    )


def bills(case: Any, row: Any, own: Own) -> Display:
    """What each way costs beside the budget; a plan that has no ways has a bar of its own."""
    usd, per, budget = taken(case, row, own, "usd"), taken(case, row, own, "per"), case.budget_usd
    alone = where(is_own(case, own) | row.compared, NAN, usd)
    of_presets = {
        API: row[f"usd to {API}"],
        RENT: row[f"usd to {RENT}"],
        HYBRID: row[f"usd to {HYBRID}"],
        SPILL: row[f"usd to {SPILL}"],
        "own": row["usd to own"],
    }
    names = dict.fromkeys([*of_presets, *(name for of in own.values() for name in of.bars)])
    beside = {
        name: first_case(
            [(case.workload == words, of.bars.get(name, NAN)) for words, of in own.items()],
            of_presets.get(name, NAN),
        )
        for name in names
    }
    return charts.show(
        charts.bars(
            {"this plan": alone, **beside, "your budget": budget},
            "what",
            None,
            "usd",
            BILL,
            sort=False,
            lacking=None,
        ),
        name="bills",
        alt="What the ways that are open cost, the plan {usd:usd} {per}, beside your budget of"
        " {budget:usd}; a way that is ruled out has no bar.",
    )


def steps(case: Any, row: Any, own: Own) -> Display:
    """The nine steps: what to do, why, and the question to the chapter behind it."""
    numbers = range(1, len(STEPS) + 1)

    def told(number: int, what: int) -> Any:
        there = row[f"{('do', 'why')[what]} {number}"]
        mine = [
            (case.workload == words, (of.steps[number][0], joined(of.steps[number][1]))[what])
            for words, of in own.items()
            if number in of.steps
        ]
        return first_case(mine, there) if mine else there

    rows = {
        "step": [f"{number}. {name}" for number, name in zip(numbers, STEPS, strict=True)],
        "do": [told(number, 0) for number in numbers],
        "why": [told(number, 1) for number in numbers],
    }
    of = pd.DataFrame(rows)
    return charts.table(of, "The plan in nine steps", name="steps", beneath=("why",))


def questions(case: Any, row: Any, own: Own) -> Display:
    """The first question of each step to a chapter, as a command."""
    asked = {number: row[f"ask {number}"] for number in range(1, len(STEPS) + 1)}
    for words, of in own.items():
        mine = case.workload == words
        asked |= {number: where(mine, it, asked[number]) for number, it in of.questions.items()}
    rows = {"step": [*STEPS], "ask the chapter": [*asked.values()]}
    return charts.table(pd.DataFrame(rows), "The same question, asked of a chapter", name="asked")


def limits(case: Any, row: Any, own: Own) -> Display:
    """What has to give, where the workload cannot be met."""
    helps = taken(case, row, own, "helps")
    return charts.sentence("{helps}")


def sure(case: Any, row: Any, own: Own) -> Display:
    """How sure the decision is."""
    said = taken(case, row, own, "sure")
    return charts.sentence("{said}")


def others(presets: Mapping[str, Any]) -> Display:
    """Every preset, and the command that plans it."""
    rows = {
        "workload": [of.title for of in presets.values()],
        "for whom": [of.why for of in presets.values()],
        "command": [f"scaleright plan {name}" for name in presets],
    }
    shown = charts.table(pd.DataFrame(rows), "Workloads that people often have", name="presets")
    return charts.folded(shown, f"All {len(presets)} workloads, each with its command")


def every(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is decided of each workload, in words."""
    return {name: str(row["decision"]) for name, row in rows.items() if row["decision"]}
