"""Rules of chapters: values that do not go together are refused before a kernel starts, in the
words of the parameters.
"""

import re

import jupytext  # noqa: F401  its import asks pandoc for its version, once, in a process
import pytest
from built import BOOK
from scaleright import catalog, market
from scaleright.inference.lengths import Load
from scaleright.inference.nodes import engines
from scaleright.inference.serving import steady
from scaleright.parameters import (
    DeclarationError,
    ParameterError,
    impossible,
    parse,
    read_grid,
    validate,
)
from scaleright.press import scenarios
from scaleright.press.texts import declared
from scaleright.rules import RULES

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


REFUSED = {
    "ablation_cost": {"model=OLMo-2-7B, run_on=1/7 chip": "nearest"},
    "architecture_bets": {
        "bet=B300": "rival = 'B300': the same twice",
        "bet=A100 SXM 80GB": "bet = 'A100 SXM 80GB': ",
        "bet=GB200": "no recent price of GB200 under any contract",
        "rival=H200 SXM, mixture=gpt-oss-120b, precision=NVFP4": (
            "does not serve gpt-oss-120b in NVFP4; nearest: MXFP4"
        ),
    },
    "buy_or_rent": {"accelerator=TPU v2": "give chip_usd"},
    "economics_stack": {
        "accelerator=RTX 4090": "H100 SXM",
        "people=-1": "people",
        "way=leased": "rented",
        "requests_per_day=0": "requests_per_day",
        "pace_tokens_per_s=150, model=Llama-3.1-405B": "pace",
    },
    "gpu_prices": {
        "accelerator=A10, region=eastus": "region of A10 listings 'eastus'",
        "accelerator=RTX 3090, contract=spot": (
            "no spot price of RTX 3090; nearest contract that has one: on demand"
        ),
    },
    "hardware_compare": {
        "pace_tokens_per_s=300": "allow another format, a slower pace",
        "vendor=AMD, segment=consumer": "AMD has: data center",
        "contract=spot, seller=Lambda": (
            "sold under: spot, on demand, reserved, one year, three years"
        ),
        "task=training, segment=consumer, least_providers=1, contract=on demand": (
            "admit other chips"
        ),
    },
    "hardware_radar": {"benchmark=whisper, scenario=Server": "allowed: Offline"},
    "inference_ladder": {
        "precision=FP8, accelerator=A100 SXM 80GB": "in FP8; nearest: INT8",
        (
            "model=Mixtral-8x7B, precision=INT8, accelerator=H100 SXM, batching=static, "
            "tpot_ms=15, static_batch=58, requests_per_s=0.8289, prefix_share=0.2288, "
            "input_tokens=1, output_tokens=20000, traffic=code completion"
        ): "in INT8 on H100 SXM needs more for a token; nearest that works: tpot_ms = 16",
        "batching=dynamic": "batching = 'dynamic'",
        "requests_per_s=0": "requests_per_s = 0",
        "together=2": "together = 2",
        "model=Llama-3.1-71B": "Llama-3.1-70B",
        "accelerator=H100": "H100 SXM",
        "allowed_loss=60": "allowed_loss",
    },
    "inference_roofline": {
        "model=gpt-oss-120b, precision=FP8, accelerator=H100 SXM": "nearest",
        "accelerator=A100 SXM 80GB, precision=FP8": "nearest that works: precision = INT8",
        "accelerator=H100 SXM, model=Llama-3.1-405B, precision=BF16": "FP8",
        "precision=FP9": "FP8",
        "batch=0": "batch = 0",
        "model=Llama-3.1-7B": "Llama-3.1-8B",
        "chips=4": "chips = '4'",
        "utilization=40": "utilization = 40",
        "accelerator=H100": "H100 SXM",
    },
    "load_of_a_day": {
        "accelerator=H100 SXM, ttft_s=0.21": (
            "the quickest engine needs 0.22 s .* promise that or more"
        ),
        "accelerator=H100 SXM, pace_tokens_per_s=150": "the fastest writes 1",
        "accelerator=H100 SXM, budget_usd_per_year=5000": "less than one H100 SXM costs in a year",
        "accelerator=H100 SXM, model=DeepSeek-V3.1": "no node of it holds the model",
        "budget_usd_per_year=100": "less than one RTX 4090 costs in a year",
        "accelerator=MI355X": "no recent price of MI355X .*: give rent_usd_per_ho",
    },
    "memory_wall": {
        "model=GPT-3 175B, sequence=131072": "the 2,048 tokens",
        "sharding=some": "sharding = 'some'",
        "accelerators=0": "accelerators = 0",
        "micro_batch=-1": "micro_batch = -1",
        "sequence=1e9": "sequence",
        "model=Llama-2-14B": "Llama-2-13B",
        "optimizer=adam": "adamw",
    },
    "mlperf": {
        "new_chip=L4, old_chip=L4": "new_chip = 'L4', old_chip = 'L4'",
        "new_chip=B200, old_chip=H200 SXM, benchmark=llama2-70b-99.9, in_round=v3.0": (
            "nearest that works: in_round = newest"
        ),
    },
    "parallelism": {
        "model=GPT-3 175B, sequence=131072": "the 2,048 tokens",
        "model=Llama-3.1-405B, chips=8": "nearest that fits: chips",
        "chips=4096, global_batch=3, sequence=1024": "another global_batch",
        "chips=0": "chips = 0",
        "global_batch=-1": "global_batch = -1",
        "precision=FP7": "FP8",
        "model=Llama-3.1-71B": "Llama-3.1-70B",
        "sequence=1e9": "sequence",
        "network_gb_per_s=0": "network_gb_per_s = 0",
    },
    "plan": {
        "data=may not leave, regions=several": "rule out",
        "data=never": "may not leave",
        "budget_usd=0": "budget_usd",
        "workload=chat_70b": "a hospital",
        "pace_tokens_per_s=150, model=Llama-3.1-405B": "tokens a second",
    },
    "pretraining_cost": {
        "accelerator=RTX 4090": "accelerator of a cluster",
        "model=DeepSeek-V3, chips=8": "chips = 8: .*nearest",
        "model=Llama-3.1-405B, chips=64, accelerator=H100 SXM": "chips = 64: .*nearest",
        "rent_usd_per_hour=2": "that of one accelerator: name it",
    },
    "pretraining_records": {"benchmark=GPT-3 175B, round=v5.1": "v4.0, v4.1"},
    "rlhf_cost": {"rent_usd_per_hour=2": "name it"},
    "scaling_math": {"rent_usd_per_hour=24": "8-chip node it is 3 a chip"},
    "serving_accuracy": {"source=InferenceX, figure=energy": "time per token"},
    "sustainability": {
        "model=GPT-3 175B": "model with measured energy",
        "precision=NVFP4": "does not serve Llama-3.1-70B in NVFP4",
        "accelerator=P100 PCIe": "P100 PCIe computes in none of the formats that serve",
    },
    "token_cost": {
        "accelerator=H100 SXM, contract=spot, seller=Lambda": (
            "'Lambda' rents no H100 SXM out spot; at the median of 3 it costs "
        ),
        "contract=spot, seller=Lambda": "none of the accelerators out spot",
        "accelerator=H100 SXM, rent_usd_per_hour=24": "8-chip node it is 3 a chip",
        "model=Kimi-K2.5, api_host=Regolo": "'Regolo' hosts no Kimi-K2.5; at the median of",
        "pace_tokens_per_s=290": "the fastest writes 1",
        "accelerator=H100 SXM, precision=NVFP4": "nearest that works: precision = INT4",
    },
    "training_accuracy": {"source=torchtitan, kind=experts": "for it: all, dense"},
    "vendor_claims": {"older_precision=FP8": "gpt-oss-120b in FP8; nearest: MXFP4"},
}
"""By chapter, cases that are refused, as the command line has them, and what is said of each."""


@pytest.mark.parametrize(
    "chapter, case, says", [(name, *row) for name, of in REFUSED.items() for row in of.items()]
)
def test_values_that_do_not_go_together_are_refused_in_their_own_words(chapter, case, says):
    with pytest.raises(ParameterError, match=says) as caught:
        validate(declared(chapter, BOOK), dict(of.split("=", 1) for of in case.split(", ")))
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
