"""nbval as these tests run it: in kernels that start from nothing, as a reader's do, on another
processor than this one, and with outputs compared whole.

The build of the site forks its kernels from a process that has imported and found what every
chapter asks for, and hands on what one chapter found to the others, on this processor;
`test_site_is_built` compares what those give. Between the two, what depends on what a kernel has
done before is found, and so is what depends on the processor.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client import KernelManager
from processors import without_avx2
from scaleright import REMEMBERED
from scaleright.press.execute import kernel_sockets


def set_up(config: pytest.Config) -> None:
    """Have nbval start its kernels there and compare so."""
    opened = ExitStack()
    config.add_cleanup(opened.close)
    nbval.kernel.KernelManager = lambda **options: ElsewhereKernelManager(
        config=opened.enter_context(kernel_sockets()), **options
    )
    # For a log of whole messages that nobody reads: half of nbval's own time.
    nbval.kernel.pformat = lambda message: message["msg_type"]
    cell = nbval.plugin.IPyNbCell
    cell.compare_outputs = whole(cell.compare_outputs)


class ElsewhereKernelManager(KernelManager):
    """Jupyter's, whose kernels run on that processor and find all for themselves."""

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        found_here = {name: value for name, value in options["env"].items() if name != REMEMBERED}
        options["env"] = found_here | without_avx2()
        await super()._async_launch_kernel(kernel_cmd, **options)


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
