"""Files that people give: read only where they are what they seem, and written only over files.

Nothing here waits for a pipe or reads a device: what lies at a path is looked at before it is
opened, links followed. Text is UTF-8, with or without a byte order mark. What is given twice, is
no finite number or stands for something elsewhere (the aliases of YAML) is refused, with its line.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scaleright.names import brief, suggestion
from scaleright.numerals import finite, hint

MOST_TEXT, MOST_TABLE = 10_000_000, 200_000_000
"""Bytes of a file that are read, at most: of a text, and of a table."""
_DEEPEST = 100
"""Lists in lists that are read, at most."""
_MOST_POINTS = 1_000
"""Points on a line of TOML, at most."""
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}
_OTHER_FORMS = {
    b"\x1f\x8b": "is compressed (gzip); unpack it first",
    b"PK\x03\x04": "is a ZIP file or a spreadsheet; save it as text (a table as CSV)",
    b"BZh": "is compressed (bzip2); unpack it first",
    b"\xfd7zXZ": "is compressed (xz); unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed (zstd); unpack it first",
    b"PAR1": "is a Parquet file; save it as CSV",
    b"\xff\xfe": "is UTF-16; save it as UTF-8",
    b"\xfe\xff": "is UTF-16; save it as UTF-8",
}
"""How files begin that are no text in UTF-8."""
_SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'", " ": "spaces"}


class FileError(ValueError):
    """A file that is not read or written: which, where, why."""

    def __init__(self, label: str, why: str, line: int | None = None):
        super().__init__(f"{label}{f', line {line}' if line else ''}: {why}")
        self.why, self.line = why, line


# ---- what lies at a path


def file_type(path: Path) -> str:
    """What lies at a path, links followed: "file", "folder", "pipe", "socket", "device"; empty
    where nothing does, or where nobody can look.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def read_bytes(path: Path, label: str = "", most: int = MOST_TEXT) -> bytes:
    """All that a file holds.

    label : what an error calls it, by default its path

    Raises
    ------
    FileError : there is none, it is no regular file, too large, or cannot be read.
    """
    label = label or str(path)
    try:
        if (found := file_type(path)) not in ("", "file"):
            raise FileError(label, f"a {found}; allowed: a file")
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            told = os.fstat(opened)
            if not stat.S_ISREG(told.st_mode):  # it was replaced in between
                raise FileError(label, "no regular file")
            content = (told.st_size <= most and file.read(most + 1)) or b""
        if max(len(content), told.st_size) > most:
            raise FileError(label, f"larger than {most:,} bytes")
    except FileNotFoundError:
        others = path.parent.iterdir() if path.parent.is_dir() else ()
        alike = [of.name for of in others if of.suffix == path.suffix]
        near = f"; {suggestion(path.name, alike)}" if alike else ""
        raise FileError(label, f"no such file{near}") from None
    except OSError as error:
        raise FileError(label, error.strerror or str(error)) from None
    return content


def read_text(path: Path, label: str = "", most: int = MOST_TEXT) -> str:
    """The text of a file, without a byte order mark.

    Raises
    ------
    FileError : as `read_bytes`; it is no text in UTF-8, with the line of the first byte that is
        none.
    """
    label = label or str(path)
    content = read_bytes(path, label, most)
    for start, said in _OTHER_FORMS.items():
        if content.startswith(start):
            raise FileError(label, said)
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise FileError(label, "has a zero byte, so it is no text", line)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        why = f"byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise FileError(label, why, line) from None


# ---- fields and their values


def parsed(text: str, form: str, label: str) -> Any:
    r"""What a text in one of the forms "JSON", "TOML" and "YAML" says.

    Raises
    ------
    FileError : it is malformed, nested too deeply, gives a field twice, has a number that is not
        finite, or an alias.

    >>> parsed("layers: 3", "YAML", "mine.yaml")
    {'layers': 3}
    >>> parsed('{"layers": 3,\n "layers": 4}', "JSON", "mine.json")
    Traceback (most recent call last):
    scaleright.files.FileError: mine.json, line 2: layers stands here twice
    """
    try:
        if form == "YAML":
            return None if (root := yaml_nodes(text, label)) is None else plain(root, label)
        if form == "TOML":
            if any(row.count(".") > _MOST_POINTS for row in text.splitlines()):
                raise RecursionError  # a.a.a.a = 1, which takes its parser the square of its length
            return tomllib.loads(text, parse_float=_number)
        return json.loads(
            text, object_pairs_hook=_once, parse_float=_number, parse_constant=_number
        )
    except json.JSONDecodeError as error:
        raise FileError(
            label, _malformed(form, error.msg, text, error.lineno), error.lineno
        ) from None
    except tomllib.TOMLDecodeError as error:
        said, _, at = str(error).rpartition(" (at ")  # "line 2, column 1)", "end of document)"
        line = int(at[5:].partition(",")[0]) if "," in at else len(text.splitlines())
        raise FileError(label, _malformed(form, said, text, line), line) from None
    except RecursionError:
        raise FileError(label, f"not valid {form}: it is nested too deeply") from None
    except _Wrong as error:
        raise FileError(label, str(error), line_of(text, error.sign, error.times)) from None
    except FileError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise FileError(label, f"not valid {form}: {error}") from None


class _Wrong(ValueError):
    """A value that is refused while it is parsed, and the sign by which its line is found."""

    def __init__(self, sign: str, why: str, times: int = 1):
        super().__init__(why)
        self.sign, self.times = sign, times


def _number(text: str) -> float:
    try:
        return finite(text.replace("_", ""))
    except ValueError:
        raise _Wrong(text, f"{brief(text)} is no finite number") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON file, whose fields may stand there once."""
    if len(found := dict(pairs)) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Wrong(json.dumps(twice), f"{twice} stands here twice", names.count(twice))
    return found


def _malformed(form: str, said: str, text: str, line: int) -> str:
    """What is wrong on a line of JSON or TOML: the value that is none, or what its parser said."""
    shown = "".join(text.splitlines()[line - 1 : line])
    if said == "Cannot overwrite a value":
        return f"{shown.partition('=')[0].strip()} stands here twice"
    ends = "#" if form == "TOML" else ",}"
    for field, value in re.findall(rf"([\w.-]+)[\"']?\s*[:=]\s*([\w.+-][^{ends}]*)", shown):
        try:
            json.loads(value) if form == "JSON" else tomllib.loads(f"x = {value}")
        except ValueError:
            needs = "needs a number, a text in quotes, true or false"
            return f"{field} = {brief(value.strip())}: {needs}{hint(value)}"
    return f"not valid {form}: {said}"


def line_of(text: str, sign: str, times: int = 1) -> int | None:
    """The last line on which a field or a number stands that stands there so many times; None if
    it stands there more often, so that its line is not sure.
    """
    word = rf"(?<![\w.+-]){re.escape(sign)}(?![\w.])"
    places = [found.start() for found in re.finditer(word, text)]
    return text.count("\n", 0, places[-1]) + 1 if len(places) == times else None


def yaml_nodes(text: str, label: str) -> Any:
    """The nodes of a text in YAML, each with its line; None if it is empty.

    Raises
    ------
    FileError : as `parsed`.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, loader):
            line = event.start_mark.line + 1
            if name := getattr(event, "anchor", None):
                why = f"{'alias' if isinstance(event, yaml.AliasEvent) else 'anchor'} {brief(name)}"
                raise FileError(label, f"{why}: write out what it stands for", line)
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise FileError(label, "not valid YAML: it is nested too deeply", line)
        root = yaml.compose(text, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or " ".join(str(error).split())
        raise FileError(label, f"not valid YAML: {said}", mark and mark.line + 1) from None
    _check_keys(root, label)
    return root


def _check_keys(node: Any, label: str) -> None:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_keys(item, label)
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                twice = isinstance(key, yaml.ScalarNode)
                why = f"{key.value} stands here twice" if twice else "the name of a field is a text"
                raise FileError(label, why, key.start_mark.line + 1)
            seen.add(key.value)
            _check_keys(value, label)


def plain(node: Any, label: str) -> Any:
    """The value of a node: mappings, lists, texts, numbers, truth values, days.

    Raises
    ------
    FileError : a value that is none of these, or no finite number; with its line.
    """
    import yaml

    return _plain(node, label, yaml.constructor.SafeConstructor())


def _plain(node: Any, label: str, constructor: Any) -> Any:
    import yaml

    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        return {key.value: _plain(value, label, constructor) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return [_plain(item, label, constructor) for item in node.value]
    try:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.YAMLError(f"{node.tag} is not read")
        value = constructor.construct_object(node)
    except (ValueError, LookupError, AttributeError, yaml.YAMLError) as error:
        said = getattr(error, "problem", None) or error
        raise FileError(label, f"{brief(node.value)}: {said}", line) from None
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise FileError(label, f"{brief(node.value)} is no finite number", line)
    return value


# ---- tables


class Table(NamedTuple):
    """The cells of a CSV file as text; the first of `rows` stands on line 2."""

    header: list[str]
    rows: list[list[str]]

    def ragged(self) -> Iterator[tuple[int, str]]:
        """The lines that have more or fewer cells than the header, and what to say of each."""
        width = len(self.header)
        for line, row in enumerate(self.rows, 2):
            if len(row) != width:
                said = f"has {len(row)} cells; the header has {width}" if any(row) else "is empty"
                yield line, said


def read_table(path: Path, label: str = "", most_rows: int | None = None) -> Table:
    """The header and the rows of a CSV file, each on a line of its own.

    Raises
    ------
    FileError : as `read_text`; it is empty, has a quote that is not closed, cells apart by
        something else than commas, a column twice, or too many rows.
    """
    label = label or str(path)
    text = read_text(path, label, MOST_TABLE).rstrip()
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[list[str]] = []
    try:
        for number, row in enumerate(reader, 1):
            if reader.line_num != number:
                raise FileError(label, "a quoted cell goes on over the next line", number)
            if most_rows is not None and number > most_rows + 1:
                raise FileError(label, f"has more than {most_rows:,} rows")
            lines.append(row)
    except csv.Error as error:
        open_quote = "unexpected end of data" in str(error)
        why = "a quote is opened and not closed" if open_quote else error
        raise FileError(label, f"not a CSV file: {why}", len(lines) + 1) from None
    if not lines:
        raise FileError(label, "not a CSV file: it is empty")
    header = [name.strip() for name in lines[0]]
    if len(header) == 1 and (by := next((c for c in _SEPARATORS if c in header[0]), "")):
        why = f"columns are separated by {_SEPARATORS[by]}; a CSV file has commas"
        raise FileError(label, why, 1)
    folded = [name.casefold() for name in header]
    for name in header:
        if (times := folded.count(name.casefold())) > 1:
            raise FileError(label, f"column {name or brief(name)} stands there {times} times", 1)
    return Table(header, lines[1:])


# ---- writing


def write_whole(path: Path, content: bytes | str) -> bool:
    """Write a file completely or not at all; a file that already says this is left alone. Where a
    link leads to a file, that is written.

    Returns
    -------
    Whether the file changed.

    Raises
    ------
    FileError : something stands there that is no file.
    """
    content = content.encode() if isinstance(content, str) else content
    path = _replaceable(path)
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part(path)
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return True


def _part(path: Path) -> Path:
    """Where a file is written before it takes its place."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _replaceable(path: Path) -> Path:
    """The path of the file that may be written at a path; raises FileError where none may."""
    found, link = file_type(path), path.is_symlink()
    if found not in ("", "file") or (link and not found):
        what = f"a {found}" if found else "a link to nothing"
        raise FileError(str(path), f"{what}, which is not replaced; allowed: a file")
    return path.resolve() if link else path


def require_writable(path: Path, option: str) -> None:
    """Refuse a path at which no file can be written, before the work whose result it is to hold;
    its folder is made.

    Raises
    ------
    FileError : says the option that gave the path, and why.
    """
    try:
        part = _part(_replaceable(path))
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        part.unlink()
    except (OSError, ValueError) as error:
        at_a_file = isinstance(error, FileExistsError)  # where a folder would have to be
        why = os.strerror(errno.ENOTDIR) if at_a_file else getattr(error, "strerror", None)
        why = why or getattr(error, "why", error)
        raise FileError(f"{option} {brief(str(path))} cannot be written", str(why)) from None
