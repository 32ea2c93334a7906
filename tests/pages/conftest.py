"""The built site in a real browser with every outside host unreachable.

The site is brought up to date by `scaleright book` first (seconds if nothing changed);
`SCALERIGHT_SITE` names another built site to test instead. Without a browser the tests are skipped,
except where `CI` is set.
"""

from __future__ import annotations

import functools
import http.server
import os
import threading

import pytest
from browse import CHROMIUM, OFFLINE, Visit


@pytest.fixture(scope="session")
def site(html) -> str:
    """The address of the site, served on this machine."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(quiet, directory=str(html))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser():
    if not CHROMIUM:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed: apt-get install chromium", pytrace=False)
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def look(browser, site):
    """A page for tests that only look at it, opened once: look(name, width, mode)."""
    made = {}

    def start(name: str, width: int = 1280, mode: str = "light") -> Visit:
        if (name, width, mode) not in made:
            made[name, width, mode] = Visit(browser, site, width, mode).open(name)
        return made[name, width, mode]

    yield start
    for one in made.values():
        one.context.close()


@pytest.fixture
def visit(browser, site):
    """A page for a test that works with it, opened anew: visit(name, width, mode)."""
    made = []

    def start(name: str, width: int = 1280, mode: str = "light") -> Visit:
        made.append(Visit(browser, site, width, mode))
        return made[-1].open(name)

    yield start
    for one in made:
        one.context.close()
