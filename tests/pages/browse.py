"""What the tests of the built site share: its pages, and a page in the browser."""

from __future__ import annotations

import os
import re
import shutil
from html import unescape
from pathlib import Path

import yaml
from scaleright.press import Book, scenarios

ROOT = Path(__file__).resolve().parents[2]
CONTENTS = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())
LISTED = [f"{entry['file']}.html" for part in CONTENTS["parts"] for entry in part["chapters"]]
CHAPTERS = [name for name in LISTED if name.startswith("notebooks/")]
PAGES = [f"{CONTENTS['root']}.html", *LISTED, "search.html"]
SCENARIOS = {f"{scenario.page}.html": scenario for scenario in scenarios.read(Book(ROOT))}
ONE_EACH = list({scenario.chapter: page for page, scenario in SCENARIOS.items()}.values())
CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
OFFLINE = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Visit:
    """A page in the browser and all that went wrong on it."""

    def __init__(self, browser, site: str, width: int = 1280, mode: str = "light"):
        self.site, self.troubles = site, []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=mode, reduced_motion="reduce"
        )
        # Ends only a test that hangs: on a busy machine a page may take a minute.
        self.context.set_default_timeout(600_000)
        self.context.add_init_script(path=Path(__file__).with_name("probes.js"))
        self.page = self.context.new_page()
        self.page.on(
            "console",
            lambda m: (
                m.type in ("error", "warning")
                and self.troubles.append(f"console {m.type}: {m.text}")
            ),
        )
        self.page.on("pageerror", lambda error: self.troubles.append(f"uncaught: {error}"))
        self.page.on(
            "requestfailed",
            lambda r: (
                r.failure != "net::ERR_ABORTED"  # the window has gone on to another page
                and self.troubles.append(f"failed: {r.url} {r.failure}")
            ),
        )
        self.page.on(
            "response", lambda r: r.status >= 400 and self.troubles.append(f"{r.status}: {r.url}")
        )
        self.page.on(
            "request",
            lambda r: (
                r.url.startswith((site, "data:", "blob:"))
                or self.troubles.append(f"outside: {r.url}")
            ),
        )

    def open(self, name: str):
        self.page.goto(self.site + name, wait_until="load")
        if name == "index.html":  # it only points to the first page
            self.page.wait_for_url(self.site + PAGES[0])
        self.page.evaluate("window.scaleright.ready")
        self.page.evaluate("window.MathJax?.startup?.promise")
        self.page.evaluate(
            "document.querySelectorAll('details').forEach((d) => { d.open = true; })"
        )
        self.page.evaluate("probe.settled()")
        return self

    def anew(self, name: str, width: int = 1280, mode: str = "light"):
        """Open a page as on a first visit, by a reader with this screen and preference."""
        if self.page.url.startswith(self.site):
            self.page.evaluate("localStorage.clear()")
            self.page.goto("about:blank")
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=mode, reduced_motion="reduce")
        self.troubles.clear()
        return self.open(name)

    def again(self, mode: str, width: int):
        """The same page in this mode and of this width, at its defaults."""
        other = self.page.viewport_size["width"] != width
        if other:
            self.page.set_viewport_size({"width": width, "height": 800})
        if self.ask("probe.back", mode) or other:
            self.ask("probe.settled()")
        return self

    def ask(self, script: str, argument=None):
        return self.page.evaluate(script, argument)

    def controls(self) -> dict[str, dict]:
        return self.ask("Object.fromEntries(window.scaleright.page.controls)")

    def address(self) -> str:
        """Its address, once the page has written the reader's case there."""
        self.ask("window.scaleright.page.remembered")
        return self.page.url

    def set(self, values: dict) -> None:
        self.ask("(values) => window.scaleright.set(values)", values)


def undrawn(page) -> None:
    """Let a page do without the scripts that draw its charts and formulas."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setBlockedURLs", {"urls": ["*/charts.js*", "*/mathjax/*"]})


def stir(opened: Visit) -> None:
    """Do what a reader does who looks around: scroll, and turn the page dark and light."""
    opened.page.mouse.wheel(0, 5000)
    for _ in range(2):
        opened.page.click(".mode")
    opened.ask("probe.settled()")


def links(html: Path, name: str, part: str) -> dict[str, str]:
    """The links within a part of a page, by their words."""
    text = re.search(part, (html / name).read_text(encoding="utf-8"), re.DOTALL)[1]
    return {
        unescape(re.sub(r"<[^>]+>", "", words)).strip(): unescape(address)
        for address, words in re.findall(r'<a [^>]*?href="([^"]+)"[^>]*>(.*?)</a>', text)
    }


def beside(html: Path, name: str, address: str) -> Path:
    """The file of the site to which a page's link leads."""
    return (html / name).parent.joinpath(address).resolve()
