"""Recomputations of Token Cost Analysis on pretraining, an answer to this book's question: a link,
a gain in inference, a gain in its software.

What each one computes, from which inputs, and why it differs stands in `data/claims.csv` beside the
claim.
"""

from dataclasses import asdict, fields, replace

from scaleright.catalog import accelerator, model, table
from scaleright.claims.errors import of_two_steps, widened
from scaleright.claims.verdicts import Condition, Recomputed, looked_up, point, span
from scaleright.costs.platforms import best_step, platforms
from scaleright.costs.pretraining import (
    PretrainingCost,
    people_usd,
    pretraining_usd,
    project,
    run_chip_hours,
)
from scaleright.decisions.parallelism_playbook import contenders
from scaleright.market import hour
from scaleright.mlperf import matched, training_gains
from scaleright.scaling_laws.laws import loss, published
from scaleright.training.layout import TrainingRun

MODEL, CHIPS, SEQUENCE, BATCH = "Llama-2-7B", 256, 4096, 1024
"""The chapter's run."""
BLACKWELL, HOPPER = ("B200", "GB200"), "H200 SXM"
ULTRA = ("B300", "GB300")
SERVED = "gpt-oss-120b"
BOTH_DIRECTIONS = 2
LAWS = ("Hoffmann 2022, approach 3", "Besiroglu 2024", "Muennighoff 2023")


def s1_nvlink() -> Recomputed:
    one_way = accelerator("B200").require("scale_up_bytes_per_s") / 1e9
    return looked_up(BOTH_DIRECTIONS * one_way)


def s1_4x() -> Recomputed:
    rounds = (
        matched(new, HOPPER, SERVED, scenario)
        for new in BLACKWELL
        for scenario in ("Offline", "Server")
    )
    return span(*(ratio for rows in rounds for ratio in rows["best"]))


def s1_up_to_4x() -> Recomputed:
    rows = table("measured/serving").query(
        "model == @SERVED and scenario == 'maximum load' and held_out.isna()"
    )
    rate = rows.pivot_table(
        index=["input_tokens", "output_tokens"],
        columns="accelerator",
        values="measured_output_tokens_per_s_per_accelerator",
    )
    return span(
        (rate["B200"] / rate["H100 SXM"]).max(),
        Condition("against the H200 instead of the H100", (rate["B200"] / rate[HOPPER]).max()),
    )


def _training_gain() -> list[float]:
    """How much faster a Blackwell chip trains than an H100: in MLPerf, and for the chapter's
    run.
    """
    gains = training_gains("chip")
    gains = gains[
        (gains["before"] == "H100 SXM")
        & gains["after"].isin(BLACKWELL)
        & gains["title"].str.startswith("Llama-3.1")
    ]
    steps = [
        best_step(MODEL, chip, CHIPS, SEQUENCE, BATCH)["step_s"] for chip in ("H100 SXM", "B200")
    ]
    return [*widened([steps[0] / steps[1]], of_two_steps("chip")), *gains["gain"]]


def s1_5x_training() -> Recomputed:
    gains = training_gains("software")
    gains = gains[gains["accelerator"].isin((*BLACKWELL, *ULTRA))]["gain"]
    return span(gains.median(), gains.max())


def s1_cheapest() -> Recomputed:
    rows = platforms(MODEL, CHIPS, SEQUENCE, BATCH).query("why == ''")
    usd = (rows["step_s"] * rows["accelerator"].map(lambda name: hour(name).usd)).set_axis(
        rows["accelerator"]
    )
    is_blackwell = usd.index.isin((*BLACKWELL, *ULTRA))
    ours, others = usd[is_blackwell].min(), usd[~is_blackwell]
    own = others[others.index.str.match("A100|H100|H200")]
    all_, older = (widened([100 * usd.min() / ours], of_two_steps("chip")) for usd in (others, own))
    return span(*all_, Condition("against its maker's own older chips", *older))


def s1_bandwidth() -> Recomputed:
    """A step over chips that a slower bus joins, over one of the chapter's run."""
    run = TrainingRun(model(MODEL), accelerator("H100 SXM"), CHIPS, SEQUENCE, BATCH)
    bus = accelerator("H100 PCIe").require("scale_up_bytes_per_s")
    slow = replace(run, chip=replace(run.chip, scale_up_bytes_per_s=bus))
    usual, slower = (
        min(float(step.total) for _, _, step, _ in contenders(of).values() if step is not None)
        for of in (run, slow)
    )
    return span(*widened([slower / usual], of_two_steps("layout")))


def s1_more_tokens() -> Recomputed:
    """Loss that twice the tokens leave of a 7B model's [%], by each published law."""
    laws = [asdict(published(name)) for name in LAWS]
    return span(*(100 * loss(7e9, 2e12, **law) / loss(7e9, 1e12, **law) for law in laws))


def _project_usd(tokens: float, end: str = "best") -> PretrainingCost:
    """The chapter's run and the project around it, on H100 on demand [USD]."""
    step = best_step(MODEL, "H100 SXM", CHIPS, SEQUENCE, BATCH)["step_s"]
    hours = run_chip_hours(tokens, BATCH * SEQUENCE, CHIPS, step, 0.0, 0.0, 0.0)
    parts = [getattr(hours, field.name) for field in fields(hours)]
    around = project(end)
    paid = people_usd(around["person_years"], around["pay_usd_per_year"])
    usd = hour("H100 SXM").usd
    return pretraining_usd(*parts, usd, experiments=around["experiments"], people_usd=paid)


def s1_primary_driver() -> Recomputed:
    """Share of hours of chips, with those of experiments, in the bill of a 7B project [%]."""

    def share(tokens: float, end: str) -> float:
        bill = _project_usd(tokens, end)
        return 100 * (1 - bill.people_usd / bill.total)

    many = Condition("15 trillion tokens", *sorted(share(15e12, end) for end in ("low", "high")))
    return span(*(share(2e12, end) for end in ("low", "best", "high")), many)


def s1_tokens_times() -> Recomputed:
    """What a project of twice the tokens costs over one of them, with its people; and the run."""
    totals = [_project_usd(tokens).total for tokens in (1e12, 2e12)]
    runs = [_project_usd(tokens).run_usd for tokens in (1e12, 2e12)]
    return point(totals[1] / totals[0], Condition("the run alone", runs[1] / runs[0]))


RECOMPUTED = {"S1-4x-training": lambda: span(*_training_gain())}
