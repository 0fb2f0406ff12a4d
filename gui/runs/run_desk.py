"""Detects ended runs, has each judged, and shows the verdict on the last one."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.models import Action, FinishedRuns, JudgedBy, heavy_work_obstacle
from gui.motion import DocumentControl
from gui.runs.reporting import Reporting
from gui.runs.verdict_card import VerdictCard
from gui.session import JobRunner, RigSession, Worker, error_text
from gui.texts import tr
from kinematics import Thresholds
from rig.config import RigConfig, Validation, own_thresholds, save_thresholds
from rig.engine import Snapshot
from rig.errors import ConfigError, InputError
from rig.recording import MotionRecord, part_name
from rig.runs import write_entry
from rig.services import Event, NoRunError, Notice, RunsRequest, RunsResult, list_runs

_DEADLINE = 120_000  # ms, for all attempts
_AGAIN = 500  # ms between attempts, until the end of a run is on the disk
_AS_RECORDED = JudgedBy()


class RunJudge(QtCore.QObject):
    """Judges runs of one folder at a time.

    Signals: `judged(runs, reason)`: `Listed.described` of each and "", or an empty list and why.

    Args:
        deadline: ms per run.
    """

    judged = QtCore.Signal(list, str)

    def __init__(self, parent: QtCore.QObject | None = None, deadline: int = _DEADLINE) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.reported.connect(self._handle_event)
        self._job.ended.connect(self._done)
        self._request: RunsRequest | None = None
        self._notices: list[str] = []
        self._patience = deadline
        self._deadline = QtCore.QTimer(self, singleShot=True)
        self._deadline.timeout.connect(
            lambda: self._give_up(tr("not done after {time:g} s").format(time=self._deadline.interval() / 1000))
        )
        self._again = QtCore.QTimer(self, singleShot=True, interval=_AGAIN)
        self._again.timeout.connect(self._attempt)

    @property
    def busy(self) -> bool:
        """Whether a job is in progress."""
        return self._request is not None

    def start(self, where: Path, runs: Sequence[str], by: JudgedBy = _AS_RECORDED) -> None:
        """Judge runs (FILE#ID) of a folder or a recording by these thresholds, or as recorded.

        Ignored while another job is in progress.
        """
        if self.busy:
            return
        self._request = RunsRequest(where, runs=tuple(runs), judge=True, thresholds=by.thresholds, alone=by.typed)
        self._deadline.start(self._patience * max(1, len(runs)))
        self._attempt()

    def cancel(self) -> None:
        """Cancel the job, and report that as the reason."""
        if self.busy:
            self._give_up(tr("cancelled"))

    def close(self) -> None:
        """Cancel the job without a report. May be called again."""
        self._stop()

    def _stop(self) -> None:
        self._deadline.stop()
        self._again.stop()
        self._job.close()
        self._request = None

    def _attempt(self) -> None:
        self._notices.clear()
        self._job.start(list_runs, self._request)

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, Notice):
            self._notices.append(event.text)

    def _give_up(self, reason: str) -> None:
        self._stop()
        self.judged.emit([], reason)

    def _done(self, found: RunsResult | None, error: Exception | None) -> None:
        missing = isinstance(error, NoRunError) and self._deadline.remainingTime() > 0
        if missing or (found is not None and any(one.run.end is None for one in found.runs)):
            self._again.start()  # its end, or even its beginning, was not on the disk yet
            return
        self._stop()
        if error is not None:
            self.judged.emit([], error_text(error))
        elif found is not None:
            uncounted = any(one.numbers is None for one in found.runs)
            reason = "\n".join(self._notices) if uncounted else ""
            self.judged.emit([one.described() for one in found.runs], reason)


_EDITED = tr("edited thresholds")
_SHIPPED = tr("the configuration is part of the program and read-only: copy it and open the copy")


class RunDesk(QtCore.QObject):
    """Owns the card, the judging process, the thread that writes notes and thresholds, and the reports.

    Every run is judged, in a queue; the card shows the last one.

    Signals: `changed`: results or thresholds have changed.

    Args:
        session: the rig.
    """

    changed = QtCore.Signal()

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        config = session.config
        self.card = VerdictCard(_SHIPPED if config.shipped else "", config.path.name)
        self.judge = RunJudge(self)
        self.judge.judged.connect(self._judged)
        self.finished = FinishedRuns()
        self.reporting = Reporting(session, lambda: self.finished.judged_by, self)
        self._worker = Worker("runs", self)
        self._document: DocumentControl | None = None
        self.note = ""
        """Note on following runs, saved next to the recording."""
        self.card.cancelled.connect(self._cancel)
        self.card.thresholds.applied.connect(lambda thresholds: self._judge_by(JudgedBy(thresholds)))
        self.card.thresholds.saved.connect(self._save)
        self.card.thresholds.saved_in_motion.connect(self._save_in_motion)
        self.card.report_requested.connect(self._report)
        session.statusChanged.connect(self._follow)
        session.changed.connect(self._refresh)
        session.died.connect(self._died)

    @property
    def judged_by(self) -> JudgedBy:
        """The thresholds from now on."""
        return self.finished.judged_by

    def set_note(self, note: str) -> None:
        """Set the note on following runs; empty: none."""
        self.note = note.strip()

    def follow_motion(self, document: DocumentControl) -> None:
        """Set the document whose file thresholds can be saved in."""
        self._document = document
        document.title_changed.connect(lambda _title: self._update_motion_obstacle())
        self._update_motion_obstacle()

    def close(self) -> None:
        """End processes and thread. May be called again."""
        self.reporting.close()
        self.judge.close()
        self._worker.finish()
        self._worker.join(2.0)

    @property
    def obstacle(self) -> str:
        """Why no run can be judged now."""
        return heavy_work_obstacle(self._session.situation)

    @property
    def _shown_motion(self) -> tuple[str, Path | None]:
        return ("", None) if self._document is None else (self._document.state.name, self._document.state.path)

    def _follow(self, status: Snapshot) -> None:
        self._run_ended(self.finished.follow(self._session.recording, status.last_motion, self._shown_motion))

    def _died(self) -> None:
        """Judge the run that a crashed engine left unfinished."""
        self._run_ended(self.finished.end(self._session.recording, self._shown_motion))

    def _run_ended(self, motion: MotionRecord | None) -> None:
        """Take a finished run; None: nothing."""
        if motion is None or self.finished.last is None:
            return
        self._update_motion_obstacle()
        recording = self.finished.last[0]
        if self.note:
            run, note = part_name(recording.name, motion.id), self.note
            self._worker.submit(partial(write_entry, recording.parent, run, {"note": note}), self._noted)
        self._wait()

    def _wait(self) -> None:
        """Queue the run on the card, and show what it waits for."""
        self._show_waiting(self.obstacle)
        self._begin()

    def _show_waiting(self, reason: str) -> None:
        if self.finished.last is not None:
            recording, motion = self.finished.last
            later = tr("Will be judged later: {reason}.").format(reason=reason) if reason else ""
            self.card.show_judging(part_name(recording.name, motion.id), motion.name, later)

    def _begin(self) -> None:
        """Judge the queue one by one, unless a job is in progress or not allowed now."""
        if self.judge.busy or self.obstacle or (following := self.finished.next()) is None:
            return
        recording, motion = following
        run = part_name(recording.name, motion.id)
        if self.finished.judges_last:
            self.card.show_judging(run, motion.name)
        self.judge.start(recording, [run], self.finished.last_judged_by)

    def _cancel(self) -> None:
        """Cancel all judging; the run on the card is shown as cancelled, even if still queued."""
        self.finished.waiting = []
        self.judge.close()
        if self.finished.last is not None:
            recording, motion = self.finished.last
            self.card.show_failure(part_name(recording.name, motion.id), motion.name, tr("cancelled"))

    def _refresh(self) -> None:
        self._begin()
        self.card.set_report_obstacle(self._session.obstacle(Action.REPORT))

    def _judged(self, runs: list[dict[str, Any]], reason: str) -> None:
        for run in runs:
            if run["numbers"] is not None:
                text = tr("run {run}: {verdict}").format(run=run["run"], verdict=run["verdict"] or tr("no thresholds"))
                self._session.log("info", "app", text)
        if self.finished.last is not None and self.finished.judges_last:
            recording, motion = self.finished.last
            name = part_name(recording.name, motion.id)
            found = next((one for one in runs if one["run"] == name and one["numbers"] is not None), None)
            if found is not None:
                self.card.show_run(found, _EDITED if self.finished.last_judged_by.typed else "")
            else:
                self.card.show_failure(name, motion.name, reason)
        self._begin()
        if self.finished.last in self.finished.waiting and (reason := self.obstacle):
            self._show_waiting(reason)  # torque was enabled meanwhile
        self.changed.emit()

    def _judge_by(self, by: JudgedBy) -> None:
        self.finished.judge_by(by)
        self._judge_again()

    def _judge_again(self) -> None:
        if self.finished.last is not None:
            self._wait()
        self.changed.emit()

    def _save(self, thresholds: Validation) -> None:
        config = self._session.config

        def job() -> RigConfig:
            save_thresholds(config, thresholds)
            return config.changed({"validation": thresholds.model_dump()})

        self._worker.submit(job, self._saved)

    def _saved(self, config: RigConfig | None, error: Exception | None) -> None:
        if config is None:
            self._session.refused.emit(tr("save the thresholds"), str(error))
            return
        self._session.config = config
        self._session.log(
            "info",
            "app",
            tr("thresholds saved in {path}; recordings have them from Connect on").format(path=config.path),
        )
        self._judge_by(JudgedBy(config.validation, config.path))

    def _save_in_motion(self, thresholds: Validation) -> None:
        document = self._document
        if document is None or self.finished.motion_obstacle(self._shown_motion):
            return
        try:
            before = Thresholds.model_validate(document.thresholds)
            document.write_thresholds(own_thresholds(thresholds, self._session.config.validation, before))
        except (ConfigError, InputError) as error:
            self.card.thresholds.refuse(error)
            return
        self.finished.judge_last_by(thresholds)
        self._judge_again()

    def _update_motion_obstacle(self) -> None:
        shown = None if self._document is None else self._shown_motion
        self.card.thresholds.set_motion_obstacle(self.finished.motion_obstacle(shown))

    def _noted(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self._session.refused.emit(tr("note on the run"), str(error))
        self.changed.emit()

    def _report(self, run: str, place: str) -> None:
        """Make the report with the thresholds of the card's verdict."""
        if self.finished.last is not None:
            self.reporting.make([str(self.finished.last[0].with_name(run))], place, self.finished.last_judged_by)
