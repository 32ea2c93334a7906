"""The built pages keep the rules of accessibility (axe) and of HTML (html-validate), and their own
policy of what may be loaded and run.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from absent import absent
from axe_playwright_python.base import AXE_SCRIPT
from browse import CHAPTERS, ONE_EACH, PAGES, SCENARIOS, undrawn

HERE = Path(__file__).parent
VALIDATOR = Path(sys.prefix) / "html-validate/node_modules/html-validate/bin/html-validate.mjs"
ALWAYS = {"aria-allowed-attr", "button-name", "html-has-lang", "region"}
"""Some of the rules that every page gives cause to try."""


@pytest.fixture(scope="session")
def judged() -> set[str]:
    """The looks of words, in light or dark, whose colors have been found to keep the rules: most
    are those of every page.
    """
    return set()


SCENARIO = ONE_EACH[0]
TEMPLATES = [
    PAGES[0],
    "notebooks/hardware_radar.html",  # has controls of all kinds
    SCENARIO,
    "book/for_finance.html",
    "book/glossary.html",
    "book/ledger.html",
    "book/references.html",
    "book/status.html",
    "search.html",
]
"""A page of each kind: most of a page is that of its template and of the press."""


def test_the_pages_of_each_kind_are_of_the_site():
    assert {*TEMPLATES} <= {*PAGES, *SCENARIOS}


@pytest.mark.parametrize(
    "name",
    TEMPLATES
    + [pytest.param(name, marks=pytest.mark.nightly) for name in PAGES if name not in TEMPLATES],
)
def test_a_page_keeps_every_rule_of_accessibility_in_light_and_dark(look, judged, name):
    opened = look(name)
    opened.ask(f"{AXE_SCRIPT}; undefined")
    found = opened.ask("probe.rules", {"modes": ["light", "dark"], "judged": list(judged)})
    assert set(found["structure"]["passed"]) >= ALWAYS and found["structure"]["broken"] == []
    for mode in ("light", "dark"):
        assert found[mode]["broken"] == [], mode
        assert found[mode]["passed"] or not found[mode]["looks"], mode
        judged.update(found[mode]["looks"])
    assert judged


@pytest.fixture(scope="session")
def plain(browser, site):
    """A window in which nothing is drawn or set: the texts and tables of pages as they come."""
    context = browser.new_context(viewport={"width": 360, "height": 800})
    context.set_default_timeout(600_000)  # ends only a test that hangs
    context.add_init_script(path=HERE / "probes.js")
    page = context.new_page()
    undrawn(page)
    yield lambda name: page.goto(site + name) and page
    context.close()


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCENARIOS)  # a scenario has the colors and scripts of its chapter
def test_a_scenario_keeps_every_rule_of_accessibility_before_it_is_drawn(plain, name):
    page = plain(name)
    page.evaluate(f"{AXE_SCRIPT}; undefined")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = page.evaluate("probe.rules({})")["structure"]
    assert set(found["passed"]) >= ALWAYS and found["broken"] == []
    assert page.evaluate("probe.outside(360)") == []


@pytest.mark.parametrize("name", ["search.html"])
def test_the_rules_of_accessibility_see_faults(look, name):
    opened = look(name)
    opened.ask(f"{AXE_SCRIPT}; undefined")
    row = "<tr><td>as good as the next</td></tr>"
    pale = '<tr><td style="color: #888; background: #777">hard to read</td></tr>'
    opened.ask(
        "(html) => { const box = document.createElement('div'); box.innerHTML = html;"
        " document.querySelector('article').append(box); }",
        f"<button></button><p role=heading>a</p><table><tbody>{row * 9}{pale}</tbody></table>",
    )
    found = opened.ask("probe.rules", {"modes": ["light", "dark"]})
    opened.ask("document.querySelector('article').lastChild.remove()")
    broken = {fault.partition(":")[0] for fault in found["structure"]["broken"]}
    assert {"button-name", "aria-required-attr"} <= broken
    assert all(
        any("#777" in fault for fault in found[mode]["broken"]) for mode in ("light", "dark")
    )


def validated(said: Path, *pages: Path) -> list[str]:
    """What html-validate says against these pages, by the Node that Playwright brings; it says it
    in a file, for it ends before a pipe has taken all.
    """
    if not VALIDATOR.is_file():
        absent("html-validate", "npm, then make test")
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
    faults = {
        "element-permitted-content": "<summary><p>more</p></summary>",
        "attribute-allowed-values": '<form action=""></form>',
        "no-dup-id": '<p id="main"></p>',
    }
    for rule, fault in faults.items():
        page = text.replace("<article>", f"<article>{fault}")
        (tmp_path / f"{rule}.html").write_text(page, encoding="utf-8")
    found = validated(tmp_path / "said.json", *tmp_path.glob("*.html"))
    for rule in faults:
        assert any(re.match(rf"{rule}[.]html:\d+: {rule}: ", fault) for fault in found), rule


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


@pytest.mark.parametrize("name", CHAPTERS[:1])
def test_a_page_runs_no_text_as_a_program(look, name):
    opened = look(name)
    assert opened.ask("probe.runText()") == ["ignored", "EvalError", "EvalError"]
    opened.troubles.clear()  # the browser says what it refused
