"""Environments as readers have them: what they install, in the versions of this one, no more."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(*extras: str) -> list[str]:
    """The requirements of the package with some of its extras."""
    optional = PROJECT["optional-dependencies"]
    return [*PROJECT["dependencies"], *(each for extra in extras for each in optional[extra])]


def needed(requirements: Iterable[str]) -> dict[str, Distribution]:
    """What requirements bring along, by name, as it is installed here."""
    found, waiting = dict[str, Distribution](), [(Requirement(each), "") for each in requirements]
    seen = set[tuple[str, str]]()
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in ("", *wanted.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            found[name] = distribution(name)
            for line in found[name].requires or ():
                of = Requirement(line)
                if of.marker is None or of.marker.evaluate({"extra": extra}):
                    waiting.append((of, ""))
    return found


def link(distributions: Iterable[Distribution], folder: Path) -> None:
    """Put what is installed here into a folder, their metadata too, but no commands."""
    for installed in distributions:
        tops = {PurePosixPath(file).parts[0] for file in installed.files or ()}
        for top in tops - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(installed.locate_file(top))


@dataclass(frozen=True)
class Environment:
    """Such an environment, with a folder of no book from which its programs are run."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, requirements: Iterable[str]) -> Environment:
        """A new one."""
        venv.create(folder / "environment", symlinks=True)
        (folder / "elsewhere").mkdir()
        made = cls(folder)
        link(needed(requirements).values(), made.packages)
        return made

    @property
    def packages(self) -> Path:
        """Where its packages lie."""
        (found,) = self.folder.glob("environment/lib/python*/site-packages")
        return found

    @property
    def elsewhere(self) -> Path:
        """Where its programs run, and where its user is at home."""
        return self.folder / "elsewhere"

    @property
    def variables(self) -> dict[str, str]:
        """What its programs know of the machine."""
        path = f"{self.folder / 'environment' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.elsewhere), "PYTHONUTF8": "1"}

    def run(
        self, *command: str, given: object = None, cwd: Path | None = None, **variables: str
    ) -> str:
        """What a program of it prints, given a value as JSON; it must succeed."""
        done = subprocess.run(
            command,
            input=json.dumps(given),
            cwd=cwd or self.elsewhere,
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout


def installing(folder: Path) -> dict[str, str]:
    """What lets pip, brought along in a folder, install this package as it is, with no network."""
    tools = folder / "tools"
    tools.mkdir()
    link(needed(["pip", "hatchling", "editables"]).values(), tools)
    told = dict.fromkeys(("NO_INDEX", "NO_DEPS", "NO_CACHE_DIR", "DISABLE_PIP_VERSION_CHECK"), "1")
    told["NO_BUILD_ISOLATION"] = "0"  # as pip reads it: what "no" turns off is off
    return {f"PIP_{name}": value for name, value in told.items()} | {"PYTHONPATH": str(tools)}
