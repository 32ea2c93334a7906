"""Rules about what a chip draws and a model takes, where it was measured."""

from scaleright.names import one_of


def made(accelerator: str) -> None:
    """A chip whose power and making are known."""
    from scaleright.footprint import machine

    machine(accelerator, "training")


def powered(accelerator: str) -> None:
    """A chip whose power is known."""
    from scaleright import catalog

    catalog.accelerator(accelerator).require("tdp_watts")


def metered(model: str) -> None:
    """A model whose energy in serving was measured on some chip."""
    from scaleright.inference.energy import chat_energy

    one_of(model, chat_energy()["model"], "model with measured energy")


def energy_told(task: str, model: str, accelerator: str, precision: str) -> None:
    """A model whose energy in serving was measured on the chip in the format, or that a node of it
    holds so that it can be predicted; training asks for neither.
    """
    if task == "serving":
        from scaleright.inference.energy import energy_format

        energy_format(model, accelerator, precision)
