"""What stands behind vendors' leads: the curves and the costs of each chip as rows to choose from,
the assumptions of an announcement one by one, and what was measured in public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pandas as pd

from scaleright import mlperf
from scaleright.catalog import accelerator, fact, model, shared, table
from scaleright.chapters.vendor_claims.model import (
    DRAFTS,
    RACK_CHIPS,
    LeadErrors,
    advantage,
    best_rate,
    lead,
    measured_points,
    published_use,
    returns,
    serving_points,
)
from scaleright.costs.ownership import Ownership
from scaleright.costs.serving import RENT
from scaleright.costs.tokens import usd_per_million_tokens
from scaleright.formulas import lookup, search
from scaleright.inference.demand import UNKNOWN, Demand, requests_of
from scaleright.inference.formats import USUAL, offered, resolved, usual_format
from scaleright.inference.node_speed import Engines, NodeSpeed, node_speed
from scaleright.information import NINETY, Choice, probability_cheaper, spread_between
from scaleright.market import (
    Hosts,
    Hours,
    PaidHour,
    PaidTokens,
    hour,
    open_models,
    rents_apart,
    unfixed,
)
from scaleright.ops import exp, where
from scaleright.order import ordered
from scaleright.quantity import at, choose, least, look_up
from scaleright.quantity.graph import parameter
from scaleright.ranges import interval
from scaleright.units import SECONDS_PER_HOUR, figure

REQUESTS = {"1K/1K": (1024, 1024), "8K/1K": (8192, 1024)}
"""Tokens of the prompt and of the answer of each request that is compared."""
LENGTHS = {of: {"prompt": prompt, "answer": answer} for of, (prompt, answer) in REQUESTS.items()}
"""The same as rows for `choose`."""
SERVED, ANNOUNCED = "gpt-oss-120b", "DeepSeek-V3"
"""The model that Token Cost Analysis names, and the shape of the one that the announcement behind
it measured (DeepSeek-R1).
"""
OF_SOURCE = {
    "model": SERVED,
    "request": "1K/1K",
    "newer": "GB300",
    "older": "H200 SXM",
    **dict.fromkeys(("newer_precision", "older_precision"), USUAL),
    "contract": "on demand",
    "seller": "median",
    **dict.fromkeys(("newer_usd_per_hour", "older_usd_per_hour"), 0.0),
}
"""The case of Token Cost Analysis at rents as they are listed, by parameter of the chapter."""
MIXTURES = ("Mixtral-8x7B", "GLM-4.5-Air")
"""The mixtures of experts of the catalog with the sizes next to 70 billion parameters."""
MODELS = (SERVED, ANNOUNCED, *MIXTURES)
RELEASES = {ANNOUNCED: "DeepSeek-R1-0528"}
"""What hosts sell, where it is another release than the catalog's shape."""
HOPPER, BLACKWELL = ("H100 SXM", "H200 SXM"), ("B200", "GB200")
MEASURED = HOPPER + BLACKWELL
FAST, SLOW = 100.0, 10.0
ASSUMPTIONS = (
    ("one server against one server, both in FP8, slow users", "B200", SLOW, "none", "FP8", 8),
    ("the same for fast users", "B200", FAST, "none", "FP8", 8),
    ("and FP4 on the new chip", "B200", FAST, "none", None, 8),
    ("and a rack instead of a server", "GB300", FAST, "none", None, 64),
    ("and speculative decoding, on the new chip alone", "GB300", FAST, "new", None, 64),
    ("and speculative decoding on both", "GB300", FAST, "both", None, 64),
)
"""Each in words, with the newer chip, tokens per second of a user, who drafts, the newer chip's
format, and how many of it may serve together.
"""


def _at_speeds(points: pd.DataFrame, chip: str, speeds: Sequence[float]) -> np.ndarray:
    """Most tokens per second of one chip at each speed per user; NaN where no point is as fast."""
    rates = best_rate(points[points["accelerator"] == chip], np.asarray(speeds, dtype=float))
    return np.where(rates > 0, rates, np.nan)


@search
def serving_rates(
    models: Iterable[str], speeds: Sequence[float], chips: tuple[str, ...]
) -> dict[tuple[str, str, str, str, str], dict[str, list[float]]]:
    """Rows for `choose` by model, request, who drafts, chip, and format of the weights, the usual
    one among them: `tokens_per_s`, the most of one chip at each speed per user by the book's model
    of serving [token/s]; NaN where it is not as fast.

    >>> rows = serving_rates(["gpt-oss-120b"], [10, 1000], ("H100 SXM",))
    >>> fast = rows["gpt-oss-120b", "1K/1K", "none", "H100 SXM", "usual"]["tokens_per_s"]
    >>> fast[0] > 1000, fast[1]
    (True, nan)
    """
    found = {}
    for name, chip in product(models, chips):
        shape, of = model(name), accelerator(chip)
        for request, drafts, form in product(REQUESTS, DRAFTS, offered(shape, of)):
            points = serving_points(name, *REQUESTS[request], drafts, (chip,), form)
            rates = [figure(rate, 4) for rate in _at_speeds(points, chip, speeds).tolist()]
            found[name, request, drafts, chip, form] = {"tokens_per_s": rates}
        for request, drafts in product(REQUESTS, DRAFTS):
            case = name, request, drafts, chip
            found[*case, USUAL] = found[*case, usual_format(shape, of)]
    return found


@search
def require_speed(
    name: str, request: str, drafts: str, forms: Mapping[str, str], speed: float
) -> None:
    """Refuse a speed per user at which one of some chips does not write [token/s], or a format in
    which it does not serve the model.

    forms : of the weights, by chip

    Raises
    ------
    ValueError : with the fastest that it writes, or the nearest format.

    >>> forms = {"GB300": "usual", "H200 SXM": "usual"}
    >>> require_speed("gpt-oss-120b", "1K/1K", "none", forms, 100)
    """
    for chip, form in forms.items():
        form = resolved(model(name), accelerator(chip), form)
        points = serving_points(name, *REQUESTS[request], drafts, (chip,), form)
        if not _at_speeds(points, chip, [speed])[0] > 0:
            raise ValueError(
                f"no layout of {chip} in {form} writes so fast; the fastest gives each user"
                f" {points['interactivity'].max():.3g} tokens a second"
            )


@lookup
def chip_terms(name: str) -> dict[str, float]:
    """What a chip takes beside its price, as a row for `choose`.

    Returns
    -------
    kw : its power, with its share of servers, network and cooling [kW]
    running_usd : power, space and people of an owned one that always works [USD/year]

    >>> chip_terms("GB300")["kw"] > chip_terms("H200 SXM")["kw"]
    True
    """
    running = Ownership.typical(name, "data center").running_usd_per_year(24.0)
    return {"kw": published_use(name)["kw"], "running_usd": running}


@lookup
def release(name: str) -> str:
    """The published weights by which hosts sell a model of the catalog.

    >>> release("DeepSeek-V3")
    'DeepSeek-R1-0528'
    """
    sold = open_models().drop_duplicates("model").set_index("model")["release"]
    return RELEASES.get(name) or sold[name]


@search
@shared
def assumed_leads(old: str = "H200 SXM") -> pd.DataFrame:
    """The lead of Blackwell on DeepSeek-R1 with prompts and answers of 1K, under one assumption of
    the announcement after the other.

    Columns: assumption, tokens/s per user, per chip, per dollar of rent, per dollar of a
    hyperscaler's own, per megawatt.
    """
    rows = []
    for words, new, speed, drafts, form, group in ASSUMPTIONS:
        newer = serving_points(ANNOUNCED, *REQUESTS["1K/1K"], drafts, (new,), form)
        older = serving_points(ANNOUNCED, *REQUESTS["1K/1K"], drafts, (old,))
        points = pd.concat([older, newer[newer["chips"] <= group]])
        ratio = float(lead(points, new, old, speed))
        uses = {
            "per dollar of rent": [hour(chip).usd for chip in (new, old)],
            "per dollar of a hyperscaler's own": [published_use(c)["usd"] for c in (new, old)],
            "per megawatt": [published_use(chip)["kw"] for chip in (new, old)],
        }
        line = {"assumption": words, "tokens/s per user": speed, "per chip": ratio}
        rows.append(line | {name: float(advantage(ratio, *use)) for name, use in uses.items()})
    return pd.DataFrame(rows)


@lookup
def announced(new: str = "GB300", old: str = "H200 SXM") -> pd.DataFrame:
    """The vendor's own arithmetic for DeepSeek-R1, prompts and answers of 1K, drafts on the newer
    chip alone; dollars are a hyperscaler's that owns the chips.

    Columns: of one chip, each of the two, better by (how many times the newer one is) [1].
    """
    rates, costs = (
        np.array([fact(f"vendor_r1_{key}_{what}") for key in ("gb300", "h200")])
        for what in ("tokens_per_s", "usd_per_million")
    )
    dollars, power = (np.array([published_use(c)[of] for c in (new, old)]) for of in ("usd", "kw"))
    plain = np.array([fact("r1_gb300_no_draft_usd_per_million"), costs[1]])
    of_an_hour = rates * SECONDS_PER_HOUR
    rows = [
        ("tokens per second", rates, 1),
        ("dollars an hour", dollars, -1),
        ("kilowatts", power, -1),
        ("tokens of a dollar", of_an_hour / dollars, 1),
        ("tokens of a kWh", of_an_hour / power, 1),
        ("dollars a million tokens, as announced", costs, -1),
        ("dollars a million tokens, new without speculation", plain, -1),
    ]
    rows = [(words, *both, (both[0] / both[1]) ** sign) for words, both, sign in rows]
    return pd.DataFrame(rows, columns=["of one chip", new, old, "better by"])


def _in_public(request: str) -> pd.DataFrame:
    points = measured_points(SERVED, *REQUESTS[request])
    return points[points["source"] == "inferencemax2026"]


@search
def measured_rates(speeds: Sequence[float]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Rows for `choose` by request and chip: `tokens_per_s`, the most of one chip in public runs of
    GPT-OSS-120B at each speed per user [token/s]; NaN beyond the measured speeds.
    """
    found = {}
    for request, chip in product(REQUESTS, MEASURED):
        points = _in_public(request)
        slowest = points.loc[points["accelerator"] == chip, "interactivity"].min()
        rates = _at_speeds(points, chip, speeds)
        near = np.asarray(speeds) >= 0.9 * slowest
        found[request, chip] = {"tokens_per_s": np.where(near, rates, np.nan).tolist()}
    return found


@search
def measured_leads(speeds: Sequence[float]) -> dict[str, dict[str, float]]:
    """Rows for `choose` by request: how far Blackwell leads Hopper in public runs of GPT-OSS-120B,
    over all pairs of chips and all speeds per user at which all were measured.

    Columns: slow and fast, the ends of these speeds [token/s]; and low and high of the tokens of a
    chip (chip_low, chip_high), of a hyperscaler's dollar (usd_) and of a megawatt (kw_) [1].
    """
    found = {}
    for request in REQUESTS:
        points = _in_public(request)
        rates = {chip: _at_speeds(points, chip, speeds) for chip in MEASURED}
        slowest = points.groupby("accelerator")["interactivity"].min()
        common = np.asarray(speeds) >= slowest[list(HOPPER)].max()
        common &= np.isfinite(rates["H200 SXM"]) & np.isfinite(rates["GB200"])
        met = np.asarray(speeds)[common]
        row = {"slow": met.min(), "fast": met.max()}
        for kind in ("chip", "usd", "kw"):
            leads = [
                advantage(rates[new][common] / rates[old][common], *_uses(kind, new, old))
                for new, old in product(BLACKWELL, HOPPER)
            ]
            row |= {f"{kind}_low": np.nanmin(leads), f"{kind}_high": np.nanmax(leads)}
        found[request] = {name: float(value) for name, value in row.items()}
    return found


def _uses(kind: str, *chips: str) -> list[float]:
    return [1.0 if kind == "chip" else published_use(chip)[kind] for chip in chips]


def _vendors_tables() -> pd.DataFrame:
    """Output tokens per second of one chip at full load on GPT-OSS-120B, by shape of request and
    chip [token/s].
    """
    rows = table("measured/serving").query("model == @SERVED and source == 'tensorrtllm2025'")
    return rows.pivot_table(
        index=["input_tokens", "output_tokens"],
        columns="accelerator",
        values="measured_output_tokens_per_s_per_accelerator",
        aggfunc="max",
    )


@search
def full_load() -> pd.DataFrame:
    """How many times what an older chip does newer ones do on GPT-OSS-120B where nobody asks how
    fast a user sees tokens, and how many times its rent they take.

    Columns: compared, least, most (over shapes of requests, or rounds and scenarios) [1].
    """
    rates = _vendors_tables()
    rounds = [
        ratio
        for new, scenario in product(BLACKWELL, ("Offline", "Server"))
        for ratio in mlperf.matched(new, "H200 SXM", SERVED, scenario)["best"]
    ]
    rent = hour("B200").usd / hour("H200 SXM").usd
    spans = {
        "tokens of a B200 over an H200's, the vendor's tables": rates["B200"] / rates["H200 SXM"],
        "tokens of a B200 over an H100's, the vendor's tables": rates["B200"] / rates["H100 SXM"],
        "tokens of Blackwell over an H200's, MLPerf": pd.Series(rounds),
        "rent of a B200 over an H200's": pd.Series([rent]),
    }
    rows = [(words, float(of.min()), float(of.max())) for words, of in spans.items()]
    return pd.DataFrame(rows, columns=["compared", "least", "most"])


@lookup
def announced_sale() -> SimpleNamespace:
    """The vendor's example of a rack that earns back its price many times, on DeepSeek-R1.

    Returns
    -------
    tokens_per_s, years : of one chip, and how long all of them are sold [token/s], [year]
    usd_per_million : for what they are sold [USD / 1e6 token]
    return_on_investment : before any running cost [1]
    """
    rate, years = fact("nvl72_claimed_tokens_per_s"), fact("nvl72_claimed_years")
    revenue, investment = fact("nvl72_claimed_revenue_usd"), fact("nvl72_claimed_investment_usd")
    at_a_dollar = returns(investment, RACK_CHIPS * rate, 1.0, years, 1.0).sales_usd
    return SimpleNamespace(
        tokens_per_s=rate,
        years=years,
        usd_per_million=revenue / at_a_dollar,
        return_on_investment=revenue / investment - 1,
    )


@search
def two_cents() -> SimpleNamespace:
    """The vendor's price of a million tokens of GPT-OSS-120B on a B200.

    Returns
    -------
    launch, later : what it announced, two months apart [USD / 1e6 token]
    usd_per_hour : of a hyperscaler's own chip [USD/h]
    needed_tokens_per_s : for the later price at that hour [token/s]
    output_tokens_per_s : of the best public run with prompts and answers of 1K [token/s]
    with_prompts : those and the tokens of its prompts, as many [token/s]
    rack_grew : the announced maximum of a rack, from the launch to the vendor's later tables [1]
    """
    launch, later = (fact(f"vendor_gptoss_b200_{n}_usd_per_million") for n in ("launch", "later"))
    rack = RACK_CHIPS * _vendors_tables()["GB200"].max()
    points, usd = measured_points(SERVED, *REQUESTS["1K/1K"]), published_use("B200")["usd"]
    output = points.loc[points["accelerator"] == "B200", "tokens_per_s"].max()
    return SimpleNamespace(
        launch=launch,
        later=later,
        usd_per_hour=usd,
        needed_tokens_per_s=usd / later * 1e6 / SECONDS_PER_HOUR,
        output_tokens_per_s=output,
        with_prompts=2 * output,
        rack_grew=rack / fact("vendor_gptoss_nvl72_launch_tokens_per_s") - 1,
    )


@search
@shared
def published_beside_model() -> pd.DataFrame:
    """Published points of DeepSeek-R1, each chip with whatever drafts were best, beside the model
    of serving at the same speed per user.

    Columns: chip, format, tokens/s per user; output tokens per second of one chip: published,
    without drafts, with drafts (empty where the model is not as fast).
    """
    rows = table("measured/serving").query("source == 'inferencex2026compare'")
    beside = []
    for row in rows.itertuples():
        user = 1 / row.measured_tpot_s
        form = None if row.precision == "NVFP4" else "FP8"
        line = {"chip": row.accelerator, "format": row.precision, "tokens/s per user": user}
        line["published"] = row.measured_output_tokens_per_s_per_accelerator
        for words, drafts in (("without speculation", "none"), ("with speculation", "both")):
            points = serving_points(ANNOUNCED, *REQUESTS["1K/1K"], drafts, (row.accelerator,), form)
            line[words] = float(_at_speeds(points, row.accelerator, [user])[0])
        beside.append(line)
    return pd.DataFrame(beside).pipe(ordered, ["chip", "format", "tokens/s per user"])


# What a case of a vendor's claim pays: an hour of the newer and of the older chip, and what an
# API asks for the tokens that a rack sells


@dataclass(frozen=True)
class VendorPaid:
    """Prices of a case.

    newer, older : an hour of either chip, under the contract from the seller, or the reader's own
    seller, instead : from whom both are rented, see `Hours.seller_of_all`
    asked : the tokens of the model at the API's host, or at prices of the reader's own
    """

    newer: PaidHour
    older: PaidHour
    asked: PaidTokens
    seller: Any
    instead: Any

    @property
    def there(self) -> Any:
        """Whether both hours have a price."""
        return self.newer.there & self.older.there

    @property
    def why(self) -> Any:
        """Why one has none; empty where both have."""
        return where(self.newer.there, self.older.why, self.newer.why)

    @property
    def times(self) -> Any:
        """An hour of the newer chip over one of the older [1]."""
        return self.newer.usd / self.older.usd


@dataclass(frozen=True)
class VendorPrices:
    """What an hour of some chips costs, and the tokens of some models at an API."""

    hours: Hours
    hosts: Hosts
    releases: dict[str, str]

    @classmethod
    def of(cls, chips: Sequence[str], models: Sequence[str]) -> Self:
        """Those of some chips and models."""
        releases = {name: release(name) for name in models}
        return cls(Hours(chips), Hosts([*releases.values()]), releases)

    def paid(self, case: Any) -> VendorPaid:
        """The prices of a case: its own, or those under its contract, from its seller, at its
        host.
        """
        pair, own = (case.newer, case.older), (case.newer_usd_per_hour, case.older_usd_per_hour)
        seller, instead = self.hours.seller_of_all(pair, case.contract, case.seller, own)
        newer, older = (
            self.hours.paid(name, case.contract, seller, usd)
            for name, usd in zip(pair, own, strict=True)
        )
        asked = {kind: getattr(case, f"api_{kind}") for kind in ("input", "output")}
        return VendorPaid(
            newer,
            older,
            self.hosts.asked(
                look_up(self.releases, case.model),
                case.api_host,
                asked | {"cached": asked["input"]},  # no prompt is in a cache here
            ),
            seller,
            instead,
        )


# How far the newer of two chips leads the older one in a case, as quantities that follow it, and
# where over the speeds per user a claim on the lead holds


@dataclass(frozen=True)
class Lead:
    """Tokens of the newer chip over those of the older one, at one speed per user.

    tokens_per_s : of the newer chip [token/s]; NaN where it is not as fast
    per_chip, per_dollar, per_megawatt : times as many for the same use [1]; NaN where one of the
        two is not as fast
    """

    tokens_per_s: Any
    per_chip: Any
    per_dollar: Any
    per_megawatt: Any


@dataclass(frozen=True)
class OverSpeeds:
    """A lead over the speeds per user that both chips reach, as quantities that follow it.

    slow, slow_at : what it is at the slowest speed [1], and that speed [token/s]
    most, most_at : the most that it comes to [1], and the slowest speed at which it does [token/s]
    first, last : ends of the speeds at which a claim on it holds [token/s]; NaN if at none
    fastest : the fastest speed that both chips reach [token/s]
    """

    slow: Any
    slow_at: float
    most: Any
    most_at: Any
    first: Any
    last: Any
    fastest: Any


@dataclass(frozen=True)
class Usual:
    """What the usual engines of one node, or of one rack, do with the request of a case in its
    formats at its speed per user, as every price of a token in this book has it; beside it, the
    best of all layouts is a bound.

    newer, older : NaN where none is as fast
    newer_usd, older_usd : price of output tokens with their prompts at the rents and the
        utilization of the case [USD / 1e6 token]
    """

    newer: NodeSpeed
    older: NodeSpeed
    newer_usd: Any
    older_usd: Any

    @classmethod
    def of(cls, case: Any, paid: VendorPaid, chips: Sequence[str]) -> Self:
        """Those of a case of the chapter `vendor_claims` and what it pays; chips are those that may
        be chosen.
        """
        of, engines = choose(LENGTHS, case.request), Engines.of(MODELS, chips)
        load, demand = requests_of(UNKNOWN, of.prompt, of.answer), Demand.unknown()

        def speed(chip: Any, form: Any) -> NodeSpeed:
            return node_speed(engines, case.model, chip, form, load, case.speed, demand)

        def usd(rent: Any, served: NodeSpeed) -> Any:
            return usd_per_million_tokens(rent, served.tokens_per_s, case.utilization)

        newer = speed(case.newer, case.newer_precision)
        older = speed(case.older, case.older_precision)
        prices = usd(paid.newer.usd, newer), usd(paid.older.usd, older)
        return cls(newer, older, *prices)

    @property
    def per_chip(self) -> Any:
        """Tokens of the newer chip over those of the older one [1]."""
        return self.newer.tokens_per_s / self.older.tokens_per_s


LEAD = "lead of a chip"
"""What that input is called in a chart, beside the rents of the year ahead."""


@dataclass(frozen=True)
class LeadDoubts:
    """How sure a lead in cost is.

    choice : the newer or the older chip, by a million output tokens of an hour in full use [USD]
    claim : probability that the lead is as large as the claim [1]
    low, high : ends of the lead (90 %) [1]
    """

    choice: Choice
    claim: Any
    low: Any
    high: Any

    @classmethod
    def of(cls, case: Any, lead: Lead, paid: VendorPaid, errors: LeadErrors) -> Self:
        """Those of a case: a lead may be off as far as those that were measured, and rents move
        that neither a contract nor the reader fixes. The load is that of the same service on both.
        """
        own = case.newer_usd_per_hour, case.older_usd_per_hour
        rents = rents_apart(*(unfixed(case.contract, rent) for rent in own))
        spreads = {LEAD: spread_between(errors.low, errors.high), RENT: rents}
        times, moved = lead.per_dollar, exp(NINETY * rents)
        low, high = interval(
            lambda lead, rent: times * lead * rent,
            lead=(errors.low, 1.0, errors.high),
            rent=(1 / moved, 1.0, moved),
        )
        usd = usd_per_million_tokens(paid.newer.usd, lead.tokens_per_s, 1.0)
        choice = Choice(usd, usd * times, spreads)
        claim = probability_cheaper(usd * case.claimed, usd * times, choice.spread)
        return cls(choice, claim, low, high)


def over_speeds(lead: Any, speed: Any, speeds: Sequence[float], claimed: Any) -> OverSpeeds:
    """Where a lead that depends on the speed per user is greatest, and where a claim on it holds.

    Parameters
    ----------
    lead, speed : quantities, a lead [1] and the parameter on which it depends [token/s]
    speeds : to look at, the slowest first [token/s]
    claimed : how many times better the new chip is said to be [1]

    >>> from scaleright.quantity import given
    >>> speed = given("speed", 10.0)
    >>> found = over_speeds(speed / 2, speed, [10.0, 20.0, 80.0, 100.0], 10.0)
    >>> found.slow, found.most.value, found.most_at.value
    (5.0, 50.0, 100.0)
    >>> found.first.value, found.last.value
    (20.0, 100.0)
    """
    leads = {each: at(lead, **{parameter(speed) or "": each}) for each in speeds}

    def ends(least_lead: Any) -> tuple[Any, Any]:
        there = {each: where(of >= least_lead, each, np.nan) for each, of in leads.items()}
        _, slowest = least({f"{each}": found for each, found in there.items()})
        _, behind = least({f"{each}": -found for each, found in there.items()})
        return slowest, -behind

    _, behind = least({f"{each}": -of for each, of in leads.items()})
    slow, most = leads[speeds[0]], -behind
    return OverSpeeds(slow, speeds[0], most, ends(most)[0], *ends(claimed), ends(0.0)[1])
