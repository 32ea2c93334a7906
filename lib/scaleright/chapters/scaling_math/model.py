"""GPT-3 on an A100, the running example of a source: seconds of a prompt, dollars of training.

Andreessen Horowitz's figures stand in the ledger of claims; here is the same case, computed.
"""

from __future__ import annotations

from math import ceil

import pandas as pd

from scaleright import transformer
from scaleright.architecture import Transformer
from scaleright.catalog import Accelerator, accelerator, fact, model
from scaleright.costs.break_even import compute_usd
from scaleright.formulas import lookup
from scaleright.market import hour


def _shape() -> Transformer:
    """The model."""
    return model("GPT-3 175B")


@lookup
def chip() -> Accelerator:
    """The accelerator."""
    return accelerator("A100 SXM 80GB")


@lookup
def weights_bytes() -> float:
    """Bytes of its weights in 16 bits [B].

    >>> round(weights_bytes() / 1e9)
    349
    """
    return transformer.model_weight_bytes(_shape(), "BF16")


@lookup
def least_chips() -> int:
    """Chips whose memory holds the weights [1].

    >>> least_chips()
    5
    """
    return ceil(weights_bytes() / chip().require("memory_bytes"))


@lookup
def prompt_flop() -> float:
    """Arithmetic of Andreessen Horowitz's prompt by the rule 2 p n [FLOP].

    >>> f"{prompt_flop():.3g}"
    '3.58e+14'
    """
    return transformer.inference_flop(
        transformer.parameters(_shape()).total, fact("gpt3_prompt_tokens")
    )


@lookup
def training_flop() -> float:
    """Arithmetic of the training run by the rule 6 p n [FLOP].

    >>> f"{training_flop():.3g}"
    '3.14e+23'
    """
    return transformer.training_flop(
        transformer.parameters(_shape()).total, fact("gpt3_training_tokens")
    )


@lookup
def training_usd(usd_per_hour: float, utilization: float) -> float:
    """Rent of the training run [USD], at a price of an accelerator [USD/h] and a share of its peak
    [1].

    >>> round(training_usd(2.0, 1.0), -4)
    560000.0
    """
    return compute_usd(training_flop(), chip().peak_flops("bf16"), utilization, usd_per_hour)


@lookup
def prompt_seconds() -> pd.DataFrame:
    """Seconds of Andreessen Horowitz's prompt on a processor and on one A100, and what each
    assumes.

    >>> prompt_seconds()["time"].round(1).tolist()[2:]
    [1.1, 175.4]
    """
    clock, tokens = fact("cpu_clock_hz"), fact("gpt3_prompt_tokens")
    a_token = transformer.memory_seconds(weights_bytes(), chip().require("memory_bytes_per_s"), 1.0)
    speeds = {
        ("one CPU core, one operation a cycle", "as Andreessen Horowitz has it: 32 hours"): clock,
        ("one CPU core with its vector units", "what such a core can do"): clock
        * fact("cpu_fp32_flop_per_cycle"),
        (
            "one A100 at peak arithmetic",
            "a prompt read in one pass; Andreessen Horowitz: one second",
        ): chip().peak_flops("bf16"),
    }
    rows = [
        (on, transformer.compute_seconds(prompt_flop(), flops, 1.0), assumed)
        for (on, assumed), flops in speeds.items()
    ]
    rows.append(("one A100, token by token", tokens * a_token, "every weight read for every token"))
    return pd.DataFrame(rows, columns=["on", "time", "what it assumes"])


@lookup
def rents_then() -> tuple[float, float]:
    """What the cheapest and the dearest cloud asked for an hour of an A100 at the end of the year
    of Andreessen Horowitz [USD/h].

    >>> rents_then()[0]
    1.1
    """
    hours = [hour(name, day="2023-12-31") for name in ("A100 SXM 40GB", "A100 SXM 80GB")]
    return min(of.low for of in hours), max(of.high for of in hours)


@lookup
def training_bills() -> pd.DataFrame:
    """Rent of the training run at Andreessen Horowitz's peak speed and price, and at what was
    reached and paid.

    >>> training_bills()["utilization"].tolist()[0]
    1.0
    """
    reached, (cheapest, dearest) = fact("gpt3_size_mfu_a100"), rents_then()
    cases = [
        ("Andreessen Horowitz: peak speed at $2.00 an hour", 1.0, 2.0),
        ("the best published utilization of this model and chip", reached, 2.0),
        ("the same at the cheapest cloud's A100 of 2023", reached, cheapest),
        ("the same at the dearest cloud's A100 of 2023", reached, dearest),
    ]
    rows = [(case, share, rent, training_usd(rent, share)) for case, share, rent in cases]
    return pd.DataFrame(rows, columns=["case", "utilization", "rent [USD/h]", "one run [USD]"])
