"""Published times of post-training beside those predicted from what was tuned on what, and how much
longer real runs take than their phases.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from scaleright.catalog import fact, model, remembered, table
from scaleright.decisions.plan_runs import SERVER_CHIPS
from scaleright.decisions.post_training import ALL, Tables, job
from scaleright.formulas import lookup, search
from scaleright.inference.engine_tables import engines_in
from scaleright.market import hour
from scaleright.market.rentals import rental_prices
from scaleright.quantity.graph import value_of
from scaleright.transformer.flops import inference_flop, training_flop
from scaleright.transformer.parameters import parameters
from scaleright.units import HOURS_PER_DAY, SECONDS_PER_HOUR, figure

USUAL_SPREAD = 0.5
"""Taken for a run that does not state how widely the lengths of its answers spread [1]."""
NEEDED = {
    "model": "the tables have no shape of its model",
    "chips": "its chips are not stated",
    "answer_tokens": "the mean lengths of its texts are not stated",
}
"""What a row must state to be predicted, and what is said where it does not."""
SOURCE = "scalerightposttraining"
MEASURES = {"seconds of a round": SECONDS_PER_HOUR, "hours": 1.0}
"""Units of what was measured over an hour [1]."""


def _case(row: dict[str, Any]) -> SimpleNamespace:
    """A published run as a case."""
    spread = row["length_spread"]
    numbers = ("chips", "rollout_chips", "rounds", "prompts", "answers_each", "passes")
    numbers += ("minibatches", "prompt_tokens", "answer_tokens", "most_tokens")
    words = ("model", "reward_model", "method", "sharing", "rollout_precision")
    given = {name: row[name] for name in words} | {name: float(row[name]) for name in numbers}
    given["chips"] = int(row["chips"])
    given["length_spread"] = USUAL_SPREAD if np.isnan(spread) else float(spread)
    return SimpleNamespace(**given, trained=ALL, lora_rank=32.0, labels=0.0)


def _predicted(row: dict[str, Any]) -> tuple[float, str]:
    """The time of a published run by its phases alone, in the unit of what was measured; or why
    there is none.
    """
    for name, why in NEEDED.items():
        if pd.isna(row[name]) or row[name] == "":
            return np.nan, why
    case, chip = _case(row), row["accelerator"]
    both = [case.model, case.reward_model]
    known = engines_in(case.model, chip, case.rollout_precision)[0]
    if not known:
        return np.nan, "no engine of one node holds it in this format"
    found = job(Tables.of(both, [case.chips], [chip]), case, chip)
    if not value_of(found.wrote):
        return np.nan, "no engine of one node holds its answers"
    if not value_of(found.fits):
        return np.nan, "by the model of memory it does not fit without the memory of the host"
    return figure(float(value_of(found.hours(1.0))) * MEASURES[row["measure"]], 4), ""


@search
def refit() -> pd.DataFrame:
    """The table `post_training_phases`, found anew: of each published run the time that its phases
    take, or why there is none.
    """
    rows = table("post_training_runs")
    found = [(row["run"], *_predicted(row), SOURCE) for row in rows.to_dict("records")]
    return pd.DataFrame(found, columns=["run", "phases", "why", "source"])


@lookup
def published_runs() -> pd.DataFrame:
    """Published runs with the time that their phases take (`phases`, in the unit of `measured`),
    real over predicted (`ratio` [1]), and why one has none (`why`).
    """
    phases = table("post_training_phases").drop(columns="source")
    rows = table("post_training_runs").merge(phases, on="run", how="left")
    rows["why"] = rows["why"].fillna("")
    rows["ratio"] = rows["measured"] / rows["phases"]
    return rows


@dataclass(frozen=True)
class RealRuns:
    """How much longer published runs take than their phases, where vLLM writes their answers.

    beyond : median over models of the median of each [1]
    low, high : real over predicted time of nine in ten runs, each predicted by what the runs of
        other models took [1]
    error : median error of these predictions [1]; phases_error : of the phases alone
    runs, models, shown : that are predicted, of how many models, of how many rows
    older, older_runs : real over predicted time of runs by engines from before, in the median [1],
        and how many they are
    """

    beyond: float
    low: float
    high: float
    error: float
    phases_error: float
    runs: int
    models: int
    shown: int
    older: float
    older_runs: int

    @property
    def basis(self) -> str:
        """How well runs are predicted, in words."""
        return (
            f"half of {self.runs} published runs were predicted within {100 * self.error:.0f} % by"
            f" what runs of other models took, nine of ten took {self.low:.2g} to {self.high:.2g}"
            " of the predicted time"
        )


ENGINE = "vLLM"
"""The engine that the model of serving describes, and of whose runs is told how long they take."""


@lookup
def judged_runs() -> pd.DataFrame:
    """The published runs that are predicted, each by what the runs of other models with `ENGINE`
    took beyond their phases (`predicted`, in the unit of `measured`), with its `error` [1].
    """
    rows = published_runs()
    rows = rows[rows["why"] == ""]
    by = rows[rows["engine"] == ENGINE].groupby("model")["ratio"].median()
    others = {name: by.drop(name, errors="ignore").median() for name in rows["model"].unique()}
    rows = rows.assign(predicted=rows["phases"] * rows["model"].map(others))
    return rows.assign(error=rows["predicted"] / rows["measured"] - 1)


@lookup
@remembered
def real_runs() -> RealRuns:
    """How much longer published runs take than their phases.

    >>> real = real_runs()
    >>> 1 < real.beyond < 2, real.low < 1 < real.high, real.runs > 20, real.older > 2
    (True, True, True, True)
    """
    every = judged_runs()
    rows, older = every[every["engine"] == ENGINE], every[every["engine"] != ENGINE]
    real = rows["measured"] / rows["predicted"]
    low, high = np.quantile(real, [0.05, 0.95])
    return RealRuns(
        figure(float(rows.groupby("model")["ratio"].median().median()), 3),
        figure(float(low), 3),
        figure(float(high), 3),
        figure(float(rows["error"].abs().median()), 3),
        figure(float((1 / rows["ratio"] - 1).abs().median()), 3),
        len(rows),
        int(rows["model"].nunique()),
        len(published_runs()),
        figure(float((older["measured"] / older["predicted"]).median()), 3),
        len(older),
    )


@lookup
def below_a_server(name: str = "H100 SXM") -> tuple[int, int, int]:
    """What stands behind runs on fewer chips than a server has: published runs of training on so
    few, and of the sellers who make the price of a chip on demand how many list it alone, and all.

    >>> runs, alone, sellers = below_a_server()
    >>> runs > 0, 0 < alone <= sellers
    (True, True)
    """
    trained, listed, price = table("measured/training"), rental_prices(), hour(name)
    sold = listed[(listed["accelerator"] == name) & (listed["pricing"] == "on_demand")]
    sold = sold[(sold["accelerators"] == 1) & (sold["date"] >= f"{price.since}")]
    sellers = price.rows["provider"]
    alone = int(sellers.isin(sold["provider"]).sum())
    return int((trained["accelerators"] < SERVER_CHIPS).sum()), alone, len(sellers)


@lookup
def published_in_words() -> pd.DataFrame:
    """All published runs beside what is predicted, as a page shows them."""
    rows, judged = published_runs(), judged_runs()
    rows = rows.join(judged["predicted"])
    return pd.DataFrame(
        {
            "model": rows["model"].fillna("none"),
            "method": rows["method"],
            "chips": rows["accelerator"],
            "of them": rows["chips"].map(lambda n: "" if pd.isna(n) else f"{n:.0f}"),
            "sharing": rows["sharing"],
            "measure": rows["measure"],
            "published": rows["measured"],
            "phases": rows["phases"],
            "predicted": rows["predicted"],
            "why not": rows["why"],
        }
    )


PETAFLOP_DAY = 1e15 * SECONDS_PER_HOUR * HOURS_PER_DAY
"""Work of a petaflop/s-day [FLOP]."""
GPT, JUDGE, CONTEXT = "GPT-3 175B", "GPT-3 6.7B", 2048
"""InstructGPT's policy, about its reward model and critic, and the tokens of its sequences, which
are filled up to that [ouyang2022, appendix C].
"""


@lookup
def flop_beside() -> pd.DataFrame:
    """InstructGPT's published work beside that counted from its sequences [ouyang2022, section 5.1
    and appendix C]: 12,725 demonstrations sixteen times; 256,000 episodes, each scored by policy,
    reference, reward model and critic, with eight sequences of pretraining for each.

    >>> found = flop_beside().set_index("stage")["counted"]
    >>> tuned, rewarded = found["supervised tuning"], found["PPO with pretraining"]
    >>> bool(4.5 < tuned < 6 and 55 < rewarded < 75)
    True
    """
    policy, judge = (float(parameters(model(of)).total) for of in (GPT, JUDGE))
    episodes = fact("instructgpt_episodes") * CONTEXT
    tuned = fact("instructgpt_demonstrations") * fact("instructgpt_epochs") * CONTEXT
    each = fact("instructgpt_pretraining_sequences")
    passes = 3 * inference_flop(policy, episodes) + 2 * inference_flop(judge, episodes)
    learned = training_flop(policy, (1 + each) * episodes) + training_flop(judge, episodes)
    rows = pd.DataFrame(
        {
            "stage": ["supervised tuning", "PPO with pretraining"],
            "published": [
                fact("instructgpt_sft_petaflop_days"),
                fact("instructgpt_ppo_petaflop_days"),
            ],
            "counted": [
                figure(training_flop(policy, tuned) / PETAFLOP_DAY, 4),
                figure((passes + learned) / PETAFLOP_DAY, 4),
            ],
        }
    )
    return rows.assign(error=rows["counted"] / rows["published"] - 1)
