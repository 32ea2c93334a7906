"""Kernels that start warm: forked from a process that has imported what every chapter imports.

Starting Python, its kernel and the library takes half of a short run. Each worker pays for that
once: multiprocessing's fork server imports `warm` and then forks, for each run, a kernel whose
state is that of a fresh one after its imports.
"""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client import AsyncKernelClient, AsyncKernelManager
from traitlets import Type

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(["scaleright.press.warm"])


def warm_up() -> None:
    """Let the process get warm from which kernels are forked, ahead of the first."""
    forkserver.ensure_running()


def _serve(
    ready: Connection, connection_file: str, folder: str, environment: dict[str, str]
) -> None:
    """Be a kernel: in a session of its own, as one that is started from nothing, so that Ctrl-C
    does not reach it.
    """
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    app = IPKernelApp.instance(
        parent_handle=os.getppid()
    )  # ends itself when the fork server is gone
    app.initialize(["-f", connection_file])
    ready.close()
    app.start()


class _Forked:
    """A forked kernel by the names that `subprocess.Popen` has, which is what Jupyter asks."""

    stdin = stdout = stderr = None

    def __init__(self, *given: Any):
        ready, theirs = _CONTEXT.Pipe(duplex=False)
        with ready, theirs:
            self._process = _CONTEXT.Process(target=_serve, args=(theirs, *given))
            self._process.start()
            theirs.close()
            # It listens, or has ended: who asks before is not heard, and asks again much later.
            ready.poll(None)
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()


class Client(AsyncKernelClient):
    """Jupyter's, without the fifth of a second in which it waits for what a kernel says unasked."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:  # noqa: ASYNC109, Jupyter's
        """Return when the kernel has answered and is heard on the channel of its outputs."""
        while await self._async_is_alive():
            self.kernel_info()
            with suppress(Empty):
                self._handle_kernel_info_reply(await self.shell_channel.get_msg(timeout=1))
                await self.iopub_channel.get_msg(timeout=0.2)
                return
        raise RuntimeError("the kernel died before it answered")


class WarmKernelManager(AsyncKernelManager):
    """Starts its kernel by forking it, where Jupyter starts a new interpreter."""

    client_factory = Type(Client)

    async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
        provisioner: Any = self.provisioner  # Jupyter's local one
        provisioner.process = _Forked(
            self.connection_file, options.get("cwd") or Path.cwd(), dict(options["env"])
        )
        provisioner.pid = provisioner.process.pid

    async def _async_finish_shutdown(
        self, waittime: float | None = None, pollinterval: float = 0.01, restart: bool = False
    ) -> None:
        """See oftener than Jupyter whether it has ended: most do at once."""
        await super()._async_finish_shutdown(waittime, pollinterval, restart)
