"""Recomputations of Clarifai's guide (the economics of AI compute as products scale): rules of
scaling, buying and renting.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import math

from scaleright import transformer
from scaleright.catalog import accelerator, model, table
from scaleright.claims.ledger import stated
from scaleright.claims.verdicts import Condition, Recomputed, looked_up, point, span
from scaleright.costs.break_even import (
    break_even_hours_per_day,
    fixed_usd_per_year,
    installed_usd,
    payback_months,
)
from scaleright.costs.ownership import Ownership
from scaleright.inference.deployment import Deployment
from scaleright.inference.memory import largest_batch
from scaleright.market import CHEAPEST, cost_factor, electricity_price, hour
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    WATTS_PER_KILOWATT,
)

CARD, CHIP = "RTX 4090", "H100 SXM"
HIGH_END = ("H100 SXM", "H200 SXM", "B200", "B300")
USD_PER_KWH = 0.16
"""Electricity price that Clarifai uses throughout."""
YEARS, RULE_HOURS, SERVER_CHIPS, LONG_CONTEXT = 2.0, 5.0, 8, 32_768
ENDS = ("low", "high")


def s2_fourfold_parameters() -> Recomputed:
    return point(transformer.training_flop(2e9, 1e9) / transformer.training_flop(1e9, 1e9))


def s2_fourfold_context() -> Recomputed:
    shape = model("Llama-3.1-8B")
    sequence = lambda context: transformer.forward_flop(shape, context).total * context
    return span(*(sequence(2 * c) / sequence(c) for c in (8_192, 65_536)))


def s2_kv_triples() -> Recomputed:
    shape = model("Llama-3.1-70B")
    return point(
        transformer.sequence_kv_bytes(shape, 131_072) / transformer.sequence_kv_bytes(shape, 32_768)
    )


def s2_context_dominates() -> Recomputed:
    """Bytes of caches read for a token over those of weights, of a request of 32K tokens alone and
    of as many as eight chips hold.
    """
    shape = model("Llama-3.1-70B")
    group = Deployment(shape, accelerator(CHIP), "BF16", tensor=SERVER_CHIPS)
    weights = transformer.weight_bytes(
        transformer.parameters(shape).total, transformer.bytes_per_parameter("BF16")
    )
    alone = float(transformer.sequence_kv_bytes(shape, LONG_CONTEXT) / weights)
    many = float(largest_batch(group, LONG_CONTEXT))
    return point(alone, Condition(f"{many:.0f} such requests on eight H100", many * alone))


def _stated_watts() -> float:
    return stated("S2-4090-power-year") / USD_PER_KWH / HOURS_PER_YEAR * WATTS_PER_KILOWATT


def s2_4090_rule() -> Recomputed:
    build = stated("S2-4090-build")
    resale = stated("S2-4090-price") * stated("S2-4090-resale") / build
    fixed = fixed_usd_per_year(build, resale, YEARS, 0.0)
    return point(
        break_even_hours_per_day(
            stated("S2-4090-rent"), fixed, _stated_watts(), 0.0, 1.0, USD_PER_KWH
        ),
        internal=True,
    )


def _owned_ends(
    name: str, setting: str, chip_usd: tuple[float, float] | None = None, years: float | None = None
) -> list[Ownership]:
    """A chip with everything cheap and with everything dear, at these prices or those of the
    catalog: ends that this book states itself, not the figures of Clarifai's guide between them.
    """
    prices = chip_usd or accelerator(name).require("purchase_usd")
    return [
        Ownership.typical(name, setting, chip_usd=usd, end=end, years=years)
        for usd, end in zip(prices, ("cheap", "dear"), strict=True)
    ]


def s2_4090_rule_market() -> Recomputed:
    rent, ends = hour(CARD), _owned_ends(CARD, "home", years=YEARS)
    hours = (
        terms.break_even_hours_per_day(usd)
        for terms, usd in zip(ends, (rent.high, rent.low), strict=True)
    )
    return span(*(at if at <= HOURS_PER_DAY else math.inf for at in hours))  # or never


def _home_builds(cards: int) -> Recomputed:
    computer, card = cost_factor("home_pc_usd", "home"), accelerator(CARD).require("purchase_usd")
    return span(
        *(cards * usd + getattr(computer, end) for usd, end in zip(card, ENDS, strict=True))
    )


def s2_h100_rule() -> Recomputed:
    rent = hour(CHIP)
    for_two, for_life = (
        [terms.break_even_hours_per_day(usd) for usd in (rent.usd, rent.low)]
        for terms in (
            Ownership.typical(CHIP, "data center", years=YEARS),
            Ownership.typical(CHIP, "data center"),
        )
    )
    return span(*for_two, Condition("kept for its whole service life", *for_life))


def s2_second_year() -> Recomputed:
    saving_per_hour = stated("S2-4090-rent") - _stated_watts() / WATTS_PER_KILOWATT * USD_PER_KWH
    saving = saving_per_hour * RULE_HOURS * DAYS_PER_YEAR / MONTHS_PER_YEAR
    build, sold = stated("S2-4090-build"), stated("S2-4090-price") * stated("S2-4090-resale")
    return span(*(payback_months(usd, saving, 0.0) for usd in (build - sold, build)), internal=True)


def _listings(name: str, *others: Condition) -> Recomputed:
    listed = hour(name)
    return looked_up(listed.low, listed.high, *others)


def s2_h100_nvl_rent() -> Recomputed:
    spot = hour("H100 NVL", "spot")
    return _listings("H100 NVL", Condition("interruptible spot capacity", spot.low, spot.high))


def s2_h100_rent() -> Recomputed:
    few = hour(CHIP, seller=CHEAPEST)
    return _listings(CHIP, Condition("the median of the cheapest quarter of sellers", few.usd))


def s2_a100_rent() -> Recomputed:
    small = hour("A100 SXM 40GB")
    return _listings(
        "A100 SXM 80GB",
        Condition("the 40 GB part at the cheapest marketplace", small.low, small.usd),
    )


def server_price() -> Recomputed:
    around = [
        cost_factor(f"{part}_share_of_price", "data center") for part in ("server", "network")
    ]
    cheap, dear = (
        SERVER_CHIPS * installed_usd(usd, sum(getattr(part, end) for part in around))
        for usd, end in zip(accelerator(CHIP).require("purchase_usd"), ENDS, strict=True)
    )
    return span(cheap, dear, Condition("everything at its dear end", dear))


def data_center_ends() -> list[Ownership]:
    """An H100 in a data center with everything cheap and with everything dear."""
    return _owned_ends(CHIP, "data center")


def _running(owned: Ownership) -> float:
    return owned.running_usd_per_year(24.0)


def s2_true_cost() -> Recomputed:
    cheap, dear = data_center_ends()
    return span(cheap.break_even_usd_per_hour(24.0), dear.break_even_usd_per_hour(24.0))


def s2_hidden() -> Recomputed:
    prices = accelerator(CHIP).require("purchase_usd")
    return span(
        *(
            (owned.price_usd + _running(owned) * owned.years) / usd
            for owned, usd in zip(data_center_ends(), prices, strict=True)
        )
    )


def s2_cooling_upgrade() -> Recomputed:
    per_kw = cost_factor("facility_capex_usd_per_kw", "data center")
    kilowatts = (
        SERVER_CHIPS * Ownership.typical(CHIP, "data center").most_watts / WATTS_PER_KILOWATT
    )
    return span(per_kw.low * kilowatts, per_kw.high * kilowatts)


def _home_power_usd_per_month(
    hours_per_day: float, low_usd_per_kwh: float, high_usd_per_kwh: float
) -> Recomputed:
    def bill(end: str, usd_per_kwh: float) -> float:
        owned = Ownership.typical(CARD, "home", usd_per_kwh=usd_per_kwh, end=end)
        return owned.owned_usd_per_year(hours_per_day).power_usd / MONTHS_PER_YEAR

    return span(bill("cheap", low_usd_per_kwh), bill("dear", high_usd_per_kwh))


def s2_4090_power_high() -> Recomputed:
    prices = table("electricity_prices")
    homes = prices[prices["sector"] == "residential"]["region"]
    dearest = sorted(electricity_price(region, "residential").best for region in homes)[-3:]
    return _home_power_usd_per_month(24.0, dearest[0], dearest[-1])


RECOMPUTED = {
    "S2-context-doubling": lambda: point(131_072 / LONG_CONTEXT, internal=True),
    "S2-4090-build": lambda: _home_builds(1),
    "S2-4090-dual": lambda: _home_builds(2),
    "S2-4090-price": lambda: looked_up(*accelerator(CARD).require("purchase_usd")),
    "S2-4090-rent": lambda: _listings(CARD),
    "S2-high-end-rent": lambda: span(*(hour(name).usd for name in HIGH_END)),
    "S2-h100-rent-self": lambda: point(stated("S2-h100-rent"), internal=True),
    "S2-h100-price": lambda: looked_up(*accelerator(CHIP).require("purchase_usd")),
    **dict.fromkeys(("S2-server-price", "S2-server-exceeds"), server_price),
    "S2-overhead": lambda: span(
        *(_running(owned) / HOURS_PER_YEAR for owned in data_center_ends())
    ),
    "S2-4090-power-month": lambda: _home_power_usd_per_month(24.0, USD_PER_KWH, USD_PER_KWH),
    "S2-4090-power-year": lambda: point(
        stated("S2-4090-power-month") * MONTHS_PER_YEAR, internal=True
    ),
    "S2-power-fixed": lambda: _home_power_usd_per_month(RULE_HOURS, USD_PER_KWH, USD_PER_KWH),
}
