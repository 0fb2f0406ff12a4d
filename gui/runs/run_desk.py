"""Follows the rig for runs that have ended, has each judged, and shows the verdict on the last one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.motion import MotionDocument
from gui.runs.verdict_card import VerdictCard
from gui.session import Action, JobRunner, RigSession, Worker, error_text, heavy_work_obstacle
from gui.texts import tr
from kinematics import Thresholds
from rig.config import RigConfig, Validation, own_thresholds, save_thresholds
from rig.engine import Snapshot
from rig.errors import ConfigError, InputError
from rig.recording import MotionRecord, part_name
from rig.runs import Listed, write_entry
from rig.services import Event, NoRunError, Notice, RunsRequest, RunsResult, list_runs
from rig.states import MotionKind, MotionOutcome


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """Thresholds in place of those recorded: of a configuration, or typed, which leave every other out.

    Without `thresholds`: as recorded.
    """

    thresholds: Validation | None = None
    config: Path | None = None
    """whose they are; None: typed"""

    @property
    def typed(self) -> bool:
        """Whether somebody typed them."""
        return self.thresholds is not None and self.config is None

    def verdict_on(self, listed: Listed) -> Listed:
        """A run with its verdict by these."""
        return listed if self.thresholds is None else listed.judged_by(self.thresholds, alone=self.typed)


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
_SHIPPED = tr("the configuration came with the project and is nobody's to change: copy it, and open the copy")


class RunDesk(QtCore.QObject):
    """Holds the card, the process that judges, and the thread that writes notes and thresholds.

    Every run is judged, one after another where they end faster than that; the card is about the last one.

    Signals: `told`: what is known of runs, or by what they are judged, has changed; `report_asked(FILE#ID with its
    folder, place in it, JudgedBy)`: by the same thresholds as the card's verdict.

    Args:
        session: the rig.
    """

    told = QtCore.Signal()
    report_asked = QtCore.Signal(str, str, object)

    def __init__(self, session: RigSession, parent: QtCore.QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        config = session.config
        self.card = VerdictCard(_SHIPPED if config.shipped else "", config.path.name)
        self.judge = RunJudge(self)
        self.judge.judged.connect(self._judged)
        self._worker = Worker("runs", self)
        self._followed: tuple[Path | None, int] = (None, 0)
        """recording, and the motion of it that was seen to end last"""
        self._shown: tuple[Path, MotionRecord] | None = None
        """the run on the card"""
        self._motion_file: Path | None = None
        """of that run, where it is known"""
        self._document: MotionDocument | None = None
        self._begun: tuple[int, Path | None] = (0, None)
        """motion that was seen to begin last, and its file, where it is known"""
        self._underway: MotionRecord | None = None
        """the run that the engine was last heard to follow"""
        self._waiting: list[tuple[Path, MotionRecord]] = []
        """runs to be judged, the last one of which is that on the card"""
        self._judging: MotionRecord | None = None
        """the one that is"""
        self._session_by = JudgedBy()
        """what judges in this session in place of what was recorded"""
        self._once: JudgedBy | None = None
        """the same, for the run on the card only"""
        self.note = ""
        """on runs from now on, kept beside the recording"""
        self.card.cancelled.connect(self._cancel)
        self.card.thresholds.applied.connect(self._apply)
        self.card.thresholds.saved.connect(self._save)
        self.card.thresholds.saved_in_motion.connect(self._save_in_motion)
        self.card.report_asked.connect(self._ask_report)
        session.statusChanged.connect(self._follow)
        session.changed.connect(self._refresh)
        session.died.connect(self._died)

    @property
    def judged_by(self) -> JudgedBy:
        """By what runs are judged from here on."""
        return self._session_by

    def set_note(self, note: str) -> None:
        """Keep this note with every run from now on; empty keeps none."""
        self.note = note.strip()

    def follow_motion(self, document: MotionDocument) -> None:
        """Take the motion that is shown as the one whose file thresholds may be saved in."""
        self._document = document
        document.retitled.connect(lambda _title: self._say_motion_obstacle())
        self._say_motion_obstacle()

    def close(self) -> None:
        """End process and thread. May be called again."""
        self.judge.close()
        self._worker.finish()
        self._worker.join(2.0)

    @property
    def obstacle(self) -> str:
        """Why no run can be judged now."""
        return heavy_work_obstacle(self._session.situation)

    def _follow(self, status: Snapshot) -> None:
        recording, motion = self._session.recording, status.last_motion
        if recording is None:
            return
        new = self._followed[0] != recording
        if new:
            self._begun = (0, None)
        if motion is None or motion.outcome == MotionOutcome.UNDERWAY:
            self._followed = (recording, 0 if new else self._followed[1])
            if motion is not None and motion.id != self._begun[0]:
                self._begun = (motion.id, self._file_of(motion))
            self._underway = motion
            return
        self._underway = None
        if motion.id == self._followed[1] and not new:
            return
        self._followed = (recording, motion.id)
        if motion.kind == MotionKind.RUN and not new:  # one that had ended before anybody looked is in the list
            self._run_over(recording, motion)

    def _died(self) -> None:
        """The engine left a run where it was: what was recorded of it is judged."""
        recording, motion = self._session.recording, self._underway
        self._underway = None
        if recording is not None and motion is not None and motion.kind == MotionKind.RUN:
            self._run_over(recording, motion)

    def _run_over(self, recording: Path, motion: MotionRecord) -> None:
        self._shown, self._once = (recording, motion), None
        number, file = self._begun
        self._motion_file = file if number == motion.id else self._file_of(motion)
        self._say_motion_obstacle()
        if self.note:
            run, note = part_name(recording.name, motion.id), self.note
            self._worker.submit(partial(write_entry, recording.parent, run, {"note": note}), self._noted)
        self._wait_for(recording, motion)

    def _wait_for(self, recording: Path, motion: MotionRecord) -> None:
        """Have a run judged, and say on the card what it waits for."""
        self._waiting = [one for one in self._waiting if one[1] is not motion] + [(recording, motion)]
        self._show_waiting(recording, motion, self.obstacle)
        self._begin()

    def _show_waiting(self, recording: Path, motion: MotionRecord, reason: str) -> None:
        later = tr("Will be judged later: {reason}.").format(reason=reason) if reason else ""
        self.card.show_judging(part_name(recording.name, motion.id), motion.name, later)

    def _begin(self) -> None:
        """Judge what waits, one after the other, unless something is being judged, or cannot be now."""
        if not self._waiting or self.judge.busy or self.obstacle:
            return
        recording, self._judging = self._waiting.pop()  # that on the card first
        run = part_name(recording.name, self._judging.id)
        if self._shown is not None and self._shown[1] is self._judging:
            self.card.show_judging(run, self._judging.name)
        self.judge.start(recording, [run], self._card_by)

    def _cancel(self) -> None:
        """Judge nothing any further; that on the card is said to be cancelled, though its turn may not have come."""
        self._waiting = []
        self.judge.close()
        if self._shown is not None:
            recording, motion = self._shown
            self.card.show_failure(part_name(recording.name, motion.id), motion.name, tr("cancelled"))

    def _refresh(self) -> None:
        self._begin()
        self.card.set_report_obstacle(self._session.obstacle(Action.REPORT))

    @property
    def _card_by(self) -> JudgedBy:
        return self._once or self._session_by

    def _judged(self, runs: list[dict[str, Any]], reason: str) -> None:
        for run in runs:
            if run["numbers"] is not None:
                said = tr("run {run}: {verdict}").format(run=run["run"], verdict=run["verdict"] or tr("no thresholds"))
                self._session.log("info", "app", said)
        if self._shown is not None and self._shown[1] is self._judging and self._shown not in self._waiting:
            recording, motion = self._shown
            name = part_name(recording.name, motion.id)
            found = next((one for one in runs if one["run"] == name and one["numbers"] is not None), None)
            if found is not None:
                self.card.show_run(found, _EDITED if self._card_by.typed else "")
            else:
                self.card.show_failure(name, motion.name, reason)
        self._begin()
        if self._shown is not None and self._shown in self._waiting and (reason := self.obstacle):
            self._show_waiting(*self._shown, reason)  # torque has come on meanwhile
        self.told.emit()

    def _apply(self, thresholds: Validation) -> None:
        self._session_by, self._once = JudgedBy(thresholds), None
        self._judge_again()

    def _judge_again(self) -> None:
        if self._shown is not None:
            self._wait_for(*self._shown)
        self.told.emit()

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
        self._session_by, self._once = JudgedBy(config.validation, config.path), None
        self._judge_again()

    def _save_in_motion(self, thresholds: Validation) -> None:
        document = self._document
        if document is None or self._motion_obstacle:
            return
        try:
            before = Thresholds.model_validate(document.thresholds)
            document.keep_thresholds(own_thresholds(thresholds, self._session.config.validation, before))
        except (ConfigError, InputError) as error:
            self.card.thresholds.refuse(error)
            return
        # its next run has them; that on the card was recorded without
        if self._session_by.typed:
            self._session_by = JudgedBy()
        self._once = JudgedBy(thresholds)
        self._judge_again()

    @property
    def _motion_obstacle(self) -> str:
        """Why thresholds cannot be saved in the file of the motion on the card."""
        document, shown = self._document, self._shown
        if document is not None and self._motion_file is not None and document.path == self._motion_file:
            return ""  # whatever it is called by now
        if document is None or shown is None or document.name != shown[1].name:
            return tr("the tab Motion shows another motion than the one that ran")
        if document.path is None:
            return tr("the motion has no file of its own: save it in the tab Motion first")
        return "" if self._motion_file is None else tr("the tab Motion shows another file than the one that ran")

    def _file_of(self, motion: MotionRecord) -> Path | None:
        """The file of the motion that the tab Motion shows, where it is this one."""
        document = self._document
        return document.path if document is not None and document.name == motion.name else None

    def _say_motion_obstacle(self) -> None:
        self.card.thresholds.set_motion_obstacle(self._motion_obstacle)

    def _noted(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self._session.refused.emit(tr("note on the run"), str(error))
        self.told.emit()

    def _ask_report(self, run: str, place: str) -> None:
        if self._shown is not None:
            self.report_asked.emit(str(self._shown[0].with_name(run)), place, self._card_by)
