"""Loss by parameters, tokens and compute: published laws, the fit redone, and what to train for a
budget and a lifetime.

`laws` holds the closed forms, `fit` the robust fit with its bootstrap, `optima` what follows for a
budget, `evidence` how sure the fit is, `models` what was trained and served.
"""

from scaleright.scaling_laws.evidence import (
    ORIGINAL,
    RESAMPLED,
    SMALL,
    THIRD,
    Extrapolation,
    Narrow,
    coefficients,
    extrapolated,
    fitted_runs,
    intervals,
    size_ranges,
    sizes_by_law,
    too_narrow,
)
from scaleright.scaling_laws.fit import bootstrap, fit, points, stalled_bootstrap
from scaleright.scaling_laws.laws import (
    Law,
    balance_step,
    balanced_parameters,
    compute_optimal_parameters,
    compute_optimal_tokens,
    effective,
    equivalent_tokens,
    even_lifetime_tokens,
    figures,
    implied_lifetime_tokens,
    lifetime,
    loss,
    parameters_for_loss,
    power_law_parameters,
    published,
    range_factor,
    repeated_loss,
    runs_for_width,
    saved_share,
    tokens_for_compute,
    tokens_for_loss,
    tokens_for_optimal_loss,
)
from scaleright.scaling_laws.models import (
    Instead,
    compared,
    instead_of,
    models_sheet,
    named_first,
    ratios_by_age,
    trained_models,
)
from scaleright.scaling_laws.optima import (
    MOST_PASSES,
    Model,
    Repeats,
    cheapest_for_life,
    data_constrained,
    scarce_data,
    spread,
    tokens_doubt,
    within_passes,
)
