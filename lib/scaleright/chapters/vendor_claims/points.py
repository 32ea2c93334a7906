"""Operating points of the systems that vendors compare: published measurements, those of the book's
own model of serving, and what an hour of each chip takes.
"""

import pandas as pd

from scaleright.catalog import accelerator, fact, model, release_format, shared, table
from scaleright.chapters.vendor_claims.frontier import frontier
from scaleright.formulas import lookup, search
from scaleright.inference.lengths import Load
from scaleright.inference.speculation import Speculation
from scaleright.names import one_of

GROUP, ENGINE = 64, "TensorRT-LLM 1.2"
"""Chips that may serve one copy of a model together, over the network where their fabric ends; and
the software of both generations.
"""
PUBLISHED = ("H100 SXM", "H200 SXM", "B200", "B300", "GB200", "GB300")
"""Chips for which the publisher of the measurements that the vendor quotes states an hour's price
and the power.
"""
DRAFTED = Speculation(draft_tokens=3, acceptance=0.7)
"""Three tokens guessed ahead, which gains 2.5 a step: DeepSeek-V3 keeps its first guess 85 to 90 %
of the time [deepseekv3, section 5.4.3], later ones less.
"""
DRAFTS = ("none", "new", "both")
"""Which chips guess tokens ahead: none, those of the newer generation, all."""


@lookup
def published_use(name: str) -> dict[str, float]:
    """Price of an hour and power of a chip as the publisher of the vendor's measurements takes them
    [inferencex2026constants].

    Returns
    -------
    usd : what an hour costs a hyperscaler that owns it, without margin [USD/h]
    kw : power of the utility for one chip with servers, network and cooling [kW]

    >>> published_use("GB300")["usd"] / published_use("H200 SXM")["usd"] > 1.8
    True
    """
    key = (
        one_of(name, PUBLISHED, "chip with a published price of ownership")
        .lower()
        .replace(" ", "_")
    )
    return {"usd": fact(f"inferencex_usd_per_hour_{key}"), "kw": fact(f"inferencex_kw_{key}")}


@shared
def measured_points(name: str, input_tokens: float, output_tokens: float) -> pd.DataFrame:
    """Published operating points of a model whose speed per user and throughput were both measured,
    lengths within 15 %.

    Columns: accelerator, precision, software, concurrency, interactivity [token/s], tokens_per_s
    (output, of one chip) [token/s], source.
    """
    rows = (
        table("measured/serving")
        .query("model == @name")
        .rename(columns={"measured_output_tokens_per_s_per_accelerator": "tokens_per_s"})
    )
    near = (rows["input_tokens"] / input_tokens).between(0.85, 1.15) & (
        rows["output_tokens"] / output_tokens
    ).between(0.85, 1.15)
    rows = rows.assign(interactivity=1 / rows["measured_tpot_s"])[near].dropna(
        subset=["interactivity", "tokens_per_s"]
    )
    return rows[
        [
            "accelerator",
            "precision",
            "software",
            "concurrency",
            "interactivity",
            "tokens_per_s",
            "source",
        ]
    ].reset_index(drop=True)


@shared
def _front(
    name: str, chip: str, lengths: tuple[float, float], guesses: bool, precision: str | None
) -> pd.DataFrame:
    """The front of one chip, see `serving_points`."""
    load = Load(*lengths, speculation=DRAFTED if guesses else None)
    return pd.concat(
        [
            frontier(
                model(name),
                load,
                [chip],
                precision,
                most_chips=GROUP,
                split=split,
                software=ENGINE,
                pipeline=1,
            )
            for split in (False, True)
        ]
    )


@search
def serving_points(
    name: str,
    input_tokens: float,
    output_tokens: float,
    drafts: str = "none",
    chips: tuple[str, ...] = PUBLISHED,
    precision: str | None = None,
) -> pd.DataFrame:
    """Operating points of a model by the book's own model of serving: the front of each chip over
    all layouts of up to `GROUP` chips without pipelines, prompts computed beside answers or on
    chips apart.

    Parameters
    ----------
    name : shape of the catalog; in the format of its published weights where that is MXFP4, else in
        the leanest of each chip
    input_tokens, output_tokens : mean lengths [token]
    drafts : who guesses tokens ahead, of `DRAFTS`; the newer generation is what computes in FP4
    precision : one format for all chips instead

    Columns: those of `vendor_claims.frontier`, and tokens_per_s (output, of one chip) [token/s].
    """
    one_of(drafts, DRAFTS, "drafts")
    form = precision or ("MXFP4" if release_format(name).startswith("MXFP4") else None)
    guesses = (
        drafts == "both" or (drafts == "new" and "fp4" in accelerator(chip).dense) for chip in chips
    )
    points = pd.concat(
        [
            _front(name, chip, (input_tokens, output_tokens), guess, form)
            for chip, guess in zip(chips, guesses, strict=True)
        ],
        ignore_index=True,
    )
    return points.assign(tokens_per_s=points["tokens_per_s_per_chip"])
