"""A wizard over a rig service: request, result, and file; nothing is written before Save."""

from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from calibration import CalibrationError, write_new_file
from gui.session import RigSession, Worker, heavy_work_obstacle
from gui.steps import StepPage, StepWizard, set_role
from gui.texts import sentence, tr
from gui.widgets import Theme, field_refusal
from gui.wizard.compute_page import ComputePage
from gui.wizard.description import Description, Outcome
from gui.wizard.request_page import RequestPage
from gui.wizard.results import ResultStack
from gui.wizard.save_page import SavePage
from gui.wizard.service_runner import FileProbe, FitRunner

_PATIENCE = 5.0  # s to finish writing a file


class FitWizard(StepWizard):
    """The three steps of a description.

    Signals: `motion_requested(path)`: emitted after closing, to open the saved motion in the tab Motion.

    Args:
        session: source of stops, and of the engine's state, as the engine must not lack CPU time.
        theme: colours.
        description: of the wizard.
        source: first file, None for the newest recording of the session's folder, if any.
        parent: the main window.
    """

    motion_requested = QtCore.Signal(object)

    def __init__(
        self,
        session: RigSession,
        theme: Theme,
        description: Description,
        source: Path | None = None,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        super().__init__(session, description.title, tr("The running computation"), parent)
        self.description = description
        self.file_probe = FileProbe(self)
        self.runner = FitRunner(self)
        self.outcome: Outcome | None = None
        """Outcome of the current request, None without."""
        self._worker = Worker("fitting", self)
        self._step = ""
        self._part: float | None = None
        self._saving = False
        self.request_page = RequestPage(description, session.folder, self.file_probe.probe)
        self.results = ResultStack(description.tasks, theme)
        self.compute_page = ComputePage(
            description.compute_heading, self.results, self._begin, self._cancel, self._answer
        )
        self.save_page = SavePage(description.file_kind, self._save)
        self.pages: tuple[StepPage, ...] = (self.request_page, self.compute_page, self.save_page)
        self.add_steps(self.pages)
        for page in self.pages:
            page.edited.connect(self._edited)
        self.save_page.open_requested.connect(self._open_motion)
        self.runner.stepped.connect(self._stepped)
        self.runner.questioned.connect(self._questioned)
        self.runner.finished.connect(self._finished)
        self.session.changed.connect(self._refresh)
        self.currentIdChanged.connect(lambda _id: self._refresh())
        self.restart()
        self._refresh()
        self.request_page.begin(source, session.folder)

    # -- display -----------------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        if self.outcome is not None and (
            field_refusal(self.request_page) or self.outcome.request != self.request_page.request
        ):
            self.outcome = None
            self.save_page.reset()
            self.compute_page.show_nothing(
                tr("The selection has changed: {verb} again.").format(verb=self.request_page.task.verb.lower())
            )
        self._refresh()

    def _refresh(self) -> None:
        fault, busy, outcome = self.request_page.fault, self.runner.busy, self.outcome
        running = tr("a fit is running") if busy else ""
        self.request_page.setEnabled(not busy)
        self.request_page.show_missing(fault)
        self.compute_page.show_verb(self.request_page.task.verb)
        self.compute_page.begin.set_obstacle(running or heavy_work_obstacle(self.session.situation) or fault)
        self.compute_page.cancel.set_obstacle("" if busy else tr("nothing is running"))
        doing = sentence(self._step) if busy else ""
        part = self._part if busy else None
        self.compute_page.show_progress(f"{doing} …" if doing and part is None else doing, part)
        refused = tr("Refused: nothing to save.") if outcome is not None and outcome.text is None else ""
        first = tr("Wait for the fit, or cancel it.") if busy else tr("Compute first, then go on to save.")
        self.compute_page.show_missing(refused or ("" if outcome is not None else first))
        if not field_refusal(self.request_page):
            self.save_page.suggest(self.request_page.request if outcome is None else outcome.request)
        obstacle = tr("being saved") if self._saving else "" if outcome is not None else tr("nothing was computed yet")
        use = None if outcome is None or refused else outcome.request.task.use(outcome, self.save_page.target())
        self.save_page.refresh(refused or obstacle, use)
        set_role(self.state, "muted", f"{doing} …" if busy else tr("Nothing is being computed."))

    # -- actions -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.outcome = None
        self.save_page.reset()
        self._step, self._part = tr("starting"), None
        self.runner.start(self.request_page.request)
        self.compute_page.show_nothing()
        self._refresh()

    def _answer(self) -> None:
        self.compute_page.show_question("")
        self.runner.answer()

    def _cancel(self) -> None:
        self.runner.cancel()
        self.compute_page.show_question("")
        self.compute_page.show_nothing(tr("Cancelled: nothing was written."))
        self._refresh()

    def _stepped(self, step: str, part: float | None) -> None:
        self._step, self._part = step, part
        self._refresh()

    def _questioned(self, question: str) -> None:
        self._step, self._part = tr("waiting for you"), None
        self.compute_page.show_question(question)
        self._refresh()

    def _finished(self, outcome: Outcome | None, reason: str) -> None:
        self.outcome = outcome
        self.compute_page.show_question("")
        if outcome is None:
            self.compute_page.show_refusal(reason)
        else:
            self.compute_page.show_outcome(outcome)
            reason = outcome.refusal
        self._log("warning" if reason else "info", reason or tr("done"))
        self._refresh()

    def _save(self) -> None:
        outcome = self.outcome
        if outcome is None or outcome.text is None or self.save_page.save.obstacle:
            return
        path = self.save_page.target()

        def done(_none: Any, error: Exception | None) -> None:
            self._saving = False
            if error is not None:
                self.save_page.show_failure(_write_fault(error))
            elif self.outcome is outcome:
                self.save_page.show_saved(path)
                self._log("info", tr("saved {path}").format(path=path))
            self._refresh()

        self._saving = True
        self._refresh()
        self._worker.submit(partial(write_new_file, path, outcome.text), done)

    def _open_motion(self) -> None:
        if (path := self.save_page.saved) is not None:
            self.accept()
            self.motion_requested.emit(path)

    def _log(self, level: str, text: str) -> None:
        self.session.log(level, self.windowTitle().lower(), text)

    # -- interface of `StepWizard` -----------------------------------------------------------------------------------

    def loss(self) -> str:
        """See `StepWizard`: an unsaved or running result."""
        if self.runner.busy:
            return tr("The running computation")
        saved = self.outcome is None or self.outcome.text is None or self.save_page.saved is not None
        return "" if saved else tr("The computed result")

    def left(self) -> None:
        """See `StepWizard`: cancels the fit."""
        self.session.changed.disconnect(self._refresh)
        self.retire()

    def retire(self) -> None:
        """End processes and thread without waiting: the engine needs the app's heartbeat."""
        self.file_probe.close()
        self.runner.cancel()
        self._worker.finish()

    def close_worker(self) -> None:
        """End them and wait for a file being written. May be called again."""
        self.retire()
        self._worker.join(_PATIENCE)


def _write_fault(error: Exception) -> str:
    """Return why a file cannot be written, without its name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if not isinstance(error, CalibrationError):
        return f"{type(error).__name__}: {error}"
    return "; ".join(error.faults)
