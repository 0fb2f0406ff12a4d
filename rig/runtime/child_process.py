"""One handle for a process of one's own: started shielded, asked by a pipe, ended on every path."""

import multiprocessing.process
import os
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from rig.errors import HardwareError
from rig.runtime.spawning import enter_child, start_shielded, starting

_LAST_WAIT = 2.0  # s after each of the two signals


class ChildDiedError(HardwareError):
    """The process has ended though it was still needed."""


class ChildLateError(HardwareError):
    """The process did not say in time what it was waited for."""


class ChildProcess:
    """A process that runs `main(*arguments, theirs)`, `theirs` being the other end of the pipe; it is started at once.

    The end of either process is the end of the pipe: a child that reads it notices that its owner has gone. A pipe and
    a process that could not be started leave nothing.

    Args:
        name: in a sentence, as "the recorder".
        main: what runs in it; found by its name, with nothing of this process but its environment.
        arguments: for it, pickled.
        daemon: left False by those that have children of their own.
        duplex: whether the child sends as well.
        early: fork it from this process where that has one thread only, see `starting`; it has all files open here.
    """

    def __init__(
        self,
        name: str,
        main: Callable[..., object],
        *arguments: object,
        daemon: bool = True,
        duplex: bool = True,
        early: bool = False,
    ) -> None:
        self.name = name
        self.pipe: Connection
        """our end"""
        context = starting(early=early)
        if duplex:
            self.pipe, theirs = context.Pipe()
        else:
            theirs, self.pipe = context.Pipe(duplex=False)
        ours = self.pipe if context.get_start_method() == "fork" else None
        told = (name, dict(os.environ), ours, main, *arguments, theirs)
        self._process = context.Process(target=_run, args=told, name=name, daemon=daemon)
        try:
            start_shielded(self._process)
        except BaseException:
            self.end(0.0)
            raise
        finally:
            theirs.close()

    @property
    def pid(self) -> int | None:
        """Process id, None where it could not be started."""
        return self._process.pid

    @property
    def sentinel(self) -> int:
        """A file descriptor that can be read from once the process has ended."""
        return self._process.sentinel

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    @property
    def exitcode(self) -> int | None:
        """Exit code, negative the signal that ended it; None while it runs."""
        return self._process.exitcode

    def send(self, message: object) -> None:
        """Send a message. Raises ChildDiedError where nobody is there to take it."""
        try:
            self.pipe.send(message)
        except OSError as error:
            raise self.died() from error

    def receive(self, timeout: float, doing: str = "answer") -> Any:
        """The next message, waiting at most `timeout` s.

        Raises:
            ChildDiedError: the process has ended, or closed the pipe.
            ChildLateError: it did not do in time what it was `doing`.
        """
        try:
            if not self.pipe.poll(timeout):
                raise ChildLateError(f"{self.name} did not {doing} within {timeout:g} s")
            return self.pipe.recv()
        except (EOFError, OSError) as error:
            self.join(1.0)  # so that its exit code is known
            raise self.died() from error

    def died(self) -> ChildDiedError:
        """The error that says so."""
        return ChildDiedError(f"{self.name} has died")

    def join(self, timeout: float) -> bool:
        """Wait at most `timeout` s for the process to end by itself; whether it has."""
        self._process.join(timeout)
        return not self._process.is_alive()

    def terminate(self, patience: float) -> bool:
        """Tell the process to end by a signal that it can act on; whether it has within `patience` s."""
        self._process.terminate()
        return self.join(patience)

    def release(self) -> None:
        """Leave the process to itself: it goes on when this one ends, which does not wait for it."""
        self.pipe.close()
        vars(multiprocessing.process)["_children"].discard(self._process)

    def end(self, patience: float, *, terminate: bool = True) -> None:
        """End the process, and close the pipe. May be called again.

        Args:
            patience: s for it to end by itself, as it was asked to before; the pipe is closed first then.
            terminate: begin with a signal that it can act on.
        """
        try:
            if self._process.pid is None:
                return
            if patience > 0.0:
                self.pipe.close()
                self._process.join(patience)
            if terminate and self._process.is_alive():
                self._process.terminate()
                self._process.join(_LAST_WAIT)
            if self._process.is_alive():
                self._process.kill()
            self._process.join()
        finally:
            self.pipe.close()


def _run(
    name: str,
    environment: Mapping[str, str],
    not_its: Connection | None,
    main: Callable[..., object],
    *arguments: object,
) -> None:
    """Main function of every child.

    Args:
        name: see `ChildProcess`.
        environment: of whoever started it, which the server's may not be.
        not_its: the owner's end of its pipe, where it has that as well: open here, it would never end.
        main, arguments: see `ChildProcess`.
    """
    enter_child(name)
    if not_its is not None:
        not_its.close()
    os.environ.clear()
    os.environ.update(environment)
    main(*arguments)
