"""What the chapter on requests served at once shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scaleright import charts
from scaleright.chapters.inference_roofline import evidence as gaps
from scaleright.chapters.inference_roofline.model import (
    Batch,
    BatchChoices,
    CheapestServer,
    ServerSteps,
    arithmetic_table,
    chips_by_pace,
    chips_by_requests,
)
from scaleright.charts import Display
from scaleright.charts.busy import utilization_source
from scaleright.charts.live import Controls
from scaleright.inference.demand import usual_peaks
from scaleright.inference.lengths import Load
from scaleright.market import BEST
from scaleright.ops import first_case, maximum, where
from scaleright.quantity import Quantity, given
from scaleright.ranges import Ends

NAMELESS = "a rent of your own is that of one accelerator. Name it."
_BATCHES = {"batch": [round(2 ** (step / 2), 1) for step in range(23)]}
_AT_ONCE = "requests at once"
_PER_MILLION = "USD per million output tokens"
_LOGS = {"log_x": True, "log_y": True}


def controls(case: Any) -> tuple[Controls, BatchChoices]:
    """The controls of the page, and the rows of what they choose."""
    of = {name: case[name].choices for name in ("model", "accelerator", "precision", "chips")}
    accelerators = [name for name in of["accelerator"] if name != BEST]
    _, *formats = of["precision"]
    tables = BatchChoices.of(of["model"], accelerators, formats, of["chips"])
    return charts.controls(case).follow("traffic", usual_peaks()), tables


def answer(
    case: Any, servers: CheapestServer, many: Batch, alone: Batch, low: Any, high: Any
) -> Display:
    """The answer: pace and price of many at once, beside one request alone."""
    weights, hour = servers.taken.weights, servers.taken.hour
    server, pace, price = many.server, many.pace, many.usd_per_million
    alone_pace, single, more = alone.pace, alone.usd_per_million, _more(many, alone)
    room, served, why_not = many.room, many.served, server.why_not(many.load)
    turn = server.turn(many.load)
    source = utilization_source(many.busy)
    crowd = charts.say(case.batch, "whole requests")
    decision = first_case(
        [
            (turn < 1.5, "Serve few at once: arithmetic is the limit from the first request."),
            (room < turn, charts.phrase("Serve as many at once as memory holds, {room:whole}.")),
        ],
        charts.phrase(
            "Serve at least {turn:whole} requests at once: up to there, one more costs little."
        ),
    )
    wait = where(case.batch > room, " The others wait.", "")
    span = charts.between(low, high, "usd") + " per million output tokens (90 %)"
    priced = served & hour.there & ~servers.nameless
    span = where(priced, span, "none, since nothing is served at a price")
    why_not = where(served, charts.phrase("{hour.why}."), why_not)
    why_not = where(servers.nameless, NAMELESS, why_not)
    quick = charts.phrase(
        ", of {servers.many:whole} the cheapest at {case.pace_tokens_per_s:number 2} tokens a"
        " second or more for each,"
    )
    slow = charts.phrase(", the cheapest of {servers.many:whole}, none of which keeps your pace,")
    among = where(many.keeps(case.pace_tokens_per_s), quick, slow)
    among = where(servers.many > 1, among, "")
    return charts.answer_card(
        "{decision}",
        "{price:usd}",
        "per million output tokens, {crowd} at once",
        because="One request at a time would cost {single:usd}, {more}, since a step reads all"
        " weights however many it serves.",
        also="{case.model} in {weights.precision} on {server.chips:whole} {case.accelerator}{among}"
        " gives each of {crowd} {pace:number} tokens a second, and one alone {alone_pace:number}."
        " Prices are with prompts, at {case.utilization:percent} utilization, {source}, and"
        " {hour.usd:usd} an hour ({hour.counted}). Memory holds {room:whole} at once.{wait}",
        provided=priced,
        otherwise="<strong>{case.model}</strong> in <strong>{weights.precision}</strong> is not"
        " served at a price on <strong>{case.accelerator}</strong> like this: {why_not}",
        range="{span}",
        as_of="{hour.age} (rents)",
        model_error="{server.sure}",
        headline="usd_per_million",
        quantities={
            "usd_per_million": (price, "usd"),
            "range_low": (low, "usd"),
            "range_high": (high, "usd"),
            "tokens_per_s_each": (pace, "number"),
            "requests_that_fit": (room, "whole"),
        },
    )


def _more(many: Batch, alone: Batch) -> Any:
    """How much more a token costs one request alone, in words."""
    times = alone.usd_per_million / many.usd_per_million
    same = where(times > 0, "which is the same", "what nobody knows")
    return where(times > 1, charts.phrase("{times:times} as much"), same)


def _at_once(value: Any, label: Any, **look: Any) -> Any:
    """A line at so many requests at once."""
    return charts.rule(value, _AT_ONCE, label, log=True, foot=True, **look)


def _by_batch(case: Any, series: Mapping[str, Any], kind: str, title: str) -> tuple:
    """A mark at the requests of the case, and lines along requests at once."""
    lines = charts.lines(
        _BATCHES, "batch", series, kind, _AT_ONCE, title, along=case.batch, **_LOGS
    )
    return _at_once(case.batch, "you"), lines


def deal(case: Any, many: Batch, alone: Batch) -> Display:
    """What more requests at once do to the cost of a token and the wait for it, over one alone."""
    turn, more = many.server.turn(many.load), _more(many, alone)
    over_one = "times that of one request alone"
    later = where(many.served, "arithmetic overtakes later", "")
    words = where(turn < 2048, "arithmetic overtakes", later)
    seen = where(turn < 2048, maximum(turn, 1.0), 2048.0)
    you, lines = _by_batch(case, many.over(alone, case.batch), "times", over_one)
    return charts.show(
        you
        + _at_once(seen, words, lift=16, beside=case.batch)
        + charts.rule(1.0, over_one, "one alone", horizontal=True, log=True)
        + lines,
        name="deal",
        alt="What more requests at once do, over one alone: the cost of a token falls and the wait"
        " for the next one grows; one alone costs {more}.",
    )


def step_parts(case: Any, many: Batch) -> Display:
    """The time of a step against requests at once, by parts [s]."""
    parts = many.parts(case.batch)
    you, lines = _by_batch(case, parts, "duration", "time of a step")
    return charts.show(
        you + lines,
        name="step_parts",
        caption="Weights: reading and multiplying them. KV-cache attention: reading the cache of"
        " earlier tokens. Prompts: prefill of new requests. Engine: launches, scheduling, sampling"
        " and small operations.",
        alt="Time of a step against requests at once, by parts: the weights take hardly longer for"
        " many than for one; KV-cache attention and prompts grow in proportion.",
    )


def balances(accelerators: Sequence[str]) -> Display:
    """Rows of a step at which each chip is in balance, by format."""
    rows = pd.DataFrame(arithmetic_table(accelerators))
    return charts.table(
        rows,
        "Rows of a step from which arithmetic takes longer than reading the weights, by format of"
        " the weights; a dash where the chip cannot multiply it",
        formats=dict.fromkeys(rows.columns[1:], "whole"),
        name="balance",
    )


def intensities(case: Any, server: ServerSteps, by_context: Mapping[int, Any]) -> Display:
    """Operations for each byte that is read against requests at once, by tokens of context."""
    intensity = {f"{tokens:,} tokens": of for tokens, of in by_context.items()}
    each, able = "FLOP for each byte read", charts.phrase("what {case.accelerator} can do")
    ridge = where(server.there, server.ridge, 1.0)
    able = where(server.there, able, "not served")
    you, lines = _by_batch(case, intensity, "number", each)
    return charts.show(
        you + charts.rule(ridge, each, able, horizontal=True, log=True) + lines,
        name="intensity",
        alt="FLOP for each byte that a decode step of {case.model} reads against requests at once,"
        " for contexts of 500, 4,000 and 32,000 tokens: the longer the context, the sooner the"
        " line flattens.",
    )


def read_and_write(case: Any, server: ServerSteps) -> Display:
    """Time in which so many tokens are read, and written, by one request alone [s]."""
    tokens = given("tokens", 2048.0)  # runs along the chart
    lengths, title = {"tokens": [2**power for power in range(5, 16)]}, "time, one request alone"
    series = server.alone(tokens)
    return charts.show(
        charts.lines(lengths, "tokens", series, "duration", "tokens", title, along=tokens, **_LOGS),
        name="read_write",
        alt="Time to read and to write so many tokens, one request alone, of {case.model} on"
        " {case.accelerator}: writing takes far longer.",
    )


def fronts(servers: CheapestServer, pace: Quantity) -> Display:
    """What a million tokens cost at each pace, a line for each accelerator."""
    one, case = servers.any_chip, servers.taken.case
    return charts.show(
        charts.lines(
            chips_by_pace(one.tables.hours.names),
            "pace",
            "chip",
            "usd",
            "tokens per second per user, at least",
            _PER_MILLION,
            value=one.usd_at(one.load, pace),
            along=(servers.chip, pace),
            **_LOGS,
        ),
        name="fronts",
        alt="Cost of a million output tokens of {case.model} against tokens per second per"
        " user, one line an accelerator: all rise to the right, and some end early.",
    )


def patterns(servers: CheapestServer, load: Load, lengths: Sequence[Quantity]) -> Display:
    """What a thousand requests cost on each accelerator, by kinds of requests.

    load, lengths : of the requests of a row
    """
    one = servers.any_chip
    usd = one.usd_at(load, one.case.pace_tokens_per_s) * load.output_tokens / 1e3
    return charts.table(
        chips_by_requests(one.tables.hours.names).assign(usd=usd),
        "USD per thousand requests at your pace for each user or more, your model and utilization;"
        " a dash where no node is so fast, or nobody lists the chip so",
        formats={"usd": "usd"},
        along=(servers.chip, *lengths),
        across="requests",
        name="patterns",
    )


def sweep(case: Any) -> Display:
    """Time between tokens against requests at once: measured, predicted, by a plain roofline."""
    system, rows = gaps.longest_sweep(gaps.published_gaps(case.model.value))
    title = "time between tokens"
    lines = charts.lines(
        rows, "batch", "what", "duration", _AT_ONCE, title, value="seconds", **_LOGS
    )
    shown = charts.show(
        lines,
        name="sweep",
        alt=f"Median time between tokens of {system} against requests at once: measured, predicted"
        " and by the plain roofline, which lies lowest.",
    )
    return charts.at_defaults(shown, case.model)


def sweep_errors(case: Any) -> Display:
    """How far off the prediction and the plain roofline are over all runs, in a sentence."""
    runs = gaps.published_gaps(case.model.value)
    system, _ = gaps.longest_sweep(runs)
    off, plain = (gaps.off(runs, of) for of in ("predicted", "roofline"))
    shown = charts.sentence(
        f"The chart has {system}. Over all <strong>{len(runs)}</strong> runs of this model, on"
        " H100 and B200, the prediction is a median"
        f" <strong>{charts.say(off.median(), 'percent')}</strong> off and"
        f" the worst {charts.say(off.max(), 'percent')}; the plain roofline is"
        f" {charts.say(plain.median(), 'percent')} off. The constants were fitted to these runs"
        " among others. The range of the answer comes from models that no fit has seen, in the"
        " chapter on the accuracy of serving."
    )
    return charts.at_defaults(shown, case.model)


def tornado(ends: Mapping[str, Ends], price: Quantity, result: Quantity) -> Display:
    """What moves the cost of a token, each input alone."""
    return charts.show(
        charts.tornado(ends, price, "usd", _PER_MILLION, result=result),
        name="tornado",
        alt="What moves the cost of a million output tokens, an input at a time, most of all"
        " first.",
    )
