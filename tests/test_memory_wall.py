"""The chapter `memory_wall`: its headline is the library's, the fewest chips are the fewest, a
wrong case is refused.
"""

import functools

import pytest
from built import BOOK
from cases import quantities
from scaleright import catalog
from scaleright.architecture import chosen
from scaleright.press.execute import answer
from scaleright.quantity import at, evaluate
from scaleright.training.layout import Layout, TrainingRun
from scaleright.training.memory import FSDP_FUSED_LOSS, fewest_ranks, training_memory
from scaleright.units import si
from scaleright.validation import kinds


def bill(model: str, ranks: int, zero: int = 3, recompute: int = 2, sequence: int = 4096):
    run = TrainingRun(catalog.model(model), None, ranks, sequence, 1e9)
    return training_memory(
        run, Layout(data=ranks, zero=zero, recompute=recompute), software=FSDP_FUSED_LOSS
    )


@functools.cache
def total(*given, **named) -> float:
    return bill(*given, **named).total


def test_the_headline_is_the_librarys():
    said = answer(BOOK.notebook("memory_wall").read_bytes())
    assert said.startswith("Train Llama-2-13B on 4 H100 SXM: it fits. ")
    assert f" {si(total('Llama-2-13B', 4), 'B')} needed on each chip" in said
    assert "no fewer than 3 chips hold it." in said


@pytest.mark.parametrize(
    "model", ["Llama-3.2-1B", "Llama-3.1-8B", "LLaMA-13B", "Mixtral-8x7B", "Llama-3.1-70B"]
)
@pytest.mark.parametrize("zero, recompute", [(0, 2), (1, 2), (2, 1), (3, 0), (3, 2)])
def test_the_fewest_chips_are_the_fewest(model, zero, recompute):
    few = [total(model, ranks, zero, recompute) for ranks in (1, 64, 128)]
    for chip in ("A100 SXM 40GB", "H100 SXM", "MI355X"):
        room = catalog.accelerator(chip).require("memory_bytes")
        found = fewest_ranks(room, *few)
        searched = next(
            (ranks for ranks in range(1, 257) if total(model, ranks, zero, recompute) <= room),
            float("inf"),
        )
        assert found == searched or (found > 256 and searched == float("inf")), chip


def test_two_h100_do_not_hold_the_sources_13b_and_three_do():
    room = catalog.accelerator("H100 SXM").require("memory_bytes")
    assert total("LLaMA-13B", 2, sequence=2048) > room >= total("LLaMA-13B", 3, sequence=2048)


def test_the_bill_of_a_chosen_model_is_the_librarys_own_at_any_case():
    at_first = {
        "model": "Llama-2-13B",
        "ranks": 4,
        "sequence": 4096,
        "zero": 3,
        "recompute": 2,
        "task": "pretrain",
    }
    case = quantities(at_first)
    decoders = {name: shape for name, shape in catalog.models().items() if shape.causal}
    run = TrainingRun(
        chosen(decoders, case.model), None, case.ranks, case.sequence, 1e9, task=case.task
    )
    layout = Layout(data=case.ranks, zero=case.zero, recompute=case.recompute)
    memory = training_memory(run, layout, software=FSDP_FUSED_LOSS)
    assert memory.total.value == pytest.approx(total("Llama-2-13B", 4), rel=1e-6)
    for model, ranks, zero, recompute in (("DeepSeek-V3", 64, 2, 1), ("GPT-2", 1, 0, 0)):
        there = {"model": model, "ranks": ranks, "zero": zero, "recompute": recompute}
        asked = total(model, ranks, zero, recompute)
        assert evaluate([memory.total], there) == pytest.approx([asked], rel=1e-6)
        assert at(memory.total, **there, sequence=4096, task="pretrain") == pytest.approx(
            asked, rel=1e-6
        )


def test_a_readers_own_peak_is_judged(tmp_path):
    own, mine = tmp_path / "own.csv", bill("Llama-3.1-8B", 8, sequence=8192)
    own.write_text(
        "run,model,accelerators,precision,sequence,global_batch,data_parallel,sharding,recompute,"
        "software,published_bytes\n"
        "mine,Llama-3.1-8B,8,BF16,8192,8,8,3,full,fsdp-fused-loss,"
        f"{mine.total - mine.reserve_bytes:.0f}\n"
    )
    row = kinds.validate("memory", own).rows.iloc[0]
    assert abs(row["error_percent"]) < 0.001
    good = own.read_text()
    for was, wrong, said in (
        ("fsdp-fused-loss", "fsdp-loss", "fsdp-fused-loss"),
        (",8,8,3,", ",8,4,3,", "accelerators = 8, but its layout takes .*data 4 = 4"),
        (f"{mine.total - mine.reserve_bytes:.0f}", "0", "0 is not above 0"),
    ):
        own.write_text(good.replace(was, wrong))
        with pytest.raises((LookupError, ValueError), match=said):
            kinds.validate("memory", own)
