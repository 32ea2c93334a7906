"""The nine steps of the plan of a fine-tuning or a post-training: those of a training run where
they say the same, and what is its own.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from scaleright.catalog import model
from scaleright.chapters.plan.limits import Found, costs, following
from scaleright.chapters.plan.training_steps import (
    DAY_S,
    HOW,
    energy,
    hardware,
    how_paid,
    levers,
    measure,
    sold_in,
)
from scaleright.costs.platforms import CARDS, in_server
from scaleright.costs.update_steps import EACH, SEQUENCES, TASKS
from scaleright.decisions.parallelism_playbook import words
from scaleright.decisions.plan_parts import Asked, Step, count, many, percent
from scaleright.decisions.plan_runs import SERVER_CHIPS, read_at
from scaleright.decisions.plan_tuning import Tunings, graph_of
from scaleright.decisions.plan_workload import TUNED, right_share, served_as
from scaleright.decisions.post_training import METHODS
from scaleright.formulas import lookup, search
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.rules import FIELDS
from scaleright.training.search import search as best_layouts
from scaleright.transformer.parameters import parameters
from scaleright.units import HOURS_PER_DAY, duration, usd

SPOKEN = {"sft": "supervised tuning on your own texts", "dpo": "DPO on pairs of answers"} | {
    "ppo": "PPO with a reward model and a critic",
    "grpo": "GRPO with a reward model",
    "rlvr": "reinforcement learning with rewards that a program checks",
}
LEVERS: Mapping[str, Mapping[str, Any]] = {
    "train adapters alone (LoRA)": {"trained": "LoRA"},
    "write answers in FP8": {"rollout_precision": "FP8"},
    "rent from the cheapest quarter of sellers": {"seller": "cheapest quarter"},
}
"""What may make a run cheaper, and the parameters of the chapter that it changes."""
PROBED = {
    **HOW,
    "time of real runs": "run the first ten rounds, or 200 steps, and compare their time with the"
    " step above, before you book the rest",
}
BY = (2.0, 10.0)
"""How many times the work the answer is looked at again [1]."""


@lookup
def work_of(runs: Tunings) -> str:
    """What is done, in words."""
    case, writes = runs.values, METHODS[runs.values["method"]]["rollout"]
    name, how = case["model"], "" if case["trained"] == "all weights" else " with LoRA"
    if case["method"] == "sft":
        passes = "" if case["passes"] == 1 else f", {case['passes']} passes"
        return f"Fine-tune {name}{how} on {count(runs.amount.asked)} tokens of your own{passes}"
    much = f"{case['rounds']:,} rounds" if writes else f"{case['labels']:,} comparisons"
    return f"Post-train {name}{how} by {case['method'].upper()}, {much}"


@search
def demand(found: Found) -> Step:
    now, case = found.figures, found.runs.values
    writes = METHODS[case["method"]]["rollout"]
    each = case["prompt_tokens"] + case["answer_tokens"]
    many_ = case["prompts"] * (case["answers_each"] if writes else 1)
    told = "rounds" if writes else "optimizer steps"
    reasons = [
        SPOKEN[case["method"]],
        (
            f"{now['rounds']:,.0f} {told}, each of {many_:,}"
            f" {'answers' if writes else 'examples'} of {each:,} tokens, and"
            f" {duration(now['round_s'])} by its phases"
        ),
        f"published runs took {now['beyond']:.3g} times their phases, which the hours count",
    ]
    if writes:
        share = now["rollout_usd"] * now["beyond"] / now["usd"]
        reasons.append(f"writing answers, with the wait for the longest, is {percent(share)} of it")
    return Step(
        f"The run takes {now['hours']:,.3g} chip-hours of {found.row['accelerator']}.",
        reasons,
        [found.runs.asked(found.row, {"run.hours.total": now["hours"]})],
    )


@search
def supply(found: Found) -> Step:
    now, own = found.figures, found.runs.values["paid"] == "own"
    says, why = how_paid(found, "what hosts ask for tuning by the token stands in no table here")
    reasons = [why]
    if now["labels_usd"] > 0:
        reasons.append(f"people's labels cost {usd(now['labels_usd'])}, machines {usd(now['usd'])}")
    if not own and (hours := now["days"] * HOURS_PER_DAY) < 1:
        least = usd(now["usd"] / hours)
        reasons.append(f"an hour of all of them, to set them up and load the model, costs {least}")
    reasons += [] if own else [f"prices of {now['age']}"]
    if bought := int(found.ways.bought[found.place]):
        reasons.append(f"{many(bought, 'chip')} to buy{sold_in(found, found.place)}")
    figures = {"run.usd": now["usd"], "bill.cost.labels_usd": now["labels_usd"]}
    return Step(says, reasons, [found.runs.asked(found.row, figures)])


@search
def size(found: Found) -> Step:
    """A smaller model on the same chips, and what is published of how often each is right."""
    row, runs, now = found.row, found.runs, found.figures
    name = smaller_than(found.name)
    says = f"Keep {found.name}: this book has none that is smaller by a third."
    if not name:
        return Step(says, [right_said(found.name)], [runs.asked(row, {"run.usd": now["usd"]})])
    judge = runs.judge if runs.judge != found.name else name
    graph = graph_of(name, judge, (row["chips"],), (row["accelerator"],))
    case = {**runs.case(), **row, "model": name, "reward_model": judge}
    there = float(read_at({"usd": graph.bill.cost.machine_usd}, case)["usd"])
    if not there > 0:
        return Step(says, [right_said(found.name)], [runs.asked(row, {"run.usd": now["usd"]})])
    return Step(
        f"Try {name} first, on the same data: {usd(there)} instead of {usd(now['usd'])}; if it is"
        " good enough, each of its answers is cheaper too.",
        [right_said(name), right_said(found.name)],
        [runs.asked(row, {"run.usd": there}, model=name)],
    )


@lookup
def smaller_than(name: str) -> str:
    """The largest of `TUNED` that is smaller by a third than a model; empty where there is none.

    >>> smaller_than("Llama-3.1-70B"), smaller_than("Qwen2.5-1.5B")
    ('Qwen3-32B', '')
    """
    smaller = [of for of in TUNED if _size(of) < 0.7 * _size(name)]
    return max(smaller, key=lambda of: (_size(of), of), default="")


def _size(name: str) -> float:
    return float(parameters(model(name)).total)


@lookup
def right_said(name: str) -> str:
    """How often a model is right before it is tuned, in words."""
    released = served_as(name)
    share = right_share(released) if released else None
    if share is None:
        return f"{name}: no published scores say how often it is right"
    return f"{released} answers {percent(share)} of usual requests right, untuned"


@search
def layout(found: Found) -> Step:
    now, row, case = found.figures, found.row, found.runs.values
    held, room = now["held_bytes"] / 1e9, now["memory_bytes"] / 1e9
    sequence, size_ = SEQUENCES[0], row["chips"]
    task, batch = TASKS[case["trained"]], EACH * row["chips"]
    chip = in_server(row["accelerator"])
    run = TrainingRun(model(found.name), chip, size_, sequence, batch, task=task)
    found_ = best_layouts(run, limit=1).iloc[0]
    named = words(Layout(**{name: int(found_[name]) for name in FIELDS}))
    reasons = [
        f"a chip holds {held:,.0f} of its {room:,.0f} GB: the model that learns, and any beside it",
        "DP is data, TP tensor, PP pipeline, CP context and EP expert parallelism",
    ]
    if METHODS[case["method"]]["rollout"]:
        reasons.insert(
            0,
            f"all chips write and then learn, {case['sharing']}: engines of"
            f" {many(now['engine_chips'], 'chip')} write {now['running']:,.0f} answers at once",
        )
    parameters_ = {"model": found.name, "accelerator": row["accelerator"], "chips": size_}
    parameters_ |= {"sequence": sequence, "global_batch": batch, "task": task}
    asked = [found.runs.asked(row, {"bill.job.held.total": now["held_bytes"]})]
    if size_ >= SERVER_CHIPS and chip.name not in CARDS:  # that chapter splits whole servers
        mfu = {"split.fastest_mfu": float(found_["mfu"])}
        asked.append(Asked("parallelism", parameters_, mfu))
    says = f"{named} where nothing else needs the memory, {case['trained']} in 16 bits."
    return Step(says, reasons, asked)


@search
def change(found: Found) -> Step:
    runs, row, reasons, asked = found.runs, found.row, [], []
    amount = runs.amount
    for by in BY:
        there = runs.more_work(row, by)
        reasons.append(f"{by:g} times the {_NOUN[amount.parameter]}: {usd(there)}")
    for days in (1.0, 7.0):
        at = found.ways.best((found.ways.days <= days * found.ways.margin) & found.ways.seen)
        if found.figures["days"] > days:
            told = "no cluster that is offered does it"
            if at is not None:
                it = found.ways.rows[at]
                asked.append(runs.asked(it, {"run.usd": float(found.ways.billed[at])}))
                told = f"{it['chips']:,} {it['accelerator']}, {usd(float(found.ways.usd[at]))}"
            reasons.append(f"within {duration(days * DAY_S)}: {told}")
    rival, says = following(found), "The amount of work: no other platform does it within limits."
    if rival is not None:
        paid = costs(found.ways, found.of)
        gap = float(paid[rival] / paid[found.place]) - 1
        says = (
            f"A bill on the {row['accelerator']} that is {percent(gap)} higher makes the"
            f" {found.ways.rows[rival]['accelerator']} cheaper; more work changes it as follows."
        )
    now = {"run.usd": found.figures["usd"]}
    return Step(says, reasons, asked or [runs.asked(row, now)])


_NOUN = {"tokens": "tokens of your own", "labels": "comparisons", "rounds": "rounds"}
STEPS = (
    demand,
    supply,
    size,
    hardware,
    layout,
    partial(levers, changes=LEVERS),
    partial(measure, how=PROBED),
    energy,
    change,
)
