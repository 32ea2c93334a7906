"""Recomputations of S2 (the economics of AI compute as products scale): rules of scaling, buying
and renting.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

from scaleright import transformer
from scaleright.catalog import accelerator, model, table
from scaleright.claims.ledger import stated, stated_interval
from scaleright.claims.verdicts import Condition, Recomputed, point, span
from scaleright.costs.break_even import break_even_hours_per_day, payback_months
from scaleright.costs.own import fixed_usd_per_year, installed_usd
from scaleright.costs.ownership import Ownership
from scaleright.market import cost_factor, electricity_price, hour, rental_prices
from scaleright.units import DAYS_PER_YEAR, HOURS_PER_YEAR, MONTHS_PER_YEAR, WATTS_PER_KILOWATT

CARD, CHIP = "RTX 4090", "H100 SXM"
HIGH_END = ("H100 SXM", "H200 SXM", "B200", "B300")
USD_PER_KWH = 0.16
"""Electricity price that S2 uses throughout."""
YEARS, RULE_HOURS, SERVER_CHIPS = 2.0, 5.0, 8


def s2_fourfold_parameters() -> Recomputed:
    ratio = transformer.training_flop(2e9, 1e9) / transformer.training_flop(1e9, 1e9)
    return point(
        ratio,
        Condition("training tokens doubled as well, as compute-optimal training does", ratio**2),
    )


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
    def ratio(name: str, context: int) -> float:
        at_context, at_one = (transformer.forward_flop(model(name), c).total for c in (context, 1))
        return at_context / at_one - 1

    at = lambda context: sorted(ratio(name, context) for name in ("Llama-3.1-70B", "Llama-3.1-8B"))
    return span(*at(32_768), Condition("a context of 128K", *at(131_072)))


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


def s2_4090_rule_market() -> Recomputed:
    return point(
        Ownership.typical(CARD, "home", years=YEARS).break_even_hours_per_day(hour(CARD).usd)
    )


def s2_h100_rule() -> Recomputed:
    owned = Ownership.typical(CHIP, "data center", years=YEARS)
    kept = Ownership.typical(CHIP, "data center")
    return span(
        *map(owned.break_even_hours_per_day, stated_interval("S2-h100-rent")),
        Condition(
            "kept for its whole service life",
            *sorted(map(kept.break_even_hours_per_day, stated_interval("S2-h100-rent"))),
        ),
    )


def s2_second_year() -> Recomputed:
    saving_per_hour = stated("S2-4090-rent") - _stated_watts() / WATTS_PER_KILOWATT * USD_PER_KWH
    saving = saving_per_hour * RULE_HOURS * DAYS_PER_YEAR / MONTHS_PER_YEAR
    return point(payback_months(stated("S2-4090-build"), saving, 0.0), internal=True)


def _listings(name: str, *others: Condition) -> Recomputed:
    listed = hour(name)
    return span(listed.low, listed.high, *others)


def s2_h100_nvl_rent() -> Recomputed:
    spot = rental_prices("H100 NVL", "spot")["usd_per_accelerator_hour"]
    return _listings(
        "H100 NVL", Condition("interruptible spot capacity", float(spot.min()), float(spot.max()))
    )


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
    low, high = accelerator(CHIP).require("purchase_usd")
    cheap, dear = (sum(getattr(part, end) for part in around) for end in ("low", "high"))
    return span(SERVER_CHIPS * installed_usd(low, cheap), SERVER_CHIPS * installed_usd(high, dear))


def data_center_ends(chip_usd: tuple[float, float] | None = None) -> list[Ownership]:
    """An H100 in a data center with everything cheap and with everything dear, at these prices or
    those of the catalog.
    """
    prices = chip_usd or accelerator(CHIP).require("purchase_usd")
    return [
        Ownership.typical(CHIP, "data center", chip_usd=usd, end=end)
        for usd, end in zip(prices, ("cheap", "dear"), strict=True)
    ]


def _running(owned: Ownership) -> float:
    return owned.running_usd_per_year(24.0)


def s2_true_cost() -> Recomputed:
    cheap, dear = data_center_ends()
    idle = Condition(
        "a cluster that works six hours a day",
        cheap.break_even_usd_per_hour(6.0),
        dear.break_even_usd_per_hour(6.0),
    )
    return span(cheap.break_even_usd_per_hour(24.0), dear.break_even_usd_per_hour(24.0), idle)


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
        SERVER_CHIPS * Ownership.typical(CHIP, "data center").busy_watts / WATTS_PER_KILOWATT
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
    "S2-rule-self": lambda: point(stated_interval("S2-4090-rule")[0], internal=True),
    "S2-4090-price": lambda: span(*accelerator(CARD).require("purchase_usd")),
    "S2-4090-rent": lambda: _listings(CARD),
    "S2-h100-rent": lambda: _listings(CHIP),
    "S2-high-end-rent": lambda: span(*(hour(name).usd for name in HIGH_END)),
    "S2-h100-rent-self": lambda: point(stated("S2-h100-rent"), internal=True),
    "S2-h100-price": lambda: span(*accelerator(CHIP).require("purchase_usd")),
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
