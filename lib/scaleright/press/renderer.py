"""The process that renders the site: jupyter-book, in a process that ends with the build.

It holds the build's lock until the last of the processes among which Sphinx shares its work has
ended, so that none of them can write into the pages of another build.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run jupyter-book with the arguments that come after those of a `Child`."""
    from scaleright.press.processes import follow

    follow()
    from jupyter_book.cli.main import main as jupyter_book

    jupyter_book(sys.argv[3:], prog_name="jupyter-book")


if __name__ == "__main__":
    main()
