"""What clients and the engine say to each other over the control link."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as validated

from rig.errors import HardwareError, RefusedError
from rig.states import FaultCode, State, StopSeverity


@validated(frozen=True, slots=True)
class GetSnapshot:
    """Ask for the `Snapshot`; needs no lease."""

    kind: Literal["status"] = "status"


@validated(frozen=True, slots=True)
class Acquire:
    """Take the command lease for `client`; refused while another client holds it."""

    client: str
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

    kind: Literal["home"] = "home"


@validated(frozen=True, slots=True)
class Engage:
    """PARKED → ENGAGING → ENGAGED."""

    kind: Literal["engage"] = "engage"


@validated(frozen=True, slots=True)
class Follow:
    """ENGAGED → RUNNING: follow the motion table sent beside this message (float64 rows of q, q̇, q̈)."""

    name: str
    step: Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
    """s between the rows"""
    kind: Literal["follow"] = "follow"


@validated(frozen=True, slots=True)
class Pause:
    """RUNNING → ENGAGED: decelerate along the path and hold; `Resume` goes on."""

    kind: Literal["pause"] = "pause"


@validated(frozen=True, slots=True)
class Resume:
    """ENGAGED, paused → RUNNING."""

    kind: Literal["resume"] = "resume"


@validated(frozen=True, slots=True)
class Abandon:
    """ENGAGED, paused: forget the rest of the motion; the platform is held where it is, and a new motion may start."""

    kind: Literal["abandon"] = "abandon"


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
    """End the engine; refused while a drive may carry torque."""

    kind: Literal["shutdown"] = "shutdown"


@validated(frozen=True, slots=True)
class Note:
    """Have something recorded that the engine cannot know, as what is injected into a virtual rig; needs no lease."""

    text: Annotated[str, Field(max_length=400)]
    at: Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
    """s of the plant's clock, when it happened; on real hardware and in real time the machine's monotonic one"""
    kind: Literal["note"] = "note"


RigCommand = Connect | Disconnect | Home | Engage | Follow | Pause | Resume | Abandon | Park | Stop | Reset | Shutdown
"""What the cyclic thread carries out between two cycles."""

_AWAY = 1e-3  # m

Request = Annotated[GetSnapshot | Acquire | Release | Note | RigCommand, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer to a request; a refused one changed nothing and says why."""

    accepted: bool
    reason: str = ""
    hardware: bool = False
    """it was refused because a device does not answer as it should, not by a guard"""

    def check(self) -> None:
        """Raise RefusedError, or HardwareError where a device is to blame, unless the request was accepted."""
        if not self.accepted:
            raise HardwareError(self.reason) if self.hardware else RefusedError(self.reason)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for the log and the recording."""

    t: float
    """s, rig time"""
    level: Literal["info", "warning", "error"]
    code: FaultCode
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a client sees of the engine without reading telemetry."""

    __pydantic_config__ = ConfigDict(ser_json_inf_nan="constants")  # NaN would be null, which is no number

    state: State
    stop: StopSeverity
    t: float
    """s, rig time"""
    cause: str
    """first cause of a stop or fault in words, empty when there is none"""
    cause_code: FaultCode
    cause_t: float
    """s, rig time of the first cause"""
    latched: bool
    """the cause is kept until a reset"""
    homed: bool
    paused: bool
    lease: str
    """name of the client that holds the command lease, empty when nobody does"""
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
    events: list[Event] = field(default_factory=list)
    """the most recent ones, oldest first"""
    echo_lag: tuple[int, ...] = (0,) * 6
    """by how many cycles the replies of each leg's drive are old"""
    hold_left: float | None = None
    """s until the platform is stopped because nobody commands it; None while a client holds the lease, or no torque is
    there to be taken off"""

    @property
    def away(self) -> bool:
        """Whether the platform is known to stand elsewhere than at home: one at rest is braked there, not parked."""
        return self.from_home > _AWAY


REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)
SNAPSHOT: TypeAdapter[Snapshot] = TypeAdapter(Snapshot)
