"""Files of the data that hold something else in memory, without a copy of all others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scaleright import catalog
from scaleright.files import FileError


class Spoiled:
    """What the files of a folder hold, by name; what is set is read in place of a file.

    folder : that of the tables
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held: dict[Path, bytes | None] = {}

    def __getitem__(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def __setitem__(self, name: str, content: bytes | None) -> None:
        """Let a file hold something else, or be missing where that is None."""
        assert (self.folder / name).is_file(), name
        self._held[self.folder / name] = content
        catalog.forget()

    def spoil(self, name: str, old: str, new: str) -> None:
        """Put something in place of what a file holds, the first time that it does."""
        text = self[name].decode()
        assert old in text, old
        self[name] = text.replace(old, new, 1).encode()

    def reading(self, read: Callable[..., bytes]) -> Callable[..., bytes]:
        """How a file is read that may be one of these."""

        def held(path: Path, *how: Any, **named: Any) -> bytes:
            if path not in self._held:
                return read(path, *how, **named)
            if (content := self._held[path]) is None:
                raise FileError(named.get("label", how[0] if how else str(path)), "no such file")
            return content

        return held
