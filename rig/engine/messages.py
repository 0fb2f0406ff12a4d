"""Messages between clients and engine over the control link."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, TypeAdapter
from pydantic.dataclasses import dataclass as validated

from kinematics import Thresholds
from rig.errors import HardwareError, RefusedError
from rig.findings import Code, Finding
from rig.names import check_name, valid_line
from rig.states import MotionKind


@validated(frozen=True, slots=True)
class GetSnapshot:
    """Ask for the `Snapshot`; needs no lease."""

    kind: Literal["status"] = "status"


@validated(frozen=True, slots=True)
class Acquire:
    """Take the command lease for `client`; refused while another client holds it."""

    client: Annotated[str, AfterValidator(partial(check_name, "client"))]
    process: Annotated[int, Field(ge=0)] = 0
    """process that gives the client's sign of life"""
    kind: Literal["acquire"] = "acquire"


@validated(frozen=True, slots=True)
class Release:
    """Give the command lease back."""

    kind: Literal["release"] = "release"


@validated(frozen=True, slots=True)
class Connect:
    """OFF → IDLE: open, identify and configure every drive."""

    kind: Literal["connect"] = "connect"


@validated(frozen=True, slots=True)
class Disconnect:
    """IDLE or PARKED → OFF: close every drive."""

    kind: Literal["disconnect"] = "disconnect"


@validated(frozen=True, slots=True)
class Home:
    """IDLE → HOMING → PARKED."""

    unproven: bool = False
    """the operator's permission to move legs of unproven wiring; see `Snapshot.unproven`"""
    kind: Literal["home"] = "home"


@validated(frozen=True, slots=True)
class MoveLeg:
    """IDLE → SINGLE_LEG → IDLE: move one leg a little, there and back, the others held; see `LegMove`."""

    leg: Annotated[int, Field(ge=1, le=6)]
    travel: Annotated[float, Field(allow_inf_nan=False)]
    """m, positive extends"""
    speed: Annotated[float, Field(allow_inf_nan=False)]
    """m/s, the peak"""
    home: bool = False
    """home the leg first if its drive has no reference"""
    stay: bool = False
    """do not return"""
    kind: Literal["move-leg"] = "move-leg"


@validated(frozen=True, slots=True)
class Engage:
    """PARKED → ENGAGING → ENGAGED."""

    kind: Literal["engage"] = "engage"


@validated(frozen=True, slots=True)
class Follow:
    """ENGAGED → RUNNING: follow the motion table sent beside this message (float64 rows of q, q̇, q̈)."""

    name: Annotated[str, AfterValidator(partial(check_name, "name of the motion"))]
    step: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    """s between the rows"""
    purpose: MotionKind = MotionKind.RUN
    amplitude: Annotated[float, Field(gt=0.0, le=1e3, allow_inf_nan=False)] = 1.0
    """of the motion about its start pose, already in the rows; for the recording"""
    slowing: Annotated[float, Field(gt=0.0, le=60.0, allow_inf_nan=False)] | None = None
    """hold-to-run: the motion continues only while the client renews its hold in time; s in which it then decelerates
    to rest, and is dropped. None: it is followed to its end"""
    thresholds: Thresholds = Thresholds()
    """of the motion's own file; for the recording"""
    kind: Literal["follow"] = "follow"


_MOST_SETTINGS = 100


@validated(frozen=True, slots=True)
class FollowSource:
    """ENGAGED → RUNNING: follow a reference that another distribution declares, made here with these settings."""

    source: Annotated[str, AfterValidator(partial(check_name, "name of the reference"))]
    settings: Annotated[dict[str, JsonValue], Field(max_length=_MOST_SETTINGS)] = field(default_factory=dict)
    name: Annotated[str, AfterValidator(lambda name: name and check_name("name of the motion", name))] = ""
    """of the motion; "": the source's own"""
    kind: Literal["follow-source"] = "follow-source"


@validated(frozen=True, slots=True)
class FollowStream:
    """ENGAGED → RUNNING: follow the samples that come by a ring in shared memory, see `rig.streaming.SampleRing`.

    Whoever made the ring owns it; the engine lets go of it when another motion begins, or the platform is parked.
    """

    name: Annotated[str, AfterValidator(partial(check_name, "name of the stream"))]
    ring: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(valid_line)]
    """name of the ring"""
    frame: Literal["base", "home", "platform"] | None = None
    """frame of the poses; None: `stream.frame`"""
    kind: Literal["follow-stream"] = "follow-stream"


@validated(frozen=True, slots=True)
class Pause:
    """RUNNING → ENGAGED: decelerate along the path and hold; `Resume` goes on."""

    kind: Literal["pause"] = "pause"


@validated(frozen=True, slots=True)
class Resume:
    """ENGAGED, paused → RUNNING."""

    take_over: bool = False
    """continue a motion begun under another command lease, which is refused otherwise"""
    kind: Literal["resume"] = "resume"


@validated(frozen=True, slots=True)
class Abandon:
    """ENGAGED, paused: forget the rest of the motion; the platform is held where it is, and a new motion may start."""

    kind: Literal["abandon"] = "abandon"


LEAST_PACE = 0.1
"""Least part of full speed of a run."""


@validated(frozen=True, slots=True)
class Pace:
    """Set the part of full speed of the present and later runs; any state.

    The path stays the same; speeds are multiplied by `rate`, accelerations by its square.
    """

    rate: Annotated[float, Field(ge=LEAST_PACE, le=1.0, allow_inf_nan=False)]
    kind: Literal["pace"] = "pace"


@validated(frozen=True, slots=True)
class Park:
    """ENGAGED → PARKING → PARKED: move home, brakes on, torque off."""

    kind: Literal["park"] = "park"


@validated(frozen=True, slots=True)
class Stop:
    """Stop, from any client, in any state."""

    category: Literal[0, 1, 2] = 1
    kind: Literal["stop"] = "stop"


@validated(frozen=True, slots=True)
class Reset:
    """FAULT → IDLE, when the cause is gone."""

    kind: Literal["reset"] = "reset"


@validated(frozen=True, slots=True)
class Shutdown:
    """End the engine; refused while a drive may carry torque, or reports it in whatever state."""

    kind: Literal["shutdown"] = "shutdown"


@validated(frozen=True, slots=True)
class Note:
    """Record a note that the engine cannot know, such as an injection into a virtual rig; needs no lease."""

    action: Annotated[str, Field(max_length=40), AfterValidator(valid_line)]
    """as "injected", "on", "cleared" or "ended"."""
    text: Annotated[str, Field(max_length=400), AfterValidator(valid_line)]
    at: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    """s of the plant's clock, when it happened; on real hardware and in real time the machine's monotonic one"""
    kind: Literal["note"] = "note"


@validated(frozen=True, slots=True)
class NoteTuning:
    """Record a change of the tuning of a washout beside the engine, whose motion is followed; needs no lease."""

    text: Annotated[str, Field(min_length=1, max_length=400), AfterValidator(valid_line)]
    """what has changed, or why it was not"""
    at: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    """s of the streams' clock, when it began"""
    kind: Literal["note-tuning"] = "note-tuning"


_REPORTED = frozenset({Code.REFERENCE_FMU_FAILED, Code.PAYLOAD_FMU_FAILED})


def _reported(finding: Finding) -> Finding:
    if finding.code not in _REPORTED:
        raise ValueError(f"{finding.code}: must be one of {', '.join(sorted(_REPORTED))}")
    return finding.elided(400)


@validated(frozen=True, slots=True)
class Report:
    """Record and log why an FMU beside the engine has failed; needs no lease."""

    finding: Annotated[Finding, AfterValidator(_reported)]
    kind: Literal["report"] = "report"


RigCommand = (
    Connect
    | Disconnect
    | Home
    | MoveLeg
    | Engage
    | Follow
    | FollowSource
    | FollowStream
    | Pause
    | Resume
    | Abandon
    | Pace
    | Park
    | Stop
    | Reset
    | Shutdown
)
"""Commands that the cyclic thread carries out between two cycles."""

CHECKED = (Follow, FollowSource, FollowStream, Park, MoveLeg)
"""Commands that are checked before, which may take long."""

Request = Annotated[
    GetSnapshot | Acquire | Release | Note | NoteTuning | Report | RigCommand, Field(discriminator="kind")
]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to a request; a refused one changed nothing and has the reason."""

    accepted: bool
    finding: Finding | None = None
    """reason of a refusal"""
    hardware: bool = False
    """whether a device's failure is the reason, not a guard"""

    @property
    def reason(self) -> str:
        """Text of the reason of a refusal; empty if accepted."""
        return "" if self.finding is None else self.finding.text

    def check(self) -> None:
        """Raise RefusedError, or HardwareError where a device is to blame, unless the request was accepted."""
        if not self.accepted:
            found = self.finding or ""
            raise HardwareError(found) if self.hardware else RefusedError(found)


def refusal(command: str, finding: Finding) -> Finding:
    """Text of the refusal of a command of this kind."""
    return Finding(Code.REFUSED, details={"command": command}, within=(finding,))


REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)
