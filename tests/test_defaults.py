"""What chapters open with: the model that most hosts offer, the chip that most providers list, the
contract that is cheapest; each default is what its rule makes of today's tables, and follows them.
A case that a chapter teaches by stays, with its reason.
"""

from collections.abc import Callable, Iterable
from typing import Any

from chapter_cells import BOOK
from scaleright import catalog, market, mlperf
from scaleright.catalog import table
from scaleright.market.history import MEDIAN_OF_CARDS
from scaleright.market.hours import DISCOUNTED, offered
from scaleright.press.texts import declared

NAMES = {"model", "accelerator", "contract", "benchmark", "bet", "rival", "newer", "older"} | {
    *("new_chip", "old_chip", "first", "second", "third", "small", "medium", "large", "smaller"),
    "reward_model",
}
"""Parameters that name a model, a chip or a contract."""
LEFT_OPEN = {market.BEST, mlperf.NEWEST, mlperf.BEFORE, mlperf.ANY}
"""Words with which a chapter finds the one to take by itself."""


def hosted(among: Iterable[str] | None = None) -> str:
    """The open model that most companies sell tokens of, of those that are named; of equals the
    first by name.
    """
    sold = market.api_prices()
    sold = sold[sold["release"].notna()]
    many = sold.groupby("release")["company"].nunique()
    many = many[many.index.isin([*among])] if among else many
    return str(many[many == many.max()].index.min())


def served() -> str:
    """The same of the kind of models, dense or mixtures, whose throughput is predicted nearer by
    constants that have not seen the model: an answer to open with should be a sure one.
    """
    judged = table("serving_errors")
    judged = judged[judged["scored"] & (judged["figure"] == "throughput")]
    sparse = judged["model"].map(lambda name: bool(catalog.model(name).experts))
    off = judged["model_out_percent"].abs().groupby(sparse).median()
    kind = [
        name
        for name in market.open_models()["release"]
        if bool(catalog.model(name).experts) == bool(off.idxmin())
    ]
    return hosted(kind)


def shape() -> str:
    """The shape that model has in the catalog, for chapters that choose among shapes."""
    return catalog.model(served()).name


def listed() -> str:
    """The chip that most providers list on demand; of equals the first by name."""
    cards = offered("on demand")
    many = cards[cards["provider"] != MEDIAN_OF_CARDS].groupby("accelerator")["provider"].nunique()
    return str(many[many == many.max()].index.min())


def newest(among: Iterable[str], domain: int | None = None) -> str:
    """The newest chip that is rented out, of those with so many in a domain; of equals the last by
    name.
    """
    chips = [catalog.accelerator(name) for name in among]
    kept = [of for of in chips if market.contracts(of.name)]
    kept = [of for of in kept if domain is None or of.scale_up_chips == domain]
    return max(kept, key=lambda of: (of.released, of.name)).name


def carded() -> str:
    """The contract under which most chips have a price that somebody lists."""
    many = {
        of: rows.loc[rows["basis"] != DISCOUNTED, "accelerator"].nunique()
        for of in market.CONTRACTS
        for rows in [offered(of)]
    }
    return max(many, key=lambda of: many[of])


def of_menu(chapter: str, name: str, rule: Callable, *more: Any) -> Callable[[], str]:
    """A rule that picks among what a parameter offers."""
    return lambda: rule(
        next(of.choices for of in declared(chapter, BOOK) if of.name == name), *more
    )


CHIP = "buy_or_rent cluster_efficiency gpu_prices memory_wall parallelism scaling_math"
CHIP += " sustainability"
SHAPE = "cluster_efficiency inference_ladder inference_roofline parallelism scaling_math"
RELEASE = "economics_stack hardware_compare load_of_a_day plan token_cost"
ENDS = "ablation_cost cluster_efficiency parallelism pretraining_cost rlhf_cost scaling_laws"
"""Chapters of runs that end before the shortest contract that binds would."""
BESIDE = "architecture_bets gpu_prices hardware_radar mlperf pretraining_records vendor_claims"
"""Chapters that set chips beside each other, each at a price of one kind."""
RULES: dict[tuple[str, str], Callable[[], str]] = {
    **{(of, "accelerator"): listed for of in CHIP.split()},
    **{(of, "model"): shape for of in f"{SHAPE} sustainability".split()},
    **{(of, "model"): served for of in RELEASE.split()},
    **{(of, "contract"): carded for of in f"{ENDS} {BESIDE} scaling_math".split()},
    ("vendor_claims", "model"): of_menu("vendor_claims", "model", hosted),
    ("vendor_claims", "newer"): of_menu("vendor_claims", "newer", newest),
    ("vendor_claims", "older"): of_menu("vendor_claims", "older", newest),
    ("architecture_bets", "bet"): of_menu("architecture_bets", "bet", newest, 72),
    ("architecture_bets", "rival"): of_menu("architecture_bets", "rival", newest, 8),
    ("model_routing", "small"): of_menu("model_routing", "small", hosted),
    ("model_routing", "medium"): of_menu("model_routing", "medium", hosted),
}
"""What a default is found by."""
TAUGHT = {
    ("ablation_cost", "model"): "the size at which published studies compare their variants",
    ("hardware_radar", "benchmark"): "the benchmark that most chips of MLPerf Inference ran",
    ("hardware_radar", "first"): "a chip of each of three kinds that ran it",
    ("hardware_radar", "second"): "a chip of each of three kinds that ran it",
    ("hardware_radar", "third"): "a chip of each of three kinds that ran it",
    ("inference_ladder", "smaller"): "the next smaller of the model's family",
    ("memory_wall", "model"): "a model that four chips hold in one way and not in another",
    ("model_routing", "large"): "a closed model, whose score on each kind of request is published",
    ("pretraining_cost", "model"): "a run whose hours were published and on which its text rests",
    ("pretraining_records", "benchmark"): "the largest model of MLPerf Training",
    ("rlhf_cost", "model"): "the size of published runs of PPO, on which its text rests",
    ("rlhf_cost", "reward_model"): "as large as the policy, as in those runs",
}
"""Defaults that no table moves, and why."""


def _asked() -> dict[tuple[str, str], Any]:
    """The defaults that name a model, a chip or a contract, but those that are left open."""
    every = ((name, of) for name in BOOK.chapters() for of in declared(name, BOOK))
    named = {(chapter, of.name): of for chapter, of in every if of.name in NAMES}
    return {key: of.default for key, of in named.items() if of.default not in LEFT_OPEN}


def test_each_default_has_a_rule_or_a_reason():
    assert {*RULES} | {*TAUGHT} == {*_asked()}
    assert not {*RULES} & {*TAUGHT}


def test_each_default_is_what_its_rule_makes_of_the_tables():
    found = {rule: rule() for rule in {*RULES.values()}}
    asked = _asked()
    assert {key: found[rule] for key, rule in RULES.items()} == {key: asked[key] for key in RULES}


def test_the_plan_offers_every_model_that_five_hosts_sell():
    sold = market.open_models()
    offered_ = next(of.choices for of in declared("plan", BOOK) if of.name == "model")
    assert {*sold.loc[sold["companies"] >= 5, "release"]} <= {*offered_}
