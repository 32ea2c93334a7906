"""Rules about a study of many small runs."""

from collections.abc import Iterable, Mapping

from scaleright.rules.left_open import on_one


def fits_on(
    model: str,
    accelerator: str,
    run_on: str,
    precision: str,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """A run that fits on what it is put on."""
    from scaleright.costs.experiment_steps import require_fits

    on_one(accelerator, choices, lambda name: require_fits(model, name, run_on, precision))


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
    tuning: str,
    choices: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """A budget that pays a node for as long as one run takes; of one's own chips nobody asks."""
    from scaleright.decisions.ablation_study import require_a_node

    def pays(name: str) -> None:
        price = name, contract, seller, rent_usd_per_hour
        require_a_node(model, tokens, run_on, precision, price, budget_usd, tuning)

    if paid != "own":
        on_one(accelerator, choices, pays)
