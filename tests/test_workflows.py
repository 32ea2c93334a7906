"""The publishing workflow: what it runs is named by hash, and the right to publish is one job's."""

import re

import pytest
import yaml
from paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PUBLISHING = {"pages", "id-token"}


def workflow(name: str) -> dict:
    return yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())


def commands(job: dict) -> list[str]:
    """What a job runs and uses, in order."""
    return [step.get("run") or step["uses"].split("@")[0] for step in job["steps"]]


def may(rights: dict) -> set[str]:
    """What a job with these rights may change."""
    return {what for what, right in rights.items() if right == "write"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_named_by_commit_beside_its_version(path):
    used = [line for line in path.read_text().splitlines() if re.match(r"\s*(- )?uses:", line)]
    outside = [line for line in used if "uses: ./" not in line]  # of this same commit
    assert outside
    for line in outside:
        assert re.search(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_may_only_read_unless_it_publishes(path):
    whole = workflow(path.name)
    assert whole["concurrency"]["group"]
    assert isinstance(whole["permissions"], dict) and not may(whole["permissions"])
    for name, job in whole["jobs"].items():
        rights = job.get("permissions", whole["permissions"])
        assert isinstance(rights, dict), f"{name}: {rights}"
        assert may(rights) == (PUBLISHING if name == "deploy" else set())
        for step in job.get("steps", ()):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_a_site_is_published_only_after_the_tests_and_the_check_of_the_data():
    jobs = workflow("publish.yml")["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/ci.yml"
    tested = workflow("ci.yml")
    assert "workflow_call" in tested[True]  # YAML 1.1 reads the key `on` as true
    assert ".ci/run" in commands(tested["jobs"]["test"])
    assert jobs["build"]["needs"] == "test" and jobs["deploy"]["needs"] == "build"
    built = commands(jobs["build"])
    assert built.index("make check") < built.index("make book") < len(built) - 1
    assert built[-1] == "actions/upload-pages-artifact"
    for job in jobs.values():  # a job that goes on after a failure would open the gate
        assert "continue-on-error" not in str(job) and "always()" not in str(job)


def test_the_job_that_may_publish_runs_no_code_of_the_repository():
    deploy = workflow("publish.yml")["jobs"]["deploy"]
    assert commands(deploy) == ["actions/deploy-pages"]
    assert deploy["if"] == "github.ref == 'refs/heads/main'"


def pins(name: str) -> dict[str, str]:
    """The packages that a file of requirements names, with their versions."""
    found = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


ENTRY = re.compile(r"([\w.-]+)==[^\s;]+( ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n")
"""A line of a lock file: the package, for which systems, the hashes of its files."""


@pytest.mark.parametrize("name", ["requirements", "benchmarks/peers"])
def test_every_pin_is_locked_by_hash(name):
    pinned, locked = pins(f"{name}.txt"), pins(f"{name}.lock")
    assert pinned and {package: locked.get(package) for package in pinned} == pinned, "make lock"
    lines = (ROOT / f"{name}.lock").read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("#"))
    assert ENTRY.sub("", text) == ""
    found = {re.sub(r"[-_.]+", "-", each[1]).lower(): each[2] for each in ENTRY.finditer(text)}
    # What is locked beyond the pins is for systems that this book is not tested on.
    beyond = {package: where for package, where in found.items() if package not in pinned}
    assert all(re.search("sys_platform|pypy", where or "") for where in beyond.values()), beyond


def test_packages_are_installed_by_hash_alone():
    recipes = (ROOT / "Makefile").read_text()
    installs = re.findall(r"\$\(PIP\) install (.*)", recipes)
    named = [line for line in installs if "--editable ." not in line]  # of this same commit
    assert len(named) == len(installs) - 1 > 0
    assert all("--require-hashes" in line for line in named)


def test_what_a_pull_request_does_not_wait_for_runs_every_night():
    nightly = workflow("nightly.yml")
    assert nightly[True]["schedule"]
    assert commands(nightly["jobs"]["test"])[-1] == ".ci/run nightly"
    assert "make nightly" in (ROOT / ".ci" / "run").read_text()
    makefile = (ROOT / "Makefile").read_text()
    (target,) = re.findall(r"^nightly:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert "SCALERIGHT_NIGHTLY=1" in target
    # What fails keeps nothing after it from running.
    assert target.split()[-4:] == ["--keep-going", "test", "cold", "pdf"]
