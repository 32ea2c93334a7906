"""Recomputations of Clarifai's guide on serving: latency, levers, tiers of models, the load at
which own hardware beats an API, energy and carbon.

Predictions carry the error of the serving model (`claims.errors`). What each one computes, from
which inputs, and why it differs stands in `data/claims.csv` beside the claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

from scaleright import market, transformer
from scaleright.catalog import accelerator, fact, model, table
from scaleright.chapters.model_routing import evidence as routers
from scaleright.claims import errors
from scaleright.claims.verdicts import (
    Condition,
    Error,
    Origin,
    Recomputed,
    looked_up,
    point,
    saved,
    span,
    widened,
)
from scaleright.costs.day_choices import idle_share
from scaleright.costs.tokens import break_even_utilization, mix_usd_per_million, request_usd
from scaleright.decisions.inference_ladder import rungs_of_source
from scaleright.decisions.routing import Check, Tier, Traffic, Way, alone, cascade, routed_saving
from scaleright.decisions.routing_tiers import LEVELS, VERDICT_TOKENS, success_rates
from scaleright.footprint import Footprint, busy_hours, machine, place
from scaleright.inference import power
from scaleright.inference.curves import curves
from scaleright.inference.deployment import Deployment
from scaleright.inference.fleet import groups_at_pace
from scaleright.inference.formats import published_losses
from scaleright.inference.ladder import SOFTWARE, STATE, Fleet, Ladder, sparse_slowdowns
from scaleright.inference.lengths import Load
from scaleright.inference.measured import operating_points
from scaleright.inference.memory import serving_memory
from scaleright.inference.node_speed import Engines, node_speed
from scaleright.inference.nodes import continuous_rate, engines_like, static_rate
from scaleright.inference.phases import step_seconds
from scaleright.inference.serving import steady
from scaleright.inference.slowdowns import interval, slowdowns
from scaleright.power import draw
from scaleright.quantity.graph import value_of
from scaleright.units import HOURS_PER_DAY

CHIP = "H100 SXM"
SMALL, LARGE, LARGEST = "Llama-3.1-8B", "Llama-3.1-70B", "Llama-3.1-405B"
PAIR = SMALL, LARGE
CHAT = Load(2000, 500)


def deployed(name: str, chip: str = CHIP, precision: str = "BF16", **more: Any) -> Deployment:
    """An engine, by the names of its model and chip."""
    return Deployment(model(name), accelerator(chip), precision, **more)


# Latency


def _served(name: str, requests: float, chips: int = 8, precision: str = "FP8"):
    """So many requests at once on H100 that share a model."""
    engine = deployed(name, CHIP, precision, tensor=chips, software="vLLM 0.11.1")
    return steady(engine, CHAT, requests)


def _two_engines(figure: str, *names: str) -> Error:
    """Of the ratio of two predicted figures, of two engines or of one at two loads."""
    return errors.of_ratio(*(interval(_served(name, 1.0).deployment, figure) for name in names))


def _speed_error() -> Error:
    return _two_engines("throughput", SMALL, SMALL)


def _tokens_per_s(name: str, requests: float) -> float:
    return _served(name, requests).output_tokens_per_s


def _tpot_s(*of: Any) -> float:
    return float(_served(*of).tpot_s)


def s2_300ms_large() -> Recomputed:
    waits = (1e3 * _served(*of).ttft_s for of in product((LARGE, LARGEST), (1.0, 16.0)))
    return span(waits, error=errors.of_first_token())


def s2_300ms_several() -> Recomputed:
    pairs = (SMALL, 1), (LARGE, 2)
    ratios = (_served(of, 16.0).ttft_s / _served(of, 16.0, least).ttft_s for of, least in pairs)
    return span(ratios, error=errors.of_first_token_by_chips())


def s2_small_latency() -> Recomputed:
    ratios = (100 * _tpot_s(SMALL, of) / _tpot_s(LARGE, of) for of in (1.0, 16.0, 64.0))
    return span(ratios, error=_two_engines("TPOT", *PAIR))


def s2_batching_throughput() -> Recomputed:
    """Tokens a second at 64 requests over those at one, with an error for each side."""
    ratios = (_tokens_per_s(name, 64.0) / _tokens_per_s(name, 1.0) for name in PAIR)
    return span(ratios, error=_speed_error())


def s2_batching_tail() -> Recomputed:
    """Time of a token at 64 requests over that at four [%]."""
    ratios = (100 * _tpot_s(name, 64.0) / _tpot_s(name, 4.0) for name in PAIR)
    return span(ratios, error=_two_engines("TPOT", SMALL, SMALL))


def s2_sporadic_large() -> Recomputed:
    """Tokens a second for one request alone over those for 64 [%]."""
    error, alone = _speed_error(), lambda of: 100 * _tokens_per_s(of, 1.0) / _tokens_per_s(of, 64.0)
    large, small = map(alone, (LARGEST, SMALL))
    return span(large, Condition("a small model", small, error=error), error=error)


def s2_small_utilization() -> Recomputed:
    """Arithmetic that a small model gets out of the chips over that of a large one, at as many
    requests [%].
    """
    flops = lambda name, of: _tokens_per_s(name, of) * 2 * transformer.parameters(model(name)).total
    ratios = (100 * float(flops(SMALL, of) / flops(LARGE, of)) for of in (1.0, 16.0, 64.0))
    return span(ratios, error=_speed_error())


def s2_quantize_small() -> Recomputed:
    """Time of a token that FP8 saves of a model of 3 billion parameters, of one and of 16 requests
    [%].
    """
    loads = (("Llama-3.2-3B", requests, 1) for requests in (1.0, 16.0))
    left = (_tpot_s(*of) / _tpot_s(*of, "BF16") for of in loads)
    return span(saved(left, errors.inverse(errors.of_lever())))


def s2_small_card() -> Recomputed:
    """Memory that a small model takes of an A10G, with one and with 16 requests [%]."""
    card, length = deployed(SMALL, "A10G"), CHAT.input_tokens + CHAT.output_tokens
    held = (serving_memory(card, batch, length) for batch in (1, 16))
    return span(100 * float(of.total / card.chip.require("memory_bytes")) for of in held)


def s2_one_gpu_latency() -> Recomputed:
    rows = table("measured/serving").query("source == 'inferencemax2026' and tensor_parallel == 1")
    waits, short = 1e3 * rows["measured_ttft_s"], rows["input_tokens"] <= 1024
    return span(waits[short], Condition("prompts of 8K", waits[~short]))


# Levers: what quantization, sparsity, batching, caching and pooling save


ASKED = Load(1150, 210, input_cv=1.0, output_cv=1.0)
"""Lengths about as wide as those of published conversations."""
NO_LIMIT_S = 1e3
"""A time of a token that no engine takes [s]."""
ENGINES = ((SMALL, CHIP), (LARGE, "B200"))


def _fleets(**changed: Any) -> list[Fleet]:
    """Models on chips as many serve them: BF16 in vLLM, four services of two variants, peaks of
    three times the mean, many groups.
    """
    usual: dict[str, Any] = {
        "precision": "BF16",
        "load": ASKED,
        "tpot_s": 0.05,
        "long_tokens": 0.0,
        "ttft_s": math.inf,  # none is promised
        "continuous": True,
        "batch": 1.0,
        "requests_per_s": 1000.0,
        "peak_to_mean": 3.0,
        "together": 0.3,
        "services": 4,
        "variants": 2,
        "prefix_share": 0.5,
        "repeated_share": 0.0,
        "allowed_loss": 0.01,
    } | changed
    return [Fleet(model=of, smaller=of, accelerator=on, **usual) for of, on in ENGINES]


def chips_left(levers: Sequence[str], **changed: Any) -> list[float]:
    """Chips that levers leave of those without them [1]."""
    paths = (
        Ladder(of, [of.model], [of.accelerator], levers, fixed=True).steps
        for of in _fleets(**changed)
    )
    return [float(value_of(steps[-1].chips / steps[0].chips)) for steps in paths]


def chips_left_apart(tpot_s: float) -> list[float]:
    """Chips that groups of their own which read prompts leave of those without them [1]."""
    left = []
    for fleet in _fleets(tpot_s=tpot_s):
        engine = deployed(fleet.model, fleet.accelerator, software=SOFTWARE, kv_precision="BF16")
        asked, state = (engine, tpot_s, slowdowns(engine), ASKED), dict.fromkeys(STATE, 0.0)
        together, apart = (fleet.chips(groups_at_pace(*asked, of), state) for of in (False, True))
        left.append(min(apart / together, 1.0))
    return left


def saved_by(*left: list[float]) -> Recomputed:
    """Chips that levers save [%], with the error of their speedup."""
    return span(saved(left, errors.inverse(errors.of_lever())))


def s2_ladder() -> Recomputed:
    names = [name for rung in rungs_of_source().values() for name in rung]
    return saved_by(chips_left(names), chips_left(names, continuous=False, batch=8.0))


def speedups(precision: str, sparse: bool = False) -> tuple[float, float]:
    """How many times the requests each chip of a group serves in a format, over BF16: from one
    alone to full load, with the model's error.
    """

    def most(of: str, on: str, form: str, batch: int | None, sparse: bool = False) -> float:
        engine = deployed(of, on, form, software=SOFTWARE, kv_precision="BF16")
        known = curves(engines_like(engine), sparse_slowdowns(engine) if sparse else None)
        if batch is None:
            rates = (continuous_rate(one, ASKED, NO_LIMIT_S) for one in known)
        else:
            rates = ((one.chips, static_rate(one, ASKED, batch, NO_LIMIT_S)[0]) for one in known)
        return max(float(rate / chips) for chips, rate in rates)

    both = [(*of, batch) for batch in (None, 1) for of in ENGINES]
    faster = (
        most(of, on, precision, batch, sparse) / most(of, on, "BF16", batch)
        for of, on, batch in both
    )
    return widened(faster, errors.of_lever())


def _losses(lever: str, largest: float) -> list[float]:
    rows = published_losses()
    rows = rows[(rows["lever"] == lever) & (rows["parameters"] < largest)]
    return list(100 * rows["loss"])


def s2_speedup() -> Recomputed:
    published = Origin("one product of 4,096 by 4,096 matrices (hsieh2025fpga)")
    return span(speedups("INT4", sparse=True), published)


def s2_int4_loss() -> Recomputed:
    large = Condition("models of 70 billion parameters", sorted(_losses("4-bit weights", 1e12))[:2])
    return span(_losses("4-bit weights", 1e10), large)


def s2_autoscale_idle() -> Recomputed:
    idle = lambda trace: 100 * idle_share("Llama-3.3-70B", CHIP, trace, 1e6)
    calm, wild = map(idle, ("conversation", "code completion"))
    return point(wild, Condition("calm traffic, as conversation", calm))


# Tiers of models: what the smallest model that works saves, how few requests reach the largest, and
# what a chain does to quality and to the wait

TIERS = ("Llama-3.1-8B", "Llama-3.3-70B", "gpt-4.1")
"""Models of about the document's tiers, of which each is right more often than the one before."""
TOKENS = 2000, 500
QUALITY, MARGIN = 0.95, 0.02
"""Share of the large model's score that published routers kept, and the document's marginal
difference [1].
"""
OLD = ("gpt-4o-2024-05-13", "claude-3-5-sonnet-20241022")
"""Large models that a team may have chosen in 2024."""
NEW = ("gpt-4.1", "claude-sonnet-4-0", "claude-opus-4-0")
"""Large models of today."""


def _usd(name: str, tokens: tuple[float, float] = TOKENS) -> float:
    """Price of a request at the API [USD]."""
    asked = market.asked_tokens(name)
    return request_usd(*tokens, 0.0, asked["input"], asked["output"], asked["input"]).total


def _ways(tiers: list[Tier], reading: float) -> Iterator[tuple[str, Way, Way]]:
    """The chain of tiers beside the last alone, by difficulty and by check: published checks flag
    shares of wrong and of right answers, the worst, the median and the best of the large models.

    reading : what a check costs [USD]
    """
    usual, each = routers.usual_check(), dict(enumerate(tiers))
    for level in LEVELS:
        rates = [[success_rates()[name][level]] for name in TIERS]
        of = Traffic([1.0], rates, routers.nested_mean())
        for odds in (usual.low, usual.odds, usual.high):
            rate = routers.balanced_rate(odds)
            check = Check(rate, 1 - rate, reading, 0.0)
            yield level, cascade(of, each, check), alone(of, len(tiers) - 1, tiers[-1])


def _chains() -> list[tuple[str, Way, Way]]:
    """The chain of all tiers beside the largest alone; times are not told."""
    reading = _usd(TIERS[1], (sum(TOKENS), VERDICT_TOKENS))
    return list(_ways([Tier(_usd(name), 0.0) for name in TIERS], reading))


def s2_smallest_works() -> Recomputed:
    return span(saved(small / large for small, large in pairwise(map(_usd, TIERS))))


def s2_routing_saves() -> Recomputed:
    ends = TIERS[0], TIERS[-1]
    found = []
    for level in LEVELS:
        small, large = (success_rates()[name][level] for name in ends)
        curve = routers.recovered(
            routers.taught_odds().median(), small, large, routers.nested_mean()
        )
        gap = (QUALITY * large - small) / (large - small)
        found.append(100 * routed_saving(curve.calls_at(gap), *map(_usd, ends)))
    usd = (fact(f"router_chat_{of}_usd") for of in ("small", "large"))
    chat = 100 * routed_saving(fact("router_chat_calls") / 100, *usd)
    return span(found, Condition("chat, as another model judges it", chat))


def s2_few_reach_large() -> Recomputed:
    found = [(level, 100 * way.shares[-1]) for level, way, _ in _chains()]
    easy = [share for level, share in found if level == "easy"]
    return span((share for _, share in found), Condition("easy requests", easy))


def s2_start_tiny_latency() -> Recomputed:
    """Mean wait of small, then large, over that of the large model alone, where both are served on
    the same chips with one reader each.
    """
    engines = Engines.of(TIERS[:2], (CHIP,), formats=())
    speeds = [node_speed(engines, name, CHIP, "usual", CHAT, 30.0) for name in TIERS[:2]]
    waits = [float((1 / of.best_pace).value) * TOKENS[1] for of in speeds]
    ways = _ways([Tier(1.0, wait) for wait in waits], 0.0)
    return span(100 * way.seconds / waits[1] for _, way, _ in ways)


def _cheapest(name: str, as_good) -> float:
    """The cheapest model that is as good over one [1].

    as_good : of the rates of both, by level of difficulty
    """
    rates = success_rates()
    return min(_usd(of) for of in rates if as_good(rates[of], rates[name])) / _usd(name)


def s2_default_model() -> Recomputed:
    """What a large model of 2024 costs more than the cheapest of today's that is right as often at
    every level of difficulty [% of its price].
    """
    as_good = lambda of, own: all(of[level] >= own[level] for level in LEVELS)
    return span(saved(_cheapest(old, as_good) for old in OLD))


def s2_marginal_accuracy() -> Recomputed:
    """What the cheapest model within two points of a model's score on the easy benchmark costs
    less [% of its price], of the models of the chapter's large tier.
    """
    near = lambda of, own: own["easy"] - MARGIN <= of["easy"] <= own["easy"]
    return span(saved(_cheapest(name, near) for name in NEW))


def s2_serverless_low() -> Recomputed:
    """A day of a thousand requests at an API over a day of one rented accelerator [%]."""
    rented = market.hour(CHIP).usd * HOURS_PER_DAY
    return span(100 * 1000.0 * _usd(name) / rented for name in TIERS[:2])


def s2_think_steps() -> Recomputed:
    """Price of a request whose answer thinks in 4,000 tokens over one of 500 [times]."""
    return span(_usd(name, (TOKENS[0], 4000)) / _usd(name) for name in TIERS)


# The load at which own hardware beats an API; Clarifai's 7B is the smallest model with a measured
# throughput, its 13B has none, so that it is predicted

SIZES = (12e9, 15e9)
"""Parameters of the models that stand for Clarifai's 13B."""


def break_even(
    name: str,
    price: market.TokenPrice,
    end: str = "best",
    like: str = "",
    contract: str = market.STEADY,
) -> list[float]:
    """Load at which a rented chip beats an API at each measured shape of request [%], by default
    under the contract of what runs around the clock; of a model that nobody measured, at those of
    another and at the predicted throughput.
    """
    points, usd = operating_points(like or name, CHIP), market.hour(CHIP, contract).usd
    points = points[points["flag"] == ""]
    asked = [getattr(kind, end) for kind in (price.input, price.output, price.cache_read)]
    lengths = points["input_tokens"].to_numpy(float), points["output_tokens"].to_numpy(float)
    speeds = points["tokens_per_s"].to_numpy(float)
    if like:
        speeds = steady(_predicted(name), Load(*lengths)).output_tokens_per_s_per_chip
    return list(
        100 * break_even_utilization(usd, speeds, mix_usd_per_million(*lengths, 0.0, *asked))
    )


def _predicted(name: str) -> Deployment:
    return deployed(name, CHIP, "FP8", software="TensorRT-LLM 1.0")


def _thirteen(end: str = "best", over: Iterable[float] | None = None) -> list[tuple[float, float]]:
    """Break-even of each model of about 13B with the error of the predicted speed [%], or of it
    over others.
    """
    sold = market.open_models()
    found = []
    for row in sold[sold["companies"] >= 3].itertuples():
        if SIZES[0] <= float(transformer.parameters(model(row.model)).total) <= SIZES[1]:
            loads = break_even(row.model, market.api_price(row.release), end, SMALL)
            if over is not None:
                loads = [100 * load / own for load, own in zip(loads, over, strict=True)]
            error = errors.inverse(interval(_predicted(row.model), "throughput"))
            found.append(widened(loads, error))
    return found


def s2_7b_load() -> Recomputed:
    points = operating_points(SMALL, CHIP)
    shapes = points[points["flag"] == ""][["input_tokens", "output_tokens"]]
    by_the_hour = break_even(SMALL, market.api_price(SMALL), contract="on demand")
    prompt, answer = shapes.iloc[by_the_hour.index(max(by_the_hour))]
    words = f"rented on demand, requests of {prompt:,.0f} tokens in and {answer:,.0f} out"
    return span(break_even(SMALL, market.api_price(SMALL)), Condition(words, max(by_the_hour)))


def s2_13b_load() -> Recomputed:
    dear = Condition("the dearest offer of each model instead of its median", _thirteen("high"))
    return span(_thirteen(), dear)


# Energy, carbon and materials

COUNTRY = "USA"
FEW, MANY = 16, 64
"""Most sequences at once that count as few, and fewest that count as many."""
SAME = [
    "model",
    "accelerator",
    "accelerators",
    "task",
    "max_sequences",
    "tensor_parallel",
    "expert_parallel",
    "data_parallel",
]
MOSTLY = 0.9
"""Share of low-carbon power from which a grid counts as renewable or nuclear [1]."""
FORECAST = ("us_ai_twh_2028_low", "us_ai_twh_2028_high")
TRAINED = ("GPT-3 175B", "PaLM-540B")
"""Large models whose makers published the electricity of their training."""


def s2_quantized_energy() -> Recomputed:
    """Measured energy of a token with FP8 weights over that with BF16, all else the same [%]."""
    runs = table("measured/energy").set_index(["precision", *SAME])["measured_joules_per_token"]
    ratio = (100 * runs.loc["FP8"] / runs.loc["BF16"]).dropna()
    many = ratio[ratio.index.get_level_values("max_sequences") >= MANY]
    return span(ratio, Condition(f"{MANY} sequences at once or more", many))


def s2_offload_energy() -> Recomputed:
    """Energy of a token on one chip that reads the layers that it cannot hold from its host, by a
    PCIe link of its generation, over that on two that hold them all [%].
    """
    single, pair = (deployed(LARGE, tensor=chips) for chips in (1, 2))
    link = accelerator("H100 PCIe").require("scale_up_bytes_per_s")
    room = single.memory_share * single.chip.require("memory_bytes")

    def ratio(batch: int) -> float:
        reading = (serving_memory(single, batch, 1000).total - room) / link
        both = step_seconds(pair, batch, 1000).total
        joules = power.step_joules(single, reading, batch, 1000).total
        return 100 * joules / power.step_joules(pair, both, batch, 1000).total

    error = errors.of_ratio(power.interval(single), power.interval(pair))
    return span(map(ratio, (1, FEW, MANY)), error=error)


def s2_watts_matter() -> Recomputed:
    """Electricity's part of what an hour of a busy rented chip costs, host and building included
    [%].
    """
    kilowatts, pue = (
        draw(CHIP, "serving").busy_watts / 1000,
        market.cost_factor("pue", "data center"),
    )
    usd, rent = market.electricity_price("United States"), market.hour(CHIP)
    ends = ((usd.low, pue.low, rent.high), (usd.high, pue.high, rent.low))
    return span(100 * kilowatts * over * price / rented for price, over, rented in ends)


def _inference_twh(end: str) -> Recomputed:
    """Of an end of the forecast for all AI, the part that serves models."""
    shares = (fact(f"{of}_inference_share_2021") / 100 for of in ("google", "meta"))
    every = Origin("all AI of the United States, training with it (mittr2025)")
    return span((share * fact(end) for share in shares), every)


def s2_households() -> Recomputed:
    twh = fact("us_households_2023") * fact("household_kwh_per_year") / 1e9
    low, high = (100 * fact(end) / twh for end in FORECAST)
    return point(low, Condition("the upper end of the forecast alone", high))


def s2_training_mwh() -> Recomputed:
    runs = table("measured/footprint")
    of = (runs["activity"] == "training") & runs["model"].isin(TRAINED)
    return looked_up(runs.loc[of, "measured_kwh"].dropna() / 1000, fact("gpt4_training_mwh"))


def _image_miles(row) -> float:
    """Miles of a car that emit as much as a thousand images made at a measured power and rate, with
    host, building and making.
    """
    drawn = row.measured_joules_per_output * row.measured_outputs_per_s
    made = machine(row.accelerator, "serving", chip_watts=drawn)
    hours = busy_hours(1000, row.measured_outputs_per_s)
    return Footprint.of(made, hours, 1.0, place(COUNTRY)).carbon.car_miles


def s2_images_miles() -> Recomputed:
    rows = table("measured/images")
    rows = rows[(rows["model"] == "stable-diffusion-xl-base-1.0") & (rows["accelerator"] == CHIP)]
    study = fact("sdxl_kg_co2e_per_1000_images") / fact("car_kg_co2e_per_mile")
    least = f"the least efficient model of a study of 2023: {study:.1f} miles (luccioni2024)"
    return span(map(_image_miles, rows.itertuples()), Origin(least))


def s2_93_carbon() -> Recomputed:
    """Carbon that goes away when the same work is done by chips that work three times as much of
    their time [%]: 60 instead of 20 %, as in Clarifai's example, as long as they serve or three
    years instead of one.
    """

    def left(end: str) -> Iterator[float]:
        chip, here = machine(CHIP, "serving", end), place(COUNTRY)
        for before, after in ((chip.life_years, chip.life_years), (1.0, 3.0)):
            lives = (replace(chip, life_years=years) for years in (after, before))
            both = zip(lives, (0.6, 0.2), strict=True)
            used, idle = (Footprint.of(of, 1.0, share, here).carbon.total for of, share in both)
            yield used / idle

    return span(saved(map(left, ("low", "high"))))


def s2_small_chip() -> Recomputed:
    """Electricity of a small model on a T4, which holds it in INT8, over that of a large one on an
    H100, by arithmetic in INT8 and by bytes read [%].
    """
    small, large = (
        (of.dense["int8"], of.require("memory_bytes_per_s"))
        for of in map(accelerator, ("T4", CHIP))
    )
    sizes = [transformer.parameters(model(name)).total for name in PAIR]
    watts = [draw(name, "serving").chip_watts for name in ("T4", CHIP)]
    less, times = float(sizes[0] / sizes[1]), zip(large, small, strict=True)
    return span(100 * less * (fast / slow) * watts[0] / watts[1] for fast, slow in times)


def s2_renewable_site() -> Recomputed:
    """Carbon that the same work saves on grids of mostly low-carbon power [%], against the United
    States.
    """
    rows = table("grids")
    clean = rows[(rows["quantity"] == "low_carbon_share") & (rows["value"] > MOSTLY)]["zone"]
    carbon = rows[rows["quantity"] == "carbon_lifecycle"].groupby("zone")["value"].median()
    return span(saved(carbon[carbon.index.isin(clean)].median() / carbon[COUNTRY]))


RECOMPUTED = {
    "S2-prefix-caching": lambda: saved_by(chips_left(["prefix caching"])),
    "S2-pool-services": lambda: saved_by(chips_left(["pooling"])),
    "S2-int8-loss": lambda: span(_losses("8-bit weights", 1e12)),
    "S2-escalation-saves": lambda: span(saved(way.usd / one.usd for _, way, one in _chains())),
    "S2-same-quality": lambda: span(100 * way.right / one.right for _, way, one in _chains()),
    "S2-13b-over-7b": lambda: span(_thirteen(over=break_even(SMALL, market.api_price(SMALL)))),
    "S2-ai-twh-low": lambda: _inference_twh(FORECAST[0]),
    "S2-ai-twh-high": lambda: _inference_twh(FORECAST[1]),
    "S2-93-study": lambda: span(saved(fact("gpt4_a100_low") / fact("gpt4_a100_high"))),
}
