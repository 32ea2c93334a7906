"""What a recipe sets beside its layout: modules that run again, CUDA graphs, how tokens move to
their experts, and which kernel computes attention.
"""

import csv
from dataclasses import replace

import pytest
from scaleright import catalog
from scaleright.catalog import table
from scaleright.training.hiding import EXCHANGE_OVERLAP
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.machine import COMPUTE, MODULES, Machine, Stack
from scaleright.training.parts import exchange_seconds, layer_seconds
from scaleright.training.slowdowns import Slowdowns, families, slowdowns, stack
from scaleright.training.step import step_time

from refresh import megatron_bridge

MOE = TrainingRun(
    catalog.model("DeepSeek-V3"), catalog.accelerator("H100 SXM"), 256, 4096, 2048, "BF16"
)
HELD = Layout(pipeline=8, data=32, expert=32, recompute=1)
ALL = Layout(pipeline=8, data=32, expert=32, recompute=2)
PLAIN = Slowdowns(slowdowns(MOE).by_kind, Stack(fused_experts=False, graphs=(), overlapped=False))


def step(layout: Layout = HELD, **changes):
    """A step of the run where the recipe sets something else."""
    return step_time(MOE, layout, replace(PLAIN, stack=replace(PLAIN.stack, **changes)))


def again(*modules: str) -> float:
    """Seconds of a step that run again."""
    return step(modules=modules).recompute_s


def test_modules_that_run_again_add_up_and_stay_below_the_whole_layer():
    alone = {name: again(name) for name in MODULES}
    assert all(seconds > 0 for seconds in alone.values())
    some = ("core_attn", "layernorm", "mla_up_proj")
    assert again(*some) == pytest.approx(sum(alone[name] for name in some))
    assert alone["moe"] > alone["moe_act"] + alone["shared_experts"]
    every = again("core_attn", "layernorm", "mla_up_proj", "mlp", "moe")
    assert every < step(ALL).recompute_s


def test_pytorch_leaves_out_the_last_product_of_a_block_when_it_runs_again():
    """A third of the products of a block whose feed-forward part is four times as wide, as of all
    products that run again; a checkpoint that enters the block anew leaves out nothing.
    """
    mpt = TrainingRun(
        catalog.model("MPT-7B"), catalog.accelerator("A100 SXM 80GB"), 8, 2048, 96, "BF16"
    )
    early, late = stack("llm-foundry"), stack("InternEvo, 2023")
    assert (early.stops_early, late.stops_early) == (True, False)
    of, layout = Machine.of(mpt), Layout(data=8, zero=3, recompute=2, micro_batch=8)
    shares = [layer_seconds(mpt, of, each, layout)[2]["matmul"][1] for each in (early, late)]
    assert shares[1] == 1 and shares[0] == pytest.approx(2 / 3, abs=0.01)
    same = slowdowns(mpt, "llm-foundry")
    steps = [step_time(mpt, layout, replace(same, stack=each)) for each in (early, late)]
    assert steps[0].recompute_s < steps[1].recompute_s and steps[0].matmul_s == steps[1].matmul_s


def test_without_latents_or_experts_their_modules_repeat_nothing():
    dense = replace(MOE, model=catalog.model("Llama-3.1-8B"), chips=8)
    of, layout = Machine.of(dense), Layout(data=8)
    for name, repeats in (("mla_up_proj", False), ("moe", False), ("mlp", True)):
        _, _, shares = layer_seconds(dense, of, Stack(modules=(name,)), layout)
        assert any(some > 0 for some, _ in shares.values()) == repeats


def test_graphs_leave_less_to_the_host():
    """Each scope more, and all of a layer nothing."""
    scopes = (), ("attn",), ("attn", "moe_router", "moe_preprocess"), ("full_iteration",)
    shapes = replace(HELD, micro_batch=1)
    host = [step(shapes, graphs=scope).host_s for scope in scopes]
    launches = [
        sum(
            sum(layer_seconds(MOE, Machine.of(MOE), replace(PLAIN.stack, graphs=scope), HELD)[0][k])
            for k in ("host", "routed_host")
        )
        for scope in scopes
    ]
    assert host == sorted(host, reverse=True) and host[-1] == 0
    assert launches == sorted(set(launches), reverse=True) and launches[-1] == 0


def test_a_copy_for_each_expert_is_never_less_than_one_for_each_rank():
    """As many where each rank has one of a token's experts at most, and half as many for two."""
    of = Machine.of(MOE)

    def seconds(ranks: int, dispatcher: str) -> float:
        shape = MOE.model, of.links, of.domain, 4096.0, ranks
        return exchange_seconds(*shape, dispatcher=dispatcher)

    for ranks in (2, 8, 16, 64, 256):
        assert seconds(ranks, "alltoall") > seconds(ranks, "deepep") > 0
        assert seconds(ranks, "hybridep") == seconds(ranks, "deepep")
    assert seconds(1, "alltoall") == seconds(1, "deepep") == 0


def test_an_overlapped_exchange_costs_what_it_takes_of_the_processors():
    beside = step(overlapped=True)
    apart = step(overlapped=False)
    assert beside.total < apart.total
    shown = beside.expert_s / apart.expert_s
    assert 1 - EXCHANGE_OVERLAP <= shown * (1 + 1e-9) < 1
    busy = sum(getattr(apart, f"{kind}_s", 0.0) for kind in COMPUTE)
    assert apart.expert_s - beside.expert_s < busy


def test_what_has_hidden_launches_hides_no_exchange():
    def hidden(host: float) -> float:
        slow = replace(PLAIN, by_kind=PLAIN.by_kind | {"host": host})
        apart, beside = (
            step_time(MOE, HELD, replace(slow, stack=replace(slow.stack, overlapped=of)))
            for of in (False, True)
        )
        return apart.expert_s - beside.expert_s

    assert hidden(host=0.0) >= hidden(host=1.0) > hidden(host=100.0) > 0


def test_what_nobody_stated_is_as_in_the_recipes_of_the_release():
    """Fused experts of Blackwell: one graph, overlapped; before, and on Hopper, neither."""
    run = replace(MOE, chip=catalog.accelerator("GB300"), precision="MXFP8")
    for software, graphed in (("Megatron-Bridge 26.06", True), ("Megatron-Bridge 26.04", False)):
        of, known = stack(software), Machine.of(run).graphed
        assert bool(of.overlaps(known)) == graphed
        assert (of.launched("moe", known) == 0) == graphed
    hopper = Machine.of(MOE).graphed
    assert not stack().overlaps(hopper) and stack().launched("moe_router", hopper) == 1


def test_hopper_has_two_kernels_of_attention():
    """FlashAttention-2 in the NeMo of spring 2024 takes longer for the same scores."""
    old, new = (families(MOE, stack(f"NeMo {name}"))["attention"] for name in ("24.03", "24.07"))
    assert (old, new) == ("Hopper, FlashAttention-2", "Hopper")
    early, late = (slowdowns(MOE, f"NeMo {name}").by_kind for name in ("24.03.01", "24.07"))
    assert early["attention"] > late["attention"]
    a100 = replace(MOE, chip=catalog.accelerator("A100 SXM 80GB"))
    assert families(a100, stack("NeMo 24.03"))["attention"] == "Ampere"


def test_recipes_are_those_of_runs_of_the_table():
    with megatron_bridge.RECIPES.open(encoding="utf-8", newline="") as file:
        recipes = {row["run"]: row for row in csv.DictReader(file)}
    rows = table("measured/training").set_index("run")
    rows = rows[rows["source"].str.startswith("megatronbridge")]
    assert set(recipes) == set(rows.index)
    for run, row in recipes.items():
        for column in ("recompute", "recompute_modules", "cuda_graph_scopes", "dispatcher"):
            stored = rows.loc[run, column]
            assert row[column] == (stored if isinstance(stored, str) else ""), (run, column)
        assert row["evidence"] and row["matched"]
        assert set(filter(None, row["recompute_modules"].split(";"))) <= set(MODULES)
