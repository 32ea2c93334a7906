"""Rules of chapters: values that do not go together are refused before a kernel starts, in the
words of the parameters.
"""

import re
from pathlib import Path

import jupytext  # noqa: F401  its import asks pandoc for its version, once, in a process
import pytest
from scaleright import catalog, market
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines
from scaleright.inference.serving import steady
from scaleright.parameters import DeclarationError, ParameterError, parse, validate
from scaleright.press import Book, scenarios
from scaleright.press.sweep.grid import impossible, read_grid
from scaleright.press.texts import declared
from scaleright.rules import RULES

BOOK = Book(Path(__file__).resolve().parents[1])
PAIR = parse(
    'first: str = "a"  # one (a | b | c)\n'
    'second: str = "b"  # other (a | b | c)\n'
    "weight: float = 1.0  # weight [1] (0..5)\n"
    "# check: different(first,\n"
    "#     second)\n"
    "# check: some_weight(weight)\n"
)


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_what_a_chapter_declares_keeps_its_own_rules(chapter):
    parameters = declared(chapter, BOOK)
    case = {parameter.name: parameter.default for parameter in parameters}
    choices = {parameter.name: parameter.choices for parameter in parameters}
    said = [rule.refusal(case, case, choices) for rule in parameters.rules]
    assert said == [""] * len(parameters.rules)


def test_scenarios_keep_the_rules_of_their_chapters():
    assert scenarios.jobs(BOOK, scenarios.read(BOOK))


def test_every_rule_is_used_by_a_chapter():
    used = {rule.name for chapter in BOOK.chapters() for rule in declared(chapter, BOOK).rules}
    assert used == set(RULES)


HOPPER = {"new_chip": "B200", "old_chip": "H200 SXM", "benchmark": "llama2-70b-99.9"}


@pytest.mark.parametrize(
    "chapter, case, says",
    [
        ("architecture_bets", {"bet": "B300"}, "rival = 'B300': the same twice"),
        ("architecture_bets", {"bet": "A100 SXM 80GB"}, "bet = 'A100 SXM 80GB': "),
        ("architecture_bets", {"bet": "GB200"}, "no recent price of GB200 under any contract"),
        (
            "architecture_bets",
            {"rival": "H200 SXM", "mixture": "gpt-oss-120b", "precision": "NVFP4"},
            "does not serve gpt-oss-120b in NVFP4; nearest: MXFP4",
        ),
        ("buy_or_rent", {"accelerator": "TPU v2"}, "give chip_usd"),
        (
            "gpu_prices",
            {"accelerator": "A10", "region": "eastus"},
            "region of A10 listings 'eastus'",
        ),
        (
            "gpu_prices",
            {"accelerator": "RTX 3090", "contract": "spot"},
            "no spot price of RTX 3090; nearest contract that has one: on demand",
        ),
        ("hardware_compare", {"pace_tokens_per_s": 300}, "allow another format, a slower pace"),
        ("hardware_compare", {"vendor": "AMD", "segment": "consumer"}, "AMD has: data center"),
        (
            "hardware_compare",
            {"contract": "spot", "seller": "Lambda"},
            "sold under: spot, on demand, reserved, one year, three years",
        ),
        (
            "hardware_compare",
            {
                "task": "training",
                "segment": "consumer",
                "least_providers": 1,
                "contract": "on demand",
            },
            "admit other chips",
        ),
        ("hardware_radar", {"benchmark": "whisper", "scenario": "Server"}, "allowed: Offline"),
        (
            "inference_ladder",
            {"precision": "FP8", "accelerator": "A100 SXM 80GB"},
            "in FP8; nearest: INT8",
        ),
        (
            "inference_ladder",  # the engine keeps the pace by a hair, the page's curve misses it
            {"model": "Mixtral-8x7B", "precision": "INT8", "batching": "static", "tpot_ms": 15}
            | {"static_batch": 58, "requests_per_s": 0.8289, "prefix_share": 0.2288}
            | {"accelerator": "H100 SXM"}
            | {"input_tokens": 1, "output_tokens": 20000, "traffic": "code completion"},
            "in INT8 on H100 SXM needs more for a token; nearest that works: tpot_ms = 16",
        ),
        (
            "inference_roofline",
            {"model": "gpt-oss-120b", "precision": "FP8", "accelerator": "H100 SXM"},
            "nearest",
        ),
        ("memory_wall", {"model": "GPT-3 175B", "sequence": 131072}, "the 2,048 tokens"),
        ("mlperf", {"new_chip": "L4", "old_chip": "L4"}, "new_chip = 'L4', old_chip = 'L4'"),
        ("mlperf", {**HOPPER, "in_round": "v3.0"}, "nearest that works: in_round = newest"),
        ("parallelism", {"model": "GPT-3 175B", "sequence": 131072}, "the 2,048 tokens"),
        ("parallelism", {"model": "Llama-3.1-405B", "chips": 8}, "nearest that fits: chips"),
        (
            "parallelism",
            {"chips": 4096, "global_batch": 3, "sequence": 1024},
            "another global_batch",
        ),
        ("pretraining_cost", {"accelerator": "RTX 4090"}, "accelerator of a cluster"),
        ("pretraining_cost", {"model": "DeepSeek-V3", "chips": 8}, "chips = 8: .*nearest"),
        (
            "pretraining_cost",
            {"model": "Llama-3.1-405B", "chips": 64, "accelerator": "H100 SXM"},
            "chips = 64: .*nearest",
        ),
        ("pretraining_cost", {"rent_usd_per_hour": 2}, "that of one accelerator: name it"),
        ("ablation_cost", {"model": "OLMo-2-7B", "run_on": "1/7 chip"}, "nearest"),
        ("pretraining_records", {"benchmark": "GPT-3 175B", "round": "v5.1"}, "v4.0, v4.1"),
        ("scaling_math", {"rent_usd_per_hour": 24}, "8-chip node it is 3 a chip"),
        ("serving_accuracy", {"source": "InferenceX", "figure": "energy"}, "time per token"),
        ("sustainability", {"model": "GPT-3 175B"}, "model with measured energy"),
        ("sustainability", {"precision": "NVFP4"}, "does not serve Llama-3.1-70B in NVFP4"),
        (
            "sustainability",
            {"accelerator": "P100 PCIe"},
            "P100 PCIe computes in none of the formats that serve",
        ),
        (
            "token_cost",
            {"accelerator": "H100 SXM", "contract": "spot", "seller": "Lambda"},
            "'Lambda' rents no H100 SXM out spot; at the median of 3 it costs ",
        ),
        (
            "token_cost",
            {"contract": "spot", "seller": "Lambda"},
            "none of the accelerators out spot",
        ),
        (
            "token_cost",
            {"accelerator": "H100 SXM", "rent_usd_per_hour": 24},
            "8-chip node it is 3 a chip",
        ),
        (
            "token_cost",
            {"model": "Kimi-K2.5", "api_host": "Regolo"},
            "'Regolo' hosts no Kimi-K2.5; at the median of",
        ),
        ("training_accuracy", {"source": "torchtitan", "kind": "experts"}, "for it: all, dense"),
        ("vendor_claims", {"older_precision": "FP8"}, "gpt-oss-120b in FP8; nearest: MXFP4"),
    ],
)
def test_values_that_do_not_go_together_are_refused_in_their_own_words(chapter, case, says):
    with pytest.raises(ParameterError, match=says) as caught:
        validate(declared(chapter, BOOK), case)
    assert not {"None", "(0 known)"} & set(str(caught.value).split(", "))


def test_a_pace_that_no_engine_keeps_is_refused_with_that_of_the_fastest():
    """As the model of serving has it for one reader alone, to the digits that are said."""
    parameters = declared("token_cost", BOOK)
    case = {parameter.name: parameter.default for parameter in parameters}
    with pytest.raises(ParameterError, match="one reader alone") as caught:
        validate(parameters, {"accelerator": "H100 SXM", "pace_tokens_per_s": 300})
    (said,) = re.findall(r"the fastest writes (\S+) to", str(caught.value))
    load = Load(case["input_tokens"], case["output_tokens"], case["cached_share"])
    found = engines(catalog.model(case["model"]), catalog.accelerator("H100 SXM"))
    fastest = max(1 / float(steady(one, load, 1.0).tpot_s) for one in found)
    assert float(said) == pytest.approx(fastest, rel=0.01)


def test_weights_must_not_all_be_nothing():
    weights = [p.name for p in declared("hardware_radar", BOOK) if p.name.startswith("weight_")]
    with pytest.raises(ParameterError, match="nothing has weight"):
        validate(declared("hardware_radar", BOOK), dict.fromkeys(weights, 0))


def test_a_release_may_see_further_than_the_shape_it_shares():
    case = {"model": "Qwen3-30B-A3B-Instruct-2507", "input_tokens": 100_000}
    try:
        validate(declared("token_cost", BOOK), case)
    except ParameterError as error:
        assert "made for" not in str(error)  # noqa: PT017, it may also pass


@pytest.mark.parametrize(
    "line, says",
    [
        ("# check: diffrent(first, second)", "unknown rule 'diffrent'; nearest: different"),
        ("# check: different(first, secnd)", "unknown parameter 'secnd'; nearest: second"),
        ("# check: different", "expected rule"),
        ("# check: different(first, 'b')", "expected rule"),
        ("# check:", "expected rule"),
    ],
)
def test_a_malformed_check_is_named(line, says):
    source = 'first: str = "a"  # one (a | b)\nsecond: str = "b"  # other (a | b)\n' + line
    with pytest.raises(DeclarationError, match=f"line 3: check: .*{says}"):
        parse(source)


def test_a_sweep_names_impossible_scenarios_and_refuses_only_impossible_ones():
    grid = read_grid(PAIR, [("first", "a,b")])
    cases = [{"first": value} for value in grid["first"]]
    assert impossible(PAIR, cases) == [
        "",
        "first = 'b', second = 'b': the same twice; choose another for one of them",
    ]
    with pytest.raises(ParameterError, match="first = 'b', second = 'b': the same twice"):
        impossible(PAIR, cases[1:])
    assert validate(PAIR, {"first": "c"}) == {"first": "c"}


NO_SPOT = {"accelerator": "MI325X", "contract": "spot"}
NOBODY = {"contract": "spot", "seller": "Lambda"}
UNSOLD = {
    "ablation_cost": (NO_SPOT, "nearest contract that has one: on demand"),
    "architecture_bets": ({"contract": "spot"}, "nearest contract that has one: on demand"),
    "buy_or_rent": (NO_SPOT, "nearest contract that has one: on demand"),
    "cluster_efficiency": (NO_SPOT, "nearest contract that has one: on demand"),
    "economics_stack": (NOBODY, "Lambda rents none of the accelerators out spot"),
    "gpu_prices": (NO_SPOT, "nearest contract that has one: on demand"),
    "hardware_compare": (NOBODY, "Lambda sells none of these chips spot"),
    "hardware_radar": (NOBODY, "'Lambda' rents no H100 SXM out spot"),
    "inference_ladder": (NO_SPOT, "nearest contract that has one: on demand"),
    "inference_roofline": (NO_SPOT, "nearest contract that has one: on demand"),
    "load_of_a_day": (NOBODY, "Lambda rents none of the accelerators out spot"),
    "mlperf": (NOBODY | {"metric": "dollar"}, "'Lambda' rents no B300 out spot"),
    "pretraining_records": (NOBODY | {"measure": "rent"}, "of such a seller .Lambda."),
    "pretraining_cost": (NO_SPOT, "nearest contract that has one: on demand"),
    "rlhf_cost": (NO_SPOT, "nearest contract that has one: on demand"),
    "scaling_laws": (NO_SPOT, "nearest contract that has one: on demand"),
    "token_cost": (NO_SPOT, "nearest contract that has one: on demand"),
    "vendor_claims": ({"contract": "spot"}, "nearest contract that has one: on demand"),
}
"""A contract, or a seller under it, that has no price, and what is said of it."""
BESIDE = {"parallelism", "plan", "scaling_math"}
"""Chapters that pay for an hour beside their answer, and say there why it has no price."""


ALL_SOLD = {"model_routing"}
"""Chapters that offer no chip but those that are sold under every contract."""


def test_a_chip_that_is_sold_under_every_contract_is_never_refused_for_it():
    for chapter in ALL_SOLD:
        (offered,) = (of for of in declared(chapter, BOOK) if of.name == "accelerator")
        chips = {*offered.choices} - {market.BEST}
        assert all(market.contracts(chip) == (*market.CONTRACTS,) for chip in chips)


@pytest.mark.parametrize("chapter", BOOK.chapters())
def test_an_hour_that_nobody_sells_so_is_refused_wherever_one_is_paid(chapter):
    parameters = declared(chapter, BOOK)
    assert (chapter in {*UNSOLD, *BESIDE, *ALL_SOLD}) == any(
        of.name == "contract" for of in parameters
    )
    if chapter in UNSOLD:
        case, words = UNSOLD[chapter]
        with pytest.raises(ParameterError, match=words) as caught:
            validate(parameters, case)
        assert "nearest that works" in str(caught.value)
