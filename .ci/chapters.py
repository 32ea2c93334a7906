"""Format the code cells of chapters as ruff formats the library: `chapters.py [--check]`.

Only cells change; the rest of a text, its jupytext header too, stays as it is. With `--check`
nothing is written, and the exit code says whether something would have been.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
CELL = re.compile(
    r"^(?P<head>```\{code-cell\}[^\n]*\n(?:(?::[^\n]*\n)+\n|---\n.*?\n---\n)?)(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


def formatted(texts: dict[Path, str]) -> dict[Path, str]:
    """The texts with their code cells formatted, all by one call of ruff.

    Raises
    ------
    SystemExit : a cell is no Python; ruff's words, which name chapter and cell, stand on stderr.
    """
    with TemporaryDirectory() as folder:
        place = {path: Path(folder, path.stem) for path in texts}
        for path, text in texts.items():
            place[path].mkdir()
            for number, cell in enumerate(CELL.finditer(text), 1):
                if not cell["code"].startswith("%%"):  # a sentence, or another magic
                    (place[path] / f"cell_{number}.py").write_text(cell["code"])
        settings = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
        ruff = [sys.executable, "-m", "ruff", "format", "--quiet", *settings, "."]
        if code := subprocess.run(ruff, cwd=folder, check=False).returncode:
            sys.exit(code)
        return {path: _spliced(text, place[path]) for path, text in texts.items()}


def _spliced(text: str, folder: Path) -> str:
    numbers = iter(range(1, text.count("```") + 1))

    def code(cell: re.Match[str]) -> str:
        formatted = folder / f"cell_{next(numbers)}.py"
        return (
            cell["head"] + (formatted.read_text() if formatted.exists() else cell["code"]) + "```"
        )

    return CELL.sub(code, text)


def main(check: bool) -> int:
    """Format the chapters of the book, or say which are not."""
    texts = {path: path.read_text() for path in sorted((ROOT / "notebooks/text").glob("*.md"))}
    changed = {path: new for path, new in formatted(texts).items() if new != texts[path]}
    for path, new in changed.items():
        print(f"{'would reformat' if check else 'reformatted'} {path.relative_to(ROOT)}")
        if not check:
            path.write_text(new)
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
