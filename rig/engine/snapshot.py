"""What can be seen of the engine: immutable snapshots of its state at the end of a cycle, the same for every client."""

import math
from dataclasses import dataclass, fields, make_dataclass
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from actuators import Status
from rig.engine.lease import Lease
from rig.engine.leg_move import LegTest
from rig.engine.stream import StreamReport
from rig.findings import Code, Finding, stop_cause
from rig.recording import MotionRecord
from rig.sensing import SensorReport
from rig.states import FaultCode, State, StopSeverity

_AWAY = 1e-3  # m
_NONE = (0.0,) * 6


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for the log and the recording."""

    t: float
    """s, rig time"""
    level: Literal["info", "warning", "error"]
    finding: Finding

    @property
    def code(self) -> FaultCode:
        """The kind of fault that it is, if any."""
        return self.finding.fault

    @property
    def text(self) -> str:
        """What happened, in words."""
        return self.finding.text


REPLY_KINDS = ("late", "belated", "damaged", "foreign", "refused", "mismatched")
"""Kinds of replies that were not taken, see `ReplyCounts`."""


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """What has become of a device's replies that were not taken, in all.

    late: cycles without a reply in time; belated: replies to them that came later. damaged: frames with a wrong
    checksum. foreign: frames that answer nothing, and bytes that are none: noise, another master. refused: answers that
    report an exception. mismatched: replies that echo another command. lately: the last four kinds within a second, of
    which `bound` are tolerated.
    """

    late: int = 0
    belated: int = 0
    damaged: int = 0
    foreign: int = 0
    refused: int = 0
    mismatched: int = 0
    lately: int = 0
    bound: float = 0.0

    @property
    def rejected(self) -> int:
        """All that were no good, without those that were only late."""
        return self.damaged + self.foreign + self.refused + self.mismatched

    @property
    def kinds(self) -> dict[str, int]:
        """Counts by `REPLY_KINDS`, without those that are 0."""
        return {kind: count for kind in REPLY_KINDS if (count := getattr(self, kind))}

    @property
    def described(self) -> str:
        """Counts by kind, and those within a second with what is tolerated, in words; empty without any."""
        if not self.kinds:
            return ""
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        return f"{kinds} ({self.lately} rejected in the last second, {self.bound:.0f} tolerated)"


DRIVE_STATES = (
    (Status.WATCHDOG, Code.WATCHDOG_STOPPED),
    (Status.FAULT, Code.STATUS_FAULT),
    (Status.QUICK_STOP, Code.STATUS_QUICK_STOP),
    (Status.HOMING, Code.STATUS_HOMING),
    (Status.ENABLED, Code.STATUS_TORQUE),
    (Status.BRAKE, Code.BRAKE_ON),
    (Status.HOMED, Code.STATUS_HOMED),
    (Status.STANDSTILL, Code.STANDSTILL),
)
"""Bits of a drive's status and the codes of what they say, the most important first"""


@dataclass(frozen=True, slots=True)
class DriveReport:
    """What a drive says of itself beside its feedback, and what has become of its replies."""

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")

    values: tuple[tuple[str, float], ...] = ()
    """names and what they are of, see `Drive.auxiliary`"""
    error: str = ""
    """its present error in words, empty when there is none"""
    replies: ReplyCounts = ReplyCounts()
    """of those that were not taken"""


@dataclass(frozen=True, slots=True)
class IoReport:
    """Digital inputs and outputs."""

    inputs: tuple[tuple[str, bool | None], ...]
    """names, and whether the circuit is closed; None where that is not known"""
    outputs: tuple[tuple[str, bool], ...]
    """names, and whether they are on"""
    obstacles: tuple[Finding, ...] = ()
    """what stands against torque"""
    replies: ReplyCounts = ReplyCounts()
    """of the block's replies that were not taken"""
    silent: bool = False
    """whether the block has not given its last reply in time"""

    @property
    def described(self) -> str:
        """Names and states of all of them, in words."""
        inputs = [
            f"{name.replace('_', ' ')} {'unknown' if on is None else 'closed' if on else 'OPEN'}"
            for name, on in self.inputs
        ]
        outputs = [f"{name.replace('_', ' ')} {_switched(name, on)}" for name, on in self.outputs]
        return ", ".join([*inputs, *outputs, *(["the block is silent"] if self.silent else [])])


def _switched(output: str, on: bool) -> str:
    if output.startswith("brake"):
        return "released" if on else "closed"
    return "on" if on else "off"


@dataclass(frozen=True, slots=True)
class CellsReport:
    """What has become of the replies of a device that reads load cells alone."""

    name: str
    """as messages call it"""
    replies: ReplyCounts = ReplyCounts()
    """of those that were not taken"""


@dataclass(frozen=True, slots=True)
class Unproven:
    """Legs (1…6) of which no test is on record for the way they are wired now, and what is known of why."""

    legs: tuple[int, ...]
    finding: Finding

    @property
    def text(self) -> str:
        """What is known of why, in words."""
        return self.finding.text


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The engine at the end of a cycle; legs are numbered 1…6."""

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")  # NaN would be null, which is no number

    state: State
    stop: StopSeverity
    t: float
    """s, rig time"""
    finding: Finding | None
    """first cause of a stop or fault"""
    cause_t: float
    """s, rig time of the first cause"""
    latched: bool
    """the cause is kept until a reset"""
    homed: bool
    paused: bool
    lease: str
    """name of the client that holds the command lease, empty when nobody does; where there may be several, filled in
    when one asks"""
    motion: str
    """name of the motion followed last"""
    path_time: float
    """s along the motion"""
    path_duration: float
    """s"""
    reference: tuple[float, ...]
    """(7,) pose of the reference, base frame"""
    cycles: int
    overruns: int
    rate: float
    """Hz, configured"""
    virtual: bool
    realtime: tuple[str, ...]
    """what was and was not granted of real-time scheduling"""
    recording: str
    """path, empty when nothing is recorded"""
    rows: int
    dropped: int
    recording_fault: str
    ring: str
    """name of the shared-memory telemetry ring, empty in lockstep"""
    from_home: float = 0.0
    """m, of the platform joint that is farthest from its place at home, as measured; not a number where not known"""
    events: tuple[Event, ...] = ()
    """the most recent ones, oldest first"""
    echo_lag: tuple[int, ...] = (0,) * 6
    """by how many cycles the replies of each leg's drive are old"""
    hold_left: float | None = None
    """s until the platform is stopped because nobody commands it; None while a client holds the lease, or no torque is
    there to be taken off"""
    last_motion: MotionRecord | None = None
    """the motion under way, or ended last"""
    slowing: bool = False
    """the path is on its way to a stand before its end"""
    pace: float = 1.0
    """part of full speed at which runs are followed"""
    settled: float = math.inf
    """s that the state has lasted"""
    stops: int = 0
    """how often a stop was wanted while connected"""
    clearing: bool = False
    """a reset is under way"""
    pose_known: bool = True
    """the measured pose is"""
    silent: tuple[int, ...] = ()
    """legs without fresh feedback where there should be some: a slow drive is not asked in every cycle"""
    torque: tuple[int, ...] = ()
    """legs whose drive reports torque"""
    powered: tuple[int, ...] = ()
    """those of them that are connected and have reported it within the drives' watchdog time: of one that is silent for
    longer nobody knows, and its own watchdog has stopped it"""
    cells_silence: str | None = None
    """what is known of why there is no fresh reading of the load cells, perhaps nothing; None where there is one"""
    dead_cells: tuple[Finding, ...] = ()
    """what load cells read that is no force, of each leg where it is so"""
    force_model: tuple[float, ...] = _NONE
    """(6,) N, what the load cells should read at rest with the brakes closed; zero in every other state than PARKED"""
    tare_residual: tuple[float, ...] = _NONE
    """(6,) N, what they read beyond it, as a mean; likewise"""
    tare_bound: float = math.inf
    """N"""
    leg_test: LegTest | None = None
    """where the test of one leg is, or what came of the last one"""
    loop: str = ""
    """why the control loop may not be closed, empty when it may"""
    lines: str = ""
    """which lines do not carry the rate, with the remedies; empty if all do"""
    slower: float = 0.0
    """by which part of its own time the run has taken longer because the machine was busy, so far"""
    paused_for: Finding | None = None
    """what stopped a motion that is paused; None where its client paused it"""
    begun_by: str = ""
    """name of the client that the rig was last told to move by, where the lease that it had then is held no more: what
    is paused goes on only for whoever takes it over; empty where it is held, or there can be no other client"""
    unproven: Unproven | None = None
    """what of the wiring is not proven; None where all of it is, or before the drives are connected"""
    comparing: bool = False
    """whether what was measured in motion is being compared with other wirings, or will be once torque is off"""
    stream: StreamReport | None = None
    """the stream that is followed"""
    recording_room: float = math.inf
    """s until the disk is full, as fast as the recording grows now; infinite where that is not known"""
    drives: tuple[DriveReport, ...] = ()
    """of each leg, twice a second; none before the drives are connected"""
    cells: tuple[CellsReport, ...] = ()
    """of each device that reads load cells alone, likewise"""
    sensors: tuple[SensorReport, ...] = ()
    """of each external sensor, four times a second"""
    io: IoReport | None = None
    """digital inputs and outputs; None without any, or before the rig is connected"""

    @property
    def cells_rejected(self) -> int:
        """Replies of devices that read load cells alone that could not be used."""
        return sum(report.replies.rejected for report in self.cells)

    @property
    def io_rejected(self) -> int:
        """The same of the block of inputs and outputs."""
        return 0 if self.io is None else self.io.replies.rejected

    @property
    def untaken(self) -> dict[str, ReplyCounts]:
        """Counts of replies by device, "leg 1", "load cell 1", "I/O block", where some were not taken."""
        named = [(f"leg {leg}", report.replies) for leg, report in enumerate(self.drives, 1)]
        named += [(report.name, report.replies) for report in self.cells]
        named += [] if self.io is None else [("I/O block", self.io.replies)]
        return {name: replies for name, replies in named if replies.kinds}

    @property
    def cause(self) -> str:
        """First cause of a stop or fault in words, empty when there is none."""
        return "" if self.finding is None else self.finding.text

    @property
    def cause_code(self) -> FaultCode:
        """The kind of fault that it is."""
        return FaultCode.NONE if self.finding is None else self.finding.fault

    @property
    def cause_text(self) -> str:
        """First cause of a stop or fault as everything says it, empty when there is none."""
        return "" if self.finding is None else stop_cause(self.finding).text

    @property
    def away(self) -> bool:
        """Whether the platform is known to stand elsewhere than at home: one at rest is braked there, not parked."""
        return self.from_home > _AWAY

    @property
    def resumable(self) -> bool:
        """Whether the platform is held under power on the path of a motion: paused, until a stop takes the torque."""
        return self.paused and self.state is State.ENGAGED

    @property
    def held_for_fault(self) -> bool:
        """Whether a fault has stopped the platform, which is held under power until a stop takes the torque off."""
        return self.state is State.STOPPING and self.latched and self.stop is StopSeverity.CATEGORY_2


@dataclass(slots=True)
class RuntimeInfo:
    """Where and under whom an engine runs; `Snapshot` explains the fields."""

    realtime: tuple[str, ...] = ()
    lease: str = ""
    recording: str = ""
    ring: str = ""
    loop: str = ""
    lines: str = ""
    unproven: Unproven | None = None
    hold_left: float | None = None
    begun_under: Lease | None = None
    """the one under which the rig was last told to move"""
    sensors: tuple[SensorReport, ...] = ()


_Draft = make_dataclass("_Draft", [(field.name, field.type) for field in fields(Snapshot)], slots=True, eq=False)


def make_snapshot(**values: Any) -> Snapshot:
    """A snapshot of the values of all its fields, made once a cycle.

    A frozen instance is written field by field through `object.__setattr__`, which takes more than twice as long as to
    write one that is not and to freeze it then.
    """
    draft: Any = _Draft(**values)
    draft.__class__ = Snapshot
    made: Snapshot = draft
    return made


SNAPSHOT: TypeAdapter[Snapshot] = TypeAdapter(Snapshot)
