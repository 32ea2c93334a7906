"""Model shapes from the raw collections, joined with what those leave out.

A raw configuration says layers, widths and heads; whether a family has biases, gated feed-forward layers, two or
four norms a layer, tied embeddings or learned positions is a property of its architecture as published. `TRAITS`
holds that per architecture, `FIXES` what a raw row has wrong or blank, `models_kept.csv` beside this module the rows
that become models: one a shape, under the name people use. Every other raw row is dropped with the reason.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Callable

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.press.refresh.tables import Dropped, RefreshError, Row, parse_csv, read_csv

SOURCES = ("aiconfigurator", "gpupoor", "llmanalysis", "calculon", "scalerightshapes")
FOLDER = "model_architectures"
COLUMNS = (
    "name", "family", "developer", "released", "aliases", *SHAPE_FIELDS[1:], "precision", "source", "architecture_source", "note",
)  # fmt: skip
_DEFAULTS = {f.name: f.default for f in fields(Transformer)}

_GPT = dict(gated_ffn=False, tied_embeddings=True, norm_vectors=2, qkv_bias=True, out_bias=True, ffn_bias=True, precision="FP16")
_LLAMA = dict(gated_ffn=True, tied_embeddings=False, precision="BF16")
_PER_HEAD = dict(qk_norm_width=lambda r: 2 * r["head_dim"])

# What each architecture has that its configuration file does not say; callables see the row so far.
TRAITS: dict[str, dict[str, Any]] = {
    "llama": _LLAMA,
    "llama-fp16": _LLAMA | dict(precision="FP16"),
    "mistral": _LLAMA | dict(window=4096, window_layers=lambda r: r["layers"]),
    "qwen": _LLAMA | dict(qkv_bias=True),
    "qwen3": _LLAMA | _PER_HEAD,
    "qwen3-moe": _LLAMA | _PER_HEAD,
    # Query and key norms span all heads; the router carries a load-balancing bias.
    "minimax": _LLAMA | dict(router_bias=True, qk_norm_width=lambda r: (r["heads"] + r["kv_heads"]) * r["head_dim"]),
    "deepseek": _LLAMA | dict(router_bias=True, precision="FP8-block"),
    "deepseek-sparse": _LLAMA | dict(router_bias=True, index_heads=64, index_head_dim=128, selected_tokens=2048, precision="FP8-block"),
    "glm-sparse": _LLAMA | dict(router_bias=True, index_heads=32, index_head_dim=128, selected_tokens=2048),
    # Three of four layers attend within blocks of 8,192 tokens; one shared expert of the routed width.
    "llama4": _LLAMA | dict(window=8192, chunked_window=True, window_layers=lambda r: r["layers"] * 3 // 4, shared_ffn=8192),
    "gpt-oss": _LLAMA | dict(
        qkv_bias=True, out_bias=True, ffn_bias=True, router_bias=True, sinks=True, window_layers=lambda r: r["layers"] // 2,
        precision="MXFP4"),  # fmt: skip
    # Five local layers for a global one; a norm before and after attention and feed-forward.
    "gemma3": _LLAMA | _PER_HEAD | dict(norms_per_layer=4, window_layers=lambda r: r["layers"] - r["layers"] // 6),
    "gpt2": _GPT | dict(position_rows=1024, max_context=1024, precision="FP32"),
    "megatron": _GPT | dict(vocab=51200, position_rows=2048, max_context=2048),
    "mpt": _GPT | dict(position_rows=2048, max_context=2048, precision="BF16"),
    "opt": _GPT | dict(position_rows=2050),
    "bert": _GPT | dict(position_rows=514, pooler=True, causal=False, precision="FP32"),
    "gpt-neo": _GPT | dict(qkv_bias=False, position_rows=2048, window=256, window_layers=lambda r: r["layers"] // 2, precision="FP32"),
    "gpt-j": _GPT | dict(qkv_bias=False, out_bias=False, tied_embeddings=False, head_bias=True, norms_per_layer=1),
    "neox": _GPT | dict(tied_embeddings=False, max_context=2048),
    "bloom": _GPT | dict(outer_norms=2, max_context=2048, precision="BF16"),
    "phi": _GPT | dict(tied_embeddings=False, head_bias=True, norms_per_layer=1, max_context=2048),
    "santacoder": _GPT | dict(kv_heads=1, position_rows=2048),
    "falcon-rw": _GPT | dict(max_context=2048, precision="BF16"),
    "falcon": dict(gated_ffn=False, tied_embeddings=True, norm_vectors=2, max_context=2048, precision="BF16"),
    "palm": dict(gated_ffn=True, tied_embeddings=True, kv_heads=1, norms_per_layer=1, vocab=256000, max_context=2048, precision="BF16"),
    "gopher": dict(gated_ffn=False, tied_embeddings=True, relative_projection=True, vocab=32000, max_context=2048, precision="BF16"),
    "lamda": dict(gated_ffn=True, tied_embeddings=True, vocab=32000, max_context=8192, precision="BF16"),
    "anthropic": _GPT | dict(vocab=65536, max_context=8192),
}

# Wrong or blank in the raw row, by model: the publication's value.
FIXES: dict[str, dict[str, Any]] = {
    "Llama-2-70B": dict(kv_heads=8),
    "CodeLlama-7B": dict(max_context=16384),
    "CodeLlama-34B": dict(kv_heads=8, vocab=32000, max_context=16384),
    "Llama-2-7B": dict(max_context=4096),
    "Llama-2-13B": dict(max_context=4096),
    "Mistral-7B": dict(kv_heads=8, max_context=32768),
    "Falcon-7B": dict(kv_heads=1, norms_per_layer=1),
    "Falcon-40B": dict(kv_heads=8),
    "Qwen-14B": dict(ffn=13696, max_context=8192),
    "OPT-350M": dict(embedding_width=512, outer_norms=0),
    "GPT-3 13B": dict(vocab=50257),
    "MT-NLG 530B": dict(vocab=51200),
    "Qwen3-4B": dict(max_context=40960),
    "Gemma-3-12B": dict(max_context=131072),
    "Gemma-3-27B": dict(max_context=131072),
    "Qwen3-14B": dict(max_context=40960),
    "Qwen2.5-7B": dict(max_context=131072),
    "Qwen2.5-72B": dict(max_context=131072),
    "BLOOM-560M": dict(hidden=1024), "BLOOM-1.1B": dict(hidden=1536), "BLOOM-1.7B": dict(hidden=2048), "BLOOM-3B": dict(hidden=2560),
    "BLOOM-7.1B": dict(hidden=4096), "BLOOM": dict(hidden=14336),
}  # fmt: skip

# Why a raw row is no model of its own: by model type, else by the start of its name.
HYBRIDS = {
    "qwen3_5_text": "hybrid: most layers are linear attention whose sizes the configuration omits",
    "qwen3_5_moe_text": "hybrid: most layers are linear attention whose sizes the configuration omits",
    "nemotron_h": "hybrid: state sizes of its Mamba layers are absent",
    "nemotron-nas": "layers of different shapes found by architecture search, not listed",
    "deepseek_v4": "compressed attention whose parameters are absent",
    "deepseek_ref": "compressed attention whose parameters are absent",
    "kimi_linear": "hybrid: sizes of its linear attention and experts per token are absent",
    "gemma4_text": "global layers have head sizes of their own, absent here; experts per token blank",
    "mimo_v2_flash": "local and global layers have different heads; the list of expert layers is truncated",
    "step3p7": "local and global layers have different heads, absent here",
    "minimax_m3": "the list of expert layers is truncated, the sparse attention's sizes are absent",
    "minimax_m3_vl": "the list of expert layers is truncated, the sparse attention's sizes are absent",
}
STARTS = (
    (("bigscience",), "fine-tuned or sharded copy of a BLOOM"),
    (("databricks/dolly",), "Pythia fine-tuned, vocabulary trimmed"),
    (("togethercomputer/RedPajama-INCITE",), "Pythia's shape with the vocabulary padded"),
    (("decapoda-research_llama", "NousResearch_Llama", "lmsys_vicuna"), "feed-forward of 4 x hidden is wrong: Llama's is gated and narrower"),
    (("upstage_Llama-2",), "fine-tuned copy of Llama-2-70B"),
    (("PygmalionAI",), "fine-tuned copy of GPT-J-6B"),
    (("bloom-175b",), "shape of GPT-3, not of BLOOM (70 layers of 14,336)"),
    (("gpt2",), "taken from gpu_poor"),
    (("megatron-lm", "mt-nlg"), "vocabulary of OPT; taken from calculon"),
    (("bert-base-", "allenai_scibert", "dslim_bert"), "BERT-base with another vocabulary"),
    (("sentence-transformers",), "sentence encoder, no language model"),
    (("test-", "hf-internal", "fxmarty", "trl-internal"), "test fixture"),
)


def _whole(row: Row, *columns: str) -> int:
    """The first filled column as a whole number, 0 if all are empty."""
    for column in columns:
        if row[column]:
            try:
                return int(row[column])
            except ValueError:
                raise RefreshError(f"row {row['model']!r}, column {column!r}: {row[column]!r} is not a whole number") from None
    return 0


def _configuration(row: Row) -> Row:
    """Shape of a Hugging Face configuration of the newer kind: mixtures, MLA, explicit head width."""
    heads, hidden, layers = _whole(row, "num_attention_heads"), _whole(row, "hidden_size"), _whole(row, "num_hidden_layers")
    experts = _whole(row, "n_routed_experts", "num_local_experts", "num_experts")
    latent, rope = _whole(row, "kv_lora_rank"), _whole(row, "qk_rope_head_dim")
    head_dim = _whole(row, "qk_nope_head_dim") + rope if latent else _whole(row, "head_dim") or hidden // heads
    expert_ffn = _whole(row, "moe_intermediate_size", "intermediate_size") if experts else 0
    step = _whole(row, "interleave_moe_layer_step", "decoder_sparse_step") or 1
    moe_layers = (layers - _whole(row, "first_k_dense_replace")) // step if experts else 0
    return dict(
        layers=layers, hidden=hidden, heads=heads, kv_heads=_whole(row, "num_key_value_heads"), head_dim=head_dim,
        v_head_dim=_whole(row, "v_head_dim") or head_dim, q_lora_rank=_whole(row, "q_lora_rank"), kv_lora_rank=latent,
        qk_rope_head_dim=rope if latent else 0, window=_whole(row, "sliding_window"), experts=experts, moe_layers=moe_layers,
        experts_per_token=_whole(row, "num_experts_per_tok") if experts else 0, expert_ffn=expert_ffn,
        shared_ffn=_whole(row, "n_shared_experts") * expert_ffn,
        ffn=_whole(row, "intermediate_size_mlp", "intermediate_size") if moe_layers < layers else 0,
        vocab=_whole(row, "vocab_size"), tied_embeddings=row["tie_word_embeddings"] == "True",
        max_context=_whole(row, "max_position_embeddings"),
    )  # fmt: skip


def _older(row: Row) -> Row:
    """Shape of a configuration of 2019-2023, whose families name the same fields differently."""
    hidden, heads = _whole(row, "hidden_size", "n_embd", "d_model"), _whole(row, "num_attention_heads", "n_head", "num_heads")
    return dict(
        layers=_whole(row, "num_hidden_layers", "n_layer", "num_layers"), hidden=hidden, heads=heads,
        kv_heads=_whole(row, "num_key_value_heads"), ffn=_whole(row, "intermediate_size", "n_inner", "d_ff"),
        vocab=_whole(row, "vocab_size"),
    )  # fmt: skip


def _analysis(row: Row) -> Row:
    return dict(layers=_whole(row, "num_layers"), hidden=_whole(row, "hidden_dim"), heads=_whole(row, "n_head"),
                kv_heads=_whole(row, "num_key_value_heads"), ffn=_whole(row, "ffn_embed_dim"), vocab=_whole(row, "vocab_size"),
                max_context=_whole(row, "max_seq_len"))  # fmt: skip


def _calculon(row: Row) -> Row:
    return dict(layers=_whole(row, "num_blocks"), hidden=_whole(row, "hidden"), heads=_whole(row, "attn_heads"),
                head_dim=_whole(row, "attn_size"), ffn=_whole(row, "feedforward"))  # fmt: skip


def _collected(row: Row) -> Row:
    columns = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab")
    flags = {c: row[c] == "yes" for c in ("gated_ffn", "tied_embeddings")}
    return {c: _whole(row, c) for c in columns} | flags | dict(window=_whole(row, "sliding_window"))


_HF = (
    "model,model_type,architectures,hidden_size,num_hidden_layers,num_attention_heads,num_key_value_heads,head_dim,intermediate_size,"
    "moe_intermediate_size,vocab_size,max_position_embeddings,n_routed_experts,num_experts,num_local_experts,num_experts_per_tok,"
    "n_shared_experts,num_shared_experts,shared_expert_intermediate_size,first_k_dense_replace,moe_layer_freq,decoder_sparse_step,"
    "q_lora_rank,kv_lora_rank,qk_nope_head_dim,qk_rope_head_dim,v_head_dim,sliding_window,tie_word_embeddings,torch_dtype,"
    "hybrid_override_pattern,intermediate_size_mlp,interleave_moe_layer_step,num_nextn_predict_layers,quant_method"
)
_POOR = (
    "model,arch,hidden_size,num_hidden_layers,num_attention_heads,num_key_value_heads,intermediate_size,vocab_size,n_embd,n_head,"
    "n_layer,n_inner,d_model,d_ff,num_heads,num_layers"
)
_ANALYSIS = "file,name,num_layers,n_head,hidden_dim,vocab_size,max_seq_len,ffn_embed_dim,model_type,num_key_value_heads,mlp_gated_linear_units"
COLLECTIONS: dict[str, tuple[str, str, Callable[[Row], Row]]] = {
    "aiconfigurator": ("hf_configs_from_aiconfigurator.csv", _HF, _configuration),
    "gpupoor": ("gpu_poor_hf_configs_selected.csv", _POOR, _older),
    "llmanalysis": ("llm_analysis_model_configs.csv", _ANALYSIS, _analysis),
    "calculon": ("calculon_models.csv", "model,hidden,feedforward,seq_size,attn_heads,attn_size,num_blocks", _calculon),
    "scalerightshapes": (
        "shapes_missing_above.csv",
        "model,hidden,layers,heads,kv_heads,head_dim,ffn,gated_ffn,vocab,tied_embeddings,sliding_window,local_to_global,note",
        _collected,
    ),
}


def complete(shape: Row, traits: str, fixes: Row | None = None) -> Row:
    """A full row of shape columns: raw figures, then what the architecture adds, then what the raw row has wrong.

    Raises
    ------
    RefreshError : the result contradicts itself or lacks a required figure.

    >>> complete(dict(layers=2, hidden=64, heads=4, ffn=0, vocab=1000), "gpt2")["ffn"]
    256
    """
    row: Row = {k: v for k, v in shape.items() if v not in (None, "")} | (fixes or {})
    for column, value in TRAITS[traits].items():
        if column not in (fixes or {}) and (not shape.get(column) or column in ("gated_ffn", "norms_per_layer")):
            row[column] = value
    row["kv_heads"] = row.get("kv_heads") or (1 if traits == "falcon" else row["heads"])
    row["head_dim"] = row.get("head_dim") or row["hidden"] // row["heads"]
    if not row.get("ffn") and not row.get("moe_layers"):
        row["ffn"] = 4 * row["hidden"]  # the convention of every family whose configuration omits it
    row = {column: value(row) if callable(value) else value for column, value in row.items()}
    if not row.get("window_layers"):
        row["window"] = 0  # a window as long as the context, or one switched off
    full = {c: row[c] if row.get(c) is not None else _DEFAULTS[c] for c in SHAPE_FIELDS[1:] if c in row or c in _DEFAULTS}
    try:
        checked = Transformer(name="row", **full)
    except (TypeError, ValueError) as error:
        raise RefreshError(f"shape {shape}: {error}") from None
    return {c: getattr(checked, c) for c in SHAPE_FIELDS[1:]} | {"precision": row["precision"]}


def _kept() -> dict[tuple[str, str], Row]:
    text = (Path(__file__).parent / "models_kept.csv").read_text(encoding="utf-8")
    return {(row["collection"], row["raw"]): row for row in parse_csv(text, "models_kept.csv")}


def _reason(row: Row, shape: Row, named: dict[tuple, str]) -> str:
    if why := HYBRIDS.get(row.get("model_type", "")):
        return why
    for starts, why in STARTS:
        if row["model"].startswith(starts):
            return why
    if twin := named.get(_signature(shape)):
        return f"same columns as {twin}"
    return "not named by this importer: a line in models_kept.csv makes it a model"


def _signature(shape: Row) -> tuple:
    return tuple((c, v) for c, v in shape.items() if c not in ("max_context", "tied_embeddings"))


def rows(raw: Path) -> tuple[list[Row], list[Dropped]]:
    """Model shapes from `raw`/model_architectures, and every raw row that gives none with the reason.

    Raises
    ------
    RefreshError : a file or a row that this importer names is missing or not as documented.
    """
    kept, out, dropped = _kept(), [], []
    for source, (file, columns, read) in COLLECTIONS.items():
        table = [row | {"model": row.get("model", row.get("file"))} for row in read_csv(raw / FOLDER / file, columns.split(","))]
        shapes = {row["model"]: read(row) for row in table if row.get("model_type") not in HYBRIDS}
        missing = [name for collection, name in kept if collection == source and name not in shapes]
        if missing:
            raise RefreshError(f"{FOLDER}/{file}: no row {missing[0]!r}, which the table of models needs")
        ours = [(shapes[name], line["name"]) for (collection, name), line in kept.items() if collection == source]
        named = {_signature(shape): name for shape, name in reversed(ours)}  # the first of several names a shape
        for row in table:
            if (source, row["model"]) not in kept:
                dropped.append(Dropped(row["model"], _reason(row, shapes.get(row["model"], {}), named)))
                continue
            line = kept[source, row["model"]]
            fixes = FIXES.get(line["name"], {})
            note = "; ".join(f"{column} {value} as published" for column, value in fixes.items() if column != "max_context")
            out.append(
                {column: line[column] for column in ("name", "family", "developer", "released", "aliases")}
                | complete(shapes[row["model"]], line["traits"], fixes)
                | dict(source=source, architecture_source=line["published"], note=note)
            )
    return out, dropped
