"""One run: a motion that was followed, and what its recording says of it without being counted through."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rig.recording import INJECTED, MotionRecord, Recorded, part_name
from rig.states import FaultCode, MotionKind, MotionOutcome, enum_name

_BEGUN, _OVER = ("injected: ", "on: "), ("cleared: ", "ended: ")
_EVERY = "every leg"


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it was recorded; times are rig times, s.

    `end` is None, and `reached` not known, of one whose end was never recorded; `begun` is None where there is no wall
    clock. `amplitude` is None where it was not recorded, `duration` where the motion has no end of its own.
    """

    recording: str
    """name of the file"""
    motion: int
    """id in it"""
    name: str
    """of the motion"""
    amplitude: float | None
    operator: str
    note: str
    begun: str | None
    """UTC, ISO 8601"""
    begin: float
    end: float | None
    reached: float
    """s of its path"""
    duration: float | None
    outcome: str
    injected: tuple[str, ...]
    """faults of a virtual rig that were on while it ran"""
    cause: str
    """the first fault within it, by name, empty without"""
    thresholds: dict[str, float]
    """of the motion's own file, SI, by name"""

    @property
    def id(self) -> str:
        """FILE#ID, as commands take it."""
        return part_name(self.recording, self.motion)


def runs_of(recording: Recorded) -> list[Run]:
    """The runs of a recording, the first one first; of one made before motions were recorded none are known."""
    return [_run(recording, motion) for motion in recording.motions if motion.kind == MotionKind.RUN]


def _run(recording: Recorded, motion: MotionRecord) -> Run:
    header: dict[str, Any] = recording.header
    wall = header.get("clock", {}).get("wall_ns", 0)
    until = math.inf if math.isnan(motion.end) else motion.end
    begun = datetime.fromtimestamp(wall / 1e9 + motion.start, UTC).isoformat(timespec="seconds") if wall else None
    told = [(event.t, event.text.removeprefix(INJECTED)) for event in recording.events if _injected(event.text)]
    codes = [event.code for event in recording.events if event.code and motion.start <= event.t <= until]
    return Run(
        recording=recording.path.name,
        motion=motion.id,
        name=motion.name,
        amplitude=motion.amplitude or None,
        operator=header.get("operator") or "",
        note=header.get("note") or "",
        begun=begun,
        begin=motion.start,
        end=None if math.isnan(motion.end) else motion.end,
        reached=motion.reached,
        duration=motion.duration if 0.0 < motion.duration < math.inf else None,
        outcome=enum_name(MotionOutcome, motion.outcome).lower(),
        injected=tuple(_on_between(told, motion.start, until)),
        cause=enum_name(FaultCode, codes[0]).lower().replace("_", " ") if codes else "",
        thresholds=motion.own_thresholds.named,
    )


def _injected(text: str) -> bool:
    return text.startswith(INJECTED)


def _on_between(told: Iterable[tuple[float, str]], begin: float, end: float) -> list[str]:
    """What was injected before `end` and was not over by `begin`, s, each once, in the order in which it began."""
    on: list[str] = []
    for t, text in told:
        if t > end:
            break
        kind = next((kind for kind in (*_BEGUN, *_OVER) if text.startswith(kind)), None)
        what = text[len(kind) :] if kind is not None else ""
        if kind in _BEGUN and what not in on:
            on.append(what)
        elif kind in _OVER and t < begin:
            name = what.split(",")[0]
            on = [one for one in on if not (one.startswith(what) or (_EVERY in one and one.split(",")[0] == name))]
    return on
