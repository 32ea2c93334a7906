"""Model shapes from the raw collections, joined with what those leave out.

A raw configuration says layers, widths and heads; whether a family has biases, gated feed-forward layers, two or
four norms a layer, tied embeddings or learned positions is a property of its architecture as published. `TRAITS`
holds that per architecture, `FIXES` what a raw row has wrong or blank, `KEPT` the rows that become models: one a
shape, under the name people use. Every other raw row is dropped with the reason.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Callable

from scaleright.architecture import SHAPE_FIELDS, Transformer
from scaleright.press.refresh.tables import Dropped, RefreshError, Row, read_csv

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

# collection | raw name | name | family | developer | released | architecture as published in | traits | aliases
KEPT = """
aiconfigurator|meta-llama/Meta-Llama-3.1-8B|Llama-3.1-8B|Llama|Meta|2024-07-23|llama3|llama|Llama-3-8B;Meta-Llama-3.1-8B;Llama-3.1-8B-Instruct
aiconfigurator|meta-llama/Meta-Llama-3.1-70B|Llama-3.1-70B|Llama|Meta|2024-07-23|llama3|llama|Llama-3-70B;Llama-3.3-70B;Meta-Llama-3.1-70B;Llama-3.3-70B-Instruct
aiconfigurator|meta-llama/Meta-Llama-3.1-405B|Llama-3.1-405B|Llama|Meta|2024-07-23|llama3|llama|Llama-3-405B;Meta-Llama-3.1-405B;Llama-3.1-405B-Instruct
aiconfigurator|meta-llama/Llama-4-Scout-17B-16E-Instruct|Llama-4-Scout|Llama|Meta|2025-04-05|llama4|llama4|Llama-4-Scout-17B-16E
aiconfigurator|meta-llama/Llama-4-Maverick-17B-128E-Instruct|Llama-4-Maverick|Llama|Meta|2025-04-05|llama4|llama4|Llama-4-Maverick-17B-128E
aiconfigurator|mistralai/Mixtral-8x7B-v0.1|Mixtral-8x7B|Mistral|Mistral AI|2023-12-11|mixtral|llama|Mixtral 8x7B;Mixtral-8x7B-Instruct-v0.1
aiconfigurator|mistralai/Mixtral-8x22B-v0.1|Mixtral-8x22B|Mistral|Mistral AI|2024-04-17|mixtral|llama|Mixtral 8x22B
aiconfigurator|deepseek-ai/DeepSeek-V3|DeepSeek-V3|DeepSeek|DeepSeek|2024-12-26|deepseekv3|deepseek|DeepSeek-R1;DeepSeek-R1-0528;DeepSeek-V3.1
aiconfigurator|deepseek-ai/DeepSeek-V3.2|DeepSeek-V3.2|DeepSeek|DeepSeek|2025-12-01|deepseekv32|deepseek-sparse|DeepSeek-V3.2-Exp
aiconfigurator|moonshotai/Kimi-K2-Instruct|Kimi-K2|Kimi|Moonshot AI|2025-07-11|kimik2|deepseek|Kimi-K2-Instruct
aiconfigurator|moonshotai/Kimi-K2.5|Kimi-K2.5|Kimi|Moonshot AI|2026-01-27|kimik2|deepseek|Kimi-K2.6;Kimi-K2.7-Code
aiconfigurator|zai-org/GLM-5|GLM-5|GLM|Z.ai|2026-02-11|glm5|glm-sparse|GLM-5.1
aiconfigurator|zai-org/GLM-5.2|GLM-5.2|GLM|Z.ai||glm5|glm-sparse|
aiconfigurator|MiniMaxAI/MiniMax-M2.5|MiniMax-M2.5|MiniMax|MiniMax|2026-02-12|minimaxm2|minimax|MiniMax-M2;MiniMax-M2.1
aiconfigurator|MiniMaxAI/MiniMax-M2.7|MiniMax-M2.7|MiniMax|MiniMax||minimaxm2|minimax|
aiconfigurator|openai/gpt-oss-20b|gpt-oss-20b|GPT|OpenAI|2025-08-05|gptoss|gpt-oss|
aiconfigurator|openai/gpt-oss-120b|gpt-oss-120b|GPT|OpenAI|2025-08-05|gptoss|gpt-oss|
aiconfigurator|Qwen/Qwen3-0.6B|Qwen3-0.6B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|
aiconfigurator|Qwen/Qwen3-1.7B|Qwen3-1.7B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|Qwen3-VL-2B
aiconfigurator|Qwen/Qwen3-VL-4B-Instruct|Qwen3-4B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|Qwen3-VL-4B
aiconfigurator|Qwen/Qwen3-8B|Qwen3-8B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|Qwen3-VL-8B
aiconfigurator|Qwen/Qwen3-32B|Qwen3-32B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|Qwen3-VL-32B
aiconfigurator|Qwen/Qwen3-30B-A3B|Qwen3-30B-A3B|Qwen|Alibaba|2025-04-29|qwen3|qwen3-moe|Qwen3-Coder-30B-A3B-Instruct;Qwen3-VL-30B-A3B
aiconfigurator|Qwen/Qwen3-235B-A22B|Qwen3-235B-A22B|Qwen|Alibaba|2025-04-29|qwen3|qwen3-moe|Qwen3-VL-235B-A22B
aiconfigurator|Qwen/Qwen3-Coder-480B-A35B-Instruct|Qwen3-Coder-480B-A35B|Qwen|Alibaba|2025-07-22|qwen3coder|qwen3-moe|Qwen3-Coder-480B-A35B-Instruct
aiconfigurator|XiaomiMiMo/MiMo-7B-Base|MiMo-7B|MiMo|Xiaomi|2025-04-30|mimo|qwen|
scalerightshapes|Qwen3-14B|Qwen3-14B|Qwen|Alibaba|2025-04-29|qwen3|qwen3|
scalerightshapes|Qwen2.5-7B|Qwen2.5-7B|Qwen|Alibaba|2024-09-19|qwen25|qwen|
scalerightshapes|Qwen2.5-72B|Qwen2.5-72B|Qwen|Alibaba|2024-09-19|qwen25|qwen|
scalerightshapes|Gemma-3-12b|Gemma-3-12B|Gemma|Google|2025-03-12|gemma3|gemma3|gemma-3-12b-it
scalerightshapes|Gemma-3-27b|Gemma-3-27B|Gemma|Google|2025-03-12|gemma3|gemma3|gemma-3-27b-it
scalerightshapes|MPT-125m|MPT-125M|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-350m|MPT-350M|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-760m|MPT-760M|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-1b|MPT-1B|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-3b|MPT-3B|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-7b|MPT-7B|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-13b|MPT-13B|MPT|MosaicML|2023-05-05|llmfoundry|mpt|
scalerightshapes|MPT-30b|MPT-30B|MPT|MosaicML|2023-06-22|llmfoundry|mpt|
scalerightshapes|MPT-70b|MPT-70B|MPT|MosaicML|2023-06-22|llmfoundry|mpt|
gpupoor|huggyllama/llama-7b|LLaMA-7B|Llama|Meta|2023-02-24|touvron2023|llama-fp16|Llama-1-7B
gpupoor|huggyllama/llama-13b|LLaMA-13B|Llama|Meta|2023-02-24|touvron2023|llama-fp16|Llama-1-13B
gpupoor|huggyllama/llama-30b|LLaMA-33B|Llama|Meta|2023-02-24|touvron2023|llama-fp16|LLaMA-30B
gpupoor|huggyllama/llama-65b|LLaMA-65B|Llama|Meta|2023-02-24|touvron2023|llama-fp16|Llama-1-65B
gpupoor|meta-llama/Llama-2-7b-hf|Llama-2-7B|Llama|Meta|2023-07-18|llama2|llama-fp16|Vicuna-7B
gpupoor|meta-llama/Llama-2-13b-hf|Llama-2-13B|Llama|Meta|2023-07-18|llama2|llama-fp16|
gpupoor|meta-llama/Llama-2-70b-hf|Llama-2-70B|Llama|Meta|2023-07-18|llama2|llama-fp16|
gpupoor|EleutherAI/llemma_7b|CodeLlama-7B|Llama|Meta|2023-08-24|codellama|llama|Llemma-7B
gpupoor|EleutherAI/llemma_34b|CodeLlama-34B|Llama|Meta|2023-08-24|codellama|llama|Llemma-34B
gpupoor|mistralai/Mistral-7B-v0.1|Mistral-7B|Mistral|Mistral AI|2023-09-27|mistral7b|mistral|Mistral-7B-v0.1
gpupoor|Qwen/Qwen-14B-Chat|Qwen-14B|Qwen|Alibaba|2023-09-25|qwen1|qwen|
gpupoor|tiiuae/falcon-7b|Falcon-7B|Falcon|TII|2023-05-24|falcon|falcon|
gpupoor|tiiuae/falcon-40b|Falcon-40B|Falcon|TII|2023-05-24|falcon|falcon|
gpupoor|tiiuae/falcon-rw-1b|Falcon-RW-1B|Falcon|TII|2023-04-24|refinedweb|falcon-rw|
gpupoor|tiiuae/falcon-rw-7b|Falcon-RW-7B|Falcon|TII|2023-04-24|refinedweb|falcon-rw|
gpupoor|bigscience/bloom-560m|BLOOM-560M|BLOOM|BigScience|2022-07-06|bloom|bloom|
gpupoor|bigscience/bloom-1b1|BLOOM-1.1B|BLOOM|BigScience|2022-07-06|bloom|bloom|
gpupoor|bigscience/bloom-1b7|BLOOM-1.7B|BLOOM|BigScience|2022-07-06|bloom|bloom|
gpupoor|bigscience/bloom-3b|BLOOM-3B|BLOOM|BigScience|2022-07-06|bloom|bloom|
gpupoor|bigscience/bloom-7b1|BLOOM-7.1B|BLOOM|BigScience|2022-07-06|bloom|bloom|BLOOM-7B1
gpupoor|bigscience/bloom|BLOOM|BLOOM|BigScience|2022-07-06|bloom|bloom|BLOOM-176B;BLOOMZ
gpupoor|EleutherAI/gpt-neox-20b|GPT-NeoX-20B|GPT-NeoX|EleutherAI|2022-02-09|gptneox|neox|
gpupoor|EleutherAI/pythia-14m|Pythia-14M|Pythia|EleutherAI|2023-07-26|pythia|neox|
gpupoor|EleutherAI/pythia-31m|Pythia-31M|Pythia|EleutherAI|2023-07-26|pythia|neox|
gpupoor|EleutherAI/pythia-70m|Pythia-70M|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-160m|Pythia-160M|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-410m|Pythia-410M|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-1b|Pythia-1B|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-1.4b|Pythia-1.4B|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-2.8b|Pythia-2.8B|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-6.9b|Pythia-6.9B|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/pythia-12b|Pythia-12B|Pythia|EleutherAI|2023-04-03|pythia|neox|
gpupoor|EleutherAI/polyglot-ko-1.3b|Polyglot-Ko-1.3B|GPT-NeoX|EleutherAI|2022-10-17|polyglot|neox|
gpupoor|EleutherAI/polyglot-ko-3.8b|Polyglot-Ko-3.8B|GPT-NeoX|EleutherAI|2022-10-17|polyglot|neox|
gpupoor|EleutherAI/polyglot-ko-5.8b|Polyglot-Ko-5.8B|GPT-NeoX|EleutherAI|2022-10-17|polyglot|neox|
gpupoor|EleutherAI/polyglot-ko-12.8b|Polyglot-Ko-12.8B|GPT-NeoX|EleutherAI|2023-04-03|polyglot|neox|
gpupoor|stabilityai/stablelm-base-alpha-3b|StableLM-Alpha-3B|GPT-NeoX|Stability AI|2023-04-17|stablelm|neox|
gpupoor|stabilityai/stablelm-base-alpha-7b|StableLM-Alpha-7B|GPT-NeoX|Stability AI|2023-04-17|stablelm|neox|
gpupoor|microsoft/phi-1|Phi-1|Phi|Microsoft|2023-06-20|phi1|phi|Phi-1.5
gpupoor|gpt2|GPT-2|GPT|OpenAI|2019-02-14|gpt2|gpt2|GPT-2 124M;GPT-2 small;GPT-2 S
gpupoor|gpt2-medium|GPT-2 M|GPT|OpenAI|2019-02-14|gpt2|gpt2|GPT-2 medium;gpt2-medium
gpupoor|gpt2-large|GPT-2 L|GPT|OpenAI|2019-02-14|gpt2|gpt2|GPT-2 large;gpt2-large
gpupoor|gpt2-xl|GPT-2 XL|GPT|OpenAI|2019-02-14|gpt2|gpt2|GPT-2 1.5B;gpt2-xl
llmanalysis|EleutherAI_gpt-j-6b|GPT-J-6B|GPT-J|EleutherAI|2021-06-09|gptj|gpt-j|
llmanalysis|EleutherAI_gpt-neo-125m|GPT-Neo-125M|GPT-Neo|EleutherAI|2021-03-21|gptneo|gpt-neo|
llmanalysis|EleutherAI_gpt-neo-1.3B|GPT-Neo-1.3B|GPT-Neo|EleutherAI|2021-03-21|gptneo|gpt-neo|
llmanalysis|EleutherAI_gpt-neo-2.7B|GPT-Neo-2.7B|GPT-Neo|EleutherAI|2021-03-21|gptneo|gpt-neo|
llmanalysis|facebook_opt-125m|OPT-125M|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-350m|OPT-350M|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-1.3b|OPT-1.3B|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-6.7b|OPT-6.7B|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-13b|OPT-13B|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-66b|OPT-66B|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|facebook_opt-175b|OPT-175B|OPT|Meta|2022-05-03|opt|opt|
llmanalysis|bigcode_santacoder|SantaCoder|StarCoder|BigCode|2022-12-22|santacoder|santacoder|
llmanalysis|bert-base-uncased|BERT-base|BERT|Google|2018-10-11|bert|bert|bert-base-uncased
llmanalysis|bert-large|BERT-large|BERT|Google|2018-10-11|bert|bert|
llmanalysis|distilgpt2|DistilGPT-2|GPT|Hugging Face|2019-11-19|distilgpt2|gpt2|
calculon|gpt3-13B|GPT-3 13B|GPT|OpenAI|2020-05-28|brown2020|megatron|
calculon|gpt3-175B|GPT-3 175B (Megatron)|GPT|NVIDIA|2021-04-09|korthikanti2022|megatron|Megatron GPT-3 175B;GPT3-175B;Megatron 175B
calculon|megatron-126M|Megatron 126M|Megatron|NVIDIA||calculon|megatron|
calculon|megatron-5B|Megatron 5B|Megatron|NVIDIA||calculon|megatron|GPT3-5B
calculon|megatron-22B|Megatron 22B|Megatron|NVIDIA|2022-05-10|korthikanti2022|megatron|
calculon|megatron-40B|Megatron 39.1B|Megatron|NVIDIA|2021-04-09|narayanan2021|megatron|Megatron 40B
calculon|megatron-1T|Megatron 1T|Megatron|NVIDIA|2022-05-10|korthikanti2022|megatron|
calculon|turing-530B|MT-NLG 530B|Megatron|NVIDIA, Microsoft|2022-01-28|mtnlg|megatron|Megatron-Turing NLG 530B;Megatron 530B
calculon|palm-540B|PaLM-540B|PaLM|Google|2022-04-05|palm|palm|PaLM
calculon|gopher-280B|Gopher-280B|Gopher|DeepMind|2021-12-08|gopher|gopher|Gopher
calculon|chinchilla|Chinchilla-70B|Gopher|DeepMind|2022-03-29|hoffmann2022|gopher|Chinchilla
calculon|lamda|LaMDA-137B|LaMDA|Google|2022-01-20|lamda|lamda|LaMDA
calculon|anthropic-52B|Anthropic-52B|Anthropic|Anthropic|2021-12-01|askell2021|anthropic|
"""

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


def _kept() -> dict[tuple[str, str], list[str]]:
    lines = [line.split("|") for line in KEPT.strip().splitlines()]
    return {(line[0], line[1]): line[2:] for line in lines}


def _reason(row: Row, shape: Row, named: dict[tuple, str]) -> str:
    if why := HYBRIDS.get(row.get("model_type", "")):
        return why
    for starts, why in STARTS:
        if row["model"].startswith(starts):
            return why
    if twin := named.get(_signature(shape)):
        return f"same columns as {twin}"
    return "not named by this importer: a line in KEPT makes it a model"


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
        ours = [(shapes[name], line[0]) for (collection, name), line in kept.items() if collection == source]
        named = {_signature(shape): name for shape, name in reversed(ours)}  # the first of several names a shape
        for row in table:
            if (source, row["model"]) not in kept:
                dropped.append(Dropped(row["model"], _reason(row, shapes.get(row["model"], {}), named)))
                continue
            name, family, developer, released, published, traits, aliases = kept[source, row["model"]]
            fixes = FIXES.get(name, {})
            note = "; ".join(f"{column} {value} as published" for column, value in fixes.items() if column != "max_context")
            out.append(
                dict(name=name, family=family, developer=developer, released=released, aliases=aliases)
                | complete(shapes[row["model"]], traits, fixes)
                | dict(source=source, architecture_source=published, note=note)
            )
    return out, dropped
