"""Runs as view-models: which are listed, what can be done with those chosen, by what they are judged, and how.

A verdict is a word, a shape and a colour; a run has its numbers beside it, and what to look at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.texts import cause_text, sentence, tr, trn
from rig.config import CRITERIA, Validation
from rig.findings import finding_from_json
from rig.recording import MAX_COMPARED, MotionRecord
from rig.runs import Listed, matches
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


class RunsOver:
    """The runs of a session that are over: the last one, those that wait to be judged, and by what they are judged.

    The motion of the tab Motion is told by its name and file.
    """

    def __init__(self) -> None:
        self._followed: tuple[Path | None, int] = (None, 0)
        """recording, and the motion of it that was seen to end last"""
        self._begun: tuple[int, Path | None] = (0, None)
        """motion that was seen to begin last, and its file, where it is known"""
        self._underway: MotionRecord | None = None
        """the run that the engine was last heard to follow"""
        self.last: tuple[Path, MotionRecord] | None = None
        """the recording and the run that the card is about"""
        self.motion_file: Path | None = None
        """of that run, where it is known"""
        self.waiting: list[tuple[Path, MotionRecord]] = []
        """runs to be judged, the last one of which is that on the card"""
        self.judging: MotionRecord | None = None
        """the one that is being judged"""
        self.judged_by = JudgedBy()
        """what judges in this session in place of what was recorded"""
        self._once: JudgedBy | None = None
        """the same, for the run on the card only"""

    @property
    def last_judged_by(self) -> JudgedBy:
        """What judges the run on the card."""
        return self._once or self.judged_by

    def follow(
        self, recording: Path | None, motion: MotionRecord | None, shown: tuple[str, Path | None]
    ) -> MotionRecord | None:
        """Take in what the engine says of its last motion; the run that has ended by that, None where none has.

        shown: name and file of the motion that is shown.
        """
        if recording is None:
            return None
        new = self._followed[0] != recording
        if new:
            self._begun = (0, None)
        if motion is None or motion.outcome == MotionOutcome.UNDERWAY:
            self._followed = (recording, 0 if new else self._followed[1])
            if motion is not None and motion.id != self._begun[0]:
                self._begun = (motion.id, _file_of(motion, shown))
            self._underway = motion
            return None
        self._underway = None
        if motion.id == self._followed[1] and not new:
            return None
        self._followed = (recording, motion.id)
        # one that had ended before anybody looked is in the list
        return self._end(recording, motion, shown) if not new else None

    def end(self, recording: Path | None, shown: tuple[str, Path | None]) -> MotionRecord | None:
        """The engine died, and left a run where it was: that run, None where there is none."""
        motion, self._underway = self._underway, None
        return None if recording is None or motion is None else self._end(recording, motion, shown)

    def _end(self, recording: Path, motion: MotionRecord, shown: tuple[str, Path | None]) -> MotionRecord | None:
        if motion.kind != MotionKind.RUN:
            return None
        self.last, self._once = (recording, motion), None
        number, file = self._begun
        self.motion_file = file if number == motion.id else _file_of(motion, shown)
        self.wait()
        return motion

    def wait(self) -> None:
        """Have the run on the card judged, once its turn has come."""
        if self.last is not None:
            self.waiting = [one for one in self.waiting if one[1] is not self.last[1]] + [self.last]

    def next(self) -> tuple[Path, MotionRecord] | None:
        """The run to be judged now, that on the card first; None where none waits."""
        if not self.waiting:
            return None
        recording, self.judging = self.waiting.pop()
        return recording, self.judging

    @property
    def judges_last(self) -> bool:
        """Whether what is being judged is the run on the card, and it is not to be judged again."""
        return self.last is not None and self.last[1] is self.judging and self.last not in self.waiting

    def judge_by(self, by: JudgedBy) -> None:
        """Judge by these from here on, the run on the card as well."""
        self.judged_by, self._once = by, None
        self.wait()

    def judge_last_by(self, thresholds: Validation) -> None:
        """Judge the run on the card by these, which its motion's next run has; it was recorded without."""
        if self.judged_by.typed:
            self.judged_by = JudgedBy()
        self._once = JudgedBy(thresholds)
        self.wait()

    def motion_obstacle(self, shown: tuple[str, Path | None] | None) -> str:
        """Why thresholds cannot be saved in the file of the motion on the card; `shown` as in `follow`."""
        if shown is not None and self.motion_file is not None and shown[1] == self.motion_file:
            return ""  # whatever it is called by now
        if shown is None or self.last is None or shown[0] != self.last[1].name:
            return tr("the tab Motion shows another motion than the one that ran")
        if shown[1] is None:
            return tr("the motion has no file of its own: save it in the tab Motion first")
        return "" if self.motion_file is None else tr("the tab Motion shows another file than the one that ran")


def _file_of(motion: MotionRecord, shown: tuple[str, Path | None]) -> Path | None:
    """The file of the motion that is shown, where it is this one."""
    return shown[1] if shown[0] == motion.name else None


def runs_found(listed: Sequence[Listed], search: str, *, starred: bool) -> list[Listed]:
    """The runs that a search finds; `starred`: of those with a star alone."""
    return [one for one in listed if matches(one, search) and (one.entry.starred or not starred)]


def run_obstacles(chosen: Sequence[Listed], *, judging: bool, heavy: str) -> dict[str, str]:
    """Why what the buttons of the list do cannot be done with the runs chosen, empty where it can, by button.

    judging: whether runs are being judged. heavy: why nothing that takes the processor for long can be begun.
    """
    none = "" if chosen else tr("choose a run first")
    one = none or ("" if len(chosen) == 1 else tr("choose one run"))
    several = "" if len(chosen) > 1 else tr("choose two runs or more: Ctrl and click")
    busy = tr("other runs are being judged") if judging else ""
    many = "" if len(chosen) <= MAX_COMPARED else tr("choose at most {most} runs").format(most=MAX_COMPARED)
    report = none or many or heavy
    return dict.fromkeys(("Rename", "Note", "Open"), one) | {
        "Star": none,
        "Judge": none or busy or heavy,
        "Report": report,
        "PDF": report,
        "Compare": several or heavy,
    }


@dataclass(frozen=True, slots=True)
class VerdictStyle:
    """How a verdict is shown: never by its colour alone."""

    word: str
    mark: str
    background: str
    foreground: str


_STYLES = {
    "pass": VerdictStyle(tr("PASS"), "✓", "#007a59", "white"),
    "fail": VerdictStyle(tr("FAIL"), "✗", "#9b1111", "white"),
    "expected": VerdictStyle(tr("EXPECTED"), "≈", "#5b3a8c", "white"),
    "undecided": VerdictStyle(tr("UNDECIDED"), "?", "#e69f00", "#10151a"),
}
NOT_JUDGED = VerdictStyle(tr("NO THRESHOLDS"), "–", "#5b6470", "white")
BEING_JUDGED = VerdictStyle(tr("JUDGING"), "…", "#0072b2", "white")
WAITING = VerdictStyle(tr("NOT JUDGED"), "–", "#5b6470", "white")

RUN_FIGURES: tuple[tuple[str, str, float, str, int], ...] = (
    ("residual_n", tr("Residual RMS"), 1.0, "N", 3),
    ("position_m", tr("Position RMS"), 1e6, "µm", 1),
    ("peak_force_n", tr("Peak force"), 1.0, "N", 1),
    ("period_error_s", tr("Period ±, 99 %"), 1e6, "µs", 0),
)
"""Key of the headline, caption, how many of the unit are one of SI, unit, decimals."""


def verdict_style(verdict: str | None) -> VerdictStyle:
    """How a verdict is shown; None where there are no thresholds."""
    return NOT_JUDGED if verdict is None else _STYLES[verdict]


def figure_text(numbers: Mapping[str, Any] | None, place: int) -> tuple[str, str]:
    """A headline number as a person reads it, and its unit; a dash where there is none."""
    key, _caption, scale, unit, digits = RUN_FIGURES[place]
    value = None if numbers is None else numbers["headline"][key]
    return ("–", unit) if value is None else (f"{scale * value:.{digits}f}", unit)


def stop_text(cause: str, finding: str) -> str:
    """Why a run was stopped, of its recorded words and its finding's JSON; an older recording has the words alone."""
    return cause_text(finding_from_json(finding)) or cause


def inspection_hints(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Sentences on a judged run, each with the place in its report, the most urgent first."""
    numbers = run["numbers"]
    found = []
    if run["cause"]:
        found.append((tr("Stopped: {cause}").format(cause=stop_text(run["cause"], run["finding"])), "faults"))
    elif run["outcome"] != "finished":
        found.append(
            (
                tr("It ended early: {outcome} at {reached:.2f} s").format(
                    outcome=run["outcome"], reached=run["reached"]
                ),
                "motions",
            )
        )
    said = [(one["why"], one["name"]) for one in numbers["criteria"] if one["verdict"] == numbers["verdict"]]
    if numbers["verdict"] in ("fail", "undecided", "expected"):
        for why in dict.fromkeys(why for why, _name in said):
            found.append((sentence(why), next(CRITERIA[name].place for text, name in said if text == why)))
    cycle = numbers["cycle"]
    if cycle["overruns"]:
        found.append(
            (
                tr("{count} of {cycles} cycles were skipped").format(count=cycle["overruns"], cycles=cycle["cycles"]),
                "timing",
            )
        )
    if numbers["dropped"]:
        found.append(
            (
                trn("{count} row is missing", "{count} rows are missing", numbers["dropped"]).format(
                    count=numbers["dropped"]
                ),
                "timing",
            )
        )
    if not found and numbers["verdict"] == "pass":
        found.append((_passed_text(numbers), "validation"))
    elif not found:
        found.append((tr("No threshold is set: use Thresholds …"), "validation"))
    return found


def _passed_text(numbers: Mapping[str, Any]) -> str:
    count = len(numbers["criteria"])
    if all(criterion["sigma"] is None for criterion in numbers["criteria"]):  # counted, which is sure
        return trn("{count} threshold met", "{count} thresholds met", count).format(count=count)
    return trn(
        "{count} threshold met, at {confidence:g} % confidence",
        "{count} thresholds met, at {confidence:g} % confidence",
        count,
    ).format(count=count, confidence=100 * numbers["confidence"])
