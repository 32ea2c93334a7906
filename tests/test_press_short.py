"""What a page's scripts say, written short and made whole again as `charts.js` does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scaleright.press.short import ELSEWHERE, PLACES, ROWS, SIGNS, TEXTS, WITH, short, tight

SCRIPT = Path(__file__).parents[1] / "book/_static/charts.js"


def whole(part):
    """What `charts.js` makes of a part that was written short."""
    if isinstance(part, list):
        return [whole(item) for item in part]
    if not isinstance(part, dict):
        return part
    if ROWS not in part:
        return {name: whole(item) for name, item in part.items()}
    texts = []
    for text in part[TEXTS]:
        for sign in part[WITH]:
            text = text.replace(sign, SIGNS[sign])
        texts.append(re.sub(rf"{PLACES}(\d)([^{PLACES}]*){PLACES}", _list, text))
    width = len(part[ROWS])
    rows = (texts[at : at + width] for at in range(0, len(texts), width))
    return [dict(zip(part[ROWS], row, strict=True)) for row in rows]


def _list(found: re.Match) -> str:
    every = re.findall("." * int(found[1]), found[2])
    return "[" + ",".join("0/0" if one[0] == "-" else str(int(one, 36)) for one in every) + "]"


words = st.text(alphabet="ab@~#`^ ,.[]0'\"datum", max_size=30)


@given(rows=st.lists(st.fixed_dictionaries({"name": words, "label": words}), max_size=6))
def test_texts_come_back_as_they_were(rows):
    assert whole(short(rows)) == rows
    assert whole(short({"defined": rows})) == {"defined": rows}


@given(
    places=st.lists(st.one_of(st.integers(0, 9999), st.none()), min_size=1, max_size=80),
    sign=st.sampled_from(["", *SIGNS]),
)
def test_lists_of_whole_numbers_come_back_as_they_were(places, sign):
    told = ",".join("0/0" if one is None else str(one) for one in places)
    rows = [{"name": "q1", "expr": f"[{told}][datum.x]"}, {"name": "q2", "expr": f"'{sign}'"}]
    assert whole(short(rows)) == rows


def test_what_stands_for_a_part_told_elsewhere_stays_so():
    names = [{ELSEWHERE: "001b81a153b6"}, {ELSEWHERE: "2ef198fb6fb2"}]
    assert short({"controls": names}) == {"controls": names}


def test_a_list_of_places_takes_a_digit_each():
    rows = [{"name": name, "expr": "[" + "1," * 99 + "7]"} for name in ("q1", "q2")]
    assert len(json.dumps(short(rows))) < 0.7 * len(json.dumps(rows))


@pytest.mark.parametrize(
    "formula, said",
    [
        ("(a * b)", "(a*b)"),
        ("if((a === \" - \"),' + ',1)", "if((a===\" - \"),' + ',1)"),
        ("(a - -b)", "(a - -b)"),
        ("(a + +b)", "(a + +b)"),
        ("(x ? y : (-z))", "(x?y:(-z))"),
        ("'it\\'s - so' + a", "'it\\'s - so'+a"),
    ],
)
def test_spaces_go_where_they_say_nothing(formula, said):
    assert tight(formula) == said


def test_what_is_not_rows_of_texts_stays():
    for part in ([{"a": "b"}], [{"a": 1}, {"a": "x"}], [{"a": "x"}, {"b": "x"}], [], [{}, {}], "a"):
        assert short(part) == part
    rows = [{"a": PLACES}, {"a": "b"}]
    assert short(rows) == rows


def test_the_page_knows_the_same_signs():
    line = re.search(r"const SIGNS = (\{.*\});", SCRIPT.read_text(encoding="utf-8"))[1]
    told = re.sub(r"'([^']*)'", lambda text: json.dumps(text[1]), line)
    assert json.loads(told) == dict(SIGNS)
