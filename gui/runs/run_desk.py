"""Follows the rig for runs that have ended, has each judged, and shows the verdict on the last one."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.models import Action, JudgedBy, RunsOver, heavy_work_obstacle
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

_DEADLINE = 120_000  # ms, from the beginning to the last attempt's end
_AGAIN = 500  # ms, until the end of a run is on the disk
_AS_RECORDED = JudgedBy()


class RunJudge(QtCore.QObject):
    """Judges some runs of one folder at a time.

    Signals: `judged(runs, reason)`: what `Listed.described` says of each, and "", or an empty list and why.

    Args:
        deadline: ms for each run after which it is given up.
    """

    judged = QtCore.Signal(list, str)

    def __init__(self, parent: QtCore.QObject | None = None, deadline: int = _DEADLINE) -> None:
        super().__init__(parent)
        self._job = JobRunner(self)
        self._job.reported.connect(self._take)
        self._job.ended.connect(self._done)
        self._request: RunsRequest | None = None
        self._notices: list[str] = []
        self._patience = deadline
        self._deadline = QtCore.QTimer(self, singleShot=True)
        self._deadline.timeout.connect(
            lambda: self._give_up(tr("not done after {time:g} s").format(time=self._deadline.interval() / 1000))
        )
        self._again = QtCore.QTimer(self, singleShot=True, interval=_AGAIN)
        self._again.timeout.connect(self._look)

    @property
    def busy(self) -> bool:
        """Whether something is being judged."""
        return self._request is not None

    def start(self, where: Path, runs: Sequence[str], by: JudgedBy = _AS_RECORDED) -> None:
        """Judge runs (FILE#ID) of a folder or a recording by these thresholds, or as recorded.

        Nothing while others are being judged.
        """
        if self.busy:
            return
        self._request = RunsRequest(where, runs=tuple(runs), judge=True, thresholds=by.thresholds, alone=by.typed)
        self._deadline.start(self._patience * max(1, len(runs)))
        self._look()

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
        self._job.close()
        self._request = None

    def _look(self) -> None:
        self._notices.clear()
        self._job.start(list_runs, self._request)

    def _take(self, event: Event) -> None:
        if isinstance(event, Notice):
            self._notices.append(event.text)

    def _give_up(self, reason: str) -> None:
        self._stop()
        self.judged.emit([], reason)

    def _done(self, found: RunsResult | None, error: Exception | None) -> None:
        missing = isinstance(error, NoRunError) and self._deadline.remainingTime() > 0
        if missing or (found is not None and any(one.run.end is None for one in found.runs)):
            self._again.start()  # its end, or even its beginning, was not on the disk yet when it was looked for
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
    """Holds the card, the process that judges, the thread that writes notes and thresholds, and who makes reports.

    Every run is judged, one after another where they end faster than that; the card is about the last one.

    Signals: `changed`: what is known of runs, or by what they are judged, has changed.

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
        self.over = RunsOver()
        self.reporting = Reporting(session, lambda: self.over.judged_by, self)
        self._worker = Worker("runs", self)
        self._document: DocumentControl | None = None
        self.note = ""
        """on runs from now on, kept beside the recording"""
        self.card.cancelled.connect(self._cancel)
        self.card.thresholds.applied.connect(lambda thresholds: self._judge_by(JudgedBy(thresholds)))
        self.card.thresholds.saved.connect(self._save)
        self.card.thresholds.saved_in_motion.connect(self._save_in_motion)
        self.card.report_asked.connect(self._report)
        session.statusChanged.connect(self._follow)
        session.changed.connect(self._refresh)
        session.died.connect(self._died)

    @property
    def judged_by(self) -> JudgedBy:
        """By what runs are judged from here on."""
        return self.over.judged_by

    def set_note(self, note: str) -> None:
        """Keep this note with every run from now on; empty keeps none."""
        self.note = note.strip()

    def follow_motion(self, document: DocumentControl) -> None:
        """Take the motion that is shown as the one whose file thresholds may be saved in."""
        self._document = document
        document.retitled.connect(lambda _title: self._say_motion_obstacle())
        self._say_motion_obstacle()

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
        self._take(self.over.follow(self._session.recording, status.last_motion, self._shown_motion))

    def _died(self) -> None:
        """What was recorded of a run that the engine left where it was is judged."""
        self._take(self.over.end(self._session.recording, self._shown_motion))

    def _take(self, motion: MotionRecord | None) -> None:
        """A run is over, unless it is None."""
        if motion is None or self.over.last is None:
            return
        self._say_motion_obstacle()
        recording = self.over.last[0]
        if self.note:
            run, note = part_name(recording.name, motion.id), self.note
            self._worker.submit(partial(write_entry, recording.parent, run, {"note": note}), self._noted)
        self._wait()

    def _wait(self) -> None:
        """The run on the card waits to be judged: say what for."""
        self._show_waiting(self.obstacle)
        self._begin()

    def _show_waiting(self, reason: str) -> None:
        if self.over.last is not None:
            recording, motion = self.over.last
            later = tr("Will be judged later: {reason}.").format(reason=reason) if reason else ""
            self.card.show_judging(part_name(recording.name, motion.id), motion.name, later)

    def _begin(self) -> None:
        """Judge what waits, one after the other, unless something is being judged, or cannot be now."""
        if self.judge.busy or self.obstacle or (following := self.over.next()) is None:
            return
        recording, motion = following
        run = part_name(recording.name, motion.id)
        if self.over.judges_last:
            self.card.show_judging(run, motion.name)
        self.judge.start(recording, [run], self.over.last_judged_by)

    def _cancel(self) -> None:
        """Judge nothing any further; that on the card is said to be cancelled, though its turn may not have come."""
        self.over.waiting = []
        self.judge.close()
        if self.over.last is not None:
            recording, motion = self.over.last
            self.card.show_failure(part_name(recording.name, motion.id), motion.name, tr("cancelled"))

    def _refresh(self) -> None:
        self._begin()
        self.card.set_report_obstacle(self._session.obstacle(Action.REPORT))

    def _judged(self, runs: list[dict[str, Any]], reason: str) -> None:
        for run in runs:
            if run["numbers"] is not None:
                said = tr("run {run}: {verdict}").format(run=run["run"], verdict=run["verdict"] or tr("no thresholds"))
                self._session.log("info", "app", said)
        if self.over.last is not None and self.over.judges_last:
            recording, motion = self.over.last
            name = part_name(recording.name, motion.id)
            found = next((one for one in runs if one["run"] == name and one["numbers"] is not None), None)
            if found is not None:
                self.card.show_run(found, _EDITED if self.over.last_judged_by.typed else "")
            else:
                self.card.show_failure(name, motion.name, reason)
        self._begin()
        if self.over.last in self.over.waiting and (reason := self.obstacle):
            self._show_waiting(reason)  # torque has come on meanwhile
        self.changed.emit()

    def _judge_by(self, by: JudgedBy) -> None:
        self.over.judge_by(by)
        self._judge_again()

    def _judge_again(self) -> None:
        if self.over.last is not None:
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
        if document is None or self.over.motion_obstacle(self._shown_motion):
            return
        try:
            before = Thresholds.model_validate(document.thresholds)
            document.write_thresholds(own_thresholds(thresholds, self._session.config.validation, before))
        except (ConfigError, InputError) as error:
            self.card.thresholds.refuse(error)
            return
        self.over.judge_last_by(thresholds)
        self._judge_again()

    def _say_motion_obstacle(self) -> None:
        shown = None if self._document is None else self._shown_motion
        self.card.thresholds.set_motion_obstacle(self.over.motion_obstacle(shown))

    def _noted(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self._session.refused.emit(tr("note on the run"), str(error))
        self.changed.emit()

    def _report(self, run: str, place: str) -> None:
        """Make the report by the same thresholds as the card's verdict."""
        if self.over.last is not None:
            self.reporting.make([str(self.over.last[0].with_name(run))], place, self.over.last_judged_by)
