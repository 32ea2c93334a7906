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


def measured_serving(task: str, model: str, accelerator: str, precision: str) -> None:
    """A model whose energy in serving was measured on the chip in the format; training asks for
    none.
    """
    from scaleright.inference.energy import measured_format

    if task == "serving":
        measured_format(model, accelerator, precision)
