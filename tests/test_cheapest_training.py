"""What a training chapter takes where the reader leaves it open: the cheapest accelerator, and the
batch with which a run comes to the same loss for least.
"""

from collections.abc import Callable
from typing import Any

import pytest
from chapter_cells import computed
from scaleright.costs.platforms import BATCHES, FREE
from scaleright.market import BEST
from scaleright.quantity import evaluate
from scaleright.scaling_laws.batches import CRITICAL, published_batch, tokens_over_least

Page = dict[str, Any]
BILLS: dict[str, Callable[[Page], Any]] = {
    "pretraining_cost": lambda page: page["run"].usd,
    "ablation_cost": lambda page: page["study"].usd,
    "rlhf_cost": lambda page: page["bill"].cost.machine_usd,
}
CASES: dict[str, list[dict[str, Any]]] = {
    "pretraining_cost": [
        {},
        {"model": "Llama-3.1-405B", "chips": 8192, "tokens": 15.6e12},
        {"model": "DeepSeek-V3", "chips": 2048, "precision": "FP8"},
        {"seller": "Crusoe"},
        {"contract": "one year", "paid": "own"},
    ],
    "ablation_cost": [{}, {"contract": "spot"}, {"model": "OLMo-2-7B", "run_on": "32 chips"}],
    "rlhf_cost": [{}, {"model": "Llama-3.1-70B", "chips": 64}, {"method": "rlvr", "chips": 256}],
}
ASKED = [(chapter, case) for chapter, cases in CASES.items() for case in cases]


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {chapter: computed(chapter) for chapter in CASES}


@pytest.mark.parametrize("chapter, case", ASKED)
def test_the_cheapest_accelerator_costs_least_of_those_that_were_tested(pages, chapter, case):
    page, usd = pages[chapter], BILLS[chapter](pages[chapter])
    best = page["best"].found if chapter == "rlhf_cost" else page["best"]
    cost, name, least, many = evaluate(
        [usd, page["case"].accelerator, best.usd, best.many], {**case, "accelerator": BEST}
    )
    assert cost == pytest.approx(least)
    named = evaluate([usd, page["case"].accelerator], {**case, "accelerator": name})
    assert named == [pytest.approx(cost), name]
    sure = page["best"].choice if chapter == "rlhf_cost" else page["sure"].choice
    (other,) = evaluate([sure.other], {**case, "accelerator": BEST})
    assert many >= 2 and other >= cost


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"model": "Llama-3.1-405B", "chips": 8192, "tokens": 15.6e12},
        {"model": "Llama-3.1-70B", "chips": 16384, "tokens": 1e12},
        {"model": "DeepSeek-V3", "chips": 2048, "precision": "FP8", "tokens": 14.8e12},
        {"chips": 64, "tokens": 1e9},
    ],
)
def test_the_best_batch_comes_to_the_same_loss_in_fewest_hours(pages, case):
    """Of all that may be named, with the tokens that a larger one takes more."""
    page = pages["pretraining_cost"]
    run, case = page["run"], {"tokens": 2e12, "accelerator": "H100 SXM", **case}
    critical = float(published_batch(CRITICAL[0], 1.0, case["tokens"]))
    taken, best = evaluate([run.step.tokens, run.hours.least], {**case, "batch": FREE})
    hours = {}
    for name, tokens in BATCHES.items():
        (found,) = evaluate([run.hours.least], {**case, "batch": name})
        if found > 0:
            hours[tokens] = found * tokens_over_least(tokens, critical)
    assert taken == min(hours, key=lambda tokens: hours[tokens])
    assert best * tokens_over_least(taken, critical) == pytest.approx(hours[taken])
