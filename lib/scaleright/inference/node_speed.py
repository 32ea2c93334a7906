"""How fast the best engine of one node, or of a rack whose fabric joins more chips, serves any of
some models on any of some chips, as quantities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import product
from operator import or_
from types import MappingProxyType
from typing import Any, Self

from scaleright import catalog
from scaleright.formulas import search
from scaleright.inference.curves import DECODING, Curve
from scaleright.inference.deployment import Deployment
from scaleright.inference.engine_tables import apart_places, curve_at, figures, node_engines
from scaleright.inference.formats import FORMATS, NO_FORMAT, USUAL, Formats, Weights, usual_format
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import Paced, foremost, paced
from scaleright.inference.slowdowns import borrowed, chip_seen, interval
from scaleright.ops import first_case, maximum, where
from scaleright.quantity import Table
from scaleright.quantity.rows import Row

_ONES = ("chips", "replicas", "waiting", "budget", "most", "each_s", "near", "window")
_FULL = Curve(
    **dict.fromkeys(_ONES, 1.0),
    **{name: [float("nan")] * len(DECODING) for name in ("decoding", "reading", "grouped")},
    look=[0.0, 0.0],
    read=[0.0, 0.0],
    hold=[1e9, 0.0],
)
"""An engine that holds no request."""
_TOLD = ("low", "high", "lent", "fitted")
NO_NODE = "no node holds the model"


@dataclass(frozen=True)
class NodeSpeed(Paced):
    """What the best engine of one node does for a load at a pace; NaN where none keeps it.

    fits : whether such requests fit in the memory of a node [truth value]
    held : whether a node holds the model [truth value]
    best_pace : the quickest pace at which one reader alone is served [token/s]
    low, high : bounds of measured over predicted speed [1]
    lent : what the speed rests on, where it is not enough runs of such engines, in words
    fitted : whether runs on such chips in such a format were fitted [truth value]
    weights : in which format
    groups : chips of each engine, with its part of those that read prompts for it, and the tokens a
        second that it writes, NaN where it does not keep the pace, or another one alone the promise
        of the first token [1], [token/s]
    seated : the engine as its traffic sits in it, a `day.DayEngine`, where a chapter asks for it
    """

    fits: Any
    held: Any
    best_pace: Any
    low: Any
    high: Any
    lent: Any
    fitted: Any
    weights: Weights
    groups: Sequence[tuple[Any, Any]]
    seated: Any = None

    @property
    def served(self) -> Any:
        """Whether an engine keeps the pace [truth value]."""
        return self.kept > 0

    @property
    def slow(self) -> Any:
        """Whether engines hold model and requests, and none keeps the pace [truth value]."""
        return self.held & self.fits & (self.kept <= 0)

    @property
    def why_not(self) -> Any:
        """Why no engine does, as a word or two of a table; empty where one does."""
        short = [
            (self.served, ""),
            (self.held, where(self.fits, "too slow for this pace", "too long for its memory")),
        ]
        return first_case(short, self.weights.lacking)

    @property
    def precision(self) -> Any:
        """Format of the weights."""
        return self.weights.precision


@dataclass(frozen=True)
class Engines:
    """The engines of one node that may be chosen.

    rows : by model, accelerator and format: the curves of its engines, each number of a `Curve`
        with the engine's place in its name; the bounds of the predicted speed, and whose constants
        it borrows
    formats : of the models on the accelerators
    """

    rows: Table
    formats: Formats

    @classmethod
    def of(
        cls,
        models: Sequence[str] | Mapping[str, str],
        accelerators: Sequence[str],
        formats: Sequence[str] = FORMATS,
        unknown: Mapping[str, str] | None = None,
    ) -> Self:
        """Those of some models on some accelerators, in the usual format and in some.

        A node with fewer engines than others has some with room for nothing; one that does not hold
        the model says so.

        Parameters
        ----------
        models : by name, or shapes by what they are called
        unknown : why the engines of further accelerators are not known

        >>> engines = Engines.of(("Llama-3.3-70B", "Kimi-K2.5"), ("H100 SXM", "RTX 5090"))
        >>> engines.rows.row("Llama-3.3-70B", "H100 SXM", "usual")["chips 0"].value
        2.0
        >>> engines.rows.row("Kimi-K2.5", "RTX 5090", "usual").why.value
        'no node holds the model'
        """
        named = models if isinstance(models, Mapping) else {name: name for name in models}
        rows = dict(_rows(tuple(named.items()), tuple(accelerators), tuple(formats)))
        for name, (chip, why) in product(named, (unknown or {}).items()):
            rows |= {(name, chip, form): why for form in (USUAL, *formats)}
        return cls(Table(rows, "none"), Formats.of(named, product(named, accelerators)))

    def weights(self, model: Any, accelerator: Any, precision: Any) -> Weights:
        """In which format a model is served on a chip, of what is chosen."""
        lacking = self.rows.row(model, accelerator, precision).why
        return self.formats.weights(model, accelerator, precision, lacking)


@catalog.shared
def _rows(
    models: tuple[tuple[str, str], ...], accelerators: tuple[str, ...], formats: tuple[str, ...]
) -> Mapping[tuple[str, str, str], Mapping[str, Any] | str]:
    """The rows of `Engines`: those of one page are read at once.

    models : what each is called, and its name
    """
    pairs = [*product(dict(models), accelerators)]
    shapes = {name: catalog.model(of) for name, of in models}
    usual = {
        (name, chip): usual_format(shapes[name], catalog.accelerator(chip)) for name, chip in pairs
    }
    found = {
        (name, chip, form): node_engines(shapes[name].name, chip, form)
        for name, chip in pairs
        for form in dict.fromkeys((usual[name, chip], *formats))
    }
    most = max(len(of[1]) for of in found.values() if of)
    apart = apart_places(of[1] for of in found.values() if of)
    rows = {key: _row(of, most, apart) for key, of in found.items()}
    return MappingProxyType(rows | {(*pair, USUAL): rows[*pair, of] for pair, of in usual.items()})


def _row(
    found: tuple[Sequence[Deployment], Sequence[Curve]] | None, most: int, apart: Collection[int]
) -> dict[str, Any] | str:
    """The row of the engines in a format, so many, some read apart for; or why there are none."""
    if not found:
        return NO_FORMAT
    engines, known = found
    if not engines:
        return NO_NODE
    low, high = interval(engines[0], "throughput")
    lent, seen = borrowed(engines[0]), chip_seen(engines[0])
    numbers = {
        f"{column} {place}": value
        for place in range(most)
        for column, value in figures(
            known[place] if known[place:] else _FULL, place in apart
        ).items()
    }
    return numbers | {"low": low, "high": high, "lent": lent, "fitted": seen}


@dataclass(frozen=True)
class AtPace:
    """Engines of a model on an accelerator at a pace, whatever part of the traffic comes to them.

    row : of the engines, see `Engines`
    known : their curves
    every : each as `paced` has it, with its score
    """

    row: Row
    known: Sequence[Curve]
    every: Sequence[tuple[Paced, Any]]


@search
def at_pace(row: Row, load: Load, pace: Any, demand: Any = None) -> AtPace:
    """Those of which `node_speed` takes one, of a row of `Engines`; load to traffic as there."""
    many = sum(name.startswith("chips ") for name in row)
    known = [curve_at(row, place) for place in range(many)]
    seats = demand.known if demand and demand.known is not False else None
    return AtPace(row, known, [paced(one, load, 1 / pace, seats) for one in known])


def _weighed(of: AtPace, load: Load, demand: Any) -> tuple[Sequence, Any, Sequence]:
    """Each engine at its pace with its score, the one that traffic, where it is known, would seat,
    and whether each may be one of a fleet.
    """
    known, every = of.known, of.every
    kept = [of.kept > 0 for of, _ in every]
    if not demand:
        return every, None, kept
    at = [demand.seated(one, of, load) for one, (of, _) in zip(known, every, strict=True)]
    scores = [
        demand.score(seated, score, load) for seated, (_, score) in zip(at, every, strict=True)
    ]
    scored = [(of, score) for (of, _), score in zip(every, scores, strict=True)]
    early = [demand.early(seated) for seated in at]
    some = reduce(or_, early)
    fit = [where(some, one, of) for one, of in zip(early, kept, strict=True)]
    return scored, foremost([*zip(at, scores, strict=True)]), fit


@search
def node_speed(
    engines: Engines,
    model: Any,
    accelerator: Any,
    precision: Any,
    load: Load,
    pace: Any,
    demand: Any = None,
    found: AtPace | None = None,
) -> NodeSpeed:
    """The speed of the engine of one node, or of a rack, that writes most tokens per chip, of those
    that give each reader so many tokens a second; see `nodes.engines`. Where traffic is known it is
    that of which the busiest time takes fewest chips.

    Parameters
    ----------
    engines : of the models and accelerators that may be chosen
    model, accelerator, precision : words, quantities or not; the format may be "usual"
    load, pace : requests, and tokens a second for each reader [token/s]; quantities or not
    demand : the traffic, a `demand.Demand`, if a chapter asks for it
    found : the engines `at_pace`, where another part of the same traffic has asked for them

    >>> engines = Engines.of(("Llama-3.3-70B", "Kimi-K2.5"), ("H100 SXM", "RTX 5090"))
    >>> from scaleright.quantity import evaluate, given
    >>> chip, form, pace = given("chip", "H100 SXM"), given("form", "usual"), given("pace", 30.0)
    >>> load = Load(2000, 500)
    >>> speed = node_speed(engines, given("model", "Llama-3.3-70B"), chip, form, load, pace)
    >>> speed.chips.value, speed.precision.value, evaluate([speed.why_not], {"pace": 900.0})
    (2.0, 'FP8', ['too slow for this pace'])
    >>> evaluate([speed.why_not, speed.weights.formats], {"form": "NVFP4"})
    ['not served in this format', 'BF16, FP8, INT8 or INT4']
    """
    found = found or at_pace(engines.rows.row(model, accelerator, precision), load, pace, demand)
    row, known = found.row, found.known
    every, seated, fit = _weighed(found, load, demand)
    best = foremost(every)
    room = known[0].slots(load)
    for one in known[1:]:
        room = maximum(room, one.slots(load))
    kept = {
        field.name: where(best.kept > 0, getattr(best, field.name), float("nan"))
        for field in fields(Paced)
    }
    return NodeSpeed(
        **kept | {"kept": best.kept},
        fits=room >= 1,
        held=row.there,
        best_pace=1 / best.tpot_s,
        **{name: row[name] for name in _TOLD},
        weights=engines.weights(model, accelerator, precision),
        groups=[
            (of.chips, where(one, of.chips * of.tokens_per_s, float("nan")))
            for (of, _), one in zip(every, fit, strict=True)
        ],
        seated=seated,
    )
