"""Other processors, simulated on this one: `processors.py FOLDER chapters fits` runs all chapters
and all fits on the processor that the environment describes, and writes into the folder what they
give. What chapters and fits have found in the tables they find once.

NumPy's vector paths, OpenBLAS's kernels and the C library's functions are each chosen by what the
processor can do, and each can be told, before it is loaded, to do with less.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_AVX2 = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable"


def vector_paths() -> list[str]:
    """The vector instructions of this processor that NumPy can do without, by NumPy's names: one
    that the processor lacks cannot be switched off.
    """
    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))


OF_NBVAL = "no AVX2"
"""The processor on which nbval runs the chapters: it needs no compiler and no AVX-512."""
OF_FITS = "no AVX2, and another BLAS and C library"
"""The processor on which a pull request fits anew: it differs from this one in each part."""


def without_avx2() -> dict[str, str]:
    """The environment of a processor without vector paths; empty where this one has none, and
    nbval then runs on what there is.
    """
    found = vector_paths()
    if not found:
        return {}
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": WITHOUT_AVX2,
    }


def processors(folder: Path) -> dict[str, dict[str, str]]:
    """The environment that simulates each processor that differs from this one.

    Where there is no vector path to switch off, or no compiler, that processor is left out.
    """
    simulated = {}
    if plain := without_avx2():
        simulated["no AVX2"] = plain
    if wide := [n for n in vector_paths() if n.startswith("AVX512") or n == "X86_V4"]:
        simulated["no AVX-512"] = {
            "NPY_DISABLE_CPU_FEATURES": " ".join(wide),
            "OPENBLAS_CORETYPE": "Haswell",
        }
    if library := other_libm(folder):
        other = {"OPENBLAS_CORETYPE": "Prescott", "LD_PRELOAD": str(library)}
        simulated["another BLAS and C library"] = other
        if plain:
            simulated[OF_FITS] = plain | other
    return simulated


def other_libm(folder: Path) -> Path | None:
    """The C library of `fixtures/other_libm.c`, or None where there is no compiler."""
    compiler, library = shutil.which("cc"), folder / "other_libm.so"
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    source = ROOT / "tests" / "fixtures" / "other_libm.c"
    options = ["-O2", "-shared", "-fPIC", "-fno-builtin", "-o", str(library)]
    subprocess.run([compiler, *options, str(source), "-lm", "-ldl"], check=True)
    return library


def run_chapters(folder: Path) -> None:
    """Every chapter at its defaults, as a stored notebook."""
    from scaleright.press import Book
    from scaleright.press.execute import Job, run_all

    book = Book(ROOT)
    run_all(
        book,
        [Job(name) for name in book.chapters()],
        1,
        lambda run: (folder / f"{run.job.chapter}.ipynb").write_bytes(run.content),
    )


def run_fits(folder: Path) -> None:
    """Every fitted table, as it is stored."""
    sys.path.insert(0, str(ROOT))
    from refresh.judged import texts

    for name, text in texts().items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")


RUNS = {"chapters": run_chapters, "fits": run_fits}


def main(folder: Path, parts: list[str]) -> None:
    from scaleright import REMEMBERED

    os.environ[REMEMBERED] = str(folder / "remembered")  # of this processor alone
    for part in parts:
        RUNS[part](folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
