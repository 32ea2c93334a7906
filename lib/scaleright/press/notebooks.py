"""Stored notebooks: the executed chapters that are committed, opened by Binder and Colab and
compared by nbval.
"""

from __future__ import annotations

from scaleright.files import write_whole
from scaleright.press import Book


def outdated(book: Book) -> list[str]:
    """Chapters whose stored notebook is not the one that was last executed, and stored ones without
    a chapter.
    """
    chapters = book.chapters()
    differing = [
        c
        for c in chapters
        if not book.notebook(c).is_file()
        or book.notebook(c).read_bytes() != book.executed(c).read_bytes()
    ]
    return sorted(
        differing
        + [
            path.stem
            for path in (book.root / "notebooks").glob("*.ipynb")
            if path.stem not in chapters
        ]
    )


def store(book: Book) -> list[str]:
    """Store the executed chapters; a stored notebook whose chapter is gone is deleted.

    Returns
    -------
    Names of the notebooks that changed.
    """
    changed = outdated(book)
    for name in changed:
        if name in book.chapters():
            write_whole(book.notebook(name), book.executed(name).read_bytes())
        else:
            book.notebook(name).unlink()
    return changed
