"""Progress of compiling the model, reported to whoever waits for the process."""

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from kinematics import report_compilation
from rig.runtime import ChildLateError, ChildProcess


@dataclass(frozen=True, slots=True)
class Compiling:
    """Progress of the compilation, which only the first start on a machine needs.

    done, total: number of kernels, including those loaded from the cache.
    """

    what: str
    done: int
    total: int

    @property
    def finished(self) -> bool:
        """Whether all kernels are compiled."""
        return self.done >= self.total

    @property
    def words(self) -> str:
        """The progress as a sentence without its full stop."""
        if self.finished:
            return f"{self.what} is compiled ({self.total} kernels); waiting for the other processes of the rig"
        return f"compiling {self.what}: {self.done} of {self.total} kernels, once on this machine"


ProgressCallback = Callable[[Compiling], None]


def send_compile_progress(
    what: str, roots: Iterable[str], owner: Connection
) -> contextlib.AbstractContextManager[None]:
    """Within a `with` block, send a `Compiling` to the owner at each change; `kinematics.report_compilation`."""

    def report_progress(done: int, total: int) -> None:
        with contextlib.suppress(OSError):  # the owner has gone
            owner.send(Compiling(what, done, total))

    return report_compilation(roots, report_progress)


def receive_answer(process: ChildProcess, timeout: float, doing: str, report_compiling: ProgressCallback | None) -> Any:
    """Receive the next message of a process; messages of `send_compile_progress` go to `report_compiling`.

    Raises as `ChildProcess.receive`, after `timeout` s without a newly compiled kernel.
    """
    deadline, done = time.monotonic() + timeout, 0
    while True:
        try:
            answer = process.receive(max(0.0, deadline - time.monotonic()), doing)
        except ChildLateError:
            raise ChildLateError(f"{process.name} did not {doing} within {timeout:g} s") from None
        if not isinstance(answer, Compiling):
            return answer
        if answer.done > done:
            deadline, done = time.monotonic() + timeout, answer.done
        if report_compiling is not None and not process.pipe.poll(0):  # only the latest
            report_compiling(answer)
