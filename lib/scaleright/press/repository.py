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

    def links(self, chapter: str, binder: str = "", colab: str = "") -> dict[str, str]:
        """Addresses that open the stored notebook of a chapter: in Binder, in Colab, and its
        source.

        >>> links = Repository("https://github.com/o/r").links("a", "https://binder.example", "https://colab.example/")
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


@functools.lru_cache(maxsize=8)
def _stored(config: str) -> Repository:
    import yaml

    try:
        settings = yaml.load(config, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise PressError(f"_config.yml: {error}") from None
    entry = (settings.get("repository") if isinstance(settings, dict) else None) or {}
    return Repository(
        _checked(entry.get("url") or "", "_config.yml, repository.url"),
        entry.get("branch") or "main",
    )


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
    config = root / "_config.yml"
    return _stored(config.read_text(encoding="utf-8")) if config.is_file() else Repository("")


def hosting(root: Path) -> Repository:
    """The repository from which the site is built: `SCALERIGHT_REPOSITORY`, else that of
    `_config.yml`.
    """
    known = stored(root)
    return Repository(
        _checked(os.environ.get("SCALERIGHT_REPOSITORY", ""), "SCALERIGHT_REPOSITORY") or known.url,
        known.branch,
    )


def setup_source(root: Path) -> str:
    """The code of a notebook's first cell, which brings the library along where a notebook is
    opened alone; empty without an address.
    """
    url = stored(root).url
    if not url:
        return ""
    return (
        'import importlib.util\n\nif importlib.util.find_spec("scaleright") is None:  # opened'
        f" alone, as on Colab: fetch the library with its data\n    %pip install --quiet git+{url}"
    )
