"""Failures of clusters: what stopped them, and how well that is predicted."""

from scaleright.catalog import table as read
from scaleright.charts import tables
from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.render import show
from scaleright.charts.sureness import predicted_vs_measured
from scaleright.charts.tables import folded
from scaleright.order import ordered
from scaleright.validation import cluster_scaling, reliability


def causes() -> Display:
    """What interrupted Llama 3's training; folded."""
    rows = ordered(read("interruptions"), "interruptions", ascending=False)
    rows = rows[["component", "category", "interruptions", "printed_share"]]
    total = rows["interruptions"].sum()
    rows = rows.assign(share=rows["interruptions"] / total)
    words = f"Unexpected interruptions of 16,384 H100 in 54 days: {total}"
    formats = {"interruptions": "whole", "printed_share": "percent", "share": "percent"}
    return folded(tables.table(rows, words, formats, name="causes"), "What failed, by part")


def stops() -> Display:
    """Predicted against published time between interruptions."""
    rows = reliability.judged_clusters()
    rows = rows[rows["scored_hours"]].assign(
        label=rows["operator"].str.split(",").str[0] + "\n" + rows["run"].str.split("/").str[-1]
    )
    pair = "published_hours", "predicted_hours", "label", "hours between interruptions"
    return show(
        predicted_vs_measured(rows, *pair, said="published"),
        name="stops",
        alt=f"Predicted against published time between interruptions of {len(rows)} clusters.",
    )


def how_well() -> Display:
    """How well failures, goodput and the fall of utilization are predicted."""
    found, fall, of = reliability.judged(), cluster_scaling.falls(), reliability.by_others()
    return sentence(
        "Of {found.rows:whole} published times between interruptions that set nothing here, the"
        " prediction is <strong>{found.median_percent:number 2} %</strong> off in the median, most"
        " often too long: most other clusters failed more often than Llama 3's, whose rate is the"
        " usual one here. {found.within:whole} of them lie in the stated range. What was counted"
        " decides: a component failed every {of.chip_hours:si } chip-hours in the median of"
        " {of.operators:whole} operators, and with each left out the others predict its"
        " {of.rows:whole} figures <strong>{of.percent:number 2} %</strong> off; jobs of"
        " {of.stop_operators:whole} operators stopped for whatever reason every"
        " {of.stop_chip_hours:si } chip-hours, and {of.stop_rows:whole} figures are predicted"
        " {of.stop_percent:number 2} % off: that is a matter of software and care, not of the"
        " number of chips. Goodput is"
        " {found.kept_points:number 2} points off in the median of {found.kept_rows:whole};"
        " {found.held:whole} of {found.bounds:whole} lower bounds hold. In {fall.series:whole}"
        " published series of runs on ever more chips, the speed of a chip on the most over that on"
        " the fewest is {fall.published:percent} in the median, predicted"
        " {fall.predicted:percent}, and"
        " <strong>{fall.median_percent:number 2} %</strong> off in the median."
    )


def every_cluster() -> Display:
    """All published clusters beside their predictions; folded."""
    rows = reliability.in_words()
    formats = dict.fromkeys(("error", "kept", "predicted kept"), "percent")
    hours = "hours between", "predicted hours", "by others"
    formats |= dict.fromkeys(hours, "number") | {"chips": "whole"}
    words = "Published failures and goodput beside those predicted from the number of chips"
    shown = tables.table(rows, words, formats, name="clusters")
    return folded(shown, f"All {len(rows)} figures")
