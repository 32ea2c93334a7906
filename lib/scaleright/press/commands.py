"""Commands that refuse what can only be a slip, and what only some of them need: the packages of an
extra of this one, as `pyproject.toml` declares them. Nothing heavy is imported, so that help stays
instant.
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import click

from scaleright.names import brief, suggestion
from scaleright.press import PressError


class Command(click.Command):
    """A command that refuses an empty value, and an option given twice where only one value can
    count.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What is left of the words of a command line."""
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        for option, times in Counter(order).items():
            if option.name and values.get(option.name) == "":
                raise click.UsageError(f"{option.opts[0]} is empty; give a value", ctx)
            if isinstance(option, click.Option) and times > 1 and not _takes_more(option):
                raise click.UsageError(
                    f"{option.opts[0]} is given {times} times; give it once", ctx
                )
        return super().parse_args(ctx, args)


def _takes_more(option: click.Option) -> bool:
    return option.multiple or option.is_flag or option.count


class Group(click.Group):
    """A group of such commands that offers the nearest name for an unknown one."""

    command_class = Command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first word."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            ctx.fail(f"No such command {brief(args[0])}; {suggestion(args[0], known)}")
        return super().resolve_command(ctx, args)


Group.group_class = Group


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
