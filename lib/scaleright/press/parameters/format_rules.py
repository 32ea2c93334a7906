"""The rules that parameters cells name about formats of weights; `rulebook` says what a rule is."""


def served_as(model: str, accelerator: str, precision: str) -> None:
    """A model that a chip serves in a format."""
    from scaleright import catalog
    from scaleright.inference.formats import resolved

    resolved(catalog.model(model), catalog.accelerator(accelerator), precision)


def served_in(accelerator: str, precision: str) -> None:
    """A chip that serves the model which stands for others in a format."""
    from scaleright.costs.training_fleet import MODEL

    served_as(MODEL, accelerator, precision)


def both_serve(bet: str, rival: str, mixture: str, dense: str, precision: str) -> None:
    """Two chips that both serve two models of MLPerf in a format."""
    from scaleright.decisions.bets_served import require_served

    require_served(bet, rival, mixture, dense, precision)


RULES = (served_as, served_in, both_serve)
