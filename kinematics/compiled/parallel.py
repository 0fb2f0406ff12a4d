"""Parallel work over many samples: chunks for threads whose kernels run without the GIL."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from kinematics.errors import KinematicsError

Result = TypeVar("Result")


def processor_count() -> int:
    """Number of processors this process may use."""
    return len(os.sched_getaffinity(0))


def chunk_bounds(count: int, chunk: int) -> list[tuple[int, int]]:
    """First sample and end (exclusive) of each chunk of `count` samples."""
    return [(first, min(first + chunk, count)) for first in range(0, count, chunk)]


def run_chunks(
    work: Callable[[int, int], Result], count: int, chunk: int, threads: int | None = None
) -> Iterator[tuple[int, int, Result]]:
    """Call work(first, end) for each chunk of `count` samples; yield first, end and its result, in order of completion.

    threads: their number, None for one per processor; with 1, or a single chunk, all work is done in the caller's
    thread. The threads end before the generator does, and exceptions of `work` are raised here.
    Raises KinematicsError for a number of threads below 1.
    """
    if threads is not None and threads < 1:
        raise KinematicsError(f"threads: {threads}, must be at least 1")
    bounds = chunk_bounds(count, chunk)
    threads = min(processor_count() if threads is None else threads, len(bounds))
    if threads <= 1:
        for first, end in bounds:
            yield first, end, work(first, end)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="chunks") as pool:
        # At most two chunks per thread are pending: memory does not grow with the number of chunks.
        waiting = iter(bounds)
        running: dict[Future[Result], tuple[int, int]] = {}
        try:
            while True:
                while len(running) < 2 * threads and (bound := next(waiting, None)) is not None:
                    running[pool.submit(work, *bound)] = bound
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield *running.pop(future), future.result()
        finally:
            for future in running:
                future.cancel()
