"""Rules about one chip or one model of the catalog: a chapter offers the entries that keep them."""

from scaleright.names import nearest, one_of


def decoder(model: str) -> None:
    """A model that writes tokens."""
    from scaleright import catalog

    decoders = [name for name, shape in catalog.models().items() if shape.causal]
    if model not in decoders:
        nearest(model, decoders, "model that writes tokens (an encoder only reads them)")


def computes(accelerator: str) -> None:
    """A chip with a BF16 peak, a bandwidth and a memory."""
    from scaleright import market

    one_of(
        accelerator, market.matmul_chips(), "accelerator with a BF16 peak, a bandwidth and a memory"
    )


def of_a_cluster(accelerator: str) -> None:
    """A chip of which clusters are rented out, or the cheapest of them."""
    from scaleright import market
    from scaleright.costs.pretraining import cluster_chip

    if accelerator != market.BEST:
        cluster_chip(accelerator)


def within_context(model: str, *tokens: int | None) -> None:
    """Tokens in view, together at most the longest context that the model was published with; None
    is as many as suit the model.

    A release that goes by another name than the shape of the catalog may have a context of its own.
    """
    from scaleright import catalog

    longest = catalog.model(model).max_context
    if catalog.model(model).name == model and 0 < longest < sum(of or 0 for of in tokens):
        raise ValueError(f"longer than the {longest:,} tokens that {model} was made for")


def trains(accelerator: str) -> None:
    """A chip with a peak in 16 bits, a bandwidth and a memory."""
    from scaleright import catalog

    able = [
        name
        for name, of in catalog.accelerators().items()
        if {"bf16", "fp16"} & {*of.dense} and of.memory_bytes_per_s and of.memory_bytes
    ]
    one_of(accelerator, able, "accelerator with a peak in 16 bits, a bandwidth and a memory")
