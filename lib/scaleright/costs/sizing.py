"""How many accelerators a demand takes, at what one of them does."""

from scaleright.formulas import NON_NEGATIVE, POSITIVE, Domain, closed_form
from scaleright.ops import ceil, maximum

GROUP = Domain(1.0, 1e6, (1.0, 64.0))


@closed_form(tokens_per_s=NON_NEGATIVE, chip_tokens_per_s=POSITIVE, group=GROUP)
def chips_for_demand(tokens_per_s, chip_tokens_per_s, group=1.0):
    """Chips in whole groups that together reach a number of tokens per second; one group at least
    [1].

    Parameters
    ----------
    tokens_per_s : demand [token/s]
    chip_tokens_per_s : what one chip of a group does [token/s]
    group : chips that share one copy of the model [1]

    >>> chips_for_demand(1000.0, 400.0, 2.0), chips_for_demand(10.0, 400.0, 2.0)
    (4.0, 2.0)
    """
    return group * maximum(ceil(tokens_per_s / (chip_tokens_per_s * group) - 1e-9), 1.0)
