"""What the processes of a build remember for each other."""

import gc
import pickle
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType

import pandas as pd
import pytest
from scaleright import catalog

calls = []


@catalog.shared
def shapes(layers: int) -> pd.DataFrame:
    """The models with so many layers."""
    calls.append(layers)
    models = catalog.table("models")
    return models[models["layers"] == layers].reset_index(drop=True)


@catalog.shared
def frozen() -> MappingProxyType:
    """A mapping that nobody can change."""
    calls.append("frozen")
    return MappingProxyType({"rows": len(catalog.table("models"))})


@pytest.fixture
def process(monkeypatch, tmp_path):
    """Begins a process anew: nothing remembered, nothing read; the build's folder stays."""
    monkeypatch.setenv("SCALERIGHT_REMEMBERED", str(tmp_path / "remembered"))

    def begin():
        calls.clear()
        monkeypatch.setattr(catalog.memory, "_FOUND", {})
        monkeypatch.setattr(catalog.memory, "_OF_CHIPS", {})
        read: ContextVar[set[str]] = ContextVar("tables read")
        read.set(set())
        monkeypatch.setattr(catalog.tables, "_READ", read)

    begin()
    return begin


def test_what_one_process_found_another_need_not_and_both_note_its_tables(process):
    found, mapping = shapes(96), frozen()
    process()
    pd.testing.assert_frame_equal(shapes(96), found, check_exact=True)
    assert frozen() == mapping
    assert not calls and catalog.data_record().names == ["models"]
    shapes(80)
    assert calls == [80]


def test_a_damaged_file_is_found_anew(process, tmp_path):
    found = shapes(96)
    for path in (tmp_path / "remembered").rglob("output.pkl"):
        path.write_bytes(path.read_bytes()[:-7])
    process()
    pd.testing.assert_frame_equal(shapes(96), found)
    assert calls == [96]


def test_what_cannot_be_named_is_kept_in_the_process_alone(process, tmp_path):
    catalog.shared(lambda: len(catalog.table("models")))()
    assert not (tmp_path / "remembered" / "joblib").exists()  # where shared findings are


def test_what_is_kept_for_nobody_is_handed_out_as_another_process_would_read_it(monkeypatch):
    monkeypatch.delenv("SCALERIGHT_REMEMBERED", raising=False)
    once, again = catalog.shared(lambda: (float("nan"),) * 2)()
    assert once is not again


def test_what_cannot_be_written_is_refused(process):
    with pytest.raises(TypeError, match="_unwritable: what it finds cannot be shared"):
        catalog.shared(_unwritable)()


def _unwritable():
    return lambda: None


def test_chips_are_kept_with_all_their_figures(process):
    chip = catalog.accelerator("H100 SXM")
    assert pickle.loads(pickle.dumps(chip)) == chip and chip.dense


def test_what_is_cheap_to_find_is_kept_in_the_process_alone(process, tmp_path):
    assert catalog.fitted("training_constants")
    assert not (tmp_path / "remembered" / "joblib").exists()  # where shared findings are


def test_a_frame_is_told_from_others_by_what_it_holds(process):
    models = catalog.table("models")
    found = deepest(models)
    process()
    assert deepest(models.copy()) == found and not calls
    assert deepest(models.assign(layers=models["layers"] + 1)) == found + 1 == calls[0]


@catalog.shared
def deepest(models: pd.DataFrame) -> int:
    """The most layers of the models."""
    calls.append(int(models["layers"].max()))
    return calls[-1]


@catalog.of_chip
def watts(chip: catalog.Accelerator, by: float) -> float:
    """What a chip draws."""
    calls.append(chip.name)
    return by * catalog.accelerators()[chip.name].require("tdp_watts")


def test_what_was_found_of_a_chip_is_kept_while_the_chip_is_there_and_notes_its_tables(process):
    chip = catalog.accelerator("H100 SXM")
    assert (
        watts(chip, 1.0) == watts(chip, 1.0) == watts(chip, by=1.0) == 700 == watts(chip, 2.0) / 2
    )
    assert calls == [chip.name] * 3  # by its place, by its name, and another
    catalog.tables._READ.get().clear()
    watts(chip, 1.0)
    assert "accelerator_specs" in catalog.data_record().names and len(calls) == 3
    other = replace(chip, tdp_watts=500.0)
    watts(other, 1.0)
    assert len(calls) == 4 and len(catalog.memory._OF_CHIPS) == 2
    del other
    gc.collect()
    assert list(catalog.memory._OF_CHIPS) == [id(chip)]
