"""Files that are not what they seem: each is refused at once, by file, line and value, at every
door where people give one; and nothing that is no file is written over.
"""

import gzip
import json
import os
import re
import signal
import stat
from pathlib import Path

import pytest
from scaleright import catalog, cli
from scaleright.decisions import plan_workload  # noqa: F401, so that no door waits for imports
from scaleright.files import FileError, write_whole
from scaleright.press import plans, scenarios, sweep
from scaleright.press.pool import Pool
from scaleright.validation import kinds  # noqa: F401, likewise

DOORS = {
    "config.json": ("config.json", ["run", "own", "-p", "model={}"]),
    "toml": ("shape.toml", ["run", "own", "-p", "model={}"]),
    "yaml": ("shape.yaml", ["run", "own", "-p", "model={}"]),
    "trace": ("log.csv", ["plan", "--trace", "{}"]),
    "measurements": ("mine.csv", ["validate", "counts", "{}"]),
    "scenarios": (scenarios.FILE, ["book"]),
    "presets": (plans.FILE, ["plan", "--list"]),
}
"""Where a file is given: its name, and the command that reads it."""
_HEADS = {
    "trace": "timestamp,input_tokens,output_tokens\n",
    "measurements": "model,quantity,published\n",
}


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**34)


_SEEM = {
    "pipe": (os.mkfifo, "a pipe; allowed: a file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "a device; allowed: a file"),
    "nothing": (lambda path: path.symlink_to(os.devnull), "a device; allowed: a file"),
    "folder": (Path.mkdir, "a folder"),
    "huge": (_huge, "larger than"),
    "bytes": (lambda path: path.write_bytes(b"a: 1\n\xe4"), "line 2: byte 0xe4 is not UTF-8"),
    "zeros": (lambda path: path.write_bytes(b"a\n\0"), "line 2: has a zero byte"),
    "packed": (lambda path: path.write_bytes(gzip.compress(b"a")), "is compressed (gzip); unpack"),
    "UTF-16": (lambda path: path.write_bytes("a".encode("utf-16")), "is UTF-16; save it as UTF-8"),
    "sheet": (lambda path: path.write_bytes(b"PK\x03\x04"), "is a ZIP file or a spreadsheet"),
}
"""What may lie at any path, and what is said of it."""

_SHAPE = "layers = 2\nhidden = 64\nheads = 4\nffn = 256\nvocab = 1000\n"
_CONFIG = '{"layers": 2,\n "hidden": 64, "heads": 4,\n "ffn": 256, "vocab": 1000'
_ENTRY = "- chapter: tiny\n  name: busy\n  title: Busy\n  why: So\n  parameters:\n    hours: "
_PLAN = "- name: busy\n  title: Busy\n  why: So\n  parameters:\n    requests_per_day: 5000\n"
_TRACE, _COUNTS = _HEADS["trace"], _HEADS["measurements"]
_BOMB = "a: &a [1]\nb: &b [*a, *a]\nc: [*b, *b]\n"
SAYS = {
    "config.json": {
        '{"layers": 2,\n "layers": 3}': "line 2: layers stands here twice",
        '{"layers": NaN}': "line 1: 'NaN' is no finite number",
        '{"layers":\n 1e999}': "line 2: '1e999' is no finite number",
        '{"layers": nan}': "line 1: layers = 'nan': needs a number",
        '{\n"layers": 2k}': "line 2: layers = '2k': needs a number.*; write the plain number: 2000",
        '{"layers": 5 million}': "layers = '5 million': .*; write the plain number: 5000000",
        '{"layers": "5 million"}': "line 1: layers = '5 million': .*number: 5000000",
        '{"name": "open': "line 1: not valid JSON: Unterminated string",
        "{": "line 1: not valid JSON: Expecting property name",
        "": "line 1: not valid JSON",
        "[1]": r"needs fields and their values, not \[1\]",
        "[" * 100_000: "not valid JSON: it is nested too deeply",
        '{"layers": ' + "9" * 5000 + "}": "not valid JSON: Exceeds the limit",
        _CONFIG + ',\n "kv_heads": -400}': "line 4: kv_heads = -400: allowed: 1 or more",
        _CONFIG + ',\n "depth": 4}': "line 4: unknown field 'depth'",
        '{"model_type": "llama", "hidden_size": 64,\n "num_hidden_layers": -400,'
        ' "vocab_size": 100, "num_attention_heads": 4, "intermediate_size": 256}': (
            "line 2: num_hidden_layers = -400: allowed: 1 or more"
        ),
    },
    "toml": {
        "layers = 2\nlayers = 3": "line 2: layers stands here twice",
        "layers = 2\nlayers = 3\nheads = 4\n": "line 2: layers stands here twice",
        "\nlayers = nan": "line 2: 'nan' is no finite number",
        "layers = 1e999": "line 1: '1e999' is no finite number",
        "layers = 2k": "line 1: layers = '2k': .*; write the plain number: 2000",
        "\nvocab = 128,256\n": "line 2: vocab = '128,256': .*; write the plain number: 128256",
        "vocab = 5 million # or so": "vocab = '5 million': .*; write the plain number: 5000000",
        'name = "open\nlayers = 3': "line 1: not valid TOML",
        "layers: 3": "line 1: not valid TOML",
        ".".join("a" * 400_000) + " = 1": "not valid TOML: it is nested too deeply",
        "a = " + "[" * 400_000: "not valid TOML: it is nested too deeply",
        _SHAPE + "kv_heads = -400": "line 6: kv_heads = -400: allowed: 1 or more",
    },
    "yaml": {
        "layers: 2\nlayers: 3": "line 2: layers stands here twice",
        _BOMB: "line 1: anchor 'a': write out what it stands for",
        "a: *b": "line 1: alias 'b': write out what it stands for",
        "a: 1\n<<: *b": "line 2: alias 'b'",
        "\nlayers: .nan": "line 2: '.nan' is no finite number",
        "layers: 1.0e+999": "line 1: '1.0e[+]999' is no finite number",
        "a: 2026-13-45": "line 1: '2026-13-45': month must be in",
        "a: !!python/name:os.system x": "line 1: 'x': could not determine a constructor",
        "a: !those [1]": "line 1: .*!those is not read",
        "[1]: 2": "line 1: the name of a field is a text",
        "[" * 100_000: "line 1: not valid YAML: it is nested too deeply",
        'name: "open': "line 1: not valid YAML: found unexpected end of stream",
        _SHAPE.replace(" =", ":") + "kv_heads: 2k": "line 6: kv_heads = '2k': .*number: 2000",
    },
    "trace": {
        "": "not a CSV file: it is empty",
        _TRACE: "no trace: it has 0 requests; two are the least",
        _TRACE + "1,2,3\n": "no trace: it has 1 requests; two are the least",
        "a,b\n1,2\n": "line 1: no trace: no column says when",
        "timestamp,input_tokens\n1,2\n": "line 1: no trace: no column says output tokens",
        _TRACE + "1,2,3\n1,2,3\n": "at once",
        _TRACE + "1,2,3\n1\n": "line 3: has 1 cells; the header has 3",
        _TRACE + "1,2,3\n\n2,2,3\n": "line 3: is empty",
        _TRACE + "1,2,3\nsoon,2,3\n": "line 3: timestamp = 'soon': needs seconds or a date",
        _TRACE + "nan,2,3\n": "line 2: timestamp = 'nan': needs seconds or a date",
        _TRACE + "1,2,3\n2,-400,3\n": "line 3: input_tokens = '-400': allowed: 0 or more tokens",
        _TRACE + "1,1e999,3\n": "line 2: input_tokens = '1e999': needs a number of tokens",
        _TRACE + "1,2,nan\n": "line 2: output_tokens = 'nan': needs a number of tokens",
        _TRACE + "1,2k,3\n": "line 2: input_tokens = '2k': .*; write the plain number: 2000",
        _TRACE + "1,5 million,3\n": "= '5 million': .*; write the plain number: 5000000",
        _TRACE + '1,"2,5",3\n': "= '2,5': .*; write the plain number: 2.5",
        _TRACE + '1,2,3\n1,"2,3\n4,5,6\n': "line 3: not a CSV file: a quote is opened and not",
        _TRACE.replace(",", ";") + "1;2;3\n": "line 1: columns are separated by ';'; a CSV file",
        _TRACE.replace(",", "\t"): "line 1: columns are separated by tabs",
        _TRACE.replace("\n", ",Input_Tokens\n"): "line 1: column input_tokens stands there 2 times",
    },
    "measurements": {
        "": "not a CSV file: it is empty",
        "\n\n": "it is empty",
        "model;quantity;published\na;b;1\n": "line 1: columns are separated by ';'",
        "model|quantity|published\na|b|1\n": "line 1: columns are separated by '|'",
        "model quantity published\na b 1\n": "line 1: columns are separated by spaces",
        _COUNTS + '"a,b,1\n': "line 2: not a CSV file: a quote is opened and not closed",
        _COUNTS + '"a"b,b,1\n': "line 2: not a CSV file",
        _COUNTS + '"a\nc",b,1\n': "line 2: a quoted cell goes on over the next line",
        "model,quantity,published,published\n": "line 1: column published stands there 2 times",
        _COUNTS + "Llama-2-7B,total_parameters,2k\n": (
            "line 2, column published: '2k' is not an integer; write the plain number: 2000"
        ),
        _COUNTS + "Llama-2-7B,total_parameters,5 million\n": "write the plain number: 5000000",
    },
    "scenarios": {
        _ENTRY + "3\n    hours: 4\n": "line 7: hours stands here twice",
        _ENTRY + "&h 3\n": "line 6: anchor 'h': write out what it stands for",
        _BOMB: "line 1: anchor 'a'",
        _ENTRY + "-400\n": "line 6, scenario busy: hours = -400: outside 1 to 1,000 h",
        _ENTRY + "1e999\n": "line 6, scenario busy: hours = '1e999': needs a whole number",
        _ENTRY + ".inf\n": "line 6: '.inf' is no finite number",
        _ENTRY + "0.5k\n": "line 6, .*hours = '0.5k': .*; write the plain number in h: 500",
        _ENTRY + "'3\n": "line 7: not valid YAML: found unexpected end of stream",
    },
    "presets": {
        _PLAN + "    requests_per_day: 6000\n": "line 6: requests_per_day stands here twice",
        _BOMB: "line 1: anchor 'a'",
        _PLAN + "  why: [\n": "line 7: not valid YAML",
    },
}
"""What a file may say, and what is said of it."""
OUT = {
    "run": (["run", "tiny", "--out", "{}"], "--out '{}' cannot be written: "),
    "sweep": (["sweep", "tiny", "-p", "hours=3", "--out", "{}"], "--out '{}"),
    **{
        f"sweep, {name}": (["sweep", "tiny", "-p", "hours=3", "--out", "."], f"'{name}' cannot be")
        for name in (sweep.JOURNAL, sweep.TABLE, sweep.TWIN, sweep.PAGE, sweep.PICTURE)
    },
}
"""Commands that write, and what they say of a path at which they do not."""


@pytest.fixture
def refused(book, monkeypatch, capsys):
    """What the command says as it refuses to work; the alarm is a guard against one that waits."""
    own = book.text("tiny").read_text(encoding="utf-8")
    line = 'model: str = "Llama-3.1-8B"  # what runs (models, or a config.json)'
    book.text("own").write_text(re.sub("(?m)^plan: .*$", line, own), encoding="utf-8")
    with (book.root / "book" / "_toc.yml").open("a", encoding="utf-8") as contents:
        contents.write("- file: notebooks/own\n")
    monkeypatch.chdir(book.root)

    def too_long(*_):
        pytest.fail("it waits")

    before = signal.signal(signal.SIGALRM, too_long)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(Pool, "run", lambda *_: pytest.fail("a chapter ran"))
    monkeypatch.setattr(Pool, "get_ready", lambda *_: None)
    catalog.models()  # read once, before the time counts

    def call(arguments: list[str], path: Path | str) -> str:
        signal.alarm(120)
        try:
            with pytest.raises(SystemExit) as caught:
                cli.main([text.format(path) for text in arguments])
        finally:
            signal.alarm(0)
        told = capsys.readouterr()
        assert caught.value.code in (1, 2) and not told.out and "Traceback" not in told.err
        return told.err.removeprefix("scaleright: ")

    yield call
    monkeypatch.undo()
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("what", _SEEM)
@pytest.mark.parametrize("door", DOORS)
def test_what_only_seems_a_file_is_refused_at_once(refused, door, what):
    name, arguments = DOORS[door]
    make, says = _SEEM[what]
    make(Path(name))
    told = refused(arguments, name)
    assert name in told and says in told and len(told) < 1000


@pytest.mark.parametrize(
    "door, text, says",
    [(door, text, says) for door, of in SAYS.items() for text, says in of.items()],
)
def test_what_a_file_may_not_say_is_refused_with_its_line_and_what_was_meant(
    refused, door, text, says
):
    name, arguments = DOORS[door]
    Path(name).write_text(text, encoding="utf-8")
    told = refused(arguments, name)
    assert name in told and re.search(says, told), told
    assert len(told) < 1000


@pytest.mark.parametrize("door", ["config.json", "toml", "yaml", "trace", "measurements"])
def test_a_file_that_is_not_there_is_refused_with_the_nearest(refused, door):
    name, arguments = DOORS[door]
    Path(name).write_text("", encoding="utf-8")
    assert f"no such file; nearest: {name}" in refused(arguments, f"x{name}")
    assert "File name too long" in refused(arguments, f"{'x' * 5000}{name}")


def test_a_model_is_refused_where_there_is_only_a_folder_with_one(refused):
    Path("mine").mkdir()
    Path("mine/config.json").write_text("{}", encoding="utf-8")
    Path("weights.safetensors").write_text("", encoding="utf-8")
    arguments = DOORS["config.json"][1]
    assert "a folder (it has a config.json: give that)" in refused(arguments, "./mine")
    assert "allowed: .json, .toml, .yaml, .yml" in refused(arguments, "./weights.safetensors")
    assert "nobody has this home" in refused(arguments, "~nobody-of-this-name/config.json")


@pytest.mark.parametrize(
    "command, what",
    [
        (command, what)
        for command in OUT
        for what in ("pipe", "device", "nothing", "folder", "link")
        if (command, what) != ("sweep", "folder")  # into which it goes
    ],
)
def test_nothing_but_a_file_is_written_over(refused, command, what):
    arguments, says = OUT[command]
    path = Path(command.partition(", ")[2] or "out")
    make = {"link": lambda path: path.symlink_to("gone")} | {k: of[0] for k, of in _SEEM.items()}
    make[what](path)
    before = path.lstat().st_ino
    told = refused(arguments, path)
    assert says.format(path) in told and "cannot be written: " in told
    assert path.lstat().st_ino == before


def test_a_link_to_a_file_stays_and_the_file_is_written(tmp_path):
    (file := tmp_path / "a").write_text("one", encoding="utf-8")
    (link := tmp_path / "b").symlink_to(file)
    assert write_whole(link, "two") and not write_whole(link, "two")
    assert link.is_symlink() and file.read_text(encoding="utf-8") == "two"
    os.mkfifo(tmp_path / "c")
    with pytest.raises(FileError, match="a pipe, which is not replaced"):
        write_whole(tmp_path / "c", "three")
    assert stat.S_ISFIFO((tmp_path / "c").stat().st_mode)


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("\ufeff" + json.dumps(json.loads(_CONFIG + "}")), encoding="utf-8")
    assert catalog.read_config(path, "mine").shape.layers == 2
