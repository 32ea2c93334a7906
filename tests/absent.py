"""What a test needs of the machine and may not find."""

import os
from typing import NoReturn

import pytest


def absent(tool: str, package: str) -> NoReturn:
    """Skip a test for want of a tool, but in CI fail it: `.ci/run` installs every one of them."""
    message = f"{tool} is not installed: apt-get install {package}"
    # a newcomer's machine may lack a browser or a compiler; the one that decides may not
    pytest.fail(message, pytrace=False) if os.environ.get("CI") else pytest.skip(message)
