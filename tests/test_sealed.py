"""Measurements set aside for a last test stay set aside: the list is the one that was written
before anything was predicted, and nothing hands its runs out unless it is asked to.

No test here predicts a sealed run.
"""

import re
from pathlib import Path

import pandas as pd
import pytest
from scaleright import catalog, cli
from scaleright.validation import kinds, published, serving, training

from refresh import sealing
from refresh.tables import RefreshError

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
LIST = pd.read_csv(DATA / "measured" / "sealed.csv")
TABLES = ("measured/training", "measured/serving", "measured/pretraining")


def whole(name: str) -> pd.DataFrame:
    """A table as it stands in its file."""
    return pd.read_csv(DATA / f"{name}.csv", dtype=str, keep_default_na=False)


def sealed_of(name: str) -> set[str]:
    """The sealed runs of a table."""
    return set(LIST.loc[LIST["table"] == name, "run"])


def test_the_list_is_the_one_whose_hash_contributors_read():
    written = re.findall(r"\b[0-9a-f]{64}\b", (ROOT / "CONTRIBUTING.md").read_text())
    assert written == [sealing.digest(DATA)]


def test_groups_are_sealed_as_a_whole_and_nothing_has_seen_their_runs():
    seen = {
        "measured/training": [training._book()[0]],
        "measured/serving": [serving.book()[0], catalog.table("serving_errors")],
        "measured/pretraining": [catalog.table("measured/pretraining")],
    }
    for name in TABLES:
        rows, hidden = whole(name), sealed_of(name)
        rows["group"] = [sealing.group(row) for row in rows.to_dict("records")]
        apart = rows["run"].isin(hidden)
        assert apart.sum() == len(hidden)
        assert not set(rows["group"][apart]) & set(rows["group"][~apart])
        assert "held_out" not in rows or set(rows["held_out"][apart]) <= {"true"}
        assert not any(hidden & set(of["run"]) for of in seen[name])


@pytest.mark.parametrize("name", TABLES)
def test_a_table_hides_its_sealed_runs_and_shows_them_by_name(name, spoiled):
    rows = catalog.table(name)
    hidden = set(rows["run"][rows["source"] == rows["source"].iloc[-1]])
    sealed = pd.DataFrame({"run": sorted(hidden)}).assign(table=name, source="x")
    spoiled["measured/sealed.csv"] = sealed[list(LIST)].to_csv(index=False).encode()
    open_rows = catalog.table(name)
    assert not hidden & set(open_rows["run"]) and not hidden & set(catalog.unnoted(name)["run"])
    assert list(open_rows.index) == list(range(len(open_rows)))
    assert set(catalog.sealed(name)["run"]) == hidden
    assert len(open_rows) + len(hidden) == len(rows)


def test_the_opened_runs_are_rows_that_no_fit_sees_and_are_scored_as_they_were_then():
    test = catalog.table("measured/sealed_test")
    for name in TABLES:
        rows = catalog.table(name).set_index("run")
        opened = test[test["table"] == name].set_index("run")
        assert set(opened.index) <= set(rows.index) and not set(opened.index) & sealed_of(name)
        assert (rows.loc[opened.index, "source"] == opened["source"]).all()
        if "held_out" in rows:
            assert rows.loc[opened.index, "held_out"].all()
    came = published.held_out_test("serving")
    assert came["figures"] == published.held_out_by_source("serving")["figures"].sum()
    assert 0 < came["median"] < came["p90"] and 0 <= came["inside"] <= 1


def test_only_the_validation_asks_for_sealed_rows():
    asks = re.compile(r"\bsealed\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("lib", "refresh", "notebooks/text", "book")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md", ".js") and asks.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"lib/scaleright/catalog/tables.py", "lib/scaleright/validation/kinds.py"}


def test_sealed_rows_are_judged_only_when_asked_for(monkeypatch, capsys):
    few = catalog.table(training.KIND.table).query("source == 'torchtitan2024'").head(2)
    monkeypatch.setattr(catalog, "sealed", lambda name: few if name == few_of else few[:0])
    few_of = training.KIND.table
    assert list(kinds.validate("training", sealed=True).rows["run"]) == list(few["run"])
    with pytest.raises(LookupError, match="no row of measured/counts is sealed"):
        kinds.validate("counts", sealed=True)
    with pytest.raises(ValueError, match="a file has none"):
        kinds.validate("training", "own.csv", sealed=True)
    with pytest.raises(SystemExit):
        cli.main(["validate", "counts", "--sealed"])
    assert "no row of measured/counts is sealed" in capsys.readouterr().err


ROWS = [
    {"run": f"{model}/{chip}", "source": "someone", "model": model, "accelerator": chip}
    for model in ("A", "B", "C")
    for chip in ("X", "Y")
]


def test_every_third_group_is_chosen_by_name_alone():
    groups = sealing.sealed_groups(map(sealing.group, ROWS))
    assert len(groups) == 2
    assert groups == sealing.sealed_groups(map(sealing.group, [*ROWS[::-1], *ROWS]))


def test_new_rows_come_with_their_seal(tmp_path):
    (tmp_path / "measured").mkdir()
    (tmp_path / "datapackage.json").write_text((DATA / "datapackage.json").read_text())
    name = "measured/pretraining"
    assert sealing.seal(tmp_path, name, ROWS) == (6, 2)
    first = whole_of(tmp_path, "measured/sealed")
    later = [{**row, "run": f"{row['run']}/2", "source": "another"} for row in ROWS[:3]]
    sealing.seal(tmp_path, name, later)
    assert len(whole_of(tmp_path, name)) == 9
    assert first < whole_of(tmp_path, "measured/sealed")
    with pytest.raises(RefreshError, match="has these runs already: A/X, A/Y"):
        sealing.seal(tmp_path, name, ROWS[:2])


def whole_of(folder: Path, name: str) -> set[str]:
    """The runs of a table of a folder."""
    return set(pd.read_csv(folder / f"{name}.csv")["run"])


def test_a_run_that_no_table_has_is_refused():
    frame = pd.DataFrame({"table": ["measured/training"], "run": ["none"], "source": ["x"]})
    found = list(catalog.tables._named(frame, lambda name: pd.DataFrame({"run": ["some"]})))
    assert found == [(0, "run", "measured/training has no run 'none'")]
