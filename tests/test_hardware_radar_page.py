"""The page of the hardware radar: who wins how many of all weightings, and what is said where
nothing leads.
"""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import pandas as pd
import pytest
from chapter_cells import shared
from scaleright import quantity as quantities
from scaleright.chapters.hardware_radar import model as hardware
from scaleright.chapters.hardware_radar import page


@pytest.fixture(scope="module")
def cells() -> SimpleNamespace:
    """What the chapter's cells make."""
    return SimpleNamespace(**shared("hardware_radar").whole())


@pytest.mark.parametrize(
    "case, words",
    [
        ({"benchmark": "deepseek-r1", "scenario": "Interactive"}, "compared: choose Offline or"),
        ({"contract": "spot", "seller": "Lambda"}, "H100 SXM, the reference chip, has no"),
        (
            {"contract": "spot", "seller": "Lambda", "weight_cost": 0.0},
            "all axes that weigh",
        ),
        ({f"weight_{axis}": 0.0 for axis in hardware.AXES}, "no axis has weight"),
    ],
)
def test_a_case_in_which_nothing_leads_says_what_would_help(cells, case, words):
    why = hardware.why_none(cells.work, cells.on, hardware.weights(cells.case))
    assert words in quantities.evaluate([why], case)[0]


SEEN = [
    {},
    {"contract": "reserved"},
    {"paid": "own", "setting": "home", "stand_ins": True},
    {"benchmark": "stable-diffusion-xl", "span": 3.0, "seller": "hyperscalers"},
]


@pytest.mark.parametrize("case", SEEN, ids=str)
def test_shares_of_weightings_are_those_of_chips_that_win_them(cells, case):
    """The page's search over weightings, one weighting after the other."""
    found = quantities.evaluate(cells.points.values(), {"chip": cells.chips, **case})
    points = pd.DataFrame(dict(zip(cells.points, found, strict=True)), index=cells.chips).dropna()
    best = [points.index[(points @ of).to_numpy().argmax()] for of in hardware.weightings()]
    shares = pd.Series(best).value_counts(normalize=True)
    wanted = [cells.won.placed, cells.won.never, *(of for pair in cells.won.shares for of in pair)]
    placed, never, *found = quantities.evaluate(wanted, case)
    named = {name: share for name, share in zip(found[::2], found[1::2], strict=True) if share}
    assert (placed, never) == (len(points), len(points) - len(shares))
    assert named == pytest.approx(dict(shares.head(hardware.NAMED)), abs=2.5 / len(best))
    assert [*named.values()] == sorted(named.values(), reverse=True)
    beaten = [b for a, b in permutations(points.index, 2) if (points.loc[a] > points.loc[b]).all()]
    assert set(beaten) & set(named) == set()


def test_a_radar_of_chips_that_were_not_submitted_says_so(cells):
    said = page._unplaced(cells.case, cells.on)
    none = {"first": "A40", "second": "A2", "third": "RTX 4090"}
    assert quantities.evaluate([said], {}) == [""]
    assert quantities.evaluate([said], none) == ["none of the three was submitted here"]
