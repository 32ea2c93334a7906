"""Every script of benchmarks/ runs, at a small size; how fast it is, is never judged here."""

import csv
import importlib
import importlib.util
import math
import re
import sys

import pytest
from paths import ROOT
from scaleright import catalog, transformer
from scaleright.validation import cases, training

from benchmarks import calibrate_chip, peers, steps, trainer
from benchmarks.device import Bench

SCRIPTS = sorted(
    path.stem
    for path in (ROOT / "benchmarks").glob("*.py")
    if re.search(r"^def main\(", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def test_make_bench_runs_every_script():
    (line,) = re.findall(r"for script in ([\w ]+);", (ROOT / "Makefile").read_text("utf-8"))
    assert sorted(line.split()) == SCRIPTS


@pytest.mark.parametrize("script", sorted({*SCRIPTS} - {"calibrate_chip", "peers"}))
def test_a_script_prints_ratios_against_a_loop(script, capsys):
    importlib.import_module(f"benchmarks.{script}").main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(re.search(r" [\d,]+\.\d x a loop$", line) for line in lines)


@pytest.mark.long
def test_peers_are_measured_on_the_same_runs_where_they_are_installed(capsys):
    peers.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert [name for name in ("llm-analysis", "mlsysim") for line in lines if name in line]
    if peers.PEERS.is_dir():  # `make test` and `make bench` install them
        assert all(re.search(r"off by \d+\.\d % .* x ours$", line) for line in lines)
    else:
        assert all(line.endswith("`make bench` installs it") for line in lines)


LARGE = {
    "run": "gpt3-175b/1024-a100",
    "model": "GPT-3 175B",
    "accelerators": 1024,
    "tensor_parallel": 8,
    "pipeline_parallel": 8,
    "virtual_pipeline": 1,
    "micro_batch": 1,
    "global_batch": 1536,
    "sequence": 2048,
    "recompute": "selective",
}
"""The case beside the measured runs, as its note describes it."""


if peers.PEERS.is_dir():  # defined only where they are, so that nobody takes a skip for a pass

    @pytest.mark.long
    @pytest.mark.parametrize(
        "tool, make", [("llm-analysis", peers.llm_analysis), ("mlsysim", peers.mlsysim)]
    )
    def test_the_tables_of_the_book_hold_what_peers_answer(tool, make, monkeypatch):
        monkeypatch.setattr(sys, "path", [*sys.path, str(peers.PEERS)])
        table = catalog.table("other_tools").query("tool == @tool and quantity == 'step'")
        step_s = make()
        found = {run["run"]: round(step_s(run), 2) for run in [*peers._records(), LARGE]}
        assert found == dict(zip(table["case"], table["value"], strict=True))


def test_a_chip_is_measured_only_where_there_is_one(capsys, monkeypatch):
    monkeypatch.setattr(calibrate_chip, "_nothing_to_measure", lambda device: "no chip")
    with pytest.raises(SystemExit) as named:
        calibrate_chip.main(["--accelerator", "H100 SXM"])
    with pytest.raises(SystemExit) as unnamed:
        calibrate_chip.main(["--quick"])
    assert (named.value.code, unnamed.value.code) == (1, 0)
    with pytest.raises(SystemExit):
        calibrate_chip.main(["--accelerator", "H100 SXM", "--model", "DeepSeek-V3"])
    assert "none of the dense models" in capsys.readouterr().err


def test_what_is_measured_is_written_in_the_columns_of_the_tables(tmp_path):
    found = [
        {"batch": 8, "seconds": 0.01, "watts": 400.0},
        {"batch": 1, "seconds": 0.005, "watts": None},
    ]
    rows, common = calibrate_chip.decoded(found, "PyTorch", context=64)
    common |= {"accelerator": "H100 SXM", "model": "Llama-3.1-8B", "source": "own measurement"}
    common["tensor_parallel"] = 1
    calibrate_chip.write(tmp_path, "measured/serving", rows, common)
    calibrate_chip.write(tmp_path, "measured/energy", rows[:1], common)
    with (tmp_path / "energy.csv").open(encoding="utf-8", newline="") as file:
        (energy,) = csv.DictReader(file)
    assert float(energy["measured_joules_per_token"]) == pytest.approx(400 * 0.01 / 8)
    with (tmp_path / "serving.csv").open(encoding="utf-8", newline="") as file:
        speeds = [
            row["measured_output_tokens_per_s_per_accelerator"] for row in csv.DictReader(file)
        ]
    assert [float(speed) for speed in speeds] == [800, 200]


def test_a_step_trains_the_parameters_of_the_catalog():
    for case in (*steps.FULL, *steps.SMALL):
        layer, outside = trainer.sizes(case.shape)
        held = [*layer.values()] * case.shape.layers + [*outside.values()]
        assert sum(map(math.prod, held)) == transformer.parameters(case.shape).total
    for other in ("Gemma-2-2B", "Qwen2.5-3B", "GPT-2", "Mixtral-8x7B"):
        with pytest.raises(ValueError, match="plain dense decoders"):
            trainer.sizes(catalog.model(other))


def test_a_step_of_training_is_written_as_a_row_that_can_be_judged(tmp_path):
    found = [steps.row(case, seconds=2.0, held=6 * 10**10, watts=600.0) for case in steps.FULL]
    common = steps.common("PyTorch") | {"accelerator": "H100 SXM", "source": "own measurement"}
    calibrate_chip.write(tmp_path, "measured/training", found, common)
    schema = catalog.resource("measured/training")["schema"]
    table = catalog.read_csv(tmp_path / "training.csv", schema, "measured/training")
    assert table["run"].is_unique and table["note"].str.contains("600 W").all()
    assert not training.KIND.check(table)
    for case, read in zip(steps.FULL, cases.cases(table, own=True), strict=True):
        assert (read.why, read.measured_s) == ("", 2.0)
        assert read.run.tokens == case.sequence * case.micro_batch
        assert read.layout.recompute == (2 if case.recompute == "full" else 0)


def test_the_library_expects_that_recomputing_takes_time_and_spares_memory():
    chip = catalog.accelerator("H100 SXM")
    case = next(case for case in steps.FULL if case.recompute == "full" and not case.compiled)
    seconds, held = steps.expected(case, chip, "PyTorch")
    once_s, whole = steps.expected(case._replace(recompute="none"), chip, "PyTorch")
    assert once_s < seconds < 4 / 3 * once_s and held < whole
    fused_s, _ = steps.expected(case._replace(compiled=True), chip, "PyTorch")
    assert fused_s < seconds


if importlib.util.find_spec("torch"):  # defined only where it is, likewise

    def test_recomputing_changes_nothing_of_what_is_learnt():
        bench, learnt = Bench("cpu"), []
        for case in (steps.SMALL[0], steps.SMALL[0]._replace(recompute="full")):
            bench.torch.manual_seed(0)
            step = trainer.trainer(bench, case)
            learnt.append([float(step()) for _ in range(10)])
        assert learnt[0] == learnt[1]
        assert learnt[0][0] == pytest.approx(math.log(case.shape.vocab), rel=0.05)
        assert learnt[0][-1] < learnt[0][0]
