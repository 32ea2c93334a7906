"""The process that renders the site: jupyter-book, in a process that ends with the build.

It holds the build's lock until the last of the processes among which Sphinx shares its work has
ended, so that none of them can write into the pages of another build.
"""

from __future__ import annotations

from importlib import import_module


def main() -> None:
    """Run jupyter-book with the arguments that the build sends when the stage is set; what it takes
    to begin is imported meanwhile.
    """
    from scaleright.press.processes import follow

    _, given = follow()
    from jupyter_book.cli.main import main as jupyter_book

    for name in ("jupyter_book.sphinx", "myst_nb.sphinx_ext", "scaleright.press.sphinx_site"):
        import_module(name)
    jupyter_book(next(given), prog_name="jupyter-book")
