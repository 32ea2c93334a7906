"""What runs where: a machine at work in a place, for `efficiency` to rate, and the tables of
chips and of measured operating points from which it is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import accelerator, accelerators, model, remembered
from scaleright.costs.price_performance import joules_per_tflop
from scaleright.costs.serving import LOAD, load_spread
from scaleright.decisions.hardware_choice import follows_rule
from scaleright.footprint import (
    Footprint,
    Machine,
    Place,
    busy_hours,
    intensity_spread,
    machine,
    machine_ends,
    machines,
    place,
)
from scaleright.formulas import lookup
from scaleright.inference.demand import Busy, Demand
from scaleright.inference.energy import (
    chat_energy,
    chat_energy_at,
    chat_load,
    energy_server,
    measured_format,
    measured_formats,
    predicted_ends,
    predicted_speed,
)
from scaleright.inference.formats import FORMATS, USUAL, Formats, Weights, either
from scaleright.inference.lengths import Load
from scaleright.information import Choice
from scaleright.market import matmul_chips
from scaleright.ops import first_case, maximum, minimum, where
from scaleright.order import name_of_least, ordered
from scaleright.quantity import Quantity, at, given, least
from scaleright.quantity import choose as quantity_choose
from scaleright.quantity.graph import element_of, value_of
from scaleright.quantity.rows import Row, Table, choose, look_up
from scaleright.ranges import Ends, interval_of
from scaleright.transformer import bytes_per_parameter, parameters, weight_bytes
from scaleright.units import SECONDS_PER_HOUR

TOKENS = 1e6
"""Footprints of serving are those of a million output tokens."""
USUAL_UTILIZATION = MappingProxyType(
    {"serving": {"utilization": 0.4}, "training": {"utilization": 0.9}}
)
ALIKE = 1.5
"""Numbers of sequences that differ by less than this factor are about the same."""
DRAWN = ("chip_watts", "tokens_per_s")
"""What is measured of an operating point."""
_TOLD = ("model", "precision", "batch", "accelerators", "output_tokens")


@dataclass(frozen=True)
class Deployment:
    """What runs where: a machine at work for so many hours (for a million tokens, or for a run), in
    a place; numbers or quantities.

    chip, point : the row of `chips`, and that of `measured` or the `Point`, that are chosen
    training : whether it is a training run, of which no tokens are stated
    busy : what its utilization follows from, if traffic may give it
    """

    machine: Machine
    busy_hours: Any
    utilization: Any
    place: Place
    chip: Row
    point: Row | Point
    training: Any
    busy: Busy | None = None

    @property
    def predicted(self) -> Any:
        """Whether nobody measured how it serves, so that the speed is predicted."""
        return where(self.training, False, getattr(self.point, "predicted", False))

    @property
    def predicted_within(self) -> tuple[Any, Any]:
        """Bounds of measured over predicted energy of a token [1]; 1 where it was measured."""
        if not isinstance(self.point, Point):
            return 1.0, 1.0
        return tuple(where(self.predicted, self.point.off[end], 1.0) for end in ("low", "high"))

    @property
    def footprint(self) -> Footprint:
        """Energy, carbon and water of the work."""
        return Footprint.of(self.machine, self.busy_hours, self.utilization, self.place)

    @property
    def joules_per_token(self) -> Any:
        """What the accelerators draw at work for one of a million tokens [J/token]."""
        return self.machine.chip_watts * self.busy_hours * SECONDS_PER_HOUR / TOKENS

    @property
    def served(self) -> Any:
        """Whether it serves tokens, and how is measured or predicted."""
        return where(self.training, False, self.point.there)

    @property
    def known(self) -> Any:
        """Whether there are figures for it."""
        return where(self.training, True, self.point.there)


@lookup
def busy(case: Any, point: Row | Point, training: Any) -> Busy:
    """How much of its time a case's operating point is at work: what its traffic takes,
    every copy of the model standing day and night, or as set; a training run is as busy as set.

    case : traffic, requests_per_day, peak_to_mean, utilization
    """
    demand = Demand.of(case)
    demand = replace(demand, known=where(training, False, demand.known))
    load = Load(1.0, point.output_tokens)  # prompts are in the measured speed
    requests_per_s = point.accelerators * point.tokens_per_s / point.output_tokens
    engine = demand.measured(point.accelerators, point.batch, requests_per_s, load)
    return demand.busy(engine, load, case.utilization)


@remembered
def tflop_joules() -> Mapping[str, float]:
    """Energy of a TFLOP in BF16 at full power by accelerator, where both are known [J]."""
    found = {
        name: joules_per_tflop(of.tdp_watts, spec["bf16_flops"], spec["compute_efficiency"])
        for name, spec in matmul_chips().items()
        if (of := accelerators().get(name)) and of.tdp_watts
    }
    return MappingProxyType(found)


@lookup
def chips() -> dict[str, dict[str, Any]]:
    """Every accelerator whose power is known: ends of what is uncertain about it, making it and the
    years it serves, energy of a TFLOP [J], whether it is high-end in Andreessen Horowitz's sense
    and whether it is a TPU. A table to choose from.

    >>> chips()["H100 SXM"]["high_end"], chips()["TPU v4"]["tpu"]
    (True, True)
    """
    known, specs = [name for name, of in accelerators().items() if of.tdp_watts], matmul_chips()
    return {
        name: ends
        | {
            "name": name,
            **{of: getattr(machine(name, "training"), of) for of in ("machine_kg", "life_years")},
            "joules_per_tflop": tflop_joules().get(name, np.nan),
            "high_end": name in specs and follows_rule("high-end", name, specs[name]),
            "tpu": accelerator(name).kind == "TPU",
        }
        for name, ends in machine_ends(known).items()
    }


@lookup
def predicted(
    batches: Iterable[int], model_name: str, chip: str
) -> dict[tuple[str, str, str], dict[str, Any] | str]:
    """Servers that nobody measured: by model, chip and format, a table to choose from. A page has
    those of a model on every chip and of every model on a chip in the usual format, and those of
    measured pairs and of this one in others; more take a run of their own.

    Columns: precision, accelerators, output_tokens [token], room [sequence], tokens_per_s of one
    accelerator by number of sequences [token/s], weight_bytes [B], low and high, see
    `predicted_ends`. None where no node holds the model.

    >>> found = predicted([8, 64], "Llama-3.1-70B", "H100 SXM")
    >>> found["Llama-3.1-70B", "T4", "usual"]["accelerators"]
    8
    """
    models, every = sorted(set(chat_energy()["model"])), [*chips()]
    seen = dict.fromkeys([*_pairs(), (model_name, chip)])
    usual = dict.fromkeys([*((model_name, of) for of in every), *((of, chip) for of in models)])
    asked = [(*pair, USUAL) for pair in usual] + [(*of, form) for of in seen for form in FORMATS]
    found = dict[tuple[str, str, str], dict[str, Any] | str]()
    for name, on, form in asked:
        known = measured_formats(name, on)
        if name not in models or form in known or (form == USUAL and known):
            continue
        try:
            server = energy_server(name, on, form)
        except (LookupError, ValueError):
            continue
        room, speeds = predicted_speed(server, batches)
        low, high = predicted_ends(server)
        found[name, on, form] = {
            "precision": server.precision,
            "accelerators": server.chips,
            "output_tokens": chat_load(name).output_tokens,
            "room": room,
            "tokens_per_s": speeds,
            "weight_bytes": held_bytes(name, server.precision),
            "low": low,
            "high": high,
        }
    return found


class Point(Mapping):
    """The operating point of a case: the measured one, or where nobody measured any the predicted
    one, whose changes nobody measured.

    there : whether there is either [truth value]
    predicted : whether it is predicted [truth value]
    off : the row of `predicted`
    """

    def __init__(self, case: Any, batches: Iterable[int], drawn_watts: Any):
        batches = [*batches]
        tried, unsaid = (case.model, case.accelerator), "Nobody measured it."
        whose = value_of(case.model), value_of(case.accelerator)
        known = choose(measured(batches), *tried, case.batch, case.precision, otherwise=unsaid)
        off = choose(predicted(batches, *whose), *tried, case.precision, otherwise=unsaid)
        speed = element_of(off.tokens_per_s, look_up([*map(str, batches)], case.batch))
        own = {name: off[name] for name in ("precision", "accelerators", "output_tokens")}
        own |= {"weight_bytes": off.weight_bytes, "batch": minimum(case.batch, off.room)}
        own |= {"model": case.model, "chip_watts": drawn_watts, "tokens_per_s": speed}
        self.off, self.predicted = off, ~known.there & off.there
        self.there = known.there | off.there
        self._columns = {
            name: where(known.there, known[name], own[name]) if name in own else known[name]
            for name in known
        }

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(name)
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@lookup
def nobody_published(name: Any, chip: Any, precision: Any) -> Any:
    """That nobody published the energy of a model on a chip in a format, and in or on which there
    is one, and that it is not predicted either, in words; quantities or not.

    >>> nobody_published("Llama-4-Scout", "B200", "usual").value
    'Nobody published the energy of Llama-4-Scout on the B200, only on the H100 SXM, and this page
    does not predict it'
    >>> nobody_published("Qwen3-8B", "B200", "MXFP4").value
    'Nobody published the energy of Qwen3-8B on the B200 in MXFP4, only in BF16, and this page does
    not predict it'
    """
    by_model = chat_energy().groupby("model")["accelerator"].unique()
    found = {name: f", only on the {' and the '.join(sorted(on))}" for name, on in by_model.items()}
    found = {value_of(name): ", nor on any other chip"} | found
    there = formats_there().row(name, chip)
    whose = "Nobody published the energy of " + name + " on the " + chip
    other = " in " + precision + ", only in " + there.words
    known = where(there.there, other, look_up(found, name))
    return whose + known + ", and this page does not predict it"


def _pairs() -> list[tuple[str, str]]:
    """Each model and each chip with which it was measured."""
    return sorted({(of.model, of.accelerator) for of in chat_energy().itertuples()})


@remembered
def formats_there() -> Table:
    """The formats in which each model was measured on each chip, in words."""
    words = {pair: {"words": either(measured_formats(*pair))} for pair in _pairs()}
    return Table(words, "none")


def weights(name: Any, chip: Any, precision: Any) -> tuple[Weights, Any]:
    """The format of a run beside the usual one, and the formats in which the model was
    measured on the chip, in words.

    >>> weights("Llama-3.1-405B", "B200", "FP8")[1].value
    'BF16 or FP8'
    """
    models, asked = sorted(set(chat_energy()["model"])), (value_of(name), value_of(chip))
    pairs = [*product(models, (asked[1],)), *product((asked[0],), chips()), *_pairs()]
    formats = Formats.of({of: of for of in models}, [pair for pair in pairs if pair[0] in models])
    return formats.weights(name, chip, precision, ""), formats_there().row(name, chip).words


@remembered
def held_bytes(name: str, precision: str) -> float:
    """Weights of a model in a format [B]."""
    return float(weight_bytes(parameters(model(name)).total, bytes_per_parameter(precision)))


@lookup
def measured(batches: Iterable[int]) -> dict[tuple[str, str, int, str], dict[str, Any]]:
    """The measured operating point nearest to each number of sequences, of each model on each
    accelerator in each format that was measured and in the usual one, and the least hungry ones
    that one change each would reach: a table to choose from.

    Columns: model, precision, batch [sequence], accelerators, output_tokens [token], chip_watts
    [W], tokens_per_s [token/s], weight_bytes [B]; of `fuller` (more sequences together), and at
    about as many sequences `form` (another format), `chip` and `model` (other ones): `_to` (what
    is changed to), `_chip_watts` and `_tokens_per_s`. Other chips and models are in their usual
    formats where this one is, else in the same one; nobody measured the usual format of some, whose
    nearest stands for it.

    >>> point = measured([64])["Llama-3.1-70B", "H100 SXM", 64, "usual"]
    >>> point["precision"], int(point["fuller_to"]), point["chip_to"], point["model_to"]
    ('BF16', 768, 'B200', 'Llama-3.1-8B')
    """
    every, found = chat_energy(), {}
    pairs = dict.fromkeys(zip(every["model"], every["accelerator"], strict=True))
    usual = {pair: measured_format(*pair) for pair in pairs}
    rows = ordered(every, "joules_per_token")
    seen = {name: rows[name].to_numpy() for name in rows}
    in_usual = seen["precision"] == [usual[of.model, of.accelerator] for of in rows.itertuples()]
    for pair in usual:
        same_model, same_chip = seen["model"] == pair[0], seen["accelerator"] == pair[1]
        for batch, form in product(batches, (USUAL, *measured_formats(*pair))):
            row = chat_energy_at(*pair, batch, form)
            same_form = seen["precision"] == row["precision"]
            alike = np.abs(np.log(seen["batch"] / batch)) < np.log(ALIKE)
            others = alike & (in_usual if form == USUAL else same_form)
            here = same_model & same_chip
            found[*pair, batch, form] = (
                {name: row[name] for name in (*_TOLD, *DRAWN)}
                | {"weight_bytes": held_bytes(pair[0], row["precision"])}
                | _least_hungry(seen, here & same_form, "fuller", "batch")
                | _least_hungry(seen, here & ~same_form & alike, "form", "precision")
                | _least_hungry(seen, same_model & ~same_chip & others, "chip", "accelerator")
                | _least_hungry(seen, same_chip & ~same_model & others, "model", "model")
            )
    return found


def _least_hungry(
    seen: Mapping[str, np.ndarray], among: np.ndarray, change: str, column: str
) -> dict[str, Any]:
    """The row among some that takes the least energy for a token, by the column that changes; no
    word and NaN if there is none.

    seen : columns of rows, ordered by that energy
    """
    row = {column: "", **dict.fromkeys(DRAWN, np.nan)}
    if among.any():
        row = {name: seen[name][among.argmax()] for name in row}
    return {f"{change}_to": row[column]} | {f"{change}_{name}": row[name] for name in DRAWN}


# What is uncertain about the footprint of a deployment, what one change each would make of it,
# and how sure it is that the best of them is


GOOD_UTILIZATION = 0.8
"""Clarifai's example of a high score."""
BUSIER = "more use"
_DOUBTS = ("power", "network", "grid", "making", "load", "prediction")
_BEST = {f"uncertain_{name}": 1.0 for name in _DOUBTS}
"""Ratios to the best estimate of what is uncertain, by parameter."""


def levers(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """What one change each would make of the footprint; another model gives other answers.

    Columns: change, from, to, kind (how those two are said, none of words), carbon [kg CO2e] and
    saved (share of the carbon, negative where it harms) [1]. Another format, chip or model is the
    least hungry one that was measured at about as many sequences together.

    Parameters
    ----------
    places : figures by place as of `footprint.usual`; the cleanest is the one to move to
    """
    rows = _changes(of, places)
    before = of.footprint.carbon.total
    then = [where(of.known, to.footprint.carbon.total, np.nan) for *_, to in rows]
    frame = pd.DataFrame([row[:-1] for row in rows], columns=["change", "from", "to", "kind"])
    return frame.assign(carbon=then, saved=[1 - carbon / before for carbon in then])


def _changes(of: Deployment, places: Mapping[str, Mapping[str, float]]) -> list[tuple]:
    """The rows of `levers`, each with the deployment that it leads to; the first is the move."""
    cleanest = name_of_least({name: row["grams_per_kwh"] for name, row in places.items()})
    grams = 1e3 * of.place.kg_co2e_per_kwh, places[cleanest]["grams_per_kwh"]
    there = replace(place(cleanest), pue=of.place.pue)
    busier = maximum(of.utilization, GOOD_UTILIZATION)
    years = of.machine.life_years, 2 * of.machine.life_years
    longer = replace(of, machine=replace(of.machine, life_years=years[1]))
    return [
        (f"a move to {cleanest}", *grams, "g/kWh", replace(of, place=there)),
        *_measured_changes(of),
        (BUSIER, of.utilization, busier, "percent", replace(of, utilization=busier)),
        ("a longer life", *years, "years", longer),
    ]


def _measured_changes(of: Deployment) -> list[tuple]:
    """The rows of `levers` that were measured as well: fuller batches, another format, chip or
    model; numbers are NaN where none was.
    """
    point, none = of.point, "none measured"
    other = quantity_choose(
        machines(sorted(set(chat_energy()["accelerator"]))),
        point.chip_to,
        "serving",
        otherwise=none,
    )
    drawn = {
        "fuller": of.machine,
        "form": of.machine,
        "chip": replace(Machine(**other), life_years=of.machine.life_years),
        "model": of.machine,
    }
    to = {
        change: replace(
            of,
            machine=replace(machine, chip_watts=point[f"{change}_chip_watts"]),
            busy_hours=where(
                of.served, busy_hours(TOKENS, point[f"{change}_tokens_per_s"]), np.nan
            ),
        )
        for change, machine in drawn.items()
    }
    words = {
        change: where(of.served & (point[f"{change}_to"] != ""), point[f"{change}_to"], none)
        for change in ("form", "chip", "model")
    }
    served = {"form": point.precision, "model": point.model}
    served = {change: where(of.served, name, none) for change, name in served.items()}
    batches = [where(of.served, batch, np.nan) for batch in (point.batch, point.fuller_to)]
    return [
        ("another model", served["model"], words["model"], "", to["model"]),
        ("fuller batches of sequences", *batches, "whole", to["fuller"]),
        ("another format of the weights", served["form"], words["form"], "", to["form"]),
        ("another chip", of.chip.name, words["chip"], "", to["chip"]),
    ]


def _ratio(name: str) -> Quantity:
    return given(f"uncertain_{name}", 1.0)


def _moved(of: Deployment, grid: Any = None, load: Any = None) -> Any:
    """Carbon of the work with all that is uncertain as ratios to the best [kg CO2e]."""
    machine, power = of.machine, _ratio("power")
    moved = replace(
        machine,
        chip_watts=machine.chip_watts * where(of.training, power, 1.0),
        host_watts=machine.host_watts * power,
        network_watts=machine.network_watts * _ratio("network"),
        machine_kg=machine.machine_kg * _ratio("making"),
    )
    grams = of.place.kg_co2e_per_kwh * (_ratio("grid") if grid is None else grid)
    busy = of.utilization * (_ratio("load") if load is None else load)
    here = replace(of.place, kg_co2e_per_kwh=grams)
    hours = of.busy_hours * _ratio("prediction")
    there = replace(of, machine=moved, place=here, utilization=busy, busy_hours=hours)
    return there.footprint.carbon.total


def _ends(of: Deployment, own_grid: Any, own_making: Any) -> dict[str, Ends]:
    """The ends of these ratios, by what they are of."""
    chip = of.chip
    powers = (
        where(of.training, chip[f"power_{end}"], chip[f"host_{end}"]) for end in ("low", "high")
    )
    grids, makings = intensity_spread(), (chip.making_low, chip.making_high)
    loads = 1 / load_spread(), minimum(load_spread(), 1 / of.utilization)
    if of.busy:
        day = of.busy.ends(Ends(of.utilization, *(of.utilization * end for end in loads)))
        loads = day.low / of.utilization, day.high / of.utilization
    return {
        "unmeasured power": Ends(_ratio("power"), *powers),
        "power of the network": Ends(_ratio("network"), chip.network_low, chip.network_high),
        "carbon of the grid": Ends(_ratio("grid"), *(where(own_grid, 1.0, end) for end in grids)),
        "hardware's making": Ends(
            _ratio("making"), *(where(own_making, 1.0, end) for end in makings)
        ),
        LOAD: Ends(_ratio("load"), *(where(of.training, 1.0, end) for end in loads)),
        "predicted speed": Ends(_ratio("prediction"), *of.predicted_within),
    }


def uncertain(
    of: Deployment, own_grid: Any = False, own_making: Any = False
) -> tuple[Quantity, dict[str, Ends], tuple[Quantity, Quantity]]:
    """Carbon of the work with all that is uncertain as ratios to the best [kg CO2e], the ends of
    these ratios, and the range of the carbon that follows.

    In serving the chip was measured, so that of the power only its host's is uncertain, and where
    nobody measured it the speed that is predicted; how busy the service will be nobody knows. A
    training run is as busy as its owner makes it.

    Parameters
    ----------
    own_grid, own_making : whether the reader has set the carbon of the grid, and that of making the
        machine: what is set has no spread
    """
    carbon, ends = _moved(of), _ends(of, own_grid, own_making)
    low, high = (at(end, **_BEST) for end in interval_of(carbon, ends.values()))
    return carbon, ends, (low, high)


@dataclass(frozen=True)
class FirstChange:
    """The change that saves most of the carbon, against the one that comes next.

    first, second : in words
    saved : by the first [1]
    choice : between the two, by the carbon that each leaves [kg CO2e]
    """

    first: Any
    second: Any
    saved: Any
    choice: Choice

    @property
    def ways(self) -> Any:
        """Both, in words."""
        return self.first + " and " + self.second


def first_change(
    of: Deployment,
    places: Mapping[str, Mapping[str, float]],
    own_grid: Any = False,
    own_making: Any = False,
) -> FirstChange:
    """Which change saves most of the carbon, and how sure that is.

    What is uncertain about the machine is so after either change; the other grid is as uncertain as
    the one here, and what its owner keeps busy is as busy as that.

    Parameters
    ----------
    places : as of `levers`
    own_grid, own_making : as of `uncertain`
    """
    rows = _changes(of, places)
    left = {row[0]: where(of.known, row[-1].footprint.carbon.total, np.nan) for row in rows}
    (first, best), (move, *_) = least(left), left
    second, next_best = least(left, after=first)
    after = {row[0]: row[-1] for row in rows}

    def carbon(name: Any) -> Any:
        grid = where(name == move, _ratio("other_grid"), _ratio("grid"))
        return _moved(_picked(after, name), grid, where(name == BUSIER, 1.0, _ratio("load")))

    ends = _ends(of, own_grid, own_making)
    ends["carbon of the other grid"] = Ends(_ratio("other_grid"), *intensity_spread())
    known = _BEST | {"uncertain_other_grid": 1.0}
    both = Choice.of(carbon(first), carbon(second), ends, **known)
    choice = Choice(best, next_best, both.spreads)
    return FirstChange(first, second, 1 - best / of.footprint.carbon.total, choice)


def _picked(options: Mapping[str, Deployment], name: Any) -> Deployment:
    """The deployment of a name, as one whose figures follow it."""
    *others, (_, last) = options.items()

    def pick(figure: Any) -> Any:
        return first_case([(name == of, figure(one)) for of, one in others], figure(last))

    def every(kind: type, part: str) -> Any:
        names = (field.name for field in fields(kind))
        return kind(
            **{of: pick(lambda one, of=of: getattr(getattr(one, part), of)) for of in names}
        )

    return replace(
        last,
        machine=every(Machine, "machine"),
        place=every(Place, "place"),
        busy_hours=pick(lambda one: one.busy_hours),
        utilization=pick(lambda one: one.utilization),
    )
