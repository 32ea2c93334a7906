"""The workload that a plan is made for: what is asked, checked before any work begins."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from scaleright.catalog import accelerator, model, own_models
from scaleright.decisions.routing_tiers import level_shares, success_rates
from scaleright.files import FileError, read_table
from scaleright.formulas import lookup
from scaleright.market import sold_release
from scaleright.names import brief, suggestion
from scaleright.numerals import finite, hint
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR

SERVED = (
    "Llama-3.3-70B",
    "Llama-3.1-8B",
    "Llama-3.1-405B",
    "Qwen3-32B",
    "Qwen3-30B-A3B-Instruct-2507",
    "gpt-oss-20b",
    "gpt-oss-120b",
    "DeepSeek-V3.1",
)
"""Models that the page of a plan offers: those of the chapter `load_of_a_day`, as a test holds. The
command serves every model that writes tokens.
"""
PROXIES = (
    "Llama-3.2-1B",
    "Pythia-70M",
    "Pythia-160M",
    "Pythia-410M",
    "SmolLM2-1.7B",
    "SmolLM3-3B",
    "OLMo-2-7B",
)
"""Models that a study trains: those of the chapter `ablation_cost`, likewise."""
TRAIN, SERVE, BOTH, STUDY = "train", "serve", "train and serve", "study"
TUNE, POST = "fine-tune", "post-train"
AND_SERVE = " and serve"
TUNED = (
    "Qwen2.5-1.5B",
    "Llama-3.1-8B",
    "Qwen3-30B-A3B",
    "Qwen3-32B",
    "Llama-3.1-70B",
    "Llama-3.1-405B",
    "DeepSeek-V3",
)
"""Models that the page on post-training offers; the command tunes every one that writes."""
ROLLOUTS, OF_PAIRS, OF_TEXTS = ("rlvr", "grpo", "ppo"), "dpo", "sft"
"""Methods of the chapter `rlhf_cost`: with answers that the model writes, with pairs of answers,
and with texts of one's own.
"""
LEAVES, IN_REGION, STAYS = "may leave", "stays in the region", "may not leave"
EASY, HARD = 0.6, 0.25
"""Easy requests, and hard ones among the others, where nothing is known of them [1]."""

LEAST_TOKENS = 1e8
"""The fewest tokens that a model is trained on from the start."""

DECLARED = """
work: str = "serve"  # what is to be done; a study is many small runs that are compared
#     (serve | train | train and serve | study | fine-tune | fine-tune and serve | post-train |
#     post-train and serve)
model: str | None = None  # model, by default the smallest that is good enough, or the one that the
#     chapter of the work starts from; hosts sell some of them (models, or a config.json)
quality: float | None = None  # share of requests to be answered right, as published scores have it
#     [1] (0.2..0.95)
requests_per_day: float | None = None  # requests a day, to serve [request/day] (1000..100000000)
trace: str = "conversation"  # what requests look like over time, a published hour
#     (conversation | code completion | long conversation)
input_tokens: int | None = None  # tokens of a prompt, by default those of the trace
#     [token] (10..100000)
output_tokens: int | None = None  # tokens of an answer, by default those of the trace
#     [token] (2..32000)
peak_to_mean: float = 1.4  # busiest time, its load over the mean of the day [1] (1..4)
pace_tokens_per_s: float = 30.0  # pace of an answer, at least so many tokens a second for each
#     reader [token/s] (5..150)
ttft_s: float = 2.0  # first token, within so many seconds for nineteen of twenty [s] (0.05..30)
spare_engines: int = 0  # engines that stand by, so that the promise is kept with so many lost
#     [1] (0..8)
tokens: float | None = None  # tokens to train on, by default as many as are compute-optimal; of a
#     fine-tuning those of your own texts [token] (1e4..1e14)
trained: str | None = None  # weights to tune, by default all of them (all weights | LoRA)
lora_rank: int | None = None  # rank of the adapters, by default 32 [1] (1..16384)
passes: int | None = None  # passes over the texts or answers (epochs), by default 1 [1] (1..16)
method: str | None = None  # method of a post-training, by default with answers that a program
#     checks (rlvr | grpo | ppo | dpo)
reward_model: str | None = None  # reward model of grpo and ppo, by default of the size of the
#     smallest Llama (Qwen2.5-1.5B | Llama-3.1-8B | Qwen3-32B | Llama-3.1-70B)
rounds: int | None = None  # rounds of writing and learning, by default 500 [1] (1..50000)
prompts: int | None = None  # prompts of a round, or examples of a step, by default 128
#     [1] (8..8192)
answers_each: int | None = None  # answers to a prompt, by default 4 [1] (1..128)
prompt_tokens: int | None = None  # tokens of a prompt to tune on, by default 400
#     [token] (16..32000)
answer_tokens: int | None = None  # tokens of an answer to tune on, in the mean, by default 300
#     [token] (1..32000)
most_tokens: int | None = None  # longest answer that is written in a round, by default about 3.4
#     times the mean [token] (16..65536)
labels: int | None = None  # comparisons by people, for dpo, grpo and ppo, by default 33000
#     [1] (1..5000000)
usd_per_label: float | None = None  # price of a comparison, by default 0.67, or of an example of
#     your own texts, by default 0 [USD] (0..200)
variants: int | None = None  # runs of a study that differ, to be compared [1] (2..1000)
precision: str = "usual"  # format of the matrix products, usual is FP8 for a model whose published
#     run was in FP8, else BF16; in BF16 on a chip without the other (usual | BF16 | FP8)
tuning: str = "typical"  # how well layout and software are tuned to the chips, as in a typical
#     published run or in the best quarter of them (typical | best quarter)
seeds: int = 1  # runs of each variant that differ in nothing else [1] (1..20)
deadline_days: float | None = None  # deadline of the training [day] (0.5..5000)
deadline_chance: float = 0.9  # how sure you want to be that the deadline is kept [1] (0.5..0.99)
budget_usd: float | None = None  # budget, of the training, or of a year of serving
#     [USD] (100..1e10)
data: str = "may leave"  # whether data may leave your own walls, or the region
#     (may leave | stays in the region | may not leave)
region: str = "United States"  # where the machines stand
#     (World | United States | Canada | Brazil | United Kingdom | Ireland | France | Germany |
#     Sweden | Poland | India | China | Japan | South Korea | Taiwan | Australia)
accelerator: str | None = None  # accelerator, if it may be no other (accelerators)
owned: str | None = None  # accelerator that you own already (accelerators)
owned_chips: int = 0  # how many of them [chip] (0..20000)
"""
"""The parameters of a workload, as a chapter declares its own."""


@dataclass(frozen=True)
class Workload:
    """What is asked for; None is left to the plan. Units as `DECLARED` has them."""

    work: str = SERVE
    model: str | None = None
    quality: float | None = None
    requests_per_day: float | None = None
    trace: str = "conversation"
    input_tokens: int | None = None
    output_tokens: int | None = None
    peak_to_mean: float = 1.4
    pace_tokens_per_s: float = 30.0
    ttft_s: float = 2.0
    spare_engines: int = 0
    tokens: float | None = None
    trained: str | None = None
    lora_rank: int | None = None
    passes: int | None = None
    method: str | None = None
    reward_model: str | None = None
    rounds: int | None = None
    prompts: int | None = None
    answers_each: int | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    most_tokens: int | None = None
    labels: int | None = None
    usd_per_label: float | None = None
    variants: int | None = None
    precision: str = "usual"
    tuning: str = "typical"
    seeds: int = 1
    deadline_days: float | None = None
    deadline_chance: float = 0.9
    budget_usd: float | None = None
    data: str = LEAVES
    region: str = "United States"
    accelerator: str | None = None
    owned: str | None = None
    owned_chips: int = 0

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """That of values by name, refused where they contradict each other.

        Raises
        ------
        ValueError : one line for each contradiction: the value, why, and what would go together.

        >>> Workload.of({"work": "train", "tokens": 1e12, "requests_per_day": 5000.0})
        Traceback (most recent call last):
        ValueError: requests_per_day = 5000: there is nothing to serve in work = train; leave it
        out, or ask for work = train and serve
        """
        names = {of.name for of in fields(cls)}
        if unknown := [name for name in values if name not in names]:
            raise ValueError(f"{unknown[0]}: no such parameter; {suggestion(unknown[0], names)}")
        made = cls(**values)
        if problems := [*_contradictions(made)]:
            raise ValueError("\n".join(problems))
        return made

    @property
    def trains(self) -> bool:
        """Whether a model is trained."""
        return self.work in {TRAIN, BOTH}

    @property
    def tunes(self) -> bool:
        """Whether one that is there is fine-tuned or post-trained."""
        return self.work.startswith((TUNE, POST))

    @property
    def how(self) -> str:
        """The method of tuning, as the chapter on post-training calls it."""
        return OF_TEXTS if self.work.startswith(TUNE) else self.method or ROLLOUTS[0]

    @property
    def serves(self) -> bool:
        """Whether one is served."""
        return self.work == SERVE or self.work.endswith(AND_SERVE)

    @property
    def served(self) -> str:
        """The model that is served: the one that is named, the smallest that is good enough, or a
        usual one.
        """
        if self.model:
            return served_as(self.model)
        return smallest_for(self.quality) if self.quality else SERVED[0]


@lookup
def served_as(name: str) -> str:
    """The release that is served of a model: the one that is named, of a shape that of `SERVED`,
    else that which most hosts sell, else the shape itself; empty where it writes no tokens.

    >>> served_as("Llama-3.1-70B"), served_as("Qwen3-8B"), served_as("BERT-base")
    ('Llama-3.3-70B', 'Qwen3-8B', '')
    """
    shape, shapes = model(name), {model(of).name: of for of in SERVED}
    if name in SERVED or name in own_models() or not shape.causal:
        return name if shape.causal else ""
    if name == shape.name:
        return shapes.get(name) or sold_release(name) or name
    return sold_release(name) or shapes.get(shape.name, shape.name)


@lookup
def right_share(name: str) -> float | None:
    """Share of usual requests that a model answers right, by published scores [1]; None where none
    are published.

    >>> 0.7 < right_share("Llama-3.3-70B") < 0.8
    True
    """
    if name not in success_rates():
        return None
    shares = zip(level_shares(EASY, HARD), success_rates()[name].values(), strict=True)
    return sum(share * rate for share, rate in shares)


@lookup
def scored() -> dict[str, float]:
    """The models of `SERVED` with published scores, the smallest first, and how often they are
    right [1].
    """
    found = {name: right_share(name) for name in SERVED}
    known = {name: share for name, share in found.items() if share is not None}
    sizes = {name: model(name).name and _size(name) for name in known}
    return {name: known[name] for name in sorted(known, key=lambda of: (sizes[of], of))}


def _size(name: str) -> float:
    from scaleright.transformer.parameters import parameters

    return float(parameters(model(name)).total)


@lookup
def smallest_for(quality: float) -> str:
    """The smallest scored model that answers so many requests right.

    Raises
    ------
    ValueError : none does; names the best.
    """
    found = scored()
    for name, right in found.items():
        if right >= quality:
            return name
    best = max(found, key=lambda of: found[of])
    raise ValueError(
        f"quality = {quality:g}: no open model with published scores answers so many right; the"
        f" best, {best}, reaches {found[best]:.2f}: ask for that or less"
    )


def _contradictions(of: Workload) -> Iterable[str]:
    yield from _of_the_work(of)
    yield from _of_the_model(of)
    if (of.input_tokens is None) != (of.output_tokens is None):
        name = "input_tokens" if of.output_tokens is None else "output_tokens"
        other = "output_tokens" if of.output_tokens is None else "input_tokens"
        yield f"{name} = {getattr(of, name):g}: half of a request; give {other} too, or neither"
    if of.owned_chips and not of.owned:
        yield f"owned_chips = {of.owned_chips}: of what? give owned, such as owned = H100 SXM"
    if of.owned and not of.owned_chips:
        yield f"owned = {of.owned}: how many? give owned_chips, 1 or more"
    chip = of.accelerator or of.owned
    kept = of.data == STAYS and chip and not of.owned
    if kept and accelerator(chip).purchase_usd is None:
        yield (
            f"accelerator = {chip}: nobody sells it, and data = {of.data} leaves only machines of"
            " your own; choose one that is sold, such as H100 SXM"
        )


def _of_the_work(of: Workload) -> Iterable[str]:
    """What the work does not take, or lacks."""
    serving = {"requests_per_day": of.requests_per_day, "quality": of.quality}
    serving |= {"input_tokens": of.input_tokens, "spare_engines": of.spare_engines or None}
    training = {"tokens": of.tokens, "deadline_days": of.deadline_days}
    if not of.serves:
        for name, value in serving.items():
            if value is not None:
                also = f", or ask for work = {of.work}{AND_SERVE}" if of.work != STUDY else ""
                yield (
                    f"{name} = {value:g}: there is nothing to serve in work = {of.work}; leave it"
                    f" out{also}"
                )
    if of.work == SERVE:
        for name, value in training.items():
            if value is not None:
                yield (
                    f"{name} = {value:g}: there is nothing to train in work = {of.work}; leave it"
                    f" out, or ask for work = {BOTH}"
                )
    for name, usual in (("precision", "usual"), ("tuning", "typical")):
        taken = of.trains or (name == "tuning" and of.work == STUDY)
        if (value := getattr(of, name)) != usual and not taken:
            yield (
                f"{name} = {value}: of a training from scratch; leave it out in work ="
                f" {of.work}, or ask for work = {TRAIN}"
            )
    yield from _of_tuning(of)
    if of.serves and of.requests_per_day is None:
        yield "requests_per_day: how much is there to serve? give it, such as 5000, or a trace file"
    if of.work == STUDY and of.variants is None:
        yield "variants: how many runs are compared? give it, such as 24"
    if of.work != STUDY and of.variants is not None:
        yield f"variants = {of.variants}: of a study; ask for work = {STUDY}, or leave it out"


_TUNED_BY = {
    "trained": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "lora_rank": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "passes": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "prompts": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "prompt_tokens": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "answer_tokens": (OF_TEXTS, OF_PAIRS, *ROLLOUTS),
    "usd_per_label": (OF_TEXTS, OF_PAIRS, "grpo", "ppo"),
    "method": (OF_PAIRS, *ROLLOUTS),
    "labels": (OF_PAIRS, "grpo", "ppo"),
    "reward_model": ("grpo", "ppo"),
    "rounds": ROLLOUTS,
    "answers_each": ROLLOUTS,
    "most_tokens": ROLLOUTS,
}
"""Which methods of tuning take a parameter."""


def _of_tuning(of: Workload) -> Iterable[str]:
    """What a fine-tuning or a post-training does not take, or lacks; and what only these take."""
    for name, methods in _TUNED_BY.items():
        if (value := getattr(of, name)) is None or (of.tunes and of.how in methods):
            continue
        told = f"{name} = {value:g}" if isinstance(value, (int, float)) else f"{name} = {value}"
        if of.tunes:
            taken = TUNE if OF_TEXTS in methods else f"{POST} by {' or '.join(methods)}"
            yield f"{told}: not of {of.work} by {of.how}, but of {taken}; leave it out"
        else:
            yield f"{told}: nothing is tuned in work = {of.work}; leave it out, or ask for {TUNE}"
    if of.how == OF_TEXTS and of.tokens is None:
        yield "tokens: how much text of your own is there to tune on? give it, such as 10000000"
    if of.tunes and of.how != OF_TEXTS and of.tokens is not None:
        yield (
            f"tokens = {of.tokens:g}: a post-training learns from rounds of answers, or from"
            f" comparisons; leave it out, or ask for work = {TUNE}"
        )
    if of.tunes and (of.tokens or of.how != OF_TEXTS):
        from scaleright.decisions.plan_tuning import refused

        yield from refused(of)
    if not of.tunes and of.tokens is not None and of.tokens < LEAST_TOKENS:
        yield (
            f"tokens = {of.tokens:g}: too few to train a model on; give {LEAST_TOKENS:g} or more,"
            f" or ask for work = {TUNE}"
        )


def _of_the_model(of: Workload) -> Iterable[str]:
    """A model that nothing is known of, or that is not good enough."""
    if of.tunes and not of.serves and of.model and not model(of.model).causal:
        yield (
            f"model = {brief(of.model)}: it writes nothing that could be tuned so; name one that"
            f" writes, such as {TUNED[1]}"
        )
    if of.work == STUDY and of.model and of.model not in PROXIES:
        yield f"model = {brief(of.model)}: no proxy of a study; {suggestion(of.model, PROXIES)}"
    if not of.serves:
        return
    if of.model and not served_as(of.model):
        yield (
            f"model = {brief(of.model)}: it reads tokens and writes none, as encoders do; name one"
            f" that writes, such as {SERVED[0]}"
        )
    if of.work == SERVE and of.accelerator:
        from scaleright.decisions.hardware_candidates import serving_chips

        if of.accelerator not in serving_chips():
            instead = suggestion(of.accelerator, serving_chips())
            yield f"accelerator = {of.accelerator}: no engine of it is known; {instead}"
    if of.quality is None:
        return
    if not of.model:
        try:
            smallest_for(of.quality)
        except ValueError as error:
            yield str(error)
        return
    right = right_share(served_as(of.model)) if served_as(of.model) else None
    if right is not None and right < of.quality:
        better = [name for name, share in scored().items() if share >= of.quality]
        instead = f"take {better[0]}, or" if better else "no model of the book does;"
        yield (
            f"quality = {of.quality:g}: {served_as(of.model)} answers {right:.2f} of the requests"
            f" right by published scores; {instead} ask for {right:.2f} or less"
        )


TRACE_COLUMNS = {
    "when a request came": (
        *("timestamp", "arrival_s", "arrived_at", "arrival_time", "request_time", "created_at"),
        *("start_time", "time"),
    ),
    "input tokens": (
        *("input_tokens", "input_length", "prompt_tokens", "prompt_length", "context_tokens"),
        *("request_tokens", "num_prefill_tokens"),
    ),
    "output tokens": (
        *("output_tokens", "output_length", "completion_tokens", "completion_length"),
        *("generated_tokens", "response_tokens", "num_decode_tokens"),
    ),
}
"""Names of the columns of a trace by what they say, the plainest first: those of the logs of
engines and of published traces.
"""


@lookup
def read_trace(path: Path) -> dict[str, float]:
    """What a log of requests says of a workload: requests_per_day, input_tokens, output_tokens, and
    peak_to_mean if it covers a day.

    path : a CSV file with a header and a line a request: when it came, as a date or in seconds (of
        an epoch also in smaller parts), and the tokens of its prompt and of its answer, in columns
        of `TRACE_COLUMNS`, however they are spaced and capitalized

    Raises
    ------
    FileError : it is no such file; says which column is missing, or in which line what is wrong.
    """
    table = read_table(path)
    for line, why in table.ragged():
        raise FileError(str(path), f"{why}; {_FORM}", line)
    head = [_letters(name) for name in table.header]
    found = []
    for what, names in TRACE_COLUMNS.items():
        at = next((head.index(of) for of in map(_letters, names) if of in head), None)
        if at is None:
            has = brief(", ".join(table.header))
            why = f"no trace: no column says {what}: {', '.join(names)}; the file has {has}"
            raise FileError(str(path), why, 1)
        found.append(at)
    rows = []
    for line, row in enumerate(table.rows, 2):
        try:
            rows.append(_request({table.header[at]: row[at].strip() for at in found}))
        except ValueError as error:
            raise FileError(str(path), f"{error}", line) from None
    if len(rows) < 2:
        raise FileError(str(path), f"no trace: it has {len(rows)} requests; two are the least")
    rows.sort()
    span = rows[-1][0] - rows[0][0]
    if span <= 0:
        raise FileError(str(path), "no trace: all its requests came at once")
    day = HOURS_PER_DAY * SECONDS_PER_HOUR
    said = {
        "requests_per_day": (len(rows) - 1) / span * day,
        "input_tokens": max(round(sum(row[1] for row in rows) / len(rows)), 10),
        "output_tokens": max(round(sum(row[2] for row in rows) / len(rows)), 2),
    }
    if span >= 0.95 * day:
        hours: dict[int, int] = {}
        for when, *_ in rows:
            hour = int((when - rows[0][0]) // SECONDS_PER_HOUR)
            hours[hour] = hours.get(hour, 0) + 1
        said["peak_to_mean"] = min(max(hours.values()) / (len(rows) / (span / SECONDS_PER_HOUR)), 4)
    return said


_FORM = "a trace is a CSV file with the columns timestamp, input_tokens and output_tokens"


def _letters(column: str) -> str:
    """A column's name without case, blanks and signs: as "ContextTokens" and "context tokens"."""
    return re.sub(r"[^a-z0-9]", "", column.casefold())


_LATEST_S = 1e11
"""More seconds than any epoch has, which is three thousand years."""


def _request(cells: Mapping[str, str]) -> tuple[float, ...]:
    """When a request came [s], and the tokens of its prompt and answer; raises ValueError with the
    column and its value.
    """
    (when, came), *counts = cells.items()
    try:
        seconds = finite(came)
        while seconds > _LATEST_S:  # of an epoch in milliseconds or less
            seconds /= 1000
        said = [seconds]
    except ValueError:
        try:
            said = [datetime.fromisoformat(came[:26]).timestamp()]
        except (ValueError, OverflowError):
            raise ValueError(
                f"{when} = {brief(came)}: needs seconds or a date such as 2026-09-29 18:15:46"
            ) from None
    for name, text in counts:
        try:
            tokens = finite(text)
        except ValueError:
            raise ValueError(
                f"{name} = {brief(text)}: needs a number of tokens{hint(text)}"
            ) from None
        if tokens < 0:
            raise ValueError(f"{name} = {brief(text)}: allowed: 0 or more tokens")
        said.append(tokens)
    return tuple(said)
