"""What is measured on a chip: products of a layer, streams, the best of each format, decoding.

Each yields rows in the columns of one of the book's tables, and prints what the library predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scaleright.inference.deployment import Deployment
from scaleright.inference.phases import step_seconds
from scaleright.roofline import matmul_seconds, speeds

from benchmarks.device import Bench, Meter


def shapes(model) -> dict[str, tuple[int, int]]:
    """Columns and inner width of the products of one layer on one chip, by the names of the table
    of kernels.
    """
    keys = model.kv_heads * (model.head_dim + model.v_head_dim)
    return {
        "query key value": (model.heads * model.head_dim + keys, model.hidden),
        "attention output": (model.hidden, model.heads * model.v_head_dim),
        "feed-forward up": ((1 + model.gated_ffn) * model.ffn, model.hidden),
        "feed-forward down": (model.hidden, model.ffn),
    }


def products(bench: Bench, model, chip, tokens: tuple[int, ...]) -> Iterator[dict]:
    """Rows of the table of kernels: each product of a layer in BF16, by number of tokens."""
    of = speeds(chip) if chip else None
    for operation, (columns, inner) in shapes(model).items():
        for m in tokens:
            seconds = bench.product("BF16", m, columns, inner)
            say = f"{operation:<18} {m:>5} x {columns:>6} x {inner:>6}: {seconds * 1e6:10.1f} us"
            if of:
                predicted = matmul_seconds(
                    m, columns, inner, of.matmul_flops, of.memory_bytes_per_s, units=of.units
                )
                say += f", the library says {predicted * 1e6:10.1f} us"
            print(say)
            yield {
                "operation": operation,
                "tokens": m,
                "columns": columns,
                "inner": inner,
                "measured_s": seconds,
            }


def streams(bench: Bench, model, tokens: int) -> Iterator[dict]:
    """Rows of the table of kernels: memory-bound operations."""
    torch = bench.torch
    x, y, gates = (
        bench.random(tokens, model.hidden),
        bench.random(tokens, model.hidden),
        bench.random(tokens, 2, model.ffn),
    )
    works = {
        "add": (lambda: torch.add(x, y), 6 * x.numel()),
        "norm": (lambda: torch.nn.functional.rms_norm(x, (model.hidden,)), 4 * x.numel()),
        "activation": (
            lambda: torch.nn.functional.silu(gates[:, 0]) * gates[:, 1],
            10 * tokens * model.ffn,
        ),
    }
    for operation, (work, moved) in works.items():
        seconds = bench.seconds(bench.captured(work))
        print(f"{operation:<18} {moved / seconds / 1e9:10.0f} GB/s")
        yield {
            "operation": operation,
            "tokens": tokens,
            "moved_bytes": moved,
            "measured_s": seconds,
        }


def peaks(bench: Bench, chip, sides: tuple[int, ...], copied_bytes: int) -> Iterator[dict]:
    """Rows of the table of specifications: the best product of each format, and what copying
    reaches.
    """
    for precision in ("BF16", "FP16", "FP8", "INT8"):
        try:
            tried = ((m, n, sides[0]) for m in sides for n in sides)
            best = max(
                (2.0 * m * n * k / bench.product(precision, m, n, k), (m, n, k))
                for m, n, k in tried
            )
        except (RuntimeError, NotImplementedError) as error:
            print(f"{precision}: not on this device ({str(error).splitlines()[0][:80]})")
            continue
        dense = chip.dense.get(precision.lower()) if chip else None
        print(
            f"{precision}: {best[0] / 1e12:.1f} TFLOP/s"
            + (f", {best[0] / dense:.0%} of the datasheet's" if dense else "")
        )
        yield {
            "quantity": f"measured_{precision.lower()}_matmul_flops",
            "value": best[0],
            "note": f"best shape {'x'.join(map(str, best[1]))}",
        }
    x = bench.random(copied_bytes // 2)
    y = bench.torch.empty_like(x)
    reached = 2 * copied_bytes / bench.seconds(lambda: y.copy_(x))
    print(
        f"copying: {reached / 1e9:.0f} GB/s"
        + (f", {reached / chip.memory_bytes_per_s:.0%} of the datasheet's" if chip else "")
    )
    yield {"quantity": "measured_copy_bytes_per_s", "value": reached, "note": "read and written"}


def decoder(bench: Bench, model, batch: int, context: int) -> Callable[[], object]:
    """One step of decoding: a token for each of `batch` sequences that look back on `context`
    tokens.
    """
    torch, head, norm = bench.torch, model.head_dim, bench.torch.nn.functional.rms_norm
    layers = [
        {name: bench.random(inner, columns) for name, (columns, inner) in shapes(model).items()}
        for _ in range(model.layers)
    ]
    caches = [
        [bench.random(batch, model.kv_heads, context, width) for width in (head, model.v_head_dim)]
        for _ in range(model.layers)
    ]
    table, output = bench.random(model.vocab, model.hidden), bench.random(model.hidden, model.vocab)
    tokens = torch.zeros(batch, dtype=torch.long, device=bench.device)
    widths = (model.heads * head, model.kv_heads * head, model.kv_heads * model.v_head_dim)

    def step() -> None:
        x = table[tokens]
        for weights, (keys, values) in zip(layers, caches, strict=True):
            query, key, value = (norm(x, (model.hidden,)) @ weights["query key value"]).split(
                widths, dim=-1
            )
            keys[:, :, -1], values[:, :, -1] = (
                key.view(batch, model.kv_heads, head),
                value.view(batch, model.kv_heads, model.v_head_dim),
            )
            seen = torch.nn.functional.scaled_dot_product_attention(
                query.view(batch, model.heads, 1, head), keys, values, enable_gqa=True
            )
            x = x + seen.reshape(batch, -1) @ weights["attention output"]
            up = norm(x, (model.hidden,)) @ weights["feed-forward up"]
            gate, inner = up.chunk(2, dim=-1)
            x = x + (torch.nn.functional.silu(gate) * inner) @ weights["feed-forward down"]
        tokens.copy_((norm(x, (model.hidden,)) @ output).argmax(dim=-1))

    return step


def _decoded(
    bench: Bench, model, batch: int, context: int, steps: int
) -> tuple[float, float | None]:
    """Seconds and watts of a step of decoding, of which nothing stays in memory."""
    with bench.torch.inference_mode():
        step = bench.captured(decoder(bench, model, batch, context))
        with Meter(bench.device) as meter:
            seconds = bench.seconds(step, least_s=steps * 0.02)
    return seconds, meter.watts


def decoding(
    bench: Bench, model, chip, batches: tuple[int, ...], context: int, steps: int
) -> Iterator[dict]:
    """Seconds and watts of decoding by batch, beside the library's step without an engine's host
    work.
    """
    for batch in batches:
        try:
            seconds, watts = _decoded(bench, model, batch, context, steps)
        except bench.torch.OutOfMemoryError:
            print(f"batch {batch}: does not fit")
            break
        say = f"decoding, batch {batch:>4}: {seconds * 1e3:8.2f} ms a token" + (
            f", {watts:.0f} W" if watts else ""
        )
        if chip:
            predicted = step_seconds(
                Deployment(model, chip), batch, context, slowdowns={"host": 0.0, "sequences": 0.0}
            ).total
            say += f", the library says {predicted * 1e3:8.2f} ms"
        print(say)
        yield {"batch": batch, "seconds": seconds, "watts": watts}
