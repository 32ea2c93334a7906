"""nbval compares whole outputs, and runs the chapters in kernels that start from nothing, on a
processor that is not this one.
"""

import os
from types import SimpleNamespace

import nbformat
import nbval_kernels
import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, start_new_kernel
from processors import OF_NBVAL
from scaleright import REMEMBERED
from test_processors import PARTS, PROBE, REPLACED, probed, simulated


def outputs(**changed) -> list:
    shown = {"text/plain": "a chart", "image/png": "iVBORw0=", "application/json": {"x": 1}}
    display = {"output_type": "display_data", "metadata": {}, "data": shown} | changed
    stream = {"output_type": "stream", "name": "stdout", "text": "done\n"}
    return [nbformat.from_dict(display), nbformat.from_dict(stream)]


def same(given: list) -> bool:
    """What is said where nbval itself has found no difference."""
    cell = SimpleNamespace(comparison_traceback=[])
    compared = nbval_kernels.whole(lambda *_: True)(cell, given, outputs())
    assert compared is not bool(cell.comparison_traceback)
    return compared


def test_outputs_are_compared_in_what_nbval_leaves_out():
    shown = outputs()[0]["data"]
    assert same(outputs()) and same(outputs(execution_count=7))
    assert not same(outputs(data=shown | {"image/png": "iVBORw1="}))
    assert not same(outputs(data=shown | {"application/json": {"x": 1.0}}))
    assert not same(outputs(metadata={"isolated": True}))
    assert not same(outputs(output_type="execute_result"))
    assert not same(outputs()[::-1])


FRESH = f"""
import os, sys
print([name for name in sys.modules if "scaleright" in name], os.environ.get("{REMEMBERED}"))
"""


@pytest.mark.processes
def test_the_kernels_of_nbval_start_from_nothing_on_that_processor(
    tmp_path, pytestconfig, monkeypatch
):
    if not pytestconfig.getoption("nbval"):  # `make test` and CI run it, a call of pytest need not
        pytest.skip("nbval does not run in this session: pytest --nbval --nbval-current-env")
    monkeypatch.setenv(REMEMBERED, str(tmp_path))  # what others find there is not theirs
    built = nbval_kernels.ElsewhereKernelManager.after_build
    said = []
    manager, client = start_new_kernel(kernel_name=CURRENT_ENV_KERNEL_NAME, cwd=str(tmp_path))
    try:
        for asked in (FRESH, PROBE):
            client.execute_interactive(asked, output_hook=said.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    texts = "".join(message["content"].get("text", "") for message in said)
    fresh, *lines = texts.splitlines()
    assert fresh == f"[] {nbval_kernels.found_by_the_build() if built else None}"
    assert lines == probed(simulated(OF_NBVAL, tmp_path))
    own = dict(zip(PARTS, probed(dict(os.environ)), strict=True))
    found = dict(zip(PARTS, lines, strict=True))
    assert {part for part in PARTS if own[part] != found[part]} >= REPLACED[OF_NBVAL]
