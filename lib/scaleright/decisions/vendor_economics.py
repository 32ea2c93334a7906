"""Vendor economics (F23): how far a new system is ahead of an old one, at which speed per user, and what of it is left in money and power.

"35 times cheaper" holds at a point: a model, its number formats, a speed per user, a price of an hour. Each system is a curve of
tokens per second and chip against the speed that a user sees; the lead is the ratio of two curves, and where the old system
comes to its end the lead grows without bound. The curves come from `inference.frontier` or from published measurements.
"""

from dataclasses import dataclass
from typing import Any, Mapping

import numpy as np
import pandas as pd

from scaleright import catalog
from scaleright.catalog import fact, remembered, table
from scaleright.decisions.verdict import Verdict
from scaleright.formulas import FRACTION, NON_NEGATIVE, POSITIVE, Breakdown, closed_form, lookup, search
from scaleright.inference.deployment import Deployment
from scaleright.inference.frontier import frontier
from scaleright.inference.lengths import Load
from scaleright.inference.serving import steady
from scaleright.inference.speculation import Speculation
from scaleright.names import one_of
from scaleright.units import HOURS_PER_YEAR, SECONDS_PER_HOUR

SOURCE = "S0, vendor economics"
CLAIMED = {"cost": 35.0, "power": 50.0, "chip": 4.0, "software": 5.0, "return": 15.0}
"""What S0 and S1 say: times cheaper and times the throughput per megawatt (GB300 against Hopper), times the throughput per GPU
(Blackwell against Hopper), times cheaper by two months of software (B200), and times the investment (GB200)."""
RACK_CHIPS = 72
GROUP, ENGINE = 64, "TensorRT-LLM 1.2"
"""Chips that may serve one copy of a model together, over the network where their fabric ends; and the software of both generations."""
PUBLISHED = ("H100 SXM", "H200 SXM", "B200", "B300", "GB200", "GB300")
"""Chips for which the publisher of the measurements that the vendor quotes states an hour's price and the power."""


RELEASED = {name: order for order, name in enumerate(PUBLISHED)}
"""The order in which those chips came."""
DRAFTED = Speculation(draft_tokens=3, acceptance=0.7)
"""Three tokens guessed ahead, which gains 2.5 a step: DeepSeek-V3 keeps its first guess 85 to 90 % of the time [deepseekv3, section 5.4.3], later ones less."""
DRAFTS = ("none", "new", "both")
"""Which chips guess tokens ahead: none, those of the newer generation, all."""


@closed_form(rate_ratio=POSITIVE, new_use=POSITIVE, old_use=POSITIVE)
def advantage(rate_ratio, new_use, old_use):
    """How many times as much a new chip does for the same use of something: dollars of an hour, watts, chips [1].

    Parameters
    ----------
    rate_ratio : tokens per second of a new chip over an old one's [1]
    new_use, old_use : what an hour of each takes: its price, its power; 1 and 1 to compare chips

    Source: definition; the vendor's 65 times the tokens at 1.9 times the price is 35 [nvidia2026costpertoken].

    >>> round(advantage(6000 / 90, 2.65, 1.41), 1)
    35.5
    """
    return rate_ratio * old_use / new_use


@dataclass(frozen=True)
class Returns(Breakdown):
    """What an investment in hardware leaves [USD]: sales of tokens, less what running it costs, less the purchase; the total is profit."""

    sales_usd: Any
    running_usd: Any
    investment_usd: Any

    @property
    def multiple(self) -> Any:
        """Sales over the investment, which the source calls a return [1]."""
        return self.sales_usd / -self.investment_usd

    @property
    def return_on_investment(self) -> Any:
        """Profit over the investment [1]."""
        return self.total / -self.investment_usd


@closed_form(
    investment_usd=POSITIVE, tokens_per_s=NON_NEGATIVE, usd_per_million=NON_NEGATIVE, years=POSITIVE, utilization=FRACTION, running_usd_per_year=NON_NEGATIVE,
)  # fmt: skip
def returns(investment_usd, tokens_per_s, usd_per_million, years, utilization, running_usd_per_year=0.0) -> Returns:
    """Return on hardware that sells tokens.

    Parameters
    ----------
    investment_usd : price of the whole system [USD]
    tokens_per_s : tokens of the whole system per second at full load [token/s]
    usd_per_million : what a million of them sell for [USD / 1e6 token]
    years : time in which they are sold [year]
    utilization : share of that time at full load [1]
    running_usd_per_year : power, space, maintenance and people [USD/year]

    Source: definition. The vendor's $75 million on $5 million is a multiple of 15 and so a return of 14 before any running cost.

    >>> bill = returns(5e6, 720_000, 1.1, 3.0, 1.0)
    >>> round(bill.multiple), round(bill.return_on_investment)
    (15, 14)
    """
    million_tokens = tokens_per_s * utilization * years * (HOURS_PER_YEAR * SECONDS_PER_HOUR) / 1e6
    return Returns(million_tokens * usd_per_million, -years * running_usd_per_year, -investment_usd)


@lookup
def published_use(name: str) -> dict[str, float]:
    """Price of an hour and power of a chip as the publisher of the vendor's measurements takes them [inferencex2026constants].

    Returns
    -------
    usd : what an hour costs a hyperscaler that owns it, without margin [USD/h]
    kw : power of the utility for one chip with servers, network and cooling [kW]

    >>> published_use("GB300")["usd"] / published_use("H200 SXM")["usd"] > 1.8
    True
    """
    key = one_of(name, PUBLISHED, "chip with a published price of ownership").lower().replace(" ", "_")
    return {"usd": fact(f"inferencex_usd_per_hour_{key}"), "kw": fact(f"inferencex_kw_{key}")}


@remembered
def measured_points(model: str, input_tokens: float, output_tokens: float) -> pd.DataFrame:
    """Published operating points of a model whose speed per user and throughput were both measured, lengths within 15 %.

    Columns: accelerator, precision, software, concurrency, interactivity [token/s], tokens_per_s (output, of one chip) [token/s], source.
    """
    rows = table("measured/serving")
    near = (rows["input_tokens"] / input_tokens).between(0.85, 1.15) & (rows["output_tokens"] / output_tokens).between(0.85, 1.15)
    rows = rows[near & (rows["model"] == model) & rows["measured_tpot_s"].notna() & rows["measured_output_tokens_per_s_per_accelerator"].notna()]
    rows = rows.assign(interactivity=1 / rows["measured_tpot_s"], tokens_per_s=rows["measured_output_tokens_per_s_per_accelerator"])
    return rows[["accelerator", "precision", "software", "concurrency", "interactivity", "tokens_per_s", "source"]].reset_index(drop=True)


@remembered
def _front(name: str, chip: str, lengths: tuple[float, float], guesses: bool, precision: str | None) -> pd.DataFrame:
    """The front of one chip, see `serving_points`."""
    load = Load(*lengths, speculation=DRAFTED if guesses else None)
    return frontier(catalog.model(name), load, [chip], precision, most_chips=GROUP, software=ENGINE, pipeline=1)


def _precision(name: str) -> str | None:
    """MXFP4 for a model whose weights are published in it; None for the leanest format of each chip."""
    published = table("models").set_index("name")["precision"]
    return "MXFP4" if str(published[catalog.model(name).name]).startswith("MXFP4") else None


@search
def serving_points(
    name: str, input_tokens: float, output_tokens: float, drafts: str = "none", chips: tuple[str, ...] = PUBLISHED, precision: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Operating points of a model by the book's own model of serving: the front of each chip over all layouts of up to `GROUP` chips without pipelines.

    Parameters
    ----------
    name : shape of the catalog; in the format of its published weights where that is MXFP4, else in the leanest of each chip
    input_tokens, output_tokens : mean lengths [token]
    drafts : who guesses tokens ahead, of `DRAFTS`; the newer generation is what computes in FP4
    precision : one format for all chips instead

    Columns: those of `inference.frontier`, and tokens_per_s (output, of one chip) [token/s].
    """
    one_of(drafts, DRAFTS, "drafts")
    guesses = {chip: drafts == "both" or (drafts == "new" and "fp4" in catalog.accelerator(chip).dense) for chip in chips}
    fronts = [_front(name, chip, (input_tokens, output_tokens), guesses[chip], precision or _precision(name)) for chip in chips]
    points = pd.concat(fronts, ignore_index=True)
    return points.assign(tokens_per_s=points["tokens_per_s_per_chip"])


@search
@remembered
def checked_leads(source: str = "inferencemax2026") -> pd.DataFrame:
    """Measured leads of one chip over another at the same layout, engine and number of requests, beside those of the model.

    Columns: newer, older, model, input_tokens, output_tokens, concurrency, measured and predicted (tokens/s of one chip over the other's) [1].
    """
    rows = table("measured/serving").query("source == @source and mode == 'aggregated'").reset_index(drop=True)
    same, speed = ["model", "precision", "tensor_parallel", "expert_parallel", "input_tokens", "output_tokens"], "measured_output_tokens_per_s_per_accelerator"
    rows["predicted"] = 0.0
    for (name, form, tensor, expert, *lengths, chip, software), group in rows.groupby([*same, "accelerator", "software"]):
        engine = Deployment(catalog.model(name), catalog.accelerator(chip), form, tensor=int(tensor), expert=int(expert), software=software)
        found = steady(engine, Load(*lengths), concurrency=group["concurrency"].to_numpy(float))
        rows.loc[group.index, "predicted"] = found.output_tokens_per_s_per_chip
    pairs = rows.merge(rows, on=[*same, "concurrency", "software"], suffixes=("", "_old"))
    pairs = pairs[pairs["accelerator"].map(RELEASED) > pairs["accelerator_old"].map(RELEASED)]
    ratios = {name: pairs[column] / pairs[f"{column}_old"] for name, column in (("measured", speed), ("predicted", "predicted"))}
    kept = pairs.rename(columns={"accelerator": "newer", "accelerator_old": "older"})
    return kept[["newer", "older", *same, "concurrency"]].assign(**ratios).reset_index(drop=True)


@search
def best_rate(points: pd.DataFrame, speed: Any) -> np.ndarray:
    """Most tokens per second of one chip while each user gets at least a speed [token/s]; 0 where no point is as fast.

    On straight lines in the logarithm between the points that no other one beats; at speeds below all of them, the best.

    Parameters
    ----------
    points : columns interactivity and tokens_per_s
    speed : tokens per second that a user wants [token/s]

    >>> points = pd.DataFrame({"interactivity": [10.0, 20.0, 40.0], "tokens_per_s": [400.0, 50.0, 100.0]})
    >>> best_rate(points, np.array([5.0, 20.0, 40.0, 41.0])).round(6).tolist()
    [400.0, 251.98421, 100.0, 0.0]
    """
    ranked = points.sort_values("interactivity", ascending=False)
    front = ranked[ranked["tokens_per_s"] > ranked["tokens_per_s"].cummax().shift(fill_value=0.0)][::-1]
    if front.empty:
        return np.zeros_like(np.asarray(speed, dtype=float))
    known = front["interactivity"].to_numpy()
    found = np.exp(np.interp(speed, known, np.log(front["tokens_per_s"].to_numpy())))
    return np.where(np.asarray(speed) <= known[-1], found, 0.0)


@search
def lead(points: pd.DataFrame, new: str, old: str, speed: Any) -> np.ndarray:
    """Tokens per second of a new chip over those of an old one at each speed per user [1]; infinite where only the new one is as fast."""
    rates = [best_rate(points[points["accelerator"] == one_of(name, set(points["accelerator"]), "accelerator of these points")], speed) for name in (new, old)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return rates[0] / rates[1]


@search
def where_it_holds(leads: Any, speed: Any, claimed: float) -> tuple[float, float] | None:
    """Slowest and fastest speed per user at which a lead reaches what is claimed while the old system still keeps up [token/s]; None if nowhere.

    >>> where_it_holds(np.array([2.0, 20.0, 40.0, np.inf]), np.array([10.0, 50.0, 100.0, 200.0]), 35.0)
    (100.0, 100.0)
    """
    held = np.asarray(speed)[(np.asarray(leads) >= claimed) & np.isfinite(leads)]
    return (float(held.min()), float(held.max())) if held.size else None


@search
def vendor_claim(points: pd.DataFrame, new: str, old: str, speed: Any, claimed: float, uses: Mapping[str, float], what: str = "tokens for a dollar") -> Verdict:
    """Whether a claimed lead holds: over all speeds per user that the old chip reaches.

    Parameters
    ----------
    points : columns accelerator, interactivity, tokens_per_s
    new, old : chips
    speed : speeds per user to look at [token/s]
    claimed : how many times better the new one is said to be [1]
    uses : what an hour of each chip takes, by name: dollars, kilowatts; see `advantage`
    what : what is compared, in words

    >>> points = pd.DataFrame({"accelerator": ["new", "new", "old", "old"], "interactivity": [10, 100, 10, 100], "tokens_per_s": [90, 60, 30, 1]})
    >>> vendor_claim(points, "new", "old", np.array([10.0, 100.0]), 35.0, {"new": 2.0, "old": 1.0}).what
    'nowhere: at most 30 times, at 100 tokens/s per user'
    """
    ratios = lead(points, new, old, speed)
    reached = np.isfinite(ratios) & (ratios > 0)
    if not reached.any():
        raise ValueError(f"{new} and {old} serve this load at none of {np.min(speed):g} to {np.max(speed):g} tokens/s per user together")
    leads = np.where(reached, advantage(np.where(reached, ratios, 1.0), uses[new], uses[old]), 0.0)
    most = int(np.argmax(leads))
    held = where_it_holds(leads, speed, claimed)
    at = f"{np.asarray(speed)[most]:g} tokens/s per user"
    answer = f"from {held[0]:g} to {held[1]:g} tokens/s per user" if held else f"nowhere: at most {leads[most]:.2g} times, at {at}"
    ends = np.asarray(speed)[reached]
    reasons = (
        f"{what}: {leads[reached][0]:.2g} times at {ends[0]:g} and {leads[reached][-1]:.2g} times at {ends[-1]:g} tokens/s per user, at most {leads[most]:.2g} at {at}",
        f"an hour of {new} takes {uses[new] / uses[old]:.2g} times as much as one of {old}",
        f"beyond {ends[-1]:g} tokens/s per user {old} does not keep up, and any ratio can be had",
    )
    numbers = {"most": (float(leads[most]), "1"), "at slow speed": (float(leads[reached][0]), "1"), "claimed": (claimed, "1")}
    return Verdict(f"Is {claimed:g} times true for {new} over {old}?", answer, reasons, numbers, SOURCE, f"{claimed:g} times", bool(held))
