"""nbval as these tests run it: in kernels that start from nothing, as a reader's do, on another
processor than this one, and with outputs compared whole.

The build of the site forks its kernels from a process that has imported what every chapter asks
for, on this processor, and finds all that they find in the tables; `test_site_is_built` compares
what those give. Between the two, what depends on what a kernel has done before is found, and so is
what depends on the processor. In a session that builds the site, kernels here read what that build
has found, so that each finding is computed once; in one that does not, they find all themselves, as
those of `make cold` do every night.
"""

import functools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.kernel
import nbval.plugin
import pytest
from built import findings, site
from jupyter_client import KernelManager
from processors import ROOT, without_avx2
from scaleright import REMEMBERED
from scaleright.files import write_whole
from traitlets.config import Config

_opened = ExitStack()
"""What is there until the session ends."""


def set_environment(build: Path) -> None:
    """Have kernels depend on the checkout alone, not on their user's profile or warning filters.

    Writes that profile into the build folder: no history file, and no log lines about the transport
    or a shutdown.
    """
    lines = [
        "import logging, sys",
        # of a socket closed at shutdown
        "logging.getLogger('tornado.general').setLevel(logging.CRITICAL)",
        # nobody debugs a test: importing it takes a fifth of a kernel's start
        "sys.modules['debugpy'] = None",
        "c.IPKernelApp.log_level = 50",
        "c.HistoryManager.enabled = False",
        # else it compiles each cell twice, once to see whether it awaits
        "c.InteractiveShell.autoawait = False",
    ]
    profile = build / "runtime" / "ipython" / "profile_default"
    write_whole(profile / "ipython_kernel_config.py", "\n".join(lines) + "\n")
    os.environ |= {
        "IPYTHONDIR": str(build / "runtime" / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(build / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
    }


@contextmanager
def kernel_sockets() -> Iterator[Any]:
    """Settings of a kernel that is spoken to through files of its own, gone afterwards.

    A port is chosen before the kernel binds it, and another process may take it in between. The
    folder is the system's for what is temporary, since the name of a socket may have no more than
    about a hundred characters.
    """
    with TemporaryDirectory(prefix="kernel-") as folder:
        yield Config(KernelManager={"transport": "ipc", "ip": f"{folder}/socket"})


def set_up(config: pytest.Config) -> None:
    """Have nbval start its kernels there and compare so."""
    set_environment(ROOT / "_build")
    config.add_cleanup(_opened.close)
    nbval.kernel.KernelManager = lambda **options: ElsewhereKernelManager(
        config=_opened.enter_context(kernel_sockets()), **options
    )
    # For a log of whole messages that nobody reads: half of nbval's own time.
    nbval.kernel.pformat = lambda message: message["msg_type"]
    cell = nbval.plugin.IPyNbCell
    cell.compare_outputs = whole(cell.compare_outputs)


def begins(items: Iterable[pytest.Item]) -> None:
    """Take note of what a session runs."""
    names = {item.nodeid.partition("::")[0] for item in items}
    ElsewhereKernelManager.after_build = "tests/test_site_is_built.py" in names


class ElsewhereKernelManager(KernelManager):
    """Jupyter's, whose kernels run on that processor."""

    after_build = False
    """Whether they wait for the site to be built, and read what its build has found."""

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        env = {name: value for name, value in options["env"].items() if name != REMEMBERED}
        if self.after_build:
            env[REMEMBERED] = found_by_the_build()
        options["env"] = env | without_avx2()
        await super()._async_launch_kernel(kernel_cmd, **options)


@functools.cache
def found_by_the_build() -> str:
    """A folder of links to what the build of the site has found: what is found here, on another
    processor, is nobody else's.
    """
    site()
    found = findings()
    there = Path(_opened.enter_context(TemporaryDirectory(prefix="other-", dir=found.parents[1])))
    return str(shutil.copytree(found, there / found.name, copy_function=os.link))


def whole(compare: Callable) -> Callable:
    """nbval compares what outputs hold, each kind for itself, and images not at all; outputs are
    also compared as a whole and in order, as they are stored.
    """

    def compare_outputs(cell: Any, given: list, stored: list, skip_compare: Any = None) -> bool:
        if not compare(cell, given, stored, skip_compare):
            return False
        same = as_stored(given) == as_stored(stored)
        if not same:
            cell.comparison_traceback.append("the outputs differ in kind, order or metadata")
        return same

    return compare_outputs


def as_stored(outputs: Iterable[Mapping[str, Any]]) -> str:
    """The text of outputs, without a count of cells, which nbval does not keep."""
    kept = [{k: v for k, v in output.items() if k != "execution_count"} for output in outputs]
    return json.dumps(kept, sort_keys=True)
