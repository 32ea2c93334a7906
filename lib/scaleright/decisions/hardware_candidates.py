"""The chips among which to choose: what each can do, what an hour of it costs rented or owned, and
who offers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from typing import Any, Self

import pandas as pd

from scaleright import catalog
from scaleright.architecture import Transformer, chosen
from scaleright.catalog import accelerators, model, shared
from scaleright.costs.fastest_steps import MODELS, PRECISIONS, SIZES
from scaleright.costs.owned_hours import OwnedHour, owned_rows
from scaleright.costs.platform_terms import trust
from scaleright.costs.training_fleet import kept_on_all, left_out
from scaleright.costs.whole_runs import BEST_QUARTER, TUNINGS, TYPICAL, as_tuned
from scaleright.formulas import lookup, search
from scaleright.inference.demand import Demand, requests_of
from scaleright.inference.engine_tables import engines_in
from scaleright.inference.formats import FORMATS, USUAL, released_in
from scaleright.inference.lengths import Load
from scaleright.inference.node_speed import Engines
from scaleright.inference.nodes import fastest
from scaleright.information import spread_between
from scaleright.market import Hours, PaidHour, matmul_chips, recent_hour, spread
from scaleright.names import one_of
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.order import name_of_greatest
from scaleright.quantity import choose
from scaleright.training.layout import training_format
from scaleright.transformer import bytes_per_parameter, parameters, weight_bytes
from scaleright.units import figure, figures

ENDS = ("usd", "low", "high")


@dataclass(frozen=True)
class ChipHour:
    """Price of one chip for every hour of a service [USD/h].

    usd, low, high : what it is, and the ends of it: of an owned one as of `OwnedHour`; a rent
        has none, since whom to pay is chosen
    apart : standard deviation of the logarithm of its ratio to another chip's, see
        `OwnedHour.apart`; 0 of a rent [1]
    there : whether it has one [truth value]
    age : of which days it is, in words
    listed_usd : what its hour costs on demand, or owned
    """

    usd: Any
    low: Any
    high: Any
    apart: Any
    there: Any
    age: Any
    listed_usd: Any

    @classmethod
    def of(cls, chip: Mapping[str, Any], paid: PaidHour, owned: OwnedHour, own: Any) -> Self:
        """That of owning it, or of what is paid for its rent.

        Parameters
        ----------
        chip : a row of `candidates`
        own : whether it is bought
        """
        return cls(
            **{end: where(own, getattr(owned, end), paid.usd) for end in ENDS},
            apart=where(own, owned.apart, 0.0),
            there=where(own, True, paid.there),
            age=where(own, chip["sold"] + " (price of a chip)", paid.age + " (rents)"),
            listed_usd=where(own, owned.usd, chip["rent_usd_per_hour"]),
        )


def candidates(vendor: str = "all", segment: str = "any", least_providers: int = 1) -> pd.DataFrame:
    """Chips with a recent rent and all that the roofline needs, by name.

    Parameters
    ----------
    vendor : one vendor, or "all"
    segment : "data center", "consumer" ..., or "any"
    least_providers : how many must list a chip [1]

    Columns: vendor, segment, those of `market.matmul_chips`, scale_up_bytes_per_s (0 if unknown),
    joined (chips that this fabric joins), measured (whether a matmul was), watts, rent_usd_per_hour
    on demand, providers that list it; as_of and sold, in words of which days its rent and its price
    are; bought (whether the catalog has a price and a power of it).

    Raises
    ------
    LookupError : no such vendor or segment among the chips with a recent rent, or nothing that so
        many providers list.

    >>> bool((candidates(vendor="AMD")["vendor"] == "AMD").all())
    True
    """
    every = frame = _candidates()
    for column, wanted, everything in (("vendor", vendor, "all"), ("segment", segment, "any")):
        if wanted != everything:
            known = [everything, *sorted(set(every[column]))]
            one_of(wanted, known, f"{column} of chips with a recent rent")
            frame = frame[frame[column] == wanted]
    if frame.empty:
        has = ", ".join(sorted(set(every[every["vendor"] == vendor]["segment"])))
        raise LookupError(f"no {vendor} {segment} chip has a recent rent; {vendor} has: {has}")
    listed = frame[frame["providers"] >= least_providers]
    if listed.empty:
        most = frame["providers"].max()
        raise LookupError(
            f"no such chip is listed by {least_providers} providers or more;"
            f" {name_of_greatest(frame['providers'])} is by {most}"
        )
    return listed.copy()


def offered(vendor: str, segment: str, least_providers: int) -> pd.DataFrame:
    """`candidates` of a vendor and a kind; all of them where there are none.

    >>> len(offered("AMD", "workstation", 1)) == len(candidates())
    True
    """
    try:
        return candidates(vendor, segment, least_providers)
    except LookupError:
        return candidates()


def named() -> pd.DataFrame:
    """Every candidate by name; columns: chip, vendor, segment.

    >>> named().set_index("chip").loc["H100 SXM", "vendor"]
    'NVIDIA'
    """
    return candidates().rename_axis("chip").reset_index()[["chip", "vendor", "segment"]]


def considered(chip: Mapping[str, Any], vendor: Any, segment: Any, least: Any, own: Any) -> Any:
    """Whether a chip is among those to choose from: a quantity, as its arguments may be.

    Parameters
    ----------
    chip : a row of `candidates`
    vendor, segment, least : as in `candidates`
    own : whether it is bought, so that it has to be for sale

    >>> from scaleright.quantity import choose, given
    >>> chip = choose(candidate_rows(), given("chip", "H100 SXM"))
    >>> considered(chip, given("vendor", "AMD"), "any", 1, False).value
    False
    """
    kind = ((vendor == "all") | (chip["vendor"] == vendor)) & (
        (segment == "any") | (chip["segment"] == segment)
    )
    return kind & (chip["providers"] >= least) & (where(own, chip["bought"], 1) > 0)


@shared
def candidate_rows() -> dict[str, dict[str, Any]]:
    """`candidates` by name, for `choose`.

    >>> candidate_rows()["H100 SXM"]["vendor"]
    'NVIDIA'
    """
    found = candidates()
    return found.assign(bought=found["bought"].astype(int)).to_dict("index")


SLOTS = 8.0
"""PCIe cards that a server takes."""


@shared
def _candidates() -> pd.DataFrame:
    """Every candidate."""
    catalog, providers = accelerators(), spread().groupby("accelerator").size()
    rows = {}
    for name, spec in matmul_chips().items():
        if not (listed := recent_hour(name)):
            continue
        chip = catalog[name]
        rows[name] = {
            "vendor": chip.vendor,
            "segment": chip.segment,
            **spec,
            "scale_up_bytes_per_s": chip.scale_up_bytes_per_s or 0.0,
            "joined": chip.scale_up_chips or (SLOTS if chip.form == "PCIe" else 1.0),
            "measured": "bf16" in chip.measured,
            "watts": chip.tdp_watts,
            "rent_usd_per_hour": listed.usd,
            "providers": int(providers.get(name, 1)),
            "as_of": listed.age,
            "sold": chip.purchase_age or "none",
            "bought": bool(chip.purchase_usd and chip.tdp_watts),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("accelerator")
    numbers = frame.select_dtypes(float)
    return frame.assign(**numbers.map(figure))


# How fast one kind of chip trains a model at the pace that is asked for, by the steps with which
# the cost of pretraining is counted


NOT_FOUND = "no layout of it was found beforehand: ask for it on the command line"
"""Why a model has no row: a search cannot follow the controls of a page."""
NAN = float("nan")
Rows = Mapping[tuple[str, str, str], Mapping[str, Any] | str]


@shared
def training_rows(models: tuple[str, ...], own: str = "") -> Rows:
    """What a chip of each candidate trains on in a second of a whole run, in a cluster of each of
    `SIZES` and by how well it is tuned (`typical at 256`) [token/s], by model, format and chip, for
    `choose`; why there is none on chips that no cluster is built of. The batch is that with which
    so many come to the same loss for least in a run of `training_fleet.TOKENS`.

    Models that do not have the shape of one of `fastest_steps.MODELS` are left out, but `own`.

    Returns
    -------
    beside the speeds: off : standard deviation of the logarithm of measured over predicted time of
    steps; quick, slow : that, nine of ten [1]; seen : whether runs of the chip's architecture were
    measured; basis : of both, in words

    >>> rows = training_rows(("Llama-3.1-8B",))
    >>> rows["Llama-3.1-8B", "BF16", "H100 NVL"]
    'how its servers are joined is not in the tables'
    """
    rows: dict[tuple[str, str, str], Mapping[str, Any] | str] = {}
    why, trusted = left_out(), trust()
    for name in models:
        shape = model(name)
        if shape.name not in MODELS and name != own:
            continue
        kind = "experts" if shape.experts else "dense"
        for form in PRECISIONS:
            found = {of: kept_on_all(shape.name, form, of) for of in TUNINGS}
            for chip in candidate_rows():
                if chip in why:
                    rows[name, form, chip] = why[chip]
                    continue
                of = trusted[kind, chip, form]
                ends = of["error_low"], of["error_high"]
                sure = {"off": spread_between(*ends), "quick": ends[0], "slow": ends[1]}
                rows[name, form, chip] = {
                    f"{of} at {n}": figure(speeds.get((chip, n), NAN), 6)
                    for of, speeds in found.items()
                    for n in SIZES
                } | {**figures(sure), "seen": of["seen"], "basis": of["basis"]}
    return rows


@dataclass(frozen=True)
class TrainingSpeed:
    """A model's training on one kind of chip.

    tokens_per_s : trained on by one chip, over a whole run [token/s]
    group : chips of the smallest cluster that keeps the pace; 1 where none does
    runs : whether one does [truth value]
    low, high : bounds of real over counted speed [1]
    off : see `training_rows`; what whole runs take beyond is alike on every chip
    fitted : 1 where runs of the chip's architecture were fitted, else 0
    basis : of the bounds, in words
    """

    tokens_per_s: Any
    group: Any
    runs: Any
    low: Any
    high: Any
    off: Any
    fitted: Any
    basis: Any


@lookup
def training_speed(
    rows: Rows, name: Any, chip: Any, precision: Any, tokens_per_s: Any, tuning: Any = TYPICAL
) -> TrainingSpeed:
    """A model's training on a kind of chip in the smallest cluster that trains on so many tokens a
    second, of `SIZES`; quantities.

    Parameters
    ----------
    rows : of `training_rows`

    >>> rows = training_rows(("Llama-3.1-8B",))
    >>> int(training_speed(rows, "Llama-3.1-8B", "H100 SXM", "BF16", 2e5).group.value)
    64
    """
    row = choose(rows, name, precision, chip, otherwise=NOT_FOUND)
    speeds = {
        n: where(tuning == BEST_QUARTER, *(row[f"{of} at {n}"] for of in (BEST_QUARTER, TYPICAL)))
        for n in SIZES
    }
    quick = {n: speed * n >= tokens_per_s for n, speed in speeds.items()}
    pace = first_case([(quick[n], speed) for n, speed in speeds.items()], NAN)
    return TrainingSpeed(
        tokens_per_s=pace,
        group=first_case([(keeps, n) for n, keeps in quick.items()], 1),
        runs=pace > 0,
        low=1 / maximum(row.slow, as_tuned(tuning, lambda runs: runs.high)),
        high=1 / minimum(row.quick, as_tuned(tuning, lambda runs: runs.low)),
        off=row.off,
        fitted=where(row.seen, 1, 0),
        basis=row.basis,
    )


@search
def require_pace(
    name: str, precision: str, chips: Iterable[str], tokens_per_s: float, tuning: str = TYPICAL
) -> None:
    """Refuse a pace that no cluster of some chips trains a model at.

    Raises
    ------
    ValueError : with the fastest, or that none of the chips makes a cluster.

    >>> require_pace("Llama-3.1-8B", "BF16", ["H100 SXM"], 1e5)
    """
    rows, form = training_rows((name,), name), training_format(model(name), precision)
    clusters = [(chip, rows[name, form, chip]) for chip in chips]
    paces = {
        (chip, n): n * row[f"{tuning} at {n}"]
        for chip, row in clusters
        if not isinstance(row, str)
        for n in SIZES
        if row[f"{tuning} at {n}"] > 0
    }
    if not paces:
        raise ValueError(f"no cluster of these chips trains {name}; admit other chips")
    (chip, n), most = max(paces.items(), key=lambda of: of[1])
    if most < tokens_per_s:
        raise ValueError(
            f"tokens_per_s = {tokens_per_s:g}: no cluster of these chips trains {name} so fast;"
            f" nearest: {most:,.0f}, on {n:,} {chip}"
        )


# What the choice of a chip chooses from: candidates, their engines, and the shapes of models, as
# rows for `choose`


@lookup
def serving_chips() -> tuple[str, ...]:
    """The candidates that the model of serving knows: its engines run on GPUs.

    >>> "H100 SXM" in serving_chips()
    True
    """
    known = catalog.accelerators()
    return tuple(name for name in candidate_rows() if known[name].kind == "GPU")


@lookup
def one_seller(name: str) -> bool:
    """Whether a candidate is a card in slots that a single seller lists: too thin a market for a
    comparison to rest on where nobody asks for it.

    >>> one_seller("L4"), one_seller("L40S"), one_seller("MI350X")
    (True, False, False)
    """
    return catalog.accelerators()[name].form == "PCIe" and candidate_rows()[name]["providers"] == 1


@lookup
def served_on() -> tuple[str, ...]:
    """The accelerators that chapters on serving compare where none is named, the newest first:
    `serving_chips` but those of `one_seller`.

    >>> served_on()[:2], "L4" in served_on()
    (('MI350X', 'B300'), False)
    """
    known, names = catalog.accelerators(), sorted(serving_chips())
    wide = [name for name in names if not one_seller(name)]
    return tuple(sorted(wide, key=lambda of: known[of].released or date.min, reverse=True))


def candidate_engines(models: Sequence[str], formats: Sequence[str] = FORMATS) -> Engines:
    """The engines of models on every candidate, in the usual format and in some; why there are none
    on those that the model of serving does not know.

    >>> engines = candidate_engines(("Llama-3.1-8B",))
    >>> engines.rows.row("Llama-3.1-8B", "H100 SXM", "usual")["chips 0"].value
    1.0
    """
    chips = serving_chips()
    others = [name for name in candidate_rows() if name not in chips]
    return Engines.of(models, chips, formats, dict.fromkeys(others, "no engine of it is known"))


def serves(model: str, chip: str, precision: str, load: Load, pace: float) -> bool:
    """Whether an engine of one node of a chip gives each reader so many tokens a second.

    >>> serves("Llama-3.3-70B", "H100 SXM", "usual", Load(2000, 500), 30.0)
    True
    """
    _, known = engines_in(model, chip, precision)
    return bool(known) and bool(fastest(known, load, 1 / pace).kept)


@dataclass(frozen=True)
class HardwareTables:
    """Rows by what is chosen.

    engines : by model, candidate and format
    chips : by candidate, see `hardware_candidates.candidates`
    trained : by model, format and candidate, see `training_rows`
    hours : what an hour of each candidate costs under every contract
    owned : what owning it takes, by candidate and setting, see `owned_hours.owned_terms`
    models : shapes by name
    """

    engines: Engines
    chips: Mapping[str, Mapping[str, Any]]
    trained: Rows
    hours: Hours
    owned: Mapping[tuple[str, str], Mapping[str, Any]]
    models: Mapping[str, Transformer]

    @classmethod
    def of(cls, models: Sequence[str], trained: str = "") -> Self:
        """Those of some models.

        trained : one whose training is asked for, see `training_rows`

        >>> tables = HardwareTables.of(("Llama-3.1-8B",))
        >>> tables.least("Llama-3.1-8B", "H100 SXM", "usual").value
        1.0
        """
        shapes = {name: catalog.model(name) for name in models}
        chips, rows = candidate_rows(), training_rows(tuple(models), trained)
        hours, owned = Hours([*chips]), owned_rows(tuple(chips))
        return cls(candidate_engines(models), chips, rows, hours, owned, shapes)

    def demand(self, case: Any, contract: Any = None) -> Demand:
        """The traffic of a case, of which training has none.

        contract : under which it is rented, the case's by default
        """
        contract = case.contract if contract is None else contract
        found = Demand.of(case, contract, case.paid == "own")
        return replace(found, known=found.known & (case.task != "training"))

    def peak(self, case: Any) -> Any:
        """Tokens in a second of the busiest time [token/s]: of the traffic, or as set."""
        demand = self.demand(case)
        load = requests_of(case.traffic, case.input_tokens, case.output_tokens, case.cached_share)
        return where(demand.known, demand.peak_tokens_per_s(load), case.tokens_per_s)

    def mean_over_peak(self, case: Any) -> Any:
        """Tokens of a day over those if all of it were busiest [1]."""
        return where(self.demand(case).known, 1 / case.peak_to_mean, case.utilization)

    def shape(self, model: Any) -> Transformer:
        """The shape of a model, whose fields follow the choice."""
        return chosen(self.models, model)

    def owned_hour(self, chip: Any, setting: Any, training: Any, utilization: Any) -> OwnedHour:
        """What an hour of a chip costs that is bought and stands in a setting."""
        return OwnedHour.of(choose(self.owned, chip, setting), training, utilization)

    def least(self, model: Any, chip: Any, precision: Any) -> Any:
        """Chips of the smallest engine that serves a model in a format [1]."""
        return self.engines.rows.row(model, chip, precision)["chips 0"]

    def weights(self, model: Any, precision: Any) -> Any:
        """Weights of a model in a format [B]; usually in eight bits, or in the four of its
        release.
        """
        sizes = {}
        for (name, shape), form in product(self.models.items(), (USUAL, *FORMATS)):
            stored = form
            if form == USUAL:
                released = released_in(shape)
                stored = "FP8" if released == "BF16" else released
            count = parameters(shape).total
            sizes[name, form] = {"bytes": weight_bytes(count, bytes_per_parameter(stored))}
        return choose(sizes, model, precision).bytes
