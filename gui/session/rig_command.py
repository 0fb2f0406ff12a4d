"""A `rig` command in a process of its own, beside the app."""

import contextlib
import os
from collections.abc import Callable, Sequence
from multiprocessing import Pipe

from pyqtgraph.Qt import QtCore

from gui.texts import tr
from rig.errors import ExitCode
from rig.runtime import ChildProcess

_AT_ONCE = 1 << 16  # bytes
_END = 2.0  # s for a process whose end has been told


class RigCommand(QtCore.QObject):
    """Runs one command at a time, forked from the server that has loaded the most of what it takes.

    Signals: `told(line)` for each line of its error stream as it comes; `ended(code, output, errors)`, code as
    `rig.errors.ExitCode`, INTERNAL where it cannot be started, negative the signal that ended it.
    """

    told = QtCore.Signal(str)
    ended = QtCore.Signal(int, str, str)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._running: _Running | None = None
        self._seen = 0
        """bytes of the error stream that were told"""

    @property
    def busy(self) -> bool:
        """Whether a command is running."""
        return self._running is not None

    def start(self, arguments: Sequence[str]) -> None:
        """Run `rig` with these arguments. Nothing while another runs."""
        if self._running is not None:
            return
        self._seen = 0
        try:
            self._running = _Running(arguments, self._tell, self._done)
        except OSError as error:
            self.ended.emit(
                ExitCode.INTERNAL,
                "",
                tr("no process can be started: {reason}").format(reason=error.strerror or error),
            )

    def answer(self) -> None:
        """Say that what it asked for is done, by a line of its standard input. Nothing while none runs."""
        if self._running is not None:
            self._running.answer()

    def close(self) -> None:
        """Kill what is running; nothing is told any more. May be called again."""
        running, self._running = self._running, None
        if running is not None:
            running.close()

    def _tell(self) -> None:
        assert self._running is not None
        *lines, _begun = self._running.errors.text[self._seen :].split(b"\n")
        for line in lines:
            self._seen += len(line) + 1
            self.told.emit(line.decode(errors="replace"))

    def _done(self, code: int) -> None:
        running, self._running = self._running, None
        assert running is not None
        running.close()
        output, errors = (bytes(one.text).decode(errors="replace") for one in (running.output, running.errors))
        self.ended.emit(code, output, errors)


class _Running:
    """The process and its two streams, told of in the thread that made it.

    Args:
        arguments: of `rig`.
        tell: called after something came on the error stream.
        done: called with the exit code, once everything was read that came before.

    Raises OSError where it cannot be started; then nothing is left.
    """

    def __init__(self, arguments: Sequence[str], tell: Callable[[], None], done: Callable[[int], None]) -> None:
        from rig.cli import run_child_command  # which brings all commands, for which no app waits

        self._tell, self._finish = tell, done
        self.output = _Stream(lambda: None)
        self.errors = _Stream(tell)
        streams = (self.output, self.errors)
        try:
            self._child = ChildProcess(
                "the command",
                run_child_command,
                tuple(arguments),
                os.getcwd(),
                *(one.theirs for one in streams),
                daemon=False,
            )
        except BaseException:
            for one in streams:
                one.close()
            raise
        finally:
            for one in streams:
                one.theirs.close()
        self._end = _watch(self._child.sentinel, self._ended)

    def answer(self) -> None:
        """Write an empty line to its standard input; nothing where it has ended."""
        with contextlib.suppress(OSError):
            os.write(self._child.pipe.fileno(), b"\n")

    def close(self) -> None:
        """End it, where it has not ended. May be called again."""
        self._end.setEnabled(False)
        for one in (self.output, self.errors):
            one.close()
        self._child.end(0.0, terminate=False)

    def _ended(self) -> None:
        self._end.setEnabled(False)
        self._child.join(_END)
        code = self._child.exitcode
        for one in (self.output, self.errors):
            one.read_rest()
        self._tell()
        self._finish(ExitCode.INTERNAL if code is None else code)


class _Stream:
    """What comes out of one of the process's streams, `text`; `theirs` is its end of the pipe, to be closed here.

    Args:
        came: called after each piece.
    """

    def __init__(self, came: Callable[[], None]) -> None:
        self.text = bytearray()
        self._came = came
        self._ours, self.theirs = Pipe(duplex=False)
        os.set_blocking(self._ours.fileno(), False)
        self._watch = _watch(self._ours.fileno(), self._readable)

    def read_rest(self) -> None:
        """Read what is there."""
        while self._read():
            pass

    def close(self) -> None:
        """Read no more. May be called again."""
        self._watch.setEnabled(False)
        self._ours.close()

    def _readable(self) -> None:
        piece = self._read()
        if piece:
            self._came()
        elif piece is not None:
            self._watch.setEnabled(False)

    def _read(self) -> bytes | None:
        """What is there now; empty at the end, None where nothing is there yet."""
        try:
            piece = os.read(self._ours.fileno(), _AT_ONCE)
        except BlockingIOError:
            return None
        self.text += piece
        return piece


def _watch(descriptor: int, call: Callable[[], None]) -> QtCore.QSocketNotifier:
    """Call as long as there is something to read."""
    notifier = QtCore.QSocketNotifier(descriptor, QtCore.QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda *_: call())
    return notifier
