"""The built pages keep the rules of accessibility (axe) and of HTML (html-validate), and their own
policy of what may be loaded and run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from browse import CHAPTERS, PAGES, SCENARIOS

HERE = Path(__file__).parent
VALIDATOR = Path(sys.prefix) / "html-validate/node_modules/html-validate/bin/html-validate.mjs"
ALWAYS = {"aria-allowed-attr", "button-name", "html-has-lang", "region"}
"""Some of the rules that every page gives cause to try."""


@pytest.mark.parametrize("name", [*PAGES, *SCENARIOS])
def test_a_page_keeps_every_rule_of_accessibility(look, name):
    opened = look(name)
    opened.ask(f"{AXE_SCRIPT}; undefined")
    found = opened.ask("probe.structure()")
    assert set(found["passed"]) >= ALWAYS and found["broken"] == []


@pytest.mark.parametrize("name", PAGES)  # a scenario has the colors of its chapter
def test_a_page_is_legible_to_weak_eyes_in_light_and_dark(look, name):
    opened = look(name)
    opened.ask(f"{AXE_SCRIPT}; undefined")
    for mode, found in opened.ask("probe.colors()").items():
        assert found["passed"] and found["broken"] == [], mode


def validated(said: Path, *pages: Path) -> list[str]:
    """What html-validate says against these pages, by the Node that Playwright brings; it says it
    in a file, for it ends before a pipe has taken all.
    """
    if not VALIDATOR.is_file():
        missing = "html-validate is not installed: apt-get install npm, then make test"
        pytest.fail(missing, pytrace=False) if os.environ.get("CI") else pytest.skip(missing)
    from playwright._impl._driver import compute_driver_executable

    command = [compute_driver_executable()[0], VALIDATOR, "-f", "json"]
    command += ["-c", HERE / "htmlvalidate.mjs", *pages]
    with said.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    assert said.stat().st_size, done.stderr
    return [
        f"{Path(file['filePath']).name}:{fault['line']}: {fault['ruleId']}: {fault['message']}"
        for file in json.loads(said.read_text())
        for fault in file["messages"]
    ]


def test_every_page_is_valid_html(html, tmp_path):
    pages = [html / name for name in (*PAGES, *SCENARIOS, "index.html")]
    assert validated(tmp_path / "said.json", *pages) == []


def test_the_validator_sees_faults(html, tmp_path):
    text = (html / "search.html").read_text(encoding="utf-8")
    for fault, rule in (
        ("<summary><p>more</p></summary>", "element-permitted-content"),
        ('<form action=""></form>', "attribute-allowed-values"),
        ('<p id="main"></p>', "no-dup-id"),
    ):
        page = tmp_path / "page.html"
        page.write_text(text.replace("<article>", f"<article>{fault}"), encoding="utf-8")
        assert any(f": {rule}: " in said for said in validated(tmp_path / "said.json", page)), fault


def directives(text: str) -> dict[str, str]:
    """The policy of a page, by what each part of it is about."""
    stated = re.search('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)[1]
    return dict(part.split(" ", 1) for part in unescape(stated).split("; "))


@pytest.mark.parametrize("name", [*PAGES, *SCENARIOS, "index.html"])
def test_a_page_loads_and_runs_only_what_is_its_own(html, name):
    text = (html / name).read_text(encoding="utf-8")
    policy = directives(text)
    assert policy["default-src"] == "'none'"
    scripts = policy.get("script-src", "")
    assert re.fullmatch(r"'self'( 'sha256-[\w+/]{43}=')*|", scripts)
    for where in policy.values():  # no other host, no scheme but images within the page itself
        assert set(where.split()) <= {
            "'none'",
            "'self'",
            "data:",
            "'unsafe-inline'",
            *scripts.split(),
        }
    assert "'unsafe-inline'" not in scripts and policy["img-src"].endswith("data:")
    # What comes before the policy is not held to it.
    head = r"(?i)<!doctype html>\s*<html[^>]*>\s*<head>\s*<meta charset=\S+\s*"
    assert re.match(head + "<meta http-equiv=.Content-Security-Policy", text)
    assert not re.search(r"<[^>]* on[a-z]+=", text.split("<main")[0])


def test_a_page_runs_no_text_as_a_program(visit):
    assert visit(CHAPTERS[0]).ask("probe.runText()") == ["ignored", "EvalError", "EvalError"]
