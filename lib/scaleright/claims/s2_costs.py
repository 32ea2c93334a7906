"""Recomputations of Clarifai's guide (the economics of AI compute as products scale) on money:
rules of scaling, buying and renting, clusters and sites, rents and commitments, the market around
the chips, what idle hardware costs, what the same work costs on each.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from __future__ import annotations

import math

import pandas as pd

from scaleright import market, transformer
from scaleright.catalog import accelerator, fact, model, table
from scaleright.chapters.vendor_claims.model import traces
from scaleright.claims.ledger import stated, stated_interval
from scaleright.claims.s4 import peak_16
from scaleright.claims.verdicts import (
    Condition,
    Origin,
    Recomputed,
    Slip,
    looked_up,
    point,
    saved,
    span,
)
from scaleright.costs import break_even, price_performance
from scaleright.costs.ownership import Ownership
from scaleright.costs.tokens import MILLION
from scaleright.decisions.capex_opex import fleet_costs
from scaleright.decisions.economics_stack import chip_costs
from scaleright.inference.deployment import Deployment
from scaleright.inference.memory import largest_batch
from scaleright.market import rentals
from scaleright.market.hours import DISCOUNTED
from scaleright.units import (
    DAYS_PER_YEAR,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    WATTS_PER_KILOWATT,
)

CARD, CHIP, LARGE = "RTX 4090", "H100 SXM", "Llama-3.1-70B"
HIGH_END = ("H100 SXM", "H200 SXM", "B200", "B300")
LISTED = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200")
A100S = ("A100 SXM 40GB", "A100 SXM 80GB")
TPUS = ("TPU v4", "TPU v5e", "TPU v7")
"""Those whose power is known."""
USD_PER_KWH = 0.16
"""Electricity price that Clarifai uses throughout."""
YEARS, RULE_HOURS, SERVER_CHIPS, LONG_CONTEXT = 2.0, 5.0, 8, 32_768
ENDS = ("low", "high")
END_OF_2023, NEW_YEAR, END_OF_2026 = "2023-12-31", "2026-01-01", "2026-12-31"
"""End of the year in which the H100 came to the clouds; the day from which Clarifai says that
supply stays tight.
"""
QUOTED = {
    "S2-ddr5": ("ddr5_32gb_usd_2025_12_low", "ddr5_32gb_usd_2025_12_high"),
    "S2-multicloud": ("multicloud_share_2022",),
    "S2-xpu-growth": ("xpu_spending_growth_2026",),
    "S2-margin-start": ("ai_gross_margin_2026",),
    "S2-margin-goal": ("ai_gross_margin_2026",),
    "S2-market-2024": ("nvidia_gpu_usd_2024", "nvidia_data_center_usd_2024"),
    "S2-toxic": ("gpt4_toxic_tonnes",),
    "S2-sparse-matmul": ("sparse_matmul_speedup",),
    "S2-sparse-latency": ("sparse_latency_speedup",),
    "S2-pooling-after": ("aegaeon_utilization_pooled",),
}
"""Claims beside which stands one published figure, or the span of two, from the reference facts."""


# Rules of scaling


def s2_fourfold_context() -> Recomputed:
    shape = model("Llama-3.1-8B")
    sequence = lambda context: transformer.forward_flop(shape, context).total * context
    return span(sequence(2 * c) / sequence(c) for c in (8_192, 65_536))


def s2_kv_triples() -> Recomputed:
    size = lambda context: transformer.sequence_kv_bytes(model(LARGE), context)
    return point(size(131_072) / size(LONG_CONTEXT))


def s2_context_dominates() -> Recomputed:
    """Bytes of caches read for a token over those of weights, of a request of 32K tokens alone and
    of as many as eight chips hold.
    """
    shape = model(LARGE)
    group = Deployment(shape, accelerator(CHIP), "BF16", tensor=SERVER_CHIPS)
    weights = transformer.weight_bytes(
        transformer.parameters(shape).total, transformer.bytes_per_parameter("BF16")
    )
    alone = float(transformer.sequence_kv_bytes(shape, LONG_CONTEXT) / weights)
    many = float(largest_batch(group, LONG_CONTEXT))
    return point(alone, Condition(f"{many:.0f} such requests on eight H100", many * alone))


# Owning a card and a server


def _stated_watts() -> float:
    return stated("S2-4090-power-year") / USD_PER_KWH / HOURS_PER_YEAR * WATTS_PER_KILOWATT


def s2_4090_rule() -> Recomputed:
    build = stated("S2-4090-build")
    resale = stated("S2-4090-price") * stated("S2-4090-resale") / build
    fixed = break_even.fixed_usd_per_year(build, resale, YEARS, 0.0)
    return point(
        break_even.break_even_hours_per_day(
            stated("S2-4090-rent"), fixed, _stated_watts(), 0.0, 1.0, USD_PER_KWH
        ),
        internal=True,
    )


def _owned_ends(name: str, setting: str, years: float | None = None) -> list[Ownership]:
    """A chip with everything cheap and with everything dear, at the prices of the catalog: ends
    that this book states itself, not the figures of Clarifai's guide between them.
    """
    return [
        Ownership.typical(name, setting, chip_usd=usd, end=end, years=years)
        for usd, end in zip(_prices(name), ("cheap", "dear"), strict=True)
    ]


def _prices(name: str) -> tuple[float, float]:
    return accelerator(name).require("purchase_usd")


def data_center_ends() -> list[Ownership]:
    """An H100 in a data center with everything cheap and with everything dear."""
    return _owned_ends(CHIP, "data center")


def s2_4090_rule_market() -> Recomputed:
    rent, (cheap, dear) = market.hour(CARD), _owned_ends(CARD, "home", YEARS)
    pairs = (cheap, rent.high), (dear, rent.low)
    hours = (terms.break_even_hours_per_day(usd) for terms, usd in pairs)
    return span(at if at <= HOURS_PER_DAY else math.inf for at in hours)  # or never


def _home_builds(cards: int) -> Recomputed:
    computer, prices = (
        market.cost_factor("home_pc_usd", "home"),
        zip(_prices(CARD), ENDS, strict=True),
    )
    return span(cards * usd + getattr(computer, end) for usd, end in prices)


def s2_h100_rule() -> Recomputed:
    rent = market.hour(CHIP)
    terms = (Ownership.typical(CHIP, "data center", years=years) for years in (YEARS, None))
    for_two, for_life = (
        [of.break_even_hours_per_day(usd) for usd in (rent.usd, rent.low)] for of in terms
    )
    return span(for_two, Condition("kept for its whole service life", for_life))


def s2_second_year() -> Recomputed:
    saving_per_hour = stated("S2-4090-rent") - _stated_watts() / WATTS_PER_KILOWATT * USD_PER_KWH
    saving = saving_per_hour * RULE_HOURS * DAYS_PER_YEAR / MONTHS_PER_YEAR
    build, sold = stated("S2-4090-build"), stated("S2-4090-price") * stated("S2-4090-resale")
    return span(
        (break_even.payback_months(usd, saving, 0.0) for usd in (build - sold, build)),
        internal=True,
    )


def _server_price() -> Recomputed:
    parts = [
        market.cost_factor(f"{of}_share_of_price", "data center") for of in ("server", "network")
    ]
    cheap, dear = (
        SERVER_CHIPS * break_even.installed_usd(usd, sum(getattr(part, end) for part in parts))
        for usd, end in zip(_prices(CHIP), ENDS, strict=True)
    )
    return span(cheap, dear, Condition("everything at its dear end", dear))


def s2_hidden() -> Recomputed:
    return span(
        (owned.price_usd + owned.running_usd_per_year(24.0) * owned.years) / usd
        for owned, usd in zip(data_center_ends(), _prices(CHIP), strict=True)
    )


def s2_cooling_upgrade() -> Recomputed:
    per_kw = market.cost_factor("facility_capex_usd_per_kw", "data center")
    watts = SERVER_CHIPS * Ownership.typical(CHIP, "data center").most_watts
    return span(usd * (watts / WATTS_PER_KILOWATT) for usd in (per_kw.low, per_kw.high))


def _home_power_usd_per_month(
    hours_per_day: float,
    low_usd_per_kwh: float = USD_PER_KWH,
    high_usd_per_kwh: float = USD_PER_KWH,
) -> Recomputed:
    def bill(end: str, usd_per_kwh: float) -> float:
        owned = Ownership.typical(CARD, "home", usd_per_kwh=usd_per_kwh, end=end)
        return owned.owned_usd_per_year(hours_per_day).power_usd / MONTHS_PER_YEAR

    return span(bill("cheap", low_usd_per_kwh), bill("dear", high_usd_per_kwh))


def s2_4090_power_high() -> Recomputed:
    prices = table("electricity_prices")
    homes = prices[prices["sector"] == "residential"]["region"]
    dearest = sorted(market.electricity_price(region, "residential").best for region in homes)[-3:]
    return _home_power_usd_per_month(24.0, dearest[0], dearest[-1])


# Clusters, and Clarifai's figures added up


def s2_cluster_self() -> Recomputed:
    per_chip = Slip("the price of one GPU given for the whole cluster", SERVER_CHIPS)
    each = stated_interval("S2-true-cost")
    return span((SERVER_CHIPS * usd for usd in each), per_chip, internal=True)


def _owned_usd_per_hour(hours_per_day: float = HOURS_PER_DAY) -> list[float]:
    """An hour of use of an owned H100, everything cheap and everything dear [USD/h]."""
    return [owned.break_even_usd_per_hour(hours_per_day) for owned in data_center_ends()]


def _parts_usd_per_hour(end: int, years: float) -> float:
    """Clarifai's own server, upgrades and overhead per GPU and hour, written off over so many
    years; end 0 cheap, 1 dear.
    """
    parts = "server-price", "cooling-upgrade", "overhead"
    server, upgrade, overhead = (stated_interval(f"S2-{of}")[end] for of in parts)
    return (server + upgrade) / SERVER_CHIPS / (years * HOURS_PER_YEAR) + overhead


def _added_up(end: int) -> Recomputed:
    one_year = Condition("everything written off in one year", _parts_usd_per_hour(end, 1.0))
    return point(_parts_usd_per_hour(end, YEARS), one_year, internal=True)


def s2_own_cheaper() -> Recomputed:
    owned, rented = stated_interval("S2-true-cost"), stated_interval("S2-h100-rent")
    return span(100 * owned[0] / rented[1], 100 * owned[1] / rented[0], internal=True)


def s2_multi_gpu_rent() -> Recomputed:
    """An owned server over a rented one, an hour, at the rent of what is taken for long [%]."""
    rent = market.hour(CHIP, "reserved").usd
    over = lambda hours: [100 * usd / rent for usd in _owned_usd_per_hour(hours)]
    return span(over(HOURS_PER_DAY), Condition("used five hours a day", over(5.0)))


def s2_hybrid_cheapest() -> Recomputed:
    """Owning the baseline and renting bursts over the cheaper of renting all and owning all [%], at
    bursts of two and of eight hours a day, everything cheap and everything dear.
    """

    def share(owned: Ownership, hours: float) -> float:
        rents = market.hour(CHIP, "reserved").usd, market.hour(CHIP).usd
        plans = fleet_costs(owned, *rents, SERVER_CHIPS, SERVER_CHIPS, hours)
        others = min(plans[name].total for name in ("rent all", "own all"))
        return 100 * float(plans["own the baseline"].total / others)

    return span(share(owned, hours) for owned in data_center_ends() for hours in (2.0, 8.0))


# Rents: how far clouds lie apart, what commitments and marketplaces save, how prices moved


def _listings(name: str, *others: Condition) -> Recomputed:
    listed = market.hour(name)
    return looked_up(listed.low, listed.high, *others)


def s2_h100_nvl_rent() -> Recomputed:
    spot = market.hour("H100 NVL", "spot")
    return _listings("H100 NVL", Condition("interruptible spot capacity", spot.low, spot.high))


def s2_h100_rent() -> Recomputed:
    few = market.hour(CHIP, seller=market.CHEAPEST)
    return _listings(CHIP, Condition("the median of the cheapest quarter of sellers", few.usd))


def s2_a100_rent() -> Recomputed:
    small = market.hour(A100S[0])
    cheap = Condition("the 40 GB part at the cheapest marketplace", small.low, small.usd)
    return _listings(A100S[1], cheap)


def clouds(name: str, day: str | None = None, contract: str = "on demand") -> pd.Series:
    """What each cloud that lists a chip asked for an hour of it on a day, by default the newest one
    [USD/h].
    """
    rows = market.hour(name, contract, day=day).rows
    rows = rows[rows["basis"] != DISCOUNTED]
    return rows.set_index("provider")["usd_per_accelerator_hour"]


def s2_h100_fall() -> Recomputed:
    """Of the clouds that list it on both days, and of those whose card of then is known only as its
    source scaled it to eight chips.
    """
    scaled = market.rental_prices(CHIP, basis=("normalized",))
    scaled = rentals.newest_cards(scaled[scaled["date"] <= END_OF_2023]).groupby("provider")
    then = clouds(CHIP, END_OF_2023).combine_first(scaled["usd_per_accelerator_hour"].min())
    return span((then / clouds(CHIP)).dropna())


def s2_tight() -> Recomputed:
    """By cards on demand as listed and as scaled, and by what is reserved."""
    months = market.price_history(CHIP)
    months = months[months["date"].dt.year == 2026].groupby("basis")["median"]
    bound = (
        market.hour(CHIP, market.STEADY).usd / market.hour(CHIP, market.STEADY, day=NEW_YEAR).usd
    )
    return span(100 * months.last() / months.first(), 100 * bound)


def s2_no_return() -> Recomputed:
    now = [market.hour(name).usd for name in A100S]
    low, high = (fact(f"a100_usd_per_hour_2021_{end}") for end in ENDS)
    return span(100 * min(now) / high, 100 * max(now) / low)


def s2_depin_saving() -> Recomputed:
    def left(name: str) -> float:
        rows = market.hour(name).rows
        asked = rows[rows["segment"] == "marketplace"]["usd_per_accelerator_hour"].median()
        return float(asked) / market.hour(name, seller=market.HYPERSCALERS).usd

    large = market.offered("on demand").groupby("accelerator")["segment"].agg(set)
    both = large[large.map({"marketplace", "hyperscaler"}.issubset)].index
    return span(saved(map(left, both)))


# The market around the chips: memory, lead times, sales, growth, surveys


def _months(weeks: float) -> float:
    return weeks * 7 / DAYS_PER_YEAR * MONTHS_PER_YEAR


def s2_memory_share() -> Recomputed:
    share = f"{fact('data_center_share_of_memory_2026'):.0f} % (tomshardware2026memory)"
    every = Origin(f"all memory of data centers, ordinary servers included: {share}")
    return looked_up(fact("hbm_share_of_dram_wafers_2026"), every)


def s2_rack() -> Recomputed:
    chips = fact("dgx_h100_per_rack") * SERVER_CHIPS
    return span((chips * usd for usd in stated_interval("S2-h100-price")), internal=True)


def s2_market_2034() -> Recomputed:
    """Years to the market of Clarifai's forecast, $192.68 billion a year."""

    def years(of: str) -> float:
        first, second = (fact(f"nvidia_{of}_usd_{year}") for year in (2024, 2025))
        return math.log(192.68e9 / first) / math.log(second / first)

    return span(map(years, ("gpu", "data_center")))


def s2_depin_market() -> Recomputed:
    usd = f"${fact('depin_market_usd_2028') / 1e12:.1f} trillion"
    every = (
        f"networks of every kind, from storage to wireless, as the {usd} were forecast (wef2025)"
    )
    return span(0.0, fact("nvidia_data_center_usd_2025"), Origin(every))


def _scarce(over) -> Recomputed:
    """What memory and packaging cost the maker of each chip, over another figure of it [%]."""
    return span(
        100 * (cost["memory"] + cost["packaging"]) / over(name)
        for name, cost in chip_costs().items()
    )


def s2_egress_lurks() -> Recomputed:
    """Egress of a million output tokens over what open models cost at an API [%]."""
    price = market.cost_factor("egress_usd_per_gb", "cloud")
    gigabytes = MILLION * stated("S3-token-characters") / 1e9
    asked = [market.api_price(name).output.best for name in ("Llama-3.1-8B", "Llama-3.3-70B")]
    return span(100 * price.low * gigabytes / max(asked), 100 * price.high * gigabytes / min(asked))


# What idle hardware costs, and what its better use saves: 20 and 60 % in Clarifai's example


def s2_inference_share() -> Recomputed:
    openai = 100 * fact("openai_inference_usd_2024") / fact("openai_compute_usd_2024")
    trains_nothing = 100.0
    return span(openai, trains_nothing)


def s2_cluster_use() -> Recomputed:
    """Against the 32 to 36 % of GPT-4's training in Clarifai's own words."""
    busy = "time at work counted, not arithmetic done, as in the training of Llama 3"
    at_work = Condition(busy, fact("llama3_effective_training_time"), 100.0)
    return span(32.0, 36.0, at_work, internal=True)


def s2_quantization_saving() -> Recomputed:
    slow, fast = (saved(1 / faster) for faster in stated_interval("S2-speedup"))
    return span(slow, fast, Condition("the larger of its two speedups", fast), internal=True)


def s2_levers() -> Recomputed:
    before, after = stated_interval("S2-pooling-before"), stated_interval("S2-pooling-after")
    return span(saved([before[1] / after[0], before[0] / after[1]]), internal=True)


# Hardware compared: generations, mid-tier cards, and what the same work costs on each


def price_ratios(dear: str, dear_usd: float, cheap: str, cheap_usd: float) -> list[float]:
    """How many times another one chip costs, by arithmetic, bandwidth and memory, at so many
    USD/h.
    """

    def rates(name: str, usd: float) -> list[float]:
        chip = accelerator(name)
        return [
            price_performance.usd_per_pflop_hour(usd, peak_16(name)),
            price_performance.usd_per_tb_per_s_hour(usd, chip.require("memory_bytes_per_s")),
            price_performance.usd_per_gb_hour(usd, chip.require("memory_bytes")),
        ]

    pairs = zip(rates(dear, dear_usd), rates(cheap, cheap_usd), strict=True)
    return [first / second for first, second in pairs]


def s2_mi400_4x() -> Recomputed:
    bandwidth = accelerator("MI355X").require("memory_bytes_per_s")
    return span(fact("mi400_over_mi350_compute"), fact("mi400_memory_bytes_per_s") / bandwidth)


def s2_h200_4x() -> Recomputed:
    memory = [accelerator(of).require("memory_bytes_per_s") for of in ("H200 SXM", CHIP)]
    return span(peak_16("H200 SXM") / peak_16(CHIP), memory[0] / memory[1])


def s2_h200_new() -> Recomputed:
    listed = market.rental_prices("H200 SXM")["date"].min()
    return point((pd.Timestamp(END_OF_2026) - listed).days / DAYS_PER_YEAR * MONTHS_PER_YEAR)


def _mid_tier(name: str) -> Recomputed:
    """At the prices of the last day on which anyone listed the small card."""
    day = market.rental_prices(name)["date"].max().date()
    ratios = price_ratios(
        CHIP, market.hour(CHIP, day=day).usd, name, market.hour(name, day=day).usd
    )
    arithmetic, bandwidth, memory = (100 * ratio for ratio in ratios)
    held = Condition("a model that only has to be held in memory: price per GB", memory)
    return span(arithmetic, bandwidth, held)


def _supported(platform: str) -> float:
    """Libraries and frameworks that support a platform in their main release [%]."""
    rows = table("hardware_maturity")
    values = rows.loc[rows["platform"] == platform, "value"]
    return 100 * float((values == "yes").mean())


def _dearer(name: str, *contracts: str) -> Recomputed:
    """What another maker's chip costs over an H100 by arithmetic, bandwidth and memory [%]."""
    return span(
        100 * ratio
        for of in contracts
        for ratio in price_ratios(name, market.hour(name, of).usd, CHIP, market.hour(CHIP, of).usd)
    )


def s2_tpu_efficiency() -> Recomputed:
    """Peak arithmetic over power, over that of an H100 [%]."""
    flop_per_joule = lambda name: peak_16(name) / accelerator(name).require("tdp_watts")
    return span(100 * flop_per_joule(name) / flop_per_joule(CHIP) for name in TPUS)


RECOMPUTED = {
    claim: lambda facts=facts: looked_up(map(fact, facts)) for claim, facts in QUOTED.items()
} | {
    "S2-fourfold-parameters": lambda: point(
        transformer.training_flop(2e9, 1e9) / transformer.training_flop(1e9, 1e9)
    ),
    "S2-context-doubling": lambda: point(131_072 / LONG_CONTEXT, internal=True),
    "S2-4090-build": lambda: _home_builds(1),
    "S2-4090-dual": lambda: _home_builds(2),
    "S2-4090-price": lambda: looked_up(_prices(CARD)),
    "S2-4090-rent": lambda: _listings(CARD),
    "S2-high-end-rent": lambda: span(market.hour(name).usd for name in HIGH_END),
    "S2-h100-rent-self": lambda: point(stated("S2-h100-rent"), internal=True),
    "S2-h100-price": lambda: looked_up(_prices(CHIP)),
    **dict.fromkeys(("S2-server-price", "S2-server-exceeds"), _server_price),
    "S2-true-cost": lambda: span(_owned_usd_per_hour()),
    "S2-cluster-cost": lambda: span(SERVER_CHIPS * usd for usd in _owned_usd_per_hour()),
    "S2-true-cost-low": lambda: _added_up(0),
    "S2-true-cost-high": lambda: _added_up(1),
    "S2-overhead": lambda: span(
        owned.running_usd_per_year(24.0) / HOURS_PER_YEAR for owned in data_center_ends()
    ),
    "S2-home-kwh": lambda: looked_up(market.electricity_price("United States", "residential").best),
    "S2-4090-power-month": lambda: _home_power_usd_per_month(24.0),
    "S2-4090-power-year": lambda: point(
        stated("S2-4090-power-month") * MONTHS_PER_YEAR, internal=True
    ),
    "S2-power-fixed": lambda: _home_power_usd_per_month(RULE_HOURS),
    "S2-h100-from-8": lambda: looked_up(clouds(CHIP, END_OF_2023)),
    "S2-spot-cheaper": lambda: span(
        100 * market.hour(of, "spot").usd / market.hour(of).usd for of in LISTED
    ),
    "S2-arbitrage": lambda: span(
        saved(market.hour(name).low / market.hour(name).usd for name in LISTED)
    ),
    "S2-hbm-triples": lambda: point(fact("hbm_market_usd_2028") / fact("hbm_market_usd_2025")),
    "S2-lead-time": lambda: looked_up(
        fact("gpu_lead_time_months_low"), _months(fact("gpu_lead_time_weeks_high"))
    ),
    "S2-lead-time-self": lambda: point(
        stated_interval("S2-lead-time")[0] / _months(1.0), internal=True
    ),
    "S2-scarcity-making": lambda: _scarce(lambda name: sum(chip_costs()[name].values())),
    "S2-scarcity-price": lambda: _scarce(lambda name: accelerator(name).purchase_mid_usd),
    "S2-pooling-before": lambda: looked_up(traces()),
    "S2-idle": lambda: span(100 - busy for busy in traces()),
    "S2-shrink": lambda: span(
        transformer.bytes_per_parameter("BF16") / transformer.bytes_per_parameter(name)
        for name in ("INT4", "MXFP4", "NVFP4")
    ),
    "S2-93-use": lambda: span(saved(20.0 / 60.0), internal=True),
    "S2-93-use-and-life": lambda: span(saved(20.0 / (60.0 * 3.0)), internal=True),
    "S2-tpu-maturity": lambda: point(_supported("Google TPU")),
    "S2-gpu-maturity": lambda: span(map(_supported, ("NVIDIA CUDA", "AMD ROCm", "Intel XPU"))),
    "S2-mi300x": lambda: _dearer("MI300X", "on demand"),
    "S2-tpu-cost": lambda: _dearer("TPU v6e", "one year", "three years"),
    "S2-a10g-value": lambda: _mid_tier("A10G"),
    "S2-t4-value": lambda: _mid_tier("T4"),
}
