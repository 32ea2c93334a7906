"""The rules that parameters cells name about one chip or one model: a chapter offers those entries
of the catalog that keep them. `rulebook` says what a rule is.
"""

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
    """A chip of which clusters are rented out."""
    from scaleright.costs.pretraining import cluster_chip

    cluster_chip(accelerator)


def made(accelerator: str) -> None:
    """A chip whose power and making are known."""
    from scaleright.footprint import machine

    machine(accelerator, "training")


def submitted(accelerator: str) -> None:
    """A chip that somebody submitted to MLPerf Inference."""
    from scaleright.mlperf import summary

    one_of(accelerator, summary()["accelerator"], "accelerator in MLPerf Inference")


def listed(accelerator: str) -> None:
    """A chip of which somebody lists an hour on demand."""
    from scaleright.market.listed import listed_chips

    one_of(accelerator, listed_chips(), "accelerator that somebody rents out")


def powered(accelerator: str) -> None:
    """A chip whose power is known."""
    from scaleright import catalog

    catalog.accelerator(accelerator).require("tdp_watts")


def metered(model: str) -> None:
    """A model whose energy in serving was measured on some chip."""
    from scaleright.inference.energy import chat_energy

    one_of(model, chat_energy()["model"], "model with measured energy")


RULES = (decoder, computes, of_a_cluster, made, submitted, listed, powered, metered)
