"""What is known of each chip that clusters are built of, beside the time of a step: prices, and how
far the model of a step is to be trusted.
"""

from typing import Any

from scaleright.catalog import model, remembered, shared
from scaleright.costs.owned_hours import OwnedHour, owned_terms
from scaleright.costs.platforms import CARDS, SETTING, cluster_chips, format_on
from scaleright.costs.pretraining import best_published_mfu
from scaleright.formulas import lookup
from scaleright.market import Hours
from scaleright.training.layout import LONGEST_WHOLE_SEQUENCE, TrainingRun
from scaleright.training.slowdowns import borrowed, interval, slowdowns
from scaleright.units import figures, whole

KINDS = {"dense": "Llama-2-7B", "experts": "Mixtral-8x7B"}
"""A model of each kind: the fit errs differently on them."""


@lookup
@remembered
def terms() -> dict[str, dict[str, Any]]:
    """An owned hour of each platform in a data center.

    Returns
    -------
    owned, owned_low, owned_high, power : one that is busy around the clock, without power and with
        its ends, and its power, see `OwnedHour` [USD/h]; nan where nobody sells the chip
    apart : see `OwnedHour.apart` [1]
    sold : of which days, months or years the price of a chip is, in words
    """
    rows = {}
    for name, chip in cluster_chips().items():
        hour = OwnedHour.of(owned_terms(name, SETTING), training=True)
        ends = {"owned": hour.fixed, "owned_low": hour.fixed_low, "owned_high": hour.fixed_high}
        ends |= {"power": hour.power, "apart": hour.apart}
        rows[name] = figures(ends) | {"sold": chip.purchase_age or "none"}
    return rows


@lookup
@shared
def rents() -> Hours:
    """A rented hour of each platform, under every contract and from every seller."""
    return Hours(list(cluster_chips()))


@lookup
@shared
def rents_to_tune() -> Hours:
    """The same of the cards as well that tune a model."""
    return Hours([*cluster_chips(), *CARDS])


@lookup
@remembered
def trust() -> dict[tuple[str, str, str], dict[str, Any]]:
    """How far the model of a step is to be trusted, by kind of model ("dense" or "experts"),
    platform and format.

    Returns
    -------
    error_low, error_high : measured over predicted time of nine of ten unseen runs [1]
    seen : whether runs of the chip's architecture were measured
    format : the one in which the chip trains
    basis : the errors in words, with whose constants stand in for the chip's own
    peak : the most of its peak that a published step reached, in words
    """
    rows = {}
    for kind, of in KINDS.items():
        for name, chip in cluster_chips().items():
            for precision in ("BF16", "FP8"):
                form = format_on(name, precision)
                run = TrainingRun(model(of), chip, 1, LONGEST_WHOLE_SEQUENCE, 1, form)
                low, high = interval(run)
                lent = f" ({borrowed(run)})" if borrowed(run) else ""
                rows[kind, name, precision] = {
                    "error_low": low,
                    "error_high": high,
                    "seen": "matmul" not in slowdowns(run).borrowed,
                    "format": form,
                    "basis": f"nine of ten measured steps took {low:.2f} to {high:.2f} of the"
                    f" predicted time{lent}",
                    "peak": _most_published(of, name, form),
                }
    return rows


def _most_published(of: str, name: str, form: str) -> str:
    most = best_published_mfu(of, name, form)
    if not most:
        return "the tables hold no published step of such a model on this chip in this format"
    return (
        "the most that a published step reached on this chip is"
        f" {100 * most['mfu']:.2g} % ({most['model']} on {whole(most['accelerators'])})"
    )
