"""A wizard over a service of the rig: what is asked, what came of it, and its file; nothing is written before Save."""

from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from calibration import CalibrationError, write_new_file
from gui.session import RigSession, Worker, heavy_work_obstacle
from gui.steps import StepPage, StepWizard, set_role
from gui.texts import sentence, tr
from gui.widgets import Theme, field_refusal
from gui.wizard.asking import AskPage
from gui.wizard.computing import ComputePage
from gui.wizard.description import Description, Outcome
from gui.wizard.results import ResultStack
from gui.wizard.running import FileProbe, FitRunner
from gui.wizard.storing import StorePage

_PATIENCE = 5.0  # s for a file that is being written


class FitWizard(StepWizard):
    """The three steps of a description.

    Signals: `motion_wanted(path)` after it closed, where a person wants the saved motion in the tab Motion.

    Args:
        session: whose stops count here as well, and whose engine must not need the processor.
        theme: colours.
        description: what is asked, computed and saved.
        source: a file to begin with, None for the newest recording of the session's folder, or nothing.
        parent: the main window.
    """

    motion_wanted = QtCore.Signal(object)

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
        self.probe = FileProbe(self)
        self.runner = FitRunner(self)
        self.outcome: Outcome | None = None
        """what came of what is chosen, None while nothing has"""
        self._worker = Worker("fitting", self)
        self._step = ""
        self._part: float | None = None
        self._saving = False
        self.asking = AskPage(description, session.folder, self.probe.look)
        self.results = ResultStack(description.tasks, theme)
        self.computing = ComputePage(description.computing, self.results, self._begin, self._cancel, self._answer)
        self.storing = StorePage(description.stored, self._save)
        self.pages: tuple[StepPage, ...] = (self.asking, self.computing, self.storing)
        self.add_steps(self.pages)
        for page in self.pages:
            page.edited.connect(self._edited)
        self.storing.wanted.connect(self._hand_over)
        self.runner.stepped.connect(self._stepped)
        self.runner.questioned.connect(self._questioned)
        self.runner.finished.connect(self._finished)
        self.session.changed.connect(self._refresh)
        self.currentIdChanged.connect(lambda _id: self._refresh())
        self.restart()
        self._refresh()
        self.asking.begin(source, session.folder)

    # -- what is shown -----------------------------------------------------------------------------------------------

    def _edited(self) -> None:
        if self.outcome is not None and (field_refusal(self.asking) or self.outcome.asked != self.asking.asked):
            self.outcome = None
            self.storing.forget()
            self.computing.show_nothing(
                tr("The selection has changed: {verb} again.").format(verb=self.asking.task.verb.lower())
            )
        self._refresh()

    def _refresh(self) -> None:
        fault, busy, outcome = self.asking.fault, self.runner.busy, self.outcome
        running = tr("a fit is running") if busy else ""
        self.asking.setEnabled(not busy)
        self.asking.show_missing(fault)
        self.computing.show_verb(self.asking.task.verb)
        self.computing.begin.set_obstacle(running or heavy_work_obstacle(self.session.situation) or fault)
        self.computing.cancel.set_obstacle("" if busy else tr("nothing is running"))
        doing = sentence(self._step) if busy else ""
        part = self._part if busy else None
        self.computing.show_progress(f"{doing} …" if doing and part is None else doing, part)
        refused = tr("Refused: nothing to save.") if outcome is not None and outcome.text is None else ""
        first = tr("Wait for the fit, or cancel it.") if busy else tr("Compute first, then go on to save.")
        self.computing.show_missing(refused or ("" if outcome is not None else first))
        if not field_refusal(self.asking):
            self.storing.suggest(self.asking.asked if outcome is None else outcome.asked)
        obstacle = tr("being saved") if self._saving else "" if outcome is not None else tr("nothing was computed yet")
        use = None if outcome is None or refused else outcome.asked.task.use(outcome, self.storing.target())
        self.storing.refresh(refused or obstacle, use)
        set_role(self.state, "muted", f"{doing} …" if busy else tr("Nothing is being computed."))

    # -- what is done ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.outcome = None
        self.storing.forget()
        self._step, self._part = tr("starting"), None
        self.runner.start(self.asking.asked)
        self.computing.show_nothing()
        self._refresh()

    def _answer(self) -> None:
        self.computing.show_question("")
        self.runner.answer()

    def _cancel(self) -> None:
        self.runner.cancel()
        self.computing.show_question("")
        self.computing.show_nothing(tr("Cancelled: nothing was written."))
        self._refresh()

    def _stepped(self, step: str, part: float | None) -> None:
        self._step, self._part = step, part
        self._refresh()

    def _questioned(self, question: str) -> None:
        self._step, self._part = tr("waiting for you"), None
        self.computing.show_question(question)
        self._refresh()

    def _finished(self, outcome: Outcome | None, reason: str) -> None:
        self.outcome = outcome
        self.computing.show_question("")
        if outcome is None:
            self.computing.show_refusal(reason)
        else:
            self.computing.show_outcome(outcome)
            reason = outcome.refusal
        self._log("warning" if reason else "info", reason or tr("done"))
        self._refresh()

    def _save(self) -> None:
        outcome = self.outcome
        if outcome is None or outcome.text is None or self.storing.save.obstacle:
            return
        path = self.storing.target()

        def done(_none: Any, error: Exception | None) -> None:
            self._saving = False
            if error is not None:
                self.storing.show_failure(_write_fault(error))
            elif self.outcome is outcome:
                self.storing.show_saved(path)
                self._log("info", tr("saved {path}").format(path=path))
            self._refresh()

        self._saving = True
        self._refresh()
        self._worker.submit(partial(write_new_file, path, outcome.text), done)

    def _hand_over(self) -> None:
        if (path := self.storing.saved) is not None:
            self.accept()
            self.motion_wanted.emit(path)

    def _log(self, level: str, text: str) -> None:
        self.session.log(level, self.windowTitle().lower(), text)

    # -- what the wizard says of itself ------------------------------------------------------------------------------

    def loss(self) -> str:
        """See `StepWizard`: what came out and was not saved, or is being computed."""
        if self.runner.busy:
            return tr("The running computation")
        saved = self.outcome is None or self.outcome.text is None or self.storing.saved is not None
        return "" if saved else tr("The computed result")

    def left(self) -> None:
        """See `StepWizard`: nothing of a fit is left."""
        self.session.changed.disconnect(self._refresh)
        self.retire()

    def retire(self) -> None:
        """End what is running, and the thread, without waiting: the engine must not miss the app meanwhile."""
        self.probe.close()
        self.runner.cancel()
        self._worker.finish()

    def close_worker(self) -> None:
        """End them and wait for a file that is being written. May be called again."""
        self.retire()
        self._worker.join(_PATIENCE)


def _write_fault(error: Exception) -> str:
    """Why a file cannot be written, without its name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if not isinstance(error, CalibrationError):
        return f"{type(error).__name__}: {error}"
    return "; ".join(error.faults)
