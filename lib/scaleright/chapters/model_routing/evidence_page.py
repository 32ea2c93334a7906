"""The evidence that the chapter `model_routing` shows: routers, cascades, checks and counts of
failures, as published and as predicted.
"""

from scaleright import charts
from scaleright.chapters.model_routing.checks import cascades, kinds, scored, usual_check
from scaleright.chapters.model_routing.evidence import failures, judged, routers, savings
from scaleright.charts import Display


def overlaps() -> Display:
    """A table of published counts of questions that two models get right."""
    found = failures()
    percents = [name for name in found.columns if name not in {"benchmark", "small", "large"}]
    formats = dict.fromkeys(percents, "percent") | {"questions": "whole"}
    told = charts.table(found, "Which questions two models get right, counted", formats)
    return charts.folded(told, "Both counts of which questions two models get right")


def published_routers() -> Display:
    """A chart of the requests that published routers send to the large model, as predicted."""
    found = routers()
    shown = found.assign(
        published=100 * found["calls, published"],
        predicted=100 * found["calls, predicted"],
        label=found["router"] + "\n" + found["benchmark"],
    )
    return charts.show(
        charts.predicted_vs_measured(
            shown, "published", "predicted", "label", "% of requests", "published"
        ),
        name="published_routers",
        alt="Share of requests that 16 published routers send to the large model to recover four"
        " fifths of the gap, published against predicted from the share at half of the gap.",
    )


def published_savings() -> Display:
    """A table of published savings beside predicted ones."""
    found = savings().drop(columns="source")
    percents = [*found.columns][2:]
    told = charts.table(
        found,
        "Savings over the large model alone: published, predicted, and of tossing a coin at the"
        " same quality",
        dict.fromkeys(percents, "percent"),
    )
    return charts.folded(told, f"All {len(found)} published savings, and what is predicted")


def errors_of() -> Display:
    """How far predictions lie from published figures."""
    found = judged()
    calls, gap, saved = (found[name] for name in found)
    several = [100 * of for of in (calls.error, calls.coin, gap.error, gap.coin)]
    one, one_coin, two, two_coin = several
    three, three_coin = 100 * saved.error, 100 * saved.coin
    return charts.sentence(
        "The median error is <strong>{one:number 2} %</strong> for the requests sent to the large"
        f" model ({calls.rows} routers), {{two:number 2}} % for the mean share of the gap in"
        f" quality that is closed ({gap.rows} routers) and <strong>{{three:number 2}} %</strong>"
        f" for savings ({saved.rows} figures). Tossing a coin instead of a router would be off by"
        " {one_coin:number 2} %, {two_coin:number 2} % and {three_coin:number 2} %."
    )


def published_checks() -> Display:
    """A table of how good published checks are, by kind."""
    found = kinds().rename(
        columns={
            "kind": "who checks",
            "mix": "default mix",
            "worst": "its worst checker",
            "best": "its best checker",
        }
    )
    percents = dict.fromkeys([*found.columns][1:-1], "percent")
    told = charts.table(
        found,
        "Wrong answers that published checks flag where they pass as large a share of right ones",
        percents | {"checkers": "whole"},
    )
    return charts.folded(told, "How good published checks are, by who checks")


def published_cascades() -> Display:
    """A chart of what published cascades got right more than one model for their bill."""
    found = cascades()
    one, unit = found["one model"], "points more right than the best single model for the bill"
    shown = found.assign(
        published=(100 * (found["published"] - one)).round(3),
        predicted=(100 * (found["predicted"] - one)).round(3),
        label=found["cascade"] + "\n" + found["benchmark"],
    )
    return charts.show(
        charts.predicted_vs_measured(
            shown, "published", "predicted", "label", unit, "published", log=False
        ),
        name="published_cascades",
        alt="How much more 21 published cascades got right than the best single model for the same"
        " bill, beside what is predicted from the cascades of other benchmarks.",
    )


def chained_errors() -> Display:
    """How far predictions of cascades lie from published figures, and what their checks are."""
    found, usual = scored(), usual_check()
    error, single, strong = (100 * of for of in found[:3])
    rows = cascades()
    low, high = rows["odds"].agg(["min", "max"])
    most = 100 * (rows["published"] - rows["one model"]).max()
    return charts.sentence(
        f"Over {found.rows} cascades the median error is <strong>{{error:number 2}} points</strong>"
        " of right answers; to expect no more than of the best single model for the same bill is"
        " {single:number 2} points off. Their checks are weak: odds ratios of {low:number 2} to"
        " {high:number 2} fit them, and language models that check mathematics have"
        " {usual.odds:number 2}, with which the error would be {strong:number 2} points. For the"
        " same bill a cascade got at most {most:number 2} points more right than one model."
    )
