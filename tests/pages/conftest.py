"""The built site in a real browser with every outside host unreachable.

The site is brought up to date by `scaleright book` first (seconds if nothing changed);
`SCALERIGHT_SITE` names another built site to test instead. Without a browser the tests are skipped,
except where `CI` is set.
"""

from __future__ import annotations

import functools
import http.server
import threading

import pytest
from absent import absent
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
        absent("Chromium", "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=OFFLINE)
        yield chromium
        chromium.close()


class Tab:
    """The one window of a worker, in which its tests visit one page after the other: a window and a
    page cost more than most of what is asked of them.
    """

    def __init__(self, browser, site: str):
        self.browser, self.site = browser, site
        self.visit, self.looked_at = None, ""

    def anew(self, name: str, width: int = 1280, mode: str = "light") -> Visit:
        self.visit, self.looked_at = self.visit or Visit(self.browser, self.site), ""
        return self.visit.anew(name, width, mode)

    def look(self, name: str, width: int = 1280, mode: str = "light") -> Visit:
        if name != self.looked_at:
            self.anew(name, width)
            self.looked_at = name
        return self.visit.again(mode, width)

    def close(self) -> None:
        if self.visit:
            self.visit.context.close()
        self.visit, self.looked_at = None, ""


@pytest.fixture(scope="session")
def window(browser, site):
    tab = Tab(browser, site)
    yield tab
    tab.close()


@pytest.fixture
def tab(window, request):
    failed = request.session.testsfailed
    yield window
    if request.session.testsfailed > failed:  # whatever it has left is not the next test's
        window.close()


@pytest.fixture
def look(tab):
    """The page of that name, opened once for all tests in a row that ask for it, at its defaults:
    look(name, width, mode).
    """
    return tab.look


@pytest.fixture
def visit(tab):
    """The page of that name, opened anew: visit(name, width, mode)."""
    return tab.anew
