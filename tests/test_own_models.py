"""A reader's own model: published configurations and shapes, what is read of them and refused."""

import json
import re
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
from chapter_cells import BOOK, Run
from scaleright import catalog
from scaleright.catalog import ConfigError, read_config
from scaleright.catalog.configs import config_of
from scaleright.charts.inputs import described
from scaleright.inference.formats import released_in, usual_format
from scaleright.parameters import validate
from scaleright.press.texts import declared
from scaleright.transformer.parameters import parameters
from scaleright.validation.kinds import validate as validate_rows

PUBLISHED = json.loads((Path(__file__).parent / "fixtures" / "configs.json").read_text())
"""Fields of published configurations, with the parameters of the published weights where their
page counts the language model alone."""
SHAPE = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256}
LLAMA = PUBLISHED["Llama-2-7B"]["config"]
MIXTURE = PUBLISHED["Qwen3-30B-A3B"]["config"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_configuration_gives_the_shape_of_the_catalog(name):
    read = config_of(PUBLISHED[name]["config"], name)
    differ = {
        field: (value, getattr(catalog.model(name), field))
        for field, value in asdict(read.shape).items()
        if value != getattr(catalog.model(name), field)
    }
    # the catalog has the context of the base model, the file that of its extension
    assert set(differ) <= ({"max_context"} if name in ("Qwen2.5-14B", "DeepSeek-V2") else set())
    published = PUBLISHED[name]["parameters"]
    assert published in (None, parameters(read.shape).total)
    format_of = catalog.table("models").set_index("name")["precision"]
    assert read.precision == format_of[name]


def test_a_shape_in_a_few_numbers_is_a_model():
    read = config_of(SHAPE, "mine")
    assert parameters(read.shape).total == parameters(catalog.model("Llama-3.1-8B")).total
    sparse = SHAPE | {"experts": 8, "experts_per_token": 2}
    mixture = config_of(sparse | {"vocab": 32000}, "sparse").shape
    assert parameters(mixture).total == parameters(catalog.model("Mixtral-8x7B")).total
    tied = config_of(SHAPE | {"tied_embeddings": True, "architecture": "qwen3"}, "tied").shape
    assert tied.tied_embeddings and tied.qk_norm_width == 2 * 128
    windowed = config_of(SHAPE | {"window": 1024, "global_every": 4}, "windowed").shape
    assert windowed.window_layers == 24


REFUSED = {
    "hybrid": ({"model_type": "jamba"}, "jamba.*hybrid: most layers are Mamba"),
    "attention and state space": ({"model_type": "nemotron_h"}, "nemotron_h.*Mamba"),
    "linear attention": ({"model_type": "qwen3_next"}, "qwen3_next.*linear attention"),
    "hybrid by its layers": (
        LLAMA | {"layer_types": ["linear_attention"] * 32},
        "layer_types: 'linear_attention' is not read, a hybrid",
    ),
    "unknown type": ({"model_type": "lama"}, "model_type = 'lama': unknown; nearest: llama"),
    "no type": ({"model_type": 7}, "model_type = 7: needs a text"),
    "unknown fields": (
        LLAMA | {"num_hiden_layers": 3, "ssm_state": 16},
        "unknown fields 'num_hiden_layers' .nearest: num_hidden_layers.*'ssm_state'",
    ),
    "missing fields": (
        {k: v for k, v in LLAMA.items() if k not in ("vocab_size", "hidden_size")},
        "missing: hidden_size, vocab_size",
    ),
    "missing experts": (
        {k: v for k, v in MIXTURE.items() if k != "num_experts"},
        "missing: n_routed_experts",
    ),
    "text for a number": (LLAMA | {"hidden_size": "4096"}, "hidden_size = '4096': needs a whole"),
    "truth for a number": (LLAMA | {"num_hidden_layers": True}, "num_hidden_layers = True: needs"),
    "part of a layer": (LLAMA | {"num_hidden_layers": 1.5}, "num_hidden_layers = 1.5: needs"),
    "number for truth": (LLAMA | {"tie_word_embeddings": 1}, "tie_word_embeddings = 1: needs true"),
    "no layers": (LLAMA | {"num_hidden_layers": 0}, "num_hidden_layers = 0: allowed: 1"),
    "no heads": (LLAMA | {"num_key_value_heads": 0}, "num_key_value_heads = 0: allowed: 1"),
    "heads that do not divide": (LLAMA | {"num_key_value_heads": 5}, "kv_heads = 5 does not"),
    "too large": (LLAMA | {"num_hidden_layers": 10**9}, "layers = 1,000,000,000: at most"),
    "two that differ": (
        MIXTURE | {"num_local_experts": 64},
        "num_experts = 128, but num_local_experts = 64",
    ),
    "encoder and decoder": (LLAMA | {"is_encoder_decoder": True}, "is_encoder_decoder = True: onl"),
    "unread window": (MIXTURE | {"use_sliding_window": True}, "use_sliding_window = True: only"),
    "layers without kinds": (LLAMA | {"layer_types": ["full_attention"]}, "names 1 layers"),
    "unknown quantization": (LLAMA | {"quantization_config": {"quant_method": "zip"}}, "'zip'"),
    "unknown format": (LLAMA | {"torch_dtype": "int3"}, "dtype = 'int3'"),
    "unknown shape field": (SHAPE | {"depth": 3}, "unknown field 'depth'"),
    "shape without width": ({"layers": 3}, "missing: hidden, heads, vocab, ffn"),
    "truth in a shape": (SHAPE | {"kv_heads": True}, "kv_heads = True: needs a whole number"),
    "unknown architecture": (SHAPE | {"architecture": "lama"}, "architecture = 'lama': nearest"),
    "unknown precision": (SHAPE | {"precision": "FP9"}, "precision = 'FP9': nearest: FP"),
    "negative": (SHAPE | {"ffn": -1}, "ffn = -1: allowed: 0 or more"),
    "markup in its name": (SHAPE | {"name": "<b>"}, "name = '<b>': allowed"),
    "text part of a hybrid": (
        {"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text"}},
        "qwen3_5_text.*linear attention",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_is_refused_by_name(case):
    config, words = REFUSED[case]
    with pytest.raises(ConfigError, match=rf"(?s)^(mine: .*|){words}"):
        config_of(config, "mine")


def test_a_file_names_its_model(tmp_path):
    (folder := tmp_path / "my-7b").mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    assert read_config(folder / "config.json").shape.name == "my-7b"
    (folder / "wide.toml").write_text("\n".join(f"{k} = {v}" for k, v in SHAPE.items()))
    assert read_config(folder / "wide.toml").shape.name == "wide"
    (folder / "named.yaml").write_text(
        "\n".join(f"{k}: {v}" for k, v in SHAPE.items()) + "\nname: A"
    )
    assert read_config(folder / "named.yaml").shape.name == "A"


@pytest.fixture
def mine(tmp_path):
    """The path of an own model, of the shape of Llama-3.1-8B; none is known afterwards."""
    (folder := tmp_path / "my-8b").mkdir()
    (path := folder / "config.json").write_text(json.dumps(SHAPE | {"max_context": 131072}))
    yield path
    catalog.drop_models()


def test_an_own_model_is_found_by_name_and_is_no_evidence(mine):
    shape = catalog.add_model(mine)
    assert catalog.model("MY-8b") is shape and "my-8b" in catalog.decoders()
    assert "my-8b" not in catalog.models(own=False)
    assert catalog.release_format("my-8b") == "BF16"
    with pytest.raises(LookupError, match="nearest: my-8b"):
        catalog.model("my-8bb")


def test_an_own_model_released_in_four_bits_is_usually_served_so(tmp_path):
    (path := tmp_path / "four-bits.json").write_text(json.dumps(SHAPE | {"precision": "INT4"}))
    try:
        own = catalog.add_model(path)
        assert released_in(own) == "INT4"
        assert usual_format(own, catalog.accelerator("H100 SXM")) == "INT4"
    finally:
        catalog.drop_models()


def test_an_own_model_takes_no_name_of_the_catalog(mine):
    named = SHAPE | {"name": "Llama-3-8B"}  # an alias there
    assert catalog.add_model(named).name == "Llama-3-8B (own)"
    assert catalog.model("Llama-3-8B").name == "Llama-3.1-8B"


def test_two_own_models_of_one_name_are_refused_and_a_changed_file_is_read_again(mine):
    catalog.add_model(mine)
    with pytest.raises(ConfigError, match="two models are called my-8b"):
        catalog.add_model(SHAPE | {"layers": 3}, "my-8b")
    mine.write_text(json.dumps(SHAPE | {"layers": 3}))
    assert catalog.add_model(mine).layers == catalog.model("my-8b").layers == 3


def test_what_is_remembered_of_an_own_model_is_not_that_of_another_of_its_name(mine):
    layers = catalog.remembered(lambda name: catalog.model(name).layers)
    catalog.add_model(mine)
    assert layers("my-8b") == 32
    mine.write_text(json.dumps(SHAPE | {"layers": 3}))
    catalog.add_model(mine)
    assert layers("my-8b") == 3


def test_code_makes_own_models_known_elsewhere(mine):
    shapes = [catalog.add_model(mine)]
    shapes += [
        catalog.add_model(PUBLISHED[of]["config"], f"own {of}")
        for of in ("DeepSeek-V3", "gpt-oss-20b", "Gemma-3-12B", "GPT-2 XL", "Llama-4-Maverick")
    ]
    told = catalog.own_models()
    code = catalog.retold([*told, "Llama-3.1-8B", 7])
    catalog.drop_models()
    exec(code, {})
    known = catalog.own_models()
    assert [known[of.name].shape for of in shapes] == shapes
    assert [of.precision for of in known.values()] == [of.precision for of in told.values()]
    assert catalog.retold(["Llama-3.1-8B"]) == ""


def _of_models(of) -> bool:
    choices = {*of.choices}
    return of.type == "str" and bool(choices) and choices <= {*spoken()}


@cache
def spoken() -> frozenset[str]:
    """Names and aliases of the models of the catalog."""
    rows = catalog.table("models")
    aliases = rows["aliases"].dropna().str.split(";").explode().str.strip()
    return frozenset((*rows["name"], *aliases))


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_an_own_model_is_taken_where_a_model_is_or_refused_with_the_nearest(chapter, mine):
    for of in filter(_of_models, declared(chapter, BOOK)):
        assert described(of, of.default).get("own", False) == of.own  # said beside the menu
        if of.own:
            assert of.accept(str(mine)) == of.accept("my-8b") == "my-8b"
            with pytest.raises(ValueError, match=r"or the path of a config\.json"):
                of.accept("Lama")
            mine.with_name("other.json").write_text('{"layers": 2, "depth": 3}')
            with pytest.raises(ValueError, match=rf"{of.name} = .*unknown field 'depth'"):
                of.accept(str(mine.with_name("other.json")))
            encoder = json.dumps(SHAPE | {"architecture": "bert", "kv_heads": 32})
            mine.with_name("reads.json").write_text(encoder)
            if not of.catalog:
                with pytest.raises(ValueError, match="reads tokens and writes none"):
                    of.accept(str(mine.with_name("reads.json")))
        else:
            with pytest.raises(ValueError, match=r"no model of your own is taken here.*; nearest"):
                of.accept(str(mine))


@pytest.mark.parametrize("chapter", ["scaling_math", "memory_wall", "token_cost"])
def test_an_own_model_is_answered_as_one_of_its_shape(chapter, mine):
    there = {"accelerator": "H100 SXM", "api_host": "median"} if chapter == "token_cost" else {}
    own, twin = (
        Run(chapter, validate(declared(chapter, BOOK), {"model": name} | there))
        for name in (str(mine), "Llama-3.1-8B")
    )
    own, twin = (run.until() and run.answer for run in (own, twin))
    apart = {"model", "api", "asked", "even", "cheaper", "loss", "span", "advice", "further"}
    # what says its name, or hangs on an API
    both = twin["quantities"].keys() & own["quantities"].keys()
    same = [name for name in both if not apart & {*name.split("_")}]
    assert len(same) >= 4
    assert [own["quantities"][name] for name in same] == [twin["quantities"][name] for name in same]
    if chapter == "token_cost":
        assert "nobody lists an API price of my-8b; give your own" in own["text"]
        said = own["text"].replace("none (APIs)", "")  # no day of a price that nobody lists
        assert not re.search(r"\b(nan|none)\b", said, re.IGNORECASE)


def test_rows_of_a_file_may_name_an_own_model(mine, tmp_path):
    rows = "model,quantity,published,digits\nmy-8b/config.json,total_parameters,8030261248,10\n"
    (tmp_path / "counts.csv").write_text(rows)
    report = validate_rows("counts", tmp_path / "counts.csv")
    assert report.rows["model"].tolist() == ["my-8b"]
    assert report.rows["within_rounding"].all()
    (tmp_path / "counts.csv").write_text(rows.replace("config.json", "confg.json"))
    with pytest.raises(catalog.DataError, match=r"line 2.*no such file; nearest: config\.json"):
        validate_rows("counts", tmp_path / "counts.csv")
