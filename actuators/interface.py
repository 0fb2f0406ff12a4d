"""What the rig and a drive say to each other, whatever the protocol: leg lengths, speeds and forces in SI units."""

import math
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple

SEQUENCES = 1 << 16
"""Commands are counted with 16 bits: after the last number comes 0."""


class Mode(IntEnum):
    """Which loop the drive closes."""

    OFF = 0
    FORCE = 1
    POSITION = 2
    HOMING = 3


class Status(IntFlag):
    """State of a drive, the same bits for every driver."""

    READY = 1
    """No fault is latched: the drive can be enabled."""
    ENABLED = 2
    """The power stage is on."""
    FAULT = 4
    """A fault is latched; `Feedback.error` says which."""
    HOMED = 8
    """The position is absolute."""
    HOMING = 16
    QUICK_STOP = 32
    """The drive is bringing the leg to rest by itself."""
    WATCHDOG = 64
    """The drive's own watchdog expired; latched with the fault."""
    BRAKE = 128
    """The holding brake is closed."""
    STANDSTILL = 256


class Command(NamedTuple):  # made for six legs a cycle, in a third of a frozen dataclass's time; so is Feedback
    """What one drive is to do from now on.

    force: N, pushing (extending) positive. position: m, leg length. velocity: m/s.
    enable: power stage on; after power-up, a fault or a quick stop a drive wants to see it False first.
    quick_stop: come to rest by the drive's own means. clear: its rising edge clears a latched fault.
    """

    mode: Mode
    force: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    enable: bool = False
    quick_stop: bool = False
    clear: bool = False


COMMAND_OFF = Command(Mode.OFF)
"""Torque off, brake closed."""
COMMAND_HOME = Command(Mode.HOMING, enable=True)
"""Search the reference."""
COMMAND_STOP = Command(Mode.OFF, enable=True, quick_stop=True)
"""The drive's own quick stop, then torque off."""
COMMAND_CLEAR = Command(Mode.OFF, clear=True)
"""Clear a latched fault (its edge does: send `COMMAND_OFF` before)."""


class Feedback(NamedTuple):
    """What one drive measured.

    position: m, leg length. velocity: m/s. force: N, raw force or load-cell feedback, compression positive. Each is
    NaN when the device says that it has no valid value, or when nothing has been received yet.
    error: the drive's own code. fresh: False = stale: the other values are those of the last good reply.
    age: s since they were received, by the time that the cycles are given; before anything was, since it was asked for.
    sequence: the drive's echo of the command it acts on (`Drive.sequence`), -1 = none.
    lag: how many commands older than the last one it is; 0 without an echo, and of a stale one the last good reply's.
    offset: s from the time of the cycle to when they were measured and the command taken, as far as the bus tells.
    """

    position: float
    velocity: float
    force: float
    status: Status
    error: int
    fresh: bool
    age: float
    sequence: int
    lag: int = 0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a drive can do.

    force_limit (N), position_limit (m), velocity_limit (m/s): largest magnitudes a command may have: the range of the
    wire's format, not what the machine can stand. A set-point that the drive does not take is any number, and not sent.
    resolution: m, of the position that it says; 0 where that is not known. reach: m, the leg lengths that can be
    commanded, where that is less than the wire's format. homing_ends_off: a search for the reference ends with the
    torque off; every other drive keeps it. velocity_feedback: it reports a measured speed; False where the driver
    differentiates positions (`actuators.drive`). force_feedforward: in mode POSITION it adds the commanded force to
    that of its own loop.
    """

    modes: tuple[Mode, ...]
    force_feedback: bool
    homing: bool
    watchdog: bool
    force_limit: float
    position_limit: float
    velocity_limit: float
    resolution: float = 0.0
    reach: tuple[float, float] = (-math.inf, math.inf)
    homing_ends_off: bool = False
    velocity_feedback: bool = True
    force_feedforward: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a device says it is."""

    vendor: str
    product: str
    serial: str
    firmware: str

    @property
    def described(self) -> str:
        """What it says, in words; nothing of what it does not say."""
        name = " ".join(filter(None, (self.vendor, self.product)))
        rest = [f"{word} {value}" for word, value in (("serial", self.serial), ("firmware", self.firmware)) if value]
        return ", ".join([name, *rest])


@dataclass(slots=True)
class Counters:
    """Cyclic traffic of one device since it was made.

    sent: requests handed to the wire. received: good replies. late: cycles without a reply at the deadline.
    rejected: replies of other cycles and frames that are no answer. exceptions: answers that report an exception,
    the last one's code in exception_code. crc: frames with a wrong checksum (none on TCP). mismatched: replies that
    echo another command than they should. lagging: good replies, of those received, to an earlier cycle's command.
    belated: of those rejected, replies to a request that was given up, as counted under late.
    """

    sent: int = 0
    received: int = 0
    late: int = 0
    rejected: int = 0
    exceptions: int = 0
    exception_code: int = 0
    crc: int = 0
    mismatched: int = 0
    lagging: int = 0
    belated: int = 0

    @property
    def unusable(self) -> int:
        """Replies and other bytes that should not have come: of another cycle, no answer, refused, damaged, mismatched.

        Belated replies are no sign of a disturbed line: the host, or the device, was late.
        """
        return self.rejected - self.belated + self.exceptions + self.crc + self.mismatched
