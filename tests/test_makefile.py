"""The environment that `make` sets up."""

import os
import shutil
import subprocess
import sys

import pytest
from paths import ROOT


@pytest.mark.processes
def test_the_library_is_found_in_a_folder_whose_name_no_ascii_locale_can_read(tmp_path):
    """Python reads the path of an editable install in the locale's encoding, before all else."""
    place = tmp_path / "grün"
    (place / "lib").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, place)
    ascii_only = os.environ | {"LC_ALL": "C"}

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=place, env=ascii_only, capture_output=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call(sys.executable, "-m", "venv", "--without-pip", ".venv")
    (place / ".venv" / ".packages").touch()
    (site,) = place.glob(".venv/lib/python*/site-packages")
    said = f"echo {place / 'lib'} > {site / '_editable_impl_scaleright.pth'};"  # as pip does
    call("make", f"PIP=sh -c '{said}'", ".venv/.scaleright")
    assert str(place / "lib") in call(".venv/bin/python", "-c", "import sys; print(*sys.path)")
