"""Where what is found in the tables is kept for other processes: in a folder for each state of the
module that finds it, with all that this imports.
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path

from scaleright import MODULES, findings


def kept_by(module: str) -> Path | None:
    """The folder of what a module finds; None where nothing is kept, or where the state of the
    module is not known.
    """
    folder = findings()
    of = state(module) if folder else ""
    return Path(folder or "", of) if of else None


def state(module: str) -> str:
    """The state of a module with all that it imports, nothing where that is not known. A folder of
    findings that does not tell stands for one state of all modules.
    """
    folder = findings()
    known = _states(Path(folder)) if folder else {}
    return "one" if known is None and module != "__main__" else (known or {}).get(module, "")


@functools.cache
def _states(folder: Path) -> Mapping[str, str] | None:
    try:
        return json.loads((folder / MODULES).read_text(encoding="utf-8"))["modules"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        return {}
