"""Rules about values beside each other, which look nothing up."""


def different(first: str, second: str) -> None:
    """Two choices that are to be compared."""
    if first == second:
        raise ValueError("the same twice; choose another for one of them")


def some_weight(*weights: float) -> None:
    """Weights of which one must count."""
    if not any(weights):
        raise ValueError("nothing has weight; give one of them some")
