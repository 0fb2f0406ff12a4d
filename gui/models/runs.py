"""Runs as view-models: list, possible actions, thresholds and verdicts.

A verdict is a word, a shape and a colour; a run also has its numbers and inspection hints.
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
    """Thresholds that replace the recorded ones: those of a configuration, or typed ones, which replace all others.

    Without `thresholds`: as recorded.
    """

    thresholds: Validation | None = None
    config: Path | None = None
    """Configuration they come from; None: typed."""

    @property
    def typed(self) -> bool:
        """Whether the user typed them."""
        return self.thresholds is not None and self.config is None

    def verdict_on(self, listed: Listed) -> Listed:
        """Return a run judged by these thresholds."""
        return listed if self.thresholds is None else listed.judged_by(self.thresholds, alone=self.typed)


class FinishedRuns:
    """Finished runs of a session: the last one, those waiting to be judged, and their thresholds.

    The motion of the tab Motion is identified by name and file.
    """

    def __init__(self) -> None:
        self._followed: tuple[Path | None, int] = (None, 0)
        """Recording, and its last motion whose end was noticed."""
        self._begun: tuple[int, Path | None] = (0, None)
        """Last motion whose beginning was noticed, and its file, if known."""
        self._underway: MotionRecord | None = None
        """Last run that the engine reported as followed."""
        self.last: tuple[Path, MotionRecord] | None = None
        """Recording and run on the card."""
        self.motion_file: Path | None = None
        """Motion file of that run, if known."""
        self.waiting: list[tuple[Path, MotionRecord]] = []
        """Runs to be judged; the last one is that on the card."""
        self.judging: MotionRecord | None = None
        """The run being judged."""
        self.judged_by = JudgedBy()
        """Thresholds of this session that replace recorded ones."""
        self._once: JudgedBy | None = None
        """Thresholds for the run on the card only."""

    @property
    def last_judged_by(self) -> JudgedBy:
        """The thresholds for the run on the card."""
        return self._once or self.judged_by

    def follow(
        self, recording: Path | None, motion: MotionRecord | None, shown: tuple[str, Path | None]
    ) -> MotionRecord | None:
        """Process the engine's report on its last motion; return the run ended by it, or None.

        shown: name and file of the edited motion.
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
        # a run that ended before the first poll is in the list
        return self._end(recording, motion, shown) if not new else None

    def end(self, recording: Path | None, shown: tuple[str, Path | None]) -> MotionRecord | None:
        """Return the run left unfinished by a crashed engine, or None."""
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
        """Queue the run on the card for judging."""
        if self.last is not None:
            self.waiting = [one for one in self.waiting if one[1] is not self.last[1]] + [self.last]

    def next(self) -> tuple[Path, MotionRecord] | None:
        """Return the next run to judge, that on the card first; None without one."""
        if not self.waiting:
            return None
        recording, self.judging = self.waiting.pop()
        return recording, self.judging

    @property
    def judges_last(self) -> bool:
        """Whether the run being judged is that on the card, and it is not queued again."""
        return self.last is not None and self.last[1] is self.judging and self.last not in self.waiting

    def judge_by(self, by: JudgedBy) -> None:
        """Judge by these thresholds from now on, including the run on the card."""
        self.judged_by, self._once = by, None
        self.wait()

    def judge_last_by(self, thresholds: Validation) -> None:
        """Judge the run on the card by these thresholds, which were saved in its motion after it was recorded."""
        if self.judged_by.typed:
            self.judged_by = JudgedBy()
        self._once = JudgedBy(thresholds)
        self.wait()

    def motion_obstacle(self, shown: tuple[str, Path | None] | None) -> str:
        """Why thresholds cannot be saved in the file of the card's motion; `shown` as in `follow`."""
        if shown is not None and self.motion_file is not None and shown[1] == self.motion_file:
            return ""  # it may have been renamed since
        if shown is None or self.last is None or shown[0] != self.last[1].name:
            return tr("the tab Motion shows another motion than the one that ran")
        if shown[1] is None:
            return tr("the motion has no file of its own: save it in the tab Motion first")
        return "" if self.motion_file is None else tr("the tab Motion shows another file than the one that ran")


def _file_of(motion: MotionRecord, shown: tuple[str, Path | None]) -> Path | None:
    """Return the file of the edited motion, if it is this motion."""
    return shown[1] if shown[0] == motion.name else None


def runs_found(listed: Sequence[Listed], search: str, *, starred: bool) -> list[Listed]:
    """Return the runs that match a search; `starred`: only those with a star."""
    return [one for one in listed if matches(one, search) and (one.entry.starred or not starred)]


def run_obstacles(chosen: Sequence[Listed], *, judging: bool, heavy: str) -> dict[str, str]:
    """Return by button why its action cannot be applied to the selected runs, empty if it can.

    judging: whether runs are being judged. heavy: why CPU-heavy work is not allowed.
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
    """How a verdict is shown: never by colour alone."""

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
"""Key of the headline number, caption, factor from SI, unit, decimals."""


def verdict_style(verdict: str | None) -> VerdictStyle:
    """Return how a verdict is shown; None without thresholds."""
    return NOT_JUDGED if verdict is None else _STYLES[verdict]


def figure_text(numbers: Mapping[str, Any] | None, place: int) -> tuple[str, str]:
    """Return a headline number as text, and its unit; a dash without one."""
    key, _caption, scale, unit, digits = RUN_FIGURES[place]
    value = None if numbers is None else numbers["headline"][key]
    return ("–", unit) if value is None else (f"{scale * value:.{digits}f}", unit)


def stop_text(cause: str, finding: str) -> str:
    """Return why a run was stopped, from its finding as JSON, or the recorded text of older recordings."""
    return cause_text(finding_from_json(finding)) or cause


def inspection_hints(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return sentences on a judged run, each with its place in the report, the most urgent first."""
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
    reasons = [(one["why"], one["name"]) for one in numbers["criteria"] if one["verdict"] == numbers["verdict"]]
    if numbers["verdict"] in ("fail", "undecided", "expected"):
        for why in dict.fromkeys(why for why, _name in reasons):
            found.append((sentence(why), next(CRITERIA[name].place for text, name in reasons if text == why)))
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
    if all(criterion["sigma"] is None for criterion in numbers["criteria"]):  # counted quantities have no uncertainty
        return trn("{count} threshold met", "{count} thresholds met", count).format(count=count)
    return trn(
        "{count} threshold met, at {confidence:g} % confidence",
        "{count} thresholds met, at {confidence:g} % confidence",
        count,
    ).format(count=count, confidence=100 * numbers["confidence"])
