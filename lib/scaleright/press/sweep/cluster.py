"""Where scenarios run: the cores of this machine, or any Dask cluster; and what to do when it is
lost.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import re
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from scaleright.press import PressError
from scaleright.press.processes import children_ended, workplace
from scaleright.press.sweep import scenario

CONNECT_S = 10
"""A scheduler elsewhere that has not answered for so long is not there."""
OWN_S = 600
"""A guard: this machine's own scheduler is there, however busy the machine."""
WORKERS_S = 60
"""How long to wait for workers elsewhere, at the start and when all of them are gone."""
ATTEMPTS = 3
"""How often a scenario may lose its process."""
_KEYS = (
    "; or it does not take the certificate that DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT, its"
    " ..._KEY and DASK_DISTRIBUTED__COMM__TLS__CA_FILE name here"
)
_ADDRESS = re.compile(
    r"(?:(?:tcp|tls|ws|wss)://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})"
)


def check_address(address: str) -> None:
    """Refuse what cannot be a scheduler's address, and one where nobody listens.

    >>> check_address("here")
    Traceback (most recent call last):
    scaleright.press.PressError: --scheduler 'here': expected an address such as tcp://HOST:8786
    """
    found = _ADDRESS.fullmatch(address)
    if not found or not 0 < int(found["port"]) < 65536:
        raise PressError(f"--scheduler {address!r}: expected an address such as tcp://HOST:8786")
    try:
        socket.create_connection(
            (found["host"].strip("[]"), int(found["port"])), timeout=CONNECT_S
        ).close()
    except OSError as error:
        raise PressError(
            f"--scheduler {address}: nobody answers there: {error.strerror or error}"
        ) from None


@contextmanager
def connected(
    address: str | None, workers: int | None, scenarios: int, say: Callable[[str], None]
) -> Iterator[Any]:
    """A Dask client: of a cluster of `workers` processes on this machine, or of the cluster at an
    address.

    Parameters
    ----------
    workers : processes on this machine, by default one per core and no more than there are
        scenarios; of another cluster, how many to wait for, by default one.

    Raises
    ------
    PressError : nobody answers there, too few workers came in time, or one of them has other code
        or data.
    """
    # Dask reads this as it is imported, here and in the processes it starts: what it logs of lost
    # workers is ours to say.
    os.environ["DASK_LOGGING__DISTRIBUTED"] = "critical"
    from dask.config import set as _configured
    from dask.system import CPU_COUNT
    from distributed import Client, LocalCluster

    logging.getLogger("distributed.client").setLevel(
        logging.CRITICAL
    )  # it has a level of its own, set by the import
    if address is not None:
        with _remote(address, workers or 1, say) as client:
            yield client
        return
    options = {
        "n_workers": min(workers or CPU_COUNT, scenarios),
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "preload": [scenario.__name__],
        # Kernels do the work and hold the memory, so that a limit on the worker's own would only
        # stall small machines.
        "memory_limit": 0,
        # Without an address its web server, which it starts in any case, would take a fixed port of
        # all networks.
        "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    }
    with workplace() as folder, _configured(temporary_directory=str(folder)), children_ended():
        try:
            cluster = LocalCluster(**options)
        except RuntimeError as error:
            raise PressError(f"the workers of this machine did not start: {error}") from None
        with cluster, Client(cluster, set_as_default=False, timeout=OWN_S) as client:
            yield client


@contextmanager
def _remote(address: str, workers: int, say: Callable[[str], None]) -> Iterator[Any]:
    from distributed import Client

    try:
        found = asyncio.run(asyncio.wait_for(_greet(address), CONNECT_S))
    except Exception as error:  # noqa: BLE001, whatever else may listen there, answers as it likes
        found = type(error).__name__
    if found != "Scheduler":
        raise PressError(
            f"--scheduler {address}: what listens there is no Dask scheduler of this version"
            f" ({found}){_KEYS if address.startswith('tls://') else ''}"
        )
    with Client(address, set_as_default=False, timeout=CONNECT_S) as client:
        if (there := _workers(client)) < workers:
            say(f"{there} workers at {address}; waiting up to {WORKERS_S} s for {workers} ...")
            try:
                client.wait_for_workers(workers, timeout=WORKERS_S)
            except TimeoutError:
                raise PressError(
                    f"{_workers(client)} of {workers} workers at {address} after {WORKERS_S} s;"
                    " start some there"
                ) from None
        _compare(client)
        yield client


async def _greet(address: str) -> str:
    """What kind of Dask process listens at an address. A `Client` would wait forever for one that
    keeps silent.
    """
    from distributed import Security, rpc

    async with rpc(address, connection_args=Security().get_connection_args("client")) as there:
        return (await there.identity())["type"]


def _workers(client: Any) -> int:
    """How many workers there are; raises OSError (or its TimeoutError) if the scheduler does not
    answer.
    """
    return client.sync(client.scheduler.identity, n_workers=0, callback_timeout=WORKERS_S)[
        "n_workers"
    ]


def _compare(client: Any) -> None:
    """Refuse workers whose library, tables or packages are not those of this machine."""
    here, problems = scenario.fingerprint(), []
    for worker, found in client.run(
        scenario.fingerprint, on_error="return", callback_timeout=WORKERS_S
    ).items():
        if isinstance(found, Exception):
            problems.append(
                f"worker {worker} cannot run scenarios: {type(found).__name__}: {found}"
            )
        elif other := [name for name in here if found.get(name) != here[name]]:
            said = [
                (
                    name
                    if len(here[name]) > 20
                    else f"{name} {found.get(name)} instead of {here[name]}"
                )
                for name in other
            ]
            problems.append(f"worker {worker} has another {', another '.join(said)}")
    if problems:
        raise PressError(
            "\n".join(problems)
            + "\ninstall this very checkout there; its answers would not be this machine's"
        )


def outcomes(
    client: Any, program: scenario.Program, injected: Sequence[str]
) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """Run scenarios and yield (index, outcome) as they finish.

    A scenario whose process is lost runs again, up to `ATTEMPTS` times, on whichever worker is
    there.

    Raises
    ------
    PressError : the scheduler or all workers are lost.
    """
    finished: queue.Queue = queue.Queue()
    futures = client.map(
        scenario.run, injected, program=program, retries=ATTEMPTS - 1, pure=False, key="scenario"
    )
    waiting = {future: index for index, future in enumerate(futures)}
    for future in futures:
        future.add_done_callback(finished.put)
    del futures, future
    alone = 0
    try:
        while waiting:
            try:
                future = finished.get(timeout=1)
            except queue.Empty:
                alone = alone + 1 if _none_left(client) else 0
                if alone > WORKERS_S:
                    raise PressError(
                        f"no worker is left, and none has come for {WORKERS_S} s"
                    ) from None
                continue
            if outcome := _outcome(future):
                yield waiting.pop(future), outcome
            else:
                future.add_done_callback(finished.put)
    finally:
        if client.status == "running":
            with suppress(
                Exception
            ):  # whatever has become of the cluster: a kernel that nobody asks ends itself
                client.cancel(list(waiting))
                client.run(
                    scenario.end_kernels,
                    program.sweep,
                    on_error="ignore",
                    callback_timeout=CONNECT_S,
                )


def _none_left(client: Any) -> bool:
    try:
        return _workers(client) == 0
    except OSError:
        raise PressError("the Dask scheduler no longer answers") from None


def _outcome(future: Any) -> dict[str, Any] | None:
    """The outcome of a scenario that is done; None if it was lost with its worker before we had it,
    and runs again.
    """
    from distributed import CancelledError, KilledWorker

    try:
        return future.result(timeout=CONNECT_S)
    except TimeoutError:
        return None
    except CancelledError:
        raise PressError("the Dask scheduler is lost, or has given up the sweep") from None
    except scenario.KernelDied as error:
        return {"error": f"{error}, {ATTEMPTS} times"}
    except KilledWorker:
        return {"error": "each worker that ran it died"}
    # whatever a worker can raise is this scenario's failure and no other's
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}
