"""A reader's own models: read from a file, and known by name beside those of the table."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from scaleright.architecture import Transformer
from scaleright.catalog.config_formats import ConfigError
from scaleright.catalog.configs import Config, config_of
from scaleright.catalog.package import data_dir
from scaleright.catalog.tables import kept, unnoted
from scaleright.names import brief, suggestion

SUFFIXES = (".json", ".toml", ".yaml", ".yml")
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
    ConfigError : the file cannot be read, or what it says; see `config_of`.
    """
    if isinstance(source, Mapping):
        return config_of(source, name or "own model")
    path = Path(source).expanduser()
    usual = path.resolve().parent.name if path.stem == "config" else path.stem
    said = brief(str(source))
    if path.suffix.casefold() not in SUFFIXES and not path.is_dir():
        raise ConfigError(f"{said}: not a file that is read; allowed: {', '.join(SUFFIXES)}")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"larger than {_MOST_BYTES:,} bytes, no configuration")
        text = path.read_bytes().decode("utf-8-sig")
        parsed = _parse(text, path.suffix.casefold())
    except ConfigError as error:
        raise ConfigError(f"{said}: {error}") from None
    except IsADirectoryError:
        inside = " (it has a config.json: give that)" * (path / "config.json").is_file()
        raise ConfigError(f"{said}: a folder{inside}; allowed: a file") from None
    except FileNotFoundError:
        near = [of.name for of in path.parent.glob("*") if of.suffix in SUFFIXES]
        raise ConfigError(f"{said}: no such file; {suggestion(path.name, near)}") from None
    except OSError as error:
        raise ConfigError(f"{said}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{said}: not text in UTF-8") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, yaml.YAMLError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise ConfigError(f"{said}: not {path.suffix[1:].upper()}: {why}") from None
    if not isinstance(parsed, dict) or not all(isinstance(key, str) for key in parsed):
        raise ConfigError(f"{said}: needs fields and their values, not {brief(parsed)}")
    return config_of(parsed, name or usual)


def _parse(text: str, suffix: str) -> Any:
    if suffix == ".json":
        return json.loads(text, object_pairs_hook=_once)
    return tomllib.loads(text) if suffix == ".toml" else yaml.safe_load(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON file, whose fields may stand there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{twice} is given twice")
    return found


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
    ConfigError : it cannot be read, or another source has a different model of this name.

    >>> add_model({"layers": 2, "hidden": 64, "heads": 4, "ffn": 256, "vocab": 1000}, "tiny").name
    'tiny'
    >>> own_models()["tiny"].precision, drop_models()
    ('BF16', None)
    """
    where = "" if isinstance(source, Mapping) else str(Path(source).expanduser().resolve())
    read = read_config(source, name)
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
