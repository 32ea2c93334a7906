"""The batch of pretraining: how large it may be before a run takes many more tokens.

A larger batch takes fewer steps and more tokens to the same loss [mccandlish2018]. The critical
batch is where that begins to cost; published laws of it, and of the batch with the least loss, are
the table `batch_sizes`.
"""

from typing import Any

from scaleright.catalog import table
from scaleright.formulas import Domain, closed_form, lookup
from scaleright.names import one_of
from scaleright.ops import exp, log
from scaleright.scaling_laws.laws import loss, published
from scaleright.transformer.flops import training_flop

BATCH = Domain(0.0, float("inf"), (1e4, 1e9), open_low=True)
MORE = 0.2
"""How many more tokens a run takes at the critical batch, as this book defines it [1]: the fifth of
[zhang2024critical].
"""
CRITICAL = ("Zhang 2024", "Kaplan 2020")
"""Laws of the critical batch, the one that is taken where nothing else is asked first."""
LOSS_LAW = "Besiroglu 2024"
"""Gives the loss of a run where a law of the batch asks for it."""


@closed_form(batch_tokens=BATCH, critical_tokens=BATCH)
def tokens_over_least(batch_tokens, critical_tokens):
    """Tokens that a run takes to the same loss at a batch, over those at a small one [1].

    Parameters
    ----------
    batch_tokens : of an optimizer step [token]
    critical_tokens : batch at which a run takes a fifth more tokens [token]

    Source: [mccandlish2018, equation 2.11], (S / S_min - 1)(E / E_min - 1) = 1 with E = B S, whose
    critical batch, of twice the tokens, is five times this one.

    >>> tokens_over_least(8e6, 8e6), round(tokens_over_least(40e6, 8e6), 9)
    (1.2, 2.0)
    """
    return 1 + MORE * batch_tokens / critical_tokens


@closed_form(
    amount=Domain(0.0, float("inf"), (1e8, 1e13), open_low=True),
    coefficient=Domain(0.0, float("inf"), (0.1, 1e3), open_low=True),
    exponent=Domain(-10.0, 2.0, (0.1, 0.6)),
    batch_unit=Domain(1.0, 1e5, (1.0, 1e4)),
    amount_unit=Domain(1.0, 1e13, (1.0, 1e7)),
)
def batch_by_law(amount, coefficient, exponent, batch_unit, amount_unit):
    """A batch by a power law [token].

    Parameters
    ----------
    amount : loss [nat/token], tokens or arithmetic [FLOP] of the run
    coefficient, exponent : of the law, in its own units
    batch_unit : tokens of the unit in which it counts the batch
    amount_unit : of the unit in which it counts the amount

    >>> round(batch_by_law(3e9, 22.91, 0.47, 512.0, 1e6) / 1e6, 2)
    0.51
    """
    return batch_unit * coefficient * (amount / amount_unit) ** exponent


@closed_form(
    share=Domain(0.0, 1.0, (1e-3, 1.0), open_low=True),
    more=Domain(1.0, float("inf"), (1.0, 3.0)),
    exponent=Domain(0.0, 1.0, (0.1, 0.6)),
)
def share_of_tokens(share, more, exponent):
    """Share of its tokens on which a run at the same batch takes a share of its time [1].

    Parameters
    ----------
    share : of the time [1]
    more : tokens that the whole run takes to the same loss over those at a small batch, see
        `tokens_over_least` [1]
    exponent : by which the critical batch grows with the tokens

    Source: definition; a shorter run has a smaller critical batch, so that it wastes more.

    >>> half = share_of_tokens(0.5, 1.2, 0.47)
    >>> round(half, 3), round(half * (1 + 0.2 * half**-0.47) / 1.2, 9)
    (0.466, 0.5)
    """
    x, target = log(share), log(share * more)
    for _ in range(4):  # of Newton's method
        wasted = (more - 1) * exp(-exponent * x)
        x = x - (x + log(1 + wasted) - target) * (1 + wasted) / (1 + (1 - exponent) * wasted)
    return exp(x)


@lookup
def laws() -> dict[str, dict[str, Any]]:
    """The published laws of the batch, by name: rows of `batch_sizes`.

    >>> sorted(laws())
    ['DeepSeek 2024', 'Kaplan 2020', 'Step Law 2025', 'Zhang 2024']
    """
    return table("batch_sizes").set_index("law").to_dict("index")


@lookup
def published_batch(law: str, parameters: Any, tokens: Any) -> Any:
    """The batch that a published law gives a run [token]: the critical one, at which a run takes a
    fifth more tokens, or that with the least loss.

    Parameters
    ----------
    parameters, tokens : of the run; numbers, arrays or quantities

    Raises
    ------
    LookupError : unknown law; the nearest names are offered.

    >>> [round(float(published_batch(name, 70e9, 15e12)) / 1e6, 1) for name in sorted(laws())]
    [37.8, 1.7, 19.4, 27.7]
    """
    of = laws()[one_of(law, laws(), "law of the batch")]
    amounts = {
        "loss": lambda: loss(parameters, tokens, **vars(published(LOSS_LAW))),
        "tokens": lambda: tokens,
        "compute": lambda: training_flop(parameters, tokens),
    }
    form = (of["coefficient"], of["exponent"], float(of["batch_unit"]), float(of["amount_unit"]))
    batch = batch_by_law(amounts[of["grows_with"]](), *form)
    return batch * (MORE / of["more_tokens"]) if of["kind"] == "critical" else batch
