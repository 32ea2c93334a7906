"""Rules about a study of many small runs."""


def fits_on(model: str, accelerator: str, run_on: str, precision: str) -> None:
    """A run that fits on what it is put on."""
    from scaleright.costs.experiment_steps import require_fits

    require_fits(model, accelerator, run_on, precision)


def smaller_than(model: str, tokens: float, target: str, target_tokens: float) -> None:
    """Experiments that take less arithmetic than what they stand for."""
    from scaleright.decisions.ablation_study import require_smaller

    require_smaller(model, tokens, target, target_tokens)


def pays_a_node(
    model: str,
    tokens: float,
    run_on: str,
    precision: str,
    accelerator: str,
    contract: str,
    seller: str,
    rent_usd_per_hour: float,
    paid: str,
    budget_usd: float,
) -> None:
    """A budget that pays a node for as long as one run takes; of one's own chips nobody asks."""
    from scaleright.decisions.ablation_study import require_a_node

    if paid != "own":
        price = accelerator, contract, seller, rent_usd_per_hour
        require_a_node(model, tokens, run_on, precision, price, budget_usd)
