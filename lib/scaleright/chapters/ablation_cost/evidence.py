"""Published experiments and studies, beside what is predicted of them."""

from scaleright.charts.answers import sentence
from scaleright.charts.displays import Display
from scaleright.charts.render import show
from scaleright.charts.sureness import predicted_vs_measured
from scaleright.charts.tables import folded, table
from scaleright.decisions import ablation_evidence as evidence


def published() -> Display:
    """Predicted against published chip-hours of experiments."""
    rows = evidence.published()
    return show(
        predicted_vs_measured(
            rows, "chip_hours", "predicted", "run", "chip-hours", said="published", name_worst=4
        ),
        name="published",
        alt=f"Predicted against published chip-hours of {len(rows)} experiments.",
    )


def how_far() -> Display:
    """How far the predicted hours were from the published ones."""
    found, rows = evidence.judged(), evidence.published()
    opened = rows[rows["basis"] == "stated"]["error"].abs()
    alone, inside = opened.median(), len(opened)
    return sentence(
        "None of these {found.rows:whole} experiments of {found.studies:whole} studies was fitted."
        " The median error is <strong>{found.median:percent}</strong>, the worst"
        " {found.worst:percent}, and {found.covered:percent} lie in the stated range. For the"
        " {inside:whole} whose hours were read in the study itself, the median error is"
        " {alone:percent}. With the fastest layout alone it would be {found.fastest:percent}. Code"
        " written for one model and one chip is faster than predicted; old frameworks on 256 chips"
        " are slower."
    )


def runs() -> Display:
    """All published experiments beside their predictions; folded."""
    rows = evidence.in_words()
    kinds = {"chips": "whole", "tokens": "si ", "error": "percent"}
    kinds |= dict.fromkeys(("published [h]", "predicted [h]"), "whole")
    shown = table(rows, "Published experiments", kinds, name="runs")
    return folded(shown, f"All {len(rows)} experiments")


def campaigns() -> Display:
    """Published studies with their number of runs; folded."""
    rows = evidence.campaigns()[["study", "year", "runs", "chip_hours", "seeds", "source", "note"]]
    rows = rows.assign(runs=rows["runs"].where(rows["runs"] > 0))
    shown = table(
        rows,
        "Published studies; no hours: they do not say",
        {"runs": "whole", "chip_hours": "whole", "year": str, "seeds": "whole"},
        headers={"chip_hours": "chip-hours"},
        name="campaigns",
    )
    return folded(shown, f"{len(rows)} published studies")
