"""A reader's own models: read from a file, and known by name beside those of the table."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from scaleright.catalog.configs import Config, ConfigError, config_of
from scaleright.names import brief, suggestion

SUFFIXES = (".json", ".toml", ".yaml", ".yml")
"""Files that are read."""
_MOST_BYTES = 1_000_000


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
