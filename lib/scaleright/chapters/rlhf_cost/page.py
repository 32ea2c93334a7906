"""What the chapter `rlhf_cost` shows."""

from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.charts import Display
from scaleright.charts import platforms as marks
from scaleright.charts.live import Controls
from scaleright.decisions import post_training_evidence as evidence
from scaleright.decisions.post_training import LORA, METHODS, SHARINGS, Tables
from scaleright.decisions.post_training_choice import Best, Bill, Doubts, first_fit, largest
from scaleright.market import BEST
from scaleright.ops import first_case, where
from scaleright.quantity import look_up

USD = "USD for the machines"
SPOKEN = {"sft": "supervised tuning", "dpo": "DPO", "ppo": "PPO", "grpo": "GRPO"} | {
    "rlvr": "reinforcement learning with verifiable rewards"
}


def controls(case: Any) -> tuple[Controls, Tables]:
    """The controls of the page, and what its case may choose from."""
    models = [case.model, case.reward_model]
    models += [name for of in ("model", "reward_model") for name in case[of].choices]
    sizes = sorted({*case["chips"].choices, case.chips})
    chips = [name for name in case["accelerator"].choices if name != BEST]
    return charts.controls(case), Tables.of(models, sizes, chips)


def answer(asked: Any, bill: Bill, best: Best, doubts: Doubts, refused: tuple[Any, Any]) -> Display:
    """The answer card: days and dollars of the run, what dominates, the cheapest platform.

    asked : the case as the reader asks it
    refused : why it does not run on the accelerator that is taken, see `refusal`
    """
    case, found, named = best.case, best.found, asked.accelerator != BEST
    why, anywhere = refused
    cost, real, hour = bill.cost, evidence.real_runs(), bill.hour
    low, high, new = doubts.low, doubts.high, _unfitted(best)
    part, share = largest(bill.named())
    method = look_up(SPOKEN, case.method)
    machines, people_usd, lasts = cost.machine_usd, cost.labels_usd, bill.seconds
    paid = charts.phrase(", and {people_usd:usd} of people's labels")
    paid = where(people_usd > 0, paid, "")
    nearest = charts.phrase("the {found.platform}, {found.usd:usd}")
    nearest = where(found.usd > 0, nearest, "none: it runs on none that is sold so")
    would = charts.phrase(
        " On as many chips, the cheapest platform that could be tested against published runs is"
        " {nearest}."
    )
    nowhere = charts.phrase("does not run so: {why}.") + where(anywhere, "", would)
    nameless = ~named & (asked.rent_usd_per_hour > 0)
    fails = where(named | anywhere, nowhere, marks.NOWHERE)
    fails = where(nameless, marks.NAMELESS, fails)
    many = marks.of_many(found, named)
    other = marks.elsewhere(case.accelerator, found, best.other, best.choice.other)
    hardly = " People's labels cost more than machines, so the chip hardly matters to the bill."
    other += where(people_usd > machines, hardly, "")
    compared = (found.usd > 0) & (best.choice.other > 0) & (best.choice.probability >= 0)
    ways = "the " + found.platform, "", "the " + best.other
    likely, known = charts.odds(best.choice, compared, *ways)
    return charts.answer_card(
        "Post-train {case.model} by {method} in {lasts:duration 2} on {bill.job.chips:whole}"
        " {case.accelerator}.",
        "{machines:usd}",
        "of machines{paid}{many}",
        "{likely}",
        "{other}",
        "That is {case.trained}, at {hour.usd:usd} an hour ({hour.counted}). The largest part of a"
        " round is {part}, {share:percent} of it.{new} Only platforms that could be"
        " tested against published runs are compared.{known} The range covers prices that no"
        " contract fixes, and how far published runs were from the model.",
        provided=(why == "") & ~nameless,
        otherwise="Post-training <strong>{case.model}</strong> by {method} {fails}",
        range="{low:usd} to {high:usd} of machines (90 %)",
        as_of="{hour.age} (rents)",
        model_error=real.basis,
        headline="machine_usd",
        quantities={
            "machine_usd": (machines, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "total_usd": (cost.total, "usd"),
            "rollout_usd": (cost.rollout_usd, "usd"),
            "labels_usd": (people_usd, "usd"),
            "chip_hours": (bill.chip_hours, "number"),
            "cheapest_cheaper_probability": (best.choice.probability, "percent"),
        },
    )


def _unfitted(best: Best) -> Any:
    """That no run on the architecture of the accelerator was fitted, where that is so."""
    chip = best.case.accelerator
    why = (
        " No run on the architecture of the {chip} was fitted, so that its own error is not known."
    )
    return where(best.seen(chip), "", charts.phrase(why))


def refusal(case: Any, bill: Bill, tables: Tables) -> tuple[Any, Any]:
    """Why a case does not run at a price: which constraint breaks, and what it would take, empty
    where it does; and whether that is so on any platform [truth value].
    """
    here, facts = bill.job, tables.models.row(case.model)
    rl = look_up({name: of["rollout"] for name, of in METHODS.items()}, case.method) > 0
    grouped = (case.method == "grpo") | (case.method == "rlvr")
    context = facts.context
    view = case.prompt_tokens + where(rl, case.most_tokens, case.answer_tokens)
    alone = (
        "a group of one answer has no other to compare it with; take two answers to a prompt or"
        " more, or ppo, whose critic needs no group"
    )
    cut = charts.phrase(
        "answers of {case.answer_tokens:whole} tokens in the mean are longer than the"
        " {case.most_tokens:whole} at which they are cut; allow longer ones"
    )
    long = charts.phrase(
        "prompt and longest answer take more than the {context:whole} tokens that the model was"
        " made for; shorten them, or take a model with a longer context"
    )
    rank = charts.phrase(
        "adapters of rank {case.lora_rank:whole} are wider than the {facts.hidden:whole} of the"
        " model itself; take a lower rank, or train all weights"
    )
    writers = charts.phrase(
        "no engine of one node of {case.accelerator} holds it in {case.rollout_precision} with"
        " such answers on {here.writers:whole} chips; write in FP8, take more chips that write, a"
        " chip with more memory, or shorter answers"
    )
    anywhere = [
        (rl & grouped & (case.answers_each < 2), alone),
        (rl & (case.answer_tokens > case.most_tokens), cut),
        ((context > 0) & (view > context), long),
        ((case.trained == LORA) & (case.lora_rank > facts.hidden), rank),
    ]
    why = first_case(
        [
            *anywhere,
            (where(here.wrote, False, True), writers),
            (where(here.fits, False, True), _memory(case, bill, tables)),
            (bill.hour.why != "", bill.hour.why),
        ],
        "",
    )
    return why, first_case([(broken, True) for broken, _ in anywhere], False)


def _memory(case: Any, bill: Bill, tables: Tables) -> Any:
    """Why learning does not fit, as a clause."""
    here, few = bill.job, first_fit(tables, case, case.accelerator)
    held, room = here.held.total / 1e9, here.memory_bytes / 1e9
    more = charts.phrase("the fewest of the sizes offered on which it does are {few:whole}")
    more = where(few > 0, more, "it does on none of the sizes offered")
    lora = where(case.trained == LORA, "", " or train adapters alone (LoRA)")
    full = charts.phrase(
        "its models take {held:number} GB of each of {case.chips:whole} chips that have"
        " {room:number} GB, activations included: {more}; take more chips or smaller models,{lora}"
    )
    none = charts.phrase(
        "no layout of its models fits on {case.chips:whole} chips: {more}; take more,{lora}"
    )
    return where(here.held.total > 0, full, none)


def _rows(name: str, options: Any) -> pd.DataFrame:
    return pd.DataFrame({name: [*options]})


def platforms(case: Any, platform: Any, there: Bill, best: Best) -> Display:
    """A bar for each platform: what the run costs there, by parts."""
    unpriced = where(there.job.there, "no such price is listed", "does not run")
    usd, star = there.cost.machine_usd, marks.star(best.seen(platform))
    label = where(usd > 0, charts.phrase("{usd:usd}{star}"), unpriced)
    rows, look = marks.cheapest_first(best.on_all), {"along": platform, "label": label}
    return charts.show(
        charts.stacked_parts(there.labeled(), "usd", USD, rows, "platform", **look),
        name="platforms",
        caption="Longest answers: chips that wait for the last answer of a round; waiting: chips"
        " that one phase leaves idle, and new weights on their way; beyond: what published runs"
        f" took beyond their phases, on spot with interruptions. {marks.UNSEEN}",
        alt="Cost of the run on {case.chips:whole} chips of each platform, by parts, the"
        " dearest first.",
    )


def one_round(case: Any, bill: Bill) -> Display:
    """The phases of one round."""
    one, method = bill.job.one, look_up(SPOKEN, case.method)
    parts = {
        "reading": one.reading_s,
        "writing": one.writing_s,
        "longest answers": one.tail_s,
        "scoring": one.scoring_s,
        "policy": one.policy_s,
        "critic": one.critic_s,
        "weights": one.sync_s,
    }
    return charts.show(
        charts.stacked_parts(parts, "duration", "seconds of a round"),
        name="round",
        alt="Seconds of one round of {method} on {case.accelerator} by phases.",
    )


def methods(case: Any, bill: Bill) -> Display:
    """A bar for each method at the reader's sizes."""
    usd = bill.cost.machine_usd
    label = where(usd > 0, charts.say(usd, "usd"), "does not run so")
    rows, look = _rows("method", METHODS), {"along": case.method, "label": label}
    rows["called"] = rows["method"].str.upper()
    return charts.show(
        charts.stacked_parts(bill.labeled(), "usd", USD, rows, "called", **look),
        name="methods",
        alt="Cost of each method on {case.chips:whole} {case.accelerator}, by parts.",
    )


def ways(case: Any, bill: Bill) -> Display:
    """All weights and adapters, as a table."""
    gb = bill.job.held.total / 1e9
    columns = {
        "what is trained": case.trained,
        "machines [USD]": bill.cost.machine_usd,
        "hours": bill.seconds / 3600,
        "a chip holds [GB]": gb,
        "learning [s a round]": bill.job.one.policy_s + bill.job.one.critic_s,
        "new weights [s a round]": bill.job.one.sync_s,
    }
    rows = _rows("of", ("all weights", LORA)).assign(**columns)
    formats = {"machines [USD]": "usd"} | dict.fromkeys([*columns][2:], "number")
    words = "All weights, or adapters alone"
    return charts.table(rows, words, formats, along={case.trained: "of"}, name="lora")


def sharings(case: Any, bill: Bill) -> Display:
    """Ways to share chips, as a table."""
    columns = {
        "chips write and learn": case.sharing,
        "chips": bill.job.chips,
        "machines [USD]": bill.cost.machine_usd,
        "hours": bill.seconds / 3600,
        "idle [USD]": bill.cost.waiting_usd,
    }
    rows = _rows("of", SHARINGS).assign(**columns)
    formats = {"chips": "whole", "machines [USD]": "usd", "hours": "number", "idle [USD]": "usd"}
    words = "In turns on the same chips, or apart"
    return charts.table(rows, words, formats, along={case.sharing: "of"}, name="sharings")


def tail(case: Any, bill: Bill) -> Display:
    """What the longest answers cost against how widely lengths spread."""
    spread, one = case.length_spread, bill.job.one
    share = {"of a rollout": where(one.rollout_s > 0, one.tail_s / one.rollout_s, 0.0)}
    title, rows = "spread of lengths over their mean", {"spread": [x / 20 for x in range(31)]}
    return charts.show(
        charts.rule(spread, title, "you", foot=True)
        + charts.lines(rows, "spread", share, "percent", title, "share of waiting", along=spread),
        name="tail",
        alt="Share of a rollout that waits for its longest answers, against how widely lengths"
        " spread: it rises until the longest are cut.",
    )


def by_chips(case: Any, bill: Bill, tables: Tables) -> Display:
    """A bar for each number of chips."""
    usd, lasts = bill.cost.machine_usd, bill.seconds
    label = where(usd > 0, charts.phrase("{usd:usd}, {lasts:duration 2}"), "does not run so")
    rows, look = _rows("chips", tables.updates.sizes), {"along": case.chips, "label": label}
    return charts.show(
        charts.bars(rows, "chips", usd, "usd", USD, sort=False, **look),
        name="by_chips",
        alt="Cost and time of the run by how many chips learn.",
    )


def memory(case: Any, bill: Bill) -> Display:
    """What a chip holds while it learns."""
    held, room = bill.job.held, bill.job.memory_bytes
    parts = {
        "policy": held.policy_bytes,
        "reference": held.reference_bytes,
        "reward model": held.reward_bytes,
        "critic": held.critic_bytes,
    }
    return charts.show(
        charts.stacked_parts(parts, "si B", "bytes of a chip that learns"),
        name="memory",
        alt="Bytes that a chip holds while it learns, of {room:si B}: the policy with gradients,"
        " optimizer and activations, and the models beside it.",
    )


def published() -> Display:
    """Predicted against published times."""
    rows = evidence.judged_runs().assign(label=lambda r: r["model"] + "\n" + r["accelerator"])
    scale = rows["measure"].map(lambda of: 3600.0 if of == "hours" else 1.0)
    for name in ("measured", "predicted"):
        rows[name] = rows[name] * scale
    pair = "measured", "predicted", "label", "seconds of a round or of a run"
    return charts.show(
        charts.predicted_vs_measured(rows, *pair, said="published", name_worst=0),
        name="published",
        alt=f"Predicted against published times of {len(rows)} runs.",
    )


def runs() -> Display:
    """All published runs beside their predictions; folded."""
    rows = evidence.published_in_words()
    numbers = dict.fromkeys(("published", "phases", "predicted"), "number")
    shown = charts.table(rows, "Published times, and those predicted", numbers, name="runs")
    return charts.folded(shown, f"All {len(rows)} published rows")


def flop() -> Display:
    """InstructGPT's work, counted."""
    return charts.table(
        evidence.flop_beside(),
        "InstructGPT's work in petaflop/s-days: published, and counted here",
        {"published": "number", "counted": "number", "error": "percent"},
    )


def worth_of_knowing(best: Best) -> Display:
    """A chart of what it would save to know each input before taking one of two platforms."""
    pair = charts.phrase("the {best.found.platform} and the {best.other}")
    return charts.worth_of_knowing(best.choice.worth(), "of the run", best.choice, pair)
