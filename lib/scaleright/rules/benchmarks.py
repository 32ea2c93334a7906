"""Rules about what was measured by MLPerf."""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace

from scaleright.names import one_of


def submitted(accelerator: str) -> None:
    """A chip that somebody submitted to MLPerf Inference, or one that is left open."""
    from scaleright.mlperf import BEFORE, NEWEST, summary

    if accelerator in (NEWEST, BEFORE):
        return
    one_of(accelerator, summary()["accelerator"], "accelerator in MLPerf Inference")


def ran(benchmark: str, round_: str, measure: str, contract: str, seller: str) -> None:
    """A benchmark of MLPerf Training that a round had, and a best run whose chip is sold so: by all
    where one does not.
    """
    from scaleright import market, mlperf

    in_round = None if round_ == "all" else round_
    mlperf.record(benchmark, in_round)
    names = {"benchmark": benchmark, "round": round_, "measure": measure}
    best = mlperf.records().best(SimpleNamespace(**names, contract=contract, seller=seller))
    if best.run.there.value:
        chip = best.run.priced_as.value
        if seller not in market.sellers(chip, contract):
            seller = market.GROUPS[0]
        market.hour(chip, contract, seller)
        return
    known = {of for chip in mlperf.records().chips for of in market.contracts(chip)}
    offered = ", ".join(of for of in market.CONTRACTS if of in known)
    raise LookupError(f"{best.why.value}; contracts that some are sold under: {offered}")


def on_radar(benchmark: str, scenario: str, paid: str, contract: str, seller: str) -> None:
    """A workload on which a radar can stand, and whose reference chip has a price."""
    from scaleright import market
    from scaleright.chapters.hardware_radar.model import reference

    chip = reference(benchmark, scenario)
    if paid != "own":
        market.hour(chip, contract, seller)


def have_common_round(
    new_chip: str,
    old_chip: str,
    benchmark: str,
    scenario: str,
    metric: str,
    statistic: str,
    in_round: str,
    contract: str,
    seller: str,
    rent_new: float,
    rent_old: float,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Two chips that were measured on the same work, by what counts; where that is a dollar, both
    are sold so, or have a rent of the reader's own. Names that are left open are those that `taken`
    finds.
    """
    from scaleright import market, mlperf

    asked = {"benchmark": benchmark, "new_chip": new_chip, "old_chip": old_chip}
    asked |= {"scenario": scenario, "in_round": in_round}
    found = mlperf.taken(SimpleNamespace(**asked), (choices or {}).get("benchmark", ()))
    names = found.new_chip, found.old_chip, found.benchmark
    new_chip, old_chip, benchmark = (getattr(of, "value", of) for of in names)
    price = None
    if metric == "dollar":
        rents = {new_chip: rent_new, old_chip: rent_old}
        found = [own or market.hour(name, contract, seller).usd for name, own in rents.items()]
        price = found[0], found[-1]
    mlperf.gain(new_chip, old_chip, benchmark, scenario, metric, statistic, in_round, price)


def bets_have_common_rounds(
    bet: str,
    rival: str,
    scenario: str,
    mixture: str,
    dense: str,
    images: str,
    image_share: float,
) -> None:
    """Two chips that were measured together on some model of every kind that is bet on."""
    from scaleright.chapters.architecture_bets.bets import require_common_round

    for kind, benchmark in {"mixture": mixture, "dense": dense}.items():
        require_common_round(kind, benchmark, scenario, bet, rival)
    if image_share > 0:
        require_common_round("images", images, "Offline", bet, rival)
