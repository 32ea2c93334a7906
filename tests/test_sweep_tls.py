"""Sweeps on a network: a scheduler that asks for a key answers who holds it, as the README says."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import dask
import pytest
from absent import absent
from scaleright.press import PressError, sweep

# the scheduler is in this process, the key is not
pytestmark = pytest.mark.processes
README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def keys(tmp_path):
    """Dask's settings after the commands of the README, with a key made by them."""
    if not shutil.which("openssl"):
        absent("openssl", "openssl")
    command = re.search(r"^openssl .*", README, re.MULTILINE)[0].replace("rsa:4096", "rsa:2048")
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    settings = {"require-encryption": True, "tls.ca-file": certificate}
    for who in ("client", "scheduler", "worker"):
        settings |= {f"tls.{who}.key": key, f"tls.{who}.cert": certificate}
    return {f"distributed.comm.{name}": value for name, value in settings.items()}


def test_the_readme_names_the_settings_that_dask_reads():
    import distributed  # noqa: F401, its import declares them

    said = re.findall(r"DASK_(DISTRIBUTED__COMM__\w+?)(?=\$|=)(?:\$\{who\}(__\w+))?", README)
    names = {start + ("CLIENT" + end if end else "") for start, end in said}
    assert len(names) == 4
    for name in names:
        path = name.lower().replace("__", ".").replace("_", "-")
        assert dask.config.get(path, "unknown") != "unknown", name


def test_a_scheduler_that_asks_for_a_key_answers_those_who_hold_it(keys):
    from distributed import Scheduler, Security

    async def meet() -> str:
        with dask.config.set(keys):
            there = Scheduler(
                host="127.0.0.1",
                protocol="tls",
                dashboard_address="127.0.0.1:0",
                security=Security(),
            )
        async with there:
            assert there.address.startswith("tls://")
            with dask.config.set(keys):
                known = await sweep._greet(there.address)
            with pytest.raises(PressError, match="DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT"):
                await asyncio.to_thread(lambda: sweep._remote(there.address, 1, print).__enter__())
            return known

    assert asyncio.run(meet()) == "Scheduler"
