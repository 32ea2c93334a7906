"""Static pictures of charts, for readers without scripts: each chart at its page's case, as SVG.

A picture is named by its chart's content, so that pages share it and a build draws only new ones.
They are drawn beside the rendering of the site, by a process of its own.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scaleright.files import write_whole
from scaleright.outputs import PAGE_MIME, VEGALITE_MIME
from scaleright.press import Book
from scaleright.press.execute import carried
from scaleright.press.processes import follow, sent_to

FOLDER = "charts"
_FIGURE = re.compile(r'<figure class="sr-chart" id="sr-(\w+)"')
_UNSEEN = re.compile(r' (?:aria-[a-z]+|role|class)="[^"]*"')
"""What a picture does not need: its text alternative is the page's."""
_PLACES = re.compile(r'(?<= )(?:d|transform|[xy][12]?|width|height)="[^"]*"')
_LONG = re.compile(r"(\.\d)\d+")
"""A place has no more than a tenth of a pixel."""
_FRAME = re.compile(r'width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2"')
_ASIDE = 26
"""Room at either side [px]: the reader's font may be wider than the one that was measured."""


def _form() -> str:
    """What else than its chart a picture depends on."""
    return f"{importlib.metadata.version('vl-convert-python')}-{_ASIDE}"


def charts(notebook: Mapping[str, Any]) -> dict[str, dict]:
    """The specifications of a notebook's charts, by the names of their pictures."""
    found = {}
    for output in carried(notebook, VEGALITE_MIME):
        found |= named("".join(output["data"].get(PAGE_MIME, "")), output["data"][VEGALITE_MIME])
    return found


def named(markup: str, spec: dict) -> dict[str, dict]:
    """The specification of a chart by the name of its picture, if its markup has one."""
    name = _FIGURE.search(markup)
    return {name[1]: spec} if name else {}


def beside(markup: str, page: str) -> str:
    """The markup of a chart with its picture, which only a reader without scripts loads."""
    if name := _FIGURE.search(markup):
        address = f"{'../' * page.count('/')}{FOLDER}/{name[1]}.svg"
        still = f'<noscript><img class="sr-still" src="{address}" alt="" loading="lazy"></noscript>'
        return markup.replace('<p class="sr-alt">', still + '<p class="sr-alt">', 1)
    return markup


def picture(spec: dict) -> str:
    """A chart as SVG.

    >>> bars = {"mark": "bar", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
    >>> picture(bars)[:4]
    '<svg'
    """
    import vl_convert

    plain = _UNSEEN.sub("", vl_convert.vegalite_to_svg(spec))
    return _FRAME.sub(_roomy, _PLACES.sub(lambda places: _LONG.sub(r"\1", places[0]), plain), 1)


def _roomy(frame: re.Match[str]) -> str:
    width, height = int(frame[1]) + 2 * _ASIDE, frame[2]
    return f'width="{width}" height="{height}" viewBox="{-_ASIDE} 0 {width} {height}"'


@contextmanager
def drawn(
    book: Book, notebooks: Iterable[Path], others: Mapping[str, dict] | None = None
) -> Iterator[dict[str, bytes]]:
    """The pictures of all charts of executed notebooks, and of others by their names, drawn while
    the block runs: files of the site by their paths, complete when it is left.

    Raises
    ------
    PressError : a chart could not be drawn; what was said follows.
    """
    home = book.build / FOLDER / _form()
    wanted = dict(others or {})
    for path in notebooks:
        wanted |= charts(json.loads(path.read_bytes()))
    for other in home.parent.glob("*/*.svg"):
        if other.parent != home or other.stem not in wanted:
            other.unlink()
    missing = {name: spec for name, spec in wanted.items() if not (home / f"{name}.svg").is_file()}
    files: dict[str, bytes] = {}
    if missing:
        with sent_to(__name__, str(home), failed="drawing charts failed") as send:
            send(missing)
            yield files
    else:
        yield files
    files |= {f"{FOLDER}/{name}.svg": (home / f"{name}.svg").read_bytes() for name in wanted}


def main() -> None:
    """Draw what the build sends."""
    _, given = follow()
    for name, spec in next(given).items():
        write_whole(Path(sys.argv[3]) / f"{name}.svg", picture(spec))
