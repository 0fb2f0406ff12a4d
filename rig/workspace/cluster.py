"""Sweeps on a Dask cluster: the chunks of `kinematics.run_chunks` on other machines or local processes."""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dynamics import BatchError, Mechanism, inverse_batch
from kinematics import Array, chunk_bounds
from rig.errors import HardwareError, InputError

Client: TypeAlias = Any
"""A `distributed.Client`; Dask is optional and untyped."""

Result = TypeVar("Result")

_TIMEOUT = 15.0  # s, timeout for the scheduler and the first worker
_PENDING_CHUNKS = 3  # pending chunks per worker: enough to keep it busy, few enough to limit memory
_STATES = 1 << 15  # per chunk of inverse dynamics: some MB to send

_LOCAL = re.compile(r"local:([1-9]\d*)")


@contextmanager
def open_cluster(address: str) -> Iterator[Client]:
    """Connect to the scheduler at `address`, or, for "local:N", start N worker processes on this machine.

    At the end of the block all connections are closed and local workers ended.
    Raises InputError without Dask or for an invalid address; HardwareError if the scheduler does not answer or
    has no worker.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError("--cluster needs Dask, which is not installed: pip install 'stewart-rig[cluster]'") from error
    if local := _LOCAL.fullmatch(address):
        with (
            distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    if address.startswith("local") or ":" not in address:
        raise InputError(f"cluster {address!r}: must be local:N or a scheduler's HOST:PORT")
    try:
        client = distributed.Client(address, timeout=_TIMEOUT)
    except (OSError, ValueError) as error:
        raise HardwareError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_TIMEOUT)
        except OSError as error:
            raise HardwareError(f"the Dask scheduler at {address} has no worker") from error
        yield client


def run_on_cluster(
    client: Client, job: Callable[[int, int], tuple[Callable[..., Result], tuple[Any, ...]]], count: int, chunk: int
) -> Iterator[tuple[int, int, Result]]:
    """Like `kinematics.run_chunks` on the cluster's workers: yields first, end and result, in order of completion.

    job(first, end) returns a worker's function and its arguments, which are all that is sent; the workers need this
    package installed.
    Raises HardwareError when the cluster fails: its scheduler is gone, or workers are gone or die of a chunk.
    """
    bounds = iter(chunk_bounds(count, chunk))
    running: dict[Any, tuple[int, int]] = {}
    limit = _PENDING_CHUNKS * max(len(client.nthreads()), 1)
    while True:
        while len(running) < limit and (bound := next(bounds, None)) is not None:
            function, arguments = job(*bound)
            running[client.submit(function, *arguments, pure=False)] = bound
        if not running:
            return
        for future, result in _finished(client, running):
            first, end = running.pop(future)
            yield first, end, result
            future.release()


def _finished(client: Client, futures: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Wait for at least one of the futures; return the completed ones with their results."""
    distributed: Any = importlib.import_module("distributed")
    try:
        while True:
            try:
                done = distributed.wait(list(futures), timeout=_TIMEOUT, return_when="FIRST_COMPLETED").done
            except TimeoutError:  # a chunk may take long while workers exist
                if not client.nthreads():
                    raise HardwareError("the cluster failed: it has no worker any more") from None
            else:
                return [(future, future.result()) for future in done]
    except (distributed.KilledWorker, CancelledError, OSError) as error:
        raise HardwareError(f"the cluster failed: {error}") from error


def inverse_on_cluster(
    client: Client, mechanism: Mechanism, motions: Array, wrenches: Array | None = None, *, coulomb_speed: float = 0.0
) -> Array:
    """Compute actuator forces (n, 6), N, of motions (n, 19) under wrenches (n, 6), as `dynamics.inverse_batch`.

    Raises as `inverse_batch`.
    """
    forces = np.empty((len(motions), 6))
    failures: list[tuple[int, BatchError]] = []

    def job(first: int, end: int) -> tuple[Callable[..., Array | BatchError], tuple[Any, ...]]:
        loads = None if wrenches is None else wrenches[first:end]
        return _inverse_chunk, (mechanism, motions[first:end], loads, coulomb_speed)

    for first, end, result in run_on_cluster(client, job, len(motions), _STATES):
        if isinstance(result, BatchError):
            failures.append((first, result))
            forces[first:end] = result.forces
        else:
            forces[first:end] = result
    if failures:
        failures.sort(key=lambda failure: failure[0])
        indices = np.concatenate([first + error.indices for first, error in failures])
        raise BatchError(indices, np.concatenate([error.statuses for _, error in failures]), forces)
    return forces


def _inverse_chunk(
    mechanism: Mechanism, motions: Array, wrenches: Array | None, coulomb_speed: float
) -> Array | BatchError:
    """Compute a worker's chunk; an error of some states is returned as a value with the other results."""
    try:
        return inverse_batch(mechanism, motions, wrenches, threads=1, coulomb_speed=coulomb_speed)
    except BatchError as error:
        return error
