"""A step of training in plain PyTorch: any plain dense decoder of the catalog on one chip.

Weights, gradients and AdamW's moments are kept in FP32; what is multiplied, and what is kept for
the backward pass, is BF16, cast layer by layer, as by FSDP on a single rank.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from math import prod
from typing import Any, NamedTuple

from scaleright import catalog
from scaleright.architecture import Transformer
from scaleright.transformer import parameters

from benchmarks.device import Bench
from benchmarks.works import shapes


class Case(NamedTuple):
    """What a step trains.

    model : of the catalog, or a shape of one's own
    recompute : "none", or "full": every layer runs again in the backward pass
    """

    model: str | Transformer
    sequence: int
    micro_batch: int
    compiled: bool = False
    recompute: str = "none"

    @property
    def shape(self) -> Transformer:
        """That of the model."""
        return catalog.model(self.model) if isinstance(self.model, str) else self.model

    @property
    def name(self) -> str:
        """Key of the run."""
        how = "compiled" if self.compiled else "eager"
        size = f"{self.sequence}x{self.micro_batch}"
        return f"train/{self.shape.name}/{size}/{how}/recompute-{self.recompute}"


def sizes(model: Transformer) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Shapes of the weights of one layer, and of those outside the layers.

    Raises
    ------
    ValueError : a model that has others, such as biases, experts or learned positions.
    """
    norm, table = (model.hidden,), (model.vocab, model.hidden)
    layer = {"first norm": norm, "second norm": norm} | shapes(model)
    outside = {"norm": norm, "tokens": table} | ({} if model.tied_embeddings else {"output": table})
    count = model.layers * sum(map(prod, layer.values())) + sum(map(prod, outside.values()))
    plain = model.gated_ffn and model.causal and not model.window_layers
    if not plain or count != parameters(model).total:
        raise ValueError(f"{model.name}: allowed: plain dense decoders, such as Llama-3.2-1B")
    return layer, outside


def block(torch: Any, model: Transformer) -> Callable:
    """One layer of the model: normed attention and a normed gated feed-forward block, each added to
    what came in.
    """
    linear, norm = torch.nn.functional.linear, torch.nn.functional.rms_norm
    keys = model.kv_heads
    widths = tuple(
        count * width
        for count, width in (
            (model.heads, model.head_dim),
            (keys, model.head_dim),
            (keys, model.v_head_dim),
        )
    )

    def turned(x: Any, angles: tuple[Any, Any]) -> Any:
        first, second = x.chunk(2, dim=-1)
        return x * angles[0] + torch.cat((-second, first), dim=-1) * angles[1]

    def run(x: Any, weights: dict[str, Any], angles: tuple[Any, Any]) -> Any:
        of = {name: weight.to(x.dtype) for name, weight in weights.items()}
        normed = norm(x, (model.hidden,), of["first norm"], 1e-5)
        query, key, value = (
            part.unflatten(-1, (count, -1)).transpose(1, 2)
            for part, count in zip(
                linear(normed, of["query key value"]).split(widths, dim=-1),
                (model.heads, keys, keys),
                strict=True,
            )
        )
        seen = torch.nn.functional.scaled_dot_product_attention(
            turned(query, angles),
            turned(key, angles),
            value,
            is_causal=True,
            enable_gqa=keys != model.heads,
        )
        x = x + linear(seen.transpose(1, 2).flatten(2), of["attention output"])
        normed = norm(x, (model.hidden,), of["second norm"], 1e-5)
        gate, inner = linear(normed, of["feed-forward up"]).chunk(2, dim=-1)
        return x + linear(torch.nn.functional.silu(gate) * inner, of["feed-forward down"])

    return run


def _angles(bench: Bench, model: Transformer, sequence: int) -> tuple[Any, Any]:
    """Cosine and sine of each position's rotation, by position and place in a head."""
    torch, half = bench.torch, model.head_dim // 2
    rates = 10_000.0 ** (-torch.arange(half, device=bench.device) / half)
    turns = torch.arange(sequence, device=bench.device)[:, None] * rates.repeat(2)
    return turns.cos().to(torch.bfloat16), turns.sin().to(torch.bfloat16)


def trainer(bench: Bench, case: Case) -> Callable[[], Any]:
    """One step of training: forward, loss over the whole vocabulary, backward, AdamW; it returns
    the loss.
    """
    torch, model = bench.torch, case.shape
    functional = torch.nn.functional
    layer, outside = sizes(model)

    def made(named: dict[str, tuple[int, ...]]) -> dict[str, Any]:
        of = {name: bench.random(*shape, dtype=torch.float32) for name, shape in named.items()}
        of |= {name: torch.ones_like(weight) for name, weight in of.items() if weight.dim() == 1}
        return {name: weight.requires_grad_() for name, weight in of.items()}

    layers, outer = [made(layer) for _ in range(model.layers)], made(outside)
    every = [*chain.from_iterable(of.values() for of in (*layers, outer))]
    optimizer = torch.optim.AdamW(every, lr=1e-4, fused=True)
    angles = _angles(bench, model, case.sequence)
    size = (case.micro_batch, case.sequence + 1)
    tokens = torch.randint(model.vocab, size, device=bench.device)
    given, wanted = tokens[:, :-1].contiguous(), tokens[:, 1:].flatten()
    plain = block(torch, model)

    def again(*taken: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(
            plain, *taken, use_reentrant=False, preserve_rng_state=False
        )

    def loss(x: Any, norm: Any, table: Any) -> Any:
        logits = functional.linear(functional.rms_norm(x, (model.hidden,), norm, 1e-5), table)
        return functional.cross_entropy(logits.flatten(0, 1).float(), wanted)

    run = again if case.recompute == "full" else plain
    if case.compiled:
        run, loss = (torch.compile(work, fullgraph=True, dynamic=False) for work in (run, loss))

    def step() -> Any:
        of = {name: weight.to(torch.bfloat16) for name, weight in outer.items()}
        x = functional.embedding(given, of["tokens"])
        for weights in layers:
            x = run(x, weights, angles)
        lost = loss(x, of["norm"], of.get("output", of["tokens"]))
        lost.backward()
        optimizer.step()
        optimizer.zero_grad()
        return lost.detach()

    return step
