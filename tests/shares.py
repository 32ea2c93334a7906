"""How tests are divided among workers."""

from __future__ import annotations

import re


def share(nodeid: str) -> str:
    """What runs on one worker, because its tests share what is dear: the tests of one page of the
    site, else those of one file.
    """
    if nodeid.startswith("tests/test_processors.py"):  # minutes each, and nothing shared
        return nodeid
    page = re.match(r"tests/pages/.*\[(.+?\.html)", nodeid)
    return page[1] if page else nodeid.partition("::")[0]
