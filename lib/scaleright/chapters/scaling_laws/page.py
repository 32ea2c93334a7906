"""What the chapter `scaling_laws` shows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scaleright import charts
from scaleright import scaling_laws as laws
from scaleright.chapters.scaling_laws.model import Life, SizeDoubts
from scaleright.charts import Controls, Display
from scaleright.charts import platforms as marks
from scaleright.charts.market import dots
from scaleright.costs.pretraining_run import Cheapest
from scaleright.information import Choice
from scaleright.market import BEST, PaidHour
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.quantity import Quantity
from scaleright.units import si

LOG = {"log_x": True, "log_y": True}
NOWHERE = "No accelerator that clusters are built of is rented out so and serves in that format."
"""Why there is no answer where the cheapest accelerator is asked for."""
LEAST_LOSS = (
    "<strong>{case.budget_usd:usd}</strong> buys {flop:si FLOP} of training on the"
    " {case.accelerator} at {hour.usd:usd} an hour ({hour.counted}){many}. The lowest loss"
    " comes from <strong>{size:count} parameters on {tokens:count} tokens</strong>,"
    " {ratio:number 2} tokens a parameter. "
)
"""What the budget buys, of the names of `answer`."""
ACROSS = "times compute-optimal size"


def controls(declared: Any) -> Controls:
    """The chapter's controls."""
    return charts.controls(declared)


def _of_many(asked: Any, compared: Cheapest) -> Any:
    """Of how many chips the one that is taken is the cheapest, in words."""
    many = charts.phrase(", the cheapest of {compared.many:whole} accelerators to train on")
    return where(asked.accelerator == BEST, many, "")


def _known(asked: Any, compared: Cheapest) -> list[tuple[Any, str]]:
    """Whether there is a chip to answer for, and why not."""
    named = asked.accelerator != BEST
    own = (named | (asked.rent_usd_per_hour == 0), "A budget " + marks.NAMELESS)
    return [own, (named | (compared.usd > 0), NOWHERE)]


def _further(
    life: Life, hour: Any, flop: Any, many: Any, repeats: laws.Repeats, freely: laws.Model
) -> Any:
    """What the budget buys and how often the smaller sees its data; many : of how many chips."""
    case, ratio, passes = life.case, life.best.ratio, repeats.passes
    over = charts.phrase("in {passes:passes 2} over your unique tokens")
    most = over + ", beyond which a repeat teaches less and less"
    held = freely.tokens > life.cheapest.tokens
    over = first_case([(passes <= 1, "without a repeat of your unique tokens"), (held, most)], over)
    return charts.phrase(
        "The budget buys {flop:si FLOP} on the {case.accelerator} at {hour.usd:usd} an hour"
        " ({hour.counted}){many}; the larger model has {ratio:number 2} tokens a parameter. The"
        " smaller one is trained {over}."
    )


def _no_smaller(life: Life, freely: laws.Model) -> Any:
    """Why no smaller model of the same loss is cheaper over its life, a sentence."""
    case, lifetime = life.case, life.case.lifetime_tokens
    passes = life.best.tokens / case.unique_tokens
    too_few = charts.phrase(
        "It is also the cheapest over its life: it reads and writes no more than {lifetime:count 2}"
        " tokens, too few for a smaller one to save half a percent."
    )
    too_often = charts.phrase(
        "A smaller one of the same loss would pass more than four times over your"
        " {case.unique_tokens:count 2} unique tokens, of which it would learn less and less; this"
        " one takes {passes:passes 2}."
    )
    return where(freely.tokens > life.cheapest.tokens, too_often, too_few)


def _between(doubts: SizeDoubts, sure: Choice, pays: Any) -> tuple[Any, Any]:
    """The range of what the smaller model saves over its life, or of the compute-optimal size where
    none pays, in words; and the size's as a sentence.
    """
    (low, high), (least, most) = doubts.between, sure.saved_between
    lost, sizes = -least, charts.phrase("{low:count} to {high:count} parameters for the larger")
    from_ = where(least < 0, charts.phrase("{lost:percent} more"), charts.say(least, "percent"))
    saved = charts.phrase("{from_} to {most:percent} less")
    return where(pays, saved, sizes), " " + sizes + " (90 %)."


def answer(
    asked: Any,
    compared: Cheapest,
    hour: PaidHour,
    flop: Quantity,
    life: Life,
    saved: Quantity,
    doubts: SizeDoubts,
    sure: Choice,
    repeats: laws.Repeats,
    freely: laws.Model,
    unseen: laws.Extrapolation,
) -> Display:
    """The answer card: the model of least loss for the budget, and the cheapest over its life.

    asked, compared : as the reader asks, and the chip on which a FLOP of training costs least
    saved : share of the cost over the life; doubts : of the size; sure : which model costs less
    repeats : of the unique tokens; freely : the cheapest without them; unseen : larger runs judged
    """
    case, (range_low, range_high) = life.case, doubts.between
    lifetime, many = case.lifetime_tokens, _of_many(asked, compared)
    (size, tokens), ratio, (smaller, longer) = life.best, life.best.ratio, life.cheapest
    (refused, instead), why = life.service.weights.refusal, _no_smaller(life, freely)
    pays, per = saved > 0, longer / smaller
    likely, loss = charts.odds(sure, pays, "the smaller one", " over its life")
    far = " At {per:whole} tokens a parameter, beyond its data, the law flatters it."
    far = where(per > unseen.densest, charts.phrase(far), "")
    between, sizes = _between(doubts, sure, pays)
    also = where(pays, _further(life, hour, flop, many, repeats, freely) + loss + sizes, "")
    return charts.answer_card(
        "Train {smaller:count} parameters on {longer:count} tokens, not {size:count} on"
        " {tokens:count}.",
        "{saved:percent} less",
        "cost over a life of {lifetime:count 2} tokens",
        "{likely}",
        "Both reach one loss. Training the smaller takes {life.training_usd:usd} instead of"
        " {case.budget_usd:usd}, and its service earns that back. If your budget cannot grow, train"
        " the larger.{far}",
        "{also}",
        provided=pays,
        otherwise=LEAST_LOSS + "{why}",
        always=True,
        range="{between} (90 %)",
        as_of="{hour.age} (rents)",
        model_error=_extrapolated(unseen),
        headline="size",
        quantities={
            "size": (size, "count"),
            "range_low": (range_low, "count"),
            "range_high": (range_high, "count"),
            "smaller_cheaper_probability": (sure.probability, "percent"),
            "expected_loss_usd": (sure.expected_loss, "usd"),
        },
        besides=[
            *_known(asked, compared),
            (hour.there, "{hour.why}."),
            (~refused, "{case.accelerator}: {instead}"),
        ],
    )


def _extrapolated(unseen: laws.Extrapolation) -> str:
    """How well larger runs were predicted, in words."""
    median, most = (charts.say(of, "percent") for of in (unseen.median, unseen.most))
    return (
        f"loss of runs larger than all that were fitted: {median} at the median, {most} at most"
        f" ({unseen.large} runs of up to {si(unseen.largest, 'FLOP', 2)})"
    )


def plane(
    parameters: Quantity,
    curves: Mapping[str, Quantity],
    best: laws.Model,
    cheapest: laws.Model,
    models: pd.DataFrame,
) -> Display:
    """A chart of parameters against training tokens: the lines of the law, the reader's two models
    and those that were trained.

    curves : tokens by line, along `parameters`; models : of `laws.trained_models`
    """
    (size, _), (smaller, longer) = best, cheapest
    reach = maximum(2e12, 4 * size), maximum(1e14, 4 * longer)  # of the axes
    inside = {
        name: where((parameters < reach[0]) & (tokens > 1e10) & (tokens < reach[1]), tokens, np.nan)
        for name, tokens in curves.items()
    }
    sizes = {"size": np.geomspace(2e8, 2e16, 121).round(-6)}
    axes, kinds = ("parameters used by a token", "training tokens"), ("count", "count")
    view, along = ((2e8, 2e12), (1e10, 1e14)), {"x_kind": "count", "along": parameters}
    yours = {"cheapest": cheapest, "least loss": best}
    trained = laws.named_first(models)
    return charts.show(
        charts.lines(sizes, "size", inside, "count", *axes, **LOG, **along)
        + dots(trained, "size", "tokens", "model", axes, kinds, view, yours),
        name="plane",
        alt="Parameters against training tokens: the compute-optimal line rises, that of your"
        " budget falls, that of your loss bends from steep to flat; all three meet at the"
        " compute-optimal {size:count} parameters, and the cheapest model over its life,"
        " {smaller:count}, lies further up the line of the same loss, where most models since 2023"
        " lie.",
    )


def bills(
    case: Any,
    bill: Any,
    less: Any,
    price_ratio: Quantity,
    trained: Any,
    kept: Quantity,
    even: Quantity,
) -> Display:
    """What the compute-optimal model and the cheapest one cost in training and in service [USD].

    trained, kept : share of peak in training and in service
    even : tokens in service from which the cheapest pays
    """
    best = "The compute-optimal model costs {bill.training_usd:usd} to train and"
    best += " {bill.service_usd:usd} to serve; "
    rates = " A FLOP in service costs {price_ratio:times 2} what it costs in training: serving"
    rates += " reaches {kept:percent} of the chips' peak and uses {case.utilization:percent} of the"
    rates += " paid hours, training {trained:percent} of peak."
    return charts.sentence(
        f"{best}the model that is cheapest over its life costs {{less.training_usd:usd}} to train"
        " and {less.service_usd:usd} to serve. It pays once you serve more than {even:count 2}"
        f" tokens.{rates}",
        provided=even > 0,
        otherwise=f"{best}no smaller one of the same loss is cheaper over its life.{rates}",
    )


def valleys(
    times: Quantity, losses: Mapping[str, Quantity], law: laws.Law, size: Quantity
) -> Display:
    """A chart of the loss above its floor against the size of the model, by budget.

    losses : along `times`, of the compute-optimal size
    """
    points = {"times": np.geomspace(1 / 30, 30, 61)}
    up = f"loss above the floor of {law.E:.2f} [nat a token]"
    return charts.show(
        charts.lines(points, "times", losses, "number", ACROSS, up, along=times, **LOG)
        + charts.rule(1.0, ACROSS, charts.say(size, "count"), log=True, foot=True),
        name="isoflop",
        alt="Loss against model size at a tenth of the budget, at the budget and at ten times it:"
        " each curve is a shallow valley; at the budget it is lowest at {size:count} parameters.",
    )


def cost_by_size(times: Quantity, paid: Any, smaller: Quantity, share: Quantity) -> Display:
    """A chart of the cost of models of one loss against their size, with and without service [USD].

    paid : along `times`, of the compute-optimal size; share : of it the cheapest size, `smaller`
    """
    spent = {"training": paid.training_usd, "with service": paid.total}
    sizes, up = {"times": np.geomspace(1 / 8, 4, 97)}, "USD at the same loss"
    return charts.show(
        charts.lines(sizes, "times", spent, "usd", ACROSS, up, along=times, **LOG)
        + charts.rule(share, ACROSS, charts.say(smaller, "count"), log=True, foot=True),
        name="lifetime",
        alt="Cost of models of one loss against their size: training alone is cheapest at the"
        " compute-optimal size, training with service at {share:number 2} times it.",
    )


def ratios(models: pd.DataFrame, ratio: Quantity) -> Display:
    """A chart of the tokens a parameter of known models, beside those of the reader's least
    loss.
    """
    per, compared = "tokens a parameter", laws.compared(models)
    return charts.show(
        charts.rule(ratio, per, "least loss for you", log=True)
        + charts.bars(compared, "model", "ratio", "number 2", per, log=True),
        name="models",
        alt="Tokens a parameter of known models, from less than two of PaLM-540B and GPT-3 to"
        " thousands of small ones since 2024; yours with the least loss has {ratio:number 2}.",
    )


def trained_models(models: pd.DataFrame) -> Display:
    """A table of the models as they were trained, beside what the law says of them; folded."""
    return charts.sheet(laws.models_sheet(models))


def worth_of_passes(epochs: Quantity, worth: Quantity, passes: Quantity) -> Display:
    """A chart of what passes over the same data are worth in fresh ones.

    worth : along `epochs`; passes : of the reader's cheapest model
    """
    passed = {"fresh": epochs, "repeated": worth}
    counts, across = {"epochs": np.geomspace(1, 1000, 61)}, "times over the data"
    up, here = "worth in fresh passes", minimum(maximum(passes, 1.0), 1000.0)
    yours = [(passes > 1000, "yours: more than 1,000"), (passes < 1, "yours: all fresh")]
    yours = first_case(yours, "yours")
    return charts.show(
        charts.lines(counts, "epochs", passed, "times", across, up, along=epochs, **LOG)
        + charts.rule(here, across, yours, log=True, foot=True),
        name="repeats",
        alt="What passes over the same data are worth in fresh data: four passes are worth nearly"
        " four, sixteen about eleven, and no number more than about sixteen.",
    )


def scarce_data(flop: Quantity) -> Display:
    """A table of the best models for the budget when different tokens are scarce, at the
    defaults.
    """
    words = (
        f"The best model for {charts.say(flop.value, 'si FLOP')} when data are scarce, by the law"
        " of the same paper, fitted to another corpus"
    )
    formats = dict.fromkeys(("unique tokens", "parameters", "tokens"), "count 2")
    formats |= {"passes": "number 2", "loss": "number"}
    found = laws.scarce_data(flop.value)
    shown = charts.at_defaults(charts.table(found, words, formats, name="scarce-data"), flop)
    return charts.folded(shown, "The best model for your budget when data are scarce")


def coefficients(law: laws.Law, draws: laws.Law) -> Display:
    """A table of the law's coefficients: of the original, the replication and this book."""
    words = "Coefficients of the law: original, replication and this book"
    formats = dict.fromkeys(("original", "replication", "here", "with the outliers"), "number 4")
    formats |= dict.fromkeys(("its standard error", "standard error here"), "number 2")
    formats |= {"off by [standard errors]": "number 1"}
    return charts.folded(charts.table(laws.coefficients(law, draws), words, formats), words)


def fitted(law: laws.Law, runs: pd.DataFrame) -> Display:
    """A chart of the loss above the floor by the law against that of the runs [nat a token]."""
    found = laws.fitted_runs(law, runs)
    pair = "loss", "predicted", "run", "nat above the floor", "published"
    return charts.show(
        charts.predicted_vs_measured(found, *pair, name_worst=1),
        name="fit",
        alt=f"Loss above the floor by the law against the loss of {len(runs)} training runs: half"
        f" lie within {100 * found['missed'].abs().median():.2f} percent of the published loss.",
    )


def intervals(narrow: laws.Narrow) -> Display:
    """A table of the exponent a with its interval, by how it was found."""
    formats: dict[str, Any] = dict.fromkeys(("value", "low", "high"), "{:.3f}".format)
    formats |= {"width": "{:.4f}".format}
    words = "The exponent a with its interval (10 to 90 %)"
    return charts.folded(charts.table(narrow.ways.reset_index(), words, formats), words)


def sizes_by_law(law: laws.Law) -> Display:
    """A chart of the compute-optimal size against training compute by four laws."""
    sizes = laws.sizes_by_law(law, np.geomspace(1e19, 1e27, 33))
    axes = "count", "training FLOP", "compute-optimal parameters"
    return charts.show(
        charts.lines(sizes, "flop", "law", *axes, value="size", **LOG),
        name="laws",
        alt="Compute-optimal size against training compute by four laws: that of Kaplan grows"
        " fastest and is far above the others at large budgets, the original's third approach is"
        " the lowest, its first approach and the fit of this book lie together.",
    )


def size_ranges(law: laws.Law, draws: laws.Law, unseen: laws.Extrapolation) -> Display:
    """A table of compute-optimal models with their 90 % ranges."""
    found = laws.size_ranges(law, draws, np.array([1e21, 1e22, 1e24, 1e26]))
    words = (
        f"Compute-optimal models with 90 % ranges from {len(draws.alpha)} resamples; the largest"
        f" run fitted took {si(unseen.largest, 'FLOP', 2)}"
    )
    formats = {"training": "si FLOP"} | dict.fromkeys(("parameters", "from", "to"), "count 2")
    formats |= dict.fromkeys(("tokens a parameter", "at least", "at most"), "number 2")
    return charts.table(found, words, formats, name="ranges")


def swings(doubts: SizeDoubts, size: Quantity) -> Display:
    """A chart of what moves the compute-optimal size, largest first."""
    up = "compute-optimal parameters"
    return charts.show(
        charts.tornado(doubts.ends, size, "count", up, result=doubts.size),
        name="tornado",
        alt="What the range of the {size:count} parameters of the compute-optimal model comes from:"
        " rents, time of real runs and the fit, largest first.",
    )


def worth_of_knowing(sure: Choice) -> Display:
    """A chart of what it would save to know each input before one of the two is trained."""
    return charts.worth_of_knowing(sure.worth(), "over the life", sure, "the two models")
