"""Vendor economics (F23): how far a new system is ahead of an old one, at which speed per user, and
what of it is left in money and power.

"35 times cheaper" holds at a point: a model, its number formats, a speed per user, a price of an
hour. Each system is a curve of tokens per second and chip against the speed that a user sees; the
lead is the ratio of two curves, and where the old system comes to its end the lead grows without
bound. The curves come from the book's own model of serving (`serving_points`) or from
published measurements (`measured_points`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from scaleright.architecture import Transformer
from scaleright.catalog import (
    Accelerator,
    accelerator,
    fact,
    model,
    release_format,
    shared,
    table,
)
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import (
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    Breakdown,
    closed_form,
    lookup,
    search,
)
from scaleright.inference.deployment import DEGREES, NEEDS, Deployment, check, valid
from scaleright.inference.disaggregation import disaggregated, reader
from scaleright.inference.lengths import Load, Speculation
from scaleright.inference.serving import slots, steady
from scaleright.names import one_of
from scaleright.order import first_greatest, noiseless
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR

# Operating points of the systems that vendors compare: published measurements, those of the
# book's own model of serving, and what an hour of each chip takes


GROUP, ENGINE = 64, "TensorRT-LLM 1.2"
"""Chips that may serve one copy of a model together, over the network where their fabric ends; and
the software of both generations.
"""
PUBLISHED = ("H100 SXM", "H200 SXM", "B200", "B300", "GB200", "GB300")
"""Chips for which the publisher of the measurements that the vendor quotes states an hour's price
and the power.
"""
DRAFTED = Speculation(draft_tokens=3, acceptance=0.7)
"""Three tokens guessed ahead, which gains 2.5 a step: DeepSeek-V3 keeps its first guess 85 to 90 %
of the time [deepseekv3, section 5.4.3], later ones less.
"""
DRAFTS = ("none", "new", "both")
"""Which chips guess tokens ahead: none, those of the newer generation, all."""


@lookup
def published_use(name: str) -> dict[str, float]:
    """Price of an hour and power of a chip as the publisher of the vendor's measurements takes them
    [inferencex2026constants].

    Returns
    -------
    usd : what an hour costs a hyperscaler that owns it, without margin [USD/h]
    kw : power of the utility for one chip with servers, network and cooling [kW]

    >>> published_use("GB300")["usd"] / published_use("H200 SXM")["usd"] > 1.8
    True
    """
    known = one_of(name, PUBLISHED, "chip with a published price of ownership")
    key = known.lower().replace(" ", "_")
    return {"usd": fact(f"inferencex_usd_per_hour_{key}"), "kw": fact(f"inferencex_kw_{key}")}


@shared
def measured_points(name: str, input_tokens: float, output_tokens: float) -> pd.DataFrame:
    """Published operating points of a model whose speed per user and throughput were both measured,
    lengths within 15 %.

    Columns: accelerator, precision, software, concurrency, interactivity [token/s], tokens_per_s
    (output, of one chip) [token/s], source.
    """
    rows = table("measured/serving").query("model == @name")
    asked = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    for column, tokens in asked.items():
        rows = rows[(rows[column] / tokens).between(0.85, 1.15)]
    made = rows["measured_output_tokens_per_s_per_accelerator"]
    rows = rows.assign(interactivity=1 / rows["measured_tpot_s"], tokens_per_s=made)
    about = ["accelerator", "precision", "software", "concurrency"]
    columns = [*about, "interactivity", "tokens_per_s", "source"]
    return rows[columns].dropna(subset=columns[4:6]).reset_index(drop=True)


POWERS = (1, 2, 4, 8, 16, 32, 64)
"""Degrees that are tried; the last is also the largest group."""
LEANEST = ("NVFP4", "FP8", "BF16", "FP16")
"""Formats of weights, the leanest first."""
POINTS = 40
"""Concurrencies at which a layout is weighed, from one request to as many as fit, in equal ratios.
"""
FIGURES = ("concurrency", "interactivity", "tpot_s", "ttft_s", "joules_per_token")
"""What is said of a point beside its throughput, as `OperatingPoint` names it."""


@search
def leanest(chip: Accelerator) -> str:
    """The leanest format whose products a chip computes natively; MXFP4 for chips with FP4 of other
    vendors than NVIDIA.

    >>> leanest(accelerator("H100 SXM")), leanest(accelerator("MI355X")), leanest(
    ...     accelerator("V100 SXM 32GB"))
    ('FP8', 'MXFP4', 'FP16')
    """
    found = next((form for form in LEANEST if NEEDS[form] in chip.dense), "BF16")
    return "MXFP4" if found == "NVFP4" and chip.vendor != "NVIDIA" else found


def _some(found: Deployment, which: Any) -> Deployment:
    return replace(found, **{name: getattr(found, name)[which] for name in DEGREES})


@search
def layouts(
    shape: Transformer, chip: Accelerator, precision: str, load: Load, most_chips: int = GROUP
) -> Deployment:
    """Every layout in powers of two, without pipelines, that keeps the rules and holds a request of
    the load, as one `Deployment` of arrays.

    Tensor parallelism stays within a fabric; experts are split as all else is, or each is on a chip
    of its own.

    Raises
    ------
    ValueError : the chip cannot serve the format, or nothing fits.

    >>> found = layouts(model("Llama-3.1-70B"), accelerator("H100 SXM"), "FP8", Load(1000, 1000))
    >>> found.tensor.tolist()
    [1, 2, 4, 8]
    """
    one = Deployment(shape, chip, precision, software=ENGINE)
    check(one)
    degrees = [
        (tensor, 1, expert, group)
        for tensor in POWERS
        for group in (POWERS if shape.experts else (1,))
        for expert in (
            {tensor * group, 1 if group == 1 else tensor * group} if shape.experts else (1,)
        )
        if tensor <= (chip.scale_up_chips or 1) and tensor * group <= most_chips
    ]
    found = replace(one, **dict(zip(DEGREES, np.array(degrees).T, strict=True)))
    found = _some(found, valid(found) & (slots(found, load) >= 1))
    if not found.tensor.size:
        raise ValueError(
            f"{shape.name} in {precision} on {chip.name}: no layout of up to {most_chips} chips"
            f" keeps the rules and holds a request of {load.context:,.0f} tokens; take more chips,"
            " fewer bits, or a smaller model"
        )
    return found


@search
def frontier(
    shape: Transformer, load: Load, chip: Accelerator, precision: str | None = None, split=False
) -> pd.DataFrame:
    """Throughput of a chip against interactivity, over all `layouts` and concurrencies: the points
    than which no other is both quicker and of more throughput.

    Parameters
    ----------
    precision : format of the weights; by default the `leanest` of the chip
    split : prompts are read by groups of their own, of the layout that reads fastest; chips and
        degrees are those of one group that decodes, throughput and energy those of a chip of either
        kind

    Columns, the quickest point first: accelerator, precision, the degrees, chips, `FIGURES`, and
    tokens_per_s (output, of one chip) [token/s].

    >>> front = frontier(model("Llama-3.1-8B"), Load(1000, 300), accelerator("L40S"))
    >>> bool(front["tokens_per_s"].is_monotonic_increasing)
    True
    """
    every = layouts(shape, chip, precision or leanest(chip), load)
    wide = _some(every, np.s_[:, None])
    requests = np.floor(noiseless(slots(wide, load) ** np.linspace(0, 1, POINTS)))
    point = (
        disaggregated(reader(every, load), wide, load, requests)
        if split
        else steady(wide, load, requests)
    )
    columns = {name: getattr(wide, name) for name in (*DEGREES, "chips")}
    columns |= {name: getattr(point, name) for name in FIGURES}
    columns["tokens_per_s"] = point.output_tokens_per_s_per_chip
    flat = {of: np.broadcast_to(value, requests.shape).ravel() for of, value in columns.items()}
    points = pd.DataFrame({"accelerator": chip.name, "precision": every.precision} | flat)
    quickest = points.sort_values(
        ["tpot_s", "tokens_per_s"], ascending=[True, False], key=noiseless, kind="stable"
    )
    rates = pd.Series(noiseless(quickest["tokens_per_s"]), quickest.index)
    return quickest[rates > rates.cummax().shift(fill_value=0.0)]


@shared
def _front(
    name: str, chip: str, lengths: tuple[float, float], guesses: bool, precision: str | None
) -> pd.DataFrame:
    """The front of one chip, see `serving_points`."""
    load = Load(*lengths, speculation=DRAFTED if guesses else None)
    asked = model(name), load, accelerator(chip), precision
    return pd.concat([frontier(*asked, split) for split in (False, True)])


@search
def serving_points(
    name: str,
    input_tokens: float,
    output_tokens: float,
    drafts: str = "none",
    chips: tuple[str, ...] = PUBLISHED,
    precision: str | None = None,
) -> pd.DataFrame:
    """Operating points of a model by the book's own model of serving: the front of each chip over
    all layouts of up to `GROUP` chips without pipelines, prompts computed beside answers or on
    chips apart.

    Parameters
    ----------
    name : shape of the catalog; in the format of its published weights where that is MXFP4, else in
        the leanest of each chip
    input_tokens, output_tokens : mean lengths [token]
    drafts : who guesses tokens ahead, of `DRAFTS`; the newer generation is what computes in FP4
    precision : one format for all chips instead

    Columns: those of `frontier`.
    """
    one_of(drafts, DRAFTS, "drafts")
    form = precision or ("MXFP4" if release_format(name).startswith("MXFP4") else None)
    guesses = (
        drafts == "both" or (drafts == "new" and "fp4" in accelerator(chip).dense) for chip in chips
    )
    lengths = input_tokens, output_tokens
    fronts = [
        _front(name, chip, lengths, guess, form) for chip, guess in zip(chips, guesses, strict=True)
    ]
    return pd.concat(fronts, ignore_index=True)


SOURCE = "Token Cost Analysis"
RACK_CHIPS = 72
LAYOUT = [
    "model",
    "precision",
    "kv_precision",
    "tensor_parallel",
    "expert_parallel",
    "input_tokens",
    "output_tokens",
    "accelerator",
]
"""What tells the layouts apart in which chips were measured."""
CHECKED_SPEEDS = 10
"""Speeds per user at which measured leads are compared with predicted ones."""


@closed_form(rate_ratio=POSITIVE, new_use=POSITIVE, old_use=POSITIVE)
def advantage(rate_ratio, new_use, old_use):
    """How many times as much a new chip does for the same use of something: dollars of an hour,
    watts, chips [1].

    Parameters
    ----------
    rate_ratio : tokens per second of a new chip over an old one's [1]
    new_use, old_use : what an hour of each takes: its price, its power; 1 and 1 to compare chips

    Source: definition; the vendor's 65 times the tokens at 1.9 times the price is 35
    [nvidia2026costpertoken].

    >>> round(advantage(6000 / 90, 2.65, 1.41), 1)
    35.5
    """
    return rate_ratio * old_use / new_use


@dataclass(frozen=True)
class Returns(Breakdown):
    """What an investment in hardware leaves [USD]: sales of tokens, less what running it costs,
    less the purchase; the total is profit.
    """

    sales_usd: Any
    running_usd: Any
    investment_usd: Any

    @property
    def multiple(self) -> Any:
        """Sales over the investment, which Token Cost Analysis calls a return [1]."""
        return self.sales_usd / -self.investment_usd

    @property
    def return_on_investment(self) -> Any:
        """Profit over the investment [1]."""
        return self.total / -self.investment_usd


@lookup
def traces() -> tuple[float, float]:
    """How much of the paid time GPUs work in the idlest and in the busiest of the published cluster
    traces [%].
    """
    return fact("alibaba_gpu_utilization_2020"), 100 - fact("philly_gpu_idle_long_jobs")


@closed_form(
    investment_usd=POSITIVE,
    tokens_per_s=NON_NEGATIVE,
    usd_per_million=NON_NEGATIVE,
    years=POSITIVE,
    utilization=FRACTION,
    running_usd_per_year=NON_NEGATIVE,
)
def returns(
    investment_usd, tokens_per_s, usd_per_million, years, utilization, running_usd_per_year=0.0
) -> Returns:
    """Return on hardware that sells tokens.

    Parameters
    ----------
    investment_usd : price of the whole system [USD]
    tokens_per_s : tokens of the whole system per second at full load [token/s]
    usd_per_million : what a million of them sell for [USD / 1e6 token]
    years : time in which they are sold [year]
    utilization : share of that time at full load [1]
    running_usd_per_year : power, space, maintenance and people [USD/year]

    Source: definition. The vendor's $75 million on $5 million is a multiple of 15 and so a return
    of 14 before any running cost.

    >>> bill = returns(5e6, 720_000, 1.1, 3.0, 1.0)
    >>> round(bill.multiple), round(bill.return_on_investment)
    (15, 14)
    """
    million_tokens = tokens_per_s * utilization * years * (HOURS_PER_YEAR * SECONDS_PER_HOUR) / 1e6
    return Returns(million_tokens * usd_per_million, -years * running_usd_per_year, -investment_usd)


@search
def best_rate(points: pd.DataFrame, speed: Any) -> np.ndarray:
    """Most tokens per second of one chip while each user gets at least a speed [token/s]; 0 where
    no point is as fast.

    On straight lines in the logarithm between the points that no other one beats; at speeds below
    all of them, the best.

    Parameters
    ----------
    points : columns interactivity and tokens_per_s
    speed : tokens per second that a user wants [token/s]

    >>> points = pd.DataFrame({"interactivity": [10.0, 20.0, 40.0],
    ...     "tokens_per_s": [400.0, 50.0, 100.0]})
    >>> best_rate(points, np.array([5.0, 20.0, 40.0, 41.0])).round(6).tolist()
    [400.0, 251.98421, 100.0, 0.0]
    """
    users, rates = (points[name].to_numpy(float) for name in ("interactivity", "tokens_per_s"))
    quickest = np.lexsort((-noiseless(rates), -noiseless(users)))
    most = np.fmax.accumulate(rates[quickest])
    front = quickest[most > np.append(0.0, most[:-1])][::-1]
    if not front.size:
        return np.zeros_like(np.asarray(speed, dtype=float))
    known = users[front]
    found = np.exp(np.interp(speed, known, np.log(rates[front])))
    return np.where(np.asarray(speed) <= known[-1], found, 0.0)


@search
def lead(points: pd.DataFrame, new: str, old: str, speed: Any) -> np.ndarray:
    """Tokens per second of a new chip over those of an old one at each speed per user [1]; infinite
    where only the new one is as fast.
    """
    known = set(points["accelerator"])
    names = (one_of(name, known, "accelerator of these points") for name in (new, old))
    rates = [best_rate(points[points["accelerator"] == name], speed) for name in names]
    with np.errstate(divide="ignore", invalid="ignore"):
        return rates[0] / rates[1]


def _measured_and_predicted(software: str, source: str) -> pd.DataFrame:
    """Points measured with one engine, beside the speed per user and the tokens per second of one
    chip that the model predicts in their layouts [token/s].

    Columns: those of `measured/serving`, and measured_speed, measured, predicted_speed, predicted.
    """
    rows = table("measured/serving").query("source == @source and mode == 'aggregated'")
    rows = rows.query("software == @software and accelerator in @PUBLISHED")
    rows = rows.reset_index(drop=True).assign(
        measured_speed=lambda of: 1 / of["measured_tpot_s"],
        measured=lambda of: of["measured_output_tokens_per_s_per_accelerator"],
        predicted_speed=0.0,
        predicted=0.0,
    )
    for (name, form, cache, tensor, expert, *lengths, chip), group in rows.groupby(
        LAYOUT, dropna=False
    ):
        engine = Deployment(
            model(name),
            accelerator(chip),
            form,
            kv_precision=cache if isinstance(cache, str) else None,
            tensor=int(tensor),
            expert=int(expert),
            software=software,
        )
        found = steady(engine, Load(*lengths), concurrency=group["concurrency"].to_numpy(float))
        rows.loc[group.index, "predicted_speed"] = found.interactivity
        rows.loc[group.index, "predicted"] = found.output_tokens_per_s_per_chip
    return rows


def _leads(group: pd.DataFrame, older: str, newer: str) -> pd.DataFrame:
    """Measured and predicted leads of two chips at speeds within the measured ones of both; `group`
    holds the points of one load.
    """
    ends = group.groupby("accelerator")["measured_speed"].agg(["min", "max"]).loc[[older, newer]]
    speeds = np.geomspace(ends["min"].max(), ends["max"].min(), CHECKED_SPEEDS)
    found = {"newer": newer, "older": older, "speed": speeds}
    found |= {name: group[name].iloc[0] for name in ("input_tokens", "output_tokens")}
    for kind in ("measured", "predicted"):
        points = group.assign(interactivity=group[f"{kind}_speed"], tokens_per_s=group[kind])
        found[kind] = lead(points, newer, older, speeds)
    return pd.DataFrame(found)


@search
@shared
def checked_leads(software: str = "vLLM", source: str = "inferencemax2026") -> pd.DataFrame:
    """Leads at one speed per user between chips that were measured in many layouts with one engine,
    beside those of the model in the same ones.

    Columns: newer, older, input_tokens, output_tokens, speed, measured and predicted (tokens/s of
    one chip over the other's) [1]; only at speeds that lie within the measured ones of both chips,
    and that both reach by the model.
    """
    rows = _measured_and_predicted(software, source)
    leads = [
        _leads(group, *pair)
        for _, group in rows.groupby(["input_tokens", "output_tokens"])
        for pair in combinations([of for of in PUBLISHED if of in {*group["accelerator"]}], 2)
    ]
    found = pd.concat(leads, ignore_index=True)
    return found[np.isfinite(found["predicted"]) & (found["predicted"] > 0)].reset_index(drop=True)


@dataclass(frozen=True)
class LeadErrors:
    """How far leads that were measured lie from the predicted ones.

    low, high : measured over predicted, in nine of ten [1]
    median : by how much that differs from one, in the median [1]
    b200 : measured over predicted, in the median of those of a B200 [1]
    slightest, greatest : of the leads, as measured [1]
    count : of leads
    """

    low: float
    high: float
    median: float
    b200: float
    slightest: float
    greatest: float
    count: int


@search
def lead_errors() -> LeadErrors:
    """The errors of `checked_leads`.

    >>> errors = lead_errors()
    >>> print(errors.low < 1 < errors.high)
    True
    """
    checked = checked_leads()
    measured, off = checked["measured"], checked["measured"] / checked["predicted"]
    return LeadErrors(
        low=off.quantile(0.05),
        high=off.quantile(0.95),
        median=(off - 1).abs().median(),
        b200=off[checked["newer"] == "B200"].median(),
        slightest=measured.min(),
        greatest=measured.max(),
        count=len(checked),
    )


@search
def vendor_claim(
    points: pd.DataFrame,
    new: str,
    old: str,
    speed: Any,
    claimed: float,
    uses: Mapping[str, float],
) -> Verdict:
    """Whether a claimed lead holds: over all speeds per user that the old chip reaches.

    Parameters
    ----------
    points : columns accelerator, interactivity, tokens_per_s
    new, old : chips
    speed : speeds per user to look at [token/s]
    claimed : how many times better the new one is said to be [1]
    uses : what an hour of each chip takes, by name: dollars, kilowatts; see `advantage`

    >>> points = pd.DataFrame({"accelerator": ["new", "new", "old", "old"],
    ...     "interactivity": [10, 100, 10, 100], "tokens_per_s": [90, 60, 30, 1]})
    >>> vendor_claim(points, "new", "old", np.array([10.0, 100.0]), 35.0,
    ...     {"new": 2.0, "old": 1.0}).what
    'nowhere: at most 30 times, at 100 tokens/s per user'
    """
    speed = np.asarray(speed, dtype=float)
    ratios = lead(points, new, old, speed)
    reached = np.isfinite(ratios) & (ratios > 0)
    if not reached.any():
        raise ValueError(
            f"{new} and {old} serve this load at none of {np.min(speed):g} to {np.max(speed):g}"
            " tokens/s per user together"
        )
    at, leads = speed[reached], advantage(ratios[reached], uses[new], uses[old])
    most, held = first_greatest(leads), at[leads >= claimed]
    there = f"{at[most]:g} tokens/s per user"
    answer = f"nowhere: at most {leads[most]:.2g} times, at {there}"
    if held.size:
        answer = f"from {held.min():g} to {held.max():g} tokens/s per user"
    beyond = ", the fastest looked at" if reached[-1] else ": beyond, any ratio can be had"
    reasons = (
        (
            f"tokens for the same use: {leads[0]:.2g} times at {at[0]:g} and {leads[-1]:.2g} times"
            f" at {at[-1]:g} tokens/s per user, at most {leads[most]:.2g} at {there}"
        ),
        f"an hour of {new} takes {uses[new] / uses[old]:.2g} times as much as one of {old}",
        f"{old} keeps up to {at[-1]:g} tokens/s per user{beyond}",
    )
    numbers = {
        "most": (float(leads[most]), "1"),
        "at slow speed": (float(leads[0]), "1"),
        "claimed": (claimed, "1"),
    }
    question = f"Is {claimed:g} times true for {new} over {old}?"
    return Verdict(
        question, answer, reasons, numbers, SOURCE, f"{claimed:g} times", bool(held.size)
    )
