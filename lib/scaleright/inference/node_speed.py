"""How fast the best engine of one node, or of a rack whose fabric joins more chips, serves any of
some models on any of some chips, as quantities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from scaleright.catalog import model as shape_of
from scaleright.formulas import lookup, search
from scaleright.inference.curves import DECODING, Curve, Paced, fastest
from scaleright.inference.engine_tables import figures, node_engines
from scaleright.inference.lengths import Load
from scaleright.inference.slowdowns import borrowed, interval
from scaleright.ops import first_case, maximum, where
from scaleright.quantity import choose

_COLUMNS = tuple(Curve.__dataclass_fields__)
_ONES = ("chips", "replicas", "waiting", "budget", "most", "each_s", "near")
_FULL = Curve(
    **dict.fromkeys(_ONES, 1.0),
    decoding=[1.0] * len(DECODING),
    reading=[1.0],
    grouped=[1.0],
    look=[0.0, 0.0],
    read=[0.0, 0.0],
    hold=[1e9, 0.0],
)
"""An engine that holds no request."""
_TOLD = ("low", "high", "lent", "fitted", "precision")


@dataclass(frozen=True)
class NodeSpeed(Paced):
    """What the best engine of one node does for a load at a pace; NaN where none keeps it.

    fits : whether such requests fit in the memory of a node [truth value]
    held : whether a node holds the model [truth value]
    best_pace : the quickest pace at which one reader alone is served [token/s]
    low, high : bounds of measured over predicted speed [1]
    lent : whose constants the speed is by, if not its own, in words
    fitted : whether runs of such an engine on such chips were fitted [truth value]
    precision : format of the weights
    """

    fits: Any
    held: Any
    best_pace: Any
    low: Any
    high: Any
    lent: Any
    fitted: Any
    precision: Any

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
        return first_case(short, "no node holds the model")


@lookup
def engine_rows(
    models: Sequence[str], accelerators: Sequence[str]
) -> dict[tuple[str, str], dict[str, Any] | str]:
    """Rows for `choose`: by model and accelerator, the curves of its engines, each number of a
    `Curve` with the engine's place in its name; the bounds of the predicted speed, and whose
    constants it borrows.

    A pair with fewer engines than others has some with room for nothing; one whose node does not
    hold the model says so.

    >>> rows = engine_rows(("Llama-3.3-70B", "Kimi-K2.5"), ("H100 SXM", "RTX 5090"))
    >>> rows["Llama-3.3-70B", "H100 SXM"]["chips 2"], rows["Kimi-K2.5", "RTX 5090"]
    (8.0, 'no node of RTX 5090 holds Kimi-K2.5')
    """
    shapes = {name: shape_of(name).name for name in models}
    found = node_engines(tuple(dict.fromkeys(shapes.values())), tuple(accelerators))
    most = max(len(known) for _, known in found.values())
    rows: dict[tuple[str, str], dict[str, Any] | str] = {}
    for name, shape in shapes.items():
        for chip in accelerators:
            engines, known = found[shape, chip]
            if not engines:
                rows[name, chip] = f"no node of {chip} holds {name}"
                continue
            low, high = interval(engines[0], "throughput")
            numbers = {
                f"{column} {place}": value
                for place in range(most)
                for column, value in figures(known[place] if known[place:] else _FULL).items()
            }
            lent = borrowed(engines[0])
            of = {"low": low, "high": high, "lent": lent, "fitted": not lent}
            rows[name, chip] = numbers | of | {"precision": engines[0].precision}
    return rows


@search
def node_speed(rows: Mapping, model: Any, accelerator: Any, load: Load, pace: Any) -> NodeSpeed:
    """The speed of the engine of one node, or of a rack, that writes most tokens per chip, of those
    that give each reader so many tokens a second; see `nodes.engines`.

    Parameters
    ----------
    rows : of the models and accelerators that may be chosen, see `engine_rows`
    model, accelerator : words, quantities or not
    load, pace : requests, and tokens a second for each reader [token/s]; quantities or not

    >>> rows = engine_rows(("Llama-3.3-70B", "Kimi-K2.5"), ("H100 SXM", "RTX 5090"))
    >>> from scaleright.quantity import evaluate, given
    >>> chip, pace = given("chip", "H100 SXM"), given("pace", 30.0)
    >>> speed = node_speed(rows, given("model", "Llama-3.3-70B"), chip, Load(2000, 500), pace)
    >>> speed.chips.value, evaluate([speed.why_not], {"pace": 900.0})
    (2.0, ['too slow for this pace'])
    """
    row = choose(rows, model, accelerator)
    many = sum(name.startswith(f"{_COLUMNS[0]} ") for name in row)
    known = [
        Curve(**{column: row[f"{column} {place}"] for column in _COLUMNS}) for place in range(many)
    ]
    best = fastest(known, load, 1 / pace)
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
    )
