"""MLPerf Training: chips, time, rent and energy of public training runs, how they scale, how busy
the chips were, and the best of them as quantities.

Results are compared by title, since two benchmarks changed their names between rounds. Cost,
energy, efficiency and model FLOP utilization (MFU) are derived by this book; none is an official
MLPerf metric.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from scaleright import catalog, market
from scaleright.formulas import COUNT, NON_NEGATIVE, POSITIVE, closed_form, lookup
from scaleright.market import Hours, PaidHour, unfixed, yearly_drift
from scaleright.names import nearest, one_of
from scaleright.ops import where
from scaleright.power import draw, energy_kwh
from scaleright.quantity import Table, least
from scaleright.quantity.rows import Row
from scaleright.transformer.flops import forward_flop, training_flop_per_token
from scaleright.units import SECONDS_PER_HOUR

RUN = {"time_s": NON_NEGATIVE, "accelerators": COUNT}
PEAKS = {"FP8": "fp8", "NVFP4": "fp4"}
"""The dense peak of the catalog that belongs to a format of the table."""
ALIKE = 1.0
"""How far two chips may lie apart, in sums of log ratios of peak, bandwidth and memory, for one's
rent to stand for the other's.
"""


@closed_form(**RUN)
def run_chip_hours(time_s, accelerators):
    """Accelerator-hours of a run [h].

    >>> run_chip_hours(600.0, 5400)
    900.0
    """
    return time_s / SECONDS_PER_HOUR * accelerators


@closed_form(**RUN, usd_per_hour=NON_NEGATIVE)
def run_cost_usd(time_s, accelerators, usd_per_hour):
    """Rent of a run's accelerators for just as long as it took [USD]; whole months, set-up and
    failed runs come on top.

    Parameters
    ----------
    time_s : time to train [s]
    accelerators : chips [1]
    usd_per_hour : rent of one of them [USD/h]

    >>> run_cost_usd(3600.0, 8, 2.5)
    20.0
    """
    return run_chip_hours(time_s, accelerators) * usd_per_hour


@closed_form(**RUN, watts=NON_NEGATIVE)
def run_energy_kwh(time_s, accelerators, watts):
    """Energy of a run's accelerators at their power limit, an upper bound for them [kWh]; host,
    network and building are apart.

    Parameters
    ----------
    time_s, accelerators : as in `run_cost_usd`
    watts : power limit (TDP) of one of them [W]

    >>> run_energy_kwh(3600.0, 1000, 700.0)
    700.0
    """
    return energy_kwh(run_chip_hours(time_s, accelerators), watts)


@closed_form(samples=POSITIVE, sequence=COUNT, tokens=POSITIVE)
def pretraining_share(samples, sequence, tokens):
    """Tokens that a benchmark run trains on, over those of the model's whole pretraining [1].

    Parameters
    ----------
    samples : samples until the benchmark's quality is reached [1]
    sequence : tokens of a sample [token]
    tokens : tokens of the pretraining [token]

    >>> f"{pretraining_share(326_400, 8192, 15.6e12):.5f}"
    '0.00017'
    """
    return samples * sequence / tokens


def _priced_as(chip: catalog.Accelerator) -> str | None:
    """Of which chip the rent is: the vendor's most alike one where nobody lists it on demand."""

    def apart(other: catalog.Accelerator) -> float:
        sizes = [(c.dense.get("bf16"), c.memory_bytes_per_s, c.memory_bytes) for c in (chip, other)]
        if not all(map(all, sizes)):
            return np.inf
        return sum(abs(np.log(a / b)) for a, b in zip(*sizes, strict=True))

    every = catalog.accelerators().values()
    kind = [c for c in every if (c.vendor, c.segment) == (chip.vendor, chip.segment)]
    alike = [c for c in sorted(kind, key=apart) if apart(c) < ALIKE and c.name != chip.name]
    names = (c.name for c in [chip, *alike])
    return next((name for name in names if market.recent_hour(name)), None)


@catalog.shared
def training_results() -> pd.DataFrame:
    """Every result, with what follows from it; cells are empty where the tables do not say.

    Columns beyond those of `mlperf_training` and of its benchmark: vendor, chip_hours [h], watts
    (power limit) [W], chips_kwh (at that limit) [kWh], priced_as (whose rent is its: that of a chip
    much alike where nobody lists this one on demand, empty where there is none).

    >>> runs = training_results()
    >>> bool((runs["chip_hours"] > 0).all())
    True
    """
    runs = catalog.table("mlperf_training").fillna({"flags": ""})
    about = catalog.table("mlperf_training_benchmarks").drop(columns=["source", "note", "sequence"])
    chips = {name: catalog.accelerator(name) for name in runs["accelerator"].unique()}
    facts = [(chip.vendor, chip.tdp_watts or np.nan, _priced_as(chip)) for chip in chips.values()]
    facts = pd.DataFrame(facts, index=[*chips], columns=["vendor", "watts", "priced_as"])
    runs = runs.merge(about, on="benchmark").join(facts, on="accelerator")
    time, count = runs["time_to_train_s"].to_numpy(), runs["accelerators"].to_numpy(dtype=float)
    runs["chip_hours"] = run_chip_hours(time, count)
    powered = runs["watts"].notna()
    runs.loc[powered, "chips_kwh"] = run_energy_kwh(
        time[powered], count[powered], runs.loc[powered, "watts"].to_numpy()
    )
    return runs


def rented(runs: pd.DataFrame, contract: str = "on demand", seller: str = "median") -> pd.DataFrame:
    """Runs that could be rented so, and what they would cost at today's rents, for just as long as
    they took.

    Parameters
    ----------
    runs : rows of `training_results`
    contract, seller : as of `market.hour`

    Columns beyond those of the rows: usd_per_hour [USD/h], cost_usd [USD].

    >>> some = rented(training_results())
    >>> bool((some["cost_usd"] == some["chip_hours"] * some["usd_per_hour"]).all())
    True
    """
    names = runs["priced_as"].dropna().unique()
    hours = {name: market.listed_hour(name, contract, seller) for name in names}
    usd = {name: hour.usd for name, hour in hours.items() if hour}
    runs = runs[runs["priced_as"].isin(usd)]
    rent = runs["priced_as"].map(usd)
    return runs.assign(usd_per_hour=rent, cost_usd=runs["chip_hours"] * rent)


@catalog.remembered
def benchmark_results(benchmark: str, round: str | None = None) -> pd.DataFrame:
    """Results of one benchmark, fastest first, in one round or in all; rows kept in doubt are left
    out.

    Parameters
    ----------
    benchmark : title, or key of any of its rounds
    round : "v5.1" ...

    Raises
    ------
    LookupError : unknown benchmark, or a round in which nobody ran it.

    >>> int(benchmark_results("gpt3")["accelerators"].iloc[0])
    11616
    """
    runs = training_results()
    titles = dict(zip(runs["benchmark"], runs["title"], strict=True))
    titles |= dict(zip(runs["title"], runs["title"], strict=True))
    asked = runs["title"] == titles.get(benchmark, benchmark)
    runs = runs[asked & ~_flagged(runs, "implausible")]
    if runs.empty:
        nearest(benchmark, titles, "benchmark of MLPerf Training")
    rounds = sorted(runs["round"].unique())
    if round is not None and round not in rounds:
        raise LookupError(
            f"nobody ran {benchmark} in round {round!r}; allowed: {', '.join(rounds)}"
        )
    chosen = runs if round is None else runs[runs["round"] == round]
    return chosen.sort_values(["time_to_train_s", "round", "system"], ignore_index=True)


def _flagged(runs: pd.DataFrame, flag: str) -> pd.Series:
    return runs["flags"].str.contains(flag)


def strong_scaling() -> pd.DataFrame:
    """The same benchmark on more of the same chips, of one submitter in one round, beside its
    smallest system.

    Larger systems train with larger batches, and those need more samples to reach the quality. What
    is left of the speed of a chip, `efficiency` (chip-hours of the smaller over those of the
    larger), is therefore `throughput_efficiency` (samples per second and chip, larger over smaller)
    over `samples_penalty` (samples to converge, larger over smaller, both as the rules scale them);
    the two are empty where samples are not logged.

    Returns
    -------
    title, accelerator, round, submitter, chips and chips_large, minutes and minutes_large, batch
    and batch_large, speedup, efficiency, throughput_efficiency, samples_penalty.

    >>> rows = strong_scaling().query(
    ...     "title == 'Llama-3.1-405B' and accelerator == 'GB200' and round == 'v5.1'")
    >>> rows[["chips", "chips_large", "efficiency"]].round(2).values.tolist()
    [[512, 2560, 0.9], [512, 5120, 0.85]]
    """
    runs = training_results()
    group = ["title", "accelerator", "round", "submitter"]
    ranked = runs[~_flagged(runs, "implausible")].sort_values("time_to_train_s", kind="stable")
    best = ranked.drop_duplicates([*group, "accelerators"]).sort_values([*group, "accelerators"])
    best = best.assign(
        minutes=best["time_to_train_s"] / 60, samples=best["samples_to_converge"] * best["scaling"]
    )
    columns = {
        "accelerators": "chips",
        "minutes": "minutes",
        "global_batch": "batch",
        "samples": "samples",
        "chip_hours": "hours",
    }
    best = best[[*group, *columns]].rename(columns=columns)
    pairs = best.drop_duplicates(group).merge(best, on=group, suffixes=("", "_large"))
    pairs = pairs[pairs["chips_large"] > pairs["chips"]].reset_index(drop=True)
    penalty = pairs["samples_large"] / pairs["samples"]
    efficiency = pairs["hours"] / pairs["hours_large"]
    sizes = [of for name in ("chips", "minutes", "batch") for of in (name, f"{name}_large")]
    found = pairs[[*group, *sizes]].assign(speedup=pairs["minutes"] / pairs["minutes_large"])
    found = found.assign(efficiency=efficiency, throughput_efficiency=efficiency * penalty)
    return found.assign(samples_penalty=penalty)


def training_gains(kind: str, benchmark: str | None = None) -> pd.DataFrame:
    """How much faster as many chips became: newer chips in the same round, or the same chips in a
    later round.

    The fastest result counts on either side, at every number of chips that both have. A newer chip
    is one of the same vendor, released later, with a peak no lower; runs that were handed in again
    are no progress and left out.

    Parameters
    ----------
    kind : "chip" or "software"

    Returns
    -------
    title, vendor, before and after (chips or rounds) with the round or the chip that stays,
    accelerators, minutes_before, minutes_after, gain (old over new time).

    Raises
    ------
    LookupError : another kind, or as `benchmark_results`.

    >>> rows = training_gains("chip", "llama31_405b").set_index(["before", "after", "round",
    ...     "accelerators"])
    >>> round(float(rows.loc[("H100 SXM", "GB200", "v5.0", 512), "gain"]), 2)
    2.22
    """
    across = {"chip": ("accelerator", "round"), "software": ("round", "accelerator")}
    changed, kept = across[one_of(kind, across, "kind of gain")]
    runs = training_results() if benchmark is None else benchmark_results(benchmark)
    runs = runs[~_flagged(runs, "implausible") & ~_flagged(runs, "repeated")]
    chips = {name: catalog.accelerator(name) for name in runs["accelerator"].unique()}
    peak = runs["accelerator"].map(lambda name: chips[name].dense.get("bf16", 0.0))
    order = runs[changed].map(lambda of: chips[of].released if of in chips else of)
    runs = runs.assign(order=order, peak=peak, minutes=runs["time_to_train_s"] / 60)
    same = ["title", "vendor", kept, "accelerators"]
    best = runs.sort_values("minutes", kind="stable").drop_duplicates([*same, changed])
    best = best[[*same, changed, "order", "peak", "minutes"]].dropna()
    pairs = best.merge(best, on=same, suffixes=("_before", "_after"))
    later = pairs["order_before"] < pairs["order_after"]
    pairs = pairs[later & (pairs["peak_before"] <= pairs["peak_after"])]
    pairs = pairs.assign(gain=pairs["minutes_before"] / pairs["minutes_after"])
    pairs = pairs.filter(regex="^(?!order|peak)")
    pairs = pairs.rename(columns={f"{changed}_before": "before", f"{changed}_after": "after"})
    return pairs.sort_values(["title", kept, "before", "after", "accelerators"], ignore_index=True)


@dataclass(frozen=True)
class ImpliedMfu:
    """How busy a run kept each chip, or the reason why its row does not say.

    from_samples_flops, from_log_flops : model FLOP/s of a chip, by samples over the time of the
        runs (evaluation and start-up included, so a lower bound of what training sustains) and by
        the throughput that the runs logged
    precision : format of the matrix products that the vendor states, None where nobody does
    mfu : the higher of the two over the dense peak of that format; bf16_ratio : the same over the
        BF16 peak, which arithmetic in smaller formats may exceed
    """

    from_samples_flops: float | None = None
    from_log_flops: float | None = None
    precision: str | None = None
    mfu: float | None = None
    bf16_ratio: float | None = None
    reason: str = ""


def implied_mfu(row: Any) -> ImpliedMfu:
    """What a row of `training_results` implies of the utilization of its chips.

    Model FLOP are those of the benchmark's shape at its sequence length, causal attention counted
    as its mean; what is computed again to save memory does not count. Where weights are frozen
    their gradient does not count either.

    >>> mfu = implied_mfu(record("llama31_405b", "v5.0"))
    >>> mfu.precision, round(mfu.mfu, 2)
    ('FP8', 0.37)
    """
    shape = catalog.models(own=False).get(row["model"])
    if shape is None:
        return ImpliedMfu(reason="no Transformer of known shape")
    if pd.isna(row["sequence"]):
        return ImpliedMfu(reason="tokens of a sample are not determined")
    shape = shape if pd.isna(row["vocab"]) else replace(shape, vocab=int(row["vocab"]))
    forward = forward_flop(shape, float(row["sequence"]))
    frozen = forward.total - forward.scores_and_values_flop if row["start"] == "adapter" else 0.0
    flop = training_flop_per_token(forward.total, frozen_flop=frozen) / row["accelerators"]
    rates: dict[str, Any] = {}
    if not pd.isna(row["samples_to_converge"]):
        tokens = row["samples_to_converge"] * row["sequence"]
        rates["from_samples_flops"] = float(flop * tokens / row["unscaled_time_s"])
    if not pd.isna(row["logged_throughput"]):
        tokens = 1 if row["logged_throughput_unit"] == "token/s" else row["sequence"]
        rates["from_log_flops"] = float(flop * row["logged_throughput"] * tokens)
    if not rates:
        return ImpliedMfu(reason="neither samples to converge nor a throughput is logged")
    peaks = catalog.accelerator(row["accelerator"]).dense
    ratios = {name: max(rates.values()) / peak for name, peak in peaks.items()}
    form, rates["bf16_ratio"] = row["precision"], ratios.get("bf16")
    if pd.isna(form):
        return ImpliedMfu(**rates, reason="nobody states the number format")
    return ImpliedMfu(**rates, precision=form, mfu=ratios.get(PEAKS[form]))


LEAST = MappingProxyType(
    {"time": "time_to_train_s", "chip-hours": "chip_hours", "energy": "chips_kwh"}
)
"""What a run may take the least of, and its column of `training_results`."""
RENT = "rent"
"""What else it may: that follows who is paid, and how."""
MEASURES = ("time", "chip-hours", RENT, "energy")
ALL_ROUNDS = "all"
ABSENT = "nobody ran it in this round"


def record(benchmark: str, round: str | None = None, least: str = "time_to_train_s") -> pd.Series:
    """The result with the least of something: time, `chip_hours` or `chips_kwh`, where that is
    known.

    Raises
    ------
    LookupError : as `benchmark_results`, or nobody's is known.

    >>> int(record("llama31_405b")["accelerators"]), round(
    ...     float(record("llama31_405b")["time_to_train_s"]) / 60, 2)
    (5120, 9.99)
    """
    known = benchmark_results(benchmark, round).dropna(subset=least)
    if known.empty:
        raise LookupError(f"no result of {benchmark} has a known {least}")
    return known.sort_values(least, kind="stable").iloc[0]


def _row(run: pd.Series) -> dict[str, Any]:
    """A run as a row of `best_runs`."""
    name, powered = run["accelerator"], run["watts"] > 0
    return {
        "seconds": float(run["time_to_train_s"]),
        "chips": int(run["accelerators"]),
        "chip": name,
        "watts": run["watts"],
        "drawn_watts": draw(name, "training").busy_watts if powered else nan,
        "submitter": run["submitter"],
        "round": run["round"],
        "priced_as": run["priced_as"] if isinstance(run["priced_as"], str) else "",
    }


@catalog.remembered
def best_runs() -> Mapping[tuple[str, str, str], Mapping[str, Any]]:
    """The `record` of each benchmark, round (or all) and measure of `LEAST`, and of each chip that
    somebody rents out the run with the fewest chip-hours: seconds, chips, chip, watts (power limit)
    and drawn_watts (in training, with its share of server and network, see `power.draw`) [W],
    submitter, round, priced_as (whose rent is its).

    >>> best_runs()["GPT-3 175B", "all", "time"]["chips"]
    11616
    """
    found = {}
    for title, rows in training_results().groupby("title"):
        for name in (ALL_ROUNDS, *sorted(rows["round"].unique())):
            in_round = None if name == ALL_ROUNDS else name
            for measure, column in LEAST.items():
                found[title, name, measure] = _row(record(title, in_round, column))
            runs = benchmark_results(title, in_round).sort_values("chip_hours", kind="stable")
            runs = runs[
                runs["priced_as"] == runs["accelerator"]
            ]  # a rent of another chip decides nothing
            for _, run in runs.drop_duplicates("accelerator").iterrows():
                found[title, name, run["accelerator"]] = _row(run)
    return found


class Spent(NamedTuple):
    """What a run took; energy, a bound, is of the chips alone.

    chip_hours : [h]
    rent, rent_low, rent_high : at the price of the hour, and at its ends in the year ahead [USD]
    energy, meter_kwh : of the chips at their power limits, and at the meter [kWh]
    """

    chip_hours: Any
    rent: Any
    rent_low: Any
    rent_high: Any
    energy: Any
    meter_kwh: Any


@dataclass(frozen=True)
class Best:
    """The best run of a case of quantities.

    asked : whether anybody ran the benchmark in the round that is asked for [truth value]
    shown : that round, or all where nobody did
    measure : what runs are compared in, the one that is asked for, or time where none has a rent
    run : a row of `best_runs`
    hour : what an hour of its chip costs
    why : why there is no such run with a rent, in words; empty where there is one
    instead : that all sellers count, since the one asked for does not rent it out; else empty
    """

    asked: Any
    shown: Any
    measure: Any
    run: Row
    hour: PaidHour
    why: Any
    instead: Any


@lookup
def rent_ahead(contract: Any) -> tuple[Any, Any]:
    """5th and 95th percentile of the rent of the year ahead under a contract, over today's [1].

    >>> rent_ahead("one year")
    (1.0, 1.0)
    """
    low, high = yearly_drift().mean_over(1.0)
    loose = unfixed(contract, 0.0)
    return where(loose, low, 1.0), where(loose, high, 1.0)


class Records:
    """The `best_runs` and what an hour of their chips costs, for quantities."""

    def __init__(self) -> None:
        self.chips = sorted({run["priced_as"] for run in best_runs().values()} - {""})
        self.hours = Hours(self.chips)

    @cached_property
    def _runs(self) -> Table:
        return Table(best_runs(), otherwise=ABSENT)

    def _cheapest(self, case: Any, in_round: Any) -> Any:
        """The chip whose run has the least rent."""
        runs = {chip: self._runs.row(case.benchmark, in_round, chip) for chip in self.chips}
        rents = {
            chip: run_cost_usd(
                run.seconds, run.chips, self.hours.paid(chip, case.contract, case.seller).usd
            )
            for chip, run in runs.items()
        }
        return least(rents)[0]

    def best(self, case: Any) -> Best:
        """The best run of a case: benchmark, round, measure (of `MEASURES`), contract and seller.

        >>> from types import SimpleNamespace as N
        >>> case = N(benchmark="GPT-3 175B", round="v5.1", measure="rent", contract="on demand")
        >>> best = records().best(N(**vars(case), seller="median"))
        >>> best.asked.value, best.shown.value, best.run.chips.value < 2000
        (False, 'all', True)
        """
        asked = self._runs.row(case.benchmark, case.round, "time").there
        shown = where(asked, case.round, ALL_ROUNDS)
        kind = where(case.measure == RENT, self._cheapest(case, shown), case.measure)
        run = self._runs.row(case.benchmark, shown, kind)
        asked_of = [run.priced_as], case.contract, case.seller, [0.0]
        seller, instead = self.hours.seller_of_all(*asked_of)
        hour = self.hours.paid(run.priced_as, case.contract, seller)
        unsold = "of the chips that ran it none has a price " + case.contract
        who = where(case.seller == "median", "", " of such a seller (" + case.seller + ")")
        measure = where(run.there, case.measure, "time")
        why = where(run.there, hour.why, unsold + who)
        return Best(asked, shown, measure, run, hour, why, where(run.there, instead, ""))


@catalog.remembered
def records() -> Records:
    """Those of all benchmarks."""
    return Records()
