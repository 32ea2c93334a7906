"""Settings that other programs read are of the form that they expect, and agree with each other."""

import re

import pytest
import yaml
from click.testing import CliRunner
from paths import ROOT
from scaleright import __version__

GITHUB = ROOT / ".github"
TEMPLATES = {*(GITHUB / "ISSUE_TEMPLATE").glob("*.yml")} - {GITHUB / "ISSUE_TEMPLATE/config.yml"}
FORMS = {
    "vendor.github-workflows": (GITHUB / "workflows").glob("*.yml"),
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "vendor.github-issue-forms": TEMPLATES,
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}


@pytest.mark.parametrize("schema", FORMS)
def test_settings_follow_their_schema(schema):
    from check_jsonschema import main as check_jsonschema

    files = sorted(map(str, FORMS[schema]))
    # The schemas come with the package; --no-cache, since none is to be fetched or kept.
    told = CliRunner().invoke(check_jsonschema, ["--no-cache", "--builtin-schema", schema, *files])
    assert files
    assert told.exit_code == 0, told.output


def test_there_is_a_form_for_each_thing_that_readers_report():
    assert {path.stem for path in TEMPLATES} == {"wrong_number", "stale_price", "question"}


def test_the_bot_looks_after_every_file_of_pins():
    updates = yaml.safe_load((GITHUB / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    looked_after = {u["directory"] for u in updates if u["package-ecosystem"] == "pip"}
    pinned = [ROOT / "requirements.txt", *(ROOT / "benchmarks").glob("*.txt")]
    assert {
        f"/{path.parent.relative_to(ROOT)}".removesuffix(".") for path in pinned
    } == looked_after


def test_hooks_before_a_commit_run_programs_of_the_pinned_environment():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    entries = [hook["entry"] for repository in hooks for hook in repository["hooks"]]
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    programs = {re.fullmatch(r"\.venv/bin/(\w+) .*", entry)[1] for entry in entries}
    assert programs == {"ruff", "pyrefly", "scaleright"}
    assert all(f"\n{program}==" in pinned for program in programs - {"scaleright"})


def test_one_version_is_told_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$", changes, re.MULTILINE)
    assert citation["version"] == __version__ == released[0]
