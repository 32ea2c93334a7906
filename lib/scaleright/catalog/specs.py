"""Chips and models as frozen, typed specs, looked up by name or alias."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, overload

import pandas as pd

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.catalog.own import own_models
from scaleright.catalog.package import DataError, data_dir
from scaleright.catalog.tables import kept, noted, unnoted
from scaleright.names import nearest, one_of


@dataclass(frozen=True)
class Accelerator:
    """One chip as its datasheet and its buyers know it; SI units, per chip, one direction.

    dense : dense FLOP/s (OP/s for integers) by precision, FP32 accumulate.
    measured : best measured matmul FLOP/s by precision, where someone published one.
    server_watts : most that the vendor's own server draws, over its chips.
    scale_up_chips : chips that one fast fabric joins, this one included.
    scale_up_pair_bytes_per_s : what that fabric carries between one pair of chips, where no switch
        lends a pair all links.
    compute_units : units that work on tiles of a matrix product side by side (SMs, CUs).
    exponentials_per_s : exponentials of the special function units, which bound softmax.
    busy_watts : (low, mean, high) that it draws at work, where its vendor published what it
        measured.
    purchase_usd : (low, high) price of one accelerator, or None where it is not sold.
    purchase_dated : days, months or years of which these prices are, the oldest first.
    """

    name: str
    vendor: str
    kind: str
    segment: str
    form: str | None
    status: str
    released: date | None
    memory_bytes: float | None
    memory_bytes_per_s: float | None
    tdp_watts: float | None
    idle_watts: float | None
    server_watts: float | None
    busy_watts: tuple[float, float, float] | None
    scale_up_bytes_per_s: float | None
    scale_up_chips: float | None
    scale_out_bytes_per_s: float | None
    scale_up_pair_bytes_per_s: float | None
    compute_units: float | None
    exponentials_per_s: float | None
    purchase_usd: tuple[float, float] | None
    dense: Mapping[str, float] = field(repr=False)
    measured: Mapping[str, float] = field(repr=False)
    purchase_dated: tuple[str, ...] = ()

    def peak_flops(self, precision: str = "bf16") -> float:
        """Dense peak at a precision; a chip without it is refused with what it has.

        Raises
        ------
        LookupError : the chip has no such precision.
        """
        return self.dense[one_of(precision, self.dense, f"precision of {self.name}")]

    @overload
    def require(self, quantity: Literal["purchase_usd"]) -> tuple[float, float]: ...

    @overload
    def require(self, quantity: Literal["released"]) -> date: ...

    @overload
    def require(self, quantity: str) -> float: ...

    def require(self, quantity: str) -> Any:
        """A quantity that a calculation cannot do without.

        Raises
        ------
        DataError : the catalog has no such figure for this chip.
        """
        value = getattr(self, quantity)
        if value is None:
            raise DataError(f"the catalog has no {quantity} for {self.name}")
        return value

    @property
    def purchase_age(self) -> str:
        """Of which days, months or years its price is, in words; empty where it is not sold.

        >>> accelerator("RTX 4090").purchase_age
        '2022 to 2023-11'
        """
        return " to ".join(dict.fromkeys(self.purchase_dated))

    @property
    def purchase_mid_usd(self) -> float:
        """Geometric middle of the purchase price range, the fair middle of a ratio scale."""
        low, high = self.require("purchase_usd")
        return (low * high) ** 0.5


def _by_precision(spec: Mapping[str, float], pattern: str) -> Mapping[str, float]:
    """The figures whose name fits a pattern with one group, by what the group matches."""
    found = ((re.fullmatch(pattern, quantity), value) for quantity, value in spec.items())
    return MappingProxyType({match[1]: value for match, value in found if match})


@kept
def _accelerators(folder: Path) -> dict[str, Accelerator]:
    facts = pd.concat(
        [unnoted("accelerator_specs"), unnoted("accelerator_specs_stas")],
        ignore_index=True,
    )
    specs = {
        name: dict(zip(rows["quantity"], rows["value"], strict=True))
        for name, rows in facts.groupby("accelerator")
    }
    dated = facts.dropna(subset="dated").groupby("accelerator")["dated"].agg(sorted)
    chips = {}
    for row in unnoted("accelerators").itertuples():
        spec = specs.get(row.name, {})
        bounds = [spec[k] for k in ("purchase_low_usd", "purchase_high_usd") if k in spec]
        busy = (
            tuple(spec[f"busy_{end}watts"] for end in ("low_", "", "high_"))
            if "busy_watts" in spec
            else None
        )
        known: dict[str, Any] = {
            quantity.name: spec.get(quantity.name) for quantity in fields(Accelerator)
        }
        known |= {
            "name": row.name,
            "vendor": row.vendor,
            "kind": row.kind,
            "segment": row.segment,
            "status": row.status,
            "form": None if pd.isna(row.form) else row.form,
            "released": None if pd.isna(row.released) else row.released.date(),
            "purchase_usd": (min(bounds), max(bounds)) if bounds else None,
            "purchase_dated": tuple(dated.get(row.name, ())),
            "busy_watts": busy,
            "dense": _by_precision(spec, "dense_(.+)_(?:flops|ops)"),
            "measured": _by_precision(spec, "measured_(.+)_matmul_flops"),
        }
        chips[row.name] = Accelerator(**known)
    return chips


@kept
def _spoken(folder: Path, table: str) -> dict[str, str]:
    """The names of a table's rows and their aliases, each with the name that it stands for."""
    rows = unnoted(table)
    spoken = {name: name for name in rows["name"]}
    for row in rows[rows["aliases"].notna()].itertuples():
        for alias in row.aliases.split(";"):
            spoken.setdefault(alias.strip(), row.name)
    return spoken


def _lookup(name: str, known: Mapping[str, Any], table: str, what: str) -> Any:
    if name in known:
        return known[name]
    spoken = {name: name for name in known} | _spoken(data_dir(), table)
    folded = {alias.casefold(): key for alias, key in spoken.items()}
    key = folded.get(str(name).strip().casefold())
    return known[key] if key else nearest(name, spoken, what)


_OF_CHIPS = ("accelerators", "accelerator_specs", "accelerator_specs_stas")


def accelerators() -> dict[str, Accelerator]:
    """Every accelerator of the catalog by name, in the table's order."""
    for table in _OF_CHIPS:
        noted(table)
    return dict(_accelerators(data_dir()))


def accelerator(name: str) -> Accelerator:
    """An accelerator by name or alias, upper or lower case.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> accelerator("h100").name
    'H100 SXM'
    """
    for table in _OF_CHIPS:
        noted(table)
    return _lookup(name, _accelerators(data_dir()), "accelerators", "accelerator")


@kept
def _models(folder: Path) -> dict[str, Transformer]:
    rows = unnoted("models")[list(SHAPE_FIELDS)].to_dict("records")
    return {
        row["name"]: Transformer(
            **{field: value for field, value in row.items() if not pd.isna(value)}
        )
        for row in rows
    }


def models(own: bool = True) -> dict[str, Transformer]:
    """Every model architecture of the catalog by name, in the table's order, then the reader's own
    unless they are to be left out: they are no evidence.
    """
    noted("models")
    mine = {name: of.shape for name, of in own_models().items()} if own else {}
    return _models(data_dir()) | mine


def decoders() -> dict[str, Transformer]:
    """Those of `models` that write, a token after the other.

    >>> "BERT-large" in decoders(), "GPT-2" in decoders()
    (False, True)
    """
    return {name: shape for name, shape in models().items() if shape.causal}


def model(name: str) -> Transformer:
    """A model architecture by name or alias, upper or lower case; the reader's own by the name that
    `add_model` gave it.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> model("gpt-3 175b").layers
    96
    """
    known = _models(data_dir())
    if name in known and not own_models():
        noted("models")
        return known[name]
    return _lookup(name, models(), "models", "model")


def release_format(name: str) -> str:
    """The format in which the weights of a model were published; of the reader's own that which its
    configuration names.

    Raises
    ------
    LookupError : unknown; the nearest names are offered.

    >>> release_format("gpt-oss-120b")
    'MXFP4'
    """
    known, own = model(name).name, own_models()
    if known in own:
        return own[known].precision
    noted("models")
    return _formats(data_dir())[known]


@kept
def _formats(folder: Path) -> dict[str, str]:
    rows = unnoted("models")
    return dict(zip(rows["name"], rows["precision"], strict=True))


def prepare() -> None:
    """Make all accelerators and models, for processes that are forked from this one, and note no
    read: a page's data record names what the page itself asked for.
    """
    _accelerators(data_dir())
    _models(data_dir())
