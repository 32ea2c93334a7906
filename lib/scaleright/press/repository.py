"""The hosting repository: its address stands in `_config.yml`, and launch buttons and setup cells
follow from it.

What is stored (the setup cell of a notebook) follows `_config.yml` alone, so that a fork's own
tests find the same bytes. The links of a site follow `SCALERIGHT_REPOSITORY` where the build sets
it.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scaleright.files import file_type, parsed, read_text
from scaleright.press import PressError

_FORM = re.compile(r"https://[\w.-]+/[\w.~-]+/[\w.~-]+")


@dataclass(frozen=True)
class Repository:
    """Where the book's source is hosted; an empty address stands for nowhere."""

    url: str
    branch: str = "main"

    @property
    def slug(self) -> str:
        """OWNER/NAME on GitHub, which Binder and Colab ask for; empty elsewhere."""
        host, _, slug = self.url.partition("github.com/")
        return slug if host == "https://" else ""

    @property
    def site(self) -> str:
        """Where GitHub publishes the site of this repository; empty where it is hosted elsewhere.

        >>> Repository("https://github.com/Org/book").site
        'https://org.github.io/book/'
        >>> Repository("https://github.com/org/org.github.io").site
        'https://org.github.io/'
        >>> Repository("https://forge.example/o/r").site
        ''
        """
        owner, _, name = self.slug.partition("/")
        home = f"{owner.lower()}.github.io"
        if not owner:
            return ""
        return f"https://{home}/" if name.lower() == home else f"https://{home}/{name}/"

    def links(self, chapter: str, binder: str = "", colab: str = "") -> dict[str, str]:
        """Addresses that open the stored notebook of a chapter: in Binder, in Colab, and its
        source.

        >>> here = Repository("https://github.com/o/r")
        >>> links = here.links("a", "https://binder.example", "https://colab.example/")
        >>> links["Binder"]
        'https://binder.example/v2/gh/o/r/main?urlpath=lab/tree/notebooks/a.ipynb'
        >>> links["Colab"]
        'https://colab.example/github/o/r/blob/main/notebooks/a.ipynb'
        """
        path, found = f"notebooks/{chapter}.ipynb", {}
        if self.slug and binder:
            found["Binder"] = (
                f"{binder.rstrip('/')}/v2/gh/{self.slug}/{self.branch}?urlpath=lab/tree/{path}"
            )
        if self.slug and colab:
            found["Colab"] = f"{colab.rstrip('/')}/github/{self.slug}/blob/{self.branch}/{path}"
        return found | (
            {"Source": f"{self.url}/blob/{self.branch}/notebooks/text/{chapter}.md"}
            if self.url
            else {}
        )


def settings(root: Path) -> dict[str, Any]:
    """What `_config.yml` says; nothing if there is none.

    Raises
    ------
    FileError, PressError : it is malformed.
    """
    config = root / "_config.yml"
    return _settings(read_text(config, config.name)) if file_type(config) else {}


@functools.lru_cache(maxsize=8)
def _settings(config: str) -> dict[str, Any]:
    found = parsed(config, "YAML", "_config.yml")
    if not isinstance(found, dict):
        raise PressError("_config.yml: expected settings as `name: value`")
    for name, kind in {"repository": dict, "launch_buttons": dict, "bibtex_bibfiles": list}.items():
        if not isinstance(found.get(name) or kind(), kind):
            what = "`name: value` lines" if kind is dict else "a list of files"
            raise PressError(f"_config.yml: {name} = {found[name]!r}: expected {what}")
    return found


def _checked(url: str, where: str) -> str:
    url = url.strip().rstrip("/").removesuffix(".git")
    if url and not _FORM.fullmatch(url):
        raise PressError(
            f"{where} = {url!r}: expected the address of a repository, such as"
            " https://github.com/OWNER/NAME"
        )
    return url


def stored(root: Path) -> Repository:
    """The repository that `_config.yml` names.

    Raises
    ------
    PressError : its address is not that of a repository.
    """
    entry = settings(root).get("repository") or {}
    return Repository(
        _checked(str(entry.get("url") or ""), "_config.yml, repository.url"),
        str(entry.get("branch") or "main"),
    )


def hosting(root: Path) -> Repository:
    """The repository from which the site is built: `SCALERIGHT_REPOSITORY`, else that of
    `_config.yml`.
    """
    known = stored(root)
    return Repository(
        _checked(os.environ.get("SCALERIGHT_REPOSITORY", ""), "SCALERIGHT_REPOSITORY") or known.url,
        known.branch,
    )


def address(root: Path) -> str:
    """Where the site will be found, which only what other sites show of a link needs to know:
    `SCALERIGHT_ADDRESS`, else where its repository publishes; empty if neither is known.

    Raises
    ------
    PressError : what is set is no address.
    """
    known = os.environ.get("SCALERIGHT_ADDRESS", "").strip()
    if known and not re.fullmatch(r"https?://[\w.:-]+(?:/[\w.~/-]*)?", known):
        raise PressError(
            f"SCALERIGHT_ADDRESS = {known!r}: expected an address, such as https://book.example/"
        )
    return f"{known.rstrip('/')}/" if known else hosting(root).site


def setup_source(root: Path) -> str:
    """The code of a notebook's first cell, which brings the library along where a notebook is
    opened alone; empty without an address.
    """
    where = stored(root)
    if not where.url:
        return ""
    return (
        'import importlib.util\n\nif importlib.util.find_spec("scaleright") is None:  # opened'
        " alone, as on Colab: fetch the library with its data\n    %pip install --quiet"
        f" git+{where.url}@{where.branch}"
    )
