"""nbval as these tests run it: in the press's warm kernels, on another processor than this one, and
with outputs compared whole.

What the build of the site executes on this processor is compared by `test_site_is_built`, so that
nbval need not repeat it: it is one of the runs that show one result on every processor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client import KernelManager
from processors import without_avx2
from scaleright import REMEMBERED
from scaleright.press.execute import kernel_sockets
from scaleright.press.kernels import WarmKernelManager


def set_up(config: pytest.Config) -> None:
    """Have nbval start such kernels and compare so."""
    opened = ExitStack()
    config.add_cleanup(opened.close)
    nbval.kernel.KernelManager = lambda **options: kernel_manager(
        without_avx2() | {REMEMBERED: str(findings(config))}
    )(config=opened.enter_context(kernel_sockets()), **options)
    # For a log of whole messages that nobody reads: half of nbval's own time.
    nbval.kernel.pformat = lambda message: message["msg_type"]
    cell = nbval.plugin.IPyNbCell
    cell.compare_outputs = whole(cell.compare_outputs)


def findings(config: pytest.Config) -> Path:
    """The folder of what chapters find on that processor in this session, whichever worker asks."""
    own = config._tmp_path_factory.getbasetemp()
    return (own.parent if hasattr(config, "workerinput") else own) / "remembered-by-nbval"


def kernel_manager(environment: Mapping[str, str]) -> type[KernelManager]:
    """The press's, for nbval, which does not wait asynchronously; its kernels, and before them the
    process that they are forked from, have this environment besides.
    """

    async def launch(self: KernelManager, command: list[str], **options: Any) -> None:
        options["env"] = options["env"] | environment
        with pytest.MonkeyPatch.context() as patched:
            for name, value in environment.items():
                patched.setenv(name, value)
            await WarmKernelManager._async_launch_kernel(self, command, **options)

    return type("WarmKernelManager", (KernelManager,), {"_async_launch_kernel": launch})


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
