"""Scenarios: named cases of a chapter, declared in `book/scenarios.yml`, run beside it and
published beneath it.

Each entry names its chapter, itself, a title, one line why, and the parameters that differ from the
chapter's defaults. Values are checked as those of the command line are, before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scaleright.files import FileError, file_type, plain, read_text, yaml_nodes
from scaleright.names import suggestion
from scaleright.parameters import ParameterError, validate
from scaleright.press import Book, PressError
from scaleright.press.execute import Job
from scaleright.press.texts import declared

FILE = "book/scenarios.yml"
_KEYS = ("chapter", "name", "title", "why", "parameters")


@dataclass(frozen=True)
class Scenario:
    """One entry of the file; `line` is where it starts, `lines` where each of its parameters
    stands.
    """

    chapter: str
    name: str
    title: str
    why: str
    parameters: Mapping[str, Any]
    line: int = 0
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def page(self) -> str:
        """Its page beneath that of the chapter, without a suffix."""
        return f"notebooks/{self.chapter}/{self.name}"


def read(book: Book, name: str = FILE, chapter: str = "") -> list[Scenario]:
    """The book's scenarios in the order of the file, their form checked; none if there is no file.

    chapter : of all entries, where they do not name one each

    Raises
    ------
    FileError, PressError : no file in YAML; not a list, a key that is missing or unknown, or a
        name that is taken; names the line.
    """
    path = book.root / name
    if not file_type(path):
        return []
    import yaml

    root = yaml_nodes(read_text(path, name), name)
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise PressError(f"{name}: expected a list of entries with {', '.join(_KEYS)}")
    found = [_entry(node, name, chapter) for node in root.value]
    seen: dict[str, int] = {}
    for scenario in found:
        if first := seen.setdefault(scenario.page, scenario.line) - scenario.line:
            where = (
                f"{scenario.chapter} has a scenario {scenario.name!r} on line"
                f" {scenario.line + first}"
            )
            raise PressError(f"{name}, line {scenario.line}: {where}")
    return found


def _entry(node: Any, file: str, chapter: str) -> Scenario:
    import yaml

    wanted = [key for key in _KEYS if key != "chapter" or not chapter]

    def fail(reason: str, at: Any = node) -> None:
        raise PressError(f"{file}, line {at.start_mark.line + 1}: {reason}")

    def keys(mapping: Any, what: str) -> dict[str, Any]:
        if not isinstance(mapping, yaml.MappingNode) or not mapping.value:
            fail(f"expected {what}", mapping)
        return {key.value: (key, value) for key, value in mapping.value}

    given = keys(node, f"an entry with {', '.join(wanted)}")
    for name, (key, _) in given.items():
        if name not in wanted:
            fail(f"unknown key {name!r}; {suggestion(name, wanted)}", key)
    if missing := [name for name in wanted if name not in given]:
        fail(f"the entry lacks {', '.join(missing)}")
    texts = {name: plain(given[name][1], file) for name in wanted[:-1]}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            fail(f"{name} = {text!r}: needs a text", given[name][1])
    if not re.fullmatch(r"[a-z][a-z0-9_]*", texts["name"]):
        fail(
            f"name = {texts['name']!r}: becomes an address, so lower-case letters, digits and _"
            " only",
            given["name"][1],
        )
    values = keys(given["parameters"][1], "parameters as name: value")
    parameters = {name: plain(value, file) for name, (_, value) in values.items()}
    lines = {name: key.start_mark.line + 1 for name, (key, _) in values.items()}
    texts |= {"chapter": chapter} if chapter else {}
    return Scenario(**texts, parameters=parameters, line=node.start_mark.line + 1, lines=lines)


def jobs(book: Book, scenarios: Iterable[Scenario]) -> list[Job]:
    """The runs of scenarios, in their order, with their values in their types.

    Raises
    ------
    PressError : unknown chapters, parameters or values; each with its line, what is allowed and the
        nearest valid choice.
    """
    ready, problems = [], []
    for scenario in scenarios:
        try:
            values = validate(declared(scenario.chapter, book), scenario.parameters)
            ready.append(Job(scenario.chapter, values, scenario.name))
        except ParameterError as error:
            problems += located(scenario, error.problems)
        except (PressError, FileError) as error:
            problems.append(f"{FILE}, line {scenario.line}, scenario {scenario.name}: {error}")
    if problems:
        raise PressError("\n".join(problems))
    return ready


def located(scenario: Scenario, problems: Iterable[str], file: str = FILE) -> list[str]:
    """What is wrong with an entry, each with the line that says it."""
    found = []
    for problem in problems:
        line = scenario.lines.get(re.split(r"\W", problem, maxsplit=1)[0], scenario.line)
        found.append(f"{file}, line {line}, scenario {scenario.name}: {problem}")
    return found
