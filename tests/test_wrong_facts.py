"""Facts that cannot be are refused when their table is read, and `data check` says the same.

Each case spoils one table; whoever reads it gets a sentence that names table,
row, column, value and what is plausible.
"""

import json
import random

import pytest
from paths import ROOT
from scaleright import catalog, transformer
from scaleright.catalog import constraints
from scaleright.catalog.reading import read
from scaleright.press import datacheck
from spoiled import Spoiled

assert transformer  # whoever computes with shapes has them judged by their parameters


def refused(spoiled: Spoiled, table: str, *parts: str) -> str:
    """The sentence with which a table is refused; what `data check` asks must say the same."""
    with pytest.raises(catalog.DataError) as error:
        catalog.table(table)
    for part in parts:
        assert part in str(error.value), str(error.value)
    assert str(error.value).startswith(str(catalog.examine(spoiled.folder, table)[1][0]))
    return str(error.value)


@pytest.mark.parametrize(
    "old, new, parts",
    [
        (
            "dense_bf16_flops,989000000000000",
            "dense_bf16_flops,989",
            ("column value: 989 is not plausible for quantity dense_bf16_flops", "1e+13 to 1e+16"),
        ),
        (
            "dense_bf16_flops,989000000000000",
            "dense_bf16_flops,9.89e13",
            ("H100 SXM has dense_bf16_flops 9.89e+13", "FLOP per byte; plausible: 30 to 900"),
        ),
        (
            "memory_bytes,85899345920",
            "memory_bytes,80",
            ("80 is not plausible for quantity memory_bytes; plausible: 2e+09 to 1e+12",),
        ),
        ("tdp_watts,700", "tdp_watts,0.7", ("0.7 is not plausible for quantity tdp_watts",)),
        (
            "tdp_watts,700",
            "tdp_watts,4000",
            ("H100 SXM has memory_bytes_per_s 3.35e+12 and tdp_watts 4000", "byte/s per watt"),
        ),
        (
            "memory_bytes_per_s,3350000000000",
            "memory_bytes_per_s,-3350000000000",
            ("column value: -3.35e+12 is not allowed: at least 0",),
        ),
        ("tdp_watts,700", "tdp_watts,", ("the cell is empty",)),
        ("tdp_watts,700", "tdp_watts,NaN", ("'NaN' is not a number",)),
        ("tdp_watts,700", "tdp_watts,inf", ("'inf' is not a number",)),
        ("tdp_watts,700", "tdp_watts,7e999", ("'7e999' is not a number",)),
        ("tdp_watts,700", "tdp_watts,7_00", ("'7_00' is not a number",)),
        (
            "tdp_watts,700",
            "H100 SXN,tdp_watts,700",
            ("column accelerator: 'H100 SXN' is not in column name of table accelerators", "H100"),
        ),
        (
            "idle_watts",
            "tdp_watts",
            ("repeats another row", "accelerator 'H100 SXM', quantity 'tdp_watts'"),
        ),
    ],
)
def test_a_figure_of_a_chip_that_cannot_be_is_refused(spoiled, old, new, parts):
    wrong = new if new.startswith("H100") else f"H100 SXM,{new}"
    spoiled.spoil("accelerator_specs.csv", f"H100 SXM,{old}", wrong)
    refused(spoiled, "accelerator_specs", "table accelerator_specs, row ", *parts)


def test_a_chip_is_not_handed_out_while_its_figures_cannot_be(spoiled):
    spoiled.spoil("accelerator_specs.csv", "H100 SXM,tdp_watts,700", "H100 SXM,tdp_watts,700000")
    for _ in range(2):
        with pytest.raises(catalog.DataError, match="700000 is not plausible"):
            catalog.accelerator("A100 SXM 80GB")


def _set(spoiled: Spoiled, model: str, **cells: str) -> None:
    header, *lines = spoiled["models.csv"].decode().splitlines()
    columns = header.split(",")
    for i, line in enumerate(lines):
        if line.startswith(f"{model},"):
            row = line.split(",")
            for column, cell in cells.items():
                row[columns.index(column)] = cell
            lines[i] = ",".join(row)
    spoiled["models.csv"] = "\n".join([header, *lines, ""]).encode()


@pytest.mark.parametrize(
    "cells, part",
    [
        ({"layers": "10000"}, "column layers: 10000 is not allowed: at least 1 and at most 512"),
        ({"layers": "32"}, "Llama-2-70B: its shape has 2.791e+10 total parameters, llama2 states"),
        ({"hidden": "0"}, "column hidden: 0 is not allowed"),
        ({"kv_heads": "7"}, "Llama-2-70B: kv_heads = 7 does not divide heads = 64"),
        ({"kv_heads": "0"}, "column kv_heads: 0 is not allowed"),
        ({"heads": "64.5"}, "column heads: '64.5' is not an integer"),
        ({"ffn": "0"}, "Llama-2-70B: ffn = 0, but 80 layers are dense"),
        ({"head_dim": "1024", "v_head_dim": "1024"}, "64 heads of 1024 over 8192 wide"),
        (
            {"experts": "8"},
            "moe_layers, experts, experts_per_token and expert_ffn are set together",
        ),
        ({"vocab": "32"}, "column vocab: 32 is not allowed"),
        ({"ffn": "2867"}, "Llama-2-70B has ffn 2867 and hidden 8192"),
        ({"gated_ffn": "yes"}, "column gated_ffn: 'yes' is not a boolean"),
    ],
)
def test_a_shape_that_no_model_has_is_refused(spoiled, cells, part):
    _set(spoiled, "Llama-2-70B", **cells)
    said = refused(spoiled, "models", "table models, row ", part)
    with pytest.raises(catalog.DataError) as error:
        catalog.model("Llama-2-70B")
    assert str(error.value) == said


def test_a_shape_without_a_published_count_is_held_against_its_name(spoiled):
    _set(spoiled, "OLMo-2-13B", layers="10")
    refused(spoiled, "models", "OLMo-2-13B: its shape has", "its name says 1.3e+10")


def test_a_published_count_that_no_shape_has_is_refused(spoiled):
    spoiled.spoil(
        "measured/counts.csv", "BLOOM,total_parameters,1762", "BLOOM,total_parameters,762"
    )
    refused(spoiled, "measured/counts", "column published: BLOOM: its shape has 1.762e+11")


@pytest.mark.parametrize(
    "table, old, new, part",
    [
        ("rental_prices", ",6.88,", ",0.0688,", "0.0688 is 0.0"),
        ("electricity_prices", ",0.239,", ",23.9,", "23.9 is not allowed: at least 0.005"),
        ("electricity_prices", ",0.239,", ",0.0239,", "do not rise"),
        ("electricity_prices", ",0.045,0.066,0.09,", ",0.45,0.66,0.9,", "0.66 is not plausible"),
        ("electricity_prices", ",0.045,0.07,0.11,", ",0.45,0.7,1.1,", "0.7 is not plausible"),
        ("electricity_prices", ",0.045,0.066,0.09,", ",0.01,0.022,0.03,", "0.022 is 0.1"),
        ("measured/training", ",384,", ",3.5,", "column accelerators: '3.5' is not an integer"),
    ],
)
def test_other_tables_are_judged_alike(spoiled, table, old, new, part):
    spoiled.spoil(f"{table}.csv", old, new)
    refused(spoiled, table, f"table {table}, row ", part)


# files that are no table


def _cut(share: float):
    return lambda data: data[: int(len(data) * share)]


def _whole_lines(share: float):
    return lambda data: b"".join(data.splitlines(True)[: int(data.count(b"\n") * share)])


@pytest.mark.parametrize(
    "change, part",
    [
        (_whole_lines(0.5), "416 rows, but at least 833 are known: rows were lost"),
        (lambda data: b"".join(data.splitlines(True)[:-1]), "832 rows, but at least 833"),
        (_cut(0.4), "the last line has no end: the file was cut"),
        (lambda data: data[:-1], "the last line has no end: the file was cut"),
        (lambda data: b"", "the file is empty"),
        (lambda data: data.splitlines(True)[0], "0 rows, but at least 833"),
        (lambda data: b"\xef\xbb\xbf" + data, "row 1: the file starts with a byte order mark"),
        (lambda data: data.decode().encode("utf-16"), "cannot be read: not UTF-8 at byte 0"),
        (lambda data: data.replace(b"A10,", b"A\xe4,", 1), "row 2: accelerator_specs.csv cannot"),
        (lambda data: data.replace(b"quantity", b"value", 1), "missing: quantity; twice: value"),
        (lambda data: data.replace(b"note\n", b"note,note\n", 1), "twice: note"),
        (lambda data: data.replace(b"source,note", b"note,source", 1), "in another order"),
        (
            lambda data: data.replace(b",nvidia2021a10,", b",nvidia2021a10", 1),
            "5 cells, expected 6",
        ),
        (lambda data: data.replace(b"A10,", b"A10,,", 1), "row 2: 7 cells, expected 6"),
        (lambda data: data.replace(b"\n", b"\n\n", 1), "row 2: 0 cells, expected 6"),
        (lambda data: data.replace(b"A10,", b'"A10,', 1), "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_of_the_package_is_refused(spoiled, change, part):
    spoiled["accelerator_specs.csv"] = change(spoiled["accelerator_specs.csv"])
    refused(spoiled, "accelerator_specs", "table accelerator_specs", part)


def test_a_missing_file_is_named(spoiled):
    spoiled["cost_factors.csv"] = None
    refused(spoiled, "cost_factors", "cost_factors.csv cannot be read: no such file")


def test_line_ends_of_another_system_are_the_same_facts(spoiled):
    before = catalog.table("cost_factors")
    spoiled["cost_factors.csv"] = spoiled["cost_factors.csv"].replace(b"\n", b"\r\n")
    assert catalog.table("cost_factors").equals(before)


def test_a_table_is_refused_for_the_table_that_it_refers_to(spoiled):
    spoiled.spoil("accelerators.csv", "NVIDIA", "Nvidia")
    with pytest.raises(
        catalog.DataError, match="table accelerators, row 2, column vendor: 'Nvidia'"
    ):
        catalog.table("rental_prices")


def test_the_check_names_a_fault_once_and_not_with_every_table_that_refers_to_it(
    spoiled, monkeypatch
):
    monkeypatch.setattr(datacheck, "_second_opinion", lambda *_: ())  # slow, and asked elsewhere
    spoiled.spoil("accelerators.csv", "NVIDIA", "Nvidia")
    spoiled.spoil("accelerator_specs.csv", "A10,tdp_watts,150", "A10,tdp_watts,150000")
    _set(spoiled, "OLMo-2-13B", layers="10")
    errors = [p.table for p in datacheck.check(spoiled.folder) if not p.notice]
    assert errors == ["accelerator_specs", "accelerators", "models"]


@pytest.mark.parametrize(
    "old, new, part",
    [
        ('"resources": [', '"resources": ', "line 525: not valid JSON"),
        ('"resources": [', '"tables": [', 'it needs {"resources": [...]}'),
        ('"type": "number"', '"type": "numbre"', "has type 'numbre'; allowed: string, integer"),
        ('"minimum": 1,', '"minimun": 1,', "unknown constraint 'minimun'; nearest: minimum"),
        ('"minimum": 1,', '"minimum": NaN,', "'NaN' is no finite number"),
        ('"minimum": 1,', '"minimum": "1",', "minimum = '1' is not a number"),
        ('"path": "models.csv"', '"path": "accelerators.csv"', "two resources have the same path"),
        ('"path": "models.csv"', '"paths": "models.csv"', "needs a path and a schema"),
        ('"resource": "accelerators"', '"resource": "chips"', "points to no resource: 'chips'"),
        ('"min_rows": 174', '"min_rows": "many"', "min_rows = 'many' is not a whole number"),
        ('"version"', '"title"', "title stands here twice"),
        ('"like": ["family"]', '"like": ["famly"]', "'famly', which is no field"),
        ('"within": 700', '"withn": 700', "resource models.csv: a plausible rule"),
    ],
)
def test_a_package_that_cannot_be_used_is_refused(spoiled, old, new, part):
    spoiled.spoil("datapackage.json", old, new)
    with pytest.raises(catalog.DataError, match=r"datapackage\.json[:,] ") as error:
        catalog.table("models")
    assert part in str(error.value)
    assert [part in str(p) for p in datacheck.check(spoiled.folder)] == [True]


def test_a_package_in_another_encoding_or_a_folder_without_one_is_named(spoiled, monkeypatch):
    spoiled["datapackage.json"] = spoiled["datapackage.json"].decode().encode("utf-16")
    with pytest.raises(catalog.DataError, match=r"datapackage\.json: is UTF-16; save it as UTF-8"):
        catalog.table("models")
    monkeypatch.setenv("SCALERIGHT_DATA", str(spoiled.folder / "models.csv"))
    with pytest.raises(catalog.DataError, match="no data package at"):
        catalog.table("models")


# slips of unit anywhere


def _slipped(path: str, entry: dict, draw: random.Random) -> list[tuple[str, bool]]:
    """For two cells of each column of numbers, wrong by a factor: where, and whether it is seen."""
    frame, text, _ = read(ROOT / "data" / path, entry["schema"], path)
    slips = []
    for field in entry["schema"]["fields"]:
        name = field["name"]
        if field["type"] not in ("number", "integer"):
            continue
        rules = [
            r for r in entry.get("plausible", ()) if {name} & {*r["fields"], *r.get("product", ())}
        ]
        column = {"schema": {"fields": [field]}, "plausible": rules}
        filled = frame.index[frame[name].fillna(0) > 0]
        rows = draw.sample(list(filled), min(2, len(filled)))
        factors = {row: draw.choice([1e3, 1e-3, 1e6, 1e9, 1e12]) for row in rows}
        slip = frame.assign(**{name: constraints.numbers(frame[name])})
        for row, factor in factors.items():
            slip.loc[row, name] *= factor
        found = [*constraints.problems(slip, text, column, path, lambda _: None)]
        found += constraints.implausible(slip, text, column, path)
        seen = {problem.row for problem in found}
        slips += [
            (f"{path}: {name} x {factor:g}", row + 2 in seen) for row, factor in factors.items()
        ]
    return slips


def test_a_figure_that_is_a_thousandfold_or_more_off_is_seen_in_nearly_every_column():
    draw, slips = random.Random(12), []
    for entry in json.loads((ROOT / "data/datapackage.json").read_text())["resources"]:
        slips += _slipped(entry["path"], entry, draw)
    missed = [where for where, seen in slips if not seen]
    assert len(slips) > 400 and len(missed) < 0.04 * len(slips), missed


def test_every_column_of_numbers_says_what_is_plausible_and_every_table_how_many_rows_it_has():
    free = set()
    for entry in json.loads((ROOT / "data/datapackage.json").read_text())["resources"]:
        rows = (ROOT / "data" / entry["path"]).read_text(encoding="utf-8").count("\n") - 1
        assert 0.95 * rows <= entry["min_rows"] <= rows, entry["name"]
        ruled = {name for rule in entry.get("plausible", ()) for name in rule["fields"]}
        for field in entry["schema"]["fields"]:
            limits = {"minimum", "maximum"} & field.get("constraints", {}).keys()
            bound = len(limits) == 2 or field["name"] in ruled
            if field["type"] in ("number", "integer") and not bound:
                free.add((entry["name"], field["name"]))
    # What a document claims need not be plausible; it is the business of the ledger.
    assert free == {("claims", "claimed_low")}
