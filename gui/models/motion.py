"""The motion that is shown as a view-model: what it would do, its verdict, and whether and how it can be run."""

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gui.models.rules import Action, Phase, Situation, obstacle
from gui.texts import finding_text, sentence, tr
from kinematics import Array, MotionTable
from rig.safety import AT_ENDS, LimitCheck, TrajectoryVerdict
from rig.states import State

LEAST_AMPLITUDE = 0.1
"""%, of the motion as it is stated"""


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Outlines over time `t` (n,) s: coordinates (n, 6) m and rad; per leg (n, 6) length m, speed m/s, drive force N.

    `from_home`: the position is that from the home pose, otherwise in the base frame.
    """

    from_home: bool
    t: Array
    coordinates: Array
    lengths: Array
    speeds: Array
    forces: Array


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """A motion that was looked at: `fault` says why there is nothing to look at, else the rest is there."""

    fault: str = ""
    pending: bool = False
    """whether it is still being looked at"""
    table: MotionTable | None = None
    verdict: TrajectoryVerdict | None = None
    curves: Curves | None = None
    rows: npt.NDArray[np.void] | None = None
    """the motion as telemetry rows that the model expects, some a second and with its end, to be looked at"""
    rings: Array | None = None
    """where the corners of the platform's plate are in them, (n, 6, 3) m, base frame"""
    transitions: dict[int, float] = field(default_factory=dict)
    """s of those that were put in, by the index of the part before"""

    @property
    def obstacle(self) -> str:
        """Why the motion must not be run, in one line; empty when it may."""
        if self.fault or self.verdict is None:
            return tr("the motion is not complete: see the message above")
        return "" if self.verdict.passed else tr("the motion does not pass the check")


def tightest(verdict: TrajectoryVerdict) -> LimitCheck | None:
    """The check that is nearest to its bound, or farthest beyond it; the ends' speeds, nearly zero, are left out."""
    checks = [check for check in verdict.checks if check.name != AT_ENDS]
    return max(checks, key=_use, default=None)


def _use(check: LimitCheck) -> float:
    if check.is_minimum:
        return check.bound / check.value if check.value > 0.0 else float("inf")
    return check.value / check.bound if check.bound > 0.0 else float("inf")


def describe(verdict: TrajectoryVerdict) -> str:
    """The verdict in words."""
    if verdict.finding is not None:
        return sentence(finding_text(verdict.finding))
    text = tr("Within all limits over {duration:g} s.").format(duration=verdict.duration)
    nearest = tightest(verdict)
    if nearest is None:
        return text
    return text + " " + tr("Nearest to its limit: {check}.").format(check=finding_text(nearest.finding))


def verdict_of(preview: Preview) -> tuple[str, str]:
    """The verdict on a motion: the role of its text, by which that is coloured, and the text."""
    if preview.pending:
        return "muted", tr("Checking …")
    if preview.verdict is None:
        return "bad", f"✗ {preview.fault}"
    passed = preview.verdict.passed
    return "good" if passed else "bad", f"{'✓' if passed else '✗'} {describe(preview.verdict)}"


@dataclass(slots=True)
class MotionRun:
    """What *Run* runs: the motion shown, unless a template is shown in its place, which is no motion yet."""

    name: str = ""
    """of the motion that is shown"""
    preview: Preview = field(default_factory=Preview)
    template: tuple[str, Preview] | None = None
    """the motion that the template shown would make: its name, and what it would do; None while none is shown"""
    ran: str = ""
    """name of the motion that was run last, empty once another is shown"""

    @property
    def named(self) -> tuple[str, float | None]:
        """What the button names: the motion, and the s that one pass of it takes, None where that is not known."""
        name, preview = self.template or (self.name, self.preview)
        return name, None if preview.table is None else preview.table.duration

    def obstacle(self, now: Situation, wrong: str, *, moving: bool) -> str:
        """Why it cannot be run; empty where it can. wrong: of a field; moving: whether a motion is under way."""
        busy = tr("a motion is under way") if moving else ""
        template = tr("a template is shown, not a motion: press Create") if self.template else ""
        return obstacle(Action.MOVE, now) or busy or template or wrong or self.preview.obstacle

    def largest(self, amplitude: float) -> float:
        """The largest amplitude that passes, %, in tenths and never more, where it is `amplitude` now; 0: none does."""
        scale = 0.0 if self.preview.verdict is None else self.preview.verdict.scale
        return math.floor(10.0 * amplitude * scale + 1e-6) / 10.0

    def against_smaller(self, amplitude: float) -> str:
        """Why it is not made smaller until it passes; empty where it can be."""
        verdict = self.preview.verdict
        if verdict is None or verdict.passed or self.template is not None:
            return tr("only a motion that does not pass the check is made smaller")
        least = tr("none above {least:g} % passes").format(least=LEAST_AMPLITUDE)
        return "" if self.largest(amplitude) > 0.0 else least

    def present(self, now: Situation, *, moving: bool) -> tuple[float | None, bool]:
        """Where the motion that was run from here is, s, None where it is nowhere; and whether something moves."""
        status = now.status if now.phase is Phase.UP and self.ran and self.template is None else None
        if status is None or not (status.state is State.RUNNING or status.resumable):
            return None, False
        t = status.path_time if status.motion == self.ran else None
        return t, t is not None or moving
