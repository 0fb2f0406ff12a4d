"""The wizard: recordings, the fit with its judgement, and the file; nothing is written before Save."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtWidgets

from calibration import CalibrationError, parameters_line, write_new_file
from dynamics import DynamicsError
from gui.identify.compute_page import ComputePage
from gui.identify.identifier import Identifier, Outcome
from gui.identify.recordings_page import RecordingsPage
from gui.identify.store_page import StorePage
from gui.session import RigSession, Worker, heavy_work_obstacle
from gui.steps import StepPage, StepWizard, set_role
from gui.widgets import Theme
from rig.errors import RigError
from rig.recording import RecordingError, RecordingFile, caveats

_EXPECTED = (RigError, RecordingError, CalibrationError, DynamicsError)  # what these say is meant for a person
_PATIENCE = 5.0  # s for a file that is being read
_UNUSABLE = "these recordings cannot be used:"


class IdentifyWizard(StepWizard):
    """Identify masses, inertias and frictions from recordings, look at what came of it, save it.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        folder: of recordings.
        recording: to be fitted on at first; None for the newest of the folder.
        parent: the main window.
    """

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        folder: Path,
        recording: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, "Identify parameters", "What the identification is doing", parent)
        self.identifier = Identifier(self)
        self.outcome: Outcome | None = None
        """what was identified from what is chosen, None while nothing is"""
        self._worker = Worker("identify", self)
        self._step = ""
        self._saving = False
        self.recordings = RecordingsPage(self._look)
        self.computing = ComputePage(theme, self._identify, self._cancel)
        self.storing = StorePage(self._save, self._line)
        self.pages: tuple[StepPage, ...] = (self.recordings, self.computing, self.storing)
        self.add_steps(self.pages)
        for page in self.pages:
            page.edited.connect(self._edited)
        self.identifier.stepped.connect(self._stepped)
        self.identifier.finished.connect(self._finished)
        session.changed.connect(self._refresh)
        self.currentIdChanged.connect(lambda _id: self._refresh())
        self.recordings.begin(folder, recording)
        self.restart()
        self._refresh()

    # -- what is shown -----------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        if self.outcome is not None and self.outcome.asked != self.recordings.asked:
            self.outcome = None
            self.storing.forget()
            self.computing.show_nothing("What was chosen has changed: identify again.")
        self._refresh()

    def _refresh(self) -> None:
        fault, busy = self.recordings.fault, self.identifier.busy
        running = "a fit is running" if busy else ""
        self.recordings.setEnabled(not busy)
        self.recordings.show_missing(fault)
        self.computing.identify.set_obstacle(running or heavy_work_obstacle(self.session.situation) or fault)
        self.computing.cancel.set_obstacle("" if busy else "nothing is running")
        self.computing.show_progress(f"{self._step} …".capitalize() if busy else "")
        first = "Wait for the fit, or cancel it." if busy else "Identify first, then go on to save."
        self.computing.show_missing("" if self.outcome is not None else first)
        if self.outcome is not None:
            self.storing.suggest(self.outcome.asked.fitted[0])
        obstacle = "being saved" if self._saving else "" if self.outcome is not None else "nothing was identified yet"
        self.storing.refresh(obstacle, self._configuration)
        set_role(self.state, "muted", f"{self._step} …".capitalize() if busy else "Nothing is being computed.")

    @property
    def _configuration(self) -> str:
        if not self._of_this_rig:
            return "the rig's configuration"
        own = self.session.config
        return f"a copy of {own.path.name}, which is the project's," if own.shipped else own.path.name

    @property
    def _of_this_rig(self) -> bool:
        return self.outcome is None or self.outcome.mechanism == self.session.config.nominal.name

    def _line(self, target: Path) -> str:
        """The line for a file, with the files that the configuration of this rig names already before it."""
        config = self.session.config
        if not self._of_this_rig:
            return parameters_line([target.name])
        place = target.resolve()
        folder = config.folder.resolve()
        name = str(place.relative_to(folder)) if place.is_relative_to(folder) else str(place)
        return parameters_line([*(each for each in config.parameters if each != name), name])

    # -- what is done ------------------------------------------------------------------------------------------------

    def _look(self, path: Path, told: Callable[[str, str], None]) -> None:
        def done(holds: str | None, error: Exception | None) -> None:
            if holds is not None:
                told(holds, "")
            else:
                told("", _said(error, path))

        self._worker.submit(partial(_holds, path), done)

    def _identify(self) -> None:
        self.outcome = None
        self.storing.forget()
        self._step = "starting"
        self.identifier.start(self.recordings.asked)
        self.computing.show_nothing()
        self._refresh()

    def _cancel(self) -> None:
        self.identifier.cancel()
        self.computing.show_nothing("Cancelled: nothing was written.")
        self._refresh()

    def _stepped(self, step: str) -> None:
        self._step = step
        self._refresh()

    def _finished(self, outcome: Outcome | None, reason: str) -> None:
        self.outcome = outcome
        if outcome is None:
            self.computing.show_refusal(reason)
        else:
            self.computing.show_outcome(outcome)
        text = f"{reason.splitlines()[0]}" if reason else "done"
        self.session.log("info" if outcome is not None else "warning", "identify", text)
        self._refresh()

    def _save(self) -> None:
        outcome = self.outcome
        if outcome is None or self.storing.save.obstacle:
            return
        path = self.storing.target()

        def done(_none: Any, error: Exception | None) -> None:
            self._saving = False
            if error is not None:
                self.storing.show_failure(_said(error, path))
            elif self.outcome is outcome:
                self.storing.show_saved(path)
                self.session.log("info", "identify", f"saved {path}")
            self._refresh()

        self._saving = True
        self._refresh()
        self._worker.submit(partial(write_new_file, path, outcome.text), done)

    # -- what the wizard says of itself ------------------------------------------------------------------------------

    def loss(self) -> str:
        """See `StepWizard`: what was identified and not saved, or is being identified."""
        if self.identifier.busy:
            return "What is being identified"
        return "What was identified" if self.outcome is not None and self.storing.saved is None else ""

    def left(self) -> None:
        """See `StepWizard`: nothing of a fit is left."""
        self.session.changed.disconnect(self._refresh)
        self.retire()

    def retire(self) -> None:
        """End a fit that is running, and the thread, without waiting: the engine must not miss the app meanwhile."""
        self.identifier.cancel()
        self._worker.finish()

    def close_worker(self) -> None:
        """End them and wait for a file that is being read. May be called again."""
        self.retire()
        self._worker.join(_PATIENCE)


def _holds(path: Path) -> str:
    """What of a recording can be fitted, in words; in the worker's thread. Raises what `force_records` raises."""
    from rig.analysis import force_records  # brings scipy along

    recording = RecordingFile(path)
    found = force_records([recording])
    seconds = sum(len(each.pose) / each.rate for each in found.records)
    stretches = f"{len(found.records)} motions, " if len(found.records) > 1 else ""
    doubts = "".join(f"; ⚠ {caveat}" for caveat in caveats(recording))
    return f"{stretches}{seconds:.1f} s, {found.rig.mechanism.name}{doubts}"


def _said(error: Exception | None, path: Path) -> str:
    """Why something is not possible with a file, without what the page says already."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if not isinstance(error, _EXPECTED):
        return f"{type(error).__name__}: {error}"
    lines = (line.strip().removeprefix(f"{path}: ") for line in str(error).splitlines())
    return "; ".join(line for line in lines if line != _UNUSABLE)
