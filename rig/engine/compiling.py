"""What of the model is compiled yet, where it has to be: told to whoever waits for the process."""

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
    """How far the compilation is that only the first start on a machine needs.

    done, total: kernels, those that were loaded among them.
    """

    what: str
    done: int
    total: int

    @property
    def finished(self) -> bool:
        """Whether all are there: what is waited for then has no measure."""
        return self.done >= self.total

    @property
    def words(self) -> str:
        """In a sentence, without its full stop."""
        if self.finished:
            return f"{self.what} is compiled ({self.total} kernels); waiting for the other processes of the rig"
        return f"compiling {self.what}: {self.done} of {self.total} kernels, once on this machine"


ProgressCallback = Callable[[Compiling], None]


def send_compile_progress(
    what: str, roots: Iterable[str], owner: Connection
) -> contextlib.AbstractContextManager[None]:
    """Within a `with` block, send a `Compiling` to the owner at each change; `kinematics.report_compilation`."""

    def tell(done: int, total: int) -> None:
        with contextlib.suppress(OSError):  # the owner has gone
            owner.send(Compiling(what, done, total))

    return report_compilation(roots, tell)


def receive_answer(process: ChildProcess, timeout: float, doing: str, told: ProgressCallback | None) -> Any:
    """The next message of a process that is none of `send_compile_progress`, whose messages `told` is told meanwhile.

    Raises as `ChildProcess.receive`, after `timeout` s in which no kernel was compiled: all of them may take longer.
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
        if told is not None and not process.pipe.poll(0):  # what is told is how it is now
            told(answer)
