"""What a page's scripts say, compressed: `charts.js` reads it by the browser's DecompressionStream.

Most of a page is formulas, full of the same few words: compressed, a page is a third as long or
less, however it is served.
"""

import gzip
import json
from base64 import b64decode, b64encode
from typing import Any

PACKED = "application/gzip;base64"
"""The type of a script that is compressed."""


def packed(part: Any) -> str:
    """A part of a script as JSON, compressed.

    >>> unpacked(packed({"name": "q1", "expr": "(a < b)"}))
    {'name': 'q1', 'expr': '(a < b)'}
    """
    text = json.dumps(part, separators=(",", ":"), ensure_ascii=False)
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def unpacked(text: str) -> Any:
    """What a compressed script says."""
    return json.loads(gzip.decompress(b64decode(text)))
