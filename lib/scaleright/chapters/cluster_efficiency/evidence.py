"""Failures of clusters: what stopped them, and how well that is predicted."""

from scaleright.catalog import table as read
from scaleright.chapters.cluster_efficiency import reliability
from scaleright.chapters.cluster_efficiency import scaling as cluster_scaling
from scaleright.charts import tables
from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.render import show
from scaleright.charts.sureness import predicted_vs_measured
from scaleright.charts.tables import folded
from scaleright.order import ordered


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
        "Failures are hard to predict: for {found.rows:whole} published times between"
        " interruptions, the prediction is <strong>{found.median_percent:number 2} %</strong> off"
        " at the median and {found.within:whole} lie in the stated range. It is mostly too long,"
        " because most clusters failed more often than Llama 3's. It depends on what is counted. A"
        " component failed every {of.chip_hours:whole} chip-hours (median of {of.operators:whole}"
        " operators); predicted from the other operators, {of.rows:whole} such figures are"
        " <strong>{of.percent:number 2} %</strong> off. Jobs stopped for any reason every"
        " {of.stop_chip_hours:whole} chip-hours ({of.stop_operators:whole} operators);"
        " {of.stop_rows:whole} such figures are {of.stop_percent:number 2} % off, since software"
        " and care matter more than the number of chips. For {found.kept_rows:whole} published"
        " goodputs the median error is {found.kept_points:number 2} points; {found.bounds:whole}"
        " operators gave only a minimum, which {found.held:whole} of the predictions meet."
        " How speed falls on more chips is well predicted:"
        " in {fall.series:whole} published series, a chip on the largest cluster keeps"
        " {fall.published:percent} of its speed on the smallest at the median, predicted"
        " {fall.predicted:percent}, and <strong>{fall.median_percent:number 2} %</strong> off at"
        " the median."
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
