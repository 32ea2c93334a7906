"""One result on every processor: chapters and fits are stored with the digits that they mean, and
every order and choice is total.
"""

import difflib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from absent import absent
from processors import OF_FITS, ROOT, other_libm, processors, vector_paths
from scaleright.press import Book

BOOK = Book(ROOT)
FITS = (
    *("training_constants", "serving_constants", "energy_constants"),
    *("serving_errors", "errors_in_common", "post_training_phases"),
)
STORED = {
    "chapters": [BOOK.notebook(name) for name in BOOK.chapters()],
    "fits": [ROOT / "data" / f"{name}.csv" for name in FITS],
}
NAMES = ("no AVX-512", "no AVX2", "another BLAS and C library")


def simulated(name: str, folder: Path) -> dict[str, str]:
    """The environment of a processor; the test is skipped where this machine cannot be it."""
    known = processors(folder)
    if name not in known:
        if "AVX" in name:  # nothing to install: then the machine itself is that processor
            pytest.skip(f"this processor has no {name.removeprefix('no ')} to switch off")
        absent("a C compiler", "gcc libc6-dev")
    return os.environ | known[name]


def first_difference(stored: Path, found: bytes) -> str:
    lines = difflib.unified_diff(
        stored.read_text(encoding="utf-8").splitlines(), found.decode().splitlines(), "", "", n=0
    )
    return f"{stored.name}: " + " / ".join(line[:160] for line in list(lines)[3:5])


@pytest.mark.processes
@pytest.mark.parametrize(
    "part, name",
    [("fits", OF_FITS)]
    + [
        pytest.param(part, name, marks=pytest.mark.nightly)
        for part in ("fits", "chapters")
        for name in NAMES
    ],
)
def test_every_stored_output_is_that_of_another_processor(part, name, tmp_path):
    """A pull request compares the chapters by nbval alone, on a processor of these, and the fits on
    one that differs in every part; each part by itself is for the night.
    """
    command = [sys.executable, str(ROOT / "tests" / "processors.py"), str(tmp_path), part]
    done = subprocess.run(
        command, env=simulated(name, tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = {path: (tmp_path / path.name).read_bytes() for path in STORED[part]}
    moved = [path for path, content in found.items() if content != path.read_bytes()]
    assert [first_difference(path, found[path]) for path in moved] == []


PROBE = """
import math, numpy
x = numpy.random.default_rng(0).random((80, 80))
print([math.exp(v) for v in x[0]])
print(numpy.linalg.solve(x, x[0]).tolist())
print([1 for name, has in numpy._core._multiarray_umath.__cpu_features__.items() if has])
"""


PARTS = ("C library", "BLAS", "vector paths")
REPLACED = {
    "no AVX-512": {"vector paths"},
    "no AVX2": {"vector paths"},
    "another BLAS and C library": {"C library", "BLAS"},
    OF_FITS: {*PARTS},
}
"""What is certain to differ, whichever processor this is."""


def probed(environment: dict[str, str]) -> list[str]:
    """A line for each part: what it gives, or has, to the last digit."""
    command = [sys.executable, "-W", "error", "-c", PROBE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.processes
@pytest.mark.parametrize("name", REPLACED)
def test_a_simulated_processor_differs_from_this_one(name, tmp_path):
    lines = zip(PARTS, probed(dict(os.environ)), probed(simulated(name, tmp_path)), strict=True)
    assert {part for part, own, other in lines if own != other} >= REPLACED[name]


def test_only_what_numpy_found_is_switched_off():
    known = np.show_config(mode="dicts")["SIMD Extensions"]
    assert set(vector_paths()) <= set(known.get("found", ()))
    assert not set(vector_paths()) & set(known.get("not found", ()))


@pytest.mark.processes
def test_the_other_c_library_moves_a_last_digit_and_keeps_exact_results(tmp_path):
    if other_libm(tmp_path) is None:
        absent("a C compiler", "gcc libc6-dev")
    script = "import math; print(math.pow(2, 10), math.log(1.0), [math.exp(k) for k in range(9)])"
    environment = os.environ | {"LD_PRELOAD": str(tmp_path / "other_libm.so")}
    texts = [
        subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        ).stdout
        for env in (dict(os.environ), environment)
    ]
    assert texts[0] != texts[1]
    assert texts[0].split("[")[0] == texts[1].split("[")[0] == "1024.0 0.0 "
