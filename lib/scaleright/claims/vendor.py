"""Recomputations of Token Cost Analysis, a vendor's answers to this book's questions: on the price
of experiments (S0), which it answers with figures of serving, and on pretraining (S1), which it
answers with a link, a gain in inference, a gain in its software.

The lead of one system over another is that of `vendor_claims.model`: a ratio of two curves
over the speed that a user sees. What each one computes, from which inputs, and why it differs
stands in `data/claims.csv` beside the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, fact, remembered, table
from scaleright.chapters.vendor_claims.model import (
    RACK_CHIPS,
    advantage,
    best_rate,
    lead,
    lead_errors,
    measured_points,
    published_use,
    returns,
    serving_points,
    traces,
)
from scaleright.claims.errors import of_two_steps
from scaleright.claims.s2_serving import chips_left_apart, saved_by
from scaleright.claims.s2_training import on_bus, run_of
from scaleright.claims.verdicts import (
    Condition,
    Origin,
    Recomputed,
    looked_up,
    point,
    span,
    widened,
)
from scaleright.costs.break_even import installed_usd
from scaleright.costs.day_choices import engine_hours
from scaleright.costs.experiment_steps import experiment_steps
from scaleright.costs.fastest_steps import COLUMNS
from scaleright.costs.ownership import Ownership
from scaleright.costs.platforms import best_step, platforms
from scaleright.costs.pretraining import (
    PretrainingCost,
    people_usd,
    pretraining_usd,
    project,
    run_chip_hours,
)
from scaleright.costs.tokens import mix_usd_per_million
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.market import api_price, cost_factor, hour
from scaleright.mlperf import matched, training_gains
from scaleright.scaling_laws.laws import loss, published
from scaleright.units import SECONDS_PER_YEAR

SERVED, ANNOUNCED = "gpt-oss-120b", "DeepSeek-V3"
"""The model that Token Cost Analysis names, and the shape of the one that the announcements behind
it measured (DeepSeek-R1).
"""
ULTRA, RACK, HOPPER = "GB300", "GB200", ("H100 SXM", "H200 SXM")
FIRST, BLACKWELL = ("B200", "GB200"), ("B200", "GB200", "B300", "GB300")
SHORT, LONG_PROMPT = (1024, 1024), (8192, 1024)
SPEEDS = np.array([10.0, 20, 30, 40, 50, 60, 75, 100, 125, 150, 175, 200, 250, 300])
"""Tokens per second that a user sees: all that the chapter examines, up to where Hopper ends."""
EXPERIMENT, WIDTH = "Llama-3.2-1B", "8 chips"
"""The runs of the chapter on experiments."""
MODEL, CHIPS, SEQUENCE, BATCH = RUN = "Llama-2-7B", 256, 4096, 1024
"""The run of the chapter on pretraining."""
LAWS = ("Hoffmann 2022, approach 3", "Besiroglu 2024", "Muennighoff 2023")
BOTH_DIRECTIONS = 2


def _ratios(
    points: pd.DataFrame, new: str, use: str, speeds: np.ndarray, olds: tuple[str, ...] = HOPPER
) -> list[float]:
    """A chip over older ones for the same dollars or kilowatts, at each speed that both reach; the
    dollars are those of a GB300.
    """
    ratios = {old: lead(points, new, old, speeds) for old in olds}
    uses = {chip: published_use(chip)[use] for chip in (ULTRA, *olds)}
    return [
        float(advantage(ratio, uses[ULTRA], uses[old]))
        for old in olds
        for ratio in ratios[old]
        if np.isfinite(ratio) and ratio > 0
    ]


def _claimed_lead(use: str) -> Recomputed:
    modeled, measured = serving_points(SERVED, *SHORT), measured_points(SERVED, *SHORT)
    of = measured_points(ANNOUNCED, *SHORT)
    ultra = of["accelerator"] == ULTRA
    speed = of["interactivity"][ultra].min()
    on_r1 = [
        min(
            _ratios(
                of[~ultra | (of["precision"] == form)], ULTRA, use, np.array([speed]), HOPPER[:1]
            )
        )
        for form in ("FP8", "NVFP4")
    ]
    words = (
        f"DeepSeek-R1, a GB300 over an H100 at {speed:.0f} tokens/s per user, in FP8 on both or in"
        " FP4 against FP8"
    )
    errors = lead_errors()
    return span(
        widened(_ratios(modeled, ULTRA, use, SPEEDS), (errors.low, errors.high)),
        _ratios(measured, RACK, use, SPEEDS[SPEEDS >= 75.0]),
        Condition(words, on_r1),
        Origin("DeepSeek-R1, in NVIDIA's own figures"),
    )


def _sold(utilization: float) -> float:
    """What a rack's tokens sell for in the time of the vendor's example, for its prompts of 8K and
    answers of 1K.
    """
    points, price = measured_points(SERVED, *LONG_PROMPT), api_price(SERVED)
    rate = RACK_CHIPS * best_rate(points[points["accelerator"] == RACK], 50.0)
    asked = (kind.best for kind in (price.input, price.output, price.cache_read))
    mix = mix_usd_per_million(*LONG_PROMPT, 0.0, *asked)
    return float(returns(1.0, rate, mix, fact("nvl72_claimed_years"), utilization).sales_usd)


def _sales(full: str) -> Recomputed:
    """Three years of the independent benchmark's speed of a rack at the price of today, as busy as
    clusters are.
    """
    return span((_sold(busy / 100) for busy in traces()), Condition(full, _sold(1.0)))


def s0_5m() -> Recomputed:
    shares = [
        cost_factor(f"{part}_share_of_price", "data center") for part in ("server", "network")
    ]
    prices = zip(("low", "high"), accelerator(RACK).require("purchase_usd"), strict=True)
    return span(
        RACK_CHIPS * installed_usd(usd, sum(getattr(share, end) for share in shares))
        for end, usd in prices
    )


def s0_15x() -> Recomputed:
    sales, investment = fact("nvl72_claimed_revenue_usd"), fact("nvl72_claimed_investment_usd")
    years = fact("nvl72_claimed_years")
    running = RACK_CHIPS * Ownership.typical(RACK, "data center").running_usd_per_year(24.0)
    price = 1e6 * sales / (years * SECONDS_PER_YEAR)
    bills = [returns(investment, 1.0, price, years, 1.0, each) for each in (0.0, running)]
    return span(
        (bill.return_on_investment for bill in bills),
        Condition("revenue called return", bills[0].multiple),
    )


def five_fold() -> Recomputed:
    rows = table("measured/serving").query(
        "model == @SERVED and accelerator == @RACK and source == 'tensorrtllm2025'"
    )
    later = RACK_CHIPS * rows["measured_output_tokens_per_s_per_accelerator"].max()
    prices = [fact(f"vendor_gptoss_b200_{when}_usd_per_million") for when in ("launch", "later")]
    two = Origin(f"its maker's ${prices[0]:.2f} and ${prices[1]:.2f}, at one speed per user")
    return point(later / fact("vendor_gptoss_nvl72_launch_tokens_per_s"), two)


def _cheapest(usd: Mapping[str, float]) -> Recomputed:
    """The cheapest other chip over the cheapest Blackwell one, for the same training [%].

    usd : what the training costs on each chip
    """
    ours = min(of for name, of in usd.items() if name in BLACKWELL)
    others = {name: 100 * of / ours for name, of in usd.items() if name not in BLACKWELL}
    own = [of for name, of in others.items() if name.startswith(("A100", "H100", "H200"))]
    error = of_two_steps("chip")
    older = Condition("against its maker's own older chips", min(own), error=error)
    return span(min(others.values()), older, error=error)


@remembered
def _step_usd() -> dict[str, float]:
    """What a step of the experiments costs on each platform, on demand [USD]."""
    return {
        name: sum(step[part] for part in COLUMNS[:-1]) * hour(name).usd
        for (name, width), step in experiment_steps(EXPERIMENT, "BF16").items()
        if width == WIDTH
    }


def s0_scale_up() -> Recomputed:
    """A run on the chips of a rack over the same on the chips of a node [%]."""
    return span(100 * _step_usd()[ULTRA] / _step_usd()["B300"], error=of_two_steps("chip"))


def s0_35x_study() -> Recomputed:
    leads = (_step_usd()[old] / _step_usd()[ULTRA] for old in HOPPER)
    return span(leads, error=of_two_steps("chip"))


def s0_disaggregation() -> Recomputed:
    """Chips that reading prompts and writing answers apart saves [%], at the pace of the services
    and at twice it.
    """
    return saved_by(*map(chips_left_apart, (0.05, 0.025)))


def s0_absorbs() -> Recomputed:
    """Hours of engines for twice the requests over those for the requests [%]: of large fleets and
    of one that is nearly empty.
    """

    def grown(trace: str, requests: float) -> float:
        of = "Llama-3.3-70B", HOPPER[0], trace
        return 100 * engine_hours(*of, 2 * requests) / engine_hours(*of, requests)

    few = Condition("two thousand requests a day", grown("conversation", 2e3))
    return span((grown(trace, 1e6) for trace in ("conversation", "code completion")), few)


def s1_nvlink() -> Recomputed:
    one_way = accelerator("B200").require("scale_up_bytes_per_s") / 1e9
    return looked_up(BOTH_DIRECTIONS * one_way)


def s1_4x() -> Recomputed:
    return span(
        matched(new, HOPPER[1], SERVED, scenario)["best"]
        for new in FIRST
        for scenario in ("Offline", "Server")
    )


def s1_up_to_4x() -> Recomputed:
    rows = table("measured/serving").query(
        "model == @SERVED and scenario == 'maximum load' and held_out.isna()"
    )
    rate = rows.pivot_table(
        index=["input_tokens", "output_tokens"],
        columns="accelerator",
        values="measured_output_tokens_per_s_per_accelerator",
    )
    over = [(rate["B200"] / rate[old]).max() for old in HOPPER]
    return span(over[0], Condition("against the H200 instead of the H100", over[1]))


def s1_4x_training() -> Recomputed:
    """How much faster a Blackwell chip trains than an H100: in MLPerf, and for the chapter's
    run.
    """
    gains = training_gains("chip")
    gains = gains[
        (gains["before"] == HOPPER[0])
        & gains["after"].isin(FIRST)
        & gains["title"].str.startswith("Llama-3.1")
    ]
    old, new = (best_step(MODEL, chip, *RUN[1:])["step_s"] for chip in (HOPPER[0], "B200"))
    return span(widened(old / new, of_two_steps("chip")), gains["gain"])


def s1_5x_training() -> Recomputed:
    gains = training_gains("software")
    gains = gains[gains["accelerator"].isin(BLACKWELL)]["gain"]
    return span(gains.median(), gains.max())


def s1_cheapest() -> Recomputed:
    rows = platforms(*RUN).query("why == ''")
    return _cheapest(
        {row.accelerator: row.step_s * hour(row.accelerator).usd for row in rows.itertuples()}
    )


def s1_bandwidth() -> Recomputed:
    """A step over chips that a slower bus joins, over one of the chapter's run."""
    run = run_of(*RUN)
    usual, slower = (
        min(float(step.total) for _, _, step, _ in contenders(of).values() if step is not None)
        for of in (run, on_bus(run))
    )
    return span(slower / usual, error=of_two_steps("layout"))


def s1_more_tokens() -> Recomputed:
    """Loss that twice the tokens leave of a 7B model's [%], by each published law."""
    laws = [asdict(published(name)) for name in LAWS]
    return span(100 * loss(7e9, 2e12, **law) / loss(7e9, 1e12, **law) for law in laws)


def _project_usd(tokens: float, end: str = "best") -> PretrainingCost:
    """The chapter's run and the project around it, on H100 on demand [USD]."""
    step = best_step(MODEL, HOPPER[0], *RUN[1:])["step_s"]
    hours = run_chip_hours(tokens, BATCH * SEQUENCE, CHIPS, step, 0.0, 0.0, 0.0)
    parts = [getattr(hours, field.name) for field in fields(hours)]
    around = project(end)
    paid = people_usd(around["person_years"], around["pay_usd_per_year"])
    usd = hour(HOPPER[0]).usd
    return pretraining_usd(*parts, usd, experiments=around["experiments"], people_usd=paid)


def s1_primary_driver() -> Recomputed:
    """Share of hours of chips, with those of experiments, in the bill of a 7B project [%]."""

    def shares(tokens: float) -> list[float]:
        bills = (_project_usd(tokens, end) for end in ("low", "best", "high"))
        return [100 * (1 - bill.people_usd / bill.total) for bill in bills]

    return span(shares(2e12), Condition("15 trillion tokens", shares(15e12)))


def s1_tokens_times() -> Recomputed:
    """What a project of twice the tokens costs over one of them, with its people; and the run."""
    once, twice = (_project_usd(tokens) for tokens in (1e12, 2e12))
    return point(twice.total / once.total, Condition("the run alone", twice.run_usd / once.run_usd))


RECOMPUTED = {
    "S0-35x": lambda: _claimed_lead("usd"),
    "S0-50x": lambda: _claimed_lead("kw"),
    **dict.fromkeys(("S0-5x", "S1-5x-software"), five_fold),
    "S0-75m": lambda: _sales("every hour of three years sold, at today's median price"),
    "S0-75m-independent": lambda: _sales(
        "every hour of three years sold, which no benchmark measures"
    ),
    "S0-cheapest-study": lambda: _cheapest(_step_usd()),
}
