"""Numbers and verdict of runs, by `rig runs` in a process of its own beside the app."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.session import RigCommand
from gui.texts import tr
from rig.errors import ExitCode

_DEADLINE = 120_000  # ms, from the beginning to the last attempt's end
_AGAIN = 500  # ms, until the end of a run is on the disk


class RunJudge(QtCore.QObject):
    """Judges some runs of one folder at a time.

    Signals: `judged(runs, reason)`: what `rig runs --json` told of them, and "", or an empty list and why.

    Args:
        deadline: ms for each run after which it is given up.
    """

    judged = QtCore.Signal(list, str)

    def __init__(self, parent: QtCore.QObject | None = None, deadline: int = _DEADLINE) -> None:
        super().__init__(parent)
        self._command = RigCommand(self)
        self._command.ended.connect(self._done)
        self._arguments: list[str] = []
        self._patience = deadline
        self._deadline = QtCore.QTimer(self, singleShot=True)
        self._deadline.timeout.connect(
            lambda: self._give_up(tr("not done after {time:g} s").format(time=self._deadline.interval() / 1000))
        )
        self._again = QtCore.QTimer(self, singleShot=True, interval=_AGAIN)
        self._again.timeout.connect(lambda: self._command.start(self._arguments))

    @property
    def busy(self) -> bool:
        """Whether something is being judged."""
        return bool(self._arguments)

    def start(self, where: Path, runs: Sequence[str], judged_by: Sequence[str] = ()) -> None:
        """Judge runs (FILE#ID) of a folder or a recording, as options of `rig runs` say by what, or as recorded.

        Nothing while others are being judged.
        """
        if self.busy:
            return
        chosen = [part for run in runs for part in ("--run", run)]
        self._arguments = ["runs", str(where), *chosen, *judged_by, "--judge", "--json"]
        self._deadline.start(self._patience * max(1, len(runs)))
        self._command.start(self._arguments)

    def cancel(self) -> None:
        """Give up what is being judged; it is said as a reason."""
        if self.busy:
            self._give_up(tr("cancelled"))

    def close(self) -> None:
        """The same, and nothing is told any more. May be called again."""
        self._stop()

    def _stop(self) -> None:
        self._deadline.stop()
        self._again.stop()
        self._command.close()
        self._arguments = []

    def _give_up(self, reason: str) -> None:
        self._stop()
        self.judged.emit([], reason)

    def _done(self, code: int, output: str, errors: str) -> None:
        told: list[dict[str, Any]] = []
        if code == ExitCode.OK:
            told = json.loads(output)["runs"]
            if any(run["end"] is None for run in told):
                self._again.start()  # its end was not on the disk yet when it was looked for
                return
        elif "has no run" in errors and self._deadline.remainingTime() > 0:
            self._again.start()  # not even its beginning is there
            return
        self._stop()
        if code == ExitCode.OK:
            self.judged.emit(told, errors.strip() if any(run["numbers"] is None for run in told) else "")
        else:
            self.judged.emit(told, errors.strip() or tr("rig runs ended with {code}").format(code=code))
