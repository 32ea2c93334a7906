"""Values of a sweep: every one checked before any work."""

from __future__ import annotations

import pytest
from scaleright.parameters import ParameterError, parse, read_grid
from scaleright.press import sweep


def test_values_are_refused_all_at_once_with_the_nearest_choice():
    lines = (
        'hours: int = 8  # use [h] (0..24)\nchip: str = "RTX 4090"  # what to rent'
        ' (accelerators)\nplan: str = "spot"  # how (spot | on demand)'
    )
    given = [
        ("hours", "4,many,30,4"),
        ("chip", "H100 SXM,H10,h100 sxm"),
        ("plan", ""),
        ("plan", "spot,"),
        ("houres", "1,2"),
    ]
    with pytest.raises(ParameterError) as caught:
        read_grid(parse(lines), given)
    said = "\n".join(caught.value.problems)
    for part in (
        "hours = 'many': needs a whole number",
        "hours = 30: outside 0 to 24 h",
        "hours = 4: given twice",
        "chip = 'H10': unknown accelerator; nearest: H100",
        "chip = H100 SXM: given twice",
        "plan: an empty value; give one or more",
        "houres: no such parameter; nearest: hours",
    ):
        assert part in said
    assert said.count("no such parameter") == 1


@pytest.mark.parametrize(
    "name, said",
    [("hours", "hours: an empty value; give one or more"), ("houres", "houres: no such parameter")],
)
def test_an_empty_list_is_refused(name, said):
    with pytest.raises(ParameterError, match=said):
        read_grid(parse("hours: int = 8  # use [h] (0..24)"), [(name, "")])


def test_a_value_may_have_a_comma_and_be_left_to_the_book():
    lines = 'name: str = "a"  # any name\nrent: float | None = None  # rent [USD/h] (0..9)'
    assert read_grid(parse(lines), [("name", '"a, b",c'), ("rent", "none, 2"), ("name", "d")]) == {
        "name": ["a, b", "c", "d"],
        "rent": [None, 2.0],
    }


def test_a_grid_too_large_for_notebooks_is_refused():
    lines = "\n".join(f"{name}: int = 1  # a number (0..999)" for name in "abc")
    with pytest.raises(ParameterError, match="the grid has 125,000 scenarios; at most 100,000"):
        read_grid(parse(lines), [(name, ",".join(map(str, range(50)))) for name in "abc"])


@pytest.mark.parametrize(
    "arguments, code, says",
    [
        (["swep", "-p", "hours=1"], 1, "unknown chapter 'swep'; nearest: sweep"),
        (["sweep"], 2, "Missing option '-p'"),
        (["sweep", "-p", "hours"], 2, "expected NAME=VALUE"),
        (["sweep", "-p", 'hours="3'], 1, "hours = '\"3': a quote is opened and not closed"),
        (["sweep", "-p", "hours=2k"], 1, "hours = '2k': needs a whole number"),
        (["sweep", "-p", "hours=0,1"], 1, "hours = 0: outside 1 to 1,000 h"),
        (["sweep", "-p", "hours=1", "--workers", "0"], 2, "0 is not in the range"),
        (["sweep", "-p", "hours=1", "--out", "book/_toc.yml"], 1, "Not a directory"),
        (
            ["sweep", "-p", "hours=1", "--out", "book/_toc.yml/out"],
            1,
            "'book/_toc.yml/out/scenarios.jsonl' cannot be written: Not a directory",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "somewhere"],
            1,
            "expected an address such as tcp://HOST:8786",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "udp://127.0.0.1:8786"],
            1,
            "expected an address",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "tcp://127.0.0.1:99999"],
            1,
            "expected an address",
        ),
        (
            ["sweep", "-p", "hours=1", "--scheduler", "tcp://127.0.0.1:9"],
            1,
            "nobody answers there: Connection refused",
        ),
        (["mute", "-p", "hours=1"], 1, "mute has no cell tagged answer after its parameters"),
    ],
)
def test_wrong_input_is_refused_before_any_work(
    scaleright, place, monkeypatch, arguments, code, says
):
    monkeypatch.setattr(sweep, "connected", lambda *_: pytest.fail("work began"))
    place.text("mute").write_text(place.text("sweep").read_text().replace("[answer]", "[other]"))
    got, out, err = scaleright(*arguments)
    assert (got, out) == (code, "") and says in err and "Traceback" not in err
