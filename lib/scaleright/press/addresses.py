"""Where the files lie that a reader can take along: in `downloads/` of the site, under names that
say page and table. Imports nothing, so that Sphinx learns it at once.
"""

FOLDER = "downloads"
GLOSSARY = "book/glossary"
"""The page whose words the others explain."""
SOCIAL = "social"
REFERENCES = "book/references"


def notebook_file(page: str) -> str:
    """Where the executed notebook of a page lies in the site.

    >>> notebook_file("notebooks/buy_or_rent/all_day")
    'downloads/buy_or_rent-all_day.ipynb'
    """
    return f"{FOLDER}/{page.removeprefix('notebooks/').replace('/', '-')}.ipynb"


def table_file(page: str, name: str) -> str:
    """Where a table of a page lies in the site, without its suffix."""
    return f"{notebook_file(page).removesuffix('.ipynb')}-{name}"


LOOKED_UP = {GLOSSARY, REFERENCES, "book/ledger", "book/status"}
"""Pages that nobody reads from end to end."""
