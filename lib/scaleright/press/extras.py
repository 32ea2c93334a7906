"""What only some commands need: the packages of an extra of this one, as `pyproject.toml` declares
them.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires, version

from scaleright.press import PressError

PACKAGE = "scaleright"


def require(extra: str, command: str) -> None:
    """Refuse a command whose packages are not installed, before it does any work.

    Raises
    ------
    PressError : names those that are missing or of a version that does not do, and what installs
        them.
    """
    if missing := [told for told in _declared(extra) if not _has(told)]:
        names = ", ".join(sorted(missing, key=str.casefold))
        raise PressError(f"scaleright {command} needs {names}: pip install '{PACKAGE}[{extra}]'")


def _declared(extra: str) -> list[str]:
    """The requirements of an extra, without their markers; none of a package that is not installed,
    such as a folder on PYTHONPATH.
    """
    from packaging.requirements import Requirement

    try:
        lines = requires(PACKAGE) or ()
    except PackageNotFoundError:
        return []
    return [
        f"{of.name}{of.specifier}"
        for of in map(Requirement, lines)
        if of.marker and "extra" in str(of.marker) and of.marker.evaluate({"extra": extra})
    ]


def _has(requirement: str) -> bool:
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    try:
        return wanted.specifier.contains(version(wanted.name), prereleases=True)
    except PackageNotFoundError:
        return False
