"""A reader's own measurements: everything that is wrong with a file, at once, before anything is
predicted.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scaleright import catalog
from scaleright.validation import serving
from scaleright.validation.cross_validation import Book
from scaleright.validation.kinds import KINDS, validate
from scaleright.validation.report import MOST_SHOWN

ROWS = {
    "training": {
        "model": "Llama-2-7B",
        "accelerator": "H100 SXM",
        "accelerators": 8,
        "sequence": 4096,
        "global_batch": 64,
        "precision": "BF16",
        "task": "pretrain",
        "micro_batch": 1,
        "tensor_parallel": 1,
        "measured_step_s": 3.0,
    },
    "serving": {
        "model": "Llama-3.1-8B",
        "accelerator": "H100 SXM",
        "accelerators": 1,
        "precision": "FP8",
        "input_tokens": 1000,
        "output_tokens": 500,
        "concurrency": 64,
        "measured_output_tokens_per_s_per_accelerator": 3000,
    },
    "energy": {
        "model": "Llama-3.1-8B",
        "accelerator": "H100 SXM",
        "accelerators": 1,
        "precision": "BF16",
        "batch": 16,
        "input_tokens": 250,
        "output_tokens": 400,
        "measured_watts": 400,
        "measured_output_tokens_per_s": 1000,
    },
    "counts": {"model": "Llama-2-7B", "quantity": "total_parameters", "published": 6738415616},
    "memory": {
        "model": "Llama-2-7B",
        "accelerators": 1,
        "precision": "BF16",
        "sequence": 4096,
        "global_batch": 1,
        "published_bytes": 120e9,
    },
    "footprint": {
        "run": "mine",
        "accelerator": "A100 SXM 80GB",
        "accelerator_hours": 10000,
        "zone": "USA",
        "year": 2023,
        "measured_kwh": 5000,
    },
}


REFUSED = {
    "training": [
        ({"accelerators": 0.5}, "column accelerators: 0.5 is not an integer; nearest"),
        ({"accelerators": 0}, "column accelerators: 0 is below 1; nearest: 1"),
        ({"sequence": "1e18"}, "column sequence: 1e18 is above"),
        ({"precision": "bf16"}, "unknown value 'bf16'; nearest: BF16"),
        ({"model": "Llama-3.1-8C"}, "model: unknown model 'Llama-3.1-8C'; nearest: Llama-3.1-8B"),
        ({"accelerator": "H1000"}, "column accelerator: unknown accelerator 'H1000'; nearest"),
        ({"global_batch": "many"}, "column global_batch: 'many' is not an integer"),
        ({"sharding": 3, "shards": 3}, "shards = 3 does not divide .* = 8; nearest: 2 or 4"),
        ({"global_batch": 63}, "data = 8 does not divide global_batch = 63; nearest"),
        ({"micro_batch": 3}, "micro_batch = 3 does not divide .* = 8; nearest: 2 or 4"),
        ({"tensor_parallel": 16}, "= 16 does not divide accelerators = 8"),
        ({"data_parallel": 4}, "the layout takes 4, the cluster has 8"),
        ({"measured_step_s": 0.01}, "faster than the chips' peak"),
        ({"measured_tokens_per_s_per_accelerator": 9999}, "contradicts .* 0.915 times"),
        ({"measured_model_flops_per_accelerator": 2e15}, "above its peak"),
        ({"measured_model_flops_per_accelerator": 1e12}, "times those of the model"),
    ],
    "serving": [
        ({"measured_tpot_s": 1.0}, "contradict each other: 3,000 .* 64 write 64"),
        ({"measured_tpot_s": 0.02, "measured_tpot_p99_s": 0.01}, "below measured_tpot_s"),
        ({"measured_output_tokens_per_s_per_accelerator": 9e6}, "peak of H100 SXM"),
        ({"input_tokens": 1e6}, "allowed: 131,072 .max_context"),
        ({"accelerators": 3}, "tensor = 3 does not divide heads"),
        ({"model": "Llama-3.1-8C"}, "model: unknown model 'Llama-3.1-8C'; nearest: Llama-3.1-8B"),
        ({"accelerator": "H10"}, "accelerator: unknown accelerator 'H10'; nearest: H100"),
        ({"accelerator": "A100 SXM 80GB"}, "precision FP8 needs a chip with dense fp8"),
        ({"model": "Llama-3.1-405B"}, "fits"),
        ({"input_tokens": "many"}, "column input_tokens: 'many' is not a"),
    ],
    "energy": [
        ({"model": "Llama-3.1-8C"}, "model: unknown model 'Llama-3.1-8C'; nearest: Llama-3.1-8B"),
        ({"accelerator": "H10"}, "accelerator: unknown accelerator 'H10'; nearest: H100"),
        ({"accelerator": "A100 SXM 80GB", "precision": "FP8"}, "FP8 needs a chip with dense fp8"),
        ({"accelerators": 3}, "tensor = 3 does not divide heads = 32; nearest: 2 or 4"),
        ({"model": "Llama-3.1-405B"}, "of 650 tokens fits beside the weights"),
        ({"output_tokens": 400_000}, "allowed: 131,072"),
        ({"measured_joules_per_token": 9}, "contradicts measured_watts"),
        ({"measured_watts": 9000}, "more than 1 H100 SXM can draw"),
        ({"measured_itl_s": 1.0}, "contradict each other"),
    ],
    "counts": [
        ({"quantity": "params"}, "column quantity: unknown value 'params'; nearest"),
        ({"model": "Llama-2-8B"}, "unknown model 'Llama-2-8B'; nearest: .*(?i:llama-2-7b)"),
        ({"model": "mine", "layers": 32}, "column model: shape of 'mine': missing .*'hidden'"),
    ],
    "memory": [
        ({"accelerators": 3}, "accelerators = 3, but its layout takes"),
        ({"published_bytes": 9e13}, "more than any chip holds"),
    ],
    "footprint": [
        ({"zone": "Atlantis"}, "column zone: unknown grid 'Atlantis'; nearest"),
        ({"year": 2999}, "column year: 2999 lies ahead"),
        ({"measured_kwh": 1e9}, "more than A100 SXM 80GB can draw"),
        ({"measured_kg_co2e": 1e6}, "no grid emits above"),
        ({"measured_kwh": ""}, "states neither"),
        ({"accelerator": "H10"}, "accelerator: unknown accelerator 'H10'; nearest: H100"),
        ({"accelerator": "TPU v6e"}, "the catalog has no tdp_watts for TPU v6e"),
        ({"pue": 0.9}, "column pue: 0.9 is below 1"),
        ({"accelerator_hours": 0}, "column accelerator_hours: 0 is not above 0"),
        ({"accelerator_hours": -10}, "column accelerator_hours"),
        ({"accelerator_hours": "inf"}, "column accelerator_hours"),
    ],
}
"""Changes of a row by kind of measurement, and what each is refused with."""


@pytest.fixture
def no_prediction(monkeypatch):
    """Fail the test if a row is predicted: its file is wrong and must be refused before."""
    for name, kind in KINDS.items():
        monkeypatch.setitem(
            KINDS, name, type(kind)(**vars(kind) | {"judge": lambda *_: pytest.fail("predicted")})
        )


def written(folder: Path, *rows: dict, content: bytes | None = None) -> Path:
    path = folder / "mine.csv"
    path.write_bytes(
        pd.DataFrame(rows, dtype=object).to_csv(index=False).encode()
        if content is None
        else content
    )
    return path


def refusal(kind: str, path: Path) -> str:
    with pytest.raises(catalog.DataError) as caught:
        validate(kind, path)
    return str(caught.value)


@pytest.fixture(scope="module")
def few():
    rows = catalog.table(serving.KIND.table).iloc[::10]
    table, every = serving.cases(rows.reset_index(drop=True), serving.KIND.table, False)
    fitted = [not one.why and one.figure in serving.FITTED for one in every]
    return Book(table, every, np.array(fitted))


@pytest.fixture
def few_known(few, monkeypatch):
    """Fits of serving know a few of the book's runs: all of them take seconds."""
    monkeypatch.setattr(serving, "SUBJECT", replace(serving.SUBJECT, book=lambda: few))


@pytest.mark.usefixtures("few_known")
@pytest.mark.parametrize("kind", ["counts", "memory", "footprint", "serving"])
def test_a_sound_file_is_predicted(kind, tmp_path):
    assert len(validate(kind, written(tmp_path, ROWS[kind])).rows) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "training"])
def test_the_books_own_rows_break_no_rule(kind):
    rows = catalog.table(KINDS[kind].table)
    if kind in ("serving", "energy"):  # whose scored rows can be run
        judged = catalog.table("serving_errors").query("scored")
        rows = rows[rows["run"].isin(judged["run"])]
    assert not [str(problem) for problem in KINDS[kind].check(rows.reset_index(drop=True))]


@pytest.mark.usefixtures("no_prediction")
@pytest.mark.parametrize("kind", ROWS)
def test_a_figure_that_is_no_measurement_is_refused(kind, tmp_path):
    texts = ["0", "-1", "nan", "inf", "-inf", "1e400", "five", "1e+300", "1_0"]
    name = next(name for name in ROWS[kind] if name.startswith(("measured_", "published")))
    message = refusal(kind, written(tmp_path, *(ROWS[kind] | {name: text} for text in texts)))
    for line, (said, text) in enumerate(zip(message.splitlines(), texts, strict=True), 2):
        assert said.startswith(f"mine.csv, line {line}, column {name}: ")
        assert text.strip("-") in said


@pytest.mark.usefixtures("no_prediction")
@pytest.mark.parametrize("kind", REFUSED)
def test_a_row_that_contradicts_itself_or_its_chips_is_refused(kind, tmp_path):
    changes, says = zip(*REFUSED[kind], strict=True)
    rows = [ROWS[kind] | {"note": "sound"}, *(ROWS[kind] | change for change in changes)]
    if kind != "counts":  # its rows have no names
        rows = [row | {"run": f"run {line}"} for line, row in enumerate(rows, 2)]
    told = refusal(kind, written(tmp_path, *rows)).splitlines()
    for line, (message, expected) in enumerate(zip(told, says, strict=True), 3):
        assert re.match(rf"mine\.csv, line {line}\b.*{expected}", message), message


@pytest.mark.usefixtures("no_prediction")
@pytest.mark.parametrize("kind", ROWS)
def test_a_repeated_row_names_the_first(kind, tmp_path):
    row = ROWS[kind]
    assert "line 3: repeats line 2" in refusal(kind, written(tmp_path, row, row))
    if kind != "counts":  # its rows have no names
        other = {"run": "mine"} | row | {next(reversed(row)): list(row.values())[-1] * 1.01}
        message = refusal(kind, written(tmp_path, {"run": "mine"} | row, other))
        assert "column run: 'mine' stands on line 2" in message


@pytest.mark.usefixtures("no_prediction")
def test_all_problems_are_told_at_once_and_many_are_counted(tmp_path):
    bad = [
        {"measured_step_s": 0},
        {"accelerators": 0.5},
        {"model": "Llama-9"},
        {"global_batch": 63},
    ]
    message = refusal("training", written(tmp_path, *(ROWS["training"] | each for each in bad)))
    assert [line.split(":")[0] for line in message.splitlines()] == [
        "mine.csv, line 2, column measured_step_s",
        "mine.csv, line 3, column accelerators",
        "mine.csv, line 4, column model",
        "mine.csv, line 5",
    ]
    many = [ROWS["training"] | {"measured_step_s": -n} for n in range(100)]
    lines = refusal("training", written(tmp_path, *many)).splitlines()
    assert len(lines) == MOST_SHOWN + 1
    assert lines[-1] == "mine.csv: 100 problems on 100 lines; the first 20 are above"


@pytest.mark.usefixtures("no_prediction")
@pytest.mark.parametrize(
    "content, says",
    [
        (b"model,quantity,published\n", "a header and no row"),
        (b"model,quantity,published\na,b\n", "line 2: has 2 cells; the header has 3"),
        (b"model,quantity,published\na,b,1,2\n", "line 2: has 4 cells; the header has 3"),
        (b"model,quantity,published\n\na,b,1\n", "line 2: is empty"),
        (b"modle,quantity\na,b\n", "'modle'; nearest: model.*\n.*column model is missing"),
        (b"model,quantity,published\na," + b"x" * 100_000 + b",1\n", "100,000 characters"),
    ],
)
def test_a_file_that_is_no_table_is_refused_by_what_it_is(content, says, tmp_path):
    message = refusal("counts", written(tmp_path, content=content))
    assert message.startswith("mine.csv") and len(message) < 1500
    assert pd.Series([message]).str.contains(says).all(), message


def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path):
    text = pd.DataFrame([ROWS["counts"]]).to_csv(index=False)
    for content in (text.encode("utf-8-sig"), text.replace("\n", "\r\n").encode()):
        assert validate("counts", written(tmp_path, content=content)).summary.rows == 1


def test_rows_that_ran_the_same_are_worked_out_once(tmp_path, monkeypatch):
    from scaleright.validation import cases

    asked = []
    monkeypatch.setattr(cases, "check", lambda run, layout: asked.append(run))
    layout = {"pipeline_parallel": 1, "context_parallel": 1}
    runs = [ROWS["training"] | layout | {"measured_step_s": 3 + n} for n in range(50)]
    rows = pd.DataFrame(runs)
    rows = rows.reindex(
        columns=[
            *rows,
            *(
                f["name"]
                for f in catalog.resource("measured/training")["schema"]["fields"]
                if f["name"] not in rows
            ),
        ]
    )
    assert len(list(cases.configured(rows, cases.configuration))) == 50 and len(asked) == 1


@pytest.mark.parametrize("kind", ["training", "serving", "energy"])
def test_a_model_that_no_shape_tells_is_refused_by_name_and_the_others_are_scored(kind, tmp_path):
    (tmp_path / "mamba.json").write_text('{"model_type": "nemotron_h", "name": "Nemotron-H-8B"}')
    rows = [ROWS[kind], {**ROWS[kind], "model": "mamba.json"}]
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    found = validate(kind, tmp_path / "own.csv")
    assert list(found.rows["scored"]) == [True, False]
    assert "Nemotron-H-8B: model_type = 'nemotron_h': hybrid" in found.to_text()
    assert found.summary.rows == 1 and '"scored": false' in found.to_json()
    pd.DataFrame(rows[1:]).to_csv(tmp_path / "own.csv", index=False)
    with pytest.raises(catalog.DataError, match=r"no row can be.*Nemotron-H-8B"):
        validate(kind, tmp_path / "own.csv")
