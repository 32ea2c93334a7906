"""A reader's own models: read from a file, and known by name beside those of the table."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from scaleright.architecture import Transformer
from scaleright.catalog.configs import (
    Config,
    ConfigError,
    UnsupportedArchitectureError,
    config_of,
)
from scaleright.catalog.package import data_dir
from scaleright.catalog.tables import kept, unnoted
from scaleright.files import FileError, file_type, line_of, parsed, read_text
from scaleright.names import brief

_FORMS = {".json": "JSON", ".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}
SUFFIXES = (*_FORMS,)
"""Files that are read."""
_MOST_BYTES = 1_000_000


class _Own(NamedTuple):
    config: Config
    source: str


_OWN: dict[str, _Own] = {}


def read_config(source: str | Path | Mapping[str, Any], name: str = "") -> Config:
    """A model from a file (JSON, TOML or YAML), or from a mapping of its fields; see `config_of`.

    name : by default the file's, or that of the folder of a config.json

    Raises
    ------
    FileError, ConfigError : the file cannot be read, or what it says; see `config_of`.
    """
    if isinstance(source, Mapping):
        return config_of(source, name or "own model")
    path, said = Path(source), brief(str(source))
    if (form := _FORMS.get(path.suffix.casefold())) is None and file_type(path) != "folder":
        raise ConfigError(f"{said}: not a file that is read; allowed: {', '.join(SUFFIXES)}")
    try:
        path = path.expanduser()
    except RuntimeError:  # of ~somebody
        raise FileError(said, "nobody has this home; allowed: a file") from None
    if form is None or file_type(path) == "folder":
        inside = " (it has a config.json: give that)" * (file_type(path / "config.json") == "file")
        raise FileError(said, f"a folder{inside}; allowed: a file")
    found = parsed(text := read_text(path, said, _MOST_BYTES), form, said)
    if not isinstance(found, dict):
        raise ConfigError(f"{said}: needs fields and their values, not {brief(found)}")
    try:
        usual = path.resolve().parent.name if path.stem == "config" else path.stem
        return config_of(found, name or usual)
    except UnsupportedArchitectureError:
        raise
    except ConfigError as error:
        raise ConfigError("\n".join(_located(said, text, error.problems))) from None


def _located(said: str, text: str, problems: Iterable[str]) -> Iterator[str]:
    """What is wrong with the fields of a file, each with the line where its field stands."""
    for problem in problems:
        field = re.match(r"(?:unknown fields? )?'?(\w+)", problem)
        line = line_of(text, field[1]) if field else None
        yield f"{said}{f', line {line}' if line else ''}: {problem}"


@kept
def _taken(folder: Path) -> frozenset[str]:
    """The names and aliases of the table, in lower case."""
    rows = unnoted("models")
    aliases = rows["aliases"].dropna().str.split(";").explode().str.strip()
    return frozenset(name.casefold() for name in (*rows["name"], *aliases))


def add_model(source: str | Path | Mapping[str, Any], name: str = "") -> Transformer:
    """Make a model of the reader's own known by its name, as those of the catalog are.

    A file that is read again replaces what it said before. A name that the catalog has gets
    "(own)" behind it: nothing that is known of that model is known of this one.

    Parameters
    ----------
    source : path of a config.json or of a shape in a few numbers (JSON, TOML, YAML), or a mapping
        of the same fields
    name : by default the `name` in the source, the file's, or that of the folder of a config.json

    Raises
    ------
    FileError, ConfigError : it cannot be read, or another source has a different model of this
        name.

    >>> add_model({"layers": 2, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 1000}, "tiny").name
    'tiny'
    >>> own_models()["tiny"].precision, drop_models()
    ('BF16', None)
    """
    read = read_config(source, name)
    where = "" if isinstance(source, Mapping) else str(Path(source).expanduser().resolve())
    if read.shape.name.casefold() in _taken(data_dir()):
        told = replace(read.shape, name=f"{read.shape.name} (own)")
        read = replace(read, shape=told)
    called = read.shape.name
    known = next((of for of in _OWN if of.casefold() == called.casefold()), called)
    if known in _OWN and _OWN[known].source != where and _OWN[known].config != read:
        raise ConfigError(f"two models are called {called}; give one another `name` in its file")
    _OWN.pop(known, None)
    _OWN[called] = _Own(read, where)
    return read.shape


def own_models() -> dict[str, Config]:
    """The reader's own models by name."""
    return {name: of.config for name, of in _OWN.items()}


def own_source(name: str) -> str:
    """The path of the file that a model of the reader's own was read from; empty where there is no
    such model, or no file.
    """
    return _OWN[name].source if name in _OWN else ""


def drop_models() -> None:
    """Forget the reader's own models."""
    _OWN.clear()


def own_told(named_in: Any = None) -> tuple[Hashable, ...]:
    """What tells the reader's own models from others: all, or those named in some arguments.

    >>> _ = add_model({"layers": 2, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 1000}, "tiny")
    >>> len(own_told((("tiny", "H100 SXM"), 8))), len(own_told("H100 SXM")), drop_models()
    (1, 0, None)
    """
    asked = _OWN if named_in is None else _OWN.keys() & set(_words(named_in)) if _OWN else ()
    return tuple((_OWN[n].config.shape, _OWN[n].config.precision) for n in sorted(asked))


def _words(of: Any) -> Iterator[str]:
    """Every text in nested tuples and sets."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, (tuple, frozenset)):
        for part in of:
            yield from _words(part)


def _fields(of: Config) -> dict[str, Any]:
    """A model as a shape in a few numbers: those that it would not have without being told."""
    shape = asdict(of.shape)
    few = {name: shape[name] for name in ("layers", "hidden", "heads", "vocab")}
    few |= {"ffn": shape["ffn"] or shape["expert_ffn"]}
    usual = asdict(config_of(few, "usual").shape)
    told = {name: value for name, value in shape.items() if value != usual[name]}
    return {**few, "ffn": shape["ffn"], **told, "name": of.shape.name, "precision": of.precision}


def retold(names: Iterable[Any]) -> str:
    """Code that makes those of some names that are the reader's own known in another process;
    empty where none is.
    """
    fields = [_fields(_OWN[name].config) for name in dict.fromkeys(names) if name in _OWN]
    lines = [f"catalog.add_model({of!r});" for of in fields]
    return "\n".join(["from scaleright import catalog", "", *lines]) if lines else ""
