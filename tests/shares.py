"""How tests are divided among workers."""

import re

_OF_A_CHAPTER = re.compile(r"tests/test_(?:choices|pages_quantities)\.py::.*\[(?:\d+-)?([a-z_]+)\]")
"""Tests that read one chapter's graph."""
_OF_ANSWERS = re.compile(
    r"tests/test_(?:one_\w+|five_questions|plan|plan_service|pretraining_cost|routing_choice"
    r"|scaling_chapter)\.py"
)
"""Tests that read the graphs of several chapters, mostly the same."""
_OFTEN = (
    "token_cost",
    "hardware_compare",
    "inference_ladder",
    "architecture_bets",
    "vendor_claims",
)
"""Those of these chapters whose cells take longest."""


def share(nodeid: str) -> str:
    """What runs on one worker, because its tests share what is dear: the tests of one page of the
    site, those of one chapter's graph, those of what several chapters answer, else those of one
    file.
    """
    if of := _OF_A_CHAPTER.match(nodeid):
        return "answers" if of[1] in _OFTEN else f"chapter {of[1]}"
    if _OF_ANSWERS.match(nodeid):
        return "answers"
    if nodeid.startswith("tests/test_processors.py"):  # minutes each, and nothing shared
        return nodeid
    page = re.match(r"tests/pages/.*\[(.+?\.html)", nodeid)
    return page[1] if page else nodeid.partition("::")[0]
