"""Follows the rig for runs that have ended, has each judged, and shows the verdict on the last one."""

from functools import partial
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore

from gui.motion import MotionDocument
from gui.runs.run_judge import RunJudge
from gui.runs.verdict_card import VerdictCard
from gui.session import Action, RigSession, Worker, heavy_work_obstacle
from gui.texts import tr
from kinematics import Thresholds
from rig.config import RigConfig, Validation, own_thresholds, save_thresholds
from rig.engine import Snapshot
from rig.errors import ConfigError, InputError
from rig.recording import MotionRecord, part_name
from rig.runs import Catalogue
from rig.states import MotionKind, MotionOutcome

_EDITED = tr("edited thresholds")
_SHIPPED = tr("the configuration came with the project and is nobody's to change: copy it, and open the copy")


class RunDesk(QtCore.QObject):
    """Holds the card, the process that judges, and the thread that writes notes and thresholds.

    Signals: `told`: what is known of runs has changed; `report_asked(FILE#ID with its folder, place in it)`.

    Args:
        session: the rig.
    """

    told = QtCore.Signal()
    report_asked = QtCore.Signal(str, str)

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
        self._waiting = False
        self._rig_by: list[str] = []
        """what judges in place of the recorded configuration: options of `rig runs`"""
        self._given: list[str] = []
        """what somebody typed, for runs from then on: likewise, in place of everything"""
        self._once: list[str] = []
        """the same, for the run on the card only"""
        self.note = ""
        """on runs from now on, kept beside the recording"""
        self.card.cancelled.connect(self.judge.cancel)
        self.card.thresholds.applied.connect(self._apply)
        self.card.thresholds.saved.connect(self._save)
        self.card.thresholds.saved_in_motion.connect(self._save_in_motion)
        self.card.report_asked.connect(self._ask_report)
        session.statusChanged.connect(self._follow)
        session.changed.connect(self._refresh)

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
        """Why no run can be judged now: a machine must not wait for the processor, a virtual rig in paced time may."""
        virtual = self._session.config.virtual
        return "" if virtual is not None and not virtual.real_time else heavy_work_obstacle(self._session.situation)

    def _follow(self, status: Snapshot) -> None:
        recording, motion = self._session.recording, status.last_motion
        if recording is None:
            return
        new = self._followed[0] != recording
        if motion is None or motion.outcome == MotionOutcome.UNDERWAY:
            self._followed = (recording, 0 if new else self._followed[1])
            return
        if motion.id == self._followed[1] and not new:
            return
        self._followed = (recording, motion.id)
        if motion.kind == MotionKind.RUN and not new:  # one that had ended before anybody looked is in the list
            self._run_over(recording, motion)

    def _run_over(self, recording: Path, motion: MotionRecord) -> None:
        self._shown, self._waiting, self._once = (recording, motion), True, []
        document = self._document
        self._motion_file = document.path if document is not None and document.name == motion.name else None
        self._say_motion_obstacle()
        if self.note:
            run, note = part_name(recording.name, motion.id), self.note
            self._worker.submit(partial(_keep_note, recording, run, note), self._noted)
        self._begin()

    def _begin(self) -> None:
        """Judge the last run, or say what it waits for."""
        if self._shown is None or not self._waiting:
            return
        recording, motion = self._shown
        run = part_name(recording.name, motion.id)
        if reason := self.obstacle:
            self.card.show_judging(run, motion.name, tr("Will be judged later: {reason}.").format(reason=reason))
            return
        self.card.show_judging(run, motion.name)
        if not self.judge.busy:
            self._waiting = False
            self.judge.start(recording, [run], self._once or self._given or self._rig_by)

    def _refresh(self) -> None:
        if self._waiting and not self.judge.busy and not self.obstacle:
            self._begin()
        self.card.set_report_obstacle(self._session.obstacle(Action.REPORT))

    def _judged(self, runs: list[dict[str, Any]], reason: str) -> None:
        if self._waiting:  # another has ended meanwhile
            self._begin()
        elif self._shown is not None:
            recording, motion = self._shown
            run = part_name(recording.name, motion.id)
            found = next((one for one in runs if one["run"] == run and one["numbers"] is not None), None)
            if found is not None:
                self.card.show_run(found, _EDITED if self._given or self._once else "")
                self._session.log(
                    "info",
                    "app",
                    tr("run {run}: {verdict}").format(run=run, verdict=found["verdict"] or tr("no thresholds")),
                )
            else:
                self.card.show_failure(run, motion.name, reason)
        self.told.emit()

    def _apply(self, thresholds: Validation) -> None:
        self._given = _typed(thresholds)
        self._judge_again()

    def _judge_again(self) -> None:
        self._waiting = True
        self._begin()

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
        self._given, self._once, self._rig_by = [], [], ["--thresholds", str(config.path)]
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
        self._given, self._once = [], _typed(thresholds)
        self._judge_again()

    @property
    def _motion_obstacle(self) -> str:
        """Why thresholds cannot be saved in the file of the motion on the card."""
        document = self._document
        if self._shown is None or document is None or document.name != self._shown[1].name:
            return tr("the tab Motion shows another motion than the one that ran")
        if document.path is None:
            return tr("the motion has no file of its own: save it in the tab Motion first")
        if self._motion_file not in (None, document.path):
            return tr("the tab Motion shows another file than the one that ran")
        return ""

    def _say_motion_obstacle(self) -> None:
        self.card.thresholds.set_motion_obstacle(self._motion_obstacle)

    def _noted(self, _result: object, error: Exception | None) -> None:
        if error is not None:
            self._session.refused.emit(tr("note on the run"), str(error))
        self.told.emit()

    def _ask_report(self, run: str, place: str) -> None:
        reason = self._session.obstacle(Action.REPORT)
        if reason:
            self._session.refused.emit(tr("report"), reason)
        elif self._shown is not None:
            self.report_asked.emit(str(self._shown[0].with_name(run)), place)


def _keep_note(recording: Path, run: str, note: str) -> None:
    Catalogue(recording).change(run, {"note": note})


def _typed(thresholds: Validation) -> list[str]:
    """Thresholds as the command takes them."""
    return [part for name, value in thresholds.named.items() for part in ("--threshold", f"{name}={value!r}")]
