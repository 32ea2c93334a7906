"""A model of the reader's own where a parameter is a model: the path of its file, then its name."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scaleright.files import file_type
from scaleright.names import brief

if TYPE_CHECKING:
    from scaleright.parameters.declaration import Parameter

_SUFFIXES = (".json", ".toml", ".yaml", ".yml")
"""Those of `catalog.SUFFIXES`, which takes long to import."""


def is_file(of: Parameter, value: str) -> bool:
    """Whether a text is meant as the path of a file with a model: where a model is asked for, one
    that ends as such files do, or that is there and no name.
    """
    if of.type != "str" or value in of.choices or of.catalog == "accelerators":
        return False
    path = value.strip()
    if not path.casefold().endswith(_SUFFIXES) and not ("/" in path and file_type(Path(path))):
        return False
    if of.own or of.catalog:
        return True
    from scaleright import catalog

    return not catalog.models(own=False).keys().isdisjoint(of.choices)


def known(name: str) -> bool:
    """Whether the reader has a model of this name."""
    from scaleright import catalog

    return name in catalog.own_models()


def decoder(name: str) -> str:
    """A model of the catalog that writes tokens, by its name or as a release of it is called; empty
    where there is none.
    """
    from scaleright import catalog

    try:
        shape = catalog.model(name)
    except LookupError:
        return ""
    said = name.strip()
    called = shape.name if said.casefold() == shape.name.casefold() else said
    return called if shape.causal else ""


def accepted(of: Parameter, path: str) -> str:
    """The name of the model that a file has, known from now on.

    Raises
    ------
    ValueError : the parameter takes none, with what it takes of about the size; or the file cannot
        be read, with what is wrong.
    """
    from scaleright import catalog

    said = f"{of.name} = {brief(path)}"
    try:
        if of.own:
            shape = catalog.read_config(path).shape
            if not (shape.causal or of.catalog):  # whoever takes encoders has a rule for them
                raise ValueError(f"{shape.name} reads tokens and writes none, as encoders do")
            return catalog.add_model(path).name
        near = next(iter(by_size(catalog.read_config(path).shape, of.choices)), "")
    except ValueError as error:
        told = str(error).replace(f"{brief(path)}", said)
        raise ValueError(told if told.startswith(said) else f"{said}: {told}") from None
    raise ValueError(
        f"{said}: no model of your own is taken here ({of.meaning}){near and f'; nearest: {near}'}"
    )


def by_size(shape: Any, choices: Iterable[Any]) -> list[str]:
    """The choices that are models, the nearest in parameters first, of those as dense or sparse."""
    from scaleright import catalog
    from scaleright.transformer.parameters import parameters

    def away(of: Any) -> tuple[bool, float]:
        ratio = float(parameters(of).total) / float(parameters(shape).total)
        return bool(of.experts) != bool(shape.experts), abs(log(ratio))

    found = catalog.models(own=False)
    return sorted((n for n in choices if n in found), key=lambda name: away(found[name]))


def own_shape(name: Any) -> Any | None:
    """The shape of a model of the reader's own; None if it is none."""
    from scaleright import catalog

    return of.shape if (of := catalog.own_models().get(name)) else None


def read_as() -> list[str]:
    """A line for each of the reader's own models: what it was read as."""
    from scaleright import catalog
    from scaleright.transformer.parameters import active_parameters, parameters

    lines = []
    for name, of in catalog.own_models().items():
        total, active = (float(count(of.shape).total) for count in (parameters, active_parameters))
        used = f", {active / 1e9:.4g} billion active" if of.shape.experts else ""
        left = f"; left out: {', '.join(of.left_out)}" if of.left_out else ""
        size = f"{total / 1e9:.4g} billion parameters{used}, {of.shape.layers} layers"
        lines.append(f"your model {name}: {size}, weights in {of.precision}{left}")
    return lines
