"""A published `config.json`, or a shape in a few numbers, read as a `Transformer`.

The tables `config_types` and `config_fields` say which configurations are read and what their
fields mean. A field that they do not know is refused by name, because it may stand for something
that a shape leaves out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.catalog.architectures import architectures, complete
from scaleright.catalog.package import data_dir, resource
from scaleright.catalog.tables import kept, noted, unnoted
from scaleright.names import brief, suggestion
from scaleright.numerals import hint

# The format in which a published configuration says that its weights are


_FORMATS = {
    "bfloat16": "BF16",
    "float16": "FP16",
    "half": "FP16",
    "float32": "FP32",
    "float8_e4m3fn": "FP8",
}


PRECISIONS = ("FP32", "FP16", "BF16", "FP8", "FP8-block", "INT8", "INT4", "NVFP4", "MXFP4")
"""What a shape in a few numbers may say of its weights."""


class ConfigError(ValueError):
    """A configuration that cannot be read; names the file or model and every reason.

    problems : the reasons, one by one, without that name
    """

    def __init__(self, said: str, problems: Iterable[str] = ()):
        super().__init__(said)
        self.problems = tuple(problems) or (said,)


class UnsupportedArchitectureError(ConfigError):
    """A configuration of a model that no `Transformer` tells, as one with state-space layers."""


def weights_format(config: Mapping[str, Any]) -> str:
    """Format of the weights that a configuration names; empty where it names none.

    Raises
    ------
    ConfigError : it names one that is not known.

    >>> weights_format({"torch_dtype": "bfloat16"}), weights_format({})
    ('BF16', '')
    >>> weights_format({"quantization_config": {"quant_method": "gptq", "bits": 4}})
    'INT4'
    """
    quantized = config.get("quantization_config") or config.get("compression_config")
    if not quantized:
        kind = config.get("torch_dtype") or config.get("dtype") or ""
        kind = str(kind).removeprefix("torch.")
        if kind and kind not in _FORMATS:
            raise ConfigError(f"dtype = {brief(kind)}: {suggestion(kind, _FORMATS)}")
        return _FORMATS.get(kind, "")
    method = str(quantized.get("quant_method", ""))
    groups: Any = quantized.get("config_groups")
    first: Any = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights: Any = first.get("weights") if isinstance(first, dict) else None
    weights = weights if isinstance(weights, dict) else {}
    bits = quantized.get("bits") or weights.get("num_bits")
    blocks = "FP8-block" if quantized.get("weight_block_size") else "FP8"
    whole, floating = ("INT8", "FP8") if bits == 8 else ("INT4", "NVFP4") if bits == 4 else ("", "")
    algorithm = str(quantized.get("quant_algo", "")).upper()
    known = {
        "fp8": blocks,
        "mxfp4": "MXFP4",
        "gptq": whole,
        "awq": whole,
        "compressed-tensors": floating if weights.get("type") == "float" else whole,
        "modelopt": algorithm if algorithm in ("FP8", "NVFP4") else "",
    }
    if not known.get(method):
        raise ConfigError(
            f"quantization_config: {brief(method)} with {bits} bits is not known"
            f" ({suggestion(method, known)}); leave it out and choose the format yourself"
        )
    return known[method]


# The shape that it tells


_NAME = re.compile(r"[\w.+()-]+(?: [\w.+()-]+)*")
_MOST_NAME, _MOST_SAID = 60, 5
_LAYER_KINDS = {"full_attention": 0, "sliding_attention": 1, "chunked_attention": 1}
"""What a layer attends with, and whether to a window."""
_KINDS = {
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
    "text": (str, "a text"),
    "list": (list, "a list"),
    "mapping": (dict, "a mapping"),
}
_FIELDS = fields(Transformer)[1:]
_SHAPE_KINDS = {
    **{f.name: _KINDS["boolean" if f.type == "bool" else "integer"] for f in _FIELDS},
    "architecture": _KINDS["text"],
    "precision": _KINDS["text"],
    "global_every": _KINDS["integer"],
}
"""The fields of a shape in a few numbers, and what their values must be."""
_POSITIVE = ("layers", "hidden", "heads", "kv_heads", "head_dim", "v_head_dim", "vocab")
_NEEDED = ("layers", "hidden", "heads", "vocab")


class Field(NamedTuple):
    """What a field of a configuration says; see the table `config_fields`."""

    gives: tuple[str, ...]
    kind: str
    needed: bool
    otherwise: str
    only: str


@dataclass(frozen=True)
class Config:
    """A model as its configuration tells it.

    shape : every number of its shape
    precision : format in which its weights are published
    left_out : parts of the configuration that no shape has
    """

    shape: Transformer
    precision: str
    left_out: tuple[str, ...] = ()


@kept
def _rows(folder: Path) -> dict[str, dict[str, Field]]:
    """Fields by the type for which they hold."""
    found: dict[str, dict[str, Field]] = {}
    for row in unnoted("config_fields").fillna("").itertuples():
        gives = tuple(row.gives.split(";")) if row.gives else ()
        of = Field(gives, row.kind, bool(row.needed), row.otherwise, row.only)
        for kind in row.model_types.split(";"):
            found.setdefault(kind, {})[row.field] = of
    return found


def fields_of(model_type: str) -> dict[str, Field]:
    """The fields that a configuration of a type may have.

    >>> fields_of("mixtral")["intermediate_size"].gives, fields_of("llama")["hidden_size"].needed
    (('expert_ffn',), True)
    """
    noted("config_fields")
    rows = _rows(data_dir())
    return rows["any"] | rows.get(model_type, {})


@kept
def _types(folder: Path) -> dict[str, tuple[str, str]]:
    rows = unnoted("config_types").fillna("").itertuples()
    return {row.model_type: (row.architecture, row.refused) for row in rows}


def refusal(model_type: str) -> str:
    """Why configurations of a type are not read; empty where they are.

    >>> refusal("llama"), refusal("jamba")[:28]
    ('', 'hybrid: most layers are Mamb')
    """
    noted("config_types")
    known = _types(data_dir())
    if model_type in known:
        return known[model_type][1]
    read = [name for name, (_, refused) in known.items() if not refused]
    return f"unknown; {suggestion(model_type, read)}; a shape in a few numbers is read of any"


def _mistyped(name: str, value: Any, kind: tuple[type, str]) -> str:
    """What is wrong with the type of a value; a truth value is no number."""
    wanted, words = kind
    right = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
    meant = hint(value) if wanted is int and isinstance(value, str) else ""
    return "" if right else f"{name} = {brief(value)}: needs {words}{meant}"


def _unknown(given: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """A line for fields that are not known, each with what it may have meant."""
    known = [*known]
    if unknown := [name for name in given if name not in known]:
        said = [f"{brief(name)} ({suggestion(name, known)})" for name in unknown[:_MOST_SAID]]
        more = f" and {len(unknown) - _MOST_SAID} more" * (len(unknown) > _MOST_SAID)
        yield f"unknown field{'s' * (len(unknown) > 1)} {', '.join(said)}{more}"


def _missing(names: Iterable[str]) -> Iterator[str]:
    if names := [*names]:
        yield f"missing: {', '.join(names)}"


def _read(config: Mapping[str, Any], known: Mapping[str, Field]) -> dict[str, Any]:
    """The values of a configuration, those that it leaves out as its class has them."""
    given = {name: value for name, value in config.items() if value is not None}
    problems = [*_unknown(config, known)]
    for name, value in given.items():
        of = known.get(name)
        if of and of.kind in _KINDS and (wrong := _mistyped(name, value, _KINDS[of.kind])):
            problems.append(wrong)
        elif of and of.only and value != json.loads(of.only):
            problems.append(f"{name} = {brief(value)}: only {of.only} is read")
    told = {
        column: name for name in given if name in known for column in known[name].gives
    }  # of fields with one meaning any is enough
    needed: dict[tuple[str, ...], str] = {}
    for name, of in known.items():
        if of.needed:
            needed.setdefault(of.gives or (name,), name)
    problems += _missing(
        name
        for gives, name in needed.items()
        if name not in given and not all(column in told for column in gives)
    )
    if problems:
        raise ConfigError("; ".join(problems), problems)
    left = {
        name: json.loads(of.otherwise)
        for name, of in known.items()
        if of.otherwise and name not in config
    }
    return left | given


def _columns(values: Mapping[str, Any], known: Mapping[str, Field]) -> dict[str, Any]:
    """The columns of a shape that fields give directly; two that disagree are refused."""
    found: dict[str, Any] = {}
    by: dict[str, str] = {}
    for name, value in values.items():
        for column in known[name].gives:
            if found.setdefault(column, value) != value:
                raise ConfigError(f"{by[column]} = {found[column]}, but {name} = {value}")
            by.setdefault(column, name)
    return found


def _moe_layers(values: Mapping[str, Any], layers: int) -> int:
    """How many layers have experts."""
    if "moe_layers" in values:
        return len(values["moe_layers"])
    if "mlp_layer_types" in values:
        return values["mlp_layer_types"].count("sparse")
    step = values.get("decoder_sparse_step") or values.get("interleave_moe_layer_step") or 1
    first, dense = values.get("first_k_dense_replace", 0), values.get("mlp_only_layers", ())
    return sum(i >= first and (i + 1) % step == 0 and i not in dense for i in range(layers))


def _window_layers(values: Mapping[str, Any], layers: int) -> int | None:
    """How many layers attend to a window; None where the architecture knows it alone."""
    if any(kind != 1 for kind in values.get("attn_type_list", ())):
        raise UnsupportedArchitectureError(
            "attn_type_list: a layer without softmax attention; a hybrid is not read"
        )
    if "layer_types" not in values:
        return None
    kinds = values["layer_types"]
    if other := [kind for kind in dict.fromkeys(kinds) if kind not in _LAYER_KINDS]:
        said = ", ".join(map(brief, other[:_MOST_SAID]))
        raise UnsupportedArchitectureError(
            f"layer_types: {said} is not read, a hybrid; of {', '.join(_LAYER_KINDS)}"
        )
    if len(kinds) != layers:
        raise ConfigError(f"layer_types names {len(kinds)} layers, but there are {layers}")
    return sum(_LAYER_KINDS[kind] for kind in kinds)


def shape_columns(config: Mapping[str, Any], model_type: str) -> dict[str, Any]:
    """The columns of a shape of which a published configuration speaks; what its architecture
    adds, `complete` knows.

    Raises
    ------
    ConfigError : fields are unknown, missing, of a wrong type or contradict each other.

    >>> shape_columns({"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    ...     "intermediate_size": 256, "vocab_size": 1000}, "mixtral")
    Traceback (most recent call last):
    scaleright.catalog.configs.ConfigError: missing: n_routed_experts, num_experts_per_tok
    """
    known = fields_of(model_type)
    values = _read(config, known)
    row = _columns(values, known)
    told = {column: name for name in values for column in known[name].gives}
    if problems := [*_uncounted(row, told)]:
        raise ConfigError("; ".join(problems), problems)
    layers = row["layers"]
    if row.get("kv_lora_rank"):
        row["head_dim"] = values["qk_nope_head_dim"] + row["qk_rope_head_dim"]
    if row.get("experts"):
        row["moe_layers"] = _moe_layers(values, layers)
        if "n_shared_experts" in values:
            row["shared_ffn"] = values["n_shared_experts"] * row["expert_ffn"]
        row["ffn"] = row.get("ffn", 0) if row["moe_layers"] < layers else 0
    if "qk_norm" in row:
        row["qk_norm"] = "one-head" if row["qk_norm"] else ""
    windowed = _window_layers(values, layers)
    if windowed is not None:
        row["window_layers"] = windowed
        if windowed and not row.get("window"):
            raise ConfigError(f"{windowed} layers see a window, but its length is missing")
    elif config.get("sliding_window", 1) is None:
        row["window"] = 0
    return row


def _published(config: Mapping[str, Any]) -> tuple[dict[str, Any], str, tuple[str, ...]]:
    """Columns, format and what is left out of a published configuration."""
    left_out: tuple[str, ...] = ()
    if "text_config" in config:
        outer = {name: of for name, of in config.items() if name != "model_type"}
        wrapper = _rows(data_dir())["wrapper"]
        _read(outer, fields_of("wrapper") | wrapper | _loose(wrapper))
        left_out = tuple(name for name in config if name.endswith("_config") and name in wrapper)
        left_out = tuple(name for name in left_out if name != "text_config")
        shared = ("tie_word_embeddings", "torch_dtype", "dtype", "quantization_config")
        inner = {name: config[name] for name in shared if config.get(name) is not None}
        config = inner | {k: v for k, v in config["text_config"].items() if v is not None}
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise ConfigError(f"model_type = {brief(model_type)}: needs a text")
    if why := refusal(model_type):
        known = model_type in _types(data_dir())
        error = UnsupportedArchitectureError if known else ConfigError
        raise error(f"model_type = {brief(model_type)}: {why}")
    row = shape_columns(config, model_type)
    told = weights_format(config)
    full, usual = complete({}, _types(data_dir())[model_type][0], row)
    return full, told or usual, left_out


def _loose(wrapper: Mapping[str, Field]) -> dict[str, Field]:
    """The fields of any type that a wrapper may repeat, none of them needed."""
    return {
        name: Field((), of.kind, False, "", "")
        for name, of in fields_of("any").items()
        if name not in wrapper
    }


def _few_numbers(config: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Columns and format of a shape in a few numbers."""
    problems = [*_unknown(config, _SHAPE_KINDS)]
    given = {k: v for k, v in config.items() if v is not None and k in _SHAPE_KINDS}
    problems += filter(None, (_mistyped(k, v, _SHAPE_KINDS[k]) for k, v in given.items()))
    problems += _uncounted(given)
    needed = (*_NEEDED, "ffn") if not given.get("experts") else (*_NEEDED, "experts_per_token")
    problems += _missing(name for name in needed if name not in given)
    kind = given.pop("architecture", "llama")
    if kind not in (known := architectures()):
        problems.append(f"architecture = {brief(kind)}: {suggestion(kind, known)}")
    precision = given.pop("precision", "")
    if precision and precision not in PRECISIONS:
        problems.append(f"precision = {brief(precision)}: {suggestion(precision, PRECISIONS)}")
    if problems:
        raise ConfigError("; ".join(problems), problems)
    if given.get("experts"):
        given.setdefault("moe_layers", given["layers"])
        given.setdefault("expert_ffn", given.get("ffn", 0))
        if given["moe_layers"] == given["layers"]:
            given["ffn"] = 0
    row, usual = complete({}, kind, given)
    return row, precision or usual


def _uncounted(given: Mapping[str, Any], told: Mapping[str, str] = {}) -> Iterator[str]:
    """Counts and widths that are none, each by the field that has told it."""
    for name, value in given.items():
        least = 1 if name in _POSITIVE else 0
        if isinstance(value, int) and value < least:
            yield f"{told.get(name, name)} = {value}: allowed: {least} or more"


def _bounded(row: Mapping[str, Any]) -> Iterator[str]:
    """What is larger than any model of the table may be."""
    for field in resource("models")["schema"]["fields"]:
        most = field.get("constraints", {}).get("maximum")
        value = row.get(field["name"])
        if most is not None and value is not None and value > most:
            yield f"{field['name']} = {value:,}: at most {most:,}"


def config_of(config: Mapping[str, Any], name: str) -> Config:
    """A model from its configuration.

    Parameters
    ----------
    config : the fields of a published config.json, or of a shape: layers, hidden, heads, vocab,
        ffn, and whatever else a `Transformer` has, with `architecture`, a key of architectures.csv
        (by default llama), for the rest
    name : what to call it, unless the configuration has a `name`

    Raises
    ------
    ConfigError : names every field that is unknown, missing, of a wrong type, or not read, and
        why. UnsupportedArchitectureError, if it is a model that a shape cannot tell (a hybrid).

    >>> config_of(dict(layers=2, hidden=64, heads=4, ffn=256, vocab=1000), "tiny").shape.kv_heads
    4
    >>> config_of({"layers": 2}, "mine")
    Traceback (most recent call last):
    scaleright.catalog.configs.ConfigError: mine: missing: hidden, heads, vocab, ffn
    """
    name = config.get("name") or name
    told = isinstance(name, str) and len(name) <= _MOST_NAME and _NAME.fullmatch(name)
    if not told:
        letters = f"up to {_MOST_NAME} letters, digits, spaces and . - _ + ( )"
        raise ConfigError(f"name = {brief(name)}: allowed: {letters}; give a `name` in the file")
    config = {field: value for field, value in config.items() if field != "name"}
    try:
        left_out: tuple[str, ...] = ()
        if "model_type" in config or "text_config" in config:
            row, precision, left_out = _published(config)
        else:
            row, precision = _few_numbers(config)
        if problems := [*_bounded(row)]:
            raise ConfigError("; ".join(problems), problems)
    except ValueError as error:
        said = str(error).removeprefix("row: ")
        known = isinstance(error, UnsupportedArchitectureError)
        of = UnsupportedArchitectureError if known else ConfigError
        raise of(f"{name}: {said}", getattr(error, "problems", [said])) from None
    return Config(
        Transformer(name=name, **{c: row[c] for c in SHAPE_FIELDS[1:]}), precision, left_out
    )
