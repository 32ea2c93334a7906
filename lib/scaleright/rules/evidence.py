"""Rules about published evidence."""


def judged_serving(source: str, figure: str) -> None:
    """A publication with such a figure."""
    from scaleright.validation.published import serving_figures

    figures = serving_figures(source)
    if figure not in figures:
        raise ValueError(
            f"{source} published no such figure that can be judged; allowed for it:"
            f" {', '.join(figures)}"
        )


def judged_training(source: str, kind: str) -> None:
    """A publication with runs of such models."""
    from scaleright.validation.published import training_kinds

    kinds = training_kinds(source)
    if kind not in kinds:
        raise ValueError(
            f"{source} published no such run that can be judged; allowed for it: {', '.join(kinds)}"
        )
