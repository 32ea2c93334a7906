"""The steps of any server of one node, as quantities: what more requests at once do to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

from scaleright import catalog
from scaleright.formulas import lookup
from scaleright.inference.curve_point import CurvePoint
from scaleright.inference.curves import Curve
from scaleright.inference.deployment import Deployment, valid
from scaleright.inference.engine import chip_speeds
from scaleright.inference.engine_tables import figures, servers
from scaleright.inference.formats import either, offered
from scaleright.inference.lengths import Load
from scaleright.inference.server import LEAST_ROOM, SOFTWARE, server
from scaleright.inference.slowdowns import borrowed, interval
from scaleright.ops import where
from scaleright.quantity import choose
from scaleright.roofline import balance_rows
from scaleright.transformer.memory import bytes_per_parameter
from scaleright.units import significant

FEWEST = "fewest"
"""The choice of as many chips as a `server` has."""
_CURVE = tuple(Curve.__dataclass_fields__)
Figures = Mapping[tuple[str, ...], Mapping[str, Any]]
"""Rows for `choose` by what may be chosen together."""


@dataclass(frozen=True)
class ServerSteps:
    """The steps of the server that is chosen; NaN where there is none.

    curve : its steps at any batch and load
    network, engine : of the steps that give answers alone, see `engine_tables.Served` [s]
    balance : rows of a step at which the arithmetic of the feed-forward weights takes as long as
        their reading [1]
    ridge : operations that the chip does in the time of reading a byte [FLOP/B]
    low, high : bounds of measured over predicted speed [1]
    sure : the same in words, and whose constants the steps are by, if not its own
    there : whether there is one [truth value]
    lacking : what keeps any from it, in words; empty where there is one
    """

    curve: Curve
    network: Any
    engine: Any
    balance: Any
    ridge: Any
    low: Any
    high: Any
    sure: Any
    there: Any
    lacking: Any

    @property
    def chips(self) -> Any:
        """Chips that share the model [1]."""
        return self.curve.chips

    def serves(self, load: Load) -> Any:
        """Whether there is a server that holds one request of a load [truth value]."""
        return self.there & (self.curve.slots(load) >= 1)

    def why_not(self, load: Load) -> Any:
        """What keeps it from that, in words; none where nothing does."""
        long = "such a request does not fit in memory. Shorten it or take more chips."
        return where(self.there, where(self.serves(load), "", long), self.lacking)

    def turn(self, load: Load) -> Any:
        """Requests at once from which arithmetic takes longer than reading the weights: tokens of
        prompts count with those of answers [1].
        """
        return self.balance / (1 + load.new_tokens / load.output_tokens)

    def parts(self, point: CurvePoint) -> dict[str, Any]:
        """Seconds of a mean step by what they go into [s]."""
        network = replace(self.curve, decoding=self.network).writing_s(point.batch)
        engine = self.engine[0] + self.engine[1] * (point.batch - 1)
        return {
            "weights": self.curve.writing_s(point.batch) - network - engine,
            "KV-cache attention": point.looking_s,
            "prompts": point.reading_s,
            "between chips": network,
            "engine": engine,
        }

    def alone(self, tokens: Any) -> dict[str, Any]:
        """Seconds in which so many tokens are written, and in which they are read, with nothing
        beside [s].
        """
        looking = self.curve.looking_s(1.0, tokens / 2)
        return {
            "writing them": tokens * (looking + self.curve.writing_s(1.0)),
            "reading them": self.curve.prompt_s(tokens),
        }


def _feed_forward(d: Deployment) -> str:
    """The part of a model that most of its weights are."""
    return "experts" if d.model.experts else "dense"


@lookup
def arithmetic_rows(d: Deployment) -> float:
    """Rows of a step at which the arithmetic of the feed-forward weights takes as long as their
    reading [1]: of a mixture of experts each row meets a few of them.

    >>> from scaleright.catalog import accelerator, model
    >>> h100 = accelerator("H100 SXM")
    >>> [round(arithmetic_rows(Deployment(model(of), h100, "FP8")))
    ...     for of in ("Llama-3.1-70B", "DeepSeek-V3")]
    [238, 7612]
    """
    part = _feed_forward(d)
    reached, size = chip_speeds(d, part), bytes_per_parameter(d.formats[part])
    rows = balance_rows(reached.matmul_flops, reached.memory_bytes_per_s, size)
    return rows * (d.model.experts / d.model.experts_per_token if d.model.experts else 1)


SHOWN = {f"{form}, dense": ("Llama-3.1-70B", form) for form in ("BF16", "FP8", "INT4", "NVFP4")}
SHOWN |= {"FP8, DeepSeek-V3": ("DeepSeek-V3", "FP8")}
"""Models in formats that stand for all: all dense ones have the same balance."""


@lookup
def arithmetic_table(accelerators: Sequence[str]) -> list[dict[str, Any]]:
    """`arithmetic_rows` of each accelerator, a column for each of `SHOWN`; None where the chip does
    not serve the format.

    >>> a100, = arithmetic_table(["A100 SXM 80GB"])
    >>> a100["FP8, dense"], round(a100["BF16, dense"])
    (None, 151)
    """

    def rows(chip: str, model: str, form: str) -> float | None:
        one = Deployment(catalog.model(model), catalog.accelerator(chip), form)
        return arithmetic_rows(one) if valid(one) else None

    return [
        {"accelerator": chip} | {name: rows(chip, *of) for name, of in SHOWN.items()}
        for chip in accelerators
    ]


@dataclass(frozen=True)
class Servers:
    """What may be chosen.

    curves : numbers of the curve, by model, accelerator, format and chips
    parts : two parts of its table `decoding`, by the same
    usual : by model, accelerator and format: the chips of the usual `server`, the least that hold
        the model, its balance and its ridge; or what keeps all servers from it, in words
    sure : by model, accelerator and format: bounds of the speed, and the same in words
    """

    curves: Figures
    parts: Figures
    usual: Mapping[tuple[str, ...], Mapping[str, Any] | str]
    sure: Figures

    @classmethod
    def of(
        cls,
        models: Sequence[str],
        accelerators: Sequence[str],
        formats: Sequence[str],
        chips: Sequence[str],
    ) -> Self:
        """The servers of these models on these accelerators in these formats, on so many chips or
        on as many as is usual.

        >>> found = Servers.of(
        ...     ("gpt-oss-120b", "Llama-3.1-70B"), ("H100 SXM",), ("FP8",), ("fewest", "8")
        ... )
        >>> [key[-1] for key in found.curves], found.usual["gpt-oss-120b", "H100 SXM", "FP8"]
        (['4', '8'], 'the chip does not serve it in this format. Choose MXFP4.')
        """
        held = servers(tuple(models), tuple(accelerators), tuple(formats))
        least: dict[tuple[str, ...], str] = {}
        for *key, many in held:
            least.setdefault(tuple(key), many)
        usual: dict[tuple[str, ...], Mapping[str, Any] | str] = {
            key: _usual(Deployment(*_named(*key)), least.get(key))
            for key in product(models, accelerators, formats)
        }
        held = {
            key: of
            for key, of in held.items()
            if key[-1] in chips or (FEWEST in chips and key[-1] == _chips(usual[key[:-1]]))
        }
        return cls(
            {key: figures(of.curve) for key, of in held.items()},
            {key: {"network": of.network, "engine": of.engine} for key, of in held.items()},
            usual,
            {key: _sure(Deployment(*_named(*key))) for key in usual},
        )

    def chosen(self, model: Any, accelerator: Any, form: Any, chips: Any) -> ServerSteps:
        """The steps of the server of a model on so many chips, or on as many as is usual.

        Parameters
        ----------
        model, accelerator, form : words, quantities or not
        chips : "fewest" or their number as a word

        >>> from scaleright.quantity import evaluate, given
        >>> offered = ("fewest", "1", "8")
        >>> servers = Servers.of(("Llama-3.1-70B",), ("H100 SXM",), ("BF16", "FP8"), offered)
        >>> form, chips = given("form", "FP8"), given("chips", "fewest")
        >>> steps = servers.chosen("Llama-3.1-70B", "H100 SXM", form, chips)
        >>> found = [steps.chips, steps.lacking]
        >>> steps.chips.value, evaluate(found, {"form": "BF16", "chips": "1"})
        (4.0, [nan, 'its weights and 8 requests take 4 chips or more. Choose as many.'])
        """
        usual = choose(self.usual, model, accelerator, form)
        key = model, accelerator, form, where(chips == FEWEST, usual.chips, chips)
        curve, parts = (choose(of, *key, otherwise="no room") for of in (self.curves, self.parts))
        sure = choose(self.sure, model, accelerator, form)
        least = f"its weights and {LEAST_ROOM} requests take " + usual.least
        lacking = where(usual.there, least + " chips or more. Choose as many.", usual.why)
        alike, there = _alike(self.curves), {*curve}
        return ServerSteps(
            Curve(**{name: alike.get(name, curve[name]) for name in _CURVE if name in there}),
            parts.network,
            parts.engine,
            usual.balance,
            usual.ridge,
            sure.low,
            sure.high,
            sure.words,
            curve.there,
            where(curve.there, "", lacking),
        )


def _chips(usual: Mapping[str, Any] | str) -> str:
    """The chips of a row of `Servers.usual`; none where it says why there is no server."""
    return "" if isinstance(usual, str) else usual["chips"]


def _alike(rows: Figures) -> dict[str, Any]:
    """The columns in which all rows are alike, which a page need not look up."""
    first, *others = rows.values()
    return {name: of for name, of in first.items() if all(row[name] == of for row in others)}


def _named(model: str, accelerator: str, *form: str) -> tuple:
    return catalog.model(model), catalog.accelerator(accelerator), *form


def _usual(d: Deployment, least: str | None) -> dict[str, Any] | str:
    """A row of `Servers.usual` for a model in a format, on so many chips at least."""
    if least is None:
        return _lacking(d)
    usual = server(d.model, d.chip, d.precision)
    reached = chip_speeds(d, _feed_forward(d))
    figures = {
        "balance": arithmetic_rows(d),
        "ridge": reached.matmul_flops / reached.memory_bytes_per_s,
    }
    chips = str(usual.chips) if usual else least
    return {"chips": chips, "least": least} | {
        name: float(f"{value:.4g}") for name, value in figures.items()
    }


def _sure(d: Deployment) -> dict[str, Any]:
    """A row of `Servers.sure`."""
    d = replace(d, software=SOFTWARE)
    low, high = interval(d, "throughput")
    words = (
        "of published runs of models that no fit had seen, nine of ten wrote"
        f" {significant(low, 2)} to {significant(high, 2)} of the predicted tokens"
    )
    lent = borrowed(d)
    return {"low": low, "high": high, "words": f"{words}; {lent}" if lent else words}


def _lacking(d: Deployment) -> str:
    """Why no server of one node holds a model in a format."""
    known = offered(d.model, d.chip)
    if d.precision not in known:
        return f"the chip does not serve it in this format. Choose {either(known)}."
    return (
        f"eight chips have no room for its weights and {LEAST_ROOM} requests. Choose fewer bits or"
        " a larger chip."
    )
